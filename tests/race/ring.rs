//! A race at a table: seats that do what a test says, at times that it says.

use std::collections::VecDeque;
use std::sync::Arc;

use hakem::chance::{self, MatchChance};
use hakem::clock::{ClockSpec, Spent};
use hakem::event::{GameResult, MatchId, MatchResult};
use hakem::game::qbitz::faces::Answer;
use hakem::game::qbitz::{Qbitz, QbitzOptions};
use hakem::game::{self, Game};
use hakem::referee::record::{About, ChanceInfo};
use hakem::referee::table::FinishedGame;
use hakem::referee::{Effect, FaultKind, Gone, Input, MatchSetup, Outbox, SeatSetup, Table};
use hakem_protocol::{ClockKind, limits};
use serde_json::{Map, Value, json};

use super::check;

/// The names of the bots by seat.
const NAMES: [&str; 4] = ["ada", "bora", "cem", "deniz"];

/// A wall time as the only thing that was measured.
pub(crate) fn wall(wall_us: u64) -> Spent {
    Spent {
        wall_us,
        ..Spent::default()
    }
}

/// One seat.
#[derive(Debug, Default)]
pub(crate) struct Chair {
    /// Whether its process runs.
    pub(crate) up: bool,
    /// How often it was started.
    pub(crate) starts: u32,
    /// The open question.
    pub(crate) question: Option<Value>,
    /// When the table wants to look at it, from when it was asked.
    pub(crate) wake: Option<u64>,
    /// When it was asked; only the random tests keep a time.
    pub(crate) asked_at: u64,
    /// What it has read and no test has looked at.
    heard: VecDeque<Value>,
}

/// A race at its table.
pub(crate) struct Ring {
    pub(crate) table: Table,
    pub(crate) chairs: Vec<Chair>,
    pub(crate) games: Vec<FinishedGame>,
    pub(crate) matches: Vec<MatchResult>,
    /// How often its game was void because the referee stood still.
    pub(crate) voids: u32,
    /// The time, for tests that keep one.
    pub(crate) now: u64,
    out: Outbox,
}

/// What is to be raced.
pub(crate) struct Scene {
    pub(crate) seats: usize,
    pub(crate) rules: Value,
    pub(crate) clock: ClockSpec,
    pub(crate) opening: Option<Value>,
}

impl Scene {
    /// A race of so many seats with these rules, on a clock whose settings mean nothing in a race.
    pub(crate) fn new(seats: usize, rules: Value) -> Scene {
        Scene {
            seats,
            rules,
            clock: ClockSpec {
                main_us: Some(3),
                increment_us: 1,
                move_us: Some(2),
                delay_us: 0,
                margin_us: 5,
                ready_us: 10_000_000,
                kind: ClockKind::Wall,
                ceiling_us: None,
            },
            opening: None,
        }
    }

    /// The table with its bots just started.
    pub(crate) fn begin(self) -> Ring {
        let Value::Object(rules) = &self.rules else {
            panic!("rules are an object")
        };
        let names = &NAMES[..self.seats];
        let setup = MatchSetup {
            id: MatchId {
                round: 1,
                number: 1,
            },
            slots: (0..self.seats).collect(),
            seats: names
                .iter()
                .map(|&name| SeatSetup {
                    name: name.to_owned(),
                    options: Map::new(),
                    max_note: limits::MAX_NOTE_BYTES,
                })
                .collect(),
            rules: game::find("qbitz")
                .expect("a known game")
                .rules(rules)
                .expect("rules that can be"),
            clock: self.clock,
            cores: 1,
            chance: MatchChance::new("42", 1, names.iter().copied(), 0),
            chance_info: ChanceInfo {
                commitment: chance::commitment("42"),
                guessable: true,
                round: 1,
                field: names.iter().map(|&name| name.to_owned()).collect(),
                pair: 0,
            },
            opening: self.opening.clone(),
            opening_plies: 0,
            adjudication: None,
            restart_each_game: false,
            about: About::default(),
        };
        let mut ring = Ring {
            table: Table::new(Arc::new(setup)),
            chairs: names.iter().map(|_| Chair::default()).collect(),
            games: Vec::new(),
            matches: Vec::new(),
            voids: 0,
            now: 0,
            out: Outbox::default(),
        };
        ring.table.begin(&mut ring.out);
        ring.settle();
        ring
    }

