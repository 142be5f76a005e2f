//! Ratings across events.

use hakem_protocol::results::RatingRow;
use serde::Serialize;

use super::{Cell, Column, Report, Table, rounded};
use crate::rating::history::{History, Step};

/// The table of the bots of these names (by place), best first.
pub fn report(names: &[String], anchors: &[Option<f64>], history: &History) -> Report<RatingRow> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| {
        let value = |bot: usize| history.ratings[bot].value;
        value(b)
            .total_cmp(&value(a))
            .then_with(|| names[a].cmp(&names[b]))
    });
    let rows: Vec<RatingRow> = order
        .iter()
        .zip(1..)
        .map(|(&bot, rank)| {
            let rating = history.ratings[bot];
            let steps = &history.steps[bot];
            let sum = |of: fn(&Step) -> f64| rounded(steps.iter().map(of).sum());
            RatingRow {
                rank,
                name: names[bot].clone(),
                rating: rounded(rating.value),
                deviation: rounded(rating.deviation),
                volatility: rounded(rating.volatility),
                interval: rating.interval().map(rounded),
                anchor: anchors.get(bot).copied().flatten().is_some(),
                periods: steps.len() as u32,
                played: steps.iter().map(|step| step.played).sum(),
                score: sum(|step| step.score),
                expected: sum(|step| step.expected),
            }
        })
        .collect();
    let check = history.check;
    let mut notes = vec![
        "Rating: Glicko-2, with its 95 % interval; expected: the score that the ratings before each period let expect.".to_owned(),
    ];
    if check.matches > 0 {
        notes.push(format!(
            "Over {} matches the predictions miss the score by {:.3} on average (mean square); who always says 1/2, by {:.3}.",
            check.matches, check.brier, check.of_even
        ));
    }
    Report {
        table: table(&rows),
        rows,
        notes,
    }
}

fn table(rows: &[RatingRow]) -> Table {
    let columns = vec![
        Column::new("rank", "#"),
        Column::new("name", "name"),
        Column::new("rating", "rating").for_people(),
        Column::data("rating"),
        Column::data("deviation"),
        Column::data("volatility"),
        Column::data("rating_low"),
        Column::data("rating_high"),
        Column::new("anchor", "anchor").spare(5),
        Column::new("periods", "periods").spare(4),
        Column::new("played", "matches").spare(1),
        Column::new("score", "score").spare(2),
        Column::new("expected", "expected").spare(3),
    ];
    let cells = |row: &RatingRow| {
        vec![
            Cell::Count(u64::from(row.rank)),
            Cell::Text(row.name.clone()),
            Cell::Plain(if row.anchor {
                format!("{:.0}", row.rating)
            } else {
                format!("{:.0} ± {:.0}", row.rating, 1.96 * row.deviation)
            }),
            Cell::Real(row.rating, 0),
            Cell::Real(row.deviation, 0),
            Cell::Real(row.volatility, 4),
            Cell::Real(row.interval[0], 0),
            Cell::Real(row.interval[1], 0),
            if row.anchor {
                Cell::Plain("fixed".into())
            } else {
                Cell::Empty
            },
            Cell::Count(u64::from(row.periods)),
            Cell::Count(u64::from(row.played)),
            Cell::Real(row.score, 1),
            Cell::Real(row.expected, 1),
        ]
    };
    Table::new(columns, rows.iter().map(cells).collect())
}

/// The way of one bot: a row for each period in which it played. `periods` are their names.
pub fn history(steps: &[Step], periods: &[String]) -> Report<StepRow> {
    let columns = vec![
        Column::new("period", "period"),
        Column::new("event", "event"),
        Column::new("rating", "rating"),
        Column::new("deviation", "deviation"),
        Column::new("played", "matches"),
        Column::new("score", "score"),
        Column::new("expected", "expected"),
    ];
    let rows = steps
        .iter()
        .map(|step| {
            vec![
                Cell::Count(step.period as u64 + 1),
                Cell::Text(periods.get(step.period).cloned().unwrap_or_default()),
                Cell::Real(step.rating.value, 0),
                Cell::Real(step.rating.deviation, 0),
                Cell::Count(u64::from(step.played)),
                Cell::Real(step.score, 1),
                Cell::Real(step.expected, 1),
            ]
        })
        .collect();
    let data = |step: &Step| StepRow {
        period: step.period + 1,
        event: periods.get(step.period).cloned().unwrap_or_default(),
        rating: rounded(step.rating.value),
        deviation: rounded(step.rating.deviation),
        played: step.played,
        score: rounded(step.score),
        expected: rounded(step.expected),
    };
    Report {
        rows: steps.iter().map(data).collect(),
        table: Table::new(columns, rows),
        notes: Vec::new(),
    }
}

/// A period of one bot as data.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    period: usize,
    event: String,
    rating: f64,
    deviation: f64,
    played: u32,
    score: f64,
    expected: f64,
}
