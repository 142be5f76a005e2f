//! Figures as lines for people and as JSON.

use std::fs;

use serde_json::json;

use super::Fault;
use super::machine::Load;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    Lower,
    Higher,
}

impl Better {
    fn sign(self) -> &'static str {
        match self {
            Better::Lower => "<=",
            Better::Higher => ">=",
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Better::Lower => value <= bound,
            Better::Higher => value >= bound,
        }
    }
}

/// What is promised of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    pub(crate) better: Better,
    pub(crate) bound: f64,
    pub(crate) stretch: Option<f64>,
}

impl Promise {
    /// Only shown, to compare others with it.
    pub(crate) fn none() -> Promise {
        Promise::lower(f64::INFINITY, None)
    }

    /// No more than this; at best no more than the stretch.
    pub(crate) const fn lower(bound: f64, stretch: Option<f64>) -> Promise {
        Promise {
            better: Better::Lower,
            bound,
            stretch,
        }
    }

    /// No less than this; at best no less than the stretch.
    pub(crate) const fn higher(bound: f64, stretch: Option<f64>) -> Promise {
        Promise {
            better: Better::Higher,
            bound,
            stretch,
        }
    }
}

/// One measured figure.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Its name in JSON.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    /// What the promise is about: a ratio, or a plain value.
    pub(crate) value: f64,
    /// The values of the single rounds.
    pub(crate) rounds: Vec<f64>,
    pub(crate) unit: &'static str,
    /// The two sides of a ratio: hakem's and the yardstick's, with their unit.
    pub(crate) sides: Option<(f64, f64, &'static str)>,
    pub(crate) promise: Promise,
}

impl Figure {
    fn holds(&self) -> bool {
        self.promise.better.holds(self.value, self.promise.bound)
    }

    /// Prints it, with what others used of the machine meanwhile; whether the promise holds.
    pub(crate) fn print(&self, since: Load) -> Result<bool, Fault> {
        let others = since.others_since()?;
        let promise = self.promise;
        let low = self.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self
            .rounds
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let sides = self.sides.map_or_else(String::new, |(own, yard, unit)| {
            format!(" (hakem {own:.2} {unit}, yardstick {yard:.2} {unit})")
        });
        let stretch = promise.stretch.map_or_else(String::new, |stretch| {
            let reached = promise.better.holds(self.value, stretch);
            let word = if reached { "reached" } else { "not reached" };
            format!(", stretch {stretch} {word}")
        });
        let verdict = if self.holds() {
            "holds"
        } else {
            "DOES NOT HOLD"
        };
        let promised = if promise.bound.is_finite() {
            let (sign, bound) = (promise.better.sign(), promise.bound);
            format!("promise {sign} {bound} {verdict}{stretch}")
        } else {
            "no promise".to_owned()
        };
        println!(
            "{}: {:.3} {}{sides}; rounds {low:.3} to {high:.3}; {promised}; others used {others:.2} cores",
            self.title, self.value, self.unit,
        );
        println!(
            "{}",
            json!({
                "figure": self.name,
                "value": self.value,
                "unit": self.unit,
                "hakem": self.sides.map(|(own, _, _)| own),
                "yardstick": self.sides.map(|(_, yard, _)| yard),
                "side_unit": self.sides.map(|(_, _, unit)| unit),
                "rounds": self.rounds,
                "promise": promise.bound,
                "stretch": promise.stretch,
                "better": if promise.better == Better::Lower { "lower" } else { "higher" },
                "holds": self.holds(),
                "others_cores": others,
            })
        );
        Ok(self.holds())
    }
}

/// Prints hakem's side of a figure whose yardstick could not be had, with the reason.
pub(crate) fn print_alone(name: &str, title: &str, rounds: &[f64], unit: &str, missing: &str) {
    let value = median(rounds);
    println!("{title}: hakem {value:.2} {unit}; the yardstick was SKIPPED: {missing}");
    println!(
        "{}",
        json!({
            "figure": name,
            "value": null,
            "hakem": value,
            "yardstick": null,
            "side_unit": unit,
            "skipped": missing,
        })
    );
}

/// Says that something was not measured, and why.
pub(crate) fn print_skipped(name: &str, title: &str, why: &str) {
    println!("{title}: SKIPPED, {why}");
    println!("{}", json!({"figure": name, "value": null, "skipped": why}));
}

/// The median; of an even count the mean of the middle two. Zero of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}

/// Says what machine this is.
pub(crate) fn describe_machine(cores: &[usize]) {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key))
            .map_or_else(
                || "?".into(),
                |rest| rest.trim_start_matches(['\t', ' ', ':']).trim().to_owned(),
            )
    };
    let cpu = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    let count = std::thread::available_parallelism().map_or(0, Into::into);
    println!(
        "machine: {cpu}, {count} cores (used: {cores:?}), {memory}, Linux {kernel}, load {load}"
    );
    println!(
        "{}",
        json!({"machine": {"cpu": cpu, "cores": count, "used": cores, "memory": memory, "kernel": kernel, "load": load}})
    );
}
