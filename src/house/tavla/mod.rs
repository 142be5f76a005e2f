//! A Tavla player. After each play it estimates the chances to win, and to win or lose a gammon, from the race, blots and
//! the shots at them, points made, primes, anchors and checkers back. By itself it looks at its own play, no further;
//! [`Depth::Roll`] has it weigh the rolls of the other side as well.
//!
//! Before it doubles, takes or answers a resignation it weighs every roll of the side on roll, for the points of money
//! play or the chance to win the match. It never resigns.

use crate::game::tavla::{Play, Points, Stage, Tavla, TavlaMove, plays_of, rolls};
use crate::game::{Ask, Game, Seat, ToAct};

mod ahead;
mod eval;
mod race;
mod stakes;
mod weights;

use eval::Chances;
use stakes::{Holder, Stakes};

/// Below this chance to win no roll is looked at before doubling.
const NO_DOUBLE_BELOW: f64 = 0.4;
/// How much must be gained by it before the stakes are raised once more in one dialogue, times the cube offered.
const BEAVER_MARGIN: f64 = 0.05;

/// How far a play is looked at.
#[derive(Clone, Copy)]
pub enum Depth<'a> {
    /// The position after it, no further.
    Play,
    /// The next roll, too, unless this function says that the time is up.
    Roll(&'a dyn Fn() -> bool),
}

/// The answer to the question that the position asks, looking at the own play alone; `None` where no seat is asked.
///
/// The position must have been read with the rules of the session, for what may be answered depends on them.
pub fn play(game: &Tavla) -> Option<TavlaMove> {
    play_to(game, Depth::Play)
}

/// The same, looking as far as told.
pub fn play_to(game: &Tavla, depth: Depth<'_>) -> Option<TavlaMove> {
    let ToAct::Seat(seat, ask) = game.to_act() else {
        return None;
    };
    let table = Table {
        game,
        seat,
        stakes: Stakes::of(game, seat),
        theirs: Stakes::of(game, 1 - seat),
    };
    match ask {
        Ask::Move => match depth {
            Depth::Play => table.best_play(),
            Depth::Roll(stop) => ahead::best(&table, table.candidates(), stop),
        }
        .map(TavlaMove::Play),
        Ask::Cube => Some(table.double_or_roll()),
        Ask::Take => Some(table.answer_double()),
        Ask::Resign => Some(table.answer_resignation()),
        Ask::Race => None,
    }
}

/// A question: the position, the seat asked, and what it plays for.
struct Table<'a> {
    game: &'a Tavla,
    seat: Seat,
    stakes: Stakes,
    /// The stakes of the other seat.
    theirs: Stakes,
}

/// The chances after one roll, and how likely the roll is.
type Branch = (f64, Chances);

