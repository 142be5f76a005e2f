//! The rules as a tool (the protocol's "Rules as a tool"): a line in, a line out, for every registered game.
//!
//! Pure: `cli` moves the lines. No game is named here; whatever a line asks goes through [`Ruleset`] and [`Position`].

use std::sync::Arc;

use hakem_protocol::{ErrorCode, limits};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Claim, Facts, GAMES, Kind, Outcome, Position, Ruleset, Seat, Setup, ToAct};
use crate::strict::{self, StrictError};

/// What is wrong with a question: the `error` of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind: `bad_json`, `not_utf8`, `bad_message` or `illegal_move`.
    pub code: ErrorCode,
    /// What, and what would be right.
    pub message: String,
}

impl Fault {
    fn bad_message(message: impl Into<String>) -> Fault {
        Fault {
            code: ErrorCode::BadMessage,
            message: message.into(),
        }
    }

    fn illegal(message: impl Into<String>) -> Fault {
        Fault {
            code: ErrorCode::IllegalMove,
            message: message.into(),
        }
    }
}

impl From<StrictError> for Fault {
    fn from(error: StrictError) -> Fault {
        Fault {
            code: match error {
                StrictError::NotUtf8 { .. } => ErrorCode::NotUtf8,
                StrictError::BadJson { .. } => ErrorCode::BadJson,
            },
            message: error.to_string(),
        }
    }
}

/// Answers questions about positions, a line each. Keeps the rules that were used last and its buffers, so that a
/// line costs a few microseconds.
#[derive(Debug, Default)]
pub struct Tool {
    /// For each of [`GAMES`] the rules that were used last.
    used: Vec<Option<Used>>,
    /// What positions tell of moves; of no use here.
    told: Vec<u8>,
    /// Whether a line was read already: a byte order mark may stand before the first.
    begun: bool,
}

/// Options as they were given, and the rules they make.
#[derive(Clone, Debug)]
struct Used {
    options: Map<String, Value>,
    rules: Arc<dyn Ruleset>,
}

impl Tool {
    /// A tool that has read nothing yet.
    pub fn new() -> Tool {
        Tool::default()
    }

