//! An event as it stands when the organiser rules, and whether a ruling can be made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::exit::Refused;
use super::super::play::seed_file;
use super::super::shown;
use crate::config;
use crate::event::{GameId, MatchId, MatchResult, Slot};
use crate::store::{self, Meta, Store};
use crate::tournament::ladder::List;
use crate::tournament::rulings::{Desk, NOW, Ruling, What};
use crate::tournament::{Format, Unfolded, unfold_ruled};

/// An event as it stands. Nobody else plays or rules meanwhile.
#[derive(Debug)]
pub(super) struct Hall {
    pub(super) store: Store,
    pub(super) meta: Meta,
    pub(super) desk: Desk,
    ladder: List,
    results: BTreeMap<MatchId, MatchResult>,
    format: Box<dyn Format>,
    unfolded: Unfolded,
}

impl Hall {
    /// Takes the folder's lock and reads what was played and ruled.
    ///
    /// # Errors
    /// A folder that is in use, holds no results, or those of a gate.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Hall> {
        let mut store = Store::open(dir)?;
        // What an interrupted run left of a match is played again from its beginning.
        store.drop_unfinished()?;
        let (meta, desk, ladder) = (store.meta()?, store.desk()?, store.ladder()?);
        let results = by_id(store.matches()?);
        let format = config::ruled_format_of(&meta.event, &ladder, &desk);
        let unfolded = unfold_ruled(&*format, &results, desk.clone());
        if let Some(id) = stray(&unfolded, &results) {
            return Err(Refused(format!(
                "match {id} in {} is not one of its event's schedule; the desk is for events that `hakem run` plays",
                dir.display()
            ))
            .into());
        }
        Ok(Hall {
            store,
            meta,
            desk,
            ladder,
            results,
            format,
            unfolded,
        })
    }

    /// The number of the next ruling.
    pub(super) fn next_number(&self) -> u32 {
        let last = self.desk.rulings().last();
        last.map_or(1, |ruling| ruling.number + 1)
    }

    /// The first batch of matches of which none is over, or was before it was to be played again.
    pub(super) fn first_not_begun(&self) -> usize {
        let unfolded = &self.unfolded;
        let begun = |id: &MatchId| {
            self.results.contains_key(id)
                || self.desk.replay(*id).is_some()
                || self.desk.void(*id, NOW).is_some()
        };
        let is_begun = unfolded.batch.pairings.iter().any(|p| begun(&p.id));
        unfolded.number + usize::from(is_begun)
    }

    /// A bot that is not out.
    ///
    /// # Errors
    /// [`Refused`] where there is none of this name, or it is out already.
    pub(super) fn playing(&self, name: &str) -> Result<Slot, Refused> {
        let names = self.meta.bots.iter().map(|bot| bot.name.as_str());
        let Some(slot) = names.clone().position(|other| other == name) else {
            return Err(Refused(format!(
                "there is no bot `{name}` in {}; {}",
                self.store.dir().display(),
                config::suggestion(name, names)
            )));
        };
        match self.desk.out(slot, NOW) {
            None => Ok(slot),
            Some(out) => Err(Refused(format!(
                "`{name}` is {} already, by ruling {n}: {}; to rule otherwise, undo ruling {n} first",
                out.status.as_str(),
                shown(&out.ruling.reason),
                n = out.ruling.number
            ))),
        }
    }

    /// The match of this id, or of this game, that is over.
    ///
    /// # Errors
    /// [`Refused`] for what is no id, is not there or was not played.
    pub(super) fn over(&self, text: &str) -> anyhow::Result<MatchId> {
        let dir = self.store.dir().display();
        let game = text.parse::<GameId>().ok();
        let of = match (game, text.parse::<MatchId>()) {
            (Some(game), _) => game.of,
            (None, Ok(of)) => of,
            (None, Err(error)) => {
                let what = format!("{error}; `hakem games {dir}` lists the games");
                return Err(Refused(what).into());
            }
        };
        if !self.unfolded.pairings().any(|pairing| pairing.id == of) {
            let known: Vec<MatchId> = self.unfolded.pairings().map(|pairing| pairing.id).collect();
            let mut of_round = known.iter().filter(|id| id.round == of.round);
            let hint = match (of_round.clone().next(), of_round.next_back()) {
                (Some(first), Some(last)) => format!("round {} has {first} to {last}", of.round),
                _ => match (known.first(), known.last()) {
                    (Some(first), Some(last)) => format!("its matches are {first} to {last}"),
                    _ => "it has no matches".to_owned(),
                },
            };
            return Err(Refused(format!("{dir} has no match {of}; {hint}")).into());
        }
        let to_come = self
            .desk
            .replay(of)
            .filter(|_| !self.results.contains_key(&of));
        if let Some(ruling) = to_come {
            return Err(Refused(format!(
                "{of} is to be played again by ruling {}, and was not yet; `hakem run` plays it, or undo that ruling",
                ruling.number
            ))
            .into());
        }
        if !self.results.contains_key(&of) {
            let what = format!("{of} is not played yet; a ruling is about a match that is over");
            return Err(Refused(what).into());
        }
        if let Some(game) = game
            && self.store.game(game)?.is_none()
        {
            let games = self.store.games()?;
            let known: Vec<String> = games
                .iter()
                .filter(|other| other.id.of == of)
                .map(|other| other.id.to_string())
                .collect();
            let hint = match known.as_slice() {
                [] => format!("its match {of} has none"),
                known => format!("its match has {}", known.join(", ")),
            };
            return Err(Refused(format!("{dir} has no game {game}; {hint}")).into());
        }
        Ok(of)
    }

    /// Checks that a ruling can be undone.
    ///
    /// # Errors
    /// [`Refused`] for one that is not there, is undone, or cannot be.
    pub(super) fn undoable(&self, number: u32) -> Result<(), Refused> {
        let rulings = self.desk.rulings();
        let Some(ruling) = rulings.iter().find(|ruling| ruling.number == number) else {
            let hint = match rulings.len() {
                0 => "nothing was ruled".to_owned(),
                1 => "there is ruling 1".to_owned(),
                last => format!("there are rulings 1 to {last}"),
            };
            return Err(Refused(format!("there is no ruling {number}; {hint}")));
        };
        if let Some(undoing) = self.desk.undone_by(number, NOW) {
            return Err(Refused(format!(
                "ruling {number} is undone already, by ruling {}",
                undoing.number
            )));
        }
        let why = match ruling.what {
            What::Undo { .. } => "it undoes another; rule anew instead",
            What::Add { .. } => {
                "its bots are part of the event; disqualify or withdraw them instead"
            }
            What::Close => "the seed is told; start another event instead",
            _ => return Ok(()),
        };
        Err(Refused(format!("ruling {number} cannot be undone: {why}")))
    }

    /// What would be left to play if this were ruled: how many matches.
    ///
    /// # Errors
    /// [`Refused`] where later matches were paired on what it would change, it changes nothing, or it would bring matches whose dice are
    /// known or that a closed event does not play.
    pub(super) fn after(&self, ruling: &Ruling, force: bool) -> anyhow::Result<usize> {
        self.check_new(&ruling.what)?;
        let mut rulings = self.desk.rulings().to_vec();
        rulings.push(ruling.clone());
        let desk = Desk::new(rulings);
        let mut results = self.results.clone();
        self.change(&ruling.what, &desk, &mut results)?;
        let event = match &ruling.what {
            What::Add { event, .. } => event,
            _ => &self.meta.event,
        };
        let format = config::ruled_format_of(event, &self.ladder, &desk);
        let after = unfold_ruled(&*format, &results, desk);
        if let Some(id) = stray(&after, &results) {
            return Err(Refused(format!(
                "later matches, such as {id}, were paired on what this would change, and stay as they were played; \
                 void the match or disqualify the bot instead, which changes standings only"
            ))
            .into());
        }
        let before: BTreeSet<MatchId> = ids(self.unfolded.left(&*self.format, &self.results));
        let left = ids(after.left(&*format, &results));
        let mut new = left.difference(&before).copied().peekable();
        if let (Some(ruling), Some(id)) = (self.desk.closed(), new.peek()) {
            return Err(Refused(format!(
                "the event is closed by ruling {}, and {id} would have to be played; start another event",
                ruling.number
            ))
            .into());
        }
        // What is played again is known to all in any case: its dice are in its record.
        let again = match ruling.what {
            What::Replay { of } => Some(of),
            _ => None,
        };
        let told = self.store.dir().join(store::SEED_FILE).exists();
        if told
            && !force
            && let Some(id) = new.find(|id| Some(*id) != again)
        {
            return Err(Refused(format!(
                "the seed was told in {} when all was played, so that whoever enters {id} could know its dice; \
                 start another event, or rule with --force",
                store::SEED_FILE
            ))
            .into());
        }
        Ok(left.len())
    }

    /// Refuses what is in force already.
    fn check_new(&self, what: &What) -> Result<(), Refused> {
        match *what {
            What::Void { of } => match self.desk.void(of, NOW) {
                Some(ruling) => Err(Refused(format!(
                    "{of} is void already, by ruling {}: {}",
                    ruling.number,
                    shown(&ruling.reason)
                ))),
                None => Ok(()),
            },
            What::Close => match self.desk.closed() {
                Some(ruling) => {
                    // Whoever was cut short before the seed was told gets it told now.
                    let told = self.store.dir().join(store::SEED_FILE).exists();
                    let hint = if told {
                        ""
                    } else {
                        "; `hakem run` tells the seed"
                    };
                    Err(Refused(format!(
                        "the event is closed already, by ruling {}: {}{hint}",
                        ruling.number,
                        shown(&ruling.reason)
                    )))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Changes the results as a ruling would: what is played again is not over, and what was set aside comes back.
    fn change(
        &self,
        what: &What,
        desk: &Desk,
        results: &mut BTreeMap<MatchId, MatchResult>,
    ) -> anyhow::Result<()> {
        let of = match what {
            What::Replay { of } => *of,
            What::Undo { ruling } => {
                let undone = self.desk.rulings().iter().find(|r| r.number == *ruling);
                match undone.map(|ruling| &ruling.what) {
                    Some(What::Replay { of }) => *of,
                    _ => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        let under = desk.replay(of).map(|ruling| ruling.number);
        match self.store.match_under(of, under)? {
            Some(result) => results.insert(of, result),
            None => results.remove(&of),
        };
        Ok(())
    }

    /// Tells the seed of an event that was closed, and notes that it ended.
    pub(super) fn tell_seed(&mut self, ruling: &Ruling) -> anyhow::Result<()> {
        let left = self.unfolded.left(&*self.format, &self.results).count();
        if !self.unfolded.is_over() {
            self.store.set_ended(&format!(
                "it was closed by ruling {}: {}; at least {left} matches were not played",
                ruling.number, ruling.reason
            ))?;
        }
        self.store.write_seed(&seed_file(&self.meta.seed))?;
        Ok(())
    }
}

fn by_id(matches: Vec<MatchResult>) -> BTreeMap<MatchId, MatchResult> {
    matches
        .into_iter()
        .map(|result| (result.id, result))
        .collect()
}

fn ids<'a>(pairings: impl Iterator<Item = &'a crate::tournament::Pairing>) -> BTreeSet<MatchId> {
    pairings.map(|pairing| pairing.id).collect()
}

/// The first match that is over and does not follow from the event.
fn stray(unfolded: &Unfolded, results: &BTreeMap<MatchId, MatchResult>) -> Option<MatchId> {
    let known: BTreeMap<MatchId, &[Slot]> = unfolded
        .pairings()
        .map(|pairing| (pairing.id, pairing.seats.as_slice()))
        .collect();
    results
        .values()
        .find(|result| known.get(&result.id) != Some(&result.seats.as_slice()))
        .map(|result| result.id)
}
