//! A match without processes: the table, seats that do what a test says, and a time that is only told.
//!
//! Whatever the table wants done is checked on the way: it starts no seat twice, asks no seat that has an open question,
//! sends nothing to a seat that is not there, and every line, every record keeps to the protocol ([`super::check`]).

use std::collections::VecDeque;
use std::sync::Arc;

use hakem::chance::{self, MatchChance};
use hakem::clock::{ClockSpec, Spent};
use hakem::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use hakem::game;
use hakem::referee::adjudicate::{Adjudication, ResignRule};
use hakem::referee::lines::{Line, LineReader};
use hakem::referee::record::ChanceInfo;
use hakem::referee::table::FinishedGame;
use hakem::referee::{Effect, FaultKind, Gone, Input, MatchSetup, Outbox, SeatSetup, Table};
use hakem_protocol::{ClockKind, limits};
use serde_json::{Map, Value, json};

use super::check::{self, Asked};

/// A wall time as the only thing that was measured.
pub(crate) fn wall(wall_us: u64) -> Spent {
    Spent {
        wall_us,
        ..Spent::default()
    }
}

// ---- What is played -------------------------------------------------------------------------------------------------

/// What a match is to be.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) game: &'static str,
    pub(crate) rules: Value,
    pub(crate) clock: ClockSpec,
    pub(crate) opening: Option<Value>,
    pub(crate) opening_plies: u32,
    pub(crate) adjudication: Option<Adjudication>,
    pub(crate) restart_each_game: bool,
    pub(crate) seed: &'static str,
    /// The bots by seat; the event's order is always the alphabet's.
    pub(crate) names: [&'static str; 2],
    pub(crate) max_note: [usize; 2],
    pub(crate) pair: u32,
}

impl Scene {
    /// The game with its usual rules, five seconds for each answer.
    pub(crate) fn new(game: &'static str) -> Scene {
        Scene {
            game,
            rules: json!({}),
            clock: ClockSpec {
                main_us: None,
                increment_us: 0,
                move_us: Some(5_000_000),
                delay_us: 0,
                margin_us: 0,
                ready_us: 10_000_000,
                kind: ClockKind::Wall,
                ceiling_us: None,
            },
            opening: None,
            opening_plies: 0,
            adjudication: None,
            restart_each_game: false,
            seed: "42",
            names: ["ada", "bora"],
            max_note: [limits::MAX_NOTE_BYTES; 2],
            pair: 0,
        }
    }

    pub(crate) fn rules(mut self, rules: Value) -> Scene {
        self.rules = rules;
        self
    }

    pub(crate) fn clock(mut self, change: impl FnOnce(&mut ClockSpec)) -> Scene {
        change(&mut self.clock);
        self
    }

    /// Both rules of an event that may end a game.
    pub(crate) fn adjudicated(
        mut self,
        resign: Option<(f64, u32)>,
        max_moves: Option<u32>,
    ) -> Scene {
        self.adjudication = Some(Adjudication {
            resign: resign.map(|(eval, moves)| ResignRule { eval, moves }),
            max_moves,
        });
        self
    }

    pub(crate) fn opening(mut self, state: Value) -> Scene {
        self.opening = Some(state);
        self
    }

    fn setup(&self) -> MatchSetup {
        let Value::Object(rules) = &self.rules else {
            panic!("rules are an object")
        };
        let mut field = self.names.map(str::to_owned).to_vec();
        field.sort();
        MatchSetup {
            id: MatchId {
                round: 1,
                number: 1,
            },
            slots: vec![0, 1],
            seats: (0..2)
                .map(|seat| SeatSetup {
                    name: self.names[seat].to_owned(),
                    options: Map::from_iter([("of".to_owned(), json!(self.names[seat]))]),
                    max_note: self.max_note[seat],
                })
                .collect(),
            rules: game::find(self.game)
                .expect("a known game")
                .rules(rules)
                .expect("rules that can be"),
            clock: self.clock,
            cores: 1,
            chance: MatchChance::new(self.seed, 1, field.iter().map(String::as_str), self.pair),
            chance_info: ChanceInfo {
                commitment: chance::commitment(self.seed),
                guessable: true,
                round: 1,
                field,
                pair: self.pair,
            },
            opening: self.opening.clone(),
            opening_plies: self.opening_plies,
            adjudication: self.adjudication,
            restart_each_game: self.restart_each_game,
            about: (&json!({"of": "a test"})).into(),
        }
    }

