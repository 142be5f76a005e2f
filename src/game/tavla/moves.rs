//! Checker moves: the legal plays of a roll (rules 2 to 5).
//!
//! # How each position is listed once
//!
//! A play is a set of one-die moves; its order does not matter for what it reaches.
//!
//! - With a double every move has the same length, so each position is reached by exactly one set of points to move from
//!   (the moves are linearly independent). Taken from the highest point down, every such set is a legal sequence:
//!   that one order is walked.
//! - With two different dice a play is a pair: the point that the higher die moves from, and that of the lower. Two
//!   pairs reach one position in two cases only: one checker runs with both dice and may touch down on either
//!   point between (unless a blot is hit there), or two checkers are borne off and the dice may be exchanged.
//!   One pair of each such two is left out.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::{BAR, CHECKERS, OFF, POINTS, Points};

/// The most checker moves of a play: a double's four.
pub const MAX_STEPS: usize = 4;
/// The points of the home board, one bit a point.
pub(super) const HOME: u32 = 0b111_1110;
pub(super) const BAR_BIT: u32 = 1 << BAR;

/// One checker moves from a point (25: the bar) to a lower one (0: off), as its seat counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// 1 to 24, or 25 for the bar.
    pub from: u8,
    /// 24 to 1, or 0 for off.
    pub to: u8,
}

/// The checker moves of a turn, none where nothing can be played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Play {
    steps: [Step; MAX_STEPS],
    len: u8,
}

impl Play {
    /// The play without a move.
    pub const EMPTY: Play = Play {
        steps: [Step { from: 0, to: 0 }; MAX_STEPS],
        len: 0,
    };

    /// The checker moves, in an order in which they can be played where the play is a listed one.
    pub fn steps(&self) -> &[Step] {
        &self.steps[..usize::from(self.len)]
    }

    /// The number of checker moves.
    pub(super) fn len(&self) -> u8 {
        self.len
    }

    /// Adds a move; `false` where there are four already.
    pub(super) fn push(&mut self, step: Step) -> bool {
        let room = usize::from(self.len) < MAX_STEPS;
        if room {
            self.steps[usize::from(self.len)] = step;
            self.len += 1;
        }
        room
    }

    fn of(steps: &[Step]) -> Play {
        let mut play = Play::EMPTY;
        play.steps[..steps.len()].copy_from_slice(steps);
        play.len = steps.len() as u8;
        play
    }

    /// Moves the checkers of a legal play, and those that it hits.
    pub fn carry_out(&self, own: &mut Points, other: &mut Points) {
        for step in self.steps() {
            let to = usize::from(step.to);
            own[to] += 1;
            if to != OFF && other[BAR - to] == 1 {
                other[BAR - to] = 0;
                other[BAR] += 1;
            }
        }
        for step in self.steps() {
            own[usize::from(step.from)] -= 1;
        }
    }
}

impl Serialize for Play {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.steps().len()))?;
        for step in self.steps() {
            list.serialize_element(&[step.from, step.to])?;
        }
        list.end()
    }
}

/// What rule 4 demands of a roll: how many dice, and which one where it is only one of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// The dice to be played, 0 to 4.
    pub(super) count: u8,
    /// With two different dice of which one is to be played: that one. Else 0.
    pub(super) die: u8,
}

/// The board as the mover sees it; one bit a point (its own numbers) in the masks.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) own: Points,
    /// Points, bar included, with own checkers.
    pub(super) held: u32,
    /// Points with two or more opposing checkers.
    pub(super) blocked: u32,
    /// Points with one opposing checker.
    blots: u32,
}

impl View {
    pub(super) fn new(own: &Points, other: &Points) -> View {
        let mut view = View {
            own: *own,
            held: 0,
            blocked: 0,
            blots: 0,
        };
        for (point, &count) in own.iter().enumerate().skip(1) {
            view.held |= u32::from(count > 0) << point;
        }
        for point in 1..BAR {
            let count = other[BAR - point];
            view.blocked |= u32::from(count > 1) << point;
            view.blots |= u32::from(count == 1) << point;
        }
        view
    }

