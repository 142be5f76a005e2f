//! The scenes that are played: the bot at a real table, against an opponent with manners.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hakem_protocol::Ask;
use serde_json::Value;

use super::finding::{Findings, Grade, many};
use super::opponent::{Opponent, Style};
use super::script::Lines;
use super::watch::{Answer, Manner, Watch};
use crate::bot::process::Program;
use crate::bot::shard::Job;
use crate::cli::starters::{LANGUAGES, Language};
use crate::event::Verdict;
use crate::game::Seat;
use crate::referee::MatchSetup;
use crate::runner::sitting::{Sat, Session, Sitting};

/// The longest that whole matches are looked at, all together.
const WHOLE_MATCHES: Duration = Duration::from_secs(60);
/// The answers of one match at most, and of the shorter scenes.
const MANY_ANSWERS: usize = 400;
const SOME_ANSWERS: usize = 6;
/// Matches are played until there were so many answers and matches, so that it is asked all that may be asked ...
const ENOUGH_ANSWERS: usize = 80;
const ENOUGH_MATCHES: usize = 4;
/// ... but not more than these.
const MOST_MATCHES: usize = 12;
/// What mends too much memory.
const LESS_MEMORY: &str = "use less, or ask the organiser for a larger `memory` in [limits]";
/// The time that it has to leave after a scene, microseconds.
const LEAVES_US: u64 = 300_000;
/// Answers that two sessions are compared by.
const COMPARED: usize = 12;
/// What is too few answers to say that a bot is deterministic.
const TOO_FEW: usize = 5;

/// The bot that is checked.
pub struct Checked<'a> {
    /// Its matches: in the first it sits on seat 0, in the second on seat 1, and so on.
    pub jobs: &'a [Job],
    /// What it is written in, as far as one can see.
    pub language: Option<&'static Language>,
    /// The same program where hakem sees to it that it has no buffer, with its buffer.
    pub buffered: Option<&'a Program>,
    /// Its command, for people.
    pub command: String,
    /// Its limit of memory, bytes.
    pub memory: u64,
    /// The time to answer `hello`, microseconds.
    pub ready_us: u64,
}

/// A played scene.
pub struct Scene {
    /// What came of it.
    pub sat: Sat,
    /// What was seen.
    pub watch: Watch,
    seat: Seat,
}

/// What goes wrong in a scene: the name of the check that finds it, what was seen, and what mends it.
pub struct Trouble {
    /// The check.
    pub check: &'static str,
    /// What was seen.
    pub what: String,
    /// What mends it.
    pub cure: String,
}

