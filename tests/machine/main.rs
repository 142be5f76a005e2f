//! Faults of the machine, and of the referee itself, with real runs of the program: it is stopped, starved, signalled, killed in parts,
//! has no disk, no files, no processes; and after each of them every game counts once, nobody has lost by it, nothing is
//! left alive, and the same command goes on.
//!
//! Some faults need root, namespaces or a program that is not everywhere: where one is missing, its test says so by name on stderr and
//! passes. `HAKEM_TEST_FULL=1` has the long series.
#![cfg(feature = "runner")]

#[path = "../common/mod.rs"]
mod common;

mod clock;
mod disk;
mod durable;
mod endurance;
mod parts;
mod resources;
mod signals;
mod tools;
