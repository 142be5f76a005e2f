//! `hakem check`.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use super::exit::{self, Refused};
use super::output::{Output, OutputArgs};
use super::starters::Language;
use crate::bot::sandbox;
use crate::config::{self, EventConfig, OwnGame, Program};
use crate::house;
use crate::runner;

pub mod finding;
pub mod opponent;
mod rules;
pub mod scenes;
pub mod script;
pub mod watch;

use finding::{Findings, Grade};
use scenes::Checked;
use script::Lines;

/// Talk to a bot as a referee would, try the protocol's corners, and say in plain words what is wrong
///
/// With --game one bot is checked, with an event file every bot of it, under its rules, clock and limits. What `build` in a
/// bot.toml says is run first. Where an event sets no clock an answer may take 10 s. A game whose rules are a program is checked itself: with --game and no bot, or as that of an event
/// file. The exit code is 1 if a fault was found; warnings do not count. It is 2 if
/// a bot's program is missing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game to check a bot for; or one that is not built in, to check its rules: a command line in quotes, or a folder with a
    /// game.toml
    #[arg(long, short)]
    pub game: Option<String>,
    /// An option of the game, such as match_length=5; may be repeated
    #[arg(long = "rule", value_name = "K=V", requires = "game")]
    pub rules: Vec<String>,
    /// The time control: MAIN+INCREMENT (60s+100ms), or keys of `[clock]` (move=5s) [default: as the rules prescribe,
    /// else move=10s]
    #[arg(long, value_name = "SPEC", requires = "game")]
    pub clock: Option<String>,
    /// With --game a bot: a command line in quotes, a folder with a bot.toml, or builtin:NAME; else an event file
    #[arg(value_name = "BOT|EVENT.toml", required_unless_present = "game")]
    pub what: Option<String>,
    /// How the findings are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How often the line that shows what is checked is drawn.
const TICK: std::time::Duration = std::time::Duration::from_millis(200);
/// How long an answer may take where the event sets no limit, microseconds.
const MOVE_US: u64 = 10_000_000;
/// The seed of all chance: a check is the same every time.
const SEED: &str = "check";

/// Checks.
///
/// # Errors
/// [`Refused`] for a game, an event or a bot that there is none of; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    sandbox::harden_referee();
    let output = args.output.get();
    let mut all = Vec::new();
    let Some(what) = &args.what else {
        let (own, rules) = read_game(args, &output)?;
        all.push(shown(format!("the rules of {}", own.name()), || {
            rules::check(&own, &rules)
        }));
        if output.is_text() {
            tell_game(&own, &all[0], &output)?;
        }
        return finish(&all, &output);
    };
    let mut config = read(args, what, &output)?;
    let has_limit = config.clock.move_us.or(config.clock.main_us).is_some() || config.is_race();
    if !has_limit {
        config.clock.move_us = Some(MOVE_US);
    }
    if let (Some(own), None) = (&config.own_game, &args.game) {
        let findings = shown(format!("the rules of {}", own.name()), || {
            rules::check(own, &config.rules)
        });
        if output.is_text() {
            tell_game(own, &findings, &output)?;
        }
        let is_bad = findings.count(Grade::Fail) > 0;
        all.push(findings);
        // Bots cannot be told from rules that fail.
        if is_bad {
            return finish(&all, &output);
        }
    }
    let count = match &args.game {
        Some(_) => 1,
        None => config.bots.len(),
    };
    for slot in 0..count {
        let name = super::shown(&config.bots[slot].name);
        let what = match count {
            1 => name,
            _ => format!("{name}, {} of {count}", slot + 1),
        };
        let mut findings = shown(what, || check(&config, slot))?;
        if !has_limit {
            findings.add(
                "clock",
                Grade::Note,
                format!(
                    "the event sets no clock; here an answer may take {}",
                    scenes::ms(MOVE_US)
                ),
                "",
            );
        }
        if output.is_text() {
            tell(&config, slot, &findings, &output)?;
        }
        all.push(findings);
    }
    finish(&all, &output)
}

/// Shows on a terminal what is checked, and for how long, while it is.
fn shown<T>(what: String, check: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return check();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} checking {msg}, {elapsed_precise}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(TICK);
    let checked = check();
    bar.finish_and_clear();
    checked
}

/// Writes what is not written yet, and says how it ended.
fn finish(all: &[Findings], output: &Output) -> anyhow::Result<ExitCode> {
    if !output.is_text() {
        let mut out = io::stdout().lock();
        super::unless_closed(finding::write(all, output.look(), &mut out))?;
    }
    let code = if all.iter().any(|findings| findings.is_missing) {
        // As for every command: a bot that is not there is no verdict on it.
        exit::USAGE
    } else if all.iter().any(|findings| findings.count(Grade::Fail) > 0) {
        exit::BAD
    } else {
        exit::DONE
    };
    Ok(ExitCode::from(code))
}

