//! Statistics of results. Pure.
//!
//! - here: means with their intervals over units that are independent, Elo differences, the likelihood of superiority;
//! - [`pairs`]: the scores of paired games, and normalised Elo;
//! - [`sign_flip`]: an exact test that asks for no distribution;
//! - [`sprt`]: the sequential test of a gate;
//! - [`rates`]: draws, wide wins and the cube, the advantage of the first move;
//! - [`repeats`]: games that are copies of each other;
//! - [`crosstable`]: who scored what against whom.

pub mod crosstable;
pub mod pairs;
pub mod rates;
pub mod repeats;
pub mod sign_flip;
pub mod sprt;
mod student;
mod sums;

pub use student::{normal_cdf, student_95, student_cdf};
pub use sums::Sums;

/// Observations that belong together: the games played on the same chance, or a single game. Units are independent of
/// each other, the observations of one unit need not be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unit {
    /// The sum of the observations.
    pub sum: f64,
    /// How many there are.
    pub count: u32,
}

impl Unit {
    /// Adds an observation.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }
}

/// A mean, and where it lies with 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of all observations.
    pub mean: f64,
    /// Where the true mean lies with 95 %; `None` while there are fewer than two units.
    pub interval: Option<[f64; 2]>,
    /// Units that were observed.
    pub units: usize,
}

/// The mean of all observations, with Student's interval over the units; `None` without observations. [`Sums`] says how.
pub fn mean(units: &[Unit]) -> Option<Estimate> {
    let mut sums = Sums::default();
    units.iter().for_each(|&unit| sums.add(unit));
    sums.estimate()
}

/// The score (0 to 1) that is expected at this difference in Elo points: the inverse of [`elo_difference`].
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, -elo / 400.0))
}

/// The difference in Elo points that makes this score (0 to 1) the expected one: 400 log10(s / (1 - s)), from the logistic
/// curve of A. E. Elo's system. Infinite at 0 and 1.
pub fn elo_difference(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    400.0 * libm::log10(score / (1.0 - score))
}

impl Estimate {
    /// The probability, as the units tell it, that the true mean is above `level`: the likelihood of superiority, where the
    /// mean is a score and the level 1/2. `None` while there are fewer than two units.
    ///
    /// It is Student's distribution at (mean - level) / standard error, taken for what is believed of the mean. Where all units say the
    /// same their spread is not known; that n of n are above is then believed to come of more units above than below with 1 - 2^-(n + 1)
    /// (T. Bayes's rule with all shares equally likely before).
    pub fn likelihood_above(self, level: f64) -> Option<f64> {
        if self.units < 2 {
            return None;
        }
        let above = self.mean - level;
        if above == 0.0 {
            return Some(0.5);
        }
        let degrees = self.units as u64 - 1;
        Some(match self.if_spread().interval {
            Some([low, high]) => {
                let error = (high - low) / 2.0 / student_95(degrees);
                student_cdf(above / error, degrees)
            }
            None => {
                let doubt = libm::exp2(-(degrees as f64 + 2.0));
                if above > 0.0 { 1.0 - doubt } else { doubt }
            }
        })
    }

    /// The same without an interval where all units said the same: how far they spread is not known then, and an interval without width
    /// would pretend to know the mean exactly.
    #[must_use]
    pub fn if_spread(self) -> Estimate {
        Estimate {
            interval: self.interval.filter(|[low, high]| low < high),
            ..self
        }
    }

