//! The file of positions to start from: a JSON state a line.

use std::path::Path;

use serde_json::{Map, Value};

use super::diagnose::Place;
use super::read::{path_problem, read_text, resolve};
use super::reader::{Reader, Section, Wrong};
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
    let text = match read_text(&path, MAX_BYTES, "the openings") {
        Ok(text) => text,
        Err(message) => {
            let place = section.place("openings");
            reader.error.push(
                Some(place),
                message,
                "a file with a JSON state a line is right",
            );
            return Vec::new();
        }
    };
    let source = reader.error.add_source(path.display().to_string(), &*text);
    let mut states = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') {
            match state(content, &*rules, seats) {
                Ok(state) => states.push(state),
                Err((column, message)) => {
                    let begin = start + (line.len() - line.trim_start().len());
                    let span = match column {
                        Some(column) => begin + column..begin + column,
                        None => begin..begin + content.len(),
                    };
                    let title = format!("an opening cannot be read: {message}");
                    let right = "a state of the game as a turn message carries it is right";
                    reader
                        .error
                        .push(Some(Place::new(source, span)), title, right);
                }
            }
        }
        start += line.len();
    }
    if states.is_empty() && reader.error.is_empty() {
        let wrong = Wrong::new(
            "names a file without a state",
            "a file with a JSON state a line is right",
        );
        reader.wrong(section, "openings", wrong);
    }
    states
}

/// Reads one state; an error names the byte of the line where it can.
fn state(line: &str, rules: &dyn Ruleset, seats: usize) -> Result<Value, (Option<usize>, String)> {
    let state: Value = serde_json::from_str(line).map_err(|error| {
        let message = error.to_string();
        // The place follows in the message, but counts from this line; the caret shows it.
        let message = message.split(" at line ").next().unwrap_or_default();
        (Some(error.column().saturating_sub(1)), message.to_owned())
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
