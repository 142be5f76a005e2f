//! The messages between the hakem referee and its bots: one JSON object a line, over stdin and stdout.
//!
//! [`FromReferee`] is what a bot reads, [`FromBot`] what it writes. The types are generic over `J`, the JSON of a game
//! (states and moves): [`serde_json::Value`] for a bot, anything that serialises for a referee.
//! [`results`] are the rows of results as data, [`tool`] the lines of `hakem rules`. `SPEC.md` beside this crate is the specification, clause by clause; `games/` has a page a game,
//! `schemas/` a JSON Schema a message, `transcripts/` whole conversations, good and faulty.
//!
//! ```
//! use hakem_protocol::{FromReferee, Ask};
//! let line = r#"{"type":"turn","id":3,"seat":1,"ask":"move","state":{},"legal":[1,2],"last":[],
//!     "clock":{"left_ms":[59210,60000],"limit_ms":60000}}"#;
//! let FromReferee::<serde_json::Value>::Turn(turn) = serde_json::from_str(line)? else { panic!() };
//! assert_eq!((turn.id, turn.ask), (3, Ask::Move));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod bot;
pub mod limits;
mod number;
mod referee;
pub mod results;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "source")]
pub mod source;
pub mod tool;

pub use bot::{FromBot, Move, Pong, Ready};
pub use referee::{
    Bye, Clock, ClockKind, End, ErrorCode, ErrorMessage, FromReferee, Hello, Match, Ping,
    PlayResult, Played, Start, Stop, StopWhy, Told, Turn, TurnClock,
};

use serde::{Deserialize, Serialize};

/// The example of the README is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The version of the protocol that this crate describes.
pub const VERSION: u32 = 1;

/// What a seat is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A move.
    Move,
    /// Tavla, before rolling: roll, or offer a double.
    Cube,
    /// Tavla: a double was offered; take, pass, or beaver.
    Take,
    /// Tavla: a resignation was offered; accept or refuse.
    Resign,
    /// Q-Bitz: a claim, at any time.
    Race,
}

impl Ask {
    /// Everything that can be asked.
    pub const ALL: [Ask; 5] = [Ask::Move, Ask::Cube, Ask::Take, Ask::Resign, Ask::Race];

    /// The word in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ask::Move => "move",
            Ask::Cube => "cube",
            Ask::Take => "take",
            Ask::Resign => "resign",
            Ask::Race => "race",
        }
    }
}

/// A score: a whole number is written as one (`1`, not `1.0`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Score(pub f64);

impl Serialize for Score {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Scores are far below 2^53; the cast is exact for whole numbers.
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
