//! The sequential test of a gate: a generalised sequential probability ratio test (A. Wald, "Sequential Analysis", 1947; for
//! hypotheses about a mean of unknown distribution M. Van den Bergh, "A practical introduction to the GSPRT", 2020).
//!
//! Two hypotheses about how much better a candidate is than the baseline are weighed against each other while games are
//! played. After each unit, a pair of games or a game without a partner, the logarithm of the likelihood ratio says how much better the
//! second explains all that was seen, each with the distribution that explains it best among those that fulfil the hypothesis.
//! Once the ratio leaves the bounds the test is over. The probability to accept a candidate of the first strength is then alpha
//! at most, and to reject one of the second beta at most, as nearly as the approximation goes; a test of the whole by
//! simulation holds it to that.
//!
//! Which units are evidence, what copies are and what a forfeit is, is told in [`crate::tournament::gate`].

use super::expected_score;
use super::pairs::NORMALISED_SCALE;

/// What the hypotheses are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The Elo difference of the logistic curve: a mean score.
    Logistic,
    /// The normalised Elo difference: the mean score above 1/2 in standard deviations of a game.
    Normalised,
    /// The mean of the points won less the points lost, a game.
    Points,
}

impl Scale {
    /// The word in data and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scale::Logistic => "logistic",
            Scale::Normalised => "normalised",
            Scale::Points => "points",
        }
    }
}

/// What a test is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    scale: Scale,
    hypotheses: [f64; 2],
    alpha: f64,
    beta: f64,
}

/// Why there is no such test.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TestError {
    /// The hypotheses do not stand in order.
    #[error("the hypotheses are {0} and {1}; both must be numbers, and the second the greater one")]
    Hypotheses(f64, f64),
    /// A hypothesis is outside of what can be.
    #[error("a difference of {0} Elo points cannot be tested; -2000 to 2000 can")]
    Elo(f64),
    /// An error probability is not possible.
    #[error("{0} is {1}; it must be a number above 0 and below 0.5")]
    Probability(&'static str, f64),
}

/// What a test has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The second hypothesis holds: the candidate is as good as it says.
    Accepted,
    /// The first holds.
    Rejected,
    /// Neither yet.
    Open,
}

impl Test {
    /// A test of these hypotheses: points of Elo, or points a game.
    ///
    /// # Errors
    /// Hypotheses or error probabilities that are not possible.
    pub fn new(
        scale: Scale,
        hypotheses: [f64; 2],
        alpha: f64,
        beta: f64,
    ) -> Result<Test, TestError> {
        let [h0, h1] = hypotheses;
        if !(h0.is_finite() && h1.is_finite() && h0 < h1) {
            return Err(TestError::Hypotheses(h0, h1));
        }
        if scale != Scale::Points
            && let Some(&elo) = hypotheses.iter().find(|elo| elo.abs() > 2000.0)
        {
            return Err(TestError::Elo(elo));
        }
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value < 0.5) {
                return Err(TestError::Probability(name, value));
            }
        }
        Ok(Test {
            scale,
            hypotheses,
            alpha,
            beta,
        })
    }

    /// What the hypotheses are about.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The hypotheses.
    pub fn hypotheses(&self) -> [f64; 2] {
        self.hypotheses
    }

    /// The probabilities to err: alpha, to accept where the first hypothesis holds, and beta, to reject where the second does.
    pub fn errors(&self) -> [f64; 2] {
        [self.alpha, self.beta]
    }

    /// The bounds of the log-likelihood ratio: ln(beta / (1 - alpha)) and ln((1 - beta) / alpha).
    pub fn bounds(&self) -> [f64; 2] {
        [
            libm::log(self.beta / (1.0 - self.alpha)),
            libm::log((1.0 - self.beta) / self.alpha),
        ]
    }

    /// The log-likelihood ratio of the second hypothesis to the first; 0 for no unit.
    pub fn llr(&self, sample: &Sample) -> f64 {
        let units = sample.units;
        if units == 0 {
            return 0.0;
        }
        let seen = sample.distribution(self);
        let total: f64 = seen.iter().map(|&(_, weight)| weight).sum();
        let under = |hypothesis: f64| match self.scale {
            Scale::Logistic => most_likely(&seen, expected_score(hypothesis)),
            Scale::Points => most_likely(&seen, hypothesis),
            Scale::Normalised => {
                let t = hypothesis / NORMALISED_SCALE * f64::from(sample.games_a_unit).sqrt();
                most_likely_by_t(&seen, 0.5, t)
            }
        };
        let [p0, p1] = self.hypotheses.map(under);
        let ratio: f64 = seen
            .iter()
            .zip(p0.iter().zip(&p1))
            .map(|(&(_, weight), (p0, p1))| weight * libm::log(p1 / p0))
            .sum();
        debug_assert!(total >= units as f64 - 1.0);
        ratio
    }

    /// What the test comes to at this log-likelihood ratio.
    pub fn decide(&self, llr: f64) -> Decision {
        let [low, high] = self.bounds();
        if llr >= high {
            Decision::Accepted
        } else if llr <= low {
            Decision::Rejected
        } else {
            Decision::Open
        }
    }
}

/// The units that were observed, by value: the mean of a unit's games.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    games_a_unit: u32,
    units: u64,
    /// Each value with its count, ascending.
    values: Vec<(f64, u64)>,
}

