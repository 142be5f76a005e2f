//! What was told survives a power cut: the order in which records and results are made durable and told, as the kernel sees it.

use std::ffi::OsStr;
use std::process::Command;

use crate::common::{self, Event, Lab};
use crate::tools::{has, skipped};

/// One call of the program that matters here.
#[derive(Debug, PartialEq)]
enum Call {
    /// Bytes were written to a file.
    Write(String),
    /// A file, or all of its disk, was made durable.
    Sync(String),
    /// A name appeared in place of another.
    Rename(String),
    /// A line for people.
    Says(String),
}

/// Reads a line of `strace -f -y`: `[pid 12] fdatasync(7</x/y>) = 0`. A call that another one interrupts is told in two parts; it is
/// taken when it is done, or for a write when it begins.
fn call(line: &str) -> Option<Call> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let (name, rest) = line.split_once('(')?;
    let path = || {
        let (_, path) = rest.split_once('<')?;
        Some(path.split_once('>')?.0.to_owned())
    };
    Some(match name {
        "write" if rest.starts_with("2<") || rest.starts_with("1<") => Call::Says(rest.to_owned()),
        "write" | "pwrite64" => Call::Write(path()?),
        "fsync" | "fdatasync" | "syncfs" => Call::Sync(path()?),
        "rename" | "renameat" | "renameat2" => Call::Rename(rest.to_owned()),
        _ => return None,
    })
}

/// The calls of a run in a terminal (so that it tells of games), in order.
fn traced(lab: &Lab, file: &std::path::Path) -> Vec<Call> {
    let calls = "trace=write,pwrite64,fsync,fdatasync,syncfs,rename,renameat,renameat2";
    let run = Command::new("script")
        .args(["-qec"])
        .arg(format!(
            "exec strace -f -y -s 300 -e {calls} -o trace {} run {}",
            common::hakem_path().display(),
            file.display()
        ))
        .arg("/dev/null")
        .current_dir(lab.path("."))
        .envs(lab.mark())
        .stdin(std::process::Stdio::null())
        .output()
        .expect("script starts");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
    let trace = std::fs::read(lab.path("trace")).expect("a trace");
    let trace = String::from_utf8_lossy(&trace).into_owned();
    // Two parts of a call become one, where it ended.
    let mut begun = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (pid, rest) = line.split_once(' ').unwrap_or(("", line));
        if let Some(first) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(pid.to_owned(), first.to_owned());
        } else if let Some((_, last)) = rest.split_once(" resumed>") {
            let first = begun.remove(pid).unwrap_or_default();
            calls.extend(call(&(first + last)));
        } else {
            calls.extend(call(rest.trim_start()));
        }
    }
    calls
}

#[test]
fn a_game_is_told_after_its_record_and_its_result_are_durable() {
    let test = "a_game_is_told_after_its_record_and_its_result_are_durable";
    if !has("strace") || !has("script") {
        return skipped(test, "no strace, or no script");
    }
    let lab = Lab::new();
    // On a terminal a line tells of every forfeit. One game ends long before the next, and jobs end together as well.
    let file = Event::new("mangala")
        .set("event", "games", "8")
        .set("event", "jobs", "2")
        .mock("faulty", &["--illegal-at", "3", "--think-us", "3000"])
        .mock("honest", &[])
        .write(&lab, "event.toml");
    let calls = traced(&lab, &file);
    let mut told = 0;
    for number in 1..=8 {
        let id = format!("r1.m{number}.g1");
        let record = format!("/records/{id}.jsonl");
        let at = |from: usize, what: &str, is: &dyn Fn(&Call) -> bool| {
            from + calls[from..]
                .iter()
                .position(is)
                .unwrap_or_else(|| panic!("{id}: no {what} in {:#?}", &calls[from..]))
        };
        let of_record = |path: &String| path.ends_with(&record);
        let in_folder = |path: &String| path.ends_with("/records");
        let to_log = |path: &String| path.ends_with("/results.sqlite-wal");
        let written = at(
            0,
            "record",
            &|call| matches!(call, Call::Write(path) if of_record(path)),
        );
        let last = calls
            .iter()
            .rposition(|call| matches!(call, Call::Write(path) if of_record(path)));
        assert!(last.is_some_and(|last| last >= written));
        let written = last.unwrap_or(written);
        // The record, by itself or with its whole disk, and its name in its folder.
        let synced = at(
            written,
            "sync of the record",
            &|call| matches!(call, Call::Sync(path) if of_record(path) || in_folder(path)),
        );
        let named = at(
            written,
            "sync of the folder",
            &|call| matches!(call, Call::Sync(path) if in_folder(path)),
        );
        let row = at(
            synced.max(named),
            "row",
            &|call| matches!(call, Call::Write(path) if to_log(path)),
        );
        let stored = at(
            row,
            "sync of the results",
            &|call| matches!(call, Call::Sync(path) if to_log(path)),
        );
        let said = at(
            0,
            "word of it",
            &|call| matches!(call, Call::Says(text) if text.contains(&format!("{id}: faulty forfeits"))),
        );
        assert!(
            said > stored,
            "{id} was told at {said}, before its result was durable at {stored}: {calls:#?}"
        );
        told += 1;
    }
    assert_eq!(told, 8);
    // The results file appears whole: it is synced before it gets its name, and the name is synced before a game is played.
    let first_log = calls
        .iter()
        .position(|call| matches!(call, Call::Write(path) if path.ends_with("-wal")));
    let renamed = calls
        .iter()
        .position(|call| matches!(call, Call::Rename(paths) if paths.contains(".results.new") && paths.contains("results.sqlite")))
        .expect("the results get their name");
    let synced_before = calls[..renamed]
        .iter()
        .rposition(|call| matches!(call, Call::Sync(path) if path.ends_with(".results.new")));
    let written_before = calls[..renamed]
        .iter()
        .rposition(|call| matches!(call, Call::Write(path) if path.ends_with(".results.new")));
    assert!(
        synced_before > written_before && written_before.is_some(),
        "{calls:#?}"
    );
    assert!(first_log.is_some_and(|log| log > renamed), "{calls:#?}");
    let folder = calls[renamed..]
        .iter()
        .position(|call| matches!(call, Call::Sync(path) if path.ends_with("/event")));
    assert!(folder.is_some(), "the name is durable: {calls:#?}");
    assert!(!lab.games(OsStr::new("event")).is_empty());
}
