//! Questions and answers: what a turn tells, every kind of answer, what the other seat sees.

use hakem::clock::Spent;
use hakem::event::Verdict;
use serde_json::{Value, json};

use super::sim::{LINE, OUTPUT, Scene, Sim, last_stone, legal, wall};

fn mangala() -> Scene {
    Scene::new("mangala").rules(json!({"sets": 3}))
}

/// The match with seat 0 on turn and a choice of moves.
fn seat_0_begins() -> Sim {
    let state =
        json!({"pits": [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]], "stores": [0, 0], "turn": 0});
    mangala().opening(state).greeted()
}

#[test]
fn a_turn_holds_position_answers_news_and_clocks() {
    let mut sim = seat_0_begins();
    sim.play_in(0, 2, 1_500);
    let turn = sim.turn(1);
    assert_eq!(turn["seat"], 1);
    assert_eq!(turn["state"]["pits"][0], json!([4, 1, 5, 5, 5, 4]));
    assert_eq!(turn["legal"], json!([1, 2, 3, 4, 5, 6]));
    assert_eq!(turn["last"], json!([{"seat": 0, "move": 2}]));
    assert_eq!(
        turn["clock"],
        json!({"left_ms": [null, null], "limit_ms": 5000})
    );
}

#[test]
fn last_begins_with_the_seats_own_answer_and_holds_all_since() {
    let mut sim = seat_0_begins();
    // Pit 4 ends in the treasury: the same seat again.
    sim.play(0, 4);
    assert_eq!(sim.turn(0)["last"], json!([{"seat": 0, "move": 4}]));
    sim.play(0, 1);
    assert_eq!(
        sim.turn(1)["last"],
        json!([{"seat": 0, "move": 4}, {"seat": 0, "move": 1}]),
        "in the first turn of a seat all since the start"
    );
    sim.play(1, 1);
    assert_eq!(
        sim.turn(0)["last"],
        json!([{"seat": 0, "move": 1}, {"seat": 1, "move": 1}])
    );
}

#[test]
fn a_bot_may_decline_the_list_and_ask_for_history_and_events() {
    let state =
        json!({"pits": [[4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]], "stores": [0, 0], "turn": 0});
    let mut sim = mangala().opening(state).greeted_with([
        json!({"history": true}),
        json!({"legal": false, "events": true}),
    ]);
    assert_eq!(sim.turn(0)["history"], json!([]));
    sim.play(0, 4);
    assert_eq!(sim.heard(1), ["played 0 4"]);
    sim.play(0, 1);
    let turn = sim.turn(1).clone();
    assert_eq!((turn.get("legal"), turn.get("history")), (None, None));
    assert_eq!(sim.heard(1), ["played 0 1", "turn 1 move"]);
    sim.forget();
    sim.play(1, 1);
    assert_eq!(
        sim.turn(0)["history"],
        json!([{"seat": 0, "move": 4}, {"seat": 0, "move": 1}, {"seat": 1, "move": 1}])
    );
    assert_eq!(sim.heard(0), ["turn 3 move"], "it did not ask for events");
    assert_eq!(sim.heard(1), [""; 0], "its own move is no news to it");
    sim.finish();
}

#[test]
fn ids_count_from_1_for_each_seat_through_turns_and_pings() {
    let mut sim = mangala().opening(last_stone(0, [25, 23])).greeted();
    assert_eq!(sim.turn(0)["id"], 1);
    sim.play(0, 6);
    assert_eq!(sim.heard(0)[..], ["end r1.m1.g1", "ping 2"]);
    assert_eq!(sim.heard(1)[..], ["end r1.m1.g1", "ping 1"]);
    sim.answer_honestly(0);
    sim.answer_honestly(1);
    assert_eq!(sim.heard(0), ["start r1.m1.g2", "turn 3 move"]);
}

