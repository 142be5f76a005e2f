use serde_json::{Map, json};

use super::faces::{CELLS, Cell, Face, Placed};
use super::*;
use crate::chance::MatchChance;
use crate::game::facade::Typed;
use crate::game::{Kind, Options};

fn options(given: Value) -> QbitzOptions {
    let options: QbitzOptions = serde_json::from_value(given).expect("options");
    options.check().expect("options that can be");
    options
}

/// The bytes of a made-up random event.
fn bytes(n: u8) -> [u8; 32] {
    [n; 32]
}

/// A game of so many seats with its first card.
fn begun(seats: usize, given: Value) -> Qbitz {
    let setup = Setup {
        seats,
        ..Setup::SINGLE
    };
    let mut game = Qbitz::start(&options(given), &setup);
    if game.cubes.is_none() {
        game.chance(Drawn::Bytes(bytes(200)));
    }
    game.chance(Drawn::Bytes(bytes(1)));
    assert_eq!(game.to_act(), ToAct::Race);
    game
}

/// The right answer.
fn right(game: &Qbitz) -> Answer {
    Answer(Some(game.solution().expect("every pattern can be laid")))
}

/// A tray with one cell changed.
fn changed(game: &Qbitz, row: usize, column: usize, change: impl FnOnce(&mut Placed)) -> Answer {
    let mut answer = right(game);
    let tray = answer.0.as_mut().expect("a tray");
    change(&mut tray[row][column]);
    answer
}

fn wrong(game: &Qbitz, answer: &Answer) -> String {
    match game.clone().claim(0, answer) {
        Ok(Claim::Wrong(words)) => words,
        other => panic!("not a wrong claim: {other:?}"),
    }
}

/// Draws the next card and lets these seats be first.
fn round(game: &mut Qbitz, card: u8, first: &[Seat]) {
    if game.to_act() != ToAct::Race {
        game.chance(Drawn::Bytes(bytes(card)));
    }
    assert_eq!(game.to_act(), ToAct::Race);
    for &seat in first {
        assert_eq!(game.claim(seat, &right(game)), Ok(Claim::Right));
    }
    game.award(first);
}

/// Cubes of which the n-th has only the n-th face of a pattern of all kinds, so that there is one way to lay it.
fn one_way() -> Qbitz {
    let mut game = begun(2, json!({}));
    let faces: [Face; CELLS] = std::array::from_fn(|cell| Face::ALL[cell % FACES]);
    game.cubes = Some(faces.map(|face| [face; FACES]));
    game.pattern = Some(std::array::from_fn(|row| {
        std::array::from_fn(|column| Cell {
            face: faces[row * SIDE + column],
            turn: 1,
        })
    }));
    game
}

/// The tray that lays [`one_way`] with cube n in cell n, with one cell changed.
fn laid(row: usize, column: usize, change: impl FnOnce(&mut Placed)) -> Answer {
    let mut tray: Tray = std::array::from_fn(|row| {
        std::array::from_fn(|column| Placed {
            cube: (row * SIDE + column) as i64,
            face: 0,
            turn: 1,
        })
    });
    change(&mut tray[row][column]);
    Answer(Some(tray))
}

// ---- Rules 1, 2 and 6: cubes, cards, claims -------------------------------------------------------------------------

#[test]
fn rule_1_a_card_has_two_sides_with_four_patterns_of_which_one_is_shown() {
    let cubes = cards::mixed_cubes(bytes(7));
    let mut shown = std::collections::BTreeSet::new();
    for n in 0..=255 {
        let card = Card::new(bytes(n), &cubes);
        assert_eq!(card.pattern(), &card.sides[card.shown.0][card.shown.1]);
        shown.insert(card.shown);
        assert_eq!(card, Card::new(bytes(n), &cubes), "the same bytes again");
    }
    assert_eq!(shown.len(), 8, "each of the eight comes up");
}

