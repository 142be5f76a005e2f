//! A scripted misbehaving bot for tests. Not shipped.
//!
//! Without options it is honest: it greets, plays the first element of `legal` (or lays the card) and leaves at `bye`. Each fault is an
//! option `--FAULT` (`--stall`), which strikes at the turn that `--at N` names (counted over the process, from 1;
//! default 2), or `--FAULT-at N`. `--in-game ID` restricts the faults to one game. `mockbot --help` lists all.
#![expect(
    clippy::print_stdout,
    clippy::exit,
    reason = "a program that speaks over stdout and ends in every way a bot can"
)]

use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use hakem::game::Game;
use hakem::game::qbitz::faces::Answer;
use hakem::game::qbitz::{Qbitz, QbitzOptions};
use serde_json::{Value, json};

const HELP: &str = "\
mockbot: a scripted misbehaving bot

Manners (hold for the whole session)
  --name TEXT          the name in ready
  --pick first|last|hash:SEED   which element of legal; hash: by the state, a function of the turn
  --double             offers a double whenever it may
  --answer-take WORD   the answer to an offered double (take, pass, beaver)
  --version N          the protocol version in ready
  --no-legal --history --events   asks for these in ready
  --crlf --bom --blank-lines --float-move   sloppy but allowed
  --think-us N         computes so long on a processor before each answer
  --note-bytes N       a note of this length with every answer
  --note TEXT          this note with every answer
  --eval               an eval with every answer
  --evals LIST         these evals, one after the other, the last for good: JSON with `;` between, or none
  --ping-silent        answers no ping
  --after-end          writes a line after each end
  --ignore-term        ignores SIGTERM, and stays after bye and end of input
  --hold PATH          before ready connects to this socket and waits until the other side closes it
  --stderr TEXT        writes this line to stderr first
Before ready
  --no-ready --slow-ready MS --ready-early --bad-ready --crash-before-ready (with --exit-code)
Faults at a turn (--at N, or --FAULT-at N; --in-game ID)
  --crash (--exit-code N)      --signal N             --stall                --no-read
  --flood-stdout               --flood-lines          --flood-blank          --flood-stderr
  --illegal                    --bad-json             --bad-message          --not-utf8
  --duplicate-key              --big-number           --late-bom             --wrong-id
  --unasked                    --twice                --late MS              --slow-loris
  --partial-line-then-exit     --answer-then-exit     --close-stdout         --close-stdin
  --fork-child-holds-stdout    --setsid-child         --resign (for one)
";

/// The bot's settings.
struct Script {
    name: String,
    pick: Pick,
    version: u32,
    double: bool,
    answer_take: Option<String>,
    flags: Vec<String>,
    think_us: u64,
    note_bytes: usize,
    note: Option<String>,
    evals: Vec<Value>,
    slow_ready_ms: u64,
    late_ms: u64,
    exit_code: i32,
    signal: i32,
    hold: Option<String>,
    stderr: Option<String>,
    fault: Option<String>,
    at: u64,
    in_game: Option<String>,
}

enum Pick {
    First,
    Last,
    Hash(u64),
}

/// The faults that strike at a turn.
const FAULTS: [&str; 26] = [
    "crash",
    "signal",
    "stall",
    "no-read",
    "flood-stdout",
    "flood-lines",
    "flood-blank",
    "flood-stderr",
    "illegal",
    "bad-json",
    "bad-message",
    "not-utf8",
    "duplicate-key",
    "big-number",
    "late-bom",
    "wrong-id",
    "unasked",
    "twice",
    "late",
    "slow-loris",
    "partial-line-then-exit",
    "answer-then-exit",
    "close-stdout",
    "close-stdin",
    "fork-child-holds-stdout",
    "setsid-child",
];

