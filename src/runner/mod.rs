//! Plays a schedule.
//!
//! [`plan`] makes the matches of an event, and [`confine`] decides how its bots are confined; [`dispatch`] hands them to the shards, takes what they report, has it stored and
//! only then tells it; [`ledger`] is the thread that stores. What happened is told as [`crate::event::Event`]s.

pub mod build;
pub mod confine;
pub mod dispatch;
pub mod ledger;
pub mod plan;
pub mod sitting;
mod stored;

pub use dispatch::{Ended, run};
pub use ledger::{Entry, Ledger};
pub use plan::Plan;
