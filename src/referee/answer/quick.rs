//! Reads the plainest form of an answer without building a tree of values.
//!
//! Nearly every line of nearly every bot is `{"type":"move","id":3,"move":...}` with a small move and perhaps spaces. Reading
//! it takes a third of the time of strict JSON in full. Whatever is not exactly of this form is left to the full reader; a test
//! holds the two to the same result.

use serde_json::Value;

use super::Said;

/// The answer, if the line is of the plain form.
pub(super) fn read(line: &[u8]) -> Option<Said> {
    let mut rest = Rest(line);
    rest.token(b"{")?;
    rest.token(b"\"type\"")?;
    rest.token(b":")?;
    rest.token(b"\"move\"")?;
    rest.token(b",")?;
    rest.token(b"\"id\"")?;
    rest.token(b":")?;
    let id = rest.number()?;
    rest.token(b",")?;
    rest.token(b"\"move\"")?;
    rest.token(b":")?;
    let mv = rest.value(2)?;
    rest.token(b"}")?;
    rest.spaces();
    rest.0.is_empty().then_some(Said::Move {
        id,
        mv,
        note: None,
        eval: None,
    })
}

/// What is left of the line.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn spaces(&mut self) {
        while let [b' ', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    fn token(&mut self, token: &[u8]) -> Option<()> {
        self.spaces();
        self.0 = self.0.strip_prefix(token)?;
        Some(())
    }

    /// A whole number of at most nine digits, without sign or leading zero.
    fn number(&mut self) -> Option<u64> {
        self.spaces();
        let length = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.0.split_at(length);
        // What would make it another number (`3.0`, `3e1`) is not a token that may follow.
        if length == 0 || length > 9 || (length > 1 && digits[0] == b'0') {
            return None;
        }
        self.0 = rest;
        Some(
            digits
                .iter()
                .fold(0, |number, digit| number * 10 + u64::from(digit - b'0')),
        )
    }

    /// A number, a plain word, or a list of such, lists in lists to this depth.
    fn value(&mut self, depth: u32) -> Option<Value> {
        self.spaces();
        match self.0.first()? {
            b'0'..=b'9' => self.number().map(Value::from),
            b'"' => self.word(),
            b'[' if depth > 0 => self.list(depth - 1),
            _ => None,
        }
    }

    /// A text of letters, digits and `_`.
    fn word(&mut self) -> Option<Value> {
        let text = self.0.strip_prefix(b"\"")?;
        let plain = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = text.iter().take_while(plain).count();
        let (word, rest) = text.split_at(length);
        self.0 = rest.strip_prefix(b"\"")?;
        std::str::from_utf8(word).ok().map(Value::from)
    }

    fn list(&mut self, depth: u32) -> Option<Value> {
        self.token(b"[")?;
        let mut values = Vec::new();
        if self.token(b"]").is_some() {
            return Some(Value::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            if self.token(b"]").is_some() {
                return Some(Value::Array(values));
            }
            self.token(b",")?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The full reader's result for a line of type `move`.
    fn in_full(line: &[u8]) -> Option<Said> {
        let Ok(Value::Object(fields)) = crate::strict::parse(line) else {
            return None;
        };
        (fields["type"] == "move" && fields.len() == 3).then(|| Said::Move {
            id: fields["id"].as_u64().expect("an id"),
            mv: fields["move"].clone(),
            note: None,
            eval: None,
        })
    }

    #[test]
    fn plain_answers_are_read_as_the_full_reader_reads_them() {
        let moves = [
            "4",
            "0",
            "999999999",
            "[]",
            "[[8,5],[6,5]]",
            "\"d3\"",
            "[[25, 0]]",
            "\"\"",
            "[1,\"a_b\"]",
        ];
        for mv in moves {
            for line in [
                format!("{{\"type\":\"move\",\"id\":3,\"move\":{mv}}}"),
                format!("{{\"type\": \"move\", \"id\": 17, \"move\": {mv}}}"),
                format!(" {{ \"type\" :\"move\" , \"id\":0, \"move\" : {mv} }} "),
            ] {
                let read = read(line.as_bytes());
                assert!(read.is_some(), "{line}");
                assert_eq!(read, in_full(line.as_bytes()), "{line}");
            }
        }
    }

    #[test]
    fn whatever_else_is_left_to_the_full_reader() {
        for line in [
            r#"{"id":3,"type":"move","move":4}"#,
            r#"{"type":"move","id":3,"move":4,"note":"x"}"#,
            r#"{"type":"move","id":03,"move":4}"#,
            r#"{"type":"move","id":3.0,"move":4}"#,
            r#"{"type":"move","id":3e0,"move":4}"#,
            r#"{"type":"move","id":-3,"move":4}"#,
            r#"{"type":"move","id":3,"move":4.0}"#,
            r#"{"type":"move","id":3,"move":{"to":"d2"}}"#,
            r#"{"type":"move","id":3,"move":[[[1]]]}"#,
            r#"{"type":"move","id":3,"move":"d\u0033"}"#,
            r#"{"type":"move","id":3,"move":[1,]}"#,
            r#"{"type":"move","id":3,"move":null}"#,
            r#"{"type":"move","id":3,"move":4}}"#,
            r#"{"type":"move","id":3,"move":4} x"#,
            r#"{"type":"move","id":3,"move":4"#,
            r#"{"type":"move","id":9999999999,"move":4}"#,
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn one_changed_byte_never_makes_the_two_differ() {
        let line = br#"{"type": "move", "id": 13, "move": [[8, 5], [6, 5]]}"#;
        for place in 0..line.len() {
            for byte in 0..=255 {
                let mut changed = line.to_vec();
                changed[place] = byte;
                if let Some(said) = read(&changed) {
                    assert_eq!(
                        Some(said),
                        in_full(&changed),
                        "{}",
                        String::from_utf8_lossy(&changed)
                    );
                }
            }
        }
    }
}
