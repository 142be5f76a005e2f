//! Glue to the operating system: the only place that knows which one it is.
//!
//! [`Poller`], [`Bell`] and [`end_of`] wait; [`tree`] and [`processor_time`] tell what processes use; [`stamp`] tells when a bot wrote. On
//! Linux each has the best that it offers; elsewhere (and on Linux with `--cfg hakem_portable`, for tests) what every Unix has, and
//! what is not told is left out rather than guessed.

#[cfg(all(target_os = "linux", not(hakem_portable)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(hakem_portable))))]
mod portable;
#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub mod raw;
#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub mod stamp;
#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub mod tree;

#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub use linux::*;
#[cfg(not(all(target_os = "linux", not(hakem_portable))))]
pub use portable::*;

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit, test_kill_process};

/// Whether this is the referee of Linux, with all that the sandbox and the clock `fair` need.
pub const LINUX: bool = cfg!(all(target_os = "linux", not(hakem_portable)));

/// How a file is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// For something to read; the watcher reads all that is there each time.
    Answers,
    /// For something to read.
    Input,
    /// That nobody reads it any more: told once, where the system tells it.
    Closed,
    /// For room to write, and that nobody reads it any more.
    Room,
}

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    nanos(rustix::time::clock_gettime(
        rustix::time::ClockId::Monotonic,
    ))
}

fn nanos(time: rustix::time::Timespec) -> u64 {
    // Neither clock is ever negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Whether there is no process of this number.
pub fn is_dead(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Raises the number of files that may be open to what the system allows, and returns it.
pub fn raise_open_files() -> u64 {
    /// What macOS grants where it says that there is no limit.
    const GRANTED: u64 = 10_240;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    for wanted in [most, GRANTED.min(most)] {
        if limit.current.is_none_or(|current| current >= wanted) {
            break;
        }
        let raised = Rlimit {
            current: (wanted < u64::MAX).then_some(wanted),
            maximum: limit.maximum,
        };
        // If it fails the old limit stands, and is what counts.
        if setrlimit(Resource::Nofile, raised).is_ok() {
            break;
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
