//! The exit codes. They are a promise to scripts; 101 is a panic, a bug of ours.

use std::process::ExitCode;

/// Done, or: the verdict is good.
pub const DONE: u8 = 0;
/// The verdict is bad: a record does not verify, a gate is failed.
pub const BAD: u8 = 1;
/// Wrong usage, a bad event file, a missing bot.
pub const USAGE: u8 = 2;
/// Not completed, by the machine's fault.
pub const MACHINE: u8 = 3;
/// A gate that came to no decision within its budget.
pub const UNDECIDED: u8 = 4;
/// Interrupted; what was played is kept.
pub const INTERRUPTED: u8 = 130;

/// An error that is the user's to mend: exit code 2. Any other error is the machine's: 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// The exit code of an error.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    use crate::store::StoreError;
    let refused = error.chain().any(|cause| {
        cause.is::<Refused>()
            || cause
                .downcast_ref::<StoreError>()
                .is_some_and(|error| !error.is_machine())
    });
    ExitCode::from(if refused { USAGE } else { MACHINE })
}
