//! `hakem bot`: a built-in bot on stdin and stdout.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Instant;

use hakem_protocol::{Ask, FromBot, FromReferee, Hello, Pong, Ready, VERSION};
use serde_json::Value;

use super::output::OutputArgs;
use crate::house::ladder::{LADDERS, Rung};
use crate::house::{self, Games, HOUSES, House, Table};
use crate::strict::in_words;

/// Run a built-in bot on stdin and stdout
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bot
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub name: Option<String>,
    /// List the built-in bots, what they play and their options
    #[arg(long)]
    pub list: bool,
    /// How the list is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A line of the referee that is longer is a fault; it writes none that is nearly so long.
const MAX_LINE: usize = 16 << 20;

/// Bytes of one read; most turns are shorter.
const READ: usize = 1 << 13;

/// Talks to a referee until `bye` or the end of input.
///
/// # Errors
/// Stdin or stdout that fails; a closed stdout is a quiet end.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        let output = args.output.get();
        if output.is_text() {
            super::unless_closed(io::stdout().write_all(list().as_bytes()))?;
        } else {
            output.bots()?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.name.as_deref().unwrap_or_default();
    let Some(house) = house::find(name) else {
        let known: Vec<&str> = HOUSES.iter().map(|house| house.facts().name).collect();
        return Ok(super::wrong_usage(format_args!(
            "there is no built-in bot {name:?}; there are {}",
            known.join(", ")
        )));
    };
    let begun = Instant::now();
    let clock = || u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let input = Inbox::new(Stdin, stdin_has_more);
    match converse(house, input, io::stdout().lock(), io::stderr(), &clock) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Fault::Io(error)) => {
            super::unless_closed(Err(error))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Fault::Referee(words)) => {
            // Nothing is left to tell it to if stderr is closed.
            let _ = writeln!(io::stderr(), "{name}: {words}");
            Ok(ExitCode::from(super::exit::USAGE))
        }
    }
}

/// The built-in bots as text.
fn list() -> String {
    let mut text = String::new();
    for house in HOUSES {
        let facts = house.facts();
        let games = match facts.games {
            Games::All => "every game".into(),
            Games::Listed => "every game that lists legal answers".into(),
            Games::Only(games) => games.join(", "),
        };
        let _ = writeln!(text, "{:<8} {}", facts.name, facts.summary);
        let _ = writeln!(text, "{:<8} plays {games}", "");
        for option in facts.options {
            let _ = writeln!(text, "{:<8} option {}: {}", "", option.name, option.meaning);
        }
    }
    text += "\nFrom the weakest to the strongest, as `hakem duel --game GAME builtin:...` takes them; in an event file\n`builtin = \"kuyu\"` and `options = { depth = 3 }`:\n";
    for ladder in LADDERS {
        let rungs: Vec<String> = ladder.rungs.iter().map(Rung::spelling).collect();
        let _ = writeln!(text, "{:<8} {}", ladder.game, rungs.join("  "));
    }
    text
}

/// Why a conversation ended early.
#[derive(Debug)]
enum Fault {
    /// A pipe failed.
    Io(io::Error),
    /// The referee wrote what it should not; what that is.
    Referee(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}

/// The lines of the referee, read ahead where a question may be withdrawn while its answer is thought about.
struct Inbox<R> {
    source: R,
    /// Whether a read would not wait.
    has_more: fn() -> bool,
    /// What was read; from `start` on it was not taken yet.
    buffer: Vec<u8>,
    start: usize,
    /// Up to here there is no line that withdraws the question being thought about.
    looked: usize,
    ended: bool,
}

impl<R: Read> Inbox<R> {
    fn new(source: R, has_more: fn() -> bool) -> Inbox<R> {
        Inbox {
            source,
            has_more,
            buffer: Vec::new(),
            start: 0,
            looked: 0,
            ended: false,
        }
    }

