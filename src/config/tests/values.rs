//! What a good file, good flags and a good clock line mean.

use hakem_protocol::{ClockKind, limits as protocol};
use serde_json::json;

use super::adjudication::ADJUDICATION_KEYS;
use super::read::DEFAULTS;
use super::sections::{CLOCK_KEYS, EVENT_KEYS, FILE_KEYS, LIMIT_KEYS};
use super::*;

const SMALL: &str = "[event]\ngame = \"mangala\"\n[[bot]]\nname = \"a\"\nbuiltin = \"greedy\"\n[[bot]]\nname = \"b\"\nbuiltin = \"random\"\n";

#[test]
fn every_key_is_read() {
    let config = config(FULL);
    assert_eq!(
        config.file.as_deref(),
        Some(Path::new("/events/spring.toml"))
    );
    assert_eq!(config.base, Path::new("/events"));
    assert_eq!(config.name, "Spring course");
    assert_eq!(config.game, "mangala");
    assert_eq!(config.format, Format::RoundRobin);
    assert_eq!((config.games, config.paired, config.rounds), (10, true, 3));
    assert_eq!((config.seats, config.opening_plies), (2, 4));
    assert_eq!(config.restart, Restart::Game);
    assert_eq!(config.seed.as_deref(), Some("42"));
    assert_eq!(config.jobs, Some(2));
    assert_eq!(Value::Object(config.rules.clone()), json!({"sets": 3}));
    assert_eq!(
        config.clock,
        ClockSpec {
            main_us: Some(60_000_000),
            increment_us: 100_000,
            move_us: Some(5_000_000),
            delay_us: 500_000,
            margin_us: 20_000,
            ready_us: 3_000_000,
            kind: ClockKind::Wall,
            ceiling_us: Some(51_000_000),
        }
    );
    let limits = Limits {
        memory: 256 << 20,
        processes: 8,
        stderr: 2 << 20,
        output: 8 << 20,
        line: 512 << 10,
        note: 1 << 10,
        disk: 32 << 20,
        exit_us: 1_000_000,
        cores: 2,
        ponder: false,
        runtime: vec!["/events/python".into(), "/opt/python".into()],
        sandbox: Sandbox::None,
    };
    assert_eq!(config.limits, limits);
    let own = Limits {
        memory: 1 << 30,
        ponder: true,
        ..limits.clone()
    };
    let options = json!({"depth": 4, "deep": {"list": [1, 2.5, "x", true]}});
    let Value::Object(options) = options else {
        unreachable!()
    };
    let command = |argv: &[&str], dir: &str, own_dir| Program::Command {
        argv: argv.iter().map(|&word| word.into()).collect(),
        dir: dir.into(),
        own_dir,
    };
    assert_eq!(
        config.bots,
        [
            BotSpec {
                name: "team-a".into(),
                line: Some(42),
                build: None,
                program: command(&["python3", "bot.py"], "/events/entries/team-a", true),
                env: vec![("LEVEL".into(), "3".into())],
                options,
                limits: own,
                joins: 1,
                leaves: None,
            },
            BotSpec {
                name: "house".into(),
                line: Some(50),
                build: None,
                program: Program::Builtin("greedy".into()),
                env: vec![],
                options: Map::new(),
                limits: limits.clone(),
                joins: 1,
                leaves: None,
            },
            BotSpec {
                name: "shell words".into(),
                line: Some(54),
                build: None,
                program: command(&["./bot", "--name", "two words"], "/events", false),
                env: vec![],
                options: Map::new(),
                limits,
                joins: 1,
                leaves: None,
            },
        ]
    );
    assert_eq!(config.warnings(), Vec::<String>::new());
}

