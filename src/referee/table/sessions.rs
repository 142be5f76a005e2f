//! The sessions of a match: a bot is started and greeted, what it says is taken, its faults are judged, and it leaves.

use hakem_protocol::{self as protocol, ErrorCode, ErrorMessage, FromReferee};

use super::{Effect, LOOK_AGAIN_US, Outbox, Phase, Question, State, Table, ready_again, wrong_id};
use crate::clock::{Open, Spent, in_ms};
use crate::game::Seat;
use crate::referee::Gone;
use crate::referee::answer::{self, Said, cut_text};
use crate::referee::play::{AnswerParts, Answered, Fault, FaultKind, Next};
use crate::referee::turn;

impl Table {
    pub(super) fn start_session(&mut self, seat: Seat, out: &mut Outbox) {
        let setup = &self.setup;
        let session = &mut self.sessions[seat];
        session.state = State::Greeting;
        session.open = Some(Question::Hello);
        session.pending.clear();
        session.heard_end = false;
        session.ready = None;
        session.next_id = 1;
        session.withdrawn.clear();
        session.last.clear();
        let options = setup.seats[seat].options.clone();
        let hello = FromReferee::Hello(turn::hello(&*setup.rules, &setup.clock, options));
        out.effects.push(Effect::Start(seat));
        let line = out.message(&hello);
        out.effects.push(Effect::Ask {
            seat,
            line,
            wake_us: Some(setup.clock.ready_us.saturating_add(1)),
        });
    }

    /// What is wrong if a greeting or a ping has been open for so long. At the limit itself there is still time.
    pub(super) fn over_ready_limit(&self, what: &str, spent: &Spent) -> Option<String> {
        let limit = self.setup.clock.ready_us;
        let right = match what {
            "pong" => r#"the answer to {"type":"ping","id":N} is {"type":"pong","id":N}"#,
            _ => r#"the answer to hello is {"type":"ready","protocol":1}"#,
        };
        (spent.wall_us > limit).then(|| {
            format!(
                "no {what} within {} ms; {right}, on a line of its own",
                limit / 1000
            )
        })
    }

    pub(super) fn line(
        &mut self,
        seat: Seat,
        line: &[u8],
        spent: Spent,
        early: bool,
        out: &mut Outbox,
    ) {
        match (self.sessions[seat].state, self.sessions[seat].open) {
            (State::Up, open @ Some(Question::Turn(_))) if early => {
                self.idle_line(seat, open, line, Spent::default(), out);
            }
            (State::Greeting, Some(Question::Hello)) => self.greeting(seat, line, spent, out),
            // In `Greeting` without its question the handshake has failed, and stays so.
            (State::Down | State::Leaving | State::Greeting, _) => {}
            (State::Up, Some(Question::Turn(id))) => self.turn_line(seat, id, line, spent, out),
            (State::Up, open) => self.idle_line(seat, open, line, spent, out),
        }
    }

    pub(super) fn greeting(&mut self, seat: Seat, line: &[u8], spent: Spent, out: &mut Outbox) {
        let no_ready = |code, message| Fault {
            kind: FaultKind::NoReady(code),
            message,
        };
        if let Some(late) = self.over_ready_limit("ready", &spent) {
            let fault = no_ready(ErrorCode::Timeout, late);
            self.fault(seat, fault, Some(line), spent, out);
            return;
        }
        let fault = match answer::read(line) {
            Ok(Said::Ready(ready)) if ready.protocol == u64::from(protocol::VERSION) => {
                let session = &mut self.sessions[seat];
                session.state = State::Up;
                session.open = None;
                session.shown = shown_name(&ready.name, &self.setup.seats[seat].name);
                session.ready = Some(*ready);
                out.effects.push(Effect::Close(seat));
                self.gather(out);
                return;
            }
            Ok(Said::Ready(ready)) => no_ready(
                ErrorCode::ProtocolVersion,
                format!(
                    "the bot speaks protocol {}, the referee protocol {}",
                    ready.protocol,
                    protocol::VERSION
                ),
            ),
            Ok(Said::Move { .. } | Said::Pong { .. }) => no_ready(
                ErrorCode::Unasked,
                "the first line is the answer to hello: {\"type\":\"ready\",\"protocol\":1,...}"
                    .to_owned(),
            ),
            Err(fault) => {
                let code = match fault.kind {
                    FaultKind::Code(code) | FaultKind::NoReady(code) => code,
                    _ => ErrorCode::BadMessage,
                };
                no_ready(
                    code,
                    format!(
                        "{}; the first line is the answer to hello: {{\"type\":\"ready\",\"protocol\":1,...}}",
                        fault.message
                    ),
                )
            }
        };
        self.fault(seat, fault, Some(line), spent, out);
    }

