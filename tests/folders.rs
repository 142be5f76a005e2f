//! The results folder: what is in it, what is refused, and that nothing in it is ever lost.
#![cfg(feature = "runner")]

mod common;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Event, Lab, Ran, text};

fn event() -> Event {
    Event::new("mangala")
        .mock("one", &["--pick", "hash:1"])
        .mock("two", &["--pick", "hash:2"])
}

fn run_into(lab: &Lab, event: &Path, out: &OsStr) -> Ran {
    lab.hakem([
        OsStr::new("run"),
        event.as_os_str(),
        OsStr::new("--out"),
        out,
    ])
}

fn read(path: impl AsRef<Path>) -> Vec<u8> {
    std::fs::read(path).expect("the file is readable")
}

#[test]
fn the_folder_is_named_after_the_event_file_and_is_complete() {
    let lab = Lab::new();
    let file = event().write(&lab, "spring.toml");
    lab.run(&file);
    for name in ["results.sqlite", "records", "logs", "seed.json"] {
        assert!(lab.path("spring").join(name).exists(), "{name}");
    }
    let games = lab.games("spring");
    common::assert_ids(&games, &["r1.m1.g1", "r1.m2.g1"]);
    for game in &games {
        let record = lab.path("spring").join(text(game, "record"));
        assert!(record.exists(), "{}", record.display());
        assert!(!text(game, "record_hash").is_empty(), "{game}");
    }
    let seed = String::from_utf8(read(lab.path("spring/seed.json"))).expect("JSON is text");
    assert!(seed.contains("42"), "{seed}");
}

#[test]
fn paired_matches_change_the_seats() {
    let lab = Lab::new();
    lab.run(&event().write(&lab, "event.toml"));
    let games = lab.games("event");
    assert_eq!(games[0]["seats"][0], games[1]["seats"][1]);
    assert_eq!(games[0]["seats"][1], games[1]["seats"][0]);
}

