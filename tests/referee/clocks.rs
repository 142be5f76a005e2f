//! Clocks of every kind, with what was measured given.

use hakem::clock::{ClockSpec, Spent};
use hakem::event::Verdict;
use hakem_protocol::ClockKind;
use serde_json::{Value, json};

use super::sim::{Scene, Sim, last_stone, wall};

const MS: u64 = 1_000;

/// A match of Mangala with this clock and seat 0 on turn, whose pit 4 gives it another move.
fn scene(change: impl FnOnce(&mut ClockSpec)) -> Scene {
    let state =
        json!({"pits": [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]], "stores": [0, 0], "turn": 0});
    Scene::new("mangala")
        .rules(json!({"sets": 3}))
        .opening(state)
        .clock(|clock| {
            clock.move_us = None;
            change(clock);
        })
}

/// What was measured, in milliseconds.
fn spent(wall_ms: u64, cpu_ms: u64, delay_ms: u64) -> Spent {
    Spent {
        wall_us: wall_ms * MS,
        cpu_us: Some(cpu_ms * MS),
        delay_us: Some(delay_ms * MS),
        ..Spent::default()
    }
}

/// The seat on turn answers after this.
fn answer(sim: &mut Sim, spent: Spent) -> usize {
    let seat = sim.on_turn().expect("a seat is asked");
    let turn = sim.turn(seat);
    let answer = json!({"type": "move", "id": turn["id"], "move": turn["legal"][0]});
    sim.line(seat, answer.to_string().as_bytes(), spent);
    seat
}

/// What the open turn says of the clocks.
fn clocks(sim: &Sim) -> (Value, Value) {
    let turn = sim.turn(sim.on_turn().expect("a seat is asked"));
    (
        turn["clock"]["left_ms"].clone(),
        turn["clock"]["limit_ms"].clone(),
    )
}

#[test]
fn a_total_goes_down_by_what_was_charged_and_up_by_the_increment() {
    let mut sim = scene(|clock| {
        clock.main_us = Some(1_000 * MS);
        clock.increment_us = 100 * MS;
    })
    .greeted();
    assert_eq!(clocks(&sim), (json!([1000, 1000]), json!(1000)));
    answer(&mut sim, wall(300 * MS + 400));
    assert_eq!(
        clocks(&sim),
        (json!([799, 1000]), json!(1000)),
        "rounded down, never up"
    );
    answer(&mut sim, wall(1_000 * MS));
    assert_eq!(
        clocks(&sim),
        (json!([799, 100]), json!(799)),
        "all of it was in time"
    );
}

#[test]
fn an_answer_exactly_at_the_limit_is_in_time_and_a_microsecond_more_is_not() {
    type Change = fn(&mut ClockSpec);
    let at_limit: [(Change, u64); 6] = [
        (|clock| clock.main_us = Some(700 * MS), 700 * MS),
        (|clock| clock.move_us = Some(300 * MS), 300 * MS),
        (
            |clock| (clock.main_us, clock.move_us) = (Some(200 * MS), Some(300 * MS)),
            200 * MS,
        ),
        (
            |clock| (clock.main_us, clock.delay_us) = (Some(200 * MS), 50 * MS),
            250 * MS,
        ),
        (
            |clock| (clock.main_us, clock.margin_us) = (Some(200 * MS), 30 * MS),
            230 * MS,
        ),
        (
            |clock| (clock.move_us, clock.ceiling_us) = (Some(300 * MS), Some(200 * MS)),
            200 * MS,
        ),
    ];
    for (index, (change, limit)) in at_limit.into_iter().enumerate() {
        for (wall_us, in_time) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
            let mut sim = scene(change).greeted();
            let seat = answer(&mut sim, wall(wall_us));
            assert_eq!(
                sim.games.is_empty(),
                in_time,
                "clock {index} after {wall_us}"
            );
            if !in_time {
                sim.lost(seat, Verdict::Timeout, "timeout");
            }
            // A line that is no answer is held against the same limit.
            let mut sim = scene(change).greeted();
            sim.line(0, b"nonsense", wall(wall_us));
            let verdict = if in_time {
                Verdict::BadMessage
            } else {
                Verdict::Timeout
            };
            assert_eq!(sim.over().verdict, verdict, "clock {index} after {wall_us}");
            // And so is the look of a referee that was told nothing.
            let mut sim = scene(change).greeted();
            sim.look(0, wall(wall_us));
            assert_eq!(
                sim.games.is_empty(),
                in_time,
                "clock {index} looked at after {wall_us}"
            );
        }
    }
}

