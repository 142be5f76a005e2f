//! The games of a match: series, forfeits in a row, restarts, pings, void games, rematches, openings.

use hakem::event::Verdict;
use hakem::referee::{FaultKind, Input};
use serde_json::{Value, json};

use super::sim::{MatchEnd, Process, Scene, Sim, last_stone, wall};

fn sets(number: u32) -> Scene {
    Scene::new("mangala").rules(json!({"sets": number}))
}

/// A match of this many sets, each ended by the first move, which is seat 0's; it wins.
fn short(number: u32) -> Scene {
    sets(number).opening(last_stone(0, [25, 23]))
}

/// What a start told last.
fn last_start(sim: &mut Sim, seat: usize) -> Value {
    let mut messages = sim.messages(seat);
    messages.retain(|message| message["type"] == "start");
    messages.pop().expect("a start")
}

// ---- Series ---------------------------------------------------------------------------------------------------------

#[test]
fn all_sets_are_played_and_the_first_move_alternates() {
    let mut sim = sets(4).begin();
    let mut score = [0.0, 0.0];
    let mut first = None;
    for game in 1..=4 {
        sim.go_on_to_game(game);
        let start = last_start(&mut sim, 1);
        assert_eq!(
            (&start["match"]["game"], &start["match"]["of"]),
            (&json!(game), &json!(4))
        );
        let told: Vec<f64> =
            serde_json::from_value(start["match"]["score"].clone()).expect("a score");
        assert_eq!(told, score);
        let begins = start["first"].as_u64();
        assert_eq!(Some(start["state"]["turn"].as_u64()), Some(begins));
        if let Some(before) = first {
            assert_ne!(begins, before, "game {game}");
        }
        first = Some(begins);
        sim.go_on_while(|sim| sim.games.len() < game as usize);
        let result = sim.over();
        for (sum, share) in score.iter_mut().zip(result.score.expect("a score")) {
            *sum += share.value();
        }
    }
    let result = sim.match_over();
    assert_eq!((result.games, result.series), (4, score.to_vec()));
}

#[test]
fn the_end_of_a_match_is_end_then_bye_for_both() {
    let mut sim = short(1).greeted();
    sim.forget();
    sim.play(0, 6);
    assert_eq!(sim.heard(0), ["end r1.m1.g1", "bye"]);
    assert_eq!(sim.heard(1), ["end r1.m1.g1", "bye"]);
    assert!(sim.table.is_done());
}

#[test]
fn a_drawn_set_is_half_a_point_and_a_drawn_match_is_shared() {
    let mut sim = sets(2).opening(last_stone(0, [24, 24])).greeted();
    sim.finish();
    let result = sim.match_over();
    assert_eq!(result.series, [1.0, 1.0]);
    assert_eq!(
        result
            .score
            .iter()
            .map(|share| share.value())
            .collect::<Vec<_>>(),
        [0.5, 0.5]
    );
}

/// The seat on turn resigns for so many times the cube, and the other accepts.
fn resign(sim: &mut Sim, loser: usize, times: u32) {
    for _ in 0..10 {
        let seat = sim.on_turn().expect("a seat is asked");
        if seat == loser {
            sim.play(seat, json!({"resign": times}));
            sim.play(1 - seat, "accept");
            return;
        }
        sim.answer_honestly(seat);
    }
    panic!("seat {loser} is never asked");
}

#[test]
fn a_tavla_match_ends_at_its_length_with_one_crawford_game() {
    let mut sim = Scene::new("tavla")
        .rules(json!({"match_length": 5}))
        .begin();
    // Loser and times; the score before each, and whether it is the Crawford game.
    let games = [
        (1, 2, [0, 0], false),
        (1, 2, [2, 0], false),
        (0, 3, [4, 0], true),
        (0, 1, [4, 3], false),
        (1, 3, [4, 4], false),
    ];
    for (index, (loser, times, score, crawford)) in games.into_iter().enumerate() {
        let game = index as u32 + 1;
        sim.go_on_to_game(game);
        let start = last_start(&mut sim, 0);
        assert_eq!(start["state"]["score"], json!(score), "game {game}");
        assert_eq!(
            start["match"],
            json!({"game": game, "score": score}),
            "its end is open"
        );
        assert_eq!(
            (&start["state"]["crawford"], &start["state"]["length"]),
            (&json!(crawford), &json!(5))
        );
        let first = sim.on_turn().expect("a seat is asked");
        sim.answer_honestly(first);
        let ask = sim.turn(sim.on_turn().expect("a seat is asked"))["ask"].clone();
        assert_eq!(
            ask == "cube",
            !crawford,
            "game {game}: no cube in the Crawford game"
        );
        resign(&mut sim, loser, times);
        assert_eq!(sim.over().winner, Some(1 - loser));
    }
    let result = sim.match_won_by(0);
    assert_eq!((result.games, result.series), (5, vec![7.0, 4.0]));
}

