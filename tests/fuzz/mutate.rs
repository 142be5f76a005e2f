//! Mutations of an input: of its bytes, and of the JSON in its lines.

use std::ops::Range;

use mutatis::{Candidates, Mutate, Result, Rng, Session};
use serde_json::{Number, Value};

use crate::picks::Picks;

/// Numbers at edges.
const NUMBERS: [i64; 16] = [
    0,
    1,
    2,
    3,
    6,
    7,
    24,
    25,
    26,
    48,
    255,
    256,
    -1,
    u32::MAX as i64,
    i64::MIN,
    i64::MAX,
];
/// The same, and others, as they may be written.
const SPELLINGS: [&str; 12] = [
    "3.0",
    "0.5",
    "1e3",
    "-0",
    "1e300",
    "1e400",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "007",
    "0x1",
    "0.1234567890123456789",
];
/// Pieces that break what they stand in.
const PIECES: [&str; 25] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "null",
    "true",
    "[]",
    "{}",
    "[[]]",
    "-",
    " ",
    "\t",
    "\u{feff}",
    "\\ud800",
    "\u{202e}",
    "\u{1b}[2J",
    "\u{9b}2J",
    "é",
    "\0",
];

/// Changes inputs of one target.
pub(crate) struct Mutator {
    session: Session,
    words: &'static [&'static str],
}

impl Mutator {
    /// With the words of a target and the choices of a seed.
    pub(crate) fn new(words: &'static [&'static str], seed: u64) -> Mutator {
        Mutator {
            session: Session::new().seed(seed),
            words,
        }
    }

    /// One that only cuts.
    pub(crate) fn shrinking(seed: u64) -> Mutator {
        Mutator {
            session: Session::new().seed(seed).shrink(true),
            words: &[],
        }
    }

    /// Takes something out.
    pub(crate) fn cut(&mut self, input: &mut Vec<u8>) {
        let words = self.words;
        let mut text = Text { words, donor: &[] };
        // An empty input cannot be cut, and that is all that can go wrong.
        let _ = self.session.mutate_with(&mut text, input);
    }

    /// Makes one change; parts of `donor` may come into it.
    pub(crate) fn change(&mut self, input: &mut Vec<u8>, donor: &[u8], picks: &mut Picks) {
        let words = self.words;
        if picks.below(2) == 0 && self.change_json(input, picks).is_some() {
            return;
        }
        let changed = self.session.mutate_with(&mut Text { words, donor }, input);
        changed.expect("bytes can always be changed");
    }

    /// Changes the JSON of one line; nothing where a line is none.
    fn change_json(&mut self, input: &mut Vec<u8>, picks: &mut Picks) -> Option<()> {
        let lines = input.split(|&byte| byte == b'\n').count();
        let chosen = picks.below(lines);
        let line = input.split(|&byte| byte == b'\n').nth(chosen)?;
        let start = line.as_ptr() as usize - input.as_ptr() as usize;
        let place = start..start + line.len();
        let mut value: Value = serde_json::from_slice(line).ok()?;
        let words = self.words;
        self.session
            .mutate_with(&mut Json { words }, &mut value)
            .ok()?;
        input.splice(place, value.to_string().into_bytes());
        Some(())
    }
}

/// A place below the length; 0 of nothing.
fn index(rng: &mut Rng, length: usize) -> usize {
    rng.gen_index(length).unwrap_or(0)
}

fn one_of<T: Copy>(rng: &mut Rng, list: &[T]) -> Option<T> {
    rng.choose(list).copied()
}

/// A part, mostly a short one.
fn part(rng: &mut Rng, length: usize) -> Range<usize> {
    let start = index(rng, length);
    let most = 1 << index(rng, 12);
    let end = start + 1 + index(rng, most);
    start..end.min(length)
}

/// The whole number that a place is in, if it is in one.
fn digits(bytes: &[u8], place: usize) -> Range<usize> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let before = bytes[..place]
        .iter()
        .rev()
        .take_while(|byte| is_digit(byte))
        .count();
    let after = bytes[place..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    place - before..place + after
}

/// Changes bytes.
struct Text<'a> {
    words: &'a [&'a str],
    donor: &'a [u8],
}

impl Text<'_> {
    /// A word of the target, or something that breaks what it stands in.
    fn word(&self, rng: &mut Rng) -> &str {
        let word = if rng.gen_bool() {
            one_of(rng, self.words)
        } else {
            None
        };
        word.or_else(|| one_of(rng, &PIECES)).unwrap_or_default()
    }
}

