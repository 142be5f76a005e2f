//! The scores of paired games: the pentanomial counts.
//!
//! Two games on the same chance, the sides exchanged, are one observation of five possible values: what a bot scored in
//! both. Counted singly the games would seem to say more than they do, or less: the same lucky dice help both bots once.

use super::{Sums, Unit};

/// Elo points of one unit of normalised Elo's t: 800 / ln 10, so that near equal strength and without draws both Elos are the
/// same (M. Van den Bergh, "Normalized Elo", 2020).
pub const NORMALISED_SCALE: f64 = 347.435_585_522_601_46;

/// How many observations had each score: of pairs the five of 0, 1/2, 1, 3/2 and 2 in two games; of single games the three of
/// 0, 1/2 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    /// Pairs by their score in halves.
    pub pairs: [u64; 5],
    /// Games that have no partner, by their score in halves.
    pub singles: [u64; 3],
}

impl Scores {
    /// Counts a pair, by the bot's score of both games in halves (0 to 4; more is counted as 4).
    pub fn add_pair(&mut self, halves: usize) {
        self.pairs[halves.min(4)] += 1;
    }

    /// Counts a game without a partner, by the score in halves (0 to 2; more is counted as 2).
    pub fn add_single(&mut self, halves: usize) {
        self.singles[halves.min(2)] += 1;
    }

    /// All pairs.
    pub fn pair_count(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// The same from the opponent's side.
    pub fn turned(mut self) -> Scores {
        self.pairs.reverse();
        self.singles.reverse();
        self
    }

    /// The sums over these observations, of scores from 0 to 1 a game.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        let counts = [(2u32, &self.pairs[..]), (1, &self.singles[..])];
        for (count, scores) in counts {
            for (halves, &times) in scores.iter().enumerate() {
                let unit = Unit {
                    sum: halves as f64 / 2.0,
                    count,
                };
                sums.add_times(unit, times);
            }
        }
        sums
    }

    /// The normalised Elo difference with its 95 % interval: how many standard deviations of one game's score the mean is
    /// above 1/2, times [`NORMALISED_SCALE`]. It says how many games it takes to tell the bots apart, whatever share of
    /// them is drawn. The deviation of a game is that of the pair's mean times the root of 2. `None` where all observations
    /// are of one score, or nothing was observed.
    ///
    /// The interval is the approximation for small differences, 1.96 scales over the root of the number of games.
    pub fn normalised_elo(&self) -> Option<NormalisedElo> {
        let games = 2.0 * self.pair_count() as f64 + self.singles.iter().sum::<u64>() as f64;
        let mean = self.sums().estimate()?.mean;
        let squares = |scores: &[u64], most: f64| -> f64 {
            let square = |(halves, &times): (usize, &u64)| {
                let off = halves as f64 / most - mean;
                times as f64 * off * off
            };
            scores.iter().enumerate().map(square).sum()
        };
        // A pair's mean has half the variance of a game.
        let games_squares = 2.0 * 2.0 * squares(&self.pairs, 4.0) + squares(&self.singles, 2.0);
        let deviation = (games_squares / games).sqrt();
        if deviation == 0.0 {
            return None;
        }
        let elo = (mean - 0.5) / deviation * NORMALISED_SCALE;
        let reach = 1.959_963_984_540_054 * NORMALISED_SCALE / games.sqrt();
        Some(NormalisedElo {
            elo,
            interval: [elo - reach, elo + reach],
        })
    }
}

