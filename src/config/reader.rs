//! Takes values out of TOML tables. What does not fit becomes a problem with its place, and reading goes on.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::diagnose::{ConfigError, Place, nearest, quoted, suggestion};
use super::{syntax, units};

/// Collects the problems of all files that belong to an event.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What was found wrong.
    pub(super) error: ConfigError,
}

/// A table of a file.
#[derive(Clone)]
pub(super) struct Section<'t> {
    source: usize,
    name: String,
    table: &'t DeTable<'t>,
    header: Range<usize>,
}

/// Why a value does not fit.
pub(super) struct Wrong {
    /// Goes on after "`games` in `[event]`": "is text".
    pub(super) what: String,
    /// Stands at the caret: what would be right.
    pub(super) right: String,
}

impl Wrong {
    pub(super) fn new(what: impl Into<String>, right: impl Into<String>) -> Wrong {
        Wrong {
            what: what.into(),
            right: right.into(),
        }
    }

    fn kind(value: &DeValue<'_>, right: impl Into<String>) -> Wrong {
        Wrong::new(format!("is {}", kind(value)), right)
    }
}

/// The type of a value in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A word of a closed set; without a meaning it belongs to the contract, but this version does not offer it.
pub(super) type Words<T> = [(&'static str, Option<T>)];

impl<'t> Section<'t> {
    /// The place of its header.
    pub(super) fn header(&self) -> Place {
        Place::new(self.source, self.header.clone())
    }

    /// The place of a key's value; of the header where the key is absent.
    pub(super) fn place(&self, key: &str) -> Place {
        self.get(key).map_or_else(
            || self.header(),
            |(_, value)| Place::new(self.source, value.span()),
        )
    }

    /// The place of a key itself; of the header where it is absent.
    pub(super) fn key_place(&self, key: &str) -> Place {
        self.get(key).map_or_else(
            || self.header(),
            |(key, _)| Place::new(self.source, key.span()),
        )
    }

    /// How it is called in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rename(&mut self, name: String) {
        self.name = name;
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    fn get(&self, key: &str) -> Option<(&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }
}

impl Reader {
    /// Parses a whole file. `None`: it is no TOML, and the problems say where.
    pub(super) fn file<'t>(&mut self, name: &str, text: &'t str) -> Option<(usize, DeTable<'t>)> {
        let source = self.error.add_source(name, text);
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut several_bots = false;
        for error in &errors {
            let place = error.span().map(|span| Place::new(source, span));
            let mistake = syntax::mistake(text, error.span(), error.message());
            // What follows a head that stands twice are the keys below it.
            let is_twice = error.message() == "duplicate key";
            if !(is_twice && several_bots) {
                self.error.push(place, mistake.what, mistake.right);
            }
            several_bots |= is_twice
                && error
                    .span()
                    .is_some_and(|span| text.get(span) == Some("bot"));
        }
        errors.is_empty().then(|| (source, table.into_inner()))
    }

    /// A whole file as a section.
    pub(super) fn root<'t>(
        &mut self,
        source: usize,
        name: &str,
        table: &'t DeTable<'t>,
        known: &[&str],
    ) -> Section<'t> {
        let section = Section {
            source,
            name: name.to_owned(),
            table,
            header: 0..0,
        };
        self.check_keys(&section, known, &[]);
        section
    }

    /// The table that a key of `parent` holds, its keys checked. `elsewhere` names keys of other sections, for better advice.
    pub(super) fn section<'t>(
        &mut self,
        parent: &Section<'t>,
        key: &str,
        name: &str,
        known: &[&str],
        elsewhere: &[(&str, &[&str])],
    ) -> Option<Section<'t>> {
        let (_, value) = parent.get(key)?;
        let section = self.table(parent.source, name, value)?;
        self.check_keys(&section, known, elsewhere);
        Some(section)
    }

    /// The table that a key of `parent` holds, with whatever keys.
    pub(super) fn open_section<'t>(
        &mut self,
        parent: &Section<'t>,
        key: &str,
        name: &str,
    ) -> Option<Section<'t>> {
        let (_, value) = parent.get(key)?;
        self.table(parent.source, name, value)
    }

    /// The tables of a list (`[[bot]]`), with whatever keys.
    pub(super) fn sections<'t>(&mut self, parent: &Section<'t>, key: &str) -> Vec<Section<'t>> {
        let Some((_, value)) = parent.get(key) else {
            return Vec::new();
        };
        let Some(list) = value.get_ref().as_array() else {
            let what = format!("`{key}` is {}", kind(value.get_ref()));
            let right = format!("each {key} is a table of its own, headed [[{key}]]");
            let place = Place::new(parent.source, value.span());
            self.error.push(Some(place), what, right);
            return Vec::new();
        };
        list.iter()
            .enumerate()
            .filter_map(|(number, item)| {
                let name = format!("[[{key}]] number {}", number + 1);
                self.table(parent.source, &name, item)
            })
            .collect()
    }

    fn table<'t>(
        &mut self,
        source: usize,
        name: &str,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Option<Section<'t>> {
        let span = value.span();
        match value.get_ref() {
            DeValue::Table(table) => Some(Section {
                source,
                name: name.to_owned(),
                table,
                header: span,
            }),
            other => {
                let what = format!("{name} is {}", kind(other));
                let place = Place::new(source, span);
                self.error
                    .push(Some(place), what, "a table with keys is right");
                None
            }
        }
    }

    /// Refuses keys that are not known. `elsewhere` names keys of other sections, for better advice.
    pub(super) fn check_keys(
        &mut self,
        section: &Section<'_>,
        known: &[&str],
        elsewhere: &[(&str, &[&str])],
    ) {
        for key in section.keys().filter(|key| !known.contains(key)) {
            let home = elsewhere
                .iter()
                .find(|(name, keys)| *name != section.name && keys.contains(&key));
            let advice = match (nearest(key, known.iter().copied()), home) {
                (None, Some((name, _))) => format!("it belongs in {name}"),
                _ => suggestion(key, known.iter().copied()),
            };
            self.error.push(
                Some(section.key_place(key)),
                format!("{} is no key of {}", quoted(key), section.name),
                advice,
            );
        }
    }

    /// Reads the value of a key. `None` where it is absent, or does not fit and is now a problem.
    pub(super) fn value<T>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        parse: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Option<T> {
        let (_, value) = section.get(key)?;
        match parse(value.get_ref()) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.wrong(section, key, wrong);
                None
            }
        }
    }

    /// Whether a key's value is a table.
    pub(super) fn is_table(&self, section: &Section<'_>, key: &str) -> bool {
        section
            .get(key)
            .is_some_and(|(_, value)| matches!(value.get_ref(), DeValue::Table(_)))
    }

    /// Notes that the value of a key does not fit.
    pub(super) fn wrong(&mut self, section: &Section<'_>, key: &str, wrong: Wrong) {
        let title = format!("{} in {} {}", quoted(key), section.name, wrong.what);
        self.error
            .push(Some(section.place(key)), title, wrong.right);
    }

    /// Text that is not blank, without control characters, trimmed, of at most so many characters.
    pub(super) fn text(
        &mut self,
        section: &Section<'_>,
        key: &str,
        max: usize,
        example: &str,
    ) -> Option<String> {
        self.value(section, key, |value| {
            let right = format!("text is right, like {example:?}");
            let text = value
                .as_str()
                .ok_or_else(|| Wrong::kind(value, right.clone()))?
                .trim();
            plain_text(text, max, right)
        })
    }

    /// A whole number.
    pub(super) fn whole<T>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        range: RangeInclusive<T>,
    ) -> Option<T>
    where
        T: TryFrom<i128> + PartialOrd + Copy + Display,
    {
        self.value(section, key, |value| {
            let right = || {
                let (low, high) = range.clone().into_inner();
                format!("a whole number from {low} to {high} is right")
            };
            let number = integer(value).ok_or_else(|| Wrong::kind(value, right()))?;
            T::try_from(number)
                .ok()
                .filter(|number| range.contains(number))
                .ok_or_else(|| Wrong::new(format!("is {number}"), right()))
        })
    }

    /// True or false.
    pub(super) fn flag(&mut self, section: &Section<'_>, key: &str) -> Option<bool> {
        self.value(section, key, |value| {
            value
                .as_bool()
                .ok_or_else(|| Wrong::kind(value, "true or false is right, without quotes"))
        })
    }

    /// A duration in microseconds, not below `least`.
    pub(super) fn duration(&mut self, section: &Section<'_>, key: &str, least: u64) -> Option<u64> {
        self.value(section, key, |value| {
            let text = value.as_str().ok_or_else(|| {
                let example = integer(value).map_or_else(|| "60".into(), |n| n.to_string());
                Wrong::kind(
                    value,
                    format!("a duration is text with a unit, like \"{example}s\" or \"100ms\""),
                )
            })?;
            duration(text, least)
        })
    }

    /// A size in bytes.
    pub(super) fn size(
        &mut self,
        section: &Section<'_>,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        self.value(section, key, |value| {
            let text = value.as_str().ok_or_else(|| {
                let example = integer(value).map_or_else(|| "64".into(), |n| n.to_string());
                Wrong::kind(
                    value,
                    format!("a size is text with a unit, like \"{example}MB\" or \"4KB\""),
                )
            })?;
            let bytes = units::parse_size(text).map_err(|error| {
                Wrong::new(
                    format!("is no size: {error}"),
                    "a size is a whole number and B, KB, MB or GB, like \"64MB\"",
                )
            })?;
            if range.contains(&bytes) {
                return Ok(bytes);
            }
            let (low, high) = (range.start(), range.end());
            Err(Wrong::new(
                format!("is {}", units::show_size(bytes)),
                format!(
                    "{} to {} are possible",
                    units::show_size(*low),
                    units::show_size(*high)
                ),
            ))
        })
    }

    /// A word of a closed set.
    pub(super) fn word<T: Copy>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        words: &Words<T>,
    ) -> Option<T> {
        self.value(section, key, |value| {
            let offered = || {
                words
                    .iter()
                    .filter(|(_, meaning)| meaning.is_some())
                    .map(|(word, _)| *word)
            };
            let text = value.as_str().ok_or_else(|| {
                let known: Vec<String> = offered().map(|word| format!("\"{word}\"")).collect();
                Wrong::kind(value, format!("{} is right", known.join(" or ")))
            })?;
            word(text, words)
        })
    }

    /// A list of texts.
    pub(super) fn texts(
        &mut self,
        section: &Section<'_>,
        key: &str,
        example: &str,
    ) -> Option<Vec<String>> {
        self.value(section, key, |value| {
            let right = format!("a list of texts is right, like {example}");
            let DeValue::Array(list) = value else {
                return Err(Wrong::kind(value, right));
            };
            list.iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) => Ok(text.as_ref().to_owned()),
                    other => Err(Wrong::new(format!("holds {}", kind(other)), right.clone())),
                })
                .collect()
        })
    }

    /// All keys of a section as JSON.
    pub(super) fn json(&mut self, section: &Section<'_>) -> Map<String, Value> {
        let mut map = Map::new();
        for (key, value) in section.table {
            match json(value.get_ref()) {
                Ok(json) => {
                    map.insert(key.get_ref().as_ref().to_owned(), json);
                }
                Err(wrong) => self.wrong(section, key.get_ref(), wrong),
            }
        }
        map
    }
}

