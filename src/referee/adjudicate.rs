//! Games that a rule of the event ends. Pure.
//!
//! There are two such rules, both off unless the event switches them on: both bots agree that one of them has lost, or the game
//! has had all the moves that it may have. Each has a small tracker that is fed one accepted answer after the other, so that a
//! record is judged again exactly as the game was. The pip count, or any other count of a board, decides nothing here.

use hakem_protocol::Ask;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::game::Seat;

/// The rules of an event that end games; the default has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// A game is lost once both evaluations say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignRule>,
    /// A game of so many answers, all seats together, is a draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
}

/// When both evaluations say that a game is lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignRule {
    /// From this evaluation on a seat says that it has won, from its negative down that it has lost. In the unit of the bots.
    pub eval: f64,
    /// So many moves of each seat in a row have to say so.
    pub moves: u32,
}

impl Adjudication {
    /// Whether the numbers can be: an evaluation that is finite and above 0, counts above 0, and a rule at all.
    pub fn is_possible(&self) -> bool {
        let resign = self
            .resign
            .is_none_or(|rule| rule.eval.is_finite() && rule.eval > 0.0 && rule.moves > 0);
        let any = self.resign.is_some() || self.max_moves.is_some();
        resign && any && self.max_moves != Some(0)
    }
}

/// The evaluation that an answer gives, from the point of view of the seat that gives it: a number, or the number `score` of an
/// object. `None` for anything else, and for what is not finite.
pub fn evaluation(eval: Option<&Value>) -> Option<f64> {
    let number = match eval? {
        Value::Object(fields) => fields.get("score")?.as_f64(),
        other => other.as_f64(),
    };
    number.filter(|number| number.is_finite())
}

/// How the event ends a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The seat that has lost; `None`: it is a draw.
    pub lost_by: Option<Seat>,
    /// The key of the rule, then the numbers in words.
    pub reason: String,
}

/// Follows one game between two seats.
#[derive(Clone, Debug)]
pub struct Adjudicator {
    agreement: Option<Agreement>,
    cap: Option<MoveCap>,
}

impl Adjudicator {
    /// The trackers of these rules, at the beginning of a game.
    pub fn new(rules: Adjudication) -> Adjudicator {
        Adjudicator {
            agreement: rules.resign.map(Agreement::new),
            cap: rules.max_moves.map(MoveCap::new),
        }
    }

    /// Takes an accepted answer of a seat to what it was asked, with its evaluation as the record keeps it.
    pub fn answered(&mut self, seat: Seat, ask: Ask, eval: Option<&Value>) {
        if let Some(agreement) = &mut self.agreement
            && ask == Ask::Move
        {
            agreement.moved(seat, evaluation(eval));
        }
        if let Some(cap) = &mut self.cap {
            cap.moved();
        }
    }

    /// The game is played over within its id: what the seats thought of the last position is of no account. Its moves count on.
    pub fn played_over(&mut self) {
        if let Some(agreement) = &mut self.agreement {
            *agreement = Agreement::new(agreement.rule);
        }
    }

    /// What the rules say now, the one that comes first before the other: a game that is lost is no draw.
    pub fn rulings(&self) -> impl Iterator<Item = Ruling> {
        let lost = self.agreement.as_ref().and_then(Agreement::ruling);
        lost.into_iter()
            .chain(self.cap.as_ref().and_then(MoveCap::ruling))
    }
}

/// Whether both seats say for so many moves that one of them has lost.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    rule: ResignRule,
    streaks: [Streak; 2],
}

/// What a seat has said without a break.
#[derive(Clone, Copy, Debug, Default)]
struct Streak {
    /// Its last evaluation, if that is beyond the threshold.
    last: Option<f64>,
    /// How many of its moves in a row said the same.
    moves: u32,
}

impl Agreement {
    fn new(rule: ResignRule) -> Agreement {
        Agreement {
            rule,
            streaks: [Streak::default(); 2],
        }
    }

    fn moved(&mut self, seat: Seat, eval: Option<f64>) {
        let Some(streak) = self.streaks.get_mut(seat) else {
            return;
        };
        let last = eval.filter(|eval| eval.abs() >= self.rule.eval);
        let goes_on = match (streak.last, last) {
            (Some(before), Some(now)) => (before > 0.0) == (now > 0.0),
            _ => false,
        };
        let before = if goes_on { streak.moves } else { 0 };
        *streak = Streak {
            last,
            moves: before.saturating_add(u32::from(last.is_some())),
        };
    }

