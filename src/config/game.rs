//! The game of an event: a built-in one by its name, or the organiser's own, whose rules are a program.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toml::de::DeValue;

use super::bots::{command, command_line, env, path_text};
use super::diagnose::{quoted, suggestion};
use super::files::{BotFiles, Hasher, command_files, shown};
use super::programs::{check_command, resolve_program};
use super::read::{path_problem, read_text, resolve};
use super::reader::{Reader, Section, Wrong, kind};
use crate::bot::rules::{Command, Rules};
use crate::game::outside::Outside;
use crate::game::{GAMES, Kind, find};

/// The keys of `game = { ... }`.
const GAME_KEYS: &[&str] = &["command", "dir", "env", "timeout"];
/// The file in a game's folder that says how its rules are run, and its keys.
const GAME_FILE: &str = "game.toml";
const GAME_FILE_KEYS: &[&str] = &["run", "env", "timeout"];
/// The largest `game.toml`.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// How long the program may take to answer, where nothing else is said, microseconds.
const TIMEOUT_US: u64 = 10_000_000;

/// The organiser's own game: its rules are a program, which runs as long as this lives and is asked.
#[derive(Clone)]
pub struct OwnGame {
    /// The program and its arguments, as the event names them.
    pub argv: Vec<String>,
    /// Its working folder, absolute.
    pub dir: PathBuf,
    /// Whether the event names the folder: then all files in it are the game's.
    pub own_dir: bool,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// How long it may take to answer a line, microseconds.
    pub timeout_us: u64,
    /// The content of its files.
    pub files: BotFiles,
    kind: Arc<Outside>,
    rules: Arc<Rules>,
}

impl fmt::Debug for OwnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnGame")
            .field("argv", &self.argv)
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl PartialEq for OwnGame {
    fn eq(&self, other: &OwnGame) -> bool {
        (
            &self.argv,
            &self.dir,
            self.own_dir,
            &self.env,
            self.timeout_us,
        ) == (
            &other.argv,
            &other.dir,
            other.own_dir,
            &other.env,
            other.timeout_us,
        ) && self.files == other.files
    }
}

/// How the program of a game is started.
struct Spec {
    argv: Vec<String>,
    dir: PathBuf,
    own_dir: bool,
    env: Vec<(String, String)>,
    timeout_us: u64,
}

impl OwnGame {
    /// Looks for the program, starts it, and asks it what its game is.
    fn open(spec: Spec, base: &Path, event: Option<&Path>) -> Result<OwnGame, Wrong> {
        check_command(&spec.argv, &spec.dir)
            .map_err(|(what, right)| Wrong::new(format!("cannot be started: {what}"), right))?;
        let mut argv = spec.argv.clone();
        let program = resolve_program(&argv[0], &spec.dir)
            .map_err(|what| Wrong::new(format!("cannot be started: {what}"), ""))?;
        argv[0] = program.to_string_lossy().into_owned();
        let files = command_files(
            &mut Hasher::default(),
            (base, event),
            &spec.argv,
            &spec.dir,
            spec.own_dir,
        )
        .map_err(|what| Wrong::new(format!("cannot be read: {what}"), ""))?;
        let rules = Arc::new(Rules::new(Command {
            argv,
            dir: spec.dir.clone(),
            env: spec.env.clone(),
            timeout_us: spec.timeout_us,
        }));
        let kind = Outside::new(rules.clone()).map_err(|what| {
            Wrong::new(
                format!("does not say what its game is: {what}"),
                "an answer like {\"name\":\"pig\",\"seats\":2,\"rules\":{}} is right; protocol/GAMES.md tells it",
            )
        })?;
        Ok(OwnGame {
            argv: spec.argv,
            dir: spec.dir,
            own_dir: spec.own_dir,
            env: spec.env,
            timeout_us: spec.timeout_us,
            files,
            kind: Arc::new(kind),
            rules,
        })
    }

    /// The game.
    pub fn kind(&self) -> &Outside {
        &self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.kind.described().name
    }

    /// Where what the program writes to stderr is kept from now on.
    pub fn log_to(&self, path: PathBuf) {
        self.rules.log_to(path);
    }

