//! Games whose rules are a program: everything that an event does works with them, and a program that fails costs no bot
//! anything.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;

use common::{Event, Lab, accept_while_running, files_below, pid_of, text};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

/// A file of the package.
fn ours(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(path).expect("a file of the package")
}

/// A folder with the example of the documentation.
fn pig() -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("pig")).expect("a folder");
    for file in ["pig/game.py", "pig/bot.py", "pig-event.toml"] {
        lab.write(file, ours(&format!("examples/{file}")));
    }
    lab
}

/// A folder with the rules of Sticks.
fn sticks() -> Lab {
    let lab = Lab::new();
    lab.write("game.py", ours("tests/games/sticks.py"));
    lab
}

/// Built-in bots at Sticks; what is in `fault.txt` goes wrong.
fn event() -> Event {
    Event::new("")
        .set(
            "event",
            "game",
            "{ command = [\"python3\", \"game.py\"], timeout = \"30s\" }",
        )
        .set("event", "jobs", "1")
        .builtin("anna", "random")
        .builtin("bela", "first")
}

/// The lines of a record of this kind, in order.
fn lines(lab: &Lab, record: &str, kind: &str) -> Vec<Value> {
    let record = std::fs::read_to_string(lab.path(record)).expect("a record");
    let line = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    record
        .lines()
        .map(line)
        .filter_map(|mut line| line.get_mut(kind).map(Value::take))
        .collect()
}

#[test]
fn the_example_is_played_shown_and_verified() {
    let lab = pig();
    lab.hakem(["run", "pig-event.toml"]).exits(0);
    let games = lab.games("pig-event");
    assert_eq!(games.len(), 30);
    for game in &games {
        assert_eq!(
            (text(game, "verdict"), text(game, "reason")),
            ("rule", "target")
        );
        let points = game["points"].as_array().expect("points");
        assert!(
            points.iter().any(|points| points.as_u64() >= Some(50)),
            "{game}"
        );
    }
    let first = &lab.standings("pig-event")[0];
    assert_ne!(text(first, "name"), "random", "whoever holds beats chance");
    let verified = lab.hakem(["verify", "pig-event"]).exits(0);
    assert_eq!(verified.stdout.matches("ok, ").count(), 30);
    assert_eq!(verified.stdout.matches("dice checked").count(), 30);
    let shown = lab
        .hakem(["show", "pig-event", "r1.m1.g1"])
        .exits(0)
        .stays_plain();
    assert!(shown.stdout.contains("  and ") && shown.stdout.contains("on the table"));
    assert!(shown.stdout.contains("drawn: "), "{shown}");
    let why = lab
        .hakem(["show", "pig-event", "r1.m1.g1", "--explain"])
        .exits(0);
    assert!(
        why.stdout.contains("it ended by the rules: target"),
        "{why}"
    );
    lab.hakem([
        "report",
        "pig-event",
        "--markdown",
        "a.md",
        "--junit",
        "a.xml",
    ])
    .exits(0);
    // It is played already.
    lab.hakem(["run", "pig-event.toml"]).exits(0);
    let about = &lines(&lab, "pig-event/records/r1.m1.g1.jsonl", "header")[0]["about"]["rules"];
    assert_eq!(about["command"], serde_json::json!(["python3", "game.py"]));
    let asked = lab
        .hakem([
            "replay",
            "pig-event/records/r1.m1.g1.jsonl",
            "--turn",
            "2",
            "builtin:random",
        ])
        .exits(0);
    assert!(
        asked.stdout.contains("roll") || asked.stdout.contains("hold"),
        "{asked}"
    );
    lab.assert_no_process_is_left();
}

/// The commands of the README are typed as they stand there: no folder of results is in the way of an example.
#[test]
fn every_example_can_be_run_without_another_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let events: Vec<_> = std::fs::read_dir(&folder)
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    assert!(events.len() >= 4);
    let lab = Lab::new();
    for event in events {
        let event = event.to_str().expect("UTF-8");
        lab.hakem(["run", event, "--dry-run"]).exits(0);
    }
}

