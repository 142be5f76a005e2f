//! What a bot's processes use is charged to it, however short they live and whoever waits for their end.

use std::path::Path;

use crate::common::{Lab, text};
use crate::help::{LEVELS, PYTHON, as_each_user, event_of, in_force, play};

/// An event of the bot that hides its work, this many seconds for each of two turns.
fn hides(lab: &Lab, level: &str, how: &str, seconds: &str) -> crate::common::Event {
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/hidden.py");
    std::fs::copy(bot, lab.path("bot/hidden.py")).expect("the bot is copied");
    event_of(lab, level, &[PYTHON, "hidden.py", how, seconds])
}

/// Whether all of a box's time is counted; without a cgroup nobody tells of a child that the system was asked to forget.
fn all_is_counted(lab: &Lab) -> bool {
    in_force(lab, "event")["time"]["by"] == "cgroup"
}

#[test]
fn work_in_processes_that_are_gone_is_charged() {
    as_each_user(|lab| {
        for level in LEVELS {
            for (kind, how) in [
                ("fair", "orphans"),
                ("cpu", "orphans"),
                ("fair", "forgotten"),
            ] {
                let event = hides(&lab, level, how, "1")
                    .set("clock", "move", "\"200ms\"")
                    .set("clock", "kind", &format!("\"{kind}\""));
                let game = play(&lab, &event);
                if how == "orphans" || all_is_counted(&lab) {
                    assert_eq!(text(&game, "verdict"), "timeout", "{kind} {how}: {game}");
                    assert_eq!(game["against"], "bot", "{game}");
                }
                std::fs::remove_dir_all(lab.path("event")).expect("it is there");
            }
        }
    });
}

#[test]
fn work_in_processes_that_are_gone_is_told() {
    as_each_user(|lab| {
        for level in LEVELS {
            let event = hides(&lab, level, "orphans", "0.4").set("clock", "move", "\"60s\"");
            let game = play(&lab, &event);
            // Twice 0.4 s, less what the coarse counters do not show.
            let told: Vec<f64> = ["cpu_ms", "time_ms"]
                .iter()
                .map(|key| {
                    let by_seat = game[key].as_array().expect("a number a seat");
                    let numbers = by_seat.iter().filter_map(serde_json::Value::as_f64);
                    numbers.fold(0.0, f64::max)
                })
                .collect();
            assert!(
                told.iter().all(|&ms| ms > 700.0),
                "{level}: {told:?} {game}"
            );
            std::fs::remove_dir_all(lab.path("event")).expect("it is there");
        }
    });
}
