//! `hakem check`: bots with one fault each, which it must name together with what mends it.
#![cfg(feature = "runner")]

mod common;

use std::path::Path;

use common::{Lab, toml_text};
use serde_json::Value;

/// A clock that does not make the tests wait: nothing but a fault comes near its limits.
const CLOCK: &str = "move=2s,ready=5s";

fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/faulty")
        .join(name);
    format!("python3 -B {}.py", path.display())
}

/// What `check` finds, apart from what is well, by check and result; and its exit code.
#[track_caller]
fn check(lab: &Lab, game: &str, bot: &str) -> (Vec<Value>, Option<i32>) {
    let args = [
        "check", "--game", game, "--clock", CLOCK, "--format", "json", bot,
    ];
    let ran = lab.hakem(args);
    let found = match ran.json() {
        Value::Array(list) => list,
        other => panic!("a list, not {other}"),
    };
    let code = ran.code;
    (found, code)
}

fn of_result<'a>(found: &'a [Value], result: &str) -> Vec<&'a str> {
    found
        .iter()
        .filter(|found| found["result"] == result)
        .filter_map(|found| found["check"].as_str())
        .collect()
}

#[test]
fn a_bot_without_a_fault_passes_everything() {
    let lab = Lab::new();
    for game in ["mangala", "tavla", "qbitz"] {
        let (found, code) = check(&lab, game, &script("honest"));
        assert_eq!(code, Some(0), "{found:?}");
        assert!(
            of_result(&found, "fail").is_empty() && of_result(&found, "warn").is_empty(),
            "{found:?}"
        );
        let passed = of_result(&found, "pass");
        for check in [
            "handshake",
            "games",
            "flush",
            "unknown-fields",
            "slow-lines",
            "long-lines",
            "carriage-returns",
            "time",
            "memory",
            "ping",
            "unknown-messages",
            "bye",
            "end-of-input",
        ] {
            assert!(
                passed.contains(&check),
                "{game}: {check} is looked at: {passed:?}"
            );
        }
        assert_eq!(passed.contains(&"stop"), game == "qbitz");
    }
    lab.assert_no_process_is_left();
}

/// The script; the game; the faults and the warnings that are found, no more and no less; words of the first's description and
/// of its cure.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    &'static str,
);

#[test]
fn every_fault_is_named_with_its_cure() {
    let cases: [Case; 19] = [
        (
            "no_flush",
            "mangala",
            &["flush"],
            &[],
            "not flushed",
            "sys.stdout.flush()",
        ),
        (
            "print_only",
            "mangala",
            &[],
            &["flush"],
            "not flushed",
            "flush=True",
        ),
        (
            "debug_on_stdout",
            "mangala",
            &["stdout"],
            &[],
            "thinking about",
            "file=sys.stderr",
        ),
        (
            "banner",
            "mangala",
            &["stdout"],
            &[],
            "Welcome to my bot",
            "stderr",
        ),
        (
            "strict_fields",
            "mangala",
            &["unknown-fields"],
            &[],
            "fields that it does not know",
            "ignore every field",
        ),
        (
            "crlf",
            "mangala",
            &[],
            &["line-ends"],
            "\\r\\n",
            "\"\\n\" alone",
        ),
        (
            "never_exits",
            "mangala",
            &["bye", "end-of-input"],
            &[],
            "does not end",
            "end of input",
        ),
        (
            "leaves_child",
            "mangala",
            &["children"],
            &[],
            "sleep 300",
            "wait for every process",
        ),
        (
            "slow",
            "mangala",
            &["time"],
            &[],
            "did not answer in time",
            "limit_ms",
        ),
        ("wrong_id", "mangala", &["id"], &[], "wrong id", "read `id`"),
        (
            "claims_too_much",
            "mangala",
            &["determinism"],
            &[],
            "claims to be deterministic",
            "seed",
        ),
        (
            "no_line_end",
            "mangala",
            &["line-end"],
            &[],
            "no line end",
            "\\n",
        ),
        (
            "illegal",
            "mangala",
            &["moves"],
            &[],
            "not legal",
            "`legal`",
        ),
        (
            "short_reads",
            "mangala",
            &["slow-lines", "long-lines"],
            &[],
            "come in pieces",
            "line feed",
        ),
        (
            "no_pong",
            "mangala",
            &["ping"],
            &[],
            "ping before the game",
            "pong",
        ),
        (
            "strict_messages",
            "mangala",
            &[],
            &["unknown-messages"],
            "does not know",
            "ignore messages",
        ),
        (
            "crashes",
            "mangala",
            &["crash"],
            &[],
            "list index out of range",
            "stderr",
        ),
        (
            "bad_status",
            "mangala",
            &[],
            &["bye", "end-of-input"],
            "exit status 1: goodbye",
            "status 0",
        ),
        (
            "no_ready",
            "mangala",
            &["messages"],
            &[],
            "does not fit",
            "ready",
        ),
    ];
    // Most of the time they wait for a limit, so several are tried at once.
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) =
                    cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    assert_case(*case);
                }
            });
        }
    });
}

