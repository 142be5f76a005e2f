//! The command line: exit codes, messages and forms of output.
#![cfg(feature = "runner")]

mod common;

use std::ffi::OsStr;
use std::process::Stdio;

use common::{Event, Lab, text};
use serde_json::{Value, json};

/// The subcommands that there must be.
const COMMANDS: [&str; 19] = [
    "run",
    "duel",
    "gate",
    "report",
    "ratings",
    "standings",
    "games",
    "show",
    "new",
    "check",
    "replay",
    "play",
    "verify",
    "bot",
    "adapter",
    "rules",
    "perft",
    "completions",
    "man",
];

fn event() -> Event {
    Event::new("mangala")
        .mock("one", &["--pick", "hash:1"])
        .mock("two", &["--pick", "hash:2"])
}

/// A folder with a finished event.
fn finished() -> Lab {
    let lab = Lab::new();
    lab.run(&event().write(&lab, "event.toml"));
    lab
}

// ---- Usage ----------------------------------------------------------------------------------------------------------

#[test]
fn help_lists_every_command_and_each_has_its_own() {
    let lab = Lab::new();
    let help = lab.hakem(["--help"]).exits(0);
    for command in COMMANDS {
        assert!(help.stdout.contains(command), "{command} in {help}");
        let own = lab.hakem([command, "--help"]).exits(0);
        assert!(own.stdout.contains("Usage"), "{own}");
    }
    let version = lab.hakem(["--version"]).exits(0);
    assert!(version.stdout.starts_with("hakem "), "{version}");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let lab = Lab::new();
    lab.hakem::<[&str; 0], _>([]).exits(2);
    lab.hakem(["no-such-command"])
        .exits(2)
        .says(&["no-such-command"]);
    lab.hakem(["run"]).exits(2);
    lab.hakem(["run", "event.toml", "--no-such-option"])
        .exits(2)
        .says(&["--no-such-option"]);
    lab.hakem(["standings"]).exits(2);
    lab.hakem(["games", "x", "--format", "yaml"])
        .exits(2)
        .says(&["yaml", "json"]);
    lab.hakem(["duel"]).exits(2);
}

#[test]
fn completions_and_the_manual_are_printed() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.hakem(["completions", shell]).exits(0);
        assert!(script.stdout.contains("hakem"), "{script}");
        assert!(script.stdout.contains("standings"), "{script}");
    }
    lab.hakem(["completions", "no-such-shell"]).exits(2);
    let manual = lab.hakem(["man"]).exits(0);
    assert!(manual.stdout.contains(".TH"), "{manual}");
}

// ---- Event files ----------------------------------------------------------------------------------------------------

#[test]
fn a_missing_event_file_is_named() {
    let lab = Lab::new();
    lab.hakem(["run", "missing.toml"])
        .exits(2)
        .says(&["missing.toml"]);
}

