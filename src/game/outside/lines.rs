//! The lines that a program of rules reads and writes (`protocol/GAMES.md`): questions written, answers read and checked.

use serde_json::{Map, Value, json};

use super::super::{Seat, Share, cut, small_int};
use super::same::first_twice;
use crate::strict;

/// Seats at most.
pub const MAX_SEATS: usize = 4;
/// Legal moves, and outcomes of one random event, at most.
pub const MAX_LISTED: usize = 100_000;
/// The longest name of a game, and of the reason of a result, in characters.
pub const MAX_WORD: usize = 32;
/// Characters of a title, and of the words for points, at most.
const MAX_TEXT: usize = 100;
/// Characters of a board at most.
const MAX_BOARD: usize = 20_000;

/// What a program says of its game.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The least and the greatest number of seats.
    pub seats: (usize, usize),
    /// Every option with its default.
    pub rules: Map<String, Value>,
    /// What points count.
    pub points: String,
    /// Whether it wants to be asked what a forfeit brings.
    pub forfeit: bool,
}

/// Who acts in a position, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// This seat makes one of these moves.
    Move(Seat, Vec<Value>),
    /// A random event, of this seat if it is one's: each outcome with its weight, and the sum of the weights.
    Chance(Option<Seat>, Vec<(Value, u32)>, u32),
    /// The game is over.
    Over(Ended),
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The seat that won alone.
    pub winner: Option<Seat>,
    /// Each seat's share.
    pub score: Vec<Share>,
    /// Each seat's points.
    pub points: Vec<u32>,
    /// The program's word for it.
    pub reason: String,
}

/// A position as a program tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The state, as JSON.
    pub state: String,
    /// What happens next.
    pub act: Act,
    /// The seats.
    pub seats: usize,
    /// The points as they stand, where the program tells them.
    pub points: Vec<u32>,
    /// The board for people, where the program draws one.
    pub board: Option<String>,
}

/// Why an answer is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The program refuses the question, in its words.
    Refused(String),
    /// The answer is not what `protocol/GAMES.md` says, in ours.
    Wrong(String),
}

impl Unusable {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Unusable::Refused(words) => format!("it answers with the error: {words}"),
            Unusable::Wrong(words) => words,
        }
    }
}

fn wrong<T>(words: impl Into<String>) -> Result<T, Unusable> {
    Err(Unusable::Wrong(words.into()))
}

/// What a question about a position asks.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// The first position.
    Start {
        /// The seat that moves first, where the rules leave that open.
        first: Seat,
        /// The seats.
        seats: usize,
    },
    /// A position, given from outside.
    Position(&'a Value),
    /// What comes of a move in a state (JSON).
    Move(&'a str, &'a Value),
    /// What comes of an outcome in a state.
    Chance(&'a str, &'a Value),
    /// What a forfeit of a seat brings in a state.
    Forfeit(&'a str, Seat),
}

/// The line that asks what the game is, without its end.
pub const DESCRIBE: &str = "{\"describe\":true}";

impl Question<'_> {
    /// The line, without its end.
    pub fn line(self, game: &str, rules: &str) -> String {
        let game = Value::from(game);
        let head = format!("{{\"game\":{game},\"rules\":{rules}");
        match self {
            Question::Start { first, seats } => {
                format!("{head},\"moves\":[],\"first\":{first},\"seats\":{seats}}}")
            }
            Question::Position(state) => format!("{head},\"state\":{state}}}"),
            Question::Move(state, mv) => format!("{head},\"state\":{state},\"move\":{mv}}}"),
            Question::Chance(state, value) => {
                format!("{head},\"state\":{state},\"chance\":{value}}}")
            }
            Question::Forfeit(state, seat) => {
                format!("{head},\"state\":{state},\"forfeit\":{seat}}}")
            }
        }
    }
}