#[track_caller]
fn assert_case((name, game, faults, warnings, what, cure): Case) {
    let lab = Lab::new();
    let (found, code) = check(&lab, game, &script(name));
    let failed = of_result(&found, "fail");
    assert_eq!(failed, faults, "{name}: {found:#?}");
    assert_eq!(of_result(&found, "warn"), warnings, "{name}: {found:#?}");
    assert_eq!(code, Some(i32::from(!faults.is_empty())), "{name}");
    let first = found
        .iter()
        .find(|found| matches!(found["result"].as_str(), Some("fail" | "warn")))
        .expect("a finding");
    let says = |key: &str, word: &str| first[key].as_str().is_some_and(|text| text.contains(word));
    assert!(says("what", what), "{name}: {first}");
    assert!(says("cure", cure), "{name}: {first}");
    lab.assert_no_process_is_left();
}

#[test]
fn a_bot_that_does_not_know_stop_is_found() {
    let lab = Lab::new();
    let (found, code) = check(&lab, "qbitz", &script("no_stop"));
    assert_eq!(code, Some(1), "{found:#?}");
    // Already in a game, if the other seat was faster there.
    let failed = of_result(&found, "fail");
    assert!(
        failed.contains(&"stop") || failed.contains(&"crash"),
        "{found:#?}"
    );
    let text = Value::from(found).to_string();
    assert!(
        text.contains("nobody stops me") || text.contains("stop thinking"),
        "{text}"
    );
}

#[test]
fn every_bot_of_an_event_is_checked_under_its_limits() {
    let lab = Lab::new();
    let bot = |name: &str, script_name: &str| {
        let words: Vec<String> = script(script_name).split(' ').map(toml_text).collect();
        format!(
            "[[bot]]\nname = \"{name}\"\ncommand = [{}]\n\n",
            words.join(", ")
        )
    };
    let event = format!(
        "[event]\nname = \"x\"\ngame = \"mangala\"\n\n[clock]\nmove = \"5s\"\n\n[limits]\nmemory = \"64MB\"\n\n{}{}\
         [[bot]]\nname = \"house\"\nbuiltin = \"greedy\"\n\n[[bot]]\nname = \"gone\"\ncommand = [\"no-such-program-4711\"]\n",
        bot("thrifty", "honest"),
        bot("hungry", "eats_memory"),
    );
    lab.write("event.toml", event);
    // One is not there at all.
    let found = lab
        .hakem(["check", "event.toml", "--format", "json"])
        .exits(2)
        .json();
    let list = found.as_array().expect("a list");
    let faults: Vec<(&str, &str)> = list
        .iter()
        .filter(|found| found["result"] == "fail")
        .filter_map(|found| Some((found["bot"].as_str()?, found["check"].as_str()?)))
        .collect();
    assert_eq!(
        faults,
        [("hungry", "memory"), ("gone", "start")],
        "{list:#?}"
    );
    for bot in ["thrifty", "house"] {
        assert!(
            list.iter()
                .any(|found| found["bot"] == bot && found["check"] == "games"),
            "{bot}"
        );
    }
    // For people: each bot with what was found and a verdict.
    let shown = lab.hakem(["check", "event.toml"]).exits(2).stays_plain();
    for words in [
        "thrifty: nothing is wrong",
        "hungry: not fit to play: 1 fault",
        "FAIL  memory",
        "cure: use less",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {shown}");
    }
}

#[test]
fn built_in_bots_have_no_fault() {
    let lab = Lab::new();
    for (game, bot) in [("tavla", "random"), ("oware", "ambar"), ("qbitz", "hizli")] {
        let (found, code) = check(&lab, game, &format!("builtin:{bot}"));
        assert_eq!(code, Some(0), "{bot}: {found:#?}");
        assert!(of_result(&found, "warn").is_empty(), "{bot}: {found:#?}");
    }
}

