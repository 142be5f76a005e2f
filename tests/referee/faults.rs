//! What a bot does wrong while nothing is asked of it, and faults of both seats at once.

use hakem::clock::Spent;
use hakem::event::Verdict;
use hakem::referee::FaultKind;
use serde_json::{Value, json};

use super::sim::{Process, Scene, Sim, last_stone};

/// A match of five sets with seat 0 on turn and many moves to go.
fn scene() -> Scene {
    let state =
        json!({"pits": [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]], "stores": [0, 0], "turn": 0});
    Scene::new("mangala")
        .rules(json!({"sets": 5}))
        .opening(state)
}

/// A match of five sets in which the move of seat 0 ends the game.
fn short_scene() -> Scene {
    scene().opening(last_stone(0, [25, 23]))
}

/// Something done wrong: what, how, and the verdict with its reason.
type Wrong = (&'static str, fn(&mut Sim, usize), Verdict, &'static str);

fn stray(sim: &mut Sim, seat: usize) {
    sim.say(seat, &json!({"type": "move", "id": 2, "move": 1}));
}

/// Lines that nobody asked for.
const STRAY: [Wrong; 4] = [
    ("a move", stray, Verdict::BadMessage, "unasked"),
    (
        "a text",
        |sim, seat| sim.line(seat, b"hmm", Spent::default()),
        Verdict::BadMessage,
        "unasked",
    ),
    ("a ready", Sim::ready, Verdict::BadMessage, "unasked"),
    (
        "bytes",
        |sim, seat| sim.line(seat, b"\xff\xfe", Spent::default()),
        Verdict::BadMessage,
        "unasked",
    ),
];

/// What is worse than a stray line: it is judged whenever there is something to lose.
const GRAVE: [Wrong; 5] = [
    ("a flood", Sim::flood, Verdict::Flood, "line_too_long"),
    (
        "exit 0",
        |sim, seat| sim.gone(seat, FaultKind::Exit(0)),
        Verdict::Crash,
        "exit 0",
    ),
    (
        "exit 5",
        |sim, seat| sim.gone(seat, FaultKind::Exit(5)),
        Verdict::Crash,
        "exit 5",
    ),
    (
        "signal 9",
        |sim, seat| sim.gone(seat, FaultKind::Signal(9)),
        Verdict::Crash,
        "signal 9",
    ),
    (
        "a closed pipe",
        |sim, seat| sim.gone(seat, FaultKind::ClosedPipe),
        Verdict::Crash,
        "closed_pipe",
    ),
];

/// What the seat on turn may do wrong.
const ON_TURN: [Wrong; 7] = [
    (
        "illegal",
        |sim, seat| sim.play(seat, 9),
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        "wrong id",
        |sim, seat| sim.say(seat, &json!({"type": "move", "id": 77, "move": 1})),
        Verdict::BadMessage,
        "wrong_id",
    ),
    (
        "late",
        |sim, seat| {
            sim.time_out(seat);
        },
        Verdict::Timeout,
        "timeout",
    ),
    ("a flood", Sim::flood, Verdict::Flood, "line_too_long"),
    (
        "exit 1",
        |sim, seat| sim.gone(seat, FaultKind::Exit(1)),
        Verdict::Crash,
        "exit 1",
    ),
    (
        "signal 6",
        |sim, seat| sim.gone(seat, FaultKind::Signal(6)),
        Verdict::Crash,
        "signal 6",
    ),
    (
        "a closed pipe",
        |sim, seat| sim.gone(seat, FaultKind::ClosedPipe),
        Verdict::Crash,
        "closed_pipe",
    ),
];

fn idle() -> impl Iterator<Item = Wrong> {
    STRAY.into_iter().chain(GRAVE)
}

fn is_stray(reason: &str) -> bool {
    reason == "unasked"
}

#[test]
fn a_fault_in_the_others_time_is_judged_when_the_seat_is_asked() {
    for (what, wrong, verdict, reason) in idle() {
        let mut sim = scene().greeted();
        wrong(&mut sim, 1);
        sim.goes_on();
        // Pit 4 gives another move: the seat is not asked yet.
        sim.play(0, 4);
        sim.goes_on();
        sim.forget();
        sim.play(0, 1);
        let result = sim.lost(1, verdict, reason);
        assert_eq!(result.moves, 2, "{what}: the answers before it count");
        assert_eq!(sim.heard(0), ["end r1.m1.g1", "ping 3"], "{what}");
        let heard = sim.heard(1);
        if verdict == Verdict::Crash {
            assert_eq!(heard, ["hello"], "{what}: the dead are told nothing");
        } else {
            assert_eq!(
                heard[..2],
                [format!("error {reason} fatal"), "end r1.m1.g1".into()],
                "{what}"
            );
        }
        // The match goes on with a bot started anew.
        assert_eq!(sim.chairs[1].starts, 2, "{what}");
        sim.go_on_to_game(2);
        assert_eq!(sim.chairs[0].starts, 1, "{what}");
    }
}

