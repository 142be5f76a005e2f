//! One race: who is asked, until when a claim counts, whose was first. Pure.
//!
//! Each seat's time runs from when its own line was handed over, so it does not matter in which order the lines were
//! written or the claims were read. When a claim is right, every other seat has until `dead_heat_us` after that time, by
//! its own clock, to claim as well; so whoever looks at a seat later than that knows that its claim cannot count any more.

use hakem_protocol::{ClockKind, StopWhy};

use crate::clock::{ClockSpec, Open, SeatClock, Spent};
use crate::game::{Race, Seat};

/// A race from its first question to its last answer.
#[derive(Clone, Debug)]
pub struct Course {
    terms: Race,
    /// What of the event's clock holds in a race.
    clock: ClockSpec,
    cores: u32,
    /// The seats in the order in which they are asked, and how each stands.
    runners: Vec<(Seat, Stand)>,
}

/// How a seat stands in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// It may still claim.
    Racing,
    /// It has claimed rightly after this time, microseconds.
    Claimed(u64),
    /// It is out, gave up, was stopped or has forfeited.
    Out,
}

impl Course {
    /// The race of these seats, asked in this order.
    pub fn new(
        terms: Race,
        clock: &ClockSpec,
        cores: u32,
        seats: impl IntoIterator<Item = Seat>,
    ) -> Course {
        Course {
            terms,
            clock: ClockSpec {
                // Seats that race at the same time are measured by one and the same clock. A seat alone is measured as the
                // event says: without the time that it waited for a core, if that is not charged.
                kind: if terms.in_turn {
                    clock.kind
                } else {
                    ClockKind::Wall
                },
                ..clock.for_race(terms.limit_us)
            },
            cores,
            runners: seats
                .into_iter()
                .map(|seat| (seat, Stand::Racing))
                .collect(),
        }
    }

    /// The seats whose question is open, or to be asked now.
    pub fn running(&self) -> impl Iterator<Item = Seat> {
        let racing = self
            .runners
            .iter()
            .filter(|(_, stand)| *stand == Stand::Racing)
            .map(|&(seat, _)| seat);
        racing.take(if self.terms.in_turn { 1 } else { usize::MAX })
    }

    /// Whether this seat's question is open, or to be asked now.
    pub fn is_running(&self, seat: Seat) -> bool {
        self.running().any(|running| running == seat)
    }

    /// The time of a claim.
    pub fn time_of(&self, spent: &Spent) -> u64 {
        self.clock.time_of(spent, self.cores)
    }

    /// The last time at which a claim still counts, and what ends the question after it.
    fn last(&self) -> (u64, StopWhy) {
        let heat = |best: u64| best.saturating_add(self.terms.dead_heat_us.max(1) - 1);
        match self.best().map(heat) {
            Some(last) if last < self.terms.limit_us => (last, StopWhy::Claimed),
            _ => (self.terms.limit_us, StopWhy::Time),
        }
    }

    /// Looks at a question that has been open for so long.
    pub fn look(&self, spent: &Spent) -> Open {
        let clock = ClockSpec {
            move_us: Some(self.last().0),
            ..self.clock
        };
        SeatClock::new(&clock).looked_at(&clock, spent, self.cores)
    }

    /// What ends the questions that are open, as it stands.
    pub fn why_stopped(&self) -> StopWhy {
        self.last().1
    }

    /// If a claim comes too late, what ended its question.
    pub fn too_late(&self, spent: &Spent) -> Option<StopWhy> {
        (self.look(spent) == Open::Flag).then(|| self.last().1)
    }

    /// A seat has claimed rightly.
    pub fn claimed(&mut self, seat: Seat, time_us: u64) {
        self.set(seat, Stand::Claimed(time_us));
    }

    /// A seat is out, gave up, was stopped or has forfeited. A right claim that it made before stands.
    pub fn leaves(&mut self, seat: Seat) {
        if self.is_racing(seat) {
            self.set(seat, Stand::Out);
        }
    }

    fn is_racing(&self, seat: Seat) -> bool {
        self.runners.contains(&(seat, Stand::Racing))
    }

    fn set(&mut self, seat: Seat, stand: Stand) {
        for runner in &mut self.runners {
            if runner.0 == seat {
                runner.1 = stand;
            }
        }
    }

    /// Whether it matters which of two seats was sooner: neither is out.
    pub fn is_contested(&self) -> bool {
        let in_it = |runner: &&(Seat, Stand)| runner.1 != Stand::Out;
        self.runners.iter().filter(in_it).count() > 1
    }

    /// Whether nobody may claim any more.
    pub fn is_over(&self) -> bool {
        self.running().next().is_none()
    }

