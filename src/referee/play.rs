//! One game: position, clocks, chance, record, verdict. Pure.

use std::sync::Arc;

use hakem_protocol::{Ask, ErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adjudicate::{Adjudicator, Ruling};
use super::answer::cut_text;
use super::played::Played;
use super::race::Course;
use super::record::{
    AnswerEntry, ClaimEntry, DrawnEntry, FaultEntry, Header, Recorder, ResultEntry,
};
use crate::chance::Draw;
use crate::clock::{ClockSpec, Judged, Open, SeatClock, Spent, in_ms};
use crate::event::{GameResult, Slot, Verdict};
use crate::game::{Chance, ChanceKind, Drawn, Outcome, Position, Ruleset, Seat, Setup, ToAct};

mod racing;

pub use racing::Claimed;

/// What a seat did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind of fault.
    pub kind: FaultKind,
    /// Words for its author; may be empty.
    pub message: String,
}

/// The kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A fault that the protocol has a code for.
    Code(ErrorCode),
    /// `ready` was late or not valid, with the code of what was wrong.
    NoReady(ErrorCode),
    /// The process ended with this status.
    Exit(i32),
    /// The process was ended by this signal.
    Signal(i32),
    /// The process closed its stdout or stdin and lives.
    ClosedPipe,
    /// A limit of the machine's resources ended the process.
    Limit(Limit),
}

/// A limit of the machine's resources that can end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Of memory.
    Memory,
    /// Of processes and threads.
    Processes,
    /// Of what is written to files.
    Disk,
}

impl Limit {
    /// Every limit.
    pub const ALL: [Limit; 3] = [Limit::Memory, Limit::Processes, Limit::Disk];

    /// Its word in reasons.
    pub const fn as_str(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Processes => "processes",
            Limit::Disk => "disk",
        }
    }
}

impl Fault {
    /// A fault with a code.
    pub fn code(code: ErrorCode, message: impl Into<String>) -> Fault {
        Fault {
            kind: FaultKind::Code(code),
            message: message.into(),
        }
    }

    /// The verdict on a game that is lost for it.
    pub fn verdict(&self) -> Verdict {
        match self.kind {
            FaultKind::Code(code) => match code {
                ErrorCode::IllegalMove => Verdict::IllegalMove,
                ErrorCode::BadJson
                | ErrorCode::BadMessage
                | ErrorCode::WrongId
                | ErrorCode::Unasked
                | ErrorCode::NotUtf8 => Verdict::BadMessage,
                ErrorCode::LineTooLong => Verdict::Flood,
                ErrorCode::Timeout => Verdict::Timeout,
                ErrorCode::ProtocolVersion => Verdict::NoReady,
            },
            FaultKind::NoReady(_) => Verdict::NoReady,
            FaultKind::Exit(_) | FaultKind::Signal(_) | FaultKind::ClosedPipe => Verdict::Crash,
            FaultKind::Limit(_) => Verdict::Limit,
        }
    }

    /// The reason of the result: the code, then the words.
    pub fn reason(&self) -> String {
        let code = match self.kind {
            FaultKind::Code(code) | FaultKind::NoReady(code) => code.as_str().to_owned(),
            FaultKind::Exit(status) => format!("exit {status}"),
            FaultKind::Signal(signal) => format!("signal {signal}"),
            FaultKind::ClosedPipe => "closed_pipe".to_owned(),
            FaultKind::Limit(limit) => limit.as_str().to_owned(),
        };
        if self.message.is_empty() {
            code
        } else {
            format!("{code}: {}", self.message)
        }
    }
}

/// How a game ended.
///
/// Where seats forfeit and the others play on, the verdict, the reason and who was at fault are those of the first forfeit;
/// the record has them all.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Why it counts so.
    pub verdict: Verdict,
    /// The code or the rules' reason, and words.
    pub reason: String,
    /// Who was at fault.
    pub against: Option<Seat>,
    /// What it brought.
    pub outcome: Outcome,
}

/// Who is asked next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This seat is asked this.
    Ask(Seat, Ask),
    /// Seats race: those that [`Play::running`] names.
    Race,
    /// The game is played over within its id, as its rules say.
    Again,
    /// The rules failed, and why ([`Position::broken`]): the game is void.
    Broken(String),
    /// It is over.
    Over(Box<End>),
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// It was applied.
    Accepted,
    /// It is a fault of the seat; the move is handed back where that was the fault.
    Refused(Fault, Option<Value>),
}

/// Something that the seats are told of in `last`, `history` and `played`.
#[derive(Debug, Default)]
pub struct News {
    /// The elements, one after the other.
    pub json: Vec<u8>,
    /// Whose action each is, and where its JSON ends.
    pub items: Vec<(Seat, usize)>,
}

