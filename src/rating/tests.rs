use std::sync::mpsc;
use std::time::Duration;

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};

use super::*;

const fn rating(value: f64, deviation: f64, volatility: f64) -> Rating {
    Rating {
        value,
        deviation,
        volatility,
    }
}

/// Results of bot 0 against others.
fn period(scores: &[(usize, Score)]) -> Period {
    Period {
        results: scores
            .iter()
            .map(|&(b, score)| Meeting { a: 0, b, score })
            .collect(),
    }
}

#[track_caller]
fn rate(period: &Period, before: &[Rating], tau: f64) -> Vec<Rating> {
    period.rate(before, tau).expect("the period can be rated")
}

/// The independent computation: another crate, which is right everywhere.
fn oracle(before: &[Rating], period: &Period, tau: f64) -> Vec<Rating> {
    let theirs = |r: Rating| Glicko2Rating {
        rating: r.value,
        deviation: r.deviation,
        volatility: r.volatility,
    };
    let config = Glicko2Config {
        tau,
        convergence_tolerance: 1e-10,
    };
    let outcome = |score| match score {
        Score::Win => Outcomes::WIN,
        Score::Draw => Outcomes::DRAW,
        Score::Loss => Outcomes::LOSS,
    };
    (0..before.len())
        .map(|bot| {
            let mut results = Vec::new();
            for meeting in &period.results {
                if meeting.a == bot {
                    results.push((theirs(before[meeting.b]), outcome(meeting.score)));
                }
                if meeting.b == bot {
                    let score = meeting.score.of_the_other();
                    results.push((theirs(before[meeting.a]), outcome(score)));
                }
            }
            let after = glicko2_rating_period(&theirs(before[bot]), &results, &config);
            rating(
                after.rating,
                after.deviation.min(MAX_DEVIATION),
                after.volatility,
            )
        })
        .collect()
}

/// Steele, Lea and Flood's SplitMix64: the same numbers everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        low + unit * (high - low)
    }
}

#[test]
fn the_papers_example() {
    let before = [
        rating(1500.0, 200.0, 0.06),
        rating(1400.0, 30.0, 0.06),
        rating(1550.0, 100.0, 0.06),
        rating(1700.0, 300.0, 0.06),
    ];
    let period = period(&[(1, Score::Win), (2, Score::Loss), (3, Score::Loss)]);
    let after = rate(&period, &before, 0.5)[0];
    // The paper's figures are rounded by hand at every step.
    assert!((after.value - 1464.06).abs() < 0.02, "{after:?}");
    assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
    assert!((after.volatility - 0.05999).abs() < 1e-5, "{after:?}");
}

#[test]
fn an_upset_raises_the_volatility() {
    let before = [rating(1800.0, 60.0, 0.06), rating(1200.0, 60.0, 0.06)];
    let one = rate(&period(&[(1, Score::Loss)]), &before, 0.5)[0];
    assert!((one.volatility - 0.060_011_7).abs() < 1e-7, "{one:?}");
    let twenty = rate(&period(&[(1, Score::Loss); 20]), &before, 0.5)[0];
    assert!((twenty.value - 1420.5).abs() < 0.05, "{twenty:?}");
    assert!((twenty.deviation - 58.9).abs() < 0.05, "{twenty:?}");
}

/// Where the crate alone never comes back.
#[test]
fn results_that_the_crate_cannot_rate_come_to_an_end() {
    let cases = [
        (
            rating(2000.0, 40.0, 0.06),
            rating(2300.0, 100.0, 0.06),
            30,
            30,
        ),
        (
            rating(1500.0, 60.0, 0.06),
            rating(1100.0, 50.0, 0.06),
            9,
            38,
        ),
    ];
    for (bot, opponent, wins, games) in cases {
        let scores: Vec<_> = (0..games)
            .map(|game| (1, if game < wins { Score::Win } else { Score::Loss }))
            .collect();
        let (done, result) = mpsc::channel();
        let before = [bot, opponent];
        let rated = period(&scores);
        let expected = oracle(&before, &rated, 1.0);
        std::thread::spawn(move || done.send(rated.rate(&before, 1.0)));
        let after = result
            .recv_timeout(Duration::from_secs(60))
            .expect("the computation ends")
            .expect("it has a result");
        assert_close(&after, &expected, &before);
    }
}

