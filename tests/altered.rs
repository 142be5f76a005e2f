//! `hakem verify` of whole folders: whatever is changed in one, by SQL or in a record whose hashes are made to fit again, is found.
#![cfg(feature = "runner")]

mod common;

use std::path::PathBuf;

use common::{Event, Lab, Ran};
use hakem::referee::record::hash_line;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Value as Json;

/// A folder that is changed, looked at and put back as it was.
struct Folder {
    lab: Lab,
    good: Vec<u8>,
}

impl Folder {
    /// Takes the folder `event` as it is now, which holds.
    fn of(lab: Lab) -> Folder {
        lab.hakem(["verify", "event"]).exits(0);
        let file = lab.path("event/results.sqlite");
        // All into the file: no log of SQLite's is to be put back beside it.
        let connection = Connection::open(&file).expect("the results");
        connection
            .execute_batch("PRAGMA journal_mode = delete;")
            .expect("it can be changed");
        drop(connection);
        Folder {
            good: std::fs::read(file).expect("results"),
            lab,
        }
    }

    fn file(&self) -> PathBuf {
        self.lab.path("event/results.sqlite")
    }

    fn open(&self) -> Connection {
        let file = Connection::open(self.file()).expect("the results");
        file.execute_batch(
            "PRAGMA ignore_check_constraints = on; PRAGMA foreign_keys = off; \
             DROP TRIGGER IF EXISTS rulings_stay; DROP TRIGGER IF EXISTS rulings_last;",
        )
        .expect("it can be changed");
        file
    }

    fn restore(&self) {
        for more in ["-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(self.lab.path(format!("event/results.sqlite{more}")));
        }
        std::fs::write(self.file(), &self.good).expect("the results are put back");
    }

    /// What `verify` says once this SQL was run; the folder is put back.
    #[track_caller]
    fn after(&self, sql: &str) -> Ran {
        self.open().execute_batch(sql).expect(sql);
        let ran = self.lab.hakem(["verify", "event"]);
        self.restore();
        ran
    }

    /// What `verify` says once a line of a record was changed and all hashes fit again; the folder is put back.
    #[track_caller]
    fn forged(&self, name: &str, change: impl Fn(&str) -> String) -> Ran {
        let path = self.lab.path(format!("event/records/{name}.jsonl"));
        let record = std::fs::read_to_string(&path).expect("a record");
        let (text, hash) = rechained(&record, change);
        assert_ne!(text, record, "{name} is changed");
        std::fs::write(&path, text).expect("the record is written");
        let (old, new) = (hash_of(&record), hash);
        let sql = format!("UPDATE games SET record_hash = x'{new}' WHERE record_hash = x'{old}';");
        let ran = self.after(&sql);
        std::fs::write(&path, record).expect("the record is put back");
        ran
    }
}

fn hash_of(record: &str) -> String {
    let last = record.lines().last().expect("a line");
    String::from_utf8(hash_line(last.as_bytes()).to_vec()).expect("hex digits")
}

/// The record with changed lines, and its last hash.
fn rechained(record: &str, change: impl Fn(&str) -> String) -> (String, String) {
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for line in record.lines() {
        let body = line.rsplit_once(",\"prev\":").expect("a link").0;
        let line = format!("{},\"prev\":\"{prev}\"}}", change(body));
        prev = String::from_utf8(hash_line(line.as_bytes()).to_vec()).expect("hex digits");
        text.push_str(&line);
        text.push('\n');
    }
    (text, prev)
}

/// Three bots, one of which crashes in each game, and a fourth that says no `ready`.
fn forfeits() -> Folder {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .set("event", "jobs", "1")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .mock("crash", &["--crash-at", "2"])
        .mock("mute", &["--crash-before-ready"])
        .write(&lab, "event.toml");
    lab.run(&file);
    Folder::of(lab)
}

