use serde_json::{Map, Value, json};

use super::*;
use crate::game::{self, Position, Ruleset};

fn rules(options: Value) -> std::sync::Arc<dyn Ruleset> {
    let Value::Object(options) = options else {
        panic!("options are an object")
    };
    let tavla = game::find("tavla").expect("Tavla is registered");
    tavla.rules(&options).expect("possible options")
}

/// A state with the starting board, changed by the fields of `with` (those of a cube join the cube).
fn state(with: Value) -> Value {
    let mut state = json!({
        "checkers": [START, START], "dice": null, "cube": {"value": 1, "owner": null},
        "score": [0, 0], "length": 0, "crawford": false, "turn": 0,
    });
    for (key, value) in with.as_object().expect("fields") {
        match (state.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
            _ => state[key] = value.clone(),
        }
    }
    state
}

fn side(counts: &[(usize, u8)]) -> Points {
    let mut points = [0; POINTS];
    for &(place, count) in counts {
        points[place] = count;
    }
    points
}

fn read(options: Value, with: Value) -> Box<dyn Position> {
    let state = state(with);
    rules(options)
        .read(&state)
        .unwrap_or_else(|error| panic!("{state}: {error}"))
}

/// Plays these answers one after the other; the last refusal, if one is refused.
fn play(position: &mut dyn Position, answers: Value) -> Result<(), String> {
    for answer in answers.as_array().expect("answers") {
        position
            .play(answer, &mut Vec::new())
            .map_err(|refusal| refusal.message)?;
    }
    Ok(())
}

fn written(position: &dyn Position) -> Value {
    let mut text = Vec::new();
    position.write_state(&mut text);
    serde_json::from_slice(&text).expect("JSON")
}

fn legal(position: &mut dyn Position) -> Value {
    let mut text = Vec::new();
    position.write_legal(&mut text);
    serde_json::from_slice(&text).expect("JSON")
}

fn ended(position: &dyn Position) -> Option<(Seat, u32, &'static str)> {
    position.outcome().map(|outcome| {
        let winner = outcome.winner.expect("a game of Tavla is won");
        (winner, outcome.points[winner], outcome.reason)
    })
}

const OPEN_DICE: ToAct = ToAct::Chance(Chance {
    kind: ChanceKind::Opening,
    seat: None,
});

fn dice_of(seat: Seat) -> ToAct {
    ToAct::Chance(Chance {
        kind: ChanceKind::Dice,
        seat: Some(seat),
    })
}

// ---- Rule 1 ----

#[test]
fn the_higher_die_of_the_opening_moves_first_with_both() {
    let mut game = rules(json!({})).start(&Setup::SINGLE);
    assert_eq!((game.to_act(), game.opening()), (OPEN_DICE, None));
    game.chance(Drawn::Dice([4, 4]));
    assert_eq!(game.to_act(), OPEN_DICE);
    game.chance(Drawn::Dice([2, 5]));
    assert_eq!(game.to_act(), ToAct::Seat(1, Ask::Move));
    assert_eq!(game.opening(), Some([2, 5]));
    assert_eq!(written(&*game)["dice"], json!([2, 5]));
    play(&mut *game, json!([[[13, 8], [13, 11]]])).expect("a legal play");
    assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Cube));
    assert_eq!(game.opening(), Some([2, 5]));
}

#[test]
fn an_opening_has_thirty_outcomes_and_a_roll_twenty_one() {
    let game = Tavla::start(&TavlaOptions::default(), &Setup::SINGLE);
    let count = |kind| game.chances(Chance { kind, seat: None }).len();
    assert_eq!(count(ChanceKind::Opening), 30);
    assert_eq!(count(ChanceKind::Dice), 21);
    assert_eq!(count(ChanceKind::Lot), 2);
}

// ---- Rules 2 to 5: words of refusals ----