/// The game of the flags, whose rules are to be checked, with its options.
fn read_game(args: &Args, output: &Output) -> anyhow::Result<(OwnGame, Map<String, Value>)> {
    let game = args.game.as_deref().unwrap_or_default();
    let flags = config::Flags {
        game: game.to_owned(),
        rules: args.rules.clone(),
        folder: std::env::current_dir()?,
        ..config::Flags::default()
    };
    let (chosen, rules) = config::game_from_flags(&flags)
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    let own = chosen.own().ok_or_else(|| {
        Refused(format!(
            "{game} is built in, and its rules need no check; to check a bot, name it: hakem check --game {game} BOT"
        ))
    })?;
    Ok((own, rules))
}

fn read(args: &Args, what: &str, output: &Output) -> anyhow::Result<EventConfig> {
    let refused = |error: config::ConfigError| Refused(error.render(output.color_on_stderr()));
    let Some(game) = &args.game else {
        if Path::new(what).extension().is_none_or(|end| end != "toml") {
            return Err(Refused(format!(
                "{} is no event file; to check a bot, name a game: hakem check --game GAME {}",
                super::shown(what),
                super::shown(what)
            ))
            .into());
        }
        return Ok(config::read(Path::new(what), &house::names()).map_err(refused)?);
    };
    super::single::event(
        game.as_str().into(),
        what,
        &args.rules,
        args.clock.as_deref(),
        output,
    )
}

/// Shows what was found in the rules of a game.
fn tell_game(own: &OwnGame, findings: &Findings, output: &Output) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = writeln!(
        out,
        "the rules of {} ({})",
        own.name(),
        super::shown(&shell_words::join(&own.argv))
    )
    .and_then(|()| finding::write(std::slice::from_ref(findings), output.look(), &mut out));
    Ok(super::unless_closed(written)?)
}

/// Shows what was found in one bot.
fn tell(
    config: &EventConfig,
    slot: usize,
    findings: &Findings,
    output: &Output,
) -> anyhow::Result<()> {
    let bot = &config.bots[slot];
    let command = command_of(&bot.program);
    let mut out = io::stdout().lock();
    let written = writeln!(
        out,
        "{} ({}) for {}",
        super::shown(&bot.name),
        super::shown(&command),
        config.game
    )
    .and_then(|()| finding::write(std::slice::from_ref(findings), output.look(), &mut out));
    Ok(super::unless_closed(written)?)
}

fn command_of(program: &Program) -> String {
    match program {
        Program::Builtin(name) => format!("built in: {name}"),
        Program::Command { argv, .. } => shell_words::join(argv),
    }
}

/// Checks one bot of an event.
fn check(config: &EventConfig, slot: usize) -> anyhow::Result<Findings> {
    let bot = config.bots[slot].clone();
    let mut findings = Findings::new(&bot.name);
    let memory = bot.limits.memory;
    let (argv, dir) = match &bot.program {
        Program::Builtin(_) => (Vec::new(), None),
        Program::Command { argv, dir, own_dir } => (argv.clone(), own_dir.then(|| dir.clone())),
    };
    let command = command_of(&bot.program);
    let language = Language::of_bot(&argv, dir.as_deref());
    let is_built = bot.build.is_some();
    let config = super::single::at_a_table_of_two(config, bot);
    if let Some(problem) = runner::build::build(&config, &mut |_, _| {}).first() {
        findings.add(
            "build",
            Grade::Fail,
            problem.what.clone(),
            "mend what the compiler says",
        );
        return Ok(findings);
    }
    if is_built {
        findings.add("build", Grade::Pass, "builds as its bot.toml says", "");
    }
    if let Some(problem) = config::check_programs(&config).first() {
        findings.add(
            "start",
            Grade::Fail,
            problem.what.clone(),
            problem.right.clone(),
        );
        findings.is_missing = true;
        return Ok(findings);
    }
    let ready_us = config.clock.ready_us;
    let buffered = match language {
        Some(language) if language.runs_unbuffered => {
            let mut config = config.clone();
            let empty = ("PYTHONUNBUFFERED".to_owned(), String::new());
            config.bots[0].env.push(empty);
            Some(super::single::Seats::new(config, SEED.to_owned())?)
        }
        _ => None,
    };
    let seats = super::single::Seats::new(config, SEED.to_owned())?;
    let jobs = seats.jobs()?;
    let buffered = match &buffered {
        Some(seats) => Some(seats.jobs()?.swap_remove(0)),
        None => None,
    };
    let checked = Checked {
        jobs: &jobs,
        language,
        buffered: buffered.as_ref().map(|job| &job.programs[0]),
        command,
        memory,
        ready_us,
    };
    match checked.at_the_table(&mut findings)? {
        Some(first) => checked.by_script(&Lines(&first.watch.lines), &mut findings),
        None => findings.add(
            "rest",
            Grade::Note,
            "the other checks wait until it plays a whole game",
            "",
        ),
    }
    Ok(findings)
}
