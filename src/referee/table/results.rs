//! The ends of games and of the match, and what follows from them.

use std::sync::Arc;

use hakem_protocol::{self as protocol, ErrorCode, FromReferee, PlayResult, Score};
use serde_json::Value;

use super::{Effect, FinishedGame, MAX_VOIDS, Outbox, Phase, Question, State, Table, is_stray};
use crate::event::MatchResult;
use crate::game::{Seat, Series};
use crate::referee::play::End;
use crate::referee::tally::{self, Lost};

impl Table {
    /// Ends a game; `dismissed` is the seat whose forfeit ended it, and whether it is told so.
    pub(super) fn finish_game(
        &mut self,
        end: &End,
        dismissed: Option<(Seat, bool)>,
        out: &mut Outbox,
    ) {
        let Some(mut play) = self.play.take() else {
            return;
        };
        self.phase = Phase::Gathering;
        self.withdraw_all(out);
        let mut state = Vec::new();
        play.position().write_state(&mut state);
        let state: Value = serde_json::from_slice(&state).unwrap_or_default();
        let end_message = FromReferee::End(protocol::End {
            game_id: self.game_id().to_string(),
            result: PlayResult {
                winner: end.outcome.winner,
                score: Some(
                    end.outcome
                        .score
                        .iter()
                        .map(|share| Score(share.value()))
                        .collect(),
                ),
                points: Some(end.outcome.points.clone()),
                reason: end.outcome.reason.to_owned(),
            },
            state,
        });
        for seat in 0..self.sessions.len() {
            if self.sessions[seat].state == State::Up {
                self.sessions[seat].heard_end = true;
                out.tell(seat, &end_message);
            }
        }
        let (result, record) = play.finish(end, &self.setup.slots);
        out.effects
            .push(Effect::GameOver(Box::new(FinishedGame { result, record })));
        Arc::make_mut(&mut self.played).push(end.outcome.clone());
        self.voids = 0;
        let lost = self.match_lost_by(end);
        for (seat, session) in self.sessions.iter_mut().enumerate() {
            session.forfeited_last = end.against == Some(seat);
        }
        if let Some((seat, politely)) = dismissed {
            self.dismiss(seat, politely, out);
        }
        if lost.is_some() || self.series().over {
            self.finish_match(lost, out);
        } else {
            self.next_game(out);
        }
    }

    /// Where the match stands.
    pub(super) fn series(&self) -> Series {
        let mut series = self.setup.rules.series(self.played.outcomes());
        // Before the first game the rules do not know how many seats there are.
        series.score.resize(self.sessions.len(), 0.0);
        series
    }

    /// The seat that loses the whole match with this game.
    pub(super) fn match_lost_by(&self, end: &End) -> Option<Seat> {
        let against = end.against?;
        let session = &self.sessions[against];
        let lost = Lost {
            against,
            greeted: session.ready.is_some(),
            forfeited_last: session.forfeited_last,
        };
        tally::lost_by(self.sessions.len(), lost)
    }

    pub(super) fn finish_match(&mut self, lost: Option<Seat>, out: &mut Outbox) {
        self.phase = Phase::Over;
        for seat in 0..self.sessions.len() {
            self.sessions[seat].pending.clear();
            self.dismiss(seat, true, out);
        }
        let series = self.series();
        let score = tally::shares(&series, self.sessions.len(), lost);
        out.effects.push(Effect::MatchOver(MatchResult {
            id: self.setup.id,
            seats: self.setup.slots.clone(),
            score,
            series: series.score,
            games: self.played.outcomes().len() as u32,
        }));
    }

    /// Prepares the next game: bots that must be are started anew, the others are pinged.
    pub(super) fn next_game(&mut self, out: &mut Outbox) {
        for seat in 0..self.sessions.len() {
            if self.setup.restart_each_game {
                self.sessions[seat].pending.clear();
                self.dismiss(seat, true, out);
            }
            if self.sessions[seat].pending.first().is_some_and(is_stray) {
                let stray = self.sessions[seat].pending.remove(0);
                self.tell_error(seat, ErrorCode::Unasked, None, stray.message, false, out);
            }
            // What else waits is judged before the next game.
            if self.sessions[seat].must_be_judged() {
                continue;
            }
            match self.sessions[seat].state {
                State::Up => self.ping(seat, out),
                State::Down => self.start_session(seat, out),
                // It is started anew when it is gone.
                State::Greeting | State::Leaving => {}
            }
        }
        self.gather(out);
    }

    pub(super) fn ping(&mut self, seat: Seat, out: &mut Outbox) {
        let session = &mut self.sessions[seat];
        let id = session.next_id;
        session.next_id += 1;
        session.open = Some(Question::Ping(id));
        let line = out.message(&FromReferee::Ping(protocol::Ping { id }));
        out.effects.push(Effect::Ask {
            seat,
            line,
            wake_us: Some(self.setup.clock.ready_us.saturating_add(1)),
        });
    }

    /// The game counts for nobody and is played again with bots started anew.
    pub(super) fn void(&mut self, why: String, out: &mut Outbox) {
        if self.phase == Phase::Over {
            return;
        }
        let id = self.game_id();
        self.play = None;
        self.voids += 1;
        self.phase = Phase::Gathering;
        for seat in 0..self.sessions.len() {
            self.sessions[seat].pending.clear();
            self.dismiss(seat, false, out);
        }
        if self.voids >= MAX_VOIDS {
            self.phase = Phase::Over;
            out.effects.push(Effect::GaveUp { id, why });
            return;
        }
        out.effects.push(Effect::GameVoid { id, why });
        for seat in 0..self.sessions.len() {
            if self.sessions[seat].state == State::Down {
                self.start_session(seat, out);
            }
        }
    }
}
