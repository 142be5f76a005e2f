//! Reads one line of a bot. Pure.

use hakem_protocol::ErrorCode;
use serde_json::Value;

use super::play::{Fault, FaultKind};
use crate::strict::{self, StrictError};

mod quick;

/// What a bot said.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// `ready`.
    Ready(Box<Ready>),
    /// `move`.
    Move {
        /// The id it gives.
        id: u64,
        /// The move.
        mv: Value,
        /// A note for the record.
        note: Option<String>,
        /// An evaluation for the record.
        eval: Option<Value>,
    },
    /// `pong`.
    Pong {
        /// The id it gives.
        id: u64,
    },
}

/// What `ready` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The protocol version.
    pub protocol: u64,
    /// The name, as sent.
    pub name: String,
    /// The version of the bot, as sent.
    pub version: String,
    /// Its author, as sent.
    pub author: String,
    /// Whether it wants the list of legal answers.
    pub legal: bool,
    /// Whether it wants the whole game with each turn.
    pub history: bool,
    /// Whether it wants to be told of the others' moves.
    pub events: bool,
    /// Whether it claims that the same session gets the same answers.
    pub deterministic: bool,
}

/// Reads a line (without its line end).
///
/// # Errors
/// The fault, in words for the bot's author.
pub fn read(line: &[u8]) -> Result<Said, Fault> {
    if let Some(said) = quick::read(line) {
        return Ok(said);
    }
    let value = strict::parse(line).map_err(|error| match error {
        StrictError::NotUtf8 { .. } => {
            let hint = if looks_like_utf16(line) {
                " (it looks like UTF-16)"
            } else {
                ""
            };
            fault(ErrorCode::NotUtf8, format!("{error}{hint}"))
        }
        StrictError::BadJson { .. } if looks_like_utf16(line) => fault(
            ErrorCode::BadJson,
            format!("{error} (it looks like UTF-16; write UTF-8)"),
        ),
        StrictError::BadJson { .. } => fault(ErrorCode::BadJson, no_json(line, &error)),
    })?;
    let Value::Object(mut fields) = value else {
        return Err(bad("a message is one JSON object, not ", &value));
    };
    match fields.get("type") {
        Some(Value::String(kind)) => match kind.as_str() {
            "move" => Ok(Said::Move {
                id: id(&fields, line, "move")?,
                mv: fields
                    .remove("move")
                    .ok_or_else(|| message("a `move` message has a field `move`".into()))?,
                note: match fields.remove("note") {
                    None | Some(Value::Null) => None,
                    Some(Value::String(note)) => Some(note),
                    Some(other) => return Err(bad("`note` is a text, not ", &other)),
                },
                eval: match fields.remove("eval") {
                    None | Some(Value::Null) => None,
                    Some(eval @ (Value::Number(_) | Value::Object(_))) => Some(eval),
                    Some(other) => {
                        return Err(bad("`eval` is a number or an object, not ", &other));
                    }
                },
            }),
            "pong" => Ok(Said::Pong {
                id: id(&fields, line, "pong")?,
            }),
            "ready" => Ok(Said::Ready(Box::new(ready(&fields)?))),
            _ => Err(bad(
                "a bot's message is of type ready, move or pong, not ",
                &fields["type"],
            )),
        },
        Some(other) => Err(bad("`type` is a text, not ", other)),
        None => Err(message("a message has a field `type`".into())),
    }
}

/// Characters of a line that is no JSON that its reason repeats.
const REPEATED: usize = 40;

