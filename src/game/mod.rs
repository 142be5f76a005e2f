//! The rules of the games. Pure: no file, clock, thread or process is known here.
//!
//! A game is one file (Tavla: a folder) that implements [`Game`], and one line in [`GAMES`]. Every game file has the
//! same order of sections: sources and rulings, options, position, setup and JSON, legal moves, applying a move, end and
//! score, series, board text, tests.
//!
//! The rest of the program sees a game only through the object-safe [`Kind`], [`Ruleset`] and [`Position`], whose
//! values are those of the protocol (JSON); [`facade`] makes them from a typed [`Game`].

use std::fmt;
use std::sync::Arc;

pub use hakem_protocol::Ask;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub mod dokuztas;
pub mod facade;
pub mod mangala;
pub mod outside;
pub mod oware;
pub mod qbitz;
pub mod reversi;
pub mod tavla;
pub mod tool;

/// A seat at the table, counted from 0.
pub type Seat = usize;

/// Every game that hakem knows, in the order in which they are listed.
pub static GAMES: &[&dyn Kind] = &[
    &facade::Typed::<mangala::Mangala>::NEW,
    &facade::Typed::<oware::Oware>::NEW,
    &facade::Typed::<reversi::Reversi>::NEW,
    &facade::Typed::<tavla::Tavla>::NEW,
    &facade::Typed::<dokuztas::Dokuztas>::NEW,
    &facade::Typed::<qbitz::Qbitz>::NEW,
];

/// The game of this name (`mangala`), as event files and messages spell it.
pub fn find(name: &str) -> Option<&'static dyn Kind> {
    GAMES.iter().copied().find(|kind| kind.facts().name == name)
}

/// What is fixed about a game.
#[derive(Debug)]
pub struct Facts {
    /// The name in event files, messages and records.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The least number of seats.
    pub min_seats: usize,
    /// The greatest number of seats.
    pub max_seats: usize,
    /// What `points` of a result count, in words.
    pub points: &'static str,
    /// Whether the points of a game are a statistic of their own (Tavla: points a game).
    pub points_a_game: bool,
    /// The ways in which a game can be won by its own end, where there are several, by their reason, and how many times the stake
    /// each counts. Empty where there is one.
    pub wins: &'static [(&'static str, u32)],
    /// The fields of a state that belong to the match (its score), not to the position.
    pub match_fields: &'static [&'static str],
    /// Whether there are random events in play, after the first move was drawn; a lot that ends a game is none.
    pub chance: bool,
    /// Whether the rules tool lists a forced pass as the only legal answer (Tavla) instead of playing it itself.
    pub explicit_pass: bool,
}

/// Who acts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToAct {
    /// This seat is asked this.
    Seat(Seat, Ask),
    /// This seat is on turn and has no move: the referee plays the pass for it.
    Pass(Seat),
    /// A random event is due: the caller supplies what was drawn.
    Chance(Chance),
    /// Several seats at once race: those of [`Game::racing`] may claim.
    Race,
    /// The game is over; there is an [`Outcome`].
    Over,
}

/// The terms of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The time that each seat has to claim, microseconds from when it was asked.
    pub limit_us: u64,
    /// Right claims closer to the first than this are a dead heat, microseconds. Equal times always are.
    pub dead_heat_us: u64,
    /// The seats are asked one after the other, each alone; their times are compared all the same.
    pub in_turn: bool,
}

/// What a claim in a race came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is right. The position waits for [`Game::award`], since another seat may have been faster.
    Right,
    /// It is wrong: the seat is out of the race. Why, in words that its author can act on.
    Wrong(String),
    /// The seat gave up and is out of the race.
    GaveUp,
}

/// A random event that a position waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// What is drawn.
    pub kind: ChanceKind,
    /// The seat whose event it is (the dice of a seat), where it belongs to one.
    pub seat: Option<Seat>,
}

/// The kinds of random events. The name of a kind enters the derivation of its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChanceKind {
    /// Who moves first in a match, or sits on seat 0: a seat.
    First,
    /// Tavla's opening roll: one die for each seat, never equal.
    Opening,
    /// Two dice.
    Dice,
    /// A lot that decides between seats.
    Lot,
    /// The choice of a random legal ply of an opening: a number below the count of choices.
    Ply,
    /// Q-Bitz: the faces of the cubes.
    Cubes,
    /// Q-Bitz: a card, and which of its patterns is shown.
    Card,
    /// One of the outcomes that a position names, by their weights: a number below the sum of these
    /// ([`Position::choices`]).
    Outcome,
}

