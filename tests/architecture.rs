//! What the rooms of the package know of each other: the pure ones know no file, clock, thread, process or terminal and no
//! room with I/O; nothing but `game/`, `house/` and the adapters of engines knows a game by name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hakem::game::GAMES;

/// What a pure room must not name: the beginnings of paths.
const IMPURE: [&str; 24] = [
    "std::fs",
    "std::process",
    "std::thread",
    "std::env",
    "std::net",
    "std::os",
    "std::path",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::io::Stdin",
    "std::io::Stdout",
    "std::io::Stderr",
    "tokio",
    "rustix",
    "libc",
    "rusqlite",
    "tempfile",
    "chrono",
    "indicatif",
    "clap",
    "anyhow",
];

/// Macros that print.
const PRINTING: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The games that are still to come; nothing may know them by name before they are there.
const TO_COME: [&str; 4] = ["oware", "reversi", "dokuztas", "qbitz"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

// ---- Reading source -------------------------------------------------------------------------------------------------

/// A source file without its comments and its tests.
struct Source {
    path: PathBuf,
    /// The code; literals are blanks.
    code: String,
    /// The same with its literals.
    text: String,
}

impl Source {
    fn read(path: &Path) -> Source {
        let file = fs::read_to_string(path).expect("a source file is text");
        let (mut code, mut text) = without_comments(&file);
        while let Some((start, end)) = tests_in(&code) {
            code.replace_range(start..end, &" ".repeat(end - start));
            text.replace_range(start..end, &" ".repeat(end - start));
        }
        let path = path.strip_prefix(root()).expect("in the package").into();
        Source { path, code, text }
    }
}

/// Puts blanks in the place of comments, and of literals too; both results are as long as the file.
fn without_comments(file: &str) -> (String, String) {
    let bytes = file.as_bytes();
    let (mut code, mut text) = (bytes.to_vec(), bytes.to_vec());
    let starts = |at: usize, what: &str| file[at..].starts_with(what);
    let mut at = 0;
    while at < bytes.len() {
        if !file.is_char_boundary(at) {
            at += 1;
            continue;
        }
        let start = at;
        let is_comment = starts(at, "//") || starts(at, "/*");
        if starts(at, "//") {
            at += file[at..].find('\n').unwrap_or(file.len() - at);
        } else if starts(at, "/*") {
            let mut depth = 0;
            loop {
                if starts(at, "/*") {
                    depth += 1;
                    at += 2;
                } else if starts(at, "*/") {
                    depth -= 1;
                    at += 2;
                } else {
                    at += file[at..].chars().next().map_or(1, char::len_utf8);
                }
                if depth == 0 {
                    break;
                }
            }
        } else if let Some(end) = raw_string(file, at) {
            at = end;
        } else if bytes[at] == b'"' {
            at += 1;
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if let Some(end) = char_literal(file, at) {
            at = end;
        } else {
            at += 1;
            continue;
        }
        for place in start..at {
            if bytes[place] != b'\n' {
                code[place] = b' ';
                if is_comment {
                    text[place] = b' ';
                }
            }
        }
    }
    let utf8 = |bytes| String::from_utf8(bytes).expect("whole characters were replaced");
    (utf8(code), utf8(text))
}

/// The end of the raw string that begins here.
fn raw_string(file: &str, at: usize) -> Option<usize> {
    let before = file[..at].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let rest = file[at..].strip_prefix('b').unwrap_or(&file[at..]);
    let hashes = rest.strip_prefix('r')?;
    let inside = hashes.trim_start_matches('#');
    let close = format!("\"{}", "#".repeat(hashes.len() - inside.len()));
    let body = inside.strip_prefix('"')?;
    let body_at = file.len() - body.len();
    Some(body_at + body.find(&close)? + close.len())
}

/// The end of the character literal that begins here; a lifetime is none.
fn char_literal(file: &str, at: usize) -> Option<usize> {
    let mut rest = file[at..].strip_prefix('\'')?.chars();
    match rest.next()? {
        '\\' => Some(
            at + 2
                + file[at + 2..]
                    .find('\'')
                    .map(|end| if end == 0 { 2 } else { end + 1 })?,
        ),
        c => (rest.next()? == '\'').then(|| at + c.len_utf8() + 2),
    }
}

/// The place of an item that is for tests only.
fn tests_in(code: &str) -> Option<(usize, usize)> {
    let start = code.find("#[cfg(test)]")?;
    let item = start + "#[cfg(test)]".len();
    let mut depth = 0;
    for (at, c) in code[item..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((start, item + at + 1)),
            '}' => depth -= 1,
            ';' if depth == 0 => return Some((start, item + at + 1)),
            _ => {}
        }
    }
    Some((start, code.len()))
}

/// The words and signs of code; `::` is one sign.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

/// Every path that code names, those of `use` with their groups spread out.
fn paths(code: &str) -> BTreeSet<String> {
    let tokens = tokens(code);
    let mut found = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        at = one_path(&tokens, at, "", &mut found).max(at + 1);
    }
    found
}

