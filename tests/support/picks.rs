//! Choices that a seed repeats.

/// Choices of a seed (splitmix64): the same for ever.
#[derive(Clone, Debug)]
pub(crate) struct Picks(pub(crate) u64);

impl Picks {
    /// A number below the bound.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * bound as u128) >> 64) as usize
    }
}
