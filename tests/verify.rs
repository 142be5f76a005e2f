//! `hakem verify`: a true record verifies; one that was changed in any byte does not.
#![cfg(feature = "runner")]

mod common;

use std::path::{Path, PathBuf};

use common::{Event, Lab, Lots};

/// A finished event of a pair of matches, with dice and a cube.
fn finished(lab: &Lab) -> PathBuf {
    let file = Event::new("tavla")
        .set("rules", "match_length", "2")
        .mock(
            "one",
            &[
                "--pick",
                "hash:1",
                "--note-bytes",
                "20",
                "--eval",
                "--answer-take",
                "take",
            ],
        )
        .mock("two", &["--pick", "hash:2", "--double"])
        .write(lab, "event.toml");
    lab.run(&file);
    lab.path("event")
}

fn first_record(dir: &Path) -> PathBuf {
    let path = dir.join("records/r1.m1.g1.jsonl");
    assert!(path.exists(), "{} is the first record", path.display());
    path
}

/// A change of a record, in words.
struct Change {
    what: String,
    bytes: Vec<u8>,
}

impl Change {
    fn new(what: impl Into<String>, bytes: Vec<u8>) -> Change {
        Change {
            what: what.into(),
            bytes,
        }
    }
}

/// A class of bytes: its name, its members, what is put in their place, and in the place of that itself.
type Class = (&'static str, fn(u8) -> bool, u8, u8);

/// Each class of byte that a record holds.
const CLASSES: [Class; 8] = [
    ("a digit", |b| b.is_ascii_digit(), b'7', b'3'),
    ("a small letter", |b| b.is_ascii_lowercase(), b'q', b'k'),
    ("a quotation mark", |b| b == b'"', b'\'', b'\''),
    ("a colon", |b| b == b':', b';', b';'),
    ("a comma", |b| b == b',', b';', b';'),
    ("a bracket", |b| matches!(b, b'[' | b']'), b'(', b'('),
    ("a brace", |b| matches!(b, b'{' | b'}'), b'(', b'('),
    ("a line end", |b| b == b'\n', b' ', b' '),
];

/// One byte of each class, at the record's beginning, in its middle and at its end.
fn byte_changes(good: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, belongs, new, other) in CLASSES {
        let places: Vec<usize> = (0..good.len()).filter(|&at| belongs(good[at])).collect();
        assert!(!places.is_empty(), "a record holds {name}");
        let mut chosen = vec![
            places[0],
            places[places.len() / 2],
            places[places.len() - 1],
        ];
        chosen.dedup();
        for at in chosen {
            let mut bytes = good.to_vec();
            bytes[at] = if bytes[at] == new { other } else { new };
            changes.push(Change::new(format!("{name} at byte {at}"), bytes));
        }
    }
    changes
}

/// Bits flipped at places that a seed chooses.
fn random_changes(good: &[u8], count: u64) -> Vec<Change> {
    let mut lots = Lots::new(common::env_number("HAKEM_TEST_SEED", 5));
    (0..count)
        .map(|_| {
            let at = usize::try_from(lots.below(good.len() as u64)).expect("a place fits");
            let bit = lots.below(8);
            let mut bytes = good.to_vec();
            bytes[at] ^= 1 << bit;
            Change::new(format!("bit {bit} of byte {at}"), bytes)
        })
        .collect()
}

