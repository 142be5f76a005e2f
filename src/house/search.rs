//! Looking ahead: alpha-beta with iterative deepening, the same for every game of two seats without chance.
//!
//! A game's bot says with [`Position`] what may be played, which moves look best, and what a position is worth; the search
//! does the rest. It counts positions, not time, so that an answer is a function of the turn; the clock is read only
//! where an option asks for it.
//!
//! At depth 1 that is all there is to a simple bot: play every own move, look at the position after it with the game's
//! [`Position::estimate`], take the best. Each further depth asks what the other seat would answer to it. Alpha-beta
//! leaves out moves that cannot change the result, which is why good moves are looked at first; and since depth 2 is
//! cheap beside depth 3, it is searched before it, and its best move is then the first to be tried.

use hakem_protocol::Turn;

use super::pace;
use super::{OptionFacts, OptionKind, Table};
use crate::game::Seat;

/// Positions looked at where no option says otherwise.
const NODES: u64 = 30_000;
/// The deepest search.
const MAX_DEPTH: u64 = 64;
/// The clock is read once in so many positions: some tens of microseconds, even in a build that is not optimised hardly
/// more than a millisecond.
const CLOCK_INTERVAL: u64 = 64;

/// The options of a bot that searches.
pub(super) const OPTIONS: &[OptionFacts] = &[
    OptionFacts {
        name: "depth",
        meaning: "the deepest search in moves (default 64)",
        kind: OptionKind::Number(1, MAX_DEPTH),
    },
    OptionFacts {
        name: "nodes",
        meaning: "positions looked at for one answer (default 30000; where a time is kept no limit)",
        kind: OptionKind::Number(1, 1_000_000_000_000),
    },
    pace::TIME_MS,
    pace::CLOCK,
];

/// A position as the search sees it. Values are for one seat; the other's are their negatives.
pub(super) trait Position: Sized {
    /// An answer.
    type Move: Copy + PartialEq;

    /// The seat to move; `None` if the game is over or waits for a lot.
    fn mover(&self) -> Option<Seat>;

    /// Adds every move of the seat to move with its promise; the highest is looked at first, of equals the first added.
    fn moves(&self, moves: &mut Vec<(i32, Self::Move)>);

    /// The position after one of its moves.
    fn after(&self, mv: Self::Move) -> Self;

    /// The value for this seat where it is known without looking further; always so without a seat to move.
    fn decided(&self, me: Seat) -> Option<i32>;

    /// What a position that is not decided seems to be worth for this seat.
    fn estimate(&self, me: Seat) -> i32;
}

/// How far a search may go.
pub(super) struct Budget<'a> {
    /// The deepest search in moves.
    depth: u32,
    /// The most positions.
    nodes: u64,
    /// When to stop, on `clock`.
    deadline: Option<u64>,
    clock: &'a dyn Fn() -> u64,
}

impl<'a> Budget<'a> {
    /// The budget that the options [`OPTIONS`] give this turn.
    pub(super) fn of(table: &Table<'a>, turn: &Turn) -> Budget<'a> {
        let deadline = pace::deadline(table, turn);
        let usual = if deadline.is_some() { u64::MAX } else { NODES };
        Budget {
            depth: table.number("depth").unwrap_or(MAX_DEPTH) as u32,
            nodes: table.number("nodes").unwrap_or(usual),
            deadline,
            clock: table.clock,
        }
    }
}

/// The best move of a position in which a seat is to move, and its value for that seat; `None` in any other position.
pub(super) fn best<P: Position>(position: &P, budget: &Budget<'_>) -> Option<(P::Move, i32)> {
    Search::new(budget).deepen(position)
}

struct Search<'a, P: Position> {
    budget: &'a Budget<'a>,
    /// Positions looked at.
    nodes: u64,
    /// Whether some line of the current depth ended before the game did.
    cut_short: bool,
    /// The moves of the positions on the current line that are still to be looked at.
    moves: Vec<(i32, P::Move)>,
}