/// The object on a line; `error` in it is a refusal.
fn object(line: &[u8]) -> Result<Map<String, Value>, Unusable> {
    let value = strict::parse(line).map_err(|error| {
        let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        Unusable::Wrong(format!("its answer {start:?} cannot be read: {error}"))
    })?;
    let Value::Object(answer) = value else {
        return wrong(format!("its answer {} is no JSON object", cut(&value)));
    };
    match answer.get("error") {
        None | Some(Value::Null) => Ok(answer),
        Some(error) => {
            let message = error.get("message").unwrap_or(error);
            let words = message.as_str().map_or_else(|| cut(message), plain);
            Err(Unusable::Refused(words))
        }
    }
}

/// Text without control characters, of bounded length.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect()
}

fn text(answer: &Map<String, Value>, key: &str, usual: &str) -> Result<String, Unusable> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(usual.to_owned()),
        Some(Value::String(text))
            if !text.trim().is_empty()
                && text.chars().count() <= MAX_TEXT
                && !text.chars().any(char::is_control) =>
        {
            Ok(text.trim().to_owned())
        }
        Some(other) => wrong(format!(
            "`{key}` is text of 1 to {MAX_TEXT} characters, not {}",
            cut(other)
        )),
    }
}

/// Whether a text can be a name or a reason: lower-case letters, digits, `_` and `-`.
fn is_word(text: &str) -> bool {
    (1..=MAX_WORD).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
}

/// Reads what a program says of its game.
///
/// # Errors
/// What is missing or cannot be.
pub fn described(line: &[u8]) -> Result<Described, Unusable> {
    let answer = object(line)?;
    let name = match answer.get("name") {
        Some(Value::String(name)) if is_word(name) => name.clone(),
        Some(other) => {
            return wrong(format!(
                "`name` is 1 to {MAX_WORD} lower-case letters, digits, _ and -, not {}",
                cut(other)
            ));
        }
        None => return wrong("`name` is missing, the game's name"),
    };
    let seats = match answer.get("seats") {
        None => Some((2, 2)),
        Some(Value::Array(range)) => match range.as_slice() {
            [least, most] => small_int(least).zip(small_int(most)),
            _ => None,
        },
        Some(number) => small_int(number).map(|number| (number, number)),
    };
    let seats = seats
        .filter(|(least, most)| 2 <= *least && least <= most && *most <= MAX_SEATS as i64)
        .map(|(least, most)| (least as usize, most as usize));
    let Some(seats) = seats else {
        return wrong(format!(
            "`seats` is 2 to {MAX_SEATS}, or a list of the least and the greatest number, like [2,4]"
        ));
    };
    let rules = match answer.get("rules") {
        None => Map::new(),
        Some(Value::Object(rules)) => rules.clone(),
        Some(other) => {
            return wrong(format!(
                "`rules` is an object with the default of each option, not {}",
                cut(other)
            ));
        }
    };
    let forfeit = match answer.get("forfeit") {
        None => false,
        Some(Value::Bool(wanted)) => *wanted,
        Some(other) => return wrong(format!("`forfeit` is true or false, not {}", cut(other))),
    };
    Ok(Described {
        title: text(&answer, "title", &name)?,
        points: text(&answer, "points", "points")?,
        name,
        seats,
        rules,
        forfeit,
    })
}

/// Reads a position. `given` is the state that was asked about, where the answer need not repeat it; `seats` are those
/// that the game has at least and at most.
///
/// # Errors
/// A refusal, or what the answer lacks.
pub fn standing(
    line: &[u8],
    given: Option<&Value>,
    seats: (usize, usize),
) -> Result<Standing, Unusable> {
    let mut answer = object(line)?;
    let state = match answer.get("state").or(given) {
        Some(state @ Value::Object(_)) => state.to_string(),
        Some(other) => return wrong(format!("`state` is an object, not {}", cut(other))),
        None => return wrong("`state` is missing, the position as an object"),
    };
    let count = match answer.get("seats") {
        None => seats.0,
        Some(value) => match small_int(value).and_then(|count| usize::try_from(count).ok()) {
            Some(count) if (seats.0..=seats.1).contains(&count) => count,
            _ => {
                return wrong(format!(
                    "`seats` is the number of seats of this position, not {}",
                    cut(value)
                ));
            }
        },
    };
    let points = match answer.get("points") {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => points(value, count)?,
    };
    let board = match answer.get("board") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(board(text)),
        Some(other) => {
            return wrong(format!(
                "`board` is text of several lines, not {}",
                cut(other)
            ));
        }
    };
    let act = act(&mut answer, count)?;
    Ok(Standing {
        state,
        act,
        seats: count,
        points,
        board,
    })
}

