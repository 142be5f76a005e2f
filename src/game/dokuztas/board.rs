//! The board: 24 points, 16 lines of three, and which points are neighbours. Sets of points are bit sets.
//!
//! Point 8 r + k is the k-th of ring r: rings from the outer to the inner one, points clockwise from the upper left corner.
//! So corners have even numbers and the middles of sides odd ones, a step along a ring turns a byte by one bit, and a step
//! from ring to ring is a shift by a byte.

/// The points of the board.
pub const POINTS: usize = 24;

/// A point: its place in [`NAMES`].
pub type Point = u8;

/// A set of points: bit p is point p.
pub type Points = u32;

/// All points.
pub const ALL: Points = (1 << POINTS) - 1;

/// The corners of the rings.
const CORNERS: Points = 0x55_55_55;

/// The middles of the sides, which are joined from ring to ring.
const SIDES: Points = 0xAA_AA_AA;

/// The names of the points, file and rank.
pub const NAMES: [&str; POINTS] = [
    "a7", "d7", "g7", "g4", "g1", "d1", "a1", "a4", //
    "b6", "d6", "f6", "f4", "f2", "d2", "b2", "b4", //
    "c5", "d5", "e5", "e4", "e3", "d3", "c3", "c4",
];

/// The lines (rule 3): four sides of each ring, and four across the rings.
pub const MILLS: [Points; 16] = {
    let mut mills = [0; 16];
    let mut line = 0;
    while line < 12 {
        let corner = bit(2 * line as Point);
        mills[line] = corner | clockwise(corner) | clockwise(clockwise(corner));
        line += 1;
    }
    while line < 16 {
        mills[line] = 0x01_01_01 << (2 * (line - 12) + 1);
        line += 1;
    }
    mills
};

/// For each point the other two points of each of its two lines.
const PARTNERS: [[Points; 2]; POINTS] = {
    let mut partners = [[0; 2]; POINTS];
    let mut point = 0;
    while point < POINTS {
        let (mut line, mut found) = (0, 0);
        while line < MILLS.len() {
            if MILLS[line] >> point & 1 == 1 {
                partners[point][found] = MILLS[line] & !(1 << point);
                found += 1;
            }
            line += 1;
        }
        point += 1;
    }
    partners
};

/// The neighbours of each point.
const NEIGHBOURS: [Points; POINTS] = {
    let mut neighbours = [0; POINTS];
    let mut point = 0;
    while point < POINTS {
        neighbours[point] = around(1 << point);
        point += 1;
    }
    neighbours
};

/// The set of one point.
pub const fn bit(point: Point) -> Points {
    1 << point
}

/// Every point of the set one step further on its ring.
const fn clockwise(points: Points) -> Points {
    points << 1 & 0xFE_FE_FE | points >> 7 & 0x01_01_01
}

/// Every point of the set one step back on its ring.
const fn counterclockwise(points: Points) -> Points {
    points >> 1 & 0x7F_7F_7F | points << 7 & 0x80_80_80
}

/// The points that are neighbours of one of the set.
pub const fn around(points: Points) -> Points {
    let across = (points << 8 | points >> 8) & SIDES;
    clockwise(points) | counterclockwise(points) | across
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
    let [one, other] = partners(point);
    own & one == one || own & other == other
}

/// The points, empty or not, where a stone would complete a mill with two of these.
pub const fn closing(own: Points) -> Points {
    let (after, before) = (clockwise(own), counterclockwise(own));
    let middles = after & before & SIDES;
    let ends = (after & clockwise(after) | before & counterclockwise(before)) & CORNERS;
    let across = (own << 8 | own >> 16) & (own << 16 | own >> 8) & SIDES;
    middles | ends | across
}

/// Those of these stones that are in a mill.
pub const fn in_mills(stones: Points) -> Points {
    stones & closing(stones)
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
            let [one, other] = partners(point);
            let along = |line, axis: fn((u8, u8)) -> u8| {
                each(line).count() == 2
                    && each(line).all(|other| axis(place(other)) == axis(place(point)))
            };
            let (row, column) = (|place: (u8, u8)| place.1, |place: (u8, u8)| place.0);
            assert!(
                along(one, row) && along(other, column) || along(one, column) && along(other, row),
                "{}",
                name(point)
            );
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
    fn sets_are_looked_at_as_their_points_are() {
        // Sets of many kinds: the top bits of the multiples of an odd number.
        for stones in (1..5000u32).map(|n| n.wrapping_mul(0x9E37_79B1) >> 8) {
            let around_each = each(stones).fold(0, |set, point| set | neighbours(point));
            assert_eq!(around(stones), around_each);
            let closed = (0..POINTS as Point).filter(|&point| closes(stones, point));
            assert_eq!(
                closing(stones),
                closed.fold(0, |set, point| set | bit(point))
            );
            let whole = MILLS.iter().filter(|&&mill| stones & mill == mill);
            assert_eq!(in_mills(stones), whole.fold(0, |set, mill| set | mill));
        }
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
