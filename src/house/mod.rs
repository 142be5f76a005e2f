//! The built-in bots (`hakem bot NAME`). Pure: an answer is a function of the turn message and the bot's options, so
//! that games of built-in bots can be played again; only an option that asks for time lets a clock in.
//!
//! A bot is one file with a type that implements [`House`], and one line in [`HOUSES`].

use hakem_protocol::{Move, Turn};
use serde_json::{Map, Value};

use crate::game::{Game, ToAct};

pub mod ambar;
mod cubes;
pub mod degirmen;
pub mod first;
pub mod greedy;
pub mod hizli;
pub mod kose;
pub mod kuyu;
pub mod ladder;
mod pace;
pub mod random;
mod search;
pub mod tavla;
pub mod usta;
pub mod yavas;

/// Every built-in bot, in the order in which they are listed.
pub static HOUSES: &[&dyn House] = &[
    &random::Random,
    &first::First,
    &greedy::Greedy,
    &kuyu::Kuyu,
    &ambar::Ambar,
    &kose::Kose,
    &usta::Usta,
    &degirmen::Degirmen,
    &hizli::Hizli,
    &yavas::Yavas,
];

/// The built-in bot of this name.
pub fn find(name: &str) -> Option<&'static dyn House> {
    HOUSES
        .iter()
        .copied()
        .find(|house| house.facts().name == name)
}

/// The names of the built-in bots.
pub fn names() -> Vec<&'static str> {
    HOUSES.iter().map(|house| house.facts().name).collect()
}

/// What is fixed about a built-in bot.
#[derive(Debug)]
pub struct Facts {
    /// The name, as event files and the command line spell it.
    pub name: &'static str,
    /// How it plays, in a line.
    pub summary: &'static str,
    /// The games that it plays.
    pub games: Games,
    /// The options that it takes.
    pub options: &'static [OptionFacts],
}

/// The games that a bot plays.
#[derive(Debug)]
pub enum Games {
    /// Every game.
    All,
    /// Every game whose turns list the legal answers.
    Listed,
    /// These.
    Only(&'static [&'static str]),
}

/// One option of a bot.
#[derive(Debug)]
pub struct OptionFacts {
    /// Its name.
    pub name: &'static str,
    /// What it means, its unit and its default.
    pub meaning: &'static str,
    /// What it may be.
    pub kind: OptionKind,
}

/// What an option may be.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// A whole number in this range, both ends included.
    Number(u64, u64),
    /// A whole number or a text.
    Seed,
    /// True or false.
    Flag,
}

/// What a bot knows besides the turn: what `hello` told, and how to read a clock.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The game's name.
    pub game: &'a str,
    /// The game's options as `hello` tells them.
    pub rules: &'a Map<String, Value>,
    /// The bot's options, checked by [`check`].
    pub options: &'a Map<String, Value>,
    /// What each answer is given anew, increment and delay together, milliseconds.
    pub added_ms: u64,
    /// Microseconds since any fixed instant. A bot reads it only if an option asks it to keep a time.
    pub clock: &'a dyn Fn() -> u64,
    /// Whether the question was withdrawn while the bot thinks (in a race); its answer is then not sent.
    pub withdrawn: &'a dyn Fn() -> bool,
}

impl Table<'_> {
    /// An option of the kind [`OptionKind::Number`], where it is given.
    fn number(&self, name: &str) -> Option<u64> {
        self.options.get(name).and_then(whole)
    }

    /// An option of the kind [`OptionKind::Flag`]; false where it is not given.
    fn flag(&self, name: &str) -> bool {
        self.options.get(name) == Some(&Value::Bool(true))
    }
}

/// A built-in bot.
pub trait House: Sync {
    /// What is fixed.
    fn facts(&self) -> &'static Facts;

    /// Answers a turn.
    ///
    /// # Errors
    /// What the turn lacks: it is not one of this game, or does not list what is legal.
    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String>;
}

/// Checks that a bot plays a game and takes these options.
///
/// # Errors
/// What it does not play or take, and what it does.
pub fn check(house: &dyn House, game: &str, options: &Map<String, Value>) -> Result<(), String> {
    let facts = house.facts();
    let other = match facts.games {
        Games::Listed if is_race(game) => Some("every game that lists legal answers".to_owned()),
        Games::Only(games) if !games.contains(&game) => Some(games.join(", ")),
        Games::All | Games::Listed | Games::Only(_) => None,
    };
    if let Some(other) = other {
        return Err(format!(
            "the built-in bot {} plays {other}, not {game}",
            facts.name
        ));
    }
    for (name, value) in options {
        let Some(option) = facts.options.iter().find(|option| option.name == name) else {
            let known: Vec<&str> = facts.options.iter().map(|option| option.name).collect();
            return Err(if known.is_empty() {
                format!(
                    "the built-in bot {} takes no options, not `{name}`",
                    facts.name
                )
            } else {
                format!(
                    "the built-in bot {} has no option `{name}`; it takes {}",
                    facts.name,
                    known.join(", ")
                )
            });
        };
        let (fits, wanted) = match option.kind {
            OptionKind::Number(least, most) => (
                whole(value).is_some_and(|number| (least..=most).contains(&number)),
                format!("a whole number from {least} to {most}"),
            ),
            OptionKind::Seed => (
                value.is_string() || value.is_u64() || value.is_i64(),
                "a whole number or a text".into(),
            ),
            OptionKind::Flag => (value.is_boolean(), "true or false".into()),
        };
        if !fits {
            return Err(format!(
                "option `{name}` of the built-in bot {} is {wanted}, not {}",
                facts.name,
                crate::game::cut(value)
            ));
        }
    }
    Ok(())
}

