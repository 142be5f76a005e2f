//! GNU Backgammon through its external interface: a socket on which it answers a FIBS board with what it would do.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use hakem_protocol::{Ask, Hello, Ready, Turn};
use serde_json::{Map, Value, json};

use super::checkers::{fibs_board, read_play, score_of};
use super::engine::Engine;
use super::session::{Adapter, Fault, position, update};
use crate::game::tavla::{Stage, Tavla, TavlaOptions};
use crate::game::{Game, Seat};

const NAME: &str = "gnubg";

/// GNU Backgammon (gnubg) plays Tavla, the cube included
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// How strong it plays; expert looks no ply ahead and is fast, world-class looks two ahead [default: expert]
    #[arg(long, value_enum)]
    level: Option<Level>,
    /// The plies that it looks ahead, in place of the level's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=4))]
    plies: Option<u8>,
    /// The noise added to its evaluations, in place of the level's; it is computed from the position, so that the same
    /// question gets the same answer
    #[arg(long, value_name = "X", value_parser = noise)]
    noise: Option<f64>,
    /// The program [default: gnubg on the search path, else /usr/games/gnubg]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// The levels of GNU Backgammon of these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    Beginner,
    Casual,
    Intermediate,
    Advanced,
    Expert,
    WorldClass,
}

impl Level {
    /// Plies and noise.
    fn settings(self) -> (u8, f64) {
        match self {
            Level::Beginner => (0, 0.060),
            Level::Casual => (0, 0.050),
            Level::Intermediate => (0, 0.040),
            Level::Advanced => (0, 0.015),
            Level::Expert => (0, 0.0),
            Level::WorldClass => (2, 0.0),
        }
    }
}

fn noise(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.parse();
    number
        .ok()
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "a number from 0 to 1 is right".to_owned())
}

/// The adapter.
#[derive(Debug)]
pub(super) struct Gnubg {
    args: Args,
    session: Option<Session>,
}

/// A running engine and what it plays by.
#[derive(Debug)]
struct Session {
    rules: Map<String, Value>,
    options: TavlaOptions,
    plies: u8,
    reading: Reading,
    /// Ended before the connection is closed, at which it would complain.
    engine: Engine,
    /// The connection, its reading end buffered.
    answers: BufReader<UnixStream>,
}

/// How the program reads a board; versions differ.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    /// A double that waits is read as the doubler sees it.
    doubler_sees: bool,
    /// The points of the other side are read first.
    other_first: bool,
    /// The same while a double waits.
    other_first_in_double: bool,
}

impl Gnubg {
    pub(super) fn new(args: Args) -> Gnubg {
        Gnubg {
            args,
            session: None,
        }
    }

    fn program(&self) -> Result<PathBuf, Fault> {
        let here = std::env::current_dir()
            .map_err(|error| Fault::Engine(format!("the current folder is gone: {error}")))?;
        let resolve = |program: &str| crate::config::resolve_program(program, &here);
        let Some(program) = &self.args.program else {
            return resolve("gnubg")
                .or_else(|_| resolve("/usr/games/gnubg"))
                .map_err(|_| {
                    Fault::Refused(
                    "gnubg: GNU Backgammon is not installed (`apt-get install gnubg` on Debian); \
                     or name the program with --program"
                        .into(),
                )
                });
        };
        resolve(&program.to_string_lossy()).map_err(|why| Fault::Refused(format!("{NAME}: {why}")))
    }
}

impl Adapter for Gnubg {
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
        if options.match_length == 0 && options.beavers && options.raccoons {
            return Err(Fault::Refused(
                "gnubg: its interface knows no raccoons; set `raccoons = false` in [rules]".into(),
            ));
        }
        let level = self.args.level.unwrap_or(Level::Expert);
        let (plies, noise) = level.settings();
        let plies = self.args.plies.unwrap_or(plies);
        let noise = self.args.noise.unwrap_or(noise);
        let settings = settings(&options, plies, noise);
        let (engine, stream) = launch(&self.program()?, &settings)?;
        let mut session = Session {
            rules: hello.rules.clone(),
            options,
            plies,
            answers: BufReader::new(stream),
            reading: Reading::default(),
            engine,
        };
        let version = session.version()?;
        session.calibrate()?;
        self.session = Some(session);
        Ok(Ready {
            name: Some(format!("GNU Backgammon, {plies}-ply")),
            version: Some(version),
            author: Some("the GNU Backgammon authors".into()),
            deterministic: true,
            ..Ready::default()
        })
    }

    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        match &mut self.session {
            Some(session) => session.answer(turn),
            None => Err(Fault::Referee("a turn came before hello".into())),
        }
    }
}

