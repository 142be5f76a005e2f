//! Reading a bot's line: what is a message, and which code names what is not (SPEC 1, 8).

use hakem_protocol::{ErrorCode, FromBot, Move, Pong, Ready, line};
use serde_json::json;

const LONE_SURROGATE: &str = r#"{"type":"move","id":1,"move":3,"note":"\ud800"}"#;

fn code(line: &[u8]) -> Result<FromBot, ErrorCode> {
    line::from_bot(line).map_err(|error| error.code)
}

fn message(line: &str) -> String {
    match line::from_bot(line.as_bytes()) {
        Err(error) => error.message,
        Ok(read) => panic!("{line} was read as {read:?}"),
    }
}

fn a_move(mv: serde_json::Value) -> FromBot {
    FromBot::Move(Move {
        id: 1,
        mv,
        note: None,
        eval: None,
    })
}

#[test]
fn a_message_is_read_whatever_its_spelling() {
    let three = Ok(a_move(json!(3)));
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
        assert_eq!(code(line.as_bytes()), three, "{line}");
    }
}

#[test]
fn ready_has_defaults() {
    let bare = Ready {
        protocol: 1,
        name: None,
        version: None,
        author: None,
        legal: true,
        history: false,
        events: false,
    };
    assert_eq!(
        code(br#"{"type":"ready","protocol":1}"#),
        Ok(FromBot::Ready(bare))
    );
    let Ok(FromBot::Ready(full)) = code(
        r#"{"type":"ready","protocol":2,"name":"Çömlek","version":"1","author":"A","legal":false,"history":true,"events":true}"#
            .as_bytes(),
    ) else {
        panic!("a full ready is read")
    };
    assert_eq!(full.name.as_deref(), Some("Çömlek"));
    assert_eq!(
        (full.protocol, full.legal, full.history, full.events),
        (2, false, true, true)
    );
}

#[test]
fn what_is_not_strict_json_is_bad_json() {
    let nested = format!(
        r#"{{"type":"move","id":1,"move":3,"eval":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for line in [
        "hello",
        "{",
        r#"{"type":"move","id":1,"move":3}{"type":"move","id":1,"move":3}"#,
        r#"{"type":"move","id":1,"move":3,}"#,
        r#"{"type":"move","id":1,"move":3} // why not"#,
        r#"{'type':'move','id':1,'move':3}"#,
        r#"{"type":"move","id":1,"move":NaN}"#,
        r#"{"type":"move","id":1,"move":3,"eval":Infinity}"#,
        r#"{"type":"move","id":1,"move":3,"eval":-Infinity}"#,
        r#"{"type":"move","id":1,"move":007}"#,
        r#"{"type":"move","id":1,"move":0x10}"#,
        r#"{"type":"move","id":1,"move":+3}"#,
        r#"{"type":"move","id":1,"move":3,"eval":1e400}"#,
        r#"{"type":"move","id":18446744073709551616,"move":3}"#,
        r#"{"type":"move","id":1,"move":-9223372036854775809}"#,
        r#"{"type":"move","id":1,"move":3,"other":123456789012345678901234567890}"#,
        r#"{"type":"move","id":1,"move":3,"move":4}"#,
        r#"{"type":"move","id":1,"move":3,"mov\u0065":4}"#,
        r#"{"type":"move","id":1,"move":3,"eval":{"x":1,"x":1}}"#,
        r#"{"type":"move","id":1,"move":3,"other":[{"x":1,"x":2}]}"#,
        LONE_SURROGATE,
        r#"{"type":"move","id":1,"move":3,"other":"\udc00\ud800"}"#,
        "{\"type\":\"move\",\"id\":1,\"move\":3,\"note\":\"a\u{1}b\"}",
        "\u{feff}{\"type\":\"move\",\"id\":1,\"move\":3}",
        &nested,
    ] {
        assert_eq!(code(line.as_bytes()), Err(ErrorCode::BadJson), "{line}");
    }
}

#[test]
fn numbers_of_64_bits_and_doubles_are_kept() {
    for (text, value) in [
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1e300", json!(1e300)),
        ("100000000000000000000.0", json!(1e20)),
        ("\"99999999999999999999\"", json!("99999999999999999999")),
        (
            "\"\\\"99999999999999999999\"",
            json!("\"99999999999999999999"),
        ),
    ] {
        let line = format!(r#"{{"type":"move","id":1,"move":{text}}}"#);
        assert_eq!(code(line.as_bytes()), Ok(a_move(value)), "{line}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_told_apart() {
    let line = b"{\"type\":\"move\",\"id\":1,\"move\":3,\"note\":\"\xff\"}";
    let error = line::from_bot(line).expect_err("not UTF-8");
    assert_eq!(error.code, ErrorCode::NotUtf8);
    assert!(error.message.contains("byte 40"), "{error}");
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(code(&utf16), Err(ErrorCode::BadJson));
}

#[test]
fn json_that_is_no_message_is_bad_message() {
    for (line, part) in [
        ("3", "JSON object"),
        ("null", "JSON object"),
        ("[]", "JSON object"),
        ("\"move\"", "JSON object"),
        ("{}", "no `type`"),
        (r#"{"type":3}"#, "`type` is a text"),
        (r#"{"type":"turn","id":1}"#, "\"turn\""),
        (r#"{"type":"Move","id":1,"move":3}"#, "\"Move\""),
        (r#"{"type":"move","move":3}"#, "needs `id`"),
        (r#"{"type":"move","id":1}"#, "needs a `move`"),
        (r#"{"type":"move","id":null,"move":3}"#, "`id`"),
        (r#"{"type":"move","id":"1","move":3}"#, "`id`"),
        (r#"{"type":"move","id":1.5,"move":3}"#, "not 1.5"),
        (r#"{"type":"move","id":-1,"move":3}"#, "not -1"),
        (r#"{"type":"move","id":[1],"move":3}"#, "`id`"),
        (r#"{"type":"move","id":1,"move":3,"note":5}"#, "`note`"),
        (
            r#"{"type":"move","id":1,"move":3,"eval":"+1"}"#,
            "a number or an object",
        ),
        (
            r#"{"type":"move","id":1,"move":3,"eval":[1]}"#,
            "a number or an object",
        ),
        (r#"{"type":"pong"}"#, "needs `id`"),
        (r#"{"type":"ready"}"#, "needs `protocol`"),
        (r#"{"type":"ready","protocol":"1"}"#, "`protocol`"),
        (r#"{"type":"ready","protocol":4294967296}"#, "`protocol`"),
        (r#"{"type":"ready","protocol":1,"name":7}"#, "`name`"),
        (
            r#"{"type":"ready","protocol":1,"legal":"no"}"#,
            "true or false",
        ),
        (
            r#"{"type":"ready","protocol":1,"legal":null}"#,
            "true or false",
        ),
    ] {
        assert_eq!(code(line.as_bytes()), Err(ErrorCode::BadMessage), "{line}");
        let message = message(line);
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn a_move_of_any_type_is_a_move() {
    for value in [json!(null), json!(true), json!({}), json!([]), json!("x")] {
        let line = json!({"type": "move", "id": 1, "move": value}).to_string();
        assert_eq!(code(line.as_bytes()), Ok(a_move(value)), "{line}");
    }
}

#[test]
fn messages_say_where_and_stay_short() {
    assert_eq!(
        message(r#"{"type":"move","id":1,"move":NaN}"#),
        r#"the line is not strict JSON: expected value at byte 30, before "NaN}""#
    );
    assert!(
        message(r#"{"type":"move","id":1,"move":3,"move":4}"#)
            .contains(r#"the key "move" is there twice"#)
    );
    assert!(message(r#"{"type":"move","id":1"#).ends_with("at its end"));
    let long = json!({"type": "\u{1b}[31m".repeat(1000)}).to_string();
    assert!(message(&long).len() < 400);
    assert!(!message(&long).contains('\u{1b}'));
    let long = format!(r#"{{"type":"move","id":"{}","move":1}}"#, "ş".repeat(1000));
    assert!(message(&long).chars().count() < 200);
}

#[test]
fn the_derived_reader_agrees_about_messages() {
    // Bots' own tests and the records read messages with serde alone. Both readers accept the same messages.
    for line in [
        r#"{"type":"ready","protocol":1}"#,
        r#"{"type":"ready","protocol":1.0,"name":null,"legal":false}"#,
        r#"{"type":"ready","protocol":"1"}"#,
        r#"{"type":"ready","protocol":1,"name":7}"#,
        r#"{"type":"ready","protocol":1,"legal":null}"#,
        r#"{"type":"ready"}"#,
        r#"{"type":"move","id":1,"move":null}"#,
        r#"{"type":"move","id":3.0,"move":[[8,5],[6,5]],"note":"n","eval":{"win":0.5},"pv":[]}"#,
        r#"{"type":"move","id":3,"move":1,"eval":null}"#,
        r#"{"type":"move","id":3,"move":1,"eval":"+"}"#,
        r#"{"type":"move","id":-3,"move":1}"#,
        r#"{"type":"move","id":1e30,"move":1}"#,
        r#"{"type":"move","id":3}"#,
        r#"{"type":"pong","id":9}"#,
        r#"{"type":"pong","id":9.5}"#,
        r#"{"type":"bye"}"#,
        r#"{}"#,
        r#"[]"#,
    ] {
        let derived: Result<FromBot, _> = serde_json::from_str(line);
        let strict = line::from_bot(line.as_bytes());
        assert_eq!(derived.ok(), strict.ok(), "{line}");
    }
    assert_eq!(
        code(br#"{"type":"pong","id":9}"#),
        Ok(FromBot::Pong(Pong { id: 9 }))
    );
}

#[test]
fn a_blank_line_is_white_space_only() {
    for blank in ["", " ", "\r", " \t\r"] {
        assert!(line::is_blank(blank.as_bytes()), "{blank:?}");
    }
    for other in ["0", "\u{feff}", "\u{a0}", "\0"] {
        assert!(!line::is_blank(other.as_bytes()), "{other:?}");
    }
}
