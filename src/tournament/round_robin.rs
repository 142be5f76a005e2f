//! Everybody meets everybody.

use std::ops::Range;

use super::Pairing;
use crate::event::{MatchId, Slot};

/// The matches of a round robin at tables of so many `seats`, in the order in which they are played.
///
/// In each of `rounds` rounds every two of the `bots` bots (every three, every four) meet in `games` matches. A round goes
/// through all `tables` again and again, so that all have played about equally much at any time. The seats move on by one
/// every time that the same bots meet: of two seats they are exchanged.
///
/// `paired`: the matches in which the same bots go once round the seats are played in a row, on the same chance; if `games`
/// is no multiple of the seats, the last are too few to go round.
pub fn schedule(bots: usize, seats: usize, games: u32, paired: bool, rounds: u32) -> Vec<Pairing> {
    over_tables(&tables(bots, seats), seats, games, paired, rounds)
}

/// The matches of a round robin whose bots came in several stages: `stages` says how many there were after each. The matches of the
/// bots of the first stage are those of [`schedule`]; in each round those with a bot of a later stage come after them, so that
/// no match gets another id. `wanted` says which tables meet.
pub fn in_stages(
    stages: &[usize],
    seats: usize,
    games: u32,
    paired: bool,
    rounds: u32,
    wanted: impl Fn(&[Slot]) -> bool,
) -> Vec<Pairing> {
    let mut all: Vec<Pairing> = Vec::new();
    let mut before = 0;
    let mut last = 0;
    for &bots in stages {
        let mut tables = tables(bots, seats);
        tables.retain(|table| table.iter().any(|&slot| slot >= before) && wanted(table));
        let mut new = over_tables(&tables, seats, games, paired, rounds);
        new.iter_mut().for_each(|pairing| pairing.id.number += last);
        last += u32::try_from(tables.len())
            .unwrap_or(u32::MAX)
            .saturating_mul(games);
        all.extend(new);
        before = bots;
    }
    all.sort_by_key(|pairing| pairing.id);
    all
}

/// The same for these tables.
pub(super) fn over_tables(
    tables: &[Vec<Slot>],
    seats: usize,
    games: u32,
    paired: bool,
    rounds: u32,
) -> Vec<Pairing> {
    let rotations = if paired { seats as u32 } else { 1 };
    let mut schedule = Vec::new();
    for round in 1..=rounds {
        let mut number = 0;
        for pair in 0..games.div_ceil(rotations) {
            for table in tables {
                for rotation in 0..rotations.min(games - pair * rotations) {
                    number += 1;
                    // How often these bots have met before.
                    let met = u64::from(round - 1) * u64::from(games)
                        + u64::from(pair * rotations + rotation);
                    let mut on_seats = table.clone();
                    on_seats.rotate_left((met % seats as u64) as usize);
                    let mut field = table.clone();
                    field.sort_unstable();
                    schedule.push(Pairing {
                        id: MatchId { round, number },
                        seats: on_seats,
                        field,
                        pair,
                        rotation: rotation as u8,
                    });
                }
            }
        }
    }
    schedule
}

/// Every table that so many of the bots can make, each once, with the seats as at their first meeting.
pub(super) fn tables(bots: usize, seats: usize) -> Vec<Vec<Slot>> {
    match seats {
        0 | 1 => Vec::new(),
        2 => berger(bots).into_iter().map(Vec::from).collect(),
        _ => turned_tables(bots, seats),
    }
}

/// Every table of more than two bots.
///
/// The bots stand on a ring. A table and all that it becomes when it is turned round the ring, step by step, follow each
/// other: in these each bot is there equally often, and once on every seat (fewer times where the table becomes itself again
/// sooner).
fn turned_tables(bots: usize, seats: usize) -> Vec<Vec<Slot>> {
    let turned = |table: &[Slot], by: usize| -> Vec<Slot> {
        table.iter().map(|slot| (slot + by) % bots).collect()
    };
    let sorted = |mut table: Vec<Slot>| {
        table.sort_unstable();
        table
    };
    let mut tables = Vec::new();
    for others in choices(1..bots, seats - 1) {
        let table = [vec![0], others].concat();
        // Of all turns of a table that have the first bot the least stands for them.
        let is_least = table[1..]
            .iter()
            .all(|slot| sorted(turned(&table, bots - slot)) >= table);
        if is_least {
            let apart = (1..bots).find(|&by| sorted(turned(&table, by)) == table);
            tables.extend((0..apart.unwrap_or(bots)).map(|by| turned(&table, by)));
        }
    }
    tables
}