/// Whole lines missing, moved, doubled or added.
fn line_changes(good: &[u8]) -> Vec<Change> {
    let lines: Vec<&[u8]> = good.split_inclusive(|&byte| byte == b'\n').collect();
    assert!(lines.len() > 10, "a record has a line for every input");
    let middle = lines.len() / 2;
    let without = |at: usize| {
        let (before, after) = (&lines[..at], &lines[at + 1..]);
        [before, after].concat().concat()
    };
    let mut swapped = lines.clone();
    swapped.swap(middle, middle + 1);
    let mut doubled = lines.clone();
    doubled.insert(middle, lines[middle]);
    vec![
        Change::new("the header is missing", without(0)),
        Change::new("a line in the middle is missing", without(middle)),
        Change::new("the result is missing", without(lines.len() - 1)),
        Change::new("two lines are swapped", swapped.concat()),
        Change::new("a line stands twice", doubled.concat()),
        Change::new("the last line end is cut", good[..good.len() - 1].to_vec()),
        Change::new("half a line is cut", good[..good.len() - 40].to_vec()),
        Change::new("it is cut in the middle", good[..good.len() / 2].to_vec()),
        Change::new("it is empty", Vec::new()),
        Change::new("a line is added", [good, b"{}\n"].concat()),
        Change::new("noise is added", [good, b"\x00\xff\n"].concat()),
    ]
}

#[test]
fn true_records_verify() {
    let lab = Lab::new();
    let dir = finished(&lab);
    let count = lab.verify_records(&dir);
    assert_eq!(count, lab.games(&dir).len(), "a record for every game");
}

#[test]
fn a_changed_record_does_not_verify() {
    let lab = Lab::new();
    let record = first_record(&finished(&lab));
    let good = std::fs::read(&record).expect("the record is readable");
    let count = if common::full() { 400 } else { 40 };
    let changes = [
        byte_changes(&good),
        line_changes(&good),
        random_changes(&good, count),
    ];
    let mut passed = Vec::new();
    for change in changes.into_iter().flatten() {
        std::fs::write(&record, &change.bytes).expect("the record is changed");
        let ran = lab.hakem(["verify".as_ref(), record.as_os_str()]);
        if ran.code != Some(1) || ran.stderr.contains("panicked at") {
            passed.push(format!("{}: {ran}", change.what));
        }
    }
    assert!(passed.is_empty(), "not found out: {}", passed.join("\n"));
    std::fs::write(&record, &good).expect("the record is restored");
    lab.hakem(["verify".as_ref(), record.as_os_str()]).exits(0);
}

#[test]
fn one_bad_record_among_good_ones_is_named() {
    let lab = Lab::new();
    let dir = finished(&lab);
    let bad = first_record(&dir);
    let good = dir.join("records/r1.m2.g1.jsonl");
    let text = std::fs::read_to_string(&bad).expect("the record is text");
    let (head, tail) = text.split_at(text.len() / 2);
    let tail = tail.replacen(|c: char| c.is_ascii_digit(), "x", 1);
    std::fs::write(&bad, [head, &tail].concat()).expect("the record is changed");
    let ran = lab
        .hakem(["verify".as_ref(), good.as_os_str(), bad.as_os_str()])
        .exits(1);
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains("r1.m1.g1"),
        "{ran}"
    );
}

#[test]
fn a_record_without_its_folder_needs_the_seed() {
    let lab = Lab::new();
    let record = first_record(&finished(&lab));
    let alone = lab.path("alone.jsonl");
    std::fs::copy(&record, &alone).expect("the record is copied");
    let verify = |seed: &[&str]| {
        let mut args = vec!["verify".into(), alone.clone().into_os_string()];
        args.extend(seed.iter().map(Into::into));
        lab.hakem(args)
    };
    let ran = verify(&[]).exits(0);
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains("dice not yet checkable"),
        "{ran}"
    );
    let ran = verify(&["--seed", "42"]).exits(0);
    assert!(
        !format!("{}{}", ran.stdout, ran.stderr).contains("not yet checkable"),
        "{ran}"
    );
    verify(&["--seed", "43"]).exits(1);
}

#[test]
fn what_is_no_record_is_wrong_usage_or_does_not_verify() {
    let lab = Lab::new();
    lab.hakem(["verify", "missing.jsonl"])
        .exits(2)
        .says(&["missing.jsonl"]);
    lab.hakem(["verify"]).exits(2);
}