/// Reads one path, with the groups in it, and returns the place after it.
fn one_path(tokens: &[&str], mut at: usize, before: &str, found: &mut BTreeSet<String>) -> usize {
    let mut path = before.to_owned();
    let word = |at: usize| {
        tokens
            .get(at)
            .filter(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '*'))
    };
    while let Some(word) = word(at) {
        path.push_str(word);
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        path.push_str("::");
        at += 1;
    }
    if path.ends_with("::") && tokens.get(at) == Some(&"{") {
        at += 1;
        while at < tokens.len() && tokens[at] != "}" {
            at = one_path(tokens, at, &path, found).max(at + 1);
            if tokens.get(at) == Some(&"as") {
                at += 2;
            }
            if tokens.get(at) == Some(&",") {
                at += 1;
            }
        }
        return at + 1;
    }
    if path.len() > before.len() {
        found.insert(path);
    }
    at
}

// ---- The rooms ------------------------------------------------------------------------------------------------------

/// The modules of the package: the name, and whether it is there without the feature `runner`.
fn rooms() -> Vec<(String, bool)> {
    let lib = Source::read(&root().join("src/lib.rs"));
    let mut found = Vec::new();
    let mut pure = true;
    for line in lib.text.lines().map(str::trim) {
        if line == "#[cfg(all(feature = \"runner\", unix))]" {
            pure = false;
        } else if let Some(name) = line.strip_prefix("pub mod ") {
            found.push((name.trim_end_matches(';').to_owned(), pure));
            pure = true;
        }
    }
    found
}

/// The source files below a folder, or the file of this name, tests left out.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        let name = path.file_name().unwrap_or_default();
        let is_source = path.extension().is_some_and(|end| end == "rs") && name != "tests.rs";
        return if is_source {
            vec![path.into()]
        } else {
            Vec::new()
        };
    }
    if path.file_name().is_some_and(|name| name == "tests") {
        return Vec::new();
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .map(|entry| entry.expect("an entry of a folder").path())
        .collect();
    entries.sort();
    entries.iter().flat_map(|path| files_of(path)).collect()
}

fn sources_of(room: &str) -> Vec<Source> {
    let src = root().join("src");
    let file = src.join(format!("{room}.rs"));
    let folder = src.join(room);
    let mut found = Vec::new();
    if file.exists() {
        found.push(Source::read(&file));
    }
    if folder.exists() {
        found.extend(files_of(&folder).iter().map(|path| Source::read(path)));
    }
    assert!(!found.is_empty(), "the room {room} has files");
    found
}

/// A path from the package's root, where it is written from a module.
fn from_root(path: &str, source: &Source) -> String {
    let mut module: Vec<String> = source
        .path
        .with_extension("")
        .iter()
        .skip(1)
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    let mut rest = path;
    if let Some(inside) = rest.strip_prefix("self::") {
        rest = inside;
    } else if !rest.starts_with("super::") {
        return path.to_owned();
    }
    while let Some(outside) = rest.strip_prefix("super::") {
        module.pop();
        rest = outside;
    }
    format!(
        "crate::{}",
        [module, vec![rest.to_owned()]].concat().join("::")
    )
}