#[test]
fn the_flag_falls_before_the_increment_is_added() {
    let mut sim = scene(|clock| {
        clock.main_us = Some(100 * MS);
        clock.increment_us = 10_000 * MS;
    })
    .greeted();
    let seat = answer(&mut sim, wall(100 * MS + 1));
    sim.lost(seat, Verdict::Timeout, "timeout");
}

#[test]
fn a_margin_is_never_shown_and_a_clock_never_negative() {
    let mut sim = scene(|clock| {
        clock.main_us = Some(100 * MS);
        clock.margin_us = 50 * MS;
    })
    .greeted();
    assert_eq!(clocks(&sim), (json!([100, 100]), json!(100)));
    answer(&mut sim, wall(140 * MS));
    answer(&mut sim, wall(0));
    assert_eq!(sim.on_turn(), Some(0));
    assert_eq!(clocks(&sim), (json!([0, 100]), json!(0)));
    // At zero there is still the margin.
    answer(&mut sim, wall(50 * MS));
    answer(&mut sim, wall(0));
    let seat = answer(&mut sim, wall(50 * MS + 1));
    sim.lost(seat, Verdict::Timeout, "timeout");
    // An increment is added to nothing, not to a debt.
    let mut sim = scene(|clock| {
        (clock.main_us, clock.increment_us) = (Some(100 * MS), 30 * MS);
        clock.margin_us = 50 * MS;
    })
    .greeted();
    answer(&mut sim, wall(140 * MS));
    assert_eq!(clocks(&sim).0[0], 30);
}

#[test]
fn a_clock_at_zero_without_margin_is_lost_at_the_first_look_after_its_instant() {
    let mut sim = scene(|clock| clock.main_us = Some(100 * MS)).greeted();
    answer(&mut sim, wall(100 * MS));
    answer(&mut sim, wall(0));
    assert_eq!(clocks(&sim).1, 0);
    sim.look(0, wall(0));
    sim.goes_on();
    let (_, wall_us) = sim.time_out(0);
    assert!(wall_us <= MS, "it is looked at soon: {wall_us}");
    sim.lost(0, Verdict::Timeout, "timeout");
}

#[test]
fn a_delay_is_not_charged_and_extends_what_an_answer_may_take() {
    let mut sim = scene(|clock| {
        clock.main_us = Some(100 * MS);
        clock.delay_us = 1_000 * MS;
    })
    .greeted();
    assert_eq!(clocks(&sim), (json!([100, 100]), json!(1100)));
    answer(&mut sim, wall(900 * MS));
    answer(&mut sim, wall(1_040 * MS));
    assert_eq!(clocks(&sim), (json!([100, 60]), json!(1100)));
}

