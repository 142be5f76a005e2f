//! `hello` and `ready`, in every order and with every fault.

use hakem::clock::Spent;
use hakem::event::Verdict;
use hakem::referee::FaultKind;
use serde_json::{Value, json};

use super::sim::{Scene, Sim, last_stone, wall};

/// A way to fail the handshake.
type Failure = (&'static str, fn(&mut Sim, usize), Verdict, &'static str);

/// Every way, with the verdict and the reason.
const FAILURES: [Failure; 17] = [
    (
        "text",
        |sim, seat| sim.line(seat, b"loading...", Spent::default()),
        Verdict::NoReady,
        "bad_json",
    ),
    (
        "a list",
        |sim, seat| sim.line(seat, b"[1]", Spent::default()),
        Verdict::NoReady,
        "bad_message",
    ),
    (
        "no type",
        |sim, seat| sim.say(seat, &json!({"protocol": 1})),
        Verdict::NoReady,
        "bad_message",
    ),
    (
        "no UTF-8",
        |sim, seat| sim.line(seat, b"{\"type\":\"\xff\"}", Spent::default()),
        Verdict::NoReady,
        "not_utf8",
    ),
    (
        "a move",
        |sim, seat| sim.say(seat, &json!({"type": "move", "id": 1, "move": 3})),
        Verdict::NoReady,
        "unasked",
    ),
    (
        "a pong",
        |sim, seat| sim.say(seat, &json!({"type": "pong", "id": 1})),
        Verdict::NoReady,
        "unasked",
    ),
    (
        "version 2",
        |sim, seat| sim.say_ready(seat, &json!({"protocol": 2})),
        Verdict::NoReady,
        "protocol_version",
    ),
    (
        "version null",
        |sim, seat| sim.say_ready(seat, &json!({"protocol": null})),
        Verdict::NoReady,
        "bad_message",
    ),
    (
        "a number as name",
        |sim, seat| sim.say_ready(seat, &json!({"name": 7})),
        Verdict::NoReady,
        "bad_message",
    ),
    (
        "a text as switch",
        |sim, seat| sim.say_ready(seat, &json!({"legal": "no"})),
        Verdict::NoReady,
        "bad_message",
    ),
    (
        "nothing at all",
        |sim, seat| {
            sim.time_out(seat);
        },
        Verdict::NoReady,
        "timeout",
    ),
    (
        "too late",
        |sim, seat| ready_in(sim, seat, 10_000_001),
        Verdict::NoReady,
        "timeout",
    ),
    ("a flood", Sim::flood, Verdict::Flood, "line_too_long"),
    (
        "exit 0",
        |sim, seat| sim.gone(seat, FaultKind::Exit(0)),
        Verdict::Crash,
        "exit 0",
    ),
    (
        "exit 3",
        |sim, seat| sim.gone(seat, FaultKind::Exit(3)),
        Verdict::Crash,
        "exit 3",
    ),
    (
        "signal 11",
        |sim, seat| sim.gone(seat, FaultKind::Signal(11)),
        Verdict::Crash,
        "signal 11",
    ),
    (
        "a closed pipe",
        |sim, seat| sim.gone(seat, FaultKind::ClosedPipe),
        Verdict::Crash,
        "closed_pipe",
    ),
];

