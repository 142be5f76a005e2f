//! Built-in bots that keep the clock: whole games at short controls, with real processes, and never a loss on time. The
//! referee's verdict is the check; the machine is kept busy meanwhile, so that a bot has to wait for a core.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{Event, Lab, full, text};

/// Threads that keep the cores busy as long as it lives.
struct Load(std::sync::Arc<AtomicBool>);

impl Load {
    fn new() -> Load {
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        for _ in 0..cores.min(4) {
            let stop = std::sync::Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Load(stop)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Short controls, as keys of `[clock]`.
const CONTROLS: &[&[(&str, &str)]] = &[
    &[("main", "\"1s\"")],
    &[("move", "\"50ms\"")],
    &[("main", "\"100ms\""), ("increment", "\"30ms\"")],
];

/// The bots that keep a clock, each with a game.
const BOTS: &[(&str, &str)] = &[
    ("mangala", "kuyu"),
    ("oware", "ambar"),
    ("reversi", "kose"),
    ("dokuztas", "degirmen"),
    ("tavla", "usta"),
];

/// A pair of games of a bot that keeps the clock against itself at depth 1, and of two that keep it where all is tested.
#[test]
fn no_game_is_lost_on_time() {
    let _load = Load::new();
    for clock in CONTROLS {
        for (game, house) in BOTS {
            let lab = Lab::new();
            let other = if full() { "clock = true" } else { "depth = 1" };
            let mut event = Event::new(game)
                .builtin("timed", house)
                .with("options = { clock = true }")
                .builtin("other", house)
                .with(&format!("options = {{ {other} }}"));
            for (key, value) in *clock {
                event = event.set("clock", key, value);
            }
            lab.run(&event.write(&lab, "timed.toml"));
            let games = lab.games("timed");
            assert!(games.len() >= 2);
            let mut thought = [0, 0];
            for game in &games {
                assert_eq!(text(game, "verdict"), "rule", "{clock:?}: {game}");
                let seats = game["seats"].as_array().expect("seats");
                let timed = seats
                    .iter()
                    .position(|seat| seat == "timed")
                    .expect("a seat");
                for (seat, thought) in [timed, 1 - timed].into_iter().zip(&mut thought) {
                    *thought += game["time_ms"][seat].as_u64().expect("a time");
                }
            }
            // It did use its time, as far as the other does not keep a clock as well.
            let [timed, other] = thought;
            assert!(full() || timed > 2 * other, "{clock:?}: {games:?}");
        }
    }
}
