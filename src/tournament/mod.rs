//! Schedules and standings. Pure.
//!
//! A format says which matches follow from what was played ([`Format`]); it is one file, and [`unfold`] makes of it the matches
//! that are known at any time. Nothing of a schedule is stored: from the same results the same matches follow, so that an
//! event that is taken up again goes on exactly as it would have.
//!
//! [`standings`] is a fold over results. What an organiser ruled ([`rulings`]) is applied to results when they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use crate::event::{MatchId, MatchResult, Slot};
use rulings::{Annulled, Counts, Desk};

pub mod clear;
pub mod gate;
pub mod gauntlet;
pub mod groups;
pub mod knockout;
pub mod ladder;
pub mod round_robin;
pub mod rulings;
pub mod standings;
pub mod swiss;

/// A match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Its id.
    pub id: MatchId,
    /// The slot on each seat.
    pub seats: Vec<Slot>,
    /// The slots that meet, ascending: with `round` and `pair` the key of the match's chance.
    pub field: Vec<Slot>,
    /// Counts the meetings of this field in this round, from 0. Paired matches, which are played on the same chance, have
    /// one number.
    pub pair: u32,
    /// Which of the paired matches this is, from 0: of two seats 0 or 1; always 0 where games are not paired. Never enters
    /// the chance.
    pub rotation: u8,
}

/// A bot that has no opponent in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bye {
    /// The round.
    pub round: u32,
    /// The bot.
    pub slot: Slot,
    /// The points that it gets for it.
    pub points: u32,
}

/// Matches that can be played in any order, and at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The matches, in the order in which they are begun.
    pub pairings: Vec<Pairing>,
    /// Who is free meanwhile and gets points for it.
    pub byes: Vec<Bye>,
}

/// A match that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// How it was scheduled.
    pub pairing: Pairing,
    /// What it came to, for what follows from it.
    pub result: MatchResult,
    /// How it counts.
    pub counts: Counts,
    /// Whether it was played.
    pub is_played: bool,
    /// The batch of which it was, from 0.
    pub batch: usize,
}

impl Played {
    /// A match that was played and counts.
    pub fn new(pairing: Pairing, result: MatchResult, batch: usize) -> Played {
        Played {
            pairing,
            result,
            counts: Counts::Played,
            is_played: true,
            batch,
        }
    }
}

/// What a format looks at: all batches that are over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Their matches, in order.
    pub matches: Vec<Played>,
    /// Their byes, in order.
    pub byes: Vec<Bye>,
    /// For each of these batches and the one that follows: the bots that are not paired in it.
    pub absent: Vec<BTreeSet<Slot>>,
}

impl History {
    /// The round of the last match; 0 before the first.
    pub fn round(&self) -> u32 {
        self.matches
            .last()
            .map_or(0, |played| played.pairing.id.round)
    }

    /// The matches of a round.
    pub fn of_round(&self, round: u32) -> impl Iterator<Item = &Played> {
        self.matches
            .iter()
            .filter(move |played| played.pairing.id.round == round)
    }

    /// Whether a bot is not paired in the batch that follows.
    pub fn is_absent(&self, slot: Slot) -> bool {
        let absent = self.absent.last();
        absent.is_some_and(|absent| absent.contains(&slot))
    }

    /// The points of each of so many bots: its shares of matches, and byes.
    pub fn points(&self, bots: usize) -> Vec<f64> {
        let mut points = vec![0.0; bots];
        for played in &self.matches {
            for (&slot, share) in played.result.seats.iter().zip(&played.result.score) {
                points[slot] += share.value();
            }
        }
        for bye in &self.byes {
            points[bye.slot] += f64::from(bye.points);
        }
        points
    }
}

/// What decides a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankedBy {
    /// The points, then tie-breaks.
    #[default]
    Points,
    /// The round of a knockout that was reached; among those who went out in one round the points, then tie-breaks.
    Round,
    /// The rung of a ladder, which nobody shares.
    Rung,
}

/// How an event is made of matches.
pub trait Format: Debug + Send {
    /// The matches that follow once all before are over; none where the event is over. It depends on nothing else.
    fn next(&self, so_far: &History) -> Batch;

    /// At least so many matches are played in all.
    fn least_matches(&self) -> usize;

    /// What becomes of the matches of a round in which a bot sat whose results are taken out.
    fn annulled(&self, _round: u32) -> Annulled {
        Annulled::Stands
    }

    /// Whether rulings change what earlier rounds mean for the pairing of later ones; else what counted when a round was over stays.
    fn looks_back(&self) -> bool {
        false
    }

    /// What decides a rank before the points do.
    fn ranked_by(&self) -> RankedBy {
        RankedBy::Points
    }

    /// The place of each bot by slot, from 1, where the format decides it and not the points. Equals share one.
    fn places(&self, _so_far: &History) -> Option<Vec<usize>> {
        None
    }
}

/// The matches of an event as far as they are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfolded {
    /// The batches that are over.
    pub history: History,
    /// The batch that is being played; empty where the event is over.
    pub batch: Batch,
    /// Which batch that is, from 0.
    pub number: usize,
    /// What was ruled.
    pub desk: Desk,
}

impl Unfolded {
    /// The first batch of an event in which this was ruled; [`Unfolded::advance`] goes on.
    pub fn begin(format: &dyn Format, desk: Desk) -> Unfolded {
        let history = History {
            absent: vec![desk.absent(0)],
            ..History::default()
        };
        Unfolded {
            batch: format.next(&history),
            history,
            number: 0,
            desk,
        }
    }

