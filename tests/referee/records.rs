//! Records: whatever a bot writes they verify, and a change in them is found.

use hakem::event::Verdict;
use serde_json::{Value, json};

use super::sim::Scene;

/// JSON nested so deep.
fn nested(depth: usize, inside: &str) -> String {
    format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth))
}

/// SplitMix64.
pub(crate) struct Lots(pub(crate) u64);

impl Lots {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

// ---- Honest records -------------------------------------------------------------------------------------------------

#[test]
fn a_record_verifies_whatever_remarks_a_bot_makes() {
    let mut lots = Lots(7);
    let mut remarks: Vec<String> = [
        r#""eval":-0.0"#,
        r#""eval":1e-320"#,
        r#""eval":1.7976931348623157e308"#,
        r#""eval":18446744073709551615"#,
        r#""eval":-9223372036854775808"#,
        r#""eval":{"a":null,"b":[true,1.50,"\u0000\u2028"],"":{}}"#,
        r#""note":"\u0000\u001f\"\\\n\u2028\ud83d\ude00""#,
        r#""note":"""#,
        r#""note":null,"eval":null"#,
    ]
    .map(str::to_owned)
    .to_vec();
    for _ in 0..2_000 {
        let number = f64::from_bits(lots.next());
        if number.is_finite() {
            remarks.push(format!("\"eval\":{number:e}"));
        }
    }
    // An object adds a level, and a line may have 127.
    for depth in [10, 60, 63, 64, 65, 100, 120, 124, 125] {
        remarks.push(format!("\"eval\":{{\"a\":{}}}", nested(depth, "1")));
    }
    let mut remarks = remarks.into_iter().peekable();
    while remarks.peek().is_some() {
        let mut sim = Scene::new("mangala").greeted();
        while let Some(seat) = sim.on_turn() {
            let turn = sim.turn(seat);
            let remark = remarks
                .next()
                .map_or(String::new(), |remark| format!(",{remark}"));
            let answer = format!(
                "{{\"type\":\"move\",\"id\":{},\"move\":{}{remark}}}",
                turn["id"], turn["legal"][0]
            );
            sim.line(seat, answer.as_bytes(), hakem::clock::Spent::default());
        }
        assert_eq!(sim.over().verdict, Verdict::Rule);
    }
}

#[test]
fn a_record_verifies_whatever_move_was_refused() {
    let moves = [
        "null".to_owned(),
        "-0.0".to_owned(),
        "[]".to_owned(),
        "{\"resign\":9}".to_owned(),
        "3.19481933234883e237".to_owned(),
        format!("\"{}\"", "x".repeat(3_000)),
        format!("\"{}\"", "\u{1f600}".repeat(600)),
        nested(60, ""),
        nested(120, "1"),
        nested(126, "1"),
    ];
    for game in ["mangala", "tavla"] {
        for mv in &moves {
            let mut sim = Scene::new(game).greeted();
            let seat = sim.on_turn().expect("a seat is asked");
            let id = &sim.turn(seat)["id"];
            let answer = format!("{{\"type\":\"move\",\"id\":{id},\"move\":{mv}}}");
            sim.line(seat, answer.as_bytes(), hakem::clock::Spent::default());
            sim.lost(seat, Verdict::IllegalMove, "illegal_move");
        }
    }
}

#[test]
fn a_record_keeps_the_beginning_of_the_line_that_lost() {
    let lines: [&[u8]; 4] = [
        b"\xff\xfe\x00",
        b"hmm \xf0\x9f",
        &[b'a'; 3_000],
        "ğ".repeat(1_500).leak().as_bytes(),
    ];
    for line in lines {
        let mut sim = Scene::new("mangala").greeted();
        let seat = sim.on_turn().expect("a seat is asked");
        sim.line(seat, line, hakem::clock::Spent::default());
        sim.over();
        let text = String::from_utf8_lossy(&sim.games[0].record).into_owned();
        let fault = text.lines().find(|line| line.starts_with("{\"fault\""));
        let fault: Value = serde_json::from_str(fault.expect("a fault")).expect("JSON");
        let kept = fault["fault"]["line"].as_str().expect("a line");
        assert!(String::from_utf8_lossy(line).starts_with(kept));
        assert!(kept.len() > 1_990 || kept == String::from_utf8_lossy(line));
        assert_eq!(fault["fault"]["move"], json!(null));
    }
}
