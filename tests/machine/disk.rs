//! A disk that is full or may not be written, folders that are not what they should be, results that are damaged.
//!
//! Each disk is a small file system of its own, mounted in a namespace of the test's own.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::{self, Event, Lab, text};
use crate::tools::{
    NOBODY, all_by_the_rules, as_nobody, can_mount, file, for_everybody, script_with_mounts,
    skipped, thinkers,
};

/// Games of the events of this file.
const GAMES: usize = 60;

fn event() -> Event {
    thinkers(2_000)
        .set("event", "games", &GAMES.to_string())
        .set("event", "jobs", "2")
}

/// Plays an event into folders of which one is on a small disk, until that is full; then makes room and plays it to its end.
/// `mounts` makes the disk, below `disk`, and puts the ballast on it. Returns the folder of the test: `code1` and `stderr1` are those of the first
/// run, `first` what it left; `code2`, `stderr2` and `second` those of the second.
fn filled(test: &str, event: &Event, mounts: &str) -> Option<Lab> {
    if !can_mount() {
        skipped(test, "no mount namespaces here");
        return None;
    }
    let lab = Lab::new();
    event.write(&lab, "event.toml");
    std::fs::create_dir(lab.path("disk")).expect("a folder");
    let script = format!(
        "{mounts}
        code=0; \"$HAKEM\" run event.toml --out disk/event >stdout1 2>stderr1 || code=$?
        echo $code >code1; cp -a disk/event first
        rm -f disk/ballast disk/event/records/ballast disk/event/logs/ballast
        code=0; \"$HAKEM\" run event.toml --out disk/event >stdout2 2>stderr2 || code=$?
        echo $code >code2; cp -a disk/event second"
    );
    script_with_mounts(&lab, &script);
    lab.assert_no_process_is_left();
    for name in ["stderr1", "stderr2"] {
        let said = file(&lab, name);
        assert!(!said.contains("panicked at"), "{said}");
    }
    Some(lab)
}

