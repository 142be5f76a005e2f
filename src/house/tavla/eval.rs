//! What a position is worth: the chances to win, and to win or lose a gammon.

use crate::game::tavla::{BAR, OFF, Points};

use super::race;
use super::weights::{INPUTS_A_SIDE, WEIGHTS};

/// The chances of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Chances {
    /// To win, gammons included.
    pub(super) win: f64,
    /// To win a gammon (mars or katmerli mars).
    pub(super) gammon: f64,
    /// To lose a gammon.
    pub(super) gammon_loss: f64,
}

impl Chances {
    /// The same chances as the other side sees them.
    pub(super) fn reversed(&self) -> Chances {
        Chances {
            win: 1.0 - self.win,
            gammon: self.gammon_loss,
            gammon_loss: self.gammon,
        }
    }
}

/// The number of inputs of the estimate: both sides' and a constant.
const INPUTS: usize = 2 * INPUTS_A_SIDE + 1;

/// The chances of the side that has just played; the other is on roll.
pub(super) fn chances(own: &Points, other: &Points) -> Chances {
    if own[OFF] == 15 {
        let gammon = f64::from(u8::from(other[OFF] == 0));
        return Chances {
            win: 1.0,
            gammon,
            gammon_loss: 0.0,
        };
    }
    if is_race(own, other) {
        return race::chances(own, other);
    }
    estimate(&inputs(own, other))
}

/// Whether no checker can be hit any more.
fn is_race(own: &Points, other: &Points) -> bool {
    rearmost(own) + rearmost(other) < BAR
}

/// The estimate for positions with contact: a logistic function of weighted inputs for each chance.
fn estimate(inputs: &[f64; INPUTS]) -> Chances {
    let mut sums = [0.0; 3];
    for (input, weights) in inputs.iter().zip(&WEIGHTS) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
    let [win, gammon, gammon_loss] = sums.map(|sum| 1.0 / (1.0 + libm::exp(-sum)));
    Chances {
        win,
        gammon: gammon.min(win),
        gammon_loss: gammon_loss.min(1.0 - win),
    }
}

/// The inputs of a position: of the side that has just played, of the side on roll, and a one.
fn inputs(own: &Points, other: &Points) -> [f64; INPUTS] {
    let mut inputs = [1.0; INPUTS];
    let (mine, theirs) = (Side::new(own), Side::new(other));
    let (first, rest) = inputs.split_at_mut(INPUTS_A_SIDE);
    mine.describe(&theirs, first);
    theirs.describe(&mine, &mut rest[..INPUTS_A_SIDE]);
    inputs
}

/// The highest place of a side's checkers.
fn rearmost(side: &Points) -> usize {
    side.iter().rposition(|&count| count > 0).unwrap_or(OFF)
}

/// The points from 1 to 24, one bit each.
const BOARD: u32 = 0x01ff_fffe;
/// The points of the home board.
const HOME: u32 = 0b111_1110;

/// A side's checkers with what is often asked of them.
struct Side<'a> {
    checkers: &'a Points,
    /// Places with checkers, the bar included, one bit each.
    held: u32,
    /// Points with two or more.
    made: u32,
    /// Points with one.
    blots: u32,
}

/// Points as the other side numbers them.
fn flipped(points: u32) -> u32 {
    (points & BOARD).reverse_bits() >> (31 - BAR)
}