    /// What it is started with, for the description of an event: a longer time to answer is no other game.
    pub(super) fn fingerprint(&self, base: &Path) -> Value {
        let mut value = json!({ "command": self.argv });
        if self.own_dir {
            value["dir"] = shown(base, &self.dir).into();
        }
        if !self.env.is_empty() {
            let env: BTreeMap<&str, &str> = self
                .env
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str()))
                .collect();
            value["env"] = json!(env);
        }
        value
    }

    /// How to start it again from anywhere on this machine.
    pub fn place(&self) -> Value {
        json!({
            "argv": self.argv,
            "dir": self.dir,
            "own_dir": self.own_dir,
            "env": self.env,
            "timeout_us": self.timeout_us,
        })
    }

    /// Starts the program that [`OwnGame::place`] told.
    ///
    /// # Errors
    /// Why it is not there any more, or does not say what its game is.
    pub fn at(place: &Value) -> Result<OwnGame, String> {
        let read = |key: &str| serde_json::from_value::<Value>(place[key].clone()).ok();
        let spec = (|| {
            Some(Spec {
                argv: serde_json::from_value(read("argv")?).ok()?,
                dir: serde_json::from_value(read("dir")?).ok()?,
                own_dir: place["own_dir"].as_bool()?,
                env: serde_json::from_value(read("env")?).ok()?,
                timeout_us: place["timeout_us"].as_u64()?,
            })
        })();
        let spec = spec
            .filter(|spec| !spec.argv.is_empty())
            .ok_or("what is noted of its program cannot be read")?;
        let shown = shell_words::join(&spec.argv);
        let base = spec.dir.clone();
        OwnGame::open(spec, &base, None)
            .map_err(|wrong| format!("the program `{shown}` of its rules {}", told(&wrong)))
    }
}

fn told(wrong: &Wrong) -> String {
    if wrong.right.is_empty() {
        wrong.what.clone()
    } else {
        format!("{}; {}", wrong.what, wrong.right)
    }
}

/// A game as it was chosen.
#[derive(Clone)]
pub enum Chosen {
    /// A built-in one.
    Known(&'static dyn Kind),
    /// The organiser's.
    Own(Box<OwnGame>),
}

impl Chosen {
    /// The game.
    pub fn kind(&self) -> &dyn Kind {
        match self {
            Chosen::Known(kind) => *kind,
            Chosen::Own(own) => own.kind(),
        }
    }

