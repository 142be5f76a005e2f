//! The organiser's desk from outside: play, rule, go on, be killed, undo; what is shown of it; what is refused.
#![cfg(feature = "runner")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use common::{Event, Lab, Ran, text};
use serde_json::{Value, json};

/// Three built-in bots, whose games follow from the seed.
fn three(format: &str) -> Event {
    Event::new("mangala")
        .set("event", "format", &format!("\"{format}\""))
        .set("event", "jobs", "2")
        .set("event", "opening_plies", "2")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .builtin("cem", "kuyu")
}

fn five(format: &str) -> Event {
    three(format)
        .builtin("dora", "random")
        .builtin("emil", "greedy")
}

/// Rules on the folder `event`.
#[track_caller]
fn desk(lab: &Lab, args: &[&str]) -> Ran {
    lab.hakem([&["desk", "event"], args].concat())
}

/// The list of rulings.
#[track_caller]
fn rulings(lab: &Lab) -> Vec<Value> {
    match desk(lab, &["--format", "json"]).exits(0).json() {
        Value::Array(rows) => rows,
        other => panic!("an array, not {other}"),
    }
}

fn by_id(games: &[Value]) -> BTreeMap<String, Value> {
    let keyed = |game: &Value| (text(game, "id").to_owned(), game.clone());
    games.iter().map(keyed).collect()
}

fn row<'a>(standings: &'a Value, name: &str) -> &'a Value {
    let rows = standings.as_array().expect("an array");
    let found = rows.iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("{name} stands in {standings}"))
}

/// Every record of the folder holds, also of games that were set aside.
#[track_caller]
fn verifies(lab: &Lab) {
    lab.hakem(["verify", "event"]).exits(0);
}

/// What the results file holds of first games and matches, byte for byte.
fn stored(lab: &Lab) -> Vec<String> {
    let file = rusqlite::Connection::open_with_flags(
        lab.path("event/results.sqlite"),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .expect("the results");
    let mut all = Vec::new();
    for table in ["games", "matches"] {
        let mut statement = file
            .prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3"))
            .expect("a table");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let values: Vec<String> = (0..columns)
                .map(|at| format!("{:?}", row.get_ref(at).expect("a value")))
                .collect();
            all.push(values.join(" "));
        }
    }
    all
}

