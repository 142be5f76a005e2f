//! The lines of `hakem rules`: the rules of every game for every language.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::number::whole_or_null;
use crate::{Ask, ErrorCode, PlayResult};

/// A question to the tool.
///
/// With `move` it is applied to `state`; with `moves` they are played from `state`, or from the start; with `forfeit` the
/// result of that forfeit is told; with none of them, what `state` allows. Unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// The game (`mangala`).
    pub game: String,
    /// Options of the game; every other has its default. An unknown name is `bad_message`.
    #[serde(default)]
    pub rules: Map<String, Value>,
    /// The position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// The move to apply. `null` is a move too, and an illegal one.
    #[serde(
        rename = "move",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub mv: Option<Value>,
    /// The moves to play one after the other; passes are never among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<Value>>,
    /// With `moves` and no `state`: the seat that begins; 0 if absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_or_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<usize>"))]
    pub first: Option<usize>,
    /// The seat that forfeits.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_or_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<usize>"))]
    pub forfeit: Option<usize>,
    /// Q-Bitz: the seat whose claim `move` is.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_or_null"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<usize>"))]
    pub seat: Option<usize>,
}

/// A field that is there, `null` included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What the tool writes for a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Reply<J = Value> {
    /// Something was wrong; the tool goes on with the next line.
    Error(Failure),
    /// The position after what was asked.
    Answer(Answer<J>),
}

/// A position, and what may be done in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer<J = Value> {
    /// The position, unless it is the one that was sent.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(!default, with = "Map<String, Value>"))]
    pub state: Option<J>,
    /// The seat on turn; `null` when the game is over, and in a race.
    pub turn: Option<usize>,
    /// What it is asked; `null` when the game is over, or when dice are to be supplied.
    pub ask: Option<Ask>,
    /// Every legal answer but resignations and claims; their order has no meaning.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Value>"))]
    pub legal: J,
    /// How the game ended; `null` while it goes on.
    pub result: Option<PlayResult>,
}

/// What was wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The fault.
    pub error: Fault,
}

/// A fault with its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// `bad_json`, `not_utf8`, `bad_message` or `illegal_move`.
    pub code: ErrorCode,
    /// What was wrong, and what would be right.
    pub message: String,
}
