//! What lives across events, and what may end one early: ratings, ladders, budgets of time, a clear leader, dry runs.
#![cfg(feature = "runner")]

mod common;

use std::ffi::OsStr;

use common::{Event, Lab};
use serde_json::Value;

fn event(seed: &str) -> Event {
    Event::new("mangala")
        .set("event", "seed", seed)
        .set("event", "games", "10")
        .set("event", "opening_plies", "4")
        .builtin("strong", "kuyu")
        .builtin("weak", "random")
}

fn ratings(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = [&["ratings", "r.json"], args, &["--format", "json"]].concat();
    let json = lab.hakem(args).exits(0).json();
    json.as_array().expect("rows").clone()
}

#[test]
fn ratings_follow_from_the_results_of_events() {
    let lab = Lab::new();
    lab.run(&event("1").write(&lab, "one.toml"));
    lab.run(
        &event("2")
            .builtin("third", "greedy")
            .write(&lab, "two.toml"),
    );
    let first = ratings(&lab, &["add", "one"]);
    assert_eq!(first.len(), 2);
    assert_eq!(first[0]["name"], "strong");
    assert_eq!(
        (&first[0]["played"], &first[0]["expected"]),
        (&Value::from(10), &Value::from(5.0))
    );
    // The event's own standings rate the same results from the same start.
    let standings = lab.standings("one");
    for row in &first {
        let own = standings
            .as_array()
            .expect("rows")
            .iter()
            .find(|own| own["name"] == row["name"])
            .expect("it played");
        assert_eq!(own["rating"], row["rating"]);
    }
    let both = ratings(&lab, &["add", "two"]);
    assert_eq!(both.len(), 3);
    // Added again an event is not counted twice.
    assert_eq!(ratings(&lab, &["add", "one", "two"]), both);
    assert_eq!(ratings(&lab, &["show"]), both);
    let history = ratings(&lab, &["history", "strong"]);
    assert_eq!(history.len(), 2);
    assert!(history[1]["expected"].as_f64() > Some(10.0), "{history:?}");
    let anchored = ratings(&lab, &["anchor", "weak", "1000"]);
    let weak = anchored
        .iter()
        .find(|row| row["name"] == "weak")
        .expect("it is there");
    assert_eq!(
        (&weak["rating"], &weak["anchor"]),
        (&Value::from(1000.0), &Value::from(true))
    );
    assert_eq!(ratings(&lab, &["anchor", "weak"]), both);
    lab.hakem(["ratings", "r.json", "history", "nobody"])
        .exits(2)
        .says(&["nobody"]);
    lab.hakem(["ratings", "missing.json"])
        .exits(2)
        .says(&["missing.json"]);
    lab.hakem(["ratings", "r.json", "add", "nowhere"]).exits(2);
    lab.write("bad.json", "[]");
    lab.hakem(["ratings", "bad.json"])
        .exits(2)
        .says(&["bad.json"]);
}

// ---- Ladders ----------------------------------------------------------------------------------------------------

fn ladder(seed: &str) -> Event {
    Event::new("mangala")
        .set("event", "seed", seed)
        .set("event", "format", "\"ladder\"")
        .set("event", "ladder", "\"ladder.json\"")
        .set("event", "rounds", "2")
        .set("event", "games", "6")
        .set("event", "opening_plies", "4")
}

/// The file of the ladder.
fn ladder_file(lab: &Lab) -> Value {
    let text = std::fs::read_to_string(lab.path("ladder.json")).expect("it is written");
    serde_json::from_str(&text).expect("JSON")
}

fn order(lab: &Lab) -> Vec<String> {
    let file = ladder_file(lab);
    let names = file["order"].as_array().expect("names").iter();
    names
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect()
}

/// The rating of a bot in a folder's standings, with its deviation.
fn rated(lab: &Lab, dir: &str, name: &str) -> [f64; 2] {
    let standings = lab.standings(dir);
    let rows = standings.as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["name"] == name)
        .expect("it is there");
    ["rating", "deviation"].map(|key| row[key].as_f64().expect("a number"))
}

