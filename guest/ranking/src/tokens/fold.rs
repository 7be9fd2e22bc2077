//! One spelling for what people spell in many ways: case, accents, widths, apostrophes.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// NFKD, without the marks that are mere accents, composed again.
pub(super) fn normalise(text: &str) -> String {
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
pub(super) fn has_strippable_accents(base: char) -> bool {
    base.is_ascii_alphabetic()
        || matches!(base, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

/// Lower case, and one spelling for letters that no decomposition covers. Apostrophes go: `don't` is `dont`, `Ann's`
/// is `ann`.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
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
