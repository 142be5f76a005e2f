//! The box of systems that have none of Linux's walls, at `limits`: a process that stands between the referee and the bot, and
//! holds what any Unix lets it hold.
//!
//! It gives the bot a listed environment, a private folder, limits of files (and of processes, where the bot has a user of its
//! own), and a process group; that group it freezes and ends, also when the referee is gone. It cannot hold the memory, nor find
//! a process that left the group.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};

use super::common::{self, Control, Step, bytes_below, words};
use super::order::{Ended, Failure, Features, Order, Report, Wish};
use crate::bot::os;
use crate::referee::Limit;

/// How often the supervisor looks at what the bot has written to disk.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// The most files that a bot may have open.
const OPEN_FILES: u64 = 256;

/// Runs a box. Returns its exit code, which says nothing: what matters went through the control socket.
pub fn run() -> u8 {
    let (control, order) = match common::receive() {
        Ok(received) => received,
        // It was not started by a referee, or that one is gone.
        Err(_) => return 2,
    };
    let control = Control(control);
    if let Err(failure) = look_after(&control, &order) {
        control.report(&Report::NoBox(failure));
        return 1;
    }
    0
}

fn look_after(control: &Control, order: &Order) -> Result<(), Failure> {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // What hakem itself was started with, before the limit of open files hides it.
    os::close_on_exec_from(3);
    limit_resources(order).step("setting limits (setrlimit)")?;
    if let Some(private) = &order.private {
        common::make_private(private, order.user)?;
    }
    control.report(&Report::Starting(Features {
        landlock: "none".into(),
        own_user: order.user.is_some(),
        ..Features::default()
    }));
    let ended = match start(order) {
        Ok(bot) => {
            control.report(&Report::Group(Pid::from_child(&bot).as_raw_nonzero().get()));
            supervise(control, order, bot)?
        }
        Err(why) => {
            control.report(&Report::NoProgram(why));
            Some(Ended {
                status: Some(127),
                ..Ended::default()
            })
        }
    };
    if let Some(ended) = ended {
        control.report(&Report::Ended(ended));
    }
    if let Some(private) = &order.private {
        // Links are removed, never what they point to. What cannot be removed stays in the system's folder for such.
        let _ = std::fs::remove_dir_all(private);
    }
    Ok(())
}

/// Starts the bot, in a process group of its own.
fn start(order: &Order) -> Result<Child, String> {
    let (program, arguments) = order.argv.split_first().ok_or("an empty command")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.dir)
        .process_group(0);
    if let Some(user) = order.user {
        // The referee's further groups are given up with that.
        command.uid(user).gid(user);
    }
    command
        .spawn()
        .map_err(|error| format!("{program} could not be started: {error}"))
}

/// Follows the referee's wishes until the bot has ended, which it tells how, or everything is to end.
fn supervise(control: &Control, order: &Order, mut bot: Child) -> Result<Option<Ended>, Failure> {
    let group = Pid::from_child(&bot);
    let end = os::end_of(group).and_then(|end| common::let_go_of_pipes().map(|()| end));
    let end = end
        .inspect_err(|_| signal(group, Signal::KILL))
        .step("looking after the bot")?;
    let mut ended = Ended::default();
    let by_itself = loop {
        if os::has_ended(&end) {
            break true;
        }
        if !wait(control, &end) {
            if let Some(private) = &order.private
                && bytes_below(private) > order.disk
            {
                ended.limit = Some(Limit::Disk);
                break false;
            }
        } else if !obey(control, group) {
            signal(group, Signal::KILL);
            let _ = bot.wait();
            return Ok(None);
        }
    };
    // Its number is its own until it is waited for, and so is that of its group.
    signal(group, Signal::KILL);
    let status = bot.wait().step("waiting for the bot")?;
    if by_itself {
        (ended.status, ended.signal) = (status.code(), status.signal());
        let full = || {
            let private = order.private.as_ref();
            private.is_some_and(|private| bytes_below(private) >= order.disk)
        };
        if !status.success() && (status.signal() == Some(libc::SIGXFSZ) || full()) {
            ended.limit = Some(Limit::Disk);
        }
    }
    if let Some(limit) = ended.limit {
        ended.note = words(limit, order);
    }
    Ok(Some(ended))
}

/// Waits until the referee wishes something or the bot has ended; false if neither came.
fn wait(control: &Control, end: &OwnedFd) -> bool {
    let mut files = [
        PollFd::new(&control.0, PollFlags::IN),
        PollFd::new(end, PollFlags::IN),
    ];
    poll(&mut files, Some(&LOOK)) != Ok(0)
}

/// Does what the referee wishes, if anything; false if everything is to end.
fn obey(control: &Control, group: Pid) -> bool {
    loop {
        let mut wish = [0];
        match recv(&control.0, &mut wish, RecvFlags::DONTWAIT) {
            // The referee is gone.
            Ok((0, _)) => return false,
            Ok(_) if wish[0] == Wish::Freeze as u8 => signal(group, Signal::STOP),
            Ok(_) if wish[0] == Wish::Thaw as u8 => signal(group, Signal::CONT),
            Ok(_) => return false,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
}

fn signal(group: Pid, signal: Signal) {
    // Nobody may be left in it.
    let _ = kill_process_group(group, signal);
}

fn limit_resources(order: &Order) -> io::Result<()> {
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, OPEN_FILES)?;
    limit(Resource::Fsize, order.disk)?;
    // It counts all processes of a user.
    if order.user.is_some() {
        limit(Resource::Nproc, u64::from(order.processes))?;
    }
    Ok(())
}

/// Lowers a limit; one that is lower already stays.
fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum;
    let value = Some(most.map_or(value, |most| most.min(value)));
    let limit = Rlimit {
        current: value,
        maximum: value,
    };
    Ok(setrlimit(resource, limit)?)
}
