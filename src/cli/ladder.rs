//! The file of a ladder: the names of the bots, best first, and their ratings. It lives from event to event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::exit::Refused;
use crate::config::{self, EventConfig};
use crate::rating::{MAX_DEVIATION, Rating};
use crate::report::model::EventResults;
use crate::store::Store;
use crate::tournament::ladder::List;

/// The highest and (below 0) the lowest rating that is taken over: far beyond all that is measured, and near enough to be rated on.
const MAX_VALUE: f64 = 6000.0;

/// The version of the file's form. The first had no ratings.
const FORMAT: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: u32,
    order: Vec<String>,
    #[serde(default)]
    ratings: BTreeMap<String, Rating>,
}

/// The list of the ladder as this event would begin: the rungs of its bots, and the ratings of all, since the organiser may add bots later.
///
/// # Errors
/// [`Refused`] for a file that is none of ours or cannot be read.
pub fn start(config: &EventConfig) -> anyhow::Result<List> {
    let found = match &config.options.ladder {
        Some(file) => read(file)?,
        None => List::default(),
    };
    let names: Vec<String> = config.bots.iter().map(|bot| bot.name.clone()).collect();
    Ok(List {
        order: found.of(&names).order,
        ratings: found.ratings,
    })
}

/// The list of a ladder; empty where there is no file yet.
///
/// # Errors
/// [`Refused`] for a file that is none of ours or cannot be read.
fn read(path: &Path) -> anyhow::Result<List> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(List::default()),
        Err(error) => {
            return Err(Refused(format!(
                "cannot read the ladder {}: {error}",
                path.display()
            ))
            .into());
        }
    };
    list_of(&text).map_err(|words| Refused(format!("{} {words}", path.display())).into())
}

/// The list that this text says, or what is wrong with it.
fn list_of(text: &str) -> Result<List, String> {
    let content: Content =
        serde_json::from_str(text).map_err(|error| {
            format!(
                "is no file of a ladder: line {}: {}; {{\"format\":{FORMAT},\"order\":[\"top\",\"next\"]}} is right, the bots from the highest \
                 rung down; without the file they begin in the order of the event file, and it is written after the event",
                error.line(),
                crate::strict::in_words(&error)
            )
        })?;
    if !(1..=FORMAT).contains(&content.format) {
        let found = content.format;
        return Err(format!(
            "has the form {found}, and this version knows 1 to {FORMAT}"
        ));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = content.order.iter().find(|name| !names.insert(*name)) {
        let name = super::shown(twice);
        return Err(format!("names {name} twice; each bot has one rung"));
    }
    for (name, rating) in &content.ratings {
        let shown = super::shown(name);
        if !names.contains(name) {
            return Err(format!("has a rating of {shown}, but no rung"));
        }
        if !rating.is_possible() || rating.value.abs() > MAX_VALUE {
            return Err(format!(
                "has a rating of {shown} that cannot be: the value is from -{MAX_VALUE} to {MAX_VALUE}, the deviation above 0 and at most {MAX_DEVIATION}, the volatility above 0 ({} is usual)",
                Rating::NEW.volatility
            ));
        }
    }
    Ok(List {
        order: content.order,
        ratings: content.ratings,
    })
}

/// Writes the file of the ladder after an event, unless it was written before and nothing was ruled since. Where other events changed it
/// meanwhile for these bots, nothing is written and that is said: their results would be lost.
///
/// # Errors
/// As [`start`]; results that contradict themselves; what the disk refused.
pub fn leave(path: &Path, results: &EventResults, folder: Option<&Path>) -> anyhow::Result<()> {
    let after = list_after(results)?;
    let now = read(path)?;
    let here = now.of(&results.names);
    let mut store = folder.map(Store::open).transpose()?;
    let left = match &store {
        Some(store) => store.ladder_left()?,
        None => List::default(),
    };
    let is_as_found = here == results.ladder.of(&results.names);
    if left == after && !is_as_found {
        return Ok(());
    }
    if !is_as_found && here != left {
        super::say(format_args!(
            "warning: {} has changed since this event began, so it is left as it is; `hakem standings` tells how this event ended",
            path.display()
        ));
        return Ok(());
    }
    // Noted first: who finds the file as it was then writes it again.
    if let Some(store) = &mut store {
        store.set_ladder_left(&after)?;
    }
    write(path, &now.after(&after))
}

/// How an event leaves its bots. Who did not play keeps its rating.
fn list_after(results: &EventResults) -> anyhow::Result<List> {
    let format = config::ruled_format_of(&results.event, &results.ladder, &results.desk);
    let places = format.places(&results.unfolded().history);
    let mut order: Vec<(usize, &String)> = places
        .unwrap_or_default()
        .into_iter()
        .zip(&results.names)
        .collect();
    order.sort();
    let mut after = results.ladder.of(&results.names);
    after.order = order.into_iter().map(|(_, name)| name.clone()).collect();
    for row in results.standings()?.rows {
        if row.matches.played() > 0 {
            after.ratings.insert(row.name, row.rating);
        }
    }
    Ok(after)
}

fn write(path: &Path, list: &List) -> anyhow::Result<()> {
    let content = Content {
        format: FORMAT,
        order: list.order.clone(),
        ratings: list.ratings.clone(),
    };
    let mut text = serde_json::to_string_pretty(&content)?;
    text.push('\n');
    super::report::write(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ladder.json");
        assert_eq!(read(&file).expect("none yet"), List::default());
        let list = List {
            order: vec!["b".to_owned(), "a".to_owned()],
            ratings: BTreeMap::from([(
                "a".to_owned(),
                Rating {
                    value: 1_464.050_670_539_289_2,
                    deviation: 151.516_524_123_849_9,
                    volatility: 0.059_995_984_286_488_495,
                },
            )]),
        };
        write(&file, &list).expect("it is written");
        assert_eq!(read(&file).expect("ours"), list);
    }

    #[test]
    fn the_first_form_had_no_ratings() {
        let list = list_of(r#"{"format":1,"order":["b","a"]}"#).expect("ours");
        assert_eq!(list.order, ["b", "a"]);
        assert!(list.ratings.is_empty());
    }

    #[test]
    fn other_files_are_refused() {
        let rating = |of: &str| format!(r#"{{"format":2,"order":["a"],"ratings":{{{of}}}}}"#);
        for (text, words) in [
            ("[]", "no file of a ladder"),
            ("{}", "missing field `format`"),
            (r#"{"format":9,"order":[]}"#, "the form 9"),
            (r#"{"format":2,"order":["a","b","a"]}"#, "names a twice"),
            (
                &rating(r#""b":{"value":1500,"deviation":60,"volatility":0.06}"#),
                "no rung",
            ),
            (
                &rating(r#""a":{"value":1500,"deviation":0,"volatility":0.06}"#),
                "cannot be",
            ),
            (
                &rating(r#""a":{"value":1500,"deviation":351,"volatility":0.06}"#),
                "cannot be",
            ),
            (
                &rating(r#""a":{"value":1500,"deviation":60,"volatility":-1}"#),
                "cannot be",
            ),
            (
                &rating(r#""a":{"value":12000,"deviation":60,"volatility":0.06}"#),
                "from -6000 to 6000",
            ),
            (
                &rating(r#""a":{"value":1500}"#),
                "missing field `deviation`",
            ),
        ] {
            let said = list_of(text).expect_err(text);
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
