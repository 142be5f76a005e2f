//! A folder of results: the truth about what was played.
//!
//! | in the folder | what it holds |
//! |---|---|
//! | `results.sqlite` | the event, its bots, every game and match that was played, rulings (layout: `v1.sql` and what follows) |
//! | `records/` | the record of each game, see [`Records`] |
//! | `logs/` | what bots wrote to stderr |
//! | `seed.json` | the seed, written when every match is done |
//! | `.lock` | held by the run that plays into the folder |
//!
//! A result is stored once: its id is the key. A commit is whole or not there, also after a kill or a power cut, and what was
//! committed stays. Nothing is ever deleted but games of matches that were not finished, which are played again. A match that the organiser has
//! played again keeps its results of before beside the new ones.
//!
//! A results file that is damaged, or that this program did not make, is never written to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

use crate::event::{GameId, GameResult, MatchId, MatchResult, Slot};

mod aside;
mod chain;
mod error;
mod lock;
mod meta;
mod open;
mod records;
mod rows;
mod rulings;
mod seed;

pub use aside::{check_unused, set_aside};
pub use chain::Chain;
pub use error::StoreError;
pub use meta::{BotMeta, GameProgram, Meta};
pub use records::{RECORDS, Records, record_name, recorded_in};
pub use rows::StoredRow;
pub use rulings::Replays;
pub use seed::{SEED_FILE, SeedFile, read_seed};

use lock::Lock;

/// The results file in its folder.
pub const RESULTS: &str = "results.sqlite";
/// The folder of the bots' logs in a folder of results.
pub const LOGS: &str = "logs";
/// Seats of a game at most.
pub const MAX_SEATS: usize = 4;
/// A results file that is being made.
const UNFINISHED: &str = ".results.new";

/// A result to be stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// A game that counts.
    Game(GameResult),
    /// A game that was void.
    Void(VoidNote),
    /// A match that is over; its games are stored before it or in the same batch.
    Match(MatchResult),
}

/// A note that a game was void. A game may have several, and a result after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidNote {
    /// The game.
    pub id: GameId,
    /// The slot on each seat.
    pub seats: Vec<Slot>,
    /// What happened.
    pub why: String,
}

/// An open folder of results.
///
/// It is used from one thread. It holds the folder's lock until it is dropped, unless it was opened to read only.
#[derive(Debug)]
pub struct Store {
    // The connection closes before the lock is released and the copy is removed.
    connection: Connection,
    dir: PathBuf,
    bots: usize,
    replays: Replays,
    lock: Option<Lock>,
    _copy: Option<tempfile::TempDir>,
}

impl Store {
    /// Makes a folder of results, and its parents. It may exist if it is empty.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Foreign`] for a folder that holds anything else, [`StoreError::Locked`], or what the
    /// disk refused.
    pub fn create(dir: &Path, meta: &Meta) -> Result<Store, StoreError> {
        check_no_results(dir)?;
        check_unused(dir)?;
        for folder in [dir.to_owned(), dir.join(RECORDS), dir.join(LOGS)] {
            fs::create_dir_all(&folder)
                .map_err(|error| StoreError::io("make the folder", &folder, error))?;
        }
        if let Some(parent) = absolute(dir).parent() {
            // Where the parent may not be read the new name in it cannot be made durable; the results in the folder still are.
            let _ = records::sync_folder(parent);
        }
        let lock = Lock::take(dir)?;
        // Another run may have made it before the lock was taken.
        check_no_results(dir)?;
        make_results(dir, meta)?;
        Store::open_locked(dir, lock)
    }

