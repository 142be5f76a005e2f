//! A ladder: a list of bots from best to worst that lives from event to event. Who beats a bot above takes its rung.
//!
//! In each round the bots challenge from the bottom up: one that has no match yet challenges the highest bot that has none, is at most
//! `reach` rungs above, and has not been challenged by it in this event. If the challenger scores more, it takes the rung, and those between move
//! down by one; otherwise nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::rulings::Counts;
use super::{Batch, Format, History, Meetings, Numbers, RankedBy};
use crate::event::Slot;
use crate::rating::Rating;

/// The list of a ladder as an event finds it, or leaves it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// The names of the bots, best first.
    pub order: Vec<String>,
    /// The ratings of those that have one.
    pub ratings: BTreeMap<String, Rating>,
}

impl List {
    /// The ratings of these bots: new ones start as every new bot does.
    pub fn ratings_of(&self, names: &[String]) -> Vec<Rating> {
        let rating = |name| self.ratings.get(name).copied().unwrap_or(Rating::NEW);
        names.iter().map(rating).collect()
    }

    /// The same for these bots alone: those that it does not name are at its end, in their own order.
    #[must_use]
    pub fn of(&self, names: &[String]) -> List {
        let known = self.order.iter().filter(|name| names.contains(name));
        let new = names.iter().filter(|name| !self.order.contains(name));
        let ratings = self.ratings.iter();
        List {
            order: known.chain(new).cloned().collect(),
            ratings: ratings
                .filter(|(name, _)| names.contains(name))
                .map(|(name, &rating)| (name.clone(), rating))
                .collect(),
        }
    }

    /// The list after an event that left its bots so. Bots that took no part stay on their rungs and keep their ratings; the others share
    /// the rungs that they had, and new ones come to the end.
    #[must_use]
    pub fn after(mut self, event: &List) -> List {
        let mut next = event.order.iter().cloned();
        for name in &mut self.order {
            if event.order.contains(name) {
                *name = next.next().unwrap_or_default();
            }
        }
        self.order.extend(next);
        let ratings = event.ratings.iter();
        self.ratings
            .extend(ratings.map(|(name, &rating)| (name.clone(), rating)));
        self
    }
}

/// A ladder event.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// The bots at the beginning, best first.
    pub order: Vec<Slot>,
    /// How many rungs above a bot may challenge.
    pub reach: usize,
    /// How two bots meet.
    pub meetings: Meetings,
    /// Rounds.
    pub rounds: u32,
}

impl Ladder {
    /// The bots after all that was played, best first.
    pub fn order(&self, so_far: &History) -> Vec<Slot> {
        let mut order = self.order.clone();
        for round in 1..=so_far.round() {
            // No bot plays twice in a round, so that the order of the challenges does not matter but for the rungs between.
            let mut challenges: Vec<([Slot; 2], f64)> = Vec::new();
            let counting = |played: &&super::Played| played.counts != Counts::Nothing;
            for played in so_far.of_round(round).filter(counting) {
                let key = [played.pairing.field[0], played.pairing.field[1]];
                let first = played.result.seats.iter().position(|&slot| slot == key[0]);
                let share = first.map_or(0.5, |seat| played.result.score[seat].value()) - 0.5;
                match challenges.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, ahead)) => *ahead += share,
                    None => challenges.push((key, share)),
                }
            }
            for ([a, b], ahead) in challenges {
                let rung = |slot| order.iter().position(|&other| other == slot);
                let (Some(at_a), Some(at_b)) = (rung(a), rung(b)) else {
                    continue;
                };
                let winner = match ahead.partial_cmp(&0.0) {
                    Some(std::cmp::Ordering::Greater) => at_a,
                    Some(std::cmp::Ordering::Less) => at_b,
                    _ => continue,
                };
                let above = at_a.min(at_b);
                if winner > above {
                    let climber = order.remove(winner);
                    order.insert(above, climber);
                }
            }
        }
        order
    }
}

impl Format for Ladder {
    fn next(&self, so_far: &History) -> Batch {
        let round = so_far.round() + 1;
        let mut batch = Batch::default();
        if round > self.rounds {
            return batch;
        }
        let mut order = self.order(so_far);
        order.retain(|&slot| !so_far.is_absent(slot));
        let met: BTreeSet<&[Slot]> = so_far
            .matches
            .iter()
            .map(|played| played.pairing.field.as_slice())
            .collect();
        let mut free = vec![true; order.len()];
        let mut numbers = Numbers::after(round, 0);
        for challenger in (1..order.len()).rev() {
            if !free[challenger] {
                continue;
            }
            let challenged = (challenger.saturating_sub(self.reach)..challenger).find(|&above| {
                let mut field = [order[above], order[challenger]];
                field.sort_unstable();
                free[above] && !met.contains(field.as_slice())
            });
            if let Some(above) = challenged {
                free[above] = false;
                free[challenger] = false;
                let seats = [order[challenger], order[above]];
                let games = 0..self.meetings.games;
                numbers.meet(&seats, games, self.meetings.paired, &mut batch.pairings);
            }
        }
        batch
    }

