//! The sandbox seen from outside and, through bots that look around, from inside: what stands, what is told apart, what is
//! left, and what is said where it is not possible. Each is tried as the test's own user and, where that is root, as an
//! ordinary one too.
#![cfg(all(feature = "runner", target_os = "linux"))]

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod help;
mod inside;
mod limits;
mod machine;
mod programs;