impl Table<'_> {
    /// The legal play after which the position is worth most.
    fn best_play(&self) -> Option<Play> {
        let value = self.game.cube().value;
        let mut best: Option<(f64, Play)> = None;
        self.game.each_play(&mut |play| {
            let [own, other] = self.game.after(&play);
            let worth = self.stakes.dead(&eval::chances(&own, &other), value);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, play));
            }
        });
        best.map(|(_, play)| play)
    }

    /// Every legal play with what the position after it is worth.
    fn candidates(&self) -> Vec<ahead::Candidate> {
        let value = self.game.cube().value;
        let mut candidates = Vec::new();
        self.game.each_play(&mut |play| {
            let sides = self.game.after(&play);
            let worth = self
                .stakes
                .dead(&eval::chances(&sides[0], &sides[1]), value);
            candidates.push(ahead::Candidate { play, sides, worth });
        });
        candidates
    }

    /// What winning this game once instead of losing it changes, halved: the cube in money play.
    fn scale(&self) -> f64 {
        let value = self.game.cube().value;
        (self.stakes.points(true, value) - self.stakes.points(false, value)) / 2.0
    }

    fn double_or_roll(&self) -> TavlaMove {
        let value = self.game.cube().value;
        let [own, other] = [self.seat, 1 - self.seat].map(|seat| self.game.checkers(seat));
        let before_roll = eval::chances(other, own).reversed();
        if !self.stakes.is_useful(0, value) {
            return TavlaMove::Roll;
        }
        if before_roll.win < NO_DOUBLE_BELOW {
            // Only who loses the match with this game has nothing more to lose.
            return if self.stakes.loses_match(value) {
                TavlaMove::Double
            } else {
                TavlaMove::Roll
            };
        }
        let branches = branches(&self.stakes, value, own, other);
        let holder = match self.game.cube().owner {
            Some(_) => Holder::Me,
            None => Holder::Both,
        };
        let rolled = self.worth(&branches, value, holder);
        let taken = self.worth(&branches, 2 * value, Holder::You);
        let passed = self.stakes.points(true, value);
        if taken.min(passed) > rolled {
            TavlaMove::Double
        } else {
            TavlaMove::Roll
        }
    }

    fn answer_double(&self) -> TavlaMove {
        let cube = self.game.cube();
        let Some(offer) = cube.offer else {
            return TavlaMove::Take;
        };
        let doubler = offer.doubler;
        let [own, other] = [doubler, 1 - doubler].map(|seat| self.game.checkers(seat));
        let stakes = Stakes::of(self.game, doubler);
        let mut branches = branches(&stakes, cube.offered(), own, other);
        let holder = match offer.stage {
            Stage::Double | Stage::Raccoon => {
                for (_, chances) in &mut branches {
                    *chances = chances.reversed();
                }
                Holder::Me
            }
            Stage::Beaver => Holder::You,
        };
        let passed = self.stakes.points(false, cube.value);
        let taken = self.worth(&branches, cube.offered(), holder);
        if taken < passed {
            return TavlaMove::Pass;
        }
        let raised = self.worth(&branches, 2 * cube.offered(), holder);
        let mut legal = Vec::new();
        self.game.legal(&mut legal);
        let margin = BEAVER_MARGIN * f64::from(cube.offered());
        if legal.contains(&TavlaMove::Beaver) && raised > taken + margin {
            TavlaMove::Beaver
        } else {
            TavlaMove::Take
        }
    }

    fn answer_resignation(&self) -> TavlaMove {
        let Some((by, times)) = self.game.resignation() else {
            return TavlaMove::Refuse;
        };
        let value = self.game.cube().value;
        let offered = self.stakes.points(true, u32::from(times) * value);
        // The side on roll: who resigns before or after its roll, or who has doubled.
        let on_roll = self.game.cube().offer.map_or(by, |offer| offer.doubler);
        let [own, other] = [on_roll, 1 - on_roll].map(|seat| self.game.checkers(seat));
        let branches = match self.game.roll_to_play() {
            Some(dice) => vec![(1.0, after_roll(&self.stakes, value, own, other, dice))],
            None => branches(&self.stakes, value, own, other),
        };
        let worth: f64 = branches
            .iter()
            .map(|(weight, chances)| {
                let mine = if on_roll == self.seat {
                    *chances
                } else {
                    chances.reversed()
                };
                weight * self.stakes.dead(&mine, value)
            })
            .sum();
        if offered >= worth {
            TavlaMove::Accept
        } else {
            TavlaMove::Refuse
        }
    }

    /// What these branches, seen by the seat asked, are worth on average with the cube at `value` in these hands.
    fn worth(&self, branches: &[Branch], value: u32, holder: Holder) -> f64 {
        branches
            .iter()
            .map(|(weight, chances)| weight * self.stakes.with_cube(chances, value, holder))
            .sum()
    }
}

/// The chances of the side on roll after each roll, played as well as it can.
fn branches(stakes: &Stakes, value: u32, own: &Points, other: &Points) -> Vec<Branch> {
    rolls()
        .map(|dice| {
            let weight = if dice[0] == dice[1] { 1.0 } else { 2.0 };
            (weight / 36.0, after_roll(stakes, value, own, other, dice))
        })
        .collect()
}

