//! Time controls. Pure: what was measured comes in, what is charged and left goes out. All times are microseconds.

use hakem_protocol::ClockKind;
use serde::{Deserialize, Serialize};

pub mod pulse;

/// The settings of a clock. Each seat's total is refilled at every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSpec {
    /// Each seat's total for a game.
    pub main_us: Option<u64>,
    /// Added after each answer.
    pub increment_us: u64,
    /// The limit for one answer.
    pub move_us: Option<u64>,
    /// The uncharged part of each answer.
    pub delay_us: u64,
    /// The grace before a loss on time; never shown to a bot.
    pub margin_us: u64,
    /// The time to answer `hello`, `ping`.
    pub ready_us: u64,
    /// What is charged.
    pub kind: ClockKind,
    /// What ends a turn whatever the kind; `None`: ten times the limit and a second.
    pub ceiling_us: Option<u64>,
}

/// What was measured of one answer: from when the line was handed to the bot to when its answer was there to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Wall time, without that in which the referee itself stood still (see [`pulse`]).
    pub wall_us: u64,
    /// Processor time of the bot; `None` where it was not measured.
    pub cpu_us: Option<u64>,
    /// The time that the bot was ready to run and waited for a core; `None` where it was not measured.
    pub delay_us: Option<u64>,
    /// The wall time of earlier answers that the two counters also tell of, because they were not read then. Those answers
    /// were taken at their wall time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_us: u64,
    /// Processor time of the bot outside its turns since the answer before, as far as its counters told: what it thought in
    /// others' time. It is charged to nobody.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outside_us: u64,
}

impl Spent {
    /// Whether a bot computed for nearly all of a time that it used up, and did not wait for anything. `told` is the time that it
    /// is told of, microseconds; what it waited for a core is taken off where it is known.
    pub fn was_busy(&self, told: u64) -> bool {
        let had = self.wall_us.saturating_sub(self.delay_us.unwrap_or(0));
        let told = told.min(had);
        // The counter may also tell of earlier answers.
        let computed = self.cpu_us.unwrap_or(0).saturating_sub(self.earlier_us);
        told > 0 && computed.saturating_mul(4) >= told.saturating_mul(3)
    }
}

/// Microseconds as milliseconds with all digits, for a reason: `300.482 ms`.
pub(crate) fn in_ms(us: u64) -> String {
    format!("{}.{:03} ms", us / 1000, us % 1000)
}

/// Whether there is nothing to tell.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ClockSpec {
    /// The time of an answer that counts, by the clock's kind.
    ///
    /// `fair` is wall time less the time that the bot waited for a core, but never below its processor time divided by
    /// the cores that it may use (else a decoy thread at low priority would earn credit) and never above wall time.
    /// `cpu` is processor time, but never more than the cores that the bot may use had room for: the counters of processes that ended are
    /// coarse, and may tell of some only in a later answer. What was not measured corrects nothing. Where the counters tell of earlier answers too, the rule holds for all of them
    /// together, and what they were taken at is taken off.
    pub fn time_of(&self, spent: &Spent, cores: u32) -> u64 {
        match self.kind {
            ClockKind::Wall => spent.wall_us,
            ClockKind::Cpu => spent.cpu_us.map_or(spent.wall_us, |cpu| {
                cpu.min(spent.wall_us.saturating_mul(u64::from(cores.max(1))))
            }),
            ClockKind::Fair => fair(spent, cores).saturating_sub(spent.earlier_us),
        }
    }

    /// What earlier answers were taken at too much, as the counters now tell; microseconds.
    fn excess(&self, spent: &Spent, cores: u32) -> u64 {
        match self.kind {
            ClockKind::Wall | ClockKind::Cpu => 0,
            ClockKind::Fair => spent.earlier_us.saturating_sub(fair(spent, cores)),
        }
    }

    /// The clock of a game in which the seats race: each question has this limit, and nothing else of the settings holds
    /// but the kind and the ceiling.
    pub fn for_race(&self, limit_us: u64) -> ClockSpec {
        ClockSpec {
            main_us: None,
            increment_us: 0,
            move_us: Some(limit_us),
            delay_us: 0,
            margin_us: 0,
            ..*self
        }
    }

    /// The wall time that ends an answer with this limit whatever the kind.
    fn ceiling(&self, limit_us: Option<u64>) -> Option<u64> {
        self.ceiling_us
            .or_else(|| limit_us.map(|limit| limit.saturating_mul(10).saturating_add(1_000_000)))
    }
}

