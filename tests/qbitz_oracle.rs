//! The rules of Q-Bitz against a naive second implementation, at random.

#[path = "oracle/qbitz.rs"]
mod oracle;

use hakem::game::qbitz::assign::solve;
use hakem::game::qbitz::cards::{Card, UNIFORM, mixed_cubes};
use hakem::game::qbitz::faces::{Answer, Cell, Cubes, Face, Pattern};
use hakem::game::qbitz::{Qbitz, QbitzOptions};
use hakem::game::{ChanceKind, Claim, Drawn, Game, Setup, ToAct};
use oracle::Sheet;
use proptest::prelude::*;
use serde_json::{Value, json};

fn written(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("JSON")
}

/// What becomes of one cell of a right tray.
#[derive(Clone, Debug)]
enum Change {
    Cube(i64),
    Face(i64),
    Turn(i64),
    Exchange(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (-2i64..19).prop_map(Change::Cube),
        (-2i64..9).prop_map(Change::Face),
        (-9i64..9).prop_map(Change::Turn),
        (0usize..4, 0usize..4).prop_map(|(row, column)| Change::Exchange(row, column)),
    ]
}

fn apply(tray: &mut Value, row: usize, column: usize, change: &Change) {
    match *change {
        Change::Cube(cube) => tray[row][column]["cube"] = json!(cube),
        Change::Face(face) => tray[row][column]["face"] = json!(face),
        Change::Turn(turn) => tray[row][column]["turn"] = json!(turn),
        Change::Exchange(other_row, other_column) => {
            let here = tray[row][column].clone();
            tray[row][column] = tray[other_row][other_column].clone();
            tray[other_row][other_column] = here;
        }
    }
}

