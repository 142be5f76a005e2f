//! A match at its table: the sessions of the seats and the series of games. Pure.

use std::ops::Range;
use std::sync::Arc;

use hakem_protocol::{
    self as protocol, Ask, ErrorCode, ErrorMessage, FromReferee, PlayResult, Score,
};
use serde_json::{Map, Value};

use super::answer::{self, Ready, Said, cut_text};
use super::play::{AnswerParts, Answered, End, Fault, FaultKind, Next, Play};
use super::record::{ChanceInfo, FORMAT, Header, PlayedGames};
use super::turn;
use crate::chance::MatchChance;
use crate::clock::{ClockSpec, Open, Spent};
use crate::event::{GameId, GameResult, MatchResult, Slot, Verdict};
use crate::game::{Ruleset, Seat, Series, Share};

mod racing;

/// How often one game may be void before the match is given up.
const MAX_VOIDS: u32 = 3;

/// The least time between two looks at a question. A bot that sleeps or waits for a core a microsecond below its limit
/// would else be looked at every microsecond; answers are judged by their own times, so a later look costs nothing.
const LOOK_AGAIN_US: u64 = 1_000;

/// What a match is played with.
#[derive(Clone, Debug)]
pub struct MatchSetup {
    /// The match's id.
    pub id: crate::event::MatchId,
    /// The slot on each seat.
    pub slots: Vec<Slot>,
    /// What belongs to a seat, by seat.
    pub seats: Vec<SeatSetup>,
    /// The game with its options.
    pub rules: Arc<dyn Ruleset>,
    /// The time control.
    pub clock: ClockSpec,
    /// Cores of the game.
    pub cores: u32,
    /// The derived chance of the match.
    pub chance: MatchChance,
    /// What it is derived from, for the records.
    pub chance_info: ChanceInfo,
    /// The position that its games start from, if not the rules' own.
    pub opening: Option<Value>,
    /// Random legal plies before the bots take over.
    pub opening_plies: u32,
    /// Whether the bots are started anew for each game.
    pub restart_each_game: bool,
    /// For the records' header: commands, hashes, machine, confinement.
    pub about: Value,
}

/// What belongs to one seat.
#[derive(Clone, Debug)]
pub struct SeatSetup {
    /// The bot's name in the event.
    pub name: String,
    /// Its options, for `hello`.
    pub options: Map<String, Value>,
    /// What is kept of a note, bytes.
    pub max_note: usize,
}

/// What happened to a seat.
#[derive(Debug)]
pub enum Input<'a> {
    /// It wrote a whole line.
    Line {
        /// The seat.
        seat: Seat,
        /// The line without its end.
        line: &'a [u8],
        /// What its open question has taken until the line was read; zero where none is open.
        spent: Spent,
        /// Whether it was read before the question that is open now was sent: then it cannot be its answer.
        early: bool,
    },
    /// It wrote too long a line, or too much; it is not read any more.
    Flood {
        /// The seat.
        seat: Seat,
        /// What was too long, with the limit, in words.
        what: String,
        /// What its open question has taken.
        spent: Spent,
    },
    /// So much of a line has come without its end; told before [`Input::Deadline`], for the words on a loss by time.
    Unfinished {
        /// The seat.
        seat: Seat,
        /// How much, bytes.
        bytes: usize,
    },
    /// The time came at which to look at its open question, and all that was there to read has been handed in.
    Deadline {
        /// The seat.
        seat: Seat,
        /// What its open question has taken.
        spent: Spent,
    },
    /// Its process ended or closed a pipe, and all that was there to read has been handed in.
    Gone {
        /// The seat.
        seat: Seat,
        /// How.
        how: Gone,
        /// What its open question has taken.
        spent: Spent,
    },
    /// Its process could not be started, by the machine's fault.
    NotStarted {
        /// The seat.
        seat: Seat,
        /// Why.
        why: String,
    },
    /// Its process is gone by the machine's fault: the game is void.
    Failed {
        /// The seat.
        seat: Seat,
        /// Why.
        why: String,
    },
    /// All processes of the seat have ended after [`Effect::Release`] or [`Effect::Kill`].
    Ended {
        /// The seat.
        seat: Seat,
    },
    /// The referee stood still while a question was open whose answer has been read now: nobody knows when it came. To be told
    /// before the answer is handed in.
    StoodStill,
    /// The game cannot go on, by the referee's or the machine's fault.
    Abort {
        /// Why.
        why: String,
    },
}

/// How a process went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its end, or its pipe's.
    pub kind: FaultKind,
    /// Words: an unfinished line, the last of its stderr.
    pub note: String,
}

