//! Races: positions in which no checker can be hit any more.

use arrayvec::ArrayVec;

use crate::game::tavla::{OFF, Points};

use super::eval::{Chances, for_each_roll};

/// Pips of an average roll.
const PIPS_A_ROLL: f64 = 49.0 / 6.0;
/// How many rolls the number of rolls that a race takes strays by, for each roll.
const SPREAD: f64 = 0.53;

/// The chances of the side that has just played, the other being on roll, in a race.
///
/// Kleinman's normal approximation of races, on pip counts corrected for waste: the side on roll, D pips ahead of S in
/// all, wins with the chance of a normal variable of mean D + 4 and variance 2 (S - 4) to be positive.
pub(super) fn chances(own: &Points, other: &Points) -> Chances {
    let (mine, theirs) = (effective_pips(own), effective_pips(other));
    let spread = (2.0 * (mine + theirs - 4.0)).max(2.0);
    let later = normal((mine - theirs + 4.0) / spread.sqrt());
    let at_once = off_in_one_roll(other);
    let their_win = at_once + (1.0 - at_once) * (1.0 - off_in_one_roll(own)) * later;
    Chances {
        win: 1.0 - their_win,
        // The other side rolls first: it has as many rolls as I have.
        gammon: gammon(mine, other, 0.0).min(1.0 - their_win),
        gammon_loss: gammon(theirs, own, 1.0).min(their_win),
    }
}

/// The chance that the loser bears off no checker while the winner bears off all, of which it has so many effective
/// pips; `behind`: the rolls that the loser has less than the winner.
fn gammon(winner_pips: f64, loser: &Points, behind: f64) -> f64 {
    if loser[OFF] > 0 {
        return 0.0;
    }
    let rolls = (winner_pips + 7.0) / PIPS_A_ROLL - behind;
    let needed = pips_to_save(loser) / PIPS_A_ROLL + 0.5;
    normal((needed - rolls) / (SPREAD * (rolls.max(0.0) + needed).sqrt()))
}

/// The pips that bring all checkers home and one of them off.
fn pips_to_save(side: &Points) -> f64 {
    let last = (1..=6).find(|&point| side[point] > 0).unwrap_or(6);
    f64::from(outside_pips(side)) + last as f64
}

/// The pips that bring all checkers home.
pub(super) fn outside_pips(side: &Points) -> u32 {
    side.iter()
        .zip(0u32..)
        .map(|(&count, point)| u32::from(count) * point.saturating_sub(6))
        .sum()
}

/// The chance that one roll bears off all checkers.
fn off_in_one_roll(side: &Points) -> f64 {
    let mut left = ArrayVec::<u8, 4>::new();
    for (place, &count) in side.iter().enumerate().skip(1).rev() {
        for _ in 0..count {
            if left.try_push(place as u8).is_err() {
                return 0.0;
            }
        }
    }
    let mut chance = 0.0;
    for_each_roll(|high, low, weight| {
        let is_off = match *left {
            _ if high == low => left.iter().map(|&place| place.div_ceil(high)).sum::<u8>() <= 4,
            [last] => last <= high + low,
            [higher, lower] => higher <= high && lower <= low,
            _ => false,
        };
        chance += if is_off { weight } else { 0.0 };
    });
    chance
}

/// The pip count with pips added for what bearing off wastes: checkers heaped on low points and gaps on high ones (as
/// in Keith's count), and never less than two checkers a roll take.
fn effective_pips(side: &Points) -> f64 {
    let pips: u32 = side
        .iter()
        .zip(0u32..)
        .map(|(&count, point)| u32::from(count) * point)
        .sum();
    let above = |point: usize, free: u8| f64::from(side[point].saturating_sub(free));
    let heaped = 2.0 * above(1, 1) + above(2, 1) + above(3, 3);
    let left = 15 - side[OFF];
    let gaps = if left >= 6 {
        (4..=6).filter(|&point| side[point] == 0).count() as f64
    } else {
        0.0
    };
    (f64::from(pips) + heaped + gaps).max(3.6 * f64::from(left) - 6.0)
}

/// The distribution function of the standard normal.
fn normal(x: f64) -> f64 {
    0.5 * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))
}
