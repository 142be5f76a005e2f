//! `hakem perft`: counts paths.

use std::io::{self, Write};
use std::process::ExitCode;

use super::exit::Refused;
use crate::config;
use crate::game::tool;

/// Count the paths of exactly N full moves, to compare two implementations of the rules
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game; of one that is not built in a command line in quotes, or a folder with a game.toml
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
    let folder = std::env::current_dir()?;
    let chosen =
        config::choose_game(&args.game, &folder).map_err(|error| Refused(error.render(false)))?;
    let counted = tool::perft_in(
        chosen.kind(),
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
