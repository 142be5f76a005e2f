//! The folder of results, from outside: what it keeps, what it refuses, and what it survives.

#![cfg(feature = "runner")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hakem::config::BotFiles;
use hakem::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use hakem::game::Share;
use hakem::store::{
    BotMeta, Chain, Meta, RESULTS, Records, SeedFile, Store, StoreError, Stored, VoidNote,
    read_seed, record_name, set_aside,
};
use hakem::tournament::rulings::{Ruling, What};
use serde_json::json;

// ---- What the tests store ---------------------------------------------------------------------------------------

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn meta() -> Meta {
    let files = BTreeMap::from([("bot.py".to_owned(), "00ff".to_owned())]);
    let bot = |name: &str, files: BTreeMap<String, String>| BotMeta {
        name: name.into(),
        files: BotFiles(files),
    };
    Meta {
        game_files: BotFiles::default(),
        name: "Spring course".into(),
        event: json!({"event": {"games": 2}}),
        bots: vec![
            bot("team-a", files),
            bot("house", BTreeMap::new()),
            bot("ö🂡", BTreeMap::new()),
        ],
        game: "mangala".into(),
        rules: json!({"sets": 3}),
        seed: "42".into(),
        hakem: "0.1.0".into(),
        created: "2026-01-02T03:04:05Z".into(),
    }
}

fn match_id(round: u32, number: u32) -> MatchId {
    MatchId { round, number }
}

fn game(round: u32, number: u32, game: u32) -> GameResult {
    GameResult {
        id: match_id(round, number).game(game),
        seats: vec![2, 0],
        winner: Some(1),
        score: Some(vec![Share::LOSS, Share::WIN]),
        points: Some(vec![game, 48 - game]),
        verdict: Verdict::Rule,
        reason: "pits_empty".into(),
        against: None,
        moves: 57,
        first: Some(1),
        time_us: vec![812_000, 640_000],
        wall_us: vec![820_000, 650_000],
        cpu_us: vec![790_000, 11_000],
        record_hash: "0123456789abcdef".repeat(4),
        play_hash: "fedcba9876543210".repeat(4),
    }
}

fn match_result(round: u32, number: u32) -> MatchResult {
    MatchResult {
        id: match_id(round, number),
        seats: vec![2, 0],
        score: vec![Share::HALF, Share::HALF],
        series: vec![1.5, 1.5],
        games: 3,
    }
}

/// Stores this many matches of one game each, a commit a match.
fn play(store: &mut Store, matches: std::ops::Range<u32>) {
    for number in matches {
        let batch = [
            Stored::Game(game(1, number, 1)),
            Stored::Match(match_result(1, number)),
        ];
        store.commit(&batch).expect("a commit");
    }
}

/// The folder as it is left when the process is killed: the files, but not what is in memory.
fn killed(dir: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for name in [RESULTS, "results.sqlite-wal"] {
        fs::copy(dir.join(name), to.join(name)).expect("a copy");
    }
}

// ---- Keeping ----------------------------------------------------------------------------------------------------

#[test]
fn what_is_stored_comes_back_in_schedule_order() {
    let folder = folder();
    let dir = folder.path().join("deep/spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    let forfeit = GameResult {
        winner: None,
        score: Some(vec![
            Share::one_of(3),
            Share::one_of(3),
            Share::LOSS,
            Share::one_of(3),
        ]),
        points: Some(vec![5, 5, 0, 5]),
        seats: vec![0, 1, 2, 1],
        verdict: Verdict::Crash,
        reason: "signal 11: it \u{1b}[31m died".into(),
        against: Some(2),
        time_us: vec![0, 1, 2, 1 << 62],
        wall_us: vec![],
        cpu_us: vec![],
        record_hash: String::new(),
        first: None,
        play_hash: String::new(),
        ..game(2, 10, 1)
    };
    let void = |why: &str| VoidNote {
        id: match_id(1, 2).game(1),
        seats: vec![0, 1],
        why: why.into(),
    };
    let four = MatchResult {
        seats: vec![0, 1, 2, 1],
        score: forfeit.score.clone().expect("a score"),
        series: vec![0.0, 0.5, 1e300, 3.0],
        ..match_result(2, 10)
    };
    store.commit(&[]).expect("nothing");
    store
        .commit(&[
            Stored::Game(forfeit.clone()),
            Stored::Match(four.clone()),
            Stored::Void(void("disk full")),
        ])
        .expect("a commit");
    store
        .commit(&[
            Stored::Game(game(2, 9, 2)),
            Stored::Game(game(2, 9, 1)),
            Stored::Void(void("again")),
        ])
        .expect("a commit");
    store
        .commit(&[
            Stored::Game(game(1, 2, 1)),
            Stored::Match(match_result(1, 2)),
            Stored::Match(match_result(2, 9)),
        ])
        .expect("a commit");
    let check = |store: &Store| {
        assert_eq!(store.meta().expect("meta"), meta());
        let wanted = [game(1, 2, 1), game(2, 9, 1), game(2, 9, 2), forfeit.clone()];
        assert_eq!(store.games().expect("games"), wanted);
        let mut seen = Vec::new();
        store.each_game(|game| seen.push(game)).expect("games");
        assert_eq!(seen, wanted);
        assert_eq!(
            store.matches().expect("matches"),
            [match_result(1, 2), match_result(2, 9), four.clone()]
        );
        let complete: Vec<String> = store
            .complete_matches()
            .expect("matches")
            .iter()
            .map(MatchId::to_string)
            .collect();
        assert_eq!(complete, ["r1.m2", "r2.m9", "r2.m10"]);
        assert_eq!(
            store.voids().expect("voids"),
            [void("disk full"), void("again")]
        );
        assert_eq!(
            store.game(game(2, 9, 2).id).expect("a game"),
            Some(game(2, 9, 2))
        );
        assert_eq!(store.game(game(2, 9, 3).id).expect("no game"), None);
    };
    check(&store);
    check(&Store::open_read_only(&dir).expect("a reader"));
    drop(store);
    check(&Store::open(&dir).expect("a store"));
    check(&Store::open_read_only(&dir).expect("a reader"));
}

