//! GNU Backgammon as a bot, and as another referee: it plays what was recorded over and keeps the score itself.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{self, Event, Lab, text};
use crate::{engine, hakem, hello, logs, script};

/// An event of GNU Backgammon, a built-in bot and one that resigns.
fn small_event() -> Event {
    Event::new("tavla")
        .set("event", "games", "2")
        .bot("gnubg", &[&hakem(), "adapter", "gnubg"])
        .builtin("greedy", "greedy")
        .bot("quitter", &["python3", &script("quitter.py")])
}

/// The same with GNU Backgammon at another level and a second built-in bot.
fn event(games: u32) -> Event {
    small_event()
        .set("event", "games", &games.to_string())
        .bot("gnubg-advanced", &[&hakem(), "adapter", "gnubg"])
        .with("options = { level = \"advanced\" }")
        .builtin("usta", "usta")
}

/// What GNU Backgammon says of the games in these records, by id, and of positions in them.
fn kept(lab: &Lab, gnubg: &Path, dir: &str) -> (BTreeMap<String, Value>, Vec<Value>) {
    let (kept, positions) = (lab.path("kept.jsonl"), lab.path("positions.jsonl"));
    let ran = Command::new(gnubg)
        .args(["-t", "-q", "-r", "-p", &script("keep_score.py")])
        .env("HAKEM_RECORDS", lab.path(dir).join("records"))
        .env("HAKEM_KEPT", &kept)
        .env("HAKEM_POSITIONS", &positions)
        .env("HOME", lab.path("."))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success() && said.is_empty(),
        "GNU Backgammon: {said}"
    );
    let lines = |file: &Path| -> Vec<Value> {
        let text = std::fs::read_to_string(file).expect("it was written");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let games = lines(&kept);
    let by_id = games
        .into_iter()
        .map(|game| (text(&game, "id").to_owned(), game));
    (by_id.collect(), lines(&positions))
}

/// Plays an event, and holds every game to what GNU Backgammon says of it. Returns its games and what was said. In the first game of
/// a match that begins with a seat at `crawford_at` points there is no cube.
fn agree(
    lab: &Lab,
    gnubg: &Path,
    event: &Event,
    crawford_at: Option<u64>,
) -> (Vec<Value>, Vec<Value>) {
    lab.run(&event.write(lab, "event.toml"));
    let games = lab.games("event");
    assert_eq!(lab.verify_records("event"), games.len());
    let (kept, positions) = kept(lab, gnubg, "event");
    assert_eq!(
        kept.len(),
        games.len(),
        "it played every game to the same end"
    );
    let mut score = [0, 0];
    let mut crawford_was = false;
    let mut said = Vec::new();
    for game in &games {
        let id = text(game, "id");
        assert!(
            matches!(text(game, "verdict"), "rule" | "resigned"),
            "no engine forfeits: {game}"
        );
        let told = &kept[id];
        if id.ends_with(".g1") {
            (score, crawford_was) = ([0, 0], false);
        }
        let crawford = !crawford_was && crawford_at.is_some_and(|points| score.contains(&points));
        crawford_was |= crawford;
        assert_eq!(told["crawford"], json!(crawford), "{game}");
        let winner = told["winner"].as_u64().expect("a seat") as usize;
        assert_eq!(game["seats"][winner], game["winner"], "{game} and {told}");
        assert_eq!(game["points"][winner], told["points"], "{game} and {told}");
        assert_eq!(game["points"][1 - winner], 0, "{game}");
        assert_eq!(told["before"], json!(score), "the score before {game}");
        assert_eq!(
            told["resigned"],
            json!(text(game, "reason") == "resigned"),
            "{game}"
        );
        let times = match text(game, "reason") {
            "borne_off" | "passed" => Some(1),
            "mars" => Some(2),
            "katmerli_mars" => Some(3),
            _ => None,
        };
        // With Jacoby a mars may count as a single game.
        if let Some(times) = times.filter(|_| crawford_at.is_some()) {
            let cube = told["cube"].as_u64().expect("a value");
            assert_eq!(told["points"], times * cube, "{game} and {told}");
        }
        for (seat, points) in score.iter_mut().enumerate() {
            *points += game["points"][seat].as_u64().expect("points");
        }
        said.push(told.clone());
    }
    // Both see the same number of plays.
    let lines: Vec<String> = positions
        .iter()
        .map(|asked| asked["line"].to_string())
        .collect();
    let answers = lab
        .hakem_fed(&["rules"], &(lines.join("\n") + "\n"))
        .exits(0);
    assert_eq!(answers.stdout.lines().count(), positions.len());
    for (answer, asked) in answers.stdout.lines().zip(&positions) {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let plays = answer["legal"].as_array().map(Vec::len);
        assert_eq!(json!(plays), asked["plays"], "{asked}");
    }
    assert!(positions.len() > 40);
    (games, said)
}

