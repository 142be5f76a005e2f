//! The part of a match in which seats race: several questions are open at once, and may be withdrawn.

use hakem_protocol::{Ask, ErrorCode, FromReferee, Stop, StopWhy};

use super::{Effect, Outbox, Play, Question, Table, ready_again, wrong_id};
use crate::clock::{Open, Spent};
use crate::game::Seat;
use crate::referee::answer::Said;
use crate::referee::play::{AnswerParts, Claimed, Fault};
use crate::referee::record::ClaimEntry;

impl Table {
    /// An answer was read to a question during which the referee stood still. Outside of races its seat is not charged for that
    /// time, and nobody loses by it; but of seats that race none can be said to have been first, so their game is void.
    pub(super) fn stood_still(&mut self, out: &mut Outbox) {
        if self.play.as_ref().is_some_and(Play::is_contested) {
            let why = "the referee stood still while seats raced, and cannot tell who was first";
            self.void(why.to_owned(), out);
        }
    }

    /// Asks the seats that race and are not asked yet, all in one go. What they did wrong before is judged first.
    pub(super) fn race(&mut self, out: &mut Outbox) {
        let Some(play) = &self.play else { return };
        let mut asked = play.running();
        asked.retain(|&seat| self.sessions[seat].open.is_none());
        if let Some(&seat) = asked
            .iter()
            .find(|&&seat| !self.sessions[seat].pending.is_empty())
        {
            if self.judge_pending(seat, out) {
                self.spread_news(out);
                self.proceed(out);
            }
            return;
        }
        for seat in asked {
            self.ask(seat, Ask::Race, out);
        }
    }

    /// A line of a seat that races.
    pub(super) fn race_line(
        &mut self,
        seat: Seat,
        id: u64,
        said: Result<Said, Fault>,
        line: &[u8],
        spent: Spent,
        out: &mut Outbox,
    ) {
        let Some(play) = &mut self.play else { return };
        // A line that comes after the end of the round does no harm, whatever it says.
        if play.too_late(&spent).is_some() {
            self.stop(seat, id, spent, out);
            let _ = self.answers_withdrawn(seat, &said);
            return;
        }
        let fault = match said {
            // A pong may come unasked; the question stays open.
            Ok(Said::Pong { .. }) => return,
            Ok(Said::Move { id: given, .. }) if given != id => wrong_id(given, id),
            Ok(Said::Move { mv, note, eval, .. }) => {
                let parts = AnswerParts { id, mv, note, eval }.cut(self.setup.seats[seat].max_note);
                let mut chance = self.setup.chance.clone();
                match play.claim(seat, parts, spent, &mut chance) {
                    Claimed::Checked(claim) => self.claimed(seat, id, claim, out),
                    Claimed::Late(_) => self.stop(seat, id, spent, out),
                    Claimed::Refused(fault, mv) => {
                        self.forfeit(seat, &fault, Some(mv), Some(line), spent, out);
                    }
                }
                return;
            }
            Ok(Said::Ready(_)) => ready_again(),
            Err(fault) => fault,
        };
        self.forfeit(seat, &fault, None, Some(line), spent, out);
    }

    /// A claim was checked: its seat is asked no more in this race, and after a right one the others have little time left.
    fn claimed(&mut self, seat: Seat, id: u64, claim: ClaimEntry, out: &mut Outbox) {
        self.sessions[seat].open = None;
        self.sessions[seat].last.clear();
        out.effects.push(Effect::Close(seat));
        match claim {
            ClaimEntry::Wrong(words) => {
                let code = ErrorCode::IllegalMove;
                self.tell_error(seat, code, Some(id), words, false, out);
            }
            ClaimEntry::Right => self.look_sooner(out),
            ClaimEntry::GaveUp => {}
        }
        self.spread_news(out);
        self.proceed(out);
    }

    /// The time at which the open questions are over has come nearer.
    fn look_sooner(&self, out: &mut Outbox) {
        let Some(play) = &self.play else { return };
        for seat in play.running() {
            if let (Some(Question::Turn(_)), Open::Wait(wake_us)) =
                (self.sessions[seat].open, play.look(seat, &Spent::default()))
            {
                out.effects.push(Effect::Wake { seat, wake_us });
            }
        }
    }

    /// Withdraws the question of a seat that races: a claim could not count any more.
    pub(super) fn stop(&mut self, seat: Seat, id: u64, spent: Spent, out: &mut Outbox) {
        let Some(play) = &mut self.play else { return };
        let mut chance = self.setup.chance.clone();
        let why = play.stop(seat, id, spent, &mut chance);
        self.withdraw(seat, Some(why), out);
        self.spread_news(out);
        self.proceed(out);
    }

    /// The game is over: whatever is still asked needs no answer. The `end` that follows says so.
    pub(super) fn withdraw_all(&mut self, out: &mut Outbox) {
        for seat in 0..self.sessions.len() {
            self.withdraw(seat, None, out);
        }
    }

    /// Closes the turn that a seat is asked, and tells it why.
    fn withdraw(&mut self, seat: Seat, why: Option<StopWhy>, out: &mut Outbox) {
        let session = &mut self.sessions[seat];
        let Some(Question::Turn(id)) = session.open else {
            return;
        };
        session.open = None;
        session.withdrawn.push(id);
        out.effects.push(Effect::Close(seat));
        if let Some(why) = why {
            out.tell(seat, &FromReferee::Stop(Stop { id, why }));
        }
    }

    /// Whether this is the answer to a turn that was withdrawn; each is dropped once.
    pub(super) fn answers_withdrawn(&mut self, seat: Seat, said: &Result<Said, Fault>) -> bool {
        let Ok(Said::Move { id, .. }) = said else {
            return false;
        };
        let withdrawn = &mut self.sessions[seat].withdrawn;
        match withdrawn.iter().position(|known| known == id) {
            Some(index) => {
                withdrawn.remove(index);
                true
            }
            None => false,
        }
    }
}
