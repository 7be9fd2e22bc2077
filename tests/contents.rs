//! Rules of what the memory returns, where a transcript would be too long: pages, suggestions, schemas, budgets.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::harness::{Builder, modern};

/// Rule 32, in both eras, while the list changes.
#[test]
fn pages_of_resources_are_walked_by_opaque_cursors() {
    const ENTRIES: usize = 250;
    let mut server = Builder::memory().start();
    for number in 0..ENTRIES {
        server.call("memory_save", &json!({"text": format!("memory {number}")}));
    }
    for era in [|params| params, modern] {
        let mut uris = Vec::new();
        let mut params = era(json!({}));
        loop {
            let result = server.request("resources/list", &params)["result"].clone();
            let page = result["resources"].as_array().unwrap();
            assert!(!page.is_empty());
            uris.extend(
                page.iter()
                    .map(|resource| resource["uri"].as_str().unwrap().to_owned()),
            );
            let Some(cursor) = result.get("nextCursor") else {
                break;
            };
            params = era(json!({"cursor": cursor}));
            // Newest first: what is new can't move what is still to come.
            server.call(
                "memory_save",
                &json!({"text": format!("saved at {}", uris.len())}),
            );
        }
        let expected: Vec<_> = (0..ENTRIES)
            .rev()
            .map(|number| format!("memory://entries/m{number}"))
            .collect();
        let from = uris.iter().position(|uri| *uri == expected[0]).unwrap();
        assert_eq!(uris[from..], expected, "each once, newest first");
        assert_eq!(uris.iter().collect::<HashSet<_>>().len(), uris.len());
    }
}

#[test]
fn suggestions_are_at_most_a_hundred() {
    let mut server = Builder::memory().start();
    for number in 0..101 {
        server.call("memory_save", &json!({"text": format!("memory {number}")}));
    }
    let params = json!({"ref": {"type": "ref/resource", "uri": "memory://entries/{id}"}, "argument": {"name": "id", "value": ""}});
    let completion = server.request("completion/complete", &params)["result"]["completion"].clone();
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(completion["total"], 101);
    assert_eq!(completion["hasMore"], true);
}

/// Rule 30, for the longest replies that there are.
#[test]
fn structured_content_conforms_to_its_schema_and_replies_keep_to_a_budget() {
    let mut server = Builder::memory().args(&["--set", "confirm=none"]).start();
    let tools = server.request("tools/list", &json!({}))["result"]["tools"].clone();
    let schema = |name: &str| {
        tools
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == name)
            .unwrap()["outputSchema"]
            .clone()
    };
    for number in 0..50 {
        let arguments = json!({"text": format!("{number} word {}", "\u{1}é\"".repeat(1300)), "tags": ["a", "b"]});
        let result = server.call("memory_save", &arguments);
        check_schema(
            &schema("memory_save"),
            &result["structuredContent"],
            "memory_save",
        );
    }
    for (name, arguments) in [
        ("memory_recent", json!({"k": 50})),
        ("memory_get", json!({"id": "m7"})),
        ("memory_update", json!({"id": "m7", "tags": ["c"]})),
        ("memory_forget", json!({"id": "m7"})),
    ] {
        let result = server.call(name, &arguments);
        check_schema(&schema(name), &result["structuredContent"], name);
    }
    let result = server.call("memory_search", &json!({"query": "word", "k": 50}));
    check_schema(
        &schema("memory_search"),
        &result["structuredContent"],
        "memory_search",
    );
    assert_eq!(
        result["structuredContent"]["memories"]
            .as_array()
            .unwrap()
            .len(),
        50
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 24 * 1024, "{}", text.len());
    assert!(
        text.contains("Get one by its id"),
        "it says how to read the rest"
    );
    assert!(result["structuredContent"].to_string().len() <= 24 * 1024);
}

/// As much of JSON Schema as our output schemas use.
fn check_schema(schema: &Value, value: &Value, at: &str) {
    match schema["type"].as_str().unwrap() {
        "object" => {
            let members = value.as_object().unwrap_or_else(|| panic!("{at}: {value}"));
            for required in schema["required"].as_array().into_iter().flatten() {
                assert!(
                    members.contains_key(required.as_str().unwrap()),
                    "{at}: {required} is missing"
                );
            }
            // One that names no members is open.
            for (name, member) in members
                .iter()
                .filter(|_| schema.get("properties").is_some())
            {
                let schema = schema["properties"]
                    .get(name)
                    .unwrap_or_else(|| panic!("{at}: {name} is not in the schema"));
                check_schema(schema, member, &format!("{at}.{name}"));
            }
        }
        "array" => value
            .as_array()
            .unwrap()
            .iter()
            .for_each(|item| check_schema(&schema["items"], item, at)),
        "string" => assert!(value.is_string(), "{at}"),
        "number" => assert!(value.is_number(), "{at}"),
        "boolean" => assert!(value.is_boolean(), "{at}"),
        other => panic!("{at}: the test knows no {other}"),
    }
    if let Some(allowed) = schema.get("enum") {
        assert!(allowed.as_array().unwrap().contains(value), "{at}");
    }
}

/// Transcripts hide what the clock says; this is where it is looked at.
#[test]
fn a_memory_is_dated_by_the_clock() {
    let mut server = Builder::memory().start();
    let before = today();
    server.call("memory_save", &json!({"text": "dated"}));
    let after = today();
    let result = server.call("memory_search", &json!({"query": "dated"}));
    let created = result["structuredContent"]["memories"][0]["created_at"]
        .as_str()
        .unwrap();
    assert!(
        created.starts_with(&before) || created.starts_with(&after),
        "{created} is neither {before} nor {after}"
    );
    for filter in ["since", "until"] {
        let result = server.call("memory_search", &json!({"query": "dated", filter: created}));
        assert_eq!(
            result["structuredContent"]["memories"]
                .as_array()
                .unwrap()
                .len(),
            1,
            "{filter} {created}"
        );
    }
    let result = server.call(
        "memory_search",
        &json!({"query": "dated", "until": "2020-01-01"}),
    );
    assert_eq!(result["structuredContent"]["memories"], json!([]));
}

/// The date in UTC and the hour, by Howard Hinnant's `civil_from_days`.
fn today() -> String {
    let seconds = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:",
        seconds % 86_400 / 3600
    )
}
