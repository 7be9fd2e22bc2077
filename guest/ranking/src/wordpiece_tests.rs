//! Pieces are those of the tokenizer that the table was fitted with.

use super::*;
use proptest::prelude::*;

/// Numbers in the vocabulary from which the packed one was made: 998 rows fewer come before all but the unknown piece.
fn original(piece: u16) -> u32 {
    match piece {
        UNKNOWN => 100,
        _ => u32::from(piece) + 998,
    }
}

fn ids(text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    pieces(text, |piece| ids.push(original(piece)));
    ids
}

fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    pieces(text, |piece| names.push(name(piece)));
    names
}

#[test]
fn pieces_are_those_of_the_reference() {
    for (text, expected) in [
        (
            "the StarcallOS demo is on June 20",
            &[1996, 2732, 9289, 10483, 9703, 2003, 2006, 2238, 2322][..],
        ),
        ("I prefer dark mode", &[1045, 9544, 2601, 5549]),
        (
            "Caroline: I went to a LGBTQ support group yesterday and it was so powerful.",
            &[
                7981, 1024, 1045, 2253, 2000, 1037, 12010, 4160, 2490, 2177, 7483, 1998, 2009,
                2001, 2061, 3928, 1012,
            ],
        ),
        (
            "format commit messages in imperative mood",
            &[4289, 10797, 7696, 1999, 23934, 6888],
        ),
        (
            "naïve café – 東京 😀",
            &[15743, 7668, 1516, 1879, 1755, 100],
        ),
        ("", &[]),
        ("when is the demo?", &[2043, 2003, 1996, 9703, 1029]),
    ] {
        assert_eq!(ids(text), expected, "{text:?}");
    }
}

#[test]
fn every_piece_is_found_where_it_was_put() {
    for piece in 1..COUNT as u16 {
        let mut hash = 0x811c_9dc5 ^ u32::from(continues(piece));
        for &byte in letters(piece) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        assert!(letters(piece).len() <= MAX_PIECE_BYTES, "{}", name(piece));
        let found = lookup(hash, continues(piece), letters(piece));
        assert_eq!(found, Some(piece), "{}", name(piece));
    }
}

#[test]
fn a_word_without_pieces_is_unknown_as_a_whole() {
    assert_eq!(names("a😀b"), ["[UNK]"]);
    assert_eq!(names(&"x".repeat(MAX_WORD_CHARS + 1)), ["[UNK]"]);
    assert_ne!(names(&"x".repeat(MAX_WORD_CHARS)), ["[UNK]"]);
}

#[test]
fn what_is_invisible_does_not_count() {
    assert_eq!(names("de\u{200b}mo\u{0}"), ["demo"]);
    assert_eq!(names("de\tmo\r\n"), names("de mo"));
    assert_eq!(names("e\u{301}te\u{301}"), names("été"));
}

#[test]
fn a_whole_piece_is_a_word_that_the_table_knows() {
    assert!(is_piece("garden"));
    for word in ["gardenn", "", "##s", "[UNK]x"] {
        assert!(!is_piece(word), "{word}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_or_has_more_pieces_than_bytes(text in any::<String>()) {
        // Some characters decompose into several that are words of their own.
        prop_assert!(ids(&text).len() <= 4 * text.len());
    }
}