    /// Moves one checker.
    pub(super) fn step(&mut self, step: Step) {
        let (from, to) = (usize::from(step.from), usize::from(step.to));
        self.held = self.held_after(step);
        self.own[from] -= 1;
        self.own[to] += 1;
    }

    /// The points held once this checker has moved.
    fn held_after(&self, step: Step) -> u32 {
        let left = u32::from(self.own[usize::from(step.from)] == 1) << step.from;
        let entered = u32::from(step.to > 0) << step.to;
        self.held & !left | entered
    }

    /// The points from which this die can be played.
    pub(super) fn movable(&self, die: u8) -> u32 {
        movable(self.held, self.blocked, die)
    }
}

/// The points from which a die can be played by the holder of these points (rules 2, 3 and 5).
fn movable(held: u32, blocked: u32, die: u8) -> u32 {
    let from = if held & BAR_BIT == 0 { held } else { BAR_BIT };
    let above = !0 << (die + 1);
    let inside = from & above & !(blocked << die);
    if held & !HOME != 0 || held == 0 {
        return inside;
    }
    // Bearing off: from the die's point, or with none there and none higher from the highest.
    let highest = 31 - held.leading_zeros();
    if highest < u32::from(die) {
        1 << highest
    } else {
        inside | held & (1 << die)
    }
}

/// The set bits, from the lowest.
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as u8;
            mask &= mask - 1;
            bit
        })
    })
}

/// The move of a die from this point.
pub(super) fn step(from: u8, die: u8) -> Step {
    Step {
        from,
        to: from.saturating_sub(die),
    }
}

/// The higher die and the lower.
pub(super) fn ordered(dice: [u8; 2]) -> (u8, u8) {
    (dice[0].max(dice[1]), dice[0].min(dice[1]))
}

// ---- What must be played -------------------------------------------------------------------------------------------

/// How many dice must be played, and which (rule 4).
pub(super) fn demand(own: &Points, other: &Points, dice: [u8; 2]) -> Demand {
    let mut view = View::new(own, other);
    let (high, low) = ordered(dice);
    if high == low {
        return Demand {
            count: most_of_double(&mut view, high, BAR as u8, 0),
            die: 0,
        };
    }
    let (first, second) = (view.movable(high), view.movable(low));
    let follows = |froms: u32, die: u8, then: u8| {
        bits(froms).any(|from| movable(view.held_after(step(from, die)), view.blocked, then) != 0)
    };
    let (count, die) = if follows(first, high, low) || follows(second, low, high) {
        (2, 0)
    } else if first != 0 {
        (1, high)
    } else if second != 0 {
        (1, low)
    } else {
        (0, 0)
    };
    Demand { count, die }
}

/// The most moves of this die that can be played from points up to `limit`, `done` being played; at most four.
fn most_of_double(view: &mut View, die: u8, limit: u8, done: u8) -> u8 {
    if usize::from(done) == MAX_STEPS {
        return done;
    }
    let mut most = done;
    // From the highest down: it leaves the most choice to the moves that follow, so the first try mostly finds four.
    let mut froms = view.movable(die) & up_to(limit);
    while froms != 0 && usize::from(most) < MAX_STEPS {
        let from = (31 - froms.leading_zeros()) as u8;
        froms &= !(1 << from);
        let before = *view;
        view.step(step(from, die));
        most = most.max(most_of_double(view, die, from, done + 1));
        *view = before;
    }
    most
}

/// The bits of the points up to this one.
fn up_to(limit: u8) -> u32 {
    (2 << limit) - 1
}

// ---- All plays -----------------------------------------------------------------------------------------------------

/// Gives every legal play to `emit`, one for each position that can be reached; none where nothing can be played.
///
/// The order: plays that begin with the higher die, then the others, each ascending by the points moved from.
pub(super) fn plays(
    own: &Points,
    other: &Points,
    dice: [u8; 2],
    demand: Demand,
    emit: &mut impl FnMut(Play),
) {
    let mut view = View::new(own, other);
    let (high, low) = ordered(dice);
    match demand.count {
        0 => {}
        count if high == low => {
            let mut play = Play::EMPTY;
            doubles(&mut view, high, BAR as u8, count, &mut play, emit);
        }
        1 => {
            for from in bits(view.movable(demand.die)) {
                emit(Play::of(&[step(from, demand.die)]));
            }
        }
        _ => pairs(&view, high, low, emit),
    }
}

