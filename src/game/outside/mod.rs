//! A game whose rules are another program's (`protocol/GAMES.md`), behind the same facade as the built-in ones.
//!
//! Pure: the program is a [`Program`], a line in, a line out; who starts it, and waits for it, is a room with I/O. So the
//! referee asks it in the middle of a step, and waits. That is simpler by far than to cut the state machine at every place
//! where rules are needed, and it harms nobody: a bot's clock starts when its turn is written, which is after the rules have
//! answered; other games run on threads of their own (`runner::plan`); and a wait has an end.
//!
//! All that a position can be asked is in the last answer of the program, which is checked when it is read. A bot's move is
//! looked up in its list of legal moves, so that what a bot writes never reaches the program.
//!
//! A program that fails leaves a position that is broken ([`Position::broken`]): its game is void.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

use super::{
    ADJUDICATED, Ask, Chance, ChanceKind, Claim, ClockDefaults, Drawn, FORFEIT, Facts, Kind,
    Outcome, Position, Race, Refusal, RulesError, Ruleset, Seat, Series, Setup, Share, ToAct, cut,
};

pub mod lines;
pub mod probe;
pub mod same;

#[cfg(test)]
mod tests;

use lines::{Act, DESCRIBE, Described, Ended, Question, Standing, Unusable, share_of};
use same::same;

/// Moves and random events of a game at most: a game that has had so many and is not over is drawn, since it is the bots
/// who play without an end.
const MAX_STEPS: u32 = 20_000;
/// How such a game ends, in the word of the built-in games.
const PLY_CAP: &str = "ply_cap";
/// Random events in a row at most: those without an end are the program's own.
const MAX_CHANCES: u32 = 10_000;
/// Different reasons of results at most.
const MAX_REASONS: usize = 100;

/// Who knows the rules.
pub trait Program: fmt::Debug + Send + Sync {
    /// Sends a line (without its end), and waits for the line that answers it.
    ///
    /// # Errors
    /// Why there is no answer: it could not be started, it ended, it took too long.
    fn ask(&self, line: &str) -> Result<Vec<u8>, String>;
}

/// A game whose rules are a program's.
#[derive(Debug)]
pub struct Outside {
    shared: Arc<Shared>,
    /// What came of options, by their text: rules are asked for again and again, always with the same few.
    known: Mutex<HashMap<String, Result<(), RulesError>>>,
}

/// What all positions of the game share.
#[derive(Debug)]
struct Shared {
    program: Arc<dyn Program>,
    described: Described,
    facts: &'static Facts,
    reasons: Mutex<Vec<&'static str>>,
}

impl Outside {
    /// Asks a program what its game is.
    ///
    /// # Errors
    /// Why it does not say so, in words.
    pub fn new(program: Arc<dyn Program>) -> Result<Outside, String> {
        let answer = program.ask(DESCRIBE)?;
        let described = lines::described(&answer)
            .map_err(|what| format!("asked {DESCRIBE}, {}", what.words()))?;
        if super::find(&described.name).is_some() {
            return Err(format!(
                "it calls its game `{}`, which is a built-in game; another name is needed",
                described.name
            ));
        }
        // Kept for the whole run: there is one game for an event file.
        let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let facts = Box::leak(Box::new(Facts {
            name: kept(&described.name),
            title: kept(&described.title),
            min_seats: described.seats.0,
            max_seats: described.seats.1,
            points: kept(&described.points),
            points_a_game: false,
            wins: &[],
            match_fields: &[],
            chance: true,
            explicit_pass: false,
        }));
        Ok(Outside {
            shared: Arc::new(Shared {
                program,
                described,
                facts,
                reasons: Mutex::default(),
            }),
            known: Mutex::default(),
        })
    }

    /// What the program says of its game.
    pub fn described(&self) -> &Described {
        &self.shared.described
    }