    /// Opens a folder of results to play on.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Locked`], [`StoreError::Foreign`], [`StoreError::NewerVersion`],
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        aside::check_results(dir)?;
        let lock = Lock::take(dir)?;
        Store::open_locked(dir, lock)
    }

    fn open_locked(dir: &Path, lock: Lock) -> Result<Store, StoreError> {
        let connection = open::open(&dir.join(RESULTS))?;
        Store::with(connection, dir, Some(lock), None)
    }

    /// Opens a folder of results to read. Everything read is as it stood at this moment, even while a run goes on.
    ///
    /// # Errors
    /// As [`Store::open`], but never [`StoreError::Locked`].
    pub fn open_read_only(dir: &Path) -> Result<Store, StoreError> {
        aside::check_results(dir)?;
        let (connection, copy) = open::open_read_only(&dir.join(RESULTS))?;
        Store::with(connection, dir, None, copy)
    }

    fn with(
        connection: Connection,
        dir: &Path,
        lock: Option<Lock>,
        copy: Option<tempfile::TempDir>,
    ) -> Result<Store, StoreError> {
        let mut store = Store {
            connection,
            dir: dir.to_owned(),
            bots: 0,
            replays: Replays::new(),
            lock,
            _copy: copy,
        };
        store.take_in()?;
        Ok(store)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The record files; of a match that is played again those of what was played last.
    pub fn records(&self) -> Records {
        Records::with(&self.dir, self.replays.clone())
    }

    /// Stores results: all of them, or none. When it returns, they survive a power cut. The records that they name are to be
    /// durable before ([`Records::write_group`]).
    ///
    /// # Errors
    /// [`StoreError::Duplicate`], [`StoreError::Invalid`], or what the disk refused.
    pub fn commit(&mut self, batch: &[Stored]) -> Result<(), StoreError> {
        self.check_writable()?;
        let results = self.dir.join(RESULTS);
        let fault = |error| StoreError::sql(&results, error);
        let transaction = self.connection.transaction().map_err(fault)?;
        for stored in batch {
            rows::insert(&transaction, stored, self.bots, &self.replays).map_err(|refused| {
                match refused {
                    rows::Refused::Invalid(what) => StoreError::Invalid {
                        id: rows::id(stored),
                        what,
                    },
                    rows::Refused::Sql(error) if is_duplicate(&error) => StoreError::Duplicate {
                        id: rows::id(stored),
                    },
                    rows::Refused::Sql(error) => fault(error),
                }
            })?;
        }
        transaction.commit().map_err(fault)
    }

    /// The matches that are over.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn complete_matches(&self) -> Result<BTreeSet<MatchId>, StoreError> {
        let ids = self.matches()?.into_iter().map(|result| result.id);
        Ok(ids.collect())
    }

    /// Drops the games of matches that are not over, so that those can be played again; returns how many there were. Their record files are
    /// overwritten when they are.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn drop_unfinished(&mut self) -> Result<usize, StoreError> {
        self.check_writable()?;
        let of_table = |sql: &str| {
            self.connection
                .execute(sql, [])
                .map_err(|error| self.fault(error))
        };
        let first = of_table(
            "DELETE FROM games WHERE (round, number) NOT IN (SELECT round, number FROM matches)",
        )?;
        // A ruling has one match played again.
        let again = of_table(
            "DELETE FROM replayed_games WHERE ruling NOT IN (SELECT ruling FROM replayed_matches)",
        )?;
        Ok(first + again)
    }

    /// All games that count, those of matches under way included, in the order of the schedule.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn games(&self) -> Result<Vec<GameResult>, StoreError> {
        self.read_all(&rows::select_games(&self.replays), rows::game)
    }

    /// Calls `each` with every game that [`Store::games`] would return, without holding them all.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn each_game(&self, mut each: impl FnMut(GameResult)) -> Result<(), StoreError> {
        self.visit(&rows::select_games(&self.replays), rows::game, &mut each)
    }

    /// The game of this id.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn game(&self, id: GameId) -> Result<Option<GameResult>, StoreError> {
        self.game_under(id, self.replays.get(&id.of).copied())
    }

    /// All matches that are over, in the order of the schedule.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn matches(&self) -> Result<Vec<MatchResult>, StoreError> {
        self.read_all(&rows::select_matches(&self.replays), rows::match_result)
    }

    /// Calls `each` with every match that [`Store::matches`] would return, without holding them all.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn each_match(&self, mut each: impl FnMut(MatchResult)) -> Result<(), StoreError> {
        let sql = rows::select_matches(&self.replays);
        self.visit(&sql, rows::match_result, &mut each)
    }

    /// The matches that have games and are not over.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn unfinished_matches(&self) -> Result<BTreeSet<MatchId>, StoreError> {
        let sql = "SELECT DISTINCT round, number FROM games \
                   WHERE (round, number) NOT IN (SELECT round, number FROM matches)";
        let ids = self.read_all(sql, |row| {
            Ok(MatchId {
                round: row.get(0)?,
                number: row.get(1)?,
            })
        })?;
        let mut ids: BTreeSet<MatchId> = ids.into_iter().collect();
        if !self.replays.is_empty() {
            ids.retain(|of| !self.replays.contains_key(of));
            let again = "SELECT DISTINCT ruling FROM replayed_games \
                         WHERE ruling NOT IN (SELECT ruling FROM replayed_matches)";
            let rulings: Vec<u32> = self.read_all(again, |row| row.get(0))?;
            let open = self.replays.iter();
            ids.extend(
                open.filter(|(_, ruling)| rulings.contains(ruling))
                    .map(|(&of, _)| of),
            );
        }
        Ok(ids)
    }

    /// All notes of void games, in the order in which they happened.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn voids(&self) -> Result<Vec<VoidNote>, StoreError> {
        self.read_all(rows::SELECT_VOIDS, rows::void)
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        match self.lock {
            Some(_) => Ok(()),
            None => Err(StoreError::ReadOnly {
                path: self.dir.join(RESULTS),
                cause: "it was opened to read only".into(),
            }),
        }
    }

    fn read_all<T>(
        &self,
        sql: &str,
        read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut all = Vec::new();
        self.visit(sql, read, &mut |value| all.push(value))?;
        Ok(all)
    }

    fn visit<T>(
        &self,
        sql: &str,
        read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
        each: &mut dyn FnMut(T),
    ) -> Result<(), StoreError> {
        let mut visit = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(read(row)?);
            }
            Ok(())
        };
        visit().map_err(|error| self.fault(error))
    }

    fn read_one(&self, sql: &str) -> Result<usize, StoreError> {
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|error| self.fault(error))
    }

    fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.dir.join(RESULTS), error)
    }

    fn corrupt(&self, what: String) -> StoreError {
        StoreError::Corrupt {
            path: self.dir.join(RESULTS),
            what,
            copy: None,
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn check_no_results(dir: &Path) -> Result<(), StoreError> {
    if dir.join(RESULTS).exists() {
        return Err(StoreError::Exists {
            dir: dir.to_owned(),
        });
    }
    Ok(())
}

/// Makes the results file: it appears with all that belongs into it, or not at all.
fn make_results(dir: &Path, meta: &Meta) -> Result<(), StoreError> {
    let (results, unfinished) = (dir.join(RESULTS), dir.join(UNFINISHED));
    let fault = |error| StoreError::sql(&results, error);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let leftover = dir.join(format!("{UNFINISHED}{suffix}"));
        if leftover.exists() {
            fs::remove_file(&leftover)
                .map_err(|error| StoreError::io("make anew", &leftover, error))?;
        }
    }
    let mut connection = open::create(&unfinished)?;
    meta::insert(&mut connection, meta).map_err(fault)?;
    open::complete(&connection, &unfinished)?;
    connection.close().map_err(|(_, error)| fault(error))?;
    fs::rename(&unfinished, &results).map_err(|error| StoreError::io("write", &results, error))?;
    records::sync_folder(dir)
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::ConstraintViolation
            && [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE]
                .contains(&error.extended_code)
    })
}
