//! Ratings over many periods: anchors, what was expected, the way of each bot. Pure.

use super::{Counts, Rating, RatingError, Score, rate_counts};

/// The deviation of an anchor: its rating is known.
const ANCHOR_DEVIATION: f64 = 1.0;

/// What a period did to a bot that played in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The period, from 0.
    pub period: usize,
    /// The rating after it.
    pub rating: Rating,
    /// Matches in it.
    pub played: u32,
    /// What the bot scored.
    pub score: f64,
    /// What was expected of it, by the ratings before the period.
    pub expected: f64,
}

/// Ratings over periods.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The rating of each bot after the last period.
    pub ratings: Vec<Rating>,
    /// The periods in which each bot played.
    pub steps: Vec<Vec<Step>>,
    /// How well results were predicted.
    pub check: Check,
}

/// Predictions against results, over matches that were rated with ratings from before their period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Check {
    /// Matches.
    pub matches: u32,
    /// The mean of the squared differences between predicted and actual score of a match (G. W. Brier, 1950): 0 is perfect; who
    /// always says 1/2 has at most 1/4.
    pub brier: f64,
    /// The same for who always says 1/2.
    pub of_even: f64,
}

/// The score that is expected of `a` against `b`: E of Glickman's paper with the deviations of both, as for a prediction
/// ("The Glicko system", formula 16 of the example).
pub fn expected(a: Rating, b: Rating) -> f64 {
    let q = std::f64::consts::LN_10 / 400.0;
    let deviation = a.deviation * a.deviation + b.deviation * b.deviation;
    let pi2 = std::f64::consts::PI * std::f64::consts::PI;
    let g = (1.0 + 3.0 * q * q * deviation / pi2).sqrt().recip();
    1.0 / (1.0 + libm::pow(10.0, -g * (a.value - b.value) / 400.0))
}