#[track_caller]
fn refused(with: Value, mv: Value, words: &str) {
    let mut game = read(json!({}), with);
    let before = written(&*game);
    let error = play(&mut *game, json!([mv])).expect_err("should be refused");
    assert!(error.contains(words), "{error}");
    assert_eq!(written(&*game), before);
}

#[test]
fn refusals_say_what_is_wrong() {
    let open = json!({"dice": [3, 1]});
    for (mv, words) in [
        (
            json!([[13, 9]]),
            "13/9 is 4 pips; each pair is the move of one die, and the dice are 3-1 (rule 2)",
        ),
        (
            json!([[8, 5]]),
            "both dice can be played; this play uses one (rule 4)",
        ),
        (
            json!([]),
            "both dice can be played; this play uses none (rule 4)",
        ),
        (json!([[12, 9], [6, 5]]), "the point 12 has no checker"),
        (
            json!([[24, 23], [24, 23], [8, 5]]),
            "3 checker moves, but the dice 3-1 give 2 (rule 2)",
        ),
        (
            json!([[8, 5], [13, 10]]),
            "13/10 takes a die that this play has used already; the dice are 3-1 (rule 2)",
        ),
        (json!([[5, 8], [6, 5]]), "5/8 does not move down"),
        (
            json!([[6, 0], [6, 5]]),
            "6/off takes a 6 or higher; the dice are 3-1 (rule 5)",
        ),
        (json!([[25, 22], [6, 5]]), "the bar has no checker"),
        (
            json!([[8, 5], [6, 5], [6, 5], [6, 5], [6, 5]]),
            "5 checker moves; a double gives four",
        ),
        (json!([[8, 5], [6]]), "a pair is [from, to]"),
        (json!([[8, 5], [6, 5.5]]), "a pair is [from, to]"),
        (json!([[26, 25], [6, 3]]), "a pair is [from, to]"),
        (json!("roll"), "a play is a list of [from, to] pairs"),
        (
            json!("double"),
            "a double is offered before the roll, not after it (rule 7)",
        ),
        (
            json!(7),
            "a play is a list of [from, to] pairs, such as [[8,5],[6,5]], not 7",
        ),
        (json!(null), "not null"),
        (json!({"move": 1}), "a play is a list of [from, to] pairs"),
        (
            json!({"resign": 4}),
            "resign is 1, 2 or 3 times the cube, not 4 (rule 11)",
        ),
        (json!({"resign": true}), "not true (rule 11)"),
    ] {
        refused(open.clone(), mv, words);
    }
    refused(
        json!({"dice": [5, 6]}),
        json!([[24, 19], [24, 18]]),
        "24/19 ends on a point that two or more opposing checkers hold (rule 2)",
    );
    refused(
        json!({"dice": [2, 2]}),
        json!([[13, 11], [13, 11], [6, 4]]),
        "4 moves of the double 2-2 can be played; this play has 3 (rule 4)",
    );
}

#[test]
fn refusals_of_entering_and_bearing_off_say_what_is_wrong() {
    let bar = side(&[(25, 1), (24, 1), (13, 5), (8, 3), (6, 5)]);
    refused(
        json!({"checkers": [bar, START], "dice": [3, 1]}),
        json!([[8, 5], [25, 24], [6, 5]]),
        "3 checker moves",
    );
    refused(
        json!({"checkers": [bar, START], "dice": [3, 1]}),
        json!([[8, 5], [6, 5]]),
        "with a checker on the bar, it must enter first (rule 3)",
    );
    let far = side(&[(13, 15)]);
    refused(
        json!({"checkers": [side(&[(1, 9), (6, 5), (7, 1)]), far], "dice": [6, 2]}),
        json!([[6, 0], [6, 4]]),
        "6/off: checkers are borne off only when all are in the home board, points 6 to 1 (rule 5)",
    );
    refused(
        json!({"checkers": [side(&[(0, 12), (1, 1), (4, 1), (6, 1)]), far], "dice": [5, 1]}),
        json!([[4, 0], [1, 0]]),
        "4/off: with no die for that point itself, a checker on a higher point must be moved (rule 5)",
    );
    let (own, other) = (
        side(&[(0, 12), (5, 2), (13, 1)]),
        side(&[(0, 11), (21, 2), (23, 2)]),
    );
    refused(
        json!({"checkers": [own, other], "dice": [6, 3]}),
        json!([[13, 10]]),
        "either die can be played but not both; the higher, the 6, must be (rule 4)",
    );
    let other = side(&[(0, 9), (18, 2), (21, 2), (23, 2)]);
    refused(
        json!({"checkers": [own, other], "dice": [6, 3]}),
        json!([]),
        "the 3 can be played, and must be (rule 4)",
    );
}

