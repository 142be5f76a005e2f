//! What the bot's process does to itself before it becomes the bot's program.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, getrlimit, set_dumpable_behavior,
    set_parent_process_death_signal, setpgid, setrlimit,
};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::{Failure, Features, Level, Order, Step, filter, walls};
use crate::bot::os::raw;
use crate::bot::sandbox::inside::tree;

/// The user and group to become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Become(pub(super) u32);

/// The most files that a bot may have open.
const OPEN_FILES: u64 = 256;
/// The most memory that it may lock.
const LOCKED: u64 = 64 << 10;
/// Address space for data that a process may ask for over twice its limit of memory. Runtimes ask for much more than they
/// use, so this is only the last resort, for one that takes memory faster than the watchdog looks.
const DATA_MARGIN: u64 = 256 << 20;
/// The supervisor's own processes, which count as the bot's in its namespace of users.
const OWN_PROCESSES: u64 = 2;
/// Where a limit of processes counts those of the whole user: room for what else that user starts meanwhile.
const OTHERS: u64 = 1000;

/// Becomes another user and group, with no further groups, for good. The bot's pipes become that user's too, so that programs
/// can open them by name (`/dev/stderr`).
pub(super) fn change_user(user: u32) -> Result<(), Failure> {
    let what = "changing the user";
    let (uid, gid) = (
        rustix::process::Uid::from_raw(user),
        rustix::process::Gid::from_raw(user),
    );
    for pipe in [stdin(), stdout(), stderr()] {
        rustix::fs::fchown(pipe, Some(uid), Some(gid)).step("handing over the bot's pipes")?;
    }
    set_thread_groups(&[]).step(what)?;
    set_thread_res_gid(gid, gid, gid).step(what)?;
    set_thread_res_uid(uid, uid, uid).step(what)
}

/// Puts on everything but the program itself.
pub(super) fn confine(
    order: &Order,
    mut features: Features,
    user: Option<Become>,
) -> Result<Features, Failure> {
    // A process group of its own: no signal that is meant for others.
    setpgid(None, None).step("making a process group")?;
    raw::reset_signals();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    drop_bounding_set();
    if let Some(Become(user)) = user {
        change_user(user)?;
    }
    // After the change of the user, which clears it.
    set_parent_process_death_signal(Some(Signal::KILL)).step("tying the bot to its supervisor")?;
    // The program that follows may be traced again anyway; now its own files in /proc are its own.
    set_dumpable_behavior(DumpableBehavior::Dumpable).step("opening the bot's process")?;
    // Where memory runs out the bot goes before anything else.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    limit_resources(order).step("setting limits (setrlimit)")?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let _ = clear_ambient_capability_set();
    set_capabilities(None, none).step("dropping capabilities")?;
    set_no_new_privs(true).step("forgoing new privileges")?;
    std::env::set_current_dir(&order.dir)
        .step(format!("entering the bot's folder {}", order.dir.display()))?;
    raw::close_on_exec_from(3).step("closing files (close_range)")?;
    features.landlock = walls::raise(order).into();
    features.seccomp =
        filter::apply(order.level == Level::Strict).step("filtering system calls")?;
    Ok(features)
}

/// Executes the program; returns only why that was not possible.
pub(super) fn execute(order: &Order) -> String {
    let Some((program, arguments)) = order.argv.split_first() else {
        return "an empty command".into();
    };
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .exec();
    format!("{program} could not be started: {error}")
}

/// So that no program may gain what this process gives up.
fn drop_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        // Who has no right to drop them has none of them either.
        let _ = remove_capability_from_bounding_set(capability);
    }
}

fn limit_resources(order: &Order) -> io::Result<()> {
    let data = order.memory.saturating_mul(2).saturating_add(DATA_MARGIN);
    for (resource, value) in [
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Memlock, LOCKED),
        (Resource::Msgqueue, 0),
        (Resource::Rtprio, 0),
        (Resource::Nice, 0),
        (Resource::Data, data),
        (Resource::Fsize, order.disk),
    ] {
        limit(resource, value)?;
    }
    match processes(order) {
        Some(count) => limit(Resource::Nproc, count),
        None => Ok(()),
    }
}

/// The limit counts all processes of a user in a namespace of users.
fn processes(order: &Order) -> Option<u64> {
    let own = u64::from(order.processes) + OWN_PROCESSES;
    if order.user.is_some() || order.level == Level::Strict {
        return Some(own);
    }
    // The user's other programs count too, so it only stops what grows faster than the watchdog looks.
    Some(tree::tasks_of_user()? + own + OTHERS)
}

/// Lowers a limit; one that is lower already stays.
fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum;
    let value = Some(most.map_or(value, |most| most.min(value)));
    Ok(setrlimit(
        resource,
        Rlimit {
            current: value,
            maximum: value,
        },
    )?)
}
