//! The referee of a match against its contract (`protocol/SPEC.md`), without a process: every test is a scene of scripted
//! seats in a time that is only told.

mod adjudication;
mod check;
mod clocks;
mod faults;
mod fuzz;
mod handshake;
mod matches;
mod pairs;
mod records;
mod sim;
mod turns;
