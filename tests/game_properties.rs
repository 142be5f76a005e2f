//! What must hold for every game: the same battery for each registered one, through the interface that the referee
//! uses, at random.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use hakem::game::{
    Chance, ChanceKind, Drawn, GAMES, Kind, Outcome, Position, Ruleset, Setup, ToAct,
};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Value, json};

// ---- What must be known of a game -------------------------------------------------------------------------------

/// What the battery needs to know of a game that the game does not say itself.
struct About {
    /// Options to play with.
    rules: Vec<Value>,
    /// Sums over a state that never change.
    conserved: fn(&Value) -> Vec<u64>,
    /// The same position with the seats exchanged; `None` where seats are not alike.
    mirrored: Option<fn(&Value) -> Value>,
    /// Whether no two listed answers may lead to one position.
    one_answer_a_position: bool,
    /// The most actions (answers, passes, random events) of a game.
    bound: usize,
}

fn about(kind: &dyn Kind) -> About {
    match kind.facts().name {
        "mangala" => About {
            rules: vec![json!({}), json!({"sets": 3, "rematch_on_draw": true})],
            conserved: |state| vec![sum(&state["pits"]) + sum(&state["stores"])],
            mirrored: Some(|state| {
                json!({
                    "pits": exchanged(&state["pits"]),
                    "stores": exchanged(&state["stores"]),
                    "turn": other(&state["turn"]),
                })
            }),
            // Two moves may both end the game with the same stones.
            one_answer_a_position: false,
            // Stones only move on, and every way round the board puts one into a treasury. Random games have 43 moves
            // on average; the longest of 300,000 had 107.
            bound: 500,
        },
        "tavla" => About {
            rules: vec![
                json!({}),
                json!({"match_length": 5, "max_plies": 300}),
                json!({"beavers": true, "raccoons": true, "jacoby": true, "max_cube": 8}),
                json!({"cube": false}),
            ],
            conserved: |state| vec![sum(&state["checkers"][0]), sum(&state["checkers"][1])],
            mirrored: Some(|state| {
                let mut mirrored = state.clone();
                mirrored["checkers"] = exchanged(&state["checkers"]);
                mirrored["score"] = exchanged(&state["score"]);
                mirrored["turn"] = other(&state["turn"]);
                mirrored["cube"]["owner"] = other(&state["cube"]["owner"]);
                if !state["cube"]["doubler"].is_null() {
                    mirrored["cube"]["doubler"] = other(&state["cube"]["doubler"]);
                }
                if !state["resign"].is_null() {
                    mirrored["resign"]["by"] = other(&state["resign"]["by"]);
                }
                mirrored
            }),
            one_answer_a_position: true,
            // `max_plies` ends a game after 2000 plays; each comes with a roll and at most a few words about the cube.
            bound: 10_000,
        },
        "dokuztas" => About {
            rules: vec![
                json!({}),
                json!({"mill_stones": "immune", "no_capture_plies": 12}),
                json!({"mill_stones": "takeable", "on_equal": "lot", "no_capture_plies": 4}),
                json!({"preset": "okul", "no_capture_plies": 30}),
                json!({"preset": "sivas", "no_capture_plies": 0, "max_plies": 300}),
            ],
            // Stones leave the game, so what stays the same is that each seat has a possible number of them.
            conserved: |state| {
                let left = |seat: usize| {
                    let stones = state["stones"][seat].as_array().map_or(0, Vec::len) as u64;
                    stones + sum(&state["in_hand"][seat])
                };
                vec![u64::from(
                    (2..=9).contains(&left(0)) && (2..=9).contains(&left(1)),
                )]
            },
            mirrored: Some(|state| {
                let mut mirrored = state.clone();
                mirrored["stones"] = exchanged(&state["stones"]);
                mirrored["in_hand"] = exchanged(&state["in_hand"]);
                mirrored["turn"] = other(&state["turn"]);
                mirrored
            }),
            one_answer_a_position: true,
            // `max_plies` ends a game, perhaps with a lot.
            bound: 2001,
        },
        name => panic!("say here what must hold for the game {name}"),
    }
}

/// The sum of all numbers in a value.
fn sum(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(sum).sum(),
        value => value.as_u64().expect("a count"),
    }
}

