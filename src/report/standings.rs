//! The table of standings.

use std::collections::BTreeMap;

use hakem_protocol::Score;
use hakem_protocol::results::{Forfeits, StandingRow};

use super::{Cell, Column, Report, Table, ms, rounded, seconds};
use crate::event::Verdict;
use crate::stats::Estimate;
use crate::tournament::standings::{Row, Standings, Tally, TieBreak};

/// The report of these standings.
pub fn report(standings: &Standings) -> Report<StandingRow> {
    Report {
        rows: standings
            .rows
            .iter()
            .map(|row| data(standings, row))
            .collect(),
        table: table(standings),
        notes: notes(standings),
    }
}

fn data(standings: &Standings, row: &Row) -> StandingRow {
    let mut forfeits = Forfeits::default();
    for (&verdict, &times) in &row.forfeits {
        (0..times).for_each(|_| forfeits.add(verdict));
    }
    let tie_breaks: BTreeMap<String, f64> = standings
        .tie_breaks
        .iter()
        .zip(&row.tie_breaks)
        .filter_map(|(by, value)| Some((by.as_str().to_owned(), rounded((*value)?))))
        .collect();
    let points_a_game = row.points_a_game;
    StandingRow {
        rank: u32::try_from(row.rank).unwrap_or(u32::MAX),
        name: row.name.clone(),
        played: row.matches.played(),
        won: row.matches.won,
        drawn: row.matches.drawn,
        lost: row.matches.lost,
        points: Score(rounded(row.points)),
        byes: row.byes,
        by_default: row.by_default,
        status: row.status.map(|status| status.as_str().to_owned()),
        forfeits,
        rating: rounded(row.rating.value),
        deviation: rounded(row.rating.deviation),
        volatility: rounded(row.rating.volatility),
        interval: row.rating.interval().map(rounded),
        tie_breaks,
        cpu_ms: ms(row.cpu_us),
        wall_ms: ms(row.wall_us),
        points_per_game: points_a_game.map(|estimate| rounded(estimate.mean)),
        points_per_game_interval: points_a_game
            .and_then(|estimate| estimate.interval)
            .map(|ends| ends.map(rounded)),
    }
}

/// The words below the table.
fn notes(standings: &Standings) -> Vec<String> {
    let names: Vec<&str> = standings
        .tie_breaks
        .iter()
        .map(|&by| in_words(by))
        .collect();
    let mut notes = vec![
        format!(
            "Equal points: {}; then a rank is shared.",
            names.join(", then ")
        ),
        "Rating: Glicko-2, with its 95 % interval.".to_owned(),
    ];
    let byes: Vec<String> = standings
        .rows
        .iter()
        .filter(|row| row.byes > 0)
        .map(|row| format!("{} {}", row.name, row.byes))
        .collect();
    if !byes.is_empty() {
        notes.push(format!("Rounds without an opponent: {}.", byes.join(", ")));
    }
    let defaults: Vec<String> = standings
        .rows
        .iter()
        .filter(|row| row.by_default > 0)
        .map(|row| format!("{} {}", row.name, row.by_default))
        .collect();
    if !defaults.is_empty() {
        notes.push(format!(
            "Won by default, because the opponent is out: {}. These are points, and no results for ratings.",
            defaults.join(", ")
        ));
    }
    match standings.rulings {
        0 => {}
        1 => notes.push("1 ruling of the organiser applies: `hakem desk DIR` shows it.".to_owned()),
        many => notes.push(format!(
            "{many} rulings of the organiser apply: `hakem desk DIR` shows them."
        )),
    }
    if standings.unfinished > 0 {
        let games = match standings.unfinished {
            1 => "1 game does".to_owned(),
            games => format!("{games} games do"),
        };
        notes.push(format!("{games} not count yet: the match is not over."));
    }
    notes
}

fn in_words(tie_break: TieBreak) -> &'static str {
    match tie_break {
        TieBreak::DirectEncounter => "direct encounter (direct)",
        TieBreak::SonnebornBerger => "Sonneborn-Berger (SB)",
        TieBreak::Wins => "matches won",
        TieBreak::Buchholz => "Buchholz (BH)",
        TieBreak::BuchholzCut1 => "Buchholz without the weakest opponent (BH-1)",
    }
}

/// The heading of a tie-break for people; `None` where another column has it.
fn heading(tie_break: TieBreak) -> Option<&'static str> {
    match tie_break {
        TieBreak::DirectEncounter => Some("direct"),
        TieBreak::SonnebornBerger => Some("SB"),
        TieBreak::Buchholz => Some("BH"),
        TieBreak::BuchholzCut1 => Some("BH-1"),
        TieBreak::Wins => None,
    }
}

fn forfeit_kinds() -> impl Iterator<Item = Verdict> {
    Verdict::ALL
        .into_iter()
        .filter(|verdict| verdict.is_forfeit())
}

