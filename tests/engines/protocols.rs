//! The adapters for UBGI, NBoard and GTP, with engines in Python that check what they are told, and a real one for GTP.

use serde_json::Value;

use crate::common::{Event, Lab, text};
use crate::{engine, hakem, hello, logs, script};

/// Plays an adapter against a built-in bot; its games, all of which ended by the rules.
fn played(lab: &Lab, event: Event, adapter: &[&str]) -> Vec<Value> {
    let hakem = hakem();
    let argv: Vec<&str> = [&*hakem, "adapter"]
        .iter()
        .chain(adapter)
        .copied()
        .collect();
    let event = event.bot("engine", &argv).builtin("random", "random");
    lab.run(&event.write(lab, "event.toml"));
    let games = lab.games("event");
    assert_eq!(lab.verify_records("event"), games.len());
    for game in &games {
        assert_eq!(game["verdict"], "rule", "{game}");
    }
    games
}

fn reversi() -> Event {
    Event::new("reversi").set("event", "games", "6")
}

// ---- Reversi --------------------------------------------------------------------------------------------------------

#[test]
fn gtp_engines_are_told_moves_passes_and_time() {
    let lab = Lab::new();
    let command = ["gtp", "--", "python3", &script("gtp.py")];
    let games = played(&lab, reversi().set("event", "opening_plies", "5"), &command);
    assert_eq!(games.len(), 6);
    let log = logs(&lab);
    for wanted in [
        "time_settings 60 0 0",
        "time_left black 10 0",
        "time_left white 10 0",
    ] {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    assert!(!log.contains("refused"), "{log}");
    // One of these games has a pass.
    let passes = games.iter().filter(|game| {
        let record = std::fs::read_to_string(lab.path("event").join(text(game, "record")))
            .expect("a record");
        record.contains("\"passed\"")
    });
    assert!(
        passes.count() > 0,
        "no game has a pass; choose another seed"
    );
}

#[test]
fn a_real_gtp_engine_plays_at_the_strictest_level() {
    let Some(rhino) = engine("gtp-rhino", "grhino") else {
        return;
    };
    let lab = Lab::new();
    let rhino = rhino.to_str().expect("the path is UTF-8");
    let event = reversi().set("limits", "sandbox", "\"auto\"");
    let games = played(&lab, event, &["gtp", "--", rhino]);
    let won = games
        .iter()
        .filter(|game| game["winner"] == "engine")
        .count();
    assert!(won > 3, "it wins against random moves: {won} of 6");
    assert_eq!(logs(&lab), "");
}

#[test]
fn nboard_engines_are_told_whole_positions() {
    let lab = Lab::new();
    let command = [
        "nboard",
        "--depth",
        "3",
        "--",
        "python3",
        &script("nboard.py"),
    ];
    let games = played(&lab, reversi().set("event", "opening_plies", "4"), &command);
    let record = std::fs::read_to_string(lab.path("event").join(text(&games[0], "record")))
        .expect("a record");
    assert!(
        record.contains("\"Turner3\""),
        "it is called what it calls itself"
    );
    assert_eq!(logs(&lab), "");
}

#[test]
fn both_reversi_protocols_lead_to_the_same_games() {
    let moves = |adapter: &str, file: &str| -> Vec<Value> {
        let lab = Lab::new();
        let mut games = played(&lab, reversi(), &[adapter, "--", "python3", &script(file)]);
        for game in &mut games {
            *game = game["points"].clone();
        }
        games
    };
    assert_eq!(moves("gtp", "gtp.py"), moves("nboard", "nboard.py"));
}

// ---- Backgammon -----------------------------------------------------------------------------------------------------

#[test]
fn ubgi_engines_of_the_draft_are_asked_everything() {
    for board in ["xgid", "fibs"] {
        let lab = Lab::new();
        let event =
            Event::new("tavla")
                .set("event", "games", "4")
                .set("rules", "match_length", "5");
        let (script, hakem) = (script("ubgi.py"), hakem());
        let games = played(
            &lab,
            event,
            &[
                "ubgi", "--board", board, "--", "python3", &script, "draft", &hakem,
            ],
        );
        assert!(games.len() > 4);
        assert_eq!(logs(&lab), "");
    }
}

#[test]
fn ubgi_engines_are_asked_about_beavers_and_raccoons() {
    let lab = Lab::new();
    let event = Event::new("tavla")
        .set("event", "games", "4")
        .set("rules", "games", "5")
        .set("rules", "jacoby", "true")
        .set("rules", "beavers", "true");
    let (script, hakem) = (script("ubgi.py"), hakem());
    let games = played(
        &lab,
        event,
        &["ubgi", "--", "python3", &script, "draft", &hakem],
    );
    let beavers = games.iter().filter(|game| {
        let record = std::fs::read_to_string(lab.path("event").join(text(game, "record")))
            .expect("a record");
        record.contains("\"move\":\"beaver\"")
    });
    assert!(
        beavers.count() > 0,
        "no game has a beaver; choose another seed"
    );
    assert_eq!(logs(&lab), "");
}

#[test]
fn ubgi_engines_of_the_other_form_play_without_a_cube() {
    let lab = Lab::new();
    let event = Event::new("tavla")
        .set("event", "games", "4")
        .set("rules", "match_length", "2")
        .set("rules", "cube", "false");
    let (script, hakem) = (script("ubgi.py"), hakem());
    played(
        &lab,
        event,
        &["ubgi", "--", "python3", &script, "commands", &hakem],
    );
    assert_eq!(logs(&lab), "");
    lab.hakem_fed(
        &[
            "adapter", "ubgi", "--", "python3", &script, "commands", &hakem,
        ],
        &hello("tavla", "{}"),
    )
    .exits(2)
    .says(&["cube = false"]);
}

// ---- Faults ---------------------------------------------------------------------------------------------------------

#[test]
fn the_list_names_every_adapter_and_its_options() {
    let lab = Lab::new();
    let list = lab.hakem(["adapter", "--list"]).exits(0);
    for word in ["gnubg", "--level", "ubgi", "nboard", "--depth", "gtp"] {
        assert!(list.stdout.contains(word), "{word}: {list}");
    }
    lab.hakem(["adapter"]).exits(2).says(&["--list", "gtp"]);
    lab.hakem(["adapter", "nobody"]).exits(2).says(&["nobody"]);
    lab.hakem(["adapter", "gtp"]).exits(2).says(&["COMMAND"]);
}

#[test]
fn engines_that_are_missing_or_end_are_told() {
    let lab = Lab::new();
    for (adapter, game) in [("ubgi", "tavla"), ("nboard", "reversi"), ("gtp", "reversi")] {
        lab.hakem_fed(
            &["adapter", adapter, "--", "no-such-engine"],
            &hello(game, "{}"),
        )
        .exits(2)
        .says(&["no-such-engine", "search path"]);
        lab.hakem_fed(&["adapter", adapter, "--", "false"], &hello(game, "{}"))
            .exits(3)
            .says(&["false ended with exit code 1"]);
        lab.hakem_fed(&["adapter", adapter, "--", "false"], &hello("oware", "{}"))
            .exits(2)
            .says(&[adapter, game, "oware"]);
    }
}

#[test]
fn an_answer_that_is_not_legal_is_told_and_never_played() {
    let lab = Lab::new();
    let engine = "import sys\nfor line in sys.stdin:\n word = line.split()[0]\n if word == 'ping': print('pong', line.split()[1])\n if word == 'go': print('=== A1')\n sys.stdout.flush()\n";
    let turn = "{\"type\":\"turn\",\"id\":1,\"seat\":0,\"ask\":\"move\",\"legal\":[\"d3\",\"c4\",\"f5\",\"e6\"],\"last\":[],\"clock\":{\"left_ms\":[null,null],\
                \"limit_ms\":null},\"state\":{\"board\":[\"........\",\"........\",\"........\",\"...ox...\",\"...xo...\",\"........\",\"........\",\"........\"],\"turn\":0}}\n";
    let input = hello("reversi", "{}") + turn;
    let ran = lab
        .hakem_fed(
            &["adapter", "nboard", "--", "python3", "-c", engine],
            &input,
        )
        .exits(3)
        .says(&["nboard", "\"a1\"", "not legal"]);
    assert_eq!(ran.stdout.lines().count(), 1, "only `ready`: {ran}");
}

#[test]
fn a_position_that_gtp_cannot_be_told_is_refused() {
    let lab = Lab::new();
    let start = "{\"type\":\"start\",\"game_id\":\"r1.m1.g1\",\"seat\":0,\"names\":[\"a\",\"b\"],\"first\":0,\"rules\":{},\"match\":{\"game\":1,\"score\":[0,0]},\
                 \"state\":{\"board\":[\"x.......\",\"........\",\"........\",\"...ox...\",\"...xo...\",\"........\",\"........\",\"........\"],\"turn\":0}}\n";
    let input = hello("reversi", "{}") + start;
    lab.hakem_fed(
        &["adapter", "gtp", "--", "python3", &script("gtp.py")],
        &input,
    )
    .exits(2)
    .says(&["sets up no position"]);
}
