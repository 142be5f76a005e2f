//! Whatever happens in whatever order, a race ends, its record verifies, and its points are those that the times in the
//! record say.

use hakem::referee::{FaultKind, Gone, Input};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::ring::{Ring, Scene, answer, right, wall, wrong};

/// Something that a seat does, or that happens to it.
#[derive(Clone, Debug)]
enum Act {
    Claims,
    ClaimsWrongly,
    GivesUp,
    /// It answers a question with this id.
    Answers(u64),
    Writes(&'static str),
    Gone,
    Flood,
    /// The table is told to look at it now, wanted or not.
    Looked,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => Just(Act::Claims),
        4 => Just(Act::ClaimsWrongly),
        2 => Just(Act::GivesUp),
        4 => (0u64..8).prop_map(Act::Answers),
        1 => prop::sample::select(vec!["", "{}", "[]", "{\"type\":\"pong\",\"id\":4}", "nonsense"])
            .prop_map(Act::Writes),
        1 => Just(Act::Gone),
        1 => Just(Act::Flood),
        3 => Just(Act::Looked),
    ]
}

impl Ring {
    /// Looks that are due until this time, in order.
    fn pass(&mut self, until: u64) {
        loop {
            let due = |seat: &usize| {
                let chair = &self.chairs[*seat];
                chair.wake.map(|wake| chair.asked_at.saturating_add(wake))
            };
            let next = (0..self.chairs.len())
                .filter_map(|seat| due(&seat).map(|due| (due, seat)))
                .min();
            match next {
                Some((due, seat)) if due <= until => {
                    self.now = self.now.max(due);
                    let spent = wall(self.now - self.chairs[seat].asked_at);
                    self.chairs[seat].wake = None;
                    self.handle(Input::Deadline { seat, spent });
                }
                _ => break,
            }
        }
        self.now = self.now.max(until);
    }

    fn act(&mut self, seat: usize, act: &Act) {
        let chair = &self.chairs[seat];
        if !chair.up {
            return;
        }
        let open = chair.question.clone();
        let spent = match open {
            Some(_) => wall(self.now - chair.asked_at),
            None => wall(0),
        };
        let turn = open.filter(|asked| asked["type"] == "turn");
        let claim = |mv: fn(&Value) -> Value| {
            turn.as_ref()
                .map(|turn| answer(&turn["id"], &mv(&turn["state"])))
        };
        let line = match act {
            Act::Claims => claim(right),
            Act::ClaimsWrongly => claim(wrong),
            Act::GivesUp => claim(|_| json!({"qbitz": null})),
            Act::Answers(id) => Some(answer(&json!(id), &json!({"qbitz": null}))),
            Act::Writes(line) => Some((*line).to_owned()),
            Act::Gone => {
                let kind = FaultKind::Signal(9);
                let note = String::new();
                let how = Gone { kind, note };
                self.handle(Input::Gone { seat, how, spent });
                None
            }
            Act::Flood => {
                let what = "too much".into();
                self.handle(Input::Flood { seat, what, spent });
                None
            }
            Act::Looked => {
                self.handle(Input::Deadline { seat, spent });
                None
            }
        };
        if let Some(line) = line {
            self.line(seat, &line, spent);
        }
    }
}

/// The points of a game, counted from the times in its record by the rules alone.
fn counted(record: &[u8], seats: usize, dead_heat_us: u64) -> Vec<u32> {
    let mut points = vec![0; seats];
    let mut claims: Vec<(u64, usize)> = Vec::new();
    let mut voids = 0;
    for line in record.split(|&byte| byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        if line["answer"]["claim"] == "right" {
            let answer = &line["answer"];
            let time = answer["spent"]["wall_us"].as_u64().expect("a time");
            claims.push((time, answer["seat"].as_u64().expect("a seat") as usize));
        } else if line.get("race").is_some() {
            let best = claims.iter().min().map_or(0, |&(time, _)| time);
            let heat = dead_heat_us.max(1);
            let first: Vec<usize> = claims
                .drain(..)
                .filter(|(time, _)| time - best < heat)
                .map(|(_, seat)| seat)
                .collect();
            if first.len() > 1 && voids < 3 {
                voids += 1;
            } else {
                voids = 0;
                first.iter().for_each(|&seat| points[seat] += 1);
            }
        } else if line["stopped"]["why"] == "claimed" {
            // Nobody is stopped who could still have been as fast as those who have claimed.
            let spent = line["stopped"]["spent"]["wall_us"]
                .as_u64()
                .expect("a time");
            let best = claims.iter().min().expect("a claim").0;
            assert!(spent >= best + dead_heat_us.max(1), "{line}");
        }
    }
    points
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_inputs_ends_and_counts_right(
        seats in 2usize..=4,
        in_turn in any::<bool>(),
        dead_heat_us in prop::sample::select(vec![0u64, 1, 1000, 20_000]),
        acts in prop::collection::vec((0u64..3_000, 0usize..4, act()), 0..120),
    ) {
        let race = if in_turn { "in-turn" } else { "together" };
        let rules = json!({
            "race": race, "dead_heat_us": dead_heat_us, "round_ms": 20, "rounds": 12, "target_points": 4,
        });
        let mut ring = Scene::new(seats, rules).greeted();
        for (after, seat, act) in &acts {
            ring.pass(ring.now + after);
            if *seat < seats {
                ring.act(*seat, act);
            }
            prop_assert!(!in_turn || ring.racing().len() <= 1);
        }
        // Nobody does anything any more: the time of the rounds runs out.
        for _ in 0..200 {
            ring.pass(ring.now + 21_000);
        }
        prop_assert!(ring.table.is_done());
        let game = &ring.games[0];
        let points = game.result.points.clone().expect("points");
        prop_assert_eq!(points, counted(&game.record, seats, dead_heat_us));
        let shares: f64 = ring.shares().iter().sum();
        prop_assert!((shares - 1.0).abs() < 1e-9);
        for seat in 0..seats {
            for told in ring.messages(seat) {
                prop_assert!(told["message"] != "", "{}", told);
            }
        }
    }
}