#[test]
fn an_error_in_an_event_file_names_file_line_and_key() {
    let good = event().text();
    let replaced = |from: &str, to: &str| {
        assert!(good.contains(from), "`{from}` stands in {good}");
        good.replacen(from, to, 1)
    };
    // What is wrong; the text; what the message must name besides the file; the line where the text is wrong.
    let cases: [(&str, String, &[&str], Option<&str>); 16] = [
        (
            "an unknown key",
            replaced("seed = 42", "sede = 42"),
            &["sede", "seed"],
            Some("sede"),
        ),
        (
            "an unknown section",
            replaced("[limits]", "[limit]"),
            &["limit"],
            Some("[limit]"),
        ),
        (
            "a wrong type",
            replaced("games = 2", "games = \"two\""),
            &["games"],
            Some("games ="),
        ),
        (
            "an odd number of paired matches",
            replaced("games = 2", "games = 3"),
            &["games", "even"],
            Some("games ="),
        ),
        (
            "no match at all",
            replaced("games = 2", "games = 0"),
            &["games"],
            Some("games ="),
        ),
        (
            "an unknown game",
            replaced("\"mangala\"", "\"mangola\""),
            &["mangola", "mangala"],
            Some("game ="),
        ),
        (
            "a time without a unit",
            replaced("move = \"10s\"", "move = \"10\""),
            &["move"],
            Some("move ="),
        ),
        (
            "an unknown kind of clock",
            format!("{good}\n").replacen("[clock]", "[clock]\nkind = \"sundial\"", 1),
            &["kind", "fair"],
            Some("kind ="),
        ),
        (
            "an unknown level of the sandbox",
            replaced("sandbox = \"none\"", "sandbox = \"sand\""),
            &["sandbox", "none"],
            Some("sandbox ="),
        ),
        (
            "an option that the game does not have",
            replaced("[clock]", "[rules]\ncube = true\n[clock]"),
            &["cube", "sets"],
            Some("cube ="),
        ),
        (
            "an impossible value of an option",
            replaced("[clock]", "[rules]\nsets = 0\n[clock]"),
            &["sets"],
            Some("sets ="),
        ),
        (
            "two bots of one name",
            replaced("name = \"two\"", "name = \"one\""),
            &["one"],
            None,
        ),
        (
            "a bot that is two things",
            good.clone() + "builtin = \"greedy\"\n",
            &["command", "builtin"],
            None,
        ),
        (
            "a bot that is nothing",
            good.clone() + "[[bot]]\nname = \"three\"\n",
            &["three", "command"],
            None,
        ),
        (
            "one bot alone",
            good[..good.rfind("[[bot]]").expect("there are bots")].into(),
            &["bot"],
            None,
        ),
        (
            "no TOML",
            replaced("[clock]", "[clock"),
            &["clock"],
            Some("[clock"),
        ),
    ];
    let lab = Lab::new();
    for (what, text, named, at) in cases {
        let file = lab.write("wrong.toml", &text);
        let ran = lab.hakem([OsStr::new("run"), file.as_os_str()]);
        assert_eq!(ran.code, Some(2), "{what}: {ran}");
        assert!(ran.stdout.is_empty(), "{what}: errors go to stderr: {ran}");
        let ran = ran.exits(2).says(&["wrong.toml"]).says(named);
        if let Some(at) = at {
            let line = text.lines().position(|line| line.contains(at));
            let line = line.expect("the wrong line is there") + 1;
            assert!(
                ran.stderr.contains(&line.to_string()),
                "{what}: line {line} is named: {ran}"
            );
        }
        assert!(!lab.path("wrong").exists(), "{what}: no folder is begun");
    }
}

#[test]
fn a_missing_program_is_found_before_the_first_game() {
    let lab = Lab::new();
    let bots: [(&str, Event); 4] = [
        (
            "no-such-program-4711",
            event().bot("third", &["no-such-program-4711"]),
        ),
        ("missing.sh", event().bot("third", &["./missing.sh"])),
        (
            "no/such/folder",
            event()
                .bot("third", &["sh"])
                .with("dir = \"no/such/folder\""),
        ),
        ("no-such-bot", event().builtin("third", "no-such-bot")),
    ];
    for (named, event) in bots {
        let file = event.write(&lab, "event.toml");
        lab.hakem([OsStr::new("run"), file.as_os_str()])
            .exits(2)
            .says(&[named, "third"]);
        let begun = lab.path("event/records");
        assert!(common::files_below(&begun).is_empty(), "no game was played");
    }
    // A file that may not be executed.
    lab.write("plain.sh", "#!/bin/sh\n");
    let file = event()
        .bot("third", &["./plain.sh"])
        .write(&lab, "event.toml");
    lab.hakem([OsStr::new("run"), file.as_os_str()])
        .exits(2)
        .says(&["plain.sh", "third"]);
}