impl Side<'_> {
    fn new(checkers: &Points) -> Side<'_> {
        let mask = |fits: fn(u8) -> bool| {
            (1..=BAR).fold(0, |mask, place| {
                mask | u32::from(fits(checkers[place])) << place
            })
        };
        Side {
            checkers,
            held: mask(|count| count > 0),
            made: mask(|count| count > 1) & BOARD,
            blots: mask(|count| count == 1) & BOARD,
        }
    }

    /// Writes the inputs of this side, in the order of the weights.
    fn describe(&self, other: &Side<'_>, inputs: &mut [f64]) {
        let count = |range: std::ops::RangeInclusive<usize>| {
            self.checkers[range]
                .iter()
                .map(|&count| f64::from(count))
                .sum::<f64>()
        };
        let has = |points: u32| f64::from(u8::from(self.made & points != 0));
        let home = share_of_home(self.made);
        let their_home = share_of_home(other.made);
        let bar = count(BAR..=BAR);
        let shots = other.shots_at(self);
        let trapped = self.trapped(flipped(other.made));
        let back = count(19..=24);
        let pips: f64 = self
            .checkers
            .iter()
            .zip(0u32..)
            .map(|(&count, place)| f64::from(u32::from(count) * place))
            .sum();
        let their_back_blots = flipped(other.blots) & HOME;
        let heaped: f64 = self.checkers[1..BAR]
            .iter()
            .map(|&count| f64::from(count.saturating_sub(3)))
            .sum();
        let values = [
            pips / 100.0,
            count(OFF..=OFF) / 15.0,
            bar / 2.0,
            back / 2.0,
            shots.chance,
            shots.loss,
            shots.chance * their_home,
            if bar > 0.0 {
                their_home * their_home
            } else {
                0.0
            },
            trapped,
            trapped * (back + bar) / 2.0,
            has(1 << 2),
            has(1 << 3),
            has(1 << 4),
            has(1 << 5),
            has(1 << 6),
            has(1 << 7),
            has(1 << 8),
            home * home,
            has(0b1111 << 18),
            has(0b111 << 22),
            heaped / 3.0,
            count(1..=2) / 3.0,
            f64::from((self.blots & HOME).count_ones()) / 2.0,
            f64::from(race::outside_pips(self.checkers)) / 60.0,
            prime(self.made),
            f64::from((self.held & 0b1_1111 << 7).count_ones()) / 3.0,
            if other.held & 1 << BAR != 0 {
                home
            } else {
                0.0
            },
            home * f64::from(their_back_blots.count_ones()) / 2.0,
        ];
        let _: &[f64; INPUTS_A_SIDE] = &values;
        inputs.copy_from_slice(&values);
    }

    /// The chance that this side's next roll hits a blot of the other, and the pips that the other then loses on
    /// average, over 25. Of several blots in a roll the one that loses most counts.
    fn shots_at(&self, other: &Side<'_>) -> Shots {
        let targets = flipped(other.blots);
        let open = BOARD & !flipped(other.made);
        let mut shots = Shots::default();
        if targets == 0 {
            return shots;
        }
        for_each_roll(|high, low, weight| {
            let hit = self.reach(open, high, low) & targets;
            if hit != 0 {
                // A blot on my point p has come 25 - (its own point) = p pips so far.
                let lost = 31 - hit.leading_zeros();
                shots.chance += weight;
                shots.loss += weight * f64::from(lost) / 25.0;
            }
        });
        shots
    }

    /// The points on which this roll can put a checker; a little too many where several are on the bar.
    fn reach(&self, open: u32, high: u8, low: u8) -> u32 {
        let on_bar = self.checkers[BAR];
        let others = self.held & BOARD;
        let entry = |die: u8| (1u32 << BAR >> die) & open;
        if high == low {
            let (mut from, mut reached) = (others, 0);
            let mut steps = 4;
            if on_bar > 0 {
                reached = entry(high);
                if reached == 0 {
                    return 0;
                }
                from |= reached;
                steps = 4u8.saturating_sub(on_bar);
            }
            for _ in 0..steps {
                from = (from >> high) & open;
                reached |= from;
            }
            return reached;
        }
        match on_bar {
            0 => {
                let (by_high, by_low) = ((others >> high) & open, (others >> low) & open);
                by_high | by_low | ((by_high >> low | by_low >> high) & open)
            }
            1 => [(high, low), (low, high)]
                .into_iter()
                .fold(0, |reached, (first, second)| match entry(first) {
                    0 => reached,
                    entered => reached | entered | ((others | entered) >> second) & open,
                }),
            _ => entry(high) | entry(low),
        }
    }

    /// How little the rearmost checker can move on average, from 0 (freely) to 1 (not at all), while it is in the other
    /// half of the board.
    fn trapped(&self, blocked: u32) -> f64 {
        let rear = rearmost(self.checkers) as u8;
        if rear <= 12 {
            return 0.0;
        }
        let open = |pips: u8| blocked & 1 << (rear - pips) == 0;
        let mut pips = 0.0;
        let mut free = 0.0;
        for_each_roll(|high, low, weight| {
            let both = high + low;
            let moved = if high == low {
                let steps = (1..=4).take_while(|&steps| steps * high < rear && open(steps * high));
                high * steps.count() as u8
            } else if (open(high) || open(low)) && open(both) {
                both
            } else if open(high) {
                high
            } else if open(low) {
                low
            } else {
                0
            };
            pips += weight * f64::from(moved);
            free += weight * f64::from(if high == low { 4 * high } else { both });
        });
        (1.0 - pips / free).max(0.0)
    }
}

/// The danger to blots.
#[derive(Default)]
struct Shots {
    chance: f64,
    loss: f64,
}

/// Calls with the higher die, the lower and the chance of each roll.
pub(super) fn for_each_roll(mut call: impl FnMut(u8, u8, f64)) {
    for high in 1..=6 {
        for low in 1..=high {
            call(high, low, if high == low { 1.0 / 36.0 } else { 2.0 / 36.0 });
        }
    }
}

/// The part of the home board that is made.
fn share_of_home(made: u32) -> f64 {
    f64::from((made & HOME).count_ones()) / 6.0
}

/// The longest row of made points up to 12, squared, over 36.
fn prime(made: u32) -> f64 {
    let mut rows = made & 0x1ffe;
    let mut longest = 0.0;
    while rows != 0 {
        rows &= rows >> 1;
        longest += 1.0;
    }
    longest * longest / 36.0
}
