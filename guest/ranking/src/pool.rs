//! The documents of a store, and the search over them.
//!
//! A pool has two halves. The *base* is a snapshot: flat arrays that are used where they lie, so that a hundred thousand
//! documents load in the time it takes to look at their offsets. The *tail* is what came after, and made of maps that
//! grow. A document that is replaced or removed only loses its slot; its postings stay until the halves are merged by
//! [`Pool::compact`], or in a snapshot by [`Pool::encode`].
//!
//! **Invariant:** an answer depends on the living documents alone. Neither the order of changes nor the split between the
//! halves shows.

use std::collections::{BTreeSet, HashMap};

use crate::answer::{Document, Vector, VectorError};
use crate::table::{self, DIMENSIONS};
use crate::tokens::{self, Analyzer, Class};
use crate::{cues, dates, scan};

mod alike;
mod base;
mod columns;
mod external;
mod frequencies;
mod names;
mod sittings;
mod sums;
mod tail;

mod lexical;
mod merge;
mod search;
mod sections;
mod signals;
mod typos;

pub use sections::SnapshotError;

use alike::Remembered;
use base::Base;
use columns::{Columns, NO_TIME, NONE, Row};
use external::External;
use frequencies::Frequencies;
use names::Names;
use sittings::Sittings;
use sums::Rows;
use tail::Tail;

/// Dead slots are swept out when they outnumber the living, but not below this many: a sweep copies everything.
const MIN_DEAD_TO_SWEEP: usize = 256;

/// Documents that can be searched.
///
/// ```
/// use ranking::{Pool, Recipe, Verdict};
///
/// let mut pool = Pool::default();
/// pool.insert(0, &"the demo is on June 20".into());
/// pool.insert(1, &"I prefer dark mode".into());
///
/// let found = pool.search(&"demos".into(), &Recipe::FULL, 5, |_| true);
/// assert_eq!(found.hits.iter().map(|hit| hit.doc).collect::<Vec<_>>(), [0]);
/// let found = pool.search(&"kangaroo".into(), &Recipe::FULL, 5, |_| true);
/// assert_eq!((found.hits.len(), found.verdict), (0, Verdict::Nothing));
///
/// let loaded = Pool::decode(pool.encode())?;
/// assert_eq!(loaded.len(), 2);
/// # Ok::<(), ranking::SnapshotError>(())
/// ```
#[derive(Default)]
pub struct Pool {
    analyzer: Analyzer,
    /// One row a slot: those of the base first, then those of the tail.
    columns: Columns,
    base: Base,
    tail: Tail,
    /// Where the documents of the tail are. Those of the base are found by bisection.
    slot_of: HashMap<u32, u32>,
    sessions: Names,
    labels: Names,
    externals: Vec<External>,
    living: usize,
    /// Sum of the lengths of the living.
    total_length: u64,
    sittings: Sittings,
    frequencies: Frequencies,
    remembered: Remembered,
}

