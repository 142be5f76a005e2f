//! `hakem run`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value};

use super::exit::{self, Refused};
use super::output::OutputArgs;
use super::play::{Playing, play};
use crate::game::GAMES;
use crate::{config, house};

/// Play an event, or go on where it stopped, and print the standings
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The event file; several are played one after the other
    #[arg(value_name = "EVENT.toml", required_unless_present = "keys")]
    pub events: Vec<PathBuf>,
    /// The folder of results, for one event [default: the event file's name without .toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Games at once [default: as the event says, else as many as leave each thinking bot a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// After this time no match is begun any more, such as 30m [default: as the event says]
    #[arg(long, value_name = "T", value_parser = humantime::parse_duration)]
    pub max_time: Option<std::time::Duration>,
    /// Play nothing: say what would be played, how long it may take and what room it needs
    #[arg(long, conflicts_with = "fresh")]
    pub dry_run: bool,
    /// Start anew; an earlier folder of results is renamed to DIR.1, DIR.2, ...
    #[arg(long)]
    pub fresh: bool,
    /// Print every key of an event file with its default and what it means, and the options of each game for `[rules]`; play nothing
    #[arg(long)]
    pub keys: bool,
    /// How results are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs it.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.keys {
        super::unless_closed(io::stdout().write_all(keys().as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.get();
    if args.out.is_some() && args.events.len() > 1 {
        return Err(
            Refused("--out names the folder of one event, and several are given".into()).into(),
        );
    }
    if args.events.len() > 1 && !output.is_for_people() {
        let what = "json and csv hold the standings of one event, and several are given";
        return Err(Refused(what.into()).into());
    }
    let read = |path: &PathBuf| {
        config::read(path, &house::names())
            .map_err(|error| Refused(error.render(output.color_on_stderr())))
    };
    // A mistake in the last file is told before the first is played.
    let configs = args
        .events
        .iter()
        .map(read)
        .collect::<Result<Vec<_>, _>>()?;
    for (path, mut config) in args.events.iter().zip(configs) {
        if let Some(time) = args.max_time {
            config.max_time_us = Some(u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 2));
        }
        if args.dry_run {
            let out = args.out.clone().unwrap_or_else(|| folder_of(path));
            let jobs = args.jobs.map(|jobs| jobs as usize);
            super::dry_run::run(&config, &out, jobs, &output)?;
            continue;
        }
        let playing = Playing {
            config,
            out: Some(args.out.clone().unwrap_or_else(|| folder_of(path))),
            jobs: args.jobs.map(|jobs| jobs as usize),
            fresh: args.fresh,
        };
        if args.events.len() > 1 {
            super::say(&playing.config.name);
        }
        let code = play(playing, &output)?;
        if code != exit::DONE {
            return Ok(ExitCode::from(code));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The reference of all keys, the options of each game among them.
fn keys() -> String {
    let mut options = String::new();
    for kind in GAMES {
        let facts = kind.facts();
        let usual = kind.rules(&Map::new()).map(|rules| rules.options());
        if let Ok(Value::Object(usual)) = usual {
            let list = usual.iter().map(|(key, value)| match value {
                Value::Null => format!("# {key}: has no default\n"),
                value => format!("# {key} = {value}\n"),
            });
            options += &format!(
                "# {} ({}):\n{}",
                facts.name,
                facts.title,
                list.collect::<String>()
            );
        }
    }
    config::DEFAULT_TOML.replacen("\n[clock]\n", &format!("{options}\n[clock]\n"), 1)
}

/// The event file's name without `.toml`.
fn folder_of(event: &Path) -> PathBuf {
    match event.extension() {
        Some(extension) if extension == "toml" => event.with_extension(""),
        _ => event.with_added_extension("results"),
    }
}
