//! What a model sees, and what it gets.

use super::*;
use crate::config::{Confirm, MAX_TEXT_CHARS};
use crate::consent::Asking;
use crate::store::fake::{FakeDisk, Faults, at};
use crate::store::journal::JOURNAL;

pub(super) fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), Box::new(|| [1; 16]))
}

/// A call of which nobody wants to be asked.
pub(super) fn call(backend: &mut MemoryBackend, name: &str, arguments: Value) -> ToolReply {
    dispatch(name, &arguments, backend, &unasked(0)).unwrap()
}

pub(super) fn unasked(seconds: i64) -> Moment {
    at(seconds).with_asking(Asking {
        confirm: Confirm::None,
        ..Asking::default()
    })
}

#[test]
fn saved_memories_are_found_again() {
    let mut backend = backend_on(&FakeDisk::default());
    let saved = call(
        &mut backend,
        "memory_save",
        json!({"text": "the StarcallOS demo is on June 20"}),
    );
    assert_eq!((saved.text.as_str(), saved.is_error), ("Saved m0.", false));
    assert_eq!(
        saved.structured,
        Some(json!({"id": "m0", "uri": "memory://entries/m0", "created": true}))
    );
    let dark = call(
        &mut backend,
        "memory_save",
        json!({"text": "I prefer dark mode", "kind": "semantic"}),
    );
    assert_eq!(dark.text, "Saved m1.");

    let found = call(&mut backend, "memory_search", json!({"query": "dark"}));
    assert_eq!(found.text, "[m1] (semantic) I prefer dark mode");
    assert_eq!(
        found.structured,
        Some(json!({"memories": [{
            "id": "m1", "uri": "memory://entries/m1", "kind": "semantic", "text": "I prefer dark mode", "tags": [],
            "importance": 5.0, "created_at": "2026-11-30T00:53:20.000Z",
        }]}))
    );
}

#[test]
fn nothing_found_is_said_in_these_words() {
    let mut backend = backend_on(&FakeDisk::default());
    for _ in 0..2 {
        let reply = call(&mut backend, "memory_search", json!({"query": "kangaroo"}));
        assert_eq!(
            (reply.text.as_str(), reply.is_error),
            ("No matching memories.", false)
        );
        assert_eq!(reply.structured, Some(json!({"memories": []})));
        call(
            &mut backend,
            "memory_save",
            json!({"text": "I prefer dark mode"}),
        );
    }
}

#[test]
fn saving_again_says_so() {
    let mut backend = backend_on(&FakeDisk::default());
    call(&mut backend, "memory_save", json!({"text": "x"}));
    for (arguments, said) in [
        (json!({"text": "x"}), "Already saved as m0."),
        (
            json!({"text": "x", "tags": ["t", "u"]}),
            "Already saved as m0; added tags t, u.",
        ),
        (
            json!({"text": "x", "importance": 7.5}),
            "Already saved as m0; raised its importance to 7.5.",
        ),
        (
            json!({"text": "x", "tags": ["u", "v"], "importance": 8}),
            "Already saved as m0; added tags v and raised its importance to 8.",
        ),
        (
            json!({"text": "x", "tags": ["v"], "importance": 2}),
            "Already saved as m0.",
        ),
    ] {
        let again = call(&mut backend, "memory_save", arguments);
        assert_eq!(again.text, said);
        assert_eq!(again.structured.unwrap()["created"], json!(false));
    }
}

#[test]
fn bad_arguments_are_refused_and_change_nothing() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for (name, arguments) in [
        ("memory_save", json!({"text": " "})),
        (
            "memory_save",
            json!({"text": "x".repeat(MAX_TEXT_CHARS + 1)}),
        ),
        ("memory_save", json!({"text": "x", "kind": "secret"})),
        ("memory_save", json!({"text": "x", "importance": 11})),
        ("memory_save", json!({"text": "x", "extra": 1})),
        ("memory_search", json!({"query": "x", "k": -1})),
        ("memory_search", json!({})),
        ("memory_search", json!([])),
        ("memory_recent", json!({"k": 0})),
        ("memory_get", json!({"id": 3})),
        ("memory_get", json!({})),
        ("memory_update", json!({"id": "m0"})),
        ("memory_forget", json!({"id": "memory://entries/m0"})),
        ("memory_forget", json!({"ids": ["m0"]})),
    ] {
        let reply = call(&mut backend, name, arguments.clone());
        assert!(reply.is_error && reply.structured.is_none(), "{arguments}");
        let quoted = reply.text.starts_with(|first: char| first.is_lowercase())
            && !reply.text.ends_with('.');
        assert!(quoted, "house style: {}", reply.text);
    }
    assert_eq!(disk.names(), [""; 0]);
}