/// A list by seat, for the seats exchanged.
fn exchanged(by_seat: &Value) -> Value {
    json!([by_seat[1], by_seat[0]])
}

/// A seat, for the seats exchanged.
fn other(seat: &Value) -> Value {
    match seat.as_u64() {
        Some(seat) => json!(1 - seat),
        None => Value::Null,
    }
}

// ---- Playing at random ------------------------------------------------------------------------------------------

/// A source of choices (SplitMix64).
struct Picks(u64);

impl Picks {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn draw(&mut self, chance: Chance) -> Drawn {
        let mut die = || self.below(6) as u8 + 1;
        match chance.kind {
            ChanceKind::Dice => Drawn::Dice([die(), die()]),
            ChanceKind::Opening => {
                let first = die();
                Drawn::Dice([first, first % 6 + 1])
            }
            ChanceKind::Lot => Drawn::Lot(self.below(2) as u32),
            kind => panic!("{kind:?} is drawn before a game, not in it"),
        }
    }
}

/// What drives a game on.
#[derive(Clone, Debug)]
enum Action {
    Answer(Value),
    Pass,
    Chance(Drawn),
}

fn next(position: &mut dyn Position, picks: &mut Picks) -> Option<Action> {
    match position.to_act() {
        ToAct::Seat(..) => {
            let count = position.count_legal();
            Some(Action::Answer(position.nth_legal(picks.below(count))))
        }
        ToAct::Pass(_) => Some(Action::Pass),
        ToAct::Chance(chance) => Some(Action::Chance(picks.draw(chance))),
        ToAct::Over => None,
    }
}

/// Applies an action, and returns what the game tells of it.
fn act(position: &mut dyn Position, action: &Action) -> Vec<u8> {
    let mut told = Vec::new();
    match action {
        Action::Answer(answer) => position
            .play(answer, &mut told)
            .expect("a listed answer is legal"),
        Action::Pass => position.pass(&mut told),
        Action::Chance(drawn) => position.chance(*drawn),
    }
    told
}

/// A position after at most so many random actions.
fn walk(rules: &dyn Ruleset, picks: &mut Picks, actions: usize) -> Box<dyn Position> {
    let mut position = rules.start(&Setup {
        lot: picks.below(2),
        ..Setup::SINGLE
    });
    for _ in 0..actions {
        let Some(action) = next(&mut *position, picks) else {
            break;
        };
        act(&mut *position, &action);
    }
    position
}

fn state(position: &dyn Position) -> Value {
    let mut out = Vec::new();
    position.write_state(&mut out);
    serde_json::from_slice(&out).expect("a state is JSON")
}

fn legal(position: &mut dyn Position) -> Vec<Value> {
    let mut out = Vec::new();
    position.write_legal(&mut out);
    serde_json::from_slice(&out).expect("legal answers are a JSON list")
}

/// The state after each listed answer.
fn reached(position: &mut dyn Position) -> Vec<String> {
    legal(position)
        .into_iter()
        .map(|answer| {
            let mut after = position.boxed_clone();
            act(&mut *after, &Action::Answer(answer));
            state(&*after).to_string()
        })
        .collect()
}

/// Runs a property on random positions of every registered game, with each of its sets of options.
fn on_random_positions(
    cases: u32,
    property: impl Fn(&About, &dyn Ruleset, &mut dyn Position, &mut Picks) -> Result<(), TestCaseError>,
) {
    for kind in GAMES {
        let about = about(*kind);
        for options in &about.rules {
            let given = options.as_object().expect("options are an object");
            let rules: Arc<dyn Ruleset> = kind.rules(given).expect("possible options");
            let config = ProptestConfig {
                cases,
                failure_persistence: None,
                ..ProptestConfig::default()
            };
            let outcome =
                TestRunner::new(config).run(&(any::<u64>(), 0usize..150), |(seed, actions)| {
                    let mut picks = Picks(seed);
                    let mut position = walk(&*rules, &mut picks, actions);
                    property(&about, &*rules, &mut *position, &mut picks)
                });
            if let Err(error) = outcome {
                panic!("{} {options}: {error}", kind.facts().name);
            }
        }
    }
}

// ---- The battery ------------------------------------------------------------------------------------------------