#[test]
fn a_result_is_stored_once_and_a_batch_whole_or_not() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..3);
    let refused = |store: &mut Store, stored: Stored| {
        let error = store
            .commit(&[Stored::Game(game(9, 9, 9)), stored])
            .expect_err("refused");
        assert!(error.is_machine(), "{error}");
        assert_eq!(
            store.games().expect("games").len(),
            2,
            "nothing of the batch was stored"
        );
        error.to_string()
    };
    assert_eq!(
        refused(&mut store, Stored::Game(game(1, 2, 1))),
        "r1.m2.g1 is stored already"
    );
    assert_eq!(
        refused(&mut store, Stored::Match(match_result(1, 1))),
        "r1.m1 is stored already"
    );
    for (wrong, what) in [
        (
            GameResult {
                verdict: Verdict::Void,
                ..game(1, 3, 1)
            },
            "a void game does not count",
        ),
        (
            GameResult {
                score: None,
                ..game(1, 3, 1)
            },
            "a score and points",
        ),
        (
            GameResult {
                seats: vec![0, 3],
                ..game(1, 3, 1)
            },
            "there is no slot 3",
        ),
        (
            GameResult {
                seats: vec![0; 5],
                ..game(1, 3, 1)
            },
            "it has 5 seats",
        ),
        (
            GameResult {
                winner: Some(2),
                ..game(1, 3, 1)
            },
            "there is no seat 2",
        ),
        (
            GameResult {
                points: Some(vec![1]),
                ..game(1, 3, 1)
            },
            "1 points for 2 seats",
        ),
        (
            GameResult {
                time_us: vec![1],
                ..game(1, 3, 1)
            },
            "1 times for 2 seats",
        ),
        (
            GameResult {
                time_us: vec![1, u64::MAX],
                ..game(1, 3, 1)
            },
            "too long",
        ),
        (
            GameResult {
                play_hash: "0F".repeat(31),
                ..game(1, 3, 1)
            },
            "no SHA-256",
        ),
        (
            GameResult {
                first: Some(2),
                ..game(1, 3, 1)
            },
            "no seat 2",
        ),
        (
            GameResult {
                record_hash: "0F".repeat(32),
                ..game(1, 3, 1)
            },
            "no SHA-256",
        ),
        (
            GameResult {
                record_hash: "ö".repeat(32),
                ..game(1, 3, 1)
            },
            "no SHA-256",
        ),
        (
            GameResult {
                score: Some(vec![Share::one_of(5); 2]),
                ..game(1, 3, 1)
            },
            "no share",
        ),
    ] {
        let error = refused(&mut store, Stored::Game(wrong));
        assert!(error.starts_with("r1.m3.g1 cannot be stored: "), "{error}");
        assert!(error.contains(what), "{error}");
    }
    let wrong = MatchResult {
        series: vec![f64::NAN, 0.0],
        ..match_result(1, 3)
    };
    assert!(refused(&mut store, Stored::Match(wrong)).contains("no number"));
    play(&mut store, 3..4);
    assert_eq!(store.games().expect("games").len(), 3);
}

#[test]
fn games_of_unfinished_matches_are_dropped_for_resume() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..3);
    let half = [Stored::Game(game(1, 3, 1)), Stored::Game(game(1, 3, 2))];
    store.commit(&half).expect("a commit");
    store
        .records()
        .write_group(&[(game(1, 3, 1).id, b"{}\n")])
        .expect("a record");
    drop(store);
    let mut store = Store::open(&dir).expect("a store");
    assert_eq!(store.games().expect("games").len(), 4);
    assert_eq!(store.drop_unfinished().expect("dropped"), 2);
    assert_eq!(store.drop_unfinished().expect("dropped"), 0);
    assert_eq!(store.games().expect("games").len(), 2);
    let records = store.records();
    assert_eq!(records.read(game(1, 3, 1).id).expect("it is left"), b"{}\n");
    store.commit(&half).expect("they can be played again");
    store.set_name("Autumn course").expect("a name");
    assert_eq!(store.meta().expect("meta").name, "Autumn course");
}