#[test]
fn a_ladder_lives_from_event_to_event() {
    let lab = Lab::new();
    lab.write("ladder.json", r#"{"format":1,"order":["absent","weak"]}"#);
    let one = ladder("1")
        .builtin("weak", "random")
        .builtin("strong", "kuyu");
    let file = one.write(&lab, "one.toml");
    lab.run(&file);
    // The strong one came to the end and took the rung of the weak one.
    assert_eq!(order(&lab), ["absent", "strong", "weak"]);
    let games = lab.games("one");
    // Run again nothing is played, although the ladder has changed.
    lab.run(&file);
    assert_eq!(lab.games("one"), games);
    assert_eq!(order(&lab), ["absent", "strong", "weak"]);
    lab.run(
        &ladder("2")
            .builtin("weak", "random")
            .builtin("strong", "kuyu")
            .write(&lab, "two.toml"),
    );
    assert_eq!(order(&lab), ["absent", "strong", "weak"]);
    let standings = lab.standings("two");
    assert_eq!(standings[0]["name"], "strong");
}

#[test]
fn a_ladder_carries_its_ratings_from_event_to_event() {
    let lab = Lab::new();
    lab.write(
        "ladder.json",
        r#"{"format":2,"order":["absent","weak"],"ratings":{"absent":{"value":1650.5,"deviation":70.0,"volatility":0.06},
            "weak":{"value":1900.0,"deviation":40.0,"volatility":0.06}}}"#,
    );
    let event = |seed: &str| {
        ladder(seed)
            .builtin("weak", "random")
            .builtin("strong", "kuyu")
    };
    let one = event("1").write(&lab, "one.toml");
    lab.run(&one);
    let file = ladder_file(&lab);
    assert_eq!(file["format"], 2);
    // Who took no part keeps what it had; the others have what the event's standings tell.
    let absent = serde_json::json!({"value": 1650.5, "deviation": 70.0, "volatility": 0.06});
    assert_eq!(file["ratings"]["absent"], absent);
    for name in ["weak", "strong"] {
        let kept = ["value", "deviation"].map(|key| file["ratings"][name][key].as_f64());
        let told = rated(&lab, "one", name);
        assert!(
            (kept[0].expect("a number") - told[0]).abs() < 0.01,
            "{name}: {told:?} in {file}"
        );
        assert!(
            (kept[1].expect("a number") - told[1]).abs() < 0.01,
            "{name}: {told:?} in {file}"
        );
    }
    // It began at 1900 and not at 1500, from where nobody who loses comes to be above it; who beats it gains more than from a new one.
    let weak = rated(&lab, "one", "weak");
    assert!(weak[0] > 1700.0 && weak[0] < 1900.0, "{weak:?}");
    assert!(rated(&lab, "one", "strong")[0] > 1900.0);
    // The second event goes on from there: the deviations shrink on.
    lab.run(&event("2").write(&lab, "two.toml"));
    let after_two = ladder_file(&lab);
    assert_ne!(after_two["ratings"]["weak"], file["ratings"]["weak"]);
    assert!(rated(&lab, "two", "strong")[1] < rated(&lab, "one", "strong")[1]);
    // To look at the first again undoes nothing.
    let ran = lab.run(&one);
    assert_eq!(ladder_file(&lab), after_two, "{}", ran.stderr);
    // The same ladder, seed and bots give the same file, in whatever pieces it is played.
    let first = std::fs::read(lab.path("ladder.json")).expect("it is there");
    lab.write("ladder.json", file.to_string());
    lab.hakem(["run", "two.toml", "--fresh", "--jobs", "2"])
        .exits(0);
    assert_eq!(
        std::fs::read(lab.path("ladder.json")).expect("it is there"),
        first
    );
}

#[test]
fn a_ruling_after_the_end_moves_the_ladder_unless_others_did() {
    let lab = Lab::new();
    let event = ladder("1")
        .builtin("weak", "random")
        .builtin("strong", "kuyu");
    let one = event.write(&lab, "one.toml");
    lab.run(&one);
    assert_eq!(order(&lab), ["strong", "weak"]);
    let played = ladder_file(&lab);
    lab.hakem(["desk", "one", "disqualify", "strong", "--reason", "cheated"])
        .exits(0);
    // Another event changed the list meanwhile: it stays as that one left it.
    let mut other = played.clone();
    other["ratings"]["weak"]["value"] = 1234.5.into();
    lab.write("ladder.json", other.to_string());
    lab.run(&one).says(&["warning", "ladder.json", "changed"]);
    assert_eq!(ladder_file(&lab), other);
    lab.write("ladder.json", played.to_string());
    let ran = lab.run(&one);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    assert_eq!(order(&lab), ["weak", "strong"]);
    let after = ladder_file(&lab);
    lab.run(&one);
    assert_eq!(ladder_file(&lab), after);
}

