//! Q-Bitz: a race for two to four seats. Sixteen cubes are laid into a 4x4 tray as a card shows it; the first right tray
//! wins the round. Rules are cited by their numbers in `protocol/games/qbitz.md`.
//!
//! Rulings, where the rules are silent:
//! - Equal times are a dead heat even where `dead_heat_us` is 0: nothing orders them.
//! - A round that somebody wins, or that nobody wins in its time, ends a row of dead heats.
//! - Quarter-turns are counted round and round: a face turned by five is turned by one.
//! - A seat that forfeits (with others left to play on) keeps its points, is out of every further round, and shares in
//!   no win. `gone` of a state tells which seats have left.
//!
//! Who is asked when, whose claim came first and which claims are a dead heat is the referee's; see `referee::race`.

use serde::Serialize;
use serde_json::Value;

use super::{
    Chance, ChanceKind, Claim, Drawn, Facts, Game, Outcome, Race, Refusal, Seat, Series, Setup,
    Share, ToAct,
};

pub mod assign;
pub mod cards;
pub mod faces;
mod options;
mod state;
#[cfg(test)]
mod tests;

pub use options::{Blocks, QbitzOptions, RaceKind};

use cards::Card;
use faces::{Answer, CUBES, Cubes, FACES, Pattern, SIDE, Tray};

/// The most seats.
pub const MAX_SEATS: usize = 4;
/// How many void rounds there may be in a row (rule 4); at the next dead heat each scores.
pub const MAX_VOIDS: u8 = 3;

// ---- Position ---------------------------------------------------------------------------------------------------

/// A position of Q-Bitz.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qbitz {
    /// `None` until they are drawn.
    cubes: Option<Cubes>,
    /// `None` between rounds.
    pattern: Option<Pattern>,
    /// Rounds won, by seat.
    points: Vec<u32>,
    /// The round whose pattern is shown; between rounds how many there were.
    round: u32,
    /// The seats out of this round.
    out: [bool; MAX_SEATS],
    /// The seats that have forfeited.
    gone: [bool; MAX_SEATS],
    /// Void rounds in a row.
    voids: u8,
    target: u32,
    rounds: u32,
}

impl Qbitz {
    /// The pattern of the round; `None` between rounds.
    pub fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// The faces of the cubes; `None` until they are drawn.
    pub fn cubes(&self) -> Option<&Cubes> {
        self.cubes.as_ref()
    }

    /// A tray that lays the pattern; `None` between rounds, or where no assignment of cubes to cells does.
    pub fn solution(&self) -> Option<Tray> {
        assign::solve(self.cubes.as_ref()?, self.pattern.as_ref()?)
    }

    fn seats_in_play(&self) -> usize {
        (0..self.points.len())
            .filter(|&seat| !self.gone[seat])
            .count()
    }

    /// The most points of a seat that is still in the game.
    fn best(&self) -> u32 {
        let in_play = (0..self.points.len()).filter(|&seat| !self.gone[seat]);
        in_play.map(|seat| self.points[seat]).max().unwrap_or(0)
    }

    fn is_over(&self) -> bool {
        self.best() >= self.target || (self.pattern.is_none() && self.round >= self.rounds)
    }

