//! What rulings do to the matches and standings of each format.

use std::collections::BTreeMap;

use super::*;
use crate::tournament::groups::Groups;
use crate::tournament::knockout::Knockout;
use crate::tournament::ladder::Ladder;
use crate::tournament::standings::{Counting, Placing, Standings, TieBreak};
use crate::tournament::swiss::{Entry, Swiss};
use crate::tournament::tests::{judged, won};
use crate::tournament::{Fixed, Meetings, gauntlet, round_robin, unfold_ruled};

const PAIRED: Meetings = Meetings {
    games: 2,
    paired: true,
};

fn ruling(number: u32, since: usize, what: What) -> Ruling {
    Ruling {
        number,
        since,
        at: "2026-01-02T03:04:05Z".into(),
        what,
        reason: "because".into(),
    }
}

/// Rulings with these batches, numbered in order.
fn desk(rulings: &[(usize, What)]) -> Desk {
    let numbered = (1..)
        .zip(rulings)
        .map(|(number, (since, what))| ruling(number, *since, what.clone()));
    Desk::new(numbered.collect())
}

fn out(slot: Slot) -> What {
    What::Disqualify {
        slot,
        keep_results: false,
    }
}

fn kept(slot: Slot) -> What {
    What::Disqualify {
        slot,
        keep_results: true,
    }
}

fn id(round: u32, number: u32) -> MatchId {
    MatchId { round, number }
}

type Results = BTreeMap<MatchId, MatchResult>;

/// Plays so many matches, in order; the lesser slot always wins.
fn play(format: &dyn Format, desk: &Desk, results: &mut Results, matches: usize) -> Unfolded {
    let mut unfolded = unfold_ruled(format, results, desk.clone());
    for _ in 0..matches {
        let Some(next) = unfolded.left(format, results).next().cloned() else {
            break;
        };
        results.insert(next.id, judged(&next, |a, b| a < b));
        while unfolded.advance(format, results) {}
    }
    unfolded
}

/// Plays an event with rulings that are made after so many matches each; at each step the matches that are over are still those of the
/// event, and at the end it unfolds as it was played.
fn play_ruled(format: &dyn Format, steps: &[(usize, What)]) -> (Unfolded, Results, Desk) {
    let mut results = Results::new();
    let mut rulings = Vec::new();
    let mut played = 0;
    for (number, (after, what)) in (1..).zip(steps) {
        let desk = Desk::new(rulings.clone());
        let unfolded = play(format, &desk, &mut results, after - played);
        played = *after;
        let begun = |p: &Pairing| results.contains_key(&p.id);
        let since = unfolded.number + usize::from(unfolded.batch.pairings.iter().any(begun));
        rulings.push(ruling(number, since, what.clone()));
        assert_stands(
            &unfold_ruled(format, &results, Desk::new(rulings.clone())),
            &results,
        );
    }
    let desk = Desk::new(rulings);
    let unfolded = play(format, &desk, &mut results, usize::MAX);
    assert!(unfolded.is_over());
    assert_stands(&unfolded, &results);
    let again = unfold_ruled(format, &results, desk.clone());
    assert_eq!(again, unfolded);
    (unfolded, results, desk)
}

/// Every match that is over is one of the event, with the same seats.
#[track_caller]
fn assert_stands(unfolded: &Unfolded, results: &Results) {
    for result in results.values() {
        let pairing = unfolded.pairings().find(|p| p.id == result.id);
        let pairing = pairing.unwrap_or_else(|| panic!("{} is not paired", result.id));
        assert_eq!(pairing.seats, result.seats);
    }
}

/// The standings as reports make them.
fn standings(
    format: &dyn Format,
    (unfolded, results): (&Unfolded, &Results),
    bots: usize,
    tie_breaks: &[TieBreak],
) -> Standings {
    let desk = &unfolded.desk;
    let names: Vec<String> = (0..bots).map(|slot| format!("bot{slot}")).collect();
    let counting: Vec<MatchResult> = results
        .values()
        .filter(|result| desk.taken_out(result.id, &result.seats).is_none())
        .cloned()
        .collect();
    let placing = Placing {
        places: format.places(&unfolded.history),
        ranked_by: format.ranked_by(),
        tie_breaks: tie_breaks.to_vec(),
        byes: unfolded.history.byes.clone(),
        defaults: defaults(format, unfolded, results, bots),
        rulings: desk.in_force(NOW).count(),
    };
    Standings::placed(Counting::default(), &placing, &names, &counting, &[])
        .expect("the results are possible")
}

