//! Where the matches of a run come from.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use crate::event::{GameResult, MatchId, MatchResult};
use crate::tournament::rulings::Desk;
use crate::tournament::{Format, Pairing, Unfolded, unfold_ruled};

/// Hands out matches, and hears what was stored.
pub trait Source {
    /// The next match to begin. None: there is none now; there may be one after the next result, if a match is in play.
    fn next(&mut self) -> Option<Pairing>;

    /// A game is stored.
    fn game(&mut self, _game: &GameResult) {}

    /// A match is over and stored.
    fn finished(&mut self, result: &MatchResult);

    /// At least so many matches in all, if that is known.
    fn total(&self) -> Option<usize>;

    /// Matches that were over before the run.
    fn done(&self) -> usize;

    /// Whether the run is to end at once, whatever is in play.
    fn stop(&self) -> bool {
        false
    }

    /// Whether the other matches are to be played after one was given up.
    fn goes_on(&self) -> bool {
        true
    }

    /// When [`Source::time_is_up`] is to be called.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The deadline is reached.
    fn time_is_up(&mut self) {}
}

/// The matches of a format.
#[derive(Debug)]
pub struct Schedule {
    format: Box<dyn Format>,
    results: BTreeMap<MatchId, MatchResult>,
    unfolded: Unfolded,
    todo: VecDeque<Pairing>,
    done: usize,
}

impl Schedule {
    /// The matches that are left when these are over.
    pub fn new(format: Box<dyn Format>, done: Vec<MatchResult>) -> Schedule {
        Schedule::ruled(format, done, Desk::default())
    }

    /// The same with what was ruled.
    pub fn ruled(format: Box<dyn Format>, done: Vec<MatchResult>, desk: Desk) -> Schedule {
        let results: BTreeMap<MatchId, MatchResult> =
            done.into_iter().map(|result| (result.id, result)).collect();
        let mut schedule = Schedule {
            unfolded: unfold_ruled(&*format, &results, desk),
            done: results.len(),
            format,
            results,
            todo: VecDeque::new(),
        };
        schedule.fill();
        schedule
    }

    /// Whether nothing is left to play.
    pub fn is_over(&self) -> bool {
        self.unfolded.is_over()
    }

    /// The matches known so far.
    pub fn unfolded(&self) -> &Unfolded {
        &self.unfolded
    }

    /// All matches that are over.
    pub fn results(&self) -> &BTreeMap<MatchId, MatchResult> {
        &self.results
    }

    /// How the matches follow.
    pub fn format(&self) -> &dyn Format {
        &*self.format
    }

    /// Matches that are never played, because a bot is out or the match is void.
    fn without_play(&self) -> usize {
        if self.unfolded.desk.is_empty() {
            return 0;
        }
        let known = self.unfolded.pairings();
        let open = known.filter(|pairing| !self.results.contains_key(&pairing.id));
        open.count() - self.unfolded.left(&*self.format, &self.results).count()
    }

    fn fill(&mut self) {
        let left = self.unfolded.left(&*self.format, &self.results);
        self.todo = left.cloned().collect();
    }
}

impl Source for Schedule {
    fn next(&mut self) -> Option<Pairing> {
        self.todo.pop_front()
    }

    fn finished(&mut self, result: &MatchResult) {
        self.results.insert(result.id, result.clone());
        // Only the last match of a batch can complete it.
        if self.todo.is_empty() && self.unfolded.advance(&*self.format, &self.results) {
            // A batch whose matches are all won by default is over at once.
            while self.unfolded.advance(&*self.format, &self.results) {}
            self.fill();
        }
    }

    fn total(&self) -> Option<usize> {
        let known = self.unfolded.history.matches.len() + self.unfolded.batch.pairings.len();
        Some(known.max(self.format.least_matches()) - self.without_play())
    }

    fn done(&self) -> usize {
        self.done
    }
}