#[test]
fn openings_are_played_and_a_wrong_one_names_its_line() {
    let lab = Lab::new();
    let near_the_end = json!({
        "pits": [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], "stores": [23, 23], "turn": 0
    });
    lab.write("openings.jsonl", format!("{near_the_end}\n"));
    let file = event()
        .set("event", "openings", "\"openings.jsonl\"")
        .write(&lab, "event.toml");
    lab.run(&file);
    for game in lab.games("event") {
        assert_eq!(game["moves"], 2, "{game}");
        assert_eq!(game["points"], json!([23, 25]), "{game}");
        assert_eq!(text(&game, "reason"), "pits_empty");
    }
    lab.verify_records("event");
    let mut too_many = near_the_end.clone();
    too_many["stores"][0] = 30.into();
    lab.write("openings.jsonl", format!("{near_the_end}\n{too_many}\n"));
    let file = event()
        .set("event", "openings", "\"openings.jsonl\"")
        .write(&lab, "second.toml");
    lab.hakem([OsStr::new("run"), file.as_os_str()])
        .exits(2)
        .says(&["openings.jsonl", "2"]);
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

#[test]
fn tables_come_in_four_forms() {
    let lab = finished();
    for (command, rows) in [("games", 2), ("standings", 2)] {
        let form = |format: &str| lab.hakem([command, "event", "--format", format]).exits(0);
        let list = form("json").json();
        assert_eq!(list.as_array().map(Vec::len), Some(rows), "{list}");
        let csv = form("csv").stdout;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let columns = reader.headers().expect("CSV has a header").len();
        assert!(columns > 3, "{csv}");
        let records: Result<Vec<_>, _> = reader.records().collect();
        assert_eq!(records.expect("every row has all columns").len(), rows);
        let markdown = form("markdown").stdout;
        let lines: Vec<&str> = markdown
            .lines()
            .filter(|line| line.starts_with('|'))
            .collect();
        assert_eq!(lines.len(), rows + 2, "{markdown}");
        assert!(lines[1].contains("--"), "{markdown}");
        let table = form("table").stdout;
        assert!(table.contains("one") && table.contains("two"), "{table}");
        let plain = lab.hakem([command, "event"]).exits(0).stdout;
        assert_eq!(plain, table, "table is the default");
    }
}

#[test]
fn games_as_json_have_the_promised_fields() {
    let lab = finished();
    for game in lab.games("event") {
        let fields = [
            "id",
            "seats",
            "winner",
            "score",
            "points",
            "verdict",
            "reason",
            "against",
            "moves",
            "time_ms",
            "cpu_ms",
            "record",
            "record_hash",
        ];
        for field in fields {
            assert!(game.get(field).is_some(), "{field} in {game}");
        }
        let points = game["points"].as_array().expect("points by seat");
        let sum: u64 = points.iter().filter_map(Value::as_u64).sum();
        assert_eq!(sum, 48, "all stones are counted: {game}");
        let score: f64 = (0..2).filter_map(|seat| game["score"][seat].as_f64()).sum();
        assert!((score - 1.0).abs() < 1e-9, "{game}");
        assert!(game["moves"].as_u64() > Some(0), "{game}");
    }
}

#[test]
fn standings_as_json_add_up() {
    let lab = finished();
    let standings = lab.standings("event");
    let rows = standings.as_array().expect("a list of rows");
    let sum = |field: &str| -> f64 {
        rows.iter()
            .map(|row| {
                row[field]
                    .as_f64()
                    .unwrap_or_else(|| panic!("{field} in {row}"))
            })
            .sum()
    };
    assert!((sum("played") - 4.0).abs() < 1e-9, "{standings}");
    assert!((sum("points") - 2.0).abs() < 1e-9, "{standings}");
    assert!((sum("won") - sum("lost")).abs() < 1e-9, "{standings}");
    for row in rows {
        for field in ["rank", "name", "rating", "deviation", "volatility"] {
            assert!(row.get(field).is_some(), "{field} in {row}");
        }
        let deviation = row["deviation"].as_f64().expect("a number");
        assert!(deviation > 0.0 && deviation <= 350.0, "{row}");
    }
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let lab = finished();
    // stdout is no terminal here.
    for args in [
        &["standings", "event"][..],
        &["standings", "event", "--color", "never"],
        &["games", "event", "--color", "auto"],
    ] {
        lab.hakem(args).exits(0).stays_plain();
    }
    lab.hakem(["standings", "event", "--color", "always"])
        .exits(0);
    lab.hakem(["standings", "event", "--color", "pink"])
        .exits(2);
}

#[test]
fn a_run_without_a_terminal_is_quiet_about_progress() {
    let lab = Lab::new();
    let ran = lab.run(&event().write(&lab, "event.toml")).stays_plain();
    assert!(!ran.stderr.contains('%'), "{ran}");
    assert_eq!(lab.games("event").len(), 2);
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let lab = Lab::new();
    let file = event()
        .set("event", "games", "40")
        .write(&lab, "event.toml");
    lab.run(&file);
    assert_eq!(lab.games("event").len(), 40);
    lab.hakem(["ratings", "r.json", "add", "event"]).exits(0);
    let gate = "gate --game mangala --max-games 4 --candidate builtin:greedy --baseline builtin:random --seed 1 --opening-plies 2";
    let mut all: Vec<String> = [
        "show event r1.m1.g1",
        "show event r1.m1.g1 --explain",
        "report event --markdown -",
        "report event --csv -",
        "report event --junit -",
        "verify event",
        "perft --game mangala --depth 2",
        "--help",
        "man",
        "completions bash",
        "adapter --list",
    ]
    .map(str::to_owned)
    .to_vec();
    // Whatever prints a table does so in every form.
    for table in [
        "games event",
        "standings event",
        "desk event",
        "ratings r.json",
        "ratings r.json history one",
        "bot --list",
        "run event.toml",
        "run event.toml --dry-run",
        "duel --game mangala --seed 1 builtin:greedy builtin:random",
        gate,
    ] {
        for format in ["table", "json", "csv", "markdown"] {
            all.push(format!("{table} --format {format}"));
        }
    }
    for args in &all {
        let args: Vec<&str> = args.split(' ').collect();
        let (reader, writer) = std::io::pipe().expect("a pipe is made");
        drop(reader);
        let child = lab
            .command(&args)
            .stdout(Stdio::from(writer))
            .stderr(Stdio::piped())
            .spawn()
            .expect("hakem starts");
        let ran = common::collect(child, args.join(" "));
        // The gate has no room for a decision.
        ran.exits(if args[0] == "gate" { 4 } else { 0 });
    }
}

/// A long reason is cut in the table and whole everywhere else; and the list can be narrowed down.
#[test]
fn games_can_be_chosen_and_their_reasons_do_not_widen_the_table() {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .set("event", "rounds", "2")
        .mock("loud", &["--duplicate-key", "--at", "1"])
        .builtin("anna", "greedy")
        .builtin("bela", "random")
        .write(&lab, "event.toml");
    lab.run(&file);
    let all = lab.games("event");
    let long = all
        .iter()
        .map(|game| text(game, "reason"))
        .max_by_key(|reason| reason.chars().count())
        .expect("games")
        .to_owned();
    assert!(long.chars().count() > 60, "{long}");
    let table = lab.hakem(["games", "event"]).exits(0);
    let rows = table.stdout.lines().filter(|line| line.contains(" | "));
    let widest = rows.map(|row| row.chars().count()).max().expect("rows");
    assert!(widest < 250, "{widest} of {table}");
    assert!(
        table.stdout.contains('…') && table.stdout.contains(&long),
        "{table}"
    );
    let csv = lab.hakem(["games", "event", "--format", "csv"]).exits(0);
    assert!(
        csv.stdout.replace("\"\"", "\"").contains(&long) && !csv.stdout.contains('…'),
        "{csv}"
    );
    let chosen = |args: &[&str]| -> Vec<Value> {
        let ran = lab
            .hakem([&["games", "event", "--format", "json"], args].concat())
            .exits(0);
        ran.json().as_array().expect("an array").clone()
    };
    let of = |holds: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        all.iter().filter(|game| holds(game)).cloned().collect()
    };
    let sits = |game: &Value, name: &str| {
        game["seats"]
            .as_array()
            .is_some_and(|seats| seats.contains(&json!(name)))
    };
    assert_eq!(chosen(&["--bot", "anna"]), of(&|game| sits(game, "anna")));
    assert_eq!(
        chosen(&["--round", "2"]),
        of(&|game| text(game, "id").starts_with("r2."))
    );
    assert_eq!(
        chosen(&["--verdict", "bad_message"]),
        of(&|game| game["verdict"] == "bad_message")
    );
    let both = chosen(&["--bot", "bela", "--round", "1", "--verdict", "rule"]);
    assert_eq!(
        both,
        of(&|game| sits(game, "bela")
            && text(game, "id").starts_with("r1.")
            && game["verdict"] == "rule")
    );
    assert!(!both.is_empty() && both.len() < all.len());
    lab.hakem(["games", "event", "--bot", "ana"])
        .exits(2)
        .says(&["`ana`", "did you mean `anna`"]);
    lab.hakem(["games", "event", "--verdict", "lost"])
        .exits(2)
        .says(&["illegal_move"]);
}