#[test]
fn a_reader_sees_one_moment_while_a_run_goes_on() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..3);
    let early = Store::open_read_only(&dir).expect("a reader");
    assert_eq!(early.matches().expect("matches").len(), 2);
    play(&mut store, 3..6);
    assert_eq!(early.matches().expect("matches").len(), 2);
    assert_eq!(early.games().expect("games").len(), 2);
    let late = Store::open_read_only(&dir).expect("a reader");
    assert_eq!(late.games().expect("games").len(), 5);
    let mut late = late;
    let error = late
        .commit(&[Stored::Game(game(1, 7, 1))])
        .expect_err("a reader");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    drop((early, late));
    play(&mut store, 6..7);
    drop(store);
    // Nothing is left of the run or of the readers but the results.
    let mut left: Vec<String> = fs::read_dir(&dir)
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    left.sort();
    assert_eq!(left, ["logs", "records", "results.sqlite"]);
}

#[test]
fn an_event_that_goes_on_is_compared_with_what_was_played() {
    let folder = folder();
    let path = folder.path().join("spring.toml");
    let text = |rest: &str| {
        format!(
            "[event]\ngame = \"mangala\"\njobs = 1\n[[bot]]\nname = \"a\"\ncommand = \"./bot.sh\"\n[[bot]]\nname = \"b\"\nbuiltin = \"greedy\"\n{rest}"
        )
    };
    let read = |text: &str| {
        let config = hakem::config::parse(text, &path, &["greedy"])
            .unwrap_or_else(|error| panic!("{error}"));
        let files = hakem::config::bot_files(&config).unwrap_or_else(|error| panic!("{error}"));
        (config, files)
    };
    let bot = folder.path().join("bot.sh");
    fs::write(&bot, "#!/bin/sh\n").expect("a bot");
    fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).expect("a mode");
    let (config, files) = read(&text(""));
    let meta = Meta::new(&config, files, "42".into(), "2026-01-02T03:04:05Z".into());
    assert_eq!(meta.rules, json!({"sets": 1, "rematch_on_draw": false}));
    assert_eq!((meta.bots.len(), meta.bots[0].files.0.len()), (2, 1));
    let dir = folder.path().join("spring");
    drop(Store::create(&dir, &meta).expect("a store"));
    let stored = Store::open(&dir).expect("a store").meta().expect("meta");
    assert_eq!(stored, meta);
    let changes = |text: &str| {
        let (config, files) = read(text);
        stored.changes(&config, &files)
    };
    assert_eq!(
        changes(&text("").replace("jobs = 1", "jobs = 2\nname = \"x\"")),
        Vec::<String>::new()
    );
    fs::write(&bot, "#!/bin/sh\nexit\n").expect("a bot");
    let changed = text("[[bot]]\nname = \"c\"\nbuiltin = \"greedy\"\n[rules]\nsets = 3\n");
    assert_eq!(
        changes(&changed),
        [
            "[rules].sets was 1, is 3",
            "bot `c` was added",
            "bot `a`: bot.sh has changed"
        ]
    );
}

#[test]
fn the_seed_is_told_at_the_end() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let store = Store::create(&dir, &meta()).expect("a store");
    assert_eq!(read_seed(&dir).expect("no seed"), None);
    let seed = SeedFile {
        seed: "42".into(),
        commitment: "ab".into(),
        guessable: true,
    };
    store.write_seed(&seed).expect("a seed");
    store.write_seed(&seed).expect("again");
    assert_eq!(read_seed(&dir).expect("a seed"), Some(seed));
    let text = fs::read_to_string(dir.join("seed.json")).expect("a file");
    assert_eq!(
        text,
        "{\"seed\":\"42\",\"commitment\":\"ab\",\"guessable\":true}\n"
    );
    fs::write(dir.join("seed.json"), "{}").expect("a file");
    assert!(matches!(read_seed(&dir), Err(StoreError::Corrupt { .. })));
}

// ---- Records ----------------------------------------------------------------------------------------------------

#[test]
fn records_are_whole_and_named_by_their_game() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let store = Store::create(&dir, &meta()).expect("a store");
    let records = store.records();
    let ids: Vec<GameId> = (1..=40).map(|number| match_id(1, number).game(1)).collect();
    let texts: Vec<String> = ids.iter().map(GameId::to_string).collect();
    let all: Vec<(GameId, &[u8])> = ids
        .iter()
        .zip(&texts)
        .map(|(id, text)| (*id, text.as_bytes()))
        .collect();
    // One by one, and many with one call.
    records.write_group(&all[..2]).expect("records");
    records.write_group(&all[2..]).expect("records");
    records.write_group(&[]).expect("nothing");
    assert!(
        ids.iter()
            .all(|&id| records.read(id).expect("a record") == id.to_string().as_bytes())
    );
    records.write_group(&[(ids[0], b"anew")]).expect("a record");
    assert_eq!(records.read(ids[0]).expect("a record"), b"anew");
    assert_eq!(records.path(ids[0]), dir.join("records/r1.m1.g1.jsonl"));
    assert_eq!(record_name(ids[0]), "records/r1.m1.g1.jsonl");
    let names = fs::read_dir(dir.join("records"))
        .expect("the folder")
        .count();
    assert_eq!(names, 40, "no half record is left");
    let missing = match_id(7, 7).game(7);
    let error = Records::of(Path::new("/no/such/folder"))
        .write_group(&[(missing, b"")])
        .expect_err("missing");
    assert!(
        error.is_machine() && error.to_string().contains("/no/such/folder/records"),
        "{error}"
    );
}

