//! The pipes, clock and timers of one seat's process.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hakem_protocol::ClockKind;
use rustix::io::Errno;

use super::log::Log;
use super::meter::{Meter, Reading};
use super::os;
use super::process::{Process, Program, Started};
use super::sandbox::Boxed;
use crate::clock::Spent;
use crate::clock::pulse::Pulse;
use crate::referee::lines::LineReader;
use crate::referee::{FaultKind, Gone};

/// What an event of the poll loop is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Pipe {
    /// There is something to read on stdout.
    Stdout,
    /// There is something to read on stderr.
    Stderr,
    /// There is room in stdin again, or nobody reads it any more.
    Stdin,
    /// The process has ended.
    Exit,
    /// A timer.
    Timer,
    /// The box of the process has something to tell.
    Control,
}

impl Pipe {
    /// The inverse of `as u8`.
    pub fn from_u8(number: u8) -> Option<Pipe> {
        [
            Pipe::Stdout,
            Pipe::Stderr,
            Pipe::Stdin,
            Pipe::Exit,
            Pipe::Timer,
            Pipe::Control,
        ]
        .into_iter()
        .find(|pipe| *pipe as u8 == number)
    }
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes.
    Bytes(usize),
    /// The pipe is closed.
    End,
    /// Nothing is there now.
    Nothing,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All was taken.
    Whole,
    /// The pipe is full; the rest waits.
    Part,
    /// Nobody reads any more.
    Broken,
}

/// How long a process whose pipe broke may take to end, so that its status can be told; nanoseconds.
const ENDING: u64 = 100_000_000;
/// How long a killed process is waited for; nanoseconds.
const KILLED: u64 = 2_000_000_000;
/// Answers may go without a reading of the counters until they have taken this wall time together; then one reading tells of
/// all of them, and the clock sets right what they were charged. A reading costs more than all else that is done for a quick
/// answer. Nanoseconds.
const UNREAD_TIME: u64 = 4_000_000;
/// No answer by itself goes unread that took longer. Nanoseconds.
const UNREAD_ANSWER: u64 = 1_000_000;
/// The same for a bot that computes between its turns, each answer by itself: its counters tell of more than its answers.
const UNREAD_BUSY: u64 = 100_000;
/// So many answers in a row may go without a reading.
const UNREAD: u32 = 31;
/// A reading after an answer serves for the next question too if that comes within this time. Nanoseconds.
const SHORT_WHILE: u64 = 500_000;
/// A bot that may be waiting for a core when its time is over is looked at again so soon. Nanoseconds.
const LOOK_SOON: u64 = 5_000_000;
/// A reading is not put off when the wall time could decide about the limit: not beyond this part of it.
const UNREAD_PART: u64 = 10;

/// The answers since the counters were last read.
#[derive(Clone, Copy, Debug, Default)]
struct Unread {
    /// The counters before the first of them.
    base: Reading,
    answers: u32,
    /// Their wall time together, nanoseconds.
    wall: u64,
    /// When the base was read.
    since: u64,
}

/// An open question.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Just before the line was written.
    at: u64,
    /// How long the referee had stood still then, in all.
    stalled: u64,
    /// How the last thing that was read in answer to it was measured; it holds once the question is closed.
    measured: Measured,
}

impl Asked {
    /// How long the referee has stood still since.
    fn stalled(&self, pulse: &Pulse) -> u64 {
        pulse.stalled().saturating_sub(self.stalled)
    }
}

/// How an answer was measured.
#[derive(Clone, Copy, Debug)]
enum Measured {
    /// Nothing was read yet.
    Not,
    /// By its wall time alone, nanoseconds.
    Wall(u64),
    /// By the counters too: what they showed, at this wall time of the question.
    Counters(Reading, u64),
}

