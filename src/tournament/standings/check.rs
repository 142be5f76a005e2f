//! Results are checked before they are counted: they come from a file that others can write.

use std::fmt;

use super::twelfths;
use crate::event::{GameResult, MatchId, MatchResult, Slot, Verdict};
use crate::rating::RatingError;

/// Results that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResultsError {
    /// A result contradicts the event or itself.
    #[error("result {id}: {what}")]
    Impossible {
        /// The id of the match or game.
        id: String,
        /// What is wrong.
        what: String,
    },
    /// The ratings cannot be computed.
    #[error(transparent)]
    Rating(#[from] RatingError),
}

impl ResultsError {
    fn new(id: impl fmt::Display, what: impl Into<String>) -> ResultsError {
        ResultsError::Impossible {
            id: id.to_string(),
            what: what.into(),
        }
    }
}

/// Checks the slots on the seats of a match or game.
fn check_seats(id: impl fmt::Display, seats: &[Slot], bots: usize) -> Result<(), ResultsError> {
    if !(2..=4).contains(&seats.len()) {
        let what = format!("{} seats; a table has 2 to 4", seats.len());
        return Err(ResultsError::new(id, what));
    }
    if let Some(slot) = seats.iter().find(|&&slot| slot >= bots) {
        let what = format!("bot {slot} of {bots} bots, counted from 0");
        return Err(ResultsError::new(id, what));
    }
    let is_twice = |(index, slot): (usize, &Slot)| seats[..index].contains(slot);
    if seats.iter().enumerate().any(is_twice) {
        return Err(ResultsError::new(id, "a bot sits on two seats"));
    }
    Ok(())
}

/// Checks that an id comes after the last one.
pub(super) fn check_order<I: fmt::Display + Ord>(
    id: I,
    last: Option<I>,
) -> Result<(), ResultsError> {
    match last {
        Some(last) if last == id => Err(ResultsError::new(id, "there are two results")),
        Some(last) if last > id => Err(ResultsError::new(id, "it comes after a later one")),
        _ => Ok(()),
    }
}

/// Checks the result of a match that comes after this one.
pub(super) fn check_match(
    result: &MatchResult,
    bots: usize,
    last: Option<MatchId>,
) -> Result<(), ResultsError> {
    check_seats(result.id, &result.seats, bots)?;
    if result.score.len() != result.seats.len() {
        return Err(ResultsError::new(result.id, "not one share a seat"));
    }
    if let Some(share) = result
        .score
        .iter()
        .find(|&&share| twelfths(share).is_none())
    {
        let what = format!("a share of {} is not that of 1 to 4 winners", share.value());
        return Err(ResultsError::new(result.id, what));
    }
    check_order(result.id, last)
}

/// Checks one game's result against the number of bots and in itself.
///
/// # Errors
/// A seat's bot that does not exist, or fields that contradict each other.
pub fn check_game(game: &GameResult, bots: usize) -> Result<(), ResultsError> {
    check_seats(game.id, &game.seats, bots)?;
    let seats = game.seats.len();
    if game.winner.is_some_and(|seat| seat >= seats)
        || game.against.is_some_and(|seat| seat >= seats)
    {
        return Err(ResultsError::new(game.id, "names a seat that is not there"));
    }
    if [&game.time_us, &game.wall_us, &game.cpu_us]
        .iter()
        .any(|times| times.len() != seats)
    {
        return Err(ResultsError::new(game.id, "not one time a seat"));
    }
    if game.verdict.is_forfeit() && game.against.is_none() {
        return Err(ResultsError::new(game.id, "a forfeit of no seat"));
    }
    let scores = game.score.as_ref().map(Vec::len);
    let points = game.points.as_ref().map(Vec::len);
    if game.verdict != Verdict::Void && (scores, points) != (Some(seats), Some(seats)) {
        return Err(ResultsError::new(
            game.id,
            "not one score and one number of points a seat",
        ));
    }
    Ok(())
}
