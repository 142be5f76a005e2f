//! A run that was interrupted or killed goes on where it stopped: at the end every game stands there exactly once, and
//! all is as in a run that nothing disturbed, whatever the number of games at once.
//!
//! `HAKEM_TEST_KILLS` sets how often the run is killed (12; 200 with `HAKEM_TEST_FULL=1`), `HAKEM_TEST_SEED` when.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Event, Lab, Lots, text};
use rustix::process::Signal;
use serde_json::Value;

/// Four built-in bots, all of them functions of the turn.
fn event(game: &str, games: u32) -> Event {
    Event::new(game)
        .set("event", "games", &games.to_string())
        .set("event", "opening_plies", "2")
        .set("event", "jobs", "2")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .builtin("cem", "greedy")
        .builtin("dora", "random")
}

fn mangala() -> Event {
    event("mangala", 16).set("rules", "sets", "3")
}

fn tavla() -> Event {
    event("tavla", 4).set("rules", "match_length", "3")
}

/// Whether a field may differ between two runs of one event: times, and the hashes of records that hold times.
fn may_differ(key: &str) -> bool {
    // A count of forfeits, not a time.
    key != "timeout"
        && ["time", "cpu", "wall", "hash"]
            .iter()
            .any(|word| key.contains(word))
}

/// A result without what may differ.
fn stable(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(stable).collect(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !may_differ(key))
            .map(|(key, value)| (key.clone(), stable(value)))
            .collect(),
        other => other.clone(),
    }
}

/// The games and standings of a folder, comparable.
#[track_caller]
fn results(lab: &Lab, dir: &str) -> (Vec<Value>, Value) {
    let games = lab.games(dir);
    let ids: BTreeSet<&str> = games.iter().map(|game| text(game, "id")).collect();
    assert_eq!(ids.len(), games.len(), "every game exactly once");
    for game in &games {
        assert!(
            matches!(text(game, "verdict"), "rule" | "resigned" | "adjudicated"),
            "{game}"
        );
    }
    let games = games.iter().map(stable).collect();
    (games, stable(&lab.standings(dir)))
}

#[track_caller]
fn assert_same(found: &(Vec<Value>, Value), expected: &(Vec<Value>, Value)) {
    for (found, expected) in found.0.iter().zip(&expected.0) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.0.len(), expected.0.len(), "the number of games");
    assert_eq!(found.1, expected.1, "the standings");
}

/// The run of an event into a folder, started.
fn start(lab: &Lab, event: &Path, dir: &str) -> Child {
    lab.command([
        OsStr::new("run"),
        event.as_os_str(),
        OsStr::new("--out"),
        OsStr::new(dir),
    ])
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .expect("hakem starts")
}

/// Plays the event undisturbed; how long it took.
#[track_caller]
fn undisturbed(lab: &Lab, event: &Path, dir: &str) -> Duration {
    let begin = Instant::now();
    let run = [
        OsStr::new("run"),
        event.as_os_str(),
        OsStr::new("--out"),
        OsStr::new(dir),
    ];
    lab.hakem(run).exits(0);
    begin.elapsed()
}

/// A moment between a hundredth of the whole and a third of it.
fn moment(lots: &mut Lots, whole: Duration) -> Duration {
    let parts = u32::try_from(lots.below(970)).expect("below 970");
    whole * (30 + parts) / 3000
}

#[track_caller]
fn survives_kills(event: &Event, kills: u64) {
    let lab = Lab::new();
    let file = event.write(&lab, "event.toml");
    let whole = undisturbed(&lab, &file, "whole");
    let expected = results(&lab, "whole");
    let mut lots = Lots::new(common::env_number("HAKEM_TEST_SEED", 7));
    let mut left = kills;
    let mut folder = 0;
    while left > 0 {
        folder += 1;
        let dir = format!("killed{folder}");
        // Kills until the event is complete or all were used; a complete one is checked and the next folder begun.
        loop {
            let mut run = start(&lab, &file, &dir);
            let time = if left == 0 {
                common::HANG
            } else {
                moment(&mut lots, whole)
            };
            let ended = common::ends_within(&run, time);
            if !ended {
                run.kill().expect("the run is killed");
                assert!(left > 0, "the last run hangs");
                left -= 1;
            }
            let status = run.wait().expect("the run is waited for");
            // Bots see the end of their input, or are ended with the referee.
            lab.assert_no_process_is_left();
            if ended {
                assert!(status.success(), "a resumed run ended with {status}");
                break;
            }
        }
        assert_same(&results(&lab, &dir), &expected);
        lab.verify_records(&dir);
        let records = common::files_below(&lab.path(&dir).join("records"));
        assert_eq!(
            records.len(),
            expected.0.len(),
            "no record of a dropped game is left"
        );
    }
}

/// How often runs are killed.
fn kills() -> u64 {
    common::env_number("HAKEM_TEST_KILLS", if common::full() { 200 } else { 12 })
}