impl ChanceKind {
    /// Every kind.
    pub const ALL: [ChanceKind; 8] = [
        ChanceKind::First,
        ChanceKind::Opening,
        ChanceKind::Dice,
        ChanceKind::Lot,
        ChanceKind::Ply,
        ChanceKind::Cubes,
        ChanceKind::Card,
        ChanceKind::Outcome,
    ];

    /// The name in records and in the derivation.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChanceKind::First => "first",
            ChanceKind::Opening => "opening",
            ChanceKind::Dice => "dice",
            ChanceKind::Lot => "lot",
            ChanceKind::Ply => "ply",
            ChanceKind::Cubes => "cubes",
            ChanceKind::Card => "card",
            ChanceKind::Outcome => "outcome",
        }
    }
}

/// What a random event brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Two dice, 1 to 6 each; in an opening roll that of seat 0 first.
    Dice([u8; 2]),
    /// A number from 0 below the number of choices (a seat, where the lot decides between seats).
    Lot(u32),
    /// Bytes from which the game makes its own choices, as [`crate::chance::Choices`] does.
    Bytes([u8; 32]),
}

/// One seat's share of a game or match: nothing, all, or one n-th where n seats share the win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Share(u8);

impl Share {
    /// Lost.
    pub const LOSS: Share = Share(0);
    /// Won alone.
    pub const WIN: Share = Share(1);
    /// A draw of two.
    pub const HALF: Share = Share(2);

    /// The share of one of `n` winners.
    pub const fn one_of(n: u8) -> Share {
        Share(n)
    }

    /// How many share the win; 0 for a loss. The inverse of [`Share::one_of`].
    pub const fn winners(self) -> u8 {
        self.0
    }

    /// The share as a number: 0, 1, 1/2, 1/3 ...
    pub fn value(self) -> f64 {
        if self.0 == 0 {
            0.0
        } else {
            1.0 / f64::from(self.0)
        }
    }

    /// The inverse of [`Share::value`]; `None` for a number that is no share.
    pub fn from_value(value: f64) -> Option<Share> {
        (0..=16u8)
            .map(Share)
            .find(|share| (share.value() - value).abs() < 1e-9)
    }
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            whole @ (0 | 1) => serializer.serialize_u8(whole),
            _ => serializer.serialize_f64(self.value()),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Share {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Share::from_value(value).ok_or_else(|| {
            serde::de::Error::custom("a score is 0, 1 or one over the number of winners")
        })
    }
}

/// How a game ended by its rules, or by a forfeit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The seat that won alone.
    pub winner: Option<Seat>,
    /// Each seat's share.
    pub score: Vec<Share>,
    /// What the game counts, by seat (stones, discs, points won).
    pub points: Vec<u32>,
    /// The rules' name for the end (`pits_empty`, `mars`, `forfeit` ...).
    pub reason: &'static str,
}

impl Outcome {
    /// The outcome of two seats where the larger number of points wins and equal is a draw.
    pub fn by_points(points: [u32; 2], reason: &'static str) -> Outcome {
        let (winner, score) = match points[0].cmp(&points[1]) {
            std::cmp::Ordering::Greater => (Some(0), [Share::WIN, Share::LOSS]),
            std::cmp::Ordering::Less => (Some(1), [Share::LOSS, Share::WIN]),
            std::cmp::Ordering::Equal => (None, [Share::HALF, Share::HALF]),
        };
        Outcome {
            winner,
            score: score.to_vec(),
            points: points.to_vec(),
            reason,
        }
    }

    /// A draw of two seats.
    pub fn draw(points: [u32; 2], reason: &'static str) -> Outcome {
        Outcome {
            winner: None,
            score: vec![Share::HALF; 2],
            points: points.to_vec(),
            reason,
        }
    }

    /// A win of one of two seats.
    pub fn win(winner: Seat, points: [u32; 2], reason: &'static str) -> Outcome {
        let mut score = vec![Share::LOSS; 2];
        score[winner] = Share::WIN;
        Outcome {
            winner: Some(winner),
            score,
            points: points.to_vec(),
            reason,
        }
    }
}

/// The reason of a forfeit in an [`Outcome`].
pub const FORFEIT: &str = "forfeit";

/// The reason in an [`Outcome`] of a game that a rule of the event ended.
pub const ADJUDICATED: &str = "adjudicated";

/// An answer that the rules refuse. The position is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, in words the bot's author can act on; cites the rule. Text of the bot in it is cut short.
    pub message: String,
}