/// A board as it can be shown: no control characters but line ends, and one at the end.
pub fn board(text: &str) -> String {
    let mut board: String = text
        .chars()
        .filter(|&c| c == '\n' || !c.is_control())
        .take(MAX_BOARD)
        .collect();
    if !board.ends_with('\n') {
        board.push('\n');
    }
    board
}

fn act(answer: &mut Map<String, Value>, seats: usize) -> Result<Act, Unusable> {
    match answer.get("result") {
        None | Some(Value::Null) => {}
        Some(result) => return ended(result, seats).map(Act::Over),
    }
    let turn = match answer.get("turn") {
        None | Some(Value::Null) => None,
        Some(value) => Some(seat(value, seats).ok_or_else(|| {
            Unusable::Wrong(format!(
                "`turn` is a seat, 0 to {}, not {}",
                seats - 1,
                cut(value)
            ))
        })?),
    };
    match answer.get("ask").and_then(Value::as_str) {
        Some("move") => {}
        Some("chance") => return outcomes(answer.remove("outcomes"), turn),
        _ => {
            return wrong(format!(
                "`ask` is \"move\" or \"chance\" while there is no result, not {}",
                cut(answer.get("ask").unwrap_or(&Value::Null))
            ));
        }
    }
    let Some(turn) = turn else {
        return wrong("a move is asked for, and `turn` does not say of which seat");
    };
    let legal = match answer.remove("legal") {
        Some(Value::Array(legal)) => legal,
        other => {
            return wrong(format!(
                "`legal` is the list of legal moves, not {}",
                cut(&other.unwrap_or_default())
            ));
        }
    };
    if legal.is_empty() {
        return wrong(
            "it asks for a move, and `legal` is empty: a seat that cannot move has a move that says so, or is not asked",
        );
    }
    if legal.len() > MAX_LISTED {
        return wrong(format!("`legal` has more than {MAX_LISTED} moves"));
    }
    if legal.contains(&Value::Null) {
        return wrong("`legal` holds null, which is no move");
    }
    if let Some((one, two)) = first_twice(&legal) {
        let again = match one == two {
            true => String::new(),
            false => format!(", also as {}", cut(two)),
        };
        return wrong(format!(
            "`legal` lists {} twice{again}: each move once",
            cut(one)
        ));
    }
    Ok(Act::Move(turn, legal))
}

fn seat(value: &Value, seats: usize) -> Option<Seat> {
    small_int(value)
        .and_then(|seat| Seat::try_from(seat).ok())
        .filter(|&seat| seat < seats)
}

fn outcomes(listed: Option<Value>, turn: Option<Seat>) -> Result<Act, Unusable> {
    const RIGHT: &str = "`outcomes` is a list of [value, weight], like [[1,1],[2,1]]";
    let Some(Value::Array(listed)) = listed else {
        return wrong(RIGHT);
    };
    if listed.is_empty() || listed.len() > MAX_LISTED {
        return wrong(format!("{RIGHT}, of 1 to {MAX_LISTED} outcomes"));
    }
    let mut outcomes = Vec::with_capacity(listed.len());
    let mut sum: u32 = 0;
    for pair in listed {
        let Value::Array(pair) = pair else {
            return wrong(RIGHT);
        };
        let Ok([value, weight]) = <[Value; 2]>::try_from(pair) else {
            return wrong(RIGHT);
        };
        let weight = small_int(&weight)
            .and_then(|weight| u32::try_from(weight).ok())
            .filter(|&weight| weight > 0);
        let Some(weight) = weight else {
            return wrong("a weight in `outcomes` is a whole number from 1 on");
        };
        sum = match sum.checked_add(weight) {
            Some(sum) => sum,
            None => {
                return wrong(format!(
                    "the weights in `outcomes` sum up to more than {}",
                    u32::MAX
                ));
            }
        };
        outcomes.push((value, weight));
    }
    Ok(Act::Chance(turn, outcomes, sum))
}

