use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

fn options(given: Value) -> DokuztasOptions {
    serde_json::from_value(given).expect("options")
}

/// A position without stones in hand; the points are words between blanks.
fn moving(mine: &str, theirs: &str, turn: Seat) -> Dokuztas {
    with(json!({}), state(mine, theirs, [0, 0], turn))
}

fn state(mine: &str, theirs: &str, in_hand: [u8; 2], turn: Seat) -> Value {
    let list = |text: &str| text.split_whitespace().map(Value::from).collect::<Vec<_>>();
    json!({"stones": [list(mine), list(theirs)], "in_hand": in_hand, "turn": turn})
}

fn with(rules: Value, state: Value) -> Dokuztas {
    Dokuztas::read(&options(rules), &state).unwrap_or_else(|why| panic!("{state}: {why}"))
}

fn written(mv: &DokuztasMove) -> Value {
    serde_json::to_value(mv).expect("JSON")
}

/// A move as words: `d6`, `d6-f6`, with `xa1` behind where it takes.
fn mv(text: &str) -> DokuztasMove {
    let point = |name: &str| board::named(name).unwrap_or_else(|| panic!("{text}"));
    let (way, take) = match text.split_once('x') {
        Some((way, take)) => (way, point(take)),
        None => (text, NOWHERE),
    };
    match way.split_once('-') {
        Some((from, to)) => DokuztasMove::new(point(from), point(to), take),
        None => DokuztasMove::new(NOWHERE, point(way), take),
    }
}

fn played(mut game: Dokuztas, text: &str) -> Dokuztas {
    game.apply(&mv(text))
        .unwrap_or_else(|why| panic!("{text}: {why}"));
    game
}

fn refused(game: &Dokuztas, text: &str) -> String {
    let mut tried = *game;
    let refusal = tried.apply(&mv(text)).expect_err(text);
    assert_eq!(tried, *game, "a refused move changes nothing");
    refusal.message
}

fn legal(game: &Dokuztas) -> Vec<DokuztasMove> {
    let mut moves = vec![mv("a1")];
    game.legal(&mut moves);
    moves
}

/// Winner and reason.
fn ended(game: &Dokuztas) -> Option<(Option<Seat>, &'static str)> {
    game.outcome()
        .map(|outcome| (outcome.winner, outcome.reason))
}

fn start() -> Dokuztas {
    Dokuztas::start(&DokuztasOptions::default(), &Setup::SINGLE)
}

// ---- Rules 1 to 3 ---------------------------------------------------------------------------------------------------

#[test]
fn rule_1_stones_are_placed_in_turn_until_each_seat_has_none_in_hand() {
    let mut game = start();
    // No three of these are in line.
    let places = "a7 d7 b6 d6 e5 c5 g4 f4 c3 e3 d2 b2 g1 a1 a4 b4 e4 f2";
    for (ply, to) in places.split_whitespace().enumerate() {
        assert_eq!(game.to_act(), ToAct::Seat(ply % 2, Ask::Move));
        let empty = legal(&game).into_iter().map(DokuztasMove::to);
        assert_eq!(empty.collect::<BTreeSet<_>>().len(), 24 - ply);
        game = played(game, to);
    }
    assert_eq!((game.in_hand, game.quiet), ([0, 0], 0));
    assert!(legal(&game).iter().all(|mv| mv.from().is_some()));
}

#[test]
fn rule_1_no_stone_moves_before_its_seat_has_placed_all() {
    let game = with(json!({}), state("d6 a1", "g7 b4 f2", [1, 0], 0));
    assert!(refused(&game, "d6-d7").contains("1 of 9 stones to place"));
    // The other seat has placed all of its own and moves, whatever its opponent still holds.
    let game = with(json!({}), state("d6 a1", "g7 b4 f2", [1, 0], 1));
    assert!(legal(&game).iter().all(|mv| mv.from().is_some()));
    assert!(refused(&game, "d7").contains("all your stones are placed"));
}

#[test]
fn rule_2_a_stone_moves_to_a_neighbour() {
    let game = moving("a7 d6 g4 b2 e3", "d7 b6 f4 c5 a1", 0);
    let moves: Vec<Value> = legal(&game).iter().map(written).collect();
    let from_a7: Vec<&Value> = moves.iter().filter(|mv| mv["from"] == "a7").collect();
    assert_eq!(from_a7, [&json!({"from": "a7", "to": "a4"})]);
    assert!(refused(&game, "a7-g7").contains("not neighbours"));
    // The squares are not joined at their corners, and nothing crosses the middle.
    assert!(refused(&game, "e3-f2").contains("not neighbours"));
    assert!(refused(&game, "a7-d7").contains("d7 is not empty"));
    assert!(refused(&game, "b6-b4").contains("no stone of yours on b6"));
    assert!(refused(&game, "g7-g4").contains("no stone of yours on g7"));
}