#[test]
fn a_play_counts_by_what_it_reaches() {
    let far = side(&[(13, 15)]);
    let last = json!({"checkers": [side(&[(0, 14), (6, 1)]), far], "dice": [6, 1]});
    let mut game = read(json!({}), last.clone());
    assert_eq!(legal(&mut *game), json!([[[6, 5], [5, 0]]]));
    for mv in [
        json!([[6, 0]]),
        json!([[6, 5], [5, 0]]),
        json!([[5, 0], [6, 5]]),
    ] {
        let mut game = read(json!({}), last.clone());
        play(&mut *game, json!([mv])).expect("the last checker is off");
        assert_eq!(ended(&*game), Some((0, 2, "mars")));
    }
    // With others left on 1 the play may stop short just the same, but not leave one more there.
    let more = json!({"checkers": [side(&[(0, 12), (6, 1), (1, 2)]), far], "dice": [6, 1]});
    play(&mut *read(json!({}), more.clone()), json!([[[6, 0]]])).expect("6/5/off reaches it too");
    play(
        &mut *read(json!({}), more.clone()),
        json!([[[6, 0], [1, 0]]]),
    )
    .expect("both dice");
    refused(
        more,
        json!([[6, 5]]),
        "both dice can be played; this play uses one (rule 4)",
    );
    // A blot on the way makes the two-dice play another one.
    let blot = side(&[(0, 1), (20, 1), (13, 13)]);
    let hit = json!({"checkers": [side(&[(0, 14), (6, 1)]), blot], "dice": [6, 1]});
    refused(
        hit,
        json!([[6, 0]]),
        "both dice can be played; this play uses one (rule 4)",
    );
}

