//! The options of Q-Bitz.

use serde::{Deserialize, Serialize};

use crate::game::{Options, Race, RulesError};

/// The options of Q-Bitz.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QbitzOptions {
    /// Rounds won that win the game (rule 5).
    pub target_points: u32,
    /// The most rounds that are played; void ones do not count (rule 5).
    pub rounds: u32,
    /// The time of a round, milliseconds (rule 5).
    pub round_ms: u64,
    /// Claims closer than this are a dead heat, microseconds (rule 4).
    pub dead_heat_us: u64,
    /// What the cubes are like (rule 6).
    pub blocks: Blocks,
    /// Whether all seats solve a card at once (rule 7).
    pub race: RaceKind,
}

/// What the cubes are like (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocks {
    /// Every cube has six faces drawn from the seed.
    Mixed,
    /// Every cube has all six faces.
    Uniform,
}

/// How the seats race (rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceKind {
    /// All see the card at once.
    Together,
    /// One after the other, each alone; their times are compared.
    InTurn,
}

impl Default for QbitzOptions {
    fn default() -> Self {
        QbitzOptions {
            target_points: 5,
            rounds: 25,
            round_ms: 10_000,
            dead_heat_us: 1000,
            blocks: Blocks::Mixed,
            race: RaceKind::Together,
        }
    }
}

impl QbitzOptions {
    /// The terms of every round.
    pub fn terms(&self) -> Race {
        Race {
            limit_us: self.round_ms * 1000,
            dead_heat_us: self.dead_heat_us,
            in_turn: self.race == RaceKind::InTurn,
        }
    }
}

impl Options for QbitzOptions {
    fn check(&self) -> Result<(), RulesError> {
        let bounds = [
            ("target_points", u64::from(self.target_points), 1, 1000),
            ("rounds", u64::from(self.rounds), 1, 1000),
            // A day.
            ("round_ms", self.round_ms, 1, 86_400_000),
            ("dead_heat_us", self.dead_heat_us, 0, self.round_ms * 1000),
        ];
        for (key, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(RulesError {
                    key: key.into(),
                    message: format!("{value} is not possible; {least} to {most} are"),
                });
            }
        }
        Ok(())
    }
}
