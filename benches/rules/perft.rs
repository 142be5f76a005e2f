//! Group b: paths of Reversi, every one walked to its end, beside another bitboard implementation.

use hakem::game::{self, Setup};
use rust_reversi_core::board::Board;
use serde_json::Map;

use crate::common::machine::{Load, own_cpu_ns};
use crate::common::report::{self, Figure, Promise, median};
use crate::{Fault, Options};

/// Depths, their numbers of paths, and the numbers that are published: these count a game that is over sooner as a path,
/// which the protocol does not. The first such games, 228 of them, end with the ninth ply.
const PATHS: [(u32, u64, u64); 2] = [
    (9, 3_005_288, 3_005_288),
    (10, 24_571_284 - 228, 24_571_284),
];

/// The yardstick's paths, by copying boards. A pass is a ply, a game that is over a path.
fn paths(board: &Board, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut board = board.clone();
    let mut moves = board.get_legal_moves();
    if moves == 0 {
        return match board.do_pass() {
            Ok(()) => paths(&board, depth - 1),
            // The game is over.
            Err(_) => 1,
        };
    }
    let mut count = 0;
    while moves != 0 {
        // Its square 0 is the highest bit.
        let square = moves.leading_zeros();
        moves ^= 1 << (63 - square);
        let mut next = board.clone();
        next.do_move(square as usize).expect("a legal move");
        count += paths(&next, depth - 1);
    }
    count
}

/// Million paths a second of processor time.
fn rate(expected: u64, count: impl FnOnce() -> u64) -> f64 {
    let begin = own_cpu_ns();
    let found = count();
    let spent = own_cpu_ns() - begin;
    assert_eq!(found, expected, "the number of paths");
    expected as f64 * 1e3 / spent as f64
}

/// Both depths; whether the promise holds.
pub(crate) fn run(options: &Options) -> Result<bool, Fault> {
    let mut all = true;
    for (depth, expected, published) in PATHS {
        let since = Load::now()?;
        let name = format!("perft.reversi.{depth}");
        let title = format!("b. paths of Reversi, depth {depth}, to rust_reversi_core 1.0.2");
        let start = game::find("reversi")
            .map(|kind| kind.rules(&Map::new()))
            .transpose()?
            .map(|rules| rules.start(&Setup::SINGLE));
        let (mut own, mut yard) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            if let Some(start) = &start {
                own.push(rate(expected, || start.perft(depth)));
            }
            yard.push(rate(published, || paths(&Board::new(), depth)));
        }
        if start.is_none() {
            let why = format!(
                "there is no such game yet; the yardstick counts {:.2} M/s",
                median(&yard)
            );
            report::print_skipped(&name, &title, &why);
            continue;
        }
        let figure = Figure {
            name,
            title,
            value: median(&own) / median(&yard),
            rounds: own
                .iter()
                .zip(&yard)
                .map(|(own, yard)| own / yard)
                .collect(),
            unit: "times",
            sides: Some((median(&own), median(&yard), "M/s")),
            promise: Promise::higher(1.7, Some(3.0)),
        };
        all &= figure.print(since)?;
    }
    Ok(all)
}
