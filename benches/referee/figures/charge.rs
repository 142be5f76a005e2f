//! Group f: what the clock charges bots that compute for exactly 2 ms of processor time a move.

use super::Bench;
use crate::Fault;
use crate::common::machine::Load;
use crate::common::report::{Figure, Promise, median};
use crate::subject::Plan;

/// What a bot computes for a move, microseconds of its own processor time.
const THINK_US: f64 = 2_000.0;
/// So many such bots think at once.
const AT_ONCE: usize = 8;

impl Bench<'_> {
    /// The error of the charge at the 99th percentile, clock by clock, in milliseconds.
    pub(super) fn charges(&self) -> Result<bool, Fault> {
        let since = Load::now()?;
        let think = THINK_US.to_string();
        let kinds = ["wall", "fair"];
        let mut errors = kinds.map(|_| Vec::new());
        let sets = self.pick(4, 20);
        for _ in 0..self.options.rounds.min(5) {
            for (kind, errors) in kinds.iter().zip(&mut errors) {
                let plan = Plan {
                    bot: &["--think", &think],
                    charges: true,
                    ..self.plan(AT_ONCE, sets, kind)
                };
                let mut charges = self.subject.play(&plan, None)?.charges;
                charges.sort_by(f64::total_cmp);
                errors.push(Errors::of(&charges)?);
            }
        }
        let mut all = true;
        for (kind, errors) in kinds.iter().zip(errors) {
            let pick = |pick: fn(&Errors) -> f64| errors.iter().map(pick).collect::<Vec<f64>>();
            let (low, middle, most) = (
                median(&pick(|errors| errors.p1)),
                median(&pick(|errors| errors.p50)),
                median(&pick(|errors| errors.max)),
            );
            let high = pick(|errors| errors.p99);
            let figure = Figure {
                name: format!("charge.{kind}"),
                title: format!(
                    "f. charged too much for 2 ms of computing, {AT_ONCE} such bots at once, clock {kind}, 99th percentile \
                     (1st {low:.3}, median {middle:.3}, most {most:.3})"
                ),
                value: median(&high),
                rounds: high,
                unit: "ms",
                sides: None,
                promise: match *kind {
                    "fair" => Promise::lower(0.1, Some(0.05)),
                    // What a clock on the wall shows is no promise, but what the fair clock is compared with.
                    _ => Promise::none(),
                },
            };
            all &= figure.print(since)?;
        }
        Ok(all)
    }
}

/// The distribution of what was charged too much, milliseconds.
struct Errors {
    p1: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

impl Errors {
    fn of(sorted_us: &[f64]) -> Result<Errors, Fault> {
        let last = sorted_us.len().checked_sub(1).ok_or("no move was made")?;
        let at = |part: f64| (sorted_us[(last as f64 * part) as usize] - THINK_US) / 1e3;
        Ok(Errors {
            p1: at(0.01),
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
        })
    }
}