impl<'a, P: Position> Search<'a, P> {
    fn new(budget: &'a Budget<'a>) -> Search<'a, P> {
        Search {
            budget,
            nodes: 0,
            cut_short: false,
            moves: Vec::new(),
        }
    }

    /// Searches one move deeper again and again, until the budget is spent or the game is solved.
    fn deepen(&mut self, position: &P) -> Option<(P::Move, i32)> {
        let me = position.mover()?;
        let mut moves = Vec::new();
        position.moves(&mut moves);
        moves.sort_by_key(|&(promise, _)| -promise);
        let mut moves: Vec<P::Move> = moves.into_iter().map(|(_, mv)| mv).collect();
        let mut best = (*moves.first()?, 0);
        for depth in 1..=self.budget.depth {
            self.cut_short = false;
            let finished = self.root(me, position, &moves, depth, &mut best);
            if !finished || !self.cut_short || moves.len() == 1 {
                break;
            }
            // The best move of this depth is the first to be tried at the next.
            moves.sort_by_key(|&mv| mv != best.0);
        }
        Some(best)
    }

    /// Searches every move to this depth; false if the budget ended before. `best` is then the best of those that were
    /// finished, the first of which was the best of the depth before.
    fn root(
        &mut self,
        me: Seat,
        position: &P,
        moves: &[P::Move],
        depth: u32,
        best: &mut (P::Move, i32),
    ) -> bool {
        let mut alpha = -i32::MAX;
        for &mv in moves {
            let Some(value) = self.child(me, &position.after(mv), depth, alpha, i32::MAX) else {
                return false;
            };
            if value > alpha {
                alpha = value;
                *best = (mv, value);
            }
        }
        true
    }

    /// The value for `me` of a position that `me` has moved to; `None` if the budget is spent.
    fn child(&mut self, me: Seat, after: &P, depth: u32, alpha: i32, beta: i32) -> Option<i32> {
        match after.mover() {
            Some(seat) if seat != me => self
                .value(seat, after, depth - 1, -beta, -alpha)
                .map(|value| -value),
            // Another move of the same seat costs no depth.
            _ => self.value(me, after, depth, alpha, beta),
        }
    }

    /// The value for `me`, the seat to move unless the game is over.
    fn value(
        &mut self,
        me: Seat,
        position: &P,
        depth: u32,
        mut alpha: i32,
        beta: i32,
    ) -> Option<i32> {
        self.nodes += 1;
        if self.is_spent() {
            return None;
        }
        if let Some(value) = position.decided(me) {
            return Some(value);
        }
        if depth == 0 {
            self.cut_short = true;
            return Some(position.estimate(me));
        }
        let first = self.moves.len();
        position.moves(&mut self.moves);
        self.moves[first..].sort_by_key(|&(promise, _)| -promise);
        let mut best = -i32::MAX;
        for index in first..self.moves.len() {
            let after = position.after(self.moves[index].1);
            let value = self.child(me, &after, depth, alpha, beta)?;
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta {
                break;
            }
        }
        self.moves.truncate(first);
        Some(best)
    }

    fn is_spent(&self) -> bool {
        self.nodes > self.budget.nodes
            || self.budget.deadline.is_some_and(|deadline| {
                self.nodes.is_multiple_of(CLOCK_INTERVAL) && (self.budget.clock)() >= deadline
            })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::*;

    /// A budget that ends at this depth, without a clock.
    pub(crate) fn to_depth(depth: u32) -> Budget<'static> {
        Budget {
            depth,
            nodes: u64::MAX,
            deadline: None,
            clock: &|| panic!("no time asked for"),
        }
    }

    /// The value for the seat to move, without any pruning.
    pub(crate) fn plain<P: Position>(me: Seat, position: &P, depth: u32) -> i32 {
        if let Some(value) = position.decided(me) {
            return value;
        }
        if depth == 0 {
            return position.estimate(me);
        }
        let mut moves = Vec::new();
        position.moves(&mut moves);
        let values = moves.into_iter().map(|(_, mv)| {
            let after = position.after(mv);
            match after.mover() {
                Some(seat) if seat != me => -plain(seat, &after, depth - 1),
                _ => plain(me, &after, depth),
            }
        });
        values.max().expect("a move")
    }

    /// Asserts that pruning changes no value down to this depth.
    pub(crate) fn same_as_plain<P: Position>(position: &P, depth: u32) {
        let me = position.mover().expect("a seat is to move");
        for depth in 1..=depth {
            let (_, value) = best(position, &to_depth(depth)).expect("a move");
            assert_eq!(value, plain(me, position, depth), "at depth {depth}");
        }
    }

    /// A heap of matches: each seat takes one to three, who takes the last has won.
    struct Heap {
        matches: i32,
        mover: Seat,
    }

    impl Position for Heap {
        type Move = i32;

        fn mover(&self) -> Option<Seat> {
            (self.matches > 0).then_some(self.mover)
        }

        fn moves(&self, moves: &mut Vec<(i32, i32)>) {
            moves.extend((1..=self.matches.min(3)).map(|taken| (0, taken)));
        }

        fn after(&self, taken: i32) -> Heap {
            Heap {
                matches: self.matches - taken,
                mover: 1 - self.mover,
            }
        }

        fn decided(&self, me: Seat) -> Option<i32> {
            let lost = if self.mover == me { -100 } else { 100 };
            (self.matches == 0).then_some(lost)
        }

        fn estimate(&self, _me: Seat) -> i32 {
            0
        }
    }

    fn heap(matches: i32) -> Heap {
        Heap { matches, mover: 1 }
    }

    #[test]
    fn it_finds_the_only_move_that_wins() {
        for matches in (1..20).filter(|matches| matches % 4 != 0) {
            let found = best(&heap(matches), &to_depth(64));
            assert_eq!(found, Some((matches % 4, 100)), "{matches}");
        }
        let lost = best(&heap(12), &to_depth(64)).expect("a move");
        assert_eq!(lost.1, -100);
        assert_eq!(best(&heap(0), &to_depth(64)), None);
    }

    #[test]
    fn a_solved_game_needs_no_deeper_search() {
        let budget = to_depth(64);
        let mut search = Search::new(&budget);
        search.deepen(&heap(7));
        assert!(search.nodes < 1000);
        assert!(search.moves.is_empty());
    }

    #[test]
    fn it_stops_at_its_budget_and_has_an_answer() {
        for nodes in [1, 2, 7, 1000] {
            let budget = Budget {
                nodes,
                ..to_depth(64)
            };
            let mut search = Search::new(&budget);
            let (taken, _) = search.deepen(&heap(60)).expect("a move");
            assert!((1..=3).contains(&taken));
            assert_eq!(search.nodes, nodes + 1);
        }
        // A clock that runs on by a millisecond whenever it is read.
        let now = Cell::new(0);
        let clock = || {
            now.set(now.get() + 1000);
            now.get()
        };
        let budget = Budget {
            deadline: Some(5000),
            clock: &clock,
            ..to_depth(64)
        };
        let mut search = Search::new(&budget);
        search.deepen(&heap(60));
        assert_eq!(search.nodes, 5 * CLOCK_INTERVAL);
    }
}