#[test]
fn rule_2_a_seat_with_three_stones_goes_anywhere_and_one_with_four_does_not() {
    let three = moving("a7 d6 g4", "d7 b6 f4 c5 a1", 0);
    assert_eq!(legal(&three).len(), 3 * 16);
    assert_eq!(
        played(three, "a7-g1").stones[0],
        mv_set(&["d6", "g4", "g1"])
    );
    let four = moving("a7 d6 g4 b2", "d7 b6 f4 c5 a1", 0);
    assert!(refused(&four, "a7-g1").contains("three stones"));
    // Three on the board and one in hand are four: it has to be placed.
    let placing = with(json!({}), state("a7 d6 g4", "d7 b6 f4 c5 a1", [1, 0], 0));
    assert_eq!(legal(&placing).len(), 16);
}

fn mv_set(names: &[&str]) -> Points {
    names
        .iter()
        .fold(0, |set, name| set | board::bit(mv(name).to()))
}

#[test]
fn rule_3_a_mill_takes_one_stone_and_names_it() {
    let game = with(json!({}), state("a7 d7", "b6 f4", [7, 7], 0));
    let after = played(game, "g7xf4");
    assert_eq!((after.stones[1], after.in_hand), (mv_set(&["b6"]), [6, 7]));
    assert_eq!(
        refused(&game, "g7"),
        "this completes a mill: name the stone to take (rule 3)"
    );
    assert!(refused(&game, "g4xb6").contains("no mill"));
    assert!(refused(&game, "g7xa7").contains("no stone of the opponent on a7"));
    assert!(refused(&game, "g7xa1").contains("no stone of the opponent on a1"));
}

#[test]
fn rule_3_two_mills_at_once_take_one_stone() {
    let game = with(json!({}), state("d7 g7 a4 a1", "b6 f4 c3 d2", [5, 5], 0));
    let takes: Vec<DokuztasMove> = legal(&game)
        .into_iter()
        .filter(|step| step.to() == mv("a7").to())
        .collect();
    assert_eq!(takes.len(), 4);
    assert_eq!(played(game, "a7xb6").stones[1].count_ones(), 3);
}

#[test]
fn rule_3_only_the_stone_just_moved_completes_a_mill() {
    // The mill a7-d7-g7 stands; another stone moves beside it and takes nothing.
    let game = moving("a7 d7 g7 b2 f2", "b6 f4 c3 e5", 0);
    assert_eq!(played(game, "b2-b4").stones[1].count_ones(), 4);
    assert!(refused(&game, "b2-b4xb6").contains("no mill"));
    // A stone that moves along its own line leaves the line open.
    let open = moving("a7 d7 a1 f2", "b6 f4 c3 e5", 0);
    assert_eq!(played(open, "d7-g7").stones[1].count_ones(), 4);
}

#[test]
fn rule_3_opening_a_mill_and_closing_it_takes_again() {
    let game = moving("a7 d7 g7 b2", "b6 f4 c3 e5 d1", 0);
    let open = played(played(game, "g7-g4"), "d1-g1");
    let closed = played(open, "g4-g7xg1");
    let again = played(played(played(closed, "b6-b4"), "g7-g4"), "b4-a4");
    assert_eq!(played(again, "g4-g7xa4").stones[1].count_ones(), 3);
}

#[test]
fn rule_3_a_diagonal_three_and_a_line_across_the_middle_are_no_mills() {
    let game = with(json!({}), state("a7 b6 b4 e4", "d7 f4 c3", [5, 5], 0));
    assert_eq!(played(game, "c5").stones[1].count_ones(), 3);
    assert_eq!(played(game, "c4").stones[1].count_ones(), 3);
}

// ---- Rule 4 ---------------------------------------------------------------------------------------------------------

/// Three in a mill and perhaps one outside, against a seat that can complete a mill with g4-g7.
fn mill_stones(word: &str, outside: &str) -> Dokuztas {
    let theirs = format!("b6 d6 f6 {outside}");
    let state = state("a7 d7 g4 f4 b2", &theirs, [0, 3], 0);
    with(json!({"mill_stones": word}), state)
}

