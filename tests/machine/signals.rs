//! Signals to the referee, and keys at its terminal.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::{self, Event, Lab};
use crate::tools::{
    all_by_the_rules, ended, has, records, said, send, skipped, start, start_with, thinkers, until,
};

/// An event that goes on for long enough.
fn event() -> Event {
    thinkers(2_000)
        .set("event", "games", "40")
        .set("event", "jobs", "2")
}

/// Asserts that the folder is closed: no lock, and no log of SQLite's that is not part of the results yet.
#[track_caller]
fn assert_closed(lab: &Lab, dir: &str) {
    for name in [".lock", "results.sqlite-wal", "results.sqlite-shm"] {
        assert!(!lab.path(dir).join(name).exists(), "{name} was left");
    }
    assert!(
        !lab.path(dir).join("seed.json").exists(),
        "the seed is told at the end only"
    );
}

#[test]
fn a_signal_stops_the_run_cleanly_and_the_same_command_goes_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let lab = Lab::new();
        let file = event().write(&lab, "event.toml");
        let run = start(&lab, &file);
        assert!(until(&run, || records(&lab, "event") > 4), "{}", said(&lab));
        send(&run, signal);
        assert_eq!(ended(&lab, run), Some(130), "{signal:?}: {}", said(&lab));
        assert!(
            said(&lab).contains("what was played is kept in"),
            "{}",
            said(&lab)
        );
        lab.assert_no_process_is_left();
        assert_closed(&lab, "event");
        let kept = lab.games("event").len();
        assert!(
            (1..40).contains(&kept),
            "{signal:?}: {kept} games were kept"
        );
        lab.run(&file);
        all_by_the_rules(&lab, "event", 40);
    }
}

#[test]
fn two_signals_in_one_moment_are_one_wish() {
    // As `timeout` does it, which signals a process and its group.
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    let run = start(&lab, &file);
    assert!(until(&run, || records(&lab, "event") > 0));
    send(&run, Signal::TERM);
    send(&run, Signal::TERM);
    assert_eq!(ended(&lab, run), Some(130));
    assert_closed(&lab, "event");
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    let lab = Lab::new();
    let file = thinkers(5_000)
        .set("event", "games", "40")
        .set("event", "jobs", "2")
        .write(&lab, "event.toml");
    let mut run = start(&lab, &file);
    assert!(until(&run, || records(&lab, "event") > 0));
    // Another program writes to the results, so that the first signal has to wait for it.
    let results = rusqlite::Connection::open(lab.path("event/results.sqlite")).expect("a database");
    results
        .busy_timeout(Duration::from_secs(60))
        .expect("it waits");
    results
        .execute_batch("BEGIN IMMEDIATE")
        .expect("it is ours");
    // A record is written before its row, and no row can be written now: one more record than rows is the run that waits.
    let rows: usize = results
        .query_row("SELECT count(*) FROM games", [], |row| row.get(0))
        .expect("the games are counted");
    assert!(
        until(&run, || records(&lab, "event") > rows),
        "{}",
        said(&lab)
    );
    send(&run, Signal::INT);
    // A second one does nothing within the second in which two are one wish; then it ends the program.
    let mut signals = 1;
    while !common::ends_within(&run, Duration::from_millis(100)) {
        send(&run, Signal::INT);
        signals += 1;
    }
    let status = run.wait().expect("the run is waited for");
    assert_eq!(
        status.signal(),
        Some(Signal::INT.as_raw()),
        "{status}: {}",
        said(&lab)
    );
    assert!(signals > 5, "the first ended it, and needed {signals}");
    lab.assert_no_process_is_left();
    drop(results);
    lab.run(&file);
    all_by_the_rules(&lab, "event", 40);
}

#[test]
fn a_signal_that_is_ignored_at_the_start_stays_ignored() {
    // As by nohup, or for a job in the background of a script.
    let lab = Lab::new();
    let file = thinkers(2_000).write(&lab, "event.toml");
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP INT; exec \"$0\" run \"$1\""])
        .arg(common::hakem_path())
        .arg(&file)
        .current_dir(lab.path("."))
        .envs(lab.mark())
        .stdin(Stdio::null());
    let run = start_with(command, &lab);
    assert!(until(&run, || lab.path("event/results.sqlite").exists()));
    send(&run, Signal::HUP);
    send(&run, Signal::INT);
    assert_eq!(ended(&lab, run), Some(0), "{}", said(&lab));
    all_by_the_rules(&lab, "event", 2);
}

/// Process group, session and the terminal's foreground group of a process.
fn groups(pid: rustix::process::Pid) -> Option<[i32; 3]> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    Some([number(2)?, number(3)?, number(5)?])
}

