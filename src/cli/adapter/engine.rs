//! An engine's process: lines to its stdin, lines from its stdout. Its stderr is the adapter's.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::session::Fault;

/// The longest line that is read from an engine, bytes.
const MAX_LINE: u64 = 1 << 20;

/// How long an engine that was asked to leave is waited for before it is ended.
const LEAVING: Duration = Duration::from_secs(2);

/// A running engine. It is ended when this is dropped.
#[derive(Debug)]
pub(super) struct Engine {
    /// What it is called in messages.
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The line that it was told last.
    told: String,
}

impl Engine {
    /// Starts the program of a command line, found as a bot's is.
    ///
    /// # Errors
    /// [`Fault::Refused`] where there is no such program.
    pub(super) fn start(adapter: &str, argv: &[String]) -> Result<Engine, Fault> {
        let Some((program, arguments)) = argv.split_first() else {
            return Err(Fault::Refused(format!("{adapter}: no command is given")));
        };
        let here = std::env::current_dir()
            .map_err(|error| Fault::Engine(format!("the current folder is gone: {error}")))?;
        let file = crate::config::resolve_program(program, &here)
            .map_err(|why| Fault::Refused(format!("{adapter}: {why}")))?;
        let mut command = Command::new(file);
        command.args(arguments);
        Engine::spawn(program, command)
    }

    /// Starts this program.
    ///
    /// # Errors
    /// [`Fault::Engine`] where the system does not start it.
    pub(super) fn spawn(name: &str, mut command: Command) -> Result<Engine, Fault> {
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Fault::Engine(format!("{name} cannot be started: {error}")))?;
        let mut child = started;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::Engine(format!("{name} was started without pipes")));
        };
        Ok(Engine {
            name: name.to_owned(),
            child,
            input: Some(input),
            output: BufReader::new(output),
            told: String::new(),
        })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// An engine that is gone.
    pub(super) fn say(&mut self, line: &str) -> Result<(), Fault> {
        let written = self.input.as_mut().map_or(Ok(()), |input| {
            input.write_all(format!("{line}\n").as_bytes())?;
            input.flush()
        });
        line.clone_into(&mut self.told);
        match written {
            Ok(()) => Ok(()),
            Err(_) => Err(self.gone(&format!("when it was told {line:?}"))),
        }
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// An engine that is gone, a line that is too long or no text; `waiting_for` says in the message what was expected.
    pub(super) fn line(&mut self, waiting_for: &str) -> Result<String, Fault> {
        let mut line = Vec::new();
        let mut limited = (&mut self.output).take(MAX_LINE);
        match limited.read_until(b'\n', &mut line) {
            Ok(1..) if line.ends_with(b"\n") => {}
            Ok(1..) if line.len() as u64 >= MAX_LINE => {
                return Err(Fault::Engine(format!(
                    "{} wrote a line of more than {MAX_LINE} bytes while it was asked for {waiting_for}",
                    self.name
                )));
            }
            Ok(_) | Err(_) => {
                return Err(self.gone(&format!("while it was asked for {waiting_for}")));
            }
        }
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        String::from_utf8(line)
            .map_err(|_| Fault::Engine(format!("{} wrote a line that is not UTF-8", self.name)))
    }

    /// Refuses a line that is only what the program was told: one that repeats its input is no engine, and would be waited for until
    /// the referee loses patience.
    ///
    /// # Errors
    /// [`Fault::Refused`]; `protocol` is what it does not speak.
    pub(super) fn no_echo(&self, line: &str, protocol: &str) -> Result<(), Fault> {
        if line.is_empty() || line != self.told {
            return Ok(());
        }
        Err(Fault::Refused(format!(
            "{} does not speak {protocol}: it repeats {line:?}, which it was told",
            self.name
        )))
    }

    /// The fault of an engine that has ended.
    pub(super) fn gone(&mut self, when: &str) -> Fault {
        // Its stdout or stdin is closed, so it leaves, or has left.
        drop(self.input.take());
        let how = match self.wait() {
            Some(status) => told(status),
            None => "closed its output".to_owned(),
        };
        Fault::Engine(format!("{} {how} {when}", self.name))
    }

    /// Waits a while for its end.
    fn wait(&mut self) -> Option<ExitStatus> {
        let end = Instant::now() + LEAVING;
        let mut rest = [0; 4096];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let stdout = self.output.get_ref().as_fd();
            let mut fds = [PollFd::new(&stdout, PollFlags::IN)];
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let ready = poll(&mut fds, Some(&timeout)).unwrap_or(0);
            // At the end of its output the process is gone or about to be.
            if ready == 0 || self.output.get_mut().read(&mut rest).unwrap_or(0) == 0 {
                break;
            }
        }
        // What closed its output but stays is ended by the caller.
        for _ in 0..200 {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => return None,
            }
        }
        None
    }

    /// Asks it to leave, and ends it if it does not.
    pub(super) fn quit(&mut self, word: &str) {
        // One that is gone already needs not be told.
        let _ = self.say(word);
        drop(self.input.take());
        let _ = self.wait();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both fail only where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a process ended, in words.
fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
