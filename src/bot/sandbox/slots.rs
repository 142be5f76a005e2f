//! The numbers of boxes that are there at the same time. With its number a box has a user, cgroups and a private folder that
//! no other has.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(all(target_os = "linux", not(hakem_portable)))]
use super::cgroup::{Cgroups, Group};
use super::order::Order;

/// The first of the users that bots run as where the referee is root. No system gives numbers from 0x70000000 on to
/// anybody, and they are valid for all programs.
const FIRST_USER: u32 = 0x7000_0000;
/// The first where only few numbers are valid, as in a container of an ordinary user.
const FIRST_USER_OF_FEW: u32 = 60_000;
/// Boxes of one run that have users of their own.
const USERS_A_RUN: u32 = 1024;
/// Runs at the same time whose users differ.
const RUNS: u32 = 1 << 16;

/// The beginning of the names of the runs' folders; their process ids follow.
const FOLDER: &str = "hakem-run-";

/// The first user of the bots of this run; `None` where the referee may not become others.
fn first_user(run: u32) -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    // Within a namespace of users, as in a container of an ordinary user, only some numbers stand for anybody.
    let groups = std::fs::read_to_string("/proc/self/setgroups");
    if groups.is_ok_and(|word| word.trim() == "deny") {
        return None;
    }
    let wanted = FIRST_USER + run * USERS_A_RUN;
    let is_mapped = |first: u32| {
        ["uid_map", "gid_map"].iter().all(|map| {
            std::fs::read_to_string(format!("/proc/self/{map}"))
                // Where there are no such namespaces all numbers are valid.
                .map_or(true, |map| holds(&map, first, USERS_A_RUN))
        })
    };
    [wanted, FIRST_USER_OF_FEW]
        .into_iter()
        .find(|&first| is_mapped(first))
}

/// Whether a map of users holds all of these numbers.
fn holds(map: &str, first: u32, count: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().flat_map(str::parse::<u64>);
        let (Some(inner), Some(_), Some(length)) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        inner <= u64::from(first) && u64::from(first) + u64::from(count) <= inner + length
    })
}

/// Removes folders of runs that were killed. What cannot be removed stays in the system's folder for such.
fn sweep(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(FOLDER))
            .and_then(|rest| rest.split('-').next());
        let is_own = || {
            use std::os::unix::fs::MetadataExt;
            entry
                .metadata()
                .is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
        };
        if let Some(pid) = pid
            && pid.parse().is_ok_and(crate::bot::os::is_dead)
            && is_own()
        {
            open_again(&entry.path());
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Gives back the right to write to folders of which it was taken, so that they can be removed.
pub fn open_again(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_again(&entry.path());
        }
    }
}

/// Gives out numbers.
#[derive(Debug)]
pub struct Slots {
    state: Mutex<State>,
    first_user: Option<u32>,
    /// Holds the private folders at `limits`.
    folder: tempfile::TempDir,
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    cgroups: Option<Cgroups>,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<bool>,
    /// Starts so far: no private folder has the name of an earlier one.
    starts: u64,
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    groups: Vec<Option<Group>>,
}

/// A number that is taken until this is dropped.
#[derive(Debug)]
pub struct Slot {
    index: usize,
    private: PathBuf,
    slots: Arc<Slots>,
}

impl Slots {
    /// Numbers for this run.
    ///
    /// # Errors
    /// The system's, if there is no place for private folders.
    pub fn new() -> io::Result<Arc<Slots>> {
        let temporary = std::env::temp_dir();
        sweep(&temporary);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{FOLDER}{}-", std::process::id()))
            .tempdir_in(&temporary)?;
        // Other users may pass through to what is theirs, and see nothing else.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(folder.path(), mode)?;
        let run = std::process::id() % RUNS;
        Ok(Arc::new(Slots {
            state: Mutex::default(),
            first_user: first_user(run),
            folder,
            #[cfg(all(target_os = "linux", not(hakem_portable)))]
            cgroups: Cgroups::find(),
        }))
    }

    /// Whether each bot has a user of its own.
    pub fn own_users(&self) -> bool {
        self.first_user.is_some()
    }

    /// A folder of this run, for files that are not kept.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What holds the limit of memory, in a word, and that of processes.
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    pub fn cgroup_limits(&self) -> (bool, bool) {
        self.cgroups
            .as_ref()
            .map_or((false, false), |groups| (groups.memory(), groups.pids()))
    }

