//! Mangala's rules against a naive second implementation, at random.

#[path = "oracle/mangala.rs"]
mod oracle;

use hakem::game::mangala::{Mangala, MangalaOptions};
use hakem::game::{Game, Setup, ToAct};
use oracle::Ring;
use proptest::prelude::*;
use serde_json::json;

fn stones(game: &Mangala) -> [u32; 14] {
    let mut all = [0; 14];
    for seat in 0..2 {
        for (index, &count) in game.pits(seat).iter().enumerate() {
            all[7 * seat + index] = count.into();
        }
        all[7 * seat + 6] = game.store(seat).into();
    }
    all
}

/// Plays these picks on both, and compares after every move.
fn compare(mut game: Mangala, mut ring: Ring, picks: &[u8]) -> Result<(), TestCaseError> {
    let mut moves = Vec::new();
    for &pick in picks {
        prop_assert_eq!(stones(&game), ring.stones);
        prop_assert_eq!(game.to_act() == ToAct::Over, ring.over);
        game.legal(&mut moves);
        prop_assert_eq!(&moves, &ring.legal());
        if ring.over {
            let outcome = game.outcome().expect("the game is over");
            prop_assert_eq!(&outcome.points, &[ring.stones[6], ring.stones[13]]);
            return Ok(());
        }
        prop_assert!(matches!(game.to_act(), ToAct::Seat(seat, _) if seat == ring.turn));
        for pit in 1..=6 {
            let mut tried = game;
            prop_assert_eq!(tried.apply(&pit).is_ok(), moves.contains(&pit));
            if !moves.contains(&pit) {
                prop_assert_eq!(tried, game, "a refused move changes nothing");
            }
        }
        let pit = moves[usize::from(pick) % moves.len()];
        prop_assert!(game.apply(&pit).is_ok());
        ring.play(pit);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn games_from_the_start_agree(first in 0usize..2, picks in prop::collection::vec(any::<u8>(), 0..300)) {
        let setup = Setup { lot: first, ..Setup::SINGLE };
        let game = Mangala::start(&MangalaOptions::default(), &setup);
        let ring = Ring::new([4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 0], first);
        compare(game, ring, &picks)?;
    }

    /// Stones thrown at random reach what play seldom does: pits of 13 and more, empty sides, full treasuries.
    #[test]
    fn positions_of_any_kind_agree(
        heaps in prop::collection::vec((0usize..14, 1u32..=20), 0..24),
        rest in 0usize..14,
        turn in 0usize..2,
        picks in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        let mut stones = [0u32; 14];
        let mut left = 48;
        for (place, count) in heaps {
            let count = count.min(left);
            stones[place] += count;
            left -= count;
        }
        stones[rest] += left;
        let state = json!({
            "pits": [&stones[0..6], &stones[7..13]],
            "stores": [stones[6], stones[13]],
            "turn": turn,
        });
        let game = Mangala::read(&MangalaOptions::default(), &state);
        compare(game.expect("48 stones are a position"), Ring::new(stones, turn), &picks)?;
    }
}
