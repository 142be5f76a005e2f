//! The golden conversations are written in messages of the protocol, and leave nothing of it out.

use hakem_protocol::results::Verdict;
use hakem_protocol::{Ask, ErrorCode, FromBot, FromReferee};
use serde_json::{Map, Value};

#[path = "support/transcript.rs"]
#[expect(
    dead_code,
    reason = "what only a driver of a referee needs is not looked at here"
)]
mod transcript;

use transcript::{Expected, Step, Transcript};

/// The fields that a transcript expects of a message of the referee.
fn fields(expected: &Expected) -> &Map<String, Value> {
    match expected {
        Expected::Whole(message) => message.as_object().expect("a message is an object"),
        Expected::Fields(fields) => fields,
    }
}

/// Everything that is expected of the referee's messages, with where it stands.
fn told(all: &[Transcript]) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
    all.iter().flat_map(|one| {
        one.steps.iter().filter_map(|step| match step {
            Step::To { expected, .. } => Some((one.name.as_str(), fields(expected))),
            _ => None,
        })
    })
}

#[test]
fn whole_lines_are_messages() {
    let mut lines = 0;
    for one in transcript::all() {
        for (index, step) in one.steps.iter().enumerate() {
            let place = format!("{}:{}", one.name, index + 2);
            match step {
                Step::To {
                    expected: Expected::Whole(line),
                    ..
                } => {
                    let read: FromReferee = serde_json::from_value(line.clone())
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                    let written = serde_json::to_value(&read).expect("messages are plain data");
                    assert_eq!(&written, line, "{place}");
                }
                Step::From { wrote, .. } => {
                    let Some(line) = &wrote.message else { continue };
                    let read: FromBot = serde_json::from_value(line.clone())
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                    let written = serde_json::to_value(&read).expect("messages are plain data");
                    let again: FromBot = serde_json::from_value(written)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(again, read, "{place}");
                }
                _ => continue,
            }
            lines += 1;
        }
    }
    assert!(lines > 300, "only {lines} lines were looked at");
}

#[test]
fn fields_that_are_expected_exist() {
    // A misspelled field would otherwise never be found where a game does not exist yet.
    let known = |kind: &str| -> &[&str] {
        match kind {
            "hello" => &["protocol", "referee", "game", "rules", "clock", "options"],
            "start" => &[
                "game_id", "seat", "names", "first", "opening", "again", "rules", "match", "state",
            ],
            "turn" => &[
                "id", "seat", "ask", "state", "legal", "last", "history", "clock",
            ],
            "played" => &["game_id", "seat", "dice", "move"],
            "ping" => &["id"],
            "stop" => &["id", "why"],
            "error" => &["code", "id", "message", "fatal"],
            "end" => &["game_id", "result", "state"],
            "bye" => &[],
            other => panic!("the referee writes no `{other}`"),
        }
    };
    for (name, fields) in told(&transcript::all()) {
        let kind = fields["type"].as_str().expect("`type` is a text");
        for field in fields.keys().filter(|field| *field != "type") {
            assert!(
                known(kind).contains(&field.as_str()),
                "{name}: `{field}` of `{kind}`"
            );
        }
    }
    for one in transcript::all() {
        for step in &one.steps {
            let (fields, known): (_, &[&str]) = match step {
                Step::Verdict(fields) => (
                    fields,
                    &[
                        "id", "winner", "score", "points", "verdict", "reason", "against", "moves",
                    ],
                ),
                Step::Match(fields) => (fields, &["score", "series", "games"]),
                _ => continue,
            };
            for field in fields.keys() {
                assert!(known.contains(&field.as_str()), "{}: `{field}`", one.name);
            }
        }
    }
}

#[test]
fn every_message_ask_and_code_is_in_a_transcript() {
    let all = transcript::all();
    let has = |field: &str, word: &str| {
        told(&all).any(|(_, fields)| fields.get(field) == Some(&word.into()))
    };
    for kind in [
        "hello", "start", "turn", "played", "ping", "stop", "error", "end", "bye",
    ] {
        assert!(has("type", kind), "`{kind}`");
    }
    for ask in Ask::ALL {
        assert!(has("ask", ask.as_str()), "ask `{}`", ask.as_str());
    }
    for code in ErrorCode::ALL {
        assert!(has("code", code.as_str()), "code `{}`", code.as_str());
    }
    for why in ["claimed", "time"] {
        assert!(has("why", why), "stop `{why}`");
    }
    let written: Vec<FromBot> = all
        .iter()
        .flat_map(|one| &one.steps)
        .filter_map(|step| match step {
            Step::From { wrote, .. } => serde_json::from_value(wrote.message.clone()?).ok(),
            _ => None,
        })
        .collect();
    assert!(written.iter().any(|one| matches!(one, FromBot::Ready(_))));
    assert!(written.iter().any(|one| matches!(one, FromBot::Move(_))));
    assert!(written.iter().any(|one| matches!(one, FromBot::Pong(_))));
}

#[test]
fn names_say_how_it_ends() {
    let mut codes = Vec::new();
    for one in transcript::all() {
        let verdicts: Vec<Verdict> = one
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Verdict(fields) => serde_json::from_value(fields["verdict"].clone()).ok(),
                _ => None,
            })
            .collect();
        let forfeits = verdicts
            .iter()
            .filter(|verdict| verdict.is_forfeit())
            .count();
        assert!(!verdicts.is_empty(), "{}: no verdict", one.name);
        assert_eq!(
            forfeits > 0,
            one.name.starts_with("fault_"),
            "{}: {verdicts:?}",
            one.name
        );
        codes.extend(verdicts);
    }
    // What a conversation can show; limits, adjudication and void games are not in it.
    for verdict in Verdict::ALL {
        let elsewhere = [Verdict::Limit, Verdict::Adjudicated, Verdict::Void].contains(&verdict);
        assert!(
            elsewhere || codes.contains(&verdict),
            "no transcript ends as `{verdict}`"
        );
    }
}
