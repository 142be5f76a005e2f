//! Reversi a second time, as slowly and plainly as it can be told: a board of letters, one step after the other.
//! Nothing here is shared with the rules that the referee uses.

/// Ranks 1 to 8, files a to h: `x`, `o` or `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letters {
    pub(crate) board: [[char; 8]; 8],
    pub(crate) turn: usize,
}

const WAYS: [(i32, i32); 8] = [
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -1),
    (0, 1),
    (1, -1),
    (1, 0),
    (1, 1),
];

pub(crate) fn letter(seat: usize) -> char {
    if seat == 0 { 'x' } else { 'o' }
}

impl Letters {
    fn at(&self, rank: i32, file: i32) -> Option<char> {
        let row = self.board.get(usize::try_from(rank).ok()?)?;
        row.get(usize::try_from(file).ok()?).copied()
    }

    /// The squares that turn if this seat places a disc here.
    fn turned(&self, seat: usize, rank: i32, file: i32) -> Vec<(i32, i32)> {
        let mut all = Vec::new();
        if self.at(rank, file) != Some('.') {
            return all;
        }
        for (ranks, files) in WAYS {
            let mut line = Vec::new();
            let (mut r, mut f) = (rank + ranks, file + files);
            while self.at(r, f) == Some(letter(1 - seat)) {
                line.push((r, f));
                (r, f) = (r + ranks, f + files);
            }
            if self.at(r, f) == Some(letter(seat)) {
                all.extend(line);
            }
        }
        all
    }

    /// The squares where this seat may move, by rank and file.
    pub(crate) fn moves(&self, seat: usize) -> Vec<(i32, i32)> {
        let squares = (0..8).flat_map(|rank| (0..8).map(move |file| (rank, file)));
        squares
            .filter(|&(rank, file)| !self.turned(seat, rank, file).is_empty())
            .collect()
    }

    /// Places a disc of the seat on turn on a square where it may move.
    pub(crate) fn play(&mut self, (rank, file): (i32, i32)) {
        let disc = letter(self.turn);
        let mut squares = self.turned(self.turn, rank, file);
        squares.push((rank, file));
        for (rank, file) in squares {
            self.board[rank as usize][file as usize] = disc;
        }
        self.turn = 1 - self.turn;
    }

    pub(crate) fn count(&self, wanted: char) -> u32 {
        self.board
            .iter()
            .flatten()
            .filter(|&&letter| letter == wanted)
            .count() as u32
    }
}
