//! The hostile bots of `tests/attacks/`, each against an honest one, at the level of the sandbox that its header names, and
//! at `strict`; as root and as an ordinary user where the test may choose. The referee gives the outcome that the bot's header
//! expects, the same in every game and run, and nothing of the bot is left.
//!
//! A part of them, chosen by `HAKEM_TEST_SEED`, runs with every `cargo test`; all with `HAKEM_TEST_FULL=1`;
//! `HAKEM_TEST_ATTACK=c15` runs those whose name begins so.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
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

/// They do their work in the opponent's time, so that is not allowed.
const PONDERS: [&str; 1] = ["f01_ponder.py"];
/// What ends them is a limit, and nothing else.
const ENDED_BY_LIMIT: [&str; 2] = ["b05_memory_hog.py", "b07_memory_shared_mmap.py"];

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
    /// The lowest level at which they hold.
    level: String,
    /// Whether it would harm a machine without limits.
    dangerous: bool,
}

/// An attack under one condition.
#[derive(Clone, Debug)]
struct Case {
    attack: Attack,
    /// The level of both bots.
    level: &'static str,
    /// The user of the referee, where it is not the test's own.
    user: Option<u32>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self
            .user
            .map_or("own user".into(), |user| format!("user {user}"));
        write!(f, "{} at {} as {user}", self.attack.file, self.level)
    }
}

/// The conditions under which an attack is tried.
fn cases(attack: &Attack) -> Vec<Case> {
    let levels: &[&str] = match attack.level.as_str() {
        "none" => &["none"],
        // What would do harm is not let loose with less than everything.
        "limits" if attack.dangerous => &["strict"],
        "limits" => &["limits", "strict"],
        "strict" => &["strict"],
        other => panic!("{}: `{other}` is no level", attack.file),
    };
    let mut cases = Vec::new();
    for &level in levels {
        let others = (level != "none" && common::is_root()).then_some(common::NOBODY);
        for user in [None].into_iter().chain(others.map(Some)) {
            cases.push(Case {
                attack: attack.clone(),
                level,
                user,
            });
        }
    }
    cases
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
                level: header(&entry.path(), "LEVEL:").trim().to_owned(),
                dangerous: header(&entry.path(), "DANGER:").trim() != "no",
                file,
            })
        })
        .collect();
    found.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

/// A line of a bot's header.
fn header(path: &Path, name: &str) -> String {
    let source = std::fs::read_to_string(path).expect("a hostile bot is text");
    let line = source
        .lines()
        .find_map(|line| line.trim_start_matches(['#', '/', ' ']).strip_prefix(name));
    line.unwrap_or_else(|| panic!("{} has no line {name}", path.display()))
        .to_owned()
}

fn expectation(path: &Path) -> BTreeSet<String> {
    header(path, "EXPECT:")
        .split(['|', ' '])
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

fn event(lab: &Lab, case: &Case, canaries: &Canaries) -> Event {
    let attack = &case.attack;
    let dir = lab.path("bots");
    std::fs::create_dir(&dir).expect("a folder for the bots is made");
    for file in common::files_below(&corpus()) {
        let name = file.file_name().expect("a file has a name");
        std::fs::copy(&file, dir.join(name)).expect("a bot is copied");
    }
    let mut env = vec![
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("ATTACK_PORT".into(), canaries.port().to_string()),
        (
            "ATTACK_SECRET_FILE".into(),
            lab.path("secret").display().to_string(),
        ),
        (
            "ATTACK_TARGETS".into(),
            lab.path("targets").display().to_string(),
        ),
    ];
    // A box starts with no environment, so the mark is listed like any other variable.
    env.extend(lab.mark());
    let env: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name} = {}", common::toml_text(value)))
        .collect();
    let bot = |event: Event, name: &str, file: &str| {
        let argv = command(&dir, file);
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        event
            .bot(name, &argv)
            .with("dir = \"bots\"")
            .with(&format!("env = {{ {} }}", env.join(", ")))
    };
    let event = Event::new("mangala")
        .set("event", "jobs", "2")
        // The limit that the bots assume.
        .set("clock", "move", "\"1s\"")
        // So that many legal answers with long notes are no flood.
        .set("limits", "output", "\"64MB\"")
        // A sixteenth of the usual would do: what tries to take more finds the end sooner.
        .set("limits", "memory", "\"128MB\"")
        .set("limits", "sandbox", &format!("\"{}\"", case.level));
    let event = if PONDERS.contains(&attack.file.as_str()) {
        event.set("limits", "ponder", "false")
    } else {
        event
    };
    let event = bot(event, "attack", &attack.file);
    bot(event, "honest", opponent(&attack.file))
}

/// The bot on the other seat: for what happens in the opponent's time one that takes some; for what needs two of the same
/// its like.
fn opponent(file: &str) -> &str {
    if PONDERS.contains(&file) {
        "z01_honest_slow.py"
    } else if file == "d10_collude.py" {
        file
    } else {
        "z00_honest.py"
    }
}

/// What an attack must not reach.
struct Canaries {
    listener: TcpListener,
    socket: Option<UnixListener>,
    files: Vec<(PathBuf, String)>,
}

