//! The board for a terminal.

use std::fmt::Write;

use super::{BAR, OFF, Tavla};

/// The most checkers that a point shows as a column; a higher column ends in its count.
const ROWS: u8 = 5;
/// The marks of the checkers by seat.
const MARKS: [char; 2] = ['x', 'o'];

/// The board with seat 0 below: its points 12 to 1 in the lower half, its home at the right.
pub(super) fn board(game: &Tavla) -> String {
    let upper: Vec<usize> = (13..=24).collect();
    let lower: Vec<usize> = (1..=12).rev().collect();
    let mut text = String::new();
    side(&mut text, game, 1);
    numbers(&mut text, &upper);
    for row in 0..ROWS {
        line(&mut text, game, &upper, row, 1);
    }
    let _ = writeln!(text, "{:21}|   |", "");
    for row in (0..ROWS).rev() {
        line(&mut text, game, &lower, row, 0);
    }
    numbers(&mut text, &lower);
    side(&mut text, game, 0);
    cube(&mut text, game);
    text
}

/// The line about a seat.
fn side(text: &mut String, game: &Tavla, seat: usize) {
    let checkers = &game.checkers[seat];
    let _ = writeln!(
        text,
        "seat {seat} ({}): {} pips, {} off",
        MARKS[seat],
        game.pips(seat),
        checkers[OFF]
    );
}

fn numbers(text: &mut String, points: &[usize]) {
    let half = |points: &[usize]| {
        points
            .iter()
            .map(|point| format!("{point:>3}"))
            .collect::<String>()
    };
    let _ = writeln!(text, "{}   |bar|{}", half(&points[..6]), half(&points[6..]));
}

/// One row of a half of the board, counted from the edge; the bar shows the checkers of the seat `bar`.
fn line(text: &mut String, game: &Tavla, points: &[usize], row: u8, bar: usize) {
    let at = |point: usize| {
        let sides = [game.checkers[0][point], game.checkers[1][BAR - point]];
        let owner = usize::from(sides[1] > 0);
        cell(sides[owner], MARKS[owner], row)
    };
    let half = |points: &[usize]| points.iter().map(|&point| at(point)).collect::<String>();
    let on_bar = cell(game.checkers[bar][BAR], MARKS[bar], row).replace('.', " ");
    let _ = writeln!(
        text,
        "{}   |{on_bar}|{}",
        half(&points[..6]),
        half(&points[6..])
    );
}

fn cell(count: u8, mark: char, row: u8) -> String {
    if row + 1 == ROWS && count > ROWS {
        format!("{count:>3}")
    } else if row < count {
        format!("{mark:>3}")
    } else {
        "  .".into()
    }
}

/// The lines about the cube and the turn.
fn cube(text: &mut String, game: &Tavla) {
    let whose = match game.cube.owner {
        None => "in the middle".into(),
        Some(seat) => format!("of seat {seat}"),
    };
    let _ = write!(text, "cube {} {whose}", game.cube.value);
    if game.cube.offer.is_some() {
        let _ = write!(text, ", {} offered", game.cube.offered());
    }
    if game.length > 0 {
        let crawford = if game.crawford { ", Crawford game" } else { "" };
        let _ = write!(
            text,
            "; {}-{} in a match to {}{crawford}",
            game.score[0], game.score[1], game.length
        );
    }
    let _ = match (game.end, game.dice) {
        (Some(end), _) => writeln!(text, "; seat {} has won {}", end.winner, end.points),
        (None, Some(dice)) => writeln!(text, "; seat {} has {}-{}", game.mover(), dice[0], dice[1]),
        (None, None) => writeln!(text, "; seat {} is on turn", game.mover()),
    };
}
