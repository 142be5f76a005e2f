//! Finds the programs of the bots, and tells before the first game which of them cannot be started.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bots::build_command;
use super::diagnose::quoted;
use super::read::tidy;
use super::{BotSpec, EventConfig, Program};

/// Why a bot cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramProblem {
    /// The bot's name in the event.
    pub bot: String,
    /// The bot and the place of its `[[bot]]` ([`EventConfig::place_of`]).
    pub whose: String,
    /// What is wrong.
    pub what: String,
    /// What would be right; may be empty.
    pub right: String,
}

impl fmt::Display for ProgramProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.whose, self.what)?;
        if !self.right.is_empty() {
            write!(f, "; {}", self.right)?;
        }
        Ok(())
    }
}

/// What is wrong with a file, and what would be right.
struct Fault {
    what: String,
    right: String,
}

impl Fault {
    fn new(what: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault {
            what: what.into(),
            right: right.into(),
        }
    }
}

/// Every bot of the event that cannot be started, and why. Built-in bots are never among them.
pub fn check_programs(config: &EventConfig) -> Vec<ProgramProblem> {
    config
        .bots
        .iter()
        .filter_map(|bot| check(bot).err().map(|fault| (bot, fault)))
        .map(|(bot, fault)| ProgramProblem {
            bot: bot.name.clone(),
            whose: config.place_of(bot),
            what: fault.what,
            right: fault.right,
        })
        .collect()
}

fn check(bot: &BotSpec) -> Result<(), Fault> {
    let Program::Command { argv, dir, .. } = &bot.program else {
        return Ok(());
    };
    check_argv(argv, dir).map_err(|fault| with_build(fault, dir))
}

fn check_argv(argv: &[String], dir: &Path) -> Result<(), Fault> {
    check_folder(dir)?;
    let program = argv.first().map_or("", String::as_str);
    // The first argument that looks like a script is the program itself where an interpreter runs it.
    let script = argv.iter().skip(1).find(|word| is_script(word));
    let found = find(program, dir).map(drop).and_then(|()| match script {
        Some(script) => check_script(script, dir),
        None => Ok(()),
    });
    found.map_err(|fault| match spaced(argv, dir) {
        Some(path) => Fault::new(
            fault.what,
            format!("a path with a space is one word if it stands in quotes: '{path}'"),
        ),
        None => fault,
    })
}

/// A file whose path has spaces and was split at them into several words.
fn spaced(argv: &[String], dir: &Path) -> Option<String> {
    (0..argv.len())
        .flat_map(|from| (from + 2..=argv.len()).map(move |to| argv[from..to].join(" ")))
        .find(|path| dir.join(path).is_file())
}

/// Whether there is a program of this name on the search path, whether it can be run or not.
pub(super) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .any(|folder| folder.is_absolute() && folder.join(program).is_file())
}

/// Checks that a command can be started in a folder.
///
/// # Errors
/// What is wrong, and what would be right.
pub(super) fn check_command(argv: &[String], dir: &Path) -> Result<(), (String, String)> {
    check_argv(argv, dir).map_err(|fault| (fault.what, fault.right))
}

/// Adds how the bot is built, where its folder says so.
fn with_build(fault: Fault, dir: &Path) -> Fault {
    match build_command(dir) {
        Some(build) => Fault::new(
            fault.what,
            format!("build it first: in {}, run {build}", dir.display()),
        ),
        None => fault,
    }
}

fn check_folder(dir: &Path) -> Result<(), Fault> {
    let shown = dir.display();
    match std::fs::metadata(dir) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Fault::new(
            format!("its folder {shown} is no folder"),
            "`dir` is the folder that the bot is started in",
        )),
        Err(error) => Err(Fault::new(
            format!("its folder {shown} cannot be entered: {error}"),
            "`dir` is relative to the event file",
        )),
    }
}

/// The file that a command's first word names: with a `/` in it a path relative to the bot's folder, else a program
/// of the search path.
///
/// # Errors
/// Why there is no such program, or why it cannot be run, in words.
pub fn resolve_program(program: &str, dir: &Path) -> Result<PathBuf, String> {
    find(program, dir).map_err(|fault| {
        if fault.right.is_empty() {
            fault.what
        } else {
            format!("{}; {}", fault.what, fault.right)
        }
    })
}

fn find(program: &str, dir: &Path) -> Result<PathBuf, Fault> {
    if program.contains('/') {
        let file = tidy(dir.join(program));
        check_program(&file, program)?;
        return Ok(file);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_on(&path, program, dir)
}

fn find_on(path: &OsStr, program: &str, dir: &Path) -> Result<PathBuf, Fault> {
    let mut refused = None;
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let file = folder.join(program);
        if file.is_file() {
            match check_program(&file, program) {
                Ok(()) => return Ok(file),
                Err(fault) => refused = refused.or(Some(fault)),
            }
        }
    }
    let shown = quoted(program);
    Err(refused.unwrap_or_else(|| {
        let right = if dir.join(program).is_file() {
            format!("the file in the bot's folder is \"./{program}\"")
        } else {
            "install it, or name it with its path".to_owned()
        };
        Fault::new(
            format!("there is no program {shown} on the search path"),
            right,
        )
    }))
}