#[test]
fn forfeits_count_towards_the_length_of_a_tavla_match() {
    let mut sim = Scene::new("tavla")
        .rules(json!({"match_length": 3}))
        .begin();
    sim.go_on_to_game(1);
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, "nonsense");
    // Nothing was borne off: mars.
    let result = sim.lost(seat, Verdict::IllegalMove, "illegal_move");
    assert_eq!(result.points.map(|points| points[1 - seat]), Some(2));
    sim.go_on_to_game(2);
    let start = last_start(&mut sim, seat);
    assert_eq!(start["state"]["score"][1 - seat], 2);
    assert_eq!(start["state"]["crawford"], true);
    resign(&mut sim, seat, 1);
    let result = sim.match_won_by(1 - seat);
    assert_eq!((result.games, result.series[1 - seat]), (2, 3.0));
}

#[test]
fn a_money_session_plays_all_its_games_and_adds_their_points() {
    let mut sim = Scene::new("tavla").rules(json!({"games": 3})).begin();
    for (game, loser, times) in [(1, 0, 3), (2, 1, 1), (3, 1, 2)] {
        sim.go_on_to_game(game);
        let start = last_start(&mut sim, 0);
        assert_eq!(start["match"]["of"], 3);
        assert_eq!(
            (&start["state"]["length"], &start["state"]["crawford"]),
            (&json!(0), &json!(false))
        );
        resign(&mut sim, loser, times);
    }
    let result = sim.match_over();
    assert_eq!((result.games, result.series), (3, vec![3.0, 3.0]));
    assert_eq!(result.score[0].value(), 0.5, "equal is a draw");
}

// ---- Forfeits and restarts ------------------------------------------------------------------------------------------

#[test]
fn after_a_forfeit_the_match_goes_on_with_that_bot_started_anew() {
    let mut sim = sets(3).greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    sim.forget();
    sim.play(seat, 9);
    assert_eq!(
        sim.heard(seat),
        ["error illegal_move fatal", "end r1.m1.g1", "bye", "hello"]
    );
    assert_eq!(sim.heard(1 - seat), ["end r1.m1.g1", "ping 1"]);
    sim.ready(seat);
    assert_eq!(
        sim.heard(seat),
        [""; 0],
        "the other has not answered its ping"
    );
    sim.answer_honestly(1 - seat);
    // The first move alternates: it is the other's.
    assert_eq!(sim.heard(1 - seat), ["start r1.m1.g2", "turn 2 move"]);
    assert_eq!(sim.heard(seat), ["start r1.m1.g2"]);
    sim.go_on_while(|sim| sim.on_turn() != Some(seat));
    assert_eq!(sim.turn(seat)["id"], 1, "ids begin again");
    assert_eq!(
        [sim.chairs[seat].starts, sim.chairs[1 - seat].starts],
        [2, 1]
    );
}

#[test]
fn a_second_forfeit_in_a_row_loses_the_match() {
    let mut sim = sets(5).begin();
    for game in 1..=2 {
        sim.go_on_to_game(game);
        sim.go_on_while(|sim| sim.on_turn() != Some(1));
        sim.play(1, 9);
        sim.lost(1, Verdict::IllegalMove, "illegal_move");
    }
    let result = sim.match_won_by(0);
    assert_eq!((result.games, result.series), (2, vec![2.0, 0.0]));
    assert!(sim.table.is_done());
}

