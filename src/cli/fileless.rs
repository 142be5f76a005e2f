//! What the commands that play without an event file have in common.

use std::path::PathBuf;

use anyhow::Context;

use super::exit::Refused;
use super::output::Output;
use super::play::Playing;
use crate::config::{self, EventConfig, Flags};
use crate::house;

/// The clock where none is given and the rules prescribe none: a bot that never answers should not hold its beginner for ever. The
/// help of `--clock` names it too.
const CLOCK: &str = "move=10s";

/// What is played, and where it is kept.
#[derive(Debug, clap::Args)]
pub struct FilelessArgs {
    /// The game; of one that is not built in a command line in quotes, or a folder with a game.toml
    #[arg(long, short)]
    pub game: String,
    /// The seed of all chance, a number or text [default: drawn]
    #[arg(long, value_name = "S")]
    pub seed: Option<String>,
    /// An option of the game, such as match_length=5; may be repeated
    #[arg(long = "rule", value_name = "K=V")]
    pub rules: Vec<String>,
    /// The time control: MAIN+INCREMENT (60s+100ms), or keys of `[clock]` (move=5s,kind=wall) [default: as the rules
    /// prescribe, else move=10s]
    #[arg(long, value_name = "SPEC")]
    pub clock: Option<String>,
    /// Rules that may end games that are as good as over, with the keys of `[adjudication]`: resign_eval=3.0,resign_moves=4 (both bots'
    /// evaluations agree), max_moves=300 (a draw) [default: none]
    #[arg(long, value_name = "K=V,...")]
    pub adjudicate: Option<String>,
    /// Games at once [default: as many as leave each thinking bot a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Keep results, records and logs in this folder, and go on from there when started again; without it only the outcome is shown
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Start anew; an earlier folder of results is renamed to DIR.1, DIR.2, ...
    #[arg(long, requires = "out")]
    pub fresh: bool,
}

impl FilelessArgs {
    /// The flags of an event of this name between these bots; what only one command has is at its default.
    ///
    /// # Errors
    /// The current folder is gone.
    pub fn flags(&self, name: &str, bots: Vec<String>) -> anyhow::Result<Flags> {
        Ok(Flags {
            name: name.to_owned(),
            game: self.game.clone(),
            bots,
            rules: self.rules.clone(),
            clock: self.clock.clone(),
            usual_clock: Some(CLOCK.to_owned()),
            adjudication: self.adjudicate.clone(),
            seed: self.seed.clone(),
            jobs: self.jobs.map(|jobs| jobs as usize),
            folder: std::env::current_dir().context("the current folder is gone")?,
            ..Flags::default()
        })
    }

    /// What is to be played of an event.
    pub fn playing(&self, config: EventConfig) -> Playing {
        Playing {
            config,
            out: self.out.clone(),
            jobs: self.jobs.map(|jobs| jobs as usize),
            fresh: self.fresh,
        }
    }
}

/// The event of these flags.
///
/// # Errors
/// [`Refused`] with all that is wrong with them.
pub fn event(flags: &Flags, output: &Output) -> anyhow::Result<EventConfig> {
    let config = config::from_flags(flags, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    Ok(config)
}