#[test]
fn what_cannot_be_checked_is_wrong_usage() {
    let lab = Lab::new();
    lab.hakem(["check", "my-bot"])
        .exits(2)
        .says(&["--game GAME my-bot"]);
    lab.hakem(["check", "missing.toml"])
        .exits(2)
        .says(&["missing.toml"]);
    lab.hakem(["check", "--game", "mangla", "sh"])
        .exits(2)
        .says(&["mangala"]);
    let check_one = |bot: &str| lab.hakem(["check", "--game", "mangala", bot]).exits(2);
    let place = lab.path("no-such-program-4711");
    check_one("no-such-program-4711").says(&[
        "neither a folder (",
        place.to_str().expect("a path"),
        "nor a program of the search path",
    ]);
    // A file that is not there is found when all else is known.
    let (found, code) = check(&lab, "mangala", "./no-such-file-4711");
    assert_eq!((of_result(&found, "fail"), code), (vec!["start"], Some(2)));
    let (found, code) = check(&lab, "mangala", "python3 no-such-file-4711.py");
    assert_eq!((of_result(&found, "fail"), code), (vec!["start"], Some(2)));
    for (bot, right) in [
        ("kuyu", "did you mean `builtin:kuyu`?"),
        ("kuyuu,depth=2", "did you mean `builtin:kuyu`?"),
    ] {
        check_one(bot).says(&[right]);
        lab.hakem(["duel", "--game", "mangala", bot, "builtin:random"])
            .exits(2)
            .says(&[right]);
    }
    lab.write("starter", "#!/bin/sh\n");
    check_one("starter").says(&["the file is \"./starter\""]);
    // A path that was split at its space.
    std::fs::create_dir(lab.path("Benim Botum")).expect("a folder");
    lab.write("Benim Botum/starter.py", "print()\n");
    for bot in [
        "./Benim Botum/starter.py",
        "python3 ./Benim Botum/starter.py",
    ] {
        let (found, code) = check(&lab, "mangala", bot);
        assert_eq!((of_result(&found, "fail"), code), (vec!["start"], Some(2)));
        let cure = found[0]["cure"].as_str().expect("a cure");
        assert!(
            cure.contains("in quotes: './Benim Botum/starter.py'"),
            "{cure}"
        );
    }
}

/// An event may leave the time of an answer open; a check does not wait for ever all the same.
#[test]
fn a_check_has_a_limit_where_the_event_has_no_clock() {
    let lab = Lab::new();
    let words: Vec<String> = script("silent").split(' ').map(toml_text).collect();
    lab.write(
        "event.toml",
        format!(
            "[event]\nname = \"x\"\ngame = \"mangala\"\n\n[[bot]]\nname = \"silent\"\ncommand = [{}]\n\n[[bot]]\nname = \
             \"house\"\nbuiltin = \"first\"\n",
            words.join(", ")
        ),
    );
    let found = lab
        .hakem(["check", "event.toml", "--format", "json"])
        .exits(1)
        .json();
    let list = found.as_array().expect("a list");
    let of = |bot: &str, check: &str| -> &Value {
        let found = list
            .iter()
            .find(|found| found["bot"] == bot && found["check"] == check);
        found.expect("a finding")
    };
    assert_eq!(of("silent", "time")["result"], "fail", "{found}");
    assert_eq!(of("house", "games")["result"], "pass", "{found}");
    for bot in ["silent", "house"] {
        let note = of(bot, "clock");
        assert_eq!(note["result"], "note");
        assert!(
            note["what"]
                .as_str()
                .is_some_and(|what| what.contains("10.0 s")),
            "{note}"
        );
    }
    // A run says what to write.
    lab.hakem(["run", "event.toml", "--dry-run"])
        .exits(0)
        .says(&["holds its game for ever; `move = \"10s\"` in [clock] sets a limit"]);
}

/// What a bot that ends too early is told: nothing that is not there.
#[test]
fn an_early_death_is_told_with_what_can_be_done() {
    let lab = Lab::new();
    lab.write("typo.py", "import json\nprint('a'\n");
    lab.write("one.py", "input()\n");
    let ran = lab
        .hakem(["check", "--game", "mangala", "python3 typo.py"])
        .exits(1);
    assert!(
        ran.stdout.contains("SyntaxError") && ran.stdout.contains("start it by hand"),
        "{ran}"
    );
    assert!(!ran.stdout.contains("RECORD"), "{ran}");
    let duel = [
        "duel",
        "--game",
        "mangala",
        "--out",
        "duel",
        "python3 one.py",
        "builtin:first",
    ];
    lab.hakem(duel).exits(0);
    for game in lab.games("duel") {
        let reason = game["reason"].as_str().expect("a reason");
        assert!(
            reason.starts_with("exit 0: it left as if all were done; a bot reads on until `bye`"),
            "{game}"
        );
    }
    assert_eq!(lab.verify_records("duel"), 2);
}
