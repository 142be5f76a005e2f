//! Backgammon engines that speak UBGI, the Universal Backgammon Interface, in either of its two forms.
//!
//! The draft (0.01): the handshake ends with `readyok`; a line is a position, XGID or FIBS board, and the line that answers
//! it is the action. The form of later engines: the handshake ends with `ubgiok`; `position gnubgid ID`, `dice 3 1` and
//! `go role chequer` are answered by `bestmove PLAY`, and nothing is asked about the cube.

use hakem_protocol::{Ask, Hello, Ready, Turn};
use serde_json::{Map, Value, json};

use super::checkers::{fibs_board, position_id, read_play, score_of, xgid};
use super::engine::Engine;
use super::session::{Adapter, Fault, position, update};
use crate::game::Game;
use crate::game::tavla::{OFF, Tavla, TavlaOptions};

const NAME: &str = "ubgi";

/// An engine that speaks UBGI plays Tavla: hakem adapter ubgi -- ENGINE ARGUMENTS...
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// How positions are written for an engine of the draft; XGID says more [default: xgid]
    #[arg(long, value_enum)]
    board: Option<Board>,
    /// The engine's command line
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A way to write positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Board {
    Xgid,
    Fibs,
}

/// The adapter.
#[derive(Debug)]
pub(super) struct Ubgi {
    args: Args,
    session: Option<Session>,
}

/// The two forms of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Draft(Board),
    Commands,
}

#[derive(Debug)]
struct Session {
    rules: Map<String, Value>,
    options: TavlaOptions,
    form: Form,
    engine: Engine,
}

impl Ubgi {
    pub(super) fn new(args: Args) -> Ubgi {
        Ubgi {
            args,
            session: None,
        }
    }
}

impl Adapter for Ubgi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn game(&self) -> &'static str {
        Tavla::FACTS.name
    }

    fn set(&mut self, options: &Map<String, Value>) -> Result<(), Fault> {
        update(&mut self.args, NAME, options)
    }

    fn open(&mut self, hello: &Hello) -> Result<Ready, Fault> {
        let options: TavlaOptions = serde_json::from_value(Value::Object(hello.rules.clone()))
            .map_err(|error| Fault::Referee(format!("the rules of `hello`: {error}")))?;
        let mut engine = Engine::start(NAME, &self.args.command)?;
        engine.say("ubgi")?;
        let mut ready = Ready::default();
        let form = loop {
            let line = engine.line("its name and `readyok`")?;
            engine.no_echo(&line, "UBGI")?;
            match line.as_str() {
                "readyok" => break Form::Draft(self.args.board.unwrap_or(Board::Xgid)),
                "ubgiok" => break Form::Commands,
                "sorry" => return Err(Fault::Engine(format!("{NAME}: the engine is sorry"))),
                other => {
                    if let Some(name) = other.strip_prefix("id name ") {
                        ready.name = Some(name.to_owned());
                    } else if let Some(author) = other.strip_prefix("id author ") {
                        ready.author = Some(author.to_owned());
                    } else if let Some(version) = other.strip_prefix("id version ") {
                        ready.version = Some(version.to_owned());
                    }
                }
            }
        };
        if form == Form::Commands && options.cube {
            return Err(Fault::Refused(
                "ubgi: an engine of this form of UBGI is not asked about the cube; set `cube = false` in [rules]".into(),
            ));
        }
        if form == Form::Draft(Board::Fibs) && options.match_length == 0 && options.beavers {
            return Err(Fault::Refused(
                "ubgi: a FIBS board knows no beavers; set `beavers = false` in [rules], or use --board xgid".into(),
            ));
        }
        self.session = Some(Session {
            rules: hello.rules.clone(),
            options,
            form,
            engine,
        });
        Ok(ready)
    }

    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        let Some(session) = &mut self.session else {
            return Err(Fault::Referee("a turn came before hello".into()));
        };
        let game: Tavla = position(&session.rules, turn)?;
        if turn.ask == Ask::Resign {
            return Ok(json!(resignation(&game)));
        }
        match session.form {
            Form::Draft(board) => session.ask(&game, turn, board),
            Form::Commands => session.best_move(&game, turn),
        }
    }
}

