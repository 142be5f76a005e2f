//! A gate: a candidate plays a baseline until it is clear whether it is good enough.
//!
//! Units, pairs of matches on the same chance or matches without partner, are counted in the order of the schedule, whatever the order in
//! which they end: so the verdict does not depend on how many are played at once, and quick games do not come to count first.

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
    sample: Sample,
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
        let plays: Vec<String> = observed.plays.into_values().collect();
        let is_known = plays.iter().all(|play| !play.is_empty()) && !plays.is_empty();
        if is_known && !self.seen.insert(plays.join(" ")) {
            self.copies += 1;
            self.copies_in_a_row += 1;
            if self.copies_in_a_row >= MOST_COPIES {
                self.state = State::Copies;
            }
            return;
        }
        self.copies_in_a_row = 0;
        let halves = observed.halves;
        if self.paired {
            self.scores.add_pair(halves as usize);
        } else {
            self.scores.add_single(halves as usize);
        }
        self.points.add(observed.points);
        let Some(test) = &self.test else {
            return;
        };
        self.sample.add(match test.scale() {
            Scale::Points => observed.points.sum / f64::from(observed.points.count.max(1)),
            Scale::Logistic | Scale::Normalised => f64::from(halves) / f64::from(2 * self.size()),
        });
        self.llr = test.llr(&self.sample);
        self.state = match test.decide(self.llr) {
            Decision::Accepted => State::Accepted,
            Decision::Rejected => State::Rejected,
            Decision::Open => State::Open,
        };
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
        let game = game(pairing, seat, hash);
        gate.game(&game);
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
