//! The subcommands: one file each with its arguments and a thin `run`.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

pub mod duel;
pub mod bot;
pub mod perft;
pub mod rules;

/// Says on stderr what was wrong with the usage; the exit code for it is 2.
fn wrong_usage(message: impl Display) -> ExitCode {
    // Nothing is left to tell it to if stderr is closed.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(2)
}

/// A reader of our output that went away (`hakem ... | head`) is no failure.
fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
