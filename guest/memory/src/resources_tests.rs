//! Lists, pages and reads.

use super::*;
use crate::config::{ENTRIES, RESOURCE_SCHEME, SEARCHES};
use crate::security::validate_save_args;
use crate::store::fake::{FakeDisk, Faults, at};
use serde_json::json;

fn backend_with(texts: &[&str]) -> MemoryBackend {
    let mut backend = MemoryBackend::new(Box::new(FakeDisk::default()), Box::new(|| [1; 16]));
    for text in texts {
        save(&mut backend, text);
    }
    backend
}

fn save(backend: &mut MemoryBackend, text: &str) {
    backend
        .save(
            &validate_save_args(&json!({ "text": text })).unwrap(),
            &at(0),
        )
        .unwrap();
}

fn read_text(backend: &mut MemoryBackend, uri: &str) -> String {
    read(uri, backend, &at(0)).unwrap().text
}

#[test]
fn templates_are_spelled_as_uris_are_checked() {
    assert_eq!(
        ENTRY_TEMPLATE,
        format!("{RESOURCE_SCHEME}://{ENTRIES}/{{id}}")
    );
    assert_eq!(
        SEARCH_TEMPLATE,
        format!("{RESOURCE_SCHEME}://{SEARCHES}/{{query}}")
    );
}

#[test]
fn an_empty_store_lists_nothing() {
    let page = list(&mut backend_with(&[]), None).unwrap();
    assert_eq!(
        page,
        Page {
            resources: vec![],
            next_cursor: None
        }
    );
}

#[test]
fn memories_are_listed_newest_first() {
    let mut backend = backend_with(&["first", " two\nlines é"]);
    let page = list(&mut backend, None).unwrap();
    let newest = Descriptor {
        uri: "memory://entries/m1".to_owned(),
        name: "Memory m1".to_owned(),
        title: "two ⏎ lines é".to_owned(),
        description: Kind::Episodic,
        size: 13,
        last_modified: at(0).now(),
    };
    assert_eq!(page.resources[0], newest);
    assert_eq!(page.resources[1].uri, "memory://entries/m0");
    assert_eq!(page.next_cursor, None);
}

#[test]
fn pages_are_complete_and_a_cursor_stays_valid_while_memories_are_added() {
    let texts: Vec<String> = (0..2 * PAGE_SIZE + 1)
        .map(|number| number.to_string())
        .collect();
    let mut backend = backend_with(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = list(&mut backend, cursor.as_deref()).unwrap();
        assert!(page.resources.len() <= PAGE_SIZE);
        seen.extend(page.resources.into_iter().map(|resource| resource.uri));
        pages += 1;
        save(&mut backend, &format!("added {pages}"));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let expected: Vec<String> = (0..2 * PAGE_SIZE as u64 + 1).rev().map(entry_uri).collect();
    assert_eq!((seen, pages), (expected, 3));
}

#[test]
fn a_full_last_page_is_the_last() {
    let texts: Vec<String> = (0..PAGE_SIZE).map(|number| number.to_string()).collect();
    let mut backend = backend_with(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(list(&mut backend, None).unwrap().next_cursor, None);
}

#[test]
fn a_cursor_that_was_not_given_out_is_refused() {
    let mut backend = backend_with(&["a"]);
    for cursor in [
        "",
        "0",
        "1.",
        "1.0",
        "1.m",
        "1.m-1",
        "1.m01",
        "2.m1",
        "m1",
        "1.m1 ",
        "1.m99999999999999999999",
        "\0",
    ] {
        assert!(
            matches!(
                list(&mut backend, Some(cursor)),
                Err(RequestError::InvalidParams(_))
            ),
            "{cursor:?}"
        );
    }
}

#[test]
fn an_entry_is_read_exactly() {
    let text = " two\nlines\u{2028}\u{1} ";
    let mut backend = backend_with(&["other", text]);
    assert_eq!(read_text(&mut backend, "memory://entries/m1"), text);
}

#[test]
fn a_search_is_read_as_the_tool_answers() {
    let mut backend = backend_with(&["I prefer dark mode", "tea"]);
    assert_eq!(
        read_text(&mut backend, "memory://search/dark%20mode"),
        "[m0] (episodic) I prefer dark mode"
    );
    assert_eq!(
        read_text(&mut backend, "memory://search/kangaroo"),
        "No matching memories."
    );
}

#[test]
fn a_store_that_can_not_be_read_makes_no_entry_unknown_and_no_malformed_uri_well_formed() {
    let disk = FakeDisk::default();
    disk.fail(Faults {
        missing: true,
        ..Faults::default()
    });
    let mut backend = MemoryBackend::new(Box::new(disk), Box::new(|| [1; 16]));
    for uri in ["memory://entries/m0", "memory://search/tea"] {
        let outcome = read(uri, &mut backend, &at(0));
        assert!(
            matches!(outcome, Err(RequestError::Internal(_))),
            "{uri}: {outcome:?}"
        );
    }
    let outcome = read("memory://entries/0", &mut backend, &at(0));
    assert!(
        matches!(outcome, Err(RequestError::UnknownResource { .. })),
        "{outcome:?}"
    );
}

#[test]
fn what_is_not_served_is_an_error_with_its_uri() {
    let mut backend = backend_with(&["a"]);
    for uri in [
        "memory://entries/m1",
        "memory://entries/../m0",
        "file:///etc/passwd",
        "MEMORY://entries/m0",
        "memory://search/",
        "",
    ] {
        match read(uri, &mut backend, &at(0)) {
            Err(RequestError::UnknownResource { uri: named, reason }) => {
                assert_eq!(named, uri);
                assert!(!reason.is_empty());
            }
            other => panic!("{uri}: {other:?}"),
        }
    }
}
