//! The ladders of the built-in bots: the events of `examples/ladder/` are played as anyone plays them, each bot is stronger
//! than the one below it, and the table of the README is what the events give.
//!
//! `HAKEM_TEST_FULL=1` plays all of them, and with `UPDATE_GOLDEN=1` writes the table anew; without it the quickest is
//! played, and of the others a small part.

mod common;

use std::path::{Path, PathBuf};

use common::{Lab, full, text};
use hakem::config::{self, Program};
use hakem::house;
use hakem::house::ladder::LADDERS;
use serde_json::Value;

/// An event of `examples/ladder/`.
struct Ladder {
    /// The file without its ending.
    file: &'static str,
    game: &'static str,
    title: &'static str,
    /// Whether every run gives the same to the last game.
    same_again: bool,
    /// Whether it is quick enough to be played whole in every test run.
    quick: bool,
    /// The rungs of the part that every test run plays, and the matches of each pairing.
    part: (usize, u32),
}

const EVENTS: &[Ladder] = &[
    Ladder {
        file: "tavla",
        game: "tavla",
        title: "Tavla",
        same_again: true,
        quick: false,
        part: (3, 40),
    },
    Ladder {
        file: "mangala",
        game: "mangala",
        title: "Mangala",
        same_again: true,
        quick: false,
        part: (4, 40),
    },
    Ladder {
        file: "oware",
        game: "oware",
        title: "Awale",
        same_again: true,
        quick: true,
        part: (4, 40),
    },
    Ladder {
        file: "reversi",
        game: "reversi",
        title: "Reversi",
        same_again: true,
        quick: false,
        part: (4, 20),
    },
    Ladder {
        file: "dokuztas-okul",
        game: "dokuztas",
        title: "Dokuztas, `okul`",
        same_again: true,
        quick: false,
        part: (4, 20),
    },
    Ladder {
        file: "dokuztas-sivas",
        game: "dokuztas",
        title: "Dokuztas, `sivas`",
        same_again: true,
        quick: false,
        part: (4, 20),
    },
    Ladder {
        file: "qbitz",
        game: "qbitz",
        title: "Q-Bitz",
        same_again: false,
        quick: false,
        part: (0, 0),
    },
];

/// The weaker of two neighbours may be the better one with this probability at most.
const DOUBT: f64 = 0.01;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn event_file(ladder: &Ladder) -> PathBuf {
    root(&format!("examples/ladder/{}.toml", ladder.file))
}

/// The names of the rungs, the weakest first.
fn rungs(game: &str) -> Vec<String> {
    let ladder = LADDERS.iter().find(|ladder| ladder.game == game);
    let rungs = ladder.expect("every game has a ladder").rungs.iter();
    rungs.map(house::ladder::Rung::spelling).collect()
}

/// The bots of a folder of results as they are ranked, the weakest first, each with its rating and half its interval.
fn ratings(lab: &Lab, dir: &str) -> Vec<(String, f64, f64)> {
    let standings = lab.standings(dir);
    let rows = standings.as_array().expect("a list of bots").iter().rev();
    let number = |value: &Value| value.as_f64().expect("a number");
    rows.map(|row| {
        (
            text(row, "name").to_owned(),
            number(&row["rating"]),
            (number(&row["interval"][1]) - number(&row["interval"][0])) / 2.0,
        )
    })
    .collect()
}

/// The row of the README.
fn row(ladder: &Ladder, ratings: &[(String, f64, f64)]) -> String {
    let mut row = format!(
        "| [{}](examples/ladder/{}.toml) |",
        ladder.title, ladder.file
    );
    for (name, rating, reach) in ratings {
        row += &format!(" `{name}` {rating:.0} ± {reach:.0} |");
    }
    for _ in ratings.len()..5 {
        row += " |";
    }
    row
}

/// The likelihood that the first is the better one, as the report of this folder tells it of two neighbours.
fn superiority(lab: &Lab, dir: &str, weaker: &str, stronger: &str) -> f64 {
    let report = lab
        .hakem(["report", dir, "--markdown", "-"])
        .exits(0)
        .stdout;
    let rows: Vec<Vec<&str>> = report
        .lines()
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let head = rows
        .iter()
        .find(|row| row.contains(&"superiority"))
        .expect("a table of encounters");
    let column = head
        .iter()
        .position(|&title| title == "superiority")
        .expect("its column");
    let found = rows
        .iter()
        .find(|row| row.len() == head.len() && row[1] == weaker && row[2] == stronger)
        .unwrap_or_else(|| panic!("{weaker} met {stronger}: {report}"));
    found[column].parse().expect("a number")
}

