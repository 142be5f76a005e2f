//! A seat's process and the bytes that go to and fro. The only room that starts, reads, measures and ends processes.
//!
//! One [`shard`] is one thread with one poll loop; it plays any number of matches. It sends what a
//! [`crate::referee::Table`] wants sent, stamps when a question is handed over and when an answer was there to read, both
//! in this one thread, and lets the table decide. Nothing in it waits for a single bot: pipes do not block, timers only
//! make it look.
//!
//! - [`process`] starts a bot, and ends it with all that it started.
//! - [`sandbox`] confines it.
//! - [`seat`] holds the pipes, clock and timers of one process.
//! - [`meter`] measures processor time and the time spent waiting for a core.
//! - `yields` says when a shard leaves its core to its bots.
//! - [`log`] keeps a bot's stderr, capped.
//! - [`rules`] is the program that knows the rules of a game that is not built in.
//! - [`talk`] holds a conversation with one bot alone, outside a shard.
//! - [`os`] is what differs from system to system; its unsafe calls are there and nowhere else.

pub(crate) mod guard;
pub mod log;
pub mod meter;
pub mod os;
pub mod process;
pub mod rules;
pub mod sandbox;
pub mod seat;
pub mod shard;
pub mod talk;
mod yields;