#[test]
fn paired_games_have_the_same_chance_seat_by_seat() {
    let lab = pig();
    let one = "command = [\"python3\", \"pig/bot.py\"]";
    lab.write(
        "twins.toml",
        format!(
            "[event]\ngame = {{ dir = \"pig\", command = [\"python3\", \"game.py\"] }}\nseed = 7\ngames = 6\n\
             [limits]\nsandbox = \"none\"\n[[bot]]\nname = \"one\"\n{one}\n[[bot]]\nname = \"two\"\n{one}\noptions = {{ limit = 8 }}\n\
             [[bot]]\nname = \"three\"\n{one}\n"
        ),
    );
    lab.hakem(["run", "twins.toml"]).exits(0);
    type Draws = BTreeMap<(Option<u64>, u64), Value>;
    let draws = |id: &str| -> Draws {
        lines(&lab, &format!("twins/records/{id}.g1.jsonl"), "drawn")
            .into_iter()
            .map(|drawn| {
                assert_eq!(drawn["kind"], "outcome");
                // Six faces of the same weight.
                assert_eq!(
                    drawn["value"].as_u64(),
                    drawn["lot"].as_u64().map(|lot| lot + 1)
                );
                let n = drawn["n"].as_u64().expect("a number");
                ((drawn["seat"].as_u64(), n), drawn["value"].clone())
            })
            .collect()
    };
    let mut common = 0;
    for pair in 0..9 {
        let [a, b] = [2 * pair + 1, 2 * pair + 2].map(|number| draws(&format!("r1.m{number}")));
        for (event, value) in &a {
            if let Some(other) = b.get(event) {
                assert_eq!(value, other, "{event:?} of pair {pair}");
                common += 1;
            }
        }
    }
    assert!(common > 50, "{common}");
    // Two bots that play alike win as often as they lose: each pair is split.
    let games = lab.games("twins");
    let alike: Vec<&Value> = games
        .iter()
        .filter(|game| {
            !game["seats"]
                .as_array()
                .expect("seats")
                .contains(&"two".into())
        })
        .collect();
    assert_eq!(alike.len(), 6);
    let wins = alike.iter().filter(|game| game["winner"] == "one").count();
    assert_eq!(wins, 3);
}

#[test]
fn a_program_that_fails_voids_the_game_and_no_bot_loses() {
    for (fault, words) in [
        (
            "crash",
            "ended with exit status 3 without an answer; its last words on stderr: Traceback",
        ),
        ("garbage", "cannot be read"),
        ("long", "longer than"),
        ("refuse", "refuses what it has listed"),
        ("nothing-legal", "`legal` is empty"),
        ("two-winners", "`winner` is 0, but `score` says"),
        ("no-state", "`state` is missing"),
        (
            "twice",
            "a line that nobody asked for: \"{\\\"state\\\": {\\\"left\\\"",
        ),
        ("chatter", "that nobody asked for: \"now it is seat 0\""),
        ("blank", "\"\""),
        ("legal-twice", "`legal` lists 1 twice, also as 1.0"),
        ("hang", "did not answer within 3s"),
    ] {
        let lab = sticks();
        lab.write("fault.txt", fault);
        let timeout = if fault == "hang" { "3s" } else { "30s" };
        let game = format!("{{ command = [\"python3\", \"game.py\"], timeout = \"{timeout}\" }}");
        let event = event()
            .set("event", "game", &game)
            .write(&lab, "event.toml");
        let ran = lab.hakem([std::ffi::OsStr::new("run"), event.as_os_str()]);
        let ran = ran
            .exits(3)
            .says(&["the program of the rules of `sticks` failed", words]);
        assert!(!ran.stderr.contains("bug of hakem"), "{ran}");
        let games = lab.games("event");
        assert!(!games.is_empty(), "{fault}");
        for game in &games {
            assert_eq!(text(game, "verdict"), "void", "{fault}: {game}");
            assert!(
                game["against"].is_null() && game["winner"].is_null(),
                "{game}"
            );
        }
        lab.assert_no_process_is_left();
        if fault == "crash" {
            let log = std::fs::read_to_string(lab.path("event/logs/rules.log")).expect("a log");
            assert!(log.contains("a bug in the rules"), "{log}");
            // The organiser mends it: its file is the same, and the event goes on.
            std::fs::remove_file(lab.path("fault.txt")).expect("it was there");
            lab.run(&event);
            let played = lab.games("event");
            let good = |game: &&Value| text(game, "verdict") == "rule";
            assert_eq!(played.iter().filter(good).count(), 2);
            assert_eq!(lab.verify_records("event"), 2);
        }
    }
}