#[test]
fn a_save_that_may_be_on_the_disk_is_not_said_to_be_stored_nowhere() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    call(&mut backend, "memory_save", json!({"text": "kept"}));
    disk.fail(Faults {
        sync: true,
        cut: true,
        ..Faults::default()
    });
    let reply = call(&mut backend, "memory_save", json!({"text": "open"}));
    assert!(
        reply.is_error
            && !reply.text.contains("nothing")
            && reply.text.starts_with("whether this was done"),
        "{}",
        reply.text
    );
    disk.fail(Faults::default());
    let reply = call(&mut backend, "memory_save", json!({"text": "later"}));
    assert!(
        reply.text.starts_with("nothing was stored: "),
        "{}",
        reply.text
    );
}

#[test]
fn a_failing_store_is_a_refusal_that_says_what_did_not_happen() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    disk.fail(Faults {
        refuse: Some(JOURNAL),
        ..Faults::default()
    });
    let reply = call(&mut backend, "memory_save", json!({"text": "x"}));
    assert!(
        reply.is_error && reply.text.starts_with("nothing was stored: "),
        "{}",
        reply.text
    );

    disk.fail(Faults {
        missing: true,
        ..Faults::default()
    });
    let reply = call(&mut backend, "memory_save", json!({"text": "x"}));
    assert!(
        reply.text.contains("no directory was granted as `data`"),
        "{}",
        reply.text
    );
    let reply = call(&mut backend, "memory_search", json!({"query": "x"}));
    assert!(
        reply.is_error && reply.text.contains("no directory was granted"),
        "{}",
        reply.text
    );
}

#[test]
fn an_unknown_tool_is_a_wrong_request() {
    let mut backend = backend_on(&FakeDisk::default());
    for name in ["", "memory_Search", "memory_purge", "memory_search "] {
        let outcome = dispatch(name, &json!({}), &mut backend, &at(0));
        assert_eq!(outcome, Err(RequestError::UnknownName(name.to_owned())));
    }
}

#[test]
fn schemas_are_plain_objects_with_the_bounds_in_them() {
    for tool in TOOLS {
        let (input, output) = ((tool.input_schema)(), (tool.output_schema)());
        assert_eq!(input["additionalProperties"], false, "{}", tool.name);
        for schema in [input, output] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for combinator in ["anyOf", "oneOf", "allOf"] {
                assert!(schema.get(combinator).is_none(), "{}", tool.name);
            }
        }
    }
    let search = (search::TOOL.input_schema)();
    assert_eq!(search["required"], json!(["query"]));
    assert_eq!(search["properties"]["k"]["maximum"], 50);
    assert_eq!(search["properties"]["k"]["default"], 5);
    let save = (save::TOOL.input_schema)();
    assert_eq!(save["required"], json!(["text"]));
    assert_eq!(save["properties"]["text"]["maxLength"], 4000);
    assert_eq!(
        save["properties"]["kind"]["enum"],
        json!(["episodic", "semantic", "procedural"])
    );
    assert_eq!(save["properties"]["kind"]["default"], "episodic");
    assert_eq!(save["properties"]["importance"]["minimum"], 1.0);
    assert_eq!(save["properties"]["importance"]["maximum"], 10.0);
}

