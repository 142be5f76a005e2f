//! Mangala a second time, as slowly and plainly as it can be told: one ring of 14 places, one stone after the other.
//! Nothing here is shared with the rules that the referee uses.

/// Places 0-5: the pits of seat 0; 6: its treasury; 7-12: the pits of seat 1; 13: its treasury. A stone goes to the
/// next higher place, and from 13 to 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub(crate) stones: [u32; 14],
    pub(crate) turn: usize,
    pub(crate) over: bool,
}

fn treasury(seat: usize) -> usize {
    if seat == 0 { 6 } else { 13 }
}

fn pits(seat: usize) -> Vec<usize> {
    if seat == 0 {
        vec![0, 1, 2, 3, 4, 5]
    } else {
        vec![7, 8, 9, 10, 11, 12]
    }
}

impl Ring {
    /// A position with these stones; over if a side is empty.
    pub(crate) fn new(stones: [u32; 14], turn: usize) -> Ring {
        let mut ring = Ring {
            stones,
            turn,
            over: false,
        };
        ring.end_if_a_side_is_empty();
        ring
    }

    pub(crate) fn legal(&self) -> Vec<u8> {
        let mut legal = Vec::new();
        for number in 1..=6u8 {
            let place = pits(self.turn)[usize::from(number) - 1];
            if !self.over && self.stones[place] > 0 {
                legal.push(number);
            }
        }
        legal
    }

    /// Plays a legal pit.
    pub(crate) fn play(&mut self, number: u8) {
        let me = self.turn;
        let you = 1 - me;
        let before = self.stones;
        let from = pits(me)[usize::from(number) - 1];

        // Rule 1.
        let mut hand = self.stones[from];
        self.stones[from] = 0;
        let mut place = from;
        if hand > 1 {
            self.stones[from] += 1;
            hand -= 1;
        }
        let mut dropped = vec![from];
        while hand > 0 {
            place = (place + 1) % 14;
            if place == treasury(you) {
                continue;
            }
            self.stones[place] += 1;
            hand -= 1;
            dropped.push(place);
        }

        // Rule 3.
        if pits(you).contains(&place) && self.stones[place].is_multiple_of(2) {
            self.stones[treasury(me)] += self.stones[place];
            self.stones[place] = 0;
        }
        // Rule 4. The pit was empty before the move, and this sowing has come to it only with its last stone.
        if pits(me).contains(&place) && before[place] == 0 {
            let visits = dropped.iter().filter(|&&visited| visited == place).count();
            let opposite = 12 - place;
            if visits == 1 && self.stones[opposite] > 0 {
                self.stones[treasury(me)] += self.stones[place] + self.stones[opposite];
                self.stones[place] = 0;
                self.stones[opposite] = 0;
            }
        }
        // Rule 2.
        if place != treasury(me) {
            self.turn = you;
        }
        self.end_if_a_side_is_empty();
    }

    /// Rule 5.
    fn end_if_a_side_is_empty(&mut self) {
        let empty = |ring: &Ring, seat| pits(seat).iter().all(|&place| ring.stones[place] == 0);
        for seat in [0, 1] {
            if !self.over && empty(self, seat) {
                for place in pits(1 - seat) {
                    self.stones[treasury(seat)] += self.stones[place];
                    self.stones[place] = 0;
                }
                self.over = true;
            }
        }
    }
}