/// Why a line is no JSON, with its beginning, for an author who may not know that it was written at all.
fn no_json(line: &[u8], error: &StrictError) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let begins = beginning(text);
    let is_object = text.starts_with('{');
    if is_object && text[1..].trim_start().starts_with('\'') {
        return format!(
            "JSON has double quotes, and the line {begins} has single ones; in Python print json.dumps(...), not the dict"
        );
    }
    let at = match error {
        StrictError::BadJson { byte, .. } | StrictError::NotUtf8 { byte } => byte.saturating_sub(1),
    };
    let rest = line.get(at..).unwrap_or_default();
    let words: [&[u8]; 3] = [b"True", b"False", b"None"];
    if is_object && words.iter().any(|word| rest.starts_with(word)) {
        return format!(
            "JSON has true, false and null, and the line {begins} has Python's words (byte {}); print json.dumps(...)",
            at + 1
        );
    }
    let hint = "stdout is for messages only, anything else belongs on stderr";
    if is_object || text.is_empty() || text.starts_with('\u{feff}') {
        format!("{error} in the line {begins}; {hint}")
    } else {
        format!("the line {begins} is not JSON; {hint}")
    }
}

/// The beginning of a line for a reason: nothing in it steers a terminal.
fn beginning(text: &str) -> String {
    let mut begins = String::new();
    for letter in text.chars().take(REPEATED) {
        if letter == ' ' || letter.is_ascii_graphic() {
            begins.push(letter);
        } else {
            begins.extend(letter.escape_debug());
        }
    }
    let more = if text.chars().nth(REPEATED).is_some() {
        "..."
    } else {
        ""
    };
    format!("`{begins}{more}`")
}

/// Cuts a text after so many bytes, at a character's edge.
pub(crate) fn cut_text(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        text.truncate(end);
    }
}

fn fault(code: ErrorCode, message: String) -> Fault {
    Fault {
        kind: FaultKind::Code(code),
        message,
    }
}

fn message(message: String) -> Fault {
    fault(ErrorCode::BadMessage, message)
}

fn bad(what: &str, value: &Value) -> Fault {
    message(format!("{what}{}", crate::game::cut(value)))
}

fn id(fields: &serde_json::Map<String, Value>, line: &[u8], kind: &str) -> Result<u64, Fault> {
    let what = "`id` is the whole number of the question, not ";
    match fields.get("id") {
        Some(Value::Number(number)) => whole(number)
            .filter(|_| !number.is_f64() || !id_has_exponent(line))
            .ok_or_else(|| bad(what, &fields["id"])),
        Some(other) => Err(bad(what, other)),
        None => Err(message(format!(
            "a `{kind}` message repeats the `id` of the question"
        ))),
    }
}

/// Whether the id of a line is written with an exponent. `3.0` is 3, but an id is a count, not a measurement: `3e0` shows
/// that a bot's language has made a float of it, which a larger id would not survive.
fn id_has_exponent(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct RawId<'a> {
        #[serde(borrow)]
        id: &'a serde_json::value::RawValue,
    }
    serde_json::from_slice::<RawId<'_>>(line).is_ok_and(|raw| raw.id.get().contains(['e', 'E']))
}

/// A whole number, also as `3.0`; ids are compared as integers, so a large one only in its exact form.
fn whole(number: &serde_json::Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|&float| {
                number.is_f64() && float.fract() == 0.0 && (0.0..9e15).contains(&float)
            })
            .map(|float| float as u64)
    })
}

fn ready(fields: &serde_json::Map<String, Value>) -> Result<Ready, Fault> {
    let protocol = match fields.get("protocol") {
        Some(Value::Number(number)) => whole(number),
        _ => None,
    }
    .ok_or_else(|| message("`ready` has `protocol`, the version that the bot speaks: 1".into()))?;
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(bad(&format!("`{name}` of `ready` is a text, not "), other)),
    };
    let switch = |name: &str, usual: bool| match fields.get(name) {
        None | Some(Value::Null) => Ok(usual),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(bad(
            &format!("`{name}` of `ready` is true or false, not "),
            other,
        )),
    };
    Ok(Ready {
        protocol,
        name: text("name")?,
        version: text("version")?,
        author: text("author")?,
        legal: switch("legal", true)?,
        history: switch("history", false)?,
        events: switch("events", false)?,
        deterministic: switch("deterministic", false)?,
    })
}

fn looks_like_utf16(line: &[u8]) -> bool {
    line.starts_with(b"\xff\xfe")
        || line.starts_with(b"\xfe\xff")
        || (line.len() >= 4 && line.iter().filter(|&&byte| byte == 0).count() * 3 > line.len())
}
