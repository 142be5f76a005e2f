//! `hakem duel`.

use std::process::ExitCode;

use super::fileless::{self, FilelessArgs};
use super::output::OutputArgs;
use super::play::play;
use crate::config::Flags;

/// Play a match between bots without an event file, and print the standings
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is played, and where it is kept.
    #[command(flatten)]
    pub fileless: FilelessArgs,
    /// Matches for each pair of bots: 1, or an even number, half of them in each other's seats; of more seats any number
    /// [default: one for each seat]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub games: Option<u32>,
    /// Seats at a table [default: all bots at one, if the game has so many seats, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub seats: Option<u32>,
    /// The bots: builtin:NAME or builtin:NAME,KEY=VALUE (hakem bot --list), a command line in quotes, or a folder with a bot.toml
    #[arg(value_name = "BOT", required = true, num_args = 2..)]
    pub bots: Vec<String>,
    /// How results are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs it.
///
/// # Errors
/// [`super::exit::Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output.get();
    let flags = Flags {
        seats: args.seats.map(|seats| seats as usize),
        games: args.games,
        ..args.fileless.flags("duel", args.bots.clone())?
    };
    let config = fileless::event(&flags, &output)?;
    let code = play(args.fileless.playing(config), &output)?;
    Ok(ExitCode::from(code))
}