/// Checks a text that is shown to people.
pub(super) fn plain_text(text: &str, max: usize, right: String) -> Result<String, Wrong> {
    if text.is_empty() {
        return Err(Wrong::new("is blank", right));
    }
    if let Some(control) = text.chars().find(|letter| letter.is_control()) {
        return Err(Wrong::new(
            format!("holds the control character {}", control.escape_default()),
            "letters, digits, signs and spaces are right",
        ));
    }
    let length = text.chars().count();
    if length > max {
        return Err(Wrong::new(
            format!("has {length} characters"),
            format!("{max} characters at most are possible"),
        ));
    }
    Ok(text.to_owned())
}

/// A duration in microseconds, not below `least`.
pub(super) fn duration(text: &str, least: u64) -> Result<u64, Wrong> {
    let micros = units::parse_duration(text).map_err(|error| {
        Wrong::new(
            format!("is no duration: {error}"),
            "a duration is a number and a unit (us, ms, s, m, h), like \"60s\", \"100ms\", \"0.5s\" or \"1h 30m\"",
        )
    })?;
    if micros < least {
        return Err(Wrong::new(
            format!("is {}", units::show_duration(micros)),
            format!("{} is the least", units::show_duration(least)),
        ));
    }
    Ok(micros)
}

/// A word of a closed set.
pub(super) fn word<T: Copy>(text: &str, words: &Words<T>) -> Result<T, Wrong> {
    let offered = words
        .iter()
        .filter(|(_, meaning)| meaning.is_some())
        .map(|(word, _)| *word);
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, Some(meaning))) => Ok(*meaning),
        Some((_, None)) => {
            let known: Vec<String> = offered.map(|word| format!("\"{word}\"")).collect();
            let verb = if known.len() == 1 { "is" } else { "are" };
            Err(Wrong::new(
                format!("is {text:?}, which is not yet offered by this version"),
                format!("{} {verb}", known.join(" and ")),
            ))
        }
        None => Err(Wrong::new(
            format!("is {}", quoted(text)),
            suggestion(text, offered),
        )),
    }
}

