//! The record of a game: JSON lines, chained by hashes. Pure.
//!
//! Every line is an object with one field that names its kind and a last field `prev`, the SHA-256 of the line before
//! (without its line feed) as hex digits; in the first line all zeros. The kinds, in the order of a game:
//!
//! - `header`: all that the game began from ([`Header`]);
//! - `drawn`: a random event; `answer`: an accepted answer, with `spent`; `passed`: a pass played by the referee;
//! - `stopped`: the open question of a seat that races was withdrawn, with `spent`; `race`: a race is over, and which seats
//!   were first (several: a dead heat);
//! - `again`: the game is played over within its id; `fault`: a seat forfeits, with `spent`;
//! - `result`: how it ended. The hash of this line stands in the results.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::adjudicate::Adjudication;
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
    pub played: Arc<PlayedGames>,
    /// The position it was started from, if not the rules' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Value>,
    /// Random legal plies before the bots took over.
    #[serde(default)]
    pub opening_plies: u32,
    /// The rules of the event that may end the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjudication: Option<Adjudication>,
    /// The bots by seat, the machine, what confined them: for people and audits, not for the replay.
    #[serde(default)]
    pub about: About,
}

/// What a header says of bots and machine, as JSON text: many headers hold the same thousand bytes, and the referee does not look
/// into them.
#[derive(Clone, Debug)]
pub struct About(Arc<RawValue>);

impl About {
    /// What it says.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

impl From<&Value> for About {
    fn from(value: &Value) -> About {
        let text = serde_json::value::to_raw_value(value).expect("plain data is written to memory");
        About(text.into())
    }
}

impl Default for About {
    fn default() -> About {
        About::from(&Value::Null)
    }
}

impl PartialEq for About {
    fn eq(&self, other: &About) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Serialize for About {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(About(Box::<RawValue>::deserialize(deserializer)?.into()))
    }
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

/// The games of a match so far, with the text that stands in a header.
///
/// The text is kept, as a match may have a thousand games and each has a header: one word a game, the shares by seat as the
/// numbers of winners (0 lost, 1 won alone, 2 shared by two ...), a colon, and the points by seat: `1,0:26-22 2,2:24-24`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayedGames {
    outcomes: Vec<Outcome>,
    text: String,
}

impl PlayedGames {
    /// Adds a game that is over.
    pub fn push(&mut self, outcome: Outcome) {
        use std::fmt::Write as _;
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        for (seat, share) in outcome.score.iter().enumerate() {
            let comma = if seat == 0 { "" } else { "," };
            let _ = write!(self.text, "{comma}{}", share.winners());
        }
        for (seat, points) in outcome.points.iter().enumerate() {
            let _ = write!(self.text, "{}{points}", if seat == 0 { ':' } else { '-' });
        }
        self.outcomes.push(outcome);
    }

    /// The outcomes; those read from a record have no reason.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The number of the next game, from 1.
    pub fn next_game(&self) -> u32 {
        self.outcomes.len() as u32 + 1
    }

    fn read(text: &str) -> Option<PlayedGames> {
        let mut games = PlayedGames::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let (shares, points) = word.split_once(':')?;
            let winners = |text: &str| text.parse().ok().filter(|&n| n <= 16).map(Share::one_of);
            let score: Vec<Share> = shares.split(',').map(winners).collect::<Option<_>>()?;
            let points: Vec<u32> = points
                .split('-')
                .map(|text| text.parse().ok())
                .collect::<Option<_>>()?;
            let winner = score.iter().position(|&share| share == Share::WIN);
            games.push(Outcome {
                winner,
                score,
                points,
                reason: "",
            });
        }
        Some(games)
    }
}

impl Serialize for PlayedGames {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PlayedGames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        PlayedGames::read(&text)
            .ok_or_else(|| serde::de::Error::custom("the games before are written like 1,0:26-22"))
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
    /// The question of a seat that races was withdrawn.
    Stopped(StoppedEntry),
    /// A race is over.
    Race(RaceEntry),
    /// The game is played over.
    Again(u32),
    /// A seat forfeits.
    Fault(FaultEntry),
    /// How it ended.
    Result(ResultEntry),
}

/// A random event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The outcome that the lot chose, where it is one of a list with weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl DrawnEntry {
    /// The entry of an event.
    pub fn new(chance: Chance, n: u32, drawn: Drawn) -> DrawnEntry {
        let mut entry = DrawnEntry {
            kind: DrawnKind(chance.kind),
            seat: chance.seat,
            n,
            dice: None,
            lot: None,
            bytes: None,
            value: None,
        };
        match drawn {
            Drawn::Dice(dice) => entry.dice = Some(dice),
            Drawn::Lot(lot) => entry.lot = Some(lot),
            Drawn::Bytes(bytes) => entry.bytes = Some(Bytes(bytes)),
        }
        entry
    }

    /// What was drawn.
    pub fn drawn(&self) -> Option<Drawn> {
        self.dice
            .map(Drawn::Dice)
            .or_else(|| self.lot.map(Drawn::Lot))
            .or_else(|| self.bytes.map(|Bytes(bytes)| Drawn::Bytes(bytes)))
    }
}

