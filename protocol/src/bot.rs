//! What a bot writes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    pub id: u64,
    /// One element of `legal`, or its equal in meaning; a resignation or a claim where the game has them.
    #[serde(rename = "move")]
    pub mv: J,
    /// Text for the record, shown in reports; cut at the event's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the bot thinks of its position: a number or an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<Value>,
}

/// The answer to `ping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pong {
    /// The id of the ping.
    pub id: u64,
}
