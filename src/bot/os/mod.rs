//! Glue to the operating system.

#[cfg(target_os = "linux")]
pub mod raw;
pub mod stamp;

use std::io;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    nanos(rustix::time::clock_gettime(
        rustix::time::ClockId::Monotonic,
    ))
}

/// How long the machine has slept since its start, in nanoseconds: the monotonic clock leaves that out. Zero where the system
/// does not tell.
pub fn slept() -> u64 {
    #[cfg(target_os = "linux")]
    {
        // In this order a pause between the two looks like sleep, and is a stall either way; never the other way round.
        let awake = now();
        let all = nanos(rustix::time::clock_gettime(rustix::time::ClockId::Boottime));
        all.saturating_sub(awake)
    }
    #[cfg(not(target_os = "linux"))]
    0
}

fn nanos(time: rustix::time::Timespec) -> u64 {
    // Neither clock is ever negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
/// wakes up (Linux's scheduling policy "batch"). So the referee can ask several bots in a row, each of which would otherwise
/// interrupt it: that halves the changes of process a move. Where the system refuses, it is as it was.
#[cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the policy of a process has no safe wrapper")
)]
pub fn wait_for_core(pid: Pid) {
    #[cfg(target_os = "linux")]
    // SAFETY: the call reads a local of the right type, for which zero is the priority that this policy wants.
    unsafe {
        let param = std::mem::zeroed::<libc::sched_param>();
        libc::sched_setscheduler(
            pid.as_raw_nonzero().get(),
            libc::SCHED_BATCH,
            &raw const param,
        );
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
}

/// Raises the number of files that may be open to what the system allows, and returns it.
pub fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    if limit.current.is_some_and(|current| current < most) {
        // If it fails the old limit stands, and is what counts.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        );
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
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
    let threads = std::fs::read_dir(folder).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_ascii_whitespace()
                .filter_map(|word| Pid::from_raw(word.parse().ok()?))
                .collect::<Vec<_>>()
        })
        .collect()
}
