//! A folder of results: the truth about what was played.
//!
//! | in the folder | what it holds |
//! |---|---|
//! | `results.sqlite` | the event, its bots, every game and match that counts (layout: `v1.sql`) |
//! | `records/` | the record of each game, see [`Records`] |
//! | `logs/` | what bots wrote to stderr |
//! | `seed.json` | the seed, written when every match is done |
//! | `.lock` | held by the run that plays into the folder |
//!
//! A result is stored once: its id is the key. A commit is whole or not there, also after a kill or a power cut, and what was
//! committed stays. Nothing is ever deleted but games of matches that were not finished, which are played again.
//!
//! A results file that is damaged, or that this program did not make, is never written to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{BotFiles, EventConfig};
use crate::event::{GameId, GameResult, MatchId, MatchResult};

mod aside;
mod error;
mod lock;
mod open;
mod records;
mod rows;

pub use aside::set_aside;
pub use error::StoreError;
pub use records::{RECORDS, Records, record_name};

use lock::Lock;

/// The results file in its folder.
pub const RESULTS: &str = "results.sqlite";
/// The folder of the bots' logs in a folder of results.
pub const LOGS: &str = "logs";
/// The file of the seed in a folder of results.
pub const SEED_FILE: &str = "seed.json";
/// Seats of a game at most.
pub const MAX_SEATS: usize = 4;
/// A results file that is being made.
const UNFINISHED: &str = ".results.new";

/// What the results are of. It is stored when the folder is made and does not change, but for the name.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// The event's name, for people.
    pub name: String,
    /// The event as [`crate::config::EventConfig::fingerprint`] describes it.
    pub event: Value,
    /// The bots, by slot.
    pub bots: Vec<BotMeta>,
    /// The game.
    pub game: String,
    /// Every option of the game with its value.
    pub rules: Value,
    /// The seed of all chance: the event's, or the one that was drawn.
    pub seed: String,
    /// The version of this program that made the folder.
    pub hakem: String,
    /// When it was made, RFC 3339.
    pub created: String,
}

impl Meta {
    /// The description of an event that begins: `files` are those of its bots, by slot ([`crate::config::bot_files`]), `created` is the
    /// time now.
    pub fn new(config: &EventConfig, files: Vec<BotFiles>, seed: String, created: String) -> Meta {
        let event = config.fingerprint();
        let bots = config.bots.iter().zip(files);
        Meta {
            name: config.name.clone(),
            bots: bots
                .map(|(bot, files)| BotMeta {
                    name: bot.name.clone(),
                    files,
                })
                .collect(),
            game: config.game.clone(),
            rules: event["rules"].clone(),
            event,
            seed,
            hakem: env!("CARGO_PKG_VERSION").to_owned(),
            created,
        }
    }

    /// What is different in an event that is to go on in these results, one sentence a change: settings of the event, bots, the content of
    /// their files. Empty where it is the same event.
    pub fn changes(&self, config: &EventConfig, files: &[BotFiles]) -> Vec<String> {
        let mut changes = crate::config::changes(&self.event, &config.fingerprint());
        for (bot, files) in config.bots.iter().zip(files) {
            // A bot that was added or removed is a change of the event.
            if let Some(was) = self.bots.iter().find(|was| was.name == bot.name) {
                changes.extend(was.files.changes(files, &bot.name));
            }
        }
        changes
    }
}

/// A bot as the results know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotMeta {
    /// Its name in the event.
    pub name: String,
    /// The content of its files when the folder was made; empty for a built-in bot.
    pub files: BotFiles,
}

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
    /// What happened.
    pub why: String,
}

