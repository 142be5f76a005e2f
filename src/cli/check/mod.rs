//! `hakem check`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use super::exit::{self, Refused};
use super::output::{Output, OutputArgs};
use super::starters::Language;
use crate::bot::sandbox;
use crate::config::{self, EventConfig, Program};
use crate::house;
use crate::runner;

pub mod finding;
pub mod opponent;
pub mod scenes;
pub mod script;
pub mod watch;

use finding::{Findings, Grade};
use scenes::Checked;
use script::Lines;

/// Talk to a bot as a referee would, try the protocol's corners, and say in plain words what is wrong
///
/// With --game one bot is checked, with an event file every bot of it, under its rules, clock and limits. What `build` in a
/// bot.toml says is run first. The exit code is 1 if a fault was found; warnings do not count.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game to check a bot for
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
    #[arg(value_name = "BOT|EVENT.toml")]
    pub what: String,
    /// How the findings are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The seed of all chance: a check is the same every time.
const SEED: &str = "check";

/// Checks.
///
/// # Errors
/// [`Refused`] for a game, an event or a bot that there is none of; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    sandbox::harden_referee();
    let output = args.output.get();
    let config = read(args, &output)?;
    let count = match &args.game {
        Some(_) => 1,
        None => config.bots.len(),
    };
    let mut all = Vec::new();
    for slot in 0..count {
        let findings = check(&config, slot)?;
        if output.is_text() {
            tell(&config, slot, &findings, &output)?;
        }
        all.push(findings);
    }
    if !output.is_text() {
        let mut out = io::stdout().lock();
        super::unless_closed(finding::write(&all, output.look(), &mut out))?;
    }
    let failed = all.iter().any(|findings| findings.count(Grade::Fail) > 0);
    Ok(ExitCode::from(if failed { exit::BAD } else { exit::DONE }))
}

fn read(args: &Args, output: &Output) -> anyhow::Result<EventConfig> {
    let refused = |error: config::ConfigError| Refused(error.render(output.color_on_stderr()));
    let Some(game) = &args.game else {
        if Path::new(&args.what)
            .extension()
            .is_none_or(|end| end != "toml")
        {
            return Err(Refused(format!(
                "{} is no event file; to check a bot, name a game: hakem check --game GAME {}",
                super::shown(&args.what),
                super::shown(&args.what)
            ))
            .into());
        }
        return Ok(config::read(Path::new(&args.what), &house::names()).map_err(refused)?);
    };
    super::single::event(game.as_str().into(), &args.what, &args.rules, args.clock.as_deref(), output)
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
