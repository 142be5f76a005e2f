use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::lines::*;
use super::*;
use crate::chance::{Draw, MatchChance};

/// What a program in memory answers to a question.
type Answer = fn(&Value) -> String;

/// A program in memory: a function of the question, and what it was asked.
struct Fake {
    answer: Answer,
    asked: Mutex<Vec<String>>,
    count: AtomicU32,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fake")
    }
}

impl Program for Fake {
    fn ask(&self, line: &str) -> Result<Vec<u8>, String> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.asked.lock().expect("no panic").push(line.to_owned());
        let question: Value = serde_json::from_str(line).expect("questions are JSON");
        match (self.answer)(&question) {
            text if text == "gone" => Err("it is gone".into()),
            text => Ok(text.into_bytes()),
        }
    }
}

fn fake(answer: Answer) -> Arc<Fake> {
    Arc::new(Fake {
        answer,
        asked: Mutex::default(),
        count: AtomicU32::new(0),
    })
}

/// Sticks: take one to three, who takes the last one wins. At the start a coin with weights gives 5 or 6 sticks.
fn sticks(question: &Value) -> String {
    if question["describe"] == true {
        return json!({"name":"sticks","rules":{"most":3},"forfeit":true}).to_string();
    }
    let most = question["rules"]["most"].as_i64().unwrap_or(0);
    if !(1..=9).contains(&most) {
        return json!({"error":{"code":"bad_message","message":"most is 1 to 9"}}).to_string();
    }
    if let Some(seat) = question["forfeit"].as_u64() {
        let winner = 1 - seat;
        return json!({"result":{"winner":winner,"points":[7,8],"reason":"left"}}).to_string();
    }
    let state = question.get("state");
    let (mut left, mut turn) = match state {
        None => (json!(null), question["first"].as_i64().expect("first")),
        Some(state) => (state["left"].clone(), state["turn"].as_i64().unwrap_or(0)),
    };
    if let Some(value) = question.get("chance") {
        left = value.clone();
    }
    let legal = |left: i64| (1..=most.min(left)).collect::<Vec<_>>();
    if let Some(mv) = question["move"].as_i64() {
        let have = left.as_i64().unwrap_or(0);
        if !legal(have).contains(&mv) {
            return json!({"error":{"code":"illegal_move","message":"no"}}).to_string();
        }
        left = json!(have - mv);
        turn = 1 - turn;
    }
    let state = json!({"left":left,"turn":turn});
    match left.as_i64() {
        None => json!({"state":state,"turn":null,"ask":"chance","outcomes":[[5,1],[6,3]],"legal":[],"result":null}),
        Some(0) => json!({"state":state,"turn":null,"ask":null,"legal":[],"result":{"winner":1-turn,"score":[turn,1-turn],"points":[turn,1-turn],"reason":"last"}}),
        Some(left) => json!({"state":state,"turn":turn,"ask":"move","legal":legal(left),"result":null,"board":"x\u{1b}[2J\n"}),
    }
    .to_string()
}

fn rules(program: &Arc<Fake>) -> Arc<dyn Ruleset> {
    let game = Outside::new(program.clone()).expect("it describes itself");
    game.rules(&Map::new()).expect("its defaults fit")
}

fn started(program: &Arc<Fake>) -> Box<dyn Position> {
    let mut position = rules(program).start(&Setup::SINGLE);
    position.chance(Drawn::Lot(1));
    position
}

