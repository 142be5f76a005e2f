//! The rules tool against case files that an independent implementation of the rules made (`tests/cases/`).
//!
//! `GAME.jsonl` holds `{"in":QUESTION,"out":ANSWER,"rule":...,"why":...}`, `perft.jsonl` path counts. Every registered
//! game must have its file, and lines of `perft.jsonl`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hakem::game::GAMES;
use hakem::game::tool::{Tool, perft};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn case_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cases/{name}.jsonl"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ask(tool: &mut Tool, question: &Value) -> Value {
    let mut out = Vec::new();
    tool.answer(question.to_string().as_bytes(), &mut out);
    serde_json::from_slice(&out).expect("an answer is JSON")
}

/// Whether the state is the expected one. It may say more; what it leaves out must be expected as 0.
fn same_state(expected: &Value, found: &Value, over: bool) -> bool {
    let (Some(expected), Some(found)) = (expected.as_object(), found.as_object()) else {
        return expected == found;
    };
    expected.iter().all(|(key, value)| match found.get(key) {
        _ if key == "turn" && over => true,
        Some(other) if key == "stones" => stones(value) == stones(other),
        Some(other) => value == other,
        None => *value == json!(0),
    })
}

/// Lists of points, where the order has no meaning.
fn stones(value: &Value) -> Vec<BTreeSet<String>> {
    let lists = value.as_array().into_iter().flatten();
    lists
        .map(|list| {
            let points = list.as_array().into_iter().flatten();
            points.map(Value::to_string).collect()
        })
        .collect()
}

/// The state in which each legal answer ends; plays of Tavla are compared by it, not by their
/// spelling.
fn reached(tool: &mut Tool, question: &Value, state: &Value, legal: &Value) -> Vec<String> {
    let legal = legal.as_array().expect("`legal` is a list");
    let mut states: Vec<String> = legal
        .iter()
        .map(|answer| {
            let next = json!({"game": question["game"], "rules": question["rules"], "state": state, "move": answer});
            let answered = ask(tool, &next);
            assert!(answered.get("error").is_none(), "{next} is {answered}");
            answered["state"].to_string()
        })
        .collect();
    states.sort();
    states
}

/// Answers as they are spelled, in one order.
fn spelled(legal: &Value) -> Vec<String> {
    let mut spelled: Vec<String> = legal
        .as_array()
        .into_iter()
        .flatten()
        .map(Value::to_string)
        .collect();
    spelled.sort();
    spelled
}

/// Why the answer is not the expected one.
fn difference(
    tool: &mut Tool,
    question: &Value,
    expected: &Value,
    found: &Value,
) -> Option<String> {
    if let Some(error) = expected.get("error") {
        let same = found["error"]["code"] == error["code"];
        return (!same).then(|| "the code".into());
    }
    for key in ["turn", "ask", "result"] {
        // Shares may be written 1 or 1.0.
        let plain = |value: &Value| value.to_string().replace("1.0", "1");
        if plain(&expected[key]) != plain(&found[key]) {
            return Some(key.into());
        }
    }
    let over = !expected["result"].is_null();
    match (expected.get("state"), found.get("state")) {
        (Some(expected), Some(found)) if same_state(expected, found, over) => {}
        (None, None) => {}
        _ => return Some("state".into()),
    }
    let state = expected.get("state").unwrap_or(&question["state"]).clone();
    let mut listed = reached(tool, question, &state, &found["legal"]);
    if listed != reached(tool, question, &state, &expected["legal"]) {
        return Some("legal".into());
    }
    // In other games two moves may well end in one state: with all taken.
    if question["game"] != "tavla" {
        return (spelled(&found["legal"]) != spelled(&expected["legal"]))
            .then(|| "legal: the moves".into());
    }
    let count = listed.len();
    listed.dedup();
    (listed.len() != count).then(|| "legal: two answers lead to one state".into())
}

