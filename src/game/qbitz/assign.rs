//! Which cube goes to which cell: an exact assignment.

use super::faces::{CELLS, CUBES, Cubes, Pattern, Placed, SIDE, Tray};

/// Lays a pattern with these cubes; `None` if no assignment of cubes to cells does.
///
/// A maximum matching of cells and cubes by augmenting paths (H. W. Kuhn), one path a cell: a cell takes a free cube that
/// has its face, or one whose cell can move on to another.
pub fn solve(cubes: &Cubes, pattern: &Pattern) -> Option<Tray> {
    let mut fitting = [0u16; CELLS];
    for (cell, fits) in fitting.iter_mut().enumerate() {
        let face = pattern[cell / SIDE][cell % SIDE].face;
        for (cube, faces) in cubes.iter().enumerate() {
            if faces.contains(&face) {
                *fits |= 1 << cube;
            }
        }
    }
    let mut cell_of = [None; CUBES];
    for cell in 0..CELLS {
        if !augment(cell, &fitting, &mut cell_of, &mut 0) {
            return None;
        }
    }
    let mut tray = [[Placed {
        cube: 0,
        face: 0,
        turn: 0,
    }; SIDE]; SIDE];
    for (cube, cell) in cell_of.into_iter().enumerate() {
        let cell = cell?;
        let wanted = pattern[cell / SIDE][cell % SIDE];
        let face = cubes[cube].iter().position(|&face| face == wanted.face)?;
        tray[cell / SIDE][cell % SIDE] = Placed {
            cube: cube as i64,
            face: face as i64,
            turn: i64::from(wanted.turn),
        };
    }
    Some(tray)
}

/// Finds a cube for a cell; `tried` holds the cubes that this search has come past.
fn augment(
    cell: usize,
    fitting: &[u16; CELLS],
    cell_of: &mut [Option<usize>; CUBES],
    tried: &mut u16,
) -> bool {
    for cube in 0..CUBES {
        let bit = 1 << cube;
        if fitting[cell] & bit == 0 || *tried & bit != 0 {
            continue;
        }
        *tried |= bit;
        let free = match cell_of[cube] {
            None => true,
            Some(other) => augment(other, fitting, cell_of, tried),
        };
        if free {
            cell_of[cube] = Some(cell);
            return true;
        }
    }
    false
}
