//! The ladders: for each game the built-in bots from the weakest to the strongest. How much stronger each is than the one
//! below it is in the README; the events of `examples/ladder/` measure it.

/// A bot with its options.
#[derive(Clone, Copy, Debug)]
pub struct Rung {
    /// The built-in bot.
    pub house: &'static str,
    /// Its options, each with its value.
    pub options: &'static [(&'static str, u64)],
}

impl Rung {
    /// As a command line names it behind `builtin:`.
    pub fn spelling(&self) -> String {
        let options = self.options.iter();
        let options = options.map(|(key, value)| format!(",{key}={value}"));
        self.house.to_owned() + &options.collect::<String>()
    }
}

/// The bots of a game, the weakest first.
#[derive(Clone, Copy, Debug)]
pub struct Ladder {
    /// The game.
    pub game: &'static str,
    /// Its rungs.
    pub rungs: &'static [Rung],
}

const fn plain(house: &'static str) -> Rung {
    let options = &[];
    Rung { house, options }
}

const fn with(house: &'static str, options: &'static [(&'static str, u64)]) -> Rung {
    Rung { house, options }
}

/// Looks at the position after each of its moves.
const ONE: &[(&str, u64)] = &[("depth", 1)];
/// Looks at the other seat's reply, and at its own to that.
const THREE: &[(&str, u64)] = &[("depth", 3)];
/// Looks three moves of each seat ahead.
const SIX: &[(&str, u64)] = &[("depth", 6)];

/// The ladder of every game.
pub const LADDERS: &[Ladder] = &[
    Ladder {
        game: "tavla",
        rungs: &[
            plain("random"),
            plain("greedy"),
            with("usta", ONE),
            with("usta", &[("depth", 2)]),
        ],
    },
    Ladder {
        game: "mangala",
        rungs: &[
            plain("random"),
            plain("greedy"),
            with("kuyu", ONE),
            with("kuyu", THREE),
            with("kuyu", SIX),
        ],
    },
    Ladder {
        game: "oware",
        rungs: &[
            plain("random"),
            plain("greedy"),
            with("ambar", ONE),
            with("ambar", THREE),
            with("ambar", SIX),
        ],
    },
    Ladder {
        game: "reversi",
        rungs: &[
            plain("random"),
            plain("greedy"),
            with("kose", ONE),
            with("kose", THREE),
            with("kose", SIX),
        ],
    },
    Ladder {
        game: "dokuztas",
        rungs: &[
            plain("random"),
            plain("greedy"),
            with("degirmen", ONE),
            with("degirmen", THREE),
            with("degirmen", SIX),
        ],
    },
    Ladder {
        game: "qbitz",
        rungs: &[
            plain("random"),
            with("yavas", &[("delay_ms", 60)]),
            plain("greedy"),
            plain("hizli"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn every_game_has_a_ladder_whose_bots_play_it() {
        let games: Vec<&str> = LADDERS.iter().map(|ladder| ladder.game).collect();
        for kind in crate::game::GAMES {
            assert!(games.contains(&kind.facts().name), "{}", kind.facts().name);
        }
        for ladder in LADDERS {
            assert!(ladder.rungs.len() >= 4);
            for rung in ladder.rungs {
                let house = crate::house::find(rung.house).expect("a built-in bot");
                let options: Map<String, Value> = rung
                    .options
                    .iter()
                    .map(|&(key, value)| (key.to_owned(), Value::from(value)))
                    .collect();
                assert_eq!(crate::house::check(house, ladder.game, &options), Ok(()));
            }
        }
    }

    #[test]
    fn a_rung_is_spelled_as_a_command_line_wants_it() {
        assert_eq!(plain("greedy").spelling(), "greedy");
        assert_eq!(
            with("kuyu", &[("depth", 2), ("nodes", 9)]).spelling(),
            "kuyu,depth=2,nodes=9"
        );
    }
}