/// How often something was played, in all games.
fn count(said: &[Value], what: &str) -> u64 {
    said.iter()
        .filter_map(|game| game["counts"][what].as_u64())
        .sum()
}

/// The games that ended for this reason.
fn ended(games: &[Value], reason: &str) -> usize {
    games
        .iter()
        .filter(|game| text(game, "reason") == reason)
        .count()
}

#[test]
fn it_plays_matches_and_keeps_the_same_score() {
    let Some(gnubg) = engine("gnubg", "gnubg") else {
        return;
    };
    let lab = Lab::new();
    let event = event(4).set("rules", "match_length", "5");
    let (games, said) = agree(&lab, &gnubg, &event, Some(4));
    // Twenty matches of GNU Backgammon against itself and the built-in bots, and eight against the one that resigns.
    let of_engines = |game: &&Value| {
        let seats = game["seats"].to_string();
        seats.contains("gnubg") && !seats.contains("quitter")
    };
    let first_games = games
        .iter()
        .filter(|game| text(game, "id").ends_with(".g1"));
    assert_eq!(first_games.filter(of_engines).count(), 20);
    assert!(
        said.iter().any(|game| game["crawford"] == true),
        "a Crawford game"
    );
    for what in [
        "double",
        "take",
        "pass",
        "passes",
        "resignations",
        "accept",
        "refuse",
    ] {
        assert!(count(&said, what) > 0, "no {what} in {} games", games.len());
    }
    for reason in ["borne_off", "mars", "passed", "resigned"] {
        assert!(ended(&games, reason) > 0, "no game ended by {reason}");
    }
    // It is no beginner.
    let standings = lab.standings("event");
    let rows = standings.as_array().expect("rows");
    let points = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).expect("a row");
        row["points"].as_f64().expect("points")
    };
    assert!(points("gnubg") > points("greedy"), "{standings}");
}

#[test]
fn it_plays_money_sessions_with_jacoby_and_beavers() {
    let Some(gnubg) = engine("gnubg", "gnubg") else {
        return;
    };
    let lab = Lab::new();
    let event = event(2)
        .set("rules", "match_length", "0")
        .set("rules", "games", "3")
        .set("rules", "jacoby", "true")
        .set("rules", "beavers", "true");
    let (games, said) = agree(&lab, &gnubg, &event, None);
    for what in ["double", "take", "pass", "beaver", "accept"] {
        assert!(count(&said, what) > 0, "no {what} in {} games", games.len());
    }
    assert!(ended(&games, "katmerli_mars") + ended(&games, "mars") > 0);
}

#[test]
fn it_plays_without_the_crawford_rule_and_without_a_cube() {
    let Some(gnubg) = engine("gnubg", "gnubg") else {
        return;
    };
    for (rules, doubles) in [(("crawford", "false"), true), (("cube", "false"), false)] {
        let lab = Lab::new();
        let event = small_event()
            .set("rules", "match_length", "3")
            .set("rules", rules.0, rules.1);
        // Without a cube the first game at two points is the Crawford game by name.
        let crawford_at = (rules.0 == "cube").then_some(2);
        let (_, said) = agree(&lab, &gnubg, &event, crawford_at);
        assert_eq!(count(&said, "double") > 0, doubles, "{rules:?}");
    }
}

