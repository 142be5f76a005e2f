//! Games that a rule of the event ends, from outside: who wins them, where it is told, and what a changed record or event brings.
#![cfg(feature = "runner")]

mod common;

use std::path::Path;

use common::{Event, Lab, mockbot_path, text};
use hakem::referee::record::hash_line;
use serde_json::{Value, json};

/// `up` thinks that it wins from its second move on, `down` that it loses.
fn agreeing(game: &str) -> Event {
    Event::new(game)
        .set("adjudication", "resign_eval", "3.0")
        .set("adjudication", "resign_moves", "3")
        .mock("up", &["--evals", "0; 3.5"])
        .mock("down", &["--evals", r#"none; {"score": -4, "depth": 7}"#])
}

fn played(event: &Event) -> Lab {
    let lab = Lab::new();
    lab.run(&event.write(&lab, "event.toml"));
    lab
}

fn read(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

// ---- What it comes to -----------------------------------------------------------------------------------------------

#[test]
fn a_game_that_both_give_up_is_won_and_told_everywhere() {
    let lab = played(&agreeing("reversi"));
    let games = lab.games("event");
    assert_eq!(games.len(), 2);
    for game in &games {
        assert_eq!(text(game, "verdict"), "adjudicated");
        assert_eq!(text(game, "winner"), "up");
        // The first move of each says nothing, the next three agree.
        assert_eq!(game["moves"], 8, "{game}");
        assert_eq!(game["against"], Value::Null);
        let loser = i32::from(game["seats"][1] == "down");
        let reason = text(game, "reason");
        let begins =
            format!("resign_eval: 3 moves of each at 3.0 or more against seat {loser} (last ");
        assert!(reason.starts_with(&begins), "{reason}");
    }
    let standings = lab.standings("event");
    for (row, (name, won)) in [("up", 2), ("down", 0)].into_iter().enumerate() {
        let row = &standings[row];
        assert_eq!(
            (&row["name"], &row["won"], &row["adjudicated"]),
            (&json!(name), &json!(won), &json!(2))
        );
        assert_eq!(row["forfeits"]["timeout"], 0);
    }
    assert_eq!(lab.verify_records("event"), 2);

    let shown = |args: &[&str]| lab.hakem(args).exits(0).stdout;
    let table = shown(&["standings", "event"]);
    assert!(table.contains("adjudicated"), "{table}");
    let table = shown(&["games", "event"]);
    assert!(
        table.contains("adjudicated") && table.contains("resign_eval"),
        "{table}"
    );
    let page = shown(&["show", "event", "r1.m1.g1"]);
    assert!(
        page.contains("up wins: adjudicated, resign_eval: 3 moves"),
        "{page}"
    );
    assert!(page.contains("eval 3.5"), "{page}");
    let page = shown(&["show", "event", "r1.m1.g1", "--explain"]);
    for words in [
        "it was ended by a rule of the event: resign_eval: 3 moves",
        "resign_eval = 3.0, resign_moves = 3: lost once",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }

    lab.hakem([
        "report",
        "event",
        "--html",
        "r.html",
        "--junit",
        "r.xml",
        "--markdown",
        "r.md",
        "--csv",
        "r.csv",
    ])
    .exits(0);
    for name in ["event/report.html", "r.html", "r.md"] {
        let page = read(&lab, name);
        for words in [
            "games may be ended by",
            "resign_eval 3.0, resign_moves 3",
            "adjudicated",
        ] {
            assert!(page.contains(words), "{name}: {words}: {page}");
        }
    }
    let xml = read(&lab, "r.xml");
    assert!(
        xml.contains("2 games adjudicated") && xml.contains("failures=\"0\""),
        "{xml}"
    );
    assert!(read(&lab, "r.csv").contains("adjudicated"));
    lab.assert_no_process_is_left();
}

#[test]
fn without_the_section_the_same_bots_play_on() {
    let event = Event::new("reversi")
        .mock("up", &["--evals", "9"])
        .mock("down", &["--evals", "-9"]);
    let lab = played(&event);
    for game in lab.games("event") {
        assert_eq!(text(&game, "verdict"), "rule");
    }
    for row in lab.standings("event").as_array().expect("rows") {
        assert_eq!(row["adjudicated"], 0);
    }
    let page = read(&lab, "event/report.html");
    assert!(!page.contains("adjudicated"), "{page}");
}

#[test]
fn bots_that_do_not_agree_play_on() {
    for down in [
        "9",
        "-2.9",
        "none",
        r#"{"win":0.0}"#,
        "-9; -9; 0; -9; -9; 0; -9; -9; 0",
    ] {
        let event = Event::new("oware")
            .set("adjudication", "resign_eval", "3")
            .set("adjudication", "resign_moves", "3")
            .mock("up", &["--evals", "9"])
            .mock("down", &["--evals", down, "--pick", "last"]);
        let lab = played(&event);
        for game in lab.games("event") {
            // The last list agrees for good from its tenth move on, unless the game is over before.
            if text(&game, "verdict") == "adjudicated" {
                assert!(
                    down.contains(';') && game["moves"].as_u64() > Some(18),
                    "{down}: {game}"
                );
            }
        }
    }
}

#[test]
fn a_session_of_tavla_is_drawn_by_the_cap() {
    let event = Event::new("tavla")
        .set("rules", "games", "3")
        .set("adjudication", "max_moves", "12")
        .mock("ada", &[])
        .mock("bora", &["--pick", "last"]);
    let lab = played(&event);
    let games = lab.games("event");
    assert_eq!(games.len(), 6);
    for game in &games {
        assert_eq!(text(game, "verdict"), "adjudicated");
        assert_eq!(
            text(game, "reason"),
            "max_moves: a draw after 12 moves (at most 12)"
        );
        assert_eq!(
            (&game["winner"], &game["score"], &game["points"]),
            (&Value::Null, &json!([0.5, 0.5]), &json!([0, 0]))
        );
    }
    let standings = lab.standings("event");
    assert_eq!(standings[0]["drawn"], 2);
    assert_eq!(standings[0]["points_per_game"], 0.0);
    let folder = lab.path("event");
    lab.hakem([Path::new("verify"), &folder]).exits(0);
    lab.assert_no_process_is_left();
}

// ---- Flags ----------------------------------------------------------------------------------------------------------

fn mock(args: &str) -> String {
    format!("{} {args}", mockbot_path().display())
}

#[test]
fn a_duel_takes_the_rules_as_a_flag() {
    let lab = Lab::new();
    let (up, down) = (mock("--evals 5"), mock("--evals -5"));
    let duel = |rules: &str| {
        lab.hakem([
            "duel",
            "--game",
            "mangala",
            "--seed",
            "1",
            "--out",
            "d",
            "--fresh",
            "--adjudicate",
            rules,
            &up,
            &down,
        ])
    };
    duel("resign_eval=5,resign_moves=1").exits(0);
    for game in lab.games("d") {
        assert_eq!(text(&game, "verdict"), "adjudicated");
        assert_eq!(text(&game, "winner"), "mockbot");
    }
    duel("max_moves=6").exits(0);
    for game in lab.games("d") {
        assert_eq!(game["moves"], 6);
        assert_eq!(game["winner"], Value::Null);
    }
    duel("resign_evl=5").exits(2).says(&[
        "`resign_evl` is no rule that ends games",
        "did you mean `resign_eval`?",
    ]);
    let race = [
        "duel",
        "--game",
        "qbitz",
        "--adjudicate",
        "max_moves=6",
        "builtin:hizli",
        "builtin:yavas",
    ];
    lab.hakem(race)
        .exits(2)
        .says(&["--adjudicate is for games in which the seats move in turn"]);
}

#[test]
fn a_gate_counts_what_was_adjudicated() {
    let lab = Lab::new();
    let (up, down) = (
        mock("--evals 5 --pick hash:1"),
        mock("--evals -5 --pick hash:2"),
    );
    let gate = |format: &str| {
        lab.hakem([
            "gate",
            "--game",
            "reversi",
            "--seed",
            "1",
            "--opening-plies",
            "4",
            "--adjudicate",
            "resign_eval=5,resign_moves=2",
            "--candidate",
            &up,
            "--baseline",
            &down,
            "--format",
            format,
        ])
        .exits(0)
    };
    let result = gate("json").json();
    assert_eq!(result["decision"], "accepted");
    // Every game is one, copies too, and counts as its score says.
    let number = |key: &str| result[key].as_u64().expect("a count");
    let played = number("games") + 2 * number("copies");
    assert_eq!(number("adjudicated"), played, "{result}");
    assert_eq!(result["score"], 1.0);
    let table = gate("table").stdout;
    assert!(table.contains("games adjudicated"), "{table}");
}

/// The built-in bots tell what a position is worth to them, so that the rule holds for them as it is.
#[test]
fn built_in_bots_agree_on_lost_games() {
    let event = Event::new("mangala")
        .set("event", "opening_plies", "8")
        .set("adjudication", "resign_eval", "6")
        .set("adjudication", "resign_moves", "2")
        .builtin("a", "kuyu")
        .with("options = { nodes = 300 }")
        .builtin("b", "kuyu")
        .with("options = { nodes = 300 }");
    let lab = played(&event);
    let games = lab.games("event");
    let ended = games
        .iter()
        .filter(|game| text(game, "verdict") == "adjudicated");
    assert!(ended.count() > 0, "{games:?}");
    let folder = lab.path("event");
    lab.hakem([Path::new("verify"), &folder]).exits(0);
}

// ---- Changes --------------------------------------------------------------------------------------------------------

#[test]
fn another_rule_is_another_event() {
    let lab = played(&agreeing("reversi"));
    let again = |event: &Event| {
        let file = event.write(&lab, "event.toml");
        lab.hakem([Path::new("run"), &file])
    };
    again(&agreeing("reversi")).exits(0);
    let higher = agreeing("reversi")
        .set("adjudication", "resign_eval", "4.0")
        .set("adjudication", "max_moves", "50");
    again(&higher).exits(2).says(&[
        "[adjudication].resign_eval was 3.0, is 4.0",
        "[adjudication].max_moves was absent, is 50",
    ]);
    let without = Event::new("reversi")
        .mock("up", &["--evals", "0; 3.5"])
        .mock("down", &["--evals", r#"none; {"score": -4, "depth": 7}"#]);
    again(&without)
        .exits(2)
        .says(&["[adjudication].resign_eval was 3.0, is absent"]);
    let race = Event::new("qbitz")
        .set("adjudication", "max_moves", "9")
        .builtin("a", "hizli")
        .builtin("b", "yavas");
    let file = race.write(&lab, "race.toml");
    lab.hakem([Path::new("run"), &file]).exits(2).says(&[
        "[adjudication] is for games in which the seats move in turn, and Q-Bitz is a race",
        "race.toml",
        "leave it out",
    ]);
}

/// The record with a change in one line, and with hashes that fit again.
fn forged(record: &str, change: impl Fn(&mut Value)) -> String {
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for line in record.lines() {
        // Parsed and written as it was: the order of fields stays.
        let body = line.split(",\"prev\":").next().expect("a line");
        let mut value: Value = serde_json::from_str(&format!("{body}}}")).expect("JSON");
        let before = value.clone();
        change(&mut value);
        let body = if value == before {
            body.to_owned()
        } else {
            let whole = value.to_string();
            whole[..whole.len() - 1].to_owned()
        };
        let line = format!("{body},\"prev\":\"{prev}\"}}");
        prev = String::from_utf8(hash_line(line.as_bytes()).to_vec()).expect("hex digits");
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn a_record_whose_adjudication_was_changed_does_not_verify() {
    let lab = played(&agreeing("reversi"));
    let record = read(&lab, "event/records/r1.m1.g1.jsonl");
    let seed = ["--seed", "42"];
    let verify = |text: &str| {
        lab.write("copy.jsonl", text);
        lab.hakem(["verify", "copy.jsonl"].into_iter().chain(seed))
    };
    assert_eq!(forged(&record, |_| {}), record);
    verify(&record).exits(0);
    let changes: [fn(&mut Value); 5] = [
        |line| {
            if let Some(header) = line["header"].as_object_mut() {
                header.remove("adjudication");
            }
        },
        |line| {
            if line.get("header").is_some() {
                line["header"]["adjudication"]["resign"]["moves"] = json!(4);
            }
        },
        |line| {
            if line["answer"]["eval"] == 3.5 {
                line["answer"]["eval"] = json!(2.5);
            }
        },
        |line| {
            if line.get("result").is_some() {
                line["result"]["verdict"] = json!("rule");
            }
        },
        |line| {
            if line.get("result").is_some() {
                line["result"]["reason"] = json!("resign_eval: they agree");
            }
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let changed = forged(&record, change);
        assert_ne!(changed, record, "change {number}");
        let ran = verify(&changed).exits(1);
        assert!(
            ran.stdout.contains("does not verify"),
            "change {number}: {ran}"
        );
    }
    // A record in the folder of results is also held against them.
    let path = lab.path("event/records/r1.m1.g1.jsonl");
    std::fs::write(&path, forged(&record, changes[4])).expect("the record is written");
    lab.hakem(["verify", "event"]).exits(1);
}
