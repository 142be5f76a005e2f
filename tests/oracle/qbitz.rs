//! Q-Bitz a second time, as plainly as it can be told: faces are pictures that are turned, a tray is looked at as a
//! picture, cards are made as the game's page tells, rounds are counted by hand. Nothing here is shared with the rules that
//! the referee uses.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The names of the faces, in the order of the page.
pub(crate) const NAMES: [&str; 6] = ["dark", "light", "dot", "ring", "bar", "diagonal"];

/// A face as a picture: `#` dark, `.` light.
type Picture = [[char; 5]; 5];

fn picture(name: &str) -> Picture {
    let rows = match name {
        "dark" => ["#####", "#####", "#####", "#####", "#####"],
        "light" => [".....", ".....", ".....", ".....", "....."],
        "dot" => ["#####", "##.##", "#...#", "##.##", "#####"],
        "ring" => [".....", "..#..", ".###.", "..#..", "....."],
        "bar" => [".....", ".....", "#####", ".....", "....."],
        "diagonal" => ["#....", "##...", "###..", "####.", "#####"],
        other => panic!("no face {other}"),
    };
    rows.map(|row| {
        let cells: Vec<char> = row.chars().collect();
        cells.try_into().expect("five cells")
    })
}

/// A picture after so many quarter-turns clockwise.
fn turned(mut picture: Picture, turns: i64) -> Picture {
    for _ in 0..turns.rem_euclid(4) {
        let mut next = picture;
        for (row, cells) in picture.iter().enumerate() {
            for (column, &cell) in cells.iter().enumerate() {
                next[column][4 - row] = cell;
            }
        }
        picture = next;
    }
    picture
}

fn seen(face: &str, turn: i64) -> Picture {
    turned(picture(face), turn)
}

/// Whether a tray shows the pattern: every cube is there once, and every cell looks as it should.
pub(crate) fn shows(tray: &Value, pattern: &Value, cubes: &Value) -> bool {
    let mut used = Vec::new();
    for row in 0..4 {
        for column in 0..4 {
            let number = |field: &str| tray[row][column][field].as_i64().expect("a number");
            let (cube, face, turn) = (number("cube"), number("face"), number("turn"));
            if !(0..16).contains(&cube) || !(0..6).contains(&face) || used.contains(&cube) {
                return false;
            }
            used.push(cube);
            let up = cubes[cube as usize][face as usize]
                .as_str()
                .expect("a face");
            let wanted = &pattern[row][column];
            let wanted = seen(
                wanted["face"].as_str().expect("a face"),
                wanted["turn"].as_i64().expect("a turn"),
            );
            if seen(up, turn) != wanted {
                return false;
            }
        }
    }
    true
}

/// Whether cubes can be laid on these faces, by trying everything (of cubes that are alike one).
pub(crate) fn can_be_laid(faces: &[&str], cubes: &[Vec<&str>]) -> bool {
    let Some((face, rest)) = faces.split_first() else {
        return true;
    };
    (0..cubes.len()).any(|cube| {
        cubes[cube].contains(face) && !cubes[..cube].contains(&cubes[cube]) && {
            let mut left = cubes.to_vec();
            left.remove(cube);
            can_be_laid(rest, &left)
        }
    })
}

// ---- Cubes and cards ------------------------------------------------------------------------------------------------

/// All bytes that an event's choices may ever need.
struct Bytes {
    all: Vec<u8>,
    next: usize,
}

impl Bytes {
    fn new(event: [u8; 32]) -> Bytes {
        let mut block = event.to_vec();
        let mut all = block.clone();
        for _ in 0..100 {
            block = Sha256::digest(&block).to_vec();
            all.extend_from_slice(&block);
        }
        Bytes { all, next: 0 }
    }

    fn choice(&mut self, among: usize) -> usize {
        if among == 1 {
            return 0;
        }
        loop {
            let byte = usize::from(self.all[self.next]);
            self.next += 1;
            if byte < 256 / among * among {
                return byte % among;
            }
        }
    }
}

