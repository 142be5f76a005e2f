//! What a folder of results says of its event, and the matches that follow from that.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chance;
use crate::config;
use crate::event::{GameId, GameResult, MatchId, MatchResult, Slot};
use crate::game::{Kind, Ruleset};
use crate::referee::replay::{self, Verified};
use crate::store::{self, Meta, Store, StoredRow};
use crate::tournament::rulings::{Desk, What};
use crate::tournament::{Format, Pairing, Unfolded, gate};

use super::{header, rows};

/// The name of the event that a gate makes.
const GATE: &str = "gate";
/// The layout since which games say what was played in them.
const PLAY_HASH_SINCE: i64 = 2;

/// What the folder states.
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) dir: PathBuf,
    pub(super) store: Store,
    pub(super) meta: Meta,
    pub(super) desk: Desk,
    /// The names of the bots by slot, as the event has them.
    pub(super) names: Vec<String>,
    /// The rules of the event.
    pub(super) rules: Option<std::sync::Arc<dyn Ruleset>>,
    /// Every row of a match.
    pub(super) matches: Vec<StoredRow<MatchId, MatchResult>>,
    /// Whether every game must say what was played in it.
    pub(super) plays_are_known: bool,
    /// Whether the seed was told, as it is when all is played.
    pub(super) seed_is_told: bool,
    /// The positions that games started from, by their number among the event's.
    pub(super) openings: RefCell<BTreeMap<usize, Value>>,
    /// The matches of the schedule.
    pairings: BTreeMap<MatchId, Pairing>,
    /// Matches of the schedule that are still to be played.
    left: BTreeSet<MatchId>,
    is_gate: bool,
}

impl Stated {
    /// Reads it.
    ///
    /// # Errors
    /// Says what cannot be read.
    pub(super) fn read(dir: &Path, own: Option<&dyn Kind>) -> Result<Stated, String> {
        let store = Store::open_read_only(dir).map_err(|error| error.to_string())?;
        Stated::of(store, own)
    }

    /// The same of an open folder.
    ///
    /// # Errors
    /// Says what cannot be read.
    pub(super) fn of(store: Store, own: Option<&dyn Kind>) -> Result<Stated, String> {
        let words = |error: store::StoreError| error.to_string();
        let meta = store.meta().map_err(words)?;
        let desk = store.desk().map_err(words)?;
        let layout = store.made_in_layout().map_err(words)?;
        let names = meta.event["bots"].as_array().into_iter().flatten();
        let name = |bot: &Value| bot["name"].as_str().unwrap_or_default().to_owned();
        let given = meta.rules.as_object().cloned().unwrap_or_default();
        let kind = replay::kind_of(own, &meta.game);
        let mut stated = Stated {
            dir: store.dir().to_owned(),
            names: names.map(name).collect(),
            rules: kind.and_then(|kind| kind.rules(&given).ok()),
            matches: store.match_rows().map_err(words)?,
            plays_are_known: layout.is_some_and(|layout| layout >= PLAY_HASH_SINCE),
            seed_is_told: store.dir().join(store::SEED_FILE).exists(),
            openings: RefCell::default(),
            pairings: BTreeMap::new(),
            left: BTreeSet::new(),
            is_gate: is_gate(&meta),
            store,
            meta,
            desk,
        };
        if !stated.is_gate {
            let ladder = stated.store.ladder().map_err(words)?;
            let format = config::ruled_format_of(&stated.meta.event, &ladder, &stated.desk);
            stated.unfold(&*format);
        }
        Ok(stated)
    }