    /// The match, its bots just started.
    pub(crate) fn begin(self) -> Sim {
        let mut sim = Sim::new(self);
        sim.table.begin(&mut sim.out);
        sim.settle();
        sim
    }

    /// The match with both bots greeted and its first question asked; what was said until then is forgotten, but for that
    /// question.
    pub(crate) fn greeted(self) -> Sim {
        self.greeted_with([json!({}), json!({})])
    }

    /// The same, where `ready` has these fields besides.
    pub(crate) fn greeted_with(self, more: [Value; 2]) -> Sim {
        let mut sim = self.begin();
        for (seat, more) in more.into_iter().enumerate() {
            sim.say_ready(seat, &more);
        }
        sim.forget();
        sim
    }
}

/// A state of Mangala in which the seat on turn has one stone left, whose move ends the game; `stores` count after that.
pub(crate) fn last_stone(turn: usize, stores: [u8; 2]) -> Value {
    // The stone goes from pit 6 into the treasury; the mover's side is then empty, and it takes what the other has.
    let mut pits = [[0; 6]; 2];
    pits[turn][5] = 1;
    pits[1 - turn][0] = 1;
    let mut before = stores;
    before[turn] -= 2;
    json!({"pits": pits, "stores": before, "turn": turn})
}

// ---- The seats ------------------------------------------------------------------------------------------------------

/// What has become of a seat's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    /// There is none.
    Absent,
    /// A start was ordered and failed; the table is not told yet.
    Broken,
    /// It runs.
    Running,
    /// It was told to leave, or killed.
    Leaving,
    /// It ended by itself or closed a pipe, and the table knows; what else it started must still be killed.
    Dead,
}

/// One seat.
#[derive(Debug)]
pub(crate) struct Chair {
    pub(crate) process: Process,
    /// How often a process was started.
    pub(crate) starts: u32,
    /// How often it was killed.
    pub(crate) kills: u32,
    /// The open question.
    pub(crate) question: Option<Value>,
    /// When the table wants to look at it.
    pub(crate) wake: Option<u64>,
    /// Whether its next start fails.
    pub(crate) fails_to_start: bool,
    /// Questions asked in all.
    pub(crate) asked: u64,
    reader: LineReader,
    heard: VecDeque<Value>,
}

/// A match at a table.
pub(crate) struct Sim {
    pub(crate) scene: Scene,
    pub(crate) table: Table,
    pub(crate) chairs: Vec<Chair>,
    /// Games that are over.
    pub(crate) games: Vec<FinishedGame>,
    /// Games that were void.
    pub(crate) voids: Vec<GameId>,
    /// How the match ended.
    pub(crate) ends: Vec<MatchEnd>,
    /// Whether seats that are to leave do so at once.
    pub(crate) prompt: bool,
    /// Whether every line is held against the schemas, which takes its time.
    pub(crate) schemas: bool,
    out: Outbox,
    /// The questions of the game in play.
    turns: Vec<Asked>,
    /// The last start that was told: the game, and how often it was played over.
    started: Option<(Value, Value)>,
    seen: usize,
}

/// The end of a match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MatchEnd {
    Over(MatchResult),
    GaveUp(GameId),
}

/// The limits of a line and of a game's output in these tests.
pub(crate) const LINE: usize = 4_000;
pub(crate) const OUTPUT: u64 = 100_000;

impl Sim {
    fn new(scene: Scene) -> Sim {
        let chair = || Chair {
            process: Process::Absent,
            starts: 0,
            kills: 0,
            question: None,
            wake: None,
            fails_to_start: false,
            asked: 0,
            reader: LineReader::new(LINE, OUTPUT),
            heard: VecDeque::new(),
        };
        Sim {
            table: Table::new(Arc::new(scene.setup())),
            scene,
            chairs: vec![chair(), chair()],
            games: Vec::new(),
            voids: Vec::new(),
            ends: Vec::new(),
            prompt: true,
            schemas: true,
            out: Outbox::default(),
            turns: Vec::new(),
            started: None,
            seen: 0,
        }
    }