#[test]
fn forfeits_that_are_not_in_a_row_or_not_of_one_seat_lose_only_their_games() {
    for losers in [[0, 1, 0, 1, 0], [1, 2, 1, 2, 1], [0, 1, 2, 1, 0]] {
        let mut sim = sets(5).begin();
        for (game, loser) in (1..=5).zip(losers) {
            sim.go_on_to_game(game);
            if loser < 2 {
                sim.go_on_while(|sim| sim.on_turn() != Some(loser));
                sim.play(loser, 9);
            } else {
                sim.go_on_while(|sim| sim.games.len() < game as usize);
            }
        }
        assert_eq!(sim.match_over().games, 5, "{losers:?}");
    }
}

#[test]
fn a_second_forfeit_in_a_row_loses_even_a_match_that_was_won() {
    let mut sim = short(5).greeted();
    for _ in 0..3 {
        sim.go_on_while(|sim| sim.on_turn() != Some(0));
        sim.play(0, 6);
        assert_eq!(sim.over().winner, Some(0));
    }
    for _ in 0..2 {
        sim.go_on_while(|sim| sim.on_turn() != Some(0));
        sim.play(0, 9);
        sim.lost(0, Verdict::IllegalMove, "illegal_move");
    }
    assert_eq!(sim.match_won_by(1).series, [3.0, 2.0]);
}

#[test]
fn bots_may_be_started_anew_for_every_game() {
    let mut scene = short(3);
    scene.restart_each_game = true;
    let mut sim = scene.greeted();
    for game in 1..=3 {
        assert_eq!([sim.chairs[0].starts, sim.chairs[1].starts], [game, game]);
        assert_eq!(sim.turn(0)["id"], 1);
        sim.forget();
        sim.play(0, 6);
        let end = format!("end r1.m1.g{game}");
        let next = if game < 3 {
            vec![end, "bye".into(), "hello".into()]
        } else {
            vec![end, "bye".into()]
        };
        assert_eq!([sim.heard(0), sim.heard(1)], [next.clone(), next]);
        sim.go_on_while(|sim| sim.on_turn().is_none());
    }
    sim.match_won_by(0);
}

#[test]
fn a_bot_that_ends_between_games_is_not_missed_where_it_is_started_anew_anyway() {
    let mut scene = short(2);
    scene.restart_each_game = true;
    let mut sim = scene.greeted();
    sim.gone(1, FaultKind::Exit(1));
    sim.play(0, 6);
    sim.go_on_to_game(2);
    sim.play(0, 6);
    sim.match_won_by(0);
    assert!(sim.games.iter().all(|game| game.result.against.is_none()));
}

#[test]
fn a_bot_that_takes_its_time_to_leave_is_waited_for() {
    let mut sim = sets(3).greeted();
    sim.prompt = false;
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, 9);
    sim.answer_honestly(1 - seat);
    assert_eq!(sim.chairs[seat].starts, 1);
    assert_eq!(sim.on_turn(), None);
    sim.ended(seat);
    assert_eq!(sim.chairs[seat].starts, 2);
    sim.ready(seat);
    assert!(sim.on_turn().is_some());
}

// ---- Ping -----------------------------------------------------------------------------------------------------------

#[test]
fn each_game_but_the_first_begins_when_both_have_answered_a_ping() {
    for first in 0..2 {
        let mut sim = short(2).greeted();
        sim.play(0, 6);
        sim.forget();
        sim.answer_honestly(first);
        assert_eq!([sim.heard(0), sim.heard(1)], [[""; 0], [""; 0]]);
        sim.answer_honestly(1 - first);
        assert_eq!(sim.heard(1), ["start r1.m1.g2"]);
    }
}

