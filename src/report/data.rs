//! The report of an event as one JSON object.

use serde_json::json;

use super::model::EventResults;
use super::{confinement, json, standings};

/// The event, its standings as `hakem standings --format json` has them, and what confined the bots. The seed is not in it.
///
/// # Errors
/// Results that contradict themselves.
pub fn event(results: &EventResults) -> anyhow::Result<String> {
    let data = json!({
        "name": results.name,
        "game": results.game,
        "format": results.event["event"]["format"],
        "rules": results.event["rules"],
        "clock": results.event["clock"],
        "adjudication": results.event["adjudication"],
        "matches": results.matches.len(),
        "games": results.games.len(),
        "ended_early": (!results.ended.is_empty()).then_some(&results.ended),
        "standings": standings::report(&results.standings()?).rows,
        "sandbox": confinement::report(results).rows,
    });
    let mut text = Vec::new();
    json::write_row(&data, &mut text)?;
    Ok(String::from_utf8(text)?)
}
