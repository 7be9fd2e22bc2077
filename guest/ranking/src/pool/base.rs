//! The immutable half of a pool: a snapshot, and where its parts lie.
//!
//! Words are sorted by their terms and then by themselves, so the words of a term are neighbours and a term is found by
//! bisection. The postings of a word are pairs of variable length: the distance to the slot before, doubled, plus one if a
//! count follows (it is 1 otherwise).

use std::ops::Range;

use super::alike::WordRows;
use super::columns::Columns;
use super::external::External;
use super::names::Names;
use super::sections::{Reader, SnapshotError};
use super::sittings::Sittings;
use super::sums::{self, Sums};
use super::{NONE, Pool};
use crate::scan;
use crate::table::DIMENSIONS;

/// Where the parts of a snapshot lie.
///
/// **Invariant:** ranges are inside of `bytes`; ends never fall and end where what they divide does.
#[derive(Default)]
pub(super) struct Base {
    bytes: Vec<u8>,
    documents: usize,
    rows: Range<usize>,
    term_ends: Vec<u32>,
    terms: Range<usize>,
    /// Where the words of each term end.
    term_words: Vec<u32>,
    word_ends: Vec<u32>,
    words: Range<usize>,
    word_rows: WordRows,
    rows_of_words: Range<usize>,
    posting_ends: Vec<u32>,
    postings: Range<usize>,
}

impl Base {
    /// How many documents it was made of, those included that have died since.
    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// The rows of its documents.
    pub(super) fn rows(&self) -> &[u8] {
        &self.bytes[self.rows.clone()]
    }

    /// Bytes of the snapshot, for those who keep ranges of it.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// How many words it has.
    pub(super) fn word_count(&self) -> usize {
        self.word_ends.len()
    }

    /// Which words have rows.
    pub(super) fn word_rows(&self) -> &WordRows {
        &self.word_rows
    }

    /// The rows.
    pub(super) fn rows_of_words(&self) -> &[i8] {
        scan::signed(&self.bytes[self.rows_of_words.clone()])
    }

    /// A word; empty if damage made it none.
    pub(super) fn word(&self, id: usize) -> &str {
        std::str::from_utf8(part(&self.bytes[self.words.clone()], &self.word_ends, id))
            .unwrap_or_default()
    }

    /// The terms in their order, each with its words.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        (0..self.term_ends.len()).map(|term| {
            let name = std::str::from_utf8(self.term(term)).unwrap_or_default();
            (name, self.words_of(term))
        })
    }

    /// The words of a term.
    pub(super) fn of_term(&self, term: &str) -> Range<usize> {
        let (mut low, mut high) = (0, self.term_ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(term.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return self.words_of(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        0..0
    }

    fn term(&self, term: usize) -> &[u8] {
        part(&self.bytes[self.terms.clone()], &self.term_ends, term)
    }

    fn words_of(&self, term: usize) -> Range<usize> {
        let start = term
            .checked_sub(1)
            .map_or(0, |before| self.term_words[before]);
        start as usize..self.term_words[term] as usize
    }

    /// Each slot that a word stands in, and how often.
    pub(super) fn postings(&self, word: usize, mut visit: impl FnMut(u32, u32)) {
        let mut bytes = part(&self.bytes[self.postings.clone()], &self.posting_ends, word);
        let mut slot = 0_usize;
        while !bytes.is_empty() {
            let head = varint(&mut bytes);
            let count = if head & 1 == 1 { varint(&mut bytes) } else { 1 };
            slot = slot.saturating_add((head >> 1) as usize);
            // Only damage leads beyond the documents.
            if slot >= self.documents {
                return;
            }
            visit(slot as u32, count);
        }
    }
}

/// The part of some bytes that ends at the `index`-th end.
fn part<'a>(bytes: &'a [u8], ends: &[u32], index: usize) -> &'a [u8] {
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start as usize..ends[index] as usize]
}

