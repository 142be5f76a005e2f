//! Tries a program of rules as a game would, and in corners that a game meets seldom: games at random to their end, every
//! listed move, states read in again, questions asked twice; nothing that the referee would never ask. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::lines::{self, Act, Question, Standing, Unusable};
use super::same::same;
use super::{Outside, OutsideRules, short};
use crate::chance::{Draw, MatchChance};
use crate::game::{Chance, ChanceKind, Drawn, Seat};

/// Games at random for each number of seats and each seat that begins.
const GAMES: u32 = 4;
/// A game that has more moves and random events is not thought to end.
const LONGEST: u32 = 10_000;
/// Questions besides those of the games themselves, at most.
const MOST_QUESTIONS: u32 = 4_000;
/// Moves or outcomes that are tried in one position at most.
const TRIED: usize = 60;

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What, in a word that stays the same.
    pub check: &'static str,
    /// Whether it is as it should be; `None` where there is only something to know.
    pub good: Option<bool>,
    /// Whether a game would fail for it, not only a tool.
    pub grave: bool,
    /// What was seen.
    pub what: String,
    /// What mends it.
    pub cure: &'static str,
}

/// Tries the game under these options; the findings, in the order in which they were made. The first grave one is the last.
pub fn probe(game: &Outside, given: &Map<String, Value>) -> Vec<Finding> {
    let options = match game.options(given) {
        Ok(options) => options,
        Err(error) => return vec![grave("rules", error.to_string(), "leave it out")],
    };
    let mut probe = Probe {
        rules: OutsideRules::new(game.shared.clone(), options),
        lots: MatchChance::new("probe", 1, [], 0),
        drawn: 0,
        questions: 0,
        found: Vec::new(),
        wins: BTreeMap::new(),
        longest: 0,
        games: 0,
        chance: false,
        positions: 0,
    };
    if let Err(finding) = probe.all() {
        probe.found.push(finding);
    }
    probe.found
}

fn grave(check: &'static str, what: impl Into<String>, cure: &'static str) -> Finding {
    Finding {
        check,
        good: Some(false),
        grave: true,
        what: what.into(),
        cure,
    }
}

struct Probe {
    rules: OutsideRules,
    lots: MatchChance,
    drawn: u32,
    questions: u32,
    found: Vec<Finding>,
    wins: BTreeMap<Option<Seat>, u32>,
    longest: u32,
    games: u32,
    chance: bool,
    positions: u32,
}

impl Probe {
    fn all(&mut self) -> Result<(), Finding> {
        let described = self.rules.shared.described.clone();
        let (least, most) = described.seats;
        let seats = if least == most {
            format!("{least} seats")
        } else {
            format!("{least} to {most} seats")
        };
        let options: Vec<&str> = described.rules.keys().map(String::as_str).collect();
        let options = match options.as_slice() {
            [] => "no options".to_owned(),
            names => format!("options {}", names.join(", ")),
        };
        let name = &described.name;
        self.passes(
            "describe",
            format!("calls its game `{name}`: {seats}, {options}"),
        );
        for seats in least..=most {
            for first in 0..seats {
                for _ in 0..GAMES {
                    self.game(first, seats)?;
                }
            }
        }
        let (games, longest) = (self.games, self.longest);
        self.passes(
            "ends",
            format!("{games} games at random come to an end; the longest has {longest} moves and random events"),
        );
        let tried = self.positions;
        self.passes(
            "moves",
            format!("every move and outcome that was listed in {tried} positions is accepted"),
        );
        self.passes(
            "states",
            format!("each of {tried} states is read in again, and means the same"),
        );
        self.passes("same", "the same question has the same answer".to_owned());
        let wins: Vec<String> = self
            .wins
            .iter()
            .map(|(winner, count)| match winner {
                Some(seat) => format!("seat {seat} won {count}"),
                None => format!("nobody alone won {count}"),
            })
            .collect();
        let chance = if self.chance { "with" } else { "without" };
        self.found.push(Finding {
            check: "results",
            good: None,
            grave: false,
            what: format!("{}, {chance} random events", wins.join(", ")),
            cure: "",
        });
        self.refusals()
    }

    fn passes(&mut self, check: &'static str, what: String) {
        self.found.push(Finding {
            check,
            good: Some(true),
            grave: false,
            what,
            cure: "",
        });
    }

    fn warns(&mut self, check: &'static str, what: String, cure: &'static str) {
        if !self.found.iter().any(|finding| finding.check == check) {
            self.found.push(Finding {
                check,
                good: Some(false),
                grave: false,
                what,
                cure,
            });
        }
    }

