//! One match at a table where some seats are processes and the others are played by this program itself: a person, or a
//! script that tries a bot. The referee is the same as in any other match.

use std::time::Duration;

use crate::bot::meter::Reading;
use crate::bot::os;
use crate::bot::process::{End, Program};
use crate::bot::shard::Job;
use crate::bot::talk::{Heard, Talk};
use crate::clock::Spent;
use crate::event::MatchResult;
use crate::game::Seat;
use crate::referee::lines::{Line, LineReader};
use crate::referee::table::FinishedGame;
use crate::referee::{Effect, FaultKind, Gone, Input, Outbox, Table};

/// How long a bot may leave a full pipe unread.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the pipes of a process that has ended are waited for: a child may hold them.
const DRAIN: u64 = 300_000_000;
/// How long a bot that did not answer is listened to after its stdin was closed.
const LAST_WORDS: u64 = 1_500_000_000;

/// Whoever plays the other seats.
pub trait Partner {
    /// Hears a line of the referee; what it answers is a line too, with or without its end.
    ///
    /// # Errors
    /// Whatever ends the sitting: nobody is there any more, a terminal that fails.
    fn hear(&mut self, seat: Seat, line: &[u8]) -> anyhow::Result<Option<Vec<u8>>>;
}

/// Whoever looks on, and may send lines otherwise than they are.
pub trait Watcher {
    /// Sends a line to the bot.
    fn send(&mut self, talk: &mut Talk, line: &[u8]) {
        // A bot that does not read is found when its time is over.
        let _ = talk.send(line, PATIENCE);
    }

    /// The bot was sent this line and has answered with that one, after so long.
    fn answered(&mut self, asked: &[u8], answer: &[u8], spent: &Spent) {
        let _ = (asked, answer, spent);
    }

    /// Whether enough was seen; the bot's stdin is then closed, whatever is asked.
    fn is_enough(&self) -> bool {
        false
    }
}

/// Nobody in particular.
#[derive(Debug)]
pub struct Nobody;

impl Watcher for Nobody {}

/// What came of it.
#[derive(Debug, Default)]
pub struct Sat {
    /// The games that were played to their end.
    pub games: Vec<FinishedGame>,
    /// The result of the match, if it was played to its end.
    pub over: Option<MatchResult>,
    /// Why the match could not be played, by the machine's fault.
    pub broken: Option<String>,
    /// Sessions of the bot, in order.
    pub sessions: Vec<Session>,
}

/// One session of the bot: from the start of its process to its end.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// What came on stdout after its stdin was closed.
    pub last_words: Vec<u8>,
    /// What stdout held at the end that had no line end.
    pub unfinished: Vec<u8>,
    /// Whether it wrote lines that end with `\r\n`.
    pub carriage_returns: bool,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// How it ended; `None` if it had to be ended.
    pub end: Option<FaultKind>,
    /// The time that it took to leave after its stdin was closed, microseconds; `None` if it did not.
    pub leaving_us: Option<u64>,
    /// What it left behind.
    pub left: Vec<String>,
    /// The most memory that it used, bytes.
    pub memory: u64,
}

/// The bot's side of a session.
struct Bot {
    talk: Talk,
    reader: LineReader,
    /// When its open question was sent, what the bot had used then, when to look at it, and its line.
    asked: Option<(u64, Reading, u64, Vec<u8>)>,
    stdout_open: bool,
    exited: bool,
    tail: Vec<u8>,
    session: Session,
}

/// A sitting.
pub struct Sitting<'a> {
    job: &'a Job,
    /// The seat of the bot.
    seat: Seat,
    table: Table,
    outbox: Outbox,
    bot: Option<Bot>,
    sat: Sat,
    /// What waits for the table: lines of partners, ends of sessions.
    inputs: Vec<Waiting>,
    /// Whether a question is open that a partner was sent, by seat: when.
    partner_asked: Vec<u64>,
}

enum Waiting {
    Line(Seat, Vec<u8>, Spent),
    Ended(Seat),
    NotStarted(String),
}

