//! Games that a rule of the event ends: when, with which result, what the bots hear, and what a record must hold.

use hakem::event::Verdict;
use serde_json::{Value, json};

use super::records::{Forged, Forgery, Found, check_forgeries, first_record, is_good};
use super::sim::{Scene, Sim, first_legal, last_stone};

/// The seat plays its first legal move with this evaluation; none where that is null.
#[track_caller]
fn think(sim: &mut Sim, seat: usize, eval: &Value) {
    let turn = sim.turn(seat).clone();
    let mv = first_legal(&sim.scene, &turn);
    let mut answer = json!({"type": "move", "id": turn["id"], "move": mv});
    if !eval.is_null() {
        answer["eval"] = eval.clone();
    }
    sim.say(seat, &answer);
}

/// Both play with these evaluations by seat, until the match is over or so many answers are given.
fn think_on(sim: &mut Sim, evals: [Value; 2], most: u32) -> u32 {
    for answers in 0..most {
        match sim.on_turn() {
            Some(seat) => think(sim, seat, &evals[seat]),
            None => return answers,
        }
    }
    most
}

/// A game in which the seats move one after the other, its first moves far from its end.
fn agreeing(eval: f64, moves: u32) -> Sim {
    Scene::new("reversi")
        .adjudicated(Some((eval, moves)), None)
        .greeted()
}

fn points_sum(sim: &Sim) -> u32 {
    let points = sim.games[0].result.points.as_ref().expect("points");
    points.iter().sum()
}

// ---- Both evaluations -----------------------------------------------------------------------------------------------

#[test]
fn a_game_ends_with_the_move_that_completes_the_agreement() {
    for winner in [0, 1] {
        let mut evals = [json!(-4), json!(-3.0)];
        evals[winner] = json!(3.5);
        let mut sim = agreeing(3.0, 3);
        sim.forget();
        think_on(&mut sim, evals.clone(), 5);
        sim.goes_on();
        think_on(&mut sim, evals, 1);
        let result = sim.over();
        assert_eq!(
            (
                result.verdict,
                result.winner,
                result.against,
                result.moves,
                points_sum(&sim)
            ),
            (Verdict::Adjudicated, Some(winner), None, 6, 10)
        );
        let loser = 1 - winner;
        assert!(
            result.reason.starts_with(&format!(
                "resign_eval: 3 moves of each at 3.0 or more against seat {loser} (last "
            )),
            "{}",
            result.reason
        );
        sim.match_won_by(winner);
        for seat in 0..2 {
            let heard = sim.messages(seat);
            let [.., end, bye] = heard.as_slice() else {
                panic!("too little was heard: {heard:?}");
            };
            assert_eq!(bye["type"], "bye");
            assert_eq!(end["type"], "end");
            assert_eq!(end["result"]["reason"], "adjudicated");
            assert_eq!(end["result"]["winner"], winner);
            assert_eq!(end["result"]["points"], json!(result.points));
        }
    }
}

#[test]
fn bots_that_do_not_agree_play_to_the_end() {
    let silent = json!(null);
    let pairs = [
        [json!(9), silent.clone()],
        [silent.clone(), json!(-9)],
        [json!(9), json!(9)],
        [json!(-9), json!(-9)],
        [json!(9), json!(-2.999)],
        [json!(0), json!(0)],
        [json!(9), json!({"win": 0.0})],
        [json!({"value": 9}), json!({"score": "-9"})],
        [silent.clone(), silent],
    ];
    for evals in pairs {
        let mut sim = agreeing(3.0, 1);
        think_on(&mut sim, evals.clone(), 1_000);
        assert_eq!(sim.over().verdict, Verdict::Rule, "{evals:?}");
    }
}

#[test]
fn the_score_of_an_object_is_its_evaluation() {
    let mut sim = agreeing(3.0, 1);
    think_on(
        &mut sim,
        [json!({"score": 3, "depth": 8}), json!({"score": -3.25})],
        2,
    );
    assert_eq!(sim.over().winner, Some(0));
}

#[test]
fn what_is_too_long_for_the_record_is_no_evaluation() {
    let mut scene = Scene::new("reversi").adjudicated(Some((3.0, 1)), None);
    scene.max_note = [4, 0];
    let mut sim = scene.clone().greeted();
    think_on(&mut sim, [json!({"score": 9}), json!(-9)], 1_000);
    assert_eq!(sim.over().verdict, Verdict::Rule);
    // A number is always kept.
    let mut sim = scene.greeted();
    think_on(&mut sim, [json!(12345.5), json!(-9)], 2);
    assert_eq!(sim.over().verdict, Verdict::Adjudicated);
}

