//! The one vocabulary of what happened. Every consumer matches [`Event`] without a wildcard arm, so that a new kind of
//! event cannot be forgotten.

use std::fmt;
use std::str::FromStr;

pub use hakem_protocol::results::Verdict;
use serde::{Deserialize, Serialize};

use crate::game::{Seat, Share};
use crate::rating::Score;

/// The id of a match: `r2.m5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatchId {
    /// The round, from 1.
    pub round: u32,
    /// The match within the round, from 1.
    pub number: u32,
}

/// The id of a game: `r2.m5.g1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId {
    /// The match.
    pub of: MatchId,
    /// The game within the match, from 1.
    pub game: u32,
}

impl MatchId {
    /// The id of this match's n-th game.
    pub const fn game(self, game: u32) -> GameId {
        GameId { of: self, game }
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}.m{}", self.round, self.number)
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.g{}", self.of, self.game)
    }
}

/// A text that is no id of a game or match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id; a game's id is like r1.m2.g3 (round, match, game), a match's like r1.m2")]
pub struct BadId(String);

fn numbers<const N: usize>(text: &str, letters: [char; N]) -> Option<[u32; N]> {
    let mut parts = text.split('.');
    let mut found = [0; N];
    for (slot, letter) in found.iter_mut().zip(letters) {
        let digits = parts.next()?.strip_prefix(letter)?;
        // A leading zero or sign would give one game two spellings.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.starts_with('0') {
            return None;
        }
        *slot = digits.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

impl FromStr for MatchId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<MatchId, BadId> {
        let [round, number] = numbers(text, ['r', 'm']).ok_or_else(|| BadId(text.into()))?;
        Ok(MatchId { round, number })
    }
}

impl FromStr for GameId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<GameId, BadId> {
        let [round, number, game] =
            numbers(text, ['r', 'm', 'g']).ok_or_else(|| BadId(text.into()))?;
        Ok(MatchId { round, number }.game(game))
    }
}

macro_rules! id_as_text {
    ($id:ty) => {
        impl Serialize for $id {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id_as_text!(MatchId);
id_as_text!(GameId);

/// A bot's place in the event file, counted from 0: its identity, whatever name it reports.
pub type Slot = usize;

/// The result of one game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameResult {
    /// Its id.
    pub id: GameId,
    /// The slot on each seat.
    pub seats: Vec<Slot>,
    /// The seat that won alone.
    pub winner: Option<Seat>,
    /// Each seat's share; `None` for a void game.
    pub score: Option<Vec<Share>>,
    /// What the game counts, by seat; `None` for a void game.
    pub points: Option<Vec<u32>>,
    /// Why it counts so.
    pub verdict: Verdict,
    /// Begins with the code or the rules' reason (`mars`, `illegal_move`, `exit 1`); then words for people.
    pub reason: String,
    /// The seat at fault.
    pub against: Option<Seat>,
    /// Answers given by all seats.
    pub moves: u32,
    /// The seat that answered first; `None` where none did, where seats race, or where it is not known.
    pub first: Option<Seat>,
    /// Charged time by seat, microseconds.
    pub time_us: Vec<u64>,
    /// Wall time of its open questions by seat, microseconds.
    pub wall_us: Vec<u64>,
    /// Processor time by seat, microseconds.
    pub cpu_us: Vec<u64>,
    /// The hash of the record's last line, hex; empty where no record is kept.
    pub record_hash: String,
    /// A hash of what was played: the start, random events, moves and passes, hex. Games of one hash are copies of each other.
    /// Empty where it is not known.
    pub play_hash: String,
}

/// The result of one match; what standings and ratings count.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchResult {
    /// Its id.
    pub id: MatchId,
    /// The slot on each seat.
    pub seats: Vec<Slot>,
    /// Each seat's share of the match.
    pub score: Vec<Share>,
    /// The series score by seat: points of a Tavla match, sets won.
    pub series: Vec<f64>,
    /// Games that count.
    pub games: u32,
}

impl MatchResult {
    /// The match as results between two. A table of more seats is one result for each two of them: the greater share wins.
    pub fn meetings(&self) -> impl Iterator<Item = (Slot, Slot, Score)> {
        let seats = || self.seats.iter().zip(&self.score);
        seats().enumerate().flat_map(move |(index, (&a, share))| {
            seats().skip(index + 1).map(move |(&b, other)| {
                let score = match share.value().total_cmp(&other.value()) {
                    std::cmp::Ordering::Greater => Score::Win,
                    std::cmp::Ordering::Equal => Score::Draw,
                    std::cmp::Ordering::Less => Score::Loss,
                };
                (a, b, score)
            })
        })
    }
}

/// What happened in a run, in the order in which it became true (a game is told after its commit).
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// Matches that there will be at least; `None` where that is not known.
        matches: Option<usize>,
        /// Matches that were complete already.
        done: usize,
        /// Games at once.
        jobs: usize,
    },
    /// Something the user should know.
    Warning(String),
    /// A match begins.
    MatchStarted {
        /// Its id.
        id: MatchId,
        /// The slots on its seats.
        seats: Vec<Slot>,
    },
    /// A game is over and stored.
    GameFinished(Box<GameResult>),
    /// A game was void and will be played again.
    GameVoided {
        /// Its id.
        id: GameId,
        /// What happened.
        why: String,
    },
    /// A match is over and stored.
    MatchFinished(MatchResult),
    /// The run is over: everything was played.
    RunFinished,
    /// The run was interrupted; what was played is kept.
    Interrupted,
}