#[test]
fn rule_4_protected_stones_are_taken_only_if_there_is_no_other() {
    let game = mill_stones("protected", "c3");
    let words = refused(&game, "g4-g7xb6");
    assert!(
        words.contains("b6 is in a mill") && words.ends_with("but c3 may"),
        "{words}"
    );
    assert_eq!(played(game, "g4-g7xc3").left(1), 6);
    // Stones in hand are no other: those on the board are all in the mill.
    assert_eq!(played(mill_stones("protected", ""), "g4-g7xd6").left(1), 5);
}

#[test]
fn rule_4_immune_stones_are_never_taken_and_the_mill_may_be_in_vain() {
    let game = mill_stones("immune", "c3");
    assert!(refused(&game, "g4-g7xb6").contains("b6 is in a mill"));
    assert!(refused(&game, "g4-g7").contains("name the stone"));
    assert_eq!(played(game, "g4-g7xc3").left(1), 6);
    let all = mill_stones("immune", "");
    assert!(refused(&all, "g4-g7xd6").contains("takes nothing"));
    let after = played(all, "g4-g7");
    assert_eq!((after.left(1), after.quiet), (6, 1), "nothing was taken");
}

#[test]
fn rule_4_takeable_stones_are_taken_wherever_they_stand() {
    for take in ["b6", "c3"] {
        let game = mill_stones("takeable", "c3");
        assert_eq!(played(game, &format!("g4-g7x{take}")).left(1), 6);
    }
}

#[test]
fn rule_4_a_mill_against_an_empty_board_takes_nothing() {
    // Not reached in play, but a state may say so: all of the opponent's stones are in its hand.
    let game = with(json!({}), state("a7 d7", "", [7, 9], 0));
    let after = played(game, "g7");
    assert_eq!(
        (after.left(1), after.to_act()),
        (9, ToAct::Seat(1, Ask::Move))
    );
}

// ---- Rule 5 ---------------------------------------------------------------------------------------------------------

#[test]
fn rule_5_two_stones_have_lost() {
    let game = played(moving("a7 d7 g4 f4", "b6 d6 c3", 0), "g4-g7xc3");
    assert_eq!(ended(&game), Some((Some(0), "two_stones")));
    assert_eq!(
        game.outcome().map(|outcome| outcome.points),
        Some(vec![4, 2])
    );
    assert!(legal(&game).is_empty());
    assert_eq!(refused(&game, "b6-b4"), "the game is over");
}

#[test]
fn rule_5_stones_in_hand_count() {
    let game = with(json!({}), state("a7 d7 g4", "b6 d6 c3", [2, 1], 0));
    assert_eq!(ended(&played(game, "g7xc3")), None);
}

#[test]
fn rule_5_a_seat_that_cannot_move_has_lost() {
    let game = moving("a7 d7 a4 g7", "b4 d6 a1 f4 b6", 1);
    let over = played(game, "f4-g4");
    assert_eq!(ended(&over), Some((Some(1), "blocked")));
    // With three stones it would fly.
    assert_eq!(ended(&moving("a7 d7 a4", "b4 d6 a1 g7 b6", 0)), None);
    // A seat that is not on turn may be stuck, and so may one that places.
    assert_eq!(ended(&moving("a7 d7 a4 g7", "b4 d6 a1 g4 b6", 1)), None);
    let placing = state("a7 d7 a4 g7", "b4 d6 a1 g4 b6", [1, 0], 0);
    assert_eq!(ended(&with(json!({}), placing)), None);
}

// ---- Rule 6 ---------------------------------------------------------------------------------------------------------

const MINUTE: u64 = 60_000_000;

#[test]
fn rule_6_okul_counts_after_twenty_minutes() {
    let mut game = with(
        json!({"preset": "okul"}),
        state("a7 d6 g4 b2", "d7 b6 f4", [0, 0], 0),
    );
    game.charged(20 * MINUTE - 1);
    assert_eq!(ended(&game), None);
    game.charged(20 * MINUTE);
    assert_eq!(ended(&game), Some((Some(0), "time")));
    // Equal numbers are a draw, which is played over.
    let equal = state("a7 d6 g4 b2", "d7 b6 f4 c5", [0, 0], 0);
    let mut game = with(json!({"preset": "okul"}), equal);
    game.charged(20 * MINUTE);
    assert_eq!(ended(&game), Some((None, "time")));
    let outcome = game.outcome().expect("over");
    assert!(Dokuztas::plays_over(&game.options, &outcome, 0));
}

