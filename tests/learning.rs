//! Learning from a loss: `show --explain` and `replay`; and `play`, with a script for a person.
#![cfg(feature = "runner")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Lab, files_below, toml_text};
use serde_json::Value;

fn faulty(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/faulty")
        .join(name);
    format!("python3 -B {}.py", path.display())
}

fn starter() -> String {
    concat!(
        "python3 -B ",
        env!("CARGO_MANIFEST_DIR"),
        "/bots/python/starter.py"
    )
    .to_owned()
}

/// The command that a page tells after these words, without the program's name; `BOT` stands for a bot.
fn command<'a>(page: &'a str, bot: &'a str) -> Vec<&'a str> {
    let line = page
        .lines()
        .find_map(|line| line.trim().strip_prefix("hakem replay "));
    let line = line.unwrap_or_else(|| panic!("a command is told: {page}"));
    let words = line
        .split(' ')
        .map(|word| if word == "BOT" { bot } else { word });
    std::iter::once("replay").chain(words).collect()
}

#[test]
fn a_refused_move_is_explained_and_asked_again() {
    let lab = Lab::new();
    let (illegal, honest) = (faulty("illegal"), faulty("honest"));
    lab.hakem([
        "duel",
        "--game",
        "mangala",
        "--seed",
        "5",
        "--out",
        "duel",
        &illegal,
        "builtin:greedy",
    ])
    .exits(0);
    let shown = lab
        .hakem(["show", "duel", "r1.m1.g1", "--explain"])
        .exits(0)
        .stays_plain();
    for words in [
        "illegal (seat 0) lost by a move that the rules refuse",
        "illegal_move: a move is a pit number from 1 to 6, not 99",
        "protocol 5.6",
        "it was asked for `move`; legal were",
        "6 answers: 1  2  3  4  5  6",
        "\"move\": 99",
        "it wrote nothing to stderr",
        "greedy wins",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {shown}");
    }
    // What it tells to do shows the same fault again, and a bot that was mended none.
    let again = lab.hakem(command(&shown.stdout, &illegal)).exits(1);
    assert!(
        again
            .stdout
            .contains("not accepted: a move is a pit number from 1 to 6, not 99"),
        "{again}"
    );
    let mended = lab.hakem(command(&shown.stdout, &honest)).exits(0);
    assert!(mended.stdout.contains("; legal"), "{mended}");
    assert!(
        mended.stdout.contains("then it was: illegal_move"),
        "{mended}"
    );
}

#[test]
fn a_crash_is_explained_by_the_last_words_of_the_bot() {
    let lab = Lab::new();
    let crashes = faulty("crashes");
    lab.hakem([
        "duel",
        "--game",
        "oware",
        "--seed",
        "5",
        "--out",
        "duel",
        "builtin:random",
        &crashes,
    ])
    .exits(0);
    let shown = lab
        .hakem(["show", "duel", "r1.m1.g1", "--explain"])
        .exits(0);
    for words in [
        "by ending in the middle of the game",
        "| IndexError: list index out of range",
        "crashes.py\", line 7",
        "the last moves:",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {shown}");
    }
    let again = lab.hakem(command(&shown.stdout, &crashes)).exits(1);
    assert!(
        again.stdout.contains("without an answer to the turn"),
        "{again}"
    );
    assert!(again.stdout.contains("| IndexError"), "{again}");
}

#[test]
fn games_without_a_fault_and_whole_matches_are_shown() {
    let lab = Lab::new();
    lab.hakem([
        "duel",
        "--game",
        "mangala",
        "--rule",
        "sets=2",
        "--seed",
        "5",
        "--out",
        "duel",
        "builtin:first",
        "builtin:greedy",
    ])
    .exits(0);
    let explained = lab
        .hakem(["show", "duel", "r1.m1.g2", "--explain"])
        .exits(0);
    assert!(
        explained
            .stdout
            .contains("it ended by the rules: pits_empty"),
        "{explained}"
    );
    let whole = lab.hakem(["show", "duel", "r1.m2"]).exits(0);
    for game in ["r1.m2.g1  mangala", "r1.m2.g2  mangala", "1. "] {
        assert!(whole.stdout.contains(game), "{game}: {whole}");
    }
    lab.hakem(["show", "duel", "r1.m9"])
        .exits(2)
        .says(&["no match r1.m9", "hakem games"]);
    lab.hakem(["show", "duel", "r1.m1.g9"])
        .exits(2)
        .says(&["r1.m1.g1, r1.m1.g2"]);
    lab.hakem(["show", "duel", "one"])
        .exits(2)
        .says(&["hakem games"]);
}

/// A bot that keeps every line that it hears.
const EARS: &str = r#"
import json, os, sys
sys.path.insert(0, os.environ["FAULTY"])
import honest
claims = json.loads(os.environ["CLAIMS"])
kept = open(os.environ["HEARD"], "a")
def lines():
    for line in sys.stdin:
        kept.write(line)
        kept.flush()
        yield line