/// The commands that make it play by these rules and at this strength.
fn settings(options: &TavlaOptions, plies: u8, noise: f64) -> Vec<String> {
    let mut lines = vec![
        "set threads 1".to_owned(),
        format!("set beavers {}", u8::from(options.beavers)),
        format!("set jacoby {}", on_off(options.jacoby)),
    ];
    for what in ["chequerplay", "cubedecision"] {
        let evaluation = format!("set evaluation {what} evaluation");
        lines.extend([
            format!("{evaluation} plies {plies}"),
            // Without a cube its value to either side must not be counted.
            format!("{evaluation} cubeful {}", on_off(options.cube)),
            format!("{evaluation} noise {noise:.4}"),
            format!("{evaluation} deterministic on"),
        ]);
    }
    lines
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Starts the program with these settings, and connects to it.
fn launch(program: &Path, settings: &[String]) -> Result<(Engine, UnixStream), Fault> {
    let failed =
        |what: &str, error: std::io::Error| Fault::Engine(format!("{NAME}: {what}: {error}"));
    let folder = tempfile::Builder::new()
        .prefix("hakem-gnubg-")
        .tempdir()
        .map_err(|error| failed("no folder for its socket", error))?;
    let socket = folder.path().join("socket");
    let mut command = Command::new(program);
    command
        .args(["--tty", "--quiet", "--no-rc"])
        // Nobody's settings, and words in English.
        .env("HOME", folder.path())
        .env("LC_ALL", "C");
    let mut engine = Engine::spawn(NAME, command)?;
    for line in settings {
        engine.say(line)?;
    }
    engine.say(&format!("external {}", socket.display()))?;
    let mut last = String::new();
    loop {
        match engine.line("its socket") {
            Ok(line) if line.starts_with("Waiting for a connection") => break,
            Ok(line) if line.is_empty() => {}
            Ok(line) => last = line,
            Err(Fault::Engine(words)) => {
                return Err(Fault::Engine(format!("{words}; it said last: {last:?}")));
            }
            Err(other) => return Err(other),
        }
    }
    let stream = UnixStream::connect(&socket)
        .map_err(|error| failed("its socket cannot be connected to", error))?;
    // Without the folder it cannot listen again: once the connection is closed it comes to the end of its stdin.
    drop(folder);
    Ok((engine, stream))
}

impl Session {
    /// Writes a line and reads the line that answers it.
    fn ask(&mut self, line: &str) -> Result<String, Fault> {
        let answer = self.exchange(line)?;
        if answer.starts_with("Error") {
            return Err(Fault::Engine(format!("{NAME}: {answer:?} to {line:?}")));
        }
        Ok(answer)
    }

    fn exchange(&mut self, line: &str) -> Result<String, Fault> {
        let written = self
            .answers
            .get_mut()
            .write_all(format!("{line}\n").as_bytes());
        let mut answer = String::new();
        let read = written.and_then(|()| self.answers.read_line(&mut answer));
        match read {
            Ok(1..) if answer.ends_with('\n') => Ok(answer.trim().to_owned()),
            Ok(_) | Err(_) => Err(self.engine.gone(&format!("when it was asked {line:?}"))),
        }
    }

    /// The program's version.
    fn version(&mut self) -> Result<String, Fault> {
        let mut line = self.ask("version")?;
        // Interface, board format, engine and program, a line each.
        while !line.starts_with("Software:") {
            line.clear();
            match self.answers.read_line(&mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => {
                    return Err(self.engine.gone("when it was asked for its version"));
                }
            }
        }
        Ok(line.trim_start_matches("Software:").trim().to_owned())
    }

    /// Finds out how it reads a board, by questions with but one answer.
    fn calibrate(&mut self) -> Result<(), Fault> {
        // Two checkers from the end against none at home: a double of this side is dropped, one of the other is not.
        let sure = probe(&[(1, 2), (12, -10), (13, -5)], [0, 0], 0, true);
        self.reading.doubler_sees = self.is_dropped(&sure)?;
        // It wins with the next throw: at 1-2 to 3 that makes the match even, at 2-1 it wins it.
        let won = probe(&[(1, 1), (24, -2)], [1, 2], 3, false);
        self.reading.other_first = self.equity(&won, 0)? > 0.75;
        // The doubler, at one point, wins four times of five: the other, at two, drops; at 2-1 the match would be lost by that.
        let (points, score): (&[_], _) = if self.reading.doubler_sees {
            (&[(4, 1), (1, 1), (24, -2)], [1, 2])
        } else {
            (&[(1, 2), (21, -1), (24, -1)], [2, 1])
        };
        let likely = probe(points, score, 3, true);
        self.reading.other_first_in_double = !self.is_dropped(&likely)?;
        Ok(())
    }

    /// Whether it drops the double on this board.
    fn is_dropped(&mut self, board: &str) -> Result<bool, Fault> {
        match self.ask(&format!("{board} jacobyrule on"))?.as_str() {
            "drop" => Ok(true),
            "take" | "beaver" => Ok(false),
            other => Err(unknown(other, board)),
        }
    }

    /// What the side on turn gets on average: in money play times the cube, in a match its chance to win it.
    fn equity(&mut self, board: &str, plies: u8) -> Result<f64, Fault> {
        let question = format!("evaluation fibsboard {board} plies {plies} cubeful");
        let answer = self.ask(&question)?;
        // Five chances stand before it.
        let number = answer.split_whitespace().nth(5);
        number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| unknown(&answer, &question))
    }

    /// A board with the rules of the session.
    fn board(&self, game: &Tavla, seat: Seat, dice: [u8; 2], doubled: bool) -> String {
        let mut score = score_of(game, seat);
        let swaps = if doubled {
            self.reading.other_first_in_double
        } else {
            self.reading.other_first
        };
        if swaps {
            score.reverse();
        }
        format!(
            "{} jacobyrule {} crawfordrule {}",
            fibs_board(game, seat, dice, score, doubled),
            on_off(game.is_jacoby()),
            on_off(self.options.crawford),
        )
    }

    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        let game: Tavla = position(&self.rules, turn)?;
        let seat = turn.seat;
        match turn.ask {
            Ask::Move => {
                let dice = game.roll_to_play().unwrap_or_default();
                let answer = self.ask(&self.board(&game, seat, dice, false))?;
                let play =
                    read_play(&answer).map_err(|why| Fault::Engine(format!("{NAME}: {why}")))?;
                Ok(json!(play))
            }
            // In its own games it never turns a cube that can gain it nothing; asked, it may say so.
            Ask::Cube if is_dead(&game, seat) => Ok(json!("roll")),
            Ask::Cube => {
                let board = self.board(&game, seat, [0, 0], false);
                match self.ask(&board)?.as_str() {
                    word @ ("roll" | "double") => Ok(json!(word)),
                    other => Err(unknown(other, &board)),
                }
            }
            Ask::Take => self.take(turn, &game),
            Ask::Resign => self.resignation(&game),
            Ask::Race => Err(Fault::Referee("a race is asked".into())),
        }
    }

    fn take(&mut self, turn: &Turn, game: &Tavla) -> Result<Value, Fault> {
        let Some(offer) = game.cube().offer else {
            return Err(Fault::Referee("no double waits".into()));
        };
        if offer.stage != Stage::Double {
            return self.beavered(game, offer.doubler);
        }
        let seer = if self.reading.doubler_sees {
            offer.doubler
        } else {
            turn.seat
        };
        let board = self.board(game, seer, [0, 0], true);
        let may_beaver = turn.legal.as_ref().is_some_and(|legal| {
            legal
                .as_array()
                .is_some_and(|legal| legal.contains(&json!("beaver")))
        });
        match self.ask(&board)?.as_str() {
            "beaver" if may_beaver => Ok(json!("beaver")),
            "take" | "beaver" => Ok(json!("take")),
            "drop" => Ok(json!("pass")),
            other => Err(unknown(other, &board)),
        }
    }

    /// The answer of the doubler to a beaver, which a board cannot ask: taken while its side is worth more, with the
    /// cube at what was offered, than the half of that which a pass costs.
    fn beavered(&mut self, game: &Tavla, doubler: Seat) -> Result<Value, Fault> {
        let board = self.board(game, doubler, [0, 0], false);
        let equity = self.equity(&board, self.plies)?;
        Ok(json!(if equity < -0.5 { "pass" } else { "take" }))
    }

    /// It looks at a resignation as at one before the roll, from the side that resigns.
    fn resignation(&mut self, game: &Tavla) -> Result<Value, Fault> {
        let Some((by, times)) = game.resignation() else {
            return Err(Fault::Referee("no resignation waits".into()));
        };
        let board = format!(
            "{} resignation {times}",
            self.board(game, by, [0, 0], false)
        );
        match self.ask(&board)?.as_str() {
            "accept" => Ok(json!("accept")),
            "reject" => Ok(json!("refuse")),
            other => Err(unknown(other, &board)),
        }
    }
}