#[test]
fn a_ping_that_is_not_answered_in_time_loses_the_next_game() {
    type Act = fn(&mut Sim, usize);
    let cases: [(&str, Act, Verdict, &str); 6] = [
        (
            "nothing",
            |sim, seat| {
                sim.time_out(seat);
            },
            Verdict::Timeout,
            "timeout",
        ),
        (
            "late",
            |sim, seat| pong_in(sim, seat, 0, 10_000_001),
            Verdict::Timeout,
            "timeout",
        ),
        (
            "a wrong id",
            |sim, seat| {
                pong_in(sim, seat, 7, 0);
                sim.goes_on();
                sim.time_out(seat);
            },
            Verdict::Timeout,
            "timeout",
        ),
        (
            "death",
            |sim, seat| sim.gone(seat, FaultKind::Exit(0)),
            Verdict::Crash,
            "exit 0",
        ),
        (
            "a closed pipe",
            |sim, seat| sim.gone(seat, FaultKind::ClosedPipe),
            Verdict::Crash,
            "closed_pipe",
        ),
        ("a flood", Sim::flood, Verdict::Flood, "line_too_long"),
    ];
    for (what, wrong, verdict, reason) in cases {
        for seat in 0..2 {
            for first in [true, false] {
                let mut sim = short(4).greeted();
                sim.play(0, 6);
                sim.over();
                if !first {
                    sim.answer_honestly(1 - seat);
                }
                sim.forget();
                wrong(&mut sim, seat);
                if first {
                    sim.answer_honestly(1 - seat);
                }
                let result = sim.lost(seat, verdict, reason);
                assert_eq!((result.id.game, result.moves), (2, 0), "{what}");
                assert_eq!(sim.heard(1 - seat)[0], "end r1.m1.g2", "{what}");
                // It is a forfeit like any other: the next one in a row loses the match.
                sim.go_on_to_game(3);
                sim.gone(seat, FaultKind::Exit(2));
                sim.go_on_while(|sim| sim.games.len() < 3 && sim.on_turn() != Some(seat));
                if seat == 0 {
                    sim.lost(seat, Verdict::Crash, "exit 2");
                    assert_eq!(sim.match_won_by(1).games, 3, "{what}");
                }
            }
        }
    }
}

fn pong_in(sim: &mut Sim, seat: usize, more: u64, wall_us: u64) {
    let id = sim.chairs[seat]
        .question
        .as_ref()
        .and_then(|ping| ping["id"].as_u64());
    let pong = json!({"type": "pong", "id": id.expect("a ping is open") + more});
    sim.line(seat, pong.to_string().as_bytes(), wall(wall_us));
}

#[test]
fn a_pong_at_the_limit_is_in_time() {
    let mut sim = short(2).greeted();
    sim.play(0, 6);
    for seat in 0..2 {
        sim.look(seat, wall(10_000_000));
        pong_in(&mut sim, seat, 0, 10_000_000);
    }
    assert_eq!(sim.turn(0)["id"], 3);
}

// ---- Void games -----------------------------------------------------------------------------------------------------

#[test]
fn a_void_game_is_played_again_under_its_id_with_bots_started_anew() {
    let mut sim = short(2).greeted();
    sim.play(0, 6);
    sim.over();
    sim.go_on_to_game(2);
    sim.forget();
    sim.handle(Input::Abort {
        why: "the disk is full".into(),
    });
    assert_eq!(
        sim.voids
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["r1.m1.g2"]
    );
    sim.goes_on();
    assert_eq!(
        [sim.heard(0), sim.heard(1)],
        [["hello"], ["hello"]],
        "killed, not bidden farewell"
    );
    sim.go_on_to_game(2);
    assert_eq!(sim.heard(1)[0], "start r1.m1.g2");
    sim.play(0, 6);
    let result = sim.match_won_by(0);
    assert_eq!((result.games, result.series), (2, vec![2.0, 0.0]));
}

#[test]
fn the_third_void_of_one_game_gives_the_match_up() {
    let mut sim = short(3).greeted();
    for _ in 0..2 {
        sim.handle(Input::Abort { why: "why".into() });
        sim.go_on_to_game(1);
    }
    // A game that is over makes a new count.
    sim.play(0, 6);
    for _ in 0..3 {
        assert!(sim.ends.is_empty());
        sim.go_on_to_game(2);
        sim.handle(Input::Abort { why: "why".into() });
    }
    assert!(
        matches!(sim.ends[..], [MatchEnd::GaveUp(id)] if id.game == 2),
        "{:?}",
        sim.ends
    );
    assert_eq!((sim.voids.len(), sim.games.len()), (4, 1));
    assert!(sim.table.is_done());
    sim.handle(Input::Abort {
        why: "again".into(),
    });
    assert_eq!(sim.ends.len(), 1);
}

