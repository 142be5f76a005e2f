//! What a bot writes, and small texts: its lines, the stream that they come in, ids, clocks as records hold them.

use std::fmt::Display;
use std::str::FromStr;

use hakem::clock::{ClockSpec, Judged, Open, SeatClock, Spent};
use hakem::event::{GameId, MatchId};
use hakem::referee::answer::{self, Said};
use hakem::referee::lines::{Line, LineReader};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::{Shape, exact, shape};

/// Words of a bot's line.
pub(crate) const BOT_WORDS: [&str; 20] = [
    "type",
    "move",
    "ready",
    "pong",
    "id",
    "note",
    "eval",
    "protocol",
    "name",
    "version",
    "author",
    "legal",
    "history",
    "events",
    "\"type\":\"move\"",
    "\"id\":1",
    "\"move\":[]",
    "\"note\":null",
    "qbitz",
    "resign",
];

/// The first line of an input, as a reader of lines would hand it on.
pub(crate) fn first_line(input: &[u8]) -> &[u8] {
    input
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default()
}

/// A bot's line: what was understood, written again, is understood the same, also where the quick reader has to leave it to the
/// full one; a fault has words that fit into a message.
pub(crate) fn bot_line(input: &[u8]) -> Shape {
    let line = first_line(input);
    match answer::read(line) {
        Ok(said) => {
            let again = written(&said).to_string();
            assert_eq!(
                answer::read(again.as_bytes()).as_ref(),
                Ok(&said),
                "{again}"
            );
            let open = line
                .trim_ascii_end()
                .strip_suffix(b"}")
                .expect("a message is an object");
            if !String::from_utf8_lossy(line).contains("stranger") {
                let more = [open, b",\"stranger\":[0]}"].concat();
                let read = answer::read(&more);
                assert_eq!(read, Ok(said.clone()), "a field that nobody knows");
            }
            shape(&[&outline(&written(&said))])
        }
        Err(fault) => {
            let reason = fault.reason();
            assert!(!fault.message.is_empty() && reason.len() < 600, "{reason}");
            shape(&[&reason])
        }
    }
}

/// A message as a bot would write it.
fn written(said: &Said) -> Value {
    let mut message = match said {
        Said::Ready(ready) => json!({
            "type": "ready", "protocol": ready.protocol, "name": ready.name, "version": ready.version,
            "author": ready.author, "legal": ready.legal, "history": ready.history, "events": ready.events,
        }),
        Said::Move { id, mv, .. } => json!({"type": "move", "id": id, "move": mv}),
        Said::Pong { id } => json!({"type": "pong", "id": id}),
    };
    if let Said::Move { note, eval, .. } = said {
        if let Some(note) = note {
            message["note"] = json!(note);
        }
        if let Some(eval) = eval {
            message["eval"] = eval.clone();
        }
    }
    message
}

/// The types of a value and of what is in it, to a small depth.
fn outline(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) if number.is_f64() => "float".into(),
        Value::Number(_) => "number".into(),
        Value::String(text) => format!(
            "text-of-{}",
            ["none", "some"][usize::from(!text.is_empty())]
        ),
        Value::Array(list) => list.iter().take(2).map(outline).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", outline(value)))
            .collect(),
    }
}

/// Words of a stream.
pub(crate) const STREAM_WORDS: [&str; 6] =
    ["\n", "\r\n", "\n\n", "\u{feff}", "  ", "0123456789abcdef"];

/// A stream comes out the same in whatever pieces it is read, and nothing is held beyond the limits.
pub(crate) fn stream(input: &[u8]) -> Shape {
    let mut found = Vec::new();
    for (line, output) in [
        (1 << 20, 1 << 24),
        (16, 1 << 20),
        (1 << 20, 40),
        (16, 40),
        (1, 1),
    ] {
        let whole = read_in_pieces(input, (line, output), |_| usize::MAX);
        for pieces in [1, 2, 3, 7, 15, 16, 17, 39, 40, 41] {
            let again = read_in_pieces(input, (line, output), |_| pieces);
            assert_eq!(
                again, whole,
                "in pieces of {pieces}, limits {line} and {output}"
            );
        }
        let uneven = read_in_pieces(input, (line, output), |at| 1 + at % 5);
        assert_eq!(
            uneven, whole,
            "in uneven pieces, limits {line} and {output}"
        );
        if output > input.len() as u64 && line > input.len() {
            assert_eq!(whole.0, plain(input), "no limit is passed");
        }
        let last = whole.0.last().map_or(0, |line| line.len().min(2));
        found.push((whole.0.len().min(3), last, whole.1));
    }
    exact(&found)
}