#[test]
fn a_game_is_played_through_the_facade() {
    let program = fake(sticks);
    let mut position = rules(&program).start(&Setup {
        lot: 1,
        ..Setup::SINGLE
    });
    let due = Chance {
        kind: ChanceKind::Outcome,
        seat: None,
    };
    assert_eq!(position.to_act(), ToAct::Chance(due));
    assert_eq!(position.choices(), Some(4));
    // The first outcome has the number 0, the second the three that follow.
    let values: Vec<Value> = (0..4)
        .filter_map(|lot| position.drawn_value(Drawn::Lot(lot)))
        .collect();
    assert_eq!(values, [json!(5), json!(6), json!(6), json!(6)]);
    assert_eq!(position.drawn_value(Drawn::Lot(4)), None);
    position.chance(Drawn::Lot(3));
    assert_eq!(position.to_act(), ToAct::Seat(1, Ask::Move));
    assert_eq!(
        position.board(),
        "x[2J\n",
        "nothing in a board steers a terminal"
    );
    let before = program.count.load(Ordering::Relaxed);
    let mut told = Vec::new();
    for wrong in [json!(4), json!("1"), json!(null), json!([1]), json!({})] {
        let refused = position.play(&wrong, &mut told).expect_err("not listed");
        assert!(
            refused.message.contains("legal moves: [1,2,3]"),
            "{refused}"
        );
    }
    assert_eq!(
        program.count.load(Ordering::Relaxed),
        before,
        "what a bot writes never reaches the program"
    );
    assert!(told.is_empty());
    // A whole number may be written with a point.
    position.play(&json!(3.0), &mut told).expect("it is listed");
    assert_eq!(told, br#"{"seat":1,"move":3}"#);
    let copy = position.boxed_clone();
    position.play(&json!(3), &mut told).expect("it is listed");
    let outcome = position.outcome().expect("it is over");
    assert_eq!((outcome.winner, outcome.reason), (Some(0), "last"));
    assert!(copy.outcome().is_none(), "a copy stands still");
    let forfeit = copy.forfeit(0);
    assert_eq!(
        (forfeit.winner, forfeit.reason, forfeit.points),
        (Some(1), FORFEIT, vec![7, 8])
    );
    assert_eq!(position.broken(), None);
    assert_eq!(started(&program).perft(2), 9);
    let asked = program.asked.lock().expect("no panic");
    assert!(asked.contains(
        &r#"{"game":"sticks","rules":{"most":3},"moves":[],"first":1,"seats":2}"#.to_owned()
    ));
    assert!(asked.contains(
        &r#"{"game":"sticks","rules":{"most":3},"state":{"left":6,"turn":1},"move":3}"#.to_owned()
    ));
}

#[test]
fn options_are_checked_by_name_by_type_and_by_the_program() {
    let game = Outside::new(fake(sticks)).expect("it describes itself");
    let refused = |given: Value| {
        let Value::Object(given) = given else {
            panic!("an object")
        };
        game.rules(&given).expect_err("it does not fit")
    };
    assert_eq!(refused(json!({"moist":3})).key, "moist");
    let wrong = refused(json!({"most":"3"}));
    assert!(wrong.message.contains("is text, not a number"), "{wrong}");
    let wrong = refused(json!({"most":0}));
    assert_eq!(
        (wrong.key.as_str(), wrong.message.as_str()),
        ("most", "most is 1 to 9")
    );
    let fits = game.rules(&Map::from_iter([("most".to_owned(), json!(2))]));
    assert_eq!(fits.expect("it fits").options(), json!({"most":2}));
}

/// What breaks a game, each by the answer to the first move.
fn breaks(answer: Answer) -> String {
    let mut position = started(&fake(answer));
    position
        .play(&json!(1), &mut Vec::new())
        .expect("a bot is never at fault");
    assert_eq!(position.to_act(), ToAct::Over);
    position.broken().expect("it is broken").to_owned()
}

#[test]
fn a_program_that_fails_breaks_the_game() {
    fn or(question: &Value, answer: &str) -> String {
        match question.get("move") {
            Some(_) => answer.to_owned(),
            None => sticks(question),
        }
    }
    let said = breaks(|question| or(question, "gone"));
    assert!(said.contains("`sticks` failed: it is gone"), "{said}");
    let table: [(Answer, &str); 14] = [
        (|q| or(q, "not JSON"), "cannot be read"),
        (|q| or(q, "[]"), "no JSON object"),
        (
            |q| or(q, r#"{"error":{"code":"x","message":"a bug"}}"#),
            "it refuses what it has listed",
        ),
        (
            |q| or(q, r#"{"turn":0,"ask":"move","legal":[1],"result":null}"#),
            "`state` is missing",
        ),
        (
            |q| or(q, r#"{"state":7,"turn":0,"ask":"move","legal":[1]}"#),
            "`state` is an object",
        ),
        (
            |q| or(q, r#"{"state":{},"turn":0,"ask":"move","legal":[]}"#),
            "`legal` is empty",
        ),
        (
            |q| or(q, r#"{"state":{},"turn":1,"ask":"move","legal":[2,1,1.0]}"#),
            "`legal` lists 1 twice, also as 1.0: each move once",
        ),
        (
            |q| or(q, r#"{"state":{},"turn":2,"ask":"move","legal":[1]}"#),
            "`turn` is a seat",
        ),
        (
            |q| or(q, r#"{"state":{},"ask":"move","legal":[1]}"#),
            "of which seat",
        ),
        (
            |q| or(q, r#"{"state":{},"turn":0,"ask":null,"legal":[]}"#),
            "while there is no result",
        ),
        (
            |q| or(q, r#"{"state":{},"ask":"chance","outcomes":[[1,0]]}"#),
            "whole number from 1",
        ),
        (
            |q| {
                or(
                    q,
                    r#"{"state":{},"ask":"chance","outcomes":[[1,4294967295],[2,1]]}"#,
                )
            },
            "sum up to more",
        ),
        (
            |q| or(q, r#"{"state":{},"result":{"winner":0,"score":[0,1]}}"#),
            "`winner` is 0, but `score` says",
        ),
        (
            |q| or(q, r#"{"state":{},"result":{"winner":0,"points":[1]}}"#),
            "list of 2 whole numbers",
        ),
    ];
    for (answer, words) in table {
        let said = breaks(answer);
        assert!(said.contains(words), "{said} does not say {words}");
        assert!(
            said.contains(r#""move":1"#) || said.contains("refuses"),
            "{said} names the question"
        );
    }
}

#[test]
fn a_start_that_fails_and_a_chance_without_end_break_the_game() {
    let position = rules(&fake(sticks)).start(&Setup::SINGLE);
    assert_eq!(position.broken(), None);
    // Only the start for seat 1 fails, so that the options still fit.
    let program = fake(|question| match question["first"].as_i64() {
        Some(1) => "gone".into(),
        _ => sticks(question),
    });
    let position = rules(&program).start(&Setup {
        lot: 1,
        ..Setup::SINGLE
    });
    assert!(
        position
            .broken()
            .is_some_and(|why| why.contains("gives no start"))
    );
    let program = fake(|question| match question.get("chance") {
        Some(_) => json!({"state":{},"ask":"chance","outcomes":[[1,1]]}).to_string(),
        None => sticks(question),
    });
    let mut position = rules(&program).start(&Setup::SINGLE);
    let mut draws = 0;
    while position.broken().is_none() {
        position.chance(Drawn::Lot(0));
        draws += 1;
    }
    assert_eq!(draws, MAX_CHANCES + 1);
}

#[test]
fn a_game_without_end_is_drawn_with_the_points_that_stand() {
    let program = fake(|question| {
        if question["describe"] == true {
            return json!({"name":"endless","seats":3}).to_string();
        }
        let n = question["state"]["n"].as_u64().unwrap_or(0);
        let n = n + u64::from(question.get("move").is_some());
        let result = (n == 20_001).then(|| json!({"winner":1}));
        json!({"state":{"n":n},"turn":n % 3,"ask":"move","legal":["x"],"points":[n,5,6],"result":result})
            .to_string()
    });
    let mut position = rules(&program).start(&Setup {
        seats: 3,
        ..Setup::SINGLE
    });
    for played in 0..MAX_STEPS {
        assert_eq!(position.outcome(), None, "after {played}");
        position
            .play(&json!("x"), &mut Vec::new())
            .expect("it is legal");
    }
    assert_eq!((position.broken(), position.to_act()), (None, ToAct::Over));
    let outcome = position.outcome().expect("it is over");
    assert_eq!(outcome.winner, None);
    assert_eq!(outcome.score, [share_of(3); 3]);
    assert_eq!(outcome.points, [MAX_STEPS, 5, 6]);
    assert_eq!(outcome.reason, "ply_cap");
}

#[test]
fn a_forfeit_without_the_program_gives_the_win_to_the_others() {
    let program = fake(|question| {
        if question["describe"] == true {
            return json!({"name":"three","seats":3}).to_string();
        }
        json!({"state":{},"turn":0,"ask":"move","legal":["x"],"points":[4,5,6]}).to_string()
    });
    let position = rules(&program).start(&Setup {
        seats: 3,
        ..Setup::SINGLE
    });
    let outcome = position.forfeit(1);
    assert_eq!(outcome.winner, None);
    assert_eq!(outcome.score, [Share::HALF, Share::LOSS, Share::HALF]);
    assert_eq!(outcome.points, [4, 5, 6]);
}

#[test]
fn a_description_is_checked() {
    for (answer, words) in [
        (r#"{}"#, "`name` is missing"),
        (r#"{"name":"Pig"}"#, "lower-case"),
        (r#"{"name":"pig","seats":1}"#, "`seats` is 2 to 4"),
        (r#"{"name":"pig","seats":[3,2]}"#, "`seats` is 2 to 4"),
        (r#"{"name":"pig","rules":[]}"#, "`rules` is an object"),
        (r#"{"name":"pig","title":"a\nb"}"#, "`title` is text"),
        (r#"{"error":{"message":"what?"}}"#, "what?"),
    ] {
        let said = described(answer.as_bytes()).expect_err(answer).words();
        assert!(said.contains(words), "{said} does not say {words}");
    }
    let read = described(br#"{"name":"pig","seats":[2,4],"more":1}"#).expect("it is right");
    assert_eq!((read.title.as_str(), read.seats), ("pig", (2, 4)));
    let program = fake(|_| json!({"name": crate::game::GAMES[0].facts().name}).to_string());
    let said = Outside::new(program).expect_err("the name is taken");
    assert!(said.contains("built-in game"), "{said}");
}

#[test]
fn weights_are_kept_exactly() {
    let position = rules(&fake(sticks)).start(&Setup::SINGLE);
    let mut chance = MatchChance::new("42", 1, ["a", "b"], 0);
    let due = Chance {
        kind: ChanceKind::Outcome,
        seat: None,
    };
    let mut sixes = 0;
    for n in 0..40_000 {
        let drawn = chance.draw(1, due, n, 4);
        sixes += u32::from(position.drawn_value(drawn) == Some(json!(6)));
    }
    // Three of four; five standard deviations are 433.
    assert!(sixes.abs_diff(30_000) < 433, "{sixes}");
}

#[test]
fn values_that_mean_the_same() {
    let same_text = |a: &str, b: &str| {
        same(
            &serde_json::from_str(a).expect("JSON"),
            &serde_json::from_str(b).expect("JSON"),
        )
    };
    assert!(same_text(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1.0}"#));
    assert!(!same_text("9007199254740993", "9007199254740992"));
    assert!(!same_text("[1]", "[1,1]"));
    assert!(!same_text(r#"{"a":1}"#, r#"{"b":1}"#));
    assert!(!same_text("1", r#""1""#));
}

#[test]
fn a_probe_tells_good_rules_from_bad() {
    let bad = |answer| {
        let game = Outside::new(fake(answer)).expect("it describes itself");
        let found = probe::probe(&game, &Map::new());
        let grave = found.into_iter().find(|finding| finding.grave);
        grave.map(|finding| (finding.check, finding.what))
    };
    assert_eq!(bad(sticks), None);
    // Forgets whose turn it is when a state is read in again.
    let forgets = bad(
        |question| match (question.get("state"), question.get("move")) {
            (Some(state), None)
                if question.get("chance").is_none() && question.get("forfeit").is_none() =>
            {
                let left = &state["left"];
                sticks(&json!({"rules":question["rules"],"state":{"left":left,"turn":0}}))
            }
            _ => sticks(question),
        },
    );
    assert_eq!(forgets.map(|found| found.0), Some("states"));
    let endless = bad(|question| {
        if question["describe"] == true {
            return json!({"name":"endless"}).to_string();
        }
        json!({"state":{"turn":0},"turn":0,"ask":"move","legal":["x"]}).to_string()
    });
    assert_eq!(endless.map(|found| found.0), Some("ends"));
    // The same moves in another order, each time the state is read in again.
    fn read_in(question: &Value) -> bool {
        let has = |key| question.get(key).is_some();
        has("state") && !has("move") && !has("chance") && !has("forfeit")
    }
    let shuffles = bad(|question| match sticks(question) {
        answer if read_in(question) => answer.replace("[1,2,3]", "[3,2,1]"),
        answer => answer,
    });
    let (check, what) = shuffles.expect("a fault");
    assert_eq!(check, "states");
    assert!(
        what.contains("has the legal moves [3,2,1], and they came in another order: [1,2,3]"),
        "{what}"
    );
    let others = bad(|question| match sticks(question) {
        answer if read_in(question) => answer.replace("[1,2,3]", "[1,2,4]"),
        answer => answer,
    });
    let (_, what) = others.expect("a fault");
    assert!(what.contains("[1,2,4], and it came with [1,2,3]"), "{what}");
    // It need not know what the referee never asks: it dies of a move that it has not listed.
    let strict = bad(|question| {
        let answer = sticks(question);
        match answer.contains("illegal_move") {
            true => "gone".into(),
            false => answer,
        }
    });
    assert_eq!(strict, None);
    let refuses = bad(|question| match question["move"].as_i64() {
        Some(2) => json!({"error":{"message":"two is unlucky"}}).to_string(),
        _ => sticks(question),
    });
    let (check, what) = refuses.expect("a fault");
    assert!(
        check == "moves" && what.contains("two is unlucky"),
        "{what}"
    );
}

/// A line too many, read as the answer to the next question, makes each answer that of the question before, to the end of the game.
#[test]
fn a_program_that_runs_behind_its_questions_is_found_at_the_end() {
    static LAST: Mutex<Option<String>> = Mutex::new(None);
    let program = fake(|question| {
        let n = question["state"]["n"].as_u64().unwrap_or(0);
        let n = n + u64::from(question.get("move").is_some());
        let turn = (n < 10).then_some(n % 2);
        let answer = if question["describe"] == true {
            json!({"name":"ten","seats":2})
        } else {
            json!({"state":{"n":n},"turn":turn,"ask":turn.map(|_| "move"),"legal":turn.map_or(json!([]), |_| json!(["x"])),
                "result":turn.map_or(json!({"winner":0}), |_| json!(null))})
        };
        // From the fifth move on it is one behind.
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() && n < 5 {
            return answer.to_string();
        }
        let behind = last.replace(answer.to_string());
        behind.unwrap_or_else(|| answer.to_string())
    });
    let mut position = rules(&program).start(&Setup::SINGLE);
    for moves in 0.. {
        if position.to_act() == ToAct::Over || position.broken().is_some() {
            break;
        }
        assert!(moves < 30);
        position
            .play(&json!("x"), &mut Vec::new())
            .expect("it is legal");
    }
    let why = position.broken().expect("it is found");
    assert!(why.contains("a line too many"), "{why}");
}
