//! Results as rows, and back. Rows are written and read from the first column to the last, in the order of the layout.

use std::str::FromStr;

use rusqlite::types::{FromSql, Type, Value};
use rusqlite::{Connection, Row, params, params_from_iter};

use super::{MAX_SEATS, Replays, Stored, VoidNote};
use crate::chance;
use crate::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use crate::game::Share;

/// A win in the unit in which scores are stored, which divides by every number of winners up to four.
const WIN: f64 = 12.0;

const INSERT_VOID: &str = "INSERT INTO voids (round, number, game, slots, why) VALUES (?,?,?,?,?)";

/// The columns of a game, in the order in which they are read.
pub(super) const GAME_COLUMNS: &str = "round, number, game, seats, slot0, slot1, slot2, slot3, winner, \
    score0, score1, score2, score3, points0, points1, points2, points3, verdict, reason, against, moves, \
    time0, time1, time2, time3, wall0, wall1, wall2, wall3, cpu0, cpu1, cpu2, cpu3, record_hash, first, play_hash";
/// The columns of a match, in the order in which they are read.
pub(super) const MATCH_COLUMNS: &str = "round, number, seats, slot0, slot1, slot2, slot3, score0, score1, score2, score3, \
    series0, series1, series2, series3, games";

/// All games in the order of the schedule.
pub(super) const SELECT_GAMES: &str = "SELECT * FROM games ORDER BY round, number, game";
/// The game of an id.
pub(super) const SELECT_GAME: &str =
    "SELECT * FROM games WHERE round = ? AND number = ? AND game = ?";
/// All matches in the order of the schedule.
pub(super) const SELECT_MATCHES: &str = "SELECT * FROM matches ORDER BY round, number";
/// All void games in the order in which they happened.
pub(super) const SELECT_VOIDS: &str =
    "SELECT round, number, game, slots, why FROM voids ORDER BY id";

/// The condition that a row is of one of these matches.
pub(super) fn is_one_of<'a>(matches: impl Iterator<Item = &'a MatchId>) -> String {
    let of: Vec<String> = matches
        .map(|of| format!("({}, {})", of.round, of.number))
        .collect();
    if of.is_empty() {
        return "0".to_owned();
    }
    format!("(round, number) IN (VALUES {})", of.join(", "))
}

/// All games in the order of the schedule; of matches that are played again those that were played last.
pub(super) fn select_games(replays: &Replays) -> String {
    with_replays(SELECT_GAMES, GAME_COLUMNS, "games", ", game", replays)
}

/// All matches in the order of the schedule, likewise.
pub(super) fn select_matches(replays: &Replays) -> String {
    with_replays(SELECT_MATCHES, MATCH_COLUMNS, "matches", "", replays)
}

fn with_replays(usual: &str, columns: &str, table: &str, then: &str, replays: &Replays) -> String {
    if replays.is_empty() {
        return usual.to_owned();
    }
    let rulings: Vec<String> = replays.values().map(ToString::to_string).collect();
    format!(
        "SELECT {columns} FROM {table} WHERE NOT {} \
         UNION ALL SELECT {columns} FROM replayed_{table} WHERE ruling IN ({}) ORDER BY round, number{then}",
        is_one_of(replays.keys()),
        rulings.join(", ")
    )
}

/// Why a row was not written.
pub(super) enum Refused {
    /// The result itself is wrong.
    Invalid(String),
    /// SQLite refused it.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Refused {
        Refused::Sql(error)
    }
}

impl From<String> for Refused {
    fn from(what: String) -> Refused {
        Refused::Invalid(what)
    }
}

/// The id of a result, for messages.
pub(super) fn id(stored: &Stored) -> String {
    match stored {
        Stored::Game(game) => game.id.to_string(),
        Stored::Void(note) => note.id.to_string(),
        Stored::Match(result) => result.id.to_string(),
    }
}

// ---- Writing ----------------------------------------------------------------------------------------------------