    /// Answers one line (its line end may be attached). Appends exactly one line to `out`.
    ///
    /// A line longer than [`limits::MAX_LINE_BYTES`] is refused unread; of such a line a caller need not keep more
    /// than one byte beyond the limit.
    pub fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(fault) = self.try_answer(line, out) {
            #[derive(Serialize)]
            struct Answer {
                error: Fault,
            }
            out.truncate(start);
            write_json(out, &Answer { error: fault });
        }
        out.push(b'\n');
    }

    fn try_answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if line.len() > limits::MAX_LINE_BYTES {
            return Err(Fault {
                code: ErrorCode::BadJson,
                message: format!("the line is longer than {} bytes", limits::MAX_LINE_BYTES),
            });
        }
        let first = !std::mem::replace(&mut self.begun, true);
        let line = match line.strip_prefix("\u{feff}".as_bytes()) {
            Some(rest) if first => rest,
            _ => line,
        };
        let Value::Object(question) = strict::parse(line)? else {
            return Err(Fault::bad_message(
                "a question is a JSON object, like {\"game\":\"mangala\",\"rules\":{},\"moves\":[]}",
            ));
        };
        let rules = self.rules(&question)?;
        let facts = rules.facts();
        let asked = Asked::of(&question, &*rules)?;
        let mut position = position(&*rules, &question, &asked)?;
        self.settle(&mut *position, facts);
        match asked {
            Asked::Position => {}
            Asked::Claim(answer) => self.claim(&mut *position, &question, answer)?,
            Asked::Move(answer) => self.play(&mut *position, facts, answer)?,
            Asked::Moves(moves) => {
                for (index, answer) in moves.iter().enumerate() {
                    self.play(&mut *position, facts, answer)
                        .map_err(|fault| Fault {
                            message: format!("move {}: {}", index + 1, fault.message),
                            ..fault
                        })?;
                }
            }
            Asked::Forfeit(seat) => {
                if position.to_act() == ToAct::Over {
                    return Err(Fault::bad_message(
                        "the game is over; nobody can forfeit it",
                    ));
                }
                if seat >= position.seats() {
                    return Err(Fault::bad_message(format!("there is no seat {seat}")));
                }
                if position.withdraw(seat) {
                    // The others play on, if they still can.
                    let outcome = position.outcome();
                    write_answer(&mut *position, true, outcome.as_ref(), out);
                    return Ok(());
                }
                let outcome = position.forfeit(seat);
                write_answer(&mut *position, true, Some(&outcome), out);
                return Ok(());
            }
        }
        let outcome = position.outcome();
        let with_state = !matches!(asked, Asked::Position);
        write_answer(&mut *position, with_state, outcome.as_ref(), out);
        Ok(())
    }

    /// The rules that a question names.
    fn rules(&mut self, question: &Map<String, Value>) -> Result<Arc<dyn Ruleset>, Fault> {
        let game = match question.get("game") {
            Some(Value::String(name)) => game_index(name)?,
            Some(_) => return Err(Fault::bad_message("`game` is a text, the game's name")),
            None => return Err(Fault::bad_message("`game` is missing, the game's name")),
        };
        let none = Map::new();
        let given = match question.get("rules") {
            None => &none,
            Some(Value::Object(given)) => given,
            Some(_) => {
                return Err(Fault::bad_message(
                    "`rules` is an object of options, {} for the defaults",
                ));
            }
        };
        self.used.resize(GAMES.len(), None);
        if let Some(used) = &self.used[game]
            && used.options == *given
        {
            return Ok(Arc::clone(&used.rules));
        }
        let rules = read_rules(game, given)?;
        self.used[game] = Some(Used {
            options: given.clone(),
            rules: Arc::clone(&rules),
        });
        Ok(rules)
    }

    /// Plays an answer, and the passes that follow from it.
    fn play(
        &mut self,
        position: &mut dyn Position,
        facts: &Facts,
        answer: &Value,
    ) -> Result<(), Fault> {
        self.told.clear();
        match position.to_act() {
            ToAct::Pass(seat) => {
                let pass = position.pass_move();
                if *answer != pass {
                    return Err(Fault::illegal(format!(
                        "seat {seat} cannot move here; its only answer is {pass}"
                    )));
                }
                position.pass(&mut self.told);
            }
            ToAct::Chance(_) => {
                return Err(Fault::illegal(
                    "nothing is asked here: the position waits for a random event, which the state must bring",
                ));
            }
            ToAct::Race => {
                return Err(Fault::bad_message(
                    "the seats race: one claim at a time, as `move` with its `seat`",
                ));
            }
            ToAct::Seat(..) | ToAct::Over => position
                .play(answer, &mut self.told)
                .map_err(|refusal| Fault::illegal(refusal.message))?,
        }
        self.settle(position, facts);
        Ok(())
    }

    /// Checks a claim in a race, and awards the race to the claimant if it is right.
    fn claim(
        &mut self,
        position: &mut dyn Position,
        question: &Map<String, Value>,
        answer: &Value,
    ) -> Result<(), Fault> {
        let seat = super::small_int(question.get("seat").unwrap_or(&Value::Null))
            .and_then(|seat| Seat::try_from(seat).ok())
            .filter(|&seat| seat < position.seats())
            .ok_or_else(|| {
                Fault::bad_message(format!(
                    "a claim has `seat` beside `move`: whose it is, 0 to {}",
                    position.seats() - 1
                ))
            })?;
        self.told.clear();
        match position.claim(seat, answer, &mut self.told) {
            Ok(Claim::Right) => position.award(&[seat]),
            Ok(Claim::Wrong(_) | Claim::GaveUp) => {}
            Err(refusal) => return Err(Fault::illegal(refusal.message)),
        }
        Ok(())
    }

    /// Plays forced passes where the game does not list them.
    fn settle(&mut self, position: &mut dyn Position, facts: &Facts) {
        while !facts.explicit_pass && matches!(position.to_act(), ToAct::Pass(_)) {
            self.told.clear();
            position.pass(&mut self.told);
        }
    }
}

