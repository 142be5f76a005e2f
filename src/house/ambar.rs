//! An Oware player that looks ahead. An ambar is a store for seeds.
//!
//! What a position is worth: the seeds in the stores above all; then the houses that are not empty, since they are
//! choices, and the seeds in them; and what the seat to move can capture at once. That last part makes most of the
//! difference to a player that takes what it can: it leaves less to be taken.

use hakem_protocol::{Move, Turn};
use serde_json::Value;

use super::search::{self, Budget, Position};
use super::{Facts, Games, House, Table};
use crate::game::Seat;
use crate::game::oware::{Board, Oware};

/// Searches Oware to a number of positions. It does not look for repetitions: a turn does not tell what was before, and a
/// position comes back after twelve moves at the soonest.
#[derive(Debug)]
pub struct Ambar;

impl House for Ambar {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "ambar",
            summary: "plays Oware, looking ahead as far as its budget goes (alpha-beta)",
            games: Games::Only(&["oware"]),
            options: search::OPTIONS,
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game: Oware = super::position(table, turn)?;
        let (house, value) = search::best(game.position(), &Budget::of(table, turn))
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        Ok(Move {
            eval: Some(shown(value)),
            ..super::answer(turn, Value::from(house))
        })
    }
}

/// A won game is worth so much, and its lead in seeds.
const WON: i32 = 100_000;
/// What a seed more in the store is worth in an undecided position; by it all else is measured.
const SEED: i32 = 10;
/// A seed more on the own side, which is the seat's own if the game ends in a cycle.
const SIDE: i32 = 1;
/// A house more that is not empty: a choice of moves, and seeds that cannot all be captured at once.
const FILLED: i32 = 7;

/// A seed that the next move can capture: it is as good as captured, but there may be an answer.
const NEXT: i32 = 8;

/// A value in seeds, for people; a decided game is 100 and its lead.
fn shown(value: i32) -> Value {
    if value.abs() >= WON {
        Value::from(value.signum() * (100 + value.abs() - WON))
    } else {
        Value::from(f64::from(value) / f64::from(SEED))
    }
}

impl Position for Board {
    type Move = u8;

    fn mover(&self) -> Option<Seat> {
        (!self.is_starved()).then(|| self.turn())
    }

    /// Moves that capture most are looked at first; of equals the house nearest to the opponent.
    fn moves(&self, moves: &mut Vec<(i32, u8)>) {
        let me = self.turn();
        let first = moves.len();
        for house in self.legal() {
            let captured = lead(&Position::after(self, house), me) - lead(self, me);
            moves.push((captured, house));
        }
        moves[first..].reverse();
    }

    fn after(&self, house: u8) -> Board {
        // Only legal houses are played.
        Board::after(self, house).unwrap_or(*self)
    }

    /// The value of a game that is over (rule 4), or that one seat can no longer lose: it has more than half of the
    /// seeds.
    fn decided(&self, me: Seat) -> Option<i32> {
        let over = self.is_starved();
        let mut lead = lead(self, me);
        if over {
            lead += i32::from(self.on_side(me)) - i32::from(self.on_side(1 - me));
        }
        let majority = (0..2).any(|seat| self.store(seat) > 24);
        (over || majority).then(|| WON * lead.signum() + lead)
    }

    /// The weights won most of a few thousand games against others.
    fn estimate(&self, me: Seat) -> i32 {
        let mover = self.turn();
        let next = NEXT * next_capture(self.houses(mover), self.houses(1 - mover));
        let next = if mover == me { next } else { -next };
        SEED * lead(self, me) + worth(self.houses(me)) - worth(self.houses(1 - me)) + next
    }
}

/// The most seeds that one move of these houses captures of those, more than a round of the board left aside.
fn next_capture(own: [u8; 6], other: [u8; 6]) -> i32 {
    let captured = |house: usize| {
        // Places count on from the own houses, 0 to 5, to the other's.
        let last = house + usize::from(own[house]);
        if own[house] >= 12 || !(6..12).contains(&last) {
            return 0;
        }
        let sown = other[..=last - 6].iter().rev().map(|&seeds| seeds + 1);
        sown.take_while(|seeds| [2, 3].contains(seeds)).sum()
    };
    i32::from((0..6).map(captured).max().unwrap_or(0u8))
}

/// The lead in seeds of the stores.
fn lead(board: &Board, me: Seat) -> i32 {
    i32::from(board.store(me)) - i32::from(board.store(1 - me))
}

/// What the houses of a seat seem to be worth.
fn worth(houses: [u8; 6]) -> i32 {
    houses
        .into_iter()
        .filter(|&seeds| seeds > 0)
        .map(|seeds| FILLED + SIDE * i32::from(seeds))
        .sum()
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use super::*;
    use crate::game::Game;
    use crate::game::oware::OwareOptions;
    use crate::house::search::tests::same_as_plain;
    use crate::house::tests::{ask, turn};

    fn board(state: &Value) -> Board {
        let game = Oware::read(&OwareOptions::default(), state).expect("a position");
        *game.position()
    }

    #[test]
    fn pruning_changes_no_value() {
        for state in [
            json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}),
            json!({"pits": [[1,0,2,5,1,0],[2,1,1,4,3,5]], "stores": [11,12], "turn": 1}),
            json!({"pits": [[1,0,0,0,1,2],[1,1,0,0,0,0]], "stores": [20,22], "turn": 0}),
            json!({"pits": [[0,1,0,1,0,1],[0,0,1,2,0,1]], "stores": [21,20], "turn": 0}),
        ] {
            same_as_plain(&board(&state), 5);
        }
    }

    #[test]
    fn what_the_next_move_captures_is_seen() {
        for (own, other, wanted) in [
            ([1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], 0),
            ([0, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0], 3),
            ([0, 0, 0, 0, 0, 1], [3, 0, 0, 0, 0, 0], 0),
            // A row that ends at three seeds that become four.
            ([0, 0, 0, 0, 0, 4], [1, 3, 1, 2, 5, 0], 2 + 3),
            // Twelve seeds go round; that is not looked at.
            ([12, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], 0),
        ] {
            assert_eq!(next_capture(own, other), wanted, "{own:?} {other:?}");
        }
    }

    #[test]
    fn it_finds_the_move_that_wins_at_once() {
        // House 4 captures seven and has 25; nothing else captures anything.
        let state = json!({"pits": [[1,0,2,5,1,0],[2,1,1,4,1,5]], "stores": [18,7], "turn": 0});
        let asked = turn(0, Ask::Move, state, json!([1, 3, 4, 5]));
        let answer = ask("ambar", "oware", json!({"depth": 1}), &asked);
        assert_eq!(answer, Ok(json!(4)));
    }

    #[test]
    fn an_end_by_rule_4_is_worth_what_it_gives() {
        // The last seed of seat 0 goes over and is captured with the one there: nobody has any left.
        let state = json!({"pits": [[0,0,0,0,0,1],[1,0,0,0,0,0]], "stores": [20,26], "turn": 0});
        let over = Position::after(&board(&state), 6);
        assert_eq!((over.mover(), over.store(0)), (None, 22));
        assert_eq!(over.decided(0), Some(-WON - 4));
        assert_eq!(over.decided(1), Some(WON + 4));
        // Seat 1 cannot be fed; what is left on the side of seat 0 is its own.
        let state = json!({"pits": [[1,2,0,0,0,0],[0,0,0,0,0,0]], "stores": [22,23], "turn": 0});
        let over = Position::after(&board(&state), 1);
        assert_eq!((over.mover(), over.decided(0)), (None, Some(WON + 2)));
    }
}
