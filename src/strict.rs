//! Strict JSON: one line in, one [`Value`] out. Bots' lines and the lines of the rules tool are read by it.
//!
//! serde_json's own [`Value`] keeps the last of two equal keys and turns a whole number that is too large into a
//! rounded float. Here both are faults, at any depth, so that a record, the rules and a reader in another language
//! cannot take different meanings from one line. What serde_json refuses anyway stays refused: NaN and Infinity,
//! floats beyond a double, lone surrogates, nesting deeper than 128, anything after the value.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why a line is not strict JSON. Bytes are counted from 1 at the beginning of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrictError {
    /// The line is not UTF-8.
    NotUtf8 {
        /// The first byte that does not fit.
        byte: usize,
    },
    /// The line is UTF-8, but not strict JSON.
    BadJson {
        /// What is wrong. Text of the line in it is escaped and cut short.
        what: String,
        /// The byte at which it was noticed.
        byte: usize,
    },
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrictError::NotUtf8 { byte } => write!(f, "not UTF-8: byte {byte} fits no character"),
            StrictError::BadJson { what, byte } => write!(f, "{what} (byte {byte})"),
        }
    }
}

impl std::error::Error for StrictError {}

/// Reads one line. A line end (`\n` or `\r\n`) may still be attached; a byte order mark may not.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(line: &[u8]) -> Result<Value, StrictError> {
    let text = std::str::from_utf8(line).map_err(|error| StrictError::NotUtf8 {
        byte: error.valid_up_to() + 1,
    })?;
    let huge = Cell::new(false);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { huge: &huge }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| bad_json(text, &error))?;
    if huge.get() {
        refuse_huge_integers(text)?;
    }
    Ok(value)
}

/// Takes serde_json's words apart: what without where, and where as a byte of the line.
fn bad_json(text: &str, error: &serde_json::Error) -> StrictError {
    let words = error.to_string();
    let what = match words.rfind(" at line ") {
        Some(end) => &words[..end],
        None => &words,
    };
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let what = if text.starts_with('\u{feff}') {
        "a byte order mark is only allowed before the first line".into()
    } else if text.trim_ascii().is_empty() {
        "the line is empty".into()
    } else {
        plain(what).into()
    };
    StrictError::BadJson {
        what,
        byte: before + error.column().max(1),
    }
}

/// What serde finds wrong with JSON or its types, in the words of who wrote it: no type names of this program, no place.
pub(crate) fn in_words(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let what = match words.rfind(" at line ") {
        Some(end) => &words[..end],
        None => &words,
    };
    let split = |prefix| {
        let (found, expected) = what.strip_prefix(prefix)?.rsplit_once(", expected ")?;
        Some((found, expected))
    };
    if let Some((found, expected)) = split("invalid type: ") {
        format!(
            "{} does not fit: {} is right",
            found_in_words(found),
            right(expected)
        )
    } else if let Some((found, expected)) = split("invalid value: ") {
        let most = match expected {
            "u8" => " from 0 to 255",
            "u16" => " from 0 to 65535",
            "u32" => " from 0 to 4294967295",
            "u64" | "u128" | "usize" => " from 0",
            _ => "",
        };
        let found = found_in_words(found);
        format!("{found} does not fit: {}{most} is right", right(expected))
    } else if let Some((found, expected)) = split("invalid length ") {
        format!(
            "a list of {found} does not fit: {} is right",
            right(expected)
        )
    } else if let Some(variant) = what.strip_prefix("unknown variant ") {
        format!("there is no word {variant}")
    } else {
        plain(what).to_owned()
    }
}

/// What serde found.
fn found_in_words(found: &str) -> String {
    let kinds = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", ""),
    ];
    let known = kinds
        .iter()
        .find_map(|(kind, words)| Some(format!("{words}{}", found.strip_prefix(kind)?)));
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "unit value" => "null".to_owned(),
        _ => known.unwrap_or_else(|| found.to_owned()),
    }
}

/// What serde expected.
fn right(expected: &str) -> String {
    let whole = ["u", "i"].iter().any(|sign| {
        expected.strip_prefix(sign).is_some_and(|size| {
            size == "size" || (!size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit()))
        })
    });
    let list = [
        "an array of length ",
        "a tuple of size ",
        "fewer elements in ",
        "tuple of ",
    ]
    .iter()
    .find_map(|words| expected.strip_prefix(words));
    match expected {
        _ if whole => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "a borrowed string" | "string" | "str" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        "unit" => "null".to_owned(),
        _ if expected.starts_with("struct ") => "an object".to_owned(),
        _ => list.map_or_else(|| expected.to_owned(), |rest| format!("a list of {rest}")),
    }
}

/// The words of serde_json in those of who writes JSON; what is not known stays.
fn plain(what: &str) -> &str {
    match what {
        "expected value" | "expected ident" => "what stands here is no JSON value",
        "key must be a string" => "a key is a text in double quotes",
        "expected `:`" | "expected colon" => "after a key comes `:`",
        "expected `,` or `}`" => "after a value comes `,` or `}`",
        "expected `,` or `]`" => "after an element comes `,` or `]`",
        "trailing comma" => "a comma with nothing after it",
        "trailing characters" => "something follows the value; a line holds one",
        "EOF while parsing an object" => "the line ends within an object",
        "EOF while parsing a list" => "the line ends within a list",
        "EOF while parsing a string" => "the line ends within a text",
        "EOF while parsing a value" => "the line ends where a value should be",
        "recursion limit exceeded" => "nested too deep",
        _ => what,
    }
}