#[test]
fn a_void_match_counts_for_nobody_until_that_is_undone() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.run(&file);
    let (games, standings, rows) = (lab.games("event"), lab.standings("event"), stored(&lab));
    let evil = "dice <b>leaked</b> \u{1b}[2J=1+2";
    desk(&lab, &["void", "r1.m1.g1", "--reason", evil])
        .exits(0)
        .stays_plain();
    let after = by_id(&lab.games("event"));
    for game in &games {
        let now = &after[text(game, "id")];
        if text(game, "id") == "r1.m1.g1" {
            assert_eq!(now["verdict"], "void");
            assert_eq!(now["reason"], format!("void by ruling 1: {evil}"));
            assert_eq!(now["ruling"], 1);
            for key in ["winner", "score", "points", "against"] {
                assert_eq!(now[key], Value::Null, "{key}");
            }
            for key in ["seats", "moves", "record", "record_hash"] {
                assert_eq!(now[key], game[key], "{key}");
            }
        } else {
            assert_eq!(now, game);
        }
    }
    let seats = &games[0]["seats"];
    let now = lab.standings("event");
    for name in ["anna", "bela", "cem"] {
        let less = i64::from(seats.as_array().expect("seats").contains(&json!(name)));
        let played = |table: &Value| row(table, name)["played"].as_i64().expect("a number");
        assert_eq!(played(&now), played(&standings) - less, "{name}");
    }
    // Everything shows it, and nothing of it acts.
    for args in [
        &["desk", "event"][..],
        &["desk", "event", "list", "--format", "csv"],
        &["desk", "event", "--format", "markdown"],
        &["games", "event"],
        &["standings", "event"],
        &["show", "event", "r1.m1.g1"],
        &["show", "event", "r1.m1.g1", "--explain"],
        &["report", "event", "--markdown", "-"],
        &["report", "event", "--junit", "-"],
        &["report", "event", "--html", "-"],
        &["run", "event.toml"],
    ] {
        let ran = lab.hakem(args).exits(0).stays_plain();
        assert!(ran.stdout.contains("ruling"), "{ran}");
        assert!(
            !ran.stdout.contains("<b>leaked") || args[0] != "report",
            "{ran}"
        );
    }
    assert!(
        lab.hakem(["show", "event", "r1.m1.g1"])
            .stdout
            .contains("void by ruling 1")
    );
    verifies(&lab);
    desk(&lab, &["undo", "1", "--reason", "no leak"]).exits(0);
    assert_eq!(lab.games("event"), games);
    assert_eq!(lab.standings("event"), standings);
    let all = rulings(&lab);
    assert_eq!(all.len(), 2, "nothing is deleted");
    assert_eq!(
        (&all[0]["in_force"], &all[0]["undone_by"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(stored(&lab), rows, "what was played is as it was stored");
}

#[test]
fn a_disqualified_bot_plays_no_more_and_stands_last() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    // Nothing was played yet: one match, then the time is over.
    lab.hakem(["run", "event.toml", "--jobs", "1", "--max-time", "1us"])
        .exits(0);
    desk(&lab, &["disqualify", "cem", "--reason", "two entries"]).exits(0);
    lab.run(&file);
    let games = lab.games("event");
    let counting: Vec<&Value> = games
        .iter()
        .filter(|game| game["verdict"] != "void")
        .collect();
    assert_eq!(counting.len(), 2);
    assert!(
        counting
            .iter()
            .all(|game| !game["seats"].to_string().contains("cem"))
    );
    assert!(
        lab.path("event/seed.json").exists(),
        "all that is to be played was"
    );
    let table = lab.standings("event");
    assert_eq!(table[2]["name"], "cem");
    assert_eq!(table[2]["status"], "disqualified");
    assert_eq!(table[2]["played"], 0);
    assert_eq!(table[0]["status"], Value::Null);
    verifies(&lab);
    // Its matches are played once that is undone; the dice are told by now, which needs a word.
    desk(&lab, &["undo", "1", "--reason", "it was one"])
        .exits(2)
        .says(&["seed.json", "--force"]);
    desk(&lab, &["undo", "1", "--reason", "it was one", "--force"]).exits(0);
    lab.run(&file);
    assert_eq!(lab.games("event").len(), 6);
    // The same event without any ruling comes to the same.
    let other = Lab::new();
    other.run(&three("round-robin").write(&other, "event.toml"));
    let moves = |lab: &Lab| -> Vec<Value> {
        let of = |game: &Value| json!([game["id"], game["seats"], game["score"], game["moves"]]);
        lab.games("event").iter().map(of).collect()
    };
    assert_eq!(moves(&lab), moves(&other));
}

#[test]
fn a_bot_that_leaves_keeps_its_results_in_every_format() {
    for format in ["round-robin", "swiss", "knockout", "groups", "ladder"] {
        for ruling in [&["withdraw", "anna"][..], &["disqualify", "anna"]] {
            let lab = Lab::new();
            let file = five(format).write(&lab, "event.toml");
            lab.hakem(["run", "event.toml", "--max-time", "1us"])
                .exits(0);
            let before = lab.games("event");
            desk(&lab, &[ruling, &["--reason", "ill"]].concat()).exits(0);
            lab.run(&file);
            let after = by_id(&lab.games("event"));
            for game in &before {
                let now = &after[text(game, "id")];
                let of_anna = game["seats"].to_string().contains("anna");
                let is_void = ruling[0] == "disqualify" && of_anna;
                assert_eq!(now["verdict"] == "void", is_void, "{format}: {now}");
            }
            let of_anna = |game: &&Value| game["seats"].to_string().contains("anna");
            assert_eq!(
                after.values().filter(of_anna).count(),
                before.iter().filter(of_anna).count(),
                "{format}: it plays no more"
            );
            let table = lab.standings("event");
            let word = if ruling[0] == "withdraw" {
                "withdrawn"
            } else {
                "disqualified"
            };
            assert_eq!(row(&table, "anna")["status"], word, "{format}");
            if ruling[0] == "disqualify" {
                assert_eq!(table[4]["name"], "anna", "{format}");
            }
            verifies(&lab);
            lab.hakem(["report", "event"]).exits(0);
            // Once more: there is nothing left to play.
            let ran = lab.run(&file).says(&["everything was played before"]);
            assert!(!ran.stdout.is_empty());
        }
    }
}

#[test]
fn a_match_is_played_again_under_its_id_and_the_old_one_is_kept() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.run(&file);
    let (games, standings, rows) = (lab.games("event"), lab.standings("event"), stored(&lab));
    let record = |name: &str| std::fs::read(lab.path("event/records").join(name));
    let old = record("r1.m3.g1.jsonl").expect("a record");
    desk(&lab, &["replay", "r1.m3", "--reason", "power cut"]).exits(0);
    let waiting = by_id(&lab.games("event"));
    assert_eq!(waiting["r1.m3.g1"]["verdict"], "void");
    assert!(text(&waiting["r1.m3.g1"], "reason").contains("to be played again by ruling 1"));
    assert_eq!(waiting.len(), games.len());
    verifies(&lab);
    lab.hakem(["show", "event", "r1.m3.g1"])
        .exits(2)
        .says(&["--before 1"]);
    desk(&lab, &["replay", "r1.m3", "--reason", "again"])
        .exits(2)
        .says(&["r1.m3", "ruling 1"]);
    lab.run(&file);
    // These bots are functions of the turn, and the chance is the same: so is the game.
    let now = by_id(&lab.games("event"));
    for game in &games {
        let id = text(game, "id");
        for key in ["seats", "winner", "score", "moves", "verdict", "reason"] {
            assert_eq!(now[id][key], game[key], "{id} {key}");
        }
    }
    assert_eq!(now["r1.m3.g1"]["record"], "records/r1.m3.g1.replay-1.jsonl");
    assert_eq!(now["r1.m3.g1"]["ruling"], 1);
    assert_eq!(record("r1.m3.g1.jsonl").expect("it is kept"), old);
    let new = record("r1.m3.g1.replay-1.jsonl").expect("the new one");
    let header = |bytes: &[u8]| -> Value {
        let line = bytes.split(|&byte| byte == b'\n').next().expect("a line");
        serde_json::from_slice(line).expect("a header")
    };
    assert_eq!(header(&old)["chance"], header(&new)["chance"]);
    assert_eq!(
        lab.standings("event").as_array().map(Vec::len),
        standings.as_array().map(Vec::len)
    );
    verifies(&lab);
    assert_eq!(lab.verify_records("event"), games.len() + 1);
    let shown = |args: &[&str]| {
        lab.hakem([&["show", "event"], args].concat())
            .exits(0)
            .stdout
    };
    assert!(shown(&["r1.m3"]).contains("played again by ruling 1"));
    assert!(shown(&["r1.m3", "--before", "1"]).contains("set aside"));
    lab.hakem(["show", "event", "r1.m3", "--before", "2"])
        .exits(2)
        .says(&["ruling 2", "1"]);
    desk(&lab, &["undo", "1", "--reason", "the first holds"]).exits(0);
    assert_eq!(lab.games("event"), games);
    assert_eq!(stored(&lab), rows);
    verifies(&lab);
    assert_eq!(
        lab.run(&file).says(&["everything was played before"]).code,
        Some(0)
    );
    // A record that was set aside and changed does not verify.
    let path = lab.path("event/records/r1.m3.g1.replay-1.jsonl");
    let changed = String::from_utf8(new)
        .expect("text")
        .replacen("anna", "anne", 1);
    std::fs::write(path, changed).expect("written");
    lab.hakem(["verify", "event"]).exits(1);
}

