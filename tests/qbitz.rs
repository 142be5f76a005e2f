//! Q-Bitz from outside: real processes race.
#![cfg(feature = "runner")]

mod common;

use common::{Event, Lab, text};
use serde_json::{Value, json};

/// A race between built-in bots: `seats - 1` slow ones against a fast one.
fn race(seats: usize, kind: &str) -> Event {
    let mut event = Event::new("qbitz")
        .set("event", "seats", &seats.to_string())
        .set("event", "games", &seats.to_string())
        .set("rules", "race", &format!("\"{kind}\""))
        .set("rules", "target_points", "2")
        .builtin("fast", "hizli");
    for slow in 1..seats {
        event = event
            .builtin(&format!("slow-{slow}"), "yavas")
            .with("options = { delay_ms = 300 }");
    }
    event
}

/// Every game was ended by the rules and won by this bot.
#[track_caller]
fn assert_won(games: &[Value], winner: &str) {
    for game in games {
        assert_eq!(text(game, "winner"), winner, "{game}");
        assert_eq!(
            (text(game, "verdict"), text(game, "reason")),
            ("rule", "target"),
            "{game}"
        );
        assert_eq!(game["against"], Value::Null);
    }
}

fn the_fast_one_wins(kind: &str) {
    for seats in 2..=4 {
        let lab = Lab::new();
        lab.run(&race(seats, kind).write(&lab, "race.toml"));
        let games = lab.games("race");
        assert_eq!(games.len(), seats, "each bot once on each seat");
        assert_won(&games, "fast");
        assert_eq!(lab.verify_records("race"), seats);
        let standings = lab.standings("race");
        assert_eq!(standings[0]["points"], json!(seats), "{standings}");
        lab.assert_no_process_is_left();
    }
}

#[test]
fn two_three_and_four_race_together() {
    the_fast_one_wins("together");
}

#[test]
fn two_three_and_four_race_one_after_the_other() {
    the_fast_one_wins("in-turn");
}

#[test]
fn a_duel_seats_all_bots_at_one_table() {
    for rule in ["race=together", "race=in-turn"] {
        let lab = Lab::new();
        let duel = [
            "duel",
            "--game",
            "qbitz",
            "--rule",
            rule,
            "--rule",
            "target_points=1",
        ];
        let bots = [
            "builtin:hizli",
            "builtin:yavas",
            "builtin:yavas",
            "builtin:yavas",
        ];
        for seats in 2..=4 {
            let args = duel.iter().chain(&bots[..seats]);
            let ran = lab.hakem(args.chain(&["--format", "json"])).exits(0);
            let standings = ran.json();
            assert_eq!(standings.as_array().map(Vec::len), Some(seats));
            assert_eq!(standings[0]["played"], json!(seats), "{standings}");
        }
        // Or two by two.
        let pairs = duel.iter().chain(&["--seats", "2"]).chain(&bots[..3]);
        let ran = lab.hakem(pairs.chain(&["--format", "json"])).exits(0);
        assert_eq!(ran.json()[0]["played"], 4);
    }
}

#[test]
fn more_bots_than_seats_meet_at_every_table() {
    let lab = Lab::new();
    let mut event = Event::new("qbitz")
        .set("event", "seats", "3")
        .set("event", "games", "3")
        .set("rules", "rounds", "1");
    for name in ["a", "b", "c", "d"] {
        event = event.builtin(name, "hizli");
    }
    lab.run(&event.write(&lab, "race.toml"));
    let games = lab.games("race");
    assert_eq!(games.len(), 12, "four tables, three times each");
    let standings = lab.standings("race");
    for row in standings.as_array().expect("rows") {
        assert_eq!(row["played"], 9, "{row}");
    }
    let points: f64 = (0..4)
        .map(|row| standings[row]["points"].as_f64().expect("points"))
        .sum();
    assert!(
        (points - 12.0).abs() < 1e-3,
        "each match is shared out: {points}"
    );
}