/// The bytes of a random event, as hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub [u8; 32]);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&chance::hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        chance::from_hex(&text)
            .map(Bytes)
            .ok_or_else(|| serde::de::Error::custom("the bytes of an event are 64 hex digits"))
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
        ChanceKind::ALL
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
    /// In a race, what the claim came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimEntry>,
    /// What it took.
    pub spent: Spent,
    /// What of it was charged.
    pub charged_us: u64,
    /// What the seat has left, the increment added.
    pub left_us: Option<u64>,
}

/// What a claim came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimEntry {
    /// It is right.
    Right,
    /// It is wrong, and why.
    Wrong(String),
    /// The seat gave up.
    GaveUp,
}

/// The question of a seat that races was withdrawn: a claim could not count any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoppedEntry {
    /// Whose question.
    pub seat: Seat,
    /// The id of the question.
    pub id: u64,
    /// Why.
    pub why: hakem_protocol::StopWhy,
    /// What it had taken.
    pub spent: Spent,
    /// What of it was charged.
    pub charged_us: u64,
}

/// A race is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaceEntry {
    /// The seats that were first: several in a dead heat, none if nobody claimed rightly.
    pub first: Vec<Seat>,
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
        deserialize_with = "given"
    )]
    pub mv: Option<Value>,
    /// The beginning of the offending line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// What the question had taken by then.
    pub spent: Spent,
}

/// Reads a field that is there, with `null` as its value rather than its absence.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
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
            // Most games fit, so that the text is not copied as it grows.
            text: Vec::with_capacity(16 << 10),
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

    /// Adds an accepted answer. There is one for each move, so the usual one is written by hand; a test holds it to what
    /// [`Recorder::line`] writes.
    pub fn answer(&mut self, entry: &AnswerEntry) {
        if entry.note.is_some() || entry.eval.is_some() || entry.claim.is_some() {
            return self.line("answer", entry);
        }
        let start = self.text.len();
        let text = &mut self.text;
        text.extend_from_slice(b"{\"answer\":{\"seat\":");
        write_number(text, entry.seat as u64);
        text.extend_from_slice(b",\"id\":");
        write_number(text, entry.id);
        text.extend_from_slice(b",\"move\":");
        serde_json::to_writer(&mut *text, &entry.mv).expect("plain data is written to memory");
        text.extend_from_slice(b",\"spent\":{\"wall_us\":");
        write_number(text, entry.spent.wall_us);
        text.extend_from_slice(b",\"cpu_us\":");
        write_option(text, entry.spent.cpu_us);
        text.extend_from_slice(b",\"delay_us\":");
        write_option(text, entry.spent.delay_us);
        if entry.spent.earlier_us > 0 {
            text.extend_from_slice(b",\"earlier_us\":");
            write_number(text, entry.spent.earlier_us);
        }
        if entry.spent.outside_us > 0 {
            text.extend_from_slice(b",\"outside_us\":");
            write_number(text, entry.spent.outside_us);
        }
        text.extend_from_slice(b"},\"charged_us\":");
        write_number(text, entry.charged_us);
        text.extend_from_slice(b",\"left_us\":");
        write_option(text, entry.left_us);
        text.push(b'}');
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

/// Writes a number as JSON.
pub(super) fn write_number(out: &mut Vec<u8>, mut number: u64) {
    // The longest has 20 digits.
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Writes a number or `null` as JSON.
pub(super) fn write_option(out: &mut Vec<u8>, number: Option<u64>) {
    match number {
        Some(number) => write_number(out, number),
        None => out.extend_from_slice(b"null"),
    }
}

/// The hash of a line (without its line feed) as hex digits.
pub fn hash_line(line: &[u8]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest: [u8; 32] = Sha256::digest(line).into();
    let mut hex = [0; 64];
    for (index, byte) in digest.iter().enumerate() {
        hex[2 * index] = DIGITS[usize::from(byte >> 4)];
        hex[2 * index + 1] = DIGITS[usize::from(byte & 15)];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_like_any_other_json() {
        for number in [0, 1, 9, 10, 99, 100, 12_345, 1 << 40, u64::MAX] {
            let mut out = Vec::new();
            write_number(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }

    #[test]
    fn an_answer_is_written_like_any_other_line() {
        let spent = |cpu_us, delay_us| Spent {
            wall_us: 120,
            cpu_us,
            delay_us,
            earlier_us: delay_us.map_or(0, |delay| delay * 3),
            outside_us: delay_us.map_or(0, |delay| delay * 7),
        };
        let moves = [
            serde_json::json!(4),
            serde_json::json!([[8, 5], [6, 5]]),
            Value::Null,
            "roll".into(),
        ];
        for mv in moves {
            for (spent, left_us, note) in [
                (spent(None, None), None, None),
                (spent(Some(0), Some(17)), Some(59_999_880), None),
                (spent(Some(3), None), Some(0), None),
                (spent(Some(3), None), Some(1), Some("a \"note\"".to_owned())),
            ] {
                let entry = AnswerEntry {
                    seat: 1,
                    id: 300,
                    mv: mv.clone(),
                    note,
                    eval: None,
                    claim: (left_us == Some(0)).then_some(ClaimEntry::GaveUp),
                    spent,
                    charged_us: 120,
                    left_us,
                };
                let (mut by_hand, mut usual) = (Recorder::default(), Recorder::default());
                by_hand.answer(&entry);
                usual.line("answer", &entry);
                assert_eq!(by_hand.finish(), usual.finish());
            }
        }
    }
}