// ---- The lock ---------------------------------------------------------------------------------------------------

#[test]
fn one_run_at_a_time() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let store = Store::create(&dir, &meta()).expect("a store");
    let own = std::process::id();
    for refused in [Store::open(&dir).map(drop), set_aside(&dir).map(drop)] {
        let error = refused.expect_err("locked");
        assert!(
            matches!(error, StoreError::Locked { pid: Some(pid), .. } if pid == own),
            "{error}"
        );
        assert!(!error.is_machine());
        assert!(
            error.to_string().contains(&format!("(process {own})")),
            "{error}"
        );
    }
    drop(store);
    assert!(!dir.join(".lock").exists());
    drop(Store::open(&dir).expect("free again"));
}

#[test]
fn the_lock_of_a_killed_run_is_free() {
    let folder = folder();
    let dir = folder.path().join("spring");
    drop(Store::create(&dir, &meta()).expect("a store"));
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "child", "--nocapture"])
        .env("STORE_TEST_ROLE", "hold")
        .env("STORE_TEST_DIR", &dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let output = child.stdout.take().expect("its output");
    let held = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("the lock is held"));
    assert!(held, "the other process holds the lock");
    let error = Store::open(&dir).expect_err("locked");
    assert!(
        matches!(error, StoreError::Locked { pid: Some(pid), .. } if pid == child.id()),
        "{error}"
    );
    assert_eq!(
        Store::open_read_only(&dir)
            .expect("a reader")
            .games()
            .expect("games")
            .len(),
        2
    );
    child.kill().expect("killed");
    child.wait().expect("gone");
    let mut store = Store::open(&dir).expect("free again");
    assert_eq!(store.games().expect("games").len(), 2);
    assert_eq!(store.drop_unfinished().expect("dropped"), 1);
}

// ---- Kills, cuts and damage -------------------------------------------------------------------------------------

/// A small generator of numbers (xorshift64*), so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap_or(0)
            % bound.max(1)
    }
}

/// Opens and checks that what is there is a beginning of what was stored.
fn check_prefix(dir: &Path, most: usize) -> usize {
    let store = Store::open(dir).expect("a clean beginning");
    let games = store.games().expect("games");
    let matches = store.matches().expect("matches");
    assert!(games.len() <= most);
    let wanted = 1..=u32::try_from(games.len()).expect("few");
    let numbers = wanted.clone().map(|number| game(1, number, 1));
    assert!(games.iter().cloned().eq(numbers), "{games:?}");
    assert!(
        matches
            .iter()
            .cloned()
            .eq(wanted.map(|number| match_result(1, number)))
    );
    games.len()
}

#[test]
fn a_cut_log_is_a_clean_beginning() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..61);
    let mut numbers = Numbers(11);
    let mut lengths = std::collections::BTreeSet::new();
    for round in 0..150 {
        let copy = folder.path().join(format!("cut{round}"));
        killed(&dir, &copy);
        let log = copy.join("results.sqlite-wal");
        let mut bytes = fs::read(&log).expect("the log");
        let at = numbers.below(bytes.len());
        if round % 3 == 0 {
            bytes[at] ^= 1 << numbers.below(8);
        } else {
            bytes.truncate(at);
        }
        fs::write(&log, bytes).expect("the log");
        lengths.insert(check_prefix(&copy, 60));
        fs::remove_dir_all(&copy).expect("removed");
    }
    assert!(
        lengths.len() > 20,
        "the cuts hit different commits: {lengths:?}"
    );
    killed(&dir, &folder.path().join("whole"));
    assert_eq!(check_prefix(&folder.path().join("whole"), 60), 60);
    drop(store);
    assert_eq!(check_prefix(&dir, 60), 60);
}

