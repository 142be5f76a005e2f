//! What the tests from outside share: a folder of their own, event files, the program run as users run it, and the
//! processes that it leaves behind.
#![allow(
    dead_code,
    reason = "every test program includes this file and uses its own part of it"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal};
use serde_json::Value;

/// The variable that marks every process of a test, handed on by inheritance.
const MARK: &str = "HAKEM_TEST_MARK";
/// A run that takes longer than this hangs. Far above what any test needs; no test asserts a time.
pub(crate) const HANG: Duration = Duration::from_secs(300);
/// How long a process may take to be gone after it was ended.
const GONE: Duration = Duration::from_secs(2);

/// The program under test: the one that this build made, or that of `HAKEM_TEST_BIN`.
pub(crate) fn hakem_path() -> PathBuf {
    std::env::var_os("HAKEM_TEST_BIN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_hakem")), PathBuf::from)
}

/// The scripted misbehaving bot, which `cargo test` builds as an example.
pub(crate) fn mockbot_path() -> PathBuf {
    let me = std::env::current_exe().expect("the test program has a path");
    let profile = me
        .parent()
        .and_then(Path::parent)
        .expect("the test program lies in target/PROFILE/deps");
    let path = profile.join("examples").join("mockbot");
    assert!(
        path.exists(),
        "{} is missing: run `cargo build --example mockbot` first",
        path.display()
    );
    path
}

/// Whether the long form of the tests was asked for.
pub(crate) fn full() -> bool {
    std::env::var_os("HAKEM_TEST_FULL").is_some_and(|value| value == "1")
}

/// A number from the environment.
pub(crate) fn env_number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not `{text}`"))
    })
}

/// A small generator with stable values (splitmix64), for choices that a seed repeats.
pub(crate) struct Lots(u64);

impl Lots {
    /// The stream of this seed.
    pub(crate) fn new(seed: u64) -> Lots {
        Lots(seed)
    }

    /// The next number from 0 below `count`.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % count.max(1)
    }
}

/// What a run of the program left.
pub(crate) struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// All of stdout.
    pub(crate) stdout: String,
    /// All of stderr.
    pub(crate) stderr: String,
    /// The process id that it had.
    pub(crate) pid: u32,
    command: String,
}

