//! Ratings by Glicko-2 (Mark E. Glickman, "Example of the Glicko-2 system", revised 2022-03-22, glicko.net). Pure.
//!
//! Results are rated in periods. All results of a period count at once: every opponent enters with the rating that it had
//! before the period, and a bot that did not play in it grows less certain. Periods are folded in order.
//!
//! The method knows wins, draws and losses of two; stakes and margins have no place in it. A table of more seats enters
//! as one result for each two of them.

mod glicko2;
pub mod history;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// The largest deviation: nothing is known of a bot of this deviation, so that it grows no further.
pub const MAX_DEVIATION: f64 = 350.0;

/// How fast volatility may change, where nothing else is asked for (the paper's own example; 0.3 to 1.2 are usual).
pub const DEFAULT_TAU: f64 = 0.5;

/// The least tau that is accepted.
const MIN_TAU: f64 = 0.01;
/// The greatest tau that is accepted.
const MAX_TAU: f64 = 10.0;

/// The least and the greatest volatility that are accepted, far outside of all that occurs: the search for a new one works
/// on the logarithm of the square.
const MIN_VOLATILITY: f64 = 1e-6;
const MAX_VOLATILITY: f64 = 1e6;

/// A rating on the scale that people read (1500 is the start, 200 points are about three wins in four).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rating {
    /// The strength.
    pub value: f64,
    /// The standard deviation of the strength, in rating points, above 0 and at most [`MAX_DEVIATION`].
    pub deviation: f64,
    /// How much the strength is expected to change from period to period.
    pub volatility: f64,
}

impl Rating {
    /// A bot that has not played.
    pub const NEW: Rating = Rating {
        value: 1500.0,
        deviation: MAX_DEVIATION,
        volatility: 0.06,
    };

    /// Where the strength lies with 95 %: the value less and plus 1.96 deviations.
    pub fn interval(self) -> [f64; 2] {
        let reach = 1.96 * self.deviation;
        [self.value - reach, self.value + reach]
    }

    /// Whether these are numbers that a rating can have.
    pub fn is_possible(self) -> bool {
        self.value.is_finite()
            && self.deviation > 0.0
            && self.deviation <= MAX_DEVIATION
            && (MIN_VOLATILITY..=MAX_VOLATILITY).contains(&self.volatility)
    }
}

/// What one of two bots got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// It won.
    Win,
    /// Neither won.
    Draw,
    /// It lost.
    Loss,
}

impl Score {
    /// What the other got.
    pub const fn of_the_other(self) -> Score {
        match self {
            Score::Win => Score::Loss,
            Score::Draw => Score::Draw,
            Score::Loss => Score::Win,
        }
    }

    /// The score as a number: 1, 1/2, 0.
    pub const fn value(self) -> f64 {
        match self {
            Score::Win => 1.0,
            Score::Draw => 0.5,
            Score::Loss => 0.0,
        }
    }
}

/// One result between two bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// A bot, as a place in the list of ratings.
    pub a: usize,
    /// The other bot.
    pub b: usize,
    /// What `a` got.
    pub score: Score,
}

/// The results that are rated together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The results. Their order does not matter (but for the last bits of a sum).
    pub results: Vec<Meeting>,
}

/// Why ratings cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// The parameter tau is not usable.
    #[error("tau is {tau}; it must be a number from {MIN_TAU} to {MAX_TAU} (0.3 to 1.2 are usual)")]
    Tau {
        /// The value given.
        tau: f64,
    },
    /// A rating before the period is not possible.
    #[error(
        "bot {bot} has the rating {} with deviation {} and volatility {}; all must be finite, the deviation above 0 \
         and at most {MAX_DEVIATION}, the volatility from {MIN_VOLATILITY} to {MAX_VOLATILITY}",
        .rating.value, .rating.deviation, .rating.volatility
    )]
    Rating {
        /// The bot's place in the list.
        bot: usize,
        /// Its rating.
        rating: Rating,
    },
    /// A result names a bot that is not in the list.
    #[error("a result names bot {bot}, but there are {bots} bots, counted from 0")]
    UnknownBot {
        /// The bot named.
        bot: usize,
        /// The length of the list.
        bots: usize,
    },
    /// A bot cannot meet itself.
    #[error("a result of bot {0} against itself cannot be rated")]
    Itself(usize),
    /// The computation left the numbers or did not come to an end.
    #[error(
        "the results of bot {bot} cannot be rated: {what} (its rating and those of its opponents are too far apart)"
    )]
    NoSolution {
        /// The bot's place in the list.
        bot: usize,
        /// Which step failed.
        what: &'static str,
    },
}

