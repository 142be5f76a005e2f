//! `hakem gate`.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hakem_protocol::results::{GateDecision, GateResult};

use super::exit::{self, Refused};
use super::fileless::{self, FilelessArgs};
use super::output::OutputArgs;
use super::play::{Ready, code_of, ready, tell_seed};
use super::progress::Progress;
use crate::config::Flags;
use crate::event::{Event, GameResult, MatchId, MatchResult};
use crate::game;
use crate::report::gate::{Verdict, count, data};
use crate::report::junit;
use crate::runner::{self, Ended, Ledger, Source, ledger::Forget};
use crate::stats::sprt::{Scale, Test};
use crate::store::Store;
use crate::tournament::Pairing;
use crate::tournament::gate::{Gate, MOST_COPIES, State};

mod baseline;

use baseline::{BaselineFile, Entry};

/// The most matches where no number is given.
const MOST_MATCHES: u32 = 20_000;
/// The matches of a measurement where no number is given.
const MEASURED_MATCHES: u32 = 1_000;

/// Test whether a bot is better than another, for CI: stops as soon as it is clear
///
/// The candidate plays the baseline in pairs of matches on the same chance, the sides exchanged. After each pair a sequential
/// probability ratio test weighs two hypotheses: the candidate is as good as --elo0 says, or as --elo1 says. A pair that was played move
/// for move before is no evidence; one in which a side forfeits a game is, each time, and the game is lost.
///
/// Exit codes: 0 accepted (or measured); 1 rejected; 4 no decision within the budget; 2, 3 and 130 as everywhere.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is played, and where it is kept.
    #[command(flatten)]
    pub fileless: FilelessArgs,
    /// The bot that is tested: builtin:NAME, a command line in quotes, or a folder with a bot.toml
    #[arg(long, value_name = "BOT")]
    pub candidate: String,
    /// The bot that it is tested against
    #[arg(long, value_name = "BOT")]
    pub baseline: String,
    /// The Elo difference that is not good enough [default: 0; with --baseline-file -20]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub elo0: Option<f64>,
    /// The Elo difference that is good enough [default: 20; with --baseline-file 0]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub elo1: Option<f64>,
    /// What the Elo differences are: of the logistic curve (a mean score), or normalised by the spread of the scores
    #[arg(long, value_enum, default_value_t = Elo::Logistic)]
    pub elo: Elo,
    /// Test points a game instead of wins: the mean that is not good enough
    #[arg(long, value_name = "P", allow_hyphen_values = true, requires = "points1", conflicts_with_all = ["elo0", "elo1", "elo"])]
    pub points0: Option<f64>,
    /// The mean points a game that are good enough
    #[arg(
        long,
        value_name = "P",
        allow_hyphen_values = true,
        requires = "points0"
    )]
    pub points1: Option<f64>,
    /// The probability to accept a candidate that is not good enough
    #[arg(long, value_name = "A", default_value_t = 0.05)]
    pub alpha: f64,
    /// The probability to reject one that is good enough
    #[arg(long, value_name = "B", default_value_t = 0.05)]
    pub beta: f64,
    /// The most matches; if it is not clear after them there is no decision [default: 20000; to measure 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub max_games: Option<u32>,
    /// The longest time, such as 10m or 1h30m; if it is not clear by then there is no decision
    #[arg(long, value_name = "T", value_parser = humantime::parse_duration)]
    pub max_time: Option<Duration>,
    /// Do not pair matches: each has its own chance, and the sides change from match to match
    #[arg(long)]
    pub unpaired: bool,
    /// Positions to start from, a JSON state a line; the k-th pair starts from the k-th, round and round
    #[arg(long, value_name = "FILE", conflicts_with = "opening_plies")]
    pub openings: Option<PathBuf>,
    /// Random legal plies before the bots take over, the same in both matches of a pair
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub opening_plies: u32,
    /// Test that the candidate is not worse than what this file says was measured against the same baseline before; --elo0 and --elo1 (or
    /// the points) then count from there
    #[arg(long, value_name = "FILE")]
    pub baseline_file: Option<PathBuf>,
    /// Test nothing: play all matches, and write what was measured into the file
    #[arg(long, requires = "baseline_file")]
    pub update_baseline: bool,
    /// Write the verdict as JUnit XML too
    #[arg(long, value_name = "F")]
    pub junit: Option<PathBuf>,
    /// How the verdict is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Which Elo difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Elo {
    /// Of the logistic curve.
    Logistic,
    /// Normalised.
    Normalised,
}

