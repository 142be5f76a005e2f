//! What must hold for every game: the same battery for each registered one, through the interface that the referee
//! uses, at random.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use hakem::game::qbitz::faces::Answer;
use hakem::game::qbitz::{Qbitz, QbitzOptions};
use hakem::game::{
    Chance, ChanceKind, Claim, Drawn, GAMES, Game, Kind, Outcome, Position, Ruleset, Setup, ToAct,
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
        "oware" => About {
            rules: vec![
                json!({}),
                json!({"stop_when_decided": true, "cycle_repetitions": 3}),
                json!({"max_plies": 60}),
            ],
            conserved: |state| vec![sum(&state["pits"]) + sum(&state["stores"])],
            mirrored: Some(|state| {
                json!({
                    "pits": exchanged(&state["pits"]),
                    "stores": exchanged(&state["stores"]),
                    "turn": other(&state["turn"]),
                })
            }),
            // Two moves may both starve an opponent who cannot be fed.
            one_answer_a_position: false,
            // `max_plies`.
            bound: 1000,
        },
        "reversi" => About {
            rules: vec![json!({}), json!({"empties_to_winner": true})],
            // Discs come and turn: nothing is kept but the four squares of the centre, which are never empty again.
            conserved: |state| {
                let filled = |rank: usize, file: usize| {
                    state["board"][rank]
                        .as_str()
                        .is_some_and(|rank| !rank[file..].starts_with('.'))
                };
                let centre = [(3, 3), (3, 4), (4, 3), (4, 4)];
                vec![
                    centre
                        .iter()
                        .filter(|&&(rank, file)| filled(rank, file))
                        .count() as u64,
                ]
            },
            mirrored: Some(|state| {
                let turned = |rank: &Value| -> String {
                    let rank = rank.as_str().expect("a rank is a text");
                    let turn = |letter| match letter {
                        'x' => 'o',
                        'o' => 'x',
                        empty => empty,
                    };
                    rank.chars().map(turn).collect()
                };
                let board = state["board"].as_array().expect("a board is a list");
                json!({
                    "board": board.iter().map(turned).collect::<Vec<_>>(),
                    "turn": other(&state["turn"]),
                })
            }),
            one_answer_a_position: true,
            // Sixty squares are empty at the start, and no two passes follow each other.
            bound: 120,
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
        "qbitz" => About {
            rules: vec![
                json!({}),
                json!({"blocks": "uniform", "target_points": 2}),
                json!({"rounds": 4, "race": "in-turn"}),
            ],
            conserved: |state| vec![state["points"].as_array().expect("a list").len() as u64],
            // Seats have no board of their own.
            mirrored: None,
            one_answer_a_position: false,
            // At most 25 rounds, each void at most three times; in each a card, and a claim of each seat.
            bound: 25 * 4 * 3 + 1,
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
            ChanceKind::Cubes | ChanceKind::Card => {
                let mut bytes = [0; 32];
                bytes.fill_with(|| self.below(256) as u8);
                Drawn::Bytes(bytes)
            }
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
    /// A claim; if it is right it is awarded at once.
    Claim(usize, Value),
    /// The race ends so.
    Award(Vec<usize>),
}

/// Something that may happen in a race: a claim of some seat, a dead heat, the end of the time.
fn race(position: &dyn Position, picks: &mut Picks) -> Action {
    let racing: Vec<usize> = (0..position.seats())
        .filter(|&seat| position.racing(seat))
        .collect();
    match picks.below(8) {
        0 => Action::Award(Vec::new()),
        1 if racing.len() > 1 => Action::Award(racing[..2].to_vec()),
        kind => {
            let seat = racing[picks.below(racing.len())];
            Action::Claim(seat, claim(position, kind, picks))
        }
    }
}

/// A claim: none, a wrong one, or the right one.
fn claim(position: &dyn Position, kind: usize, picks: &mut Picks) -> Value {
    let game = Qbitz::read(&QbitzOptions::default(), &state(position)).expect("a state of Q-Bitz");
    let tray = game.solution().expect("every pattern can be laid");
    let mut claim = serde_json::to_value(Answer(Some(tray))).expect("JSON");
    match kind {
        2 => claim["qbitz"] = Value::Null,
        3 => {
            let placed = &mut claim["qbitz"][picks.below(4)][picks.below(4)];
            placed["cube"] = json!(picks.below(40) + 16);
        }
        _ => {}
    }
    claim
}

fn next(position: &mut dyn Position, picks: &mut Picks) -> Option<Action> {
    match position.to_act() {
        ToAct::Seat(..) => {
            let count = position.count_legal();
            Some(Action::Answer(position.nth_legal(picks.below(count))))
        }
        ToAct::Pass(_) => Some(Action::Pass),
        ToAct::Chance(chance) => Some(Action::Chance(picks.draw(chance))),
        ToAct::Race => Some(race(position, picks)),
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
        Action::Claim(seat, answer) => {
            let claim = position.claim(*seat, answer, &mut told);
            if claim.expect("a seat that races may claim") == Claim::Right {
                position.award(&[*seat]);
            }
        }
        Action::Award(first) => position.award(first),
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
        if position.to_act() == ToAct::Race {
            for (answer, seat) in tries.iter().zip((0..=position.seats()).cycle()) {
                let mut told = b"kept".to_vec();
                let refusal = position
                    .claim(seat, answer, &mut told)
                    .expect_err("no claim");
                prop_assert!(!refusal.message.is_empty() && refusal.message.len() < 500);
                prop_assert_eq!(&told, b"kept");
                prop_assert_eq!(state(position), before.clone());
            }
        }
        Ok(())
    });
}

#[test]
fn a_state_reads_back_as_it_was_written() {
    on_random_positions(500, |_, rules, position, _| {
        // The end may rest on what a state does not hold (a pass, a repetition), and so may waiting for chance.
        if !matches!(
            position.to_act(),
            ToAct::Seat(..) | ToAct::Pass(_) | ToAct::Race
        ) {
            return Ok(());
        }
        let written = state(position);
        let mut again = rules.read(&written).map_err(TestCaseError::fail)?;
        prop_assert_eq!(state(&*again), written);
        prop_assert_eq!(again.to_act(), position.to_act());
        prop_assert_eq!(legal(&mut *again), legal(position));
        for seat in 0..position.seats() {
            prop_assert_eq!(again.racing(seat), position.racing(seat));
        }
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
        // Both from states, so that neither remembers more than the other (Oware's repetitions).
        let told = state(position);
        let mut position = rules.read(&told).map_err(TestCaseError::fail)?;
        let mut image = rules.read(&mirrored(&told)).map_err(TestCaseError::fail)?;
        prop_assert_eq!(image.to_act(), ToAct::Seat(1 - seat, ask));
        prop_assert_eq!(legal(&mut *image), legal(&mut *position));
        for answer in legal(&mut *position) {
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
        ToAct::Race => unreachable!("races are not counted"),
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

#[test]
fn a_state_is_written_as_it_serialises() {
    // A game may write its state by hand: the result has to be the one of its types, to the byte.
    on_random_positions(300, |_, rules, position, _| {
        // What waits for a random event may lack what the event brings (a card).
        if matches!(position.to_act(), ToAct::Chance(_)) {
            return Ok(());
        }
        let mut written = Vec::new();
        position.write_state(&mut written);
        let value: Value = serde_json::from_slice(&written).expect("a state is JSON");
        let read = rules.read(&value).map_err(TestCaseError::fail)?;
        let mut again = Vec::new();
        read.write_state(&mut again);
        prop_assert_eq!(
            String::from_utf8_lossy(&written),
            String::from_utf8_lossy(&again)
        );
        Ok(())
    });
}
