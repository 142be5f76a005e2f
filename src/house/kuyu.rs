//! A Mangala player that looks ahead. A kuyu is a pit of the board.
//!
//! What a position is worth: the stones in the treasuries above all; then the stones on each side, since whoever runs out
//! gets the rest; pits that end in the treasury, each another move; and what the seat to move can take at once. Without
//! that last part a player that looks one move ahead is glad of three stones and does not see the ten that it leaves to
//! be taken.

use hakem_protocol::{Move, Turn};
use serde_json::Value;

use super::search::{self, Budget, Position};
use super::{Facts, Games, House, Table};
use crate::game::mangala::Mangala;
use crate::game::{Game, Seat, ToAct};

/// Searches Mangala to a number of positions, so that it plays the same on every machine; to a time only if its option
/// `time_ms` asks for it.
#[derive(Debug)]
pub struct Kuyu;

impl House for Kuyu {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "kuyu",
            summary: "plays Mangala, looking ahead as far as its budget goes (alpha-beta)",
            games: Games::Only(&["mangala"]),
            options: search::OPTIONS,
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game: Mangala = super::position(table, turn)?;
        let (pit, value) = search::best(&game, &Budget::of(table, turn))
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        Ok(Move {
            eval: Some(shown(value)),
            ..super::answer(turn, Value::from(pit))
        })
    }
}

/// A won game is worth so much, and its lead in stones.
const WON: i32 = 100_000;
/// What a stone more in the treasury is worth in an undecided position; by it all else is measured.
const STONE: i32 = 10;
/// A stone more on the own side: whoever runs out first takes the other's, but stones are also moves.
const SIDE: i32 = 3;
/// A pit more whose last stone would reach the treasury, for another move.
const READY: i32 = 20;

/// A stone that the next move would bring: it is as good as taken, but the other seat's move after it may be better.
const NEXT: i32 = 7;

/// A value in stones, for people; a decided game is 100 and its lead.
fn shown(value: i32) -> Value {
    let stones = if value.abs() >= WON {
        value.signum() * (100 + value.abs() - WON)
    } else {
        return Value::from(f64::from(value) / f64::from(STONE));
    };
    Value::from(stones)
}

impl Position for Mangala {
    type Move = u8;

    fn mover(&self) -> Option<Seat> {
        match self.to_act() {
            ToAct::Seat(seat, _) => Some(seat),
            _ => None,
        }
    }

    /// Moves that bring most stones are looked at first, with another move for a stone more; of equals the pit nearest to
    /// the treasury.
    fn moves(&self, moves: &mut Vec<(i32, u8)>) {
        let ToAct::Seat(me, _) = self.to_act() else {
            return;
        };
        for pit in (1..=6u8)
            .rev()
            .filter(|&pit| self.pits(me)[usize::from(pit) - 1] > 0)
        {
            let after = self.after(pit);
            let again = i32::from(after.to_act() == self.to_act());
            moves.push((lead(&after, me) - lead(self, me) + again, pit));
        }
    }

    fn after(&self, pit: u8) -> Mangala {
        let mut after = *self;
        // Only pits that are not empty are played.
        let _ = after.apply(&pit);
        after
    }

    /// The value of a game that is over, or that one seat can no longer lose: it has more than half of the stones.
    fn decided(&self, me: Seat) -> Option<i32> {
        let lead = lead(self, me);
        let over = self.to_act() == ToAct::Over;
        let majority = (0..2).any(|seat| self.store(seat) > 24);
        match lead {
            0 if over => Some(0),
            1.. if over || majority => Some(WON + lead),
            _ if over || majority => Some(lead - WON),
            _ => None,
        }
    }