#[test]
fn a_move_without_an_evaluation_begins_anew() {
    let mut sim = agreeing(3.0, 3);
    let evals = [json!(5), json!(-5)];
    think_on(&mut sim, evals.clone(), 5);
    let seat = sim.on_turn().expect("a seat is asked");
    think(&mut sim, seat, &Value::Null);
    think_on(&mut sim, evals.clone(), 5);
    sim.goes_on();
    think_on(&mut sim, evals, 1);
    assert_eq!(sim.over().moves, 12);
}

#[test]
fn without_the_rule_evaluations_decide_nothing() {
    let mut sim = Scene::new("reversi").greeted();
    think_on(&mut sim, [json!(900), json!(-900)], 1_000);
    assert_eq!(sim.over().verdict, Verdict::Rule);
    let record = String::from_utf8_lossy(&sim.games[0].record).into_owned();
    assert!(!record.contains("adjudication"), "{record}");
}

#[test]
fn a_fault_loses_before_a_rule_of_the_event_is_looked_at() {
    let mut sim = Scene::new("reversi")
        .adjudicated(Some((3.0, 1)), Some(2))
        .greeted();
    think(&mut sim, 0, &json!(-5));
    let id = sim.turn(1)["id"].clone();
    sim.say(
        1,
        &json!({"type": "move", "id": id, "move": "a1", "eval": 5}),
    );
    sim.lost(1, Verdict::IllegalMove, "illegal_move");
}

// ---- So many moves --------------------------------------------------------------------------------------------------

#[test]
fn a_game_of_so_many_moves_is_a_draw() {
    for (game, most) in [
        ("reversi", 7),
        ("oware", 9),
        ("dokuztas", 11),
        ("mangala", 8),
    ] {
        let mut sim = Scene::new(game).adjudicated(None, Some(most)).greeted();
        think_on(&mut sim, [Value::Null, Value::Null], most - 1);
        sim.goes_on();
        think_on(&mut sim, [Value::Null, Value::Null], 1);
        let result = sim.over();
        assert_eq!(
            (result.verdict, result.winner, result.moves, result.against),
            (Verdict::Adjudicated, None, most, None),
            "{game}"
        );
        assert_eq!(
            result.reason,
            format!("max_moves: a draw after {most} moves (at most {most})")
        );
        let shares: Vec<f64> = result
            .score
            .iter()
            .flatten()
            .map(|one| one.value())
            .collect();
        assert_eq!(shares, [0.5, 0.5]);
        let shares: Vec<f64> = sim
            .match_over()
            .score
            .iter()
            .map(|one| one.value())
            .collect();
        assert_eq!(shares, [0.5, 0.5]);
    }
}

#[test]
fn a_game_that_ends_by_its_rules_with_its_last_move_is_no_draw() {
    let mut sim = Scene::new("mangala")
        .opening(last_stone(0, [25, 23]))
        .adjudicated(Some((1.0, 1)), Some(1))
        .greeted();
    think(&mut sim, 0, &json!(-9));
    let result = sim.over();
    assert_eq!(
        (result.verdict, result.winner, result.reason.as_str()),
        (Verdict::Rule, Some(0), "pits_empty")
    );
}

#[test]
fn an_adjudicated_set_is_half_a_point_and_the_match_goes_on() {
    let mut sim = Scene::new("mangala")
        .rules(json!({"sets": 2, "rematch_on_draw": true}))
        .adjudicated(None, Some(5))
        .begin();
    let result = sim.finish();
    assert_eq!((result.games, result.series), (2, vec![1.0, 1.0]));
    // It is not played over as a set that is drawn on the board would be.
    assert!(sim.games.iter().all(|game| game.result.moves == 5));
}

#[test]
fn a_set_that_its_rules_play_over_is_not_ended_by_its_last_move() {
    // Each play of the set is one move of seat 0 and drawn, so that it is played over, at most three times.
    let scene = Scene::new("mangala")
        .rules(json!({"rematch_on_draw": true}))
        .opening(last_stone(0, [24, 24]));
    for cap in [1, 3, 10] {
        let mut sim = scene.clone().adjudicated(None, Some(cap)).begin();
        sim.finish();
        let result = sim.over();
        assert_eq!((result.moves, result.verdict), (4, Verdict::Rule), "{cap}");
    }
}

// ---- Tavla ----------------------------------------------------------------------------------------------------------

/// A state in which both bear off; seat 0 has taken off as many checkers as this, seat 1 so many.
fn bearing_off(off: [usize; 2], cube: &Value) -> Value {
    let side = |off: usize| {
        let mut points = [0; 26];
        points[0] = off;
        points[1] = 15 - off;
        json!(points)
    };
    json!({"checkers": [side(off[0]), side(off[1])], "dice": null, "cube": cube, "turn": 0})
}

fn lost_by_one(rules: Value, opening: Value) -> Scene {
    Scene::new("tavla")
        .rules(rules)
        .opening(opening)
        .adjudicated(Some((1.0, 1)), None)
}

