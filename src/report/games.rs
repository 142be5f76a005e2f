//! The list of games.

use hakem_protocol::Score;
use hakem_protocol::results::GameRow;

use super::{Cell, Column, Report, Table, ms};
use crate::event::{GameId, GameResult, Verdict};
use crate::game::{Seat, Share};
use crate::tournament::rulings::Desk;
use crate::tournament::standings::{ResultsError, check_game};

/// The report of these games of the bots of these names (by slot), in schedule order.
///
/// # Errors
/// A game that names an unknown bot or contradicts itself.
pub fn report(names: &[String], games: &[GameResult]) -> Result<Report<GameRow>, ResultsError> {
    report_ruled(names, games, &Desk::default(), &|id| {
        format!("records/{id}.jsonl")
    })
}

/// The same with the rulings that the games are subject to, and the names of their records.
///
/// # Errors
/// As [`report`].
pub fn report_ruled(
    names: &[String],
    games: &[GameResult],
    desk: &Desk,
    record_name: &dyn Fn(GameId) -> String,
) -> Result<Report<GameRow>, ResultsError> {
    let of = Of {
        names,
        desk,
        record_name,
    };
    let mut games: Vec<&GameResult> = games.iter().collect();
    games.sort_by_key(|game| game.id);
    for game in &games {
        check_game(game, names.len())?;
    }
    Ok(Report {
        rows: games.iter().map(|game| row(&of, game)).collect(),
        table: table(&of, &games),
        notes: Vec::new(),
    })
}

/// A reason is cut to this in tables for people; characters.
const CUT: usize = 60;

/// A reason that is longer than this is told below the table too, where it is not cut; characters.
const LONG: usize = 20;
/// So many of them at most.
const NOTES: usize = 8;

/// A reason as a table has room for it.
fn cut(reason: &str) -> String {
    match reason.char_indices().nth(CUT) {
        None => reason.to_owned(),
        // The mark takes the place of the last one.
        Some(_) => reason.chars().take(CUT - 1).chain(['…']).collect(),
    }
}

/// The reasons of forfeits, and others that are cut in a table, whole, for a terminal on which a table may have no room for them; a line each.
pub fn reasons(games: &[GameResult]) -> Vec<String> {
    let long = |game: &&GameResult| {
        let room = if game.against.is_some() { LONG } else { CUT };
        game.reason.chars().nth(room).is_some()
    };
    let mut notes: Vec<String> = games
        .iter()
        .filter(long)
        .take(NOTES)
        .map(|game| format!("{}: {}", game.id, super::escape(&game.reason)))
        .collect();
    let more = games.iter().filter(long).count().saturating_sub(NOTES);
    if more > 0 {
        notes.push(format!(
            "and {more} more; --format csv or json has all reasons"
        ));
    }
    if !notes.is_empty() {
        notes.push("`hakem show DIR GAME --explain` tells why a game ended.".to_owned());
    }
    notes
}

/// The name of the bot on a seat of a checked game.
fn name<'a>(names: &'a [String], game: &GameResult, seat: Seat) -> &'a str {
    &names[game.seats[seat]]
}

/// What games are shown with.
struct Of<'a> {
    names: &'a [String],
    desk: &'a Desk,
    record_name: &'a dyn Fn(GameId) -> String,
}

impl Of<'_> {
    /// The record of a game, relative to the event's folder; `None` where none was kept.
    fn record(&self, game: &GameResult) -> Option<String> {
        (!game.record_hash.is_empty()).then(|| (self.record_name)(game.id))
    }

    /// The number of the ruling by which a game is void, or was played again.
    fn ruling(&self, game: &GameResult) -> Option<u32> {
        let of = game.id.of;
        self.desk
            .taken_out(of, &game.seats)
            .or_else(|| self.desk.replay(of))
            .map(|ruling| ruling.number)
    }
}

fn row(of: &Of<'_>, game: &GameResult) -> GameRow {
    let record = || of.record(game);
    let named = |seat| name(of.names, game, seat).to_owned();
    let counts = game.verdict != Verdict::Void;
    let scores = |shares: &Vec<_>| shares.iter().map(score).collect();
    GameRow {
        id: game.id.to_string(),
        seats: (0..game.seats.len()).map(named).collect(),
        winner: game.winner.filter(|_| counts).map(named),
        score: game.score.as_ref().filter(|_| counts).map(scores),
        points: game.points.clone().filter(|_| counts),
        verdict: game.verdict,
        reason: game.reason.clone(),
        against: game.against.map(named),
        moves: game.moves,
        time_ms: game.time_us.iter().copied().map(ms).collect(),
        cpu_ms: game.cpu_us.iter().copied().map(ms).collect(),
        record: record(),
        record_hash: record().map(|_| game.record_hash.clone()),
        ruling: of.ruling(game),
    }
}

