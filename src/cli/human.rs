//! `hakem play`: a person in a seat.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

use hakem_protocol::{Ask, End, FromBot, FromReferee, Move, Pong, Ready, Turn};
use serde_json::{Map, Value};

use super::exit::{self, Refused};
use super::output::{OutputArgs, When};
use crate::bot::sandbox;
use crate::game::{Position, Ruleset, Seat};
use crate::referee::MatchSetup;
use crate::runner::sitting::{Nobody, Partner, Sat, Sitting};

/// Play against a bot in the terminal
///
/// The board and what you may answer are shown at each of your turns. Type an answer as it is listed, or its number where the
/// list is numbered; `?` lists what else there is. The referee, the rules and the dice are the same as in any other match. There
/// is no clock, but in a race the rules set the time.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The game; of one that is not built in a command line in quotes, or a folder with a game.toml
    #[arg(long, short)]
    pub game: String,
    /// An option of the game, such as match_length=5; may be repeated
    #[arg(long = "rule", value_name = "K=V")]
    pub rules: Vec<String>,
    /// Your seat
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub seat: u8,
    /// The seed of all chance, a number or text [default: drawn]
    #[arg(long, value_name = "S")]
    pub seed: Option<String>,
    /// The bot: a command line in quotes, a folder with a bot.toml, or builtin:NAME or builtin:NAME,KEY=VALUE
    #[arg(value_name = "BOT")]
    pub bot: String,
    /// Whether to use colours in messages; the variable NO_COLOR is honoured
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

/// So many answers are listed; the others are named by `?`.
const LISTED: usize = 24;

/// The person has had enough.
#[derive(Debug, thiserror::Error)]
#[error("you left the game")]
struct Left;