/// Gives every legal play of a roll to `emit`, one for each position that can be reached; none where nothing can be
/// played.
pub fn plays_of(own: &Points, other: &Points, dice: [u8; 2], emit: &mut impl FnMut(Play)) {
    plays(own, other, dice, demand(own, other, dice), emit);
}

/// Every set of `count` moves of one die, from the highest point down.
fn doubles(
    view: &mut View,
    die: u8,
    limit: u8,
    count: u8,
    play: &mut Play,
    emit: &mut impl FnMut(Play),
) {
    for from in bits(view.movable(die) & up_to(limit)) {
        let step = step(from, die);
        play.push(step);
        if play.len == count {
            emit(*play);
        } else {
            let before = *view;
            view.step(step);
            doubles(view, die, from, count, play, emit);
            *view = before;
        }
        play.len -= 1;
        play.steps[usize::from(play.len)] = Step::default();
    }
}

/// Every pair of a move of the higher and a move of the lower die.
fn pairs(view: &View, high: u8, low: u8, emit: &mut impl FnMut(Play)) {
    let after = |froms: u32, die: u8, then: u8| {
        let mut seconds = [0u32; POINTS];
        for from in bits(froms) {
            let held = view.held_after(step(from, die));
            seconds[usize::from(from)] = movable(held, view.blocked, then);
        }
        seconds
    };
    let (highs, lows) = (view.movable(high), view.movable(low));
    let (high_first, low_first) = (after(highs, high, low), after(lows, low, high));
    let legal = |by_high: u8, by_low: u8| {
        high_first[usize::from(by_high)] & 1 << by_low != 0
            || low_first[usize::from(by_low)] & 1 << by_high != 0
    };
    // Whether this pair reaches what another one, which is kept, reaches too.
    let repeats = |by_high: u8, by_low: u8| {
        if by_high + low == by_low {
            // One checker runs, the lower die first: kept is the higher die first, unless a hit makes it another play.
            by_low > high
                && view.blots & (1 << by_high | 1 << (by_low - high)) == 0
                && legal(by_low, by_low - high)
        } else {
            // Two are borne off: kept is the pair in which the higher die takes the one from the higher point.
            by_high < by_low && by_low <= low && legal(by_low, by_high)
        }
    };
    for by_high in bits(highs) {
        for by_low in bits(high_first[usize::from(by_high)]) {
            if !repeats(by_high, by_low) {
                emit(Play::of(&[step(by_high, high), step(by_low, low)]));
            }
        }
    }
    for by_low in bits(lows) {
        for by_high in bits(low_first[usize::from(by_low)]) {
            let listed = high_first[usize::from(by_high)] & 1 << by_low != 0;
            if !listed && !repeats(by_high, by_low) {
                emit(Play::of(&[step(by_low, low), step(by_high, high)]));
            }
        }
    }
}

// ---- Counting ------------------------------------------------------------------------------------------------------

/// The 21 different rolls, the higher die first.
pub fn rolls() -> impl Iterator<Item = [u8; 2]> {
    (1..=6).flat_map(|high| (1..=high).map(move |low| [high, low]))
}

/// The paths of exactly `depth` turns from here, over all rolls (the first roll may be given), one for each position
/// that a roll reaches; a roll without a play is one, a game over sooner none.
pub(super) fn paths(own: &Points, other: &Points, given: Option<[u8; 2]>, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if [own, other].iter().any(|side| side[OFF] == CHECKERS) {
        return 0;
    }
    let of_roll = |dice: [u8; 2]| {
        let demand = demand(own, other, dice);
        if demand.count == 0 {
            return paths(other, own, None, depth - 1);
        }
        let mut sum = 0;
        plays(own, other, dice, demand, &mut |play| {
            sum += if depth == 1 {
                1
            } else {
                let (mut own, mut other) = (*own, *other);
                play.carry_out(&mut own, &mut other);
                paths(&other, &own, None, depth - 1)
            };
        });
        sum
    };
    match given {
        Some(dice) => of_roll(dice),
        None => rolls().map(of_roll).sum(),
    }
}
