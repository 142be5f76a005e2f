//! The rules: lines of the rules tool, and states and moves of every game.

use std::cell::RefCell;

use hakem::game::tool::Tool;
use hakem::game::{self, Claim, Position, Refusal, Seat, ToAct};
use hakem::strict;
use hakem_protocol::tool::Reply;
use serde_json::{Map, Value, json};

use super::lines::first_line;
use crate::engine::{Shape, shape};

/// Words of questions, states, moves and options.
pub(crate) const WORDS: [&str; 76] = [
    "game",
    "rules",
    "state",
    "move",
    "moves",
    "first",
    "forfeit",
    "seat",
    "turn",
    "mangala",
    "oware",
    "reversi",
    "dokuztas",
    "tavla",
    "qbitz",
    "pits",
    "stores",
    "board",
    "........",
    "xxxxxxxx",
    "oooooooo",
    "d3",
    "pass",
    "stones",
    "in_hand",
    "quiet",
    "restarts",
    "from",
    "to",
    "take",
    "a7",
    "d7",
    "checkers",
    "dice",
    "cube",
    "value",
    "owner",
    "offered",
    "doubler",
    "score",
    "length",
    "crawford",
    "resign",
    "by",
    "times",
    "refused",
    "roll",
    "double",
    "beaver",
    "accept",
    "refuse",
    "pattern",
    "cubes",
    "points",
    "round",
    "out",
    "face",
    "dark",
    "light",
    "diagonal",
    "bar",
    "sets",
    "rematch_on_draw",
    "cycle_repetitions",
    "stop_when_decided",
    "max_plies",
    "match_length",
    "games",
    "max_cube",
    "jacoby",
    "beavers",
    "raccoons",
    "mill_stones",
    "preset",
    "no_capture_plies",
    "on_equal",
];

/// What an answer says, in short.
fn outline(answer: &Value) -> Shape {
    if let Some(message) = answer["error"]["message"].as_str() {
        return shape(&[
            answer["error"]["code"].as_str().unwrap_or_default(),
            message,
        ]);
    }
    let legal = answer["legal"].as_array().map_or(0, Vec::len);
    let first = answer["legal"][0].to_string();
    let many = ["none", "one", "two", "some"][legal.min(3)];
    let kind: String = first
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .take(12)
        .collect();
    let reason = answer["result"]["reason"].as_str().unwrap_or_default();
    shape(&[
        answer["ask"].as_str().unwrap_or_default(),
        many,
        &kind,
        reason,
    ])
}

fn ask(tool: &mut Tool, question: &Value) -> Value {
    let mut out = Vec::new();
    tool.answer(question.to_string().as_bytes(), &mut out);
    serde_json::from_slice(&out).expect("an answer is JSON")
}

thread_local! {
    /// A tool that has answered all lines before.
    static USED: RefCell<Tool> = RefCell::new(Tool::new());
}

/// One line of strict JSON for a line, of the protocol's form, the same whatever was asked before; and a state that was answered
/// is itself a question with the same answer.
pub(crate) fn line(input: &[u8]) -> Shape {
    let line = first_line(input);
    let (mut out, mut again) = (Vec::new(), Vec::new());
    let mut tool = Tool::new();
    tool.answer(line, &mut out);
    if !line.starts_with("\u{feff}".as_bytes()) {
        USED.with_borrow_mut(|used| used.answer(line, &mut again));
        assert!(
            out == again,
            "another answer than a fresh tool's: {}",
            String::from_utf8_lossy(&again)
        );
    }
    let text = out.strip_suffix(b"\n").expect("an answer is ended");
    assert!(!text.contains(&b'\n'), "an answer is one line");
    let answer = strict::parse(text).expect("an answer is strict JSON");
    serde_json::from_slice::<Reply>(text).expect("an answer of the protocol");
    if let Some(message) = answer["error"]["message"].as_str() {
        assert!(!message.is_empty() && message.len() < 1_000, "{message}");
    } else if let Some(state) = answer.get("state") {
        let asked: Value =
            serde_json::from_slice(line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line))
                .expect("it was answered");
        let rules = asked.get("rules").cloned().unwrap_or_else(|| json!({}));
        let about = |more: Option<&Value>| {
            let mut question = json!({"game": asked["game"], "rules": rules, "state": state});
            if let Some(mv) = more {
                question["move"] = mv.clone();
            }
            question
        };
        // The end of a game may rest on more than its state, and that a seat has said `roll` stands in none: the caller brings
        // the dice.
        if answer["result"].is_null() && !answer["ask"].is_null() {
            let found = ask(&mut tool, &about(None));
            for field in ["turn", "ask", "legal", "result"] {
                assert_eq!(found[field], answer[field], "{field} of {state}");
            }
        }
        for mv in answer["legal"].as_array().into_iter().flatten().take(6) {
            let found = ask(&mut tool, &about(Some(mv)));
            assert!(found.get("error").is_none(), "{mv} is listed, but {found}");
        }
    }
    outline(&answer)
}

