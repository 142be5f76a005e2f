//! `hakem replay`.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use hakem_protocol::{Ask, FromReferee, Hello, Start};
use serde_json::{Map, Value};

use super::exit::{self, Refused};
use super::output::{OutputArgs, When};
use super::own_game::{GameArgs, OwnGames};
use super::single::Game;
use crate::bot::os;
use crate::bot::process::Program;
use crate::bot::sandbox;
use crate::bot::talk::{Heard, Talk};
use crate::event::GameId;
use crate::game::{Kind, Position, Seat};
use crate::referee::play::{Next, Play};
use crate::referee::record::{Entry, Header};
use crate::referee::{replay, turn};
use crate::store::{RECORDS, Store, record_name};

/// Ask a bot one recorded question again
///
/// The bot is started, greeted, told the start of the game, and asked exactly what was asked then, with the same id, state, list,
/// moves and clocks. What it answers is shown beside what was answered in the record. It may take all the time it
/// wants. The exit code is 1 if it does not answer, or not legally.
///
/// Under a debugger: --wait shows the number of the process and waits before it asks, so that a debugger can be attached. Without
/// BOT the lines are only printed, to be fed to a bot: hakem replay RECORD --turn 12 > lines; gdb -ex 'run < lines' ./bot
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: hakem replay spring/records/r1.m2.g1.jsonl --turn 12 \"python3 bot.py\""
)]
pub struct Args {
    /// The record of a game
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// The question, counted from 1 as `hakem show` counts the moves [default: the one that lost the game, else the last]
    #[arg(long, value_name = "N")]
    pub turn: Option<usize>,
    /// The bot: a command line in quotes, a folder with a bot.toml, or builtin:NAME; without it the lines are printed
    #[arg(value_name = "BOT")]
    pub bot: Option<String>,
    /// Show the number of the process and wait for Enter before it is asked
    #[arg(long, requires = "bot")]
    pub wait: bool,
    /// The rules.
    #[command(flatten)]
    pub game: GameArgs,
    /// Whether to use colours in messages; the variable NO_COLOR is honoured
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

/// How long a bot may leave a full pipe unread; it may be held by a debugger.
const PATIENCE: Duration = Duration::from_secs(3600);
/// How long what comes after the answer is waited for, nanoseconds.
const LEAVES: u64 = 2_000_000_000;

/// A question of a record.
struct Question {
    /// Its number in the game, from 1.
    number: usize,
    seat: Seat,
    id: u64,
    ask: Ask,
    position: Box<dyn Position>,
    /// The line for a bot that wants the legal answers and not the history, and for the other three kinds.
    lines: [[Vec<u8>; 2]; 2],
    /// What was answered then, in words.
    then: String,
}

/// A question that is open while the record is followed.
struct Open {
    ask: Ask,
    position: Box<dyn Position>,
    lines: [[Vec<u8>; 2]; 2],
}

/// Asks it.
///
/// # Errors
/// A record that cannot be read, does not hold, or has no such question; a bot that cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    sandbox::harden_referee();
    let shown = args.record.display();
    if args.record.is_dir() {
        let given = args.bot.as_ref().and_then(|id| id.parse::<GameId>().ok());
        let name = given.map_or_else(|| format!("{RECORDS}/GAME.jsonl"), record_name);
        return Err(Refused(format!(
            "{shown} is a folder; what is asked again is one record of a game: hakem replay {}",
            args.record.join(name).display()
        ))
        .into());
    }
    let text = std::fs::read(&args.record)
        .map_err(|error| Refused(format!("{shown} cannot be read: {error}")))?;
    let header = replay::header(&text)
        .map_err(|error| Refused(format!("{shown} is no record of a game: {error}")))?;
    let mut games = OwnGames::new(&args.game)?;
    let own = games.of_record(&args.record)?;
    let (start, questions) =
        follow(&text, own).map_err(|what| Refused(format!("{shown}: {what}")))?;
    let question = match args.turn {
        None => questions.last(),
        Some(number) => questions.iter().find(|question| question.number == number),
    };
    let Some(question) = question else {
        return Err(Refused(match questions.last() {
            None => format!("{shown} holds no question: nobody was asked anything in this game"),
            Some(last) => format!("{shown} has the questions 1 to {}", last.number),
        })
        .into());
    };
    let rules = replay::kind_of(own, &header.game)
        .and_then(|kind| kind.rules(&header.rules).ok())
        .ok_or_else(|| Refused(format!("{shown} is of an unknown game")))?;
    let options = options_of(&args.record, &header.seats[question.seat]);
    let hello = turn::hello(&*rules, &header.clock, options);
    let start = Start {
        seat: question.seat,
        ..start
    };
    let Some(bot) = &args.bot else {
        return print_lines(hello, start, &question.lines[1][0]);
    };
    let output = OutputArgs {
        format: crate::report::Format::Table,
        color: args.color,
    }
    .get();
    let game = Game {
        name: &header.game,
        own: games.take_for_record(&args.record),
    };
    let config = super::single::event(game, bot, &[], None, &output)?;
    super::play::build(&config)?;
    if let Some(problem) = crate::config::check_programs(&config).first() {
        return Err(Refused(problem.to_string()).into());
    }
    let seats = super::single::Seats::new(config, "replay".to_owned())?;
    let jobs = seats.jobs()?;
    ask(args, &header, question, hello, start, &jobs[0].programs[0])
}