/// The fair time of all answers that the counters tell of.
fn fair(spent: &Spent, cores: u32) -> u64 {
    let wall = spent.wall_us.saturating_add(spent.earlier_us);
    let least = spent.cpu_us.unwrap_or(0) / u64::from(cores.max(1));
    let waited = spent.delay_us.unwrap_or(0);
    wall.saturating_sub(waited).max(least).min(wall)
}

/// The clock of one seat in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatClock {
    left_us: Option<u64>,
    used_us: u64,
    /// Charged for answers whose counters are not read yet.
    unread_us: u64,
    /// Charged too much for them, and to be taken off the next charges.
    owed_us: u64,
}

/// What a clock says of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// In time: this much is charged.
    Charged(u64),
    /// Over the limit and the margin: lost on time.
    Flag,
}

/// What a clock says of a question that is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Look again when the question has been open for this wall time.
    Wait(u64),
    /// There is no limit.
    Endless,
    /// Over the limit and the margin, or over the ceiling: lost on time.
    Flag,
}

impl SeatClock {
    /// A full clock.
    pub fn new(spec: &ClockSpec) -> SeatClock {
        SeatClock {
            left_us: spec.main_us,
            used_us: 0,
            unread_us: 0,
            owed_us: 0,
        }
    }

    /// What is left of the seat's total; `None` without one.
    pub fn left_us(&self) -> Option<u64> {
        self.left_us
    }

    /// All time charged in this game.
    pub fn used_us(&self) -> u64 {
        self.used_us
    }