impl Session {
    /// Asks an engine of the draft.
    fn ask(&mut self, game: &Tavla, turn: &Turn, board: Board) -> Result<Value, Fault> {
        let question = match board {
            Board::Xgid => xgid(
                game,
                turn.seat,
                game.highest_cube(),
                game.is_jacoby(),
                self.options.beavers,
            ),
            Board::Fibs => {
                let dice = game.roll_to_play().unwrap_or_default();
                fibs_board(
                    game,
                    turn.seat,
                    dice,
                    score_of(game, turn.seat),
                    turn.ask == Ask::Take,
                )
            }
        };
        self.engine.say(&question)?;
        let answer = loop {
            let line = self.engine.line(&format!("an action in {question:?}"))?;
            if line != "readyok" && !line.starts_with("info ") {
                break line;
            }
        };
        match (turn.ask, answer.as_str()) {
            (Ask::Cube, word @ ("roll" | "double")) | (Ask::Take, word @ "take") => Ok(json!(word)),
            (Ask::Take, "beaver") => Ok(json!("beaver")),
            (Ask::Take, "drop") => Ok(json!("pass")),
            (Ask::Move, text) => match read_play(text) {
                Ok(play) => Ok(json!(play)),
                Err(why) => Err(Fault::Engine(format!("{NAME}: {why}, asked {question:?}"))),
            },
            _ => Err(Fault::Engine(format!(
                "{NAME}: the engine answers {answer:?} to {question:?}"
            ))),
        }
    }

    /// Asks an engine of the other form for a play; a game with a cube was refused.
    fn best_move(&mut self, game: &Tavla, turn: &Turn) -> Result<Value, Fault> {
        let Some([first, second]) = game.roll_to_play() else {
            return Err(Fault::Referee(
                "a cube is asked about in a game without".into(),
            ));
        };
        let [own, other] = [turn.seat, 1 - turn.seat];
        let kind = if game.length() == 0 {
            format!(
                "money jacoby {}",
                if game.is_jacoby() { "on" } else { "off" }
            )
        } else {
            let crawford = if game.is_crawford() { "on" } else { "off" };
            format!("match length {} crawford {crawford}", game.length())
        };
        for line in [
            format!("newsession type {kind}"),
            format!("setscore {} {}", game.score()[own], game.score()[other]),
            "setcube value 1 owner center".to_owned(),
            "setturn p0".to_owned(),
            "isready".to_owned(),
        ] {
            self.engine.say(&line)?;
        }
        // Commands that an engine need not know are refused by some.
        while self.engine.line("`readyok`")? != "readyok" {}
        let id = position_id(game, turn.seat);
        for line in [
            format!("position gnubgid {id}"),
            format!("dice {first} {second}"),
            "go role chequer".to_owned(),
        ] {
            self.engine.say(&line)?;
        }
        loop {
            let line = self.engine.line("`bestmove`")?;
            if line.starts_with("error ") {
                return Err(Fault::Engine(format!(
                    "{NAME}: the engine answers {line:?} to the position {id} with {first}-{second}"
                )));
            }
            if let Some(text) = line.strip_prefix("bestmove ") {
                return read_play(text)
                    .map(|play| json!(play))
                    .map_err(|why| Fault::Engine(format!("{NAME}: {why}")));
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.engine.quit("quit");
    }
}

/// The answer to a resignation, which UBGI does not know: accepted if the game cannot be won higher.
fn resignation(game: &Tavla) -> &'static str {
    let Some((by, times)) = game.resignation() else {
        return "refuse";
    };
    let is_turned = game.cube().owner.is_some();
    let most = if game.checkers(by)[OFF] > 0 || game.is_jacoby() && !is_turned {
        1
    } else {
        3
    };
    if times >= most { "accept" } else { "refuse" }
}
