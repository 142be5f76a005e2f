//! The lock that keeps two runs from playing into one folder.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::error::StoreError;

/// The file that is locked. It holds the number of the process that holds it.
pub(super) const LOCK_FILE: &str = ".lock";

/// The lock of a folder, held until it is dropped. The kernel releases it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a folder.
    ///
    /// # Errors
    /// [`StoreError::Locked`] where another process holds it, or this one already does.
    pub(super) fn take(dir: &Path) -> Result<Lock, StoreError> {
        let path = dir.join(LOCK_FILE);
        let fault = |error: std::io::Error| StoreError::io("lock", &path, error);
        loop {
            let mut file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(fault)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    return Err(StoreError::Locked {
                        dir: dir.to_owned(),
                        pid: holder(&mut file),
                    });
                }
                Err(errno) => return Err(fault(errno.into())),
            }
            // The holder before may have removed the file between our opening and locking it: then nobody else sees this lock.
            if is_at(&file, &path) {
                file.set_len(0).map_err(fault)?;
                writeln!(file, "{}", std::process::id()).map_err(fault)?;
                return Ok(Lock { file, path });
            }
        }
    }

    /// Tells the lock that its folder was renamed.
    pub(super) fn moved_to(&mut self, dir: &Path) {
        self.path = dir.join(LOCK_FILE);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still held; who opened it meanwhile notices. A file that stays does no harm.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

/// The process that a lock file names.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
