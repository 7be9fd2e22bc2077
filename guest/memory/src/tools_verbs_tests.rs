//! What each verb does beside saving and searching.

use super::tests::{backend_on, call, unasked};
use super::*;
use crate::store::fake::{FakeDisk, Faults, at};
use crate::store::journal::JOURNAL;

#[test]
fn a_memory_is_got_in_full() {
    let mut backend = backend_on(&FakeDisk::default());
    let text = "one\n[m9] (semantic) two\u{202e}";
    call(
        &mut backend,
        "memory_save",
        json!({"text": text, "tags": ["work"], "importance": 7}),
    );
    let got = call(&mut backend, "memory_get", json!({"id": "m0"}));
    assert_eq!(
        got.text,
        "[m0] (episodic) importance 7, saved 2026-11-30T00:53:20.000Z\ntags: work\n> one\n\
         > [m9] (semantic) two\\u{202e}"
    );
    assert_eq!(
        got.structured,
        Some(json!({
            "id": "m0", "uri": "memory://entries/m0", "kind": "episodic", "text": text, "tags": ["work"],
            "importance": 7.0, "created_at": "2026-11-30T00:53:20.000Z",
        }))
    );
    let long = format!("{} end", "tea ".repeat(999));
    call(&mut backend, "memory_save", json!({ "text": long }));
    let got = call(&mut backend, "memory_get", json!({"id": "m1"}));
    assert!(got.text.ends_with(" end"), "never a preview");
}

#[test]
fn what_was_saved_last_is_listed_newest_first() {
    let mut backend = backend_on(&FakeDisk::default());
    let reply = call(&mut backend, "memory_recent", json!({}));
    assert_eq!(
        (reply.text.as_str(), reply.is_error),
        ("No matching memories.", false)
    );
    for number in 0..7 {
        let arguments = json!({"text": format!("{number}"), "tags": [if number % 2 == 0 { "even" } else { "odd" }]});
        dispatch(
            "memory_save",
            &arguments,
            &mut backend,
            &unasked(number * 60),
        )
        .unwrap();
    }
    // One from an older store, with a newer id.
    let old = crate::security::RawMemory {
        text: "from long ago".to_owned(),
        created_at: Some("2020-01-01T00:00:00Z".to_owned()),
        ..Default::default()
    };
    backend.import(&[old], false, &at(0)).unwrap();
    let lines = |backend: &mut MemoryBackend, arguments: Value| {
        let reply = call(backend, "memory_recent", arguments);
        assert!(!reply.is_error, "{}", reply.text);
        let lines = reply
            .text
            .lines()
            .map(|line| line.split_once("] (episodic) ").unwrap().1.to_owned());
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(&mut backend, json!({})), ["6", "5", "4", "3", "2"]);
    assert_eq!(
        lines(&mut backend, json!({"k": 2, "tags": ["ODD"]})),
        ["5", "3"]
    );
    assert_eq!(
        lines(&mut backend, json!({"k": 50})).last().unwrap(),
        "from long ago"
    );
    assert_eq!(
        lines(&mut backend, json!({"until": "2021-01-01"})),
        ["from long ago"]
    );
    assert_eq!(
        lines(&mut backend, json!({"since": "2026-11-30T00:58:20Z"})),
        ["6", "5"]
    );
    call(&mut backend, "memory_forget", json!({"id": "m6"}));
    assert_eq!(lines(&mut backend, json!({"k": 1})), ["5"]);
}

#[test]
fn a_listed_memory_is_not_thereby_accessed() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    call(&mut backend, "memory_save", json!({"text": "tea"}));
    let before = disk.bytes(JOURNAL);
    for name in ["memory_recent", "memory_get"] {
        let arguments = if name == "memory_get" {
            json!({"id": "m0"})
        } else {
            json!({})
        };
        dispatch(name, &arguments, &mut backend, &unasked(100 * 3600)).unwrap();
    }
    assert_eq!(disk.bytes(JOURNAL), before);
}

#[test]
fn a_memory_is_changed_in_place() {
    let mut backend = backend_on(&FakeDisk::default());
    call(
        &mut backend,
        "memory_save",
        json!({"text": "the demo is on June 20", "tags": ["demo"]}),
    );
    let change = json!({"id": "m0", "text": "the demo is on June 21", "importance": 8});
    let reply = call(&mut backend, "memory_update", change.clone());
    assert_eq!(
        (reply.text.as_str(), reply.is_error),
        ("Updated m0.", false)
    );
    assert_eq!(
        reply.structured,
        Some(json!({"id": "m0", "uri": "memory://entries/m0", "changed": true}))
    );
    let found = call(&mut backend, "memory_search", json!({"query": "demo"}));
    assert_eq!(found.text, "[m0] (episodic) the demo is on June 21");
    assert_eq!(
        found.structured.unwrap()["memories"][0]["tags"],
        json!(["demo"])
    );
    let reply = call(&mut backend, "memory_update", change);
    assert_eq!(reply.text, "m0 said so before.");
    assert_eq!(reply.structured.unwrap()["changed"], json!(false));
}