/// The seed of an event that is done, and what was promised of it before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedFile {
    /// The seed.
    pub seed: String,
    /// Its commitment, as it stands in the header of each record.
    pub commitment: String,
    /// Whether the seed could have been guessed before (it was chosen, not drawn).
    pub guessable: bool,
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
        let results = dir.join(RESULTS);
        if results.exists() {
            return Err(StoreError::Exists {
                dir: dir.to_owned(),
            });
        }
        aside::check_unused(dir)?;
        for folder in [dir.to_owned(), dir.join(RECORDS), dir.join(LOGS)] {
            fs::create_dir_all(&folder)
                .map_err(|error| StoreError::io("make the folder", &folder, error))?;
        }
        // Where the parent may not be read the new name in it cannot be made durable; the results still are.
        if let Some(parent) = std::path::absolute(dir)
            .ok()
            .as_deref()
            .and_then(Path::parent)
        {
            let _ = records::sync_folder(parent);
        }
        let lock = Lock::take(dir)?;
        // Another run may have made it before the lock was taken.
        if results.exists() {
            return Err(StoreError::Exists {
                dir: dir.to_owned(),
            });
        }
        // A results file appears with all that belongs into it, or not at all.
        let unfinished = dir.join(UNFINISHED);
        for leftover in [unfinished.clone(), open::log_of(&unfinished)] {
            if leftover.exists() {
                fs::remove_file(&leftover)
                    .map_err(|error| StoreError::io("make anew", &leftover, error))?;
            }
        }
        let mut connection = open::create(&unfinished)?;
        insert_meta(&mut connection, meta).map_err(|error| StoreError::sql(&results, error))?;
        connection
            .close()
            .map_err(|(_, error)| StoreError::sql(&results, error))?;
        fs::rename(&unfinished, &results)
            .map_err(|error| StoreError::io("write", &results, error))?;
        records::sync_folder(dir)?;
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
            lock,
            _copy: copy,
        };
        store.bots = store.read_one("SELECT count(*) FROM bots")?;
        Ok(store)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The record files.
    pub fn records(&self) -> Records {
        Records::of(&self.dir)
    }

    /// What the results are of.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn meta(&self) -> Result<Meta, StoreError> {
        Ok(Meta {
            name: self.meta_text("name")?,
            event: self.meta_json("event")?,
            bots: self.bots()?,
            game: self.meta_text("game")?,
            rules: self.meta_json("rules")?,
            seed: self.meta_text("seed")?,
            hakem: self.meta_text("hakem")?,
            created: self.meta_text("created")?,
        })
    }

    fn meta_text(&self, key: &str) -> Result<String, StoreError> {
        self.connection
            .query_row("SELECT value FROM meta WHERE key = ?", [key], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| self.fault(error))?
            .ok_or_else(|| self.corrupt(format!("it does not tell the event's {key}")))
    }

    fn meta_json(&self, key: &str) -> Result<Value, StoreError> {
        serde_json::from_str(&self.meta_text(key)?)
            .map_err(|error| self.corrupt(format!("the event's {key} cannot be read: {error}")))
    }

    fn bots(&self) -> Result<Vec<BotMeta>, StoreError> {
        let rows: Vec<(usize, String, String)> = self
            .read_all("SELECT slot, name, files FROM bots ORDER BY slot", |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        rows.into_iter()
            .enumerate()
            .map(|(place, (slot, name, files))| {
                if slot != place {
                    return Err(self.corrupt(format!("it has no bot of slot {place}")));
                }
                let files = serde_json::from_str(&files)
                    .map_err(|error| self.corrupt(format!("the files of a bot: {error}")))?;
                Ok(BotMeta { name, files })
            })
            .collect()
    }

    /// Notes another name of the event.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_name(&mut self, name: &str) -> Result<(), StoreError> {
        self.check_writable()?;
        self.connection
            .execute("UPDATE meta SET value = ? WHERE key = 'name'", [name])
            .map_err(|error| self.fault(error))?;
        Ok(())
    }

    /// Stores results: all of them, or none. When it returns, they survive a power cut. The records that they name are to be
    /// durable before ([`Records::sync_group`]).
    ///
    /// # Errors
    /// [`StoreError::Duplicate`], [`StoreError::Invalid`], or what the disk refused.
    pub fn commit(&mut self, batch: &[Stored]) -> Result<(), StoreError> {
        self.check_writable()?;
        let results = self.dir.join(RESULTS);
        let fault = |error| StoreError::sql(&results, error);
        let transaction = self.connection.transaction().map_err(fault)?;
        for stored in batch {
            rows::insert(&transaction, stored, self.bots).map_err(|refused| match refused {
                rows::Refused::Invalid(what) => StoreError::Invalid {
                    id: rows::id(stored),
                    what,
                },
                rows::Refused::Sql(error) if is_duplicate(&error) => StoreError::Duplicate {
                    id: rows::id(stored),
                },
                rows::Refused::Sql(error) => fault(error),
            })?;
        }
        transaction.commit().map_err(fault)
    }

    /// The matches that are over.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn complete_matches(&self) -> Result<BTreeSet<MatchId>, StoreError> {
        let ids = self.read_all("SELECT round, number FROM matches", |row| {
            Ok(MatchId {
                round: row.get(0)?,
                number: row.get(1)?,
            })
        })?;
        Ok(ids.into_iter().collect())
    }

    /// Drops the games of matches that are not over, so that those can be played again; returns how many there were. Their record files are
    /// overwritten when they are.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn drop_unfinished(&mut self) -> Result<usize, StoreError> {
        self.check_writable()?;
        self.connection
            .execute(
                "DELETE FROM games WHERE (round, number) NOT IN (SELECT round, number FROM matches)",
                [],
            )
            .map_err(|error| self.fault(error))
    }

    /// All games that count, those of matches under way included, in the order of the schedule.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn games(&self) -> Result<Vec<GameResult>, StoreError> {
        self.read_all(rows::SELECT_GAMES, rows::game)
    }

    /// Calls `each` with every game that [`Store::games`] would return, without holding them all.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn each_game(&self, mut each: impl FnMut(GameResult)) -> Result<(), StoreError> {
        self.visit(rows::SELECT_GAMES, rows::game, &mut each)
    }

    /// The game of this id.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn game(&self, id: GameId) -> Result<Option<GameResult>, StoreError> {
        let key = (id.of.round, id.of.number, id.game);
        self.connection
            .query_row(rows::SELECT_GAME, key, rows::game)
            .optional()
            .map_err(|error| self.fault(error))
    }

    /// All matches that are over, in the order of the schedule.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn matches(&self) -> Result<Vec<MatchResult>, StoreError> {
        self.read_all(rows::SELECT_MATCHES, rows::match_result)
    }

    /// All notes of void games, in the order in which they happened.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn voids(&self) -> Result<Vec<VoidNote>, StoreError> {
        self.read_all(rows::SELECT_VOIDS, rows::void)
    }

    /// Writes `seed.json`, for good. To be called when every match is done: from then on everybody may know the seed.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn write_seed(&self, seed: &SeedFile) -> Result<(), StoreError> {
        self.check_writable()?;
        let mut text = serde_json::to_string(seed).unwrap_or_default();
        text.push('\n');
        records::write_durably(&self.dir, SEED_FILE, text.as_bytes())
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

