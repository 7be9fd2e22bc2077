//! Completion: what a blank in a prompt or a resource template may be filled with.

use std::rc::Rc;

use crate::config::{DOCUMENT_TEMPLATE, MAX_COMPLETIONS};
use crate::corpus::CorpusError;
use crate::library::{Library, Loaded};
use crate::prompts::{CORPUS, FIELD, PROMPTS, VALUE};
use crate::request::{Call, RequestError};
use crate::security::echo;

/// What is being filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its name.
    Prompt(String),
    /// A resource template, by its URI template.
    Resource(String),
}

/// Suggestions, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// At most `MAX_COMPLETIONS`.
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
}

impl Suggestions {
    fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MAX_COMPLETIONS);
        Self { values, total }
    }

    /// Whether there are more than `values`.
    pub fn has_more(&self) -> bool {
        self.total > self.values.len()
    }
}

/// The blank of the template that is not a corpus.
const ID: &str = "id";

/// Suggests values for a blank of which `typed` was typed: corpora, the fields of a corpus, the values of a field, ids.
/// `resolved` are the blanks that have been filled in already.
///
/// A corpus that can't be used suggests nothing: a person is typing, and will learn why when they ask for it.
///
/// # Errors
///
/// A reference that does not exist, or a blank that it does not have.
pub fn complete(
    reference: &Reference,
    argument: &str,
    typed: &str,
    resolved: &[(String, String)],
    library: &mut Library,
    call: &Call<'_>,
) -> Result<Suggestions, RequestError> {
    let blanks: Vec<&str> = match reference {
        Reference::Prompt(name) => match PROMPTS.iter().find(|prompt| prompt.name == name) {
            Some(prompt) => prompt
                .arguments
                .iter()
                .map(|argument| argument.name)
                .collect(),
            None => return Err(RequestError::UnknownName(name.clone())),
        },
        Reference::Resource(template) if template == DOCUMENT_TEMPLATE => vec![CORPUS, ID],
        Reference::Resource(template) => return Err(RequestError::UnknownName(template.clone())),
    };
    if !blanks.contains(&argument) {
        return Err(RequestError::InvalidParams(format!(
            "unknown argument {}; known are {}",
            echo(argument),
            blanks.join(", ")
        )));
    }
    let given = |name: &str| {
        let found = resolved.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    };
    let begins = |value: &str| {
        value
            .to_lowercase()
            .starts_with(&typed.trim_start().to_lowercase())
    };
    if argument == CORPUS {
        let names = library.names().into_iter().filter(|name| begins(name));
        return Ok(Suggestions::of(names.map(str::to_owned).collect()));
    }
    let opened: Result<Rc<Loaded>, CorpusError> = library.open(given(CORPUS), call);
    let Ok(loaded) = opened else {
        return Ok(Suggestions::default());
    };
    let values: Vec<String> = match argument {
        FIELD => {
            let fields = loaded.corpus.fields.iter();
            fields.map(|field| field.name.clone()).collect()
        }
        VALUE => match given(FIELD) {
            Some(field) => values(&loaded, field),
            None => Vec::new(),
        },
        ID => {
            let documents = loaded.corpus.documents.iter();
            documents.map(|document| document.id.clone()).collect()
        }
        // What to look for is for the person to say.
        _ => Vec::new(),
    };
    Ok(Suggestions::of(
        values.into_iter().filter(|value| begins(value)).collect(),
    ))
}

/// Values of a text or list field, the most frequent first.
fn values(loaded: &Loaded, field: &str) -> Vec<String> {
    let fields = &loaded.corpus.fields;
    let Some(position) = fields.iter().position(|known| known.name == field) else {
        return Vec::new();
    };
    let frequent = loaded.corpus.frequent_values(position);
    frequent
        .into_iter()
        .map(|(value, _)| value.to_owned())
        .collect()
}

#[cfg(test)]
#[path = "completion_tests.rs"]
mod tests;
