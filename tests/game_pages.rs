//! What the pages of the games say (`protocol/games`) is what the rules do: options with their defaults, and the turn
//! that each page works through.

use hakem::game::{self, GAMES, Kind};
use hakem_protocol::Ask;
use serde_json::{Map, Value};

#[path = "../protocol/tests/support/pages.rs"]
#[expect(
    dead_code,
    reason = "the clauses of the specification are looked at elsewhere"
)]
mod pages;

fn page(kind: &dyn Kind) -> (String, String) {
    let name = format!("games/{}.md", kind.facts().name);
    let text = pages::text(&name);
    (name, text)
}

#[test]
fn every_game_has_its_page() {
    for kind in GAMES {
        assert!(
            pages::GAMES.contains(&kind.facts().name),
            "{}",
            kind.facts().name
        );
    }
}

#[test]
fn options_are_listed_with_their_defaults() {
    for &kind in GAMES {
        let (name, text) = page(kind);
        let rules = kind.rules(&Map::new()).expect("defaults are possible");
        let Value::Object(options) = rules.options() else {
            panic!("options are an object")
        };
        let section = text
            .split("## Options")
            .nth(1)
            .and_then(|rest| rest.split("## ").next());
        let rows: Map<String, Value> = section
            .unwrap_or_default()
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| `")?.split(" | ");
                let option = cells.next()?.strip_suffix('`')?.to_owned();
                let default = cells.next()?.trim_matches('`');
                let default = serde_json::from_str(default).unwrap_or_else(|_| default.into());
                Some((option, default))
            })
            .collect();
        assert_eq!(rows.len(), options.len(), "{name}: {rows:?}");
        for (option, default) in &options {
            let said = rows.get(option).unwrap_or(&Value::Null);
            let none = default.is_null() && said == "none";
            assert!(
                none || said == default,
                "{name}: `{option}` is {default}, not {said}"
            );
        }
    }
}

#[test]
fn the_turn_on_each_page_is_played() {
    for &kind in GAMES {
        let (name, text) = page(kind);
        let examples: Vec<Value> = pages::examples(&name, &text)
            .into_iter()
            .map(|example| example.line)
            .collect();
        let [turn, good, bad, error] = examples.as_slice() else {
            panic!("{name}: a turn, a good answer, a bad one and its error")
        };
        let rules = kind.rules(&Map::new()).expect("defaults are possible");
        let read = || {
            rules
                .read(&turn["state"])
                .unwrap_or_else(|why| panic!("{name}: {why}"))
        };
        let mut position = read();
        let seat = turn["seat"].as_u64().expect("a seat") as usize;
        let ask: Ask = serde_json::from_value(turn["ask"].clone()).expect("an ask");
        let race = rules.race().is_some();
        let asked = if race {
            assert!(position.racing(seat), "{name}");
            game::ToAct::Race
        } else {
            game::ToAct::Seat(seat, ask)
        };
        assert_eq!(
            (position.to_act(), ask == Ask::Race),
            (asked, race),
            "{name}"
        );
        let mut legal = Vec::new();
        position.write_legal(&mut legal);
        let legal: Vec<Value> = serde_json::from_slice(&legal).expect("a list");
        let listed = turn["legal"].as_array().expect("a list");
        assert_eq!(legal.len(), listed.len(), "{name}: {legal:?}");
        assert!(
            legal.iter().all(|mv| listed.contains(mv)),
            "{name}: {legal:?}"
        );

        let play = |answer: &Value| {
            let told = &mut Vec::new();
            if race {
                let claim = read().claim(seat, &answer["move"], told)?;
                assert_eq!(claim, game::Claim::Right, "{name}: the good claim");
                Ok(())
            } else {
                read().play(&answer["move"], told)
            }
        };
        // Claims are never listed.
        assert!(
            race || listed.contains(&good["move"]),
            "{name}: the good answer is listed"
        );
        play(good).unwrap_or_else(|why| panic!("{name}: {why}"));
        let refusal = play(bad)
            .err()
            .unwrap_or_else(|| panic!("{name}: the bad answer is legal"));
        assert_eq!(error["message"], refusal.message.as_str(), "{name}");
        for answer in [good, bad, error] {
            assert_eq!(answer["id"], turn["id"], "{name}");
        }
    }
}
