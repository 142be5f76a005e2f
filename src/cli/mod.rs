//! The subcommands: one file each with its arguments and a thin `run`.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

pub mod adapter;
pub mod bot;
pub mod check;
pub mod desk;
pub mod dry_run;
pub mod duel;
pub mod exit;
mod explain;
pub mod fileless;
pub mod gate;
pub mod human;
pub mod ladder;
pub mod new;
pub mod output;
pub mod own_game;
pub mod pages;
pub mod perft;
pub mod play;
pub mod progress;
pub mod ratings;
pub mod replay;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
pub mod show;
pub mod single;
pub mod starters;
mod usage;
pub mod verify;

/// A headless match referee and tournament runner
///
/// hakem starts bots as subprocesses that speak a line of JSON over stdin and stdout, enforces time controls and the
/// rules, and turns the games into standings with Glicko-2 ratings. An event is one file; `hakem run --keys` prints all that may stand in
/// it, with defaults.
///
/// Exit codes: 0 done, or the verdict is good; 1 the verdict is bad; 2 wrong usage, a bad event file, a missing bot; 3 not
/// completed, by the machine's fault; 4 (gate) no decision within the budget; 101 a bug of hakem; 130 interrupted, what
/// was played is kept.
#[derive(Debug, Parser)]
#[command(name = "hakem", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
    Duel(duel::Args),
    Gate(Box<gate::Args>),
    Standings(results::StandingsArgs),
    Games(results::GamesArgs),
    Show(show::Args),
    Desk(desk::Args),
    New(new::Args),
    Check(check::Args),
    Replay(replay::Args),
    Play(human::Args),
    Report(report::Args),
    Ratings(ratings::Args),
    Verify(verify::Args),
    Rules(rules::Args),
    Perft(perft::Args),
    Bot(bot::Args),
    Adapter(adapter::Args),
    Completions(pages::CompletionsArgs),
    Man(pages::ManArgs),
}

/// Reads the arguments of the program, does what they say, and tells what went wrong.
pub fn main() -> ExitCode {
    if let Some(code) = crate::bot::sandbox::hidden(std::env::args_os()) {
        return ExitCode::from(code);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::tell(&error),
    };
    let result = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Duel(args) => duel::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Standings(args) => results::standings(&args),
        Command::Games(args) => results::games(&args),
        Command::Show(args) => show::run(&args),
        Command::Desk(args) => desk::run(&args),
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Play(args) => human::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Ratings(args) => ratings::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Perft(args) => perft::run(&args),
        Command::Bot(args) => bot::run(&args),
        Command::Adapter(args) => adapter::run(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
    };
    result.unwrap_or_else(|error| {
        // An error of the event file brings its own title and carets.
        let text = sentence(&error);
        if text.starts_with("error") || text.starts_with('\u{1b}') {
            say(text);
        } else {
            // Names of files and what stands in them are of others.
            let lines: Vec<String> = text.lines().map(shown).collect();
            say(format_args!("error: {}", lines.join("\n")));
        }
        exit::code_of(&error)
    })
}

/// An error with its causes; a cause that its error has told already is not told again.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Says something on stderr.
fn say(message: impl Display) {
    // Nothing is left to tell it to if stderr is closed.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Says on stderr what was wrong with the usage; the exit code for it is 2.
fn wrong_usage(message: impl Display) -> ExitCode {
    say(format_args!("error: {message}"));
    ExitCode::from(exit::USAGE)
}

/// Text of a bot, safe to show in a terminal.
fn shown(text: &str) -> String {
    crate::report::escape(text).into_owned()
}

/// The same of a text of several lines, such as a board.
fn shown_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(shown).collect();
    lines.join("\n")
}

/// A reader of our output that went away (`hakem ... | head`) is no failure.
fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
