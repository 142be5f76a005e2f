//! Starts a bot's process, within its box where it has one, and ends it with all that it started.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::os;
use super::os::stamp::{Stamped, stamped_pipe};
use super::sandbox::{Boxed, Confine};
use crate::referee::FaultKind;

/// How long a process that is being ended is waited for before harder means are used.
const ENDING: Duration = Duration::from_secs(2);

/// What is started for a seat.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program and its arguments; never a shell line.
    pub argv: Vec<String>,
    /// The working folder.
    pub dir: Option<PathBuf>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// Where its stderr is kept.
    pub log: Option<PathBuf>,
    /// What is kept of its stderr, bytes.
    pub max_stderr: u64,
    /// Its longest line, bytes.
    pub max_line: usize,
    /// What it may write to stdout in a game, bytes.
    pub max_output: u64,
    /// The time to leave after `bye`, microseconds.
    pub exit_us: u64,
    /// The cores that it may use.
    pub cores: u32,
    /// How it is confined; without it, by nothing but a process group of its own.
    pub confine: Option<Arc<Confine>>,
}

/// A started process: the bot's own, or that of its box. Dropping it ends it and all that it started (without a box: its
/// process group).
#[derive(Debug)]
pub struct Process {
    child: Child,
    pid: Pid,
    reaped: bool,
    boxed: Option<Boxed>,
    /// Becomes readable when the process has ended.
    pub end: OwnedFd,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The bot ended, or a limit ended it, with words on it.
    Bot(FaultKind, String),
    /// What the bot needs from the machine failed, and it is not the bot's fault.
    Machine(String),
}

/// A started process with its pipes, none of which blocks.
#[derive(Debug)]
pub struct Started {
    /// The process.
    pub process: Process,
    /// Its stdin.
    pub stdin: OwnedFd,
    /// Its stdout.
    pub stdout: OwnedFd,
    /// Whether its stdout tells when it was written to.
    pub stamped: bool,
    /// How many generations of processes, from the started one on, are the referee's own.
    pub wrappers: u32,
    /// The counter of the processor time of its cgroup, where it has one.
    pub usage: Option<File>,
    /// Its stderr.
    pub stderr: OwnedFd,
}

impl Program {
    /// Starts it, in a process group of its own, on the cores of the calling thread. Does not wait for a box to be built.
    ///
    /// # Errors
    /// The system's, when the process cannot be started.
    pub fn start(&self) -> io::Result<Started> {
        let _alone = os::start_alone();
        let (read, write) = match stamped_pipe() {
            Some(Stamped { read, write }) => (Some(read), Stdio::from(write)),
            None => (None, Stdio::piped()),
        };
        let stamped = read.is_some();
        let (mut child, stdin, boxed) = match &self.confine {
            Some(confine) => {
                let (child, stdin, boxed) = confine.start(write)?;
                (child, Some(stdin), Some(boxed))
            }
            None => {
                let mut child = self.start_bare(write)?;
                let stdin = child.stdin.take().map(OwnedFd::from);
                (child, stdin, None)
            }
        };
        let stdout = read.or_else(|| child.stdout.take().map(OwnedFd::from));
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, child.stderr.take()) else {
            unreachable!("all three are pipes");
        };
        let pid = Pid::from_child(&child);
        let usage = boxed.as_ref().and_then(Boxed::usage);
        let end = match os::end_of(pid) {
            Ok(end) => end,
            Err(error) => {
                drop(boxed);
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                return Err(error);
            }
        };
        // From here on dropping `process` cleans up.
        let process = Process {
            child,
            pid,
            reaped: false,
            boxed,
            end,
        };
        let stderr = OwnedFd::from(stderr);
        for pipe in [&stdin, &stdout, &stderr] {
            ioctl_fionbio(pipe.as_fd(), true)?;
        }
        Ok(Started {
            process,
            stdin,
            stdout,
            stamped,
            wrappers: self.confine.as_ref().map_or(0, |it| it.wrappers()),
            usage,
            stderr,
        })
    }

    /// The command is gone afterwards, and with it the referee's copy of the writing end: else the end of the output would not
    /// be seen.
    fn start_bare(&self, stdout: Stdio) -> io::Result<Child> {
        let (name, arguments) = self
            .argv
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an empty command"))?;
        let mut command = Command::new(name);
        // No `pre_exec`: it would turn the start into a fork of the whole referee.
        command
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped())
            // Else a Python bot that forgets to flush would lose on time, the commonest fault of beginners.
            .env("PYTHONUNBUFFERED", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.spawn()
    }
}