/// What the driver of a table is to do. Ranges are into [`Outbox::bytes`].
#[derive(Debug)]
pub enum Effect {
    /// Start the seat's process.
    Start(Seat),
    /// Send a question and start its clock just before; look again after this wall time.
    Ask {
        /// The seat.
        seat: Seat,
        /// The line with its end.
        line: Range<usize>,
        /// When to look.
        wake_us: Option<u64>,
    },
    /// Look again when the open question has taken this wall time.
    Wake {
        /// The seat.
        seat: Seat,
        /// When, from when it was asked.
        wake_us: u64,
    },
    /// The open question is closed: stop its clock.
    Close(Seat),
    /// Send a line that asks nothing.
    Tell {
        /// The seat.
        seat: Seat,
        /// The line with its end.
        line: Range<usize>,
    },
    /// A new game begins: count its output anew.
    Refill(Seat),
    /// Close its stdin; when its time to leave is over, end all its processes.
    Release(Seat),
    /// End all its processes now.
    Kill(Seat),
    /// A game is over.
    GameOver(Box<FinishedGame>),
    /// A game was void and is played again.
    GameVoid {
        /// The game.
        id: GameId,
        /// Why.
        why: String,
    },
    /// The match is over; the seats still leave.
    MatchOver(MatchResult),
    /// The match is given up: a game was void too often.
    GaveUp {
        /// The game.
        id: GameId,
        /// Why it was void.
        why: String,
    },
}

/// A game that is over.
#[derive(Debug)]
pub struct FinishedGame {
    /// Its result.
    pub result: GameResult,
    /// The text of its record.
    pub record: Vec<u8>,
}

/// What a table wants done, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The effects.
    pub effects: Vec<Effect>,
    /// The lines that they name.
    pub bytes: Vec<u8>,
}

impl Outbox {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.effects.clear();
        self.bytes.clear();
    }

    fn message(&mut self, message: &FromReferee<Value>) -> Range<usize> {
        let start = self.bytes.len();
        serde_json::to_writer(&mut self.bytes, message).expect("plain data is written to memory");
        self.bytes.push(b'\n');
        start..self.bytes.len()
    }

    fn tell(&mut self, seat: Seat, message: &FromReferee<Value>) {
        let line = self.message(message);
        self.effects.push(Effect::Tell { seat, line });
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No process.
    Down,
    /// Started, `hello` is open.
    Greeting,
    /// Greeted.
    Up,
    /// Told to leave, or ended; not gone yet.
    Leaving,
}

/// A question that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Hello,
    Ping(u64),
    Turn(u64),
}

/// A seat's session: from the start of its process to its end.
#[derive(Debug)]
struct Session {
    state: State,
    open: Option<Question>,
    /// Faults that are judged when the seat is next asked, or before the next game. The first counts; more than one is
    /// kept only where that is a stray line, which is forgiven if the game ends before.
    pending: Vec<Fault>,
    /// Whether it was told of the end of a game: from then to the next start a stray line does no harm.
    heard_end: bool,
    ready: Option<Ready>,
    shown: String,
    next_id: u64,
    /// Turns that were withdrawn before they were answered: an answer may be under way, and does no harm.
    withdrawn: Vec<u64>,
    /// The elements of `last`, with commas between.
    last: Vec<u8>,
    /// What had come of an unfinished line when its question was last looked at, bytes.
    unfinished: usize,
    /// Whether the seat forfeited the game before.
    forfeited_last: bool,
}

impl Session {
    fn suspect(&mut self, fault: Fault) {
        if self.pending.is_empty() || (!self.must_be_judged() && !is_stray(&fault)) {
            self.pending.push(fault);
        }
    }

    /// Whether it did worse than to write a stray line.
    fn must_be_judged(&self) -> bool {
        !self.pending.iter().all(is_stray)
    }
}

/// Whether a fault is no more than a line that nobody asked for.
fn is_stray(fault: &Fault) -> bool {
    fault.kind == FaultKind::Code(ErrorCode::Unasked)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before a game: sessions are started, greeted, pinged.
    Gathering,
    /// A game is in play.
    Playing,
    /// The match is over.
    Over,
}

/// A match at its table.
#[derive(Debug)]
pub struct Table {
    setup: Arc<MatchSetup>,
    phase: Phase,
    sessions: Vec<Session>,
    play: Option<Play>,
    /// The elements of `history`, with commas between; kept only if a seat wants it.
    history: Vec<u8>,
    lot: Seat,
    played: Arc<PlayedGames>,
    voids: u32,
}