#[test]
fn what_is_charged_follows_the_kind_of_clock() {
    // Measured: wall, processor, delay; charged, all in milliseconds.
    let cases = [
        (ClockKind::Wall, spent(900, 100, 300), 900),
        (ClockKind::Cpu, spent(900, 100, 300), 100),
        (ClockKind::Fair, spent(900, 100, 300), 600),
        (ClockKind::Fair, spent(900, 800, 300), 800),
        (ClockKind::Fair, spent(900, 5_000, 0), 900),
        (ClockKind::Fair, spent(900, 0, 5_000), 0),
        (ClockKind::Fair, wall(900 * MS), 900),
        (ClockKind::Cpu, wall(900 * MS), 900),
        // What the counters tell of earlier answers cannot be this one's.
        (ClockKind::Cpu, spent(900, 5_000, 0), 900),
    ];
    for (kind, spent, charged) in cases {
        let mut sim = scene(|clock| {
            clock.kind = kind;
            clock.main_us = Some(1_000 * MS);
        })
        .greeted();
        let seat = answer(&mut sim, spent);
        assert_eq!(clocks(&sim).0[seat], 1_000 - charged, "{kind:?} {spent:?}");
        sim.finish();
        let first = &sim.games[0].result;
        assert!(first.time_us[seat] >= charged * MS);
        assert_eq!(
            first.cpu_us[seat],
            spent.cpu_us.unwrap_or(0),
            "told, whatever the kind"
        );
    }
}

#[test]
fn waiting_for_a_core_loses_no_game_on_a_fair_clock_and_computing_does() {
    for (spent, in_time) in [
        (spent(5_000, 10, 4_900), true),
        (spent(5_000, 101, 4_999), false),
        (spent(5_000, 0, 4_899), false),
    ] {
        let mut sim = scene(|clock| {
            clock.kind = ClockKind::Fair;
            clock.move_us = Some(100 * MS);
            clock.ceiling_us = Some(60_000 * MS);
        })
        .greeted();
        sim.look(0, spent);
        assert_eq!(sim.games.is_empty(), in_time, "{spent:?}");
        if in_time {
            assert!(sim.chairs[0].wake.is_some_and(|wake| wake > spent.wall_us));
            answer(&mut sim, spent);
            sim.goes_on();
        } else {
            sim.lost(0, Verdict::Timeout, "timeout");
        }
    }
}

#[test]
fn the_ceiling_ends_a_sleep_whatever_the_kind() {
    // Ten times the limit and a second, unless the event says otherwise.
    for (given, at) in [(None, 4_000 * MS), (Some(2_000 * MS), 2_000 * MS)] {
        for kind in [ClockKind::Cpu, ClockKind::Fair] {
            let asleep = |wall_us| Spent {
                wall_us,
                cpu_us: Some(0),
                // Else a fair clock would count the wall.
                delay_us: Some(wall_us),
                ..Spent::default()
            };
            let mut sim = scene(|clock| {
                clock.kind = kind;
                clock.move_us = Some(300 * MS);
                clock.ceiling_us = given;
            })
            .greeted();
            let (looks, last) = sim.time_out_as(0, asleep);
            assert_eq!(last, at + 1, "{kind:?}");
            assert!(looks < 20, "{kind:?}: {looks} looks");
            let result = sim.lost(0, Verdict::Timeout, "timeout");
            assert!(result.reason.contains("wall time"), "{}", result.reason);
        }
    }
}

#[test]
fn a_bot_that_sleeps_just_below_its_limit_does_not_keep_the_referee_looking() {
    // One microsecond of processor time is left, for as long as the ceiling lets it sleep.
    let mut sim = scene(|clock| {
        clock.kind = ClockKind::Cpu;
        clock.move_us = Some(300 * MS);
        clock.ceiling_us = Some(3_000 * MS);
    })
    .greeted();
    let (looks, _) = sim.time_out_as(0, |wall_us| Spent {
        wall_us,
        cpu_us: Some(wall_us.min(300 * MS - 1)),
        delay_us: Some(0),
        ..Spent::default()
    });
    assert!(
        looks <= 3_000,
        "more often than once a millisecond: {looks}"
    );
    sim.lost(0, Verdict::Timeout, "timeout");
}