fn points(value: &Value, seats: usize) -> Result<Vec<u32>, Unusable> {
    let read = value.as_array().and_then(|list| {
        list.iter()
            .map(|points| small_int(points).and_then(|points| u32::try_from(points).ok()))
            .collect::<Option<Vec<u32>>>()
    });
    match read {
        Some(points) if points.len() == seats => Ok(points),
        _ => wrong(format!(
            "`points` is a list of {seats} whole numbers from 0 on, by seat, not {}",
            cut(value)
        )),
    }
}

/// Reads a result.
fn ended(result: &Value, seats: usize) -> Result<Ended, Unusable> {
    let Value::Object(fields) = result else {
        return wrong(format!(
            "`result` is null or an object with `winner`, `score`, `points` and `reason`, not {}",
            cut(result)
        ));
    };
    let winner = match fields.get("winner") {
        None | Some(Value::Null) => None,
        Some(value) => Some(seat(value, seats).ok_or_else(|| {
            Unusable::Wrong(format!(
                "`winner` is the seat that won alone, or null, not {}",
                cut(value)
            ))
        })?),
    };
    let score = match (fields.get("score"), winner) {
        (Some(value), _) => score(value, seats)?,
        (None, Some(winner)) => (0..seats)
            .map(|seat| {
                if seat == winner {
                    Share::WIN
                } else {
                    Share::LOSS
                }
            })
            .collect(),
        (None, None) => vec![share_of(seats); seats],
    };
    let alone = score.iter().position(|&share| share == Share::WIN);
    if alone != winner && (winner.is_some() || fields.contains_key("winner")) {
        return wrong(format!(
            "`winner` is {}, but `score` says {}",
            cut(&json!(winner)),
            cut(&json!(score))
        ));
    }
    let points = match fields.get("points") {
        None | Some(Value::Null) => vec![0; seats],
        Some(value) => points(value, seats)?,
    };
    let reason = match fields.get("reason") {
        None | Some(Value::Null) => "over".to_owned(),
        Some(Value::String(reason)) if is_word(reason) => reason.clone(),
        Some(other) => {
            return wrong(format!(
                "`reason` is a word of lower-case letters, digits, _ and -, not {}",
                cut(other)
            ));
        }
    };
    if reason == "void" {
        return wrong("`reason` is \"void\", which is the referee's word");
    }
    Ok(Ended {
        winner: alone,
        score,
        points,
        reason,
    })
}

/// The share of one of so many seats that share the win.
pub fn share_of(seats: usize) -> Share {
    Share::one_of(u8::try_from(seats).unwrap_or(u8::MAX))
}

fn score(value: &Value, seats: usize) -> Result<Vec<Share>, Unusable> {
    let read = value.as_array().and_then(|list| {
        list.iter()
            .map(|share| share.as_f64().and_then(Share::from_value))
            .collect::<Option<Vec<Share>>>()
    });
    let fits = |score: &Vec<Share>| {
        let winners = score.iter().filter(|&&share| share != Share::LOSS).count();
        score.len() == seats
            && score
                .iter()
                .all(|share| *share == Share::LOSS || usize::from(share.winners()) == winners)
            && winners > 0
    };
    read.filter(fits).map_or_else(
        || {
            wrong(format!(
                "`score` is a list of {seats} shares by seat: 1 for the winner and 0, or one over the number of those who \
                 share the win; not {}",
                cut(value)
            ))
        },
        Ok,
    )
}

/// Reads the answer to a forfeit: its result.
///
/// # Errors
/// A refusal, or what the answer lacks; also a result in which the seat that forfeits wins something.
pub fn forfeited(line: &[u8], by: Seat, seats: usize) -> Result<Ended, Unusable> {
    let answer = object(line)?;
    let ended = ended(answer.get("result").unwrap_or(&Value::Null), seats)?;
    if ended.score[by] == Share::LOSS {
        Ok(ended)
    } else {
        wrong(format!(
            "seat {by} forfeits, and the result gives it a share of the win"
        ))
    }
}
