//! How many documents have a common word, remembered.
//!
//! Words like `the` stand in nearly every document, and nobody looks them up: all that a search asks is how rare they are.
//! To count them again each time would take longer than to look up all other words.

use std::cell::RefCell;
use std::collections::HashMap;

/// Terms are remembered up to so many; there are fewer stop words than that.
const MAX_TERMS: usize = 1_000;

/// Frequencies of some terms among living documents.
#[derive(Default)]
pub(super) struct Frequencies {
    of_term: RefCell<HashMap<Box<str>, usize>>,
}

impl Frequencies {
    /// What is remembered of a term, else what `count` says.
    pub(super) fn get(&self, term: &str, count: impl FnOnce() -> usize) -> usize {
        if let Some(&known) = self.of_term.borrow().get(term) {
            return known;
        }
        let frequency = count();
        let mut of_term = self.of_term.borrow_mut();
        if of_term.len() < MAX_TERMS {
            of_term.insert(term.into(), frequency);
        }
        frequency
    }

    /// Whether a term is remembered, so that a document that has it must be counted.
    pub(super) fn knows(&self, term: &str) -> bool {
        self.of_term.borrow().contains_key(term)
    }

    /// One document more has these terms, each named once.
    pub(super) fn add<'a>(&mut self, terms: impl IntoIterator<Item = &'a str>) {
        let of_term = self.of_term.get_mut();
        for term in terms {
            if let Some(frequency) = of_term.get_mut(term) {
                *frequency += 1;
            }
        }
    }

    /// A document is gone, and with it the text that would say which terms it had.
    pub(super) fn forget(&mut self) {
        self.of_term.get_mut().clear();
    }
}