    /// What is played, as the table knows it.
    pub(crate) fn setup(&self) -> MatchSetup {
        self.scene.setup()
    }

    // ---- What happens -----------------------------------------------------------------------------------------------

    pub(crate) fn handle(&mut self, input: Input<'_>) {
        self.table.handle(input, &mut self.out);
        self.settle();
    }

    /// The seat writes a whole line.
    pub(crate) fn line(&mut self, seat: usize, line: &[u8], spent: Spent) {
        self.handle(Input::Line {
            seat,
            line,
            spent,
            early: false,
        });
    }

    /// The seat writes a message, at no cost of time.
    pub(crate) fn say(&mut self, seat: usize, message: &Value) {
        self.line(seat, message.to_string().as_bytes(), Spent::default());
    }

    /// `ready` with more fields.
    pub(crate) fn say_ready(&mut self, seat: usize, more: &Value) {
        let mut ready =
            json!({"type": "ready", "protocol": 1, "name": self.scene.names[seat].to_uppercase()});
        for (key, value) in more.as_object().into_iter().flatten() {
            ready[key] = value.clone();
        }
        self.say(seat, &ready);
    }

    /// A plain `ready`.
    pub(crate) fn ready(&mut self, seat: usize) {
        self.say_ready(seat, &Value::Null);
    }

    /// Bytes as they come out of the pipe, read at once.
    pub(crate) fn write(&mut self, seat: usize, bytes: &[u8], spent: Spent) {
        let asked = self.chairs[seat].asked;
        let mut found = Vec::new();
        self.chairs[seat].reader.feed(bytes, |line| {
            found.push(match line {
                Line::Whole(line) => Ok(line.to_vec()),
                Line::TooLong => Err("a line too long"),
                Line::TooMuch => Err("too much output"),
            });
        });
        for line in found {
            let early = self.chairs[seat].asked > asked;
            match line {
                Ok(line) => self.handle(Input::Line {
                    seat,
                    line: &line,
                    spent,
                    early,
                }),
                Err(what) => self.handle(Input::Flood {
                    seat,
                    what: what.into(),
                    spent,
                }),
            }
        }
    }

    /// The seat writes too much.
    pub(crate) fn flood(&mut self, seat: usize) {
        let what = "a line too long".into();
        let spent = Spent::default();
        self.handle(Input::Flood { seat, what, spent });
    }

    /// The seat's process ends, or closes a pipe.
    pub(crate) fn gone(&mut self, seat: usize, kind: FaultKind) {
        if self.chairs[seat].process == Process::Running {
            self.chairs[seat].process = Process::Dead;
        }
        let how = Gone {
            kind,
            note: String::new(),
        };
        let spent = Spent::default();
        self.handle(Input::Gone { seat, how, spent });
    }

    /// The seat's processes have left.
    pub(crate) fn ended(&mut self, seat: usize) {
        let process = self.chairs[seat].process;
        assert_eq!(process, Process::Leaving, "seat {seat} cannot leave");
        self.chairs[seat].process = Process::Absent;
        self.handle(Input::Ended { seat });
    }

    /// A start that failed becomes known.
    pub(crate) fn not_started(&mut self, seat: usize) {
        assert_eq!(self.chairs[seat].process, Process::Broken, "seat {seat}");
        self.chairs[seat].process = Process::Absent;
        // What was to be sent to it went nowhere.
        self.chairs[seat].question = None;
        self.chairs[seat].wake = None;
        let why = "no memory".into();
        self.handle(Input::NotStarted { seat, why });
    }

    /// The table looks at the seat's question once, when it has taken so long.
    pub(crate) fn look(&mut self, seat: usize, spent: Spent) {
        self.handle(Input::Deadline { seat, spent });
    }

