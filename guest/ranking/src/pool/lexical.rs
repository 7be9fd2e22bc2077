//! Which documents say the query's words, or words that are like them.

use super::Pool;
use super::signals::more;
use crate::bm25::{Saturation, idf};
use crate::dates;
use crate::recipe::Recipe;
use crate::tokens::{Class, QueryWord};

/// Coverage is judged as in a store of so many documents at least: in a store of two, a word that nobody wrote is hardly
/// rarer than one that stands in both, and one such word in the query would count for too much.
const MIN_DOCUMENTS_FOR_COVERAGE: usize = 100;

/// Two of three pairs of characters in a script without spaces straddle words or are particles: one that nobody wrote
/// counts for a third of a word.
const UNSEEN_PAIR: f32 = 1.0 / 3.0;

/// So many words of the store are taken for like a word: those with the highest likenesses. More cost time; half
/// as many moved recall@10 by .003 at most, up on some conversations of LoCoMo and down on others.
const MAX_ALIKE: usize = 16;

/// So many words of a query are matched softly, the rarest: each is compared with every word of the store.
const MAX_SOFT_WORDS: usize = 12;

/// What the words of a query are worth to each slot.
pub(super) struct Lexical {
    /// BM25, and what likenesses add.
    pub(super) scores: Vec<f32>,
    /// How much of the query each slot says, of `asked`. Only living slots say any.
    pub(super) coverage: Vec<f32>,
    /// How much the query asks for.
    pub(super) asked: f32,
    /// The idf of each word of the query.
    pub(super) idf: Vec<f32>,
}

/// Room for one term: how often it stands in each slot, and where it does.
struct Counts {
    of_slot: Vec<u32>,
    touched: Vec<u32>,
}

impl Pool {
    pub(super) fn lexical(
        &self,
        words: &[QueryWord],
        recipe: &Recipe,
        names_a_day: bool,
    ) -> Lexical {
        let slots = self.columns.len();
        let mut found = Lexical {
            scores: vec![0.0; slots],
            coverage: vec![0.0; slots],
            asked: 0.0,
            idf: Vec::with_capacity(words.len()),
        };
        let mut counts = Counts {
            of_slot: vec![0; slots],
            touched: Vec::new(),
        };
        let mut best = Vec::new();
        let only_stop_words = words.iter().all(|word| word.class == Class::Stop);
        let mean_length = self.total_length as f32 / (self.living as f32).max(1.0);
        let saturation = Saturation::new(recipe.bm25, mean_length);
        let covered = self.living.max(MIN_DOCUMENTS_FOR_COVERAGE);
        let softened = if recipe.soft == 0.0 {
            Vec::new()
        } else {
            self.softened(words)
        };
        for word in words {
            if word.class == Class::Stop && !only_stop_words {
                let frequency = self.common_frequency(&word.term);
                found.idf.push(idf(self.living, frequency));
                continue;
            }
            self.count(&word.term, &mut counts);
            let frequency = counts.touched.len();
            let weight = idf(self.living, frequency);
            let cover = idf(covered, frequency);
            found.idf.push(weight);
            found.asked += cover * share(word, frequency, names_a_day);
            for &slot in &counts.touched {
                let part =
                    saturation.part(counts.of_slot[slot as usize], self.columns.length(slot));
                found.scores[slot as usize] += weight * part;
                found.coverage[slot as usize] += cover * part;
            }
            if softened.contains(&word.term.as_str()) {
                best.resize(slots, 0.0);
                self.add_likenesses(
                    word,
                    recipe.soft * weight,
                    &counts,
                    &saturation,
                    &mut best,
                    &mut found.scores,
                );
            }
            counts.clear();
        }
        found
    }

