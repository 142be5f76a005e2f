//! `hakem duel`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::exit::Refused;
use super::output::OutputArgs;
use super::play::{Playing, play};
use crate::config::{self, Flags};
use crate::house;

/// The clock of a duel where none is given and the rules prescribe none: a bot that never answers should not hold
/// its beginner for ever. The help of `--clock` names it too.
const CLOCK: &str = "move=10s";

/// Play a match between bots without an event file, and print the standings
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game
    #[arg(long, short)]
    pub game: String,
    /// Matches for each pair of bots: 1, or an even number, half of them in each other's seats; of more seats any number
    /// [default: one for each seat]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub games: Option<u32>,
    /// Seats at a table [default: all bots at one, if the game has so many seats, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub seats: Option<u32>,
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
    /// Keep results, records and logs in this folder; without it only the standings are shown
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Start anew; an earlier folder of results is renamed to DIR.1, DIR.2, ...
    #[arg(long, requires = "out")]
    pub fresh: bool,
    /// The bots: builtin:NAME, a command line in quotes, or a folder with a bot.toml
    #[arg(value_name = "BOT", required = true, num_args = 2..)]
    pub bots: Vec<String>,
    /// How results are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs it.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output.get();
    let jobs = args.jobs.map(|jobs| jobs as usize);
    let flags = Flags {
        name: "duel".to_owned(),
        game: args.game.clone(),
        bots: args.bots.clone(),
        rules: args.rules.clone(),
        clock: args.clock.clone(),
        usual_clock: Some(CLOCK.to_owned()),
        adjudication: args.adjudicate.clone(),
        seats: args.seats.map(|seats| seats as usize),
        games: args.games,
        opening_plies: 0,
        openings: None,
        seed: args.seed.clone(),
        jobs,
        folder: std::env::current_dir().context("the current folder is gone")?,
    };
    let config = config::from_flags(&flags, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    let code = play(
        Playing {
            config,
            out: args.out.clone(),
            jobs,
            fresh: args.fresh,
        },
        &output,
    )?;
    Ok(ExitCode::from(code))
}
