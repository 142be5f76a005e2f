//! `hakem gate`: verdicts and exit codes, budgets, copies, going on, measured baselines.
#![cfg(feature = "runner")]

mod common;

use common::Lab;
use serde_json::Value;

const KUYU: &str = "builtin:kuyu";
const RANDOM: &str = "builtin:random";

/// A gate at Mangala with a fixed seed.
fn gate<'a>(candidate: &'a str, baseline: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "gate",
        "--game",
        "mangala",
        "--seed",
        "7",
        "--format",
        "json",
        "--candidate",
        candidate,
        "--baseline",
        baseline,
        "--opening-plies",
        "4",
    ];
    args.extend(more);
    args
}

fn number(result: &Value, key: &str) -> f64 {
    result[key]
        .as_f64()
        .unwrap_or_else(|| panic!("`{key}` in {result}"))
}

#[test]
fn a_stronger_candidate_is_accepted_and_a_weaker_one_rejected() {
    let lab = Lab::new();
    let accepted = lab.hakem(gate(KUYU, RANDOM, &[])).exits(0).json();
    assert_eq!(accepted["decision"], "accepted", "{accepted}");
    assert!(number(&accepted, "llr") >= accepted["bounds"][1].as_f64().expect("a bound"));
    assert!(number(&accepted, "elo") > 0.0);
    assert_eq!(number(&accepted, "games"), 2.0 * number(&accepted, "pairs"));
    assert!(number(&accepted, "games") < 400.0, "{accepted}");
    let rejected = lab.hakem(gate(RANDOM, KUYU, &[])).exits(1).json();
    assert_eq!(rejected["decision"], "rejected", "{rejected}");
    assert!(number(&rejected, "llr") <= rejected["bounds"][0].as_f64().expect("a bound"));
    lab.assert_no_process_is_left();
}

/// The verdict and its figures do not depend on how many are played at once.
#[test]
fn the_verdict_does_not_depend_on_concurrency() {
    let lab = Lab::new();
    let one = lab
        .hakem(gate(
            KUYU,
            "builtin:greedy",
            &["--jobs", "1", "--elo1", "100", "--max-games", "300"],
        ))
        .json();
    let four = lab
        .hakem(gate(
            KUYU,
            "builtin:greedy",
            &["--jobs", "4", "--elo1", "100", "--max-games", "300"],
        ))
        .json();
    assert_eq!(one, four);
}

#[test]
fn a_budget_of_games_or_time_ends_without_a_decision() {
    let lab = Lab::new();
    let games = lab
        .hakem(gate(RANDOM, RANDOM, &["--max-games", "10"]))
        .exits(4)
        .json();
    assert_eq!(games["decision"], "no_decision");
    assert_eq!(games["pairs"], 5);
    assert!(
        games["why"]
            .as_str()
            .is_some_and(|why| why.contains("--max-games")),
        "{games}"
    );
    // Tavla matches to 999 points do not end in that time.
    let long = [
        "gate",
        "--game",
        "tavla",
        "--rule",
        "match_length=999",
        "--candidate",
        RANDOM,
        "--baseline",
        RANDOM,
        "--format",
        "json",
        "--max-time",
        "100ms",
    ];
    let time = lab.hakem(long).exits(4).json();
    assert_eq!(time["decision"], "no_decision");
    assert!(
        time["why"]
            .as_str()
            .is_some_and(|why| why.contains("--max-time")),
        "{time}"
    );
    lab.assert_no_process_is_left();
}

/// Two bots without chance, from one start: all pairs but the first are copies.
#[test]
fn copies_of_a_game_are_no_evidence() {
    let lab = Lab::new();
    let args = [
        "gate",
        "--game",
        "mangala",
        "--candidate",
        "builtin:first",
        "--baseline",
        "builtin:greedy",
        "--format",
        "json",
    ];
    // The lot decides who moves first, so that there are two different pairs at most.
    let result = lab.hakem(args).exits(4).json();
    assert_eq!(result["decision"], "no_decision");
    assert!(number(&result, "pairs") <= 2.0, "{result}");
    assert!(number(&result, "copies") >= 100.0, "{result}");
    assert!(
        result["why"]
            .as_str()
            .is_some_and(|why| why.contains("--opening-plies")),
        "{result}"
    );
}

#[test]
fn a_gate_goes_on_from_its_folder() {
    let lab = Lab::new();
    let whole = lab
        .hakem(gate(
            KUYU,
            "builtin:greedy",
            &["--elo1", "60", "--max-games", "60"],
        ))
        .json();
    let part = lab.hakem(gate(
        KUYU,
        "builtin:greedy",
        &["--elo1", "60", "--out", "g", "--max-games", "20"],
    ));
    let part = part.exits(4).json();
    assert_eq!(part["pairs"], 10);
    let rest = lab
        .hakem(gate(
            KUYU,
            "builtin:greedy",
            &["--elo1", "60", "--out", "g", "--max-games", "60"],
        ))
        .json();
    assert_eq!(rest, whole);
    lab.verify_records("g");
    // Another candidate is another event.
    lab.hakem(gate("builtin:first", "builtin:greedy", &["--out", "g"]))
        .exits(2);
}

