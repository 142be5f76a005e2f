//! Starts a bot's process and ends its process group.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::os::stamp::{Stamped, stamped_pipe};
use crate::referee::FaultKind;

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
}

/// A started process. Dropping it ends its process group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    pid: Pid,
    reaped: bool,
    /// Becomes readable when the process has ended.
    pub pidfd: OwnedFd,
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
    /// Its stderr.
    pub stderr: OwnedFd,
}

impl Program {
    /// Starts it, in a process group of its own, on the cores of the calling thread.
    ///
    /// # Errors
    /// The system's, when the process cannot be started.
    pub fn start(&self) -> io::Result<Started> {
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
            .stderr(Stdio::piped())
            // Else a Python bot that forgets to flush would lose on time, the commonest fault of beginners.
            .env("PYTHONUNBUFFERED", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        let stamped = stamped_pipe();
        let stdout = match stamped {
            Some(Stamped { read, write }) => {
                command.stdout(write);
                Some(read)
            }
            None => {
                command.stdout(Stdio::piped());
                None
            }
        };
        let stamped = stdout.is_some();
        let mut child = command.spawn()?;
        // The referee's copy of the writing end goes, else the end of the output would not be seen.
        drop(command);
        let stdout = stdout.or_else(|| child.stdout.take().map(OwnedFd::from));
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), stdout, child.stderr.take())
        else {
            unreachable!("all three are pipes");
        };
        let pid = Pid::from_child(&child);
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                return Err(error.into());
            }
        };
        // From here on dropping `process` cleans up.
        let process = Process {
            child,
            pid,
            reaped: false,
            pidfd,
        };
        let (stdin, stderr) = (OwnedFd::from(stdin), OwnedFd::from(stderr));
        for pipe in [&stdin, &stdout, &stderr] {
            ioctl_fionbio(pipe.as_fd(), true)?;
        }
        Ok(Started {
            process,
            stdin,
            stdout,
            stamped,
            wrappers: 0,
            stderr,
        })
    }
}

impl Process {
    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Ends every process of its group.
    pub fn kill(&self) {
        // After the leader was waited for its number may be somebody else's.
        if !self.reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// How it ended, if it has; the rest of its group is ended with it.
    pub fn ended(&mut self) -> Option<FaultKind> {
        if !self.has_ended() {
            return None;
        }
        self.kill();
        let status = self.child.try_wait().ok()??;
        self.reaped = true;
        Some(match (status.code(), status.signal()) {
            (Some(code), _) => FaultKind::Exit(code),
            (None, signal) => FaultKind::Signal(signal.unwrap_or(0)),
        })
    }

    /// Whether it has ended; it is not waited for yet, so that its number stays its own.
    fn has_ended(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !self.reaped
            && matches!(
                waitid(WaitId::PidFd(self.pidfd.as_fd()), options),
                Ok(Some(_))
            )
    }
}

impl Drop for Process {
    /// Ends the group and waits for the process, but not for ever for one that is stuck in the kernel.
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.kill();
        let soon = std::time::Instant::now() + std::time::Duration::from_secs(2);
        while std::time::Instant::now() < soon {
            if let Ok(Some(_)) | Err(_) = self.child.try_wait() {
                return;
            }
            let wait = rustix::event::Timespec {
                tv_sec: 0,
                tv_nsec: 100_000_000,
            };
            let mut ends = [rustix::event::PollFd::new(
                &self.pidfd,
                rustix::event::PollFlags::IN,
            )];
            let _ = rustix::event::poll(&mut ends, Some(&wait));
        }
    }
}
