//! Plays a schedule.
//!
//! [`source`] says which matches there are; [`plan`] makes what a shard needs for one; [`dispatch`] hands them to the shards, takes what they report, has it stored and
//! only then tells it; [`ledger`] is the thread that stores. What happened is told as [`crate::event::Event`]s.

pub mod dispatch;
pub mod ledger;
pub mod limited;
pub mod plan;
pub mod source;
mod stored;

pub use dispatch::{Ended, run};
pub use ledger::{Entry, Ledger};
pub use limited::{Limited, Limits, Why};
pub use plan::Plan;
pub use source::{Schedule, Source};