/// Matches of several games with dice and a cube, draws, void and replayed matches, bots that are out or came late.
fn ruled() -> Folder {
    let lab = Lab::new();
    let event = Event::new("mangala")
        .set("event", "jobs", "1")
        .set("event", "opening_plies", "2")
        .set("adjudication", "max_moves", "9")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .mock("cem", &["--crash-at", "3"]);
    let file = event.write(&lab, "event.toml");
    let command = lab
        .command(["run", "event.toml"])
        .env("HAKEM_TEST_FAILS_IN", "r1.m2.g1")
        .output()
        .expect("hakem runs");
    assert_eq!(command.status.code(), Some(3), "a game is void three times");
    lab.run(&file);
    let desk = |args: &[&str]| {
        lab.hakem([&["desk", "event"], args, &["--reason", "so it is"]].concat())
            .exits(0)
    };
    desk(&["void", "r1.m1"]);
    desk(&["replay", "r1.m3"]);
    lab.run(&file);
    desk(&["undo", "1"]);
    desk(&["disqualify", "cem"]);
    let file = event.builtin("dora", "random").write(&lab, "event.toml");
    desk(&["add", "event.toml", "--force"]);
    lab.run(&file);
    Folder::of(lab)
}

#[test]
fn results_that_were_changed_do_not_verify() {
    let folder = forfeits();
    let of_crash = "number IN (SELECT number FROM games WHERE verdict = 'crash')";
    let turned = |what: &str, table: &str, condition: &str| {
        format!("UPDATE {table} SET {what}0 = {what}1, {what}1 = {what}0 WHERE {condition};")
    };
    let copied = |round: u32, number: u32| {
        format!(
            "INSERT INTO matches SELECT {round}, {number}, seats, slot0, slot1, slot2, slot3, score0, score1, score2, score3, \
             series0, series1, series2, series3, games FROM matches WHERE number = 1;"
        )
    };
    let slots = [turned("slot", "matches", "1"), turned("slot", "games", "1")];
    let alterations: [(&str, String); 30] = [
        ("r1.m4", turned("score", "matches", of_crash)),
        ("r1.m1", turned("series", "matches", "number = 1")),
        ("r1.m1", slots[0].clone()),
        ("r1.m1", slots[1].clone()),
        ("r1.m1", slots.concat()),
        ("crash", "UPDATE bots SET name = 'tmp' WHERE slot = 0; UPDATE bots SET name = 'anna' WHERE slot = 2; \
                   UPDATE bots SET name = 'crash' WHERE slot = 0;".into()),
        ("ghost", "INSERT INTO bots VALUES (4, 'ghost', '{}');".into()),
        ("mute", "DELETE FROM bots WHERE slot = 3;".into()),
        ("r1.m1", "DELETE FROM matches WHERE number = 1;".into()),
        ("r1.m1", "DELETE FROM games WHERE number = 1;".into()),
        ("r1.m1", "DELETE FROM games WHERE number = 1; DELETE FROM matches WHERE number = 1;".into()),
        ("r1.m99", copied(1, 99)),
        ("r2.m1", copied(2, 1)),
        ("r1.m99", "UPDATE matches SET number = 99 WHERE number = 1;".into()),
        ("r1.m99", "UPDATE games SET number = 99 WHERE number = 1;".into()),
        ("r1.m1", "UPDATE matches SET games = 0; DELETE FROM games;".into()),
        ("r1.m1", "UPDATE games SET first = 1 - first;".into()),
        ("r1.m1", "UPDATE games SET play_hash = NULL;".into()),
        ("r1.m1", "UPDATE games SET play_hash = NULL, first = NULL;".into()),
        ("r1.m1", "UPDATE games SET slot2 = 2 WHERE number = 1;".into()),
        ("r1.m1", "UPDATE games SET verdict = 'nonsense' WHERE number = 1;".into()),
        ("r1.m1", "UPDATE meta SET value = replace(value, 'round-robin', 'gauntlet') WHERE key = 'event';".into()),
        ("clock", "UPDATE meta SET value = replace(value, '\"10s\"', '\"11s\"') WHERE key = 'event';".into()),
        ("event", "DELETE FROM meta WHERE key = 'event';".into()),
        ("event", "UPDATE meta SET value = '{' WHERE key = 'event';".into()),
        ("game", "UPDATE meta SET value = 'oware' WHERE key = 'game';".into()),
        ("rules", "UPDATE meta SET value = '{\"a\":1}' WHERE key = 'rules';".into()),
        ("seed", "UPDATE meta SET value = '43' WHERE key = 'seed';".into()),
        ("r9.m9.g1", "INSERT INTO voids (round, number, game, slots, why) VALUES (9, 9, 1, '[0,1]', 'x');".into()),
        ("r1.m1", "INSERT INTO replayed_matches SELECT 1, 1, 1, seats, slot0, slot1, slot2, slot3, score0, score1, score2, \
                   score3, series0, series1, series2, series3, games FROM matches WHERE number = 1;".into()),
    ];
    for (name, sql) in alterations {
        let ran = folder.after(&sql);
        assert_eq!(ran.code, Some(1), "not found out: {sql}\n{ran}");
        let told = ran
            .stdout
            .lines()
            .any(|line| line.contains("does not verify") && line.contains(name));
        assert!(told, "{name} is not named: {sql}\n{ran}");
    }
    folder.lab.hakem(["verify", "event"]).exits(0);
}

