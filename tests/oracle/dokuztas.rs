//! Dokuztas a second time, as slowly and plainly as it can be told: a map from file and rank to a seat, and a walk over the
//! seven by seven grid for everything that has to do with lines. Nothing here is shared with the rules that the referee uses.

use std::collections::{BTreeMap, BTreeSet};

/// File and rank, 0 to 6 each; (0, 0) is a1.
pub(crate) type Place = (i32, i32);

/// From, to, take.
pub(crate) type Step = (Option<Place>, Place, Option<Place>);

/// Which stones in mills may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mills {
    Protected,
    Immune,
    Takeable,
}

/// How it ended: the winner and the reason. Without a winner it is equal.
pub(crate) type Ended = (Option<usize>, &'static str);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) stones: BTreeMap<Place, usize>,
    pub(crate) in_hand: [usize; 2],
    pub(crate) turn: usize,
    pub(crate) quiet: u32,
    pub(crate) plies: u32,
    pub(crate) mills: Mills,
    pub(crate) no_capture_plies: u32,
    pub(crate) max_plies: u32,
}

const CENTRE: Place = (3, 3);
const WAYS: [Place; 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

/// The points lie on the three squares around the centre: at their corners and in the middle of their sides.
pub(crate) fn is_point((file, rank): Place) -> bool {
    let (across, up) = ((file - 3).abs(), (rank - 3).abs());
    (1..=3).contains(&across.max(up)) && (across == up || across == 0 || up == 0)
}

pub(crate) fn points() -> Vec<Place> {
    let places = (0..7).flat_map(|file| (0..7).map(move |rank| (file, rank)));
    places.filter(|&place| is_point(place)).collect()
}

pub(crate) fn name((file, rank): Place) -> String {
    let letter = "abcdefg".chars().nth(file as usize).expect("a file");
    format!("{letter}{}", rank + 1)
}

/// The next point this way. The centre is in the way, and so is the edge.
fn next(from: Place, way: Place) -> Option<Place> {
    let mut place = from;
    loop {
        place = (place.0 + way.0, place.1 + way.1);
        if place == CENTRE || !(0..7).contains(&place.0) || !(0..7).contains(&place.1) {
            return None;
        }
        if is_point(place) {
            return Some(place);
        }
    }
}

/// The points of the line through this one along this axis.
fn line(through: Place, way: Place) -> Vec<Place> {
    let mut line = vec![through];
    for sign in [1, -1] {
        let way = (way.0 * sign, way.1 * sign);
        let mut place = through;
        while let Some(further) = next(place, way) {
            line.push(further);
            place = further;
        }
    }
    line
}

impl Grid {
    fn on_board(&self, seat: usize) -> Vec<Place> {
        let own = self.stones.iter().filter(|&(_, &owner)| owner == seat);
        own.map(|(&place, _)| place).collect()
    }

    pub(crate) fn left(&self, seat: usize) -> usize {
        self.on_board(seat).len() + self.in_hand[seat]
    }

    fn is_in_mill(&self, place: Place) -> bool {
        let owner = self.stones.get(&place);
        owner.is_some()
            && [(1, 0), (0, 1)].iter().any(|&way| {
                let line = line(place, way);
                line.len() == 3 && line.iter().all(|other| self.stones.get(other) == owner)
            })
    }

    /// Rule 4.
    fn takeable(&self, seat: usize) -> Vec<Place> {
        let all = self.on_board(seat);
        let free: Vec<Place> = all
            .iter()
            .copied()
            .filter(|&place| !self.is_in_mill(place))
            .collect();
        match self.mills {
            Mills::Takeable => all,
            Mills::Immune => free,
            Mills::Protected if free.is_empty() => all,
            Mills::Protected => free,
        }
    }

    /// Every move of the seat on turn, whether or not the game is over.
    pub(crate) fn legal(&self) -> BTreeSet<Step> {
        let me = self.turn;
        let mut ways: Vec<(Option<Place>, Place)> = Vec::new();
        for to in points() {
            if self.stones.contains_key(&to) {
                continue;
            }
            if self.in_hand[me] > 0 {
                ways.push((None, to));
                continue;
            }
            for from in self.on_board(me) {
                let beside = WAYS.iter().any(|&way| next(from, way) == Some(to));
                if beside || self.left(me) == 3 {
                    ways.push((Some(from), to));
                }
            }
        }
        let mut legal = BTreeSet::new();
        for (from, to) in ways {
            let mut after = self.clone();
            if let Some(from) = from {
                after.stones.remove(&from);
            }
            after.stones.insert(to, me);
            let takes = if after.is_in_mill(to) {
                after.takeable(1 - me)
            } else {
                Vec::new()
            };
            if takes.is_empty() {
                legal.insert((from, to, None));
            }
            for take in takes {
                legal.insert((from, to, Some(take)));
            }
        }
        legal
    }

    /// Plays a legal move.
    pub(crate) fn play(&mut self, (from, to, take): Step) {
        let me = self.turn;
        match from {
            None => self.in_hand[me] -= 1,
            Some(from) => {
                self.stones.remove(&from);
                self.quiet += 1;
            }
        }
        self.stones.insert(to, me);
        if let Some(take) = take {
            self.stones.remove(&take);
            self.quiet = 0;
        }
        self.plies += 1;
        self.turn = 1 - me;
    }

    /// Rules 5 and 7.
    pub(crate) fn ended(&self) -> Option<Ended> {
        for seat in [0, 1] {
            if self.left(seat) == 2 {
                return Some((Some(1 - seat), "two_stones"));
            }
        }
        if self.legal().is_empty() {
            return Some((Some(1 - self.turn), "blocked"));
        }
        let quiet = self.no_capture_plies > 0 && self.quiet >= self.no_capture_plies;
        if quiet || self.plies >= self.max_plies {
            let [first, second] = [0, 1].map(|seat| self.on_board(seat).len());
            let winner = match first as i32 - second as i32 {
                0 => None,
                lead if lead > 0 => Some(0),
                _ => Some(1),
            };
            return Some((winner, "no_capture"));
        }
        None
    }
}
