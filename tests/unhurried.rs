//! What the host calls of a component beside the calls of clients: it opens its store before the first one, has it tidied
//! up when there are none, and looks for changes while somebody wants to hear of them. The component logs it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    Server, calls_in, cancellation, error_of, modern, request, tool_call, unhurried, wait_for_calls,
};

/// Longer than the host would wait before it does once more what it must not do again.
const A_WHILE: Duration = Duration::from_millis(700);

/// The message that tells clients of a change of this component.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// What the host called but for steps, which come whenever two seconds pass.
fn calls_but_steps(data: &Path) -> Vec<String> {
    let mut calls = calls_in(data);
    calls.retain(|call| call != "step");
    calls
}

fn count(calls: &[String], what: &str) -> usize {
    calls.iter().filter(|call| *call == what).count()
}

#[test]
fn a_store_is_opened_slice_by_slice_before_the_first_call_and_not_again() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).args(&["--set", "open=4"]).start();
    server.initialize("2025-11-25");
    server.request("tools/list", &json!({}));
    assert_eq!(calls_in(data.path()), [""; 0], "nobody needs the store yet");

    let mut plain = unhurried(data.path()).args(&["--set", "open=4"]).start();
    plain.call("note", &json!({}));
    plain.call("note", &json!({}));
    assert_eq!(
        calls_but_steps(data.path()),
        ["open", "open", "open", "open", "call note", "call note"]
    );
}

/// Five slices of 300 ms, each as short as the host wants it with this deadline or somewhat longer.
#[test]
fn opening_may_take_longer_than_a_call() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--timeout", "1", "--set", "open=5", "--set", "pause=300"])
        .start();
    assert_eq!(server.call_text("note", &json!({})), "done");
    assert_eq!(count(&calls_in(data.path()), "open"), 5);
    server.end_in_order();
}

#[test]
fn a_call_can_be_cancelled_while_the_store_is_opened() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--set", "open=1000000", "--set", "pause=10"])
        .start();
    server.send(&tool_call("impatient", "note", &json!({})));
    wait_for_calls(data.path(), "open", 3);
    server.send(&cancellation("impatient"));
    let tools = server.request("tools/list", &json!({}));
    assert!(tools.get("result").is_some(), "{tools}");
    assert_eq!(count(&calls_in(data.path()), "call note"), 0);
    server.end_in_order();
}

#[test]
fn a_call_is_answered_between_the_slices_of_another_process() {
    let data = tempfile::tempdir().unwrap();
    let mut slow = unhurried(data.path())
        .args(&["--set", "open=1000000", "--set", "pause=10"])
        .start();
    slow.send(&tool_call("slow", "note", &json!({})));
    wait_for_calls(data.path(), "open", 3);
    let mut quick = unhurried(data.path()).start();
    assert_eq!(quick.call_text("note", &json!({})), "done");
    quick.end_in_order();
    // The end of the input does not wait for the opening.
    slow.end_in_order();
}

#[test]
fn a_store_that_can_t_be_opened_is_left_to_the_call_to_tell() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--set", "open=error"])
        .start();
    assert_eq!(server.call_text("note", &json!({})), "done");
    let stderr = server.end_in_order();
    assert!(stderr.contains("it does not open"), "{stderr}");
    assert_eq!(calls_but_steps(data.path()), ["open", "call note"]);
}

#[test]
fn a_fresh_instance_opens_the_store_again() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).args(&["--set", "open=2"]).start();
    assert_eq!(server.call_error("trap", &json!({})).0, -32603);
    server.call("note", &json!({}));
    assert_eq!(
        calls_but_steps(data.path()),
        ["open", "open", "call trap", "open", "open", "call note"]
    );
}

#[test]
fn work_goes_on_while_nobody_calls_until_it_is_done() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).args(&["--set", "steps=3"]).start();
    server.call("note", &json!({}));
    wait_for_calls(data.path(), "step", 3);
    thread::sleep(A_WHILE);
    assert_eq!(
        calls_in(data.path()),
        ["open", "call note", "step", "step", "step"]
    );
    // After the next call it is asked again.
    server.call("note", &json!({}));
    wait_for_calls(data.path(), "step", 6);
    server.end_in_order();
}

#[test]
fn work_that_never_ends_keeps_nobody_from_calling() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--set", "steps=1000000", "--set", "pause=50"])
        .start();
    server.call("note", &json!({}));
    wait_for_calls(data.path(), "step", 3);
    // Another process gets the store between two steps.
    let mut other = unhurried(data.path()).start();
    for _ in 0..20 {
        assert_eq!(other.call_text("note", &json!({})), "done");
    }
    assert_eq!(server.call_text("note", &json!({})), "done");
    server.end_in_order();
}

