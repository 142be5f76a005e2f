//! Copies of bots' files, taken once: what is changed afterwards changes nothing, and what a bot sees of paths tells nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::chance;
use crate::config::files::{MAX_BYTES, MAX_DEPTH, MAX_FILES, is_left_out, marks_other_folder};

/// What is copied of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// All of it, and these files whatever they lie among: a program may lie among what else is left out.
    All(BTreeSet<PathBuf>),
    /// The same if that is not much, else these files only, relative to it.
    AllOrOnly(BTreeSet<PathBuf>),
    /// These files, relative to it.
    Only(BTreeSet<PathBuf>),
}

/// What is "not much" of a folder that was not given to a bot as its own.
const SMALL: Most = Most {
    files: 500,
    bytes: 64 << 20,
};
const LARGE: Most = Most {
    files: MAX_FILES,
    bytes: MAX_BYTES,
};

#[derive(Clone, Copy)]
struct Most {
    files: usize,
    bytes: u64,
}

/// A finished copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    /// Its folder, named by the hash of its content.
    pub(super) folder: PathBuf,
    /// SHA-256 of a line for each file: `HASH  MODE  PATH`, in the order of the paths; hex.
    pub(super) hash: String,
    /// Whether only the named files were copied, as the folder holds too much.
    pub(super) cut: bool,
}

/// One entry of a folder.
enum Entry {
    Folder,
    File { path: PathBuf, executable: bool },
    Link(PathBuf),
}

/// Copies a folder into `DIR/HASH`, unless that is there.
///
/// Symbolic links are copied as links and never followed: what they point to outside is not the bot's.
///
/// # Errors
/// Too many or too large files; what the disk refused.
pub(super) fn take(
    from: &Path,
    what: &What,
    event: Option<&Path>,
    into: &Path,
) -> Result<Copy, String> {
    let listing = |most| {
        let mut list = List {
            root: from,
            event,
            most,
            bytes: 0,
            entries: Vec::new(),
        };
        list.folder(Path::new(""), 0).map(|()| list.entries)
    };
    let (entries, cut) = match what {
        What::All(files) => (with(listing(LARGE)?, named(from, files)?), false),
        What::Only(files) => (named(from, files)?, false),
        What::AllOrOnly(files) => match listing(SMALL) {
            Ok(entries) => (with(entries, named(from, files)?), false),
            Err(_) => (named(from, files)?, true),
        },
    };
    let fault =
        |error: io::Error| format!("its files cannot be copied to {}: {error}", into.display());
    fs::create_dir_all(into).map_err(fault)?;
    let fresh = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(into)
        .map_err(fault)?;
    let hash = copy(&entries, fresh.path()).map_err(fault)?;
    let folder = into.join(&hash);
    if !folder.exists() {
        fs::set_permissions(fresh.path(), fs::Permissions::from_mode(0o755)).map_err(fault)?;
        match fs::rename(fresh.path(), &folder) {
            Ok(()) => drop(fresh.keep()),
            // Another run was faster.
            Err(_) if folder.exists() => {}
            Err(error) => return Err(fault(error)),
        }
    }
    shut(&folder).map_err(fault)?;
    Ok(Copy { folder, hash, cut })
}