    /// Goes through the schedule with the results that fit it.
    fn unfold(&mut self, format: &dyn Format) {
        let mut rows: BTreeMap<MatchId, &MatchResult> = BTreeMap::new();
        for row in &self.matches {
            if row.under == self.store.replays().get(&row.id).copied()
                && let Ok(result) = &row.says
            {
                rows.insert(row.id, result);
            }
        }
        let mut results: BTreeMap<MatchId, MatchResult> = BTreeMap::new();
        let mut unfolded = Unfolded::begin(format, self.desk.clone());
        loop {
            for pairing in &unfolded.batch.pairings {
                // A result of other bots is told later, and does not decide who is paired.
                if let Some(result) = rows.get(&pairing.id)
                    && result.seats == pairing.seats
                {
                    results.insert(pairing.id, (*result).clone());
                }
            }
            if !unfolded.advance(format, &results) {
                break;
            }
        }
        self.left = unfolded
            .left(format, &results)
            .map(|pairing| pairing.id)
            .collect();
        self.pairings = unfolded
            .pairings()
            .map(|pairing| (pairing.id, pairing.clone()))
            .collect();
    }

    /// The match of the schedule that has this id.
    pub(super) fn pairing(&self, id: MatchId) -> Result<Pairing, String> {
        let found = if self.is_gate && id.round == 1 {
            gate::pairing(config::meetings_of(&self.meta.event).0.paired, id.number)
        } else {
            self.pairings.get(&id).cloned()
        };
        found.ok_or_else(|| format!("match {id} is not one of the event's schedule"))
    }

    /// The name of a bot, for people.
    pub(super) fn name(&self, slot: Slot) -> &str {
        self.names
            .get(slot)
            .map_or("a bot that is not there", String::as_str)
    }

    /// Names, for people.
    pub(super) fn names_of(&self, slots: &[Slot]) -> String {
        let names: Vec<&str> = slots.iter().map(|&slot| self.name(slot)).collect();
        names.join(", ")
    }

    /// Whether this is what was played last of a match, or set aside.
    pub(super) fn is_current(&self, of: MatchId, under: Option<u32>) -> bool {
        self.store.replays().get(&of).copied() == under
    }

    /// Whether a match can have been played under this ruling.
    pub(super) fn check_under(&self, of: MatchId, under: Option<u32>) -> Result<(), String> {
        let Some(number) = under else { return Ok(()) };
        let ruled = self.desk.rulings().iter().any(|ruling| {
            ruling.number == number
                && matches!(ruling.what, What::Replay { of: this } if this == of)
        });
        match ruled {
            true => Ok(()),
            false => Err(format!(
                "match {of} was played again by ruling {number}, which does not say so"
            )),
        }
    }

    /// A game's row against its record, and the record's header against the event.
    ///
    /// # Errors
    /// Says what is otherwise.
    pub(super) fn check_game(&self, row: &GameResult, verified: &Verified) -> Result<(), String> {
        rows::check_game(row, verified, self.plays_are_known)?;
        let pairing = self.pairing(row.id.of)?;
        if row.seats != pairing.seats {
            return Err(format!(
                "the results seat {} in {}, and the schedule {}",
                self.names_of(&row.seats),
                row.id,
                self.names_of(&pairing.seats)
            ));
        }
        header::check(self, &verified.header, &pairing)
    }

