//! What `run` and `duel` share: an event is played, and its standings are shown.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::exit::{self, Refused};
use super::ladder;
use super::output::Output;
use super::progress::Progress;
use crate::bot::sandbox;
use crate::chance;
use crate::config::{self, BotFiles, BotSpec, EventConfig, Program};
use crate::event::{Event, GameResult, MatchResult};
use crate::house;
use crate::report::model::{EventResults, progress};
use crate::runner::{
    self, Ended, Ledger, Limited, Limits, Plan, Schedule, Source, Why, ledger::Forget,
};
use crate::store::{self, Meta, SeedFile, Store, StoreError};
use crate::tournament::ladder::List;
use crate::tournament::rulings::Desk;

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

/// An event that can be played.
#[derive(Debug)]
pub struct Ready {
    /// What is fixed before the first game.
    pub plan: Plan,
    /// Games at once.
    pub jobs: usize,
    /// The folder of results, if they are kept.
    pub folder: Option<Store>,
    /// The hash of each bot's files, by slot.
    pub hashes: Vec<String>,
}

/// Looks for what the event needs, and opens the folder of results: games of matches that were not finished are dropped.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn ready(playing: Playing) -> anyhow::Result<Ready> {
    let Playing {
        config,
        out,
        jobs,
        fresh,
    } = playing;
    build(&config)?;
    sandbox::harden_referee();
    let problems = problems(&config);
    if !problems.is_empty() {
        return Err(Refused(problems.join("\n       ")).into());
    }
    let files = config::bot_files(&config).map_err(|error| Refused(error.to_string()))?;
    let mut folder = match &out {
        Some(dir) => Some(open(dir, fresh, &config, &files).map_err(|error| {
            // A folder that cannot be made or opened before the first game is the user's to mend.
            match error.downcast_ref::<StoreError>() {
                Some(StoreError::Io { .. }) => Refused(error.to_string()).into(),
                Some(StoreError::Foreign { .. } | StoreError::Locked { .. }) => elsewhere(&error),
                _ => error,
            }
        })?),
        None => None,
    };
    let seed = match &mut folder {
        Some(store) => {
            store.drop_unfinished()?;
            store.meta()?.seed
        }
        None => seed_of(&config)?,
    };
    let hashes: Vec<String> = files.iter().map(BotFiles::hash).collect();
    let mut plan = Plan::new(config, seed, &hashes, out.as_deref())
        .map_err(|error| Refused(format!("{error:#}")))?;
    let jobs = plan.jobs(jobs);
    Ok(Ready {
        plan,
        jobs,
        folder,
        hashes,
    })
}

/// Plays an event to its end, or goes on where it stopped, prints the standings, and returns the exit code.
///
/// # Errors
/// [`Refused`] for what the user has to mend, before the first game; else what the machine did not do.
pub fn play(playing: Playing, output: &Output) -> anyhow::Result<u8> {
    let out = playing.out.clone();
    let Ready {
        mut plan,
        jobs,
        mut folder,
        ..
    } = ready(playing)?;
    let desk = match &folder {
        Some(store) => {
            plan.replays = store.replays().clone();
            store.desk()?
        }
        None => Desk::default(),
    };
    let event = plan.config.fingerprint();
    let ladder = ladder_of(&plan, folder.as_mut())?;
    let done = match &folder {
        Some(store) => store.matches()?,
        None => Vec::new(),
    };
    let limits = Limits {
        until: plan
            .config
            .max_time_us
            .map(|time| std::time::Instant::now() + std::time::Duration::from_micros(time)),
        confidence: plan.config.stop_when_clear,
        bots: plan.config.bots.len(),
        paired: plan.config.paired,
    };
    let format = config::ruled_format_of(&event, &ladder, &desk);
    let closed = desk.closed().is_some();
    let schedule = Schedule::ruled(format, done, desk.clone());
    let mut schedule = Limited::new(schedule, limits);
    if let Some(ruling) = desk.closed() {
        super::say(format_args!(
            "the event was closed by ruling {}: {}; these are the results",
            ruling.number,
            super::shown(&ruling.reason)
        ));
        schedule.close();
    } else if schedule.is_over() {
        super::say("everything was played before; these are the results");
    } else {
        begin(&mut plan, folder.as_mut())?;
    }
    let (ended, results) = play_source(&plan, &mut schedule, jobs, folder)?;
    let early = early_end(&plan, &schedule, &desk);
    if let Some(words) = &early {
        super::say(format_args!("the event ended early: {words}"));
        if let Some(dir) = out.as_deref().filter(|_| !closed) {
            super::say(format_args!(
                "the same command may go on with it; `hakem desk {} close --reason TEXT` ends it for good and tells its seed in {}",
                dir.display(),
                store::SEED_FILE
            ));
        }
    }
    let mut all = EventResults {
        name: plan.config.name.clone(),
        game: plan.config.game.clone(),
        event,
        names: plan.names(),
        ladder,
        matches: Vec::new(),
        games: Vec::new(),
        confined: vec![plan.confined()],
        played: Vec::new(),
        desk: Desk::default(),
        replayed: std::collections::BTreeSet::new(),
        ended: early.unwrap_or_default(),
    };
    if let Some((games, matches)) = results {
        all = all.ruled(matches, games, Desk::default());
    }
    let is_final = closed || schedule.is_over();
    finish(&plan, out.as_deref(), ended, (all, is_final), output)
}

