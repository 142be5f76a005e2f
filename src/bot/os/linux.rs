//! Linux: epoll, a file for each process, and /proc.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{Watch, nanos, now};

/// Whether the system tells what processor time a bot used, and how long it waited for a core.
pub const TELLS_TIME: bool = true;
/// Whether the system tells which processes there are.
pub const TELLS_PROCESSES: bool = true;

/// How long the machine has slept since its start, in nanoseconds: the monotonic clock leaves that out.
pub fn slept() -> u64 {
    // In this order a pause between the two looks like sleep, and is a stall either way; never the other way round.
    let awake = now();
    let all = nanos(rustix::time::clock_gettime(rustix::time::ClockId::Boottime));
    all.saturating_sub(awake)
}

/// Fills it with random bits.
///
/// # Errors
/// The system's.
pub fn random(bits: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bits.len() {
        filled += getrandom(&mut bits[filled..], GetRandomFlags::empty())?;
    }
    Ok(())
}

/// The processor time of a process, all its threads, in nanoseconds; `None` when it is gone.
#[expect(
    unsafe_code,
    reason = "the clock of another process has no safe wrapper"
)]
pub fn processor_time(pid: Pid) -> Option<u64> {
    // What clock_getcpuclockid(3) computes: the number's complement, and 2 for the scheduler's exact count of the whole
    // process. The library's function also asks the system whether the process is there, which doubles the cost.
    let clock: libc::clockid_t = (!pid.as_raw_nonzero().get() << 3) | 2;
    // SAFETY: the call writes to a local of the right type and has no other effect.
    unsafe {
        let mut time = std::mem::zeroed::<libc::timespec>();
        if libc::clock_gettime(clock, &raw mut time) != 0 {
            return None;
        }
        // A count that cannot be (a library that gives programs another time changes this clock as well) is none.
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let rest = u64::try_from(time.tv_nsec).ok()?;
        seconds.checked_mul(1_000_000_000)?.checked_add(rest)
    }
}

/// The cores that this process may use.
pub fn cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return vec![0];
    };
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&core| set.is_set(core))
        .collect();
    if cores.is_empty() { vec![0] } else { cores }
}

/// Keeps the calling thread, and every process that it starts from now on, on these cores.
///
/// # Errors
/// The system's.
pub fn stay_on(cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Has a process, and what it starts from now on, take a core only when whoever has it is done with it, instead of the moment it
/// wakes up (the scheduling policy "batch"). So the referee can ask several bots in a row, each of which would otherwise interrupt
/// it: that halves the changes of process a move. Where the system refuses, it is as it was.
#[expect(unsafe_code, reason = "the policy of a process has no safe wrapper")]
pub fn wait_for_core(pid: Pid) {
    // SAFETY: the call reads a local of the right type, for which zero is the priority that this policy wants.
    unsafe {
        let param = std::mem::zeroed::<libc::sched_param>();
        libc::sched_setscheduler(
            pid.as_raw_nonzero().get(),
            libc::SCHED_BATCH,
            &raw const param,
        );
    }
}

/// How often the calling thread lost its core, by its own yield or to somebody else, while it still wanted it.
#[expect(unsafe_code, reason = "the usage of a thread has no safe wrapper")]
pub fn times_displaced() -> u64 {
    // SAFETY: the call writes to a local of the right type and has no other effect.
    unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        u64::try_from(usage.ru_nivcsw).unwrap_or(0)
    }
}

/// All processes below a process: its children, theirs, and so on. One that comes into being meanwhile may be missing.
pub fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children(pid) {
            found.push(child);
            open.push(child);
        }
    }
    found
}

/// The children of a process.
pub fn children(pid: Pid) -> Vec<Pid> {
    let folder = format!("/proc/{}/task", pid.as_raw_nonzero());
    let threads = fs::read_dir(folder).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_ascii_whitespace()
                .filter_map(|word| Pid::from_raw(word.parse().ok()?))
                .collect::<Vec<_>>()
        })
        .collect()
}

// ---- The end of a process ---------------------------------------------------------------------------------------

/// Nothing has to be held while a process is started: no file is open for an instant in which it would be inherited.
pub fn start_alone() -> Alone {
    Alone
}

/// Held while a process is started.
#[derive(Debug)]
pub struct Alone;

/// Becomes readable when a child of this process has ended, which is not waited for by that.
///
/// # Errors
/// The system's.
pub fn end_of(child: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(child, PidfdFlags::empty())?)
}

/// Whether the child has ended whose [`end_of`] this is.
pub fn has_ended(end: &OwnedFd) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::PidFd(end.as_fd()), options), Ok(Some(_)))
}

// ---- Waiting for many -------------------------------------------------------------------------------------------

/// Rings from another thread.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not rung.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Bell> {
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Ok(Bell(eventfd(0, flags)?))
    }

    /// Rings it: it is readable from then on.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Silences it.
    pub fn hush(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits for many files at once. One that is closed is forgotten by itself.
#[derive(Debug)]
pub struct Poller(OwnedFd);

/// What a wait brought.
pub struct Events(Vec<epoll::Event>);

impl Events {
    /// Room for what a wait brings.
    pub fn with_room() -> Events {
        Events(Vec::with_capacity(256))
    }

    /// The tokens of the files that something happened to, and whether the other end of each is closed.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> {
        self.0.iter().map(|event| {
            let flags = event.flags;
            let gone = epoll::EventFlags::HUP | epoll::EventFlags::ERR;
            (event.data.u64(), flags.intersects(gone))
        })
    }
}

/// How a file is watched: answers come so often that the loop is told once of each, and reads all.
fn flags_of(watch: Watch) -> epoll::EventFlags {
    match watch {
        Watch::Answers => epoll::EventFlags::IN | epoll::EventFlags::ET,
        Watch::Input => epoll::EventFlags::IN,
        Watch::Closed => epoll::EventFlags::ET,
        Watch::Room => epoll::EventFlags::OUT | epoll::EventFlags::ET,
    }
}

impl Poller {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Poller> {
        Ok(Poller(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Watches a file.
    ///
    /// # Errors
    /// The system's.
    pub fn add(&mut self, file: impl AsFd, token: u64, watch: Watch) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::add(&self.0, file, data, flags_of(watch))?)
    }

    /// Watches it in this way from now on; what is there already is told again.
    ///
    /// # Errors
    /// The system's.
    pub fn change(&mut self, file: impl AsFd, token: u64, watch: Watch) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::modify(&self.0, file, data, flags_of(watch))?)
    }

    /// Watches it no longer.
    pub fn remove(&mut self, file: impl AsFd, _token: u64) {
        let _ = epoll::delete(&self.0, file);
    }

    /// Waits until something happens, or so long. The list of all that is watched is not needed here.
    ///
    /// # Errors
    /// The system's.
    pub fn wait<'a>(
        &mut self,
        events: &mut Events,
        timeout: Option<&Timespec>,
        _watched: impl Iterator<Item = (u64, BorrowedFd<'a>, Watch)>,
    ) -> rustix::io::Result<()> {
        events.0.clear();
        let buffer = rustix::buffer::spare_capacity(&mut events.0);
        epoll::wait(&self.0, buffer, timeout)?;
        Ok(())
    }
}
