//! The starter bots, as a newcomer meets them: `new`, `check` for every game, a duel.
#![cfg(feature = "runner")]

mod common;

use std::io::Write;
use std::path::Path;

use common::{Lab, Ran, files_below};
use hakem::game::GAMES;
use serde_json::Value;

/// Whether the program is on the search path.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether a language has to be left out; the gate has all of them.
fn skipped(language: &str, needs: &str) -> bool {
    if has(needs) {
        return false;
    }
    assert!(
        std::env::var_os("HAKEM_TEST_LANGUAGES").is_none_or(|value| value != "all"),
        "{language} needs {needs}, and no language may be skipped"
    );
    // Not by a macro: what passes is not shown otherwise.
    let line = format!("SKIPPED the starter in {language}: there is no {needs}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    true
}

/// The command lines that a page shows, indented by four spaces.
fn commands(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter_map(|line| line.strip_prefix("    hakem "))
        .map(|line| line.split(' ').collect())
        .collect()
}

/// Asserts that a check found no fault and nothing to warn of.
#[track_caller]
fn assert_clean(ran: &Ran) {
    for found in ran.json().as_array().expect("a list") {
        let result = found["result"].as_str();
        assert!(matches!(result, Some("pass" | "note")), "{found}");
    }
}

fn from_new_to_a_duel(language: &str, needs: &str, file: &str) {
    if skipped(language, needs) {
        return;
    }
    let lab = Lab::new();
    let told = lab.hakem(["new", language, "mangala", "my bot"]).exits(0);
    assert!(
        told.stdout.contains(file),
        "the file to change is named: {told}"
    );
    // The two commands that it tells are for a shell; the name of the folder is quoted.
    assert_eq!(commands(&told.stdout).len(), 2, "{told}");
    assert!(told.stdout.contains("'my bot'"), "{told}");
    let source = std::fs::read_to_string(lab.path("my bot").join(file)).expect("the file is there");
    assert_eq!(source.matches("THIS IS THE PLACE TO CHANGE").count(), 1);
    let page = std::fs::read_to_string(lab.path("my bot/README.md")).expect("a page");
    assert!(page.lines().count() <= 12, "{page}");

    for game in GAMES {
        let game = game.facts().name;
        let checked = lab
            .hakem(["check", "--game", game, "my bot", "--format", "json"])
            .exits(0);
        assert_clean(&checked);
        let asked = checked.json();
        let games = asked
            .as_array()
            .and_then(|list| list.iter().find(|found| found["check"] == "games"));
        let what = games
            .and_then(|games| games["what"].as_str())
            .expect("it plays");
        match game {
            "qbitz" => assert!(what.contains("race "), "{what}"),
            "tavla" => {
                for ask in ["move ", "cube ", "take ", "resign "] {
                    assert!(what.contains(ask), "{ask}: {what}");
                }
            }
            _ => assert!(what.contains("move "), "{what}"),
        }
    }
    for (game, opponent) in [("mangala", "builtin:random"), ("qbitz", "builtin:hizli")] {
        let out = format!("results-{game}");
        let args = [
            "duel", "--game", game, "--out", &out, "--seed", "7", "my bot", opponent,
        ];
        lab.hakem(args).exits(0);
        for game in lab.games(&out) {
            assert_eq!(game["against"], Value::Null, "nobody forfeits: {game}");
        }
    }
    lab.assert_no_process_is_left();
}

#[test]
fn python() {
    from_new_to_a_duel("python", "python3", "starter.py");
}

#[test]
fn javascript() {
    from_new_to_a_duel("javascript", "node", "starter.js");
}

#[test]
fn java() {
    from_new_to_a_duel("java", "javac", "Starter.java");
}

#[test]
fn c() {
    from_new_to_a_duel("c", "cc", "starter.c");
}

#[test]
fn cpp() {
    from_new_to_a_duel("cpp", "c++", "starter.cpp");
}

#[test]
fn go() {
    from_new_to_a_duel("go", "go", "starter.go");
}

#[test]
fn rust() {
    from_new_to_a_duel("rust", "cargo", "starter.rs");
}

#[test]
fn the_commands_that_new_tells_work() {
    if skipped("python", "python3") {
        return;
    }
    let lab = Lab::new();
    for game in GAMES {
        let game = game.facts().name;
        let told = lab.hakem(["new", "python", game, game]).exits(0);
        for command in commands(&told.stdout) {
            let duel = lab.hakem(&command).exits(0);
            assert!(!duel.stderr.contains("forfeited"), "{duel}");
        }
        // So do those of its page, from within the folder.
        let page = std::fs::read_to_string(lab.path(game).join("README.md")).expect("a page");
        let shown = page.split('`').filter(|part| part.starts_with("hakem "));
        for line in shown.filter(|line| !line.starts_with("hakem play")) {
            let mut command = lab.command(line.split(' ').skip(1));
            command.current_dir(lab.path(game));
            common::finish(command).exits(0);
        }
    }
}

#[test]
fn new_writes_what_the_repository_holds() {
    let lab = Lab::new();
    for language in ["python", "javascript", "java", "c", "cpp", "go", "rust"] {
        lab.hakem(["new", language, "mangala", language]).exits(0);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("bots")
            .join(language);
        for path in files_below(&lab.path(language)) {
            let name = path.strip_prefix(lab.path(language)).expect("below");
            let written = std::fs::read_to_string(&path).expect("text");
            let (theirs, of) = match name.strip_prefix("hakem-protocol") {
                Ok(name) if name == Path::new("Cargo.toml") => continue,
                Ok(name) => (
                    Path::new(env!("CARGO_MANIFEST_DIR"))
                        .join("protocol")
                        .join(name),
                    name,
                ),
                Err(_) => (folder.join(name), name),
            };
            let kept = std::fs::read_to_string(&theirs)
                .unwrap_or_else(|error| panic!("{}: {error}", theirs.display()));
            let kept = kept
                .replace(
                    &format!("\"starter-{language}\""),
                    &format!("\"{language}\""),
                )
                .replace("\"../../protocol\"", "\"hakem-protocol\"");
            assert_eq!(written, kept, "{}", of.display());
        }
    }
    // Nothing is left out that the crate is made of.
    let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/src");
    for path in files_below(&protocol) {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        // Those two are optional features.
        let copied = lab.path("rust/hakem-protocol/src").join(&name).exists();
        assert_eq!(
            copied,
            !["schema.rs", "source.rs"].contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn new_never_writes_over_anything_and_names_what_is_near() {
    let lab = Lab::new();
    lab.hakem(["new", "pyton", "mangala", "x"])
        .exits(2)
        .says(&["pyton", "`python`"]);
    lab.hakem(["new", "cobol", "mangala", "x"])
        .exits(2)
        .says(&["cobol", "javascript", "rust"]);
    lab.hakem(["new", "python", "mangla", "x"])
        .exits(2)
        .says(&["mangla", "`mangala`"]);
    assert!(!lab.path("x").exists());
    std::fs::create_dir(lab.path("mine")).expect("a folder");
    lab.write("mine/notes.txt", "mine");
    lab.hakem(["new", "python", "mangala", "mine"])
        .exits(2)
        .says(&["mine", "holds something"]);
    lab.write("file", "mine");
    lab.hakem(["new", "python", "mangala", "file"])
        .exits(2)
        .says(&["file"]);
    assert_eq!(files_below(&lab.path("mine")).len(), 1);
    // An empty folder is as good as none, and other names of a language are known.
    std::fs::create_dir(lab.path("empty")).expect("a folder");
    lab.hakem(["new", "py", "mangala", "empty"]).exits(0);
    assert_eq!(files_below(&lab.path("empty")).len(), 3);
}

#[test]
fn a_build_that_fails_is_told_for_each_bot() {
    let lab = Lab::new();
    for (name, build) in [
        (
            "one",
            "[\"sh\", \"-c\", \"echo the first fault >&2; exit 3\"]",
        ),
        ("two", "[\"no-such-compiler-4711\"]"),
        ("three", "[\"sh\", \"-c\", \"printf 'run=1' > built\"]"),
    ] {
        std::fs::create_dir(lab.path(name)).expect("a folder");
        lab.write(
            &format!("{name}/bot.toml"),
            format!("build = {build}\nrun = [\"sh\", \"./bot.sh\"]\n"),
        );
        lab.write(&format!("{name}/bot.sh"), "exit 1\n");
    }
    let event = "[event]\ngame = \"mangala\"\nname = \"x\"\n\n[clock]\nmove = \"1s\"\n\n[[bot]]\nname = \"a\"\ndir = \"one\"\n\n\
                 [[bot]]\nname = \"b\"\ndir = \"two\"\n\n[[bot]]\nname = \"c\"\ndir = \"three\"\n";
    lab.write("event.toml", event);
    lab.hakem(["run", "event.toml"])
        .exits(2)
        .says(&[
            "bot `a` (event.toml, line 8)",
            "the first fault",
            "exit status: 3",
            "bot `b` (event.toml, line 12)",
            "no-such-compiler-4711",
        ])
        .stays_plain();
    assert!(!lab.path("event").exists(), "no game was played");
    // A build that works has worked before anything is looked for.
    assert!(lab.path("three/built").exists());
    let checked = lab
        .hakem(["check", "event.toml", "--format", "json"])
        .exits(1);
    let builds: Vec<Value> = checked
        .json()
        .as_array()
        .expect("a list")
        .iter()
        .filter(|found| found["check"] == "build")
        .map(|found| found["result"].clone())
        .collect();
    assert_eq!(builds, ["fail", "fail", "pass"]);
}