#[test]
fn the_event_is_what_the_headers_of_records_say() {
    let folder = forfeits();
    let replace =
        |from: &'static str, to: &'static str| move |line: &str| line.replacen(from, to, 1);
    let games = folder.lab.games("event");
    let game = games
        .iter()
        .find(|game| game["seats"] == serde_json::json!(["anna", "bela"]));
    let name = common::text(game.expect("they met"), "id");
    let path = format!("event/records/{name}.jsonl");
    let record = std::fs::read_to_string(folder.lab.path(&path)).expect("a record");
    let mut tossed = [r#""lot":0"#, r#""lot":1"#];
    if record.contains(tossed[1]) {
        tossed.reverse();
    }
    let changes: [(&str, &str, &str); 9] = [
        (
            "seats",
            r#""seats":["anna","bela"]"#,
            r#""seats":["bela","anna"]"#,
        ),
        ("clock", r#""ready_us":10000000"#, r#""ready_us":10000001"#),
        ("cores", r#""cores":1"#, r#""cores":2"#),
        (
            "adjudication",
            r#""opening_plies":0"#,
            r#""opening_plies":0,"adjudication":{"max_moves":4000}"#,
        ),
        ("seed", r#""guessable":true"#, r#""guessable":false"#),
        ("chance", r#""pair":0"#, r#""pair":1"#),
        ("coin toss", tossed[0], tossed[1]),
        ("opening", r#""opening_plies":0"#, r#""opening_plies":1"#),
        ("program", r#""builtin":"greedy""#, r#""builtin":"kuyu""#),
    ];
    for (what, from, to) in changes {
        let ran = folder.forged(name, replace(from, to));
        assert_eq!(ran.code, Some(1), "{what}: {ran}");
        assert!(ran.stdout.contains(name), "{what}: {ran}");
    }
    folder.lab.hakem(["verify", "event"]).exits(0);
}

/// Other values that a column could as well hold.
fn others(column: &str, value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![
            Value::Integer(0),
            Value::Integer(1),
            Value::Blob(vec![7; 32]),
        ],
        Value::Integer(0) => vec![Value::Integer(1), Value::Null],
        Value::Integer(number) => vec![
            Value::Integer(number + 1),
            Value::Integer(0),
            Value::Integer(number + 50),
            Value::Null,
        ],
        Value::Real(number) => vec![Value::Real(number + 1.0), Value::Real(0.25)],
        Value::Blob(bytes) => {
            let mut other = bytes.clone();
            other[5] ^= 1;
            vec![Value::Blob(other), Value::Null]
        }
        Value::Text(text) => match column {
            "verdict" => ["rule", "crash", "timeout", "adjudicated"]
                .into_iter()
                .filter(|verdict| verdict != text)
                .map(|verdict| Value::Text(verdict.into()))
                .collect(),
            "files" => vec![Value::Text(format!(
                "{{\"bot.py\":\"{}\"}}",
                "ab".repeat(32)
            ))],
            "slots" => vec![Value::Text("[1,0]".into()), Value::Text("[0,2]".into())],
            "what" => vec![
                Value::Text(r#"{"kind":"withdraw","slot":0}"#.into()),
                Value::Text(r#"{"kind":"void","of":"r1.m2"}"#.into()),
            ],
            _ => vec![Value::Text(format!("{text}x"))],
        },
    }
    .into_iter()
    .filter(|other| other != value)
    .collect()
}

/// Columns of which nothing else tells: what a kept hash of the results shows.
const NOT_PROVEN: [(&str, &str); 3] = [
    // Bots may leave files beside themselves, so that records and results may differ there.
    ("bots", "files"),
    ("voids", "game"),
    ("voids", "why"),
];

/// A row: its table, all of it for people, its columns, and the names of those that are its key.
type Row = (String, String, Vec<(String, Value)>, Vec<String>);

/// Changes every column of every row of these tables, one at a time; how many changes there were. In a quick run it is one row for each
/// column and one change.
fn change_each(folder: &Folder, tables: &[&str]) -> usize {
    let reader = Connection::open(folder.file()).expect("the results");
    let mut count = 0;
    let mut passed = Vec::new();
    let hash = folder.lab.hakem(["verify", "event"]).exits(0).stdout;
    let hash = hash
        .split("hash of the results is ")
        .nth(1)
        .expect("a hash")[..64]
        .to_owned();
    let mut all: Vec<Row> = Vec::new();
    for &table in tables {
        let key: Vec<String> = reader
            .prepare(&format!(
                "SELECT name FROM pragma_table_info('{table}') WHERE pk > 0"
            ))
            .expect("a table")
            .query_map([], |row| row.get(0))
            .expect("columns")
            .collect::<Result<_, _>>()
            .expect("names");
        let mut statement = reader
            .prepare(&format!("SELECT * FROM {table}"))
            .expect("a table");
        let names: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let values: Vec<(String, Value)> = names
                .iter()
                .enumerate()
                .map(|(at, name)| (name.clone(), row.get(at).expect("a value")))
                .collect();
            all.push((table.to_owned(), format!("{values:?}"), values, key.clone()));
        }
    }
    drop(reader);
    folder.restore();
    let full = common::full();
    for (place, (table, shown, values, key)) in all.iter().enumerate() {
        let of_table = all.iter().filter(|row| row.0 == *table).count();
        for (at, (column, value)) in values.iter().enumerate() {
            if !full && (place + at) % of_table != 0 {
                continue;
            }
            let most = if full { usize::MAX } else { 1 };
            let mut changes = 0;
            // Nothing but the order of the voids is in their number.
            if (table.as_str(), column.as_str()) == ("voids", "id") {
                continue;
            }
            for other in others(column, value) {
                if changes == most {
                    break;
                }
                let mut parameters = vec![other.clone()];
                let condition: Vec<String> = key
                    .iter()
                    .map(|part| {
                        let (_, value) =
                            values.iter().find(|(name, _)| name == part).expect("a key");
                        parameters.push(value.clone());
                        format!("{part} = ?")
                    })
                    .collect();
                let sql = format!(
                    "UPDATE {table} SET {column} = ? WHERE {}",
                    condition.join(" AND ")
                );
                // What the table itself refuses nobody reads.
                let changed = folder
                    .open()
                    .execute(&sql, rusqlite::params_from_iter(parameters));
                if !matches!(changed, Ok(1)) {
                    folder.restore();
                    continue;
                }
                let proven = !NOT_PROVEN.contains(&(table.as_str(), column.as_str()));
                let ran = if proven {
                    folder.lab.hakem(["verify", "event"])
                } else {
                    folder.lab.hakem(["verify", "event", "--expect", &hash])
                };
                folder.restore();
                count += 1;
                changes += 1;
                if ran.code != Some(1) || !ran.stdout.contains("does not verify") {
                    passed.push(format!(
                        "{table}.{column} = {other:?} in {shown}: {:?}",
                        ran.code
                    ));
                }
            }
        }
    }
    assert!(passed.is_empty(), "not found out: {}", passed.join("\n"));
    count
}

#[test]
fn every_column_is_proven_or_told_by_the_hash() {
    let folder = ruled();
    let tables = [
        "games",
        "matches",
        "bots",
        "rulings",
        "voids",
        "replayed_games",
        "replayed_matches",
    ];
    let count = change_each(&folder, &tables);
    assert!(count > 100, "{count} changes");
}

#[test]
fn columns_of_matches_of_several_games_are_proven() {
    let lab = Lab::new();
    let file = Event::new("tavla")
        .set("rules", "match_length", "3")
        .mock("one", &["--pick", "hash:1", "--answer-take", "take"])
        .mock("two", &["--pick", "hash:2", "--double"])
        .write(&lab, "event.toml");
    lab.run(&file);
    let folder = Folder::of(lab);
    let games = folder.lab.games("event").len();
    assert!(games > 2, "{games} games");
    let count = change_each(&folder, &["matches", "games"]);
    assert!(count > 40, "{count} changes");
    // The last game of a match, and the first.
    let last = "DELETE FROM games WHERE (number, game) = (SELECT number, games FROM matches WHERE number = 1);";
    let ran = folder.after(last);
    assert_eq!(ran.code, Some(1), "{ran}");
    let ran = folder.after(&format!("{last} UPDATE matches SET games = games - 1;"));
    assert_eq!(ran.code, Some(1), "{ran}");
    let ran = folder.after("DELETE FROM games WHERE game = 1;");
    assert_eq!(ran.code, Some(1), "{ran}");
}

#[test]
fn rulings_that_were_changed_or_taken_away_do_not_verify() {
    let folder = ruled();
    let rulings: Json = folder
        .lab
        .hakem(["desk", "event", "--format", "json"])
        .exits(0)
        .json();
    let count = rulings.as_array().expect("an array").len();
    assert_eq!(count, 5);
    for sql in [
        "DELETE FROM rulings WHERE number = 4;".to_owned(),
        format!("DELETE FROM rulings WHERE number = {count};"),
        "UPDATE rulings SET reason = 'another' WHERE number = 1;".to_owned(),
        "UPDATE rulings SET what = replace(what, '\"slot\":2', '\"slot\":1') WHERE number = 4;".to_owned(),
        "UPDATE rulings SET hash = NULL;".to_owned(),
        "DELETE FROM meta WHERE key = 'rulings';".to_owned(),
        "INSERT INTO rulings VALUES (6, 9, '2026-01-01T00:00:00Z', '{\"kind\":\"close\"}', 'no', NULL);".to_owned(),
    ] {
        let ran = folder.after(&sql);
        assert_eq!(ran.code, Some(1), "{sql}: {ran}");
        assert!(ran.stdout.contains("ruling"), "{sql}: {ran}");
    }
    // What was ruled is no reason for a match that is over to have no result.
    let ran = folder.after("DELETE FROM matches WHERE round = 1 AND number = 3;");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("r1.m3"), "{ran}");
}

#[test]
fn matches_that_a_ruling_brings_may_be_open() {
    let lab = Lab::new();
    let mut event = Event::new("mangala")
        .set("event", "format", "\"ladder\"")
        .set("event", "rounds", "3")
        .set("event", "reach", "1");
    for name in ["b1", "b2", "b3", "b4", "b5"] {
        event = event.builtin(name, "random");
    }
    lab.run(&event.write(&lab, "event.toml"));
    let out = [
        "desk",
        "event",
        "disqualify",
        "b3",
        "--keep-results",
        "--reason",
        "x",
        "--force",
    ];
    lab.hakem(out).exits(0);
    lab.hakem(["verify", "event"]).exits(0);
    lab.run(&lab.path("event.toml"));
    lab.hakem(["verify", "event"]).exits(0);
}

#[test]
fn the_hash_that_was_kept_is_compared() {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .write(&lab, "event.toml");
    let told = lab.run(&file).stderr;
    let shown = lab.hakem(["verify", "event"]).exits(0).stdout;
    let hash = shown
        .split("hash of the results is ")
        .nth(1)
        .expect("a hash")[..64]
        .to_owned();
    assert!(told.contains(&hash), "{told}");
    lab.hakem(["verify", "event", "--expect", &hash]).exits(0);
    lab.hakem(["verify", "event", "--expect", &hash.to_uppercase()])
        .exits(0);
    // Another name, a report and another look change nothing of it.
    lab.hakem(["report", "event"]).exits(0);
    lab.hakem(["verify", "event", "--expect", &hash]).exits(0);
    let other = "ab".repeat(32);
    let ran = lab.hakem(["verify", "event", "--expect", &other]).exits(1);
    assert!(ran.stdout.contains(&hash), "{ran}");
    lab.hakem(["desk", "event", "withdraw", "bela", "--reason", "ill"])
        .exits(0);
    lab.hakem(["verify", "event", "--expect", &hash]).exits(1);
    lab.hakem(["verify", "event"]).exits(0);
    lab.hakem(["verify", "event", "--expect", "12"])
        .exits(2)
        .says(&["64 hex digits"]);
    lab.hakem(["verify", "event/records/r1.m1.g1.jsonl", "--expect", &hash])
        .exits(2)
        .says(&["folder"]);
}

#[test]
fn what_is_no_record_is_told_from_a_damaged_one() {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .write(&lab, "event.toml");
    lab.run(&file);
    lab.hakem(["verify", "event.toml"])
        .exits(2)
        .says(&["event.toml", "no record"]);
    lab.hakem(["verify", "event/seed.json"]).exits(2);
    // Nothing was drawn here but the toss of the first seat.
    let ran = lab.hakem(["verify", "event"]).exits(0);
    assert!(!ran.stdout.contains("dice"), "{ran}");
}