#[test]
fn a_seat_without_a_play_passes() {
    let closed = side(&[(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (7, 3)]);
    let entering = side(&[(25, 1), (6, 14)]);
    let mut game = read(
        json!({}),
        json!({"checkers": [entering, closed], "dice": [6, 4]}),
    );
    assert_eq!(game.to_act(), ToAct::Pass(0));
    assert_eq!(game.count_legal(), 0);
    assert!(play(&mut *game, json!([[]])).is_err());
    let mut told = Vec::new();
    game.pass(&mut told);
    assert_eq!(told, br#"{"seat":0,"dice":[6,4],"move":[]}"#);
    assert_eq!(game.to_act(), ToAct::Seat(1, Ask::Cube));
}

// ---- Rules 7 and 8 ----

#[test]
fn a_double_is_taken_or_passed() {
    let mut game = read(json!({}), json!({}));
    assert_eq!(legal(&mut *game), json!(["roll", "double"]));
    play(&mut *game, json!(["double"])).expect("may double");
    assert_eq!(game.to_act(), ToAct::Seat(1, Ask::Take));
    assert_eq!(
        written(&*game)["cube"],
        json!({"value": 1, "owner": null, "offered": 2, "doubler": 0})
    );
    let mut passed = game.boxed_clone();
    play(&mut *passed, json!(["pass"])).expect("may pass");
    assert_eq!(ended(&*passed), Some((0, 1, "passed")));
    play(&mut *game, json!(["take"])).expect("may take");
    assert_eq!(written(&*game)["cube"], json!({"value": 2, "owner": 1}));
    assert_eq!(game.to_act(), dice_of(0));
    game.chance(Drawn::Dice([3, 1]));
    play(&mut *game, json!([[[8, 5], [6, 5]], "double", "take"])).expect("the owner redoubles");
    assert_eq!(written(&*game)["cube"], json!({"value": 4, "owner": 0}));
    assert_eq!(game.to_act(), dice_of(1));
}

#[test]
fn a_beaver_keeps_the_cube_and_a_raccoon_leaves_it_there() {
    let options = json!({"beavers": true, "raccoons": true});
    let mut game = read(options, json!({"cube": {"value": 2, "owner": 0}}));
    play(&mut *game, json!(["double", "beaver"])).expect("a beaver");
    assert_eq!(
        written(&*game)["cube"],
        json!({"value": 4, "owner": 1, "offered": 8, "doubler": 0})
    );
    assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Take));
    play(&mut *game, json!(["beaver"])).expect("a raccoon");
    let cube = json!({"value": 8, "owner": 1, "offered": 16, "doubler": 0});
    assert_eq!(written(&*game)["cube"], cube);
    assert_eq!(game.to_act(), ToAct::Seat(1, Ask::Take));
    assert_eq!(legal(&mut *game), json!(["take", "pass"]));
    let mut passed = game.boxed_clone();
    play(&mut *passed, json!(["pass"])).expect("may pass");
    assert_eq!(ended(&*passed), Some((0, 8, "passed")));
    let error = play(&mut *game, json!(["beaver"])).expect_err("the dialogue ends here");
    assert!(error.contains("take or pass (rule 8)"), "{error}");
    play(&mut *game, json!(["take"])).expect("may take");
    assert_eq!(written(&*game)["cube"], json!({"value": 16, "owner": 1}));
    assert_eq!(game.to_act(), dice_of(0));
}

#[test]
fn a_beaver_is_passed_at_the_value_that_the_take_had_set() {
    let mut game = read(json!({"beavers": true}), json!({}));
    play(&mut *game, json!(["double", "beaver"])).expect("a beaver");
    assert_eq!(legal(&mut *game), json!(["take", "pass"]));
    play(&mut *game, json!(["pass"])).expect("may pass");
    assert_eq!(ended(&*game), Some((1, 2, "passed")));
}

#[test]
fn the_cube_stops_where_the_options_say() {
    let options = json!({"beavers": true, "raccoons": true, "max_cube": 4});
    let mut game = read(options.clone(), json!({"cube": {"value": 2, "owner": 0}}));
    play(&mut *game, json!(["double"])).expect("to 4");
    assert_eq!(legal(&mut *game), json!(["take", "pass"]));
    let game = read(options.clone(), json!({"cube": {"value": 4, "owner": 0}}));
    assert_eq!(game.to_act(), dice_of(0));
    let mut game = read(options, json!({}));
    play(&mut *game, json!(["double", "beaver"])).expect("2, then 4");
    assert_eq!(legal(&mut *game), json!(["take", "pass"]));
    assert_eq!(
        read(json!({}), json!({"cube": {"value": 64, "owner": 0}})).to_act(),
        dice_of(0)
    );
    assert_eq!(read(json!({"max_cube": 1}), json!({})).to_act(), dice_of(0));
}

#[test]
fn who_may_double() {
    let cube = ToAct::Seat(0, Ask::Cube);
    let in_match = |score: [u32; 2], crawford: bool| json!({"score": score, "length": 5, "crawford": crawford});
    assert_eq!(
        read(json!({}), json!({"cube": {"value": 2, "owner": 1}})).to_act(),
        dice_of(0)
    );
    assert_eq!(read(json!({"cube": false}), json!({})).to_act(), dice_of(0));
    assert_eq!(read(json!({}), in_match([4, 2], true)).to_act(), dice_of(0));
    assert_eq!(read(json!({}), in_match([1, 4], true)).to_act(), dice_of(0));
    // After the Crawford game, and where a double cannot gain anything.
    assert_eq!(read(json!({}), in_match([4, 2], false)).to_act(), cube);
    assert_eq!(read(json!({}), in_match([4, 4], false)).to_act(), cube);
}

