//! What the tests of formats share, and what holds for all of them.

use super::*;
use crate::game::Share;

/// A match that a seat won.
pub(super) fn won(pairing: &Pairing, seat: usize) -> MatchResult {
    let mut score = vec![Share::LOSS; pairing.seats.len()];
    score[seat] = Share::WIN;
    result(pairing, score)
}

fn result(pairing: &Pairing, score: Vec<Share>) -> MatchResult {
    MatchResult {
        id: pairing.id,
        seats: pairing.seats.clone(),
        series: vec![0.0; score.len()],
        score,
        games: 1,
    }
}

/// A match of two: the better one wins, equals draw.
pub(super) fn judged(pairing: &Pairing, better: impl Fn(Slot, Slot) -> bool) -> MatchResult {
    let (a, b) = (pairing.seats[0], pairing.seats[1]);
    match (better(a, b), better(b, a)) {
        (true, false) => won(pairing, 0),
        (false, true) => won(pairing, 1),
        _ => result(pairing, vec![Share::HALF; 2]),
    }
}

/// Plays an event to its end.
pub(super) fn play(format: &dyn Format, better: impl Fn(Slot, Slot) -> bool) -> History {
    let mut results = BTreeMap::new();
    let mut unfolded = unfold(format, &results);
    while !unfolded.is_over() {
        for pairing in &unfolded.batch.pairings {
            results.insert(pairing.id, judged(pairing, &better));
        }
        assert!(unfolded.advance(format, &results));
    }
    unfolded.history
}

/// An event that stops after any match goes on exactly as it would have, whichever matches of a batch were over.
pub(super) fn assert_resumes(format: &dyn Format, better: impl Fn(Slot, Slot) -> bool) {
    let whole = play(format, &better);
    let order: Vec<&Pairing> = whole.matches.iter().map(|played| &played.pairing).collect();
    let mut results = BTreeMap::new();
    for (index, played) in whole.matches.iter().enumerate() {
        let again = unfold(format, &results);
        for (known, right) in again.pairings().zip(&order) {
            assert_eq!(known, *right, "after {index} matches");
        }
        results.insert(played.pairing.id, played.result.clone());
    }
    let again = unfold(format, &results);
    assert!(again.is_over());
    assert_eq!(again.history, whole);
}

#[test]
fn a_fixed_schedule_is_one_batch() {
    let schedule = round_robin::schedule(4, 2, 2, true, 2);
    let format = Fixed(schedule.clone());
    assert_eq!(format.least_matches(), schedule.len());
    let history = play(&format, |a, b| a < b);
    let order: Vec<Pairing> = history
        .matches
        .into_iter()
        .map(|played| played.pairing)
        .collect();
    assert_eq!(order, schedule);
    assert_resumes(&format, |a, b| a < b);
    assert!(unfold(&Fixed(Vec::new()), &BTreeMap::new()).is_over());
}

#[test]
fn meetings_go_round_the_seats() {
    let mut out = Vec::new();
    let mut numbers = Numbers::after(3, 4);
    numbers.meet(&[5, 2], 0..4, true, &mut out);
    let seats: Vec<_> = out
        .iter()
        .map(|p| (p.id.number, p.seats.clone(), p.pair, p.rotation))
        .collect();
    let right = [
        (5, vec![5, 2], 0, 0),
        (6, vec![2, 5], 0, 1),
        (7, vec![5, 2], 1, 0),
        (8, vec![2, 5], 1, 1),
    ];
    assert_eq!(seats, right);
    assert!(out.iter().all(|p| p.field == [2, 5] && p.id.round == 3));
    let mut single = Vec::new();
    numbers.meet(&[5, 2], 1..3, false, &mut single);
    let seats: Vec<_> = single
        .iter()
        .map(|p| (p.id.number, p.seats.clone(), p.pair, p.rotation))
        .collect();
    assert_eq!(seats, [(9, vec![2, 5], 1, 0), (10, vec![5, 2], 2, 0)]);
}