/// Looks for a whole number beyond 64 bits. Called only for valid JSON in which a float of that size turned up, which
/// may also have been written as one (`1e30`) and is then fine.
fn refuse_huge_integers(text: &str) -> Result<(), StrictError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                while at < bytes.len()
                    && matches!(bytes[at], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                {
                    at += 1;
                }
                let number = &text[start..at];
                if !number.contains(['.', 'e', 'E'])
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    return Err(StrictError::BadJson {
                        what: "a whole number beyond 64 bits".into(),
                        byte: start + 1,
                    });
                }
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// Builds a [`Value`] and notices what serde_json would let pass.
#[derive(Clone, Copy)]
struct Strict<'a> {
    /// Set where a float is so large that it may have been written as an integer.
    huge: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        const TWO_63: f64 = 9_223_372_036_854_775_808.0;
        if value.abs() >= TWO_63 {
            self.huge.set(true);
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            // Keys are unescaped here, so `"a"` and `"\u0061"` are one.
            if object.contains_key(&key) {
                let shown: String = key.chars().take(40).collect();
                return Err(A::Error::custom(format_args!(
                    "the key {shown:?} stands twice in one object"
                )));
            }
            let value = entries.next_value_seed(self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(line: &[u8]) -> (String, usize) {
        match parse(line) {
            Err(StrictError::BadJson { what, byte }) => (what, byte),
            other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn plain_json_is_read_as_serde_json_reads_it() {
        for text in [
            r#"{"type":"move","id":3,"move":[[8,5],[6,5]],"eval":-0.25,"note":"\u015f\ud83c\udfb2"}"#,
            "  [null, true, false, 1.5e3, -9223372036854775808, 18446744073709551615]\r",
            "\"\"",
            "0",
            "{}\r\n",
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_whole_number_written_as_a_float_stays_a_number() {
        assert_eq!(parse(b"3.0"), Ok(json!(3.0)));
        assert_eq!(parse(b"1e30"), Ok(json!(1e30)));
        assert_eq!(parse(b"{\"123456789012345678901\":1e30}"), {
            Ok(json!({"123456789012345678901": 1e30}))
        });
    }

    #[test]
    fn duplicate_keys_are_found_at_any_depth_and_in_any_spelling() {
        assert_eq!(
            fault(br#"{"a":1,"a":1}"#).0,
            r#"the key "a" stands twice in one object"#
        );
        fault(br#"{"move":1,"m\u006fve":2}"#);
        fault(br#"[[{"x":{"y":1,"z":2,"y":3}}]]"#);
        assert!(parse(br#"[{"a":1},{"a":1,"b":{"a":1}}]"#).is_ok());
    }

    #[test]
    fn whole_numbers_beyond_64_bits_are_refused_where_they_stand() {
        let beyond = "a whole number beyond 64 bits".to_string();
        assert_eq!(fault(b"18446744073709551616"), (beyond.clone(), 1));
        assert_eq!(
            fault(br#"["1e30\"9",-9223372036854775809]"#),
            (beyond.clone(), 12)
        );
        assert_eq!(
            fault(format!("[1e30,{}]", "9".repeat(300)).as_bytes()),
            (beyond, 7)
        );
        fault(format!("1{}", "0".repeat(400)).as_bytes());
        fault(b"1e400");
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for line in [
            "NaN",
            "[Infinity]",
            "-Infinity",
            "01",
            "0x10",
            "+1",
            ".5",
            "1.",
            "'a'",
            "{a:1}",
            "[1,]",
            "{\"a\":1,}",
            "[1] // no",
            "{}{}",
            "{} x",
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\u0041""#,
            r#"{"\ud800":1}"#,
            "\"a\u{1}b\"",
            "\"a",
            "[",
            "",
            "   ",
            "\u{feff}{}",
        ] {
            fault(line.as_bytes());
        }
        fault("[".repeat(100_000).as_bytes());
        assert_eq!(fault(b"{\"a\":nul}").1, 9);
    }

    #[test]
    fn no_type_of_this_program_is_named() {
        fn words<T: serde::de::DeserializeOwned + fmt::Debug>(text: &str) -> String {
            in_words(&serde_json::from_str::<T>(text).expect_err("it does not fit"))
        }
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Inner {
            #[expect(dead_code, reason = "it is only read")]
            pits: [u8; 2],
        }
        assert_eq!(
            words::<u32>("\"1\""),
            "the text \"1\" does not fit: a whole number is right"
        );
        assert_eq!(
            words::<u8>("-1"),
            "the number `-1` does not fit: a whole number from 0 to 255 is right"
        );
        assert_eq!(
            words::<bool>("1.5"),
            "the number `1.5` does not fit: true or false is right"
        );
        assert_eq!(
            words::<Inner>("null"),
            "null does not fit: an object is right"
        );
        assert_eq!(
            words::<Inner>("true"),
            "`true` does not fit: an object is right"
        );
        assert_eq!(words::<Inner>("{}"), "missing field `pits`");
        assert_eq!(
            words::<Inner>("{\"pits\":[1]}"),
            "a list of 1 does not fit: a list of 2 is right"
        );
        assert_eq!(
            words::<String>("{}"),
            "an object does not fit: text is right"
        );
        assert_eq!(words::<Inner>("{"), "the line ends within an object");
    }

    #[test]
    fn bytes_that_are_no_text_are_told_apart_from_bad_json() {
        assert_eq!(
            parse(b"{\"a\":\"\xff\"}"),
            Err(StrictError::NotUtf8 { byte: 7 })
        );
        // An encoded surrogate is not UTF-8 either.
        assert!(matches!(
            parse(b"\"\xed\xa0\x80\""),
            Err(StrictError::NotUtf8 { .. })
        ));
    }
}