impl Process {
    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The box, where it has one.
    pub fn boxed(&mut self) -> Option<&mut Boxed> {
        self.boxed.as_mut()
    }

    /// Becomes readable when the box has something to tell.
    pub fn control(&self) -> Option<BorrowedFd<'_>> {
        self.boxed.as_ref().map(Boxed::control)
    }

    /// Ends the bot and all that it started; without a box every process of its group.
    pub fn kill(&self) {
        // After the leader was waited for its number may be somebody else's.
        if self.reaped {
            return;
        }
        match &self.boxed {
            // The supervisor ends what it looks after; killed itself, it could not.
            Some(boxed) => {
                if !boxed.end() {
                    self.kill_hard();
                }
            }
            None => {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
        }
    }

    /// Ends everything without the supervisor's help.
    fn kill_hard(&self) {
        for pid in os::descendants(self.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
        if let Some(group) = self.boxed.as_ref().and_then(Boxed::group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// How it ended, if it has; the rest of its group is ended with it.
    pub fn ended(&mut self) -> Option<End> {
        if !self.has_ended() {
            return None;
        }
        if self.boxed.is_none() {
            self.kill();
        }
        let status = self.child.try_wait().ok()??;
        self.reaped = true;
        Some(match &mut self.boxed {
            Some(boxed) => {
                boxed.listen();
                // A box that somebody else ended may leave the bot behind.
                if boxed.ended().is_none()
                    && let Some(group) = boxed.group()
                {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                end_in_box(boxed)
            }
            None => End::Bot(fault_of(status.code(), status.signal()), String::new()),
        })
    }

    /// How the bot ended, if its box has reported so; the box itself may still be there.
    pub fn reported_end(&self) -> Option<End> {
        let boxed = self.boxed.as_ref()?;
        boxed.ended().is_some().then(|| end_in_box(boxed))
    }

    /// Whether it has ended; it is not waited for yet, so that its number stays its own.
    fn has_ended(&self) -> bool {
        !self.reaped && os::has_ended(&self.end)
    }

    /// Waits for its end, but not for ever.
    fn wait(&mut self) -> bool {
        let soon = Instant::now() + ENDING;
        while Instant::now() < soon {
            if let Ok(Some(_)) | Err(_) = self.child.try_wait() {
                return true;
            }
            let wait = rustix::event::Timespec {
                tv_sec: 0,
                tv_nsec: 100_000_000,
            };
            let mut ends = [PollFd::new(&self.end, PollFlags::IN)];
            let _ = rustix::event::poll(&mut ends, Some(&wait));
        }
        false
    }
}

fn fault_of(code: Option<i32>, signal: Option<i32>) -> FaultKind {
    match (code, signal) {
        (Some(code), _) => FaultKind::Exit(code),
        (None, signal) => FaultKind::Signal(signal.unwrap_or(0)),
    }
}

fn end_in_box(boxed: &Boxed) -> End {
    if let Some(failure) = boxed.no_box() {
        return End::Machine(format!(
            "its sandbox could not be built: {}: {}",
            failure.step, failure.what
        ));
    }
    let Some(ended) = boxed.ended() else {
        return End::Machine("the supervisor of its sandbox was ended by somebody".into());
    };
    if let Some(limit) = ended.limit {
        return End::Bot(FaultKind::Limit(limit), ended.note.clone());
    }
    let note = boxed.no_program().unwrap_or_default().to_owned();
    End::Bot(fault_of(ended.status, ended.signal), note)
}

impl Drop for Process {
    /// Ends it and waits for it, but not for ever for one that is stuck in the kernel.
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.kill();
        if !self.wait() && self.boxed.is_some() {
            self.kill_hard();
            self.wait();
        }
    }
}
