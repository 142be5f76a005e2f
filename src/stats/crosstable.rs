//! Who scored what against whom.

use std::collections::BTreeMap;

use crate::event::{MatchResult, Slot};
use crate::rating::Score;

/// What two bots did to each other in matches, seen from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encounter {
    /// Won by the first: it got the greater share.
    pub won: u32,
    /// Equal.
    pub drawn: u32,
    /// Won by the other.
    pub lost: u32,
}

impl Encounter {
    /// All meetings.
    pub const fn played(self) -> u32 {
        self.won + self.drawn + self.lost
    }

    /// What the first scored: 1 a win, 1/2 a draw.
    pub fn points(self) -> f64 {
        f64::from(self.won) + f64::from(self.drawn) / 2.0
    }

    /// The same seen from the other bot.
    #[must_use]
    pub const fn turned(self) -> Encounter {
        Encounter {
            won: self.lost,
            drawn: self.drawn,
            lost: self.won,
        }
    }

    /// Counts a meeting in which the first got this.
    pub fn add(&mut self, score: Score) {
        match score {
            Score::Win => self.won += 1,
            Score::Draw => self.drawn += 1,
            Score::Loss => self.lost += 1,
        }
    }
}

/// All encounters; a table of more seats counts for each two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crosstable {
    /// By two slots, the lesser first.
    met: BTreeMap<(Slot, Slot), Encounter>,
}

impl Crosstable {
    /// The encounters in these matches.
    pub fn of<'a>(matches: impl IntoIterator<Item = &'a MatchResult>) -> Crosstable {
        let mut table = Crosstable::default();
        matches.into_iter().for_each(|result| table.add(result));
        table
    }

    /// Adds a match.
    pub fn add(&mut self, result: &MatchResult) {
        for (a, b, score) in result.meetings() {
            self.add_meeting(a, b, score);
        }
    }

    /// Adds a meeting of two.
    pub fn add_meeting(&mut self, a: Slot, b: Slot, score: Score) {
        let (key, score) = if a < b {
            ((a, b), score)
        } else {
            ((b, a), score.of_the_other())
        };
        self.met.entry(key).or_default().add(score);
    }

    /// What `a` did against `b`; nothing where they did not meet.
    pub fn between(&self, a: Slot, b: Slot) -> Encounter {
        if a < b {
            self.met.get(&(a, b)).copied().unwrap_or_default()
        } else {
            self.met.get(&(b, a)).copied().unwrap_or_default().turned()
        }
    }

    /// Every two that met, the lesser slot first, in order, with what it did.
    pub fn encounters(&self) -> impl Iterator<Item = (Slot, Slot, Encounter)> {
        self.met
            .iter()
            .map(|(&(a, b), &encounter)| (a, b, encounter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::MatchId;
    use crate::game::Share;

    fn result(seats: &[Slot], shares: &[Share]) -> MatchResult {
        MatchResult {
            id: MatchId {
                round: 1,
                number: 1,
            },
            seats: seats.to_vec(),
            score: shares.to_vec(),
            series: vec![0.0; seats.len()],
            games: 1,
        }
    }

    #[test]
    fn both_sides_of_an_encounter_agree() {
        let table = Crosstable::of(&[
            result(&[2, 0], &[Share::WIN, Share::LOSS]),
            result(&[0, 2], &[Share::HALF, Share::HALF]),
            result(&[0, 2], &[Share::LOSS, Share::WIN]),
        ]);
        let encounter = table.between(2, 0);
        assert_eq!((encounter.won, encounter.drawn, encounter.lost), (2, 1, 0));
        assert_eq!(table.between(0, 2), encounter.turned());
        assert_eq!((encounter.points(), encounter.played()), (2.5, 3));
        assert_eq!(table.between(0, 1), Encounter::default());
    }

    #[test]
    fn a_table_of_three_is_three_encounters() {
        let shared = Share::one_of(2);
        let table = Crosstable::of(&[result(&[1, 3, 0], &[shared, Share::LOSS, shared])]);
        let found: Vec<_> = table
            .encounters()
            .map(|(a, b, e)| (a, b, e.points()))
            .collect();
        assert_eq!(found, [(0, 1, 0.5), (0, 3, 1.0), (1, 3, 1.0)]);
    }
}
