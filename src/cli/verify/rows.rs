//! What rows say of games and matches, against what follows from the records.

use crate::event::{GameResult, MatchResult};
use crate::referee::replay::Verified;
use crate::referee::tally::Tally;
use crate::tournament::Pairing;

/// Checks every column of a game but its seats; `plays_are_known`: the folder was made by a version that always notes what was played.
///
/// # Errors
/// Names the columns that are otherwise.
pub(super) fn check_game(
    row: &GameResult,
    verified: &Verified,
    plays_are_known: bool,
) -> Result<(), String> {
    let id = verified.header.id;
    if row.record_hash != verified.hash {
        return Err(format!(
            "its last line's hash is not the one in the results of {id}: the record or the results were changed"
        ));
    }
    let result = &verified.result;
    // Stored before games said so.
    let is_old = !plays_are_known && row.play_hash.is_empty() && row.first.is_none();
    let columns = [
        ("id", row.id == id),
        ("seats", row.seats.len() == verified.header.seats.len()),
        ("winner", row.winner == result.winner),
        ("score", row.score == result.score),
        ("points", row.points == result.points),
        ("verdict", row.verdict == result.verdict),
        ("reason", row.reason == result.reason),
        ("against", row.against == result.against),
        ("moves", row.moves == result.moves),
        ("first", is_old || row.first == verified.first),
        ("play_hash", is_old || row.play_hash == verified.play_hash),
        ("time", row.time_us == result.time_us),
        ("wall", row.wall_us == result.wall_us),
        ("cpu", row.cpu_us == result.cpu_us),
    ];
    let other: Vec<&str> = columns
        .into_iter()
        .filter_map(|(name, same)| (!same).then_some(name))
        .collect();
    if other.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the results say otherwise of {id} than its record: {}",
        other.join(", ")
    ))
}

/// Checks every column of a match; `tally` has its games.
///
/// # Errors
/// Says what is otherwise.
pub(super) fn check_match(
    row: &MatchResult,
    pairing: &Pairing,
    tally: &Tally,
) -> Result<(), String> {
    if row.seats != pairing.seats {
        return Err("its bots do not sit as in the schedule".to_owned());
    }
    if tally.series().score != row.series {
        return Err("its series score is not the sum of its games".to_owned());
    }
    tally.check_over(&row.score)
}
