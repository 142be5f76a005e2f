//! Event files.

use std::path::Path;

use hakem::config::{ConfigError, EventConfig, changes, parse};

use crate::engine::{Shape, shape};

/// Words of event files.
pub(crate) const WORDS: [&str; 64] = [
    "[event]",
    "[rules]",
    "[clock]",
    "[limits]",
    "[[bot]]",
    "[bot]",
    "name",
    "game",
    "format",
    "games",
    "paired",
    "rounds",
    "seats",
    "candidate",
    "opening_plies",
    "openings",
    "restart",
    "seed",
    "jobs",
    "main",
    "increment",
    "move",
    "delay",
    "margin",
    "ready",
    "kind",
    "wall_ceiling",
    "memory",
    "processes",
    "stderr",
    "output",
    "line",
    "note",
    "disk",
    "exit",
    "cores",
    "ponder",
    "runtime",
    "sandbox",
    "command",
    "dir",
    "env",
    "options",
    "builtin",
    " = ",
    "\"mangala\"",
    "\"tavla\"",
    "\"round-robin\"",
    "\"5s\"",
    "\"512MB\"",
    "\"greedy\"",
    "[\"python3\", \"bot.py\"]",
    "{ depth = 4 }",
    "true",
    "'''",
    "\"\"\"",
    "# ",
    "1e9",
    "inf",
    "nan",
    "0x10",
    "1979-05-27",
    "\\u0000",
    "\\U0010ffff",
];

/// A folder that is not there.
pub(crate) const FOLDER: &str = "/hakem-fuzz";
/// Names of built-in bots.
pub(crate) const BUILTINS: [&str; 3] = ["random", "greedy", "kuyu"];

/// What is wrong has words, which can be shown: plain text has nothing in it that a terminal would obey.
pub(crate) fn problems(error: &ConfigError) -> Shape {
    let titles: Vec<&str> = error.titles().collect();
    assert!(!titles.is_empty(), "an error says what is wrong");
    assert!(titles.iter().all(|title| !title.is_empty()));
    let plain = error.render(false);
    let obeyed = plain.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(obeyed, None, "{plain:?}");
    assert!(error.render(true).len() >= plain.len());
    shape(&titles[..titles.len().min(2)])
}

/// An event that was accepted is the same as itself.
pub(crate) fn holds(config: &EventConfig) -> Shape {
    let fingerprint = config.fingerprint();
    assert_eq!(
        changes(&fingerprint, &config.fingerprint()),
        Vec::<String>::new()
    );
    // As it is stored and read again.
    let stored = serde_json::from_str(&fingerprint.to_string()).expect("it is JSON");
    assert_eq!(changes(&fingerprint, &stored), Vec::<String>::new());
    let kind = hakem::game::find(&config.game).expect("a known game");
    assert!(kind.rules(&config.rules).is_ok(), "rules that can be");
    assert!(config.bots.len() >= config.seats, "a bot for each seat");
    let names: std::collections::BTreeSet<&str> =
        config.bots.iter().map(|bot| bot.name.as_str()).collect();
    assert_eq!(names.len(), config.bots.len(), "a name for each bot");
    assert!(config.games > 0 && (!config.paired || config.games.is_multiple_of(2)));
    shape(&[
        &config.game,
        &format!("{:?} {:?}", config.restart, config.clock.kind),
        &config.warnings().join(" "),
    ])
}

/// A file is an event, always the same, or says what is wrong with it.
pub(crate) fn file(input: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(input);
    let path = Path::new(FOLDER).join("event.toml");
    let read = parse(&text, &path, &BUILTINS);
    assert_eq!(read, parse(&text, &path, &BUILTINS), "read again");
    match read {
        Ok(config) => holds(&config),
        Err(error) => problems(&error),
    }
}
