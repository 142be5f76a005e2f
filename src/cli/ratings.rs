//! `hakem ratings`.
//!
//! The file holds results, event by event, and no ratings: those are computed from the results each time, so that they are never
//! edited by hand, and a corrected event corrects all that came after it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::exit::Refused;
use super::output::OutputArgs;
use crate::chance;
use crate::config;
use crate::rating::history;
use crate::rating::{Counts, DEFAULT_TAU, Score};
use crate::store::Store;

/// The version of the file's form.
const FORMAT: u32 = 1;

/// Keep ratings across events
///
/// FILE holds the results of events; ratings are computed from them anew each time. An event is one period: its results count at once,
/// with the ratings of before it, and bots that took no part grow less certain.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file; made by the first `add`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
    /// How tables are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add the results of events; one that is there already is put in anew
    Add {
        /// Folders of results, in the order in which the events took place
        #[arg(value_name = "DIR", required = true)]
        dirs: Vec<PathBuf>,
    },
    /// Show the ratings
    Show,
    /// Show the way of one bot, event by event, with what was expected of it
    History {
        /// Its name
        bot: String,
    },
    /// Fix the rating of a bot, so that the others are measured by it
    Anchor {
        /// Its name
        bot: String,
        /// The rating; without one the bot is free again
        #[arg(allow_hyphen_values = true)]
        rating: Option<f64>,
    },
}

/// The content of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: u32,
    /// Glicko-2's tau.
    tau: f64,
    /// Fixed ratings.
    #[serde(default)]
    anchors: BTreeMap<String, f64>,
    /// Events in the order of their periods.
    events: Vec<EventEntry>,
}

/// An event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventEntry {
    /// What tells it from others: the commitment to its seed, and when it began.
    id: String,
    name: String,
    created: String,
    results: Vec<ResultEntry>,
}

/// What two bots did to each other in an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultEntry {
    bots: [String; 2],
    won: u32,
    drawn: u32,
    lost: u32,
}

