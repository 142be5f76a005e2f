//! Oware a second time, as slowly and plainly as it can be told: one ring of twelve houses, one seed after the other,
//! and every position of the game kept. Nothing here is shared with the rules that the referee uses.

/// How a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    No,
    NoSeeds,
    Cycle,
    Decided,
    PlyCap,
}

/// What a repetition compares: houses, stores, seat on turn.
type Position = ([u32; 12], [u32; 2], usize);

/// Houses 0-5 are those of seat 0, 6-11 those of seat 1; a seed goes to the next higher house, and from 11 to 0.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub(crate) houses: [u32; 12],
    pub(crate) stores: [u32; 2],
    pub(crate) turn: usize,
    pub(crate) over: Over,
    history: Vec<Position>,
    repetitions: usize,
    stop_when_decided: bool,
    most_plies: usize,
}

fn owner(house: usize) -> usize {
    house / 6
}

impl Ring {
    /// A position, and the options `cycle_repetitions`, `stop_when_decided` and `max_plies`.
    pub(crate) fn new(
        houses: [u32; 12],
        stores: [u32; 2],
        turn: usize,
        (repetitions, stop_when_decided, most_plies): (usize, bool, usize),
    ) -> Ring {
        let mut ring = Ring {
            houses,
            stores,
            turn,
            over: Over::No,
            history: Vec::new(),
            repetitions,
            stop_when_decided,
            most_plies,
        };
        ring.look();
        ring
    }

    fn side(&self, seat: usize) -> u32 {
        (0..12)
            .filter(|&house| owner(house) == seat)
            .map(|house| self.houses[house])
            .sum()
    }

    /// Rules 1 and 2 for the house of this number; what the opponent has left on its side.
    fn sow(&mut self, number: u8) -> u32 {
        let you = 1 - self.turn;
        let from = 6 * self.turn + usize::from(number) - 1;
        let mut hand = self.houses[from];
        self.houses[from] = 0;
        let mut place = from;
        while hand > 0 {
            place = (place + 1) % 12;
            if place != from {
                self.houses[place] += 1;
                hand -= 1;
            }
        }
        while owner(place) == you && (self.houses[place] == 2 || self.houses[place] == 3) {
            self.stores[self.turn] += self.houses[place];
            self.houses[place] = 0;
            place = (place + 11) % 12;
        }
        self.side(you)
    }

    pub(crate) fn legal(&self) -> Vec<u8> {
        if self.over != Over::No {
            return Vec::new();
        }
        let filled: Vec<u8> = (1..=6)
            .filter(|&number| self.houses[6 * self.turn + usize::from(number) - 1] > 0)
            .collect();
        let feeding: Vec<u8> = filled
            .iter()
            .copied()
            .filter(|&number| self.clone().sow(number) > 0)
            .collect();
        if feeding.is_empty() { filled } else { feeding }
    }

    /// Plays a legal house.
    pub(crate) fn play(&mut self, number: u8) {
        self.sow(number);
        self.turn = 1 - self.turn;
        self.look();
    }

    /// Notes the position, and whether the game is over.
    fn look(&mut self) {
        let position = (self.houses, self.stores, self.turn);
        self.history.push(position);
        let seen = self
            .history
            .iter()
            .filter(|&&earlier| earlier == position)
            .count();
        if self.stop_when_decided && self.stores.iter().any(|&store| store >= 25) {
            self.over = Over::Decided;
            return;
        }
        if self.side(self.turn) == 0 {
            self.over = Over::NoSeeds;
        } else if seen >= self.repetitions {
            self.over = Over::Cycle;
        } else if self.history.len() > self.most_plies {
            self.over = Over::PlyCap;
        }
        if self.over != Over::No {
            // Where the seat on turn has none, all that is left lies on the side of its opponent.
            for house in 0..12 {
                self.stores[owner(house)] += std::mem::take(&mut self.houses[house]);
            }
        }
    }
}