/// Points by slot.
fn points(standings: &Standings) -> Vec<f64> {
    let mut rows: Vec<_> = standings.rows.iter().collect();
    rows.sort_by_key(|row| row.slot);
    rows.iter().map(|row| row.points).collect()
}

fn fixed(bots: usize) -> Fixed {
    Fixed(round_robin::schedule(bots, 2, 2, true, 1))
}

fn swiss(bots: usize, rounds: u32) -> Swiss {
    Swiss {
        entries: (0..bots).map(Entry::whole).collect(),
        meetings: PAIRED,
        rounds,
    }
}

fn knockout(bots: usize) -> Knockout {
    Knockout {
        seeds: (0..bots).collect(),
        meetings: PAIRED,
        rounds_before: 0,
    }
}

fn groups() -> Groups {
    Groups {
        seeds: (0..8).collect(),
        groups: 2,
        advance: 2,
        meetings: PAIRED,
    }
}

fn ladder(rounds: u32) -> Ladder {
    Ladder {
        order: (0..6).rev().collect(),
        reach: 2,
        meetings: PAIRED,
        rounds,
    }
}

// ---- Who is out -------------------------------------------------------------------------------------------------

#[test]
fn in_a_round_robin_the_matches_of_a_disqualified_bot_count_for_nobody() {
    let format = fixed(4);
    let (unfolded, results, _) = play_ruled(&format, &[(5, out(1))]);
    let of_bot = |p: &&MatchResult| p.seats.contains(&1);
    assert_eq!(results.values().filter(of_bot).count(), 2, "those before");
    assert_eq!(results.len(), 8);
    let table = standings(&format, (&unfolded, &results), 4, &TieBreak::USUAL);
    assert_eq!(points(&table), [4.0, 0.0, 2.0, 0.0]);
    assert_eq!(table.rows[3].slot, 1, "it stands last");
    assert_eq!(table.rows[3].status, Some(Status::Disqualified));
    assert_eq!(table.rows[3].matches.played(), 0);
    assert!(table.rows.iter().all(|row| row.by_default == 0));
    // Ratings are those of an event without it.
    let alone: Vec<MatchResult> = results.values().filter(|p| !of_bot(p)).cloned().collect();
    let names: Vec<String> = (0..4).map(|slot| format!("bot{slot}")).collect();
    let without = Standings::of(Counting::default(), &names, &alone, &[]).expect("possible");
    for row in &table.rows {
        let same = without.rows.iter().find(|other| other.slot == row.slot);
        assert_eq!(same.expect("there").rating, row.rating);
    }
}

#[test]
fn where_its_results_stand_the_rest_is_won_by_default() {
    for what in [kept(1), What::Withdraw { slot: 1 }] {
        let format = fixed(4);
        let (unfolded, results, desk) = play_ruled(&format, &[(5, what.clone())]);
        let table = standings(&format, (&unfolded, &results), 4, &TieBreak::USUAL);
        let row = |slot: Slot| {
            table
                .rows
                .iter()
                .find(|row| row.slot == slot)
                .expect("a row")
        };
        let unplayed: u32 = 6 - row(1).matches.played();
        assert_eq!(unplayed, 4);
        let by_default: u32 = table.rows.iter().map(|row| row.by_default).sum();
        assert_eq!(by_default, unplayed);
        // Each match of the whole event is somebody's point.
        assert_eq!(points(&table).iter().sum::<f64>(), 12.0);
        let last = table.rows.last().expect("rows").slot;
        match what {
            What::Withdraw { .. } => {
                assert_eq!(row(1).status, Some(Status::Withdrawn));
                assert_ne!(last, 1, "it stands where its points put it");
            }
            _ => assert_eq!(last, 1),
        }
        assert!(desk.taken_out(id(1, 1), &[0, 1]).is_none());
    }
}