/// The options without a value that hold for the whole session.
const FLAGS: [&str; 15] = [
    "no-legal",
    "history",
    "events",
    "crlf",
    "bom",
    "blank-lines",
    "float-move",
    "eval",
    "ping-silent",
    "after-end",
    "ignore-term",
    "no-ready",
    "ready-early",
    "bad-ready",
    "crash-before-ready",
];

impl Script {
    fn parse(args: &[String]) -> Result<Script, String> {
        let mut script = Script {
            name: "mock".into(),
            pick: Pick::First,
            version: 1,
            double: false,
            answer_take: None,
            flags: Vec::new(),
            think_us: 0,
            note_bytes: 0,
            note: None,
            evals: Vec::new(),
            slow_ready_ms: 0,
            late_ms: 0,
            exit_code: 1,
            signal: 0,
            hold: None,
            stderr: None,
            fault: None,
            at: 2,
            in_game: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let name = arg
                .strip_prefix("--")
                .ok_or_else(|| format!("`{arg}` is no option"))?;
            let mut value = || {
                args.next()
                    .cloned()
                    .ok_or_else(|| format!("{arg} needs a value"))
            };
            match name {
                "name" => script.name = value()?,
                "pick" => script.pick = pick(&value()?)?,
                "version" => script.version = number(arg, &value()?)?,
                "double" => script.double = true,
                "answer-take" => script.answer_take = Some(value()?),
                "think-us" => script.think_us = number(arg, &value()?)?,
                "note" => script.note = Some(value()?),
                "evals" => script.evals = evals(&value()?)?,
                "note-bytes" => script.note_bytes = number(arg, &value()?)?,
                "slow-ready" => script.slow_ready_ms = number(arg, &value()?)?,
                "exit-code" => script.exit_code = number(arg, &value()?)?,
                "hold" => script.hold = Some(value()?),
                "stderr" => script.stderr = Some(value()?),
                "in-game" => script.in_game = Some(value()?),
                "at" => script.at = number(arg, &value()?)?,
                "late" => {
                    script.fault = Some(name.into());
                    script.late_ms = number(arg, &value()?)?;
                }
                "signal" => {
                    script.fault = Some(name.into());
                    script.signal = number(arg, &value()?)?;
                }
                "resign" => script.fault = Some(name.into()),
                "resign-at" => {
                    script.fault = Some("resign".into());
                    script.at = number(arg, &value()?)?;
                }
                flag if FLAGS.contains(&flag) => script.flags.push(flag.into()),
                fault if FAULTS.contains(&fault) => script.fault = Some(fault.into()),
                other => {
                    let fault = other
                        .strip_suffix("-at")
                        .filter(|fault| FAULTS.contains(fault))
                        .ok_or_else(|| format!("there is no option {arg}; see mockbot --help"))?;
                    script.fault = Some(fault.into());
                    script.at = number(arg, &value()?)?;
                }
            }
        }
        Ok(script)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no number for {option}"))
}

fn evals(text: &str) -> Result<Vec<Value>, String> {
    let one = |text: &str| match text.trim() {
        "none" => Ok(Value::Null),
        json => serde_json::from_str(json).map_err(|_| format!("`{json}` is no JSON")),
    };
    text.split(';').map(one).collect()
}

fn pick(text: &str) -> Result<Pick, String> {
    match text {
        "first" => Ok(Pick::First),
        "last" => Ok(Pick::Last),
        _ => text
            .strip_prefix("hash:")
            .and_then(|seed| seed.parse().ok())
            .map(Pick::Hash)
            .ok_or_else(|| format!("`{text}` is no way to pick; first, last or hash:SEED")),
    }
}

/// FNV-1a: stable on every machine, which the standard library's hasher is not.
fn hash(seed: u64, text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    // The low bits of FNV-1a alone are poor for a small modulus.
    hash ^ (hash >> 32)
}

/// What is known of the running session.
struct Session {
    script: Script,
    turns: u64,
    game: String,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help") {
        print!("{HELP}");
        return;
    }
    let script = Script::parse(&args).unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "mockbot: {message}");
        std::process::exit(64);
    });
    if script.has("ignore-term") && std::env::var_os("MOCKBOT_DEAF").is_none() {
        deafen(&args);
    }
    let mut session = Session {
        script,
        turns: 0,
        game: String::new(),
    };
    session.open();
    session.serve();
}