    /// The table with its bots greeted and asked; what they heard before is forgotten.
    pub(crate) fn greeted(self) -> Ring {
        self.greeted_with(&json!({}))
    }

    /// The same, where `ready` has these fields besides.
    pub(crate) fn greeted_with(self, more: &Value) -> Ring {
        let mut ring = self.begin();
        for seat in 0..ring.chairs.len() {
            ring.ready(seat, more);
        }
        ring.forget();
        ring
    }
}

impl Ring {
    // ---- What happens -----------------------------------------------------------------------------------------------

    pub(crate) fn handle(&mut self, input: Input<'_>) {
        self.table.handle(input, &mut self.out);
        self.settle();
    }

    /// The seat writes a line when its question has been open for so long.
    pub(crate) fn line(&mut self, seat: usize, line: &str, spent: Spent) {
        self.handle(Input::Line {
            seat,
            line: line.as_bytes(),
            spent,
            early: false,
        });
    }

    pub(crate) fn ready(&mut self, seat: usize, more: &Value) {
        let mut ready = json!({"type": "ready", "protocol": 1, "name": NAMES[seat]});
        for (key, value) in more.as_object().into_iter().flatten() {
            ready[key] = value.clone();
        }
        self.line(seat, &ready.to_string(), wall(0));
    }

    /// The seat answers its question with this move.
    #[track_caller]
    pub(crate) fn answer(&mut self, seat: usize, mv: &Value, spent: Spent) {
        let id = self.turn(seat)["id"].clone();
        self.line(seat, &answer(&id, mv), spent);
    }

    /// The seat claims rightly after so many microseconds.
    #[track_caller]
    pub(crate) fn claims(&mut self, seat: usize, wall_us: u64) {
        let claim = right(&self.turn(seat)["state"]);
        self.answer(seat, &claim, wall(wall_us));
    }

    /// The seat claims wrongly after so many microseconds.
    #[track_caller]
    pub(crate) fn claims_wrongly(&mut self, seat: usize, wall_us: u64) {
        let claim = wrong(&self.turn(seat)["state"]);
        self.answer(seat, &claim, wall(wall_us));
    }

    /// The seat gives up.
    #[track_caller]
    pub(crate) fn gives_up(&mut self, seat: usize) {
        self.answer(seat, &json!({"qbitz": null}), wall(10));
    }

    /// The table looks at the seat's question when it wanted to. Returns how long it had been open.
    #[track_caller]
    pub(crate) fn look(&mut self, seat: usize) -> u64 {
        let wake = self.chairs[seat].wake.take();
        let wake = wake.unwrap_or_else(|| panic!("nobody looks at seat {seat}"));
        self.handle(Input::Deadline {
            seat,
            spent: wall(wake),
        });
        wake
    }

    /// The process of a seat is gone.
    pub(crate) fn gone(&mut self, seat: usize) {
        let how = Gone {
            kind: FaultKind::Exit(1),
            note: String::new(),
        };
        self.handle(Input::Gone {
            seat,
            how,
            spent: wall(7),
        });
    }

    // ---- What was seen ----------------------------------------------------------------------------------------------

    /// The turn that a seat is asked.
    #[track_caller]
    pub(crate) fn turn(&self, seat: usize) -> &Value {
        match &self.chairs[seat].question {
            Some(turn) if turn["type"] == "turn" => turn,
            other => panic!("seat {seat} is not asked to race but {other:?}"),
        }
    }

    /// The seats whose turn is open.
    pub(crate) fn racing(&self) -> Vec<usize> {
        let is_turn = |chair: &Chair| {
            chair
                .question
                .as_ref()
                .is_some_and(|asked| asked["type"] == "turn")
        };
        (0..self.chairs.len())
            .filter(|&seat| is_turn(&self.chairs[seat]))
            .collect()
    }

    /// The number of the round in play.
    #[track_caller]
    pub(crate) fn round(&self) -> &Value {
        let seat = self.racing()[0];
        &self.turn(seat)["state"]["round"]
    }

    /// The points by seat, as the round in play tells them.
    #[track_caller]
    pub(crate) fn points(&self) -> &Value {
        let seat = self.racing()[0];
        &self.turn(seat)["state"]["points"]
    }

    /// What a seat has read since this was last asked.
    pub(crate) fn messages(&mut self, seat: usize) -> Vec<Value> {
        self.chairs[seat].heard.drain(..).collect()
    }

