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

#[cfg(all(feature = "runner", not(unix)))]
compile_error!(
    "hakem runs bots on Linux, macOS and other Unix systems only: on Windows use it in WSL \
     (the Windows Subsystem for Linux). The rules, the referee and the statistics alone build \
     everywhere: `default-features = false`, or `--no-default-features`."
);

#[cfg(all(feature = "runner", unix))]
pub mod bot;
pub mod chance;
#[cfg(all(feature = "runner", unix))]
pub mod cli;
pub mod clock;
#[cfg(all(feature = "runner", unix))]
pub mod config;
pub mod event;
pub mod game;
pub mod house;
pub mod rating;
pub mod referee;
#[cfg(all(feature = "runner", unix))]
pub mod report;
#[cfg(all(feature = "runner", unix))]
pub mod runner;
pub mod stats;
#[cfg(all(feature = "runner", unix))]
pub mod store;
pub mod strict;
pub mod tournament;