/// Writes one row. `bots` is the number of bots of the event; `replays` says which matches are played again.
pub(super) fn insert(
    connection: &Connection,
    stored: &Stored,
    bots: usize,
    replays: &Replays,
) -> Result<(), Refused> {
    match stored {
        Stored::Game(game) => {
            let row = game_row(game, bots)?;
            insert_row(connection, "games", row, replays.get(&game.id.of))?;
        }
        Stored::Void(VoidNote { id, seats, why }) => {
            let slots = serde_json::to_string(seats).unwrap_or_default();
            let mut insert = connection.prepare_cached(INSERT_VOID)?;
            insert.execute(params![id.of.round, id.of.number, id.game, slots, why])?;
        }
        Stored::Match(result) => {
            let row = match_row(result, bots)?;
            insert_row(connection, "matches", row, replays.get(&result.id))?;
        }
    }
    Ok(())
}

/// Writes a row into its table, or into that of what is played again under a ruling.
fn insert_row(
    connection: &Connection,
    table: &str,
    mut row: Vec<Value>,
    ruling: Option<&u32>,
) -> rusqlite::Result<()> {
    let again = if let Some(&ruling) = ruling {
        row.insert(0, ruling.into());
        "replayed_"
    } else {
        ""
    };
    let places = vec!["?"; row.len()].join(",");
    let sql = format!("INSERT INTO {again}{table} VALUES ({places})");
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(row))?;
    Ok(())
}

fn game_row(game: &GameResult, bots: usize) -> Result<Vec<Value>, String> {
    let seats = check_seats(&game.seats, bots)?;
    let (Some(score), Some(points)) = (&game.score, &game.points) else {
        return Err("a game that counts has a score and points".into());
    };
    if game.verdict == Verdict::Void {
        return Err("a void game does not count".into());
    }
    let named = [game.winner, game.against, game.first];
    if let Some(seat) = named.into_iter().flatten().find(|&seat| seat >= seats) {
        return Err(format!("there is no seat {seat}"));
    }
    let mut row = Vec::with_capacity(36);
    row.push(game.id.of.round.into());
    row.push(game.id.of.number.into());
    row.push(game.id.game.into());
    row.push((seats as i64).into());
    push_all(&mut row, "slots", &game.seats, seats, |&slot| slot as i64)?;
    row.push(game.winner.map(|seat| seat as i64).into());
    push_shares(&mut row, score, seats)?;
    push_all(&mut row, "points", points, seats, |&n| i64::from(n))?;
    row.push(game.verdict.as_str().to_owned().into());
    row.push(game.reason.clone().into());
    row.push(game.against.map(|seat| seat as i64).into());
    row.push(game.moves.into());
    push_times(&mut row, "times", &game.time_us, seats)?;
    push_times(&mut row, "wall times", &game.wall_us, seats)?;
    push_times(&mut row, "processor times", &game.cpu_us, seats)?;
    row.push(hash_bytes(&game.record_hash)?.into());
    row.push(game.first.map(|seat| seat as i64).into());
    row.push(hash_bytes(&game.play_hash)?.into());
    Ok(row)
}

fn match_row(result: &MatchResult, bots: usize) -> Result<Vec<Value>, String> {
    let seats = check_seats(&result.seats, bots)?;
    if result.series.iter().any(|score| !score.is_finite()) {
        return Err("its series score is no number".into());
    }
    let mut row = Vec::with_capacity(16);
    row.push(result.id.round.into());
    row.push(result.id.number.into());
    row.push((seats as i64).into());
    push_all(&mut row, "slots", &result.seats, seats, |&slot| slot as i64)?;
    push_shares(&mut row, &result.score, seats)?;
    push_all(&mut row, "series scores", &result.series, seats, |&n| n)?;
    row.push(result.games.into());
    Ok(row)
}

