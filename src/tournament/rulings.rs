//! What the organiser ruled, and what follows from it. Pure.
//!
//! Rulings are events of their own, in an order, and none is ever changed or taken away: one that is withdrawn is undone by another. Results
//! stay as they were played; what counts is derived from results and rulings each time.
//!
//! | ruling | what it does |
//! |---|---|
//! | [`What::Disqualify`] | the bot plays no more. Its results are taken out of standings and ratings, or kept if that was ruled |
//! | [`What::Withdraw`] | the bot plays no more. Its results stand |
//! | [`What::Void`] | the match counts for nobody, and is not played again |
//! | [`What::Replay`] | the match is played again under its id, on the same chance; the result before is set aside |
//! | [`What::Add`] | bots that were added at the end of the event file take part from now on |
//! | [`What::Close`] | nothing more is played, and the seed is told |
//! | [`What::Undo`] | an earlier ruling is no longer in force |
//!
//! A match that a bot which is out did not play is won by default by its opponent: that is a point, and no result for ratings. Where all meet
//! all and the results of the bot are taken out, its matches are worth nothing to anybody instead ([`Annulled`]).
//!
//! What was paired stays paired. So each ruling notes the first batch of matches that was not begun when it was made
//! ([`Ruling::since`]), and batches before that one are seen without it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Format, Pairing, Unfolded};
use crate::event::{MatchId, MatchResult, Slot};
use crate::game::Share;

#[cfg(test)]
mod tests;

/// After every batch: all rulings are seen.
pub const NOW: usize = usize::MAX;

/// A ruling of the organiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// Counts the rulings of an event, from 1.
    pub number: u32,
    /// The first batch of matches, counted from 0, that was not begun when it was made.
    pub since: usize,
    /// When it was made, RFC 3339.
    pub at: String,
    /// What was ruled.
    pub what: What,
    /// Why, in the organiser's words.
    pub reason: String,
}

/// What was ruled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A bot is out, and stands last.
    Disqualify {
        /// The bot.
        slot: Slot,
        /// Whether its results stand.
        keep_results: bool,
    },
    /// A bot leaves.
    Withdraw {
        /// The bot.
        slot: Slot,
    },
    /// A match counts for nobody.
    Void {
        /// The match.
        of: MatchId,
    },
    /// A match is played again.
    Replay {
        /// The match.
        of: MatchId,
    },
    /// Bots take part from now on.
    Add {
        /// The slot of the first of them.
        first: Slot,
        /// How many.
        count: usize,
        /// The fingerprint of the event with them.
        event: Value,
    },
    /// Nothing more is played.
    Close,
    /// An earlier ruling is no longer in force.
    Undo {
        /// Its number.
        ruling: u32,
    },
}

impl What {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            What::Disqualify { .. } => "disqualify",
            What::Withdraw { .. } => "withdraw",
            What::Void { .. } => "void",
            What::Replay { .. } => "replay",
            What::Add { .. } => "add",
            What::Close => "close",
            What::Undo { .. } => "undo",
        }
    }
}

/// How a bot is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was disqualified.
    Disqualified,
    /// It left.
    Withdrawn,
}

impl Status {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Disqualified => "disqualified",
            Status::Withdrawn => "withdrawn",
        }
    }
}

/// A bot that is out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Out<'a> {
    /// How.
    pub status: Status,
    /// Whether its results are taken out.
    pub annuls: bool,
    /// The ruling.
    pub ruling: &'a Ruling,
}

/// What becomes of the matches of a bot whose results are taken out, in a round of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annulled {
    /// They are worth nothing to anybody: all meet all, so that all lose the same.
    Nothing,
    /// Its opponents win them by default: others had other opponents, and would be ahead.
    ByDefault,
    /// Who went on by what was played stays; only what was not played is won by default.
    Stands,
}

/// How a match counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// As it was played.
    Played,
    /// Who is not out has won.
    ByDefault,
    /// For nobody.
    Nothing,
}

/// The rulings of an event, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Desk {
    rulings: Vec<Ruling>,
}

impl Desk {
    /// These rulings, which come in their order.
    pub fn new(rulings: Vec<Ruling>) -> Desk {
        Desk { rulings }
    }

    /// All of them, undone ones included.
    pub fn rulings(&self) -> &[Ruling] {
        &self.rulings
    }

    /// Whether nothing was ruled.
    pub fn is_empty(&self) -> bool {
        self.rulings.is_empty()
    }