#[test]
fn damage_is_found_and_the_file_kept() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..200);
    drop(store);
    let whole = fs::read(dir.join(RESULTS)).expect("the file");
    let mut numbers = Numbers(5);
    let mut found = 0;
    for round in 0..150 {
        let copy = folder.path().join(format!("bad{round}"));
        fs::create_dir(&copy).expect("a folder");
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(numbers.below(bytes.len())),
            1 => {
                let at = numbers.below(bytes.len());
                let end = (at + 1 + numbers.below(600)).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
            _ => {
                let at = numbers.below(bytes.len());
                bytes[at] ^= 1 << numbers.below(8);
            }
        }
        let path = copy.join(RESULTS);
        fs::write(&path, &bytes).expect("a file");
        // Not every damage shows in the structure; what is read must then be told as an error or be a value, never a panic.
        let use_all = |store: &Store| {
            let _ = (store.meta(), store.games(), store.matches(), store.voids());
        };
        match Store::open_read_only(&copy) {
            Ok(store) => use_all(&store),
            Err(error) => assert!(
                matches!(
                    error,
                    StoreError::Corrupt { .. }
                        | StoreError::Foreign { .. }
                        | StoreError::NewerVersion { .. }
                ),
                "{error:?}"
            ),
        }
        match Store::open(&copy) {
            Ok(store) => use_all(&store),
            Err(error) => {
                found += 1;
                assert_eq!(fs::read(&path).expect("the file"), bytes, "it is unchanged");
                if let StoreError::Corrupt {
                    copy: Some(kept), ..
                } = &error
                {
                    assert_eq!(&fs::read(kept).expect("the copy"), &bytes);
                    let text = error.to_string();
                    assert!(
                        text.contains("results.sqlite.corrupt-1") && text.contains("--fresh"),
                        "{text}"
                    );
                    // A second attempt keeps no second copy of the same.
                    let Err(StoreError::Corrupt {
                        copy: Some(again), ..
                    }) = Store::open(&copy)
                    else {
                        panic!("it is still damaged");
                    };
                    assert_eq!(&again, kept);
                }
            }
        }
        fs::remove_dir_all(&copy).expect("removed");
    }
    assert!(found > 80, "{found} of 150 were found");
}

// ---- What is not ours -------------------------------------------------------------------------------------------

#[test]
fn what_is_not_ours_is_refused_and_left_alone() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let told = |error: &StoreError| {
        assert!(!error.is_machine());
        error
            .to_string()
            .replace(&folder.path().display().to_string(), "")
    };
    let open = || {
        let read = Store::open_read_only(&dir).expect_err("not ours");
        let write = Store::open(&dir).expect_err("not ours");
        assert_eq!(told(&read), told(&write));
        told(&write)
    };
    assert_eq!(open(), "there are no results in /spring: it does not exist");
    fs::create_dir(&dir).expect("a folder");
    assert_eq!(
        open(),
        "there are no results in /spring: it has no results.sqlite"
    );
    fs::write(dir.join("bot.py"), "print()").expect("a file");
    let error = Store::create(&dir, &meta()).expect_err("not empty");
    assert_eq!(
        told(&error),
        "/spring is not a result of this program: it has no results.sqlite, but holds bot.py; choose another folder"
    );
    assert_eq!(
        fs::read_dir(&dir).expect("the folder").count(),
        1,
        "nothing was made in it"
    );
    assert!(matches!(set_aside(&dir), Err(StoreError::Foreign { .. })));
    fs::remove_file(dir.join("bot.py")).expect("removed");

    let results = dir.join(RESULTS);
    fs::write(&results, "winner,loser\n".repeat(100)).expect("a file");
    assert!(open().contains("it is no SQLite file"), "{}", open());
    assert!(matches!(
        Store::create(&dir, &meta()),
        Err(StoreError::Exists { .. })
    ));
    fs::write(&results, "").expect("a file");
    assert!(matches!(
        Store::open_read_only(&dir),
        Err(StoreError::Corrupt { .. })
    ));
    assert!(matches!(Store::open(&dir), Err(StoreError::Corrupt { .. })));
    fs::remove_file(&results).expect("removed");
    fs::create_dir(&results).expect("a folder");
    assert!(open().contains("it is no file"), "{}", open());
    fs::remove_dir(&results).expect("removed");

    let other = rusqlite::Connection::open(&results).expect("a database");
    other
        .execute_batch(
            "PRAGMA journal_mode = wal; CREATE TABLE games (x); INSERT INTO games VALUES (1);",
        )
        .expect("a table");
    drop(other);
    let before = fs::read(&results).expect("the file");
    assert!(
        open().contains("an SQLite file of another program"),
        "{}",
        open()
    );
    assert_eq!(fs::read(&results).expect("the file"), before);

    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    assert!(matches!(
        Store::create(&file, &meta()),
        Err(StoreError::Foreign { .. })
    ));
    assert!(matches!(
        Store::open(&file),
        Err(StoreError::Missing { .. })
    ));
}

#[test]
fn results_of_a_newer_version_are_refused() {
    let folder = folder();
    let dir = folder.path().join("spring");
    drop(Store::create(&dir, &meta()).expect("a store"));
    let version = |number: u32| {
        rusqlite::Connection::open(dir.join(RESULTS))
            .and_then(|connection| connection.pragma_update(None, "user_version", number))
            .expect("a version");
    };
    version(99);
    for error in [
        Store::open(&dir).expect_err("newer"),
        Store::open_read_only(&dir).expect_err("newer"),
    ] {
        assert!(
            matches!(
                error,
                StoreError::NewerVersion {
                    found: 99,
                    known: 4,
                    ..
                }
            ),
            "{error}"
        );
    }
    version(0);
    assert!(matches!(Store::open(&dir), Err(StoreError::Corrupt { .. })));
    version(4);
    drop(Store::open(&dir).expect("ours"));
}

// ---- Rulings ----------------------------------------------------------------------------------------------------

fn ruling(number: u32, what: What) -> Ruling {
    Ruling {
        number,
        since: 1,
        at: "2026-01-02T03:04:05Z".into(),
        what,
        reason: "a reason".into(),
    }
}

fn replay(number: u32, of: MatchId) -> Ruling {
    ruling(number, What::Replay { of })
}

