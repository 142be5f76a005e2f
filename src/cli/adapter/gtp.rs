//! Reversi engines that speak the Go Text Protocol (version 2), as several do: `boardsize 8`, `play black d3`, `genmove white`.

use hakem_protocol::{Clock, Hello, Ready, Start, Told, Turn};
use serde_json::{Map, Value, json};

use super::discs::{Ply, opening, read_square};
use super::engine::Engine;
use super::session::{Adapter, Fault, position, update};
use crate::game::reversi::{Reversi, ReversiOptions, Square};
use crate::game::{Game, Seat};

const NAME: &str = "gtp";

/// An engine that speaks GTP plays Reversi: hakem adapter gtp -- ENGINE ARGUMENTS...
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The engine's command line
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The adapter.
#[derive(Debug)]
pub(super) struct Gtp {
    args: Args,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    rules: Map<String, Value>,
    /// The plies that lead to the game's first position.
    opening: Vec<Ply>,
    /// What the engine's board holds; `None`: not yet cleared.
    known: Option<Vec<Ply>>,
    /// Whether it was told a time control, so that it is told what is left.
    is_timed: bool,
    engine: Engine,
    /// Whether a line that is no answer was noted.
    has_noted: bool,
}

impl Gtp {
    pub(super) fn new(args: Args) -> Gtp {
        Gtp {
            args,
            session: None,
        }
    }
}

impl Adapter for Gtp {
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
        let mut session = Session {
            rules: hello.rules.clone(),
            opening: Vec::new(),
            known: None,
            is_timed: false,
            engine: Engine::start(NAME, &self.args.command)?,
            has_noted: false,
        };
        let name = session.command("name")?.unwrap_or_default();
        let version = session.command("version")?.unwrap_or_default();
        let commands = session.command("list_commands")?.unwrap_or_default();
        if commands.lines().any(|command| command.trim() == "set_game") {
            // An engine of several games; that of one may know no other name.
            let _ = session.command("set_game Othello")?;
        }
        if let Err(why) = session.command("boardsize 8")? {
            return Err(Fault::Refused(format!(
                "{NAME}: the engine {name:?} takes no board of 8x8: {why}"
            )));
        }
        if let Some(line) = time_settings(&hello.clock) {
            session.is_timed = session.command(&line)?.is_ok();
        }
        self.session = Some(session);
        Ok(Ready {
            name: Some(name),
            version: Some(version),
            history: true,
            ..Ready::default()
        })
    }

    fn begin(&mut self, start: &Start) -> Result<(), Fault> {
        let first =
            Reversi::read(&ReversiOptions::default(), &start.state).map_err(Fault::Referee)?;
        let Some(session) = &mut self.session else {
            return Err(Fault::Referee("a game began before hello".into()));
        };
        session.known = None;
        session.opening = opening(&first).ok_or_else(|| {
            Fault::Refused(format!(
                "{NAME}: the protocol sets up no position, and the first one of this game is not reached by a few moves: {}",
                start.state
            ))
        })?;
        Ok(())
    }

    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        match &mut self.session {
            Some(session) => session.answer(turn),
            None => Err(Fault::Referee("a turn came before hello".into())),
        }
    }
}

impl Session {
    fn answer(&mut self, turn: &Turn) -> Result<Value, Fault> {
        // The position is that after the moves; a state that asks nothing is found here.
        let _: Reversi = position(&self.rules, turn)?;
        let history = turn
            .history
            .as_ref()
            .ok_or_else(|| Fault::Referee("a turn without its history".into()))?;
        let mut plies = self.opening.clone();
        plies.extend(read_history(history)?);
        self.lead_to(&plies)?;
        let color = color(turn.seat);
        if let Some(line) = self.is_timed.then(|| time_left(turn)).flatten() {
            // Some engines know the setting, not what is left.
            let _ = self.command(&line)?;
        }
        let question = format!("genmove {color}");
        let answer = self.command(&question)?.map_err(|why| {
            Fault::Engine(format!(
                "{NAME}: the engine answers {why:?} to {question:?}"
            ))
        })?;
        let Some(square) = read_square(answer.trim()) else {
            return Err(Fault::Engine(format!(
                "{NAME}: the engine answers {answer:?} to {question:?}, where it can move"
            )));
        };
        plies.push((turn.seat, Some(square)));
        self.known = Some(plies);
        Ok(json!(square))
    }

    /// Plays on the engine's board until it holds these plies, from the start where it holds others.
    fn lead_to(&mut self, plies: &[Ply]) -> Result<(), Fault> {
        let held = match &self.known {
            Some(known) if plies.starts_with(known) => known.len(),
            _ => {
                if let Err(why) = self.command("clear_board")? {
                    return Err(Fault::Engine(format!(
                        "{NAME}: the engine clears no board: {why}"
                    )));
                }
                0
            }
        };
        for &(seat, square) in &plies[held..] {
            let line = match square {
                Some(square) => format!("play {} {square}", color(seat)),
                None => format!("play {} pass", color(seat)),
            };
            // An engine that passes by itself may refuse to be told so.
            if let (Err(why), Some(_)) = (self.command(&line)?, square) {
                return Err(Fault::Engine(format!(
                    "{NAME}: the engine answers {why:?} to {line:?}, which is legal"
                )));
            }
        }
        self.known = Some(plies.to_vec());
        Ok(())
    }

