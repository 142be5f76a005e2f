//! A whole folder of results: every record, and that the folder says nothing else than follows from the event and the records.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::super::own_game::OwnGames;
use super::event::Stated;
use super::{Lines, replayed, rows};
use crate::event::{GameId, GameResult, MatchId};
use crate::game::Kind;
use crate::referee::replay::Verified;
use crate::referee::tally::Tally;
use crate::store::{self, Store, StoreError, StoredRow};

/// Matches that are named at most, of many that are missing.
const MOST_NAMED: usize = 10;

/// Checks a folder.
///
/// # Errors
/// A folder that holds no results or cannot be read; a game whose rules cannot be started; stdout that fails.
pub(super) fn check(
    dir: &Path,
    seed: Option<&str>,
    expected: Option<&str>,
    games: &mut OwnGames,
    lines: &mut Lines<impl Write>,
) -> anyhow::Result<()> {
    let failed = lines.failed;
    let store = match Store::open_read_only(dir) {
        Err(error @ StoreError::Corrupt { .. }) => {
            return Ok(lines.complain(dir, &error.to_string())?);
        }
        opened => opened?,
    };
    let own = games.of_folder(dir)?;
    let chain = store.chain()?;
    for what in &chain.faults {
        lines.complain(dir, what)?;
    }
    let stated = match Stated::of(store, own) {
        Ok(stated) => stated,
        Err(what) => return Ok(lines.complain(dir, &what)?),
    };
    for what in stated.faults().into_iter().chain(stated.void_faults()?) {
        lines.complain(dir, &what)?;
    }
    let checked = Folder {
        stated: &stated,
        seed,
        own,
        with_voids: stated.with_voids()?,
        old: Cell::new(0),
    };
    checked.games(dir, lines)?;
    if let Some(what) = stated.openings_fault() {
        lines.complain(dir, &what)?;
    }
    missing(&stated, dir, lines)?;
    if checked.old.get() > 0 {
        lines.note(dir, &format!(
            "{} games were stored by a version that did not note who answered first and what was played",
            checked.old.get()
        ))?;
    }
    if chain.before > 0 {
        lines.note(dir, &format!(
            "rulings 1 to {} were stored by a version that did not chain them: nothing shows whether they are as they were made",
            chain.before
        ))?;
    }
    let hash = stated.store.hash()?;
    match expected {
        Some(expected) if expected != hash => lines.complain(dir, &format!(
            "the hash of the results is {hash}, not the one that is expected: something was changed, ruled or played since"
        ))?,
        // What does not hold is not to be published.
        _ if lines.failed > failed => {}
        _ => lines.note(dir, &format!("the hash of the results is {hash}"))?,
    }
    Ok(())
}

/// Tells of matches that are not there.
fn missing(stated: &Stated, dir: &Path, lines: &mut Lines<impl Write>) -> io::Result<()> {
    let (missing, open) = stated.missing();
    for id in missing.iter().take(MOST_NAMED) {
        lines.complain(
            dir,
            &format!(
                "match {id} has no result, and the event is over: {} is told",
                store::SEED_FILE
            ),
        )?;
    }
    if missing.len() > MOST_NAMED {
        let more = missing.len() - MOST_NAMED;
        lines.complain(dir, &format!("{more} more matches have no result"))?;
    }
    match open {
        0 => Ok(()),
        1 => lines.note(dir, "1 match is still to be played"),
        _ => lines.note(dir, &format!("{open} matches are still to be played")),
    }
}

/// A match as it was played at first or under a ruling.
type Sitting = (MatchId, Option<u32>);

/// What the checks of all games share.
struct Folder<'a> {
    stated: &'a Stated,
    seed: Option<&'a str>,
    own: Option<&'a dyn Kind>,
    with_voids: BTreeSet<MatchId>,
    /// Games whose rows are of an early layout.
    old: Cell<u32>,
}

