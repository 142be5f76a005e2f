//! Seats that forfeit a race.

use hakem::event::Verdict;
use serde_json::json;

use super::ring::{Ring, Scene, answer, wall};

/// The first words of the result's reason.
fn code(ring: &Ring) -> &str {
    ring.over().reason.split(':').next().unwrap_or_default()
}

#[test]
fn of_two_seats_the_other_wins_at_once() {
    let mut ring = Scene::new(2, json!({})).greeted();
    ring.claims(1, 50);
    ring.look(0);
    ring.forget();
    ring.answer(0, &json!({"qbitz": []}), wall(9));
    let result = ring.over();
    assert_eq!((result.winner, result.against), (Some(1), Some(0)));
    assert_eq!(result.verdict, Verdict::IllegalMove);
    assert_eq!(result.points.as_deref(), Some([0, 1].as_slice()));
    assert_eq!(
        result.reason,
        "illegal_move: a tray has four rows of four cells with cube, face and turn (rule 2)"
    );
    assert_eq!(ring.heard(0), ["error 2 illegal_move", "end", "bye"]);
    // The end withdraws the other's question; its answer under way is dropped.
    assert_eq!(ring.heard(1), ["end", "bye"]);
    ring.line(1, &answer(&json!(2), &json!({"qbitz": null})), wall(0));
    assert_eq!(ring.heard(1), Vec::<String>::new());
    assert_eq!(ring.shares(), [0.0, 1.0]);
}

#[test]
fn of_three_the_others_play_on() {
    let mut ring = Scene::new(3, json!({"target_points": 2})).greeted();
    ring.gone(2);
    assert_eq!(ring.racing(), [0, 1], "the round goes on");
    assert_eq!(ring.heard(0), Vec::<String>::new());
    for _ in 0..2 {
        ring.claims(1, 500);
        ring.look(0);
    }
    let result = ring.over();
    assert_eq!(result.winner, Some(1));
    assert_eq!(
        result.score.as_ref().map(|score| score[2].value()),
        Some(0.0)
    );
    // The verdict tells of the forfeit, the points and shares of the rest.
    assert_eq!((result.verdict, result.against), (Verdict::Crash, Some(2)));
    assert_eq!(code(&ring), "exit 1");
    assert_eq!(ring.shares(), [0.0, 1.0, 0.0]);
    assert_eq!(ring.chairs[2].starts, 1, "it is not started again");
    let end = ring
        .messages(0)
        .into_iter()
        .find(|told| told["type"] == "end");
    let end = end.expect("the game's end");
    assert_eq!(end["result"]["reason"], "target");
    assert_eq!(end["state"]["gone"], json!([2]));
}

#[test]
fn a_seat_that_has_left_is_not_asked_and_hears_nothing_more() {
    let mut ring = Scene::new(4, json!({})).greeted();
    ring.line(3, "{}", wall(20));
    assert_eq!(ring.heard(3), ["error 1 bad_message", "bye"]);
    ring.claims(0, 500);
    ring.look(1);
    ring.look(2);
    assert_eq!(ring.racing(), [0, 1, 2]);
    assert_eq!(ring.turn(0)["state"]["out"], json!([3]));
    assert_eq!(ring.turn(0)["state"]["gone"], json!([3]));
    ring.line(3, "more", wall(0));
    assert_eq!(ring.heard(3), Vec::<String>::new());
}

