//! `hizli` (Turkish: fast) races in Q-Bitz: it solves each card at once.

use hakem_protocol::{Move, Turn};
use serde_json::Value;

use super::{Facts, Games, House, Table};
use crate::game::Game;
use crate::game::qbitz::Qbitz;
use crate::game::qbitz::faces::Answer;

/// The bot.
#[derive(Debug)]
pub struct Hizli;

impl House for Hizli {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "hizli",
            summary: "solves each card of Q-Bitz at once, by an exact assignment of cubes to cells",
            games: Games::Only(&["qbitz"]),
            options: &[],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        Ok(super::answer(turn, claim(&position(table, turn)?)?))
    }
}

/// The position of a turn in which this seat races.
pub(super) fn position(table: &Table<'_>, turn: &Turn) -> Result<Qbitz, String> {
    let options = serde_json::from_value(Value::Object(table.rules.clone()))
        .map_err(|error| format!("the rules of `hello`: {error}"))?;
    let game = Qbitz::read(&options, &turn.state)?;
    if game.racing(turn.seat) {
        Ok(game)
    } else {
        Err(format!(
            "turn {} asks seat {} to race, but its state does not",
            turn.id, turn.seat
        ))
    }
}

/// The right claim; a card that cannot be laid is given up.
pub(super) fn claim(game: &Qbitz) -> Result<Value, String> {
    serde_json::to_value(Answer(game.solution())).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use crate::game::qbitz::{Qbitz, QbitzOptions};
    use crate::game::{Claim, Drawn, Game, Setup};
    use crate::house::tests::{ask, turn};

    /// Positions of many cards.
    fn cards() -> impl Iterator<Item = Qbitz> {
        (0..100).map(|n| {
            let mut game = Qbitz::start(&QbitzOptions::default(), &Setup::SINGLE);
            game.chance(Drawn::Bytes([n; 32]));
            game.chance(Drawn::Bytes([n + 100; 32]));
            game
        })
    }

    #[test]
    fn both_lay_every_card() {
        for mut game in cards() {
            let state = serde_json::to_value(game.state()).expect("JSON");
            let turn = turn(1, Ask::Race, state, json!([]));
            let claim = ask("hizli", "qbitz", json!({}), &turn).expect("an answer");
            let slow = ask("yavas", "qbitz", json!({"work": 3}), &turn);
            assert_eq!(slow, Ok(claim.clone()));
            let claim = game.parse(&claim).expect("a tray");
            assert_eq!(game.claim(1, &claim), Ok(Claim::Right));
        }
    }

    #[test]
    fn a_card_that_cannot_be_laid_is_given_up() {
        let game = cards().next().expect("a card");
        let mut state = serde_json::to_value(game.state()).expect("JSON");
        state["cubes"] = json!(vec![["dark"; 6]; 16]);
        state["pattern"][0][0]["face"] = json!("bar");
        let turn = turn(0, Ask::Race, state, json!([]));
        for name in ["hizli", "yavas"] {
            let answer = ask(name, "qbitz", json!({}), &turn);
            assert_eq!(answer, Ok(json!({"qbitz": null})));
        }
    }

    #[test]
    fn a_turn_that_asks_no_race_is_refused() {
        let mut game = cards().next().expect("a card");
        let state = |game: &Qbitz| serde_json::to_value(game.state()).expect("JSON");
        let shown = state(&game);
        game.award(&[0]);
        for (seat, state) in [(2, shown), (0, state(&game)), (0, json!({}))] {
            let turn = turn(seat, Ask::Race, state, json!([]));
            for name in ["hizli", "yavas"] {
                assert!(ask(name, "qbitz", json!({}), &turn).is_err());
            }
        }
    }
}
