//! Swiss pairings against an exhaustive search, and what holds for whole events.

use super::super::tests::{assert_resumes, judged, play};
use super::super::{Unfolded, unfold};
use super::*;
use std::collections::BTreeMap;

fn swiss(bots: usize, games: u32, paired: bool, rounds: u32) -> Swiss {
    Swiss {
        entries: (0..bots).map(Entry::whole).collect(),
        meetings: Meetings { games, paired },
        rounds,
    }
}

/// A generator of numbers, the same ones every time (SplitMix64).
struct Numbers64(u64);

impl Numbers64 {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    }
}

/// The least cost of all pairings, by going through every one of them. The costs are computed anew from the description at the top of the
/// module.
fn least_by_search(players: &[Player], paired: bool) -> Cost {
    fn go(players: &[Player], paired: bool, left: &[usize], bye_is_free: bool) -> Option<Cost> {
        let Some((&first, rest)) = left.split_first() else {
            return Some([0; 5]);
        };
        let mut best: Option<Cost> = None;
        let mut offer = |own: Cost, rest: Option<Cost>| {
            if let Some(rest) = rest {
                let sum: Cost = std::array::from_fn(|at| own[at] + rest[at]);
                best = Some(best.map_or(sum, |best| best.min(sum)));
            }
        };
        for (index, &other) in rest.iter().enumerate() {
            let mut others = rest.to_vec();
            others.remove(index);
            offer(
                cost_of(players, paired, first, other),
                go(players, paired, &others, bye_is_free),
            );
        }
        if bye_is_free {
            let below = players.len() - 1 - first;
            let own = [i64::from(players[first].had_bye), below as i64, 0, 0, 0];
            offer(own, go(players, paired, rest, false));
        }
        best
    }
    let all: Vec<usize> = (0..players.len()).collect();
    go(players, paired, &all, players.len() % 2 == 1).expect("some pairing is possible")
}

fn cost_of(players: &[Player], paired: bool, upper: usize, lower: usize) -> Cost {
    let (a, b) = (&players[upper], &players[lower]);
    let difference = a.points - b.points;
    let ideal = if difference == 0 {
        players
            .iter()
            .filter(|player| player.points == a.points)
            .count()
            / 2
    } else {
        1
    };
    let distance = (lower - upper) as i64 - ideal as i64;
    let unbalanced = |a: i64, b: i64| a * a + b * b;
    let sides =
        unbalanced(a.balance + 1, b.balance - 1).min(unbalanced(a.balance - 1, b.balance + 1));
    [
        i64::from(a.met.contains(&b.slot)),
        0,
        difference * difference,
        if paired { 0 } else { sides },
        distance * distance,
    ]
}

fn cost_of_pairing(
    players: &[Player],
    paired: bool,
    pairs: &[(usize, usize)],
    bye: Option<usize>,
) -> Cost {
    let mut sum = [0; 5];
    let mut add = |cost: Cost| sum = std::array::from_fn(|at| sum[at] + cost[at]);
    for &(a, b) in pairs {
        add(cost_of(players, paired, a, b));
    }
    if let Some(bye) = bye {
        add([
            i64::from(players[bye].had_bye),
            (players.len() - 1 - bye) as i64,
            0,
            0,
            0,
        ]);
    }
    sum
}

/// Whole events of small fields with results by chance: in every round no pairing is better than the one made.
#[test]
fn pairings_agree_with_an_exhaustive_search() {
    let mut numbers = Numbers64(7);
    let mut rounds_seen = 0;
    for bots in 2..=9 {
        for paired in [false, true] {
            for _ in 0..6 {
                let games = if paired { 2 } else { 1 };
                // More rounds than opponents: rematches are needed in the end.
                let format = swiss(bots, games, paired, bots as u32 + 1);
                let mut results = BTreeMap::new();
                let mut unfolded = unfold(&format, &results);
                while !unfolded.is_over() {
                    let round = unfolded.history.round() + 1;
                    let players = format.players(round, &unfolded.history);
                    let (pairs, bye) = pair(&players, paired);
                    let found = cost_of_pairing(&players, paired, &pairs, bye);
                    assert_eq!(
                        found,
                        least_by_search(&players, paired),
                        "{bots} bots, round {round}"
                    );
                    rounds_seen += 1;
                    let strength: Vec<u64> = (0..bots).map(|_| numbers.below(3)).collect();
                    for pairing in &unfolded.batch.pairings {
                        let result = judged(pairing, |a, b| strength[a] > strength[b]);
                        results.insert(pairing.id, result);
                    }
                    unfolded.advance(&format, &results);
                }
            }
        }
    }
    assert!(rounds_seen > 500, "{rounds_seen}");
}

/// The first round of a strong and a weak half, and the second of the winners and losers, as every textbook shows it.
#[test]
fn upper_half_meets_lower_half() {
    let format = swiss(8, 2, true, 3);
    let history = play(&format, |a, b| a < b);
    let fields = |round| -> Vec<Vec<Slot>> {
        history
            .of_round(round)
            .filter(|played| played.pairing.rotation == 0)
            .map(|played| played.pairing.field.clone())
            .collect()
    };
    assert_eq!(fields(1), [[0, 4], [1, 5], [2, 6], [3, 7]]);
    assert_eq!(fields(2), [[0, 2], [1, 3], [4, 6], [5, 7]]);
    assert_eq!(fields(3)[0], [0, 1]);
}

