//! Words of a query that nobody wrote, and the words that were meant.
//!
//! A word is corrected when it is of four letters or more, when neither it nor another form of it stands in the store, and
//! when it is no whole piece of the embedding's vocabulary: a word that English knows is more likely right than mistyped.
//! It becomes the nearest word of the store, one edit away, or two from eight letters on. Edits are those of Damerau: a
//! letter more, less, or another, or two neighbours that changed places.

use super::Pool;
use crate::tokens::{Class, QueryWord};
use crate::wordpiece;

/// Shorter words have too many neighbours.
const MIN_LETTERS: usize = 4;

/// From here on two edits are forgiven.
const LETTERS_FOR_TWO: usize = 8;

/// Shorter words of the store are not what a longer one was meant to be.
const MIN_CANDIDATE_LETTERS: usize = 3;

/// Longer words are data, and comparing them takes the square of their length.
const MAX_LETTERS: usize = 40;

/// So many words of a query are looked up, the first ones: each is compared with every word of the store. Who asks a
/// question mistypes fewer, and a page that was pasted in has words enough that are right.
const MAX_LOOKED_UP: usize = 8;

impl Pool {
    /// Replaces mistyped words. Returns each with what it was taken for.
    pub(super) fn correct(&self, words: &mut [QueryWord]) -> Vec<(String, String)> {
        let unknown = words
            .iter_mut()
            .filter_map(|word| Some((self.unknown(word)?, word)));
        let mut corrections = Vec::new();
        for (typed, word) in unknown.take(MAX_LOOKED_UP) {
            if let Some(meant) = self.nearest(&typed)
                && let Some(known) = self.analyzer.query_words(&meant).pop()
            {
                word.term = known.term;
                let typed = std::mem::replace(&mut word.word, meant.clone());
                corrections.push((typed, meant));
            }
        }
        corrections
    }

    /// A word that may be mistyped.
    fn unknown(&self, word: &QueryWord) -> Option<Typed> {
        let letters: Vec<char> = word.word.chars().collect();
        let plain = word.class == Class::Content
            && letters.iter().all(|letter| letter.is_alphabetic())
            && !crate::tokens::is_pair(&word.word);
        if !plain
            || !(MIN_LETTERS..=MAX_LETTERS).contains(&letters.len())
            || wordpiece::is_piece(&word.word)
            || self.frequency(&word.term) > 0
        {
            return None;
        }
        let allowed = if letters.len() < LETTERS_FOR_TWO {
            1
        } else {
            2
        };
        Some(Typed {
            seen: letters_seen(&word.word),
            letters,
            allowed,
        })
    }

    /// The nearest word; of equals one with the same first letter, then the most frequent, then the first in order.
    fn nearest(&self, typed: &Typed) -> Option<String> {
        let mut best: Option<((usize, bool, usize), String)> = None;
        let base = self.base.word_count();
        for id in 0..base + self.tail.words.len() {
            let other = match id.checked_sub(base) {
                None => self.base.word(id),
                Some(id) => &self.tail.words[id],
            };
            let Some(edits) = typed.distance(other) else {
                continue;
            };
            let same_start = other.starts_with(typed.letters[0]);
            if best
                .as_ref()
                .is_some_and(|(key, _)| (key.0, key.1) < (edits, !same_start))
            {
                continue;
            }
            let frequency = self.word_frequency(other);
            if frequency == 0 || crate::tokens::is_stop_word(other) {
                continue;
            }
            // The smallest key wins, so the frequency counts down.
            let key = (edits, !same_start, usize::MAX - frequency);
            let better = best
                .as_ref()
                .is_none_or(|(old, name)| (&key, other) < (old, name.as_str()));
            if better {
                best = Some((key, other.to_owned()));
            }
        }
        best.map(|(_, word)| word)
    }

    /// How many living documents have exactly this word.
    fn word_frequency(&self, word: &str) -> usize {
        let term = self.analyzer.query_words(word).pop();
        let term = term.as_ref().map_or(word, |word| &word.term);
        let mut count = 0;
        for id in self.base.of_term(term) {
            if self.base.word(id) == word {
                self.visit_word(id, |_, _| count += 1);
            }
        }
        let base = self.base.word_count();
        for &id in self.tail.of_term(term) {
            if &*self.tail.words[id as usize] == word {
                self.visit_word(base + id as usize, |_, _| count += 1);
            }
        }
        count
    }
}

/// A word of a query and what is known of it before it is compared.
struct Typed {
    letters: Vec<char>,
    seen: u32,
    allowed: usize,
}

impl Typed {
    /// The distance to a word, if it is one to be meant and not too far.
    fn distance(&self, other: &str) -> Option<usize> {
        let (letters, allowed) = (&self.letters, self.allowed);
        // Nearly all words fail here, without a look at their characters one by one: a letter is a byte to four, and an
        // edit changes two of the letters that a word has at most.
        if other.len() + allowed < letters.len()
            || other.len() > 4 * (letters.len() + allowed)
            || (letters_seen(other) ^ self.seen).count_ones() as usize > 2 * allowed
        {
            return None;
        }
        let other: Vec<char> = other.chars().collect();
        if other.len() < MIN_CANDIDATE_LETTERS
            || other.len().abs_diff(letters.len()) > allowed
            || !other.iter().all(|letter| letter.is_alphabetic())
        {
            return None;
        }
        distance(letters, &other, allowed)
    }
}

/// Which letters of the Latin alphabet a word has, a bit each. Others have none.
fn letters_seen(word: &str) -> u32 {
    word.bytes()
        .filter(u8::is_ascii_lowercase)
        .fold(0, |seen, letter| seen | 1 << (letter - b'a'))
}

/// Damerau's distance (of optimal string alignment), if it is not above a limit.
fn distance(one: &[char], other: &[char], limit: usize) -> Option<usize> {
    let mut before_last = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, &left) in one.iter().enumerate() {
        let mut row = Vec::with_capacity(other.len() + 1);
        row.push(i + 1);
        for (j, &right) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            let mut edits = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left == other[j - 1] && one[i - 1] == right {
                edits = edits.min(before_last[j - 1] + 1);
            }
            row.push(edits);
        }
        if row.iter().all(|&edits| edits > limit) {
            return None;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&edits| edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(one: &str, other: &str) -> Option<usize> {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        distance(&chars(one), &chars(other), 2)
    }

    #[test]
    fn of_a_page_of_unknown_words_only_some_are_looked_up() {
        let mut pool = Pool::default();
        pool.insert(0, &"kitchengarden".into());
        let page: Vec<String> = ('a'..='z')
            .map(|end| format!("kitchengarde{end}"))
            .collect();
        let mut words = pool.analyzer.query_words(&page.join(" "));
        words.retain(|word| word.word != "kitchengarden");
        assert!(words.len() > 2 * MAX_LOOKED_UP);
        assert_eq!(pool.correct(&mut words).len(), MAX_LOOKED_UP);
    }

    #[test]
    fn a_letter_more_less_other_or_swapped_is_one_edit() {
        assert_eq!(edits("garden", "garden"), Some(0));
        assert_eq!(edits("gardn", "garden"), Some(1));
        assert_eq!(edits("gardden", "garden"), Some(1));
        assert_eq!(edits("gorden", "garden"), Some(1));
        assert_eq!(edits("gadren", "garden"), Some(1));
        assert_eq!(edits("agrdne", "garden"), Some(2));
        assert_eq!(edits("kitchen", "garden"), None);
    }
}