#[test]
fn beavers_are_for_money_only() {
    for (options, length, allowed) in [
        (json!({"beavers": true}), 0, true),
        (json!({"beavers": true}), 5, false),
        (json!({"raccoons": true}), 0, false),
    ] {
        let mut game = read(options, json!({"length": length}));
        play(&mut *game, json!(["double"])).expect("may double");
        assert_eq!(play(&mut *game, json!(["beaver"])).is_ok(), allowed);
    }
}

// ---- Rule 9 ----

fn won(winner: Seat, points: u32) -> Outcome {
    Outcome::win(winner, score::points_of(winner, points), "borne_off")
}

#[test]
fn the_first_game_in_which_a_seat_needs_one_point_is_the_crawford_game() {
    let crawford = |options: Value, played: &[Outcome]| {
        let setup = Setup {
            played,
            ..Setup::SINGLE
        };
        written(&*rules(options).start(&setup))["crawford"] == true
    };
    let to_three = json!({"match_length": 3});
    assert!(!crawford(to_three.clone(), &[]));
    assert!(!crawford(to_three.clone(), &[won(0, 1)]));
    assert!(crawford(to_three.clone(), &[won(0, 2)]));
    assert!(crawford(to_three.clone(), &[won(0, 1), won(1, 2)]));
    assert!(!crawford(to_three.clone(), &[won(0, 2), won(1, 1)]));
    assert!(!crawford(to_three.clone(), &[won(0, 2), won(1, 2)]));
    assert!(crawford(json!({"match_length": 1}), &[]));
    assert!(!crawford(
        json!({"match_length": 3, "crawford": false}),
        &[won(0, 2)]
    ));
    assert!(!crawford(json!({"games": 3}), &[won(0, 2)]));
}

#[test]
fn jacoby_counts_gammons_only_with_a_turned_cube() {
    let loser = side(&[(6, 14), (19, 1)]);
    let sides = json!([side(&[(0, 14), (1, 1)]), loser]);
    let points = |options: Value, with: Value| {
        let mut with = with;
        with["checkers"] = sides.clone();
        with["dice"] = json!([2, 1]);
        let mut game = read(options, with);
        play(&mut *game, json!([[[1, 0]]])).expect("the last checker");
        ended(&*game)
    };
    let jacoby = json!({"jacoby": true});
    assert_eq!(points(jacoby.clone(), json!({})), Some((0, 1, "borne_off")));
    let turned = json!({"cube": {"value": 2, "owner": 0}});
    assert_eq!(
        points(jacoby.clone(), turned),
        Some((0, 6, "katmerli_mars"))
    );
    assert_eq!(
        points(jacoby, json!({"length": 5})),
        Some((0, 3, "katmerli_mars"))
    );
    assert_eq!(points(json!({}), json!({})), Some((0, 3, "katmerli_mars")));
}

#[test]
fn the_lower_pip_count_wins_at_the_last_ply() {
    let options = json!({"max_plies": 1});
    let ahead = json!([side(&[(13, 15)]), side(&[(10, 15)])]);
    let mut game = read(
        options.clone(),
        json!({"checkers": ahead, "dice": [2, 1], "cube": {"value": 4, "owner": 1}}),
    );
    play(&mut *game, json!([[[13, 11], [13, 12]]])).expect("a legal play");
    assert_eq!(ended(&*game), Some((1, 4, "ply_cap")));
    let even = json!([side(&[(13, 15)]), side(&[(0, 3), (16, 12)])]);
    let mut game = read(options, json!({"checkers": even, "dice": [2, 1]}));
    play(&mut *game, json!([[[13, 11], [13, 12]]])).expect("a legal play");
    let lot = Chance {
        kind: ChanceKind::Lot,
        seat: None,
    };
    assert_eq!(game.to_act(), ToAct::Chance(lot));
    game.chance(Drawn::Lot(1));
    assert_eq!(ended(&*game), Some((1, 1, "ply_cap")));
}

