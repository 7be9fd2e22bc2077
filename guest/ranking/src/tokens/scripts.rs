//! Scripts that put no spaces between words, and pictures.

/// Cuts a chunk where it changes between scripts with and without spaces; true marks the latter.
pub(super) fn runs(chunk: &str) -> impl Iterator<Item = (&str, bool)> {
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
pub(super) fn is_unspaced(character: char) -> bool {
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

pub(super) fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}')
}
