//! A gate: a candidate plays a baseline until it is clear whether it is good enough.
//!
//! Units, pairs of matches on the same chance or matches without partner, are counted in the order of the schedule, whatever the order in
//! which they end: so the verdict does not depend on how many are played at once, and quick games do not come to count first.
//!
//! **Copies.** A unit whose games were played move for move before is no independent evidence, and is left out: two bots without chance in
//! them would else be told apart by one game, counted again and again. A unit with a game that one side *forfeited* is never a copy:
//! that a program fails is found out anew each time, whatever was played before it failed, and a forfeit is a loss.
//!
//! To count forfeits but not the copies of real play beside them would make a bot that fails now and then look worse than it is. So
//! once a unit counts for its forfeit alone, the test has to come to the same decision with all units, copies included, too
//! ([`Gate::is_held`]). With all units it is the plain sequential test of units that are independent draws, whose error rates hold; a second
//! condition makes a wrong decision only rarer.

use std::collections::{BTreeMap, HashSet};

use super::{Numbers, Pairing};
use crate::event::{GameResult, MatchId, MatchResult, Slot, Verdict};
use crate::stats::pairs::Scores;
use crate::stats::sprt::{Decision, Sample, Scale, Test};
use crate::stats::{Sums, Unit};

/// The slot of the candidate.
pub const CANDIDATE: Slot = 0;
/// The slot of the baseline.
pub const BASELINE: Slot = 1;

/// So many units in a row that are copies of earlier ones, and a gate gives up: bots without chance in them would play the same
/// games for ever.
pub const MOST_COPIES: u64 = 100;

/// The match of this number, from 1, of any gate.
pub fn pairing(paired: bool, number: u32) -> Option<Pairing> {
    let before = number.checked_sub(1)?;
    let mut pairings = Vec::new();
    let mut numbers = Numbers::after(1, before);
    numbers.meet(
        &[CANDIDATE, BASELINE],
        before..number,
        paired,
        &mut pairings,
    );
    pairings.pop()
}

/// Where a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Open,
    /// The candidate is good enough.
    Accepted,
    /// It is not.
    Rejected,
    /// All games of the budget are played.
    Budget,
    /// The bots play the same games again and again.
    Copies,
}

/// A gate that is being played.
#[derive(Clone, Debug)]
pub struct Gate {
    test: Option<Test>,
    paired: bool,
    /// The most units.
    most: u32,
    /// Units that were handed out.
    begun: u32,
    /// Units that are counted: all before this one.
    counted: u32,
    units: BTreeMap<u32, Observed>,
    /// The units that are evidence.
    sample: Sample,
    /// All units, copies included.
    all: Sample,
    /// Units that are evidence only because of a forfeit: the same was played before.
    forfeited_again: u64,
    scores: Scores,
    points: Sums,
    seen: HashSet<String>,
    copies: u64,
    copies_in_a_row: u64,
    forfeits: [u64; 2],
    adjudicated: u64,
    llr: f64,
    state: State,
}

/// What is known of a unit.
#[derive(Clone, Debug, Default)]
struct Observed {
    matches: Vec<MatchId>,
    /// The candidate's score in halves.
    halves: u32,
    points: Unit,
    /// What was played, of each game; empty where it is not known.
    plays: BTreeMap<(u32, u32), String>,
    forfeits: [u64; 2],
    adjudicated: u64,
}

impl Gate {
    /// A gate of at most so many matches. Without a test it plays all of them, to measure.
    pub fn new(test: Option<Test>, paired: bool, most_matches: u32) -> Gate {
        let size = if paired { 2 } else { 1 };
        let most = most_matches / size;
        Gate {
            test,
            paired,
            most,
            begun: 0,
            counted: 0,
            units: BTreeMap::new(),
            sample: Sample::new(size),
            all: Sample::new(size),
            forfeited_again: 0,
            scores: Scores::default(),
            points: Sums::default(),
            seen: HashSet::new(),
            copies: 0,
            copies_in_a_row: 0,
            forfeits: [0; 2],
            adjudicated: 0,
            llr: 0.0,
            state: if most == 0 {
                State::Budget
            } else {
                State::Open
            },
        }
    }