/// A folder with the rules of Stay, and an event in which one bot stays for ever and the other does not.
fn stay(rules: &[(&str, &str)]) -> Lab {
    let lab = Lab::new();
    lab.write("game.py", ours("tests/games/stay.py"));
    let mut event = Event::new("")
        .set("event", "game", "{ command = [\"python3\", \"game.py\"] }")
        .set("event", "jobs", "1")
        .set("event", "seed", "1")
        .builtin("anna", "first")
        .builtin("bela", "first")
        .builtin("cem", "random");
    for (key, value) in rules {
        event = event.set("rules", key, value);
    }
    event.write(&lab, "event.toml");
    lab
}

#[test]
fn bots_that_play_without_an_end_draw_and_the_event_is_played() {
    // 20,000 moves and random events: 200 moves.
    let lab = stay(&[("spins", "99")]);
    lab.hakem(["run", "event.toml"]).exits(0);
    let games = lab.games("event");
    assert_eq!(games.len(), 6);
    let mut drawn = 0;
    for game in &games {
        assert_eq!(text(game, "verdict"), "rule", "{game}");
        let seats = game["seats"].as_array().expect("seats");
        if seats.contains(&"cem".into()) {
            assert_eq!(text(game, "reason"), "ended", "{game}");
            continue;
        }
        drawn += 1;
        assert_eq!(text(game, "reason"), "ply_cap", "{game}");
        assert!(game["winner"].is_null() && game["against"].is_null());
        assert_eq!(game["score"], serde_json::json!([0.5, 0.5]));
        // 200 stays: the points that stand.
        assert_eq!(game["points"], serde_json::json!([200 % 7, 3]));
        assert_eq!(game["moves"], 200);
    }
    assert_eq!(drawn, 2);
    assert_eq!(lab.verify_records("event"), 6);
    let shown = lab.hakem(["show", "event", "r1.m3.g1", "--explain"]);
    assert!(shown.exits(0).stdout.contains("ply_cap"));
}

#[test]
fn the_other_matches_are_played_when_one_is_given_up() {
    let lab = stay(&[("fails_at", "12")]);
    let ran = lab.hakem(["run", "event.toml"]).exits(3).says(&[
        "r1.m3.g1: the program of the rules of `stay` failed",
        "r1.m4.g1: the program of the rules of `stay` failed",
        "goes on from here",
    ]);
    assert_eq!(ran.stderr.matches(".g1 was void").count(), 6, "{ran}");
    let games = lab.games("event");
    let verdicts = |verdict: &str| {
        let of = games.iter().filter(|game| text(game, "verdict") == verdict);
        of.count()
    };
    assert_eq!((verdicts("void"), verdicts("rule")), (2, 4), "{games:?}");
    // Where none can be played it is not tried with all of them.
    let lab = stay(&[("fails_at", "1")]);
    let event = std::fs::read_to_string(lab.path("event.toml")).expect("the event");
    let event = event
        .replace("\"random\"", "\"first\"")
        .replace("games = 2\n", "games = 20\n");
    lab.write("many.toml", event);
    let ran = lab
        .hakem(["run", "many.toml"])
        .exits(3)
        .says(&["... and 10 more"]);
    assert_eq!(ran.stderr.matches(".g1 was void").count(), 3 * 20, "{ran}");
}

