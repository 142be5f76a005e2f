//! A conversation with one process, for those who look at one bot alone: it may take all the time there is, and sees what the
//! process does byte by byte.
//!
//! Two threads read its stdout and stderr and wait for its end; each piece is stamped when it was read, so that whoever
//! holds the conversation may be busy with something else meanwhile.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::meter::{Meter, Reading};
use super::os;
use super::process::{End, Process, Program, Started};

/// What is kept of stderr, bytes.
const KEPT_STDERR: usize = 64 << 10;
/// Marks every process that a bot starts, handed on by inheritance, so that those left behind are found.
const MARK: &str = "HAKEM_CONVERSATION";

/// What came from the process.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Bytes on stdout.
    Bytes(Vec<u8>),
    /// Stdout was closed.
    StdoutEnd,
    /// The process has ended.
    Exited,
}

/// A process and what it says. Dropping it ends the process.
#[derive(Debug)]
pub struct Talk {
    process: Process,
    stdin: Option<OwnedFd>,
    heard: Receiver<(u64, Heard)>,
    stderr: Arc<Mutex<Vec<u8>>>,
    meter: Meter,
    /// Generations of processes from the started one on that are its box, not the bot.
    wrappers: u32,
    mark: String,
    peak: AtomicU64,
    started: u64,
}

impl Talk {
    /// Starts the program.
    ///
    /// # Errors
    /// The system's, when the process or a thread cannot be started.
    pub fn start(program: &Program) -> io::Result<Talk> {
        let started_at = os::now();
        let mark = format!("{}-{started_at}", std::process::id());
        let mut program = program.clone();
        program.env.push((MARK.to_owned(), mark.clone()));
        let Started {
            process,
            stdin,
            stdout,
            stderr,
            wrappers,
            usage,
            stamped: _,
        } = program.start()?;
        let (tell, heard) = channel();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let ends = process.end.try_clone()?;
        let exits = tell.clone();
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        thread("bot stdout").spawn(move || listen(&stdout, &tell))?;
        thread("bot end").spawn(move || {
            let _ = readable(&ends, None);
            // Whoever held the conversation may be gone.
            let _ = exits.send((os::now(), Heard::Exited));
        })?;
        let log = kept.clone();
        thread("bot stderr").spawn(move || keep(&stderr, &log))?;
        Ok(Talk {
            meter: Meter::new(process.pid(), wrappers, usage),
            wrappers,
            process,
            stdin: Some(stdin),
            heard,
            stderr: kept,
            mark,
            peak: AtomicU64::new(0),
            started: started_at,
        })
    }

    /// When it was started, nanoseconds of the monotonic clock.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// The number of its process.
    pub fn pid(&self) -> i32 {
        self.process.pid().as_raw_nonzero().get()
    }