impl Refusal {
    /// A refusal for this reason.
    pub fn new(message: impl Into<String>) -> Refusal {
        Refusal {
            message: message.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// What is wrong with an option of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The option's name as it was given; empty where it is the game that cannot be played, whatever its options.
    pub key: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => f.write_str(&self.message),
            key => write!(f, "option `{key}`: {}", self.message),
        }
    }
}

impl std::error::Error for RulesError {}

/// What a game of a match begins from.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The games of this match that are over, in order; empty for the first.
    pub played: &'a [Outcome],
    /// The seat that the match's coin toss named.
    pub lot: Seat,
    /// How often this game was played over within its id (a rematch, a restart); 0 at first.
    pub again: u32,
    /// The number of seats.
    pub seats: usize,
}

impl Setup<'_> {
    /// The start of a match of one game between two seats, seat 0 first.
    pub const SINGLE: Setup<'static> = Setup {
        played: &[],
        lot: 0,
        again: 0,
        seats: 2,
    };
}

/// Where a match stands after some games.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The score by seat: points, sets won (a drawn set 1/2), games.
    pub score: Vec<f64>,
    /// Whether the match is decided or has had all its games.
    pub over: bool,
    /// The number of games of the match, where it is fixed.
    pub of: Option<u32>,
}

impl Series {
    /// The series of a match of so many games, all of which are played: each seat's score is the sum of its shares.
    pub fn of_games(games: u32, played: &[Outcome]) -> Series {
        let mut score = vec![0.0; 2];
        for outcome in played {
            for (sum, share) in score.iter_mut().zip(&outcome.score) {
                *sum += share.value();
            }
        }
        Series {
            score,
            over: played.len() >= games as usize,
            of: Some(games),
        }
    }

    /// The shares of the match as it stands: the highest score wins, several share the win.
    pub fn shares(&self) -> Vec<Share> {
        let best = self.score.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let winners = self.score.iter().filter(|&&score| score == best).count();
        let share = Share::one_of(u8::try_from(winners).unwrap_or(u8::MAX));
        self.score
            .iter()
            .map(|&score| if score == best { share } else { Share::LOSS })
            .collect()
    }
}

/// The clock that the rules of a game name themselves; each part holds where the event names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDefaults {
    /// Each seat's total for a game, microseconds; `None`: none.
    pub main_us: Option<u64>,
    /// The limit for one answer, microseconds; `None`: none.
    pub move_us: Option<u64>,
}

/// The options of a game: every field has a default, an unknown name is refused (`#[serde(default,
/// deny_unknown_fields)]`).
pub trait Options:
    Serialize + DeserializeOwned + Default + Clone + fmt::Debug + Send + Sync + 'static
{
    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// The option that is impossible, and what would be right.
    fn check(&self) -> Result<(), RulesError>;
}

