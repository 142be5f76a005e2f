//! The numbers of boxes that are there at the same time. With its number a box has a user, cgroups and a private folder that
//! no other has.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(target_os = "linux")]
use super::cgroup::{Cgroups, Group};
use super::order::Order;

/// The first of the users that bots run as where the referee is root. No system gives numbers from 0x70000000 on to
/// anybody, and they are valid for all programs.
const FIRST_USER: u32 = 0x7000_0000;
/// Boxes of one run that have users of their own.
const USERS_A_RUN: u32 = 1024;
/// Runs at the same time whose users differ.
const RUNS: u32 = 1 << 16;

/// Gives out numbers.
#[derive(Debug)]
pub struct Slots {
    state: Mutex<State>,
    first_user: Option<u32>,
    /// Holds the private folders at `limits`.
    folder: tempfile::TempDir,
    #[cfg(target_os = "linux")]
    cgroups: Option<Cgroups>,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<bool>,
    /// Starts so far: no private folder has the name of an earlier one.
    starts: u64,
    #[cfg(target_os = "linux")]
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
        let folder = tempfile::Builder::new().prefix("hakem-").tempdir()?;
        // Other users may pass through to what is theirs, and see nothing else.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(folder.path(), mode)?;
        let is_root = rustix::process::geteuid().is_root();
        let run = std::process::id() % RUNS;
        Ok(Arc::new(Slots {
            state: Mutex::default(),
            first_user: is_root.then_some(FIRST_USER + run * USERS_A_RUN),
            folder,
            #[cfg(target_os = "linux")]
            cgroups: Cgroups::find(),
        }))
    }

    /// A folder of this run, for files that are not kept.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What holds the limit of memory, in a word, and that of processes.
    #[cfg(target_os = "linux")]
    pub fn cgroup_limits(&self) -> (bool, bool) {
        self.cgroups
            .as_ref()
            .map_or((false, false), |groups| (groups.memory(), groups.pids()))
    }

    /// What holds the limit of memory, in a word, and that of processes.
    #[cfg(not(target_os = "linux"))]
    pub fn cgroup_limits(&self) -> (bool, bool) {
        (false, false)
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
            #[cfg(target_os = "linux")]
            state.groups.push(None);
            state.taken.len() - 1
        });
        if self.first_user.is_some() && index >= USERS_A_RUN as usize {
            return Err(io::Error::other(format!(
                "more than {USERS_A_RUN} bots at once"
            )));
        }
        #[cfg(target_os = "linux")]
        if let Some(cgroups) = &self.cgroups {
            let group = match &mut state.groups[index] {
                Some(group) => group,
                none => none.insert(cgroups.make(index)?),
            };
            group.limit(order.memory, order.processes)?;
        }
        #[cfg(not(target_os = "linux"))]
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
        #[cfg(target_os = "linux")]
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
