//! Drives the referee with the golden conversations of `protocol/transcripts`.
//!
//! `UPDATE_GOLDEN=1` writes the referee's side of the whole ones anew from what it says now.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use hakem::chance::{self, MatchChance};
use hakem::clock::{ClockSpec, Spent};
use hakem::event::{GameResult, MatchId, MatchResult};
use hakem::game;
use hakem::referee::lines::{Line, LineReader};
use hakem::referee::record::{About, ChanceInfo};
use hakem::referee::replay;
use hakem::referee::{Effect, FaultKind, Gone, Input, MatchSetup, Outbox, SeatSetup, Table};
use hakem_protocol::limits;
use serde_json::{Map, Value, json};

#[path = "../protocol/tests/support/transcript.rs"]
#[expect(
    dead_code,
    reason = "what only the tests of the messages need is not looked at here"
)]
mod transcript;

use transcript::{Expected, Header, Step, Transcript};

/// A referee that plays a transcript, and what it did that was not looked at yet.
struct Driver {
    table: Table,
    out: Outbox,
    readers: Vec<LineReader>,
    limits: (usize, u64),
    seed: String,
    /// When the referee wants to look at a seat's open question, in microseconds from when it was asked.
    wakes: Vec<Option<u64>>,
    /// How many questions each seat was asked.
    asked: Vec<usize>,
    sent: Vec<VecDeque<Value>>,
    games: VecDeque<GameResult>,
    matches: VecDeque<MatchResult>,
    /// Every line that was sent, as it was sent, in order.
    said: Vec<(usize, String)>,
}

impl Driver {
    /// A table for what the header describes; `None` where the game does not exist yet.
    fn new(header: &Header) -> Option<Driver> {
        let rules = game::find(&header.game)?
            .rules(&header.rules)
            .expect("rules that can be");
        let seats = header.names.len();
        let names = || header.names.iter().map(String::as_str);
        let us = |ms: u64| ms * 1000;
        let setup = MatchSetup {
            id: MatchId {
                round: 1,
                number: 1,
            },
            slots: (0..seats).collect(),
            seats: header
                .names
                .iter()
                .map(|name| SeatSetup {
                    name: name.clone(),
                    options: Map::new(),
                    max_note: header.limits.note.unwrap_or(limits::MAX_NOTE_BYTES),
                })
                .collect(),
            rules,
            clock: ClockSpec {
                main_us: header.clock.main_ms.map(us),
                increment_us: us(header.clock.increment_ms),
                move_us: header.clock.move_ms.map(us),
                delay_us: us(header.clock.delay_ms),
                margin_us: 0,
                ready_us: us(header.clock.ready_ms),
                kind: serde_json::from_value(json!(header.clock.kind)).expect("a kind of clock"),
                ceiling_us: None,
            },
            cores: 1,
            chance: MatchChance::new(&header.seed, 1, names(), 0),
            chance_info: ChanceInfo {
                commitment: chance::commitment(&header.seed),
                guessable: true,
                round: 1,
                field: header.names.clone(),
                pair: 0,
            },
            opening: header.opening.clone(),
            opening_plies: 0,
            adjudication: None,
            restart_each_game: false,
            about: About::default(),
        };
        let limits = (
            header.limits.line.unwrap_or(limits::MAX_LINE_BYTES),
            header.limits.output.unwrap_or(limits::MAX_OUTPUT_BYTES),
        );
        let mut driver = Driver {
            table: Table::new(Arc::new(setup)),
            out: Outbox::default(),
            readers: (0..seats)
                .map(|_| LineReader::new(limits.0, limits.1))
                .collect(),
            limits,
            seed: header.seed.clone(),
            wakes: vec![None; seats],
            asked: vec![0; seats],
            sent: vec![VecDeque::new(); seats],
            games: VecDeque::new(),
            matches: VecDeque::new(),
            said: Vec::new(),
        };
        driver.table.begin(&mut driver.out);
        driver.settle();
        Some(driver)
    }

    fn handle(&mut self, input: Input<'_>) {
        self.table.handle(input, &mut self.out);
        self.settle();
    }