/// Runs it.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output.get();
    let bots = vec![args.candidate.clone(), args.baseline.clone()];
    let flags = Flags {
        seats: Some(2),
        games: Some(if args.unpaired { 1 } else { 2 }),
        opening_plies: args.opening_plies,
        openings: args.openings.clone(),
        ..args.fileless.flags("gate", bots)?
    };
    let config = fileless::event(&flags, &output)?;
    let points_a_game = game::find(&config.game).is_some_and(|kind| kind.facts().points_a_game);
    // What is wrong with the test is told before anything is started.
    let usual = usual_test(args)?;
    let mut file = args
        .baseline_file
        .as_deref()
        .map(BaselineFile::read)
        .transpose()?;
    let most = args.max_games.unwrap_or(if args.update_baseline {
        MEASURED_MATCHES
    } else {
        MOST_MATCHES
    });
    tell_budget(most, args.unpaired)?;
    let mut ready = ready(args.fileless.playing(config))?;
    let about = Entry::about(&ready.plan.config, &ready.hashes, !args.unpaired);
    let stored = file.as_ref().and_then(|file| file.find(&about)).cloned();
    let mut verdict = Verdict {
        decision: GateDecision::NoDecision,
        why: String::new(),
        names: names(&ready),
        points_a_game,
        errors: [args.alpha, args.beta],
    };
    let test = match (&stored, args.update_baseline, &args.baseline_file) {
        (_, true, _) => None,
        (Some(stored), false, Some(path)) => Some(from_stored(&usual, stored, path)?),
        (None, false, Some(path)) => {
            return Err(Refused(format!(
                "{} holds no measurement against this baseline (same files, game, rules, clock and openings); --update-baseline makes one",
                path.display()
            ))
            .into());
        }
        (_, false, None) => Some(usual),
    };
    if let (Some(stored), Some(_)) = (&stored, &test)
        && stored.candidate == about.candidate
    {
        let gate = Gate::new(test, !args.unpaired, most);
        verdict.decision = GateDecision::Accepted;
        verdict.why =
            "the candidate is the bot that was measured: its files are the same".to_owned();
        let result = data(&gate, &verdict);
        write_junit(args, &result)?;
        output.gate(result)?;
        return Ok(ExitCode::SUCCESS);
    }
    let until = args.max_time.map(|time| Instant::now() + time);
    let shared = Rc::new(RefCell::new(Playground::new(
        Gate::new(test, !args.unpaired, most),
        until,
    )));
    if let Some(store) = &ready.folder {
        shared.borrow_mut().go_on(store.games()?, store.matches()?);
    }
    let ended = play(&mut ready, &shared)?;
    let code = code_of(ended, args.fileless.out.as_deref())?;
    let playground = shared.borrow();
    let gate = &playground.gate;
    (verdict.decision, verdict.why) = playground.comes_to(args, code);
    let result = data(gate, &verdict);
    for (name, first) in verdict.names.iter().zip(&playground.forfeits) {
        if let Some(game) = first {
            super::say(format_args!(
                "{} forfeited games; {}: {}",
                super::shown(name),
                game.id,
                super::shown(&game.reason)
            ));
        }
    }
    if let Some(dir) = &args.fileless.out {
        tell_counted(dir, gate, result.games)?;
    }
    if verdict.decision != GateDecision::NoDecision
        && let Some(dir) = &args.fileless.out
    {
        tell_seed(&ready.plan, &Store::open(dir)?)?;
    }
    if verdict.decision == GateDecision::Measured
        && let Some(file) = &mut file
    {
        file.put(about.measured(&result))?;
    }
    write_junit(args, &result)?;
    output.gate(result)?;
    Ok(ExitCode::from(match (code, verdict.decision) {
        (exit::DONE, GateDecision::Accepted | GateDecision::Measured) => exit::DONE,
        (exit::DONE, GateDecision::Rejected) => exit::BAD,
        (exit::DONE, GateDecision::NoDecision) => exit::UNDECIDED,
        (other, _) => other,
    }))
}

/// Says how many matches are played at most, where pairs do not come to the number that was given.
///
/// # Errors
/// [`Refused`] where there is not room for one pair.
fn tell_budget(most: u32, unpaired: bool) -> Result<(), Refused> {
    if unpaired || most.is_multiple_of(2) {
        return Ok(());
    }
    if most == 1 {
        let what = "--max-games 1: matches are played in pairs, so that 2 are the least; --unpaired plays single ones";
        return Err(Refused(what.into()));
    }
    super::say(format_args!(
        "--max-games {most}: matches are played in pairs, so that {} are the most",
        most - 1
    ));
    Ok(())
}

