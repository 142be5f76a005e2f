//! How a round goes.

use hakem::clock::Spent;
use hakem::referee::Input;
use hakem_protocol::ClockKind;
use serde_json::{Value, json};

use super::ring::{Scene, answer, right, wall};

#[test]
fn all_seats_are_asked_in_one_go_and_only_the_time_of_the_round_holds() {
    for seats in 2..=4 {
        let mut ring = Scene::new(seats, json!({"round_ms": 700})).begin();
        for seat in 0..seats {
            let hello = &ring.messages(seat)[0];
            assert_eq!(hello["clock"]["main_ms"], Value::Null);
            assert_eq!(hello["clock"]["move_ms"], 700);
            assert_eq!(hello["clock"]["increment_ms"], 0);
            ring.ready(seat, &json!({}));
        }
        assert_eq!(ring.racing(), (0..seats).collect::<Vec<_>>());
        for seat in 0..seats {
            let heard = ring.messages(seat);
            let [start, turn] = heard.as_slice() else {
                panic!("{heard:?}")
            };
            assert_eq!(start["match"]["score"], json!(vec![0; seats]));
            assert_eq!(start["state"], turn["state"]);
            assert_eq!(
                (&turn["ask"], &turn["seat"]),
                (&json!("race"), &json!(seat))
            );
            assert_eq!((&turn["legal"], &turn["last"]), (&json!([]), &json!([])));
            assert_eq!(turn["clock"]["left_ms"], json!(vec![Value::Null; seats]));
            assert_eq!(turn["clock"]["limit_ms"], 700);
            assert_eq!(ring.chairs[seat].wake, Some(700_001));
        }
    }
}

#[test]
fn a_right_claim_ends_the_round_once_no_other_can_be_as_fast() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.claims(1, 40_000);
    assert_eq!(ring.racing(), [0, 2], "they may still have been as fast");
    assert_eq!(ring.look(0), 41_000);
    assert_eq!(ring.heard(0), ["stop 1 claimed"]);
    assert_eq!(ring.look(2), 41_000);
    assert_eq!(ring.racing(), [0, 1, 2], "the next round");
    assert_eq!(ring.heard(2), ["stop 1 claimed", "turn 2"]);
    assert_eq!(ring.heard(1), ["turn 2"]);
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([0, 1, 0]))
    );
    // The claim is told, to its own seat too.
    let last = &ring.turn(1)["last"];
    assert_eq!(
        (last.as_array().map(Vec::len), &last[0]["seat"]),
        (Some(1), &json!(1))
    );
    assert_eq!(ring.turn(0)["last"], *last);
}

#[test]
fn where_the_referee_cannot_tell_who_was_first_the_game_is_void() {
    // Two of three still race when the referee comes back and finds a claim.
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.gives_up(2);
    ring.handle(Input::StoodStill);
    assert_eq!(ring.voids, 1);
    assert!(ring.games.is_empty());
    // It is played again with bots started anew.
    for seat in 0..3 {
        assert_eq!(ring.chairs[seat].starts, 2);
        ring.ready(seat, &json!({}));
    }
    // A claim that was right, and another that may have been sooner.
    ring.claims(0, 40_000);
    ring.handle(Input::StoodStill);
    assert_eq!(ring.voids, 2);
    // The times of seats that are asked one after the other are compared as well.
    let mut ring = Scene::new(2, json!({"race": "in-turn"})).greeted();
    ring.handle(Input::StoodStill);
    assert_eq!(ring.voids, 1);
}

#[test]
fn where_nobody_else_can_be_first_a_stall_does_no_harm() {
    let mut ring = Scene::new(2, json!({})).greeted();
    ring.gives_up(0);
    ring.handle(Input::StoodStill);
    ring.claims(1, 40_000);
    assert_eq!((ring.points(), ring.voids), (&json!([0, 1]), 0));
}

#[test]
fn the_own_time_counts_and_not_who_was_read_first() {
    // Seat 1 is read first, and was slower.
    let mut ring = Scene::new(2, json!({})).greeted();
    ring.claims(1, 40_000);
    ring.claims(0, 38_000);
    assert_eq!(ring.points(), &json!([1, 0]));
    // The faster may be read first as well.
    ring.claims(1, 38_000);
    ring.claims(0, 39_000);
    assert_eq!(ring.points(), &json!([1, 1]));
    // A claim after the end of the other's moment is dropped, and it is told so.
    ring.forget();
    assert_eq!(ring.heard(0), Vec::<String>::new());
}

#[test]
fn claims_that_are_closer_are_a_dead_heat() {
    for (times, void) in [
        ([5_000, 5_999], true),
        ([5_000, 6_000], false),
        ([5_000, 4_001], true),
    ] {
        let mut ring = Scene::new(2, json!({})).greeted();
        let first = ring.turn(0)["state"]["pattern"].clone();
        ring.claims(0, times[0]);
        ring.claims(1, times[1]);
        assert_ne!(ring.turn(0)["state"]["pattern"], first, "another card");
        let (round, points) = if void { (1, [0, 0]) } else { (2, [1, 0]) };
        assert_eq!(
            (ring.round(), ring.points()),
            (&json!(round), &json!(points))
        );
    }
}

