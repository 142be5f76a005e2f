//! Mangala (RULES.md, "Mangala"). Two seats, six pits each, 48 stones.
//!
//! Ruling: the sources call the direction clockwise, but sow to the mover's own right; that is what is enforced.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{Ask, Facts, Game, Options, Outcome, Refusal, RulesError, Seat, Series, Setup, ToAct};

/// Pits of a seat.
const PITS: usize = 6;
/// Stones in play.
const STONES: u32 = 48;
/// Places in the sowing order of a seat: its pits, its treasury, the opponent's pits.
const TRACK: usize = 2 * PITS + 1;
/// How often a drawn set is replayed at most (rule 6).
const REMATCHES: u32 = 3;

// ---- Options ----------------------------------------------------------------------------------------------------

/// The options of Mangala.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MangalaOptions {
    /// Sets in a match (rule 7).
    pub sets: u32,
    /// Whether a drawn set is played over (rule 6).
    pub rematch_on_draw: bool,
}

impl Default for MangalaOptions {
    fn default() -> Self {
        MangalaOptions {
            sets: 1,
            rematch_on_draw: false,
        }
    }
}

impl Options for MangalaOptions {
    fn check(&self) -> Result<(), RulesError> {
        if (1..=1000).contains(&self.sets) {
            Ok(())
        } else {
            Err(RulesError {
                key: "sets".into(),
                message: format!(
                    "{} is not a number of sets; 1 to 1000 are possible",
                    self.sets
                ),
            })
        }
    }
}

// ---- Position ---------------------------------------------------------------------------------------------------

/// A position of Mangala.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mangala {
    pits: [[u8; PITS]; 2],
    stores: [u8; 2],
    turn: u8,
    over: bool,
}

impl Mangala {
    fn seat(&self) -> Seat {
        usize::from(self.turn)
    }

    /// The stones of a seat's pits, from its left to its right.
    pub fn pits(&self, seat: Seat) -> &[u8; PITS] {
        &self.pits[seat]
    }

    /// The stones in a seat's treasury.
    pub fn store(&self, seat: Seat) -> u8 {
        self.stores[seat]
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

/// The state as messages carry it.
#[derive(Deserialize)]
struct StateIn {
    pits: [[u8; PITS]; 2],
    stores: [u8; 2],
    turn: u8,
}

impl Serialize for Mangala {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Mangala", 3)?;
        state.serialize_field("pits", &self.pits)?;
        state.serialize_field("stores", &self.stores)?;
        state.serialize_field("turn", &self.turn)?;
        state.end()
    }
}

impl Game for Mangala {
    type Options = MangalaOptions;
    /// A pit, 1 to 6.
    type Move = u8;

    const FACTS: &'static Facts = &Facts {
        name: "mangala",
        title: "Mangala",
        min_seats: 2,
        max_seats: 2,
        points: "stones in the treasury",
        points_a_game: false,
        match_fields: &[],
        chance: false,
        explicit_pass: false,
    };

    fn start(_options: &MangalaOptions, setup: &Setup<'_>) -> Mangala {
        // Rule 7: the first move alternates set by set; a rematch is the return game of its set.
        let shift = setup.played.len() + setup.again as usize;
        let first = (setup.lot + shift) % 2;
        Mangala {
            pits: [[4; PITS]; 2],
            stores: [0; 2],
            turn: first as u8,
            over: false,
        }
    }

    fn read(_options: &MangalaOptions, state: &Value) -> Result<Mangala, String> {
        let state = StateIn::deserialize(state).map_err(|error| {
            format!(
                "a state has pits (two lists of six counts), stores (two counts) and turn: {error}"
            )
        })?;
        if state.turn > 1 {
            return Err(format!("turn is a seat, 0 or 1, not {}", state.turn));
        }
        let stones: u32 = state
            .pits
            .iter()
            .flatten()
            .chain(&state.stores)
            .map(|&count| u32::from(count))
            .sum();
        if stones != STONES {
            return Err(format!(
                "pits and stores hold {stones} stones; there are {STONES}"
            ));
        }
        let mut game = Mangala {
            pits: state.pits,
            stores: state.stores,
            turn: state.turn,
            over: false,
        };
        game.finish_if_empty();
        Ok(game)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        if self.over {
            ToAct::Over
        } else {
            ToAct::Seat(self.seat(), Ask::Move)
        }
    }

    fn legal(&self, moves: &mut Vec<u8>) {
        moves.clear();
        if self.over {
            return;
        }
        let pits = &self.pits[self.seat()];
        moves.extend((1..=PITS as u8).filter(|&pit| pits[usize::from(pit) - 1] > 0));
    }

