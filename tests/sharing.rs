//! Several processes on one memory, as several apps have it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;

use personal_memory::store_lock::{PATIENCE, StoreLock};
use serde_json::{Value, json};

use crate::harness::{Builder, LIST_CHANGED, Server, cancellation, request, tool_call};

const SAVES_EACH: usize = 100;

fn server(data: &Path) -> Server {
    let mut server = Builder::memory_in(data).start();
    server.initialize("2025-06-18");
    server
}

fn id_of(result: &Value) -> String {
    result["structuredContent"]["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Every memory that a fresh server lists, as URI and size.
fn listed(data: &Path) -> BTreeSet<(String, u64)> {
    let mut server = server(data);
    let mut found = BTreeSet::new();
    let mut params = json!({});
    loop {
        let page = server.request("resources/list", &params)["result"].clone();
        for resource in page["resources"].as_array().unwrap() {
            let uri = resource["uri"].as_str().unwrap().to_owned();
            assert!(
                found.insert((uri, resource["size"].as_u64().unwrap())),
                "{resource} twice"
            );
        }
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return found,
        }
    }
}

/// Each of `writers` processes saves its own texts, all at the same time.
fn all_saves_survive(writers: usize) {
    let data = tempfile::tempdir().unwrap();
    let start = Arc::new(Barrier::new(writers));
    let threads: Vec<_> = (0..writers)
        .map(|writer| {
            let (mut server, start) = (server(data.path()), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                let save = |number| {
                    let text = format!("{writer}: {}", "x".repeat(number));
                    let result = server.call("memory_save", &json!({"text": text}));
                    assert_eq!(result["structuredContent"]["created"], true, "{result}");
                    (
                        format!("memory://entries/{}", id_of(&result)),
                        text.len() as u64,
                    )
                };
                (0..SAVES_EACH).map(save).collect::<Vec<_>>()
            })
        })
        .collect();
    let acknowledged: Vec<_> = threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(acknowledged.len(), writers * SAVES_EACH);
    assert_eq!(
        listed(data.path()),
        acknowledged.into_iter().collect(),
        "nothing lost, no id twice"
    );
}

#[test]
fn two_processes_lose_nothing() {
    all_saves_survive(2);
}

#[test]
fn eight_processes_lose_nothing() {
    all_saves_survive(8);
}

#[test]
fn the_same_text_saved_by_two_processes_is_one_memory() {
    let data = tempfile::tempdir().unwrap();
    let start = Arc::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (mut server, start) = (server(data.path()), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                let save = |number| {
                    let text = format!("said twice, number {number}");
                    id_of(&server.call("memory_save", &json!({"text": text})))
                };
                (0..SAVES_EACH).map(save).collect::<Vec<_>>()
            })
        })
        .collect();
    let ids: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(listed(data.path()).len(), SAVES_EACH);
}

#[test]
fn what_one_process_saved_another_finds_at_once() {
    let data = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (server(data.path()), server(data.path()));
    for number in 0..5 {
        let text = format!("the password of the cellar is number {number}");
        first.call("memory_save", &json!({"text": text}));
        let found = second.call_text(
            "memory_search",
            &json!({"query": format!("cellar {number}"), "k": 1}),
        );
        assert!(found.ends_with(&text), "{found}");
    }
}

#[test]
fn a_save_that_is_cancelled_while_it_waits_is_not_stored() {
    let data = tempfile::tempdir().unwrap();
    let mut lock = StoreLock::new(data.path());
    let held = lock.acquire(PATIENCE, || false).unwrap().unwrap();
    let mut server = server(data.path());
    let arguments = json!({"text": "never mind"});
    server.send(&request(
        "save",
        "tools/call",
        &json!({"name": "memory_save", "arguments": arguments}),
    ));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "save"}}));
    // Answered by the reader: so it has read the cancellation, while the worker still waits for the lock.
    server.request("ping", &json!({}));
    drop(held);
    assert_eq!(
        server.call_text("memory_search", &json!({"query": "mind"})),
        "No matching memories."
    );
    server.end_in_order();
}

/// Cancellations of calls that run, that wait, that are finished, and that never were.
#[test]
fn a_storm_of_cancellations_costs_nothing_but_what_was_cancelled() {
    const ROUNDS: usize = 10;
    // As many as may wait.
    const CALLS: usize = 60;
    let data = tempfile::tempdir().unwrap();
    let (mut server, mut other) = (server(data.path()), server(data.path()));
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let id = |number: usize| format!("{round}/{number}");
        for number in 0..CALLS {
            let text = format!("{}: {}", id(number), "x".repeat(round * CALLS + number));
            server.send(&tool_call(
                id(number),
                "memory_save",
                &json!({"text": text}),
            ));
            if number % 3 > 0 {
                server.send(&cancellation(id(number)));
            }
            // Cancelled already, answered perhaps, or left alone: it is over by now, or not, or was never there.
            server.send(&cancellation(id(number / 6 * 3 + 1)));
            server.send(&cancellation(format!("no call of {round}")));
        }
        server.send(&tool_call(
            "after the storm",
            "memory_search",
            &json!({"query": "x"}),
        ));
        let mut kept = (0..CALLS).step_by(3);
        loop {
            let message = server.read();
            let Some(answered) = message["id"].as_str() else {
                assert_eq!(message["method"], LIST_CHANGED, "{message}");
                continue;
            };
            if answered == "after the storm" {
                assert!(message.get("result").is_some(), "{message}");
                break;
            }
            let saved = &message["result"]["structuredContent"];
            let uri = format!("memory://entries/{}", saved["id"].as_str().unwrap());
            let number: usize = answered.rsplit('/').next().unwrap().parse().unwrap();
            let size = format!("{answered}: ").len() + round * CALLS + number;
            assert!(acknowledged.insert((uri, size as u64)), "twice: {message}");
            if number.is_multiple_of(3) {
                assert_eq!(kept.next(), Some(number), "in order, none left out");
            }
        }
        assert_eq!(
            kept.next(),
            None,
            "those that nobody cancelled are answered"
        );
        // The lock is not left behind.
        let text = format!("another process, {round}");
        other.call("memory_save", &json!({"text": text}));
    }
    let listed = listed(data.path());
    assert!(listed.is_superset(&acknowledged), "{acknowledged:?}");
    server.end_in_order();
}

#[test]
fn a_data_directory_that_was_made_again_is_used() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let mut server = server(&data);
    server.call("memory_save", &json!({"text": "before"}));
    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    assert_eq!(
        server.call_text("memory_save", &json!({"text": "after"})),
        "Saved m0."
    );
    let journal = fs::read_to_string(data.join("journal.jsonl")).unwrap();
    assert!(
        journal.contains("after") && !journal.contains("before"),
        "{journal}"
    );
}

#[test]
fn a_data_directory_that_was_replaced_before_the_first_call_is_used() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let mut server = server(&data);
    fs::rename(&data, parent.path().join("old")).unwrap();
    fs::create_dir(&data).unwrap();
    server.call("memory_save", &json!({"text": "where to?"}));
    assert!(data.join("journal.jsonl").exists());
}

#[test]
fn what_tools_there_are_is_told_while_another_process_holds_the_store() {
    let data = tempfile::tempdir().unwrap();
    let mut lock = StoreLock::new(data.path());
    let _held = lock.acquire(PATIENCE, || false).unwrap();
    let mut server = server(data.path());
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        let response = server.request(method, &json!({}));
        assert!(response.get("result").is_some(), "{response}");
    }
}