    /// The matches of the next unit; none where the budget is used up or the gate is decided.
    pub fn next_unit(&mut self) -> Vec<Pairing> {
        let mut pairings = Vec::new();
        if self.begun == self.most || self.state != State::Open {
            return pairings;
        }
        let size = self.size();
        let matches = self.begun * size..(self.begun + 1) * size;
        let mut numbers = Numbers::after(1, matches.start);
        numbers.meet(&[CANDIDATE, BASELINE], matches, self.paired, &mut pairings);
        self.begun += 1;
        pairings
    }

    fn size(&self) -> u32 {
        if self.paired { 2 } else { 1 }
    }

    fn unit_of(&self, id: MatchId) -> u32 {
        (id.number - 1) / self.size()
    }

    /// Adds a game of a match that is not over.
    pub fn game(&mut self, game: &GameResult) {
        let unit = self.unit_of(game.id.of);
        if unit < self.counted {
            return;
        }
        let observed = self.units.entry(unit).or_default();
        let key = (game.id.of.number, game.id.game);
        observed.plays.insert(key, game.play_hash.clone());
        let side = |slot: Slot| game.seats.iter().position(|&of| of == slot);
        if let (Some(own), Some(other), Some(points)) =
            (side(CANDIDATE), side(BASELINE), &game.points)
        {
            observed
                .points
                .add(f64::from(points[own]) - f64::from(points[other]));
        }
        observed.adjudicated += u64::from(game.verdict == Verdict::Adjudicated);
        if let Some(seat) = game.against.filter(|_| game.verdict.is_forfeit()) {
            let slot = game.seats[seat];
            observed.forfeits[slot.min(1)] += 1;
        }
    }

    /// Adds a match that is over, all of its games before it.
    pub fn finished(&mut self, result: &MatchResult) {
        let unit = self.unit_of(result.id);
        if unit < self.counted {
            return;
        }
        let observed = self.units.entry(unit).or_default();
        observed.matches.push(result.id);
        let own = result.seats.iter().position(|&slot| slot == CANDIDATE);
        let share = own.map_or(0.0, |seat| result.score[seat].value());
        observed.halves += (2.0 * share).round() as u32;
        let size = self.size() as usize;
        while self.state == State::Open
            && self
                .units
                .get(&self.counted)
                .is_some_and(|observed| observed.matches.len() == size)
        {
            if let Some(observed) = self.units.remove(&self.counted) {
                self.count(observed);
            }
            self.counted += 1;
        }
        if self.state == State::Open && self.counted == self.most {
            self.state = State::Budget;
        }
    }

    fn count(&mut self, observed: Observed) {
        for (sum, more) in self.forfeits.iter_mut().zip(observed.forfeits) {
            *sum += more;
        }
        self.adjudicated += observed.adjudicated;
        let halves = observed.halves;
        let value = match self.test.as_ref().map(Test::scale) {
            Some(Scale::Points) => observed.points.sum / f64::from(observed.points.count.max(1)),
            _ => f64::from(halves) / f64::from(2 * self.size()),
        };
        self.all.add(value);
        let plays: Vec<String> = observed.plays.into_values().collect();
        let is_known = plays.iter().all(|play| !play.is_empty()) && !plays.is_empty();
        if is_known && !self.seen.insert(plays.join(" ")) {
            if observed.forfeits == [0, 0] {
                self.copies += 1;
                self.copies_in_a_row += 1;
                if self.copies_in_a_row >= MOST_COPIES {
                    self.state = State::Copies;
                }
                return;
            }
            self.forfeited_again += 1;
        }
        self.copies_in_a_row = 0;
        if self.paired {
            self.scores.add_pair(halves as usize);
        } else {
            self.scores.add_single(halves as usize);
        }
        self.points.add(observed.points);
        self.sample.add(value);
        let Some(test) = &self.test else {
            return;
        };
        self.llr = test.llr(&self.sample);
        if self.is_held() {
            return;
        }
        self.state = match test.decide(self.llr) {
            Decision::Accepted => State::Accepted,
            Decision::Rejected => State::Rejected,
            Decision::Open => State::Open,
        };
    }