/// The rules of one game, typed. A value is a position.
pub trait Game: Clone + fmt::Debug + Send + Sized + 'static {
    /// The options.
    type Options: Options;
    /// One answer of a seat. `Serialize` writes it as the protocol does.
    type Move: Copy + PartialEq + fmt::Debug + Send + Serialize;
    /// What is fixed.
    const FACTS: &'static Facts;

    /// The first position of a game.
    fn start(options: &Self::Options, setup: &Setup<'_>) -> Self;

    /// A position from the state of a message, checked.
    ///
    /// # Errors
    /// What cannot be, in words.
    fn read(options: &Self::Options, state: &Value) -> Result<Self, String>;

    /// The state as the protocol writes it (PROTOCOL.md, "States and moves").
    fn state(&self) -> impl Serialize + '_;

    /// Appends [`Game::state`] as JSON. A game may write it faster, but never otherwise.
    fn write_state(&self, out: &mut Vec<u8>) {
        facade::write_json(out, &self.state());
    }

    /// Who acts next.
    fn to_act(&self) -> ToAct;

    /// Puts every legal answer of the seat to act into `moves` (cleared first), in ascending order, no two equal in meaning.
    /// Empty unless a seat is asked. Allocates only if `moves` must grow.
    fn legal(&self, moves: &mut Vec<Self::Move>);

    /// Reads an answer as the protocol writes it.
    ///
    /// # Errors
    /// A value that is no move of this game (for every type of value).
    fn parse(&self, answer: &Value) -> Result<Self::Move, Refusal>;

    /// Applies an answer of the seat to act.
    ///
    /// # Errors
    /// Why it is not legal here; the position is then unchanged.
    fn apply(&mut self, mv: &Self::Move) -> Result<(), Refusal>;

    /// Applies a pass of a seat that [`ToAct::Pass`] names. Does nothing elsewhere.
    fn pass(&mut self) {}

    /// The pass as `last` shows it (`"pass"`, `[]`).
    fn pass_move() -> Value {
        Value::from("pass")
    }

    /// The terms of every race of a game in which the seats race for rounds instead of moving in turn; `None` for other
    /// games. Such a game has no list of legal answers and no paths.
    fn race(options: &Self::Options) -> Option<Race> {
        let _ = options;
        None
    }

    /// The number of seats of this position.
    fn seats(&self) -> usize {
        2
    }

    /// Whether this seat may claim in a race that is on ([`ToAct::Race`]).
    fn racing(&self, seat: Seat) -> bool {
        let _ = seat;
        false
    }

    /// Checks a claim of a seat that races. A wrong one puts the seat out of the race, and ends it if nobody is left.
    ///
    /// # Errors
    /// Why this seat may not claim here; the position is then unchanged.
    fn claim(&mut self, seat: Seat, claim: &Self::Move) -> Result<Claim, Refusal> {
        let _ = (seat, claim);
        Err(Refusal::new("there is no race in this game"))
    }

    /// Ends the race: these seats claimed rightly and were first, several in a dead heat; none if the time is over. Does
    /// nothing where nobody races.
    fn award(&mut self, first: &[Seat]) {
        let _ = first;
    }

    /// Takes a seat that forfeits out of the game, so that the others play on; false, and nothing is done, where the
    /// forfeit ends the game.
    fn withdraw(&mut self, seat: Seat) -> bool {
        let _ = seat;
        false
    }

    /// Applies the random event that [`ToAct::Chance`] names.
    fn chance(&mut self, drawn: Drawn) {
        let _ = drawn;
    }

    /// Hears all time charged to all seats in this game so far, in microseconds; a game that is played over begins at zero.
    /// Called after each accepted answer, before the next question. For rules that end a game by its time.
    fn charged(&mut self, total_us: u64) {
        let _ = total_us;
    }

    /// Everything that this random event can bring, each once; for counting paths.
    fn chances(&self, chance: Chance) -> Vec<Drawn> {
        let _ = chance;
        Vec::new()
    }

    /// The dice that the seat to act plays now; `last` shows them beside the move.
    fn dice(&self) -> Option<[u8; 2]> {
        None
    }

    /// Tavla: the opening roll, the die of seat 0 first; `start` tells it.
    fn opening(&self) -> Option<[u8; 2]> {
        None
    }

    /// How the game ended; `None` while it goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// The outcome if this seat forfeits now: points of the board as it stands, the win to the other.
    fn forfeit(&self, seat: Seat) -> Outcome;

    /// The outcome if a rule of the event ends the game here, while a seat is asked: lost for this seat, or drawn; points of the
    /// board as it stands. `None` while it is still open what the seat would lose. For games of two seats.
    fn adjudicated(&self, lost_by: Option<Seat>) -> Option<Outcome> {
        let lost = Outcome {
            reason: ADJUDICATED,
            ..self.forfeit(lost_by.unwrap_or(0))
        };
        Some(match lost_by {
            Some(_) => lost,
            None => Outcome {
                winner: None,
                score: vec![Share::HALF; lost.score.len()],
                ..lost
            },
        })
    }

    /// Whether a game with this outcome, already played over `again` times, is played over once more.
    fn plays_over(options: &Self::Options, outcome: &Outcome, again: u32) -> bool {
        let _ = (options, outcome, again);
        false
    }

    /// Where a match stands after these games.
    fn series(options: &Self::Options, played: &[Outcome]) -> Series;

    /// What the rules say about the clock, for an event that says nothing; `None` where they say nothing either.
    fn clock_defaults(options: &Self::Options) -> Option<ClockDefaults> {
        let _ = options;
        None
    }

    /// The board for a terminal, several lines, seat 0 below.
    fn board(&self) -> String;

    /// The number of paths of exactly `depth` full moves (PROTOCOL.md, `hakem perft`).
    fn perft(&self, depth: u32) -> u64;
}

/// A game as the program sees it; one for each entry of [`GAMES`].
pub trait Kind: Sync {
    /// What is fixed.
    fn facts(&self) -> &'static Facts;

    /// The rules with these options, every other at its default.
    ///
    /// # Errors
    /// The first option that is unknown or impossible.
    fn rules(&self, given: &Map<String, Value>) -> Result<Arc<dyn Ruleset>, RulesError>;
}

