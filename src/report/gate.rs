//! The verdict of a gate.

use std::io::{self, Write};

use hakem_protocol::results::{GateDecision, GateResult, GateScale};

use super::{Cell, Column, Format, Look, Report, Table, rounded};
use crate::stats::Estimate;
use crate::stats::sprt::Scale;
use crate::tournament::gate::Gate;

/// What a gate came to besides its games.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What it came to.
    pub decision: GateDecision,
    /// Why, in words.
    pub why: String,
    /// The names of the candidate and the baseline.
    pub names: [String; 2],
    /// Whether points a game are a statistic of their own.
    pub points_a_game: bool,
    /// The probabilities to err.
    pub errors: [f64; 2],
}

/// The result of a gate as data.
pub fn data(gate: &Gate, verdict: &Verdict) -> GateResult {
    let scores = gate.scores();
    let score = scores.sums().estimate().map(Estimate::if_spread);
    let elo = score.map(|score| score.elo());
    let finite = |value: f64| value.is_finite().then(|| rounded(value));
    let interval = elo.and_then(|elo| elo.interval);
    let points = gate
        .points()
        .estimate()
        .map(Estimate::if_spread)
        .filter(|_| verdict.points_a_game);
    let test = gate.test();
    let (pairs, counts) = if gate.is_paired() {
        (scores.pair_count(), scores.pairs.to_vec())
    } else {
        (0, scores.singles.to_vec())
    };
    let [candidate, baseline] = verdict.names.clone();
    let [alpha, beta] = verdict.errors;
    let [candidate_forfeits, baseline_forfeits] = gate.forfeits();
    GateResult {
        decision: verdict.decision,
        why: verdict.why.clone(),
        candidate,
        baseline,
        scale: match test.map_or(Scale::Logistic, |test| test.scale()) {
            Scale::Logistic => GateScale::Logistic,
            Scale::Normalised => GateScale::Normalised,
            Scale::Points => GateScale::Points,
        },
        elo0: test.map(|test| test.hypotheses()[0]),
        elo1: test.map(|test| test.hypotheses()[1]),
        alpha,
        beta,
        llr: rounded(gate.llr()),
        bounds: test.map_or([0.0, 0.0], |test| test.bounds().map(rounded)),
        pairs,
        games: 2 * scores.pair_count() + scores.singles.iter().sum::<u64>(),
        copies: gate.copies(),
        counts,
        score: score.map(|score| rounded(score.mean)),
        elo: elo.and_then(|elo| finite(elo.mean)),
        interval: match interval {
            Some(ends) => ends.map(finite),
            None => [None, None],
        },
        normalised_elo: scores.normalised_elo().map(|found| rounded(found.elo)),
        superiority: score
            .and_then(|score| score.likelihood_above(0.5))
            .map(rounded),
        points_per_game: points.map(|points| rounded(points.mean)),
        points_per_game_interval: points
            .and_then(|points| points.interval)
            .map(|ends| ends.map(rounded)),
        candidate_forfeits,
        baseline_forfeits,
        adjudicated: gate.adjudicated(),
    }
}

/// Writes the verdict: a line a figure for people; as JSON an object, as CSV a row with the same names.
///
/// # Errors
/// Whatever `out` reports.
pub fn write(result: GateResult, look: Look, out: &mut dyn Write) -> io::Result<()> {
    match look.format {
        Format::Csv => row(&result).write_csv(out),
        Format::Table | Format::Json | Format::Markdown => report(result).write_one(look, out),
    }
}

/// The figures as one row, by their names in JSON; what is a list there has a column an entry.
fn row(result: &GateResult) -> Table {
    let real = |value: Option<f64>| value.map_or(Cell::Empty, |value| Cell::Real(value, 6));
    let text = |text: &str| Cell::Text(text.to_owned());
    let [bounds_low, bounds_high] = result.bounds;
    let [low, high] = result.interval;
    let points = result.points_per_game_interval;
    let mut figures: Vec<(String, Cell)> = Vec::new();
    let mut add = |key: &str, cell: Cell| figures.push((key.to_owned(), cell));
    add("decision", text(result.decision.as_str()));
    add("why", text(&result.why));
    add("candidate", text(&result.candidate));
    add("baseline", text(&result.baseline));
    add("scale", text(result.scale.as_str()));
    add("elo0", real(result.elo0));
    add("elo1", real(result.elo1));
    add("alpha", real(Some(result.alpha)));
    add("beta", real(Some(result.beta)));
    add("llr", real(Some(result.llr)));
    add("bounds_low", real(Some(bounds_low)));
    add("bounds_high", real(Some(bounds_high)));
    add("pairs", Cell::Count(result.pairs));
    add("games", Cell::Count(result.games));
    add("copies", Cell::Count(result.copies));
    for (halves, &count) in result.counts.iter().enumerate() {
        add(&format!("counts_{halves}"), Cell::Count(count));
    }
    add("score", real(result.score));
    add("elo", real(result.elo));
    add("interval_low", real(low));
    add("interval_high", real(high));
    add("normalised_elo", real(result.normalised_elo));
    add("superiority", real(result.superiority));
    add("points_per_game", real(result.points_per_game));
    add("points_per_game_low", real(points.map(|ends| ends[0])));
    add("points_per_game_high", real(points.map(|ends| ends[1])));
    add("candidate_forfeits", Cell::Count(result.candidate_forfeits));
    add("baseline_forfeits", Cell::Count(result.baseline_forfeits));
    add("adjudicated", Cell::Count(result.adjudicated));
    let (keys, cells): (Vec<String>, Vec<Cell>) = figures.into_iter().unzip();
    Table::new(keys.into_iter().map(Column::data).collect(), vec![cells])
}

