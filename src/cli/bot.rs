//! `hakem bot`: a built-in bot on stdin and stdout.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::time::Instant;

use hakem_protocol::{FromBot, FromReferee, Hello, Pong, Ready, VERSION};

use crate::house::{self, Games, HOUSES, House, Table};

/// Run a built-in bot on stdin and stdout
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bot
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub name: Option<String>,
    /// List the built-in bots, what they play and their options
    #[arg(long)]
    pub list: bool,
}

/// A line of the referee that is longer is a fault; it writes none that is nearly so long.
const MAX_LINE: u64 = 16 << 20;

/// Talks to a referee until `bye` or the end of input.
///
/// # Errors
/// Stdin or stdout that fails; a closed stdout is a quiet end.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        super::unless_closed(io::stdout().write_all(list().as_bytes()))?;
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
    let input = BufReader::new(io::stdin().lock());
    match converse(house, input, io::stdout().lock(), io::stderr(), &clock) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Fault::Io(error)) => {
            super::unless_closed(Err(error))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Fault::Referee(words)) => {
            // Nothing is left to tell it to if stderr is closed.
            let _ = writeln!(io::stderr(), "{name}: {words}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The built-in bots as text.
fn list() -> String {
    let mut text = String::new();
    for house in HOUSES {
        let facts = house.facts();
        let games = match facts.games {
            Games::Listed => "every game that lists legal answers".into(),
            Games::Only(games) => games.join(", "),
        };
        let _ = writeln!(text, "{:<8} {}", facts.name, facts.summary);
        let _ = writeln!(text, "{:<8} plays {games}", "");
        for option in facts.options {
            let _ = writeln!(text, "{:<8} option {}: {}", "", option.name, option.meaning);
        }
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

fn converse(
    house: &dyn House,
    mut input: impl BufRead,
    mut output: impl Write,
    mut log: impl Write,
    clock: &dyn Fn() -> u64,
) -> Result<(), Fault> {
    let mut session: Option<Hello> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let message = serde_json::from_slice(&line).map_err(|error| {
            let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            Fault::Referee(format!("not a message of the protocol: {error}: {start:?}"))
        })?;
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
                    clock,
                };
                FromBot::Move(house.answer(&table, &turn).map_err(Fault::Referee)?)
            }
            FromReferee::Ping(ping) => FromBot::Pong(Pong { id: ping.id }),
            FromReferee::Error(error) => {
                // The log may be closed; the game goes on.
                let _ = writeln!(log, "{}: {}", error.code.as_str(), error.message);
                continue;
            }
            // An answer is sent before the next line is read, so there is never one to withdraw.
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
        legal: true,
        history: false,
        events: false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    const HELLO: &str = r#"{"type":"hello","protocol":1,"referee":"hakem 0.1.0","game":"mangala","rules":{"sets":1},"clock":{"kind":"fair","main_ms":60000,"increment_ms":0,"move_ms":null,"delay_ms":0},"options":{}}"#;
    const START: &str = r#"{"type":"start","game_id":"r1.m1.g1","seat":1,"names":["a","b"],"first":1,"rules":{},"match":{"game":1,"score":[0,0]},"state":{}}"#;
    const TURN: &str = r#"{"type":"turn","id":3,"seat":1,"ask":"move","state":{"pits":[[4,4,4,4,4,4],[4,4,4,4,4,4]],"stores":[0,0],"turn":1},"legal":[1,2,3,4,5,6],"last":[],"clock":{"left_ms":[null,null],"limit_ms":null},"later":"field"}"#;

    /// What a bot writes to these lines: stdout as JSON, its log, and how it ends.
    fn conversation(name: &str, lines: &[&str]) -> (Vec<Value>, String, Result<(), Fault>) {
        let house = house::find(name).expect("a built-in bot");
        let (mut output, mut log) = (Vec::new(), Vec::new());
        let input = lines.join("\n") + "\n";
        let ended = converse(house, input.as_bytes(), &mut output, &mut log, &|| 0);
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

    #[test]
    fn what_the_referee_should_not_write_is_told() {
        let other_game = HELLO.replace("mangala", "tavla");
        let other_version = HELLO.replace("\"protocol\":1", "\"protocol\":2");
        let option = HELLO.replace("\"options\":{}", "\"options\":{\"deep\":1}");
        let no_state = TURN.replace("\"pits\"", "\"pots\"");
        for (lines, words) in [
            (vec!["{"], "not a message"),
            (vec![r#"{"type":"hullo"}"#], "unknown variant"),
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
