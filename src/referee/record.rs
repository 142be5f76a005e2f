//! The record of a game: JSON lines, chained by hashes. Pure.
//!
//! Every line is an object with one field that names its kind and a last field `prev`, the SHA-256 of the line before
//! (without its line feed) as hex digits; in the first line all zeros. The kinds, in the order of a game:
//!
//! - `header`: all that the game began from ([`Header`]);
//! - `drawn`: a random event; `answer`: an accepted answer, with `spent`; `passed`: a pass played by the referee;
//! - `again`: the game is played over within its id; `fault`: a seat forfeits, with `spent`;
//! - `result`: how it ended. The hash of this line stands in the results.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::chance;
use crate::clock::{ClockSpec, Spent};
use crate::event::{GameId, Verdict};
use crate::game::{Chance, ChanceKind, Drawn, Outcome, Seat, Share};

/// The version of the record format that this program writes.
pub const FORMAT: u32 = 1;

/// What a game began from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of hakem that wrote it.
    pub hakem: String,
    /// The version of the format: [`FORMAT`].
    pub record: u32,
    /// The game's id.
    pub id: GameId,
    /// The game's name.
    pub game: String,
    /// Every option.
    pub rules: Map<String, Value>,
    /// The clock.
    pub clock: ClockSpec,
    /// Cores of the game.
    pub cores: u32,
    /// The event's names by seat.
    pub seats: Vec<String>,
    /// The names that the bots gave, cleaned.
    pub names: Vec<String>,
    /// What the chance is derived from.
    pub chance: ChanceInfo,
    /// The seat that the match's coin toss named.
    pub lot: Seat,
    /// The games of the match before this one.
    pub played: Vec<PlayedGame>,
    /// The position it was started from, if not the rules' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Value>,
    /// Random legal plies before the bots took over.
    #[serde(default)]
    pub opening_plies: u32,
    /// The bots by seat, the machine, what confined them: for people and audits, not for the replay.
    #[serde(default)]
    pub about: Value,
}

/// What a game's chance is derived from, but for the seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChanceInfo {
    /// [`chance::commitment`] of the seed.
    pub commitment: String,
    /// Whether the seed can be guessed from it.
    pub guessable: bool,
    /// The round.
    pub round: u32,
    /// The names of the bots of the match in the event's order.
    pub field: Vec<String>,
    /// The number of their meeting in this round, from 0.
    pub pair: u32,
}

/// An earlier game of the match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayedGame {
    /// The seat that won alone.
    pub winner: Option<Seat>,
    /// The shares.
    pub score: Vec<Share>,
    /// The points.
    pub points: Vec<u32>,
}

impl PlayedGame {
    /// What the series needs of an outcome.
    pub fn of(outcome: &Outcome) -> PlayedGame {
        PlayedGame {
            winner: outcome.winner,
            score: outcome.score.clone(),
            points: outcome.points.clone(),
        }
    }

    /// The outcome again; its reason is not kept.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            winner: self.winner,
            score: self.score.clone(),
            points: self.points.clone(),
            reason: "",
        }
    }
}

/// Any line of a record but the header, as it is read again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A random event.
    Drawn(DrawnEntry),
    /// An accepted answer.
    Answer(AnswerEntry),
    /// A pass played by the referee.
    Passed(Value),
    /// The game is played over.
    Again(u32),
    /// A seat forfeits.
    Fault(FaultEntry),
    /// How it ended.
    Result(ResultEntry),
}

/// A random event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnEntry {
    /// Its kind.
    pub kind: DrawnKind,
    /// Whose it is.
    pub seat: Option<Seat>,
    /// Its number among its kind and seat.
    pub n: u32,
    /// The dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice: Option<[u8; 2]>,
    /// The lot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lot: Option<u32>,
}

impl DrawnEntry {
    /// The entry of an event.
    pub fn new(chance: Chance, n: u32, drawn: Drawn) -> DrawnEntry {
        let (dice, lot) = match drawn {
            Drawn::Dice(dice) => (Some(dice), None),
            Drawn::Lot(lot) => (None, Some(lot)),
        };
        DrawnEntry {
            kind: DrawnKind(chance.kind),
            seat: chance.seat,
            n,
            dice,
            lot,
        }
    }

    /// What was drawn.
    pub fn drawn(&self) -> Option<Drawn> {
        self.dice
            .map(Drawn::Dice)
            .or_else(|| self.lot.map(Drawn::Lot))
    }
}