/// Runs it.
///
/// # Errors
/// [`Refused`] for what the user has to mend; else what the machine did not do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut content = read(
        &args.file,
        matches!(args.command, Some(Command::Add { .. })),
    )?;
    match &args.command {
        Some(Command::Add { dirs }) => {
            for dir in dirs {
                let event = event_of(dir)?;
                match content.events.iter_mut().find(|other| other.id == event.id) {
                    Some(other) => *other = event,
                    None => content.events.push(event),
                }
            }
            write(&args.file, &content)?;
            show(&content, args)?;
        }
        Some(Command::Anchor { bot, rating }) => {
            match rating {
                Some(rating) if rating.is_finite() => content.anchors.insert(bot.clone(), *rating),
                Some(_) => return Err(Refused("a rating is a number".into()).into()),
                None => content.anchors.remove(bot),
            };
            write(&args.file, &content)?;
            tell_unknown(&content, bot, *rating);
            show(&content, args)?;
        }
        Some(Command::History { bot }) => {
            let rated = rated(&content)?;
            let Some(place) = rated.names.iter().position(|name| name == bot) else {
                return Err(Refused(format!(
                    "{} holds no results of a bot `{bot}`",
                    args.file.display()
                ))
                .into());
            };
            let periods: Vec<String> = content
                .events
                .iter()
                .map(|event| event.name.clone())
                .collect();
            args.output
                .get()
                .rating_history(&rated.history.steps[place], &periods)?;
        }
        Some(Command::Show) | None => show(&content, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that an anchor is noted of a bot that the table does not show.
fn tell_unknown(content: &Content, bot: &str, rating: Option<f64>) {
    let mut results = content.events.iter().flat_map(|event| &event.results);
    if results.any(|result| result.bots.iter().any(|name| name == bot)) {
        return;
    }
    let names = content.events.iter().flat_map(|event| &event.results);
    let names = names.flat_map(|result| result.bots.iter().map(String::as_str));
    super::say(match rating {
        Some(rating) => format!(
            "{} has not played in these events; that its rating is {rating} is noted for when it does; {}",
            super::shown(bot),
            config::suggestion(bot, names)
        ),
        None => format!(
            "{} has not played in these events, and has no fixed rating",
            super::shown(bot)
        ),
    });
}

fn show(content: &Content, args: &Args) -> anyhow::Result<()> {
    let rated = rated(content)?;
    args.output
        .get()
        .ratings(&rated.names, &rated.anchors, &rated.history)
}

/// The bots with their ratings.
struct Rated {
    names: Vec<String>,
    anchors: Vec<Option<f64>>,
    history: history::History,
}

fn rated(content: &Content) -> anyhow::Result<Rated> {
    let results = || content.events.iter().flat_map(|event| &event.results);
    let mut names: Vec<String> = results().flat_map(|result| result.bots.clone()).collect();
    names.sort();
    names.dedup();
    let place = |name: &String| names.binary_search(name).unwrap_or_default();
    let encounter = |result: &ResultEntry| Counts {
        a: place(&result.bots[0]),
        b: place(&result.bots[1]),
        won: result.won,
        drawn: result.drawn,
        lost: result.lost,
    };
    let periods: Vec<Vec<Counts>> = content
        .events
        .iter()
        .map(|event| event.results.iter().map(encounter).collect())
        .collect();
    let anchors: Vec<Option<f64>> = names
        .iter()
        .map(|name| content.anchors.get(name).copied())
        .collect();
    let history = history::rate(names.len(), &periods, &anchors, content.tau)
        .map_err(|error| Refused(format!("the results cannot be rated: {error}")))?;
    Ok(Rated {
        names,
        anchors,
        history,
    })
}

/// The results of a folder, in one period.
fn event_of(dir: &Path) -> anyhow::Result<EventEntry> {
    let store = Store::open_read_only(dir)?;
    let meta = store.meta()?;
    let desk = store.desk()?;
    let mut met: BTreeMap<[String; 2], [u32; 3]> = BTreeMap::new();
    let mut matches = store.matches()?;
    matches.retain(|result| desk.taken_out(result.id, &result.seats).is_none());
    for result in matches {
        for (a, b, score) in result.meetings() {
            let name = |slot: usize| meta.bots[slot].name.clone();
            let (bots, score) = if name(a) < name(b) {
                ([name(a), name(b)], score)
            } else {
                ([name(b), name(a)], score.of_the_other())
            };
            let index = match score {
                Score::Win => 0,
                Score::Draw => 1,
                Score::Loss => 2,
            };
            met.entry(bots).or_default()[index] += 1;
        }
    }
    let results = met
        .into_iter()
        .map(|(bots, [won, drawn, lost])| ResultEntry {
            bots,
            won,
            drawn,
            lost,
        })
        .collect();
    Ok(EventEntry {
        id: format!("{} {}", chance::commitment(&meta.seed), meta.created),
        name: meta.name,
        created: meta.created,
        results,
    })
}

fn read(path: &Path, may_be_new: bool) -> anyhow::Result<Content> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if may_be_new && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Content {
                format: FORMAT,
                tau: DEFAULT_TAU,
                anchors: BTreeMap::new(),
                events: Vec::new(),
            });
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Refused(format!(
                "there is no {0}; `hakem ratings {0} add DIR` makes it from the results of an event",
                path.display()
            ))
            .into());
        }
        Err(error) => {
            return Err(Refused(format!("cannot read {}: {error}", path.display())).into());
        }
    };
    let content: Content = serde_json::from_str(&text)
        .map_err(|error| Refused(format!("{} is no file of ratings: {error}", path.display())))?;
    if content.format == FORMAT {
        Ok(content)
    } else {
        let what = format!(
            "{} has the form {}, and this version knows {FORMAT}",
            path.display(),
            content.format
        );
        Err(Refused(what).into())
    }
}

fn write(path: &Path, content: &Content) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(content)?;
    text.push('\n');
    super::report::write(path, &text)
}
