//! A part of the referee fails: a panic in one game.

use std::ffi::OsStr;

use crate::common::{Lab, of_bot, text};
use crate::tools::{all_by_the_rules, thinkers};

#[test]
fn a_panic_in_a_game_costs_that_match_only_and_the_same_command_plays_it() {
    let lab = Lab::new();
    let event = thinkers(0)
        .set("event", "games", "4")
        .mock("three", &["--pick", "hash:3"]);
    let file = event.write(&lab, "event.toml");
    let whole = lab.path("whole");
    lab.hakem([
        OsStr::new("run"),
        file.as_os_str(),
        OsStr::new("--out"),
        whole.as_os_str(),
    ])
    .exits(0);
    let expected = all_by_the_rules(&lab, "whole", 12);
    let mut command = lab.command([OsStr::new("run"), file.as_os_str()]);
    command.env("HAKEM_TEST_FAILS_IN", "r1.m2.g1");
    // Neither the words of a panic nor its place are shown but as part of an error that says what to do.
    let ran = crate::common::finish(command).exits(3).says(&[
        "by a fault of hakem: please report it",
        "r1.m2.g1: the referee itself failed in this game",
        "the same command goes on",
    ]);
    assert!(!ran.stderr.contains("RUST_BACKTRACE"), "{ran}");
    lab.assert_no_process_is_left();
    // It stands there as void; all others were played.
    for game in lab.games("event") {
        let verdict = if game["id"] == "r1.m2.g1" {
            "void"
        } else {
            "rule"
        };
        assert_eq!(text(&game, "verdict"), verdict, "{game}");
    }
    lab.run(&file);
    let games = all_by_the_rules(&lab, "event", 12);
    for (game, before) in games.iter().zip(&expected) {
        for key in ["id", "seats", "score", "points", "reason", "moves"] {
            assert_eq!(game[key], before[key]);
        }
    }
    assert_eq!(of_bot(&games, "three").len(), 8);
}
