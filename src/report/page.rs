//! The parts of a report that is read as a whole: on a page, or in Markdown.

use std::io;

use serde::Serialize;

use super::model::EventResults;
use super::{Cell, Column, Look, Report, Table, confinement, encounters, rulings, standings};
use crate::stats::Estimate;
use crate::stats::repeats::Repeats;
use crate::tournament::standings::{ResultsError, Standings};

/// A part of a report.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Its table.
    pub table: Table,
    /// What people should know besides.
    pub notes: Vec<String>,
}

impl Section {
    /// Writes its table and notes.
    ///
    /// # Errors
    /// Whatever `out` reports.
    pub fn write(&self, look: Look, out: &mut dyn io::Write) -> io::Result<()> {
        let report = Report::<()> {
            rows: Vec::new(),
            table: self.table.clone(),
            notes: self.notes.clone(),
        };
        report.write(look, out)
    }

    fn of<R>(title: &'static str, report: Report<R>) -> Section {
        Section {
            title,
            table: report.table,
            notes: report.notes,
        }
    }
}

/// All parts of the report of an event.
///
/// # Errors
/// Results that contradict themselves.
pub fn sections(results: &EventResults) -> Result<Vec<Section>, ResultsError> {
    let table = results.standings()?;
    let order: Vec<_> = table.rows.iter().map(|row| row.slot).collect();
    let pairs = encounters::pairs(results);
    let mut sections = vec![
        Section::of("Event", facts(results, &table)),
        Section::of("Standings", standings::report(&table)),
    ];
    if !results.desk.is_empty() {
        sections.push(Section::of("Rulings", rulings::report(results)));
    }
    if let Some(table) = encounters::crosstable(results, &order) {
        sections.push(Section::of("Cross table", table));
    }
    if !pairs.is_empty() {
        sections.push(Section::of(
            "Encounters",
            encounters::report(results, &pairs),
        ));
    }
    sections.push(Section::of("Games", rates(results)));
    let confinement = confinement::report(results);
    if !confinement.rows.is_empty() {
        sections.push(Section::of("Sandbox in force", confinement));
    }
    Ok(sections)
}

/// A figure as data.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    figure: &'static str,
    value: String,
}

/// A table of names and values.
pub fn list(heading: &'static str, lines: Vec<(&'static str, String)>) -> Report<Figure> {
    let columns = vec![Column::new("figure", heading), Column::new("value", "")];
    let cells = |(figure, value): &(&'static str, String)| {
        vec![Cell::Plain((*figure).to_owned()), Cell::Text(value.clone())]
    };
    let table = Table::new(columns, lines.iter().map(cells).collect());
    Report {
        rows: lines
            .into_iter()
            .map(|(figure, value)| Figure { figure, value })
            .collect(),
        table,
        notes: Vec::new(),
    }
}

fn facts(results: &EventResults, table: &Standings) -> Report<Figure> {
    let event = &results.event["event"];
    let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let unfolded = results.unfolded();
    let left = results.left();
    let mut lines = vec![
        ("event", results.name.clone()),
        ("game", results.game.clone()),
        ("format", word("format")),
        ("bots", results.names.len().to_string()),
        ("matches played", results.played.len().to_string()),
    ];
    let taken_out = results.played.len() - results.matches.len();
    if taken_out > 0 {
        lines.push(("of them taken out by rulings", taken_out.to_string()));
    }
    if !unfolded.is_over() && left > 0 {
        lines.push(("matches known and not played", left.to_string()));
    }
    if table.unfinished > 0 {
        lines.push(("games of unfinished matches", table.unfinished.to_string()));
    }
    lines.push((
        "paired",
        if results.is_paired() {
            "yes: each match is played on the same chance from every seat".to_owned()
        } else {
            "no".to_owned()
        },
    ));
    if let Some(rules) = results.event["adjudication"].as_object() {
        let given = rules.iter().filter(|(_, value)| !value.is_null());
        let words: Vec<String> = given.map(|(key, value)| format!("{key} {value}")).collect();
        lines.push(("games may be ended by", words.join(", ")));
    }
    if let Some(levels) = confinement::levels(results) {
        lines.push(("sandbox in force", levels));
    }
    if !results.ended.is_empty() {
        // Results of before say it twice.
        let words = results.ended.as_str();
        let words = words
            .strip_prefix("the event ended early: ")
            .unwrap_or(words);
        lines.push(("ended early", words.to_owned()));
    }
    list("fact", lines)
}

/// How the games went.
fn rates(results: &EventResults) -> Report<Figure> {
    let rates = results.rates();
    let wins = results.wins();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut lines = vec![("games that count", rates.games.to_string())];
    if let Some(share) = rates.draw_rate() {
        lines.push(("drawn or shared", percent(share)));
    }
    if rates.games > 0 {
        lines.push((
            "answers a game",
            format!("{:.1}", rates.moves as f64 / rates.games as f64),
        ));
    }
    if let Some(first) = rates.first_move().map(Estimate::if_spread) {
        let interval = first.interval.map_or_else(String::new, |[low, high]| {
            format!(
                ", 95 %: {} to {}",
                percent(low.max(0.0)),
                percent(high.min(1.0))
            )
        });
        lines.push((
            "score of who moves first",
            format!("{}{interval}", percent(first.mean)),
        ));
    }
    for &(win, times) in wins {
        if let Some(&count) = rates.wins.get(win) {
            let all: u64 = rates.wins.values().sum();
            let share = percent(count as f64 / all as f64);
            lines.push((
                "won",
                format!("{win} ({times} times the stake): {count}, {share}"),
            ));
        }
    }
    if let Some(share) = rates.wide_rate(2, wins) {
        lines.push(("wide wins (gammons)", percent(share)));
    }
    if let (Some(turned), Some(mean)) = (rates.turned_rate(), rates.mean_stake()) {
        lines.push(("games with a turned cube", percent(turned)));
        lines.push(("mean value of the cube", format!("{mean:.2}")));
        let stakes: Vec<String> = rates
            .stakes
            .iter()
            .map(|(stake, games)| format!("{stake}: {games}"))
            .collect();
        lines.push(("games by value of the cube", stakes.join(", ")));
    }
    lines.push(("forfeits", rates.forfeits.to_string()));
    if rates.adjudicated > 0 {
        lines.push(("adjudicated", rates.adjudicated.to_string()));
    }
    let mut repeats = Repeats::default();
    results.games.iter().for_each(|game| {
        repeats.add(game);
    });
    let count = repeats.count();
    let mut report_notes = Vec::new();
    if count.copies() > 0 {
        lines.push((
            "copies of other games",
            format!("{} of {}", count.copies(), count.games),
        ));
        report_notes.push(
            "Copies are games in which the same bots played the same moves on the same seats. They are no evidence of their own, so that \
             the intervals are narrower than they should be: let the bots start from different positions."
                .to_owned(),
        );
    }
    let mut report = list("figure", lines);
    report.notes = report_notes;
    report
}
