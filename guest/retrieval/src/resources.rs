//! Resources: what an application may read. Each document of each corpus.

use crate::config::{DOCUMENT_TEMPLATE, PAGE_SIZE};
use crate::corpus::CorpusError;
use crate::library::{Library, Loaded};
use crate::render::{title, whole};
use crate::request::{Call, RequestError};
use crate::security::{document_uri, echo, parse_document_uri};

/// What every resource is.
pub const MIME_TYPE: &str = "text/markdown";

/// Name of the one template.
pub const TEMPLATE_NAME: &str = "document";
/// What the template is called.
pub const TEMPLATE_TITLE: &str = "A document";
/// What the template is for.
pub const TEMPLATE_DESCRIPTION: &str =
    "The document of a corpus with this id: its title, text and fields";

/// A document in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where to read it.
    pub uri: String,
    /// Its id.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Whose document it is.
    pub description: String,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// By corpus, in the order of its file.
    pub resources: Vec<Descriptor>,
    /// Where the next page starts; none on the last.
    pub next_cursor: Option<String>,
}

/// What cursors begin with: the version of what follows it, a corpus's name and the number of the next document.
const CURSOR_VERSION: &str = "1.";

/// Where a page starts.
struct Position {
    /// Among the library's names.
    corpus: usize,
    /// Of a document in it.
    number: usize,
}

/// Lists the documents of all corpora, a page at a time. A corpus that can't be used has no documents; one that is still
/// being loaded ends the page, and the next page goes on with it.
///
/// # Errors
///
/// A cursor that was not given out here.
pub fn list(
    library: &mut Library,
    cursor: Option<&str>,
    call: &Call<'_>,
) -> Result<Page, RequestError> {
    let names: Vec<String> = library.names().into_iter().map(str::to_owned).collect();
    let start = match cursor {
        None => Position {
            corpus: 0,
            number: 0,
        },
        Some(cursor) => parse_cursor(cursor, &names).ok_or_else(|| {
            RequestError::InvalidParams(format!(
                "cursor {} was not given out by this server",
                echo(cursor)
            ))
        })?,
    };
    let mut resources = Vec::new();
    let mut number = start.number;
    for name in &names[start.corpus..] {
        let next = |number: usize| Some(format!("{CURSOR_VERSION}{name}.{number}"));
        match library.open(Some(name), call) {
            Ok(loaded) => {
                let documents = loaded.corpus.documents.len();
                let end = documents.min(number.saturating_add(PAGE_SIZE - resources.len()));
                resources.extend((number..end).filter_map(|number| describe(&loaded, number)));
                if end < documents {
                    return Ok(Page {
                        resources,
                        next_cursor: next(end),
                    });
                }
            }
            Err(CorpusError::Loading { .. }) => {
                return Ok(Page {
                    resources,
                    next_cursor: next(number),
                });
            }
            Err(_) => {}
        }
        number = 0;
    }
    Ok(Page {
        resources,
        next_cursor: None,
    })
}

fn parse_cursor(cursor: &str, names: &[String]) -> Option<Position> {
    let (name, digits) = cursor.strip_prefix(CURSOR_VERSION)?.rsplit_once('.')?;
    let number: usize = digits.parse().ok()?;
    // Exactly as it was given out.
    (number.to_string() == digits).then_some(())?;
    let corpus = names.iter().position(|known| known == name)?;
    Some(Position { corpus, number })
}

fn describe(loaded: &Loaded, number: usize) -> Option<Descriptor> {
    let document = loaded.corpus.documents.get(number)?;
    Some(Descriptor {
        uri: document_uri(&loaded.name, &document.id),
        name: document.id.clone(),
        title: title(document),
        description: format!(
            "A document of {} ({} data)",
            loaded.name,
            loaded.corpus.about.origin.name()
        ),
    })
}

/// Reads a document.
///
/// # Errors
///
/// A URI that leads nowhere; a corpus that can't be used.
pub fn read(uri: &str, library: &mut Library, call: &Call<'_>) -> Result<String, RequestError> {
    let unknown = |reason: String| RequestError::UnknownResource {
        uri: uri.to_owned(),
        reason,
    };
    let wanted = parse_document_uri(uri).map_err(|error| unknown(error.to_string()))?;
    let loaded = match library.open(Some(&wanted.corpus), call) {
        Ok(loaded) => loaded,
        Err(error @ CorpusError::Unknown { .. }) => return Err(unknown(error.to_string())),
        Err(error) => {
            let text = format!("the corpus {} can't be used: {error}", wanted.corpus);
            return Err(RequestError::Internal(text));
        }
    };
    let number = loaded.corpus.number(&wanted.id);
    match number.and_then(|number| loaded.corpus.document(number)) {
        Some(document) => Ok(whole(&loaded, document)),
        None => Err(unknown(format!(
            "{} has no such document; {DOCUMENT_TEMPLATE} takes ids that search_documents gives",
            wanted.corpus
        ))),
    }
}

#[cfg(test)]
#[path = "resources_tests.rs"]
mod tests;
