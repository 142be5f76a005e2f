//! A race of two to four seats at its table, fed as a match is ([`super::table`]).

use hakem::clock::Spent;
use hakem::game::{self, ToAct};
use hakem::referee::Input;
use hakem::referee::lines::{Line, LineReader};
use serde_json::{Map, Value, json};

use super::lines::first_line;
use crate::engine::{Shape, shape};
use crate::ring::{Ring, Scene, wall};

/// Words of races.
pub(crate) const WORDS: [&str; 30] = [
    "from",
    "line",
    "raw",
    "ms",
    "us",
    "early",
    "deadline",
    "gone",
    "type",
    "move",
    "ready",
    "pong",
    "id",
    "qbitz",
    "cube",
    "face",
    "turn",
    "names",
    "rules",
    "target_points",
    "rounds",
    "round_ms",
    "dead_heat_us",
    "race",
    "together",
    "in-turn",
    "blocks",
    "uniform",
    "mixed",
    "opening",
];

/// Lines of a conversation, at most.
const LINES: usize = 60;
/// Rounds played to their end after it, at most.
const ROUNDS: usize = 8;

/// The scene that a first line describes; nothing where it cannot be.
fn scene(header: &Value) -> Option<Scene> {
    let none = Map::new();
    let given = header["rules"].as_object().unwrap_or(&none);
    let rules = game::find("qbitz")?.rules(given).ok()?;
    let seats = header["names"].as_array().map_or(2, Vec::len).clamp(2, 4);
    let mut scene = Scene::new(seats, Value::Object(given.clone()));
    if !header["opening"].is_null() {
        let opening = rules.read(&header["opening"]).ok()?;
        // As the event file is checked.
        if opening.seats() != seats || opening.to_act() == ToAct::Over {
            return None;
        }
        scene.opening = Some(header["opening"].clone());
    }
    Some(scene)
}

/// Lets one line of a conversation happen.
fn happen(ring: &mut Ring, line: &[u8]) {
    let step: Value = serde_json::from_slice(line).unwrap_or_default();
    let seat = ["from", "deadline", "gone"]
        .iter()
        .find_map(|field| step[field].as_u64());
    let asked = ring.racing().first().copied().unwrap_or(0);
    let seat = seat.map_or(asked, |seat| seat as usize % ring.chairs.len());
    if !step["to"].is_null() || !ring.chairs[seat].up {
        return;
    }
    if !step["deadline"].is_null() {
        if ring.chairs[seat].wake.is_some() {
            ring.look(seat);
        }
        return;
    }
    if !step["gone"].is_null() {
        ring.gone(seat);
        return;
    }
    let bytes = match (&step["line"], &step["raw"]) {
        (Value::Null, Value::String(raw)) => raw.clone().into_bytes(),
        (Value::Null, _) => line.to_vec(),
        (message, _) => message.to_string().into_bytes(),
    };
    let us = step["us"]
        .as_u64()
        .or_else(|| step["ms"].as_u64().map(|ms| ms.min(1 << 40) * 1000));
    let early = step["early"] == true;
    write(ring, seat, &bytes, wall(us.unwrap_or(0)), early);
}

/// The seat writes a line, or several.
fn write(ring: &mut Ring, seat: usize, bytes: &[u8], spent: Spent, early: bool) {
    let mut lines = Vec::new();
    LineReader::new(1 << 20, 1 << 24).feed(&[bytes, b"\n"].concat(), |line| {
        if let Line::Whole(line) = line {
            lines.push(line.to_vec());
        }
    });
    for line in lines {
        if ring.chairs[seat].up {
            let line = &line;
            ring.handle(Input::Line {
                seat,
                line,
                spent,
                early,
            });
        }
    }
}

/// Whatever the seats write, and when, what the table wants done fits together, every line keeps to the protocol and every
/// record verifies ([`Ring`] looks at all that).
pub(crate) fn race(input: &[u8]) -> Shape {
    let header = serde_json::from_slice(first_line(input)).unwrap_or_default();
    let Some(scene) = scene(&header) else {
        return 0;
    };
    let mut ring = scene.begin();
    for line in input.split(|&byte| byte == b'\n').skip(1).take(LINES) {
        happen(&mut ring, line);
    }
    for seat in 0..ring.chairs.len() {
        let greeting = ring.chairs[seat].question.as_ref();
        if greeting.is_some_and(|asked| asked["type"] == "hello") {
            ring.ready(seat, &json!({}));
        }
    }
    for round in 0..ROUNDS {
        let racing = ring.racing();
        match racing.get(round % racing.len().max(1)) {
            Some(&seat) if round % 3 == 2 => ring.claims_wrongly(seat, 500),
            Some(&seat) => ring.claims(seat, 500),
            None => break,
        }
        // The others of a round look at their time, so that it ends.
        for seat in ring.racing() {
            if ring.chairs[seat].wake.is_some() {
                ring.look(seat);
            }
        }
    }
    let mut told: Vec<&str> = ring
        .games
        .iter()
        .map(|game| game.result.reason.as_str())
        .collect();
    let open = ["none", "one", "two", "more"][ring.racing().len().min(3)];
    let up = ring.chairs.iter().filter(|chair| chair.up).count();
    told.extend([open, ["none", "one", "two", "more"][up.min(3)]]);
    shape(&told)
}
