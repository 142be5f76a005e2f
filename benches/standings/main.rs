//! What standings, ratings and statistics of many results cost, beside a loop that reads the same rows.
//!
//!     cargo bench --bench standings                    1,000 bots, 1,000,000 games
//!     cargo bench --bench standings -- --quick         a tenth of it
//!     cargo bench --bench standings -- --check         exit code 1 if a promise does not hold
//!
//! Processor time of one core; medians of interleaved rounds. Memory is the most that was allocated while counting, less what the
//! rows take that are read one by one. The pairing of a Swiss round of 1,000 bots is timed in its first, a middle and a late round.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures, and the reason why it cannot"
)]

#[expect(dead_code, reason = "each benchmark uses its own part of it")]
#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use common::machine::own_cpu_ns;
use hakem::config::BotFiles;
use hakem::event::{GameId, GameResult, MatchId, MatchResult, Slot, Verdict};
use hakem::game::Share;
use hakem::stats::Sums;
use hakem::stats::rates::{Rates, Wins};
use hakem::store::{BotMeta, Meta, Store, Stored};
use hakem::tournament::standings::{Counting, Fold, Placing};
use hakem::tournament::swiss::{Entry, Swiss};
use hakem::tournament::{Format, History, Meetings, Pairing, Played};

const WINS: Wins = &[("plain", 1), ("double", 2)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    match run(if has("--quick") { 10 } else { 1 }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) if has("--check") => ExitCode::from(1),
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

/// A number from 0 to `most`, the same ones every time.
fn number(index: u64, most: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % most
}

/// The k-th match of a paired event of so many bots.
fn result(k: u64, bots: u64) -> (MatchResult, GameResult) {
    let pair = k / 2;
    let a = number(pair, bots) as Slot;
    let b = (a + 1 + number(pair ^ 0x5555, bots - 1) as Slot) % bots as Slot;
    let seats = if k.is_multiple_of(2) {
        vec![a, b]
    } else {
        vec![b, a]
    };
    let winner = (number(k ^ 0xaaaa, 2)) as usize;
    let share = |seat| {
        if seat == winner {
            Share::WIN
        } else {
            Share::LOSS
        }
    };
    let score = vec![share(0), share(1)];
    let points = 1 + number(k, 2) as u32;
    let id = MatchId {
        round: 1,
        number: k as u32 + 1,
    };
    let game = GameResult {
        id: id.game(1),
        seats: seats.clone(),
        winner: Some(winner),
        score: Some(score.clone()),
        points: Some(vec![
            points * u32::from(winner == 0),
            points * u32::from(winner == 1),
        ]),
        verdict: Verdict::Rule,
        reason: if points == 2 { "double" } else { "plain" }.into(),
        against: None,
        moves: 57,
        first: Some(0),
        time_us: vec![812_000, 640_000],
        wall_us: vec![820_000, 650_000],
        cpu_us: vec![790_000, 11_000],
        record_hash: format!("{k:064x}"),
        play_hash: format!("{k:064x}"),
    };
    let over = MatchResult {
        id,
        seats,
        series: score.iter().map(|share| share.value()).collect(),
        score,
        games: 1,
    };
    (over, game)
}

fn filled(dir: &Path, bots: u64, games: u64) -> Result<Store, Box<dyn std::error::Error>> {
    let meta = Meta {
        game_files: BotFiles::default(),
        name: "many".into(),
        event: serde_json::json!({}),
        bots: (0..bots)
            .map(|slot| BotMeta {
                name: format!("bot-{slot:04}"),
                files: BotFiles::default(),
            })
            .collect(),
        game: "mangala".into(),
        rules: serde_json::json!({}),
        seed: "1".into(),
        hakem: "0".into(),
        created: "2026-01-01T00:00:00Z".into(),
    };
    let mut store = Store::create(dir, &meta)?;
    let mut batch = Vec::new();
    for k in 0..games {
        let (over, game) = result(k, bots);
        batch.push(Stored::Game(game));
        batch.push(Stored::Match(over));
        if batch.len() >= 20_000 {
            store.commit(&batch)?;
            batch.clear();
        }
    }
    store.commit(&batch)?;
    Ok(store)
}

/// The loop that only reads.
fn read_only(store: &Store) -> Result<u64, Box<dyn std::error::Error>> {
    let mut sum = 0u64;
    store.each_match(|result| sum += black_box(result).seats.len() as u64)?;
    store.each_game(|game| sum += black_box(game).seats.len() as u64)?;
    Ok(sum)
}

/// Standings, ratings and statistics.
fn all(store: &Store, names: &[String]) -> Result<usize, Box<dyn std::error::Error>> {
    let counting = Counting {
        points_a_game: true,
        ..Counting::default()
    };
    let mut fold = Fold::new(counting, names.len());
    let mut encounters: BTreeMap<(Slot, Slot), (u64, Sums)> = BTreeMap::new();
    let mut rates = Rates::default();
    let mut fault = None;
    let unfinished = store.unfinished_matches()?;
    store.each_match(|result| {
        if let Err(error) = fold.match_over(&result) {
            fault.get_or_insert(error);
        }
        for (a, b, score) in result.meetings() {
            let (key, score) = if a < b {
                ((a, b), score)
            } else {
                ((b, a), score.of_the_other())
            };
            let (met, sums) = encounters.entry(key).or_default();
            *met += 1;
            sums.add(hakem::stats::Unit {
                sum: score.value(),
                count: 1,
            });
        }
    })?;
    store.each_game(|game| {
        if let Err(error) = fold.game(&game, !unfinished.contains(&game.id.of)) {
            fault.get_or_insert(error);
        }
        let unit = GameId {
            of: MatchId {
                round: game.id.of.round,
                number: game.id.of.number.div_ceil(2),
            },
            game: game.id.game,
        };
        rates.add(&game, unit, WINS);
    })?;
    if let Some(error) = fault {
        return Err(error.into());
    }
    let standings = fold.standings(&Placing::default(), names)?;
    let elo: f64 = encounters
        .values()
        .filter_map(|(_, sums)| sums.estimate())
        .map(|score| score.elo().mean.clamp(-800.0, 800.0))
        .sum();
    black_box((elo, rates.first_move(), rates.draw_rate()));
    Ok(standings.rows.len())
}

/// The most memory that this process had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn seconds(
    work: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let begin = own_cpu_ns();
    work()?;
    Ok((own_cpu_ns() - begin) as f64 / 1e9)
}