/// A normalised Elo difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalisedElo {
    /// The difference.
    pub elo: f64,
    /// Where it lies with 95 %.
    pub interval: [f64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: [u64; 5]) -> Scores {
        Scores {
            pairs,
            ..Scores::default()
        }
    }

    /// Wins, draws, losses of single games.
    fn singles(won: u64, drawn: u64, lost: u64) -> Scores {
        Scores {
            singles: [lost, drawn, won],
            ..Scores::default()
        }
    }

    #[track_caller]
    fn assert_near(found: f64, right: f64, tolerance: f64) {
        assert!((found - right).abs() <= tolerance, "{found}, not {right}");
    }

    /// The figures that the tests of the match runner fastchess hold it to (`elo_test.cpp`: counts, normalised Elo with its
    /// reach, Elo with its reach, likelihood of superiority in percent), within its own tolerance of 1 %. Its interval is
    /// that of the normal distribution; ours is Student's, which is wider by less than that here.
    #[test]
    fn the_figures_of_fastchess() {
        let cases = [
            (singles(76, 123, 89), -20.76, 40.13, None, Some(15.53)),
            (
                singles(136, 111, 96),
                49.77,
                36.77,
                Some((40.70, 30.43)),
                Some(99.60),
            ),
            (singles(34, 0, 356), -508.44, 34.48, None, None),
            (
                pairs([34, 54, 31 + 32, 64, 75]),
                57.94,
                28.28,
                Some((55.58, 27.65)),
                Some(100.0),
            ),
            (
                pairs([332, 433, 457 + 41, 333, 334]),
                -9.17,
                10.96,
                Some((-8.64, 10.33)),
                Some(5.05),
            ),
            (
                pairs([7895, 8757, 5485 + 200, 568, 9999]),
                -19.01,
                2.65,
                Some((-21.04, 2.95)),
                None,
            ),
        ];
        for (scores, normalised, reach, elo, superiority) in cases {
            let found = scores.normalised_elo().expect("not all are equal");
            assert_near(found.elo, normalised, 0.01 * normalised.abs());
            assert_near(
                (found.interval[1] - found.interval[0]) / 2.0,
                reach,
                0.01 * reach,
            );
            let score = scores.sums().estimate().expect("games");
            if let Some((difference, reach)) = elo {
                let [low, high] = score.elo().interval.expect("many");
                assert_near(score.elo().mean, difference, 0.01 * difference.abs());
                assert_near((high - low) / 2.0, reach, 0.01 * reach);
            }
            if let Some(percent) = superiority {
                let found = 100.0 * score.likelihood_above(0.5).expect("many");
                assert_near(found, percent, 0.1);
            }
        }
    }

    /// Matches as published with the whole block of figures that fastchess prints.
    #[test]
    fn published_matches() {
        for (counts, elo, reach, normalised, its_reach) in [
            ([1u64, 10, 78, 48, 13], 72.85, 22.33, 132.30, 39.32),
            ([352, 579, 1264, 743, 464], 19.83, 6.77, 24.25, 8.26),
        ] {
            let scores = pairs(counts);
            let found = scores.sums().estimate().expect("pairs").elo();
            let [low, high] = found.interval.expect("many");
            assert_near(found.mean, elo, 0.005);
            assert_near((high - low) / 2.0, reach, 0.02 * reach);
            let found = scores.normalised_elo().expect("not all are equal");
            assert_near(found.elo, normalised, 0.005);
            assert_near(
                (found.interval[1] - found.interval[0]) / 2.0,
                its_reach,
                0.005,
            );
        }
    }

    #[test]
    fn the_other_side_has_the_other_sign() {
        let mut one = pairs([3, 5, 8, 9, 2]);
        one.add_pair(4);
        one.add_single(1);
        one.add_single(0);
        let other = one.turned();
        assert_eq!(other.pairs, [3, 9, 8, 5, 3]);
        assert_eq!(other.singles, [0, 1, 1]);
        let (a, b) = (
            one.normalised_elo().expect("mixed"),
            other.normalised_elo().expect("mixed"),
        );
        assert_near(a.elo, -b.elo, 1e-9);
        assert_eq!(one.sums().turned(1.0), other.sums());
    }

    #[test]
    fn pairs_that_always_cancel_have_no_normalised_elo() {
        let all_even = pairs([0, 0, 40, 0, 0]);
        assert_eq!(all_even.normalised_elo(), None);
        assert_eq!(Scores::default().normalised_elo(), None);
        let score = all_even.sums().estimate().expect("pairs");
        assert_eq!(score.likelihood_above(0.5), Some(0.5));
        let all_won = pairs([0, 0, 0, 0, 3]).sums().estimate().expect("pairs");
        assert_eq!(all_won.likelihood_above(0.5), Some(1.0 - 1.0 / 16.0));
    }
}