#[test]
fn mangala_survives_kills() {
    survives_kills(&mangala(), kills());
}

#[test]
fn tavla_survives_kills() {
    survives_kills(&tavla(), kills().div_ceil(2));
}

/// Of a game that is played again the evaluations are counted from its beginning.
#[test]
fn an_event_whose_own_rules_end_games_survives_kills() {
    // Counted over a match of three games: it gives up in one of the later ones.
    let late = format!("{}-9", "0;".repeat(20));
    let event = Event::new("mangala")
        .set("event", "games", "8")
        .set("event", "opening_plies", "3")
        .set("event", "jobs", "2")
        .set("rules", "sets", "3")
        .set("adjudication", "resign_eval", "8.0")
        .set("adjudication", "resign_moves", "2")
        .set("adjudication", "max_moves", "24")
        .mock("anna", &["--evals", "9", "--pick", "hash:1"])
        .mock("bela", &["--evals", &late, "--pick", "hash:2"])
        .mock("cem", &["--pick", "hash:3"]);
    let lab = Lab::new();
    undisturbed(&lab, &event.write(&lab, "event.toml"), "whole");
    let reasons: BTreeSet<String> = lab
        .games("whole")
        .iter()
        .filter(|game| text(game, "verdict") == "adjudicated")
        .filter_map(|game| text(game, "reason").split(':').next().map(str::to_owned))
        .collect();
    let both = ["max_moves", "resign_eval"].map(str::to_owned);
    assert_eq!(reasons, BTreeSet::from(both));
    survives_kills(&event, kills().div_ceil(3));
}

#[test]
fn kills_in_the_first_moments_leave_a_folder_that_goes_on() {
    // While the folder is made, the lock is taken, the first bots are started.
    let lab = Lab::new();
    let file = event("mangala", 2).write(&lab, "event.toml");
    undisturbed(&lab, &file, "whole");
    let expected = results(&lab, "whole");
    let mut lots = Lots::new(common::env_number("HAKEM_TEST_SEED", 3));
    for folder in 0..kills() {
        let dir = format!("killed{folder}");
        for _ in 0..3 {
            let mut run = start(&lab, &file, &dir);
            if !common::ends_within(&run, Duration::from_micros(2_000 + lots.below(58_000))) {
                run.kill().expect("the run is killed");
            }
            let status = run.wait().expect("the run is waited for");
            // It was killed, or it was quicker; it never refused to go on.
            assert!(matches!(status.code(), None | Some(0)), "{status}");
        }
        // At once, with whatever the killed ones left behind them.
        undisturbed(&lab, &file, &dir);
        assert_same(&results(&lab, &dir), &expected);
        lab.assert_no_process_is_left();
        std::fs::remove_dir_all(lab.path(&dir)).expect("the folder is removed");
    }
}

#[test]
fn the_number_of_games_at_once_changes_nothing() {
    for event in [mangala(), tavla()] {
        let lab = Lab::new();
        let file = event.write(&lab, "event.toml");
        let mut first = None;
        for jobs in ["1", "2", "5", "16"] {
            let dir = format!("jobs{jobs}");
            let run = [
                OsStr::new("run"),
                file.as_os_str(),
                OsStr::new("--out"),
                OsStr::new(&dir),
                OsStr::new("--jobs"),
                OsStr::new(jobs),
            ];
            lab.hakem(run).exits(0);
            let found = results(&lab, &dir);
            assert_same(&found, first.get_or_insert_with(|| found.clone()));
        }
    }
}

#[test]
fn a_finished_run_is_not_played_again() {
    let lab = Lab::new();
    let file = mangala().write(&lab, "event.toml");
    lab.run(&file);
    let first = lab.games("event");
    lab.run(&file);
    // With times and hashes: nothing was touched.
    assert_eq!(lab.games("event"), first);
}

/// Interrupts a run in its middle; `None` if it had ended before.
fn interrupted(lab: &Lab, file: &Path, dir: &str, signal: Signal, after: Duration) -> Option<i32> {
    let mut run = start(lab, file, dir);
    if common::ends_within(&run, after) {
        assert!(run.wait().expect("the run is waited for").success());
        return None;
    }
    rustix::process::kill_process(common::pid_of(&run), signal).expect("the run is signalled");
    let ended = common::ends_within(&run, Duration::from_secs(60));
    if !ended {
        run.kill().expect("a deaf run is killed");
    }
    let status = run.wait().expect("the run is waited for");
    assert!(ended, "an interrupt ends the run");
    lab.assert_no_process_is_left();
    Some(status.code().expect("it ends by itself, not by the signal"))
}

