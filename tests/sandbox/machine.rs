//! What is said and done where the machine does not allow it.

use std::process::Command;

use serde_json::{Value, json};

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
    let force = in_force(&lab, "out");
    assert_eq!(
        (&force["level"], &force["asked"]),
        (&json!("limits"), &json!("auto"))
    );
    let missing = force["missing"].as_str().expect("a cause");
    assert!(missing.starts_with("strict: "), "{missing}");
    // The reports say the same of both bots, and that the built-in one is not confined.
    lab.hakem(["report", "out", "--markdown", "r.md", "--json", "r.json"])
        .exits(0);
    let read = |name: &str| std::fs::read_to_string(lab.path(name)).expect("it was written");
    let report: Value = serde_json::from_str(&read("r.json")).expect("it is JSON");
    let rows = report["sandbox"].as_array().expect("rows");
    let of = |bot: &str| {
        let mine = |row: &&Value| {
            row["bots"]
                .as_array()
                .is_some_and(|bots| bots.contains(&json!(bot)))
        };
        rows.iter().find(mine).expect("the bot is there")
    };
    assert_eq!(of("second"), of("bot"));
    assert_eq!(
        (&of("bot")["level"], &of("bot")["missing"]),
        (&json!("limits"), &force["missing"])
    );
    assert_eq!(of("bot")["in_force"], force);
    for page in [read("r.md"), read("out/report.html")] {
        assert!(page.contains("Sandbox in force"), "{page}");
        assert!(page.contains("limits (more was not possible)"), "{page}");
        assert!(
            page.contains("max_user_namespaces") || page.contains("max\\_user\\_namespaces"),
            "{page}"
        );
    }
    lab.assert_no_process_is_left();
}

#[test]
fn auto_is_strict_where_that_is_possible_and_says_nothing() {
    as_each_user(|lab| {
        let file = event(&lab, "auto", "none").write(&lab, "event.toml");
        let ran = lab.run(&file);
        assert!(!ran.stderr.contains("sandbox"), "{ran}");
        let force = in_force(&lab, "event");
        assert_eq!(
            (&force["level"], force.get("missing")),
            (&json!("strict"), None)
        );
        let page = std::fs::read_to_string(lab.path("event/report.html")).expect("a page");
        assert!(
            page.contains("strict") && page.contains("seccomp"),
            "{page}"
        );
        assert!(!page.contains("not possible"), "{page}");
    });
}

#[test]
fn a_box_that_nobody_sent_ends_at_once() {
    let mut command = Command::new(hakem_path());
    command.arg("__box").stdin(std::process::Stdio::null());
    common::finish(command).exits(2);
}
