//! An event that may end before all of it is played: when its time is over, or when its leader is clear.

use std::time::Instant;

use super::source::{Schedule, Source};
use crate::event::MatchResult;
use crate::tournament::Pairing;
use crate::tournament::clear::{self, LOOKS};
use crate::tournament::rulings::NOW;

/// When an event ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// No match is begun after this.
    pub until: Option<Instant>,
    /// The confidence with which the leader has to be clear.
    pub confidence: Option<f64>,
    /// How many bots there are.
    pub bots: usize,
    /// Whether matches are paired.
    pub paired: bool,
}

/// The matches of an event with its limits.
#[derive(Debug)]
pub struct Limited {
    schedule: Schedule,
    limits: Limits,
    /// Tenths of the event at which it was looked.
    looked: usize,
    ended: Option<Why>,
}

/// Why an event ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The organiser closed it.
    Closed,
    /// Its time is over.
    Time,
    /// This bot is clear of all others.
    Clear(usize),
}

impl Limited {
    /// The event with these limits.
    pub fn new(schedule: Schedule, limits: Limits) -> Limited {
        let mut limited = Limited {
            schedule,
            limits,
            looked: 0,
            ended: None,
        };
        limited.look();
        limited
    }

    /// Whether nothing is left to play.
    pub fn is_over(&self) -> bool {
        self.schedule.is_over()
    }

    /// Why it ended before all was played.
    pub fn ended(&self) -> Option<Why> {
        self.ended.filter(|_| !self.is_over())
    }

    /// No more match is begun: the organiser closed the event.
    pub fn close(&mut self) {
        self.ended = Some(Why::Closed);
    }

    /// The matches.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Looks whether the leader is clear, once in each tenth of the event.
    fn look(&mut self) {
        let (Some(confidence), Some(total)) = (self.limits.confidence, self.schedule.total())
        else {
            return;
        };
        let tenth = 10 * self.schedule.results().len() / total.max(1);
        if tenth <= self.looked || tenth > LOOKS {
            return;
        }
        self.looked = tenth;
        let Limits { bots, paired, .. } = self.limits;
        let desk = &self.schedule.unfolded().desk;
        let results = self.schedule.results().values();
        let counting = results.filter(|result| desk.taken_out(result.id, &result.seats).is_none());
        let playing: Vec<usize> = (0..bots)
            .filter(|&slot| desk.out(slot, NOW).is_none())
            .collect();
        if let Some(leader) = clear::leader_among(&playing, counting, paired, confidence) {
            self.ended.get_or_insert(Why::Clear(leader));
        }
    }
}

impl Source for Limited {
    fn next(&mut self) -> Option<Pairing> {
        match self.ended {
            Some(_) => None,
            None => self.schedule.next(),
        }
    }

    fn finished(&mut self, result: &MatchResult) {
        self.schedule.finished(result);
        self.look();
    }

    fn total(&self) -> Option<usize> {
        self.schedule.total()
    }

    fn done(&self) -> usize {
        self.schedule.done()
    }

    fn deadline(&self) -> Option<Instant> {
        self.limits.until.filter(|_| self.ended.is_none())
    }

    fn time_is_up(&mut self) {
        self.ended = Some(Why::Time);
    }
}
