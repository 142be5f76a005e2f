//! Where programs really are: shims of version managers are resolved, and the folders that an interpreter needs are found.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders that every sandbox shows.
const VISIBLE: [&str; 10] = [
    "/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu",
];
/// Version managers whose shim is a script that names the manager, with what asks it for the program itself.
const MANAGERS: [&str; 8] = [
    "pyenv", "rbenv", "nodenv", "plenv", "goenv", "jenv", "phpenv", "asdf",
];
/// Version managers whose shim is a link to themselves.
const LINKED: [(&str, &str); 3] = [
    ("mise", "mise"),
    ("volta-shim", "volta"),
    ("rustup", "rustup"),
];
/// The most of a script that is looked at.
const HEAD: u64 = 4096;

/// Whether a sandbox shows this path without being told to.
pub(super) fn is_visible(path: &Path) -> bool {
    VISIBLE.iter().any(|folder| path.starts_with(folder))
}

/// The program that a shim stands for; any other program is itself.
///
/// # Errors
/// If a shim does not say what it stands for: words on it.
pub(super) fn behind_shim(program: &Path, dir: &Path) -> Result<PathBuf, String> {
    let Some(manager) = manager_of(program) else {
        return Ok(program.to_owned());
    };
    let name = program.file_name().unwrap_or_default();
    // The answer may hang on the folder, where a file names the version.
    let answer = Command::new(&manager)
        .arg("which")
        .arg(name)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("{} cannot be asked: {error}", manager.display()))?;
    let text = String::from_utf8_lossy(&answer.stdout);
    let found = PathBuf::from(text.lines().next().unwrap_or_default().trim());
    if answer.status.success() && found.is_file() {
        return Ok(found);
    }
    let why = String::from_utf8_lossy(&answer.stderr);
    Err(format!(
        "{} is a shim, and `{} which {}` does not say what it stands for: {}",
        program.display(),
        manager.display(),
        name.display(),
        why.lines().next().unwrap_or("it says nothing")
    ))
}

/// The version manager whose shim this is.
fn manager_of(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let name = real.file_name()?;
    if let Some((_, tool)) = LINKED.iter().find(|(link, _)| name == OsStr::new(link)) {
        let is_itself = program.file_name() == Some(OsStr::new(tool));
        return (!is_itself).then(|| real.with_file_name(tool));
    }
    // A shim lies among shims; a script of the user's own may name a manager for other reasons.
    if !program.parent()?.ends_with("shims") {
        return None;
    }
    let script = head(&real)?;
    let words = script
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .map(Path::new);
    words
        .filter(|word| {
            MANAGERS
                .iter()
                .any(|known| word.file_name() == Some(OsStr::new(known)))
        })
        .map(Path::to_owned)
        .find(|word| !word.is_absolute() || word.is_file())
}

/// The beginning of a script; nothing of a program of another kind.
fn head(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    head.starts_with(b"#!")
        .then(|| String::from_utf8_lossy(&head).into_owned())
}

/// The interpreter that the first line of a script names, with its arguments: of `#!/usr/bin/env python3` the program on the
/// search path.
pub(super) fn of_script(program: &Path, dir: &Path) -> Option<Vec<PathBuf>> {
    let head = head(program)?;
    let line = head.lines().next()?.strip_prefix("#!")?.trim();
    let mut words = line.split_whitespace();
    let first = Path::new(words.next()?);
    if first.file_name() != Some(OsStr::new("env")) {
        // What follows the interpreter is one argument, whatever it holds.
        let rest = line.strip_prefix(first.to_str()?)?.trim();
        let argument = (!rest.is_empty()).then(|| PathBuf::from(rest));
        return Some(std::iter::once(first.to_owned()).chain(argument).collect());
    }
    let name = words
        .next()
        .filter(|name| !name.starts_with('-') && !name.contains('='))?;
    let found = crate::config::resolve_program(name, dir).ok()?;
    Some(
        std::iter::once(found)
            .chain(words.map(PathBuf::from))
            .collect(),
    )
}

