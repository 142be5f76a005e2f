//! Any order of events and any bytes: the match ends, once, and everything said and written on the way is in order
//! ([`Sim`] looks at all of it).
//!
//! `HAKEM_TEST_SEED` chooses other cases, `HAKEM_TEST_FULL=1` plays many more.

use std::sync::Arc;

use hakem::clock::Spent;
use hakem::referee::{Effect, FaultKind, Gone, Input, Outbox, Table};
use hakem_protocol::ClockKind;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use super::records::Lots;
use super::sim::{MatchEnd, Process, Scene, Sim, last_stone, legal, wall};

fn seed() -> u64 {
    std::env::var("HAKEM_TEST_SEED").map_or(1, |text| text.parse().expect("a number"))
}

/// So many cases, or many more.
fn cases(usual: u32) -> u32 {
    let full = std::env::var_os("HAKEM_TEST_FULL").is_some_and(|value| value == "1");
    if full { usual * 40 } else { usual }
}

fn runner(usual: u32) -> TestRunner {
    TestRunner::new(Config {
        cases: cases(usual),
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    })
}

// ---- What is played -------------------------------------------------------------------------------------------------

/// One of some matches and clocks, by a number.
fn scene(number: u32) -> Scene {
    let mut scene = match number % 8 {
        0 => Scene::new("mangala").rules(json!({"sets": 3})),
        1 => Scene::new("mangala").rules(json!({"sets": 2, "rematch_on_draw": true})),
        2 => Scene::new("mangala")
            .rules(json!({"sets": 4, "rematch_on_draw": true}))
            .opening(last_stone(0, [24, 24])),
        3 => Scene::new("mangala")
            .rules(json!({"sets": 5}))
            .opening(last_stone(1, [25, 23])),
        4 => Scene::new("tavla").rules(json!({"match_length": 3})),
        5 => Scene::new("tavla").rules(json!({"games": 2, "beavers": true, "raccoons": true})),
        6 => Scene::new("tavla").rules(json!({"match_length": 2, "max_plies": 12, "cube": false})),
        _ => Scene::new("tavla").rules(json!({"games": 3, "max_plies": 20, "jacoby": true})),
    };
    let clock = &mut scene.clock;
    match number / 8 % 5 {
        0 => {}
        1 => (clock.main_us, clock.increment_us) = (Some(3_000_000), 50_000),
        2 => (clock.kind, clock.ceiling_us) = (ClockKind::Fair, Some(20_000_000)),
        3 => (clock.kind, clock.margin_us) = (ClockKind::Cpu, 30_000),
        _ => clock.move_us = None,
    }
    scene.restart_each_game = number / 40 % 4 == 3;
    if number / 160 % 3 == 2 {
        scene.opening_plies = number / 480 % 7;
    }
    scene
}

/// Something that happens: what, at which seat, and a number that says more.
type Step = (u8, bool, u16);

/// What a step takes.
fn spent(number: u16) -> Spent {
    let number = u64::from(number);
    match number % 4 {
        0 => Spent::default(),
        1 => wall(number * 100),
        2 => Spent {
            wall_us: number * 150,
            cpu_us: Some(number * 20),
            delay_us: Some(number * 60),
            earlier_us: number * 30,
            outside_us: number,
        },
        _ => Spent {
            wall_us: number * number,
            cpu_us: Some(number),
            delay_us: None,
            ..Spent::default()
        },
    }
}