#[test]
fn nobody_meets_twice_and_nobody_has_two_byes() {
    for bots in 2..=25 {
        for (games, paired) in [(1, false), (2, true)] {
            let rounds = usual_rounds(bots);
            let format = swiss(bots, games, paired, rounds);
            let history = play(&format, |a, b| a < b);
            let mut met = BTreeSet::new();
            for played in history
                .matches
                .iter()
                .filter(|played| played.pairing.rotation == 0)
            {
                assert!(
                    met.insert(played.pairing.field.clone()),
                    "{bots} bots: {:?} twice",
                    played.pairing.field
                );
            }
            let byes: BTreeSet<Slot> = history.byes.iter().map(|bye| bye.slot).collect();
            assert_eq!(byes.len(), history.byes.len());
            assert_eq!(
                history.byes.len(),
                if bots % 2 == 1 { rounds as usize } else { 0 }
            );
            assert!(history.points(bots)[0] >= f64::from(rounds * games) - 1.0);
            assert_eq!(history.matches.len(), format.least_matches());
        }
    }
}

#[test]
fn sides_stay_balanced() {
    for bots in [8, 13, 20, 40] {
        let format = swiss(bots, 1, false, 9.min(bots as u32 - 2));
        let mut numbers = Numbers64(bots as u64);
        let strength: Vec<u64> = (0..bots).map(|_| numbers.below(1000)).collect();
        let history = play(&format, |a, b| strength[a] > strength[b]);
        for slot in 0..bots {
            let on = |seat: usize| {
                history
                    .matches
                    .iter()
                    .filter(|played| played.pairing.seats[seat] == slot)
                    .count()
            };
            assert!(
                on(0).abs_diff(on(1)) <= 2,
                "{bots} bots: {slot} {} {}",
                on(0),
                on(1)
            );
        }
    }
}

#[test]
fn bots_come_late_and_leave() {
    let mut format = swiss(7, 2, true, 5);
    format.entries[6].joins = 3;
    format.entries[0].leaves = Some(4);
    let history = play(&format, |a, b| a < b);
    let rounds_of = |slot: Slot| -> BTreeSet<u32> {
        let played = history
            .matches
            .iter()
            .filter(|played| played.pairing.seats.contains(&slot));
        let byes = history.byes.iter().filter(|bye| bye.slot == slot);
        played
            .map(|played| played.pairing.id.round)
            .chain(byes.map(|bye| bye.round))
            .collect()
    };
    assert_eq!(rounds_of(6), BTreeSet::from([3, 4, 5]));
    assert_eq!(rounds_of(0), BTreeSet::from([1, 2, 3]));
    assert_eq!(rounds_of(3), BTreeSet::from([1, 2, 3, 4, 5]));
    assert_resumes(&format, |a, b| a < b);
}

#[test]
fn an_event_that_stops_goes_on_as_it_would_have() {
    for bots in [2, 5, 8, 11] {
        assert_resumes(&swiss(bots, 1, false, 4), |a, b| a < b);
        assert_resumes(&swiss(bots, 2, true, 4), |a, b| a % 3 < b % 3);
    }
}

#[test]
fn too_few_to_pair() {
    for bots in 0..2 {
        let Unfolded { batch, .. } = unfold(&swiss(bots, 2, true, 3), &BTreeMap::new());
        assert_eq!(batch.pairings, []);
    }
    assert_eq!(usual_rounds(0), 1);
    assert_eq!(usual_rounds(2), 1);
    assert_eq!(usual_rounds(9), 4);
    assert_eq!(usual_rounds(16), 4);
    assert_eq!(usual_rounds(17), 5);
}

/// The packed costs of large fields and of long rounds stay within a number.
#[test]
fn large_fields_and_long_rounds_are_paired() {
    for (bots, games) in [(300, 1), (9, 1_000_000)] {
        let mut numbers = Numbers64(3);
        let mut players: Vec<Player> = (0..bots)
            .map(|slot| Player {
                slot,
                points: 12 * (i64::from(games) * 5 * numbers.below(1000) as i64 / 1000),
                met: BTreeSet::new(),
                had_bye: false,
                balance: 0,
                last_seat: None,
            })
            .collect();
        players.sort_by_key(|player| std::cmp::Reverse(player.points));
        let (pairs, bye) = pair(&players, false);
        let mut seen: Vec<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).chain(bye).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..bots).collect::<Vec<_>>());
    }
    // Even fields that no program has memory for, and the widest costs, are packed without overflow.
    let widest = [1, 1 << 17, 1 << 60, 1 << 20, 1 << 34];
    let packing = Packing::of(&[widest], 1 << 16);
    assert!(packing.pack(&widest) > packing.pack(&[0, 1 << 17, 1 << 60, 1 << 20, 1 << 34]));
    assert!(packing.pack(&widest) < 1 << MOST_BITS);
}