/// A [`ChanceKind`] as its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnKind(pub ChanceKind);

impl Serialize for DrawnKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for DrawnKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
        [
            ChanceKind::First,
            ChanceKind::Opening,
            ChanceKind::Dice,
            ChanceKind::Lot,
            ChanceKind::Ply,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .map(DrawnKind)
        .ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no kind of chance")))
    }
}

/// An accepted answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerEntry {
    /// Who answered.
    pub seat: Seat,
    /// The id of the question.
    pub id: u64,
    /// The answer.
    #[serde(rename = "move")]
    pub mv: Value,
    /// Its note, cut at the event's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its evaluation, where not longer than a note may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<Value>,
    /// What it took.
    pub spent: Spent,
    /// What of it was charged.
    pub charged_us: u64,
    /// What the seat has left, the increment added.
    pub left_us: Option<u64>,
}

/// A forfeit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultEntry {
    /// Who forfeits.
    pub seat: Seat,
    /// Why it counts so.
    pub verdict: Verdict,
    /// The reason of the result.
    pub reason: String,
    /// The refused move, where that was the fault and it is not too long to keep.
    #[serde(
        default,
        rename = "move",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub mv: Option<Value>,
    /// The beginning of the offending line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// What the question had taken by then.
    pub spent: Spent,
}

/// Reads a value that is there, `null` too: that was a move, and not one to be left out.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultEntry {
    /// The seat that won alone.
    pub winner: Option<Seat>,
    /// The shares.
    pub score: Option<Vec<Share>>,
    /// What the game counts.
    pub points: Option<Vec<u32>>,
    /// Why it counts so.
    pub verdict: Verdict,
    /// The code or the rules' reason, and words.
    pub reason: String,
    /// Who was at fault.
    pub against: Option<Seat>,
    /// Answers given.
    pub moves: u32,
    /// Charged time by seat.
    pub time_us: Vec<u64>,
    /// Wall time by seat.
    pub wall_us: Vec<u64>,
    /// Processor time by seat.
    pub cpu_us: Vec<u64>,
}

/// Writes the lines of one record into memory.
#[derive(Debug)]
pub struct Recorder {
    text: Vec<u8>,
    prev: [u8; 64],
}

/// The `prev` of the first line.
pub const FIRST_PREV: [u8; 64] = [b'0'; 64];

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            text: Vec::new(),
            prev: FIRST_PREV,
        }
    }
}

impl Recorder {
    /// Adds a line of this kind.
    pub fn line(&mut self, kind: &str, value: &impl Serialize) {
        let start = self.text.len();
        self.text.extend_from_slice(b"{\"");
        self.text.extend_from_slice(kind.as_bytes());
        self.text.extend_from_slice(b"\":");
        serde_json::to_writer(&mut self.text, value).expect("plain data is written to memory");
        self.end_line(start);
    }

    /// Adds a line whose value is JSON already.
    pub fn raw_line(&mut self, kind: &str, json: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(b"{\"");
        self.text.extend_from_slice(kind.as_bytes());
        self.text.extend_from_slice(b"\":");
        self.text.extend_from_slice(json);
        self.end_line(start);
    }

    fn end_line(&mut self, start: usize) {
        self.text.extend_from_slice(b",\"prev\":\"");
        self.text.extend_from_slice(&self.prev);
        self.text.extend_from_slice(b"\"}");
        self.prev = hash_line(&self.text[start..]);
        self.text.push(b'\n');
    }

    /// The text so far.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The whole text and the hash of its last line.
    pub fn finish(self) -> (Vec<u8>, String) {
        let hash = self.prev.iter().map(|&digit| char::from(digit)).collect();
        (self.text, hash)
    }
}

/// The hash of a line (without its line feed) as hex digits.
pub fn hash_line(line: &[u8]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = [0; 64];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(Sha256::digest(line)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    hex
}

impl ChanceInfo {
    /// The chance of the match that this describes, if the seed is the one committed to.
    ///
    /// # Errors
    /// Says that the seed is another.
    pub fn with_seed(&self, seed: &str) -> Result<chance::MatchChance, String> {
        if chance::commitment(seed) != self.commitment {
            return Err(format!(
                "the seed is not the one that the record commits to ({})",
                self.commitment
            ));
        }
        let field = self.field.iter().map(String::as_str);
        Ok(chance::MatchChance::new(seed, self.round, field, self.pair))
    }
}
