//! The scenes that are scripted: a session line by line, made of what the referee said in a game before.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::finding::{Findings, Grade};
use super::scenes::{Checked, ms, shortened};
use crate::bot::os;
use crate::bot::process::End;
use crate::bot::process::Program;
use crate::bot::talk::{Heard, Talk};
use crate::referee::FaultKind;

/// How long a bot may leave a full pipe unread.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long its pipe is listened to after it has ended.
const DRAIN: u64 = 300_000_000;

/// What the referee said in a game: the first line of each kind.
pub struct Lines<'a>(pub &'a Map<String, Value>);

/// A scripted session.
struct Script {
    talk: Talk,
    buffer: Vec<u8>,
    lines: VecDeque<String>,
    within: u64,
    exited: Option<u64>,
}

/// Why a script stopped: what was expected and what came.
type Stopped = String;

impl Script {
    fn start(program: &Program, within_us: u64) -> Result<Script, Stopped> {
        let talk =
            Talk::start(program).map_err(|error| format!("it could not be started: {error}"))?;
        Ok(Script {
            talk,
            buffer: Vec::new(),
            lines: VecDeque::new(),
            within: within_us.saturating_mul(1000),
            exited: None,
        })
    }

    fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.talk.send(line.as_bytes(), PATIENCE);
    }

    /// Waits for what comes; false when the time is over or nothing can come any more.
    fn listen(&mut self, until: u64) -> bool {
        match self.talk.next(until) {
            Some((_, Heard::Bytes(bytes))) => {
                self.buffer.extend_from_slice(&bytes);
                while let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                    let line: Vec<u8> = self.buffer.drain(..=end).collect();
                    let line = String::from_utf8_lossy(&line).trim().to_owned();
                    if !line.is_empty() {
                        self.lines.push_back(line);
                    }
                }
                true
            }
            Some((_, Heard::StdoutEnd)) => self.exited.is_none(),
            Some((at, Heard::Exited)) => {
                self.exited = Some(at);
                // What is left in the pipe.
                let until = os::now() + DRAIN;
                while self.listen(until) {}
                false
            }
            None => false,
        }
    }

    /// The next line, as a message.
    fn line(&mut self, what: &str) -> Result<Value, Stopped> {
        let until = os::now().saturating_add(self.within);
        while self.lines.is_empty() && self.exited.is_none() && self.listen(until) {}
        let Some(line) = self.lines.pop_front() else {
            return Err(match self.exited {
                Some(_) => format!("{what}: it ended itself"),
                None => format!("{what}: no answer within {}", ms(self.within / 1000)),
            });
        };
        serde_json::from_str(&line)
            .map_err(|_| format!("{what}: it wrote {}", shortened(line.as_bytes())))
    }

    /// The next line must be of this type, with this id where one is given.
    fn expect(&mut self, kind: &str, id: Option<u64>, what: &str) -> Result<(), Stopped> {
        let message = self.line(what)?;
        if message["type"] == kind && id.is_none_or(|id| message["id"].as_f64() == Some(id as f64))
        {
            return Ok(());
        }
        let right = match id {
            Some(id) => format!("`{kind}` with the id {id}"),
            None => format!("`{kind}`"),
        };
        Err(format!(
            "{what}: {right} was expected, and {} came",
            shortened(message.to_string().as_bytes())
        ))
    }

    /// Says hello and hears ready.
    fn greet(&mut self, lines: &Lines<'_>) -> Result<(), Stopped> {
        self.say(&lines.0["hello"]);
        self.expect("ready", None, "hello")
    }

    /// Asks the turn of the game before under another id.
    fn turn(&mut self, lines: &Lines<'_>, id: u64) {
        let mut turn = lines.0["turn"].clone();
        turn["id"] = id.into();
        self.say(&turn);
    }

    /// Waits for its end; the time that it took from now, microseconds.
    fn exit_within(&mut self, us: u64) -> Option<u64> {
        let from = os::now();
        let until = from.saturating_add(us.saturating_mul(1000));
        while self.exited.is_none() && os::now() < until && self.listen(until) {}
        // A closed stdout comes before the end of the process.
        while self.exited.is_none() && os::now() < until {
            self.listen(until);
        }
        self.exited.map(|at| at.saturating_sub(from) / 1000)
    }
}