/// The first run stopped by the machine's fault, told `path` and the free space, and kept what it had committed; the second
/// played the rest.
#[track_caller]
fn assert_stopped_and_went_on(lab: &Lab, path: &str) {
    let said = file(lab, "stderr1");
    assert_eq!(file(lab, "code1").trim(), "3", "{said}");
    for words in [
        "no space left for",
        path,
        "KB are free",
        "make room and run again",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let first = lab.games("first");
    assert!(
        (1..GAMES).contains(&first.len()),
        "{} games: {said}",
        first.len()
    );
    assert_eq!(file(lab, "code2").trim(), "0", "{}", file(lab, "stderr2"));
    let second = all_by_the_rules(lab, "second", GAMES);
    for game in first {
        assert_eq!(text(&game, "verdict"), "rule", "{game}");
        assert!(
            second.contains(&game),
            "what was committed stays as it was: {game}"
        );
    }
}

#[test]
fn a_full_disk_of_the_results_stops_the_run_and_room_lets_it_go_on() {
    // Records and logs are elsewhere.
    let mounts = "mount -t tmpfs -o size=2m none disk; mkdir -p disk/event/records
        mount -t tmpfs -o size=20m none disk/event/records
        head -c 1990000 /dev/zero >disk/ballast";
    if let Some(lab) = filled(
        "a_full_disk_of_the_results_stops_the_run_and_room_lets_it_go_on",
        &event(),
        mounts,
    ) {
        assert_stopped_and_went_on(&lab, "disk/event/results.sqlite");
    }
}

#[test]
fn a_full_disk_of_the_records_stops_the_run_and_room_lets_it_go_on() {
    let mounts = "mount -t tmpfs -o size=20m none disk; mkdir -p disk/event/records
        mount -t tmpfs -o size=1m none disk/event/records
        head -c 900000 /dev/zero >disk/event/records/ballast";
    // Before there are results a folder of records has to be empty; the ballast comes when the run has begun.
    let mounts = mounts.replace(
        "head -c 900000 /dev/zero >disk/event/records/ballast",
        "(until [ -e disk/event/results.sqlite ]; do :; done; head -c 900000 /dev/zero >disk/event/records/ballast) &",
    );
    if let Some(lab) = filled(
        "a_full_disk_of_the_records_stops_the_run_and_room_lets_it_go_on",
        &event(),
        &mounts,
    ) {
        assert_stopped_and_went_on(&lab, "disk/event/records/r1.m");
        // No record is half there.
        for path in common::files_below(&lab.path("first/records")) {
            if path.ends_with("ballast") {
                continue;
            }
            let record = std::fs::read_to_string(&path).expect("a record is text");
            let last = record.lines().last().unwrap_or_default();
            assert!(
                record.ends_with('\n') && last.contains("\"result\""),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn a_full_disk_of_everything_stops_the_run_and_room_lets_it_go_on() {
    let mounts = "mount -t tmpfs -o size=2m none disk; head -c 1900000 /dev/zero >disk/ballast";
    if let Some(lab) = filled(
        "a_full_disk_of_everything_stops_the_run_and_room_lets_it_go_on",
        &event(),
        mounts,
    ) {
        assert_stopped_and_went_on(&lab, "disk/event/");
    }
}

#[test]
fn a_disk_that_is_full_at_any_moment_of_the_beginning_leaves_nothing_half() {
    let test = "a_disk_that_is_full_at_any_moment_of_the_beginning_leaves_nothing_half";
    if !can_mount() {
        return skipped(test, "no mount namespaces here");
    }
    let lab = Lab::new();
    thinkers(0).write(&lab, "event.toml");
    std::fs::create_dir(lab.path("disk")).expect("a folder");
    // From no room at all to room for everything, page by page.
    let script = "for free in $(seq 0 6 168); do
            mount -t tmpfs -o size=$((free + 4))k none disk; head -c 4096 /dev/zero >disk/ballast
            code=0; \"$HAKEM\" run event.toml --out disk/event >>out 2>>stderr || code=$?
            # The rest of the disk appears.
            mount -o remount,size=4m none disk
            again=0; \"$HAKEM\" run event.toml --out disk/event >>out 2>>stderr || again=$?
            games=$(\"$HAKEM\" games disk/event --format csv | grep -c rule) || :
            echo $free $code $again $games >>codes; umount disk
        done";
    script_with_mounts(&lab, script);
    let (codes, said) = (file(&lab, "codes"), file(&lab, "stderr"));
    let mut firsts = Vec::new();
    for line in codes.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, first, again, games] = words[..] else {
            panic!("{codes}")
        };
        assert_eq!((again, games), ("0", "2"), "{line} of\n{codes}\n{said}");
        firsts.push(first.to_owned());
    }
    // It fails by the disk and then it does not; nothing in between.
    firsts.dedup();
    assert_eq!(firsts, ["3", "0"], "{codes}\n{said}");
    assert!(!said.contains("damaged"), "{said}");
}

#[test]
fn a_full_disk_of_the_logs_cuts_the_logs_and_costs_no_game() {
    let event = Event::new("mangala")
        .set("event", "jobs", "2")
        .mock("noisy", &["--flood-stderr"])
        .mock("quiet", &[]);
    let mounts = "mount -t tmpfs -o size=20m none disk; mkdir -p disk/event/logs
        mount -t tmpfs -o size=64k none disk/event/logs";
    let Some(lab) = filled(
        "a_full_disk_of_the_logs_cuts_the_logs_and_costs_no_game",
        &event,
        mounts,
    ) else {
        return;
    };
    let said = file(&lab, "stderr1");
    assert_eq!(file(&lab, "code1").trim(), "0", "{said}");
    assert!(
        said.contains("warning: what a bot wrote to stderr could not be kept: "),
        "{said}"
    );
    assert!(
        said.contains("-noisy.log: No space left"),
        "it names the file: {said}"
    );
    all_by_the_rules(&lab, "first", 2);
    let logs = common::files_below(&lab.path("first/logs"));
    assert!(!logs.is_empty(), "what there was room for is kept");
}

#[test]
fn a_folder_on_a_disk_that_is_read_only_is_refused_before_any_game() {
    let test = "a_folder_on_a_disk_that_is_read_only_is_refused_before_any_game";
    if !can_mount() {
        return skipped(test, "no mount namespaces here");
    }
    let lab = Lab::new();
    let path = event().write(&lab, "event.toml");
    lab.run(&path);
    std::fs::create_dir(lab.path("new")).expect("a folder");
    let script = "for dir in event new; do mount --bind $dir $dir; mount -o remount,bind,ro $dir; done
        for dir in event new new/below; do
            code=0; \"$HAKEM\" run event.toml --out $dir 2>>stderr || code=$?; echo $dir $code >>codes
        done
        # What is there can be read all the same.
        \"$HAKEM\" games event --format json >games; \"$HAKEM\" verify event >verified";
    script_with_mounts(&lab, script);
    assert_eq!(
        file(&lab, "codes"),
        "event 2\nnew 2\nnew/below 2\n",
        "{}",
        file(&lab, "stderr")
    );
    let said = file(&lab, "stderr");
    for path in ["event", "new", "new/below"] {
        assert!(
            said.lines()
                .any(|line| line.starts_with("error: cannot write to") && line.contains(path)),
            "{path}: {said}"
        );
    }
    let games: Value = serde_json::from_str(&file(&lab, "games")).expect("JSON");
    assert_eq!(games.as_array().map(Vec::len), Some(GAMES));
}

#[test]
fn folders_of_somebody_else_are_refused_before_any_game() {
    let lab = Lab::new();
    if for_everybody(&lab).is_none() {
        return skipped(
            "folders_of_somebody_else_are_refused_before_any_game",
            "needs root",
        );
    }
    let bot = lab.path("mockbot");
    let bot = bot.to_str().expect("a path in UTF-8");
    let path = Event::new("mangala")
        .bot("one", &[bot])
        .bot("two", &[bot])
        .write(&lab, "event.toml");
    lab.run(&path);
    for (dir, mode) in [("shut", 0o555), ("dark", 0o000)] {
        std::fs::create_dir(lab.path(dir)).expect("a folder");
        std::fs::set_permissions(lab.path(dir), std::fs::Permissions::from_mode(mode))
            .expect("ours");
    }
    let before = lab.games("event");
    for dir in ["event", "shut", "shut/below", "dark", "dark/below"] {
        let args = [
            OsStr::new("run"),
            path.as_os_str(),
            OsStr::new("--out"),
            OsStr::new(dir),
        ];
        let ran = common::finish(as_nobody(&lab, &[], &args)).exits(2);
        ran.says(&["error: ", dir]);
    }
    assert_eq!(lab.games("event"), before);
    assert_ne!(NOBODY, "0");
}

#[test]
fn damaged_results_are_kept_and_it_says_how_to_go_on() {
    let lab = Lab::new();
    let path = thinkers(0).write(&lab, "event.toml");
    lab.run(&path);
    let results = lab.path("event/results.sqlite");
    let mut bytes = std::fs::read(&results).expect("the results");
    let half = bytes.len() / 2;
    for byte in &mut bytes[half..] {
        *byte ^= 0x5a;
    }
    std::fs::write(&results, &bytes).expect("they are spoilt");
    let run = [OsStr::new("run"), path.as_os_str()];
    for _ in 0..2 {
        lab.hakem(run).exits(2).says(&[
            "event/results.sqlite is damaged",
            "a copy was kept as",
            "results.sqlite.corrupt-1",
            "restore it from a backup, or start again with --fresh",
        ]);
        assert_eq!(
            std::fs::read(&results).expect("the results"),
            bytes,
            "it is not touched"
        );
    }
    let copies: Vec<_> = common::files_below(&lab.path("event"))
        .into_iter()
        .filter(|path| path.to_string_lossy().contains("corrupt"))
        .collect();
    assert_eq!(copies.len(), 1, "one damage, one copy: {copies:?}");
    assert_eq!(std::fs::read(&copies[0]).expect("a copy"), bytes);
    lab.hakem([OsStr::new("run"), path.as_os_str(), OsStr::new("--fresh")])
        .exits(0);
    all_by_the_rules(&lab, "event", 2);
    assert_eq!(
        std::fs::read(lab.path("event.1/results.sqlite")).expect("kept"),
        bytes
    );
}

#[test]
fn a_folder_in_the_place_of_the_results_is_refused() {
    let lab = Lab::new();
    let path = thinkers(0).write(&lab, "event.toml");
    std::fs::create_dir_all(lab.path("event/results.sqlite")).expect("a folder");
    lab.hakem([OsStr::new("run"), path.as_os_str()])
        .exits(2)
        .says(&["event/results.sqlite", "it is no file"]);
    for command in ["games", "standings"] {
        lab.hakem([command, "event"])
            .exits(2)
            .says(&["results.sqlite"]);
    }
}