/// A seat's process with all that belongs to it.
#[derive(Debug)]
pub struct SeatIo {
    /// The process.
    pub process: Process,
    /// Its stdin, until it is closed.
    pub stdin: Option<OwnedFd>,
    /// Its stdout, until its end or a limit.
    pub stdout: Option<OwnedFd>,
    /// Its stderr, until its end.
    pub stderr: Option<OwnedFd>,
    /// Cuts its stdout into lines.
    pub reader: LineReader,
    /// Keeps its stderr.
    pub log: Log,
    /// The limit of a line, bytes.
    pub max_line: usize,
    /// The limit of a game's output, bytes.
    pub max_output: u64,
    /// Whether the poll loop watches for room in stdin; that nobody reads it any more it is told always.
    pub watches_stdin: bool,
    /// Whether it was told to leave, or killed.
    pub leaving: bool,
    /// The earliest timer that is set for it.
    pub timer: u64,
    unsent: Vec<u8>,
    kind: ClockKind,
    /// The cores that it may use.
    cores: u64,
    meter: Meter,
    unread: Unread,
    /// Whether its stdout tells when it was written to, and whether it will tell so exactly of what is written next.
    stamped: bool,
    will_stamp: bool,
    /// Whether it may be waiting for a core right now: then it is looked at again soon.
    may_wait: bool,
    /// Whether it was seen to compute between its turns.
    busy: bool,
    /// Processor time that it was seen to use outside its turns, not told yet; nanoseconds.
    outside: u64,
    asked: Option<Asked>,
    /// Whether the loop keeps in mind that an answer is expected.
    expected: bool,
    wake: u64,
    leave_by: u64,
    killed: bool,
    ending_by: u64,
    exit_ns: u64,
}

impl SeatIo {
    /// The seat of a process that was just started, in its match for the first time or `again`.
    pub fn new(started: Started, program: &Program, kind: ClockKind, again: bool) -> SeatIo {
        let Started {
            process,
            stdin,
            stdout,
            stamped,
            wrappers,
            usage,
            stderr,
        } = started;
        SeatIo {
            meter: match kind {
                ClockKind::Cpu => Meter::new(process.pid(), wrappers, usage).exact(),
                ClockKind::Fair | ClockKind::Wall => Meter::new(process.pid(), wrappers, usage),
            },
            cores: u64::from(program.cores.max(1)),
            stamped,
            will_stamp: false,
            process,
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            reader: LineReader::new(program.max_line, program.max_output),
            log: Log::new(program.log.clone(), program.max_stderr, again),
            max_line: program.max_line,
            max_output: program.max_output,
            watches_stdin: false,
            leaving: false,
            timer: u64::MAX,
            unsent: Vec::new(),
            kind,
            unread: Unread::default(),
            busy: false,
            may_wait: false,
            outside: 0,
            asked: None,
            expected: false,
            wake: u64::MAX,
            leave_by: u64::MAX,
            killed: false,
            ending_by: u64::MAX,
            exit_ns: program.exit_us.saturating_mul(1000),
        }
    }

    /// What the poll loop watches.
    pub fn watched(&self) -> impl Iterator<Item = (Pipe, BorrowedFd<'_>)> {
        let stdout = self.stdout.as_ref().map(|fd| (Pipe::Stdout, fd.as_fd()));
        let stderr = self.stderr.as_ref().map(|fd| (Pipe::Stderr, fd.as_fd()));
        let stdin = self.stdin.as_ref().map(|fd| (Pipe::Stdin, fd.as_fd()));
        let exit = Some((Pipe::Exit, self.process.end.as_fd()));
        let control = self.process.control().map(|fd| (Pipe::Control, fd));
        [stdout, stderr, stdin, exit, control].into_iter().flatten()
    }

    /// Hears what the box has to tell; false when it will tell no more.
    pub fn hear(&mut self) -> bool {
        self.process.boxed().is_some_and(Boxed::listen)
    }

    // ---- Bytes --------------------------------------------------------------------------------------------------

    /// Reads once, and tells what the open question has taken until then.
    pub fn read_stdout(&mut self, buffer: &mut [u8], pulse: &mut Pulse) -> (Read, Spent) {
        let Some(stdout) = &self.stdout else {
            return (Read::Nothing, Spent::default());
        };
        let read = read(stdout, buffer);
        // The stamp is taken here, in the thread that read, before anything else is done.
        let spent = match read {
            Read::Bytes(_) => {
                let now = os::now();
                pulse.beat(now);
                self.answered_at(now, pulse)
            }
            Read::End | Read::Nothing => Spent::default(),
        };
        if read == Read::End {
            self.stdout = None;
        }
        (read, spent)
    }

    /// Reads once and keeps it.
    pub fn read_stderr(&mut self, buffer: &mut [u8]) {
        let Some(stderr) = &self.stderr else { return };
        match read(stderr, buffer) {
            Read::Bytes(length) => self.log.add(&buffer[..length]),
            Read::End => self.stderr = None,
            Read::Nothing => {}
        }
    }