fn check_seats(slots: &[usize], bots: usize) -> Result<usize, String> {
    if !(2..=MAX_SEATS).contains(&slots.len()) {
        return Err(format!("it has {} seats", slots.len()));
    }
    match slots.iter().find(|&&slot| slot >= bots) {
        Some(slot) => Err(format!("there is no slot {slot}")),
        None => Ok(slots.len()),
    }
}

/// Pushes one column for each seat that could be.
fn push_all<T, V: Into<Value>>(
    row: &mut Vec<Value>,
    what: &str,
    values: &[T],
    seats: usize,
    value: impl Fn(&T) -> V,
) -> Result<(), String> {
    if values.len() != seats {
        return Err(format!("it has {} {what} for {seats} seats", values.len()));
    }
    row.extend((0..MAX_SEATS).map(|seat| {
        values
            .get(seat)
            .map_or(Value::Null, |found| value(found).into())
    }));
    Ok(())
}

fn push_shares(row: &mut Vec<Value>, score: &[Share], seats: usize) -> Result<(), String> {
    let twelfths = |share: &Share| share.value() * WIN;
    if let Some(share) = score.iter().find(|share| twelfths(share).fract() != 0.0) {
        return Err(format!(
            "{} is no share of at most {MAX_SEATS} winners",
            share.value()
        ));
    }
    push_all(row, "shares", score, seats, |share| twelfths(share) as i64)
}

/// Times by seat; the list is empty where nothing was measured.
fn push_times(row: &mut Vec<Value>, what: &str, times: &[u64], seats: usize) -> Result<(), String> {
    if times.is_empty() {
        row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
        return Ok(());
    }
    if times.iter().any(|&time| i64::try_from(time).is_err()) {
        return Err(format!("its {what} are too long"));
    }
    push_all(row, what, times, seats, |&time| time as i64)
}

/// A hash in small hex digits as bytes; `None` where no record is kept.
fn hash_bytes(hex: &str) -> Result<Option<Vec<u8>>, String> {
    if hex.is_empty() {
        return Ok(None);
    }
    chance::from_hex(hex)
        .map(|hash| Some(hash.to_vec()))
        .ok_or_else(|| "a hash of it is no SHA-256 in hex".into())
}

// ---- Reading ----------------------------------------------------------------------------------------------------

/// A row of `games`.
pub(super) fn game(row: &Row<'_>) -> rusqlite::Result<GameResult> {
    let mut row = Columns { row, next: 0 };
    let id = row.match_id()?.game(row.get()?);
    let seats = row.seats()?;
    let mut game = GameResult {
        id,
        seats: row.all(seats)?,
        winner: row.get()?,
        score: Some(row.shares(seats)?),
        points: Some(row.all(seats)?),
        verdict: row.verdict()?,
        reason: row.get()?,
        against: row.get()?,
        moves: row.get()?,
        first: None,
        time_us: row.times(seats)?,
        wall_us: row.times(seats)?,
        cpu_us: row.times(seats)?,
        record_hash: row.hash()?,
        play_hash: String::new(),
    };
    if row.is_more() {
        game.first = row.get()?;
        game.play_hash = row.hash()?;
    }
    Ok(game)
}

/// A row of `matches`.
pub(super) fn match_result(row: &Row<'_>) -> rusqlite::Result<MatchResult> {
    let mut row = Columns { row, next: 0 };
    let id = row.match_id()?;
    let seats = row.seats()?;
    Ok(MatchResult {
        id,
        seats: row.all(seats)?,
        score: row.shares(seats)?,
        series: row.all(seats)?,
        games: row.get()?,
    })
}

/// A row as it is, or what cannot be read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow<Id, T> {
    /// The match or game.
    pub id: Id,
    /// The ruling under which it was played again, if it was.
    pub under: Option<u32>,
    /// What the row says.
    pub says: Result<T, String>,
}

fn ruling_of(row: &Row<'_>) -> rusqlite::Result<Option<u32>> {
    match row.as_ref().column_index("ruling") {
        Ok(column) => row.get(column),
        Err(_) => Ok(None),
    }
}

