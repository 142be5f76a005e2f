//! The bots of an event: `[[bot]]`, and the `bot.toml` of a bot's folder.

use std::collections::HashMap;
use std::path::Path;

use hakem_protocol::limits::MAX_NAME_CHARS;
use serde_json::{Map, Value};
use toml::de::DeValue;

use super::diagnose::{nearest, quoted, suggestion};
use super::programs::{ends_as_script, is_on_path, is_script};
use super::read::{path_problem, read_text, resolve};
use super::reader::{Reader, Section, Wrong, kind, plain_text};
use super::sections::{self, BOT_HOMES, HOMES, LIMIT_KEYS};
use super::{BotSpec, Limits, Program};

/// The keys of `[[bot]]`.
pub(super) const BOT_KEYS: &[&str] = &[
    "name", "command", "dir", "builtin", "env", "options", "limits", "joins", "leaves",
];

/// The keys of a `bot.toml`. `build` is run before the first game.
const BOT_FILE_KEYS: &[&str] = &["name", "build", "run"];
/// The file in a bot's folder that says how it is run.
pub(super) const BOT_FILE: &str = "bot.toml";
/// The largest `bot.toml`.
const MAX_BOT_FILE_BYTES: u64 = 1 << 20;

/// Reads all `[[bot]]` sections.
pub(super) fn bots(
    reader: &mut Reader,
    sections: Vec<Section<'_>>,
    limits: &Limits,
    base: &Path,
    builtins: &[&str],
) -> Vec<BotSpec> {
    let mut seen = HashMap::new();
    let mut bots = Vec::new();
    for mut section in sections {
        let name = name(reader, &mut section);
        reader.check_keys(&section, BOT_KEYS, BOT_HOMES);
        let line = reader.error.line_of(&section.header());
        if let Some(name) = &name
            && let Some(first) = seen.insert(name.clone(), line)
        {
            reader.error.push(
                Some(section.place("name")),
                format!("the bot of line {first} is also named {}", quoted(name)),
                "each bot needs a name of its own",
            );
        }
        let program = program(reader, &section, base, builtins);
        let env = env(reader, &section);
        let title = format!("`options` in {}", section.name());
        let options = match reader.open_section(&section, "options", &title) {
            Some(table) => reader.json(&table),
            None => Map::new(),
        };
        let limits = own_limits(reader, &section, limits, base);
        let joins = reader.whole(&section, "joins", 1..=100_000);
        let leaves = reader.whole(&section, "leaves", 2..=100_000);
        if let (joins, Some(leaves)) = (joins.unwrap_or(1), leaves)
            && leaves <= joins
        {
            let wrong = Wrong::new(
                format!("is {leaves}, but the bot joins in round {joins}"),
                "a later round is right",
            );
            reader.wrong(&section, "leaves", wrong);
        }
        if let (Some(name), Some((program, build))) = (name, program) {
            bots.push(BotSpec {
                name,
                line: Some(line),
                program,
                build,
                env,
                options,
                limits,
                joins: joins.unwrap_or(1),
                leaves,
            });
        }
    }
    bots
}

/// The bot's name; the section is called by it from then on.
fn name(reader: &mut Reader, section: &mut Section<'_>) -> Option<String> {
    if !section.has("name") {
        let title = format!("{} has no name", section.name());
        reader
            .error
            .push(Some(section.header()), title, "`name = \"...\"` is missing");
        return None;
    }
    let name = reader.text(section, "name", MAX_NAME_CHARS, "team-a")?;
    section.rename(format!("[[bot]] {}", quoted(&name)));
    Some(name)
}

