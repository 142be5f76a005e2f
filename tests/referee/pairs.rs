//! Paired matches: the same chance for each seat, and so an even score for a bot against itself.

use std::collections::BTreeMap;

use hakem::event::MatchResult;
use hakem::house;
use hakem_protocol::Turn;
use serde_json::{Map, Value, json};

use super::sim::{Scene, Sim, legal};

/// The second half of a pair: the bots in each other's seats.
fn other_half(scene: &Scene) -> Scene {
    let mut scene = scene.clone();
    scene.names.reverse();
    scene
}

/// Plays a match to its end with an answer for every turn.
fn play(scene: Scene, answer: &dyn Fn(usize, &Value) -> Value) -> Sim {
    let mut sim = scene.begin();
    sim.schemas = false;
    while sim.ends.is_empty() {
        match sim.on_turn() {
            Some(seat) => {
                let mv = answer(seat, sim.turn(seat));
                sim.play(seat, mv);
            }
            None => sim.go_on_while(|sim| sim.on_turn().is_none()),
        }
    }
    sim
}

/// Any legal answer, by a hash of the turn; but doubles are rare and taken, so that games are long.
fn by_hash(scene: &Scene, salt: u64) -> impl Fn(usize, &Value) -> Value + use<> {
    let scene = scene.clone();
    move |_, turn| {
        let start = 0xcbf2_9ce4_8422_2325 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let text = turn["state"].to_string();
        let hash = text.bytes().fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        match turn["ask"].as_str() {
            Some("take") => return json!("take"),
            Some("cube") if hash & 7 != 0 => return json!("roll"),
            _ => {}
        }
        let mut legal = legal(&scene, turn);
        let index = (hash >> 20) as usize % legal.len();
        legal.swap_remove(index)
    }
}

/// Everything random in the games of a match, by game, kind, seat and number.
fn drawn(sim: &Sim) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for game in &sim.games {
        let text = std::str::from_utf8(&game.record).expect("a record is text");
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("a line of a record is JSON");
            if let Some(drawn) = line.get("drawn") {
                let what = format!(
                    "{} {} {} {}",
                    game.result.id, drawn["kind"], drawn["seat"], drawn["n"]
                );
                found.insert(what, format!("{} {}", drawn["dice"], drawn["lot"]));
            }
        }
    }
    found
}

fn scenes() -> Vec<Scene> {
    let tavla = |rules| Scene::new("tavla").rules(rules);
    let mut scenes = vec![
        tavla(json!({"match_length": 3})),
        tavla(json!({"games": 3})),
        tavla(json!({"cube": false})),
        tavla(json!({"games": 2, "beavers": true, "raccoons": true, "jacoby": true})),
        Scene::new("mangala").rules(json!({"sets": 4})),
        Scene::new("mangala").rules(json!({"sets": 3, "rematch_on_draw": true})),
    ];
    for index in 0..scenes.len() {
        let mut scene = scenes[index].clone();
        scene.opening_plies = 5;
        scene.seed = "another";
        scene.pair = 3;
        scenes.push(scene);
    }
    scenes
}

#[test]
fn both_halves_see_the_same_dice_seat_by_seat_and_turn_by_turn() {
    for scene in scenes() {
        let one = play(scene.clone(), &by_hash(&scene, 1));
        // Other answers: the games differ from the first ply on.
        let two = play(other_half(&scene), &by_hash(&scene, 2));
        let (one, two) = (drawn(&one), drawn(&two));
        let common: Vec<&String> = one.keys().filter(|key| two.contains_key(*key)).collect();
        if scene.game == "tavla" {
            assert!(common.len() > 20, "{} events in common", common.len());
        }
        for key in common {
            assert_eq!(one[key], two[key], "{key}");
        }
    }
}

#[test]
fn both_halves_begin_with_the_same_seat_position_and_roll() {
    for scene in scenes() {
        let starts = [scene.clone(), other_half(&scene)].map(|half| {
            let mut sim = half.begin();
            sim.ready(0);
            sim.ready(1);
            sim.messages(1).remove(1)
        });
        for field in ["first", "opening", "state", "match"] {
            assert_eq!(starts[0][field], starts[1][field], "{field}");
        }
        assert_eq!(starts[0]["names"], json!(["ADA", "BORA"]));
        assert_eq!(starts[1]["names"], json!(["BORA", "ADA"]));
    }
}

#[test]
fn another_meeting_of_the_same_bots_has_other_chance() {
    let rolls = |pair| {
        let mut scene = Scene::new("tavla");
        scene.pair = pair;
        let answer = by_hash(&scene, 1);
        drawn(&play(scene, &answer))
    };
    let (one, two) = (rolls(0), rolls(1));
    let common = one.keys().filter(|key| two.contains_key(*key));
    let (same, all) = common.fold((0, 0), |(same, all), key| {
        (same + usize::from(one[key] == two[key]), all + 1)
    });
    assert!(all > 20 && same * 4 < all, "{same} of {all} are the same");
}

/// A built-in bot's answers.
fn house(name: &str, scene: &Scene) -> impl Fn(usize, &Value) -> Value + use<> {
    let bot = house::find(name).expect("a built-in bot");
    let (game, rules) = (scene.game, scene.rules.clone());
    let rules = rules.as_object().expect("rules are an object").clone();
    move |_, turn| {
        let turn: Turn = serde_json::from_value(turn.clone()).expect("a turn");
        let table = house::Table {
            game,
            rules: &rules,
            options: &Map::new(),
            added_ms: 0,
            clock: &|| 0,
            withdrawn: &|| false,
        };
        bot.answer(&table, &turn).expect("an answer").mv
    }
}

/// Shares of the match and points of each game, by seat.
fn scores(sim: &Sim) -> (MatchResult, Vec<Vec<u32>>) {
    let points = sim
        .games
        .iter()
        .map(|game| game.result.points.clone().expect("points"));
    (sim.match_over(), points.collect())
}

#[test]
fn a_deterministic_bot_paired_with_itself_scores_exactly_equal() {
    for scene in scenes() {
        for name in ["random", "first", "greedy"] {
            let answer = house(name, &scene);
            let (one, one_points) = scores(&play(scene.clone(), &answer));
            let (two, two_points) = scores(&play(other_half(&scene), &answer));
            // Each bot had both seats: it is even. More than that, seat by seat both halves are the same match.
            let value = |result: &MatchResult, seat: usize| result.score[seat].value();
            let sum = |ada: usize| value(&one, ada) + value(&two, 1 - ada);
            assert_eq!(sum(0), sum(1), "{name}");
            assert_eq!(one_points, two_points, "{name}");
            assert_eq!((one.series, one.score), (two.series, two.score), "{name}");
        }
    }
}
