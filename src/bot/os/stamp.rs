//! A pipe that tells when it was last written to.
//!
//! The referee's poll loop may itself wait for a core after a bot has written its answer. Linux notes in a named pipe when it was
//! written to, as in any file; since 6.13 to the microsecond, if somebody looked at the time before. In an unnamed pipe it does
//! not.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mknodat, open, unlink};
use rustix::time::{ClockId, clock_gettime};

use super::nanos;

/// The reading and the writing end of a new pipe.
#[derive(Debug)]
pub struct Stamped {
    /// Does not block.
    pub read: OwnedFd,
    /// Blocks, like any program's stdout.
    pub write: OwnedFd,
}

/// A pipe that tells when it was written to; `None` where the system does not tell it to better than a tenth of a millisecond.
pub fn stamped_pipe() -> Option<Stamped> {
    static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        // In memory if there is such a place; the name is gone again at once.
        let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
        places.into_iter().find(|dir| tells(dir))
    });
    pipe_in(dir.as_deref()?).ok()
}

/// When something was last written, by the real-time clock, nanoseconds; and the next write will be noted exactly.
pub fn written(pipe: &OwnedFd) -> Option<u64> {
    // The time of the last change: a writer may set the time of the last writing to what it likes.
    let stat = fstat(pipe).ok()?;
    let seconds = u64::try_from(stat.st_ctime).ok()?;
    Some(seconds * 1_000_000_000 + stat.st_ctime_nsec as u64)
}

/// Nanoseconds of the real-time clock.
pub fn real_now() -> u64 {
    nanos(clock_gettime(ClockId::Realtime))
}

fn pipe_in(dir: &Path) -> io::Result<Stamped> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!(".hakem-{}-{number}", std::process::id()));
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let ends = open(
        &path,
        // Nobody asks when it was read, and noting that costs more than reading.
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOATIME | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .and_then(|read| {
        let write = open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Stamped { read, write })
    });
    unlink(&path)?;
    Ok(ends?)
}

/// Whether pipes in this folder tell it well enough.
fn tells(dir: &Path) -> bool {
    const GOOD: u64 = 100_000;
    const TRIES: usize = 8;
    let Ok(pipe) = pipe_in(dir) else { return false };
    let mut good = 0;
    for _ in 0..TRIES {
        let _ = written(&pipe.read);
        let before = real_now();
        let sent = rustix::io::write(&pipe.write, b"x").is_ok();
        let got = rustix::io::read(&pipe.read, &mut [0; 8]).is_ok();
        let stamp = written(&pipe.read).filter(|_| sent && got);
        good += usize::from(stamp.is_some_and(|stamp| stamp.abs_diff(before) < GOOD));
    }
    // The program may be interrupted in one or the other try.
    good > TRIES / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_stamped_between_its_beginning_and_its_end() {
        let Some(pipe) = stamped_pipe() else {
            // This system does not stamp pipes.
            return;
        };
        for _ in 0..100 {
            written(&pipe.read);
            let before = real_now();
            rustix::io::write(&pipe.write, b"line\n").expect("it is written");
            let after = real_now();
            let stamp = written(&pipe.read).expect("a stamp");
            rustix::io::read(&pipe.read, &mut [0; 8]).expect("it is read");
            // The file system's clock is read a little apart from ours.
            assert!(before <= stamp + 50_000 && stamp <= after + 50_000);
        }
    }

    #[test]
    fn a_writer_cannot_set_the_stamp_back() {
        use rustix::fs::{Timestamps, futimens};
        use rustix::time::Timespec;
        let Some(pipe) = stamped_pipe() else {
            // This system does not stamp pipes.
            return;
        };
        written(&pipe.read);
        let before = real_now();
        rustix::io::write(&pipe.write, b"line\n").expect("it is written");
        let long_ago = Timespec {
            tv_sec: 1_000,
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: long_ago,
            last_modification: long_ago,
        };
        futimens(&pipe.write, &times).expect("the owner may set times");
        assert!(written(&pipe.read).is_some_and(|stamp| stamp + 50_000 >= before));
    }

    #[test]
    fn no_name_is_left_behind() {
        drop(stamped_pipe());
        let own = format!(".hakem-{}-", std::process::id());
        for dir in ["/dev/shm".into(), std::env::temp_dir()] {
            let Ok(entries) = std::fs::read_dir(dir) else {
                continue;
            };
            // Another test of this process may be in the middle of it.
            let left = entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| name.starts_with(&own));
            assert!(left.count() <= 2);
        }
    }
}
