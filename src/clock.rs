//! Time controls. Pure: what was measured comes in, what is charged and left goes out. All times are microseconds.

use hakem_protocol::ClockKind;
use serde::{Deserialize, Serialize};

/// The settings of a clock. Each seat's total is refilled at every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSpec {
    /// Each seat's total for a game.
    pub main_us: Option<u64>,
    /// Added after each answer.
    pub increment_us: u64,
    /// The limit for one answer.
    pub move_us: Option<u64>,
    /// The uncharged part of each answer.
    pub delay_us: u64,
    /// The grace before a loss on time; never shown to a bot.
    pub margin_us: u64,
    /// The time to answer `hello`, `ping`.
    pub ready_us: u64,
    /// What is charged.
    pub kind: ClockKind,
    /// What ends a turn whatever the kind; `None`: ten times the limit and a second.
    pub ceiling_us: Option<u64>,
}

/// What was measured of one answer: from when the line was handed to the bot to when its answer was there to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Wall time.
    pub wall_us: u64,
    /// Processor time of the bot; `None` where it was not measured.
    pub cpu_us: Option<u64>,
    /// The time that the bot was ready to run and waited for a core; `None` where it was not measured.
    pub delay_us: Option<u64>,
}
