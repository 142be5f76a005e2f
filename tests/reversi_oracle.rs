//! Reversi's rules against a naive second implementation, at random.

#[path = "oracle/reversi.rs"]
mod oracle;

use hakem::game::reversi::{Reversi, ReversiOptions, Square};
use hakem::game::{Game, Setup, ToAct};
use oracle::{Letters, letter};
use proptest::prelude::*;
use serde_json::{Value, json};

fn state(letters: &Letters) -> Value {
    let ranks: Vec<String> = letters
        .board
        .iter()
        .map(|rank| rank.iter().collect())
        .collect();
    json!({"board": ranks, "turn": letters.turn})
}

fn name((rank, file): (i32, i32)) -> String {
    format!("{}{}", char::from(b'a' + file as u8), rank + 1)
}

fn end(game: &Reversi, letters: &Letters, empties_to_winner: bool) -> Result<(), TestCaseError> {
    let outcome = game.outcome().expect("the game is over");
    let mut points = [letters.count('x'), letters.count('o')];
    let winner = (points[0] != points[1]).then_some(usize::from(points[0] < points[1]));
    if let (true, Some(winner)) = (empties_to_winner, winner) {
        points[winner] += letters.count('.');
    }
    prop_assert_eq!(outcome.winner, winner);
    prop_assert_eq!(outcome.points, points);
    let full = letters.count('.') == 0;
    prop_assert_eq!(outcome.reason, if full { "board_full" } else { "no_moves" });
    Ok(())
}

/// Plays these picks on both, and compares after every move.
fn compare(
    options: &ReversiOptions,
    mut letters: Letters,
    picks: &[u8],
) -> Result<(), TestCaseError> {
    let mut game = Reversi::read(options, &state(&letters)).expect("a position");
    let mut listed = Vec::new();
    for &pick in picks {
        prop_assert_eq!(
            serde_json::to_value(game.state()).expect("JSON"),
            state(&letters)
        );
        let moves = letters.moves(letters.turn);
        game.legal(&mut listed);
        let names: Vec<String> = listed.iter().map(Square::to_string).collect();
        prop_assert_eq!(&names, &moves.iter().copied().map(name).collect::<Vec<_>>());
        if moves.is_empty() {
            if letters.moves(1 - letters.turn).is_empty() {
                prop_assert_eq!(game.to_act(), ToAct::Over);
                return end(&game, &letters, options.empties_to_winner);
            }
            prop_assert_eq!(game.to_act(), ToAct::Pass(letters.turn));
            game.pass();
            letters.turn = 1 - letters.turn;
            continue;
        }
        prop_assert!(matches!(game.to_act(), ToAct::Seat(seat, _) if seat == letters.turn));
        for rank in 0..8 {
            for file in 0..8 {
                let square = Square::from_name(&name((rank, file))).expect("a square");
                let mut tried = game;
                prop_assert_eq!(tried.apply(&square).is_ok(), moves.contains(&(rank, file)));
                prop_assert!(moves.contains(&(rank, file)) || tried == game);
            }
        }
        let index = usize::from(pick) % moves.len();
        prop_assert!(game.apply(&listed[index]).is_ok());
        letters.play(moves[index]);
    }
    Ok(())
}

fn start() -> Letters {
    let mut letters = Letters {
        board: [['.'; 8]; 8],
        turn: 0,
    };
    for (rank, file, seat) in [(3, 3, 1), (4, 4, 1), (3, 4, 0), (4, 3, 0)] {
        letters.board[rank][file] = letter(seat);
    }
    letters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn games_from_the_start_agree(
        empties_to_winner: bool,
        picks in prop::collection::vec(any::<u8>(), 0..70),
    ) {
        let options = ReversiOptions { empties_to_winner };
        let begun = Reversi::start(&options, &Setup::SINGLE);
        prop_assert_eq!(serde_json::to_value(begun.state()).expect("JSON"), state(&start()));
        compare(&options, start(), &picks)?;
    }

    /// Discs thrown at random, few or many, make lines of every length in every direction, and passes.
    #[test]
    fn positions_of_any_kind_agree(
        empties_to_winner: bool,
        squares in prop::collection::vec(prop_oneof![
            4 => Just('x'), 4 => Just('o'), 3 => Just('.')], 64),
        turn in 0usize..2,
        picks in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut letters = Letters { board: [['.'; 8]; 8], turn };
        for (index, square) in squares.into_iter().enumerate() {
            letters.board[index / 8][index % 8] = square;
        }
        compare(&ReversiOptions { empties_to_winner }, letters, &picks)?;
    }
}
