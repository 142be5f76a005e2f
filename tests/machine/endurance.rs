//! Long runs: what the referee holds after many games is what it held after few.
//!
//! The results are on a disk in memory, where there is one: results that wait for a slow disk are held as well, up to a bound.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Child;

use rustix::process::Pid;

use crate::common::{self, Event, Lab, full};
use crate::tools::{ended, goes_on, said, skipped, start_with};

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Resident memory that is its own, kilobytes.
    memory: u64,
    files: usize,
    fewest_files: usize,
    threads: usize,
    /// Children that have ended and were not waited for.
    zombies: usize,
}

fn held(pid: Pid) -> Option<Held> {
    let proc = format!("/proc/{}", pid.as_raw_nonzero());
    let status = std::fs::read_to_string(format!("{proc}/status")).ok()?;
    let number = |key: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let me = pid.as_raw_nonzero().to_string();
    let zombies = std::fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let mut fields = fields.split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&me)
        })
        .count();
    let files = std::fs::read_dir(format!("{proc}/fd")).ok()?.count();
    Some(Held {
        memory: number("RssAnon:")?,
        files,
        fewest_files: files,
        threads: usize::try_from(number("Threads:")?).ok()?,
        zombies,
    })
}

/// A folder in memory where that has room for the records of all games, and whether it is one.
fn disk() -> (tempfile::TempDir, bool) {
    const ROOM: u64 = 300 << 20;
    let shm = Path::new("/dev/shm");
    let free = rustix::fs::statvfs(shm).map_or(0, |stat| stat.f_bavail * stat.f_frsize);
    let dir = (free > ROOM)
        .then(|| tempfile::tempdir_in(shm).ok())
        .flatten();
    let quick = dir.is_some();
    (
        dir.unwrap_or_else(|| tempfile::tempdir().expect("a folder")),
        quick,
    )
}

/// How many games of a folder have a record.
fn records(dir: &Path) -> usize {
    std::fs::read_dir(dir.join("records")).map_or(0, Iterator::count)
}

/// The most that was held while the number of games is from `from` to `to`; records come a group at a time, so this must be several
/// groups.
fn most(dir: &Path, run: &Child, from: usize, to: usize) -> Held {
    let mut most: Option<Held> = None;
    loop {
        let games = records(dir);
        if (from..=to).contains(&games)
            && let Some(now) = held(common::pid_of(run))
        {
            let before = most.unwrap_or(now);
            most = Some(Held {
                memory: now.memory.max(before.memory),
                files: now.files.max(before.files),
                fewest_files: now.fewest_files.min(before.fewest_files),
                threads: now.threads.max(before.threads),
                // One that has just ended is waited for soon; those that stay are the fewest at any time.
                zombies: now.zombies.min(before.zombies),
            });
        }
        if games > to || !goes_on(run, 20) {
            return most
                .unwrap_or_else(|| panic!("{games} games, and none seen from {from} to {to}"));
        }
    }
}

/// Plays the event, and compares what is held in its first half with what is held towards its end.
#[track_caller]
fn stays_small(what: &str, event: &Event, games: usize) {
    let lab = Lab::new();
    let file = event.write(&lab, "event.toml");
    let (disk, quick) = disk();
    let dir = disk.path().join("event");
    let run = start_with(
        lab.command([
            OsStr::new("run"),
            file.as_os_str(),
            OsStr::new("--out"),
            dir.as_os_str(),
        ]),
        &lab,
    );
    // The first bursts of records raise what the allocator of each thread keeps.
    let early = most(&dir, &run, games / 5, games / 2);
    // Not to the end: then all results are read for the standings.
    let late = most(&dir, &run, games * 3 / 4, games * 9 / 10);
    assert_eq!(ended(&lab, run), Some(0), "{}", said(&lab));
    lab.assert_no_process_is_left();
    let words = format!(
        "{what}: to game {} {early:?}, to game {} {late:?}",
        games / 2,
        games * 9 / 10
    );
    drop(std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("{words}\n").as_bytes(),
    ));
    assert_eq!(records(&dir), games, "{words}");
    if quick {
        // A twentieth, and what SQLite keeps of its file at most, which fills up once.
        assert!(late.memory <= early.memory * 105 / 100 + 2_048, "{words}");
    } else {
        skipped(
            "the memory of a long run",
            "no disk in memory, or it is too small",
        );
    }
    assert!(
        // Those of bots that are just there come and go; what is never given back raises the fewest.
        late.fewest_files <= early.files && late.threads <= early.threads,
        "{words}"
    );
    assert_eq!((early.zombies, late.zombies), (0, 0), "{words}");
}

#[test]
fn many_games_of_the_same_bots_leave_nothing_behind() {
    // Matches of 50 sets: the bots live through them.
    let (matches, games) = if full() { (200, 10_000) } else { (60, 3_000) };
    let event = Event::new("mangala")
        .set("event", "games", &matches.to_string())
        .set("event", "jobs", "2")
        .set("event", "opening_plies", "2")
        .set("rules", "sets", "50")
        .mock("one", &["--pick", "hash:1"])
        .mock("two", &["--pick", "hash:2"]);
    stays_small("games", &event, games);
}

#[test]
fn many_games_with_bots_of_their_own_leave_nothing_behind() {
    let games = if full() { 2_000 } else { 600 };
    let event = Event::new("mangala")
        .set("event", "games", &games.to_string())
        .set("event", "jobs", "2")
        .mock("one", &["--pick", "hash:1", "--stderr", "hello"])
        .mock("two", &["--pick", "hash:2"]);
    stays_small("games with processes", &event, games);
}