/// The results between two bots, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// A bot, as a place in the list of ratings.
    pub a: usize,
    /// The other bot.
    pub b: usize,
    /// Won by `a`.
    pub won: u32,
    /// Won by neither.
    pub drawn: u32,
    /// Won by `b`.
    pub lost: u32,
}

/// As [`Period::rate`], for results that are counted: no more than the results of one bot are held at a time.
///
/// # Errors
/// As [`Period::rate`].
pub fn rate_counts(
    results: &[Counts],
    before: &[Rating],
    tau: f64,
) -> Result<Vec<Rating>, RatingError> {
    check(before, tau)?;
    let bots = before.len();
    // The places of the results of each bot.
    let mut of_bot: Vec<Vec<usize>> = vec![Vec::new(); bots];
    for (place, &Counts { a, b, .. }) in results.iter().enumerate() {
        check_meeting(a, b, bots)?;
        of_bot[a].push(place);
        of_bot[b].push(place);
    }
    let mut held = Vec::new();
    let rate_one = |(bot, places): (usize, &Vec<usize>)| {
        held.clear();
        for &place in places {
            let Counts {
                a,
                b,
                won,
                drawn,
                lost,
            } = results[place];
            let (opponent, counts) = if a == bot {
                (before[b], [won, drawn, lost])
            } else {
                (before[a], [lost, drawn, won])
            };
            for (score, times) in [Score::Win, Score::Draw, Score::Loss]
                .into_iter()
                .zip(counts)
            {
                held.extend((0..times).map(|_| (opponent, score)));
            }
        }
        glicko2::rate(before[bot], &held, tau).map_err(|what| RatingError::NoSolution { bot, what })
    };
    of_bot.iter().enumerate().map(rate_one).collect()
}

fn check(before: &[Rating], tau: f64) -> Result<(), RatingError> {
    if !(MIN_TAU..=MAX_TAU).contains(&tau) {
        return Err(RatingError::Tau { tau });
    }
    for (bot, &rating) in before.iter().enumerate() {
        if !rating.is_possible() {
            return Err(RatingError::Rating { bot, rating });
        }
    }
    Ok(())
}

fn check_meeting(a: usize, b: usize, bots: usize) -> Result<(), RatingError> {
    if let Some(&bot) = [a, b].iter().find(|&&bot| bot >= bots) {
        return Err(RatingError::UnknownBot { bot, bots });
    }
    if a == b {
        return Err(RatingError::Itself(a));
    }
    Ok(())
}

impl Period {
    /// The ratings of all bots after this period, in the order of `before`.
    ///
    /// # Errors
    /// A parameter, rating or result that is not possible, or a computation that has no finite end.
    pub fn rate(&self, before: &[Rating], tau: f64) -> Result<Vec<Rating>, RatingError> {
        check(before, tau)?;
        let mut results = vec![Vec::new(); before.len()];
        for &Meeting { a, b, score } in &self.results {
            check_meeting(a, b, before.len())?;
            results[a].push((before[b], score));
            results[b].push((before[a], score.of_the_other()));
        }
        let rate_one = |(bot, (&rating, results)): (usize, (&Rating, &Vec<_>))| {
            glicko2::rate(rating, results, tau)
                .map_err(|what| RatingError::NoSolution { bot, what })
        };
        before
            .iter()
            .zip(&results)
            .enumerate()
            .map(rate_one)
            .collect()
    }
}
