//! Reads a line of a bot, or of a user of the rules tool, as strictly as the specification asks.
//!
//! serde alone is too lenient: it keeps the last of two equal keys, skips bad escapes in fields that it ignores, and
//! turns a whole number that 64 bits cannot hold into a rounded one. Here each of these is `bad_json` (SPEC 1.6).
//! Cutting the stream into lines, their length, and the byte order mark before the first are the caller's part.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use crate::bot::number_or_object;
use crate::number::whole;
use crate::{ErrorCode, FromBot, Move, Pong, Ready};

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// `not_utf8`, `bad_json` or `bad_message`.
    pub code: ErrorCode,
    /// What is wrong and what would be right. Text of the line in it is escaped and cut short.
    pub message: String,
}

impl LineError {
    fn bad_message(message: impl Into<String>) -> LineError {
        LineError {
            code: ErrorCode::BadMessage,
            message: message.into(),
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for LineError {}

/// Whether there is nothing on the line but the white space of JSON: such a line is ignored (SPEC 1.5).
pub fn is_blank(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Reads one line as JSON.
///
/// # Errors
/// `not_utf8` or `bad_json`, with the place and the cause.
pub fn json(line: &[u8]) -> Result<Value, LineError> {
    let text = std::str::from_utf8(line).map_err(|error| LineError {
        code: ErrorCode::NotUtf8,
        message: format!(
            "the line is not UTF-8: byte {} is wrong",
            error.valid_up_to() + 1
        ),
    })?;
    if let Some(number) = too_big(text) {
        return Err(LineError {
            code: ErrorCode::BadJson,
            message: format!("{} does not fit in 64 bits", quoted(number)),
        });
    }
    serde_json::from_str::<Strict>(text)
        .map(|Strict(value)| value)
        .map_err(|error| LineError {
            code: ErrorCode::BadJson,
            message: explain(text, &error),
        })
}

/// Reads one line as a message of a bot.
///
/// # Errors
/// What is wrong, with the code that the bot is told.
pub fn from_bot(line: &[u8]) -> Result<FromBot, LineError> {
    let Value::Object(mut fields) = json(line)? else {
        return Err(LineError::bad_message(
            "a message is a JSON object with a `type`",
        ));
    };
    let kind = match fields.remove("type") {
        Some(Value::String(kind)) => kind,
        Some(_) => {
            return Err(LineError::bad_message(
                "`type` is a text: ready, move or pong",
            ));
        }
        None => {
            return Err(LineError::bad_message(
                "the message has no `type`: ready, move or pong",
            ));
        }
    };
    let mut fields = Fields {
        kind: &kind,
        fields,
    };
    match kind.as_str() {
        "ready" => Ok(FromBot::Ready(Ready {
            protocol: fields.need("protocol", PROTOCOL)?.0,
            name: fields.take("name", TEXT)?,
            version: fields.take("version", TEXT)?,
            author: fields.take("author", TEXT)?,
            legal: fields.present("legal", TRUTH)?.unwrap_or(true),
            history: fields.present("history", TRUTH)?.unwrap_or(false),
            events: fields.present("events", TRUTH)?.unwrap_or(false),
        })),
        "move" => Ok(FromBot::Move(Move {
            id: fields.need("id", ID)?.0,
            mv: fields.fields.remove("move").ok_or_else(|| {
                LineError::bad_message("a `move` needs a `move`: one element of the turn's `legal`")
            })?,
            note: fields.take("note", TEXT)?,
            eval: fields
                .present::<Eval>("eval", EVAL)?
                .and_then(|Eval(value)| value),
        })),
        "pong" => Ok(FromBot::Pong(Pong {
            id: fields.need("id", ID)?.0,
        })),
        other => Err(LineError::bad_message(format!(
            "a bot writes no {}; its types are ready, move and pong",
            quoted(other)
        ))),
    }
}

const PROTOCOL: &str = "the version that the bot speaks, a whole number";
const ID: &str = "the id of the message that it answers, a whole number";
const TEXT: &str = "a text";
const TRUTH: &str = "true or false";
const EVAL: &str = "a number or an object";

/// The fields of a message, read one by one so that an error names the field.
struct Fields<'a> {
    kind: &'a str,
    fields: Map<String, Value>,
}

impl Fields<'_> {
    /// A field that may be absent.
    fn present<T: DeserializeOwned>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<Option<T>, LineError> {
        let Some(value) = self.fields.remove(name) else {
            return Ok(None);
        };
        T::deserialize(&value).map(Some).map_err(|_| {
            LineError::bad_message(format!(
                "`{name}` of `{}` is {what}, not {}",
                self.kind,
                cut(&value.to_string())
            ))
        })
    }

    /// A field that may be absent or `null`.
    fn take<T: DeserializeOwned>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<Option<T>, LineError> {
        self.present::<Option<T>>(name, what).map(Option::flatten)
    }

    /// A whole number that must be there.
    fn need<T: TryFrom<u64>>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<WholeNumber<T>, LineError> {
        self.present(name, what)?.ok_or_else(|| {
            LineError::bad_message(format!("a `{}` needs `{name}`: {what}", self.kind))
        })
    }
}

#[derive(Deserialize)]
#[serde(transparent, bound = "T: TryFrom<u64>")]
struct WholeNumber<T>(#[serde(deserialize_with = "whole")] T);

#[derive(Deserialize)]
#[serde(transparent)]
struct Eval(#[serde(deserialize_with = "number_or_object")] Option<Value>);

/// A value that was read without tolerance.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        StrictValue.deserialize(deserializer).map(Strict)
    }
}

struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("the number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(StrictValue)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {} is there twice",
                    quoted(&key)
                )));
            }
            fields.insert(key, map.next_value_seed(StrictValue)?);
        }
        Ok(Value::Object(fields))
    }
}

/// The first whole number outside of strings that neither `i64` nor `u64` can hold. Numbers with a fraction or an
/// exponent are doubles, and serde_json refuses those that are out of range.
fn too_big(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let start = at;
                while at < bytes.len()
                    && matches!(bytes[at], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                {
                    at += 1;
                }
                let number = &text[start..at];
                let whole = !number.contains(['.', 'e', 'E', '+']);
                // Anything shorter fits; what is no number at all is for the parser to refuse.
                if whole
                    && number.len() > 18
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    return Some(number);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// The parser's complaint without "at line 1 column 5", which would mislead: the line of a stream has no line 1.
fn explain(text: &str, error: &serde_json::Error) -> String {
    let full = error.to_string();
    let what = full
        .rfind(" at line ")
        .map_or(full.as_str(), |end| &full[..end]);
    let near = text.get(error.column().saturating_sub(1)..).unwrap_or("");
    if error.is_eof() || near.is_empty() {
        format!("the line is not strict JSON: {what} at its end")
    } else {
        format!(
            "the line is not strict JSON: {what} at byte {}, before {}",
            error.column(),
            quoted(near)
        )
    }
}

/// Text of a bot in quotes, escaped and cut short.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Characters of a bot's text in a message.
const MAX_QUOTED: usize = 40;
