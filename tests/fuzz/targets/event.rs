//! Event files, and the files that they name.

use std::path::Path;

use hakem::config::{ConfigError, EventConfig, Flags, changes, check_programs, from_flags, parse};
use hakem::game::GAMES;
use tempfile::TempDir;

use crate::engine::{Shape, exact, shape};

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
    assert!(config.games > 0);
    let even = config.games.is_multiple_of(2);
    assert!(!config.paired || config.seats > 2 || even);
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

thread_local! {
    /// A folder for the files that an event names.
    static PLACE: TempDir = TempDir::new().expect("a folder for the files of an event");
}

/// Reads an event or flags beside a file with this content.
fn beside(name: &str, content: &[u8], read: impl Fn(&Path) -> Shape) -> Shape {
    PLACE.with(|place| {
        std::fs::write(place.path().join(name), content).expect("a small file can be written");
        read(place.path())
    })
}

/// Words of a `bot.toml`.
pub(crate) const BOT_WORDS: [&str; 14] = [
    "name",
    "build",
    "run",
    " = ",
    "[\"python3\", \"bot.py\"]",
    "\"\"",
    "\n",
    "[",
    "]",
    "\"a\\u0000\"",
    "'''",
    "# ",
    "../",
    "~/",
];

/// The `bot.toml` of a bot's folder is a command to start, or says what is wrong with it.
pub(crate) fn bot_folder(input: &[u8]) -> Shape {
    beside("bot.toml", input, |folder| {
        let bot = folder.to_string_lossy().into_owned();
        let flags = Flags {
            game: "mangala".into(),
            bots: vec![bot, "builtin:random".into()],
            folder: folder.to_owned(),
            ..Flags::default()
        };
        match from_flags(&flags, &BUILTINS) {
            Ok(config) => {
                for problem in check_programs(&config) {
                    assert!(!problem.to_string().is_empty());
                }
                holds(&config)
            }
            Err(error) => problems(&error),
        }
    })
}

/// The openings that were read are positions of the game.
pub(crate) fn openings(input: &[u8]) -> Shape {
    let bots = "[[bot]]\nname = \"a\"\nbuiltin = \"random\"\n[[bot]]\nname = \"b\"\nbuiltin = \"greedy\"\n";
    let shapes = GAMES.iter().map(|kind| {
        let game = kind.facts().name;
        let text = format!("[event]\ngame = \"{game}\"\nopenings = \"openings.jsonl\"\n{bots}");
        beside("openings.jsonl", input, |folder| {
            match parse(&text, &folder.join("event.toml"), &BUILTINS) {
                Ok(config) => {
                    let rules = kind.rules(&config.rules).expect("rules that can be");
                    assert!(!config.openings.is_empty());
                    for state in &config.openings {
                        rules.read(state).expect("a position of the game");
                    }
                    holds(&config)
                }
                Err(error) => problems(&error),
            }
        })
    });
    exact(&shapes.collect::<Vec<_>>())
}
