//! A Mangala player that looks ahead: iterative deepening alpha-beta. A kuyu is a pit of the board.

use arrayvec::ArrayVec;
use hakem_protocol::{Move, Turn, TurnClock};
use serde_json::Value;

use super::{Facts, Games, House, OptionFacts, OptionKind, Table};
use crate::game::mangala::Mangala;
use crate::game::{Game, Seat, ToAct};

/// Positions that it looks at where no option says otherwise.
const NODES: u64 = 30_000;
/// The deepest search.
const MAX_DEPTH: u64 = 64;
/// The clock is read once in so many positions.
const CLOCK_INTERVAL: u64 = 512;

/// Searches Mangala to a number of positions, so that it plays the same on every machine; to a time only if its option
/// `time_ms` asks for it.
#[derive(Debug)]
pub struct Kuyu;

impl House for Kuyu {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "kuyu",
            summary: "looks ahead as far as its budget goes (alpha-beta)",
            games: Games::Only(&["mangala"]),
            options: &[
                OptionFacts {
                    name: "depth",
                    meaning: "the deepest search in moves (default 64)",
                    kind: OptionKind::Number(1, MAX_DEPTH),
                },
                OptionFacts {
                    name: "nodes",
                    meaning: "positions looked at for one answer (default 30000; with time_ms no limit)",
                    kind: OptionKind::Number(1, 1_000_000_000_000),
                },
                OptionFacts {
                    name: "time_ms",
                    meaning: "think about so long, less if the clock is short; games are then not the same again",
                    kind: OptionKind::Number(1, 86_400_000),
                },
            ],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game: Mangala = super::position(table, turn)?;
        let time_us = table
            .number("time_ms")
            .map(|time_ms| time_for(time_ms, turn.seat, &turn.clock));
        let mut search = Search {
            nodes: 0,
            most: table
                .number("nodes")
                .unwrap_or(if time_us.is_some() { u64::MAX } else { NODES }),
            deadline: time_us.map(|time_us| (table.clock)().saturating_add(time_us)),
            clock: table.clock,
            cut_short: false,
        };
        let depth = table.number("depth").unwrap_or(MAX_DEPTH);
        let (pit, value) = search.deepen(&game, depth as u32);
        Ok(Move {
            eval: Some(shown(value)),
            ..super::answer(turn, Value::from(pit))
        })
    }
}

/// How long to think, in microseconds: the time asked for, but never more than half of what this answer may take, nor
/// than a twentieth of what is left for the game.
fn time_for(time_ms: u64, seat: Seat, clock: &TurnClock) -> u64 {
    let limit = clock.limit_ms.map(|limit| limit.saturating_mul(500));
    let left = clock
        .left_ms
        .get(seat)
        .copied()
        .flatten()
        .map(|left| left.saturating_mul(50));
    [limit, left]
        .into_iter()
        .flatten()
        .fold(time_ms * 1000, u64::min)
}

/// A won game is worth so much, and its lead in stones.
const WON: i32 = 100_000;
/// What a stone more in the treasury is worth in an undecided position; by it all else is measured.
const STONE: i32 = 10;
/// A stone more on the own side: whoever runs out first takes the other's, but stones are also moves.
const SIDE: i32 = 3;
/// A pit more whose last stone would reach the treasury, for another move.
const READY: i32 = 20;

/// A value in stones, for people; a decided game is 100 and its lead.
fn shown(value: i32) -> Value {
    let stones = if value.abs() >= WON {
        value.signum() * (100 + value.abs() - WON)
    } else {
        return Value::from(f64::from(value) / f64::from(STONE));
    };
    Value::from(stones)
}

/// A move and the position after it.
type Child = (u8, Mangala);

/// The moves of a position, the most promising first: those that bring most stones, with another move for a stone more.
fn children(game: &Mangala, me: Seat) -> ArrayVec<Child, 6> {
    let mut moves = ArrayVec::<(i32, Child), 6>::new();
    for pit in (1..=6u8).rev() {
        let mut after = *game;
        // An empty pit is no move.
        if after.apply(&pit).is_ok() {
            let again = i32::from(after.to_act() == game.to_act());
            let gain = |seat: Seat| i32::from(after.store(seat)) - i32::from(game.store(seat));
            moves.push((gain(me) - gain(1 - me) + again, (pit, after)));
        }
    }
    // Stable: of equals the pit nearest to the treasury comes first.
    moves.sort_by_key(|&(promise, _)| -promise);
    moves.into_iter().map(|(_, child)| child).collect()
}