    /// A line while no turn is open.
    pub(super) fn idle_line(
        &mut self,
        seat: Seat,
        open: Option<Question>,
        line: &[u8],
        spent: Spent,
        out: &mut Outbox,
    ) {
        let said = answer::read(line);
        if let Ok(Said::Pong { id }) = said {
            // A pong may come unasked.
            if open == Some(Question::Ping(id)) {
                if let Some(late) = self.over_ready_limit("pong", &spent) {
                    let fault = Fault::code(ErrorCode::Timeout, late);
                    self.fault(seat, fault, Some(line), spent, out);
                    return;
                }
                self.sessions[seat].open = None;
                out.effects.push(Effect::Close(seat));
                self.gather(out);
            }
            return;
        }
        if self.answers_withdrawn(seat, &said) {
            return;
        }
        let message = match said {
            Ok(_) => "a line that nobody asked for".to_owned(),
            Err(fault) => format!("a line that nobody asked for ({})", fault.message),
        };
        if self.phase == Phase::Playing || !self.sessions[seat].heard_end {
            let fault = Fault::code(ErrorCode::Unasked, message);
            self.fault(seat, fault, Some(line), spent, out);
        } else {
            // Between the end of a game and the next start a line is only noted.
            self.tell_error(seat, ErrorCode::Unasked, None, message, false, out);
        }
    }

    pub(super) fn turn_line(
        &mut self,
        seat: Seat,
        id: u64,
        line: &[u8],
        spent: Spent,
        out: &mut Outbox,
    ) {
        let said = answer::read(line);
        if self.answers_withdrawn(seat, &said) {
            return;
        }
        let Some(play) = &mut self.play else { return };
        if play.next() == Next::Race {
            self.race_line(seat, id, said, line, spent, out);
            return;
        }
        let fault = match said {
            // A pong may come unasked; the question stays open.
            Ok(Said::Pong { .. }) => return,
            Ok(Said::Move { id: given, .. }) if given != id => wrong_id(given, id),
            Ok(Said::Move { mv, note, eval, .. }) => {
                let parts = AnswerParts { id, mv, note, eval }.cut(self.setup.seats[seat].max_note);
                let mut chance = self.setup.chance.clone();
                match play.answer(seat, parts, spent, &mut chance) {
                    Answered::Accepted => {
                        self.sessions[seat].open = None;
                        self.sessions[seat].last.clear();
                        out.effects.push(Effect::Close(seat));
                        self.spread_news(out);
                        self.proceed(out);
                    }
                    Answered::Refused(fault, mv) => {
                        self.forfeit(seat, &fault, mv, Some(line), spent, out);
                    }
                }
                return;
            }
            Ok(Said::Ready(_)) => ready_again(),
            Err(fault) => fault,
        };
        // A late line is late whatever it says.
        let fault = if play.look(seat, &spent) == Open::Flag {
            play.late(seat, &spent)
        } else {
            fault
        };
        self.forfeit(seat, &fault, None, Some(line), spent, out);
    }

    pub(super) fn deadline(&mut self, seat: Seat, spent: Spent, out: &mut Outbox) {
        let (what, kind) = match self.sessions[seat].open {
            None => return,
            Some(Question::Hello) => ("ready", FaultKind::NoReady(ErrorCode::Timeout)),
            Some(Question::Ping(_)) => ("pong", FaultKind::Code(ErrorCode::Timeout)),
            Some(Question::Turn(id)) => {
                self.look(seat, id, spent, out);
                return;
            }
        };
        match self.over_ready_limit(what, &spent) {
            Some(message) => {
                let message = format!("{message}; {}", self.came(seat, &spent, spent.wall_us));
                self.fault(seat, Fault { kind, message }, None, spent, out);
            }
            None => out.effects.push(Effect::Wake {
                seat,
                wake_us: self.setup.clock.ready_us.saturating_add(1),
            }),
        }
    }

    /// What has come instead of an answer, in words that show what may be forgotten.
    ///
    /// `told` is the time that its author is told of, microseconds.
    fn came(&self, seat: Seat, spent: &Spent, told: u64) -> String {
        match self.sessions[seat].unfinished {
            0 if spent.was_busy(told) => format!(
                "nothing was written: it computed all the time ({} of processor time)",
                in_ms(spent.cpu_us.unwrap_or(0))
            ),
            0 => "nothing was written: an answer has to be flushed".to_owned(),
            bytes => format!("{bytes} bytes without a line end were written: a line ends with \\n"),
        }
    }

