//! Records of races that were changed, with hashes that fit, do not verify.

use hakem::referee::record::{Bytes, ClaimEntry, Entry, Header, Recorder};
use hakem::referee::replay;
use hakem_protocol::StopWhy;
use serde_json::{Map, Value, json};

use super::ring::{Scene, wall};

/// A record taken apart.
#[derive(Clone)]
struct Parts {
    header: Header,
    entries: Vec<Entry>,
}

impl Parts {
    fn of(record: &[u8]) -> Parts {
        let entry = |line: &[u8]| {
            let mut line: Map<String, Value> = serde_json::from_slice(line).expect("JSON");
            line.remove("prev");
            serde_json::from_value(line.into()).expect("an entry")
        };
        let lines = record.split(|&byte| byte == b'\n').skip(1);
        Parts {
            header: replay::header(record).expect("a header"),
            entries: lines.filter(|line| !line.is_empty()).map(entry).collect(),
        }
    }

    /// Why the record does not verify, with the seed and without.
    fn verified(&self) -> Result<(), String> {
        let mut recorder = Recorder::default();
        recorder.line("header", &self.header);
        for entry in &self.entries {
            match entry {
                Entry::Drawn(entry) => recorder.line("drawn", entry),
                Entry::Answer(entry) => recorder.line("answer", entry),
                Entry::Passed(entry) => recorder.line("passed", entry),
                Entry::Stopped(entry) => recorder.line("stopped", entry),
                Entry::Race(entry) => recorder.line("race", entry),
                Entry::Again(entry) => recorder.line("again", entry),
                Entry::Fault(entry) => recorder.line("fault", entry),
                Entry::Result(entry) => recorder.line("result", entry),
            }
        }
        let (text, _) = recorder.finish();
        for seed in [Some("42"), None] {
            replay::verify(&text, seed, &mut |_, _| {}).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The place of the n-th entry of this kind.
    fn nth(&self, n: usize, is_kind: fn(&Entry) -> bool) -> usize {
        let mut places = (0..self.entries.len()).filter(|&place| is_kind(&self.entries[place]));
        places.nth(n).expect("there are so many")
    }
}

fn is_answer(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(_))
}

fn is_stopped(entry: &Entry) -> bool {
    matches!(entry, Entry::Stopped(_))
}

/// A game of three in which everything happens: a wrong claim, a forfeit, dead heats, the end of the time.
fn parts() -> Parts {
    let mut ring = Scene::new(3, json!({"target_points": 2, "round_ms": 50})).greeted();
    ring.claims(1, 4_000);
    ring.claims_wrongly(0, 4_300);
    ring.look(2);
    ring.claims(0, 1_000);
    ring.claims(1, 1_800);
    ring.look(2);
    ring.look(0);
    ring.look(1);
    ring.gives_up(2);
    ring.answer(2, &json!(3), wall(70));
    ring.claims(1, 5_000);
    ring.look(0);
    assert_eq!(ring.over().winner, Some(1));
    Parts::of(&ring.games[0].record)
}

#[test]
fn a_record_put_together_again_verifies() {
    assert_eq!(parts().verified(), Ok(()));
}

#[test]
fn a_changed_time_or_claim_is_found() {
    type Change = fn(&mut Parts);
    let changes: [(&str, Change); 12] = [
        ("a claim is made later than the other's moment", |parts| {
            // Of the dead heat only the faster would be left.
            let place = parts.nth(3, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.spent.wall_us = 2_500;
                answer.charged_us = 2_500;
            }
        }),
        ("a claim was the faster", |parts| {
            let place = parts.nth(3, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.spent.wall_us = 0;
                answer.charged_us = 0;
            }
        }),
        ("a claim took longer than the round", |parts| {
            let place = parts.nth(0, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.spent.wall_us = 50_001;
                answer.charged_us = 50_001;
            }
        }),
        ("a wrong claim is called right", |parts| {
            let place = parts.nth(1, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.claim = Some(ClaimEntry::Right);
            }
        }),
        ("a right claim is called none", |parts| {
            let place = parts.nth(0, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.claim = None;
            }
        }),
        ("a claim of another seat", |parts| {
            let place = parts.nth(0, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.seat = 2;
            }
        }),
        ("a claim of a seat that is not there", |parts| {
            let place = parts.nth(0, is_answer);
            if let Entry::Answer(answer) = &mut parts.entries[place] {
                answer.seat = 7;
            }
        }),
        ("a question is stopped too early", |parts| {
            let place = parts.nth(0, is_stopped);
            if let Entry::Stopped(stopped) = &mut parts.entries[place] {
                stopped.spent.wall_us = 4_999;
                stopped.charged_us = 4_999;
            }
        }),
        ("a question is stopped for another reason", |parts| {
            let place = parts.nth(0, is_stopped);
            if let Entry::Stopped(stopped) = &mut parts.entries[place] {
                stopped.why = StopWhy::Time;
            }
        }),
        ("an id is left out", |parts| {
            let place = parts.nth(1, is_stopped);
            if let Entry::Stopped(stopped) = &mut parts.entries[place] {
                stopped.id += 1;
            }
        }),
        ("another is told to be first", |parts| {
            let place = parts.nth(0, |entry| matches!(entry, Entry::Race(_)));
            if let Entry::Race(race) = &mut parts.entries[place] {
                race.first = vec![0];
            }
        }),
        ("another card", |parts| {
            let place = parts.nth(1, |entry| matches!(entry, Entry::Drawn(_)));
            if let Entry::Drawn(drawn) = &mut parts.entries[place] {
                drawn.bytes = Some(Bytes([5; 32]));
            }
        }),
    ];
    for (what, change) in changes {
        let mut changed = parts();
        change(&mut changed);
        assert!(changed.verified().is_err(), "{what}");
    }
}

#[test]
fn a_line_left_out_doubled_or_moved_is_found() {
    let parts = parts();
    for place in 0..parts.entries.len() {
        let mut without = parts.clone();
        without.entries.remove(place);
        assert!(without.verified().is_err(), "without entry {place}");
        let mut twice = parts.clone();
        twice.entries.insert(place, twice.entries[place].clone());
        assert!(twice.verified().is_err(), "entry {place} twice");
    }
    // Within a round the order of what seats do is that in which it was read; all else has its place.
    for place in 1..parts.entries.len() {
        let mut moved = parts.clone();
        moved.entries.swap(place - 1, place);
        let both = [&parts.entries[place - 1], &parts.entries[place]];
        let of_a_seat = |entry: &&Entry| {
            matches!(
                entry,
                Entry::Answer(_) | Entry::Stopped(_) | Entry::Fault(_)
            )
        };
        let may = both.iter().all(of_a_seat);
        assert!(
            may || moved.verified().is_err(),
            "entries {place} and before"
        );
    }
}

#[test]
fn a_forfeit_that_was_none_is_found() {
    let parts = parts();
    let fault = parts.nth(0, |entry| matches!(entry, Entry::Fault(_)));
    for (what, seat) in [("a seat that has not", 0), ("one that is not there", 3)] {
        let mut changed = parts.clone();
        if let Entry::Fault(fault) = &mut changed.entries[fault] {
            fault.seat = seat;
        }
        assert!(changed.verified().is_err(), "{what}");
    }
    let mut legal = parts.clone();
    if let Entry::Fault(fault) = &mut legal.entries[fault] {
        fault.mv = Some(json!({"qbitz": null}));
        fault.line = None;
    }
    assert!(legal.verified().is_err_and(|why| why.contains("is legal")));
    // On time nobody loses in a race.
    let mut late = parts.clone();
    if let Entry::Fault(fault) = &mut late.entries[fault] {
        fault.verdict = hakem::event::Verdict::Timeout;
        fault.reason = "timeout: no answer within 0.050 ms".into();
        fault.mv = None;
        fault.spent = wall(60_000);
    }
    assert!(late.verified().is_err_and(|why| why.contains("on time")));
}
