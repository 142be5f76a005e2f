//! When a game or the referee ends, all of a bot ends.

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::common::{self, Lab, is_root};
use crate::help::{LEVELS, as_each_user, event, logs, play};

/// What is promised: everything is gone by then. Tests allow ten times as much.
const GONE: Duration = Duration::from_secs(2 * 10);

/// All processes below one.
fn below(root: Pid) -> Vec<Pid> {
    hakem::bot::os::descendants(root)
}

/// The children of one.
fn children(pid: Pid) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", pid.as_raw_nonzero());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
        .collect()
}

fn is_python(pid: Pid) -> bool {
    std::fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero()))
        .is_ok_and(|exe| exe.to_string_lossy().contains("python"))
}

/// Looks again and again until `find` finds something.
fn until<T>(child: &Child, find: impl Fn() -> Option<T>) -> T {
    let begin = std::time::Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(begin.elapsed() < common::HANG, "nothing was found");
        let ended = common::ends_within(child, Duration::from_millis(2));
        assert!(!ended, "the run ended before");
    }
}

/// Waits for the end of all these.
fn all_end(processes: &[rustix::fd::OwnedFd]) -> bool {
    let begin = std::time::Instant::now();
    processes.iter().all(|process| {
        let left = GONE.saturating_sub(begin.elapsed());
        let timeout = left.try_into().expect("a short time");
        let mut fds = [rustix::event::PollFd::new(
            process,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut fds, Some(&timeout)).is_ok_and(|count| count > 0)
    })
}

fn start(lab: &Lab, file: &Path, out: &str) -> Child {
    let mut command = lab.command(["run", file.to_str().expect("a path"), "--out", out]);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.spawn().expect("it starts")
}

#[test]
fn a_daemon_ends_with_its_game() {
    as_each_user(|lab| {
        for level in LEVELS {
            let file = event(&lab, level, "daemon").write(&lab, "event.toml");
            let ran = lab
                .hakem(["run", file.to_str().expect("a path"), "--out", level])
                .exits(0);
            lab.assert_no_process_is_left();
            Lab::assert_no_box_is_left(ran.pid);
        }
    });
}

#[test]
fn everything_ends_when_the_referee_is_killed() {
    as_each_user(|lab| {
        for level in LEVELS {
            let event = event(&lab, level, "wait").set("clock", "move", "\"600s\"");
            let event =
                event
                    .set("clock", "main", "\"600s\"")
                    .set("clock", "wall_ceiling", "\"700s\"");
            let file = event.write(&lab, "event.toml");
            let mut run = start(&lab, &file, level);
            let root = common::pid_of(&run);
            // The bot is there when its program is Python; then it is asked, and waits.
            let processes = until(&run, || {
                let below = below(root);
                let boxes = if level == "strict" { 2 } else { 1 };
                (below.iter().copied().any(is_python) && below.len() > boxes).then_some(below)
            });
            let watched: Vec<_> = processes
                .iter()
                .filter_map(|&pid| pidfd_open(pid, PidfdFlags::empty()).ok())
                .collect();
            assert!(watched.len() >= 2, "a box and its bot: {}", watched.len());
            // The box is told nothing by its command line and environment.
            let boxes = Lab::boxes_of(run.id());
            assert!(!boxes.is_empty(), "boxes are found by their command line");
            if is_root() {
                for pid in &boxes {
                    let environ = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
                    assert_eq!(environ.expect("root may read it"), b"");
                }
            }
            run.kill().expect("it is killed");
            run.wait().expect("it is waited for");
            assert!(all_end(&watched), "{level}: everything is gone");
            lab.assert_no_process_is_left();
        }
    });
}

#[test]
fn a_killed_supervisor_is_no_fault_of_the_bot() {
    as_each_user(|lab| {
        for level in LEVELS {
            let event = event(&lab, level, "none").set("event", "games", "40");
            let event = event.set("event", "restart", "\"match\"");
            let file = event.write(&lab, "event.toml");
            let mut run = start(&lab, &file, level);
            let id = run.id();
            // Not the box of a self-test: one with a bot in it.
            let victim = until(&run, || {
                Lab::boxes_of(id)
                    .into_iter()
                    .filter(|&pid| below(pid).into_iter().any(is_python))
                    .max_by_key(|pid| pid.as_raw_nonzero())
            });
            // It may have ended by itself meanwhile; then nothing is tried.
            let _ = kill_process(victim, Signal::KILL);
            let status = run.wait().expect("it is waited for");
            assert!(status.success(), "{level}: {status}");
            let games = lab.games(level);
            let counted = games.iter().filter(|game| game["verdict"] != "void");
            for game in counted.clone() {
                assert_eq!(game["verdict"], "rule", "{level}: {game}");
            }
            assert_eq!(counted.count(), 40, "{level}: every game once");
            lab.assert_no_process_is_left();
            Lab::assert_no_box_is_left(id);
        }
    });
}

#[test]
fn neither_referee_nor_box_can_be_traced_by_others_of_the_user() {
    if !is_root() {
        return;
    }
    let lab = Lab::new().of_user(common::NOBODY);
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/bot.py");
    std::fs::copy(bot, lab.path("bot/bot.py")).expect("the bot is copied");
    let event = event(&lab, "limits", "wait").set("clock", "move", "\"600s\"");
    let file = event.write(&lab, "event.toml");
    let mut run = start(&lab, &file, "event");
    let id = run.id();
    let supervisor = until(&run, || {
        Lab::boxes_of(id)
            .into_iter()
            .filter(|&pid| below(pid).into_iter().any(is_python))
            .min_by_key(|pid| pid.as_raw_nonzero())
    });
    for pid in [common::pid_of(&run), supervisor] {
        use std::os::unix::fs::MetadataExt;
        let owner = std::fs::metadata(format!("/proc/{}/mem", pid.as_raw_nonzero()))
            .expect("it is there")
            .uid();
        // The files of a process that may not be traced are root's.
        assert_eq!(owner, 0);
    }
    run.kill().expect("it is killed");
    run.wait().expect("it is waited for");
    lab.assert_no_process_is_left();
}

/// Plays a bot that computes all the time against one that takes its time; the processor time outside its turns that the record
/// tells of, microseconds.
fn thought_outside(lab: &Lab, level: &str, ponder: bool) -> u64 {
    for file in ["f01_ponder.py", "z01_honest_slow.py", "helper.py"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
        std::fs::copy(from.join(file), lab.path("bot").join(file)).expect("copied");
    }
    let bot = |event: common::Event, name, file| {
        event
            .bot(name, &[crate::help::PYTHON, file])
            .with("dir = \"bot\"")
    };
    let event = common::Event::new("mangala")
        .set("event", "games", "1")
        .set("event", "paired", "false")
        .set("limits", "sandbox", &common::toml_text(level))
        .set("limits", "ponder", &ponder.to_string());
    let event = bot(event, "thinks", "f01_ponder.py");
    let event = bot(event, "slow", "z01_honest_slow.py");
    let file = event.write(lab, "event.toml");
    let out = format!("{level}-{ponder}");
    lab.hakem(["run", file.to_str().expect("a path"), "--out", &out])
        .exits(0);
    let game = lab.games(&out).remove(0);
    assert_eq!(game["verdict"], "rule", "{out}: {game}");
    lab.verify_records(&out);
    if level != "none" {
        assert_eq!(crate::help::in_force(lab, &out)["frozen"], !ponder);
        if !ponder {
            let logs = logs(lab, &out);
            assert!(logs.contains("BLOCKED pondering"), "{out}: {logs}");
            assert!(!logs.contains("PWNED"), "{out}: {logs}");
        }
    }
    let seats: Vec<&str> = game["seats"]
        .as_array()
        .expect("seats")
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    let seat = seats
        .iter()
        .position(|&name| name == "thinks")
        .expect("it sits there");
    let record = common::files_below(&lab.path(&out).join("records")).remove(0);
    let record = std::fs::read_to_string(record).expect("a record");
    record
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter(|line| line["answer"]["seat"] == seat)
        .filter_map(|line| line["answer"]["spent"]["outside_us"].as_u64())
        .sum()
}

#[test]
fn a_bot_that_may_not_ponder_stands_still_in_others_time() {
    as_each_user(|lab| {
        for level in LEVELS {
            thought_outside(&lab, level, false);
        }
    });
}

#[test]
fn thoughts_in_others_time_are_recorded_at_every_level() {
    as_each_user(|lab| {
        let frozen = thought_outside(&lab, "strict", false);
        for level in ["none", "limits", "strict"] {
            let free = thought_outside(&lab, level, true);
            assert!(
                free > 10 * frozen.max(1_000),
                "{level}: {free} and {frozen}"
            );
        }
    });
}

/// Starts a program that writes back what it reads, in a box.
fn echo(level: hakem::bot::sandbox::Level, freezes: bool) -> hakem::bot::process::Started {
    use std::sync::Arc;

    use hakem::bot::process::Program;
    use hakem::bot::sandbox::{Confine, probe, slots::Slots};

    let order = probe::order_for(level, vec!["/bin/cat".into()], "/usr".into(), Vec::new());
    let program = Program {
        argv: vec!["/bin/cat".into()],
        dir: None,
        env: Vec::new(),
        log: None,
        max_stderr: 0,
        max_line: 100,
        max_output: 100,
        exit_us: 0,
        cores: 1,
        confine: Some(Arc::new(Confine {
            own: common::hakem_path(),
            order,
            freezes,
            slots: Slots::new().expect("a folder"),
        })),
    };
    // Its parent-death signal must not be that of a thread.
    let started = std::thread::spawn(move || program.start().expect("it starts"))
        .join()
        .expect("the thread ends");
    for pipe in [&started.stdin, &started.stdout] {
        rustix::io::ioctl_fionbio(pipe, false).expect("it may block");
    }
    started
}

/// A line there and back.
#[track_caller]
fn turn(started: &hakem::bot::process::Started) {
    let line = b"still here";
    rustix::io::write(&started.stdin, line).expect("it is there");
    let mut answer = [0; 10];
    let read = rustix::io::read(&started.stdout, &mut answer).expect("it answers");
    assert_eq!(&answer[..read], line);
}

#[test]
fn a_bot_lives_on_when_the_thread_that_started_it_ends() {
    use hakem::bot::sandbox::Level;

    for level in [Level::Limits, Level::Strict] {
        let mut started = echo(level, false);
        turn(&started);
        let boxed = started.process.boxed().expect("it has a box");
        boxed.listen();
        assert!(boxed.features().is_some(), "it has told which walls stand");
        // The generations that are the referee's own are those that it says.
        let mut generation = vec![started.process.pid()];
        for _ in 0..started.wrappers {
            generation = generation.into_iter().flat_map(children).collect();
        }
        let [bot] = generation[..] else {
            panic!("one bot: {generation:?}");
        };
        let comm = std::fs::read_to_string(format!("/proc/{}/comm", bot.as_raw_nonzero()));
        assert_eq!(comm.expect("it is there").trim(), "cat");
        let watched = pidfd_open(bot, PidfdFlags::empty()).expect("it is there");
        drop(started.process);
        assert!(all_end(&[watched]));
    }
}

#[test]
fn a_starved_supervisor_misses_no_thaw() {
    use hakem::bot::sandbox::Level;

    for level in [Level::Limits, Level::Strict] {
        let mut started = echo(level, true);
        turn(&started);
        let mut supervisor = started.process.pid();
        for _ in 1..started.wrappers {
            supervisor = children(supervisor)[0];
        }
        kill_process(supervisor, Signal::STOP).expect("it is stopped");
        let (half, told) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            told.recv().expect("half of it is done");
            kill_process(supervisor, Signal::CONT).expect("it goes on");
        });
        let boxed = started.process.boxed().expect("it has a box");
        // Many more than a socket holds.
        for number in 0..50 {
            boxed.freeze();
            if number == 1 {
                half.send(()).expect("the other thread waits");
            }
            boxed.thaw();
        }
        other.join().expect("the other thread ends");
        for _ in 0..2_000 {
            if let Some(boxed) = started.process.boxed() {
                boxed.thaw();
            }
            turn(&started);
            if let Some(boxed) = started.process.boxed() {
                boxed.freeze();
            }
        }
    }
}

#[test]
fn cgroups_are_removed() {
    if !is_root() {
        return;
    }
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/bot.py");
    std::fs::copy(bot, lab.path("bot/bot.py")).expect("the bot is copied");
    play(&lab, &event(&lab, "strict", "none"));
    let ran = lab.hakem(["run", "event.toml", "--fresh"]).exits(0);
    let name = format!("hakem-{}-", ran.pid);
    let left: Vec<_> = walk(Path::new("/sys/fs/cgroup"), 4)
        .into_iter()
        .filter(|path| {
            path.file_name()
                .is_some_and(|found| found.to_string_lossy().starts_with(&name))
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

fn walk(folder: &Path, depth: usize) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
            if depth > 0 {
                found.extend(walk(&entry.path(), depth - 1));
            }
        }
    }
    found
}
