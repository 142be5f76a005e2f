//! The machine: its clocks, its cores, and what others use of it.

use std::time::{Duration, Instant};

use rustix::thread::CpuSet;
use rustix::time::ClockId;

use super::Fault;

/// The unit of /proc/PID/stat, fixed for user space on Linux.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A clock of the system, in nanoseconds.
pub(crate) fn clock_ns(clock: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The processor time of this process, all threads, without children.
pub(crate) fn own_cpu_ns() -> u64 {
    clock_ns(ClockId::ProcessCPUTime)
}

/// Keeps the calling thread, and what it starts, on these cores.
pub(crate) fn pin(cores: &[usize]) -> Result<(), Fault> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core);
    }
    rustix::thread::sched_setaffinity(None, &set)?;
    Ok(())
}

/// The cores that this process may use, at most two.
pub(crate) fn cores() -> Result<Vec<usize>, Fault> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&core| set.is_set(core))
        .take(2)
        .collect())
}

/// Processor time of the whole machine, and of this process with the children it has waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    at: Instant,
    machine: u64,
    own: u64,
}

impl Load {
    pub(crate) fn now() -> Result<Load, Fault> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        let fields = stat.lines().next().unwrap_or_default().split_whitespace();
        let fields: Vec<u64> = fields.skip(1).flat_map(str::parse).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal
        let machine = [0, 1, 2, 5, 6, 7].iter().map(|&n| fields[n]).sum();
        let own = std::fs::read_to_string("/proc/self/stat")?;
        let (_, rest) = own.rsplit_once(") ").ok_or("/proc/self/stat has a name")?;
        let own = rest.split(' ').skip(11).take(4).flat_map(str::parse::<u64>);
        Ok(Load {
            at: Instant::now(),
            machine,
            own: own.sum(),
        })
    }

    /// The same, where this much processor time since then was that of a helper of ours which still runs.
    pub(crate) fn besides(self, helper: Duration) -> Load {
        let ticks = helper.as_nanos() / TICK.as_nanos();
        Load {
            machine: self.machine + u64::try_from(ticks).unwrap_or(0),
            ..self
        }
    }

    /// What others used since then, in cores.
    pub(crate) fn others_since(self) -> Result<f64, Fault> {
        let now = Load::now()?;
        let ticks = |ticks: u64| ticks as f64 * TICK.as_secs_f64();
        let others = ticks(now.machine - self.machine) - ticks(now.own - self.own);
        Ok(others.max(0.0) / (now.at - self.at).as_secs_f64())
    }
}
