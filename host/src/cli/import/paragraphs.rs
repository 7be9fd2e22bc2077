//! Memories in texts that people write: one for each paragraph.

use super::Candidate;
use crate::cli::export::markdown;
use crate::convert::Memory;

/// Paragraphs are what blank lines separate.
pub(super) fn of_text(text: &str) -> Vec<Candidate> {
    let mut paragraphs = Paragraphs::default();
    for (index, line) in text.lines().enumerate() {
        match line.trim().is_empty() {
            true => paragraphs.end(),
            false => paragraphs.add(index + 1, line),
        }
    }
    paragraphs.finish()
}

/// In Markdown an item of a list is a paragraph as well, a block of code belongs to the one before it as a whole, and a
/// heading stands before each paragraph under it: out of its place it would often mean nothing. Front matter is none.
pub(super) fn of_markdown(text: &str) -> Vec<Candidate> {
    let body = markdown::split(text).map_or(text, |(_, body)| body);
    let skipped = text[..text.len() - body.len()].lines().count();
    let mut paragraphs = Paragraphs::default();
    let mut fence: Option<&str> = None;
    for (index, line) in body.lines().enumerate() {
        let (number, bare) = (skipped + index + 1, line.trim());
        if let Some(end) = fence {
            paragraphs.add(number, line);
            fence = fence.filter(|_| !bare.starts_with(end));
        } else if let Some(start) = fence_of(bare) {
            paragraphs.add(number, line);
            fence = Some(start);
        } else if bare.is_empty() || is_rule(bare) {
            paragraphs.end();
        } else if let Some(heading) = heading(line) {
            paragraphs.end();
            paragraphs.heading = heading.to_owned();
        } else if let Some(item) = item(line) {
            paragraphs.end();
            paragraphs.add(number, item);
        } else {
            paragraphs.add(number, line);
        }
    }
    paragraphs.finish()
}

#[derive(Default)]
struct Paragraphs {
    found: Vec<Candidate>,
    heading: String,
    /// Lines of the present one, and where it begins.
    lines: Vec<String>,
    begin: usize,
}

impl Paragraphs {
    fn add(&mut self, number: usize, line: &str) {
        if self.lines.is_empty() {
            self.begin = number;
        }
        self.lines.push(line.trim_end().to_owned());
    }

    fn end(&mut self) {
        let lines = std::mem::take(&mut self.lines).join("\n");
        let text = lines.trim();
        if text.is_empty() {
            return;
        }
        let text = match self.heading.is_empty() {
            true => text.to_owned(),
            false => format!("{}: {text}", self.heading),
        };
        self.found.push(Candidate {
            memory: Memory {
                text,
                ..Memory::default()
            },
            line: self.begin,
        });
    }

    fn finish(mut self) -> Vec<Candidate> {
        self.end();
        self.found
    }
}

/// What a block of code begins and ends with.
fn fence_of(line: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.starts_with(fence))
}

/// A line across the page.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|character| *character != ' ').collect();
    let all = |mark| marks.iter().all(|character| *character == mark);
    marks.len() >= 3 && ['-', '*', '_'].into_iter().any(all)
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' '))
        .then(|| title.trim().trim_end_matches('#').trim_end())
}

/// The text of an item of an outermost list.
fn item(line: &str) -> Option<&str> {
    let after = match line.chars().next()? {
        '-' | '*' | '+' => &line[1..],
        _ => {
            let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
            let rest = (rest.len() < line.len()).then_some(rest)?;
            rest.strip_prefix(['.', ')'])?
        }
    };
    after.strip_prefix(' ').map(str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[Candidate], expected: &[(usize, &str)]) {
        let found: Vec<(usize, &str)> = found
            .iter()
            .map(|one| (one.line, one.memory.text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_text_s_paragraphs_are_separated_by_blank_lines() {
        check(
            &of_text("one\nand more\n\n  \r\ntwo\r\n"),
            &[(1, "one\nand more"), (5, "two")],
        );
        check(&of_text("\n \n"), &[]);
    }

    #[test]
    fn markdown_has_headings_lists_and_code() {
        let text = "\
---
title: x
---
Before.

# Apollo #

- due on May 3
  in the morning
- costs 5
1. first
   - nested

***

Run it:
```sh
make

make install
```
## Later
#not a heading
";
        check(
            &of_markdown(text),
            &[
                (4, "Before."),
                (8, "Apollo: due on May 3\n  in the morning"),
                (10, "Apollo: costs 5"),
                (11, "Apollo: first\n   - nested"),
                (16, "Apollo: Run it:\n```sh\nmake\n\nmake install\n```"),
                (23, "Later: #not a heading"),
            ],
        );
    }
}
