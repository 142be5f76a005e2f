//! `hakem perft`: counts paths.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::game::tool;

/// Count the paths of exactly N full moves, to compare two implementations of the rules
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game
    #[arg(long, value_name = "GAME")]
    pub game: String,
    /// The number of full moves
    #[arg(long, value_name = "N")]
    pub depth: u32,
    /// The position to count from [default: the start of the game]
    #[arg(long, value_name = "JSON")]
    pub state: Option<String>,
    /// The game's options, as an object [default: {}]
    #[arg(long, value_name = "JSON")]
    pub rules: Option<String>,
}

/// Prints the count.
///
/// # Errors
/// Stdout that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let counted = tool::perft(
        &args.game,
        args.depth,
        args.state.as_deref().map(str::as_bytes),
        args.rules.as_deref().map(str::as_bytes),
    );
    match counted {
        Ok(nodes) => {
            super::unless_closed(writeln!(io::stdout(), "{nodes}"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => Ok(super::wrong_usage(fault)),
    }
}
