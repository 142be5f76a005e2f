//! Fuzzing, by mutation, of everything that reads bytes from strangers.
//!
//!     cargo test --test fuzz                                  each target for a second, the same inputs every time
//!     HAKEM_FUZZ_SECONDS=60 cargo test --test fuzz            all targets together for a minute, other inputs every time
//!     HAKEM_FUZZ_SECONDS=600 cargo test --test fuzz table     one target (its share of the time)
//!
//! A target is a function of bytes that panics where something does not hold: beside "no panic", that what was read and
//! written again reads the same, that a refused move leaves the position alone, that what verifies is what was played.
//!
//! - `corpus/TARGET/` holds inputs to start from: taken from the cases, the transcripts and records, and small.
//! - `found/TARGET/` holds what was found once. An input for which a target fails is made small and kept there; every run
//!   begins with them. Once mended it stays, under a name that tells what it was.
//!
//! `HAKEM_FUZZ_SEED=N` repeats the choices of a run. `HAKEM_FUZZ_COLLECT=FILE cargo test --test fuzz TARGET` reads inputs, one a
//! line, and adds those to the corpus that do something which no input of it did.

#[path = "../referee/check.rs"]
mod check;
mod engine;
mod mutate;
#[path = "../support/picks.rs"]
mod picks;
#[expect(dead_code, reason = "the tests of races use the rest")]
#[path = "../race/ring.rs"]
mod ring;
#[expect(dead_code, reason = "the tests of the referee use the rest")]
#[path = "../referee/sim.rs"]
mod sim;
mod targets;

use engine::Target;
#[cfg(feature = "runner")]
use targets::{event, text};
use targets::{lines, race, record, rules, table};

/// A test for each target: its name, the function, and the words that mean something to it.
macro_rules! targets {
    ($($(#[$only:meta])? $name:ident: $run:path, $words:path;)*) => {
        /// `HAKEM_FUZZ_SECONDS` is divided by their number.
        const TARGETS: &[Target] = &[$(
            $(#[$only])?
            Target { name: stringify!($name), run: $run, words: &$words },
        )*];

        $(
            $(#[$only])?
            #[test]
            fn $name() {
                engine::fuzz(stringify!($name));
            }
        )*
    };
}

targets! {
    bot_line: lines::bot_line, lines::BOT_WORDS;
    stream: lines::stream, lines::STREAM_WORDS;
    ids: lines::ids, lines::ID_WORDS;
    clocks: lines::clocks, lines::CLOCK_WORDS;
    rules_line: rules::line, rules::WORDS;
    position: rules::position, rules::WORDS;
    record: record::record, record::WORDS;
    table: table::table, table::WORDS;
    race: race::race, race::WORDS;
    #[cfg(feature = "runner")]
    clock_text: text::clock, text::CLOCK_WORDS;
    #[cfg(feature = "runner")]
    shown: text::shown, text::SHOWN_WORDS;
    #[cfg(feature = "runner")]
    flags: text::flags, text::FLAG_WORDS;
    #[cfg(feature = "runner")]
    event_file: event::file, event::WORDS;
    #[cfg(feature = "runner")]
    bot_folder: event::bot_folder, event::BOT_WORDS;
    #[cfg(feature = "runner")]
    openings: event::openings, rules::WORDS;
}
