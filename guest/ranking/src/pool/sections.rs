//! A snapshot as bytes: a head, and sections of numbers behind it.
//!
//! ```text
//! 0    8 bytes   "pmrank" and two zeros
//! 8    u32       format
//! 12   u32       how many sections follow
//! 16   u64 each  where a section ends, counted from the end of this list
//! ...            the sections, without gaps
//! ```
//!
//! All numbers are little-endian. What is in which section is the business of [`super::base`] and [`super::merge`].

use std::fmt;
use std::ops::Range;

const MAGIC: &[u8; 8] = b"pmrank\0\0";

/// Raised whenever the sections, what a word is, or the table of the embedding change.
pub(super) const FORMAT: u32 = 4;

const HEAD: usize = 16;

/// Why bytes are no snapshot. None of them is trusted further than it was checked: damage that these checks can't see
/// gives wrong answers, never an access out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// It doesn't begin as a snapshot does.
    NotASnapshot,
    /// Another version of this library wrote it.
    Format {
        /// The format it has.
        got: u32,
        /// The format that can be read.
        expected: u32,
    },
    /// The lengths or offsets in it contradict each other.
    Damaged {
        /// Where.
        section: &'static str,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASnapshot => f.write_str("the bytes are no snapshot of an index"),
            Self::Format { got, expected } => {
                write!(f, "the snapshot has format {got}, not {expected}")
            }
            Self::Damaged { section } => write!(f, "the snapshot is damaged: {section}"),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// Puts sections together.
#[derive(Default)]
pub(super) struct Writer {
    ends: Vec<u64>,
    body: Vec<u8>,
}

impl Writer {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.ends.push(self.body.len() as u64);
    }

    pub(super) fn signed(&mut self, values: &[i8]) {
        self.body.extend(values.iter().map(|value| *value as u8));
        self.ends.push(self.body.len() as u64);
    }

    pub(super) fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        self.body
            .extend(values.into_iter().flat_map(u32::to_le_bytes));
        self.ends.push(self.body.len() as u64);
    }

    pub(super) fn i64s(&mut self, values: impl IntoIterator<Item = i64>) {
        self.body
            .extend(values.into_iter().flat_map(i64::to_le_bytes));
        self.ends.push(self.body.len() as u64);
    }

    pub(super) fn f32s(&mut self, values: impl IntoIterator<Item = f32>) {
        self.u32s(values.into_iter().map(f32::to_bits));
    }

    /// Strings: their ends, then their bytes.
    pub(super) fn strings<'a>(&mut self, strings: impl IntoIterator<Item = &'a str>) {
        let mut ends = Vec::new();
        let mut bytes = Vec::new();
        for string in strings {
            bytes.extend_from_slice(string.as_bytes());
            ends.push(bytes.len() as u32);
        }
        self.u32s(ends);
        self.bytes(&bytes);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut snapshot = Vec::with_capacity(HEAD + 8 * self.ends.len() + self.body.len());
        snapshot.extend_from_slice(MAGIC);
        snapshot.extend_from_slice(&FORMAT.to_le_bytes());
        snapshot.extend_from_slice(&(self.ends.len() as u32).to_le_bytes());
        snapshot.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        snapshot.extend_from_slice(&self.body);
        snapshot
    }
}

