//! Sums over units, from which a mean and its interval follow: nothing of a unit has to be kept.

use super::{Estimate, Unit, student_95};

/// Sums over units. All are exact where the observations are whole numbers or quarters, as scores and points are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    units: u64,
    n: f64,
    x: f64,
    nn: f64,
    nx: f64,
    xx: f64,
}

impl Sums {
    /// Adds a unit; one without observations adds nothing.
    pub fn add(&mut self, unit: Unit) {
        self.add_times(unit, 1);
    }

    /// Adds so many equal units.
    pub fn add_times(&mut self, unit: Unit, times: u64) {
        if unit.count == 0 {
            return;
        }
        let (n, x, times_f) = (f64::from(unit.count), unit.sum, times as f64);
        self.units += times;
        self.n += times_f * n;
        self.x += times_f * x;
        self.nn += times_f * n * n;
        self.nx += times_f * n * x;
        self.xx += times_f * x * x;
    }

    /// Adds what was summed elsewhere.
    pub fn merge(&mut self, other: &Sums) {
        self.units += other.units;
        self.n += other.n;
        self.x += other.x;
        self.nn += other.nn;
        self.nx += other.nx;
        self.xx += other.xx;
    }

    /// Units that were added.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Observations in them.
    pub fn count(&self) -> f64 {
        self.n
    }

    /// The sum of the observations.
    pub fn total(&self) -> f64 {
        self.x
    }

    /// The same seen from the other side of a zero-sum: every observation `x` is `whole - x`.
    pub fn turned(&self, whole: f64) -> Sums {
        Sums {
            units: self.units,
            n: self.n,
            x: whole * self.n - self.x,
            nn: self.nn,
            nx: whole * self.nn - self.nx,
            xx: whole * whole * self.nn - 2.0 * whole * self.nx + self.xx,
        }
    }

    /// The mean of all observations, with Student's interval over the units; `None` without observations.
    ///
    /// With units of one size it is the interval of the mean of the units' means. In general it is the ratio of two totals,
    /// whose variance is that of the residuals x - R n (W. G. Cochran, "Sampling Techniques", 3rd ed., section 2.11):
    ///
    /// ```text
    /// R = sum x / sum n        var R = k / (k - 1) * sum (x - R n)^2 / (sum n)^2        k units, k - 1 degrees of freedom
    /// ```
    pub fn estimate(&self) -> Option<Estimate> {
        if self.units == 0 {
            return None;
        }
        let mean = self.x / self.n;
        let interval = (self.units > 1).then(|| {
            let reach = student_95(self.units - 1) * self.variance().sqrt();
            [mean - reach, mean + reach]
        });
        Some(Estimate {
            mean,
            interval,
            units: usize::try_from(self.units).unwrap_or(usize::MAX),
        })
    }

    /// The variance of the mean; needs two units.
    fn variance(&self) -> f64 {
        let k = self.units as f64;
        let mean = self.x / self.n;
        let squares = self.xx - 2.0 * mean * self.nx + mean * mean * self.nn;
        // What is left of sums that cancel is the rounding of their last bits.
        let squares = if squares <= 1e-12 * self.xx {
            0.0
        } else {
            squares
        };
        k / (k - 1.0) * squares / (self.n * self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(units: &[(f64, u32)]) -> Sums {
        let mut sums = Sums::default();
        for &(sum, count) in units {
            sums.add(Unit { sum, count });
        }
        sums
    }

    #[test]
    fn merged_sums_are_those_of_all_units() {
        let all = [(2.0, 2), (-1.0, 1), (3.5, 4), (0.0, 0), (1.0, 2)];
        let mut first = sums(&all[..2]);
        first.merge(&sums(&all[2..]));
        assert_eq!(first, sums(&all));
        assert_eq!((first.units(), first.count(), first.total()), (4, 9.0, 5.5));
    }

    #[test]
    fn the_other_side_sees_the_rest_of_each_observation() {
        let one = sums(&[(1.5, 2), (0.0, 2), (2.0, 2), (0.5, 1)]);
        let other = sums(&[(0.5, 2), (2.0, 2), (0.0, 2), (0.5, 1)]);
        assert_eq!(one.turned(1.0), other);
        assert_eq!(other.turned(1.0), one);
    }
}