    /// The ruling that undid this one, if it was made before a batch.
    pub fn undone_by(&self, number: u32, at: usize) -> Option<&Ruling> {
        self.rulings.iter().find(
            |ruling| matches!(ruling.what, What::Undo { ruling: of } if of == number && ruling.since <= at),
        )
    }

    /// The later ruling in force about the same match that decides instead of this one: the last of those that void it or have it played
    /// again.
    pub fn overridden_by(&self, ruling: &Ruling) -> Option<&Ruling> {
        let (What::Void { of } | What::Replay { of }) = ruling.what else {
            return None;
        };
        self.in_force(NOW)
            .rfind(|other| match other.what {
                What::Void { of: this } | What::Replay { of: this } => this == of,
                _ => false,
            })
            .filter(|last| last.number > ruling.number)
    }

    /// Rulings that are in force for a batch, without those that undo others.
    pub fn in_force(&self, at: usize) -> impl DoubleEndedIterator<Item = &Ruling> {
        self.rulings.iter().filter(move |ruling| {
            ruling.since <= at
                && !matches!(ruling.what, What::Undo { .. })
                && self.undone_by(ruling.number, at).is_none()
        })
    }

    /// Whether and how a bot is out: by the first ruling in force that says so.
    pub fn out(&self, slot: Slot, at: usize) -> Option<Out<'_>> {
        self.in_force(at).find_map(|ruling| match ruling.what {
            What::Disqualify {
                slot: of,
                keep_results,
            } if of == slot => Some(Out {
                status: Status::Disqualified,
                annuls: !keep_results,
                ruling,
            }),
            What::Withdraw { slot: of } if of == slot => Some(Out {
                status: Status::Withdrawn,
                annuls: false,
                ruling,
            }),
            _ => None,
        })
    }

    /// The bots that are not paired in a batch: those that are out, and those that were added later.
    pub fn absent(&self, at: usize) -> BTreeSet<Slot> {
        let mut absent = BTreeSet::new();
        for ruling in self.in_force(NOW).filter(|ruling| ruling.since > at) {
            if let What::Add { first, count, .. } = ruling.what {
                absent.extend(first..first.saturating_add(count));
            }
        }
        for ruling in self.in_force(at) {
            if let What::Disqualify { slot, .. } | What::Withdraw { slot } = ruling.what {
                absent.insert(slot);
            }
        }
        absent
    }

    /// The ruling by which a match is void: the last of those that void it or have it played again.
    pub fn void(&self, of: MatchId, at: usize) -> Option<&Ruling> {
        self.in_force(at)
            .rfind(|ruling| match ruling.what {
                What::Void { of: this } | What::Replay { of: this } => this == of,
                _ => false,
            })
            .filter(|ruling| matches!(ruling.what, What::Void { .. }))
    }

    /// The last ruling in force by which a match is played again: its result is the one that was played under it.
    pub fn replay(&self, of: MatchId) -> Option<&Ruling> {
        self.in_force(NOW)
            .rfind(|ruling| matches!(ruling.what, What::Replay { of: this } if this == of))
    }

    /// Every match that is played again, with the number of the ruling.
    pub fn replays(&self) -> BTreeMap<MatchId, u32> {
        let replay = |ruling: &Ruling| match ruling.what {
            What::Replay { of } => Some((of, ruling.number)),
            _ => None,
        };
        self.in_force(NOW).filter_map(replay).collect()
    }

    /// The ruling by which the event is closed.
    pub fn closed(&self) -> Option<&Ruling> {
        self.in_force(NOW)
            .find(|ruling| matches!(ruling.what, What::Close))
    }

    /// How many bots there were at the beginning, and after each ruling that added some.
    pub fn stages(&self, bots: usize) -> Vec<usize> {
        let added = |ruling: &Ruling| match ruling.what {
            What::Add { first, .. } => Some(first),
            _ => None,
        };
        let mut stages: Vec<usize> = self.rulings.iter().filter_map(added).collect();
        stages.push(bots);
        stages
    }

    /// How a match of a batch counts for whoever pairs the batch `at`; `None` for one that is to be played.
    pub fn counts(
        &self,
        format: &dyn Format,
        (id, seats): (MatchId, &[Slot]),
        is_played: bool,
        batch: usize,
        at: usize,
    ) -> Option<Counts> {
        if self.rulings.is_empty() {
            return is_played.then_some(Counts::Played);
        }
        if self.void(id, at).is_some() {
            return Some(Counts::Nothing);
        }
        let seen = seen(is_played, batch, at);
        let mut outs = seats
            .iter()
            .filter_map(|&slot| self.out(slot, seen))
            .peekable();
        if outs.peek().is_none() {
            return is_played.then_some(Counts::Played);
        }
        let annulled = outs
            .any(|out| out.annuls)
            .then(|| format.annulled(id.round));
        // At a table of more there is no one opponent.
        let by_default = if seats.len() == 2 {
            Counts::ByDefault
        } else {
            Counts::Nothing
        };
        Some(match (annulled, is_played) {
            (Some(Annulled::Nothing), _) => Counts::Nothing,
            (Some(Annulled::ByDefault), _) => by_default,
            (Some(Annulled::Stands) | None, true) => Counts::Played,
            (Some(Annulled::Stands) | None, false) => by_default,
        })
    }

    /// The result of a match that was not played, or does not count: each seat that is not out has won by default, or all have
    /// nothing.
    pub(super) fn without_play(
        &self,
        pairing: &Pairing,
        counts: Counts,
        seen: usize,
    ) -> MatchResult {
        let share = |&slot: &Slot| {
            if counts == Counts::ByDefault && self.out(slot, seen).is_none() {
                Share::WIN
            } else {
                Share::LOSS
            }
        };
        MatchResult {
            id: pairing.id,
            seats: pairing.seats.clone(),
            score: pairing.seats.iter().map(share).collect(),
            series: vec![0.0; pairing.seats.len()],
            games: 0,
        }
    }

    /// The ruling by which a match that was played is taken out of standings and ratings.
    pub fn taken_out(&self, of: MatchId, seats: &[Slot]) -> Option<&Ruling> {
        if self.rulings.is_empty() {
            return None;
        }
        let annuls = |&slot: &Slot| {
            let out = self.out(slot, NOW).filter(|out| out.annuls);
            out.map(|out| out.ruling)
        };
        self.void(of, NOW).or_else(|| seats.iter().find_map(annuls))
    }
}

