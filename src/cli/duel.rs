//! `hakem duel`.

use std::process::ExitCode;

use crate::config::{self, Flags};
use crate::event::Event;
use crate::runner::{self, Plan};
use crate::tournament::round_robin;

/// Arguments.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The game.
    #[arg(long)]
    pub game: String,
    /// Matches.
    #[arg(long)]
    pub games: Option<u32>,
    /// Seed.
    #[arg(long)]
    pub seed: Option<String>,
    /// Rule.
    #[arg(long = "rule")]
    pub rules: Vec<String>,
    /// Clock.
    #[arg(long)]
    pub clock: Option<String>,
    /// Jobs.
    #[arg(long)]
    pub jobs: Option<usize>,
    /// Bots.
    pub bots: Vec<String>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let flags = Flags {
        name: "duel".into(),
        game: args.game.clone(),
        bots: args.bots.clone(),
        rules: args.rules.clone(),
        clock: args.clock.clone(),
        games: args.games,
        seed: args.seed.clone(),
        jobs: args.jobs,
        folder: std::env::current_dir()?,
    };
    let config = match config::from_flags(&flags, &["random", "first", "greedy"]) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("{}", error.render(false));
            return Ok(ExitCode::from(2));
        }
    };
    let schedule = round_robin::schedule(config.bots.len(), config.games, config.paired, config.rounds);
    let seed = config.seed.clone().unwrap_or("x".into());
    let mut plan = Plan::new(config, seed, schedule, &[], None)?;
    let jobs = plan.jobs(None);
    let todo = plan.schedule.clone();
    let t = std::time::Instant::now();
    let mut n = 0;
    let mut moves = 0;
    let ended = runner::run(&plan, &todo, jobs, Box::new(runner::ledger::Forget), &mut |event| {
        match event {
            Event::GameFinished(r) => { n += 1; moves += r.moves; if todo.len() < 50 { eprintln!("{} {:?} {} {:?} moves {} {:?} {:?}", r.id, r.winner, r.reason, r.points, r.moves, r.time_us, r.cpu_us)}},
            other => if todo.len() < 50 { eprintln!("{other:?}") },
        }
    })?;
    eprintln!("{ended:?} {n} games {moves} moves in {:?}", t.elapsed());
    Ok(ExitCode::SUCCESS)
}