/// The report of a gate: a line a figure for people, one row as data.
pub fn report(result: GateResult) -> Report<GateResult> {
    let columns = vec![Column::new("figure", "gate"), Column::new("value", "")];
    let rows = lines(&result)
        .into_iter()
        .map(|(figure, value)| vec![Cell::Plain(figure.to_owned()), Cell::Text(value)])
        .collect();
    Report {
        rows: vec![result],
        table: Table::new(columns, rows),
        notes: Vec::new(),
    }
}

/// So many of these, in words.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The figures in words.
pub fn lines(result: &GateResult) -> Vec<(&'static str, String)> {
    let decision = result.decision.as_str().replace('_', " ");
    let mut lines = vec![
        ("decision", decision),
        ("why", result.why.clone()),
        ("candidate", result.candidate.clone()),
        ("baseline", result.baseline.clone()),
    ];
    if let (Some(elo0), Some(elo1)) = (result.elo0, result.elo1) {
        let unit = match result.scale {
            GateScale::Logistic => "Elo (logistic)",
            GateScale::Normalised => "Elo (normalised)",
            GateScale::Points => "points a game",
        };
        lines.push((
            "hypotheses",
            format!(
                "{elo0:+.2} or {elo1:+.2} {unit}; alpha {}, beta {}",
                result.alpha, result.beta
            ),
        ));
        let [low, high] = result.bounds;
        lines.push(("LLR", format!("{:.2} ({low:.2}, {high:.2})", result.llr)));
    }
    let counts: Vec<String> = result.counts.iter().map(u64::to_string).collect();
    let (one, many) = if result.counts.len() == 5 {
        ("pair", "pairs")
    } else {
        ("match", "matches")
    };
    let units: u64 = result.counts.iter().sum();
    lines.push((
        "played",
        format!(
            "{}: {} (candidate from worst to best)",
            count(units, one, many),
            counts.join(", ")
        ),
    ));
    if result.copies > 0 {
        lines.push((
            "copies",
            match result.copies {
                1 => format!("1 {one} was a copy of an earlier one and is no evidence"),
                copies => {
                    format!("{copies} {many} were copies of an earlier one and are no evidence")
                }
            },
        ));
    }
    if let Some(score) = result.score {
        lines.push(("score", format!("{:.2} %", 100.0 * score)));
    }
    let end =
        |end: Option<f64>, none: &str| end.map_or(none.to_owned(), |end| format!("{end:+.1}"));
    let [low, high] = result.interval;
    // What all units agree in has no spread, and the interval is not to be told from a boundless one by its ends.
    let is_spread = result.counts.iter().filter(|&&units| units > 0).count() > 1;
    match (result.elo, result.score) {
        (Some(elo), _) if is_spread => lines.push((
            "Elo",
            format!(
                "{elo:+.1}, 95 %: {} to {}",
                end(low, "-inf"),
                end(high, "+inf")
            ),
        )),
        (Some(elo), _) => lines.push((
            "Elo",
            format!(
                "{elo:+.1}; no interval, because the score does not vary in {}",
                count(units, one, many)
            ),
        )),
        (None, Some(score)) => lines.push((
            "Elo",
            format!(
                "without end: every match was {}",
                if score > 0.5 { "won" } else { "lost" }
            ),
        )),
        (None, None) => {}
    }
    if let Some(elo) = result.normalised_elo {
        lines.push(("normalised Elo", format!("{elo:+.1}")));
    }
    if let Some(superiority) = result.superiority {
        lines.push(("superiority", format!("{:.1} %", 100.0 * superiority)));
    }
    if let Some(points) = result.points_per_game {
        let interval = result
            .points_per_game_interval
            .map_or_else(String::new, |[low, high]| {
                format!(", 95 %: {low:+.2} to {high:+.2}")
            });
        lines.push(("points a game", format!("{points:+.3}{interval}")));
    }
    let forfeits = [result.candidate_forfeits, result.baseline_forfeits];
    if forfeits != [0, 0] {
        lines.push((
            "forfeits",
            format!("candidate {}, baseline {}", forfeits[0], forfeits[1]),
        ));
    }
    if result.adjudicated > 0 {
        lines.push(("games adjudicated", result.adjudicated.to_string()));
    }
    lines
}
