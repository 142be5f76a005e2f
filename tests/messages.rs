//! What a newcomer reads when something is wrong: each message says what, where, and what would be right, and none speaks of the
//! insides of the program.
#![cfg(feature = "runner")]

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;

use common::Lab;

fn faulty(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/faulty")
        .join(name);
    format!("python3 -B {}.py", path.display())
}

/// Words of the insides of the program.
const INSIDES: [&str; 12] = [
    "u8",
    "u32",
    "u64",
    "i64",
    "struct",
    "ident",
    "Some(",
    "StateIn",
    "invalid type",
    "EOF",
    "invalid digit",
    "serde",
];

#[track_caller]
fn stays_outside(said: &str) {
    for word in INSIDES {
        assert!(!said.contains(word), "it says `{word}`: {said}");
    }
}

/// A duel of a faulty bot that forfeits; what was said of it, and what `show --explain` says.
fn forfeit(bot: &str, clock: &str) -> (String, String) {
    let lab = Lab::new();
    let bot = faulty(bot);
    let duel = [
        "duel", "--game", "mangala", "--games", "1", "--clock", clock,
    ];
    let rest = ["--out", "duel", "--seed", "3", &bot, "builtin:greedy"];
    let said = lab
        .hakem(duel.iter().chain(&rest))
        .exits(0)
        .stays_plain()
        .stderr;
    let explained = lab
        .hakem(["show", "duel", "r1.m1.g1", "--explain"])
        .exits(0);
    lab.verify_records("duel");
    stays_outside(&said);
    (said, explained.stdout)
}

#[test]
fn a_bot_that_computes_all_the_time_is_not_told_to_flush() {
    let (said, explained) = forfeit("endless", "move=1s,kind=cpu");
    assert!(
        said.contains("nothing was written: it computed all the time ("),
        "{said}"
    );
    for told in [said, explained] {
        assert!(!told.contains("flushed"), "{told}");
    }
    let (said, explained) = forfeit("no_flush", "move=1s,ready=1s");
    assert!(said.contains("an answer has to be flushed"), "{said}");
    assert!(!said.contains("computed"), "{said}");
    assert!(explained.contains("flushed"), "{explained}");
}

#[test]
fn a_line_that_is_no_json_is_quoted_with_its_cure() {
    let (said, _) = forfeit("single_quotes", "move=9s");
    for words in [
        "bad_json: JSON has double quotes",
        "`{'type': 'move', 'id': 1",
        "json.dumps",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let (said, explained) = forfeit("debug_on_stdout", "move=9s");
    let words = "bad_json: the line `thinking about {\"type\": \"move\", ";
    for told in [&said, &explained] {
        assert!(told.contains(words), "{told}");
    }
    assert!(
        said.contains("` is not JSON; stdout is for messages only"),
        "{said}"
    );
    let lab = Lab::new();
    let checked = lab
        .hakem(["check", "--game", "mangala", &faulty("single_quotes")])
        .exits(1);
    assert!(
        checked
            .stdout
            .contains("cure: write each line with a JSON library"),
        "{checked}"
    );
}

#[test]
fn a_duel_tells_its_seed_and_where_records_are_kept() {
    let lab = Lab::new();
    let args = |more: &[&str]| -> Vec<String> {
        let bots = ["builtin:random", "builtin:greedy"];
        ["duel", "--game", "tavla", "--format", "csv"]
            .iter()
            .chain(more)
            .chain(&bots)
            .map(ToString::to_string)
            .collect()
    };
    let first = lab.hakem(args(&[])).exits(0);
    let seed = first.stderr.split("--seed ").nth(1).map(str::trim);
    let seed = seed.expect("it tells its seed").to_owned();
    let again = lab
        .hakem(args(&["--seed", &seed, "--out", "again"]))
        .exits(0);
    assert!(!again.stderr.contains("--seed"), "{again}");
    let shown = lab.hakem(["show", "again", "r1.m1.g1"]).exits(0).stdout;
    // The opening roll is in the first line, and each move has its dice.
    let moves: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(": [["))
        .collect();
    assert!(moves[0].starts_with("1. "), "{shown}");
    assert!(moves.len() > 5, "{shown}");
    for line in moves {
        assert!(line.contains(" with "), "{line}");
    }
    let crash = faulty("crashes");
    let said = lab.hakem(["duel", "--game", "mangala", &crash, "builtin:greedy"]);
    said.exits(0).says(&["with --out DIR the records and logs"]);
}