#[test]
fn the_defaults_are_those_of_the_default_file() {
    assert_eq!(DEFAULTS.1.to_string(), "", "default.toml is in order");
    let config = config(SMALL);
    assert_eq!(config.name, "spring");
    assert_eq!(config.format, Format::RoundRobin);
    assert_eq!((config.games, config.paired, config.rounds), (2, true, 1));
    assert_eq!((config.seats, config.opening_plies), (2, 0));
    assert_eq!(config.restart, Restart::Match);
    assert_eq!((&config.seed, config.jobs), (&None, None));
    let clock = default_clock();
    assert_eq!(config.clock, clock);
    assert_eq!(
        (clock.main_us, clock.move_us, clock.ceiling_us),
        (None, None, None)
    );
    assert_eq!(
        (clock.increment_us, clock.delay_us, clock.margin_us),
        (0, 0, 0)
    );
    assert_eq!(clock.ready_us, protocol::READY_MS * 1000);
    let linux = crate::bot::os::LINUX;
    assert_eq!(clock.kind == ClockKind::Fair, linux);
    let limits = Limits::default();
    assert_eq!(config.limits, limits);
    assert_eq!(config.bots[0].limits, limits);
    assert_eq!(limits.memory, 512 << 20);
    assert_eq!((limits.processes, limits.cores), (32, 1));
    assert_eq!(limits.stderr, protocol::MAX_STDERR_BYTES);
    assert_eq!(limits.output, protocol::MAX_OUTPUT_BYTES);
    assert_eq!(limits.line, protocol::MAX_LINE_BYTES);
    assert_eq!(limits.note, protocol::MAX_NOTE_BYTES);
    assert_eq!(limits.disk, 64 << 20);
    assert_eq!(limits.exit_us, protocol::EXIT_MS * 1000);
    assert!(limits.ponder && limits.runtime.is_empty());
    assert_eq!(limits.sandbox, Sandbox::Auto);
    assert_eq!(config.warnings().len(), 1, "no limit on time at all");
}