impl Checked<'_> {
    /// All scripted scenes.
    pub fn by_script(&self, lines: &Lines<'_>, findings: &mut Findings) {
        let program = self.program();
        if !["hello", "start", "turn"]
            .iter()
            .all(|kind| lines.0.contains_key(*kind))
        {
            return;
        }
        self.pings(program, lines, findings);
        self.later_messages(program, lines, findings);
        if self.is_race() {
            self.stop(program, lines, findings);
        }
        self.farewell(program, lines, findings);
        self.end_of_input(program, lines, findings);
        if let Some(buffered) = self.buffered {
            self.flush(buffered, lines, findings);
        }
    }

    fn program(&self) -> &Program {
        let seat = self.jobs[0].setup.slots.iter().position(|&slot| slot == 0);
        &self.jobs[0].programs[seat.unwrap_or(0)]
    }

    /// The answer to the first turn; none if there was none.
    pub fn first_answer(&self, lines: &Lines<'_>) -> Vec<Value> {
        let answer = Script::start(self.program(), self.limit_us()).and_then(|mut script| {
            script.greet(lines)?;
            script.say(&lines.0["start"]);
            script.turn(lines, 1);
            script.line("a turn")
        });
        answer.map_or_else(|_| Vec::new(), |answer| vec![answer["move"].clone()])
    }

    fn limit_us(&self) -> u64 {
        let clock = &self.jobs[0].setup.clock;
        clock
            .move_us
            .or(clock.main_us)
            .unwrap_or(self.ready_us)
            .max(self.ready_us)
    }

    fn pings(&self, program: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let result = Script::start(program, self.limit_us()).and_then(|mut script| {
            script.greet(lines)?;
            script.say(&json!({"type": "ping", "id": 1}));
            script.expect("pong", Some(1), "a ping before the game")?;
            script.say(&lines.0["start"]);
            script.turn(lines, 2);
            script.expect("move", Some(2), "a turn after a ping")?;
            if let Some(end) = lines.0.get("end") {
                script.say(end);
            }
            script.say(&json!({"type": "ping", "id": 3}));
            script.expect("pong", Some(3), "a ping after the game")
        });
        match result {
            Ok(()) => findings.add("ping", Grade::Pass, "answers ping before and after a game", ""),
            Err(what) => findings.add(
                "ping",
                Grade::Fail,
                what,
                r#"answer {"type":"ping","id":N} with {"type":"pong","id":N}; it comes before every game of a match but the first"#,
            ),
        }
    }

    fn later_messages(&self, program: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let result = Script::start(program, self.limit_us()).and_then(|mut script| {
            let later = json!({"type": "a_later_message", "id": 77, "about": ["what", "is to come"]});
            script.greet(lines)?;
            script.say(&later);
            script.say(&lines.0["start"]);
            script.say(&later);
            script.say(&json!({"type": "error", "code": "unasked", "message": "only a remark", "fatal": false}));
            script.turn(lines, 1);
            script.expect("move", Some(1), "a turn after messages that it does not know")
        });
        match result {
            Ok(()) => findings.add(
                "unknown-messages",
                Grade::Pass,
                "ignores messages that it does not know, and remarks",
                "",
            ),
            Err(what) => findings.add(
                "unknown-messages",
                Grade::Warn,
                what,
                "ignore messages of a `type` that you do not know (and `error` with `fatal` false): a later version may add some",
            ),
        }
    }

    /// A question that is withdrawn.
    fn stop(&self, program: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let result = Script::start(program, self.limit_us()).and_then(|mut script| {
            script.greet(lines)?;
            script.say(&lines.0["start"]);
            for id in [1, 3] {
                script.turn(lines, id);
                script.say(&json!({"type": "stop", "id": id, "why": "claimed"}));
                script.say(&json!({"type": "ping", "id": id + 1}));
                // An answer that was under way does no harm.
                let mut message = script.line("a ping after `stop`")?;
                if message["type"] == "move" && message["id"] == id {
                    message = script.line("a ping after `stop`")?;
                }
                if message["type"] != "pong" {
                    return Err(format!(
                        "after `stop` it wrote {}",
                        shortened(message.to_string().as_bytes())
                    ));
                }
            }
            script.turn(lines, 5);
            script.expect("move", Some(5), "a turn after `stop`")
        });
        match result {
            Ok(()) => findings.add("stop", Grade::Pass, "goes on after its question was withdrawn", ""),
            Err(what) => findings.add(
                "stop",
                Grade::Fail,
                what,
                "`stop` withdraws the question of its id: stop thinking, answer nothing, and read on",
            ),
        }
    }

    /// A game to its end, and goodbye.
    fn farewell(&self, program: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let played = Script::start(program, self.limit_us()).and_then(|mut script| {
            script.greet(lines)?;
            script.say(&lines.0["start"]);
            script.turn(lines, 1);
            script.expect("move", Some(1), "a turn")?;
            if let Some(end) = lines.0.get("end") {
                script.say(end);
            }
            script.say(&json!({"type": "bye"}));
            script.talk.close_stdin();
            Ok(script)
        });
        match played {
            Ok(script) => self.leaves(
                script,
                program.exit_us,
                "bye",
                "when it reads `bye`",
                findings,
            ),
            Err(what) => findings.add("bye", Grade::Fail, what, ""),
        }
    }

    /// The referee is gone: no goodbye, but the end of input, in the middle of a question.
    fn end_of_input(&self, program: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let played = Script::start(program, self.limit_us()).and_then(|mut script| {
            script.greet(lines)?;
            script.say(&lines.0["start"]);
            script.turn(lines, 1);
            script.talk.close_stdin();
            Ok(script)
        });
        match played {
            Ok(script) => self.leaves(
                script,
                program.exit_us.saturating_add(self.limit_us()),
                "end-of-input",
                "when its input ends, also without `bye`",
                findings,
            ),
            Err(what) => findings.add("end-of-input", Grade::Fail, what, ""),
        }
    }

    /// Whether it leaves, and leaves nothing behind.
    fn leaves(
        &self,
        mut script: Script,
        within_us: u64,
        check: &'static str,
        when: &str,
        findings: &mut Findings,
    ) {
        let Some(took) = script.exit_within(within_us) else {
            findings.add(
                check,
                Grade::Fail,
                format!("it does not end within {} {when}; it had to be ended", ms(within_us)),
                "leave the loop at the end of input (None, null, EOF, io.EOF, 0 bytes), and end threads that think",
            );
            return;
        };
        let left = script.talk.left();
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(|left| shortened(left.as_bytes())).collect();
            findings.add(
                "children",
                Grade::Fail,
                format!("it ended and left processes behind: {}", left.join("; ")),
                "end and wait for every process that you start before you leave",
            );
        }
        match script.talk.ended() {
            None | Some(End::Bot(FaultKind::Exit(0), _)) => {
                findings.add(
                    check,
                    Grade::Pass,
                    format!("leaves after {} {when}", ms(took)),
                    "",
                );
            }
            Some(End::Machine(why)) => findings.add(check, Grade::Note, why, ""),
            Some(End::Bot(other, _)) => {
                let how = match other {
                    FaultKind::Exit(status) => format!("exit status {status}"),
                    FaultKind::Signal(signal) => format!("signal {signal}"),
                    other => format!("{other:?}"),
                };
                let log = script.talk.stderr();
                let last = log.lines().rev().find(|line| !line.trim().is_empty());
                let last = last.map_or(String::new(), |line| {
                    format!(": {}", shortened(line.as_bytes()))
                });
                findings.add(
                    check,
                    Grade::Warn,
                    format!("leaves {when}, but with {how}{last}"),
                    "end with status 0; a broken pipe at the end is no error",
                );
            }
        }
    }

    /// In a game Python does not buffer, as hakem sets PYTHONUNBUFFERED; elsewhere it does.
    fn flush(&self, buffered: &Program, lines: &Lines<'_>, findings: &mut Findings) {
        let result = Script::start(buffered, self.ready_us.min(1_500_000)).map(|mut script| {
            script.say(&lines.0["hello"]);
            if script.line("hello").is_ok() {
                return true;
            }
            script.talk.close_stdin();
            script.exit_within(buffered.exit_us);
            // If nothing comes now either it was something else.
            script.lines.is_empty()
        });
        if result == Ok(false) {
            findings.add(
                "flush",
                Grade::Warn,
                "its answers are not flushed; hakem starts Python unbuffered, so that it plays here, but not everywhere",
                self.flush_cure(),
            );
        } else {
            findings.add("flush", Grade::Pass, "flushes its answers", "");
        }
    }
}