#[test]
fn rule_6_okul_draws_by_lot_after_ten_minutes_without_a_capture() {
    let full = state("a7 d6 g4 b2", "d7 b6 f4 c5", [5, 5], 0);
    let mut game = with(json!({"preset": "okul"}), full.clone());
    game.charged(10 * MINUTE - 1);
    assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Move));
    game.charged(10 * MINUTE);
    let ToAct::Chance(chance) = game.to_act() else {
        panic!("{game:?}")
    };
    assert_eq!((chance.kind, chance.seat), (ChanceKind::Lot, None));
    assert!(refused(&game, "g7").contains("lot"));
    for (seat, drawn) in game.chances(chance).into_iter().enumerate() {
        let mut drawn_game = game;
        drawn_game.chance(drawn);
        assert_eq!(ended(&drawn_game), Some((Some(seat), "lot")));
    }
    // One stone taken, and the game goes on to its twenty minutes.
    let taken = state("a7 d6 g4 b2", "d7 b6 f4 c5", [5, 4], 0);
    let mut game = with(json!({"preset": "okul"}), taken);
    game.charged(20 * MINUTE - 1);
    assert_eq!(ended(&game), None);
    // Both times at once: what was due first.
    let mut game = with(json!({"preset": "okul"}), full.clone());
    game.charged(21 * MINUTE);
    assert!(matches!(game.to_act(), ToAct::Chance(_)));
    let late = json!({"preset": "okul", "lot_time_ms": 1_260_000});
    let mut game = with(late, full);
    game.charged(21 * MINUTE);
    assert_eq!(ended(&game), Some((None, "time")));
}

#[test]
fn rule_6_a_game_that_is_over_or_waits_for_its_lot_has_no_time() {
    let rules = json!({"game_time_ms": 1, "on_equal": "lot", "no_capture_plies": 3});
    let over = state("a7 d7 g4 f4", "b6 d6", [0, 0], 0);
    let mut game = with(rules.clone(), over);
    game.charged(MINUTE);
    assert_eq!(ended(&game), Some((Some(0), "two_stones")));
    let mut equal = state("a7 d6 g4 b2", "d7 b6 f4 c5", [0, 0], 0);
    equal["quiet"] = json!(3);
    let mut game = with(rules, equal);
    game.charged(MINUTE);
    game.chance(Drawn::Lot(1));
    assert_eq!(ended(&game), Some((Some(1), "lot")));
    // Chance that is not due does nothing.
    game.chance(Drawn::Lot(0));
    assert_eq!(ended(&game), Some((Some(1), "lot")));
}

#[test]
fn rule_6_only_okul_prescribes_a_clock() {
    let clock = |given| Dokuztas::clock_defaults(&options(given));
    let three_minutes = ClockDefaults {
        main_us: None,
        move_us: Some(3 * MINUTE),
    };
    assert_eq!(clock(json!({"preset": "okul"})), Some(three_minutes));
    assert_eq!(clock(json!({"preset": "sivas"})), None);
    assert_eq!(clock(json!({"game_time_ms": 1_200_000})), None);
}

// ---- Rule 7 ---------------------------------------------------------------------------------------------------------

/// After the last quiet ply with these options, five stones against four or four against four.
fn quiet(rules: Value, equal: bool) -> Dokuztas {
    let mine = if equal {
        "a7 d6 g4 b2"
    } else {
        "a7 d6 g4 b2 e3"
    };
    let mut state = state(mine, "d7 b6 f4 c5", [0, 0], 0);
    state["quiet"] = json!(199);
    played(with(rules, state), "d6-f6")
}

#[test]
fn rule_7_quiet_plies_end_the_game_and_more_stones_win() {
    assert_eq!(
        ended(&quiet(json!({}), false)),
        Some((Some(0), "no_capture"))
    );
    assert_eq!(ended(&quiet(json!({"no_capture_plies": 201}), false)), None);
    assert_eq!(ended(&quiet(json!({"no_capture_plies": 0}), false)), None);
}

#[test]
fn rule_7_equal_stones_are_a_draw_a_restart_or_a_lot() {
    let draw = Some((None, "no_capture"));
    assert_eq!(ended(&quiet(json!({}), true)), draw);
    let restart = quiet(json!({"on_equal": "restart"}), true);
    assert_eq!(ended(&restart), draw);
    let lot = quiet(json!({"on_equal": "lot"}), true);
    assert!(matches!(lot.to_act(), ToAct::Chance(_)));
    assert_eq!(ended(&lot), None);
}