/// A board of a few checkers (point, count; the other's negative) with all others off, after the Crawford game in a match.
fn probe(checkers: &[(usize, i32)], [own, other]: [u32; 2], length: u32, doubled: bool) -> String {
    let mut points = [0; 26];
    for &(point, count) in checkers {
        points[point] = count;
    }
    let (mut own_off, mut other_off) = (15, 15);
    for count in points {
        own_off -= count.max(0);
        other_off += count.min(0);
    }
    let points: Vec<String> = points.iter().map(i32::to_string).collect();
    format!(
        "board:me:them:{length}:{own}:{other}:{}:1:0:0:0:0:1:1:1:{}:1:-1:0:25:{own_off}:{other_off}:0:0:0:0:1:3",
        points.join(":"),
        u8::from(doubled),
    )
}

/// Whether a win with the cube as it stands already wins the match for this seat.
fn is_dead(game: &Tavla, seat: Seat) -> bool {
    game.length() > 0 && game.score()[seat] + game.cube().value >= game.length()
}

fn unknown(answer: &str, question: &str) -> Fault {
    Fault::Engine(format!("{NAME}: {answer:?} is no answer to {question:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_follow_the_rules() {
        let lines = settings(
            &TavlaOptions {
                beavers: true,
                cube: false,
                ..TavlaOptions::default()
            },
            2,
            0.015,
        )
        .join("\n");
        for wanted in [
            "set beavers 1",
            "set jacoby off",
            "set evaluation chequerplay evaluation plies 2",
            "set evaluation cubedecision evaluation cubeful off",
            "set evaluation chequerplay evaluation noise 0.0150",
        ] {
            assert!(lines.contains(wanted), "{wanted}: {lines}");
        }
    }

    #[test]
    fn levels_are_read_from_options_of_the_event() {
        let mut adapter = Gnubg::new(Args {
            level: None,
            plies: None,
            noise: None,
            program: None,
        });
        let options = json!({"level": "world-class", "plies": 1, "noise": 0.02});
        adapter
            .set(options.as_object().expect("options"))
            .expect("they are right");
        assert_eq!(
            (adapter.args.level, adapter.args.plies, adapter.args.noise),
            (Some(Level::WorldClass), Some(1), Some(0.02))
        );
        for (options, words) in [
            (json!({"level": "godlike"}), "godlike"),
            (json!({"plys": 1}), "plys"),
            (json!({"plies": 9}), "9"),
            (json!({"noise": 2}), "from 0 to 1"),
        ] {
            let Err(Fault::Refused(told)) = adapter.set(options.as_object().expect("options"))
            else {
                panic!("{options} is taken");
            };
            assert!(told.contains(words), "{told}");
        }
        assert_eq!(adapter.args.plies, Some(1));
    }
}