    /// Time passes and the seat does nothing, until its question is closed. Returns how often the table looked, and the
    /// wall time then.
    pub(crate) fn time_out(&mut self, seat: usize) -> (u32, u64) {
        self.time_out_as(seat, wall)
    }

    /// The same, where this is measured after so much wall time.
    pub(crate) fn time_out_as(
        &mut self,
        seat: usize,
        measured: impl Fn(u64) -> Spent,
    ) -> (u32, u64) {
        let asked = self.chairs[seat].asked;
        let mut looks = 0;
        let mut last = 0;
        while self.chairs[seat].question.is_some() && self.chairs[seat].asked == asked {
            let wake = self.chairs[seat].wake.take();
            last =
                wake.unwrap_or_else(|| panic!("nobody ever looks at the question of seat {seat}"));
            looks += 1;
            assert!(looks < 20_000, "seat {seat} is looked at for ever");
            self.look(seat, measured(last));
        }
        (looks, last)
    }

    // ---- Playing ----------------------------------------------------------------------------------------------------

    /// The seat whose move is awaited.
    pub(crate) fn on_turn(&self) -> Option<usize> {
        (0..2).find(|&seat| self.open(seat) == Some("turn"))
    }

    /// The type of a seat's open question.
    pub(crate) fn open(&self, seat: usize) -> Option<&str> {
        self.chairs[seat].question.as_ref()?["type"].as_str()
    }

    /// The turn that a seat is asked.
    #[track_caller]
    pub(crate) fn turn(&self, seat: usize) -> &Value {
        match &self.chairs[seat].question {
            Some(turn) if turn["type"] == "turn" => turn,
            other => panic!("seat {seat} is not asked for a move but {other:?}"),
        }
    }

    /// The seat answers its turn with this move.
    #[track_caller]
    pub(crate) fn play(&mut self, seat: usize, mv: impl Into<Value>) {
        self.play_in(seat, mv, 0);
    }

    /// The same after so many microseconds of wall time.
    #[track_caller]
    pub(crate) fn play_in(&mut self, seat: usize, mv: impl Into<Value>, wall_us: u64) {
        let answer = json!({"type": "move", "id": self.turn(seat)["id"], "move": mv.into()});
        self.line(seat, answer.to_string().as_bytes(), wall(wall_us));
    }

    /// The seat answers whatever it is asked, the first of all legal answers.
    pub(crate) fn answer_honestly(&mut self, seat: usize) {
        let Some(question) = self.chairs[seat].question.clone() else {
            return;
        };
        let id = &question["id"];
        match question["type"].as_str() {
            Some("hello") => self.ready(seat),
            Some("ping") => self.say(seat, &json!({"type": "pong", "id": id})),
            _ => {
                let mv = first_legal(&self.scene, &question);
                self.say(seat, &json!({"type": "move", "id": id, "move": mv}));
            }
        }
    }

    /// Both answer honestly while `wanted` holds.
    pub(crate) fn go_on_while(&mut self, wanted: impl Fn(&Sim) -> bool) {
        for _ in 0..20_000 {
            let open = (0..2).find(|&seat| self.chairs[seat].question.is_some());
            match open {
                Some(seat) if wanted(self) => self.answer_honestly(seat),
                _ => return,
            }
        }
        panic!("honest bots play for ever");
    }

    /// Plays honestly until this game is in play.
    #[track_caller]
    pub(crate) fn go_on_to_game(&mut self, number: u32) {
        self.go_on_while(|sim| sim.table.game_id().game < number || sim.on_turn().is_none());
        assert_eq!(
            (self.table.game_id().game, self.on_turn().is_some()),
            (number, true),
            "game {number} is in play"
        );
    }