fn program(
    reader: &mut Reader,
    section: &Section<'_>,
    base: &Path,
    builtins: &[&str],
) -> Option<(Program, Option<Vec<String>>)> {
    let dir = reader.value(section, "dir", |value| path_text(value).map(str::to_owned));
    if section.has("dir") && dir.is_none() {
        return None;
    }
    let folder = dir
        .as_deref()
        .map_or_else(|| base.to_owned(), |dir| resolve(base, dir));
    let own_dir = dir.is_some();
    if section.has("builtin") {
        for key in ["command", "dir"] {
            if section.has(key) {
                reader.error.push(
                    Some(section.key_place(key)),
                    format!("{} has `builtin` and `{key}`", section.name()),
                    "leave one of them out",
                );
            }
        }
        let builtin = reader.value(section, "builtin", |value| builtin(value, builtins));
        return builtin.map(|name| (Program::Builtin(name), None));
    }
    if section.has("command") {
        let argv = reader.value(section, "command", command)?;
        let program = Program::Command {
            argv,
            dir: folder,
            own_dir,
        };
        return Some((program, None));
    }
    if own_dir {
        let file = folder.join(BOT_FILE);
        if file.exists() {
            let BotFile { run, build, .. } = bot_file(reader, &file)?;
            let program = Program::Command {
                argv: run,
                dir: folder,
                own_dir,
            };
            return Some((program, build));
        }
        let what = if folder.is_dir() {
            format!("is a folder without {BOT_FILE}, and there is no `command`")
        } else {
            format!(
                "names the folder {}, which does not exist",
                folder.display()
            )
        };
        let wrong = Wrong::new(
            what,
            "a bot's folder, with `command = [...]` or its bot.toml, is right",
        );
        reader.wrong(section, "dir", wrong);
        return None;
    }
    reader.error.push(
        Some(section.header()),
        format!("{} does not say what to start", section.name()),
        "`command = [...]` or `builtin = \"...\"` is missing",
    );
    None
}

/// A value that is a path.
pub(super) fn path_text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, Wrong> {
    let text = value
        .as_str()
        .ok_or_else(|| Wrong::new(format!("is {}", kind(value)), "a path as text is right"))?;
    path_problem(text).map_or(Ok(text), Err)
}

fn builtin(value: &DeValue<'_>, builtins: &[&str]) -> Result<String, Wrong> {
    let text = value.as_str().ok_or_else(|| {
        Wrong::new(
            format!("is {}", kind(value)),
            format!(
                "the name of a built-in bot is right: {}",
                builtins.join(", ")
            ),
        )
    })?;
    known_builtin(text, builtins)
}

/// Checks the name of a built-in bot.
pub(super) fn known_builtin(text: &str, builtins: &[&str]) -> Result<String, Wrong> {
    if builtins.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(Wrong::new(
            format!("is {}, which is no built-in bot", quoted(text)),
            suggestion(text, builtins.iter().copied()),
        ))
    }
}

/// A command: a list of words, or text that is split into words.
pub(super) fn command(value: &DeValue<'_>) -> Result<Vec<String>, Wrong> {
    const RIGHT: &str = "a list of texts is right, like [\"python3\", \"bot.py\"]";
    let argv = match value {
        DeValue::String(text) => return command_line(text),
        DeValue::Array(list) => list
            .iter()
            .map(|word| match word.get_ref() {
                DeValue::String(word) => Ok(word.as_ref().to_owned()),
                other => Err(Wrong::new(format!("holds {}", kind(other)), RIGHT)),
            })
            .collect::<Result<Vec<String>, Wrong>>()?,
        other => return Err(Wrong::new(format!("is {}", kind(other)), RIGHT)),
    };
    check_argv(argv)
}

/// Splits a command line into words as a shell does; nothing else of a shell is known.
pub(super) fn command_line(text: &str) -> Result<Vec<String>, Wrong> {
    let argv = shell_words::split(text)
        .map_err(|_| Wrong::new("has a quote that is not closed", "close it"))?;
    check_argv(argv)
}

fn check_argv(argv: Vec<String>) -> Result<Vec<String>, Wrong> {
    const RIGHT: &str = "a program and its arguments are right";
    match argv.first() {
        None => Err(Wrong::new("is empty", RIGHT)),
        Some(program) if program.trim().is_empty() => {
            Err(Wrong::new("begins with a blank word", RIGHT))
        }
        Some(_) if argv.iter().any(|word| word.contains('\0')) => {
            Err(Wrong::new("holds a zero byte", RIGHT))
        }
        Some(_) => Ok(argv),
    }
}

