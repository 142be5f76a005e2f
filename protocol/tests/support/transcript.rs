//! Reads the golden conversations of `transcripts/`; the format is described in the README there.
//!
//! Shared by the tests of the message types and by those that drive a referee.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

/// A conversation between a referee and its bots.
#[derive(Debug)]
pub(crate) struct Transcript {
    /// The file's name without `.jsonl`.
    pub(crate) name: String,
    /// What is played.
    pub(crate) header: Header,
    /// What happened, in order.
    pub(crate) steps: Vec<Step>,
}

/// The first line of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// What the conversation shows, with the clauses of the specification.
    pub(crate) about: String,
    /// The game.
    pub(crate) game: String,
    /// Its options; the others have their defaults.
    pub(crate) rules: Map<String, Value>,
    /// The time control.
    pub(crate) clock: Clock,
    /// The seed of all chance, of round 1 and pair 0.
    pub(crate) seed: String,
    /// The event's names of the bots, by seat.
    pub(crate) names: Vec<String>,
    /// The position to start from, if not the usual one.
    pub(crate) opening: Option<Value>,
    /// Limits that are not the usual ones.
    #[serde(default)]
    pub(crate) limits: Limits,
    /// Every message of the referee is in the file, in full.
    #[serde(default)]
    pub(crate) whole: bool,
}

/// `hello.clock`, and the time to answer `hello` and `ping`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clock {
    /// What is charged.
    pub(crate) kind: String,
    /// Each seat's total.
    pub(crate) main_ms: Option<u64>,
    /// Added after each answer.
    pub(crate) increment_ms: u64,
    /// The limit for one answer.
    pub(crate) move_ms: Option<u64>,
    /// Not charged of each answer.
    pub(crate) delay_ms: u64,
    /// The ready limit.
    #[serde(default = "ready_ms")]
    pub(crate) ready_ms: u64,
}

fn ready_ms() -> u64 {
    hakem_protocol::limits::READY_MS
}

/// Limits of a bot, in bytes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// Of a line, its end included.
    pub(crate) line: Option<usize>,
    /// Of all output in a game.
    pub(crate) output: Option<u64>,
    /// Of a note.
    pub(crate) note: Option<usize>,
}

/// One line of a file after the first.
#[derive(Debug)]
pub(crate) enum Step {
    /// The referee wrote a message to a seat.
    To {
        /// The seat.
        seat: usize,
        /// What is expected.
        expected: Expected,
    },
    /// A seat wrote something.
    From {
        /// The seat.
        seat: usize,
        /// What.
        wrote: Wrote,
        /// How long its open question had been open, in milliseconds.
        ms: u64,
    },
    /// The seat's limit passes and nothing comes.
    Deadline(usize),
    /// The seat's process is gone.
    Gone {
        /// The seat.
        seat: usize,
        /// `exit 1`, `signal 11`, `closed pipe`.
        status: String,
    },
    /// A game is over: fields of its result, seats as numbers.
    Verdict(Map<String, Value>),
    /// The match is over: fields of its result.
    Match(Map<String, Value>),
}

/// What a message of the referee is held against.
#[derive(Debug)]
pub(crate) enum Expected {
    /// It is this message.
    Whole(Value),
    /// It has these fields.
    Fields(Map<String, Value>),
}

/// What a bot wrote.
#[derive(Debug)]
pub(crate) struct Wrote {
    /// The message, if it is given as one.
    pub(crate) message: Option<Value>,
    /// All bytes, line ends included.
    pub(crate) bytes: Vec<u8>,
}

/// The folder of the conversations.
pub(crate) fn folder() -> PathBuf {
    // The crate itself, or the package above it that drives a referee.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inside = here.join("transcripts");
    if inside.is_dir() {
        inside
    } else {
        here.join("protocol/transcripts")
    }
}

/// Every conversation, by name.
pub(crate) fn all() -> Vec<Transcript> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder of transcripts is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

/// One conversation.
///
/// # Panics
/// With file and line, if the file does not keep to the format.
pub(crate) fn read(path: &Path) -> Transcript {
    let text = fs::read_to_string(path).expect("a transcript can be read");
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut lines = text.lines().enumerate();
    let (_, first) = lines
        .next()
        .unwrap_or_else(|| panic!("{name}: the file is empty"));
    let header = serde_json::from_str(first).unwrap_or_else(|error| panic!("{name}:1: {error}"));
    let steps = lines
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| error.to_string())
                .and_then(step)
                .unwrap_or_else(|error| panic!("{name}:{}: {error}", index + 1))
        })
        .collect();
    Transcript {
        name,
        header,
        steps,
    }
}

fn step(mut fields: Map<String, Value>) -> Result<Step, String> {
    let mut take = |name: &str| fields.remove(name);
    let step = if let Some(seat) = take("to") {
        let seat = number(&seat)?;
        let expected = match take("line") {
            Some(message) => Expected::Whole(message),
            None => Expected::Fields(std::mem::take(&mut fields)),
        };
        if matches!(&expected, Expected::Fields(some) if !some.contains_key("type")) {
            return Err("a message of the referee has a `line` or a `type`".into());
        }
        Step::To { seat, expected }
    } else if let Some(seat) = take("from") {
        let seat = number(&seat)?;
        let ms = take("ms").map_or(Ok(0), |ms| number(&ms))? as u64;
        Step::From {
            seat,
            wrote: wrote(&mut fields)?,
            ms,
        }
    } else if let Some(seat) = take("deadline") {
        Step::Deadline(number(&seat)?)
    } else if let Some(seat) = take("gone") {
        let Some(Value::String(status)) = take("status") else {
            return Err("`gone` has a `status`".into());
        };
        Step::Gone {
            seat: number(&seat)?,
            status,
        }
    } else if let Some(Value::Object(verdict)) = take("verdict") {
        Step::Verdict(verdict)
    } else if let Some(Value::Object(result)) = take("match") {
        Step::Match(result)
    } else {
        return Err("a step is to, from, deadline, gone, verdict or match".into());
    };
    match fields.keys().next() {
        None => Ok(step),
        Some(unknown) => Err(format!("`{unknown}` is not expected here")),
    }
}

fn wrote(fields: &mut Map<String, Value>) -> Result<Wrote, String> {
    let message = fields.remove("line");
    let mut line = match (&message, fields.remove("raw"), fields.remove("hex")) {
        (Some(message), None, None) => message.to_string().into_bytes(),
        (None, Some(Value::String(raw)), None) => raw.into_bytes(),
        (None, None, Some(Value::String(hex))) => unhex(&hex)?,
        _ => return Err("what a bot wrote is one of line, raw and hex".into()),
    };
    if let Some(length) = fields.remove("pad_to") {
        line.resize(number(&length)?, b' ');
    }
    if fields.remove("unfinished") != Some(Value::Bool(true)) {
        line.push(b'\n');
    }
    let repeat = fields
        .remove("repeat")
        .map_or(Ok(1), |times| number(&times))?;
    Ok(Wrote {
        message,
        bytes: line.repeat(repeat),
    })
}

fn number(value: &Value) -> Result<usize, String> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| format!("{value} is no whole number"))
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).map_err(|error| error.to_string())?;
            u8::from_str_radix(pair, 16).map_err(|error| format!("{pair}: {error}"))
        })
        .collect()
}