/// A game with its options chosen.
pub trait Ruleset: fmt::Debug + Send + Sync {
    /// What is fixed.
    fn facts(&self) -> &'static Facts;
    /// [`Game::race`].
    fn race(&self) -> Option<Race>;
    /// Every option with its value.
    fn options(&self) -> Value;
    /// The first position of a game.
    fn start(&self, setup: &Setup<'_>) -> Box<dyn Position>;
    /// A position from a state.
    ///
    /// # Errors
    /// What cannot be, in words.
    fn read(&self, state: &Value) -> Result<Box<dyn Position>, String>;
    /// [`Game::plays_over`].
    fn plays_over(&self, outcome: &Outcome, again: u32) -> bool;
    /// [`Game::series`].
    fn series(&self, played: &[Outcome]) -> Series;
    /// [`Game::clock_defaults`].
    fn clock_defaults(&self) -> Option<ClockDefaults>;
}

/// A position as the program sees it. Values are the protocol's.
pub trait Position: fmt::Debug + Send {
    /// Who acts next.
    fn to_act(&self) -> ToAct;
    /// Appends the state as JSON.
    fn write_state(&self, out: &mut Vec<u8>);
    /// Appends the legal answers as a JSON array.
    fn write_legal(&mut self, out: &mut Vec<u8>);
    /// How many legal answers there are.
    fn count_legal(&mut self) -> usize;
    /// The legal answer of this index (below [`Position::count_legal`]) in the order of [`Position::write_legal`].
    fn nth_legal(&mut self, index: usize) -> Value;
    /// Applies an answer of the seat to act; appends to `told` what `last` and `played` say of it
    /// (`{"seat":0,"dice":[3,1],"move":[[8,5],[6,5]]}`).
    ///
    /// # Errors
    /// Why the rules refuse it; nothing has changed, `told` included.
    fn play(&mut self, answer: &Value, told: &mut Vec<u8>) -> Result<(), Refusal>;
    /// Plays the pass of a seat that cannot move; appends to `told` as [`Position::play`].
    fn pass(&mut self, told: &mut Vec<u8>);
    /// The pass as an answer ([`Game::pass_move`]).
    fn pass_move(&self) -> Value;
    /// [`Game::seats`].
    fn seats(&self) -> usize;
    /// [`Game::racing`].
    fn racing(&self, seat: Seat) -> bool;
    /// Checks a claim of a seat that races ([`Game::claim`]); appends to `told` as [`Position::play`].
    ///
    /// # Errors
    /// A value that is no claim, or a seat that may not claim; nothing has changed, `told` included.
    fn claim(&mut self, seat: Seat, answer: &Value, told: &mut Vec<u8>) -> Result<Claim, Refusal>;
    /// [`Game::award`].
    fn award(&mut self, first: &[Seat]);
    /// [`Game::withdraw`].
    fn withdraw(&mut self, seat: Seat) -> bool;
    /// Applies a random event.
    fn chance(&mut self, drawn: Drawn);
    /// The number of choices of the random event that is due, where its kind does not fix it.
    fn choices(&self) -> Option<u32> {
        None
    }
    /// What a draw of the random event that is due means, where the number alone does not tell it.
    fn drawn_value(&self, drawn: Drawn) -> Option<Value> {
        let _ = drawn;
        None
    }
    /// Why the rules cannot go on: the program that they are failed. Whoever caused it, no seat did: the game is void.
    /// Everything else that such a position says means nothing. Never of a game that is built in.
    fn broken(&self) -> Option<&str> {
        None
    }
    /// [`Game::charged`].
    fn charged(&mut self, total_us: u64);
    /// The opening roll, where the game has one.
    fn opening(&self) -> Option<[u8; 2]>;
    /// How the game ended.
    fn outcome(&self) -> Option<Outcome>;
    /// The outcome if this seat forfeits now.
    fn forfeit(&self, seat: Seat) -> Outcome;
    /// [`Game::adjudicated`].
    fn adjudicated(&self, lost_by: Option<Seat>) -> Option<Outcome>;
    /// The board for a terminal.
    fn board(&self) -> String;
    /// The number of paths of exactly `depth` full moves.
    fn perft(&self, depth: u32) -> u64;
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Position>;
}

/// A whole number that a message may write as `3` or `3.0`; `None` for anything else.
pub(crate) fn small_int(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 1e9)
            .map(|number| number as i64)
    })
}

/// The indexes of the bits that are set, in ascending order.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(lowest)
    })
}

/// A value of a bot for a message, cut short.
pub(crate) fn cut(value: &Value) -> String {
    const MAX: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