    /// Plays honestly to the end of the match.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> MatchResult {
        self.go_on_while(|_| true);
        self.match_over()
    }

    // ---- What was seen ----------------------------------------------------------------------------------------------

    /// The messages that a seat has read since this was last asked.
    pub(crate) fn messages(&mut self, seat: usize) -> Vec<Value> {
        self.chairs[seat].heard.drain(..).collect()
    }

    /// The same, each in a few words.
    pub(crate) fn heard(&mut self, seat: usize) -> Vec<String> {
        self.messages(seat).iter().map(in_short).collect()
    }

    /// Forgets all messages that were not looked at.
    pub(crate) fn forget(&mut self) {
        self.chairs.iter_mut().for_each(|chair| chair.heard.clear());
    }

    /// The next game that ended.
    #[track_caller]
    pub(crate) fn over(&mut self) -> GameResult {
        let game = self.games.get(self.seen).expect("a game is over");
        self.seen += 1;
        game.result.clone()
    }

    /// The next game that ended was lost by this seat's fault.
    #[track_caller]
    pub(crate) fn lost(&mut self, seat: usize, verdict: Verdict, reason: &str) -> GameResult {
        let result = self.over();
        assert_eq!(
            (result.against, result.verdict),
            (Some(seat), verdict),
            "{}",
            result.reason
        );
        assert!(
            result.reason == reason || result.reason.starts_with(&format!("{reason}: ")),
            "`{}` is not `{reason}`",
            result.reason
        );
        assert_eq!(result.winner, Some(1 - seat));
        result
    }

    /// No game has ended that was not looked at.
    #[track_caller]
    pub(crate) fn goes_on(&self) {
        let last = self.games.last().map(|game| &game.result);
        assert_eq!(self.games.len(), self.seen, "a game is over: {last:?}");
        assert!(self.ends.is_empty(), "the match is over");
    }

    /// The result of the match.
    #[track_caller]
    pub(crate) fn match_over(&self) -> MatchResult {
        match self.ends.as_slice() {
            [MatchEnd::Over(result)] => result.clone(),
            other => panic!("the match is not over: {other:?}"),
        }
    }

    /// The match was won by this seat alone.
    #[track_caller]
    pub(crate) fn match_won_by(&self, seat: usize) -> MatchResult {
        let result = self.match_over();
        let score: Vec<f64> = result.score.iter().map(|share| share.value()).collect();
        assert_eq!(score[seat], 1.0, "{score:?}");
        assert_eq!(score[1 - seat], 0.0, "{score:?}");
        result
    }

    // ---- Effects ----------------------------------------------------------------------------------------------------

    /// Does what the table wants done, until nothing is left to do.
    fn settle(&mut self) {
        loop {
            let bytes = std::mem::take(&mut self.out.bytes);
            for effect in std::mem::take(&mut self.out.effects) {
                self.perform(effect, &bytes);
            }
            let leaves = |chair: &Chair| chair.process == Process::Leaving;
            match self.chairs.iter().position(leaves) {
                Some(seat) if self.prompt => {
                    self.chairs[seat].process = Process::Absent;
                    self.table.handle(Input::Ended { seat }, &mut self.out);
                }
                _ => return,
            }
        }
    }

    fn perform(&mut self, effect: Effect, bytes: &[u8]) {
        match effect {
            Effect::Start(seat) => {
                let chair = &mut self.chairs[seat];
                assert_eq!(chair.process, Process::Absent, "seat {seat} is started");
                assert_eq!(
                    chair.question, None,
                    "seat {seat} is started with an open question"
                );
                chair.process = if chair.fails_to_start {
                    Process::Broken
                } else {
                    Process::Running
                };
                chair.starts += 1;
                chair.reader = LineReader::new(LINE, OUTPUT);
            }
            Effect::Ask {
                seat,
                line,
                wake_us,
            } => {
                let message = self.hear(seat, &bytes[line]);
                let open = self.chairs[seat].question.replace(message);
                assert_eq!(open, None, "seat {seat} is asked two things");
                self.chairs[seat].asked += 1;
                self.chairs[seat].wake = wake_us;
            }
            Effect::Tell { seat, line } => {
                self.hear(seat, &bytes[line]);
            }
            Effect::Wake { seat, wake_us } => {
                assert!(self.chairs[seat].question.is_some(), "a look at nothing");
                self.chairs[seat].wake = Some(wake_us);
            }
            Effect::Close(seat) => {
                let open = self.chairs[seat].question.take();
                assert!(open.is_some(), "nothing was open at seat {seat}");
                self.chairs[seat].wake = None;
            }
            Effect::Refill(seat) => self.chairs[seat].reader.refill(),
            Effect::Release(seat) => self.leave(seat),
            Effect::Kill(seat) => {
                self.chairs[seat].kills += 1;
                self.leave(seat);
            }
            Effect::GameOver(game) => self.game_over(*game),
            Effect::GameVoid { id, .. } => {
                self.voids.push(id);
                self.turns.clear();
                self.started = None;
            }
            Effect::MatchOver(result) => self.ends.push(MatchEnd::Over(result)),
            Effect::GaveUp { id, .. } => self.ends.push(MatchEnd::GaveUp(id)),
        }
        assert!(self.ends.len() <= 1, "the match ends twice");
    }

    fn leave(&mut self, seat: usize) {
        let chair = &mut self.chairs[seat];
        match chair.process {
            Process::Running | Process::Dead => chair.process = Process::Leaving,
            Process::Leaving | Process::Broken => {}
            Process::Absent => panic!("seat {seat} is not there to leave"),
        }
    }

    fn hear(&mut self, seat: usize, line: &[u8]) -> Value {
        let process = self.chairs[seat].process;
        assert!(
            matches!(process, Process::Running | Process::Broken),
            "seat {seat} is {process:?}, and is sent {}",
            String::from_utf8_lossy(&line[..line.len().min(200)])
        );
        let message = check::line(line);
        if self.schemas {
            check::schema(self.scene.game, &message);
        }
        match message["type"].as_str() {
            Some("start") => {
                let which = (message["game_id"].clone(), message["again"].clone());
                if self.started.as_ref() != Some(&which) {
                    self.started = Some(which);
                    self.turns.push(Asked::start());
                }
            }
            Some("turn") => self.turns.push(Asked::turn(&message)),
            _ => {}
        }
        self.chairs[seat].heard.push_back(message.clone());
        message
    }

    fn game_over(&mut self, game: FinishedGame) {
        let number = self.games.len() as u32 + 1;
        assert_eq!(game.result.id.game, number, "games end in their order");
        check::record(&game, self.scene.seed);
        check::news(&std::mem::take(&mut self.turns), &game.record);
        self.games.push(game);
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.ends.is_empty() {
            let open = self.chairs.iter().filter(|chair| chair.question.is_some());
            assert_eq!(open.count(), 0, "a question is open after the match");
        }
    }
}