    fn parse(&self, answer: &Value) -> Result<u8, Refusal> {
        super::small_int(answer)
            .filter(|pit| (1..=PITS as i64).contains(pit))
            .map(|pit| pit as u8)
            .ok_or_else(|| {
                Refusal::new(format!(
                    "a move is a pit number from 1 to 6, not {}",
                    super::cut(answer)
                ))
            })
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, &pit: &u8) -> Result<(), Refusal> {
        if self.over {
            return Err(Refusal::new("the game is over"));
        }
        let me = self.seat();
        let from = usize::from(pit) - 1;
        if self.pits[me][from] == 0 {
            return Err(Refusal::new(format!(
                "pit {pit} is empty (rule 1: a move names a non-empty own pit)"
            )));
        }
        let last = self.sow(me, from);
        let again = last == PITS;
        if last < PITS {
            self.capture_opposite(me, last);
        } else if last > PITS {
            self.capture_even(me, last - PITS - 1);
        }
        if !again {
            self.turn = 1 - self.turn;
        }
        self.finish_if_empty();
        Ok(())
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        self.over
            .then(|| Outcome::by_points(self.points(), "pits_empty"))
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        Outcome::win(1 - seat, self.points(), super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn plays_over(options: &MangalaOptions, outcome: &Outcome, again: u32) -> bool {
        options.rematch_on_draw
            && outcome.winner.is_none()
            && outcome.reason != super::FORFEIT
            && again < REMATCHES
    }

    fn series(options: &MangalaOptions, played: &[Outcome]) -> Series {
        let mut score = vec![0.0; 2];
        for outcome in played {
            for (sum, share) in score.iter_mut().zip(&outcome.score) {
                *sum += share.value();
            }
        }
        // Rule 7: all sets are played.
        Series {
            score,
            over: played.len() >= options.sets as usize,
            of: Some(options.sets),
        }
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        let row = |pits: &mut dyn Iterator<Item = &u8>| -> String {
            pits.map(|count| format!("{count:>4}")).collect()
        };
        let theirs = row(&mut self.pits[1].iter().rev());
        let mine = row(&mut self.pits[0].iter());
        format!(
            "seat 1        6   5   4   3   2   1\n         {theirs}\n    {:>4} {:24} {:>4}\n         {mine}\nseat 0        1   2   3   4   5   6\n",
            self.stores[1], "", self.stores[0]
        )
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.over {
            return 0;
        }
        let pits = self.pits[self.seat()];
        (1..=PITS as u8)
            .filter(|&pit| pits[usize::from(pit) - 1] > 0)
            .map(|pit| {
                let mut next = *self;
                next.apply(&pit).map_or(0, |()| next.perft(depth - 1))
            })
            .sum()
    }
}

impl Mangala {
    fn points(&self) -> [u32; 2] {
        self.stores.map(u32::from)
    }

    /// Rule 1. Returns the place of the last stone on the mover's track: 0 to 5 its own pits, 6 its treasury, 7 to 12
    /// the opponent's pits.
    fn sow(&mut self, me: Seat, from: usize) -> usize {
        let stones = usize::from(self.pits[me][from]);
        // The first of several stones goes back into the pit; a single one moves on.
        let first = if stones == 1 { from + 1 } else { from };
        self.pits[me][from] = 0;
        let mut place = first;
        for step in 0..stones {
            place = (first + step) % TRACK;
            *self.place(me, place) += 1;
        }
        place
    }

    fn place(&mut self, me: Seat, place: usize) -> &mut u8 {
        match place {
            0..PITS => &mut self.pits[me][place],
            PITS => &mut self.stores[me],
            _ => &mut self.pits[1 - me][place - PITS - 1],
        }
    }

    /// Rule 3.
    fn capture_even(&mut self, me: Seat, pit: usize) {
        let count = self.pits[1 - me][pit];
        if count.is_multiple_of(2) {
            self.pits[1 - me][pit] = 0;
            self.stores[me] += count;
        }
    }

    /// Rule 4. A pit with exactly one stone after the sowing was empty before its last stone, and got no other.
    fn capture_opposite(&mut self, me: Seat, pit: usize) {
        let opposite = self.pits[1 - me][PITS - 1 - pit];
        if self.pits[me][pit] == 1 && opposite > 0 {
            self.pits[1 - me][PITS - 1 - pit] = 0;
            self.pits[me][pit] = 0;
            self.stores[me] += opposite + 1;
        }
    }

    /// Rule 5.
    fn finish_if_empty(&mut self) {
        for seat in 0..2 {
            if self.pits[seat].iter().all(|&count| count == 0) {
                let rest: u8 = self.pits[1 - seat].iter().sum();
                self.pits[1 - seat] = [0; PITS];
                self.stores[seat] += rest;
                self.over = true;
            }
        }
    }
}