    /// What of the event itself does not fit.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let (meta, event) = (&self.meta, &self.meta.event);
        let bots: Vec<&str> = meta.bots.iter().map(|bot| bot.name.as_str()).collect();
        if bots != self.names {
            faults.push(format!(
                "the bots are {}, and in the event {}",
                bots.join(", "),
                self.names.join(", ")
            ));
        }
        for (bot, said) in meta
            .bots
            .iter()
            .zip(event["bots"].as_array().into_iter().flatten())
        {
            if !said["builtin"].is_null() && !bot.files.0.is_empty() {
                faults.push(format!("bot {} is built in, and has files", bot.name));
            }
        }
        if event["event"]["game"] != *meta.game {
            faults.push(format!(
                "the game is {}, and in the event {}",
                meta.game, event["event"]["game"]
            ));
        }
        if event["rules"] != meta.rules {
            faults.push("the rules are not those of the event".to_owned());
        }
        let seed = &event["event"]["seed"];
        if !seed.is_null() && *seed != *meta.seed {
            faults.push("the seed is not the one of the event".to_owned());
        }
        faults.extend(self.seed_fault());
        faults.extend(self.added_faults());
        faults
    }

    /// What is wrong with `seed.json`.
    fn seed_fault(&self) -> Option<String> {
        let due = super::super::play::seed_file(&self.meta.seed);
        match store::read_seed(&self.dir) {
            Err(error) => Some(error.to_string()),
            Ok(Some(told)) if told != due => Some(format!(
                "{} tells another seed than was played with",
                store::SEED_FILE
            )),
            Ok(_) => None,
        }
    }

    /// Bots are only ever added at the end.
    fn added_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for ruling in self.desk.rulings() {
            let What::Add {
                first,
                count,
                event,
            } = &ruling.what
            else {
                continue;
            };
            let now = event["bots"].as_array().map_or(0, Vec::len);
            if first.checked_add(*count) != Some(now) || now > self.names.len() {
                faults.push(format!(
                    "ruling {} adds other bots than its event has",
                    ruling.number
                ));
            }
        }
        faults
    }

    /// Void games are of matches of the schedule.
    pub(super) fn void_faults(&self) -> Result<Vec<String>, store::StoreError> {
        let voids = self.store.voids()?;
        let fault = |note: &store::VoidNote| match self.pairing(note.id.of) {
            Err(what) => Some(format!("void game {}: {what}", note.id)),
            Ok(pairing) if pairing.seats != note.seats => Some(format!(
                "void game {} seats {}, and the schedule {}",
                note.id,
                self.names_of(&note.seats),
                self.names_of(&pairing.seats)
            )),
            Ok(_) => None,
        };
        Ok(voids.iter().filter_map(fault).collect())
    }

    /// The matches of which a game was void.
    pub(super) fn with_voids(&self) -> Result<BTreeSet<MatchId>, store::StoreError> {
        let voids = self.store.voids()?;
        Ok(voids.iter().map(|note| note.id.of).collect())
    }

    /// Matches that are not played, and would be if the event were over as it says; with the number of those that may be open.
    pub(super) fn missing(&self) -> (Vec<MatchId>, usize) {
        // Any ruling may bring matches that the event did not have when it was over.
        let goes_on = !self.desk.rulings().is_empty();
        let may_be_open = |_: &MatchId| !self.seed_is_told || goes_on;
        // What is wrong with a result that is there is told with it.
        let there: BTreeSet<MatchId> = self
            .matches
            .iter()
            .filter(|row| self.is_current(row.id, row.under))
            .map(|row| row.id)
            .collect();
        let (open, missing): (Vec<MatchId>, Vec<MatchId>) =
            self.left.difference(&there).copied().partition(may_be_open);
        (missing, open.len())
    }

    /// Whether the positions that games started from are those of the event, where each was played.
    pub(super) fn openings_fault(&self) -> Option<String> {
        let due = &self.meta.event["event"]["openings"];
        let seen = self.openings.borrow();
        if due.is_null() || seen.len() != header::openings_of(due) {
            return None;
        }
        let seen: Vec<Value> = seen.values().cloned().collect();
        (config::openings_summary(&seen) != *due)
            .then(|| "the positions that games started from are not those of the event".to_owned())
    }

    /// Whether the commitment in a header is that of the seed that the event is played with.
    pub(super) fn commits(&self, commitment: &str) -> bool {
        chance::commitment(&self.meta.seed) == commitment
    }

    /// The name of a game's record.
    pub(super) fn record(&self, id: GameId, under: Option<u32>) -> PathBuf {
        self.dir.join(self.store.records().name_under(id, under))
    }
}

/// Whether the folder is one of a gate, which plays on until it is clear.
fn is_gate(meta: &Meta) -> bool {
    let (meetings, seats) = config::meetings_of(&meta.event);
    let a_pair = if meetings.paired { 2 } else { 1 };
    meta.name == GATE
        && (meta.bots.len(), seats, meetings.games) == (2, 2, a_pair)
        && meta.event["event"]["format"] == "round-robin"
}
