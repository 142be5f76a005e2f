//! Processes: what they cost, and the cores that they are kept on.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, WaitId, WaitIdOptions};
use rustix::time::ClockId;

use crate::Fault;
use crate::common::machine::{TICK, clock_ns, pin};

/// The monotonic clock, one for all processes.
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// `0,1` as cores.
pub(crate) fn parse_cores(text: &str) -> Result<Vec<usize>, Fault> {
    Ok(text.split(',').map(str::parse).collect::<Result<_, _>>()?)
}

/// Cores as [`parse_cores`] reads them.
pub(crate) fn list(cores: &[usize]) -> String {
    let cores: Vec<String> = cores.iter().map(ToString::to_string).collect();
    cores.join(",")
}

/// `pinned CORES COMMAND...`: becomes the command, on these cores.
pub(crate) fn exec_pinned(args: &[String]) -> Result<(), Fault> {
    let [cores, program, args @ ..] = args else {
        return Err("pinned needs cores and a command".into());
    };
    pin(&parse_cores(cores)?)?;
    Err(Command::new(program).args(args).exec().into())
}

/// Lets this process and its children open as many files as the system allows.
pub(crate) fn raise_open_files() -> Result<u64, Fault> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    rustix::process::setrlimit(Resource::Nofile, raised)?;
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

/// What a finished process cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    /// User and system time of the process alone, all its threads, none of its children.
    pub(crate) cpu: Duration,
    /// Resident memory in KiB over time, if it was asked for.
    pub(crate) resident: Vec<Sample>,
}

/// Resident memory at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) kib: u64,
    /// What the caller counted then.
    pub(crate) count: usize,
}

/// Runs a command to its end; its output goes to files `NAME.out` and `NAME.err` of `dir`. With `count`, takes a
/// sample of its resident memory every few milliseconds.
///
/// # Errors
/// Also if it ends with another exit code than 0; the error shows the end of its stderr.
pub(crate) fn measure(
    mut command: Command,
    dir: &Path,
    name: &str,
    mut count: Option<&mut dyn FnMut() -> usize>,
) -> Result<Cost, Fault> {
    let [out, err] = ["out", "err"].map(|end| dir.join(format!("{name}.{end}")));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let begin = Instant::now();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let mut cost = Cost::default();
    if let Some(count) = &mut count {
        let every = Duration::from_millis(5).try_into()?;
        let ended = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        let mut fds = [PollFd::new(&ended, PollFlags::IN)];
        while rustix::event::poll(&mut fds, Some(&every))? == 0 {
            if let Some(kib) = resident_kib(pid) {
                let count = count();
                cost.resident.push(Sample { kib, count });
            }
        }
    }
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(pid), options)?;
    cost.wall = begin.elapsed();
    cost.cpu = own_time(pid)?;
    finish(&mut child, &err, name)?;
    Ok(cost)
}

fn finish(child: &mut Child, err: &Path, name: &str) -> Result<(), Fault> {
    let status = child.wait()?;
    if status.success() {
        return Ok(());
    }
    let text = std::fs::read_to_string(err).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(10)..].join("\n");
    Err(format!("{name} ended with {status}: {end}").into())
}

/// The time of a process that has ended and was not waited for.
fn own_time(pid: Pid) -> Result<Duration, Fault> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()))?;
    // The second field is the name in brackets, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ").ok_or("/proc/PID/stat has a name")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks: u32 = fields[11].parse::<u32>()? + fields[12].parse::<u32>()?;
    Ok(ticks * TICK)
}

fn resident_kib(pid: Pid) -> Option<u64> {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = std::fs::read_to_string(path).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