    fn least_matches(&self) -> usize {
        usize::from(self.order.len() > 1 && self.rounds > 0) * self.meetings.games as usize
    }

    fn ranked_by(&self) -> RankedBy {
        RankedBy::Rung
    }

    /// The rungs; who is out goes to the end.
    fn places(&self, so_far: &History) -> Option<Vec<usize>> {
        let mut order = self.order(so_far);
        order.sort_by_key(|&slot| so_far.is_absent(slot));
        let bots = order.iter().map(|slot| slot + 1).max().unwrap_or(0);
        let mut places = vec![bots; bots];
        for (rung, &slot) in order.iter().enumerate() {
            places[slot] = rung + 1;
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_resumes, play};
    use super::*;

    fn list(order: &str, rated: &[(&str, f64)]) -> List {
        let rating = |value| Rating {
            value,
            ..Rating::NEW
        };
        let ratings = rated.iter();
        List {
            order: order.split_whitespace().map(str::to_owned).collect(),
            ratings: ratings
                .map(|&(name, value)| (name.to_owned(), rating(value)))
                .collect(),
        }
    }

    #[test]
    fn who_took_no_part_stays_as_it_is() {
        for (before, event, after) in [
            ("a b c d", "d b", "a d c b"),
            ("a b", "c b a", "c b a"),
            ("", "x y", "x y"),
            ("a b c", "n c a", "n b c a"),
        ] {
            let after = list(after, &[]);
            assert_eq!(list(before, &[]).after(&list(event, &[])), after);
        }
        let before = list("a b c", &[("a", 1.0), ("b", 2.0), ("c", 3.0)]);
        let event = list("c n a", &[("c", 30.0), ("n", 40.0)]);
        let after = list(
            "c b n a",
            &[("a", 1.0), ("b", 2.0), ("c", 30.0), ("n", 40.0)],
        );
        assert_eq!(before.after(&event), after);
    }

    #[test]
    fn a_list_for_some_bots() {
        let all = list("a b c", &[("a", 1.0), ("c", 3.0)]);
        let names = ["n", "c", "a"].map(str::to_owned);
        assert_eq!(all.of(&names), list("a c n", &[("a", 1.0), ("c", 3.0)]));
        let values = all
            .ratings_of(&names)
            .into_iter()
            .map(|rating| rating.value);
        assert_eq!(values.collect::<Vec<f64>>(), [1500.0, 3.0, 1.0]);
    }

    fn ladder(order: &[Slot], reach: usize, rounds: u32) -> Ladder {
        Ladder {
            order: order.to_vec(),
            reach,
            meetings: Meetings {
                games: 2,
                paired: true,
            },
            rounds,
        }
    }

    #[test]
    fn the_best_climbs_as_far_as_it_may_reach() {
        // Slot 0 is the strongest and stands last.
        let format = ladder(&[4, 3, 2, 1, 0], 2, 1);
        let history = play(&format, |a, b| a < b);
        let fields: Vec<_> = history
            .matches
            .iter()
            .map(|played| played.pairing.seats.clone())
            .collect();
        assert_eq!(fields, [[0, 2], [2, 0], [1, 3], [3, 1]]);
        assert_eq!(format.order(&history), [4, 1, 3, 0, 2]);
        assert_eq!(format.places(&history), Some(vec![4, 2, 5, 3, 1]));
    }

    #[test]
    fn enough_rounds_sort_a_ladder() {
        for reach in 1..4 {
            let format = ladder(&[6, 5, 4, 3, 2, 1, 0], reach, 40);
            let history = play(&format, |a, b| a < b);
            let order = format.order(&history);
            assert!(order[0] <= 1, "{order:?}");
            // No two meet twice in an event.
            let fields: BTreeSet<_> = history
                .matches
                .iter()
                .map(|p| (p.pairing.field.clone(), p.pairing.rotation))
                .collect();
            assert_eq!(fields.len(), history.matches.len());
            assert_resumes(&format, |a, b| a < b);
        }
    }

    #[test]
    fn a_challenger_that_does_not_score_more_stays_below() {
        let format = ladder(&[0, 1], 1, 1);
        let draws = play(&format, |_, _| false);
        assert_eq!(format.order(&draws), [0, 1]);
        assert_eq!(
            ladder(&[3], 2, 5).next(&History::default()),
            Batch::default()
        );
    }
}