/// What a line wants.
enum Asked<'a> {
    /// Whose turn it is, what is legal, or the result.
    Position,
    /// One move from the given state.
    Move(&'a Value),
    /// The same in a race: a claim.
    Claim(&'a Value),
    /// Moves from the start or the given state.
    Moves(&'a [Value]),
    /// The result if this seat forfeits.
    Forfeit(Seat),
}

impl Asked<'_> {
    fn of<'a>(question: &'a Map<String, Value>, rules: &dyn Ruleset) -> Result<Asked<'a>, Fault> {
        let forms = ["move", "moves", "forfeit"];
        let mut given = forms
            .into_iter()
            .filter_map(|form| question.get(form).map(|value| (form, value)));
        let asked = match given.next() {
            None => Asked::Position,
            Some(("move", answer)) if rules.race().is_some() => Asked::Claim(answer),
            Some(("move", answer)) => Asked::Move(answer),
            Some(("moves", Value::Array(moves))) => Asked::Moves(moves),
            Some(("moves", _)) => return Err(Fault::bad_message("`moves` is a list of moves")),
            Some((form, value)) => Asked::Forfeit(seat(form, value, rules.facts())?),
        };
        match given.next() {
            None => Ok(asked),
            Some(_) => Err(Fault::bad_message(
                "only one of `move`, `moves` and `forfeit` may be given",
            )),
        }
    }
}

/// Reads a seat number.
fn seat(field: &str, value: &Value, facts: &Facts) -> Result<Seat, Fault> {
    super::small_int(value)
        .and_then(|number| Seat::try_from(number).ok())
        .filter(|&seat| seat < facts.max_seats)
        .ok_or_else(|| {
            Fault::bad_message(format!(
                "`{field}` is a seat, 0 to {}, not {}",
                facts.max_seats - 1,
                super::cut(value)
            ))
        })
}

/// The position that a question starts from.
fn position(
    rules: &dyn Ruleset,
    question: &Map<String, Value>,
    asked: &Asked<'_>,
) -> Result<Box<dyn Position>, Fault> {
    let first = question
        .get("first")
        .map(|value| seat("first", value, rules.facts()))
        .transpose()?;
    let state = question.get("state");
    if first.is_some() && (state.is_some() || !matches!(asked, Asked::Moves(_))) {
        return Err(Fault::bad_message(
            "`first` goes with `moves` from the start; a state tells by itself whose turn it is",
        ));
    }
    match (state, asked) {
        (Some(state), _) => rules.read(state).map_err(Fault::bad_message),
        (None, Asked::Moves(_)) => start(rules, first),
        (None, _) => Err(Fault::bad_message("a `state` is needed, or `moves`")),
    }
}

/// The start of a game in which `first` moves first.
fn start(rules: &dyn Ruleset, first: Option<Seat>) -> Result<Box<dyn Position>, Fault> {
    let position = rules.start(&Setup {
        lot: first.unwrap_or(0),
        seats: rules.facts().min_seats,
        ..Setup::SINGLE
    });
    match (position.to_act(), first) {
        (ToAct::Chance(_), _) => Err(Fault::bad_message(
            "a `state` is needed: this game begins with a random event",
        )),
        (ToAct::Seat(seat, _), Some(first)) if seat != first => Err(Fault::bad_message(format!(
            "seat {seat} always moves first in this game"
        ))),
        _ => Ok(position),
    }
}

fn game_index(name: &str) -> Result<usize, Fault> {
    GAMES
        .iter()
        .position(|kind| kind.facts().name == name)
        .ok_or_else(|| {
            let known: Vec<&str> = GAMES.iter().map(|kind| kind.facts().name).collect();
            Fault::bad_message(format!(
                "there is no game {}; known are {}",
                super::cut(&Value::from(name)),
                known.join(", ")
            ))
        })
}

fn read_rules(game: usize, given: &Map<String, Value>) -> Result<Arc<dyn Ruleset>, Fault> {
    GAMES[game]
        .rules(given)
        .map_err(|error| Fault::bad_message(error.to_string()))
}

