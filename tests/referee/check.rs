//! What must hold of every line that the referee sends and of every record that it writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use hakem::referee::replay;
use hakem::referee::table::FinishedGame;
use hakem_protocol::FromReferee;
use jsonschema::Validator;
use serde_json::{Value, json};

/// A line of the referee: ended, UTF-8, and a message of the protocol with nothing else in it.
pub(crate) fn line(line: &[u8]) -> Value {
    let text = line.strip_suffix(b"\n").expect("a line is ended");
    let text = std::str::from_utf8(text).expect("a line is UTF-8");
    assert!(!text.contains('\n'), "one line is one line");
    let value: Value = hakem::strict::parse(text.as_bytes())
        .unwrap_or_else(|error| panic!("{error} in {}", cut(text)));
    let message: FromReferee = serde_json::from_str(text)
        .unwrap_or_else(|error| panic!("no message ({error}): {}", cut(text)));
    let again = serde_json::to_value(&message).expect("a message is plain data");
    assert!(again == value, "not what its type says: {}", cut(text));
    value
}

fn cut(text: &str) -> &str {
    match text.char_indices().nth(300) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The schemas by name: `turn`, `tavla.state`.
static SCHEMAS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/schemas");
    let files = [folder.join("games"), folder]
        .into_iter()
        .flat_map(|folder| {
            let entries = std::fs::read_dir(folder).expect("the folder of schemas is there");
            entries.flatten().map(|entry| entry.path())
        });
    files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let text = std::fs::read(&path).expect("a schema can be read");
            let schema = serde_json::from_slice(&text).expect("a schema is JSON");
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let validator = jsonschema::validator_for(&schema).expect("a schema is valid");
            (name.into_owned(), validator)
        })
        .collect()
});

/// Holds a message against the schemas of its type, and of its game's states and moves.
pub(crate) fn schema(game: &str, message: &Value) {
    let fits = |name: &str, value: &Value| {
        if let Err(error) = SCHEMAS[name].validate(value) {
            panic!("{name}{}: {error}", error.instance_path());
        }
    };
    fits(
        message["type"].as_str().expect("a message has a type"),
        message,
    );
    if let Some(state) = message.get("state") {
        fits(&format!("{game}.state"), state);
    }
    let told = ["last", "history"].map(|list| message[list].as_array());
    // A pass is played by the referee; it is no move of a bot.
    let moves = told
        .into_iter()
        .flatten()
        .flatten()
        .map(|told| &told["move"]);
    for mv in moves.filter(|mv| **mv != "pass") {
        fits(&format!("{game}.move"), mv);
    }
}

/// A record verifies, with the seed and without, and is that of the result.
pub(crate) fn record(game: &FinishedGame, seed: &str) {
    for seed in [Some(seed), None] {
        let verified = replay::verify(&game.record, seed, &mut |_, _| {}).unwrap_or_else(|error| {
            let text = String::from_utf8_lossy(&game.record);
            let line = text.lines().nth(error.line - 1).unwrap_or_default();
            panic!(
                "a record does not verify: {}\n{}",
                cut(&error.to_string()),
                cut(line)
            );
        });
        let (told, result) = (verified.result, &game.result);
        assert_eq!(verified.hash, result.record_hash);
        assert_eq!(verified.chance_checked, seed.is_some());
        assert_eq!(verified.header.id, result.id);
        assert_eq!(
            (
                told.winner,
                told.score,
                told.points,
                told.verdict,
                told.reason,
                told.against
            ),
            (
                result.winner,
                result.score.clone(),
                result.points.clone(),
                result.verdict,
                result.reason.clone(),
                result.against
            )
        );
        assert_eq!(
            (told.moves, told.time_us, told.cpu_us),
            (result.moves, result.time_us.clone(), result.cpu_us.clone())
        );
    }
}

// ---- What `last` and `history` tell --------------------------------------------------------------------------------

/// A question of a game, or its beginning.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The turn; nothing for a beginning.
    turn: Value,
}

impl Asked {
    pub(crate) fn start() -> Asked {
        Asked { turn: Value::Null }
    }

    pub(crate) fn turn(turn: &Value) -> Asked {
        Asked { turn: turn.clone() }
    }
}

/// Something that happened: as the record has it, an answer's dice from the question that it answered.
#[derive(Debug)]
struct Happened {
    told: Value,
    /// A pass is no answer of its seat.
    answer: bool,
}

/// `last` and `history` of every question of a game are what the record says had happened.
pub(crate) fn news(asked: &[Asked], record: &[u8]) {
    // The questions of each time that the game was played.
    let mut games: Vec<Vec<&Value>> = Vec::new();
    for asked in asked {
        match (&asked.turn, games.last_mut()) {
            (Value::Null, _) => games.push(Vec::new()),
            (turn, Some(game)) => game.push(turn),
            (turn, None) => panic!("a turn before the start: {}", cut(&turn.to_string())),
        }
    }
    let mut entries = vec![Vec::new()];
    for line in record
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let entry: Value = serde_json::from_slice(line).expect("a line of a record is JSON");
        if !entry["again"].is_null() {
            entries.push(Vec::new());
        } else if let Some(list) = entries.last_mut() {
            list.push(entry);
        }
    }
    if games.is_empty() {
        // It was lost before its start.
        return;
    }
    assert_eq!(
        games.len(),
        entries.len(),
        "a start for each time that it was played"
    );
    for (turns, entries) in games.iter().zip(&entries) {
        check_news(turns, entries);
    }
}

fn check_news(turns: &[&Value], entries: &[Value]) {
    let mut happened: Vec<Happened> = Vec::new();
    let mut turns = turns.iter();
    let mut open = turns.next();
    let mut seen = false;
    // A question is held against what had happened before it, which is all up to the answer to it, or to the end.
    for entry in entries {
        if let Some(answer) = entry.get("answer") {
            let turn = open.expect("an answer has a question");
            compare(turn, &happened);
            let mut told = json!({"seat": answer["seat"], "move": answer["move"]});
            if turn["ask"] == "move" && !turn["state"]["dice"].is_null() {
                told["dice"] = turn["state"]["dice"].clone();
            }
            happened.push(Happened { told, answer: true });
            open = turns.next();
            seen = true;
        } else if let (true, Some(pass)) = (seen, entry.get("passed")) {
            // What was passed before the first question was before the start.
            let told = pass.clone();
            happened.push(Happened {
                told,
                answer: false,
            });
        }
    }
    if let Some(turn) = open {
        compare(turn, &happened);
    }
    assert_eq!(turns.next(), None, "a question that is not in the record");
}

fn compare(turn: &Value, happened: &[Happened]) {
    let mine = |one: &Happened| one.answer && one.told["seat"] == turn["seat"];
    let since = happened.iter().rposition(mine).unwrap_or(0);
    for (list, from) in [("last", since), ("history", 0)] {
        let Some(told) = turn[list].as_array() else {
            continue;
        };
        let wanted: Vec<&Value> = happened[from..].iter().map(|one| &one.told).collect();
        let fits = told.len() == wanted.len() && told.iter().zip(wanted).all(|(a, b)| same(a, b));
        assert!(
            fits,
            "turn {}: `{list}` is {}, but what happened is {:?}",
            turn["id"],
            cut(&turn[list].to_string()),
            happened[from..]
                .iter()
                .map(|one| one.told.to_string())
                .collect::<Vec<_>>()
        );
    }
}

/// Whether what was told is what the record has, where `3.0` is 3, and where a move may have fields that nobody knows: the
/// record keeps them, and nobody is told of them.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let is_move = !a.contains_key("move");
            (is_move || a.len() == b.len())
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}