#[test]
fn a_stray_line_does_no_harm_once_the_game_is_over() {
    for (what, wrong, ..) in STRAY {
        let mut sim = short_scene().greeted();
        wrong(&mut sim, 1);
        sim.forget();
        sim.play(0, 6);
        assert_eq!(sim.over().verdict, Verdict::Rule, "{what}");
        let heard = sim.heard(1);
        assert_eq!(heard, ["end r1.m1.g1", "error unasked", "ping 1"], "{what}");
        sim.go_on_to_game(2);
        assert_eq!(sim.chairs[1].starts, 1, "{what}");
    }
}

#[test]
fn what_is_worse_than_a_stray_line_loses_the_next_game() {
    for (what, wrong, verdict, reason) in GRAVE {
        let mut sim = short_scene().greeted();
        wrong(&mut sim, 1);
        sim.play(0, 6);
        assert_eq!(sim.over().verdict, Verdict::Rule, "{what}");
        sim.goes_on();
        sim.answer_honestly(0);
        let result = sim.lost(1, verdict, reason);
        assert_eq!((result.id.game, result.moves), (2, 0), "{what}");
        sim.go_on_to_game(3);
        assert_eq!(sim.chairs[1].starts, 2, "{what}");
    }
}

#[test]
fn a_line_between_end_and_start_is_only_noted_whatever_is_open() {
    for (what, wrong, ..) in STRAY {
        for answered in [false, true] {
            let mut sim = short_scene().greeted();
            sim.play(0, 6);
            sim.over();
            if answered {
                sim.answer_honestly(1);
            }
            sim.forget();
            wrong(&mut sim, 1);
            wrong(&mut sim, 1);
            assert_eq!(sim.heard(1), ["error unasked", "error unasked"], "{what}");
            sim.goes_on();
            assert_eq!(
                sim.open(1),
                (!answered).then_some("ping"),
                "{what}: the ping stays open"
            );
            sim.go_on_to_game(2);
        }
    }
}

#[test]
fn a_line_after_the_last_end_comes_too_late_to_matter() {
    for (_, wrong, ..) in idle() {
        let mut sim = short_scene().rules(json!({"sets": 1})).greeted();
        sim.prompt = false;
        sim.play(0, 6);
        sim.match_won_by(0);
        sim.forget();
        for seat in 0..2 {
            assert_eq!(sim.chairs[seat].process, Process::Leaving);
            wrong(&mut sim, seat);
        }
        assert_eq!([sim.heard(0), sim.heard(1)], [[""; 0], [""; 0]]);
        sim.ended(1);
        assert!(!sim.table.is_done());
        sim.ended(0);
        assert!(sim.table.is_done());
    }
}

#[test]
fn a_bot_that_is_leaving_can_do_nothing_wrong() {
    for (what, wrong, ..) in idle() {
        let mut sim = scene().greeted();
        sim.prompt = false;
        sim.play(0, 9);
        sim.lost(0, Verdict::IllegalMove, "illegal_move");
        sim.answer_honestly(1);
        wrong(&mut sim, 0);
        sim.goes_on();
        assert_eq!(
            sim.chairs[0].starts, 1,
            "{what}: not before the old one has left"
        );
        sim.ended(0);
        assert_eq!(sim.chairs[0].starts, 2, "{what}");
        sim.go_on_to_game(2);
        sim.goes_on();
    }
}

#[test]
fn of_two_faults_of_one_seat_the_first_counts() {
    for (what, first, verdict, reason) in idle() {
        for (_, second, ..) in idle() {
            let mut sim = scene().greeted();
            first(&mut sim, 1);
            second(&mut sim, 1);
            sim.play(0, 1);
            assert_eq!(sim.lost(1, verdict, reason).moves, 1, "{what}");
            sim.go_on_to_game(2);
        }
    }
}

#[test]
fn a_stray_line_that_is_forgiven_hides_nothing_worse() {
    for (what, wrong, verdict, reason) in GRAVE {
        for stray_first in [true, false] {
            let mut sim = short_scene().greeted();
            if stray_first {
                stray(&mut sim, 1);
            }
            wrong(&mut sim, 1);
            if !stray_first {
                stray(&mut sim, 1);
            }
            sim.play(0, 6);
            assert_eq!(sim.over().verdict, Verdict::Rule, "{what}");
            sim.answer_honestly(0);
            assert_eq!(sim.lost(1, verdict, reason).id.game, 2, "{what}");
            sim.go_on_to_game(3);
        }
    }
}