#[test]
fn looks_too_early_or_twice_or_after_the_answer_do_nothing() {
    let mut sim = scene(|clock| clock.move_us = Some(300 * MS)).greeted();
    for wall_us in [0, 299 * MS, 299 * MS, 300 * MS] {
        sim.look(0, wall(wall_us));
        sim.goes_on();
        assert!(sim.chairs[0].wake.is_some_and(|wake| wake > wall_us));
    }
    sim.look(1, wall(10_000 * MS));
    sim.goes_on();
    sim.play(0, 1);
    sim.look(0, wall(10_000 * MS));
    sim.goes_on();
    assert_eq!(sim.time_out(1), (1, 300 * MS + 1));
    sim.look(1, wall(10_000 * MS));
    sim.lost(1, Verdict::Timeout, "timeout");
    assert!(sim.ends.is_empty());
}

#[test]
fn without_limits_nobody_ever_looks() {
    let mut sim = scene(|_| {}).greeted();
    assert_eq!(clocks(&sim), (json!([null, null]), json!(null)));
    assert_eq!(sim.chairs[0].wake, None);
    sim.look(0, wall(u64::MAX));
    answer(&mut sim, wall(u64::MAX / 2));
    sim.goes_on();
}

#[test]
fn no_measured_time_is_too_large() {
    // Only the sums could overflow: there is no limit.
    let mut sim = scene(|clock| clock.ready_us = u64::MAX).greeted();
    let most = Spent {
        wall_us: u64::MAX,
        cpu_us: Some(u64::MAX),
        delay_us: Some(u64::MAX),
        ..Spent::default()
    };
    for _ in 0..4 {
        answer(&mut sim, most);
    }
    let seat = sim.on_turn().expect("a seat is asked");
    sim.line(seat, b"nonsense", most);
    sim.lost(seat, Verdict::BadMessage, "bad_json");
    for (main_us, increment_us) in [(Some(u64::MAX), u64::MAX), (Some(0), u64::MAX)] {
        let mut sim = scene(|clock| {
            (clock.main_us, clock.increment_us) = (main_us, increment_us);
            (clock.delay_us, clock.margin_us) = (u64::MAX, u64::MAX);
            clock.ceiling_us = Some(u64::MAX);
        })
        .greeted();
        for _ in 0..4 {
            answer(&mut sim, most);
        }
        sim.goes_on();
    }
}

#[test]
fn an_answer_about_a_double_or_a_resignation_is_charged_to_the_seat_asked() {
    let mut sim = Scene::new("tavla")
        .clock(|clock| clock.main_us = Some(10_000 * MS))
        .greeted();
    let first = sim.on_turn().expect("a seat is asked");
    let mv = sim.turn(first)["legal"][0].clone();
    sim.play_in(first, mv, 1_000 * MS);
    sim.play_in(1 - first, "double", 2_000 * MS);
    sim.play_in(first, "take", 3_000 * MS);
    sim.play_in(1 - first, json!({"resign": 1}), 500 * MS);
    assert_eq!(sim.turn(first)["clock"]["left_ms"][first], 6_000);
    assert_eq!(sim.turn(first)["clock"]["left_ms"][1 - first], 7_500);
    sim.play_in(first, "refuse", 4_000 * MS);
    assert_eq!(sim.turn(1 - first)["clock"]["left_ms"][first], 2_000);
}

#[test]
fn clocks_are_full_at_every_game_and_every_rematch() {
    let mut sim = Scene::new("mangala")
        .rules(json!({"sets": 2, "rematch_on_draw": true}))
        .opening(last_stone(0, [24, 24]))
        .clock(|clock| clock.main_us = Some(1_000 * MS))
        .greeted();
    for again in 0..3 {
        assert_eq!(
            sim.turn(0)["clock"]["left_ms"],
            json!([1000, 1000]),
            "rematch {again}"
        );
        sim.play_in(0, 6, 600 * MS);
    }
    sim.play_in(0, 6, 600 * MS);
    assert_eq!(sim.over().time_us, [2_400 * MS, 0], "all of it is told");
    sim.go_on_to_game(2);
    assert_eq!(sim.turn(0)["clock"]["left_ms"], json!([1000, 1000]));
}
