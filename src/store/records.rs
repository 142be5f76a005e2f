//! The record files of games: one a game, written whole, durable before the result that names them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Replays;
use super::error::StoreError;
use crate::event::GameId;

/// The folder of the record files in a folder of results.
pub const RECORDS: &str = "records";

/// The path of a game's record relative to the folder of results: `records/r1.m2.g3.jsonl`. It is made of numbers only.
pub fn record_name(id: GameId) -> String {
    format!("{RECORDS}/{id}.jsonl")
}

/// The same of a game whose match was played again under this ruling: `records/r1.m2.g3.replay-4.jsonl`.
fn replay_name(id: GameId, ruling: u32) -> String {
    format!("{RECORDS}/{id}.replay-{ruling}.jsonl")
}

/// The game whose record has this file name, and the ruling under which it was played again, if it was.
pub fn recorded_in(file: &str) -> Option<(GameId, Option<u32>)> {
    let stem = file.strip_suffix(".jsonl")?;
    match stem.split_once(".replay-") {
        Some((id, ruling)) => Some((id.parse().ok()?, Some(ruling.parse().ok()?))),
        None => Some((stem.parse().ok()?, None)),
    }
}

/// The record files of one folder of results. Threads may share it: each game is written by one of them.
#[derive(Clone, Debug)]
pub struct Records {
    dir: PathBuf,
    replays: Replays,
}

impl Records {
    /// The records of the results in `dir`.
    pub fn of(dir: &Path) -> Records {
        Records::with(dir, Replays::new())
    }

    /// The same where matches are played again: their records have other names, so that those of before stay.
    pub(super) fn with(dir: &Path, replays: Replays) -> Records {
        Records {
            dir: dir.to_owned(),
            replays,
        }
    }

    /// The path of a game's record relative to the folder of results.
    pub fn name(&self, id: GameId) -> String {
        self.name_under(id, self.replays.get(&id.of).copied())
    }

    /// The same of the game as it was played at first, or under a ruling.
    pub fn name_under(&self, id: GameId, ruling: Option<u32>) -> String {
        ruling.map_or_else(|| record_name(id), |ruling| replay_name(id, ruling))
    }

    /// The path of a game's record.
    pub fn path(&self, id: GameId) -> PathBuf {
        self.dir.join(self.name(id))
    }

    /// Writes the records of some games, in place of earlier ones, and makes them durable with their names. Call it before their
    /// rows are committed: only a game that has a row has a record that counts, so a record that was cut short by a crash
    /// is never taken for a whole one.
    ///
    /// Several records are made durable by one `syncfs`, which costs a third of the processor time of as many `fdatasync`; it
    /// also waits for what other programs wrote to the same disk, which delays the news of a result but no game.
    ///
    /// # Errors
    /// What the disk refused; then none of them is sure to be durable.
    pub fn write_group(&self, records: &[(GameId, &[u8])]) -> Result<(), StoreError> {
        let folder = self.dir.join(RECORDS);
        // Opened before the first byte is written: the call tells of what failed since.
        let disk = if records.len() > FEW {
            whole_disk(&folder)?
        } else {
            None
        };
        for (id, bytes) in records {
            let path = self.path(*id);
            let written = File::create(&path).and_then(|mut file| {
                file.write_all(bytes)?;
                // One after the other, so that no group is too large for the files that may be open.
                if disk.is_none() {
                    file.sync_data()?;
                }
                Ok(())
            });
            if let Err(error) = written {
                // The half of a record takes space that a full disk needs.
                let _ = fs::remove_file(&path);
                return Err(StoreError::io("write", &path, error));
            }
        }
        match disk {
            Some(disk) => disk
                .sync()
                .map_err(|error| StoreError::io("sync", &folder, error)),
            None => sync_folder(&folder),
        }
    }

    /// Reads a game's record.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn read(&self, id: GameId) -> Result<Vec<u8>, StoreError> {
        let path = self.path(id);
        fs::read(&path).map_err(|error| StoreError::io("read", &path, error))
    }
}

/// So many records are made durable one by one.
const FEW: usize = 3;

/// A whole file system, to be made durable at once.
struct WholeDisk {
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    folder: File,
}

impl WholeDisk {
    fn sync(&self) -> std::io::Result<()> {
        #[cfg(all(target_os = "linux", not(hakem_portable)))]
        rustix::fs::syncfs(&self.folder)?;
        Ok(())
    }
}

/// The file system of a folder; `None` where the system has no call that makes one durable.
fn whole_disk(folder: &Path) -> Result<Option<WholeDisk>, StoreError> {
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    {
        let folder = File::open(folder).map_err(|error| StoreError::io("read", folder, error))?;
        Ok(Some(WholeDisk { folder }))
    }
    #[cfg(not(all(target_os = "linux", not(hakem_portable))))]
    {
        let _ = folder;
        Ok(None)
    }
}

/// Makes the names in a folder durable.
///
/// # Errors
/// What the disk refused.
pub(super) fn sync_folder(dir: &Path) -> Result<(), StoreError> {
    File::open(dir)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io("sync", dir, error))
}

/// Writes a small file at once and for good: complete, durable, or not there.
///
/// # Errors
/// What the disk refused.
pub(super) fn write_durably(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = dir.join(name);
    let written = dir.join(format!(".{name}.tmp"));
    let result = File::create(&written).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&written, &path)
    });
    if let Err(error) = result {
        let _ = fs::remove_file(&written);
        return Err(StoreError::io("write", &path, error));
    }
    sync_folder(dir)
}