#[test]
fn what_is_wrong_with_the_start_names_the_field_and_the_question() {
    let lab = sticks();
    let event = event().write(&lab, "event.toml");
    let event = event.to_str().expect("a path");
    let start = r#"{"state":{"left":15,"turn":0},"turn":0,"ask":"move","legal":[1],"result":null}"#;
    let without = |part: &str, other: &str| {
        assert!(start.contains(part));
        start.replace(part, other)
    };
    for (answer, words) in [
        ("hi".to_owned(), "its answer \"hi\" cannot be read"),
        (
            without(r#","ask":"move""#, ""),
            "`ask` is \"move\" or \"chance\" while there is no result, not null",
        ),
        (
            without(r#""turn":0,"ask""#, r#""turn":9,"ask""#),
            "`turn` is a seat, 0 to 1, not 9",
        ),
        (
            without(r#"{"left":15,"turn":0}"#, r#""x""#),
            "`state` is an object, not \"x\"",
        ),
        (without("[1]", "[2,2.0]"), "`legal` lists 2 twice"),
        (
            r#"{"error":{"code":"bad_message","message":"no such luck"}}"#.to_owned(),
            "it answers with the error: no such luck",
        ),
    ] {
        lab.write("fault.txt", format!("start {answer}"));
        let game = ["--game", "python3 game.py"];
        let bots = ["builtin:random", "builtin:first"];
        for command in [
            &[&["check"], &game[..]].concat()[..],
            &[&["duel"], &game[..], &bots].concat(),
            &["run", event],
            &["check", event],
        ] {
            let ran = lab.hakem(command).exits(2).says(&[
                "the program of the rules gives no start: ",
                words,
                r#"(asked {"game":"sticks","rules":{"#,
                r#""moves":[],"first":0,"seats":2})"#,
            ]);
            assert!(!ran.stderr.contains("``"), "{ran}");
            if command.contains(&event) {
                ran.says(&["event.toml:3:8"]);
            }
        }
    }
    lab.assert_no_process_is_left();
}

#[test]
fn what_is_wrong_with_the_program_is_told_before_the_first_game() {
    let lab = sticks();
    let run = |event: Event| {
        let event = event.write(&lab, "event.toml");
        let ran = lab
            .hakem([std::ffi::OsStr::new("run"), event.as_os_str()])
            .exits(2);
        assert!(!lab.path("event").exists(), "{ran}");
        ran
    };
    let game = |game: &str| event().set("event", "game", game);
    run(game("{ command = [\"python3\", \"gone.py\"] }")).says(&[
        "gone.py",
        "missing",
        "event.toml:3:8",
    ]);
    run(game("{ command = [\"no-such-program\"] }")).says(&["no-such-program"]);
    run(game("{ }")).says(&["does not say what to start"]);
    run(game("{ dir = \".\" }")).says(&["game.toml"]);
    run(game("{ comand = [\"python3\"] }")).says(&["comand", "command"]);
    run(game(
        "{ command = [\"python3\", \"game.py\"], timeout = 5 }",
    ))
    .says(&["timeout", "5s"]);
    run(game("{ command = [\"cat\"] }"))
        .says(&["does not say what its game is", "`name` is missing"]);
    run(event().set("rules", "sticky", "3")).says(&["sticky", "sticks"]);
    run(event().set("rules", "most", "\"3\"")).says(&["most", "is text, not a number"]);
    run(event().set("event", "seats", "3")).says(&["seats"]);
    lab.write("fault.txt", "taken");
    run(event()).says(&["built-in game"]);
    lab.write("fault.txt", "silent");
    run(event()).says(&["exit status 7"]);
    lab.assert_no_process_is_left();
}

#[test]
fn a_changed_game_is_another_event() {
    let lab = sticks();
    let event = event().write(&lab, "event.toml");
    lab.run(&event);
    let games = lab.games("event");
    let whole = std::fs::read_to_string(lab.path("game.py")).expect("the rules");
    lab.write(
        "game.py",
        whole.replace("winner = 1 - turn", "winner = turn"),
    );
    lab.hakem(["run", "event.toml"])
        .exits(2)
        .says(&["game `sticks`: game.py has changed"]);
    // Records of the old rules do not hold under the new ones, and it is said why.
    lab.hakem(["verify", "event"])
        .exits(1)
        .says(&["the files of the rules are not those"]);
    lab.write("game.py", whole);
    lab.run(&event);
    assert_eq!(lab.games("event"), games);
    // A longer time to answer is no other game.
    let text = std::fs::read_to_string(&event).expect("the event");
    lab.write("event.toml", text.replace("30s", "40s"));
    lab.run(&event);
    // Another command is.
    lab.write(
        "event.toml",
        text.replace("\"python3\",", "\"python3\", \"-B\","),
    );
    lab.hakem(["run", "event.toml"])
        .exits(2)
        .says(&["game_program"]);
    lab.hakem(["run", "event.toml", "--fresh"]).exits(0);
}

#[test]
fn a_killed_run_goes_on_and_leaves_no_program_behind() {
    let lab = sticks();
    let event = event()
        .set("event", "games", "12")
        .set("event", "opening_plies", "2")
        .set("limits", "exit", "\"500ms\"");
    let event = event.write(&lab, "event.toml");
    lab.hakem(["run", "event.toml", "--out", "whole"]).exits(0);
    let gate = UnixListener::bind(lab.path("gate")).expect("a socket");
    let mut child = lab
        .command(["run", "event.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakem starts");
    // The program waits for ever now, deaf to the end of its input.
    let held = accept_while_running(&gate, &child);
    assert!(held.is_some(), "the rules were asked for a fifth game");
    kill_process(pid_of(&child), Signal::KILL).expect("it lives");
    child.wait().expect("it is ended");
    lab.assert_no_process_is_left();
    std::fs::remove_file(lab.path("gate")).expect("it was there");
    let before = lab.games("event").len();
    assert!(before < 12, "{before}");
    lab.run(&event);
    let stable = |dir: &str| -> Vec<(String, Value, Value)> {
        let games = lab.games(dir);
        let row = |game: &Value| {
            (
                text(game, "id").to_owned(),
                game["winner"].clone(),
                game["moves"].clone(),
            )
        };
        games.iter().map(row).collect()
    };
    assert_eq!(stable("event"), stable("whole"));
    assert_eq!(lab.verify_records("event"), 12);
}

#[test]
fn games_at_once_and_openings_give_the_same() {
    let lab = sticks();
    lab.write(
        "openings.jsonl",
        "{\"left\":9,\"turn\":0}\n{\"left\":10,\"turn\":1}\n",
    );
    let event = event()
        .set("event", "games", "8")
        .set("event", "openings", "\"openings.jsonl\"")
        .builtin("cem", "random")
        .write(&lab, "event.toml");
    lab.run(&event);
    lab.hakem(["run", "event.toml", "--out", "more", "--jobs", "5"])
        .exits(0);
    let rows = |dir: &str| -> Vec<Value> {
        let games = lab.games(dir);
        games.iter().map(|game| game["winner"].clone()).collect()
    };
    assert_eq!(rows("event"), rows("more"));
    let mut openings: Vec<u64> = (1..=24)
        .flat_map(|number| {
            lines(
                &lab,
                &format!("event/records/r1.m{number}.g1.jsonl"),
                "header",
            )
        })
        .filter_map(|header| header["opening"]["left"].as_u64())
        .collect();
    openings.sort_unstable();
    assert_eq!(openings, [[9; 12], [10; 12]].concat());
    lab.write("openings.jsonl", "{\"left\":\"nine\"}\n");
    lab.hakem(["run", "event.toml", "--fresh"])
        .exits(2)
        .says(&["left and turn are numbers"]);
}

#[test]
fn a_folder_of_elsewhere_starts_no_program_unasked() {
    let lab = sticks();
    let event = event().write(&lab, "event.toml");
    lab.run(&event);
    let copied = std::process::Command::new("cp")
        .args(["-r", "event", "copy"])
        .current_dir(lab.path(""))
        .status();
    assert!(copied.expect("cp runs").success());
    for command in [&["verify", "copy"][..], &["show", "copy", "r1.m1.g1"]] {
        lab.hakem(command).exits(2).says(&["--game"]);
        let named = [command, &["--game", "python3 game.py"]].concat();
        lab.hakem(named).exits(0);
    }
    // A record alone names no program either.
    std::fs::copy(
        lab.path("event/records/r1.m1.g1.jsonl"),
        lab.path("one.jsonl"),
    )
    .expect("a copy");
    let alone = lab.hakem(["verify", "one.jsonl"]).exits(1);
    assert!(alone.stdout.contains("--game"), "{alone}");
    lab.hakem(["verify", "one.jsonl", "--game", "python3 game.py"])
        .exits(0);
    // Where the program is gone it is said so.
    std::fs::remove_file(lab.path("game.py")).expect("it was there");
    lab.hakem(["verify", "event"])
        .exits(2)
        .says(&["game.py", "missing", "--game"]);
}

#[test]
fn the_command_line_names_a_game_by_its_command_or_its_folder() {
    let lab = sticks();
    std::fs::create_dir(lab.path("folder")).expect("a folder");
    std::fs::rename(lab.path("game.py"), lab.path("folder/game.py")).expect("moved");
    lab.write(
        "folder/game.toml",
        "run = [\"python3\", \"game.py\"]\ntimeout = \"20s\"\n",
    );
    let command = "python3 folder/game.py";
    let bots = ["builtin:random", "builtin:first"];
    for game in ["folder", command] {
        let duel = [
            "duel", "--game", game, "--seed", "3", "--rule", "most=2", "--format", "json",
        ];
        let table = lab.hakem([&duel[..], &bots].concat()).exits(0).json();
        assert_eq!(table.as_array().map(Vec::len), Some(2));
        // 1 + 1 + 1 + 1, 1 + 1 + 2, 1 + 2 + 1, 1 + 3, 2 + 1 + 1, 2 + 2, 3 + 1
        let counted = lab
            .hakem([
                "perft",
                "--game",
                game,
                "--depth",
                "2",
                "--state",
                "{\"left\":4,\"turn\":0}",
            ])
            .exits(0);
        assert_eq!(counted.stdout, "6\n");
        lab.hakem(["check", "--game", game]).exits(0);
        lab.hakem(["check", "--game", game, "builtin:random"])
            .exits(0);
    }
    let gate = [
        "gate",
        "--game",
        command,
        "--candidate",
        bots[0],
        "--baseline",
        bots[1],
        "--max-games",
        "8",
        "--seed",
        "1",
    ];
    let ran = lab.hakem(gate);
    assert!(matches!(ran.code, Some(0 | 1 | 4)), "{ran}");
    let moves = "1\n".repeat(20);
    let played = lab.hakem_fed(
        &["play", "--game", command, "--seed", "1", "builtin:first"],
        &moves,
    );
    let played = played.exits(0);
    assert!(
        played.stdout.contains("left  14") && played.stdout.contains("your move"),
        "{played}"
    );
    lab.hakem(["perft", "--game", "sticks", "--depth", "1"])
        .exits(2)
        .says(&["there is no game `sticks`", "game.toml"]);
    lab.hakem(["check", "--game", "mangala"])
        .exits(2)
        .says(&["built in"]);
    lab.assert_no_process_is_left();
}

#[test]
fn a_check_tells_what_is_wrong_with_the_rules() {
    let lab = sticks();
    let check = ["check", "--game", "python3 game.py", "--format", "json"];
    let result = |findings: &Value, name: &str| {
        let found = findings.as_array().expect("a list").iter();
        let found = found.filter(|found| found["check"] == name);
        found
            .map(|found| text(found, "result").to_owned())
            .collect::<Vec<_>>()
    };
    let good = lab.hakem(check).exits(0).json();
    for name in ["describe", "ends", "moves", "states", "same", "bad-state"] {
        assert_eq!(result(&good, name), ["pass"], "{name}: {good}");
    }
    for fault in [
        "crash",
        "garbage",
        "refuse",
        "nothing-legal",
        "two-winners",
        "no-state",
        "twice",
        "legal-twice",
    ] {
        lab.write("fault.txt", fault);
        let bad = lab.hakem(check).exits(1).json();
        assert_eq!(result(&bad, "moves"), ["fail"], "{fault}: {bad}");
    }
    // Of an event the game is checked first, and no bot where that is wrong.
    let event = event().write(&lab, "event.toml");
    let event = event.to_str().expect("a path");
    let bad = lab
        .hakem(["check", event, "--format", "json"])
        .exits(1)
        .json();
    assert!(result(&bad, "games").is_empty(), "{bad}");
    std::fs::remove_file(lab.path("fault.txt")).expect("it was there");
    let good = lab
        .hakem(["check", event, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(result(&good, "games").len(), 2, "{good}");
    lab.assert_no_process_is_left();
}

#[test]
fn three_sit_at_a_table_and_a_forfeit_leaves_the_win_to_the_others() {
    let lab = pig();
    let event = Event::new("")
        .set(
            "event",
            "game",
            "{ command = [\"python3\", \"pig/game.py\"] }",
        )
        .set("event", "seats", "3")
        .set("event", "games", "3")
        .builtin("anna", "random")
        .builtin("bela", "random")
        .mock("cem", &["--illegal", "--at", "1"])
        .write(&lab, "event.toml");
    lab.run(&event);
    let games = lab.games("event");
    assert_eq!(games.len(), 3);
    for game in &games {
        assert_eq!(game["against"], "cem", "{game}");
        assert_eq!(
            game["score"]
                .as_array()
                .map(|score| score.iter().filter(|one| **one == 0.5).count()),
            Some(2)
        );
    }
    assert_eq!(lab.verify_records("event"), 3);
}

#[test]
fn the_page_tells_what_the_example_says() {
    let page = ours("protocol/GAMES.md");
    let lab = pig();
    let said: Vec<(String, Value)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("    > "))
        .zip(page.lines().filter_map(|line| line.strip_prefix("    < ")))
        .map(|(question, answer)| {
            (
                question.to_owned(),
                serde_json::from_str(answer).expect("JSON"),
            )
        })
        .collect();
    assert!(said.len() >= 6);
    let questions: String = said
        .iter()
        .map(|(question, _)| format!("{question}\n"))
        .collect();
    lab.write("questions", questions);
    let input = std::fs::File::open(lab.path("questions")).expect("a file");
    let output = std::process::Command::new("python3")
        .arg(lab.path("pig/game.py"))
        .stdin(input)
        .output()
        .expect("python3 runs");
    let answers = String::from_utf8(output.stdout).expect("text");
    assert_eq!(answers.lines().count(), said.len());
    for (answer, (question, expected)) in answers.lines().zip(&said) {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        assert_eq!(answer, *expected, "{question}");
    }
    assert!(files_below(&lab.path("pig")).len() >= 2);
}

/// A board is a text of several lines, of which nothing acts on a terminal, wherever it is shown.
#[test]
fn what_a_board_says_is_shown_as_text() {
    let lab = pig();
    let rules = ours("examples/pig/game.py");
    let evil = r#""\u202eevil \u001b[2J\u0007\n" + "#;
    let changed = rules.replace("told[\"board\"] = ", &format!("told[\"board\"] = {evil}"));
    assert_ne!(changed, rules);
    lab.write("pig/game.py", changed);
    lab.hakem(["run", "pig-event.toml", "--out", "event"])
        .exits(0);
    let record = files_below(&lab.path("event/records")).remove(0);
    let record = record.to_str().expect("UTF-8");
    for args in [
        &["show", "event", "r1.m1.g1"][..],
        &["show", "event", "r1.m1.g1", "--explain"],
        &["replay", record, "--turn", "1", "builtin:first"],
        &["play", "--game", "python3 pig/game.py", "builtin:first"],
    ] {
        let ran = lab.hakem_fed(args, "1\nquit\n").stays_plain();
        assert!(
            !ran.stdout.contains('\u{202e}') && !ran.stderr.contains('\u{202e}'),
            "{ran}"
        );
        let has_board = ran.stdout.contains(r"\u{202e}evil ");
        assert!(has_board || args.contains(&"--explain"), "{ran}");
    }
}
