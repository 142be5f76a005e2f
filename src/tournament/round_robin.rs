//! Everybody meets everybody.

use super::Pairing;
use crate::event::MatchId;

/// The schedule of a round robin.
pub fn schedule(bots: usize, games: u32, paired: bool, rounds: u32) -> Vec<Pairing> {
    let mut all = Vec::new();
    for round in 1..=rounds {
        let mut number = 0;
        for a in 0..bots {
            for b in a + 1..bots {
                for game in 0..games {
                    number += 1;
                    let (pair, half) = if paired { (game / 2, (game % 2) as u8) } else { (game, 0) };
                    let swap = game % 2 == 1;
                    all.push(Pairing {
                        id: MatchId { round, number },
                        seats: if swap { vec![b, a] } else { vec![a, b] },
                        field: vec![a, b],
                        pair,
                        half,
                    });
                }
            }
        }
    }
    all
}