#[test]
fn it_plays_in_the_strictest_sandbox() {
    if engine("gnubg", "gnubg").is_none() {
        return;
    }
    let lab = Lab::new();
    let event = Event::new("tavla")
        .set("rules", "match_length", "3")
        .set("limits", "sandbox", "\"auto\"")
        .bot("gnubg", &[&hakem(), "adapter", "gnubg"])
        .builtin("greedy", "greedy");
    lab.run(&event.write(&lab, "event.toml"));
    for game in lab.games("event") {
        assert_eq!(game["verdict"], "rule", "{game}");
        let record = std::fs::read_to_string(lab.path("event").join(text(&game, "record")))
            .expect("a record");
        let header: Value = record
            .lines()
            .next()
            .and_then(|line| serde_json::from_str(line).ok())
            .expect("a header");
        let seat = usize::from(game["seats"][1] == "gnubg");
        let level = &header["header"]["about"]["bots"][seat]["sandbox"]["level"];
        if level != "strict" {
            let line = format!("SKIPPED gnubg at `strict`: this machine allows {level}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
    assert_eq!(logs(&lab), "", "nothing is complained of");
}

/// A turn of seat `seat` with these points of seat 0 and seat 1, (place, count), and what else the state holds.
fn turn(id: u64, seat: u64, ask: &str, sides: [&[(usize, u64)]; 2], more: &Value) -> String {
    let checkers = sides.map(|side| {
        let mut counts = [0; 26];
        for &(place, count) in side {
            counts[place] = count;
        }
        counts[0] = 15 - side.iter().map(|&(_, count)| count).sum::<u64>();
        counts.to_vec()
    });
    let mut state = json!({
        "checkers": checkers, "dice": null, "cube": {"value": 1, "owner": null}, "score": [0, 0], "length": 0,
        "crawford": false, "turn": seat,
    });
    for (key, value) in more.as_object().expect("fields") {
        state[key] = value.clone();
    }
    let legal: &[&str] = match ask {
        "cube" => &["roll", "double"],
        "take" => &["take", "pass", "beaver"],
        _ => &["accept", "refuse"],
    };
    let turn = json!({
        "type": "turn", "id": id, "seat": seat, "ask": ask, "state": state, "legal": legal, "last": [],
        "clock": {"left_ms": [null, null], "limit_ms": null},
    });
    format!("{turn}\n")
}

#[test]
fn it_sees_every_question_from_the_right_side() {
    if engine("gnubg", "gnubg").is_none() {
        return;
    }
    // Home with two checkers left; not yet home with any, so that a gammon is sure; won by four of five throws.
    let (near, far): (&[_], &[_]) = (&[(1, 2)], &[(13, 10), (12, 5)]);
    let likely: &[_] = &[(4, 1), (1, 1)];
    let (behind, ahead): (&[_], &[_]) = (&[(8, 3), (7, 2), (6, 5)], &[(3, 2), (2, 4), (1, 1)]);
    let doubled = json!({"cube": {"value": 1, "owner": null, "offered": 2, "doubler": 0}});
    let beavered = json!({"cube": {"value": 2, "owner": 1, "offered": 4, "doubler": 0}});
    let at = |score: [u32; 2]| {
        let mut state = doubled.clone();
        (state["score"], state["length"]) = (json!(score), json!(3));
        state
    };
    let money = "{\"beavers\":true}";
    for (rules, questions) in [
        (
            money,
            vec![
                (0, "cube", [likely, near], json!({}), "double"),
                (1, "cube", [far, near], json!({}), "roll"),
                (0, "cube", [far, near], json!({}), "roll"),
                (1, "take", [near, far], doubled.clone(), "pass"),
                (1, "take", [far, near], doubled.clone(), "take"),
                (1, "take", [behind, ahead], doubled.clone(), "beaver"),
                (0, "take", [near, far], beavered.clone(), "take"),
                (0, "take", [far, near], beavered.clone(), "pass"),
                (
                    1,
                    "resign",
                    [far, near],
                    json!({"resign": {"by": 0, "times": 1}}),
                    "refuse",
                ),
                (
                    1,
                    "resign",
                    [far, near],
                    json!({"resign": {"by": 0, "times": 2}}),
                    "accept",
                ),
                (
                    0,
                    "resign",
                    [far, near],
                    json!({"resign": {"by": 1, "times": 1}}),
                    "accept",
                ),
            ],
        ),
        (
            "{\"jacoby\":true}",
            vec![
                (1, "cube", [far, near], json!({}), "double"),
                (
                    1,
                    "resign",
                    [far, near],
                    json!({"resign": {"by": 0, "times": 1}}),
                    "accept",
                ),
            ],
        ),
        (
            "{\"match_length\":3}",
            vec![
                // A pass leaves the doubler one point behind no more, or loses the match.
                (1, "take", [likely, near], at([1, 2]), "pass"),
                (1, "take", [likely, near], at([2, 1]), "take"),
                (
                    1,
                    "cube",
                    [near, likely],
                    json!({"score": [1, 2], "length": 3}),
                    "roll",
                ),
                (
                    0,
                    "cube",
                    [likely, near],
                    json!({"score": [1, 2], "length": 3}),
                    "double",
                ),
            ],
        ),
    ] {
        let mut input = hello("tavla", rules);
        for (id, (seat, ask, sides, more, _)) in (1..).zip(&questions) {
            input += &turn(id, *seat, ask, *sides, more);
        }
        let lab = Lab::new();
        let ran = lab.hakem_fed(&["adapter", "gnubg"], &input).exits(0);
        let answers: Vec<&str> = ran.stdout.lines().skip(1).collect();
        assert_eq!(answers.len(), questions.len(), "{ran}");
        for (answer, question) in answers.iter().zip(&questions) {
            let answer: Value = serde_json::from_str(answer).expect("JSON");
            assert_eq!(answer["move"], question.4, "{question:?} by {rules}");
        }
    }
}

#[test]
fn the_same_question_gets_the_same_answer() {
    if engine("gnubg", "gnubg").is_none() {
        return;
    }
    let lab = Lab::new();
    let checked = lab
        .hakem([
            "check",
            "--game",
            "tavla",
            "--format",
            "json",
            &format!("{} adapter gnubg --level beginner", hakem()),
        ])
        .exits(0);
    let found = checked.json();
    let list = found.as_array().expect("a list");
    let determinism = list
        .iter()
        .find(|found| found["check"] == "determinism")
        .expect("it is looked at");
    assert_eq!(determinism["result"], "pass", "{determinism}");
}

#[test]
fn what_it_cannot_play_is_refused_at_hello() {
    let lab = Lab::new();
    for (hello, words) in [
        (hello("oware", "{}"), &["gnubg", "oware"][..]),
        (
            hello("tavla", "{\"beavers\":true,\"raccoons\":true}"),
            &["raccoons = false"],
        ),
        (
            hello("tavla", "{}").replace("\"options\":{}", "\"options\":{\"level\":\"god\"}"),
            &["god", "world-class"],
        ),
    ] {
        let ran = lab
            .hakem_fed(&["adapter", "gnubg"], &hello)
            .exits(2)
            .says(words);
        assert!(ran.stdout.is_empty(), "no `ready`: {ran}");
    }
}

#[test]
fn a_missing_program_is_told() {
    let lab = Lab::new();
    lab.hakem_fed(
        &["adapter", "gnubg", "--program", "/nowhere/gnubg"],
        &hello("tavla", "{}"),
    )
    .exits(2)
    .says(&["/nowhere/gnubg"]);
    // One that is another program ends, or says something else.
    lab.hakem_fed(
        &["adapter", "gnubg", "--program", "false"],
        &hello("tavla", "{}"),
    )
    .exits(3)
    .says(&["gnubg ended with exit code 1"]);
    if engine("gnubg", "gnubg").is_none() {
        lab.hakem_fed(&["adapter", "gnubg"], &hello("tavla", "{}"))
            .exits(2)
            .says(&["apt-get install gnubg"]);
    }
}

#[test]
fn an_engine_that_dies_is_told() {
    if engine("gnubg", "gnubg").is_none() {
        return;
    }
    let lab = Lab::new();
    let mut adapter = lab
        .command(["adapter", "gnubg"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = adapter.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(adapter.stdout.take().expect("a pipe"));
    stdin
        .write_all(hello("tavla", "{\"match_length\":3}").as_bytes())
        .expect("it reads");
    let mut ready = String::new();
    stdout.read_line(&mut ready).expect("it answers");
    assert!(ready.contains("GNU Backgammon"), "{ready}");
    let engine = lab
        .processes()
        .into_iter()
        .find(|(_, command)| command.contains("--no-rc"))
        .expect("the engine runs")
        .0;
    rustix::process::kill_process(engine, rustix::process::Signal::KILL).expect("it is ended");
    let turn = json!({
        "type": "turn", "id": 1, "seat": 0, "ask": "cube", "last": [], "legal": ["roll", "double"],
        "clock": {"left_ms": [null, null], "limit_ms": null},
        "state": {
            "checkers": [[0,0,0,0,0,0,5,0,3,0,0,0,0,5,0,0,0,0,0,0,0,0,0,0,2,0], [0,0,0,0,0,0,5,0,3,0,0,0,0,5,0,0,0,0,0,0,0,0,0,0,2,0]],
            "dice": null, "cube": {"value": 1, "owner": null}, "score": [0, 0], "length": 3, "crawford": false, "turn": 0,
        },
    });
    stdin
        .write_all(format!("{turn}\n").as_bytes())
        .expect("it reads");
    drop((stdin, stdout));
    common::collect(adapter, "hakem adapter gnubg".into())
        .exits(3)
        .says(&["gnubg was ended by signal 9"]);
    lab.assert_no_process_is_left();
}
