//! What programmers, addresses and versions are made of: names that are one word to people and several to Unicode.

use unicode_normalization::char::is_combining_mark;

use super::scripts::is_unspaced;

/// A chunk or word that is longer than this many bytes is no identifier that anybody types; only its parts are terms.
pub(super) const MAX_WHOLE_BYTES: usize = 96;

/// Characters that hold an identifier, address, path or version together.
const JOINERS: &str = "._-/@:+#&~=%?\\";

/// The word in a chunk that is one lower-case ASCII word or number in punctuation, as most are: what the long way
/// round would find as well, at several times the cost.
pub(super) fn plain_word(chunk: &str) -> Option<&str> {
    let word = chunk.trim_matches(|character: char| character.is_ascii_punctuation());
    let is_plain = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let dotted = chunk.starts_with('.') || chunk.contains("(.") || chunk.contains("\".");
    (!word.is_empty() && is_plain && !dotted && !chunk.contains(['+', '#'])).then_some(word)
}

/// The chunk without surrounding punctuation, if it is an identifier, address or path that words would tear apart.
pub(super) fn whole_chunk(chunk: &str) -> Option<&str> {
    let bare = chunk.trim_start_matches(|character: char| !character.is_alphanumeric());
    // `.NET` and `.gitignore` begin with what ends a sentence elsewhere: one dot, right before a letter.
    let before = &chunk[..chunk.len() - bare.len()];
    let dotted =
        before.ends_with('.') && !before.ends_with("..") && bare.starts_with(char::is_alphabetic);
    let whole = chunk[before.len() - usize::from(dotted)..].trim_end_matches(|character: char| {
        !character.is_alphanumeric() && !matches!(character, '+' | '#')
    });
    let joined = whole.contains(|character: char| JOINERS.contains(character));
    let clean = whole.chars().all(|character| {
        character.is_alphanumeric() && !is_unspaced(character) || JOINERS.contains(character)
    });
    (joined && clean && whole.len() <= MAX_WHOLE_BYTES).then_some(whole)
}

/// Cuts an identifier at what is no letter or digit, and where its case changes: `getUserName`, `HTTPServer`.
pub(super) fn parts(word: &str) -> Vec<&str> {
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
pub(super) fn is_word_character(character: char) -> bool {
    character.is_alphanumeric()
        || is_combining_mark(character)
        || matches!(
            character,
            '\'' | '\u{2019}' | '\u{2bc}' | '\u{200c}' | '\u{200d}'
        )
}
