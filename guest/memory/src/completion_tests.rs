//! Suggestions.

use super::*;
use crate::security::validate_save_args;
use crate::store::fake::{FakeDisk, at};
use serde_json::json;

fn backend_with(tags: &[&[&str]]) -> MemoryBackend {
    let mut backend = MemoryBackend::new(Box::new(FakeDisk::default()), Box::new(|| [1; 16]));
    for (number, tags) in tags.iter().enumerate() {
        let args = json!({"text": format!("text {number}"), "tags": tags});
        backend
            .save(&validate_save_args(&args).unwrap(), &at(0))
            .unwrap();
    }
    backend
}

fn reflect_on() -> Reference {
    Reference::Prompt(REFLECT_ON.to_owned())
}

fn template(template: &str) -> Reference {
    Reference::Resource(template.to_owned())
}

#[test]
fn tags_are_suggested_by_use_then_by_name() {
    let mut backend = backend_with(&[&["work", "Home"], &["home", "work"], &["work", "hobby"]]);
    for (reference, blank) in [
        (reflect_on(), "topic"),
        (template(SEARCH_TEMPLATE), "query"),
    ] {
        let all = complete(&reference, blank, "", &mut backend).unwrap();
        assert_eq!(all.values, ["work", "Home", "hobby", "home"]);
        assert_eq!((all.total, all.has_more()), (4, false));
        assert_eq!(
            complete(&reference, blank, "HO", &mut backend)
                .unwrap()
                .values,
            ["Home", "hobby", "home"]
        );
        assert_eq!(
            complete(&reference, blank, "xyz", &mut backend).unwrap(),
            Suggestions {
                values: vec![],
                total: 0
            }
        );
    }
}

#[test]
fn ids_are_suggested_newest_first() {
    let mut backend = backend_with(&[&[][..]; 12]);
    let of = |prefix: &str, backend: &mut MemoryBackend| {
        complete(&template(ENTRY_TEMPLATE), "id", prefix, backend)
            .unwrap()
            .values
    };
    assert_eq!(of("m1", &mut backend), ["m11", "m10", "m1"]);
    assert_eq!(of("", &mut backend).len(), 12);
    assert_eq!(of("x", &mut backend), [""; 0]);
}

#[test]
fn what_is_beyond_the_most_is_counted() {
    let mut backend = backend_with(&vec![&[][..]; MAX_COMPLETIONS + 5]);
    let found = complete(&template(ENTRY_TEMPLATE), "id", "m", &mut backend).unwrap();
    assert_eq!(
        (found.values.len(), found.total, found.has_more()),
        (MAX_COMPLETIONS, MAX_COMPLETIONS + 5, true)
    );
}

#[test]
fn what_does_not_exist_is_refused() {
    let mut backend = backend_with(&[]);
    for reference in [
        Reference::Prompt("x".to_owned()),
        template("memory://x"),
        Reference::Prompt(ENTRY_TEMPLATE.to_owned()),
    ] {
        assert!(
            matches!(
                complete(&reference, "id", "", &mut backend),
                Err(RequestError::UnknownName(_))
            ),
            "{reference:?}"
        );
    }
    let outcome = complete(&reflect_on(), "id", "", &mut backend);
    assert!(
        matches!(outcome, Err(RequestError::InvalidParams(text)) if text.contains("\"id\"") && text.contains("topic"))
    );
}

#[test]
fn a_tag_that_is_not_all_seen_is_not_suggested() {
    use crate::store::journal::JOURNAL;
    let disk = FakeDisk::default();
    let mut backend = MemoryBackend::new(Box::new(disk.clone()), Box::new(|| [1; 16]));
    for tag in ["plain", "hidden"] {
        let args = json!({"text": tag, "tags": [tag]});
        backend
            .save(&validate_save_args(&args).unwrap(), &at(0))
            .unwrap();
    }
    // As an older version, or a person with an editor, wrote it: the checksum of the line is made anew.
    let text = disk.text(JOURNAL);
    let (head, last) = text.trim_end().rsplit_once('\n').unwrap();
    let covered =
        last[r#"{"crc":"00000000","#.len()..].replace(r#"["hidden"]"#, "[\"hid\u{200b}den\"]");
    let crc = crc32fast::hash(covered.as_bytes());
    disk.put(
        JOURNAL,
        format!("{head}\n{{\"crc\":\"{crc:08x}\",{covered}\n").as_bytes(),
    );
    let found = complete(&reflect_on(), "topic", "", &mut backend).unwrap();
    assert_eq!(
        (found.values.as_slice(), found.total),
        (&["plain".to_owned()][..], 1)
    );
}
