//! Games that are copies of each other.
//!
//! Two bots without chance in them play the same game again from the same start. The copies are no evidence: they would be
//! the same whoever is better, so that an interval over them pretends to know more than was seen.

use std::collections::HashMap;

use crate::event::{GameResult, Slot};

/// Games by what was played in them.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    seen: HashMap<(Vec<Slot>, String), u64>,
    games: u64,
}

/// How many of some games are copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepeatCount {
    /// Games of which it is known what was played.
    pub games: u64,
    /// Different ones among them.
    pub distinct: u64,
    /// How often the most repeated one was played.
    pub most: u64,
}

impl RepeatCount {
    /// Games that are copies of an earlier one.
    pub fn copies(self) -> u64 {
        self.games - self.distinct
    }
}

impl Repeats {
    /// Adds a game; says whether it is the first of its kind. Two are the same where the same bots sat on the same seats and
    /// the same was played, random events included. One of which that is not known is always the first.
    pub fn add(&mut self, game: &GameResult) -> bool {
        if game.play_hash.is_empty() {
            return true;
        }
        self.games += 1;
        let times = self
            .seen
            .entry((game.seats.clone(), game.play_hash.clone()))
            .or_default();
        *times += 1;
        *times == 1
    }

    /// What was counted.
    pub fn count(&self) -> RepeatCount {
        RepeatCount {
            games: self.games,
            distinct: self.seen.len() as u64,
            most: self.seen.values().copied().max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rates::tests::game;

    #[test]
    fn copies_are_games_of_the_same_bots_on_the_same_seats() {
        let mut repeats = Repeats::default();
        let mut add = |seats: [Slot; 2], hash: &str| {
            let mut game = game(1, seats, [1, 0]);
            game.play_hash = hash.into();
            repeats.add(&game)
        };
        assert!(add([0, 1], "aa"));
        assert!(!add([0, 1], "aa"));
        assert!(add([1, 0], "aa"));
        assert!(add([0, 1], "bb"));
        assert!(!add([0, 1], "aa"));
        assert!(add([0, 1], ""));
        assert!(add([0, 1], ""));
        let count = repeats.count();
        assert_eq!(
            (count.games, count.distinct, count.most, count.copies()),
            (5, 3, 3, 2)
        );
        assert_eq!(Repeats::default().count(), RepeatCount::default());
    }
}
