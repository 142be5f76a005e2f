//! Tavla against recorded answers of another implementation of the rules: positions, plays, cube dialogues, errors,
//! match scores and path counts.

use std::collections::HashSet;

use hakem::game::{self, Outcome, Position, Ruleset, Setup, Share, ToAct};
use serde_json::{Map, Value, json};

const CASES: &str = include_str!("cases/tavla.jsonl");
const MATCHES: &str = include_str!("cases/tavla_match.jsonl");
const PERFT: &str = include_str!("cases/perft.jsonl");

fn lines(text: &str) -> impl Iterator<Item = (usize, Value)> {
    text.lines().enumerate().map(|(index, line)| {
        (
            index + 1,
            serde_json::from_str(line).expect("a line of JSON"),
        )
    })
}

fn rules(given: Option<&Value>) -> Result<std::sync::Arc<dyn Ruleset>, Value> {
    let none = Map::new();
    let given = given.map_or(&none, |rules| {
        rules.as_object().expect("rules are an object")
    });
    let tavla = game::find("tavla").expect("Tavla is registered");
    tavla
        .rules(given)
        .map_err(|error| failure("bad_message", &error.to_string()))
}

fn failure(code: &str, message: &str) -> Value {
    assert!(!message.is_empty(), "an error says what is wrong");
    json!({"error": {"code": code, "message": message}})
}

fn state(position: &dyn Position) -> Value {
    let mut text = Vec::new();
    position.write_state(&mut text);
    serde_json::from_slice(&text).expect("a state is JSON")
}

fn legal(position: &mut dyn Position) -> Vec<Value> {
    let mut text = Vec::new();
    position.write_legal(&mut text);
    serde_json::from_slice(&text).expect("legal answers are JSON")
}

/// Plays an answer as the rules tool does: a seat without a play answers `[]`.
fn play(position: &mut dyn Position, answer: &Value) -> Result<(), Value> {
    let mut told = Vec::new();
    if matches!(position.to_act(), ToAct::Pass(_)) && *answer == json!([]) {
        position.pass(&mut told);
        return Ok(());
    }
    let result = position.play(answer, &mut told);
    result.map_err(|refusal| failure("illegal_move", &refusal.message))
}

fn result_of(outcome: &Outcome) -> Value {
    json!({
        "winner": outcome.winner,
        "score": outcome.score,
        "points": outcome.points,
        "reason": outcome.reason,
    })
}

/// What the rules tool says about a position.
fn describe(position: &mut dyn Position) -> Value {
    let (turn, ask, legal) = match position.to_act() {
        ToAct::Seat(seat, ask) => (Some(seat), Some(ask.as_str()), legal(position)),
        ToAct::Pass(seat) => (Some(seat), Some("move"), vec![json!([])]),
        ToAct::Chance(chance) => (chance.seat, None, Vec::new()),
        ToAct::Race | ToAct::Over => (None, None, Vec::new()),
    };
    let result = position.outcome().as_ref().map(result_of);
    json!({"turn": turn, "ask": ask, "legal": legal, "result": result})
}

/// The answer to a line, and the position that it is about.
fn answer(input: &Value) -> Result<(Value, Option<Box<dyn Position>>), Value> {
    let rules = rules(input.get("rules"))?;
    let read = rules.read(&input["state"]);
    let mut position = read.map_err(|error| failure("bad_message", &error))?;
    if let Some(seat) = input.get("forfeit") {
        let seat = seat.as_u64().expect("a seat") as usize;
        let result = result_of(&position.forfeit(seat));
        let out = json!({
            "state": state(&*position), "turn": null, "ask": null, "legal": [], "result": result,
        });
        return Ok((out, None));
    }
    let mut out = Map::new();
    if let Some(mv) = input.get("move") {
        play(&mut *position, mv)?;
        out.insert("state".into(), state(&*position));
    }
    let about = describe(&mut *position);
    out.extend(about.as_object().expect("an object").clone());
    Ok((Value::Object(out), Some(position)))
}

/// Whether `actual` has everything that `expected` has; it may have more fields.
fn covers(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| actual.get(key).is_some_and(|actual| covers(actual, value))),
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len()
                && actual
                    .iter()
                    .zip(expected)
                    .all(|(actual, expected)| covers(actual, expected))
        }
        (Value::Number(actual), Value::Number(expected)) => actual.as_f64() == expected.as_f64(),
        _ => actual == expected,
    }
}

