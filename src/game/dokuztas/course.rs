//! The course of a game: what is legal, what a move does, how a game ends.

use std::cmp::Ordering;

use super::board::{self, Point, Points, bit};
use super::{
    Dokuztas, DokuztasMove, DokuztasOptions, End, FLYING, LOST, MillStones, NOWHERE, OnEqual,
    STONES, Seat, Stage,
};

// ---- What is legal --------------------------------------------------------------------------------------------------

impl Dokuztas {
    /// Gives every move of the seat on turn to `emit`, in ascending order; means nothing once the game is over.
    pub fn each_move(&self, emit: &mut impl FnMut(DokuztasMove)) {
        let me = self.seat();
        let (own, empty) = (self.stones[me], self.empty());
        let takeable = self.takeable(1 - me);
        let mut to_each = |from: Point, rest: Points, targets: Points| {
            for to in board::each(targets) {
                if takeable != 0 && board::closes(rest, to) {
                    board::each(takeable).for_each(|take| emit(DokuztasMove::new(from, to, take)));
                } else {
                    emit(DokuztasMove::new(from, to, NOWHERE));
                }
            }
        };
        if self.in_hand[me] > 0 {
            to_each(NOWHERE, own, empty);
        } else {
            let flying = self.left[me] == FLYING;
            for from in board::each(own) {
                let reach = if flying {
                    board::ALL
                } else {
                    board::neighbours(from)
                };
                to_each(from, own & !bit(from), reach & empty);
            }
        }
    }

    /// The stones of a seat that a mill of the other may take (rule 4).
    fn takeable(&self, seat: Seat) -> Points {
        let stones = self.stones[seat];
        let outside = |stones: Points| stones & !board::in_mills(stones);
        match self.options.mill_stones {
            MillStones::Takeable => stones,
            MillStones::Immune => outside(stones),
            MillStones::Protected => match outside(stones) {
                0 => stones,
                outside => outside,
            },
        }
    }

    /// Whether a seat that must move cannot (rule 5).
    fn is_blocked(&self, seat: Seat) -> bool {
        let reach = board::around(self.stones[seat]);
        self.in_hand[seat] == 0 && self.left[seat] > FLYING && reach & self.empty() == 0
    }

    /// Why a move is not legal here, with the rule.
    pub(super) fn check(&self, mv: DokuztasMove) -> Result<(), String> {
        match self.stage {
            Stage::Play => {}
            Stage::Lot => return Err("no move is asked for here: a lot decides".into()),
            Stage::Over(..) => return Err("the game is over".into()),
        }
        let me = self.seat();
        let own = self.stones[me];
        let rest = match mv.from() {
            None => own,
            Some(from) => own & !bit(from),
        };
        self.check_way(mv)?;
        let closes = board::closes(rest, mv.to());
        match mv.take() {
            None if closes && self.takeable(1 - me) != 0 => {
                Err("this completes a mill: name the stone to take (rule 3)".into())
            }
            Some(_) if !closes => {
                Err("this completes no mill, so it takes nothing (rule 3)".into())
            }
            Some(take) => self.check_take(take),
            None => Ok(()),
        }
    }

    /// Rules 1 and 2.
    fn check_way(&self, mv: DokuztasMove) -> Result<(), String> {
        let me = self.seat();
        let (own, to) = (self.stones[me], mv.to());
        let to_name = board::name(to);
        match (mv.from(), self.in_hand[me]) {
            (None, 0) => {
                return Err(
                    "all your stones are placed: a move names `from` and `to` (rule 2)".into(),
                );
            }
            (Some(_), left @ 1..) => {
                return Err(format!(
                    "you still have {left} of {STONES} stones to place; before that none moves (rule 1)"
                ));
            }
            (Some(from), 0) if own & bit(from) == 0 => {
                return Err(format!(
                    "there is no stone of yours on {}",
                    board::name(from)
                ));
            }
            _ => {}
        }
        if self.empty() & bit(to) == 0 {
            return Err(format!("{to_name} is not empty"));
        }
        match mv.from() {
            Some(from) if self.left[me] != FLYING && board::neighbours(from) & bit(to) == 0 => {
                Err(format!(
                    "{} and {to_name} are not neighbours, and only a seat with three stones may go anywhere (rule 2)",
                    board::name(from)
                ))
            }
            _ => Ok(()),
        }
    }

