//! BM25 over an inverted index that grows and shrinks.
//!
//! Source: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with the idf that
//! can't become negative: `ln(1 + (N - df + 0.5) / (df + 0.5))`.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::tokens::{Analyzer, Class};

/// The two knobs of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Params {
    /// How soon further occurrences of a term stop counting; 0 means that only presence counts.
    pub k1: f32,
    /// How much long documents are held back: from 0 (not at all) to 1.
    pub b: f32,
}

impl Bm25Params {
    /// What measured best for short texts (conversation turns of some 35 words) with stems and stop words: a low `b`,
    /// since a memory that is longer than the others is not padded, it says more.
    pub const MEMORIES: Self = Self { k1: 0.9, b: 0.4 };

    /// The textbook's, which suit abstracts and longer documents.
    pub const ABSTRACTS: Self = Self { k1: 1.2, b: 0.75 };
}

impl Default for Bm25Params {
    fn default() -> Self {
        Self::MEMORIES
    }
}

/// A document that has at least one term of the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number under which it was inserted.
    pub doc: u32,
    /// Above 0; comparable within one query only.
    pub score: f32,
}

/// Keeps the `k` best, best first; of equals the one with the higher number (the newer) comes first.
pub fn keep_best(hits: &mut Vec<Hit>, k: usize) {
    if hits.len() > k && k > 0 {
        hits.select_nth_unstable_by(k - 1, best_first);
    }
    hits.truncate(k);
    hits.sort_unstable_by(best_first);
}

fn best_first(left: &Hit, right: &Hit) -> Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then(right.doc.cmp(&left.doc))
}

/// Dead slots are swept out when they outnumber the living, but not below this many: a sweep walks all postings.
const MIN_DEAD_TO_SWEEP: usize = 256;

/// An occurrence count of a term in a slot. Kept small: these are most of the index.
#[derive(Clone, Copy)]
struct Posting {
    slot: u32,
    count: u32,
}

/// A version of a document. Removing one only marks its slot: postings need not be searched for it.
struct Slot {
    doc: u32,
    length: u32,
    alive: bool,
}

/// Terms to documents.
///
/// **Invariant:** postings of a term are in order of their slots, and a slot is in each list at most once.
pub struct Index {
    params: Bm25Params,
    analyzer: Analyzer,
    terms: HashMap<Box<str>, u32>,
    postings: Vec<Vec<Posting>>,
    slots: Vec<Slot>,
    slot_of: HashMap<u32, u32>,
    /// Sum of the lengths of living slots.
    total_length: u64,
}

impl Index {
    /// An empty index.
    pub fn new(params: Bm25Params) -> Self {
        Self {
            params,
            analyzer: Analyzer::default(),
            terms: HashMap::new(),
            postings: Vec::new(),
            slots: Vec::new(),
            slot_of: HashMap::new(),
            total_length: 0,
        }
    }

    /// How many documents can be found.
    pub fn len(&self) -> usize {
        self.slot_of.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slot_of.is_empty()
    }

    /// Adds a document, or replaces the one with this number.
    pub fn insert(&mut self, doc: u32, text: &str) {
        self.remove(doc);
        let slot = self.slots.len() as u32;
        let mut length = 0;
        let Self {
            analyzer,
            terms,
            postings,
            ..
        } = self;
        analyzer.document_terms(text, |term, class| {
            length += u32::from(class == Class::Content);
            let list = match terms.get(term) {
                Some(&id) => &mut postings[id as usize],
                None => {
                    terms.insert(term.into(), postings.len() as u32);
                    postings.push(Vec::new());
                    let last = postings.len() - 1;
                    &mut postings[last]
                }
            };
            match list.last_mut() {
                Some(last) if last.slot == slot => last.count += 1,
                _ => list.push(Posting { slot, count: 1 }),
            }
        });
        self.slots.push(Slot {
            doc,
            length,
            alive: true,
        });
        self.slot_of.insert(doc, slot);
        self.total_length += u64::from(length);
    }

    /// Takes a document out. Returns whether it was there.
    pub fn remove(&mut self, doc: u32) -> bool {
        let Some(slot) = self.slot_of.remove(&doc) else {
            return false;
        };
        let slot = &mut self.slots[slot as usize];
        slot.alive = false;
        self.total_length -= u64::from(slot.length);
        let dead = self.slots.len() - self.slot_of.len();
        if dead >= MIN_DEAD_TO_SWEEP && dead > self.slot_of.len() {
            self.sweep();
        }
        true
    }