    /// The weights won most of a few thousand games against others.
    fn estimate(&self, me: Seat) -> i32 {
        let of = |seat: Seat| -> i32 {
            let pits = (1..).zip(self.pits(seat));
            pits.map(|(pit, &count)| {
                let ready = count == if pit == 6 { 1 } else { 8 - pit };
                SIDE * i32::from(count) + READY * i32::from(ready)
            })
            .sum()
        };
        let next = match self.mover() {
            Some(mover) => {
                let next = NEXT * next_gain(self.pits(mover), self.pits(1 - mover));
                if mover == me { next } else { -next }
            }
            None => 0,
        };
        STONE * lead(self, me) + of(me) - of(1 - me) + next
    }
}

/// The most stones that one move of these pits brings to the treasury against those, rounds of the board left aside.
fn next_gain(own: &[u8; 6], other: &[u8; 6]) -> i32 {
    let gain = |pit: usize| {
        // Places count on from the own pits, 0 to 5, over the treasury, 6, to the other's pits.
        let last = match usize::from(own[pit]) {
            0 => return 0,
            1 => pit + 1,
            stones => pit + stones - 1,
        };
        match last {
            0..=5 if own[last] == 0 && other[5 - last] > 0 => other[5 - last] + 1,
            0..=5 => 0,
            6 => 1,
            7..=12 if other[last - 7] % 2 == 1 => other[last - 7] + 2,
            _ => 1,
        }
    };
    i32::from((0..6).map(gain).max().unwrap_or(0))
}

/// The lead in stones of the treasuries.
fn lead(game: &Mangala, me: Seat) -> i32 {
    i32::from(game.store(me)) - i32::from(game.store(1 - me))
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use super::*;
    use crate::game::mangala::MangalaOptions;
    use crate::house::search::tests::same_as_plain;
    use crate::house::tests::turn;

    #[test]
    fn pruning_changes_no_value() {
        for state in [
            json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}),
            json!({"pits": [[3,0,0,0,1,9],[1,1,1,0,1,4]], "stores": [11,16], "turn": 1}),
            json!({"pits": [[3,1,3,0,1,1],[3,1,0,2,1,2]], "stores": [17,13], "turn": 1}),
            json!({"pits": [[0,0,0,2,0,1],[0,0,0,3,7,0]], "stores": [22,13], "turn": 0}),
        ] {
            let game = Mangala::read(&MangalaOptions::default(), &state);
            same_as_plain(&game.expect("a position"), 4);
        }
    }

    #[test]
    fn what_the_next_move_brings_is_seen() {
        for (own, other, wanted) in [
            // Nothing; the treasury; over it into a pit that becomes even, and into one that becomes odd.
            ([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], 0),
            ([0, 0, 0, 0, 0, 1], [3, 0, 0, 0, 0, 0], 1),
            ([0, 0, 0, 0, 0, 3], [1, 3, 0, 0, 0, 0], 1 + 2),
            ([0, 0, 0, 0, 0, 4], [1, 4, 0, 0, 0, 0], 1),
            ([0, 0, 0, 0, 0, 4], [0, 3, 0, 0, 0, 0], 1 + 4),
            // An own pit that was empty, opposite five stones; one that was not.
            ([3, 1, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0], 6),
            ([3, 1, 2, 0, 0, 0], [0, 0, 0, 5, 0, 0], 0),
        ] {
            assert_eq!(next_gain(&own, &other), wanted, "{own:?} {other:?}");
        }
    }

    #[test]
    fn it_finds_the_move_that_wins_at_once() {
        // Pit 2 takes the opponent's last nine stones and has 25; nothing else takes anything.
        let state = json!({"pits": [[2,2,0,3,1,0],[0,0,0,9,0,0]], "stores": [15,16], "turn": 0});
        let options = json!({"depth": 1});
        let table = Table {
            game: "mangala",
            rules: &serde_json::Map::new(),
            options: options.as_object().expect("an object"),
            added_ms: 0,
            clock: &|| panic!("no time asked for"),
            withdrawn: &|| false,
        };
        let asked = turn(0, Ask::Move, state, json!([1, 2, 4, 5]));
        let answer = Kuyu.answer(&table, &asked).expect("an answer");
        assert_eq!((answer.mv, answer.eval), (json!(2), Some(json!(102))));
    }
}
