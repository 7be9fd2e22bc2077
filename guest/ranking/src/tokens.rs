//! Text to terms.
//!
//! A text is taken apart in four steps, the same for documents and queries:
//!
//! 1. *Normalise*: compatibility forms become plain ones (NFKD), combining marks fall off Latin, Greek and Cyrillic
//!    letters only, and the rest is composed again (NFC), so `café` is `cafe` while `が` is not `か`.
//! 2. *Cut at white space* into chunks. A chunk that is held together by joiners (`foo@bar.com`, `a/b/c`, `C++`) is a
//!    term as a whole, besides its parts.
//! 3. *Cut chunks into words* by Unicode's word boundaries. Scripts that put no spaces between words (Han, kana, Hangul
//!    and those of South-East Asia) give overlapping pairs of characters instead. An identifier (`getUserName`,
//!    `snake_case`, `v1.2.3`) is a term as a whole, besides its parts.
//! 4. *Fold* case; words of ASCII letters are stemmed (English).
//!
//! There is no query syntax, so no text is a syntax error, and none panics.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

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

/// A chunk or word that is longer than this many bytes is no identifier that anybody types; only its parts are terms.
const MAX_WHOLE_BYTES: usize = 96;

/// The longest English word that is worth stemming. Longer runs of letters are data (hashes, keys) and kept as is.
const MAX_STEMMED_BYTES: usize = 40;

/// Characters that hold an identifier, address, path or version together.
const JOINERS: &str = "._-/@:+#&~=%?\\";

/// Words whose term is remembered. A person's vocabulary, in several languages; some 4 MB at most.
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
        let mut found: Vec<(String, Class)> = Vec::new();
        let splitter = Splitter {
            analyzer: self,
            unigrams: false,
        };
        splitter.split(text, &mut |term, class| {
            if !found.iter().any(|(known, _)| known == term) {
                found.push((term.to_owned(), class));
            }
        });
        let only_stop_words = found.iter().all(|(_, class)| *class == Class::Stop);
        found
            .into_iter()
            .filter(|(_, class)| only_stop_words || *class != Class::Stop)
            .map(|(term, _)| term)
            .collect()
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
        if words.len() < MAX_KNOWN_WORDS {
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

/// Takes one text apart.
struct Splitter<'a> {
    analyzer: &'a Analyzer,
    /// Whether the single characters of a run are terms too: yes for documents, so that a query of one character finds
    /// them; no for queries, or 東京 would find everything with a 京 in it.
    unigrams: bool,
}