#[test]
fn before_the_first_match_it_is_an_event_without_the_bot() {
    let format = fixed(3);
    let (_, results, _) = play_ruled(&format, &[(0, out(0))]);
    assert!(results.values().all(|p| !p.seats.contains(&0)));
    assert_eq!(results.len(), 2);
    // A Swiss event pairs the others from the first round on.
    let (unfolded, results, _) = play_ruled(&swiss(6, 3), &[(0, out(0))]);
    assert!(results.values().all(|p| !p.seats.contains(&0)));
    assert!(unfolded.pairings().all(|p| !p.seats.contains(&0)));
}

#[test]
fn in_a_swiss_event_opponents_win_by_default_and_the_bot_is_not_paired_again() {
    let format = swiss(8, 3);
    let before = play(&format, &Desk::default(), &mut Results::new(), 0);
    let (unfolded, results, _) = play_ruled(&format, &[(9, out(0))]);
    assert_eq!(unfolded.history.of_round(1).count(), 8);
    let first: Vec<&Pairing> = unfolded.history.of_round(1).map(|p| &p.pairing).collect();
    assert!(first.into_iter().eq(before.batch.pairings.iter()));
    // Round 2 was begun: it stays as it was paired, and what bot 0 did not play is won by default.
    let second = unfolded.history.of_round(2);
    assert_eq!(second.filter(|p| p.pairing.seats.contains(&0)).count(), 2);
    let third = unfolded.history.of_round(3);
    assert_eq!(third.filter(|p| p.pairing.seats.contains(&0)).count(), 0);
    let bye = unfolded.history.byes.iter().find(|bye| bye.round == 3);
    assert!(bye.is_some_and(|bye| bye.slot != 0), "seven are left");
    let table = standings(&format, (&unfolded, &results), 8, &TieBreak::SWISS);
    let met: Vec<Slot> = unfolded
        .history
        .matches
        .iter()
        .filter(|p| p.pairing.field[0] == 0 && p.pairing.rotation == 0)
        .map(|p| p.pairing.field[1])
        .collect();
    assert_eq!(met.len(), 2);
    for row in &table.rows {
        let right = if met.contains(&row.slot) { 2 } else { 0 };
        assert_eq!(row.by_default, right, "{}", row.name);
    }
    // Rounds two and three are paired on what counts: seven bots with two points a round between two of them, or a bye.
    let sum: f64 = points(&table).iter().sum();
    assert_eq!(sum, 8.0 + 8.0 + 8.0);
    assert_eq!(table.rows[7].slot, 0);
    assert_eq!(points(&table)[0], 0.0);
}

#[test]
fn in_a_swiss_event_later_rounds_are_paired_on_what_counts_now() {
    let format = swiss(4, 2);
    let results = {
        let mut results = Results::new();
        play(&format, &Desk::default(), &mut results, 4);
        results
    };
    // Slots 0 and 1 have won; without slot 0 its opponent has two points by default and meets the other winner.
    let unfolded = unfold_ruled(&format, &results, desk(&[(1, out(0))]));
    let opponent = unfolded.history.matches[0].pairing.field[1];
    let fields: Vec<&[Slot]> = unfolded
        .batch
        .pairings
        .iter()
        .map(|p| p.field.as_slice())
        .collect();
    assert!(
        fields.iter().all(|field| **field == [1, opponent]),
        "{fields:?}"
    );
}