/// Whether the seats of a game race, so that nothing is listed.
fn is_race(game: &str) -> bool {
    let rules = crate::game::find(game).map(|kind| kind.rules(&Map::new()));
    rules.is_some_and(|rules| rules.is_ok_and(|rules| rules.race().is_some()))
}

/// A whole number that is not negative.
fn whole(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| crate::game::small_int(value).and_then(|number| u64::try_from(number).ok()))
}

/// The answers that a turn lists.
fn listed(turn: &Turn) -> Result<&[Value], String> {
    match &turn.legal {
        Some(Value::Array(legal)) if !legal.is_empty() => Ok(legal),
        _ => Err(format!(
            "turn {} does not list what is legal, which this bot needs",
            turn.id
        )),
    }
}

/// The position of a turn, as a typed game.
fn position<G: Game>(table: &Table<'_>, turn: &Turn) -> Result<G, String> {
    let options = serde_json::from_value(Value::Object(table.rules.clone()))
        .map_err(|error| format!("the rules of `hello`: {error}"))?;
    let game = G::read(&options, &turn.state)?;
    if game.to_act() == ToAct::Seat(turn.seat, turn.ask) {
        Ok(game)
    } else {
        Err(format!(
            "turn {} asks seat {} `{}`, but its state does not",
            turn.id,
            turn.seat,
            turn.ask.as_str()
        ))
    }
}

/// An answer without words.
fn answer(turn: &Turn, mv: Value) -> Move {
    Move {
        id: turn.id,
        mv,
        note: None,
        eval: None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hakem_protocol::{Ask, TurnClock};
    use serde_json::json;

    use super::*;

    /// A turn as a referee would send it.
    pub(crate) fn turn(seat: usize, ask: Ask, state: Value, legal: Value) -> Turn {
        Turn {
            id: 7,
            seat,
            ask,
            state,
            legal: Some(legal),
            last: json!([]),
            history: None,
            clock: TurnClock {
                left_ms: vec![None, None],
                limit_ms: None,
            },
        }
    }

    /// What a bot answers, with these options; it may not read the clock.
    pub(crate) fn ask(
        name: &str,
        game: &str,
        options: Value,
        turn: &Turn,
    ) -> Result<Value, String> {
        let house = find(name).expect("a built-in bot");
        let options = options.as_object().expect("options");
        check(house, game, options)?;
        let table = Table {
            game,
            rules: &Map::new(),
            options,
            added_ms: 0,
            clock: &|| panic!("no option asked for time"),
            withdrawn: &|| false,
        };
        let answer = house.answer(&table, turn)?;
        assert_eq!(answer.id, turn.id);
        Ok(answer.mv)
    }

    #[test]
    fn names_are_unique_and_found() {
        for house in HOUSES {
            let found = find(house.facts().name).expect("listed bots are found");
            assert!(std::ptr::eq(found.facts(), house.facts()));
        }
        assert!(find("nobody").is_none());
    }

    #[test]
    fn options_and_games_are_checked_in_words() {
        let check = |name: &str, game: &str, options: Value| {
            check(
                find(name).expect("a bot"),
                game,
                options.as_object().expect("an object"),
            )
        };
        assert_eq!(
            check("kuyu", "mangala", json!({"nodes": 100, "depth": 4.0})),
            Ok(())
        );
        assert_eq!(check("random", "anything", json!({"seed": "a"})), Ok(()));
        for (name, game, options, words) in [
            ("kuyu", "tavla", json!({}), "plays mangala, not tavla"),
            (
                "kuyu",
                "mangala",
                json!({"dept": 3}),
                "it takes depth, nodes, time_ms, clock",
            ),
            ("kuyu", "mangala", json!({"depth": 0}), "from 1 to"),
            ("kuyu", "mangala", json!({"depth": "3"}), "\"3\""),
            ("kuyu", "mangala", json!({"clock": 1}), "true or false"),
            (
                "random",
                "mangala",
                json!({"seed": 1.5}),
                "a whole number or a text",
            ),
            ("first", "mangala", json!({"seed": 1}), "takes no options"),
            (
                "first",
                "qbitz",
                json!({}),
                "lists legal answers, not qbitz",
            ),
            ("hizli", "tavla", json!({}), "plays qbitz, not tavla"),
            (
                "yavas",
                "qbitz",
                json!({"delay": 3}),
                "it takes work, delay_ms",
            ),
        ] {
            let refused = check(name, game, options).expect_err(words);
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn a_turn_that_is_none_is_refused() {
        let good = json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 0});
        for name in ["random", "first", "greedy"] {
            for legal in [json!([]), json!(null), json!("1")] {
                let turn = turn(0, Ask::Move, good.clone(), legal);
                assert!(ask(name, "mangala", json!({}), &turn).is_err(), "{name}");
            }
        }
        for name in ["greedy", "kuyu"] {
            for turn in [
                turn(0, Ask::Move, json!({"pits": []}), json!([1])),
                turn(1, Ask::Move, good.clone(), json!([1])),
                turn(9, Ask::Move, good.clone(), json!([1])),
                turn(0, Ask::Take, good.clone(), json!([1])),
            ] {
                assert!(ask(name, "mangala", json!({}), &turn).is_err(), "{name}");
            }
        }
    }
}