#[test]
fn rulings_are_appended_and_what_is_played_again_stands_beside_what_was() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..4);
    let of = match_id(1, 2);
    store.rule(&replay(1, of), &[]).expect("a ruling");
    let left: Vec<MatchId> = store
        .matches()
        .expect("matches")
        .iter()
        .map(|result| result.id)
        .collect();
    assert_eq!(left, [match_id(1, 1), match_id(1, 3)]);
    assert_eq!(store.game(of.game(1)).expect("no fault"), None);
    assert_eq!(
        store.game_under(of.game(1), None).expect("no fault"),
        Some(game(1, 2, 1))
    );
    // Its record goes beside the one before.
    let again = GameResult {
        winner: Some(0),
        score: Some(vec![Share::WIN, Share::LOSS]),
        ..game(1, 2, 1)
    };
    store
        .records()
        .write_group(&[(again.id, b"again")])
        .expect("a record");
    assert_eq!(
        fs::read(dir.join("records/r1.m2.g1.replay-1.jsonl")).expect("a record"),
        b"again"
    );
    store
        .commit(&[Stored::Game(again.clone())])
        .expect("a commit");
    assert_eq!(store.unfinished_matches().expect("ids"), [of].into());
    drop(store);
    // Cut short, it is played again from its first game; what was before is still there.
    let mut store = Store::open(&dir).expect("a store");
    assert_eq!(store.drop_unfinished().expect("dropped"), 1);
    let lost = MatchResult {
        score: vec![Share::WIN, Share::LOSS],
        ..match_result(1, 2)
    };
    store
        .commit(&[Stored::Game(again.clone()), Stored::Match(lost.clone())])
        .expect("a commit");
    let error = store
        .commit(&[Stored::Game(again.clone())])
        .expect_err("stored");
    assert!(matches!(error, StoreError::Duplicate { .. }), "{error}");
    let check = |store: &Store| {
        assert_eq!(store.game(again.id).expect("no fault"), Some(again.clone()));
        assert_eq!(store.games().expect("games")[1], again);
        assert_eq!(store.matches().expect("matches")[1], lost);
        assert_eq!(store.games_aside().expect("games"), [(game(1, 2, 1), None)]);
    };
    check(&store);
    check(&Store::open_read_only(&dir).expect("a reader"));
    // Undone, the first result is back, and the second one is set aside.
    store
        .rule(&ruling(2, What::Undo { ruling: 1 }), &[])
        .expect("a ruling");
    assert_eq!(store.matches().expect("matches")[1], match_result(1, 2));
    assert_eq!(store.games_aside().expect("games"), [(again, Some(1))]);
    assert_eq!(store.desk().expect("rulings").rulings().len(), 2);
    drop(store);
    // Not even SQL changes a ruling.
    let connection = rusqlite::Connection::open(dir.join(RESULTS)).expect("the file");
    for sql in ["UPDATE rulings SET reason = 'x'", "DELETE FROM rulings"] {
        let error = connection.execute(sql, []).expect_err("refused");
        assert!(error.to_string().contains("a ruling is never"), "{error}");
    }
    connection
        .execute(
            "INSERT INTO rulings VALUES (3, 1, 'x', '{\"kind\":\"withdraw\",\"slot\":7}', 'x', NULL)",
            [],
        )
        .expect("a row");
    drop(connection);
    let error = Store::open_read_only(&dir).expect_err("there is no bot 7");
    assert!(
        matches!(error, StoreError::Corrupt { .. }) && error.to_string().contains("ruling 3"),
        "{error}"
    );
}

#[test]
fn a_bot_that_is_added_belongs_to_the_event_from_then_on() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    let event = json!({"event": {"games": 4}});
    let what = What::Add {
        first: 3,
        count: 1,
        event: event.clone(),
    };
    let late = BotMeta {
        name: "late".into(),
        files: BotFiles(BTreeMap::new()),
    };
    store.rule(&ruling(1, what), &[late]).expect("a ruling");
    let seated = GameResult {
        seats: vec![3, 0],
        ..game(1, 1, 1)
    };
    store
        .commit(&[Stored::Game(seated)])
        .expect("the new bot has a place");
    drop(store);
    let now = Store::open(&dir).expect("a store").meta().expect("meta");
    assert_eq!(now.event, event);
    assert_eq!(now.bots.len(), 4);
    assert_eq!(now.bots[3].name, "late");
}