/// The cubes of an event.
pub(crate) fn cubes(event: [u8; 32]) -> Value {
    let mut bytes = Bytes::new(event);
    let cubes: Vec<Vec<&str>> = (0..16)
        .map(|_| (0..6).map(|_| NAMES[bytes.choice(6)]).collect())
        .collect();
    json!(cubes)
}

/// The pattern that an event shows.
pub(crate) fn shown(event: [u8; 32], cubes: &Value) -> Value {
    let mut bytes = Bytes::new(event);
    let mut patterns = Vec::new();
    for _ in 0..8 {
        let mut order: Vec<usize> = (0..16).collect();
        for i in (1..16).rev() {
            let j = bytes.choice(i + 1);
            order.swap(i, j);
        }
        let cells: Vec<Value> = order
            .into_iter()
            .map(|cube| {
                let face = cubes[cube][bytes.choice(6)].as_str().expect("a face");
                let different = match face {
                    "diagonal" => 4,
                    "bar" => 2,
                    _ => 1,
                };
                json!({"face": face, "turn": bytes.choice(different)})
            })
            .collect();
        patterns.push(json!([
            &cells[..4],
            &cells[4..8],
            &cells[8..12],
            &cells[12..]
        ]));
    }
    let side = bytes.choice(2);
    patterns[4 * side + bytes.choice(4)].clone()
}

// ---- Rounds ---------------------------------------------------------------------------------------------------------

/// The score sheet of a game.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) points: Vec<u32>,
    /// Rounds that count.
    pub(crate) rounds: u32,
    pub(crate) voids_in_a_row: u32,
    /// The seats that have left the game.
    pub(crate) left: Vec<usize>,
    /// The seats that are out of the round that is on.
    pub(crate) out: Vec<usize>,
    pub(crate) on: bool,
    target: u32,
    most: u32,
}

impl Sheet {
    pub(crate) fn new(seats: usize, target: u32, most: u32) -> Sheet {
        Sheet {
            points: vec![0; seats],
            rounds: 0,
            voids_in_a_row: 0,
            left: Vec::new(),
            out: Vec::new(),
            on: false,
            target,
            most,
        }
    }

    /// The seats that may claim.
    pub(crate) fn racing(&self) -> Vec<usize> {
        let may = |seat: &usize| self.on && !self.out.contains(seat) && !self.left.contains(seat);
        (0..self.points.len()).filter(may).collect()
    }

    pub(crate) fn deal(&mut self) {
        self.on = true;
        self.out.clear();
    }

    pub(crate) fn goes_out(&mut self, seat: usize) {
        self.out.push(seat);
        if self.racing().is_empty() {
            self.ends(&[]);
        }
    }

    pub(crate) fn leaves(&mut self, seat: usize) {
        self.left.push(seat);
        if self.on && self.racing().is_empty() {
            self.ends(&[]);
        }
    }

    /// The round ends with these first.
    pub(crate) fn ends(&mut self, first: &[usize]) {
        self.on = false;
        if first.len() >= 2 && self.voids_in_a_row < 3 {
            self.voids_in_a_row += 1;
        } else {
            self.voids_in_a_row = 0;
            self.rounds += 1;
            first.iter().for_each(|&seat| self.points[seat] += 1);
        }
    }

    /// Who wins or shares the win; empty while the game goes on.
    pub(crate) fn winners(&self) -> Vec<usize> {
        let stay: Vec<usize> = (0..self.points.len())
            .filter(|seat| !self.left.contains(seat))
            .collect();
        let most = stay
            .iter()
            .map(|&seat| self.points[seat])
            .max()
            .unwrap_or(0);
        if most < self.target && (self.on || self.rounds < self.most) {
            return Vec::new();
        }
        stay.into_iter()
            .filter(|&seat| self.points[seat] == most)
            .collect()
    }
}
