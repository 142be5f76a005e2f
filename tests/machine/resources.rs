//! Too few files, processes or cores; a stdout that takes nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::process::Stdio;

use crate::common::{self, Event, Lab};
use crate::tools::{NOBODY, all_by_the_rules, as_nobody, for_everybody, has, skipped, thinkers};

#[test]
fn with_few_open_files_fewer_games_are_played_at_once() {
    if !has("prlimit") {
        skipped(
            "with_few_open_files_fewer_games_are_played_at_once",
            "no prlimit",
        );
        return;
    }
    for files in [24, 32, 48, 100] {
        let lab = Lab::new();
        let file = thinkers(0)
            .set("event", "games", "6")
            .set("event", "jobs", "20")
            .write(&lab, "event.toml");
        let mut command = std::process::Command::new("prlimit");
        command
            .arg(format!("--nofile={files}:{files}"))
            .arg(common::hakem_path())
            .args([OsStr::new("run"), file.as_os_str()])
            .current_dir(lab.path("."))
            .envs(lab.mark());
        let ran = common::finish(command);
        lab.assert_no_process_is_left();
        match ran.code {
            Some(0) => {
                ran.exits(0)
                    .says(&["open files and the system allows", "at once"]);
                all_by_the_rules(&lab, "event", 6);
            }
            // Too few even for one game: it says of what.
            Some(3) if files < 40 => {
                ran.exits(3).says(&["open files"]);
            }
            _ => panic!("{files} files: {ran}"),
        }
        // With enough of them the same command plays the rest.
        lab.run(&file);
        all_by_the_rules(&lab, "event", 6);
    }
}

#[test]
fn where_no_process_can_be_started_the_game_is_void_and_nobody_has_lost() {
    let lab = Lab::new();
    if for_everybody(&lab).is_none() {
        skipped(
            "where_no_process_can_be_started_the_game_is_void_and_nobody_has_lost",
            "needs root",
        );
        return;
    }
    let bot = lab.path("mockbot");
    let bot = bot.to_str().expect("a path in UTF-8");
    let file = Event::new("mangala")
        .set("event", "jobs", "1")
        .bot("one", &[bot])
        .bot("two", &[bot, "--pick", "last"])
        .write(&lab, "event.toml");
    let run = [OsStr::new("run"), file.as_os_str()];
    // The program itself is three threads: this one, one for games and one for results.
    let ran = common::finish(as_nobody(&lab, &["prlimit", "--nproc=3:3"], &run))
        .exits(3)
        .says(&[
            "could not be started",
            "void three times in a row",
            "goes on from here",
        ]);
    assert!(!ran.stderr.contains("forfeit"), "{ran}");
    lab.assert_no_process_is_left();
    let games = lab.games("event");
    assert!(
        games.iter().all(|game| game["verdict"] == "void"),
        "{games:?}"
    );
    // Not even the threads.
    common::finish(as_nobody(&lab, &["prlimit", "--nproc=1:1"], &run))
        .exits(3)
        .says(&["error: "]);
    common::finish(as_nobody(&lab, &[], &run)).exits(0);
    all_by_the_rules(&lab, "event", 2);
    let owner =
        std::os::unix::fs::MetadataExt::uid(&lab.path("event").metadata().expect("a folder"));
    assert_eq!(owner.to_string(), NOBODY);
}

#[test]
fn four_times_as_many_games_as_cores_cost_no_honest_bot_a_game() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let jobs = 4 * cores;
    let lab = Lab::new();
    let file = thinkers(1_000)
        .set("event", "games", &(2 * jobs).to_string())
        .set("event", "jobs", &jobs.to_string())
        .set("clock", "move", "\"500ms\"")
        .set("clock", "main", "\"20s\"")
        .write(&lab, "event.toml");
    lab.run(&file)
        .says(&["games at once on", "bots will wait for a core"]);
    all_by_the_rules(&lab, "event", 2 * jobs);
}

/// A run whose stdout is this one.
fn with_stdout(lab: &Lab, args: &[&OsStr], stdout: Stdio) -> common::Ran {
    let child = lab
        .command(args)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("hakem starts");
    common::collect(child, format!("{args:?}"))
}

#[test]
fn a_stdout_that_takes_nothing_costs_no_game() {
    let lab = Lab::new();
    let file = thinkers(0)
        .set("event", "games", "20")
        .write(&lab, "event.toml");
    let run = [OsStr::new("run"), file.as_os_str()];
    // A disk that is full: the games are played and kept, the standings cannot be written, which is said.
    let full = || {
        Stdio::from(
            File::options()
                .write(true)
                .open("/dev/full")
                .expect("a full device"),
        )
    };
    with_stdout(&lab, &run, full())
        .exits(3)
        .says(&["o space left"]);
    all_by_the_rules(&lab, "event", 20);
    for command in ["games", "standings"] {
        for format in ["table", "json", "csv", "markdown"] {
            let args = [command, "event", "--format", format].map(OsStr::new);
            with_stdout(&lab, &args, full())
                .exits(3)
                .says(&["o space left"]);
        }
    }
    // A reader that goes away, before and after the first line.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    with_stdout(&lab, &run, Stdio::from(writer)).exits(0);
    let script = "\"$0\" games event | head -n 1; \"$0\" standings event --format json | head -n 1; \
                  \"$0\" games event >&-; \"$0\" run event.toml >&- 2>&-; echo \"ended with $?\"";
    let output = std::process::Command::new("bash")
        .args(["-o", "pipefail", "-euc", script])
        .arg(common::hakem_path())
        .current_dir(lab.path("."))
        .envs(lab.mark())
        .output()
        .expect("bash starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{}: {said}",
        output.status
    );
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.ends_with("ended with 0\n"), "{shown}");
    // With the results only: nothing is said twice.
    all_by_the_rules(&lab, "event", 20);
}
