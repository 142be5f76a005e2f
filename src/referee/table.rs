//! A match at its table: the sessions of the seats and the series of games. Pure.

use std::ops::Range;
use std::sync::Arc;

use hakem_protocol::{ErrorCode, FromReferee};
use serde_json::{Map, Value};

use super::adjudicate::Adjudication;
use super::answer::Ready;
use super::play::{Fault, FaultKind, Play};
use super::record::{About, ChanceInfo, PlayedGames};
use crate::chance::MatchChance;
use crate::clock::{ClockSpec, Spent};
use crate::event::{GameId, GameResult, MatchResult, Slot};
use crate::game::{Ruleset, Seat};

mod games;
mod racing;
mod results;
mod sessions;

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
    /// The rules of the event that may end a game.
    pub adjudication: Option<Adjudication>,
    /// Whether the bots are started anew for each game.
    pub restart_each_game: bool,
    /// For the records' header: commands, hashes, machine, confinement.
    pub about: About,
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