#[test]
fn points_and_games_without_partner_can_be_tested() {
    let lab = Lab::new();
    let args = [
        "gate",
        "--game",
        "tavla",
        "--seed",
        "3",
        "--candidate",
        "builtin:usta",
        "--baseline",
        RANDOM,
        "--points0",
        "0",
        "--points1",
        "0.5",
        "--format",
        "json",
    ];
    let points = lab.hakem(args).exits(0).json();
    assert_eq!(points["scale"], "points");
    assert!(number(&points, "points_per_game") > 0.5, "{points}");
    let single = lab
        .hakem(gate(KUYU, RANDOM, &["--unpaired", "--elo", "normalised"]))
        .exits(0)
        .json();
    assert_eq!(single["scale"], "normalised");
    assert_eq!(single["pairs"], 0);
    assert_eq!(single["counts"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_measured_baseline_is_kept_and_held_to() {
    let lab = Lab::new();
    let file = ["--baseline-file", "strength.json"];
    let none = lab.hakem(gate("builtin:greedy", RANDOM, &file)).exits(2);
    none.says(&["--update-baseline"]);
    let update = [&file[..], &["--update-baseline", "--max-games", "60"]].concat();
    let measured = lab
        .hakem(gate("builtin:greedy", RANDOM, &update))
        .exits(0)
        .json();
    assert_eq!(measured["decision"], "measured");
    assert_eq!(measured["games"], 60);
    let text = std::fs::read_to_string(lab.path("strength.json")).expect("it is written");
    let stored: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(stored["measured"][0]["games"], 60);
    // The same bot is accepted without a game; a much weaker one is rejected.
    let same = lab
        .hakem(gate("builtin:greedy", RANDOM, &file))
        .exits(0)
        .json();
    assert_eq!(
        (&same["decision"], &same["games"]),
        (&Value::from("accepted"), &Value::from(0))
    );
    let worse = lab
        .hakem(gate("builtin:first", RANDOM, &file))
        .exits(1)
        .json();
    assert_eq!(worse["decision"], "rejected", "{worse}");
    // Bots that play the same games again cannot be measured by them.
    let copies = [
        "gate",
        "--game",
        "mangala",
        "--candidate",
        "builtin:first",
        "--baseline",
        "builtin:greedy",
        "--baseline-file",
        "strength.json",
        "--update-baseline",
    ];
    lab.hakem(copies).exits(4);
    // Other rules, another measurement.
    lab.hakem(gate(
        "builtin:first",
        RANDOM,
        &["--baseline-file", "strength.json", "--rule", "sets=3"],
    ))
    .exits(2);
    lab.write("bad.json", "{}");
    lab.hakem(gate(
        "builtin:first",
        RANDOM,
        &["--baseline-file", "bad.json"],
    ))
    .exits(2)
    .says(&["bad.json"]);
}

#[test]
fn what_cannot_be_tested_is_told() {
    let lab = Lab::new();
    for (more, word) in [
        (&["--elo0", "10", "--elo1", "0"][..], "hypotheses"),
        (&["--alpha", "0.7"], "alpha"),
        (&["--elo1", "9999"], "9999"),
        (&["--openings", "missing.jsonl"], "missing.jsonl"),
        (&["--max-games", "0"], "max-games"),
        (&["--max-games", "1"], "2 are the least"),
        (&["--points0", "1"], "points1"),
        (&["--update-baseline"], "baseline-file"),
    ] {
        // `--opening-plies` of the helper and `--openings` exclude each other.
        let args: Vec<&str> = [
            "gate",
            "--game",
            "mangala",
            "--candidate",
            KUYU,
            "--baseline",
            RANDOM,
        ]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
        lab.hakem(args).exits(2).says(&[word]);
    }
    lab.hakem(gate("builtin:nobody", RANDOM, &[]))
        .exits(2)
        .says(&["nobody"]);
}

#[test]
fn a_verdict_can_be_read_by_people() {
    let lab = Lab::new();
    let mut args = gate(KUYU, RANDOM, &[]);
    let at = args
        .iter()
        .position(|&arg| arg == "json")
        .expect("the helper asks for it");
    for (format, word) in [
        ("table", "accepted"),
        ("markdown", "| decision "),
        ("csv", "decision,why,"),
    ] {
        args[at] = format;
        let shown = lab.hakem(args.clone()).exits(0);
        assert!(shown.stdout.contains(word), "{shown}");
    }
}

#[test]
fn the_ready_made_script_is_a_gate() {
    let lab = Lab::new();
    let hakem = common::hakem_path();
    let folder = hakem.parent().expect("it lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let ran =
        std::process::Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ci/gate.sh"))
            .current_dir(lab.path(""))
            .env("PATH", format!("{}:{path}", folder.display()))
            .envs([("BOT", KUYU), ("BASELINE", RANDOM), ("GAME", "mangala")])
            .output()
            .expect("the script starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let verdict: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(verdict["decision"], "accepted");
    assert!(lab.path("gate.xml").is_file());
}

/// A program that fails at its first turn, in each game the same way, whatever the game and the way it fails.
#[test]
fn a_candidate_that_forfeits_every_game_is_rejected() {
    let lab = Lab::new();
    let mock = common::mockbot_path();
    let mock = mock.to_str().expect("UTF-8");
    let no_ready = format!("{mock} --crash-before-ready");
    let crash = format!("{mock} --crash --at 1");
    let illegal = format!("{mock} --illegal --at 1");
    for game in ["tavla", "mangala", "oware", "reversi", "dokuztas"] {
        let run = |candidate: &str, baseline: &str| {
            lab.hakem([
                "gate",
                "--game",
                game,
                "--seed",
                "3",
                "--max-games",
                "400",
                "--elo1",
                "200",
                "--clock",
                "ready=10s",
                "--format",
                "json",
                "--candidate",
                candidate,
                "--baseline",
                baseline,
            ])
        };
        for fault in [&no_ready, &crash, &illegal] {
            let rejected = run(fault, RANDOM).exits(1).says(&["forfeited"]).json();
            assert_eq!(
                rejected["decision"], "rejected",
                "{game} {fault}: {rejected}"
            );
            assert!(number(&rejected, "candidate_forfeits") > 0.0, "{rejected}");
            assert_eq!(rejected["copies"], 0, "{rejected}");
        }
        // The other way round it is the baseline that fails.
        let accepted = run(RANDOM, &no_ready);
        assert_eq!(accepted.exits(0).json()["decision"], "accepted");
    }
    lab.assert_no_process_is_left();
}

/// Every figure of the JSON has its columns in CSV, and nothing there is marked as a formula.
#[test]
fn csv_and_json_of_a_verdict_say_the_same() {
    let lab = Lab::new();
    for (candidate, baseline, more) in [
        (RANDOM, "builtin:greedy", &[][..]),
        ("builtin:greedy", RANDOM, &["--unpaired"]),
        (RANDOM, RANDOM, &["--max-games", "4"]),
    ] {
        let args = gate(candidate, baseline, more);
        let json = lab.hakem(args.clone()).json();
        let args: Vec<&str> = args
            .iter()
            .map(|&arg| if arg == "json" { "csv" } else { arg })
            .collect();
        let csv = lab.hakem(args);
        let lines: Vec<&str> = csv.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{csv}");
        assert!(!csv.stdout.contains('\''), "{csv}");
        // The reason, which has a comma, stands in quotes.
        let row = lines[1]
            .replace(json["why"].as_str().expect("words"), "why")
            .replace('"', "");
        let row: std::collections::BTreeMap<&str, &str> =
            lines[0].split(',').zip(row.split(',')).collect();
        assert_eq!(lines[0].split(',').count(), row.len(), "{csv}");
        let mut told = 0;
        let mut holds = |key: &str, value: &Value| {
            told += 1;
            let cell = row.get(key).unwrap_or_else(|| panic!("{key} in {csv}"));
            match value {
                Value::Null => assert_eq!(*cell, "", "{key}"),
                Value::Number(number) => {
                    assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{key}")
                }
                Value::String(text) => assert!(cell == text || key == "why", "{key}"),
                other => panic!("{key}: {other}"),
            }
        };
        for (key, value) in json.as_object().expect("an object") {
            match value {
                Value::Array(list) if key == "counts" => {
                    (0..)
                        .zip(list)
                        .for_each(|(at, count)| holds(&format!("counts_{at}"), count));
                }
                Value::Array(ends) => {
                    holds(&format!("{key}_low"), &ends[0]);
                    holds(&format!("{key}_high"), &ends[1]);
                }
                value => holds(key, value),
            }
        }
        // This game has no points of its own.
        assert_eq!(told + 3, row.len(), "{csv}");
    }
}

/// No interval is told of scores that do not vary, and no form of output tells how a value is kept inside.
#[test]
fn what_is_not_known_is_said_in_words() {
    let lab = Lab::new();
    let mut args = gate(
        "builtin:greedy",
        "builtin:greedy",
        &["--max-games", "5", "--junit", "v.xml"],
    );
    let result = lab
        .hakem(args.clone())
        .exits(4)
        .says(&["--max-games 5", "4 are the most"])
        .json();
    assert_eq!(result["games"], 4, "{result}");
    assert_eq!(
        (&result["elo"], &result["interval"]),
        (&Value::from(0.0), &serde_json::json!([null, null]))
    );
    assert_eq!(result["superiority"], 0.5);
    args.retain(|&arg| arg != "json" && arg != "--format");
    let shown = lab.hakem(args).exits(4);
    assert!(shown.stdout.contains("+0.0; no interval"), "{shown}");
    assert!(shown.stdout.contains("50.0 %"), "{shown}");
    let won = lab.hakem([
        "gate",
        "--game",
        "mangala",
        "--candidate",
        KUYU,
        "--baseline",
        "builtin:first",
        "--max-games",
        "2",
        "--junit",
        "w.xml",
        "--seed",
        "7",
    ]);
    assert!(won.stdout.contains(" 1 pair: 0, 0, 0, 0, 1"), "{won}");
    assert!(
        won.stdout.contains("without end: every match was won"),
        "{won}"
    );
    for file in ["v.xml", "w.xml"] {
        let xml = std::fs::read_to_string(lab.path(file)).expect("it is written");
        assert!(
            xml.contains("score: ") && !xml.contains("Some(") && !xml.contains("None"),
            "{xml}"
        );
    }
}

/// Where there is nothing that varies, a gate says what would.
#[test]
fn bots_that_play_the_same_are_told_how_to_differ() {
    let lab = Lab::new();
    let args = [
        "gate",
        "--game",
        "reversi",
        "--candidate",
        "builtin:greedy",
        "--baseline",
        "builtin:first",
    ];
    let few = lab
        .hakem([&args[..], &["--max-games", "20"]].concat())
        .exits(4);
    assert!(
        few.stdout.contains("copies of an earlier one") && few.stdout.contains("--opening-plies"),
        "{few}"
    );
    let other = lab.hakem([&args[..], &["--max-games", "20", "--opening-plies", "8"]].concat());
    assert!(!other.stdout.contains("--opening-plies"), "{other}");
}

/// The folder of a gate holds more matches than the verdict counts: those that were in play, and copies.
#[test]
fn what_counted_of_a_folder_is_said() {
    let lab = Lab::new();
    let ran = lab.hakem([
        "gate",
        "--game",
        "reversi",
        "--candidate",
        "builtin:greedy",
        "--baseline",
        "builtin:first",
        "--max-games",
        "20",
        "--out",
        "g",
        "--format",
        "json",
    ]);
    let ran = ran.exits(4).says(&["g holds 20 matches"]);
    let result = ran.json();
    let said = format!(
        "{} count, {} were copies",
        result["games"],
        2 * result["copies"].as_u64().expect("a number")
    );
    assert!(ran.stderr.contains(&said), "{ran}");
}

/// What the file of a baseline says is what was shown, and what it cannot say is refused with file and key.
#[test]
fn a_measurement_is_what_was_shown_and_possible() {
    let lab = Lab::new();
    let update = [
        "--baseline-file",
        "s.json",
        "--update-baseline",
        "--max-games",
        "40",
    ];
    let shown = lab
        .hakem(gate("builtin:greedy", RANDOM, &update))
        .exits(0)
        .json();
    let text = std::fs::read_to_string(lab.path("s.json")).expect("it is written");
    let right: Value = serde_json::from_str(&text).expect("JSON");
    assert!(shown["elo"].is_number(), "{shown}");
    for key in ["elo", "score", "games"] {
        assert_eq!(right["measured"][0][key], shown[key], "{key}");
    }
    for (key, value) in [
        ("score", "-1"),
        ("score", "1e308"),
        ("games", "0"),
        ("games", "18446744073709551615"),
        ("elo", "18446744073709551615"),
        ("elo", "-3001"),
        ("points_per_game", "-1e7"),
    ] {
        let mut wrong = right.clone();
        wrong["measured"][0][key] = serde_json::from_str(value).expect("a number");
        lab.write("s.json", wrong.to_string());
        lab.hakem(gate(
            "builtin:first",
            RANDOM,
            &["--baseline-file", "s.json"],
        ))
        .exits(2)
        .says(&["s.json", &format!("measured[0].{key}"), "would be right"]);
    }
    // Possible, but no test can count from there: that names the file, too.
    let mut far = right;
    far["measured"][0]["elo"] = Value::from(2500);
    lab.write("s.json", far.to_string());
    lab.hakem(gate(
        "builtin:first",
        RANDOM,
        &["--baseline-file", "s.json"],
    ))
    .exits(2)
    .says(&["s.json", "2500"]);
}