/// Takes sections apart, in the order in which they were written.
pub(super) struct Reader<'a> {
    snapshot: &'a [u8],
    sections: Vec<Range<usize>>,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(snapshot: &'a [u8]) -> Result<Self, SnapshotError> {
        if snapshot.len() < HEAD || !snapshot.starts_with(MAGIC) {
            return Err(SnapshotError::NotASnapshot);
        }
        let format = u32_at(snapshot, 8);
        if format != FORMAT {
            return Err(SnapshotError::Format {
                got: format,
                expected: FORMAT,
            });
        }
        let damaged = SnapshotError::Damaged { section: "head" };
        let count = u32_at(snapshot, 12) as usize;
        let body = count
            .checked_mul(8)
            .map(|list| list.saturating_add(HEAD))
            .filter(|&body| body <= snapshot.len())
            .ok_or_else(|| damaged.clone())?;
        let mut sections = Vec::with_capacity(count);
        let mut start = body;
        for at in (HEAD..body).step_by(8) {
            let end = u64::from(u32_at(snapshot, at)) | u64::from(u32_at(snapshot, at + 4)) << 32;
            let end = usize::try_from(end)
                .ok()
                .and_then(|end| end.checked_add(body))
                .filter(|&end| start <= end && end <= snapshot.len())
                .ok_or_else(|| damaged.clone())?;
            sections.push(start..end);
            start = end;
        }
        if start != snapshot.len() {
            return Err(damaged);
        }
        Ok(Self {
            snapshot,
            sections,
            next: 0,
        })
    }

    /// Where the next section lies, which has `count` values of `size` bytes.
    pub(super) fn range(
        &mut self,
        section: &'static str,
        size: usize,
        count: impl Into<Option<usize>>,
    ) -> Result<Range<usize>, SnapshotError> {
        let damaged = SnapshotError::Damaged { section };
        let range = self
            .sections
            .get(self.next)
            .cloned()
            .ok_or(damaged.clone())?;
        self.next += 1;
        let fits = match count.into() {
            Some(count) => count.checked_mul(size) == Some(range.len()),
            None => range.len() % size == 0,
        };
        if fits { Ok(range) } else { Err(damaged) }
    }

    pub(super) fn bytes(
        &mut self,
        section: &'static str,
        count: usize,
    ) -> Result<Vec<u8>, SnapshotError> {
        let range = self.range(section, 1, count)?;
        Ok(self.snapshot[range].to_vec())
    }

    pub(super) fn u32s(
        &mut self,
        section: &'static str,
        count: impl Into<Option<usize>>,
    ) -> Result<Vec<u32>, SnapshotError> {
        let range = self.range(section, 4, count)?;
        let words = self.snapshot[range].as_chunks::<4>().0;
        Ok(words
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .collect())
    }

    pub(super) fn i64s(
        &mut self,
        section: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, SnapshotError> {
        let range = self.range(section, 8, count)?;
        let words = self.snapshot[range].as_chunks::<8>().0;
        Ok(words
            .iter()
            .map(|bytes| i64::from_le_bytes(*bytes))
            .collect())
    }

    /// Finite numbers, each from 0 to 1.
    pub(super) fn inverses(
        &mut self,
        section: &'static str,
        count: usize,
    ) -> Result<Vec<f32>, SnapshotError> {
        let bits = self.u32s(section, count)?;
        let values: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
        if values.iter().all(|value| (0.0..=1.0).contains(value)) {
            Ok(values)
        } else {
            Err(SnapshotError::Damaged { section })
        }
    }

    /// Numbers that never fall and end at `total`.
    pub(super) fn ends(
        &mut self,
        section: &'static str,
        count: impl Into<Option<usize>>,
        total: impl Into<Option<usize>>,
    ) -> Result<Vec<u32>, SnapshotError> {
        let ends = self.u32s(section, count)?;
        let last = ends.last().map_or(0, |&last| last as usize);
        let fits = total.into().is_none_or(|total| total == last);
        if ends.is_sorted() && fits {
            Ok(ends)
        } else {
            Err(SnapshotError::Damaged { section })
        }
    }

    pub(super) fn strings(&mut self, section: &'static str) -> Result<Vec<String>, SnapshotError> {
        let ends = self.ends(section, None, None)?;
        let total = ends.last().map_or(0, |&last| last as usize);
        let range = self.range(section, 1, total)?;
        let bytes = &self.snapshot[range];
        let mut start = 0;
        ends.iter()
            .map(|&end| {
                let string = std::str::from_utf8(&bytes[start..end as usize]);
                start = end as usize;
                string
                    .map(str::to_owned)
                    .map_err(|_| SnapshotError::Damaged { section })
            })
            .collect()
    }

    /// Says so when a section is left.
    pub(super) fn finish(self) -> Result<(), SnapshotError> {
        if self.next == self.sections.len() {
            Ok(())
        } else {
            Err(SnapshotError::Damaged { section: "head" })
        }
    }
}

/// The number at an offset that is known to be inside.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes: [u8; 4] = std::array::from_fn(|byte| bytes[at + byte]);
    u32::from_le_bytes(bytes)
}