/// What the rank is, and what decides it, in every form that people read; nothing of what does not.
#[test]
fn the_words_below_standings_are_those_of_the_format() {
    for (format, right, wrong) in [
        ("round-robin", "Equal points: direct encounter", "Rank:"),
        ("gauntlet", "Equal points: direct encounter", "Rank:"),
        ("swiss", "Equal points: Buchholz", "Rank:"),
        ("knockout", "Rank: the round of the knockout", "rung"),
        ("groups", "Rank: the round of the knockout", "rung"),
        ("ladder", "Rank: the rung of the ladder", "Equal points"),
    ] {
        let lab = Lab::new();
        let mut file = Event::new("mangala").set("event", "format", &format!("\"{format}\""));
        for (name, builtin) in [
            ("a", "random"),
            ("b", "greedy"),
            ("c", "random"),
            ("d", "first"),
        ] {
            file = file.builtin(name, builtin);
        }
        file = match format {
            "gauntlet" => file.set("event", "candidate", "\"a\""),
            "groups" => file.set("event", "groups", "2"),
            _ => file,
        };
        let ran = lab.run(&file.write(&lab, "event.toml"));
        let markdown = lab
            .hakem(["standings", "event", "--format", "markdown"])
            .exits(0);
        let report = lab.hakem(["report", "event", "--markdown", "-"]).exits(0);
        let html = std::fs::read_to_string(lab.path("event/report.html")).expect("a page");
        for shown in [&ran.stdout, &markdown.stdout, &report.stdout, &html] {
            assert!(
                shown.contains(right) && !shown.contains(wrong),
                "{format}: {shown}"
            );
        }
        // Points and tie-breaks are data in every format.
        let first = &lab.standings("event")[0];
        assert!(
            first["tie_breaks"].is_object() && first["rank"] == 1,
            "{first}"
        );
        // Those columns that decide nothing are not shown to people.
        assert_eq!(ran.stdout.contains(" SB "), format != "ladder", "{ran}");
    }
}