/// Reads the `seed.json` of a folder of results; `None` where there is none yet.
///
/// # Errors
/// What the disk refused; [`StoreError::Corrupt`] for a file that is no such thing.
pub fn read_seed(dir: &Path) -> Result<Option<SeedFile>, StoreError> {
    let path = dir.join(SEED_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path, error)),
    };
    match serde_json::from_str(&text) {
        Ok(seed) => Ok(Some(seed)),
        Err(error) => Err(StoreError::Corrupt {
            path,
            what: error.to_string(),
            copy: None,
        }),
    }
}

fn insert_meta(connection: &mut Connection, meta: &Meta) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (key, value) in [
        ("name", meta.name.clone()),
        ("event", meta.event.to_string()),
        ("game", meta.game.clone()),
        ("rules", meta.rules.to_string()),
        ("seed", meta.seed.clone()),
        ("hakem", meta.hakem.clone()),
        ("created", meta.created.clone()),
    ] {
        transaction.execute("INSERT INTO meta VALUES (?, ?)", [key, &value])?;
    }
    for (slot, bot) in meta.bots.iter().enumerate() {
        let files = serde_json::to_string(&bot.files).unwrap_or_default();
        transaction.execute(
            "INSERT INTO bots VALUES (?, ?, ?)",
            (slot, &bot.name, files),
        )?;
    }
    transaction.commit()
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::ConstraintViolation
            && [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE]
                .contains(&error.extended_code)
    })
}