    fn ruling(&self) -> Option<Ruling> {
        let ResignRule { eval, moves } = self.rule;
        if self.streaks.iter().any(|streak| streak.moves < moves) {
            return None;
        }
        let [first, second] = self.streaks.map(|streak| streak.last.unwrap_or(0.0));
        let lost_by = match (first > 0.0, second > 0.0) {
            (false, true) => 0,
            (true, false) => 1,
            // Both win, or both lose.
            _ => return None,
        };
        let times = match moves {
            1 => "1 move".to_owned(),
            many => format!("{many} moves"),
        };
        Some(Ruling {
            lost_by: Some(lost_by),
            reason: format!(
                "resign_eval: {times} of each at {eval:?} or more against seat {lost_by} (last {first:?}, {second:?})"
            ),
        })
    }
}

/// Counts the moves of a game that may have so many.
#[derive(Clone, Copy, Debug)]
struct MoveCap {
    most: u32,
    moves: u32,
}

impl MoveCap {
    fn new(most: u32) -> MoveCap {
        MoveCap { most, moves: 0 }
    }

    fn moved(&mut self) {
        self.moves = self.moves.saturating_add(1);
    }

    fn ruling(&self) -> Option<Ruling> {
        (self.moves >= self.most).then(|| Ruling {
            lost_by: None,
            reason: format!(
                "max_moves: a draw after {} moves (at most {})",
                self.moves, self.most
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn adjudicator(moves: u32) -> Adjudicator {
        Adjudicator::new(Adjudication {
            resign: Some(ResignRule { eval: 3.0, moves }),
            max_moves: None,
        })
    }

    /// Plays moves with these evaluations, the seats in turn; after which move (from 1) the game is lost, and by whom.
    fn lost(moves: u32, evals: &[Value]) -> Option<(usize, Seat)> {
        let mut adjudicator = adjudicator(moves);
        for (index, eval) in evals.iter().enumerate() {
            adjudicator.answered(index % 2, Ask::Move, Some(eval));
            if let Some(ruling) = adjudicator.rulings().next() {
                return ruling.lost_by.map(|seat| (index + 1, seat));
            }
        }
        None
    }

    fn numbers(evals: &[f64]) -> Vec<Value> {
        evals.iter().map(|&eval| json!(eval)).collect()
    }

    #[test]
    fn a_game_is_lost_with_exactly_so_many_moves_of_each_that_say_so() {
        let evals = numbers(&[3.0, -3.0, 3.5, -100.0, 9.0, -3.0]);
        assert_eq!(lost(1, &evals), Some((2, 1)));
        assert_eq!(lost(2, &evals), Some((4, 1)));
        assert_eq!(lost(3, &evals), Some((6, 1)));
        assert_eq!(lost(4, &evals), None);
        let other: Vec<Value> = numbers(&[-3.0, 3.0, -3.0, 3.0]);
        assert_eq!(lost(2, &other), Some((4, 0)));
    }

    #[test]
    fn one_that_is_below_the_threshold_or_silent_or_of_another_mind_begins_anew() {
        let broken = [
            json!(-2.999),
            json!(0),
            json!(3.0),
            json!(null),
            json!({"win": 0.0}),
            json!({"score": "-5"}),
            json!({"score": null}),
        ];
        for eval in broken {
            let mut evals = numbers(&[5.0, -5.0, 5.0, 0.0, 5.0, -5.0, 5.0, -5.0]);
            evals[3] = eval.clone();
            // Without the fourth move the sixth would end it.
            assert_eq!(lost(3, &evals), None, "{eval}");
            evals.extend(numbers(&[5.0, -5.0]));
            assert_eq!(lost(3, &evals), Some((10, 1)), "{eval}");
        }
    }

    #[test]
    fn two_who_both_win_or_both_lose_go_on() {
        assert_eq!(lost(1, &numbers(&[9.0, 9.0, 9.0, 9.0])), None);
        assert_eq!(lost(1, &numbers(&[-9.0, -9.0, -9.0, -9.0])), None);
        // Once one of them sees it otherwise they agree.
        assert_eq!(lost(1, &numbers(&[9.0, 9.0, 9.0, -9.0])), Some((4, 1)));
        assert_eq!(lost(2, &numbers(&[9.0, 9.0, 9.0, -9.0])), None);
    }

    #[test]
    fn one_seat_that_says_nothing_is_never_adjudicated() {
        let mut adjudicator = adjudicator(1);
        for _ in 0..10 {
            adjudicator.answered(0, Ask::Move, Some(&json!(-9)));
            adjudicator.answered(1, Ask::Move, None);
        }
        assert_eq!(adjudicator.rulings().count(), 0);
    }

    #[test]
    fn a_seat_may_move_several_times_in_a_row() {
        let mut adjudicator = adjudicator(2);
        adjudicator.answered(1, Ask::Move, Some(&json!(4)));
        for _ in 0..5 {
            adjudicator.answered(0, Ask::Move, Some(&json!(-4)));
        }
        assert_eq!(adjudicator.rulings().count(), 0);
        adjudicator.answered(1, Ask::Move, Some(&json!({"score": 4, "depth": 2})));
        let ruling = adjudicator.rulings().next().expect("they agree");
        assert_eq!(ruling.lost_by, Some(0));
        assert_eq!(
            ruling.reason,
            "resign_eval: 2 moves of each at 3.0 or more against seat 0 (last -4.0, 4.0)"
        );
    }

    #[test]
    fn answers_about_the_cube_and_resignations_say_nothing_of_the_evaluations() {
        let mut adjudicator = adjudicator(1);
        for ask in [Ask::Cube, Ask::Take, Ask::Resign] {
            adjudicator.answered(0, ask, Some(&json!(9)));
            adjudicator.answered(1, ask, Some(&json!(-9)));
        }
        assert_eq!(adjudicator.rulings().count(), 0);
        adjudicator.answered(0, Ask::Move, Some(&json!(9)));
        adjudicator.answered(1, Ask::Move, Some(&json!(-9)));
        adjudicator.answered(1, Ask::Cube, None);
        assert_eq!(adjudicator.rulings().count(), 1);
    }

    #[test]
    fn a_game_that_is_played_over_forgets_what_was_thought_and_counts_on() {
        let mut adjudicator = Adjudicator::new(Adjudication {
            resign: Some(ResignRule {
                eval: 1.0,
                moves: 1,
            }),
            max_moves: Some(3),
        });
        adjudicator.answered(0, Ask::Move, Some(&json!(9)));
        adjudicator.played_over();
        adjudicator.answered(1, Ask::Move, Some(&json!(-9)));
        assert_eq!(adjudicator.rulings().count(), 0);
        adjudicator.answered(0, Ask::Move, None);
        let ruling = adjudicator.rulings().next().expect("the moves are played");
        assert_eq!(ruling.lost_by, None);
        assert_eq!(ruling.reason, "max_moves: a draw after 3 moves (at most 3)");
    }

    #[test]
    fn a_game_that_is_lost_with_its_last_move_is_no_draw() {
        let mut adjudicator = Adjudicator::new(Adjudication {
            resign: Some(ResignRule {
                eval: 1.0,
                moves: 1,
            }),
            max_moves: Some(2),
        });
        adjudicator.answered(0, Ask::Move, Some(&json!(-1)));
        adjudicator.answered(1, Ask::Move, Some(&json!(1)));
        let lost: Vec<_> = adjudicator.rulings().map(|ruling| ruling.lost_by).collect();
        assert_eq!(lost, [Some(0), None]);
    }

    #[test]
    fn an_evaluation_is_a_finite_number_or_the_score_of_an_object() {
        for (eval, found) in [
            (json!(2), Some(2.0)),
            (json!(-0.5), Some(-0.5)),
            (json!(u64::MAX), Some(u64::MAX as f64)),
            (json!({"score": 1.5, "depth": 9}), Some(1.5)),
            (json!({"depth": 9}), None),
            (json!({"score": {"score": 1}}), None),
            (json!({}), None),
            (json!("3"), None),
            (json!([3]), None),
            (json!(true), None),
            // What JSON has no number for.
            (json!(f64::INFINITY), None),
            (json!({"score": f64::NAN}), None),
        ] {
            assert_eq!(evaluation(Some(&eval)), found, "{eval}");
        }
        assert_eq!(evaluation(None), None);
    }

    #[test]
    fn numbers_that_cannot_be_are_told() {
        let resign = |eval, moves| Adjudication {
            resign: Some(ResignRule { eval, moves }),
            max_moves: None,
        };
        let cap = |max_moves| Adjudication {
            resign: None,
            max_moves,
        };
        assert!(resign(0.001, 1).is_possible() && cap(Some(1)).is_possible());
        for bad in [
            resign(0.0, 1),
            resign(-1.0, 1),
            resign(f64::INFINITY, 1),
            resign(f64::NAN, 1),
            resign(1.0, 0),
            cap(Some(0)),
            cap(None),
        ] {
            assert!(!bad.is_possible(), "{bad:?}");
        }
    }
}
