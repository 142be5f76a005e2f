//! What can go wrong with a folder of results.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Free space below which a failed write is told as a full disk, whatever the system called it.
const NEARLY_FULL: u64 = 1 << 20;

/// What went wrong with a folder of results. [`StoreError::is_machine`] tells the machine's faults from the user's.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process plays into the folder.
    #[error("{} is in use by another run{}; wait for it, or choose another folder", .dir.display(), process(*.pid))]
    Locked {
        /// The folder.
        dir: PathBuf,
        /// The process that holds the lock, as it wrote itself.
        pid: Option<u32>,
    },
    /// The folder holds no results.
    #[error("there are no results in {}: {what}", .dir.display())]
    Missing {
        /// The folder.
        dir: PathBuf,
        /// What is there instead.
        what: String,
    },
    /// The folder holds results already.
    #[error("{} holds results already", .dir.display())]
    Exists {
        /// The folder.
        dir: PathBuf,
    },
    /// Something that this program did not make.
    #[error("{} is not a result of this program: {what}; choose another folder", .path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// Results of a later version.
    #[error("{} was written by a newer version (its layout is {found}, this version knows up to {known}); use that version, or start again with --fresh", .path.display())]
    NewerVersion {
        /// The results file.
        path: PathBuf,
        /// The number of its layout.
        found: i64,
        /// The greatest number that is known.
        known: i64,
    },
    /// A results file that is damaged. It was not changed.
    #[error("{} is damaged: {what}; {}restore it from a backup, or start again with --fresh, which keeps it in a renamed folder", .path.display(), kept(.copy.as_deref()))]
    Corrupt {
        /// The results file.
        path: PathBuf,
        /// How it shows.
        what: String,
        /// The copy that was kept.
        copy: Option<PathBuf>,
    },
    /// A place where this user may not write.
    #[error("cannot write to {}: {cause}", .path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// The disk, or the user's part of it, is full.
    #[error("no space left for {}: {cause}{}; what was committed is kept, make room and run again", .path.display(), left(*.free))]
    Full {
        /// The file or folder.
        path: PathBuf,
        /// Bytes that are free there for this user.
        free: Option<u64>,
        /// What the system says.
        cause: String,
    },
    /// Anything else that the system refused.
    #[error("cannot {doing} {}: {cause}", .path.display())]
    Io {
        /// What was to be done: "write", "read".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A game or match that is stored already. Nothing of its batch was stored.
    #[error("{id} is stored already")]
    Duplicate {
        /// Its id.
        id: String,
    },
    /// A value that cannot be a result: a fault of this program. Nothing of its batch was stored.
    #[error("{id} cannot be stored: {what}")]
    Invalid {
        /// The id of the game or match.
        id: String,
        /// What is wrong with it.
        what: String,
    },
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

fn left(free: Option<u64>) -> String {
    free.map_or_else(String::new, |free| {
        format!(" ({} KB are free)", free / 1024)
    })
}

fn kept(copy: Option<&Path>) -> String {
    copy.map_or_else(String::new, |copy| {
        format!("a copy was kept as {}; ", copy.display())
    })
}

impl StoreError {
    /// Whether the machine is at fault (a full or failing disk) or this program, so that the run could not be completed; else the
    /// command cannot be carried out as it was given.
    pub fn is_machine(&self) -> bool {
        match self {
            StoreError::Full { .. }
            | StoreError::Io { .. }
            | StoreError::Duplicate { .. }
            | StoreError::Invalid { .. } => true,
            StoreError::Locked { .. }
            | StoreError::Missing { .. }
            | StoreError::Exists { .. }
            | StoreError::Foreign { .. }
            | StoreError::NewerVersion { .. }
            | StoreError::Corrupt { .. }
            | StoreError::ReadOnly { .. } => false,
        }
    }

    /// What an error of the file system means.
    pub(super) fn io(doing: &'static str, path: &Path, error: io::Error) -> StoreError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full {
                free: free_space(&path),
                path,
                cause: error.to_string(),
            },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                if doing != "read" =>
            {
                StoreError::ReadOnly {
                    path,
                    cause: error.to_string(),
                }
            }
            _ => StoreError::Io {
                doing,
                path,
                cause: error.into(),
            },
        }
    }

    /// What an error of SQLite means.
    pub(super) fn sql(path: &Path, error: rusqlite::Error) -> StoreError {
        let corrupt = |what: String| StoreError::Corrupt {
            path: path.to_owned(),
            what,
            copy: None,
        };
        let free = free_space(path);
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => full(path, free, &error),
            Some(ErrorCode::SystemIoFailure) if free.is_some_and(|free| free < NEARLY_FULL) => {
                full(path, free, &error)
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly {
                path: path.to_owned(),
                cause: error.to_string(),
            },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                corrupt(error.to_string())
            }
            Some(_) => StoreError::Io {
                doing: "use",
                path: path.to_owned(),
                cause: error.into(),
            },
            // A value of another type than the layout says.
            None => corrupt(error.to_string()),
        }
    }
}

fn full(path: &Path, free: Option<u64>, error: &rusqlite::Error) -> StoreError {
    StoreError::Full {
        path: path.to_owned(),
        free,
        cause: error.to_string(),
    }
}

/// The bytes that this user may still write where a path is, or would be.
fn free_space(path: &Path) -> Option<u64> {
    path.ancestors()
        .find_map(|place| rustix::fs::statvfs(place).ok())
        .map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}
