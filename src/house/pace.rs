//! How long a bot thinks: a share of the turn's clock that can never lose a game on time.
//!
//! Two things decide. A game is long, so an answer gets a small part of what is left, and what each answer is given anew.
//! And a clock charges more than thinking: reading the turn, writing the answer, and waking up late on a busy machine. So
//! a reserve is never thought away, and half of what a single answer may take is left alone.

use hakem_protocol::{Turn, TurnClock};

use super::{OptionFacts, OptionKind, Table};
use crate::game::Seat;

/// The option that sets a time.
pub(super) const TIME_MS: OptionFacts = OptionFacts {
    name: "time_ms",
    meaning: "think about so long, less if the clock is short; games are then not the same again",
    kind: OptionKind::Number(1, 86_400_000),
};
/// The option that asks for time control.
pub(super) const CLOCK: OptionFacts = OptionFacts {
    name: "clock",
    meaning: "true: think as long as the event's clock allows; games are then not the same again",
    kind: OptionKind::Flag,
};

/// An answer may think for this part of the time left beyond the reserve. What is left shrinks with it, so it is never
/// used up; games of forty moves and of four hundred both get sensible shares.
const PART: u64 = 25;
/// Of the time that each answer is given anew (increment and delay) these quarters are used.
const QUARTERS_OF_ADDED: u64 = 3;
/// What is never thought away, milliseconds: some hundred answers at once, late as they may be.
const RESERVE_MS: u64 = 300;

/// When to stop thinking, on the table's clock; `None` where no option asks for a time, or where `clock` is asked for and
/// the event has none: the bot then goes by its other limits.
pub(super) fn deadline(table: &Table<'_>, turn: &Turn) -> Option<u64> {
    let share = || share_us(turn.seat, &turn.clock, table.added_ms);
    let time_us = match (table.number("time_ms"), table.flag("clock")) {
        (None, false) => return None,
        (None, true) => share()?,
        (Some(time_ms), true) => share().map_or(time_ms * 1000, |share| share.min(time_ms * 1000)),
        (Some(time_ms), false) => at_most(time_ms, turn.seat, &turn.clock),
    };
    Some((table.clock)().saturating_add(time_us))
}

/// The time left to this seat for the game.
fn left(seat: Seat, clock: &TurnClock) -> Option<u64> {
    clock.left_ms.get(seat).copied().flatten()
}

/// The time to think that the clock allows, in microseconds; `None` without any clock.
fn share_us(seat: Seat, clock: &TurnClock, added_ms: u64) -> Option<u64> {
    let game = left(seat, clock).map(|left| {
        let free = left.saturating_sub(RESERVE_MS).saturating_mul(1000);
        let added = added_ms.saturating_mul(1000) / 4 * QUARTERS_OF_ADDED;
        (free / PART).saturating_add(added)
    });
    let answer = clock.limit_ms.map(|limit| limit.saturating_mul(500));
    match (game, answer) {
        (Some(game), Some(answer)) => Some(game.min(answer)),
        (game, answer) => game.or(answer),
    }
}

/// The time asked for in microseconds, but never more than half of what this answer may take, nor than a twentieth of
/// what is left for the game.
fn at_most(time_ms: u64, seat: Seat, clock: &TurnClock) -> u64 {
    let limit = clock.limit_ms.map(|limit| limit.saturating_mul(500));
    let left = left(seat, clock).map(|left| left.saturating_mul(50));
    [limit, left]
        .into_iter()
        .flatten()
        .fold(time_ms * 1000, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(limit_ms: Option<u64>, left_ms: Option<u64>) -> TurnClock {
        TurnClock {
            left_ms: vec![None, left_ms],
            limit_ms,
        }
    }

    #[test]
    fn a_short_clock_shortens_the_time() {
        assert_eq!(at_most(200, 1, &clock(None, None)), 200_000);
        assert_eq!(at_most(200, 1, &clock(Some(100), Some(60_000))), 50_000);
        assert_eq!(at_most(200, 1, &clock(Some(1000), Some(1000))), 50_000);
        assert_eq!(at_most(200, 7, &clock(Some(1000), Some(1))), 200_000);
    }

    #[test]
    fn the_share_is_of_what_is_free_and_what_is_added() {
        let share = |limit, left, added| share_us(1, &clock(limit, left), added);
        assert_eq!(share(None, None, 0), None);
        // Half of a limit for one answer.
        assert_eq!(share(Some(50), None, 0), Some(25_000));
        // A part of what is beyond the reserve; nothing once that is reached.
        assert_eq!(share(Some(60_300), Some(60_300), 0), Some(2_400_000));
        assert_eq!(share(Some(300), Some(300), 0), Some(0));
        assert_eq!(share(Some(1), Some(1), 0), Some(0));
        // The increment comes on top, but never more than half of what there is now.
        assert_eq!(share(Some(1300), Some(1300), 100), Some(40_000 + 75_000));
        assert_eq!(share(Some(100), Some(100), 1000), Some(50_000));
    }

    #[test]
    fn a_total_is_never_used_up() {
        // Every answer takes what it may and a millisecond more, for three hundred moves.
        for total in [1_000, 10_000, 600_000] {
            let mut left_us: u64 = total * 1000;
            for _ in 0..300 {
                let left_ms = left_us / 1000;
                let share = share_us(1, &clock(Some(left_ms), Some(left_ms)), 0).expect("a clock");
                left_us = left_us
                    .checked_sub(share + 1_000)
                    .unwrap_or_else(|| panic!("{total}: out of time"));
            }
            assert!(left_us > 0, "{total}");
        }
    }
}
