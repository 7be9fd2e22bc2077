//! Resources: what an application may read. Each memory, and each search.

use jiff::Timestamp;

use crate::backend::{Memory, MemoryBackend};
use crate::config::{ENTRY_TEMPLATE, Kind, PAGE_SIZE, SEARCH_TEMPLATE, TITLE_CHARS};
use crate::render::{entry_uri, reply};
use crate::request::{Moment, RequestError};
use crate::security::{ResourceUri, SearchArgs, echo, parse_id, validate_resource_uri};
use crate::visible::title;

/// What every resource is.
pub const MIME_TYPE: &str = "text/plain";

/// A family of resources.
pub struct Template {
    /// RFC 6570.
    pub uri_template: &'static str,
    /// Programmatic name.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence.
    pub description: &'static str,
}

/// All templates, in the order in which they are listed.
pub const TEMPLATES: &[Template] = &[
    Template {
        uri_template: ENTRY_TEMPLATE,
        name: "entry",
        title: "A memory",
        description: "The exact text of the memory with this id, such as m3",
    },
    Template {
        uri_template: SEARCH_TEMPLATE,
        name: "search",
        title: "A search",
        description: "What memory_search finds for this query",
    },
];

/// A memory in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// Where to read it.
    pub uri: String,
    /// `Memory m3`.
    pub name: String,
    /// The start of its text.
    pub title: String,
    /// Its kind, which is all that a list has to say besides.
    pub description: Kind,
    /// Bytes of its text.
    pub size: u64,
    /// When it last changed.
    pub last_modified: Timestamp,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Newest first.
    pub resources: Vec<Descriptor>,
    /// Where the next page starts; none on the last.
    pub next_cursor: Option<String>,
}

/// What cursors begin with: the version of what follows it, the id of the last memory shown. That stays true however
/// many memories are added or forgotten.
const CURSOR_VERSION: &str = "1.";

/// Lists the memories, newest first, a page at a time.
///
/// # Errors
///
/// A cursor that was not given out here; a store that can't be read.
pub fn list(backend: &mut MemoryBackend, cursor: Option<&str>) -> Result<Page, RequestError> {
    let before = cursor.map(parse_cursor).transpose()?;
    let (memories, has_more) = backend.page(before, PAGE_SIZE)?;
    let next_cursor = match memories.last() {
        Some(last) if has_more => Some(format!("{CURSOR_VERSION}m{}", last.id)),
        _ => None,
    };
    Ok(Page {
        resources: memories.iter().map(describe).collect(),
        next_cursor,
    })
}

fn parse_cursor(cursor: &str) -> Result<u64, RequestError> {
    cursor
        .strip_prefix(CURSOR_VERSION)
        .and_then(parse_id)
        .ok_or_else(|| {
            RequestError::InvalidParams(format!(
                "cursor {} was not given out by this server",
                echo(cursor)
            ))
        })
}

fn describe(memory: &Memory) -> Descriptor {
    Descriptor {
        uri: entry_uri(memory.id),
        name: format!("Memory m{}", memory.id),
        title: title(&memory.text, TITLE_CHARS),
        description: memory.kind,
        size: memory.text.len() as u64,
        last_modified: memory.modified_at,
    }
}

/// A resource that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The exact text of a memory, or the reply of a search.
    pub text: String,
}

/// Reads a resource.
///
/// # Errors
///
/// A URI that leads nowhere; a store that can't be read.
pub fn read(
    uri: &str,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<Contents, RequestError> {
    // Filled when an entry is found to be known.
    let mut entry = Ok(String::new());
    let known = |id| match backend.get(id) {
        Ok(Some(memory)) => {
            entry = Ok(memory.text);
            true
        }
        Ok(None) => false,
        // Whether it is there can't be told, so it is not refused as unknown.
        Err(error) => {
            entry = Err(error);
            true
        }
    };
    let checked =
        validate_resource_uri(uri, known).map_err(|error| RequestError::UnknownResource {
            uri: uri.to_owned(),
            reason: error.to_string(),
        })?;
    let text = match checked {
        ResourceUri::Entry(_) => entry?,
        ResourceUri::Search(query) => {
            reply(&backend.search(&SearchArgs::for_query(query), moment)?).text
        }
    };
    Ok(Contents { text })
}

#[cfg(test)]
#[path = "resources_tests.rs"]
mod tests;