    /// Does what the table wants done. Processes start and leave at once.
    fn settle(&mut self) {
        let mut left = Vec::new();
        let bytes = std::mem::take(&mut self.out.bytes);
        for effect in std::mem::take(&mut self.out.effects) {
            match effect {
                Effect::Start(seat) => {
                    self.readers[seat] = LineReader::new(self.limits.0, self.limits.1);
                }
                Effect::Ask {
                    seat,
                    line,
                    wake_us,
                } => {
                    self.asked[seat] += 1;
                    self.wakes[seat] = wake_us;
                    self.hear(seat, &bytes[line]);
                }
                Effect::Tell { seat, line } => self.hear(seat, &bytes[line]),
                Effect::Wake { seat, wake_us } => self.wakes[seat] = Some(wake_us),
                Effect::Close(seat) => self.wakes[seat] = None,
                Effect::Refill(seat) => self.readers[seat].refill(),
                Effect::Release(seat) | Effect::Kill(seat) => left.push(seat),
                Effect::GameOver(game) => {
                    let verified = replay::verify(&game.record, Some(&self.seed), &mut |_, _| {});
                    let verified = verified.unwrap_or_else(|why| panic!("the record: {why}"));
                    assert_eq!(verified.hash, game.result.record_hash);
                    self.games.push_back(game.result);
                }
                Effect::MatchOver(result) => self.matches.push_back(result),
                Effect::GameVoid { id, why } | Effect::GaveUp { id, why } => {
                    panic!("game {id} is void: {why}")
                }
            }
        }
        for seat in left {
            self.handle(Input::Ended { seat });
        }
    }

    fn hear(&mut self, seat: usize, line: &[u8]) {
        let text = line
            .strip_suffix(b"\n")
            .expect("a line of the referee is ended");
        let text = String::from_utf8(text.to_vec()).expect("a line of the referee is UTF-8");
        let message = serde_json::from_str(&text).expect("a line of the referee is JSON");
        self.sent[seat].push_back(message);
        self.said.push((seat, text));
    }

    /// A seat writes bytes, which are read at once: what is asked for the first line comes too late for the second.
    fn write(&mut self, seat: usize, bytes: &[u8], ms: u64) {
        let spent = wall(ms * 1000);
        let asked = self.asked[seat];
        let mut lines = Vec::new();
        self.readers[seat].feed(bytes, |line| {
            lines.push(match line {
                Line::Whole(line) => Ok(line.to_vec()),
                Line::TooLong => Err("the line is too long"),
                Line::TooMuch => Err("too much output"),
            });
        });
        for line in lines {
            let early = self.asked[seat] > asked;
            match line {
                Ok(line) => self.handle(Input::Line {
                    seat,
                    line: &line,
                    spent,
                    early,
                }),
                Err(what) => self.handle(Input::Flood {
                    seat,
                    what: what.to_owned(),
                    spent,
                }),
            }
        }
    }

    /// The seat's limit passes: the referee looks as often as it wants to.
    fn deadline(&mut self, seat: usize) {
        let mut looks = 0;
        let asked = self.asked[seat];
        // In a race the next question follows at once.
        while self.asked[seat] == asked
            && let Some(wall_us) = self.wakes[seat].take()
        {
            looks += 1;
            assert!(looks < 10, "seat {seat}: the referee looks for ever");
            self.handle(Input::Deadline {
                seat,
                spent: wall(wall_us),
            });
        }
        assert!(looks > 0, "seat {seat} has no deadline");
    }

    fn gone(&mut self, seat: usize, status: &str) {
        let kind = match status.split_once(' ') {
            Some(("exit", number)) => FaultKind::Exit(number.parse().expect("a status")),
            Some(("signal", number)) => FaultKind::Signal(number.parse().expect("a signal")),
            Some(("closed", "pipe")) => FaultKind::ClosedPipe,
            _ => panic!("`{status}` is no status"),
        };
        let how = Gone {
            kind,
            note: String::new(),
        };
        self.handle(Input::Gone {
            seat,
            how,
            spent: Spent::default(),
        });
    }
}

fn wall(wall_us: u64) -> Spent {
    Spent {
        wall_us,
        ..Spent::default()
    }
}

/// Whether a message is the expected one. The order of `legal` has no meaning.
fn fits(expected: &Expected, message: &Value) -> bool {
    let same = |field: &str, wanted: &Value, found: Option<&Value>| match (wanted, found) {
        (Value::Array(wanted), Some(Value::Array(found))) if field == "legal" => {
            wanted.len() == found.len() && wanted.iter().all(|one| found.contains(one))
        }
        (wanted, found) => found == Some(wanted),
    };
    match expected {
        Expected::Whole(Value::Object(wanted)) => {
            message
                .as_object()
                .is_some_and(|found| found.len() == wanted.len())
                && wanted
                    .iter()
                    .all(|(field, value)| same(field, value, message.get(field)))
        }
        Expected::Whole(_) => false,
        Expected::Fields(wanted) => wanted
            .iter()
            .all(|(field, value)| same(field, value, message.get(field))),
    }
}

/// The result of a game as a verdict of a transcript writes it.
fn told(result: &GameResult) -> Value {
    json!({
        "id": result.id, "winner": result.winner, "score": result.score, "points": result.points,
        "verdict": result.verdict, "reason": result.reason, "against": result.against,
        "moves": result.moves,
    })
}