/// Both answer, seat 1 as one that has lost, until the game ends or seat 1 has played so often; the answers to a cube are rolls.
fn play_as_lost(sim: &mut Sim, plays: u32) {
    let mut played = 0;
    while let Some(seat) = sim.on_turn() {
        let plays_now = sim.turn(seat)["ask"] == "move";
        if seat == 1 && plays_now && played == plays {
            return;
        }
        think(sim, seat, &json!([1.0, -1.0][seat]));
        played += u32::from(seat == 1 && plays_now);
        if !sim.games.is_empty() {
            return;
        }
    }
}

#[test]
fn tavla_is_lost_for_once_the_cube_when_no_mars_is_possible_any_more() {
    let middle = json!({"value": 1, "owner": null});
    let turned = json!({"value": 4, "owner": 0});
    for (cube, points) in [(&middle, 1), (&turned, 4)] {
        let mut sim = lost_by_one(json!({}), bearing_off([1, 1], cube)).greeted();
        play_as_lost(&mut sim, 1);
        let result = sim.over();
        assert_eq!(result.verdict, Verdict::Adjudicated);
        assert_eq!(result.points, Some(vec![points, 0]));
    }
    // Here a mars is possible, until seat 1 has taken off its first checker, which is its first play.
    let mut sim = lost_by_one(json!({}), bearing_off([1, 0], &middle)).greeted();
    play_as_lost(&mut sim, 1);
    assert_eq!(sim.over().points, Some(vec![1, 0]));
}

/// The usual first position, in which nobody has taken off anything: many plays follow.
#[test]
fn tavla_goes_on_while_a_mars_can_be_lost() {
    let mut sim = Scene::new("tavla")
        .adjudicated(Some((1.0, 1)), None)
        .greeted();
    play_as_lost(&mut sim, 3);
    sim.goes_on();
    // What a single game wins anyway need not be played out: by the length of the match, or as a mars does not count.
    for rules in [json!({"match_length": 1}), json!({"jacoby": true})] {
        let mut sim = Scene::new("tavla")
            .rules(rules.clone())
            .adjudicated(Some((1.0, 1)), None)
            .greeted();
        play_as_lost(&mut sim, 3);
        let result = sim.over();
        assert_eq!(result.verdict, Verdict::Adjudicated, "{rules}");
        assert_eq!(result.points, Some(vec![1, 0]));
        assert_eq!(sim.match_won_by(0).games, 1);
    }
}

#[test]
fn a_double_that_is_not_taken_does_not_count() {
    let cube = json!({"value": 2, "owner": 0});
    let mut sim = lost_by_one(json!({}), bearing_off([1, 1], &cube)).greeted();
    // Seat 0 begins, and is asked about the cube. What it thinks there is not looked at.
    let id = sim.turn(0)["id"].clone();
    sim.say(
        0,
        &json!({"type": "move", "id": id, "move": "roll", "eval": 1}),
    );
    think(&mut sim, 0, &json!(1));
    sim.goes_on();
    // Seat 1 may not double, and so plays at once.
    think(&mut sim, 1, &json!(-1));
    assert_eq!(sim.over().points, Some(vec![2, 0]));

    let mut scene = lost_by_one(json!({}), bearing_off([1, 1], &cube));
    scene.adjudication = None;
    let mut sim = scene.adjudicated(None, Some(1)).greeted();
    sim.play(0, "double");
    assert_eq!(sim.over().points, Some(vec![0, 0]));
}

#[test]
fn a_resignation_that_waits_is_answered_first() {
    let cube = json!({"value": 1, "owner": null});
    let offered = |answer: &str| {
        let mut sim = Scene::new("tavla")
            .opening(bearing_off([1, 1], &cube))
            .adjudicated(None, Some(1))
            .greeted();
        sim.play(0, json!({"resign": 1}));
        sim.goes_on();
        sim.play(1, answer);
        sim.over()
    };
    let accepted = offered("accept");
    assert_eq!(
        (accepted.verdict, accepted.points),
        (Verdict::Resigned, Some(vec![0, 1]))
    );
    let refused = offered("refuse");
    assert_eq!(
        (refused.verdict, refused.points, refused.moves),
        (Verdict::Adjudicated, Some(vec![0, 0]), 2)
    );
}

