//! Bots that enter an event that has begun.

use std::path::Path;

use serde_json::Value;

use super::super::exit::Refused;
use super::super::output::Output;
use super::super::play::{build, problems};
use super::hall::Hall;
use crate::config::{self, BotFiles, EventConfig, Format};
use crate::house;
use crate::store::BotMeta;
use crate::tournament::rulings::What;

/// An event file with the content of its bots' files.
pub(super) struct Entered {
    config: EventConfig,
    files: Vec<BotFiles>,
}

/// Reads the event file with its further bots, and builds what has to be built.
///
/// # Errors
/// [`Refused`] for what is wrong with it.
pub(super) fn read(event: &Path, output: &Output) -> anyhow::Result<Entered> {
    let config = config::read(event, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    build(&config)?;
    let problems = problems(&config);
    if !problems.is_empty() {
        return Err(Refused(problems.join("\n       ")).into());
    }
    let files = config::bot_files(&config).map_err(|error| Refused(error.to_string()))?;
    Ok(Entered { config, files })
}

/// The ruling that takes its further bots in.
///
/// # Errors
/// [`Refused`] where the event takes nobody in, or anything else is different.
pub(super) fn what(
    hall: &Hall,
    event: &Path,
    entered: Entered,
) -> Result<(What, Vec<BotMeta>), Refused> {
    let Entered { config, files } = entered;
    let known = hall.meta.bots.len();
    let fingerprint = config.fingerprint();
    let mut changes = config::changes(&hall.meta.event, &without_new(&fingerprint, hall, known));
    for (bot, (was, files)) in config.bots.iter().zip(hall.meta.bots.iter().zip(&files)) {
        if was.name == bot.name {
            changes.extend(was.files.changes(files, bot));
        }
    }
    if !changes.is_empty() {
        return Err(Refused(format!(
            "{} differs in more than bots at its end:\n       {}\n       put that back; new bots come after all others, and one that \
             leaves is disqualified or withdrawn",
            event.display(),
            changes.join("\n       ")
        )));
    }
    let count = config.bots.len().saturating_sub(known);
    if count == 0 {
        return Err(Refused(format!(
            "{} has no bot that {} does not have; put it at the end of the event file",
            event.display(),
            hall.store.dir().display()
        )));
    }
    if matches!(config.format, Format::Knockout | Format::Groups) {
        return Err(Refused(
            "the draw of a knockout or of groups is made, and takes nobody in; start another event, or begin anew with --fresh".into(),
        ));
    }
    let bots = config.bots.iter().zip(files).skip(known);
    let bots = bots.map(|(bot, files)| BotMeta {
        name: bot.name.clone(),
        files,
    });
    let what = What::Add {
        first: known,
        count,
        event: fingerprint,
    };
    Ok((what, bots.collect()))
}

/// The event without the bots after the first so many. The rounds of a Swiss event grow with its bots.
fn without_new(fingerprint: &Value, hall: &Hall, known: usize) -> Value {
    let mut event = fingerprint.clone();
    if let Some(bots) = event["bots"].as_array_mut() {
        bots.truncate(known);
    }
    let (is, was) = (
        &event["event"]["rounds"],
        &hall.meta.event["event"]["rounds"],
    );
    if event["event"]["format"] == "swiss" && is.as_u64() > was.as_u64() {
        event["event"]["rounds"] = was.clone();
    }
    event
}
