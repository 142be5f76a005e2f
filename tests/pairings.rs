//! The schedules of small events, written out.

use std::collections::BTreeMap;
use std::fmt::Write;

use hakem::event::{MatchResult, Slot};
use hakem::game::Share;
use hakem::tournament::groups::Groups;
use hakem::tournament::knockout::Knockout;
use hakem::tournament::ladder::Ladder;
use hakem::tournament::swiss::{Entry, Swiss};
use hakem::tournament::{Format, Meetings, Pairing, gauntlet, round_robin, unfold};

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

/// Plays an event whose results follow from the numbers of the bots, and writes its matches, byes and places.
fn played(format: &dyn Format, better: fn(Slot, Slot) -> bool) -> String {
    let mut results = BTreeMap::new();
    let mut unfolded = unfold(format, &results);
    while !unfolded.is_over() {
        for pairing in &unfolded.batch.pairings {
            let (a, b) = (pairing.seats[0], pairing.seats[1]);
            let score = match (better(a, b), better(b, a)) {
                (true, false) => vec![Share::WIN, Share::LOSS],
                (false, true) => vec![Share::LOSS, Share::WIN],
                _ => vec![Share::HALF, Share::HALF],
            };
            let result = MatchResult {
                id: pairing.id,
                seats: pairing.seats.clone(),
                score,
                series: vec![0.0, 0.0],
                games: 1,
            };
            results.insert(pairing.id, result);
        }
        unfolded.advance(format, &results);
    }
    let schedule: Vec<Pairing> = unfolded.pairings().cloned().collect();
    let mut text = written(&schedule);
    for bye in &unfolded.history.byes {
        writeln!(
            text,
            "round {} bye {} for {} points",
            bye.round, bye.slot, bye.points
        )
        .expect("text can be written");
    }
    if let Some(places) = format.places(&unfolded.history) {
        writeln!(text, "places {places:?}").expect("text can be written");
    }
    text
}

const PAIRED: Meetings = Meetings {
    games: 2,
    paired: true,
};

const SINGLE: Meetings = Meetings {
    games: 1,
    paired: false,
};

#[test]
fn gauntlet_of_five() {
    let schedule = gauntlet::schedule(3, 5, 2, 2, true, 2);
    golden::assert_golden("pairings/gauntlet_of_five.txt", &written(&schedule));
}

#[test]
fn swiss_of_seven_paired() {
    let format = Swiss {
        entries: (0..7).map(Entry::whole).collect(),
        meetings: PAIRED,
        rounds: 4,
    };
    golden::assert_golden(
        "pairings/swiss_of_seven_paired.txt",
        &played(&format, |a, b| a < b),
    );
}

/// One bot comes late and one leaves; bots that leave the same rest when divided by three draw.
#[test]
fn swiss_of_eight_single() {
    let mut entries: Vec<Entry> = (0..8).map(Entry::whole).collect();
    entries[7].joins = 2;
    entries[1].leaves = Some(4);
    let format = Swiss {
        entries,
        meetings: SINGLE,
        rounds: 5,
    };
    let text = played(&format, |a, b| a % 3 < b % 3);
    golden::assert_golden("pairings/swiss_of_eight_single.txt", &text);
}

#[test]
fn knockout_of_six() {
    let format = Knockout {
        seeds: vec![2, 0, 1, 3, 5, 4],
        meetings: PAIRED,
        rounds_before: 0,
    };
    golden::assert_golden(
        "pairings/knockout_of_six.txt",
        &played(&format, |a, b| a < b),
    );
}

/// Equal bots play on: slots 0 and 1, and 2 and 3, always draw.
#[test]
fn knockout_that_is_played_on() {
    let format = Knockout {
        seeds: vec![0, 1, 2],
        meetings: SINGLE,
        rounds_before: 0,
    };
    let text = played(&format, |a, b| a / 2 < b / 2);
    golden::assert_golden("pairings/knockout_that_is_played_on.txt", &text);
}

#[test]
fn ladder_of_five() {
    let format = Ladder {
        order: vec![4, 3, 2, 1, 0],
        reach: 2,
        meetings: PAIRED,
        rounds: 3,
    };
    golden::assert_golden(
        "pairings/ladder_of_five.txt",
        &played(&format, |a, b| a < b),
    );
}

#[test]
fn groups_of_eight() {
    let format = Groups {
        seeds: (0..8).collect(),
        groups: 2,
        advance: 2,
        meetings: SINGLE,
    };
    golden::assert_golden(
        "pairings/groups_of_eight.txt",
        &played(&format, |a, b| a < b),
    );
}

golden_round_robin!(round_robin_of_two: 2, seats 2, 6, paired true, rounds 1);
golden_round_robin!(round_robin_of_four_paired: 4, seats 2, 4, paired true, rounds 2);
golden_round_robin!(round_robin_of_five_unpaired: 5, seats 2, 3, paired false, rounds 2);
golden_round_robin!(round_robin_of_eight: 8, seats 2, 1, paired false, rounds 1);
golden_round_robin!(three_seats_of_five_paired: 5, seats 3, 3, paired true, rounds 1);
golden_round_robin!(four_seats_of_six_unpaired: 6, seats 4, 1, paired false, rounds 2);
