//! The types read and write messages as the specification says.

use hakem_protocol::results::{Forfeits, GameRow, RulingRow, StandingRow, Verdict};
use hakem_protocol::tool::{Reply, Request};
use hakem_protocol::{
    Ask, ErrorCode, FromBot, FromReferee, Move, Pong, Ready, Score, Start, Stop, StopWhy,
};
use serde_json::{Value, json};

fn from_bot(line: &str) -> Option<FromBot> {
    serde_json::from_str(line).ok()
}

fn a_move(mv: Value) -> FromBot {
    FromBot::Move(Move {
        id: 1,
        mv,
        note: None,
        eval: None,
    })
}

#[test]
fn a_bots_message_is_read_whatever_its_spelling() {
    // [S 1.3], [S 1.7]
    for line in [
        r#"{"type":"move","id":1,"move":3}"#,
        r#"  { "move" : 3 , "id" : 1 , "type" : "move" }  "#,
        "{\"type\":\"move\",\"id\":1,\"move\":3}\r",
        r#"{"\u0074ype":"m\u006fve","id":1,"move":3}"#,
        r#"{"type":"move","id":1.0,"move":3}"#,
        r#"{"type":"move","id":1e0,"move":3}"#,
        r#"{"type":"move","id":1,"move":3,"note":null,"eval":null}"#,
        r#"{"type":"move","id":1,"move":3,"pv":["a",{"b":[1.5e300,-0]}],"__proto__":{"x":1}}"#,
    ] {
        assert_eq!(from_bot(line), Some(a_move(json!(3))), "{line}");
    }
    assert_eq!(
        from_bot(r#"{"type":"pong","id":9.0}"#),
        Some(FromBot::Pong(Pong { id: 9 }))
    );
}

#[test]
fn a_move_may_be_of_any_type() {
    // [S 5.7]
    for value in [
        json!(null),
        json!(true),
        json!({}),
        json!([[8, 5]]),
        json!("x"),
    ] {
        let line = json!({"type": "move", "id": 1, "move": value}).to_string();
        assert_eq!(from_bot(&line), Some(a_move(value)), "{line}");
    }
}

#[test]
fn ready_has_defaults() {
    // [S 3.2]
    let bare = FromBot::Ready(Ready::default());
    for line in [
        r#"{"type":"ready","protocol":1}"#,
        r#"{"type":"ready","protocol":1.0,"name":null,"version":null,"author":null}"#,
        r#"{"type":"ready","protocol":1,"legal":null,"history":null,"events":null,"deterministic":null}"#,
        r#"{"type":"ready","protocol":1,"legal":true,"history":false,"events":false,"elo":2000}"#,
    ] {
        assert_eq!(from_bot(line).as_ref(), Some(&bare), "{line}");
    }
    assert_eq!(
        serde_json::to_string(&bare).ok().as_deref(),
        Some(r#"{"type":"ready","protocol":1}"#)
    );
}

#[test]
fn nesting_has_a_limit() {
    // [S 1.6]: the message is the first level.
    let nested = |levels: usize| {
        let lists = "[".repeat(levels - 1) + &"]".repeat(levels - 1);
        format!(r#"{{"type":"move","id":1,"move":{lists}}}"#)
    };
    assert!(from_bot(&nested(127)).is_some());
    assert!(from_bot(&nested(128)).is_none());
}

#[test]
fn what_is_no_message_of_a_bot_is_refused() {
    // [S 7.5], `bad_message`
    for line in [
        "3",
        "null",
        "[]",
        "{}",
        r#"{"type":3}"#,
        r#"{"type":"turn","id":1}"#,
        r#"{"type":"Move","id":1,"move":3}"#,
        r#"{"type":"move","move":3}"#,
        r#"{"type":"move","id":1}"#,
        r#"{"type":"move","id":null,"move":3}"#,
        r#"{"type":"move","id":"1","move":3}"#,
        r#"{"type":"move","id":1.5,"move":3}"#,
        r#"{"type":"move","id":-1,"move":3}"#,
        r#"{"type":"move","id":1e30,"move":3}"#,
        r#"{"type":"move","id":1,"move":3,"note":5}"#,
        r#"{"type":"move","id":1,"move":3,"eval":"+1"}"#,
        r#"{"type":"move","id":1,"move":3,"eval":[1]}"#,
        r#"{"type":"pong"}"#,
        r#"{"type":"ready"}"#,
        r#"{"type":"ready","protocol":"1"}"#,
        r#"{"type":"ready","protocol":1,"name":7}"#,
        r#"{"type":"ready","protocol":1,"legal":"no"}"#,
    ] {
        assert_eq!(from_bot(line), None, "{line}");
    }
}

#[test]
fn the_referees_messages_ignore_what_they_do_not_know() {
    // [S 1.3]
    let stop = r#"{"type":"stop","id":3,"why":"time","since":{"x":[1]}}"#;
    assert_eq!(
        serde_json::from_str::<FromReferee>(stop).ok(),
        Some(FromReferee::Stop(Stop {
            id: 3,
            why: StopWhy::Time
        }))
    );
    assert_eq!(
        serde_json::from_str::<FromReferee>(r#"{"type":"bye","see":"you"}"#).ok(),
        Some(FromReferee::Bye(hakem_protocol::Bye {}))
    );
}

#[test]
fn what_is_absent_is_not_written() {
    // [S 4.1]
    let line = json!({"type": "start", "game_id": "r1.m1.g1", "seat": 0, "names": ["a", "b"], "first": 1,
        "rules": {}, "match": {"game": 1, "score": [0, 0.5]}, "state": {}});
    let start: FromReferee = serde_json::from_value(line.clone()).expect("a start without options");
    let FromReferee::Start(Start { opening, again, .. }) = &start else {
        panic!("{start:?}")
    };
    assert_eq!((*opening, *again), (None, 0));
    assert_eq!(serde_json::to_value(&start).ok(), Some(line));
}

#[test]
fn whole_scores_are_written_as_whole_numbers() {
    let text = |score: f64| serde_json::to_string(&Score(score)).expect("a number");
    assert_eq!(
        [text(1.0), text(0.0), text(0.5), text(3.0), text(1.0 / 3.0)],
        ["1", "0", "0.5", "3", "0.3333333333333333"]
    );
    for whole in ["1", "1.0"] {
        assert_eq!(serde_json::from_str::<Score>(whole).ok(), Some(Score(1.0)));
    }
}

#[test]
fn words_are_spelled_as_the_types_say() {
    for ask in Ask::ALL {
        assert_eq!(serde_json::to_value(ask).ok(), Some(json!(ask.as_str())));
    }
    for code in ErrorCode::ALL {
        assert_eq!(serde_json::to_value(code).ok(), Some(json!(code.as_str())));
    }
}

#[test]
fn rows_survive_the_round_trip() {
    // [S 13.1], [S 13.2]
    let game = json!({"id": "r1.m1.g1", "seats": ["team-a", "house"], "winner": "house", "score": [0, 1],
        "points": [0, 2], "verdict": "rule", "reason": "mars", "against": null, "moves": 57,
        "time_ms": [812, 640], "cpu_ms": [790, 11], "record": "records/r1.m1.g1.jsonl", "record_hash": "00ff"});
    let row: GameRow = serde_json::from_value(game.clone()).expect("a row of games");
    assert_eq!(row.verdict, Verdict::Rule);
    assert_eq!(serde_json::to_value(row).ok(), Some(game));

    let void = json!({"id": "r1.m1.g1", "seats": ["a", "b"], "winner": null, "score": null, "points": null,
        "verdict": "void", "reason": "the disk is full", "against": null, "moves": 0, "time_ms": [0, 0],
        "cpu_ms": [0, 0], "record": null, "record_hash": null});
    let row: GameRow = serde_json::from_value(void.clone()).expect("a void game");
    assert_eq!(serde_json::to_value(row).ok(), Some(void));

    let ruling = json!({"number": 2, "at": "2026-01-02T03:04:05Z", "ruling": "void", "about": ["r1.m2"], "reason": "a leak",
        "in_force": false, "undone_by": 3, "effect": "counts for nobody, and is not played again"});
    let row: RulingRow = serde_json::from_value(ruling.clone()).expect("a ruling");
    assert_eq!(serde_json::to_value(row).ok(), Some(ruling));

    let mut forfeits = Forfeits::default();
    forfeits.add(Verdict::Timeout);
    let standing = StandingRow {
        rank: 1,
        name: "house".into(),
        played: 2,
        won: 1,
        drawn: 1,
        lost: 0,
        points: Score(1.5),
        byes: 0,
        games_won: 3,
        games_drawn: 0,
        games_lost: 1,
        void: 0,
        adjudicated: 0,
        by_default: 0,
        status: None,
        forfeits,
        rating: 1571.25,
        deviation: 98.5,
        volatility: 0.06,
        interval: [1378.0, 1764.5],
        tie_breaks: [("direct".to_owned(), 1.5)].into(),
        time_ms: 4,
        cpu_ms: 5,
        wall_ms: 6,
        points_per_game: None,
        points_per_game_interval: None,
    };
    let written = serde_json::to_value(&standing).expect("plain data");
    assert_eq!(written["forfeits"]["timeout"], 1);
    assert_eq!(written.get("points_per_game"), None);
    assert_eq!(serde_json::from_value(written).ok(), Some(standing));
}

#[test]
fn the_tool_tells_null_from_absent() {
    // [S 11.2], [S 11.4]
    let request = |text: &str| -> Request { serde_json::from_str(text).expect("a request") };
    assert_eq!(
        request(r#"{"game":"oware"}"#),
        Request {
            game: "oware".into(),
            ..Request::default()
        }
    );
    let null = request(r#"{"game":"oware","move":null,"first":null,"seat":2.0,"why":"?"}"#);
    assert_eq!(
        (null.mv, null.first, null.seat),
        (Some(Value::Null), None, Some(2))
    );
    assert!(serde_json::from_str::<Request>(r#"{"game":"oware","first":-1}"#).is_err());
    assert!(serde_json::from_str::<Request>(r#"{"rules":{}}"#).is_err());
}

#[test]
fn the_tool_answers_or_reports() {
    // [S 11.3], [S 11.4]
    for line in [
        r#"{"turn":0,"ask":"move","legal":[1,2],"result":null}"#,
        r#"{"state":{},"turn":null,"ask":"race","legal":[],"result":null}"#,
        r#"{"state":{},"turn":null,"ask":null,"legal":[],"result":{"winner":null,"score":[0.5,0.5],"points":[24,24],"reason":"pits_empty"}}"#,
        r#"{"error":{"code":"illegal_move","message":"pit 5 is empty"}}"#,
    ] {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let reply: Reply = serde_json::from_str(line).expect("a reply");
        assert_eq!(matches!(reply, Reply::Error(_)), line.contains("error"));
        assert_eq!(serde_json::to_value(reply).ok(), Some(value));
    }
}
