//! Reversi engines that speak the NBoard protocol (version 2). Every question carries the whole position, so nothing
//! depends on what the engine was asked before.

use hakem_protocol::{Hello, Ready, Turn};
use serde_json::{Map, Value, json};

use super::discs::{ggf, read_square};
use super::engine::Engine;
use super::session::{Adapter, Fault, position, update};
use crate::game::Game;
use crate::game::reversi::Reversi;

const NAME: &str = "nboard";

/// The depth where none is given; the protocol wants one.
const DEPTH: u8 = 8;

/// An engine that speaks the NBoard protocol plays Reversi: hakem adapter nboard --depth 6 -- ENGINE ARGUMENTS...
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The depth of its search in the middle game; its only limit, as the protocol has no clock [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=60))]
    depth: Option<u8>,
    /// The engine's command line
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The adapter.
#[derive(Debug)]
pub(super) struct Nboard {
    args: Args,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    rules: Map<String, Value>,
    /// Each side's time for the game, seconds.
    seconds: Option<u64>,
    /// The pings sent.
    pings: u64,
    name: Option<String>,
    engine: Engine,
}

impl Nboard {
    pub(super) fn new(args: Args) -> Nboard {
        Nboard {
            args,
            session: None,
        }
    }
}

impl Adapter for Nboard {
    fn name(&self) -> &'static str {
        NAME
    }

    fn game(&self) -> &'static str {
        Reversi::FACTS.name
    }

    fn set(&mut self, options: &Map<String, Value>) -> Result<(), Fault> {
        update(&mut self.args, NAME, options)
    }

    fn open(&mut self, hello: &Hello) -> Result<Ready, Fault> {
        let engine = Engine::start(NAME, &self.args.command)?;
        let mut session = Session {
            rules: hello.rules.clone(),
            seconds: hello.clock.main_ms.map(|main| main / 1000),
            pings: 0,
            name: None,
            engine,
        };
        session.engine.say("nboard 2")?;
        let depth = self.args.depth.unwrap_or(DEPTH);
        session.engine.say(&format!("set depth {depth}"))?;
        session.ping()?;
        let ready = Ready {
            name: session.name.clone(),
            ..Ready::default()
        };
        self.session = Some(session);
        Ok(ready)
    }

    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        let Some(session) = &mut self.session else {
            return Err(Fault::Referee("a turn came before hello".into()));
        };
        let game: Reversi = position(&session.rules, turn)?;
        let mut names = ["them"; 2];
        names[turn.seat & 1] = "me";
        let question = ggf(&game, turn.seat, names, session.seconds);
        session.engine.say(&format!("set game {question}"))?;
        session.ping()?;
        session.engine.say("go")?;
        loop {
            let line = session.engine.line("a move")?;
            let Some(answer) = line.strip_prefix("===") else {
                continue;
            };
            return match read_square(answer.trim_start()) {
                Some(square) => Ok(json!(square)),
                None => Err(Fault::Engine(format!(
                    "{NAME}: the engine answers {answer:?} to {question:?}, where it can move"
                ))),
            };
        }
    }
}

impl Session {
    /// Waits until the engine has done all that it was told; what it says meanwhile is but talk.
    fn ping(&mut self) -> Result<(), Fault> {
        self.pings += 1;
        self.engine.say(&format!("ping {}", self.pings))?;
        let pong = format!("pong {}", self.pings);
        loop {
            let line = self.engine.line("a pong")?;
            self.engine.no_echo(&line, "NBoard's protocol")?;
            if line == pong {
                return Ok(());
            }
            if let Some(name) = line.strip_prefix("set myname ") {
                self.name = Some(name.trim().to_owned());
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.engine.quit("quit");
    }
}
