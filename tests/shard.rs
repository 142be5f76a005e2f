//! The shard itself, in this process, with real bots: hundreds of short matches with every fault at once, and what is left
//! of them afterwards.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use common::Lab;
use hakem::bot::process::Program;
use hakem::bot::shard::{Handle, Job, Report};
use hakem::chance::{self, MatchChance};
use hakem::clock::ClockSpec;
use hakem::event::{GameResult, MatchId, Verdict};
use hakem::game;
use hakem::referee::record::{About, ChanceInfo};
use hakem::referee::{MatchSetup, SeatSetup, replay};
use hakem_protocol::ClockKind;
use serde_json::{Map, Value, json};

/// A shard that says nothing for so long hangs. Far above what any test needs; no test asserts a time.
const HANG: Duration = Duration::from_secs(120);
const SEED: &str = "7";
/// The name of a shard's thread.
const SHARD: &str = "shard in test";

/// The tests count what this process holds open, so they run one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- What is left ---------------------------------------------------------------------------------------------------

/// Open files, shards and children of this process.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    files: usize,
    /// Threads of shards; those of the test program come and go.
    shards: usize,
    /// Children that were not waited for, with their state.
    children: Vec<String>,
}

fn held() -> Held {
    let entries = |path: &str| {
        std::fs::read_dir(path)
            .expect("a folder of /proc")
            .flatten()
    };
    let is_shard = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == SHARD)
    };
    let me = std::process::id().to_string();
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc")
        .expect("/proc is there")
        .flatten()
    {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // pid (name) state ppid ...
        let Some((name, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        let mut fields = rest.split_whitespace();
        let state = fields.next().unwrap_or_default();
        if fields.next() == Some(&me) {
            children.push(format!("{name}) {state}"));
        }
    }
    Held {
        files: entries("/proc/self/fd").count(),
        shards: entries("/proc/self/task").filter(is_shard).count(),
        children,
    }
}

// ---- Playing --------------------------------------------------------------------------------------------------------

/// What is played, but for the bots.
#[derive(Clone, Debug)]
struct Plan {
    rules: Value,
    opening: Option<Value>,
    clock: ClockSpec,
    max_output: u64,
}

impl Plan {
    fn new() -> Plan {
        Plan {
            rules: json!({}),
            opening: None,
            clock: ClockSpec {
                main_us: None,
                increment_us: 0,
                move_us: Some(1_000_000),
                delay_us: 0,
                margin_us: 0,
                ready_us: 20_000_000,
                kind: ClockKind::Fair,
                ceiling_us: None,
            },
            max_output: 1 << 20,
        }
    }

    fn sets(mut self, sets: u32) -> Plan {
        self.rules = json!({"sets": sets});
        self
    }

    fn job(&self, lab: &Lab, number: u32, bots: [&[String]; 2]) -> Job {
        let Value::Object(rules) = &self.rules else {
            panic!("rules are an object")
        };
        let names = ["one", "two"];
        let setup = MatchSetup {
            id: MatchId { round: 1, number },
            slots: vec![0, 1],
            seats: names
                .map(|name| SeatSetup {
                    name: name.to_owned(),
                    options: Map::new(),
                    max_note: 100,
                })
                .to_vec(),
            rules: game::find("mangala")
                .expect("a game")
                .rules(rules)
                .expect("rules"),
            clock: self.clock,
            cores: 1,
            chance: MatchChance::new(SEED, 1, names, number),
            chance_info: ChanceInfo {
                commitment: chance::commitment(SEED),
                guessable: true,
                round: 1,
                field: names.map(str::to_owned).to_vec(),
                pair: number,
            },
            opening: self.opening.clone(),
            opening_plies: 0,
            adjudication: None,
            restart_each_game: false,
            about: About::default(),
        };
        let program = |argv: &[String]| Program {
            argv: argv.to_vec(),
            dir: None,
            env: lab.mark(),
            log: None,
            max_stderr: 10_000,
            max_line: 1 << 16,
            max_output: self.max_output,
            exit_us: 2_000_000,
            cores: 1,
            confine: None,
        };
        Job {
            setup: Arc::new(setup),
            programs: bots.map(program).to_vec(),
            fails_in: None,
        }
    }
}

/// A command line of the scripted bot.
fn mock(args: &[&str]) -> Vec<String> {
    let mut argv = vec![common::mockbot_path().to_string_lossy().into_owned()];
    argv.extend(args.iter().map(|arg| (*arg).to_owned()));
    argv
}

/// A bot in the shell's language.
fn shell(script: &str) -> Vec<String> {
    ["/bin/sh", "-c", script].map(str::to_owned).to_vec()
}

/// What became of a match.
#[derive(Debug, Default)]
struct Story {
    games: Vec<GameResult>,
    voids: usize,
    ends: usize,
    gave_up: Option<String>,
    left: usize,
}

/// A shard and what it has told.
struct Playing {
    handle: Handle,
    reports: mpsc::Receiver<Report>,
    stories: BTreeMap<MatchId, Story>,
}

impl Playing {
    fn start() -> Playing {
        Playing::on(Vec::new())
    }

    /// On these cores.
    fn on(cores: Vec<usize>) -> Playing {
        let (tell, reports) = mpsc::channel();
        let report = move |report| {
            // Nobody listens any more when a test has failed.
            let _ = tell.send(report);
        };
        Playing {
            handle: Handle::start(SHARD.into(), cores, 1, report).expect("a shard starts"),
            reports,
            stories: BTreeMap::new(),
        }
    }

    fn play(&mut self, job: Job) {
        self.stories.insert(job.setup.id, Story::default());
        self.handle.play(job);
    }

    /// Takes reports until `enough` holds.
    fn listen_until(&mut self, enough: impl Fn(&BTreeMap<MatchId, Story>) -> bool) {
        while !enough(&self.stories) {
            match self.reports.recv_timeout(HANG) {
                Ok(report) => self.take(report),
                Err(error) => {
                    let waiting = self.stories.iter().filter(|(_, story)| story.left == 0);
                    let waiting: Vec<String> = waiting.map(|(id, _)| id.to_string()).collect();
                    panic!("nothing more is told ({error}); not over: {waiting:?}");
                }
            }
        }
    }

    fn story(&mut self, id: MatchId) -> &mut Story {
        let story = self.stories.get_mut(&id);
        story.expect("a match that was handed over")
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::GameOver(game) => {
                let checked = replay::verify(&game.record, Some(SEED), &mut |_, _| {});
                let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", game.result.id));
                assert_eq!(checked.hash, game.result.record_hash);
                self.story(game.result.id.of).games.push(game.result);
            }
            Report::GameVoid { id, .. } => self.story(id.of).voids += 1,
            Report::MatchOver(result) => self.story(result.id).ends += 1,
            Report::GaveUp { id, why } | Report::Broke { id, why } => {
                self.story(id.of).ends += 1;
                self.story(id.of).gave_up = Some(why);
            }
            Report::Left(id) => self.story(id).left += 1,
            Report::Warning(text) | Report::LogCut(text) | Report::Failed(text) => panic!("{text}"),
            // The machine is busy.
            Report::StoodStill(_) => {}
        }
    }

    /// Waits until every match has left, ends the shard and returns what was told.
    fn finish(mut self) -> BTreeMap<MatchId, Story> {
        self.listen_until(|stories| stories.values().all(|story| story.left > 0));
        drop(self.handle);
        for (id, story) in &self.stories {
            assert_eq!(
                (story.ends, story.left),
                (1, 1),
                "{id} ends once and leaves once"
            );
        }
        self.stories
    }
}

