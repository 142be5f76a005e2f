//! The board: 24 points, 16 lines of three, and which points are neighbours. Sets of points are bit sets.

/// The points of the board.
pub const POINTS: usize = 24;

/// A point: its place in [`NAMES`].
pub type Point = u8;

/// A set of points: bit p is point p.
pub type Points = u32;

/// All points.
pub const ALL: Points = (1 << POINTS) - 1;

/// The names of the points, file and rank, from the top row to the bottom one and from left to right.
pub const NAMES: [&str; POINTS] = [
    "a7", "d7", "g7", "b6", "d6", "f6", "c5", "d5", "e5", "a4", "b4", "c4", "e4", "f4", "g4", "c3",
    "d3", "e3", "b2", "d2", "f2", "a1", "d1", "g1",
];

/// The lines, each from one end to the other: the rows from top to bottom, then the columns from left to right. Three
/// stones of a seat on one are a mill (rule 3).
const LINES: [[Point; 3]; 16] = [
    [0, 1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [9, 10, 11],
    [12, 13, 14],
    [15, 16, 17],
    [18, 19, 20],
    [21, 22, 23],
    [0, 9, 21],
    [3, 10, 18],
    [6, 11, 15],
    [1, 4, 7],
    [16, 19, 22],
    [8, 12, 17],
    [5, 13, 20],
    [2, 14, 23],
];

/// The lines as sets.
pub const MILLS: [Points; LINES.len()] = {
    let mut mills = [0; LINES.len()];
    let mut line = 0;
    while line < LINES.len() {
        let [a, b, c] = LINES[line];
        mills[line] = bit(a) | bit(b) | bit(c);
        line += 1;
    }
    mills
};

/// For each point the other two points of its row and those of its column.
const PARTNERS: [[Points; 2]; POINTS] = {
    let mut partners = [[0; 2]; POINTS];
    let mut line = 0;
    while line < LINES.len() {
        let mut place = 0;
        while place < 3 {
            let point = LINES[line][place];
            // The rows are the first half of the lines.
            partners[point as usize][line / 8] = MILLS[line] & !bit(point);
            place += 1;
        }
        line += 1;
    }
    partners
};

/// The neighbours of each point.
const NEIGHBOURS: [Points; POINTS] = {
    let mut neighbours = [0; POINTS];
    let mut line = 0;
    while line < LINES.len() {
        let [a, b, c] = LINES[line];
        neighbours[a as usize] |= bit(b);
        neighbours[b as usize] |= bit(a) | bit(c);
        neighbours[c as usize] |= bit(b);
        line += 1;
    }
    neighbours
};

/// The set of one point.
pub const fn bit(point: Point) -> Points {
    1 << point
}

/// The point of this name.
pub fn named(name: &str) -> Option<Point> {
    NAMES
        .iter()
        .position(|&known| known == name)
        .map(|place| place as Point)
}

/// The name of a point.
pub fn name(point: Point) -> &'static str {
    NAMES[usize::from(point)]
}

/// The neighbours of a point.
pub fn neighbours(point: Point) -> Points {
    NEIGHBOURS[usize::from(point)]
}

/// The other two points of each of the two lines through a point.
pub fn partners(point: Point) -> [Points; 2] {
    PARTNERS[usize::from(point)]
}

/// Whether a stone put on this point completes a mill with these.
pub fn closes(own: Points, point: Point) -> bool {
    let [row, column] = partners(point);
    own & row == row || own & column == column
}

/// Those of these stones that are in a mill.
pub fn in_mills(stones: Points) -> Points {
    MILLS
        .iter()
        .map(|&mill| if stones & mill == mill { mill } else { 0 })
        .fold(0, |all, mill| all | mill)
}

/// The points of a set, ascending.
pub fn each(mut points: Points) -> impl Iterator<Item = Point> {
    std::iter::from_fn(move || {
        let point = (points != 0).then(|| points.trailing_zeros() as Point);
        points &= points.wrapping_sub(1);
        point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// File and rank of a point, counted from 0.
    fn place(point: Point) -> (u8, u8) {
        let name = name(point).as_bytes();
        (name[0] - b'a', name[1] - b'1')
    }

    #[test]
    fn names_are_found_and_nothing_else_is() {
        for point in 0..POINTS as Point {
            assert_eq!(named(name(point)), Some(point));
        }
        for text in ["", "d4", "a2", "A7", "a77", "h1"] {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn every_point_is_on_one_row_and_one_column() {
        for point in 0..POINTS as Point {
            let through = MILLS.iter().filter(|&&mill| mill & bit(point) != 0);
            assert_eq!(through.count(), 2, "{}", name(point));
            let [row, column] = partners(point);
            assert!(each(row).all(|other| place(other).1 == place(point).1));
            assert!(each(column).all(|other| place(other).0 == place(point).0));
        }
    }

    #[test]
    fn neighbours_are_mutual_and_nothing_lies_between() {
        let mut links = 0;
        for point in 0..POINTS as Point {
            for other in each(neighbours(point)) {
                assert!(neighbours(other) & bit(point) != 0);
                let ((a, b), (c, d)) = (place(point), place(other));
                assert!((a == c) != (b == d), "along a row or a column");
                links += 1;
            }
        }
        assert_eq!(links, 2 * 32, "the board has 32 links");
        let around = |name: &str| neighbours(named(name).expect("a point"));
        let set = |names: &[&str]| {
            let points = names.iter().filter_map(|name| named(name));
            points.fold(0, |set, point| set | bit(point))
        };
        assert_eq!(around("d6"), set(&["d7", "b6", "f6", "d5"]));
        assert_eq!(around("a7"), set(&["d7", "a4"]));
        assert_eq!(around("c4"), set(&["b4", "c5", "c3"]));
        assert_eq!(around("d5"), set(&["d6", "c5", "e5"]));
    }

    #[test]
    fn mills_are_whole_lines_without_diagonals() {
        let set = |names: [&str; 3]| {
            names
                .iter()
                .fold(0, |set, name| set | bit(named(name).expect("a point")))
        };
        for mill in [
            ["a7", "d7", "g7"],
            ["d7", "d6", "d5"],
            ["a4", "b4", "c4"],
            ["b6", "b4", "b2"],
        ] {
            assert_eq!(in_mills(set(mill)), set(mill), "{mill:?}");
        }
        for other in [
            ["a7", "b6", "c5"],
            ["c4", "e4", "f4"],
            ["d5", "d3", "d2"],
            ["a7", "d7", "b6"],
        ] {
            assert_eq!(in_mills(set(other)), 0, "{other:?}");
        }
    }
}
