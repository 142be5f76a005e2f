//! The levels of confinement, and the description of what was in force.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::order::Features;
use crate::config::Limits;

/// How much a bot is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Pipes, deadlines, output caps and a process group of its own.
    None,
    /// Also limits of the system, a listed environment, and a supervisor that ends all its processes.
    Limits,
    /// Also namespaces: its own files, processes, network and users.
    Strict,
}

impl Level {
    /// Its word in event files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Limits => "limits",
            Level::Strict => "strict",
        }
    }
}

/// What confined one bot.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The level.
    pub level: Level,
    /// The walls that stood.
    pub features: Features,
    /// Who holds the memory limit: `cgroup`, `watchdog` or `none`; likewise the others.
    pub memory: &'static str,
    /// Who holds the limit of processes.
    pub processes: &'static str,
    /// Who holds the limit of the disk: `quota`, `watchdog` or `none`.
    pub disk: &'static str,
    /// Who counts the processor time: `cgroup`, whatever the bot does, or the bot's `processes` and those that waited for them.
    pub time: &'static str,
    /// Whether it is frozen outside its turns.
    pub frozen: bool,
}

impl InForce {
    /// Nothing but pipes.
    pub fn none() -> InForce {
        InForce {
            level: Level::None,
            features: Features {
                landlock: "none".into(),
                ..Features::default()
            },
            memory: "none",
            processes: "none",
            disk: "none",
            time: "processes",
            frozen: false,
        }
    }

    /// For the record: level, each feature, and the limits with what holds them.
    pub fn describe(&self, limits: &Limits) -> Value {
        let network = if self.features.namespaces.iter().any(|name| name == "net") {
            "none"
        } else {
            "open"
        };
        json!({
            "level": self.level.as_str(),
            "namespaces": self.features.namespaces,
            "network": network,
            "seccomp": self.features.seccomp,
            "landlock": self.features.landlock,
            "own_user": self.features.own_user,
            "environment": if self.level == Level::None { "inherited" } else { "listed" },
            "frozen": self.frozen,
            "memory": { "bytes": limits.memory, "by": self.memory },
            "processes": { "count": limits.processes, "by": self.processes },
            "disk": { "bytes": limits.disk, "by": self.disk },
            "time": { "by": self.time },
        })
    }
}