struct Search<'a> {
    /// Positions looked at.
    nodes: u64,
    /// The most of them.
    most: u64,
    /// When to stop, on `clock`.
    deadline: Option<u64>,
    clock: &'a dyn Fn() -> u64,
    /// Whether some line of the current depth ended before the game did.
    cut_short: bool,
}

impl Search<'_> {
    /// Searches one move deeper again and again, until the budget is spent or the game is solved. Returns the best move
    /// of a position that is not over, and its value for the seat to move.
    fn deepen(&mut self, game: &Mangala, most_depth: u32) -> (u8, i32) {
        let ToAct::Seat(me, _) = game.to_act() else {
            unreachable!("a seat is asked");
        };
        let mut moves = children(game, me);
        let mut best = (moves[0].0, 0);
        for depth in 1..=most_depth {
            self.cut_short = false;
            let finished = self.root(me, &moves, depth, &mut best);
            if !finished || !self.cut_short || moves.len() == 1 {
                break;
            }
            // The best move of this depth is the first to be tried at the next.
            moves.sort_by_key(|&(pit, _)| pit != best.0);
        }
        best
    }

    /// Searches every move to this depth; false if the budget ended before. `best` is then the best of those that were
    /// finished, the first of which was the best of the depth before.
    fn root(&mut self, me: Seat, moves: &[Child], depth: u32, best: &mut (u8, i32)) -> bool {
        let mut alpha = -i32::MAX;
        for (pit, after) in moves {
            let Some(value) = self.child(me, after, depth, alpha, i32::MAX) else {
                return false;
            };
            if value > alpha {
                alpha = value;
                *best = (*pit, value);
            }
        }
        true
    }

    /// The value for `me` of a position that `me` has moved to; `None` if the budget is spent.
    fn child(
        &mut self,
        me: Seat,
        after: &Mangala,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        match after.to_act() {
            ToAct::Seat(seat, _) if seat != me => self
                .value(seat, after, depth - 1, -beta, -alpha)
                .map(|value| -value),
            // Another move of the same seat costs no depth; each has brought a stone into its treasury.
            _ => self.value(me, after, depth, alpha, beta),
        }
    }

    /// The value for `me`, the seat to move unless the game is over.
    fn value(
        &mut self,
        me: Seat,
        game: &Mangala,
        depth: u32,
        mut alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        self.nodes += 1;
        if self.is_spent() {
            return None;
        }
        if let Some(value) = decided(game, me) {
            return Some(value);
        }
        if depth == 0 {
            self.cut_short = true;
            return Some(estimate(game, me));
        }
        let mut best = -i32::MAX;
        for (_, after) in children(game, me) {
            let value = self.child(me, &after, depth, alpha, beta)?;
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    fn is_spent(&self) -> bool {
        self.nodes > self.most
            || self.deadline.is_some_and(|deadline| {
                self.nodes.is_multiple_of(CLOCK_INTERVAL) && (self.clock)() >= deadline
            })
    }
}

/// The lead in stones of the treasuries.
fn lead(game: &Mangala, me: Seat) -> i32 {
    i32::from(game.store(me)) - i32::from(game.store(1 - me))
}

/// The value of a game that is over, or that one seat can no longer lose: it has more than half of the stones.
fn decided(game: &Mangala, me: Seat) -> Option<i32> {
    let lead = lead(game, me);
    let over = game.to_act() == ToAct::Over;
    let majority = (0..2).any(|seat| game.store(seat) > 24);
    match lead {
        0 if over => Some(0),
        1.. if over || majority => Some(WON + lead),
        _ if over || majority => Some(lead - WON),
        _ => None,
    }
}

/// What a position that is not decided seems to be worth. The weights won most of a few thousand games against others.
fn estimate(game: &Mangala, me: Seat) -> i32 {
    let of = |seat: Seat| -> i32 {
        let pits = (1..).zip(game.pits(seat));
        pits.map(|(pit, &count)| {
            let ready = count == if pit == 6 { 1 } else { 8 - pit };
            SIDE * i32::from(count) + READY * i32::from(ready)
        })
        .sum()
    };
    STONE * lead(game, me) + of(me) - of(1 - me)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hakem_protocol::Ask;
    use serde_json::json;

    use super::*;
    use crate::game::mangala::MangalaOptions;
    use crate::house::tests::turn;

    fn read(state: &Value) -> Mangala {
        Mangala::read(&MangalaOptions::default(), state).expect("a position")
    }

    fn search(clock: &dyn Fn() -> u64, most: u64, deadline: Option<u64>) -> Search<'_> {
        Search {
            nodes: 0,
            most,
            deadline,
            clock,
            cut_short: false,
        }
    }

    /// The same value without any pruning.
    fn plain(me: Seat, game: &Mangala, depth: u32) -> i32 {
        if let Some(value) = decided(game, me) {
            return value;
        }
        if depth == 0 {
            return estimate(game, me);
        }
        let values = children(game, me)
            .into_iter()
            .map(|(_, after)| match after.to_act() {
                ToAct::Seat(seat, _) if seat != me => -plain(seat, &after, depth - 1),
                ToAct::Seat(..) => plain(me, &after, depth),
                _ => decided(&after, me).expect("over"),
            });
        values.max().expect("a move")
    }

    #[test]
    fn pruning_changes_no_value() {
        for state in [
            json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}),
            json!({"pits": [[3,0,0,0,1,9],[1,1,1,0,1,4]], "stores": [11,16], "turn": 1}),
            json!({"pits": [[3,1,3,0,1,1],[3,1,0,2,1,2]], "stores": [17,13], "turn": 1}),
            json!({"pits": [[0,0,0,2,0,1],[0,0,0,3,7,0]], "stores": [22,13], "turn": 0}),
        ] {
            let game = read(&state);
            let ToAct::Seat(me, _) = game.to_act() else {
                panic!()
            };
            for depth in 1..=4 {
                let mut search = search(&|| 0, u64::MAX, None);
                let (_, value) = search.deepen(&game, depth);
                assert_eq!(value, plain(me, &game, depth), "{state} at {depth}");
            }
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
            clock: &|| panic!("no time asked for"),
            withdrawn: &|| false,
        };
        let asked = turn(0, Ask::Move, state, json!([1, 2, 4, 5]));
        let answer = Kuyu.answer(&table, &asked).expect("an answer");
        assert_eq!((answer.mv, answer.eval), (json!(2), Some(json!(102))));
    }

    #[test]
    fn it_stops_at_its_budget_and_has_an_answer() {
        let game =
            read(&json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}));
        for most in [1, 2, 7, 1000] {
            let mut search = search(&|| 0, most, None);
            let (pit, _) = search.deepen(&game, 64);
            assert!((1..=6).contains(&pit));
            assert!(search.nodes <= most + 1);
        }
        // A clock that runs on by a millisecond whenever it is read.
        let now = Cell::new(0);
        let clock = || {
            now.set(now.get() + 1000);
            now.get()
        };
        let mut search = search(&clock, u64::MAX, Some(5000));
        search.deepen(&game, 64);
        assert_eq!(search.nodes, 5 * CLOCK_INTERVAL);
    }

    #[test]
    fn a_solved_game_needs_no_deeper_search() {
        let game =
            read(&json!({"pits": [[0,0,0,0,2,1],[0,0,0,0,1,0]], "stores": [22,22], "turn": 0}));
        let mut search = search(&|| 0, u64::MAX, None);
        search.deepen(&game, 64);
        assert!(search.nodes < 1000);
    }

    #[test]
    fn a_short_clock_shortens_the_time() {
        let clock = |limit_ms, left_ms| TurnClock {
            left_ms: vec![None, left_ms],
            limit_ms,
        };
        assert_eq!(time_for(200, 1, &clock(None, None)), 200_000);
        assert_eq!(time_for(200, 1, &clock(Some(100), Some(60_000))), 50_000);
        assert_eq!(time_for(200, 1, &clock(Some(1000), Some(1000))), 50_000);
        assert_eq!(time_for(200, 7, &clock(Some(1000), Some(1))), 200_000);
    }
}
