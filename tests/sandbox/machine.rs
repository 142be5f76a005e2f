//! What is said and done where the machine does not allow it.

use std::process::Command;

use crate::common::{self, Lab, Ran, hakem_path};
use crate::help::{as_each_user, event, in_force};

/// Runs an event where no namespace of users can be made.
fn without_namespaces(lab: &Lab, file: &str, out: &str) -> Ran {
    // The limit is that of a namespace of users of its own, so the host does not notice.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let hakem = lab.command(["run", file, "--out", out]);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(hakem.get_program())
        .args(hakem.get_args())
        .current_dir(lab.path(""));
    for (name, value) in hakem.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    common::finish(command)
}

#[test]
fn strict_by_name_is_refused_with_the_cause_and_the_cure() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    std::fs::write(lab.path("bot/bot.py"), "x").expect("a bot");
    let file = event(&lab, "strict", "none").write(&lab, "event.toml");
    let ran = without_namespaces(&lab, file.to_str().expect("a path"), "out").exits(2);
    let ran = ran.says(&[
        "strict",
        "not possible",
        "user.max_user_namespaces",
        "sudo sysctl -w user.max_user_namespaces=",
        "sandbox = \"limits\"",
    ]);
    assert_eq!(ran.stdout, "");
    assert!(
        !lab.path("out/records").exists()
            || common::files_below(&lab.path("out/records")).is_empty()
    );
}

#[test]
fn auto_does_with_less_and_says_so_once() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    let bot = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/bot.py");
    std::fs::copy(bot, lab.path("bot/bot.py")).expect("the bot is copied");
    let file = event(&lab, "auto", "none")
        .bot("second", &[crate::help::PYTHON, "bot.py"])
        .with("dir = \"bot\"")
        .write(&lab, "event.toml");
    let ran = without_namespaces(&lab, file.to_str().expect("a path"), "out").exits(0);
    let said = ran.stderr.matches("max_user_namespaces").count();
    assert_eq!(said, 1, "{ran}");
    assert_eq!(in_force(&lab, "out")["level"], "limits");
    lab.assert_no_process_is_left();
}

#[test]
fn auto_is_strict_where_that_is_possible_and_says_nothing() {
    as_each_user(|lab| {
        let file = event(&lab, "auto", "none").write(&lab, "event.toml");
        let ran = lab.run(&file);
        assert!(!ran.stderr.contains("sandbox"), "{ran}");
        assert_eq!(in_force(&lab, "event")["level"], "strict");
    });
}

#[test]
fn a_box_that_nobody_sent_ends_at_once() {
    let mut command = Command::new(hakem_path());
    command.arg("__box").stdin(std::process::Stdio::null());
    common::finish(command).exits(2);
}
