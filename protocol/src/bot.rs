//! What a bot writes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::number::whole;

/// Any message of a bot.
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
    #[serde(
        default = "yes",
        skip_serializing_if = "is_true",
        deserialize_with = "true_if_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub legal: bool,
    /// `true`: every turn carries the whole list of moves of the game.
    #[serde(
        default,
        skip_serializing_if = "is_false",
        deserialize_with = "false_if_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub history: bool,
    /// `true`: the others' moves are told as they happen (`played`).
    #[serde(
        default,
        skip_serializing_if = "is_false",
        deserialize_with = "false_if_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub events: bool,
    /// `true`: the bot claims that the same session gets the same answers. `hakem check` holds it to that; in a game it
    /// means nothing.
    #[serde(
        default,
        skip_serializing_if = "is_false",
        deserialize_with = "false_if_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub deterministic: bool,
}

impl Default for Ready {
    /// What a bot says that says no more than that it speaks this version.
    fn default() -> Ready {
        Ready {
            protocol: crate::VERSION,
            name: None,
            version: None,
            author: None,
            legal: true,
            history: false,
            events: false,
            deterministic: false,
        }
    }
}

fn yes() -> bool {
    true
}

fn true_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(|value| value.unwrap_or(true))
}

fn false_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(|value| value.unwrap_or(false))
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
fn number_or_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
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