/// Starts this program again with SIGTERM ignored: a shell's `trap ''` is inherited through exec.
fn deafen(args: &[String]) -> ! {
    let me = std::env::current_exe().expect("the own program has a path");
    let error = Command::new("/bin/sh")
        .args(["-c", "trap '' TERM; exec \"$0\" \"$@\""])
        .arg(me)
        .args(args)
        .env("MOCKBOT_DEAF", "1")
        .exec();
    panic!("sh does not start: {error}");
}

/// Bytes to the referee, at once. A closed pipe ends the bot quietly.
fn send(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Computes until this thread has used so much processor time.
fn think(us: u64) {
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    };
    let until = used() + Duration::from_micros(us);
    while used() < until {
        std::hint::spin_loop();
    }
}

impl Session {
    /// All that comes before the first question.
    fn open(&self) {
        let script = &self.script;
        if let Some(text) = &script.stderr {
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        if let Some(path) = &script.hold {
            let mut peer = UnixStream::connect(path).expect("the test listens on the socket");
            let _ = peer.read(&mut [0; 1]);
        }
        if script.has("crash-before-ready") {
            std::process::exit(script.exit_code);
        }
        if script.has("ready-early") {
            self.ready();
        }
    }

    fn ready(&self) {
        let script = &self.script;
        if script.slow_ready_ms > 0 {
            std::thread::sleep(Duration::from_millis(script.slow_ready_ms));
        }
        let mut ready = json!({
            "type": "ready", "protocol": script.version, "name": script.name, "version": "1"
        });
        for (flag, key, value) in [
            ("no-legal", "legal", false),
            ("history", "history", true),
            ("events", "events", true),
        ] {
            if script.has(flag) {
                ready[key] = value.into();
            }
        }
        let mut line = Vec::new();
        if script.has("bom") {
            line.extend_from_slice(b"\xef\xbb\xbf");
        }
        line.extend_from_slice(&self.line(&ready.to_string()));
        send(&line);
    }

    /// A line with this session's manners of ending lines.
    fn line(&self, text: &str) -> Vec<u8> {
        let mut line = Vec::new();
        if self.script.has("blank-lines") {
            line.extend_from_slice(b"\n  \n");
        }
        line.extend_from_slice(text.as_bytes());
        line.extend_from_slice(if self.script.has("crlf") {
            b"\r\n"
        } else {
            b"\n"
        });
        line
    }

    /// Reads and answers until `bye` or the end of input.
    fn serve(&mut self) {
        let stdin = std::io::stdin();
        let mut text = String::new();
        loop {
            text.clear();
            if stdin.lock().read_line(&mut text).unwrap_or(0) == 0 {
                break;
            }
            let Ok(message) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            match message["type"].as_str().unwrap_or_default() {
                "hello" => self.greet(),
                "start" => self.game = message["game_id"].as_str().unwrap_or_default().into(),
                "turn" => self.turn(&message),
                "ping" if !self.script.has("ping-silent") => {
                    let pong = json!({"type": "pong", "id": message["id"]});
                    send(&self.line(&pong.to_string()));
                }
                "end" if self.script.has("after-end") => {
                    send(&self.line(r#"{"type":"move","id":1,"move":1}"#));
                }
                "bye" => break,
                _ => {}
            }
        }
        if self.script.has("ignore-term") {
            sleep_for_ever();
        }
    }

    fn greet(&self) {
        if self.script.has("no-ready") || self.script.has("ready-early") {
            return;
        }
        if self.script.has("bad-ready") {
            send(b"loading the model, please wait\n");
        }
        self.ready();
    }

    fn turn(&mut self, turn: &Value) {
        self.turns += 1;
        think(self.script.think_us);
        let here = self
            .script
            .in_game
            .as_ref()
            .is_none_or(|game| *game == self.game);
        let fault = self.script.fault.clone();
        match fault {
            Some(fault) if here && self.turns == self.script.at => self.misbehave(&fault, turn),
            _ => send(&self.line(&self.answer(turn))),
        }
    }

    /// The honest answer, as text without a line end.
    fn answer(&self, turn: &Value) -> String {
        self.answer_with(&turn["id"], &self.choice(turn))
    }

    fn answer_with(&self, id: &Value, mv: &Value) -> String {
        let mut answer = json!({"type": "move", "id": id, "move": mv});
        if let (true, Some(pit)) = (self.script.has("float-move"), mv.as_u64()) {
            // Written by hand: a whole number would lose its fraction.
            return format!(r#"{{"type":"move","id":{id},"move":{pit}.0}}"#);
        }
        if self.script.note_bytes > 0 {
            answer["note"] = "n".repeat(self.script.note_bytes).into();
        }
        if let Some(note) = &self.script.note {
            answer["note"] = note.as_str().into();
        }
        if self.script.has("eval") {
            answer["eval"] = json!({"score": 0.5, "depth": self.turns});
        }
        let nth = usize::try_from(self.turns).unwrap_or(usize::MAX);
        let evals = &self.script.evals;
        if let Some(eval) = evals.get(nth.saturating_sub(1)).or(evals.last())
            && !eval.is_null()
        {
            answer["eval"] = eval.clone();
        }
        answer.to_string()
    }

    fn choice(&self, turn: &Value) -> Value {
        let empty = Vec::new();
        let legal = turn["legal"].as_array().unwrap_or(&empty);
        let ask = turn["ask"].as_str().unwrap_or_default();
        if ask == "cube" && self.script.double && legal.contains(&json!("double")) {
            return json!("double");
        }
        if let (Some(word), "take") = (&self.script.answer_take, ask) {
            return json!(word);
        }
        if ask == "race" {
            return lay(&turn["state"]);
        }
        let index = match self.script.pick {
            Pick::First => 0,
            Pick::Last => legal.len().saturating_sub(1),
            Pick::Hash(seed) => {
                let mut text = turn["state"].to_string();
                let _ = write!(text, "{}", turn["ask"]);
                let count = u64::try_from(legal.len()).unwrap_or(1).max(1);
                usize::try_from(hash(seed, &text) % count).unwrap_or(0)
            }
        };
        legal.get(index).cloned().unwrap_or(Value::Null)
    }

    fn misbehave(&self, fault: &str, turn: &Value) {
        let honest = self.answer(turn);
        let id = turn["id"].as_u64().unwrap_or(0);
        let say = |text: &str| send(&self.line(text));
        match fault {
            "crash" => std::process::exit(self.script.exit_code),
            "signal" => self.die_by_signal(),
            "stall" => {}
            "no-read" => sleep_for_ever(),
            "late" => {
                std::thread::sleep(Duration::from_millis(self.script.late_ms));
                say(&honest);
            }
            "slow-loris" => {
                for byte in self.line(&honest) {
                    send(&[byte]);
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
            "illegal" => say(&self.answer_with(&turn["id"], &illegal(turn))),
            "resign" => say(&self.answer_with(&turn["id"], &json!({"resign": 1}))),
            "wrong-id" => say(&self.answer_with(&json!(id + 7), &self.choice(turn))),
            "bad-json" => say(&honest[..honest.len() - 1]),
            "bad-message" => say(&json!({"type": "move", "id": id}).to_string()),
            "duplicate-key" => say(&honest.replace(r#""id":"#, &format!(r#""id":{id},"id":"#))),
            "big-number" => say(&format!(
                r#"{{"type":"move","id":{id},"move":123456789012345678901234567890}}"#
            )),
            "not-utf8" => {
                let text = honest.replace(r#""id""#, r#""note":"@","id""#);
                let bytes = text.bytes();
                let line: Vec<u8> = bytes
                    .map(|byte| if byte == b'@' { 0xff } else { byte })
                    .chain([b'\n'])
                    .collect();
                send(&line);
            }
            "late-bom" => say(&format!("\u{feff}{honest}")),
            // Both lines in one write, so that the second is there before anything new is asked.
            "twice" => send(format!("{honest}\n{honest}\n").as_bytes()),
            "unasked" => {
                let early = self.answer_with(&json!(id + 1), &self.choice(turn));
                send(format!("{honest}\n{early}\n").as_bytes());
            }
            "partial-line-then-exit" => {
                send(honest.as_bytes());
                std::process::exit(0);
            }
            "answer-then-exit" => {
                say(&honest);
                std::process::exit(0);
            }
            "flood-stdout" => flood(&[b'x'; 1 << 16], 1 << 14),
            "flood-lines" => flood(format!("{}\n", "y".repeat(1000)).as_bytes(), 1 << 20),
            "flood-blank" => flood(&[b'\n'; 1 << 16], 1 << 14),
            "flood-stderr" => {
                let noise = [b"noise ".as_slice(); 1 << 13].concat();
                for _ in 0..400 {
                    let _ = std::io::stderr().write_all(&noise);
                }
                say(&honest);
            }
            "close-stdout" => become_shell("exec sleep 3600 >&-", ""),
            // First the closing, so that the next question cannot be written any more.
            "close-stdin" => {
                become_shell("exec <&-; printf '%s\\n' \"$0\"; exec sleep 3600", &honest)
            }
            "fork-child-holds-stdout" => {
                let sleeper = Command::new("sleep").arg("3600").spawn();
                sleeper.expect("sleep starts");
                std::process::exit(0);
            }
            "setsid-child" => {
                let child = "setsid sleep 3600 </dev/null >/dev/null 2>&1 &";
                let shell = Command::new("/bin/sh").args(["-c", child]).status();
                shell.expect("sh starts");
                say(&honest);
            }
            other => unreachable!("--{other} is listed but not played"),
        }
    }

    fn die_by_signal(&self) -> ! {
        let me = rustix::process::getpid();
        let signal = rustix::process::Signal::from_named_raw(self.script.signal)
            .expect("--signal names a signal");
        // Rust's handler of SIGSEGV and SIGBUS takes the first and restores the default.
        loop {
            rustix::process::kill_process(me, signal).expect("a process may signal itself");
            std::thread::yield_now();
        }
    }
}

/// Goes on as a shell: the way to close a standard stream in mid-session without unsafe code.
fn become_shell(script: &str, argument: &str) -> ! {
    let error = Command::new("/bin/sh")
        .args(["-c", script, argument])
        .exec();
    panic!("sh does not start: {error}");
}

fn flood(chunk: &[u8], times: usize) {
    for _ in 0..times {
        send(chunk);
    }
}

/// The right claim in a race.
fn lay(state: &Value) -> Value {
    // Whatever the game's own options are, this card is to be laid.
    let options = QbitzOptions {
        target_points: 1000,
        rounds: 1000,
        ..QbitzOptions::default()
    };
    let game = Qbitz::read(&options, state);
    json!(Answer(game.ok().and_then(|game| game.solution())))
}

/// An answer of the right form that is not legal: for a game of numbers one that is missing from `legal`, else a
/// word that no game knows.
fn illegal(turn: &Value) -> Value {
    let legal = turn["legal"].as_array().cloned().unwrap_or_default();
    if legal.first().is_some_and(Value::is_u64) {
        let missing = (1..=7).find(|pit| !legal.contains(&json!(pit)));
        json!(missing)
    } else {
        json!("no-such-move")
    }
}