    /// The Elo difference of an estimated score, its interval taken end by end.
    pub fn elo(self) -> Estimate {
        Estimate {
            mean: elo_difference(self.mean),
            interval: self.interval.map(|ends| ends.map(elo_difference)),
            units: self.units,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(values: &[f64]) -> Unit {
        let mut unit = Unit::default();
        values.iter().for_each(|&value| unit.add(value));
        unit
    }

    fn singles(values: &[f64]) -> Vec<Unit> {
        values.iter().map(|&value| unit(&[value])).collect()
    }

    #[track_caller]
    fn assert_near(found: f64, right: f64, tolerance: f64) {
        assert!((found - right).abs() <= tolerance, "{found}, not {right}");
    }

    /// Student (W. S. Gosset), "The probable error of a mean", 1908, section IX: the additional hours of sleep of ten
    /// patients. The textbook interval of the paired differences is 0.70 to 2.46.
    #[test]
    fn students_sleep_data() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let differences: Vec<f64> = second.iter().zip(first).map(|(b, a)| b - a).collect();
        let found = mean(&singles(&differences)).expect("ten units");
        let [low, high] = found.interval.expect("ten units");
        assert_near(found.mean, 1.58, 1e-12);
        assert_near(low, 0.700_114_2, 1e-6);
        assert_near(high, 2.459_885_8, 1e-6);
        assert_eq!(found.units, 10);
    }

    #[test]
    fn units_of_one_size_are_as_good_as_their_means() {
        let pairs = [[2.0, -1.0], [1.0, 1.0], [-4.0, 2.0], [1.0, -2.0]];
        let whole: Vec<Unit> = pairs.iter().map(|pair| unit(pair)).collect();
        let means = singles(&pairs.map(|[a, b]| (a + b) / 2.0));
        let (whole, means) = (mean(&whole).expect("four"), mean(&means).expect("four"));
        assert_near(whole.mean, means.mean, 1e-12);
        let (a, b) = (whole.interval.expect("four"), means.interval.expect("four"));
        assert_near(a[0], b[0], 1e-12);
        assert_near(a[1], b[1], 1e-12);
    }

    /// Two games on the same dice that always cancel say exactly that the mean is 0.
    #[test]
    fn pairs_that_cancel_leave_no_doubt() {
        let pairs = [unit(&[4.0, -4.0]), unit(&[1.0, -1.0]), unit(&[-2.0, 2.0])];
        let found = mean(&pairs).expect("three units");
        assert_eq!((found.mean, found.interval), (0.0, Some([0.0, 0.0])));
    }

    #[test]
    fn a_single_unit_has_no_interval_and_none_no_mean() {
        let one = mean(&[unit(&[1.0, 2.0])]).expect("one unit");
        assert_eq!((one.mean, one.interval, one.units), (1.5, None, 1));
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[Unit::default()]), None);
    }

    #[test]
    fn units_that_all_say_the_same_tell_nothing_of_their_spread() {
        let even = [unit(&[1.0, 0.0]), unit(&[0.0, 1.0])];
        let alike = mean(&even).expect("two").if_spread();
        assert_eq!((alike.mean, alike.interval), (0.5, None));
        assert_eq!(alike.likelihood_above(0.5), Some(0.5));
        // Two of two: 1 - 1/8.
        let won = mean(&singles(&[1.0, 1.0])).expect("two");
        assert_eq!(won.likelihood_above(0.5), Some(0.875));
        assert_eq!(won.if_spread().likelihood_above(0.5), Some(0.875));
        let lost = mean(&singles(&[0.0; 9])).expect("nine");
        assert_eq!(lost.likelihood_above(0.5), Some(1.0 / 1024.0));
        assert_eq!(
            mean(&singles(&[1.0])).expect("one").likelihood_above(0.5),
            None
        );
        let mixed = mean(&singles(&[1.0, 0.0])).expect("two");
        assert_eq!(mixed.if_spread(), mixed);
    }

    /// The interval of unequal units against the delete-one jackknife, an independent way to the same variance.
    #[test]
    fn unequal_units_agree_with_the_jackknife() {
        let mut seed = 12345u64;
        let mut units = Vec::new();
        for _ in 0..400 {
            let mut one = Unit::default();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for _ in 0..1 + (seed >> 60) % 4 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                one.add((seed >> 58) as f64 - 30.0);
            }
            units.push(one);
        }
        let found = mean(&units).expect("many units");
        let without = |left_out: usize| {
            let mut rest = units.clone();
            rest.remove(left_out);
            mean(&rest).expect("many units").mean
        };
        let k = units.len() as f64;
        let means: Vec<f64> = (0..units.len()).map(without).collect();
        let center = means.iter().sum::<f64>() / k;
        let spread: f64 = means.iter().map(|m| (m - center) * (m - center)).sum();
        let jackknife = (spread * (k - 1.0) / k).sqrt();
        let [low, high] = found.interval.expect("many units");
        let ours = (high - low) / 2.0 / student_95(units.len() as u64 - 1);
        assert!((ours / jackknife - 1.0).abs() < 0.01, "{ours} {jackknife}");
    }

    /// The expected scores of the table that chess federations publish: 200 points are 0.76, 400 points 0.91.
    #[test]
    fn elo_differences() {
        assert_near(elo_difference(0.5), 0.0, 1e-12);
        assert_near(elo_difference(0.75), 190.848_5, 1e-4);
        assert_near(elo_difference(10.0 / 11.0), 400.0, 1e-9);
        assert_near(elo_difference(0.25), -elo_difference(0.75), 1e-9);
        assert_near(expected_score(200.0), 0.76, 0.001);
        assert_near(expected_score(-400.0), 1.0 / 11.0, 1e-12);
        assert_eq!(elo_difference(1.0), f64::INFINITY);
        assert_eq!(elo_difference(0.0), f64::NEG_INFINITY);
        let score = Estimate {
            mean: 0.75,
            interval: Some([0.5, 1.2]),
            units: 4,
        };
        assert_eq!(score.elo().interval, Some([0.0, f64::INFINITY]));
    }
}