#[test]
fn of_two_faults_at_once_the_seat_on_turn_loses_in_either_order() {
    for (what, on_turn, verdict, reason) in ON_TURN {
        for (other, wrong, idle_verdict, idle_reason) in idle() {
            for idle_first in [true, false] {
                let mut sim = scene().greeted();
                if idle_first {
                    wrong(&mut sim, 1);
                }
                on_turn(&mut sim, 0);
                sim.lost(0, verdict, reason);
                if !idle_first {
                    wrong(&mut sim, 1);
                }
                sim.go_on_while(|sim| sim.games.len() == 1 && sim.on_turn().is_none());
                if is_stray(idle_reason) {
                    sim.goes_on();
                    assert_eq!(sim.table.game_id().game, 2, "{what}, {other}");
                } else {
                    let result = sim.lost(1, idle_verdict, idle_reason);
                    assert_eq!((result.id.game, result.moves), (2, 0), "{what}, {other}");
                    sim.go_on_to_game(3);
                }
            }
        }
    }
}

#[test]
fn of_two_that_are_gone_between_games_the_lowest_seat_loses_first_in_either_order() {
    for (_, one, verdict, reason) in GRAVE {
        for (_, other, other_verdict, other_reason) in GRAVE {
            for first in 0..2 {
                let mut sim = short_scene().greeted();
                sim.play(0, 6);
                sim.over();
                for seat in [first, 1 - first] {
                    if seat == 0 {
                        one(&mut sim, seat);
                    } else {
                        other(&mut sim, seat);
                    }
                }
                sim.lost(0, verdict, reason);
                sim.go_on_while(|sim| sim.games.len() == 2);
                let result = sim.lost(1, other_verdict, other_reason);
                assert_eq!(result.id.game, 3);
                sim.go_on_to_game(4);
            }
        }
    }
}

#[test]
fn an_answer_that_was_written_before_the_end_of_its_bot_counts() {
    for kind in [
        FaultKind::Exit(0),
        FaultKind::Signal(9),
        FaultKind::ClosedPipe,
    ] {
        let mut sim = scene().greeted();
        sim.play(0, 1);
        sim.gone(0, kind);
        sim.play(1, 1);
        let result = sim.over();
        assert_eq!(
            (result.against, result.verdict, result.moves),
            (Some(0), Verdict::Crash, 2)
        );
        // Where the answer ends the match nothing is left to judge.
        let mut sim = short_scene().rules(json!({"sets": 1})).greeted();
        sim.play(0, 6);
        assert!(sim.table.is_done());
        assert_eq!(sim.over().verdict, Verdict::Rule);
        sim.match_won_by(0);
    }
}

#[test]
fn a_seat_that_is_gone_is_told_nothing_of_a_game_that_is_played_over() {
    // Every game is a draw, and played over three times; seat 1 is never asked.
    let mut sim = scene()
        .rules(json!({"sets": 2, "rematch_on_draw": true}))
        .opening(last_stone(0, [24, 24]))
        .greeted_with([Value::Null, json!({"events": true, "history": true})]);
    sim.gone(1, FaultKind::Exit(4));
    sim.forget();
    for _ in 0..4 {
        sim.play(0, 6);
    }
    assert_eq!(sim.over().reason, "pits_empty");
    assert_eq!(sim.heard(1), [""; 0]);
    sim.answer_honestly(0);
    sim.lost(1, Verdict::Crash, "exit 4");
}

#[test]
fn a_process_that_is_not_there_can_do_nothing() {
    let mut sim = scene().greeted();
    sim.gone(1, FaultKind::Exit(1));
    assert_eq!(sim.chairs[1].process, Process::Absent);
    for (_, wrong, ..) in idle() {
        wrong(&mut sim, 1);
    }
    sim.time_out(0);
    sim.lost(0, Verdict::Timeout, "timeout");
    sim.answer_honestly(0);
    sim.lost(1, Verdict::Crash, "exit 1");
}

#[test]
fn a_fault_before_the_first_turn_of_a_game_is_judged_before_its_start() {
    for (what, wrong, verdict, reason) in GRAVE {
        let mut sim = scene().begin();
        sim.ready(1);
        sim.forget();
        wrong(&mut sim, 1);
        sim.ready(0);
        let result = sim.lost(1, verdict, reason);
        assert_eq!(result.moves, 0, "{what}");
        assert_eq!(
            sim.heard(0)[0],
            "end r1.m1.g1",
            "{what}: there was no start"
        );
        // It had greeted: this is a forfeit, not a failed handshake.
        sim.go_on_to_game(2);
    }
}