/// What is done once before the first game of a run.
///
/// # Errors
/// What the disk refused.
pub fn begin(plan: &mut Plan, folder: Option<&mut Store>) -> anyhow::Result<()> {
    if let Some(store) = folder {
        store.note_confined(&plan.confined())?;
    }
    plan.measure_machine();
    Ok(())
}

/// Why an event ended before all was played, and what was not, in words.
fn early_end(plan: &Plan, schedule: &Limited, desk: &Desk) -> Option<String> {
    let why = match schedule.ended()? {
        Why::Closed => {
            let ruling = desk.closed();
            let reason = ruling.map_or_else(String::new, |ruling| super::shown(&ruling.reason));
            let by = ruling.map_or_else(String::new, |ruling| {
                format!(" by ruling {}", ruling.number)
            });
            format!("it was closed{by}: {reason}")
        }
        Why::Time => "its time is over".to_owned(),
        Why::Clear(leader) => {
            let confidence = 100.0 * plan.config.stop_when_clear.unwrap_or_default();
            let name = super::shown(&plan.config.bots[leader].name);
            format!("{name} is clear of all others with a confidence of {confidence} %")
        }
    };
    let total = schedule.total().unwrap_or_default();
    let left = total - schedule.schedule().results().len().min(total);
    Some(format!(
        "{why}; at least {left} of {total} matches were not played"
    ))
}

/// The ladder at the event's beginning: as the folder of results notes it, or as its file says now.
fn ladder_of(plan: &Plan, folder: Option<&mut Store>) -> anyhow::Result<List> {
    if plan.config.format != config::Format::Ladder {
        return Ok(List::default());
    }
    if let Some(store) = &folder {
        let noted = store.ladder()?;
        if !noted.order.is_empty() {
            return Ok(noted);
        }
    }
    let list = ladder::start(&plan.config)?;
    if let Some(store) = folder {
        store.set_ladder(&list)?;
    }
    Ok(list)
}

/// What is wrong with the bots: programs that are missing, built-in ones that do not play the game.
pub fn problems(config: &EventConfig) -> Vec<String> {
    let missing = config::check_programs(config);
    missing
        .iter()
        .map(ToString::to_string)
        .chain(builtin_problems(config))
        .collect()
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
            .map(|words| format!("{}: {words}", config.place_of(bot))),
        Program::Command { .. } => None,
    };
    config.bots.iter().filter_map(problem).collect()
}

/// Results of a run without a folder, or nothing where they are in one.
type Results = Option<(Vec<GameResult>, Vec<MatchResult>)>;

fn play_source(
    plan: &Plan,
    source: &mut dyn Source,
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
    let ended = runner::run(plan, source, jobs, ledger, &mut |event| {
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

/// Games that are listed at most where some could not be played.
const LISTED: usize = 10;

/// Says how a run ended that did not end well, and gives its exit code.
///
/// # Errors
/// The run could not go on.
pub fn code_of(ended: Ended, out: Option<&Path>) -> anyhow::Result<u8> {
    match ended {
        Ended::Done => Ok(exit::DONE),
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
            Ok(exit::INTERRUPTED)
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
                    let listed = games.iter().take(LISTED);
                    let mut listed: Vec<String> = listed.map(|game| super::shown(game)).collect();
                    if games.len() > LISTED {
                        listed.push(format!("... and {} more", games.len() - LISTED));
                    }
                    super::say(format!(
                        "error: not completed, {what}\n       {}",
                        listed.join("\n       ")
                    ));
                }
            }
            super::say("       once that is mended the same command goes on from here");
            Ok(exit::MACHINE)
        }
        Ended::Failed(error) => {
            Err(error.context("the run stopped; what was told as played is kept"))
        }
    }
}