    /// The round is over.
    fn close_round(&mut self) {
        self.pattern = None;
        self.out = [false; MAX_SEATS];
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

impl Game for Qbitz {
    type Options = QbitzOptions;
    /// A claim.
    type Move = Answer;

    const FACTS: &'static Facts = &Facts {
        name: "qbitz",
        title: "Q-Bitz",
        min_seats: 2,
        max_seats: MAX_SEATS,
        points: "rounds won",
        points_a_game: false,
        wins: &[],
        match_fields: &[],
        chance: true,
        explicit_pass: false,
    };

    fn start(options: &QbitzOptions, setup: &Setup<'_>) -> Qbitz {
        Qbitz {
            cubes: match options.blocks {
                Blocks::Uniform => Some(cards::UNIFORM),
                Blocks::Mixed => None,
            },
            pattern: None,
            points: vec![0; setup.seats],
            round: 0,
            out: [false; MAX_SEATS],
            gone: [false; MAX_SEATS],
            voids: 0,
            target: options.target_points,
            rounds: options.rounds,
        }
    }

    fn read(options: &QbitzOptions, state: &Value) -> Result<Qbitz, String> {
        Qbitz::from_state(options, state)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        let chance = |kind| ToAct::Chance(Chance { kind, seat: None });
        if self.is_over() {
            ToAct::Over
        } else if self.cubes.is_none() {
            chance(ChanceKind::Cubes)
        } else if self.pattern.is_none() {
            chance(ChanceKind::Card)
        } else {
            ToAct::Race
        }
    }

    /// Claims are never listed.
    fn legal(&self, moves: &mut Vec<Answer>) {
        moves.clear();
    }

    fn parse(&self, answer: &Value) -> Result<Answer, Refusal> {
        Answer::parse(answer)
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    /// A claim has a seat: see [`Game::claim`].
    fn apply(&mut self, _: &Answer) -> Result<(), Refusal> {
        Err(Refusal::new(
            "a claim is made by a seat in a race, not in turn",
        ))
    }

    fn race(options: &QbitzOptions) -> Option<Race> {
        Some(options.terms())
    }

    fn seats(&self) -> usize {
        self.points.len()
    }

    fn racing(&self, seat: Seat) -> bool {
        seat < self.points.len()
            && self.to_act() == ToAct::Race
            && !self.out[seat]
            && !self.gone[seat]
    }

    fn claim(&mut self, seat: Seat, claim: &Answer) -> Result<Claim, Refusal> {
        if !self.racing(seat) {
            return Err(Refusal::new(self.why_not(seat)));
        }
        let (Some(cubes), Some(pattern)) = (&self.cubes, &self.pattern) else {
            unreachable!("a seat races only while a pattern is shown");
        };
        let claim = match &claim.0 {
            None => Claim::GaveUp,
            Some(tray) => match fault_of(tray, cubes, pattern) {
                None => return Ok(Claim::Right),
                Some(words) => Claim::Wrong(words),
            },
        };
        self.out[seat] = true;
        if !(0..self.points.len()).any(|seat| self.racing(seat)) {
            // Rule 3: all are out, and nobody scores.
            self.award(&[]);
        }
        Ok(claim)
    }

    fn award(&mut self, first: &[Seat]) {
        if self.pattern.is_none() {
            return;
        }
        self.close_round();
        if first.len() > 1 && self.voids < MAX_VOIDS {
            // Rule 4: void, and not counted.
            self.voids += 1;
            self.round -= 1;
            return;
        }
        self.voids = 0;
        for &seat in first {
            self.points[seat] += 1;
        }
    }

    fn withdraw(&mut self, seat: Seat) -> bool {
        if seat >= self.points.len() || self.is_over() {
            return false;
        }
        if self.gone[seat] || self.seats_in_play() <= 2 {
            return false;
        }
        self.gone[seat] = true;
        if self.pattern.is_some() {
            self.out[seat] = true;
            if !(0..self.points.len()).any(|seat| self.racing(seat)) {
                self.award(&[]);
            }
        }
        true
    }

    fn chance(&mut self, drawn: Drawn) {
        let Drawn::Bytes(bytes) = drawn else { return };
        match &self.cubes {
            None => self.cubes = Some(cards::mixed_cubes(bytes)),
            Some(cubes) if self.pattern.is_none() && !self.is_over() => {
                self.pattern = Some(*Card::new(bytes, cubes).pattern());
                self.round += 1;
                self.out = self.gone;
            }
            Some(_) => {}
        }
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        let reason = if self.best() >= self.target {
            "target"
        } else {
            "rounds"
        };
        self.is_over().then(|| self.result(self.gone, reason))
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        let mut lost = self.gone;
        if let Some(lost) = lost.get_mut(seat) {
            *lost = true;
        }
        self.result(lost, super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn series(_options: &QbitzOptions, played: &[Outcome]) -> Series {
        let mut score = vec![0.0; played.first().map_or(2, |outcome| outcome.score.len())];
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

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        let points: Vec<String> = self.points.iter().map(ToString::to_string).collect();
        let mut text = format!("round {}, rounds won {}\n", self.round, points.join("-"));
        for row in self.pattern.iter().flatten() {
            let cells = row.iter().map(|cell| match cell.face.turns() {
                1 => format!("  {:<10}", cell.face.as_str()),
                turns => format!(
                    "  {:<10}",
                    format!("{} {}", cell.face.as_str(), cell.turn % turns)
                ),
            });
            text.push_str(cells.collect::<String>().trim_end());
            text.push('\n');
        }
        text
    }

    /// A race has no paths.
    fn perft(&self, depth: u32) -> u64 {
        u64::from(depth == 0)
    }
}

impl Qbitz {
    /// Why this seat may not claim.
    fn why_not(&self, seat: Seat) -> String {
        if seat >= self.points.len() {
            format!("there is no seat {seat}")
        } else if self.is_over() {
            "the game is over".into()
        } else if self.gone[seat] {
            format!("seat {seat} has forfeited and is out of the game (rule 5)")
        } else if self.pattern.is_none() {
            "no round is in play: nothing can be claimed".into()
        } else {
            format!("seat {seat} is out of this round (rule 3)")
        }
    }

    /// The result if the seats that have not lost compare their points.
    fn result(&self, lost: [bool; MAX_SEATS], reason: &'static str) -> Outcome {
        let seats = 0..self.points.len();
        let in_play = |&seat: &Seat| !lost[seat];
        let best = seats
            .clone()
            .filter(in_play)
            .map(|seat| self.points[seat])
            .max();
        let first: Vec<Seat> = seats
            .clone()
            .filter(in_play)
            .filter(|&seat| Some(self.points[seat]) == best)
            .collect();
        let share = Share::one_of(first.len() as u8);
        Outcome {
            winner: match first[..] {
                [winner] => Some(winner),
                _ => None,
            },
            score: seats
                .map(|seat| {
                    if first.contains(&seat) {
                        share
                    } else {
                        Share::LOSS
                    }
                })
                .collect(),
            points: self.points.clone(),
            reason,
        }
    }
}

/// What is wrong with a tray, the first cell row by row; `None` if it is right (rules 3 and 6).
fn fault_of(tray: &Tray, cubes: &Cubes, pattern: &Pattern) -> Option<String> {
    let mut place_of: [Option<(usize, usize)>; CUBES] = [None; CUBES];
    for (row, cells) in tray.iter().enumerate() {
        for (column, placed) in cells.iter().enumerate() {
            let here = format!("row {}, cell {}", row + 1, column + 1);
            let index = |number: i64, count: usize| {
                usize::try_from(number).ok().filter(|&index| index < count)
            };
            let Some(cube) = index(placed.cube, CUBES) else {
                return Some(format!(
                    "{here}: there is no cube {}; they are 0 to {} (rule 3)",
                    placed.cube,
                    CUBES - 1
                ));
            };
            if let Some((row, column)) = place_of[cube].replace((row, column)) {
                return Some(format!(
                    "{here}: cube {cube} lies in row {}, cell {} already (rule 3)",
                    row + 1,
                    column + 1
                ));
            }
            let Some(face) = index(placed.face, FACES) else {
                return Some(format!(
                    "{here}: a cube has no face {}; they are 0 to {} (rule 3)",
                    placed.face,
                    FACES - 1
                ));
            };
            let (face, wanted) = (cubes[cube][face], pattern[row][column]);
            if face != wanted.face {
                return Some(format!(
                    "{here}: this face of cube {cube} is {}, the pattern has {} (rule 3)",
                    face.as_str(),
                    wanted.face.as_str()
                ));
            }
            if !wanted.looks_like(face, placed.turn) {
                return Some(format!(
                    "{here}: {} is turned by {}, in the pattern by {} (rule 6)",
                    face.as_str(),
                    placed.turn,
                    wanted.turn
                ));
            }
        }
    }
    None
}

const _: () = assert!(SIDE * SIDE == CUBES);
