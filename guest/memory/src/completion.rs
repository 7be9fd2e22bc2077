//! Completion: what a blank in a prompt or a resource template may be filled with.

use std::collections::HashMap;

use crate::backend::MemoryBackend;
use crate::config::{ENTRY_TEMPLATE, MAX_COMPLETIONS, SEARCH_TEMPLATE};
use crate::prompts::{REFLECT_ON, TOPIC};
use crate::request::RequestError;
use crate::security::echo;
use crate::visible::is_plain;

/// What is being filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its name.
    Prompt(String),
    /// A resource template, by its URI template.
    Resource(String),
}

/// Suggestions, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Suggests values for a blank of which `prefix` was typed: tags for what is searched, ids for an entry.
///
/// # Errors
///
/// A reference that does not exist, or a blank that it does not have; a store that can't be read.
pub fn complete(
    reference: &Reference,
    argument: &str,
    prefix: &str,
    backend: &mut MemoryBackend,
) -> Result<Suggestions, RequestError> {
    let (blank, suggest): (_, fn(&str, &mut MemoryBackend) -> _) = match reference {
        Reference::Prompt(name) if name == REFLECT_ON => (TOPIC, tags),
        Reference::Resource(template) if template == SEARCH_TEMPLATE => ("query", tags),
        Reference::Resource(template) if template == ENTRY_TEMPLATE => ("id", ids),
        Reference::Prompt(name) | Reference::Resource(name) => {
            return Err(RequestError::UnknownName(name.clone()));
        }
    };
    if argument != blank {
        return Err(RequestError::InvalidParams(format!(
            "unknown argument {}; known is {blank}",
            echo(argument)
        )));
    }
    suggest(prefix, backend)
}

/// Tags that begin so in any case, the most used first. A suggestion goes into a field as it is, so a tag with something in
/// it that nobody sees (an older version took such) is none.
fn tags(prefix: &str, backend: &mut MemoryBackend) -> Result<Suggestions, RequestError> {
    let prefix = prefix.trim_start().to_lowercase();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for tag in backend.entries()?.flat_map(|entry| &entry.tags) {
        *uses.entry(tag).or_default() += 1;
    }
    let mut uses: Vec<(&str, usize)> = uses
        .into_iter()
        .filter(|(tag, _)| tag.to_lowercase().starts_with(&prefix) && is_plain(tag))
        .collect();
    uses.sort_unstable_by(|(left, more), (right, less)| less.cmp(more).then(left.cmp(right)));
    Ok(Suggestions::of(
        uses.into_iter().map(|(tag, _)| tag.to_owned()).collect(),
    ))
}

/// Ids that begin so, newest first.
fn ids(prefix: &str, backend: &mut MemoryBackend) -> Result<Suggestions, RequestError> {
    let ids = backend.entries()?.map(|entry| format!("m{}", entry.id));
    Ok(Suggestions::of(
        ids.filter(|id| id.starts_with(prefix)).collect(),
    ))
}

#[cfg(test)]
#[path = "completion_tests.rs"]
mod tests;
