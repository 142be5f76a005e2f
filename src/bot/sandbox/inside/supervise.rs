//! The supervisor: follows the referee's wishes, keeps the limits that the system does not keep, and ends everything.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, pidfd_open,
    wait,
};

use super::tree::{self, Use};
use super::{Control, Failure, Order, Step};
use crate::bot::sandbox::Level;
use crate::bot::sandbox::common::{bytes_below, megabytes, words};
use crate::bot::sandbox::order::{Ended, Report, Wish};
use crate::referee::Limit;

/// How often the supervisor looks at what the bot uses, and takes in orphans; nanoseconds.
const LOOK: i64 = 50_000_000;
/// How often it tries to stop or end processes that go on making others.
const TRIES: usize = 2000;
/// The wait between tries where the first few were not enough, nanoseconds.
const PAUSE: i64 = 1_000_000;

/// The processes of a bot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tree {
    /// All of this process's namespace, whose process 1 it is.
    Namespace,
    /// All below this process.
    Below(Pid),
}

impl Tree {
    fn members(self) -> Vec<Pid> {
        match self {
            Tree::Namespace => tree::others(),
            Tree::Below(pid) => tree::below(pid),
        }
    }

    /// Sends a signal to all of them.
    fn signal(self, signal: Signal) {
        match self {
            // From process 1 the number of this group stands for everybody else.
            Tree::Namespace => {
                let _ = kill_process_group(Pid::INIT, signal);
            }
            Tree::Below(_) => {
                for pid in self.members() {
                    let _ = kill_process(pid, signal);
                }
            }
        }
    }

    /// Stops all of them, also those that come into being meanwhile.
    fn freeze(self) {
        self.signal(Signal::STOP);
        if let Tree::Below(_) = self {
            let mut before = self.members().len();
            for _ in 0..TRIES {
                self.signal(Signal::STOP);
                let now = self.members().len();
                if now == before {
                    return;
                }
                before = now;
            }
        }
    }

    /// Ends all of them, until none is left. Those of a namespace end with the caller, its process 1.
    fn end(self) {
        if let Tree::Namespace = self {
            return;
        }
        for tried in 0..TRIES {
            if self.members().is_empty() {
                return;
            }
            if tried > 10 {
                let _ = rustix::thread::nanosleep(&Timespec {
                    tv_sec: 0,
                    tv_nsec: PAUSE,
                });
            }
            // One that stands still makes no other.
            self.signal(Signal::STOP);
            self.signal(Signal::KILL);
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        }
    }
}

/// The counters of cgroups with what they showed at first.
pub(super) type Watched = Vec<(File, String, Limit, u64)>;

/// Opens the counters, which are out of sight later.
pub(super) fn open_events(order: &Order) -> Result<Watched, Failure> {
    let mut watched = Vec::new();
    for events in &order.events {
        let mut file = File::open(&events.file)
            .step(format!("reading the cgroup's {}", events.file.display()))?;
        let count = count(&mut file, &events.key);
        watched.push((file, events.key.clone(), events.limit, count));
    }
    Ok(watched)
}

/// A number of a file with a name and a number a line.
fn count(file: &mut File, key: &str) -> u64 {
    let mut text = String::new();
    let read = rustix::fs::seek(&*file, rustix::fs::SeekFrom::Start(0))
        .map_err(std::io::Error::from)
        .and_then(|_| file.read_to_string(&mut text));
    if read.is_err() {
        return 0;
    }
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == key)
        .and_then(|(_, number)| number.trim().parse().ok())
        .unwrap_or(0)
}

/// Looks after one bot.
pub(super) struct Supervisor<'a> {
    pub(super) control: &'a Control,
    pub(super) order: &'a Order,
    pub(super) bot: Pid,
    pub(super) tree: Tree,
    pub(super) events: Watched,
}

