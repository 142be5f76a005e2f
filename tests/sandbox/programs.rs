//! Programs and files of bots: found once, copied once, shown.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{self, Lab, text};
use crate::help::{LEVELS, PYTHON, as_each_user, event, event_of, logs, play};

fn script(path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(path, text).expect("a script");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("executable");
}

#[test]
fn a_file_that_is_changed_in_mid_run_changes_nothing() {
    as_each_user(|lab| {
        for level in LEVELS {
            // Its first game is over when the log of the second is there; the bot is started anew for each match.
            let event = event(&lab, level, "none").set("event", "games", "30");
            let file = event.write(&lab, "event.toml");
            let mut command = lab.command(["run", file.to_str().expect("a path"), "--out", level]);
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
            let mut run = command.spawn().expect("it starts");
            let copies = lab.path(level).join("bots");
            let begin = std::time::Instant::now();
            while !std::fs::read_dir(&copies).is_ok_and(|list| {
                list.flatten()
                    .any(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            }) {
                assert!(begin.elapsed() < common::HANG);
                common::ends_within(&run, std::time::Duration::from_millis(2));
            }
            let source = lab.path("bot/bot.py");
            let honest = std::fs::read(&source).expect("a bot");
            std::fs::write(&source, "raise SystemExit(9)\n").expect("it is changed");
            let status = run.wait().expect("it is waited for");
            assert!(status.success());
            for game in lab.games(level) {
                assert_eq!(text(&game, "verdict"), "rule", "{level}: {game}");
            }
            std::fs::write(&source, honest).expect("it is changed back");
        }
    });
}

#[test]
fn copies_are_closed_and_named_by_their_content() {
    as_each_user(|lab| {
        play(&lab, &event(&lab, "strict", "none"));
        let copies: Vec<_> = std::fs::read_dir(lab.path("event/bots"))
            .expect("copies")
            .flatten()
            .collect();
        assert_eq!(copies.len(), 1, "one copy of one bot");
        let name = copies[0].file_name().into_string().expect("a name");
        assert!(
            name.len() == 64 && name.chars().all(|c| c.is_ascii_hexdigit()),
            "{name}"
        );
        for path in [copies[0].path(), copies[0].path().join("bot.py")] {
            let mode = std::fs::metadata(&path)
                .expect("it is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o222, 0, "{}", path.display());
            assert_eq!(mode & 0o444, 0o444, "{}", path.display());
        }
        let records = common::files_below(&lab.path("event/records"));
        let record = std::fs::read_to_string(&records[0]).expect("a record");
        assert!(
            record.contains(&format!("\"copy\":\"{name}\"")),
            "the record names it"
        );
    });
}

#[test]
fn an_interpreter_elsewhere_is_shown_with_its_folder() {
    as_each_user(|lab| {
        // A runtime as version managers install them, made of the system's.
        let prefix = lab.path("versions/1");
        std::fs::create_dir_all(prefix.join("bin")).expect("a folder");
        std::fs::create_dir_all(prefix.join("lib")).expect("a folder");
        std::fs::write(prefix.join("lib/part"), "part of the runtime").expect("a file");
        script(
            &prefix.join("bin/runtime"),
            &format!(
                "#!/bin/sh\ncat {0}/lib/part >&2\nexec {PYTHON} \"$@\"\n",
                prefix.display()
            ),
        );
        let runtime = prefix.join("bin/runtime");
        let argv = [runtime.to_str().expect("a path"), "bot.py"];
        let game = play(&lab, &event_of(&lab, "strict", &argv));
        assert_eq!(
            text(&game, "verdict"),
            "rule",
            "{game} {}",
            logs(&lab, "event")
        );
        assert!(logs(&lab, "event").contains("part of the runtime"));
    });
}

#[test]
fn a_runtime_that_is_not_shown_is_said_before_the_first_game() {
    as_each_user(|lab| {
        script(
            &lab.path("tools/run"),
            &format!("#!/bin/sh\nexec {PYTHON} \"$@\"\n"),
        );
        let program = lab.path("tools/run");
        let program = program.to_str().expect("a path");
        let event = event_of(&lab, "strict", &[program, "bot.py"]);
        let file = event.write(&lab, "event.toml");
        lab.hakem(["run", file.to_str().expect("a path")])
            .exits(2)
            .says(&["`bot`", program, "does not show", "runtime"]);
        // As it says, so it works.
        let event = event.set("limits", "runtime", "[\"tools\"]");
        let file = event.write(&lab, "event.toml");
        lab.hakem(["run", file.to_str().expect("a path"), "--out", "shown"])
            .exits(0);
        assert_eq!(lab.games("shown")[0]["verdict"], "rule");
        let missing = event.set("limits", "runtime", "[\"nowhere\"]");
        let file = missing.write(&lab, "event.toml");
        lab.hakem(["run", file.to_str().expect("a path"), "--out", "third"])
            .exits(2)
            .says(&["runtime", "nowhere", "does not exist"]);
    });
}

#[test]
fn a_shim_is_replaced_by_what_it_stands_for() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/bot.py");
    std::fs::copy(bot, lab.path("bot/bot.py")).expect("the bot is copied");
    let manager = lab.path("manager/libexec/pyenv");
    script(
        &manager,
        &format!("#!/bin/sh\n[ \"$1\" = which ] && echo {PYTHON}\n"),
    );
    script(
        &lab.path("manager/shims/python3"),
        &format!(
            "#!/bin/sh\necho a shim ran >&2\nexec \"{}\" exec python3 \"$@\"\n",
            manager.display()
        ),
    );
    let event = event_of(&lab, "strict", &["python3", "bot.py"]);
    let file = event.write(&lab, "event.toml");
    let mut command = lab.command(["run", file.to_str().expect("a path")]);
    let path = std::env::var("PATH").unwrap_or_default();
    let shims = lab.path("manager/shims");
    command.env("PATH", format!("{}:{path}", shims.display()));
    common::finish(command).exits(0);
    assert_eq!(lab.games("event")[0]["verdict"], "rule");
    assert_eq!(logs(&lab, "event"), "", "the shim was not started");
}

#[test]
fn a_bot_without_a_folder_of_its_own_is_shown_the_files_of_its_command() {
    as_each_user(|lab| {
        for level in LEVELS {
            let script =
                "import sys\nsys.path.insert(0, 'bot')\nsys.argv = ['bot', 'none']\nimport bot\n";
            std::fs::write(lab.path("start.py"), script).expect("a bot");
            let lines = [vec![PYTHON, "start.py"], vec![PYTHON, "bot/bot.py"]];
            for (number, argv) in lines.iter().enumerate() {
                let line = argv.join(" ");
                let out = format!("{level}-{number}");
                let event = common::Event::new("mangala")
                    .set("event", "games", "1")
                    .set("event", "paired", "false")
                    .set("limits", "sandbox", &common::toml_text(level))
                    .bot("bot", argv)
                    .builtin("house", "random");
                let file = event.write(&lab, "event.toml");
                lab.hakem(["run", file.to_str().expect("a path"), "--out", &out])
                    .exits(0);
                let game = lab.games(&out).remove(0);
                assert_eq!(
                    game["verdict"],
                    "rule",
                    "{line}: {game} {}",
                    logs(&lab, &out)
                );
            }
        }
    });
}

#[test]
fn a_program_among_what_its_compiler_left_is_shown() {
    as_each_user(|lab| {
        // As cargo leaves it: the folder `target` is marked as one that is no part of the bot.
        let program = lab.path("bot/target/release/program");
        script(
            &program,
            &format!(
                "#!{PYTHON}\nimport os, sys\nsys.path.insert(0, os.path.dirname(__file__) + '/../..')\n\
                 sys.argv = ['bot', 'none']\nimport bot\n"
            ),
        );
        lab.write(
            "bot/target/CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55",
        );
        for level in LEVELS {
            for (out, command, dir) in [
                ("own", "target/release/program", Some("bot")),
                ("none", "bot/target/release/program", None),
            ] {
                let out = format!("{level}-{out}");
                let mut event = common::Event::new("mangala")
                    .set("event", "games", "1")
                    .set("event", "paired", "false")
                    .set("limits", "sandbox", &common::toml_text(level))
                    .bot("bot", &[command]);
                if let Some(dir) = dir {
                    event = event.with(&format!("dir = {}", common::toml_text(dir)));
                }
                let file = event.builtin("house", "random").write(&lab, "event.toml");
                lab.hakem(["run", file.to_str().expect("a path"), "--out", &out])
                    .exits(0);
                let game = lab.games(&out).remove(0);
                assert_eq!(
                    game["verdict"],
                    "rule",
                    "{out}: {game} {}",
                    logs(&lab, &out)
                );
            }
        }
    });
}