#[test]
fn a_damaged_ladder_is_refused_before_the_first_game() {
    let lab = Lab::new();
    let event = ladder("1")
        .builtin("weak", "random")
        .builtin("strong", "kuyu");
    let file = event.write(&lab, "one.toml");
    for (text, says) in [
        ("", "no file of a ladder"),
        (
            r#"{"format":2,"order":["weak","weak"]}"#,
            "names weak twice",
        ),
        (
            r#"{"format":2,"order":["weak"],"ratings":{"weak":{"value":1500,"deviation":-1,"volatility":0.06}}}"#,
            "that cannot be",
        ),
    ] {
        lab.write("ladder.json", text);
        let ran = lab.hakem([OsStr::new("run"), file.as_os_str()]).exits(2);
        ran.says(&["ladder.json", says]);
        assert_eq!(
            std::fs::read_to_string(lab.path("ladder.json")).expect("it is there"),
            text
        );
    }
}

#[test]
fn a_clear_leader_ends_an_event_and_what_was_not_played_is_said() {
    let lab = Lab::new();
    let event = event("3")
        .set("event", "games", "400")
        .set("event", "stop_when_clear", "0.99");
    let ran = lab
        .hakem([
            "run",
            event.write(&lab, "clear.toml").to_str().expect("UTF-8"),
        ])
        .exits(0);
    let ran = ran.says(&["ended early", "strong is clear", "were not played"]);
    drop(ran);
    let games = lab.games("clear").len();
    assert!((20..300).contains(&games), "{games}");
    let page = std::fs::read_to_string(lab.path("clear/report.html")).expect("a page");
    assert!(page.contains("ended early"), "{page}");
    // The seed is told when all was played.
    assert!(!lab.path("clear/seed.json").exists());
}

#[test]
fn an_event_ends_when_its_time_is_over() {
    let lab = Lab::new();
    let event = Event::new("tavla")
        .set("rules", "match_length", "3")
        .set("event", "games", "100000")
        .builtin("a", "random")
        .builtin("b", "random");
    let file = event.write(&lab, "long.toml");
    let file = file.to_str().expect("UTF-8");
    lab.hakem(["run", file, "--max-time", "300ms"])
        .exits(0)
        .says(&["ended early", "its time is over", "close --reason"]);
    let games = lab.games("long").len();
    assert!(games > 0);
    // It goes on where it stopped.
    lab.hakem(["run", file, "--max-time", "300ms"]).exits(0);
    assert!(lab.games("long").len() > games);
    lab.assert_no_process_is_left();
}

#[test]
fn a_dry_run_plays_nothing() {
    let lab = Lab::new();
    let file = event("1")
        .set("event", "format", "\"swiss\"")
        .builtin("third", "first")
        .write(&lab, "dry.toml");
    let ran = lab
        .hakem(["run", file.to_str().expect("UTF-8"), "--dry-run"])
        .exits(0);
    assert!(ran.stdout.contains("20 at least"), "{ran}");
    assert!(ran.stdout.contains("for one game a match"), "{ran}");
    for (format, matches) in [
        ("round-robin", Some(300)),
        ("gauntlet", Some(100)),
        ("ladder", None),
    ] {
        let file = event("1").set("event", "format", &format!("\"{format}\""));
        let file = match format {
            "gauntlet" => file.set("event", "candidate", "\"third\""),
            _ => file,
        };
        let file = ["third", "fourth", "fifth", "sixth"]
            .iter()
            .fold(file.set("event", "games", "20"), |file, name| {
                file.builtin(name, "first")
            })
            .write(&lab, "dry.toml");
        let ran = lab
            .hakem(["run", file.to_str().expect("UTF-8"), "--dry-run"])
            .exits(0);
        let figure = |name: &str| -> (u32, String) {
            let is_it = |line: &&str| line.split('|').next().is_some_and(|key| key.trim() == name);
            let line = ran.stdout.lines().find(is_it);
            let value = line.and_then(|line| line.split('|').nth(1));
            let value = value.unwrap_or_else(|| panic!("{name} in {ran}")).trim();
            let (number, words) = value.split_once(' ').unwrap_or((value, ""));
            (number.parse().expect("a number"), words.to_owned())
        };
        let (found, words) = figure("matches");
        assert!(found >= figure("matches of the first round").0, "{ran}");
        match matches {
            Some(matches) => assert_eq!((found, words.as_str()), (matches, "")),
            None => assert_eq!(words, "at least"),
        }
    }
    assert!(!lab.path("dry").exists());
    let missing = event("1")
        .bot("nobody", &["no-such-program-anywhere"])
        .write(&lab, "missing.toml");
    lab.hakem(["run", missing.to_str().expect("UTF-8"), "--dry-run"])
        .exits(2)
        .says(&["no-such-program-anywhere"]);
    // A folder of other things, such as the bots', is found before the first game.
    std::fs::create_dir(lab.path("dry")).expect("a folder");
    lab.write("dry/bot.py", "print()\n");
    let file = file.to_str().expect("UTF-8");
    for command in [&["run", file, "--dry-run"][..], &["run", file]] {
        lab.hakem(command).exits(2).says(&[
            "dry is not a result of this program",
            "but holds bot.py; choose another folder with --out DIR",
        ]);
    }
    let elsewhere = ["run", file, "--dry-run", "--out", "elsewhere"];
    lab.hakem(elsewhere).exits(0);
    assert!(!lab.path("elsewhere").exists());
}

