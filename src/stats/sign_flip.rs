//! The sign-flip test (R. A. Fisher, "The Design of Experiments", 1935, section 21): it asks for no distribution.
//!
//! If two bots are equal, the sign of the difference in each pair is as good as tossed. The test counts in how many of all
//! 2^n ways to toss the signs the total is at least as far from 0 as the one observed.

use super::normal_cdf;

/// The most steps that are taken to count exactly.
const MOST_STEPS: u64 = 100_000_000;

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// The probability of a total at least so far from 0, to either side, between equal bots.
    pub p: f64,
    /// Whether all ways were counted; else it is the normal approximation, where the units are too many to count.
    pub exact: bool,
    /// Units whose difference is not 0; the others say nothing.
    pub units: usize,
}

/// Tests the differences of independent units: pairs of games, or single games. They are whole numbers in any unit, such
/// as points, or scores in halves.
pub fn sign_flip(differences: &[i64]) -> SignFlip {
    let sizes: Vec<u64> = differences
        .iter()
        .map(|difference| difference.unsigned_abs())
        .filter(|&size| size > 0)
        .collect();
    let total: i128 = differences
        .iter()
        .map(|&difference| i128::from(difference))
        .sum();
    let step = sizes.iter().copied().fold(0, gcd).max(1);
    let reach: u128 = sizes.iter().map(|&size| u128::from(size / step)).sum();
    let units = sizes.len();
    if reach * units as u128 > u128::from(MOST_STEPS) {
        let spread: f64 = sizes
            .iter()
            .map(|&size| (size as f64) * (size as f64))
            .sum();
        let z = total.unsigned_abs() as f64 / spread.sqrt();
        return SignFlip {
            p: 2.0 * normal_cdf(-z),
            exact: false,
            units,
        };
    }
    let reach = reach as usize;
    // ways[t]: the share of all ways in which the positive differences add up to t; the total is then 2 t - reach.
    let mut ways = vec![0.0; reach + 1];
    ways[0] = 1.0;
    let mut highest = 0;
    for size in sizes.iter().map(|&size| (size / step) as usize) {
        highest += size;
        for t in (0..=highest).rev() {
            let with = if t >= size { ways[t - size] } else { 0.0 };
            ways[t] = (ways[t] + with) / 2.0;
        }
    }
    let observed = total.unsigned_abs() as usize / step as usize;
    let p: f64 = ways
        .iter()
        .enumerate()
        .filter(|&(t, _)| (2 * t).abs_diff(reach) >= observed)
        .map(|(_, share)| share)
        .sum();
    SignFlip {
        p: p.min(1.0),
        exact: true,
        units,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher's own example, C. Darwin's fifteen pairs of maize plants (differences in eighths of an inch): of the 32768 ways
    /// 863 have a total of 314 or more, and as many one of -314 or less.
    #[test]
    fn darwins_maize() {
        let differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
        let found = sign_flip(&differences);
        assert!(found.exact);
        assert_eq!(found.units, 15);
        assert!(
            (found.p - 2.0 * 863.0 / 32768.0).abs() < 1e-12,
            "{}",
            found.p
        );
    }

    /// A second implementation: every way, one after the other.
    #[test]
    fn every_way_one_by_one() {
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as i64
        };
        for _ in 0..200 {
            let length = 1 + next() % 10;
            let factor = 1 + next() % 3;
            let differences: Vec<i64> = (0..length).map(|_| factor * (next() % 13 - 6)).collect();
            let observed = differences.iter().sum::<i64>().abs();
            let far = (0..1u32 << length)
                .filter(|way| {
                    let sum: i64 = differences
                        .iter()
                        .enumerate()
                        .map(|(index, d)| {
                            if way >> index & 1 == 1 {
                                d.abs()
                            } else {
                                -d.abs()
                            }
                        })
                        .sum();
                    sum.abs() >= observed
                })
                .count();
            let right = far as f64 / f64::from(1u32 << length);
            let found = sign_flip(&differences);
            assert!(
                (found.p - right).abs() < 1e-12,
                "{differences:?}: {found:?}, not {right}"
            );
        }
    }

    /// With differences of one size it is the sign test, whose tables give 0.109375 for 8 of 10 and 0.0215 for 9 of 10.
    #[test]
    fn one_size_is_the_sign_test() {
        let eight = [1, 1, 1, 1, 1, 1, 1, 1, -1, -1];
        assert!((sign_flip(&eight).p - 0.109_375).abs() < 1e-12);
        let nine = eight.map(|d| 3 * d).map(|d| if d < 0 { 0 } else { d });
        assert!((sign_flip(&nine).p - 2.0 / 256.0).abs() < 1e-12);
        assert_eq!(sign_flip(&nine).units, 8);
    }

    #[test]
    fn nothing_to_tell_apart() {
        let none = SignFlip {
            p: 1.0,
            exact: true,
            units: 0,
        };
        assert_eq!(sign_flip(&[]), none);
        assert_eq!(sign_flip(&[0, 0]), none);
    }

    /// Where there are too many the approximation takes over, and is the same there as far as it matters.
    #[test]
    fn many_units_are_approximated() {
        let many: Vec<i64> = (0..12_000)
            .map(|n| if n % 100 < 51 { 1 } else { -1 })
            .collect();
        let found = sign_flip(&many);
        assert!(!found.exact);
        let fewer: Vec<i64> = many.iter().copied().take(9_000).collect();
        let exact = sign_flip(&fewer);
        let z = 180.0 / 9_000f64.sqrt();
        assert!(exact.exact);
        assert!(
            (exact.p - 2.0 * normal_cdf(-z)).abs() < 0.002,
            "{}",
            exact.p
        );
    }
}
