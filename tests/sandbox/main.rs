//! The sandbox seen from outside and, through bots that look around, from inside: what stands, what is told apart, what is
//! left, and what is said where it is not possible. Each is tried as the test's own user and, where that is root, as an
//! ordinary one too.
#![cfg(all(feature = "runner", target_os = "linux"))]

#[path = "../common/mod.rs"]
mod common;

#[cfg(not(hakem_portable))]
mod ends;
#[cfg_attr(hakem_portable, allow(dead_code, reason = "only a part is used"))]
mod help;
#[cfg(not(hakem_portable))]
mod inside;
#[cfg(not(hakem_portable))]
mod limits;
#[cfg(not(hakem_portable))]
mod machine;
#[cfg(hakem_portable)]
mod plain;
#[cfg(not(hakem_portable))]
mod programs;
#[cfg(not(hakem_portable))]
mod time;