impl Sample {
    /// No units yet, which have so many games each: two in pairs, else one.
    pub fn new(games_a_unit: u32) -> Sample {
        Sample {
            games_a_unit: games_a_unit.max(1),
            units: 0,
            values: Vec::new(),
        }
    }

    /// Adds a unit by the mean of its games: of scores from 0 to 1, or of points. What is no number is left out.
    pub fn add(&mut self, value: f64) {
        self.add_times(value, 1);
    }

    /// Adds so many units of this value.
    pub fn add_times(&mut self, value: f64, times: u64) {
        if !value.is_finite() {
            return;
        }
        self.units += times;
        match self
            .values
            .binary_search_by(|(known, _)| known.total_cmp(&value))
        {
            Ok(place) => self.values[place].1 += times,
            Err(place) => self.values.insert(place, (value, times)),
        }
    }

    /// Units added.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Each value seen with its count, ascending.
    pub fn values(&self) -> &[(f64, u64)] {
        &self.values
    }

    /// The values that can be, with their counts. One that was not seen counts as much as [`UNSEEN`], so that no hypothesis is
    /// impossible.
    fn distribution(&self, test: &Test) -> Vec<(f64, f64)> {
        let mut seen: Vec<(f64, f64)> = self
            .values
            .iter()
            .map(|&(value, count)| (value, count as f64))
            .collect();
        let mut also = |value: f64| {
            if let Err(place) = seen.binary_search_by(|(known, _)| known.total_cmp(&value)) {
                seen.insert(place, (value, UNSEEN));
            }
        };
        if test.scale == Scale::Points {
            // Points have no end; what the hypotheses say and the opposite of all that was seen is possible.
            let largest = self
                .values
                .iter()
                .map(|(value, _)| value.abs())
                .chain(test.hypotheses.map(|points| points.abs() + 1.0))
                .fold(1.0, f64::max);
            also(-largest);
            also(0.0);
            also(largest);
        } else {
            let steps = 2 * self.games_a_unit;
            (0..=steps).for_each(|step| also(f64::from(step) / f64::from(steps)));
        }
        seen
    }
}

/// What a value that was not seen counts, in units.
const UNSEEN: f64 = 1e-3;

/// The probabilities of the distribution with this mean that makes the sample most likely: w / (1 + x (a - mean)) each,
/// where x solves sum of w (a - mean) / (1 + x (a - mean)) = 0 (A. B. Owen, "Empirical likelihood", 1988).
fn most_likely(seen: &[(f64, f64)], mean: f64) -> Vec<f64> {
    let moved: Vec<(f64, f64)> = seen
        .iter()
        .map(|&(value, weight)| (value - mean, weight))
        .collect();
    tilted(&moved)
}

/// The same for a given t: the mean above `center`, in standard deviations of the distribution itself. The condition is
/// made linear at the distribution found last, until that does not change any more (M. Van den Bergh, "Normalized Elo: practical
/// issues", section 4.1).
fn most_likely_by_t(seen: &[(f64, f64)], center: f64, t: f64) -> Vec<f64> {
    let mut found = vec![1.0 / seen.len() as f64; seen.len()];
    for _ in 0..50 {
        let mean: f64 = seen.iter().zip(&found).map(|(&(a, _), p)| a * p).sum();
        let variance: f64 = seen
            .iter()
            .zip(&found)
            .map(|(&(a, _), p)| (a - mean) * (a - mean) * p)
            .sum();
        let deviation = variance.sqrt();
        let moved: Vec<(f64, f64)> = seen
            .iter()
            .map(|&(a, weight)| {
                let z = (mean - a) / deviation;
                (a - center - t * deviation * (1.0 + z * z) / 2.0, weight)
            })
            .collect();
        let next = tilted(&moved);
        let change = next
            .iter()
            .zip(&found)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        found = next;
        if change < 1e-11 {
            break;
        }
    }
    found
}

/// Probabilities w / (1 + x a), scaled to 1, with the x that makes the mean of `a` 0.
fn tilted(moved: &[(f64, f64)]) -> Vec<f64> {
    let total: f64 = moved.iter().map(|&(_, weight)| weight).sum();
    let least = moved.iter().map(|&(a, _)| a).fold(f64::INFINITY, f64::min);
    let most = moved
        .iter()
        .map(|&(a, _)| a)
        .fold(f64::NEG_INFINITY, f64::max);
    // Outside of these some probability is negative. Where 0 is no inner point there is no such distribution: the nearest there is.
    let (mut low, mut high) = if least < 0.0 && most > 0.0 {
        (-1.0 / most, -1.0 / least)
    } else {
        (0.0, 0.0)
    };
    // The mean falls as x grows.
    let mean_and_slope = |x: f64| {
        let mut mean = 0.0;
        let mut slope = 0.0;
        for &(a, weight) in moved {
            let part = a / (1.0 + x * a);
            mean += weight * part;
            slope -= weight * part * part;
        }
        (mean, slope)
    };
    let mut x = 0.0;
    // Newton's steps, halving where one would leave the bracket.
    for _ in 0..200 {
        let (mean, slope) = mean_and_slope(x);
        if mean > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let step = x - mean / slope;
        let next = if step > low && step < high {
            step
        } else {
            f64::midpoint(low, high)
        };
        let moves = (next - x).abs();
        x = next;
        if moves <= 1e-14 * (1.0 + x.abs()) {
            break;
        }
    }
    let parts: Vec<f64> = moved
        .iter()
        .map(|&(a, weight)| weight / total / (1.0 + x * a))
        .collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

#[cfg(test)]
mod tests;
