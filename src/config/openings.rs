//! The file of positions to start from: a JSON state a line.

use std::path::Path;

use serde_json::{Map, Value};

use super::diagnose::Place;
use super::read::{path_problem, read_text, resolve};
use super::reader::{Reader, Section};
use crate::game::{Kind, Ruleset, ToAct};

/// The largest file of openings.
const MAX_BYTES: u64 = 64 << 20;

/// Reads and checks the file that `openings` in `[event]` names. Blank lines, and lines that begin with `#`, are left out.
pub(super) fn read(
    reader: &mut Reader,
    section: &Section<'_>,
    name: &str,
    base: &Path,
    kind: &dyn Kind,
    rules: &Map<String, Value>,
    seats: usize,
) -> Vec<Value> {
    // With wrong rules the fault is told already.
    let Ok(rules) = kind.rules(rules) else {
        return Vec::new();
    };
    if let Some(wrong) = path_problem(name) {
        reader.wrong(section, "openings", wrong);
        return Vec::new();
    }
    let path = resolve(base, name);
    states(
        reader,
        &path,
        &*rules,
        seats,
        Some(section.place("openings")),
    )
}

/// The same for a file that a flag names.
pub(super) fn from_flag(
    reader: &mut Reader,
    path: &Path,
    kind: &dyn Kind,
    rules: &Map<String, Value>,
    seats: usize,
) -> Vec<Value> {
    match kind.rules(rules) {
        Ok(rules) => states(reader, path, &*rules, seats, None),
        Err(_) => Vec::new(),
    }
}

/// The states of a file; `place` is where it is named.
fn states(
    reader: &mut Reader,
    path: &Path,
    rules: &dyn Ruleset,
    seats: usize,
    place: Option<Place>,
) -> Vec<Value> {
    let text = match read_text(path, MAX_BYTES, "the openings") {
        Ok(text) => text,
        Err(message) => {
            let right = "a file with a JSON state a line is right";
            reader.error.push(place, message, right);
            return Vec::new();
        }
    };
    let source = reader.error.add_source(path.display().to_string(), &*text);
    let mut states = Vec::new();
    let mut start = 0;
    let mut is_good = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') {
            match state(content, rules, seats) {
                Ok(state) => states.push(state),
                Err((column, message)) => {
                    let begin = start + (line.len() - line.trim_start().len());
                    let span = match column {
                        Some(column) => begin + column..begin + column,
                        None => begin..begin + content.len(),
                    };
                    let title = format!("an opening cannot be read: {message}");
                    let right = "a state of the game as a turn message carries it is right";
                    is_good = false;
                    reader
                        .error
                        .push(Some(Place::new(source, span)), title, right);
                }
            }
        }
        start += line.len();
    }
    if states.is_empty() && is_good {
        let (title, right) = match place {
            Some(_) => (
                "`openings` in [event] names a file without a state",
                "a file with a JSON state a line is right",
            ),
            None => (
                "the file of openings holds no state; a file with a JSON state a line is right",
                "",
            ),
        };
        reader.error.push(place, title, right);
    }
    states
}

/// Reads one state; an error names the byte of the line where it can.
fn state(line: &str, rules: &dyn Ruleset, seats: usize) -> Result<Value, (Option<usize>, String)> {
    let state: Value = serde_json::from_str(line).map_err(|error| {
        // The caret shows the place.
        let byte = error.column().saturating_sub(1);
        (Some(byte), crate::strict::in_words(&error))
    })?;
    let position = rules.read(&state).map_err(|message| (None, message))?;
    if position.to_act() == ToAct::Over {
        return Err((None, "the game is over in it".into()));
    }
    if position.seats() != seats {
        let message = format!("it has {} seats, the event {seats}", position.seats());
        return Err((None, message));
    }
    Ok(state)
}
