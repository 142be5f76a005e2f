//! The event file: what an event is made of.
//!
//! [`EventConfig`] is what the rest of the program sees: everything resolved, every default filled in.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::clock::ClockSpec;

/// A whole event, checked and with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct EventConfig {
    /// The event's name.
    pub name: String,
    /// The game's name, one of [`crate::game::GAMES`].
    pub game: String,
    /// How the schedule is made.
    pub format: Format,
    /// Matches for each pairing.
    pub games: u32,
    /// Whether each match is played twice on the same chance, the bots in each other's seats.
    pub paired: bool,
    /// How often the whole schedule is played.
    pub rounds: u32,
    /// Seats at a table.
    pub seats: usize,
    /// Random legal plies before the bots take over.
    pub opening_plies: u32,
    /// Positions to start from; the k-th pair of a pairing starts from the k-th, round and round.
    pub openings: Vec<Value>,
    /// When bots are started.
    pub restart: Restart,
    /// The seed of all chance; `None`: 256 random bits are drawn when the run begins.
    pub seed: Option<String>,
    /// Games at once; `None`: as many as leave each thinking bot a core.
    pub jobs: Option<usize>,
    /// The game's options as given; checked against the game.
    pub rules: Map<String, Value>,
    /// The time control.
    pub clock: ClockSpec,
    /// The limits of a bot that sets none of its own.
    pub limits: Limits,
    /// The bots; a bot's place here is its slot.
    pub bots: Vec<BotSpec>,
}

/// How a schedule is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Everybody meets everybody.
    RoundRobin,
}

/// When bots are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Once a match.
    Match,
    /// Once a game.
    Game,
}

/// What a bot may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Memory of the bot's processes, bytes.
    pub memory: u64,
    /// Its processes.
    pub processes: u32,
    /// What is kept of its stderr, bytes.
    pub stderr: u64,
    /// What it may write to stdout in a game, bytes.
    pub output: u64,
    /// Its longest line, bytes.
    pub line: usize,
    /// What is kept of a note, bytes.
    pub note: usize,
    /// Its private disk, bytes.
    pub disk: u64,
    /// The time to leave after `bye`, microseconds.
    pub exit_us: u64,
    /// Cores of a game.
    pub cores: u32,
    /// Whether it may think in the opponent's time.
    pub ponder: bool,
    /// Further folders shown read-only.
    pub runtime: Vec<PathBuf>,
    /// How it is confined.
    pub sandbox: Sandbox,
}

/// How a bot is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Strict where the machine allows it, else less, and said so.
    Auto,
    /// Pipes, deadlines, output caps and a process group of its own.
    None,
    /// Also limits of the system.
    Limits,
    /// Also namespaces.
    Strict,
}

/// One bot of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct BotSpec {
    /// Its name in the event: its identity.
    pub name: String,
    /// What is started.
    pub program: Program,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Sent in `hello`.
    pub options: Map<String, Value>,
    /// Its limits.
    pub limits: Limits,
}

/// What is started for a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A built-in bot (`hakem bot NAME`).
    Builtin(String),
    /// A command.
    Command {
        /// The program and its arguments; never a shell line.
        argv: Vec<String>,
        /// The working folder, absolute.
        dir: PathBuf,
    },
}