impl News {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.json.clear();
        self.items.clear();
    }

    /// The elements with their seats.
    pub fn iter(&self) -> impl Iterator<Item = (Seat, &[u8])> {
        let starts = std::iter::once(0).chain(self.items.iter().map(|&(_, end)| end));
        starts
            .zip(&self.items)
            .map(|(start, &(seat, end))| (seat, &self.json[start..end]))
    }
}

/// The first bytes of an offending line that a record keeps.
pub(super) const KEPT_LINE: usize = 2_000;

/// A seat that forfeited.
#[derive(Debug)]
struct Forfeit {
    seat: Seat,
    verdict: Verdict,
    reason: String,
}

/// One game in play.
#[derive(Debug)]
pub struct Play {
    header: Header,
    rules: Arc<dyn Ruleset>,
    position: Box<dyn Position>,
    /// The clock that holds in this game.
    clock: ClockSpec,
    clocks: Vec<SeatClock>,
    /// The race that is on.
    race: Option<Course>,
    /// How many races there were.
    races: u32,
    /// What the seats are told when the race is over: a tray seen before would help the others.
    race_news: News,
    /// How many events of each kind and seat there were: `(kind, seat, count)`.
    counts: Vec<(ChanceKind, Option<Seat>, u32)>,
    again: u32,
    moves: u32,
    time_us: Vec<u64>,
    wall_us: Vec<u64>,
    cpu_us: Vec<u64>,
    /// The forfeits so far.
    forfeits: Vec<Forfeit>,
    resigned: bool,
    /// Follows the rules of the event that may end the game.
    adjudicator: Option<Adjudicator>,
    /// How one of them has ended it.
    adjudicated: Option<Box<End>>,
    recorder: Recorder,
    played: Played,
    /// What happened since it was last cleared by the owner.
    pub news: News,
}

impl Play {
    /// Begins the game that a header describes; chance before the first question is drawn, the opening is played.
    ///
    /// # Errors
    /// An opening that cannot be, in words.
    pub fn begin(
        header: Header,
        rules: Arc<dyn Ruleset>,
        chance: &mut dyn Draw,
    ) -> Result<Play, String> {
        let mut recorder = Recorder::default();
        recorder.line("header", &header);
        let seats = header.seats.len();
        let clock = match rules.race() {
            Some(race) => header.clock.for_race(race.limit_us),
            None => header.clock,
        };
        let mut play = Play {
            position: first_position(&header, &*rules, 0)?,
            clocks: vec![SeatClock::new(&clock); seats],
            clock,
            race: None,
            races: 0,
            race_news: News::default(),
            counts: Vec::new(),
            again: 0,
            moves: 0,
            time_us: vec![0; seats],
            wall_us: vec![0; seats],
            cpu_us: vec![0; seats],
            forfeits: Vec::new(),
            resigned: false,
            adjudicator: header.adjudication.map(Adjudicator::new),
            adjudicated: None,
            recorder,
            played: Played::default(),
            news: News::default(),
            header,
            rules,
        };
        if let Some(opening) = &play.header.opening {
            play.played.value(opening);
        }
        play.open(chance);
        Ok(play)
    }

    /// What the game began from.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The position.
    pub fn position(&mut self) -> &mut dyn Position {
        &mut *self.position
    }

    /// What a seat has left; `None` without a total.
    pub fn left_us(&self, seat: Seat) -> Option<u64> {
        self.clocks[seat].left_us()
    }

    /// The most that a seat's next answer may take.
    pub fn limit_us(&self, seat: Seat) -> Option<u64> {
        self.clocks[seat].limit_us(&self.clock)
    }

    /// The dice of an opening roll, by seat.
    pub fn opening_roll(&self) -> Option<[u8; 2]> {
        self.position.opening()
    }

    /// Why the rules cannot go on, if they failed ([`Position::broken`]).
    pub fn broken(&self) -> Option<&str> {
        self.position.broken()
    }

    /// How often the game was played over within its id.
    pub fn again(&self) -> u32 {
        self.again
    }

    /// The record so far.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Who is asked now.
    pub fn next(&self) -> Next {
        if let Some(why) = self.position.broken() {
            return Next::Broken(why.to_owned());
        }
        if let Some(end) = &self.adjudicated {
            return Next::Over(end.clone());
        }
        match self.position.to_act() {
            ToAct::Seat(seat, ask) => return Next::Ask(seat, ask),
            ToAct::Race => return Next::Race,
            ToAct::Pass(_) | ToAct::Chance(_) | ToAct::Over => {}
        }
        let Some(outcome) = self.position.outcome() else {
            unreachable!("chance and passes are settled, so the game is over");
        };
        if self.rules.plays_over(&outcome, self.again) {
            return Next::Again;
        }
        Next::Over(Box::new(self.end(outcome)))
    }