    /// The seats that were first, ascending: several in a dead heat, none if nobody claimed rightly.
    pub fn first(&self) -> Vec<Seat> {
        let last = self.last().0;
        let mut first: Vec<Seat> = self
            .runners
            .iter()
            .filter(|(_, stand)| matches!(stand, Stand::Claimed(time) if *time <= last))
            .map(|&(seat, _)| seat)
            .collect();
        first.sort_unstable();
        first
    }

    /// The time of the fastest right claim.
    fn best(&self) -> Option<u64> {
        self.runners
            .iter()
            .filter_map(|(_, stand)| match stand {
                Stand::Claimed(time) => Some(*time),
                Stand::Racing | Stand::Out => None,
            })
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: ClockSpec = ClockSpec {
        main_us: Some(5),
        increment_us: 1,
        move_us: Some(7),
        delay_us: 9,
        margin_us: 11,
        ready_us: 1_000_000,
        kind: ClockKind::Fair,
        ceiling_us: None,
    };

    fn course(dead_heat_us: u64, in_turn: bool, seats: usize) -> Course {
        let terms = Race {
            limit_us: 10_000,
            dead_heat_us,
            in_turn,
        };
        Course::new(terms, &CLOCK, 1, 0..seats)
    }

    fn wall(wall_us: u64) -> Spent {
        Spent {
            wall_us,
            ..Spent::default()
        }
    }

    #[test]
    fn only_the_limit_of_the_round_holds() {
        let course = course(1000, false, 2);
        assert_eq!(course.look(&wall(0)), Open::Wait(10_001));
        assert_eq!(course.too_late(&wall(10_000)), None);
        assert_eq!(course.too_late(&wall(10_001)), Some(StopWhy::Time));
    }

    #[test]
    fn a_right_claim_leaves_the_others_a_moment() {
        let mut course = course(1000, false, 3);
        course.claimed(1, 4_000);
        assert_eq!(course.running().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(course.look(&wall(4_500)), Open::Wait(5_000));
        assert_eq!(course.too_late(&wall(4_999)), None);
        assert_eq!(course.too_late(&wall(5_000)), Some(StopWhy::Claimed));
        course.claimed(0, 4_999);
        course.leaves(2);
        assert!(course.is_over());
        assert_eq!(course.first(), [0, 1], "closer than a thousand");
    }

    #[test]
    fn a_claim_that_was_read_later_may_have_been_first() {
        let mut course = course(1000, false, 3);
        course.claimed(0, 4_000);
        course.claimed(2, 2_500);
        assert_eq!(course.too_late(&wall(3_500)), Some(StopWhy::Claimed));
        course.leaves(1);
        assert_eq!(course.first(), [2], "1500 apart");
    }

    #[test]
    fn equal_times_are_a_dead_heat_whatever_the_option() {
        let mut course = course(0, false, 2);
        course.claimed(0, 4_000);
        assert_eq!(course.too_late(&wall(4_000)), None);
        assert_eq!(course.too_late(&wall(4_001)), Some(StopWhy::Claimed));
        course.claimed(1, 4_000);
        assert_eq!(course.first(), [0, 1]);
    }

    #[test]
    fn the_round_ends_also_for_a_dead_heat() {
        let mut course = course(1000, false, 2);
        course.claimed(0, 9_900);
        assert_eq!(course.too_late(&wall(10_001)), Some(StopWhy::Time));
        course.leaves(1);
        assert_eq!(course.first(), [0]);
    }

    #[test]
    fn in_turn_one_seat_runs_at_a_time_on_the_events_clock() {
        let mut course = course(1000, true, 3);
        assert_eq!(course.running().collect::<Vec<_>>(), [0]);
        assert!(!course.is_running(1));
        course.claimed(0, 4_000);
        assert!(course.is_running(1) && !course.is_running(2));
        // Waiting for a core is not charged.
        let waited = Spent {
            wall_us: 9_000,
            cpu_us: Some(3_000),
            delay_us: Some(6_000),
            ..Spent::default()
        };
        assert_eq!(course.time_of(&waited), 3_000);
        assert_eq!(course.too_late(&waited), None);
        course.claimed(1, 2_900);
        course.leaves(2);
        assert_eq!(course.first(), [1]);
    }

    #[test]
    fn nobody_need_be_first() {
        let mut course = course(1000, false, 2);
        course.leaves(0);
        course.leaves(1);
        assert!(course.is_over());
        assert_eq!(course.first(), Vec::<Seat>::new());
    }

    #[test]
    fn a_claim_stands_when_its_seat_leaves() {
        let mut course = course(1000, false, 2);
        course.claimed(0, 10);
        course.leaves(0);
        course.leaves(1);
        assert_eq!(course.first(), [0]);
    }
}