impl Supervisor<'_> {
    /// Until the bot has ended, or the referee wishes so or is gone. Returns an exit code.
    pub(super) fn run(mut self) -> u8 {
        let mut ended = Ended::default();
        let Ok(pidfd) = pidfd_open(self.bot, PidfdFlags::empty()) else {
            self.tree.end();
            return 1;
        };
        let status = loop {
            let news = self.wait(&pidfd);
            if news.wishes && !self.obey() {
                self.tree.end();
                return 0;
            }
            if news.ended
                && let Some(status) = self.reap()
            {
                break Some(status);
            }
            if news.look {
                // Orphans that have ended; and the bot, if it is among them.
                if let Some(status) = self.reap() {
                    break Some(status);
                }
                if let Some((limit, note)) = self.look() {
                    ended.limit = Some(limit);
                    ended.note = note;
                    break None;
                }
            }
        };
        if let Some(status) = status {
            ended.left = tree::commands(&self.tree.members());
            ended.status = status.exit_status();
            ended.signal = status.terminating_signal();
            if ended.limit.is_none() && ended.status != Some(0) {
                self.after_the_end(&mut ended);
            }
        }
        self.tree.end();
        self.control.report(&Report::Ended(ended));
        0
    }

    /// Waits for something to do.
    fn wait(&self, pidfd: &OwnedFd) -> News {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK,
        };
        let mut files = [
            PollFd::new(&self.control.0, PollFlags::IN),
            PollFd::new(pidfd, PollFlags::IN),
        ];
        match poll(&mut files, Some(&timeout)) {
            Ok(0) => News {
                look: true,
                ..News::default()
            },
            Ok(_) => News {
                wishes: !files[0].revents().is_empty(),
                ended: !files[1].revents().is_empty(),
                look: false,
            },
            Err(_) => News::default(),
        }
    }

    /// Does what the referee wishes; false if everything is to end. Of several wishes that wait only the last counts.
    fn obey(&mut self) -> bool {
        let mut last = 0;
        loop {
            let mut wish = [0];
            match recv(&self.control.0, &mut wish, RecvFlags::DONTWAIT) {
                // The referee is gone.
                Ok((0, _)) => return false,
                Ok(_) if wish[0] == Wish::End as u8 => return false,
                Ok(_) => last = wish[0],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return false,
            }
        }
        if last == Wish::Freeze as u8 {
            self.tree.freeze();
        } else if last == Wish::Thaw as u8 {
            self.tree.signal(Signal::CONT);
        }
        true
    }

    /// Takes in what has ended; the bot's status if it is among it.
    fn reap(&self) -> Option<WaitStatus> {
        let mut bot = None;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.bot {
                bot = Some(status);
            }
        }
        bot
    }

    /// Whether a limit is passed that the supervisor keeps.
    fn look(&mut self) -> Option<(Limit, String)> {
        if let Some(limit) = self.counted() {
            return Some((limit, words(limit, self.order)));
        }
        let order = self.order;
        let used = self.used();
        if !order.cgroup_memory && used.memory > order.memory {
            let note = format!(
                "{}, {} were in use",
                words(Limit::Memory, order),
                megabytes(used.memory)
            );
            return Some((Limit::Memory, note));
        }
        // Namespaces have a limit of their own, which refuses.
        if order.level != Level::Strict && used.tasks > u64::from(order.processes) {
            return Some((Limit::Processes, words(Limit::Processes, order)));
        }
        if let Some(private) = &order.private
            && bytes_below(private) > order.disk
        {
            return Some((Limit::Disk, words(Limit::Disk, order)));
        }
        None
    }

    /// What the bot's processes use, as far as anybody needs to know.
    fn used(&self) -> Use {
        if self.order.cgroup_memory && self.order.level == Level::Strict {
            return Use::default();
        }
        tree::measure(&self.tree.members(), self.order.memory)
    }

    /// A limit that a cgroup kept by ending a process. That of processes only refuses.
    fn counted(&mut self) -> Option<Limit> {
        self.events
            .iter_mut()
            .filter(|watched| watched.2 == Limit::Memory)
            .find_map(|(file, key, limit, before)| (count(file, key) > *before).then_some(*limit))
    }

    /// Whether the bot ran into a limit before it ended with an error.
    fn after_the_end(&mut self, ended: &mut Ended) {
        let order = self.order;
        let refused = self
            .events
            .iter_mut()
            .find_map(|(file, key, limit, before)| (count(file, key) > *before).then_some(*limit));
        let limit = if refused.is_some() {
            refused
        } else if ended.signal == Some(libc::SIGXFSZ) || disk_is_full(order) {
            Some(Limit::Disk)
        } else {
            // The bot is gone itself; its children are not.
            let left = tree::measure(&self.tree.members(), u64::MAX).tasks;
            (left + 1 >= u64::from(order.processes)).then_some(Limit::Processes)
        };
        if let Some(limit) = limit {
            ended.limit = Some(limit);
            ended.note = words(limit, order);
        }
    }
}

/// What came while the supervisor waited.
#[derive(Default)]
struct News {
    wishes: bool,
    ended: bool,
    look: bool,
}

/// Whether the private folders have no room left.
fn disk_is_full(order: &Order) -> bool {
    if let Some(private) = &order.private {
        return bytes_below(private) >= order.disk;
    }
    rustix::fs::statvfs("/tmp").is_ok_and(|room| room.f_bfree == 0 || room.f_ffree == 0)
}
