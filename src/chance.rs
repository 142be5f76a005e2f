//! Derived randomness. Pure.
//!
//! The n-th random event of a kind is not drawn but computed: SHA-256 over a text that names the event. So a result does
//! not depend on how many games run at once, in which order, or after which interruption; two paired games see the same
//! dice, seat by seat and turn by turn, even after their play differs; and anyone who knows the seed can recompute every
//! die in any language.
//!
//! The text is these lines, each ended by a line feed:
//!
//! ```text
//! hakem-chance-1
//! <seed>
//! <round>
//! <name of a bot>       one line for each bot of the match, in the event's order
//! <pair>                counts the meetings of these bots in this round from 0; both paired games have one number
//! <game>                the game within the match from 1; 0 for what belongs to the whole match
//! <kind>                first, opening, dice, lot, ply, cubes, card, outcome
//! <seat>                a number, or - where the event belongs to no seat
//! <n>                   counts the events of this kind and seat in this game from 0
//! <block>               0, then 1, 2, ... whenever the bytes of a digest are used up
//! ```
//!
//! The bytes of the digest are used in order. A die is a byte below 252, modulo 6, plus 1; larger bytes are skipped. An
//! opening roll takes dice in pairs, seat 0 first, until the two differ. A lot among k takes eight bytes as a big-endian
//! number below the largest multiple of k that fits, modulo k; larger numbers are skipped. An outcome with weights (a game
//! whose rules are a program's) is a lot among the sum of the weights: the first outcome has the numbers from 0 below its
//! weight, the next those that follow. Cubes and cards (Q-Bitz) are the
//! 32 bytes of block 0 as they are; what the game makes of them it chooses with [`Choices`].

use sha2::{Digest, Sha256};

use crate::game::{Chance, ChanceKind, Drawn, Seat};

/// The commitment to a seed: SHA-256 of `hakem-seed-1`, a line feed, and the seed, as hex digits. It stands in every
/// record from the start, the seed is told when all is played.
pub fn commitment(seed: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"hakem-seed-1\n");
    hash.update(seed.as_bytes());
    hex(&hash.finalize())
}

