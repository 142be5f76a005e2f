//! The built-in bots against each other, with fixed seeds: each is clearly stronger than the one below it, and no answer
//! is ever illegal.

use hakem::game::{self, Chance, ChanceKind, Drawn, Position, Setup, ToAct};
use hakem::house::ladder::LADDERS;
use hakem::house::{self, House, Table};
use hakem_protocol::{Turn, TurnClock};
use serde_json::{Map, Value, json};

/// Random plies before the bots take over, so that no two games are alike.
const OPENING: usize = 4;

/// A source of choices (the 64-bit generator of Knuth's MMIX).
struct Picks(u64);

impl Picks {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn draw(&mut self, chance: Chance) -> Drawn {
        let mut die = || self.below(6) as u8 + 1;
        match chance.kind {
            ChanceKind::Opening => {
                let first = die();
                Drawn::Dice([first, first % 6 + 1])
            }
            ChanceKind::Dice => Drawn::Dice([die(), die()]),
            _ => Drawn::Lot(self.below(2) as u32),
        }
    }
}

/// A bot and its options.
struct Player {
    house: &'static dyn House,
    options: Map<String, Value>,
}

fn player(name: &str, options: &Value) -> Player {
    Player {
        house: house::find(name).expect("a built-in bot"),
        options: options.as_object().expect("an object").clone(),
    }
}

fn turn(position: &mut dyn Position, id: u64) -> Option<Turn> {
    let ToAct::Seat(seat, ask) = position.to_act() else {
        return None;
    };
    let (mut state, mut legal) = (Vec::new(), Vec::new());
    position.write_state(&mut state);
    position.write_legal(&mut legal);
    Some(Turn {
        id,
        seat,
        ask,
        state: serde_json::from_slice(&state).expect("JSON"),
        legal: Some(serde_json::from_slice(&legal).expect("JSON")),
        last: json!([]),
        history: None,
        clock: TurnClock {
            left_ms: vec![None, None],
            limit_ms: None,
        },
    })
}

/// Plays a game; the share of the first player, who sits on this seat.
fn play(name: &str, players: [&Player; 2], seat_of_first: usize, seed: u64) -> f64 {
    play_by(name, &json!({}), players, seat_of_first, seed)
}

/// The same by other rules.
fn play_by(
    name: &str,
    rules: &Value,
    players: [&Player; 2],
    seat_of_first: usize,
    seed: u64,
) -> f64 {
    let ruleset = game::find(name)
        .expect("a game")
        .rules(rules.as_object().expect("rules"))
        .expect("rules of the game");
    let options = ruleset.options();
    let rules = options.as_object().expect("options are an object");
    let mut picks = Picks(seed);
    let mut position = ruleset.start(&Setup {
        lot: picks.below(2),
        ..Setup::SINGLE
    });
    let mut told = Vec::new();
    let mut plies = 0;
    loop {
        match position.to_act() {
            ToAct::Over => break,
            ToAct::Pass(_) => position.pass(&mut told),
            ToAct::Race => panic!("a race has no strength without a clock"),
            ToAct::Chance(chance) => position.chance(picks.draw(chance)),
            ToAct::Seat(seat, _) => {
                let answer = if plies < OPENING {
                    let count = position.count_legal();
                    position.nth_legal(picks.below(count))
                } else {
                    let turn = turn(&mut *position, plies as u64).expect("a seat is asked");
                    let player = players[seat ^ seat_of_first];
                    let table = Table {
                        game: name,
                        rules,
                        options: &player.options,
                        added_ms: 0,
                        clock: &|| panic!("no option asked for time"),
                        withdrawn: &|| false,
                    };
                    player.house.answer(&table, &turn).expect("an answer").mv
                };
                plies += 1;
                position.play(&answer, &mut told).expect("a legal answer");
            }
        }
    }
    position.outcome().expect("over").score[seat_of_first].value()
}

/// The mean share of the first player over pairs of games with seats exchanged.
fn mean_share(game: &str, players: [&Player; 2], pairs: u32) -> f64 {
    let points: f64 = (0..pairs)
        .flat_map(|pair| [0, 1].map(|seat| play(game, players, seat, u64::from(pair))))
        .sum();
    points / f64::from(2 * pairs)
}