/// Plays.
///
/// # Errors
/// A game or a bot that there is none of; a terminal that fails.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    sandbox::harden_referee();
    let output = OutputArgs {
        format: crate::report::Format::Table,
        color: args.color,
    }
    .get();
    let mut config = super::single::event(
        args.game.as_str().into(),
        &args.bot,
        &args.rules,
        None,
        &output,
    )?;
    config.clock.main_us = None;
    config.clock.move_us = None;
    config.clock.increment_us = 0;
    super::play::build(&config)?;
    if let Some(problem) = crate::config::check_programs(&config).first() {
        return Err(Refused(problem.to_string()).into());
    }
    let seed = match &args.seed {
        Some(seed) if seed.chars().any(char::is_control) => {
            return Err(Refused("a seed is a line of text".to_owned()).into());
        }
        Some(seed) => seed.clone(),
        None => super::play::drawn_seed()?,
    };
    let seats = super::single::Seats::new(config, seed)?;
    let jobs = seats.jobs()?;
    // In the first match the bot sits on seat 0.
    let mut job = jobs[usize::from(1 - args.seat)].clone();
    let mut setup: MatchSetup = (*job.setup).clone();
    let me = usize::from(args.seat);
    setup.seats[me].name = "you".to_owned();
    let rules = setup.rules.clone();
    job.setup = Arc::new(setup);
    let mut person = Person {
        rules,
        input: io::stdin().lock(),
        out: io::stdout(),
        names: vec!["?".to_owned(); 2],
    };
    match Sitting::new(&job, 1 - me).play(&mut person, &mut Nobody) {
        Ok(sat) => tell_end(&sat, &person.names, 1 - me),
        Err(error) if error.is::<Left>() => {
            super::say(&error);
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
        Err(error) => match error.downcast_ref::<io::Error>() {
            // Nobody reads the board any more.
            Some(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            _ => Err(error),
        },
    }
}

/// The score of the match, and what the bot did wrong.
fn tell_end(sat: &Sat, names: &[String], bot: Seat) -> anyhow::Result<ExitCode> {
    let mut page = String::new();
    for game in &sat.games {
        if game.result.against == Some(bot) {
            let _ = writeln!(
                page,
                "{}: {} forfeited: {}",
                game.result.id,
                super::shown(&names[bot]),
                super::shown(&game.result.reason)
            );
        }
    }
    if let Some(result) = &sat.over
        && sat.games.len() > 1
    {
        let score: Vec<String> = result.series.iter().map(ToString::to_string).collect();
        let _ = writeln!(page, "the match: {}", score.join(" - "));
    }
    super::unless_closed(io::stdout().write_all(page.as_bytes()))?;
    match &sat.broken {
        Some(why) => Err(anyhow::anyhow!("the game could not be played: {why}")),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// A person at a terminal, or a script behind a pipe.
struct Person<R, W> {
    rules: Arc<dyn Ruleset>,
    input: R,
    out: W,
    names: Vec<String>,
}

impl<R: BufRead, W: Write> Partner for Person<R, W> {
    fn hear(&mut self, seat: Seat, line: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        let answer = match serde_json::from_slice::<FromReferee<Value>>(line)? {
            FromReferee::Hello(_) => FromBot::Ready(Ready {
                events: true,
                ..Ready::default()
            }),
            FromReferee::Ping(ping) => FromBot::Pong(Pong { id: ping.id }),
            FromReferee::Turn(turn) => FromBot::Move(self.choose(&turn)?),
            FromReferee::Start(start) => {
                self.names = start.names.iter().map(|name| super::shown(name)).collect();
                self.names[seat] = "you".to_owned();
                let first = match start.first == seat {
                    true => "you begin",
                    false => "the other side begins",
                };
                let opening = start
                    .opening
                    .map(|dice| format!(", with {} and {}", dice[0], dice[1]));
                self.say(format_args!(
                    "\ngame {} against {}: you are seat {seat}, {first}{}\n",
                    start.in_match.game,
                    self.names[1 - seat].clone(),
                    opening.unwrap_or_default()
                ))?;
                return Ok(None);
            }
            FromReferee::Played(played) => {
                let dice = played
                    .dice
                    .map_or(String::new(), |dice| format!(" ({}-{})", dice[0], dice[1]));
                let name = self.names[played.seat].clone();
                let mv = readable(&played.mv);
                self.say(format_args!("{name}{dice}: {mv}\n"))?;
                return Ok(None);
            }
            FromReferee::Stop(_) => {
                self.say(format_args!(
                    "your question is withdrawn: the other side was faster, or the time is over\n"
                ))?;
                return Ok(None);
            }
            FromReferee::Error(error) => {
                self.say(format_args!("{}\n", error.message))?;
                return Ok(None);
            }
            FromReferee::End(end) => {
                self.ending(seat, &end)?;
                return Ok(None);
            }
            FromReferee::Bye(_) => return Ok(None),
        };
        Ok(Some(serde_json::to_vec(&answer)?))
    }
}

impl<R: BufRead, W: Write> Person<R, W> {
    fn say(&mut self, text: std::fmt::Arguments<'_>) -> anyhow::Result<()> {
        // Boards, moves and reasons may be texts of a program of rules.
        let text = super::shown_lines(&text.to_string());
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }

    fn ending(&mut self, seat: Seat, end: &End) -> anyhow::Result<()> {
        let board = self.rules.read(&end.state).map(|position| position.board());
        let who = match end.result.winner {
            Some(winner) if winner == seat => "you win".to_owned(),
            Some(winner) => format!("{} wins", self.names[winner]),
            None => "nobody wins alone".to_owned(),
        };
        let points: Vec<String> = end
            .result
            .points
            .iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        self.say(format_args!(
            "\n{}{who}: {} ({} {})\n",
            board.unwrap_or_default(),
            end.result.reason,
            self.rules.facts().points,
            points.join(" - ")
        ))
    }

    /// Asks until the answer is legal.
    fn choose(&mut self, turn: &Turn) -> anyhow::Result<Move> {
        let position = self
            .rules
            .read(&turn.state)
            .map_err(|what| anyhow::anyhow!("the position cannot be read: {what}"))?;
        let legal: Vec<Value> = turn
            .legal
            .as_ref()
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        self.say(format_args!("\n{}", position.board()))?;
        self.list(&legal, LISTED)?;
        loop {
            let what = match turn.ask {
                Ask::Move => "your move",
                Ask::Cube => "roll or double",
                Ask::Take => "a double is offered",
                Ask::Resign => "a resignation is offered",
                Ask::Race => "your claim",
            };
            self.say(format_args!("{what}> "))?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                self.say(format_args!("\n"))?;
                return Err(Left.into());
            }
            let typed = line.trim();
            match typed {
                "" => continue,
                "quit" | "exit" => return Err(Left.into()),
                "?" | "help" => {
                    self.list(&legal, usize::MAX)?;
                    self.say(format_args!(
                        "type an answer as it is listed{}, or as JSON; board, quit\n",
                        if is_numbered(&legal) {
                            ", or its number"
                        } else {
                            ""
                        }
                    ))?;
                    continue;
                }
                "board" => {
                    self.say(format_args!("{}", position.board()))?;
                    continue;
                }
                _ => {}
            }
            let mv = meant(typed, &legal);
            match judge(&*position, turn, &mv) {
                Ok(()) => {
                    return Ok(Move {
                        id: turn.id,
                        mv,
                        note: None,
                        eval: None,
                    });
                }
                Err(why) => self.say(format_args!("that is not possible: {why}\n"))?,
            }
        }
    }

    /// Lists what may be answered.
    fn list(&mut self, legal: &[Value], most: usize) -> anyhow::Result<()> {
        let mut page = String::new();
        if is_numbered(legal) {
            for (number, mv) in (1..).zip(legal).take(most) {
                let _ = writeln!(page, "  {number:>3}  {}", readable(mv));
            }
            if legal.len() > most {
                let _ = writeln!(page, "       and {} more; ? lists all", legal.len() - most);
            }
        } else if !legal.is_empty() {
            let words: Vec<String> = legal.iter().map(readable).collect();
            let _ = writeln!(page, "  {}", words.join("  "));
        }
        self.say(format_args!("{page}"))
    }
}

/// Whether answers are listed with numbers: those that are long to type.
fn is_numbered(legal: &[Value]) -> bool {
    legal.iter().any(|mv| mv.is_array() || mv.is_object())
}

/// An answer as people write it: `d3`, `8/5 6/5`, `from a7 to a4 take d6`.
fn readable(mv: &Value) -> String {
    let text = match mv {
        Value::String(text) => text.clone(),
        Value::Array(steps) if steps.is_empty() => "pass".to_owned(),
        Value::Array(steps) => {
            let steps: Vec<String> = steps.iter().map(step).collect();
            steps.join(" ")
        }
        Value::Object(fields) => {
            let mut words: Vec<String> = Vec::new();
            // As one says it: where from before where to.
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_by_key(|key| (key.as_str() == "take", key.as_str() == "to"));
            for key in keys {
                words.push(key.clone());
                words.push(readable(&fields[key]));
            }
            words.join(" ")
        }
        other => other.to_string(),
    };
    super::shown(&text)
}

fn step(step: &Value) -> String {
    match step.as_array().map(Vec::as_slice) {
        Some([from, to]) => format!("{from}/{to}"),
        _ => step.to_string(),
    }
}

/// The answer that was meant: one of the list by its words or its number, else JSON, else words with a value each.
fn meant(typed: &str, legal: &[Value]) -> Value {
    let same = |text: &str| {
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    let typed_same = same(typed);
    if let Some(mv) = legal.iter().find(|mv| same(&readable(mv)) == typed_same) {
        return mv.clone();
    }
    if is_numbered(legal)
        && let Ok(number) = typed.parse::<usize>()
        && let Some(mv) = number.checked_sub(1).and_then(|index| legal.get(index))
    {
        return mv.clone();
    }
    if let Some(steps) = steps(typed) {
        return steps;
    }
    if let Ok(value) = serde_json::from_str(typed) {
        return value;
    }
    let words: Vec<&str> = typed.split_whitespace().collect();
    match words.as_slice() {
        [word] => Value::from(*word),
        words if words.len().is_multiple_of(2) => {
            let value =
                |word: &str| serde_json::from_str(word).unwrap_or_else(|_| Value::from(word));
            let fields: Map<String, Value> = words
                .chunks(2)
                .map(|pair| (pair[0].to_owned(), value(pair[1])))
                .collect();
            Value::Object(fields)
        }
        _ => Value::from(typed),
    }
}

/// `8/5 6/5` as a list of steps.
fn steps(typed: &str) -> Option<Value> {
    let step = |word: &str| {
        let (from, to) = word.split_once('/')?;
        Some(serde_json::json!([
            from.parse::<u8>().ok()?,
            to.parse::<u8>().ok()?
        ]))
    };
    let steps: Option<Vec<Value>> = typed.split_whitespace().map(step).collect();
    steps.map(Value::from)
}

/// Whether the rules take it.
fn judge(position: &dyn Position, turn: &Turn, mv: &Value) -> Result<(), String> {
    let mut position = position.boxed_clone();
    let judged = match turn.ask {
        Ask::Race => position.claim(turn.seat, mv, &mut Vec::new()).map(|_| ()),
        _ => position.play(mv, &mut Vec::new()),
    };
    judged.map_err(|refusal| refusal.message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_read_as_they_are_shown() {
        let lists = [
            vec![json!(1), json!(5)],
            vec![json!("d3"), json!("f5")],
            vec![json!([[8, 5], [6, 5]]), json!([[24, 18]]), json!([])],
            vec![
                json!({"to": "d2"}),
                json!({"from": "a7", "to": "a4", "take": "d6"}),
            ],
            vec![json!("roll"), json!("double")],
        ];
        for legal in lists {
            for (index, mv) in legal.iter().enumerate() {
                let words = readable(mv);
                assert_eq!(meant(&words, &legal), *mv, "{words}");
                assert_eq!(meant(&format!("  {} ", words.to_uppercase()), &legal), *mv);
                assert_eq!(meant(&mv.to_string(), &legal), *mv);
                if is_numbered(&legal) {
                    assert_eq!(meant(&(index + 1).to_string(), &legal), *mv);
                }
            }
        }
        assert_eq!(
            readable(&json!({"from": "a7", "to": "a4", "take": "d6"})),
            "from a7 to a4 take d6"
        );
        // What is not listed.
        assert_eq!(meant("resign 1", &[json!("roll")]), json!({"resign": 1}));
        assert_eq!(
            meant("13/7 8/7", &[json!([[1, 0]])]),
            json!([[13, 7], [8, 7]])
        );
        assert_eq!(meant("nonsense", &[]), json!("nonsense"));
    }
}
