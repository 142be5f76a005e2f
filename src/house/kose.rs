//! A Reversi player that looks ahead. A köşe is a corner of the board.
//!
//! What a position is worth: not discs, which turn till the end, but moves: a seat with few has to give away what it
//! would keep. Then corners and what holds on to them, since that is never turned again; the squares beside an empty
//! corner, which give it away; and corners that the seat to move can take.

use hakem_protocol::{Move, Turn};
use serde_json::Value;

use super::search::{self, Budget, Position};
use super::{Facts, Games, House, Table};
use crate::game::reversi::{self, Reversi, Square, Squares};
use crate::game::{Game, Seat, ToAct};

/// Searches Reversi to a number of positions; near the end that reaches the end.
#[derive(Debug)]
pub struct Kose;

impl House for Kose {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "kose",
            summary: "plays Reversi, looking ahead as far as its budget goes (alpha-beta)",
            games: Games::Only(&["reversi"]),
            options: search::OPTIONS,
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        let game: Reversi = super::position(table, turn)?;
        let (square, value) = search::best(&game, &Budget::of(table, turn))
            .ok_or_else(|| format!("turn {} asks nothing of a seat", turn.id))?;
        Ok(Move {
            eval: Some(shown(value)),
            ..super::answer(turn, Value::from(square.to_string()))
        })
    }
}

/// A won game is worth so much, and its lead in discs.
const WON: i32 = 100_000;
/// What a disc of the final lead is worth in an undecided position; by it all else is measured.
const DISC: i32 = 10;
/// A square more where the seat could move.
const MOVE: i32 = 12;
/// An empty square more beside a disc of the opponent, where there may be a move later.
const LATER_MOVE: i32 = 5;
/// A disc that can never be turned, because it holds on to a corner.
const STABLE: i32 = 15;
/// A corner, besides being stable.
const CORNER: i32 = 60;
/// A corner that the seat to move can take.
const CORNER_NEXT: i32 = 90;
/// A disc diagonally beside an empty corner, which gives the opponent the corner.
const NEXT_DIAGONALLY: i32 = -50;
/// A disc on the edge beside an empty corner.
const NEXT_ON_EDGE: i32 = -15;
/// Having the last move of the game, as long as nobody passes.
const LAST_MOVE: i32 = 15;

/// A value in discs, for people; a decided game is 100 and its lead.
fn shown(value: i32) -> Value {
    if value.abs() >= WON {
        Value::from(value.signum() * (100 + value.abs() - WON))
    } else {
        Value::from(f64::from(value) / f64::from(DISC))
    }
}

const FILES_AH: Squares = 0x8181_8181_8181_8181;
const RANKS_18: Squares = 0xff00_0000_0000_00ff;
const EDGES: Squares = FILES_AH | RANKS_18;
const CORNERS: Squares = FILES_AH & RANKS_18;
/// Quarters of the board.
const QUARTERS: [Squares; 4] = [
    0x0000_0000_0f0f_0f0f,
    0x0000_0000_f0f0_f0f0,
    0x0f0f_0f0f_0000_0000,
    0xf0f0_f0f0_0000_0000,
];

/// The squares that touch one of these, all eight ways, and these.
const fn around(squares: Squares) -> Squares {
    let left = (squares & !0x0101_0101_0101_0101) >> 1;
    let right = (squares & !0x8080_8080_8080_8080) << 1;
    let row = squares | left | right;
    row | row << 8 | row >> 8
}

impl Position for Reversi {
    type Move = Square;

    fn mover(&self) -> Option<Seat> {
        match self.to_act() {
            ToAct::Seat(seat, _) => Some(seat),
            _ => None,
        }
    }

    /// Corners come first, and moves that leave the opponent few; near the end those into quarters with an odd number of
    /// empty squares, where the last one is the mover's. Giving up a corner comes last.
    fn moves(&self, moves: &mut Vec<(i32, Square)>) {
        let empty = !(self.discs(0) | self.discs(1));
        let near_corner = around(CORNERS & empty);
        for square in reversi::each(self.moves()) {
            let mut after = *self;
            after.place(square);
            let bit = square.bit();
            let mut promise = -10 * after.moves().count_ones() as i32;
            if bit & CORNERS != 0 {
                promise += 200;
            } else if bit & near_corner != 0 {
                promise -= if bit & EDGES == 0 { 80 } else { 30 };
            }
            if empty.count_ones() <= 16 {
                let odd = QUARTERS
                    .iter()
                    .any(|&quarter| bit & quarter != 0 && (quarter & empty).count_ones() % 2 == 1);
                promise += 15 * i32::from(odd);
            }
            moves.push((promise, square));
        }
    }

    /// The position in which a seat is to move again: passes are played.
    fn after(&self, square: Square) -> Reversi {
        let mut after = *self;
        after.place(square);
        after.pass();
        after
    }

    fn decided(&self, me: Seat) -> Option<i32> {
        if self.mover().is_some() {
            return None;
        }
        let discs = |seat: Seat| self.discs(seat).count_ones() as i32;
        let lead = discs(me) - discs(1 - me);
        Some(WON * lead.signum() + lead)
    }