    /// The same in a few words: `turn 2`, `stop 1 claimed`, `error illegal_move`.
    pub(crate) fn heard(&mut self, seat: usize) -> Vec<String> {
        self.messages(seat).iter().map(in_short).collect()
    }

    pub(crate) fn forget(&mut self) {
        self.chairs.iter_mut().for_each(|chair| chair.heard.clear());
    }

    /// The game is over.
    #[track_caller]
    pub(crate) fn over(&self) -> &GameResult {
        match self.games.as_slice() {
            [game] => &game.result,
            games => panic!("{} games are over", games.len()),
        }
    }

    /// The shares of the match.
    #[track_caller]
    pub(crate) fn shares(&self) -> Vec<f64> {
        match self.matches.as_slice() {
            [result] => result.score.iter().map(|share| share.value()).collect(),
            _ => panic!("the match is not over"),
        }
    }

    // ---- Effects ----------------------------------------------------------------------------------------------------

    fn settle(&mut self) {
        loop {
            let bytes = std::mem::take(&mut self.out.bytes);
            let effects = std::mem::take(&mut self.out.effects);
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                self.perform(effect, &bytes);
            }
        }
    }

    fn perform(&mut self, effect: Effect, bytes: &[u8]) {
        match effect {
            Effect::Start(seat) => {
                let chair = &mut self.chairs[seat];
                assert!(!chair.up && chair.question.is_none(), "seat {seat}");
                chair.up = true;
                chair.starts += 1;
            }
            Effect::Ask {
                seat,
                line,
                wake_us,
            } => {
                let message = self.hear(seat, &bytes[line]);
                let chair = &mut self.chairs[seat];
                let before = chair.question.replace(message);
                assert_eq!(before, None, "seat {seat} is asked two things");
                chair.wake = wake_us;
                chair.asked_at = self.now;
            }
            Effect::Tell { seat, line } => drop(self.hear(seat, &bytes[line])),
            Effect::Wake { seat, wake_us } => {
                let chair = &mut self.chairs[seat];
                assert!(chair.question.is_some(), "nothing to look at");
                chair.wake = Some(wake_us);
            }
            Effect::Close(seat) => {
                let chair = &mut self.chairs[seat];
                let open = chair.question.take().is_some();
                assert!(open || !chair.up, "nothing to close for seat {seat}");
                chair.wake = None;
            }
            Effect::Refill(seat) => assert!(self.chairs[seat].up, "seat {seat} is not there"),
            Effect::Release(seat) | Effect::Kill(seat) => {
                let chair = &mut self.chairs[seat];
                chair.question = None;
                chair.wake = None;
                if std::mem::take(&mut chair.up) {
                    self.table.handle(Input::Ended { seat }, &mut self.out);
                }
            }
            Effect::GameOver(game) => {
                check::record(&game, "42");
                self.games.push(*game);
            }
            Effect::MatchOver(result) => self.matches.push(result),
            Effect::GameVoid { why, .. } if why.contains("stood still") => self.voids += 1,
            Effect::GameVoid { id, why } | Effect::GaveUp { id, why } => {
                panic!("{id} is void: {why}")
            }
        }
    }

    fn hear(&mut self, seat: usize, line: &[u8]) -> Value {
        assert!(self.chairs[seat].up, "seat {seat} is not there");
        let message = check::line(line);
        check::schema("qbitz", &message);
        self.chairs[seat].heard.push_back(message.clone());
        message
    }
}

/// An answer as a line.
pub(crate) fn answer(id: &Value, mv: &Value) -> String {
    json!({"type": "move", "id": id, "move": mv}).to_string()
}

/// The right claim.
pub(crate) fn right(state: &Value) -> Value {
    let game = Qbitz::read(&QbitzOptions::default(), state).expect("a state");
    let tray = game.solution().expect("every pattern can be laid");
    serde_json::to_value(Answer(Some(tray))).expect("JSON")
}

/// A wrong claim: the right one but for one cell.
pub(crate) fn wrong(state: &Value) -> Value {
    let mut claim = right(state);
    claim["qbitz"][1][2]["cube"] = claim["qbitz"][0][0]["cube"].clone();
    claim
}

fn in_short(message: &Value) -> String {
    let word = |key: &str| match &message[key] {
        Value::String(text) => format!(" {text}"),
        Value::Null => String::new(),
        other => format!(" {other}"),
    };
    let kind = message["type"].as_str().expect("a message has a type");
    format!("{kind}{}{}{}", word("id"), word("why"), word("code"))
}