#[test]
fn the_fourth_dead_heat_in_a_row_scores_for_each() {
    let mut ring = Scene::new(3, json!({"dead_heat_us": 0})).greeted();
    for voids in 1..=4 {
        ring.claims(0, 77);
        ring.claims(2, 77);
        assert_eq!(ring.look(1), 78);
        let state = &ring.turn(1)["state"];
        if voids < 4 {
            assert_eq!(
                (ring.round(), &state["dead_heats"]),
                (&json!(1), &json!(voids))
            );
        }
    }
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([1, 0, 1]))
    );
}

#[test]
fn a_slower_claim_in_the_moment_of_a_first_does_not_count_if_a_faster_comes() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.claims(0, 5_000);
    ring.claims(1, 5_900);
    assert_eq!(ring.racing(), [2]);
    ring.claims(2, 4_500);
    // 4500 and 5000 are close, 5900 is not.
    assert_eq!(
        (ring.round(), &ring.turn(0)["state"]["dead_heats"]),
        (&json!(1), &json!(1))
    );
    ring.claims(0, 5_000);
    ring.claims(1, 5_900);
    ring.claims(2, 3_000);
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([0, 0, 1]))
    );
}

#[test]
fn who_is_wrong_is_told_why_and_is_out_while_the_others_go_on() {
    let mut ring = Scene::new(2, json!({})).greeted();
    ring.claims_wrongly(0, 300);
    let told = ring.messages(0);
    assert_eq!((told.len(), &told[0]["fatal"]), (1, &json!(false)));
    assert!(
        told[0]["message"]
            .as_str()
            .expect("words")
            .starts_with("row 2, cell 3: cube")
    );
    assert_eq!(ring.racing(), [1]);
    assert_eq!(ring.heard(1), Vec::<String>::new());
    ring.claims(1, 9_000_000);
    assert_eq!((ring.round(), ring.points()), (&json!(2), &json!([0, 1])));
}

#[test]
fn a_round_in_which_all_are_out_is_over_and_counts() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.gives_up(2);
    ring.claims_wrongly(0, 300);
    assert_eq!(ring.racing(), [1]);
    ring.gives_up(1);
    assert_eq!(ring.racing(), [0, 1, 2]);
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([0, 0, 0]))
    );
    let last = ring.turn(0)["last"].as_array().expect("a list").clone();
    let seats: Vec<&Value> = last.iter().map(|told| &told["seat"]).collect();
    assert_eq!(seats, [&json!(2), &json!(0), &json!(1)]);
    assert_eq!(last[0]["move"], json!({"qbitz": null}));
}

#[test]
fn the_time_of_the_round_runs_out_for_each_seat_by_itself() {
    let mut ring = Scene::new(2, json!({"round_ms": 50})).greeted();
    assert_eq!(ring.look(0), 50_001);
    assert_eq!(ring.heard(0), ["stop 1 time"]);
    // The other was asked a little later.
    ring.claims(1, 50_000);
    assert_eq!((ring.round(), ring.points()), (&json!(2), &json!([0, 1])));
    ring.look(1);
    ring.look(0);
    assert_eq!((ring.round(), ring.points()), (&json!(3), &json!([0, 1])));
    assert_eq!(ring.heard(0), ["turn 2", "stop 2 time", "turn 3"]);
}

#[test]
fn a_claim_that_is_too_late_is_dropped_whatever_it_says() {
    for (line, again) in [
        (answer(&json!(1), &json!({"qbitz": null})), false),
        (answer(&json!(1), &json!("no tray")), false),
        // The answer may still come.
        (answer(&json!(9), &json!(7)), true),
        ("no JSON".to_owned(), true),
    ] {
        let mut ring = Scene::new(2, json!({"round_ms": 50})).greeted();
        ring.line(0, &line, wall(50_001));
        assert_eq!(ring.heard(0), ["stop 1 time"], "{line}");
        assert_eq!(ring.racing(), [1]);
        ring.gives_up(1);
        assert_eq!(ring.heard(0), ["turn 2"]);
        if again {
            ring.line(0, &answer(&json!(1), &json!("late")), wall(5));
            assert_eq!(ring.racing(), [0, 1]);
        }
        assert_eq!(ring.games.len(), 0);
    }
}

#[test]
fn a_claim_in_time_that_is_read_after_the_others_moment_is_dropped() {
    let mut ring = Scene::new(2, json!({})).greeted();
    ring.claims(1, 40_000);
    let claim = right(&ring.turn(0)["state"]);
    ring.answer(0, &claim, wall(41_000));
    assert_eq!(ring.heard(0), ["stop 1 claimed", "turn 2"]);
    assert_eq!(ring.points(), &json!([0, 1]));
}