#[test]
fn of_three_a_bot_that_falls_leaves_the_others_to_play_on() {
    for (fault, verdict, reason) in [
        (vec!["--crash", "--exit-code", "3"], "crash", "exit 3"),
        (vec!["--illegal"], "illegal_move", "illegal_move"),
        (vec!["--flood-stdout"], "flood", "line_too_long"),
    ] {
        let lab = Lab::new();
        // Nobody is fast: its fault shall not come too late to matter.
        let event = Event::new("qbitz")
            .set("event", "seats", "3")
            .set("event", "games", "3")
            .set("rules", "target_points", "2")
            .builtin("fast", "yavas")
            .with("options = { delay_ms = 150 }")
            .builtin("slow", "yavas")
            .with("options = { delay_ms = 900 }")
            .mock("broken", &[fault.as_slice(), &["--at", "1"]].concat());
        lab.run(&event.write(&lab, "race.toml"));
        for game in lab.games("race") {
            assert_eq!(text(&game, "winner"), "fast", "{game}");
            assert_eq!(
                (text(&game, "verdict"), text(&game, "against")),
                (verdict, "broken"),
                "{game}"
            );
            assert!(text(&game, "reason").starts_with(reason), "{game}");
        }
        lab.verify_records("race");
        let show = lab.hakem(["show", "race", "r1.m1.g1"]).exits(0);
        assert!(show.stdout.contains("broken forfeits"), "{show}");
        assert!(show.stdout.contains("fast wins the round"), "{show}");
        lab.assert_no_process_is_left();
    }
}

#[test]
fn of_two_a_bot_that_falls_loses_to_one_that_never_answers() {
    let lab = Lab::new();
    let event = Event::new("qbitz")
        .mock("broken", &["--bad-json", "--at", "1"])
        .mock("silent", &["--stall", "--at", "1"]);
    lab.run(&event.write(&lab, "race.toml"));
    for game in lab.games("race") {
        assert_eq!(text(&game, "winner"), "silent", "{game}");
        assert_eq!(text(&game, "reason").split(':').next(), Some("bad_json"));
    }
    lab.assert_no_process_is_left();
}

#[test]
fn answers_that_come_too_late_do_no_harm() {
    let lab = Lab::new();
    // It answers every question, long after it was withdrawn, and reads nothing meanwhile.
    let event = Event::new("qbitz")
        .set("rules", "target_points", "3")
        .builtin("fast", "hizli")
        .mock("late", &["--think-us", "400000"]);
    lab.run(&event.write(&lab, "race.toml"));
    assert_won(&lab.games("race"), "fast");
    lab.verify_records("race");
}

#[test]
fn the_time_of_the_round_is_nobodys_loss() {
    let lab = Lab::new();
    let event = Event::new("qbitz")
        .set("rules", "round_ms", "20")
        .set("rules", "rounds", "3")
        .set("event", "seats", "3")
        .set("event", "games", "3")
        .mock("late", &["--think-us", "60000"])
        .mock("later", &["--think-us", "90000"])
        .mock("silent", &["--no-read", "--at", "1"]);
    lab.run(&event.write(&lab, "race.toml"));
    for game in lab.games("race") {
        assert_eq!(game["winner"], Value::Null, "{game}");
        assert_eq!(
            (text(&game, "verdict"), text(&game, "reason")),
            ("rule", "rounds"),
            "{game}"
        );
        assert_eq!(game["points"], json!([0, 0, 0]));
    }
    lab.verify_records("race");
    let show = lab.hakem(["show", "race", "r1.m1.g1"]).exits(0);
    assert!(
        show.stdout.contains("is stopped, the time is over"),
        "{show}"
    );
    assert!(show.stdout.contains("nobody was right in time"), "{show}");
}

#[test]
fn the_starter_bot_lays_every_card() {
    let lab = Lab::new();
    let starter = concat!(env!("CARGO_MANIFEST_DIR"), "/bots/python/starter.py");
    let event = Event::new("qbitz")
        .set("rules", "target_points", "4")
        .bot("starter", &["python3", starter])
        .builtin("slow", "yavas")
        .with("options = { delay_ms = 2000 }");
    lab.run(&event.write(&lab, "race.toml"));
    assert_won(&lab.games("race"), "starter");
}

#[test]
fn what_cannot_be_raced_is_said_before_the_first_game() {
    let lab = Lab::new();
    let duel = |more: &[&str]| {
        let args = [&["duel", "--game", "qbitz"], more].concat();
        lab.hakem(args).exits(2)
    };
    duel(&["builtin:hizli", "builtin:first"]).says(&["first", "lists legal answers, not qbitz"]);
    duel(&["--seats", "5", "builtin:hizli", "builtin:hizli"]).says(&["2 to 4"]);
    duel(&["--seats", "3", "builtin:hizli", "builtin:yavas"]).says(&["at least three bots"]);
    lab.hakem(["perft", "--game", "qbitz", "--depth", "2"])
        .exits(2)
        .says(&["Q-Bitz is a race"]);
}