#[test]
fn a_bot_that_cannot_be_started_voids_the_game() {
    for seat in 0..2 {
        let mut sim = Scene::new("mangala").begin();
        sim.ready(1 - seat);
        // The machine fails at a restart: the first game is void by another cause.
        sim.chairs[seat].fails_to_start = true;
        sim.handle(Input::Abort { why: "why".into() });
        assert_eq!(sim.chairs[seat].process, Process::Broken);
        sim.chairs[seat].fails_to_start = false;
        sim.not_started(seat);
        assert_eq!(sim.voids.len(), 2);
        sim.go_on_to_game(1);
        sim.finish();
    }
}

#[test]
fn two_bots_that_cannot_be_started_at_once_void_one_game_once() {
    for first in 0..2 {
        let mut sim = Scene::new("mangala").begin();
        sim.chairs
            .iter_mut()
            .for_each(|chair| chair.fails_to_start = true);
        sim.handle(Input::Abort { why: "why".into() });
        sim.chairs
            .iter_mut()
            .for_each(|chair| chair.fails_to_start = false);
        sim.not_started(first);
        assert_eq!(sim.voids.len(), 2);
        if sim.chairs[1 - first].process == Process::Broken {
            sim.not_started(1 - first);
        }
        assert_eq!((sim.voids.len(), &sim.ends[..]), (2, &[][..]));
        sim.go_on_to_game(1);
        sim.finish();
    }
}

#[test]
fn a_machine_that_starts_nothing_is_given_up() {
    let mut sim = Scene::new("mangala").begin();
    sim.chairs
        .iter_mut()
        .for_each(|chair| chair.fails_to_start = true);
    sim.handle(Input::Abort { why: "why".into() });
    for _ in 0..10 {
        if let Some(seat) = (0..2).find(|&seat| sim.chairs[seat].process == Process::Broken) {
            sim.not_started(seat);
        }
    }
    assert!(
        matches!(sim.ends[..], [MatchEnd::GaveUp(_)]),
        "{:?}",
        sim.ends
    );
    assert!(sim.table.is_done());
}

#[test]
fn a_void_game_forgives_what_was_done_in_it_and_breaks_no_row() {
    let mut sim = sets(5).begin();
    sim.go_on_to_game(1);
    sim.go_on_while(|sim| sim.on_turn() != Some(1));
    sim.play(1, 9);
    sim.lost(1, Verdict::IllegalMove, "illegal_move");
    sim.go_on_to_game(2);
    let idle = 1 - sim.on_turn().expect("a seat is asked");
    sim.flood(idle);
    sim.handle(Input::Abort { why: "why".into() });
    sim.go_on_to_game(2);
    sim.go_on_while(|sim| sim.on_turn() != Some(1));
    sim.goes_on();
    sim.play(1, 9);
    assert_eq!(
        sim.match_won_by(0).games,
        2,
        "two forfeits with only a void game between"
    );
}

#[test]
fn an_opening_that_cannot_be_is_nobodys_loss() {
    let mut sim = short(1).opening(json!({"pits": "none"})).begin();
    for _ in 0..3 {
        sim.ready(0);
        sim.ready(1);
    }
    assert!(
        matches!(sim.ends[..], [MatchEnd::GaveUp(_)]),
        "{:?}",
        sim.ends
    );
}

// ---- Played over ----------------------------------------------------------------------------------------------------

#[test]
fn a_drawn_set_is_played_over_at_most_three_times_if_the_rules_say_so() {
    let mut sim = sets(1)
        .rules(json!({"rematch_on_draw": true}))
        .opening(last_stone(0, [24, 24]))
        .greeted_with([json!({"history": true}), Value::Null]);
    let mut told = Vec::new();
    for _ in 0..4 {
        assert_eq!(
            (&sim.turn(0)["last"], &sim.turn(0)["history"]),
            (&json!([]), &json!([]))
        );
        sim.play(0, 6);
        told.extend(sim.heard(1));
    }
    assert_eq!(
        told,
        [
            "start r1.m1.g1 1",
            "start r1.m1.g1 2",
            "start r1.m1.g1 3",
            "end r1.m1.g1",
            "bye"
        ],
        "no end comes between"
    );
    let result = sim.over();
    assert_eq!((result.winner, result.moves), (None, 4));
    assert_eq!(sim.match_over().games, 1);
}