/// The line that answers a seat's open question, honestly, with any legal answer; nothing if none is open.
fn honest_line(sim: &Sim, seat: usize, number: u16) -> Vec<u8> {
    let Some(question) = &sim.chairs[seat].question else {
        return Vec::new();
    };
    let id = &question["id"];
    let answer = match question["type"].as_str() {
        Some("hello") => json!({
            "type": "ready", "protocol": 1, "name": "x", "legal": number & 1 == 0,
            "history": number & 2 == 0, "events": number & 4 == 0,
        }),
        Some("ping") => json!({"type": "pong", "id": id}),
        _ => {
            let mut legal = legal(&sim.scene, question);
            let index = usize::from(number) % legal.len();
            let mv = legal.swap_remove(index);
            json!({"type": "move", "id": id, "move": mv, "eval": f64::from(number) / 7.0})
        }
    };
    let mut line = answer.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A line that is not quite honest.
fn odd_message(sim: &Sim, seat: usize, number: u16) -> Value {
    let question = sim.chairs[seat].question.as_ref();
    let id = question.map_or(1, |question| question["id"].as_u64().unwrap_or(1));
    match number % 12 {
        0 => json!({"type": "move", "id": id, "move": null}),
        1 => json!({"type": "move", "id": id + 1, "move": 1}),
        2 => json!({"type": "pong", "id": id}),
        3 => json!({"type": "pong", "id": id + 1}),
        4 => json!({"type": "ready", "protocol": 1}),
        5 => json!({"type": "ready", "protocol": 2}),
        6 => json!({"type": "move", "id": id, "move": {"resign": 2}}),
        7 => json!({"type": "move", "id": id, "move": "double"}),
        8 => json!({"type": "move", "id": id, "move": [[24, 18], [13, 11]]}),
        9 => json!({"type": "bye"}),
        10 => json!([id]),
        _ => json!({"type": "move", "id": id, "move": number, "note": "n".repeat(5_000)}),
    }
}

/// Changes some bytes.
fn mutate(bytes: &mut Vec<u8>, lots: &mut Lots) {
    for _ in 0..=lots.below(3) {
        let at = lots.below(bytes.len() + 1);
        let byte = lots.next() as u8;
        match lots.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << (byte & 7),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.insert(at, byte),
            3 => bytes.truncate(at),
            4 => bytes.extend_from_within(at..),
            _ => {
                const PIECES: [&[u8]; 8] = [
                    b"\n",
                    b"\"",
                    b"{",
                    b"[[",
                    b"null",
                    b"1e9",
                    b"\xef\xbb\xbf",
                    b"\\ud800",
                ];
                let piece = PIECES[usize::from(byte) % PIECES.len()];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
}

fn gone(number: u16) -> FaultKind {
    match number % 3 {
        0 => FaultKind::Exit(i32::from(number / 3)),
        1 => FaultKind::Signal(9),
        _ => FaultKind::ClosedPipe,
    }
}

fn take(sim: &mut Sim, (what, seat, number): Step) {
    let seat = usize::from(seat);
    let runs = sim.chairs[seat].process == Process::Running;
    // A bot that was told to leave may still write.
    let writes = runs || sim.chairs[seat].process == Process::Leaving;
    match what % 64 {
        0 if writes => {
            let message = odd_message(sim, seat, number);
            sim.line(seat, message.to_string().as_bytes(), spent(number));
        }
        1 if writes => {
            let mut line = honest_line(sim, seat, number);
            mutate(&mut line, &mut Lots(u64::from(number)));
            sim.write(seat, &line, spent(number));
        }
        2 if writes => {
            // Two answers in one piece, the second a guess.
            let mut line = honest_line(sim, seat, number);
            line.extend_from_slice(odd_message(sim, seat, number).to_string().as_bytes());
            line.push(b'\n');
            sim.write(seat, &line, spent(number));
        }
        3 if writes => sim.flood(seat),
        4 if runs => sim.gone(seat, gone(number)),
        5 => sim.handle(Input::Abort {
            why: "a test".into(),
        }),
        6 => sim.chairs[seat].fails_to_start ^= number % 4 == 0,
        7 => sim.prompt = number % 2 == 0,
        8 if sim.chairs[seat].wake.is_some() => {
            sim.time_out(seat);
        }
        9..=11 => sim.look(seat, spent(number)),
        // Not a step of the bots: what was ordered comes about.
        12..=14 => settle_process(sim, seat),
        // Whoever is asked answers in time.
        _ => {
            let asked = (0..2).find(|&seat| sim.chairs[seat].question.is_some());
            if let Some(seat) = asked.filter(|&seat| sim.chairs[seat].process == Process::Running) {
                let line = honest_line(sim, seat, number);
                sim.write(seat, &line, Spent::default());
            }
        }
    }
}

fn settle_process(sim: &mut Sim, seat: usize) {
    match sim.chairs[seat].process {
        Process::Broken => sim.not_started(seat),
        Process::Leaving => sim.ended(seat),
        Process::Absent | Process::Running | Process::Dead => {}
    }
}

/// Nothing more happens by itself: every deadline comes, and everything ordered comes about.
fn run_out(sim: &mut Sim) {
    for step in 0..20_000 {
        let seat = step % 2;
        settle_process(sim, seat);
        if sim.chairs[seat].process == Process::Running && sim.chairs[seat].question.is_some() {
            if sim.chairs[seat].wake.is_some() {
                sim.time_out(seat);
            } else {
                // Without a limit only an answer goes on.
                let line = honest_line(sim, seat, 0);
                sim.write(seat, &line, Spent::default());
            }
        }
        if sim.table.is_done() {
            return;
        }
    }
    panic!("the match does not end");
}

fn check_end(sim: &Sim) {
    assert_eq!(sim.ends.len(), 1, "a match ends once");
    assert!(
        sim.chairs
            .iter()
            .all(|chair| chair.process == Process::Absent)
    );
    let games = sim.games.len() as u32;
    let voids = |number: u32| sim.voids.iter().filter(|id| id.game == number).count();
    for number in 1..=games + 1 {
        assert!(voids(number) < 3, "game {number} is given up");
    }
    match &sim.ends[0] {
        MatchEnd::Over(result) => {
            assert_eq!(result.games, games, "every game that counts is told");
            let sum: f64 = result.score.iter().map(|share| share.value()).sum();
            assert_eq!(sum, 1.0);
            assert_eq!(voids(games + 1), 0, "no game is left");
        }
        MatchEnd::GaveUp(id) => {
            assert_eq!(id.game, games + 1);
            assert_eq!(voids(id.game), 2, "the third void gives the match up");
        }
    }
}

#[test]
fn any_order_of_events_ends_the_match_once() {
    let steps = prop::collection::vec(any::<Step>(), 0..250);
    runner(400)
        .run(&(any::<u32>(), steps), |(number, steps)| {
            let mut sim = scene(number).begin();
            sim.schemas = number % 4 == 0;
            for step in steps {
                take(&mut sim, step);
            }
            run_out(&mut sim);
            check_end(&sim);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_bytes_of_two_bots_end_the_match_once() {
    for number in 0..cases(400) {
        let mut lots = Lots(seed() << 32 | u64::from(number));
        let mut sim = scene(lots.next() as u32).begin();
        sim.schemas = number % 4 == 0;
        for _ in 0..400 {
            let seat = lots.below(2);
            let number = lots.next() as u16;
            let mut line = honest_line(&sim, seat, number);
            if lots.below(8) == 0 {
                mutate(&mut line, &mut lots);
            }
            if sim.chairs[seat].process == Process::Running {
                sim.write(seat, &line, Spent::default());
            }
            let idle = (0..2).all(|seat| sim.chairs[seat].process != Process::Running);
            if idle {
                break;
            }
        }
        run_out(&mut sim);
        check_end(&sim);
    }
}

#[test]
fn no_input_at_a_wrong_time_breaks_the_table() {
    // What no driver hands in: anything, for any seat, in any state. Nothing is asked but that it bears it.
    let kinds = prop::collection::vec(any::<Step>(), 0..300);
    runner(300)
        .run(&(any::<u32>(), kinds), |(number, steps)| {
            let sim = scene(number).begin();
            let mut table = Table::new(Arc::new(sim.setup()));
            let mut out = Outbox::default();
            table.begin(&mut out);
            let mut ends = 0;
            let mut asked: [Value; 2] = [Value::Null, Value::Null];
            for (what, seat, number) in steps {
                let seat = usize::from(seat);
                for effect in out.effects.drain(..) {
                    match effect {
                        Effect::MatchOver(_) | Effect::GaveUp { .. } => ends += 1,
                        Effect::Ask { seat, line, .. } => {
                            asked[seat] = serde_json::from_slice(&out.bytes[line]).expect("JSON");
                        }
                        _ => {}
                    }
                }
                out.clear();
                let spent = spent(number);
                let line = match asked[seat]["type"].as_str() {
                    Some("hello") => json!({"type": "ready", "protocol": 1}),
                    Some("ping") => json!({"type": "pong", "id": asked[seat]["id"]}),
                    _ => {
                        let mv = &asked[seat]["legal"][0];
                        json!({"type": "move", "id": asked[seat]["id"], "move": mv})
                    }
                };
                let line = line.to_string();
                let (early, line) = (what & 64 != 0, line.as_bytes());
                let input = match what % 16 {
                    0 => Input::Flood {
                        seat,
                        what: "x".into(),
                        spent,
                    },
                    1 => Input::Deadline { seat, spent },
                    2 => Input::Gone {
                        seat,
                        how: Gone {
                            kind: gone(number),
                            note: "x".into(),
                        },
                        spent,
                    },
                    3 => Input::NotStarted {
                        seat,
                        why: "x".into(),
                    },
                    4 | 5 => Input::Ended { seat },
                    6 if number % 8 == 0 => Input::Abort { why: "x".into() },
                    7 => Input::Line {
                        seat,
                        line: b"x",
                        spent,
                        early,
                    },
                    _ => Input::Line {
                        seat,
                        line,
                        spent,
                        early,
                    },
                };
                table.handle(input, &mut out);
            }
            prop_assert!(ends <= 1);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