impl<'a> Sitting<'a> {
    /// The match of this job, with the bot on this seat as a process, all others played by a partner.
    pub fn new(job: &'a Job, seat: Seat) -> Sitting<'a> {
        Sitting {
            job,
            seat,
            table: Table::new(job.setup.clone()),
            outbox: Outbox::default(),
            bot: None,
            sat: Sat::default(),
            inputs: Vec::new(),
            partner_asked: vec![0; job.programs.len()],
        }
    }

    /// Plays it to its end, or until the watcher has seen enough.
    ///
    /// # Errors
    /// What a partner reports.
    pub fn play(
        mut self,
        partner: &mut dyn Partner,
        watcher: &mut dyn Watcher,
    ) -> anyhow::Result<Sat> {
        self.table.begin(&mut self.outbox);
        loop {
            self.perform(partner, watcher)?;
            if self.table.is_done() || self.sat.broken.is_some() {
                break;
            }
            if let Some(input) = (!self.inputs.is_empty()).then(|| self.inputs.remove(0)) {
                self.take(input);
                continue;
            }
            if watcher.is_enough() {
                break;
            }
            self.listen(watcher);
        }
        self.dismiss(true);
        Ok(self.sat)
    }

    fn take(&mut self, input: Waiting) {
        let out = &mut self.outbox;
        match input {
            Waiting::Line(seat, line, spent) => {
                let line = line.strip_suffix(b"\n").unwrap_or(&line);
                let input = Input::Line {
                    seat,
                    line,
                    spent,
                    early: false,
                };
                self.table.handle(input, out);
            }
            Waiting::Ended(seat) => self.table.handle(Input::Ended { seat }, out),
            Waiting::NotStarted(why) => {
                let seat = self.seat;
                self.table.handle(Input::NotStarted { seat, why }, out);
            }
        }
    }

    /// Carries out what the table wants.
    fn perform(
        &mut self,
        partner: &mut dyn Partner,
        watcher: &mut dyn Watcher,
    ) -> anyhow::Result<()> {
        let effects = std::mem::take(&mut self.outbox.effects);
        let bytes = std::mem::take(&mut self.outbox.bytes);
        for effect in effects {
            match effect {
                Effect::Start(seat) if seat == self.seat => self.start(),
                Effect::Start(_) => {}
                Effect::Ask {
                    seat,
                    line,
                    wake_us,
                } if seat == self.seat => self.ask(&bytes[line], wake_us, watcher),
                Effect::Tell { seat, line } if seat == self.seat => {
                    if let Some(bot) = &mut self.bot {
                        watcher.send(&mut bot.talk, &bytes[line]);
                    }
                }
                Effect::Ask { seat, line, .. } => {
                    self.partner_asked[seat] = os::now();
                    self.tell_partner(seat, &bytes[line], partner)?;
                }
                Effect::Tell { seat, line } => self.tell_partner(seat, &bytes[line], partner)?,
                Effect::Wake { seat, wake_us } => {
                    if let Some(Bot {
                        asked: Some((at, _, wake, _)),
                        ..
                    }) = self.bot.as_mut().filter(|_| seat == self.seat)
                    {
                        *wake = at.saturating_add(wake_us.saturating_mul(1000));
                    }
                }
                Effect::Close(seat) => {
                    if let Some(bot) = self.bot.as_mut().filter(|_| seat == self.seat) {
                        bot.asked = None;
                    }
                }
                Effect::Refill(seat) => {
                    if let Some(bot) = self.bot.as_mut().filter(|_| seat == self.seat) {
                        bot.reader.refill();
                    }
                }
                Effect::Release(seat) => {
                    if seat == self.seat {
                        self.dismiss(true);
                    }
                    self.inputs.push(Waiting::Ended(seat));
                }
                Effect::Kill(seat) => {
                    if seat == self.seat {
                        self.dismiss(false);
                    }
                    self.inputs.push(Waiting::Ended(seat));
                }
                Effect::GameOver(game) => {
                    // It lives: the farewell comes after this.
                    if let Some(bot) = &mut self.bot {
                        bot.session.memory = bot.session.memory.max(bot.talk.peak_memory());
                    }
                    self.sat.games.push(*game);
                }
                Effect::GameVoid { .. } => {}
                Effect::MatchOver(result) => self.sat.over = Some(result),
                Effect::GaveUp { why, .. } => self.sat.broken = Some(why),
            }
        }
        Ok(())
    }

    fn tell_partner(
        &mut self,
        seat: Seat,
        line: &[u8],
        partner: &mut dyn Partner,
    ) -> anyhow::Result<()> {
        if let Some(answer) = partner.hear(seat, line)? {
            let wall_us = os::now().saturating_sub(self.partner_asked[seat]) / 1000;
            let spent = Spent {
                wall_us,
                ..Spent::default()
            };
            self.inputs.push(Waiting::Line(seat, answer, spent));
        }
        Ok(())
    }

    fn start(&mut self) {
        let program: &Program = &self.job.programs[self.seat];
        match Talk::start(program) {
            Ok(talk) => {
                self.bot = Some(Bot {
                    talk,
                    reader: LineReader::new(program.max_line, program.max_output),
                    asked: None,
                    stdout_open: true,
                    exited: false,
                    tail: Vec::new(),
                    session: Session::default(),
                });
            }
            Err(error) => self.inputs.push(Waiting::NotStarted(error.to_string())),
        }
    }

    fn ask(&mut self, line: &[u8], wake_us: Option<u64>, watcher: &mut dyn Watcher) {
        let Some(bot) = &mut self.bot else { return };
        let base = bot.talk.used(0);
        let at = os::now();
        let wake = wake_us.map_or(u64::MAX, |us| at.saturating_add(us.saturating_mul(1000)));
        bot.asked = Some((at, base, wake, line.to_vec()));
        watcher.send(&mut bot.talk, line);
    }

    /// Waits for what comes next, and hands it to the table.
    fn listen(&mut self, watcher: &mut dyn Watcher) {
        let seat = self.seat;
        let Some(bot) = &mut self.bot else { return };
        let wake = bot.asked.as_ref().map_or(u64::MAX, |asked| asked.2);
        let heard = bot.talk.next(wake.min(os::now() + 1_000_000_000));
        let Some((at, heard)) = heard else {
            if os::now() >= wake {
                let spent = bot.spent_at(os::now());
                let bytes = bot.reader.unfinished();
                let unfinished = Input::Unfinished { seat, bytes };
                self.table.handle(unfinished, &mut self.outbox);
                self.table
                    .handle(Input::Deadline { seat, spent }, &mut self.outbox);
            }
            return;
        };
        match heard {
            Heard::Bytes(bytes) => self.read(at, &bytes, watcher),
            Heard::StdoutEnd => {
                bot.stdout_open = false;
                if !bot.exited {
                    bot.wait_for_exit(os::now() + DRAIN);
                }
                self.gone(watcher);
            }
            Heard::Exited => {
                bot.exited = true;
                self.gone(watcher);
            }
        }
    }

    /// The process has ended or closed its stdout: what is left is read first.
    fn gone(&mut self, watcher: &mut dyn Watcher) {
        let until = os::now() + DRAIN;
        while let Some(bot) = self.bot.as_mut().filter(|bot| bot.stdout_open) {
            match bot.talk.next(until) {
                Some((at, Heard::Bytes(bytes))) => self.read(at, &bytes, watcher),
                Some((_, Heard::StdoutEnd)) => bot.stdout_open = false,
                Some((_, Heard::Exited)) => bot.exited = true,
                None => break,
            }
        }
        let seat = self.seat;
        let Some(bot) = &mut self.bot else { return };
        let (mut kind, mut note) = (FaultKind::ClosedPipe, String::new());
        if bot.exited {
            bot.session.left = bot.talk.left();
            match bot.talk.ended() {
                Some(End::Bot(how, words)) => (kind, note) = (how, words),
                Some(End::Machine(why)) => self.sat.broken = Some(why),
                None => {}
            }
        }
        bot.session.end = Some(kind);
        let stderr = bot.talk.stderr();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        if note.is_empty()
            && let Some(line) = last
        {
            note = format!("its last words on stderr: {}", line.trim());
        }
        let how = Gone { kind, note };
        let spent = bot.spent_at(os::now());
        self.table
            .handle(Input::Gone { seat, how, spent }, &mut self.outbox);
    }

    fn read(&mut self, at: u64, bytes: &[u8], watcher: &mut dyn Watcher) {
        let seat = self.seat;
        let Some(bot) = &mut self.bot else { return };
        bot.keep_tail(bytes);
        bot.session.memory = bot.session.memory.max(bot.talk.peak_memory());
        let mut lines = Vec::new();
        bot.reader.feed(bytes, |line| {
            lines.push(match line {
                Line::Whole(line) => Ok(line.to_vec()),
                Line::TooLong => Err("a line longer than the limit"),
                Line::TooMuch => Err("more output in one game than the limit"),
            });
        });
        for line in lines {
            let Some(bot) = &mut self.bot else { return };
            let spent = bot.spent_at(at);
            let early = bot.asked.as_ref().is_some_and(|asked| at < asked.0);
            // The line before may have closed the question.
            let closed = |effect: &Effect| matches!(effect, Effect::Close(of) if *of == seat);
            let open = !early && !self.outbox.effects.iter().any(closed);
            if let (Some(asked), Ok(line), true) = (&bot.asked, &line, open) {
                watcher.answered(&asked.3, line, &spent);
            }
            let input = match &line {
                Ok(line) => Input::Line {
                    seat,
                    line,
                    spent,
                    early,
                },
                Err(what) => Input::Flood {
                    seat,
                    what: (*what).to_owned(),
                    spent,
                },
            };
            self.table.handle(input, &mut self.outbox);
        }
    }

    /// Ends the bot's session: politely by closing its stdin; else it is listened to for a moment all the same, since what it
    /// says then shows why it did not answer before.
    fn dismiss(&mut self, politely: bool) {
        let Some(mut bot) = self.bot.take() else {
            return;
        };
        bot.session.memory = bot.session.memory.max(bot.talk.peak_memory());
        let exit_us = self.job.programs[self.seat].exit_us;
        let begun = os::now();
        bot.talk.close_stdin();
        let until = if politely {
            begun.saturating_add(exit_us.saturating_mul(1000))
        } else {
            begun + LAST_WORDS
        };
        let mut words = Vec::new();
        while !bot.exited {
            match bot.talk.next(until) {
                Some((_, Heard::Bytes(bytes))) => words.extend_from_slice(&bytes),
                Some((_, Heard::StdoutEnd)) => bot.stdout_open = false,
                Some((at, Heard::Exited)) => {
                    bot.exited = true;
                    bot.session.leaving_us = Some(at.saturating_sub(begun) / 1000);
                }
                None => break,
            }
        }
        let drained = os::now() + DRAIN;
        while bot.exited && bot.stdout_open {
            match bot.talk.next(drained) {
                Some((_, Heard::Bytes(bytes))) => words.extend_from_slice(&bytes),
                Some(_) => bot.stdout_open = false,
                None => break,
            }
        }
        bot.session.last_words = words;
        if bot.exited {
            if bot.session.left.is_empty() {
                bot.session.left = bot.talk.left();
            }
            if let Some(End::Bot(kind, _)) = bot.talk.ended() {
                bot.session.end = bot.session.end.or(Some(kind));
            }
        }
        bot.session.unfinished = std::mem::take(&mut bot.tail);
        bot.session.stderr = bot.talk.stderr();
        bot.talk.kill();
        self.sat.sessions.push(bot.session);
    }
}

impl Bot {
    /// What the open question has taken until then.
    fn spent_at(&mut self, at: u64) -> Spent {
        let Some((asked, base, ..)) = &self.asked else {
            return Spent::default();
        };
        let (asked, base) = (*asked, *base);
        let used = self.talk.used(at.saturating_sub(asked));
        let waited = used.waited.zip(base.waited);
        Spent {
            wall_us: at.saturating_sub(asked) / 1000,
            cpu_us: os::TELLS_TIME.then(|| used.cpu.saturating_sub(base.cpu) / 1000),
            delay_us: waited.map(|(now, then)| now.saturating_sub(then) / 1000),
            earlier_us: 0,
            outside_us: 0,
        }
    }

    fn keep_tail(&mut self, bytes: &[u8]) {
        self.session.carriage_returns |= bytes.windows(2).any(|pair| pair == b"\r\n")
            || (self.tail.ends_with(b"\r") && bytes.starts_with(b"\n"));
        match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => self.tail = bytes[end + 1..].to_vec(),
            None => self.tail.extend_from_slice(bytes),
        }
        // It is only shown: a long one need not be kept whole.
        self.tail.truncate(4_096);
    }

    fn wait_for_exit(&mut self, until: u64) {
        while let Some((_, heard)) = self.talk.next(until) {
            if heard == Heard::Exited {
                self.exited = true;
                return;
            }
        }
    }
}
