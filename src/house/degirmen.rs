//! A Dokuztas player that looks ahead. A degirmen (değirmen) is a mill, three stones in a row.
//!
//! What a position is worth: stones above all; then mills and lines that want one stone more; the empty neighbours of
//! stones, since who cannot move has lost; and whether the seat to move completes a mill at once.

use hakem_protocol::{Move, Turn};
use serde_json::Value;

use super::search::{self, Budget, Position};
use super::{Facts, Games, House, Table};
use crate::game::dokuztas::board::{self, MILLS, Points};
use crate::game::dokuztas::{Dokuztas, DokuztasMove};
use crate::game::{Game, Seat, ToAct};

/// Searches Dokuztas to a number of positions, so that it plays the same on every machine; to a time only if its option
/// `time_ms` asks for it.
#[derive(Debug)]
pub struct Degirmen;

impl House for Degirmen {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "degirmen",
            summary: "plays Dokuztas, looking ahead as far as its budget goes (alpha-beta)",
            games: Games::Only(&["dokuztas"]),
            options: search::OPTIONS,
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game: Dokuztas = super::position(table, turn)?;
        let (mv, value) = search::best(&game, &Budget::of(table, turn))
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        let mv = serde_json::to_value(mv).map_err(|error| error.to_string())?;
        Ok(Move {
            eval: Some(shown(value)),
            ..super::answer(turn, mv)
        })
    }
}

/// A won game is worth so much, less the plies that it takes: more than a game can have.
const WON: i32 = 100_000_000;
/// What a stone more is worth in an undecided position; by it all else is measured.
const STONE: i32 = 100;
/// A mill: its stones may be safe, and it can be opened and closed again.
const MILL: i32 = 20;
/// A line with two own stones that the next move can complete.
const THREAT: i32 = 25;
/// That the seat to move can complete a mill: half of the stone that it takes, since the other seat may answer.
const NEXT: i32 = 50;
/// A line with two own stones and an empty point that no own stone reaches yet.
const TWO: i32 = 8;
/// An empty neighbour of a stone.
const WAY: i32 = 15;
/// What a seat that may go anywhere has instead of empty neighbours.
const FLIGHT: i32 = 100;

/// A value in stones, for people; a decided game is 100.
fn shown(value: i32) -> Value {
    if value.abs() >= WON / 2 {
        Value::from(100 * value.signum())
    } else {
        Value::from(f64::from(value) / f64::from(STONE))
    }
}

impl Position for Dokuztas {
    type Move = DokuztasMove;

    fn mover(&self) -> Option<Seat> {
        match self.to_act() {
            ToAct::Seat(seat, _) => Some(seat),
            _ => None,
        }
    }

    /// Mills come first, then moves that stop one, then those that make a line of two or lead to a point with many ways.
    fn moves(&self, moves: &mut Vec<(i32, DokuztasMove)>) {
        let ToAct::Seat(me, _) = self.to_act() else {
            return;
        };
        let (own, other) = (self.stones(me), self.stones(1 - me));
        let (stopping, open_twos) = (board::closing(other), in_open_twos(other, own));
        self.each_move(&mut |mv| {
            let rest = own & !mv.from().map_or(0, board::bit);
            let to = board::bit(mv.to());
            let makes_two = board::partners(mv.to())
                .iter()
                .filter(|&&line| (line & rest).count_ones() == 1 && line & other == 0)
                .count();
            let mut promise = 4 * makes_two as i32
                + board::neighbours(mv.to()).count_ones() as i32
                + 30 * i32::from(stopping & to != 0);
            if let Some(take) = mv.take() {
                promise += 100 + 10 * i32::from(open_twos & board::bit(take) != 0);
            }
            moves.push((promise, mv));
        });
    }

    fn after(&self, mv: DokuztasMove) -> Dokuztas {
        let mut after = *self;
        // Only legal moves are played.
        let _ = after.apply(&mv);
        after
    }

    fn decided(&self, me: Seat) -> Option<i32> {
        let won = WON - self.plies() as i32;
        match self.to_act() {
            ToAct::Seat(..) => None,
            _ => Some(match self.outcome().and_then(|outcome| outcome.winner) {
                Some(winner) if winner == me => won,
                Some(_) => -won,
                None => 0,
            }),
        }
    }

    fn estimate(&self, me: Seat) -> i32 {
        let (mine, yours) = (Worth::of(self, me), Worth::of(self, 1 - me));
        let takes = |worth: &Worth| NEXT * i32::from(worth.threatens);
        let next = match self.mover() {
            Some(mover) if mover == me => takes(&mine),
            Some(_) => -takes(&yours),
            None => 0,
        };
        mine.value - yours.value + next
    }
}

/// The stones in lines of two that the other seat has not stopped.
fn in_open_twos(own: Points, other: Points) -> Points {
    MILLS
        .iter()
        .map(|&mill| if mill & other == 0 { mill & own } else { 0 })
        .filter(|two| two.count_ones() == 2)
        .fold(0, |all, two| all | two)
}

/// What the stones of a seat seem to be worth.
struct Worth {
    value: i32,
    /// Whether its next move can complete a mill.
    threatens: bool,
}