fn line_of(message: &FromReferee<Value>) -> anyhow::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn print_lines(hello: Hello, start: Start, turn: &[u8]) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let lines = [
        line_of(&FromReferee::Hello(hello))?,
        line_of(&FromReferee::Start(start))?,
        turn.to_vec(),
        line_of(&FromReferee::Bye(hakem_protocol::Bye {}))?,
    ];
    super::unless_closed(out.write_all(&lines.concat()))?;
    Ok(ExitCode::SUCCESS)
}

/// All questions of a record that were answered, or were open when a seat forfeited, and how the game began.
fn follow(text: &[u8], own: Option<&dyn Kind>) -> Result<(Start, Vec<Question>), String> {
    let mut start: Option<Start> = None;
    let mut questions: Vec<Question> = Vec::new();
    let mut open: Vec<Option<Open>> = Vec::new();
    let mut last: Vec<Vec<u8>> = Vec::new();
    let mut history: Vec<u8> = Vec::new();
    let mut ids: Vec<u64> = Vec::new();
    replay::follow_of(own, text, None, &mut |entry, play| {
        let seats = play.header().seats.len();
        open.resize_with(seats, || None);
        last.resize_with(seats, Vec::new);
        ids.resize(seats, 0);
        if let None | Some(Entry::Again(_)) = entry {
            if let Some(rules) = replay::kind_of(own, &play.header().game)
                .and_then(|kind| kind.rules(&play.header().rules).ok())
            {
                start = Some(turn::start(play, &*rules));
            }
            last.iter_mut().for_each(Vec::clear);
            history.clear();
        }
        let closed = match entry {
            Some(Entry::Answer(answer)) => {
                Some((answer.seat, Some(answer.id), format!("{}", answer.mv)))
            }
            Some(Entry::Stopped(stopped)) => Some((
                stopped.seat,
                Some(stopped.id),
                "nothing: it was stopped".into(),
            )),
            Some(Entry::Fault(fault)) => {
                let line = fault.line.as_ref().map(|line| format!(" ({line})"));
                let then = format!("{}{}", fault.reason, line.unwrap_or_default());
                Some((fault.seat, None, then))
            }
            _ => None,
        };
        if let Some((seat, id, then)) = closed
            && let Some(asked) = open[seat].take()
        {
            // Of a forfeit the record has no id: it is the next of the seat.
            ids[seat] = id.unwrap_or(ids[seat] + 1);
            questions.push(Question {
                number: questions.len() + 1,
                seat,
                id: ids[seat],
                ask: asked.ask,
                position: asked.position,
                lines: asked.lines,
                then,
            });
            last[seat].clear();
        }
        for (_, item) in play.news.iter() {
            for list in last.iter_mut().chain([&mut history]) {
                if !list.is_empty() {
                    list.push(b',');
                }
                list.extend_from_slice(item);
            }
        }
        let asked: Vec<(Seat, Ask)> = match play.next() {
            Next::Ask(seat, ask) => vec![(seat, ask)],
            Next::Race => play
                .running()
                .into_iter()
                .map(|seat| (seat, Ask::Race))
                .collect(),
            Next::Again | Next::Broken(_) | Next::Over(_) => Vec::new(),
        };
        for (seat, ask) in asked {
            if open[seat].is_none() {
                open[seat] = Some(open_question(play, seat, ask, &last[seat], &history));
            }
        }
    })
    .map_err(|error| format!("the record does not verify: {error}"))?;
    // The ids are known only now.
    for question in &mut questions {
        for line in question.lines.iter_mut().flatten() {
            *line = with_id(line, question.id);
        }
    }
    let start = start.ok_or("the record is of an unknown game")?;
    Ok((start, questions))
}