#[test]
fn the_default_file_shows_every_key() {
    let shown = |key: &str| {
        DEFAULT_TOML.lines().any(|line| {
            let line = line.trim_start_matches(['#', ' ']);
            line.starts_with(&format!("{key} =")) || line.contains(&format!("[{key}]"))
        })
    };
    let bot = bots::BOT_KEYS;
    let ends = ADJUDICATION_KEYS;
    for keys in [FILE_KEYS, EVENT_KEYS, CLOCK_KEYS, ends, LIMIT_KEYS, bot] {
        for key in keys {
            assert!(shown(key), "default.toml does not show `{key}`");
        }
    }
    // With its examples taken out of their comments it is a good file, so they cannot be wrong.
    let text: String = DEFAULT_TOML
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || rest.contains(" = ") => rest,
            _ => line,
        })
        .filter(|line| {
            let other_formats = [
                "candidate",
                "groups",
                "advance",
                "ladder",
                "reach",
                "joins",
                "leaves",
            ];
            let left_out = |key: &&str| line.starts_with(&format!("{key} ="));
            !other_formats.iter().any(left_out) && !line.starts_with("openings")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let config = config(&text);
    assert_eq!(config.bots.len(), 2);
    assert_eq!(config.clock.main_us, Some(60_000_000));
}

#[test]
fn games_follow_pairing() {
    let unpaired = SMALL.replace(
        "[[bot]]\nname = \"a\"",
        "paired = false\n[[bot]]\nname = \"a\"",
    );
    assert_eq!(config(&unpaired).games, 1);
    let odd = unpaired.replace("paired = false", "paired = false\ngames = 1_001");
    assert_eq!(config(&odd).games, 1001);
}

#[test]
fn clock_lines() {
    let default = default_clock();
    let good = |text: &str, wanted: ClockSpec| match parse_clock(text) {
        Ok(clock) => assert_eq!(clock, wanted, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    };
    let main = |main_us, increment_us| ClockSpec {
        main_us: Some(main_us),
        increment_us,
        ..default
    };
    good("60s+100ms", main(60_000_000, 100_000));
    good(" 60s + 100ms ", main(60_000_000, 100_000));
    good("2m", main(120_000_000, 0));
    good("main=60s,increment=1s", main(60_000_000, 1_000_000));
    good(
        "move=5s",
        ClockSpec {
            move_us: Some(5_000_000),
            ..default
        },
    );
    if crate::bot::os::TELLS_TIME {
        good(
            "60s+1s,kind=cpu,margin=20ms,delay=1ms,ready=1s,wall_ceiling=9m",
            ClockSpec {
                kind: ClockKind::Cpu,
                margin_us: 20_000,
                delay_us: 1000,
                ready_us: 1_000_000,
                ceiling_us: Some(540_000_000),
                ..main(60_000_000, 1_000_000)
            },
        );
    }
}

#[test]
fn a_clock_that_the_system_cannot_keep_is_refused() {
    let problem = sections::kind_problem;
    for kind in [ClockKind::Fair, ClockKind::Cpu] {
        assert!(problem(kind, true).is_none());
        let wrong = problem(kind, false).expect("it is refused");
        assert!(wrong.what.contains("only Linux"), "{}", wrong.what);
        assert!(wrong.right.contains("\"wall\""), "{}", wrong.right);
        let line = format!(
            "60s,kind={}",
            if kind == ClockKind::Fair {
                "fair"
            } else {
                "cpu"
            }
        );
        let told = parse_clock(&line).is_ok();
        assert_eq!(told, crate::bot::os::TELLS_TIME);
    }
    assert!(problem(ClockKind::Wall, false).is_none());
}

#[test]
fn bad_clock_lines() {
    let text =
        |spec: &str| parse_clock(spec).map_or_else(|error| error.to_string(), |_| "good".into());
    insta::assert_snapshot!(text("60+100ms,mov=5s,5s"), @r##"
    error: `main` is no duration: it has no unit
     --> --clock:1:1
      |
    1 | 60+100ms,mov=5s,5s
      | ^^^^^^^^ a duration is a number and a unit (us, ms, s, m, h), like "60s", "100ms", "0.5s" or "1h 30m"

    error: `mov` is no key of a clock
     --> --clock:1:10
      |
    1 | 60+100ms,mov=5s,5s
      |          ^^^^^^ did you mean `move`?

    error: `5s` is no part of a clock
     --> --clock:1:17
      |
    1 | 60+100ms,mov=5s,5s
      |                 ^^ KEY=VALUE is right; MAIN+INCREMENT stands first
    "##);
    insta::assert_snapshot!(text("main=1s,main=2s"), @r##"
    error: `main` is given twice
     --> --clock:1:9
      |
    1 | main=1s,main=2s
      |         ^^^^^^^ leave one out
    "##);
    insta::assert_snapshot!(text("move=5s,wall_ceiling=1s,kind=fiar"), @r##"
    error: `kind` is `fiar`
     --> --clock:1:25
      |
    1 | move=5s,wall_ceiling=1s,kind=fiar
      |                         ^^^^^^^^^ did you mean `fair`?
    "##);
    insta::assert_snapshot!(text("move=5s,wall_ceiling=1s"), @r##"
    error: `wall_ceiling` is 1s, but an answer may take 5s (`move`, `delay` and `margin`)
     --> --clock:1:1
      |
    1 | move=5s,wall_ceiling=1s
      | ^^^^^^^^^^^^^^^^^^^^^^^ 5s is the least
    "##);
    insta::assert_snapshot!(text(""), @r##"
    error: `main` is no duration: it is blank
     --> --clock:1:1
      |
    1 |
      | ^ a duration is a number and a unit (us, ms, s, m, h), like "60s", "100ms", "0.5s" or "1h 30m"
    "##);
}

/// `main` and `move` in seconds.
fn limits_of(clock: &ClockSpec) -> (Option<u64>, Option<u64>) {
    let seconds = |us: Option<u64>| us.map(|us| us / 1_000_000);
    (seconds(clock.main_us), seconds(clock.move_us))
}

#[test]
fn rules_prescribe_the_clock_that_the_event_does_not_name() {
    let clock = |rules: &str, clock: &str| {
        let text = SMALL.replace("mangala", "dokuztas").replacen(
            "[[bot]]",
            &format!("[rules]\n{rules}\n{clock}\n[[bot]]"),
            1,
        );
        limits_of(&config(&text).clock)
    };
    let okul = "preset = \"okul\"";
    assert_eq!(clock(okul, ""), (None, Some(180)));
    assert_eq!(clock(okul, "[clock]\nkind = \"wall\""), (None, Some(180)));
    assert_eq!(clock(okul, "[clock]\nmove = \"5s\""), (None, Some(5)));
    assert_eq!(
        clock(okul, "[clock]\nmain = \"60s\""),
        (Some(60), Some(180))
    );
    assert_eq!(clock("preset = \"sivas\"", ""), (None, None));
    assert_eq!(clock("game_time_ms = 1000", ""), (None, None));
}

#[test]
fn flags_leave_the_clock_to_the_rules_before_their_own() {
    let clock = |rule: Option<&str>, given: Option<&str>| {
        let flags = Flags {
            game: "dokuztas".into(),
            rules: rule.into_iter().map(str::to_owned).collect(),
            clock: given.map(str::to_owned),
            usual_clock: Some("move=10s".into()),
            ..flags(&["builtin:greedy", "builtin:random"])
        };
        let config = from_flags(&flags, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
        limits_of(&config.clock)
    };
    let okul = Some("preset=okul");
    assert_eq!(clock(None, None), (None, Some(10)));
    assert_eq!(clock(None, Some("60s")), (Some(60), None));
    assert_eq!(clock(okul, None), (None, Some(180)));
    assert_eq!(clock(okul, Some("60s+1s")), (Some(60), Some(180)));
    assert_eq!(clock(okul, Some("move=5s")), (None, Some(5)));
    assert_eq!(clock(Some("preset=sivas"), None), (None, Some(10)));
}

#[test]
fn engines_and_built_in_bots_of_a_command_line_are_called_by_their_own_name() {
    let called = |command: &str| {
        let flags = flags(&[command, "builtin:greedy"]);
        let config = from_flags(&flags, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
        config.bots[0].name.clone()
    };
    assert_eq!(called("hakem adapter gnubg --plies 2"), "gnubg");
    assert_eq!(called("/opt/hakem bot kuyu"), "kuyu");
    assert_eq!(called("hakem adapter"), "hakem");
    assert_eq!(called("other adapter gnubg"), "other");
}

/// A race of so many bots, with more keys of `[event]` and other sections.
fn race(bots: usize, event: &str, more: &str) -> String {
    let bots: String = (0..bots)
        .map(|bot| format!("[[bot]]\nname = \"{bot}\"\nbuiltin = \"greedy\"\n"))
        .collect();
    format!("[event]\ngame = \"qbitz\"\n{event}\n{more}\n{bots}")
}

#[test]
fn a_race_may_have_three_and_four_seats() {
    for seats in 2..=4 {
        let config = config(&race(4, &format!("seats = {seats}"), ""));
        assert_eq!((config.seats, config.games), (seats, seats as u32));
        assert_eq!(
            config.warnings(),
            Vec::<String>::new(),
            "no clock is needed"
        );
    }
    let odd = config(&race(4, "seats = 3\ngames = 4", ""));
    assert!(odd.warnings()[0].contains("no multiple of the 3 seats"));
    let clock = config(&race(2, "", "[clock]\nmain = \"9s\""));
    assert!(clock.warnings()[0].contains("means nothing in a race"));
}

#[test]
fn a_duel_seats_all_bots_where_the_game_has_the_seats() {
    let seats = |game: &str, bots: usize, seats: Option<usize>| {
        let given = Flags {
            game: game.into(),
            seats,
            ..flags(&vec!["builtin:greedy"; bots])
        };
        from_flags(&given, BUILTINS).map(|config| (config.seats, config.games))
    };
    for bots in 2..=4 {
        assert_eq!(seats("qbitz", bots, None), Ok((bots, bots as u32)));
        assert_eq!(seats("mangala", bots, None), Ok((2, 2)));
    }
    assert_eq!(seats("qbitz", 5, None), Ok((2, 2)));
    assert_eq!(seats("qbitz", 5, Some(4)), Ok((4, 4)));
    let refused = |given| {
        seats("qbitz", 2, Some(given))
            .expect_err("no such table")
            .to_string()
    };
    assert!(refused(3).contains("at least three bots"));
    assert!(refused(5).contains("2 to 4"));
    assert!(seats("mangala", 3, Some(3)).is_err());
}

#[test]
fn every_table_counts_towards_the_most_matches() {
    let text = race(60, "seats = 4\ngames = 40", "");
    let refused = parse(&text, Path::new("/events/race.toml"), BUILTINS)
        .expect_err("19 million matches")
        .to_string();
    assert!(refused.contains("19505400 matches"), "{refused}");
}

fn flags(bots: &[&str]) -> Flags {
    Flags {
        name: "duel".into(),
        game: "mangala".into(),
        bots: bots.iter().map(|&bot| bot.into()).collect(),
        folder: "/events".into(),
        ..Flags::default()
    }
}

#[test]
fn an_event_of_flags() {
    let config = from_flags(
        &Flags {
            rules: vec!["sets=3".into(), "rematch_on_draw = true".into()],
            clock: Some("10s+1ms".into()),
            games: Some(4),
            seed: Some("42".into()),
            ..flags(&[
                "builtin:greedy",
                "builtin:greedy",
                "python3 -u bots/kuyu.py",
                "./bin/hazine",
            ])
        },
        BUILTINS,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        Value::Object(config.rules),
        json!({"sets": 3, "rematch_on_draw": true})
    );
    assert_eq!(config.clock.main_us, Some(10_000_000));
    assert_eq!((config.games, config.paired), (4, true));
    assert_eq!(config.seed.as_deref(), Some("42"));
    let names: Vec<&str> = config.bots.iter().map(|bot| bot.name.as_str()).collect();
    assert_eq!(names, ["greedy", "greedy-2", "kuyu", "hazine"]);
    assert_eq!(
        config.bots[2].program,
        Program::Command {
            argv: vec!["python3".into(), "-u".into(), "bots/kuyu.py".into()],
            dir: "/events".into(),
            own_dir: false,
        }
    );
    let two = flags(&["builtin:greedy", "builtin:random"]);
    let config = from_flags(&two, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((config.games, config.paired), (2, true));
    assert_eq!(config.clock, default_clock());
    let one = Flags {
        games: Some(1),
        ..two
    };
    let config = from_flags(&one, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((config.games, config.paired), (1, false));
}

#[test]
fn bots_of_one_name_are_called_by_their_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (dir, name) in [("new", "my-bot"), ("old", "my-bot"), ("my-bot", "my-bot")] {
        let dir = folder.path().join(dir);
        std::fs::create_dir(&dir).expect("a folder");
        let text = format!("name = \"{name}\"\nrun = [\"python3\", \"bot.py\"]\n");
        std::fs::write(dir.join("bot.toml"), text).expect("a file");
    }
    std::fs::write(folder.path().join("benim botum.py"), "print()").expect("a file");
    for (bots, names) in [
        (&["./new", "./old"][..], &["new", "old"][..]),
        (&["new", "my-bot"], &["new", "my-bot"]),
        (&["new", "new"], &["my-bot", "my-bot-2"]),
        (&["new", "old", "new"], &["my-bot", "old", "my-bot-2"]),
        (&["new", "builtin:greedy"], &["my-bot", "greedy"]),
        (
            &["python3 a/bot.py", "python3 b/bot.py", "python3 bot.py"],
            &["a", "b", "bot"],
        ),
        // No folder tells them apart.
        (
            &["python3 a/x/bot.py", "python3 b/x/bot.py"],
            &["bot", "bot-2"],
        ),
        // A name that another has is no help.
        (
            &["python3 a/bot.py", "python3 b/bot.py", "python3 a.py"],
            &["bot", "b", "a"],
        ),
        (
            &["python3 'benim botum.py'", "sh -c 'python3 bot.py'"],
            &["benim botum", "sh"],
        ),
    ] {
        let flags = Flags {
            seats: Some(2),
            folder: folder.path().to_owned(),
            ..flags(bots)
        };
        let config = from_flags(&flags, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
        let called: Vec<&str> = config.bots.iter().map(|bot| bot.name.as_str()).collect();
        assert_eq!(called, names, "{bots:?}");
    }
}

#[test]
fn a_folder_with_a_bot_file_is_a_bot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bot = folder.path().join("kuyu");
    std::fs::create_dir(&bot).expect("a folder");
    let file = bot.join("bot.toml");
    std::fs::write(
        &file,
        "name = \"Kuyu\"\nbuild = \"make\"\nrun = \"./bot -q\"\n",
    )
    .expect("a file");
    let program = Program::Command {
        argv: vec!["./bot".into(), "-q".into()],
        dir: bot.clone(),
        own_dir: true,
    };
    let given = Flags {
        folder: folder.path().into(),
        ..flags(&["kuyu", "builtin:greedy"])
    };
    let config = from_flags(&given, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (config.bots[0].name.as_str(), &config.bots[0].program),
        ("Kuyu", &program)
    );
    assert_eq!(config.bots[0].build, Some(vec!["make".to_owned()]));
    // In an event file the folder alone is enough, too; the name is the event's.
    let text = SMALL.replace("builtin = \"greedy\"", "dir = \"kuyu\"");
    let path = folder.path().join("spring.toml");
    let config = parse(&text, &path, BUILTINS).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (config.bots[0].name.as_str(), &config.bots[0].program),
        ("a", &program)
    );
    let problems = check_programs(&config);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].right,
        format!("build it first: in {}, run make", bot.display())
    );

    std::fs::write(&file, "rum = \"./bot\"\n").expect("a file");
    let error = parse(&text, &path, BUILTINS)
        .expect_err("no `run`")
        .to_string();
    assert!(error.contains("did you mean `run`?"), "{error}");
    assert!(error.contains("bot.toml:1:1"), "{error}");
}

#[test]
fn bad_flags() {
    let given = Flags {
        game: "mangla".into(),
        ..flags(&["builtin:gredy"])
    };
    let text = from_flags(&given, BUILTINS).expect_err("bad").to_string();
    insta::assert_snapshot!(text, @r##"
    error: there is no game `mangla`; did you mean `mangala`?

    error: at least two bots are needed: builtin:NAME, a command line, or a folder with a bot.toml each

    error: the bot `builtin:gredy` is `gredy`, which is no built-in bot; did you mean `greedy`?
    "##);
    let given = Flags {
        games: Some(3),
        seed: Some(" ".into()),
        rules: vec![
            "set=3".into(),
            "sets".into(),
            "sets=0".into(),
            "sets=1".into(),
            "x=1979-05-27".into(),
        ],
        clock: Some("60".into()),
        ..flags(&["", "python3 'bot.py"])
    };
    let text = from_flags(&given, BUILTINS).expect_err("bad").to_string();
    insta::assert_snapshot!(text, @r##"
    error: `sets` is no option with its value
     --> --rule:1:1
      |
    1 | sets
      | ^^^^ KEY=VALUE is right

    error: the option `sets` is given twice
     --> --rule:1:1
      |
    1 | sets=1
      | ^^^^^^ leave one out

    error: the option `set` is no option of Mangala
     --> --rule:1:1
      |
    1 | set=3
      | ^^^^^ did you mean `sets`?

    error: the option `x` is no option of Mangala
     --> --rule:1:1
      |
    1 | x=1979-05-27
      | ^^^^^^^^^^^^ known are rematch_on_draw, sets

    error: the option `sets` does not fit
     --> --rule:1:1
      |
    1 | sets=0
      | ^^^^^^ 0 is not a number of sets; 1 to 1000 are possible

    error: `main` is no duration: it has no unit
     --> --clock:1:1
      |
    1 | 60
      | ^^ a duration is a number and a unit (us, ms, s, m, h), like "60s", "100ms", "0.5s" or "1h 30m"

    error: 3 games are not possible: each is played twice, with sides swapped; one game, or an even number, is right

    error: the seed is blank; a number or text is right

    error: the bot `` is empty; a program and its arguments are right

    error: the bot `python3 'bot.py` has a quote that is not closed; close it
    "##);
}

#[test]
fn files_that_are_no_event_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let read = |path: &Path| {
        read(path, BUILTINS)
            .expect_err("no event")
            .to_string()
            .replace(&folder.path().display().to_string(), "DIR")
    };
    let path = folder.path().join("spring.toml");
    insta::assert_snapshot!(read(folder.path()), @r##"
    error: cannot read the event file DIR: it is a folder
    "##);
    insta::assert_snapshot!(read(&path), @r##"
    error: cannot read the event file DIR/spring.toml: No such file or directory (os error 2)
    "##);
    std::fs::write(&path, b"[event]\n# a\nname = \"\xff\"\n").expect("a file");
    insta::assert_snapshot!(read(&path), @r##"
    error: cannot read the event file DIR/spring.toml: line 3 is not UTF-8 text
    "##);
    std::fs::write(&path, "").expect("a file");
    insta::assert_snapshot!(read(&path), @r##"
    error: the event file has no [event] section; it must name at least the game

    error: the event has no bot
    "##);
    assert!(read(Path::new("/dev/zero")).contains("it is no regular file"));
}

#[test]
fn openings_are_read_and_checked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let event = folder.path().join("spring.toml");
    let text = SMALL.replace(
        "[[bot]]\nname = \"a\"",
        "openings = \"o.jsonl\"\n[[bot]]\nname = \"a\"",
    );
    let parse = |text: &str| {
        parse(text, &event, BUILTINS).map_err(|error| {
            error
                .to_string()
                .replace(&folder.path().display().to_string(), "DIR")
        })
    };
    insta::assert_snapshot!(parse(&text).expect_err("missing"), @r##"
    error: cannot read the openings DIR/o.jsonl: No such file or directory (os error 2)
     --> DIR/spring.toml:3:12
      |
    3 | openings = "o.jsonl"
      |            ^^^^^^^^^ a file with a JSON state a line is right
    "##);
    let openings = folder.path().join("o.jsonl");
    let good = r#"{"pits":[[4,4,4,4,4,4],[4,4,4,4,4,4]],"stores":[0,0],"turn":1}"#;
    std::fs::write(&openings, format!("# start\n{good}\r\n\n  {good}")).expect("a file");
    let config = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let state: Value = serde_json::from_str(good).expect("JSON");
    assert_eq!(config.openings, [state.clone(), state]);
    let over = r#"{"pits":[[0,0,0,0,0,0],[0,0,0,0,0,0]],"stores":[24,24],"turn":1}"#;
    let lines = [
        good,
        r#"  {"pits":[[4,4,4,4,4,4]}"#,
        &good.replace("[0,0]", "[1,0]"),
        over,
        "3",
    ];
    std::fs::write(&openings, lines.join("\n")).expect("a file");
    insta::assert_snapshot!(parse(&text).expect_err("bad lines"), @r##"
    error: an opening cannot be read: after an element comes `,` or `]`
     --> DIR/o.jsonl:2:25
      |
    2 |   {"pits":[[4,4,4,4,4,4]}
      |                         ^ a state of the game as a turn message carries it is right

    error: an opening cannot be read: pits and stores hold 49 stones; there are 48
     --> DIR/o.jsonl:3:1
      |
    3 | {"pits":[[4,4,4,4,4,4],[4,4,4,4,4,4]],"stores":[1,0],"turn":1}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a state of the game as a turn message carries it is right

    error: an opening cannot be read: the game is over in it
     --> DIR/o.jsonl:4:1
      |
    4 | {"pits":[[0,0,0,0,0,0],[0,0,0,0,0,0]],"stores":[24,24],"turn":1}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a state of the game as a turn message carries it is right

    error: an opening cannot be read: a state has pits (two lists of six counts), stores (two counts) and turn: the number `3` does not fit: an object is right
     --> DIR/o.jsonl:5:1
      |
    5 | 3
      | ^ a state of the game as a turn message carries it is right
    "##);
    std::fs::write(&openings, "# nothing\n").expect("a file");
    insta::assert_snapshot!(parse(&text).expect_err("no state"), @r##"
    error: `openings` in [event] names a file without a state
     --> DIR/spring.toml:3:12
      |
    3 | openings = "o.jsonl"
      |            ^^^^^^^^^ a file with a JSON state a line is right
    "##);
    let both = text.replace("openings =", "opening_plies = 2\nopenings =");
    insta::assert_snapshot!(parse(&both).expect_err("both").lines().next().unwrap_or_default(), @r##"
    error: `openings` and `opening_plies` in [event] both say where games begin
    "##);
}
