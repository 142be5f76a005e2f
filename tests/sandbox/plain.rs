//! The sandbox of other systems than Linux, in a build that has only what those have.

use std::time::Duration;

use crate::common::{self, Lab, text};
use crate::help::{PYTHON, as_each_user, event, in_force, logs, play};

#[test]
fn strict_is_refused_with_cause_and_cure() {
    as_each_user(|lab| {
        let file = event(&lab, "strict", "none").write(&lab, "event.toml");
        lab.hakem(["run", file.to_str().expect("a path")])
            .exits(2)
            .says(&["`strict` is not possible", "namespaces", "Run on Linux"]);
    });
}

#[test]
fn auto_says_once_what_it_could_not_have() {
    as_each_user(|lab| {
        // Two bots, one word.
        let event = event(&lab, "auto", "none").bot("other", &[PYTHON, "bot.py", "none"]);
        let file = event.with("dir = \"bot\"").write(&lab, "event.toml");
        let ran = lab.run(&file);
        let warned = |words: &str| ran.stderr.matches(words).count();
        assert_eq!(warned("`strict` is not possible"), 1, "{ran}");
        assert_eq!(warned("holds neither the memory"), 1, "{ran}");
        lab.assert_no_process_is_left();
        Lab::assert_no_box_is_left(ran.pid);
        let in_force = in_force(&lab, "event");
        assert_eq!(in_force["level"], "limits");
        assert_eq!(in_force["memory"]["by"], "none");
        assert_eq!(in_force["environment"], "listed");
    });
}

#[test]
fn a_bot_sees_the_listed_environment_and_no_other_file() {
    as_each_user(|lab| {
        let game = play(&lab, &event(&lab, "limits", "look"));
        assert_eq!(text(&game, "verdict"), "rule", "{game}");
        let logs = logs(&lab, "event");
        let seen: serde_json::Value = logs
            .lines()
            .find_map(|line| serde_json::from_str(line.strip_prefix("LOOK ")?).ok())
            .unwrap_or_else(|| panic!("no report in {logs}"));
        assert_eq!(seen["more_files"], 0, "{seen}");
        assert_eq!(seen["core"], 0, "{seen}");
        assert_eq!(seen["group"], true, "{seen}");
        assert_eq!(seen["write_home"], "written", "{seen}");
        let env = seen["env"].as_array().expect("names");
        assert!(env.contains(&"LISTED".into()), "{seen}");
        assert!(!env.contains(&"CARGO_MANIFEST_DIR".into()), "{seen}");
    });
}

#[test]
fn what_is_too_much_on_disk_is_told_apart() {
    as_each_user(|lab| {
        let game = play(&lab, &event(&lab, "limits", "large_file"));
        assert_eq!(text(&game, "verdict"), "limit", "{game}");
        assert!(text(&game, "reason").starts_with("disk"), "{game}");
    });
}

#[test]
fn a_bot_ends_when_the_referee_is_killed() {
    as_each_user(|lab| {
        let event = event(&lab, "limits", "wait")
            .set("clock", "move", "\"600s\"")
            .set("clock", "main", "\"600s\"")
            .set("clock", "wall_ceiling", "\"700s\"");
        let file = event.write(&lab, "event.toml");
        let mut run = lab
            .command(["run", file.to_str().expect("a path")])
            .spawn()
            .expect("it starts");
        let begin = std::time::Instant::now();
        while !lab
            .processes()
            .iter()
            .any(|(_, line)| line.contains("bot.py wait"))
        {
            assert!(begin.elapsed() < common::HANG, "the bot never came");
            assert!(!common::ends_within(&run, Duration::from_millis(2)));
        }
        run.kill().expect("it is killed");
        run.wait().expect("it is waited for");
        lab.assert_no_process_is_left();
    });
}
