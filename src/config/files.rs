//! The content of the bots' files, so that a changed bot is not taken for the one that played before.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::programs::resolve_program;
use super::read::tidy;
use super::{BotSpec, EventConfig, Program};
use crate::chance;

/// The most files of one bot's folder.
pub const MAX_FILES: usize = 20_000;
/// The most bytes of one bot's folder, and of one file.
pub const MAX_BYTES: u64 = 4 << 30;
/// The deepest folder below a bot's folder.
pub const MAX_DEPTH: usize = 64;
/// Changed files that are named at most, a bot.
const MAX_NAMED: usize = 10;

/// The content of one bot's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BotFiles(
    /// By path (relative to the event's folder where it is within it): the SHA-256 of the content in hex; for a symbolic link in
    /// the bot's folder `link to` and its target; `not readable` for what only others may read.
    pub BTreeMap<String, String>,
);

/// A bot's files that cannot be looked through.
#[derive(Debug, thiserror::Error)]
#[error("bot `{bot}`: {what}")]
pub struct FilesError {
    /// The bot's name in the event.
    pub bot: String,
    /// What is wrong, with the path.
    pub what: String,
}

impl BotFiles {
    /// One hash of all, hex: SHA-256 of a line `HASH  PATH` for each file in the order of the paths. Empty for a bot without
    /// files, which is built in.
    pub fn hash(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let mut hasher = Sha256::new();
        for (path, hash) in &self.0 {
            hasher.update(hash);
            hasher.update("  ");
            hasher.update(path);
            hasher.update("\n");
        }
        chance::hex(&hasher.finalize())
    }

    /// What is different in the files of a bot as it is now, one sentence a file: "bot `team-a`: entries/bot.py has changed".
    pub fn changes(&self, is: &BotFiles, bot: &BotSpec) -> Vec<String> {
        let program = match &bot.program {
            Program::Command { argv, .. } => argv.first().map(String::as_str),
            Program::Builtin(_) => None,
        };
        self.changes_of(is, &format!("bot `{}`", bot.name), program)
    }

    /// The same of files that are not a bot's; `whose` says of what they are: "game `pig`". `program` is the first word of the
    /// command.
    pub fn changes_of(&self, is: &BotFiles, whose: &str, program: Option<&str>) -> Vec<String> {
        let gone = self
            .0
            .iter()
            .filter_map(|(path, was)| match is.0.get(path) {
                None => Some(match program.and_then(|word| self.moved(is, word, path)) {
                    Some(moved) => format!("{whose}: {moved}"),
                    None => format!("{whose}: {path} is gone"),
                }),
                Some(is) if is != was => Some(format!("{whose}: {path} has changed")),
                Some(_) => None,
            });
        // A file that is new is no change: bots leave caches and logs beside themselves, and one bot must not end an event.
        let mut changes: Vec<String> = gone.collect();
        if changes.len() > MAX_NAMED {
            let more = changes.len() - MAX_NAMED;
            changes.truncate(MAX_NAMED);
            changes.push(format!("{whose}: {more} more files are different"));
        }
        changes
    }

    /// Where a program of the search path, which was `path`, is another file now: that in words.
    fn moved(&self, is: &BotFiles, program: &str, path: &str) -> Option<String> {
        if program.contains('/') {
            return None;
        }
        let named = |path: &str| {
            Path::new(path)
                .file_name()
                .is_some_and(|name| name == program)
        };
        let mut others = is.0.keys().filter(|other| !self.0.contains_key(*other));
        let now = others.find(|other| named(other)).filter(|_| named(path))?;
        let folder = Path::new(path).parent().unwrap_or(Path::new("/"));
        Some(format!(
            "`{program}` was {path} and is now {now}: PATH is another one; put {} first in PATH again (a virtual environment is \
             entered or left)",
            folder.display()
        ))
    }
}

/// The files of every bot, by slot: of a command the file of its program and each argument that names a file, and where the
/// event gives the bot a folder of its own, all regular files in it.
///
/// Left out in folders: what programs and tools leave behind (`__pycache__`, `.git`, `.hg`, `.svn`, `.DS_Store`, folders
/// marked by a `CACHEDIR.TAG`), results of this program, the event file, sockets, pipes and devices. Symbolic links are
/// not followed there.
///
/// # Errors
/// A program that is missing, a folder with too many or too large files, a disk that cannot be read.
pub fn bot_files(config: &EventConfig) -> Result<Vec<BotFiles>, FilesError> {
    let mut hasher = Hasher::default();
    config
        .bots
        .iter()
        .map(|bot| match &bot.program {
            Program::Builtin(_) => Ok(BotFiles::default()),
            Program::Command { argv, dir, own_dir } => {
                let event = (config.base.as_path(), config.file.as_deref());
                command_files(&mut hasher, event, argv, dir, *own_dir).map_err(|what| FilesError {
                    bot: bot.name.clone(),
                    what,
                })
            }
        })
        .collect()
}