#[test]
fn who_does_not_play_grows_less_certain_up_to_the_cap() {
    let mut ratings = vec![rating(1622.0, 60.0, 0.06), Rating::NEW];
    let idle = Period::default();
    let after = rate(&idle, &ratings, DEFAULT_TAU);
    let step = 0.06 * 173.7178;
    assert!((after[0].deviation - 60f64.hypot(step)).abs() < 1e-9);
    assert_eq!(after[0].value, 1622.0);
    assert_eq!(after[0].volatility, 0.06);
    assert_eq!(after[1], Rating::NEW);
    for _ in 0..2000 {
        ratings = rate(&idle, &ratings, DEFAULT_TAU);
    }
    assert_eq!(ratings[0].deviation, MAX_DEVIATION);
}

#[test]
fn a_period_counts_at_once_and_its_order_does_not_matter() {
    let before = [Rating::NEW; 3];
    let meeting = |(a, b, score)| Meeting { a, b, score };
    let results = [(0, 1, Score::Win), (1, 2, Score::Win), (0, 2, Score::Draw)];
    let forward = Period {
        results: results.into_iter().map(meeting).collect(),
    };
    let backward = Period {
        results: results.into_iter().rev().map(meeting).collect(),
    };
    let forward = rate(&forward, &before, 0.5);
    assert_close(&rate(&backward, &before, 0.5), &forward, &before);
    // Bot 1 won and lost against equals: what its opponents did else in the period must not show.
    assert!((forward[1].value - 1500.0).abs() < 1e-9, "{forward:?}");
}

#[test]
fn the_same_result_seen_from_the_other_side_is_the_same() {
    let before = [rating(1510.0, 80.0, 0.05), rating(1700.0, 50.0, 0.07)];
    let seen = |a, b, score| {
        let results = vec![Meeting { a, b, score }];
        rate(&Period { results }, &before, 0.5)
    };
    assert_eq!(seen(0, 1, Score::Win), seen(1, 0, Score::Loss));
    assert_eq!(seen(0, 1, Score::Draw), seen(1, 0, Score::Draw));
}

#[test]
fn the_interval_is_1_96_deviations_each_way() {
    assert_eq!(Rating::NEW.interval(), [814.0, 2186.0]);
}

/// Equality up to what the last bits of sums in another order make of it.
#[track_caller]
fn assert_close(ours: &[Rating], theirs: &[Rating], before: &[Rating]) {
    let near = |a: f64, b: f64, scale: f64| (a - b).abs() < 1e-9 * b.abs().max(scale);
    assert_eq!(ours.len(), theirs.len());
    for (our, their) in ours.iter().zip(theirs) {
        let equal = near(our.value, their.value, 10.0)
            && near(our.deviation, their.deviation, 10.0)
            && near(our.volatility, their.volatility, 0.1);
        assert!(equal, "{our:?} and {their:?} from {before:?}");
    }
}

