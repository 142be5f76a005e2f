//! What the protocols of Reversi engines write: the GGF board, squares, and the moves that lead to a position.

use crate::game::reversi::{Reversi, ReversiOptions, Square};
use crate::game::{Ask, Game, Seat, Setup, ToAct};

/// The plies of an opening that is looked for among all there are: a third of a million paths.
const MAX_OPENING: u32 = 8;

/// A move of a game, seat 0 being Black: a square, or none for a pass.
pub(super) type Ply = (Seat, Option<Square>);

/// The game in GGF that is this position and no move: `(;GM[Othello]...BO[8 ----...--- *];)`, rank 1 first, `*` Black.
/// `seconds` is each side's time.
pub(super) fn ggf(game: &Reversi, turn: Seat, names: [&str; 2], seconds: Option<u64>) -> String {
    let board: String = (0..64)
        .map(
            |index| match [0, 1].map(|seat| game.discs(seat) >> index & 1) {
                [1, _] => '*',
                [_, 1] => 'O',
                _ => '-',
            },
        )
        .collect();
    let time = seconds.map_or_else(String::new, |seconds| {
        format!("TI[{:02}:{:02}]", seconds / 60, seconds % 60)
    });
    format!(
        "(;GM[Othello]PC[hakem]PB[{}]PW[{}]RE[?]{time}TY[8]BO[8 {board} {}];)",
        names[0],
        names[1],
        ["*", "O"][turn & 1],
    )
}

/// Reads a move as engines write it (`D3`, `d3`, with an evaluation after a `/`); `None`: it is a pass or no move.
pub(super) fn read_square(text: &str) -> Option<Square> {
    let word = text.split([' ', '\t', '/']).next().unwrap_or_default();
    Square::from_name(&word.to_ascii_lowercase())
}

/// The moves from the usual start to a position; `None`: it is no position of the first plies.
pub(super) fn opening(wanted: &Reversi) -> Option<Vec<Ply>> {
    let start = Reversi::start(&ReversiOptions::default(), &Setup::SINGLE);
    let discs = |game: &Reversi| (game.discs(0) | game.discs(1)).count_ones();
    let plies = discs(wanted).checked_sub(discs(&start))?;
    let mut path = Vec::new();
    (plies <= MAX_OPENING && leads(start, wanted, plies, &mut path)).then_some(path)
}

/// Whether `left` more discs lead from a position to the wanted one; the path is then complete.
fn leads(mut game: Reversi, wanted: &Reversi, left: u32, path: &mut Vec<Ply>) -> bool {
    let same = [0, 1].map(|seat| game.discs(seat)) == [0, 1].map(|seat| wanted.discs(seat));
    if left == 0 {
        return same && game.to_act() == wanted.to_act();
    }
    match game.to_act() {
        ToAct::Seat(seat, Ask::Move) => {
            let mut squares = Vec::new();
            game.legal(&mut squares);
            squares.iter().any(|square| {
                let mut next = game;
                path.push((seat, Some(*square)));
                let found = next.apply(square).is_ok() && leads(next, wanted, left - 1, path);
                if !found {
                    path.pop();
                }
                found
            })
        }
        ToAct::Pass(seat) => {
            game.pass();
            path.push((seat, None));
            let found = leads(game, wanted, left, path);
            if !found {
                path.pop();
            }
            found
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn play(squares: &[&str]) -> Reversi {
        let mut game = Reversi::start(&ReversiOptions::default(), &Setup::SINGLE);
        for square in squares {
            let square = Square::from_name(square).expect("a square");
            game.apply(&square).expect("legal");
        }
        game
    }

    #[test]
    fn a_ggf_board_begins_with_rank_1_and_says_who_moves() {
        assert_eq!(
            ggf(&play(&[]), 0, ["me", "them"], Some(905)),
            "(;GM[Othello]PC[hakem]PB[me]PW[them]RE[?]TI[15:05]TY[8]BO[8 \
             ---------------------------O*------*O--------------------------- *];)"
        );
        let after = ggf(&play(&["d3"]), 1, ["a", "b"], None);
        assert!(
            after.ends_with(
                "BO[8 -------------------*-------**------*O--------------------------- O];)"
            ),
            "{after}"
        );
    }

    #[test]
    fn moves_are_read_with_what_follows_them() {
        for text in ["D3", "d3", "D3/1.50/0.1", "d6 -1.00 0.0"] {
            assert!(read_square(text).is_some(), "{text}");
        }
        for text in ["PA", "pass", "", "i1", "d9", "resign"] {
            assert_eq!(read_square(text), None, "{text}");
        }
    }

    #[test]
    fn an_opening_is_led_to_by_moves() {
        assert_eq!(opening(&play(&[])), Some(Vec::new()));
        let wanted = play(&["d3", "c3", "c4", "e3", "f4", "c5"]);
        let path = opening(&wanted).expect("six plies are found");
        assert_eq!(path.len(), 6);
        let mut game = play(&[]);
        for (seat, square) in path {
            assert_eq!(game.to_act(), ToAct::Seat(seat, Ask::Move));
            game.apply(&square.expect("no pass")).expect("legal");
        }
        assert_eq!(game, wanted);
        // Nobody can have moved to this.
        let state = json!({"board": ["x.......", "........", "........", "...ox...", "...xo...", "........", "........", "........"], "turn": 1});
        let odd = Reversi::read(&ReversiOptions::default(), &state).expect("a position");
        assert_eq!(opening(&odd), None);
    }
}
