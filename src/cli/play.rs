//! What `run` and `duel` share: an event is played, and its standings are shown.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::exit::{self, Refused};
use super::output::Output;
use super::progress::Progress;
use crate::bot::sandbox;
use crate::chance;
use crate::config::{self, BotFiles, BotSpec, EventConfig, Program};
use crate::event::{Event, GameResult, MatchResult};
use crate::house;
use crate::runner::{self, Ended, Ledger, Plan, ledger::Forget};
use crate::store::{self, Meta, SeedFile, Store, StoreError};
use crate::tournament::{Pairing, round_robin};

/// What is to be played, and where the results go.
#[derive(Debug)]
pub struct Playing {
    /// The event.
    pub config: EventConfig,
    /// The folder of results; without one nothing is kept.
    pub out: Option<PathBuf>,
    /// Games at once, if not as the event says.
    pub jobs: Option<usize>,
    /// Whether an earlier folder is set aside.
    pub fresh: bool,
}

/// Plays an event to its end, or goes on where it stopped, prints the standings, and returns the exit code.
///
/// # Errors
/// [`Refused`] for what the user has to mend, before the first game; else what the machine did not do.
pub fn play(playing: Playing, output: &Output) -> anyhow::Result<u8> {
    let Playing {
        config,
        out,
        jobs,
        fresh,
    } = playing;
    build(&config)?;
    sandbox::harden_referee();
    let missing = config::check_programs(&config);
    let problems: Vec<String> = missing
        .iter()
        .map(ToString::to_string)
        .chain(builtin_problems(&config))
        .collect();
    if !problems.is_empty() {
        return Err(Refused(problems.join("\n       ")).into());
    }
    check_builtins(&config)?;
    let files = config::bot_files(&config).map_err(|error| Refused(error.to_string()))?;
    let schedule = round_robin::schedule(
        config.bots.len(),
        config.seats,
        config.games,
        config.paired,
        config.rounds,
    );
    let mut folder = match &out {
        Some(dir) => Some(open(dir, fresh, &config, &files).map_err(|error| {
            // A folder that cannot be made or opened before the first game is the user's to mend.
            match error.downcast_ref::<StoreError>() {
                Some(StoreError::Io { .. }) => Refused(error.to_string()).into(),
                _ => error,
            }
        })?),
        None => None,
    };
    let (seed, todo) = match &mut folder {
        Some(store) => {
            store.drop_unfinished()?;
            let done = store.complete_matches()?;
            let todo = schedule
                .iter()
                .filter(|pairing| !done.contains(&pairing.id))
                .cloned()
                .collect();
            (store.meta()?.seed, todo)
        }
        None => (seed_of(&config)?, schedule.clone()),
    };
    if todo.is_empty() {
        super::say("everything was played before; these are the results");
    }
    let hashes: Vec<String> = files.iter().map(BotFiles::hash).collect();
    let mut plan = Plan::new(config, seed, schedule, &hashes, out.as_deref())
        .map_err(|error| Refused(format!("{error:#}")))?;
    if let (Some(store), false) = (&mut folder, todo.is_empty()) {
        store.note_confined(&plan.confined())?;
    }
    let jobs = plan.jobs(jobs);
    if !todo.is_empty() {
        plan.measure_machine();
    }
    let (ended, results) = play_plan(&plan, &todo, jobs, folder)?;
    finish(&plan, out.as_deref(), ended, results, output)
}

/// Builds the bots that have to be built.
///
/// # Errors
/// [`Refused`] with every build that failed.
pub fn build(config: &EventConfig) -> Result<(), Refused> {
    let tells = std::io::stderr().is_terminal();
    let failed = runner::build::build(config, &mut |name, command| {
        if tells {
            super::say(format_args!("building {}: {command}", super::shown(name)));
        }
    });
    if failed.is_empty() {
        return Ok(());
    }
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    Err(Refused(failed.join("\n       ")))
}

/// What is wrong with built-in bots: they do not play the game, or do not take their options.
fn builtin_problems(config: &EventConfig) -> Vec<String> {
    let problem = |bot: &BotSpec| match &bot.program {
        Program::Builtin(name) => house::find(name)
            .and_then(|house| house::check(house, &config.game, &bot.options).err())
            .map(|words| format!("bot `{}`: {words}", bot.name)),
        Program::Command { .. } => None,
    };
    config.bots.iter().filter_map(problem).collect()
}

/// Results of a run without a folder, or nothing where they are in one.
type Results = Option<(Vec<GameResult>, Vec<MatchResult>)>;

fn play_plan(
    plan: &Plan,
    todo: &[Pairing],
    jobs: usize,
    folder: Option<Store>,
) -> anyhow::Result<(Ended, Results)> {
    let mut progress = Progress::new(plan.names(), std::io::stderr().is_terminal());
    let (mut games, mut matches) = (Vec::new(), Vec::new());
    let keep = folder.is_none();
    let ledger: Box<dyn Ledger> = match folder {
        Some(store) => Box::new(store),
        None => Box::new(Forget),
    };
    let ended = runner::run(plan, todo, jobs, ledger, &mut |event| {
        progress.tell(event);
        match event {
            Event::GameFinished(result) if keep => games.push((**result).clone()),
            Event::MatchFinished(result) if keep => matches.push(result.clone()),
            _ => {}
        }
    })?;
    progress.finish();
    Ok((ended, keep.then_some((games, matches))))
}

