//! The list of what the organiser ruled.

use hakem_protocol::results::RulingRow;

use super::model::EventResults;
use super::{Cell, Column, Report, Table};
use crate::tournament::rulings::{NOW, Ruling, What};

/// All rulings of an event, in order.
pub fn report(results: &EventResults) -> Report<RulingRow> {
    let rulings = results.desk.rulings();
    let rows: Vec<RulingRow> = rulings.iter().map(|ruling| row(results, ruling)).collect();
    let columns = vec![
        Column::new("number", "#"),
        Column::new("at", "made at").spare(3),
        Column::new("ruling", "ruling"),
        Column::new("about", "about"),
        Column::new("reason", "reason"),
        Column::new("in_force", "in force"),
        Column::data("undone_by"),
        Column::data("overridden_by"),
        Column::new("effect", "effect").spare(2),
    ];
    let number = |by: Option<u32>| by.map_or(Cell::Empty, |by| Cell::Count(u64::from(by)));
    let cells = |row: &RulingRow| {
        vec![
            Cell::Count(u64::from(row.number)),
            Cell::Text(row.at.clone()),
            Cell::Plain(row.ruling.clone()),
            Cell::Text(row.about.join(", ")),
            Cell::Text(row.reason.clone()),
            Cell::Plain(match (row.undone_by, row.overridden_by) {
                (None, None) => "yes".to_owned(),
                (Some(by), _) => format!("no, undone by {by}"),
                (None, Some(by)) => format!("no, {by} decides"),
            }),
            number(row.undone_by),
            number(row.overridden_by),
            Cell::Text(row.effect.clone()),
        ]
    };
    let table = Table::new(columns, rows.iter().map(cells).collect());
    let notes = if rows.is_empty() {
        vec!["Nothing was ruled.".to_owned()]
    } else {
        Vec::new()
    };
    Report { rows, table, notes }
}

/// The rulings in force that are about games, a line each, for people who read the list of games.
pub fn notes(results: &EventResults) -> Vec<String> {
    let about_games = |ruling: &&Ruling| {
        matches!(
            ruling.what,
            What::Void { .. } | What::Replay { .. } | What::Disqualify { .. }
        )
    };
    let in_words = |ruling: &Ruling| {
        let row = row(results, ruling);
        let line = format!(
            "Ruling {}, {} {}: {} ({}).",
            row.number,
            row.ruling,
            row.about.join(", "),
            row.effect,
            row.reason
        );
        super::escape(&line).into_owned()
    };
    let in_force = results.desk.in_force(NOW);
    in_force
        .filter(about_games)
        .filter(|ruling| results.desk.overridden_by(ruling).is_none())
        .map(in_words)
        .collect()
}

fn row(results: &EventResults, ruling: &Ruling) -> RulingRow {
    let desk = &results.desk;
    let undone_by = desk
        .undone_by(ruling.number, NOW)
        .map(|undoing| undoing.number);
    let overridden_by = desk
        .overridden_by(ruling)
        .filter(|_| undone_by.is_none())
        .map(|later| later.number);
    RulingRow {
        number: ruling.number,
        at: ruling.at.clone(),
        ruling: ruling.what.word().to_owned(),
        about: about(results, ruling),
        reason: ruling.reason.clone(),
        in_force: undone_by.is_none() && overridden_by.is_none(),
        undone_by,
        overridden_by,
        effect: effect(results, ruling),
    }
}

/// What a ruling is about.
fn about(results: &EventResults, ruling: &Ruling) -> Vec<String> {
    let name = |slot: usize| {
        let name = results.names.get(slot);
        name.map_or_else(|| format!("bot {slot}"), Clone::clone)
    };
    match &ruling.what {
        What::Disqualify { slot, .. } | What::Withdraw { slot } => vec![name(*slot)],
        What::Void { of } | What::Replay { of } => vec![of.to_string()],
        What::Add { first, count, .. } => (*first..first + count).map(name).collect(),
        What::Close => Vec::new(),
        What::Undo { ruling } => vec![ruling.to_string()],
    }
}

/// What follows from a ruling, in words.
fn effect(results: &EventResults, ruling: &Ruling) -> String {
    match &ruling.what {
        What::Disqualify {
            keep_results: false,
            ..
        } => "plays no more; its results are taken out".into(),
        What::Disqualify { .. } => {
            "plays no more; its results stand, the rest is won by default".into()
        }
        What::Withdraw { .. } => {
            "plays no more; its results stand, the rest is won by default".into()
        }
        What::Void { .. } => match results.desk.overridden_by(ruling) {
            None => "counts for nobody, and is not played again".into(),
            Some(later) => format!("ruling {} came later and decides", later.number),
        },
        What::Replay { of } => {
            let desk = &results.desk;
            let is_current = desk.replay(*of).map(|current| current.number) == Some(ruling.number);
            let is_undone = desk.undone_by(ruling.number, NOW).is_some();
            let is_played = results.replayed.contains(&ruling.number);
            let words = match (is_current, is_played) {
                (false, true) => "was played again; that is set aside now",
                (true, true) => "was played again; the games before are set aside",
                (false, false) => "was not played again; what was played before stays",
                (true, false) => "is to be played again",
            };
            match desk.overridden_by(ruling).filter(|_| !is_undone) {
                Some(later) => format!("{words}; ruling {} came later and decides", later.number),
                None => words.into(),
            }
        }
        What::Add { .. } => "takes part from then on".into(),
        What::Close => "nothing more is played; the seed is told".into(),
        What::Undo { ruling } => format!("ruling {ruling} is no longer in force"),
    }
}
