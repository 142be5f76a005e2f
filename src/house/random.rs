//! A bot that plays at random, yet always the same.

use hakem_protocol::{Ask, Move, Turn};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Facts, Games, House, OptionFacts, OptionKind, cubes};
use crate::game::qbitz::faces::Answer;

/// Picks a legal answer by a hash of its seed, the turn's number and the state. So a game can be played again, and two
/// of them with different seeds play differently.
#[derive(Debug)]
pub struct Random;

impl House for Random {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "random",
            summary: "any legal answer, derived from its seed and the position; in Q-Bitz any tray",
            games: Games::All,
            options: &[OptionFacts {
                name: "seed",
                meaning: "a number or text; bots with different seeds play differently (default 0)",
                kind: OptionKind::Seed,
            }],
        }
    }

    fn answer(&self, table: &super::Table<'_>, turn: &Turn) -> Result<Move, String> {
        let seed = table.options.get("seed").unwrap_or(&Value::Null);
        let seed = if seed.is_null() {
            "0".into()
        } else {
            seed.to_string()
        };
        // JSON texts: none is the beginning of another, so no two turns give one input by accident.
        let input = format!("{seed} {} {} {}", turn.id, turn.ask.as_str(), turn.state);
        let hash: [u8; 32] = Sha256::digest(input).into();
        if turn.ask == Ask::Race {
            let tray = serde_json::to_value(Answer(Some(cubes::at_random(&hash))));
            return Ok(super::answer(
                turn,
                tray.map_err(|error| error.to_string())?,
            ));
        }
        let legal = super::listed(turn)?;
        let number = hash[..8]
            .iter()
            .fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        // The remainder favours small indexes by less than one in 2^50.
        let index = (number % legal.len() as u64) as usize;
        Ok(super::answer(turn, legal[index].clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::house::tests::{ask, turn};

    /// Its answers to many positions.
    fn answers(options: &Value) -> Vec<Value> {
        (0..600)
            .map(|n| {
                let turn = turn(0, Ask::Move, json!({"n": n}), json!([1, 2, 3, 4, 5, 6]));
                ask("random", "mangala", options.clone(), &turn).expect("an answer")
            })
            .collect()
    }

    #[test]
    fn a_seed_plays_the_same_again_and_another_plays_differently() {
        let one = answers(&json!({"seed": 1}));
        assert_eq!(one, answers(&json!({"seed": 1})));
        assert_eq!(answers(&json!({})), answers(&json!({"seed": 0})));
        let two = answers(&json!({"seed": 2}));
        let equal = one.iter().zip(&two).filter(|(a, b)| a == b).count();
        assert!(
            (60..140).contains(&equal),
            "a sixth by chance: {equal} of 600"
        );
        assert_ne!(one, answers(&json!({"seed": "1"})));
    }

    #[test]
    fn every_answer_comes_up_about_as_often() {
        let answers = answers(&json!({"seed": "spring"}));
        for pit in 1..=6 {
            let count = answers
                .iter()
                .filter(|&answer| *answer == json!(pit))
                .count();
            assert!((60..140).contains(&count), "{pit}: {count} of 600");
        }
    }
}
