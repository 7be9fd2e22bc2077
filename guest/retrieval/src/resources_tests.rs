//! What can be listed and read, and what can't.

use super::*;
use crate::config::LISTINGS;
use crate::request::{Environment, Granted};
use std::collections::HashSet;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

fn with_library<T>(run: impl FnOnce(&mut Library, &Call<'_>) -> T) -> T {
    let directory = papers();
    let granted = |name: &str, path: &std::path::Path| Granted {
        name: name.to_owned(),
        path: path.to_owned(),
    };
    let mut library = Library::new(Environment {
        corpora: vec![
            granted("papers", directory.path()),
            granted("broken", &directory.path().join("nothing")),
        ],
        ..Environment::default()
    });
    let clock = || Duration::ZERO;
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    run(&mut library, &call)
}

fn papers() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let records = [
        r#"{"id":"hep-th/9901001","title":"Strings","text":"Theory.","year":1999}"#,
        r#"{"id":"..","text":"Two dots."}"#,
    ];
    fs::write(directory.path().join("x.jsonl"), records.join("\n")).unwrap();
    directory
}

#[test]
fn all_documents_of_all_sound_corpora_are_listed_once() {
    let (uris, pages) = with_library(|library, call| {
        let (mut uris, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = list(library, cursor.as_deref(), call).unwrap();
            assert!(page.resources.len() <= PAGE_SIZE);
            uris.extend(page.resources.into_iter().map(|resource| resource.uri));
            pages += 1;
            cursor = page.next_cursor;
            if cursor.is_none() {
                break (uris, pages);
            }
        }
    });
    let total = 2 + crate::corpus::listings::LISTINGS;
    assert_eq!(uris.len(), total);
    assert_eq!(uris.iter().collect::<HashSet<_>>().len(), total);
    assert_eq!(pages, total.div_ceil(PAGE_SIZE));
    assert_eq!(uris[0], "docs://papers/hep-th%2F9901001");
}

#[test]
fn a_listed_document_can_be_read() {
    with_library(|library, call| {
        let text = read("docs://papers/hep-th%2F9901001", library, call).unwrap();
        assert_eq!(text, "# Strings\n\nTheory.\n\n- year: 1999");
        assert_eq!(
            read("docs://papers/..", library, call).unwrap(),
            "Two dots."
        );
        let listing = read(&format!("docs://{LISTINGS}/L0000"), library, call).unwrap();
        assert!(
            listing.contains("synthetic") && listing.contains("- price: "),
            "{listing}"
        );
    });
}

#[test]
fn what_leads_nowhere_is_unknown_and_what_is_broken_says_why() {
    with_library(|library, call| {
        for uri in [
            "docs://papers/nothing",
            "docs://papers/../broken/x",
            "docs://elsewhere/x",
            "file:///etc/passwd",
            "",
        ] {
            let refusal = read(uri, library, call);
            assert!(
                matches!(refusal, Err(RequestError::UnknownResource { .. })),
                "{uri}: {refusal:?}"
            );
        }
        let refusal = read("docs://broken/x", library, call).unwrap_err();
        assert!(matches!(refusal, RequestError::Internal(_)), "{refusal}");
    });
}

#[test]
fn foreign_cursors_are_refused() {
    with_library(|library, call| {
        for cursor in [
            "",
            "1.",
            "1.papers",
            "1.papers.",
            "1.papers.01",
            "1.x.0",
            "2.papers.0",
            "1.papers.-1",
        ] {
            assert!(list(library, Some(cursor), call).is_err(), "{cursor:?}");
        }
        let past = list(library, Some("1.papers.99"), call);
        assert!(past.is_ok(), "a corpus that became smaller: {past:?}");
    });
}