#[test]
fn rule_7_a_restart_is_begun_by_the_other_seat_at_most_three_times() {
    let draw = quiet(json!({}), true).outcome().expect("over");
    let won = quiet(json!({}), false).outcome().expect("over");
    let restart = options(json!({"on_equal": "restart"}));
    let times = |outcome: &Outcome, options: &DokuztasOptions| {
        (0..9)
            .filter(|&again| Dokuztas::plays_over(options, outcome, again))
            .count()
    };
    assert_eq!(times(&draw, &restart), 3);
    assert_eq!(times(&won, &restart), 0);
    assert_eq!(times(&start().forfeit(0), &restart), 0);
    assert_eq!(times(&draw, &options(json!({}))), 0);
    assert_eq!(times(&draw, &options(json!({"on_equal": "lot"}))), 0);
    for (again, first) in [(0, 1), (1, 0), (2, 1), (3, 0)] {
        let setup = Setup {
            lot: 1,
            again,
            ..Setup::SINGLE
        };
        let game = Dokuztas::start(&restart, &setup);
        assert_eq!((game.seat(), u32::from(game.restarts)), (first, again));
    }
}

#[test]
fn rule_7_a_capture_begins_the_count_anew_and_placing_leaves_it() {
    let mut taking = state("a7 d7 g4 f4", "b6 d6 c3 e5", [0, 0], 0);
    taking["quiet"] = json!(150);
    assert_eq!(played(with(json!({}), taking.clone()), "g4-g7xc3").quiet, 0);
    assert_eq!(played(with(json!({}), taking), "g4-g1").quiet, 151);
    let mut placing = state("a7 d7 g4 f4", "b6 d6 c3 e5", [1, 0], 0);
    placing["quiet"] = json!(7);
    assert_eq!(played(with(json!({}), placing.clone()), "g1").quiet, 7);
    assert_eq!(played(with(json!({}), placing), "g7xc3").quiet, 0);
}

#[test]
fn rule_7_max_plies_end_the_game_likewise() {
    let rules = json!({"no_capture_plies": 0, "max_plies": 4});
    let mut game = Dokuztas::start(&options(rules), &Setup::SINGLE);
    for to in ["a7", "d7", "b6"] {
        game = played(game, to);
        assert_eq!(ended(&game), None);
    }
    assert_eq!(ended(&played(game, "d6")), Some((None, "no_capture")));
    // The quiet plies that a state tells of are among them.
    let mut late = state("a7 d6 g4 b2 e3", "d7 b6 f4 c5", [0, 0], 0);
    late["quiet"] = json!(1999);
    let game = with(json!({"no_capture_plies": 0}), late);
    assert_eq!(ended(&played(game, "d6-f6")), Some((Some(0), "no_capture")));
}

#[test]
fn rule_7_a_last_quiet_move_that_blocks_wins() {
    let mut state = state("a7 d7 a4 g7 c5", "b4 d6 a1 f4 b6 d5 c4", [0, 0], 1);
    state["quiet"] = json!(199);
    let over = played(with(json!({}), state), "f4-g4");
    assert_eq!(ended(&over), Some((Some(1), "blocked")));
}

// ---- Messages -------------------------------------------------------------------------------------------------------

#[test]
fn a_forfeit_keeps_the_stones_where_they_are() {
    let game = with(json!({}), state("a7 d6", "d7", [7, 8], 0));
    let outcome = game.forfeit(0);
    assert_eq!((outcome.winner, outcome.points), (Some(1), vec![9, 9]));
}