impl Table {
    /// The table of a match; [`Table::begin`] starts it.
    pub fn new(setup: Arc<MatchSetup>) -> Table {
        let seats = setup.seats.len();
        let sessions = setup
            .seats
            .iter()
            .map(|seat| Session {
                state: State::Down,
                open: None,
                pending: Vec::new(),
                heard_end: false,
                ready: None,
                shown: seat.name.clone(),
                next_id: 1,
                withdrawn: Vec::new(),
                last: Vec::new(),
                unfinished: 0,
                forfeited_last: false,
            })
            .collect();
        let lot = setup.chance.first(seats);
        Table {
            setup,
            phase: Phase::Gathering,
            sessions,
            play: None,
            history: Vec::new(),
            lot,
            played: Arc::default(),
            voids: 0,
        }
    }

    /// Starts the bots.
    pub fn begin(&mut self, out: &mut Outbox) {
        for seat in 0..self.sessions.len() {
            self.start_session(seat, out);
        }
    }

    /// Whether the match is over and every seat is down.
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Over && self.sessions.iter().all(|seat| seat.state == State::Down)
    }

    /// Whether a game is in play.
    pub fn is_playing(&self) -> bool {
        self.play.is_some()
    }

    /// The id of the game in play or next to be played.
    pub fn game_id(&self) -> GameId {
        self.setup.id.game(self.played.next_game())
    }

    /// Takes what happened and adds what is to be done.
    pub fn handle(&mut self, input: Input<'_>, out: &mut Outbox) {
        match input {
            Input::Line {
                seat,
                line,
                spent,
                early,
            } => self.line(seat, line, spent, early, out),
            Input::Flood { seat, what, spent } => {
                // A bot that is leaving can do nothing wrong any more.
                if matches!(self.sessions[seat].state, State::Greeting | State::Up) {
                    let fault = Fault::code(ErrorCode::LineTooLong, what);
                    self.fault(seat, fault, None, spent, out);
                }
            }
            Input::Unfinished { seat, bytes } => self.sessions[seat].unfinished = bytes,
            Input::Deadline { seat, spent } => self.deadline(seat, spent, out),
            Input::Gone { seat, how, spent } => self.gone(seat, how, spent, out),
            Input::NotStarted { seat, why } => self.not_started(seat, &why, out),
            Input::Failed { seat, why } => {
                let name = &self.setup.seats[seat].name;
                self.void(format!("{name}: {why}"), out);
            }
            Input::Ended { seat } => self.ended(seat, out),
            Input::StoodStill => self.stood_still(out),
            Input::Abort { why } => self.void(why, out),
        }
    }

    // ---- Sessions -----------------------------------------------------------------------------------------------

    fn start_session(&mut self, seat: Seat, out: &mut Outbox) {
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
    fn over_ready_limit(&self, what: &str, spent: &Spent) -> Option<String> {
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

    fn line(&mut self, seat: Seat, line: &[u8], spent: Spent, early: bool, out: &mut Outbox) {
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

    fn greeting(&mut self, seat: Seat, line: &[u8], spent: Spent, out: &mut Outbox) {
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
    fn idle_line(
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

    fn turn_line(&mut self, seat: Seat, id: u64, line: &[u8], spent: Spent, out: &mut Outbox) {
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

    fn deadline(&mut self, seat: Seat, spent: Spent, out: &mut Outbox) {
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
                let message = format!("{message}; {}", self.came(seat));
                self.fault(seat, Fault { kind, message }, None, spent, out);
            }
            None => out.effects.push(Effect::Wake {
                seat,
                wake_us: self.setup.clock.ready_us.saturating_add(1),
            }),
        }
    }

    /// What has come instead of an answer, in words that show what may be forgotten.
    fn came(&self, seat: Seat) -> String {
        match self.sessions[seat].unfinished {
            0 => "nothing was written: an answer has to be flushed".to_owned(),
            bytes => format!("{bytes} bytes without a line end were written: a line ends with \\n"),
        }
    }

    /// Looks at an open turn.
    fn look(&mut self, seat: Seat, id: u64, spent: Spent, out: &mut Outbox) {
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
                fault.message = format!("{}; {}", fault.message, self.came(seat));
                self.forfeit(seat, &fault, None, None, spent, out);
            }
        }
    }

    fn gone(&mut self, seat: Seat, how: Gone, spent: Spent, out: &mut Outbox) {
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
    fn fault(
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

    fn not_started(&mut self, seat: Seat, why: &str, out: &mut Outbox) {
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

    fn ended(&mut self, seat: Seat, out: &mut Outbox) {
        if self.sessions[seat].state != State::Leaving {
            return;
        }
        self.sessions[seat].state = State::Down;
        if self.phase == Phase::Gathering && self.sessions[seat].pending.is_empty() {
            self.start_session(seat, out);
        }
    }

    /// Tells a seat what it did wrong, if it can still hear it.
    fn tell_error(
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
    fn dismiss(&mut self, seat: Seat, politely: bool, out: &mut Outbox) {
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

    // ---- Games --------------------------------------------------------------------------------------------------

    /// Begins the next game once every seat is up, or has shown that it will not be.
    fn gather(&mut self, out: &mut Outbox) {
        let settled = |session: &Session| {
            session.must_be_judged() || (session.state == State::Up && session.open.is_none())
        };
        if self.phase == Phase::Gathering && self.sessions.iter().all(settled) {
            self.begin_game(out);
        }
    }

    fn header(&self) -> Header {
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
            about: setup.about.clone(),
        }
    }

    fn begin_game(&mut self, out: &mut Outbox) {
        let mut chance = self.setup.chance.clone();
        let begun = Play::begin(self.header(), self.setup.rules.clone(), &mut chance);
        self.phase = Phase::Playing;
        match begun {
            Ok(play) => self.play = Some(play),
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
    fn announce(&mut self, out: &mut Outbox) {
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
    fn proceed(&mut self, out: &mut Outbox) {
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
                self.history.clear();
                for session in &mut self.sessions {
                    session.last.clear();
                }
                self.announce(out);
                self.proceed(out);
            }
            Next::Over(end) => self.finish_game(&end, None, out),
        }
    }

    fn ask(&mut self, seat: Seat, ask: Ask, out: &mut Outbox) {
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
    fn spread_news(&mut self, out: &mut Outbox) {
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
    fn judge_pending(&mut self, seat: Seat, out: &mut Outbox) -> bool {
        let pending = std::mem::take(&mut self.sessions[seat].pending);
        match pending.first() {
            Some(fault) => self.lose(seat, fault, None, None, Spent::default(), out),
            None => true,
        }
    }

    /// A forfeit of a seat in play; if the others play on, they are asked what there is to ask.
    fn forfeit(
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
    fn lose(
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

    /// Ends a game; `dismissed` is the seat whose forfeit ended it, and whether it is told so.
    fn finish_game(&mut self, end: &End, dismissed: Option<(Seat, bool)>, out: &mut Outbox) {
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
    fn series(&self) -> Series {
        let mut series = self.setup.rules.series(self.played.outcomes());
        // Before the first game the rules do not know how many seats there are.
        series.score.resize(self.sessions.len(), 0.0);
        series
    }

    /// The seat that loses the whole match with this game: a failed handshake, or a second forfeit in a row. Of more than
    /// two seats the others have played on, and it has lost no more than its game.
    fn match_lost_by(&self, end: &End) -> Option<Seat> {
        let seat = end.against.filter(|_| self.sessions.len() == 2)?;
        let greeted = self.sessions[seat].ready.is_some();
        (!greeted || self.sessions[seat].forfeited_last).then_some(seat)
    }

    fn finish_match(&mut self, lost: Option<Seat>, out: &mut Outbox) {
        self.phase = Phase::Over;
        for seat in 0..self.sessions.len() {
            self.sessions[seat].pending.clear();
            self.dismiss(seat, true, out);
        }
        let series = self.series();
        let score = match lost {
            None => series.shares(),
            Some(loser) => {
                let winners = self.sessions.len() - 1;
                let share = Share::one_of(u8::try_from(winners).unwrap_or(u8::MAX));
                (0..self.sessions.len())
                    .map(|seat| if seat == loser { Share::LOSS } else { share })
                    .collect()
            }
        };
        out.effects.push(Effect::MatchOver(MatchResult {
            id: self.setup.id,
            seats: self.setup.slots.clone(),
            score,
            series: series.score,
            games: self.played.outcomes().len() as u32,
        }));
    }

    /// Prepares the next game: bots that must be are started anew, the others are pinged.
    fn next_game(&mut self, out: &mut Outbox) {
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

    fn ping(&mut self, seat: Seat, out: &mut Outbox) {
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
    fn void(&mut self, why: String, out: &mut Outbox) {
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

fn wrong_id(given: u64, open: u64) -> Fault {
    Fault::code(
        ErrorCode::WrongId,
        format!("the answer has id {given}, the open question has id {open}"),
    )
}

fn ready_again() -> Fault {
    Fault::code(
        ErrorCode::BadMessage,
        "`ready` was said already; a move is asked for",
    )
}