    /// Whether the ratio is beyond a bound, but would not be if copies of real play were counted beside the forfeits.
    pub fn is_held(&self) -> bool {
        let Some(test) = self.test.as_ref().filter(|_| self.forfeited_again > 0) else {
            return false;
        };
        let decision = test.decide(self.llr);
        decision != Decision::Open && decision != test.decide(test.llr(&self.all))
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The test.
    pub fn test(&self) -> Option<&Test> {
        self.test.as_ref()
    }

    /// The log-likelihood ratio of all units that are counted.
    pub fn llr(&self) -> f64 {
        self.llr
    }

    /// The candidate's scores in the units that are evidence.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// Points won less points lost by the candidate, a game, over the same units.
    pub fn points(&self) -> &Sums {
        &self.points
    }

    /// Whether matches are paired.
    pub fn is_paired(&self) -> bool {
        self.paired
    }

    /// Units that were copies of an earlier one.
    pub fn copies(&self) -> u64 {
        self.copies
    }

    /// Units that are counted, copies included.
    pub fn counted(&self) -> u32 {
        self.counted
    }

    /// Games forfeited by the candidate and by the baseline.
    pub fn forfeits(&self) -> [u64; 2] {
        self.forfeits
    }

    /// Games that a rule of the event ended.
    pub fn adjudicated(&self) -> u64 {
        self.adjudicated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Verdict;
    use crate::game::Share;

    fn gate(most: u32) -> Gate {
        let test = Test::new(Scale::Logistic, [0.0, 200.0], 0.05, 0.05).expect("a test");
        Gate::new(Some(test), true, most)
    }

    fn game(pairing: &Pairing, winner: usize, play: &str) -> GameResult {
        let share = |seat| {
            if seat == winner {
                Share::WIN
            } else {
                Share::LOSS
            }
        };
        GameResult {
            id: pairing.id.game(1),
            seats: pairing.seats.clone(),
            winner: Some(winner),
            score: Some(vec![share(0), share(1)]),
            points: Some(vec![2 * u32::from(winner == 0), 2 * u32::from(winner == 1)]),
            verdict: Verdict::Rule,
            reason: "plain".into(),
            against: None,
            moves: 3,
            first: None,
            time_us: vec![],
            wall_us: vec![],
            cpu_us: vec![],
            record_hash: String::new(),
            play_hash: play.into(),
        }
    }

    /// Plays a match that this slot wins.
    fn play(gate: &mut Gate, pairing: &Pairing, winner: Slot, hash: &str) {
        let seat = pairing
            .seats
            .iter()
            .position(|&slot| slot == winner)
            .expect("it sits there");
        end(gate, pairing, &game(pairing, seat, hash));
    }

    /// Hands in the only game of a match.
    fn end(gate: &mut Gate, pairing: &Pairing, game: &GameResult) {
        gate.game(game);
        gate.finished(&MatchResult {
            id: pairing.id,
            seats: pairing.seats.clone(),
            score: game.score.clone().expect("a score"),
            series: vec![],
            games: 1,
        });
    }

    #[test]
    fn pairs_are_on_one_chance_with_sides_exchanged() {
        let mut gate = gate(6);
        let first = gate.next_unit();
        let second = gate.next_unit();
        assert_eq!(first[0].seats, [0, 1]);
        assert_eq!(first[1].seats, [1, 0]);
        assert_eq!((first[0].pair, first[1].pair, second[0].pair), (0, 0, 1));
        let numbers: Vec<u32> = first.iter().chain(&second).map(|p| p.id.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(second[0].seats, [0, 1]);
        assert_eq!(gate.next_unit().len(), 2);
        assert_eq!(gate.next_unit(), []);
    }

    /// A clear win is seen early, and only the units before the verdict count.
    #[test]
    fn it_stops_once_it_is_clear() {
        for (winner, state) in [(CANDIDATE, State::Accepted), (BASELINE, State::Rejected)] {
            let mut gate = gate(1000);
            let mut played = 0;
            while gate.state() == State::Open {
                for pairing in gate.next_unit() {
                    played += 1;
                    play(&mut gate, &pairing, winner, &format!("{played:064x}"));
                }
            }
            assert_eq!(gate.state(), state);
            assert!(played < 40, "{played}");
            assert_eq!(gate.next_unit(), []);
            let points = gate.points().estimate().expect("games").mean;
            assert_eq!(points, if winner == CANDIDATE { 2.0 } else { -2.0 });
        }
    }

    /// The same results in any order of ending give the same verdict after the same units.
    #[test]
    fn the_order_of_ending_does_not_matter() {
        let run = |turned: bool| {
            let mut gate = gate(400);
            let mut batch: Vec<Pairing> = Vec::new();
            while let [a, b] = &gate.next_unit()[..] {
                batch.extend([a.clone(), b.clone()]);
            }
            if turned {
                batch.reverse();
            }
            for pairing in &batch {
                // Two pairs of three are won by the candidate, in a fixed pattern.
                let winner = usize::from(pairing.pair % 3 == 1);
                play(
                    &mut gate,
                    pairing,
                    winner,
                    &format!("{:064x}", pairing.id.number),
                );
            }
            (gate.state(), gate.counted(), gate.llr(), *gate.scores())
        };
        let (forth, back) = (run(false), run(true));
        assert_eq!(forth, back);
        assert_eq!(forth.0, State::Accepted);
        assert!(forth.1 < 200);
    }

    #[test]
    fn copies_are_no_evidence() {
        let mut gate = gate(100_000);
        while gate.state() == State::Open {
            for pairing in gate.next_unit() {
                play(
                    &mut gate,
                    &pairing,
                    CANDIDATE,
                    &format!("{:064x}", pairing.rotation),
                );
            }
        }
        assert_eq!(gate.state(), State::Copies);
        assert_eq!(gate.scores().pairs, [0, 0, 0, 0, 1]);
        assert_eq!(
            (gate.copies(), u64::from(gate.counted())),
            (MOST_COPIES, 1 + MOST_COPIES)
        );
    }

    /// Plays a match that this slot forfeits at its first turn, so that all such games are alike.
    fn forfeit(gate: &mut Gate, pairing: &Pairing, by: Slot) {
        let seat = usize::from(pairing.seats[0] != by);
        let mut game = game(pairing, 1 - seat, &format!("{seat:064x}"));
        game.verdict = Verdict::NoReady;
        game.against = Some(seat);
        game.moves = 0;
        end(gate, pairing, &game);
    }

    /// A program that fails at once fails in the same way each time: that is evidence each time, on either side, of pairs and of single
    /// matches, of a whole pair and of half of one.
    #[test]
    fn forfeits_are_evidence_even_where_the_play_is_a_copy() {
        for (by, state) in [(CANDIDATE, State::Rejected), (BASELINE, State::Accepted)] {
            for (paired, all) in [(true, true), (true, false), (false, true)] {
                let test = Test::new(Scale::Logistic, [0.0, 200.0], 0.05, 0.05).expect("a test");
                let mut gate = Gate::new(Some(test), paired, 1000);
                while gate.state() == State::Open {
                    for pairing in gate.next_unit() {
                        if all || pairing.rotation == 0 {
                            forfeit(&mut gate, &pairing, by);
                        } else {
                            // The other game of the pair is the same one each time, and lost as well.
                            play(&mut gate, &pairing, 1 - by, &format!("{:064x}", 77));
                        }
                    }
                }
                assert_eq!(gate.state(), state, "{by} {paired} {all}");
                assert_eq!(gate.copies(), 0);
                assert!(gate.counted() < 40, "{}", gate.counted());
                assert!(gate.forfeits()[by] >= u64::from(gate.counted()));
            }
        }
    }

    /// A bot that wins every game that it does not forfeit, by the same play, is not rejected for the few that it does; and copies of real
    /// play never decide, with forfeits beside them or without.
    #[test]
    fn forfeits_do_not_outweigh_copies_of_real_play() {
        let mut gate = gate(4000);
        while gate.state() == State::Open {
            for pairing in gate.next_unit() {
                if pairing.pair % 40 == 39 && pairing.rotation == 0 {
                    forfeit(&mut gate, &pairing, CANDIDATE);
                } else {
                    let hash = format!("{:064x}", 7 + pairing.rotation);
                    play(&mut gate, &pairing, CANDIDATE, &hash);
                }
            }
        }
        assert_eq!(gate.state(), State::Budget);
        assert!(gate.is_held(), "{}", gate.llr());
        assert_eq!(gate.forfeits(), [50, 0]);
        assert_eq!(gate.copies(), 2000 - 50 - 1);
    }

    /// Error rates by simulation, of equal bots that play one pair of games again and again and both forfeit one game in ten: the candidate
    /// is accepted in alpha of the gates at most.
    #[test]
    fn forfeits_of_equal_bots_keep_the_error_rate() {
        let mut state = 1u64;
        let mut below = |count: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % count
        };
        let (gates, mut accepted) = (300, 0);
        for _ in 0..gates {
            let test = Test::new(Scale::Logistic, [0.0, 100.0], 0.05, 0.05).expect("a test");
            let mut gate = Gate::new(Some(test), true, 2000);
            while gate.state() == State::Open {
                for pairing in gate.next_unit() {
                    match below(20) {
                        0 => forfeit(&mut gate, &pairing, CANDIDATE),
                        1 => forfeit(&mut gate, &pairing, BASELINE),
                        // Seat 0 wins the one game that they play.
                        _ => {
                            let hash = format!("{:064x}", 7 + pairing.rotation);
                            play(&mut gate, &pairing, pairing.seats[0], &hash);
                        }
                    }
                }
            }
            accepted += u32::from(gate.state() == State::Accepted);
        }
        // 15 are expected at most; 30 would come in less than one run of a thousand.
        assert!(accepted < 30, "{accepted} of {gates}");
    }

    #[test]
    fn a_budget_ends_it_and_measuring_takes_all_of_it() {
        let mut gate = gate(5);
        let mut measure = Gate::new(None, false, 30);
        for _ in 0..2 {
            for pairing in gate.next_unit() {
                let winner = usize::from(pairing.rotation == 1);
                play(&mut gate, &pairing, winner, "");
            }
        }
        assert_eq!(gate.state(), State::Budget);
        assert_eq!(gate.scores().pairs, [0, 0, 2, 0, 0]);
        while let [pairing] = &measure.next_unit()[..] {
            play(&mut measure, pairing, CANDIDATE, "");
        }
        assert_eq!(measure.state(), State::Budget);
        assert_eq!(measure.scores().singles, [0, 0, 30]);
        assert_eq!(Gate::new(None, true, 1).state(), State::Budget);
    }

    #[test]
    fn forfeits_are_counted_by_bot() {
        let mut gate = gate(10);
        for pairing in gate.next_unit() {
            let mut game = game(&pairing, 0, "");
            game.verdict = Verdict::Timeout;
            game.against = Some(1);
            gate.game(&game);
            gate.finished(&MatchResult {
                id: pairing.id,
                seats: pairing.seats.clone(),
                score: vec![Share::WIN, Share::LOSS],
                series: vec![],
                games: 1,
            });
        }
        assert_eq!(gate.forfeits(), [1, 1]);
    }
}