fn write_json(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("plain data is written to memory");
}

/// Appends an answer: who is asked what, what is legal, or the result.
fn write_answer(
    position: &mut dyn Position,
    with_state: bool,
    result: Option<&Outcome>,
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    if with_state {
        out.extend_from_slice(b"\"state\":");
        position.write_state(out);
        out.push(b',');
    }
    let to_act = if result.is_some() {
        ToAct::Over
    } else {
        position.to_act()
    };
    let (turn, ask) = match to_act {
        ToAct::Seat(seat, ask) => (Some(seat), Some(ask)),
        ToAct::Pass(seat) => (Some(seat), Some(super::Ask::Move)),
        ToAct::Chance(chance) => (chance.seat, None),
        ToAct::Race => (None, Some(super::Ask::Race)),
        ToAct::Over => (None, None),
    };
    out.extend_from_slice(b"\"turn\":");
    write_json(out, &turn);
    out.extend_from_slice(b",\"ask\":");
    write_json(out, &ask);
    out.extend_from_slice(b",\"legal\":");
    match to_act {
        ToAct::Seat(..) => position.write_legal(out),
        ToAct::Pass(_) => write_json(out, &[position.pass_move()]),
        ToAct::Chance(_) | ToAct::Race | ToAct::Over => out.extend_from_slice(b"[]"),
    }
    out.extend_from_slice(b",\"result\":");
    write_json(out, &result);
    out.push(b'}');
}

/// Counts the paths of exactly `depth` full moves. A forced pass is a ply; a game that is over sooner has no leaf; where
/// dice are due, all 21 rolls are counted, unweighted.
///
/// `state` and `rules` are JSON; the count is from the start of the game and with its default rules where they are
/// absent.
///
/// # Errors
/// A game that does not exist or is a race, or JSON that is no state or no rules of it.
pub fn perft(
    game: &str,
    depth: u32,
    state: Option<&[u8]>,
    rules: Option<&[u8]>,
) -> Result<u64, Fault> {
    perft_in(GAMES[game_index(game)?], depth, state, rules)
}

