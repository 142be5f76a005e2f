//! One bot meets all others.

use super::Pairing;
use super::round_robin;
use crate::event::Slot;

/// The matches of a gauntlet: those of a round robin ([`round_robin::schedule`]) in which `candidate` sits, numbered anew.
pub fn schedule(
    candidate: Slot,
    bots: usize,
    seats: usize,
    games: u32,
    paired: bool,
    rounds: u32,
) -> Vec<Pairing> {
    in_stages(candidate, &[bots], seats, games, paired, rounds)
}

/// The same with bots that came in several stages ([`round_robin::in_stages`]).
pub fn in_stages(
    candidate: Slot,
    stages: &[usize],
    seats: usize,
    games: u32,
    paired: bool,
    rounds: u32,
) -> Vec<Pairing> {
    round_robin::in_stages(stages, seats, games, paired, rounds, |table| {
        table.contains(&candidate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidate_meets_every_other_bot_equally_often_on_both_seats() {
        for bots in 2..9 {
            for candidate in 0..bots {
                for (games, paired) in [(1, false), (2, true), (6, true), (4, false)] {
                    let schedule = schedule(candidate, bots, 2, games, paired, 2);
                    assert_eq!(schedule.len(), (bots - 1) * 2 * games as usize);
                    for other in (0..bots).filter(|&other| other != candidate) {
                        let met: Vec<_> = schedule
                            .iter()
                            .filter(|p| p.field.contains(&other))
                            .collect();
                        assert_eq!(met.len(), 2 * games as usize);
                        let first = met.iter().filter(|p| p.seats[0] == candidate).count();
                        assert_eq!(first, games as usize);
                        assert!(met.iter().all(|p| p.seats.contains(&candidate)));
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_follow_each_other_in_every_round() {
        for round in [1, 2] {
            let schedule = schedule(2, 5, 2, 4, true, 2);
            let numbers: Vec<u32> = schedule
                .iter()
                .filter(|p| p.id.round == round)
                .map(|p| p.id.number)
                .collect();
            assert_eq!(numbers, (1..=16).collect::<Vec<_>>());
        }
    }

    #[test]
    fn at_tables_of_three_the_candidate_sits_with_every_two_others() {
        let schedule = schedule(1, 5, 3, 3, true, 1);
        assert_eq!(schedule.len(), 6 * 3);
        assert!(schedule.iter().all(|p| p.seats.contains(&1)));
    }
}