#[test]
fn answers_under_way_to_stopped_questions_are_dropped_each_once() {
    let mut ring = Scene::new(2, json!({"rounds": 9})).greeted();
    for _ in 0..2 {
        ring.claims(1, 100);
        ring.look(0);
    }
    ring.forget();
    // Both come while the third question is open; then the third is answered.
    for id in 1..=2 {
        ring.line(0, &answer(&json!(id), &json!("whatever")), wall(3));
    }
    assert_eq!(ring.heard(0), Vec::<String>::new());
    ring.claims(0, 200);
    ring.look(1);
    assert_eq!(ring.points(), &json!([1, 2]));
    // A second answer to one of them is a fault.
    ring.line(0, &answer(&json!(1), &json!({"qbitz": null})), wall(3));
    assert_eq!(ring.over().reason.split(':').next(), Some("wrong_id"));
}

#[test]
fn an_answer_under_way_when_nothing_is_open_is_dropped_too() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.claims(1, 100);
    ring.look(0);
    assert_eq!(ring.racing(), [2]);
    ring.line(0, &answer(&json!(1), &json!({"qbitz": null})), wall(0));
    // A line that nobody asked for is still one.
    ring.line(1, &answer(&json!(1), &json!({"qbitz": null})), wall(0));
    ring.look(2);
    assert_eq!(ring.racing(), [0, 2]);
    assert_eq!(ring.heard(1), ["error unasked", "bye"]);
}

#[test]
fn trays_are_told_when_the_round_is_over() {
    let mut ring = Scene::new(3, json!({})).greeted_with(&json!({"events": true, "history": true}));
    ring.claims_wrongly(0, 100);
    ring.claims(1, 200);
    assert_eq!(ring.heard(2), Vec::<String>::new(), "it could copy");
    ring.look(2);
    assert_eq!(
        ring.heard(2),
        ["stop 1 claimed", "played", "played", "turn 2"]
    );
    assert_eq!(ring.heard(0), ["error 1 illegal_move", "played", "turn 2"]);
    let history = &ring.turn(2)["history"];
    let seats: Vec<&Value> = history
        .as_array()
        .into_iter()
        .flatten()
        .map(|told| &told["seat"])
        .collect();
    assert_eq!(seats, [&json!(0), &json!(1)]);
}

// ---- One after the other --------------------------------------------------------------------------------------------

#[test]
fn in_turn_each_seat_is_asked_alone_and_the_times_are_compared() {
    let mut ring = Scene::new(3, json!({"race": "in-turn"})).greeted();
    let card = ring.turn(0)["state"].clone();
    assert_eq!(ring.racing(), [0]);
    ring.claims(0, 40_000);
    assert_eq!(ring.racing(), [1]);
    assert_eq!(ring.turn(1)["state"], card, "the same card");
    assert_eq!(ring.turn(1)["last"], json!([]), "it does not see the tray");
    ring.claims(1, 30_000);
    assert_eq!(ring.racing(), [2]);
    assert_eq!(ring.look(2), 31_000, "no need to wait for longer");
    assert_eq!(ring.heard(2), ["turn 1", "stop 1 claimed"]);
    assert_eq!(ring.racing(), [1], "the first of the next round changes");
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([0, 1, 0]))
    );
    assert_eq!(ring.turn(1)["last"].as_array().map(Vec::len), Some(2));
}

#[test]
fn in_turn_a_seat_that_is_out_does_not_end_the_round() {
    let mut ring = Scene::new(2, json!({"race": "in-turn"})).greeted();
    ring.gives_up(0);
    assert_eq!(ring.racing(), [1]);
    assert_eq!(ring.turn(1)["state"]["out"], json!([0]));
    ring.look(1);
    assert_eq!(ring.heard(1), ["turn 1", "stop 1 time", "turn 2"]);
    assert_eq!((ring.racing(), ring.round()), (vec![1], &json!(2)));
}

#[test]
fn in_turn_the_events_clock_measures() {
    let mut scene = Scene::new(2, json!({"race": "in-turn"}));
    scene.clock.kind = ClockKind::Fair;
    let mut ring = scene.greeted();
    let waited = |wall_us, delay_us| Spent {
        wall_us,
        cpu_us: Some(1),
        delay_us: Some(delay_us),
        ..Spent::default()
    };
    let claim = right(&ring.turn(0)["state"]);
    ring.answer(0, &claim, waited(40_000, 0));
    ring.answer(1, &claim, waited(60_000, 30_000));
    assert_eq!(
        ring.points(),
        &json!([0, 1]),
        "it waited half of its time for a core"
    );
    // Together the wall time counts, which is one and the same for all.
    let mut scene = Scene::new(2, json!({}));
    scene.clock.kind = ClockKind::Fair;
    let mut ring = scene.greeted();
    let claim = right(&ring.turn(0)["state"]);
    ring.answer(1, &claim, waited(60_000, 30_000));
    ring.answer(0, &claim, waited(40_000, 0));
    assert_eq!(ring.points(), &json!([1, 0]));
}

#[test]
fn in_turn_a_dead_heat_is_one_too() {
    let mut ring = Scene::new(2, json!({"race": "in-turn"})).greeted();
    ring.claims(0, 40_000);
    ring.claims(1, 40_999);
    assert_eq!((ring.round(), ring.points()), (&json!(1), &json!([0, 0])));
}
