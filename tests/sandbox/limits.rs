//! Limits that end a bot are told apart, from each other and from a crash.

use serde_json::Value;

use crate::common::{Lab, text};
use crate::help::{LEVELS, as_each_user, event, event_of, play};

/// The game of a bot that does this; its reason begins with one of `words`.
#[track_caller]
fn ends_with(lab: &Lab, level: &str, action: &str, verdict: &str, word: &str) -> Value {
    let out = lab.path("event");
    if out.exists() {
        std::fs::remove_dir_all(&out).unwrap_or_else(|_| {
            // The copies of bots are closed even for their owner.
            let opened = std::process::Command::new("chmod")
                .args(["-R", "u+w"])
                .arg(&out)
                .status();
            assert!(opened.is_ok_and(|status| status.success()));
            std::fs::remove_dir_all(&out).expect("it is removed");
        });
    }
    let game = play(lab, &event(lab, level, action));
    let what = format!("{action} at {level}: {game}");
    assert_eq!(text(&game, "verdict"), verdict, "{what}");
    assert!(text(&game, "reason").starts_with(word), "{what}");
    assert_eq!(game["against"], "bot", "{what}");
    if verdict == "limit" {
        let explained = lab.hakem(["show", "event", text(&game, "id"), "--explain"]);
        let rule = format!("`{word}` in [limits]");
        assert!(explained.stdout.contains(&rule), "{explained}");
    }
    game
}

#[test]
fn memory() {
    as_each_user(|lab| {
        for level in LEVELS {
            for action in ["memory", "children"] {
                let game = ends_with(&lab, level, action, "limit", "memory");
                assert!(text(&game, "reason").contains("96MB"), "{game}");
            }
        }
        ends_with(&lab, "strict", "held", "limit", "memory");
    });
}

#[test]
fn one_piece_too_large_is_refused_by_the_system_and_is_a_crash() {
    as_each_user(|lab| {
        for level in LEVELS {
            let game = ends_with(&lab, level, "one_piece", "crash", "");
            assert!(text(&game, "reason").contains("MemoryError"), "{game}");
        }
    });
}

#[test]
fn disk() {
    as_each_user(|lab| {
        for level in LEVELS {
            for action in ["disk", "large_file"] {
                let game = ends_with(&lab, level, action, "limit", "disk");
                assert!(text(&game, "reason").contains("8MB"), "{game}");
            }
        }
    });
}

#[test]
fn processes() {
    as_each_user(|lab| {
        for level in LEVELS {
            let game = ends_with(&lab, level, "processes", "limit", "processes");
            assert!(text(&game, "reason").contains("12"), "{game}");
        }
    });
}

#[test]
fn a_crash_is_none_of_them() {
    as_each_user(|lab| {
        for level in LEVELS {
            ends_with(&lab, level, "crash", "crash", "exit 3");
        }
    });
}

#[test]
fn a_program_that_cannot_be_executed_is_said_to_be_so() {
    as_each_user(|lab| {
        // A script whose interpreter's interpreter is not shown: no check before the start looks so far.
        let (hidden, inner) = (lab.path("hidden"), lab.path("bot/inner"));
        for (path, text) in [
            (hidden.clone(), "#!/bin/sh\n".to_owned()),
            (inner.clone(), format!("#!{}\n", hidden.display())),
            (lab.path("bot/outer"), format!("#!{}\n", inner.display())),
        ] {
            std::fs::write(&path, text).expect("a script");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).expect("executable");
        }
        let game = play(&lab, &event_of(&lab, "strict", &["./outer"]));
        assert_eq!(text(&game, "verdict"), "crash", "{game}");
        assert!(
            text(&game, "reason").contains("could not be started"),
            "{game}"
        );
    });
}
