//! Student's t distribution.

use std::f64::consts::FRAC_PI_2;

/// From here on the expansion is exact to more than ten digits, and the sums would be long.
const MANY: u64 = 200;

/// The 97.5 % quantile of the normal distribution.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// How many standard errors each way the 95 % interval of a mean reaches, with this many degrees of freedom. Infinite for
/// none.
pub fn student_95(degrees: u64) -> f64 {
    if degrees == 0 {
        return f64::INFINITY;
    }
    if degrees > MANY {
        return expansion(degrees as f64);
    }
    // Below is less than 95 % within, above more: 12.7 is the quantile of one degree, the widest.
    let (mut low, mut high) = (1.0, 16.0);
    // Halving leaves 15 / 2^60, less than the last bit.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, degrees) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The probability that T with this many degrees of freedom is at most `t`; 1/2 for none.
pub fn student_cdf(t: f64, degrees: u64) -> f64 {
    if degrees == 0 || t.is_nan() {
        return 0.5;
    }
    if degrees > MANY && t.is_finite() {
        // The deviation from the normal distribution is below 1/4 of 1/degrees (26.7.8).
        let n = degrees as f64;
        let z = t * (1.0 - 1.0 / (4.0 * n)) / (1.0 + t * t / (2.0 * n)).sqrt();
        return normal_cdf(z);
    }
    (1.0 + within(t, degrees)) / 2.0
}

/// The probability that a standard normal number is at most `z`.
pub fn normal_cdf(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// The probability that |T| is at most `t`, with the sign of `t` (M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3
/// and 26.7.4).
fn within(t: f64, degrees: u64) -> f64 {
    let angle = libm::atan2(t, (degrees as f64).sqrt());
    let (sin, cos) = libm::sincos(angle);
    let odd = degrees % 2 == 1;
    // The terms are cos^j with j of the parity of the degrees, from 1 or 0 up to degrees - 2, each (j - 1) / j of the last
    // one times cos^2.
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut j = u64::from(odd);
    while j + 2 <= degrees {
        sum += term;
        j += 2;
        term *= cos * cos * (j as f64 - 1.0) / j as f64;
    }
    if odd {
        (angle + sin * sum) / FRAC_PI_2
    } else {
        sin * sum
    }
}

/// The quantile for many degrees of freedom, from that of the normal distribution (the same, 26.7.5).
fn expansion(degrees: f64) -> f64 {
    let x = NORMAL_95;
    let x2 = x * x;
    let terms = [
        x * (x2 + 1.0) / 4.0,
        x * ((5.0 * x2 + 16.0) * x2 + 3.0) / 96.0,
        x * (((3.0 * x2 + 19.0) * x2 + 17.0) * x2 - 15.0) / 384.0,
        x * ((((79.0 * x2 + 776.0) * x2 + 1482.0) * x2 - 1920.0) * x2 - 945.0) / 92160.0,
    ];
    let tail = terms
        .into_iter()
        .rev()
        .fold(0.0, |sum, term| (sum + term) / degrees);
    x + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published tables (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, and its longer forms).
    #[test]
    fn the_published_table() {
        for (degrees, quantile) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (7, 2.365),
            (8, 2.306),
            (9, 2.262),
            (10, 2.228),
            (15, 2.131),
            (20, 2.086),
            (29, 2.045),
            (30, 2.042),
            (60, 2.000),
            (100, 1.984),
            (1000, 1.962),
        ] {
            let found = student_95(degrees);
            assert!((found - quantile).abs() <= 0.0005, "{degrees}: {found}");
        }
    }

    #[test]
    fn closed_forms_of_one_and_two_degrees() {
        // One degree is Cauchy's distribution: tan(0.475 pi). Two: 0.95 sqrt(2 / (1 - 0.95^2)).
        assert!((student_95(1) - libm::tan(0.475 * std::f64::consts::PI)).abs() < 1e-10);
        assert!((student_95(2) - 0.95 * (2.0 / (1.0 - 0.9025f64)).sqrt()).abs() < 1e-12);
    }

    /// The tables of every textbook, read the other way round.
    #[test]
    fn probabilities_of_the_published_tables() {
        for (z, below) in [
            (0.0, 0.5),
            (1.0, 0.841_345),
            (1.645, 0.950_015),
            (-2.0, 0.022_750),
            (3.0, 0.998_650),
        ] {
            assert!((normal_cdf(z) - below).abs() < 1e-6, "{z}");
        }
        for (t, degrees, below) in [
            (2.228, 10, 0.975),
            (6.314, 1, 0.95),
            (-1.697, 30, 0.05),
            (1.660, 100, 0.95),
        ] {
            assert!(
                (student_cdf(t, degrees) - below).abs() < 1e-4,
                "{t} {degrees}"
            );
        }
        assert_eq!(student_cdf(3.0, 0), 0.5);
        assert_eq!(student_cdf(f64::NEG_INFINITY, 7), 0.0);
        assert_eq!(student_cdf(f64::INFINITY, 300), 1.0);
        for t in [-3.0, -0.5, 1.0, 2.5] {
            let (sums, expanded) = (student_cdf(t, MANY), student_cdf(t, MANY + 1));
            assert!((sums - expanded).abs() < 1e-5, "{t}: {sums} {expanded}");
        }
    }

    #[test]
    fn the_two_ways_meet() {
        let (sums, expanded) = (student_95(MANY), expansion(MANY as f64));
        assert!((sums - expanded).abs() < 1e-10, "{sums} {expanded}");
        assert!((student_95(u64::MAX) - NORMAL_95).abs() < 1e-12);
        assert_eq!(student_95(0), f64::INFINITY);
    }

    /// A second implementation: the density, integrated by Simpson's rule.
    #[test]
    fn the_density_holds_95_percent_within() {
        for degrees in [1u64, 2, 3, 4, 7, 12, 33, 150, 500] {
            let n = degrees as f64;
            let scale = libm::lgamma((n + 1.0) / 2.0) - libm::lgamma(n / 2.0);
            let scale = libm::exp(scale) / (n * std::f64::consts::PI).sqrt();
            let density = |t: f64| scale * libm::pow(1.0 + t * t / n, -(n + 1.0) / 2.0);
            let end = student_95(degrees);
            let steps = 20_000;
            let h = end / f64::from(steps);
            let inner: f64 = (1..steps)
                .map(|i| density(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 })
                .sum();
            let area = 2.0 * h / 3.0 * (density(0.0) + inner + density(end));
            assert!((area - 0.95).abs() < 1e-8, "{degrees}: {area}");
        }
    }

    #[test]
    fn more_degrees_never_widen() {
        let quantiles: Vec<f64> = (1..400).map(student_95).collect();
        assert!(quantiles.windows(2).all(|pair| pair[1] < pair[0]));
    }
}