/// The files of a command: a bot's, or that of the rules of a game. The event is its folder and its file.
pub(super) fn command_files(
    hasher: &mut Hasher,
    (base, event): (&Path, Option<&Path>),
    argv: &[String],
    dir: &Path,
    own_dir: bool,
) -> Result<BotFiles, String> {
    let mut files = BTreeMap::new();
    if own_dir {
        let mut walk = Walk {
            hasher,
            base,
            event,
            root: dir,
            bytes: 0,
            files: &mut files,
        };
        walk.folder(dir, 0)?;
    }
    let program = argv.first().map_or("", String::as_str);
    let program = resolve_program(program, dir)?;
    let arguments = argv.iter().skip(1).map(|word| tidy(dir.join(word)));
    for file in std::iter::once(program).chain(arguments.filter(|path| path.is_file())) {
        let hash = hasher.hash(&file)?;
        files.insert(shown(base, &file), hash);
    }
    Ok(BotFiles(files))
}

/// A path for people and for comparing: relative to the event's folder where it is within it.
pub(super) fn shown(base: &Path, path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.strip_prefix(base).unwrap_or(&path);
    match path.to_str() {
        Some("") => ".".into(),
        Some(text) => text.into(),
        // Names that are no text stay different from each other.
        None => path
            .as_os_str()
            .as_encoded_bytes()
            .escape_ascii()
            .to_string(),
    }
}

/// A walk through one bot's folder.
struct Walk<'a> {
    hasher: &'a mut Hasher,
    base: &'a Path,
    event: Option<&'a Path>,
    root: &'a Path,
    bytes: u64,
    files: &'a mut BTreeMap<String, String>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{} is too deep below its folder", folder.display()));
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if is_denied(&error) => {
                self.note(folder, "not readable".into());
                return Ok(());
            }
            Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
        };
        // A sorted order makes the first error the same one each time; the files are sorted by the map.
        let mut entries: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        entries.sort();
        if depth > 0 && entries.iter().any(|path| marks_other_folder(path)) {
            return Ok(());
        }
        for path in entries {
            self.entry(&path, depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        let fault = |error| format!("cannot read {}: {error}", path.display());
        if path.file_name().is_some_and(is_left_out) || Some(path) == self.event {
            return Ok(());
        }
        let found = match std::fs::symlink_metadata(path) {
            Ok(found) => found,
            // It went away between the listing and now.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(fault(error)),
        };
        if found.is_dir() {
            return self.folder(path, depth + 1);
        }
        if found.is_symlink() {
            let target = std::fs::read_link(path).map_err(fault)?;
            self.note(path, format!("link to {}", target.display()));
            return Ok(());
        }
        if !found.is_file() {
            return Ok(());
        }
        self.bytes += found.len();
        if self.files.len() >= MAX_FILES || self.bytes > MAX_BYTES {
            return Err(format!(
                "its folder {} holds more than {MAX_FILES} files or {}; give it a folder of its own, or put a CACHEDIR.TAG into a folder that is not part of the bot",
                self.root.display(),
                super::units::show_size(MAX_BYTES)
            ));
        }
        let hash = self.hasher.hash(path)?;
        self.note(path, hash);
        Ok(())
    }

    fn note(&mut self, path: &Path, content: String) {
        self.files.insert(shown(self.base, path), content);
    }
}

/// What tools and runs leave in a folder, and is no part of a bot.
pub fn is_left_out(name: &std::ffi::OsStr) -> bool {
    ["__pycache__", ".git", ".hg", ".svn", ".DS_Store"]
        .iter()
        .any(|known| name == *known)
}

/// Whether this file marks its folder as a cache (<https://bford.info/cachedir/>) or as results of this program.
pub fn marks_other_folder(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "CACHEDIR.TAG" || name == "results.sqlite")
}

fn is_denied(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Hashes files, each once.
#[derive(Default)]
pub(super) struct Hasher {
    known: HashMap<PathBuf, String>,
}

impl Hasher {
    fn hash(&mut self, path: &Path) -> Result<String, String> {
        if let Some(hash) = self.known.get(path) {
            return Ok(hash.clone());
        }
        let hash = match content_hash(path) {
            Ok(hash) => hash,
            Err(error) if is_denied(&error) => "not readable".into(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        self.known.insert(path.to_owned(), hash.clone());
        Ok(hash)
    }
}

fn content_hash(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    if file.metadata()?.len() > MAX_BYTES {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(chance::hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}
