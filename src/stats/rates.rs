//! How games go: draws, wide wins and the cube, the advantage of the first move.

use std::collections::BTreeMap;

use super::{Estimate, Sums, Unit};
use crate::event::{GameId, GameResult, Verdict};

/// The ways in which a game of some rules can be won, with how many times the stake each counts
/// ([`crate::game::Facts::wins`]).
pub type Wins = &'static [(&'static str, u32)];

/// Counts over games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Games that count.
    pub games: u64,
    /// Games that nobody won alone.
    pub drawn: u64,
    /// Games that ended by a forfeit.
    pub forfeits: u64,
    /// Games that an event's own rule ended.
    pub adjudicated: u64,
    /// Games won by the rules' own end, by the name of the win, where the rules know several.
    pub wins: BTreeMap<&'static str, u64>,
    /// Games by their stake, the value of the cube at the end: of those whose points tell it.
    pub stakes: BTreeMap<u32, u64>,
    /// Answers of all seats.
    pub moves: u64,
    /// Scores of the seat that moved first, from 0 to 1.
    first: Sums,
    /// The games on the same chance that are being added.
    open: Option<(GameId, Unit)>,
}

impl Rates {
    /// Adds a game. `unit` is the same for the games that are one observation; games of one unit follow each other. A void game
    /// adds nothing.
    pub fn add(&mut self, game: &GameResult, unit: GameId, wins: Wins) {
        let (Some(score), false) = (&game.score, game.verdict == Verdict::Void) else {
            return;
        };
        self.games += 1;
        self.moves += u64::from(game.moves);
        self.drawn += u64::from(game.winner.is_none());
        self.forfeits += u64::from(game.verdict.is_forfeit());
        self.adjudicated += u64::from(game.verdict == Verdict::Adjudicated);
        let word = game.reason.split([':', ' ']).next().unwrap_or_default();
        let by_rule = game.verdict == Verdict::Rule;
        if let Some(&(win, times)) = wins.iter().find(|(win, _)| by_rule && *win == word) {
            *self.wins.entry(win).or_default() += 1;
            let points = game.points.iter().flatten().copied().max().unwrap_or(0);
            if times > 0 && points > 0 && points.is_multiple_of(times) {
                *self.stakes.entry(points / times).or_default() += 1;
            }
        }
        if let Some(share) = game.first.and_then(|seat| score.get(seat)) {
            self.add_first(unit, share.value());
        }
    }

    fn add_first(&mut self, unit: GameId, score: f64) {
        if let Some((open, observed)) = &mut self.open
            && *open == unit
        {
            observed.add(score);
            return;
        }
        self.close();
        let mut observed = Unit::default();
        observed.add(score);
        self.open = Some((unit, observed));
    }

    fn close(&mut self) {
        if let Some((_, observed)) = self.open.take() {
            self.first.add(observed);
        }
    }

    /// The mean score of the seat that moved first, over units; `None` where that is not known.
    pub fn first_move(&self) -> Option<Estimate> {
        let mut all = self.clone();
        all.close();
        all.first.estimate()
    }

    /// The share of games that nobody won alone.
    pub fn draw_rate(&self) -> Option<f64> {
        share(self.drawn, self.games)
    }

    /// The share of the wins by the rules' own end that count so many times the stake or more: with 2 the gammon rate. `None` where the
    /// rules know one kind of win only.
    pub fn wide_rate(&self, times: u32, wins: Wins) -> Option<f64> {
        let all: u64 = self.wins.values().sum();
        let wide = wins.iter().filter(|(_, counts)| *counts >= times);
        let wide = wide.filter_map(|(win, _)| self.wins.get(win)).sum();
        share(wide, all)
    }

    /// The share of games, of those whose stake is known, in which it was above 1: the cube was turned.
    pub fn turned_rate(&self) -> Option<f64> {
        let all: u64 = self.stakes.values().sum();
        let turned = self.stakes.iter().filter(|&(&stake, _)| stake > 1);
        share(turned.map(|(_, games)| games).sum(), all)
    }

