//! Stores that take longer to open than a call may: they open all the same, and say what is in them.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Builder, Server, cancellation, tool_call, write_journal};

/// So many that opening takes longer than the deadline below, in which any call is made.
const MEMORIES: usize = 100_000;

/// Seconds.
const DEADLINE: &str = "2";

fn start(data: &Path) -> Server {
    Builder::memory_in(data)
        .args(&["--timeout", DEADLINE])
        .start()
}

/// The id of what a search finds for a word that is in one memory only.
fn find(server: &mut Server, number: usize) -> Value {
    let query = json!({"query": format!("n{number}n"), "k": 1});
    let result = server.call("memory_search", &query);
    result["structuredContent"]["memories"][0]["id"].clone()
}

/// One store for all of it, since making and opening it is what takes the time.
#[test]
fn a_hundred_thousand_memories_open_and_answer_whatever_happens_on_the_way() {
    let data = tempfile::tempdir().unwrap();
    write_journal(data.path(), MEMORIES);

    // A cancellation is heard while the store is opened.
    let mut server = start(data.path());
    server.initialize("2025-11-25");
    let query = json!({"query": "bread"});
    server.send(&tool_call("impatient", "memory_search", &query));
    server.request("ping", &json!({}));
    server.send(&cancellation("impatient"));
    server.request("tools/list", &json!({}));
    // Killed while it is opened once more.
    server.send(&tool_call("again", "memory_search", &query));
    server.request("ping", &json!({}));
    server.kill();

    let mut server = start(data.path());
    server.initialize("2025-11-25");
    assert_eq!(find(&mut server, 31_415), "m31415");
    assert_eq!(
        find(&mut server, MEMORIES - 1),
        format!("m{}", MEMORIES - 1)
    );
    let read = server.request("resources/read", &json!({"uri": "memory://entries/m0"}));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("n0n"), "{text}");
    assert_eq!(
        server.call_text("memory_save", &json!({"text": "one more"})),
        format!("Saved m{MEMORIES}.")
    );
    server.end_in_order();
}