// ---- One game -------------------------------------------------------------------------------------------------------

#[test]
fn show_replays_a_game_with_boards() {
    let lab = finished();
    let shown = lab.hakem(["show", "event", "r1.m1.g1"]).exits(0);
    for word in ["one", "two", "seat 0", "pits_empty"] {
        assert!(shown.stdout.contains(word), "{word} in {shown}");
    }
    let moves = lab.games("event")[0]["moves"].as_u64().expect("a number");
    let lines = shown.stdout.lines().count() as u64;
    assert!(lines > moves, "a line for every move, and boards: {shown}");
    lab.hakem(["show", "event", "r1.m9.g1"])
        .exits(2)
        .says(&["r1.m9.g1"]);
    lab.hakem(["show", "event", "game one"]).exits(2);
}

// ---- Duels and built-in bots ----------------------------------------------------------------------------------------

fn duel(lab: &Lab, args: &[&str]) -> common::Ran {
    lab.hakem([&["duel"], args].concat())
}

#[test]
fn a_duel_needs_no_file_and_is_repeatable() {
    let lab = Lab::new();
    for game in ["mangala", "tavla"] {
        let args = [
            "--game",
            game,
            "--games",
            "4",
            "--seed",
            "9",
            "--format",
            "json",
            "builtin:greedy",
            "builtin:random",
        ];
        let without_times = |value: Value| {
            let mut rows = value;
            for row in rows.as_array_mut().into_iter().flatten() {
                if let Some(row) = row.as_object_mut() {
                    row.retain(|key, _| !key.contains("time") && !key.contains("cpu"));
                    row.retain(|key, _| !key.contains("wall"));
                }
            }
            rows
        };
        let first = without_times(duel(&lab, &args).exits(0).json());
        let second = without_times(duel(&lab, &args).exits(0).json());
        assert_eq!(first, second, "the same seed, the same duel");
        let played: u64 = first
            .as_array()
            .expect("standings are a list")
            .iter()
            .filter_map(|row| row["played"].as_u64())
            .sum();
        assert_eq!(played, 8, "four matches, two bots: {first}");
    }
}

#[test]
fn a_duel_takes_command_lines_rules_and_a_clock() {
    let lab = Lab::new();
    let mock = format!("{} --pick hash:3", common::mockbot_path().display());
    let args = [
        "--game",
        "mangala",
        "--games",
        "2",
        "--rule",
        "sets=3",
        "builtin:greedy",
        &mock,
    ];
    let ran = duel(&lab, &args).exits(0);
    assert!(ran.stdout.contains("greedy"), "{ran}");
    assert!(ran.stdout.contains("mockbot"), "{ran}");
    lab.assert_no_process_is_left();
}