    /// The end of the game with this outcome.
    fn end(&self, outcome: Outcome) -> End {
        if let Some(first) = self.forfeits.first() {
            return End {
                verdict: first.verdict,
                reason: first.reason.clone(),
                against: Some(first.seat),
                outcome,
            };
        }
        let verdict = if self.resigned {
            Verdict::Resigned
        } else {
            Verdict::Rule
        };
        End {
            verdict,
            reason: outcome.reason.to_owned(),
            against: None,
            outcome,
        }
    }

    /// Plays the game over within its id: new position, full clocks.
    pub fn play_over(&mut self, chance: &mut dyn Draw) {
        self.again += 1;
        self.recorder.line("again", &self.again);
        self.played.value(&"again");
        if let Ok(position) = first_position(&self.header, &*self.rules, self.again) {
            self.position = position;
        }
        self.clocks.fill(SeatClock::new(&self.clock));
        if let Some(adjudicator) = &mut self.adjudicator {
            adjudicator.played_over();
        }
        self.open(chance);
    }

    /// Takes an answer of the seat that is asked.
    pub fn answer(
        &mut self,
        seat: Seat,
        answer: AnswerParts,
        spent: Spent,
        chance: &mut dyn Draw,
    ) -> Answered {
        // The clock is looked at first: a late answer is late whatever it says.
        let mut clock = self.clocks[seat];
        let charged_us = match clock.answered(&self.clock, &spent, self.header.cores) {
            Judged::Charged(charged) => charged,
            Judged::Flag => return Answered::Refused(self.late(seat, &spent), None),
        };
        let asked = match self.position.to_act() {
            ToAct::Seat(_, ask) => Some(ask),
            _ => None,
        };
        let from = self.news.json.len();
        if let Err(refusal) = self.position.play(&answer.mv, &mut self.news.json) {
            self.news.json.truncate(from);
            let fault = Fault::code(ErrorCode::IllegalMove, refusal.message);
            return Answered::Refused(fault, Some(answer.mv));
        }
        self.news.items.push((seat, self.news.json.len()));
        self.played.answer(seat, &self.news.json[from..]);
        // If the game is over now, an accepted resignation ended it.
        self.resigned = asked == Some(Ask::Resign);
        self.clocks[seat] = clock;
        if let (Some(adjudicator), Some(ask)) = (&mut self.adjudicator, asked) {
            adjudicator.answered(seat, ask, answer.eval.as_ref());
        }
        self.record_answer(seat, answer, spent, charged_us, None);
        self.settle(chance);
        self.adjudicate();
        Answered::Accepted
    }

    /// Ends the game if a rule of the event says so and its own rules do not.
    fn adjudicate(&mut self) {
        let Some(adjudicator) = &self.adjudicator else {
            return;
        };
        if !matches!(self.position.to_act(), ToAct::Seat(..)) {
            return;
        }
        self.adjudicated = adjudicator
            .rulings()
            .find_map(|Ruling { lost_by, reason }| {
                let outcome = self.position.adjudicated(lost_by)?;
                Some(Box::new(End {
                    verdict: Verdict::Adjudicated,
                    reason,
                    against: None,
                    outcome,
                }))
            });
    }

    /// Counts and records an answer that was accepted.
    fn record_answer(
        &mut self,
        seat: Seat,
        answer: AnswerParts,
        spent: Spent,
        charged_us: u64,
        claim: Option<ClaimEntry>,
    ) {
        self.moves += 1;
        add(&mut self.time_us[seat], charged_us);
        self.add_spent(seat, &spent);
        let entry = AnswerEntry {
            seat,
            id: answer.id,
            mv: answer.mv,
            note: answer.note,
            eval: answer.eval,
            claim,
            spent,
            charged_us,
            left_us: self.left_us(seat),
        };
        self.recorder.answer(&entry);
        let total_us = self.clocks.iter().map(SeatClock::used_us);
        self.position.charged(total_us.fold(0, u64::saturating_add));
    }

    /// Looks at the clock of a seat whose question is open.
    pub fn look(&self, seat: Seat, spent: &Spent) -> Open {
        match &self.race {
            Some(race) => race.look(spent),
            None => self.clocks[seat].looked_at(&self.clock, spent, self.header.cores),
        }
    }

