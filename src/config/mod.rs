//! The event file: what an event is made of.
//!
//! [`EventConfig`] is what the rest of the program sees: everything resolved, every default filled in. [`read`] makes it
//! from an event file, [`from_flags`] from the flags of a command. `default.toml` beside this file is the reference of all keys
//! and holds their defaults; it is read first, the event file over it.
//!
//! What is wrong is a [`ConfigError`]: all problems at once, each with its line, a caret, and what would be right.
//! [`check_programs`] looks for programs that are missing, [`bot_files`] notes the content of the bots' files, and
//! [`EventConfig::fingerprint`] with [`changes`] tells whether a run that is taken up again is still the same event.
//!
//! To offer one more format or sandbox level: a variant, and its word in `sections.rs`.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::clock::ClockSpec;
use crate::game::Kind;
use crate::referee::adjudicate::Adjudication;

mod adjudication;
mod bots;
mod diagnose;
pub mod files;
mod fingerprint;
mod flags;
mod game;
mod openings;
mod programs;
mod read;
mod reader;
mod schedule;
mod sections;
mod syntax;
#[cfg(test)]
mod tests;
pub mod units;

pub use diagnose::{ConfigError, suggestion};
pub use files::{BotFiles, FilesError, bot_files};
pub use fingerprint::{adjudication_values, changes, clock_values, openings_summary};
pub use flags::{Flags, from_flags, game_from_flags, parse_clock};
pub use game::{Chosen, OwnGame, choose_game};
pub use programs::{ProgramProblem, check_programs, is_script, resolve_program};
pub use read::{default_clock, parse, read};
pub use schedule::{format_of, meetings_of, opening_number, ruled_format_of, tie_breaks_of};
pub use sections::sandbox_word;

/// The commented reference of all keys, and the defaults.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

/// A whole event, checked and with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct EventConfig {
    /// The event file, absolute; `None` where the event was made from flags.
    pub file: Option<PathBuf>,
    /// The folder that relative paths of the event are relative to, absolute.
    pub base: PathBuf,
    /// The event's name.
    pub name: String,
    /// The game's name: that of one of [`crate::game::GAMES`], or of `own_game`.
    pub game: String,
    /// The game whose rules are a program of the organiser's, if it is one.
    pub own_game: Option<OwnGame>,
    /// How the schedule is made.
    pub format: Format,
    /// What the format needs besides.
    pub options: FormatOptions,
    /// Matches for each pairing; of two seats even where they are paired.
    pub games: u32,
    /// Whether each match is played as often as there are seats on the same chance, the bots in each other's seats.
    pub paired: bool,
    /// How often the whole schedule is played; of a Swiss event and a ladder the rounds.
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
    /// After this time no match is begun any more, microseconds.
    pub max_time_us: Option<u64>,
    /// The event ends early once its leader is clear with this confidence, 0.5 to 1.
    pub stop_when_clear: Option<f64>,
    /// Games at once; `None`: as many as leave each thinking bot a core.
    pub jobs: Option<usize>,
    /// The game's options as given; checked against the game.
    pub rules: Map<String, Value>,
    /// The time control.
    pub clock: ClockSpec,
    /// The rules of the event that may end a game; `None`: none.
    pub adjudication: Option<Adjudication>,
    /// The limits of a bot that sets none of its own.
    pub limits: Limits,
    /// The bots; a bot's place here is its slot.
    pub bots: Vec<BotSpec>,
}

impl EventConfig {
    /// What is allowed, but hardly meant.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.paired && !self.games.is_multiple_of(self.seats as u32) {
            warnings.push(format!(
                "`games` in [event] is {}, no multiple of the {} seats: a bot does not sit on each of them equally often",
                self.games, self.seats
            ));
        }
        if self.is_race() {
            if self.clock.main_us.is_some() {
                warnings.push("[clock] means nothing in a race but `kind`, `ready` and `wall_ceiling`: the rules set the time".into());
            }
        } else if self.clock.main_us.is_none() && self.clock.move_us.is_none() {
            warnings.push(
                "[clock] sets neither `main` nor `move`: a bot that never answers holds its game for ever; `move = \"10s\"` in [clock] sets a limit"
                    .to_owned(),
            );
        } else if self.clock.main_us.is_none() && self.clock.increment_us > 0 {
            warnings.push("[clock] sets `increment`, which adds to `main`, but no `main`".into());
        }
        warnings
    }
}

impl EventConfig {
    /// The game.
    pub fn kind(&self) -> Option<&dyn Kind> {
        match &self.own_game {
            Some(own) => Some(own.kind()),
            None => crate::game::find(&self.game),
        }
    }

    /// A bot of the event for a message, with its place in the event file: "bot `team-a` (spring.toml, line 17)".
    pub fn place_of(&self, bot: &BotSpec) -> String {
        let name = diagnose::quoted(&bot.name);
        let file = self.file.as_ref().and_then(|file| file.file_name());
        match (file, bot.line) {
            (Some(file), Some(line)) => {
                format!("bot {name} ({}, line {line})", file.to_string_lossy())
            }
            _ => format!("bot {name}"),
        }
    }

    /// Whether the seats race, so that the rules set the time.
    pub fn is_race(&self) -> bool {
        let rules = self.kind().map(|kind| kind.rules(&self.rules));
        rules.is_some_and(|rules| rules.is_ok_and(|rules| rules.race().is_some()))
    }
}

/// How a schedule is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Everybody meets everybody.
    RoundRobin,
    /// One bot meets all others.
    Gauntlet,
    /// In each round those of about equal points meet, and no two twice.
    Swiss,
    /// Who loses is out.
    Knockout,
    /// Round robins in groups, then a knockout of the best of each.
    Groups,
    /// A list that lives from event to event; who beats a bot above takes its rung.
    Ladder,
}

/// What some formats need besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// The bot that meets all others in a gauntlet, by its slot.
    pub candidate: Option<usize>,
    /// How many groups there are.
    pub groups: usize,
    /// How many of each group go on.
    pub advance: usize,
    /// How many rungs above a bot of a ladder may challenge.
    pub reach: usize,
    /// The file of the ladder, absolute.
    pub ladder: Option<PathBuf>,
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
    /// Cores of a game; the same for all bots of an event.
    pub cores: u32,
    /// Whether it may think in the opponent's time.
    pub ponder: bool,
    /// Further folders shown read-only, absolute.
    pub runtime: Vec<PathBuf>,
    /// How it is confined.
    pub sandbox: Sandbox,
}

impl Default for Limits {
    /// The limits of `default.toml`.
    fn default() -> Limits {
        read::default_limits()
    }
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
    /// The line of its `[[bot]]` in the event file, from 1.
    pub line: Option<usize>,
    /// What is started.
    pub program: Program,
    /// What builds it, in its folder, before the first game; only where its folder's `bot.toml` says how it is run.
    pub build: Option<Vec<String>>,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Sent in `hello`.
    pub options: Map<String, Value>,
    /// Its limits.
    pub limits: Limits,
    /// The first round of a Swiss event that it plays.
    pub joins: u32,
    /// The first round of a Swiss event that it does not play any more.
    pub leaves: Option<u32>,
}

/// What is started for a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A built-in bot (`hakem bot NAME`).
    Builtin(String),
    /// A command.
    Command {
        /// The program and its arguments; never a shell line. [`resolve_program`] finds the file of the first.
        argv: Vec<String>,
        /// The working folder, absolute.
        dir: PathBuf,
        /// Whether the event names the folder: then all files in it are the bot's.
        own_dir: bool,
    },
}
