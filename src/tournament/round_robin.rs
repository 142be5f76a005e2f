//! Everybody meets everybody.

use super::Pairing;
use crate::event::{MatchId, Slot};

/// The matches of a round robin of two-seat tables, in the order in which they are played.
///
/// In each of `rounds` rounds every two of the `bots` bots meet in `games` matches. A round goes through the Berger table
/// (FIDE Handbook C.05, annex 1) again and again, so that all have played about equally much at any time. At their first
/// meeting the first named in the table sits on seat 0; the seats are exchanged every time that the same two meet.
///
/// `paired`: each two matches of the same two are played in a row, on the same chance; of an odd number of `games` the last
/// is left without its second half.
pub fn schedule(bots: usize, games: u32, paired: bool, rounds: u32) -> Vec<Pairing> {
    let halves = if paired { 2 } else { 1 };
    let tables = berger(bots);
    let mut schedule = Vec::new();
    for round in 1..=rounds {
        let mut number = 0;
        for pair in 0..games.div_ceil(halves) {
            for &[first, second] in &tables {
                for half in 0..halves.min(games - pair * halves) {
                    number += 1;
                    // How often the two have met before.
                    let met =
                        u64::from(round - 1) * u64::from(games) + u64::from(pair * halves + half);
                    schedule.push(Pairing {
                        id: MatchId { round, number },
                        seats: if met % 2 == 1 {
                            vec![second, first]
                        } else {
                            vec![first, second]
                        },
                        field: vec![first.min(second), first.max(second)],
                        pair,
                        half: half as u8,
                    });
                }
            }
        }
    }
    schedule
}

/// All pairs of `bots` bots, round by round of the Berger table, the seats of each pair in its order.
///
/// The bots stand on a ring but for the last, which stays outside. In each round the one at `top` meets the last, and the
/// others meet across: the next after it with the one before it, and so on. `top` moves on by half the ring, which gives
/// every bot the two seats in turn as nearly as can be. Of an odd number, who would meet the last has no match.
fn berger(bots: usize) -> Vec<[Slot; 2]> {
    let even = bots + bots % 2;
    let Some(ring) = even.checked_sub(1).filter(|_| bots >= 2) else {
        return Vec::new();
    };
    let last = ring;
    let mut pairs = Vec::with_capacity(bots * (bots - 1) / 2);
    let mut top = 0;
    for turn in 0..ring {
        if even == bots {
            pairs.push(if turn % 2 == 0 {
                [top, last]
            } else {
                [last, top]
            });
        }
        pairs.extend((1..even / 2).map(|step| [(top + step) % ring, (top + ring - step) % ring]));
        top = (top + even / 2) % ring;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Berger tables as the FIDE Handbook prints them (C.05, annex 1), counted from 1, seat 0 first.
    #[test]
    fn the_published_tables() {
        let four = "1-4 2-3 | 4-3 1-2 | 2-4 3-1";
        let six = "1-6 2-5 3-4 | 6-4 5-3 1-2 | 2-6 3-1 4-5 | 6-5 1-4 2-3 | 3-6 4-2 5-1";
        let eight = "1-8 2-7 3-6 4-5 | 8-5 6-4 7-3 1-2 | 2-8 3-1 4-7 5-6 | 8-6 7-5 1-4 2-3 | \
                     3-8 4-2 5-1 6-7 | 8-7 1-6 2-5 3-4 | 4-8 5-3 6-2 7-1";
        for (bots, table) in [(4, four), (6, six), (8, eight)] {
            let printed: Vec<String> = berger(bots)
                .chunks(bots / 2)
                .map(|round| {
                    let pairs: Vec<String> = round
                        .iter()
                        .map(|[a, b]| format!("{}-{}", a + 1, b + 1))
                        .collect();
                    pairs.join(" ")
                })
                .collect();
            assert_eq!(printed.join(" | "), table);
        }
    }

    /// Calls `check` for many sizes of event.
    fn for_many(check: impl Fn(usize, u32, bool, u32, &[Pairing])) {
        for bots in 2..=13 {
            for games in 1..=6 {
                for paired in [false, true] {
                    for rounds in 1..=3 {
                        let schedule = schedule(bots, games, paired, rounds);
                        check(bots, games, paired, rounds, &schedule);
                    }
                }
            }
        }
    }

    #[test]
    fn every_two_meet_in_every_round_and_sides_are_even() {
        for_many(|bots, games, paired, rounds, schedule| {
            for round in 1..=rounds {
                for a in 0..bots {
                    for b in a + 1..bots {
                        let met: Vec<&Pairing> = schedule
                            .iter()
                            .filter(|p| p.id.round == round && p.field == [a, b])
                            .collect();
                        assert_eq!(met.len(), games as usize);
                        let first = met.iter().filter(|p| p.seats[0] == a).count();
                        assert!(first.abs_diff(met.len() - first) <= 1);
                        for (index, p) in (0..).zip(&met) {
                            let right = if paired {
                                (index / 2, (index % 2) as u8)
                            } else {
                                (index, 0)
                            };
                            assert_eq!((p.pair, p.half), right);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn each_bot_has_both_seats_equally_often() {
        for_many(|bots, _, _, rounds, schedule| {
            for bot in 0..bots {
                for round in 1..=rounds {
                    let seat = |seat: usize| {
                        let sits = |p: &&Pairing| p.id.round <= round && p.seats[seat] == bot;
                        schedule.iter().filter(sits).count()
                    };
                    assert!(
                        seat(0).abs_diff(seat(1)) <= 1,
                        "{bot} of {bots}: {schedule:?}"
                    );
                }
            }
        });
    }

    #[test]
    fn ids_count_and_pairs_stand_together() {
        for_many(|bots, games, paired, rounds, schedule| {
            let matches = bots * (bots - 1) / 2 * games as usize;
            assert_eq!(schedule.len(), matches * rounds as usize);
            for (index, p) in schedule.iter().enumerate() {
                let number = (index % matches) as u32 + 1;
                assert_eq!(p.id.round as usize, index / matches + 1);
                assert_eq!(p.id.number, number);
                let mut field = p.seats.clone();
                field.sort_unstable();
                assert_eq!(p.field, field);
                if p.half == 1 {
                    let other = &schedule[index - 1];
                    assert!(paired && other.half == 0 && other.pair == p.pair);
                    assert_eq!(p.seats, [other.seats[1], other.seats[0]]);
                }
            }
        });
    }

    /// At any time within a round two bots differ by at most two meetings.
    #[test]
    fn all_play_about_equally_much_over_time() {
        for_many(|bots, _, paired, _, schedule| {
            let mut played = vec![0u32; bots];
            for p in schedule.iter().filter(|p| p.id.round == 1) {
                for &slot in &p.seats {
                    played[slot] += 1;
                }
                let spread = played.iter().max().zip(played.iter().min());
                let meeting = if paired { 2 } else { 1 };
                assert!(spread.is_some_and(|(most, least)| most - least <= 2 * meeting));
            }
        });
    }

    #[test]
    fn nobody_to_meet_nothing_to_play() {
        for (bots, games, rounds) in [(0, 2, 1), (1, 2, 1), (4, 0, 1), (4, 2, 0)] {
            assert_eq!(schedule(bots, games, true, rounds), []);
        }
    }
}