/// Says what counted of the matches that a folder holds, where not all of them did.
fn tell_counted(dir: &Path, gate: &Gate, evidence: u64) -> anyhow::Result<()> {
    let size = if gate.is_paired() { 2 } else { 1 };
    let held = Store::open(dir)?.matches()?.len() as u64;
    let copies = size * gate.copies();
    let after = held.saturating_sub(size * u64::from(gate.counted()));
    if copies + after == 0 {
        return Ok(());
    }
    super::say(format_args!(
        "{} holds {}: {evidence} count, {copies} were copies, {after} ended beyond those that the verdict is about",
        dir.display(),
        count(held, "match", "matches")
    ));
    Ok(())
}

fn write_junit(args: &Args, result: &GateResult) -> anyhow::Result<()> {
    match &args.junit {
        Some(path) => super::report::write(path, &junit::of_gate(result)?),
        None => Ok(()),
    }
}

/// The test that the flags ask for.
fn usual_test(args: &Args) -> anyhow::Result<Test> {
    let against_file = args.baseline_file.is_some();
    let (scale, hypotheses) = match (args.points0, args.points1) {
        (Some(low), Some(high)) => (Scale::Points, [low, high]),
        _ => {
            let (low, high) = if against_file {
                (-20.0, 0.0)
            } else {
                (0.0, 20.0)
            };
            let scale = match args.elo {
                Elo::Logistic => Scale::Logistic,
                Elo::Normalised => Scale::Normalised,
            };
            (scale, [args.elo0.unwrap_or(low), args.elo1.unwrap_or(high)])
        }
    };
    if scale == Scale::Normalised && against_file {
        return Err(Refused(
            "--baseline-file is for logistic Elo or points, not for --elo normalised".into(),
        )
        .into());
    }
    Test::new(scale, hypotheses, args.alpha, args.beta)
        .map_err(|error| Refused(error.to_string()).into())
}

/// The same test, counted from what was measured.
fn from_stored(usual: &Test, stored: &Entry, path: &Path) -> anyhow::Result<Test> {
    let [alpha, beta] = usual.errors();
    let from = match usual.scale() {
        Scale::Points => stored.points_per_game.ok_or_else(|| {
            Refused("the baseline file holds no points a game; this game has none, or it was measured otherwise".into())
        })?,
        Scale::Logistic | Scale::Normalised => stored.elo,
    };
    let hypotheses = usual.hypotheses().map(|hypothesis| hypothesis + from);
    Test::new(usual.scale(), hypotheses, alpha, beta).map_err(|error| {
        Refused(format!(
            "counted from the {from} of {}: {error}",
            path.display()
        ))
        .into()
    })
}

fn names(ready: &Ready) -> [String; 2] {
    let bots = &ready.plan.config.bots;
    [0, 1].map(|slot| {
        bots.get(slot)
            .map_or_else(String::new, |bot| bot.name.clone())
    })
}

/// Plays until it is clear or the budget is used up.
fn play(ready: &mut Ready, shared: &Rc<RefCell<Playground>>) -> anyhow::Result<Ended> {
    let mut progress = Progress::new(ready.plan.names(), std::io::stderr().is_terminal());
    let ledger: Box<dyn Ledger> = match ready.folder.take() {
        Some(store) => Box::new(store),
        None => Box::new(Forget),
    };
    let mut source = Shared(Rc::clone(shared));
    let ended = runner::run(&ready.plan, &mut source, ready.jobs, ledger, &mut |event| {
        progress.tell(event);
        if matches!(event, Event::RunStarted { .. } | Event::MatchFinished(_)) {
            progress.note(shared.borrow().note());
        }
    })?;
    progress.finish();
    Ok(ended)
}

/// A gate and what is in play.
#[derive(Debug)]
struct Playground {
    gate: Gate,
    todo: VecDeque<Pairing>,
    /// Matches that were over before the run.
    done: BTreeSet<MatchId>,
    until: Option<Instant>,
    time_is_up: bool,
    /// The first game that each bot forfeited in this run.
    forfeits: [Option<Box<GameResult>>; 2],
}

impl Playground {
    fn new(gate: Gate, until: Option<Instant>) -> Playground {
        Playground {
            gate,
            todo: VecDeque::new(),
            done: BTreeSet::new(),
            until,
            time_is_up: false,
            forfeits: [None, None],
        }
    }

    /// Counts what was played before.
    fn go_on(&mut self, games: Vec<GameResult>, matches: Vec<MatchResult>) {
        self.done = matches.iter().map(|result| result.id).collect();
        for game in games.iter().filter(|game| self.done.contains(&game.id.of)) {
            self.gate.game(game);
        }
        matches.iter().for_each(|result| self.gate.finished(result));
    }

