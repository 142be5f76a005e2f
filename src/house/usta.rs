//! `usta` (Turkish: master) plays Tavla: checkers by a one-ply evaluation, the cube by estimated chances and the score.

use hakem_protocol::{Move, Turn};

use super::{Facts, Games, House, Table, tavla};
use crate::game::tavla::Tavla;

/// The bot.
#[derive(Debug)]
pub struct Usta;

impl House for Usta {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "usta",
            summary: "plays Tavla by a one-ply evaluation, and the cube by chances and the score",
            games: Games::Only(&["tavla"]),
            options: &[],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let position: Tavla = super::position(table, turn)?;
        let mv = tavla::play(&position)
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        let mv = serde_json::to_value(mv).map_err(|error| error.to_string())?;
        Ok(super::answer(turn, mv))
    }
}
