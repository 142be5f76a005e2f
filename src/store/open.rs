//! Opens results files: tells ours from others, whole from damaged, and brings older ones up to date.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::RESULTS;
use super::error::StoreError;

/// Marks a results file of this program ("hakm"), at byte 68 of the file.
const APPLICATION_ID: i32 = 0x6861_6b6d;

/// The layout, step by step. A file's `user_version` is the number of steps that it has had. A later layout is one more step, and
/// says what a reader, which changes nothing, does with a file that has not had it; steps are never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("v1.sql"),
    include_str!("v2.sql"),
    include_str!("v3.sql"),
    include_str!("v4.sql"),
];

/// How a file is opened that nothing is to be written to.
const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// How long to wait for another process that reads, before giving up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes an empty results file in the present layout. It has no write-ahead log yet: what is written is in the file, or its
/// commit has failed. (A log is moved into the file when it is closed, and on a full disk that fails without a word.)
pub(super) fn create(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fault = |error| StoreError::sql(path, error);
    let mut connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(fault)?;
    make_durable(&connection, path, "delete")?;
    migrate(&mut connection, path, 0)?;
    Ok(connection)
}

/// Gives a new results file, when all that belongs into it is, the kind of journal that it is used with. Left to its first
/// opening this could be cut short by a kill, and leave a change that nobody who only reads can take back.
pub(super) fn complete(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    make_durable(connection, path, "wal")
}

/// Opens a results file to write to. The folder's lock is held.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    check_file(path)?;
    let fault = |error| StoreError::sql(path, error);
    let reader = Connection::open_with_flags(path, READ_ONLY).map_err(fault)?;
    check_identity(&reader, path).map_err(|error| keep_copy(path, error))?;
    drop(reader);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    // A damaged file stays as it is: nothing is moved into it from its log when this connection closes.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(fault)?;
    let version = check_content(&connection, path).map_err(|error| keep_copy(path, error))?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map_err(fault)?;
    make_durable(&connection, path, "wal")?;
    migrate(&mut connection, path, version)?;
    Ok(connection)
}

/// Opens a results file to read, as it is at this moment, while a run may go on. The folder returned holds a copy where the
/// original cannot be read in place, and is removed when it is dropped.
pub(super) fn open_read_only(
    path: &Path,
) -> Result<(Connection, Option<tempfile::TempDir>), StoreError> {
    check_file(path)?;
    let in_place = Connection::open_with_flags(path, READ_ONLY).and_then(as_it_is_now);
    let (connection, copy) = match in_place {
        Ok(connection) => (connection, None),
        Err(error) if needs_writable_folder(&error) => {
            let (connection, copy) = open_copy(path)?;
            (connection, Some(copy))
        }
        Err(error) => return Err(refused(path, error)),
    };
    check_identity(&connection, path)?;
    check_content(&connection, path)?;
    Ok((connection, copy))
}

/// Makes a connection see the file as it is now, until it is closed.
fn as_it_is_now(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    Ok(connection)
}

/// Whether this is how SQLite refuses a file with a log in a folder where it may not make its index of the log.
fn needs_writable_folder(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn open_copy(path: &Path) -> Result<(Connection, tempfile::TempDir), StoreError> {
    let copy = tempfile::tempdir()
        .map_err(|error| StoreError::io("make a folder in", &std::env::temp_dir(), error))?;
    let name = copy.path().join(RESULTS);
    for (from, to) in [
        (path.to_owned(), name.clone()),
        (log_of(path), log_of(&name)),
    ] {
        if from.exists() {
            fs::copy(&from, &to).map_err(|error| StoreError::io("read", &from, error))?;
        }
    }
    // The log of a run that was killed becomes part of the copy.
    let connection = Connection::open(&name)
        .and_then(as_it_is_now)
        .map_err(|error| StoreError::sql(path, error))?;
    Ok((connection, copy))
}

/// SQLite's write-ahead log of a results file.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Checks that there is a file with something in it. It is not opened: closing it would take away the locks that other
/// connections of this process hold on it.
fn check_file(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::io("read", path, error))?;
    if !found.is_file() {
        return Err(StoreError::Foreign {
            path: path.to_owned(),
            what: "it is no file".into(),
        });
    }
    if found.len() == 0 {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            what: "it is empty".into(),
            copy: None,
        });
    }
    Ok(())
}

