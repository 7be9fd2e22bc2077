//! Text to terms.
//!
//! A text is taken apart in four steps, the same for documents and queries:
//!
//! 1. *Normalise*: compatibility forms become plain ones (NFKD), combining marks fall off Latin, Greek and Cyrillic
//!    letters only, and the rest is composed again (NFC), so `café` is `cafe` while `が` is not `か`.
//! 2. *Cut at white space* into chunks. A chunk that is held together by joiners (`foo@bar.com`, `a/b/c`, `C++`, `.NET`)
//!    is a term as a whole, besides its parts.
//! 3. *Cut chunks into words* by Unicode's word boundaries. Scripts that put no spaces between words (Han, kana, Hangul
//!    and those of South-East Asia) give overlapping pairs of characters instead. An identifier (`getUserName`,
//!    `snake_case`, `v1.2.3`) is a term as a whole, besides its parts.
//! 4. *Fold* case; words of ASCII letters are stemmed (English).
//!
//! What step 4 has before it stems is a *word*, what it has after that a *term*: `meetings` and `meet`. A word has one
//! term, whatever surrounds it.
//!
//! There is no query syntax, so no text is a syntax error, and none panics. Time grows with the length of the text and no
//! faster.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

mod fold;
mod identifiers;
mod scripts;
mod stop_words;

use fold::{fold, normalise};
use identifiers::{MAX_WHOLE_BYTES, parts, plain_word, whole_chunk};
use scripts::{is_pictograph, runs};

pub(crate) use stop_words::is_stop_word;

/// What a term counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A word, or a pair of characters: counts towards the length of its document.
    Content,
    /// An English stop word. Indexed, so that a query of nothing else still finds something; asked for only then.
    Stop,
    /// A second view of what other terms cover already (a whole identifier, a lone character of a run). Matches, but
    /// does not make its document longer.
    Extra,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    /// As written, folded.
    pub word: String,
    /// Its term.
    pub term: String,
    /// What it counts for.
    pub class: Class,
}

/// The longest English word that is worth stemming. Longer runs of letters are data (hashes, keys) and kept as is.
const MAX_STEMMED_BYTES: usize = 40;

/// Words whose term is remembered. A person's vocabulary, in several languages; some 10 MB at most, as longer words than
/// [`MAX_STEMMED_BYTES`] are not.
const MAX_KNOWN_WORDS: usize = 50_000;

/// Takes texts apart, and remembers what became of the words it has seen: texts repeat them, and finding an English stem
/// takes far longer than looking one up.
pub struct Analyzer {
    stemmer: Stemmer,
    /// Folded words to their terms.
    words: RefCell<HashMap<Box<str>, Term>>,
}

/// What became of a word. Shared, so that it can be handed out without a copy once the table is let go.
type Term = (Rc<str>, Class);

impl Default for Analyzer {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            words: RefCell::default(),
        }
    }
}

impl Analyzer {
    /// The terms of a document, in order of appearance and with repetitions.
    pub fn document_terms(&self, text: &str, mut emit: impl FnMut(&str, Class)) {
        self.document_words(text, |_, term, class| emit(term, class));
    }

    /// The words of a document with their terms, in order of appearance and with repetitions.
    pub fn document_words(&self, text: &str, mut emit: impl FnMut(&str, &str, Class)) {
        let splitter = Splitter {
            analyzer: self,
            unigrams: true,
        };
        splitter.split(text, &mut emit);
    }

    /// The distinct terms to look for, in order of appearance.
    ///
    /// Stop words are left out unless nothing else is left. A run of characters without spaces is asked for by its
    /// pairs; by its only character when it is that short.
    ///
    /// ```
    /// use ranking::tokens::Analyzer;
    ///
    /// let analyzer = Analyzer::default();
    /// assert_eq!(analyzer.query_terms("Where are the meetings?"), ["meet"]);
    /// assert_eq!(analyzer.query_terms("who is it"), ["who", "is", "it"]);
    /// assert_eq!(analyzer.query_terms("東京都"), ["東京", "京都"]);
    /// ```
    pub fn query_terms(&self, text: &str) -> Vec<String> {
        let mut words = self.query_words(text);
        let only_stop_words = words.iter().all(|word| word.class == Class::Stop);
        words.retain(|word| only_stop_words || word.class != Class::Stop);
        words.into_iter().map(|word| word.term).collect()
    }