#[test]
fn rule_6_every_pattern_of_every_card_can_be_laid() {
    for n in 0..=255u8 {
        let mut own = bytes(n);
        own[0] = 77;
        let mut all_alike = cards::UNIFORM;
        all_alike.fill([Face::ALL[usize::from(n) % FACES]; FACES]);
        for cubes in [cards::mixed_cubes(own), cards::UNIFORM, all_alike] {
            for pattern in Card::new(bytes(n), &cubes).sides.iter().flatten() {
                let tray = assign::solve(&cubes, pattern).expect("it can be laid");
                assert_eq!(fault_of(&tray, &cubes, pattern), None);
            }
        }
    }
}

#[test]
fn rule_6_mixed_cubes_have_any_faces_and_uniform_ones_all_six() {
    let cubes = cards::mixed_cubes(bytes(9));
    let all: std::collections::HashSet<Face> = cubes.iter().flatten().copied().collect();
    assert_eq!(all.len(), FACES);
    assert!(cubes.iter().any(|cube| *cube != Face::ALL));
    let game = begun(2, json!({"blocks": "uniform"}));
    assert_eq!(game.cubes(), Some(&cards::UNIFORM));
}

#[test]
fn an_assignment_is_found_wherever_there_is_one() {
    // The last cell can only be laid by cube 0, which an earlier cell has taken: it has to move on, and so do others.
    let mut cubes = [[Face::Dark; FACES]; CUBES];
    for (index, cube) in cubes.iter_mut().enumerate().skip(1) {
        cube[0] = Face::ALL[index % FACES];
    }
    cubes[0][5] = Face::Diagonal;
    let cell = |face| Cell { face, turn: 0 };
    let mut pattern = [[cell(Face::Dark); SIDE]; SIDE];
    pattern[3][3] = cell(Face::Diagonal);
    pattern[3][2] = cell(Face::Diagonal);
    pattern[3][1] = cell(Face::Diagonal);
    assert!(
        assign::solve(&cubes, &pattern).is_some(),
        "cubes 0, 5 and 11"
    );
    pattern[3][0] = cell(Face::Diagonal);
    assert_eq!(assign::solve(&cubes, &pattern), None, "three of four");
}

#[test]
fn rule_6_turns_mean_what_a_face_shows() {
    let cell = |face, turn| Cell { face, turn };
    for face in [Face::Dark, Face::Light, Face::Dot, Face::Ring] {
        assert!((-9..9).all(|turn| cell(face, 2).looks_like(face, turn)));
    }
    let same = |face, turn| -> Vec<i64> {
        (0..8)
            .filter(|&other| cell(face, turn).looks_like(face, other))
            .collect()
    };
    assert_eq!(same(Face::Bar, 1), [1, 3, 5, 7]);
    assert_eq!(same(Face::Bar, 2), [0, 2, 4, 6]);
    assert_eq!(same(Face::Diagonal, 3), [3, 7]);
    assert!(cell(Face::Diagonal, 3).looks_like(Face::Diagonal, -1));
    assert!(cell(Face::Diagonal, 0).looks_like(Face::Diagonal, i64::MIN));
    assert!(!cell(Face::Dot, 0).looks_like(Face::Ring, 0));
}

#[test]
fn rule_3_a_right_tray_scores_a_point_and_ends_the_round() {
    let mut game = begun(2, json!({}));
    assert_eq!(game.claim(1, &right(&game)), Ok(Claim::Right));
    assert_eq!(
        game.to_act(),
        ToAct::Race,
        "another seat may have been faster"
    );
    game.award(&[1]);
    assert_eq!((game.points.as_slice(), game.round), ([0, 1].as_slice(), 1));
    assert_eq!((game.pattern, game.out), (None, [false; 4]));
    let card = Chance {
        kind: ChanceKind::Card,
        seat: None,
    };
    assert_eq!(game.to_act(), ToAct::Chance(card));
}