/// The positions that these plays lead to; no two may lead to the same.
fn reached(position: &dyn Position, plays: &[Value], at: &str) -> HashSet<String> {
    let mut all = HashSet::new();
    for mv in plays {
        let mut next = position.boxed_clone();
        play(&mut *next, mv).unwrap_or_else(|error| panic!("{at}: {mv} is legal, but: {error}"));
        assert!(
            all.insert(state(&*next).to_string()),
            "{at}: {mv} leads where another does"
        );
    }
    all
}

fn as_set(values: &[Value]) -> HashSet<String> {
    values.iter().map(Value::to_string).collect()
}

fn compare(number: usize, case: &Value) {
    let at = format!("line {number} ({}: {})", case["rule"], case["why"]);
    let expected = &case["out"];
    let (actual, position) = match answer(&case["in"]) {
        Ok(answer) => answer,
        Err(error) => {
            assert_eq!(
                error["error"]["code"], expected["error"]["code"],
                "{at}: {error}"
            );
            return;
        }
    };
    assert!(
        expected.get("error").is_none(),
        "{at}: should be refused, but: {actual}"
    );
    if expected.get("state").is_some() {
        let mut state = expected["state"].clone();
        if !expected["result"].is_null() {
            state.as_object_mut().expect("a state").remove("turn");
        }
        assert!(
            covers(&actual["state"], &state),
            "{at}: {} is not {state}",
            actual["state"]
        );
    }
    for key in ["turn", "ask", "result"] {
        assert!(
            covers(&actual[key], &expected[key]),
            "{at}: {key} is {}",
            actual[key]
        );
    }
    let lists = [&actual["legal"], &expected["legal"]].map(|list| list.as_array().expect("a list"));
    match position {
        Some(position) if actual["ask"] == "move" => {
            let [ours, theirs] = lists.map(|list| reached(&*position, list, &at));
            assert_eq!(ours, theirs, "{at}");
        }
        _ => assert_eq!(as_set(lists[0]), as_set(lists[1]), "{at}"),
    }
}

#[test]
fn every_case_holds() {
    let mut count = 0;
    for (number, case) in lines(CASES) {
        compare(number, &case);
        count += 1;
    }
    assert_eq!(count, 813);
}

#[test]
fn match_scores_hold() {
    let mut count = 0;
    for (number, case) in lines(MATCHES) {
        let rules = rules(case.get("rules")).expect("the options are possible");
        let games = case["games"].as_array().expect("games");
        let mut played: Vec<Outcome> = Vec::new();
        for (game, expected) in games.iter().zip(case["out"].as_array().expect("answers")) {
            let winner = game[0].as_u64().expect("a seat") as usize;
            let mut points = [0; 2];
            points[winner] = game[1].as_u64().expect("points") as u32;
            played.push(Outcome::win(winner, points, "borne_off"));
            let series = rules.series(&played);
            let next = rules.start(&Setup {
                played: &played,
                ..Setup::SINGLE
            });
            let (over, next) = (series.over, state(&*next));
            let crawford = !over && next["crawford"] == true;
            let actual = json!({"score": series.score, "crawford": crawford, "over": over});
            assert!(
                covers(&actual, expected),
                "line {number}: {actual}, not {expected}"
            );
            assert_eq!(next["score"], expected["score"], "line {number}");
            count += 1;
        }
    }
    assert_eq!(count, 21);
}

#[test]
fn a_match_is_won_and_a_session_may_be_drawn() {
    let win = |winner, points: u32| {
        Outcome::win(
            winner,
            if winner == 0 {
                [points, 0]
            } else {
                [0, points]
            },
            "mars",
        )
    };
    let session = rules(Some(&json!({"games": 2})))
        .expect("options")
        .series(&[win(0, 2), win(1, 2)]);
    assert!(session.over);
    assert_eq!(
        (session.of, session.shares()),
        (Some(2), vec![Share::HALF; 2])
    );
    let to_three = rules(Some(&json!({"match_length": 3})))
        .expect("options")
        .series(&[win(1, 4)]);
    assert!(to_three.over);
    assert_eq!(
        (to_three.of, to_three.shares()),
        (None, vec![Share::LOSS, Share::WIN])
    );
}

#[test]
fn path_counts_hold() {
    let mut count = 0;
    for (number, case) in lines(PERFT).filter(|(_, case)| case["game"] == "tavla") {
        let rules = rules(case.get("rules")).expect("the options are possible");
        let position = match case.get("state") {
            Some(state) => rules.read(state).expect("a possible state"),
            None => rules.start(&Setup::SINGLE),
        };
        let depth = case["depth"].as_u64().expect("a depth") as u32;
        assert_eq!(
            position.perft(depth),
            case["nodes"].as_u64().expect("nodes"),
            "line {number}"
        );
        count += 1;
    }
    assert_eq!(count, 5);
}
