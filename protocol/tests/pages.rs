//! The specification and the pages of the games hold together, and their examples are what they say.

use hakem_protocol::results::{GameRow, StandingRow, Verdict};
use hakem_protocol::tool::{Reply, Request};
use hakem_protocol::{Ask, ErrorCode, FromBot, FromReferee, limits};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[path = "support/pages.rs"]
mod pages;
#[path = "support/transcript.rs"]
#[expect(dead_code, reason = "only the headers are looked at here")]
mod transcript;

use pages::{Writer, cited, clauses};

fn spec() -> String {
    pages::text("SPEC.md")
}

#[test]
fn clauses_are_numbered_one_by_one() {
    let clauses = clauses(&spec());
    assert!(
        clauses.len() > 50,
        "only {} clauses were found",
        clauses.len()
    );
    for pair in clauses.windows(2) {
        let ((section, clause), next) = (pair[0], pair[1]);
        assert!(
            next == (section, clause + 1) || next == (section + 1, 1),
            "{section}.{clause} is followed by {}.{}",
            next.0,
            next.1
        );
    }
}

#[test]
fn sections_have_headings_with_their_number() {
    let spec = spec();
    let headings: Vec<u32> = spec
        .lines()
        .filter_map(|line| line.strip_prefix("## ")?.split_once(' ')?.0.parse().ok())
        .collect();
    let mut sections: Vec<u32> = clauses(&spec).iter().map(|&(section, _)| section).collect();
    sections.dedup();
    assert_eq!(headings, sections);
}

#[test]
fn what_is_cited_exists() {
    let spec = spec();
    let known: Vec<String> = clauses(&spec)
        .iter()
        .map(|(section, clause)| format!("{section}.{clause}"))
        .collect();
    let mut texts = pages::all();
    for name in ["tests/messages.rs", "transcripts/README.md"] {
        texts.push((name.to_owned(), pages::text(name)));
    }
    for one in transcript::all() {
        let clauses = cited(&one.header.about);
        assert!(!clauses.is_empty(), "{} cites no clause", one.name);
        texts.push((one.name, one.header.about));
    }
    for (name, text) in &texts {
        for clause in cited(text) {
            assert!(
                known.contains(&clause),
                "{name} cites [S {clause}], which does not exist"
            );
        }
    }
    // Within the page clauses are named in parentheses.
    for reference in spec
        .split('(')
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
    {
        let is_clause = |text: &str| {
            text.split_once('.').is_some_and(|(a, b)| {
                [a, b]
                    .iter()
                    .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            })
        };
        if is_clause(reference.0) {
            assert!(
                known.contains(&reference.0.to_owned()),
                "({}) does not exist",
                reference.0
            );
        }
    }
}

/// The value is a `T` and nothing of it is lost by reading it as one.
fn is_exactly<T: DeserializeOwned + Serialize>(place: &str, line: &Value) {
    let read: T =
        serde_json::from_value(line.clone()).unwrap_or_else(|error| panic!("{place}: {error}"));
    let written = serde_json::to_value(&read).expect("messages are plain data");
    assert_eq!(&written, line, "{place}");
}

#[test]
fn examples_are_messages() {
    let mut kinds = Vec::new();
    for (name, page) in pages::all() {
        let examples = pages::examples(&name, &page);
        assert!(examples.len() >= 3, "{name} has no example of a turn");
        for example in examples {
            let (place, line) = (example.place.as_str(), &example.line);
            let typed = line.get("type").is_some();
            match example.writer {
                Writer::Referee if typed => is_exactly::<FromReferee>(place, line),
                Writer::Bot if typed => is_exactly::<FromBot>(place, line),
                Writer::Referee => is_exactly::<Request>(place, line),
                Writer::Bot => is_exactly::<Reply>(place, line),
                Writer::Row if line.get("verdict").is_some() => is_exactly::<GameRow>(place, line),
                Writer::Row => is_exactly::<StandingRow>(place, line),
            }
            kinds.push(line["type"].as_str().unwrap_or_default().to_owned());
        }
    }
    for kind in [
        "hello", "ready", "start", "turn", "move", "played", "ping", "pong", "stop", "error",
        "end", "bye",
    ] {
        assert!(
            kinds.iter().any(|found| found == kind),
            "no page has an example of `{kind}`"
        );
    }
}

#[test]
fn every_word_is_explained() {
    let spec = spec();
    let named = |word: &str| spec.contains(&format!("`{word}`"));
    for word in Ask::ALL.map(Ask::as_str) {
        assert!(named(word), "ask `{word}`");
    }
    for word in ErrorCode::ALL.map(ErrorCode::as_str) {
        assert!(named(word), "code `{word}`");
    }
    for word in Verdict::ALL.map(Verdict::as_str) {
        assert!(named(word), "verdict `{word}`");
    }
}

#[test]
fn limits_are_those_of_the_crate() {
    let spec = spec();
    for said in [
        "1 MiB (1,048,576 bytes)",
        "| a line (`line`) | 1 MiB |",
        "| all output in a game (`output`) | 16 MiB |",
        "| stderr that is kept (`stderr`) | 1 MiB |",
        "| a note (`note`) | 4 KiB |",
        "| a name | 64 characters |",
        "| time to answer `hello` or `ping` (`ready`) | 10 s |",
        "| time to leave after `bye` (`exit`) | 2 s |",
    ] {
        assert!(spec.contains(said), "{said}");
    }
    assert_eq!(limits::MAX_LINE_BYTES, 1_048_576);
    assert_eq!(limits::MAX_OUTPUT_BYTES, 16 * 1_048_576);
    assert_eq!(limits::MAX_STDERR_BYTES, 1_048_576);
    assert_eq!(limits::MAX_NOTE_BYTES, 4 * 1024);
    assert_eq!(limits::MAX_NAME_CHARS, 64);
    assert_eq!((limits::READY_MS, limits::EXIT_MS), (10_000, 2_000));
}

#[test]
fn pages_of_games_are_alike() {
    for game in pages::GAMES {
        let page = pages::text(&format!("games/{game}.md"));
        let sections: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        let moves = if game == "tavla" { "Moves" } else { "Move" };
        assert_eq!(
            sections,
            ["Rules", "Options", "State", moves, "Result", "A turn"],
            "{game}"
        );
        let rules: Vec<usize> = page
            .lines()
            .filter_map(|line| line.split_once(". ")?.0.parse().ok())
            .collect();
        assert!(
            rules.iter().copied().eq(1..=rules.len()),
            "{game}: rules {rules:?}"
        );
        assert!(rules.len() >= 3, "{game}");
        // The faulty answer of the example is explained by a rule that exists.
        let error = pages::examples(game, &page)
            .into_iter()
            .find(|example| example.line["type"] == "error")
            .unwrap_or_else(|| panic!("{game} shows no bad answer"));
        let message = error.line["message"].as_str().unwrap_or_default();
        let rule = message.split("(rule ").nth(1).and_then(|rest| {
            rest.split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse::<usize>()
                .ok()
        });
        assert!(
            rule.is_some_and(|rule| rules.contains(&rule)),
            "{game}: {message}"
        );
    }
}
