//! Oware's rules against a naive second implementation, at random.

#[path = "oracle/oware.rs"]
mod oracle;

use hakem::game::oware::{Oware, OwareOptions};
use hakem::game::{Game, Setup, ToAct};
use oracle::{Over, Ring};
use proptest::prelude::*;
use serde_json::json;

fn houses(game: &Oware) -> [u32; 12] {
    let board = game.position();
    let [mine, theirs] = [0, 1].map(|seat| board.houses(seat).map(u32::from));
    std::array::from_fn(|house| {
        if house < 6 {
            mine[house]
        } else {
            theirs[house - 6]
        }
    })
}

fn stores(game: &Oware) -> [u32; 2] {
    [0, 1].map(|seat| game.position().store(seat).into())
}

fn reason(over: Over) -> Option<&'static str> {
    match over {
        Over::No => None,
        Over::NoSeeds => Some("no_seeds"),
        Over::Cycle => Some("cycle"),
        Over::Decided => Some("decided"),
        Over::PlyCap => Some("ply_cap"),
    }
}

/// Plays these picks on both, and compares after every move.
fn compare(mut game: Oware, mut ring: Ring, picks: &[u8]) -> Result<Over, TestCaseError> {
    let mut moves = Vec::new();
    for &pick in picks {
        prop_assert_eq!(houses(&game), ring.houses);
        prop_assert_eq!(stores(&game), ring.stores);
        let outcome = game.outcome();
        prop_assert_eq!(
            outcome.as_ref().map(|outcome| outcome.reason),
            reason(ring.over)
        );
        game.legal(&mut moves);
        prop_assert_eq!(&moves, &ring.legal());
        if let Some(outcome) = outcome {
            prop_assert_eq!(outcome.points, ring.stores);
            return Ok(ring.over);
        }
        prop_assert!(matches!(game.to_act(), ToAct::Seat(seat, _) if seat == ring.turn));
        for house in 0..=7 {
            let mut tried = game.clone();
            prop_assert_eq!(tried.apply(&house).is_ok(), moves.contains(&house));
            if !moves.contains(&house) {
                prop_assert_eq!(&tried, &game, "a refused move changes nothing");
            }
        }
        let house = moves[usize::from(pick) % moves.len()];
        prop_assert!(game.apply(&house).is_ok());
        ring.play(house);
    }
    Ok(ring.over)
}

/// Options, as the game takes them and as the ring does.
fn options() -> impl Strategy<Value = OwareOptions> {
    let cap = prop_oneof![Just(1000u32), 1u32..200];
    (2u32..5, any::<bool>(), cap).prop_map(|(cycle_repetitions, stop_when_decided, max_plies)| {
        OwareOptions {
            cycle_repetitions,
            stop_when_decided,
            max_plies,
        }
    })
}

fn told(options: &OwareOptions) -> (usize, bool, usize) {
    (
        options.cycle_repetitions as usize,
        options.stop_when_decided,
        options.max_plies as usize,
    )
}

/// A position from heaps of seeds on the places 0 to 13, the stores last; what is missing to 48 lies on `rest`.
fn compare_from(
    heaps: &[(usize, u32)],
    rest: usize,
    turn: usize,
    options: &OwareOptions,
    picks: &[u8],
) -> Result<Over, TestCaseError> {
    let mut seeds = [0u32; 14];
    let mut left = 48;
    for &(place, count) in heaps {
        let count = count.min(left);
        seeds[place] += count;
        left -= count;
    }
    seeds[rest] += left;
    let state =
        json!({"pits": [&seeds[0..6], &seeds[6..12]], "stores": &seeds[12..14], "turn": turn});
    let game = Oware::read(options, &state).expect("48 seeds are a position");
    let houses = std::array::from_fn(|house| seeds[house]);
    let ring = Ring::new(houses, [seeds[12], seeds[13]], turn, told(options));
    compare(game, ring, picks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn games_from_the_start_agree(
        first in 0usize..2,
        options in options(),
        picks in prop::collection::vec(any::<u8>(), 0..500),
    ) {
        let setup = Setup { lot: first, ..Setup::SINGLE };
        let ring = Ring::new([4; 12], [0, 0], first, told(&options));
        compare(Oware::start(&options, &setup), ring, &picks)?;
    }

    /// Seeds thrown at random reach what play seldom does: houses of 12 and more, laps that take all, empty sides.
    #[test]
    fn positions_of_any_kind_agree(
        heaps in prop::collection::vec((0usize..14, 1u32..=36), 0..24),
        rest in 0usize..14,
        turn in 0usize..2,
        options in options(),
        picks in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        compare_from(&heaps, rest, turn, &options, &picks)?;
    }

    /// A few seeds go round for long, until a position comes back, or are taken, or run out on one side.
    #[test]
    fn endings_agree(
        heaps in prop::collection::vec((0usize..12, 1u32..=2), 1..7),
        rest in 12usize..14,
        turn in 0usize..2,
        options in options(),
        picks in prop::collection::vec(any::<u8>(), 300..400),
    ) {
        compare_from(&heaps, rest, turn, &options, &picks)?;
    }
}

#[test]
fn endings_of_every_kind_are_met() {
    let mut met = Vec::new();
    let mut picks = 1u64;
    for game in 0..3000u32 {
        let mut next = || {
            picks = picks
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (picks >> 33) as u8
        };
        let options = OwareOptions {
            stop_when_decided: game % 3 == 0,
            max_plies: 150,
            ..OwareOptions::default()
        };
        let heaps: Vec<(usize, u32)> = (0..6).map(|_| (usize::from(next()) % 12, 2)).collect();
        let picks: Vec<u8> = (0..200).map(|_| next()).collect();
        let over = compare_from(&heaps, 12 + game as usize % 2, 0, &options, &picks);
        let over = over.expect("both agree");
        if !met.contains(&over) {
            met.push(over);
        }
    }
    for over in [Over::NoSeeds, Over::Cycle, Over::Decided, Over::PlyCap] {
        assert!(met.contains(&over), "{over:?} was not met: {met:?}");
    }
}