impl Folder<'_> {
    /// Every game, match by match, then the matches, then records that nothing tells of.
    fn games(&self, dir: &Path, lines: &mut Lines<impl Write>) -> anyhow::Result<()> {
        let stated = self.stated;
        let games = stated.store.game_rows()?;
        let mut matches: BTreeMap<Sitting, _> = stated
            .matches
            .iter()
            .map(|row| ((row.id, row.under), row))
            .collect();
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        for games in games.chunk_by(|a, b| (a.id.of, a.under) == (b.id.of, b.under)) {
            let (of, under) = (games[0].id.of, games[0].under);
            let mut counted = self.begin(of, under);
            let mut before: Option<Verified> = None;
            for row in games {
                let path = stated.record(row.id, row.under);
                let checked = self.game(&path, row);
                lines.tell(&path, checked.as_ref())?;
                counted = match (counted, checked) {
                    (Ok(tally), Ok(verified)) => {
                        let counted = self.add(tally, before.as_ref(), &verified);
                        before = Some(verified);
                        counted
                    }
                    // Of a match of which a record does not hold no more is said.
                    (Ok(_), Err(_)) => Err(None),
                    (broken, _) => broken,
                };
                known.insert(path);
            }
            let row = matches.remove(&(of, under));
            match counted {
                Err(Some(what)) => lines.complain(dir, &what)?,
                Err(None) => {}
                Ok(tally) => match self.over((of, under), row.map(|row| &row.says), &tally) {
                    Err(what) => lines.complain(dir, &what)?,
                    Ok(Some(what)) => lines.note(dir, &what)?,
                    Ok(None) => {}
                },
            }
        }
        for ((of, under), _) in matches {
            let again = under.map_or_else(String::new, |ruling| format!(" by ruling {ruling}"));
            lines.complain(
                dir,
                &format!("match {of}{again} has a result, and no games"),
            )?;
        }
        self.unknown_records(dir, &known, lines)
    }

    /// The count of a match of the schedule, before its first game; else why there is none.
    fn begin(&self, of: MatchId, under: Option<u32>) -> Result<Tally, Option<String>> {
        self.stated.check_under(of, under).map_err(Some)?;
        let pairing = self.stated.pairing(of).map_err(Some)?;
        // Without the rules no record of the event holds.
        let rules = self.stated.rules.clone().ok_or(None)?;
        Ok(Tally::new(rules, pairing.seats.len()))
    }

    /// One game.
    fn game(&self, path: &Path, row: &StoredRow<GameId, GameResult>) -> Result<Verified, String> {
        let text = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
        let verified = replayed(path, &text, self.seed, self.own)?;
        if verified.header.id != row.id {
            return Err(format!("it is the record of game {}", verified.header.id));
        }
        let says = row.says.as_ref();
        let says = says.map_err(|what| format!("the row of {} cannot be read: {what}", row.id))?;
        self.stated.check_game(says, &verified)?;
        if says.play_hash.is_empty() {
            self.old.set(self.old.get() + 1);
        }
        Ok(verified)
    }

    /// Adds a game to the count of its match, after the one before.
    fn add(
        &self,
        mut tally: Tally,
        before: Option<&Verified>,
        verified: &Verified,
    ) -> Result<Tally, Option<String>> {
        let id = verified.header.id;
        let due = tally.played().next_game();
        if id.game != due {
            return Err(Some(format!(
                "match {}: game {due} is missing before game {}",
                id.of, id.game
            )));
        }
        let before = before.filter(|_| {
            self.stated.meta.event["event"]["restart"] != "game"
                && !self.with_voids.contains(&id.of)
        });
        // A bot says its name when it is started, which is once a match, and again after a game that it forfeited.
        if let Some(before) = before
            && before.result.against.is_none()
            && before.header.names != verified.header.names
        {
            return Err(Some(format!(
                "game {id}: its record gives the bots other names than the one before"
            )));
        }
        match tally.add(verified, before.is_none()) {
            Ok(()) => Ok(tally),
            Err(what) => Err(Some(format!("game {id}: {what}"))),
        }
    }

    /// The row of a match whose games are counted. What is no fault, but worth a word, is returned.
    fn over(
        &self,
        (of, under): Sitting,
        row: Option<&Result<crate::event::MatchResult, String>>,
        tally: &Tally,
    ) -> Result<Option<String>, String> {
        let stated = self.stated;
        let Some(row) = row else {
            // Only what was over is ever set aside, and only the organiser's undoing leaves the half of a match behind.
            if under.is_none() && !stated.is_current(of, under) {
                return Err(format!("match {of} was set aside, and has no result"));
            }
            let what = format!(
                "match {of} has all its games and no result, as a run that is killed at that moment leaves it: the next one plays it again"
            );
            return match (tally.is_over(), stated.seed_is_told) {
                (false, _) => Ok(None),
                (true, false) => Ok(Some(what)),
                (true, true) => Err(format!(
                    "{what}; but seed.json tells that the event was over"
                )),
            };
        };
        let row = row
            .as_ref()
            .map_err(|what| format!("the row of match {of} cannot be read: {what}"))?;
        let played = tally.played().outcomes().len();
        if row.games as usize != played {
            return Err(format!(
                "match {of} has {} games, and {played} are there",
                row.games
            ));
        }
        let pairing = stated.pairing(of)?;
        rows::check_match(row, &pairing, tally).map_err(|what| format!("match {of}: {what}"))?;
        Ok(None)
    }

    /// What an interrupted match left is played again; once all is played there is nothing to be left.
    fn unknown_records(
        &self,
        dir: &Path,
        known: &BTreeSet<PathBuf>,
        lines: &mut Lines<impl Write>,
    ) -> anyhow::Result<()> {
        if !self.stated.seed_is_told {
            return Ok(());
        }
        let there = fs::read_dir(dir.join(store::RECORDS));
        let mut there: Vec<PathBuf> = there
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| !known.contains(path) && !self.was_left(path))
            .collect();
        there.sort();
        for path in there {
            let what = format!("{} is the record of no game", path.display());
            lines.complain(dir, &what)?;
        }
        Ok(())
    }

    /// Whether a record is of a match that was cut short and, by what was ruled since, not played to its end.
    fn was_left(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((id, under)) = name.and_then(store::recorded_in) else {
            return false;
        };
        let over = |row: &&StoredRow<MatchId, _>| (row.id, row.under) == (id.of, under);
        !self.stated.desk.is_empty() && !self.stated.matches.iter().any(|row| over(&row))
    }
}