    /// Every option with its value; the names and the types of those given are checked.
    fn options(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, RulesError> {
        let mut options = self.shared.described.rules.clone();
        for (key, value) in given {
            let Some(usual) = options.get_mut(key) else {
                let names: Vec<&str> = options.keys().map(String::as_str).collect();
                let known = match names.as_slice() {
                    [] => "the game has none".to_owned(),
                    names => format!("known are {}", names.join(", ")),
                };
                return Err(RulesError {
                    key: key.clone(),
                    message: format!("there is no such option; {known}"),
                });
            };
            if !usual.is_null() && type_of(usual) != type_of(value) {
                return Err(RulesError {
                    key: key.clone(),
                    message: format!(
                        "{} is {}, not {} (the default is {})",
                        cut(value),
                        type_of(value),
                        type_of(usual),
                        cut(usual)
                    ),
                });
            }
            *usual = value.clone();
        }
        Ok(options)
    }

    /// Asks the program for a start under these options: only it knows which fit.
    fn try_options(&self, given: &Map<String, Value>) -> Result<(), RulesError> {
        let seats = self.shared.described.seats.0;
        let start = Question::Start { first: 0, seats };
        let try_these = |options| {
            let rules = OutsideRules::new(self.shared.clone(), options);
            let asked = rules.line(start);
            rules
                .ask(start, None, (seats, seats))
                .map_err(|what| (what, asked))
        };
        let Err((what, asked)) = try_these(self.options(given)?) else {
            return Ok(());
        };
        // The program does not say which one is wrong: find the one that fails alone.
        let fails = |given: &Map<String, Value>| {
            let options = self.options(given);
            options.is_ok_and(|options| try_these(options).is_err())
        };
        let culprit = given
            .iter()
            .find(|(key, value)| fails(&Map::from_iter([((*key).clone(), (*value).clone())])))
            .filter(|_| !fails(&Map::new()));
        let key = culprit.map_or_else(String::new, |(key, _)| key.clone());
        Err(RulesError {
            message: match what {
                Unusable::Refused(words) if !key.is_empty() => words,
                Unusable::Refused(words) => format!(
                    "the program of the rules gives no start: it answers with the error: {words} (asked {})",
                    short(&asked)
                ),
                Unusable::Wrong(words) => {
                    format!("the program of the rules gives no start: {words}")
                }
            },
            key,
        })
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Kind for Outside {
    fn facts(&self) -> &'static Facts {
        self.shared.facts
    }

    fn rules(&self, given: &Map<String, Value>) -> Result<Arc<dyn Ruleset>, RulesError> {
        let options = self.options(given)?;
        let key = Value::Object(options.clone()).to_string();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = known
            .entry(key)
            .or_insert_with(|| self.try_options(given))
            .clone();
        checked?;
        Ok(Arc::new(OutsideRules::new(self.shared.clone(), options)))
    }
}

/// The game with its options.
#[derive(Clone, Debug)]
struct OutsideRules {
    shared: Arc<Shared>,
    options: Arc<Map<String, Value>>,
    /// The options as JSON.
    text: Arc<str>,
}

impl OutsideRules {
    fn new(shared: Arc<Shared>, options: Map<String, Value>) -> OutsideRules {
        let text = Value::Object(options.clone()).to_string();
        OutsideRules {
            shared,
            options: Arc::new(options),
            text: text.into(),
        }
    }

    fn line(&self, question: Question<'_>) -> String {
        question.line(&self.shared.described.name, &self.text)
    }

    /// Asks for a position. An error that is ours names the question.
    fn ask(
        &self,
        question: Question<'_>,
        given: Option<&Value>,
        seats: (usize, usize),
    ) -> Result<Standing, Unusable> {
        let line = self.line(question);
        let answer = self.shared.program.ask(&line).map_err(Unusable::Wrong);
        let standing = answer.and_then(|answer| lines::standing(&answer, given, seats));
        standing.map_err(|what| match what {
            Unusable::Wrong(words) => Unusable::Wrong(format!("{words} (asked {})", short(&line))),
            refused @ Unusable::Refused(_) => refused,
        })
    }

    /// The first position, or what broke.
    fn first(&self, setup: &Setup<'_>) -> OutsidePosition {
        let question = Question::Start {
            first: setup.lot,
            seats: setup.seats,
        };
        match self.ask(question, None, (setup.seats, setup.seats)) {
            Ok(standing) => self.position(standing),
            Err(what) => {
                let nothing = Standing {
                    state: "{}".into(),
                    act: Act::Move(0, Vec::new()),
                    seats: setup.seats,
                    points: Vec::new(),
                    board: None,
                };
                let position = self.position(nothing);
                position.fails(format!("it gives no start: {}", what.words()));
                position
            }
        }
    }

    fn position(&self, standing: Standing) -> OutsidePosition {
        OutsidePosition {
            rules: self.clone(),
            standing: Arc::new(standing),
            steps: 0,
            chances: 0,
            broken: OnceLock::new(),
        }
    }
}

/// The position as the end of its game: a draw, with the points that stand.
fn capped(standing: Standing) -> Standing {
    let seats = standing.seats;
    Standing {
        act: Act::Over(Ended {
            winner: None,
            score: vec![share_of(seats); seats],
            points: match standing.points.as_slice() {
                [] => vec![0; seats],
                points => points.to_vec(),
            },
            reason: PLY_CAP.to_owned(),
        }),
        ..standing
    }
}

/// A line for a message, cut short.
fn short(line: &str) -> String {
    const MAX: usize = 300;
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

impl Ruleset for OutsideRules {
    fn facts(&self) -> &'static Facts {
        self.shared.facts
    }

    fn race(&self) -> Option<Race> {
        None
    }

    fn options(&self) -> Value {
        Value::Object((*self.options).clone())
    }

    fn start(&self, setup: &Setup<'_>) -> Box<dyn Position> {
        Box::new(self.first(setup))
    }

    fn read(&self, state: &Value) -> Result<Box<dyn Position>, String> {
        if !state.is_object() {
            return Err(format!("a state is an object, not {}", cut(state)));
        }
        let seats = self.shared.described.seats;
        match self.ask(Question::Position(state), Some(state), seats) {
            Ok(standing) => Ok(Box::new(self.position(standing))),
            Err(Unusable::Refused(words) | Unusable::Wrong(words)) => Err(words),
        }
    }

    fn plays_over(&self, _: &Outcome, _: u32) -> bool {
        false
    }

    /// A match is one game.
    fn series(&self, played: &[Outcome]) -> Series {
        let seats = played.first().map_or(2, |outcome| outcome.score.len());
        let mut score = vec![0.0; seats];
        for outcome in played {
            for (sum, share) in score.iter_mut().zip(&outcome.score) {
                *sum += share.value();
            }
        }
        Series {
            score,
            over: !played.is_empty(),
            of: Some(1),
        }
    }

    fn clock_defaults(&self) -> Option<ClockDefaults> {
        None
    }
}

/// A position: the program's last answer.
#[derive(Clone, Debug)]
struct OutsidePosition {
    rules: OutsideRules,
    standing: Arc<Standing>,
    /// Moves and random events so far, and the random events since a seat was last asked.
    steps: u32,
    chances: u32,
    /// Why it cannot go on. Some questions only look at a position, and may find that.
    broken: OnceLock<String>,
}

impl OutsidePosition {
    /// The first failure counts: what comes after it follows from it.
    fn fails(&self, why: impl fmt::Display) {
        let game = &self.rules.shared.described.name;
        let _ = self.broken.set(format!(
            "the program of the rules of `{game}` failed: {why}"
        ));
    }

    /// Goes on to the position that answers this question. A program that refuses what it has listed itself contradicts
    /// itself.
    fn step(&mut self, question: Question<'_>) {
        let seats = self.standing.seats;
        match self.rules.ask(question, None, (seats, seats)) {
            Ok(standing) => {
                self.chances = match standing.act {
                    Act::Chance(..) => self.chances + 1,
                    Act::Move(..) | Act::Over(_) => 0,
                };
                self.steps += 1;
                let is_over = matches!(standing.act, Act::Over(_));
                if is_over {
                    self.is_in_step();
                }
                self.standing = Arc::new(if self.steps >= MAX_STEPS && !is_over {
                    capped(standing)
                } else {
                    standing
                });
                if self.chances > MAX_CHANCES {
                    self.fails(format!("it asks for chance {MAX_CHANCES} times in a row"));
                }
            }
            Err(Unusable::Refused(words)) => self.fails(format!(
                "it refuses what it has listed: asked {}, it says: {words}",
                short(&self.rules.line(question))
            )),
            Err(Unusable::Wrong(words)) => self.fails(words),
        }
    }

    /// Has the program describe itself at the end of a game. One that wrote a line too many may have run behind its questions ever since,
    /// each answer being that to the question before; what it says now is then no description.
    fn is_in_step(&self) {
        let answer = match self.rules.shared.program.ask(DESCRIBE) {
            Ok(answer) => answer,
            Err(words) => return self.fails(words),
        };
        let name = &self.rules.shared.described.name;
        if !lines::described(&answer).is_ok_and(|described| described.name == *name) {
            self.fails(format!(
                "at the end of the game it answers {}: it wrote a line too many before (asked {DESCRIBE})",
                short(&String::from_utf8_lossy(&answer))
            ));
        }
    }

    /// The outcome of a result; the words for reasons are few, and kept.
    fn outcome_of(&self, ended: &Ended) -> Outcome {
        Outcome {
            winner: ended.winner,
            score: ended.score.clone(),
            points: ended.points.clone(),
            reason: self.reason(&ended.reason),
        }
    }

    /// The points as they stand, and nobody's win yet.
    fn standing_outcome(&self) -> Outcome {
        let seats = self.standing.seats;
        Outcome {
            winner: None,
            score: Vec::new(),
            points: match self.standing.points.as_slice() {
                [] => vec![0; seats],
                points => points.to_vec(),
            },
            reason: FORFEIT,
        }
    }

    fn reason(&self, word: &str) -> &'static str {
        let mut reasons = self
            .rules
            .shared
            .reasons
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = reasons.iter().find(|known| **known == word) {
            return known;
        }
        if reasons.len() >= MAX_REASONS {
            return "other";
        }
        let kept: &'static str = Box::leak(word.to_owned().into_boxed_str());
        reasons.push(kept);
        kept
    }

    fn legal(&self) -> &[Value] {
        match &self.standing.act {
            Act::Move(_, legal) => legal,
            Act::Chance(..) | Act::Over(_) => &[],
        }
    }

    /// The number of paths from here of so many moves.
    fn paths(&self, depth: u32) -> Result<u64, String> {
        if let Some(why) = self.broken.get() {
            return Err(why.clone());
        }
        let mut sum: u64 = 0;
        let mut add = |next: &mut OutsidePosition, question: Question<'_>, depth| {
            next.step(question);
            sum = sum.saturating_add(next.paths(depth)?);
            Ok::<_, String>(())
        };
        match &self.standing.act {
            _ if depth == 0 => return Ok(1),
            Act::Over(_) => {}
            Act::Move(_, legal) => {
                for mv in legal {
                    let question = Question::Move(&self.standing.state, mv);
                    add(&mut self.clone(), question, depth - 1)?;
                }
            }
            Act::Chance(_, outcomes, _) => {
                for (value, _) in outcomes {
                    let question = Question::Chance(&self.standing.state, value);
                    add(&mut self.clone(), question, depth)?;
                }
            }
        }
        Ok(sum)
    }
}

