//! Records of games, as `hakem verify` and `hakem show` read them.

use hakem::referee::record::{FIRST_PREV, hash_line};
use hakem::referee::replay::{self, Mismatch, Verified};

use crate::engine::{Shape, shape};

/// Words of records.
pub(crate) const WORDS: [&str; 48] = [
    "header",
    "drawn",
    "answer",
    "passed",
    "again",
    "fault",
    "result",
    "prev",
    "hakem",
    "record",
    "id",
    "game",
    "rules",
    "clock",
    "cores",
    "seats",
    "names",
    "chance",
    "commitment",
    "guessable",
    "round",
    "field",
    "pair",
    "lot",
    "played",
    "1,0:26-22 2,2:24-24",
    "0,1:0-4294967295",
    "opening",
    "opening_plies",
    "about",
    "kind",
    "first",
    "opening",
    "dice",
    "ply",
    "seat",
    "n",
    "move",
    "note",
    "eval",
    "spent",
    "wall_us",
    "charged_us",
    "left_us",
    "verdict",
    "illegal_move",
    "timeout",
    "reason",
];

fn verify(text: &[u8], seed: Option<&str>) -> Result<Verified, Mismatch> {
    replay::verify(text, seed, &mut |_, play| {
        assert!(!play.position().board().is_empty());
    })
}

/// The same lines, each with the hash of the line before: without that hardly any change would be looked at further.
fn mended(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut prev = FIRST_PREV;
    for line in text
        .strip_suffix(b"\n")
        .unwrap_or(text)
        .split(|&byte| byte == b'\n')
    {
        let mark = b",\"prev\":\"";
        let end = line.windows(mark.len()).rposition(|part| part == mark);
        let body = end.map_or_else(
            || line.strip_suffix(b"}").unwrap_or(line),
            |end| &line[..end],
        );
        let line = [body, mark, &prev[..], b"\"}"].concat();
        prev = hash_line(&line);
        out.extend_from_slice(&line);
        out.push(b'\n');
    }
    out
}

/// Whatever a record says, a mismatch names a line of it; one that verifies does so with the hash of its last line, and with any
/// other byte in it no more.
pub(crate) fn record(input: &[u8]) -> Shape {
    let _ = replay::header(input);
    let mut shapes = Vec::new();
    let mended = mended(input);
    for text in [input, &mended] {
        for seed in [None, Some("42")] {
            let lines = text.iter().filter(|&&byte| byte == b'\n').count();
            match verify(text, seed) {
                Ok(verified) => {
                    let last = text
                        .strip_suffix(b"\n")
                        .and_then(|text| text.rsplit(|&byte| byte == b'\n').next());
                    assert_eq!(
                        verified.hash.as_bytes(),
                        hash_line(last.expect("a last line"))
                    );
                    assert_eq!(verified.chance_checked, seed.is_some());
                    assert_eq!(
                        verify(text, seed).ok().as_ref(),
                        Some(&verified),
                        "a second time"
                    );
                    let mut changed = text.to_vec();
                    let place = verified.hash.bytes().fold(1, |sum: usize, byte| {
                        sum.wrapping_mul(131) + usize::from(byte)
                    }) % text.len();
                    changed[place] ^= 1;
                    assert!(
                        verify(&changed, seed).is_err(),
                        "byte {place} has another value"
                    );
                    shapes.push(format!(
                        "verifies {} {:?}",
                        verified.header.game, verified.result.verdict
                    ));
                }
                Err(mismatch) => {
                    assert!(
                        (1..=lines + 1).contains(&mismatch.line),
                        "{mismatch}, of {lines}"
                    );
                    assert!(!mismatch.what.is_empty());
                    let words: String = mismatch.what.chars().take(80).collect();
                    shapes.push(words);
                }
            }
        }
    }
    shape(&shapes.iter().map(String::as_str).collect::<Vec<_>>())
}