    /// Looks at an open turn.
    pub(super) fn look(&mut self, seat: Seat, id: u64, spent: Spent, out: &mut Outbox) {
        let Some(play) = &self.play else { return };
        match play.look(seat, &spent) {
            Open::Wait(wake_us) => out.effects.push(Effect::Wake {
                seat,
                wake_us: wake_us.max(spent.wall_us.saturating_add(LOOK_AGAIN_US)),
            }),
            Open::Endless => {}
            Open::Flag if play.next() == Next::Race => self.stop(seat, id, spent, out),
            Open::Flag => {
                let mut fault = play.late(seat, &spent);
                let came = self.came(seat, &spent, play.late_by(seat, &spent));
                fault.message = format!("{}; {came}", fault.message);
                self.forfeit(seat, &fault, None, None, spent, out);
            }
        }
    }

    pub(super) fn gone(&mut self, seat: Seat, how: Gone, spent: Spent, out: &mut Outbox) {
        match self.sessions[seat].state {
            State::Down => return,
            // It left as it was told to; whatever else it started is ended now.
            State::Leaving => {
                out.effects.push(Effect::Kill(seat));
                return;
            }
            State::Greeting | State::Up => {}
        }
        let fault = Fault {
            kind: how.kind,
            message: how.note,
        };
        out.effects.push(Effect::Kill(seat));
        self.sessions[seat].state = State::Leaving;
        self.fault(seat, fault, None, spent, out);
    }

    /// A fault outside an answer: it loses the game at once if the seat is asked for a move, else when it is next asked.
    ///
    /// So the verdict does not hang on which of two bots was faster: a bot that dies in the opponent's time is found when
    /// it is its turn, and not at all if the opponent ends the game first.
    pub(super) fn fault(
        &mut self,
        seat: Seat,
        fault: Fault,
        line: Option<&[u8]>,
        spent: Spent,
        out: &mut Outbox,
    ) {
        if let Some(Question::Turn(_)) = self.sessions[seat].open {
            self.forfeit(seat, &fault, None, line, spent, out);
            return;
        }
        let session = &mut self.sessions[seat];
        let was_open = session.open.take().is_some();
        session.suspect(fault);
        if was_open {
            out.effects.push(Effect::Close(seat));
        }
        if self.phase == Phase::Gathering {
            self.gather(out);
        }
    }

    pub(super) fn not_started(&mut self, seat: Seat, why: &str, out: &mut Outbox) {
        match self.sessions[seat].state {
            State::Greeting => {
                self.sessions[seat].state = State::Down;
                self.sessions[seat].open = None;
                let name = &self.setup.seats[seat].name;
                self.void(format!("{name} could not be started: {why}"), out);
            }
            // The game that it was to play is void already.
            State::Leaving => self.ended(seat, out),
            State::Down | State::Up => {}
        }
    }

    pub(super) fn ended(&mut self, seat: Seat, out: &mut Outbox) {
        if self.sessions[seat].state != State::Leaving {
            return;
        }
        self.sessions[seat].state = State::Down;
        if self.phase == Phase::Gathering && self.sessions[seat].pending.is_empty() {
            self.start_session(seat, out);
        }
    }

    /// Tells a seat what it did wrong, if it can still hear it.
    pub(super) fn tell_error(
        &self,
        seat: Seat,
        code: ErrorCode,
        id: Option<u64>,
        message: String,
        fatal: bool,
        out: &mut Outbox,
    ) {
        if matches!(self.sessions[seat].state, State::Greeting | State::Up) {
            out.tell(
                seat,
                &FromReferee::Error(ErrorMessage {
                    code,
                    id,
                    message,
                    fatal,
                }),
            );
        }
    }

    /// Ends a session: with a farewell where the bot can be expected to hear it.
    pub(super) fn dismiss(&mut self, seat: Seat, politely: bool, out: &mut Outbox) {
        let session = &mut self.sessions[seat];
        if !matches!(session.state, State::Greeting | State::Up) {
            return;
        }
        session.state = State::Leaving;
        if session.open.take().is_some() {
            out.effects.push(Effect::Close(seat));
        }
        if politely {
            out.tell(seat, &FromReferee::Bye(protocol::Bye {}));
            out.effects.push(Effect::Release(seat));
        } else {
            out.effects.push(Effect::Kill(seat));
        }
    }
}

/// A bot's own name: trimmed, cut; the event's for a blank one.
fn shown_name(given: &str, in_event: &str) -> String {
    let mut name = given.trim().to_owned();
    if let Some((end, _)) = name.char_indices().nth(protocol::limits::MAX_NAME_CHARS) {
        cut_text(&mut name, end);
    }
    let visible = |c: char| !c.is_control() && !c.is_whitespace() && !is_invisible(c);
    if name.chars().any(visible) {
        name
    } else {
        in_event.to_owned()
    }
}

/// Characters that take no place on a screen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
