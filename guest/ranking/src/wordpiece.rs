//! Words to the pieces that the embedding table has rows for: BERT's uncased WordPiece.
//!
//! Normalisation (control characters out, lower case, accents off, Han characters apart) and the cut at punctuation follow
//! BERT's; then the longest piece that fits is taken again and again. Two simplifications, both without effect on the
//! languages that the table knows: all combining marks count as accents, and punctuation outside of ASCII is what
//! `is_punctuation` lists.
//!
//! The pieces lie in the binary as a hash table that needs no building: `data/README.md` describes it.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The piece for what has no pieces.
pub const UNKNOWN: u16 = 0;

/// A longer word is unknown as a whole, in characters.
const MAX_WORD_CHARS: usize = 100;

/// The longest piece, in bytes. A test holds it.
const MAX_PIECE_BYTES: usize = 18;

static PACKED: &[u8] = include_bytes!("../data/pieces.bin");

const SLOTS: usize = 1 << 16;
const SLOTS_AT: usize = 4;
const ENDS_AT: usize = SLOTS_AT + 2 * SLOTS;
const EMPTY: u16 = u16::MAX;
const CONTINUES: u32 = 1 << 31;

/// How many pieces there are.
pub const COUNT: usize = u32::from_le_bytes([PACKED[0], PACKED[1], PACKED[2], PACKED[3]]) as usize;

const LETTERS_AT: usize = ENDS_AT + 4 * COUNT;

/// The pieces of a text, in order.
///
/// ```
/// let mut pieces = Vec::new();
/// ranking::wordpiece::pieces("StarcallOS", |piece| {
///     pieces.push(ranking::wordpiece::name(piece));
/// });
/// assert_eq!(pieces, ["star", "##cal", "##los"]);
/// ```
pub fn pieces(text: &str, mut emit: impl FnMut(u16)) {
    let mut word = String::new();
    let mut take = |character: char| match kind(character) {
        Kind::Space => flush(&mut word, &mut emit),
        Kind::Alone => {
            flush(&mut word, &mut emit);
            word.push(character);
            flush(&mut word, &mut emit);
        }
        Kind::Letter => word.push(character),
    };
    if text.is_ascii() {
        text.chars()
            .filter(|&character| !is_ignored(character))
            .for_each(|character| take(character.to_ascii_lowercase()));
    } else {
        text.chars()
            .filter(|&character| !is_ignored(character))
            .nfd()
            .filter(|&character| !is_combining_mark(character))
            .flat_map(char::to_lowercase)
            .for_each(&mut take);
    }
    take(' ');
}

/// A piece as vocabularies write it, `##` in front of one that continues a word; empty for a number that is none.
pub fn name(piece: u16) -> String {
    let letters = String::from_utf8_lossy(letters(piece));
    if continues(piece) {
        format!("##{letters}")
    } else {
        letters.into_owned()
    }
}

enum Kind {
    Space,
    /// A word of its own: punctuation and Han characters.
    Alone,
    Letter,
}

fn kind(character: char) -> Kind {
    if character.is_ascii_alphanumeric() {
        Kind::Letter
    } else if character.is_whitespace() {
        Kind::Space
    } else if is_punctuation(character) || is_han(character) {
        Kind::Alone
    } else {
        Kind::Letter
    }
}

/// Controls, what has no width, and the mark of undecodable bytes. White space is none of them.
fn is_ignored(character: char) -> bool {
    (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
        || matches!(character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            | '\u{fffd}')
}

/// All of ASCII's, and the common ones of other scripts.
fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character,
            '¡' | '§' | '«' | '¶' | '·' | '»' | '¿'
            | '\u{589}' | '\u{5be}' | '\u{60c}' | '\u{61b}' | '\u{61f}' | '\u{6d4}' | '\u{964}' | '\u{965}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}'
            | '\u{2053}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}' | '\u{3030}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}'
            | '\u{fe30}'..='\u{fe52}' | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}'
            | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}'
            | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

fn is_han(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}

/// The longest pieces of a word, from its beginning; one unknown when some of it has none.
fn flush(word: &mut String, emit: &mut impl FnMut(u16)) {
    if word.is_empty() {
        return;
    }
    // A piece is a byte at least, so this is room enough for the longest word that is taken.
    let mut found = [UNKNOWN; MAX_WORD_CHARS * 4];
    let mut count = 0;
    let mut rest = word.as_bytes();
    if word.len() > MAX_WORD_CHARS && word.chars().count() > MAX_WORD_CHARS {
        rest = &[];
    }
    while !rest.is_empty() {
        let Some((piece, length)) = longest(count > 0, rest) else {
            count = 0;
            break;
        };
        found[count] = piece;
        count += 1;
        rest = &rest[length..];
    }
    if count == 0 {
        emit(UNKNOWN);
    }
    found[..count].iter().for_each(|&piece| emit(piece));
    word.clear();
}

/// The longest piece at the beginning of some bytes, and its length.
fn longest(continues: bool, bytes: &[u8]) -> Option<(u16, usize)> {
    let mut hashes = [0; MAX_PIECE_BYTES];
    let longest = bytes.len().min(MAX_PIECE_BYTES);
    let mut hash = 0x811c_9dc5 ^ u32::from(continues);
    for (at, &byte) in bytes[..longest].iter().enumerate() {
        // FNV-1a: the hash of each beginning on the way to the next.
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        hashes[at] = hash;
    }
    (1..=longest).rev().find_map(|length| {
        lookup(hashes[length - 1], continues, &bytes[..length]).map(|piece| (piece, length))
    })
}

fn lookup(hash: u32, continued: bool, bytes: &[u8]) -> Option<u16> {
    let mut slot = ((hash ^ (hash >> 16)) & 0xffff) as usize;
    loop {
        let at = SLOTS_AT + 2 * slot;
        let piece = u16::from_le_bytes([PACKED[at], PACKED[at + 1]]);
        if piece == EMPTY {
            return None;
        }
        if letters(piece) == bytes && continues(piece) == continued {
            return Some(piece);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn letters(piece: u16) -> &'static [u8] {
    let piece = usize::from(piece);
    let end = |at: usize| (packed_end(at) & !CONTINUES) as usize;
    let start = if piece == 0 { 0 } else { end(piece - 1) };
    let end = if piece < COUNT { end(piece) } else { start };
    PACKED
        .get(LETTERS_AT + start..LETTERS_AT + end)
        .unwrap_or_default()
}

fn continues(piece: u16) -> bool {
    packed_end(piece.into()) & CONTINUES != 0
}

fn packed_end(piece: usize) -> u32 {
    let at = ENDS_AT + 4 * piece;
    let mut bytes = [0; 4];
    if piece < COUNT {
        bytes.copy_from_slice(&PACKED[at..at + 4]);
    }
    u32::from_le_bytes(bytes)
}

/// Whether a word in lower case is a piece by itself.
pub fn is_piece(word: &str) -> bool {
    longest(false, word.as_bytes()).is_some_and(|(_, length)| length == word.len())
}

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