    /// Whether there is something to read on stderr right now.
    pub fn stderr_ready(&self) -> bool {
        self.stderr
            .as_ref()
            .is_some_and(|stderr| rustix::io::ioctl_fionread(stderr).is_ok_and(|count| count > 0))
    }

    /// Sends a line; what the pipe does not take waits in memory.
    pub fn send(&mut self, line: &[u8]) -> Sent {
        if self.stdin.is_none() {
            return Sent::Broken;
        }
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(line);
            return Sent::Part;
        }
        let (taken, sent) = self.write(line);
        self.unsent.extend_from_slice(&line[taken..]);
        sent
    }

    /// Sends what waits.
    pub fn write_more(&mut self) -> Sent {
        let waiting = std::mem::take(&mut self.unsent);
        let (taken, sent) = self.write(&waiting);
        self.unsent = waiting;
        self.unsent.drain(..taken);
        if self.unsent.is_empty() {
            self.unsent = Vec::new();
            // A farewell was the last thing to send.
            if self.leaving {
                self.stdin = None;
            }
        }
        sent
    }

    /// The last reader of stdin has gone. What it has not read is lost, and a question among it will never be answered; a bot
    /// that has read all may still answer what it was asked.
    ///
    /// Most often a write finds this out. But while another process is being started it holds a copy of the pipe's other end for a
    /// moment, and what is written then is taken and goes nowhere.
    pub fn reader_left(&mut self) {
        let lost = self
            .stdin
            .as_ref()
            .is_some_and(|stdin| rustix::io::ioctl_fionread(stdin).is_ok_and(|unread| unread > 0));
        if lost {
            self.stdin = None;
            self.pipe_broke();
        }
    }

    fn write(&mut self, bytes: &[u8]) -> (usize, Sent) {
        let Some(stdin) = &self.stdin else {
            return (bytes.len(), Sent::Broken);
        };
        let mut taken = 0;
        while taken < bytes.len() {
            match rustix::io::write(stdin, &bytes[taken..]) {
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return (taken, Sent::Part),
                Err(_) => {
                    self.stdin = None;
                    self.pipe_broke();
                    return (bytes.len(), Sent::Broken);
                }
            }
        }
        (taken, Sent::Whole)
    }

    // ---- The clock ----------------------------------------------------------------------------------------------

    /// Sends a question; its clock starts just before.
    pub fn ask(&mut self, line: &[u8], wake_us: Option<u64>, pulse: &mut Pulse) -> Sent {
        if let Some(boxed) = self.process.boxed() {
            boxed.thaw();
        }
        let now = os::now();
        // What it did in a short while before the question does not matter.
        let idle = now.saturating_sub(self.unread.since) > SHORT_WHILE;
        let fresh = match self.kind {
            ClockKind::Fair | ClockKind::Wall => self.busy || self.unread.answers == 0 && idle,
            ClockKind::Cpu => true,
        };
        if fresh {
            let base = self.meter.read(now, 0);
            // The first reading of all tells of its start, not of its thoughts.
            if self.unread.base != Reading::default() {
                let used = base.cpu.saturating_sub(self.unread.base.cpu);
                self.outside += used.saturating_sub(self.unread.wall.saturating_mul(self.cores));
            }
            self.unread = Unread {
                base,
                ..Unread::default()
            };
            self.written_before(now);
        }
        // Nothing was done since, if nothing was read.
        let at = if fresh { os::now() } else { now };
        // A stall that is found later begins after this beat, so all of it is taken off this question.
        pulse.beat(at);
        self.asked = Some(Asked {
            at,
            stalled: pulse.stalled(),
            measured: Measured::Not,
        });
        self.wake = wake_us.map_or(u64::MAX, |us| at.saturating_add(us.saturating_mul(1000)));
        self.send(line)
    }

    /// The loop is to keep in mind that an answer is expected; whether it did not yet.
    pub fn expect(&mut self) -> bool {
        !std::mem::replace(&mut self.expected, true)
    }

    /// The loop looks for the answer and need not keep it in mind; whether there is a question to answer.
    pub fn looked_for(&mut self) -> bool {
        self.expected = false;
        self.asked.is_some()
    }

    /// When the open question was asked.
    pub fn asked_at(&self) -> Option<u64> {
        self.asked.map(|asked| asked.at)
    }

    /// The question is closed; a bot that may not think in others' time stands still from here on.
    pub fn close_question(&mut self) {
        self.keep_measured();
        if !self.leaving
            && let Some(boxed) = self.process.boxed()
        {
            boxed.freeze();
        }
        self.asked = None;
        self.wake = u64::MAX;
    }

    /// Look again when the question has been open for this wall time.
    pub fn wake_at(&mut self, wake_us: u64, pulse: &Pulse) {
        if let Some(asked) = self.asked {
            let begun = asked.at.saturating_add(asked.stalled(pulse));
            self.wake = begun.saturating_add(wake_us.saturating_mul(1000));
            if std::mem::take(&mut self.may_wait) {
                self.wake = self.wake.min(os::now().saturating_add(LOOK_SOON));
            }
        }
    }

    /// Whether the referee has stood still since the open question was asked.
    pub fn stood_still(&self, pulse: &Pulse) -> bool {
        self.asked.is_some_and(|asked| asked.stalled(pulse) > 0)
    }

    /// It was looked at; the table says when to look again.
    pub fn looked(&mut self) {
        self.wake = u64::MAX;
    }

    /// What the open question has taken until now at least, by the counters.
    pub fn spent_now(&mut self, pulse: &mut Pulse) -> Spent {
        let now = os::now();
        pulse.beat(now);
        match self.asked {
            Some(asked) => {
                let open = now.saturating_sub(asked.at);
                let (mut spent, _) = self.measured(now, open.saturating_sub(asked.stalled(pulse)));
                let waits = self.meter.may_wait().min(open);
                // What may be a wait counts as one, so that no bot loses on time for want of a core.
                self.may_wait = waits > 0;
                if let Some(delay) = &mut spent.delay_us {
                    *delay += waits / 1000;
                }
                spent
            }
            None => Spent::default(),
        }
    }

    /// What the answer took that was there to read at this instant.
    fn answered_at(&mut self, now: u64, pulse: &Pulse) -> Spent {
        let Some(asked @ Asked { at, .. }) = self.asked else {
            return Spent::default();
        };
        let wall = now.saturating_sub(at).saturating_sub(asked.stalled(pulse));
        let (spent, measured) = if self.may_stay_unread(wall) {
            let spent = Spent {
                wall_us: wall / 1000,
                outside_us: self.outside / 1000,
                ..Spent::default()
            };
            (spent, Measured::Wall(wall))
        } else {
            let (mut spent, reading) = self.measured(now, wall);
            // The loop may have come late to what was written in time. The system's note of when it was written may itself be a
            // tick early, but not so early that the bot could not have used its processor time.
            let written = self.written_before(now).filter(|written| *written >= at);
            let wall = written.map_or(wall, |written| {
                let used = reading.cpu.saturating_sub(self.unread.base.cpu);
                let least = (used / self.cores).saturating_sub(self.unread.wall);
                (written - at).max(least).min(wall)
            });
            spent.wall_us = wall / 1000;
            (spent, Measured::Counters(reading, wall))
        };
        self.asked = Some(Asked { measured, ..asked });
        spent
    }

    /// Keeps in mind how the answer to the question that closes now was measured.
    fn keep_measured(&mut self) {
        match self.asked.map(|asked| (asked.at, asked.measured)) {
            None | Some((_, Measured::Not)) => {}
            Some((_, Measured::Wall(wall))) => {
                self.outside = 0;
                self.will_stamp = false;
                self.unread.answers += 1;
                self.unread.wall += wall;
            }
            Some((at, Measured::Counters(reading, wall))) => {
                let used = reading.cpu.saturating_sub(self.unread.base.cpu);
                let own = (self.unread.wall + wall).saturating_mul(self.cores);
                // What is more than its turns had room for was used outside them.
                self.outside = used.saturating_sub(own + UNREAD_BUSY);
                self.busy |= used > self.unread.wall + wall + UNREAD_BUSY;
                self.unread = Unread {
                    base: reading,
                    since: at + wall,
                    ..Unread::default()
                };
            }
        }
    }

    /// Whether an answer of this wall time needs no reading of the counters for itself.
    fn may_stay_unread(&self, wall: u64) -> bool {
        let most = match self.kind {
            ClockKind::Cpu => return false,
            ClockKind::Fair | ClockKind::Wall if self.busy => UNREAD_BUSY,
            ClockKind::Fair | ClockKind::Wall => {
                let limit = self
                    .asked
                    .map_or(0, |asked| self.wake.saturating_sub(asked.at));
                UNREAD_TIME.min(limit / UNREAD_PART)
            }
        };
        self.unread.answers < UNREAD
            && wall <= UNREAD_ANSWER
            && self.unread.wall.saturating_add(wall) <= most
    }

    /// What the counters say of the open question, and of the answers before it that they were not read for.
    fn measured(&mut self, now: u64, wall: u64) -> (Spent, Reading) {
        let reading = self.meter.read(now, wall);
        let Unread {
            base,
            wall: earlier,
            ..
        } = self.unread;
        let spent = Spent {
            wall_us: wall / 1000,
            cpu_us: os::TELLS_TIME.then(|| reading.cpu.saturating_sub(base.cpu) / 1000),
            delay_us: base
                .waited
                .zip(reading.waited)
                .map(|(before, after)| after.saturating_sub(before) / 1000),
            earlier_us: earlier / 1000,
            outside_us: self.outside / 1000,
        };
        (spent, reading)
    }

    /// When the bot last wrote to its stdout, before this instant, as far as the system tells exactly; it will tell so of the next
    /// write too.
    fn written_before(&mut self, now: u64) -> Option<u64> {
        if !self.stamped {
            return None;
        }
        let written = os::stamp::written(self.stdout.as_ref()?);
        let exact = std::mem::replace(&mut self.will_stamp, true);
        // The time of day may be set while a bot thinks; then this is no time of the question, and is not used.
        let ago = os::stamp::real_now().checked_sub(written.filter(|_| exact)?)?;
        let late = os::now() - now;
        now.checked_sub(ago.saturating_sub(late))
    }

    // ---- Leaving ------------------------------------------------------------------------------------------------

    /// Closes stdin once all is sent; the process has its time to leave.
    pub fn release(&mut self) {
        self.leaving = true;
        self.close_question();
        if let Some(boxed) = self.process.boxed() {
            boxed.thaw();
        }
        self.leave_by = os::now().saturating_add(self.exit_ns);
        if self.unsent.is_empty() {
            self.stdin = None;
        }
    }

    /// Ends the process and its group now.
    pub fn kill(&mut self) {
        self.leaving = true;
        self.killed = true;
        self.close_question();
        self.leave_by = os::now().saturating_add(KILLED);
        self.process.kill();
    }

    /// Ends a process whose time to leave is over; true if it does not even end when killed.
    pub fn must_leave(&mut self, now: u64) -> bool {
        if now < self.leave_by {
            return false;
        }
        if self.killed {
            return true;
        }
        self.kill();
        false
    }

    /// A pipe is closed: usually the process is about to end.
    pub fn pipe_broke(&mut self) {
        if self.ending_by == u64::MAX {
            self.ending_by = os::now().saturating_add(ENDING);
        }
    }

    /// If a pipe is closed and the process goes on all the same: how it is gone.
    pub fn broke_for_good(&mut self, now: u64) -> Option<Gone> {
        if now < self.ending_by || self.leaving {
            return None;
        }
        self.ending_by = u64::MAX;
        Some(self.gone(FaultKind::ClosedPipe, ""))
    }

    /// How it went, with what helps its author.
    pub fn gone(&self, kind: FaultKind, words: &str) -> Gone {
        let mut note = Vec::new();
        if !words.is_empty() {
            note.push(words.to_owned());
        }
        if self.reader.has_tail() {
            note.push("its last line had no line end".to_owned());
        }
        if let Some(line) = self.log.last_line() {
            note.push(format!("its last words on stderr: {line}"));
        }
        if note.is_empty() && kind == FaultKind::Exit(0) {
            note.push(
                "it left as if all were done; a bot reads on until `bye` or the end of its input"
                    .to_owned(),
            );
        }
        Gone {
            kind,
            note: note.join("; "),
        }
    }

    /// Whether the open question is to be looked at.
    pub fn is_due(&self, now: u64) -> bool {
        self.asked.is_some() && now >= self.wake
    }

    /// When the seat next needs a timer.
    pub fn due(&self) -> u64 {
        let ending = if self.leaving {
            u64::MAX
        } else {
            self.ending_by
        };
        self.wake.min(self.leave_by).min(ending)
    }
}

fn read(fd: &OwnedFd, buffer: &mut [u8]) -> Read {
    loop {
        match rustix::io::read(fd, &mut *buffer) {
            Ok(0) => return Read::End,
            Ok(length) => return Read::Bytes(length),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Read::Nothing,
            Err(_) => return Read::End,
        }
    }
}
