//! What a person reads: standard output, colours, and texts that can't take over the terminal.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;

use crate::convert::Memory;

/// Ids and names.
pub(super) const BOLD: Style = Style::new().bold();
/// What is said besides.
pub(super) const DIM: Style = Style::new().dimmed();
/// All is well.
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
/// Something to look at.
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Something is wrong.
pub(super) const RED: Style = AnsiColor::Red.on_default();

/// Characters of a date at the start of an RFC 3339 timestamp.
const DATE_CHARS: usize = 10;

/// Standard output.
pub(super) struct Screen {
    out: BufWriter<StdoutLock<'static>>,
    colours: bool,
}

impl Screen {
    pub(super) fn new() -> Screen {
        let variable = |name| std::env::var_os(name);
        let colours = has_colours(
            io::stdout().is_terminal(),
            variable("NO_COLOR").is_some_and(|value| !value.is_empty()),
            variable("TERM").is_some_and(|value| value == "dumb"),
        );
        Screen {
            out: BufWriter::new(io::stdout().lock()),
            colours,
        }
    }

    /// Says a line, which is made of our own words and of what [`shown`] and [`one_line`] return.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// A part of a line in a style, where styles are wanted.
    pub(super) fn styled(&self, style: Style, text: &str) -> String {
        match self.colours {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    /// A JSON document, over several lines.
    pub(super) fn json(&mut self, value: &Value) -> Result<()> {
        self.line(&harmless_json(&format!("{value:#}")))
    }

    /// Writes what is to be written as it is.
    pub(super) fn raw(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// A memory on one line: id, day, kind, text, tags.
    pub(super) fn memory(&mut self, memory: &Memory) -> Result<()> {
        let field = |value: &Option<String>| one_line(value.as_deref().unwrap_or_default());
        let mut line = format!(
            "{}  {}  {}",
            self.styled(BOLD, &field(&memory.id)),
            self.styled(DIM, &format!("{}  {}", day(memory), field(&memory.kind))),
            one_line(&memory.text)
        );
        for tag in &memory.tags {
            let _ = write!(
                line,
                "  {}",
                self.styled(GREEN, &format!("#{}", one_line(tag)))
            );
        }
        if memory.forgotten_at.is_some() {
            line += &self.styled(YELLOW, "  (forgotten)");
        }
        self.line(&line)
    }

    /// Everything was said.
    pub(super) fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

fn day(memory: &Memory) -> String {
    let time = memory.created_at.as_deref().unwrap_or_default();
    one_line(time).chars().take(DATE_CHARS).collect()
}

/// Colours are for a person's eyes, who has not said that they are unwelcome (<https://no-color.org>).
fn has_colours(is_terminal: bool, no_color: bool, is_dumb: bool) -> bool {
    is_terminal && !no_color && !is_dumb
}

/// A text whose lines stay lines and in which nothing acts on the terminal, or on the order in which it is shown: such
/// characters become `\u{1b}`.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if acts(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    shown(text.trim()).replace('\n', " ⏎ ")
}

/// JSON in which the same characters are written as escapes: in it they can only be within strings.
pub(super) fn harmless_json(json: &str) -> String {
    let mut harmless = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && acts(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(harmless, "\\u{unit:04x}");
            }
        } else {
            harmless.push(character);
        }
    }
    harmless
}

/// Control characters (ANSI escapes begin with one), marks that turn the direction of writing, separators of lines, and
/// characters that are not seen at all. Joiners stay: scripts and emoji need them.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}'
            | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Asks a question that is answered with yes or no.
pub(super) fn confirmed(question: &str) -> Result<bool> {
    // Not on standard output, which may be redirected.
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_whose_owner_wants_them() {
        assert!(has_colours(true, false, false));
        for (is_terminal, no_color, is_dumb) in [
            (false, false, false),
            (true, true, false),
            (true, false, true),
        ] {
            assert!(!has_colours(is_terminal, no_color, is_dumb));
        }
    }

    #[test]
    fn what_acts_on_a_terminal_is_shown_as_an_escape() {
        assert_eq!(
            shown("a\u{1b}[31mb\r\u{9b}0m"),
            r"a\u{1b}[31mb\u{d}\u{9b}0m"
        );
        assert_eq!(shown("\u{202e}evil\u{2066}"), r"\u{202e}evil\u{2066}");
        assert_eq!(shown("hid\u{200b}den\u{e0041}"), r"hid\u{200b}den\u{e0041}");
        assert_eq!(
            shown("two\nlines\tand ü 漢 👩\u{200d}🚀"),
            "two\nlines\tand ü 漢 👩\u{200d}🚀"
        );
        assert_eq!(one_line(" a\nb\u{2028}c \n"), r"a ⏎ b\u{2028}c");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"text": "a\u{1b}[0m\u{9b}\u{202e}\u{e0041}\u{7f}\n\"\\ü"});
        let harmless = harmless_json(&format!("{value:#}"));
        assert!(
            !harmless
                .chars()
                .any(|character| character != '\n' && acts(character))
        );
        assert_eq!(serde_json::from_str::<Value>(&harmless).unwrap(), value);
    }
}
