//! The games of a match: each is announced, seats are asked, and what was played is told.

use hakem_protocol::{self as protocol, Ask, FromReferee};
use serde_json::Value;

use super::{Effect, Outbox, Phase, Question, Session, State, Table};
use crate::clock::{Open, Spent};
use crate::event::Verdict;
use crate::game::Seat;
use crate::referee::answer::Ready;
use crate::referee::play::{Fault, FaultKind, Next, Play};
use crate::referee::record::{FORMAT, Header};
use crate::referee::turn;

impl Table {
    /// Begins the next game once every seat is up, or has shown that it will not be.
    pub(super) fn gather(&mut self, out: &mut Outbox) {
        let settled = |session: &Session| {
            session.must_be_judged() || (session.state == State::Up && session.open.is_none())
        };
        if self.phase == Phase::Gathering && self.sessions.iter().all(settled) {
            self.begin_game(out);
        }
    }

    pub(super) fn header(&self) -> Header {
        let setup = &self.setup;
        Header {
            hakem: env!("CARGO_PKG_VERSION").to_owned(),
            record: FORMAT,
            id: self.game_id(),
            game: setup.rules.facts().name.to_owned(),
            rules: turn::options_of(&*setup.rules),
            clock: setup.clock,
            cores: setup.cores,
            seats: setup.seats.iter().map(|seat| seat.name.clone()).collect(),
            names: self
                .sessions
                .iter()
                .map(|session| session.shown.clone())
                .collect(),
            chance: setup.chance_info.clone(),
            lot: self.lot,
            played: self.played.clone(),
            opening: setup.opening.clone(),
            opening_plies: setup.opening_plies,
            adjudication: setup.adjudication,
            about: setup.about.clone(),
        }
    }

    pub(super) fn begin_game(&mut self, out: &mut Outbox) {
        let mut chance = self.setup.chance.clone();
        let begun = Play::begin(self.header(), self.setup.rules.clone(), &mut chance);
        self.phase = Phase::Playing;
        match begun {
            Ok(play) => {
                let broken = play.broken().map(str::to_owned);
                self.play = Some(play);
                if let Some(why) = broken {
                    self.void(why, out);
                    return;
                }
            }
            Err(why) => {
                // Openings are checked before the first game, so this is our own fault.
                self.void(format!("the opening cannot be played: {why}"), out);
                return;
            }
        }
        self.history.clear();
        // A seat that is not there loses before the game is announced: the lowest first, if several are not.
        while let Some(seat) = self.sessions.iter().position(Session::must_be_judged) {
            if !self.judge_pending(seat, out) {
                return;
            }
        }
        for seat in 0..self.sessions.len() {
            self.sessions[seat].last.clear();
            if self.sessions[seat].state == State::Up {
                out.effects.push(Effect::Refill(seat));
            }
        }
        self.announce(out);
        self.proceed(out);
    }

    /// Sends `start`.
    pub(super) fn announce(&mut self, out: &mut Outbox) {
        let Some(play) = &mut self.play else { return };
        let start = turn::start(play, &*self.setup.rules);
        for seat in 0..self.sessions.len() {
            // A bot may have gone in a game that is played over now.
            if self.sessions[seat].state == State::Up {
                let start = protocol::Start {
                    seat,
                    ..start.clone()
                };
                out.tell(seat, &FromReferee::Start(start));
            }
        }
    }

    /// Asks whoever is to act, or ends the game.
    pub(super) fn proceed(&mut self, out: &mut Outbox) {
        let Some(play) = &mut self.play else { return };
        match play.next() {
            Next::Ask(seat, ask) => {
                if self.sessions[seat].pending.is_empty() {
                    self.ask(seat, ask, out);
                } else if self.judge_pending(seat, out) {
                    self.proceed(out);
                }
            }
            Next::Race => self.race(out),
            Next::Again => {
                let mut chance = self.setup.chance.clone();
                play.play_over(&mut chance);
                if let Some(why) = play.broken().map(str::to_owned) {
                    self.void(why, out);
                    return;
                }
                self.history.clear();
                for session in &mut self.sessions {
                    session.last.clear();
                }
                self.announce(out);
                self.proceed(out);
            }
            Next::Broken(why) => self.void(why, out),
            Next::Over(end) => self.finish_game(&end, None, out),
        }
    }

