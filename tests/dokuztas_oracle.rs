//! Dokuztas's rules against a naive second implementation, at random.

#[path = "oracle/dokuztas.rs"]
mod oracle;

use std::collections::{BTreeMap, BTreeSet};

use hakem::game::dokuztas::{Dokuztas, DokuztasOptions, board};
use hakem::game::{Game, Setup, ToAct};
use oracle::{Grid, Mills, Place, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

fn place(point: board::Point) -> Place {
    let name = board::name(point).as_bytes();
    (i32::from(name[0] - b'a'), i32::from(name[1] - b'1'))
}

fn stones(game: &Dokuztas) -> BTreeMap<Place, usize> {
    (0..2)
        .flat_map(|seat| board::each(game.stones(seat)).map(move |point| (place(point), seat)))
        .collect()
}

/// A move as the protocol writes it.
fn written((from, to, take): Step) -> Value {
    let mut fields = serde_json::Map::new();
    for (key, place) in [("from", from), ("to", Some(to)), ("take", take)] {
        if let Some(place) = place {
            fields.insert(key.into(), oracle::name(place).into());
        }
    }
    Value::Object(fields)
}

/// Every way to name points in a move: far more than is legal.
fn thinkable(pick: u64) -> Vec<Step> {
    let points = oracle::points();
    let at = |shift: u64| points[(pick >> shift) as usize % points.len()];
    let mut steps = Vec::new();
    for &to in &points {
        for from in [None, Some(at(0)), Some(at(8))] {
            for take in [None, Some(at(16)), Some(at(24)), Some(to)] {
                steps.push((from, to, take));
            }
        }
    }
    steps
}

/// Plays these picks on both, and compares after every move.
fn compare(mut game: Dokuztas, mut grid: Grid, picks: &[u64]) -> Result<(), TestCaseError> {
    let mut moves = Vec::new();
    for &pick in picks {
        prop_assert_eq!(stones(&game), grid.stones.clone());
        game.legal(&mut moves);
        if let Some((winner, reason)) = grid.ended() {
            let left = [grid.left(0) as u32, grid.left(1) as u32];
            let outcome = game.outcome().expect("the game is over");
            prop_assert_eq!((outcome.winner, outcome.reason), (winner, reason));
            prop_assert_eq!(&outcome.points, &left);
            prop_assert!(moves.is_empty());
            return Ok(());
        }
        prop_assert!(matches!(game.to_act(), ToAct::Seat(seat, _) if seat == grid.turn));
        let found: Vec<Step> = moves
            .iter()
            .map(|mv| (mv.from().map(place), place(mv.to()), mv.take().map(place)))
            .collect();
        let legal = grid.legal();
        prop_assert_eq!(found.len(), legal.len(), "none is listed twice");
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), legal.clone());
        prop_assert!(moves.is_sorted());
        for step in thinkable(pick) {
            let mut tried = game;
            let mv = game.parse(&written(step)).expect("points are named");
            prop_assert_eq!(
                tried.apply(&mv).is_ok(),
                legal.contains(&step),
                "{:?}",
                step
            );
            if !legal.contains(&step) {
                prop_assert_eq!(tried, game, "a refused move changes nothing");
            }
        }
        let step = *legal
            .iter()
            .nth(pick as usize % legal.len())
            .expect("a move");
        let mv = game.parse(&written(step)).expect("points are named");
        prop_assert!(game.apply(&mv).is_ok());
        grid.play(step);
    }
    Ok(())
}

/// Options and the same for the oracle, without stones.
fn rules(mills: usize, no_capture_plies: u32, max_plies: u32) -> (DokuztasOptions, Grid) {
    let (word, mills) = [
        ("protected", Mills::Protected),
        ("immune", Mills::Immune),
        ("takeable", Mills::Takeable),
    ][mills];
    let options = json!({
        "mill_stones": word, "no_capture_plies": no_capture_plies, "max_plies": max_plies,
    });
    let grid = Grid {
        stones: BTreeMap::new(),
        in_hand: [9, 9],
        turn: 0,
        quiet: 0,
        plies: 0,
        mills,
        no_capture_plies,
        max_plies,
    };
    (serde_json::from_value(options).expect("options"), grid)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn games_from_the_start_agree(
        first in 0usize..2,
        mills in 0usize..3,
        no_capture_plies in prop::sample::select(vec![0u32, 5, 20, 200]),
        max_plies in prop::sample::select(vec![15u32, 60, 2000]),
        picks in prop::collection::vec(any::<u64>(), 0..250),
    ) {
        let (options, mut grid) = rules(mills, no_capture_plies, max_plies);
        grid.turn = first;
        let game = Dokuztas::start(&options, &Setup { lot: first, ..Setup::SINGLE });
        compare(game, grid, &picks)?;
    }

    /// Stones thrown at random reach what play seldom does: many mills, blocked seats, one stone against nine.
    #[test]
    fn positions_of_any_kind_agree(
        order in Just(oracle::points()).prop_shuffle(),
        counts in (0usize..=9, 0usize..=9),
        hands in (0usize..=9, 0usize..=9),
        moving in any::<bool>(),
        mills in 0usize..3,
        turn in 0usize..2,
        quiet in 0u32..5,
        picks in prop::collection::vec(any::<u64>(), 1..20),
    ) {
        let hands = if moving {
            (0, 0)
        } else {
            (hands.0 % (10 - counts.0), hands.1 % (10 - counts.1))
        };
        let left = [counts.0 + hands.0, counts.1 + hands.1];
        prop_assume!(left.iter().all(|count| (2..=9).contains(count)) && left != [2, 2]);
        let (options, mut grid) = rules(mills, 6, 2000);
        grid.in_hand = [hands.0, hands.1];
        (grid.turn, grid.quiet, grid.plies) = (turn, quiet, quiet);
        let thrown = order.iter().zip(std::iter::repeat_n(0, counts.0).chain(std::iter::repeat_n(1, counts.1)));
        grid.stones = thrown.map(|(&place, seat)| (place, seat)).collect();
        let names = |seat| -> Vec<String> {
            let own = grid.stones.iter().filter(|&(_, &owner)| owner == seat);
            own.map(|(&place, _)| oracle::name(place)).collect()
        };
        let state = json!({
            "stones": [names(0), names(1)], "in_hand": grid.in_hand, "turn": turn, "quiet": quiet,
        });
        let game = Dokuztas::read(&options, &state);
        compare(game.expect("a position"), grid, &picks)?;
    }
}
