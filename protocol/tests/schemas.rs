//! The JSON Schemas are those of the types, and what is written in transcripts and pages keeps to them.
//!
//! `UPDATE_GOLDEN=1` writes the files that are made from the types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

#[path = "support/pages.rs"]
#[expect(dead_code, reason = "the numbering of clauses is looked at elsewhere")]
mod pages;
#[path = "support/transcript.rs"]
#[expect(
    dead_code,
    reason = "what only a driver of a referee needs is not looked at here"
)]
mod transcript;

use pages::Writer;
use transcript::{Expected, Step};

/// Every schema by name: `turn`, `tavla.state`.
struct Schemas(BTreeMap<String, Validator>);

impl Schemas {
    fn read() -> Schemas {
        let mut found = BTreeMap::new();
        for name in files("schemas").into_iter().chain(files("schemas/games")) {
            let schema: Value =
                serde_json::from_str(&pages::text(&name)).expect("a schema is JSON");
            jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            let validator = jsonschema::validator_for(&schema)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let stem = Path::new(&name)
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy();
            found.insert(stem.into_owned(), validator);
        }
        Schemas(found)
    }

    fn of(&self, name: &str) -> &Validator {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("there is no schema `{name}`"))
    }

    fn check(&self, name: &str, place: &str, value: &Value) {
        if let Err(error) = self.of(name).validate(value) {
            panic!("{place}: {name}{}: {error}", error.instance_path());
        }
    }

    /// A message of the referee, with the states and moves of the game in it.
    fn check_told(&self, game: &str, place: &str, message: &Value) {
        let kind = message["type"].as_str().expect("`type` is a text");
        self.check(kind, place, message);
        self.check("from_referee", place, message);
        if let Some(state) = message.get("state") {
            self.check(&format!("{game}.state"), place, state);
        }
        let elements = |field: &str| {
            message
                .get(field)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        for legal in elements("legal") {
            self.check(&format!("{game}.move"), place, legal);
        }
        for told in elements("last").chain(elements("history")) {
            // A pass is played by the referee, and is no answer.
            if told["move"] != "pass" {
                self.check(&format!("{game}.move"), place, &told["move"]);
            }
        }
    }

    /// A message of a bot. Whether a move is one of the game is another question.
    fn check_written(&self, place: &str, message: &Value) {
        let kind = message["type"].as_str().expect("`type` is a text");
        self.check(kind, place, message);
        self.check("from_bot", place, message);
    }
}

/// The JSON files of a folder of this crate.
fn files(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut names: Vec<String> = fs::read_dir(path)
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".json"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_those_of_the_types() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut expected = Vec::new();
    for (name, schema) in hakem_protocol::schema::all() {
        let name = format!("schemas/{name}.json");
        if update {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
            // Other tests read the files meanwhile, so none is ever half written.
            let new = path.with_extension("new");
            fs::write(&new, format!("{schema:#}\n")).expect("a schema can be written");
            fs::rename(new, path).expect("a schema can be replaced");
        }
        let found: Value = serde_json::from_str(&pages::text(&name)).expect("a schema is JSON");
        assert_eq!(
            found, schema,
            "{name} is not that of the types: set UPDATE_GOLDEN=1"
        );
        expected.push(name);
    }
    expected.sort();
    assert_eq!(files("schemas"), expected, "a file that no type stands for");
}

#[test]
fn every_game_has_its_schemas() {
    let expected =
        |part: &str| pages::GAMES.map(|game| format!("schemas/games/{game}.{part}.json"));
    let mut names = [expected("state"), expected("move")].concat();
    names.sort();
    assert_eq!(files("schemas/games"), names);
}