fn ready_in(sim: &mut Sim, seat: usize, wall_us: u64) {
    sim.line(seat, br#"{"type":"ready","protocol":1}"#, wall(wall_us));
}

fn sets(number: u32) -> Scene {
    Scene::new("mangala").rules(json!({"sets": number}))
}

#[test]
fn a_game_begins_when_both_have_said_ready_in_either_order() {
    for first in 0..2 {
        let mut sim = sets(1).begin();
        assert_eq!([sim.heard(0), sim.heard(1)], [["hello"], ["hello"]]);
        sim.ready(first);
        assert_eq!([sim.heard(0), sim.heard(1)], [[""; 0], [""; 0]]);
        sim.ready(1 - first);
        let on_turn = sim.on_turn().expect("a seat is asked");
        assert_eq!(sim.heard(on_turn), ["start r1.m1.g1", "turn 1 move"]);
        assert_eq!(sim.heard(1 - on_turn), ["start r1.m1.g1"]);
    }
}

#[test]
fn hello_tells_the_game_every_option_the_clock_and_the_bots_own_options() {
    let mut sim = sets(3)
        .clock(|clock| {
            clock.main_us = Some(60_000_999);
            clock.increment_us = 100_000;
            clock.margin_us = 77_000;
        })
        .begin();
    let hello = &sim.messages(1)[0];
    assert_eq!(hello["rules"], json!({"sets": 3, "rematch_on_draw": false}));
    assert_eq!(
        hello["clock"],
        json!({"kind": "wall", "main_ms": 60000, "increment_ms": 100, "move_ms": 5000, "delay_ms": 0}),
        "the margin is not shown"
    );
    assert_eq!(hello["options"], json!({"of": "bora"}));
    assert_eq!(
        (&hello["protocol"], &hello["game"]),
        (&json!(1), &json!("mangala"))
    );
}

#[test]
fn a_failed_handshake_loses_the_match_whoever_fails_and_when() {
    for (what, fail, verdict, reason) in FAILURES {
        for seat in 0..2 {
            for first in [true, false] {
                let mut sim = sets(3).begin();
                sim.forget();
                if !first {
                    sim.ready(1 - seat);
                }
                fail(&mut sim, seat);
                if first {
                    sim.goes_on();
                    sim.ready(1 - seat);
                }
                let result = sim.lost(seat, verdict, reason);
                assert_eq!((result.moves, result.id.game), (0, 1), "{what}");
                let over = sim.match_won_by(1 - seat);
                assert_eq!(over.games, 1, "{what}: games not played count for nothing");
                assert_eq!(sim.heard(1 - seat), ["end r1.m1.g1", "bye"], "{what}");
                let heard = sim.heard(seat);
                if verdict == Verdict::Crash {
                    assert_eq!(heard, [""; 0], "{what}: the dead are told nothing");
                } else {
                    let error = format!("error {reason} fatal");
                    assert_eq!(heard[0], error, "{what}");
                    assert!(
                        heard[1..].iter().all(|message| message == "bye"),
                        "{what}: {heard:?}"
                    );
                }
                assert!(sim.table.is_done(), "{what}");
            }
        }
    }
}

#[test]
fn a_handshake_that_has_failed_is_not_mended_by_what_is_said_later() {
    for (what, fail, verdict, reason) in FAILURES {
        if verdict == Verdict::Crash {
            continue;
        }
        for seat in 0..2 {
            let mut sim = sets(3).begin();
            fail(&mut sim, seat);
            sim.ready(seat);
            sim.line(seat, b"more noise", Spent::default());
            sim.flood(seat);
            sim.ready(1 - seat);
            sim.lost(seat, verdict, reason);
            assert_eq!(sim.match_won_by(1 - seat).games, 1, "{what}");
        }
    }
}

#[test]
fn where_both_handshakes_fail_the_lowest_seat_loses_in_every_order() {
    for (_, fail, verdict, reason) in FAILURES {
        for (_, other, ..) in FAILURES {
            for first in 0..2 {
                let mut sim = sets(3).begin();
                for seat in [first, 1 - first] {
                    if seat == 0 {
                        fail(&mut sim, seat);
                    } else {
                        other(&mut sim, seat);
                    }
                }
                sim.lost(0, verdict, reason);
                sim.match_won_by(1);
                assert!(sim.table.is_done());
            }
        }
    }
}

#[test]
fn a_handshake_that_fails_after_a_forfeit_loses_the_match_as_well() {
    for (what, fail, verdict, reason) in FAILURES {
        let mut sim = sets(5).greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        sim.play(seat, 9);
        sim.lost(seat, Verdict::IllegalMove, "illegal_move");
        sim.answer_honestly(1 - seat);
        assert_eq!(sim.chairs[seat].starts, 2, "{what}: it is started anew");
        fail(&mut sim, seat);
        let result = sim.lost(seat, verdict, reason);
        assert_eq!(result.id.game, 2, "{what}");
        assert_eq!(sim.match_won_by(1 - seat).games, 2, "{what}");
    }
}

#[test]
fn ready_at_the_limit_is_in_time_and_a_microsecond_later_it_is_not() {
    for (wall_us, in_time) in [(9_999_999, true), (10_000_000, true), (10_000_001, false)] {
        let mut sim = sets(1).begin();
        sim.ready(0);
        ready_in(&mut sim, 1, wall_us);
        assert_eq!(sim.on_turn().is_some(), in_time, "{wall_us}");
    }
}

#[test]
fn a_look_at_an_open_hello_is_only_a_look() {
    let mut sim = sets(1).begin();
    assert_eq!(sim.chairs[0].wake, Some(10_000_001));
    for wall_us in [0, 1, 9_000_000, 10_000_000, 10_000_000] {
        sim.look(0, wall(wall_us));
        assert_eq!(sim.open(0), Some("hello"), "after {wall_us}");
        assert!(
            sim.chairs[0].wake.is_some_and(|wake| wake > wall_us),
            "after {wall_us}"
        );
    }
    assert_eq!(sim.time_out(0), (1, 10_000_001));
    sim.look(0, wall(20_000_000));
    sim.ready(1);
    sim.lost(0, Verdict::NoReady, "timeout");
}

#[test]
fn a_failed_handshake_waits_for_the_other_seat_and_no_longer() {
    let mut sim = sets(1).begin();
    sim.gone(0, FaultKind::Exit(1));
    sim.goes_on();
    assert_eq!(
        sim.chairs[0].starts, 1,
        "it is not started again before it is judged"
    );
    sim.time_out(1);
    sim.lost(0, Verdict::Crash, "exit 1");
}

#[test]
fn a_second_ready_is_unasked_and_judged_when_the_seat_is_asked_in_either_order() {
    for seat in 0..2 {
        for early in [true, false] {
            let mut sim = sets(2).begin();
            sim.forget();
            if !early {
                sim.ready(1 - seat);
            }
            // In one piece, so that the second was there before any question.
            sim.write(
                seat,
                b"{\"type\":\"ready\",\"protocol\":1}\n{\"type\":\"ready\",\"protocol\":1}\n",
                Spent::default(),
            );
            if early {
                sim.ready(1 - seat);
            }
            sim.go_on_while(|sim| sim.games.is_empty());
            let result = sim.lost(seat, Verdict::BadMessage, "unasked");
            assert!(result.moves <= 2, "it is judged when it is first asked");
            let heard = sim.heard(seat);
            assert!(heard.contains(&"start r1.m1.g1".to_owned()), "{heard:?}");
            assert!(
                heard.contains(&"error unasked fatal".to_owned()),
                "{heard:?}"
            );
        }
    }
}

#[test]
fn a_second_ready_of_a_bot_that_was_started_anew_is_unasked_as_well() {
    for early in [true, false] {
        let mut sim = sets(3).greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        sim.play(seat, 9);
        sim.over();
        if !early {
            sim.answer_honestly(1 - seat);
        }
        sim.write(
            seat,
            b"{\"type\":\"ready\",\"protocol\":1}\n{\"type\":\"ready\",\"protocol\":1}\n",
            Spent::default(),
        );
        sim.go_on_while(|sim| sim.games.len() < 2);
        sim.lost(seat, Verdict::BadMessage, "unasked");
        sim.match_won_by(1 - seat);
    }
}

#[test]
fn names_are_for_display_and_the_events_stand_in_for_blank_ones() {
    let long = "x".repeat(70);
    let cases: [(Value, &str); 7] = [
        (json!({"name": "  Kuyu "}), "Kuyu"),
        (json!({"name": "  "}), "bora"),
        (json!({"name": ""}), "bora"),
        (json!({"name": null}), "bora"),
        (json!({"name": "\u{200b}\u{feff}\u{7}"}), "bora"),
        (json!({"name": long}), &long[..64]),
        (json!({"name": "ADA"}), "ADA"),
    ];
    for (ready, shown) in cases {
        let mut sim = sets(1).begin();
        sim.ready(0);
        sim.say_ready(1, &ready);
        let start = sim.messages(0).pop().expect("a start or a turn");
        let start = if start["type"] == "turn" {
            sim.messages(1).pop().expect("a start")
        } else {
            start
        };
        assert_eq!(start["names"], json!(["ADA", shown]), "{ready}");
    }
}

#[test]
fn each_session_greets_anew_and_its_switches_hold_for_it_alone() {
    let mut sim = sets(3).greeted_with([(); 2].map(|()| json!({"legal": false, "history": true})));
    let seat = sim.on_turn().expect("a seat is asked");
    assert!(sim.turn(seat).get("legal").is_none());
    assert_eq!(sim.turn(seat)["history"], json!([]));
    sim.play(seat, 9);
    sim.ready(seat);
    sim.answer_honestly(1 - seat);
    sim.go_on_while(|sim| sim.on_turn() != Some(seat));
    assert!(sim.turn(seat).get("legal").is_some());
    assert!(sim.turn(seat).get("history").is_none());
}

#[test]
fn a_match_that_is_lost_before_its_first_game_needs_no_position() {
    // The opening ends at once; the handshake is judged before it.
    let mut sim = sets(2).opening(last_stone(0, [25, 23])).begin();
    sim.gone(1, FaultKind::Exit(1));
    sim.ready(0);
    sim.lost(1, Verdict::Crash, "exit 1");
    sim.match_won_by(0);
}