    /// Sends a command; the inner error is what the engine says where it fails.
    fn command(&mut self, line: &str) -> Result<Result<String, String>, Fault> {
        self.engine.say(line)?;
        let waiting = format!("an answer to {line:?}");
        let mut first = self.engine.line(&waiting)?;
        while !first.starts_with(['=', '?']) {
            self.engine.no_echo(&first, "GTP")?;
            if !first.is_empty() && !self.has_noted {
                // For the log: if nothing else comes, this is why.
                self.has_noted = true;
                crate::cli::say(format_args!(
                    "{NAME}: waiting for {waiting}, which begins with = or ?; the engine wrote {first:?}"
                ));
            }
            first = self.engine.line(&waiting)?;
        }
        let is_good = first.starts_with('=');
        // No id was sent, but one may come back.
        let mut answer = first[1..]
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim()
            .to_owned();
        loop {
            let line = self.engine.line(&waiting)?;
            if line.is_empty() {
                return Ok(if is_good { Ok(answer) } else { Err(answer) });
            }
            answer = format!("{answer}\n{line}").trim().to_owned();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.engine.quit("quit");
    }
}

fn color(seat: Seat) -> &'static str {
    if seat == 0 { "black" } else { "white" }
}

/// The moves of a game, passes included.
fn read_history(history: &Value) -> Result<Vec<Ply>, Fault> {
    let told: Vec<Told> = serde_json::from_value(history.clone())
        .map_err(|error| Fault::Referee(format!("the history of a turn: {error}")))?;
    told.iter()
        .map(|told| match told.mv.as_str() {
            Some("pass") => Ok((told.seat, None)),
            Some(name) if Square::from_name(name).is_some() => {
                Ok((told.seat, Square::from_name(name)))
            }
            _ => Err(Fault::Referee(format!(
                "{} is no move in a history",
                told.mv
            ))),
        })
        .collect()
}

/// The time control in whole seconds: the main time, or so much for every move. GTP has no increment; what is left is told
/// before each move.
fn time_settings(clock: &Clock) -> Option<String> {
    match (clock.main_ms, clock.move_ms) {
        (Some(main), _) => Some(format!("time_settings {} 0 0", main / 1000)),
        (None, Some(each)) => Some(format!("time_settings 0 {} 1", (each / 1000).max(1))),
        (None, None) => None,
    }
}

/// What is left for this answer: of the main time, but no more than the answer may take.
fn time_left(turn: &Turn) -> Option<String> {
    let left = turn.clock.left_ms.get(turn.seat).copied().flatten();
    let limit = turn.clock.limit_ms;
    let color = color(turn.seat);
    match (left, limit) {
        (Some(left), limit) => {
            let left = limit.map_or(left, |limit| limit.min(left));
            Some(format!("time_left {color} {} 0", left / 1000))
        }
        (None, Some(limit)) => Some(format!("time_left {color} {} 1", (limit / 1000).max(1))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use hakem_protocol::{Ask, ClockKind, TurnClock};

    use super::*;

    fn clock(main_ms: Option<u64>, move_ms: Option<u64>) -> Clock {
        Clock {
            kind: ClockKind::Fair,
            main_ms,
            increment_ms: 100,
            move_ms,
            delay_ms: 0,
        }
    }

    fn left(seat: usize, left_ms: [Option<u64>; 2], limit_ms: Option<u64>) -> Option<String> {
        time_left(&Turn {
            id: 1,
            seat,
            ask: Ask::Move,
            state: json!({}),
            legal: None,
            last: json!([]),
            history: None,
            clock: TurnClock {
                left_ms: left_ms.to_vec(),
                limit_ms,
            },
        })
    }

    #[test]
    fn a_clock_is_told_in_whole_seconds() {
        let told = |main, each| time_settings(&clock(main, each));
        assert_eq!(
            told(Some(60_500), Some(5_000)).as_deref(),
            Some("time_settings 60 0 0")
        );
        assert_eq!(
            told(None, Some(5_900)).as_deref(),
            Some("time_settings 0 5 1")
        );
        assert_eq!(
            told(None, Some(300)).as_deref(),
            Some("time_settings 0 1 1")
        );
        assert_eq!(told(None, None), None);
        let both = [Some(42_900), Some(7_000)];
        assert_eq!(left(0, both, None).as_deref(), Some("time_left black 42 0"));
        assert_eq!(
            left(1, both, Some(3_000)).as_deref(),
            Some("time_left white 3 0")
        );
        assert_eq!(
            left(0, [None, None], Some(5_000)).as_deref(),
            Some("time_left black 5 1")
        );
        assert_eq!(left(0, [None, None], None), None);
    }

    #[test]
    fn a_history_is_read_with_its_passes() {
        let history = json!([{"seat": 0, "move": "d3"}, {"seat": 1, "move": "pass"}]);
        let d3 = Square::from_name("d3");
        assert_eq!(
            read_history(&history).expect("a history"),
            [(0, d3), (1, None)]
        );
        for wrong in [
            json!([{"seat": 0, "move": "d9"}]),
            json!([{"seat": 0, "move": 3}]),
            json!("d3"),
        ] {
            assert!(read_history(&wrong).is_err(), "{wrong}");
        }
    }
}