#[test]
fn rule_3_a_wrong_tray_tells_its_first_fault() {
    let game = one_way();
    assert_eq!(game.clone().claim(0, &laid(0, 0, |_| {})), Ok(Claim::Right));
    let none = |placed: &mut Placed| placed.cube = 16;
    assert_eq!(
        wrong(&game, &laid(1, 2, none)),
        "row 2, cell 3: there is no cube 16; they are 0 to 15 (rule 3)"
    );
    let twice = |placed: &mut Placed| placed.cube = 0;
    assert_eq!(
        wrong(&game, &laid(1, 2, twice)),
        "row 2, cell 3: cube 0 lies in row 1, cell 1 already (rule 3)"
    );
    for face in [6, -1] {
        assert_eq!(
            wrong(&game, &laid(0, 0, |placed| placed.face = face)),
            format!("row 1, cell 1: a cube has no face {face}; they are 0 to 5 (rule 3)")
        );
    }
    // Bar and diagonal are the fifth and the sixth kind.
    assert_eq!(
        wrong(&game, &laid(1, 0, |placed| placed.turn = 2)),
        "row 2, cell 1: bar is turned by 2, in the pattern by 1 (rule 6)"
    );
    let mut swapped = laid(0, 0, |_| {});
    let tray = swapped.0.as_mut().expect("a tray");
    tray[0].swap(0, 1);
    assert_eq!(
        wrong(&game, &swapped),
        "row 1, cell 1: this face of cube 1 is light, the pattern has dark (rule 3)"
    );
}

#[test]
fn rule_3_who_is_wrong_is_out_and_the_others_go_on() {
    let mut game = begun(3, json!({}));
    let bad = changed(&game, 0, 0, |placed| placed.cube = 99);
    assert!(matches!(game.claim(1, &bad), Ok(Claim::Wrong(_))));
    assert!(game.racing(0) && !game.racing(1) && game.racing(2));
    let refused = game.claim(1, &right(&game)).expect_err("it is out");
    assert_eq!(refused.message, "seat 1 is out of this round (rule 3)");
    assert_eq!(game.claim(0, &Answer(None)), Ok(Claim::GaveUp));
    assert!(matches!(game.claim(2, &bad), Ok(Claim::Wrong(_))));
    // All are out: nobody scores, and the round counts.
    assert_eq!((game.pattern, game.round), (None, 1));
    assert_eq!(game.points, [0, 0, 0]);
    round(&mut game, 2, &[1]);
    assert_eq!(
        (game.points.as_slice(), game.round),
        ([0, 1, 0].as_slice(), 2)
    );
}

#[test]
fn who_may_not_claim_is_told_why() {
    let mut game = begun(2, json!({"target_points": 1}));
    let claim = right(&game);
    let why = |game: &Qbitz, seat| {
        let refused = game.clone().claim(seat, &claim).expect_err("refused");
        refused.message
    };
    assert_eq!(why(&game, 2), "there is no seat 2");
    let mut over = game.clone();
    over.award(&[0]);
    assert_eq!(why(&over, 0), "the game is over");
    game.award(&[]);
    assert!(why(&game, 0).contains("no round is in play"));
}

#[test]
fn an_answer_that_is_none_is_refused_in_words() {
    let game = begun(2, json!({}));
    let good = serde_json::to_value(right(&game)).expect("JSON");
    assert_eq!(game.parse(&good), Ok(right(&game)));
    assert_eq!(game.parse(&json!({"qbitz": null})), Ok(Answer(None)));
    let tray = |change: &dyn Fn(&mut Value)| {
        let mut answer = good.clone();
        change(&mut answer["qbitz"]);
        game.parse(&answer)
    };
    assert_eq!(
        tray(&|tray| tray[0][0]["cube"] = json!(3.0)).map(|_| ()),
        Ok(())
    );
    assert!(tray(&|tray| tray[0][0]["more"] = json!([1])).is_ok());
    assert!(
        tray(&|tray| tray[0][0]["cube"] = json!(u64::MAX)).is_ok(),
        "no cube, but a number"
    );
    assert!(tray(&|tray| tray[0][0]["face"] = json!(-1e300)).is_ok());
    for broken in [
        tray(&|tray| *tray = json!([])),
        tray(&|tray| *tray = json!(7)),
        tray(&|tray| drop(tray.as_array_mut().expect("rows").pop())),
        tray(&|tray| drop(tray[2].as_array_mut().expect("cells").pop())),
        tray(&|tray| tray[2].as_array_mut().expect("cells").push(json!({}))),
        tray(&|tray| tray[3][3] = json!(5)),
        tray(&|tray| tray[3][3]["turn"] = json!(0.5)),
        tray(&|tray| tray[3][3]["turn"] = json!("1")),
        tray(&|tray| drop(tray[3][3].as_object_mut().expect("a cell").remove("turn"))),
    ] {
        let refused = broken.expect_err("no tray");
        assert_eq!(
            refused.message,
            "a tray has four rows of four cells with cube, face and turn (rule 2)"
        );
    }
    for none in [
        json!(null),
        json!(3),
        json!("qbitz"),
        json!([]),
        json!({"tray": 1}),
    ] {
        let refused = game.parse(&none).expect_err("no claim");
        assert!(refused.message.starts_with("a claim is "), "{refused}");
    }
    assert!(game.clone().apply(&right(&game)).is_err());
}