/// A row of `games` or, with the column `ruling` at its end, of `replayed_games`, whatever it says.
pub(super) fn any_game(row: &Row<'_>) -> rusqlite::Result<StoredRow<GameId, GameResult>> {
    Ok(StoredRow {
        id: Columns { row, next: 0 }.game_id()?,
        under: ruling_of(row)?,
        says: game(row).map_err(|error| error.to_string()),
    })
}

/// A row of `matches` or, with the column `ruling` at its end, of `replayed_matches`, whatever it says.
pub(super) fn any_match(row: &Row<'_>) -> rusqlite::Result<StoredRow<MatchId, MatchResult>> {
    Ok(StoredRow {
        id: Columns { row, next: 0 }.match_id()?,
        under: ruling_of(row)?,
        says: match_result(row).map_err(|error| error.to_string()),
    })
}

/// A row of `voids`.
pub(super) fn void(row: &Row<'_>) -> rusqlite::Result<VoidNote> {
    let mut row = Columns { row, next: 0 };
    Ok(VoidNote {
        id: row.game_id()?,
        seats: serde_json::from_str(&row.get::<String>()?).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(3, Type::Text, error.into())
        })?,
        why: row.get()?,
    })
}

/// Takes the columns of a row one after the other.
struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl Columns<'_> {
    fn get<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    /// Whether the row has another column; an older file has fewer.
    fn is_more(&self) -> bool {
        self.next < self.row.as_ref().column_count()
    }

    fn match_id(&mut self) -> rusqlite::Result<MatchId> {
        Ok(MatchId {
            round: self.get()?,
            number: self.get()?,
        })
    }

    fn game_id(&mut self) -> rusqlite::Result<GameId> {
        Ok(self.match_id()?.game(self.get()?))
    }

    fn seats(&mut self) -> rusqlite::Result<usize> {
        let seats: usize = self.get()?;
        if (2..=MAX_SEATS).contains(&seats) {
            Ok(seats)
        } else {
            Err(self.bad(Type::Integer, format!("{seats} seats")))
        }
    }

    /// One value for each seat; the columns of seats that are not there are empty.
    fn all<T: FromSql>(&mut self, seats: usize) -> rusqlite::Result<Vec<T>> {
        let values = (0..seats).map(|_| self.get()).collect();
        for seat in seats..MAX_SEATS {
            if self.get::<Option<Value>>()?.is_some() {
                return Err(self.bad(
                    Type::Null,
                    format!("a value for seat {seat}, which is not there"),
                ));
            }
        }
        values
    }

    fn shares(&mut self, seats: usize) -> rusqlite::Result<Vec<Share>> {
        let twelfths: Vec<i32> = self.all(seats)?;
        twelfths
            .into_iter()
            .map(|twelfths| {
                Share::from_value(f64::from(twelfths) / WIN)
                    .ok_or_else(|| self.bad(Type::Integer, format!("a score of {twelfths}")))
            })
            .collect()
    }

    fn times(&mut self, seats: usize) -> rusqlite::Result<Vec<u64>> {
        let times: Vec<Option<u64>> = self.all(seats)?;
        Ok(times.into_iter().flatten().collect())
    }

    fn verdict(&mut self) -> rusqlite::Result<Verdict> {
        let text: String = self.get()?;
        Verdict::from_str(&text).map_err(|error| self.bad(Type::Text, error))
    }

    fn hash(&mut self) -> rusqlite::Result<String> {
        let bytes: Option<Vec<u8>> = self.get()?;
        Ok(bytes.map_or_else(String::new, |bytes| chance::hex(&bytes)))
    }

    /// The column before the next does not hold what it should.
    fn bad(&self, kind: Type, what: String) -> rusqlite::Error {
        rusqlite::Error::FromSqlConversionFailure(self.next - 1, kind, what.into())
    }
}