fn table(standings: &Standings) -> Table {
    let mut columns = vec![
        Column::new("rank", "#"),
        Column::new("name", "name"),
        Column::new("status", "status").for_people(),
        Column::new("matches", "matches").for_people().spare(1),
        Column::data("played"),
        Column::data("won"),
        Column::data("drawn"),
        Column::data("lost"),
        Column::new("points", "points"),
    ];
    for &by in &standings.tie_breaks {
        columns.push(match heading(by) {
            Some(title) => Column::new(by.as_str(), title).spare(5),
            None => continue,
        });
    }
    columns.extend([
        Column::new("rating", "rating").for_people(),
        Column::data("rating"),
        Column::data("deviation"),
        Column::data("rating_low"),
        Column::data("rating_high"),
        Column::new("volatility", "volatility").spare(10),
        Column::new("points_per_game", "points/game")
            .for_people()
            .spare(2),
        Column::data("points_per_game"),
        Column::data("points_per_game_low"),
        Column::data("points_per_game_high"),
        Column::new("games", "games").for_people().spare(7),
        Column::data("games_won"),
        Column::data("games_drawn"),
        Column::data("games_lost"),
        Column::new("void", "void").for_people().spare(4),
        Column::data("void"),
        Column::new("forfeits", "forfeits").for_people().spare(3),
    ]);
    columns.extend(forfeit_kinds().map(|kind| Column::data(kind.as_str())));
    columns.extend([
        Column::data("time_ms"),
        Column::new("wall", "wall s").for_people().spare(8),
        Column::data("wall_ms"),
        Column::new("cpu", "cpu s").for_people().spare(9),
        Column::data("cpu_ms"),
        Column::data("by_default"),
        Column::data("status"),
    ]);
    let rows = standings
        .rows
        .iter()
        .map(|row| cells(standings, row))
        .collect();
    Table::new(columns, rows)
}

/// The cells of one bot, in the order of the columns.
fn cells(standings: &Standings, row: &Row) -> Vec<Cell> {
    let count = |count: u32| Cell::Count(u64::from(count));
    let mut cells = vec![
        Cell::Count(row.rank as u64),
        Cell::Text(row.name.clone()),
        status(row),
        tally(row.matches),
        count(row.matches.played()),
        count(row.matches.won),
        count(row.matches.drawn),
        count(row.matches.lost),
        Cell::Real(row.points, decimals(standings)),
    ];
    for (&by, &value) in standings.tie_breaks.iter().zip(&row.tie_breaks) {
        if heading(by).is_some() {
            cells.push(value.map_or(Cell::Empty, |value| Cell::Real(value, 2)));
        }
    }
    let rating = row.rating;
    let [low, high] = rating.interval();
    cells.extend([
        Cell::Plain(format!(
            "{:.0} ± {:.0}",
            rating.value,
            1.96 * rating.deviation
        )),
        Cell::Real(rating.value, 0),
        Cell::Real(rating.deviation, 0),
        Cell::Real(low, 0),
        Cell::Real(high, 0),
        Cell::Real(rating.volatility, 4),
    ]);
    cells.extend(points_a_game(row.points_a_game));
    let games = row.games;
    cells.extend([
        tally(games),
        count(games.won),
        count(games.drawn),
        count(games.lost),
        if row.void == 0 {
            Cell::Empty
        } else {
            count(row.void)
        },
        count(row.void),
        forfeits(row),
    ]);
    cells.extend(forfeit_kinds().map(|kind| count(row.forfeits.get(&kind).copied().unwrap_or(0))));
    cells.extend([
        Cell::Count(ms(row.time_us)),
        seconds(row.wall_us),
        Cell::Count(ms(row.wall_us)),
        seconds(row.cpu_us),
        Cell::Count(ms(row.cpu_us)),
        count(row.by_default),
        status(row),
    ]);
    cells
}

fn status(row: &Row) -> Cell {
    row.status.map_or(Cell::Empty, |status| {
        Cell::Plain(status.as_str().to_owned())
    })
}

/// For people: won, drawn and lost.
fn tally(tally: Tally) -> Cell {
    if tally.played() == 0 {
        return Cell::Empty;
    }
    Cell::Plain(format!("+{} ={} -{}", tally.won, tally.drawn, tally.lost))
}

/// How many decimals points need: halves have one, thirds and quarters two.
fn decimals(standings: &Standings) -> usize {
    let halves = standings
        .rows
        .iter()
        .all(|row| (row.points * 2.0).fract() == 0.0);
    if halves { 1 } else { 2 }
}

/// Points a game: for people, then the mean and the ends of its interval.
fn points_a_game(estimate: Option<Estimate>) -> [Cell; 4] {
    let Some(Estimate { mean, interval, .. }) = estimate else {
        return [const { Cell::Empty }; 4];
    };
    let end = |end: usize| interval.map_or(Cell::Empty, |ends| Cell::Real(ends[end], 2));
    let people = match interval {
        Some([low, high]) => format!("{mean:+.2} ± {:.2}", (high - low) / 2.0),
        None => format!("{mean:+.2}"),
    };
    [Cell::Plain(people), Cell::Real(mean, 2), end(0), end(1)]
}

/// The forfeits of a bot, for people: `2 timeout, 1 crash`.
fn forfeits(row: &Row) -> Cell {
    if row.forfeits.is_empty() {
        return Cell::Empty;
    }
    let kinds: Vec<String> = row
        .forfeits
        .iter()
        .map(|(kind, times)| format!("{times} {kind}"))
        .collect();
    Cell::Plain(kinds.join(", "))
}
