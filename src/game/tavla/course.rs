//! The course of a game: turns, the cube dialogue, resignations, the end.

use serde_json::Value;

use super::score::{self, Win};
use super::{
    Ask, End, Game, OFF, Phase, Play, Refusal, Resign, Seat, Tavla, TavlaMove, ToAct, check, moves,
};

impl Tavla {
    /// Gives every legal play of the seat on turn to `emit`, one for each position reached.
    pub fn each_play(&self, emit: &mut impl FnMut(Play)) {
        if let (ToAct::Seat(..), Some(dice)) = (self.to_act(), Game::dice(self)) {
            let (own, other) = (&self.checkers[self.turn], &self.checkers[1 - self.turn]);
            moves::plays(own, other, dice, self.demand, emit);
        }
    }

    /// The seat whose turn it is, whoever is asked about it.
    pub(super) fn mover(&self) -> Seat {
        let asked = self.resign.map_or(self.turn, |resign| resign.by);
        self.cube.offer.map_or(asked, |offer| offer.doubler)
    }

    /// The seat on turn begins its turn: it may be asked about the cube.
    pub(super) fn begin_turn(&mut self) {
        self.phase = if self.cube.may_double(self.turn, &self.limits) {
            Phase::Cube
        } else {
            Phase::Roll
        };
    }

    pub(super) fn roll(&mut self, dice: [u8; 2]) {
        self.dice = Some(dice);
        self.phase = Phase::Play;
        self.demand = moves::demand(
            &self.checkers[self.turn],
            &self.checkers[1 - self.turn],
            dice,
        );
    }

    pub(super) fn apply_play(&mut self, seat: Seat, play: &Play) -> Result<(), Refusal> {
        let Some(dice) = self.dice else {
            return Err(Refusal::new(self.expected()));
        };
        let [mut own, mut other] = [self.checkers[seat], self.checkers[1 - seat]];
        check::check(&own, &other, dice, self.demand, play)?;
        play.carry_out(&mut own, &mut other);
        self.checkers[seat] = own;
        self.checkers[1 - seat] = other;
        self.end_turn();
        Ok(())
    }

    /// The dice are played, or lost.
    pub(super) fn end_turn(&mut self) {
        self.dice = None;
        self.plies += 1;
        self.turn = 1 - self.turn;
        if let Some(winner) = score::finished(&self.checkers) {
            self.win_by_bearing_off(winner);
        } else if self.plies >= self.max_plies {
            let pips = [self.pips(0), self.pips(1)];
            if pips[0] == pips[1] {
                self.phase = Phase::Lot;
            } else {
                self.win_by_count(usize::from(pips[1] < pips[0]));
            }
        } else {
            self.begin_turn();
        }
    }

    pub(super) fn win(&mut self, winner: Seat, times: u32, reason: &'static str) {
        self.phase = Phase::Over;
        self.end = Some(End {
            winner,
            points: times * self.cube.value,
            reason,
        });
    }

    pub(super) fn win_by_bearing_off(&mut self, winner: Seat) {
        let win = self.counted(Win::borne_off(&self.checkers[1 - winner]));
        self.win(winner, win as u32, win.reason());
    }

    /// The win at `max_plies`.
    pub(super) fn win_by_count(&mut self, winner: Seat) {
        self.win(winner, 1, "ply_cap");
    }

    /// The win as it counts: with `jacoby` a gammon only if the cube was turned (rule 9).
    pub(super) fn counted(&self, win: Win) -> Win {
        if self.jacoby && self.cube.value == 1 {
            Win::Single
        } else {
            win
        }
    }

    /// Asks the seat that the waiting offer is made to.
    pub(super) fn ask_about_double(&mut self) {
        if let Some(offer) = self.cube.offer {
            self.turn = offer.asked();
            self.phase = Phase::Take;
        }
    }

    /// Whether this seat, if it loses, loses once the cube and no more: a mars is not possible any more or does not count, or the
    /// other needs no more than that to win the match.
    pub(super) fn is_single(&self, loser: Seat) -> bool {
        let after = self.score[1 - loser].saturating_add(self.cube.value);
        let wins_match = self.length > 0 && after >= self.length;
        wins_match || self.checkers[loser][OFF] > 0 || self.counted(Win::Mars) == Win::Single
    }

    /// The double is taken; the first doubler rolls.
    pub(super) fn take(&mut self) {
        if let Some(offer) = self.cube.offer {
            self.turn = offer.doubler;
            self.cube.take();
            self.phase = Phase::Roll;
        }
    }

    /// The double is passed: the value before it is lost.
    pub(super) fn pass_double(&mut self) {
        self.cube.offer = None;
        self.win(1 - self.turn, 1, "passed");
    }

    /// Rule 11.
    pub(super) fn offer_to_resign(&mut self, seat: Seat, times: u8) -> Result<(), Refusal> {
        if !(1..=3).contains(&times) {
            return Err(Refusal::new(format!(
                "resign is 1, 2 or 3 times the cube, not {times} (rule 11)"
            )));
        }
        if self.refused {
            return Err(Refusal::new(format!(
                "the resignation was refused, so the question must be answered (rule 11): {}",
                self.expected()
            )));
        }
        self.resign = Some(Resign { by: seat, times });
        self.turn = 1 - seat;
        Ok(())
    }

    pub(super) fn accept(&mut self) {
        if let Some(Resign { by, times }) = self.resign.take() {
            self.win(1 - by, u32::from(times), "resigned");
        }
    }

    pub(super) fn refuse(&mut self) {
        if let Some(Resign { by, .. }) = self.resign.take() {
            self.turn = by;
            self.refused = true;
        }
    }
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

impl Tavla {
    /// What an answer here looks like.
    pub(super) fn expected(&self) -> &'static str {
        match self.to_act() {
            ToAct::Seat(_, Ask::Move) => {
                "a play is a list of [from, to] pairs, such as [[8,5],[6,5]]"
            }
            ToAct::Seat(_, Ask::Cube) => {
                "before the roll the answer is \"roll\" or \"double\" (rule 7)"
            }
            ToAct::Seat(_, Ask::Take) if self.cube.may_redouble(&self.limits) => {
                "a double is answered by \"take\", \"pass\" or \"beaver\" (rule 8)"
            }
            ToAct::Seat(_, Ask::Take) => "a double is answered by \"take\" or \"pass\" (rule 7)",
            ToAct::Seat(_, Ask::Resign) => {
                "a resignation is answered by \"accept\" or \"refuse\" (rule 11)"
            }
            ToAct::Over => "the game is over",
            _ => "no move is asked for here",
        }
    }

    /// An answer that is no move of this game at all.
    pub(super) fn unfit(&self, answer: &Value) -> Refusal {
        Refusal::new(format!(
            "{}, not {}",
            self.expected(),
            crate::game::cut(answer)
        ))
    }

    /// Why an answer to another question is refused.
    pub(super) fn misplaced(&self, ask: Ask, mv: &TavlaMove) -> &'static str {
        match (ask, mv) {
            (Ask::Move, TavlaMove::Double) => {
                "a double is offered before the roll, not after it (rule 7)"
            }
            (Ask::Take, TavlaMove::Beaver) => {
                "this double cannot be redoubled at once: take or pass (rule 8)"
            }
            _ => self.expected(),
        }
    }
}
