//! Measures what a bot's process used: processor time, and the time that it was ready to run and waited for a core.

use std::fs::File;

use rustix::process::Pid;

use super::os;

/// What a process had used at one instant, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Processor time of all threads.
    pub cpu: u64,
    /// Time that the main thread waited for a core; `None` where the system does not tell or it was not read.
    pub waited: Option<u64>,
}

/// Reads the counters of one process.
#[derive(Debug)]
pub struct Meter {
    pid: Pid,
    schedstat: Option<File>,
    last_cpu: u64,
}

impl Meter {
    /// A meter of a process; waiting is only measured if asked for.
    pub fn new(pid: Pid, waiting: bool) -> Meter {
        let path = format!("/proc/{}/schedstat", pid.as_raw_nonzero());
        let schedstat = if waiting { File::open(path).ok() } else { None };
        Meter {
            pid,
            schedstat,
            last_cpu: 0,
        }
    }

    /// Both counters.
    pub fn read(&mut self) -> Reading {
        Reading {
            cpu: self.cpu(),
            waited: self.waited(),
        }
    }

    /// Processor time only, which costs a third of both. When the process is gone the last value stands.
    pub fn cpu(&mut self) -> u64 {
        if let Some(cpu) = os::processor_time(self.pid) {
            self.last_cpu = cpu;
        }
        self.last_cpu
    }

    /// Time spent waiting for a core.
    pub fn waited(&self) -> Option<u64> {
        let mut text = [0; 96];
        let length = rustix::io::pread(self.schedstat.as_ref()?, &mut text, 0).ok()?;
        parse_waited(&text[..length])
    }
}

/// The second field of schedstat: nanoseconds spent waiting in the run queue.
fn parse_waited(text: &[u8]) -> Option<u64> {
    let field = text.split(|&byte| byte == b' ').nth(1)?;
    field.iter().try_fold(0u64, |number, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_is_read() {
        assert_eq!(parse_waited(b"3061474 27410 15\n"), Some(27_410));
        assert_eq!(parse_waited(b"3061474"), None);
        assert_eq!(parse_waited(b"1 x 2"), None);
        assert_eq!(parse_waited(b"1 99999999999999999999 2"), None);
    }

    #[test]
    fn work_of_this_process_is_seen() {
        let mut meter = Meter::new(rustix::process::getpid(), true);
        let before = meter.read();
        let mut sum = 0u64;
        while meter.cpu() < before.cpu + 2_000_000 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(meter.read().waited >= before.waited);
    }
}