impl Checked<'_> {
    /// The seat of the bot in this match; seats that others have are the opponent's.
    fn seat(&self, index: usize) -> Seat {
        let slots = &self.jobs[index].setup.slots;
        slots.iter().position(|&slot| slot == 0).unwrap_or(0)
    }

    /// Whether its games are races.
    pub fn is_race(&self) -> bool {
        self.jobs[0].setup.rules.race().is_some()
    }

    /// Plays a scene.
    ///
    /// # Errors
    /// A game that no opponent plays.
    pub fn play(
        &self,
        index: usize,
        style: Style,
        manner: Manner,
        answers: usize,
        within: Duration,
    ) -> anyhow::Result<Scene> {
        self.play_job(
            &self.jobs[index],
            self.seat(index),
            style,
            manner,
            answers,
            within,
        )
    }

    fn play_job(
        &self,
        job: &Job,
        seat: Seat,
        style: Style,
        manner: Manner,
        answers: usize,
        within: Duration,
    ) -> anyhow::Result<Scene> {
        let mut opponent = Opponent::new(job.setup.rules.clone(), style)
            .ok_or_else(|| anyhow::anyhow!("no built-in bot plays this game"))?;
        let mut watch = Watch::new(manner, answers, within);
        // Whether it leaves in time is looked at apart.
        let mut job = job.clone();
        for program in &mut job.programs {
            program.exit_us = program.exit_us.min(LEAVES_US);
        }
        let sat = Sitting::new(&job, seat).play(&mut opponent, &mut watch)?;
        Ok(Scene { sat, watch, seat })
    }

    /// How a line is flushed in the bot's language, or in all.
    pub fn flush_cure(&self) -> String {
        match self.language {
            Some(language) => format!("in {}: {}", language.title, language.flush),
            None => {
                let all: Vec<String> = LANGUAGES
                    .iter()
                    .map(|language| format!("{}: {}", language.title, language.flush))
                    .collect();
                format!("flush after each line:\n{}", all.join("\n"))
            }
        }
    }

    /// How the bot says something that is no message.
    fn log_cure(&self) -> String {
        let how = match self.language {
            Some(language) => format!("in {}: {}", language.title, language.log),
            None => "stderr".to_owned(),
        };
        format!(
            "stdout is for messages only; print everything else to stderr, which is kept in the bot's log ({how})"
        )
    }

    /// What went wrong in a scene, if something did.
    pub fn trouble(&self, scene: &Scene) -> Option<Trouble> {
        let trouble = |check, what: String, cure: String| Some(Trouble { check, what, cure });
        if let Some(why) = &scene.sat.broken {
            return trouble(
                "start",
                format!("it could not be started: {why}"),
                format!("the command is `{}`", self.command),
            );
        }
        let lost = scene
            .sat
            .games
            .iter()
            .find(|game| game.result.against == Some(scene.seat))?;
        let session = scene.sat.sessions.first().cloned().unwrap_or_default();
        let reason = lost.result.reason.clone();
        let code = reason.split(':').next().unwrap_or_default();
        // A line before the first game is judged when the game begins, and is not in its record.
        let line = offending_line(&lost.record)
            .unwrap_or_else(|| String::from_utf8_lossy(&scene.watch.last).into_owned());
        let line = shortened(line.as_bytes());
        let when = match scene.watch.ready {
            None => "before it answered `hello`",
            Some(_) => "in the middle of a game",
        };
        match (lost.result.verdict, code) {
            (_, "timeout") => Some(self.silence(&session, &reason)),
            (_, "bad_json") if reason.contains("json.dumps") => trouble(
                "stdout",
                format!("it wrote a line that is no JSON: {line}\n({reason})"),
                "write each line with a JSON library; in Python: print(json.dumps(answer), flush=True)".into(),
            ),
            (_, "bad_json" | "not_utf8") => trouble(
                "stdout",
                format!("it wrote a line that is no message: {line}\n({reason})"),
                self.log_cure(),
            ),
            (_, "unasked") => trouble(
                "unasked",
                format!("it wrote a line that nobody asked for: {line}\n({reason})"),
                "write one line for each hello, turn and ping, and nothing else; the answer to `hello` comes first".into(),
            ),
            (_, "wrong_id") => trouble(
                "id",
                format!("it answers with a wrong id: {line}\n({reason})"),
                "read `id` from each turn and ping, and write the same number into the answer".into(),
            ),
            (_, "protocol_version") => trouble(
                "handshake",
                reason,
                r#"the answer to hello is {"type":"ready","protocol":1}"#.into(),
            ),
            (Verdict::IllegalMove, _) => trouble(
                "moves",
                format!("it answers what is not legal: {line}\n({reason})"),
                "answer with one element of `legal`, as it stands there; `hakem rules` tells what is legal in any position".into(),
            ),
            (Verdict::BadMessage | Verdict::NoReady, _) => trouble(
                "messages",
                format!("it wrote a message that does not fit: {line}\n({reason})"),
                r#"the answers are {"type":"ready","protocol":1}, {"type":"move","id":...,"move":...} and {"type":"pong","id":...}"#.into(),
            ),
            (Verdict::Flood, _) => trouble(
                "output",
                format!("it writes too much: {reason}"),
                "one short line for each question is enough".into(),
            ),
            (Verdict::Crash, "exit 0") => trouble(
                "crash",
                format!("it left {when}, as if all were done{}", quoted_log(&session.stderr)),
                "read one line after the other until `bye` or the end of input".into(),
            ),
            (Verdict::Crash, _) => trouble(
                "crash",
                match session.stderr.trim() {
                    "" => format!("it ended {when}: {reason}"),
                    _ => format!("it ended {when}: {code}{}", quoted_log(&session.stderr)),
                },
                match scene.watch.ready {
                    None => format!(
                        "its last lines on stderr tell where; start it by hand to see more: {}",
                        self.command
                    ),
                    Some(_) => "its last lines on stderr tell where; after a game that was kept (`hakem duel --out DIR`) `hakem \
                                replay RECORD --turn N BOT` asks it the same again"
                        .into(),
                },
            ),
            (Verdict::Limit, "memory") => {
                trouble("memory", format!("a limit ended it: {reason}"), LESS_MEMORY.into())
            }
            (Verdict::Limit, _) => trouble(
                "limits",
                format!("a limit ended it: {reason}"),
                "use less, or ask the organiser for more in [limits]".into(),
            ),
            (Verdict::Rule | Verdict::Resigned | Verdict::Adjudicated | Verdict::Void | Verdict::Timeout, _) => None,
        }
    }

    /// Why nothing came in time.
    fn silence(&self, session: &Session, reason: &str) -> Trouble {
        let words = String::from_utf8_lossy(&session.last_words);
        let is_message = |line: &str| {
            let value = serde_json::from_str::<Value>(line).unwrap_or_default();
            matches!(value["type"].as_str(), Some("ready" | "move" | "pong"))
        };
        let first = words.lines().next().unwrap_or_default();
        if is_message(first) {
            return Trouble {
                check: "flush",
                what: format!(
                    "its answer was ready but not flushed: it came only when its input was closed: {}",
                    shortened(first.as_bytes())
                ),
                cure: self.flush_cure(),
            };
        }
        let unfinished = String::from_utf8_lossy(&session.unfinished);
        if !unfinished.trim().is_empty() {
            return Trouble {
                check: "line-end",
                what: format!(
                    "its answer has no line end, so that it is no line: {}",
                    shortened(unfinished.as_bytes())
                ),
                cure: format!(
                    "end each line with \"\\n\", and flush it; {}",
                    self.flush_cure()
                ),
            };
        }
        Trouble {
            check: "time",
            what: format!("it did not answer in time: {reason}{}", quoted_log(&session.stderr)),
            cure: "`clock.limit_ms` of each turn is the most that its answer may take; stop thinking well before".into(),
        }
    }

    /// The scenes that are played at a table. Returns the first of them, if it plays whole games.
    ///
    /// # Errors
    /// A game that no opponent plays.
    pub fn at_the_table(&self, findings: &mut Findings) -> anyhow::Result<Option<Scene>> {
        let begun = Instant::now();
        let left = || WHOLE_MATCHES.saturating_sub(begun.elapsed());
        let first = self.play(0, Style::Plain, Manner::Plain, MANY_ANSWERS, left())?;
        self.handshake(&first, findings);
        if first.watch.ready.is_none() {
            return Ok(None);
        }
        let mut answers = first.watch.answers.clone();
        let mut games = first.sat.games.len();
        let mut memory = memory_of(&first);
        let mut failed = self.report(&first, findings);
        for index in 1..MOST_MATCHES {
            let enough = index >= ENOUGH_MATCHES && answers.len() >= ENOUGH_ANSWERS;
            if failed || enough || left().is_zero() {
                break;
            }
            let style = [Style::Plain, Style::Resigning][index % 2];
            let scene = self.play(index % 2, style, Manner::Plain, MANY_ANSWERS, left())?;
            games += scene.sat.games.len();
            memory = memory.max(memory_of(&scene));
            answers.extend(scene.watch.answers.iter().cloned());
            failed = self.report(&scene, findings);
        }
        if !failed {
            findings.add(
                "games",
                Grade::Pass,
                format!(
                    "{} from start to end, {} answers, all legal: {}",
                    many(games, "game"),
                    answers.len(),
                    asked(&answers)
                ),
                "",
            );
            if self.buffered.is_none() {
                findings.add("flush", Grade::Pass, "flushes its answers", "");
            }
            self.odd_lines(findings)?;
            self.determinism(&first, findings)?;
        }
        if !findings.has_failed("time") {
            times(&answers, findings);
        }
        if !findings.has_failed("memory") {
            self.memory(memory, findings);
        }
        Ok((!failed).then_some(first))
    }

    fn handshake(&self, scene: &Scene, findings: &mut Findings) {
        let Some(ready) = &scene.watch.ready else {
            if !self.report(scene, findings) {
                findings.add("handshake", Grade::Fail, "it did not answer hello", "");
            }
            return;
        };
        let text = |key: &str| ready[key].as_str().unwrap_or_default().trim().to_owned();
        let claims: Vec<&str> = [
            ("legal", false, "legal=false (no list of legal answers)"),
            ("history", true, "history (the whole game with each turn)"),
            ("events", true, "events (each move of the others)"),
            ("deterministic", true, "deterministic"),
        ]
        .into_iter()
        .filter(|(key, value, _)| ready[*key].as_bool() == Some(*value))
        .map(|(_, _, words)| words)
        .collect();
        let claims = match claims.as_slice() {
            [] => String::new(),
            claims => format!("; it claims {}", claims.join(", ")),
        };
        let what = format!(
            "answers hello after {}, as {:?}{}{claims}",
            ms(scene.watch.ready_us),
            text("name"),
            match text("version").as_str() {
                "" => String::new(),
                version => format!(" {version}"),
            }
        );
        if scene.watch.ready_us > self.ready_us / 2 {
            findings.add(
                "handshake",
                Grade::Warn,
                format!(
                    "{what}: that is close to the limit of {}",
                    ms(self.ready_us)
                ),
                "answer hello first and load what takes long afterwards, or ship it prepared",
            );
        } else {
            findings.add("handshake", Grade::Pass, what, "");
        }
        if text("name").is_empty() {
            findings.add(
                "name",
                Grade::Note,
                "it gives no name; the event's stands in for it",
                "",
            );
        }
    }

    /// Adds what went wrong in a scene; whether something did.
    fn report(&self, scene: &Scene, findings: &mut Findings) -> bool {
        if scene
            .sat
            .sessions
            .iter()
            .any(|session| session.carriage_returns)
        {
            findings.add(
                "line-ends",
                Grade::Warn,
                "its lines end with \\r\\n (CRLF); that is accepted here, but not everywhere",
                "end each line with \"\\n\" alone, and do not write in a text mode that changes it",
            );
        }
        match self.trouble(scene) {
            Some(Trouble { check, what, cure }) => {
                findings.add(check, Grade::Fail, what, cure);
                true
            }
            None => false,
        }
    }

    /// Lines that are otherwise than usual.
    fn odd_lines(&self, findings: &mut Findings) -> anyhow::Result<()> {
        let scenes = [
            (
                "unknown-fields",
                Manner::UnknownFields,
                Grade::Fail,
                "fields that it does not know, and fields in another order",
                "ignore every field that you do not know, wherever it is; read fields by name, not by place",
            ),
            (
                "slow-lines",
                Manner::Pieces,
                Grade::Fail,
                "lines that come in pieces",
                "read until the line feed: a read may bring half a line, or several",
            ),
            (
                "long-lines",
                Manner::Long,
                Grade::Fail,
                "lines of more than a million bytes",
                "lines of the referee have no limit: let the buffer grow (getline, readLine, ReadBytes)",
            ),
            (
                "carriage-returns",
                Manner::CarriageReturns,
                Grade::Warn,
                "lines that end with \\r\\n",
                "take white space off the end of a line before it is read; hakem itself never writes it",
            ),
        ];
        for (check, manner, grade, what, cure) in scenes {
            // The long lines are long by a field that it does not know.
            if manner == Manner::Long && findings.has_failed("unknown-fields") {
                continue;
            }
            let scene = self.play(0, Style::Plain, manner, SOME_ANSWERS, WHOLE_MATCHES)?;
            match self.trouble(&scene) {
                None => findings.add(check, Grade::Pass, format!("plays on with {what}"), ""),
                Some(trouble) => findings.add(
                    check,
                    grade,
                    format!("it does not cope with {what}: {}", trouble.what),
                    cure,
                ),
            }
        }
        Ok(())
    }

    /// The same session twice.
    fn determinism(&self, first: &Scene, findings: &mut Findings) -> anyhow::Result<()> {
        let (one, two) = (self.session(first)?, self.session(first)?);
        let claims = first
            .watch
            .ready
            .as_ref()
            .is_some_and(|ready| ready["deterministic"].as_bool() == Some(true));
        let differs = one.iter().zip(&two).position(|(one, two)| one != two);
        match (claims, differs) {
            (false, None) if one.len() < TOO_FEW && !self.is_race() => findings.add(
                "determinism",
                Grade::Note,
                format!(
                    "the same session got the same {} twice, too few to tell",
                    many(one.len(), "answer")
                ),
                "",
            ),
            (_, None) => findings.add(
                "determinism",
                Grade::Pass,
                format!("the same session got the same {} twice", many(one.len(), "answer")),
                "",
            ),
            (true, Some(at)) => findings.add(
                "determinism",
                Grade::Fail,
                format!(
                    "it claims to be deterministic, but answer {} to the same session was {} and then {}",
                    at + 1,
                    shortened(one[at].to_string().as_bytes()),
                    shortened(two[at].to_string().as_bytes())
                ),
                "seed its random numbers with a fixed number, think for a number of steps and not for a time, and do not go by the \
                 order of hash tables; or leave `deterministic` out of `ready`",
            ),
            (false, Some(_)) => findings.add(
                "determinism",
                Grade::Note,
                "the same session got different answers; it does not claim otherwise",
                "",
            ),
        }
        Ok(())
    }

    /// A session that another one can be compared with: its answers.
    fn session(&self, first: &Scene) -> anyhow::Result<Vec<Value>> {
        if self.is_race() {
            // Who was faster makes two races different, but the first card is the same.
            return Ok(self.first_answer(&Lines(&first.watch.lines)));
        }
        let mut moves = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            // Clocks that tell what is left would make two sessions different.
            let mut job = job.clone();
            let mut setup: MatchSetup = (*job.setup).clone();
            setup.clock.move_us = setup.clock.move_us.or(setup.clock.main_us);
            setup.clock.main_us = None;
            job.setup = Arc::new(setup);
            let scene = self.play_job(
                &job,
                self.seat(index),
                Style::Dull,
                Manner::Plain,
                COMPARED,
                WHOLE_MATCHES,
            )?;
            moves.extend(scene.watch.answers.into_iter().map(|answer| answer.mv));
        }
        Ok(moves)
    }

    fn memory(&self, used: u64, findings: &mut Findings) {
        let what = format!("{} at most, of {} allowed", mb(used), mb(self.memory));
        if used > self.memory {
            findings.add("memory", Grade::Fail, what, LESS_MEMORY);
        } else if used > self.memory / 4 * 3 {
            findings.add(
                "memory",
                Grade::Warn,
                what,
                "stay well below: other games need more",
            );
        } else {
            findings.add("memory", Grade::Pass, what, "");
        }
    }
}

