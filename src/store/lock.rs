//! The lock that keeps two runs from playing into one folder.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::error::StoreError;
use crate::bot::os::is_dead;

/// The file that is locked. It holds the number of the process that holds it.
pub(super) const LOCK_FILE: &str = ".lock";

/// How often, and how long each time, the lock of a dead process is waited for.
const PATIENCE: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock of a folder, held until it is dropped. The kernel releases it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a folder.
    ///
    /// A run that was killed in the instant in which it started a bot leaves a child that holds its lock until it has become the
    /// bot's program. So the lock of a process that is dead is waited for, for a moment.
    ///
    /// # Errors
    /// [`StoreError::Locked`] where another process holds it, or this one already does.
    pub(super) fn take(dir: &Path) -> Result<Lock, StoreError> {
        let mut tries = PATIENCE;
        Lock::take_with(dir, &mut || {
            tries -= 1;
            std::thread::sleep(PAUSE);
            tries > 0
        })
    }

    /// Takes the lock; while a dead process holds it, as long as `wait` says so.
    fn take_with(dir: &Path, wait: &mut dyn FnMut() -> bool) -> Result<Lock, StoreError> {
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
                    let pid = holder(&mut file);
                    if
                    // A process of this number may be another by now; then it is not waited for.
                    pid.is_some_and(is_dead) && wait() {
                        continue;
                    }
                    return Err(StoreError::Locked {
                        dir: dir.to_owned(),
                        pid,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock of a folder as a process that is dead left it to a child.
    fn left_behind(dir: &Path) -> File {
        let mut child = std::process::Command::new("true")
            .spawn()
            .expect("a process");
        child.wait().expect("it ends");
        let mut file = File::create(dir.join(LOCK_FILE)).expect("a file");
        writeln!(file, "{}", child.id()).expect("it is written");
        rustix::fs::flock(&file, FlockOperation::LockExclusive).expect("it is ours");
        file
    }

    #[test]
    fn the_lock_of_a_dead_process_is_waited_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut held = Some(left_behind(dir.path()));
        let mut waits = 0;
        let lock = Lock::take_with(dir.path(), &mut || {
            waits += 1;
            if waits == 3 {
                held = None;
            }
            true
        });
        assert!(lock.is_ok());
        assert_eq!(waits, 3);
    }

    #[test]
    fn it_is_not_waited_for_for_ever_nor_is_that_of_the_living() {
        let dir = tempfile::tempdir().expect("a folder");
        let held = left_behind(dir.path());
        let mut left = 3;
        let refused = Lock::take_with(dir.path(), &mut || {
            left -= 1;
            left > 0
        });
        assert!(matches!(refused, Err(StoreError::Locked { .. })));
        assert_eq!(left, 0);
        drop(held);
        let _own = Lock::take(dir.path()).expect("it is free");
        let refused = Lock::take_with(dir.path(), &mut || panic!("nobody waits for the living"));
        assert!(
            matches!(refused, Err(StoreError::Locked { pid: Some(pid), .. }) if pid == std::process::id())
        );
    }
}
