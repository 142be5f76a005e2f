//! What is wrong with a file that is no TOML, in words for who wrote it.

use std::ops::Range;

use super::diagnose::quoted;

/// What is wrong, and what would be right.
pub(super) struct Mistake {
    pub(super) what: String,
    pub(super) right: String,
}

/// The parser's words at a place of a text in ours. Words that are not known stay.
pub(super) fn mistake(text: &str, span: Option<Range<usize>>, words: &str) -> Mistake {
    let of = |what: &str, right: &str| Mistake {
        what: what.to_owned(),
        right: right.to_owned(),
    };
    let span = span.unwrap_or(0..0);
    let words = words.strip_suffix(", expected nothing").unwrap_or(words);
    if words == "duplicate key" {
        return twice(text, span);
    }
    if words.starts_with("invalid boolean") || words.starts_with("string values must be quoted") {
        let word = word_at(text, span.start);
        return match word.to_ascii_lowercase().as_str() {
            "" => of("a value is missing", "KEY = VALUE is right"),
            lower @ ("true" | "false") => of(
                &format!("{} is no value", quoted(word)),
                &format!("{lower} is right, in small letters"),
            ),
            _ => of(
                &format!("{} is no value", quoted(word)),
                &format!("text stands in quotes: {word:?}"),
            ),
        };
    }
    let known = [
        (
            "key with no value",
            "a key without a value",
            "KEY = VALUE is right",
        ),
        (
            "invalid unquoted key",
            "this cannot stand in a key",
            "a key has letters, digits, - and _; KEY = VALUE is right",
        ),
        (
            "invalid basic string",
            "a text is not closed",
            "it ends with \" in the same line",
        ),
        (
            "invalid literal string",
            "a text is not closed",
            "it ends with ' in the same line",
        ),
        (
            "unclosed table",
            "the head of a section is not closed",
            "[...] is right",
        ),
        (
            "unclosed array table",
            "the head of a section is not closed",
            "[[...]] is right",
        ),
        ("unclosed array", "a list is not closed", "it ends with ]"),
        (
            "unclosed inline table",
            "a table is not closed",
            "it ends with }",
        ),
        (
            "missing escaped value",
            "a \\ in double quotes begins a special character, and this is none",
            "write \\\\, or put the text into single quotes",
        ),
        (
            "unexpected leading zero",
            "a number begins with a zero",
            "leave the zero out",
        ),
        (
            "missing value",
            "a value is missing",
            "KEY = VALUE is right",
        ),
    ];
    known
        .iter()
        .find(|(begins, ..)| words.starts_with(begins))
        .map_or_else(|| of(words, ""), |(_, what, right)| of(what, right))
}

/// The same key or head of a section again.
fn twice(text: &str, span: Range<usize>) -> Mistake {
    let key = text.get(span.clone()).unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let starts = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[starts..].lines().next().unwrap_or_default().trim();
    let is_head = line.starts_with('[');
    if is_head && key == "bot" {
        return Mistake {
            what: "`[bot]` stands more than once".to_owned(),
            right: "each bot is headed [[bot]]".to_owned(),
        };
    }
    let same = |other: &str| match is_head {
        true => other.starts_with(line.split('#').next().unwrap_or(line).trim_end()),
        false => other
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start().starts_with('=')),
    };
    let mut first = None;
    for (number, other) in text[..starts].lines().enumerate() {
        let other = other.trim();
        if !is_head && other.starts_with('[') {
            first = None;
        } else if first.is_none() && same(other) {
            first = Some(number + 1);
        }
    }
    let first = first.map_or_else(String::new, |line| format!("; the first is in line {line}"));
    Mistake {
        what: format!(
            "{} stands twice{first}",
            quoted(if is_head { line } else { key })
        ),
        right: "leave one of them out".to_owned(),
    }
}

/// The word that stands at a byte of a text, up to a space, a comma, a bracket, a comment or the end of its line.
fn word_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || ",]}#\"'".contains(c);
    rest.split(ends).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_values_end() {
        for (text, word) in [
            ("a = team-a # x", "team-a"),
            ("a = 1s", "1s"),
            ("a = ", ""),
            ("a = x]", "x"),
            ("a = ş\n", "ş"),
        ] {
            assert_eq!(word_at(text, 4), word, "{text}");
        }
        assert_eq!(word_at("a", 9), "");
    }
}
