//! Tavla: backgammon with fifteen checkers a seat, the doubling cube, match and money play. Rules are cited by their
//! numbers in `protocol/games/tavla.md`.
//!
//! Rulings, where the rules are silent:
//! - A resignation is answered by `accept` or `refuse`; it is not itself answered by a resignation, for a state holds one.
//! - A resignation pays times the cube as it stands; an offer that is not yet taken does not count, as in rule 10.
//! - A ply, as `max_plies` counts them, is one seat's turn with its dice, a lost turn included.
//! - Options of the other kind of play mean nothing: `beavers`, `raccoons` and `jacoby` in a match, `crawford` in money play.
//! - A state given from outside says itself whether it is match play (`length`) and the Crawford game (`crawford`).

use serde::Serialize;
use serde_json::Value;

use super::{
    Ask, Chance, ChanceKind, Drawn, Facts, Game, Outcome, Refusal, Seat, Series, Setup, ToAct,
};

mod check;
mod course;
mod cube;
mod moves;
mod options;
mod score;
mod state;
mod text;

pub use cube::{Cube, Offer, Stage};
pub use moves::{MAX_STEPS, Play, Step, plays_of, rolls};
pub use options::TavlaOptions;

use cube::Limits;
use moves::Demand;
use score::Win;

/// The places of a seat's checkers: off, the points, the bar.
pub const POINTS: usize = 26;
/// The place of checkers borne off.
pub const OFF: usize = 0;
/// The place of checkers on the bar.
pub const BAR: usize = 25;
/// The checkers of a seat.
pub const CHECKERS: u8 = 15;

/// The checkers of a seat by place, as it counts the points itself: 0 off, 1 to 24, 25 the bar. Own point p is the
/// opponent's 25 - p.
pub type Points = [u8; POINTS];

/// The checkers of a seat at the start.
const START: Points = {
    let mut points = [0; POINTS];
    points[24] = 2;
    points[13] = 5;
    points[8] = 3;
    points[6] = 5;
    points
};

// ---- Position ---------------------------------------------------------------------------------------------------

/// A position of Tavla.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tavla {
    checkers: [Points; 2],
    /// The seat asked, or whose dice are awaited.
    turn: Seat,
    phase: Phase,
    dice: Option<[u8; 2]>,
    /// What must be played of the dice.
    demand: Demand,
    cube: Cube,
    resign: Option<Resign>,
    /// The seat on turn has offered to resign on this question, and was refused.
    refused: bool,
    score: [u32; 2],
    length: u32,
    crawford: bool,
    limits: Limits,
    /// Whether rule 9's `jacoby` holds: money play only.
    jacoby: bool,
    /// Turns played.
    plies: u32,
    max_plies: u32,
    opening: Option<[u8; 2]>,
    end: Option<End>,
}

/// What a position waits for, a resignation left aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The opening roll.
    Opening,
    /// The answer whether to roll or to double.
    Cube,
    /// The dice of the seat on turn.
    Roll,
    /// A play.
    Play,
    /// The answer to a double.
    Take,
    /// The lot after `max_plies` with equal pip counts.
    Lot,
    /// Nothing: the game is over.
    Over,
}

/// A resignation that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Resign {
    by: Seat,
    /// Times the cube.
    times: u8,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    winner: Seat,
    points: u32,
    reason: &'static str,
}

/// An answer of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TavlaMove {
    /// Checker moves.
    Play(Play),
    /// Roll without doubling.
    Roll,
    /// Offer a double.
    Double,
    /// Take the double.
    Take,
    /// Pass the double: lose the cube's value.
    Pass,
    /// Take and redouble at once.
    Beaver,
    /// Offer to resign for so many times the cube, 1 to 3.
    Resign(u8),
    /// Accept a resignation.
    Accept,
    /// Refuse a resignation.
    Refuse,
}

impl TavlaMove {
    /// The answers that are one word.
    const WORDS: [(TavlaMove, &'static str); 7] = [
        (TavlaMove::Roll, "roll"),
        (TavlaMove::Double, "double"),
        (TavlaMove::Take, "take"),
        (TavlaMove::Pass, "pass"),
        (TavlaMove::Beaver, "beaver"),
        (TavlaMove::Accept, "accept"),
        (TavlaMove::Refuse, "refuse"),
    ];
}

impl Tavla {
    /// The checkers of a seat.
    pub fn checkers(&self, seat: Seat) -> &Points {
        &self.checkers[seat]
    }

    /// The pips that a seat has to go.
    pub fn pips(&self, seat: Seat) -> u32 {
        score::pips(&self.checkers[seat])
    }

    /// The cube.
    pub fn cube(&self) -> &Cube {
        &self.cube
    }

