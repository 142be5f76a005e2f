//! What a match comes to, by its games: in play, and when it is counted again from the records. Pure.

use std::sync::Arc;

use super::record::{PlayedGames, ResultEntry};
use super::replay::Verified;
use crate::event::Verdict;
use crate::game::{Outcome, Ruleset, Seat, Series, Share};

/// The seat at fault when a game ended, and what its match hangs on then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The seat.
    pub against: Seat,
    /// Whether it had answered `hello` since it was started.
    pub greeted: bool,
    /// Whether it was at fault at the end of the game before, too.
    pub forfeited_last: bool,
}

/// The seat that loses the whole match with this game: a failed handshake, or a second forfeit in a row. Of more than
/// two seats the others have played on, and it has lost no more than its game.
pub fn lost_by(seats: usize, lost: Lost) -> Option<Seat> {
    (seats == 2 && (!lost.greeted || lost.forfeited_last)).then_some(lost.against)
}

/// The shares of a match that is over; `lost` is the seat that lost all of it.
pub fn shares(series: &Series, seats: usize, lost: Option<Seat>) -> Vec<Share> {
    match lost {
        None => series.shares(),
        Some(loser) => {
            let share = Share::one_of(u8::try_from(seats - 1).unwrap_or(u8::MAX));
            (0..seats)
                .map(|seat| if seat == loser { Share::LOSS } else { share })
                .collect()
        }
    }
}

/// Counts a match again, one record after the other.
#[derive(Debug)]
pub struct Tally {
    rules: Arc<dyn Ruleset>,
    seats: usize,
    played: PlayedGames,
    at_fault: Option<Seat>,
    /// What the match came to with the last game: one way, or two where the records leave it open; empty where it goes on.
    scores: Vec<Vec<Share>>,
    /// Whether it may also go on.
    may_go_on: bool,
}

impl Tally {
    /// Before the first game.
    pub fn new(rules: Arc<dyn Ruleset>, seats: usize) -> Tally {
        Tally {
            rules,
            seats,
            played: PlayedGames::default(),
            at_fault: None,
            scores: Vec::new(),
            may_go_on: true,
        }
    }

    /// The games so far.
    pub fn played(&self) -> &PlayedGames {
        &self.played
    }

    /// Adds a game. `is_new`: the bots were, or may have been, started anew before it.
    ///
    /// # Errors
    /// Says why this game cannot come next.
    pub fn add(&mut self, game: &Verified, is_new: bool) -> Result<(), String> {
        if !self.may_go_on {
            return Err("the match was over before it".to_owned());
        }
        if game.header.played.outcomes() != self.played.outcomes() {
            return Err("its record tells of other games before it than were played".to_owned());
        }
        let outcome = outcome_of(&game.result).ok_or("its record has no score")?;
        if outcome.score.len() != self.seats || outcome.points.len() != self.seats {
            return Err("its record has another number of seats".to_owned());
        }
        self.played.push(outcome);
        let series = self.series();
        self.scores.clear();
        self.may_go_on = false;
        for lost in self.lost(game, is_new) {
            if lost.is_none() && !series.over {
                self.may_go_on = true;
                continue;
            }
            let score = shares(&series, self.seats, lost);
            if !self.scores.contains(&score) {
                self.scores.push(score);
            }
        }
        self.at_fault = game.result.against;
        Ok(())
    }

    /// Who lost the whole match with this game, in every way in which it can have been.
    ///
    /// Of a process that was gone before it answered anything a record does not tell whether it said `ready`.
    fn lost(&self, game: &Verified, is_new: bool) -> Vec<Option<Seat>> {
        let result = &game.result;
        let Some(against) = result.against.filter(|&seat| seat < self.seats) else {
            return vec![None];
        };
        let silent = is_new && !game.answered[against];
        let greeted: &[bool] = match result.verdict {
            Verdict::NoReady => &[false],
            Verdict::Crash | Verdict::Limit | Verdict::Flood if silent => &[true, false],
            _ => &[true],
        };
        let lost = |&greeted: &bool| {
            let lost = Lost {
                against,
                greeted,
                forfeited_last: self.at_fault == Some(against),
            };
            lost_by(self.seats, lost)
        };
        greeted.iter().map(lost).collect()
    }

    /// Where the match stands.
    pub fn series(&self) -> Series {
        let mut series = self.rules.series(self.played.outcomes());
        series.score.resize(self.seats, 0.0);
        series
    }

    /// Whether the match can be over with these shares, or for certain is not.
    ///
    /// # Errors
    /// What it came to instead.
    pub fn check_over(&self, score: &[Share]) -> Result<(), String> {
        if self.scores.is_empty() {
            return Err("its games do not end it".to_owned());
        }
        if self.scores.iter().any(|due| due == score) {
            return Ok(());
        }
        Err(format!(
            "its score is {}, and by its games {}",
            words(score),
            words(&self.scores[0])
        ))
    }

    /// Whether the match is over for certain.
    pub fn is_over(&self) -> bool {
        !self.may_go_on
    }
}

fn words(score: &[Share]) -> String {
    let shares: Vec<String> = score
        .iter()
        .map(|share| share.value().to_string())
        .collect();
    shares.join(":")
}

/// The outcome of a game, without its reason, as the header of the next record tells it.
fn outcome_of(result: &ResultEntry) -> Option<Outcome> {
    let score = result.score.clone()?;
    Some(Outcome {
        winner: score.iter().position(|&share| share == Share::WIN),
        points: result.points.clone()?,
        score,
        reason: "",
    })
}
