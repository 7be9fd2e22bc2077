//! Memories from elsewhere, and changes.

use super::*;
use crate::config::{MAX_TAGS, MAX_TEXT_CHARS};

fn raw(text: &str) -> RawMemory {
    RawMemory {
        text: text.to_owned(),
        ..RawMemory::default()
    }
}

#[test]
fn what_is_absent_gets_the_default_of_a_save() {
    let new = validate_new_memory(&raw("a")).unwrap();
    assert_eq!(
        (new.save.kind, new.save.importance, new.save.tags.len()),
        (Kind::default(), None, 0)
    );
    assert_eq!(
        (
            new.created_at,
            new.last_accessed,
            new.session,
            new.forgotten_at
        ),
        (None, None, None, None)
    );
}

#[test]
fn times_are_whole_milliseconds_in_utc() {
    let new = validate_new_memory(&RawMemory {
        created_at: Some("2026-11-30T10:00:00.123456+02:00".to_owned()),
        session: Some("s".repeat(MAX_SESSION_CHARS + 5)),
        ..raw("a")
    })
    .unwrap();
    assert_eq!(
        new.created_at.unwrap().to_string(),
        "2026-11-30T08:00:00.123Z"
    );
    assert_eq!(new.session.unwrap().len(), MAX_SESSION_CHARS);
}

#[test]
fn what_no_save_would_take_is_refused_by_name() {
    let string = |text: &str| Some(text.to_owned());
    for (raw, name) in [
        (raw(" "), "text"),
        (raw(&"x".repeat(MAX_TEXT_CHARS + 1)), "text"),
        (
            RawMemory {
                kind: string("secret"),
                ..raw("a")
            },
            "kind",
        ),
        (
            RawMemory {
                tags: vec![String::new()],
                ..raw("a")
            },
            "tags",
        ),
        (
            RawMemory {
                tags: (0..=MAX_TAGS).map(|tag| tag.to_string()).collect(),
                ..raw("a")
            },
            "tags",
        ),
        (
            RawMemory {
                importance: Some(11.0),
                ..raw("a")
            },
            "importance",
        ),
        (
            RawMemory {
                importance: Some(f64::NAN),
                ..raw("a")
            },
            "importance",
        ),
        (
            RawMemory {
                created_at: string("yesterday"),
                ..raw("a")
            },
            "created_at",
        ),
        (
            RawMemory {
                last_accessed: string("2026-11-30"),
                ..raw("a")
            },
            "last_accessed",
        ),
        (
            RawMemory {
                forgotten_at: string(""),
                ..raw("a")
            },
            "forgotten_at",
        ),
    ] {
        let error = validate_new_memory(&raw).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[test]
fn an_update_names_what_changes() {
    let args = validate_update_args(&json!({"id": "m3", "tags": [], "importance": 2})).unwrap();
    assert_eq!(
        args,
        UpdateArgs {
            id: 3,
            tags: Some(vec![]),
            importance: Some(2.0),
            ..UpdateArgs::default()
        }
    );
    for (arguments, words) in [
        (json!({"text": "x"}), "id is required"),
        (json!({"id": "3", "text": "x"}), "id must be written \"m3\""),
        (
            json!({"id": "the last", "text": "x"}),
            "id must be m and a number",
        ),
        (json!({"id": "m3"}), "got none of them"),
        (json!({"id": "m3", "text": null}), "got none of them"),
        (json!({"id": "m3", "text": " "}), "text must be"),
        (json!({"id": "m3", "kind": "x"}), "kind must be"),
        (json!({"id": "m3", "importance": 0}), "importance must be"),
        (json!({"id": "m3", "extra": 0}), "unknown argument"),
        (json!([]), "must be an object"),
    ] {
        let error = validate_update_args(&arguments).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