#[test]
fn in_a_knockout_the_opponent_goes_on() {
    // In the middle of a meeting, whatever was played before.
    let format = knockout(4);
    let (unfolded, results, _) = play_ruled(&format, &[(1, out(0))]);
    assert_eq!(results[&id(1, 1)].seats, [0, 3]);
    assert_eq!(results.len(), 1 + 2 + 2);
    let last: Vec<Slot> = unfolded
        .history
        .of_round(2)
        .flat_map(|p| p.pairing.field.clone())
        .collect();
    assert_eq!(last, [1, 3, 1, 3]);
    let table = standings(&format, (&unfolded, &results), 4, &TieBreak::USUAL);
    assert_eq!(table.rows[0].slot, 1);
    assert_eq!(table.rows[3].slot, 0);
    // After it has won its meeting the next opponent goes on: who lost to it does not come back.
    let (unfolded, results, _) = play_ruled(&format, &[(3, out(0))]);
    assert_eq!(results.len(), 4, "the final is not played");
    assert!(
        unfolded
            .history
            .of_round(2)
            .all(|p| p.counts == Counts::ByDefault)
    );
    let table = standings(&format, (&unfolded, &results), 4, &TieBreak::USUAL);
    assert_eq!(table.rows[0].slot, 1);
    // Both of a meeting out: nobody is stuck.
    let (unfolded, results, _) = play_ruled(&format, &[(2, out(1)), (2, out(2))]);
    let table = standings(&format, (&unfolded, &results), 4, &TieBreak::USUAL);
    assert_eq!(table.rows[0].slot, 0);
    assert!(unfolded.is_over());
}

#[test]
fn who_is_out_of_its_group_does_not_go_on() {
    let format = groups();
    // Slot 0 is the best of its group.
    let (unfolded, _, _) = play_ruled(&format, &[(3, out(0))]);
    assert!(
        unfolded
            .pairings()
            .all(|p| p.id.round == 1 || !p.seats.contains(&0))
    );
    let of_group = format.dealt()[0].clone();
    let on: BTreeSet<Slot> = unfolded
        .history
        .of_round(2)
        .flat_map(|p| p.pairing.seats.clone())
        .collect();
    let first_two: Vec<Slot> = of_group
        .into_iter()
        .filter(|&slot| slot != 0)
        .take(2)
        .collect();
    assert!(first_two.iter().all(|slot| on.contains(slot)), "{on:?}");
    // In the knockout the draw stays as it was made.
    let matches = 2 * 6 * 2;
    let (whole, _, _) = play_ruled(&format, &[]);
    let (unfolded, results, _) = play_ruled(&format, &[(matches + 1, out(0))]);
    let second = |unfolded: &Unfolded| -> Vec<Pairing> {
        unfolded
            .history
            .of_round(2)
            .map(|p| p.pairing.clone())
            .collect()
    };
    assert_eq!(second(&whole), second(&unfolded));
    let table = standings(&format, (&unfolded, &results), 8, &TieBreak::USUAL);
    assert_eq!(table.rows[0].slot, 1);
    assert_eq!(table.rows[7].slot, 0);
}

#[test]
fn on_a_ladder_nobody_challenges_who_is_out() {
    let format = ladder(4);
    let (unfolded, results, _) = play_ruled(&format, &[(1, out(5))]);
    assert!(
        unfolded
            .pairings()
            .all(|p| p.id.round == 1 || !p.seats.contains(&5))
    );
    let places = format.places(&unfolded.history).expect("rungs");
    assert_eq!(places[5], 6, "the end of the ladder");
    let table = standings(&format, (&unfolded, &results), 6, &TieBreak::USUAL);
    assert_eq!(table.rows[5].slot, 5);
}

// ---- Matches ----------------------------------------------------------------------------------------------------

#[test]
fn a_void_match_counts_for_nobody_and_the_other_of_its_pair_stands() {
    let format = fixed(3);
    let void = What::Void { of: id(1, 1) };
    let (unfolded, results, desk) = play_ruled(&format, &[(1, void)]);
    assert_eq!(results.len(), 6, "it is not played again, and all else is");
    assert!(
        desk.taken_out(id(1, 1), &results[&id(1, 1)].seats)
            .is_some()
    );
    let table = standings(&format, (&unfolded, &results), 3, &TieBreak::USUAL);
    assert_eq!(points(&table).iter().sum::<f64>(), 5.0);
    let played: u32 = table.rows.iter().map(|row| row.matches.played()).sum();
    assert_eq!(played, 10);
}

