//! The hostile bots of `tests/attacks/`, each against an honest one, without a sandbox: the referee gives the outcome
//! that the bot's header expects, the same in every game and run, and nothing of the bot is left.
//!
//! A part of them, chosen by `HAKEM_TEST_SEED`, runs with every `cargo test`; all with `HAKEM_TEST_FULL=1`;
//! `HAKEM_TEST_ATTACK=c15` runs those whose name begins so.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use common::{Event, Lab, Lots, text};
use serde_json::Value;

/// Events at once.
const WORKERS: usize = 2;
/// How many of them a normal run plays.
const PART: usize = 12;
/// Their children leave the process group, which nothing but a sandbox can hold.
const ESCAPE: [&str; 1] = ["a11_exit_child_holds_stdout.py"];

/// After a move that earns another turn the next question is sent at once. A line that was written too early may then
/// arrive when its question is open, and is an answer like any other: legal or not.
const RACE: (&str, &str) = ("c01_presend.py", "ILLEGAL");

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks")
}

/// One hostile bot.
#[derive(Clone, Debug)]
struct Attack {
    file: String,
    /// The classes of outcome that its header allows.
    expect: BTreeSet<String>,
}

/// Every bot of the folder, sorted.
fn attacks() -> Vec<Attack> {
    let mut found: Vec<Attack> = std::fs::read_dir(corpus())
        .expect("the folder of hostile bots is there")
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_bot = [".py", ".sh", ".c"].iter().any(|end| file.ends_with(end))
                && !file.starts_with("helper.");
            is_bot.then(|| Attack {
                expect: expectation(&entry.path()),
                file,
            })
        })
        .collect();
    found.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

fn expectation(path: &Path) -> BTreeSet<String> {
    let source = std::fs::read_to_string(path).expect("a hostile bot is text");
    let line = source
        .lines()
        .find_map(|line| {
            line.trim_start_matches(['#', '/', ' '])
                .strip_prefix("EXPECT:")
        })
        .unwrap_or_else(|| panic!("{} has no line EXPECT", path.display()));
    line.split(['|', ' '])
        .filter(|word| !word.is_empty() && *word != "LOSES")
        .map(Into::into)
        .collect()
}

/// The class of a game's end, seen from the bot at fault.
fn class(verdict: &str) -> &'static str {
    match verdict {
        "rule" => "PLAYS",
        "illegal_move" => "ILLEGAL",
        "bad_message" => "PROTOCOL",
        "flood" => "OUTPUT_LIMIT",
        "timeout" => "TIMEOUT",
        "no_ready" => "HANDSHAKE",
        "crash" => "CRASH",
        "limit" => "LIMIT",
        other => panic!("`{other}` is no verdict of such a game"),
    }
}

fn python() -> &'static str {
    // The system's own starts in a fifth of the time that a version manager's takes.
    const SYSTEM: &str = "/usr/bin/python3";
    if Path::new(SYSTEM).exists() {
        SYSTEM
    } else {
        "python3"
    }
}

/// The command of a bot whose files lie in `dir`.
fn command(dir: &Path, file: &str) -> Vec<String> {
    let own = |words: &[&str]| words.iter().map(|&word| word.into()).collect();
    if file.ends_with(".py") {
        own(&[python(), file])
    } else if let Some(name) = file.strip_suffix(".c") {
        let built = Command::new("cc")
            .args(["-O1", "-w", "-o", name, file])
            .current_dir(dir)
            .status()
            .expect("a C compiler is installed");
        assert!(built.success(), "{file} does not compile");
        own(&[&format!("./{name}")])
    } else {
        own(&["/bin/sh", file])
    }
}

fn event(lab: &Lab, attack: &Attack) -> Event {
    let dir = lab.path("bots");
    std::fs::create_dir(&dir).expect("a folder for the bots is made");
    for file in common::files_below(&corpus()) {
        let name = file.file_name().expect("a file has a name");
        std::fs::copy(&file, dir.join(name)).expect("a bot is copied");
    }
    let bot = |event: Event, name: &str, file: &str| {
        let argv = command(&dir, file);
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        event
            .bot(name, &argv)
            .with("dir = \"bots\"")
            .with("env = { PYTHONDONTWRITEBYTECODE = \"1\" }")
    };
    let event = Event::new("mangala")
        .set("event", "jobs", "2")
        // The limit that the bots assume.
        .set("clock", "move", "\"1s\"")
        // So that many legal answers with long notes are no flood.
        .set("limits", "output", "\"64MB\"");
    let event = bot(event, "attack", &attack.file);
    bot(event, "honest", "z00_honest.py")
}