/// As [`perft`], in a game that need not be built in.
///
/// # Errors
/// As [`perft`]; also rules that fail.
pub fn perft_in(
    kind: &dyn Kind,
    depth: u32,
    state: Option<&[u8]>,
    rules: Option<&[u8]>,
) -> Result<u64, Fault> {
    let parse = |name: &str, json: &[u8]| {
        strict::parse(json).map_err(|error| {
            let fault = Fault::from(error);
            Fault {
                message: format!("{name}: {}", fault.message),
                ..fault
            }
        })
    };
    let given = match rules.map(|json| parse("rules", json)).transpose()? {
        None => Map::new(),
        Some(Value::Object(given)) => given,
        Some(_) => {
            return Err(Fault::bad_message(
                "rules: an object of options is needed, like {}",
            ));
        }
    };
    let rules = kind
        .rules(&given)
        .map_err(|error| Fault::bad_message(error.to_string()))?;
    if rules.race().is_some() {
        return Err(Fault::bad_message(format!(
            "{} is a race: it has no list of moves, so there are no paths to count",
            rules.facts().title
        )));
    }
    let position = match state.map(|json| parse("state", json)).transpose()? {
        None => rules.start(&Setup {
            seats: rules.facts().min_seats,
            ..Setup::SINGLE
        }),
        Some(state) => rules
            .read(&state)
            .map_err(|words| Fault::bad_message(format!("state: {words}")))?,
    };
    let paths = position.perft(depth);
    match position.broken() {
        None => Ok(paths),
        Some(why) => Err(Fault::bad_message(why)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const START: &str = r#"{"pits":[[4,4,4,4,4,4],[4,4,4,4,4,4]],"stores":[0,0],"turn":0}"#;

    fn answer(tool: &mut Tool, line: &[u8]) -> Value {
        let mut out = b"kept".to_vec();
        tool.answer(line, &mut out);
        let text = std::str::from_utf8(&out[4..]).expect("answers are text");
        assert_eq!(text.find('\n'), Some(text.len() - 1), "one line: {text:?}");
        serde_json::from_str(text).expect("answers are JSON")
    }

    fn code(tool: &mut Tool, line: &[u8]) -> String {
        let answer = answer(tool, line);
        let error = answer["error"]
            .as_object()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|words| words.len() > 5)
        );
        error["code"].as_str().expect("a code").into()
    }

    #[test]
    fn a_position_a_move_a_list_of_moves_and_a_forfeit() {
        let tool = &mut Tool::new();
        let all = json!([1, 2, 3, 4, 5, 6]);
        assert_eq!(
            answer(
                tool,
                format!(r#"{{"game":"mangala","rules":{{}},"state":{START}}}"#).as_bytes()
            ),
            json!({"turn":0,"ask":"move","legal":all,"result":null})
        );
        assert_eq!(
            answer(
                tool,
                format!(r#"{{"game":"mangala","state":{START},"move":3.0}}"#).as_bytes()
            ),
            json!({"state":{"pits":[[4,4,1,5,5,5],[4,4,4,4,4,4]],"stores":[0,0],"turn":1},
                "turn":1,"ask":"move","legal":all,"result":null})
        );
        let first = answer(tool, br#"{"game":"mangala","moves":[4],"first":1}"#);
        assert_eq!(first["turn"], 1);
        assert_eq!(
            first["state"]["pits"],
            json!([[4, 4, 4, 4, 4, 4], [4, 4, 4, 1, 5, 5]])
        );
        let from_state = format!(r#"{{"game":"mangala","state":{START},"moves":[4,3]}}"#);
        assert_eq!(answer(tool, from_state.as_bytes())["turn"], 1);
        let forfeit = format!(r#"{{"game":"mangala","state":{START},"forfeit":0}}"#);
        assert_eq!(
            answer(tool, forfeit.as_bytes())["result"],
            json!({"winner":1,"score":[0,1],"points":[0,0],"reason":"forfeit"})
        );
    }

    #[test]
    fn what_is_wrong_gets_its_code_and_the_tool_goes_on() {
        let tool = &mut Tool::new();
        let start = format!(r#""game":"mangala","rules":{{}},"state":{START}"#);
        let with = |rest: &str| format!("{{{start},{rest}}}").into_bytes();
        let long = vec![b' '; limits::MAX_LINE_BYTES + 1];
        let table: Vec<(Vec<u8>, &str)> = vec![
            (b"".to_vec(), "bad_json"),
            (b" \r".to_vec(), "bad_json"),
            (b"x".to_vec(), "bad_json"),
            (b"\xff{}".to_vec(), "not_utf8"),
            (with(r#""move":3,"move":4"#), "bad_json"),
            (with(r#""move":NaN"#), "bad_json"),
            (with(r#""move":1e400"#), "bad_json"),
            (with(r#""move":100000000000000000000"#), "bad_json"),
            (with(r#""note":"\ud800""#), "bad_json"),
            ([with(r#""move":3"#), b"{}".to_vec()].concat(), "bad_json"),
            ("\u{feff}{}".into(), "bad_json"),
            (b"[".repeat(100_000), "bad_json"),
            (long, "bad_json"),
            (b"[]".to_vec(), "bad_message"),
            (b"3".to_vec(), "bad_message"),
            (b"{}".to_vec(), "bad_message"),
            (br#"{"game":7}"#.to_vec(), "bad_message"),
            (br#"{"game":"go","moves":[]}"#.to_vec(), "bad_message"),
            (br#"{"game":"mangala"}"#.to_vec(), "bad_message"),
            (br#"{"game":"mangala","move":3}"#.to_vec(), "bad_message"),
            (br#"{"game":"mangala","forfeit":0}"#.to_vec(), "bad_message"),
            (
                br#"{"game":"mangala","rules":[],"moves":[]}"#.to_vec(),
                "bad_message",
            ),
            (
                br#"{"game":"mangala","rules":{"set":3},"moves":[]}"#.to_vec(),
                "bad_message",
            ),
            (
                br#"{"game":"mangala","rules":{"sets":0},"moves":[]}"#.to_vec(),
                "bad_message",
            ),
            (
                br#"{"game":"mangala","state":null}"#.to_vec(),
                "bad_message",
            ),
            (br#"{"game":"mangala","moves":3}"#.to_vec(), "bad_message"),
            (
                br#"{"game":"mangala","moves":[],"first":2}"#.to_vec(),
                "bad_message",
            ),
            (with(r#""moves":[],"first":0"#), "bad_message"),
            (with(r#""move":3,"moves":[3]"#), "bad_message"),
            (with(r#""forfeit":2"#), "bad_message"),
            (with(r#""forfeit":-1"#), "bad_message"),
            (with(r#""forfeit":"0""#), "bad_message"),
            (with(r#""move":0"#), "illegal_move"),
            (with(r#""move":null"#), "illegal_move"),
            (with(r#""move":"3""#), "illegal_move"),
            (with(r#""move":[3]"#), "illegal_move"),
            (with(r#""move":{"resign":1}"#), "illegal_move"),
            (with(r#""move":18446744073709551615"#), "illegal_move"),
            (with(r#""move":3.5"#), "illegal_move"),
            (with(r#""moves":[3,7]"#), "illegal_move"),
            (with(r#""moves":[3,null]"#), "illegal_move"),
        ];
        // The first line alone may begin with a byte order mark.
        let marked = format!(
            "\u{feff}{}",
            String::from_utf8(with(r#""move":3"#)).expect("text")
        );
        assert_eq!(answer(tool, marked.as_bytes())["turn"], 1);
        for (line, expected) in table {
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            assert_eq!(code(tool, &line), expected, "{shown}");
            assert_eq!(answer(tool, &with(r#""move":3"#))["turn"], 1);
        }
    }

    #[test]
    fn nothing_can_happen_after_the_end() {
        let tool = &mut Tool::new();
        let over = r#""game":"mangala","state":{"pits":[[0,0,0,0,0,0],[0,0,0,0,0,0]],"stores":[20,28],"turn":0}"#;
        assert_eq!(
            answer(tool, format!("{{{over}}}").as_bytes()),
            json!({"turn":null,"ask":null,"legal":[],
                "result":{"winner":1,"score":[0,1],"points":[20,28],"reason":"pits_empty"}})
        );
        let with = |rest: &str| format!("{{{over},{rest}}}").into_bytes();
        assert_eq!(code(tool, &with(r#""move":1"#)), "illegal_move");
        assert_eq!(code(tool, &with(r#""moves":["x"]"#)), "illegal_move");
        assert_eq!(code(tool, &with(r#""forfeit":0"#)), "bad_message");
        assert_eq!(answer(tool, &with(r#""moves":[]"#))["turn"], Value::Null);
    }

    #[test]
    fn rules_may_change_from_line_to_line() {
        let tool = &mut Tool::new();
        for _ in 0..2 {
            answer(tool, br#"{"game":"mangala","rules":{"sets":3},"moves":[]}"#);
            assert_eq!(
                code(
                    tool,
                    br#"{"game":"mangala","rules":{"sets":-3},"moves":[]}"#
                ),
                "bad_message"
            );
            answer(tool, br#"{"game":"mangala","rules":{},"moves":[]}"#);
        }
    }

    #[test]
    fn perft_tells_what_is_wrong() {
        assert_eq!(perft("mangala", 2, None, None), Ok(36));
        assert_eq!(
            perft("mangala", 1, Some(START.as_bytes()), Some(b"{}")),
            Ok(6)
        );
        for (game, state, rules, expected) in [
            ("go", None, None, ErrorCode::BadMessage),
            ("mangala", Some("{}"), None, ErrorCode::BadMessage),
            ("mangala", Some("{"), None, ErrorCode::BadJson),
            ("mangala", None, Some("[]"), ErrorCode::BadMessage),
            ("mangala", None, Some(r#"{"a":1}"#), ErrorCode::BadMessage),
        ] {
            let fault = perft(game, 1, state.map(str::as_bytes), rules.map(str::as_bytes));
            assert_eq!(fault.map_err(|fault| fault.code), Err(expected));
        }
    }
}
