//! A hash of what is played in a game, and of nothing else: two games of one hash are copies of each other.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::chance;
use crate::game::Seat;

/// What was played so far: the start, random events, moves and passes as the rules write them, forfeits.
#[derive(Clone, Debug, Default)]
pub(super) struct Played {
    hasher: Sha256,
    first: Option<Seat>,
}

impl Played {
    /// Adds something that happened, as JSON.
    pub(super) fn json(&mut self, json: &[u8]) {
        self.hasher.update((json.len() as u64).to_le_bytes());
        self.hasher.update(json);
    }

    /// Adds something that happened.
    pub(super) fn value(&mut self, value: &impl Serialize) {
        // Plain data is written to memory; what could not be would only make games look more alike.
        self.json(&serde_json::to_vec(value).unwrap_or_default());
    }

    /// Adds an answer of a seat, as the rules write it.
    pub(super) fn answer(&mut self, seat: Seat, json: &[u8]) {
        self.first.get_or_insert(seat);
        self.json(json);
    }

    /// The seat that answered first.
    pub(super) fn first(&self) -> Option<Seat> {
        self.first
    }

    /// The hash as hex digits.
    pub(super) fn hash(self) -> String {
        let hash: [u8; 32] = self.hasher.finalize().into();
        chance::hex(&hash)
    }
}