/// A run whose first bot waits for us whenever it is started, once a game; three games a match.
fn held(lab: &Lab) -> (PathBuf, PathBuf) {
    let socket = lab.path("hold.sock");
    let path = socket.to_string_lossy().into_owned();
    let file = Event::new("mangala")
        .set("clock", "ready", "\"300s\"")
        .set("event", "jobs", "1")
        .set("event", "restart", "\"game\"")
        .set("rules", "sets", "3")
        .mock("one", &["--hold", &path])
        .mock("two", &[])
        .write(lab, "event.toml");
    (file, socket)
}

fn listen(socket: &Path) -> UnixListener {
    let _ = std::fs::remove_file(socket);
    UnixListener::bind(socket).expect("a socket is made")
}

fn start(lab: &Lab, file: &Path) -> Child {
    lab.command([OsStr::new("run"), file.as_os_str()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakem starts")
}

/// Holds no bot any longer, however often one is started.
fn release(listener: UnixListener) {
    std::thread::spawn(move || listener.incoming().for_each(drop));
}

#[test]
fn a_kill_while_a_match_is_played_again_loses_nothing() {
    let lab = Lab::new();
    let (file, socket) = held(&lab);
    release(listen(&socket));
    lab.run(&file);
    let (games, rows) = (lab.games("event"), stored(&lab));
    desk(&lab, &["replay", "r1.m1.g2", "--reason", "power cut"]).exits(0);
    for kill in 0..2 {
        let listener = listen(&socket);
        let mut run = start(&lab, &file);
        let mut bot = common::accept_while_running(&listener, &run).expect("the bot is started");
        if kill == 0 {
            // The lock is the run's.
            let pid = run.id().to_string();
            desk(&lab, &["undo", "1", "--reason", "x"])
                .exits(2)
                .says(&["in use", &pid]);
            desk(&lab, &[]).exits(0);
        }
        if kill == 1 {
            // Its first game is played and its second begun.
            drop(bot);
            bot = common::accept_while_running(&listener, &run).expect("started anew");
        }
        run.kill().expect("the run is killed");
        run.wait().expect("it is waited for");
        drop(bot);
        lab.assert_no_process_is_left();
        assert_eq!(stored(&lab), rows, "kill {kill}");
        verifies(&lab);
        let ids: BTreeSet<String> = by_id(&lab.games("event")).into_keys().collect();
        assert!(ids.contains("r1.m2.g1"));
    }
    release(listen(&socket));
    lab.run(&file);
    assert_eq!(stored(&lab), rows);
    let now = by_id(&lab.games("event"));
    assert!(now.values().all(|game| game["verdict"] == "rule"));
    let of_match = games
        .iter()
        .filter(|game| text(game, "id").starts_with("r1.m1."));
    assert_eq!(lab.verify_records("event"), games.len() + of_match.count());
    verifies(&lab);
    assert_eq!(
        rulings(&lab)[0]["effect"],
        "was played again; the games before are set aside"
    );
}

#[test]
fn what_later_rounds_were_paired_on_is_not_played_again() {
    for format in ["swiss", "knockout", "groups", "ladder"] {
        let lab = Lab::new();
        let event = if format == "ladder" {
            five(format).set("event", "rounds", "3")
        } else {
            five(format)
        };
        let file = event.write(&lab, "event.toml");
        lab.run(&file);
        let games = lab.games("event");
        let ran = desk(&lab, &["replay", "r1.m1", "--reason", "x"]);
        assert!(
            ran.code == Some(2) && ran.stderr.contains("later matches"),
            "{format}: {ran}"
        );
        // The last round can be played again.
        let last = text(games.last().expect("games"), "id");
        desk(&lab, &["replay", last, "--reason", "x"]).exits(0);
        lab.run(&file);
        let ids = |games: &[Value]| -> Vec<Value> {
            games.iter().map(|game| game["id"].clone()).collect()
        };
        assert_eq!(ids(&lab.games("event")), ids(&games), "{format}");
        verifies(&lab);
        // A void match of the first round changes what counts, and no pairing.
        desk(&lab, &["void", "r1.m1", "--reason", "x"]).exits(0);
        lab.run(&file);
        assert_eq!(ids(&lab.games("event")), ids(&games), "{format}");
        assert_eq!(lab.games("event")[0]["verdict"], "void", "{format}");
        verifies(&lab);
    }
}

#[test]
fn a_bot_is_added_to_an_event_that_has_begun() {
    for format in ["round-robin", "gauntlet", "swiss", "ladder"] {
        let lab = Lab::new();
        let mut event = three(format).set("event", "seed", "\"a long one that is in no file\"");
        if format == "ladder" {
            event = event.set("event", "rounds", "3");
        }
        if format == "gauntlet" {
            event = event.set("event", "candidate", "\"bela\"");
        }
        let file = event.write(&lab, "event.toml");
        lab.hakem(["run", "event.toml", "--max-time", "1us"])
            .exits(0);
        let before = by_id(&lab.games("event"));
        let more = event.clone().builtin("late", "greedy");
        let file_now = more.write(&lab, "event.toml");
        assert_eq!(file, file_now);
        lab.hakem(["run", "event.toml"]).exits(2).says(&[
            "bot `late` was added",
            "hakem desk",
            "add",
        ]);
        desk(&lab, &["add", "event.toml", "--reason", "came late"]).exits(0);
        desk(&lab, &["add", "event.toml", "--reason", "came late"])
            .exits(2)
            .says(&["no bot"]);
        lab.run(&file);
        let after = by_id(&lab.games("event"));
        for (id, game) in &before {
            assert_eq!(&after[id], game, "{format}");
        }
        let late = after
            .values()
            .filter(|game| game["seats"].to_string().contains("late"));
        assert!(late.count() > 0, "{format}");
        assert_eq!(lab.standings("event").as_array().map(Vec::len), Some(4));
        verifies(&lab);
        lab.run(&file).says(&["everything was played before"]);
        // The old file is another event now; and the bot cannot be taken out but by a ruling.
        three(format).write(&lab, "old.toml");
        lab.hakem(["run", "old.toml", "--out", "event"]).exits(2);
        desk(&lab, &["undo", "1", "--reason", "x"])
            .exits(2)
            .says(&["withdraw"]);
        // All is played and told: who comes now could know the dice.
        more.clone()
            .builtin("later", "random")
            .write(&lab, "event.toml");
        if format == "round-robin" {
            desk(&lab, &["add", "event.toml", "--reason", "x"])
                .exits(2)
                .says(&["seed.json", "--force"]);
        }
    }
}

#[test]
fn nothing_but_bots_at_the_end_is_added() {
    let lab = Lab::new();
    three("round-robin").write(&lab, "event.toml");
    lab.hakem(["run", "event.toml", "--max-time", "1us"])
        .exits(0);
    let add = |event: &Event| {
        event.write(&lab, "new.toml");
        desk(&lab, &["add", "new.toml", "--reason", "x"])
    };
    add(&three("round-robin")
        .builtin("late", "random")
        .set("event", "games", "4"))
    .exits(2)
    .says(&["games was 2, is 4"]);
    let first = Event::new("mangala")
        .set("event", "format", "\"round-robin\"")
        .set("event", "opening_plies", "2")
        .builtin("late", "random")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .builtin("cem", "kuyu");
    add(&first).exits(2).says(&["end"]);
    add(&three("round-robin").bot("late", &["no-such-program"]))
        .exits(2)
        .says(&["no-such-program"]);
    assert!(rulings(&lab).is_empty());
    for format in ["knockout", "groups"] {
        let lab = Lab::new();
        five(format).write(&lab, "event.toml");
        lab.hakem(["run", "event.toml", "--max-time", "1us"])
            .exits(0);
        five(format)
            .builtin("late", "random")
            .write(&lab, "event.toml");
        desk(&lab, &["add", "event.toml", "--reason", "x"])
            .exits(2)
            .says(&["the draw"]);
    }
}

#[test]
fn a_closed_event_tells_its_seed_and_plays_no_more() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.hakem(["run", "event.toml", "--max-time", "1us"])
        .exits(0);
    assert!(!lab.path("event/seed.json").exists(), "it may go on");
    desk(&lab, &["close", "--reason", "the hall is needed"]).exits(0);
    assert!(lab.path("event/seed.json").exists());
    let games = lab.games("event");
    let ran = lab
        .run(&file)
        .says(&["closed by ruling 1", "the hall is needed"]);
    assert!(!ran.stdout.is_empty());
    assert_eq!(lab.games("event"), games);
    let page = lab.hakem(["report", "event", "--markdown", "-"]).exits(0);
    assert!(
        page.stdout.contains("ended early") && page.stdout.contains("closed"),
        "{page}"
    );
    assert_eq!(page.stdout.matches("ended early").count(), 1, "{page}");
    desk(&lab, &["close", "--reason", "x"])
        .exits(2)
        .says(&["closed already"]);
    desk(&lab, &["undo", "1", "--reason", "x"])
        .exits(2)
        .says(&["seed is told"]);
    desk(&lab, &["disqualify", "anna", "--reason", "x"]).exits(0);
    desk(&lab, &["undo", "2", "--reason", "x"])
        .exits(2)
        .says(&["closed"]);
    // A kill between the ruling and the file: the next run tells the seed.
    std::fs::remove_file(lab.path("event/seed.json")).expect("it was there");
    lab.run(&file);
    assert!(lab.path("event/seed.json").exists());
}

#[test]
fn what_cannot_be_ruled_is_refused_in_words() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.run(&file);
    let reason = ["--reason", "x"];
    let refused = |args: &[&str], words: &[&str]| {
        desk(&lab, &[args, &reason].concat()).exits(2).says(words);
    };
    refused(&["disqualify", "ana"], &["`ana`", "did you mean `anna`"]);
    refused(&["withdraw", "zzzzzz"], &["known are anna, bela, cem"]);
    refused(&["void", "r1.m9"], &["no match r1.m9", "r1.m1 to r1.m6"]);
    refused(&["void", "r7.m1"], &["no match r7.m1", "r1.m1 to r1.m6"]);
    refused(&["replay", "r1.m1.g7"], &["no game r1.m1.g7", "r1.m1.g1"]);
    refused(&["void", "final"], &["`final`", "r1.m2.g3"]);
    refused(&["undo", "1"], &["no ruling 1", "nothing was ruled"]);
    desk(&lab, &["void", "r1.m1"]).exits(2).says(&["--reason"]);
    desk(&lab, &["void", "r1.m1", "--reason", " \n"])
        .exits(2)
        .says(&["empty"]);
    desk(&lab, &["void", "r1.m1", "--reason", &"x".repeat(1_001)])
        .exits(2)
        .says(&["1001", "1000"]);
    assert!(rulings(&lab).is_empty(), "nothing was ruled");
    desk(&lab, &["disqualify", "anna", "--reason", "first"]).exits(0);
    refused(&["disqualify", "anna"], &["already", "ruling 1", "first"]);
    refused(&["withdraw", "anna"], &["already"]);
    desk(&lab, &["void", "r1.m1", "--reason", "x"]).exits(0);
    refused(&["void", "r1.m1"], &["void already", "ruling 2"]);
    desk(&lab, &["undo", "2", "--reason", "x"]).exits(0);
    refused(&["undo", "2"], &["undone already", "ruling 3"]);
    refused(&["undo", "3"], &["rule anew"]);
    refused(&["undo", "9"], &["rulings 1 to 3"]);
    // What is not played yet, and folders that are none.
    let early = Lab::new();
    three("round-robin").write(&early, "event.toml");
    early
        .hakem(["run", "event.toml", "--max-time", "1us", "--jobs", "1"])
        .exits(0);
    let last = "r1.m6";
    desk(&early, &["void", last, "--reason", "x"])
        .exits(2)
        .says(&["not played yet"]);
    early.hakem(["desk", "nowhere"]).exits(2).says(&["nowhere"]);
    std::fs::create_dir(early.path("foreign")).expect("a folder");
    early.write("foreign/results.sqlite", "no database");
    early
        .hakem(["desk", "foreign", "void", "r1.m1", "--reason", "x"])
        .exits(2);
}

