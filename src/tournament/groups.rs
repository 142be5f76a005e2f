//! Groups, then a knockout of the best of each.
//!
//! The bots are dealt to the groups in the order given, there and back, so that the groups are about equally strong. Each group plays a
//! round robin, all of them round 1. The first of each group are seeded first, then the second ones, and so on; two of one group do
//! not meet in the first round of the knockout (of two or more groups with two that go on each).

use super::knockout::Knockout;
use super::round_robin;
use super::rulings::Annulled;
use super::{Batch, Format, History, Meetings, Numbers, RankedBy};
use crate::event::Slot;

/// An event of groups and a knockout.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The bots, best first.
    pub seeds: Vec<Slot>,
    /// How many groups.
    pub groups: usize,
    /// How many of each group go on.
    pub advance: usize,
    /// How two bots meet.
    pub meetings: Meetings,
}

impl Groups {
    /// The bots of each group.
    pub fn dealt(&self) -> Vec<Vec<Slot>> {
        let count = self.groups.max(1);
        let mut groups = vec![Vec::new(); count];
        for (index, &slot) in self.seeds.iter().enumerate() {
            let (lap, place) = (index / count, index % count);
            let group = if lap % 2 == 0 {
                place
            } else {
                count - 1 - place
            };
            groups[group].push(slot);
        }
        groups
    }

    /// The bots of a group as they stand, best first: points, Sonneborn-Berger, matches won, the order of the seeds.
    fn ranked(&self, group: &[Slot], so_far: &History) -> Vec<Slot> {
        let bots = self.seeds.iter().map(|slot| slot + 1).max().unwrap_or(0);
        let mut points = vec![0.0; bots];
        let mut won = vec![0u32; bots];
        for played in so_far.of_round(1) {
            for (&slot, share) in played.result.seats.iter().zip(&played.result.score) {
                points[slot] += share.value();
                won[slot] += u32::from(share.value() == 1.0);
            }
        }
        let mut quality = vec![0.0; bots];
        for played in so_far.of_round(1) {
            if let ([a, b], [of_a, of_b]) = (&played.result.seats[..], &played.result.score[..]) {
                quality[*a] += of_a.value() * points[*b];
                quality[*b] += of_b.value() * points[*a];
            }
        }
        // Who was out when the groups were over does not go on.
        let mut ranked = group.to_vec();
        if let Some(absent) = so_far.absent.get(1) {
            ranked.retain(|slot| !absent.contains(slot));
        }
        // The order of the seeds stays among equals.
        ranked.sort_by(|&a, &b| {
            let key = |slot: Slot| (points[slot], quality[slot], f64::from(won[slot]));
            let (a, b) = (key(a), key(b));
            b.0.total_cmp(&a.0)
                .then(b.1.total_cmp(&a.1))
                .then(b.2.total_cmp(&a.2))
        });
        ranked
    }

    /// The knockout after the groups.
    fn knockout(&self, so_far: &History) -> Knockout {
        let ranked: Vec<Vec<Slot>> = self
            .dealt()
            .iter()
            .map(|group| self.ranked(group, so_far))
            .collect();
        let mut seeds = Vec::new();
        for place in 0..self.advance {
            let mut of_place: Vec<Slot> = ranked
                .iter()
                .filter_map(|group| group.get(place).copied())
                .collect();
            if place % 2 == 1 {
                // The best of the draw meets the worst: turned round, and by half, no first meets the second of its own group.
                let half = of_place.len() / 2;
                of_place.rotate_left(half);
                of_place.reverse();
            }
            seeds.extend(of_place);
        }
        Knockout {
            seeds,
            meetings: self.meetings,
            rounds_before: 1,
        }
    }

    fn groups_are_over(&self, so_far: &History) -> bool {
        so_far.round() > 0
    }
}

impl Format for Groups {
    fn next(&self, so_far: &History) -> Batch {
        if self.groups_are_over(so_far) {
            return self.knockout(so_far).next(so_far);
        }
        let mut batch = Batch::default();
        let mut numbers = Numbers::after(1, 0);
        for group in self.dealt() {
            for table in round_robin::tables(group.len(), 2) {
                let seats: Vec<Slot> = table.iter().map(|&place| group[place]).collect();
                let games = 0..self.meetings.games;
                numbers.meet(&seats, games, self.meetings.paired, &mut batch.pairings);
            }
        }
        if batch.pairings.is_empty() {
            return self.knockout(so_far).next(so_far);
        }
        batch
    }

    /// In a group all meet all.
    fn annulled(&self, round: u32) -> Annulled {
        if round == 1 {
            Annulled::Nothing
        } else {
            Annulled::Stands
        }
    }

    fn least_matches(&self) -> usize {
        let of_group = |group: &Vec<Slot>| group.len() * group.len().saturating_sub(1) / 2;
        let in_groups: usize = self.dealt().iter().map(of_group).sum();
        let go_on: usize = self
            .dealt()
            .iter()
            .map(|group| group.len().min(self.advance))
            .sum();
        (in_groups + go_on.saturating_sub(1)) * self.meetings.games as usize
    }

    fn ranked_by(&self) -> RankedBy {
        RankedBy::Round
    }

    /// The places of the knockout; who did not reach it shares the place after.
    fn places(&self, so_far: &History) -> Option<Vec<usize>> {
        if !self.groups_are_over(so_far) {
            return None;
        }
        let knockout = self.knockout(so_far);
        let bots = self.seeds.iter().map(|slot| slot + 1).max().unwrap_or(0);
        let mut places = vec![knockout.seeds.len() + 1; bots];
        let reached = knockout.places(so_far)?;
        for &slot in &knockout.seeds {
            places[slot] = reached[slot];
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_resumes, play};
    use super::*;

    fn format(bots: usize, groups: usize, advance: usize) -> Groups {
        Groups {
            seeds: (0..bots).collect(),
            groups,
            advance,
            meetings: Meetings {
                games: 2,
                paired: true,
            },
        }
    }

    #[test]
    fn dealt_there_and_back() {
        let dealt = format(10, 4, 2).dealt();
        assert_eq!(
            dealt,
            [vec![0, 7, 8], vec![1, 6, 9], vec![2, 5], vec![3, 4]]
        );
    }

    #[test]
    fn the_best_of_each_group_go_on_and_meet_others_first() {
        for groups in 2..=4 {
            let format = format(4 * groups, groups, 2);
            let history = play(&format, |a, b| a < b);
            let dealt = format.dealt();
            let group_of = |slot| dealt.iter().position(|group| group.contains(&slot));
            let first: Vec<_> = history.of_round(2).collect();
            assert!(!first.is_empty());
            for played in first {
                let field = &played.pairing.field;
                assert_ne!(
                    group_of(field[0]),
                    group_of(field[1]),
                    "{groups}: {field:?}"
                );
            }
            let places = format.places(&history).expect("it decides");
            assert_eq!(places[0], 1);
            assert_eq!(
                places
                    .iter()
                    .filter(|&&place| place == 2 * groups + 1)
                    .count(),
                2 * groups
            );
            assert_resumes(&format, |a, b| a < b);
        }
    }

    #[test]
    fn one_group_is_a_round_robin_with_a_final() {
        let format = format(4, 1, 2);
        let history = play(&format, |a, b| a < b);
        assert_eq!(history.of_round(1).count(), 12);
        assert_eq!(history.of_round(2).count(), 2);
        assert_eq!(format.least_matches(), 14);
        assert_eq!(history.matches.len(), 14);
    }
}
