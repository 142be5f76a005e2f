//! Knockout: who loses is out.
//!
//! The bots are seeded in the order given: in each round the best meets the worst of the draw, so that the first two can meet in the final only.
//! Where they are no power of two the first seeds have no opponent in the first round. Two bots that meet play their matches;
//! if they are equal then, they play on, a pair of matches at a time (where games are not paired, one match), until one is ahead.

use super::rulings::Counts;
use super::{Batch, Format, History, Meetings, Numbers, Pairing, RankedBy};
use crate::event::Slot;
use crate::game::Share;

/// How often two bots that are equal play on before the better seed goes on: bots that play the same games again would play
/// for ever.
pub const MOST_EXTENSIONS: u32 = 20;

/// A knockout event.
#[derive(Clone, Debug)]
pub struct Knockout {
    /// The bots, best first.
    pub seeds: Vec<Slot>,
    /// How two bots meet.
    pub meetings: Meetings,
    /// The rounds that were played before, of another stage.
    pub rounds_before: u32,
}

/// A place in the draw: a bot by its seed, or nobody.
type Place = Option<usize>;

/// The seeds in the order of the draw, in which neighbours meet: the usual one, of which each half is again the usual draw.
fn draw(size: usize) -> Vec<usize> {
    let mut order = vec![0];
    while order.len() < size {
        let last = 2 * order.len() - 1;
        order = order.iter().flat_map(|&seed| [seed, last - seed]).collect();
    }
    order
}

/// Where a meeting stands.
enum Tie {
    /// These matches come next, counted from 0.
    Next(std::ops::Range<u32>),
    /// It is decided for this seed.
    Won(usize),
}

impl Knockout {
    /// The first round of the draw, neighbours meet.
    fn first_round(&self) -> Vec<Place> {
        let count = self.seeds.len();
        draw(count.next_power_of_two())
            .into_iter()
            .map(|seed| (seed < count).then_some(seed))
            .collect()
    }

    /// The matches of two seeds in a round.
    fn tie(&self, upper: usize, lower: usize, round: u32, so_far: &History) -> Tie {
        let mut field = [self.seeds[upper], self.seeds[lower]];
        field.sort_unstable();
        let mut count = 0;
        let mut ahead = 0.0;
        for played in so_far
            .of_round(round)
            .filter(|played| played.pairing.field == field)
        {
            count += 1;
            if played.counts == Counts::ByDefault {
                let wins = |seed: usize| {
                    let seat = played
                        .result
                        .seats
                        .iter()
                        .position(|&slot| slot == self.seeds[seed]);
                    seat.is_some_and(|seat| played.result.score[seat] == Share::WIN)
                };
                // One of them is out, whatever was played before.
                return Tie::Won(if wins(lower) { lower } else { upper });
            }
            for (&slot, share) in played.result.seats.iter().zip(&played.result.score) {
                let sign = if slot == self.seeds[upper] { 1.0 } else { -1.0 };
                ahead += sign * share.value();
            }
        }
        let games = self.meetings.games;
        let step = if self.meetings.paired { 2 } else { 1 };
        if count < games {
            Tie::Next(0..games)
        } else if ahead > 0.0 {
            Tie::Won(upper)
        } else if ahead < 0.0 {
            Tie::Won(lower)
        } else if (count - games) / step >= MOST_EXTENSIONS {
            Tie::Won(upper.min(lower))
        } else {
            Tie::Next(count..count + step)
        }
    }

    /// Plays the draw through as far as the results go: the matches that come next, and the last places of all (seeds) by the
    /// round in which they are out.
    fn through(&self, so_far: &History) -> (Vec<Pairing>, Vec<Vec<usize>>, Vec<usize>) {
        let mut out = Vec::new();
        let mut places = self.first_round();
        let mut round = self.rounds_before;
        while places.len() > 1 {
            round += 1;
            let in_round = so_far
                .of_round(round)
                .map(|played| played.pairing.id.number)
                .max();
            let mut numbers = Numbers::after(round, in_round.unwrap_or(0));
            let mut matches = Vec::new();
            let mut winners = Vec::new();
            let mut losers = Vec::new();
            for two in places.chunks(2) {
                let (upper, lower) = match *two {
                    [Some(a), Some(b)] => (a.min(b), a.max(b)),
                    [a, b] => {
                        winners.push(a.or(b));
                        continue;
                    }
                    _ => continue,
                };
                match self.tie(upper, lower, round, so_far) {
                    Tie::Won(winner) => {
                        winners.push(Some(winner));
                        losers.push(upper + lower - winner);
                    }
                    Tie::Next(which) => {
                        let seats = [self.seeds[upper], self.seeds[lower]];
                        numbers.meet(&seats, which, self.meetings.paired, &mut matches);
                    }
                }
            }
            if !matches.is_empty() {
                let left = places
                    .into_iter()
                    .flatten()
                    .filter(|seed| !losers.contains(seed))
                    .collect();
                out.push(losers);
                return (matches, out, left);
            }
            out.push(losers);
            places = winners;
        }
        (Vec::new(), out, places.into_iter().flatten().collect())
    }
}