#[test]
fn pure_rooms_know_nothing_of_the_machine_and_of_rooms_with_io() {
    let rooms = rooms();
    let pure: Vec<&str> = rooms
        .iter()
        .filter(|room| room.1)
        .map(|room| &*room.0)
        .collect();
    for wanted in [
        "chance",
        "clock",
        "event",
        "game",
        "house",
        "rating",
        "referee",
        "stats",
        "strict",
        "tournament",
    ] {
        assert!(
            pure.contains(&wanted),
            "{wanted} is there without the feature `runner`"
        );
    }
    let with_io = rooms
        .iter()
        .filter(|room| !room.1)
        .map(|room| format!("crate::{}", room.0));
    let impure: Vec<String> = IMPURE
        .map(str::to_owned)
        .into_iter()
        .chain(with_io)
        .collect();
    let mut faults = Vec::new();
    for source in pure.iter().flat_map(|room| sources_of(room)) {
        let place = source.path.display();
        for path in paths(&source.code) {
            let path = from_root(&path, &source);
            let named = |bad: &&String| {
                path.strip_prefix(bad.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            if let Some(bad) = impure.iter().find(named) {
                faults.push(format!("{place} names {path} ({bad})"));
            }
        }
        let tokens = tokens(&source.code);
        for pair in tokens.windows(2).filter(|pair| pair[1] == "!") {
            if PRINTING.contains(&pair[0]) {
                faults.push(format!("{place} prints: {}!", pair[0]));
            }
        }
        if source.text.contains("feature = \"runner\"") {
            faults.push(format!("{place} has a part of the feature `runner`"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nothing_but_the_rules_the_built_in_bots_and_the_adapters_names_a_game() {
    let names: Vec<&str> = GAMES
        .iter()
        .map(|game| game.facts().name)
        .chain(TO_COME)
        .collect();
    let mut folders = vec![root().join("protocol/src"), root().join("src/main.rs")];
    for (room, _) in rooms() {
        if room != "game" && room != "house" {
            folders.extend(
                [format!("src/{room}"), format!("src/{room}.rs")]
                    .map(|path| root().join(path))
                    .into_iter()
                    .filter(|path| path.exists()),
            );
        }
    }
    let mut faults = Vec::new();
    // An adapter translates the positions of one game.
    let adapters = root().join("src/cli/adapter");
    let files = folders.iter().flat_map(|folder| files_of(folder));
    for file in files.filter(|file| !file.starts_with(&adapters)) {
        let source = Source::read(&file);
        for (number, line) in (1..).zip(source.text.lines()) {
            let lower = line.to_lowercase();
            if let Some(name) = names.iter().find(|name| lower.contains(**name)) {
                faults.push(format!(
                    "{}:{number} names {name}: {}",
                    source.path.display(),
                    line.trim()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_game_is_one_file_or_folder_and_one_line_in_the_registry() {
    let folder = root().join("src/game");
    for game in GAMES {
        let name = game.facts().name;
        let file = folder.join(format!("{name}.rs"));
        let folder = folder.join(name).join("mod.rs");
        assert!(
            file.exists() != folder.exists(),
            "{name} has a file or a folder"
        );
    }
}

// ---- The reader itself ----------------------------------------------------------------------------------------------

#[test]
fn comments_literals_and_tests_are_told_from_code() {
    let file = r##"
        //! std::fs in a comment
        use std::{fmt, fs::{self, File}, time::Instant as Now}; // and std::env
        /* tokio /* libc */ rustix */
        const A: &str = "std::thread \" tokio"; const B: &str = r#"libc " rustix"#;
        const C: [char; 4] = ['"', '\'', '\\', '/']; fn f<'a>(x: &'a str) { super::bot::go(x) }
        #[cfg(test)]
        mod tests { fn t() { std::process::exit(1) } }
        #[cfg(test)]
        mod more;
        fn g() { crate::store::open(b"'", b'"'); }
    "##;
    let (mut code, text) = without_comments(file);
    assert_eq!((code.len(), text.len()), (file.len(), file.len()));
    assert!(text.contains("std::thread") && !text.contains("rustix */"));
    while let Some((start, end)) = tests_in(&code) {
        code.replace_range(start..end, "");
    }
    let paths = paths(&code);
    for named in [
        "std::fmt",
        "std::fs::self",
        "std::fs::File",
        "std::time::Instant",
        "super::bot::go",
        "crate::store::open",
    ] {
        assert!(paths.contains(named), "{named} is not in {paths:?}");
    }
    for hidden in [
        "tokio",
        "libc",
        "rustix",
        "std::env",
        "std::thread",
        "std::process::exit",
        "more",
    ] {
        assert!(!paths.contains(hidden), "{hidden} is in {paths:?}");
    }
    let source = |path: &str| Source {
        path: path.into(),
        code: String::new(),
        text: String::new(),
    };
    assert_eq!(
        from_root("super::bot::x", &source("src/event.rs")),
        "crate::bot::x"
    );
    assert_eq!(
        from_root("super::play::x", &source("src/referee/table.rs")),
        "crate::referee::play::x"
    );
    assert_eq!(
        from_root("super::bot::x", &source("src/referee/mod.rs")),
        "crate::bot::x"
    );
}