#[test]
fn every_listed_answer_applies_and_is_told() {
    on_random_positions(300, |about, _, position, _| {
        let answers = legal(position);
        prop_assert_eq!(position.count_legal(), answers.len());
        let ToAct::Seat(seat, _) = position.to_act() else {
            prop_assert!(answers.is_empty(), "only a seat that is asked has answers");
            return Ok(());
        };
        prop_assert!(!answers.is_empty(), "a seat that is asked has an answer");
        let before = state(position);
        for (index, answer) in answers.iter().enumerate() {
            prop_assert_eq!(&position.nth_legal(index), answer);
            let mut after = position.boxed_clone();
            let told: Value =
                serde_json::from_slice(&act(&mut *after, &Action::Answer(answer.clone())))
                    .expect("what is told is JSON");
            prop_assert_eq!(&told["seat"], &json!(seat));
            prop_assert_eq!(&told["move"], answer);
            prop_assert_eq!(state(position), before.clone(), "a copy stands apart");
        }
        let spellings: HashSet<String> = answers.iter().map(Value::to_string).collect();
        prop_assert_eq!(spellings.len(), answers.len(), "no answer is listed twice");
        let positions: BTreeSet<String> = reached(position).into_iter().collect();
        prop_assert!(!about.one_answer_a_position || positions.len() == answers.len());
        Ok(())
    });
}