#[test]
fn in_a_knockout_a_void_match_may_leave_two_level_which_then_play_on() {
    let format = knockout(2);
    let mut results = Results::new();
    let unfolded = play(&format, &Desk::default(), &mut results, 0);
    // One match each: they are level and play on; without the second the first decides.
    for (pairing, seat) in unfolded.batch.pairings.iter().zip([0, 0]) {
        results.insert(pairing.id, won(pairing, seat));
    }
    assert!(!unfold_ruled(&format, &results, Desk::default()).is_over());
    let ruled = desk(&[(1, What::Void { of: id(1, 2) })]);
    assert!(unfold_ruled(&format, &results, ruled).is_over());
    let both = desk(&[
        (1, What::Void { of: id(1, 1) }),
        (1, What::Void { of: id(1, 2) }),
    ]);
    let unfolded = unfold_ruled(&format, &results, both);
    let next: Vec<u32> = unfolded
        .batch
        .pairings
        .iter()
        .map(|p| p.id.number)
        .collect();
    assert_eq!(next, [3, 4]);
}

#[test]
fn what_was_paired_on_a_match_that_is_void_later_stays() {
    for format in [
        &knockout(4) as &dyn Format,
        &ladder(3),
        &groups(),
        &swiss(6, 3),
    ] {
        let (whole, _, _) = play_ruled(format, &[]);
        let first = whole.history.of_round(1).count();
        let void = What::Void { of: id(1, 1) };
        // The second round has begun: it stays as it was paired.
        let (unfolded, _, _) = play_ruled(format, &[(first + 1, void)]);
        let of_round = |unfolded: &Unfolded, round| -> Vec<Pairing> {
            unfolded
                .history
                .of_round(round)
                .map(|p| p.pairing.clone())
                .collect()
        };
        assert_eq!(of_round(&whole, 1), of_round(&unfolded, 1));
        assert_eq!(of_round(&whole, 2), of_round(&unfolded, 2));
    }
}

#[test]
fn a_void_challenge_moves_nobody() {
    let format = ladder(1);
    let mut results = Results::new();
    let played = play(&format, &Desk::default(), &mut results, usize::MAX);
    let moved = format.order(&played.history);
    assert_ne!(moved, format.order);
    let all = results.keys().map(|&of| (1, What::Void { of }));
    let unfolded = unfold_ruled(&format, &results, desk(&all.collect::<Vec<_>>()));
    assert_eq!(format.order(&unfolded.history), format.order);
}

#[test]
fn the_last_of_void_and_replay_decides() {
    let (void, replay) = (What::Void { of: id(1, 1) }, What::Replay { of: id(1, 1) });
    let undo = |ruling| What::Undo { ruling };
    let is_void = |rulings: &[What]| {
        let rulings: Vec<(usize, What)> = rulings.iter().map(|what| (1, what.clone())).collect();
        let desk = desk(&rulings);
        let replays = desk.replays().get(&id(1, 1)).copied();
        (desk.void(id(1, 1), NOW).is_some(), replays)
    };
    assert_eq!(is_void(std::slice::from_ref(&void)), (true, None));
    assert_eq!(is_void(&[void.clone(), replay.clone()]), (false, Some(2)));
    assert_eq!(is_void(&[replay.clone(), void.clone()]), (true, Some(1)));
    assert_eq!(
        is_void(&[replay.clone(), void.clone(), undo(2)]),
        (false, Some(1))
    );
    assert_eq!(
        is_void(&[replay.clone(), replay.clone(), undo(2)]),
        (false, Some(1))
    );
    assert_eq!(is_void(&[void, replay, undo(2)]), (true, None));
}

