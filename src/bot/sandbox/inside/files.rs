//! The private root: the system's programs and what the bot was given, all read-only, and small private folders.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree, unmount,
};

use super::{Failure, INNER_ID, Order, Step};
use crate::bot::os::raw::set_mount_attributes;

/// Folders of programs. One that is a link is a link inside too.
pub(super) const PROGRAMS: [&str; 10] = [
    "/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu",
];
/// The devices.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Files and folders in the private folders together.
const INODES: u32 = 4096;
/// The least size of the private folders: none at all would mean no limit.
const LEAST: u64 = 4096;

/// A copy of a mount that has no place yet.
struct Piece {
    tree: OwnedFd,
    to: PathBuf,
    is_dir: bool,
}

/// Builds the new root and moves into it. To be called by process 1 of the new namespaces.
pub(super) fn build(order: &Order) -> Result<(), Failure> {
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .step("parting from the host's mounts")?;
    // Copies are taken first: the new root hides a part of the old one.
    let mut pieces = Vec::new();
    let mut links = Vec::new();
    for path in PROGRAMS {
        match std::fs::read_link(path) {
            Ok(target) => links.push((PathBuf::from(path), target)),
            Err(_) if Path::new(path).is_dir() => pieces.push(piece(path, path, true)?),
            Err(_) => {}
        }
    }
    for path in order.settings.iter().filter(|path| path.exists()) {
        pieces.push(piece(path, path, true)?);
    }
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        if path.exists() {
            pieces.push(piece(&path, &path, false)?);
        }
    }
    let mut shown = order.shown.clone();
    // A folder before what is shown within it.
    shown.sort_by_key(|shown| shown.to.components().count());
    let shown = shown
        .iter()
        .map(|shown| piece(&shown.from, &shown.to, true))
        .collect::<Result<Vec<_>, _>>()?;

    let base = tmpfs(&[("size", "1m".into()), ("nr_inodes", "2048".into())])
        .step("making the private root (tmpfs)")?;
    let place = ["/tmp", "/mnt", "/var", "/sys"]
        .into_iter()
        .find(|path| Path::new(path).is_dir())
        .unwrap_or("/");
    attach(&base, Path::new(place)).step("mounting the private root")?;
    rustix::process::chdir(place).step("entering the private root")?;
    for folder in ["proc", "dev", "etc", "tmp"] {
        make_dir(Path::new(folder)).step("making the private root's folders")?;
    }
    for (path, target) in links {
        symlink(target, inner(&path)).step("making the private root's links")?;
    }
    for piece in &pieces {
        piece.place()?;
    }
    settings_of_its_own(order.user).step("writing the private root's settings")?;
    private_folders(order.disk)?;
    for piece in &shown {
        piece.place()?;
    }
    // Who may not trace a process does not see it: the bot's own are there, process 1 is not.
    let hidden = [("hidepid", "2".to_owned())];
    let proc = filesystem("proc", &hidden, MountAttrFlags::MOUNT_ATTR_NOEXEC)
        .step("making a /proc of its own")?;
    attach(&proc, Path::new("proc")).step("mounting a /proc of its own")?;
    set_mount_attributes(
        base.as_fd(),
        u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits()),
        false,
    )
    .step("making the private root read-only")?;

    rustix::process::pivot_root(".", ".").step("moving into the private root (pivot_root)")?;
    unmount(".", UnmountFlags::DETACH).step("leaving the host's root")?;
    rustix::process::chdir("/").step("entering the private root")
}

/// The place of a path below the new root, which is the working folder while it is built.
fn inner(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// A read-only copy of a part of the host's tree.
fn piece(from: impl AsRef<Path>, to: impl Into<PathBuf>, nodev: bool) -> Result<Piece, Failure> {
    let from = from.as_ref();
    let what = || format!("showing {}", from.display());
    let is_dir = std::fs::metadata(from).step(what())?.is_dir();
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, from, flags).step(format!("{} (open_tree)", what()))?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    if nodev {
        attributes |= MountAttrFlags::MOUNT_ATTR_NODEV;
    }
    set_mount_attributes(tree.as_fd(), u64::from(attributes.bits()), true)
        .step(format!("{} (mount_setattr)", what()))?;
    Ok(Piece {
        tree,
        to: to.into(),
        is_dir,
    })
}

impl Piece {
    fn place(&self) -> Result<(), Failure> {
        let to = inner(&self.to);
        let what = || format!("showing {}", self.to.display());
        if self.is_dir {
            make_dir(to).step(what())?;
        } else {
            if let Some(parent) = to.parent() {
                make_dir(parent).step(what())?;
            }
            if !to.exists() {
                std::fs::write(to, "").step(what())?;
            }
        }
        attach(&self.tree, to).step(format!("{} (move_mount)", what()))
    }
}

fn make_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

fn attach(mount: &OwnedFd, to: &Path) -> rustix::io::Result<()> {
    move_mount(mount, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

fn tmpfs(options: &[(&str, String)]) -> rustix::io::Result<OwnedFd> {
    filesystem("tmpfs", options, MountAttrFlags::empty())
}

/// A new filesystem that is mounted nowhere yet; with neither devices nor programs of other users.
fn filesystem(
    kind: &str,
    options: &[(&str, String)],
    attributes: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let filesystem = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&filesystem, *key, value.as_str())?;
    }
    fsconfig_create(&filesystem)?;
    fsmount(
        &filesystem,
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
    )
}

/// What programs look up about users and hosts, made up; and the usual links of /dev.
fn settings_of_its_own(user: Option<u32>) -> io::Result<()> {
    let (mut users, mut groups) = (String::new(), String::new());
    for (name, id) in [("bot", Some(INNER_ID)), ("bot-", user)] {
        if let Some(id) = id {
            users.push_str(&format!("{name}:x:{id}:{id}:bot:/tmp:/bin/sh\n"));
            groups.push_str(&format!("{name}:x:{id}:\n"));
        }
    }
    std::fs::write("etc/passwd", users)?;
    std::fs::write("etc/group", groups)?;
    std::fs::write(
        "etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\n",
    )?;
    std::fs::write("etc/hosts", "127.0.0.1 localhost hakem\n")?;
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, Path::new("dev").join(name))?;
    }
    Ok(())
}

/// /tmp and /dev/shm, which share one limit of size and number.
fn private_folders(disk: u64) -> Result<(), Failure> {
    let what = "making the private folders";
    let both = tmpfs(&[
        ("size", disk.max(LEAST).to_string()),
        ("nr_inodes", INODES.to_string()),
        ("mode", "0755".into()),
    ])
    .step(what)?;
    make_dir(Path::new("dev/shm")).step(what)?;
    // Mounted once whole, so that its two folders can be made and mounted again in their places.
    attach(&both, Path::new("tmp")).step(what)?;
    for name in ["tmp", "shm"] {
        let path = Path::new("tmp").join(name);
        make_dir(&path).step(what)?;
        let mode = rustix::fs::Mode::from_raw_mode(0o1777);
        rustix::fs::chmod(&path, mode).step(what)?;
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let [tmp, shm] = ["tmp/tmp", "tmp/shm"].map(|path| open_tree(CWD, path, flags));
    let (tmp, shm) = (tmp.step(what)?, shm.step(what)?);
    attach(&shm, Path::new("dev/shm")).step(what)?;
    attach(&tmp, Path::new("tmp")).step(what)
}
