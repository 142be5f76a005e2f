//! Records: whatever a bot writes they verify, and a change in them is found.

use hakem::clock::Spent;
use hakem::event::Verdict;
use hakem::game::Share;
use hakem::referee::FaultKind;
use hakem::referee::record::{
    AnswerEntry, DrawnEntry, Entry, FaultEntry, Header, Recorder, ResultEntry,
};
use hakem::referee::replay;
use serde_json::{Map, Value, json};

use super::sim::{Scene, Sim, last_stone};

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
            sim.line(seat, answer.as_bytes(), Spent::default());
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
            sim.line(seat, answer.as_bytes(), Spent::default());
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
        sim.line(seat, line, Spent::default());
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

// ---- Changes --------------------------------------------------------------------------------------------------------

/// A record in parts, which can be written again after a change, with hashes that fit.
#[derive(Clone, Debug)]
pub(crate) struct Forged {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
}

impl Forged {
    pub(crate) fn of(record: &[u8]) -> Forged {
        let mut lines = record.split(|&byte| byte == b'\n');
        let header = replay::header(lines.next().unwrap_or_default()).expect("a header");
        let entries = lines.filter(|line| !line.is_empty()).map(|line| {
            let mut line: Map<String, Value> = serde_json::from_slice(line).expect("JSON");
            line.remove("prev");
            serde_json::from_value(line.into()).expect("an entry")
        });
        Forged {
            header,
            entries: entries.collect(),
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
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
        recorder.finish().0
    }

    pub(crate) fn answers(&mut self) -> Vec<&mut AnswerEntry> {
        let answers = self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Answer(answer) => Some(answer),
            _ => None,
        });
        answers.collect()
    }

    fn drawn(&mut self) -> Vec<&mut DrawnEntry> {
        let drawn = self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Drawn(drawn) => Some(drawn),
            _ => None,
        });
        drawn.collect()
    }

    fn fault(&mut self) -> &mut FaultEntry {
        let fault = self.entries.iter_mut().find_map(|entry| match entry {
            Entry::Fault(fault) => Some(fault),
            _ => None,
        });
        fault.expect("a fault")
    }

    pub(crate) fn result(&mut self) -> &mut ResultEntry {
        match self.entries.last_mut() {
            Some(Entry::Result(result)) => result,
            other => panic!("the last line is {other:?}"),
        }
    }
}

/// When a change is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    /// Always.
    Always,
    /// With the seed only.
    WithSeed,
    /// Not from the record: it is what only the bots, the machine or other records could tell.
    Never,
}

pub(crate) fn is_good(record: &[u8], seed: Option<&str>) -> bool {
    replay::verify(record, seed, &mut |_, _| {}).is_ok()
}

#[track_caller]
pub(crate) fn check_found(what: &str, record: &[u8], found: Found) {
    let good = [is_good(record, None), is_good(record, Some("42"))];
    let wanted = match found {
        Found::Always => [false, false],
        Found::WithSeed => [true, false],
        Found::Never => [true, true],
    };
    assert_eq!(
        good, wanted,
        "{what}: verifies without the seed, with the seed"
    );
}

/// A game of Mangala that ends by its rules, a clock running.
fn mangala() -> Sim {
    let mut sim = Scene::new("mangala")
        .clock(|clock| {
            clock.main_us = Some(60_000_000);
            clock.increment_us = 1_000;
        })
        .greeted();
    while let Some(seat) = sim.on_turn() {
        let mv = sim.turn(seat)["legal"][0].clone();
        sim.play_in(seat, mv, 20_000);
    }
    sim
}

/// A game of Tavla with the cube turned, ended by an accepted resignation after a roll.
fn tavla() -> Sim {
    let mut scene = Scene::new("tavla");
    scene.opening_plies = 2;
    let mut sim = scene.greeted();
    let mut doubled = false;
    for turn in 0..40 {
        let seat = sim.on_turn().expect("a seat is asked");
        let mv = match sim.turn(seat)["ask"].as_str() {
            Some("cube") if !doubled => {
                doubled = true;
                json!("double")
            }
            Some("move") if turn > 30 => break,
            _ => sim.turn(seat)["legal"][0].clone(),
        };
        sim.play(seat, mv);
    }
    let seat = sim.on_turn().expect("a seat is asked");
    sim.play(seat, json!({"resign": 1}));
    sim.play(1 - seat, "accept");
    sim
}