/// Stands for the id in the lines until it is known.
const NO_ID: u64 = u64::MAX;

fn open_question(play: &mut Play, seat: Seat, ask: Ask, last: &[u8], history: &[u8]) -> Open {
    let mut line = |legal: bool, with_history: bool| {
        let mut line = Vec::new();
        let asked = turn::Asked {
            id: NO_ID,
            seat,
            ask,
            last,
            history: with_history.then_some(history),
            legal,
        };
        turn::write(&mut line, play, &asked);
        line
    };
    let lines = [
        [line(false, false), line(false, true)],
        [line(true, false), line(true, true)],
    ];
    Open {
        ask,
        position: play.position().boxed_clone(),
        lines,
    }
}

/// The line with its id, which comes right after the type.
fn with_id(line: &[u8], id: u64) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    text.replacen(&NO_ID.to_string(), &id.to_string(), 1)
        .into_bytes()
}

/// The options of the bot in the event, where the record lies in a folder of results.
fn options_of(record: &Path, name: &str) -> Map<String, Value> {
    let folder = record.parent().and_then(Path::parent);
    let meta = folder
        .and_then(|folder| Store::open_read_only(folder).ok())
        .and_then(|store| store.meta().ok());
    let bots = meta.and_then(|meta| meta.event["bots"].as_array().cloned());
    bots.into_iter()
        .flatten()
        .find(|bot| bot["name"] == name)
        .and_then(|bot| bot["options"].as_object().cloned())
        .unwrap_or_default()
}