impl Canaries {
    fn new(lab: &Lab) -> Canaries {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("it can be polled");
        // The name is the one that the bots know, so only one case at a time has it.
        let name = SocketAddr::from_abstract_name("attack_canary").expect("a name");
        let socket = UnixListener::bind_addr(&name).ok();
        if let Some(socket) = &socket {
            socket.set_nonblocking(true).expect("it can be polled");
        }
        std::fs::create_dir(lab.path("targets")).expect("a folder");
        let files = [
            (lab.path("secret"), "canary".to_owned()),
            (lab.path("targets/results.sqlite"), "results".to_owned()),
            (lab.path("targets/event.toml"), "event".to_owned()),
        ];
        for (path, text) in &files {
            std::fs::write(path, text).expect("a file");
        }
        Canaries {
            listener,
            socket,
            files: files.to_vec(),
        }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().expect("it is bound").port()
    }

    fn assert_untouched(&self) {
        assert!(self.listener.accept().is_err(), "the port was reached");
        if let Some(socket) = &self.socket {
            assert!(socket.accept().is_err(), "the socket was reached");
        }
        for (path, text) in &self.files {
            let now = std::fs::read_to_string(path).expect("it is still there");
            assert_eq!(&now, text, "{}", path.display());
        }
        let targets = self.files[1].0.parent().expect("a folder");
        assert_eq!(common::files_below(targets).len(), 2, "nothing was added");
    }
}

/// Plays the attack's event into this folder; the class of each game.
fn play(lab: &Lab, case: &Case, event: &Path, out: &str) -> Vec<&'static str> {
    let run = [
        OsStr::new("run"),
        event.as_os_str(),
        OsStr::new("--out"),
        OsStr::new(out),
    ];
    let mut command = lab.command(run);
    command.env("ATTACK_SECRET", "canary-4711");
    let ran = common::finish(command).exits(0).stays_plain();
    if case.level == "none" && ESCAPE.contains(&case.attack.file.as_str()) {
        lab.end_processes();
    } else {
        lab.assert_no_process_is_left();
    }
    Lab::assert_no_box_is_left(ran.pid);
    let games = lab.games(out);
    common::assert_ids(&games, &["r1.m1.g1", "r1.m2.g1"]);
    lab.verify_records(out);
    assert_in_force(lab, case, out);
    for table in ["games", "standings"] {
        for format in ["table", "csv", "markdown", "json"] {
            lab.hakem([table, out, "--format", format])
                .exits(0)
                .stays_plain();
        }
    }
    games.iter().map(|game| judge(game)).collect()
}

/// Every record says at which level its bots ran.
fn assert_in_force(lab: &Lab, case: &Case, out: &str) {
    for record in common::files_below(&lab.path(out).join("records")) {
        let text = std::fs::read_to_string(&record).expect("a record is text");
        let header: Value = serde_json::from_str(text.lines().next().expect("a line"))
            .expect("a record's line is JSON");
        for bot in header["header"]["about"]["bots"].as_array().expect("bots") {
            assert_eq!(bot["sandbox"]["level"], case.level, "{bot}");
        }
    }
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

fn check(case: &Case) {
    let attack = &case.attack;
    let lab = Lab::new();
    let lab = match case.user {
        Some(user) => lab.of_user(user),
        None => lab,
    };
    let canaries = Canaries::new(&lab);
    let file = event(&lab, case, &canaries).write(&lab, "event.toml");
    let mut classes = Vec::new();
    for out in ["first", "second"] {
        classes.extend(play(&lab, case, &file, out));
        if attack.expect.contains("CONTAINED") {
            assert_contained(&lab, out);
        }
        if case.level == "strict" {
            canaries.assert_untouched();
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
    if ENDED_BY_LIMIT.contains(&attack.file.as_str()) {
        assert_eq!(classes, ["LIMIT"], "the record says what ended it");
    }
}

/// Those that this run plays.
fn chosen() -> Vec<Case> {
    let all = attacks();
    assert!(all.len() > 80, "the corpus is complete: {}", all.len());
    let mut all: Vec<Case> = all.iter().flat_map(cases).collect();
    if let Ok(begin) = std::env::var("HAKEM_TEST_ATTACK") {
        all.retain(|case| case.attack.file.starts_with(&begin));
        return all;
    }
    if common::full() {
        return all;
    }
    let mut lots = Lots::new(common::env_number("HAKEM_TEST_SEED", 1));
    let (bare, confined): (Vec<Case>, Vec<Case>) =
        all.into_iter().partition(|case| case.level == "none");
    let mut some = Vec::new();
    for mut all in [bare, confined] {
        for _ in 0..PART {
            let index = lots.below(all.len() as u64);
            some.push(all.remove(usize::try_from(index).expect("an index fits")));
        }
    }
    some
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
                    let Some(case) = next else { break };
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&case))) {
                        let message = panic
                            .downcast_ref::<String>()
                            .cloned()
                            .unwrap_or_else(|| "panicked".into());
                        let mut failed = failed.lock().expect("no worker dies");
                        failed.push(format!("{case}: {message}"));
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