    /// Reads once.
    fn fill(&mut self) -> io::Result<()> {
        let old = self.buffer.len();
        self.buffer.resize(old + READ, 0);
        let read = loop {
            match self.source.read(&mut self.buffer[old..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(old + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(())
    }

    /// Moves the next line into `line`, without its end; false at the end of input.
    fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, Fault> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut searched = 0;
        let end = loop {
            let rest = &self.buffer[searched..];
            if let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                break searched + end;
            }
            searched = self.buffer.len();
            if self.ended || searched > MAX_LINE {
                break searched;
            }
            self.fill()?;
        };
        line.clear();
        line.extend_from_slice(&self.buffer[..end]);
        self.start = (end + 1).min(self.buffer.len());
        self.looked = self.start;
        Ok(!line.is_empty() || self.start > end)
    }

    /// Whether the turn of this id was withdrawn by what has come since.
    fn withdraws(&mut self, id: u64) -> io::Result<bool> {
        while !self.ended && self.buffer.len() < MAX_LINE && (self.has_more)() {
            self.fill()?;
        }
        while let Some(end) = self.buffer[self.looked..]
            .iter()
            .position(|&byte| byte == b'\n')
        {
            let line = &self.buffer[self.looked..self.looked + end];
            if let Ok(FromReferee::Stop::<Value>(stop)) = serde_json::from_slice(line)
                && stop.id == id
            {
                return Ok(true);
            }
            self.looked += end + 1;
        }
        Ok(false)
    }
}

/// Stdin without a buffer of its own: what waits in it is waited for by the system alone.
struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(io::stdin().as_fd(), buffer)?)
    }
}

fn stdin_has_more() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

fn converse<R: Read>(
    house: &dyn House,
    input: Inbox<R>,
    mut output: impl Write,
    mut log: impl Write,
    clock: &dyn Fn() -> u64,
) -> Result<(), Fault> {
    let mut session: Option<Hello> = None;
    let mut line = Vec::new();
    let input = RefCell::new(input);
    loop {
        if !input.borrow_mut().next(&mut line)? {
            return Ok(());
        }
        let message = match serde_json::from_slice(&line) {
            Ok(message) => message,
            Err(_) if is_unknown(&line) => continue,
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                let words = format!(
                    "not a message of the protocol: {}: {start:?}",
                    in_words(&error)
                );
                return Err(Fault::Referee(words));
            }
        };
        let answer = match message {
            FromReferee::Hello(hello) => {
                let ready = greet(house, &hello).map_err(Fault::Referee)?;
                session = Some(hello);
                FromBot::Ready(ready)
            }
            FromReferee::Turn(turn) => {
                let Some(hello) = &session else {
                    return Err(Fault::Referee("a turn came before hello".into()));
                };
                let table = Table {
                    game: &hello.game,
                    rules: &hello.rules,
                    options: &hello.options,
                    added_ms: hello
                        .clock
                        .increment_ms
                        .saturating_add(hello.clock.delay_ms),
                    clock,
                    // A broken pipe is found when it is read next.
                    withdrawn: &|| input.borrow_mut().withdraws(turn.id).unwrap_or(false),
                };
                let answer = house.answer(&table, &turn).map_err(Fault::Referee)?;
                if turn.ask == Ask::Race && input.borrow_mut().withdraws(turn.id)? {
                    continue;
                }
                FromBot::Move(answer)
            }
            FromReferee::Ping(ping) => FromBot::Pong(Pong { id: ping.id }),
            FromReferee::Error(error) => {
                // The log may be closed; the game goes on.
                let _ = writeln!(log, "{}: {}", error.code.as_str(), error.message);
                continue;
            }
            // What it withdraws was answered before it came, or was dropped.
            FromReferee::Stop(_)
            | FromReferee::Start(_)
            | FromReferee::Played(_)
            | FromReferee::End(_) => continue,
            FromReferee::Bye(_) => return Ok(()),
        };
        line.clear();
        serde_json::to_writer(&mut line, &answer).map_err(io::Error::from)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
}

/// Whether a line is a message of a type that this version does not know.
pub(super) fn is_unknown(line: &[u8]) -> bool {
    const KNOWN: [&str; 9] = [
        "hello", "start", "turn", "played", "ping", "stop", "error", "end", "bye",
    ];
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    message["type"]
        .as_str()
        .is_some_and(|kind| !KNOWN.contains(&kind))
}