fn ask(
    args: &Args,
    header: &Header,
    question: &Question,
    hello: Hello,
    start: Start,
    program: &Program,
) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut talk = Talk::start(program)
        .map_err(|error| Refused(format!("the bot cannot be started: {error}")))?;
    if args.wait {
        super::say(format_args!(
            "the bot is process {}; attach a debugger, then press Enter",
            talk.pid()
        ));
        io::stdin().lock().read_line(&mut String::new())?;
    }
    let mut heard = Vec::new();
    talk.send(&line_of(&FromReferee::Hello(hello))?, PATIENCE);
    let Some((ready, _)) = line(&talk, &mut heard, u64::MAX) else {
        return silent(&talk, "hello", &mut out);
    };
    let ready: Value = serde_json::from_slice(&ready).unwrap_or_default();
    let wants = |key: &str, usual: bool| ready[key].as_bool().unwrap_or(usual);
    let asked =
        &question.lines[usize::from(wants("legal", true))][usize::from(wants("history", false))];
    talk.send(&line_of(&FromReferee::Start(start))?, PATIENCE);
    let page = format!(
        "{} turn {}: {} (seat {}) is asked for {}\n{}\n> {}\n",
        header.id,
        question.number,
        super::shown(&header.seats[question.seat]),
        question.seat,
        question.ask.as_str(),
        super::shown_lines(&question.position.board()),
        String::from_utf8_lossy(asked).trim_end(),
    );
    super::unless_closed(out.write_all(page.as_bytes()))?;
    let sent = os::now();
    talk.send(asked, PATIENCE);
    let Some((answer, at)) = line(&talk, &mut heard, u64::MAX) else {
        return silent(&talk, "the turn", &mut out);
    };
    talk.send(
        &line_of(&FromReferee::Bye(hakem_protocol::Bye {}))?,
        PATIENCE,
    );
    talk.close_stdin();
    while let Some((_, what)) = talk.next(os::now() + LEAVES) {
        if what == Heard::Exited {
            break;
        }
    }
    let shown = super::shown(String::from_utf8_lossy(&answer).trim_end());
    let ms = at.saturating_sub(sent) as f64 / 1e6;
    let (judged, code) = match judge(question, &answer) {
        Ok(()) => ("legal".to_owned(), exit::DONE),
        Err(what) => (format!("not accepted: {}", super::shown(&what)), exit::BAD),
    };
    let page = format!(
        "< {shown}\n\nafter {ms:.1} ms; {judged}\nthen it was: {}\n{}",
        super::shown(&question.then),
        log_of(&talk)
    );
    super::unless_closed(out.write_all(page.as_bytes()))?;
    Ok(ExitCode::from(code))
}

/// The next line of the bot and when it came; `None` if none comes any more.
fn line(talk: &Talk, heard: &mut Vec<u8>, until: u64) -> Option<(Vec<u8>, u64)> {
    let mut stamp = os::now();
    loop {
        if let Some(end) = heard.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = heard.drain(..=end).collect();
            if !line.trim_ascii().is_empty() {
                return Some((line, stamp));
            }
            continue;
        }
        // Woken now and then, so that an end of the program is not slept over.
        let wake = until.min(os::now() + 1_000_000_000);
        match talk.next(wake) {
            Some((at, Heard::Bytes(bytes))) => {
                stamp = at;
                heard.extend_from_slice(&bytes);
            }
            Some((_, Heard::StdoutEnd)) => return None,
            Some((_, Heard::Exited)) => {}
            None if os::now() >= until => return None,
            None => {}
        }
    }
}

fn silent(talk: &Talk, what: &str, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let page = format!("it ended without an answer to {what}\n{}", log_of(talk));
    super::unless_closed(out.write_all(page.as_bytes()))?;
    Ok(ExitCode::from(exit::BAD))
}

/// What the bot wrote to stderr.
fn log_of(talk: &Talk) -> String {
    let log = talk.stderr();
    let lines: Vec<String> = log
        .lines()
        .map(|line| format!("| {}\n", super::shown(line)))
        .collect();
    match lines.as_slice() {
        [] => String::new(),
        lines => format!("its stderr:\n{}", lines.concat()),
    }
}

/// Whether the answer is one to this question.
fn judge(question: &Question, answer: &[u8]) -> Result<(), String> {
    use crate::referee::answer::{Said, read};
    let said = read(answer.trim_ascii_end()).map_err(|fault| fault.reason())?;
    let Said::Move { id, mv, .. } = said else {
        return Err("a move was asked for".into());
    };
    if id != question.id {
        return Err(format!("its id is {id}, the question's is {}", question.id));
    }
    let mut position = question.position.boxed_clone();
    let judged = match question.ask {
        Ask::Race => position
            .claim(question.seat, &mv, &mut Vec::new())
            .map(|_| ()),
        _ => position.play(&mv, &mut Vec::new()),
    };
    judged.map_err(|refusal| refusal.message)
}