/// Checks that a file is a results file of this program.
fn check_identity(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    match connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0)) {
        Ok(APPLICATION_ID) => Ok(()),
        Ok(_) => Err(StoreError::Foreign {
            path: path.to_owned(),
            what: "it is an SQLite file of another program".into(),
        }),
        Err(error) => Err(refused(path, error)),
    }
}

/// What the first error of SQLite about a file means.
fn refused(path: &Path, error: rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        return StoreError::Foreign {
            path: path.to_owned(),
            what: "it is no SQLite file, or its beginning is damaged".into(),
        };
    }
    StoreError::sql(path, error)
}

/// Checks that the file is whole. Returns its version, which is known.
fn check_content(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let fault = |error| StoreError::sql(path, error);
    let version = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_err(fault)?;
    if version > known_version() {
        return Err(StoreError::NewerVersion {
            path: path.to_owned(),
            found: version,
            known: known_version(),
        });
    }
    let corrupt = |what: String| StoreError::Corrupt {
        path: path.to_owned(),
        what,
        copy: None,
    };
    if version < 1 {
        return Err(corrupt("it has no layout".into()));
    }
    let found = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
        .map_err(fault)?;
    if found == "ok" {
        Ok(version)
    } else {
        Err(corrupt(found))
    }
}

pub(super) fn known_version() -> i64 {
    MIGRATIONS.len() as i64
}

/// A commit survives a power cut from now on, with this kind of journal.
fn make_durable(connection: &Connection, path: &Path, journal: &str) -> Result<(), StoreError> {
    let fault = |error| StoreError::sql(path, error);
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    let mode = connection
        .pragma_update_and_check(None, "journal_mode", journal, |row| row.get::<_, String>(0))
        .map_err(fault)?;
    if mode != journal {
        return Err(StoreError::Io {
            doing: "use the right journal for",
            path: path.to_owned(),
            cause: format!("the file system does not allow `{journal}`; it is `{mode}`").into(),
        });
    }
    // The last two are for macOS, where an ordinary sync does not reach the disk.
    for (pragma, value) in [
        ("synchronous", "full"),
        ("trusted_schema", "off"),
        ("fullfsync", "on"),
        ("checkpoint_fullfsync", "on"),
    ] {
        connection
            .pragma_update(None, pragma, value)
            .map_err(fault)?;
    }
    // Rows are added in their order, which needs few pages at once; so a long run takes no more memory than a short one. KiB.
    connection
        .pragma_update(None, "cache_size", -256)
        .map_err(fault)
}

/// Brings a file up to date, each step whole or not at all.
fn migrate(connection: &mut Connection, path: &Path, from: i64) -> Result<(), StoreError> {
    let fault = |error| StoreError::sql(path, error);
    for (step, sql) in MIGRATIONS.iter().enumerate() {
        let version = step as i64 + 1;
        if version > from {
            let transaction = connection.transaction().map_err(fault)?;
            transaction.execute_batch(sql).map_err(fault)?;
            transaction
                .pragma_update(None, "user_version", version)
                .map_err(fault)?;
            transaction.commit().map_err(fault)?;
        }
    }
    Ok(())
}

/// Keeps a copy of a damaged file, and of its log, beside it, unless the last copy is the same.
fn keep_copy(path: &Path, error: StoreError) -> StoreError {
    let StoreError::Corrupt { path: at, what, .. } = error else {
        return error;
    };
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".corrupt-{number}"));
        PathBuf::from(name)
    };
    let free = (1..).find(|&number| !name(number).exists()).unwrap_or(1);
    let last = name(free - 1);
    let copy = if free > 1 && same_content(path, &last) {
        Some(last)
    } else {
        let copy = name(free);
        // Without room for a copy the original is still there.
        let kept = fs::copy(path, &copy).is_ok();
        if !kept {
            let _ = fs::remove_file(&copy);
        } else if fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0) {
            let _ = fs::copy(log_of(path), log_of(&copy));
        }
        kept.then_some(copy)
    };
    StoreError::Corrupt {
        path: at,
        what,
        copy,
    }
}

fn same_content(one: &Path, other: &Path) -> bool {
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
