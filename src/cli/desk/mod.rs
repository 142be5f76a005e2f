//! `hakem desk`: what the organiser rules.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::exit::Refused;
use super::output::{Output, OutputArgs};
use super::results::event_results;
use crate::store::{BotMeta, Store};
use crate::tournament::rulings::{Ruling, What};

mod add;
mod hall;

use hall::Hall;

/// The organiser's desk: disqualify a bot, void a match, have it played again, add a bot
///
/// Rulings are appended to the results and never deleted: `undo` is a ruling, too. What was played stays as it was stored; standings,
/// ratings and reports follow from results and rulings. A match is one result, so that a ruling about a game is about its match. Without a
/// subcommand all rulings are shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
    /// How the rulings are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show all rulings, in order
    List,
    /// Take a bot out: it plays no more, and its results count for nobody
    ///
    /// Where all meet all (round robin, gauntlet, groups) its matches count for nobody. In a Swiss event its opponents win them by
    /// default. In a knockout or a ladder who went on stays, and the next opponent goes on. It stands last.
    Disqualify {
        /// Its name in the event
        #[arg(value_name = "BOT")]
        bot: String,
        /// Its results stand; only what is not played is won by its opponents by default
        #[arg(long)]
        keep_results: bool,
        #[command(flatten)]
        why: Why,
    },
    /// Let a bot leave: its results stand, and what is not played is won by its opponents by default
    Withdraw {
        /// Its name in the event
        #[arg(value_name = "BOT")]
        bot: String,
        /// Refused with what is right: there is no choice here.
        #[arg(long, hide = true)]
        keep_results: bool,
        #[command(flatten)]
        why: Why,
    },
    /// Void a match: it counts for nobody and is not played again; the other match of a pair stands
    Void {
        /// The id of a match, such as r1.m2, or of one of its games
        #[arg(value_name = "GAME")]
        game: String,
        #[command(flatten)]
        why: Why,
    },
    /// Have a match played again by the next `hakem run`, under its id and on the same chance; what was played is set aside
    Replay {
        /// The id of a match, such as r1.m2, or of one of its games
        #[arg(value_name = "GAME")]
        game: String,
        #[command(flatten)]
        why: Why,
    },
    /// Add the bots that were put at the end of the event file
    ///
    /// Earlier matches keep their ids and count. A round robin and a gauntlet get the new pairings; in a Swiss event and on a ladder the
    /// bots join in the first round that has not begun. The draw of a knockout or of groups is made, and takes nobody in.
    Add {
        /// The event file, with further bots at its end
        #[arg(value_name = "EVENT.toml")]
        event: PathBuf,
        #[command(flatten)]
        why: Why,
    },
    /// End the event for good: nothing more is played, and the seed is told in seed.json
    Close {
        #[command(flatten)]
        why: Why,
    },
    /// Undo a ruling, by another one
    Undo {
        /// The number of the ruling
        #[arg(value_name = "N")]
        number: u32,
        #[command(flatten)]
        why: Why,
    },
}

/// What every ruling needs.
#[derive(Debug, clap::Args)]
struct Why {
    /// Why, in words that are shown with the results
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Rule even if matches would be played whose dice can be known, because the seed was told
    #[arg(long)]
    force: bool,
}

/// The longest reason, in characters.
const MAX_REASON: usize = 1_000;

impl Why {
    fn checked(&self) -> Result<&str, Refused> {
        let reason = self.reason.trim();
        if reason.is_empty() {
            let what = "--reason is empty; say in a few words why, it is shown with the results";
            return Err(Refused(what.into()));
        }
        match reason.chars().count() {
            0..=MAX_REASON => Ok(reason),
            long => Err(Refused(format!(
                "--reason has {long} characters; at most {MAX_REASON} are right"
            ))),
        }
    }
}

/// Shows the rulings, or makes one.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output.get();
    let Some(command) = args
        .command
        .as_ref()
        .filter(|command| !matches!(command, Command::List))
    else {
        let store = Store::open_read_only(&args.dir)?;
        output.rulings(&event_results(&store)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let why = command.why()?;
    let reason = why.checked()?.to_owned();
    let mut added = Vec::new();
    if let Command::Add { event, .. } = command {
        // Building and reading bots takes its time, and needs no results.
        added.push(add::read(event, &output)?);
    }
    let mut hall = Hall::open(&args.dir)?;
    let (what, bots) = match command {
        Command::List => return Ok(ExitCode::SUCCESS),
        Command::Disqualify {
            bot, keep_results, ..
        } => {
            let slot = hall.playing(bot)?;
            let keep_results = *keep_results;
            (What::Disqualify { slot, keep_results }, Vec::new())
        }
        Command::Withdraw {
            keep_results: true, ..
        } => {
            let what = "withdraw takes no --keep-results: the results of a bot that leaves stand in any case, and what it did not play is \
                        won by default; disqualify takes results out";
            return Err(Refused(what.into()).into());
        }
        Command::Withdraw { bot, .. } => {
            let slot = hall.playing(bot)?;
            (What::Withdraw { slot }, Vec::new())
        }
        Command::Void { game, .. } => (
            What::Void {
                of: hall.over(game)?,
            },
            Vec::new(),
        ),
        Command::Replay { game, .. } => (
            What::Replay {
                of: hall.over(game)?,
            },
            Vec::new(),
        ),
        Command::Add { event, .. } => match added.pop() {
            Some(entered) => add::what(&hall, event, entered)?,
            None => return Ok(ExitCode::SUCCESS),
        },
        Command::Close { .. } => (What::Close, Vec::new()),
        Command::Undo { number, .. } => {
            hall.undoable(*number)?;
            (What::Undo { ruling: *number }, Vec::new())
        }
    };
    rule(&mut hall, what, &bots, (&reason, why.force), &output)
}

impl Command {
    fn why(&self) -> anyhow::Result<&Why> {
        match self {
            Command::List => Err(Refused("a list needs no reason".into()).into()),
            Command::Disqualify { why, .. }
            | Command::Withdraw { why, .. }
            | Command::Void { why, .. }
            | Command::Replay { why, .. }
            | Command::Add { why, .. }
            | Command::Close { why }
            | Command::Undo { why, .. } => Ok(why),
        }
    }
}

/// Makes a ruling, if it can be made, and shows all of them.
fn rule(
    hall: &mut Hall,
    what: What,
    bots: &[BotMeta],
    (reason, force): (&str, bool),
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let ruling = Ruling {
        number: hall.next_number(),
        since: hall.first_not_begun(),
        at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        what,
        reason: reason.to_owned(),
    };
    let to_play = hall.after(&ruling, force)?;
    hall.store.rule(&ruling, bots)?;
    if ruling.what == What::Close {
        hall.tell_seed(&ruling)?;
    }
    let results = event_results(&hall.store)?;
    super::report::write_page(hall.store.dir(), &results)?;
    tell(hall.store.dir(), &ruling, to_play);
    output.rulings(&results)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what comes next.
fn tell(dir: &Path, ruling: &Ruling, to_play: usize) {
    let next = match (&ruling.what, to_play) {
        (What::Close, _) => "the event is closed, and its seed is told".to_owned(),
        (_, 0) => "nothing is left to play".to_owned(),
        (_, 1) => "1 match is known to be played; `hakem run` goes on".to_owned(),
        (_, left) => format!("{left} matches are known to be played; `hakem run` goes on"),
    };
    super::say(format_args!(
        "ruling {} is noted in {}; {next}",
        ruling.number,
        dir.display()
    ));
}