#[test]
fn the_first_move_of_a_rematch_is_the_other_seats() {
    // Two random plies and then a game that honest bots draw would be luck: play to a draw by a short state instead.
    let mut sim = sets(1).rules(json!({"rematch_on_draw": true})).begin();
    sim.go_on_to_game(1);
    let rules = hakem::game::find("mangala").expect("a game");
    let rules = rules
        .rules(sim.scene.rules.as_object().expect("an object"))
        .expect("rules");
    let first = |again| {
        let setup = hakem::game::Setup {
            again,
            ..hakem::game::Setup::SINGLE
        };
        let mut state = Vec::new();
        rules.start(&setup).write_state(&mut state);
        serde_json::from_slice::<Value>(&state).expect("JSON")["turn"].clone()
    };
    assert_eq!(
        [first(0), first(1), first(2)],
        [json!(0), json!(1), json!(0)]
    );
    sim.finish();
}

// ---- Openings -------------------------------------------------------------------------------------------------------

#[test]
fn every_game_starts_from_the_opening_but_keeps_the_score_of_the_match() {
    let mut own = [0; 26];
    own[0] = 14;
    own[1] = 1;
    let mut other = [0; 26];
    other[0] = 14;
    other[2] = 1;
    let opening = json!({
        "checkers": [own, other], "dice": null, "cube": {"value": 2, "owner": 0},
        "score": [0, 0], "length": 0, "crawford": false, "turn": 0,
    });
    let mut sim = Scene::new("tavla")
        .rules(json!({"match_length": 4}))
        .opening(opening)
        .begin();
    for (game, score) in [(1, 0), (2, 2)] {
        sim.go_on_to_game(game);
        let start = last_start(&mut sim, 0);
        assert_eq!(start["state"]["checkers"], json!([own, other]));
        assert_eq!(start["state"]["cube"], json!({"value": 2, "owner": 0}));
        assert_eq!(
            (&start["state"]["score"], &start["state"]["length"]),
            (&json!([score, 0]), &json!(4))
        );
        assert_eq!(start.get("opening"), None, "there was no opening roll");
        sim.play(0, "roll");
        sim.answer_honestly(0);
        assert_eq!(sim.over().points, Some(vec![2, 0]));
    }
    sim.match_won_by(0);
}

#[test]
fn opening_plies_are_played_before_the_start_and_leave_the_cube_alone() {
    for (game, plies) in [
        ("tavla", 1),
        ("tavla", 4),
        ("tavla", 7),
        ("mangala", 1),
        ("mangala", 5),
    ] {
        let mut scene = Scene::new(game);
        scene.opening_plies = plies;
        let mut sim = scene.begin();
        sim.ready(0);
        sim.ready(1);
        let start = last_start(&mut sim, 1);
        let text = format!("{:?}", start["state"]);
        let seat = sim.on_turn().expect("a seat is asked");
        assert_eq!(sim.turn(seat)["state"], start["state"]);
        assert_eq!(sim.turn(seat)["last"], json!([]), "it was before the start");
        assert_eq!(
            (&start["first"], sim.turn(seat)["id"].as_u64()),
            (&json!(seat), Some(1))
        );
        if game == "tavla" {
            assert_eq!(
                start["state"]["cube"],
                json!({"value": 1, "owner": null}),
                "{text}"
            );
            let pips = |side: &Value| -> u64 {
                side.as_array()
                    .into_iter()
                    .flatten()
                    .zip(0..)
                    .map(|(count, point)| count.as_u64().unwrap_or(0) * point)
                    .sum()
            };
            assert!(
                pips(&start["state"]["checkers"][0]) < 167 || plies == 1,
                "something was played"
            );
        } else {
            assert_ne!(
                start["state"]["pits"],
                json!([vec![4; 6], vec![4; 6]]),
                "something was played"
            );
        }
        sim.finish();
    }
}

#[test]
fn an_opening_never_plays_the_game_to_its_end() {
    for game in ["tavla", "mangala"] {
        let mut scene = Scene::new(game).rules(if game == "tavla" {
            json!({"max_plies": 30})
        } else {
            json!({})
        });
        scene.opening_plies = 10_000;
        let mut sim = scene.begin();
        sim.ready(0);
        sim.ready(1);
        assert!(sim.on_turn().is_some(), "{game}: a question is left");
        sim.finish();
    }
}
