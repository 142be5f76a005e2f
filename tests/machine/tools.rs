//! What the tests of this folder share.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{self, Event, Lab, text};

/// Says by name that a test was not run, and why.
pub(crate) fn skipped(test: &str, why: &str) {
    drop(writeln!(std::io::stderr(), "skipped: {test} ({why})"));
}

/// An event of honest bots that compute for so long before each answer.
pub(crate) fn thinkers(think_us: u32) -> Event {
    let think = think_us.to_string();
    Event::new("mangala")
        .mock("one", &["--pick", "hash:1", "--think-us", &think])
        .mock("two", &["--pick", "hash:2", "--think-us", &think])
}

/// The run of an event into `event`, started; its stderr goes to the file `stderr` of the folder.
pub(crate) fn start(lab: &Lab, file: &Path) -> Child {
    start_with(lab.command([OsStr::new("run"), file.as_os_str()]), lab)
}

/// Starts a command as [`start`] does.
pub(crate) fn start_with(mut command: Command, lab: &Lab) -> Child {
    let stderr = std::fs::File::create(lab.path("stderr")).expect("a file of the test");
    command
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .expect("hakem starts")
}

/// What the run that was started wrote to stderr so far.
pub(crate) fn said(lab: &Lab) -> String {
    std::fs::read_to_string(lab.path("stderr")).unwrap_or_default()
}

/// Waits for the end of a run, and returns its exit code.
#[track_caller]
pub(crate) fn ended(lab: &Lab, mut run: Child) -> Option<i32> {
    let hangs = !common::ends_within(&run, common::HANG);
    if hangs {
        run.kill().expect("a hanging run is ended");
    }
    let status = run.wait().expect("the run is waited for");
    assert!(!hangs, "still running: {}", said(lab));
    assert!(!said(lab).contains("panicked at"), "{}", said(lab));
    status.code()
}

/// Waits for the run to get on; true while it goes on. No test asserts anything about this time.
pub(crate) fn goes_on(run: &Child, millis: u64) -> bool {
    !common::ends_within(run, Duration::from_millis(millis))
}

/// Sends a signal to a process by its id.
pub(crate) fn send(run: &Child, signal: Signal) {
    rustix::process::kill_process(common::pid_of(run), signal).expect("the run is signalled");
}

/// Waits until a condition holds, while a run goes on. False if the run ended before.
pub(crate) fn until(run: &Child, mut holds: impl FnMut() -> bool) -> bool {
    loop {
        if holds() {
            return true;
        }
        if !goes_on(run, 5) {
            return holds();
        }
    }
}

/// How many games of a folder have a record.
pub(crate) fn records(lab: &Lab, dir: &str) -> usize {
    std::fs::read_dir(lab.path(dir).join("records")).map_or(0, Iterator::count)
}

/// Asserts that a folder holds so many games, each once, all of them ended by the rules, with records that verify.
#[track_caller]
pub(crate) fn all_by_the_rules(lab: &Lab, dir: &str, count: usize) -> Vec<Value> {
    let games = lab.games(dir);
    for game in &games {
        assert_eq!(text(game, "verdict"), "rule", "{game}");
    }
    let ids: std::collections::BTreeSet<&str> = games.iter().map(|game| text(game, "id")).collect();
    assert_eq!((ids.len(), games.len()), (count, count));
    assert_eq!(lab.verify_records(dir), count);
    games
}

/// Whether a program can be run here.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", "command -v \"$1\" >/dev/null", "sh", program])
        .status();
    found.is_ok_and(|status| status.success())
}

/// A user id that nobody has, for tests that must not be root.
pub(crate) const NOBODY: &str = "23457";

/// Makes the folder of a test, and copies of the programs in it, usable by any user; returns the copy of hakem. Only root can
/// become another user: `None` for others.
pub(crate) fn for_everybody(lab: &Lab) -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() || !has("setpriv") || !has("prlimit") {
        return None;
    }
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("own files");
    };
    open(&lab.path("."), 0o777);
    for (from, to) in [
        (common::hakem_path(), lab.path("hakem")),
        (common::mockbot_path(), lab.path("mockbot")),
    ] {
        std::fs::copy(from, &to).expect("a program is copied");
        open(&to, 0o755);
    }
    Some(lab.path("hakem"))
}

/// A command of `hakem` as the user nobody, after these words (`prlimit ...`).
pub(crate) fn as_nobody(lab: &Lab, before: &[&str], args: &[&OsStr]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args([
            format!("--reuid={NOBODY}"),
            format!("--regid={NOBODY}"),
            "--clear-groups".to_owned(),
            "--".to_owned(),
        ])
        .args(before)
        .arg(lab.path("hakem"))
        .args(args)
        .current_dir(lab.path("."))
        .envs(lab.mark())
        .stdin(Stdio::null());
    command
}

/// Whether this machine lets us mount in a namespace of our own.
pub(crate) fn can_mount() -> bool {
    let probe = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .args(["mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    probe.is_ok_and(|probe| probe.status.success())
}

/// Runs a shell script in the folder with mounts of its own. `$HAKEM` is the program.
#[track_caller]
pub(crate) fn script_with_mounts(lab: &Lab, script: &str) -> String {
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-euc", script])
        .current_dir(lab.path("."))
        .env("HAKEM", common::hakem_path())
        .envs(lab.mark())
        .stdin(Stdio::null())
        .output()
        .expect("unshare starts");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
    assert!(!said.contains("panicked at"), "{said}");
    said.into_owned()
}

/// A small file of the folder as text.
#[track_caller]
pub(crate) fn file(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
