//! Resource URIs.
//!
//! One shape is served, and only in the spelling in which it was given out: what is decoded is encoded again and
//! compared. The decoded parts are looked up among known corpora and known ids; no path is ever made of them, so `..`
//! is a document's id or nothing.

use super::SecurityError;
use crate::config::{DOCUMENT_TEMPLATE, RESOURCE_SCHEME};

/// A well-formed URI of a document; whether there is one is for the library to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentUri {
    /// The corpus's name.
    pub corpus: String,
    /// The document's id in it.
    pub id: String,
}

/// The URI of a document. All but unreserved characters are encoded, as RFC 6570 expands a template.
pub fn document_uri(corpus: &str, id: &str) -> String {
    format!("{RESOURCE_SCHEME}://{}/{}", encode(corpus), encode(id))
}

/// Reads the URI of a document.
///
/// # Errors
///
/// Any other URI, and any other spelling of a right one.
pub fn parse_document_uri(uri: &str) -> Result<DocumentUri, SecurityError> {
    let refuse = |reason: String| SecurityError::Uri { reason };
    let path = uri
        .strip_prefix(RESOURCE_SCHEME)
        .and_then(|rest| rest.strip_prefix("://"))
        .ok_or_else(|| refuse(format!("the scheme must be {RESOURCE_SCHEME}://")))?;
    let parts = path.split_once('/').and_then(|(corpus, id)| {
        let found = DocumentUri {
            corpus: decode(corpus)?,
            id: decode(id)?,
        };
        let exact = document_uri(&found.corpus, &found.id) == uri;
        (exact && !found.corpus.is_empty() && !found.id.is_empty()).then_some(found)
    });
    parts.ok_or_else(|| {
        refuse(format!(
            "only {DOCUMENT_TEMPLATE} is served, percent-encoded as search_documents gives it"
        ))
    })
}

fn encode(part: &str) -> String {
    let mut encoded = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// None for what is no encoding of UTF-8.
fn decode(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let digits = tail
                .get(..2)
                .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_uri_leads_to_a_corpus_and_an_id() {
        for (corpus, id, uri) in [
            ("arxiv", "2005.11401", "docs://arxiv/2005.11401"),
            ("arxiv", "hep-th/9901001", "docs://arxiv/hep-th%2F9901001"),
            ("x", "é ?#", "docs://x/%C3%A9%20%3F%23"),
            ("x", "..", "docs://x/.."),
        ] {
            assert_eq!(document_uri(corpus, id), uri);
            let found = parse_document_uri(uri).unwrap();
            assert_eq!((found.corpus.as_str(), found.id.as_str()), (corpus, id));
        }
    }

    #[test]
    fn any_other_spelling_is_refused() {
        for uri in [
            "",
            "docs",
            "docs:/x/1",
            "docs://x",
            "docs://x/",
            "docs:///1",
            "DOCS://x/1",
            "memory://entries/m1",
            "file:///etc/passwd",
            "docs://x/../y/1",
            "docs://x/a/b",
            "docs://x/hep-th%2f9901001",
            "docs://x/%61",
            "docs://x/1?q",
            "docs://x/1#top",
            "docs://x/1 ",
            "docs://x/a b",
            "docs://x/%",
            "docs://x/%2",
            "docs://x/%zz",
            "docs://x/%+1",
            "docs://x/%FF",
            "docs://x/é",
            "docs://u@x/1",
            "docs://x:80/1",
            "docs://x/1\n",
        ] {
            assert!(parse_document_uri(uri).is_err(), "{uri:?} is served");
        }
    }

    proptest! {
        #[test]
        fn what_is_given_out_is_read_back(corpus in "[A-Za-z0-9_-]{1,8}", id in ".{1,20}") {
            let uri = document_uri(&corpus, &id);
            prop_assert_eq!(parse_document_uri(&uri), Ok(DocumentUri { corpus, id }));
        }

        #[test]
        fn no_uri_panics(uri in any::<String>(), tail in any::<String>()) {
            let _ = parse_document_uri(&uri);
            let _ = parse_document_uri(&format!("docs://{tail}"));
        }
    }
}