    /// The points of the match or session before this game, by seat.
    pub fn score(&self) -> [u32; 2] {
        self.score
    }

    /// The points that win the match; 0 in money play.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Whether this is the Crawford game.
    pub fn is_crawford(&self) -> bool {
        self.crawford
    }

    /// Whether gammons count only if the cube was turned.
    pub fn is_jacoby(&self) -> bool {
        self.jacoby
    }

    /// The highest value of the cube in this game; 1 where there is none.
    pub fn highest_cube(&self) -> u32 {
        if self.limits.cube {
            self.limits.max_cube
        } else {
            1
        }
    }

    /// The roll that is to be played, also while a resignation instead of the play waits for its answer.
    pub fn roll_to_play(&self) -> Option<[u8; 2]> {
        self.dice.filter(|_| self.phase == Phase::Play)
    }

    /// The seat that offers to resign, and for how many times the cube.
    pub fn resignation(&self) -> Option<(Seat, u8)> {
        self.resign.map(|resign| (resign.by, resign.times))
    }

    /// The opening roll, the die of seat 0 first.
    pub fn opening(&self) -> Option<[u8; 2]> {
        self.opening
    }

    /// The checkers of both seats after this legal play of the seat on turn, the mover's first.
    pub fn after(&self, play: &Play) -> [Points; 2] {
        let (mut own, mut other) = (self.checkers[self.turn], self.checkers[1 - self.turn]);
        play.carry_out(&mut own, &mut other);
        [own, other]
    }