count = 0
def answer(message):
    global count
    if message["type"] == "hello":
        return dict(honest.ready(), **claims)
    if message["type"] == "turn" and message["ask"] not in ("race", "resign") and "legal" in message:
        count += 1
        return {"type": "move", "id": message["id"], "move": message["legal"][count % len(message["legal"])]}
    return honest.answer(message)
honest.play(answer, lines=lines)
"#;

#[test]
fn a_question_is_asked_again_exactly_as_it_was() {
    let cases = [
        ("mangala", "sets = 2", "{}"),
        ("oware", "", "{\"history\": true}"),
        ("reversi", "", "{}"),
        ("dokuztas", "", "{}"),
        (
            "tavla",
            "match_length = 3",
            "{\"history\": true, \"events\": true}",
        ),
        ("qbitz", "target_points = 2", "{}"),
    ];
    for (game, rules, claims) in cases {
        let lab = Lab::new();
        let ears = lab.write("ears.py", EARS);
        let heard = lab.path("heard");
        let opponent = if game == "qbitz" { "hizli" } else { "random" };
        let faulty = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty");
        let text = |path: &Path| toml_text(path.to_str().expect("text"));
        let event = format!(
            "[event]\nname = \"x\"\ngame = \"{game}\"\ngames = 2\nseed = 3\n\n[rules]\n{rules}\n\n[clock]\nmain = \"60s\"\nmove = \"10s\"\n\n\
             [limits]\nsandbox = \"none\"\n\n[[bot]]\nname = \"ears\"\ncommand = [\"python3\", \"-B\", {}]\noptions = {{ depth = 4 }}\n\
             env = {{ FAULTY = {}, HEARD = {}, CLAIMS = {} }}\n\n[[bot]]\nname = \"other\"\nbuiltin = \"{opponent}\"\n",
            text(&ears),
            text(&faulty),
            text(&heard),
            toml_text(claims),
        );
        let event = if game == "qbitz" {
            event.replace("main = \"60s\"\nmove = \"10s\"", "")
        } else {
            event
        };
        lab.run(&lab.write("event.toml", event));
        let kept = std::fs::read_to_string(&heard).expect("lines were heard");
        let kept: BTreeSet<&str> = kept.lines().collect();
        let is_turn = |line: &&&str| line.starts_with("{\"type\":\"turn\"");
        let mut seen = 0;
        for record in files_below(&lab.path("event/records")) {
            let record = record.to_str().expect("text");
            for number in 1.. {
                let number = number.to_string();
                let asked = lab.hakem(["replay", record, "--turn", &number]);
                if asked.code == Some(2) {
                    assert!(asked.stderr.contains("has the questions 1 to"), "{asked}");
                    break;
                }
                let lines: Vec<&str> = asked.stdout.lines().collect();
                assert_eq!(lines.len(), 4, "hello, start, turn, bye: {asked}");
                let seat = serde_json::from_str::<Value>(lines[1]).expect("start")["seat"].clone();
                let turn: Value = serde_json::from_str(lines[2]).expect("a turn");
                assert_eq!(turn["seat"], seat);
                // Those of the other seat nobody has kept.
                let names =
                    serde_json::from_str::<Value>(lines[1]).expect("start")["names"].clone();
                if names[usize::from(seat == 1)] != "faulty" {
                    continue;
                }
                for line in &lines[..2] {
                    assert!(kept.contains(line), "{game}: {line} was never said");
                }
                if claims.contains("history") {
                    // Printed lines are those for a bot that claims nothing.
                    let same = |line: &&&str| {
                        let mut line: Value = serde_json::from_str(line).expect("JSON");
                        line.as_object_mut().expect("an object").remove("history");
                        line == turn
                    };
                    assert!(
                        kept.iter().filter(is_turn).any(|line| same(&line)),
                        "{game}: {turn}"
                    );
                } else {
                    assert!(
                        kept.contains(lines[2]),
                        "{game}: {} was never asked",
                        lines[2]
                    );
                }
                seen += 1;
            }
        }
        let asked = kept.iter().filter(is_turn).count();
        assert!(
            seen >= asked.min(3) && seen <= asked,
            "{game}: {seen} of {asked}"
        );
    }
}

#[test]
fn what_cannot_be_asked_again_is_told() {
    let lab = Lab::new();
    lab.hakem(["replay", "missing.jsonl"])
        .exits(2)
        .says(&["missing.jsonl"]);
    lab.write("other.jsonl", "{}\n");
    lab.hakem(["replay", "other.jsonl"])
        .exits(2)
        .says(&["no record of a game"]);
}

// ---- A person -------------------------------------------------------------------------------------------------------

