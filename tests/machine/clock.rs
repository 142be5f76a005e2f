//! The referee is stopped or starved, the clock on the wall is set: no bot loses on time for it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;

use crate::common::{Event, Lab, Lots, env_number, text};
use crate::tools::{
    all_by_the_rules, ended, goes_on, said, send, skipped, start, start_with, thinkers, until,
};

/// Plays the event and stops the referee alone, so often and for so long (milliseconds, from and below); its bots go on. Returns
/// the folder and what was said.
#[track_caller]
fn stopped(event: &Event, games: usize, times: u32, stop: std::ops::Range<u64>) -> String {
    let lab = Lab::new();
    let file = event.write(&lab, "event.toml");
    static CALLS: AtomicU64 = AtomicU64::new(11);
    let seed = CALLS.fetch_add(1, Ordering::Relaxed);
    let mut lots = Lots::new(env_number("HAKEM_TEST_SEED", seed));
    let run = start(&lab, &file);
    let mut stops = 0;
    // From the first sign of a bot on.
    let is_bot = |(_, line): &(_, String)| line.contains("mockbot");
    assert!(until(&run, || lab.processes().iter().any(is_bot)));
    while stops < times && goes_on(&run, 20 + lots.below(230)) {
        send(&run, Signal::STOP);
        // A process that is stopped does not end.
        assert!(goes_on(
            &run,
            stop.start + lots.below(stop.end - stop.start)
        ));
        send(&run, Signal::CONT);
        stops += 1;
    }
    assert_eq!(ended(&lab, run), Some(0), "{}", said(&lab));
    assert_eq!(
        stops, times,
        "the run was over before it was stopped so often"
    );
    lab.assert_no_process_is_left();
    all_by_the_rules(&lab, "event", games);
    said(&lab)
}

#[test]
fn a_referee_that_is_stopped_for_longer_than_the_limit_charges_no_bot() {
    for kind in ["fair", "wall"] {
        let event = thinkers(20_000)
            .set("event", "games", "4")
            .set("event", "jobs", "2")
            .set("clock", "kind", &format!("\"{kind}\""))
            .set("clock", "main", "\"4s\"")
            .set("clock", "move", "\"1s\"");
        let said = stopped(&event, 4, 3, 3_000..3_001);
        assert!(said.contains("the referee itself stood still"), "{said}");
    }
}

#[test]
fn a_referee_that_is_starved_again_and_again_charges_no_bot() {
    // Pauses around the limit of a move: answers come before, during and after them. On a machine that is busy otherwise the bots
    // wait, too, for which only a fair clock does not charge them.
    let event = thinkers(30_000)
        .set("event", "games", "4")
        .set("event", "jobs", "1")
        .set("clock", "move", "\"500ms\"");
    stopped(&event, 4, 12, 150..900);
}

#[test]
fn a_referee_that_is_stopped_while_bots_greet_it_charges_none_of_them() {
    let event = Event::new("mangala")
        .set("event", "games", "8")
        .set("event", "jobs", "2")
        .set("clock", "ready", "\"1s\"")
        .mock("one", &["--slow-ready", "200", "--pick", "hash:1"])
        .mock("two", &["--slow-ready", "100"]);
    stopped(&event, 8, 3, 2_000..2_500);
}

#[test]
fn a_race_in_which_the_referee_was_stopped_is_raced_again() {
    let event = Event::new("qbitz")
        .set("event", "games", "2")
        .set("event", "jobs", "1")
        .mock("one", &["--think-us", "30000"])
        .mock("two", &["--think-us", "30000"]);
    // Who was first while nobody looked, nobody can tell.
    let words = "was void: the referee stood still while seats raced";
    // A stop may fall between two games, where it does no harm.
    let told = (0..6).any(|_| stopped(&event, 2, 1, 500..800).contains(words));
    assert!(told, "no stop fell into a race");
}

#[test]
fn a_bot_that_is_too_slow_by_itself_still_loses_on_time() {
    let lab = Lab::new();
    let file = Event::new("mangala")
        .set("clock", "move", "\"1s\"")
        .mock("slow", &["--stall-at", "2"])
        .mock("honest", &[])
        .write(&lab, "event.toml");
    let run = start(&lab, &file);
    // Stopped once in the second that the bot has.
    if goes_on(&run, 400) {
        send(&run, Signal::STOP);
        assert!(goes_on(&run, 1_500));
        send(&run, Signal::CONT);
    }
    assert_eq!(ended(&lab, run), Some(0));
    for game in lab.games("event") {
        assert_eq!(
            (&game["verdict"], &game["against"]),
            (&"timeout".into(), &"slow".into())
        );
        // What it is charged is its own second, not the referee's and a half.
        let reason = text(&game, "reason");
        let charged = reason
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(' '));
        let charged: f64 = charged.expect("the charge").0.parse().expect("a number");
        assert!((1_000.0..1_500.0).contains(&charged), "{reason}");
    }
}

/// The library that gives a program another clock on the wall.
fn faketime() -> Option<PathBuf> {
    ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .iter()
        .flat_map(|arch| {
            ["/usr/lib", "/lib"].map(|lib| format!("{lib}/{arch}/faketime/libfaketimeMT.so.1"))
        })
        .map(PathBuf::from)
        .find(|path| path.exists())
}

#[test]
fn a_clock_on_the_wall_that_is_set_in_mid_run_hurts_nobody() {
    let Some(library) = faketime() else {
        skipped(
            "a_clock_on_the_wall_that_is_set_in_mid_run_hurts_nobody",
            "faketime is not installed",
        );
        return;
    };
    let lab = Lab::new();
    let file = thinkers(10_000)
        .set("event", "games", "4")
        .set("clock", "move", "\"1s\"")
        .set("clock", "main", "\"10s\"")
        .write(&lab, "event.toml");
    let clock = lab.write("clock", "+0");
    let mut command = lab.command([std::ffi::OsStr::new("run"), file.as_os_str()]);
    command
        .env("LD_PRELOAD", library)
        .env("FAKETIME_TIMESTAMP_FILE", clock)
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let run = start_with(command, &lab);
    let mut jumps = ["-1d", "+10y", "-40y", "+0", "+1h"].iter().cycle();
    let mut jumped = 0;
    while goes_on(&run, 100) {
        lab.write("clock", jumps.next().expect("they go round"));
        jumped += 1;
    }
    assert_eq!(ended(&lab, run), Some(0), "{}", said(&lab));
    assert!(jumped > 5, "the clock was set {jumped} times");
    for game in all_by_the_rules(&lab, "event", 4) {
        for time in game["time_ms"].as_array().expect("times") {
            assert!(time.as_u64() < Some(10_000), "{game}");
        }
    }
}

#[test]
fn no_bot_loses_on_time_for_want_of_a_core() {
    // Each needs a quarter of its limit, and waits for fifteen others before it gets a core, when its timer has long fired.
    let lab = Lab::new();
    let event = thinkers(5_000)
        .set("event", "games", "16")
        .set("event", "jobs", "16")
        .set("clock", "kind", "\"fair\"")
        .set("clock", "move", "\"20ms\"");
    let file = event.write(&lab, "event.toml");
    let run = start(&lab, &file);
    assert_eq!(ended(&lab, run), Some(0), "{}", said(&lab));
    all_by_the_rules(&lab, "event", 16);
}