    /// Sends bytes; gives up when the process has read nothing for so long. Whether all were taken.
    pub fn send(&mut self, mut bytes: &[u8], patience: Duration) -> bool {
        let Some(stdin) = &self.stdin else {
            return false;
        };
        while !bytes.is_empty() {
            match rustix::io::write(stdin, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut fds = [PollFd::new(stdin, PollFlags::OUT)];
                    if !matches!(poll(&mut fds, Some(&timespec(patience))), Ok(1..)) {
                        return false;
                    }
                }
                Err(_) => {
                    self.stdin = None;
                    return false;
                }
            }
        }
        true
    }

    /// What came next, with its stamp; `None` if nothing came until then.
    pub fn next(&self, until: u64) -> Option<(u64, Heard)> {
        let wait = Duration::from_nanos(until.saturating_sub(os::now()));
        match self.heard.recv_timeout(wait) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            // Both threads are gone, so all was heard; nothing will come.
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Closes its stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// How it ended, if it has; the rest of its group is ended with it.
    pub fn ended(&mut self) -> Option<End> {
        self.process.ended()
    }

    /// Ends it and what it started.
    pub fn kill(&mut self) {
        // A box ends what is in it; without one the bot may have started what is in no group of its own.
        if self.wrappers == 0 {
            for (pid, _) in self.strays() {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        self.process.kill();
    }

    /// What it has used, when a question has been open for so long (0: none), nanoseconds.
    pub fn used(&mut self, open: u64) -> Reading {
        self.meter.read(os::now(), open)
    }

    /// What it has written to stderr, the end of it if that was much.
    pub fn stderr(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// The most memory that the bot and the processes that it started and that live have used, bytes.
    pub fn peak_memory(&self) -> u64 {
        let root = self.process.pid();
        let mut generation = vec![root];
        for _ in 0..self.wrappers {
            generation = generation.into_iter().flat_map(os::children).collect();
        }
        let below = generation.iter().flat_map(|&pid| os::descendants(pid));
        let all: HashSet<Pid> = generation.iter().copied().chain(below).collect();
        let seen: u64 = all.into_iter().filter_map(os::tree::peak_memory).sum();
        self.peak.fetch_max(seen, Ordering::Relaxed);
        self.peak.load(Ordering::Relaxed)
    }

    /// The command lines of the processes that it left behind when it ended; to be asked before [`Talk::ended`] is.
    pub fn left(&mut self) -> Vec<String> {
        if let Some(boxed) = self.process.boxed() {
            boxed.listen();
            return boxed
                .ended()
                .map(|ended| ended.left.clone())
                .unwrap_or_default();
        }
        let strays = self.strays();
        strays.into_iter().map(|(_, command)| command).collect()
    }

    /// The processes that it started and that live, whatever session or group they are in, with their command lines.
    fn strays(&self) -> Vec<(Pid, String)> {
        os::tree::strays(self.process.pid(), &format!("{MARK}={}", self.mark))
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.kill();
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Waits until there is something to read, or so long.
fn readable(fd: &impl AsFd, within: Option<Duration>) -> bool {
    let within = within.map(timespec);
    loop {
        match poll(&mut [PollFd::new(fd, PollFlags::IN)], within.as_ref()) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => return false,
            Ok(_) => return true,
        }
    }
}

/// Reads until the pipe's end; `each` says whether to go on.
fn read_all(pipe: &OwnedFd, mut each: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while readable(pipe, None) {
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => return,
            Ok(count) if each(&buffer[..count]) => {}
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

fn listen(stdout: &OwnedFd, tell: &Sender<(u64, Heard)>) {
    read_all(stdout, |bytes| {
        tell.send((os::now(), Heard::Bytes(bytes.to_vec()))).is_ok()
    });
    let _ = tell.send((os::now(), Heard::StdoutEnd));
}

fn keep(stderr: &OwnedFd, kept: &Mutex<Vec<u8>>) {
    read_all(stderr, |bytes| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let over = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..over);
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            argv: vec!["/bin/sh".into(), "-c".into(), script.into()],
            dir: None,
            env: Vec::new(),
            log: None,
            max_stderr: 1 << 20,
            max_line: 1 << 20,
            max_output: 1 << 20,
            exit_us: 2_000_000,
            cores: 1,
            confine: None,
        }
    }

    fn soon() -> u64 {
        os::now() + 60_000_000_000
    }

    #[test]
    fn what_it_says_is_heard_and_its_end_too() {
        let mut talk =
            Talk::start(&shell("read line; echo \"$line\"; echo words >&2")).expect("sh");
        assert!(talk.send(b"hello\n", Duration::from_secs(60)));
        let mut said = Vec::new();
        let (mut closed, mut exited) = (false, false);
        while !(closed && exited) {
            match talk.next(soon()).expect("it ends").1 {
                Heard::Bytes(bytes) => said.extend(bytes),
                Heard::StdoutEnd => closed = true,
                Heard::Exited => exited = true,
            }
        }
        assert_eq!(said, b"hello\n");
        let end = End::Bot(crate::referee::FaultKind::Exit(0), String::new());
        assert_eq!(talk.ended(), Some(end));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    fn what_it_leaves_behind_is_found_and_ended() {
        // The child leaves the group; it says its number when it is there.
        let script = "setsid sh -c 'echo $$; exec sleep 300' & exit 0";
        let mut talk = Talk::start(&shell(script)).expect("sh");
        let (mut said, mut exited) = (Vec::new(), false);
        while !(exited && said.ends_with(b"\n")) {
            match talk.next(soon()).expect("it ends").1 {
                Heard::Bytes(bytes) => said.extend(bytes),
                Heard::Exited => exited = true,
                Heard::StdoutEnd => panic!("the child holds stdout"),
            }
        }
        let number = String::from_utf8(said).expect("a number");
        let strays = talk.strays();
        assert_eq!(strays.len(), 1, "{strays:?}");
        assert_eq!(strays[0].0.as_raw_nonzero().to_string(), number.trim());
        assert_eq!(talk.left(), ["sleep 300"]);
        talk.kill();
        while talk.next(soon()).expect("the pipe is closed").1 != Heard::StdoutEnd {}
    }
}