/// Results of each earlier layout can be read as they are, and are brought up to date when they are opened to write.
#[test]
fn results_of_earlier_layouts_are_read_and_ruled_on() {
    for layout in [1, 2, 3] {
        let folder = folder();
        let dir = folder.path().join("spring");
        let mut store = Store::create(&dir, &meta()).expect("a store");
        play(&mut store, 1..4);
        drop(store);
        let connection = rusqlite::Connection::open(dir.join(RESULTS)).expect("the file");
        let before = if layout == 3 {
            "ALTER TABLE rulings DROP COLUMN hash;"
        } else {
            "DROP TABLE replayed_games; DROP TABLE replayed_matches; DROP TABLE rulings;"
        };
        connection.execute_batch(before).expect("the layout before");
        connection
            .execute("DELETE FROM meta WHERE key = 'layout'", [])
            .expect("the layout before");
        if layout == 1 {
            connection
                .execute_batch(
                    "ALTER TABLE games DROP COLUMN play_hash; ALTER TABLE games DROP COLUMN first;",
                )
                .expect("the layout before");
        }
        connection
            .pragma_update(None, "user_version", layout)
            .expect("a version");
        drop(connection);
        let reader = Store::open_read_only(&dir).expect("a reader");
        assert!(reader.desk().expect("none").is_empty());
        assert_eq!(reader.games().expect("games").len(), 3);
        assert_eq!(reader.games_aside().expect("none"), []);
        drop(reader);
        let mut store = Store::open(&dir).expect("a store");
        assert_eq!(store.games().expect("games").len(), 3);
        store
            .rule(&replay(1, match_id(1, 1)), &[])
            .expect("a ruling");
        assert_eq!(store.matches().expect("matches").len(), 2);
        assert_eq!(store.games_aside().expect("games").len(), 1);
        assert_eq!(store.chain().expect("a chain"), Chain::default());
    }
}

/// A file that has this ruling without a hash, as the layout before chained none.
fn with_unchained(dir: &Path) {
    let mut store = Store::create(dir, &meta()).expect("a store");
    play(&mut store, 1..4);
    store
        .rule(&replay(1, match_id(1, 1)), &[])
        .expect("a ruling");
    drop(store);
    rusqlite::Connection::open(dir.join(RESULTS))
        .expect("the file")
        .execute_batch(
            "ALTER TABLE rulings DROP COLUMN hash; DELETE FROM meta WHERE key IN ('layout', 'rulings'); PRAGMA user_version = 3;",
        )
        .expect("the layout before");
}

/// Rulings from before there was a chain are counted apart; those after them chain them, too.
#[test]
fn rulings_of_an_earlier_layout_are_taken_into_the_chain() {
    let folder = folder();
    let dir = folder.path().join("spring");
    with_unchained(&dir);
    let unchained = Chain {
        faults: Vec::new(),
        before: 1,
    };
    let reader = Store::open_read_only(&dir).expect("a reader");
    assert_eq!(reader.chain().expect("a chain"), unchained);
    drop(reader);
    let mut store = Store::open(&dir).expect("a store");
    assert_eq!(store.chain().expect("a chain"), unchained);
    store
        .rule(&replay(2, match_id(1, 1)), &[])
        .expect("a ruling");
    assert_eq!(store.chain().expect("a chain"), unchained);
    drop(store);
    let change = |sql: &str| {
        rusqlite::Connection::open(dir.join(RESULTS))
            .expect("the file")
            .execute_batch(sql)
            .expect("changed");
        let reader = Store::open_read_only(&dir).expect("a reader");
        reader.chain().expect("a chain").faults
    };
    let faults = change(
        "DROP TRIGGER rulings_stay; UPDATE rulings SET reason = reason || '!' WHERE number = 1;",
    );
    assert!(
        faults[0].contains("ruling 2 is not as it was made"),
        "{faults:?}"
    );
    let faults = change("DROP TRIGGER rulings_last; DELETE FROM rulings WHERE number = 2;");
    assert!(
        faults[0].contains("a later one was taken away"),
        "{faults:?}"
    );
    let faults = change("DELETE FROM rulings;");
    assert!(
        faults[0].contains("a later one was taken away"),
        "{faults:?}"
    );
}

#[test]
fn a_folder_of_which_the_making_was_cut_short_can_be_used() {
    let folder = folder();
    let dir = folder.path().join("spring");
    for name in ["records", "logs"] {
        fs::create_dir_all(dir.join(name)).expect("a folder");
    }
    fs::write(dir.join(".results.new"), "half a file").expect("a file");
    fs::write(dir.join(".results.new-wal"), "half a log").expect("a file");
    fs::write(dir.join(".results.new-journal"), "half a journal").expect("a file");
    fs::write(dir.join(".lock"), "1\n").expect("a file");
    assert_eq!(set_aside(&dir).expect("nothing"), None);
    drop(Store::create(&dir, &meta()).expect("a store"));
    let left = fs::read_dir(&dir).expect("the folder").count();
    assert_eq!(left, 3, "results, records and logs");
    assert!(matches!(
        Store::create(&dir, &meta()),
        Err(StoreError::Exists { .. })
    ));
}

#[test]
fn results_are_set_aside_and_never_over_anything() {
    let folder = folder();
    let dir = folder.path().join("spring");
    assert_eq!(set_aside(&dir).expect("nothing"), None);
    fs::create_dir(folder.path().join("spring.1")).expect("an empty folder");
    for number in 2..4 {
        drop(Store::create(&dir, &meta()).expect("a store"));
        let aside = set_aside(&dir).expect("renamed").expect("a path");
        let wanted = fs::canonicalize(folder.path())
            .expect("a path")
            .join(format!("spring.{number}"));
        assert_eq!(aside, wanted);
        assert!(!dir.exists() && !aside.join(".lock").exists());
        assert_eq!(
            Store::open_read_only(&aside)
                .expect("a reader")
                .meta()
                .expect("meta"),
            meta()
        );
    }
    // Damaged results make room, too.
    fs::create_dir(&dir).expect("a folder");
    fs::write(dir.join(RESULTS), "damaged").expect("a file");
    assert!(set_aside(&dir).expect("renamed").is_some());
}