    /// The `k` best documents among those that `admit` lets pass, best first.
    pub fn search(&self, query: &str, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Hit> {
        let mut hits = self.score(query, admit);
        keep_best(&mut hits, k);
        hits
    }

    /// Every document that has a term of the query and that `admit` lets pass, in no particular order.
    ///
    /// What a term is worth (its idf) is decided by all documents, so that a filter changes who is in the answer and
    /// not how they compare.
    pub fn score(&self, query: &str, admit: impl Fn(u32) -> bool) -> Vec<Hit> {
        let count = self.slot_of.len() as f32;
        let mean_length = (self.total_length as f32 / count.max(1.0)).max(1.0);
        let Bm25Params { k1, b } = self.params;
        // One cell a slot: at a hundred thousand documents that is 400 kB to clear, cheaper than hashing each posting.
        let mut scores = vec![0.0_f32; self.slots.len()];
        let mut touched = Vec::new();
        for term in self.analyzer.query_terms(query) {
            let Some(&id) = self.terms.get(term.as_str()) else {
                continue;
            };
            let living = || {
                self.postings[id as usize]
                    .iter()
                    .filter(|posting| self.slots[posting.slot as usize].alive)
            };
            let df = living().count() as f32;
            let idf = (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
            for posting in living() {
                let slot = &self.slots[posting.slot as usize];
                let tf = posting.count as f32;
                let norm = k1 * (1.0 - b + b * slot.length as f32 / mean_length);
                let cell = &mut scores[posting.slot as usize];
                if *cell == 0.0 {
                    touched.push(posting.slot);
                }
                *cell += idf * tf * (k1 + 1.0) / (tf + norm);
            }
        }
        touched
            .into_iter()
            .map(|slot| Hit {
                doc: self.slots[slot as usize].doc,
                score: scores[slot as usize],
            })
            .filter(|hit| admit(hit.doc))
            .collect()
    }

    /// Renumbers the living slots and drops the postings of the dead. Terms stay: they come back with the next text.
    fn sweep(&mut self) {
        let mut renumbered = vec![None; self.slots.len()];
        let mut kept = Vec::with_capacity(self.slot_of.len());
        for (old, slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            if slot.alive {
                renumbered[old] = Some(kept.len() as u32);
                self.slot_of.insert(slot.doc, kept.len() as u32);
                kept.push(slot);
            }
        }
        self.slots = kept;
        for list in &mut self.postings {
            list.retain_mut(|posting| match renumbered[posting.slot as usize] {
                Some(slot) => {
                    posting.slot = slot;
                    true
                }
                None => false,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(texts: &[&str]) -> Index {
        let mut index = Index::new(Bm25Params::default());
        for (doc, text) in texts.iter().enumerate() {
            index.insert(doc as u32, text);
        }
        index
    }

    fn docs(hits: &[Hit]) -> Vec<u32> {
        hits.iter().map(|hit| hit.doc).collect()
    }

    #[test]
    fn the_score_is_the_formula() {
        let index = index(&["red red car", "blue car", "green house far away"]);
        let hits = index.search("red", 10, |_| true);
        let (n, df, tf, length, mean) = (3.0_f32, 1.0, 2.0, 3.0, 9.0 / 3.0);
        let idf = (1.0 + (n - df + 0.5_f32) / (df + 0.5)).ln();
        let expected = idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * length / mean));
        assert_eq!(docs(&hits), [0]);
        assert!(
            (hits[0].score - expected).abs() < 1e-5,
            "{} {expected}",
            hits[0].score
        );
    }

    #[test]
    fn rare_terms_outweigh_common_ones() {
        let index = index(&["car kangaroo", "car house", "car tree", "car road"]);
        assert_eq!(docs(&index.search("car kangaroo", 1, |_| true)), [0]);
    }

    #[test]
    fn only_documents_with_a_term_are_hits() {
        let index = index(&["the demo is on June 20", "I prefer dark mode"]);
        assert!(index.search("kangaroo", 5, |_| true).is_empty());
        assert_eq!(docs(&index.search("demo", 5, |_| true)), [0]);
        assert!(index.search("", 5, |_| true).is_empty());
    }

    #[test]
    fn of_equals_the_newer_comes_first() {
        let index = index(&["same words", "same words", "same words"]);
        assert_eq!(docs(&index.search("words", 2, |_| true)), [2, 1]);
    }

    #[test]
    fn a_filter_applies_before_the_cut() {
        let index = index(&["word", "word word", "word word word"]);
        assert_eq!(docs(&index.search("word", 1, |doc| doc == 0)), [0]);
    }

    #[test]
    fn a_replaced_text_is_no_longer_found() {
        let mut index = index(&["old words", "others"]);
        index.insert(0, "new phrase");
        assert!(index.search("old", 5, |_| true).is_empty());
        assert_eq!(docs(&index.search("phrase", 5, |_| true)), [0]);
        assert_eq!(index.len(), 2);
    }

    #[test]
    fn removing_what_is_not_there_changes_nothing() {
        let mut index = index(&["word"]);
        assert!(!index.remove(7));
        assert!(index.remove(0));
        assert!(!index.remove(0));
        assert!(index.is_empty());
        assert!(index.search("word", 5, |_| true).is_empty());
    }

    proptest! {
        /// Whatever was inserted, replaced and removed before, an index answers as one that was built afresh.
        #[test]
        fn history_does_not_matter(
            steps in prop::collection::vec((0_u32..40, prop::option::weighted(0.6, "[a-e ]{0,12}")), 0..600),
            query in "[a-e ]{1,6}",
        ) {
            let mut index = Index::new(Bm25Params::default());
            let mut model = std::collections::BTreeMap::new();
            for (doc, text) in steps {
                match text {
                    Some(text) => {
                        index.insert(doc, &text);
                        model.insert(doc, text);
                    }
                    None => {
                        prop_assert_eq!(index.remove(doc), model.remove(&doc).is_some());
                    }
                }
            }
            let mut fresh = Index::new(Bm25Params::default());
            for (doc, text) in &model {
                fresh.insert(*doc, text);
            }
            prop_assert_eq!(index.search(&query, 50, |_| true), fresh.search(&query, 50, |_| true));
        }
    }
}