#[test]
fn the_last_but_one_that_leaves_ends_the_game() {
    let mut ring = Scene::new(4, json!({})).greeted();
    ring.claims(3, 40);
    for seat in 0..3 {
        ring.look(seat);
    }
    ring.gone(3);
    ring.answer(0, &json!(7), wall(1));
    assert_eq!(ring.racing(), [1, 2]);
    ring.line(2, &answer(&json!(77), &json!({"qbitz": null})), wall(1));
    // The first forfeit is told; the winner is who is left, whatever points the others had.
    let result = ring.over();
    assert_eq!((result.winner, result.against), (Some(1), Some(3)));
    assert_eq!((result.verdict, code(&ring)), (Verdict::Crash, "exit 1"));
    assert_eq!(result.points.as_deref(), Some([0, 0, 0, 1].as_slice()));
    assert_eq!(ring.shares(), [0.0, 1.0, 0.0, 0.0]);
    let record = String::from_utf8(ring.games[0].record.clone()).expect("text");
    let faults = record.lines().filter(|line| line.starts_with("{\"fault\""));
    assert_eq!(faults.count(), 3, "the record has them all");
}

#[test]
fn a_claim_that_was_made_counts_though_its_seat_is_gone() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.claims(2, 400);
    ring.gone(2);
    ring.look(0);
    ring.look(1);
    // It is found out when it is asked next.
    assert_eq!(ring.racing(), [0, 1]);
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([0, 0, 1]))
    );
    assert_eq!(ring.turn(0)["state"]["gone"], json!([2]));
}

#[test]
fn a_forfeit_may_end_the_round() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.claims(0, 400);
    ring.gives_up(1);
    ring.gone(2);
    assert_eq!(ring.racing(), [0, 1]);
    assert_eq!(
        (ring.round(), ring.points()),
        (&json!(2), &json!([1, 0, 0]))
    );
}

#[test]
fn in_turn_the_next_is_asked_when_one_leaves() {
    let mut ring = Scene::new(3, json!({"race": "in-turn"})).greeted();
    ring.gone(1);
    assert_eq!(ring.racing(), [0], "it is not asked yet, so nobody knows");
    ring.claims(0, 400);
    assert_eq!(ring.racing(), [2]);
    assert_eq!(ring.turn(2)["state"]["gone"], json!([1]));
    ring.gone(2);
    assert_eq!(ring.over().winner, Some(0));
}

#[test]
fn a_seat_that_does_not_greet_is_out_before_the_start() {
    let mut ring = Scene::new(3, json!({"target_points": 1})).begin();
    ring.ready(0, &json!({}));
    ring.line(1, "hello yourself", wall(5));
    ring.ready(2, &json!({}));
    assert_eq!(ring.heard(1), ["hello", "error bad_json", "bye"]);
    assert_eq!(ring.racing(), [0, 2]);
    assert_eq!(ring.turn(0)["state"]["gone"], json!([1]));
    ring.claims(0, 9);
    ring.look(2);
    let result = ring.over();
    assert_eq!((result.winner, result.against), (Some(0), Some(1)));
    assert_eq!(result.verdict, Verdict::NoReady);
    assert_eq!(ring.shares(), [1.0, 0.0, 0.0]);
}

#[test]
fn who_alone_is_there_at_the_start_has_won() {
    let mut ring = Scene::new(4, json!({})).begin();
    for seat in [0, 1, 3] {
        ring.gone(seat);
    }
    ring.ready(2, &json!({}));
    assert_eq!(ring.over().winner, Some(2));
    assert_eq!(ring.heard(2), ["hello", "end", "bye"]);
    assert_eq!(ring.shares(), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn what_a_bot_wrote_before_it_was_asked_is_no_claim() {
    let mut ring = Scene::new(2, json!({"race": "in-turn"})).greeted();
    ring.line(1, &answer(&json!(1), &json!({"qbitz": null})), wall(0));
    ring.claims(0, 400);
    assert_eq!((ring.over().winner, code(&ring)), (Some(0), "unasked"));
}

#[test]
fn a_flood_is_a_forfeit_without_a_farewell() {
    let mut ring = Scene::new(3, json!({})).greeted();
    ring.handle(hakem::referee::Input::Flood {
        seat: 1,
        what: "a line longer than 1048576 bytes".into(),
        spent: wall(3),
    });
    assert_eq!(ring.heard(1), ["error 1 line_too_long"]);
    assert_eq!(ring.racing(), [0, 2]);
}
