//! One bot's period, by the steps of Glickman's paper.
//!
//! The crate `glicko2` computes it, but for step 5, the search for the new volatility, which is our own: the crate's has
//! two defects. Where Delta^2 > phi^2 + v (results that the rating did not expect; one upset is enough) it lacks the
//! paper's logarithm, so that the volatility is wrong and the search may never end. Elsewhere it is right unless a step
//! meets the root exactly (`<` for the paper's `<=`): then it ends at the wrong place, or never. So the crate is handed
//! the new volatility, with a tau that leaves its search nothing to do.

use ::glicko2::{GameResult, Glicko2Rating};

use super::{MAX_DEVIATION, Rating, Score};

/// Rating points of one unit of the paper's internal scale (step 2).
const SCALE: f64 = 173.7178;
/// The rating at the zero of the internal scale.
const ORIGIN: f64 = 1500.0;
/// How near the logarithm of the squared volatility is searched (step 5.1). The paper's example takes 1e-6, which leaves
/// the last of nine digits to the order of a sum; this costs one or two steps more.
const TOLERANCE: f64 = 1e-10;
/// A tau with which the crate keeps the volatility that it is given. Its search is over once its two ends are within 1e-6
/// on the logarithm of the squared volatility. Where Delta^2 <= phi^2 + v the other end begins one tau below the given
/// one. Elsewhere it begins anywhere, but f falls by (x - a) / tau^2 from the given end a, so that the first step lands
/// at most some tau^2 f(a) from a; and f(a) is below 1e6, as step 5 makes it the change of the logarithm (at most 56
/// within the bounds of volatilities) over the real tau squared (at least 1e-4).
const TAU_OF_NO_SEARCH: f64 = 5e-7;
/// Far above the number of steps that the search needs.
const MAX_STEPS: usize = 200;

/// The rating after a period with these results; no result: only the deviation grows (step 6).
///
/// # Errors
/// The step that left the numbers or did not end.
pub(super) fn rate(
    before: Rating,
    results: &[(Rating, Score)],
    tau: f64,
) -> Result<Rating, &'static str> {
    let prior = inner(before);
    if results.is_empty() {
        let idle = ::glicko2::new_rating(prior, &[], tau);
        let deviation = (idle.deviation * SCALE).min(MAX_DEVIATION);
        return Ok(Rating {
            deviation,
            ..before
        });
    }
    let evidence = Evidence::of(prior, results);
    if !evidence.is_finite() {
        return Err("its variance has no finite value");
    }
    let moved = Rating {
        volatility: volatility(prior, evidence, tau)?,
        ..before
    };
    if !moved.is_possible() {
        return Err("its volatility leaves all bounds");
    }
    let inside = ::glicko2::new_rating(inner(moved), &for_crate(results), TAU_OF_NO_SEARCH);
    let after = Rating {
        value: inside.value * SCALE + ORIGIN,
        deviation: (inside.deviation * SCALE).min(MAX_DEVIATION),
        ..moved
    };
    if after.is_possible() {
        Ok(after)
    } else {
        Err("its new rating has no finite value")
    }
}

/// Step 2. The crate's own conversion would lose the volatility.
fn inner(rating: Rating) -> Glicko2Rating {
    Glicko2Rating {
        value: (rating.value - ORIGIN) / SCALE,
        deviation: rating.deviation / SCALE,
        volatility: rating.volatility,
    }
}

fn for_crate(results: &[(Rating, Score)]) -> Vec<GameResult> {
    let result = |&(opponent, score): &(Rating, Score)| match score {
        Score::Win => GameResult::win(inner(opponent)),
        Score::Draw => GameResult::draw(inner(opponent)),
        Score::Loss => GameResult::loss(inner(opponent)),
    };
    results.iter().map(result).collect()
}

/// What the results say, whatever the volatility.
#[derive(Clone, Copy)]
struct Evidence {
    /// Step 3: the variance of the rating by the results alone.
    v: f64,
    /// Step 4: how far from the rating the results are.
    delta: f64,
}

impl Evidence {
    fn of(prior: Glicko2Rating, results: &[(Rating, Score)]) -> Evidence {
        let mut precision = 0.0;
        let mut surplus = 0.0;
        for &(opponent, score) in results {
            let opponent = inner(opponent);
            let spread = opponent.deviation / std::f64::consts::PI;
            let g = (1.0 + 3.0 * spread * spread).sqrt().recip();
            let expected = (1.0 + (-g * (prior.value - opponent.value)).exp()).recip();
            precision += g * g * expected * (1.0 - expected);
            surplus += g * (score.value() - expected);
        }
        let v = precision.recip();
        let delta = v * surplus;
        Evidence { v, delta }
    }

    /// Delta^2 - phi^2 - v: above 0 where the results are further from the rating than chance explains.
    fn excess(self, prior: Glicko2Rating) -> f64 {
        self.delta * self.delta - prior.deviation * prior.deviation - self.v
    }

    fn is_finite(self) -> bool {
        self.v.is_finite() && (self.delta * self.delta).is_finite()
    }
}

/// Step 5: the search for the new volatility, by the Illinois method.
fn volatility(prior: Glicko2Rating, evidence: Evidence, tau: f64) -> Result<f64, &'static str> {
    let excess = evidence.excess(prior);
    let base = prior.deviation * prior.deviation + evidence.v;
    let start = (prior.volatility * prior.volatility).ln();
    let f = |x: f64| {
        let e = x.exp();
        let sum = base + e;
        (e / sum) * ((excess - e) / sum) / 2.0 - (x - start) / (tau * tau)
    };
    // Step 5.2: the ends of the search, with the root between them. The first term of f is never below -1/2, so that f is
    // not negative from k = tau / 2 on.
    let mut a = start;
    let mut b = if excess > 0.0 {
        excess.ln()
    } else {
        let mut below = start - tau;
        while f(below) < 0.0 {
            below -= tau;
        }
        below
    };
    let (mut f_a, mut f_b) = (f(a), f(b));
    for _ in 0..MAX_STEPS {
        if !(f_a.is_finite() && f_b.is_finite()) {
            return Err("its volatility has no finite value");
        }
        if (b - a).abs() <= TOLERANCE {
            return Ok((a / 2.0).exp());
        }
        let c = a + (a - b) * f_a / (f_b - f_a);
        let f_c = f(c);
        if f_c * f_b <= 0.0 {
            (a, f_a) = (b, f_b);
        } else {
            f_a /= 2.0;
        }
        (b, f_b) = (c, f_c);
    }
    Err("the search for its volatility does not end")
}