// ---- Rules 10 and 11 ----

#[track_caller]
fn forfeits(options: Value, with: Value, seat: Seat, points: u32) {
    let outcome = read(options, with).forfeit(seat);
    assert_eq!(outcome.winner, Some(1 - seat));
    assert_eq!(outcome.points, score::points_of(1 - seat, points));
    assert_eq!(outcome.reason, "forfeit");
}

#[test]
fn a_forfeit_pays_by_the_board() {
    let (none, begun) = (side(&[(6, 15)]), side(&[(0, 1), (6, 14)]));
    let caught = side(&[(6, 14), (22, 1)]);
    let sides = |seat0: Points, seat1: Points| json!({"checkers": [seat0, seat1]});
    forfeits(json!({}), json!({}), 0, 2);
    forfeits(json!({}), sides(begun, side(&[(13, 15)])), 0, 1);
    forfeits(json!({}), sides(begun, none), 1, 2);
    forfeits(json!({}), sides(begun, caught), 1, 3);
    forfeits(json!({}), sides(begun, side(&[(6, 14), (25, 1)])), 1, 3);
    forfeits(json!({}), sides(none, caught), 1, 2);
    forfeits(json!({"jacoby": true}), sides(begun, caught), 1, 1);
    let cube = json!({"checkers": [begun, caught], "cube": {"value": 2, "owner": 0}});
    forfeits(json!({"jacoby": true}), cube, 1, 6);
    // An offer that is not yet taken does not count; a beaver has taken the double before.
    let offer = json!({"turn": 1, "cube": {"offered": 2, "doubler": 0}});
    forfeits(json!({}), offer, 1, 2);
    let beaver = json!({"cube": {"value": 2, "owner": 1, "offered": 4, "doubler": 0}});
    forfeits(json!({"beavers": true}), beaver, 0, 4);
}

#[test]
fn a_resignation_answers_any_question_once() {
    let offer = json!({"turn": 1, "cube": {"value": 2, "owner": 0, "offered": 4, "doubler": 0}});
    for (with, ask) in [
        (json!({"turn": 1, "dice": [3, 1]}), Ask::Move),
        (json!({"turn": 1}), Ask::Cube),
        (offer, Ask::Take),
    ] {
        let mut game = read(json!({}), with);
        assert_eq!(game.to_act(), ToAct::Seat(1, ask));
        let before = (written(&*game), legal(&mut *game));
        play(&mut *game, json!([{"resign": 2}])).expect("may offer to resign");
        assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Resign));
        assert_eq!(legal(&mut *game), json!(["accept", "refuse"]));
        let error = play(&mut *game, json!([{"resign": 1}])).expect_err("accept or refuse");
        assert!(
            error.contains("\"accept\" or \"refuse\" (rule 11)"),
            "{error}"
        );
        play(&mut *game, json!(["refuse"])).expect("may refuse");
        let mut expected = before.0;
        expected["refused"] = json!(true);
        assert_eq!(written(&*game), expected);
        assert_eq!(game.to_act(), ToAct::Seat(1, ask));
        assert_eq!(legal(&mut *game), before.1);
        let error = play(&mut *game, json!([{"resign": 3}])).expect_err("once a question");
        assert!(error.contains("the resignation was refused"), "{error}");
        let first = before.1[0].clone();
        play(&mut *game, json!([first])).expect("the question is answered");
        assert_eq!(written(&*game).get("refused"), None);
    }
}