pub(super) fn env(reader: &mut Reader, section: &Section<'_>) -> Vec<(String, String)> {
    let Some(table) = reader.open_section(section, "env", &format!("`env` in {}", section.name()))
    else {
        return Vec::new();
    };
    let mut env = Vec::new();
    for key in table.keys() {
        if key.is_empty() || key.contains(['=', '\0']) {
            let title = format!("{} cannot be the name of a variable", quoted(key));
            reader.error.push(
                Some(table.key_place(key)),
                title,
                "a name without `=` is right",
            );
            continue;
        }
        let value = reader.value(&table, key, |value| {
            let text = value.as_str().ok_or_else(|| {
                Wrong::new(
                    format!("is {}", kind(value)),
                    "text is right: put it in quotes",
                )
            })?;
            if text.contains('\0') {
                return Err(Wrong::new("holds a zero byte", "text is right"));
            }
            Ok(text.to_owned())
        });
        env.extend(value.map(|value| (key.to_owned(), value)));
    }
    env
}

/// The event's limits, with those over them that the bot sets itself.
fn own_limits(reader: &mut Reader, section: &Section<'_>, limits: &Limits, base: &Path) -> Limits {
    let mut own = limits.clone();
    if let Some(table) = reader.section(section, "limits", "`limits` of a bot", LIMIT_KEYS, HOMES) {
        if table.has("cores") {
            reader.error.push(
                Some(table.key_place("cores")),
                "`cores` holds for a whole game, not for one bot",
                "it stands in [limits]",
            );
        }
        sections::limits(reader, &table, &mut own, base);
        own.cores = limits.cores;
    }
    own
}

/// What a `bot.toml` says.
struct BotFile {
    name: Option<String>,
    build: Option<Vec<String>>,
    run: Vec<String>,
}

/// Reads a `bot.toml`.
fn bot_file(reader: &mut Reader, file: &Path) -> Option<BotFile> {
    let shown = file.display().to_string();
    let text = match read_text(file, MAX_BOT_FILE_BYTES, "the bot's file") {
        Ok(text) => text,
        Err(message) => {
            reader.error.push(None, message, "");
            return None;
        }
    };
    let (source, table) = reader.file(&shown, &text)?;
    let root = reader.root(source, BOT_FILE, &table, BOT_FILE_KEYS);
    let build = reader.value(&root, "build", command);
    let name = reader.text(&root, "name", MAX_NAME_CHARS, "team-a");
    if !root.has("run") {
        reader.error.push(
            Some(root.header()),
            format!("{shown} does not say how the bot is run"),
            "`run = [\"python3\", \"bot.py\"]` or the like is missing",
        );
        return None;
    }
    let run = reader.value(&root, "run", command)?;
    Some(BotFile { name, build, run })
}

/// The command that builds a bot, where its folder's `bot.toml` tells one.
pub(super) fn build_command(folder: &Path) -> Option<String> {
    let text = read_text(&folder.join(BOT_FILE), MAX_BOT_FILE_BYTES, "").ok()?;
    let table = toml::de::DeTable::parse(&text).ok()?;
    let build = table.get_ref().get("build")?;
    command(build.get_ref()).ok().map(shell_words::join)
}

/// The options behind the name of a built-in bot: `KEY=VALUE` parts with commas between them.
fn builtin_options(text: &str) -> Result<Map<String, Value>, Wrong> {
    let mut options = Map::new();
    for part in text.split(',') {
        let Some((key, value)) = part.split_once('=') else {
            let what = format!("has the part {}", quoted(part));
            return Err(Wrong::new(what, "builtin:NAME,KEY=VALUE,... is right"));
        };
        let key = key.trim();
        let value = super::flags::option_value(value).map_err(|wrong| {
            Wrong::new(
                format!("has the option {}, which {}", quoted(key), wrong.what),
                wrong.right,
            )
        })?;
        if options.insert(key.to_owned(), value).is_some() {
            let what = format!("gives the option {} twice", quoted(key));
            return Err(Wrong::new(what, "leave one out"));
        }
    }
    Ok(options)
}

/// A bot of a command line as it was found.
pub(super) struct Found {
    pub(super) name: String,
    /// The folder that it or its script lies in, which tells it from another of the same name.
    pub(super) folder: Option<String>,
    pub(super) program: Program,
    pub(super) build: Option<Vec<String>>,
    pub(super) options: Map<String, Value>,
}