fn score(share: &Share) -> Score {
    Score(share.value())
}

/// Headings of the bots, by seat; a table has at most four seats.
const SEATS: [&str; 4] = ["seat 0", "seat 1", "seat 2", "seat 3"];

fn table(of: &Of<'_>, games: &[&GameResult]) -> Table {
    let seats = games.iter().map(|game| game.seats.len()).max().unwrap_or(2);
    let by_seat =
        |key: &'static str| (0..seats).map(move |seat| Column::data(format!("{key}_{seat}")));
    let mut columns = vec![Column::new("id", "game")];
    columns.extend((0..seats).map(|seat| Column::new(format!("seat_{seat}"), SEATS[seat])));
    columns.push(Column::new("winner", "winner").spare(6));
    columns.push(Column::new("score", "score").for_people().spare(1));
    columns.extend(by_seat("score"));
    columns.push(Column::new("points", "points").for_people().spare(3));
    columns.extend(by_seat("points"));
    columns.push(Column::new("verdict", "verdict").spare(4));
    columns.push(Column::new("reason", "reason").for_people().spare(2));
    columns.push(Column::data("reason"));
    columns.push(Column::new("against", "against").spare(5));
    columns.push(Column::new("moves", "moves").spare(7));
    columns.push(Column::new("time", "time s").for_people().spare(8));
    columns.extend(by_seat("time_ms"));
    columns.push(Column::new("cpu", "cpu s").for_people().spare(9));
    columns.extend(by_seat("cpu_ms"));
    columns.push(Column::data("record"));
    columns.push(Column::data("record_hash"));
    columns.push(Column::new("ruling", "ruling").spare(6));
    let rows = games.iter().map(|game| cells(of, game, seats)).collect();
    Table::new(columns, rows)
}

/// The cells of one game, in the order of the columns.
fn cells(of: &Of<'_>, game: &GameResult, seats: usize) -> Vec<Cell> {
    let names = of.names;
    let named = |seat: Option<Seat>| {
        seat.map_or(Cell::Empty, |seat| {
            Cell::Text(name(names, game, seat).to_owned())
        })
    };
    let counts = game.verdict != Verdict::Void;
    let shares: &[Share] = game.score.as_deref().filter(|_| counts).unwrap_or_default();
    let points: &[u32] = game
        .points
        .as_deref()
        .filter(|_| counts)
        .unwrap_or_default();
    let time = |list: &[u64]| {
        let seconds = |us: u64| format!("{:.1}", us as f64 / 1e6);
        by_seat(list, seats, " / ", seconds, |us| Cell::Count(ms(us)))
    };
    let of_record = |text: Option<String>| text.map_or(Cell::Empty, Cell::Plain);

    let mut cells = vec![Cell::Plain(game.id.to_string())];
    cells.extend((0..seats).map(|seat| named((seat < game.seats.len()).then_some(seat))));
    cells.push(named(game.winner.filter(|_| counts)));
    cells.extend(by_seat(shares, seats, "-", share_text, |share| {
        Cell::Real(share.value(), 2)
    }));
    cells.extend(by_seat(
        points,
        seats,
        "-",
        |points| points.to_string(),
        |points| Cell::Count(u64::from(points)),
    ));
    cells.push(Cell::Plain(game.verdict.to_string()));
    cells.push(Cell::Text(cut(&super::escape(&game.reason))));
    cells.push(Cell::Text(game.reason.clone()));
    cells.push(named(game.against));
    cells.push(Cell::Count(u64::from(game.moves)));
    cells.extend(time(&game.time_us));
    cells.extend(time(&game.cpu_us));
    let record = of.record(game);
    cells.push(of_record(record.clone()));
    cells.push(of_record(record.map(|_| game.record_hash.clone())));
    let ruling = of.ruling(game);
    cells.push(ruling.map_or(Cell::Empty, |number| Cell::Count(u64::from(number))));
    cells
}

/// A list by seat: one cell for people, then for data a cell a seat.
fn by_seat<T: Copy>(
    list: &[T],
    seats: usize,
    separator: &str,
    shown: impl Fn(T) -> String,
    data: impl Fn(T) -> Cell,
) -> Vec<Cell> {
    let texts: Vec<String> = list.iter().map(|&value| shown(value)).collect();
    let mut cells = vec![if texts.is_empty() {
        Cell::Empty
    } else {
        Cell::Plain(texts.join(separator))
    }];
    cells.extend((0..seats).map(|seat| list.get(seat).map_or(Cell::Empty, |&value| data(value))));
    cells
}

/// A share as people write it: 0, 1, 1/2, 1/3.
fn share_text(share: Share) -> String {
    match share {
        Share::WIN | Share::LOSS => share.value().to_string(),
        _ => format!("1/{}", (1.0 / share.value()).round()),
    }
}
