//! What a bot sees.

use serde_json::{Value, json};

use crate::common::{Lab, is_root};
use crate::help::{LEVELS, as_each_user, event, in_force, logs, play};

fn look(lab: &Lab, level: &str) -> Value {
    let game = play(lab, &event(lab, level, "look"));
    assert_eq!(game["verdict"], "rule", "{game} {}", logs(lab, "event"));
    let logs = logs(lab, "event");
    let line = logs
        .lines()
        .find_map(|line| line.strip_prefix("LOOK "))
        .unwrap_or_else(|| panic!("the bot saw nothing: {logs}"));
    serde_json::from_str(line).expect("what it saw is JSON")
}

/// What holds at both levels.
fn assert_common(seen: &Value) {
    assert_eq!(seen["group"], true, "a process group of its own");
    assert_ne!(seen["terminal"], "opened", "no terminal");
    assert_eq!(seen["files"], json!([0, 1, 2]));
    assert_eq!(seen["more_files"], 0, "no file of the referee is open");
    let env: Vec<&str> = seen["env"]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let expected = [
        "HAKEM_TEST_MARK",
        "HOME",
        "LANG",
        "LISTED",
        "PATH",
        "PYTHONUNBUFFERED",
        "TMPDIR",
    ];
    // Python itself adds what makes its output UTF-8.
    let added = env.iter().filter(|name| **name != "LC_CTYPE").copied();
    assert_eq!(added.collect::<Vec<_>>(), expected);
    for (name, expected) in [
        ("write_cwd", "errno"),
        ("write_etc", "errno"),
        ("write_usr", "errno"),
    ] {
        let found = seen[name].as_str().expect("a word");
        assert!(found.starts_with(expected), "{name}: {found}");
    }
    assert_eq!(seen["write_home"], "written", "its home is its own");
    assert_eq!(seen["privileges"], "1");
    assert_eq!(seen["seccomp"], "2");
    assert_eq!(seen["capabilities"], "0000000000000000");
    // Python itself ignores SIGPIPE and SIGXFSZ, and nothing else is ignored.
    assert_eq!(seen["ignored"], "0000000001001000");
    assert_eq!(seen["blocked"], "0000000000000000");
    assert_eq!(seen["core"], 0);
    assert_eq!(seen["open_files"], 256);
    assert_eq!(
        seen["address_space"], true,
        "never a limit of address space"
    );
    assert_eq!(seen["oom"], "1000");
    assert_eq!(seen["shell"], "42", "other programs run");
    assert_eq!(seen["threads"], json!(["thread"]), "threads can be made");
    assert_eq!(
        seen["affinity"], "errno 1",
        "its cores are the referee's choice"
    );
}

#[test]
fn strict_shows_a_bot_its_own_world() {
    as_each_user(|lab| {
        let seen = look(&lab, "strict");
        assert_common(&seen);
        assert_eq!(seen["uid"], 1000);
        assert_eq!(seen["user"], "bot");
        assert_eq!(seen["processes"], json!([seen["pid"]]), "only itself");
        assert_eq!(seen["cwd"], "/bot");
        assert_eq!(seen["home"], "/tmp");
        assert_eq!(seen["write_tmp"], "written");
        assert_eq!(seen["read_host"], "errno 2", "not there at all");
        assert_eq!(seen["network"], json!(["lo"]));
        assert_eq!(seen["tmp_bytes"], 8 << 20);
        assert_eq!(seen["tmp_files"], 4096);
        let folders: Vec<&str> = seen["folders"]
            .as_array()
            .expect("names")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        for folder in ["home", "root", "var", "srv", "mnt", "sys", "run", "boot"] {
            assert!(!folders.contains(&folder), "{folders:?}");
        }
        let force = in_force(&lab, "event");
        let store = hakem::store::Store::open_read_only(&lab.path("event")).expect("results");
        let confined = store.confined().expect("it is noted");
        assert_eq!(confined.len(), 1, "one session: {confined:?}");
        assert_eq!(confined[0]["bots"][0]["name"], "bot");
        assert_eq!(
            confined[0]["bots"][0]["sandbox"], force,
            "results and records agree"
        );
        let kernel = rustix::system::uname();
        assert_eq!(
            confined[0]["machine"]["kernel"],
            kernel.release().to_str().expect("text")
        );
        assert_eq!(force["level"], "strict");
        assert_eq!(force["network"], "none");
        assert_eq!(force["seccomp"], true);
        assert_eq!(force["disk"], json!({"bytes": 8 << 20, "by": "quota"}));
        for name in ["mnt", "pid", "net", "ipc", "uts", "cgroup", "user"] {
            let names = force["namespaces"].as_array().expect("names");
            assert!(names.contains(&json!(name)), "{force}");
        }
    });
}

#[test]
fn limits_leave_the_host_in_sight_but_not_in_reach() {
    as_each_user(|lab| {
        let seen = look(&lab, "limits");
        assert_common(&seen);
        let force = in_force(&lab, "event");
        assert_eq!(force["level"], "limits");
        assert_eq!(force["namespaces"], json!([]));
        assert_eq!(force["environment"], "listed");
        if force["own_user"] == true {
            assert!(is_root());
            assert!(seen["uid"].as_u64().expect("a number") >= 60_000);
        }
        // The folder it runs in is neither the event's nor one where it could leave something.
        let cwd = seen["cwd"].as_str().expect("a path");
        assert_ne!(cwd, lab.path("bot").to_str().expect("a path"));
        assert_ne!(seen["home"], seen["cwd"]);
        let home = std::path::Path::new(seen["home"].as_str().expect("a path"));
        assert!(!home.exists(), "the private folder is removed");
        if force["landlock"] == "full" {
            assert_eq!(
                seen["write_tmp"], "errno 13",
                "files of others are out of reach"
            );
            assert_eq!(seen["read_host"], "errno 13");
        }
    });
}

#[test]
fn the_end_of_a_pipe_is_seen_at_every_level() {
    // Whoever else held the pipe would hide its end until the limit of time.
    as_each_user(|lab| {
        for level in LEVELS {
            let script = "import sys, json\nfor line in sys.stdin:\n m = json.loads(line)\n if m['type'] == 'hello': print('{\"type\":\"ready\",\"protocol\":1,\"name\":\"x\",\"version\":\"1\"}')\n if m['type'] == 'turn': break\nimport os, time\nos.close(1)\ntime.sleep(600)\n";
            std::fs::write(lab.path("bot/closes.py"), script).expect("a bot");
            let event = crate::help::event_of(&lab, level, &[crate::help::PYTHON, "closes.py"]);
            let file = event.write(&lab, "event.toml");
            lab.hakem(["run", file.to_str().expect("a path"), "--out", level])
                .exits(0);
            let game = lab.games(level).remove(0);
            assert_eq!(game["verdict"], "crash", "{level}: {game}");
        }
    });
}