impl Mutate<Vec<u8>> for Text<'_> {
    fn mutate(&mut self, candidates: &mut Candidates<'_>, bytes: &mut Vec<u8>) -> Result<()> {
        if !bytes.is_empty() {
            candidates.mutation_group(2, |context, _| {
                let part = part(context.rng(), bytes.len());
                bytes.drain(part);
                Ok(())
            })?;
        }
        if candidates.shrink() {
            return Ok(());
        }
        candidates.mutation_group(2, |context, _| {
            let at = index(context.rng(), bytes.len() + 1);
            let word = self.word(context.rng()).as_bytes();
            bytes.splice(at..at, word.iter().copied());
            Ok(())
        })?;
        if !self.donor.is_empty() {
            candidates.mutation_group(2, |context, how| {
                let place = match how {
                    0 => {
                        let at = index(context.rng(), bytes.len() + 1);
                        at..at
                    }
                    _ => part(context.rng(), bytes.len()),
                };
                let piece = part(context.rng(), self.donor.len());
                bytes.splice(place, self.donor[piece].iter().copied());
                Ok(())
            })?;
        }
        if bytes.is_empty() {
            return Ok(());
        }
        candidates.mutation_group(2, |context, whole| {
            let at = index(context.rng(), bytes.len());
            let bit = index(context.rng(), 8);
            bytes[at] = if whole == 0 {
                bytes[at] ^ (1 << bit)
            } else {
                context.rng().gen_u8()
            };
            Ok(())
        })?;
        candidates.mutation(|context| {
            let part = part(context.rng(), bytes.len());
            let word = self.word(context.rng()).as_bytes().to_vec();
            bytes.splice(part, word);
            Ok(())
        })?;
        // A number at an edge in the place of another.
        candidates.mutation_group(3, |context, _| {
            let from = index(context.rng(), bytes.len());
            let number = bytes[from..].iter().position(u8::is_ascii_digit);
            let place = digits(bytes, from + number.unwrap_or(0));
            let new = if context.rng().gen_bool() {
                one_of(context.rng(), &NUMBERS).map(|number| number.to_string())
            } else {
                one_of(context.rng(), &SPELLINGS).map(str::to_owned)
            };
            bytes.splice(place, new.unwrap_or_default().into_bytes());
            Ok(())
        })?;
        candidates.mutation(|context| {
            let piece = bytes[part(context.rng(), bytes.len())].to_vec();
            let times = 1 + index(context.rng(), 8);
            let at = index(context.rng(), bytes.len() + 1);
            bytes.splice(at..at, piece.repeat(times));
            Ok(())
        })?;
        // A whole line somewhere else, or once more.
        candidates.mutation_group(2, |context, again| {
            let mut lines: Vec<Vec<u8>> = bytes
                .split(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            let from = index(context.rng(), lines.len());
            let line = if again == 0 {
                lines.remove(from)
            } else {
                lines[from].clone()
            };
            lines.insert(index(context.rng(), lines.len() + 1), line);
            *bytes = lines.join(&b'\n');
            Ok(())
        })
    }
}

/// Changes one node of a value.
struct Json<'a> {
    words: &'a [&'a str],
}

impl Json<'_> {
    fn leaf(&self, rng: &mut Rng) -> Value {
        match index(rng, 8) {
            0 => Value::Null,
            1 => Value::Bool(rng.gen_bool()),
            2 => Value::Array(Vec::new()),
            3 => Value::Object(serde_json::Map::new()),
            4 => one_of(rng, &SPELLINGS)
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default(),
            5 => Value::from(one_of(rng, self.words).unwrap_or_default()),
            _ => Value::from(one_of(rng, &NUMBERS).unwrap_or_default()),
        }
    }
}

impl Mutate<Value> for Json<'_> {
    fn mutate(&mut self, candidates: &mut Candidates<'_>, value: &mut Value) -> Result<()> {
        candidates.mutation(|context| {
            *value = self.leaf(context.rng());
            Ok(())
        })?;
        match value {
            Value::Null | Value::Bool(_) => Ok(()),
            Value::Number(number) => candidates.mutation_group(4, |context, how| {
                let whole = number.as_i64().unwrap_or(0);
                *number = match how {
                    0 => whole.wrapping_add(1).into(),
                    1 => whole.wrapping_sub(1).into(),
                    2 => one_of(context.rng(), &NUMBERS).unwrap_or_default().into(),
                    _ => Number::from_f64(whole as f64).unwrap_or_else(|| 0.into()),
                };
                Ok(())
            }),
            Value::String(text) => candidates.mutation_group(3, |context, how| {
                let word = one_of(context.rng(), self.words).unwrap_or_default();
                match how {
                    0 => *text = word.to_owned(),
                    1 => text.push_str(one_of(context.rng(), &PIECES).unwrap_or_default()),
                    _ => drop(text.pop()),
                }
                Ok(())
            }),
            Value::Array(list) => self.mutate_list(candidates, list),
            Value::Object(fields) => {
                if !fields.is_empty() {
                    candidates.mutation_group(3, |context, how| {
                        let names: Vec<String> = fields.keys().cloned().collect();
                        let name = &names[index(context.rng(), names.len())];
                        let other = &names[index(context.rng(), names.len())];
                        let taken = match how {
                            0 | 1 => fields.remove(name),
                            _ => fields.get(name).cloned(),
                        };
                        match (how, taken) {
                            (1, Some(taken)) => {
                                let word = one_of(context.rng(), self.words).unwrap_or_default();
                                fields.insert(word.to_owned(), taken);
                            }
                            (2, Some(taken)) => drop(fields.insert(other.clone(), taken)),
                            _ => {}
                        }
                        Ok(())
                    })?;
                }
                candidates.mutation(|context| {
                    let word = one_of(context.rng(), self.words).unwrap_or_default();
                    let leaf = self.leaf(context.rng());
                    fields.insert(word.to_owned(), leaf);
                    Ok(())
                })?;
                for field in fields.values_mut() {
                    self.mutate(candidates, field)?;
                }
                Ok(())
            }
        }
    }
}

impl Json<'_> {
    fn mutate_list(
        &mut self,
        candidates: &mut Candidates<'_>,
        list: &mut Vec<Value>,
    ) -> Result<()> {
        candidates.mutation(|context| {
            let at = index(context.rng(), list.len() + 1);
            let leaf = self.leaf(context.rng());
            list.insert(at, leaf);
            Ok(())
        })?;
        if !list.is_empty() {
            candidates.mutation_group(4, |context, how| {
                let (one, other) = (
                    index(context.rng(), list.len()),
                    index(context.rng(), list.len()),
                );
                match how {
                    0 => drop(list.remove(one)),
                    1 => list.insert(other, list[one].clone()),
                    2 => list.swap(one, other),
                    _ => list[one] = list[other].clone(),
                }
                Ok(())
            })?;
        }
        for element in list {
            self.mutate(candidates, element)?;
        }
        Ok(())
    }
}
