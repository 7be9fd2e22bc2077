//! The words and vectors of what came after the base.

use std::collections::HashMap;

use super::alike::WordRows;
use super::word_row;
use crate::scan;
use crate::table::{self, DIMENSIONS};

/// How often a word stands in a document.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    pub(super) slot: u32,
    pub(super) count: u32,
}

/// Words, their postings and vectors, and the vectors of documents.
///
/// **Invariant:** the postings of a word are in order of their slots, and a slot is in each list at most once.
#[derive(Default)]
pub(super) struct Tail {
    id_of: HashMap<Box<str>, u32>,
    of_term: HashMap<Box<str>, Vec<u32>>,
    pub(super) words: Vec<Box<str>>,
    pub(super) terms: Vec<Box<str>>,
    pub(super) postings: Vec<Vec<Posting>>,
    pub(super) word_rows: WordRows,
    rows_of_words: Vec<i8>,
    /// The rows of documents, in order of their slots.
    rows: Vec<i8>,
}

impl Tail {
    /// Counts a word of a document. Slots never fall.
    pub(super) fn count(&mut self, word: &str, term: &str, slot: u32) {
        let id = match self.id_of.get(word) {
            Some(&id) => id as usize,
            None => self.add(word, term),
        };
        let list = &mut self.postings[id];
        match list.last_mut() {
            Some(last) if last.slot == slot => last.count += 1,
            _ => list.push(Posting { slot, count: 1 }),
        }
    }

    fn add(&mut self, word: &str, term: &str) -> usize {
        let id = self.words.len();
        self.id_of.insert(word.into(), id as u32);
        match self.of_term.get_mut(term) {
            Some(words) => words.push(id as u32),
            None => {
                self.of_term.insert(term.into(), vec![id as u32]);
            }
        }
        self.words.push(word.into());
        self.terms.push(term.into());
        self.postings.push(Vec::new());
        let (row, inverse) = word_row(word);
        if inverse > 0.0 {
            self.word_rows.words.push(id as u32);
            self.word_rows.inverses.push(inverse);
            self.rows_of_words.extend_from_slice(&row);
        }
        id
    }

    /// Appends the row of a document. Returns 1 divided by its length.
    pub(super) fn embed(&mut self, text: &str) -> f32 {
        let mut row = [0; DIMENSIONS];
        let mut sum = [0.0; DIMENSIONS];
        table::add(text, 1.0, &mut sum);
        let inverse = scan::quantise(&sum, &mut row);
        self.rows.extend_from_slice(&row);
        inverse
    }

    /// The rows of all documents of the tail.
    pub(super) fn rows(&self) -> &[i8] {
        &self.rows
    }

    /// The rows of its words, of those that have one.
    pub(super) fn rows_of_words(&self) -> &[i8] {
        &self.rows_of_words
    }

    /// The words of a term.
    pub(super) fn of_term(&self, term: &str) -> &[u32] {
        self.of_term.get(term).map_or(&[], |words| words)
    }
}