/// Writes the seed into a folder whose matches are all over.
///
/// # Errors
/// What the disk refused.
pub fn tell_seed(plan: &Plan, store: &Store) -> anyhow::Result<()> {
    store.write_seed(&seed_file(plan.seed()))?;
    Ok(())
}

/// A seed with what was promised of it.
pub fn seed_file(seed: &str) -> SeedFile {
    SeedFile {
        seed: seed.to_owned(),
        commitment: chance::commitment(seed),
        guessable: chance::is_guessable(seed),
    }
}

fn finish(
    plan: &Plan,
    out: Option<&Path>,
    ended: Ended,
    (mut results, is_final): (EventResults, bool),
    output: &Output,
) -> anyhow::Result<u8> {
    let code = code_of(ended, out)?;
    if let Some(dir) = out {
        // Not to read only: that would leave a log of SQLite's behind.
        let mut store = Store::open(dir)?;
        if code == exit::DONE {
            store.set_ended(&results.ended)?;
            if is_final {
                tell_seed(plan, &store)?;
                let shown = super::shown(&dir.to_string_lossy());
                let hash = store.hash()?;
                super::say(format_args!(
                    "the hash of the results is {hash}; published or kept, it shows later that they are the same: \
                     hakem verify {shown} --expect {hash}"
                ));
            }
        }
        results = super::results::event_results(&store)?;
        super::report::write_page(dir, &results)?;
    }
    if code == exit::DONE
        && let Some(file) = &plan.config.options.ladder
    {
        ladder::leave(file, &results, out)?;
    }
    let forfeits = tell_forfeits(&results.names, &results.games);
    if forfeits && out.is_none() {
        super::say("with --out DIR the records and logs of the games are kept, to look into");
    }
    // In a folder seed.json tells it.
    if out.is_none() && plan.config.seed.is_none() {
        super::say(format_args!("the same again: --seed {}", plan.seed()));
    }
    if code == exit::DONE || !results.matches.is_empty() {
        let shown = results
            .standings()
            .map_err(anyhow::Error::from)
            .and_then(|standings| {
                let played = results.played.len();
                let left = progress(&results.event, played, results.left());
                output.standings(&standings, left)
            });
        // What stopped the run says more than that its terminal is gone as well.
        if code == exit::DONE {
            shown?;
        }
    }
    Ok(code)
}

/// Tells of each bot that forfeited how often, and why at first: a table has no room for it. Returns whether one did.
fn tell_forfeits(names: &[String], games: &[GameResult]) -> bool {
    let mut forfeits = false;
    for (slot, name) in names.iter().enumerate() {
        let against =
            |game: &&GameResult| game.against.is_some_and(|seat| game.seats[seat] == slot);
        let mut lost = games.iter().filter(against);
        let Some(first) = lost.next() else { continue };
        forfeits = true;
        super::say(format_args!(
            "{} forfeited {} games; {}: {}",
            super::shown(name),
            1 + lost.count(),
            first.id,
            super::shown(&first.reason)
        ));
    }
    forfeits
}

/// A folder that cannot be played into: the error, which says to choose another, and how.
pub(super) fn elsewhere(error: &anyhow::Error) -> anyhow::Error {
    Refused(format!("{error} with --out DIR")).into()
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
        let mut store = Store::create(dir, &meta)?;
        note_game(&mut store, config)?;
        return Ok(store);
    }
    let mut store = Store::open(dir)?;
    let before = store.meta()?;
    let changes = before.changes(config, files);
    if !changes.is_empty() {
        let enter = if config.bots.len() > before.bots.len() {
            format!(
                "; bots at the end of the file are taken in by `hakem desk {} add EVENT.toml --reason TEXT`",
                dir.display()
            )
        } else {
            String::new()
        };
        return Err(Refused(format!(
            "{} holds results of another event:\n       {}\n       put the old state back, or start anew with --fresh (the old \
             folder is renamed, not deleted){enter}",
            dir.display(),
            changes.join("\n       ")
        ))
        .into());
    }
    if before.name != config.name {
        store.set_name(&config.name)?;
    }
    note_game(&mut store, config)?;
    Ok(store)
}

/// Notes how the rules of a game that is not built in are started, for those who look at the results later.
fn note_game(store: &mut Store, config: &EventConfig) -> Result<(), StoreError> {
    match &config.own_game {
        Some(own) => store.set_game_program(&own.place()),
        None => Ok(()),
    }
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
    crate::bot::os::random(&mut bits).context("the system gives no random bits")?;
    Ok(chance::hex(&bits))
}
