//! Any Unix: poll, a thread that waits for the end of each process, and no more than POSIX knows.
//!
//! Built everywhere but on Linux, and there too with `--cfg hakem_portable`, so that it can be tested.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::Watch;

/// Whether the system tells what processor time a bot used, and how long it waited for a core. POSIX tells that of children
/// that were waited for only.
pub const TELLS_TIME: bool = false;
/// Whether the system tells which processes there are.
pub const TELLS_PROCESSES: bool = false;

/// How long the machine has slept. A clock that goes on meanwhile makes it a stall of the referee; one that does not cannot charge
/// it to a bot.
pub fn slept() -> u64 {
    0
}

/// Fills it with random bits.
///
/// # Errors
/// The system's.
pub fn random(bits: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bits)
}

/// The processor time of a process: not told.
pub fn processor_time(_pid: Pid) -> Option<u64> {
    None
}

/// The cores that this process may use, by number.
pub fn cores() -> Vec<usize> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (0..count).collect()
}

/// Does nothing: here the system alone decides where a thread runs.
///
/// # Errors
/// None.
pub fn stay_on(_cores: &[usize]) -> io::Result<()> {
    Ok(())
}

/// Does nothing: here the system alone decides when a process gets a core.
pub fn wait_for_core(_pid: Pid) {}

/// How often the calling thread lost its core: not told.
pub fn times_displaced() -> u64 {
    0
}

/// All processes below a process: not told.
pub fn descendants(_root: Pid) -> Vec<Pid> {
    Vec::new()
}

/// The children of a process: not told.
pub fn children(_pid: Pid) -> Vec<Pid> {
    Vec::new()
}

/// What /proc tells on Linux.
pub mod tree {
    use std::fs::File;

    use super::Pid;

    /// The started process alone is known.
    pub fn processes(root: Pid, _skipped: u32) -> Vec<Pid> {
        vec![root]
    }

    /// The started process alone is known.
    pub fn generation(root: Pid, number: u32) -> Vec<Pid> {
        if number == 0 { vec![root] } else { Vec::new() }
    }

    /// Not told.
    pub fn threads(_pid: Pid) -> Vec<Pid> {
        Vec::new()
    }

    /// It does not.
    pub fn tells_waiting() -> bool {
        false
    }

    /// Not told.
    pub fn schedstat(_pid: Pid, _thread: Pid) -> Option<File> {
        None
    }

    /// Not told.
    pub fn is_ready(_pid: Pid, _thread: Pid) -> bool {
        false
    }

    /// Not told.
    pub fn time_of_children(_pid: Pid) -> u64 {
        0
    }

    /// Not told.
    pub fn strays(_group: Pid, _variable: &str) -> Vec<(Pid, String)> {
        Vec::new()
    }

    /// Not told.
    pub fn peak_memory(_pid: Pid) -> Option<u64> {
        None
    }
}

/// Pipes here do not tell when they were written to.
pub mod stamp {
    use std::os::fd::OwnedFd;

    /// The reading and the writing end of a pipe that tells.
    #[derive(Debug)]
    pub struct Stamped {
        /// Does not block.
        pub read: OwnedFd,
        /// Blocks, like any program's stdout.
        pub write: OwnedFd,
    }

    /// There is none.
    pub fn stamped_pipe() -> Option<Stamped> {
        None
    }

    /// Not told.
    pub fn written(_pipe: &OwnedFd) -> Option<u64> {
        None
    }

    /// Nanoseconds of the real-time clock.
    pub fn real_now() -> u64 {
        let clock = rustix::time::ClockId::Realtime;
        super::super::nanos(rustix::time::clock_gettime(clock))
    }
}

// ---- The end of a process ---------------------------------------------------------------------------------------