impl Splitter<'_> {
    fn split(&self, text: &str, emit: &mut impl FnMut(&str, Class)) {
        let normal = normalise(text);
        for chunk in normal.split_whitespace() {
            if let Some(word) = plain_word(chunk) {
                self.part(word, emit);
                continue;
            }
            let whole = whole_chunk(chunk);
            if let Some(whole) = whole {
                emit(&fold(whole), Class::Extra);
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
    fn pairs(&self, run: &str, emit: &mut impl FnMut(&str, Class)) {
        let run = fold(run);
        let starts: Vec<usize> = run
            .char_indices()
            .map(|(start, _)| start)
            .chain([run.len()])
            .collect();
        let alone = starts.len() == 2;
        if self.unigrams || alone {
            for bounds in starts.windows(2) {
                emit(
                    &run[bounds[0]..bounds[1]],
                    if alone { Class::Content } else { Class::Extra },
                );
            }
        }
        for bounds in starts.windows(3) {
            emit(&run[bounds[0]..bounds[2]], Class::Content);
        }
    }

    /// A segment between word boundaries: a word, an identifier, a pictograph, or something that is no term.
    fn word(&self, segment: &str, chunk: Option<&str>, emit: &mut impl FnMut(&str, Class)) {
        if !segment.contains(char::is_alphanumeric) {
            if segment.contains(is_pictograph) {
                emit(segment, Class::Content);
            }
            return;
        }
        let parts = parts(segment);
        if parts.len() > 1 && segment.len() <= MAX_WHOLE_BYTES && chunk != Some(segment) {
            emit(&self.analyzer.stem(&fold(segment)), Class::Extra);
        }
        for part in parts {
            self.part(part, emit);
        }
    }

    /// A word that has no parts.
    fn part(&self, part: &str, emit: &mut impl FnMut(&str, Class)) {
        let (term, class) = self.analyzer.word(&fold(part));
        emit(&term, class);
    }
}

/// NFKD, without the marks that are mere accents, composed again.
fn normalise(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut base = ' ';
    text.nfkd()
        .filter(|&character| {
            if is_combining_mark(character) {
                return !has_strippable_accents(base);
            }
            base = character;
            // A soft hyphen is invisible, and inside of words.
            character != '\u{ad}'
        })
        .nfc()
        .collect()
}

/// Letters of the scripts in which people leave accents out when they type.
fn has_strippable_accents(base: char) -> bool {
    base.is_ascii_alphabetic()
        || matches!(base, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

/// The word in a chunk that is one lower-case ASCII word or number in punctuation, as most are: what the long way
/// round would find as well, at several times the cost.
fn plain_word(chunk: &str) -> Option<&str> {
    let word = chunk.trim_matches(|character: char| character.is_ascii_punctuation());
    let is_plain = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (!word.is_empty() && is_plain && !chunk.contains(['+', '#'])).then_some(word)
}

/// Lower case, and one spelling for letters that no decomposition covers. Apostrophes go: `don't` is `dont`, `Ann's`
/// is `ann`.
fn fold(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    {
        return text.into();
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            '\'' | '\u{2019}' | '\u{2bc}' => folded.push('\''),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            other => folded.push(other),
        }
    }
    if let Some(stripped) = folded
        .strip_suffix("'s")
        .filter(|stripped| stripped.contains(char::is_alphanumeric))
    {
        folded.truncate(stripped.len());
    }
    folded.retain(|character| character != '\'');
    folded.into()
}

/// The chunk without surrounding punctuation, if it is an identifier, address or path that words would tear apart.
fn whole_chunk(chunk: &str) -> Option<&str> {
    let whole = chunk
        .trim_start_matches(|character: char| !character.is_alphanumeric())
        .trim_end_matches(|character: char| {
            !character.is_alphanumeric() && !matches!(character, '+' | '#')
        });
    let joined = whole.contains(|character: char| JOINERS.contains(character));
    let clean = whole.chars().all(|character| {
        character.is_alphanumeric() && !is_unspaced(character) || JOINERS.contains(character)
    });
    (joined && clean && whole.len() <= MAX_WHOLE_BYTES).then_some(whole)
}

/// Cuts a chunk where it changes between scripts with and without spaces; true marks the latter.
fn runs(chunk: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = chunk;
    std::iter::from_fn(move || {
        let unspaced = is_unspaced(rest.chars().next()?);
        let end = rest
            .find(|character| is_unspaced(character) != unspaced)
            .unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some((run, unspaced))
    })
}

/// Han, kana and Hangul, and the scripts of South-East Asia.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Myanmar
        | '\u{1100}'..='\u{11ff}'   // Hangul jamo
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3005}'..='\u{3007}'   // iteration mark, zero
        | '\u{3041}'..='\u{309f}'   // Hiragana
        | '\u{30a1}'..='\u{30fa}'   // Katakana
        | '\u{30fc}'..='\u{30ff}'   // Katakana length and iteration marks
        | '\u{3131}'..='\u{318e}'   // Hangul compatibility jamo
        | '\u{3400}'..='\u{4dbf}'   // Han extension A
        | '\u{4e00}'..='\u{9fff}'   // Han
        | '\u{ac00}'..='\u{d7a3}'   // Hangul syllables
        | '\u{f900}'..='\u{faff}'   // Han compatibility
        | '\u{20000}'..='\u{323af}' // Han extensions B to H
    )
}

fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}')
}

/// Cuts an identifier at what is no letter or digit, and where its case changes: `getUserName`, `HTTPServer`.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let pieces = word.split(|character: char| !is_word_character(character));
    for piece in pieces.filter(|piece| piece.contains(char::is_alphanumeric)) {
        let characters: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for (at, pair) in characters.windows(2).enumerate() {
            let ((_, before), (here, now)) = (pair[0], pair[1]);
            let next_is_lower = characters
                .get(at + 2)
                .is_some_and(|(_, next)| next.is_lowercase());
            let hump = before.is_lowercase() && now.is_uppercase();
            let acronym_ends = before.is_uppercase() && now.is_uppercase() && next_is_lower;
            if hump || acronym_ends {
                parts.push(&piece[start..here]);
                start = here;
            }
        }
        parts.push(&piece[start..]);
    }
    parts
}

/// Letters, digits, the marks that belong to them, and the apostrophe inside of a word.
fn is_word_character(character: char) -> bool {
    character.is_alphanumeric()
        || is_combining_mark(character)
        || matches!(
            character,
            '\'' | '\u{2019}' | '\u{2bc}' | '\u{200c}' | '\u{200d}'
        )
}

/// English words that say nothing about what a text is about, folded. Sorted: it is searched by bisection.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "both", "but", "by", "can", "cannot", "could", "did",
    "do", "does", "doing", "dont", "down", "during", "each", "few", "for", "from", "further",
    "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
    "im", "in", "into", "is", "it", "its", "ive", "just", "me", "more", "most", "my", "no", "nor",
    "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own",
    "same", "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who",
    "whom", "why", "will", "with", "would", "you", "your", "yours",
];

fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