    fn game(&mut self, game: &GameResult) {
        self.gate.game(game);
        if let Some(seat) = game.against.filter(|_| game.verdict.is_forfeit())
            && let Some(first) = self.forfeits.get_mut(game.seats[seat])
        {
            first.get_or_insert_with(|| Box::new(game.clone()));
        }
    }

    fn next(&mut self) -> Option<Pairing> {
        loop {
            if self.time_is_up {
                return None;
            }
            match self.todo.pop_front() {
                Some(pairing) if self.done.contains(&pairing.id) => {}
                Some(pairing) => return Some(pairing),
                None => {
                    self.todo = self.gate.next_unit().into();
                    if self.todo.is_empty() {
                        return None;
                    }
                }
            }
        }
    }

    /// Where the gate stands, for a line on a terminal.
    fn note(&self) -> String {
        let counted = units(&self.gate, u64::from(self.gate.counted()));
        match self.gate.test() {
            Some(test) => {
                let [low, high] = test.bounds();
                format!(
                    "{counted}, LLR {:.2} ({low:.2}, {high:.2})",
                    self.gate.llr()
                )
            }
            None => counted,
        }
    }

    /// What it came to, and why.
    fn comes_to(&self, args: &Args, code: u8) -> (GateDecision, String) {
        let gate = &self.gate;
        let [low, high] = gate.test().map_or([0.0; 2], |test| test.bounds());
        let copies = format!(
            "the last {} were copies of earlier ones: these bots play the same games again and again; {DIFFER}",
            units(gate, MOST_COPIES)
        );
        let measures = gate.test().is_none();
        match gate.state() {
            State::Accepted => (
                GateDecision::Accepted,
                format!("LLR {:.2} reached the bound {high:.2}", gate.llr()),
            ),
            State::Rejected => (
                GateDecision::Rejected,
                format!("LLR {:.2} reached the bound {low:.2}", gate.llr()),
            ),
            State::Budget if measures => (
                GateDecision::Measured,
                format!("all matches are played{}", rests_on(gate)),
            ),
            State::Budget => (
                GateDecision::NoDecision,
                format!(
                    "all matches that --max-games allows are played{}",
                    rests_on(gate)
                ),
            ),
            State::Copies => (GateDecision::NoDecision, copies),
            State::Open if code == exit::INTERRUPTED => {
                (GateDecision::NoDecision, "it was interrupted".to_owned())
            }
            State::Open if code != exit::DONE => (
                GateDecision::NoDecision,
                "games could not be played".to_owned(),
            ),
            State::Open => {
                let time = args.max_time.unwrap_or_default();
                let time = humantime::format_duration(time);
                (
                    GateDecision::NoDecision,
                    format!("the {time} of --max-time are over{}", rests_on(gate)),
                )
            }
        }
    }
}

/// What lets bots without chance in them play different games.
const DIFFER: &str = "--opening-plies or --openings lets them differ";

/// So many pairs, or matches without partner.
fn units(gate: &Gate, number: u64) -> String {
    if gate.is_paired() {
        count(number, "pair", "pairs")
    } else {
        count(number, "match", "matches")
    }
}

/// Why what was played may say little: the end of a sentence, or nothing.
fn rests_on(gate: &Gate) -> String {
    if gate.is_held() {
        return "; the forfeits alone would decide it, but not with the copies of play beside them"
            .to_owned();
    }
    if 2 * gate.copies() < u64::from(gate.counted()) || gate.copies() == 0 {
        return String::new();
    }
    let all = units(gate, u64::from(gate.counted()));
    let copies = gate.copies();
    let were = if copies == 1 {
        "was a copy"
    } else {
        "were copies"
    };
    format!("; {copies} of {all} {were} of an earlier one, so that little was learned; {DIFFER}")
}

/// The source of a gate's matches.
struct Shared(Rc<RefCell<Playground>>);

impl Source for Shared {
    fn next(&mut self) -> Option<Pairing> {
        self.0.borrow_mut().next()
    }

    fn game(&mut self, game: &GameResult) {
        self.0.borrow_mut().game(game);
    }

    fn finished(&mut self, result: &MatchResult) {
        self.0.borrow_mut().gate.finished(result);
    }

    fn total(&self) -> Option<usize> {
        None
    }

    fn done(&self) -> usize {
        self.0.borrow().done.len()
    }

    fn stop(&self) -> bool {
        let playground = self.0.borrow();
        playground.time_is_up || playground.gate.state() != State::Open
    }

    /// A verdict needs every pair.
    fn goes_on(&self) -> bool {
        false
    }

    fn deadline(&self) -> Option<Instant> {
        let playground = self.0.borrow();
        playground.until.filter(|_| !playground.time_is_up)
    }

    fn time_is_up(&mut self) {
        self.0.borrow_mut().time_is_up = true;
    }
}