    /// The fault of a seat that was too late.
    pub fn late(&self, seat: Seat, spent: &Spent) -> Fault {
        let time = in_ms(self.late_by(seat, spent));
        let message = match self.limit_over(seat, spent) {
            Some(limit) => format!("no answer within {} ({time} were charged)", in_ms(limit)),
            None => format!("no answer within {time} of wall time"),
        };
        Fault::code(ErrorCode::Timeout, message)
    }

    /// The time that [`Play::late`] tells of, microseconds: what was charged, or the wall time where that ended the turn.
    pub fn late_by(&self, seat: Seat, spent: &Spent) -> u64 {
        match self.limit_over(seat, spent) {
            Some(_) => self.clock.time_of(spent, self.header.cores),
            None => spent.wall_us,
        }
    }

    /// The limit of charged time that is over, if that is.
    fn limit_over(&self, seat: Seat, spent: &Spent) -> Option<u64> {
        let time = self.clock.time_of(spent, self.header.cores);
        self.limit_us(seat).filter(|&limit| time > limit)
    }

    /// A forfeit of this seat. It ends the game, or (`None`) the others play on.
    pub fn forfeit(
        &mut self,
        seat: Seat,
        fault: &Fault,
        mv: Option<Value>,
        line: Option<&[u8]>,
        spent: Spent,
        chance: &mut dyn Draw,
    ) -> Option<End> {
        let mut line = line.map(|line| String::from_utf8_lossy(line).into_owned());
        if let Some(line) = &mut line {
            cut_text(line, KEPT_LINE);
        }
        let entry = FaultEntry {
            seat,
            verdict: fault.verdict(),
            reason: fault.reason(),
            mv: mv.filter(|mv| can_be_kept(mv, KEPT_LINE)),
            line,
            spent,
        };
        self.record_forfeit(entry, chance)
    }

    /// A forfeit as a record tells it; see [`Play::forfeit`].
    pub fn record_forfeit(&mut self, entry: FaultEntry, chance: &mut dyn Draw) -> Option<End> {
        let seat = entry.seat;
        self.add_spent(seat, &entry.spent);
        self.recorder.line("fault", &entry);
        self.played.value(&(seat, entry.verdict));
        self.forfeits.push(Forfeit {
            seat,
            verdict: entry.verdict,
            reason: entry.reason,
        });
        if self.position.withdraw(seat) {
            self.leave_race(seat, chance);
            return None;
        }
        Some(self.end(self.position.forfeit(seat)))
    }

    /// Whether a seat has forfeited this game.
    pub fn has_forfeited(&self, seat: Seat) -> bool {
        self.forfeits.iter().any(|forfeit| forfeit.seat == seat)
    }

    fn add_spent(&mut self, seat: Seat, spent: &Spent) {
        add(&mut self.wall_us[seat], spent.wall_us);
        add(&mut self.cpu_us[seat], spent.cpu_us.unwrap_or(0));
    }

    /// Closes the record and makes the result.
    pub fn finish(mut self, end: &End, slots: &[Slot]) -> (GameResult, Vec<u8>) {
        let entry = ResultEntry {
            winner: end.outcome.winner,
            score: Some(end.outcome.score.clone()),
            points: Some(end.outcome.points.clone()),
            verdict: end.verdict,
            reason: end.reason.clone(),
            against: end.against,
            moves: self.moves,
            time_us: self.time_us.clone(),
            wall_us: self.wall_us.clone(),
            cpu_us: self.cpu_us.clone(),
        };
        self.recorder.line("result", &entry);
        let (text, record_hash) = self.recorder.finish();
        let result = GameResult {
            id: self.header.id,
            seats: slots.to_vec(),
            winner: entry.winner,
            score: entry.score,
            points: entry.points,
            verdict: entry.verdict,
            reason: entry.reason,
            against: entry.against,
            moves: entry.moves,
            first: self.played.first().filter(|_| self.rules.race().is_none()),
            time_us: entry.time_us,
            wall_us: entry.wall_us,
            cpu_us: entry.cpu_us,
            record_hash,
            play_hash: self.played.hash(),
        };
        (result, text)
    }

