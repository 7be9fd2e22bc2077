//! Text made harmless where it is shown: it can't leave its line, and nothing in it is invisible.
//!
//! A memory is kept as it came, and may have come from anywhere. Where it stands among words of ours, its line breaks become
//! a sign (or begin a quoted line), and what a reader does not see, or sees in another order than a program reads it, becomes
//! an escape: `\u{202e}`. So no text forges an entry, moves a terminal's cursor or hides an instruction between two letters.
//! (A text may well spell such an escape out. That forges nothing.)
//!
//! Joiners and variation selectors are part of how Persian, Hindi and many emoji are written, so one that stands where
//! writing has it stays as it is.

use std::iter::Peekable;
use std::str::Chars;

/// Stands where a text breaks its line.
pub const LINE_BREAK: &str = " ⏎ ";

/// What each line of a quoted text begins with.
pub const QUOTE: &str = "> ";

/// A text on one line.
pub fn one_line(text: &str) -> String {
    shown(text, LINE_BREAK)
}

/// A text on lines of its own, each of which says that it is quoted.
pub fn quoted(text: &str) -> String {
    format!("{QUOTE}{}", shown(text, &format!("\n{QUOTE}")))
}

/// The start of a text, on one line; `…` if that is not all.
pub fn title(text: &str, chars: usize) -> String {
    let line = one_line(text.trim());
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Whether a text is on one line and all of it is seen: it is shown as it is.
pub fn is_plain(text: &str) -> bool {
    one_line(text) == text
}

/// Line feed, vertical tab, form feed, carriage return, the file, group and record separators (Python splits lines
/// there), next line, and Unicode's line and paragraph separators: whatever some program takes for a line's end.
pub fn is_line_break(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character has no shape of its own: controls, marks and overrides of direction, zero-width characters, fillers,
/// variation selectors, tags. These are Unicode's default ignorables (UAX #44), its controls and the remaining format
/// characters that draw nothing.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The most bytes that a character takes: on a line, or escaped in JSON.
pub fn shown_bytes(character: char) -> usize {
    const IN_JSON: usize = r"\u0000".len();
    match character {
        '"' | '\\' | '\t' => 2,
        _ if is_line_break(character) => LINE_BREAK.len().max(IN_JSON),
        _ if is_hidden(character) => character.escape_unicode().len().max(IN_JSON),
        _ => character.len_utf8(),
    }
}

/// What the character before was, as far as it decides whether a joiner or a selector belongs there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that takes either.
    Nothing,
    /// A letter or sign of ASCII: takes a selector (`1️⃣`), and no script of it has joiners.
    Ascii,
    /// A letter or sign of another script.
    Letter,
    /// A selector behind one of these.
    Selector,
}

fn shown(text: &str, line_break: &str) -> String {
    // Nearly all texts in English.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = Before::Nothing;
    while let Some(character) = rest.next() {
        before = match character {
            '\r' if rest.peek() == Some(&'\n') => continue,
            _ if is_line_break(character) => {
                line.push_str(line_break);
                Before::Nothing
            }
            '\t' => {
                line.push(' ');
                Before::Nothing
            }
            '\u{fe00}'..='\u{fe0f}' if matches!(before, Before::Ascii | Before::Letter) => {
                line.push(character);
                Before::Selector
            }
            '\u{200c}' | '\u{200d}' if joins(before, &mut rest) => {
                line.push(character);
                Before::Nothing
            }
            _ if is_hidden(character) => {
                line.extend(character.escape_unicode());
                Before::Nothing
            }
            _ => {
                line.push(character);
                match character {
                    _ if character.is_whitespace() => Before::Nothing,
                    _ if character.is_ascii() => Before::Ascii,
                    _ => Before::Letter,
                }
            }
        };
    }
    line
}

/// Whether a joiner stands between two letters of a script that may have one.
fn joins(before: Before, rest: &mut Peekable<Chars<'_>>) -> bool {
    let is_letter = |next: &char| !next.is_ascii() && !next.is_whitespace() && !is_hidden(*next);
    matches!(before, Before::Letter | Before::Selector) && rest.peek().is_some_and(is_letter)
}

#[cfg(test)]
#[path = "visible_tests.rs"]
pub(crate) mod tests;
