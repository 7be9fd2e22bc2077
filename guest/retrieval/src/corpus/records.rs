//! One line of JSON to a document whose fields have no types yet.

use serde_json::{Map, Value};

use super::CorpusError;
use super::files::Place;
use crate::config::{MAX_FIELD_NAME_CHARS, MAX_ID_CHARS};
use crate::security::echo;

/// Names under which records have their id, title and text, the first one wins. BEIR's come first, then arXiv's.
const ID: &[&str] = &["_id", "id"];
const TITLE: &[&str] = &["title", "name"];
const TEXT: &[&str] = &[
    "text",
    "abstract",
    "body",
    "content",
    "description",
    "summary",
];
/// The member in which BEIR has further fields. They are taken as if they stood beside it.
const METADATA: &str = "metadata";

/// A document before the types of its corpus's fields are known.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) text: String,
    /// Everything else, and the title, which can be filtered like everything else.
    pub(super) extras: Map<String, Value>,
    file: String,
    line: usize,
}

impl Draft {
    /// Reads a record.
    pub(super) fn of(
        place: Place<'_>,
        mut members: Map<String, Value>,
    ) -> Result<Self, CorpusError> {
        let id = take_id(place, &mut members)?;
        let text = take_text(place, &mut members, TEXT)?;
        let title = take_text(place, &mut members, TITLE)?;
        if let Some(Value::Object(metadata)) = members.shift_remove(METADATA) {
            for (name, value) in metadata {
                members.entry(name).or_insert(value);
            }
        }
        members.retain(|name, _| name.chars().count() <= MAX_FIELD_NAME_CHARS);
        if !title.is_empty() {
            members.insert(TITLE[0].to_owned(), Value::from(title.as_str()));
        }
        Ok(Self {
            id,
            title,
            text,
            extras: members,
            file: place.file.to_owned(),
            line: place.line,
        })
    }

    /// File and line.
    pub(super) fn place(&self) -> String {
        Place {
            file: &self.file,
            line: self.line,
        }
        .to_string()
    }
}

/// The id of a document or a query. A number is as good as a text.
pub(super) fn take_id(
    place: Place<'_>,
    members: &mut Map<String, Value>,
) -> Result<String, CorpusError> {
    let id = ID.iter().find_map(|name| members.shift_remove(*name));
    let id = match id {
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err(place.malformed("the id must be a text or a number")),
        None => return Err(place.malformed(format!("there is no id ({})", ID.join(" or ")))),
    };
    let chars = id.chars().count();
    if chars == 0 || chars > MAX_ID_CHARS || id.contains(char::is_control) {
        let reason = format!(
            "the id must be 1 to {MAX_ID_CHARS} characters without controls, got {}",
            echo(&id)
        );
        return Err(place.malformed(reason));
    }
    Ok(id)
}

fn take_text(
    place: Place<'_>,
    members: &mut Map<String, Value>,
    names: &[&str],
) -> Result<String, CorpusError> {
    let found = names
        .iter()
        .find_map(|name| members.get(*name).map(|value| (*name, value)));
    let (name, text) = match found {
        None => return Ok(String::new()),
        Some((name, Value::String(text))) => (name, text.trim().to_owned()),
        Some((name, Value::Null)) => (name, String::new()),
        Some((name, _)) => return Err(place.malformed(format!("{name} must be a text"))),
    };
    members.shift_remove(name);
    Ok(text)
}