/// Random periods: ordinary ones, upsets, many results of one opponent, idle bots. Returns how many volatilities rose.
fn compare(periods: u64, seed: u64) -> u64 {
    let mut numbers = Numbers(seed);
    let mut surprises = 0;
    for _ in 0..periods {
        let bots = 2 + numbers.below(5);
        let before: Vec<Rating> = (0..bots)
            .map(|_| {
                let value = numbers.between(800.0, 2300.0);
                rating(
                    value,
                    numbers.between(30.0, 350.0),
                    numbers.between(0.03, 0.12),
                )
            })
            .collect();
        // The last bot is often idle; in one period of three the weaker bot wins everything.
        let playing = bots - numbers.below(2).min(bots - 2);
        let upset = numbers.below(3) == 0;
        let mut results = Vec::new();
        for _ in 0..numbers.below(30) {
            let a = numbers.below(playing);
            let b = (a + 1 + numbers.below(playing - 1)) % playing;
            let score = match numbers.below(5) {
                _ if upset && before[a].value < before[b].value => Score::Win,
                _ if upset => Score::Loss,
                0 | 1 => Score::Win,
                2 | 3 => Score::Loss,
                _ => Score::Draw,
            };
            results.push(Meeting { a, b, score });
        }
        let period = Period { results };
        let tau = [0.3, 0.5, 0.8, 1.0, 1.2][numbers.below(5)];
        let after = rate(&period, &before, tau);
        surprises += after
            .iter()
            .zip(&before)
            .filter(|(new, old)| new.volatility > old.volatility)
            .count() as u64;
        assert_close(&after, &oracle(&before, &period, tau), &before);
    }
    surprises
}

#[test]
fn equal_to_another_implementation_on_200_000_random_periods() {
    let surprises = compare(200_000, 7);
    // Where the volatility rose step 5 had its first case, in which the crate is wrong.
    assert!(surprises > 100_000, "only {surprises} volatilities rose");
}

