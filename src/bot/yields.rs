//! When a shard yields its core to its bots, instead of falling asleep until the first of them has answered.
//!
//! Bots that answer at once get the core between two loops, and all of them have answered when the shard has it back: cheaper than
//! to be woken for every answer. Then their answers are read without asking the system first what there is to read. With a bot that
//! computes, or with anybody else who computes on the core, this would cost a slice of that one's time; so it is done only while
//! everything comes at once.

use std::time::Duration;

/// A loop that comes back to work within this time has bots that answer at once, or answers that waited for it; nanoseconds.
const AT_ONCE: u64 = 1_000_000;
/// So many loops in a row must come back at once before the core is yielded to the bots between them; twice as many each time that this
/// took long, because somebody computes on the core, or brought no answer, up to the second number; and half as many again for
/// each time, in nanoseconds, in which all loops came back at once. Who computes on the core all the time gets his turn sooner
/// than that, whether it is yielded to him or not.
const QUICK_LOOPS: u32 = 8;
const MOST_LOOPS: u32 = 4096;
const CALM: u64 = 16_000_000;
/// So many times in a row the expected answers are read without asking first what there is to read, and what else has happened.
const UNASKED: u32 = 16;

/// After so many yields it is looked at how often the core was lost besides; after twice as many each time that a sleep did not help,
/// because others want the core all the time, up to [`MOST_LOOPS`].
const LOOK: u32 = 16;
/// How long a shard sleeps that loses its core too often. While processes of another group (a session, a container) wait on the same
/// core, Linux may take it from a shard after every question for the bot that was asked, and go on so for half a second: which
/// costs a tenth of all speed. It ends once the others have had the core, and they get it when nobody of this group wants it:
/// the bots have just answered, so this is now.
pub(super) const APART: Duration = Duration::from_micros(100);

/// What a loop does before it reads answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// It yields the core to the bots.
    pub(super) yields: bool,
    /// It asks the system what has happened, and waits for that; else it reads the answers that it expects.
    pub(super) asks: bool,
}

/// How the loops of a shard went, and what follows from it for the next.
#[derive(Debug)]
pub(super) struct Yields {
    /// Loops in a row that came back at once, and how many are needed.
    quick: u32,
    needed: u32,
    /// Since when all loops came back at once, or `needed` was halved.
    calm_since: u64,
    /// How often in a row it was not asked what has happened.
    unasked: u32,
    /// Whether the last loop found no answer.
    missed: bool,
    /// Yields since it was last looked at how often the core was lost, after how many it is looked at next, and how often the core
    /// was lost by then.
    count: u32,
    look: u32,
    displaced: u64,
}

impl Yields {
    /// Of a shard that begins now.
    pub(super) fn new(now: u64) -> Yields {
        Yields {
            quick: 0,
            needed: QUICK_LOOPS,
            calm_since: now,
            unasked: 0,
            missed: false,
            count: 0,
            look: LOOK,
            displaced: 0,
        }
    }

    /// What the next loop does. `expects`: whether there are answers to read; `patient`: whether bots wait for the core when they
    /// are asked. Those that do not have taken it by then, and mostly answered.
    pub(super) fn step(&self, expects: bool, patient: bool) -> Step {
        let is_quick = self.quick >= self.needed;
        Step {
            yields: is_quick && (patient || self.missed),
            asks: !is_quick || self.unasked >= UNASKED || !expects,
        }
    }

    /// The loop has come back to work at this time, so long after it last did something.
    pub(super) fn came_back(&mut self, step: Step, now: u64, after: u64) {
        if after < AT_ONCE {
            self.quick = self.quick.saturating_add(1);
            if now.saturating_sub(self.calm_since) > CALM {
                self.needed = (self.needed / 2).max(QUICK_LOOPS);
                self.calm_since = now;
            }
        } else {
            if step.yields {
                self.take_longer();
            }
            self.quick = 0;
            self.calm_since = now;
        }
        if step.asks {
            self.unasked = 0;
            self.missed = false;
        }
    }

    /// The expected answers were looked for; whether there was one.
    pub(super) fn looked(&mut self, step: Step, found: bool) {
        if found {
            self.unasked += 1;
            self.missed = false;
        } else if step.yields {
            // They answer at once, but on other cores.
            self.unasked = UNASKED;
            self.take_longer();
            self.quick = 0;
        } else {
            self.missed = true;
        }
    }