fn state(position: &dyn Position) -> Value {
    let mut out = Vec::new();
    position.write_state(&mut out);
    strict::parse(&out).expect("a state is strict JSON")
}

fn legal(position: &mut dyn Position) -> Value {
    let mut out = Vec::new();
    position.write_legal(&mut out);
    strict::parse(&out).expect("legal answers are strict JSON")
}

/// A claim in a race; one that is right wins it.
fn claim(
    position: &mut dyn Position,
    seat: Seat,
    answer: &Value,
    told: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if seat >= position.seats() {
        return Err(Refusal::new("there is no such seat"));
    }
    if position.claim(seat, answer, told)? == Claim::Right {
        position.award(&[seat]);
    }
    Ok(())
}

/// A state that is accepted reads back as it is written, with the same answers; a refused move leaves everything as it was; an
/// accepted one leads to such a state again.
pub(crate) fn position(input: &[u8]) -> Shape {
    let Ok(Value::Object(question)) = strict::parse(first_line(input)) else {
        return 0;
    };
    let none = Map::new();
    let given = question
        .get("rules")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let Some(kind) = question
        .get("game")
        .and_then(Value::as_str)
        .and_then(game::find)
    else {
        return 1;
    };
    let rules = match kind.rules(given) {
        Ok(rules) => rules,
        Err(error) => {
            assert!(!error.message.is_empty());
            return shape(&[&error.to_string()]);
        }
    };
    let options = rules.options();
    let all = options.as_object().expect("options are an object");
    assert_eq!(
        kind.rules(all).expect("they were accepted").options(),
        options
    );
    let mut position = match rules.read(question.get("state").unwrap_or(&Value::Null)) {
        Ok(position) => position,
        Err(words) => {
            assert!(!words.is_empty() && words.len() < 1_000, "{words}");
            return shape(&[kind.facts().name, &words]);
        }
    };
    let written = state(&*position);
    let read = |state: &Value| {
        rules
            .read(state)
            .unwrap_or_else(|words| panic!("{state} was written, but {words}"))
    };
    let mut again = read(&written);
    assert_eq!(state(&*again), written, "written again");
    assert_eq!(again.to_act(), position.to_act());
    assert_eq!(again.outcome(), position.outcome());
    let answers = legal(&mut *position);
    assert_eq!(legal(&mut *again), answers);
    assert!(!position.board().is_empty());
    let over = position.to_act() == ToAct::Over;
    assert_eq!(over, position.outcome().is_some());
    if !over {
        for seat in 0..position.seats() {
            let outcome = position.forfeit(seat);
            assert_ne!(outcome.winner, Some(seat));
        }
    }
    if matches!(position.to_act(), ToAct::Seat(..)) && !kind.facts().chance {
        assert_eq!(position.perft(1), position.count_legal() as u64);
    }
    let mut told = b"kept".to_vec();
    let mv = question.get("move").unwrap_or(&Value::Null);
    let tried = if position.to_act() == ToAct::Race {
        let seat = question.get("seat").and_then(Value::as_u64).unwrap_or(0);
        claim(&mut *position, seat as usize % 4, mv, &mut told)
    } else {
        position.play(mv, &mut told)
    };
    match &tried {
        Err(refusal) => {
            assert!(
                !refusal.message.is_empty() && refusal.message.len() < 1_000,
                "{refusal}"
            );
            assert_eq!(told, b"kept");
            assert_eq!(state(&*position), written, "refused: {refusal}");
            assert_eq!(position.to_act(), again.to_act());
            assert_eq!(legal(&mut *position), answers);
        }
        Ok(()) => {
            strict::parse(&told[4..]).expect("what is told is strict JSON");
            if !matches!(position.to_act(), ToAct::Over | ToAct::Chance(_)) {
                let after = state(&*position);
                let mut read = read(&after);
                assert_eq!(state(&*read), after);
                assert_eq!(read.to_act(), position.to_act());
                assert_eq!(legal(&mut *read), legal(&mut *position));
            }
        }
    }
    let many = ["none", "one", "two", "some"];
    let shown = many[answers.as_array().map_or(0, Vec::len).min(3)];
    let act = format!("{:?} {:?}", again.to_act(), position.to_act());
    let end = position.outcome().map_or("", |outcome| outcome.reason);
    let words = tried.map_or_else(|refusal| refusal.message, |()| "played".into());
    shape(&[kind.facts().name, &words, &act, shown, end])
}