fn finish(
    plan: &Plan,
    out: Option<&Path>,
    ended: Ended,
    results: Results,
    output: &Output,
) -> anyhow::Result<u8> {
    let code = match ended {
        Ended::Done => exit::DONE,
        Ended::Interrupted => {
            let kept = out.map_or_else(
                || "interrupted".to_owned(),
                |dir| {
                    format!(
                        "interrupted; what was played is kept in {}, the same command goes on from there",
                        dir.display()
                    )
                },
            );
            super::say(kept);
            exit::INTERRUPTED
        }
        Ended::GaveUp { void, broken } => {
            for (what, games) in [
                (
                    "by the machine's fault: a game was void three times in a row",
                    void,
                ),
                ("by a fault of hakem: please report it", broken),
            ] {
                if !games.is_empty() {
                    let games: Vec<String> = games.iter().map(|game| super::shown(game)).collect();
                    super::say(format!(
                        "error: not completed, {what}\n       {}",
                        games.join("\n       ")
                    ));
                }
            }
            super::say("       once that is mended the same command goes on from here");
            exit::MACHINE
        }
        Ended::Failed(error) => {
            return Err(error.context("the run stopped; what was told as played is kept"));
        }
    };
    let (games, matches) = match (results, out) {
        (Some(results), _) => results,
        (None, Some(dir)) => {
            // Not to read only: that would leave a log of SQLite's behind.
            let store = Store::open(dir)?;
            if code == exit::DONE {
                store.write_seed(&SeedFile {
                    seed: plan.seed().to_owned(),
                    commitment: chance::commitment(plan.seed()),
                    guessable: chance::is_guessable(plan.seed()),
                })?;
            }
            (super::results::all_games(&store)?, store.matches()?)
        }
        (None, None) => (Vec::new(), Vec::new()),
    };
    tell_forfeits(&plan.names(), &games);
    if code == exit::DONE || !matches.is_empty() {
        let shown = output.standings(
            &plan.names(),
            &plan.config.game,
            plan.config.paired,
            &matches,
            &games,
        );
        // What stopped the run says more than that its terminal is gone as well.
        if code == exit::DONE {
            shown?;
        }
    }
    Ok(code)
}

/// Tells of each bot that forfeited how often, and why at first: a table has no room for it.
fn tell_forfeits(names: &[String], games: &[GameResult]) {
    for (slot, name) in names.iter().enumerate() {
        let against =
            |game: &&GameResult| game.against.is_some_and(|seat| game.seats[seat] == slot);
        let mut lost = games.iter().filter(against);
        let Some(first) = lost.next() else { continue };
        super::say(format_args!(
            "{} forfeited {} games; {}: {}",
            super::shown(name),
            1 + lost.count(),
            first.id,
            super::shown(&first.reason)
        ));
    }
}

/// Built-in bots know before the first game which games they play and which options they take.
fn check_builtins(config: &EventConfig) -> anyhow::Result<()> {
    let wrong: Vec<String> = config
        .bots
        .iter()
        .filter_map(|bot| {
            let Program::Builtin(name) = &bot.program else {
                return None;
            };
            let house = house::find(name)?;
            let line = bot
                .line
                .map_or_else(String::new, |line| format!(" (line {line})"));
            house::check(house, &config.game, &bot.options)
                .err()
                .map(|what| format!("bot `{}`{line}: {what}", bot.name))
        })
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Refused(wrong.join("\n       ")).into())
    }
}

/// Opens a folder of results to go on, or makes it.
fn open(
    dir: &Path,
    fresh: bool,
    config: &EventConfig,
    files: &[BotFiles],
) -> anyhow::Result<Store> {
    if fresh && let Some(aside) = store::set_aside(dir)? {
        super::say(format!("the results before are in {}", aside.display()));
    }
    if !dir.join(store::RESULTS).exists() {
        let created = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
        let meta = Meta::new(config, files.to_vec(), seed_of(config)?, created);
        return Ok(Store::create(dir, &meta)?);
    }
    let mut store = Store::open(dir)?;
    let before = store.meta()?;
    let changes = before.changes(config, files);
    if !changes.is_empty() {
        return Err(Refused(format!(
            "{} holds results of another event:\n       {}\n       put the old state back, or start anew with --fresh (the old \
             folder is renamed, not deleted)",
            dir.display(),
            changes.join("\n       ")
        ))
        .into());
    }
    if before.name != config.name {
        store.set_name(&config.name)?;
    }
    Ok(store)
}

/// The event's seed, or 256 random bits.
fn seed_of(config: &EventConfig) -> anyhow::Result<String> {
    config.seed.clone().map_or_else(drawn_seed, Ok)
}

/// 256 random bits as a seed.
///
/// # Errors
/// A system that gives none.
pub fn drawn_seed() -> anyhow::Result<String> {
    let mut bits = [0; 32];
    let mut filled = 0;
    while filled < bits.len() {
        filled +=
            rustix::rand::getrandom(&mut bits[filled..], rustix::rand::GetRandomFlags::empty())
                .context("the system gives no random bits")?;
    }
    Ok(chance::hex(&bits))
}