// ---- Rules 4 and 5: dead heats, the end -----------------------------------------------------------------------------

#[test]
fn rule_4_a_dead_heat_is_void_three_times_in_a_row_and_then_scores() {
    let mut game = begun(3, json!({}));
    for void in 1..=3 {
        round(&mut game, 10 + void, &[0, 2]);
        assert_eq!((game.round, game.voids), (0, void));
        assert_eq!(game.points, [0, 0, 0]);
    }
    round(&mut game, 20, &[0, 2]);
    assert_eq!((game.round, game.voids), (1, 0));
    assert_eq!(game.points, [1, 0, 1]);
    // The next begins to count anew; a round that is won or lost in between does so too.
    round(&mut game, 21, &[1, 2]);
    assert_eq!((game.round, game.voids), (1, 1));
    round(&mut game, 22, &[1]);
    assert_eq!((game.round, game.voids), (2, 0));
    round(&mut game, 23, &[1, 2]);
    round(&mut game, 24, &[]);
    assert_eq!((game.round, game.voids), (3, 0));
}

#[test]
fn rule_5_the_target_wins_at_once() {
    let mut game = begun(2, json!({"target_points": 2}));
    round(&mut game, 2, &[1]);
    assert_eq!(game.outcome(), None);
    round(&mut game, 3, &[1]);
    let outcome = game.outcome().expect("over");
    assert_eq!(game.to_act(), ToAct::Over);
    assert_eq!((outcome.winner, outcome.reason), (Some(1), "target"));
    assert_eq!(outcome.points, [0, 2]);
}

#[test]
fn rule_5_two_that_reach_the_target_in_a_dead_heat_share_the_win() {
    let mut game = begun(3, json!({"target_points": 1}));
    for card in 2..6 {
        round(&mut game, card, &[0, 1]);
    }
    let outcome = game.outcome().expect("over");
    assert_eq!((outcome.winner, outcome.reason), (None, "target"));
    assert_eq!(outcome.score, [Share::HALF, Share::HALF, Share::LOSS]);
}

#[test]
fn rule_5_after_the_last_round_the_most_points_win_and_void_rounds_do_not_count() {
    let mut game = begun(4, json!({"rounds": 3}));
    for (card, first) in [
        (2, [2, 3].as_slice()),
        (3, &[1]),
        (4, &[1, 2]),
        (5, &[]),
        (6, &[2]),
    ] {
        assert_eq!(game.outcome(), None);
        round(&mut game, card, first);
    }
    let outcome = game.outcome().expect("three rounds and two void ones");
    assert_eq!((outcome.winner, outcome.reason), (None, "rounds"));
    assert_eq!(outcome.points, [0, 1, 1, 0]);
    assert_eq!(
        outcome.score,
        [Share::LOSS, Share::HALF, Share::HALF, Share::LOSS]
    );
}

#[test]
fn rule_5_nobody_scores_and_all_share() {
    let mut game = begun(3, json!({"rounds": 1}));
    game.award(&[]);
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.score, [Share::one_of(3); 3]);
    assert_eq!(
        Qbitz::series(&options(json!({})), &[outcome]).shares(),
        [Share::one_of(3); 3]
    );
}

