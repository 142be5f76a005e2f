//! No bytes of an event file make the reader or the messages panic.

use super::*;

/// A small generator of numbers (xorshift64*), so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        usize::try_from(number >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// Pieces that are likely to hurt.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "\"\"\"",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "#",
    "\\u0000",
    "\\",
    "-",
    "+",
    "_",
    "0",
    "1e999",
    "nan",
    "-inf",
    "99999999999999999999",
    "0x",
    "1979-05-27",
    "true",
    "ö",
    "\u{202e}",
    "\u{feff}",
    "🂡",
    "e\u{301}",
    "[event]\n",
    "[[bot]]\n",
    "[bot]\n",
    "name = \"a\"\n",
    "a.b.c = 1\n",
    "openings = \"/dev/null\"\n",
    "seats = 3\n",
    "\"60s\"",
    "\"1MB\"",
    "games = 3\n",
];

fn mutate(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(bytes.len() + 1);
    let end = (at + numbers.below(20)).min(bytes.len());
    match numbers.below(6) {
        0 => drop(bytes.drain(at..end)),
        1 => drop(bytes.splice(at..at, PIECES[numbers.below(PIECES.len())].bytes())),
        2 => drop(bytes.splice(at..end, PIECES[numbers.below(PIECES.len())].bytes())),
        3 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
        4 => {
            let copy = bytes[at..end].to_vec();
            let to = numbers.below(bytes.len() + 1);
            drop(bytes.splice(to..to, copy));
        }
        _ => bytes.truncate(bytes.len() - numbers.below(3).min(bytes.len())),
    }
}

#[test]
fn mutated_files_never_panic() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for round in 0..4000 {
        let mut bytes = FULL.as_bytes().to_vec();
        for _ in 0..=numbers.below(8) {
            mutate(&mut bytes, &mut numbers);
        }
        let text = String::from_utf8_lossy(&bytes);
        match parse(&text, Path::new("/events/spring.toml"), BUILTINS) {
            Ok(config) => {
                let value = config.fingerprint();
                assert!(changes(&value, &value).is_empty());
                check_programs(&config);
            }
            Err(error) => {
                refused += 1;
                let plain = error.to_string();
                assert!(plain.starts_with("error: "), "{plain}");
                assert!(!plain.contains('\u{1b}'), "round {round}: {plain:?}");
                error.render(true);
            }
        }
    }
    assert!((1000..4000).contains(&refused), "{refused} were refused");
}

#[test]
fn mutated_clock_lines_and_options_never_panic() {
    let mut numbers = Numbers(7);
    for _ in 0..4000 {
        let mut clock = b"60s+100ms,move=5s,kind=fair,wall_ceiling=51s".to_vec();
        let mut rule = b"sets=[1,2,{a=3}]".to_vec();
        for _ in 0..=numbers.below(5) {
            mutate(&mut clock, &mut numbers);
            mutate(&mut rule, &mut numbers);
        }
        let flags = Flags {
            game: "mangala".into(),
            clock: Some(String::from_utf8_lossy(&clock).into()),
            rules: vec![String::from_utf8_lossy(&rule).into()],
            bots: vec![
                String::from_utf8_lossy(&rule).into(),
                "builtin:greedy".into(),
            ],
            adjudication: Some(String::from_utf8_lossy(&clock).into()),
            folder: "/events".into(),
            ..Flags::default()
        };
        if let Err(error) = from_flags(&flags, BUILTINS) {
            error.render(true);
        }
    }
}