#[test]
fn every_case_of_every_registered_game_is_held() {
    let mut tool = Tool::new();
    let mut failures = Vec::new();
    for kind in GAMES {
        let name = kind.facts().name;
        let text = case_file(name);
        assert!(text.lines().count() > 100, "{name} has its cases");
        for (index, line) in text.lines().enumerate() {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            let found = ask(&mut tool, &case["in"]);
            if let Some(what) = difference(&mut tool, &case["in"], &case["out"], &found) {
                failures.push(format!(
                    "{name}.jsonl:{}: {what} ({}: {})\n   in {}\n  out {}\nfound {found}",
                    index + 1,
                    case["rule"],
                    case["why"],
                    case["in"],
                    case["out"]
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_path_count_is_held() {
    let lines: Vec<Value> = case_file("perft")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a count is JSON"))
        .collect();
    for kind in GAMES {
        let name = kind.facts().name;
        let is_race = kind
            .rules(&Map::new())
            .is_ok_and(|rules| rules.race().is_some());
        assert_eq!(is_race, perft(name, 1, None, None).is_err(), "{name}");
        assert_ne!(
            is_race,
            lines.iter().any(|line| line["game"] == name),
            "{name}"
        );
    }
    let known = |line: &&Value| GAMES.iter().any(|kind| line["game"] == kind.facts().name);
    for line in lines.iter().filter(known) {
        let game = line["game"].as_str().expect("a game");
        let depth = u32::try_from(line["depth"].as_u64().expect("a depth")).expect("small");
        let json = |key: &str| line.get(key).map(Value::to_string);
        let (state, rules) = (json("state"), json("rules"));
        let nodes = perft(
            game,
            depth,
            state.as_deref().map(str::as_bytes),
            rules.as_deref().map(str::as_bytes),
        );
        assert_eq!(nodes.ok(), line["nodes"].as_u64(), "{line}");
    }
}

/// One answer to one line, whatever the line is: a JSON object with a result or an error, and the tool goes on.
fn holds(line: &[u8]) {
    let mut tool = Tool::new();
    let mut out = Vec::new();
    tool.answer(line, &mut out);
    tool.answer(br#"{"game":"mangala","moves":[]}"#, &mut out);
    let lines: Vec<&[u8]> = out.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(lines.len(), 2);
    let answer: Value = serde_json::from_slice(lines[0]).expect("an answer is JSON");
    assert!(answer.get("error").is_some() || answer.get("result").is_some());
    let after: Value = serde_json::from_slice(lines[1]).expect("an answer is JSON");
    assert_eq!(after["legal"], json!([1, 2, 3, 4, 5, 6]));
}

/// What is put into a good line to spoil it.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "-",
    "0",
    "1e9",
    "255",
    "256",
    "-1",
    "1.5",
    "null",
    "true",
    "\"move\":",
    "\"moves\":[",
    "\"state\":{",
    "\"turn\":2",
    "\"first\":1",
    "\"forfeit\":1",
    "18446744073709551616",
    "\\ud800",
    "\u{feff}",
    "é",
    "[[]]",
    "{\"resign\":1}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn random_bytes_never_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
        holds(&line);
    }

    #[test]
    fn mutated_lines_never_panic(
        pick in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop::sample::select(PIECES)), 1..5),
    ) {
        thread_local! {
            static CASES: Vec<Value> = GAMES
                .iter()
                .flat_map(|kind| case_file(kind.facts().name).lines().map(str::to_owned).collect::<Vec<_>>())
                .map(|line| serde_json::from_str(&line).expect("a case is JSON"))
                .collect();
        }
        let mut line = CASES.with(|cases| pick.get(cases)["in"].to_string().into_bytes());
        for (at, cut, piece) in edits {
            let start = at.index(line.len() + 1);
            let end = line.len().min(start + cut);
            line.splice(start..end, piece.bytes());
        }
        holds(&line);
    }
}
