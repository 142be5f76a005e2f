//! Landlock: a second wall at `strict`, and the wall round files, signals and TCP at `limits`.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::stdio::{stderr, stdin, stdout};

use super::files::{DEVICES, PROGRAMS};
use super::{Level, Order};

/// The newest version whose features are asked for; a kernel that knows fewer gives those.
const NEWEST: ABI = ABI::V6;

/// Raises the wall and says how much of it stands: `full`, `part` or `none`.
pub(super) fn raise(order: &Order) -> &'static str {
    match restrict(order) {
        Ok(RulesetStatus::FullyEnforced) => "full",
        Ok(RulesetStatus::PartiallyEnforced) => "part",
        Ok(RulesetStatus::NotEnforced) | Err(_) => "none",
    }
}

fn restrict(order: &Order) -> Result<RulesetStatus, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let mut allow = |path: &Path, access: BitFlags<AccessFs>| -> Result<(), RulesetError> {
        // What is not there needs no rule.
        let Ok(file) = PathFd::new(path) else {
            return Ok(());
        };
        let access = if path.is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        (&mut rules).add_rule(PathBeneath::new(file, access))?;
        Ok(())
    };
    if order.level == Level::Strict {
        // All that is there was put there for the bot.
        allow(Path::new("/"), read)?;
        allow(Path::new("/tmp"), all)?;
    } else {
        let programs = PROGRAMS.iter().map(PathBuf::from);
        let shown = order.shown.iter().map(|shown| shown.from.clone());
        let users = [
            "/etc/passwd",
            "/etc/group",
            "/etc/nsswitch.conf",
            "/etc/hosts",
        ];
        for path in programs
            .chain(order.settings.iter().cloned())
            .chain(users.iter().map(PathBuf::from))
            .chain(shown)
        {
            allow(&path, read)?;
        }
        if let Some(private) = &order.private {
            allow(private, all)?;
        }
        allow(Path::new("/sys/devices/system/cpu"), read)?;
        allow(Path::new("/sys/fs/cgroup"), read)?;
    }
    // A process may write to a few of its own files there; the system looks after the others.
    allow(Path::new("/proc"), read | AccessFs::WriteFile)?;
    allow(Path::new("/dev/shm"), all)?;
    for name in DEVICES {
        allow(&Path::new("/dev").join(name), device)?;
    }
    // A program may open its own stdin, stdout and stderr by name. Of unnamed pipes no rule is needed, nor possible.
    let pipes = AccessFs::ReadFile | AccessFs::WriteFile;
    for pipe in [stdin(), stdout(), stderr()] {
        let _ = (&mut rules).add_rule(PathBeneath::new(pipe, pipes));
    }
    Ok(rules.restrict_self()?.ruleset)
}