    /// The most that the next answer may take; the margin is not in it.
    pub fn limit_us(&self, spec: &ClockSpec) -> Option<u64> {
        let by_total = self.left_us.map(|left| left.saturating_add(spec.delay_us));
        match (by_total, spec.move_us) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Charges an answer. The flag is looked at before the increment is added.
    pub fn answered(&mut self, spec: &ClockSpec, spent: &Spent, cores: u32) -> Judged {
        let time = spec.time_of(spent, cores);
        let limit = self.limit_us(spec);
        let over = |most: Option<u64>, time: u64| most.is_some_and(|most| time > most);
        if over(
            limit.map(|limit| limit.saturating_add(spec.margin_us)),
            time,
        ) || over(spec.ceiling(limit), spent.wall_us)
        {
            return Judged::Flag;
        }
        let mut charged = time.saturating_sub(spec.delay_us);
        if spent.cpu_us.is_some() {
            self.owed_us += spec.excess(spent, cores).min(self.unread_us);
            self.unread_us = 0;
        }
        let back = charged.min(self.owed_us);
        self.owed_us -= back;
        charged -= back;
        if spent.cpu_us.is_none() {
            self.unread_us = self.unread_us.saturating_add(charged);
        }
        self.used_us = self.used_us.saturating_add(charged);
        self.left_us = self.left_us.map(|left| {
            left.saturating_sub(charged)
                .saturating_add(spec.increment_us)
        });
        Judged::Charged(charged)
    }

    /// Looks at a question that has been open for this long. A timer never decides by itself: it only makes somebody look.
    pub fn looked_at(&self, spec: &ClockSpec, spent: &Spent, cores: u32) -> Open {
        let limit = self.limit_us(spec);
        let ceiling = spec.ceiling(limit);
        if ceiling.is_some_and(|ceiling| spent.wall_us > ceiling) {
            return Open::Flag;
        }
        // At a limit itself an answer is still in time: the look that matters is a microsecond later.
        let after = |instant: u64| instant.saturating_add(1);
        let Some(limit) = limit else {
            return ceiling.map_or(Open::Endless, |ceiling| Open::Wait(after(ceiling)));
        };
        let most = limit.saturating_add(spec.margin_us);
        let time = spec.time_of(spent, cores);
        if time > most {
            return Open::Flag;
        }
        let rest = spent.wall_us.saturating_add(most - time);
        Open::Wait(after(ceiling.map_or(rest, |ceiling| rest.min(ceiling))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ClockSpec = ClockSpec {
        main_us: Some(10_000),
        increment_us: 100,
        move_us: Some(4_000),
        delay_us: 0,
        margin_us: 0,
        ready_us: 1_000_000,
        kind: ClockKind::Wall,
        ceiling_us: None,
    };

    fn wall(wall_us: u64) -> Spent {
        Spent {
            wall_us,
            ..Spent::default()
        }
    }

    #[test]
    fn an_answer_is_charged_and_the_increment_added() {
        let mut clock = SeatClock::new(&PLAIN);
        assert_eq!(
            clock.answered(&PLAIN, &wall(3_000), 1),
            Judged::Charged(3_000)
        );
        assert_eq!(clock.left_us(), Some(7_100));
        assert_eq!(clock.used_us(), 3_000);
    }

    #[test]
    fn the_limit_is_the_smaller_of_move_and_total() {
        let mut clock = SeatClock::new(&PLAIN);
        assert_eq!(clock.limit_us(&PLAIN), Some(4_000));
        clock.answered(&PLAIN, &wall(4_000), 1);
        clock.answered(&PLAIN, &wall(4_000), 1);
        assert_eq!(clock.limit_us(&PLAIN), Some(2_200));
        assert_eq!(clock.answered(&PLAIN, &wall(2_201), 1), Judged::Flag);
        assert_eq!(clock.left_us(), Some(2_200), "a flag changes nothing");
    }

    #[test]
    fn the_flag_is_looked_at_before_the_increment() {
        let spec = ClockSpec {
            main_us: Some(100),
            increment_us: 1_000,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        assert_eq!(clock.answered(&spec, &wall(101), 1), Judged::Flag);
    }

    #[test]
    fn a_margin_forgives_but_leaves_nothing_below_zero() {
        let spec = ClockSpec {
            main_us: Some(100),
            margin_us: 50,
            increment_us: 0,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        assert_eq!(clock.answered(&spec, &wall(150), 1), Judged::Charged(150));
        assert_eq!(clock.left_us(), Some(0));
        assert_eq!(clock.answered(&spec, &wall(51), 1), Judged::Flag);
    }

    #[test]
    fn a_delay_is_not_charged_and_extends_the_total() {
        let spec = ClockSpec {
            main_us: Some(100),
            delay_us: 1_000,
            move_us: None,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        assert_eq!(clock.limit_us(&spec), Some(1_100));
        assert_eq!(clock.answered(&spec, &wall(900), 1), Judged::Charged(0));
        assert_eq!(clock.left_us(), Some(200));
    }

    #[test]
    fn fair_time_takes_off_the_waiting_within_its_bounds() {
        let spec = ClockSpec {
            kind: ClockKind::Fair,
            ..PLAIN
        };
        let spent = |cpu, delay| Spent {
            wall_us: 1_000,
            cpu_us: Some(cpu),
            delay_us: Some(delay),
            ..Spent::default()
        };
        assert_eq!(spec.time_of(&spent(100, 300), 1), 700);
        assert_eq!(
            spec.time_of(&spent(900, 300), 1),
            900,
            "never below processor time"
        );
        assert_eq!(
            spec.time_of(&spent(1_600, 300), 2),
            800,
            "of all the cores it may use"
        );
        assert_eq!(
            spec.time_of(&spent(5_000, 0), 1),
            1_000,
            "never above wall time"
        );
        assert_eq!(spec.time_of(&spent(0, 5_000), 1), 0);
        assert_eq!(
            spec.time_of(&wall(1_000), 1),
            1_000,
            "nothing measured corrects nothing"
        );
    }

    #[test]
    fn counters_of_several_answers_set_right_what_they_were_charged() {
        let spec = ClockSpec {
            kind: ClockKind::Fair,
            increment_us: 0,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        for _ in 0..3 {
            assert_eq!(clock.answered(&spec, &wall(300), 1), Judged::Charged(300));
        }
        let last = Spent {
            wall_us: 500,
            cpu_us: Some(90),
            delay_us: Some(1_300),
            earlier_us: 900,
            outside_us: 0,
        };
        // 1,400 in all, of which the bot waited 1,300: this answer costs nothing, and 800 were too much before.
        assert_eq!(clock.answered(&spec, &last, 1), Judged::Charged(0));
        assert_eq!(clock.used_us(), 900);
        assert_eq!(clock.answered(&spec, &wall(700), 1), Judged::Charged(0));
        assert_eq!(clock.answered(&spec, &wall(700), 1), Judged::Charged(600));
        // 1,400 in all again, nothing of it waited.
        let busy = Spent {
            wall_us: 2_000,
            cpu_us: Some(2_000),
            delay_us: Some(0),
            earlier_us: 1_400,
            outside_us: 0,
        };
        assert_eq!(clock.answered(&spec, &busy, 1), Judged::Charged(2_000));
    }

    #[test]
    fn no_more_is_given_back_than_was_charged() {
        let spec = ClockSpec {
            kind: ClockKind::Fair,
            delay_us: 250,
            increment_us: 0,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        assert_eq!(clock.answered(&spec, &wall(300), 1), Judged::Charged(50));
        let idle = Spent {
            wall_us: 100,
            cpu_us: Some(0),
            delay_us: Some(400),
            earlier_us: 300,
            outside_us: 0,
        };
        assert_eq!(clock.answered(&spec, &idle, 1), Judged::Charged(0));
        assert_eq!(clock.answered(&spec, &wall(400), 1), Judged::Charged(100));
        assert_eq!(clock.left_us(), Some(9_850));
    }

    #[test]
    fn cpu_time_counts_processor_time_only() {
        let spec = ClockSpec {
            kind: ClockKind::Cpu,
            ..PLAIN
        };
        let spent = Spent {
            wall_us: 9_000,
            cpu_us: Some(10),
            ..Spent::default()
        };
        assert_eq!(spec.time_of(&spent, 1), 10);
    }

    #[test]
    fn a_timer_only_makes_the_referee_look() {
        let spec = ClockSpec {
            kind: ClockKind::Fair,
            ..PLAIN
        };
        let clock = SeatClock::new(&spec);
        let waited = Spent {
            wall_us: 4_001,
            cpu_us: Some(0),
            delay_us: Some(3_000),
            ..Spent::default()
        };
        assert_eq!(
            clock.looked_at(&spec, &waited, 1),
            Open::Wait(4_001 + 2_999 + 1)
        );
        let late = Spent {
            wall_us: 4_001,
            cpu_us: Some(4_001),
            delay_us: Some(0),
            ..Spent::default()
        };
        assert_eq!(clock.looked_at(&spec, &late, 1), Open::Flag);
        assert_eq!(clock.looked_at(&spec, &wall(0), 1), Open::Wait(4_001));
    }

    #[test]
    fn the_ceiling_ends_a_turn_whatever_the_kind() {
        let spec = ClockSpec {
            kind: ClockKind::Cpu,
            ..PLAIN
        };
        let clock = SeatClock::new(&spec);
        let asleep = |wall_us| Spent {
            wall_us,
            cpu_us: Some(0),
            delay_us: Some(0),
            ..Spent::default()
        };
        assert_eq!(clock.looked_at(&spec, &asleep(1_040_001), 1), Open::Flag);
        assert_eq!(
            clock.looked_at(&spec, &asleep(1_039_000), 1),
            Open::Wait(1_040_001)
        );
        let given = ClockSpec {
            ceiling_us: Some(5_000),
            ..spec
        };
        assert_eq!(clock.looked_at(&given, &asleep(5_001), 1), Open::Flag);
    }

    #[test]
    fn without_limits_a_question_is_endless() {
        let spec = ClockSpec {
            main_us: None,
            move_us: None,
            ..PLAIN
        };
        let mut clock = SeatClock::new(&spec);
        assert_eq!(clock.looked_at(&spec, &wall(u64::MAX), 1), Open::Endless);
        assert_eq!(
            clock.answered(&spec, &wall(1 << 40), 1),
            Judged::Charged(1 << 40)
        );
        assert_eq!(clock.left_us(), None);
    }
}
