//! The conversation with the referee, the same for every adapter.

use std::io::{self, BufRead, Write};

use clap::{ArgMatches, FromArgMatches};
use hakem_protocol::{FromBot, FromReferee, Hello, Move, Pong, Ready, Start, Turn, VERSION};
use serde_json::{Map, Value};

use crate::game::{Game, ToAct};
use crate::strict::in_words;

/// A line of the referee that is longer is a fault; it writes none that is nearly so long.
const MAX_LINE: u64 = 16 << 20;

/// Why a conversation ended early.
#[derive(Debug)]
pub(super) enum Fault {
    /// A pipe to the referee failed.
    Io(io::Error),
    /// The engine is missing, or cannot play what `hello` asks for: what would be right.
    Refused(String),
    /// The engine failed: how.
    Engine(String),
    /// The referee wrote what it should not: what that is.
    Referee(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}

/// One kind of engine.
pub(super) trait Adapter {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// The game that it plays.
    fn game(&self) -> &'static str;

    /// Takes the options that the event gives to this bot, like arguments of the command line.
    ///
    /// # Errors
    /// [`Fault::Refused`] for those that there are not.
    fn set(&mut self, options: &Map<String, Value>) -> Result<(), Fault>;

    /// Starts the engine for a session.
    ///
    /// # Errors
    /// [`Fault::Refused`] for rules that it does not know and an engine that is missing.
    fn open(&mut self, hello: &Hello) -> Result<Ready, Fault>;

    /// A game begins.
    ///
    /// # Errors
    /// A position that the engine cannot be told.
    fn begin(&mut self, _start: &Start) -> Result<(), Fault> {
        Ok(())
    }

    /// Answers a turn; whether the answer is legal is checked by the caller.
    ///
    /// # Errors
    /// What the engine did not do.
    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault>;
}

/// Talks to the referee until `bye` or the end of input.
pub(super) fn converse(
    adapter: &mut dyn Adapter,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), Fault> {
    let mut session: Option<Hello> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = io::Read::take(&mut input, MAX_LINE);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let message = match serde_json::from_slice::<FromReferee>(&line) {
            Ok(message) => message,
            Err(_) if crate::cli::bot::is_unknown(&line) => continue,
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                return Err(Fault::Referee(format!(
                    "not a message of the protocol: {}: {start:?}",
                    in_words(&error)
                )));
            }
        };
        let answer = match message {
            FromReferee::Hello(hello) => {
                let ready = greet(adapter, &hello)?;
                session = Some(hello);
                FromBot::Ready(ready)
            }
            FromReferee::Start(start) => {
                adapter.begin(&start)?;
                continue;
            }
            FromReferee::Turn(turn) => {
                let Some(hello) = &session else {
                    return Err(Fault::Referee("a turn came before hello".into()));
                };
                let mv = adapter.answer(&turn)?;
                check(adapter, hello, &turn, &mv)?;
                FromBot::Move(Move {
                    id: turn.id,
                    mv,
                    note: None,
                    eval: None,
                })
            }
            FromReferee::Ping(ping) => FromBot::Pong(Pong { id: ping.id }),
            FromReferee::Error(error) => {
                crate::cli::say(format_args!(
                    "{}: {}: {}",
                    adapter.name(),
                    error.code.as_str(),
                    crate::cli::shown(&error.message)
                ));
                continue;
            }
            FromReferee::Stop(_) | FromReferee::Played(_) | FromReferee::End(_) => continue,
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
fn greet(adapter: &mut dyn Adapter, hello: &Hello) -> Result<Ready, Fault> {
    if hello.protocol != VERSION {
        return Err(Fault::Referee(format!(
            "the referee speaks version {} of the protocol, this bot version {VERSION}",
            hello.protocol
        )));
    }
    if hello.game != adapter.game() {
        return Err(Fault::Refused(format!(
            "the adapter {} plays {}, not {}",
            adapter.name(),
            adapter.game(),
            hello.game
        )));
    }
    adapter.set(&hello.options)?;
    adapter.open(hello)
}

/// Holds an answer to the rules, so that an engine is never made to play what it did not mean.
fn check(adapter: &dyn Adapter, hello: &Hello, turn: &Turn, mv: &Value) -> Result<(), Fault> {
    let rules = crate::game::find(&hello.game)
        .and_then(|kind| kind.rules(&hello.rules).ok())
        .ok_or_else(|| Fault::Referee("the rules of `hello` cannot be".into()))?;
    let mut position = rules.read(&turn.state).map_err(Fault::Referee)?;
    position.play(mv, &mut Vec::new()).map_err(|refusal| {
        Fault::Engine(format!(
            "{}: the engine answers {mv}, which is not legal: {refusal}; the position is {}",
            adapter.name(),
            turn.state
        ))
    })
}

/// The position of a turn, as a typed game.
pub(super) fn position<G: Game>(rules: &Map<String, Value>, turn: &Turn) -> Result<G, Fault> {
    let options = serde_json::from_value(Value::Object(rules.clone()))
        .map_err(|error| Fault::Referee(format!("the rules of `hello`: {error}")))?;
    let game = G::read(&options, &turn.state).map_err(Fault::Referee)?;
    if game.to_act() == ToAct::Seat(turn.seat, turn.ask) {
        Ok(game)
    } else {
        Err(Fault::Referee(format!(
            "turn {} asks seat {} `{}`, but its state does not",
            turn.id,
            turn.seat,
            turn.ask.as_str()
        )))
    }
}

/// Reads options of an event as if they stood on the command line: `{"level":"expert"}` like `--level expert`.
///
/// # Errors
/// [`Fault::Refused`] with the words for a wrong argument.
pub(super) fn update<A: clap::Args + FromArgMatches>(
    args: &mut A,
    name: &'static str,
    options: &Map<String, Value>,
) -> Result<(), Fault> {
    let refused = |error: clap::Error| {
        let text = error.to_string();
        let told: Vec<&str> = text
            .lines()
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        let told = told.join(" ");
        let told = told.strip_prefix("error: ").unwrap_or(&told);
        Fault::Refused(format!("{name}: an option of the bot: {told}"))
    };
    let words = options.iter().map(|(key, value)| match value {
        Value::String(text) => format!("--{key}={text}"),
        other => format!("--{key}={other}"),
    });
    let command = clap::Command::new(name)
        .no_binary_name(true)
        .disable_help_flag(true);
    let mut matches: ArgMatches = A::augment_args_for_update(command)
        .try_get_matches_from(words)
        .map_err(refused)?;
    args.update_from_arg_matches_mut(&mut matches)
        .map_err(refused)
}