    /// The organiser's game.
    pub fn own(self) -> Option<OwnGame> {
        match self {
            Chosen::Known(_) => None,
            Chosen::Own(own) => Some(*own),
        }
    }
}

/// Reads `game` in `[event]`: the name of a built-in game, or a table that says how the rules are run.
pub(super) fn game(
    reader: &mut Reader,
    section: &Section<'_>,
    base: &Path,
    event: &Path,
) -> Option<Chosen> {
    if reader.is_table(section, "game") {
        let table = reader.section(section, "game", "`game`", GAME_KEYS, &[])?;
        let spec = spec(reader, &table, base)?;
        return match OwnGame::open(spec, base, Some(event)) {
            Ok(own) => Some(Chosen::Own(Box::new(own))),
            Err(wrong) => {
                let title = format!("the program of the rules {}", wrong.what);
                reader
                    .error
                    .push(Some(section.place("game")), title, wrong.right);
                None
            }
        };
    }
    reader.value(section, "game", known).map(Chosen::Known)
}

fn known(value: &DeValue<'_>) -> Result<&'static dyn Kind, Wrong> {
    let names = || GAMES.iter().map(|kind| kind.facts().name);
    let listed = || names().collect::<Vec<_>>().join(", ");
    match value.as_str() {
        Some(text) => find(text)
            .ok_or_else(|| Wrong::new(format!("is {}", quoted(text)), suggestion(text, names()))),
        None => Err(Wrong::new(
            format!("is {}", kind(value)),
            format!(
                "the name of a game is right: {}; or {{ command = [...] }}, a program that knows the rules",
                listed()
            ),
        )),
    }
}

fn spec(reader: &mut Reader, table: &Section<'_>, base: &Path) -> Option<Spec> {
    let dir = reader.value(table, "dir", |value| path_text(value).map(str::to_owned));
    if table.has("dir") && dir.is_none() {
        return None;
    }
    let folder = dir
        .as_deref()
        .map_or_else(|| base.to_owned(), |dir| resolve(base, dir));
    let own_env = env(reader, table);
    let timeout_us = reader.duration(table, "timeout", 1);
    if table.has("timeout") && timeout_us.is_none() {
        return None;
    }
    if table.has("command") {
        let argv = reader.value(table, "command", command)?;
        return Some(Spec {
            argv,
            dir: folder,
            own_dir: dir.is_some(),
            env: own_env,
            timeout_us: timeout_us.unwrap_or(TIMEOUT_US),
        });
    }
    if dir.is_none() {
        reader.error.push(
            Some(table.header()),
            "`game` does not say what to start",
            "`command = [\"python3\", \"game.py\"]`, or `dir` with a folder that has a game.toml, is missing",
        );
        return None;
    }
    let mut spec = game_file(reader, &folder)?;
    if table.has("env") {
        spec.env = own_env;
    }
    spec.timeout_us = timeout_us.unwrap_or(spec.timeout_us);
    Some(spec)
}

/// Reads the `game.toml` of a folder.
fn game_file(reader: &mut Reader, folder: &Path) -> Option<Spec> {
    let file = folder.join(GAME_FILE);
    let shown = file.display().to_string();
    let text = match read_text(&file, MAX_FILE_BYTES, "the game's file") {
        Ok(text) => text,
        Err(message) => {
            reader.error.push(None, message, "");
            return None;
        }
    };
    let (source, table) = reader.file(&shown, &text)?;
    let root = reader.root(source, GAME_FILE, &table, GAME_FILE_KEYS);
    if !root.has("run") {
        reader.error.push(
            Some(root.header()),
            format!("{shown} does not say how the rules are run"),
            "`run = [\"python3\", \"game.py\"]` or the like is missing",
        );
        return None;
    }
    let argv = reader.value(&root, "run", command)?;
    let env = env(reader, &root);
    let timeout_us = reader.duration(&root, "timeout", 1);
    Some(Spec {
        argv,
        dir: folder.to_owned(),
        own_dir: true,
        env,
        timeout_us: timeout_us.unwrap_or(TIMEOUT_US),
    })
}

/// A game of a command line: the name of a built-in one, a folder with a `game.toml`, or a command line.
pub(super) fn from_text(reader: &mut Reader, text: &str, base: &Path) -> Option<Chosen> {
    if let Some(known) = find(text) {
        return Some(Chosen::Known(known));
    }
    let refused = |reader: &mut Reader, wrong: Wrong| {
        let title = format!("the game {} {}", quoted(text), told(&wrong));
        reader.error.push(None, title, "");
        None
    };
    let folder = resolve(base, text);
    let spec = if !text.trim().is_empty() && path_problem(text).is_none() && folder.is_dir() {
        if !folder.join(GAME_FILE).exists() {
            let wrong = Wrong::new(
                format!("is a folder without {GAME_FILE}"),
                format!("{GAME_FILE} holds `run = [\"python3\", \"game.py\"]` or the like"),
            );
            return refused(reader, wrong);
        }
        game_file(reader, &folder)?
    } else if text.contains('/') || text.trim().contains(char::is_whitespace) {
        match command_line(text) {
            Ok(argv) => Spec {
                argv,
                dir: base.to_owned(),
                own_dir: false,
                env: Vec::new(),
                timeout_us: TIMEOUT_US,
            },
            Err(wrong) => return refused(reader, wrong),
        }
    } else {
        // A single word is a name: one that was mistyped is more likely than a program without arguments.
        let names = GAMES.iter().map(|kind| kind.facts().name);
        let hint = suggestion(text, names);
        let more = match hint.ends_with('?') {
            true => String::new(),
            false => format!(
                "; or the command line of a program that knows the rules, or a folder with a {GAME_FILE}"
            ),
        };
        let title = format!("there is no game {}; {hint}{more}", quoted(text));
        reader.error.push(None, title, "");
        return None;
    };
    match OwnGame::open(spec, base, None) {
        Ok(own) => Some(Chosen::Own(Box::new(own))),
        Err(wrong) => refused(reader, wrong),
    }
}

/// The game of a command line, as [`super::Flags::game`] spells it. `folder` is where commands and folders are looked for, absolute.
///
/// # Errors
/// Why there is no such game.
pub fn choose_game(text: &str, folder: &Path) -> Result<Chosen, super::ConfigError> {
    let mut reader = Reader::default();
    match from_text(&mut reader, text, folder) {
        Some(chosen) if reader.error.is_empty() => Ok(chosen),
        _ => Err(reader.error),
    }
}

/// Every option of the game with its value, those that are not given at their defaults.
pub(super) fn all_rules(kind: Option<&dyn Kind>, given: &Map<String, Value>) -> Value {
    kind.and_then(|kind| kind.rules(given).ok())
        .map_or_else(|| Value::Object(given.clone()), |rules| rules.options())
}
