//! Which processes and threads a bot is, as /proc tells.

use std::fs::{self, File};
use std::path::Path;

use rustix::process::Pid;

/// What is measured of a bot at most, so that one with thousands of threads does not hold up the games of others.
const MOST: usize = 256;

/// The descendants of a process, and itself, without those of the first `skipped` generations.
pub fn processes(root: Pid, skipped: u32) -> Vec<Pid> {
    let mut found = generation(root, skipped);
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        let more = children(found[next]);
        found.extend(more);
        next += 1;
    }
    found.truncate(MOST);
    found
}

/// The children of the children ... of a process, so many generations below it.
pub fn generation(root: Pid, number: u32) -> Vec<Pid> {
    let mut generation = vec![root];
    for _ in 0..number {
        generation = generation.iter().flat_map(|&pid| children(pid)).collect();
    }
    generation
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
pub fn threads(pid: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir(format!("/proc/{}/task", raw(pid))) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| parse(entry.ok()?.file_name().to_str()?))
        .take(MOST)
        .collect()
}

/// Whether the system counts how long threads wait.
pub fn tells_waiting() -> bool {
    Path::new("/proc/self/schedstat").exists()
}

/// The scheduler's counters of a thread.
pub fn schedstat(pid: Pid, thread: Pid) -> Option<File> {
    File::open(format!("/proc/{}/task/{}/schedstat", raw(pid), raw(thread))).ok()
}

/// Whether a thread has a core or waits for one.
pub fn is_ready(pid: Pid, thread: Pid) -> bool {
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
pub fn time_of_children(pid: Pid) -> u64 {
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

/// The processes that live and are of this group or have this variable (`NAME=VALUE`), whatever session or group they are in, with
/// their command lines; without the group's first.
pub fn strays(group: Pid, variable: &str) -> Vec<(Pid, String)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let needle = format!("{variable}\0");
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(parse) else {
            continue;
        };
        let path = entry.path();
        if pid != group
            && !is_zombie(&path)
            && (group_of(&path) == Some(raw(group)) || has_variable(&path, needle.as_bytes()))
        {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&line).replace('\0', " ");
            found.push((pid, command.trim().to_owned()));
        }
    }
    found
}

/// The fields of `/proc/PID/stat` behind the name: the state is the first, the group the third.
fn stat_of(process: &Path) -> Option<Vec<String>> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn is_zombie(process: &Path) -> bool {
    stat_of(process).is_none_or(|stat| stat.first().is_some_and(|state| state == "Z"))
}

fn group_of(process: &Path) -> Option<i32> {
    stat_of(process)?.get(2)?.parse().ok()
}

fn has_variable(process: &Path, needle: &[u8]) -> bool {
    fs::read(process.join("environ")).is_ok_and(|mut environ| {
        environ.push(0);
        environ.windows(needle.len()).any(|window| window == needle)
    })
}

/// The most memory that a process has used, bytes.
pub fn peak_memory(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", raw(pid))).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
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