#[test]
fn rule_5_of_two_seats_a_forfeit_ends_the_game() {
    let mut game = begun(2, json!({}));
    round(&mut game, 2, &[0]);
    assert!(!game.clone().withdraw(0));
    let outcome = game.forfeit(0);
    assert_eq!(
        (outcome.winner, outcome.reason),
        (Some(1), crate::game::FORFEIT)
    );
    assert_eq!(outcome.points, [1, 0]);
}

#[test]
fn rule_5_of_more_seats_the_others_play_on() {
    let mut game = begun(4, json!({"rounds": 4}));
    round(&mut game, 2, &[3]);
    round(&mut game, 3, &[3]);
    assert!(game.withdraw(3), "between rounds");
    assert!(!game.withdraw(3), "only once");
    game.chance(Drawn::Bytes(bytes(4)));
    assert!(!game.racing(3));
    assert!(game.withdraw(0), "in a round");
    assert_eq!(
        game.claim(0, &Answer(None)).expect_err("gone").message,
        "seat 0 has forfeited and is out of the game (rule 5)"
    );
    assert!(!game.clone().withdraw(1), "the last but one ends the game");
    round(&mut game, 4, &[1]);
    assert_eq!(game.outcome(), None);
    round(&mut game, 5, &[]);
    // The most points are those of a seat that has left.
    let outcome = game.outcome().expect("over");
    assert_eq!(
        (outcome.winner, outcome.points),
        (Some(1), vec![0, 1, 0, 2])
    );
    assert_eq!(game.forfeit(1).winner, Some(2));
}

#[test]
fn a_forfeit_of_the_last_who_races_ends_the_round() {
    let mut game = begun(3, json!({}));
    assert_eq!(game.claim(0, &Answer(None)), Ok(Claim::GaveUp));
    assert_eq!(game.claim(1, &Answer(None)), Ok(Claim::GaveUp));
    assert!(game.withdraw(2));
    assert_eq!((game.pattern, game.round), (None, 1));
}

// ---- States, options, chance ----------------------------------------------------------------------------------------

fn state(game: &Qbitz) -> Value {
    serde_json::to_value(game).expect("JSON")
}

#[test]
fn a_state_holds_the_whole_position() {
    let given = json!({"rounds": 4});
    let mut games = vec![begun(4, given.clone())];
    let mut game = games[0].clone();
    game.claim(1, &Answer(None)).expect("a racing seat");
    games.push(game.clone());
    game.withdraw(2);
    games.push(game.clone());
    game.award(&[0, 3]);
    games.push(game.clone());
    for game in &games {
        let written = state(game);
        let read = Qbitz::read(&options(given.clone()), &written).expect("a state");
        assert_eq!(read, *game, "{written}");
    }
    assert_eq!(state(&game)["gone"], json!([2]));
    assert_eq!(state(&game)["dead_heats"], json!(1));
    assert_eq!(state(&games[2])["out"], json!([1, 2]));
    assert!(state(&games[0]).get("gone").is_none());
}

#[test]
fn what_is_optional_may_be_left_out() {
    let game = begun(2, json!({}));
    let mut short = state(&game);
    short.as_object_mut().expect("an object").remove("out");
    assert_eq!(Qbitz::read(&options(json!({})), &short), Ok(game));
}

