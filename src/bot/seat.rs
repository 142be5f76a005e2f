//! The pipes, clock and timers of one seat's process.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hakem_protocol::ClockKind;
use rustix::io::Errno;

use super::log::Log;
use super::meter::{Meter, Reading};
use super::os;
use super::process::{Process, Program, Started};
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
/// An answer within this wall time is charged its wall time: what it may have waited is within the clock's promise, and
/// reading the counters would cost more than the answer. Nanoseconds.
const QUICK: u64 = 100_000;
/// A process that has run for no longer since its last reading has hardly run. Nanoseconds.
const HARDLY: u64 = 30_000;
/// So many answers in a row may go without a reading of processor time where the clock does not need it.
const UNREAD: u32 = 15;

/// An open question.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Just before the line was written.
    at: u64,
    /// The counters then.
    base: Reading,
    /// How long the referee had stood still then, in all.
    stalled: u64,
}

impl Asked {
    /// How long the referee has stood still since.
    fn stalled(&self, pulse: &Pulse) -> u64 {
        pulse.stalled().saturating_sub(self.stalled)
    }
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
    meter: Meter,
    /// The last reading of the time spent waiting.
    last: Reading,
    /// Answers since the last reading of processor time, and the processor time then.
    unread: u32,
    summed: u64,
    asked: Option<Asked>,
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
            stderr,
        } = started;
        SeatIo {
            meter: Meter::new(process.pid(), kind == ClockKind::Fair),
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
            last: Reading::default(),
            unread: 0,
            summed: 0,
            asked: None,
            wake: u64::MAX,
            leave_by: u64::MAX,
            killed: false,
            ending_by: u64::MAX,
            exit_ns: program.exit_us.saturating_mul(1000),
        }
    }

    /// What the poll loop watches from the start.
    pub fn watched(&self) -> impl Iterator<Item = (Pipe, BorrowedFd<'_>)> {
        let stdout = self.stdout.as_ref().map(|fd| (Pipe::Stdout, fd.as_fd()));
        let stderr = self.stderr.as_ref().map(|fd| (Pipe::Stderr, fd.as_fd()));
        let stdin = self.stdin.as_ref().map(|fd| (Pipe::Stdin, fd.as_fd()));
        let exit = Some((Pipe::Exit, self.process.pidfd.as_fd()));
        [stdout, stderr, stdin, exit].into_iter().flatten()
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
                self.spent_at(now, pulse)
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
        let base = match self.kind {
            ClockKind::Fair => self.base(),
            ClockKind::Cpu => Reading {
                cpu: self.meter.cpu(),
                waited: None,
            },
            ClockKind::Wall => Reading {
                cpu: self.summed,
                waited: None,
            },
        };
        let at = os::now();
        // A stall that is found later begins after this beat, so all of it is taken off this question.
        pulse.beat(at);
        self.asked = Some(Asked {
            at,
            base,
            stalled: pulse.stalled(),
        });
        self.wake = wake_us.map_or(u64::MAX, |us| at.saturating_add(us.saturating_mul(1000)));
        self.send(line)
    }

    /// The counters from which a fair charge is reckoned.
    ///
    /// The time spent waiting costs more to read than all else that is done for a move. A process that has hardly run since it
    /// was last read has hardly waited since either, so the last reading is taken as long as that is so.
    fn base(&mut self) -> Reading {
        let cpu = self.meter.cpu();
        if self.last.waited.is_none() || cpu.saturating_sub(self.last.cpu) > HARDLY {
            self.last = Reading {
                cpu,
                waited: self.meter.waited(),
            };
        }
        Reading {
            cpu,
            waited: self.last.waited,
        }
    }

    /// When the open question was asked.
    pub fn asked_at(&self) -> Option<u64> {
        self.asked.map(|asked| asked.at)
    }

    /// The question is closed.
    pub fn close_question(&mut self) {
        self.asked = None;
        self.wake = u64::MAX;
    }

    /// Look again when the question has been open for this wall time.
    pub fn wake_at(&mut self, wake_us: u64, pulse: &Pulse) {
        if let Some(asked) = self.asked {
            let begun = asked.at.saturating_add(asked.stalled(pulse));
            self.wake = begun.saturating_add(wake_us.saturating_mul(1000));
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

    /// What the open question has taken until now.
    pub fn spent_now(&mut self, pulse: &mut Pulse) -> Spent {
        let now = os::now();
        pulse.beat(now);
        self.spent_at(now, pulse)
    }

    fn spent_at(&mut self, now: u64, pulse: &Pulse) -> Spent {
        let Some(asked @ Asked { at, base, .. }) = self.asked else {
            return Spent::default();
        };
        let wall = now.saturating_sub(at).saturating_sub(asked.stalled(pulse));
        // An answer that needs no correction need not be measured each time: the processor time of a few is found together.
        let needs_counters = match self.kind {
            ClockKind::Wall => false,
            ClockKind::Fair => wall > QUICK,
            ClockKind::Cpu => true,
        };
        if !needs_counters && self.unread < UNREAD {
            self.unread += 1;
            return Spent {
                wall_us: wall / 1000,
                cpu_us: None,
                delay_us: None,
            };
        }
        self.unread = 0;
        let reading = if self.kind == ClockKind::Fair && needs_counters {
            self.meter.read()
        } else {
            Reading {
                cpu: self.meter.cpu(),
                waited: None,
            }
        };
        let base = if needs_counters {
            base
        } else {
            Reading {
                cpu: self.summed,
                ..base
            }
        };
        self.summed = reading.cpu;
        if reading.waited.is_some() {
            self.last = reading;
        }
        let delay = match (base.waited, reading.waited) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before) / 1000),
            _ => None,
        };
        Spent {
            wall_us: wall / 1000,
            cpu_us: Some(reading.cpu.saturating_sub(base.cpu) / 1000),
            delay_us: delay,
        }
    }

    // ---- Leaving ------------------------------------------------------------------------------------------------

    /// Closes stdin once all is sent; the process has its time to leave.
    pub fn release(&mut self) {
        self.leaving = true;
        self.close_question();
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
        Some(self.gone(FaultKind::ClosedPipe))
    }

    /// How it went, with what helps its author.
    pub fn gone(&self, kind: FaultKind) -> Gone {
        let mut note = Vec::new();
        if self.reader.has_tail() {
            note.push("its last line had no line end".to_owned());
        }
        if let Some(line) = self.log.last_line() {
            note.push(format!("its last words on stderr: {line}"));
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
