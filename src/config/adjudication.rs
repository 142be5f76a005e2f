//! `[adjudication]` and the flag `--adjudicate`: the rules of an event that may end a game.

use serde_json::{Map, Value};
use toml::de::DeValue;

use super::diagnose::{Place, quoted, suggestion};
use super::reader::{Reader, Section, Wrong, integer, kind};
use crate::game::Kind;
use crate::referee::adjudicate::{Adjudication, ResignRule};

/// The keys of `[adjudication]`.
pub(super) const ADJUDICATION_KEYS: &[&str] = &["resign_eval", "resign_moves", "max_moves"];

/// The most moves that a rule may name.
const MAX_MOVES: i128 = 1_000_000;

/// The keys as they are read, layer over layer.
#[derive(Clone, Copy, Default)]
pub(super) struct AdjudicationKeys {
    resign_eval: Option<f64>,
    resign_moves: Option<u32>,
    max_moves: Option<u32>,
}

impl AdjudicationKeys {
    fn set(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), Wrong> {
        match key {
            "resign_eval" => self.resign_eval = Some(eval(value)?),
            "resign_moves" => self.resign_moves = Some(moves(value)?),
            "max_moves" => self.max_moves = Some(moves(value)?),
            _ => {
                return Err(Wrong::new(
                    "is no rule that ends games",
                    suggestion(key, ADJUDICATION_KEYS.iter().copied()),
                ));
            }
        }
        Ok(())
    }

    /// The rules; `None` where there are none.
    pub(super) fn rules(self) -> Option<Adjudication> {
        let resign = self.resign_eval.zip(self.resign_moves);
        let rules = Adjudication {
            resign: resign.map(|(eval, moves)| ResignRule { eval, moves }),
            max_moves: self.max_moves,
        };
        rules.is_possible().then_some(rules)
    }
}

fn eval(value: &DeValue<'_>) -> Result<f64, Wrong> {
    let right = "a number above 0 is right, like 3.0, in the unit of the bots' evaluations";
    let number = match value {
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        DeValue::Integer(_) => integer(value).map(|whole| whole as f64),
        other => return Err(Wrong::new(format!("is {}", kind(other)), right)),
    };
    number
        .filter(|&number: &f64| number.is_finite() && number > 0.0)
        .ok_or_else(|| Wrong::new("is no number above 0", right))
}

fn moves(value: &DeValue<'_>) -> Result<u32, Wrong> {
    let right = || format!("a whole number from 1 to {MAX_MOVES} is right");
    let number =
        integer(value).ok_or_else(|| Wrong::new(format!("is {}", kind(value)), right()))?;
    u32::try_from(number)
        .ok()
        .filter(|_| (1..=MAX_MOVES).contains(&number))
        .ok_or_else(|| Wrong::new(format!("is {number}"), right()))
}

/// Reads `[adjudication]`.
pub(super) fn section(reader: &mut Reader, section: &Section<'_>, keys: &mut AdjudicationKeys) {
    for key in ADJUDICATION_KEYS {
        reader.value(section, key, |value| keys.set(key, value));
    }
}

/// Checks what belongs together in `[adjudication]`. `root` is the whole file.
pub(super) fn check(
    reader: &mut Reader,
    root: &Section<'_>,
    kind: Option<&dyn Kind>,
    rules: &Map<String, Value>,
    seats: usize,
) {
    let Some(section) = root
        .has("adjudication")
        .then(|| reader.open_section(root, "adjudication", "[adjudication]"))
        .flatten()
    else {
        return;
    };
    if let Some(title) = kind.and_then(|kind| not_for("[adjudication]", kind, rules, seats)) {
        reader
            .error
            .push(Some(section.header()), title, "leave it out");
    }
    if section.has("resign_moves") && !section.has("resign_eval") {
        reader.error.push(
            Some(section.key_place("resign_moves")),
            "`resign_moves` in [adjudication] means nothing without `resign_eval`",
            "name `resign_eval`, the evaluation from which on a game is lost, or leave it out",
        );
    }
}

/// Why no rule may end games of this kind, between so many seats.
fn not_for(
    what: &str,
    kind: &dyn Kind,
    rules: &Map<String, Value>,
    seats: usize,
) -> Option<String> {
    if kind.rules(rules).is_ok_and(|rules| rules.race().is_some()) {
        return Some(format!(
            "{what} is for games in which the seats move in turn, and {} is a race",
            kind.facts().title
        ));
    }
    (seats > 2).then(|| format!("{what} is for games of two seats, and here there are {seats}"))
}

/// Reads the rules in one line: `KEY=VALUE` with the keys of `[adjudication]`, commas between.
pub(super) fn flag(
    reader: &mut Reader,
    text: &str,
    kind: Option<&dyn Kind>,
    rules: &Map<String, Value>,
    seats: usize,
) -> Option<Adjudication> {
    let source = reader.error.add_source("--adjudicate", text);
    let mut keys = super::read::DEFAULTS.0.adjudication;
    let mut given: Vec<&str> = Vec::new();
    let mut start = 0;
    for part in text.split(',') {
        let place = Place::new(source, start..start + part.len());
        start += part.len() + 1;
        let Some((key, value)) = part.split_once('=') else {
            let title = format!("{} is no rule that ends games", quoted(part));
            let right = "KEY=VALUE is right, like resign_eval=3.0 or max_moves=300";
            reader.error.push(Some(place), title, right);
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let result = if given.contains(&key) {
            Err(Wrong::new("is given twice", "leave one out"))
        } else {
            // What is no TOML is text, and that is refused as text.
            let value = DeValue::parse(value).map_or_else(
                |_| DeValue::String(value.into()),
                |value| value.into_inner(),
            );
            keys.set(key, &value)
        };
        given.push(key);
        if let Err(wrong) = result {
            let title = format!("{} {}", quoted(key), wrong.what);
            reader.error.push(Some(place), title, wrong.right);
        }
    }
    let whole = || Some(Place::new(source, 0..text.len()));
    if given.contains(&"resign_moves") && !given.contains(&"resign_eval") {
        let title = "`resign_moves` means nothing without `resign_eval`";
        reader.error.push(whole(), title, "name both, or neither");
    }
    if let Some(title) = kind.and_then(|kind| not_for("--adjudicate", kind, rules, seats)) {
        reader.error.push(whole(), title, "leave it out");
    }
    keys.rules()
}