#[test]
fn a_duel_that_cannot_be_is_wrong_usage() {
    let lab = Lab::new();
    duel(&lab, &["--game", "mangala", "builtin:greedy"]).exits(2);
    duel(
        &lab,
        &["--game", "mangala", "builtin:greedy", "builtin:nobody"],
    )
    .exits(2)
    .says(&["nobody"]);
    duel(
        &lab,
        &["--game", "chess", "builtin:greedy", "builtin:random"],
    )
    .exits(2)
    .says(&["chess", "mangala"]);
    duel(
        &lab,
        &[
            "--game",
            "mangala",
            "--rule",
            "cube=true",
            "builtin:greedy",
            "builtin:random",
        ],
    )
    .exits(2)
    .says(&["cube"]);
    duel(
        &lab,
        &[
            "--game",
            "mangala",
            "builtin:greedy",
            "no-such-program-4711 --fast",
        ],
    )
    .exits(2)
    .says(&["no-such-program-4711"]);
    duel(
        &lab,
        &[
            "--game",
            "mangala",
            "--games",
            "3",
            "builtin:greedy",
            "builtin:random",
        ],
    )
    .exits(2)
    .says(&["even"]);
}

#[test]
fn built_in_bots_are_listed_and_speak_the_protocol() {
    let lab = Lab::new();
    let list = lab.hakem(["bot", "--list"]).exits(0);
    let as_data = |format| {
        lab.hakem(["bot", "--list", "--format", format])
            .exits(0)
            .stays_plain()
    };
    let data = as_data("json").json();
    let rows = data.as_array().expect("a row a bot");
    let csv = as_data("csv").stdout;
    assert!(csv.starts_with("name,summary,games,options\n"), "{csv}");
    assert_eq!(csv.lines().count(), rows.len() + 1, "{csv}");
    let markdown = as_data("markdown").stdout;
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        assert!(
            list.stdout.contains(name) && markdown.contains(name),
            "{name}"
        );
    }
    let of = |name: &str| {
        rows.iter()
            .find(|row| row["name"] == name)
            .expect("it is there")
    };
    assert_eq!(of("kuyu")["games"], json!(["mangala"]));
    let plays = |name: &str, game: &str| {
        let games = of(name)["games"].as_array().expect("games");
        games.contains(&json!(game))
    };
    assert!(plays("random", "tavla") && plays("random", "qbitz"));
    assert!(plays("first", "tavla") && !plays("first", "qbitz"));
    assert!(of("kuyu")["options"][0]["meaning"].is_string());
    for bot in ["random", "greedy"] {
        assert!(list.stdout.contains(bot), "{list}");
        let hello = json!({
            "type": "hello", "protocol": 1, "referee": "test", "game": "mangala",
            "rules": {"sets": 1, "rematch_on_draw": false}, "options": {},
            "clock": {"kind": "fair", "main_ms": null, "increment_ms": 0, "move_ms": 1000, "delay_ms": 0},
        });
        let state = json!({
            "pits": [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]], "stores": [0, 0], "turn": 0
        });
        let start = json!({
            "type": "start", "game_id": "r1.m1.g1", "seat": 0, "names": ["a", "b"], "first": 0,
            "rules": {"sets": 1, "rematch_on_draw": false},
            "match": {"game": 1, "of": 1, "score": [0, 0]}, "state": state,
        });
        let turn = json!({
            "type": "turn", "id": 1, "seat": 0, "ask": "move", "state": state,
            "legal": [1, 2, 3, 4, 5, 6], "last": [],
            "clock": {"left_ms": [null, null], "limit_ms": 1000},
        });
        let bye = json!({"type": "bye"});
        let input = format!("{hello}\n{start}\n{turn}\n{bye}\n");
        let said = lab.hakem_fed(&["bot", bot], &input).exits(0);
        let again = lab.hakem_fed(&["bot", bot], &input).exits(0);
        assert_eq!(said.stdout, again.stdout, "a function of the turn");
        let lines: Vec<Value> = said
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert_eq!(lines[0]["type"], "ready");
        assert_eq!(lines[1]["type"], "move");
        assert_eq!(lines[1]["id"], 1);
        let mv = lines[1]["move"].as_u64().expect("a pit");
        assert!((1..=6).contains(&mv), "{said}");
    }
    lab.hakem(["bot", "nobody"]).exits(2).says(&["nobody"]);
}
