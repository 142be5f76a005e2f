//! All processes of a bot: who they are, and what they use.

use std::collections::BTreeSet;
use std::os::linux::fs::MetadataExt;
use std::path::PathBuf;

use rustix::process::Pid;

/// What some processes use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// Memory, bytes.
    pub(super) memory: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// All processes below a process, those of its children too. One that comes into being meanwhile may be missing.
pub(super) use crate::bot::os::descendants as below;

/// All processes of the caller's namespace but process 1.
pub(super) fn others() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|&pid| pid != Pid::INIT)
        .collect()
}

/// The command lines of some of these processes, shortened; those that have ended have none.
pub(super) fn commands(members: &[Pid]) -> Vec<String> {
    const MOST: usize = 4;
    const LENGTH: usize = 100;
    let command = |pid: &Pid| {
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let line: String = line.trim().chars().take(LENGTH).collect();
        (!line.is_empty()).then_some(line)
    };
    members.iter().filter_map(command).take(MOST).collect()
}

/// Processes and threads of the calling user.
pub(super) fn tasks_of_user() -> Option<u64> {
    let user = rustix::process::getuid().as_raw();
    let mut count = 0;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        if entry.metadata().is_ok_and(|found| found.st_uid() == user) {
            count += entry
                .file_name()
                .to_str()
                .and_then(|name| tasks(name.parse().ok()?))
                .unwrap_or(0);
        }
    }
    Some(count)
}

/// What these processes use. Memory is the cheap count, which counts what they share several times, unless that is above
/// `limit`: then it is the exact one.
pub(super) fn measure(members: &[Pid], limit: u64) -> Use {
    let page = rustix::param::page_size() as u64;
    let number = |pid: &Pid| pid.as_raw_nonzero().get();
    let held = held_files(members);
    let rough: u64 = members
        .iter()
        .filter_map(|pid| resident(number(pid)))
        .map(|pages| pages * page)
        .sum();
    let memory = if rough + held > limit {
        members
            .iter()
            .map(|pid| {
                proportional(number(pid))
                    .unwrap_or_else(|| resident(number(pid)).unwrap_or(0) * page)
            })
            .sum()
    } else {
        rough
    };
    Use {
        memory: memory + held,
        tasks: members.iter().filter_map(|pid| tasks(number(pid))).sum(),
    }
}

/// Pages in memory, from /proc/PID/statm.
fn resident(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split(' ').nth(1)?.parse().ok()
}

/// The process's share of memory, bytes: a page that three processes have is a third of a page of each.
fn proportional(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Threads, from /proc/PID/stat.
fn tasks(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in brackets, which may hold anything.
    let (_, rest) = text.rsplit_once(") ")?;
    rest.split(' ').nth(17)?.parse().ok()
}

/// Bytes in files that exist only in memory and have no name, which processes hold open. What of them is mapped is
/// counted as memory already, but so be it: it is at most counted twice.
fn held_files(members: &[Pid]) -> u64 {
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for pid in members {
        let folder = PathBuf::from(format!("/proc/{}/fd", pid.as_raw_nonzero()));
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_memory = std::fs::read_link(&path).is_ok_and(|target| {
                target
                    .as_os_str()
                    .as_encoded_bytes()
                    .starts_with(b"/memfd:")
            });
            if is_memory
                && let Ok(found) = std::fs::metadata(&path)
                && seen.insert((found.st_dev(), found.st_ino()))
            {
                bytes += found.st_blocks() * 512;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_measured() {
        let me = [rustix::process::getpid()];
        let rough = measure(&me, u64::MAX);
        let exact = measure(&me, 0);
        assert!(exact.memory > 100_000 && exact.memory <= rough.memory + (16 << 20));
        assert!(rough.tasks >= 1);
        assert!(tasks_of_user().is_some_and(|tasks| tasks >= rough.tasks));
    }

    #[test]
    fn memory_without_a_name_is_counted() {
        let before = held_files(&[rustix::process::getpid()]);
        let file =
            rustix::fs::memfd_create("held", rustix::fs::MemfdFlags::CLOEXEC).expect("a file");
        rustix::io::write(&file, &[1; 1 << 20]).expect("written");
        let after = held_files(&[rustix::process::getpid()]);
        // Other tests of this program may hold some at the same time.
        assert!(after >= before.min(after) && after >= 1 << 20);
    }
}
