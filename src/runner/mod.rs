//! Plays a schedule.
//!
//! [`source`] says which matches there are and [`plan`] makes what a shard needs for one, [`confine`] decides how its bots are confined, and [`jitter`] measures how exactly the
//! machine keeps time; [`dispatch`] hands the matches to the shards, takes what they report, has it stored and only then tells
//! it; [`ledger`] is the thread that stores. What happened is told as [`crate::event::Event`]s.

pub mod build;
pub mod confine;
pub mod dispatch;
pub mod jitter;
pub mod ledger;
pub mod limited;
pub mod plan;
pub mod sitting;
pub mod source;
mod stored;

pub use dispatch::{Ended, run};
pub use ledger::{Entry, Ledger};
pub use limited::{Limited, Limits, Why};
pub use plan::Plan;
pub use source::{Schedule, Source};