/// Plays one match.
fn play_one(plan: &Plan, bots: [&[String]; 2]) -> Story {
    let lab = Lab::new();
    let mut playing = Playing::start();
    playing.play(plan.job(&lab, 1, bots));
    let story = playing.finish().pop_first().expect("one match").1;
    lab.assert_no_process_is_left();
    story
}

// ---- The stress -----------------------------------------------------------------------------------------------------

/// What a bot loses by; nothing where it plays on.
type Fault = Option<(Verdict, &'static str)>;

/// A bot's arguments, and what becomes of it at seat 0 against an honest bot.
const BOTS: [(&[&str], Fault); 28] = [
    (&[], None),
    (&["--pick", "hash:3", "--history", "--events"], None),
    (
        &["--no-legal", "--illegal-at", "1"],
        Some((Verdict::IllegalMove, "illegal_move")),
    ),
    (
        &[
            "--crlf",
            "--bom",
            "--blank-lines",
            "--float-move",
            "--eval",
            "--note-bytes",
            "300",
        ],
        None,
    ),
    (&["--ready-early"], None),
    (&["--after-end", "--ignore-term"], None),
    (
        &["--crash", "--exit-code", "3"],
        Some((Verdict::Crash, "exit 3")),
    ),
    (&["--crash-before-ready"], Some((Verdict::Crash, "exit"))),
    (&["--signal", "11"], Some((Verdict::Crash, "signal 11"))),
    (&["--signal", "9"], Some((Verdict::Crash, "signal 9"))),
    (&["--stall"], Some((Verdict::Timeout, "timeout"))),
    (&["--no-read"], Some((Verdict::Timeout, "timeout"))),
    (&["--illegal"], Some((Verdict::IllegalMove, "illegal_move"))),
    (&["--bad-json"], Some((Verdict::BadMessage, "bad_json"))),
    (
        &["--bad-message"],
        Some((Verdict::BadMessage, "bad_message")),
    ),
    (&["--not-utf8"], Some((Verdict::BadMessage, "not_utf8"))),
    (&["--wrong-id"], Some((Verdict::BadMessage, "wrong_id"))),
    (&["--twice"], Some((Verdict::BadMessage, "unasked"))),
    (
        &["--version", "2"],
        Some((Verdict::NoReady, "protocol_version")),
    ),
    (&["--bad-ready"], Some((Verdict::NoReady, "bad_json"))),
    (&["--flood-stdout"], Some((Verdict::Flood, "line_too_long"))),
    (&["--flood-blank"], Some((Verdict::Flood, "line_too_long"))),
    (&["--flood-stderr"], None),
    (
        &["--partial-line-then-exit"],
        Some((Verdict::Crash, "exit 0")),
    ),
    (&["--answer-then-exit"], Some((Verdict::Crash, "exit 0"))),
    (&["--close-stdout"], Some((Verdict::Crash, "closed_pipe"))),
    (&["--close-stdin"], Some((Verdict::Crash, "closed_pipe"))),
    (
        &["--fork-child-holds-stdout"],
        Some((Verdict::Crash, "exit 0")),
    ),
];

#[test]
fn hundreds_of_matches_with_every_fault_leave_nothing_behind() {
    let _alone = alone();
    let matches = if common::full() { 2_800 } else { 280 };
    let lab = Lab::new();
    let before = held();
    // On one core, as games are played.
    let mut playing = Playing::on(hakem::bot::os::cores()[..1].to_vec());
    let honest = mock(&["--pick", "hash:9"]);
    let bot = |number: u32| &BOTS[number as usize % BOTS.len()];
    for number in 1..=matches {
        // So many are played at once.
        playing
            .listen_until(|stories| stories.values().filter(|story| story.left == 0).count() < 16);
        let plan = Plan::new().sets(1 + number % 3);
        let argv = mock(bot(number).0);
        playing.play(plan.job(&lab, number, [&argv, &honest]));
    }
    let stories = playing.finish();
    for (id, story) in &stories {
        let (args, fault) = bot(id.number);
        assert_eq!(story.voids, 0, "{id} {args:?}");
        let first = &story.games[0];
        match fault {
            None => {
                let rule = story.games.iter().all(|game| game.verdict == Verdict::Rule);
                assert!(
                    rule && story.games.len() as u32 == 1 + id.number % 3,
                    "{id} {args:?} {story:?}"
                );
            }
            Some((verdict, reason)) => {
                assert_eq!(
                    (first.verdict, first.against),
                    (*verdict, Some(0)),
                    "{id} {args:?} {}",
                    first.reason
                );
                assert!(
                    first.reason.starts_with(reason),
                    "{id} {args:?} {}",
                    first.reason
                );
            }
        }
    }
    lab.assert_no_process_is_left();
    assert_eq!(held(), before);
}

#[test]
fn a_shard_that_is_dropped_in_mid_game_ends_all_its_bots() {
    let _alone = alone();
    let lab = Lab::new();
    let before = held();
    let mut playing = Playing::start();
    let mut plan = Plan::new().sets(1000);
    plan.clock.move_us = None;
    let stuck = mock(&["--stall-at", "1", "--ignore-term"]);
    let honest = mock(&[]);
    for number in 1..=6 {
        playing.play(plan.job(
            &lab,
            number,
            [if number % 2 == 0 { &stuck } else { &honest }, &honest],
        ));
    }
    playing.listen_until(|stories| {
        stories
            .values()
            .map(|story| story.games.len())
            .sum::<usize>()
            > 20
    });
    drop(playing);
    lab.assert_no_process_is_left();
    assert_eq!(held(), before);
}

#[test]
fn a_start_that_fails_once_is_tried_again_and_nobody_has_lost() {
    let _alone = alone();
    let lab = Lab::new();
    let later = lab.path("later");
    let plan = Plan::new();
    let missing = vec![later.to_string_lossy().into_owned()];
    let mut playing = Playing::start();
    playing.play(plan.job(&lab, 1, [&missing, &mock(&[])]));
    // The machine is mended after the first failure.
    playing.listen_until(|stories| stories.values().any(|story| story.voids > 0));
    std::os::unix::fs::symlink(common::mockbot_path(), &later).expect("the program is there now");
    let stories = playing.finish();
    let story = &stories[&MatchId {
        round: 1,
        number: 1,
    }];
    assert!(story.gave_up.is_none(), "{story:?}");
    assert_eq!((story.games.len(), story.ends), (1, 1), "{story:?}");
    assert_eq!(story.games[0].verdict, Verdict::Rule);
    lab.assert_no_process_is_left();
}

#[test]
fn a_failure_of_the_referee_itself_ends_one_match_and_its_bots() {
    let _alone = alone();
    let before = held();
    let lab = Lab::new();
    let plan = Plan::new().sets(3);
    let mut playing = Playing::start();
    let honest = [mock(&[]), mock(&[])];
    for number in 1..=6 {
        let mut job = plan.job(&lab, number, honest.each_ref().map(Vec::as_slice));
        let id = job.setup.id;
        job.fails_in = (number == 3).then(|| id.game(2));
        playing.play(job);
    }
    let stories = playing.finish();
    for (id, story) in &stories {
        if id.number == 3 {
            assert_eq!(story.games.len(), 1, "{story:?}");
            let why = story.gave_up.as_deref().expect("it says so");
            assert!(
                why.contains("a bug of hakem: a failure that was asked for at src"),
                "{why}"
            );
        } else {
            assert!(
                story.games.len() == 3 && story.gave_up.is_none(),
                "{story:?}"
            );
        }
    }
    assert_eq!(stories.len(), 6);
    lab.assert_no_process_is_left();
    assert_eq!(held(), before);
}

#[test]
fn a_program_that_cannot_be_started_gives_the_match_up_and_hurts_no_other() {
    let _alone = alone();
    let lab = Lab::new();
    let before = held();
    let mut playing = Playing::start();
    let honest = mock(&[]);
    let missing = vec!["/nowhere/bot".to_owned()];
    playing.play(Plan::new().job(&lab, 1, [&missing, &missing]));
    playing.play(Plan::new().job(&lab, 2, [&honest, &missing]));
    playing.play(Plan::new().sets(3).job(&lab, 3, [&honest, &honest]));
    let stories = playing.finish();
    for (id, story) in stories {
        if id.number == 3 {
            assert_eq!((story.games.len(), story.voids), (3, 0));
        } else {
            let why = story.gave_up.expect("it is given up");
            assert!(why.contains("could not be started"), "{why}");
            assert_eq!((story.games.len(), story.voids), (0, 2));
        }
    }
    lab.assert_no_process_is_left();
    assert_eq!(held(), before);
}

// ---- Single faults --------------------------------------------------------------------------------------------------

/// Reads the first lines and answers the greeting.
const GREET: &str = r#"read hello; echo '{"type":"ready","protocol":1,"name":"sh"}';"#;

/// A position in which seat 0 moves, and moves again with pit 6, whatever it had before.
fn extra_move() -> Value {
    json!({"pits": [[4, 4, 4, 4, 4, 1], [4, 4, 4, 4, 4, 4]], "stores": [3, 0], "turn": 0})
}

#[test]
fn an_answer_that_comes_with_a_flood_before_its_question_is_not_used() {
    let _alone = alone();
    let mut plan = Plan::new();
    plan.opening = Some(extra_move());
    // The first answer gives another move. Blank lines fill more than one read, so that the guess of the second answer is
    // in a read of its own. A pipe that is large enough takes all of it at once, before anything is read.
    let script = r#"
import fcntl, os, sys
sys.stdin.readline()
os.write(1, b'{"type":"ready","protocol":1}\n')
sys.stdin.readline(); sys.stdin.readline()
fcntl.fcntl(1, 1031, 1 << 18)
first = b'{"type":"move","id":1,"move":6}\n'
guess = b'{"type":"move","id":2,"move":1}\n'
os.write(1, first + b"\n" * ((1 << 16) - len(first)) + guess)
sys.stdin.read()
"#;
    let bot = ["python3", "-c", script].map(str::to_owned);
    let honest = mock(&[]);
    let story = play_one(&plan, [&bot, &honest]);
    let game = &story.games[0];
    assert_eq!(
        (game.verdict, game.against),
        (Verdict::BadMessage, Some(0)),
        "{}",
        game.reason
    );
    assert!(game.reason.starts_with("unasked"), "{}", game.reason);
    assert_eq!(game.moves, 1);
}

#[test]
fn a_child_that_floods_stderr_after_the_end_of_its_bot_holds_nothing_up() {
    let _alone = alone();
    let lab = Lab::new();
    let before = held();
    let mut playing = Playing::start();
    let honest = mock(&[]);
    // In a session of its own, so that ending the group does not end it; it ends when nobody reads any more.
    let script = format!(
        "{GREET} read start; for n in 1 2 3 4 5 6 7 8; do setsid cat /dev/zero >&2 & done; sleep 0.3; exit 4"
    );
    playing.play(Plan::new().job(&lab, 1, [&shell(&script), &honest]));
    playing.play(Plan::new().sets(3).job(&lab, 2, [&honest, &honest]));
    let stories = playing.finish();
    let first = stories.first_key_value().expect("a match").1;
    assert_eq!(first.games[0].verdict, Verdict::Crash);
    lab.assert_no_process_is_left();
    assert_eq!(held(), before);
}

#[test]
fn what_a_bot_wrote_before_it_was_started_anew_stays_in_its_log() {
    let _alone = alone();
    let lab = Lab::new();
    let log = lab.path("bot.log");
    let plan = Plan::new().sets(3);
    let crashing = mock(&["--stderr", "I am here", "--crash-at", "1"]);
    let honest = mock(&[]);
    let mut job = plan.job(&lab, 1, [&crashing, &honest]);
    job.programs[0].log = Some(log.clone());
    std::fs::write(&log, "of an earlier run\n").expect("a file");
    let mut playing = Playing::start();
    playing.play(job);
    let stories = playing.finish();
    assert_eq!(stories.first_key_value().expect("a match").1.games.len(), 2);
    let text = std::fs::read_to_string(log).expect("a log");
    assert_eq!(text.matches("I am here").count(), 2, "{text}");
    assert!(!text.contains("earlier"), "{text}");
}
