//! Confines a bot: levels, what was in force, and the process that stands between the referee and the bot.
//!
//! At the levels `limits` and `strict` a bot is not started by the referee itself. The referee starts its own program anew
//! (`hakem __box`), which is single-threaded, builds the walls, starts the bot within them and stays as its supervisor. A control socket ties them together: the referee hears of the start and the end of the bot, and orders it to be
//! frozen, to go on, or to end. When the referee is gone, however it died, the socket is closed, and the supervisor ends
//! everything.
//!
//! - [`order`] is what the referee tells the box, and what the box reports;
//! - [`level`] are the levels, and the description of what was in force;
//! - [`launch`] is the referee's side: it starts a box and keeps its socket;
//! - [`slots`] gives each box a number, and with it a user and cgroups of its own; [`cgroup`] finds and makes those;
//! - [`probe`] finds out what this machine allows, and says why not;
//! - [`inside`] is the box on Linux; `plain` that of other systems than Linux, which knows only `limits`, and holds less.

#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub mod cgroup;
mod common;
#[cfg(all(target_os = "linux", not(hakem_portable)))]
pub mod inside;
pub mod launch;
pub mod level;
pub mod order;
#[cfg(not(all(target_os = "linux", not(hakem_portable))))]
pub mod plain;
pub mod probe;
pub mod slots;

pub use launch::{Boxed, Confine};
pub use level::{InForce, Level};

/// The hidden subcommand that turns the program into a box.
pub const BOX: &str = "__box";
/// The hidden subcommand that looks around from within a box, for the self-test.
pub const LOOK: &str = "__look";

/// A write to a socket that nobody reads any more raises no signal. Where the system does not know the flag, the socket or the
/// program says so for all writes.
#[cfg(not(target_vendor = "apple"))]
const QUIET: rustix::net::SendFlags = rustix::net::SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const QUIET: rustix::net::SendFlags = rustix::net::SendFlags::empty();

/// Does what a hidden subcommand says; `None` if this is none. To be called before anything else is done by the program: no
/// thread may run.
pub fn hidden(mut args: impl Iterator<Item = std::ffi::OsString>) -> Option<u8> {
    let word = args.nth(1)?;
    if word == BOX {
        Some(run_box())
    } else if word == LOOK {
        probe::look(&args.collect::<Vec<_>>());
        Some(0)
    } else if word == super::rules::TIE {
        Some(super::rules::tied(&args.collect::<Vec<_>>()))
    } else {
        None
    }
}

#[cfg(all(target_os = "linux", not(hakem_portable)))]
fn run_box() -> u8 {
    inside::run()
}

#[cfg(not(all(target_os = "linux", not(hakem_portable))))]
fn run_box() -> u8 {
    plain::run()
}

/// Keeps other processes of this user from reading this one or stopping it by tracing. To be called once, before the first
/// bot is started.
pub fn harden_referee() {
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // A second wall: where the system refuses it, the first still stands.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
