//! Cuts the bytes of a bot into lines, within limits. Pure.

/// What comes out of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A whole line without its line end, as bytes.
    Whole(&'a [u8]),
    /// The line has grown beyond the limit; nothing more will be read of this stream.
    TooLong,
    /// All output together has grown beyond the limit; nothing more will be read of this stream.
    TooMuch,
}

/// Cuts one bot's output into lines. Holds no more than one unfinished line.
///
/// A line ends with `\n`; a `\r` before it goes with it. Blank lines are skipped, but their bytes count towards the
/// output limit. A byte order mark before the first line is skipped.
#[derive(Debug, Default)]
pub struct LineReader {
    tail: Vec<u8>,
    max_line: usize,
    left: u64,
    max_output: u64,
    at_start: bool,
    shut: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl LineReader {
    /// A reader with limits in bytes: for a line with its end, and for all output until [`LineReader::refill`].
    pub fn new(max_line: usize, max_output: u64) -> LineReader {
        LineReader {
            tail: Vec::new(),
            max_line,
            left: max_output,
            max_output,
            at_start: true,
            shut: false,
        }
    }

    /// Starts counting the output anew (a new game).
    pub fn refill(&mut self) {
        self.left = self.max_output;
    }

    /// Whether an unfinished line is held.
    pub fn has_tail(&self) -> bool {
        !self.tail.is_empty()
    }

    /// The length of the unfinished line that is held, bytes.
    pub fn unfinished(&self) -> usize {
        self.tail.len()
    }

    /// Whether a limit was passed: the stream need not be read any more.
    pub fn is_shut(&self) -> bool {
        self.shut
    }

    /// Takes what was read and calls `each` for every line that is now whole, in order.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while !bytes.is_empty() && !self.shut {
            let end = find_line_feed(bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            // What is over a limit is never looked at. Which of the two was passed first does not depend on the pieces in
            // which the bytes were read.
            let room = (self.max_line - self.tail.len()) as u64;
            if taken as u64 > room.min(self.left) {
                let what = if self.left <= room {
                    Line::TooMuch
                } else {
                    Line::TooLong
                };
                self.shut_with(what, &mut each);
                return;
            }
            self.left -= taken as u64;
            let (line, rest) = bytes.split_at(taken);
            bytes = rest;
            if end.is_none() {
                self.tail.extend_from_slice(line);
            } else if self.tail.is_empty() {
                let line = Self::trim(line, &mut self.at_start);
                if !line.is_empty() {
                    each(Line::Whole(line));
                }
            } else {
                self.tail.extend_from_slice(line);
                let tail = std::mem::take(&mut self.tail);
                let line = Self::trim(&tail, &mut self.at_start);
                if !line.is_empty() {
                    each(Line::Whole(line));
                }
            }
        }
    }

    fn shut_with(&mut self, what: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        self.shut = true;
        self.tail = Vec::new();
        each(what);
    }

    /// Takes off the line end, and the mark before the first line; a line of white space becomes empty.
    fn trim<'a>(line: &'a [u8], at_start: &mut bool) -> &'a [u8] {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if std::mem::take(at_start) {
            line.strip_prefix(BOM).unwrap_or(line)
        } else {
            line
        };
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            &[]
        } else {
            line
        }
    }
}

fn find_line_feed(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(reader: &mut LineReader, bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        reader.feed(bytes, |line| {
            found.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "TOO LONG".into(),
                Line::TooMuch => "TOO MUCH".into(),
            });
        });
        found
    }

    #[test]
    fn lines_may_come_in_any_pieces() {
        let text = b"{\"a\":1}\r\n\n  \n{\"b\":2}\nrest";
        for cut in 0..text.len() {
            let mut reader = LineReader::new(100, 1000);
            let mut found = lines(&mut reader, &text[..cut]);
            found.extend(lines(&mut reader, &text[cut..]));
            assert_eq!(found, ["{\"a\":1}", "{\"b\":2}"], "cut at {cut}");
            assert!(reader.has_tail(), "an unfinished line is no line");
        }
    }

    #[test]
    fn a_mark_is_skipped_only_before_the_first_line() {
        let mut reader = LineReader::new(100, 1000);
        assert_eq!(
            lines(&mut reader, b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n"),
            ["a", "\u{feff}b"]
        );
        // A mark on a blank first line is still the mark.
        let mut reader = LineReader::new(100, 1000);
        assert_eq!(lines(&mut reader, b"\xef\xbb\xbf\na\n"), ["a"]);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let mut reader = LineReader::new(4, 1000);
        assert_eq!(lines(&mut reader, b"abc\nabcd\n"), ["abc", "TOO LONG"]);
        assert!(reader.is_shut());
        assert_eq!(lines(&mut reader, b"x\n"), Vec::<String>::new());
        let mut reader = LineReader::new(4, 1000);
        assert_eq!(
            lines(&mut reader, b"abcde"),
            ["TOO LONG"],
            "also without a line end"
        );
    }

    #[test]
    fn the_limit_that_is_passed_first_is_told_whatever_the_pieces() {
        for (max_line, max_output, told) in [(4, 6, "TOO LONG"), (6, 4, "TOO MUCH")] {
            for piece in 1..=8 {
                let mut reader = LineReader::new(max_line, max_output);
                let found: Vec<String> = b"abcdefgh"
                    .chunks(piece)
                    .flat_map(|piece| lines(&mut reader, piece))
                    .collect();
                assert_eq!(found, [told], "in pieces of {piece}");
            }
        }
    }

    #[test]
    fn blank_lines_count_towards_the_output() {
        let mut reader = LineReader::new(100, 10);
        assert_eq!(lines(&mut reader, &[b'\n'; 10]), Vec::<String>::new());
        assert_eq!(lines(&mut reader, b"\n"), ["TOO MUCH"]);
        let mut reader = LineReader::new(100, 10);
        lines(&mut reader, b"12345678\n");
        reader.refill();
        assert_eq!(lines(&mut reader, b"12345678\n"), ["12345678"]);
    }
}
