//! A whole match at its table, fed with whatever bots may write.
//!
//! An input is a conversation as in `protocol/transcripts`: a first line that says what is played, then what the seats write. The
//! referee's side of it is left out. A line that cannot be read is written by the seat that is asked, as it is.

use hakem::clock::ClockSpec;
use hakem::game::{self, ToAct};
use hakem::referee::FaultKind;
use serde_json::{Map, Value};

use super::lines::first_line;
use crate::engine::{Shape, shape};
use crate::sim::{Process, Scene, Sim, wall};

/// Words of conversations.
pub(crate) const WORDS: [&str; 40] = [
    "from",
    "line",
    "raw",
    "ms",
    "deadline",
    "gone",
    "status",
    "exit 1",
    "signal 11",
    "closed pipe",
    "unfinished",
    "type",
    "move",
    "ready",
    "pong",
    "id",
    "note",
    "eval",
    "protocol",
    "name",
    "legal",
    "history",
    "events",
    "game",
    "rules",
    "clock",
    "main_ms",
    "increment_ms",
    "move_ms",
    "delay_ms",
    "opening",
    "opening_plies",
    "restart",
    "sets",
    "rematch_on_draw",
    "match_length",
    "beavers",
    "resign",
    "accept",
    "roll",
];

/// Honest answers after the conversation, at most.
const HONEST: usize = 60;
/// Lines of a conversation, at most.
const LINES: usize = 200;

/// The scene that a first line describes; nothing where it cannot be: an event is checked before its first game.
fn scene(header: &Value) -> Option<Scene> {
    let kind = game::find(header["game"].as_str()?)?;
    let facts = kind.facts();
    let none = Map::new();
    let given = header["rules"].as_object().unwrap_or(&none);
    let rules = kind.rules(given).ok()?;
    // Races have a target of their own.
    if rules.race().is_some() {
        return None;
    }
    let mut scene = Scene::new(facts.name).rules(Value::Object(given.clone()));
    if !header["opening"].is_null() {
        let opening = rules.read(&header["opening"]).ok()?;
        if opening.to_act() == ToAct::Over {
            return None;
        }
        scene = scene.opening(header["opening"].clone());
    }
    scene.opening_plies =
        u32::try_from(header["opening_plies"].as_u64().unwrap_or(0).min(20)).ok()?;
    scene.restart_each_game = header["restart"] == "game";
    let us = |field: &str| {
        header["clock"][field]
            .as_u64()
            .map(|ms| ms.min(1 << 40) * 1000)
    };
    Some(scene.clock(|clock| {
        *clock = ClockSpec {
            main_us: us("main_ms"),
            increment_us: us("increment_ms").unwrap_or(0),
            move_us: us("move_ms"),
            delay_us: us("delay_ms").unwrap_or(0),
            ready_us: us("ready_ms").unwrap_or(clock.ready_us).max(1),
            ..*clock
        };
    }))
}

/// The seat that a field names, or else the one that is asked.
fn seat(sim: &Sim, value: &Value) -> usize {
    let asked = (0..2).find(|&seat| sim.chairs[seat].question.is_some());
    let named = value
        .as_u64()
        .and_then(|seat| usize::try_from(seat).ok())
        .filter(|&seat| seat < 2);
    named.or(asked).unwrap_or(0)
}

/// Lets one line of a conversation happen.
fn happen(sim: &mut Sim, line: &[u8]) {
    let step: Value = serde_json::from_slice(line).unwrap_or_default();
    if !step["to"].is_null() {
        return;
    }
    if !step["deadline"].is_null() {
        let seat = seat(sim, &step["deadline"]);
        if sim.chairs[seat].wake.is_some() && sim.chairs[seat].process == Process::Running {
            sim.time_out(seat);
        }
        return;
    }
    let seat_of = |field: &str| seat(sim, &step[field]);
    if !step["gone"].is_null() {
        let seat = seat_of("gone");
        if sim.chairs[seat].process == Process::Running {
            sim.gone(
                seat,
                match step["status"].as_str() {
                    Some("closed pipe") => FaultKind::ClosedPipe,
                    Some(status) if status.starts_with("signal") => FaultKind::Signal(9),
                    _ => FaultKind::Exit(1),
                },
            );
        }
        return;
    }
    let seat = seat_of("from");
    let mut bytes = match (&step["line"], &step["raw"]) {
        (Value::Null, Value::String(raw)) => raw.clone().into_bytes(),
        (Value::Null, _) => line.to_vec(),
        (message, _) => message.to_string().into_bytes(),
    };
    if step["unfinished"] != true {
        bytes.push(b'\n');
    }
    let ms = step["ms"].as_u64().unwrap_or(0).min(1 << 40);
    if sim.chairs[seat].process == Process::Running {
        sim.write(seat, &bytes, wall(ms * 1000));
    }
}

/// Whatever the seats write, what the table wants done fits together, every line keeps to the protocol and every record
/// verifies ([`Sim`] looks at all that).
pub(crate) fn table(input: &[u8]) -> Shape {
    let header: Value = serde_json::from_slice(first_line(input)).unwrap_or_default();
    // The driver answers turns; races have tests of their own.
    if header["game"] == "qbitz" {
        return 0;
    }
    let Some(scene) = scene(&header) else {
        return 0;
    };
    let mut sim = scene.begin();
    sim.schemas = input.len().is_multiple_of(8);
    for line in input.split(|&byte| byte == b'\n').skip(1).take(LINES) {
        happen(&mut sim, line);
    }
    for _ in 0..HONEST {
        match (0..2).find(|&seat| sim.chairs[seat].question.is_some()) {
            Some(seat) => sim.answer_honestly(seat),
            None => break,
        }
    }
    let mut told: Vec<&str> = sim
        .games
        .iter()
        .take(6)
        .map(|game| game.result.reason.as_str())
        .collect();
    let many = ["none", "one", "two", "some"];
    told.push(many[sim.games.len().min(3)]);
    told.push(many[sim.voids.len().min(3)]);
    told.push(many[sim.ends.len().min(3)]);
    told.push(if sim.on_turn().is_some() {
        "asked"
    } else {
        "not"
    });
    shape(&told)
}
