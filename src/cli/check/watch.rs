//! Looks on while a bot plays, and sends it the referee's lines in one manner or another.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::bot::os;
use crate::bot::talk::Talk;
use crate::clock::Spent;
use crate::runner::sitting::Watcher;

/// How lines are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As they are.
    Plain,
    /// With fields that no version knows, and the known ones in another order.
    UnknownFields,
    /// In pieces, with pauses.
    Pieces,
    /// Far longer than usual.
    Long,
    /// With the line ends of Windows.
    CarriageReturns,
}

/// How many lines are sent in pieces, or made long.
const TREATED: usize = 4;
/// Bytes added to a long line: more than any buffer of a round size.
const LONG: usize = 1_200_000;
/// The pause between two pieces of a line.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a bot may leave a full pipe unread.
const PATIENCE: Duration = Duration::from_secs(10);

/// An answer to a turn.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub ask: String,
    /// The move.
    pub mv: Value,
    /// Its wall time, microseconds.
    pub wall_us: u64,
    /// The most that it might have taken, microseconds.
    pub limit_us: Option<u64>,
}

/// What was seen.
#[derive(Debug)]
pub struct Watch {
    manner: Manner,
    enough: usize,
    until: u64,
    /// Lines that were sent so far.
    sent: usize,
    /// The first line of each kind, as the referee wrote it.
    pub lines: Map<String, Value>,
    /// What `ready` said.
    pub ready: Option<Value>,
    /// The time that it took, microseconds.
    pub ready_us: u64,
    /// The answers to turns.
    pub answers: Vec<Answer>,
    /// The last line that it wrote while something was asked.
    pub last: Vec<u8>,
}

impl Watch {
    /// Looks on until so many answers were given, or so much time has passed.
    pub fn new(manner: Manner, enough: usize, within: Duration) -> Watch {
        let within = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
        Watch {
            manner,
            enough,
            until: os::now().saturating_add(within),
            sent: 0,
            lines: Map::new(),
            ready: None,
            ready_us: 0,
            answers: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl Watcher for Watch {
    fn send(&mut self, talk: &mut Talk, line: &[u8]) {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        if let Some(kind) = value["type"].as_str() {
            self.lines
                .entry(kind.to_owned())
                .or_insert_with(|| value.clone());
        }
        self.sent += 1;
        let treated = self.sent <= TREATED;
        match self.manner {
            Manner::UnknownFields => {
                let mut text = with_unknown(value).to_string().into_bytes();
                text.push(b'\n');
                talk.send(&text, PATIENCE);
            }
            Manner::Long if treated => {
                let mut text = with_long(value).to_string().into_bytes();
                text.push(b'\n');
                talk.send(&text, PATIENCE);
            }
            Manner::Pieces if treated => {
                for piece in line.chunks(line.len().div_ceil(4).max(1)) {
                    std::thread::sleep(PAUSE);
                    talk.send(piece, PATIENCE);
                }
            }
            Manner::CarriageReturns => {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                talk.send(&[text, b"\r\n"].concat(), PATIENCE);
            }
            Manner::Plain | Manner::Long | Manner::Pieces => {
                talk.send(line, PATIENCE);
            }
        }
    }

    fn answered(&mut self, asked: &[u8], answer: &[u8], spent: &Spent) {
        self.last = answer.to_vec();
        let question: Value = serde_json::from_slice(asked).unwrap_or_default();
        let Ok(answer) = serde_json::from_slice::<Value>(answer) else {
            return;
        };
        match (question["type"].as_str(), answer["type"].as_str()) {
            (Some("hello"), Some("ready")) => {
                self.ready_us = spent.wall_us;
                self.ready = Some(answer);
            }
            (Some("turn"), Some("move")) => self.answers.push(Answer {
                ask: question["ask"].as_str().unwrap_or_default().to_owned(),
                mv: answer["move"].clone(),
                wall_us: spent.wall_us,
                limit_us: question["clock"]["limit_ms"].as_u64().map(|ms| ms * 1000),
            }),
            _ => {}
        }
    }

    fn is_enough(&self) -> bool {
        self.answers.len() >= self.enough || os::now() >= self.until
    }
}

/// The message with fields that nobody knows, in it and in the objects within it; but no option of the rules and of the bot,
/// which it may refuse.
fn with_unknown(mut message: Value) -> Value {
    let odd = json!({"list": [1, -2.5e3, null, true, "\u{e7}\u{20ac}\"\\ {[", {}], "deeper": {"id": 99, "type": "turn"}});
    if let Some(fields) = message.as_object_mut() {
        for key in ["state", "clock", "match", "result"] {
            if let Some(Value::Object(inner)) = fields.get_mut(key) {
                inner.insert("a_later_field".into(), odd.clone());
            }
        }
        fields.insert("a_later_field".into(), odd.clone());
        fields.insert("z_later_field".into(), odd);
    }
    message
}

fn with_long(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        fields.insert("a_long_field".into(), "long ".repeat(LONG / 5).into());
    }
    message
}