/// A schema and its check are two places: whatever one knows, the other must.
#[test]
fn every_argument_in_a_schema_is_one_that_is_checked() {
    let mut backend = backend_on(&FakeDisk::default());
    for tool in TOOLS {
        let reply = call(&mut backend, tool.name, json!({"nonsense": 1}));
        let known = reply.text.split("known are ").nth(1).unwrap();
        let mut known: Vec<&str> = known.split(", ").collect();
        known.sort_unstable();
        let schema = (tool.input_schema)();
        let mut documented: Vec<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        documented.sort_unstable();
        assert_eq!(known, documented, "{}", tool.name);
    }
}

#[test]
fn structured_content_has_what_the_output_schema_requires_and_nothing_else() {
    let mut backend = backend_on(&FakeDisk::default());
    for number in 0..10 {
        let text = format!("{number} {}", "tea ".repeat(900));
        call(
            &mut backend,
            "memory_save",
            json!({"text": text, "tags": ["t"]}),
        );
    }
    let found = call(
        &mut backend,
        "memory_search",
        json!({"query": "tea", "k": 10}),
    )
    .structured
    .unwrap();
    let schema = (search::TOOL.output_schema)();
    let item = &schema["properties"]["memories"]["items"];
    let memories = found["memories"].as_array().unwrap();
    assert!(
        memories.iter().any(|memory| memory["truncated"] == true)
            && memories[0].get("truncated").is_none()
    );
    for memory in memories {
        let memory = memory.as_object().unwrap();
        assert!(
            item["required"]
                .as_array()
                .unwrap()
                .iter()
                .all(|name| memory.contains_key(name.as_str().unwrap()))
        );
        assert!(
            memory
                .keys()
                .all(|name| item["properties"].get(name).is_some())
        );
    }
}

/// What a model reads at every start, as it goes over the wire.
#[test]
fn the_list_costs_a_model_little() {
    let mut tools = Vec::new();
    for tool in TOOLS {
        assert!(tool.description.len() < 2048, "{}", tool.name);
        let hints = &tool.annotations;
        tools.push(json!({
            "name": tool.name, "title": tool.title, "description": tool.description,
            "inputSchema": (tool.input_schema)(), "outputSchema": (tool.output_schema)(),
            "annotations": {
                "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent, "openWorldHint": false,
            },
        }));
        let valid =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        assert!(tool.name.len() <= 64 && tool.name.chars().all(valid));
    }
    let envelope = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":3600000,"cacheScope":"public","tools":}}"#;
    let total = envelope.len() + json!(tools).to_string().len();
    assert!(total < 6 * 1024, "{total} bytes");
}

#[test]
fn annotations_are_true() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let arguments = json!({"id": "m0", "text": "tea", "query": "tea", "tags": ["green"]});
    call(&mut backend, "memory_save", json!({"text": "tea"}));
    let state = |backend: &mut MemoryBackend| backend.export(None, 99, true).unwrap().memories;
    for tool in TOOLS {
        let schema = (tool.input_schema)();
        // A filter would find nothing.
        let wanted = |name: &&str| {
            schema["properties"].get(name).is_some()
                && (*name != "tags" || !tool.annotations.read_only)
        };
        let own: Value = ["id", "text", "query", "tags"]
            .into_iter()
            .filter(wanted)
            .map(|name| (name.to_owned(), arguments[name].clone()))
            .collect();
        let (before, memories) = (disk.bytes(JOURNAL), state(&mut backend));
        let once = call(&mut backend, tool.name, own.clone());
        let after_once = disk.bytes(JOURNAL);
        assert!(!once.is_error, "{}: {}", tool.name, once.text);
        assert!(
            !tool.annotations.read_only || before == after_once,
            "{} changes something",
            tool.name
        );
        let kept = |memory: &crate::backend::Memory| {
            let text = &memory.text;
            state(&mut backend).iter().any(|now| {
                now.text == *text
                    && now.forgotten_at.is_none()
                    && memory.tags.iter().all(|tag| now.tags.contains(tag))
            })
        };
        assert!(
            tool.annotations.destructive || memories.iter().all(kept),
            "{} takes something away",
            tool.name
        );
        call(&mut backend, tool.name, own);
        assert!(
            !tool.annotations.idempotent || after_once == disk.bytes(JOURNAL),
            "{} changes more",
            tool.name
        );
    }
}