    /// What holds the limit of memory, in a word, and that of processes.
    #[cfg(not(all(target_os = "linux", not(hakem_portable))))]
    pub fn cgroup_limits(&self) -> (bool, bool) {
        (false, false)
    }

    /// Whether a cgroup counts the processor time.
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    pub fn cgroup_time(&self) -> bool {
        self.cgroups.as_ref().is_some_and(Cgroups::time)
    }

    /// Whether a cgroup counts the processor time.
    #[cfg(not(all(target_os = "linux", not(hakem_portable))))]
    pub fn cgroup_time(&self) -> bool {
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What it guards is whole after every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a number, and sets up its cgroups for this bot.
    ///
    /// # Errors
    /// The system's; or if more boxes are wanted than there are users for.
    pub fn take(self: &Arc<Slots>, order: &Order) -> io::Result<Slot> {
        let mut state = self.state();
        let index = state.taken.iter().position(|taken| !taken);
        let index = index.unwrap_or_else(|| {
            state.taken.push(false);
            #[cfg(all(target_os = "linux", not(hakem_portable)))]
            state.groups.push(None);
            state.taken.len() - 1
        });
        if self.first_user.is_some() && index >= USERS_A_RUN as usize {
            return Err(io::Error::other(format!(
                "more than {USERS_A_RUN} bots at once"
            )));
        }
        #[cfg(all(target_os = "linux", not(hakem_portable)))]
        if let Some(cgroups) = &self.cgroups {
            let group = match &mut state.groups[index] {
                Some(group) => group,
                none => none.insert(cgroups.make(index)?),
            };
            group.limit(order.memory, order.processes)?;
        }
        #[cfg(not(all(target_os = "linux", not(hakem_portable))))]
        let _ = order;
        state.taken[index] = true;
        state.starts += 1;
        Ok(Slot {
            index,
            private: self.folder.path().join(format!("{}", state.starts)),
            slots: self.clone(),
        })
    }
}

impl Slot {
    /// The file in which its cgroup counts processor time.
    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    pub fn usage(&self) -> Option<PathBuf> {
        let state = self.slots.state();
        state.groups[self.index].as_ref().and_then(Group::usage)
    }

    /// The file in which its cgroup counts processor time.
    #[cfg(not(all(target_os = "linux", not(hakem_portable))))]
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub fn usage(&self) -> Option<PathBuf> {
        None
    }

    /// Fills in what belongs to this number.
    pub fn fill(&self, order: &mut Order) {
        order.user = self.slots.first_user.map(|user| user + self.index as u32);
        if order.level != super::Level::Strict {
            order.private = Some(self.private.clone());
            let private = self.private.display().to_string();
            for name in ["HOME", "TMPDIR"] {
                // What the event lists goes before.
                if !order.env.iter().any(|(known, _)| known == name) {
                    order.env.push((name.into(), private.clone()));
                }
            }
        }
        #[cfg(all(target_os = "linux", not(hakem_portable)))]
        if let Some(group) = &self.slots.state().groups[self.index] {
            group.fill(order);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.state().taken[self.index] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_users_are_read() {
        assert!(holds(
            "         0          0 4294967295\n",
            FIRST_USER,
            1024
        ));
        let rootless = "0 1000 1\n1 100000 65536\n";
        assert!(!holds(rootless, FIRST_USER, 1024));
        assert!(holds(rootless, FIRST_USER_OF_FEW, 1024));
        assert!(!holds("0 1000 1\n", FIRST_USER_OF_FEW, 1));
        assert!(!holds("", 0, 1));
    }

    #[test]
    fn numbers_are_given_back() {
        let slots = Slots::new().expect("a folder");
        let order = crate::bot::sandbox::probe::order_for(
            crate::bot::sandbox::Level::Limits,
            Vec::new(),
            "/".into(),
            Vec::new(),
        );
        let take = || slots.take(&order).expect("a number");
        let (first, second) = (take(), take());
        assert_eq!((first.index, second.index), (0, 1));
        assert_ne!(first.private, second.private);
        drop(first);
        let again = take();
        assert_eq!(again.index, 0);
        assert_ne!(again.private, second.private);
    }
}