fn run(divided: u64) -> Result<bool, Box<dyn std::error::Error>> {
    let (bots, games) = (1_000, 1_000_000 / divided);
    let folder = tempfile::tempdir()?;
    let store = filled(&folder.path().join("many"), bots, games)?;
    let names: Vec<String> = (0..bots).map(|slot| format!("bot-{slot:04}")).collect();
    let (mut reads, mut counts) = (Vec::new(), Vec::new());
    let before = peak_kib();
    for _ in 0..3 {
        reads.push(seconds(|| {
            read_only(&store).map(|sum| assert_eq!(sum, 4 * games))
        })?);
        counts.push(seconds(|| {
            all(&store, &names).map(|rows| assert_eq!(rows as u64, bots))
        })?);
    }
    let (read, count) = (median(reads), median(counts));
    let ratio = count / read;
    println!("reading {games} games and matches: {read:.2} s");
    println!(
        "standings, ratings, statistics of {bots} bots: {count:.2} s, {ratio:.2} times as long (promised: 4 at most)"
    );
    println!(
        "memory: {} MiB more at the peak than after writing",
        peak_kib().saturating_sub(before) / 1024
    );
    let pairing = pairing_seconds(1_000);
    for (round, time) in &pairing {
        println!("a Swiss round of 1000 bots, round {round}: {time:.2} s (promised: 1 at most)");
    }
    let slowest = pairing.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    println!(
        "{}",
        serde_json::json!({"games": games, "read_s": read, "count_s": count, "ratio": ratio, "swiss_round_s": slowest})
    );
    Ok(ratio <= 4.0 && slowest <= 1.0)
}

/// The processor time of pairing some rounds of a Swiss event.
fn pairing_seconds(bots: usize) -> Vec<(u32, f64)> {
    let format = Swiss {
        entries: (0..bots).map(Entry::whole).collect(),
        meetings: Meetings {
            games: 1,
            paired: false,
        },
        rounds: 11,
    };
    let mut history = History::default();
    let mut times = Vec::new();
    for round in 1..=11 {
        let begin = own_cpu_ns();
        let batch = format.next(&history);
        let time = (own_cpu_ns() - begin) as f64 / 1e9;
        if [1, 2, 5, 11].contains(&round) {
            times.push((round, time));
        }
        let played = |pairing: Pairing| {
            // The stronger half of the time.
            let winner =
                usize::from(number(u64::from(pairing.id.number) ^ u64::from(round) << 32, 4) == 0)
                    ^ usize::from(pairing.seats[0] > pairing.seats[1]);
            let share = |seat| {
                if seat == winner {
                    Share::WIN
                } else {
                    Share::LOSS
                }
            };
            let result = MatchResult {
                id: pairing.id,
                seats: pairing.seats.clone(),
                score: vec![share(0), share(1)],
                series: vec![],
                games: 1,
            };
            Played { pairing, result }
        };
        history
            .matches
            .extend(batch.pairings.into_iter().map(played));
        history.byes.extend(batch.byes);
    }
    times
}
