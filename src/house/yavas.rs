//! `yavas` (Turkish: slow) races in Q-Bitz: it claims what `hizli` claims, but takes its time, so that there is somebody
//! to beat.

use hakem_protocol::{Move, Turn};
use sha2::{Digest, Sha256};

use super::{Facts, Games, House, OptionFacts, OptionKind, Table, hizli};

/// Rounds of work where no option says otherwise: some tens of milliseconds.
const WORK: u64 = 100_000;
/// It looks whether its question was withdrawn, and at the clock, once in so many rounds.
const LOOK: u64 = 64;

/// The bot.
#[derive(Debug)]
pub struct Yavas;

impl House for Yavas {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "yavas",
            summary: "claims in Q-Bitz what hizli claims, but takes its time",
            games: Games::Only(&["qbitz"]),
            options: &[
                OptionFacts {
                    name: "work",
                    meaning: "rounds of made-up work before a claim (default 100000; with delay_ms none)",
                    kind: OptionKind::Number(0, 1_000_000_000_000),
                },
                OptionFacts {
                    name: "delay_ms",
                    meaning: "work until so much time has passed; games are then not the same again",
                    kind: OptionKind::Number(0, 86_400_000),
                },
            ],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game = hizli::position(table, turn)?;
        let until = table
            .number("delay_ms")
            .map(|ms| (table.clock)().saturating_add(ms.saturating_mul(1000)));
        let usual = if until.is_some() { 0 } else { WORK };
        let work = table.number("work").unwrap_or(usual);
        let mut hash = Sha256::digest(turn.id.to_be_bytes());
        let mut rounds: u64 = 0;
        loop {
            let done = rounds >= work;
            if rounds.is_multiple_of(LOOK) || done {
                let early = until.is_some_and(|until| (table.clock)() < until);
                if (done && !early) || (table.withdrawn)() {
                    break;
                }
            }
            hash = Sha256::digest(hash);
            rounds += 1;
        }
        std::hint::black_box(hash);
        Ok(super::answer(turn, hizli::claim(&game)?))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hakem_protocol::Ask;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::game::qbitz::{Qbitz, QbitzOptions};
    use crate::game::{Drawn, Game, Setup};
    use crate::house::tests::turn;

    fn a_turn() -> Turn {
        let mut game = Qbitz::start(&QbitzOptions::default(), &Setup::SINGLE);
        game.chance(Drawn::Bytes([1; 32]));
        game.chance(Drawn::Bytes([2; 32]));
        let state = serde_json::to_value(game.state()).expect("JSON");
        turn(0, Ask::Race, state, json!([]))
    }

    fn answer(options: Value, clock: &dyn Fn() -> u64, withdrawn: &dyn Fn() -> bool) -> Move {
        let table = Table {
            game: "qbitz",
            rules: &Map::new(),
            options: options.as_object().expect("options"),
            added_ms: 0,
            clock,
            withdrawn,
        };
        Yavas.answer(&table, &a_turn()).expect("an answer")
    }

    #[test]
    fn it_takes_the_time_that_it_is_given() {
        let now = Cell::new(0);
        let clock = || {
            now.set(now.get() + 100);
            now.get()
        };
        answer(json!({"delay_ms": 5}), &clock, &|| false);
        assert!((5_000..5_400).contains(&now.get()), "{}", now.get());
    }

    #[test]
    fn it_leaves_off_when_its_question_is_withdrawn() {
        let looks = Cell::new(0);
        let withdrawn = || {
            looks.set(looks.get() + 1);
            looks.get() == 10
        };
        let never = || panic!("no option asked for time");
        answer(json!({"work": 1_000_000_000_000u64}), &never, &withdrawn);
        assert_eq!(looks.get(), 10);
    }
}
