//! The options of Tavla.

use serde::{Deserialize, Serialize};

use crate::game::{Options, RulesError};

/// The options of Tavla.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TavlaOptions {
    /// The points that win the match; 0: money play (rule 9).
    pub match_length: u32,
    /// The games of a money session (rule 9).
    pub games: u32,
    /// Whether a match has the Crawford game (rule 9).
    pub crawford: bool,
    /// Whether there is a cube (rule 7).
    pub cube: bool,
    /// The highest value of the cube, a power of two (rule 7).
    pub max_cube: u32,
    /// Money play: gammons count only if the cube was turned (rule 9).
    pub jacoby: bool,
    /// Money play: the taker may redouble at once (rule 8).
    pub beavers: bool,
    /// With `beavers`: the first doubler may redouble once more (rule 8).
    pub raccoons: bool,
    /// The turns of both seats together after which the lower pip count wins.
    pub max_plies: u32,
}

impl Default for TavlaOptions {
    fn default() -> Self {
        TavlaOptions {
            match_length: 0,
            games: 1,
            crawford: true,
            cube: true,
            max_cube: 64,
            jacoby: false,
            beavers: false,
            raccoons: false,
            max_plies: 2000,
        }
    }
}

/// The most that `max_cube` may be: the longest session at three times as much still fits a score.
pub(super) const HIGHEST_CUBE: u32 = 1 << 12;

impl Options for TavlaOptions {
    fn check(&self) -> Result<(), RulesError> {
        let within = |key: &str, value: u32, least: u32, most: u32, what: &str| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(RulesError {
                key: key.into(),
                message: format!("{value} is not {what}; {least} to {most} are possible"),
            })
        };
        let length = self.match_length;
        within("match_length", length, 0, 1000, "a number of points")?;
        within("games", self.games, 1, 100_000, "a number of games")?;
        within(
            "max_plies",
            self.max_plies,
            1,
            1_000_000,
            "a number of turns",
        )?;
        if self.max_cube.is_power_of_two() && self.max_cube <= HIGHEST_CUBE {
            Ok(())
        } else {
            Err(RulesError {
                key: "max_cube".into(),
                message: format!(
                    "{} is no value of a cube; a power of two from 1 to {HIGHEST_CUBE} is",
                    self.max_cube
                ),
            })
        }
    }
}
