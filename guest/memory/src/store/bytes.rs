//! Numbers and strings as bytes, and back: what `index.bin` is made of.
//!
//! Numbers have seven bits a byte, the lowest first, so that small ones are short; those that are hashes have all their
//! bytes, little-endian. Reading gives `None` for whatever is too short or makes no sense, and never goes beyond the end.

/// Bytes that are being written.
#[derive(Default)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A number that may be negative: small ones of either sign are short.
    pub(crate) fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    pub(crate) fn four(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn eight(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.number(value.len() as u64);
        self.0.extend_from_slice(value.as_bytes());
    }
}

/// Bytes that are being read, from the front.
pub(crate) struct In<'a>(pub(crate) &'a [u8]);

impl<'a> In<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn four(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn eight(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// So many things that each take a byte at least; more than there can be is damage, and must not be allocated.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    pub(crate) fn string(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Everything was read.
    pub(crate) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_part_of_it_is_taken_for_all(
            number in any::<u64>(),
            signed in any::<i64>(),
            string in any::<String>(),
        ) {
            let mut out = Out::default();
            out.number(number);
            out.signed(signed);
            out.four(7);
            out.eight(number);
            out.string(&string);
            let read = |bytes: &[u8]| {
                let mut bytes = In(bytes);
                let read = (
                    bytes.number()?,
                    bytes.signed()?,
                    bytes.four()?,
                    bytes.eight()?,
                    bytes.string()?.to_owned(),
                );
                bytes.end().map(|()| read)
            };
            prop_assert_eq!(read(&out.0), Some((number, signed, 7, number, string)));
            for end in 0..out.0.len() {
                prop_assert_eq!(read(&out.0[..end]), None);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut bytes = In(&bytes);
            while bytes.signed().is_some() || bytes.string().is_some() || bytes.byte().is_some() {}
        }
    }
}
