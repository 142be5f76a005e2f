//! The box: builds the walls, starts the bot within them, and stays as its supervisor. It is one process with one thread,
//! started by the referee with a control socket as its stdin; its order and the bot's stdin come through that.
//!
//! At `strict` there are three processes: the box itself only waits; its child is process 1 of the bot's namespace of
//! processes and supervises; the grandchild becomes the bot. At `limits` the box itself supervises.

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, waitpid,
};
use rustix::thread::UnshareFlags;

use super::Level;
use super::common::{Control, Step, let_go_of_pipes, make_private, receive};
use super::order::{Failure, Features, Order, Report};
use crate::bot::os::raw;
use confine::Become;
use supervise::{Supervisor, Tree};

mod confine;
mod files;
mod filter;
mod supervise;
mod tree;
mod walls;

/// The bot's user and group within its namespace of users.
const INNER_ID: u32 = 1000;

/// Runs a box. Returns its exit code, which says nothing: what matters went through the control socket.
pub fn run() -> u8 {
    let (control, order) = match receive() {
        Ok(received) => received,
        // It was not started by a referee, or that one is gone.
        Err(_) => return 2,
    };
    let control = Control(control);
    raw::leave_terminal();
    let result = match order.level {
        Level::Strict => strict(&control, &order),
        Level::None | Level::Limits => limits(&control, &order),
    };
    result.unwrap_or_else(|failure| {
        control.report(&Report::NoBox(failure));
        1
    })
}

fn join_cgroups(order: &Order) -> Result<(), Failure> {
    for folder in &order.cgroups {
        std::fs::write(folder.join("cgroup.procs"), "0")
            .step(format!("joining the cgroup {}", folder.display()))?;
    }
    Ok(())
}

/// Others of this user shall not trace the box, nor read what it holds.
fn shut() -> Result<(), Failure> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hiding the box")
}

// ---- limits -----------------------------------------------------------------------------------------------------

fn limits(control: &Control, order: &Order) -> Result<u8, Failure> {
    join_cgroups(order)?;
    let events = supervise::open_events(order)?;
    // Orphans of the bot become children of this process, wherever they hide.
    set_child_subreaper(Some(getpid())).step("taking in orphans")?;
    shut()?;
    if let Some(private) = &order.private {
        make_private(private, order.user)?;
    }
    let features = Features {
        own_user: order.user.is_some(),
        ..Features::default()
    };
    let bot = match raw::fork().step("making the bot's process")? {
        None => start_bot(control, order, features, order.user.map(Become)),
        Some(bot) => bot,
    };
    let_go_of_pipes().step("letting go of the bot's pipes")?;
    let supervisor = Supervisor {
        control,
        order,
        bot,
        tree: Tree::Below(getpid()),
        events,
    };
    let code = supervisor.run();
    if let Some(private) = &order.private {
        // Links are removed, never what they point to. What cannot be removed stays in the system's folder for such.
        let _ = std::fs::remove_dir_all(private);
    }
    Ok(code)
}

// ---- strict -----------------------------------------------------------------------------------------------------

fn strict(control: &Control, order: &Order) -> Result<u8, Failure> {
    join_cgroups(order)?;
    let events = supervise::open_events(order)?;
    let mut spaces = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if order.user.is_none() {
        // Who is not root may have the other namespaces only within one of users.
        spaces |= UnshareFlags::NEWUSER;
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    raw::unshare(spaces).step("making namespaces (unshare)")?;
    if order.user.is_none() {
        map_user(user.as_raw(), group.as_raw())?;
    }
    shut()?;
    let init = match raw::fork().step("making the first process of the namespace")? {
        None => {
            let code = first(control, order, events).unwrap_or_else(|failure| {
                control.report(&Report::NoBox(failure));
                1
            });
            leave(code);
        }
        Some(init) => init,
    };
    let_go_of_pipes().step("letting go of the bot's pipes")?;
    wait_for(init);
    Ok(0)
}

fn wait_for(process: Pid) {
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(process), WaitOptions::empty()) {}
}

/// Maps this process's user to the inner one; no other exists inside.
fn map_user(user: u32, group: u32) -> Result<(), Failure> {
    let write = |file: &str, text: String| {
        std::fs::write(format!("/proc/self/{file}"), text)
            .step(format!("mapping the user (/proc/self/{file})"))
    };
    write("setgroups", "deny".into())?;
    write("uid_map", format!("{INNER_ID} {user} 1"))?;
    write("gid_map", format!("{INNER_ID} {group} 1"))
}

/// Process 1 of the namespace. When it ends, the system ends all others in it.
fn first(control: &Control, order: &Order, events: supervise::Watched) -> Result<u8, Failure> {
    // The second line of defence: the first is that the control socket closes when the referee is gone.
    let die_with_parent =
        || set_parent_process_death_signal(Some(Signal::KILL)).step("tying the box to the referee");
    die_with_parent()?;
    files::build(order)?;
    // Whatever it is, it is not the host's.
    let _ = rustix::system::sethostname(b"hakem");
    let mut names = vec!["mnt", "pid", "net", "ipc", "uts", "cgroup"];
    match order.user {
        None => names.push("user"),
        Some(user) => {
            confine::change_user(user)?;
            // The system clears it with every change of the user.
            die_with_parent()?;
            // The map's file is the process's own only while it may be traced; nobody is there yet to do so.
            set_dumpable_behavior(DumpableBehavior::Dumpable).step("opening the box")?;
            // One more wall, where it may be had.
            if raw::unshare(UnshareFlags::NEWUSER).is_ok() {
                map_user(user, user)?;
                names.push("user");
            }
        }
    }
    shut()?;
    let features = Features {
        namespaces: names.into_iter().map(Into::into).collect(),
        own_user: order.user.is_some(),
        ..Features::default()
    };
    let bot = match raw::fork().step("making the bot's process")? {
        None => start_bot(control, order, features, None),
        Some(bot) => bot,
    };
    let_go_of_pipes().step("letting go of the bot's pipes")?;
    let supervisor = Supervisor {
        control,
        order,
        bot,
        tree: Tree::Namespace,
        events,
    };
    Ok(supervisor.run())
}

/// Turns this process, the last copy, into the bot.
fn start_bot(control: &Control, order: &Order, features: Features, user: Option<Become>) -> ! {
    let report = match confine::confine(order, features, user) {
        Ok(features) => {
            control.report(&Report::Starting(features));
            Report::NoProgram(confine::execute(order))
        }
        Err(failure) => Report::NoBox(failure),
    };
    control.report(&report);
    leave(127);
}

/// Ends a copy of the box, which must not go on as the box does.
#[expect(clippy::exit, reason = "a copy has no way back to `main`")]
fn leave(code: u8) -> ! {
    std::process::exit(i32::from(code));
}
