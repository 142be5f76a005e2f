//! `hakem adapter`: an engine that speaks a protocol of its own, as a bot on stdin and stdout.
//!
//! An adapter is one file with its arguments and a type that implements `Adapter`, and one line in `Name` and in
//! its method. What it translates (positions, moves) is pure; the conversation with the referee is in `session`, the
//! engine's process in `engine`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Subcommand;

use super::exit::{Refused, USAGE};

mod checkers;
mod discs;
mod engine;
mod gnubg;
mod gtp;
mod nboard;
mod session;
mod ubgi;

use session::{Adapter, Fault};

/// Run an engine that speaks another protocol as a bot on stdin and stdout
///
/// As a bot's command in an event file: command = ["hakem", "adapter", "gnubg", "--level", "advanced"]. The bot's options
/// there are read like those of the command line: options = { level = "advanced" }.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    subcommand_value_name = "NAME",
    subcommand_help_heading = "Adapters"
)]
pub struct Args {
    /// List the adapters, what they play and their options
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    adapter: Option<Name>,
}

/// The adapters, in the order in which they are listed.
#[derive(Debug, clap::Subcommand)]
enum Name {
    Gnubg(gnubg::Args),
    Ubgi(ubgi::Args),
    Nboard(nboard::Args),
    Gtp(gtp::Args),
}

impl Name {
    fn adapter(&self) -> Box<dyn Adapter> {
        match self {
            Name::Gnubg(args) => Box::new(gnubg::Gnubg::new(args.clone())),
            Name::Ubgi(args) => Box::new(ubgi::Ubgi::new(args.clone())),
            Name::Nboard(args) => Box::new(nboard::Nboard::new(args.clone())),
            Name::Gtp(args) => Box::new(gtp::Gtp::new(args.clone())),
        }
    }
}

/// Talks to a referee until `bye` or the end of input.
///
/// # Errors
/// [`Refused`] for an engine that is missing, or cannot play this game by these rules; an engine that fails is the
/// machine's fault. A closed stdout is a quiet end.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(name) = args.adapter.as_ref().filter(|_| !args.list) else {
        super::unless_closed(io::stdout().write_all(list().as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut adapter = name.adapter();
    match session::converse(&mut *adapter, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Fault::Io(error)) => {
            super::unless_closed(Err(error))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Fault::Refused(words)) => Err(Refused(words).into()),
        Err(Fault::Engine(words)) => Err(anyhow!(words)),
        Err(Fault::Referee(words)) => {
            super::say(format_args!("error: {}", super::shown(&words)));
            Ok(ExitCode::from(USAGE))
        }
    }
}

/// The adapters as text.
fn list() -> String {
    let mut text = String::new();
    let mut adapters = Name::augment_subcommands(clap::Command::new("adapter"))
        .disable_help_flag(true)
        .disable_help_subcommand(true);
    adapters.build();
    for adapter in adapters.get_subcommands() {
        let about = adapter.get_about().map(ToString::to_string);
        let _ = writeln!(
            text,
            "{:<8} {}",
            adapter.get_name(),
            about.unwrap_or_default()
        );
        for argument in adapter.get_arguments() {
            let help = argument.get_help().map(ToString::to_string);
            let _ = writeln!(
                text,
                "{:<8} {argument}: {}",
                "",
                help.unwrap_or_default().replace('\n', " ")
            );
        }
    }
    text
}
