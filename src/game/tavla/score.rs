//! What a game is worth, and the score of a match (rules 6, 9 and 10).

use super::{BAR, CHECKERS, OFF, Points, TavlaOptions};
use crate::game::{Outcome, Seat, Series, Setup};

/// How far a game was won: times the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Win {
    /// 1 times the cube.
    Single = 1,
    /// Gammon: 2 times.
    Mars = 2,
    /// Backgammon: 3 times.
    KatmerliMars = 3,
}

impl Win {
    /// The reason in the result.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Win::Single => "borne_off",
            Win::Mars => "mars",
            Win::KatmerliMars => "katmerli_mars",
        }
    }

    /// The win by bearing off all checkers against this board of the loser (rule 6).
    pub(super) fn borne_off(loser: &Points) -> Win {
        if loser[OFF] > 0 {
            Win::Single
        } else if is_caught(loser) {
            Win::KatmerliMars
        } else {
            Win::Mars
        }
    }

    /// The win by the loser's forfeit (rule 10).
    pub(super) fn forfeited(winner: &Points, loser: &Points) -> Win {
        match Win::borne_off(loser) {
            Win::KatmerliMars if winner[OFF] == 0 => Win::Mars,
            win => win,
        }
    }
}

/// Whether a checker is on the bar or in the opponent's home (own points 19 to 24).
fn is_caught(side: &Points) -> bool {
    side[19..=BAR].iter().any(|&count| count > 0)
}

/// The seat that has borne off every checker.
pub(super) fn finished(checkers: &[Points; 2]) -> Option<Seat> {
    (0..2).find(|&seat| checkers[seat][OFF] == CHECKERS)
}

/// The pips that a seat has to go; a checker on the bar has 25.
pub(super) fn pips(side: &Points) -> u32 {
    side.iter()
        .zip(0..)
        .map(|(&count, point)| u32::from(count) * point)
        .sum()
}

/// Points for one seat.
pub(super) fn points_of(winner: Seat, points: u32) -> [u32; 2] {
    let mut both = [0; 2];
    both[winner] = points;
    both
}

/// The points of the games played, by seat.
pub(super) fn total(played: &[Outcome]) -> [u32; 2] {
    let mut sum = [0u32; 2];
    for outcome in played {
        for (seat, points) in sum.iter_mut().enumerate() {
            *points += outcome.points.get(seat).copied().unwrap_or(0);
        }
    }
    sum
}

/// Whether the game after these is the Crawford game: the first in which a seat needs one point (rule 9).
pub(super) fn is_crawford(options: &TavlaOptions, setup: &Setup<'_>) -> bool {
    let length = options.match_length;
    let needs_one = |games: &[Outcome]| {
        let score = total(games);
        score.iter().all(|&points| points < length) && score.contains(&(length - 1))
    };
    // A seat that needs one point needs one until the match is over: the game before tells whether it was the first.
    let before = setup.played.split_last().map(|(_, before)| before);
    length > 0 && options.crawford && needs_one(setup.played) && !before.is_some_and(needs_one)
}

/// So many games in a row without a winner end a match.
const DRAWS: usize = 3;

/// Where a match or session stands (rule 9). No game of Tavla is drawn but by a rule of the event that ends long ones; a match
/// in which every game ends so would never be won, so it is over as it stands after some of them in a row.
pub(super) fn series(options: &TavlaOptions, played: &[Outcome]) -> Series {
    let score = total(played);
    let (over, of) = if options.match_length > 0 {
        let is_won = score.iter().any(|&points| points >= options.match_length);
        let last = played.rchunks(DRAWS).next().unwrap_or_default();
        let is_stuck = last.len() == DRAWS && last.iter().all(|game| game.winner.is_none());
        (is_won || is_stuck, None)
    } else {
        (played.len() >= options.games as usize, Some(options.games))
    };
    Series {
        score: score.iter().map(|&points| f64::from(points)).collect(),
        over,
        of,
    }
}