/// The answer to `hello`.
fn greet(house: &dyn House, hello: &Hello) -> Result<Ready, String> {
    if hello.protocol != VERSION {
        return Err(format!(
            "the referee speaks version {} of the protocol, this bot version {VERSION}",
            hello.protocol
        ));
    }
    house::check(house, &hello.game, &hello.options)?;
    Ok(Ready {
        protocol: VERSION,
        name: Some(house.facts().name.into()),
        version: Some(env!("CARGO_PKG_VERSION").into()),
        author: Some("hakem".into()),
        ..Ready::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::game::qbitz::{Qbitz, QbitzOptions};
    use crate::game::{Drawn, Game, Setup};

    const HELLO: &str = r#"{"type":"hello","protocol":1,"referee":"hakem 0.1.0","game":"mangala","rules":{"sets":1},"clock":{"kind":"fair","main_ms":60000,"increment_ms":0,"move_ms":null,"delay_ms":0},"options":{}}"#;
    const START: &str = r#"{"type":"start","game_id":"r1.m1.g1","seat":1,"names":["a","b"],"first":1,"rules":{},"match":{"game":1,"score":[0,0]},"state":{}}"#;
    const TURN: &str = r#"{"type":"turn","id":3,"seat":1,"ask":"move","state":{"pits":[[4,4,4,4,4,4],[4,4,4,4,4,4]],"stores":[0,0],"turn":1},"legal":[1,2,3,4,5,6],"last":[],"clock":{"left_ms":[null,null],"limit_ms":null},"later":"field"}"#;

    /// What a bot writes to these lines: stdout as JSON, its log, and how it ends.
    fn conversation(name: &str, lines: &[&str]) -> (Vec<Value>, String, Result<(), Fault>) {
        let house = house::find(name).expect("a built-in bot");
        let (mut output, mut log) = (Vec::new(), Vec::new());
        let input = lines.join("\n") + "\n";
        let inbox = Inbox::new(input.as_bytes(), || true);
        let ended = converse(house, inbox, &mut output, &mut log, &|| 0);
        let output = String::from_utf8(output).expect("text");
        let written = output
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        (
            written.collect(),
            String::from_utf8(log).expect("text"),
            ended,
        )
    }

    #[test]
    fn every_message_gets_its_answer() {
        let plays_mangala =
            |house: &&&dyn House| house::check(**house, "mangala", &Map::new()).is_ok();
        for house in HOUSES.iter().filter(plays_mangala) {
            let name = house.facts().name;
            let (written, log, ended) = conversation(
                name,
                &[
                    HELLO,
                    r#"{"type":"ping","id":9}"#,
                    START,
                    TURN,
                    r#"{"type":"played","game_id":"r1.m1.g1","seat":0,"move":3}"#,
                    r#"{"type":"stop","id":3,"why":"time"}"#,
                    r#"{"type":"error","code":"illegal_move","id":3,"message":"pit 5 is empty","fatal":true}"#,
                    r#"{"type":"end","game_id":"r1.m1.g1","result":{"winner":0,"score":[1,0],"points":[0,0],"reason":"forfeit"},"state":{}}"#,
                    r#"{"type":"bye"}"#,
                    "what follows is not read",
                ],
            );
            assert!(ended.is_ok(), "{name}");
            assert_eq!(written.len(), 3, "{name}");
            assert_eq!(written[0]["type"], "ready");
            assert_eq!(
                (&written[0]["protocol"], &written[0]["name"]),
                (&json!(1), &json!(name))
            );
            assert_eq!(written[1], json!({"type": "pong", "id": 9}));
            assert_eq!(
                (&written[2]["type"], &written[2]["id"]),
                (&json!("move"), &json!(3))
            );
            assert!((1..=6).contains(&written[2]["move"].as_u64().expect("a pit")));
            assert_eq!(log, "illegal_move: pit 5 is empty\n");
        }
    }

    #[test]
    fn the_end_of_input_is_a_quiet_end() {
        assert!(conversation("kuyu", &[HELLO, TURN]).2.is_ok());
    }

    /// A turn of a race.
    fn race_turn(id: u64) -> String {
        let mut game = Qbitz::start(&QbitzOptions::default(), &Setup::SINGLE);
        game.chance(Drawn::Bytes([3; 32]));
        game.chance(Drawn::Bytes([4; 32]));
        json!({
            "type": "turn", "id": id, "seat": 0, "ask": "race", "state": serde_json::to_value(game.state()).expect("JSON"),
            "legal": [], "last": [], "clock": {"left_ms": [null, null], "limit_ms": 10000},
        })
        .to_string()
    }

    #[test]
    fn a_question_that_was_withdrawn_is_not_answered() {
        let hello = HELLO.replace("mangala", "qbitz").replace("\"sets\":1", "");
        let turns = [1, 2, 3, 4].map(race_turn);
        let (written, _, ended) = conversation(
            "yavas",
            &[
                hello
                    .replace("\"options\":{}", "\"options\":{\"work\":10}")
                    .as_str(),
                &turns[0],
                r#"{"type":"stop","id":1,"why":"claimed"}"#,
                &turns[1],
                &turns[2],
                // It is not the answer to this one that is withdrawn.
                r#"{"type":"stop","id":2,"why":"time"}"#,
                r#"{"type":"stop","id":3,"why":"claimed"}"#,
                &turns[3],
                r#"{"type":"bye"}"#,
            ],
        );
        assert!(ended.is_ok());
        let ids: Vec<&Value> = written[1..].iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(4)]);
        assert!(written[1]["move"]["qbitz"].is_array());
    }

    #[test]
    fn a_turn_of_a_race_is_answered_when_nothing_follows() {
        let hello = HELLO.replace("mangala", "qbitz").replace("\"sets\":1", "");
        let (written, _, ended) = conversation("hizli", &[&hello, &race_turn(7)]);
        assert!(ended.is_ok());
        assert_eq!(written[1]["id"], 7);
    }

    #[test]
    fn lines_may_come_in_any_pieces() {
        struct Pieces(&'static [u8]);
        impl Read for Pieces {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let (piece, rest) = self.0.split_at(self.0.len().min(3));
                self.0 = rest;
                buffer[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
        }
        for has_more in [|| false, || true] {
            let mut inbox = Inbox::new(Pieces(b"one\n\nthree is longer\nlast"), has_more);
            let mut lines = Vec::new();
            let mut line = Vec::new();
            while inbox.next(&mut line).expect("memory can be read") {
                lines.push(String::from_utf8(line.clone()).expect("text"));
                assert!(!inbox.withdraws(1).expect("memory can be read"));
            }
            assert_eq!(lines, ["one", "", "three is longer", "last"]);
        }
    }

    #[test]
    fn what_the_referee_should_not_write_is_told() {
        let other_game = HELLO.replace("mangala", "tavla");
        let other_version = HELLO.replace("\"protocol\":1", "\"protocol\":2");
        let option = HELLO.replace("\"options\":{}", "\"options\":{\"deep\":1}");
        let no_state = TURN.replace("\"pits\"", "\"pots\"");
        for (lines, words) in [
            (vec!["{"], "not a message"),
            (vec![r#"{"type":7}"#], "not a message"),
            (vec![r#"{"type":"hullo"}"#, TURN], "before hello"),
            (vec![TURN], "before hello"),
            (vec![other_game.as_str()], "not tavla"),
            (vec![other_version.as_str()], "version 2"),
            (vec![option.as_str()], "deep"),
            (vec![HELLO, no_state.as_str()], "pits"),
        ] {
            match conversation("kuyu", &lines).2 {
                Err(Fault::Referee(told)) => assert!(told.contains(words), "{told}"),
                other => panic!("{lines:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_list_names_every_bot() {
        let list = list();
        for house in HOUSES {
            assert!(list.contains(house.facts().summary));
        }
    }
}