    /// The mean stake of the games whose stake is known.
    pub fn mean_stake(&self) -> Option<f64> {
        let all: u64 = self.stakes.values().sum();
        let sum: f64 = self
            .stakes
            .iter()
            .map(|(&stake, &games)| f64::from(stake) * games as f64)
            .sum();
        (all > 0).then(|| sum / all as f64)
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::event::{MatchId, Slot};
    use crate::game::Share;

    const WINS: Wins = &[("plain", 1), ("double", 2), ("triple", 3), ("passed", 1)];

    /// Game 1 of a match of round 1, won by the seat with more points.
    pub(in crate::stats) fn game(number: u32, seats: [Slot; 2], points: [u32; 2]) -> GameResult {
        let winner = match points[0].cmp(&points[1]) {
            std::cmp::Ordering::Greater => Some(0),
            std::cmp::Ordering::Less => Some(1),
            std::cmp::Ordering::Equal => None,
        };
        let share = |seat| match winner {
            Some(won) if won == seat => Share::WIN,
            Some(_) => Share::LOSS,
            None => Share::HALF,
        };
        GameResult {
            id: MatchId { round: 1, number }.game(1),
            seats: seats.to_vec(),
            winner,
            score: Some(vec![share(0), share(1)]),
            points: Some(points.to_vec()),
            verdict: Verdict::Rule,
            reason: "plain".into(),
            against: None,
            moves: 10,
            first: Some(0),
            time_us: vec![0, 0],
            wall_us: vec![0, 0],
            cpu_us: vec![0, 0],
            record_hash: String::new(),
            play_hash: String::new(),
        }
    }

    fn unit(number: u32) -> GameId {
        MatchId { round: 1, number }.game(1)
    }

    #[test]
    fn wins_and_stakes_follow_from_reason_and_points() {
        let mut rates = Rates::default();
        for (number, reason, points) in [
            (1, "plain", [1, 0]),
            (2, "double", [0, 4]),
            (3, "triple", [3, 0]),
            (4, "passed: it was doubled", [0, 2]),
            (5, "resigned", [4, 0]),
            (6, "double", [2, 0]),
        ] {
            let mut game = game(number, [0, 1], points);
            game.reason = reason.into();
            rates.add(&game, unit(number), WINS);
        }
        assert_eq!(rates.games, 6);
        let wins: Vec<_> = rates.wins.clone().into_iter().collect();
        assert_eq!(
            wins,
            [("double", 2), ("passed", 1), ("plain", 1), ("triple", 1)]
        );
        let stakes: Vec<_> = rates.stakes.clone().into_iter().collect();
        assert_eq!(stakes, [(1, 3), (2, 2)]);
        assert_eq!(rates.wide_rate(2, WINS), Some(0.6));
        assert_eq!(rates.wide_rate(3, WINS), Some(0.2));
        assert_eq!(rates.turned_rate(), Some(0.4));
        assert_eq!(rates.mean_stake(), Some(1.4));
    }

    #[test]
    fn games_that_do_not_end_by_the_rules_have_no_kind_of_win() {
        let mut rates = Rates::default();
        for (number, verdict) in [
            (1, Verdict::Timeout),
            (2, Verdict::Adjudicated),
            (3, Verdict::Void),
        ] {
            let mut game = game(number, [0, 1], [1, 0]);
            game.verdict = verdict;
            rates.add(&game, unit(number), WINS);
        }
        assert_eq!((rates.games, rates.forfeits, rates.adjudicated), (2, 1, 1));
        assert_eq!(rates.wide_rate(2, WINS), None);
        assert_eq!(rates.turned_rate(), None);
        assert_eq!(rates.mean_stake(), None);
        assert_eq!(Rates::default().draw_rate(), None);
    }

    /// The first seat wins both games of a pair, then each bot wins one, then one game is drawn.
    #[test]
    fn the_first_move_is_judged_over_pairs() {
        let mut rates = Rates::default();
        for (number, points) in [
            (1, [1, 0]),
            (2, [1, 0]),
            (3, [1, 0]),
            (4, [0, 1]),
            (5, [0, 0]),
            (6, [1, 0]),
        ] {
            rates.add(
                &game(number, [0, 1], points),
                unit(number.div_ceil(2)),
                WINS,
            );
        }
        let found = rates.first_move().expect("all games tell it");
        assert_eq!((found.mean, found.units), (0.75, 3));
        let pairs = [2.0, 1.0, 1.5].map(|sum| Unit { sum, count: 2 });
        assert_eq!(Some(found), crate::stats::mean(&pairs));
        assert_eq!(rates.draw_rate(), Some(1.0 / 6.0));
        let mut unknown = game(1, [0, 1], [1, 0]);
        unknown.first = None;
        let mut rates = Rates::default();
        rates.add(&unknown, unit(1), WINS);
        assert_eq!(rates.first_move(), None);
    }
}
