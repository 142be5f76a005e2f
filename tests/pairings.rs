//! The schedules of small events, written out.

use std::fmt::Write;

use hakem::tournament::{Pairing, round_robin};

#[path = "support/golden.rs"]
mod golden;

/// A line a match: id, seats, the number of the pair and which half of it.
fn written(schedule: &[Pairing]) -> String {
    let mut text = String::new();
    for pairing in schedule {
        let seats: Vec<String> = pairing.seats.iter().map(usize::to_string).collect();
        let (id, pair, half) = (pairing.id, pairing.pair, pairing.half);
        writeln!(text, "{id} {} pair {pair} half {half}", seats.join("-"))
            .expect("text can be written");
    }
    text
}

macro_rules! golden_round_robin {
    ($name:ident: $bots:expr, $games:expr, paired $paired:expr, rounds $rounds:expr) => {
        #[test]
        fn $name() {
            let schedule = round_robin::schedule($bots, $games, $paired, $rounds);
            let file = concat!("pairings/", stringify!($name), ".txt");
            golden::assert_golden(file, &written(&schedule));
        }
    };
}

golden_round_robin!(round_robin_of_two: 2, 6, paired true, rounds 1);
golden_round_robin!(round_robin_of_four_paired: 4, 4, paired true, rounds 2);
golden_round_robin!(round_robin_of_five_unpaired: 5, 3, paired false, rounds 2);
golden_round_robin!(round_robin_of_eight: 8, 1, paired false, rounds 1);
