//! hakem, the referee.
//!
//! # The rooms
//!
//! Pure, with no file, clock, thread or process in them (`tests/architecture.rs` keeps it so):
//! [`game`] the rules; [`chance`] derived randomness; [`clock`] time controls; [`referee`] a match as a state machine;
//! [`tournament`] pairings and standings; [`rating`] and [`stats`]; [`house`] the built-in bots; [`event`] the
//! vocabulary of what happened; [`strict`] strict JSON.
//!
//! With I/O, behind the feature `runner`: `config` the event file; `bot` a seat's process; `runner` plays the schedule;
//! `store` results and records; `report` outputs; `cli` the subcommands.

#[cfg(feature = "runner")]
pub mod bot;
pub mod chance;
#[cfg(feature = "runner")]
pub mod cli;
pub mod clock;
#[cfg(feature = "runner")]
pub mod config;
pub mod event;
pub mod game;
pub mod house;
pub mod rating;
pub mod referee;
#[cfg(feature = "runner")]
pub mod report;
#[cfg(feature = "runner")]
pub mod runner;
pub mod stats;
#[cfg(feature = "runner")]
pub mod store;
pub mod strict;
pub mod tournament;