    pub(super) fn ask(&mut self, seat: Seat, ask: Ask, out: &mut Outbox) {
        let Some(play) = &mut self.play else { return };
        let session = &mut self.sessions[seat];
        let id = session.next_id;
        session.next_id += 1;
        session.open = Some(Question::Turn(id));
        let (legal, history) = session
            .ready
            .as_ref()
            .map_or((true, false), |ready| (ready.legal, ready.history));
        let start = out.bytes.len();
        let text = &mut out.bytes;
        let asked = turn::Asked {
            id,
            seat,
            ask,
            last: &session.last,
            history: history.then_some(&self.history),
            legal,
        };
        turn::write(text, play, &asked);
        let line = start..text.len();
        let wake_us = match play.look(seat, &Spent::default()) {
            Open::Wait(wake_us) => Some(wake_us),
            Open::Endless => None,
            // A clock at zero: there is still the instant in which the answer is in time.
            Open::Flag => Some(0),
        };
        out.effects.push(Effect::Ask {
            seat,
            line,
            wake_us,
        });
    }

    /// Adds what just happened to everybody's `last`, to `history`, and tells it to those who want to hear it.
    pub(super) fn spread_news(&mut self, out: &mut Outbox) {
        let game_id = self.game_id();
        let Some(play) = &mut self.play else { return };
        let append = |list: &mut Vec<u8>, item: &[u8]| {
            if !list.is_empty() {
                list.push(b',');
            }
            list.extend_from_slice(item);
        };
        let wants = |session: &Session, pick: fn(&Ready) -> bool| {
            session.state == State::Up && session.ready.as_ref().is_some_and(pick)
        };
        let keep_history = self
            .sessions
            .iter()
            .any(|session| wants(session, |ready| ready.history));
        for (by, item) in play.news.iter() {
            if keep_history {
                append(&mut self.history, item);
            }
            for (seat, session) in self.sessions.iter_mut().enumerate() {
                append(&mut session.last, item);
                if seat != by && wants(session, |ready| ready.events) {
                    let start = out.bytes.len();
                    out.bytes
                        .extend_from_slice(b"{\"type\":\"played\",\"game_id\":\"");
                    out.bytes.extend_from_slice(game_id.to_string().as_bytes());
                    out.bytes.extend_from_slice(b"\",");
                    // The item is an object: its fields follow.
                    out.bytes.extend_from_slice(&item[1..]);
                    out.bytes.push(b'\n');
                    out.effects.push(Effect::Tell {
                        seat,
                        line: start..out.bytes.len(),
                    });
                }
            }
        }
        play.news.clear();
    }

    /// Judges a fault that waits; whether the game goes on.
    pub(super) fn judge_pending(&mut self, seat: Seat, out: &mut Outbox) -> bool {
        let pending = std::mem::take(&mut self.sessions[seat].pending);
        match pending.first() {
            Some(fault) => self.lose(seat, fault, None, None, Spent::default(), out),
            None => true,
        }
    }

    /// A forfeit of a seat in play; if the others play on, they are asked what there is to ask.
    pub(super) fn forfeit(
        &mut self,
        seat: Seat,
        fault: &Fault,
        mv: Option<Value>,
        line: Option<&[u8]>,
        spent: Spent,
        out: &mut Outbox,
    ) {
        if self.lose(seat, fault, mv, line, spent, out) {
            self.spread_news(out);
            self.proceed(out);
        }
    }

    /// A forfeit of a seat; whether the others play on.
    pub(super) fn lose(
        &mut self,
        seat: Seat,
        fault: &Fault,
        mv: Option<Value>,
        line: Option<&[u8]>,
        spent: Spent,
        out: &mut Outbox,
    ) -> bool {
        let id = match self.sessions[seat].open.take() {
            Some(Question::Turn(id)) => {
                out.effects.push(Effect::Close(seat));
                Some(id)
            }
            _ => None,
        };
        if let FaultKind::Code(code) | FaultKind::NoReady(code) = fault.kind {
            self.tell_error(seat, code, id, fault.message.clone(), true, out);
        }
        let Some(play) = &mut self.play else {
            return false;
        };
        let mut chance = self.setup.chance.clone();
        let end = play.forfeit(seat, fault, mv, line, spent, &mut chance);
        // A bot that is stuck or floods would not hear a farewell.
        let politely = !matches!(fault.verdict(), Verdict::Timeout | Verdict::Flood);
        // Without the rules nobody knows what the forfeit brings.
        if let Some(why) = play.broken().map(str::to_owned) {
            self.void(why, out);
            return false;
        }
        match end {
            Some(end) => {
                self.finish_game(&end, Some((seat, politely)), out);
                false
            }
            None => {
                self.dismiss(seat, politely, out);
                true
            }
        }
    }
}
