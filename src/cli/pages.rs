//! `hakem completions` and `hakem man`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use super::{Cli, unless_closed};

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Print the manual page, or write one for each subcommand
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints completions.
///
/// # Errors
/// Stdout that fails.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hakem", &mut text);
    unless_closed(io::stdout().write_all(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints or writes manual pages.
///
/// # Errors
/// Stdout or the folder.
pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    match &args.out {
        Some(dir) => std::fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
            .with_context(|| format!("cannot write into {}", dir.display()))?,
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            unless_closed(io::stdout().write_all(&text))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