/// The chances of the side on roll after its best play of this roll.
fn after_roll(stakes: &Stakes, value: u32, own: &Points, other: &Points, dice: [u8; 2]) -> Chances {
    let mut best: Option<(f64, Chances)> = None;
    plays_of(own, other, dice, &mut |play| {
        let (mut own, mut other) = (*own, *other);
        play.carry_out(&mut own, &mut other);
        let chances = eval::chances(&own, &other);
        let worth = stakes.dead(&chances, value);
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, chances));
        }
    });
    best.map_or_else(|| eval::chances(own, other), |(_, chances)| chances)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::game::tavla::{POINTS, TavlaOptions};

    fn side(counts: &[(usize, u8)]) -> Points {
        let mut points = [0; POINTS];
        for &(place, count) in counts {
            points[place] = count;
        }
        points
    }

    fn start() -> Points {
        side(&[(24, 2), (13, 5), (8, 3), (6, 5)])
    }

    /// The answer to a state of these checkers, changed by the fields of `with`.
    fn answer(sides: [Points; 2], with: Value) -> Value {
        let mut state = json!({
            "checkers": sides, "dice": null, "cube": {"value": 1, "owner": null},
            "score": [0, 0], "length": 0, "crawford": false, "turn": 0,
        });
        for (key, value) in with.as_object().expect("fields") {
            state[key] = value.clone();
        }
        let options = TavlaOptions {
            beavers: true,
            raccoons: true,
            ..TavlaOptions::default()
        };
        let game = Tavla::read(&options, &state).unwrap_or_else(|error| panic!("{state}: {error}"));
        serde_json::to_value(play(&game)).expect("an answer is JSON")
    }

    fn asked_to_take(sides: [Points; 2], with: Value) -> Value {
        let mut with = with;
        with["turn"] = json!(1);
        with["cube"] = json!({"value": 1, "owner": null, "offered": 2, "doubler": 0});
        answer(sides, with)
    }

    /// Off with 19 of 36 rolls; else the other is off with its next.
    fn last_roll() -> [Points; 2] {
        [side(&[(0, 13), (5, 1), (2, 1)]), side(&[(0, 14), (1, 1)])]
    }

    #[test]
    fn the_last_roll_is_doubled_by_the_favourite_and_taken() {
        assert_eq!(answer(last_roll(), json!({})), json!("double"));
        assert_eq!(asked_to_take(last_roll(), json!({})), json!("take"));
        // 17 of 36.
        let worse = [side(&[(0, 13), (6, 1), (2, 1)]), side(&[(0, 14), (1, 1)])];
        assert_eq!(answer(worse, json!({})), json!("roll"));
        // 31 of 36, and 25 of 36: three quarters is the limit.
        let sure = [side(&[(0, 14), (5, 1)]), side(&[(0, 14), (1, 1)])];
        assert_eq!(asked_to_take(sure, json!({})), json!("pass"));
        let close = [side(&[(0, 13), (3, 1), (2, 1)]), side(&[(0, 14), (1, 1)])];
        assert_eq!(asked_to_take(close, json!({})), json!("take"));
    }

    #[test]
    fn the_start_is_no_double_for_money() {
        assert_eq!(answer([start(); 2], json!({})), json!("roll"));
        assert_eq!(asked_to_take([start(); 2], json!({})), json!("beaver"));
        assert_eq!(
            asked_to_take([start(); 2], json!({"length": 7})),
            json!("take")
        );
    }

    #[test]
    fn a_lost_race_is_passed_and_a_won_one_doubled() {
        let lead = [side(&[(6, 8), (5, 7)]), side(&[(8, 7), (6, 8)])];
        assert_eq!(answer(lead, json!({})), json!("double"));
        assert_eq!(asked_to_take(lead, json!({})), json!("pass"));
    }

    #[test]
    fn who_is_ahead_beavers() {
        let behind = [side(&[(12, 10), (6, 5)]), side(&[(6, 8), (5, 7)])];
        assert_eq!(asked_to_take(behind, json!({})), json!("beaver"));
        // In a match there are none.
        assert_eq!(asked_to_take(behind, json!({"length": 7})), json!("take"));
    }

    #[test]
    fn the_score_of_a_match_counts() {
        // After the Crawford game the trailing seat has nothing to lose.
        let post = json!({"length": 5, "score": [2, 4]});
        assert_eq!(answer([start(); 2], post), json!("double"));
        // One point, or as many as the cube shows, are enough: a double gains nothing.
        let lead = [side(&[(6, 8), (5, 7)]), side(&[(12, 10), (6, 5)])];
        assert_eq!(
            answer(lead, json!({"length": 5, "score": [4, 2]})),
            json!("roll")
        );
        let turned = json!({"length": 5, "score": [3, 2], "cube": {"value": 2, "owner": 0}});
        assert_eq!(answer(lead, turned), json!("roll"));
        // Passing loses the match.
        let last = json!({"length": 5, "score": [4, 2]});
        assert_eq!(asked_to_take(lead, last), json!("take"));
    }

    #[test]
    fn a_resignation_is_accepted_if_it_pays_enough() {
        let offer = |sides: [Points; 2], times: u8| {
            answer(
                sides,
                json!({"dice": [2, 1], "turn": 1, "resign": {"by": 0, "times": times}}),
            )
        };
        let won = [side(&[(0, 1), (6, 14)]), side(&[(0, 14), (1, 1)])];
        assert_eq!(offer(won, 1), json!("accept"));
        let gammon = [side(&[(13, 15)]), side(&[(0, 13), (1, 2)])];
        assert_eq!(offer(gammon, 1), json!("refuse"));
        assert_eq!(offer(gammon, 2), json!("accept"));
        assert_eq!(offer([start(); 2], 1), json!("accept"));
    }

    #[test]
    fn plain_plays_are_found() {
        // 3-1 and 6-1 make points at the start; a shot at a blot on the bar point of the other is taken.
        let open = |dice: [u8; 2]| answer([start(); 2], json!({"dice": dice}));
        assert_eq!(open([3, 1]), json!([[8, 5], [6, 5]]));
        assert_eq!(open([6, 1]), json!([[13, 7], [8, 7]]));
        assert_eq!(open([4, 2]), json!([[8, 4], [6, 4]]));
        let blot = side(&[(24, 2), (13, 4), (8, 3), (7, 1), (6, 5)]);
        let hit = answer([start(), blot], json!({"dice": [6, 4]}));
        assert!(
            hit.as_array().expect("a play").contains(&json!([24, 18])),
            "{hit}"
        );
        // Two more borne off win at once.
        let end = [side(&[(0, 13), (4, 1), (3, 1)]), side(&[(0, 14), (1, 1)])];
        assert_eq!(
            answer(end, json!({"dice": [4, 3]})),
            json!([[4, 0], [3, 0]])
        );
    }

    #[test]
    fn nothing_is_answered_where_nothing_is_asked() {
        let game = Tavla::start(&TavlaOptions::default(), &crate::game::Setup::SINGLE);
        assert_eq!(play(&game), None);
    }
}