// ---- Disks that refuse ------------------------------------------------------------------------------------------

/// Runs a role of [`child`] with a file system of its own, prepared by a shell script (`$1` is the folder). `None` where this
/// machine does not allow that.
fn with_mount(script: &str, role: &str, dir: &Path) -> Option<(bool, String)> {
    let namespace = ["--user", "--map-root-user", "--mount"];
    let probe = Command::new("unshare")
        .args(namespace)
        .args(["mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        return None;
    }
    let output = Command::new("unshare")
        .args(namespace)
        .args([
            "sh",
            "-c",
            &format!("{script} && exec \"$2\" --ignored --exact child --nocapture"),
            "sh",
        ])
        .arg(dir)
        .arg(std::env::current_exe().expect("this program"))
        .env("STORE_TEST_ROLE", role)
        .env("STORE_TEST_DIR", dir)
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), text.into_owned()))
}

/// Runs the role, and fails with what it said; tells by name where it cannot be run.
fn run_with_mount(script: &str, role: &str, dir: &Path) {
    match with_mount(script, role, dir) {
        Some((good, text)) => assert!(good && text.contains("1 passed"), "{text}"),
        None => drop(writeln!(
            std::io::stderr(),
            "skipped: {role} (no mount namespaces here)"
        )),
    }
}

#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    let folder = folder();
    let dir = folder.path().join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    play(&mut store, 1..4);
    let copy = folder.path().join("copy");
    killed(&dir, &copy);
    let read_only = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    run_with_mount(read_only, "read-only", &copy);
    drop(store);
    run_with_mount(read_only, "read-only", &dir);
}

#[test]
fn a_full_disk_is_told_and_what_was_committed_is_kept() {
    let folder = folder();
    let dir = folder.path().join("full");
    fs::create_dir(&dir).expect("a folder");
    run_with_mount("mount -t tmpfs -o size=600k none \"$1\"", "full", &dir);
}

// ---- Parts of tests that need a process of their own ------------------------------------------------------------

#[test]
#[ignore = "other tests run it in a process of its own"]
fn child() {
    let dir = PathBuf::from(std::env::var_os("STORE_TEST_DIR").expect("a folder"));
    match std::env::var("STORE_TEST_ROLE").as_deref() {
        Ok("hold") => hold(&dir),
        Ok("read-only") => read_only(&dir),
        Ok("full") => full(&dir),
        role => panic!("{role:?} is no role"),
    }
}

/// Plays a little and holds the lock until it is killed.
fn hold(dir: &Path) {
    let mut store = Store::open(dir).expect("a store");
    play(&mut store, 1..2);
    store
        .commit(&[Stored::Game(game(1, 2, 1))])
        .expect("a commit");
    writeln!(std::io::stdout(), "the lock is held").expect("told");
    loop {
        std::thread::park();
    }
}

fn read_only(dir: &Path) {
    let store = Store::open_read_only(dir).expect("a reader");
    assert_eq!(
        store.games().expect("games").len(),
        3,
        "the log counts, too"
    );
    let error = Store::open(dir).expect_err("not writable");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(
        error.to_string().contains(&dir.display().to_string()),
        "{error}"
    );
    let error = Store::create(&dir.join("new"), &meta()).expect_err("not writable");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
}

fn full(dir: &Path) {
    let dir = dir.join("spring");
    let mut store = Store::create(&dir, &meta()).expect("a store");
    let ballast = dir.join("logs/ballast");
    fs::write(&ballast, vec![0; 100 << 10]).expect("a file");
    let is_full = |error: &StoreError| {
        assert!(
            matches!(error, StoreError::Full { free: Some(_), .. }),
            "{error:?}"
        );
        assert!(
            error.is_machine() && error.to_string().contains(" KB are free"),
            "{error}"
        );
    };
    let mut stored = 0;
    let error = loop {
        let batch = [
            Stored::Game(game(1, stored + 1, 1)),
            Stored::Match(match_result(1, stored + 1)),
        ];
        match store.commit(&batch) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "the disk is never full");
    };
    is_full(&error);
    assert!(stored > 5);
    let error = store
        .records()
        .write_group(&[(game(1, 1, 1).id, &[0; 600 << 10])])
        .expect_err("full");
    is_full(&error);
    assert_eq!(
        fs::read_dir(dir.join("records"))
            .expect("the folder")
            .count(),
        0,
        "no half record is left"
    );
    let count = |store: &Store| u32::try_from(store.games().expect("games").len()).expect("few");
    assert_eq!(count(&store), stored, "what was committed is there");
    drop(store);
    fs::remove_file(&ballast).expect("room");
    let mut store = Store::open(&dir).expect("a store");
    assert_eq!(count(&store), stored);
    play(&mut store, stored + 1..stored + 3);
    assert_eq!(count(&store), stored + 2);
}
