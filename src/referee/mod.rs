//! The referee of a match as a state machine without I/O. Pure.
//!
//! [`Table`] takes [`Input`]s (a line of a seat and how long it took, a deadline, a process gone) and answers with
//! [`Effect`]s (send this, look again then, start or end a process, a game is over). Whoever drives it moves bytes and
//! timers, and decides nothing. Inside it:
//!
//! - [`lines`] cuts a stream into lines within limits;
//! - [`answer`] reads a bot's line;
//! - [`play`] is one game: position, clocks, chance, record, verdict;
//! - [`adjudicate`] follows the rules of the event that may end a game;
//! - [`race`] is one race in it: who is asked, until when, whose claim was first;
//! - [`table`] is the match: sessions of the seats, handshakes, questions, the series of games;
//! - [`tally`] says what a match comes to, by its games;
//! - [`turn`] makes the messages that ask;
//! - [`record`] writes the hash chain, [`replay`] drives [`play`] from it again.

pub mod adjudicate;
pub mod answer;
pub mod lines;
pub mod play;
mod played;
pub mod race;
pub mod record;
pub mod replay;
pub mod table;
pub mod tally;
pub mod turn;

pub use play::{End, Fault, FaultKind, Limit};
pub use table::{Effect, Gone, Input, MatchSetup, Outbox, SeatSetup, Table};
