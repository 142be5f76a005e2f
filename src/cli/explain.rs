//! Why a game ended, for the author of the bot that lost it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hakem_protocol::ErrorCode;
use serde_json::Value;

use super::exit::Refused;
use super::{show, shown};
use crate::event::Verdict;
use crate::game::{Kind, Seat};
use crate::referee::adjudicate::{Adjudication, ResignRule};
use crate::referee::play::{Next, Play};
use crate::referee::record::{AnswerEntry, Entry, FaultEntry, Header, ResultEntry};
use crate::referee::replay;
use crate::runner::plan::log_name;
use crate::store;

/// The last moves and the last lines of a log that are shown.
const MOVES: usize = 4;
const LOG_LINES: usize = 12;
/// The most that is shown of a list of legal answers, in characters.
const LEGAL: usize = 600;

/// What is known of the end of a game.
#[derive(Default)]
struct Known {
    moves: Vec<(u32, AnswerEntry)>,
    /// Moves that were counted: answers, and questions that were stopped.
    count: u32,
    board: String,
    /// Who was asked what at the end, with the legal answers.
    asked: Option<(Seat, &'static str, Value)>,
    faults: Vec<FaultEntry>,
}

/// The explanation of a game, below its title; `ruling` is the one under which it was played again, if it was.
///
/// # Errors
/// [`Refused`] for a record that does not hold.
pub(super) fn page(
    dir: &Path,
    header: &Header,
    ruling: Option<u32>,
    record: &[u8],
    own: Option<&dyn Kind>,
) -> anyhow::Result<String> {
    let mut known = Known::default();
    let verified = replay::follow_of(own, record, None, &mut |entry, play| {
        known.take(entry, play)
    })
    .map_err(|error| {
        Refused(format!(
            "the record of {} does not verify: {error}",
            header.id
        ))
    })?;
    let mut page = String::new();
    let names = |seat: Seat| shown(&header.seats[seat]);
    for fault in &known.faults {
        let _ = writeln!(
            page,
            "\n{} (seat {}) lost by {}:\n    {}",
            names(fault.seat),
            fault.seat,
            in_words(fault.verdict),
            shown(&fault.reason)
        );
        let _ = writeln!(page, "the rule:\n    {}", rule(fault));
    }
    if known.faults.is_empty() {
        let by = match verified.result.verdict {
            Verdict::Adjudicated => "it was ended by a rule of the event",
            _ => "it ended by the rules",
        };
        let _ = writeln!(page, "\n{by}: {}", shown(&verified.result.reason));
        if let Some(rules) = &header.adjudication {
            page.push_str(&event_rules(rules));
        }
    }
    let _ = writeln!(page, "\nthe position:\n{}", known.board.trim_end());
    if !known.moves.is_empty() {
        let _ = writeln!(page, "\nthe last moves:");
        for (number, answer) in &known.moves {
            let _ = writeln!(
                page,
                "    {number}. {}: {}  ({})",
                names(answer.seat),
                shown(&answer.mv.to_string()),
                show::in_ms(answer.charged_us)
            );
        }
    }
    for fault in &known.faults {
        fault_details(&mut page, (dir, ruling), header, &known, fault);
    }
    page.push_str(&ended(header, &verified.result));
    Ok(page)
}

impl Known {
    fn take(&mut self, entry: Option<&Entry>, play: &mut Play) {
        match entry {
            Some(Entry::Answer(answer)) => {
                self.count += 1;
                self.moves.push((self.count, answer.clone()));
                if self.moves.len() > MOVES {
                    self.moves.remove(0);
                }
            }
            Some(Entry::Stopped(_)) => self.count += 1,
            Some(Entry::Fault(fault)) => {
                self.faults.push(fault.clone());
                // The question that lost the game is what was asked before it.
                return;
            }
            _ => {}
        }
        self.board = play.position().board();
        if let Next::Ask(seat, ask) = play.next() {
            let mut legal = Vec::new();
            play.position().write_legal(&mut legal);
            let legal = serde_json::from_slice(&legal).unwrap_or_default();
            self.asked = Some((seat, ask.as_str(), legal));
        }
    }
}

fn fault_details(
    page: &mut String,
    (dir, ruling): (&Path, Option<u32>),
    header: &Header,
    known: &Known,
    fault: &FaultEntry,
) {
    if let Some((seat, ask, legal)) = &known.asked
        && *seat == fault.seat
    {
        let legal = match legal.as_array() {
            Some(list) => {
                let words: Vec<String> = list.iter().map(Value::to_string).collect();
                format!("{} answers: {}", list.len(), cut(&words.join("  "), LEGAL))
            }
            None => "nothing".to_owned(),
        };
        let _ = writeln!(page, "\nit was asked for `{ask}`; legal were\n    {legal}");
    }
    if let Some(line) = &fault.line {
        let _ = writeln!(page, "\nits line was\n    {}", shown(&cut(line, LEGAL)));
    }
    if fault.spent.wall_us > 0 {
        let _ = writeln!(
            page,
            "\nit took {} of wall time",
            show::in_ms(fault.spent.wall_us)
        );
    }
    match log_of(dir, ruling, header, fault.seat) {
        Some((path, lines)) if !lines.is_empty() => {
            let _ = writeln!(
                page,
                "\nthe last lines of its log of the match ({}):",
                path.display()
            );
            for line in lines {
                let _ = writeln!(page, "    | {}", shown(&line));
            }
        }
        _ => {
            let _ = writeln!(page, "\nit wrote nothing to stderr in this match");
        }
    }
    if fault.verdict != Verdict::NoReady {
        let record = dir.join(store::Records::of(dir).name_under(header.id, ruling));
        let _ = writeln!(
            page,
            "\nto ask it the same again:\n    hakem replay {} --turn {} BOT",
            shell_words::quote(&record.display().to_string()),
            known.count + 1
        );
    }
}

/// The rules of the event that may end a game.
fn event_rules(rules: &Adjudication) -> String {
    let mut text = String::from("\nthe rules of the event that may end a game:\n");
    if let Some(ResignRule { eval, moves }) = rules.resign {
        let _ = writeln!(
            text,
            "    resign_eval = {eval:?}, resign_moves = {moves}: lost once the evaluations of both say so for so many moves of each in a row"
        );
    }
    if let Some(most) = rules.max_moves {
        let _ = writeln!(text, "    max_moves = {most}: a draw after so many answers");
    }
    text
}

fn ended(header: &Header, result: &ResultEntry) -> String {
    format!("{}\n", show::ending(header, result))
}

/// A verdict in words.
fn in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Rule => "the rules of the game",
        Verdict::Resigned => "a resignation",
        Verdict::IllegalMove => "a move that the rules refuse",
        Verdict::BadMessage => "a line that is no fitting message",
        Verdict::Flood => "writing too much",
        Verdict::Timeout => "its time",
        Verdict::NoReady => "a failed greeting",
        Verdict::Crash => "ending in the middle of the game",
        Verdict::Limit => "a limit of the system",
        Verdict::Adjudicated => "a rule of the event",
        Verdict::Void => "nobody's fault",
    }
}

