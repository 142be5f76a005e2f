//! The program that knows the rules of a game that is not built in: started when it is asked first, a process for each
//! thread that asks.
//!
//! Every question holds all that is needed to answer it, so that any process of the program will do. A thread waits for its
//! answer; so there are never more processes than threads that ask, and none answers for two games at once. A process that
//! fails is ended, and the next question gets a new one.
//!
//! It is the organiser's program and stands outside of all walls, but it does not outlive the referee: it is started by way
//! of a hidden subcommand that ties it to the referee's life, however that ends, and then becomes the program.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::log::Log;
use super::os;
use super::process::{End, Process, Program, Started};
use crate::game::outside;
use crate::referee::FaultKind;

/// The longest answer, bytes.
const MAX_ANSWER: usize = 16 << 20;
/// What is kept of stderr, bytes.
const MAX_STDERR: u64 = 1 << 20;
/// Bytes read at once.
const BUFFER: usize = 64 << 10;
/// What is shown of a line that nobody asked for, bytes.
const SHOWN: usize = 80;
/// How long the end of a process that closed its stdout is waited for, to say how it ended.
const ENDING_NS: u64 = 500_000_000;

/// What is started, and how long an answer may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program's file, absolute, and its arguments.
    pub argv: Vec<String>,
    /// Its working folder.
    pub dir: PathBuf,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// How long it may take to answer a line, its start included, microseconds.
    pub timeout_us: u64,
}

/// The processes of a program of rules. Dropping it ends them.
#[derive(Debug)]
pub struct Rules {
    command: Command,
    log: Mutex<Option<PathBuf>>,
    idle: Mutex<Vec<(ThreadId, Box<Talker>)>>,
}

impl Rules {
    /// Nothing is started yet.
    pub fn new(command: Command) -> Rules {
        Rules {
            command,
            log: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// Where stderr of the processes is kept from now on, one file for all; those that run are started anew.
    pub fn log_to(&self, path: PathBuf) {
        *locked(&self.log) = Some(path);
        locked(&self.idle).clear();
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl outside::Program for Rules {
    fn ask(&self, line: &str) -> Result<Vec<u8>, String> {
        let me = std::thread::current().id();
        let idle = {
            let mut idle = locked(&self.idle);
            let own = idle.iter().position(|(thread, _)| *thread == me);
            own.map(|index| idle.swap_remove(index).1)
        };
        let until = os::now().saturating_add(self.command.timeout_us.saturating_mul(1000));
        let mut talker = match idle {
            Some(talker) => talker,
            None => {
                let log = locked(&self.log).clone();
                let started = Talker::start(&self.command, log);
                Box::new(started.map_err(|error| format!("it could not be started: {error}"))?)
            }
        };
        match talker.ask(line, until) {
            Ok(answer) => {
                locked(&self.idle).push((me, talker));
                Ok(answer)
            }
            Err(silence) => Err(self.words(silence, talker)),
        }
    }
}

/// Why there is no answer.
enum Silence {
    Late,
    Closed,
    TooLong,
    /// It wrote this before it was asked.
    Unasked(Vec<u8>),
    System(io::Error),
}

impl Rules {
    /// Why there was no answer, in words; ends the process.
    fn words(&self, silence: Silence, mut talker: Box<Talker>) -> String {
        let ended = matches!(silence, Silence::Closed).then(|| talker.end());
        let what = match (silence, ended.flatten()) {
            (Silence::Unasked(bytes), _) => {
                let line = bytes.split(|&byte| byte == b'\n').next();
                let line = line.unwrap_or_default();
                let start = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
                let more = if line.len() > SHOWN { "..." } else { "" };
                format!(
                    "it wrote a line that nobody asked for: {start:?}{more} (each question has one line for an answer; all else \
                     belongs on stderr)"
                )
            }
            (Silence::Late, _) => {
                let limit = humantime::format_duration(std::time::Duration::from_micros(
                    self.command.timeout_us,
                ));
                format!("it did not answer within {limit} (`timeout` of `game` sets that)")
            }
            (Silence::Closed, Some(End::Bot(FaultKind::Exit(status), _))) => {
                format!("it ended with exit status {status} without an answer")
            }
            (Silence::Closed, Some(End::Bot(FaultKind::Signal(signal), _))) => {
                format!("it was ended by signal {signal} without an answer")
            }
            (Silence::Closed, _) => "it closed its stdout without an answer".to_owned(),
            (Silence::TooLong, _) => format!("its answer is longer than {MAX_ANSWER} bytes"),
            (Silence::System(error), _) => format!("it could not be spoken to: {error}"),
        };
        match talker.log.last_line() {
            Some(line) => format!("{what}; its last words on stderr: {line}"),
            None => what,
        }
    }
}

/// One process.
struct Talker {
    process: Process,
    stdin: OwnedFd,
    stdout: OwnedFd,
    /// `None` when it was closed.
    stderr: Option<OwnedFd>,
    /// What was read and is no answer yet; behind an answer, what nobody asked for.
    read: Vec<u8>,
    log: Log,
}

impl fmt::Debug for Talker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process.pid().as_raw_nonzero())
    }
}

impl Talker {
    fn start(command: &Command, log: Option<PathBuf>) -> io::Result<Talker> {
        let own = std::env::current_exe()?;
        let own = own
            .into_os_string()
            .into_string()
            .map_err(|_| io::Error::other("the path of this program is not UTF-8"))?;
        let mut argv = vec![own, TIE.to_owned(), std::process::id().to_string()];
        argv.extend(command.argv.iter().cloned());
        let program = Program {
            argv,
            dir: Some(command.dir.clone()),
            env: command.env.clone(),
            log: log.clone(),
            max_stderr: MAX_STDERR,
            max_line: MAX_ANSWER,
            max_output: u64::MAX,
            exit_us: 0,
            cores: 1,
            confine: None,
        };
        let Started {
            process,
            stdin,
            stdout,
            stderr,
            ..
        } = program.start()?;
        Ok(Talker {
            process,
            stdin,
            stdout,
            stderr: Some(stderr),
            read: Vec::new(),
            log: Log::new(log, MAX_STDERR, true),
        })
    }

