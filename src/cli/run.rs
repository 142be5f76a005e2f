//! `hakem run`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::exit::Refused;
use super::output::OutputArgs;
use super::play::{Playing, play};
use crate::{config, house};

/// Play an event, or go on where it stopped, and print the standings
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The event file
    #[arg(value_name = "EVENT.toml")]
    pub event: PathBuf,
    /// The folder of results [default: the event file's name without .toml]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Games at once [default: as the event says, else as many as leave each thinking bot a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Start anew; an earlier folder of results is renamed to DIR.1, DIR.2, ...
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs it.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output.get();
    let config = config::read(&args.event, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    let out = args.out.clone().unwrap_or_else(|| match args.event.extension() {
        Some(extension) if extension == "toml" => args.event.with_extension(""),
        _ => args.event.with_added_extension("results"),
    });
    let jobs = args.jobs.map(|jobs| jobs as usize);
    play(Playing { config, out: Some(out), jobs, fresh: args.fresh }, &output)
}
