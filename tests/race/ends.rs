//! How a game of races ends.

use hakem::event::Verdict;
use serde_json::json;

use super::ring::{Scene, answer, wall};

#[test]
fn the_target_ends_the_game_and_whatever_is_asked() {
    let mut ring = Scene::new(3, json!({"target_points": 2})).greeted();
    for _ in 0..2 {
        ring.claims(2, 100);
        ring.look(0);
        ring.look(1);
    }
    let result = ring.over();
    assert_eq!((result.winner, result.verdict), (Some(2), Verdict::Rule));
    assert_eq!((result.reason.as_str(), result.against), ("target", None));
    assert_eq!(result.points.as_deref(), Some([0, 0, 2].as_slice()));
    assert_eq!(
        (result.moves, result.time_us.clone()),
        (2, vec![2200, 2200, 200])
    );
    assert_eq!(ring.shares(), [0.0, 0.0, 1.0]);
    assert_eq!(
        ring.heard(0),
        ["stop 1 claimed", "turn 2", "stop 2 claimed", "end", "bye"]
    );
    assert!(ring.table.is_done());
}

#[test]
fn the_last_round_may_leave_several_first() {
    let mut ring = Scene::new(4, json!({"rounds": 2})).greeted();
    for first in [3, 1] {
        ring.claims(first, 100);
        for seat in (0..4).filter(|&seat| seat != first) {
            ring.look(seat);
        }
    }
    let result = ring.over();
    assert_eq!((result.winner, result.reason.as_str()), (None, "rounds"));
    assert_eq!(ring.shares(), [0.0, 0.5, 0.0, 0.5]);
}

#[test]
fn nobody_ever_claims() {
    let mut ring = Scene::new(3, json!({"rounds": 3})).greeted();
    for _ in 0..3 {
        for seat in 0..3 {
            ring.look(seat);
        }
    }
    assert_eq!(ring.over().points.as_deref(), Some([0, 0, 0].as_slice()));
    assert_eq!(ring.shares(), [1.0 / 3.0; 3]);
}

#[test]
fn a_race_may_begin_from_a_given_card() {
    let mut ring = Scene::new(2, json!({})).greeted();
    let mut state = ring.turn(0)["state"].clone();
    ring.gives_up(0);
    state["points"] = json!([4, 3]);
    state["round"] = json!(9);
    state["out"] = json!([1]);
    let mut scene = Scene::new(2, json!({}));
    scene.opening = Some(state.clone());
    let mut ring = scene.greeted();
    assert_eq!((ring.racing(), &ring.turn(0)["state"]), (vec![0], &state));
    ring.claims(0, 5);
    assert_eq!(ring.over().winner, Some(0));
}

#[test]
fn claims_after_the_end_do_no_harm() {
    let mut ring = Scene::new(2, json!({"target_points": 1})).greeted();
    ring.claims(1, 100);
    ring.forget();
    ring.line(0, &answer(&json!(1), &json!({"qbitz": null})), wall(2_000));
    assert_eq!(ring.over().winner, Some(1));
    ring.line(0, &answer(&json!(1), &json!({"qbitz": null})), wall(0));
    assert_eq!(ring.heard(0), ["stop 1 claimed", "end", "bye"]);
}
