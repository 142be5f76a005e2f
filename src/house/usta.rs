//! `usta` (Turkish: master) plays Tavla: checkers by an estimate of the chances after each play, the cube by chances and
//! the score. With `depth = 2` it also weighs what the other side would do with each of its rolls.

use hakem_protocol::{Move, Turn};

use super::tavla::{self, Depth};
use super::{Facts, Games, House, OptionFacts, OptionKind, Table, pace};
use crate::game::tavla::Tavla;

/// The bot.
#[derive(Debug)]
pub struct Usta;

impl House for Usta {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "usta",
            summary: "plays Tavla by an estimate of its chances, and the cube by chances and the score",
            games: Games::Only(&["tavla"]),
            options: &[
                OptionFacts {
                    name: "depth",
                    meaning: "1: the position after each play; 2: each roll of the other side as well (default 1, where a time is kept 2)",
                    kind: OptionKind::Number(1, 2),
                },
                pace::TIME_MS,
                pace::CLOCK,
            ],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let position: Tavla = super::position(table, turn)?;
        let deadline = pace::deadline(table, turn);
        let stop = || deadline.is_some_and(|deadline| (table.clock)() >= deadline);
        let usual = if deadline.is_some() { 2 } else { 1 };
        let depth = match table.number("depth").unwrap_or(usual) {
            1 => Depth::Play,
            _ => Depth::Roll(&stop),
        };
        let mv = tavla::play_to(&position, depth)
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        let mv = serde_json::to_value(mv).map_err(|error| error.to_string())?;
        Ok(super::answer(turn, mv))
    }
}