    fn estimate(&self, me: Seat) -> i32 {
        let (own, other) = (self.discs(me), self.discs(1 - me));
        let odd = (own | other).count_zeros() % 2 == 1;
        let last = if odd == (self.mover() == Some(me)) {
            LAST_MOVE
        } else {
            -LAST_MOVE
        };
        let moves = [reversi::mobility(own, other), reversi::mobility(other, own)];
        let corners = |moves: Squares| CORNER_NEXT * (moves & CORNERS).count_ones() as i32;
        let next = if self.mover() == Some(me) {
            corners(moves[0])
        } else {
            -corners(moves[1])
        };
        worth(own, other, moves[0]) - worth(other, own, moves[1]) + last + next
    }
}

/// What the discs of `own` seem to be worth against `other`, with these moves.
fn worth(own: Squares, other: Squares, moves: Squares) -> i32 {
    let empty = !(own | other);
    let near_corner = around(CORNERS & empty);
    let count = |squares: Squares| squares.count_ones() as i32;
    MOVE * count(moves)
        + LATER_MOVE * count(around(other) & empty)
        + STABLE * count(stable(own))
        + CORNER * count(own & CORNERS)
        + NEXT_DIAGONALLY * count(own & near_corner & !EDGES)
        + NEXT_ON_EDGE * count(own & near_corner & EDGES)
}

/// Discs that no move can ever turn: in each of their four lines they stand on the edge or beside such a disc of the
/// same seat. (Those in lines without an empty square are left out.)
fn stable(own: Squares) -> Squares {
    let mut stable = 0;
    loop {
        // What a shift carries over the edge of the board falls on an edge.
        let held = |step: u32, edge: Squares| edge | stable << step | stable >> step;
        let more = own & held(1, FILES_AH) & held(8, RANKS_18) & held(7, EDGES) & held(9, EDGES);
        if more == stable {
            return stable;
        }
        stable = more;
    }
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use super::*;
    use crate::game::Setup;
    use crate::game::reversi::ReversiOptions;
    use crate::house::search::tests::{plain, same_as_plain, to_depth};
    use crate::house::tests::{ask, turn};

    fn read(board: [&str; 8], turn: Seat) -> Reversi {
        let state = json!({"board": board, "turn": turn});
        Reversi::read(&ReversiOptions::default(), &state).expect("a position")
    }

    fn squares(names: &str) -> Squares {
        names
            .split(' ')
            .map(|name| Square::from_name(name).expect("a square").bit())
            .fold(0, |all, bit| all | bit)
    }

    #[test]
    fn pruning_changes_no_value() {
        let begun = Reversi::start(&ReversiOptions::default(), &Setup::SINGLE);
        same_as_plain(&begun, 5);
        let middle = [
            "..xxx..o", "..xxxxxx", "...xoox.", "o.xoxooo", ".o.xxx.o", "..ooxooo", "..xoox..",
            "...oooo.",
        ];
        same_as_plain(&read(middle, 0), 3);
        let end = [
            "x...o..o", ".xxxxxxx", "xoooxoxx", ".ooxoxxx", "xoxoxxxx", "oooxxxxo", "ooooxxoo",
            "o.oo.ooo",
        ];
        same_as_plain(&read(end, 1), 4);
    }

    /// A position of a game: Black may take the corner h1, or stand beside a1 or h8.
    const CORNER: [&str; 8] = [
        "..oooo..", "..oooo.o", "..xxoxxo", "..xxooxo", "..xoxxxx", ".xxxxxx.", "...ooox.",
        ".....o..",
    ];

    #[test]
    fn it_looks_at_a_corner_first_and_at_squares_beside_one_last() {
        let game = read(CORNER, 0);
        let mut moves = Vec::new();
        Position::moves(&game, &mut moves);
        moves.sort_by_key(|&(promise, _)| -promise);
        let names: Vec<String> = moves.iter().map(|(_, mv)| mv.to_string()).collect();
        assert_eq!(names.first().map(String::as_str), Some("h1"));
        let mut last: Vec<&String> = names.iter().rev().take(2).collect();
        last.sort();
        assert_eq!(last, ["b1", "g8"]);
    }

    #[test]
    fn it_takes_the_corner() {
        let state = json!({"board": CORNER, "turn": 0});
        let asked = turn(0, Ask::Move, state, json!(["h1"]));
        for depth in 1..7 {
            let answer = ask("kose", "reversi", json!({"depth": depth}), &asked);
            assert_eq!(answer, Ok(json!("h1")), "depth {depth}");
        }
    }

    #[test]
    fn the_end_is_played_exactly() {
        let end = read(
            [
                "x...o..o", ".xxxxxxx", "xoooxoxx", ".ooxoxxx", "xoxoxxxx", "oooxxxxo", "ooooxxoo",
                "o.oo.ooo",
            ],
            1,
        );
        let (_, value) = search::best(&end, &to_depth(64)).expect("a move");
        assert_eq!(value, plain(1, &end, 64));
        assert!(value.abs() >= WON);
    }

    #[test]
    fn stable_discs_hold_on_to_corners() {
        assert_eq!(stable(squares("b1 c1 b2")), 0);
        assert_eq!(stable(squares("a1 b1 d1 b2")), squares("a1 b1"));
        let held = squares("a1 b1 c1 a2 b2 a3");
        assert_eq!(stable(held | squares("c2 d4")), held);
        assert_eq!(stable(Squares::MAX), Squares::MAX);
    }

    #[test]
    fn neighbours_do_not_go_round_the_edge() {
        assert_eq!(around(squares("a1")), squares("a1 b1 a2 b2"));
        assert_eq!(around(squares("h8")), squares("h8 g8 h7 g7"));
        assert_eq!(around(squares("d4")).count_ones(), 9);
    }
}
