//! Programs, the content of the bots' files, and what makes two events the same.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// An event of these [[bot]] sections in a folder of its own.
struct Event {
    folder: tempfile::TempDir,
}

impl Event {
    fn new() -> Event {
        Event {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: &str, mode: u32) {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder");
        }
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    fn config(&self, bots: &str) -> EventConfig {
        let text = format!(
            "[event]\ngame = \"mangala\"\n{bots}\n[[bot]]\nname = \"house\"\nbuiltin = \"greedy\"\n"
        );
        match parse(&text, &self.path("spring.toml"), BUILTINS) {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        }
    }

    fn problem(&self, bot: &str) -> String {
        let config = self.config(&format!("[[bot]]\nname = \"a\"\n{bot}"));
        let problems: Vec<String> = check_programs(&config)
            .iter()
            .map(|problem| problem.to_string())
            .collect();
        problems
            .join("\n")
            .replace(&self.folder.path().display().to_string(), "DIR")
    }

    fn files(&self, bot: &str) -> BotFiles {
        let config = self.config(&format!("[[bot]]\nname = \"a\"\n{bot}"));
        let mut files = bot_files(&config).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(files[1], BotFiles::default(), "a built-in bot has no files");
        files.swap_remove(0)
    }
}

#[test]
fn programs_that_can_be_started() {
    let event = Event::new();
    event.file("ok.sh", "#!/bin/sh\nexit\n", 0o755);
    event.file("bot.py", "print()\n", 0o644);
    event.file("in/ok", "#!/usr/bin/env sh\n", 0o755);
    for bot in [
        "command = [\"./ok.sh\"]",
        "command = [\"sh\", \"bot.py\"]",
        "command = [\"/bin/sh\", \"-c\", \"exit\"]",
        "command = \"./ok\"\ndir = \"in\"",
    ] {
        assert_eq!(event.problem(bot), "", "{bot}");
    }
    let found = resolve_program("sh", event.folder.path()).expect("a shell");
    assert!(found.is_absolute() && found.ends_with("sh"), "{found:?}");
    let found = resolve_program("./ok", &event.path("in")).expect("a script");
    assert_eq!(found, event.path("in/ok"));
}

#[test]
fn programs_that_cannot_be_started() {
    let event = Event::new();
    event.file("plain.py", "print()\n", 0o644);
    event.file("empty", "", 0o755);
    event.file("text.py", "print('no first line')\n", 0o755);
    event.file("dos", "#!/bin/sh\r\nexit\r\n", 0o755);
    event.file("lost", "#!/no/such/interpreter -x\n", 0o755);
    event.file("here", "#!/bin/sh\n", 0o755);
    event.file("empty.py", "", 0o644);
    fs::create_dir(event.path("folder")).expect("a folder");
    let all: Vec<String> = [
        "command = \"./missing\"",
        "command = \"no-such-program-anywhere\"",
        "command = \"here\"",
        "command = \"./folder\"",
        "command = \"./plain.py\"",
        "command = \"./empty\"",
        "command = \"./text.py\"",
        "command = \"./dos\"",
        "command = \"./lost\"",
        "command = \"sh missing.py\"",
        "command = \"sh empty.py\"",
        "command = \"sh\"\ndir = \"gone\"",
        "command = \"sh\"\ndir = \"empty\"",
    ]
    .iter()
    .map(|bot| event.problem(bot))
    .collect();
    insta::assert_snapshot!(all.join("\n"), @r##"
    bot `a` (spring.toml, line 3): its program DIR/missing is missing: No such file or directory (os error 2)
    bot `a` (spring.toml, line 3): there is no program `no-such-program-anywhere` on the search path; install it, or name it with its path
    bot `a` (spring.toml, line 3): there is no program `here` on the search path; the file in the bot's folder is "./here"
    bot `a` (spring.toml, line 3): its program DIR/folder is a folder; `command` begins with the program's file
    bot `a` (spring.toml, line 3): its program DIR/plain.py is not executable; make it so (chmod +x DIR/plain.py), or write `command = ["python3", "./plain.py"]`
    bot `a` (spring.toml, line 3): its program DIR/empty is empty (0 bytes)
    bot `a` (spring.toml, line 3): its program DIR/text.py is text, but its first line names no interpreter; begin it with `#!/usr/bin/env python3`, or write `command = ["python3", "./text.py"]`
    bot `a` (spring.toml, line 3): the first line of its program DIR/dos has a Windows line end; save the file with Unix line ends
    bot `a` (spring.toml, line 3): the first line of its program DIR/lost names the interpreter `/no/such/interpreter`, which is missing; `#!/usr/bin/env python3` or the like is right
    bot `a` (spring.toml, line 3): the file DIR/missing.py of its command is missing: No such file or directory (os error 2); a path in `command` is relative to `dir`
    bot `a` (spring.toml, line 3): the file DIR/empty.py of its command is empty (0 bytes)
    bot `a` (spring.toml, line 3): its folder DIR/gone cannot be entered: No such file or directory (os error 2); `dir` is relative to the event file
    bot `a` (spring.toml, line 3): its folder DIR/empty is no folder; `dir` is the folder that the bot is started in
    "##);
}

#[test]
fn the_files_of_a_bot() {
    let event = Event::new();
    event.file("run.sh", "#!/bin/sh\n", 0o755);
    event.file("other.txt", "not the bot's\n", 0o644);
    let files = event.files("command = [\"./run.sh\", \"missing.txt\"]");
    let names: Vec<&str> = files.0.keys().map(String::as_str).collect();
    assert_eq!(names, ["run.sh"]);
    // The well-known hash of this content, from another program.
    event.file("run.sh", "abc", 0o755);
    event.file("data", "abc", 0o644);
    let files = event.files("command = [\"/bin/sh\", \"data\"]");
    assert_eq!(
        files.0["data"],
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(files.0.len(), 2, "{files:?}");
}

#[test]
fn the_files_of_a_folder() {
    let event = Event::new();
    event.file("bot/bot.sh", "#!/bin/sh\n", 0o755);
    event.file("bot/data/net.bin", "1", 0o644);
    event.file("bot/__pycache__/x.pyc", "1", 0o644);
    event.file("bot/.git/HEAD", "1", 0o644);
    event.file("bot/target/CACHEDIR.TAG", "1", 0o644);
    event.file("bot/target/big", "1", 0o644);
    event.file("bot/results/results.sqlite", "1", 0o644);
    event.file("bot/results/records/x", "1", 0o644);
    event.file("secret", "1", 0o644);
    symlink("../secret", event.path("bot/link")).expect("a link");
    symlink("..", event.path("bot/up")).expect("a link");
    let _socket =
        std::os::unix::net::UnixListener::bind(event.path("bot/socket")).expect("a socket");
    let bot = "command = [\"./bot.sh\"]\ndir = \"bot\"";
    let first = event.files(bot);
    let a = event.config(&format!("[[bot]]\nname = \"a\"\n{bot}")).bots[0].clone();
    let names: Vec<&str> = first.0.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["bot/bot.sh", "bot/data/net.bin", "bot/link", "bot/up"]
    );
    assert_eq!(first.0["bot/link"], "link to ../secret");
    assert_eq!(event.files(bot), first);
    assert_eq!(event.files(bot).hash(), first.hash());
    assert_eq!(first.hash().len(), 64);

    event.file("bot/data/net.bin", "2", 0o644);
    event.file("bot/new", "2", 0o644);
    fs::remove_file(event.path("bot/link")).expect("no link");
    event.file("secret", "2", 0o644);
    let second = event.files(bot);
    assert_ne!(first.hash(), second.hash());
    assert_eq!(
        first.changes(&second, &a),
        [
            "bot `a`: bot/data/net.bin has changed",
            "bot `a`: bot/link is gone",
        ]
    );
    assert_eq!(second.changes(&second, &a), Vec::<String>::new());
    for number in 0..30 {
        event.file(&format!("bot/more/{number}"), "1", 0o644);
    }
    // What a bot leaves beside itself is no change; what is gone again is one.
    let many = event.files(bot);
    assert_eq!(second.changes(&many, &a), Vec::<String>::new());
    let changes = many.changes(&second, &a);
    assert_eq!(changes.len(), 11);
    assert_eq!(changes[10], "bot `a`: 20 more files are different");
    // It is kept as JSON.
    let kept = serde_json::to_string(&second).expect("JSON");
    assert_eq!(
        serde_json::from_str::<BotFiles>(&kept).expect("files"),
        second
    );
}

#[test]
fn a_program_that_the_search_path_finds_elsewhere_is_not_gone() {
    let event = Event::new();
    let bot = event
        .config("[[bot]]\nname = \"a\"\ncommand = [\"sh\", \"-c\", \"exit\"]")
        .bots[0]
        .clone();
    let files = |paths: &[(&str, &str)]| {
        let pairs = paths
            .iter()
            .map(|(path, hash)| ((*path).into(), (*hash).into()));
        BotFiles(pairs.collect())
    };
    let was = files(&[("/one/bin/sh", "1"), ("lib/sh.txt", "2")]);
    let is = files(&[("/two/bin/sh", "1"), ("new/sh.txt", "2")]);
    assert_eq!(
        was.changes(&is, &bot),
        [
            "bot `a`: `sh` was /one/bin/sh and is now /two/bin/sh: PATH is another one; put /one/bin first in PATH again \
             (a virtual environment is entered or left)",
            "bot `a`: lib/sh.txt is gone",
        ]
    );
    // A program that is named with its path is looked for nowhere else.
    let named = event
        .config("[[bot]]\nname = \"a\"\ncommand = [\"/bin/sh\", \"-c\", \"exit\"]")
        .bots[0]
        .clone();
    assert_eq!(was.changes(&is, &named)[0], "bot `a`: /one/bin/sh is gone");
}

#[test]
fn a_folder_that_is_too_large_is_refused() {
    let event = Event::new();
    event.file("bot/bot.sh", "#!/bin/sh\n", 0o755);
    event.file("bot/huge", "", 0o644);
    let bot = "[[bot]]\nname = \"a\"\ncommand = \"./bot.sh\"\ndir = \"bot\"\n";
    let error = |bot: &str| {
        bot_files(&event.config(bot))
            .expect_err("too large")
            .to_string()
    };
    let huge = fs::File::options()
        .write(true)
        .open(event.path("bot/huge"))
        .expect("a file");
    huge.set_len(5 << 30).expect("a sparse file");
    assert!(error(bot).contains("holds more than"), "{}", error(bot));
    let only = bot
        .replace("dir = \"bot\"", "")
        .replace("./bot.sh", "bot/bot.sh bot/huge");
    assert!(error(&only).contains("bot/huge"), "{}", error(&only));
    fs::remove_file(event.path("bot/huge")).expect("no file");
    fs::create_dir_all(event.path(&format!("bot{}", "/deeper".repeat(70)))).expect("folders");
    assert!(error(bot).contains("too deep"), "{}", error(bot));
}

#[test]
fn the_event_file_is_not_the_bots() {
    let event = Event::new();
    event.file("spring.toml", "one", 0o644);
    event.file("bot.sh", "#!/bin/sh\n", 0o755);
    let bot = "command = [\"./bot.sh\"]\ndir = \".\"";
    let first = event.files(bot);
    event.file("spring.toml", "two", 0o644);
    assert_eq!(event.files(bot), first);
    assert_eq!(first.0.len(), 1);
}

#[test]
fn a_missing_program_has_no_files() {
    let event = Event::new();
    let config = event.config("[[bot]]\nname = \"a\"\ncommand = \"./missing\"\n");
    let error = bot_files(&config).expect_err("missing").to_string();
    assert!(error.starts_with("bot `a`: its program "), "{error}");
}

#[test]
fn the_same_event_in_other_words() {
    let config = config(FULL);
    let value = config.fingerprint();
    let other = FULL
        .replace("\"60s\"", "\"1m\"")
        .replace("\"1GB\"", "\"1024MiB\"")
        .replace("0x2A", "\"42\"")
        .replace("jobs = 2", "jobs = 7")
        .replace("Spring course", "Autumn course")
        .replace("seats = 2\n", "");
    let same = super::config(&other).fingerprint();
    assert_eq!(changes(&value, &same), Vec::<String>::new());
    assert_eq!(value, same);
    // An event that was moved with all its files is the same.
    let moved = parse(FULL, Path::new("/elsewhere/autumn.toml"), BUILTINS)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(changes(&value, &moved.fingerprint()), Vec::<String>::new());
    // It goes through text unchanged.
    let text = value.to_string();
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
}

#[test]
fn changes_in_words() {
    let value = config(FULL).fingerprint();
    let differ = |from: &[&str], to: &[&str]| {
        let mut text = FULL.to_owned();
        for (from, to) in from.iter().zip(to) {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        changes(&value, &config(&text).fingerprint()).join("\n")
    };
    insta::assert_snapshot!(differ(
        &["\"60s\"", "move = \"5s\"", "seed = 0x2A", "games = 10", "sets = 3", "256MB"],
        &["\"30s\"", "", "", "games = 12", "rematch_on_draw = true", "128MB"],
    ), @r##"
    [event].games was 10, is 12
    [event].seed was 42, is absent
    [rules].rematch_on_draw was false, is true
    [rules].sets was 3, is 1
    [clock].main was 60s, is 30s
    [clock].move was 5s, is absent
    [limits].memory was 256MB, is 128MB
    "##);
    insta::assert_snapshot!(differ(
        &["\"bot.py\"", "depth = 4", "LEVEL = \"3\"", "entries/team-a", "memory = \"1GB\", ", "builtin = \"greedy\"", "\"shell words\""],
        &["\"-u\", \"bot.py\"", "depth = 5", "DEPTH = \"3\"", "entries/b", "", "builtin = \"random\"", "\"new\""],
    ), @r##"
    bot `team-a`.command was ["python3","bot.py"], is ["python3","-u","bot.py"]
    bot `team-a`.dir was entries/team-a, is entries/b
    bot `team-a`.env.LEVEL was 3, is absent
    bot `team-a`.env.DEPTH was absent, is 3
    bot `team-a`.limits.memory was 1GB, is absent
    bot `team-a`.options.depth was 4, is 5
    bot `house`.builtin was greedy, is random
    bot `shell words` was removed
    bot `new` was added
    "##);
    let swapped = FULL
        .replace("\"house\"", "\"x\"")
        .replace("\" team-a \"", "\"house\"")
        .replace("\"x\"", "\"team-a\"");
    let all = changes(&value, &config(&swapped).fingerprint());
    assert_eq!(
        all.last().map(String::as_str),
        Some("the bots stand in another order")
    );
    // A description of a version with other keys is never taken for the same.
    let mut unknown = value.clone();
    unknown["more"] = true.into();
    assert_eq!(changes(&value, &unknown).len(), 1);
    assert!(!changes(&Value::Null, &value).is_empty());
}
