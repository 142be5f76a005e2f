//! Which processes and threads a bot is, as /proc tells.

use std::fs::{self, File};
use std::path::Path;

use rustix::process::Pid;

/// What is measured of a bot at most, so that one with thousands of threads does not hold up the games of others.
const MOST: usize = 256;

/// The descendants of a process, and itself, without those of the first `skipped` generations.
pub(super) fn processes(root: Pid, skipped: u32) -> Vec<Pid> {
    let mut generation = vec![root];
    for _ in 0..skipped {
        generation = generation.iter().flat_map(|&pid| children(pid)).collect();
    }
    let mut found = generation;
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        let more = children(found[next]);
        found.extend(more);
        next += 1;
    }
    found.truncate(MOST);
    found
}

/// The living children of all threads of a process.
fn children(pid: Pid) -> Vec<Pid> {
    threads(pid)
        .into_iter()
        .filter_map(|thread| {
            let path = format!("/proc/{}/task/{}/children", raw(pid), raw(thread));
            fs::read_to_string(path).ok()
        })
        .flat_map(|text| {
            let pids = text.split_ascii_whitespace().filter_map(parse);
            pids.collect::<Vec<Pid>>()
        })
        .collect()
}

/// The threads of a process.
pub(super) fn threads(pid: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir(format!("/proc/{}/task", raw(pid))) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| parse(entry.ok()?.file_name().to_str()?))
        .take(MOST)
        .collect()
}

/// Whether the system counts how long threads wait.
pub(super) fn tells_waiting() -> bool {
    Path::new("/proc/self/schedstat").exists()
}

/// The scheduler's counters of a thread.
pub(super) fn schedstat(pid: Pid, thread: Pid) -> Option<File> {
    File::open(format!("/proc/{}/task/{}/schedstat", raw(pid), raw(thread))).ok()
}

/// Whether a thread has a core or waits for one.
pub(super) fn is_ready(pid: Pid, thread: Pid) -> bool {
    let path = format!("/proc/{}/task/{}/stat", raw(pid), raw(thread));
    fs::read_to_string(path).is_ok_and(|stat| state(&stat) == Some("R"))
}

/// The field that follows the name of the program.
fn state(stat: &str) -> Option<&str> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().next()
}

/// The processor time of the children of a process that ended and were waited for, nanoseconds. The system tells it in
/// hundredths of a second.
pub(super) fn time_of_children(pid: Pid) -> u64 {
    let Ok(text) = fs::read_to_string(format!("/proc/{}/stat", raw(pid))) else {
        return 0;
    };
    ended_children(&text).unwrap_or(0)
}

/// The fields cutime and cstime. The name of the program stands in brackets before them and may hold anything.
fn ended_children(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) * (1_000_000_000 / rustix::param::clock_ticks_per_second()))
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

fn parse(number: &str) -> Option<Pid> {
    Pid::from_raw(number.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_ended_children_is_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 50 60 70 80 20 0 1 0";
        assert_eq!(ended_children(stat), Some(1_500_000_000));
        assert_eq!(ended_children("7 (a) S 1"), None);
        assert_eq!(ended_children(""), None);
    }

    #[test]
    fn the_state_is_found_behind_any_name() {
        assert_eq!(state("7 (a) R (c) S 1 7"), Some("S"));
        assert_eq!(state("7 (a) R 1"), Some("R"));
        assert_eq!(state("7"), None);
    }

    #[test]
    fn this_process_has_this_thread() {
        let own = rustix::process::getpid();
        assert!(threads(own).contains(&rustix::thread::gettid()));
        assert_eq!(processes(own, 0).first(), Some(&own));
    }
}
