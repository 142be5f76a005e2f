//! Dokuztas: nine men's morris, nine stones a seat on 24 points. Rules are cited by their numbers in
//! `protocol/games/dokuztas.md`.
//!
//! Rulings, where the rules are silent:
//! - Stones are counted on the board, as rules 6 and 7 say; `points` are those in hand too.
//! - A ply is one answer. A state given from outside has had the plies that its `quiet` tells.
//! - The times of rule 6 are looked at after each answer, so a capture by that answer counts. Where both have passed, what
//!   was due first decides.
//! - An equal count with `on_equal = "restart"` is a draw of the game as it stands, which the series then plays over.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{
    Ask, Chance, ChanceKind, ClockDefaults, Drawn, Facts, Game, Outcome, Refusal, Seat, Series,
    Setup, Share, ToAct,
};

pub mod board;
mod course;
mod options;
mod state;
#[cfg(test)]
mod tests;

use board::{Point, Points};
pub use options::{DokuztasOptions, MillStones, OnEqual, Preset};

/// The stones of a seat.
pub const STONES: u8 = 9;
/// A seat with so many stones left may move to any empty point (rule 2).
const FLYING: u8 = 3;
/// A seat with so many stones left has lost (rule 5).
const LOST: u8 = 2;
/// How often a game is restarted at most (rule 7).
const RESTARTS: u32 = 3;
/// What `preset = "okul"` allows for an answer: three minutes, in microseconds (rule 6).
const OKUL_MOVE_US: u64 = 3 * 60 * 1_000_000;

// ---- Position ---------------------------------------------------------------------------------------------------

/// A position of Dokuztas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dokuztas {
    /// The points with a stone, by seat.
    stones: [Points; 2],
    /// The stones not placed yet, by seat.
    in_hand: [u8; 2],
    /// The stones on the board and in hand, by seat; kept, as counting them for every move takes longer.
    left: [u8; 2],
    turn: u8,
    stage: Stage,
    /// How often the game was restarted before.
    restarts: u8,
    /// Moves since the last capture (rule 7).
    quiet: u32,
    plies: u32,
    options: DokuztasOptions,
}

/// What a position waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// An answer of the seat on turn.
    Play,
    /// The lot that decides.
    Lot,
    /// Nothing: the game is over, won by this seat or drawn.
    Over(Option<u8>, End),
}

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    TwoStones,
    Blocked,
    NoCapture,
    Time,
    Lot,
}

impl End {
    const fn reason(self) -> &'static str {
        match self {
            End::TwoStones => "two_stones",
            End::Blocked => "blocked",
            End::NoCapture => "no_capture",
            End::Time => "time",
            End::Lot => "lot",
        }
    }
}

/// The `from` of a placed stone and the `take` of a move that takes nothing.
const NOWHERE: Point = board::POINTS as Point;

/// An answer: a stone is placed or moved, and perhaps one is taken. Ordered by where it comes from, goes, and takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DokuztasMove {
    /// Five bits each: from, to, take. Lists of moves are written all the time, and this is one store.
    packed: u16,
}

impl DokuztasMove {
    const fn new(from: Point, to: Point, take: Point) -> DokuztasMove {
        DokuztasMove {
            packed: (from as u16) << 10 | (to as u16) << 5 | take as u16,
        }
    }

    const fn part(self, shift: u32) -> Option<Point> {
        let point = (self.packed >> shift & 31) as Point;
        if point == NOWHERE { None } else { Some(point) }
    }

    /// Where the stone comes from; `None` if it is placed.
    pub const fn from(self) -> Option<Point> {
        self.part(10)
    }

    /// Where the stone goes.
    pub const fn to(self) -> Point {
        (self.packed >> 5 & 31) as Point
    }

    /// The point of the stone that is taken.
    pub const fn take(self) -> Option<Point> {
        self.part(0)
    }
}

impl fmt::Debug for DokuztasMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(from) = self.from() {
            write!(f, "{}-", board::name(from))?;
        }
        f.write_str(board::name(self.to()))?;
        match self.take() {
            Some(take) => write!(f, "x{}", board::name(take)),
            None => Ok(()),
        }
    }
}

impl Dokuztas {
    fn seat(&self) -> Seat {
        usize::from(self.turn)
    }

    /// The points with a stone of this seat.
    pub fn stones(&self, seat: Seat) -> Points {
        self.stones[seat]
    }

    /// The stones that a seat has not placed yet.
    pub fn in_hand(&self, seat: Seat) -> u8 {
        self.in_hand[seat]
    }