/// Checks that a file can be run.
fn check_program(file: &Path, program: &str) -> Result<(), Fault> {
    let shown = file.display();
    let found = std::fs::metadata(file)
        .map_err(|error| Fault::new(format!("its program {shown} is missing: {error}"), ""))?;
    if !found.is_file() {
        let what = if found.is_dir() {
            "a folder"
        } else {
            "no file"
        };
        return Err(Fault::new(
            format!("its program {shown} is {what}"),
            "`command` begins with the program's file",
        ));
    }
    if found.len() == 0 {
        return Err(Fault::new(
            format!("its program {shown} is empty (0 bytes)"),
            "",
        ));
    }
    if !is_executable(file) {
        let right = match interpreter(program) {
            Some(interpreter) => format!(
                "make it so (chmod +x {shown}), or write `command = [\"{interpreter}\", \"{program}\"]`"
            ),
            None => format!("make it so: chmod +x {shown}"),
        };
        return Err(Fault::new(
            format!("its program {shown} is not executable"),
            right,
        ));
    }
    check_first_bytes(file, program)
}

fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Checks that the system can run what the file holds: a binary, or a script whose first line names its interpreter.
fn check_first_bytes(file: &Path, program: &str) -> Result<(), Fault> {
    let shown = file.display();
    let mut head = Vec::new();
    // A program may be executable and yet not readable.
    let read = std::fs::File::open(file).and_then(|file| file.take(256).read_to_end(&mut head));
    if read.is_err() || !cfg!(target_os = "linux") || head.starts_with(b"\x7fELF") {
        return Ok(());
    }
    let Some(line) = head.strip_prefix(b"#!") else {
        // Other formats (binfmt_misc) begin with other bytes, but not with text.
        let text = head
            .iter()
            .all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
        if !text {
            return Ok(());
        }
        let interpreter = interpreter(program).unwrap_or("python3");
        return Err(Fault::new(
            format!("its program {shown} is text, but its first line names no interpreter"),
            format!(
                "begin it with `#!/usr/bin/env {interpreter}`, or write `command = [\"{interpreter}\", \"{program}\"]`"
            ),
        ));
    };
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.ends_with(b"\r") {
        return Err(Fault::new(
            format!("the first line of its program {shown} has a Windows line end"),
            "save the file with Unix line ends",
        ));
    }
    let line = String::from_utf8_lossy(line);
    let interpreter = line.split_whitespace().next().unwrap_or_default();
    if Path::new(interpreter).is_file() {
        return Ok(());
    }
    Err(Fault::new(
        format!(
            "the first line of its program {shown} names the interpreter {}, which is missing",
            quoted(interpreter)
        ),
        "`#!/usr/bin/env python3` or the like is right",
    ))
}

fn check_script(script: &str, dir: &Path) -> Result<(), Fault> {
    let file = tidy(dir.join(script));
    let shown = file.display();
    match std::fs::metadata(&file) {
        Err(error) => Err(Fault::new(
            format!("the file {shown} of its command is missing: {error}"),
            "a path in `command` is relative to `dir`",
        )),
        Ok(found) if !found.is_file() => {
            Err(Fault::new(format!("{shown} in its command is no file"), ""))
        }
        Ok(found) if found.len() == 0 => Err(Fault::new(
            format!("the file {shown} of its command is empty (0 bytes)"),
            "",
        )),
        Ok(_) => Ok(()),
    }
}

/// Scripts by their ending, and what runs them.
const SCRIPTS: &[(&str, &str)] = &[
    ("py", "python3"),
    ("js", "node"),
    ("mjs", "node"),
    ("sh", "sh"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("lua", "lua"),
    ("jar", "java"),
    ("php", "php"),
];

fn interpreter(file: &str) -> Option<&'static str> {
    let ending = Path::new(file).extension()?.to_str()?;
    SCRIPTS
        .iter()
        .find(|(known, _)| *known == ending)
        .map(|(_, interpreter)| *interpreter)
}

/// Whether a word of a command is a script by its ending.
pub fn is_script(word: &str) -> bool {
    // A word with a space in it is a line for an interpreter (`sh -c "python3 bot.py"`), not a file.
    !word.contains(char::is_whitespace) && ends_as_script(word)
}

/// Whether a word ends as a script does, whatever else is in it.
pub(super) fn ends_as_script(word: &str) -> bool {
    !word.starts_with('-') && interpreter(word).is_some()
}
