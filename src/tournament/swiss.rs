//! Swiss system: bots of about equal points meet, and no two twice.
//!
//! In each round the bots stand in the order of their points, then of their entry. Of all ways to pair them the one is taken that
//! is best by, in this order:
//!
//! 1. the fewest rematches and second byes (none, unless there is no other way);
//! 2. the bye of an odd field, for a bot as far down as possible;
//! 3. the least sum of squared differences of points, so that pairs are made within a group of equal points, and bots that float
//!    to another group float to the next;
//! 4. where games are not paired, sides that are balanced: the least sum of squares of how much more often each bot has had
//!    one seat than the other;
//! 5. within a group the upper half meets the lower half in order; across groups the nearest meet: the least sum of squares of how far
//!    the opponents are from that.
//!
//! It is a perfect matching of least cost in a complete graph, which is found exactly (J. Edmonds, 1965; the crate
//! `integer-blossom`). What is equal in all of this is decided by the algorithm, the same way every time.

use std::collections::BTreeSet;

use super::rulings::Annulled;
use super::{Batch, Bye, Format, History, Meetings, Numbers};
use crate::event::Slot;

/// A bot's part in a Swiss event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The bot.
    pub slot: Slot,
    /// The first round that it plays, from 1.
    pub joins: u32,
    /// The first round that it does not play any more, if it leaves.
    pub leaves: Option<u32>,
}

impl Entry {
    /// A bot that plays from the first round to the last.
    pub fn whole(slot: Slot) -> Entry {
        Entry {
            slot,
            joins: 1,
            leaves: None,
        }
    }

    fn plays(&self, round: u32) -> bool {
        self.joins <= round && self.leaves.is_none_or(|leaves| round < leaves)
    }
}

/// A Swiss event.
#[derive(Clone, Debug)]
pub struct Swiss {
    /// The bots in the order of their entry, strongest first if that is known.
    pub entries: Vec<Entry>,
    /// How a pair of a round plays.
    pub meetings: Meetings,
    /// Rounds.
    pub rounds: u32,
}

/// The rounds that tell the first of so many bots: enough for one to win all, and one more where that is an even split.
pub fn usual_rounds(bots: usize) -> u32 {
    bots.max(2).next_power_of_two().trailing_zeros().max(1)
}

impl Format for Swiss {
    fn next(&self, so_far: &History) -> Batch {
        // A round in which nobody can play is passed over.
        let first = so_far.round() + 1;
        for round in first..=self.rounds {
            let batch = self.round(round, so_far);
            if !batch.pairings.is_empty() {
                return batch;
            }
        }
        Batch::default()
    }

    fn annulled(&self, _round: u32) -> Annulled {
        Annulled::ByDefault
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn least_matches(&self) -> usize {
        let in_round = |round| {
            self.entries
                .iter()
                .filter(|entry| entry.plays(round))
                .count()
                / 2
        };
        (1..=self.rounds).map(in_round).sum::<usize>() * self.meetings.games as usize
    }
}

/// A bot as the pairing of a round sees it.
#[derive(Clone, Debug)]
struct Player {
    slot: Slot,
    /// In twelfths, so that they compare exactly.
    points: i64,
    met: BTreeSet<Slot>,
    had_bye: bool,
    /// How much more often it sat on seat 0 than on seat 1.
    balance: i64,
    /// The seat of its last match.
    last_seat: Option<usize>,
}

impl Swiss {
    fn round(&self, round: u32, so_far: &History) -> Batch {
        let players = self.players(round, so_far);
        let (pairs, bye) = pair(&players, self.meetings.paired);
        let mut batch = Batch::default();
        let mut numbers = Numbers::after(round, 0);
        for (board, (a, b)) in pairs.into_iter().enumerate() {
            let seats = self.seats(&players[a], &players[b], round as usize + board);
            numbers.meet(
                &seats,
                0..self.meetings.games,
                self.meetings.paired,
                &mut batch.pairings,
            );
        }
        batch.byes = bye
            .map(|player| Bye {
                round,
                slot: players[player].slot,
                points: self.meetings.games,
            })
            .into_iter()
            .collect();
        batch
    }

    /// Those who play this round, in the order of their points.
    fn players(&self, round: u32, so_far: &History) -> Vec<Player> {
        let bots = self
            .entries
            .iter()
            .map(|entry| entry.slot + 1)
            .max()
            .unwrap_or(0);
        let mut all: Vec<Player> = (0..bots)
            .map(|slot| Player {
                slot,
                points: 0,
                met: BTreeSet::new(),
                had_bye: false,
                balance: 0,
                last_seat: None,
            })
            .collect();
        for played in &so_far.matches {
            for (seat, &slot) in played.pairing.seats.iter().enumerate() {
                let player = &mut all[slot];
                player.balance += if seat == 0 { 1 } else { -1 };
                player.last_seat = Some(seat);
                player
                    .met
                    .extend(played.pairing.field.iter().filter(|&&other| other != slot));
            }
        }
        for (player, points) in all.iter_mut().zip(so_far.points(bots)) {
            player.points = (points * 12.0).round() as i64;
        }
        for bye in &so_far.byes {
            all[bye.slot].had_bye = true;
        }
        let mut players: Vec<Player> = self
            .entries
            .iter()
            .filter(|entry| entry.plays(round) && !so_far.is_absent(entry.slot))
            .map(|entry| all[entry.slot].clone())
            .collect();
        // The order of entry stays among equals.
        players.sort_by_key(|player| std::cmp::Reverse(player.points));
        players
    }