#[test]
fn moves_are_read_in_any_form_that_means_them() {
    let read = |answer: Value| start().parse(&answer);
    assert_eq!(read(json!({"to": "d2"})), Ok(mv("d2")));
    assert_eq!(
        read(json!({"take": "d6", "to": "a4", "from": "a7"})),
        Ok(mv("a7-a4xd6"))
    );
    let nulls = json!({"to": "d2", "from": null, "take": null, "why": "it looks good"});
    assert_eq!(read(nulls), Ok(mv("d2")));
    for (answer, words) in [
        (json!("d6-f6"), "a move is {\"to\":\"d2\"}"),
        (json!({}), "a move is"),
        (json!({"from": "a7"}), "a move is"),
        (json!([{"to": "d2"}]), "a move is"),
        (json!({"to": "d4"}), "`to`: \"d4\" is no point"),
        (json!({"to": 7}), "`to` is the name of a point, not 7"),
        (json!({"to": "d2", "from": "D7"}), "`from`: \"D7\""),
        (json!({"to": "d2", "take": ["a1"]}), "`take` is the name"),
        (json!({"to": "x".repeat(1000)}), "..."),
    ] {
        let refusal = read(answer).expect_err(words);
        assert!(refusal.message.contains(words), "{refusal}");
        assert!(refusal.message.len() < 300, "{refusal}");
    }
    for text in ["d2", "a7-a4", "g4-g7xb6", "g7xb6"] {
        assert_eq!(start().parse(&written(&mv(text))), Ok(mv(text)));
    }
}

#[test]
fn a_state_that_cannot_be_is_refused_in_words() {
    let read = |state: &Value| Dokuztas::read(&DokuztasOptions::default(), state);
    let good = state("a7 d6", "d7", [7, 8], 1);
    assert!(read(&good).is_ok());
    for (pointer, value, words) in [
        ("/stones", json!([["a7"]]), "stones"),
        ("/stones", json!([["a7"], ["d7"], []]), "stones"),
        ("/stones/0", json!(["a7", "d4"]), "\"d4\" is no point"),
        ("/stones/0", json!(["a7", 7]), "stones"),
        ("/stones/0", json!(["a7", "a7"]), "two stones on a7"),
        ("/stones/1", json!(["d6"]), "two stones on d6"),
        ("/in_hand", json!([8, 8]), "seat 0 has 10 stones"),
        ("/in_hand", json!([7, 255]), "seat 1 has 256 stones"),
        ("/in_hand", json!([7, 0]), "seat 1 has 1 stones"),
        ("/in_hand", json!([7, -1]), "-1"),
        ("/in_hand", json!([0, 1]), "both seats have two stones"),
        ("/turn", json!(2), "seat"),
        ("/turn", json!(null), "turn"),
        ("/quiet", json!(-1), "quiet"),
        ("/quiet", json!(null), "quiet"),
        ("/restarts", json!(4), "at most 3"),
        ("/restarts", json!("1"), "restarts"),
    ] {
        let mut state = good.clone();
        state["quiet"] = json!(0);
        state["restarts"] = json!(0);
        *state.pointer_mut(pointer).expect("a field") = value;
        let refused = read(&state).expect_err(words);
        assert!(refused.contains(words), "{state}: {refused}");
    }
    for field in ["stones", "in_hand", "turn"] {
        let mut state = good.clone();
        state.as_object_mut().expect("an object").remove(field);
        assert!(read(&state).is_err(), "{field}");
    }
}

#[test]
fn a_state_may_be_over() {
    assert_eq!(
        ended(&moving("a7 d7 g4 f4", "b6 d6", 0)),
        Some((Some(0), "two_stones"))
    );
    let mut quiet = state("a7 d7 g4 f4", "b6 d6 c3", [0, 0], 0);
    quiet["quiet"] = json!(u32::MAX);
    for rules in [json!({}), json!({"no_capture_plies": 0})] {
        let game = with(rules, quiet.clone());
        assert_eq!(ended(&game), Some((Some(0), "no_capture")));
    }
}

#[test]
fn a_state_tells_how_often_the_game_was_restarted() {
    let mut state = state("a7 d6", "d7", [7, 8], 1);
    state["restarts"] = json!(2);
    state["quiet"] = json!(0);
    let game = with(json!({}), state.clone());
    assert_eq!(serde_json::to_value(game.state()).ok(), Some(state));
}

#[test]
fn the_board_shows_points_and_hands() {
    let game = with(json!({}), state("a7 d6 g1", "d7 c4", [6, 7], 1));
    insta::assert_snapshot!(game.board(), @r"
    seat 1  o  7 in hand
    7  x-----------o-----------.
       |           |           |
    6  |   .-------x-------.   |
       |   |       |       |   |
    5  |   |   .---.---.   |   |
       |   |   |       |   |   |
    4  .---.---o       .---.---.
       |   |   |       |   |   |
    3  |   |   .---.---.   |   |
       |   |       |       |   |
    2  |   .-------.-------.   |
       |           |           |
    1  .-----------.-----------x
       a   b   c   d   e   f   g
    seat 0  x  6 in hand
    ");
}