/// What a rating file says of bots that it does not know, and before it is there.
#[test]
fn an_anchor_of_a_bot_that_has_not_played_is_said_to_be_noted() {
    let lab = Lab::new();
    for args in [
        &[][..],
        &["show"],
        &["history", "x"],
        &["anchor", "x", "1000"],
    ] {
        lab.hakem([&["ratings", "r.json"], args].concat())
            .exits(2)
            .says(&["there is no r.json", "hakem ratings r.json add DIR"]);
    }
    lab.run(&event("1").write(&lab, "one.toml"));
    lab.hakem(["ratings", "r.json", "add", "one"]).exits(0);
    let name = ratings(&lab, &[])[0]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let ran = lab
        .hakem(["ratings", "r.json", "anchor", "zz", "1000"])
        .exits(0);
    let ran = ran.says(&["zz has not played", "1000", "noted"]);
    assert!(!ran.stdout.contains("zz"), "{ran}");
    let known = lab
        .hakem(["ratings", "r.json", "anchor", &name, "1000"])
        .exits(0);
    assert_eq!(known.stderr, "");
    lab.hakem(["ratings", "r.json", "anchor", "yy"])
        .exits(0)
        .says(&["yy has not played"]);
}

/// Late entries and withdrawals of a Swiss event.
#[test]
fn bots_join_and_leave_a_swiss_event() {
    let lab = Lab::new();
    let event = Event::new("mangala")
        .set("event", "format", "\"swiss\"")
        .set("event", "rounds", "3")
        .builtin("a", "random")
        .builtin("b", "first")
        .builtin("c", "greedy")
        .builtin("late", "kuyu")
        .with("joins = 2")
        .builtin("gone", "random")
        .with("leaves = 3");
    lab.run(&event.write(&lab, "swiss.toml"));
    let rounds = |bot: &str| -> Vec<String> {
        let games = lab.games("swiss");
        let of_bot = common::of_bot(&games, bot);
        let mut rounds: Vec<String> = of_bot
            .iter()
            .map(|game| {
                common::text(game, "id")
                    .split('.')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        rounds.dedup();
        rounds
    };
    assert!(!rounds("late").contains(&"r1".to_owned()));
    assert!(!rounds("gone").contains(&"r3".to_owned()));
    let standings = lab.standings("swiss");
    let rows = standings.as_array().expect("rows");
    // Four bots in rounds 1 and 3, five in round 2: one bye of two points.
    let byes: u64 = rows
        .iter()
        .map(|row| row["byes"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(byes, 1);
    assert!(
        rows.iter()
            .all(|row| row["tie_breaks"]["buchholz"].is_number())
    );
    let points: f64 = rows
        .iter()
        .map(|row| row["points"].as_f64().unwrap_or(0.0))
        .sum();
    assert_eq!(points, 2.0 * 6.0 + 2.0);
}
