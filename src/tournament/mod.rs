//! Schedules and standings. Pure.
//!
//! A format is one file with a function from the field to a list of matches; [`standings`] is a fold over results.

pub mod round_robin;
pub mod standings;

use crate::event::{MatchId, Slot};

/// A match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Its id.
    pub id: MatchId,
    /// The slot on each seat.
    pub seats: Vec<Slot>,
    /// The slots that meet, ascending: with `round` and `pair` the key of the match's chance.
    pub field: Vec<Slot>,
    /// Counts the meetings of this field in this round, from 0. Paired matches, which are played on the same chance, have
    /// one number.
    pub pair: u32,
    /// Which of the paired matches this is, from 0: of two seats 0 or 1; always 0 where games are not paired. Never enters
    /// the chance.
    pub rotation: u8,
}