/// A whole number of any size that TOML allows and that fits.
pub(super) fn integer(value: &DeValue<'_>) -> Option<i128> {
    let number = value.as_integer()?;
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A TOML value as JSON.
pub(super) fn json(value: &DeValue<'_>) -> Result<Value, Wrong> {
    const RIGHT: &str = "a number, text, true, false, a list or a table is right";
    match value {
        DeValue::String(text) => Ok(Value::from(text.as_ref())),
        DeValue::Boolean(flag) => Ok(Value::from(*flag)),
        DeValue::Integer(number) => integer(value)
            .and_then(|whole| i64::try_from(whole).ok())
            .map(Value::from)
            .ok_or_else(|| {
                Wrong::new(
                    format!("holds {}, which is beyond 64 bits", quoted(number.as_str())),
                    RIGHT,
                )
            }),
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .ok()
            .and_then(serde_json::Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| {
                Wrong::new(
                    format!(
                        "holds {}, which is no finite number",
                        quoted(number.as_str())
                    ),
                    RIGHT,
                )
            }),
        DeValue::Datetime(_) => Err(Wrong::new("holds a date or time", RIGHT)),
        DeValue::Array(list) => list.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| Ok((key.get_ref().as_ref().to_owned(), json(value.get_ref())?)))
            .collect::<Result<Map<_, _>, Wrong>>()
            .map(Value::Object),
    }
}