/// An answer that loses: its bytes (`ID` stands for the id), the verdict, the code.
const BAD_ANSWERS: [(&[u8], Verdict, &str); 32] = [
    (
        br#"{"type":"move","id":ID,"move":7}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":0}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":1.5}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":1e300}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":-1}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":null}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":"1"}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":[1]}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":{"resign":1}}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID,"move":18446744073709551615}"#,
        Verdict::IllegalMove,
        "illegal_move",
    ),
    (
        br#"{"type":"move","id":ID}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","move":1}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","id":"ID","move":1}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","id":1.5,"move":1}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","id":-1,"move":1}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","id":ID,"move":1,"note":3}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"move","id":ID,"move":1,"eval":"good"}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (
        br#"{"type":"pass","id":ID}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (br#"{"type":3}"#, Verdict::BadMessage, "bad_message"),
    (br#"{"id":ID,"move":1}"#, Verdict::BadMessage, "bad_message"),
    (
        br#"{"type":"ready","protocol":1}"#,
        Verdict::BadMessage,
        "bad_message",
    ),
    (br#"{"type":"pong"}"#, Verdict::BadMessage, "bad_message"),
    (br"1", Verdict::BadMessage, "bad_message"),
    (
        br#"{"type":"move","id":99,"move":1}"#,
        Verdict::BadMessage,
        "wrong_id",
    ),
    (
        br#"{"type":"move","id":0,"move":1}"#,
        Verdict::BadMessage,
        "wrong_id",
    ),
    (
        br#"{"type":"move","id":99,"move":"no"}"#,
        Verdict::BadMessage,
        "wrong_id",
    ),
    (
        br#"{"type":"move","id":ID,"move":1"#,
        Verdict::BadMessage,
        "bad_json",
    ),
    (
        br#"{"type":"move","id":ID,"move":1,"move":1}"#,
        Verdict::BadMessage,
        "bad_json",
    ),
    (
        br#"{"type":"move","id":ID,"move":NaN}"#,
        Verdict::BadMessage,
        "bad_json",
    ),
    (
        br#"{"type":"move","id":ID,"move":18446744073709551616}"#,
        Verdict::BadMessage,
        "bad_json",
    ),
    (
        b"\xef\xbb\xbf{\"type\":\"move\",\"id\":ID,\"move\":1}",
        Verdict::BadMessage,
        "bad_json",
    ),
    (
        b"{\"type\":\"move\",\"id\":ID,\"move\":1,\"note\":\"\xff\"}",
        Verdict::BadMessage,
        "not_utf8",
    ),
];

/// Puts the id in.
fn with_id(line: &[u8], id: &Value) -> Vec<u8> {
    let id = id.to_string();
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.windows(2).position(|two| two == b"ID") {
        found.extend_from_slice(&rest[..at]);
        found.extend_from_slice(id.as_bytes());
        rest = &rest[at + 2..];
    }
    found.extend_from_slice(rest);
    found
}

#[test]
fn a_bad_answer_loses_the_game_at_once_with_its_own_code() {
    for (line, verdict, code) in BAD_ANSWERS {
        for honest_turns in [0, 1, 2, 3] {
            let mut sim = mangala().greeted();
            for _ in 0..honest_turns {
                let seat = sim.on_turn().expect("a seat is asked");
                sim.answer_honestly(seat);
            }
            sim.forget();
            let seat = sim.on_turn().expect("a seat is asked");
            let id = sim.turn(seat)["id"].clone();
            sim.line(seat, &with_id(line, &id), Spent::default());
            let what = String::from_utf8_lossy(line);
            let result = sim.lost(seat, verdict, code);
            assert_eq!(result.moves, honest_turns, "{what}");
            let messages = sim.messages(seat);
            assert_eq!(
                messages[0]["id"], id,
                "{what}: the error names the question"
            );
            assert!(
                messages[0]["message"]
                    .as_str()
                    .is_some_and(|text| text.len() > 5),
                "{what}"
            );
            assert_eq!(messages[0]["code"], code, "{what}");
            assert_eq!(messages[1]["result"]["reason"], "forfeit", "{what}");
            assert_eq!(messages[2]["type"], "bye", "{what}");
            // It has left at once and is started anew.
            assert_eq!(messages[3]["type"], "hello", "{what}");
            assert_eq!(sim.heard(1 - seat)[0], "end r1.m1.g1", "{what}");
        }
    }
}

#[test]
fn a_late_answer_is_late_whatever_it_says() {
    let honest: (&[u8], _, _) = (
        br#"{"type":"move","id":ID,"move":1}"#,
        Verdict::Timeout,
        "timeout",
    );
    for (line, ..) in BAD_ANSWERS.into_iter().chain([honest]) {
        // A pong is no answer, late or not.
        let mut sim = mangala().greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        let id = sim.turn(seat)["id"].clone();
        sim.line(seat, &with_id(line, &id), wall(5_000_001));
        sim.lost(seat, Verdict::Timeout, "timeout");
    }
}

#[test]
fn the_first_fault_of_a_line_gives_the_code() {
    // Each line has the fault of its place and all that come after it.
    let cases: [(&[u8], u64, &str); 5] = [
        (b"\xff{\"type\":", 5_000_001, "timeout"),
        (b"\xff{\"type\":", 0, "not_utf8"),
        (
            br#"{"type":"move","id":99,"move":"x","id":98"#,
            0,
            "bad_json",
        ),
        (
            br#"{"type":"move","id":99,"note":1,"move":"x"}"#,
            0,
            "bad_message",
        ),
        (br#"{"type":"move","id":99,"move":"x"}"#, 0, "wrong_id"),
    ];
    for (line, wall_us, code) in cases {
        let mut sim = mangala().greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        sim.line(seat, line, wall(wall_us));
        let verdict = sim.over();
        assert!(
            verdict.reason.starts_with(code),
            "{} is not {code}",
            verdict.reason
        );
    }
    // The length comes before all of it.
    let mut sim = mangala().greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    let line = [&b"\xff".repeat(LINE)[..], b"\n"].concat();
    sim.write(seat, &line, wall(5_000_001));
    sim.lost(seat, Verdict::Flood, "line_too_long");
}

#[test]
fn a_bot_that_is_stuck_or_floods_is_killed_and_every_other_is_told_to_leave() {
    for (what, kills) in [("timeout", 1), ("flood", 1), ("illegal", 0)] {
        let mut sim = mangala().greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        sim.forget();
        match what {
            "timeout" => {
                sim.time_out(seat);
            }
            "flood" => sim.flood(seat),
            _ => sim.play(seat, 9),
        }
        assert_eq!(sim.chairs[seat].kills, kills, "{what}");
        assert_eq!(
            sim.heard(seat).contains(&"bye".to_owned()),
            kills == 0,
            "{what}"
        );
    }
}

#[test]
fn a_whole_number_may_be_written_as_a_fraction_and_unknown_fields_are_ignored() {
    for line in [
        r#"{"type":"move","id":1.0,"move":2.0}"#,
        r#"{"type":"move","id":1.0,"move":2e0,"mood":{"a":[1,2]}}"#,
        r#" {"type" : "move" , "id" : 1 , "move" : 2 , "note" : null, "eval" : null } "#,
    ] {
        let mut sim = seat_0_begins();
        sim.line(0, line.as_bytes(), Spent::default());
        assert_eq!(
            sim.turn(1)["last"],
            json!([{"seat": 0, "move": 2}]),
            "{line}"
        );
    }
}

#[test]
fn a_pong_that_nobody_waits_for_is_ignored_everywhere() {
    let mut sim = seat_0_begins();
    let pong = json!({"type": "pong", "id": 1});
    sim.say(0, &pong);
    sim.say(1, &pong);
    assert_eq!(sim.turn(0)["id"], 1, "the question stays open");
    sim.play(0, 1);
    sim.say(0, &pong);
    sim.say(1, &json!({"type": "pong", "id": 2}));
    sim.goes_on();
    sim.finish();
    assert!(sim.games.iter().all(|game| game.result.against.is_none()));
}

#[test]
fn an_answer_that_was_there_before_its_question_is_not_used() {
    // Pit 4 gives another move; the second line guesses its id and a legal answer.
    let mut sim = seat_0_begins();
    let both =
        b"{\"type\":\"move\",\"id\":1,\"move\":4}\n{\"type\":\"move\",\"id\":2,\"move\":1}\n";
    sim.write(0, both, Spent::default());
    assert_eq!(sim.lost(0, Verdict::BadMessage, "unasked").moves, 1);
}

#[test]
fn the_limit_of_output_is_one_of_a_game() {
    let most = usize::try_from(OUTPUT).expect("a number of bytes");
    let blank = vec![b'\n'; most - 1_000];
    // In one game it is too much in all, in two it is not.
    for (pieces, games) in [(2, 1), (1, 2)] {
        let mut sim = mangala().opening(last_stone(0, [25, 23])).greeted();
        for _ in 0..games {
            for _ in 0..pieces {
                sim.write(1, &blank, Spent::default());
            }
            sim.play(0, 6);
            sim.go_on_while(|sim| sim.on_turn().is_none());
        }
        let floods = sim
            .games
            .iter()
            .filter(|game| game.result.verdict == Verdict::Flood);
        assert_eq!(floods.count(), 2 - games);
    }
}

#[test]
fn a_note_is_cut_at_the_limit_of_its_own_seat() {
    let mut scene = mangala();
    scene.max_note = [5, 20];
    let mut sim = scene.greeted();
    for _ in 0..2 {
        let seat = sim.on_turn().expect("a seat is asked");
        let answer = json!({
            "type": "move", "id": sim.turn(seat)["id"], "move": 1, "note": "ğğğğğğğğğğğğğğğğ",
            "eval": {"d": "123456"},
        });
        sim.say(seat, &answer);
        assert_eq!(sim.on_turn(), Some(1 - seat));
    }
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, 9);
    let text = String::from_utf8(sim.games[0].record.clone()).expect("a record is text");
    let kept = |seat: usize| -> Value {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{{\"answer\":{{\"seat\":{seat}")));
        serde_json::from_str(line.expect("an answer")).expect("JSON")
    };
    assert_eq!(
        kept(0)["answer"]["note"],
        "ğğ",
        "a whole character of two bytes each"
    );
    assert_eq!(kept(0)["answer"]["eval"], Value::Null, "too long to keep");
    assert_eq!(kept(1)["answer"]["note"], "ğğğğğğğğğğ");
    assert_eq!(kept(1)["answer"]["eval"], json!({"d": "123456"}));
}

// ---- Tavla ----------------------------------------------------------------------------------------------------------

#[test]
fn the_opening_roll_is_told_at_the_start_and_played_in_the_first_turn() {
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let mut scene = Scene::new("tavla");
        scene.seed = seed;
        let mut sim = scene.begin();
        sim.ready(0);
        sim.ready(1);
        let start = &sim.messages(0)[1];
        let dice = [0, 1].map(|seat| start["opening"][seat].as_u64().expect("a die"));
        assert_ne!(dice[0], dice[1]);
        let first = usize::from(dice[1] > dice[0]);
        assert_eq!(start["first"], first);
        assert_eq!(sim.on_turn(), Some(first));
        let turn = sim.turn(first);
        assert_eq!(
            (&turn["ask"], &turn["state"]["dice"]),
            (&json!("move"), &json!(dice))
        );
        assert_eq!(turn["state"], start["state"]);
        let mv = turn["legal"][0].clone();
        sim.play(first, mv.clone());
        assert_eq!(
            sim.turn(1 - first)["last"],
            json!([{"seat": first, "dice": dice, "move": mv}])
        );
        assert_eq!(sim.turn(1 - first)["ask"], "cube");
    }
}

/// Seat 0 has closed its home and seat 1 a checker on the bar, which cannot enter until seat 0 opens a point.
fn shut_out() -> Value {
    let mut own = [0; 26];
    own[1..=6].fill(2);
    own[24] = 3;
    let mut other = [0; 26];
    other[25] = 1;
    other[13] = 14;
    json!({
        "checkers": [own, other], "dice": [6, 6], "cube": {"value": 1, "owner": null},
        "score": [0, 0], "length": 0, "crawford": false, "turn": 0,
    })
}

#[test]
fn a_seat_that_cannot_move_is_not_asked_and_both_are_told_of_its_pass() {
    let mut sim = Scene::new("tavla")
        .rules(json!({"cube": false}))
        .opening(shut_out())
        .greeted_with([json!({"history": true}), json!({"events": true})]);
    let mv = sim.turn(0)["legal"][0].clone();
    sim.forget();
    sim.play(0, mv);
    // Three checkers on 24 with four sixes: seat 1 stays shut out while seat 0 keeps its home closed.
    let turn = sim.turn(0).clone();
    let passed = &turn["last"][1];
    assert_eq!((&passed["seat"], &passed["move"]), (&json!(1), &json!([])));
    assert!(
        passed["dice"].is_array(),
        "the dice that could not be played are told"
    );
    assert_eq!(turn["history"], turn["last"]);
    assert!(sim.chairs[1].question.is_none());
    assert!(
        sim.heard(1)[0].starts_with("played 0 "),
        "its own pass it reads in `last`"
    );
    sim.finish();
}

#[test]
fn what_was_passed_before_the_start_is_in_the_position_and_not_in_the_news() {
    let mut state = shut_out();
    (state["turn"], state["dice"]) = (json!(1), json!([5, 5]));
    let mut sim = Scene::new("tavla").opening(state).begin();
    sim.ready(0);
    sim.ready(1);
    let start = &sim.messages(1)[1];
    assert_eq!(
        (&start["first"], &start["state"]["turn"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(
        (&sim.turn(0)["last"], &sim.turn(0)["ask"]),
        (&json!([]), &json!("cube"))
    );
    sim.play(0, "roll");
    assert_eq!(
        sim.turn(0)["last"],
        json!([{"seat": 0, "move": "roll"}]),
        "nor is it told later"
    );
}

#[test]
fn a_game_with_a_refused_resignation_still_ends_by_its_rules() {
    let mut sim = Scene::new("tavla").greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, json!({"resign": 1}));
    sim.play(1 - seat, "refuse");
    sim.answer_honestly(seat);
    sim.play(1 - seat, "double");
    sim.play(seat, "pass");
    assert_eq!(sim.over().verdict, Verdict::Rule);
}

#[test]
fn an_answer_equal_in_meaning_is_taken() {
    let mut sim = Scene::new("tavla").rules(json!({"cube": false})).greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    let two = |legal: &&Value| {
        legal
            .as_array()
            .is_some_and(|steps| steps.len() == 2 && steps[0] != steps[1])
    };
    let mv = sim.turn(seat)["legal"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(two)
        .find(|mv| {
            // Two checkers, so that the order is free.
            mv[0][1] != mv[1][0]
        });
    let mv = mv.expect("a play with two checkers").clone();
    sim.play(seat, json!([mv[1], mv[0]]));
    assert_eq!(sim.turn(1 - seat)["last"][0]["move"], json!([mv[1], mv[0]]));
}

#[test]
fn a_resignation_is_answered_by_the_other_seat_and_never_listed() {
    let mut sim = Scene::new("tavla").greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    assert!(!legal(&sim.scene, sim.turn(seat)).contains(&json!({"resign": 1})));
    let dice = sim.turn(seat)["state"]["dice"].clone();
    sim.play(seat, json!({"resign": 2}));
    let turn = sim.turn(1 - seat).clone();
    assert_eq!(
        (&turn["ask"], &turn["legal"]),
        (&json!("resign"), &json!(["accept", "refuse"]))
    );
    sim.play(1 - seat, "refuse");
    // The refused seat must give its answer, and may not offer again.
    let turn = sim.turn(seat).clone();
    assert_eq!(
        (&turn["ask"], &turn["state"]["dice"]),
        (&json!("move"), &dice)
    );
    let mv = turn["legal"][0].clone();
    sim.play(seat, mv);
    sim.play(1 - seat, json!({"resign": 3}));
    sim.play(seat, "accept");
    let result = sim.over();
    assert_eq!(
        (
            result.verdict,
            result.reason.as_str(),
            result.against,
            result.winner
        ),
        (Verdict::Resigned, "resigned", None, Some(seat))
    );
    assert_eq!(result.points.map(|points| points[seat]), Some(3));
    sim.match_won_by(seat);
}

#[test]
fn a_refused_seat_that_offers_again_plays_illegally() {
    let mut sim = Scene::new("tavla").greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, json!({"resign": 1}));
    sim.play(1 - seat, "refuse");
    sim.play(seat, json!({"resign": 1}));
    sim.lost(seat, Verdict::IllegalMove, "illegal_move");
}

#[test]
fn an_offered_double_is_answered_and_a_pass_ends_the_game() {
    let mut sim = Scene::new("tavla").greeted();
    let seat = sim.on_turn().expect("a seat is asked");
    sim.answer_honestly(seat);
    sim.play(1 - seat, "double");
    let turn = sim.turn(seat).clone();
    assert_eq!(
        (&turn["ask"], &turn["legal"]),
        (&json!("take"), &json!(["take", "pass"]))
    );
    sim.play(seat, "pass");
    let result = sim.over();
    assert_eq!(
        (result.verdict, result.reason.as_str()),
        (Verdict::Rule, "passed")
    );
    assert_eq!(result.points.map(|points| points[1 - seat]), Some(1));
}