/// A run whose bots wait for us: it goes on for as long as the returned listener is not answered.
fn held(lab: &Lab) -> (PathBuf, UnixListener, std::process::Child) {
    let socket = lab.path("hold.sock");
    let listener = UnixListener::bind(&socket).expect("a socket is made");
    let socket = socket.to_string_lossy().into_owned();
    let file = Event::new("mangala")
        .set("clock", "ready", "\"300s\"")
        .set("event", "jobs", "1")
        .mock("one", &["--hold", &socket])
        .mock("two", &[])
        .write(lab, "event.toml");
    let child = lab
        .command([OsStr::new("run"), file.as_os_str()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakem starts");
    (file, listener, child)
}

/// Holds no bot any longer, however often one is started.
fn release(listener: UnixListener) {
    std::thread::spawn(move || listener.incoming().for_each(drop));
}

#[test]
fn a_second_run_on_the_same_folder_is_refused() {
    let lab = Lab::new();
    let (file, listener, mut first) = held(&lab);
    // The bot has been started: the folder is in use.
    let bot = common::accept_while_running(&listener, &first).expect("the bot is started");
    assert!(
        !lab.path("event/seed.json").exists(),
        "the seed is told only when every match is done"
    );
    let pid = first.id().to_string();
    lab.hakem([OsStr::new("run"), file.as_os_str()])
        .exits(2)
        .says(&["event", &pid]);
    lab.hakem([OsStr::new("run"), file.as_os_str(), OsStr::new("--fresh")])
        .exits(2);
    // Readers are not locked out.
    assert!(lab.games("event").is_empty());
    drop(bot);
    release(listener);
    assert!(first.wait().expect("the first run ends").success());
    assert_eq!(lab.games("event").len(), 2);
    assert!(lab.path("event/seed.json").exists());
}

#[test]
fn a_lock_of_a_dead_run_is_no_lock() {
    let lab = Lab::new();
    let (file, listener, mut first) = held(&lab);
    let bot = common::accept_while_running(&listener, &first).expect("the bot is started");
    first.kill().expect("the run is killed");
    first.wait().expect("the run is waited for");
    drop(bot);
    lab.assert_no_process_is_left();
    release(listener);
    lab.run(&file);
    assert_eq!(lab.games("event").len(), 2);
}

#[test]
fn a_changed_event_is_refused_with_the_list_of_changes() {
    let lab = Lab::new();
    lab.run(&event().write(&lab, "event.toml"));
    let before = lab.games("event");
    let changes: [(&str, Event, &[&str]); 5] = [
        ("seed", event().set("event", "seed", "43"), &["seed"]),
        ("a rule", event().set("rules", "sets", "3"), &["sets"]),
        (
            "a limit of time",
            event().set("clock", "move", "\"9s\""),
            &["move"],
        ),
        (
            "the number of games",
            event().set("event", "games", "4"),
            &["games"],
        ),
        (
            "a bot's command",
            Event::new("mangala")
                .mock("one", &["--pick", "hash:1"])
                .mock("two", &["--pick", "hash:3"]),
            &["two"],
        ),
    ];
    for (what, changed, named) in changes {
        let file = changed.write(&lab, "event.toml");
        let ran = lab.hakem([OsStr::new("run"), file.as_os_str()]);
        assert_eq!(ran.code, Some(2), "{what}: {ran}");
        ran.exits(2).says(named).says(&["--fresh"]);
        assert_eq!(lab.games("event"), before, "nothing was touched");
    }
    // The name and the number of games at once are no part of what is played.
    let file = event()
        .set("event", "name", "\"another name\"")
        .set("event", "jobs", "1")
        .write(&lab, "event.toml");
    lab.run(&file);
    assert_eq!(lab.games("event"), before);
}

#[test]
fn a_changed_file_of_a_bot_is_refused() {
    let lab = Lab::new();
    let mock = common::mockbot_path();
    let script = |seed: u32| format!("#!/bin/sh\nexec {} --pick hash:{seed}\n", mock.display());
    std::fs::create_dir(lab.path("bot")).expect("a folder for the bot is made");
    let program = lab.write("bot/run.sh", script(1));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("the bot may be executed");
    let file = Event::new("mangala")
        .bot("shell", &["./run.sh"])
        .with("dir = \"bot\"")
        .mock("two", &[])
        .write(&lab, "event.toml");
    lab.run(&file);
    lab.run(&file);
    lab.write("bot/run.sh", script(2));
    lab.hakem([OsStr::new("run"), file.as_os_str()])
        .exits(2)
        .says(&["shell", "run.sh"]);
}

#[test]
fn fresh_renames_the_old_folder() {
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    lab.run(&file);
    let before = lab.games("event");
    let changed = event().set("event", "seed", "7").write(&lab, "event.toml");
    for number in ["1", "2"] {
        let fresh = [
            OsStr::new("run"),
            changed.as_os_str(),
            OsStr::new("--fresh"),
        ];
        lab.hakem(fresh).exits(0);
        assert!(lab.path(format!("event.{number}")).exists());
    }
    assert_eq!(lab.games("event.1"), before, "nothing is ever deleted");
    assert_eq!(lab.games("event").len(), 2);
    lab.verify_records("event.1");
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    lab.write("taken", "mine");
    run_into(&lab, &file, OsStr::new("taken"))
        .exits(2)
        .says(&["taken"]);
    assert_eq!(read(lab.path("taken")), b"mine");
    run_into(&lab, &file, OsStr::new("taken/below"))
        .exits(2)
        .says(&["taken"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_any_game() {
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    // Nobody, not even root, makes a folder there.
    run_into(&lab, &file, OsStr::new("/proc/hakem-test"))
        .exits(2)
        .says(&["/proc/hakem-test"]);
    if !rustix::process::geteuid().is_root() {
        std::fs::create_dir(lab.path("shut")).expect("a folder is made");
        let mode = std::fs::Permissions::from_mode(0o555);
        std::fs::set_permissions(lab.path("shut"), mode).expect("the folder is shut");
        run_into(&lab, &file, OsStr::new("shut/out"))
            .exits(2)
            .says(&["shut"]);
    }
}

/// The results file of a finished event is put into this state; every command refuses it and leaves it as it is.
#[track_caller]
fn refuses_results(spoil: impl Fn(&Path)) {
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    lab.run(&file);
    let results = lab.path("event/results.sqlite");
    for rest in ["results.sqlite-wal", "results.sqlite-shm"] {
        let _ = std::fs::remove_file(lab.path("event").join(rest));
    }
    spoil(&results);
    let spoilt = read(&results);
    let ran = lab.hakem([OsStr::new("run"), file.as_os_str()]).exits(2);
    ran.says(&["results.sqlite"]);
    for command in ["games", "standings"] {
        lab.hakem([command, "event"])
            .exits(2)
            .says(&["results.sqlite"]);
    }
    assert_eq!(read(&results), spoilt, "it is never overwritten");
}

#[test]
fn a_results_file_that_is_no_database_is_refused() {
    refuses_results(|path| std::fs::write(path, "game,score\n1,1\n").expect("it is spoilt"));
}

#[test]
fn a_cut_results_file_is_refused() {
    refuses_results(|path| {
        let bytes = read(path);
        std::fs::write(path, &bytes[..bytes.len() / 2]).expect("it is spoilt");
    });
}

#[test]
fn a_results_file_with_broken_pages_is_refused() {
    refuses_results(|path| {
        let mut bytes = read(path);
        // All but the first page, which holds the header and the schema.
        for byte in &mut bytes[4096..] {
            *byte = 0xa5;
        }
        std::fs::write(path, bytes).expect("it is spoilt");
    });
}

#[test]
fn a_database_of_another_program_is_refused() {
    refuses_results(|path| {
        std::fs::remove_file(path).expect("the old one is removed");
        let other = rusqlite::Connection::open(path).expect("a database is made");
        other
            .execute_batch("PRAGMA user_version = 77; CREATE TABLE songs (title TEXT);")
            .expect("it has a table");
    });
}

#[test]
fn a_folder_without_results_is_named() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("empty")).expect("a folder is made");
    for command in ["games", "standings"] {
        for dir in ["empty", "missing"] {
            lab.hakem([command, dir]).exits(2).says(&[dir]);
        }
    }
    lab.hakem(["show", "missing", "r1.m1.g1"])
        .exits(2)
        .says(&["missing"]);
}
