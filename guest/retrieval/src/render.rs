//! Documents and files as they are shown: a few lines each, which no text can leave, within a budget.

use serde_json::{Map, Value, json};

use crate::config::{SNIPPET_CHARS, TITLE_CHARS, VALUE_CHARS, VALUE_ITEMS};
use crate::corpus::{Corpus, Document, Origin};
use crate::fields::FieldValue;
use crate::library::Loaded;

/// Stands where a text's own line breaks were.
const LINE_BREAK: &str = " ⏎ ";

/// A text on one line. Its line breaks, in any spelling that some program takes for one, become a sign, so that it can't
/// pass part of itself off as another result; other control characters become U+FFFD.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                line.push_str(LINE_BREAK);
            }
            '\t' => line.push('\t'),
            _ if character.is_control() => line.push(char::REPLACEMENT_CHARACTER),
            _ => line.push(character),
        }
    }
    line
}

/// The start of a text, on one line; `…` if that is not all.
pub fn shortened(text: &str, chars: usize) -> String {
    let text = text.trim();
    // What is cut away need not be looked at.
    let end = text
        .char_indices()
        .nth(chars + 1)
        .map_or(text.len(), |(end, _)| end);
    let line = one_line(&text[..end]);
    match line.char_indices().nth(chars) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        // CR and LF count twice in the text and once in the line.
        None if end < text.len() => format!("{}…", line.trim_end()),
        None => line,
    }
}

/// What a document is called: its title, or the start of its text.
pub fn title(document: &Document) -> String {
    let title = if document.title.is_empty() {
        &document.text
    } else {
        &document.title
    };
    shortened(title, TITLE_CHARS)
}

/// The passage of a document that has most of a query's words: as many whole sentences as fit.
pub fn snippet(document: &Document, query: &str) -> String {
    let words: Vec<String> = query
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(|word| stem(&word.to_lowercase()).to_owned())
        .collect();
    let sentences: Vec<&str> = document
        .text
        .split_inclusive(['.', '!', '?', '\n'])
        .collect();
    let value = |sentence: &str| {
        let sentence = sentence.to_lowercase();
        words
            .iter()
            .filter(|word| sentence.contains(word.as_str()))
            .count()
    };
    let mut best = (0, 0);
    for (position, sentence) in sentences.iter().enumerate() {
        let value = value(sentence);
        if value > best.1 {
            best = (position, value);
        }
    }
    let start: usize = sentences[..best.0]
        .iter()
        .map(|sentence| sentence.len())
        .sum();
    let passage = shortened(&document.text[start..], SNIPPET_CHARS);
    if best.0 > 0 {
        format!("… {passage}")
    } else {
        passage
    }
}

/// A word without its ending, roughly: it only decides where a passage begins.
fn stem(word: &str) -> &str {
    word.strip_suffix("ing")
        .or_else(|| word.strip_suffix("es"))
        .or_else(|| word.strip_suffix('s'))
        .filter(|stem| stem.chars().count() > 2)
        .unwrap_or(word)
}

/// A document's fields, cut to what can be shown.
pub fn fields(corpus: &Corpus, document: &Document) -> Map<String, Value> {
    let fields = corpus.fields.iter().zip(&document.values);
    let shown = fields
        // It stands in the result's first line.
        .filter(|(field, _)| field.name != "title")
        .filter_map(|(field, value)| Some((field.name.clone(), shown(value.as_ref()?))));
    shown.collect()
}

fn shown(value: &FieldValue) -> Value {
    match value {
        FieldValue::Text(text) => json!(shortened(text, VALUE_CHARS)),
        FieldValue::List(items) => {
            let mut shown: Vec<String> = items
                .iter()
                .take(VALUE_ITEMS)
                .map(|item| shortened(item, VALUE_CHARS))
                .collect();
            if items.len() > VALUE_ITEMS {
                shown.push(format!("… {} more", items.len() - VALUE_ITEMS));
            }
            json!(shown)
        }
        other => other.to_json(),
    }
}

/// Fields on one line: `year 2020, categories cs.CL; cs.IR`.
pub fn fields_line(fields: &Map<String, Value>) -> String {
    let parts: Vec<String> = fields
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name} {text}"),
            Value::Array(items) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                format!("{name} {}", items.join("; "))
            }
            other => format!("{name} {other}"),
        })
        .collect();
    one_line(&parts.join(", "))
}

/// A whole document as a resource: its title, its text, its fields.
pub fn whole(loaded: &Loaded, document: &Document) -> String {
    let mut parts = Vec::new();
    if !document.title.is_empty() {
        parts.push(format!("# {}", one_line(&document.title)));
    }
    parts.push(document.text.clone());
    let fields = loaded.corpus.fields.iter().zip(&document.values);
    let fields: Vec<String> = fields
        .filter(|(field, _)| field.name != "title")
        .filter_map(|(field, value)| {
            let value = match value.as_ref()?.to_json() {
                Value::String(text) => text,
                Value::Array(items) => {
                    let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                    items.join("; ")
                }
                other => other.to_string(),
            };
            Some(format!("- {}: {}", field.name, one_line(&value)))
        })
        .collect();
    if !fields.is_empty() {
        parts.push(fields.join("\n"));
    }
    if loaded.corpus.about.origin == Origin::Synthetic {
        parts.push(SYNTHETIC.to_owned());
    }
    parts.join("\n\n")
}

/// What every reply over synthetic data says.
pub const SYNTHETIC: &str = "(This data is synthetic: a program made it, nothing in it is real.)";

/// What a reply says of where its data comes from, if there is anything to say.
pub fn origin_note(origin: Origin) -> Option<&'static str> {
    (origin == Origin::Synthetic).then_some(SYNTHETIC)
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