/// Rates so many bots over these periods, in order. All start new, but for anchors (rating by bot), which never change. A bot
/// that does not play in a period grows less certain, from its first period on.
///
/// # Errors
/// As [`rate_counts`].
pub fn rate(
    bots: usize,
    periods: &[Vec<Counts>],
    anchors: &[Option<f64>],
    tau: f64,
) -> Result<History, RatingError> {
    let anchor = |bot: usize| anchors.get(bot).copied().flatten();
    let start = |bot: usize| match anchor(bot) {
        Some(value) => Rating {
            value,
            deviation: ANCHOR_DEVIATION,
            ..Rating::NEW
        },
        None => Rating::NEW,
    };
    let mut ratings: Vec<Rating> = (0..bots).map(start).collect();
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); bots];
    let mut check = Check::default();
    let (mut brier, mut of_even) = (0.0, 0.0);
    for (period, encounters) in periods.iter().enumerate() {
        let mut in_period = vec![(0u32, 0.0, 0.0); bots];
        for &counts in encounters {
            let Counts {
                a,
                b,
                won,
                drawn,
                lost,
            } = counts;
            if let Some(&bot) = [a, b].iter().find(|&&bot| bot >= bots) {
                return Err(RatingError::UnknownBot { bot, bots });
            }
            let likely = expected(ratings[a], ratings[b]);
            let all = won + drawn + lost;
            let (played, scored) = (f64::from(all), f64::from(won) + f64::from(drawn) / 2.0);
            for (bot, score, likely) in [(a, scored, likely), (b, played - scored, 1.0 - likely)] {
                in_period[bot].0 += all;
                in_period[bot].1 += score;
                in_period[bot].2 += likely * played;
            }
            for (count, score) in [(won, Score::Win), (drawn, Score::Draw), (lost, Score::Loss)] {
                let off = score.value() - likely;
                let off_even = score.value() - 0.5;
                brier += f64::from(count) * off * off;
                of_even += f64::from(count) * off_even * off_even;
                check.matches += count;
            }
        }
        let before = ratings;
        ratings = rate_counts(encounters, &before, tau)?;
        for bot in 0..bots {
            let is_known = in_period[bot].0 > 0 || !steps[bot].is_empty();
            if anchor(bot).is_some() || !is_known {
                ratings[bot] = before[bot];
            }
            let (played, score, expected) = in_period[bot];
            if played > 0 {
                steps[bot].push(Step {
                    period,
                    rating: ratings[bot],
                    played,
                    score,
                    expected,
                });
            }
        }
    }
    if check.matches > 0 {
        check.brier = brier / f64::from(check.matches);
        check.of_even = of_even / f64::from(check.matches);
    }
    Ok(History {
        ratings,
        steps,
        check,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::{DEFAULT_TAU, Meeting, Period};

    fn met(a: usize, b: usize, won: u32, drawn: u32, lost: u32) -> Counts {
        Counts {
            a,
            b,
            won,
            drawn,
            lost,
        }
    }

    #[track_caller]
    fn assert_near(found: f64, right: f64, tolerance: f64) {
        assert!((found - right).abs() <= tolerance, "{found}, not {right}");
    }

    /// Glickman, "The Glicko system", the example at formula 16: 1400 with deviation 80 against 1500 with deviation 150 is expected to
    /// score 0.376.
    #[test]
    fn the_published_prediction() {
        let rating = |value, deviation| Rating {
            value,
            deviation,
            ..Rating::NEW
        };
        assert_near(
            expected(rating(1400.0, 80.0), rating(1500.0, 150.0)),
            0.376,
            0.0005,
        );
        assert_near(
            expected(rating(1500.0, 150.0), rating(1400.0, 80.0)),
            0.624,
            0.0005,
        );
    }

    #[test]
    fn one_period_is_rated_as_always() {
        let results = [(Score::Win, 3), (Score::Draw, 1), (Score::Loss, 2)];
        let meetings = results
            .iter()
            .flat_map(|&(score, times)| (0..times).map(move |_| Meeting { a: 0, b: 1, score }))
            .collect();
        let right = Period { results: meetings }
            .rate(&[Rating::NEW; 2], DEFAULT_TAU)
            .expect("possible");
        let found = rate(2, &[vec![met(0, 1, 3, 1, 2)]], &[], DEFAULT_TAU).expect("possible");
        for (found, right) in found.ratings.iter().zip(right) {
            assert_near(found.value, right.value, 1e-9);
            assert_near(found.deviation, right.deviation, 1e-9);
        }
        let step = found.steps[0][0];
        assert_eq!(
            (step.period, step.played, step.score, step.expected),
            (0, 6, 3.5, 3.0)
        );
    }

    #[test]
    fn anchors_stay_and_pull_the_others() {
        let periods = vec![vec![met(0, 1, 5, 0, 5)]; 4];
        let found = rate(2, &periods, &[Some(2000.0), None], DEFAULT_TAU).expect("possible");
        assert_eq!(found.ratings[0].value, 2000.0);
        assert!(found.ratings[1].value > 1900.0, "{:?}", found.ratings[1]);
        let free = rate(2, &periods, &[], DEFAULT_TAU).expect("possible");
        assert_near(free.ratings[1].value, 1500.0, 1e-6);
    }

    #[test]
    fn idle_bots_grow_less_certain_and_new_ones_stay_new() {
        let periods = [
            vec![met(0, 1, 4, 0, 4)],
            vec![],
            vec![],
            vec![met(0, 2, 1, 0, 1)],
        ];
        let after = |count: usize| {
            rate(3, &periods[..count], &[], DEFAULT_TAU)
                .expect("possible")
                .ratings
        };
        let (first, third) = (after(1), after(3));
        assert!(third[1].deviation > first[1].deviation);
        assert_eq!(third[1].value, first[1].value);
        assert_eq!(first[2], Rating::NEW);
        assert!(after(4)[2].deviation < 350.0);
        let found = rate(3, &periods, &[], DEFAULT_TAU).expect("possible");
        let steps: Vec<usize> = found.steps[0].iter().map(|step| step.period).collect();
        assert_eq!(steps, [0, 3]);
    }

    /// Predictions of bots that are rated beat the even guess; those of new bots are the even guess.
    #[test]
    fn predictions_are_checked() {
        let first = rate(2, &[vec![met(0, 1, 9, 0, 1)]], &[], DEFAULT_TAU)
            .expect("possible")
            .check;
        assert_eq!(
            (first.matches, first.brier, first.of_even),
            (10, 0.25, 0.25)
        );
        let periods = vec![vec![met(0, 1, 9, 0, 1)]; 10];
        let later = rate(2, &periods, &[], DEFAULT_TAU).expect("possible").check;
        assert!(later.brier < 0.15, "{later:?}");
        assert_eq!(
            rate(2, &[], &[], DEFAULT_TAU).expect("possible").check,
            Check::default()
        );
        assert!(rate(1, &[vec![met(0, 1, 1, 0, 0)]], &[], DEFAULT_TAU).is_err());
    }
}
