//! `hakem perft`: counts paths.

use std::io::{self, Write};
use std::process::ExitCode;

use super::exit::Refused;
use crate::config::{self, Flags};
use crate::game::tool;

/// Count the paths of exactly N full moves, to compare two implementations of the rules
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game; of one that is not built in a command line in quotes, or a folder with a game.toml
    #[arg(long, short, value_name = "GAME")]
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
    /// One option of the game, such as sets=3; may be repeated
    #[arg(long = "rule", value_name = "K=V", conflicts_with = "rules")]
    pub options: Vec<String>,
}

/// Prints the count.
///
/// # Errors
/// Stdout that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = std::env::current_dir()?;
    let flags = Flags {
        game: args.game.clone(),
        rules: args.options.clone(),
        folder,
        ..Flags::default()
    };
    let (chosen, options) =
        config::game_from_flags(&flags).map_err(|error| Refused(error.render(false)))?;
    let rules = match &args.rules {
        Some(rules) => rules.clone(),
        None => serde_json::Value::Object(options).to_string(),
    };
    let counted = tool::perft_in(
        chosen.kind(),
        args.depth,
        args.state.as_deref().map(str::as_bytes),
        Some(rules.as_bytes()),
    );
    match counted {
        Ok(nodes) => {
            super::unless_closed(writeln!(io::stdout(), "{nodes}"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => Ok(super::wrong_usage(fault)),
    }
}
