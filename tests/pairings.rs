//! The schedules of small events, written out.

use std::fmt::Write;

use hakem::tournament::{Pairing, round_robin};

#[path = "support/golden.rs"]
mod golden;

/// A line a match: id, seats, the number of the pair and which of its matches.
fn written(schedule: &[Pairing]) -> String {
    let mut text = String::new();
    for pairing in schedule {
        let seats: Vec<String> = pairing.seats.iter().map(usize::to_string).collect();
        let (id, pair, rotation) = (pairing.id, pairing.pair, pairing.rotation);
        writeln!(
            text,
            "{id} {} pair {pair} rotation {rotation}",
            seats.join("-")
        )
        .expect("text can be written");
    }
    text
}

macro_rules! golden_round_robin {
    ($name:ident: $bots:expr, seats $seats:expr, $games:expr, paired $paired:expr, rounds $rounds:expr) => {
        #[test]
        fn $name() {
            let schedule = round_robin::schedule($bots, $seats, $games, $paired, $rounds);
            let file = concat!("pairings/", stringify!($name), ".txt");
            golden::assert_golden(file, &written(&schedule));
        }
    };
}

golden_round_robin!(round_robin_of_two: 2, seats 2, 6, paired true, rounds 1);
golden_round_robin!(round_robin_of_four_paired: 4, seats 2, 4, paired true, rounds 2);
golden_round_robin!(round_robin_of_five_unpaired: 5, seats 2, 3, paired false, rounds 2);
golden_round_robin!(round_robin_of_eight: 8, seats 2, 1, paired false, rounds 1);
golden_round_robin!(three_seats_of_five_paired: 5, seats 3, 3, paired true, rounds 1);
golden_round_robin!(four_seats_of_six_unpaired: 6, seats 4, 1, paired false, rounds 2);