/// A bot of a command line: `builtin:NAME` or `builtin:NAME,KEY=VALUE,...`, a folder with `bot.toml`, or a command line.
pub(super) fn from_text(
    reader: &mut Reader,
    text: &str,
    base: &Path,
    builtins: &[&str],
) -> Option<Found> {
    let refused = |reader: &mut Reader, wrong: Wrong| {
        let title = format!("the bot {} {}", quoted(text), wrong.what);
        let advice = if wrong.right.is_empty() {
            title
        } else {
            format!("{title}; {}", wrong.right)
        };
        reader.error.push(None, advice, "");
        None
    };
    if let Some(spelling) = text.strip_prefix("builtin:") {
        let (name, options) = match spelling.split_once(',') {
            Some((name, options)) => (name, builtin_options(options)),
            None => (spelling, Ok(Map::new())),
        };
        return match known_builtin(name, builtins).and_then(|name| Ok((name, options?))) {
            Ok((name, options)) => Some(Found {
                // So that two with other options are told apart.
                name: spelling.to_owned(),
                folder: None,
                program: Program::Builtin(name),
                build: None,
                options,
            }),
            Err(wrong) => refused(reader, wrong),
        };
    }
    let folder = resolve(base, text);
    if !text.trim().is_empty() && folder.is_dir() {
        let file = folder.join(BOT_FILE);
        if !file.exists() {
            let wrong = Wrong::new(
                format!("is a folder without {BOT_FILE}"),
                format!("{BOT_FILE} holds `run = [\"python3\", \"bot.py\"]` or the like"),
            );
            return refused(reader, wrong);
        }
        let BotFile { name, build, run } = bot_file(reader, &file)?;
        let own = last_name(&folder);
        let name = name.unwrap_or_else(|| own.clone());
        let program = Program::Command {
            argv: run,
            dir: folder,
            own_dir: true,
        };
        return Some(Found {
            name,
            folder: Some(own),
            program,
            build,
            options: Map::new(),
        });
    }
    match command_line(text).and_then(|argv| check_word(argv, base, builtins)) {
        Ok(argv) => {
            let (name, folder) = command_name(&argv, base);
            let program = Program::Command {
                argv,
                dir: base.to_owned(),
                own_dir: false,
            };
            Some(Found {
                name,
                folder,
                program,
                build: None,
                options: Map::new(),
            })
        }
        Err(wrong) => refused(reader, wrong),
    }
}

/// A single word is the name of a program, if it is not that of a folder: where it is neither, a built-in bot may be meant.
fn check_word(argv: Vec<String>, base: &Path, builtins: &[&str]) -> Result<Vec<String>, Wrong> {
    let [word] = argv.as_slice() else {
        return Ok(argv);
    };
    if word.contains('/') || is_on_path(word) {
        return Ok(argv);
    }
    let name = word.split(',').next().unwrap_or_default();
    let near = nearest(name, builtins.iter().copied());
    let right = if base.join(word).is_file() {
        format!("the file is \"./{word}\"")
    } else if let Some(near) = near {
        format!("did you mean `builtin:{near}`?")
    } else {
        "name its folder or its file with the path, or a built-in bot: `hakem bot --list`"
            .to_owned()
    };
    Err(Wrong::new(
        format!(
            "is neither a folder ({}) nor a program of the search path",
            base.join(word).display()
        ),
        right,
    ))
}

/// What a command is called, and the folder of what gave it the name: its script where it has one, else its program, without
/// folder and ending; of hakem's own the bot or engine.
fn command_name(argv: &[String], base: &Path) -> (String, Option<String>) {
    if let [program, what, name, ..] = argv
        && Path::new(program)
            .file_stem()
            .is_some_and(|it| it == "hakem")
        && ["adapter", "bot"].contains(&what.as_str())
        && let Ok(name) = plain_text(name, MAX_NAME_CHARS, String::new())
    {
        return (name, None);
    }
    // A word with a space in it may be a line for an interpreter.
    let is_script =
        |word: &&String| is_script(word) || (ends_as_script(word) && base.join(word).is_file());
    let script = argv.iter().skip(1).find(is_script);
    let named = script
        .or_else(|| argv.first())
        .map_or("bot", String::as_str);
    let folder = Path::new(named)
        .parent()
        .filter(|folder| folder.file_name().is_some());
    let stem = Path::new(named)
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = plain_text(stem.trim(), MAX_NAME_CHARS, String::new());
    (name.unwrap_or_else(|_| "bot".into()), folder.map(last_name))
}

fn last_name(folder: &Path) -> String {
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    plain_text(name.trim(), MAX_NAME_CHARS, String::new()).unwrap_or_else(|_| "bot".into())
}