#[test]
fn a_state_that_cannot_be_is_refused_in_words() {
    let good = state(&begun(3, json!({})));
    let seventeen = vec![Face::ALL; 17];
    let five = json!(vec![["dark", "light", "dot", "ring", "bar"]; 16]);
    for (key, value, words) in [
        ("pattern", json!([]), "four rows"),
        ("pattern", json!("dark"), "four rows"),
        ("cubes", json!(null), "sixteen"),
        ("cubes", json!(seventeen), "sixteen"),
        ("cubes", five, "six faces"),
        ("points", json!([1]), "2 to 4"),
        ("points", json!([1, 2, 3, 4, 5]), "2 to 4"),
        ("points", json!([1, -2]), "points"),
        ("points", json!([1, 1.5]), "points"),
        ("points", json!(null), "points"),
        ("round", json!(0), "1 to 25"),
        ("round", json!(26), "1 to 25"),
        ("round", json!("1"), "round"),
        ("out", json!([3]), "0 to 2"),
        ("out", json!([1, 1]), "each once"),
        ("out", json!(1), "seats"),
        ("out", json!([0, 1, 2]), "out of the round"),
        ("gone", json!([0, 1]), "left the game"),
        ("dead_heats", json!(4), "0 to 3"),
    ] {
        let mut state = good.clone();
        state[key] = value;
        let refused = Qbitz::read(&options(json!({})), &state).expect_err("no position");
        assert!(refused.contains(words), "{key}: {refused}");
    }
    for (key, value) in [
        ("face", json!("white")),
        ("turn", json!(4)),
        ("turn", json!(-1)),
    ] {
        let mut state = good.clone();
        state["pattern"][1][2][key] = value;
        assert!(Qbitz::read(&options(json!({})), &state).is_err());
    }
    for key in ["pattern", "cubes", "points", "round"] {
        let mut state = good.clone();
        state.as_object_mut().expect("an object").remove(key);
        let refused = Qbitz::read(&options(json!({})), &state).expect_err("no position");
        assert!(refused.contains(key), "{refused}");
    }
    assert!(Qbitz::read(&options(json!({})), &json!(7)).is_err());
}

#[test]
fn options_that_cannot_be_are_refused_by_name() {
    let kind = Typed::<Qbitz>::NEW;
    let given =
        |value: &Value| -> Map<String, Value> { value.as_object().expect("options").clone() };
    for (value, key) in [
        (json!({"target_points": 0}), "target_points"),
        (json!({"rounds": 0}), "rounds"),
        (json!({"rounds": -3}), "rounds"),
        (json!({"round_ms": 0}), "round_ms"),
        (json!({"round_ms": 1e12}), "round_ms"),
        (json!({"dead_heat_us": 10_000_001}), "dead_heat_us"),
        (json!({"blocks": "other"}), "blocks"),
        (json!({"race": "in_turn"}), "race"),
        (json!({"perft": 1}), "perft"),
    ] {
        let refused = kind.rules(&given(&value)).expect_err("impossible");
        assert_eq!(refused.key, key, "{refused}");
    }
    let rules = kind
        .rules(&given(
            &json!({"race": "in-turn", "round_ms": 50, "dead_heat_us": 0}),
        ))
        .expect("possible");
    let terms = Race {
        limit_us: 50_000,
        dead_heat_us: 0,
        in_turn: true,
    };
    assert_eq!(rules.race(), Some(terms));
}

#[test]
fn cubes_and_cards_come_from_the_seed() {
    use crate::chance::Draw;
    let chance = |pair| MatchChance::new("42", 1, ["ada", "bora"], pair);
    let play = |pair| {
        let mut game = Qbitz::start(&options(json!({})), &Setup::SINGLE);
        let mut shown = Vec::new();
        let mut counts = [0; 2];
        while let ToAct::Chance(event) = game.to_act() {
            let count = &mut counts[usize::from(event.kind == ChanceKind::Card)];
            game.chance(chance(pair).draw(1, event, *count, 0));
            *count += 1;
            if let Some(pattern) = game.pattern {
                shown.push(pattern);
                game.award(&[]);
            }
        }
        assert_eq!(counts, [1, 25]);
        (game.cubes, shown)
    };
    assert_eq!(play(0), play(0));
    let (cubes, shown) = play(0);
    assert_ne!((cubes, &shown), (play(1).0, &play(1).1));
    let distinct: std::collections::HashSet<Pattern> = shown.iter().copied().collect();
    assert_eq!(distinct.len(), 25);
}

#[test]
fn the_board_shows_the_pattern() {
    insta::assert_snapshot!(one_way().board(), @r"
    round 1, rounds won 0-0
      dark        light       dot         ring
      bar 1       diagonal 1  dark        light
      dot         ring        bar 1       diagonal 1
      dark        light       dot         ring
    ");
}
