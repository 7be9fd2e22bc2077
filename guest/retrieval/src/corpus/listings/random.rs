//! Numbers that look random and are the same everywhere.

/// SplitMix64: Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators* (2014). Any seed will do, and
/// there is nothing in it that could differ between machines.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which must not be 0. The bias is below 2^-32 for the small numbers that are asked for here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// One of `items`, of which there must be some.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// `count` different positions below `end`, in the order in which they were drawn.
    pub(super) fn choose_positions(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut positions: Vec<usize> = (0..end).collect();
        let count = count.min(end);
        for at in 0..count {
            let other = at + self.below((end - at) as u64) as usize;
            positions.swap(at, other);
        }
        positions.truncate(count);
        positions
    }

    /// `count` different ones of `items`.
    pub(super) fn choose<'a, T>(&mut self, items: &'a [T], count: usize) -> Vec<&'a T> {
        self.choose_positions(items.len(), count)
            .into_iter()
            .map(|position| &items[position])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers for the seed 1234567, as published with the reference implementation.
    #[test]
    fn the_numbers_are_those_of_the_reference() {
        let mut random = Random::new(1_234_567);
        assert_eq!(
            [random.next(), random.next(), random.next()],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn choices_are_different_and_within_bounds() {
        let mut random = Random::new(1);
        for _ in 0..200 {
            let mut chosen = random.choose_positions(5, 3);
            chosen.sort_unstable();
            chosen.dedup();
            assert_eq!(chosen.len(), 3);
            assert!(chosen.iter().all(|&position| position < 5));
            assert!(random.below(3) < 3);
        }
        assert_eq!(random.choose_positions(2, 9).len(), 2);
    }
}