fn check_fields(wanted: &Map<String, Value>, found: &Value) -> Result<(), String> {
    for (field, value) in wanted {
        let fits = match (field.as_str(), value, &found[field]) {
            // Words for people may follow the code.
            ("reason", Value::String(code), Value::String(reason)) => {
                reason == code || reason.starts_with(&format!("{code}: "))
            }
            (_, wanted, found) => wanted == found,
        };
        if !fits {
            return Err(format!("`{field}` is to be {value}, but: {found}"));
        }
    }
    Ok(())
}

/// Does one step, or says how the referee did otherwise.
fn follow(driver: &mut Driver, step: &Step, whole: bool) -> Result<(), String> {
    match step {
        Step::To { seat, expected } => {
            let queue = &mut driver.sent[*seat];
            match queue.iter().position(|message| fits(expected, message)) {
                // What a short transcript leaves out may come between.
                Some(at) if at == 0 || !whole => drop(queue.drain(..=at)),
                _ => {
                    return Err(format!(
                        "expected {expected:?}, but seat {seat} read {queue:?}"
                    ));
                }
            }
        }
        Step::From { seat, wrote, ms } => driver.write(*seat, &wrote.bytes, *ms),
        Step::Deadline(seat) => driver.deadline(*seat),
        Step::Gone { seat, status } => driver.gone(*seat, status),
        Step::Verdict(wanted) => match driver.games.pop_front() {
            Some(result) => check_fields(wanted, &told(&result))?,
            None => return Err("no game is over".into()),
        },
        Step::Match(wanted) => match driver.matches.pop_front() {
            Some(result) => {
                let MatchResult {
                    score,
                    series,
                    games,
                    ..
                } = result;
                check_fields(
                    wanted,
                    &json!({"score": score, "series": series, "games": games}),
                )?;
            }
            None => return Err("the match goes on".into()),
        },
    }
    Ok(())
}

fn play(transcript: &Transcript) -> Result<(), String> {
    let Some(mut driver) = Driver::new(&transcript.header) else {
        return Ok(());
    };
    let whole = transcript.header.whole;
    for (index, step) in transcript.steps.iter().enumerate() {
        follow(&mut driver, step, whole).map_err(|what| format!("line {}: {what}", index + 2))?;
    }
    if let Some(result) = driver.games.pop_front() {
        return Err(format!("a verdict is missing: {}", told(&result)));
    }
    if !whole {
        return Ok(());
    }
    if let Some(seat) = driver.sent.iter().position(|queue| !queue.is_empty()) {
        return Err(format!("seat {seat} read more: {:?}", driver.sent[seat]));
    }
    if driver.table.is_done() {
        Ok(())
    } else {
        Err("the match is not over".into())
    }
}

/// The text of a whole transcript with the referee's side as it is now.
fn rewritten(transcript: &Transcript, text: &str) -> Option<String> {
    let mut driver = Driver::new(&transcript.header)?;
    let mut lines = text.lines();
    let mut new = String::new();
    let flush = |driver: &mut Driver, new: &mut String| {
        for (seat, message) in driver.said.drain(..) {
            writeln!(new, "{{\"to\":{seat},\"line\":{message}}}")
                .expect("text is written to memory");
        }
    };
    writeln!(new, "{}", lines.next()?).expect("text is written to memory");
    flush(&mut driver, &mut new);
    for (step, line) in transcript.steps.iter().zip(lines) {
        if matches!(step, Step::To { .. }) {
            continue;
        }
        writeln!(new, "{line}").expect("text is written to memory");
        match step {
            Step::From { seat, wrote, ms } => driver.write(*seat, &wrote.bytes, *ms),
            Step::Deadline(seat) => driver.deadline(*seat),
            Step::Gone { seat, status } => driver.gone(*seat, status),
            Step::To { .. } | Step::Verdict(_) | Step::Match(_) => {}
        }
        flush(&mut driver, &mut new);
    }
    Some(new)
}

#[test]
fn the_referee_keeps_to_the_transcripts() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let all = transcript::all();
    assert!(!all.is_empty());
    let mut failed = Vec::new();
    for transcript in &all {
        let name = transcript.name.as_str();
        if update && transcript.header.whole {
            let path = transcript::folder().join(format!("{name}.jsonl"));
            let text = std::fs::read_to_string(&path).expect("it was read before");
            if let Some(new) = rewritten(transcript, &text) {
                std::fs::write(&path, new).expect("the transcript can be written");
            }
            continue;
        }
        if let Err(what) = play(transcript) {
            failed.push(format!("{name}: {what}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
