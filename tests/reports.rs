//! The reports of a small event, in every form.
#![cfg(feature = "runner")]

use std::collections::BTreeSet;

use hakem::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use hakem::game::{Seat, Share};
use hakem::report::model::EventResults;
use hakem::report::{Format, Look, Report, games, html, junit, page, rulings, standings};
use hakem::tournament::round_robin;
use hakem::tournament::rulings::{Desk, Ruling, What};
use hakem::tournament::standings::{Counting, Standings};
use serde::Serialize;
use serde_json::json;

#[path = "support/golden.rs"]
mod golden;

/// Names that mean something to a terminal, a spreadsheet or Markdown.
fn names() -> Vec<String> {
    ["house", "=1+2|x", "Şükrü_1 \u{202e}*b*", "\u{1b}[2Jzap"]
        .map(str::to_owned)
        .to_vec()
}

/// A match of two games with the points of both, by seat.
struct Played {
    points: [[u32; 2]; 2],
    fault: Option<(Verdict, Seat, &'static str)>,
}

/// What is played in the n-th match of the schedule: made up, but always the same.
fn played(n: u32) -> Played {
    let points = |k: u32| match (n * 7 + k * 3) % 5 {
        0 => [2, 0],
        1 => [0, 1],
        2 => [1, 0],
        3 => [0, 4],
        _ => [0, 2],
    };
    let fault = match n {
        3 => Some((Verdict::Timeout, 1, "timeout")),
        7 => Some((Verdict::Crash, 0, "exit 1")),
        8 => Some((
            Verdict::IllegalMove,
            0,
            "illegal_move: `\u{1b}]0;x\u{7}` is no play (rule 4)",
        )),
        _ => None,
    };
    Played {
        points: [points(0), points(1)],
        fault,
    }
}

fn game(of: MatchId, seats: &[usize], number: u32, points: [u32; 2]) -> GameResult {
    let winner = Seat::from(points[1] > points[0]);
    let mut score = vec![Share::LOSS; 2];
    score[winner] = Share::WIN;
    let id = of.game(number);
    GameResult {
        id,
        seats: seats.to_vec(),
        winner: Some(winner),
        score: Some(score),
        points: Some(points.to_vec()),
        verdict: Verdict::Rule,
        reason: if points[winner] > 1 {
            "mars"
        } else {
            "borne_off"
        }
        .into(),
        against: None,
        moves: 50 + of.number,
        first: Some(0),
        time_us: vec![812_999, u64::from(of.number) * 64_000],
        wall_us: vec![820_000, 650_000],
        cpu_us: vec![790_000, 11_500],
        record_hash: format!("{:064x}", of.number * 10 + number),
        play_hash: String::new(),
    }
}

/// Three of the four bots play a paired round robin; the last match is not over, and one game was void at first.
fn event() -> (Vec<MatchResult>, Vec<GameResult>) {
    let (mut matches, mut results) = (Vec::new(), Vec::new());
    for pairing in round_robin::schedule(4, 2, 2, true, 1) {
        let Played { points, fault } = played(pairing.id.number);
        for (number, points) in (1..).zip(points) {
            let mut one = game(pairing.id, &pairing.seats, number, points);
            if pairing.id.number == 5 && number == 1 {
                let mut void = one.clone();
                void.verdict = Verdict::Void;
                void.reason = "spawn failed: no such file".into();
                (void.winner, void.score, void.points) = (None, None, None);
                void.record_hash.clear();
                results.push(void);
            }
            if let Some((verdict, seat, reason)) = fault.filter(|_| number == 2) {
                one.verdict = verdict;
                one.reason = reason.into();
                one.against = Some(seat);
                one.winner = Some(1 - seat);
                one.score = Some(vec![Share::WIN; 2]);
                if let Some(score) = &mut one.score {
                    score[seat] = Share::LOSS;
                }
            }
            if pairing.id.number == 9 && number == 1 {
                one.verdict = Verdict::Adjudicated;
                one.reason =
                    "resign_eval: 4 moves of each at 3.0 or more against seat 1 (last 3.5, -4.0)"
                        .into();
            }
            results.push(one);
        }
        if pairing.id.number == 12 {
            continue;
        }
        let last: Vec<&GameResult> = results.iter().rev().take(2).collect();
        let won = |seat: Seat| last.iter().filter(|game| game.winner == Some(seat)).count();
        let score = match won(0).cmp(&won(1)) {
            std::cmp::Ordering::Less => [Share::LOSS, Share::WIN],
            std::cmp::Ordering::Equal => [Share::HALF, Share::HALF],
            std::cmp::Ordering::Greater => [Share::WIN, Share::LOSS],
        };
        matches.push(MatchResult {
            id: pairing.id,
            seats: pairing.seats,
            score: score.to_vec(),
            series: vec![won(0) as f64, won(1) as f64],
            games: 2,
        });
    }
    (matches, results)
}

fn written<R: Serialize>(report: &Report<R>, look: Look) -> String {
    let mut out = Vec::new();
    report.write(look, &mut out).expect("memory takes it");
    String::from_utf8(out).expect("a report is text")
}

fn assert_golden<R: Serialize>(name: &str, report: &Report<R>) {
    for (format, ending) in [
        (Format::Table, "txt"),
        (Format::Json, "json"),
        (Format::Csv, "csv"),
        (Format::Markdown, "md"),
    ] {
        let look = Look {
            format,
            width: None,
            color: false,
        };
        let text = written(report, look);
        golden::assert_golden(&format!("reports/{name}.{ending}"), &text);
        let harmless =
            |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(text.chars().all(harmless), "{text:?}");
    }
    let narrow = Look {
        format: Format::Table,
        width: Some(80),
        color: true,
    };
    golden::assert_golden(
        &format!("reports/{name}_80_colour.txt"),
        &written(report, narrow),
    );
}

fn of_standings(points_a_game: bool) -> Standings {
    let (matches, results) = event();
    let counting = Counting {
        points_a_game,
        ..Counting::default()
    };
    Standings::of(counting, &names(), &matches, &results).expect("the results are possible")
}

#[test]
fn standings_in_every_form() {
    assert_golden("standings", &standings::report(&of_standings(true)));
}

#[test]
fn standings_before_the_first_match() {
    let empty = Standings::of(Counting::default(), &names(), &[], &[]).expect("nothing is wrong");
    assert_golden("standings_empty", &standings::report(&empty));
}

#[test]
fn games_in_every_form() {
    let (_, results) = event();
    let report = games::report(&names(), &results).expect("the results are possible");
    assert_golden("games", &report);
}

#[test]
fn no_games_in_every_form() {
    let report = games::report(&names(), &[]).expect("nothing is wrong");
    assert_golden("games_empty", &report);
}

#[test]
fn games_come_in_the_order_of_the_schedule() {
    let (_, mut results) = event();
    let right = games::report(&names(), &results).expect("possible").rows;
    // The void game and its replay have one id and keep their order.
    results.rotate_left(13);
    let rotated = games::report(&names(), &results).expect("possible").rows;
    assert_eq!(rotated, right);
}

#[test]
fn csv_has_the_numbers_of_the_json() {
    let report = standings::report(&of_standings(true));
    let look = |format| Look {
        format,
        ..Look::default()
    };
    let text = written(&report, look(Format::Csv));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("there is a header").clone();
    let json: serde_json::Value =
        serde_json::from_str(&written(&report, look(Format::Json))).expect("it is JSON");
    let mut compared = 0;
    for (row, record) in reader.records().enumerate() {
        for (key, field) in header
            .iter()
            .zip(&record.expect("every row has all columns"))
        {
            let Some(number) = json[row].get(key).and_then(serde_json::Value::as_f64) else {
                continue;
            };
            assert_eq!(field.parse(), Ok(number), "{key}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 20);
}

/// The names of the figures of a row of JSON, as CSV has them.
fn flat(row: &serde_json::Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (key, value) in row.as_object().expect("a row is an object") {
        match (key.as_str(), value) {
            (_, serde_json::Value::Object(fields)) => names.extend(fields.keys().cloned()),
            ("interval", _) => names.extend(["rating_low", "rating_high"].map(str::to_owned)),
            ("points_per_game_interval", _) => {
                names.extend(["points_per_game_low", "points_per_game_high"].map(str::to_owned));
            }
            (key, _) => names.extend([key.to_owned()]),
        }
    }
    names
}

#[test]
fn csv_has_the_columns_of_the_json() {
    let report = standings::report(&of_standings(true));
    let look = |format| Look {
        format,
        ..Look::default()
    };
    let text = written(&report, look(Format::Csv));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("there is a header").clone();
    let columns: BTreeSet<String> = header.iter().map(str::to_owned).collect();
    assert_eq!(columns.len(), header.len(), "no column is there twice");
    let json: serde_json::Value =
        serde_json::from_str(&written(&report, look(Format::Json))).expect("it is JSON");
    for row in json.as_array().expect("rows") {
        assert_eq!(flat(row), columns);
    }
}

#[test]
fn a_game_of_an_unknown_bot_is_refused() {
    let (_, results) = event();
    let error = games::report(&names()[..2], &results).expect_err("there are four bots");
    assert!(error.to_string().contains("of 2 bots"), "{error}");
}

// ---- What the organiser ruled -----------------------------------------------------------------------------------

/// The same event with a bot that is out, a match that is void, one that was played again, and a ruling that was undone.
fn ruled() -> EventResults {
    let (matches, results) = event();
    let whats = [
        What::Void {
            of: MatchId {
                round: 1,
                number: 2,
            },
        },
        What::Disqualify {
            slot: 3,
            keep_results: true,
        },
        What::Replay {
            of: MatchId {
                round: 1,
                number: 4,
            },
        },
        What::Withdraw { slot: 1 },
        What::Undo { ruling: 4 },
        What::Close,
    ];
    let rulings = (1..).zip(whats).map(|(number, what)| Ruling {
        number,
        since: 1,
        at: "2026-01-02T03:04:05Z".into(),
        what,
        reason: "=1+2|<b>told \u{202e}* by \u{1b}[2J someone".into(),
    });
    let bots: Vec<_> = names().iter().map(|name| json!({ "name": name })).collect();
    let plain = EventResults {
        name: "spring".into(),
        game: "tavla".into(),
        event: json!({"event": {"format": "round-robin", "games": 2}, "bots": bots}),
        names: names(),
        ladder: hakem::tournament::ladder::List::default(),
        matches: Vec::new(),
        games: Vec::new(),
        played: Vec::new(),
        desk: Desk::default(),
        replayed: [3].into(),
        confined: Vec::new(),
        ended: String::new(),
    };
    plain.ruled(matches, results, Desk::new(rulings.collect()))
}

#[test]
fn rulings_in_every_form() {
    assert_golden("rulings", &rulings::report(&ruled()));
}

#[test]
fn standings_with_rulings_in_every_form() {
    let table = ruled().standings().expect("the results are possible");
    assert_golden("standings_ruled", &standings::report(&table));
}

#[test]
fn games_with_rulings_in_every_form() {
    let results = ruled();
    let name_of = |id: GameId| {
        if id.of.number == 4 {
            format!("records/{id}.replay-3.jsonl")
        } else {
            format!("records/{id}.jsonl")
        }
    };
    let mut report = games::report_ruled(&results.names, &results.games, &results.desk, &name_of)
        .expect("the results are possible");
    report.notes = rulings::notes(&results);
    assert_golden("games_ruled", &report);
}

#[test]
fn the_whole_report_shows_rulings_and_no_markup_of_others() {
    let results = ruled();
    let page = html::page(&results.name, &page::sections(&results).expect("possible"))
        .expect("the page is made");
    assert!(
        page.contains("Rulings") && page.contains("disqualified"),
        "{page}"
    );
    assert!(
        page.contains("&lt;b&gt;told") && !page.contains("<b>told"),
        "{page}"
    );
    let xml = junit::event(&results).expect("the XML is made");
    assert!(xml.contains("rulings of the organiser"), "{xml}");
    assert!(
        xml.contains("undone by ruling 5") && !xml.contains('\u{1b}'),
        "{xml}"
    );
}