    fn lot(&mut self, choices: u32) -> u32 {
        let chance = Chance {
            kind: ChanceKind::Ply,
            seat: None,
        };
        self.drawn += 1;
        match self.lots.draw(1, chance, self.drawn, choices) {
            Drawn::Lot(lot) => lot,
            Drawn::Dice(_) | Drawn::Bytes(_) => 0,
        }
    }

    fn ask(
        &mut self,
        check: &'static str,
        question: Question<'_>,
        seats: usize,
    ) -> Result<Standing, Finding> {
        let asked = || short(&self.rules.line(question));
        self.rules
            .ask(question, None, (seats, seats))
            .map_err(|what| match what {
                Unusable::Refused(words) => grave(
                    check,
                    format!("asked {}, it answers with the error: {words}", asked()),
                    "what is listed must be accepted",
                ),
                Unusable::Wrong(words) => {
                    grave(check, words, "protocol/GAMES.md tells what is right")
                }
            })
    }

    /// A game at random.
    fn game(&mut self, first: Seat, seats: usize) -> Result<(), Finding> {
        let start = Question::Start { first, seats };
        let mut standing = self.ask("start", start, seats)?;
        let mut steps = 0;
        loop {
            self.look(&standing)?;
            let next = match &standing.act {
                Act::Over(ended) => {
                    *self.wins.entry(ended.winner).or_insert(0) += 1;
                    self.games += 1;
                    self.longest = self.longest.max(steps);
                    return Ok(());
                }
                Act::Move(_, legal) => {
                    let mv = &legal[self.lot(legal.len() as u32) as usize];
                    self.ask("moves", Question::Move(&standing.state, mv), seats)?
                }
                Act::Chance(_, outcomes, sum) => {
                    self.chance = true;
                    let lot = self.lot(*sum);
                    let mut below = 0;
                    let value = outcomes.iter().find(|(_, weight)| {
                        below += weight;
                        lot < below
                    });
                    let value = value.map_or(&Value::Null, |(value, _)| value);
                    self.ask("moves", Question::Chance(&standing.state, value), seats)?
                }
            };
            standing = next;
            steps += 1;
            if steps > LONGEST {
                return Err(grave(
                    "ends",
                    format!("a game at random is not over after {LONGEST} moves and random events"),
                    "let the rules end every game: count moves, or repetitions, in the state",
                ));
            }
        }
    }

    /// Looks at a position from all sides, as long as there are questions left.
    fn look(&mut self, standing: &Standing) -> Result<(), Finding> {
        if self.questions >= MOST_QUESTIONS {
            return Ok(());
        }
        self.positions += 1;
        self.questions += 2;
        let seats = standing.seats;
        let state: Value = serde_json::from_str(&standing.state).unwrap_or_default();
        let range = self.rules.shared.described.seats;
        let question = Question::Position(&state);
        let again = self
            .rules
            .ask(question, Some(&state), range)
            .map_err(|what| {
                grave(
                    "states",
                    format!(
                        "its own state {} is not read in again: {}",
                        short(&standing.state),
                        what.words()
                    ),
                    "a question with `state` alone asks what is legal there, or for the result",
                )
            })?;
        if let Some(what) = differs(standing, &again) {
            return Err(grave(
                "states",
                format!("read in again, the state {} {what}", short(&standing.state)),
                "keep all that matters in `state`: the program may be started anew between two questions",
            ));
        }
        let differs_now = match self.rules.ask(question, Some(&state), range) {
            Ok(twice) => differs(&again, &twice),
            Err(what) => Some(format!("is refused: {}", what.words())),
        };
        if let Some(what) = differs_now {
            return Err(grave(
                "same",
                format!(
                    "asked twice of {}, it gives two answers: the second {what}",
                    short(&standing.state)
                ),
                "let the answer follow from the question alone; chance is the referee's to draw",
            ));
        }
        match &standing.act {
            Act::Move(_, legal) => {
                for mv in legal.iter().take(TRIED) {
                    self.questions += 1;
                    self.ask("moves", Question::Move(&standing.state, mv), seats)?;
                }
            }
            Act::Chance(_, outcomes, _) => {
                for (value, _) in outcomes.iter().take(TRIED) {
                    self.questions += 1;
                    self.ask("moves", Question::Chance(&standing.state, value), seats)?;
                }
            }
            Act::Over(_) => {}
        }
        Ok(())
    }

