//! Rows as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::text::acting;

/// Writes an array with a row a line.
pub(super) fn write_rows(rows: &[impl Serialize], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, row) in rows.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        row.serialize(&mut Serializer::with_formatter(&mut *out, Visible))?;
    }
    out.write_all(if rows.is_empty() { b"]\n" } else { b"\n]\n" })
}

/// Writes one row.
pub(super) fn write_row(row: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    row.serialize(&mut Serializer::with_formatter(&mut *out, Visible))?;
    out.write_all(b"\n")
}

/// Writes characters that a terminal would obey or hide as `\u` escapes: the same text to every reader of JSON.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut plain = 0;
        for (at, c) in acting(fragment) {
            CompactFormatter.write_string_fragment(writer, &fragment[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        CompactFormatter.write_string_fragment(writer, &fragment[plain..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: &[impl Serialize]) -> String {
        let mut out = Vec::new();
        write_rows(rows, &mut out).expect("memory takes it");
        String::from_utf8(out).expect("JSON is text")
    }

    #[test]
    fn a_row_a_line() {
        assert_eq!(written(&[1, 2]), "[\n1,\n2\n]\n");
        assert_eq!(written(&[0; 0]), "[]\n");
    }

    #[test]
    fn marks_that_pile_up_are_escaped_and_come_back() {
        let text = "x\u{301}\u{302}\u{303}\u{304}\u{305}";
        let json = written(&[text]);
        assert_eq!(json, "[\n\"x\u{301}\u{302}\u{303}\\u0304\\u0305\"\n]\n");
        let back: Vec<String> = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(back, [text]);
    }

    #[test]
    fn hidden_characters_are_escaped_and_come_back() {
        let text = "a\u{1b}[2J\u{9b}\u{202e}\u{e0041}\"\\ş\u{feff}";
        let json = written(&[text]);
        assert_eq!(
            json,
            "[\n\"a\\u001b[2J\\u009b\\u202e\\udb40\\udc41\\\"\\\\ş\\ufeff\"\n]\n"
        );
        let back: Vec<String> = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(back, [text]);
    }
}
