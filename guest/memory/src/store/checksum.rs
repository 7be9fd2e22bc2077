//! A checksum that costs little beside reading: a snapshot has a hundred times the bytes of a line of the journal, and it is
//! checked at each start.
//!
//! Four lanes take turns with words of eight bytes. Each step maps different words to different states, and different
//! states to different states: so what differs in one word only is always noticed, and what differs in more, but for a
//! chance of one in 2^64. It is no protection against somebody who wants to deceive.

/// Odd, so that a multiplication by it can be undone; without regularity in its bits (2^64 divided by the golden ratio).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

const LANES: usize = 4;
const WORD: usize = 8;

/// The checksum of some bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes: [u64; LANES] = [1, 2, 3, 4];
    let (rounds, rest) = bytes.as_chunks::<{ LANES * WORD }>();
    for round in rounds {
        take(&mut lanes, round);
    }
    let mut last = [0; LANES * WORD];
    last[..rest.len()].copy_from_slice(rest);
    take(&mut lanes, &last);
    // The length tells zeros at the end from none.
    let length = bytes.len() as u64;
    lanes.into_iter().fold(length, step)
}

fn take(lanes: &mut [u64; LANES], round: &[u8; LANES * WORD]) {
    for (lane, word) in lanes.iter_mut().zip(round.as_chunks::<WORD>().0) {
        *lane = step(*lane, u64::from_le_bytes(*word));
    }
}

fn step(state: u64, word: u64) -> u64 {
    (state ^ word).wrapping_mul(FACTOR).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_changed_byte_or_another_length_is_noticed(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            change in 1_u8..,
        ) {
            let sum = checksum(&bytes);
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                prop_assert_ne!(checksum(&changed), sum, "byte {}", at);
                prop_assert_ne!(checksum(&bytes[..at]), sum, "{} bytes", at);
            }
            let mut longer = bytes.clone();
            longer.push(0);
            prop_assert_ne!(checksum(&longer), sum);
        }

        #[test]
        fn what_changed_places_is_noticed(bytes in prop::collection::vec(any::<u8>(), 64..100)) {
            let mut swapped = bytes.clone();
            swapped.swap(0, 32);
            prop_assert_eq!(checksum(&swapped) == checksum(&bytes), swapped == bytes);
        }
    }

    #[test]
    fn it_is_what_the_document_describes() {
        // Computed from the description in docs/STORE.md by another program.
        let bytes: Vec<u8> = (0..100).collect();
        assert_eq!(checksum(b""), 0xa513_aaee_c95b_0cc5);
        assert_eq!(checksum(&bytes), 0xf50a_8d6a_483c_099c);
    }
}