impl Worth {
    /// The weights did best in some thousand games against others.
    fn of(game: &Dokuztas, seat: Seat) -> Worth {
        let (own, empty) = (game.stones(seat), game.empty());
        let placing = game.in_hand(seat) > 0;
        let flying = !placing && own.count_ones() == 3;
        let mut threatens = false;
        let mut value = STONE * game.left(seat) as i32;
        for mill in MILLS {
            let rest = mill & !own;
            value += match rest.count_ones() {
                0 => MILL,
                1 if rest & empty != 0 => {
                    let gap = rest.trailing_zeros() as board::Point;
                    let near = board::neighbours(gap) & own & !mill != 0;
                    if placing || flying || near {
                        threatens = true;
                        THREAT
                    } else {
                        TWO
                    }
                }
                _ => 0,
            };
        }
        value += if flying {
            FLIGHT
        } else {
            board::each(own)
                .map(|point| WAY * (board::neighbours(point) & empty).count_ones() as i32)
                .sum()
        };
        Worth { value, threatens }
    }
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use super::*;
    use crate::game::dokuztas::DokuztasOptions;
    use crate::house::search::tests::same_as_plain;
    use crate::house::tests::{ask, turn};

    fn read(state: &Value) -> Dokuztas {
        Dokuztas::read(&DokuztasOptions::default(), state).expect("a position")
    }

    #[test]
    fn pruning_changes_no_value() {
        for (state, depth) in [
            (
                json!({"stones": [["a7", "d7"], ["b6", "f4"]], "in_hand": [7, 7], "turn": 0}),
                2,
            ),
            (
                json!({"stones": [["a7", "d6", "g4", "b2", "e3"], ["d7", "b6", "f4", "c5", "a1"]],
                    "in_hand": [0, 0], "turn": 1}),
                4,
            ),
            (
                json!({"stones": [["a7", "d7", "g4", "f4"], ["b6", "d6", "c3"]],
                    "in_hand": [0, 0], "turn": 0}),
                3,
            ),
            (
                json!({"stones": [["a7", "d6", "g4", "b2"], ["d7", "b6", "f4", "c5"]],
                    "in_hand": [0, 0], "turn": 0, "quiet": 198}),
                4,
            ),
        ] {
            same_as_plain(&read(&state), depth);
        }
    }

    #[test]
    fn it_completes_the_mill_that_wins() {
        let state = json!({"stones": [["a7", "d7", "g4", "f4"], ["b6", "d6", "c3"]],
            "in_hand": [0, 0], "turn": 0});
        let game = read(&state);
        let legal: Vec<Value> = {
            let mut moves = Vec::new();
            game.legal(&mut moves);
            moves.iter().map(|mv| json!(mv)).collect()
        };
        let asked = turn(0, Ask::Move, state, json!(legal));
        let answer = ask("degirmen", "dokuztas", json!({}), &asked).expect("an answer");
        assert_eq!(
            (&answer["to"], &answer["from"]),
            (&json!("g7"), &json!("g4"))
        );
    }

    #[test]
    fn it_stops_a_mill_that_it_cannot_answer() {
        // Seat 1 threatens a7-d7-g7 and has nothing to gain elsewhere.
        let state = json!({"stones": [["b4", "f2"], ["a7", "d7"]], "in_hand": [7, 7], "turn": 0});
        let asked = turn(0, Ask::Move, state, json!([]));
        let answer = ask("degirmen", "dokuztas", json!({"nodes": 5000}), &asked);
        assert_eq!(answer, Ok(json!({"to": "g7"})));
    }

    #[test]
    fn a_position_is_worth_its_stones_lines_and_ways() {
        let value = |stones: &[&str], in_hand: u8| {
            let state =
                json!({"stones": [stones, ["c5", "e5", "c3"]], "in_hand": [in_hand, 0], "turn": 0});
            Worth::of(&read(&state), 0).value
        };
        for (stones, in_hand, wanted) in [
            (&["a7", "d6", "f4", "d2"][..], 0, 4 * STONE + 14 * WAY),
            // g7 would complete the row, but no stone is near; g4 is.
            (&["a7", "d7", "f4", "d2"], 0, 4 * STONE + TWO + 11 * WAY),
            (&["a7", "d7", "g4", "d2"], 0, 4 * STONE + THREAT + 10 * WAY),
            (&["a7", "d7", "g7", "d2"], 0, 4 * STONE + MILL + 7 * WAY),
            // Whoever may place or go anywhere is always near.
            (&["a7", "d7", "d2"], 0, 3 * STONE + THREAT + FLIGHT),
            (&["a7", "d7", "d2"], 5, 8 * STONE + THREAT + 7 * WAY),
        ] {
            assert_eq!(value(stones, in_hand), wanted, "{stones:?}");
        }
        // Whose move it is counts where a mill can be completed.
        let threat = |turn: Seat| {
            let state = json!({"stones": [["a7", "d7", "g4", "d2"], ["c5", "e5", "c3", "b6"]],
                "in_hand": [0, 0], "turn": turn});
            let game = read(&state);
            assert!(Worth::of(&game, 0).threatens && !Worth::of(&game, 1).threatens);
            game.estimate(0)
        };
        assert_eq!(threat(0), threat(1) + NEXT);
        let game = read(&json!({"stones": [["a7", "d7"], ["b6"]], "in_hand": [7, 8], "turn": 0}));
        assert_eq!(game.estimate(0), -game.estimate(1));
        assert!(game.estimate(0) > 0);
    }

    #[test]
    fn values_are_shown_in_stones() {
        assert_eq!(shown(50), json!(0.5));
        assert_eq!((shown(7 - WON), shown(WON - 7)), (json!(-100), json!(100)));
    }
}