#[test]
fn what_is_undone_is_as_if_it_had_not_been_ruled_from_then_on() {
    let format = fixed(4);
    let undo = What::Undo { ruling: 1 };
    let (unfolded, results, _) = play_ruled(&format, &[(5, out(1)), (6, undo.clone())]);
    let (plain, all, _) = play_ruled(&format, &[]);
    assert_eq!(results, all);
    let table = |unfolded, results| standings(&format, (unfolded, results), 4, &TieBreak::USUAL);
    assert_eq!(table(&unfolded, &results).rows, table(&plain, &all).rows);
    // In a Swiss event the bot is paired again in the next round.
    let format = swiss(6, 4);
    let first = 6;
    let (unfolded, _, _) = play_ruled(&format, &[(first, out(0)), (first + 5, undo)]);
    let rounds: BTreeSet<u32> = unfolded
        .pairings()
        .filter(|p| p.seats.contains(&0))
        .map(|p| p.id.round)
        .collect();
    assert_eq!(rounds, BTreeSet::from([1, 4]));
}

// ---- Bots that come later ---------------------------------------------------------------------------------------

fn add(first: Slot, count: usize) -> What {
    What::Add {
        first,
        count,
        event: Value::Null,
    }
}

/// Whatever was scheduled before keeps its id and place, and with the new matches each table meets as often as all others.
#[test]
fn bots_that_come_later_change_no_match_of_before() {
    for seats in 2..=4 {
        for before in seats..=6 {
            for after in before + 1..=before + 3 {
                for (games, rounds) in [(1, 1), (seats as u32, 2)] {
                    let old = round_robin::schedule(before, seats, games, true, rounds);
                    let all = |_: &[Slot]| true;
                    let new =
                        round_robin::in_stages(&[before, after], seats, games, true, rounds, all);
                    let whole = round_robin::schedule(after, seats, games, true, rounds);
                    assert_eq!(new.len(), whole.len());
                    let ids: BTreeSet<MatchId> = new.iter().map(|p| p.id).collect();
                    assert_eq!(ids.len(), new.len(), "no id is there twice");
                    for pairing in &old {
                        assert!(new.contains(pairing), "{pairing:?}");
                    }
                    // The chance of a match has its key of these: none is there twice but for the matches of a pair.
                    let key = |p: &Pairing| (p.id.round, p.field.clone(), p.pair, p.rotation);
                    let keys: BTreeSet<_> = new.iter().map(key).collect();
                    assert_eq!(keys, whole.iter().map(key).collect());
                }
            }
        }
    }
    let old = gauntlet::schedule(1, 4, 2, 2, true, 2);
    let new = gauntlet::in_stages(1, &[4, 5, 7], 2, 2, true, 2);
    assert!(old.iter().all(|pairing| new.contains(pairing)));
    assert_eq!(new.len(), gauntlet::schedule(1, 7, 2, 2, true, 2).len());
    assert!(new.iter().all(|pairing| pairing.field.contains(&1)));
    assert_eq!(desk(&[(1, add(4, 1)), (1, add(5, 2))]).stages(7), [4, 5, 7]);
}

#[test]
fn a_late_bot_of_a_swiss_event_or_a_ladder_joins_in_the_next_round() {
    for (format, known, first) in [
        (Box::new(swiss(7, 4)) as Box<dyn Format>, 6, 6),
        (
            Box::new(Ladder {
                order: (0..7).collect(),
                ..ladder(4)
            }),
            6,
            6,
        ),
    ] {
        // One match of the second round is over when it comes.
        let late = add(known, 1);
        let first_round = |unfolded: &Unfolded| unfolded.history.of_round(1).count();
        let mut results = Results::new();
        let without = desk(&[(2, late.clone())]);
        let unfolded = play(&*format, &without, &mut results, first + 1);
        assert_eq!(first_round(&unfolded), first);
        let mut all = results.clone();
        let unfolded = play(&*format, &without, &mut all, usize::MAX);
        assert_stands(&unfolded, &results);
        // In an odd field the newcomer may begin with a bye.
        let byes = unfolded.history.byes.iter();
        let byes = byes.filter(|bye| bye.slot == known).map(|bye| bye.round);
        let rounds: BTreeSet<u32> = unfolded
            .pairings()
            .filter(|p| p.seats.contains(&known))
            .map(|p| p.id.round)
            .chain(byes)
            .collect();
        assert_eq!(rounds.first(), Some(&3), "{format:?}");
    }
}