/// The line that lost a game, as its record keeps it.
fn offending_line(record: &[u8]) -> Option<String> {
    record
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .find_map(|entry| entry["fault"]["line"].as_str().map(str::to_owned))
}

fn memory_of(scene: &Scene) -> u64 {
    let sessions = scene.sat.sessions.iter();
    sessions.map(|session| session.memory).max().unwrap_or(0)
}

/// What was asked how often.
fn asked(answers: &[Answer]) -> String {
    let counts: Vec<String> = Ask::ALL
        .into_iter()
        .map(|ask| {
            let count = answers
                .iter()
                .filter(|answer| answer.ask == ask.as_str())
                .count();
            (ask, count)
        })
        .filter(|(_, count)| *count > 0)
        .map(|(ask, count)| format!("{} {count}", ask.as_str()))
        .collect();
    counts.join(", ")
}

/// How long the answers took.
fn times(answers: &[Answer], findings: &mut Findings) {
    let Some(longest) = answers.iter().max_by_key(|answer| answer.wall_us) else {
        return;
    };
    let sum: u64 = answers.iter().map(|answer| answer.wall_us).sum();
    let limit = longest.limit_us.map_or(String::new(), |limit| {
        format!(", where {} were allowed", ms(limit))
    });
    let what = format!(
        "{} an answer on average, {} the longest{limit}",
        ms(sum / answers.len() as u64),
        ms(longest.wall_us)
    );
    let close = longest
        .limit_us
        .is_some_and(|limit| longest.wall_us > limit / 2);
    if close {
        findings.add(
            "time",
            Grade::Warn,
            what,
            "keep more in hand: a busy machine, a longer game or a collection of garbage takes it away",
        );
    } else {
        findings.add("time", Grade::Pass, what, "");
    }
}

/// Microseconds for people.
pub fn ms(us: u64) -> String {
    match us {
        0..10_000 => format!("{:.1} ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{} ms", us / 1000),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

fn mb(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1 << 20))
}

/// The beginning of a line.
pub fn shortened(line: &[u8]) -> String {
    const MOST: usize = 160;
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// The last lines of a log that say something, below.
fn quoted_log(stderr: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    let lines: Vec<&str> = stderr.lines().filter(says).collect();
    lines[lines.len().saturating_sub(4)..]
        .iter()
        .map(|line| format!("\n| {}", shortened(line.as_bytes())))
        .collect()
}