#[test]
fn another_search_path_is_not_a_lost_file() {
    let lab = Lab::new();
    for folder in ["one", "two"] {
        std::fs::create_dir(lab.path(folder)).expect("a folder");
        symlink("/bin/sh", lab.path(folder).join("my-sh")).expect("a link");
    }
    lab.write("bot.sh", format!("exec {}\n", faulty("honest")));
    let bot =
        "[[bot]]\nname = \"sn\"\ncommand = [\"my-sh\", \"bot.sh\"]\n[limits]\nsandbox = \"none\"\n";
    lab.write(
        "e.toml",
        format!("[event]\ngame = \"mangala\"\ngames = 2\n{bot}[[bot]]\nname = \"h\"\nbuiltin = \"greedy\"\n"),
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |folder: &str| {
        let mut command = lab.command(["run", "e.toml"]);
        command.env("PATH", format!("{}:{path}", lab.path(folder).display()));
        command.output().expect("hakem runs")
    };
    assert!(run("one").status.success());
    let refused = run("two");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for words in [
        "bot `sn`: `my-sh` was one/my-sh and is now two/my-sh: PATH is another one; put ",
        "first in PATH again",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("is gone"), "{said}");
    assert!(run("one").status.success(), "the old PATH goes on");
}

/// Mistakes in an event file: what is written, and words of what is said.
const MISTAKES: [(&str, &[&str]); 13] = [
    (
        "[event]\nname = T\nGAME",
        &[
            "`T` is no value",
            "e.toml:2:8",
            "text stands in quotes: \"T\"",
        ],
    ),
    (
        "[event]\nseed = True\nGAME",
        &["`True` is no value", "true is right"],
    ),
    (
        "[event]\nGAME[bot]\nname = \"x\"\n[bot]\nname = \"y\"\n",
        &["`[bot]` stands more than once", "[[bot]]"],
    ),
    (
        "[event]\nseed = 1\nGAMEseed = 2\n",
        &["`seed` stands twice; the first is in line 2"],
    ),
    (
        "[event]\nGAME[clock]\n[clock]\n",
        &["`[clock]` stands twice; the first is in line 3"],
    ),
    (
        "[event]\nGAME[rules]\nsets = \"1\"\n",
        &[
            "`sets` in [rules]",
            "the text \"1\" does not fit: a whole number is right",
        ],
    ),
    (
        "[event]\nGAME[rules]\nsets = -1\n",
        &["a whole number from 0 to"],
    ),
    (
        "[event]\nGAME[[bot]]\nname = \"k\"\nbuiltin = \"kuyu\"\noptions = { depht = 3 }\n",
        &["bot `k` (e.toml, line 3)", "no option `depht`", "depth"],
    ),
    (
        "[event]\nGAME[[bot]]\nname = \"k\"\ncommand = \"python3 no.py\"\n",
        &[
            "bot `k` (e.toml, line 3)",
            "no.py of its command is missing",
        ],
    ),
    (
        "[event]\nGAME[[bot]]\nname = \"k\"\nbuiltin = \"kuyu\"\noptions = 3\n",
        &["`options` in [[bot]] `k` is a whole number"],
    ),
    ("[event]\ngams = 2\nGAME", &["did you mean `games`?"]),
    (
        "[event]\nGAME[clock]\nmove = \"-1s\"\n",
        &[
            "does not begin with a number",
            "a number and a unit (us, ms, s, m, h)",
        ],
    ),
    ("[event]\nname = \"x\nGAME", &["a text is not closed"]),
];

#[test]
fn mistakes_in_an_event_file_are_told_in_its_own_words() {
    let lab = Lab::new();
    let two = "[[bot]]\nname = \"g\"\nbuiltin = \"greedy\"\n[[bot]]\nname = \"r\"\nbuiltin = \"random\"\n";
    for (mistake, words) in MISTAKES {
        let bots = if mistake.contains("[bot]\nname = \"x\"") {
            ""
        } else {
            two
        };
        let event = mistake.replace("GAME", "game = \"mangala\"\n") + bots;
        lab.write("e.toml", &event);
        let ran = lab
            .hakem(["run", "e.toml", "--dry-run"])
            .exits(2)
            .says(words);
        stays_outside(&ran.stderr);
    }
    lab.write("l.json", "[1]");
    let ladder = "[event]\ngame = \"mangala\"\nformat = \"ladder\"\nladder = \"l.json\"\n";
    lab.write("e.toml", format!("{ladder}{two}"));
    let ran = lab.hakem(["run", "e.toml"]).exits(2);
    stays_outside(
        &ran.says(&["l.json", "{\"format\":2,\"order\":[\"top\",\"next\"]}"])
            .stderr,
    );
    for state in ["null", "3", "{}", "{", "{\"pits\":1}"] {
        let args = ["perft", "-g", "mangala", "--depth", "1", "--state", state];
        stays_outside(&lab.hakem(args).exits(2).stderr);
    }
}

#[test]
fn all_keys_are_printed_and_make_an_event() {
    let lab = Lab::new();
    let keys = lab.hakem(["run", "--keys"]).exits(0).stdout;
    for key in [
        "candidate",
        "groups",
        "advance",
        "ladder",
        "reach",
        "joins",
        "leaves",
        "restart",
        "openings",
        "stop_when_clear",
        "rounds",
        "[limits]",
        "[adjudication]",
        "match_length = 0",
        "sets = 1",
    ] {
        assert!(keys.contains(key), "{key}: {keys}");
    }
    // It is an event file itself, but for what it must be told and what belongs to other formats.
    let mut event = keys.replace("# game = \"mangala\"", "game = \"mangala\"");
    for other in ["groups = 2", "advance = 2", "reach = 2", "resign_moves = 4"] {
        event = event.replace(&format!("\n{other}"), &format!("\n# {other}"));
    }
    event += "[[bot]]\nname = \"g\"\nbuiltin = \"greedy\"\n[[bot]]\nname = \"r\"\nbuiltin = \"random\"\n";
    lab.write("e.toml", event);
    lab.hakem(["run", "e.toml", "--dry-run"]).exits(0);
}

#[test]
fn wrong_usage_says_what_would_be_right() {
    let lab = Lab::new();
    let said = |args: &[&str], words: &[&str]| {
        let ran = lab.hakem(args).exits(2).says(words);
        stays_outside(&ran.stderr);
        ran.stderr
    };
    said(
        &["adapter", "nosuch"],
        &["known are gnubg, ubgi, nboard, gtp"],
    );
    let lines = said(
        &["adapter", "gnubg", "--level", "strong"],
        &["'strong'", "advanced"],
    );
    assert_eq!(lines.lines().count(), 1, "{lines}");
    said(&["desk", "x", "foo"], &["disqualify"]);
    said(&["ratings", "r.json", "foo"], &["history"]);
    said(
        &["desk", "x", "undo", "x", "--reason", "y"],
        &["a whole number is right"],
    );
    said(
        &["perft", "-g", "mangala", "--depth", "1", "--rule", "sets=x"],
        &["a whole number"],
    );
    let nodes = |flag: &str, value: &str| {
        let args = ["perft", "-g", "dokuztas", "--depth", "2", flag, value];
        lab.hakem(args).exits(0).stdout
    };
    assert_eq!(
        nodes("--rule", "preset=sivas"),
        nodes("--rules", "{\"preset\":\"sivas\"}")
    );

    lab.write(
        "e.toml",
        "[event]\ngame = \"mangala\"\ngames = 2\n[[bot]]\nname = \"g\"\nbuiltin = \"greedy\"\n[[bot]]\nname = \"r\"\nbuiltin = \"random\"\n",
    );
    lab.run(Path::new("e.toml"));
    said(
        &["replay", "e", "r1.m1.g1"],
        &["hakem replay e/records/r1.m1.g1.jsonl"],
    );
    let report = said(
        &["report", "e", "--junit", "/nosuch/x"],
        &["/nosuch/x", "no folder /nosuch"],
    );
    assert!(!report.contains(".tmp"), "{report}");
    let folder = lab.path("e").display().to_string();
    let report = said(&["report", "e", "--junit", &folder], &[&folder]);
    assert!(!report.contains(".tmp"), "{report}");
}

#[test]
fn what_is_no_engine_and_no_referee_is_told_at_once() {
    let lab = Lab::new();
    let hakem = common::hakem_path().display().to_string();
    for (game, adapter, protocol) in [
        ("reversi", "gtp", "GTP"),
        ("reversi", "nboard", "NBoard"),
        ("tavla", "ubgi", "UBGI"),
    ] {
        let bot = format!("{hakem} adapter {adapter} -- cat");
        let ran = lab.hakem([
            "duel",
            "--game",
            game,
            "--games",
            "1",
            &bot,
            "builtin:random",
        ]);
        ran.exits(0)
            .says(&["exit 2", "cat does not speak", protocol]);
    }
    let bot = format!("{hakem} adapter gtp cat");
    let ran = lab.hakem([
        "duel",
        "--game",
        "reversi",
        "--games",
        "1",
        &bot,
        "builtin:random",
    ]);
    ran.exits(0)
        .says(&["last words on stderr: error: unexpected argument 'cat'"]);
    for args in [
        ["adapter", "gtp", "--", "cat"].as_slice(),
        &["bot", "greedy"],
    ] {
        let ran = lab.hakem_fed(args, "{\"type\":\"hello\"\n").exits(2);
        stays_outside(&ran.says(&["not a message of the protocol"]).stderr);
    }
}

#[test]
fn what_a_bot_is_called_ends_without_a_space() {
    let lab = Lab::new();
    let checked = lab.hakem(["check", "--game", "mangala", &faulty("honest")]);
    let stdout = checked.exits(0).stdout;
    assert!(stdout.contains("as \"faulty\"\n"), "{stdout}");
}