/// The first legal answer to a turn, worked out where the bot declined the list.
pub(crate) fn first_legal(scene: &Scene, turn: &Value) -> Value {
    legal(scene, turn).swap_remove(0)
}

/// All legal answers to a turn.
pub(crate) fn legal(scene: &Scene, turn: &Value) -> Vec<Value> {
    if let Some(legal) = turn["legal"].as_array() {
        return legal.clone();
    }
    let rules = scene.rules.as_object().expect("rules are an object");
    let rules = game::find(scene.game).expect("a known game").rules(rules);
    let mut position = rules
        .expect("rules that can be")
        .read(&turn["state"])
        .expect("a state of the referee can be read");
    (0..position.count_legal())
        .map(|index| position.nth_legal(index))
        .collect()
}

/// A message in a few words: `turn 3 move`, `error illegal_move fatal`, `start r1.m1.g2`.
fn in_short(message: &Value) -> String {
    let word = |field: &str| match &message[field] {
        Value::String(text) => format!(" {text}"),
        Value::Null => String::new(),
        other => format!(" {other}"),
    };
    let kind = message["type"].as_str().unwrap_or_default();
    let rest = match kind {
        "start" => word("game_id") + &word("again"),
        "end" => word("game_id"),
        "turn" => word("id") + &word("ask"),
        "ping" => word("id"),
        "played" => word("seat") + &word("move"),
        "error" => {
            word("code")
                + if message["fatal"] == true {
                    " fatal"
                } else {
                    ""
                }
        }
        _ => String::new(),
    };
    format!("{kind}{rest}")
}