    /// Whether nothing is left to play.
    pub fn is_over(&self) -> bool {
        self.batch.pairings.is_empty()
    }

    /// Every match that is known, in order.
    pub fn pairings(&self) -> impl Iterator<Item = &Pairing> {
        let over = self.history.matches.iter().map(|played| &played.pairing);
        over.chain(&self.batch.pairings)
    }

    /// The matches of the batch that are still to be played.
    pub fn left(
        &self,
        format: &dyn Format,
        results: &BTreeMap<MatchId, MatchResult>,
    ) -> impl Iterator<Item = &Pairing> {
        self.batch.pairings.iter().filter(move |pairing| {
            !results.contains_key(&pairing.id) && self.counts(format, pairing, false).is_none()
        })
    }

    /// How a match of this batch counts for the one after it.
    fn counts(&self, format: &dyn Format, pairing: &Pairing, is_played: bool) -> Option<Counts> {
        let key = (pairing.id, pairing.seats.as_slice());
        self.desk
            .counts(format, key, is_played, self.number, self.number + 1)
    }

    /// A match as those who pair the batch `at` see it.
    fn seen(
        &self,
        format: &dyn Format,
        (pairing, batch): (Pairing, usize),
        result: Option<&MatchResult>,
        at: usize,
    ) -> Played {
        let is_played = result.is_some();
        let key = (pairing.id, pairing.seats.as_slice());
        let counts = self.desk.counts(format, key, is_played, batch, at);
        let counts = counts.unwrap_or(Counts::Nothing);
        let result = match (counts, result) {
            (Counts::Played, Some(result)) => result.clone(),
            _ => {
                let seen = rulings::seen(is_played, batch, at);
                self.desk.without_play(&pairing, counts, seen)
            }
        };
        Played {
            pairing,
            result,
            counts,
            is_played,
            batch,
        }
    }

    /// Goes on to the next batch, if all matches of this one are among the results; says whether it did.
    pub fn advance(
        &mut self,
        format: &dyn Format,
        results: &BTreeMap<MatchId, MatchResult>,
    ) -> bool {
        if self.is_over() || self.left(format, results).next().is_some() {
            return false;
        }
        let batch = std::mem::take(&mut self.batch);
        let next = self.number + 1;
        for pairing in batch.pairings {
            let result = results.get(&pairing.id);
            let played = self.seen(format, (pairing, self.number), result, next);
            self.history.matches.push(played);
        }
        if format.looks_back() && !self.desk.is_empty() {
            let before = std::mem::take(&mut self.history.matches);
            for Played { pairing, batch, .. } in before {
                let result = results.get(&pairing.id);
                let played = self.seen(format, (pairing, batch), result, next);
                self.history.matches.push(played);
            }
        }
        self.history.byes.extend(batch.byes);
        self.number = next;
        self.history.absent.push(self.desk.absent(next));
        self.batch = format.next(&self.history);
        true
    }
}

/// The matches of an event that follow from these results.
pub fn unfold(format: &dyn Format, results: &BTreeMap<MatchId, MatchResult>) -> Unfolded {
    unfold_ruled(format, results, Desk::default())
}

/// The matches of an event that follow from these results and rulings.
pub fn unfold_ruled(
    format: &dyn Format,
    results: &BTreeMap<MatchId, MatchResult>,
    desk: Desk,
) -> Unfolded {
    let mut unfolded = Unfolded::begin(format, desk);
    while unfolded.advance(format, results) {}
    unfolded
}

/// How often the bots that meet play, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meetings {
    /// Matches.
    pub games: u32,
    /// Whether the matches in which they go once round the seats are played on the same chance.
    pub paired: bool,
}

/// Numbers the matches of a round.
#[derive(Debug)]
struct Numbers {
    round: u32,
    last: u32,
}

impl Numbers {
    /// The round begins, or goes on after so many matches.
    fn after(round: u32, last: u32) -> Numbers {
        Numbers { round, last }
    }

    /// Matches of bots that sit like this in the first: the k-th to the l-th that they play with each other in this round, from
    /// 0. The seats move on by one each time.
    fn meet(
        &mut self,
        seats: &[Slot],
        which: std::ops::Range<u32>,
        paired: bool,
        out: &mut Vec<Pairing>,
    ) {
        let rotations = if paired { seats.len() as u32 } else { 1 };
        for index in which {
            self.last += 1;
            let mut on_seats = seats.to_vec();
            on_seats.rotate_left(index as usize % seats.len());
            let mut field = seats.to_vec();
            field.sort_unstable();
            out.push(Pairing {
                id: MatchId {
                    round: self.round,
                    number: self.last,
                },
                seats: on_seats,
                field,
                pair: index / rotations,
                rotation: (index % rotations) as u8,
            });
        }
    }
}

/// A schedule that is known from the beginning: all of it is one batch.
#[derive(Clone, Debug)]
pub struct Fixed(pub Vec<Pairing>);

impl Format for Fixed {
    fn next(&self, so_far: &History) -> Batch {
        let pairings = if so_far.matches.is_empty() {
            self.0.clone()
        } else {
            Vec::new()
        };
        Batch {
            pairings,
            byes: Vec::new(),
        }
    }

    fn annulled(&self, _round: u32) -> Annulled {
        Annulled::Nothing
    }

    fn least_matches(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests;
