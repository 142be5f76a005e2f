//! Whether the leader of an event is clear.
//!
//! The leader is the bot with the best mean score. It is clear of another bot if the difference of their mean scores is above 0 with
//! the confidence asked for: a one-sided test on the units (pairs of matches where they are paired) of both, whose variances add. The error is
//! divided by the number of the other bots and of the looks ([`LOOKS`]), so that the whole errs no more often than allowed (C. E. Bonferroni).

use std::collections::BTreeMap;

use crate::event::{MatchId, MatchResult, Slot};
use crate::stats::{Estimate, Sums, Unit, student_95, student_cdf};

/// How often an event looks, at most: each time that another tenth of its matches is over.
pub const LOOKS: usize = 9;

/// The leader, if it is clear of all others with this confidence.
pub fn leader<'a>(
    bots: usize,
    matches: impl IntoIterator<Item = &'a MatchResult>,
    paired: bool,
    confidence: f64,
) -> Option<Slot> {
    let all: Vec<Slot> = (0..bots).collect();
    leader_among(&all, matches, paired, confidence)
}

/// The same among these bots only.
pub fn leader_among<'a>(
    slots: &[Slot],
    matches: impl IntoIterator<Item = &'a MatchResult>,
    paired: bool,
    confidence: f64,
) -> Option<Slot> {
    let bots = slots.len();
    let mut units: BTreeMap<(Slot, MatchId), Unit> = BTreeMap::new();
    for result in matches {
        let mut unit = result.id;
        if paired {
            unit.number = unit.number.div_ceil(result.seats.len() as u32);
        }
        for (&slot, share) in result.seats.iter().zip(&result.score) {
            units.entry((slot, unit)).or_default().add(share.value());
        }
    }
    // One even unit before the first: bots that only win or lose would seem to leave no doubt after two matches.
    let mut even = Sums::default();
    even.add(Unit { sum: 0.5, count: 1 });
    let mut sums = vec![even; bots];
    for ((slot, _), unit) in units {
        if let Some(place) = slots.iter().position(|&other| other == slot) {
            sums[place].add(unit);
        }
    }
    let scores: Vec<Estimate> = sums.iter().map(Sums::estimate).collect::<Option<_>>()?;
    if scores.iter().any(|score| score.units < 2) {
        return None;
    }
    let best = (0..bots).max_by(|&a, &b| scores[a].mean.total_cmp(&scores[b].mean))?;
    let error = (1.0 - confidence) / (bots.saturating_sub(1).max(1) * LOOKS) as f64;
    let is_clear = |other: Slot| {
        let above = scores[best].mean - scores[other].mean;
        let (Some(one), Some(two)) = (squared_error(scores[best]), squared_error(scores[other]))
        else {
            return false;
        };
        let spread = (one + two).sqrt();
        let degrees = scores[best].units.min(scores[other].units) as u64 - 1;
        above > 0.0 && student_cdf(-above / spread, degrees) <= error
    };
    (0..bots)
        .filter(|&other| other != best)
        .all(is_clear)
        .then_some(slots[best])
}

/// The square of the standard error of an estimate.
fn squared_error(estimate: Estimate) -> Option<f64> {
    let [low, high] = estimate.interval?;
    let error = (high - low) / 2.0 / student_95(estimate.units as u64 - 1);
    Some(error * error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Share;
    use crate::tournament::round_robin;

    /// A round robin in which this bot wins so many of every ten pairs, and the others draw among themselves.
    fn results(bots: usize, games: u32, best: Slot, of_ten: u32) -> Vec<MatchResult> {
        round_robin::schedule(bots, 2, games, true, 1)
            .iter()
            .map(|pairing| {
                let seat = pairing.seats.iter().position(|&slot| slot == best);
                let mut score = vec![Share::HALF; 2];
                if let Some(seat) = seat {
                    let wins = pairing.pair % 10 < of_ten;
                    score[seat] = if wins { Share::WIN } else { Share::LOSS };
                    score[1 - seat] = if wins { Share::LOSS } else { Share::WIN };
                }
                MatchResult {
                    id: pairing.id,
                    seats: pairing.seats.clone(),
                    score,
                    series: vec![0.0; 2],
                    games: 1,
                }
            })
            .collect()
    }

    #[test]
    fn a_leader_is_clear_after_enough_matches_and_not_before() {
        let clear = |games| leader(4, &results(4, games, 2, 8), true, 0.99);
        assert_eq!(clear(2), None);
        assert_eq!(clear(4), None);
        assert_eq!(clear(200), Some(2));
    }

    #[test]
    fn equal_bots_have_no_clear_leader() {
        assert_eq!(leader(4, &results(4, 200, 2, 5), true, 0.95), None);
        assert_eq!(leader(4, &[], true, 0.95), None);
        assert_eq!(leader(0, &[], true, 0.95), None);
    }

    /// Equal bots by chance: a leader is declared no more often than allowed, over all looks.
    #[test]
    fn equal_bots_are_told_apart_no_more_often_than_allowed() {
        let mut seed = 1u64;
        let mut toss = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40).is_multiple_of(2)
        };
        let (events, confidence) = (200, 0.9);
        let mut declared = 0;
        for _ in 0..events {
            let mut all = results(4, 40, 9, 0);
            for result in &mut all {
                let first = toss();
                result.score = if first {
                    vec![Share::WIN, Share::LOSS]
                } else {
                    vec![Share::LOSS, Share::WIN]
                };
            }
            let looks = 1..=LOOKS;
            let seen =
                |look: usize| leader(4, &all[..all.len() * look / 10], true, confidence).is_some();
            declared += u32::from(looks.into_iter().any(seen));
        }
        // 99 % of the time at most 31 of 200 where each errs with 0.1.
        assert!(declared <= 31, "{declared}");
    }
}