    /// The shard has yielded its core; whether it loses it so often besides that it should sleep. `displaced`: how often it lost
    /// it until now, its own yields included.
    pub(super) fn is_displaced(&mut self, displaced: impl FnOnce() -> u64) -> bool {
        self.count += 1;
        if self.count < self.look {
            return false;
        }
        let displaced = displaced();
        let often = displaced.saturating_sub(self.displaced);
        let is_displaced = often > u64::from(self.count + self.count / 2);
        self.look = if is_displaced {
            (2 * self.look).min(MOST_LOOPS)
        } else {
            LOOK
        };
        self.displaced = displaced;
        self.count = 0;
        is_displaced
    }

    fn take_longer(&mut self) {
        self.needed = (2 * self.needed).min(MOST_LOOPS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKS: Step = Step {
        yields: false,
        asks: true,
    };
    const YIELDS: Step = Step {
        yields: true,
        asks: false,
    };

    /// Loops that come back at once and read an answer, until the core is yielded to the bots; how many there were.
    fn until_it_yields(yields: &mut Yields, now: u64) -> u32 {
        for loops in 0..2 * MOST_LOOPS {
            let step = yields.step(true, true);
            if step.yields {
                return loops;
            }
            yields.came_back(step, now, 0);
        }
        panic!("the core is never yielded");
    }

    #[test]
    fn the_core_is_yielded_after_quick_loops_only() {
        let mut yields = Yields::new(0);
        assert_eq!(yields.step(true, true), ASKS);
        assert_eq!(until_it_yields(&mut yields, 0), QUICK_LOOPS);
        assert_eq!(yields.step(true, true), YIELDS);
        // Bots that take the core when they are asked have it already, unless one did not answer.
        assert!(!yields.step(true, false).yields);
        yields.looked(yields.step(true, false), false);
        assert!(yields.step(true, false).yields);
        // A loop that slept ends it.
        yields.came_back(ASKS, AT_ONCE, AT_ONCE);
        assert_eq!(yields.step(true, true), ASKS);
        assert_eq!(until_it_yields(&mut yields, AT_ONCE), QUICK_LOOPS);
    }

    #[test]
    fn who_computes_on_the_core_gets_it_ever_more_rarely() {
        let mut yields = Yields::new(0);
        let mut needed = QUICK_LOOPS;
        for _ in 0..12 {
            assert_eq!(until_it_yields(&mut yields, 0), needed);
            yields.came_back(YIELDS, 0, 3 * AT_ONCE);
            needed = (2 * needed).min(MOST_LOOPS);
        }
        assert_eq!(needed, MOST_LOOPS);
        // A loop that took long without a yield says nothing of that.
        yields.came_back(ASKS, 0, 3 * AT_ONCE);
        assert_eq!(until_it_yields(&mut yields, 0), MOST_LOOPS);
        // When he is gone it is as it was.
        for time in 1..20 {
            yields.came_back(YIELDS, time * (CALM + 1), 0);
        }
        yields.came_back(ASKS, 20 * (CALM + 1), AT_ONCE);
        assert_eq!(until_it_yields(&mut yields, 20 * (CALM + 1)), QUICK_LOOPS);
    }

    #[test]
    fn the_system_is_asked_every_so_often_and_where_no_answer_came() {
        let mut yields = Yields::new(0);
        until_it_yields(&mut yields, 0);
        for _ in 0..UNASKED {
            let step = yields.step(true, true);
            assert_eq!(step, YIELDS);
            yields.came_back(step, 0, 0);
            yields.looked(step, true);
        }
        let step = yields.step(true, true);
        assert!(step.yields && step.asks);
        yields.came_back(step, 0, 0);
        assert_eq!(yields.step(true, true), YIELDS);
        assert!(yields.step(false, true).asks, "nothing is expected");
        // The core was left, and nobody has answered meanwhile: they are elsewhere.
        yields.looked(YIELDS, false);
        assert_eq!(yields.step(true, true), ASKS);
        assert_eq!(until_it_yields(&mut yields, 0), 2 * QUICK_LOOPS);
    }

    #[test]
    fn a_shard_that_loses_its_core_much_more_often_than_it_yields_sleeps() {
        let mut yields = Yields::new(0);
        let mut total = 0;
        let looks = [
            (16, 0, false),
            (16, 16, false),
            (16, 24, false),
            (16, 25, true),
            // It did not help.
            (32, 49, true),
            (64, 97, true),
            // Nobody else wants the core any more.
            (128, 192, false),
            (16, 25, true),
            (32, 32, false),
            (16, 16, false),
        ];
        for (after, lost, sleeps) in looks {
            total += lost;
            for _ in 1..after {
                assert!(!yields.is_displaced(|| panic!("not looked at yet")));
            }
            assert_eq!(
                yields.is_displaced(|| total),
                sleeps,
                "lost {lost} times in {after}"
            );
        }
    }
}
