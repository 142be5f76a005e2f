//! The referee's side of a box: starts it, and talks to it.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, recv, send, sendmsg};
use rustix::process::Pid;

use super::order::{Ended, Failure, Features, Order, Report, Wish};
use super::slots::{Slot, Slots};
use super::{BOX, Level, QUIET};

/// How often, and how long each time, a wish waits for room in the socket.
const PATIENCE: usize = 50;
const WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// The longest report.
const REPORT: usize = 1 << 16;

/// How a bot is confined: all but what differs from start to start.
#[derive(Clone, Debug)]
pub struct Confine {
    /// This program.
    pub own: PathBuf,
    /// What the box is told. Its place (user, cgroups, private folder) is filled in at each start.
    pub order: Order,
    /// Whether the bot is frozen outside its turns.
    pub freezes: bool,
    /// The numbers of boxes.
    pub slots: Arc<Slots>,
}

/// A started box, whose bot may not be there yet.
#[derive(Debug)]
pub struct Boxed {
    control: OwnedFd,
    /// A report that has come in part.
    heard: Vec<u8>,
    features: Option<Features>,
    group: Option<Pid>,
    no_program: Option<String>,
    no_box: Option<Failure>,
    ended: Option<Ended>,
    freezes: bool,
    frozen: bool,
    /// Given back when the box is gone.
    slot: Slot,
}

impl Confine {
    /// How many generations of processes, from the box on, are the referee's own.
    pub fn wrappers(&self) -> u32 {
        match self.order.level {
            Level::None => 0,
            Level::Limits => 1,
            Level::Strict => 2,
        }
    }

    /// Starts a box, whose stdout (given) and stderr are the bot's: the process with the latter, and the bot's stdin.
    ///
    /// # Errors
    /// The system's.
    pub fn start(&self, stdout: Stdio) -> io::Result<(Child, OwnedFd, Boxed)> {
        let slot = self.slots.take(&self.order)?;
        let mut order = self.order.clone();
        slot.fill(&mut order);
        let (own, theirs) = UnixStream::pair()?;
        let (own, theirs) = (OwnedFd::from(own), OwnedFd::from(theirs));
        let (reads, stdin) = io::pipe()?;
        // No `pre_exec`, and no file that is inherited but stdin, stdout and stderr: what is started at the same time by
        // another thread would inherit it too. The rest comes through the socket.
        let text = sealed(&serde_json::to_vec(&order)?)?;
        let mut child = Command::new(&self.own)
            .arg0("hakem")
            .arg(BOX)
            // For people who look at the list of processes: whose box it is.
            .arg(std::process::id().to_string())
            .env_clear()
            .process_group(0)
            .stdin(Stdio::from(theirs))
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()?;
        let told = pass(&own, [text.as_fd(), reads.as_fd()])
            .and_then(|()| Ok(rustix::io::ioctl_fionbio(&own, true)?));
        if let Err(error) = told {
            // A box that was not told anything finds its socket closed and ends.
            drop(own);
            let _ = child.wait();
            return Err(error);
        }
        let boxed = Boxed {
            control: own,
            heard: Vec::new(),
            features: None,
            group: None,
            no_program: None,
            no_box: None,
            ended: None,
            freezes: self.freezes,
            frozen: false,
            slot,
        };
        Ok((child, stdin.into(), boxed))
    }
}

/// A file without a name that holds this.
#[cfg(all(target_os = "linux", not(hakem_portable)))]
fn sealed(text: &[u8]) -> io::Result<File> {
    let file = rustix::fs::memfd_create("order", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(text)?;
    Ok(file)
}

#[cfg(not(all(target_os = "linux", not(hakem_portable))))]
fn sealed(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    Ok(file)
}

/// Sends two files.
fn pass(socket: &OwnedFd, files: [BorrowedFd<'_>; 2]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(socket, &[IoSlice::new(b"o")], &mut ancillary, QUIET)?;
    Ok(())
}

impl Boxed {
    /// The counter of the processor time of its cgroup, where it has one.
    pub fn usage(&self) -> Option<File> {
        File::open(self.slot.usage()?).ok()
    }

    /// Becomes readable when the box has something to report.
    pub fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// The walls that stand, once they do.
    pub fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }

    /// The bot's process group, where it does not end with the box by itself.
    pub fn group(&self) -> Option<Pid> {
        self.group
    }

    /// Why the program could not be executed, if so.
    pub fn no_program(&self) -> Option<&str> {
        self.no_program.as_deref()
    }

    /// Why there is no box, if so.
    pub fn no_box(&self) -> Option<&Failure> {
        self.no_box.as_ref()
    }

    /// How the bot ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Takes what the box has reported; false when it will report no more.
    pub fn listen(&mut self) -> bool {
        let mut text = vec![0; REPORT];
        loop {
            let length = match recv(&self.control, &mut text, RecvFlags::empty()) {
                Ok((0, _)) => return false,
                Ok((length, _)) => length,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            };
            self.heard.extend_from_slice(&text[..length]);
            let heard = std::mem::take(&mut self.heard);
            for line in heard.split_inclusive(|&byte| byte == b'\n') {
                match serde_json::from_slice(line) {
                    Ok(Report::Starting(features)) => self.features = Some(features),
                    Ok(Report::Group(group)) => self.group = Pid::from_raw(group),
                    Ok(Report::NoProgram(why)) => self.no_program = Some(why),
                    Ok(Report::NoBox(failure)) => self.no_box = Some(failure),
                    Ok(Report::Ended(ended)) => self.ended = Some(ended),
                    // Only a box writes here, so the rest is still to come.
                    Err(_) => self.heard = line.to_vec(),
                }
            }
        }
    }

    /// Ends the bot and all its processes. False if the box does not listen any more.
    pub fn end(&self) -> bool {
        self.wish(Wish::End)
    }

    /// Freezes the bot until its next turn, if it is to be frozen.
    pub fn freeze(&mut self) {
        if self.freezes && !self.frozen {
            self.frozen = self.wish(Wish::Freeze);
        }
    }

    /// Lets the bot go on.
    pub fn thaw(&mut self) {
        if self.frozen {
            self.frozen = false;
            self.wish(Wish::Thaw);
        }
    }

    /// Sends a wish. A socket holds only a few that were not read yet; then a freeze is left out, and anything else waits for
    /// room: a supervisor that is starved must not miss that the bot is to go on.
    fn wish(&self, wish: Wish) -> bool {
        for _ in 0..PATIENCE {
            match send(&self.control, &[wish as u8], QUIET) {
                Ok(_) => return true,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if wish != Wish::Freeze => {
                    let mut room = [PollFd::new(&self.control, PollFlags::OUT)];
                    let _ = rustix::event::poll(&mut room, Some(&WAIT));
                }
                Err(_) => return false,
            }
        }
        false
    }
}