    /// Who sits where in the first match: the one that sat on seat 0 less often than on the other, compared with its
    /// opponent, sits there; among equals the one that sat elsewhere last; else the sides change from board to board.
    fn seats(&self, upper: &Player, lower: &Player, turn: usize) -> [Slot; 2] {
        let upper_first = match upper.balance.cmp(&lower.balance) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => match (upper.last_seat, lower.last_seat) {
                (Some(a), Some(b)) if a != b => a == 1,
                _ => turn % 2 == 1,
            },
        };
        if upper_first {
            [upper.slot, lower.slot]
        } else {
            [lower.slot, upper.slot]
        }
    }
}

/// What a pair costs, the most important first; all are added up over the pairs.
type Cost = [i64; 5];

/// The most bits of a packed cost: the matching doubles them and takes their differences.
const MOST_BITS: u32 = 118;

/// Packs costs into one number each, such that a cost is worth more than all lesser ones of all pairs together.
struct Packing {
    /// One more than what all pairs together can have of each cost.
    bases: [i128; 5],
    /// How far each cost is coarsened, in bits: only in fields of many thousands, or of millions of matches a round.
    shifts: [u32; 5],
}

impl Packing {
    fn of(costs: &[Cost], pairs: usize) -> Packing {
        let mut most = [0i64; 5];
        for cost in costs {
            most = std::array::from_fn(|at| most[at].max(cost[at]));
        }
        let mut packing = Packing {
            bases: [1; 5],
            shifts: [0; 5],
        };
        loop {
            packing.bases = std::array::from_fn(|at| {
                // There is one bye.
                let times = if at == 1 { 1 } else { pairs as i128 };
                i128::from(most[at] >> packing.shifts[at]) * times + 1
            });
            let bits = packing.bases.map(|base| 128 - base.leading_zeros());
            if bits.iter().sum::<u32>() <= MOST_BITS {
                return packing;
            }
            // What the order within a group is worth is coarsened first, then how far points are apart.
            let widest = if bits[4] + 8 > bits[2] { 4 } else { 2 };
            packing.shifts[widest] += 1;
        }
    }

    fn pack(&self, cost: &Cost) -> i128 {
        (0..5).fold(0, |number, at| {
            number * self.bases[at] + i128::from(cost[at] >> self.shifts[at])
        })
    }
}

/// Pairs players that stand in order. Returns the pairs, as places in the list with the upper first and in the order of the upper, and
/// who has no opponent.
fn pair(players: &[Player], paired: bool) -> (Vec<(usize, usize)>, Option<usize>) {
    let count = players.len();
    if count < 2 {
        return (Vec::new(), (count == 1).then_some(0));
    }
    let costs = Costs::new(players, paired);
    // In an odd field the last is nobody: its opponent has a bye.
    let size = count + count % 2;
    let all: Vec<Cost> = (0..size)
        .flat_map(|a| (a + 1..size).map(move |b| (a, b)))
        .map(|(a, b)| costs.of(a, b))
        .collect();
    let packing = Packing::of(&all, size / 2);
    let mut packed: Vec<i128> = vec![0; size * size];
    let mut costs_in_order = all.iter();
    for a in 0..size {
        for b in a + 1..size {
            let number = costs_in_order.next().map_or(0, |cost| packing.pack(cost));
            packed[a * size + b] = number;
            packed[b * size + a] = number;
        }
    }
    let opponents = integer_blossom::min_weight_perfect_matching(&packed, size);
    let pairs = (0..count).filter(|&a| opponents[a] > a && opponents[a] < count);
    let pairs = pairs.map(|a| (a, opponents[a])).collect();
    let bye = (size > count).then(|| opponents[count]);
    (pairs, bye)
}

/// The costs of all pairs.
struct Costs<'a> {
    players: &'a [Player],
    paired: bool,
    /// The first place of each player's group of equal points, and the size of the group.
    groups: Vec<(usize, usize)>,
}

impl<'a> Costs<'a> {
    fn new(players: &'a [Player], paired: bool) -> Costs<'a> {
        let mut groups = Vec::with_capacity(players.len());
        for group in players.chunk_by(|a, b| a.points == b.points) {
            let first = groups.len();
            groups.extend(std::iter::repeat_n((first, group.len()), group.len()));
        }
        Costs {
            players,
            paired,
            groups,
        }
    }

    /// The cost of pairing two places, the upper first; the place after the last is the bye.
    fn of(&self, a: usize, b: usize) -> Cost {
        let upper = &self.players[a];
        let Some(lower) = self.players.get(b) else {
            let from_last = self.players.len() - 1 - a;
            return [i64::from(upper.had_bye), from_last as i64, 0, 0, 0];
        };
        let rematch = upper.met.contains(&lower.slot);
        // Points are whole matches in halves, thirds or quarters; a twelfth is the unit.
        let apart = upper.points - lower.points;
        let off = if apart == 0 {
            (b - a) as i64 - (self.groups[a].1 / 2) as i64
        } else {
            (b - a) as i64 - 1
        };
        let sides = if self.paired {
            0
        } else {
            // As they will be seated: the one with the lesser balance on seat 0.
            let (low, high) = (
                upper.balance.min(lower.balance),
                upper.balance.max(lower.balance),
            );
            (low + 1) * (low + 1) + (high - 1) * (high - 1)
        };
        [i64::from(rematch), 0, apart * apart, sides, off * off]
    }
}

#[cfg(test)]
mod tests;