#[test]
fn an_interrupt_keeps_what_was_played() {
    let lab = Lab::new();
    let file: PathBuf = mangala().write(&lab, "event.toml");
    let whole = undisturbed(&lab, &file, "whole");
    let expected = results(&lab, "whole");
    for signal in [Signal::INT, Signal::TERM] {
        // Earlier and earlier, should the run be faster than the one that was timed.
        let (dir, part) = (2..12)
            .find_map(|share| {
                let dir = format!("{}-{share}", signal.as_raw());
                let code = interrupted(&lab, &file, &dir, signal, whole / share)?;
                assert_eq!(code, 130);
                let kept = lab.path(&dir).join("results.sqlite");
                assert!(kept.exists(), "what was played is kept");
                let part: Vec<Value> = lab.games(&dir).iter().map(stable).collect();
                (part.len() < expected.0.len()).then_some((dir, part))
            })
            .expect("a run is not complete after a twelfth of its time");
        for game in &part {
            assert!(
                expected.0.contains(game),
                "a kept game is that of the whole run: {game}"
            );
        }
        undisturbed(&lab, &file, &dir);
        assert_same(&results(&lab, &dir), &expected);
        lab.verify_records(&dir);
    }
}

/// What is left is said below the table, and only there; once all is played nothing is said.
#[test]
fn the_standings_of_an_interrupted_event_say_how_much_is_played() {
    let lab = Lab::new();
    let event = mangala()
        .set("event", "max_time", "\"1ms\"")
        .set("event", "jobs", "1");
    let file = event.write(&lab, "event.toml");
    let ran = lab.hakem([OsStr::new("run"), file.as_os_str()]).exits(0);
    let played = |words: &str| {
        let line = words.lines().find(|line| line.contains(" matches played."));
        line.and_then(|line| line.trim().strip_suffix(" of 96 matches played."))
            .and_then(|count| count.parse::<usize>().ok())
    };
    let count = played(&ran.stdout).unwrap_or_else(|| panic!("nothing is said: {ran}"));
    assert!(count < 96);
    let table = lab.hakem(["standings", "event"]).exits(0);
    assert_eq!(played(&table.stdout), Some(count), "{table}");
    let csv = lab
        .hakem(["standings", "event", "--format", "csv"])
        .exits(0);
    assert!(!csv.stdout.contains("matches played"), "{csv}");
    let whole = Event::new("mangala")
        .builtin("a", "greedy")
        .builtin("b", "random");
    let ran = lab.run(&whole.write(&lab, "whole.toml"));
    let table = lab.hakem(["standings", "whole"]).exits(0);
    assert!(
        !format!("{ran}{table}").contains("matches played."),
        "{ran}{table}"
    );
}

#[test]
fn a_bot_paired_with_itself_scores_exactly_equal() {
    let games = [
        event("mangala", 8).set("rules", "sets", "2"),
        event("tavla", 8).set("rules", "match_length", "1"),
    ];
    for event in games {
        let lab = Lab::new();
        let file = event.write(&lab, "event.toml");
        lab.run(&file);
        let games = lab.games("event");
        // anna and cem are the same deterministic bot.
        let own: Vec<&Value> = common::of_bot(&games, "anna")
            .into_iter()
            .filter(|game| {
                game["seats"]
                    .as_array()
                    .is_some_and(|seats| seats.iter().any(|seat| seat == "cem"))
            })
            .collect();
        assert!(own.len() >= 8, "{} games", own.len());
        let score = |bot: &str| -> f64 {
            own.iter()
                .map(|game| {
                    let seat = usize::from(game["seats"][1] == bot);
                    game["score"][seat].as_f64().expect("a score is a number")
                })
                .sum()
        };
        assert!(
            (score("anna") - score("cem")).abs() < 1e-9,
            "{} to {}",
            score("anna"),
            score("cem")
        );
    }
}

// ---- Formats whose next round depends on results --------------------------------------------------------------------

/// Five bots that differ, few matches.
fn of_format(format: &str) -> Event {
    Event::new("mangala")
        .set("event", "format", &format!("\"{format}\""))
        .set("event", "opening_plies", "2")
        .set("event", "jobs", "2")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .builtin("cem", "kuyu")
        .builtin("dora", "random")
        .builtin("emil", "greedy")
}

#[test]
fn a_swiss_event_survives_kills() {
    let event = of_format("swiss")
        .set("event", "rounds", "4")
        .set("rules", "sets", "3");
    survives_kills(&event, kills().div_ceil(2));
}

#[test]
fn a_knockout_survives_kills() {
    survives_kills(
        &of_format("knockout")
            .set("event", "games", "4")
            .set("rules", "sets", "5"),
        kills().div_ceil(2),
    );
}

#[test]
fn groups_survive_kills() {
    survives_kills(
        &of_format("groups").set("rules", "sets", "3"),
        kills().div_ceil(2),
    );
}

#[test]
fn a_ladder_survives_kills() {
    let event = of_format("ladder")
        .set("event", "rounds", "4")
        .set("rules", "sets", "3");
    survives_kills(&event, kills().div_ceil(2));
}