/// The lines of a stream that is read in pieces, and how it was left: whether it is shut, and whether a line is unfinished.
fn read_in_pieces(
    input: &[u8],
    (line, output): (usize, u64),
    piece: impl Fn(usize) -> usize,
) -> (Vec<Vec<u8>>, String) {
    let mut reader = LineReader::new(line, output);
    let mut lines = Vec::new();
    let mut end = "open";
    let mut at = 0;
    while at < input.len() {
        let next = at.saturating_add(piece(at)).min(input.len());
        reader.feed(&input[at..next], |found| match found {
            Line::Whole(found) => {
                assert!(found.len() < line.max(1), "a line within the limit");
                lines.push(found.to_vec());
            }
            Line::TooLong => end = "too long",
            Line::TooMuch => end = "too much",
        });
        at = next;
    }
    assert_eq!(reader.is_shut(), end != "open");
    (lines, format!("{end} {}", reader.has_tail()))
}

/// The lines of a stream by the protocol's words: ended by a line feed, a carriage return before it left out, blank ones
/// left out, a mark before the first left out.
fn plain(input: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
    // What comes after the last line feed is no line.
    pieces.pop();
    if let Some(first) = pieces.first_mut() {
        *first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
    }
    let blank = |line: &&[u8]| line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let lines = pieces
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .filter(|line| !blank(line))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Words of ids.
pub(crate) const ID_WORDS: [&str; 8] =
    ["r1", "m1", "g1", ".", "0", "4294967295", "4294967296", "+1"];

/// An id has one spelling, as text and as JSON.
pub(crate) fn ids(input: &[u8]) -> Shape {
    fn id<
        T: FromStr + Display + Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug,
    >(
        text: &str,
    ) -> bool {
        let json = json!(text).to_string();
        match text.parse::<T>() {
            Ok(id) => {
                assert_eq!(id.to_string(), text);
                assert_eq!(serde_json::to_string(&id).expect("an id is text"), json);
                assert_eq!(serde_json::from_str::<T>(&json).ok(), Some(id));
                true
            }
            Err(_) => {
                assert!(serde_json::from_str::<T>(&json).is_err());
                false
            }
        }
    }
    let text = String::from_utf8_lossy(first_line(input));
    2 * u64::from(id::<GameId>(&text)) + u64::from(id::<MatchId>(&text))
}

/// Words of clocks.
pub(crate) const CLOCK_WORDS: [&str; 16] = [
    "main_us",
    "increment_us",
    "move_us",
    "delay_us",
    "margin_us",
    "ready_us",
    "kind",
    "ceiling_us",
    "wall_us",
    "cpu_us",
    "earlier_us",
    "outside_us",
    "fair",
    "wall",
    "cpu",
    "18446744073709551615",
];

/// A clock and what was measured of answers, as a record holds them: `{"clock":{...},"spent":[...]}`.
#[derive(Deserialize)]
struct Measured {
    clock: ClockSpec,
    spent: Vec<Spent>,
}

/// The look of a timer and the judgement of an answer agree, a clock never rises but by its increment, and one that was
/// looked at is looked at later.
pub(crate) fn clocks(input: &[u8]) -> Shape {
    let measured: Measured = match serde_json::from_slice(first_line(input)) {
        Ok(measured) => measured,
        Err(error) => return shape(&[&error.to_string()]),
    };
    let spec = measured.clock;
    let text = serde_json::to_string(&spec).expect("a clock is plain data");
    assert_eq!(serde_json::from_str::<ClockSpec>(&text).ok(), Some(spec));
    let mut clock = SeatClock::new(&spec);
    let mut outline = format!("{:?}", spec.kind);
    for spent in measured.spent.iter().take(20) {
        for cores in [1, 3] {
            let time = spec.time_of(spent, cores);
            assert!(time <= spent.wall_us || spec.kind == hakem_protocol::ClockKind::Cpu);
            let mut judged = clock;
            let verdict = judged.answered(&spec, spent, cores);
            let look = clock.looked_at(&spec, spent, cores);
            assert_eq!(
                verdict == Judged::Flag,
                look == Open::Flag,
                "{spec:?} {clock:?} {spent:?}"
            );
            if let Open::Wait(wall) = look {
                assert!(
                    wall > spent.wall_us || wall == u64::MAX,
                    "a look that lies before: {spec:?} {spent:?}"
                );
            }
            match verdict {
                Judged::Flag => assert_eq!(judged, clock, "a flag changes nothing"),
                Judged::Charged(charged) => {
                    assert!(charged <= time);
                    let most = clock
                        .left_us()
                        .map(|left| left.saturating_add(spec.increment_us));
                    assert!(judged.left_us() <= most && judged.used_us() >= clock.used_us());
                }
            }
            if cores == 1 {
                outline += if verdict == Judged::Flag {
                    " flag"
                } else {
                    " charged"
                };
                clock = judged;
            }
        }
    }
    shape(&[&outline])
}