#[test]
fn transcripts_keep_to_the_schemas() {
    let schemas = Schemas::read();
    for one in transcript::all() {
        let game = one.header.game.as_str();
        if let Some(opening) = &one.header.opening {
            schemas.check(&format!("{game}.state"), &one.name, opening);
        }
        for (index, step) in one.steps.iter().enumerate() {
            let place = format!("{}:{}", one.name, index + 2);
            match step {
                Step::To {
                    expected: Expected::Whole(line),
                    ..
                } => schemas.check_told(game, &place, line),
                Step::From { wrote, .. } => {
                    let Some(line) = &wrote.message else { continue };
                    schemas.check_written(&place, line);
                    if line["type"] == "move" && !one.name.starts_with("fault_") {
                        schemas.check(&format!("{game}.move"), &place, &line["move"]);
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn pages_keep_to_the_schemas() {
    let schemas = Schemas::read();
    for (name, page) in pages::all() {
        let page_of = name
            .strip_prefix("games/")
            .and_then(|name| name.strip_suffix(".md"));
        for example in pages::examples(&name, &page) {
            let (place, line) = (example.place.as_str(), &example.line);
            let typed = line.get("type").is_some();
            match example.writer {
                Writer::Referee if typed => {
                    schemas.check_told(page_of.unwrap_or("mangala"), place, line);
                }
                Writer::Bot if typed => schemas.check_written(place, line),
                Writer::Referee => {
                    schemas.check("rules_request", place, line);
                    if let (Some(state), Some(game)) = (line.get("state"), line["game"].as_str()) {
                        schemas.check(&format!("{game}.state"), place, state);
                    }
                }
                Writer::Bot if line.get("error").is_some() => {
                    schemas.check("rules_error", place, line)
                }
                Writer::Bot => schemas.check("rules_answer", place, line),
                Writer::Row if line.get("verdict").is_some() => {
                    schemas.check("game_row", place, line)
                }
                Writer::Row => schemas.check("standing_row", place, line),
            }
        }
    }
}

/// A valid value with one place of it changed, or a field added.
fn changed(valid: &Value, pointer: &str, to: Value) -> Value {
    let mut value = valid.clone();
    if let Some(place) = value.pointer_mut(pointer) {
        *place = to;
        return value;
    }
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer begins with /");
    value.pointer_mut(parent).expect("the parent is there")[field] = to;
    value
}

fn without(valid: &Value, field: &str) -> Value {
    let mut value = valid.clone();
    value
        .as_object_mut()
        .expect("an object")
        .remove(field)
        .expect("the field was there");
    value
}

impl Schemas {
    /// The state is accepted, and refused with any of these places changed or any of its fields missing.
    fn check_state(&self, game: &str, valid: &Value, bad: &[(&str, Value)]) {
        let name = format!("{game}.state");
        self.check(&name, game, valid);
        for (pointer, value) in bad {
            let state = changed(valid, pointer, value.clone());
            assert!(!self.of(&name).is_valid(&state), "{name} accepts {state}");
        }
        for field in valid.as_object().expect("a state is an object").keys() {
            let state = without(valid, field);
            assert!(
                !self.of(&name).is_valid(&state),
                "{name} does without `{field}`"
            );
        }
        // Fields of later versions do no harm.
        self.check(&name, game, &changed(valid, "/later", json!({"x": 1})));
    }
}

#[test]
fn states_that_cannot_be_are_refused() {
    let schemas = Schemas::read();
    let start = [
        0, 0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0,
    ];
    let cube = ["dark", "light", "dot", "ring", "bar", "diagonal"];
    let cell = json!({"face": "bar", "turn": 1});
    schemas.check_state(
        "mangala",
        &json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}),
        &[
            ("/pits/0", json!([4, 4, 4, 4, 4])),
            ("/pits/0/0", json!(-1)),
            ("/stores", json!([0])),
            ("/turn", json!(2)),
        ],
    );
    schemas.check_state(
        "oware",
        &json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0}),
        &[
            ("/pits/1", json!([4, 4, 4, 4, 4, 4, 4])),
            ("/pits/0/0", json!(49)),
            ("/stores/0", json!("0")),
            ("/turn", json!(null)),
        ],
    );
    schemas.check_state("reversi", &json!({"board": ["........","........","........","...ox...","...xo...","........","........","........"], "turn": 0}), &[
                ("/board/0", json!(".......")),
                ("/board/0", json!(".......X")),
                ("/board", json!([])),
                ("/turn", json!(-1)),
            ]);
    schemas.check_state(
        "dokuztas",
        &json!({"stones": [["a7"],["d6","g1"]], "in_hand": [8,7], "turn": 0}),
        &[
            ("/stones/0/0", json!("d4")),
            ("/stones/1/1", json!("d6")),
            ("/in_hand/0", json!(10)),
        ],
    );
    schemas.check_state("tavla", &json!({"checkers": [start, start], "dice": [3,1], "cube": {"value": 1, "owner": null}, "score": [0,0],
                "length": 5, "crawford": false, "turn": 0}), &[
                ("/checkers/0/0", json!(16)),
                ("/checkers/1", json!([15])),
                ("/dice", json!([3])),
                ("/dice/0", json!(7)),
                ("/cube/value", json!(3)),
                ("/cube/owner", json!(2)),
                ("/cube/offered", json!(2)),
                ("/crawford", json!(0)),
                ("/resign", json!({"by": 0, "times": 4})),
                ("/score/1", json!(-1)),
            ]);
    schemas.check_state("qbitz", &json!({"pattern": vec![vec![cell; 4]; 4], "cubes": vec![cube; 16], "points": [0,0], "round": 1}), &[
                ("/pattern/0/0/face", json!("cross")),
                ("/pattern/0/0/turn", json!(4)),
                ("/pattern/0", json!([])),
                ("/cubes/0/0", json!(1)),
                ("/points", json!([0])),
                ("/round", json!(0)),
                ("/out", json!([1, 1])),
                ("/gone", json!([4])),
                ("/dead_heats", json!(4)),
            ]);
}

#[test]
fn what_a_state_carries_besides_may_be_absent() {
    let schemas = Schemas::read();
    let mut tavla: Value = serde_json::from_str(
        r#"{"checkers":[[15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]],
            "dice":null,"cube":{"value":2,"owner":1,"offered":4,"doubler":0},"score":[0,0],"length":0,"crawford":false,"turn":0,
            "resign":{"by":1,"times":3},"refused":false}"#,
    )
    .expect("it is JSON");
    schemas.check("tavla.state", "tavla", &tavla);
    tavla["cube"] = json!({"value": 2, "owner": 1, "offered": 4});
    assert!(
        !schemas.of("tavla.state").is_valid(&tavla),
        "offered without a doubler"
    );
    let dokuztas =
        json!({"stones": [[], []], "in_hand": [9, 9], "turn": 0, "quiet": 3, "restarts": 1});
    schemas.check("dokuztas.state", "dokuztas", &dokuztas);
    for (pointer, value) in [("/quiet", json!(-1)), ("/restarts", json!("none"))] {
        let state = changed(&dokuztas, pointer, value);
        assert!(!schemas.of("dokuztas.state").is_valid(&state), "{state}");
    }
}

#[test]
fn a_wrong_claim_is_a_claim() {
    let schemas = Schemas::read();
    let placed = json!({"cube": 16, "face": -1, "turn": 9});
    let claim = json!({"qbitz": vec![vec![placed; 4]; 4]});
    assert!(schemas.of("qbitz.move").is_valid(&claim));
}

#[test]
fn moves_are_told_from_what_is_none() {
    let schemas = Schemas::read();
    let cells = json!(vec![vec![json!({"cube": 7, "face": 2, "turn": 1}); 4]; 4]);
    let cases = [
        (
            "mangala",
            vec![json!(1), json!(6)],
            vec![json!(0), json!(7), json!("3"), json!(null), json!(2.5)],
        ),
        ("oware", vec![json!(3)], vec![json!([3]), json!(7)]),
        (
            "reversi",
            vec![json!("d3"), json!("h8")],
            vec![json!("i9"), json!("pass"), json!("D3"), json!(3)],
        ),
        (
            "dokuztas",
            vec![
                json!({"to": "d2"}),
                json!({"from": "a7", "to": "a4", "take": "d6"}),
            ],
            vec![
                json!({"from": "a7"}),
                json!({"to": "d4"}),
                json!("d2"),
                json!({"to": "d2", "takes": "d6"}),
            ],
        ),
        (
            "tavla",
            vec![
                json!([]),
                json!([[8, 5], [6, 5]]),
                json!([[25, 21]]),
                json!([[6, 0]]),
                json!("roll"),
                json!("double"),
                json!("take"),
                json!("pass"),
                json!("beaver"),
                json!("accept"),
                json!("refuse"),
                json!({"resign": 3}),
            ],
            vec![
                json!("8/5 6/5"),
                json!([8, 5]),
                json!([[8, 5, 2]]),
                json!([[0, 5]]),
                json!([[26, 20]]),
                json!([[2, 1], [2, 1], [2, 1], [2, 1], [2, 1]]),
                json!({"resign": 0}),
                json!({}),
                json!(null),
            ],
        ),
        (
            "qbitz",
            vec![json!({"qbitz": null}), json!({"qbitz": cells})],
            vec![json!({"qbitz": []}), json!({}), json!(null)],
        ),
    ];
    for (game, good, bad) in cases {
        let schema = schemas.of(&format!("{game}.move"));
        for value in good {
            assert!(schema.is_valid(&value), "{game}: {value}");
        }
        for value in bad {
            assert!(!schema.is_valid(&value), "{game}: {value}");
        }
    }
}

#[test]
fn messages_that_lack_something_are_refused() {
    let schemas = Schemas::read();
    let turn = json!({"type": "turn", "id": 3, "seat": 1, "ask": "move", "state": {}, "legal": [1], "last": [],
        "clock": {"left_ms": [null, 1], "limit_ms": null}});
    schemas.check("turn", "turn", &turn);
    for (pointer, value) in [
        ("/type", json!("start")),
        ("/id", json!(0)),
        ("/ask", json!("roll")),
        ("/legal", json!(null)),
        ("/last", json!([{"seat": 0}])),
        ("/last", json!([{"seat": 0, "move": 1, "dice": [0, 7]}])),
        ("/clock/left_ms", json!([-1])),
    ] {
        let message = changed(&turn, pointer, value);
        assert!(!schemas.of("turn").is_valid(&message), "{message}");
    }
    for field in ["type", "id", "seat", "ask", "state", "last", "clock"] {
        assert!(
            !schemas.of("turn").is_valid(&without(&turn, field)),
            "{field}"
        );
    }
    for bad in [
        json!({"type": "move", "move": 1}),
        json!({"type": "move", "id": 1}),
        json!({"type": "move", "id": "1", "move": 1}),
        json!({"type": "move", "id": 1, "move": 1, "eval": "good"}),
        json!({"type": "ready"}),
        json!({"type": "hello", "protocol": 1}),
    ] {
        assert!(!schemas.of("from_bot").is_valid(&bad), "{bad}");
    }
    let void = json!({"winner": null, "score": null, "points": null, "reason": "void"});
    schemas.check(
        "end",
        "end",
        &json!({"type": "end", "game_id": "r1.m1.g1", "result": void, "state": {}}),
    );
}
