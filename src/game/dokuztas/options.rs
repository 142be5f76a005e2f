//! The options of Dokuztas.

use serde::{Deserialize, Deserializer, Serialize};

use crate::game::{Options, RulesError};

/// The options of Dokuztas. Where they are read, a preset fills in what is not given beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Given")]
pub struct DokuztasOptions {
    /// Where the other options' defaults come from (rule 6).
    pub preset: Option<Preset>,
    /// Which stones in mills may be taken (rule 4).
    pub mill_stones: MillStones,
    /// Plies of the moving phase without a capture that end the game; 0: never (rule 7).
    pub no_capture_plies: u32,
    /// What an equal number of stones brings where they are counted (rule 7).
    pub on_equal: OnEqual,
    /// Plies that end the game as rule 7 does.
    pub max_plies: u32,
    /// The charged time of both seats, in milliseconds, after which the stones are counted; 0: never (rule 6).
    pub game_time_ms: u32,
    /// The charged time of both seats, in milliseconds, after which a lot decides if nothing was taken; 0: never (rule 6).
    pub lot_time_ms: u32,
}

/// The rules of a source as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The rules for schools, with their times.
    Okul,
    /// The rules of Sivas.
    Sivas,
}

/// Which stones in mills may be taken (rule 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MillStones {
    /// Only if every opposing stone on the board is in a mill.
    Protected,
    /// None; without another stone nothing is taken.
    Immune,
    /// Any.
    Takeable,
}

/// What an equal number of stones brings (rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnEqual {
    /// A draw.
    Draw,
    /// The game is played over; a draw after the last time.
    Restart,
    /// The winner is drawn by lot.
    Lot,
}

/// The longest time of rule 6: a day.
const MAX_MS: u32 = 24 * 60 * 60 * 1000;

impl DokuztasOptions {
    /// The options of a preset.
    const fn of(preset: Option<Preset>) -> DokuztasOptions {
        let plain = DokuztasOptions {
            preset,
            mill_stones: MillStones::Protected,
            no_capture_plies: 200,
            on_equal: OnEqual::Draw,
            max_plies: 2000,
            game_time_ms: 0,
            lot_time_ms: 0,
        };
        match preset {
            None => plain,
            Some(Preset::Okul) => DokuztasOptions {
                on_equal: OnEqual::Restart,
                game_time_ms: 20 * 60 * 1000,
                lot_time_ms: 10 * 60 * 1000,
                ..plain
            },
            Some(Preset::Sivas) => DokuztasOptions {
                mill_stones: MillStones::Immune,
                ..plain
            },
        }
    }
}

impl Default for DokuztasOptions {
    fn default() -> Self {
        DokuztasOptions::of(None)
    }
}

/// The options as they are given.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Given {
    preset: Option<Preset>,
    #[serde(deserialize_with = "given")]
    mill_stones: Option<MillStones>,
    #[serde(deserialize_with = "given")]
    no_capture_plies: Option<u32>,
    #[serde(deserialize_with = "given")]
    on_equal: Option<OnEqual>,
    #[serde(deserialize_with = "given")]
    max_plies: Option<u32>,
    #[serde(deserialize_with = "given")]
    game_time_ms: Option<u32>,
    #[serde(deserialize_with = "given")]
    lot_time_ms: Option<u32>,
}

/// Reads an option that may be left out, but is not null.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl From<Given> for DokuztasOptions {
    fn from(given: Given) -> DokuztasOptions {
        let usual = DokuztasOptions::of(given.preset);
        DokuztasOptions {
            preset: given.preset,
            mill_stones: given.mill_stones.unwrap_or(usual.mill_stones),
            no_capture_plies: given.no_capture_plies.unwrap_or(usual.no_capture_plies),
            on_equal: given.on_equal.unwrap_or(usual.on_equal),
            max_plies: given.max_plies.unwrap_or(usual.max_plies),
            game_time_ms: given.game_time_ms.unwrap_or(usual.game_time_ms),
            lot_time_ms: given.lot_time_ms.unwrap_or(usual.lot_time_ms),
        }
    }
}

impl Options for DokuztasOptions {
    fn check(&self) -> Result<(), RulesError> {
        let within = |key: &str, value: u32, least: u32, most: u32, what: &str| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(RulesError {
                key: key.into(),
                message: format!("{value} is not {what}; {least} to {most} are possible"),
            })
        };
        let plies = "a number of plies";
        within(
            "no_capture_plies",
            self.no_capture_plies,
            0,
            1_000_000,
            plies,
        )?;
        within("max_plies", self.max_plies, 1, 1_000_000, plies)?;
        let time = "a time in milliseconds";
        within("game_time_ms", self.game_time_ms, 0, MAX_MS, time)?;
        within("lot_time_ms", self.lot_time_ms, 0, MAX_MS, time)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(given: Value) -> DokuztasOptions {
        serde_json::from_value(given).expect("options")
    }

    #[test]
    fn a_preset_fills_in_what_is_not_given() {
        assert_eq!(read(json!({})), DokuztasOptions::default());
        let okul = read(json!({"preset": "okul"}));
        assert_eq!(
            (okul.mill_stones, okul.on_equal),
            (MillStones::Protected, OnEqual::Restart)
        );
        assert_eq!((okul.game_time_ms, okul.lot_time_ms), (1_200_000, 600_000));
        let sivas = read(json!({"preset": "sivas"}));
        assert_eq!(
            (sivas.mill_stones, sivas.on_equal),
            (MillStones::Immune, OnEqual::Draw)
        );
        assert_eq!((sivas.game_time_ms, sivas.lot_time_ms), (0, 0));
    }

    #[test]
    fn an_option_beside_a_preset_wins() {
        let mixed = read(json!({
            "preset": "okul", "on_equal": "draw", "game_time_ms": 5000, "lot_time_ms": 0,
            "mill_stones": "takeable", "no_capture_plies": 7, "max_plies": 9,
        }));
        let wanted = DokuztasOptions {
            preset: Some(Preset::Okul),
            mill_stones: MillStones::Takeable,
            no_capture_plies: 7,
            on_equal: OnEqual::Draw,
            max_plies: 9,
            game_time_ms: 5000,
            lot_time_ms: 0,
        };
        assert_eq!(mixed, wanted);
        // The value of the game's own default wins as well.
        let plain = read(json!({"preset": "sivas", "mill_stones": "protected"}));
        assert_eq!(plain.mill_stones, MillStones::Protected);
    }

    #[test]
    fn options_that_are_shown_read_back() {
        for given in [
            json!({}),
            json!({"preset": "okul"}),
            json!({"preset": "sivas", "mill_stones": "takeable", "on_equal": "lot"}),
        ] {
            let options = read(given);
            let shown = serde_json::to_value(options).expect("JSON");
            assert_eq!(shown.as_object().map(serde_json::Map::len), Some(7));
            assert_eq!(read(shown), options);
        }
    }
}
