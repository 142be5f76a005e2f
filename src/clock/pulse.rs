//! The referee's own pulse: whether it was there when it should have been. Pure. All times are nanoseconds of a monotonic
//! clock, whose zero does not matter.
//!
//! A referee that was stopped, starved of its core or asleep with the machine finds answers that came long ago, and must not
//! charge a bot for its own absence. It cannot know when they came, so all the time from the last instant at which it was
//! there counts as its own.

/// So much later than it should have come a step is a stall of the referee.
pub const LATE: u64 = 100_000_000;
/// A referee at rest beats so often, so that a stall is found within its bounds.
pub const REST: u64 = 50_000_000;
/// So much sleep of the machine is a stall, however short it looks by the monotonic clock, which stands still meanwhile.
pub const SLEEP: u64 = 1_000_000_000;

/// A machine does not fall asleep and wake up within so much of its own time.
const SHORT: u64 = 1_000_000;

/// Follows whether the referee is there, and adds up when it was not.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// The last instant at which it was there.
    last: u64,
    /// When it should be there again: the instant itself while it works, the end of its rest while it waits.
    due: u64,
    /// How long the machine has slept in all.
    slept: u64,
    /// How long it was not there, in all.
    stalled: u64,
    /// The stalls that nobody was told of yet: the longest, sleep included.
    news: Option<u64>,
}

impl Pulse {
    /// The pulse of a referee that begins now; `slept` is how long the machine has slept in all.
    pub fn new(now: u64, slept: u64) -> Pulse {
        Pulse {
            last: now,
            due: now,
            slept,
            stalled: 0,
            news: None,
        }
    }

    /// The last instant at which it was there.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The referee is there now. Whatever it stamps, it stamps after such a beat.
    pub fn beat(&mut self, now: u64) {
        if now.saturating_sub(self.due) > LATE {
            self.stall(now, 0);
        }
        self.last = now;
        self.due = now;
    }

    /// The referee is about to wait, until then at most, reckoned from the instant `now` at which it last looked at the clock. It
    /// has to come back in time, as [`Pulse::woken`] checks.
    pub fn rests(&mut self, now: u64, until: u64) {
        // That instant is a sign of life as well: else a stall just before it would be lost in the rest that begins with it.
        if now > self.last {
            self.beat(now);
        }
        self.due = until.max(self.last);
    }

    /// The referee comes back from its rest. `slept` tells how long the machine has slept in all; it is not asked after rests that are
    /// too short for that, which are most.
    pub fn woken(&mut self, now: u64, slept: impl FnOnce() -> u64) {
        if now.saturating_sub(self.last) > SHORT {
            let slept = slept();
            let asleep = slept.saturating_sub(self.slept);
            if asleep > SLEEP {
                self.slept = slept;
                self.stall(now, asleep);
                self.due = now;
            }
        }
        self.beat(now);
    }

    fn stall(&mut self, now: u64, asleep: u64) {
        let away = now.saturating_sub(self.last);
        self.stalled = self.stalled.saturating_add(away);
        let length = away.saturating_add(asleep);
        self.news = Some(self.news.map_or(length, |known| known.max(length)));
    }

    /// How long the referee was not there, in all. What a question is charged for is its time without what was added since it was
    /// asked.
    pub fn stalled(&self) -> u64 {
        self.stalled
    }

    /// The longest stall since this was last asked, if there was one; time that the machine slept is in it.
    pub fn take_news(&mut self) -> Option<u64> {
        self.news.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_referee_that_is_there_in_time_has_no_stalls() {
        let mut pulse = Pulse::new(150 * MS, 0);
        for step in 1..100 {
            let now = step * 160 * MS;
            pulse.beat(now);
            pulse.beat(now + 99 * MS);
            pulse.rests(now + 99 * MS, now + 120 * MS);
            // Before its time, because something came; or late, but not by much.
            pulse.woken(now + [100, 150][step as usize % 2] * MS, || 0);
        }
        assert_eq!(pulse.stalled(), 0);
        assert_eq!(pulse.take_news(), None);
    }

    #[test]
    fn a_late_step_is_a_stall_since_the_last_sign_of_life() {
        let mut pulse = Pulse::new(1_000 * MS, 0);
        pulse.rests(1_000 * MS, 1_050 * MS);
        pulse.woken(1_150 * MS, || 0);
        assert_eq!(pulse.stalled(), 0, "at the bound itself it is none");
        pulse.rests(1_150 * MS, 1_200 * MS);
        pulse.woken(4_150 * MS, || 0);
        assert_eq!(pulse.stalled(), 3_000 * MS);
        assert_eq!(pulse.take_news(), Some(3_000 * MS));
        assert_eq!(pulse.take_news(), None);
    }

    #[test]
    fn a_stall_in_the_middle_of_the_work_is_found_by_the_next_stamp() {
        let mut pulse = Pulse::new(0, 0);
        pulse.woken(10 * MS, || 0);
        pulse.beat(111 * MS);
        assert_eq!(pulse.stalled(), 101 * MS);
        pulse.beat(112 * MS);
        assert_eq!(pulse.stalled(), 101 * MS);
    }

    #[test]
    fn a_stall_just_before_a_rest_is_not_lost_in_it() {
        let mut pulse = Pulse::new(0, 0);
        pulse.woken(10 * MS, || 0);
        // It was stopped here, and then reckoned its rest from the instant at which it came back.
        pulse.rests(3_010 * MS, 3_060 * MS);
        pulse.woken(3_060 * MS, || 0);
        assert_eq!(pulse.stalled(), 3_000 * MS);
        // An instant before the last sign of life says nothing.
        pulse.beat(3_070 * MS);
        pulse.rests(3_065 * MS, 3_115 * MS);
        pulse.woken(3_115 * MS, || 0);
        assert_eq!(pulse.stalled(), 3_000 * MS);
    }

    #[test]
    fn stalls_add_up_and_the_longest_is_told() {
        let mut pulse = Pulse::new(0, 0);
        for now in [200, 700, 800, 1_100] {
            pulse.beat(now * MS);
        }
        assert_eq!(pulse.stalled(), 1_000 * MS);
        assert_eq!(pulse.take_news(), Some(500 * MS));
    }

    #[test]
    fn sleep_of_the_machine_is_a_stall_however_short_it_looks() {
        let hour = 3_600_000 * MS;
        let mut pulse = Pulse::new(0, hour);
        pulse.rests(0, 50 * MS);
        pulse.woken(60 * MS, || 2 * hour);
        assert_eq!(pulse.stalled(), 60 * MS);
        assert_eq!(pulse.take_news(), Some(hour + 60 * MS));
        pulse.rests(60 * MS, 110 * MS);
        pulse.woken(110 * MS, || 2 * hour);
        assert_eq!(pulse.stalled(), 60 * MS, "it counts once");
        // Two clocks are never read in the same instant.
        pulse.rests(110 * MS, 160 * MS);
        pulse.woken(160 * MS, || 2 * hour + 5 * MS);
        assert_eq!(pulse.take_news(), None);
    }

    #[test]
    fn a_clock_that_is_odd_makes_no_stall_of_nothing() {
        let mut pulse = Pulse::new(500, 500);
        pulse.rests(0, 0);
        pulse.woken(100, || 0);
        pulse.beat(0);
        assert_eq!(pulse.stalled(), 0);
        pulse.rests(0, u64::MAX);
        pulse.woken(u64::MAX / 2, || 0);
        assert_eq!(pulse.stalled(), 0, "a rest without an end is never late");
    }
}