/// The entries of a folder, and those of the others that are not among them.
fn with(
    mut entries: Vec<(PathBuf, Entry)>,
    others: Vec<(PathBuf, Entry)>,
) -> Vec<(PathBuf, Entry)> {
    let there: BTreeSet<PathBuf> = entries.iter().map(|(path, _)| path.clone()).collect();
    entries.extend(others.into_iter().filter(|(path, _)| !there.contains(path)));
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

fn named(root: &Path, files: &BTreeSet<PathBuf>) -> Result<Vec<(PathBuf, Entry)>, String> {
    let mut entries = Vec::new();
    let mut folders = BTreeSet::new();
    for file in files {
        if file
            .components()
            .any(|part| !matches!(part, Component::Normal(_)))
        {
            return Err(format!(
                "{} is not within {}",
                file.display(),
                root.display()
            ));
        }
        for folder in file
            .ancestors()
            .skip(1)
            .filter(|path| *path != Path::new(""))
        {
            folders.insert(folder.to_owned());
        }
        let path = root.join(file);
        let found = fs::metadata(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let executable = found.permissions().mode() & 0o111 != 0;
        entries.push((file.clone(), Entry::File { path, executable }));
    }
    entries.extend(folders.into_iter().map(|folder| (folder, Entry::Folder)));
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

struct List<'a> {
    root: &'a Path,
    event: Option<&'a Path>,
    most: Most,
    bytes: u64,
    entries: Vec<(PathBuf, Entry)>,
}

impl List<'_> {
    fn folder(&mut self, below: &Path, depth: usize) -> Result<(), String> {
        let path = self.root.join(below);
        let fault = |error: io::Error| format!("cannot read {}: {error}", path.display());
        if depth > MAX_DEPTH {
            return Err(format!("{} is too deep below its folder", path.display()));
        }
        let mut names = Vec::new();
        match fs::read_dir(&path) {
            Ok(entries) => {
                for entry in entries {
                    names.push(entry.map_err(fault)?.file_name());
                }
            }
            // What only others may read is not the bot's either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && depth > 0 => {
                return Ok(());
            }
            Err(error) => return Err(fault(error)),
        }
        names.sort();
        if depth > 0 {
            if names.iter().any(|name| marks_other_folder(Path::new(name))) {
                return Ok(());
            }
            self.entries.push((below.to_owned(), Entry::Folder));
        }
        for name in names {
            if !is_left_out(&name) {
                self.entry(&below.join(name), depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, below: &Path, depth: usize) -> Result<(), String> {
        let path = self.root.join(below);
        if Some(path.as_path()) == self.event {
            return Ok(());
        }
        // It may have gone away between the listing and now.
        let Ok(found) = fs::symlink_metadata(&path) else {
            return Ok(());
        };
        if found.is_dir() {
            return self.folder(below, depth + 1);
        }
        self.bytes += found.len();
        if self.entries.len() >= self.most.files || self.bytes > self.most.bytes {
            return Err(format!(
                "its folder {} holds more than {} files or {}; put a CACHEDIR.TAG into a folder that is not part of the bot",
                self.root.display(),
                self.most.files,
                crate::config::units::show_size(self.most.bytes)
            ));
        }
        if found.is_symlink() {
            let target = fs::read_link(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            self.entries.push((below.to_owned(), Entry::Link(target)));
        } else if found.is_file() {
            let executable = found.permissions().mode() & 0o111 != 0;
            self.entries
                .push((below.to_owned(), Entry::File { path, executable }));
        }
        Ok(())
    }
}

/// Copies entries, and hashes what was copied.
fn copy(entries: &[(PathBuf, Entry)], into: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut line = |hash: &str, mode: &str, path: &Path| {
        for part in [
            hash.as_bytes(),
            mode.as_bytes(),
            path.as_os_str().as_encoded_bytes(),
        ] {
            hasher.update(part);
            hasher.update(b"\0");
        }
    };
    for (below, entry) in entries {
        let to = into.join(below);
        match entry {
            Entry::Folder => {
                fs::create_dir_all(&to)?;
                line("", "folder", below);
            }
            Entry::Link(target) => {
                symlink(target, &to)?;
                line(
                    &chance::hex(target.as_os_str().as_encoded_bytes()),
                    "link",
                    below,
                );
            }
            Entry::File { path, executable } => {
                let Some(hash) = copy_file(path, &to)? else {
                    continue;
                };
                let mode = if *executable { 0o555 } else { 0o444 };
                fs::set_permissions(&to, fs::Permissions::from_mode(mode))?;
                line(&hash, if *executable { "program" } else { "file" }, below);
            }
        }
    }
    Ok(chance::hex(&hasher.finalize()))
}

/// Copies a file and hashes what was copied; nothing of a file that only others may read.
fn copy_file(from: &Path, to: &Path) -> io::Result<Option<String>> {
    use std::io::{Read, Write};
    let mut source = match fs::File::open(from) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut copy = fs::File::create(to)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = source.read(&mut buffer)?;
        if length == 0 {
            return Ok(Some(chance::hex(&hasher.finalize())));
        }
        hasher.update(&buffer[..length]);
        copy.write_all(&buffer[..length])?;
    }
}

/// Takes away the right to write to the folders of a copy.
fn shut(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            shut(&entry.path())?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(files: &[&str]) -> BTreeSet<PathBuf> {
        files.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_copy_is_named_by_its_content_and_cannot_be_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let (bot, copies) = (dir.path().join("bot"), dir.path().join("bots"));
        fs::create_dir_all(bot.join("lib/__pycache__")).expect("made");
        fs::write(bot.join("bot.py"), "one").expect("written");
        fs::write(bot.join("lib/a.py"), "a").expect("written");
        symlink("/etc/hostname", bot.join("link")).expect("linked");
        let first = take(&bot, &What::All(BTreeSet::new()), None, &copies).expect("copied");
        assert_eq!(first.folder, copies.join(&first.hash));
        assert_eq!(
            take(&bot, &What::All(BTreeSet::new()), None, &copies),
            Ok(first.clone())
        );
        for path in ["bot.py", "lib", "lib/a.py", ""] {
            let mode = fs::metadata(first.folder.join(path))
                .expect("copied")
                .permissions()
                .mode();
            assert_eq!(mode & 0o222, 0, "{path}");
            assert_eq!(mode & 0o444, 0o444, "{path}");
        }
        assert!(!first.folder.join("lib/__pycache__").exists());
        let link = fs::symlink_metadata(first.folder.join("link")).expect("copied");
        assert!(link.is_symlink());

        fs::write(bot.join("bot.py"), "two").expect("written");
        let second = take(&bot, &What::All(BTreeSet::new()), None, &copies).expect("copied");
        assert_ne!(second.hash, first.hash);
        let text = fs::read_to_string(first.folder.join("bot.py")).expect("still there");
        assert_eq!(text, "one");
        fs::set_permissions(bot.join("bot.py"), fs::Permissions::from_mode(0o755)).expect("set");
        let third = take(&bot, &What::All(BTreeSet::new()), None, &copies).expect("copied");
        assert_ne!(
            third.hash, second.hash,
            "what may be executed is part of the content"
        );
        crate::bot::sandbox::slots::open_again(&copies);
    }

    #[test]
    fn of_a_large_folder_only_what_is_named_is_copied() {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, copies) = (dir.path().join("home"), dir.path().join("bots"));
        fs::create_dir_all(from.join("a")).expect("made");
        for n in 0..=SMALL.files {
            fs::write(from.join(format!("{n}")), "x").expect("written");
        }
        fs::write(from.join("a/bot.py"), "x").expect("written");
        let what = What::AllOrOnly(only(&["a/bot.py"]));
        let copy = take(&from, &what, None, &copies).expect("copied");
        assert!(copy.cut && copy.folder.join("a/bot.py").exists());
        assert!(!copy.folder.join("1").exists());
        let outside = What::Only(only(&["../x"]));
        assert!(take(&from, &outside, None, &copies).is_err());
        crate::bot::sandbox::slots::open_again(&copies);
    }
}