impl Position for OutsidePosition {
    fn to_act(&self) -> ToAct {
        if self.broken.get().is_some() {
            return ToAct::Over;
        }
        match &self.standing.act {
            Act::Move(seat, _) => ToAct::Seat(*seat, Ask::Move),
            Act::Chance(seat, ..) => ToAct::Chance(Chance {
                kind: ChanceKind::Outcome,
                seat: *seat,
            }),
            Act::Over(_) => ToAct::Over,
        }
    }

    fn write_state(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.standing.state.as_bytes());
    }

    fn write_legal(&mut self, out: &mut Vec<u8>) {
        super::facade::write_json(out, &self.legal());
    }

    fn count_legal(&mut self) -> usize {
        self.legal().len()
    }

    fn nth_legal(&mut self, index: usize) -> Value {
        self.legal()[index].clone()
    }

    fn play(&mut self, answer: &Value, told: &mut Vec<u8>) -> Result<(), Refusal> {
        let standing = Arc::clone(&self.standing);
        let (seat, legal) = match &standing.act {
            Act::Move(seat, legal) => (*seat, legal),
            Act::Over(_) => return Err(Refusal::new("the game is over")),
            Act::Chance(..) => return Err(Refusal::new("no move is asked for here")),
        };
        let Some(mv) = legal.iter().find(|mv| same(mv, answer)) else {
            let listed = cut(&Value::Array(legal.clone()));
            return Err(Refusal::new(format!(
                "{} is not one of the legal moves: {listed}",
                cut(answer)
            )));
        };
        told.extend_from_slice(format!("{{\"seat\":{seat},\"move\":{mv}}}").as_bytes());
        self.step(Question::Move(&standing.state, mv));
        Ok(())
    }

    /// There are no passes: a program asks the seat that can move, or lists a move that says so.
    fn pass(&mut self, _: &mut Vec<u8>) {}

    fn pass_move(&self) -> Value {
        Value::from("pass")
    }

    fn seats(&self) -> usize {
        self.standing.seats
    }

    fn racing(&self, _: Seat) -> bool {
        false
    }

    fn claim(&mut self, _: Seat, _: &Value, _: &mut Vec<u8>) -> Result<Claim, Refusal> {
        Err(Refusal::new("there is no race in this game"))
    }

    fn award(&mut self, _: &[Seat]) {}

    fn withdraw(&mut self, _: Seat) -> bool {
        false
    }

    fn chance(&mut self, drawn: Drawn) {
        if let Some(value) = self.drawn_value(drawn) {
            let standing = Arc::clone(&self.standing);
            self.step(Question::Chance(&standing.state, &value));
        }
    }

    fn choices(&self) -> Option<u32> {
        match &self.standing.act {
            Act::Chance(_, _, sum) => Some(*sum),
            Act::Move(..) | Act::Over(_) => None,
        }
    }

    /// The outcome within whose weight the number falls.
    fn drawn_value(&self, drawn: Drawn) -> Option<Value> {
        let (Act::Chance(_, outcomes, _), Drawn::Lot(lot)) = (&self.standing.act, drawn) else {
            return None;
        };
        let mut below = 0;
        let chosen = outcomes.iter().find(|(_, weight)| {
            below += weight;
            lot < below
        });
        chosen.map(|(value, _)| value.clone())
    }

    fn broken(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    fn charged(&mut self, _: u64) {}

    fn opening(&self) -> Option<[u8; 2]> {
        None
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.standing.act {
            Act::Over(ended) => Some(self.outcome_of(ended)),
            Act::Move(..) | Act::Chance(..) => None,
        }
    }

    /// As the program says, if it wants to be asked; else the win goes to the others, and the points are those that stand.
    fn forfeit(&self, seat: Seat) -> Outcome {
        let seats = self.standing.seats;
        let mut outcome = Outcome {
            winner: (seats == 2).then(|| 1 - seat),
            score: (0..seats)
                .map(|other| match other == seat {
                    true => Share::LOSS,
                    false => share_of(seats - 1),
                })
                .collect(),
            ..self.standing_outcome()
        };
        if self.rules.shared.described.forfeit && self.broken.get().is_none() {
            let line = self
                .rules
                .line(Question::Forfeit(&self.standing.state, seat));
            let answer = self.rules.shared.program.ask(&line);
            match answer
                .map_err(Unusable::Wrong)
                .and_then(|answer| lines::forfeited(&answer, seat, seats))
            {
                Ok(ended) => {
                    outcome = Outcome {
                        reason: FORFEIT,
                        ..self.outcome_of(&ended)
                    };
                }
                Err(what) => self.fails(format!("{} (asked {})", what.words(), short(&line))),
            }
        }
        outcome
    }

    fn adjudicated(&self, lost_by: Option<Seat>) -> Option<Outcome> {
        let seats = self.standing.seats;
        let outcome = match lost_by {
            Some(seat) => self.forfeit(seat),
            None => Outcome {
                winner: None,
                score: vec![share_of(seats); seats],
                ..self.standing_outcome()
            },
        };
        Some(Outcome {
            reason: ADJUDICATED,
            ..outcome
        })
    }

    /// The program's own drawing, or the state with a line for each field.
    fn board(&self) -> String {
        if let Some(board) = &self.standing.board {
            return board.clone();
        }
        let state: Value = serde_json::from_str(&self.standing.state).unwrap_or_default();
        let Value::Object(fields) = &state else {
            return format!("{state}\n");
        };
        let width = fields.keys().map(|key| key.chars().count()).max();
        let drawn: String = fields
            .iter()
            .map(|(key, value)| format!("  {key:<0$}  {value}\n", width.unwrap_or(0)))
            .collect();
        lines::board(&drawn)
    }

    fn perft(&self, depth: u32) -> u64 {
        self.paths(depth).unwrap_or_else(|why| {
            let _ = self.broken.set(why);
            0
        })
    }

    fn boxed_clone(&self) -> Box<dyn Position> {
        Box::new(self.clone())
    }
}