    /// Writes a line and reads the one that answers it.
    fn ask(&mut self, line: &str, until: u64) -> Result<Vec<u8>, Silence> {
        let mut buffer = vec![0; BUFFER];
        self.is_silent(&mut buffer)?;
        let text = format!("{line}\n");
        let mut left = text.as_bytes();
        loop {
            if let Some(answer) = self.take_line() {
                self.read_stderr(&mut buffer);
                return Ok(answer);
            }
            if self.read.len() > MAX_ANSWER {
                return Err(Silence::TooLong);
            }
            let [can_write, can_read, said] = self.wait(!left.is_empty(), until)?;
            if said {
                self.read_stderr(&mut buffer);
            }
            if can_read {
                match rustix::io::read(&self.stdout, &mut buffer) {
                    Ok(0) => return Err(Silence::Closed),
                    Ok(count) => self.read.extend_from_slice(&buffer[..count]),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => return Err(Silence::System(error.into())),
                }
            }
            if can_write && !left.is_empty() {
                match rustix::io::write(&self.stdin, left) {
                    Ok(count) => left = &left[count..],
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(Errno::PIPE) => return Err(Silence::Closed),
                    Err(error) => return Err(Silence::System(error.into())),
                }
            }
        }
    }

    /// Whether nothing is there to be read. What it says before it is asked would be taken for the answer to the question,
    /// and each answer for that to the next one.
    fn is_silent(&mut self, buffer: &mut [u8]) -> Result<(), Silence> {
        if self.read.is_empty() {
            match rustix::io::read(&self.stdout, &mut *buffer) {
                Ok(0) => return Err(Silence::Closed),
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(Silence::System(error.into())),
            }
        }
        match std::mem::take(&mut self.read) {
            nothing if nothing.is_empty() => Ok(()),
            unasked => Err(Silence::Unasked(unasked)),
        }
    }

    /// The first line that was read, without its end; what is behind it stays.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.read.iter().position(|&byte| byte == b'\n')?;
        let behind = self.read.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.read, behind);
        line.truncate(end);
        if line.ends_with(b"\r") {
            line.pop();
        }
        Some(line)
    }

    /// Waits until there is something to do: whether stdin can be written to, and stdout and stderr be read.
    fn wait(&self, writes: bool, until: u64) -> Result<[bool; 3], Silence> {
        let left = until.saturating_sub(os::now());
        if left == 0 {
            return Err(Silence::Late);
        }
        let wait = Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (left % 1_000_000_000) as _,
        };
        let mut files = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        files.extend(
            self.stderr
                .as_ref()
                .map(|pipe| PollFd::new(pipe, PollFlags::IN)),
        );
        if writes {
            files.push(PollFd::new(&self.stdin, PollFlags::OUT));
        }
        match poll(&mut files, Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => return Ok([false; 3]),
            Ok(_) => {}
            Err(error) => return Err(Silence::System(error.into())),
        }
        let is_ready = |index: usize| !files[index].revents().is_empty();
        let said = self.stderr.is_some() && is_ready(1);
        Ok([writes && is_ready(files.len() - 1), is_ready(0), said])
    }

    /// Keeps what there is on stderr. A log that cannot be written is no reason to stop a game.
    fn read_stderr(&mut self, buffer: &mut [u8]) {
        // Who writes without an end is not listened to for ever.
        for _ in 0..64 {
            let Some(pipe) = &self.stderr else { return };
            match rustix::io::read(pipe, &mut *buffer) {
                Ok(count @ 1..) => self.log.add(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(0) | Err(_) => self.stderr = None,
            }
        }
    }

    /// How it ended, after it has closed its stdout; what it still says on stderr is read.
    fn end(&mut self) -> Option<End> {
        let until = os::now() + ENDING_NS;
        let mut buffer = vec![0; BUFFER];
        loop {
            let ended = self.process.ended();
            self.read_stderr(&mut buffer);
            let left = until.saturating_sub(os::now());
            if ended.is_some() || left == 0 {
                return ended;
            }
            let wait = Timespec {
                tv_sec: 0,
                tv_nsec: left.min(ENDING_NS) as _,
            };
            let _ = poll(
                &mut [PollFd::new(&self.process.end, PollFlags::IN)],
                Some(&wait),
            );
        }
    }
}

/// The hidden subcommand that becomes another program: `hakem __tie PID PROGRAM ARGUMENT...`, where PID is the referee's.
pub const TIE: &str = "__tie";

/// Ties this process to the life of its parent, and becomes the program. Returns only if that is not possible; the exit code.
pub fn tied(args: &[std::ffi::OsString]) -> u8 {
    use std::os::unix::process::CommandExt;
    let [parent, program, rest @ ..] = args else {
        return 2;
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        let tied = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have gone before it could be tied to.
        let there = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
        if tied.is_err() || there.as_deref() != parent.to_str() {
            return 2;
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let error = std::process::Command::new(program).args(rest).exec();
    // It goes to the log of the rules.
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("{}: {error}\n", program.to_string_lossy()).as_bytes(),
    );
    127
}