    /// The stones that a seat has left, on the board and in hand.
    pub fn left(&self, seat: Seat) -> u32 {
        self.left[seat].into()
    }

    /// The points without a stone.
    pub fn empty(&self) -> Points {
        board::ALL & !(self.stones[0] | self.stones[1])
    }

    /// The answers since the game began, or since the position was read.
    pub fn plies(&self) -> u32 {
        self.plies
    }

    fn points(&self) -> [u32; 2] {
        [self.left(0), self.left(1)]
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

impl Game for Dokuztas {
    type Options = DokuztasOptions;
    type Move = DokuztasMove;

    const FACTS: &'static Facts = &Facts {
        name: "dokuztas",
        title: "Dokuztas",
        min_seats: 2,
        max_seats: 2,
        points: "stones left, those in hand included",
        points_a_game: false,
        wins: &[],
        match_fields: &["restarts"],
        chance: false,
        explicit_pass: false,
    };

    fn start(options: &DokuztasOptions, setup: &Setup<'_>) -> Dokuztas {
        // Rule 7: the other seat begins a restarted game.
        let first = (setup.lot + setup.again as usize) % 2;
        Dokuztas {
            stones: [0; 2],
            in_hand: [STONES; 2],
            left: [STONES; 2],
            turn: first as u8,
            stage: Stage::Play,
            restarts: setup.again.min(RESTARTS) as u8,
            quiet: 0,
            plies: 0,
            options: *options,
        }
    }

    fn read(options: &DokuztasOptions, state: &Value) -> Result<Dokuztas, String> {
        state::read(options, state)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        match self.stage {
            Stage::Play => ToAct::Seat(self.seat(), Ask::Move),
            Stage::Lot => ToAct::Chance(Chance {
                kind: ChanceKind::Lot,
                seat: None,
            }),
            Stage::Over(..) => ToAct::Over,
        }
    }

    fn legal(&self, moves: &mut Vec<DokuztasMove>) {
        moves.clear();
        if self.stage == Stage::Play {
            self.each_move(&mut |mv| moves.push(mv));
        }
    }

    fn parse(&self, answer: &Value) -> Result<DokuztasMove, Refusal> {
        state::parse(answer)
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, mv: &DokuztasMove) -> Result<(), Refusal> {
        self.check(*mv).map_err(Refusal::new)?;
        self.play(*mv);
        Ok(())
    }

    fn chance(&mut self, drawn: Drawn) {
        if let (Stage::Lot, Drawn::Lot(seat)) = (self.stage, drawn) {
            self.stage = Stage::Over(Some((seat % 2) as u8), End::Lot);
        }
    }

    fn chances(&self, _chance: Chance) -> Vec<Drawn> {
        vec![Drawn::Lot(0), Drawn::Lot(1)]
    }

    fn charged(&mut self, total_us: u64) {
        self.look_at_times(total_us);
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        let Stage::Over(winner, end) = self.stage else {
            return None;
        };
        Some(match winner {
            Some(winner) => Outcome::win(winner.into(), self.points(), end.reason()),
            None => Outcome {
                winner: None,
                score: vec![Share::HALF; 2],
                points: self.points().to_vec(),
                reason: end.reason(),
            },
        })
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        Outcome::win(1 - seat, self.points(), super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn plays_over(options: &DokuztasOptions, outcome: &Outcome, again: u32) -> bool {
        // Nothing but an equal count leaves a game without a winner.
        options.on_equal == OnEqual::Restart && outcome.winner.is_none() && again < RESTARTS
    }

    fn series(_options: &DokuztasOptions, played: &[Outcome]) -> Series {
        let mut score = vec![0.0; 2];
        for outcome in played {
            for (sum, share) in score.iter_mut().zip(&outcome.score) {
                *sum += share.value();
            }
        }
        Series {
            score,
            over: !played.is_empty(),
            of: Some(1),
        }
    }

    fn clock_defaults(options: &DokuztasOptions) -> Option<ClockDefaults> {
        (options.preset == Some(Preset::Okul)).then_some(ClockDefaults {
            main_us: None,
            move_us: Some(OKUL_MOVE_US),
        })
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        state::board_text(self)
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.stage != Stage::Play {
            return 0;
        }
        let mut paths = 0;
        self.each_move(&mut |mv| {
            // The last ply needs no look at what it leads to.
            paths += if depth == 1 {
                1
            } else {
                let mut next = *self;
                next.play(mv);
                next.perft(depth - 1)
            };
        });
        paths
    }
}
