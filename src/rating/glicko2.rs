//! One bot's period, by the steps of Glickman's paper.
//!
//! The crate `glicko2` computes it, but for step 5, the search for the new volatility, which is our own: the crate's has
//! two defects. Where Delta^2 > phi^2 + v (results that the rating did not expect; one upset is enough) it lacks the
//! paper's logarithm, so that the volatility is wrong and the search may never end. Elsewhere it is right unless a step
//! meets the root exactly (`<` for the paper's `<=`): then it ends at the wrong place, or never.

use ::glicko2::{GameResult, Glicko2Rating};

use super::{MAX_DEVIATION, Rating, Score};

/// Rating points of one unit of the paper's internal scale (step 2).
const SCALE: f64 = 173.7178;
/// The rating at the zero of the internal scale.
const ORIGIN: f64 = 1500.0;
/// How near the logarithm of the squared volatility is searched (step 5.1). The paper's example takes 1e-6, which leaves
/// the last of nine digits to the order of a sum; this costs one or two steps more.
const TOLERANCE: f64 = 1e-10;
/// A tau within the crate's own tolerance, which is 1e-6.
const TAU_OF_NO_SEARCH: f64 = 5e-7;
/// How far from the border, of its size, the crate is trusted to be on the side that we find: its sums differ from ours
/// in their last bits.
const BORDER: f64 = 1e-9;
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
    let moved = Glicko2Rating {
        volatility: volatility(prior, evidence, tau)?,
        ..prior
    };
    let inside = if evidence.is_expected(prior) {
        by_crate(moved, results)
    } else {
        update(moved, evidence)
    };
    let after = Rating {
        value: inside.value * SCALE + ORIGIN,
        deviation: (inside.deviation * SCALE).min(MAX_DEVIATION),
        volatility: inside.volatility,
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

/// Steps 3, 4, 6 and 7 by the crate, for a bot that has its new volatility. Only where [`Evidence::is_expected`].
fn by_crate(bot: Glicko2Rating, results: &[(Rating, Score)]) -> Glicko2Rating {
    let results: Vec<GameResult> = results
        .iter()
        .map(|&(opponent, score)| match score {
            Score::Win => GameResult::win(inner(opponent)),
            Score::Draw => GameResult::draw(inner(opponent)),
            Score::Loss => GameResult::loss(inner(opponent)),
        })
        .collect();
    // The crate's search begins with the old volatility at one end and, tau below it, the other end; it is over once the
    // two are within its tolerance. With this tau it is over before its first step, and keeps what it was given.
    ::glicko2::new_rating(bot, &results, TAU_OF_NO_SEARCH)
}

/// What the results say, whatever the volatility.
#[derive(Clone, Copy)]
struct Evidence {
    /// Step 3: the variance of the rating by the results alone.
    v: f64,
    /// The sum of steps 4 and 7: the scores above what was expected, weighted.
    surplus: f64,
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
        Evidence {
            v: precision.recip(),
            surplus,
        }
    }

    /// Step 4.
    fn delta(self) -> f64 {
        self.v * self.surplus
    }

    /// Delta^2 - phi^2 - v: above 0 where the results are further from the rating than chance explains.
    fn excess(self, prior: Glicko2Rating) -> f64 {
        let delta = self.delta();
        delta * delta - prior.deviation * prior.deviation - self.v
    }

    /// Whether the crate searches the volatility below the old one: Delta^2 <= phi^2 + v.
    fn is_expected(self, prior: Glicko2Rating) -> bool {
        let explained = prior.deviation * prior.deviation + self.v;
        self.excess(prior) <= -BORDER * explained
    }

    fn is_finite(self) -> bool {
        let delta = self.delta();
        self.v.is_finite() && (delta * delta).is_finite()
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

/// Steps 6 and 7, for a bot that has its new volatility.
fn update(bot: Glicko2Rating, evidence: Evidence) -> Glicko2Rating {
    let widened = bot.deviation * bot.deviation + bot.volatility * bot.volatility;
    let variance = (widened.recip() + evidence.v.recip()).recip();
    Glicko2Rating {
        value: bot.value + variance * evidence.surplus,
        deviation: variance.sqrt(),
        volatility: bot.volatility,
    }
}