/// The folders that an interpreter outside the system's own needs to be shown; empty if it is no interpreter with a folder
/// of its own.
pub(super) fn prefixes(program: &Path) -> Vec<PathBuf> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let mut folders = Vec::new();
    if name.starts_with("python") || name.starts_with("pypy") {
        folders = python_prefixes(program);
    }
    let real = program.canonicalize().ok();
    for path in std::iter::once(program.to_owned()).chain(real) {
        if !is_visible(&path)
            && let Some(folder) = prefix_of(&path)
        {
            folders.push(folder);
        }
    }
    folders.retain(|folder| !is_visible(folder) && !holds_a_home(folder));
    folders.sort();
    folders.dedup();
    folders
}

/// A virtual environment has two: its own and that of the Python it was made from.
fn python_prefixes(python: &Path) -> Vec<PathBuf> {
    const ASK: &str = "import sys; print(sys.prefix); print(sys.base_prefix)";
    let answer = Command::new(python)
        .args(["-I", "-c", ASK])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(answer) = answer else {
        return Vec::new();
    };
    String::from_utf8_lossy(&answer.stdout)
        .lines()
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_dir())
        .collect()
}

/// Of `PREFIX/bin/NAME` the prefix, if it looks like that of a runtime.
fn prefix_of(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    let prefix = bin.parent()?;
    (bin.ends_with("bin") && prefix.join("lib").is_dir()).then(|| prefix.to_owned())
}

/// Whether showing this folder would show somebody's home.
fn holds_a_home(folder: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    folder == Path::new("/")
        || folder == Path::new("/home")
        || folder == Path::new("/root")
        || folder.parent() == Some(Path::new("/home"))
        || home.is_some_and(|home| home.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn script(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("executable");
    }

    #[test]
    fn a_shim_is_resolved_by_its_manager() {
        let dir = tempfile::tempdir().expect("a folder");
        let manager = dir.path().join("libexec/pyenv");
        let shim = dir.path().join("shims/python3");
        let real = dir.path().join("versions/3/bin/python3");
        script(&real, "#!/bin/sh\n");
        script(
            &manager,
            &format!(
                "#!/bin/sh\n[ \"$1 $2\" = 'which python3' ] && echo {}\n",
                real.display()
            ),
        );
        script(
            &shim,
            &format!(
                "#!/bin/sh\nexec \"{}\" exec \"${{0##*/}}\" \"$@\"\n",
                manager.display()
            ),
        );
        assert_eq!(behind_shim(&shim, dir.path()), Ok(real.clone()));
        assert_eq!(behind_shim(&real, dir.path()), Ok(real));
        script(
            &manager,
            "#!/bin/sh\necho 'version 4 is not installed' >&2; exit 1\n",
        );
        let why = behind_shim(&shim, dir.path()).expect_err("it says nothing");
        assert!(why.contains("version 4 is not installed"), "{why}");
    }

    #[test]
    fn a_script_names_its_interpreter() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("bot");
        script(&path, "#!/bin/sh -e x\n");
        let words = ["/bin/sh", "-e x"].map(PathBuf::from).to_vec();
        assert_eq!(of_script(&path, dir.path()), Some(words));
        script(&path, "#!/usr/bin/env sh\n");
        let found = of_script(&path, dir.path()).expect("an interpreter");
        assert!(found[0].ends_with("sh") && found[0].is_absolute());
    }

    #[test]
    fn a_home_is_never_a_prefix() {
        let home = std::env::var_os("HOME").map_or("/root".into(), PathBuf::from);
        assert!(
            holds_a_home(&home)
                && holds_a_home(Path::new("/"))
                && holds_a_home(Path::new("/home/ayse"))
        );
        assert!(!holds_a_home(&home.join(".pyenv/versions/3")));
    }
}
