//! Group c: lines a second of the rules tool, in this process and through the program's pipes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use hakem::game::tool::Tool;
use hakem::game::{GAMES, Game, Kind, Setup, ToAct};
use serde_json::{Map, Value, json};

use crate::common::machine::{Load, own_cpu_ns};
use crate::common::report::{self, Figure, Promise, median};
use crate::support::{Picks, Task, draw, with_game};
use crate::{Fault, Options};

/// Questions of each game.
const QUESTIONS: usize = 2000;
const SEED: u64 = 7;
/// Lines a second.
const BOUND: f64 = 100_000.0;

/// Questions about positions of random games: what is legal, and a move applied, by turns.
fn questions(kind: &dyn Kind) -> Result<Vec<u8>, Fault> {
    let rules = kind.rules(&Map::new())?;
    let name = kind.facts().name;
    let mut picks = Picks(SEED);
    let mut lines = Vec::new();
    let mut count = 0;
    while count < QUESTIONS {
        let lot = picks.below(2);
        let mut position = rules.start(&Setup {
            lot,
            ..Setup::SINGLE
        });
        loop {
            match position.to_act() {
                ToAct::Seat(..) => {
                    let mut state = Vec::new();
                    position.write_state(&mut state);
                    let state: Value = serde_json::from_slice(&state)?;
                    let index = picks.below(position.count_legal());
                    let answer = position.nth_legal(index);
                    let mut question = json!({"game": name, "rules": {}, "state": state});
                    if count % 2 == 1 {
                        question["move"] = answer.clone();
                    }
                    writeln!(lines, "{question}")?;
                    count += 1;
                    position.play(&answer, &mut Vec::new())?;
                }
                ToAct::Pass(_) => position.pass(&mut Vec::new()),
                ToAct::Chance(chance) => position.chance(draw(&mut picks, chance)),
                _ => break,
            }
            if count == QUESTIONS {
                break;
            }
        }
    }
    Ok(lines)
}

/// All answers of the tool, in this process.
fn answers(lines: &[u8]) -> Vec<u8> {
    let mut tool = Tool::new();
    let mut out = Vec::with_capacity(4 * lines.len());
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        tool.answer(line, &mut out);
    }
    out
}

/// All answers of the program, and how long they took from the first question on, in seconds.
fn through_pipes(hakem: &Path, lines: &[u8]) -> Result<(Vec<u8>, f64), Fault> {
    let mut child = Command::new(hakem)
        .arg("rules")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut to = child.stdin.take().ok_or("a child has its stdin")?;
    let mut from = child.stdout.take().ok_or("a child has its stdout")?;
    let mut out = Vec::new();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || to.write_all(lines));
        from.read_to_end(&mut out)
    })?;
    let spent = begin.elapsed().as_secs_f64();
    if child.wait()?.success() {
        Ok((out, spent))
    } else {
        Err("hakem rules has failed".into())
    }
}

/// Finds out whether a game's seats move in turn.
struct Known;

impl Task for Known {
    type Output = ();

    fn run<G: Game>(self) {}
}

/// Every game whose seats move in turn; whether the promise holds.
pub(crate) fn run(options: &Options) -> Result<bool, Fault> {
    let mut all = true;
    for kind in GAMES {
        let name = kind.facts().name;
        if with_game(name, Known).is_none() {
            let why = "it is a race, or has no line in tests/support/playouts.rs";
            report::print_skipped(&format!("lines.{name}"), &format!("c. {name}"), why);
            continue;
        }
        let lines = questions(*kind)?;
        // The program is asked for longer: its start is in its time.
        let many = lines.repeat(options.pick(10, 50));
        let expected = answers(&lines);
        let count = expected.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(count, QUESTIONS, "an answer for each question");
        let errors = expected
            .windows(9)
            .filter(|part| part == b"{\"error\":")
            .count();
        assert_eq!(errors, 0, "an answer to each question of {name}");
        let since = Load::now()?;
        let (mut own, mut piped) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            own.push(in_process(&lines, &expected, options.pick(0.2, 0.5)));
            if let Some(hakem) = &options.hakem {
                let (found, spent) = through_pipes(hakem, &many)?;
                assert!(
                    found == expected.repeat(many.len() / lines.len()),
                    "the same answers"
                );
                piped.push((QUESTIONS * many.len() / lines.len()) as f64 / spent);
            }
        }
        let title = format!("c. lines a second of the rules tool, {name}");
        all &= figure(
            format!("lines.{name}"),
            format!("{title}, in this process"),
            own,
        )
        .print(since)?;
        let (name, title) = (
            format!("lines.{name}.pipes"),
            format!("{title}, through pipes"),
        );
        if piped.is_empty() {
            report::print_skipped(&name, &title, "there is no program; --hakem names one");
        } else {
            all &= figure(name, title, piped).print(since)?;
        }
    }
    Ok(all)
}

/// Lines for each second of processor time.
fn in_process(lines: &[u8], expected: &[u8], seconds: f64) -> f64 {
    let begin = own_cpu_ns();
    let mut count = 0;
    loop {
        assert!(answers(lines) == expected, "the same answers");
        count += QUESTIONS;
        let spent = (own_cpu_ns() - begin) as f64 / 1e9;
        if spent >= seconds {
            return count as f64 / spent;
        }
    }
}

fn figure(name: String, title: String, rounds: Vec<f64>) -> Figure {
    Figure {
        name,
        title,
        value: median(&rounds),
        rounds,
        unit: "lines/s",
        sides: None,
        promise: Promise::higher(BOUND, None),
    }
}