#[test]
fn work_that_failed_is_left_alone_for_a_while_and_costs_no_call() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--set", "steps=error"])
        .start();
    server.call("note", &json!({}));
    wait_for_calls(data.path(), "step", 1);
    thread::sleep(A_WHILE);
    assert_eq!(count(&calls_in(data.path()), "step"), 1);
    assert_eq!(server.call_text("note", &json!({})), "done");
    let stderr = server.end_in_order();
    assert!(stderr.contains("it does not work"), "{stderr}");
}

#[test]
fn nobody_looks_for_changes_before_somebody_wants_to_hear_of_them() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).start();
    server.call("change", &json!({}));
    server.request("tools/list", &modern(json!({})));
    // By then it would have looked.
    wait_for_calls(data.path(), "step", 1);
    assert_eq!(count(&calls_in(data.path()), "since"), 0);
    server.end_in_order();
}

/// The next word of a change, which must be one of the tools.
fn hears(server: &mut Server) -> Value {
    let message = server.hear();
    assert_eq!(message["method"], TOOLS_CHANGED, "{message}");
    message
}

#[test]
fn a_legacy_client_hears_of_changes_after_its_calls_and_costs_nothing_between_them() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).start();
    let result = server.initialize("2025-11-25");
    assert_eq!(
        result["capabilities"],
        json!({"tools": {"listChanged": true}}),
        "what can change, and nothing that is not there"
    );
    server.call("change", &json!({}));
    assert!(
        hears(&mut server)
            .get("params")
            .is_none_or(|params| params == &json!({}))
    );

    wait_for_calls(data.path(), "step", 1);
    let looked = count(&calls_in(data.path()), "since");
    thread::sleep(A_WHILE);
    assert_eq!(count(&calls_in(data.path()), "since"), looked);
    server.end_in_order();
}

#[test]
fn a_stream_hears_of_what_another_process_changed_also_after_a_trap() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path()).start();
    let filter = json!({"notifications": {"toolsListChanged": true, "resourcesListChanged": true}});
    server.send(&request("stream", "subscriptions/listen", &modern(filter)));
    let acknowledged = server.read();
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"toolsListChanged": true}),
        "resources are not offered: {acknowledged}"
    );
    let mut other = unhurried(data.path()).start();
    other.call("change", &json!({}));
    hears(&mut server);

    // The instance is gone, what clients know is not.
    server.send(&tool_call("trap", "trap", &json!({})));
    let broken = server.read();
    assert_eq!(
        (broken["id"].as_str(), error_of(&broken).0),
        (Some("trap"), -32603)
    );
    other.call("change", &json!({}));
    hears(&mut server);

    server.send(&cancellation("stream"));
    assert_eq!(server.call_text("note", &json!({})), "done");
    wait_for_calls(data.path(), "step", 1);
    let looked = count(&calls_in(data.path()), "since");
    thread::sleep(A_WHILE);
    assert_eq!(
        count(&calls_in(data.path()), "since"),
        looked,
        "nobody listens any more"
    );
    server.end_in_order();
}

/// Whoever is told that it listens must not miss what comes next.
#[test]
fn a_stream_hears_of_what_changes_right_after_its_acknowledgement() {
    for round in 0..10 {
        let data = tempfile::tempdir().unwrap();
        let mut server = unhurried(data.path()).start();
        let filter = json!({"notifications": {"toolsListChanged": true}});
        server.send(&request(round, "subscriptions/listen", &modern(filter)));
        server.read();
        // As another process would, and at once.
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(data.path().join("log"))
            .and_then(|mut log| log.write_all(b"call change\n"))
            .unwrap();
        hears(&mut server);
    }
}

#[test]
fn changes_that_can_t_be_told_cost_no_call_and_are_asked_for_again() {
    let data = tempfile::tempdir().unwrap();
    let mut server = unhurried(data.path())
        .args(&["--set", "changes=error"])
        .start();
    let filter = json!({"notifications": {"toolsListChanged": true}});
    server.send(&request("stream", "subscriptions/listen", &modern(filter)));
    assert_eq!(
        server.read()["method"],
        "notifications/subscriptions/acknowledged"
    );
    wait_for_calls(data.path(), "since", 3);
    assert_eq!(server.call_text("change", &json!({})), "done");
    server.send(&cancellation("stream"));
    let stderr = server.end_in_order();
    assert!(stderr.contains("nobody knows"), "{stderr}");
}