/// Takes a number of seven bits a byte off the front. What is too long for 32 bits loses its upper end.
#[inline]
fn varint(bytes: &mut &[u8]) -> u32 {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let Some((&byte, rest)) = bytes.split_first() else {
            break;
        };
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

/// Appends a number of seven bits a byte.
pub(super) fn write_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Pool {
    /// Loads a snapshot, which becomes the base.
    ///
    /// # Errors
    ///
    /// When the bytes are no snapshot, one of another format, or damaged. Only offsets and lengths are checked, since
    /// whoever keeps the bytes has a checksum: damage that is not found out gives wrong answers, but no panic.
    pub fn decode(snapshot: Vec<u8>) -> Result<Self, SnapshotError> {
        let mut reader = Reader::new(&snapshot)?;
        let columns = columns(&mut reader)?;
        let documents = columns.len();
        let rows = reader.range("vectors", DIMENSIONS, documents)?;
        let sessions = names(reader.strings("sessions")?);
        let labels = names(reader.strings("labels")?);
        let known = |ids: &[u32], names: &Names| {
            ids.iter()
                .all(|&id| id == NONE || (id as usize) < names.len())
        };
        if !known(&columns.sessions, &sessions) || !known(&columns.labels, &labels) {
            return Err(SnapshotError::Damaged { section: "names" });
        }
        let mut base = words(&mut reader)?;
        base.documents = documents;
        base.rows = rows;
        let sums = Sums::from_numbers(&reader.i64s("sums", sums::NUMBERS)?);
        let externals = External::read(&mut reader, documents)?;
        reader.finish()?;
        base.bytes = snapshot;
        Ok(Self {
            living: documents,
            total_length: columns
                .lengths
                .iter()
                .map(|&length| u64::from(length))
                .sum(),
            sittings: Sittings::of(&columns, sums),
            columns,
            base,
            sessions,
            labels,
            externals,
            ..Self::default()
        })
    }
}

fn columns(reader: &mut Reader<'_>) -> Result<Columns, SnapshotError> {
    let docs = reader.u32s("numbers", None)?;
    if !docs.is_sorted_by(|left, right| left < right) {
        return Err(SnapshotError::Damaged { section: "numbers" });
    }
    let count = docs.len();
    let lengths = reader.u32s("lengths", count)?;
    let sessions = reader.u32s("session of each", count)?;
    let created = reader.i64s("times", count)?;
    let labels = reader.u32s("label of each", count)?;
    let cues = reader.bytes("cues", count)?;
    let day_ends = reader.ends("days of each", count, None)?;
    let total = day_ends.last().map_or(0, |&last| last as usize);
    let days = reader.u32s("days", total)?;
    let inverses = reader.inverses("lengths of vectors", count)?;
    Ok(Columns {
        docs,
        lengths,
        sessions,
        created,
        labels,
        cues,
        day_ends,
        days,
        inverses,
        alive: vec![true; count],
    })
}

fn words(reader: &mut Reader<'_>) -> Result<Base, SnapshotError> {
    let term_ends = reader.ends("ends of terms", None, None)?;
    let total = |ends: &[u32]| ends.last().map_or(0, |&last| last as usize);
    let terms = reader.range("terms", 1, total(&term_ends))?;
    let term_words = reader.ends("words of terms", term_ends.len(), None)?;
    let word_ends = reader.ends("ends of words", total(&term_words), None)?;
    let words = reader.range("words", 1, total(&word_ends))?;
    let count = word_ends.len();
    let with_rows = reader.u32s("words with vectors", None)?;
    if with_rows.iter().any(|&word| word as usize >= count) {
        return Err(SnapshotError::Damaged {
            section: "words with vectors",
        });
    }
    let rows = with_rows.len();
    let word_rows = WordRows {
        inverses: reader.inverses("lengths of words' vectors", rows)?,
        words: with_rows,
    };
    let rows_of_words = reader.range("words' vectors", DIMENSIONS, rows)?;
    let posting_ends = reader.ends("ends of postings", count, None)?;
    let postings = reader.range("postings", 1, total(&posting_ends))?;
    Ok(Base {
        term_ends,
        terms,
        term_words,
        word_ends,
        words,
        word_rows,
        rows_of_words,
        posting_ends,
        postings,
        ..Base::default()
    })
}

fn names(list: Vec<String>) -> Names {
    let mut names = Names::default();
    for name in list {
        names.id(&name);
    }
    names
}