/// What the protocol asks for, with its clause.
fn rule(fault: &FaultEntry) -> &'static str {
    let limit = fault.reason.split([':', ';']).next().unwrap_or_default();
    if fault.verdict == Verdict::Limit {
        return match limit.trim() {
            "memory" => {
                "a bot and all that it starts use no more memory than `memory` in [limits] of the event (`hakem run --keys` shows all limits)"
            }
            "processes" => {
                "a bot has no more processes and threads than `processes` in [limits] of the event (`hakem run --keys` shows all limits)"
            }
            "disk" => {
                "a bot writes no more to files than `disk` in [limits] of the event (`hakem run --keys` shows all limits)"
            }
            _ => "a bot keeps to [limits] of the event (`hakem run --keys` shows all limits)",
        };
    }
    let code = fault.reason.split(':').next().unwrap_or_default();
    let code = ErrorCode::ALL
        .into_iter()
        .find(|known| known.as_str() == code);
    match code {
        Some(ErrorCode::IllegalMove) => {
            "an answer is one element of `legal` or its equal in meaning, and final (protocol 5.6, 5.7; the numbers in the reason are those of the game's page)"
        }
        Some(ErrorCode::BadJson) => {
            "each line is one strict JSON object, and nothing else is written to stdout (protocol 1.1, 1.4, 1.6)"
        }
        Some(ErrorCode::BadMessage) => {
            "an answer has a known `type` and the fields that it needs (protocol 3.2, 5.6, 7.5)"
        }
        Some(ErrorCode::WrongId) => "an answer repeats the `id` of its question (protocol 1.10)",
        Some(ErrorCode::Unasked) => "a bot writes only what it was asked for (protocol 1.11)",
        Some(ErrorCode::LineTooLong) => {
            "a line and the output of a game have limits (protocol 1.2, 9.2)"
        }
        Some(ErrorCode::NotUtf8) => "lines are UTF-8 (protocol 1.1)",
        Some(ErrorCode::Timeout) if fault.reason.contains("it computed all the time") => {
            "an answer is there before its time is over: `clock` of each turn says how much is left (protocol 6.4, 6.6)"
        }
        Some(ErrorCode::Timeout) => {
            "an answer is there, as a whole line and flushed, before its time is over (protocol 1.4, 6.4, 6.6)"
        }
        Some(ErrorCode::ProtocolVersion) => {
            "`ready` names the version of the protocol that `hello` names (protocol 3.2)"
        }
        None => "a bot stays until `bye` or the end of its input (protocol 4.5, 9.1)",
    }
}

/// The log of a seat in the match, and its last lines.
fn log_of(
    dir: &Path,
    ruling: Option<u32>,
    header: &Header,
    seat: Seat,
) -> Option<(PathBuf, Vec<String>)> {
    let name = log_name(header.id.of, ruling, seat, "");
    let begins = name.strip_suffix(".log").unwrap_or(&name).to_owned();
    let path = std::fs::read_dir(dir.join(store::LOGS))
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with(&begins))
        })?;
    let bytes = std::fs::read(&path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
    Some((path, last.iter().map(|&line| line.to_owned()).collect()))
}

/// The text, or its beginning.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
