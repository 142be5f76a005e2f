//! Looking a roll ahead: what the other side does with each of its 21 rolls.
//!
//! One ply, the estimate right after the own play, overlooks what a position leads to: a blot that is hit by few rolls but
//! then costs the game, or a play that leaves the other side no good roll. Two plies let the other side play every roll
//! as well as one ply can, and average over the rolls. That costs some hundred times as much, so only the plays that look
//! best at one ply are looked at.

use crate::game::tavla::{OFF, Play, Points};

use super::{Table, branches};

/// How many plays are looked at more closely.
const CANDIDATES: usize = 6;
/// A play that seems worse than the best by so many times what the game is about is none of them.
const HOPELESS: f64 = 0.25;

/// A play with the position after it and what that seems to be worth.
pub(super) struct Candidate {
    pub(super) play: Play,
    pub(super) sides: [Points; 2],
    pub(super) worth: f64,
}

/// The best of these plays when the next roll is looked at, too. `stop` is asked before each; the first is always weighed,
/// and what is left when it says yes is not.
pub(super) fn best(
    table: &Table<'_>,
    mut candidates: Vec<Candidate>,
    stop: &dyn Fn() -> bool,
) -> Option<Play> {
    // A stable sort: of equals the first listed stays first.
    candidates.sort_by(|one, two| two.worth.total_cmp(&one.worth));
    let scale = table.scale();
    let most = candidates.first()?.worth;
    candidates.truncate(CANDIDATES);
    candidates.retain(|candidate| candidate.worth >= most - HOPELESS * scale);
    let only = candidates.len() == 1;
    let mut best: Option<(f64, Play)> = None;
    for candidate in candidates {
        if only || (best.is_some() && stop()) {
            return best.map(|(_, play)| play).or(Some(candidate.play));
        }
        let worth = average(table, &candidate);
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, candidate.play));
        }
    }
    best.map(|(_, play)| play)
}

/// What a play is worth on average over the next roll.
fn average(table: &Table<'_>, candidate: &Candidate) -> f64 {
    let [own, other] = &candidate.sides;
    if own[OFF] == 15 {
        return candidate.worth;
    }
    let value = table.game.cube().value;
    branches(&table.theirs, value, other, own)
        .iter()
        .map(|(weight, chances)| weight * table.stakes.dead(&chances.reversed(), value))
        .sum()
}
