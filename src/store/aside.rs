//! Folders before they are results, and results that make room for new ones.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::lock::{LOCK_FILE, Lock};
use super::records::sync_folder;
use super::{LOGS, RECORDS, RESULTS, UNFINISHED};

/// Checks that a folder can become one of results: it is not there, or holds nothing but what an attempt that was
/// cut short left.
///
/// # Errors
/// [`StoreError::Foreign`] for a folder that holds anything else, or what the disk refused.
pub fn check_unused(dir: &Path) -> Result<(), StoreError> {
    match foreign_entry(dir)? {
        None => Ok(()),
        Some(name) => Err(StoreError::Foreign {
            path: dir.to_owned(),
            what: format!("it has no {RESULTS}, but holds {name}"),
        }),
    }
}

/// Checks that a folder is one of results.
pub(super) fn check_results(dir: &Path) -> Result<(), StoreError> {
    let results = dir.join(RESULTS);
    match fs::symlink_metadata(&results) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let what = match fs::metadata(dir) {
                Ok(found) if found.is_dir() => format!("it has no {RESULTS}"),
                Ok(_) => "it is no folder".into(),
                Err(_) => "it does not exist".into(),
            };
            Err(StoreError::Missing {
                dir: dir.to_owned(),
                what,
            })
        }
        Err(error) => Err(StoreError::io("read", &results, error)),
    }
}

/// The name of something in the folder that does not belong to results without a results file.
fn foreign_entry(dir: &Path) -> Result<Option<String>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(StoreError::Foreign {
                path: dir.to_owned(),
                what: "it is no folder".into(),
            });
        }
        Err(error) => return Err(StoreError::io("read", dir, error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| StoreError::io("read", dir, error))?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let ours = text == LOCK_FILE
            || text.starts_with(UNFINISHED)
            || ((text == RECORDS || text == LOGS) && is_empty(&entry.path()));
        if !ours {
            return Ok(Some(text.into_owned()));
        }
    }
    Ok(None)
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// Renames a folder of results to `DIR.N`, with the first number N from 1 that is free, so that the event can be played
/// anew. Returns the new path; `None` where there is nothing to set aside. Damaged results and those of other versions are set aside, too.
///
/// # Errors
/// [`StoreError::Locked`] while a run plays into it, [`StoreError::Foreign`] for a folder of other things, or what the disk
/// refused.
pub fn set_aside(dir: &Path) -> Result<Option<PathBuf>, StoreError> {
    if fs::symlink_metadata(dir.join(RESULTS)).is_err() {
        return check_unused(dir).map(|()| None);
    }
    // `DIR/.` and the like have no name to put a number behind.
    let dir = fs::canonicalize(dir).map_err(|error| StoreError::io("read", dir, error))?;
    let mut lock = Lock::take(&dir)?;
    for number in 1u32.. {
        let mut name = dir.as_os_str().to_owned();
        name.push(format!(".{number}"));
        let aside = PathBuf::from(name);
        match rename_to_free(&dir, &aside) {
            Ok(()) => {
                lock.moved_to(&aside);
                if let Some(parent) = aside.parent() {
                    sync_folder(parent)?;
                }
                return Ok(Some(aside));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("rename", &dir, error)),
        }
    }
    Err(StoreError::io(
        "rename",
        &dir,
        ErrorKind::AlreadyExists.into(),
    ))
}

/// Renames, but never over something that is there. (A plain rename replaces an empty folder.)
fn rename_to_free(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // A file system that does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            result => return result.map_err(Into::into),
        }
    }
    if fs::symlink_metadata(to).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}