impl Format for Knockout {
    fn next(&self, so_far: &History) -> Batch {
        Batch {
            pairings: self.through(so_far).0,
            byes: Vec::new(),
        }
    }

    fn least_matches(&self) -> usize {
        self.seeds.len().saturating_sub(1) * self.meetings.games as usize
    }

    fn ranked_by(&self) -> RankedBy {
        RankedBy::Round
    }

    /// Who is still in is first; those who went out in one round share a place.
    fn places(&self, so_far: &History) -> Option<Vec<usize>> {
        let (_, out, left) = self.through(so_far);
        let bots = self.seeds.iter().map(|slot| slot + 1).max().unwrap_or(0);
        let mut places = vec![bots; bots];
        let mut place = 1;
        for same in std::iter::once(&left).chain(out.iter().rev()) {
            for &seed in same {
                places[self.seeds[seed]] = place;
            }
            place += same.len();
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_resumes, play};
    use super::*;

    fn knockout(count: usize, games: u32, paired: bool) -> Knockout {
        Knockout {
            seeds: (0..count).collect(),
            meetings: Meetings { games, paired },
            rounds_before: 0,
        }
    }

    #[test]
    fn the_usual_draw() {
        assert_eq!(draw(1), [0]);
        assert_eq!(draw(2), [0, 1]);
        assert_eq!(draw(4), [0, 3, 1, 2]);
        // Printed draws of eight and of sixteen, seeds from 1.
        let eight: Vec<usize> = draw(8).iter().map(|seed| seed + 1).collect();
        assert_eq!(eight, [1, 8, 4, 5, 2, 7, 3, 6]);
        let sixteen: Vec<usize> = draw(16).iter().map(|seed| seed + 1).collect();
        assert_eq!(
            sixteen,
            [1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11]
        );
    }

    #[test]
    fn the_better_seed_always_wins_and_the_best_two_meet_last() {
        for count in 2..=20 {
            let format = knockout(count, 2, true);
            let history = play(&format, |a, b| a < b);
            let last = &history.matches.last().expect("there is a final").pairing;
            assert_eq!(last.field, [0, 1]);
            assert_eq!(history.matches.len(), 2 * (count - 1), "{count}");
            let places = format.places(&history).expect("it decides");
            assert_eq!(places[..2], [1, 2]);
            if count > 3 {
                assert_eq!(places[2..4], [3, 3]);
            }
            assert_resumes(&format, |a, b| a < b);
        }
    }

    #[test]
    fn any_winner_goes_on() {
        let format = knockout(6, 1, false);
        // The worst seed beats everybody.
        let history = play(&format, |a, b| a > b);
        let places = format.places(&history).expect("it decides");
        assert_eq!(places[5], 1);
        // Seeds 0 and 1 have no opponent in the first round.
        let first: Vec<_> = history
            .of_round(1)
            .map(|played| played.pairing.field.clone())
            .collect();
        assert_eq!(first, [[3, 4], [2, 5]]);
    }

    /// Bots that always split a pair play on, and in the end the better seed goes on.
    #[test]
    fn equal_bots_play_on_until_the_bound() {
        let format = knockout(2, 2, true);
        let mut results = std::collections::BTreeMap::new();
        let mut unfolded = super::super::unfold(&format, &results);
        let mut batches = 0;
        while !unfolded.is_over() {
            batches += 1;
            for pairing in unfolded.batch.pairings.clone() {
                // Seat 0 always wins.
                results.insert(pairing.id, super::super::tests::won(&pairing, 0));
            }
            unfolded.advance(&format, &results);
        }
        assert_eq!(batches, 1 + MOST_EXTENSIONS);
        assert_eq!(format.places(&unfolded.history), Some(vec![1, 2]));
        let ids: Vec<u32> = unfolded
            .history
            .matches
            .iter()
            .map(|played| played.pairing.id.number)
            .collect();
        assert_eq!(ids, (1..=2 + 2 * MOST_EXTENSIONS).collect::<Vec<_>>());
        let pairs: Vec<u32> = unfolded
            .history
            .matches
            .iter()
            .map(|played| played.pairing.pair)
            .collect();
        assert!(
            pairs
                .chunks(2)
                .enumerate()
                .all(|(index, two)| two == [index as u32; 2])
        );
    }

    #[test]
    fn one_bot_has_won_already() {
        assert_eq!(
            knockout(1, 2, true).next(&History::default()),
            Batch::default()
        );
        assert_eq!(
            knockout(0, 2, true).next(&History::default()),
            Batch::default()
        );
        assert_eq!(
            knockout(1, 2, true).places(&History::default()),
            Some(vec![1])
        );
    }
}