/// Values that are no answer of any game, or seldom one here.
fn strange() -> Vec<Value> {
    let mut values: Vec<Value> = (-2..30).map(Value::from).collect();
    values.extend([
        json!(null),
        json!(true),
        json!(""),
        json!("1"),
        json!("pass"),
        json!(3.5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!([]),
        json!([1]),
        json!([[]]),
        json!([[24, 18], [13, 8]]),
        json!([[1, 2, 3]]),
        json!([[-1, 300]]),
        json!({}),
        json!({"to": "a1"}),
        json!({"move": 1}),
        json!("roll"),
        json!("take"),
        json!("x".repeat(10_000)),
    ]);
    values
}

#[test]
fn an_answer_that_is_not_listed_is_refused_and_changes_nothing() {
    on_random_positions(300, |_, rules, position, picks| {
        let listed = legal(position);
        let positions = reached(position);
        let before = state(position);
        let mut tries = strange();
        tries.extend(legal(&mut *walk(rules, picks, 40)));
        for answer in tries.iter().filter(|answer| !listed.contains(answer)) {
            let mut after = position.boxed_clone();
            let mut told = b"kept".to_vec();
            match after.play(answer, &mut told) {
                // Another spelling of a listed answer.
                Ok(()) => prop_assert!(
                    positions.contains(&state(&*after).to_string()),
                    "{}",
                    answer
                ),
                Err(refusal) => {
                    prop_assert!(!refusal.message.is_empty() && refusal.message.len() < 500);
                    prop_assert_eq!(&told, b"kept");
                    prop_assert_eq!(state(&*after), before.clone());
                    prop_assert_eq!(after.to_act(), position.to_act());
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_state_reads_back_as_it_was_written() {
    on_random_positions(500, |_, rules, position, _| {
        // The end may rest on what a state does not hold (a pass, a repetition), and so may waiting for chance.
        if !matches!(position.to_act(), ToAct::Seat(..) | ToAct::Pass(_)) {
            return Ok(());
        }
        let written = state(position);
        let mut again = rules.read(&written).map_err(TestCaseError::fail)?;
        prop_assert_eq!(state(&*again), written);
        prop_assert_eq!(again.to_act(), position.to_act());
        prop_assert_eq!(legal(&mut *again), legal(position));
        Ok(())
    });
}

#[test]
fn counts_are_conserved() {
    on_random_positions(500, |about, rules, position, _| {
        let start = rules.start(&Setup::SINGLE);
        let expected = (about.conserved)(&state(&*start));
        prop_assert_eq!((about.conserved)(&state(position)), expected);
        Ok(())
    });
}

#[test]
fn exchanging_the_seats_changes_nothing_else() {
    on_random_positions(500, |about, rules, position, _| {
        let (Some(mirrored), ToAct::Seat(seat, ask)) = (about.mirrored, position.to_act()) else {
            return Ok(());
        };
        let mut image = rules
            .read(&mirrored(&state(position)))
            .map_err(TestCaseError::fail)?;
        prop_assert_eq!(image.to_act(), ToAct::Seat(1 - seat, ask));
        prop_assert_eq!(legal(&mut *image), legal(position));
        for answer in legal(position) {
            let (mut here, mut there) = (position.boxed_clone(), image.boxed_clone());
            act(&mut *here, &Action::Answer(answer.clone()));
            act(&mut *there, &Action::Answer(answer));
            let over = here.to_act() == ToAct::Over;
            prop_assert_eq!(over, there.to_act() == ToAct::Over);
            if over {
                let exchange = |mut outcome: Outcome| {
                    outcome.score.reverse();
                    outcome.points.reverse();
                    (
                        outcome.winner.map(|winner| 1 - winner),
                        outcome.score,
                        outcome.points,
                    )
                };
                let (here, there) = (
                    here.outcome().expect("over"),
                    there.outcome().expect("over"),
                );
                let same = (there.winner, there.score, there.points);
                prop_assert_eq!(exchange(here), same);
            } else {
                prop_assert_eq!(mirrored(&state(&*here)), state(&*there));
            }
        }
        Ok(())
    });
}

#[test]
fn every_game_ends_within_its_bound_and_its_actions_replay_it() {
    for kind in GAMES {
        let about = about(*kind);
        for options in &about.rules {
            let rules = kind
                .rules(options.as_object().expect("an object"))
                .expect("possible options");
            for seed in 0..400 {
                let mut picks = Picks(seed);
                let setup = Setup {
                    lot: picks.below(2),
                    ..Setup::SINGLE
                };
                let mut position = rules.start(&setup);
                let mut actions = Vec::new();
                while let Some(action) = next(&mut *position, &mut picks) {
                    act(&mut *position, &action);
                    actions.push(action);
                    assert!(
                        actions.len() <= about.bound,
                        "{} seed {seed}",
                        kind.facts().name
                    );
                }
                let outcome = position.outcome().expect("over");
                check_outcome(&outcome);
                assert!(legal(&mut *position).is_empty());
                assert!(position.play(&json!(1), &mut Vec::new()).is_err());

                let mut again = rules.start(&setup);
                for action in &actions {
                    assert_eq!(again.outcome(), None);
                    act(&mut *again, action);
                }
                assert_eq!(state(&*again), state(&*position));
                assert_eq!(again.outcome(), Some(outcome));
            }
        }
    }
}

fn check_outcome(outcome: &Outcome) {
    assert_eq!((outcome.score.len(), outcome.points.len()), (2, 2));
    let shares: f64 = outcome.score.iter().map(|share| share.value()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{outcome:?}");
    let sole = outcome.score.iter().position(|share| share.value() == 1.0);
    assert_eq!(outcome.winner, sole);
    assert!(!outcome.reason.is_empty());
}

#[test]
fn a_forfeit_loses_and_leaves_the_position_alone() {
    on_random_positions(200, |_, _, position, _| {
        let before = state(position);
        for seat in 0..2 {
            let outcome = position.forfeit(seat);
            check_outcome(&outcome);
            prop_assert_eq!(outcome.winner, Some(1 - seat));
            prop_assert_eq!(outcome.reason, hakem::game::FORFEIT);
        }
        prop_assert_eq!(state(position), before);
        Ok(())
    });
}

/// Paths counted by playing every listed answer, one after the other.
fn paths(position: &mut dyn Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    match position.to_act() {
        ToAct::Over => 0,
        ToAct::Seat(..) => {
            let mut count = 0;
            for answer in legal(position) {
                let mut after = position.boxed_clone();
                act(&mut *after, &Action::Answer(answer));
                count += paths(&mut *after, depth - 1);
            }
            count
        }
        ToAct::Pass(_) => {
            let mut after = position.boxed_clone();
            act(&mut *after, &Action::Pass);
            paths(&mut *after, depth - 1)
        }
        // Games with dice are not counted here, and nothing follows a lot.
        ToAct::Chance(_) => 0,
    }
}

#[test]
fn path_counts_agree_with_playing_every_answer() {
    on_random_positions(40, |_, rules, position, _| {
        // With dice a ply is a roll and its play; those counts are held by their case files.
        if !rules.facts().chance {
            for depth in 0..4 {
                prop_assert_eq!(position.perft(depth), paths(position, depth));
            }
        }
        Ok(())
    });
}
