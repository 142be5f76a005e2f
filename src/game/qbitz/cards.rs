//! Cubes and cards from derived chance. How the bytes of an event become choices is told at [`Choices`]; in which order
//! the choices are made, below. So anyone can recompute them.

use super::assign::solve;
use super::faces::{CELLS, CUBES, Cell, Cubes, FACES, Face, Pattern, SIDE};
use crate::chance::Choices;

/// Sides of a card.
const SIDES: usize = 2;
/// Patterns on a side.
const PATTERNS: usize = 4;

/// The cubes of `blocks = "uniform"`: every cube has all six faces.
pub const UNIFORM: Cubes = [Face::ALL; CUBES];

/// The cubes of `blocks = "mixed"`: cube by cube and face by face a choice among the six of [`Face::ALL`].
pub fn mixed_cubes(bytes: [u8; 32]) -> Cubes {
    let mut choices = Choices::new(bytes);
    let mut cubes = UNIFORM;
    for face in cubes.iter_mut().flatten() {
        *face = Face::ALL[choices.below(FACES)];
    }
    cubes
}

/// A card: two sides with four patterns a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The patterns of each side.
    pub sides: [[Pattern; PATTERNS]; SIDES],
    /// The side and the pattern on it that the round shows.
    pub shown: (usize, usize),
}

impl Card {
    /// The card that an event brings: the patterns of the first side and then of the second, as `pattern` makes them,
    /// and at last a choice among two for the side and among four for the pattern that is shown.
    pub fn new(bytes: [u8; 32], cubes: &Cubes) -> Card {
        let mut choices = Choices::new(bytes);
        let sides = std::array::from_fn(|_| std::array::from_fn(|_| pattern(&mut choices, cubes)));
        let shown = (choices.below(SIDES), choices.below(PATTERNS));
        Card { sides, shown }
    }

    /// The pattern that the round shows.
    pub fn pattern(&self) -> &Pattern {
        &self.sides[self.shown.0][self.shown.1]
    }
}

/// A pattern that these cubes can lay: it is read off a tray that they lie on.
///
/// First the cubes are shuffled (for i from 15 down to 1: a choice j among i + 1, and places i and j are exchanged); then
/// for each cell, row by row, a choice among the six faces of the cube that lies there, and one among the different turns
/// of that face.
fn pattern(choices: &mut Choices, cubes: &Cubes) -> Pattern {
    let mut order: [usize; CUBES] = std::array::from_fn(|cube| cube);
    for place in (1..CUBES).rev() {
        order.swap(place, choices.below(place + 1));
    }
    let mut pattern = [[Cell {
        face: Face::Dark,
        turn: 0,
    }; SIDE]; SIDE];
    for (cell, cube) in (0..CELLS).zip(order) {
        let face = cubes[cube][choices.below(FACES)];
        let turn = choices.below(usize::from(face.turns())) as u8;
        pattern[cell / SIDE][cell % SIDE] = Cell { face, turn };
    }
    assert!(
        solve(cubes, &pattern).is_some(),
        "a pattern read off a tray can be laid"
    );
    pattern
}