    /// The terms to be matched softly.
    fn softened<'a>(&self, words: &'a [QueryWord]) -> Vec<&'a str> {
        let mut terms: Vec<&str> = words
            .iter()
            .filter(|word| word.class == Class::Content)
            .map(|word| word.term.as_str())
            .collect();
        if terms.len() > MAX_SOFT_WORDS {
            // Stable, so that of equals the first in the query is kept.
            terms.sort_by_cached_key(|term| self.frequency(term));
            terms.truncate(MAX_SOFT_WORDS);
        }
        terms
    }

    /// Counts a term in each living slot.
    fn count(&self, term: &str, counts: &mut Counts) {
        self.visit_term(term, |slot, count| {
            let cell = &mut counts.of_slot[slot as usize];
            if *cell == 0 {
                counts.touched.push(slot);
            }
            *cell = cell.saturating_add(count);
        });
    }

    /// The same as [`Self::frequency`], of a term that many documents have and many queries.
    fn common_frequency(&self, term: &str) -> usize {
        self.frequencies.get(term, || self.frequency(term))
    }

    /// How many living documents have a term.
    pub(super) fn frequency(&self, term: &str) -> usize {
        let base = self.base.of_term(term);
        let tail = self.tail.of_term(term);
        // One word in one half stands in a document once; several may share one.
        if base.len() + tail.len() == 1 {
            let mut count = 0;
            self.visit_term(term, |_, _| count += 1);
            return count;
        }
        let mut slots = Vec::new();
        self.visit_term(term, |slot, _| slots.push(slot));
        slots.sort_unstable();
        slots.dedup();
        slots.len()
    }

    fn visit_term(&self, term: &str, mut visit: impl FnMut(u32, u32)) {
        for word in self.base.of_term(term) {
            self.visit_word(word, &mut visit);
        }
        let base = self.base.word_count();
        for &word in self.tail.of_term(term) {
            self.visit_word(base + word as usize, &mut visit);
        }
    }

    /// Each living slot that a word stands in. Words of the base come first, those of the tail are numbered after them.
    pub(super) fn visit_word(&self, word: usize, mut visit: impl FnMut(u32, u32)) {
        let all_live = self.living == self.columns.len();
        let mut living = |slot: u32, count: u32| {
            if all_live || self.columns.is_alive(slot) {
                visit(slot, count);
            }
        };
        match word.checked_sub(self.base.word_count()) {
            None => self.base.postings(word, living),
            Some(word) => {
                for posting in &self.tail.postings[word] {
                    living(posting.slot, posting.count);
                }
            }
        }
    }

    /// Adds what a document has instead of a word that it lacks: of the words that are like it, the one that gives most.
    fn add_likenesses(
        &self,
        word: &QueryWord,
        weight: f32,
        exact: &Counts,
        saturation: &Saturation,
        best: &mut [f32],
        scores: &mut [f32],
    ) {
        let mut touched = Vec::new();
        let mut kept = 0;
        let mut last = 0.0;
        let alike = self.remembered.alike(&word.word, &self.base, &self.tail);
        let same = self.base.of_term(&word.term);
        let same_in_tail = self.tail.of_term(&word.term);
        let is_same = |id: usize| match id.checked_sub(self.base.word_count()) {
            None => same.contains(&id),
            Some(id) => same_in_tail.contains(&(id as u32)),
        };
        for &(other, likeness) in &alike.list {
            let other = other as usize;
            if is_same(other) {
                continue;
            }
            // A word that is in both halves has one likeness and two numbers, so values are counted and not words.
            if kept >= MAX_ALIKE && likeness < last {
                break;
            }
            let mut occurs = false;
            self.visit_word(other, |slot, count| {
                occurs = true;
                let cell = &mut best[slot as usize];
                if *cell == 0.0 {
                    touched.push(slot);
                }
                *cell = more(
                    *cell,
                    likeness * saturation.part(count, self.columns.length(slot)),
                );
            });
            // Nor do words count that only the dead have, or the past would show.
            if occurs && (kept == 0 || likeness < last) {
                kept += 1;
                last = likeness;
            }
        }
        for slot in touched {
            let gained = std::mem::take(&mut best[slot as usize]);
            if exact.of_slot[slot as usize] == 0 {
                scores[slot as usize] += weight * gained;
            }
        }
    }
}

impl Counts {
    fn clear(&mut self) {
        for slot in self.touched.drain(..) {
            self.of_slot[slot as usize] = 0;
        }
    }
}

/// How much of a word counts as asked for. A second view of other words only does when somebody wrote it, nor does a time
/// that is looked for among the days of memories: few people write dates out.
fn share(word: &QueryWord, frequency: usize, names_a_day: bool) -> f32 {
    if frequency > 0 {
        return 1.0;
    }
    match word.class {
        Class::Extra => 0.0,
        _ if names_a_day && dates::is_date_word(&word.word) => 0.0,
        _ if crate::tokens::is_pair(&word.word) => UNSEEN_PAIR,
        _ => 1.0,
    }
}
