//! The list of built-in bots.

use serde::Serialize;

use super::{Cell, Column, Report, Table};
use crate::game::GAMES;
use crate::house::{Games, HOUSES};

/// A built-in bot as data.
#[derive(Clone, Debug, Serialize)]
pub struct HouseRow {
    /// Its name, as in `builtin = "..."`.
    name: &'static str,
    /// What it does.
    summary: &'static str,
    /// The games that it plays.
    games: Vec<&'static str>,
    /// Its options.
    options: Vec<OptionRow>,
}

/// An option of a built-in bot.
#[derive(Clone, Debug, Serialize)]
struct OptionRow {
    name: &'static str,
    meaning: &'static str,
}

/// Every built-in bot.
pub fn report() -> Report<HouseRow> {
    let rows: Vec<HouseRow> = HOUSES.iter().map(|house| row(house.facts())).collect();
    let columns = vec![
        Column::new("name", "name"),
        Column::new("summary", "summary"),
        Column::new("games", "games"),
        Column::new("options", "options"),
    ];
    let cells = |row: &HouseRow| {
        let options = row
            .options
            .iter()
            .map(|option| format!("{}: {}", option.name, option.meaning));
        vec![
            Cell::Text(row.name.to_owned()),
            Cell::Text(row.summary.to_owned()),
            Cell::Text(row.games.join(", ")),
            Cell::Text(options.collect::<Vec<_>>().join("; ")),
        ]
    };
    Report {
        table: Table::new(columns, rows.iter().map(cells).collect()),
        rows,
        notes: Vec::new(),
    }
}

fn row(facts: &crate::house::Facts) -> HouseRow {
    let all = GAMES.iter().map(|kind| kind.facts());
    HouseRow {
        name: facts.name,
        summary: facts.summary,
        games: match facts.games {
            Games::All => all.map(|game| game.name).collect(),
            Games::Only(games) => games.to_vec(),
            // A race has no list of legal answers.
            Games::Listed => all
                .filter(|game| plays_listed(game.name))
                .map(|game| game.name)
                .collect(),
        },
        options: facts
            .options
            .iter()
            .map(|option| OptionRow {
                name: option.name,
                meaning: option.meaning,
            })
            .collect(),
    }
}

/// Whether the seats of this game are told what is legal.
fn plays_listed(game: &str) -> bool {
    let rules = crate::game::find(game).map(|kind| kind.rules(&serde_json::Map::new()));
    rules.is_some_and(|rules| rules.is_ok_and(|rules| rules.race().is_none()))
}
