//! What the referee writes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Ask, Score};

/// Any message of the referee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromReferee<J = Value> {
    /// The first message of a session.
    Hello(Hello),
    /// A game begins.
    Start(Start<J>),
    /// A question.
    Turn(Turn<J>),
    /// Another seat moved; only to a bot that asked for `events`.
    Played(Played<J>),
    /// Are you there?
    Ping(Ping),
    /// A question is withdrawn.
    Stop(Stop),
    /// The bot did something wrong.
    Error(ErrorMessage),
    /// The game is over.
    End(End<J>),
    /// The session is over; stdin is closed after it.
    Bye(Bye),
}

/// The first message of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// The protocol version: 1.
    pub protocol: u32,
    /// The referee and its version.
    pub referee: String,
    /// The game (`mangala`).
    pub game: String,
    /// Every option of the game, defaults filled in.
    pub rules: Map<String, Value>,
    /// The time control.
    pub clock: Clock,
    /// The options that the event gives to this bot.
    pub options: Map<String, Value>,
}

/// A time control as `hello` tells it. `null`: there is no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// What is charged.
    pub kind: ClockKind,
    /// Each seat's total for a game.
    pub main_ms: Option<u64>,
    /// Added after each answer.
    pub increment_ms: u64,
    /// The limit for one answer.
    pub move_ms: Option<u64>,
    /// The uncharged part of each answer.
    pub delay_ms: u64,
}

/// What a clock charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// Wall time less the time that the bot waited for a core.
    Fair,
    /// Wall time.
    Wall,
    /// Processor time.
    Cpu,
}

/// A game begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Start<J = Value> {
    /// The game's id in the event (`r2.m5.g2`).
    pub game_id: String,
    /// The reader's seat.
    pub seat: usize,
    /// The names by seat.
    pub names: Vec<String>,
    /// The seat that moves first. Means nothing in a Q-Bitz race, where all begin.
    pub first: usize,
    /// Tavla: the opening roll, by seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 6))))]
    pub opening: Option<[u8; 2]>,
    /// How often this game has been played over within its id (a Mangala rematch, a Dokuztas restart); absent at first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
    /// Every option of the game, defaults filled in.
    pub rules: Map<String, Value>,
    /// Where the match stands.
    #[serde(rename = "match")]
    pub in_match: Match,
    /// The first position.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub state: J,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Where a match stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Match {
    /// This game's number, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub game: u32,
    /// The number of games, where it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// The score by seat.
    pub score: Vec<Score>,
}

/// A question; all that is needed to answer it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turn<J = Value> {
    /// Counts from 1 for each seat and session; the answer repeats it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub id: u64,
    /// The reader's seat.
    pub seat: usize,
    /// What is asked.
    pub ask: Ask,
    /// The position.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub state: J,
    /// Every legal answer but resignations and claims, in no order that means anything. Absent if `ready` declined it.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(!default, with = "Vec<Value>"))]
    pub legal: Option<J>,
    /// What happened since the seat's last answer, that answer included: oldest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Told>"))]
    pub last: J,
    /// The whole game so far, in the form of `last`; only if `ready` asked for it.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(!default, with = "Vec<Told>"))]
    pub history: Option<J>,
    /// The clocks.
    pub clock: TurnClock,
}

/// The clocks of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnClock {
    /// The time left by seat; `null` without a total.
    pub left_ms: Vec<Option<u64>>,
    /// The most that this answer may take, the event's margin not shown; `null` without a limit.
    pub limit_ms: Option<u64>,
}

/// One thing that happened in a game: an element of `last` and `history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told<J = Value> {
    /// Who moved.
    pub seat: usize,
    /// The dice played, where the game has dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 6))))]
    pub dice: Option<[u8; 2]>,
    /// The answer, or the pass that the referee played for a seat that could not move.
    #[serde(rename = "move")]
    #[cfg_attr(feature = "schema", schemars(with = "Value"))]
    pub mv: J,
}

/// Another seat moved: an element of `last` with the game's id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Played<J = Value> {
    /// The game's id.
    pub game_id: String,
    /// Who moved.
    pub seat: usize,
    /// The dice played, where the game has dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 6))))]
    pub dice: Option<[u8; 2]>,
    /// The move.
    #[serde(rename = "move")]
    pub mv: J,
}

/// Are you there? Sent only while no question is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ping {
    /// The `pong` repeats it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub id: u64,
}

/// A question is withdrawn; an answer that is under way is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop {
    /// The id of the turn.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub id: u64,
    /// Why.
    pub why: StopWhy,
}

/// Why a question is withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopWhy {
    /// Another seat claimed.
    Claimed,
    /// The round's time is over.
    Time,
}

/// The bot did something wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorMessage {
    /// What kind of fault.
    pub code: ErrorCode,
    /// The question it belongs to, where one was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// What was wrong, in words its author can act on.
    pub message: String,
    /// Whether the bot forfeits for it.
    pub fatal: bool,
}

/// The kinds of fault of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The rules do not allow the move.
    IllegalMove,
    /// The line is not strict JSON.
    BadJson,
    /// The JSON is not a message that fits here.
    BadMessage,
    /// The answer's id is not that of the open question.
    WrongId,
    /// Nothing was asked.
    Unasked,
    /// The line, or all output of the game, is longer than allowed.
    LineTooLong,
    /// The line is not UTF-8.
    NotUtf8,
    /// The time was over.
    Timeout,
    /// The bot speaks another version of the protocol.
    ProtocolVersion,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [ErrorCode; 9] = [
        ErrorCode::IllegalMove,
        ErrorCode::BadJson,
        ErrorCode::BadMessage,
        ErrorCode::WrongId,
        ErrorCode::Unasked,
        ErrorCode::LineTooLong,
        ErrorCode::NotUtf8,
        ErrorCode::Timeout,
        ErrorCode::ProtocolVersion,
    ];

    /// The word in messages and reasons.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::IllegalMove => "illegal_move",
            ErrorCode::BadJson => "bad_json",
            ErrorCode::BadMessage => "bad_message",
            ErrorCode::WrongId => "wrong_id",
            ErrorCode::Unasked => "unasked",
            ErrorCode::LineTooLong => "line_too_long",
            ErrorCode::NotUtf8 => "not_utf8",
            ErrorCode::Timeout => "timeout",
            ErrorCode::ProtocolVersion => "protocol_version",
        }
    }
}

/// The game is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct End<J = Value> {
    /// The game's id.
    pub game_id: String,
    /// How it ended.
    pub result: PlayResult,
    /// The position after the last takings.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub state: J,
}

/// How a game ended. A void game has all but `reason` null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayResult {
    /// The seat that won alone.
    pub winner: Option<usize>,
    /// 1, 1/2 or 0 by seat (n seats that share a win: 1/n each).
    pub score: Option<Vec<Score>>,
    /// What the game counts, by seat.
    pub points: Option<Vec<u32>>,
    /// The rules' name for the end, `forfeit`, `adjudicated`, or `void`.
    pub reason: String,
}

/// The session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bye {}
