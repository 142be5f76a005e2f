//! Wrong usage in words: what the reader of the arguments says, and what it leaves out.

use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Cli, exit, say};

/// Tells what is wrong with the arguments, or shows the help that was asked for.
pub(super) fn tell(error: &clap::Error) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        error.exit()
    }
    let command = std::env::args().nth(1).unwrap_or_default();
    let known = match error.kind() {
        ErrorKind::InvalidSubcommand => known(&command),
        // Where a subcommand may be left out, a wrong one is first of all no argument.
        ErrorKind::UnknownArgument if is_word(error) => known(&command),
        _ => String::new(),
    };
    let text = in_words(&error.render().to_string());
    match command.as_str() {
        // Of a bot that has ended a referee shows the last line that it wrote.
        "adapter" | "bot" => say(one_line(&text) + &known),
        _ => match text.split_once('\n') {
            Some((first, rest)) => say(format_args!("{first}{known}\n{}", rest.trim_end())),
            None => say(format_args!("{text}{known}")),
        },
    }
    ExitCode::from(exit::USAGE)
}

/// Whether what is refused is a word and no flag.
fn is_word(error: &clap::Error) -> bool {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => !text.starts_with('-'),
        _ => false,
    }
}

/// The subcommands of a command, if it has some; of all where it is none.
fn known(command: &str) -> String {
    let mut cli = Cli::command();
    cli.build();
    let of = cli.find_subcommand(command).unwrap_or(&cli);
    let names: Vec<&str> = of
        .get_subcommands()
        .map(clap::Command::get_name)
        .filter(|&name| name != "help")
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; known are {}", names.join(", ")),
    }
}

/// Without the words of the parsers of numbers.
fn in_words(text: &str) -> String {
    [
        ("invalid digit found in string", "a whole number is right"),
        (
            "cannot parse integer from empty string",
            "a whole number is right",
        ),
        (
            "number too large to fit in target type",
            "the number is too large",
        ),
        (
            "number too small to fit in target type",
            "the number is too small",
        ),
        ("invalid float literal", "a number is right"),
        ("cannot parse float from empty string", "a number is right"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// All lines as one, without the advice to ask for help.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("For more information"))
        .collect();
    lines.join("; ").replace(":; ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_holds_all() {
        let text = "error: these are missing:\n  <ENGINE>\n\nUsage: x\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(text),
            "error: these are missing: <ENGINE>; Usage: x"
        );
    }

    #[test]
    fn known_are_those_of_the_command() {
        assert_eq!(known("adapter"), "; known are gnubg, ubgi, nboard, gtp");
        assert!(known("desk").starts_with("; known are list, disqualify"));
        assert_eq!(known("run"), "");
        assert!(known("nosuch").starts_with("; known are run, duel, "));
    }
}
