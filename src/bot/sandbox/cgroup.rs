//! Cgroups: the system's own limits of memory and processes, where this process may set them.
//!
//! Each box has one group (at version 1 one of each kind), named `hakem-PID-NUMBER`, below the group that the referee is in.
//! It is kept for the next bot with the same number and removed at the end of the run. What an earlier run left, because it was
//! killed, is removed at the start of a later one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::order::{Events, Order};
use crate::referee::Limit;

/// The box's own processes, which are in the group too.
const OWN_PROCESSES: u32 = 2;
/// What the box's own processes use of the group's memory, bytes.
const OWN_MEMORY: u64 = 4 << 20;
/// A group is busy for a moment after its last process has ended: tries to remove it, and the wait between them.
const TRIES: u32 = 50;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// The groups below which each box gets its own.
#[derive(Debug)]
pub struct Cgroups {
    version: Version,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    /// Counts processor time.
    cpu: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The group of one number; removed when it is dropped.
#[derive(Debug)]
pub struct Group {
    version: Version,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpu: Option<PathBuf>,
    /// The limits that are set: of memory and of processes.
    set: Option<(u64, u32)>,
}

impl Cgroups {
    /// Looks for groups that this process may use: of version 2 with the controller for memory, else of version 1.
    pub fn find() -> Option<Cgroups> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let found = version_2(&own, &mounts).or_else(|| version_1(&own, &mounts))?;
        for parent in [&found.memory, &found.pids, &found.cpu]
            .into_iter()
            .flatten()
        {
            sweep(parent);
        }
        // What may be made is known only when it was made.
        let mut trial = found.make(usize::MAX).ok()?;
        trial.limit(1 << 30, 64).ok()?;
        drop(trial);
        Some(found)
    }

    /// Whether they limit memory.
    pub fn memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether they limit processes.
    pub fn pids(&self) -> bool {
        self.pids.is_some()
    }

    /// Whether they count processor time.
    pub fn time(&self) -> bool {
        self.cpu.is_some()
    }

    /// Makes the group of a number.
    ///
    /// # Errors
    /// The system's.
    pub fn make(&self, number: usize) -> io::Result<Group> {
        let name = format!("hakem-{}-{number}", std::process::id());
        let make = |parent: &Option<PathBuf>| -> io::Result<Option<PathBuf>> {
            let Some(parent) = parent else {
                return Ok(None);
            };
            let folder = parent.join(&name);
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            Ok(Some(folder))
        };
        // Whatever was made is removed if the rest fails.
        let mut group = Group {
            version: self.version,
            memory: make(&self.memory)?,
            pids: None,
            cpu: None,
            set: None,
        };
        group.pids = make(&self.pids)?;
        group.cpu = make(&self.cpu)?;
        Ok(group)
    }
}

impl Group {
    /// Sets its limits.
    ///
    /// # Errors
    /// The system's.
    pub fn limit(&mut self, memory: u64, processes: u32) -> io::Result<()> {
        // Most often the next bot has the same.
        if self.set == Some((memory, processes)) {
            return Ok(());
        }
        self.set = None;
        if let Some(folder) = &self.memory {
            let bytes = memory.saturating_add(OWN_MEMORY).to_string();
            match self.version {
                Version::Two => {
                    fs::write(folder.join("memory.max"), &bytes)?;
                    // Where there is swap it would be memory without a limit.
                    let _ = fs::write(folder.join("memory.swap.max"), "0");
                    let _ = fs::write(folder.join("memory.oom.group"), "1");
                }
                Version::One => {
                    // One of the two must not be below the other at any time.
                    let both = folder.join("memory.memsw.limit_in_bytes");
                    let _ = fs::write(&both, "-1");
                    fs::write(folder.join("memory.limit_in_bytes"), &bytes)?;
                    let _ = fs::write(&both, &bytes);
                }
            }
        }
        if let Some(folder) = &self.pids {
            let most = processes.saturating_add(OWN_PROCESSES).to_string();
            fs::write(folder.join("pids.max"), most)?;
        }
        self.set = Some((memory, processes));
        Ok(())
    }

    /// The file that counts the processor time of all that is in it.
    pub fn usage(&self) -> Option<PathBuf> {
        let file = match self.version {
            Version::One => "cpuacct.usage",
            Version::Two => "cpu.stat",
        };
        Some(self.cpu.as_ref()?.join(file))
    }

