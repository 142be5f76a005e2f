//! The bots: one that answers at once and does as little as can be, and the child of the raw ping-pong.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use memchr::{memchr, memmem};

use crate::Fault;
use crate::common::machine::own_cpu_ns;
use crate::process::monotonic_ns;
use crate::script::Script;

/// A text before a value of a line. Made once: to prepare the search anew for each line would take longer than the search.
struct Key(memmem::Finder<'static>);

impl Key {
    fn new(text: &'static str) -> Key {
        Key(memmem::Finder::new(text))
    }

    /// What follows the text in a line; nothing, where it is not there.
    fn after<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let text = self.0.needle();
        // Most often what is looked for comes next.
        if let Some(rest) = line.strip_prefix(text) {
            return rest;
        }
        let found = self.0.find(line);
        found.map_or(b"", |at| &line[at + text.len()..])
    }
}

/// The values that the bot looks at, in the order in which they stand in a line.
struct Keys {
    kind: Key,
    id: Key,
    legal: Key,
    game: Key,
}

impl Keys {
    fn new() -> Keys {
        Keys {
            kind: Key::new(r#"{"type":""#),
            id: Key::new(r#","id":"#),
            legal: Key::new(r#","legal":["#),
            game: Key::new(r#","game_id":""#),
        }
    }
}

/// The first element of a JSON list whose opening bracket has been passed, and what follows it.
fn element(list: &[u8]) -> (&[u8], &[u8]) {
    let mut depth = 0_u32;
    for (at, byte) in list.iter().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' | b',' if depth == 0 => return list.split_at(at),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    (list, b"")
}

/// The answer of the bot: the second of `legal`, or the only one. Games of Mangala then have 55 moves, near the 44 of
/// random play; the first of `legal` would end them after 23.
fn choice(legal: &[u8]) -> &[u8] {
    let (first, rest) = element(legal);
    match rest {
        [b',', rest @ ..] => element(rest).0,
        _ => first,
    }
}

/// What the bot keeps to write at the end.
#[derive(Default)]
struct Notes {
    /// Where the arrivals of turns go: `GAME_ID NS NS ...`, one line a game.
    stamps: Option<PathBuf>,
    games: Vec<(Vec<u8>, Vec<u64>)>,
    /// Where the conversation goes: `NS LINE` for what was read, `NS < LINE` for what was answered.
    capture: Option<PathBuf>,
    lines: Vec<(u64, bool, Vec<u8>)>,
}

impl Notes {
    fn write(&self) -> Result<(), Fault> {
        let own = std::process::id();
        if let Some(dir) = &self.stamps {
            let mut text = String::new();
            for (game, stamps) in &self.games {
                text.push_str(std::str::from_utf8(game)?);
                for stamp in stamps {
                    write!(text, " {stamp}")?;
                }
                text.push('\n');
            }
            std::fs::write(dir.join(own.to_string()), text)?;
        }
        if let Some(dir) = &self.capture {
            let mut text = String::new();
            for (stamp, own, line) in &self.lines {
                let mark = if *own { "< " } else { "" };
                writeln!(text, "{stamp} {mark}{}", std::str::from_utf8(line)?)?;
            }
            std::fs::write(dir.join(own.to_string()), text)?;
        }
        Ok(())
    }
}

/// `instant-bot [--stamps DIR] [--capture DIR] [--mark DIR] [--think US]`: answers at once, or after it has computed for so many
/// microseconds of its own processor time since it read the question.
/// `--mark`: leaves an empty file named by its process id when it starts.
pub(crate) fn instant(args: &[String]) -> Result<(), Fault> {
    let mut notes = Notes::default();
    let mut think_us = 0;
    let is_timed = args
        .iter()
        .any(|arg| arg == "--stamps" || arg == "--capture");
    for pair in args.chunks(2) {
        let [option, dir] = pair else {
            return Err(format!("{} needs a value", pair[0]).into());
        };
        match option.as_str() {
            "--stamps" => notes.stamps = Some(dir.into()),
            "--capture" => notes.capture = Some(dir.into()),
            "--think" => think_us = dir.parse()?,
            "--mark" => {
                let path = PathBuf::from(dir).join(std::process::id().to_string());
                std::fs::write(path, "")?;
            }
            other => return Err(format!("instant-bot has no option {other}").into()),
        }
    }
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let mut buffer = vec![0; 1 << 16];
    let mut held = 0;
    let mut answer = Vec::with_capacity(256);
    let keys = Keys::new();
    loop {
        let read = rustix::io::read(&stdin, &mut buffer[held..])?;
        let now = if is_timed { monotonic_ns() } else { 0 };
        if read == 0 {
            return notes.write();
        }
        held += read;
        let mut begin = 0;
        while let Some(length) = memchr(b'\n', &buffer[begin..held]) {
            let line = &buffer[begin..begin + length];
            begin += length + 1;
            answer.clear();
            let goes_on = reply(line, &keys, now, &mut notes, &mut answer);
            if notes.capture.is_some() {
                notes.lines.push((now, false, line.to_vec()));
                if let Some(own) = answer.strip_suffix(b"\n") {
                    notes.lines.push((now, true, own.to_vec()));
                }
            }
            if !goes_on {
                return notes.write();
            }
            if !answer.is_empty() {
                if answer.starts_with(br#"{"type":"move""#) {
                    think(think_us);
                }
                rustix::io::write(&stdout, &answer)?;
            }
        }
        buffer.copy_within(begin..held, 0);
        held -= begin;
        if held == buffer.len() {
            buffer.resize(2 * held, 0);
        }
    }
}

/// Computes until this process has used so many microseconds more of a core.
fn think(us: u64) {
    if us == 0 {
        return;
    }
    let until = own_cpu_ns() + us * 1000;
    while own_cpu_ns() < until {
        std::hint::black_box(until);
    }
}

/// Puts the answer to a line into `out`; whether the session goes on.
fn reply(line: &[u8], keys: &Keys, now: u64, notes: &mut Notes, out: &mut Vec<u8>) -> bool {
    let kind = keys.kind.after(line);
    let end = kind.iter().position(|&byte| byte == b'"').unwrap_or(0);
    let (kind, rest) = kind.split_at(end);
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let id = || {
        let digits = keys.id.after(rest);
        let end = digits.iter().position(|byte| !byte.is_ascii_digit());
        digits.split_at(end.unwrap_or(digits.len()))
    };
    match kind {
        b"turn" => {
            // Games are noted only where stamps are wanted.
            if let Some((_, stamps)) = notes.games.last_mut() {
                stamps.push(now);
            }
            let (id, rest) = id();
            out.extend_from_slice(br#"{"type":"move","id":"#);
            out.extend_from_slice(id);
            out.extend_from_slice(br#","move":"#);
            out.extend_from_slice(choice(keys.legal.after(rest)));
            out.extend_from_slice(b"}\n");
        }
        b"start" if notes.stamps.is_some() => {
            let game = keys.game.after(rest);
            let end = game.iter().position(|&byte| byte == b'"').unwrap_or(0);
            notes.games.push((game[..end].to_vec(), Vec::new()));
        }
        b"hello" => {
            out.extend_from_slice(b"{\"type\":\"ready\",\"protocol\":1,\"name\":\"instant\"}\n");
        }
        b"ping" => {
            out.extend_from_slice(br#"{"type":"pong","id":"#);
            out.extend_from_slice(id().0);
            out.extend_from_slice(b"}\n");
        }
        b"bye" => return false,
        _ => {}
    }
    true
}

/// `raw-child SCRIPT`: reads until a line end and writes the bytes of the next answer, without a look at either.
pub(crate) fn raw_child(args: &[String]) -> Result<(), Fault> {
    let [path] = args else {
        return Err("raw-child needs a script".into());
    };
    let script = Script::load(path.as_ref())?;
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let mut buffer = vec![0; 1 << 16];
    for step in script.steps.iter().cycle() {
        loop {
            let read = rustix::io::read(&stdin, &mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            if buffer[read - 1] == b'\n' {
                break;
            }
        }
        rustix::io::write(&stdout, &step.answer)?;
    }
    std::io::stdout().flush()?;
    Ok(())
}