/// The batch for which the rulings about a match are looked at: what was not played is decided when its own batch is over.
pub(super) fn seen(is_played: bool, batch: usize, at: usize) -> usize {
    if is_played { at } else { at.min(batch + 1) }
}

/// What counts of an event beside the matches that were played and not taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Matches won by default, by bot.
    pub won: BTreeMap<Slot, u32>,
    /// Rounds in which a bot had no other matches than those, by bot.
    pub rounds: BTreeMap<Slot, u32>,
    /// Bots that are out.
    pub out: BTreeMap<Slot, Status>,
}

/// What rulings add to the results of an event of so many bots.
pub fn defaults(
    format: &dyn Format,
    unfolded: &Unfolded,
    results: &BTreeMap<MatchId, MatchResult>,
    bots: usize,
) -> Defaults {
    let desk = &unfolded.desk;
    let mut defaults = Defaults::default();
    for slot in 0..bots {
        if let Some(out) = desk.out(slot, NOW) {
            defaults.out.insert(slot, out.status);
        }
    }
    if defaults.out.is_empty() {
        return defaults;
    }
    let mut by_round: BTreeMap<(Slot, u32), bool> = BTreeMap::new();
    let before = unfolded
        .history
        .matches
        .iter()
        .map(|played| (&played.pairing, played.is_played, played.batch));
    let now = unfolded.batch.pairings.iter();
    let now = now.map(|pairing| (pairing, results.contains_key(&pairing.id), unfolded.number));
    for (pairing, is_played, batch) in before.chain(now) {
        let key = (pairing.id, pairing.seats.as_slice());
        let counts = desk.counts(format, key, is_played, batch, NOW);
        if counts == Some(Counts::Played) {
            for &slot in &pairing.seats {
                by_round.insert((slot, pairing.id.round), false);
            }
        }
        if counts == Some(Counts::ByDefault) {
            let seen = seen(is_played, batch, NOW);
            let result = desk.without_play(pairing, Counts::ByDefault, seen);
            for (&slot, share) in result.seats.iter().zip(&result.score) {
                if *share == Share::WIN {
                    by_round.entry((slot, pairing.id.round)).or_insert(true);
                    *defaults.won.entry(slot).or_default() += 1;
                }
            }
        }
    }
    for ((slot, _), _) in by_round.into_iter().filter(|(_, only)| *only) {
        *defaults.rounds.entry(slot).or_default() += 1;
    }
    defaults
}