/// Plays the attack's event into this folder; the class of each game.
fn play(lab: &Lab, attack: &Attack, event: &Path, out: &str) -> Vec<&'static str> {
    let run = [
        OsStr::new("run"),
        event.as_os_str(),
        OsStr::new("--out"),
        OsStr::new(out),
    ];
    lab.hakem(run).exits(0).stays_plain();
    if ESCAPE.contains(&attack.file.as_str()) {
        lab.end_processes();
    } else {
        lab.assert_no_process_is_left();
    }
    let games = lab.games(out);
    common::assert_ids(&games, &["r1.m1.g1", "r1.m2.g1"]);
    lab.verify_records(out);
    for table in ["games", "standings"] {
        for format in ["table", "csv", "markdown", "json"] {
            lab.hakem([table, out, "--format", format])
                .exits(0)
                .stays_plain();
        }
    }
    games.iter().map(|game| judge(game)).collect()
}

fn judge(game: &Value) -> &'static str {
    let class = class(text(game, "verdict"));
    if class == "PLAYS" {
        assert_eq!(game["against"], Value::Null, "{game}");
    } else {
        assert_eq!(game["against"], "attack", "{game}");
        assert_eq!(game["winner"], "honest", "{game}");
        assert!(!text(game, "reason").is_empty(), "{game}");
    }
    class
}

/// What the attack must not have reached.
fn assert_contained(lab: &Lab, out: &str) {
    for log in common::files_below(&lab.path(out).join("logs")) {
        let bytes = std::fs::read(&log).expect("a log is readable");
        let log = String::from_utf8_lossy(&bytes);
        let broken = log.lines().find(|line| line.starts_with("PWNED"));
        assert_eq!(broken, None);
    }
}

fn check(attack: &Attack) {
    let lab = Lab::new();
    let file = event(&lab, attack).write(&lab, "event.toml");
    let mut classes = Vec::new();
    for out in ["first", "second"] {
        classes.extend(play(&lab, attack, &file, out));
        if attack.expect.contains("CONTAINED") {
            assert_contained(&lab, out);
        }
    }
    if !attack.expect.contains("CONTAINED") {
        classes.retain(|&class| (attack.file.as_str(), class) != RACE);
        let allowed = |class: &str| {
            attack.expect.contains(class)
                || (class == "CRASH" && attack.expect.contains("START"))
                || (class == "LIMIT" && attack.expect.contains("MEMORY"))
        };
        assert!(classes.iter().all(|class| allowed(class)), "{classes:?}");
    }
    classes.dedup();
    assert!(classes.len() <= 1, "one outcome in every game: {classes:?}");
}

/// Those that this run plays.
fn chosen() -> Vec<Attack> {
    let mut all = attacks();
    assert!(all.len() > 60, "the corpus is complete: {}", all.len());
    if let Ok(begin) = std::env::var("HAKEM_TEST_ATTACK") {
        all.retain(|attack| attack.file.starts_with(&begin));
        return all;
    }
    if common::full() {
        return all;
    }
    let mut lots = Lots::new(common::env_number("HAKEM_TEST_SEED", 1));
    (0..PART)
        .map(|_| {
            let index = lots.below(all.len() as u64);
            all.remove(usize::try_from(index).expect("an index fits"))
        })
        .collect()
}

#[test]
fn hostile_bots_lose_by_their_own_fault_alone() {
    let chosen = chosen();
    assert!(!chosen.is_empty(), "no attack was chosen");
    let waiting = Mutex::new(chosen.clone());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no worker dies").pop();
                    let Some(attack) = next else { break };
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&attack))) {
                        let message = panic
                            .downcast_ref::<String>()
                            .cloned()
                            .unwrap_or_else(|| "panicked".into());
                        let mut failed = failed.lock().expect("no worker dies");
                        failed.push(format!("{}: {message}", attack.file));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no worker dies");
    assert!(
        failed.is_empty(),
        "{} of {} attacks came out wrong:\n{}",
        failed.len(),
        chosen.len(),
        failed.join("\n\n")
    );
}

#[test]
fn every_expectation_is_readable() {
    const CLASSES: [&str; 11] = [
        "PLAYS",
        "CONTAINED",
        "PROTOCOL",
        "OUTPUT_LIMIT",
        "HANDSHAKE",
        "ILLEGAL",
        "TIMEOUT",
        "CRASH",
        "START",
        "LIMIT",
        "MEMORY",
    ];
    for attack in attacks() {
        assert!(!attack.expect.is_empty(), "{}", attack.file);
        for word in &attack.expect {
            assert!(CLASSES.contains(&word.as_str()), "{}: {word}", attack.file);
        }
    }
}