    /// Chance and passes before the first question, then the opening's random plies.
    fn open(&mut self, chance: &mut dyn Draw) {
        self.settle(chance);
        let mut plies = 0;
        while plies < self.header.opening_plies {
            let ToAct::Seat(_, ask) = self.position.to_act() else {
                break;
            };
            // An opening leaves the cube alone: the first answer to `cube` is to roll.
            let choices = if ask == Ask::Move {
                self.position.count_legal()
            } else {
                1
            };
            let before = self.position.boxed_clone();
            let index = if ask == Ask::Move {
                plies += 1;
                self.draw(
                    Chance {
                        kind: ChanceKind::Ply,
                        seat: None,
                    },
                    choices as u32,
                    chance,
                )
            } else {
                Drawn::Lot(0)
            };
            let Drawn::Lot(index) = index else { break };
            let mv = self.position.nth_legal(index as usize);
            let refused = self.position.play(&mv, &mut Vec::new()).is_err();
            self.settle(chance);
            if self.position.broken().is_some() {
                break;
            }
            // The bots get a game to play, whatever the number of plies.
            if refused || self.position.to_act() == ToAct::Over {
                self.position = before;
                break;
            }
        }
        self.news.clear();
    }

    /// Draws what is due and plays passes, until a seat is asked or the game is over.
    fn settle(&mut self, chance: &mut dyn Draw) {
        loop {
            match self.position.to_act() {
                ToAct::Seat(..) | ToAct::Over => return,
                ToAct::Race => return self.begin_race(),
                ToAct::Pass(seat) => {
                    let from = self.news.json.len();
                    self.position.pass(&mut self.news.json);
                    self.news.items.push((seat, self.news.json.len()));
                    self.recorder.raw_line("passed", &self.news.json[from..]);
                    self.played.json(&self.news.json[from..]);
                }
                ToAct::Chance(event) => {
                    let choices = self.position.choices();
                    let choices = choices.unwrap_or(self.header.seats.len() as u32);
                    let drawn = self.draw(event, choices, chance);
                    self.position.chance(drawn);
                }
            }
        }
    }

    fn draw(&mut self, event: Chance, choices: u32, chance: &mut dyn Draw) -> Drawn {
        let known = self
            .counts
            .iter_mut()
            .find(|(kind, seat, _)| (*kind, *seat) == (event.kind, event.seat));
        let n = match known {
            Some((_, _, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.counts.push((event.kind, event.seat, 0));
                0
            }
        };
        let drawn = chance.draw(self.header.id.game, event, n, choices);
        let value = match event.kind {
            ChanceKind::Outcome => self.position.drawn_value(drawn),
            _ => None,
        };
        let entry = DrawnEntry {
            value,
            ..DrawnEntry::new(event, n, drawn)
        };
        self.played.value(&entry);
        self.recorder.line("drawn", &entry);
        drawn
    }
}

impl AnswerParts {
    /// Cuts the remarks to what a record keeps: a note after so many bytes; an evaluation that is longer not at all.
    #[must_use]
    pub fn cut(mut self, most: usize) -> AnswerParts {
        if let Some(note) = &mut self.note {
            cut_text(note, most);
        }
        self.eval
            .take_if(|eval| eval.is_object() && !can_be_kept(eval, most));
        self
    }
}

/// The depth to which a bot's values are kept: a line may nest 127 levels, and a record adds its own.
const KEPT_DEPTH: usize = 100;

/// Whether a record can hold a value of a bot, of so many bytes at most.
fn can_be_kept(value: &Value, bytes: usize) -> bool {
    depth(value) <= KEPT_DEPTH && value.to_string().len() <= bytes
}

fn depth(value: &Value) -> usize {
    let inside = match value {
        Value::Array(list) => list.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        _ => return 0,
    };
    1 + inside.unwrap_or(0)
}

/// Adds times; a record under test may hold any.
fn add(sum: &mut u64, time: u64) {
    *sum = sum.saturating_add(time);
}

/// The parts of an answer that a game keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerParts {
    /// The id of the question.
    pub id: u64,
    /// The answer.
    pub mv: Value,
    /// A note.
    pub note: Option<String>,
    /// An evaluation.
    pub eval: Option<Value>,
}

/// The position that a game begins from: the rules' own, or the opening's with what belongs to the match taken from the
/// rules' own.
fn first_position(
    header: &Header,
    rules: &dyn Ruleset,
    again: u32,
) -> Result<Box<dyn Position>, String> {
    let setup = Setup {
        played: header.played.outcomes(),
        lot: header.lot,
        again,
        seats: header.seats.len(),
    };
    let start = rules.start(&setup);
    let Some(Value::Object(opening)) = &header.opening else {
        return Ok(start);
    };
    let seats = header.seats.len();
    let mut text = Vec::new();
    start.write_state(&mut text);
    let usual: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let mut state = opening.clone();
    for &field in rules.facts().match_fields {
        if let Some(value) = usual.get(field) {
            state.insert(field.to_owned(), value.clone());
        }
    }
    rules
        .read(&Value::Object(state))
        .and_then(|position| match position.seats() {
            of if of == seats => Ok(position),
            of => Err(format!("the position is of {of} seats, not {seats}")),
        })
}