/// Whatever comes in, there is an answer or an error, and it comes soon.
#[test]
fn extreme_ratings_give_an_answer_or_an_error() {
    let mut numbers = Numbers(3);
    let (mut answers, mut errors) = (0, 0);
    for _ in 0..5_000 {
        let mut any = || {
            let value = numbers.between(-1.0, 1.0) * 10f64.powf(numbers.between(0.0, 6.0));
            let deviation = 350.0 * 10f64.powf(numbers.between(-12.0, 0.0));
            rating(value, deviation, 10f64.powf(numbers.between(-6.0, 6.0)))
        };
        let before = [any(), any()];
        let score = [Score::Win, Score::Draw, Score::Loss][numbers.below(3)];
        let scores = vec![(1, score); 1 + numbers.below(40)];
        let tau = 10f64.powf(numbers.between(-2.0, 1.0));
        match period(&scores).rate(&before, tau) {
            Ok(after) => {
                answers += 1;
                assert!(after.iter().all(|rating| rating.is_possible()), "{after:?}");
            }
            Err(RatingError::NoSolution { .. }) => errors += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(
        answers > 1_000 && errors > 100,
        "{answers} answers, {errors} errors"
    );
}

#[test]
fn what_cannot_be_rated_is_said() {
    let good = [Rating::NEW; 2];
    let one = period(&[(1, Score::Win)]);
    let message = |result: Result<Vec<Rating>, RatingError>| {
        result.expect_err("it is impossible").to_string()
    };
    for tau in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let text = message(one.rate(&good, tau));
        assert!(text.contains("from 0.01 to 10"), "{text}");
    }
    for bad in [
        rating(f64::NAN, 100.0, 0.06),
        rating(1500.0, 0.0, 0.06),
        rating(1500.0, 350.1, 0.06),
        rating(1500.0, f64::NAN, 0.06),
        rating(1500.0, 100.0, 0.0),
        rating(1500.0, 100.0, f64::INFINITY),
    ] {
        let text = message(one.rate(&[Rating::NEW, bad], 0.5));
        assert!(text.starts_with("bot 1 has the rating"), "{text}");
    }
    assert_eq!(
        period(&[(2, Score::Win)]).rate(&good, 0.5),
        Err(RatingError::UnknownBot { bot: 2, bots: 2 })
    );
    assert_eq!(
        period(&[(0, Score::Draw)]).rate(&good, 0.5),
        Err(RatingError::Itself(0))
    );
    let apart = [rating(-9e5, 30.0, 0.06), rating(9e5, 30.0, 0.06)];
    let text = message(one.rate(&apart, 0.5));
    assert!(text.contains("too far apart"), "{text}");
}

/// A step of the search meets the root exactly: the crate alone never comes back, though nothing here is a surprise.
#[test]
fn an_exact_root_ends_the_search() {
    let before = [
        Rating {
            value: -8.710271885140696 * 173.7178 + 1500.0,
            deviation: 0.0018517630265091846 * 173.7178,
            volatility: 28.464060998633723,
        },
        Rating {
            value: -8.652091260660224 * 173.7178 + 1500.0,
            deviation: 3.4347848133859742e-9 * 173.7178,
            volatility: 0.06,
        },
    ];
    let draw = period(&[(1, Score::Draw)]);
    let tau = 3.3555620649226117;
    assert_close(
        &rate(&draw, &before, tau),
        &oracle(&before, &draw, tau),
        &before,
    );
}

/// Close to Delta^2 = phi^2 + v the crate's own comparison may fall on the other side than ours.
#[test]
fn on_the_border_of_the_two_cases() {
    let (value, opponent) = (1500.0, rating(1570.0, 50.0, 0.06));
    let excess = |deviation: f64| {
        let phi = deviation / 173.7178;
        let spread = 50.0 / 173.7178 / std::f64::consts::PI;
        let g = (1.0 + 3.0 * spread * spread).sqrt().recip();
        let expected = (1.0 + (g * 70.0 / 173.7178).exp()).recip();
        let v = (g * g * expected * (1.0 - expected)).recip();
        (v * g * (1.0 - expected)).powi(2) - phi * phi - v
    };
    let (mut low, mut high) = (30.0, 350.0);
    assert!(
        excess(low) > 0.0 && excess(high) < 0.0,
        "{} {}",
        excess(low),
        excess(high)
    );
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    for deviation in [low, high, low - 1e-9, high + 1e-9, low - 1e-3, high + 1e-3] {
        let before = [rating(value, deviation, 0.06), opponent];
        let win = period(&[(1, Score::Win)]);
        let after = rate(&win, &before, 0.5);
        assert_close(&after, &oracle(&before, &win, 0.5), &before);
    }
}

/// Counted results are rated as if each stood alone, whatever the order.
#[test]
fn counted_results_are_rated_like_single_ones() {
    let before = [
        rating(1500.0, 200.0, 0.06),
        rating(1400.0, 30.0, 0.06),
        rating(1700.0, 300.0, 0.05),
        Rating::NEW,
    ];
    let counts = [
        Counts {
            a: 0,
            b: 1,
            won: 3,
            drawn: 1,
            lost: 0,
        },
        Counts {
            a: 2,
            b: 0,
            won: 2,
            drawn: 0,
            lost: 5,
        },
        Counts {
            a: 1,
            b: 2,
            won: 0,
            drawn: 2,
            lost: 0,
        },
    ];
    let scores = |c: &Counts| {
        [
            (Score::Loss, c.lost),
            (Score::Win, c.won),
            (Score::Draw, c.drawn),
        ]
    };
    let results = counts
        .iter()
        .flat_map(|c| {
            scores(c)
                .map(|(score, times)| {
                    vec![
                        Meeting {
                            a: c.a,
                            b: c.b,
                            score
                        };
                        times as usize
                    ]
                })
                .concat()
        })
        .collect();
    let single = rate(&Period { results }, &before, 0.5);
    let counted = rate_counts(&counts, &before, 0.5).expect("possible");
    for (one, other) in single.iter().zip(&counted) {
        assert!((one.value - other.value).abs() < 1e-9, "{one:?} {other:?}");
        assert!(
            (one.deviation - other.deviation).abs() < 1e-9,
            "{one:?} {other:?}"
        );
        assert!(
            (one.volatility - other.volatility).abs() < 1e-12,
            "{one:?} {other:?}"
        );
    }
    let itself = Counts {
        a: 1,
        b: 1,
        won: 1,
        drawn: 0,
        lost: 0,
    };
    assert_eq!(
        rate_counts(&[itself], &before, 0.5),
        Err(RatingError::Itself(1))
    );
}