    /// The words to look for, one for each distinct term, in order of appearance, stop words included.
    pub fn query_words(&self, text: &str) -> Vec<QueryWord> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let splitter = Splitter {
            analyzer: self,
            unigrams: false,
        };
        splitter.split(text, &mut |word, term, class| {
            if seen.insert(term.to_owned()) {
                found.push(QueryWord {
                    word: word.to_owned(),
                    term: term.to_owned(),
                    class,
                });
            }
        });
        found
    }

    /// The term of a folded word. Never calls out, for the table of known words is borrowed here.
    fn word(&self, folded: &str) -> Term {
        let mut words = self.words.borrow_mut();
        if let Some(known) = words.get(folded) {
            return known.clone();
        }
        let term: Term = if is_stop_word(folded) {
            (folded.into(), Class::Stop)
        } else {
            (self.stem(folded).into(), Class::Content)
        };
        if words.len() < MAX_KNOWN_WORDS && folded.len() <= MAX_STEMMED_BYTES {
            words.insert(folded.into(), term.clone());
        }
        term
    }

    /// The stem of an English word; anything else as it is.
    fn stem<'a>(&self, folded: &'a str) -> Cow<'a, str> {
        if folded.len() <= MAX_STEMMED_BYTES && folded.bytes().all(|byte| byte.is_ascii_lowercase())
        {
            self.stemmer.stem(folded)
        } else {
            folded.into()
        }
    }
}

/// Whether a word is a pair of characters (or one alone) of a script without spaces.
pub(crate) fn is_pair(word: &str) -> bool {
    word.starts_with(scripts::is_unspaced)
}

/// Takes one text apart.
struct Splitter<'a> {
    analyzer: &'a Analyzer,
    /// Whether the single characters of a run are terms too: yes for documents, so that a query of one character finds
    /// them; no for queries, or 東京 would find everything with a 京 in it.
    unigrams: bool,
}

impl Splitter<'_> {
    fn split(&self, text: &str, emit: &mut impl FnMut(&str, &str, Class)) {
        let normal = normalise(text);
        for chunk in normal.split_whitespace() {
            if let Some(word) = plain_word(chunk) {
                self.part(word, emit);
                continue;
            }
            let whole = whole_chunk(chunk);
            if let Some(whole) = whole {
                let whole = fold(whole);
                emit(&whole, &whole, Class::Extra);
            }
            for (run, unspaced) in runs(chunk) {
                if unspaced {
                    self.pairs(run, emit);
                } else {
                    for word in run.split_word_bounds() {
                        self.word(word, whole, emit);
                    }
                }
            }
        }
    }

    /// Overlapping pairs of characters of a run in a script without spaces.
    fn pairs(&self, run: &str, emit: &mut impl FnMut(&str, &str, Class)) {
        let run = fold(run);
        let starts: Vec<usize> = run
            .char_indices()
            .map(|(start, _)| start)
            .chain([run.len()])
            .collect();
        let alone = starts.len() == 2;
        if self.unigrams || alone {
            let class = if alone { Class::Content } else { Class::Extra };
            for bounds in starts.windows(2) {
                let character = &run[bounds[0]..bounds[1]];
                emit(character, character, class);
            }
        }
        for bounds in starts.windows(3) {
            let pair = &run[bounds[0]..bounds[2]];
            emit(pair, pair, Class::Content);
        }
    }

    /// A segment between word boundaries: a word, an identifier, a pictograph, or something that is no term.
    fn word(&self, segment: &str, chunk: Option<&str>, emit: &mut impl FnMut(&str, &str, Class)) {
        if !segment.contains(char::is_alphanumeric) {
            if segment.contains(is_pictograph) {
                emit(segment, segment, Class::Content);
            }
            return;
        }
        let parts = parts(segment);
        if parts.len() > 1 && segment.len() <= MAX_WHOLE_BYTES && chunk != Some(segment) {
            let whole = fold(segment);
            let (term, _) = self.analyzer.word(&whole);
            emit(&whole, &term, Class::Extra);
        }
        for part in parts {
            self.part(part, emit);
        }
    }

    /// A word that has no parts.
    fn part(&self, part: &str, emit: &mut impl FnMut(&str, &str, Class)) {
        let word = fold(part);
        let (term, class) = self.analyzer.word(&word);
        emit(&word, &term, class);
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