    /// What should be refused, and what a forfeit brings.
    fn refusals(&mut self) -> Result<(), Finding> {
        let seats = self.rules.shared.described.seats.0;
        let start = Question::Start { first: 0, seats };
        let mut standing = self.ask("start", start, seats)?;
        // A game may begin with random events.
        for _ in 0..LONGEST {
            let Act::Chance(_, outcomes, _) = &standing.act else {
                break;
            };
            let question = Question::Chance(&standing.state, &outcomes[0].0);
            standing = self.ask("moves", question, seats)?;
        }
        let nothing = json!({});
        match self
            .rules
            .ask(Question::Position(&nothing), Some(&nothing), (seats, seats))
        {
            Err(Unusable::Refused(_)) => {
                self.passes("bad-state", "a state that cannot be is refused".to_owned());
            }
            Ok(_) => self.warns(
                "bad-state",
                "it takes {} for a state".to_owned(),
                "answer with an error, so that a file of openings is checked",
            ),
            Err(Unusable::Wrong(words)) => self.warns(
                "bad-state",
                format!("asked of the state {{}}, it fails: {words}"),
                "answer with {\"error\":{\"code\":\"bad_message\",\"message\":\"...\"}}, so that a file of openings is checked",
            ),
        }
        if self.rules.shared.described.forfeit && !matches!(standing.act, Act::Over(_)) {
            for seat in 0..seats {
                let line = self.rules.line(Question::Forfeit(&standing.state, seat));
                let answer = self.rules.shared.program.ask(&line);
                answer
                    .map_err(Unusable::Wrong)
                    .and_then(|answer| lines::forfeited(&answer, seat, seats))
                    .map_err(|what| {
                        grave(
                            "forfeit",
                            format!("asked {}: {}", short(&line), what.words()),
                            "answer with the result, or leave `forfeit` out of the description",
                        )
                    })?;
            }
            self.passes("forfeit", "it says what a forfeit brings".to_owned());
        }
        Ok(())
    }
}

/// What is different in a position that should be the same.
fn differs(one: &Standing, other: &Standing) -> Option<String> {
    if one.seats != other.seats {
        return Some(format!(
            "has {} seats, not {} (`seats` in the answer tells them)",
            other.seats, one.seats
        ));
    }
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if !same(&read(&one.state), &read(&other.state)) {
        return Some(format!("becomes {}", short(&other.state)));
    }
    if let (Act::Move(seat, legal), Act::Move(other_seat, again)) = (&one.act, &other.act)
        && seat == other_seat
    {
        return lists_differ(legal, again).map(|what| format!("has the legal moves {what}"));
    }
    if let (Act::Chance(seat, outcomes, _), Act::Chance(other_seat, again, _)) =
        (&one.act, &other.act)
        && seat == other_seat
    {
        let listed = |outcomes: &[(Value, u32)]| -> Vec<Value> {
            let pair = |(value, weight): &(Value, u32)| json!([value, weight]);
            outcomes.iter().map(pair).collect()
        };
        return lists_differ(&listed(outcomes), &listed(again))
            .map(|what| format!("has the outcomes {what}"));
    }
    (one.act != other.act).then(|| {
        let words = |act: &Act| match act {
            Act::Move(seat, legal) => format!("asks seat {seat} with {} legal moves", legal.len()),
            Act::Chance(Some(seat), outcomes, _) => {
                format!("asks for one of {} outcomes of seat {seat}", outcomes.len())
            }
            Act::Chance(None, outcomes, _) => {
                format!("asks for one of {} outcomes", outcomes.len())
            }
            Act::Over(ended) => format!(
                "is over (winner {}, score {}, points {}, {})",
                json!(ended.winner),
                json!(ended.score),
                json!(ended.points),
                ended.reason
            ),
        };
        format!(
            "{}, and it came as one that {}",
            words(&other.act),
            words(&one.act)
        )
    })
}

/// What is different in a list that should be the same, its order included: the referee draws by the place in it.
fn lists_differ(one: &[Value], other: &[Value]) -> Option<String> {
    if one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other)) {
        return None;
    }
    let [before, after] = [one, other].map(|list| short(&json!(list).to_string()));
    // As texts, which are short: what means the same is written alike by one program.
    let sorted = |list: &[Value]| {
        let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
        texts.sort_unstable();
        texts
    };
    Some(match sorted(one) == sorted(other) {
        true => format!("{after}, and they came in another order: {before}"),
        false => format!("{after}, and it came with {before}"),
    })
}
