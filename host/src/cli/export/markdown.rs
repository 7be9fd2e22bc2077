//! A memory as a Markdown file: what is known of it in front matter, then its text.
//!
//! The values of the front matter are JSON, which is YAML as well. So other programs read it, and it is read back exactly.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::empty_folder;
use crate::convert::Memory;

/// Stands before and after the front matter.
const FENCE: &str = "---";

/// The first key of ours, by which a file is known; its value is the version of the layout.
const MARK: &str = "personal_memory: 1";

/// Characters of the text in a file's name: enough to tell files apart.
const NAME_CHARS: usize = 40;

pub(super) fn prepare(folder: &Path) -> Result<()> {
    empty_folder(folder)
}

/// Writes a memory into a folder.
pub(super) fn write(folder: &Path, memory: &Memory) -> Result<()> {
    let path = folder.join(file_name(memory));
    let text = render(memory)?;
    fs::write(&path, text).with_context(|| format!("{} can't be written", path.display()))
}

fn file_name(memory: &Memory) -> String {
    let mut name = memory.id.clone().unwrap_or_default();
    let words = memory
        .text
        .split(|character: char| !character.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if name.len() + word.len() >= NAME_CHARS {
            break;
        }
        name += "-";
        name += &word.to_ascii_lowercase();
    }
    name + ".md"
}

fn render(memory: &Memory) -> Result<String> {
    let Value::Object(mut fields) = serde_json::to_value(memory)? else {
        bail!("a memory is no object");
    };
    fields.shift_remove("text");
    let mut text = format!("{FENCE}\n{MARK}\n");
    for (name, value) in &fields {
        text += &format!("{name}: {value}\n");
    }
    text += &format!("{FENCE}\n\n{}\n", memory.text);
    Ok(text)
}

/// Reads what [`render`] wrote; `None` if it is another Markdown file. People may have edited it, with any line ends.
///
/// # Errors
///
/// The front matter is ours and can't be read.
pub(in crate::cli) fn read(file: &str) -> Result<Option<Memory>> {
    let Some((matter, text)) = split(file) else {
        return Ok(None);
    };
    let mut lines = matter.lines();
    if lines.next() != Some(MARK) {
        return Ok(None);
    }
    let mut fields = Map::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let (name, value) = line
            .split_once(':')
            .with_context(|| format!("`{line}` is not of the form name: value"))?;
        let value = serde_json::from_str(value.trim())
            .with_context(|| format!("the value of `{name}` is not JSON: {}", value.trim()))?;
        fields.insert(name.trim().to_owned(), value);
    }
    // The blank line and the last line's end are the layout's.
    let text = after_line_end(text).unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    fields.insert(
        "text".to_owned(),
        text.strip_suffix('\r').unwrap_or(text).into(),
    );
    Ok(Some(serde_json::from_value(Value::Object(fields))?))
}

/// Front matter and what follows the line that ends it; `None` where there is none.
pub(in crate::cli) fn split(file: &str) -> Option<(&str, &str)> {
    let inside = after_line_end(file.strip_prefix(FENCE)?)?;
    let mut at = 0;
    for line in inside.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((&inside[..at], &inside[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn after_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n")
        .or_else(|| text.strip_prefix('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str) -> Memory {
        Memory {
            id: Some("m12".into()),
            text: text.into(),
            kind: Some("semantic".into()),
            tags: vec!["a: b".into(), "\"c\"".into()],
            importance: Some(5.5),
            ..Memory::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again_whatever_the_text() {
        for text in [
            "x",
            "two\n\nparagraphs",
            "---\nkind: 1\n---",
            "ends\n\n",
            "\nbegins",
            "# a",
            " ü ",
        ] {
            let written = render(&memory(text)).unwrap();
            assert_eq!(read(&written).unwrap(), Some(memory(text)), "{written}");
        }
    }

    #[test]
    fn an_editor_may_have_changed_the_line_ends() {
        let written = render(&memory("x")).unwrap().replace('\n', "\r\n");
        assert_eq!(read(&written).unwrap(), Some(memory("x")));
    }

    #[test]
    fn other_files_are_not_taken_for_ours_and_broken_ones_of_ours_are_told() {
        for other in [
            "",
            "# Notes",
            "---\ntitle: x\n---\ntext",
            "---\npersonal_memory: 1\nno end",
        ] {
            assert_eq!(read(other).unwrap(), None, "{other}");
        }
        let broken = "---\npersonal_memory: 1\nkind: semantic\n---\n\nx\n";
        assert!(read(broken).unwrap_err().to_string().contains("`kind`"));
    }

    #[test]
    fn files_are_named_so_that_people_find_them() {
        assert_eq!(
            file_name(&memory("The demo is on June 20!")),
            "m12-the-demo-is-on-june-20.md"
        );
        assert_eq!(file_name(&memory("../../etc/passwd")), "m12-etc-passwd.md");
        assert_eq!(file_name(&memory("漢字")), "m12.md");
    }
}
