//! The faces of the cubes, the patterns on the cards, and the trays that are claimed.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::game::Refusal;

/// Rows of a pattern, and cells of a row.
pub const SIDE: usize = 4;
/// Cells of a pattern.
pub const CELLS: usize = SIDE * SIDE;
/// Cubes of a player, as many as there are cells.
pub const CUBES: usize = CELLS;
/// Faces of a cube.
pub const FACES: usize = 6;

/// What a face of a cube shows (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// All dark.
    Dark,
    /// All light.
    Light,
    /// A light disc on dark.
    Dot,
    /// A dark disc on light.
    Ring,
    /// A bar across the face.
    Bar,
    /// One half dark and one light, parted along a diagonal.
    Diagonal,
}

impl Face {
    /// Every face, in the order in which a choice among six names them.
    pub const ALL: [Face; FACES] = [
        Face::Dark,
        Face::Light,
        Face::Dot,
        Face::Ring,
        Face::Bar,
        Face::Diagonal,
    ];

    /// The name in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Face::Dark => "dark",
            Face::Light => "light",
            Face::Dot => "dot",
            Face::Ring => "ring",
            Face::Bar => "bar",
            Face::Diagonal => "diagonal",
        }
    }

    /// The face of this name.
    pub fn named(value: &Value) -> Option<Face> {
        let name = value.as_str()?;
        Face::ALL.into_iter().find(|face| face.as_str() == name)
    }

    /// How many quarter-turns look different, before the face looks again as it did.
    pub const fn turns(self) -> u8 {
        match self {
            Face::Dark | Face::Light | Face::Dot | Face::Ring => 1,
            Face::Bar => 2,
            Face::Diagonal => 4,
        }
    }
}

/// A cell of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Cell {
    /// What is to be seen.
    pub face: Face,
    /// Quarter-turns clockwise, 0 to 3.
    pub turn: u8,
}

impl Cell {
    /// Whether a face with so many quarter-turns clockwise looks like this cell.
    pub fn looks_like(self, face: Face, turn: i64) -> bool {
        face == self.face
            && (i64::from(self.turn) - turn.rem_euclid(4)).rem_euclid(i64::from(face.turns())) == 0
    }
}

/// What a card asks for, row by row.
pub type Pattern = [[Cell; SIDE]; SIDE];

/// The faces of the sixteen cubes.
pub type Cubes = [[Face; FACES]; CUBES];

/// What a claim says of one cell. The numbers are as the bot sent them: one that names no cube or face makes the claim
/// wrong, not the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Which cube, 0 to 15.
    pub cube: i64,
    /// Which of its faces is up, 0 to 5.
    pub face: i64,
    /// Quarter-turns clockwise.
    pub turn: i64,
}

/// A full tray, row by row.
pub type Tray = [[Placed; SIDE]; SIDE];

/// An answer in a race: a tray, or nothing, which gives the round up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer(pub Option<Tray>);

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = serializer.serialize_map(Some(1))?;
        answer.serialize_entry("qbitz", &self.0)?;
        answer.end()
    }
}

impl Answer {
    /// Reads an answer as messages carry it.
    ///
    /// # Errors
    /// What it has to be.
    pub fn parse(value: &Value) -> Result<Answer, Refusal> {
        match value.get("qbitz") {
            Some(Value::Null) => Ok(Answer(None)),
            Some(tray) => match read_tray(tray) {
                Some(tray) => Ok(Answer(Some(tray))),
                None => Err(Refusal::new(
                    "a tray has four rows of four cells with cube, face and turn (rule 2)",
                )),
            },
            None => Err(Refusal::new(format!(
                "a claim is {{\"qbitz\":TRAY}}, or {{\"qbitz\":null}} to give up the round, not {} (rule 2)",
                crate::game::cut(value)
            ))),
        }
    }
}

fn read_tray(value: &Value) -> Option<Tray> {
    grid(value, |cell| {
        Some(Placed {
            cube: whole(cell.get("cube")?)?,
            face: whole(cell.get("face")?)?,
            turn: whole(cell.get("turn")?)?,
        })
    })
}

/// Reads four rows of four, each cell by `cell`.
pub(super) fn grid<T>(
    value: &Value,
    cell: impl Fn(&Value) -> Option<T>,
) -> Option<[[T; SIDE]; SIDE]> {
    list(value, |row| list(row, &cell))
}

/// Reads a list of exactly so many elements, each by `element`.
pub(super) fn list<T, const N: usize>(
    value: &Value,
    element: impl Fn(&Value) -> Option<T>,
) -> Option<[T; N]> {
    let values = value.as_array().filter(|values| values.len() == N)?;
    let read: Option<Vec<T>> = values.iter().map(element).collect();
    read?.try_into().ok()
}

/// A whole number of any size; what is beyond 64 bits becomes the nearest that is not.
fn whole(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    value
        .as_f64()
        .filter(|number| number.fract() == 0.0)
        .map(|number| number as i64)
}
