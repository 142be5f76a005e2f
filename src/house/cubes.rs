//! Laying the cubes of Q-Bitz without ever taking one up again: what `random` and `greedy` do. How to do it right is in
//! `game::qbitz::assign`.

use crate::game::qbitz::Qbitz;
use crate::game::qbitz::faces::{CELLS, CUBES, Cubes, FACES, Pattern, Placed, SIDE, Tray};

const UNLAID: Placed = Placed {
    cube: 0,
    face: 0,
    turn: 0,
};

/// Cell after cell with the fewest cubes to choose from, and for each the first cube that has its face; `None` when a
/// cell has none left. One card in four ends so: the first cube that fits here may be the only one that fits there.
pub(super) fn scarcest_first(game: &Qbitz) -> Option<Tray> {
    let (cubes, pattern) = (game.cubes()?, game.pattern()?);
    let mut free = [true; CUBES];
    let mut laid = [false; CELLS];
    let mut tray = [[UNLAID; SIDE]; SIDE];
    for _ in 0..CELLS {
        let fitting = |cell: usize| {
            (0..CUBES)
                .filter(move |&cube| free[cube] && face_of(cubes, pattern, cube, cell).is_some())
        };
        let cell = (0..CELLS)
            .filter(|&cell| !laid[cell])
            .min_by_key(|&cell| fitting(cell).count())?;
        let cube = fitting(cell).next()?;
        tray[cell / SIDE][cell % SIDE] = Placed {
            cube: cube as i64,
            face: face_of(cubes, pattern, cube, cell)? as i64,
            turn: i64::from(pattern[cell / SIDE][cell % SIDE].turn),
        };
        laid[cell] = true;
        free[cube] = false;
    }
    Some(tray)
}

/// Which face of a cube a cell wants up; `None` if the cube does not have it.
fn face_of(cubes: &Cubes, pattern: &Pattern, cube: usize, cell: usize) -> Option<usize> {
    let wanted = pattern[cell / SIDE][cell % SIDE].face;
    cubes[cube].iter().position(|&face| face == wanted)
}

/// All cubes somewhere, any face up. The bytes choose: fifteen for a shuffle, then one a cell.
pub(super) fn at_random(bytes: &[u8; 32]) -> Tray {
    let mut order: [usize; CUBES] = std::array::from_fn(|cube| cube);
    for place in (1..CUBES).rev() {
        order.swap(place, usize::from(bytes[place]) % (place + 1));
    }
    let mut tray = [[UNLAID; SIDE]; SIDE];
    for (cell, cube) in order.into_iter().enumerate() {
        let byte = i64::from(bytes[CUBES + cell]);
        tray[cell / SIDE][cell % SIDE] = Placed {
            cube: cube as i64,
            face: byte % FACES as i64,
            turn: byte / FACES as i64 % 4,
        };
    }
    tray
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::game::qbitz::QbitzOptions;
    use crate::game::qbitz::faces::Answer;
    use crate::game::{Claim, Drawn, Game, Setup};

    /// Positions of many cards.
    fn cards() -> impl Iterator<Item = Qbitz> {
        (0..200u8).map(|n| {
            let mut game = Qbitz::start(&QbitzOptions::default(), &Setup::SINGLE);
            game.chance(Drawn::Bytes(Sha256::digest([n]).into()));
            game.chance(Drawn::Bytes(Sha256::digest([n, n]).into()));
            game
        })
    }

    #[test]
    fn what_is_laid_without_going_back_is_right_and_most_cards_are() {
        let mut laid = 0;
        for mut game in cards() {
            assert!(game.solution().is_some());
            if let Some(tray) = scarcest_first(&game) {
                assert_eq!(game.claim(0, &Answer(Some(tray))), Ok(Claim::Right));
                laid += 1;
            }
        }
        assert!((130..170).contains(&laid), "{laid} of 200");
    }

    #[test]
    fn a_tray_at_random_uses_every_cube_once_and_is_wrong() {
        for (n, mut game) in (0..).zip(cards()) {
            let tray = at_random(&std::array::from_fn(|place| {
                (place as u8).wrapping_mul(n) ^ n
            }));
            let mut used: Vec<i64> = tray.iter().flatten().map(|placed| placed.cube).collect();
            used.sort_unstable();
            assert!(used.into_iter().eq(0..CUBES as i64));
            let claim = game.claim(0, &Answer(Some(tray)));
            assert!(matches!(claim, Ok(Claim::Wrong(_))), "{claim:?}");
        }
    }
}
