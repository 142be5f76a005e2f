//! The table of standings.

use std::collections::BTreeMap;

use hakem_protocol::Score;
use hakem_protocol::results::{Forfeits, StandingRow};

use super::{Cell, Column, Report, Table, ms, rounded, seconds};
use crate::event::Verdict;
use crate::stats::Estimate;
use crate::tournament::RankedBy;
use crate::tournament::standings::{Row, Standings, Tally, TieBreak};

/// The report of these standings.
pub fn report(standings: &Standings) -> Report<StandingRow> {
    let rows: Vec<StandingRow> = standings
        .rows
        .iter()
        .map(|row| data(standings, row))
        .collect();
    Report {
        table: table(standings, &rows),
        rows,
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
        games_won: row.games.won,
        games_drawn: row.games.drawn,
        games_lost: row.games.lost,
        void: row.void,
        adjudicated: row.adjudicated,
        by_default: row.by_default,
        status: row.status.map(|status| status.as_str().to_owned()),
        forfeits,
        rating: rounded(row.rating.value),
        deviation: rounded(row.rating.deviation),
        volatility: rounded(row.rating.volatility),
        interval: row.rating.interval().map(rounded),
        tie_breaks,
        time_ms: ms(row.time_us),
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
    let equal = format!("{}; then a rank is shared.", names.join(", then "));
    let mut notes = vec![
        match standings.ranked_by {
            RankedBy::Points => format!("Equal points: {equal}"),
            RankedBy::Round => format!(
                "Rank: the round of the knockout that was reached; where that is equal, and before the knockout, the points. Equal \
                 points: {equal}"
            ),
            RankedBy::Rung => "Rank: the rung of the ladder; points do not decide it.".to_owned(),
        },
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

/// The tie-breaks for people, in order: none where they decide nothing.
fn shown_tie_breaks(standings: &Standings) -> impl Iterator<Item = TieBreak> {
    let decide = standings.ranked_by != RankedBy::Rung;
    standings
        .tie_breaks
        .iter()
        .copied()
        .take_while(move |_| decide)
}

fn forfeit_kinds() -> impl Iterator<Item = Verdict> {
    Verdict::ALL
        .into_iter()
        .filter(|verdict| verdict.is_forfeit())
}

/// A figure of a bot as data: its name in CSV, and where it stands in the row that becomes JSON.
type Figure = (String, Box<dyn Fn(&StandingRow) -> Cell>);

/// Every figure, in the order of the row. CSV has these and no others, so that it says what JSON says.
fn figures(standings: &Standings) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let mut add =
        |key: &str, cell: Box<dyn Fn(&StandingRow) -> Cell>| figures.push((key.to_owned(), cell));
    let count = |pick: fn(&StandingRow) -> u32| -> Box<dyn Fn(&StandingRow) -> Cell> {
        Box::new(move |row| Cell::Count(u64::from(pick(row))))
    };
    let real = |pick: fn(&StandingRow) -> f64| -> Box<dyn Fn(&StandingRow) -> Cell> {
        Box::new(move |row| Cell::Real(pick(row), 2))
    };
    let some = |pick: fn(&StandingRow) -> Option<f64>| -> Box<dyn Fn(&StandingRow) -> Cell> {
        Box::new(move |row| pick(row).map_or(Cell::Empty, |value| Cell::Real(value, 2)))
    };
    let ms = |pick: fn(&StandingRow) -> u64| -> Box<dyn Fn(&StandingRow) -> Cell> {
        Box::new(move |row| Cell::Count(pick(row)))
    };
    add("rank", count(|row| row.rank));
    add("name", Box::new(|row| Cell::Text(row.name.clone())));
    add("played", count(|row| row.played));
    add("won", count(|row| row.won));
    add("drawn", count(|row| row.drawn));
    add("lost", count(|row| row.lost));
    add("points", real(|row| row.points.0));
    add("byes", count(|row| row.byes));
    add("by_default", count(|row| row.by_default));
    add("games_won", count(|row| row.games_won));
    add("games_drawn", count(|row| row.games_drawn));
    add("games_lost", count(|row| row.games_lost));
    add("void", count(|row| row.void));
    add("adjudicated", count(|row| row.adjudicated));
    for kind in forfeit_kinds() {
        let cell = move |row: &StandingRow| Cell::Count(u64::from(row.forfeits.count(kind)));
        add(kind.as_str(), Box::new(cell));
    }
    add("rating", real(|row| row.rating));
    add("deviation", real(|row| row.deviation));
    add("volatility", real(|row| row.volatility));
    add("rating_low", real(|row| row.interval[0]));
    add("rating_high", real(|row| row.interval[1]));
    for &by in &standings.tie_breaks {
        let cell = move |row: &StandingRow| {
            let value = row.tie_breaks.get(by.as_str());
            value.map_or(Cell::Empty, |&value| Cell::Real(value, 2))
        };
        add(by.as_str(), Box::new(cell));
    }
    add("time_ms", ms(|row| row.time_ms));
    add("cpu_ms", ms(|row| row.cpu_ms));
    add("wall_ms", ms(|row| row.wall_ms));
    add("points_per_game", some(|row| row.points_per_game));
    let end = |row: &StandingRow, end: usize| row.points_per_game_interval.map(|ends| ends[end]);
    add(
        "points_per_game_low",
        Box::new(move |row| end(row, 0).map_or(Cell::Empty, |value| Cell::Real(value, 2))),
    );
    add(
        "points_per_game_high",
        Box::new(move |row| end(row, 1).map_or(Cell::Empty, |value| Cell::Real(value, 2))),
    );
    add(
        "status",
        Box::new(|row| row.status.clone().map_or(Cell::Empty, Cell::Plain)),
    );
    figures
}

fn table(standings: &Standings, data: &[StandingRow]) -> Table {
    let people = |key: &str, title: &'static str| Column::new(key, title).for_people();
    let mut columns = vec![
        people("rank", "#"),
        people("name", "name"),
        people("status", "status"),
        people("matches", "matches").spare(1),
        people("points", "points"),
    ];
    for by in shown_tie_breaks(standings) {
        if let Some(title) = heading(by) {
            columns.push(people(by.as_str(), title).spare(5));
        }
    }
    columns.extend([
        people("rating", "rating"),
        people("points_per_game", "points/game").spare(2),
        people("games", "games").spare(7),
        people("void", "void").spare(4),
        people("adjudicated", "adjudicated").spare(6),
        people("forfeits", "forfeits").spare(3),
        people("wall", "wall s").spare(8),
        people("cpu", "cpu s").spare(9),
    ]);
    let figures = figures(standings);
    columns.extend(figures.iter().map(|(key, _)| Column::data(key.as_str())));
    let rows = standings.rows.iter().zip(data).map(|(row, data)| {
        let mut cells = cells(standings, row);
        cells.extend(figures.iter().map(|(_, cell)| cell(data)));
        cells
    });
    Table::new(columns, rows.collect())
}

/// The cells of one bot for people, in the order of the columns.
fn cells(standings: &Standings, row: &Row) -> Vec<Cell> {
    let if_any = |number: u32| match number {
        0 => Cell::Empty,
        some => Cell::Count(u64::from(some)),
    };
    let mut cells = vec![
        Cell::Count(row.rank as u64),
        Cell::Text(row.name.clone()),
        status(row),
        tally(row.matches),
        Cell::Real(row.points, decimals(standings)),
    ];
    for (by, &value) in shown_tie_breaks(standings).zip(&row.tie_breaks) {
        if heading(by).is_some() {
            cells.push(value.map_or(Cell::Empty, |value| Cell::Real(value, 2)));
        }
    }
    let rating = row.rating;
    cells.extend([
        Cell::Plain(format!(
            "{:.0} ± {:.0}",
            rating.value,
            1.96 * rating.deviation
        )),
        points_a_game(row.points_a_game),
        tally(row.games),
        if_any(row.void),
        if_any(row.adjudicated),
        forfeits(row),
        seconds(row.wall_us),
        seconds(row.cpu_us),
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

/// Points a game, for people.
fn points_a_game(estimate: Option<Estimate>) -> Cell {
    let Some(Estimate { mean, interval, .. }) = estimate else {
        return Cell::Empty;
    };
    Cell::Plain(match interval {
        Some([low, high]) => format!("{mean:+.2} ± {:.2}", (high - low) / 2.0),
        None => format!("{mean:+.2}"),
    })
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