/// Two rulings about one match: the later one decides, and the list says so; as data, too.
#[test]
fn the_list_says_which_of_two_rulings_decides() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.run(&file);
    let row = |number: usize| rulings(&lab)[number - 1].clone();
    let says = |number: usize, words: &str| {
        let row = row(number);
        assert!(text(&row, "effect").contains(words), "{row}");
    };
    // Undone before it was played: nothing was set aside.
    desk(&lab, &["replay", "r1.m1", "--reason", "x"]).exits(0);
    says(1, "is to be played again");
    desk(&lab, &["undo", "1", "--reason", "x"]).exits(0);
    says(1, "was not played again");
    // Played, and then undone.
    desk(&lab, &["replay", "r1.m2", "--reason", "x"]).exits(0);
    lab.run(&file);
    says(3, "the games before are set aside");
    desk(&lab, &["undo", "3", "--reason", "x"]).exits(0);
    says(3, "was played again; that is set aside now");
    // Void, then played again all the same.
    desk(&lab, &["void", "r1.m3", "--reason", "x"]).exits(0);
    assert_eq!(row(5)["in_force"], true);
    let ran = desk(&lab, &["replay", "r1.m3", "--reason", "x"]).exits(0);
    assert!(ran.stdout.contains("no, 6 decides"), "{ran}");
    assert_eq!(
        (&row(5)["in_force"], &row(5)["overridden_by"]),
        (&json!(false), &json!(6))
    );
    says(5, "ruling 6 came later");
    assert_eq!(row(6)["in_force"], true);
    lab.run(&file);
    let games = lab.hakem(["games", "event"]).exits(0);
    assert!(
        games.stdout.contains("Ruling 6,") && !games.stdout.contains("Ruling 5,"),
        "{games}"
    );
    // And void again; once that is undone the one before decides again.
    desk(&lab, &["void", "r1.m3", "--reason", "x"]).exits(0);
    assert_eq!(row(6)["overridden_by"], 7);
    desk(&lab, &["undo", "7", "--reason", "x"]).exits(0);
    assert_eq!(
        (&row(6)["in_force"], &row(7)["in_force"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(row(6)["overridden_by"], Value::Null);
    verifies(&lab);
}

/// A reason is one line of text wherever it is shown, whatever it holds.
#[test]
fn a_reason_breaks_no_line_of_a_message() {
    let lab = Lab::new();
    let file = three("round-robin").write(&lab, "event.toml");
    lab.run(&file);
    let reason = "one\ntwo\u{1b}[2J\u{202e}";
    let ruled = |args: &[&str]| desk(&lab, &[args, &["--reason", reason]].concat()).stays_plain();
    ruled(&["disqualify", "anna"]).exits(0);
    ruled(&["void", "r1.m6"]).exits(0);
    ruled(&["close"]).exits(0);
    for refused in [&["disqualify", "anna"][..], &["void", "r1.m6"], &["close"]] {
        let ran = ruled(refused)
            .exits(2)
            .says(&[r"one\u{a}two\u{1b}[2J\u{202e}"]);
        assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    }
    lab.run(&file).stays_plain();
    lab.hakem(["desk", "event"]).exits(0).stays_plain();
}

/// What rulings keep from being played is not counted as to be played.
#[test]
fn progress_counts_what_will_be_played() {
    let lab = Lab::new();
    let file = three("round-robin")
        .set("event", "games", "2000")
        .write(&lab, "event.toml");
    lab.hakem(["run", "event.toml", "--max-time", "1us"])
        .exits(0);
    let played = lab.games("event").len();
    let of = |total: usize| {
        let shown = lab.hakem(["standings", "event"]).exits(0);
        let words = format!("{played} of {total} matches played.");
        assert!(shown.stdout.contains(&words), "{words} in {shown}");
    };
    of(6000);
    let games = lab.games("event");
    let of_anna = common::of_bot(&games, "anna").len();
    desk(&lab, &["disqualify", "anna", "--reason", "x"]).exits(0);
    of(2000 + of_anna);
    drop(file);
}

#[test]
fn withdraw_says_what_it_does_with_results() {
    let lab = Lab::new();
    lab.run(&three("round-robin").write(&lab, "event.toml"));
    desk(
        &lab,
        &["withdraw", "anna", "--keep-results", "--reason", "x"],
    )
    .exits(2)
    .says(&["stand in any case", "disqualify"]);
    assert!(rulings(&lab).is_empty());
    desk(&lab, &["withdraw", "anna", "--reason", "x"]).exits(0);
}

/// What an interrupted match left behind is of no game, once the organiser has ended the event.
#[test]
fn a_match_that_was_cut_short_and_never_played_on_is_no_fault() {
    let lab = Lab::new();
    let (file, socket) = held(&lab);
    let listener = listen(&socket);
    let mut run = start(&lab, &file);
    let bot = common::accept_while_running(&listener, &run).expect("the bot is started");
    drop(bot);
    // The second game has begun, so that the first is over.
    let bot = common::accept_while_running(&listener, &run).expect("it is started anew");
    let first = lab.path("event/records/r1.m1.g1.jsonl");
    let begin = Instant::now();
    while !first.exists() {
        assert!(begin.elapsed() < common::HANG, "the first game is recorded");
        std::thread::yield_now();
    }
    run.kill().expect("the run is killed");
    run.wait().expect("it is waited for");
    drop(bot);
    lab.assert_no_process_is_left();
    desk(&lab, &["close", "--reason", "the hall is needed"]).exits(0);
    assert!(lab.path("event/seed.json").exists());
    assert!(first.exists());
    verifies(&lab);
    assert!(lab.games("event").is_empty());
}

/// Ratings across events leave out what was taken out.
#[test]
fn ratings_across_events_follow_rulings() {
    let lab = Lab::new();
    lab.run(&three("round-robin").write(&lab, "event.toml"));
    desk(&lab, &["disqualify", "cem", "--reason", "x"]).exits(0);
    let rows = lab
        .hakem(["ratings", "all.json", "add", "event", "--format", "json"])
        .exits(0)
        .json();
    let names: Vec<&str> = rows
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| text(row, "name"))
        .collect();
    assert_eq!(names.len(), 2, "{rows}");
    assert!(!names.contains(&"cem"));
}

/// Kills at any moment while matches are played again.
#[test]
fn kills_at_any_moment_leave_what_an_undisturbed_run_leaves() {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .set("event", "jobs", "2")
        .set("event", "opening_plies", "2")
        .set("rules", "sets", "9")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .builtin("cem", "first")
        .write(&lab, "event.toml");
    let begin = Instant::now();
    lab.run(&file);
    let whole = begin.elapsed();
    let rows = stored(&lab);
    let games = by_id(&lab.games("event"));
    for number in 1..=6 {
        let id = format!("r1.m{number}");
        desk(&lab, &["replay", &id, "--reason", "x"]).exits(0);
    }
    let mut lots = common::Lots::new(11);
    let mut kills = common::env_number("HAKEM_TEST_KILLS", 6);
    loop {
        let mut run = start(&lab, &file);
        let time = if kills == 0 {
            common::HANG
        } else {
            whole * u32::try_from(10 + lots.below(600)).expect("small") / 1000
        };
        let ended = common::ends_within(&run, time);
        if !ended {
            assert!(kills > 0, "the run hangs");
            run.kill().expect("the run is killed");
            kills -= 1;
        }
        let status = run.wait().expect("it is waited for");
        assert_eq!(stored(&lab), rows);
        if ended {
            assert!(status.success());
            break;
        }
    }
    let now = by_id(&lab.games("event"));
    for (id, game) in &games {
        for key in ["seats", "winner", "score", "moves", "verdict"] {
            assert_eq!(now[id][key], game[key], "{id} {key}");
        }
    }
    assert_eq!(now.len(), games.len());
    verifies(&lab);
    assert_eq!(lab.verify_records("event"), 2 * games.len());
}