#[test]
fn a_forgotten_memory_is_found_no_more_and_can_be_restored() {
    let mut backend = backend_on(&FakeDisk::default());
    call(&mut backend, "memory_save", json!({"text": "tea"}));
    let reply = call(&mut backend, "memory_forget", json!({"id": "m0"}));
    assert_eq!(
        reply.text,
        "Forgot m0. The user can bring it back with `personal-memory restore m0`."
    );
    assert_eq!(reply.structured, Some(json!({"id": "m0", "changed": true})));
    let found = call(&mut backend, "memory_search", json!({"query": "tea"}));
    assert_eq!(found.text, "No matching memories.");
    let again = call(&mut backend, "memory_forget", json!({"id": "m0"}));
    assert_eq!(
        (again.text.as_str(), again.is_error),
        ("m0 was forgotten before.", false)
    );
    for (name, arguments) in [
        ("memory_get", json!({"id": "m0"})),
        ("memory_update", json!({"id": "m0", "text": "x"})),
    ] {
        let reply = call(&mut backend, name, arguments);
        assert!(
            reply.is_error
                && reply.text
                    == "m0 was forgotten; the user can bring it back with `personal-memory restore m0`",
            "{}",
            reply.text
        );
    }
    backend.restore(0, &at(1)).unwrap();
    assert_eq!(
        call(&mut backend, "memory_search", json!({"query": "tea"})).text,
        "[m0] (episodic) tea"
    );
}

#[test]
fn an_id_of_no_memory_gets_a_helpful_answer() {
    let mut backend = backend_on(&FakeDisk::default());
    call(&mut backend, "memory_save", json!({"text": "tea"}));
    for (name, more) in [
        ("memory_get", json!({})),
        ("memory_forget", json!({})),
        ("memory_update", json!({"text": "x"})),
    ] {
        let with = |id: Value| {
            let mut arguments = more.clone();
            arguments["id"] = id;
            arguments
        };
        for (id, said) in [
            (
                json!("m99"),
                "there is no memory m99; memory_search and memory_recent tell the ids there are",
            ),
            (json!("M0"), "id must be written \"m0\", got \"M0\""),
            (
                json!("memory://entries/m0"),
                "id must be written \"m0\", got \"memory://entries/m0\"",
            ),
            (json!("0"), "id must be written \"m0\", got \"0\""),
            (json!(0), "id must be written \"m0\", got 0"),
            (
                json!("the first"),
                "id must be m and a number, such as \"m3\", got \"the first\"",
            ),
        ] {
            let reply = call(&mut backend, name, with(id));
            assert!(reply.is_error);
            assert_eq!(reply.text, said, "{name}");
        }
    }
    assert_eq!(
        call(&mut backend, "memory_search", json!({"query": "tea"})).text,
        "[m0] (episodic) tea"
    );
}

#[test]
fn a_failing_store_says_of_each_tool_what_did_not_happen() {
    for (name, arguments, words) in [
        (
            "memory_update",
            json!({"id": "m0", "text": "x"}),
            "nothing was changed: ",
        ),
        (
            "memory_forget",
            json!({"id": "m0"}),
            "nothing was forgotten: ",
        ),
    ] {
        let disk = FakeDisk::default();
        let mut backend = backend_on(&disk);
        call(&mut backend, "memory_save", json!({"text": "tea"}));
        disk.fail(Faults {
            refuse: Some(JOURNAL),
            ..Faults::default()
        });
        let reply = call(&mut backend, name, arguments);
        assert!(
            reply.is_error && reply.text.starts_with(words),
            "{}",
            reply.text
        );
        disk.fail(Faults {
            missing: true,
            ..Faults::default()
        });
        for (name, words) in [
            ("memory_recent", "nothing was listed: "),
            ("memory_get", "nothing was read: "),
        ] {
            let arguments = if name == "memory_get" {
                json!({"id": "m0"})
            } else {
                json!({})
            };
            let reply = call(&mut backend, name, arguments);
            assert!(
                reply.is_error && reply.text.starts_with(words),
                "{}",
                reply.text
            );
        }
    }
}
