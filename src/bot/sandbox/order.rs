//! What the referee tells a box, and what the box reports.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Level;
use crate::referee::Limit;

/// All that a box needs to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// How the bot is confined: `limits` or `strict`.
    pub level: Level,
    /// The program and its arguments as they are named inside.
    pub argv: Vec<String>,
    /// The working folder as it is named inside.
    pub dir: PathBuf,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// What is shown read-only besides the system's own programs.
    pub shown: Vec<Shown>,
    /// The system's settings that it sees: [`settings`].
    pub settings: Vec<PathBuf>,
    /// The user and group to become, where the referee may choose.
    pub user: Option<u32>,
    /// Memory of all its processes, bytes.
    pub memory: u64,
    /// Its processes and threads.
    pub processes: u32,
    /// What it may write to its private folders, bytes.
    pub disk: u64,
    /// Its private folder at `limits`, made by the box and removed by it.
    pub private: Option<PathBuf>,
    /// The cgroups to join.
    pub cgroups: Vec<PathBuf>,
    /// Whether those limit memory; else the supervisor watches it.
    pub cgroup_memory: bool,
    /// Where a cgroup counts what its limits did.
    pub events: Vec<Events>,
}

/// What programs need of /etc; the rest is the host's own affair.
const SETTINGS: [&str; 3] = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"];

/// What programs need of the system's settings, with those of Java, whose names hold a version. Looked up once, because a folder with
/// many names is slow to list.
pub fn settings() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SETTINGS.iter().map(PathBuf::from).collect();
    for entry in std::fs::read_dir("/etc").into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("java") {
            paths.push(entry.path());
        }
    }
    paths
}

/// A folder or file that is shown read-only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Where it is.
    pub from: PathBuf,
    /// Where it stands inside; elsewhere than `from` only at `strict`.
    pub to: PathBuf,
}

/// A counter of a cgroup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// The file.
    pub file: PathBuf,
    /// The first word of its line.
    pub key: String,
    /// What it means when it grows.
    pub limit: Limit,
}

/// What the referee orders later; one byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wish {
    /// Stop all processes of the bot.
    Freeze = b's',
    /// Let them go on.
    Thaw = b'c',
    /// End them.
    End = b'k',
}

/// What a box reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The bot's process is about to become the bot's program.
    Starting(Features),
    /// The bot's process group, where the box may end without it.
    Group(i32),
    /// The program could not be executed.
    NoProgram(String),
    /// The box could not be built: the machine's fault, not the bot's.
    NoBox(Failure),
    /// The bot has ended.
    Ended(Ended),
}

/// Which walls stand, as the box found when it built them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// The namespaces that are the bot's own.
    pub namespaces: Vec<String>,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// What Landlock holds: `full`, `part`, `none`.
    pub landlock: String,
    /// Whether the bot runs as a user of its own.
    pub own_user: bool,
}

/// Why a box could not be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What was being done.
    pub step: String,
    /// The system's number of the error, if it was the system's.
    pub errno: Option<i32>,
    /// The error in words.
    pub what: String,
}

/// How a bot ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit status.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit that ended it, or that it ran into before it ended with an error.
    pub limit: Option<Limit>,
    /// Words on that limit.
    pub note: String,
    /// The most memory that was seen in use by all its processes, bytes; zero where nobody looked.
    pub peak_memory: u64,
    /// What it left behind when it ended by itself: the command lines of some of its processes, shortened. The box ends them.
    pub left: Vec<String>,
}