#[test]
fn each_is_clearly_stronger_than_the_one_below() {
    let kuyu = player("kuyu", &json!({"nodes": 1000}));
    let greedy = player("greedy", &json!({}));
    let random = player("random", &json!({"seed": 5}));
    let usta = player("usta", &json!({}));
    let ambar = player("ambar", &json!({"nodes": 1000}));
    let kose = player("kose", &json!({"nodes": 300}));
    let degirmen = player("degirmen", &json!({"nodes": 1000}));
    for (game, stronger, weaker, pairs, least) in [
        ("mangala", &greedy, &random, 100, 0.8),
        ("mangala", &kuyu, &greedy, 50, 0.8),
        ("mangala", &kuyu, &random, 50, 0.95),
        ("oware", &greedy, &random, 100, 0.8),
        ("oware", &ambar, &greedy, 30, 0.9),
        ("oware", &ambar, &random, 20, 0.95),
        ("reversi", &greedy, &random, 100, 0.8),
        ("reversi", &kose, &greedy, 30, 0.9),
        ("reversi", &kose, &random, 20, 0.95),
        ("dokuztas", &greedy, &random, 50, 0.95),
        ("dokuztas", &degirmen, &greedy, 30, 0.9),
        ("dokuztas", &degirmen, &random, 20, 0.95),
        ("tavla", &greedy, &random, 100, 0.7),
        ("tavla", &usta, &greedy, 100, 0.6),
        ("tavla", &usta, &random, 50, 0.8),
    ] {
        let share = mean_share(game, [stronger, weaker], pairs);
        let names = [stronger, weaker].map(|player| player.house.facts().name);
        assert!(share >= least, "{game} {names:?}: {share} of {least}");
    }
}

#[test]
fn a_bot_paired_with_itself_scores_exactly_half() {
    let few = json!({"nodes": 200});
    for (game, name, options) in [
        ("mangala", "random", &json!({})),
        ("mangala", "first", &json!({})),
        ("mangala", "greedy", &json!({})),
        ("mangala", "kuyu", &few),
        ("oware", "greedy", &json!({})),
        ("oware", "ambar", &few),
        ("reversi", "greedy", &json!({})),
        ("reversi", "kose", &few),
        ("dokuztas", "greedy", &json!({})),
        ("dokuztas", "degirmen", &few),
    ] {
        let player = player(name, options);
        let share = mean_share(game, [&player, &player], 10);
        assert!((share - 0.5).abs() < 1e-12, "{game} {name}: {share}");
    }
}

/// Every rung of every ladder, in all kinds of rules; an answer that is not legal ends the test.
#[test]
fn no_rung_ever_answers_what_is_not_legal() {
    for (game, rules) in [
        ("mangala", json!({"rematch_on_draw": true})),
        ("mangala", json!({"sets": 3})),
        ("oware", json!({"stop_when_decided": true})),
        ("oware", json!({"cycle_repetitions": 3})),
        ("reversi", json!({"empties_to_winner": true})),
        ("dokuztas", json!({"preset": "okul"})),
        ("dokuztas", json!({"preset": "sivas", "on_equal": "lot"})),
        (
            "dokuztas",
            json!({"mill_stones": "takeable", "no_capture_plies": 20, "on_equal": "restart"}),
        ),
        ("tavla", json!({"cube": false})),
        (
            "tavla",
            json!({"jacoby": true, "beavers": true, "raccoons": true}),
        ),
        ("tavla", json!({"max_cube": 2, "beavers": true})),
        ("tavla", json!({"match_length": 1})),
        ("tavla", json!({"match_length": 5, "crawford": false})),
    ] {
        let ladder = LADDERS.iter().find(|ladder| ladder.game == game);
        let random = player("random", &json!({"seed": 3}));
        for rung in ladder.expect("a ladder").rungs {
            let mut options: Map<String, Value> = rung
                .options
                .iter()
                .map(|&(key, value)| (key.to_owned(), Value::from(value)))
                .collect();
            if game != "tavla" && !options.is_empty() {
                options.insert("nodes".into(), json!(300));
            }
            let rung = player(rung.house, &Value::Object(options));
            play_by(game, &rules, [&rung, &random], 0, 1);
            play_by(game, &rules, [&rung, &rung], 0, 2);
        }
    }
}
