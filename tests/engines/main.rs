//! Engines of other protocols as bots: GNU Backgammon, and Reversi and backgammon engines of the tests' own in Python, with real
//! processes on both sides.
#![cfg(feature = "runner")]

#[path = "../common/mod.rs"]
mod common;

mod gnubg;
mod protocols;

use std::io::Write;
use std::path::{Path, PathBuf};

use common::{Lab, hakem_path};

/// Where Debian puts games; it is on no search path of root's.
const GAMES: &str = "/usr/games";

/// A program on the search path or among the games; `None`, and a line that says so, where there is none. In the gate none may
/// be missing.
fn engine(program: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain([PathBuf::from(GAMES)])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file());
    if found.is_none() {
        assert!(
            std::env::var_os("HAKEM_TEST_ENGINES").is_none_or(|value| value != "all"),
            "{program} (Debian package {package}) is missing, and no engine may be skipped"
        );
        // Not by a macro: what passes is not shown otherwise.
        let line = format!("SKIPPED the engine {program}: install the package {package}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    found
}

/// A program of the tests' folder.
fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/engines")
        .join(name);
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// The program under test, as a word of a command.
fn hakem() -> String {
    hakem_path().to_str().expect("the path is UTF-8").to_owned()
}

/// `hello` for this game by these rules.
fn hello(game: &str, rules: &str) -> String {
    format!(
        "{{\"type\":\"hello\",\"protocol\":1,\"referee\":\"test\",\"game\":\"{game}\",\"rules\":{rules},\"clock\":{{\"kind\":\"fair\",\
         \"main_ms\":null,\"increment_ms\":0,\"move_ms\":null,\"delay_ms\":0}},\"options\":{{}}}}\n"
    )
}

/// All that the bots of an event wrote to stderr.
fn logs(lab: &Lab) -> String {
    let Ok(entries) = std::fs::read_dir(lab.path("event/logs")) else {
        return String::new();
    };
    entries
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a log"))
        .collect()
}