#[test]
fn a_session_of_tavla_goes_on_after_a_drawn_game_and_a_match_ends_after_three() {
    let mut sim = Scene::new("tavla")
        .rules(json!({"games": 4}))
        .adjudicated(None, Some(3))
        .begin();
    let result = sim.finish();
    assert_eq!((result.games, result.series), (4, vec![0.0, 0.0]));
    let mut sim = Scene::new("tavla")
        .rules(json!({"match_length": 5}))
        .adjudicated(None, Some(3))
        .begin();
    let result = sim.finish();
    assert_eq!((result.games, result.series), (3, vec![0.0, 0.0]));
    let shares: Vec<f64> = result.score.iter().map(|share| share.value()).collect();
    assert_eq!(shares, [0.5, 0.5]);
    let points = sim.games.iter().map(|game| game.result.points.clone());
    assert!(points.into_iter().all(|points| points == Some(vec![0, 0])));
}

// ---- Records --------------------------------------------------------------------------------------------------------

fn lost_by_agreement() -> Sim {
    let mut sim = agreeing(3.0, 2);
    think_on(&mut sim, [json!(3.5), json!(-4)], 4);
    sim
}

fn drawn_by_moves() -> Sim {
    let mut sim = Scene::new("reversi").adjudicated(None, Some(6)).greeted();
    think_on(&mut sim, [json!(1), json!(1)], 6);
    sim
}

#[test]
fn a_record_whose_adjudication_was_changed_does_not_verify() {
    let resign: [Forgery; 12] = [
        (
            "no rule",
            |forged| forged.header.adjudication = None,
            Found::Always,
        ),
        (
            "a higher threshold",
            |forged| rule(forged).eval = 3.75,
            Found::Always,
        ),
        (
            "a lower threshold, which the reason tells",
            |forged| rule(forged).eval = 2.0,
            Found::Always,
        ),
        (
            "a threshold that cannot be",
            |forged| rule(forged).eval = 0.0,
            Found::Always,
        ),
        ("more moves", |forged| rule(forged).moves = 3, Found::Always),
        (
            "fewer moves",
            |forged| rule(forged).moves = 1,
            Found::Always,
        ),
        ("no moves", |forged| rule(forged).moves = 0, Found::Always),
        (
            "an evaluation that is left out",
            |forged| forged.answers()[0].eval = None,
            Found::Always,
        ),
        (
            "an evaluation of another mind",
            |forged| forged.answers()[1].eval = Some(json!(4)),
            Found::Always,
        ),
        (
            "the last evaluation, which the reason tells",
            |forged| forged.answers()[3].eval = Some(json!(-5)),
            Found::Always,
        ),
        (
            "an earlier evaluation that says the same",
            |forged| forged.answers()[0].eval = Some(json!(5)),
            Found::Never,
        ),
        (
            "the verdict",
            |forged| forged.result().verdict = Verdict::Rule,
            Found::Always,
        ),
    ];
    check_forgeries(&lost_by_agreement(), &resign);
    let cap: [Forgery; 6] = [
        (
            "no rule",
            |forged| forged.header.adjudication = None,
            Found::Always,
        ),
        ("more moves", |forged| cap_of(forged, 7), Found::Always),
        ("fewer moves", |forged| cap_of(forged, 5), Found::Always),
        ("no moves", |forged| cap_of(forged, 0), Found::Always),
        (
            "a winner",
            |forged| {
                forged.result().winner = Some(0);
            },
            Found::Always,
        ),
        (
            "the reason",
            |forged| forged.result().reason = "max_moves".into(),
            Found::Always,
        ),
    ];
    check_forgeries(&drawn_by_moves(), &cap);
}

fn rule(forged: &mut Forged) -> &mut hakem::referee::adjudicate::ResignRule {
    let rules = forged.header.adjudication.as_mut();
    rules
        .and_then(|rules| rules.resign.as_mut())
        .expect("there is the rule")
}

fn cap_of(forged: &mut Forged, most: u32) {
    let rules = forged.header.adjudication.as_mut();
    rules.expect("there is the rule").max_moves = Some(most);
}

#[test]
fn a_game_that_is_over_has_no_further_answer() {
    for sim in [lost_by_agreement(), drawn_by_moves()] {
        let mut forged = Forged::of(first_record(&sim));
        assert!(is_good(&forged.write(), Some("42")));
        let more = forged.entries[forged.entries.len() - 2].clone();
        let last = forged.entries.len() - 1;
        forged.entries.insert(last, more);
        assert!(!is_good(&forged.write(), None));
    }
}

#[test]
fn a_game_that_was_ended_without_its_rule_is_found() {
    // The record of a game that goes on, cut off and given a result that no rule of its header gives.
    let mut sim = Scene::new("reversi").greeted();
    think_on(&mut sim, [json!(9), json!(-9)], 1_000);
    let mut forged = Forged::of(first_record(&sim));
    let result = forged.entries.pop().expect("a result");
    forged.entries.truncate(8);
    forged.entries.push(result);
    let result = forged.result();
    result.verdict = Verdict::Adjudicated;
    result.reason = "resign_eval: they agree".into();
    assert!(!is_good(&forged.write(), None));
}