    /// Tells a box of its group.
    pub fn fill(&self, order: &mut Order) {
        let events = |folder: &Path, file: &str, key: &str, limit| Events {
            file: folder.join(file),
            key: key.into(),
            limit,
        };
        if let Some(folder) = &self.memory {
            order.cgroup_memory = true;
            let file = match self.version {
                Version::One => "memory.oom_control",
                Version::Two => "memory.events",
            };
            order
                .events
                .push(events(folder, file, "oom_kill", Limit::Memory));
        }
        if let Some(folder) = &self.pids {
            order
                .events
                .push(events(folder, "pids.events", "max", Limit::Processes));
        }
        let mut folders: Vec<PathBuf> = [&self.memory, &self.pids, &self.cpu]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        folders.dedup();
        order.cgroups = folders;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in [&self.memory, &self.pids, &self.cpu].into_iter().flatten() {
            remove(folder);
        }
    }
}

fn remove(folder: &Path) {
    for _ in 0..TRIES {
        match fs::remove_dir(folder) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(PAUSE),
            // Gone, or beyond what can be done.
            _ => return,
        }
    }
}

/// Removes groups of runs that are over.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix("hakem-"))
            .and_then(|rest| rest.split('-').next());
        if let Some(pid) = pid
            && pid.parse::<u32>().is_ok()
            && !Path::new("/proc").join(pid).exists()
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Where a hierarchy is mounted whose filesystem is of this type and has this option, and which part of it shows there.
fn mount_of(mounts: &str, kind: &str, option: Option<&str>) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (found, options) = (after.next()?, after.nth(1)?);
        let has = option.is_none_or(|option| options.split(',').any(|known| known == option));
        let mut before = before.split(' ');
        let (root, place) = (before.nth(3)?, before.next()?);
        (found == kind && has).then(|| (root.into(), place.into()))
    })
}

/// The folder of the group that this process is in.
fn own_folder(mounts: &str, kind: &str, option: Option<&str>, path: &str) -> Option<PathBuf> {
    let (root, place) = mount_of(mounts, kind, option)?;
    let below = Path::new(path).strip_prefix(&root).ok()?;
    Some(place.join(below))
}

fn version_1(own: &str, mounts: &str) -> Option<Cgroups> {
    let folder = |controller: &str| {
        let path = own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next()?;
            let path = fields.next()?;
            controllers
                .split(',')
                .any(|known| known == controller)
                .then_some(path)
        })?;
        own_folder(mounts, "cgroup", Some(controller), path).filter(|folder| may_write(folder))
    };
    let (memory, pids) = (folder("memory"), folder("pids"));
    let cpu = folder("cpuacct");
    (memory.is_some() || pids.is_some()).then_some(Cgroups {
        version: Version::One,
        memory,
        pids,
        cpu,
    })
}

fn version_2(own: &str, mounts: &str) -> Option<Cgroups> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folder = own_folder(mounts, "cgroup2", None, path)?;
    let controllers = fs::read_to_string(folder.join("cgroup.controllers")).ok()?;
    let has = |name: &str| controllers.split_whitespace().any(|known| known == name);
    if !has("memory") || !has("pids") || !may_write(&folder) {
        return None;
    }
    // A group that hands controllers on may hold no process itself: the referee moves into a leaf. If others are in the
    // group too, its owner did not mean it for us.
    let leaf = folder.join(format!("hakem-{}-referee", std::process::id()));
    fs::create_dir(&leaf).ok()?;
    let moved = fs::write(leaf.join("cgroup.procs"), "0").is_ok()
        && fs::write(folder.join("cgroup.subtree_control"), "+memory +pids").is_ok();
    if !moved {
        let _ = fs::write(folder.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&leaf);
        return None;
    }
    Some(Cgroups {
        version: Version::Two,
        memory: Some(folder.clone()),
        pids: Some(folder.clone()),
        // Counted in every group, whatever is handed on.
        cpu: Some(folder),
    })
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
27 25 0:24 /docker/abc /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
28 25 0:25 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    #[test]
    fn the_own_group_is_found() {
        let own = |kind, option, path| own_folder(MOUNTS, kind, option, path);
        assert_eq!(
            own("cgroup", Some("memory"), "/a/b"),
            Some("/sys/fs/cgroup/memory/a/b".into())
        );
        // Only a part of the hierarchy is mounted, as in a container.
        assert_eq!(
            own("cgroup", Some("pids"), "/docker/abc"),
            Some("/sys/fs/cgroup/pids".into())
        );
        assert_eq!(own("cgroup", Some("pids"), "/elsewhere"), None);
        assert_eq!(
            own("cgroup2", None, "/"),
            Some("/sys/fs/cgroup/unified".into())
        );
        assert_eq!(own("cgroup", Some("freezer"), "/"), None);
    }
}
