//! `hakem run --dry-run`: what an event would be.

use std::path::Path;

use super::exit::Refused;
use super::ladder;
use super::output::Output;
use super::play::{elsewhere, problems};
use crate::config::{self, EventConfig};
use crate::report::model::is_known_whole;
use crate::report::page::list;
use crate::runner::Plan;
use crate::store;
use crate::tournament::History;

/// What a game's record takes on the disk, about: most have fewer than 100 answers of 150 to 200 bytes.
const RECORD_BYTES: u64 = 20_000;

/// Says what would be played, with results in `out`.
///
/// # Errors
/// [`Refused`] for what the user has to mend before the first game.
pub fn run(
    config: &EventConfig,
    out: &Path,
    jobs: Option<usize>,
    output: &Output,
) -> anyhow::Result<()> {
    let problems = problems(config);
    if !problems.is_empty() {
        return Err(Refused(problems.join("\n       ")).into());
    }
    if !out.join(store::RESULTS).exists() {
        store::check_unused(out).map_err(|error| elsewhere(&error.into()))?;
    }
    let ladder = ladder::start(config)?;
    let event = config.fingerprint();
    let format = config::format_of(&event, &ladder);
    let first = format.next(&History::default());
    let matches = format.least_matches().max(first.pairings.len());
    let is_exact = is_known_whole(&event);
    let least = if is_exact { "" } else { " at least" };
    let may_end_early = config.stop_when_clear.is_some() || config.max_time_us.is_some();
    let early = if may_end_early {
        "; fewer if the event ends early"
    } else {
        ""
    };
    let mut plan = Plan::new(config.clone(), String::new(), &[], None)
        .map_err(|error| Refused(format!("{error:#}")))?;
    let jobs = plan.jobs(jobs);
    let names: Vec<&str> = config.bots.iter().map(|bot| bot.name.as_str()).collect();
    let duration = |us: u64| {
        let seconds = std::time::Duration::from_secs(us / 1_000_000);
        humantime::format_duration(seconds).to_string()
    };
    let longest = match config.clock.main_us {
        Some(main) => {
            let game = main.saturating_mul(config.seats as u64);
            let all = game.saturating_mul(matches as u64) / jobs.max(1) as u64;
            format!(
                "{}{least} for one game a match, each seat using all of its main time; increments and further games of a match come to it",
                duration(all)
            )
        }
        None => match config.clock.move_us {
            Some(answer) => format!(
                "no bound: an answer may take {}, and a game has any number of them",
                duration(answer)
            ),
            None => "no bound: the clock sets none".to_owned(),
        },
    };
    let lines = vec![
        ("event", config.name.clone()),
        ("game", config.game.clone()),
        ("bots", format!("{}: {}", names.len(), names.join(", "))),
        ("matches", format!("{matches}{least}{early}")),
        (
            "matches of the first round",
            first.pairings.len().to_string(),
        ),
        ("games at once", jobs.to_string()),
        ("time on the clocks", longest),
        (
            "room on the disk",
            format!(
                "about {} a game of a match, for its record",
                config::units::show_size(RECORD_BYTES.next_multiple_of(1024))
            ),
        ),
    ];
    for warning in &plan.warnings {
        super::say(format_args!("warning: {}", super::shown(warning)));
    }
    output.list(list("dry run", lines))
}