#[test]
fn a_resignation_pays_as_offered() {
    let jacoby = json!({"jacoby": true});
    let mut game = read(jacoby, json!({"dice": [3, 1]}));
    play(&mut *game, json!([{"resign": 3}, "accept"])).expect("accepted");
    assert_eq!(ended(&*game), Some((1, 3, "resigned")));
    // Asked about a double, a seat resigns at the value before it.
    let offer = json!({"turn": 1, "cube": {"value": 2, "owner": 0, "offered": 4, "doubler": 0}});
    let mut game = read(json!({}), offer);
    play(&mut *game, json!([{"resign": 1.0}, "accept"])).expect("accepted");
    assert_eq!(ended(&*game), Some((0, 2, "resigned")));
    assert_eq!(
        play(&mut *game, json!(["take"])),
        Err("the game is over".into())
    );
}

#[test]
fn nobody_resigns_where_nothing_is_asked() {
    let mut game = read(json!({"cube": false}), json!({}));
    assert!(play(&mut *game, json!([{"resign": 1}])).is_err());
}

// ---- States and options ----

#[test]
fn a_state_that_cannot_be_is_refused_in_words() {
    let full = || side(&[(6, 15)]);
    for (with, words) in [
        (
            json!({"checkers": [side(&[(6, 14)]), START]}),
            "seat 0 has 14 checkers; each seat has 15",
        ),
        (json!({"checkers": [START]}), "checkers are two lists"),
        (json!({"checkers": [START, [15]]}), "checkers are two lists"),
        (
            json!({"checkers": [side(&[(6, 15)]), side(&[(19, 15)])]}),
            "seat 0's 6 is seat 1's 19",
        ),
        (
            json!({"checkers": [side(&[(0, 15)]), side(&[(0, 15)])]}),
            "only one can have won",
        ),
        (json!({"dice": [0, 1]}), "dice are two numbers from 1 to 6"),
        (json!({"dice": [3]}), "dice are two numbers from 1 to 6"),
        (json!({"turn": 2}), "`turn` is a seat, 0 or 1, not 2"),
        (json!({"turn": null}), "`turn` is a whole number, not null"),
        (json!({"crawford": null}), "`crawford`, true or false"),
        (json!({"crawford": 1}), "`crawford` is true or false, not 1"),
        (json!({"length": -1}), "`length` is a whole number, not -1"),
        (json!({"score": [1]}), "score is two numbers of points"),
        (
            json!({"score": [5, 0], "length": 5}),
            "a match to 5 points is over at 5-0",
        ),
        (
            json!({"score": [3, 0], "length": 5, "crawford": true}),
            "the Crawford game is the first",
        ),
        (
            json!({"score": [4, 4], "length": 5, "crawford": true}),
            "the Crawford game is the first",
        ),
        (json!({"crawford": true}), "the Crawford game is the first"),
        (json!({"cube": {"value": 3, "owner": 0}}), "no power of two"),
        (json!({"cube": {"value": 0}}), "no power of two"),
        (
            json!({"cube": {"value": 2}}),
            "a cube at 1 is in the middle",
        ),
        (
            json!({"cube": {"owner": 1}}),
            "a cube at 1 is in the middle",
        ),
        (
            json!({"cube": {"value": 128, "owner": 1}}),
            "it stops at 64",
        ),
        (
            json!({"cube": {"value": 64, "owner": 1, "offered": 128, "doubler": 1}}),
            "stops at 64",
        ),
        (
            json!({"cube": {"offered": 4, "doubler": 0}, "turn": 1}),
            "a double of 1 is at 2",
        ),
        (
            json!({"cube": {"offered": 2}, "turn": 1}),
            "cube has no field `doubler`",
        ),
        (
            json!({"cube": {"doubler": 0}, "turn": 1}),
            "cube.doubler without cube.offered",
        ),
        (
            json!({"cube": {"offered": 2, "doubler": 0}}),
            "seat 0 cannot be asked",
        ),
        (
            json!({"cube": {"value": 2, "owner": 1, "offered": 4, "doubler": 0}}),
            "cannot be asked",
        ),
        (
            json!({"cube": {"offered": 2, "doubler": 0}, "turn": 1, "dice": [3, 1]}),
            "dice must be null",
        ),
        (
            json!({"length": 1, "crawford": true, "cube": {"value": 2, "owner": 1}}),
            "stops at 1",
        ),
        (
            json!({"resign": {"by": 0, "times": 1}, "dice": [3, 1]}),
            "the turn is the other seat's",
        ),
        (
            json!({"resign": {"by": 1, "times": 4}}),
            "resign.times is 1, 2 or 3, not 4",
        ),
        (json!({"resign": {"by": 1}}), "resign has no field `times`"),
        (
            json!({"resign": {"by": 1, "times": 1}, "refused": true}),
            "cannot offer to resign again",
        ),
        (
            json!({"resign": {"by": 1, "times": 1}, "cube": {"value": 2, "owner": 0}}),
            "is asked nothing",
        ),
        (
            json!({"refused": true, "cube": {"value": 2, "owner": 1}}),
            "is asked nothing",
        ),
        (json!({"refused": "yes"}), "`refused` is true or false"),
        (
            json!({"checkers": [side(&[(0, 15)]), full()], "refused": true}),
            "no question can be open",
        ),
    ] {
        let state = state(with);
        let error = rules(json!({}))
            .read(&state)
            .map(|_| ())
            .expect_err(&state.to_string());
        assert!(error.contains(words), "{state}: {error}");
    }
    for key in [
        "checkers", "dice", "cube", "score", "length", "crawford", "turn",
    ] {
        let mut state = state(json!({}));
        state.as_object_mut().expect("an object").remove(key);
        assert!(rules(json!({})).read(&state).is_err(), "without {key}");
    }
    for state in [json!(null), json!([]), json!("start")] {
        assert!(rules(json!({})).read(&state).is_err());
    }
}