/// Every way to choose so many of the slots, ascending.
fn choices(from: Range<Slot>, count: usize) -> Vec<Vec<Slot>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    from.clone()
        .flat_map(|first| {
            let mut rest = choices(first + 1..from.end, count - 1);
            rest.iter_mut().for_each(|rest| rest.insert(0, first));
            rest
        })
        .collect()
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
                        let schedule = schedule(bots, 2, games, paired, rounds);
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
                            assert_eq!((p.pair, p.rotation), right);
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
                if p.rotation == 1 {
                    let other = &schedule[index - 1];
                    assert!(paired && other.rotation == 0 && other.pair == p.pair);
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

    /// Calls `check` for tables of three and four.
    fn for_larger_tables(check: impl Fn(usize, usize, u32, bool, &[Pairing])) {
        for seats in [3, 4] {
            for bots in seats..=9 {
                for games in 1..=2 * seats as u32 {
                    for paired in [false, true] {
                        let schedule = schedule(bots, seats, games, paired, 2);
                        check(bots, seats, games, paired, &schedule);
                    }
                }
            }
        }
    }

    #[test]
    fn every_table_meets_equally_often_and_goes_round_the_seats() {
        for_larger_tables(|bots, seats, games, paired, schedule| {
            let fields = choices(0..bots, seats);
            assert_eq!(schedule.len(), 2 * fields.len() * games as usize);
            for field in fields {
                let met: Vec<&Pairing> = schedule
                    .iter()
                    .filter(|p| p.id.round == 1 && p.field == field)
                    .collect();
                assert_eq!(met.len(), games as usize);
                let rotations = if paired { seats } else { 1 };
                for (index, p) in met.iter().enumerate() {
                    assert_eq!(p.pair as usize, index / rotations);
                    assert_eq!(usize::from(p.rotation), index % rotations);
                    let mut sorted = p.seats.clone();
                    sorted.sort_unstable();
                    assert_eq!(sorted, field);
                }
                for &bot in &field {
                    for seat in 0..seats {
                        let sits = met.iter().filter(|p| p.seats[seat] == bot).count();
                        let share = games as usize / seats;
                        assert!((share..=share + 1).contains(&sits), "{met:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn at_larger_tables_all_play_about_equally_much_over_time() {
        for_larger_tables(|bots, seats, _, paired, schedule| {
            let mut played = vec![0usize; bots];
            for p in schedule.iter().filter(|p| p.id.round == 1) {
                p.seats.iter().for_each(|&slot| played[slot] += 1);
                let most = played.iter().max().unwrap_or(&0);
                let least = played.iter().min().unwrap_or(&0);
                let meeting = if paired { seats } else { 1 };
                assert!(most - least <= seats * meeting, "{played:?}");
            }
            assert!(played.iter().all(|&count| count == played[0]));
        });
    }

    #[test]
    fn paired_matches_of_a_larger_table_stand_together_on_one_chance() {
        let three = schedule(4, 3, 3, true, 1);
        for group in three.chunks(3) {
            assert!(
                group
                    .iter()
                    .all(|p| p.field == group[0].field && p.pair == 0)
            );
            let seats: Vec<&[Slot]> = group.iter().map(|p| p.seats.as_slice()).collect();
            let [a, b, c] = [group[0].seats[0], group[0].seats[1], group[0].seats[2]];
            assert_eq!(seats, [[a, b, c], [b, c, a], [c, a, b]]);
        }
    }

    #[test]
    fn nobody_to_meet_nothing_to_play() {
        for (bots, games, rounds) in [(0, 2, 1), (1, 2, 1), (4, 0, 1), (4, 2, 0)] {
            assert_eq!(schedule(bots, 2, games, true, rounds), []);
            assert_eq!(
                schedule(bots, 3, games, true, rounds.min(u32::from(bots < 3))),
                []
            );
        }
    }
}