/// Something that happens to a game.
#[derive(Clone, Debug)]
enum Happens {
    Right(usize),
    Wrong(usize),
    Together(usize, usize),
    TimeOver,
    Leaves(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        4 => (0usize..4).prop_map(Happens::Right),
        4 => (0usize..4).prop_map(Happens::Wrong),
        3 => (0usize..4, 0usize..4).prop_map(|(a, b)| Happens::Together(a, b)),
        1 => Just(Happens::TimeOver),
        1 => (0usize..4).prop_map(Happens::Leaves),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cubes_and_cards_are_made_as_the_page_tells(cube_event in any::<[u8; 32]>(), event in any::<[u8; 32]>()) {
        let cubes = mixed_cubes(cube_event);
        prop_assert_eq!(written(&cubes), oracle::cubes(cube_event));
        for cubes in [cubes, UNIFORM] {
            let card = Card::new(event, &cubes);
            prop_assert_eq!(written(card.pattern()), oracle::shown(event, &written(&cubes)));
        }
    }

    #[test]
    fn a_claim_is_right_if_the_tray_looks_like_the_card(
        cube_event in any::<[u8; 32]>(),
        event in any::<[u8; 32]>(),
        changes in prop::collection::vec((0usize..4, 0usize..4, change()), 0..3),
    ) {
        let mut game = Qbitz::start(&QbitzOptions::default(), &Setup::SINGLE);
        game.chance(Drawn::Bytes(cube_event));
        game.chance(Drawn::Bytes(event));
        let state = written(&game.state());
        let mut tray = written(&game.solution().expect("every card can be laid"));
        for (row, column, change) in &changes {
            apply(&mut tray, *row, *column, change);
        }
        let right = oracle::shows(&tray, &state["pattern"], &state["cubes"]);
        prop_assert!(right || !changes.is_empty());
        let claim = game.parse(&json!({"qbitz": tray})).expect("a tray");
        let found = game.claim(0, &claim).expect("seat 0 races");
        prop_assert_eq!(found == Claim::Right, right, "{:?}", found);
    }

    /// Few kinds of faces, few of them on a cube: often there is no way, or a single one.
    #[test]
    fn a_way_is_found_exactly_where_there_is_one(
        kinds in prop::collection::vec(prop::collection::vec(0usize..6, 1..3), 16),
        wanted in prop::collection::vec(0usize..6, 5),
        rest in 0usize..6,
    ) {
        // Eleven cells are laid by cubes that have nothing else, so that trying everything does not take for ever.
        let mut faces = [[Face::ALL[rest]; 6]; 16];
        for (cube, kinds) in faces.iter_mut().zip(&kinds).take(5) {
            *cube = std::array::from_fn(|face| Face::ALL[kinds[face % kinds.len()]]);
        }
        let cubes: Cubes = faces;
        let pattern: Pattern = std::array::from_fn(|row| {
            std::array::from_fn(|column| Cell {
                face: wanted.get(4 * row + column).map_or(Face::ALL[rest], |&kind| Face::ALL[kind]),
                turn: 0,
            })
        });
        let names: Vec<Vec<&str>> = cubes
            .iter()
            .map(|cube| cube.iter().map(|face| face.as_str()).collect())
            .collect();
        // The rare faces first, so that a dead end is seen soon.
        let mut cells: Vec<&str> = pattern.iter().flatten().map(|cell| cell.face.as_str()).collect();
        cells.sort_by_key(|&face| names.iter().filter(|cube| cube.contains(&face)).count());
        let tray = solve(&cubes, &pattern);
        prop_assert_eq!(tray.is_some(), oracle::can_be_laid(&cells, &names));
        if let Some(tray) = tray {
            prop_assert!(oracle::shows(&written(&tray), &written(&pattern), &written(&cubes)));
        }
    }

    #[test]
    fn rounds_are_counted_as_by_hand(
        seats in 2usize..=4,
        target in 1u32..5,
        most in 1u32..8,
        all in prop::collection::vec(happens(), 0..60),
    ) {
        let options = QbitzOptions { target_points: target, rounds: most, ..QbitzOptions::default() };
        let mut game = Qbitz::start(&options, &Setup { seats, ..Setup::SINGLE });
        game.chance(Drawn::Bytes([7; 32]));
        let mut sheet = Sheet::new(seats, target, most);
        for (n, happens) in all.iter().enumerate() {
            let winners = sheet.winners();
            prop_assert_eq!(game.to_act() == ToAct::Over, !winners.is_empty());
            if let Some(outcome) = game.outcome() {
                let share = 1.0 / winners.len() as f64;
                for seat in 0..seats {
                    let expected = if winners.contains(&seat) { share } else { 0.0 };
                    prop_assert!((outcome.score[seat].value() - expected).abs() < 1e-9);
                }
                prop_assert_eq!(outcome.winner.is_some(), winners.len() == 1);
                prop_assert_eq!(outcome.reason == "target", sheet.points[winners[0]] >= target);
                break;
            }
            if let ToAct::Chance(chance) = game.to_act() {
                prop_assert_eq!(chance.kind, ChanceKind::Card);
                game.chance(Drawn::Bytes([n as u8; 32]));
                sheet.deal();
            }
            let racing = sheet.racing();
            for seat in 0..4 {
                prop_assert_eq!(game.racing(seat), racing.contains(&seat));
            }
            let right = Answer(game.solution());
            match *happens {
                Happens::Right(seat) if racing.contains(&seat) => {
                    prop_assert_eq!(game.claim(seat, &right), Ok(Claim::Right));
                    game.award(&[seat]);
                    sheet.ends(&[seat]);
                }
                Happens::Wrong(seat) if racing.contains(&seat) => {
                    prop_assert_eq!(game.claim(seat, &Answer(None)), Ok(Claim::GaveUp));
                    sheet.goes_out(seat);
                }
                Happens::Together(a, b) if a != b && racing.contains(&a) && racing.contains(&b) => {
                    game.award(&[a, b]);
                    sheet.ends(&[a, b]);
                }
                Happens::TimeOver => {
                    game.award(&[]);
                    sheet.ends(&[]);
                }
                Happens::Leaves(seat) => {
                    let may = seat < seats && !sheet.left.contains(&seat) && sheet.left.len() + 2 < seats;
                    prop_assert_eq!(game.withdraw(seat), may);
                    if may {
                        sheet.leaves(seat);
                    }
                }
                Happens::Right(seat) | Happens::Wrong(seat) => {
                    prop_assert!(game.claim(seat, &right).is_err());
                }
                Happens::Together(..) => {}
            }
            let state = written(&game.state());
            prop_assert_eq!(&state["points"], &json!(sheet.points));
            let shown = sheet.rounds + u32::from(sheet.on);
            prop_assert_eq!(&state["round"], &json!(shown));
            prop_assert_eq!(state["pattern"].is_null(), !sheet.on);
            let voids = state["dead_heats"].as_u64().unwrap_or(0);
            prop_assert_eq!(voids, u64::from(sheet.voids_in_a_row));
        }
    }
}