impl Ran {
    /// Asserts the exit code; shows everything where it differs.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert!(
            self.code == Some(code),
            "exit code {:?}, not {code}, of {self}",
            self.code
        );
        assert!(
            !self.stderr.contains("panicked at"),
            "a panic was shown to the user: {self}"
        );
        self
    }

    /// Asserts that stderr names all of these.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Ran {
        for word in words {
            assert!(
                self.stderr.contains(word),
                "stderr does not name `{word}`: {self}"
            );
        }
        self
    }

    /// stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON ({error}): {self}"))
    }

    /// Asserts that neither stream holds a byte that steers a terminal.
    #[track_caller]
    pub(crate) fn stays_plain(self) -> Ran {
        for text in [&self.stdout, &self.stderr] {
            let steers = text
                .chars()
                .find(|&c| c.is_control() && c != '\n' && c != '\t');
            assert!(
                steers.is_none(),
                "{steers:?} reached the terminal: {:?}",
                text
            );
        }
        self
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}`\n--- stdout\n{}\n--- stderr\n{}\n---",
            self.command, self.stdout, self.stderr
        )
    }
}

/// An ordinary user without a home, for what must work without being root.
pub(crate) const NOBODY: u32 = 20_001;

/// Whether this test runs as root, and so may do things as others.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The program where any user may reach it; a copy, made once.
fn hakem_for_all() -> &'static Path {
    static COPY: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    COPY.get_or_init(|| {
        // One copy a build, which all test programs share and none removes under another.
        let built = std::fs::metadata(hakem_path()).and_then(|found| found.modified());
        let built = built.expect("the program was built at some time");
        let stamp = built
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let path = std::env::temp_dir().join(format!("hakem-test-program-{stamp}"));
        if !path.exists() {
            let fresh = path.with_extension(std::process::id().to_string());
            std::fs::copy(hakem_path(), &fresh).expect("the program is copied");
            std::fs::rename(&fresh, &path).expect("the copy gets its name");
        }
        path
    })
}

/// A folder of a test's own, and a mark that all processes started from it carry.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
    mark: String,
    user: Option<u32>,
}

impl Lab {
    /// An empty folder.
    pub(crate) fn new() -> Lab {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Lab {
            dir: tempfile::Builder::new()
                .prefix("hakem-test-")
                .tempdir()
                .expect("a folder for the test is made"),
            mark: format!("{}-{count}", std::process::id()),
            user: None,
        }
    }

    /// The same folder, in which the program runs as this user. For tests that run as root.
    pub(crate) fn of_user(mut self, user: u32) -> Lab {
        self.user = Some(user);
        self
    }

    /// Gives all files to the user of the folder.
    fn hand_over(&self) {
        let Some(user) = self.user else { return };
        let given = Command::new("chown")
            .args(["-hR", &format!("{user}:{user}")])
            .arg(self.dir.path())
            .status()
            .expect("chown runs");
        assert!(given.success(), "the files are given to user {user}");
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file of the test is written");
        path
    }

    /// The program with these arguments, in the folder, not started yet.
    pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Command {
        let mut command = match self.user {
            None => Command::new(hakem_path()),
            Some(user) => {
                use std::os::unix::process::CommandExt;
                self.hand_over();
                let mut command = Command::new(hakem_for_all());
                // This also drops further groups.
                command.uid(user).gid(user).env("HOME", self.dir.path());
                command
            }
        };
        command
            .args(args)
            .current_dir(self.dir.path())
            .env(MARK, &self.mark)
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    /// The variable that marks what is started for this folder otherwise than by [`Lab::command`].
    pub(crate) fn mark(&self) -> Vec<(String, String)> {
        vec![(MARK.to_owned(), self.mark.clone())]
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn hakem<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Ran {
        finish(self.command(args))
    }

    /// Runs the program with this text on its stdin.
    #[track_caller]
    pub(crate) fn hakem_fed(&self, args: &[&str], input: &str) -> Ran {
        use std::io::Write;
        let mut command = self.command(args);
        let text = show(&command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hakem starts");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let input = input.to_owned();
        let writer = std::thread::spawn(move || {
            // A program that has ended needs no more input.
            let _ = stdin.write_all(input.as_bytes());
        });
        let ran = collect(child, text);
        writer.join().expect("the writer does not panic");
        ran
    }

    /// Plays an event file and asserts that it was played to its end.
    #[track_caller]
    pub(crate) fn run(&self, event: &Path) -> Ran {
        self.hakem([OsStr::new("run"), event.as_os_str()]).exits(0)
    }

    /// The games of a results folder, in schedule order.
    #[track_caller]
    pub(crate) fn games(&self, dir: impl AsRef<OsStr>) -> Vec<Value> {
        let args = [
            OsStr::new("games"),
            dir.as_ref(),
            OsStr::new("--format"),
            OsStr::new("json"),
        ];
        match self.hakem(args).exits(0).json() {
            Value::Array(games) => games,
            other => panic!("`hakem games` prints an array, not {other}"),
        }
    }

    /// The standings of a results folder.
    #[track_caller]
    pub(crate) fn standings(&self, dir: impl AsRef<OsStr>) -> Value {
        let args = [
            OsStr::new("standings"),
            dir.as_ref(),
            OsStr::new("--format"),
            OsStr::new("json"),
        ];
        self.hakem(args).exits(0).json()
    }

    /// Asserts that a results folder verifies, and every record of it by itself; returns how many there are.
    #[track_caller]
    pub(crate) fn verify_records(&self, dir: impl AsRef<Path>) -> usize {
        let records = files_below(&self.path(dir.as_ref()).join("records"));
        assert!(
            !records.is_empty(),
            "{} has no records",
            dir.as_ref().display()
        );
        let args = [OsStr::new("verify").to_owned()]
            .into_iter()
            .chain(records.iter().map(|path| path.as_os_str().to_owned()));
        self.hakem(args).exits(0);
        self.hakem([OsStr::new("verify"), dir.as_ref().as_os_str()])
            .exits(0);
        records.len()
    }

    /// The processes that carry this folder's mark, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(Pid, String)> {
        let needle = format!("{MARK}={}\0", self.mark);
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| {
                let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
                let mut environ = std::fs::read(entry.path().join("environ")).ok()?;
                // Each variable ends with a NUL, the last one too, but a changed title may cut it.
                environ.push(0);
                let found = environ
                    .windows(needle.len())
                    .any(|window| window == needle.as_bytes());
                let line = std::fs::read(entry.path().join("cmdline")).ok()?;
                found.then(|| (pid, String::from_utf8_lossy(&line).replace('\0', " ")))
            })
            .collect()
    }

    /// The boxes that a run with this process id has started and that are still there.
    pub(crate) fn boxes_of(run: u32) -> Vec<Pid> {
        let line = format!("hakem\0__box\0{run}\0");
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter(|entry| {
                std::fs::read(entry.path().join("cmdline"))
                    .is_ok_and(|found| found == line.as_bytes())
            })
            .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    /// Asserts that every box of a run is gone, or is gone soon.
    #[track_caller]
    pub(crate) fn assert_no_box_is_left(run: u32) {
        let left: Vec<Pid> = Lab::boxes_of(run)
            .into_iter()
            .filter(|pid| !ends_soon(*pid))
            .collect();
        for pid in &left {
            let _ = rustix::process::kill_process(*pid, Signal::KILL);
        }
        assert!(left.is_empty(), "boxes are still there: {left:?}");
    }

    /// Asserts that every process of this folder is gone, or is gone soon (the end of a process takes a moment).
    #[track_caller]
    pub(crate) fn assert_no_process_is_left(&self) {
        let left: Vec<String> = self
            .processes()
            .into_iter()
            .filter(|(pid, _)| !ends_soon(*pid))
            .map(|(pid, line)| format!("{} {line}", pid.as_raw_nonzero()))
            .collect();
        self.end_processes();
        assert!(left.is_empty(), "still alive: {left:#?}");
    }

    /// Ends what carries this folder's mark, by process id.
    pub(crate) fn end_processes(&self) {
        for (pid, _) in self.processes() {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.end_processes();
    }
}

/// Whether a process is gone within the time that an end may take.
fn ends_soon(pid: Pid) -> bool {
    // A process that cannot be opened is gone already.
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_or(true, |fd| readable(&fd, GONE))
}

/// Whether the descriptor becomes readable (a pidfd: its process ends) within this time.
fn readable(fd: &impl std::os::fd::AsFd, within: Duration) -> bool {
    let timeout = within.try_into().expect("a short time fits");
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    matches!(rustix::event::poll(&mut fds, Some(&timeout)), Ok(count) if count > 0)
}

/// Waits until the process ends, at most so long; whether it ended.
pub(crate) fn ends_within(child: &Child, within: Duration) -> bool {
    let pid = pid_of(child);
    let fd = rustix::process::pidfd_open(pid, PidfdFlags::empty())
        .expect("a child that was not waited for has a pidfd");
    readable(&fd, within)
}

/// Waits until something connects to the socket; `None` if the program ends before.
pub(crate) fn accept_while_running(listener: &UnixListener, child: &Child) -> Option<UnixStream> {
    let ended = rustix::process::pidfd_open(pid_of(child), PidfdFlags::empty())
        .expect("a child that was not waited for has a pidfd");
    let timeout = HANG.try_into().expect("a short time fits");
    let mut fds = [
        PollFd::new(listener, PollFlags::IN),
        PollFd::new(&ended, PollFlags::IN),
    ];
    rustix::event::poll(&mut fds, Some(&timeout)).expect("descriptors can be polled");
    let connects = !fds[0].revents().is_empty();
    connects.then(|| listener.accept().expect("a connection waits").0)
}

/// The id of a child.
pub(crate) fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn show(command: &Command) -> String {
    let mut text = String::from("hakem");
    for arg in command.get_args() {
        let _ = write!(text, " {}", arg.to_string_lossy());
    }
    text
}

/// Runs a command to its end and collects what it wrote.
#[track_caller]
pub(crate) fn finish(mut command: Command) -> Ran {
    let text = show(&command);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("`{text}` does not start: {error}"));
    collect(child, text)
}

/// Collects what a started program writes until its end.
#[track_caller]
pub(crate) fn collect(mut child: Child, command: String) -> Ran {
    fn reader<R: Read + Send + 'static>(pipe: Option<R>) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_end(&mut bytes).expect("a pipe is read");
            }
            bytes
        })
    }
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let pid = child.id();
    let hangs = !ends_within(&child, HANG);
    if hangs {
        child.kill().expect("a hanging run is ended");
    }
    let status = child.wait().expect("the run is waited for");
    // The streams may be held by a bot that outlived the run; that is another assertion's matter.
    let text = |bytes: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8(bytes.join().expect("the reader does not panic"))
            .unwrap_or_else(|error| panic!("output is not UTF-8: {error}"))
    };
    let ran = Ran {
        code: status.code(),
        stdout: text(stdout),
        stderr: text(stderr),
        pid,
        command,
    };
    assert!(!hangs, "still running after {} s: {ran}", HANG.as_secs());
    ran
}

/// Every file below a folder, sorted.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A TOML string.
pub(crate) fn toml_text(text: &str) -> String {
    // The escapes of JSON are those of a basic TOML string.
    Value::from(text).to_string()
}

/// An event file in the making.
#[derive(Clone)]
pub(crate) struct Event {
    sections: BTreeMap<&'static str, Vec<(String, String)>>,
    bots: Vec<String>,
}

impl Event {
    /// An event of this game: one pair of matches for each pairing, no sandbox, limits that suit a busy machine.
    pub(crate) fn new(game: &str) -> Event {
        Event {
            sections: BTreeMap::new(),
            bots: Vec::new(),
        }
        .set("event", "name", "\"test\"")
        .set("event", "game", &toml_text(game))
        .set("event", "games", "2")
        .set("event", "seed", "42")
        .set("clock", "main", "\"60s\"")
        .set("clock", "move", "\"10s\"")
        .set("clock", "ready", "\"10s\"")
        .set("limits", "sandbox", "\"none\"")
    }

    /// Sets a key of a section; `value` is TOML.
    pub(crate) fn set(mut self, section: &'static str, key: &str, value: &str) -> Event {
        let keys = self.sections.entry(section).or_default();
        match keys.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => value.clone_into(old),
            None => keys.push((key.into(), value.into())),
        }
        self
    }

    /// Adds a bot that is a command.
    pub(crate) fn bot(mut self, name: &str, argv: &[&str]) -> Event {
        let argv: Vec<String> = argv.iter().map(|arg| toml_text(arg)).collect();
        self.bots.push(format!(
            "name = {}\ncommand = [{}]\n",
            toml_text(name),
            argv.join(", ")
        ));
        self
    }

    /// Adds a line to the bot that was added last.
    pub(crate) fn with(mut self, line: &str) -> Event {
        let bot = self.bots.last_mut().expect("a bot was added");
        bot.push_str(line);
        bot.push('\n');
        self
    }

    /// Adds a scripted bot.
    pub(crate) fn mock(self, name: &str, args: &[&str]) -> Event {
        let path = mockbot_path();
        let path = path.to_str().expect("the path of the build is UTF-8");
        let argv: Vec<&str> = [path].iter().chain(args).copied().collect();
        self.bot(name, &argv)
    }

    /// Adds a built-in bot.
    pub(crate) fn builtin(mut self, name: &str, builtin: &str) -> Event {
        self.bots.push(format!(
            "name = {}\nbuiltin = {}\n",
            toml_text(name),
            toml_text(builtin)
        ));
        self
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for section in ["event", "rules", "clock", "adjudication", "limits"] {
            if let Some(keys) = self.sections.get(section) {
                let _ = writeln!(text, "[{section}]");
                for (key, value) in keys {
                    let _ = writeln!(text, "{key} = {value}");
                }
                text.push('\n');
            }
        }
        for bot in &self.bots {
            let _ = writeln!(text, "[[bot]]\n{bot}");
        }
        text
    }

    /// Writes it into the folder.
    pub(crate) fn write(&self, lab: &Lab, name: &str) -> PathBuf {
        lab.write(name, self.text())
    }
}

/// A text field of a game.
#[track_caller]
pub(crate) fn text<'a>(game: &'a Value, key: &str) -> &'a str {
    game[key]
        .as_str()
        .unwrap_or_else(|| panic!("`{key}` of {game} is no text"))
}

/// The games in which this bot sat.
pub(crate) fn of_bot<'a>(games: &'a [Value], bot: &str) -> Vec<&'a Value> {
    games
        .iter()
        .filter(|game| {
            game["seats"]
                .as_array()
                .is_some_and(|seats| seats.iter().any(|seat| seat == bot))
        })
        .collect()
}

/// Asserts that these are the ids, each once, in this order.
#[track_caller]
pub(crate) fn assert_ids<S: AsRef<str>>(games: &[Value], ids: &[S]) {
    let found: Vec<&str> = games.iter().map(|game| text(game, "id")).collect();
    let expected: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    assert_eq!(found, expected, "every game once, in schedule order");
}
