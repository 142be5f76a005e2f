//! What a bot writes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::limits::MAX_NAME_CHARS;
use crate::number::whole;

/// Any message of a bot. (A referee reads lines with `line::from_bot`, which is stricter and names what is wrong.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromBot<J = Value> {
    /// The answer to `hello`.
    Ready(Ready),
    /// The answer to `turn`.
    Move(Move<J>),
    /// The answer to `ping`.
    Pong(Pong),
}

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ready {
    /// The protocol version that the bot speaks: 1.
    #[serde(deserialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub protocol: u32,
    /// The bot's name, for display only. Trimmed, cut at 64 characters; the event's name stands in for a blank one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bot's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// `false`: turns come without the list of legal answers.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub legal: bool,
    /// `true`: every turn carries the whole list of moves of the game.
    #[serde(default, skip_serializing_if = "is_false")]
    pub history: bool,
    /// `true`: the others' moves are told as they happen (`played`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub events: bool,
}

impl Ready {
    /// The name to show: trimmed and cut at [`MAX_NAME_CHARS`] characters, or `event_name` if nothing of it could be seen.
    ///
    /// The text is still the bot's: whoever shows it must escape it.
    pub fn shown_name(&self, event_name: &str) -> String {
        let name = self.name.as_deref().unwrap_or_default().trim();
        if name.chars().all(is_invisible) {
            event_name.to_owned()
        } else {
            name.chars().take(MAX_NAME_CHARS).collect()
        }
    }
}

/// Characters that leave no mark: space, controls, and what Unicode calls default ignorable.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_true(value: &bool) -> bool {
    *value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The answer to `turn`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Move<J = Value> {
    /// The id of the turn.
    #[serde(deserialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "u64", range(min = 1)))]
    pub id: u64,
    /// One element of `legal`, or its equal in meaning; a resignation or a claim where the game has them.
    #[serde(rename = "move")]
    pub mv: J,
    /// Text for the record, shown in reports; cut at the event's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the bot thinks of its position: a number or an object.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number_or_object"
    )]
    #[cfg_attr(feature = "schema", schemars(schema_with = "eval_schema"))]
    pub eval: Option<Value>,
}

/// Reads `eval`.
pub(crate) fn number_or_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value @ (Value::Number(_) | Value::Object(_)) => Ok(Some(value)),
        _ => Err(serde::de::Error::custom("eval is a number or an object")),
    }
}

#[cfg(feature = "schema")]
fn eval_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["number", "object", "null"]})
}

/// The answer to `ping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pong {
    /// The id of the ping.
    #[serde(deserialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "u64", range(min = 1)))]
    pub id: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(name: &str) -> Ready {
        serde_json::from_value(serde_json::json!({"protocol": 1, "name": name}))
            .expect("a valid ready")
    }

    #[test]
    fn a_name_is_trimmed_cut_and_replaced() {
        assert_eq!(ready("  Kuyu\t").shown_name("a"), "Kuyu");
        assert_eq!(ready(&"ş".repeat(65)).shown_name("a"), "ş".repeat(64));
        assert_eq!(ready(&"n".repeat(64)).shown_name("a"), "n".repeat(64));
        for blank in ["", "   ", " \t\u{a0}\u{200b}\u{3164} ", "\u{0}\u{7f}"] {
            assert_eq!(ready(blank).shown_name("team-a"), "team-a", "{blank:?}");
        }
        let unnamed = Ready {
            name: None,
            ..ready("")
        };
        assert_eq!(unnamed.shown_name("team-a"), "team-a");
    }
}