#[test]
fn a_person_plays_whole_games_in_the_terminal() {
    let lab = Lab::new();
    let games = [
        ("mangala", "1\n2\n3\n4\n5\n6\n", "stones in the treasury"),
        ("oware", "1\n2\n3\n4\n5\n6\n", "seeds"),
        ("reversi", "", "discs"),
        ("dokuztas", "1\n2\n", "stones"),
        ("tavla", "1\nroll\ntake\naccept\n", "points"),
    ];
    for (game, typed, counted) in games {
        let typed = match game {
            // Every square again and again; what is not possible is asked again.
            "reversi" => (0..64)
                .map(|n| format!("{}{}\n", char::from(b'a' + n % 8), 1 + n / 8))
                .collect(),
            _ => typed.to_owned(),
        };
        let bot = starter();
        let args = ["play", "--game", game, "--seed", "4", "--seat", "1", &bot];
        let played = lab
            .hakem_fed(&args, &typed.repeat(4_000))
            .exits(0)
            .stays_plain();
        for words in ["you are seat 1", "starter", "your move> ", counted] {
            assert!(played.stdout.contains(words), "{game}: {words}: {played}");
        }
        let ends = [
            ": you win",
            "you win:",
            "starter wins:",
            "nobody wins alone:",
        ];
        assert!(
            ends.iter().any(|words| played.stdout.contains(words)),
            "{game}: {played}"
        );
        lab.assert_no_process_is_left();
    }
}

#[test]
fn a_person_may_leave_ask_for_help_and_err() {
    let lab = Lab::new();
    let bot = starter();
    let played = lab
        .hakem_fed(
            &["play", "--game", "mangala", "--seed", "4", &bot],
            "9\n?\nboard\nquit\n",
        )
        .exits(130);
    for words in [
        "that is not possible: a move is a pit number from 1 to 6, not 9",
        "or as JSON; board, quit",
    ] {
        assert!(played.stdout.contains(words), "{words}: {played}");
    }
    assert_eq!(
        played.stdout.matches("seat 1        6").count(),
        2,
        "the board is shown again: {played}"
    );
    played.says(&["you left the game"]);
    // The end of input is the same.
    lab.hakem_fed(&["play", "--game", "mangala", &bot], "")
        .exits(130);
    // A bot that fails is told.
    let crashes = faulty("crashes");
    let played = lab
        .hakem_fed(
            &["play", "--game", "mangala", "--seed", "4", &crashes],
            &"1\n2\n3\n4\n5\n6\n".repeat(50),
        )
        .exits(0);
    assert!(
        played.stdout.contains("crashes forfeited: exit 1")
            || played.stdout.contains("faulty forfeited: exit 1"),
        "{played}"
    );
    lab.hakem(["play", "--game", "mangla", "x"])
        .exits(2)
        .says(&["mangala"]);
    lab.assert_no_process_is_left();
}

#[test]
fn reasons_are_told_whole_below_the_games() {
    let lab = Lab::new();
    let illegal = faulty("illegal");
    lab.hakem([
        "duel",
        "--game",
        "mangala",
        "--seed",
        "5",
        "--out",
        "duel",
        &illegal,
        "builtin:greedy",
    ])
    .exits(0);
    let reason = "r1.m1.g1: illegal_move: a move is a pit number from 1 to 6, not 99";
    let shown = lab.hakem(["games", "duel"]).exits(0);
    assert!(shown.stdout.lines().any(|line| line == reason), "{shown}");
    assert!(shown.stdout.contains("--explain"), "{shown}");
    // Other forms have room for it in the table.
    let markdown = lab
        .hakem(["games", "duel", "--format", "markdown"])
        .exits(0);
    assert!(!markdown.stdout.contains(reason), "{markdown}");
}

#[test]
fn a_loss_by_time_tells_what_was_written() {
    let lab = Lab::new();
    for (name, words) in [
        (
            "no_flush",
            "nothing was written: an answer has to be flushed",
        ),
        ("no_line_end", "bytes without a line end were written"),
    ] {
        let bot = faulty(name);
        let args = [
            "duel",
            "--game",
            "mangala",
            "--clock",
            "move=1s,ready=1s",
            "--games",
            "1",
            &bot,
            "builtin:greedy",
        ];
        lab.hakem(args).exits(0).says(&[words]);
    }
}

#[test]
fn the_example_of_the_rules_tool_is_right() {
    let lab = Lab::new();
    let help = lab.hakem(["rules", "--help"]).exits(0).stdout;
    let mut lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Example:"))
        .skip(1);
    let question = lines
        .next()
        .and_then(|line| line.split('\'').nth(1))
        .expect("a question");
    let answer: String = lines.map(str::trim).collect();
    let told = lab.hakem_fed(&["rules"], &format!("{question}\n")).exits(0);
    assert_eq!(
        told.stdout.split_whitespace().collect::<String>(),
        answer.split_whitespace().collect::<String>()
    );
}