    /// A game not yet begun.
    fn new(options: &TavlaOptions, length: u32, crawford: bool) -> Tavla {
        Tavla {
            checkers: [START; 2],
            turn: 0,
            phase: Phase::Opening,
            dice: None,
            demand: Demand::default(),
            cube: Cube::START,
            resign: None,
            refused: false,
            score: [0; 2],
            length,
            crawford,
            limits: Limits::new(options, length, crawford),
            jacoby: options.jacoby && length == 0,
            plies: 0,
            max_plies: options.max_plies,
            opening: None,
            end: None,
        }
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

impl Game for Tavla {
    type Options = TavlaOptions;
    type Move = TavlaMove;

    const FACTS: &'static Facts = &Facts {
        name: "tavla",
        title: "Tavla",
        min_seats: 2,
        max_seats: 2,
        points: "points won",
        points_a_game: true,
        wins: &[
            ("borne_off", 1),
            ("mars", 2),
            ("katmerli_mars", 3),
            ("passed", 1),
            ("ply_cap", 1),
        ],
        match_fields: &["score", "length", "crawford"],
        explicit_pass: true,
        chance: true,
    };

    fn start(options: &TavlaOptions, setup: &Setup<'_>) -> Tavla {
        let crawford = score::is_crawford(options, setup);
        Tavla {
            score: score::total(setup.played),
            ..Tavla::new(options, options.match_length, crawford)
        }
    }

    fn read(options: &TavlaOptions, state: &Value) -> Result<Tavla, String> {
        state::read(options, state)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        let chance = |kind, seat| ToAct::Chance(Chance { kind, seat });
        if self.resign.is_some() {
            return ToAct::Seat(self.turn, Ask::Resign);
        }
        match self.phase {
            Phase::Opening => chance(ChanceKind::Opening, None),
            Phase::Cube => ToAct::Seat(self.turn, Ask::Cube),
            Phase::Roll => chance(ChanceKind::Dice, Some(self.turn)),
            Phase::Play if self.demand.count == 0 => ToAct::Pass(self.turn),
            Phase::Play => ToAct::Seat(self.turn, Ask::Move),
            Phase::Take => ToAct::Seat(self.turn, Ask::Take),
            Phase::Lot => chance(ChanceKind::Lot, None),
            Phase::Over => ToAct::Over,
        }
    }

    fn legal(&self, moves: &mut Vec<TavlaMove>) {
        moves.clear();
        match self.to_act() {
            ToAct::Seat(_, Ask::Move) => self.each_play(&mut |play| {
                moves.push(TavlaMove::Play(play));
            }),
            ToAct::Seat(_, Ask::Cube) => moves.extend([TavlaMove::Roll, TavlaMove::Double]),
            ToAct::Seat(_, Ask::Take) => {
                moves.extend([TavlaMove::Take, TavlaMove::Pass]);
                moves.extend(
                    self.cube
                        .may_redouble(&self.limits)
                        .then_some(TavlaMove::Beaver),
                );
            }
            ToAct::Seat(_, Ask::Resign) => moves.extend([TavlaMove::Accept, TavlaMove::Refuse]),
            _ => {}
        }
    }

    fn parse(&self, answer: &Value) -> Result<TavlaMove, Refusal> {
        state::read_move(answer)
            .ok_or_else(|| self.unfit(answer))
            .flatten()
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, mv: &TavlaMove) -> Result<(), Refusal> {
        let ToAct::Seat(seat, ask) = self.to_act() else {
            return Err(Refusal::new(self.expected()));
        };
        match (ask, *mv) {
            (Ask::Resign, TavlaMove::Accept) => self.accept(),
            (Ask::Resign, TavlaMove::Refuse) => self.refuse(),
            (Ask::Move | Ask::Cube | Ask::Take, TavlaMove::Resign(times)) => {
                self.offer_to_resign(seat, times)?;
            }
            (Ask::Move, TavlaMove::Play(play)) => self.apply_play(seat, &play)?,
            (Ask::Cube, TavlaMove::Roll) => self.phase = Phase::Roll,
            (Ask::Cube, TavlaMove::Double) => {
                self.cube.double(seat);
                self.ask_about_double();
            }
            (Ask::Take, TavlaMove::Take) => self.take(),
            (Ask::Take, TavlaMove::Pass) => self.pass_double(),
            (Ask::Take, TavlaMove::Beaver) if self.cube.may_redouble(&self.limits) => {
                self.cube.redouble();
                self.ask_about_double();
            }
            _ => return Err(Refusal::new(self.misplaced(ask, mv))),
        }
        // Every answer but a refusal settles the question that a refused seat had to answer.
        self.refused = *mv == TavlaMove::Refuse;
        Ok(())
    }

    fn pass(&mut self) {
        if matches!(self.to_act(), ToAct::Pass(_)) {
            self.refused = false;
            self.end_turn();
        }
    }

    fn pass_move() -> Value {
        Value::Array(Vec::new())
    }

    fn chance(&mut self, drawn: Drawn) {
        match (self.phase, drawn) {
            // Rule 1: equal dice are rolled again.
            (Phase::Opening, Drawn::Dice(dice)) if dice[0] != dice[1] => {
                self.opening = Some(dice);
                self.turn = usize::from(dice[1] > dice[0]);
                self.roll(dice);
            }
            (Phase::Roll, Drawn::Dice(dice)) => self.roll(dice),
            (Phase::Lot, Drawn::Lot(seat)) => self.win_by_count(usize::from(seat % 2 == 1)),
            _ => {}
        }
    }

    fn chances(&self, chance: Chance) -> Vec<Drawn> {
        match chance.kind {
            ChanceKind::Opening => (1..=6)
                .flat_map(|first| (1..=6).map(move |second| [first, second]))
                .filter(|dice| dice[0] != dice[1])
                .map(Drawn::Dice)
                .collect(),
            ChanceKind::Dice => rolls().map(Drawn::Dice).collect(),
            ChanceKind::Lot | ChanceKind::First => vec![Drawn::Lot(0), Drawn::Lot(1)],
            ChanceKind::Ply | ChanceKind::Cubes | ChanceKind::Card | ChanceKind::Outcome => {
                Vec::new()
            }
        }
    }

    fn dice(&self) -> Option<[u8; 2]> {
        self.roll_to_play().filter(|_| self.resign.is_none())
    }

    fn opening(&self) -> Option<[u8; 2]> {
        self.opening
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        self.end.map(|end| {
            Outcome::win(
                end.winner,
                score::points_of(end.winner, end.points),
                end.reason,
            )
        })
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        let winner = 1 - seat;
        let win = Win::forfeited(&self.checkers[winner], &self.checkers[seat]);
        let points = self.counted(win) as u32 * self.cube.value;
        Outcome::win(winner, score::points_of(winner, points), super::FORFEIT)
    }

    fn adjudicated(&self, lost_by: Option<Seat>) -> Option<Outcome> {
        // A resignation that waits is answered first: it says itself what is lost.
        if self.resign.is_some() {
            return None;
        }
        let Some(loser) = lost_by else {
            return Some(Outcome::draw([0; 2], super::ADJUDICATED));
        };
        let winner = 1 - loser;
        self.is_single(loser).then(|| {
            let points = score::points_of(winner, self.cube.value);
            Outcome::win(winner, points, super::ADJUDICATED)
        })
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn series(options: &TavlaOptions, played: &[Outcome]) -> Series {
        score::series(options, played)
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        text::board(self)
    }

    fn perft(&self, depth: u32) -> u64 {
        let mover = self.mover();
        let (own, other) = (&self.checkers[mover], &self.checkers[1 - mover]);
        moves::paths(own, other, self.dice, depth)
    }
}

#[cfg(test)]
mod tests;