    /// Rule 4, for a move that completes a mill.
    fn check_take(&self, take: Point) -> Result<(), String> {
        let you = 1 - self.seat();
        let (takeable, name) = (self.takeable(you), board::name(take));
        if takeable & bit(take) != 0 {
            Ok(())
        } else if self.stones[you] & bit(take) == 0 {
            Err(format!(
                "there is no stone of the opponent on {name} to take (rule 3)"
            ))
        } else if takeable == 0 {
            Err(
                "every stone of the opponent is in a mill, so this takes nothing (rule 4): leave `take` out"
                    .into(),
            )
        } else {
            let names: Vec<&str> = board::each(takeable).map(board::name).collect();
            Err(format!(
                "{name} is in a mill and may not be taken (rule 4), but {} may",
                names.join(", ")
            ))
        }
    }
}

// ---- What a move does -----------------------------------------------------------------------------------------------

impl Dokuztas {
    /// Plays a legal move.
    pub(super) fn play(&mut self, mv: DokuztasMove) {
        let me = self.seat();
        match mv.from() {
            None => self.in_hand[me] -= 1,
            Some(from) => {
                self.stones[me] &= !bit(from);
                self.quiet += 1;
            }
        }
        self.stones[me] |= bit(mv.to());
        if let Some(take) = mv.take() {
            self.stones[1 - me] &= !bit(take);
            self.left[1 - me] -= 1;
            self.quiet = 0;
        }
        self.plies += 1;
        self.turn = 1 - self.turn;
        self.end_if_due();
    }

    /// Rules 5 and 7: the seat on turn may have lost, or the game gone on for too long.
    pub(super) fn end_if_due(&mut self) {
        let DokuztasOptions {
            no_capture_plies,
            max_plies,
            ..
        } = self.options;
        if let Some(loser) = self.left.iter().position(|&left| left == LOST) {
            self.win(1 - loser, End::TwoStones);
        } else if self.is_blocked(self.seat()) {
            self.win(1 - self.seat(), End::Blocked);
        } else if (no_capture_plies > 0 && self.quiet >= no_capture_plies)
            || self.plies >= max_plies
        {
            self.count(End::NoCapture);
        }
    }

    /// Rule 6: looks at the charged time of both seats.
    pub(super) fn look_at_times(&mut self, total_us: u64) {
        if self.stage != Stage::Play {
            return;
        }
        let DokuztasOptions {
            game_time_ms,
            lot_time_ms,
            ..
        } = self.options;
        let is_over = |ms: u32| ms > 0 && total_us >= u64::from(ms) * 1000;
        let nothing_taken = self.left == [STONES; 2];
        let (counted, drawn) = (is_over(game_time_ms), is_over(lot_time_ms) && nothing_taken);
        if drawn && (!counted || lot_time_ms <= game_time_ms) {
            self.stage = Stage::Lot;
        } else if counted {
            self.count(End::Time);
        }
    }

    fn win(&mut self, seat: Seat, end: End) {
        self.stage = Stage::Over(Some(seat as u8), end);
    }

    /// Rule 7: more stones on the board win.
    fn count(&mut self, end: End) {
        let [mine, theirs] = self.stones.map(Points::count_ones);
        self.stage = match mine.cmp(&theirs) {
            Ordering::Greater => Stage::Over(Some(0), end),
            Ordering::Less => Stage::Over(Some(1), end),
            Ordering::Equal if self.options.on_equal == OnEqual::Lot => Stage::Lot,
            Ordering::Equal => Stage::Over(None, end),
        };
    }
}