impl Pool {
    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.living
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.living == 0
    }

    /// Whether a document has this number.
    pub fn contains(&self, doc: u32) -> bool {
        self.slot(doc).is_some()
    }

    /// Adds a document, or replaces the one with this number. Numbers are in the order of saving.
    pub fn insert(&mut self, doc: u32, document: &Document<'_>) {
        self.bury(doc);
        let slot = self.columns.len() as u32;
        let mut length = 0;
        let mut common: BTreeSet<Box<str>> = BTreeSet::new();
        let (analyzer, tail, frequencies) = (&self.analyzer, &mut self.tail, &self.frequencies);
        let mut count = |word: &str, term: &str| {
            tail.count(word, term, slot);
            if frequencies.knows(term) && !common.contains(term) {
                common.insert(term.into());
            }
        };
        analyzer.document_words(document.text, |word, term, class| {
            length += u32::from(class == Class::Content);
            count(word, term);
        });
        analyzer.document_words(document.extra, |word, term, _| count(word, term));
        self.frequencies.add(common.iter().map(|term| &**term));
        let inverse = tail.embed(document.text);
        let days = dates::days_of(document.text, document.created);
        let row = Row {
            doc,
            length,
            session: document.session.map_or(NONE, |name| self.sessions.id(name)),
            created: document.created.unwrap_or(NO_TIME),
            label: cues::label(document.text).map_or(NONE, |name| self.labels.id(name)),
            cues: columns::cues(document.text),
            inverse,
        };
        self.columns.push(row, &days);
        self.slot_of.insert(doc, slot);
        self.living += 1;
        self.total_length += u64::from(length);
        let (sittings, rows) = self.sittings_and_rows();
        sittings.insert(slot, &rows);
        self.sweep();
    }

    /// Takes a document out. Returns whether it was there.
    pub fn remove(&mut self, doc: u32) -> bool {
        let was_there = self.bury(doc);
        if was_there {
            self.sweep();
        }
        was_there
    }

    /// Gives a document a vector of somebody else's making, under that embedder's name. It is kept until the document is
    /// replaced, or two other embedders have come after this one.
    ///
    /// # Errors
    ///
    /// When there is no such document, when the vector has no direction, or when it has another number of dimensions than
    /// the embedder's other vectors.
    pub fn set_vector(
        &mut self,
        doc: u32,
        embedder: &str,
        vector: Vector<'_>,
    ) -> Result<(), VectorError> {
        let slot = self.slot(doc).ok_or(VectorError::UnknownDocument(doc))?;
        let (row, inverse) = external::row(vector)?;
        let found = self
            .externals
            .iter_mut()
            .find(|space| space.name() == embedder);
        let space = match found {
            Some(space) => {
                space.check(row.len())?;
                space
            }
            None => {
                if self.externals.len() == external::MAX_EMBEDDERS {
                    self.externals.remove(0);
                }
                self.externals.push(External::new(embedder, row.len()));
                let last = self.externals.len() - 1;
                &mut self.externals[last]
            }
        };
        space.set(slot, &row, inverse);
        Ok(())
    }

    /// The documents that have no vector of this embedder yet, in order.
    pub fn without_vector(&self, embedder: &str) -> Vec<u32> {
        let space = self.externals.iter().find(|space| space.name() == embedder);
        let mut missing: Vec<u32> = self
            .columns
            .living()
            .filter(|&slot| space.is_none_or(|space| !space.has(slot)))
            .map(|slot| self.columns.doc(slot))
            .collect();
        missing.sort_unstable();
        missing
    }

    /// The living slot of a document.
    fn slot(&self, doc: u32) -> Option<u32> {
        let slot = match self.slot_of.get(&doc) {
            Some(&slot) => slot,
            None => self.columns.find(doc, self.base.documents())?,
        };
        self.columns.is_alive(slot).then_some(slot)
    }

    /// Marks a document's slot as dead. Returns whether it was alive.
    fn bury(&mut self, doc: u32) -> bool {
        let Some(slot) = self.slot(doc) else {
            return false;
        };
        let (sittings, rows) = self.sittings_and_rows();
        sittings.remove(slot, &rows);
        self.frequencies.forget();
        self.columns.bury(slot);
        self.slot_of.remove(&doc);
        self.living -= 1;
        self.total_length -= u64::from(self.columns.length(slot));
        true
    }

    /// Merges the halves when too much of them is dead.
    fn sweep(&mut self) {
        let dead = self.columns.len() - self.living;
        if dead >= MIN_DEAD_TO_SWEEP && dead > self.living {
            self.compact();
        }
    }

    /// Merges both halves into a new base. No answer changes; what was replaced or removed gives its room back.
    pub fn compact(&mut self) {
        // A snapshot that was just made is sound.
        if let Ok(fresh) = Self::decode(self.encode()) {
            let analyzer = std::mem::take(&mut self.analyzer);
            *self = Self { analyzer, ..fresh };
        }
    }

    /// The row of a document in the built-in embedding.
    fn vector(&self, slot: u32) -> &[i8] {
        let rows = Rows {
            columns: &self.columns,
            base: &self.base,
            tail: &self.tail,
        };
        rows.row(slot)
    }

    /// What a change of documents changes, and what it looks at.
    fn sittings_and_rows(&mut self) -> (&mut Sittings, Rows<'_>) {
        let rows = Rows {
            columns: &self.columns,
            base: &self.base,
            tail: &self.tail,
        };
        (&mut self.sittings, rows)
    }
}

/// The row of one word, and 1 divided by its length: 0, and zeros, for what should not match softly.
///
/// It depends on the word alone, so that a word is the same in every pool. Stop words have none, nor has a word with an
/// unknown piece: all unknown words would be alike. Nor has what is not of letters alone: numbers and identifiers that
/// look alike are of different things, and a store may have one of its own for each memory.
fn word_row(word: &str) -> ([i8; DIMENSIONS], f32) {
    let mut row = [0; DIMENSIONS];
    let mut sum = [0.0; DIMENSIONS];
    let plain = word.chars().all(char::is_alphabetic);
    if tokens::is_stop_word(word) || !plain || !table::add(word, 1.0, &mut sum) {
        return (row, 0.0);
    }
    let inverse = scan::quantise(&sum, &mut row);
    (row, inverse)
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "pool_history_tests.rs"]
mod history_tests;