/// Marks every open file from number `first` on to be closed when another program is executed.
#[expect(
    unsafe_code,
    reason = "a file that somebody else left open has only a number"
)]
pub fn close_on_exec_from(first: i32) {
    /// Beyond this nobody looks, where the system allows more.
    const MOST: u64 = 1 << 16;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let end = limit.current.unwrap_or(MOST).min(MOST) as i32;
    for number in first..end {
        // SAFETY: no file is closed, only marked; of a number that is no file the system says so.
        unsafe {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Held while a process is started: some systems mark a new pipe as not to be inherited only after it was made, and a process that
/// another thread starts in between would keep it open.
pub fn start_alone() -> MutexGuard<'static, ()> {
    static STARTING: Mutex<()> = Mutex::new(());
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Becomes readable when a child of this process has ended, which is not waited for by that: a thread looks, and closes the other
/// end of a pipe.
///
/// # Errors
/// The system's.
pub fn end_of(child: Pid) -> io::Result<OwnedFd> {
    const STACK: usize = 64 << 10;
    let (read, write) = io::pipe()?;
    std::thread::Builder::new()
        .name("end of a bot".into())
        .stack_size(STACK)
        .spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            // If it is gone already, which is an error, it has ended as well.
            while let Err(Errno::INTR) = waitid(WaitId::Pid(child), options) {}
            drop(write);
        })?;
    Ok(read.into())
}

/// Whether the child has ended whose [`end_of`] this is.
pub fn has_ended(end: &OwnedFd) -> bool {
    let mut ends = [PollFd::new(end, PollFlags::IN)];
    matches!(poll(&mut ends, Some(&Timespec::default())), Ok(1..))
}

// ---- Waiting for many -------------------------------------------------------------------------------------------

/// Rings from another thread.
#[derive(Debug)]
pub struct Bell {
    read: OwnedFd,
    write: OwnedFd,
}

impl Bell {
    /// A bell that has not rung.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Bell> {
        let (read, write) = io::pipe()?;
        let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
        ioctl_fionbio(&read, true)?;
        ioctl_fionbio(&write, true)?;
        Ok(Bell { read, write })
    }

    /// Rings it: it is readable from then on.
    pub fn ring(&self) {
        // A full pipe has rung already.
        let _ = rustix::io::write(&self.write, b"!");
    }

    /// Silences it.
    pub fn hush(&self) {
        while let Ok(1..) = rustix::io::read(&self.read, &mut [0; 64]) {}
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

/// Waits for many files at once. Each wait is told anew what is watched, as a file that was closed must not be looked at: its
/// number may be another file's by now.
#[derive(Debug)]
pub struct Poller {
    /// What is not to be told again.
    quiet: BTreeSet<u64>,
}

/// What a wait brought: tokens, and whether the other end is closed.
pub struct Events(Vec<(u64, bool)>);

impl Events {
    /// Room for what a wait brings.
    pub fn with_room() -> Events {
        Events(Vec::new())
    }

    /// The tokens of the files that something happened to, and whether the other end of each is closed.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> {
        self.0.iter().copied()
    }
}

fn flags_of(watch: Watch) -> PollFlags {
    match watch {
        Watch::Answers | Watch::Input => PollFlags::IN,
        // Not all systems tell of it unasked, and those that do let one ask.
        Watch::Closed => PollFlags::HUP,
        Watch::Room => PollFlags::OUT,
    }
}

impl Poller {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// None.
    pub fn new() -> io::Result<Poller> {
        let quiet = BTreeSet::new();
        Ok(Poller { quiet })
    }

    /// Watches a file.
    ///
    /// # Errors
    /// None.
    pub fn add(&mut self, _file: impl AsFd, token: u64, _watch: Watch) -> io::Result<()> {
        self.quiet.remove(&token);
        Ok(())
    }

    /// Watches it in this way from now on; what is there already is told again.
    ///
    /// # Errors
    /// None.
    pub fn change(&mut self, _file: impl AsFd, token: u64, _watch: Watch) -> io::Result<()> {
        self.quiet.remove(&token);
        Ok(())
    }

    /// Watches it no longer.
    pub fn remove(&mut self, _file: impl AsFd, token: u64) {
        self.quiet.insert(token);
    }

    /// Waits until something happens to one of these, or so long.
    ///
    /// # Errors
    /// The system's.
    pub fn wait<'a>(
        &mut self,
        events: &mut Events,
        timeout: Option<&Timespec>,
        watched: impl Iterator<Item = (u64, BorrowedFd<'a>, Watch)>,
    ) -> rustix::io::Result<()> {
        events.0.clear();
        let mut quiet = BTreeSet::new();
        let mut asked = Vec::new();
        let mut files = Vec::new();
        for (token, file, watch) in watched {
            if self.quiet.contains(&token) {
                quiet.insert(token);
            } else {
                asked.push((token, watch));
                files.push(PollFd::from_borrowed_fd(file, flags_of(watch)));
            }
        }
        // What is not there any more need not be kept in mind.
        self.quiet = quiet;
        poll(&mut files, timeout)?;
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        for (file, (token, watch)) in files.iter().zip(asked) {
            let what = file.revents();
            if what.is_empty() {
                continue;
            }
            // It stays closed, and is told once.
            if watch == Watch::Closed {
                self.quiet.insert(token);
            }
            events.0.push((token, what.intersects(gone)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };

    fn heard(
        poller: &mut Poller,
        timeout: Option<&Timespec>,
        watched: &[(u64, BorrowedFd<'_>, Watch)],
    ) -> Vec<(u64, bool)> {
        let mut events = Events::with_room();
        poller
            .wait(&mut events, timeout, watched.iter().copied())
            .expect("a wait");
        events.iter().collect()
    }

    #[test]
    fn a_bell_rings_until_it_is_hushed() {
        let bell = Bell::new().expect("a pipe");
        let mut poller = Poller::new().expect("a poller");
        let watched = [(7, bell.as_fd(), Watch::Input)];
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &watched), []);
        bell.ring();
        bell.ring();
        for _ in 0..2 {
            assert_eq!(heard(&mut poller, None, &watched), [(7, false)]);
        }
        bell.hush();
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &watched), []);
    }

    #[test]
    fn that_nobody_reads_any_more_is_told_once_and_again_to_who_waits_for_room() {
        let (read, write) = io::pipe().expect("a pipe");
        let mut poller = Poller::new().expect("a poller");
        let closed = [(1, write.as_fd(), Watch::Closed)];
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &closed), []);
        drop(read);
        assert_eq!(heard(&mut poller, None, &closed), [(1, true)]);
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &closed), []);
        poller
            .change(&write, 1, Watch::Room)
            .expect("it is watched otherwise");
        let room = [(1, write.as_fd(), Watch::Room)];
        for _ in 0..2 {
            assert_eq!(heard(&mut poller, None, &room), [(1, true)]);
        }
    }

    #[test]
    fn what_was_removed_is_not_told() {
        let (read, write) = io::pipe().expect("a pipe");
        drop(write);
        let mut poller = Poller::new().expect("a poller");
        let watched = [(1, read.as_fd(), Watch::Input)];
        assert_eq!(heard(&mut poller, None, &watched), [(1, true)]);
        poller.remove(&read, 1);
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &watched), []);
        assert_eq!(heard(&mut poller, Some(&AT_ONCE), &[]), []);
        // The token is another file's now.
        assert_eq!(heard(&mut poller, None, &watched), [(1, true)]);
    }

    #[test]
    fn the_end_of_a_child_is_seen_before_it_is_waited_for() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat");
        let end = end_of(Pid::from_child(&child)).expect("a thread");
        assert!(!has_ended(&end));
        drop(child.stdin.take());
        let mut poller = Poller::new().expect("a poller");
        let watched = [(1, end.as_fd(), Watch::Input)];
        assert_eq!(heard(&mut poller, None, &watched), [(1, true)]);
        assert!(has_ended(&end));
        let status = child.try_wait().expect("it can be waited for");
        assert!(status.is_some_and(|status| status.success()));
    }
}