/// Games that end by a forfeit, in every way and at several places.
fn forfeits() -> Vec<(&'static str, Sim)> {
    type Wrong = fn(&mut Sim, usize);
    let wrongs: [(&'static str, Wrong); 11] = [
        ("illegal", |sim, seat| sim.play(seat, 9)),
        ("bad json", |sim, seat| {
            sim.line(seat, b"{", Spent::default())
        }),
        ("no utf8", |sim, seat| {
            sim.line(seat, b"\xff", Spent::default())
        }),
        ("bad message", |sim, seat| {
            sim.say(seat, &json!({"type": "x"}))
        }),
        ("wrong id", |sim, seat| {
            sim.say(seat, &json!({"type": "move", "id": 99, "move": 1}))
        }),
        ("late", |sim, seat| sim.play_in(seat, 1, 5_000_001)),
        ("silent", |sim, seat| {
            sim.time_out(seat);
        }),
        ("flood", Sim::flood),
        ("exit", |sim, seat| sim.gone(seat, FaultKind::Exit(1))),
        ("signal", |sim, seat| sim.gone(seat, FaultKind::Signal(11))),
        ("closed", |sim, seat| sim.gone(seat, FaultKind::ClosedPipe)),
    ];
    let mut found = Vec::new();
    for (what, wrong) in wrongs {
        for turns in [0, 5] {
            let mut sim = Scene::new("mangala").greeted();
            for _ in 0..turns {
                let seat = sim.on_turn().expect("a seat is asked");
                sim.answer_honestly(seat);
            }
            let seat = sim.on_turn().expect("a seat is asked");
            wrong(&mut sim, seat);
            found.push((what, sim));
        }
    }
    // Faults in the other's time, before ready, and between games.
    let mut sim = Scene::new("mangala").greeted();
    let idle = 1 - sim.on_turn().expect("a seat is asked");
    sim.say(idle, &json!({"type": "move", "id": 1, "move": 1}));
    sim.go_on_while(|sim| sim.games.is_empty());
    found.push(("unasked", sim));
    let mut sim = Scene::new("mangala").begin();
    sim.line(1, b"hello", Spent::default());
    sim.ready(0);
    found.push(("no ready", sim));
    let mut sim = Scene::new("mangala").begin();
    sim.gone(0, FaultKind::Exit(127));
    sim.ready(1);
    found.push(("exit before ready", sim));
    let mut sim = Scene::new("mangala").begin();
    sim.time_out(0);
    sim.ready(1);
    found.push(("no ready in time", sim));
    found
}

pub(crate) fn first_record(sim: &Sim) -> &[u8] {
    &sim.games[0].record
}

#[test]
fn a_record_written_again_is_the_same() {
    for sim in [mangala(), tavla()]
        .iter()
        .chain(forfeits().iter().map(|(_, sim)| sim))
    {
        let record = first_record(sim);
        assert!(Forged::of(record).write() == record);
        check_found("nothing", record, Found::Never);
    }
}

#[test]
fn a_change_of_any_byte_is_found() {
    let mut lots = Lots(11);
    for (what, sim) in forfeits() {
        let record = first_record(&sim);
        for at in 0..record.len() {
            let mut changed = record.to_vec();
            changed[at] ^= 1 << lots.below(8);
            assert!(!is_good(&changed, None), "{what}: byte {at}");
        }
    }
    for sim in [mangala(), tavla()] {
        let record = first_record(&sim);
        for _ in 0..1_000 {
            let mut changed = record.to_vec();
            let at = lots.below(record.len());
            changed[at] = changed[at].wrapping_add(1 + lots.below(255) as u8);
            assert!(!is_good(&changed, Some("42")), "byte {at}");
        }
    }
}

#[test]
fn a_cut_anywhere_is_found() {
    for sim in [mangala(), tavla()] {
        let record = first_record(&sim);
        for end in (0..record.len()).rev().step_by(7) {
            assert!(!is_good(&record[..end], None), "cut after {end}");
            assert!(!is_good(&record[end + 1..], None), "cut before {end}");
        }
        for more in [&b"\n"[..], b"{}\n", b"\xff"] {
            assert!(!is_good(&[record, more].concat(), None));
        }
    }
}

#[test]
fn lines_removed_doubled_or_moved_are_found_with_hashes_that_fit_and_without() {
    let sims = [mangala(), tavla()];
    for sim in sims.iter().chain(forfeits().iter().map(|(_, sim)| sim)) {
        let record = first_record(sim);
        let lines: Vec<&[u8]> = record.split_inclusive(|&byte| byte == b'\n').collect();
        let whole = Forged::of(record);
        for at in 0..lines.len() {
            let (mut without, mut twice, mut moved) = (lines.clone(), lines.clone(), lines.clone());
            without.remove(at);
            twice.insert(at, lines[at]);
            moved.swap(at, (at + 1) % lines.len());
            for changed in [without, twice, moved] {
                if changed != lines {
                    assert!(!is_good(&changed.concat(), None), "line {at}");
                }
            }
        }
        for at in 0..whole.entries.len() {
            let (mut without, mut twice) = (whole.clone(), whole.clone());
            without.entries.remove(at);
            twice.entries.insert(at, whole.entries[at].clone());
            assert!(
                !is_good(&without.write(), None),
                "without {:?}",
                whole.entries[at]
            );
            assert!(
                !is_good(&twice.write(), None),
                "twice {:?}",
                whole.entries[at]
            );
            for other in [at + 1, at + 2, at + 5] {
                let mut moved = whole.clone();
                if other < moved.entries.len() && moved.entries[at] != moved.entries[other] {
                    moved.entries.swap(at, other);
                    assert!(!is_good(&moved.write(), None), "{at} and {other} swapped");
                }
            }
        }
    }
}

/// A change of a part of a record.
pub(crate) type Forgery = (&'static str, fn(&mut Forged), Found);

pub(crate) fn check_forgeries(sim: &Sim, forgeries: &[Forgery]) {
    for &(what, change, found) in forgeries {
        let mut forged = Forged::of(first_record(sim));
        let before = forged.write();
        change(&mut forged);
        assert!(forged.write() != before, "{what} changes nothing");
        check_found(what, &forged.write(), found);
    }
}

#[test]
fn a_forged_result_is_found() {
    let forgeries: [Forgery; 10] = [
        (
            "winner",
            |forged| forged.result().winner = forged.result().winner.map(|seat| 1 - seat),
            Found::Always,
        ),
        (
            "no winner",
            |forged| forged.result().winner = None,
            Found::Always,
        ),
        (
            "score",
            |forged| {
                forged
                    .result()
                    .score
                    .iter_mut()
                    .for_each(|score| score.reverse())
            },
            Found::Always,
        ),
        (
            "points",
            |forged| {
                forged
                    .result()
                    .points
                    .iter_mut()
                    .for_each(|points| points[0] += 1)
            },
            Found::Always,
        ),
        (
            "verdict",
            |forged| forged.result().verdict = Verdict::Adjudicated,
            Found::Always,
        ),
        (
            "reason",
            |forged| forged.result().reason.push('x'),
            Found::Always,
        ),
        (
            "against",
            |forged| forged.result().against = forged.result().against.map_or(Some(0), |_| None),
            Found::Always,
        ),
        ("moves", |forged| forged.result().moves += 1, Found::Always),
        (
            "time",
            |forged| forged.result().time_us[0] += 1,
            Found::Always,
        ),
        (
            "wall and processor time",
            |forged| {
                forged.result().wall_us[1] += 1;
                forged.result().cpu_us[1] += 1;
            },
            Found::Always,
        ),
    ];
    check_forgeries(&mangala(), &forgeries);
    check_forgeries(&tavla(), &forgeries);
    for (_, sim) in forfeits() {
        check_forgeries(&sim, &forgeries);
    }
}

#[test]
fn a_forged_clock_is_found_where_the_times_do_not_fit_it() {
    let forgeries: [Forgery; 12] = [
        (
            "total",
            |forged| forged.header.clock.main_us = Some(50_000_000),
            Found::Always,
        ),
        (
            "increment",
            |forged| forged.header.clock.increment_us += 1,
            Found::Always,
        ),
        (
            "delay",
            |forged| forged.header.clock.delay_us = 10,
            Found::Always,
        ),
        (
            "a limit that was broken",
            |forged| forged.header.clock.move_us = Some(19_999),
            Found::Always,
        ),
        (
            "charged",
            |forged| forged.answers()[0].charged_us -= 1,
            Found::Always,
        ),
        (
            "left",
            |forged| forged.answers()[3].left_us = None,
            Found::Always,
        ),
        (
            "measured",
            |forged| forged.answers()[3].spent.wall_us -= 1_000,
            Found::Always,
        ),
        (
            "measured, and every sum",
            |forged| {
                let seat = forged.answers()[3].seat;
                for answer in forged
                    .answers()
                    .into_iter()
                    .skip(3)
                    .filter(|answer| answer.seat == seat)
                {
                    answer.left_us = answer.left_us.map(|left| left + 1_000);
                }
                forged.answers()[3].spent.wall_us -= 1_000;
                forged.answers()[3].charged_us -= 1_000;
                forged.result().time_us[seat] -= 1_000;
                forged.result().wall_us[seat] -= 1_000;
            },
            Found::Never,
        ),
        (
            "an unused margin",
            |forged| forged.header.clock.margin_us = 5,
            Found::Never,
        ),
        (
            "ready",
            |forged| forged.header.clock.ready_us = 5,
            Found::Never,
        ),
        (
            "cores of a wall clock",
            |forged| forged.header.cores = 2,
            Found::Never,
        ),
        (
            "a time that overflows",
            |forged| forged.answers()[0].spent.wall_us = u64::MAX,
            Found::Always,
        ),
    ];
    check_forgeries(&mangala(), &forgeries);
}

#[test]
fn a_forged_answer_is_found_where_it_changes_the_game() {
    let forgeries: [Forgery; 9] = [
        (
            "another move",
            |forged| {
                let answer = &mut forged.answers()[0].mv;
                *answer = json!(answer.as_u64().map(|pit| pit % 6 + 1));
            },
            Found::Always,
        ),
        (
            "an illegal move",
            |forged| forged.answers()[2].mv = json!(7),
            Found::Always,
        ),
        (
            "another spelling of the move",
            |forged| {
                let answer = &mut forged.answers()[0].mv;
                *answer = json!(answer.as_f64());
            },
            Found::Never,
        ),
        (
            "another seat",
            |forged| forged.answers()[0].seat ^= 1,
            Found::Always,
        ),
        (
            "no seat",
            |forged| forged.answers()[0].seat = 7,
            Found::Always,
        ),
        ("an id", |forged| forged.answers()[4].id += 1, Found::Always),
        (
            "a remark",
            |forged| forged.answers()[0].note = Some("sorry".into()),
            Found::Never,
        ),
        (
            "an evaluation",
            |forged| forged.answers()[0].eval = Some(json!(0.25)),
            Found::Never,
        ),
        (
            "no answer but the last",
            |forged| {
                let last = forged.entries.len() - 2;
                forged.entries.drain(..last);
            },
            Found::Always,
        ),
    ];
    check_forgeries(&mangala(), &forgeries);
}

#[test]
fn forged_dice_are_found_with_the_seed() {
    fn roll(forged: &mut Forged, at: usize) {
        let mut drawn = forged.drawn();
        let dice = drawn[at].dice.as_mut().expect("dice");
        dice[0] = dice[0] % 6 + 1;
    }
    let forgeries: [Forgery; 8] = [
        // Nothing was played with it: only the seed can tell.
        (
            "the last roll",
            |forged| {
                let last = forged.drawn().len() - 1;
                roll(forged, last);
            },
            Found::WithSeed,
        ),
        (
            "a roll that was played",
            |forged| {
                let last = forged.drawn().len() - 2;
                roll(forged, last);
            },
            Found::Always,
        ),
        (
            "a die of 7",
            |forged| {
                let last = forged.drawn().len() - 1;
                forged.drawn()[last].dice = Some([7, 1]);
            },
            Found::Always,
        ),
        (
            "whose roll",
            |forged| {
                let last = forged.drawn().len() - 1;
                forged.drawn()[last].seat = None;
            },
            Found::Always,
        ),
        (
            "the number of a roll",
            |forged| {
                let last = forged.drawn().len() - 1;
                forged.drawn()[last].n += 1;
            },
            Found::Always,
        ),
        (
            "equal dice in the opening roll",
            |forged| forged.drawn()[0].dice = Some([3, 3]),
            Found::Always,
        ),
        (
            "a lot instead of dice",
            |forged| {
                let last = forged.drawn().len() - 1;
                (forged.drawn()[last].dice, forged.drawn()[last].lot) = (None, Some(1));
            },
            Found::Always,
        ),
        (
            "a ply of the opening",
            |forged| {
                let ply = forged.drawn().into_iter().find(|drawn| drawn.lot.is_some());
                ply.expect("a ply").lot = Some(10_000);
            },
            Found::Always,
        ),
    ];
    check_forgeries(&tavla(), &forgeries);
}

#[test]
fn a_forged_header_is_found_where_something_rests_on_it() {
    let forgeries: [Forgery; 18] = [
        (
            "the coin toss",
            |forged| forged.header.lot ^= 1,
            Found::WithSeed,
        ),
        (
            "a toss for no seat",
            |forged| forged.header.lot = 2,
            Found::Always,
        ),
        (
            "the game",
            |forged| forged.header.game = "mangala".into(),
            Found::Always,
        ),
        (
            "no game",
            |forged| forged.header.game = "chess".into(),
            Found::Always,
        ),
        (
            "an option",
            |forged| drop(forged.header.rules.insert("cube".into(), json!(false))),
            Found::Always,
        ),
        (
            "an unknown option",
            |forged| drop(forged.header.rules.insert("x".into(), json!(1))),
            Found::Always,
        ),
        (
            "the format",
            |forged| forged.header.record = 2,
            Found::Always,
        ),
        (
            "the commitment",
            |forged| forged.header.chance.commitment.replace_range(0..1, "x"),
            Found::WithSeed,
        ),
        (
            "the number of the pair",
            |forged| forged.header.chance.pair += 1,
            Found::WithSeed,
        ),
        (
            "the round of the chance",
            |forged| forged.header.chance.round += 1,
            Found::Always,
        ),
        (
            "the round of the id",
            |forged| forged.header.id.of.round += 1,
            Found::Always,
        ),
        (
            "the number of the game",
            |forged| forged.header.id.game += 1,
            Found::Always,
        ),
        (
            "the bots of the chance",
            |forged| forged.header.chance.field[0].push('x'),
            Found::Always,
        ),
        (
            "three seats",
            |forged| forged.header.seats.push("x".into()),
            Found::Always,
        ),
        (
            "a bot",
            |forged| forged.header.seats[0].push('x'),
            Found::Always,
        ),
        (
            "the order of the bots",
            |forged| forged.header.seats.reverse(),
            Found::Never,
        ),
        (
            "the opening plies",
            |forged| forged.header.opening_plies += 1,
            Found::Always,
        ),
        (
            "for people only",
            |forged| {
                forged.header.about = (&json!(1)).into();
                forged.header.names[0].push('x');
                forged.header.hakem.push('x');
            },
            Found::Never,
        ),
    ];
    check_forgeries(&tavla(), &forgeries);
}

#[test]
fn a_match_that_was_over_before_has_no_further_game() {
    let mut sim = Scene::new("mangala").rules(json!({"sets": 2})).greeted();
    sim.finish();
    let mut forged = Forged::of(&sim.games[1].record);
    check_found("the second set", &forged.write(), Found::Never);
    forged.header.rules.insert("sets".into(), json!(1));
    check_found("the second set of one", &forged.write(), Found::Always);
    // Points before it that no match has.
    let mut sim = Scene::new("tavla").rules(json!({"games": 3})).greeted();
    sim.finish();
    let mut forged = Forged::of(&sim.games[2].record);
    let text = r#""1,0:4294967295-0 1,0:4294967295-0""#;
    forged.header.played = serde_json::from_str(text).expect("the games before");
    check_found("points that overflow", &forged.write(), Found::Always);
}

/// A record of this game with its end replaced.
fn with_end(sim: &Sim, keep: usize, seat: usize, verdict: Verdict, reason: &str) -> Forged {
    let mut forged = Forged::of(first_record(sim));
    let mut result = forged.result().clone();
    let answers = forged
        .entries
        .iter()
        .take(keep)
        .filter_map(|entry| match entry {
            Entry::Answer(answer) => Some(answer.clone()),
            _ => None,
        });
    let answers: Vec<AnswerEntry> = answers.collect();
    let sum = |pick: fn(&AnswerEntry) -> u64| {
        (0..2)
            .map(|seat| {
                answers
                    .iter()
                    .filter(|answer| answer.seat == seat)
                    .map(pick)
                    .sum()
            })
            .collect()
    };
    (result.time_us, result.wall_us) = (
        sum(|answer| answer.charged_us),
        sum(|answer| answer.spent.wall_us),
    );
    result.moves = answers.len() as u32;
    (result.verdict, result.reason, result.against) = (verdict, reason.into(), Some(seat));
    result.winner = Some(1 - seat);
    result.score = Some(
        (0..2)
            .map(|one| if one == seat { Share::LOSS } else { Share::WIN })
            .collect(),
    );
    forged.entries.truncate(keep);
    forged.entries.push(Entry::Fault(FaultEntry {
        seat,
        verdict,
        reason: reason.into(),
        mv: None,
        line: None,
        spent: Spent::default(),
    }));
    forged.entries.push(Entry::Result(result));
    // The points of the board as it stands: what verification says they are.
    let mut points = None;
    let _ = replay::verify(&forged.write(), None, &mut |entry, play| {
        if matches!(entry, Entry::Fault(_)) {
            points = Some(play.position().forfeit(seat).points);
        }
    });
    if let Some(points) = points {
        forged.result().points = Some(points);
    }
    forged
}

#[test]
fn a_forged_forfeit_is_found_where_the_record_speaks_against_it() {
    let sim = mangala();
    let all = Forged::of(first_record(&sim)).entries.len() - 1;
    let asked_after = |keep: usize| {
        // The seat of the next answer was asked.
        match &Forged::of(first_record(&sim)).entries[keep] {
            Entry::Answer(answer) => answer.seat,
            other => panic!("{other:?}"),
        }
    };
    let asked = asked_after(4);
    let crash = |keep, seat| with_end(&sim, keep, seat, Verdict::Crash, "exit 1").write();
    check_found(
        "a death of the seat asked leaves no other trace",
        &crash(4, asked),
        Found::Never,
    );
    check_found(
        "a death of the other seat is judged only when it is asked",
        &crash(4, 1 - asked),
        Found::Always,
    );
    check_found("a death after the end", &crash(all, 0), Found::Always);
    check_found("a death after the end", &crash(all, 1), Found::Always);
    check_found(
        "a death before the first question",
        &crash(0, 1 - asked_after(0)),
        Found::Never,
    );
    let end = |verdict, reason| with_end(&sim, 4, asked, verdict, reason).write();
    check_found(
        "no forfeit",
        &end(Verdict::Rule, "pits_empty"),
        Found::Always,
    );
    check_found(
        "a timeout that was not measured",
        &end(Verdict::Timeout, "timeout"),
        Found::Always,
    );
    check_found(
        "no greeting in mid-game",
        &end(Verdict::NoReady, "timeout"),
        Found::Always,
    );
    check_found(
        "a reason of another verdict",
        &end(Verdict::Crash, "illegal_move"),
        Found::Always,
    );
    check_found(
        "a reason of another verdict",
        &end(Verdict::BadMessage, "exit 1"),
        Found::Always,
    );
    check_found(
        "a reason that is none",
        &end(Verdict::BadMessage, "bad_mood: x"),
        Found::Always,
    );
    let other_seat = with_end(&sim, 4, 1 - asked, Verdict::IllegalMove, "illegal_move: x");
    check_found(
        "a move that was not asked for",
        &other_seat.write(),
        Found::Always,
    );
}

#[test]
fn a_fault_is_held_against_what_the_record_keeps_of_it() {
    let made = |what: &str| {
        let found = forfeits().into_iter().filter(|(name, _)| *name == what);
        found.last().expect("such a forfeit").1
    };
    let illegal = forfeits().swap_remove(0).1;
    check_forgeries(
        &illegal,
        &[
            (
                "the move was legal",
                |forged| forged.fault().mv = Some(json!(1)),
                Found::Always,
            ),
            (
                "the line says another move",
                |forged| forged.fault().mv = Some(json!(8)),
                Found::Always,
            ),
            (
                "another seat",
                |forged| forged.fault().seat ^= 1,
                Found::Always,
            ),
            ("no seat", |forged| forged.fault().seat = 9, Found::Always),
            (
                "another verdict",
                |forged| forged.fault().verdict = Verdict::BadMessage,
                Found::Always,
            ),
            (
                "another reason",
                |forged| forged.fault().reason = "bad_json: x".into(),
                Found::Always,
            ),
            (
                "an honest line",
                |forged| {
                    forged.fault().line = Some(r#"{"type":"move","id":1,"move":1}"#.into());
                },
                Found::Always,
            ),
        ],
    );
    // A refused move that was too long to keep, and so its line: nothing is left to look at.
    check_forgeries(
        &made("illegal"),
        &[(
            "nothing kept",
            |forged| (forged.fault().mv, forged.fault().line) = (None, None),
            Found::Never,
        )],
    );
    for what in ["bad json", "bad message", "wrong id"] {
        check_forgeries(
            &made(what),
            &[
                (
                    "a line without this fault",
                    |forged| {
                        forged.fault().line = Some(r#"{"type":"pong","id":1}"#.into());
                    },
                    Found::Always,
                ),
                (
                    "a line with another fault",
                    |forged| {
                        let other = if forged.fault().reason.starts_with("bad_json") {
                            "[1]"
                        } else {
                            "{"
                        };
                        forged.fault().line = Some(other.into());
                    },
                    Found::Always,
                ),
            ],
        );
    }
    check_forgeries(
        &made("late"),
        &[
            (
                "it was in time",
                |forged| forged.fault().spent.wall_us = 5_000_000,
                Found::Always,
            ),
            (
                "it was not measured",
                |forged| forged.fault().spent.wall_us = 0,
                Found::Always,
            ),
        ],
    );
    check_forgeries(
        &made("exit"),
        &[(
            "exit 2",
            |forged| {
                forged.fault().reason = "exit 2".into();
                forged.result().reason = "exit 2".into();
            },
            Found::Never,
        )],
    );
}

#[test]
fn a_game_played_over_is_checked_like_any_other() {
    let mut sim = Scene::new("mangala")
        .rules(json!({"rematch_on_draw": true}))
        .opening(last_stone(0, [24, 24]))
        .greeted();
    sim.finish();
    let again = |forged: &Forged| {
        forged
            .entries
            .iter()
            .position(|entry| matches!(entry, Entry::Again(_)))
    };
    let mut forged = Forged::of(first_record(&sim));
    let at = again(&forged).expect("it was played over");
    forged.entries[at] = Entry::Again(2);
    check_found("another number", &forged.write(), Found::Always);
    forged.entries.remove(at);
    check_found("not told", &forged.write(), Found::Always);
    let mut forged = Forged::of(first_record(&sim));
    forged
        .header
        .rules
        .insert("rematch_on_draw".into(), json!(false));
    check_found("not in the rules", &forged.write(), Found::Always);
    let mut forged = Forged::of(first_record(&mangala()));
    forged.entries.insert(1, Entry::Again(1));
    check_found("in mid-game", &forged.write(), Found::Always);
}

#[test]
fn no_forged_record_breaks_the_verifier() {
    // Bytes changed inside the lines, and the hashes made to fit, so that what is behind them is reached.
    let mut lots = Lots(3);
    let mut sims: Vec<Sim> = forfeits().into_iter().map(|(_, sim)| sim).collect();
    sims.extend([mangala(), tavla()]);
    let mut reached = 0;
    for round in 0..12_000 {
        let record = first_record(&sims[round % sims.len()]);
        let mut text = record.to_vec();
        for _ in 0..=lots.below(2) {
            let at = lots.below(text.len());
            match lots.below(4) {
                0 if text[at].is_ascii_digit() => text[at] = b'0' + lots.below(10) as u8,
                1 if text[at].is_ascii_digit() => {
                    let number: &[u8] = [
                        &b"18446744073709551615"[..],
                        b"-1",
                        b"4294967295",
                        b"0.5",
                        b"null",
                    ][lots.below(5)];
                    text.splice(at..=at, number.iter().copied());
                }
                2 => drop(text.remove(at)),
                _ => text[at] = lots.next() as u8,
            }
        }
        let mut recorder = Recorder::default();
        for line in text
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let Some(end) = line.windows(9).rposition(|nine| nine == b",\"prev\":\"") else {
                continue;
            };
            let Some(colon) = line.iter().position(|&byte| byte == b':') else {
                continue;
            };
            if let (Some(kind), Some(json)) = (
                line.get(2..colon.saturating_sub(1)),
                line.get(colon + 1..end),
            ) && let Ok(kind) = std::str::from_utf8(kind)
            {
                recorder.raw_line(kind, json);
            }
        }
        let forged = recorder.finish().0;
        let seed = [None, Some("42"), Some("43")][lots.below(3)];
        let result = replay::verify(&forged, seed, &mut |_, _| reached += 1);
        assert!(result.is_err() || seed != Some("43"), "a wrong seed");
    }
    assert!(reached > 5_000, "only {reached} lines were reached");
}