#[test]
fn a_state_may_write_whole_numbers_as_floats() {
    let game = read(
        json!({}),
        json!({"dice": [3.0, 1.0], "turn": 1.0, "score": [2.0, 0]}),
    );
    assert_eq!(game.to_act(), ToAct::Seat(1, Ask::Move));
}

#[test]
fn impossible_options_are_named() {
    let tavla = game::find("tavla").expect("Tavla is registered");
    for (key, value) in [
        ("match_length", json!(1001)),
        ("match_length", json!(-1)),
        ("games", json!(0)),
        ("max_cube", json!(48)),
        ("max_cube", json!(0)),
        ("max_plies", json!(0)),
        ("jacoby", json!("yes")),
        ("crawfords", json!(true)),
    ] {
        let given = Map::from_iter([(key.to_owned(), value.clone())]);
        let error = tavla.rules(&given).map(|_| ()).expect_err(key);
        assert_eq!(error.key, key, "{value}");
    }
}

#[test]
fn the_board_is_drawn_from_seat_0() {
    let game = read(
        json!({}),
        json!({"dice": [3, 1], "score": [2, 0], "length": 5}),
    );
    insta::assert_snapshot!(game.board(), @r"
    seat 1 (o): 167 pips, 0 off
     13 14 15 16 17 18   |bar| 19 20 21 22 23 24
      x  .  .  .  o  .   |   |  o  .  .  .  .  x
      x  .  .  .  o  .   |   |  o  .  .  .  .  x
      x  .  .  .  o  .   |   |  o  .  .  .  .  .
      x  .  .  .  .  .   |   |  o  .  .  .  .  .
      x  .  .  .  .  .   |   |  o  .  .  .  .  .
                         |   |
      o  .  .  .  .  .   |   |  x  .  .  .  .  .
      o  .  .  .  .  .   |   |  x  .  .  .  .  .
      o  .  .  .  x  .   |   |  x  .  .  .  .  .
      o  .  .  .  x  .   |   |  x  .  .  .  .  o
      o  .  .  .  x  .   |   |  x  .  .  .  .  o
     12 11 10  9  8  7   |bar|  6  5  4  3  2  1
    seat 0 (x): 167 pips, 0 off
    cube 1 in the middle; 2-0 in a match to 5; seat 0 has 3-1
    ");
}