/// A run whose terminal we hold.
struct AtTerminal {
    run: Child,
    /// Our end of the terminal: keys go in, and what is shown comes out.
    keys: File,
    name: PathBuf,
}

impl AtTerminal {
    /// Starts the run of an event as the leader of a session with a terminal of its own.
    fn start(lab: &Lab, file: &Path) -> AtTerminal {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&keys).expect("it is ours");
        unlockpt(&keys).expect("it is open");
        let name = ptsname(&keys, Vec::new()).expect("it has a name");
        let name = PathBuf::from(name.to_str().expect("a path"));
        let side = || other_side(&name);
        let run = Command::new("setsid")
            .arg("--ctty")
            .arg(common::hakem_path())
            .args([OsStr::new("run"), file.as_os_str()])
            .current_dir(lab.path("."))
            .envs(lab.mark())
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("setsid starts");
        AtTerminal {
            run,
            keys: File::from(keys),
            name,
        }
    }

    /// Reads what is shown, until nobody has the terminal open any more.
    fn screen(&self) -> std::thread::JoinHandle<String> {
        let mut screen = self.keys.try_clone().expect("it is ours");
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut part) {
                text.extend_from_slice(&part[..length]);
            }
            String::from_utf8_lossy(&text).into_owned()
        })
    }
}

/// Opens a terminal as a program in it does.
fn other_side(name: &Path) -> File {
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .open(name)
        .expect("the terminal opens")
}

#[test]
fn an_interrupt_at_the_terminal_is_for_the_referee_and_not_for_its_bots() {
    if !has("setsid") {
        return skipped(
            "an_interrupt_at_the_terminal_is_for_the_referee_and_not_for_its_bots",
            "no setsid",
        );
    }
    let lab = Lab::new();
    let file = event().write(&lab, "event.toml");
    let mut at = AtTerminal::start(&lab, &file);
    let before = rustix::termios::tcgetattr(other_side(&at.name)).expect("settings");
    let screen = at.screen();
    assert!(until(&at.run, || records(&lab, "event") > 2));
    let referee = common::pid_of(&at.run);
    let [own, session, foreground] = groups(referee).expect("the run goes on");
    assert_eq!(own, foreground, "the referee hears the keys");
    let bots: Vec<[i32; 3]> = lab
        .processes()
        .into_iter()
        .filter(|(pid, line)| *pid != referee && line.contains("mockbot"))
        .filter_map(|(pid, _)| groups(pid))
        .collect();
    assert!(!bots.is_empty());
    for [group, _, _] in bots {
        assert!(group != own && group != session, "a bot hears the keys");
    }
    at.keys.write_all(b"\x03").expect("the key is pressed");
    assert!(
        common::ends_within(&at.run, common::HANG),
        "the key is not heard"
    );
    let status = at.run.wait().expect("the run is waited for");
    assert_eq!(status.code(), Some(130));
    lab.assert_no_process_is_left();
    assert_closed(&lab, "event");
    let after = rustix::termios::tcgetattr(other_side(&at.name)).expect("settings");
    assert_eq!(
        (before.local_modes, before.input_modes, before.output_modes),
        (after.local_modes, after.input_modes, after.output_modes),
        "the terminal is as it was"
    );
    drop(at);
    let screen = screen.join().expect("the reader does not panic");
    assert!(
        screen.contains("interrupted; what was played is kept"),
        "{screen}"
    );
    // Were a cursor hidden, it would be shown again.
    let (hides, shows) = (screen.rfind("\u{1b}[?25l"), screen.rfind("\u{1b}[?25h"));
    assert!(hides <= shows, "the cursor stays hidden");
}

#[test]
fn a_terminal_that_is_closed_stops_the_run_cleanly() {
    if !has("setsid") {
        return skipped(
            "a_terminal_that_is_closed_stops_the_run_cleanly",
            "no setsid",
        );
    }
    let lab = Lab::new();
    // With forfeits, of which a line tells at a terminal.
    let file = event()
        .mock("faulty", &["--illegal-at", "2"])
        .write(&lab, "event.toml");
    let at = AtTerminal::start(&lab, &file);
    let AtTerminal { mut run, keys, .. } = at;
    assert!(until(&run, || records(&lab, "event") > 2));
    // Whatever is written from now on is refused.
    drop(keys);
    assert!(common::ends_within(&run, common::HANG), "it is not heard");
    let status = run.wait().expect("the run is waited for");
    assert_eq!(status.code(), Some(130), "{status}");
    lab.assert_no_process_is_left();
    assert_closed(&lab, "event");
    assert!(!lab.games("event").is_empty());
}
