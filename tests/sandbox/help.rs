//! Events with a bot that does one thing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{self, Event, Lab};

/// The levels that confine.
pub(crate) const LEVELS: [&str; 2] = ["limits", "strict"];

/// The system's own Python, which every user may start.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// Tries something in a folder of each user.
pub(crate) fn as_each_user(test: impl Fn(Lab)) {
    test(lab(None));
    if common::is_root() {
        test(lab(Some(common::NOBODY)));
    }
}

fn lab(user: Option<u32>) -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("bot")).expect("a folder");
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/bot.py");
    std::fs::copy(bot, lab.path("bot/bot.py")).expect("the bot is copied");
    match user {
        Some(user) => lab.of_user(user),
        None => lab,
    }
}

/// An event at this level of the bot that does this, against one of the program's own.
pub(crate) fn event(lab: &Lab, level: &str, action: &str) -> Event {
    event_of(lab, level, &[PYTHON, "bot.py", action])
}

/// The same of any command.
pub(crate) fn event_of(lab: &Lab, level: &str, argv: &[&str]) -> Event {
    let mark: Vec<String> = lab
        .mark()
        .iter()
        .map(|(name, value)| format!("{name} = {}", common::toml_text(value)))
        .collect();
    Event::new("mangala")
        .set("event", "games", "1")
        .set("event", "paired", "false")
        .set("limits", "sandbox", &common::toml_text(level))
        .set("limits", "memory", "\"96MB\"")
        .set("limits", "disk", "\"8MB\"")
        .set("limits", "processes", "12")
        .bot("bot", argv)
        .with("dir = \"bot\"")
        .with(&format!("env = {{ LISTED = \"1\", {} }}", mark.join(", ")))
        .builtin("house", "random")
}

/// Plays an event; its only game.
#[track_caller]
pub(crate) fn play(lab: &Lab, event: &Event) -> Value {
    let file = event.write(lab, "event.toml");
    let ran = lab.run(&file);
    lab.assert_no_process_is_left();
    Lab::assert_no_box_is_left(ran.pid);
    lab.verify_records("event");
    lab.games("event").remove(0)
}

/// All that bots wrote to stderr.
pub(crate) fn logs(lab: &Lab, out: &str) -> String {
    common::files_below(&lab.path(out).join("logs"))
        .iter()
        .map(|log| String::from_utf8_lossy(&std::fs::read(log).expect("a log")).into_owned())
        .collect()
}

/// What the record says of how the bot was confined.
#[track_caller]
pub(crate) fn in_force(lab: &Lab, out: &str) -> Value {
    let records: Vec<PathBuf> = common::files_below(&lab.path(out).join("records"));
    let text = std::fs::read_to_string(&records[0]).expect("a record");
    let header: Value =
        serde_json::from_str(text.lines().next().expect("a header")).expect("it is JSON");
    let bots = header["header"]["about"]["bots"].as_array().expect("bots");
    let own = bots.iter().find(|bot| bot["builtin"].is_null());
    own.expect("the bot is there")["sandbox"].clone()
}