/// Asserts that the bots of a folder are ranked as the ladder says, each surely better than the one below it.
fn assert_order(lab: &Lab, dir: &str, rungs: &[String]) -> Vec<(String, f64, f64)> {
    let ratings = ratings(lab, dir);
    let order: Vec<&String> = ratings.iter().map(|(name, ..)| name).collect();
    assert!(order.iter().copied().eq(rungs), "{dir}: {ratings:?}");
    for two in rungs.windows(2) {
        let doubt = superiority(lab, dir, &two[0], &two[1]);
        assert!(doubt <= DOUBT, "{dir}: {two:?}: {doubt}");
    }
    for two in ratings.windows(2) {
        assert!(two[0].1 < two[1].1, "{dir}: {ratings:?}");
    }
    ratings
}

/// Asserts that nothing but the rules ended a game.
fn assert_no_forfeits(lab: &Lab, dir: &str) {
    for game in lab.games(dir) {
        assert!(
            ["rule", "resigned"].contains(&text(&game, "verdict")),
            "{game}"
        );
    }
}

/// Plays an event whole.
fn play(lab: &Lab, ladder: &Ladder) -> Vec<(String, f64, f64)> {
    let file = event_file(ladder);
    lab.hakem([
        "run".as_ref(),
        file.as_os_str(),
        "--out".as_ref(),
        ladder.file.as_ref(),
    ])
    .exits(0);
    assert_no_forfeits(lab, ladder.file);
    assert_order(lab, ladder.file, &rungs(ladder.game))
}

/// A number and its reach of a cell like "`greedy` 1380 ± 39".
fn cell(text: &str) -> (f64, f64) {
    let mut parts = text.rsplit(' ');
    let reach = parts.next().expect("a reach").parse().expect("a number");
    let rating = parts.nth(1).expect("a rating").parse().expect("a number");
    (rating, reach)
}

#[test]
fn the_events_are_of_the_ladders() {
    for ladder in EVENTS {
        let file = event_file(ladder);
        let event = config::read(&file, &house::names()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(event.game, ladder.game);
        let bots: Vec<String> = event.bots.iter().map(|bot| bot.name.clone()).collect();
        assert_eq!(bots, rungs(ladder.game), "{}", ladder.file);
        for bot in &event.bots {
            let Program::Builtin(name) = &bot.program else {
                panic!("{} is built in", bot.name);
            };
            let options = bot
                .options
                .iter()
                .map(|(key, value)| format!(",{key}={value}"));
            assert_eq!(bot.name, name.to_owned() + &options.collect::<String>());
        }
    }
    for ladder in LADDERS {
        assert!(EVENTS.iter().any(|event| event.game == ladder.game));
    }
}

#[test]
fn the_readme_tells_what_the_events_give() {
    let path = root("README.md");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1");
    let mut readme = std::fs::read_to_string(&path).expect("the README");
    for ladder in EVENTS.iter().filter(|ladder| ladder.quick || full()) {
        let lab = Lab::new();
        let ratings = play(&lab, ladder);
        let found = row(ladder, &ratings);
        let start = found.split("](").next().expect("a title");
        let told = readme
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("the README has no row {start}: {found}"))
            .to_owned();
        if update {
            readme = readme.replace(&told, &found);
        } else if ladder.same_again {
            assert_eq!(told, found);
        } else {
            // A race is not run twice; the ratings are the same within their intervals.
            for (told, (name, rating, reach)) in told.split('|').skip(2).zip(&ratings) {
                let (old, old_reach) = cell(told.trim());
                let apart = (old - rating).abs();
                assert!(
                    apart <= old_reach + reach,
                    "{name}: {told}, {rating} ± {reach}"
                );
            }
        }
    }
    if update {
        std::fs::write(&path, readme).expect("the README is written");
    }
}

#[test]
fn each_rung_is_stronger_than_the_one_below() {
    for ladder in EVENTS.iter().filter(|ladder| ladder.part.0 > 0) {
        let (count, games) = ladder.part;
        let event = std::fs::read_to_string(event_file(ladder)).expect("the event");
        let bots: Vec<&str> = event.split("\n[[bot]]\n").collect();
        let short: Vec<String> = bots[0]
            .lines()
            .map(|line| match line.split_once(" = ").map(|pair| pair.0) {
                Some("games") => format!("games = {games}"),
                Some("rounds") => "rounds = 1".to_owned(),
                _ => line.to_owned(),
            })
            .collect();
        let event = format!(
            "{}\n[[bot]]\n{}",
            short.join("\n"),
            bots[1..=count].join("\n[[bot]]\n")
        );
        let lab = Lab::new();
        let file = lab.write("short.toml", event);
        lab.run(&file);
        assert_no_forfeits(&lab, "short");
        assert_order(&lab, "short", &rungs(ladder.game)[..count]);
    }
}