/// Whether a seed can be found from its commitment by trying: anything but 256 bits written as 64 hex digits.
pub fn is_guessable(seed: &str) -> bool {
    !(seed.len() == 64 && seed.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The inverse of [`hex`] for 32 bytes.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Where a game's random events come from: derived in play, read from a record when it is verified.
pub trait Draw {
    /// The outcome of the n-th event (from 0) of this kind and seat in this game; `choices` is the number of outcomes
    /// where it is not fixed by the kind.
    fn draw(&mut self, game: u32, chance: Chance, n: u32, choices: u32) -> Drawn;
}

/// The derived chance of one match.
#[derive(Clone, Debug)]
pub struct MatchChance {
    /// The hash after the lines that are the same for the whole match.
    prefix: Sha256,
}

impl MatchChance {
    /// The chance of the match of these bots.
    ///
    /// A seed and names hold no line feed; the event file does not allow one.
    pub fn new<'a>(
        seed: &str,
        round: u32,
        field: impl IntoIterator<Item = &'a str>,
        pair: u32,
    ) -> MatchChance {
        let mut prefix = Sha256::new();
        prefix.update(format!("hakem-chance-1\n{seed}\n{round}\n"));
        for name in field {
            prefix.update(format!("{name}\n"));
        }
        prefix.update(format!("{pair}\n"));
        MatchChance { prefix }
    }

    /// The seat that the match's coin toss names.
    pub fn first(&self, seats: usize) -> Seat {
        let chance = Chance {
            kind: ChanceKind::First,
            seat: None,
        };
        match self.derive(0, chance, 0, seats as u32) {
            Drawn::Lot(seat) => seat as Seat,
            Drawn::Dice(_) | Drawn::Bytes(_) => 0,
        }
    }

    fn derive(&self, game: u32, chance: Chance, n: u32, choices: u32) -> Drawn {
        let mut stream = Stream::new(&self.prefix, game, chance, n);
        match chance.kind {
            ChanceKind::Dice => Drawn::Dice([stream.die(), stream.die()]),
            ChanceKind::Opening => loop {
                let dice = [stream.die(), stream.die()];
                if dice[0] != dice[1] {
                    return Drawn::Dice(dice);
                }
            },
            ChanceKind::First | ChanceKind::Lot | ChanceKind::Ply | ChanceKind::Outcome => {
                Drawn::Lot(stream.below(choices.max(1)))
            }
            ChanceKind::Cubes | ChanceKind::Card => {
                let mut bytes = [0; 32];
                bytes.fill_with(|| stream.byte());
                Drawn::Bytes(bytes)
            }
        }
    }
}

impl Draw for MatchChance {
    fn draw(&mut self, game: u32, chance: Chance, n: u32, choices: u32) -> Drawn {
        self.derive(game, chance, n, choices)
    }
}

/// The bytes of one random event.
struct Stream {
    named: Sha256,
    block: u32,
    digest: [u8; 32],
    used: usize,
}

impl Stream {
    fn new(prefix: &Sha256, game: u32, chance: Chance, n: u32) -> Stream {
        let mut named = prefix.clone();
        let kind = chance.kind.as_str();
        match chance.seat {
            Some(seat) => named.update(format!("{game}\n{kind}\n{seat}\n{n}\n")),
            None => named.update(format!("{game}\n{kind}\n-\n{n}\n")),
        }
        Stream {
            named,
            block: 0,
            digest: [0; 32],
            used: 32,
        }
    }

    fn byte(&mut self) -> u8 {
        if self.used == self.digest.len() {
            let mut hash = self.named.clone();
            hash.update(format!("{}\n", self.block));
            self.digest = hash.finalize().into();
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.digest[self.used - 1]
    }

    fn die(&mut self) -> u8 {
        loop {
            let byte = self.byte();
            if byte < 252 {
                return byte % 6 + 1;
            }
        }
    }

    fn below(&mut self, choices: u32) -> u32 {
        let choices = u64::from(choices);
        let limit = u64::MAX - u64::MAX % choices;
        loop {
            let mut bytes = [0; 8];
            bytes.fill_with(|| self.byte());
            let number = u64::from_be_bytes(bytes);
            if number < limit {
                // Below `choices`, which is a u32.
                return (number % choices) as u32;
            }
        }
    }
}

/// A stream of choices made from the 32 bytes of one random event ([`Drawn::Bytes`]).
///
/// The bytes are used in order; when they are used up, the next 32 are the SHA-256 of those before. A choice among k
/// (at most 256) is a byte below the largest multiple of k up to 256, modulo k; larger bytes are skipped. A choice among
/// one takes no byte.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: [u8; 32],
    used: usize,
}

impl Choices {
    /// The choices that these bytes make.
    pub fn new(bytes: [u8; 32]) -> Choices {
        Choices { bytes, used: 0 }
    }

    fn byte(&mut self) -> u8 {
        if self.used == self.bytes.len() {
            self.bytes = Sha256::digest(self.bytes).into();
            self.used = 0;
        }
        self.used += 1;
        self.bytes[self.used - 1]
    }

    /// A number from 0 below `choices`, which is 1 to 256.
    pub fn below(&mut self, choices: usize) -> usize {
        if choices <= 1 {
            return 0;
        }
        let limit = 256 - 256 % choices;
        loop {
            let byte = usize::from(self.byte());
            if byte < limit {
                return byte % choices;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DICE: Chance = Chance {
        kind: ChanceKind::Dice,
        seat: Some(1),
    };

    fn chance(pair: u32) -> MatchChance {
        MatchChance::new("42", 1, ["ada", "bora"], pair)
    }

    #[test]
    fn the_derivation_is_what_the_page_says() {
        // Computed with Python's hashlib from the description above.
        let text = "hakem-chance-1\n42\n1\nada\nbora\n0\n3\ndice\n1\n7\n0\n";
        let digest = Sha256::digest(text.as_bytes());
        let dice: Vec<u8> = digest
            .iter()
            .filter(|&&byte| byte < 252)
            .map(|byte| byte % 6 + 1)
            .collect();
        assert_eq!(
            chance(0).draw(3, DICE, 7, 0),
            Drawn::Dice([dice[0], dice[1]])
        );
    }

    #[test]
    fn every_part_of_the_name_matters() {
        let rolls = |chance: &MatchChance, game, what| -> Vec<Drawn> {
            (0..20).map(|n| chance.derive(game, what, n, 0)).collect()
        };
        let base = rolls(&chance(0), 1, DICE);
        assert_ne!(base, rolls(&chance(1), 1, DICE), "pair");
        assert_ne!(base, rolls(&chance(0), 2, DICE), "game");
        assert_ne!(
            base,
            rolls(
                &chance(0),
                1,
                Chance {
                    seat: Some(0),
                    ..DICE
                }
            ),
            "seat"
        );
        assert_ne!(
            base,
            rolls(&MatchChance::new("43", 1, ["ada", "bora"], 0), 1, DICE),
            "seed"
        );
        assert_ne!(
            base,
            rolls(&MatchChance::new("42", 2, ["ada", "bora"], 0), 1, DICE),
            "round"
        );
        assert_eq!(base, rolls(&chance(0), 1, DICE), "the same again");
    }

    #[test]
    fn dice_are_fair() {
        let mut counts = [0u32; 6];
        for n in 0..30_000 {
            if let Drawn::Dice(dice) = chance(0).derive(1, DICE, n, 0) {
                dice.iter()
                    .for_each(|&die| counts[usize::from(die) - 1] += 1);
            }
        }
        // Chi-squared with five degrees of freedom: 25.7 has probability 0.0001.
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 25.7, "{counts:?}");
    }

    #[test]
    fn opening_rolls_differ_and_lots_are_in_range() {
        let opening = Chance {
            kind: ChanceKind::Opening,
            seat: None,
        };
        let lot = Chance {
            kind: ChanceKind::Lot,
            seat: None,
        };
        let mut seen = [0; 3];
        for n in 0..3000 {
            let Drawn::Dice([a, b]) = chance(0).derive(1, opening, n, 0) else {
                panic!()
            };
            assert_ne!(a, b);
            let Drawn::Lot(k) = chance(0).derive(1, lot, n, 3) else {
                panic!()
            };
            seen[k as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 900), "{seen:?}");
    }

    #[test]
    fn a_card_is_a_whole_digest_and_its_choices_run_on() {
        let card = Chance {
            kind: ChanceKind::Card,
            seat: None,
        };
        let text = "hakem-chance-1\n42\n1\nada\nbora\n0\n1\ncard\n-\n4\n0\n";
        let first: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        assert_eq!(chance(0).draw(1, card, 4, 0), Drawn::Bytes(first));
        assert_eq!(from_hex(&hex(&first)), Some(first));
        assert_eq!(from_hex(&hex(&first).to_uppercase()), None);
        let second: [u8; 32] = Sha256::digest(first).into();
        let bytes: Vec<usize> = [first, second]
            .concat()
            .into_iter()
            .map(usize::from)
            .collect();
        let mut choices = Choices::new(first);
        let all: Vec<usize> = (0..64).map(|_| choices.below(256)).collect();
        assert_eq!(all, bytes);
        // 252 is the largest multiple of 6.
        let sixths: Vec<usize> = bytes.iter().filter(|&&b| b < 252).map(|b| b % 6).collect();
        let mut choices = Choices::new(first);
        let found: Vec<usize> = sixths.iter().map(|_| choices.below(6)).collect();
        assert_eq!(found, sixths);
        assert_eq!(Choices::new(first).below(1), 0);
    }

    #[test]
    fn commitments() {
        assert_eq!(commitment("42"), commitment("42"));
        assert_ne!(commitment("42"), commitment("43"));
        assert!(is_guessable("42"));
        assert!(!is_guessable(&"0f".repeat(32)));
    }
}
