//! Texts of the command line: a clock in one line, a duel's flags. Texts of others, as they are shown.

use std::path::PathBuf;

use hakem::clock::ClockSpec;
use hakem::config::units::{parse_duration, parse_size, show_duration, show_size};
use hakem::config::{Flags, from_flags, parse_clock};
use hakem::report::text::{csv_field, escape, file_part, html, markdown};

use super::event;
use crate::engine::{Shape, shape};

/// Words of clocks.
pub(crate) const CLOCK_WORDS: [&str; 24] = [
    "main=",
    "increment=",
    "move=",
    "delay=",
    "margin=",
    "ready=",
    "kind=",
    "wall_ceiling=",
    "fair",
    "wall",
    "cpu",
    "+",
    ",",
    "60s",
    "100ms",
    "1h 30m",
    "0.5s",
    "30days",
    "250us",
    "99999999999999999999s",
    "1M",
    "ns",
    "4KB",
    "1GiB",
];

/// A clock as [`parse_clock`] reads it.
fn written(spec: &ClockSpec) -> String {
    let kind = serde_json::to_value(spec.kind).expect("a kind is a word");
    let mut parts = vec![format!("kind={}", kind.as_str().expect("a kind is a word"))];
    let mut add = |key: &str, us: Option<u64>| {
        parts.extend(us.map(|us| format!("{key}={}", show_duration(us))));
    };
    add("main", spec.main_us);
    add("increment", Some(spec.increment_us));
    add("move", spec.move_us);
    add("delay", Some(spec.delay_us));
    add("margin", Some(spec.margin_us));
    add("ready", Some(spec.ready_us));
    add("wall_ceiling", spec.ceiling_us);
    parts.join(",")
}

/// A clock, a duration and a size, written again, are the same.
pub(crate) fn clock(input: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(input);
    if let Ok(us) = parse_duration(&text) {
        assert_eq!(parse_duration(&show_duration(us)), Ok(us));
    }
    if let Ok(bytes) = parse_size(&text) {
        assert_eq!(parse_size(&show_size(bytes)), Ok(bytes));
    }
    match parse_clock(&text) {
        Ok(spec) => {
            let again = written(&spec);
            let read = parse_clock(&again).unwrap_or_else(|error| panic!("{again}: {error}"));
            assert_eq!(read, spec, "{again}");
            shape(&[&format!("{:?}", spec.kind)])
        }
        Err(error) => event::problems(&error),
    }
}

/// Words of flags.
pub(crate) const FLAG_WORDS: [&str; 24] = [
    "mangala",
    "tavla",
    "reversi",
    "oware",
    "dokuztas",
    "qbitz",
    "rule sets=3",
    "rule cube=false",
    "rule max_cube=64",
    "bot builtin:random",
    "bot builtin:greedy",
    "bot python3 bot.py",
    "bot \"a b\" 'c",
    "clock 60s+1s",
    "games 10",
    "games 1",
    "seed 42",
    "\n",
    "=",
    "builtin:",
    "rule ",
    "[1,2]",
    "1979-05-27",
    "{a=1}",
];

/// Flags as a duel takes them: a line each, `game`, `rule`, `bot`, `clock`, `games`, `seed`. What is accepted is an event
/// like any other, what is not has words.
pub(crate) fn flags(input: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(input);
    let mut flags = Flags {
        name: "fuzz".into(),
        folder: PathBuf::from(event::FOLDER),
        ..Flags::default()
    };
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "game" => flags.game = value.into(),
            "rule" => flags.rules.push(value.into()),
            "clock" => flags.clock = Some(value.into()),
            "games" => flags.games = value.parse().ok(),
            "seed" => flags.seed = Some(value.into()),
            _ => flags.bots.push(value.into()),
        }
    }
    match from_flags(&flags, &event::BUILTINS) {
        Ok(config) => event::holds(&config),
        Err(error) => event::problems(&error),
    }
}

/// Words of texts that others made.
pub(crate) const SHOWN_WORDS: [&str; 24] = [
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\u{9b}2J",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{fffe}",
    "\u{301}\u{301}\u{301}\u{301}",
    "\r\n",
    "\0",
    "=cmd|'/c x'!A0",
    "@name",
    "|",
    "`",
    "<script>",
    "<!--",
    "-->",
    "]]>",
    "&amp;",
    "\"'",
    "https://www.x.y",
    "\\u{1b}",
    "../",
];

/// A text of others in every form: nothing that acts on a terminal, a spreadsheet, a page, a disk is left, what is shown once is
/// shown the same when it is shown again, and it is one line.
pub(crate) fn shown(input: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(input);
    let seen = escape(&text);
    assert_eq!(escape(&seen), seen, "shown again it is another");
    let forms = [
        seen.clone().into_owned(),
        csv_field(&text).into_owned(),
        markdown(&text),
        html(&text),
        file_part(&text),
    ];
    for form in &forms {
        assert!(!form.chars().any(char::is_control), "{form:?}");
        assert!(form.lines().count() <= 1, "{form:?}");
        assert_eq!(escape(form), *form, "something hidden is left");
    }
    let [_, field, cell, page, part] = &forms;
    // A number is no formula, whatever its sign.
    let is_number = field.parse::<f64>().is_ok() && !field.contains(char::is_alphabetic);
    assert!(
        is_number || !field.starts_with(['=', '+', '-', '@']),
        "{field}"
    );
    let marks = cell.replace("<!-- -->", "").replace("\\\\", "");
    for mark in ['|', '<', '>', '`', '*', '['] {
        let escaped = marks.matches(&format!("\\{mark}")).count();
        assert_eq!(marks.matches(mark).count(), escaped, "{mark} in {cell}");
    }
    assert!(!page.contains(['<', '>', '"', '\'']), "{page}");
    assert!(!part.contains(['/', '.', ' ']), "{part}");
    shape(&[&seen, cell])
}
