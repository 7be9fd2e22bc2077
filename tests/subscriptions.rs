//! Who is told of changes: those who asked, of what they asked for, whoever made the change; and how streams end.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    Builder, Finished, LIST_CHANGED, Server, UPDATED, cancellation, error_of, modern, request,
    tool_call,
};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// An id that a reader of floating-point numbers would change.
const LARGE_ID: u64 = 9_007_199_254_740_993;

fn memory(data: &Path) -> Server {
    Builder::memory_in(data).start()
}

fn uri(number: usize) -> String {
    format!("memory://entries/m{number}")
}

fn save(server: &mut Server, text: &str) {
    let result = server.call("memory_save", &json!({"text": text}));
    assert_eq!(result["structuredContent"]["created"], true, "{result}");
}

/// Changes a memory: the same text again, with a tag that it has not yet.
fn update(server: &mut Server, text: &str, tag: &str) {
    let result = server.call("memory_save", &json!({"text": text, "tags": [tag]}));
    assert_eq!(result["structuredContent"]["created"], false, "{result}");
}

fn subscribe(server: &mut Server, uri: &str) {
    let response = server.request("resources/subscribe", &json!({"uri": uri}));
    assert_eq!(response["result"], json!({}), "{response}");
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}})
}

/// The next word of a change that is none of a changed list.
fn next(server: &mut Server) -> Value {
    loop {
        let message = server.hear();
        if message["method"] != LIST_CHANGED {
            return message;
        }
    }
}

/// Asks for a stream; returns what is acknowledged.
fn listen(server: &mut Server, id: &Value, filter: &Value) -> Value {
    let params = modern(json!({"notifications": filter}));
    server.send(&request(id.clone(), "subscriptions/listen", &params));
    let message = server.read();
    assert_eq!(message["method"], ACKNOWLEDGED, "{message}");
    assert_eq!(message["params"]["_meta"][SUBSCRIPTION_ID], *id);
    message["params"]["notifications"].clone()
}

/// What a stream says when the list of memories changed.
fn list_changed_on(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": LIST_CHANGED, "params": {"_meta": {SUBSCRIPTION_ID: id}}})
}

fn updated_on(id: &Value, uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri, "_meta": {SUBSCRIPTION_ID: id}}})
}

#[test]
fn what_can_be_watched_is_advertised() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let watched = json!({"listChanged": true, "subscribe": true});
    let legacy = server.initialize("2025-06-18");
    assert_eq!(legacy["capabilities"]["resources"], watched);
    assert_eq!(
        legacy["capabilities"]["tools"],
        json!({}),
        "they never change"
    );
    let modern = server.request("server/discover", &modern(json!({})));
    assert_eq!(modern["result"]["capabilities"]["resources"], watched);
}

#[test]
fn a_legacy_client_hears_of_the_resources_that_it_watches_and_of_no_others() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-11-25");
    for text in ["one", "two", "three"] {
        save(&mut server, text);
    }
    subscribe(&mut server, &uri(0));
    subscribe(&mut server, &uri(2));
    // Twice is as good as once.
    subscribe(&mut server, &uri(2));
    for text in ["one", "two", "three"] {
        update(&mut server, text, "a");
    }
    let mut heard = [next(&mut server), next(&mut server)];
    heard.sort_by_key(Value::to_string);
    assert_eq!(heard, [updated(&uri(0)), updated(&uri(2))]);

    let response = server.request("resources/unsubscribe", &json!({"uri": uri(0)}));
    assert_eq!(response["result"], json!({}));
    // What nobody watches can be let go of as well.
    let response = server.request("resources/unsubscribe", &json!({"uri": uri(1)}));
    assert_eq!(response["result"], json!({}));
    for text in ["one", "two", "three"] {
        update(&mut server, text, "b");
    }
    assert_eq!(next(&mut server), updated(&uri(2)));
    server.end_in_order();
}

#[test]
fn a_search_is_watched_like_a_memory_and_being_shown_is_no_change() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-11-25");
    save(&mut server, "tea with milk");
    let search = "memory://search/tea";
    subscribe(&mut server, search);
    subscribe(&mut server, &uri(0));
    // A touch of the memory, which is written down as well.
    server.call("memory_search", &json!({"query": "tea"}));
    thread::sleep(Duration::from_millis(300));
    save(&mut server, "tea without milk");
    assert_eq!(next(&mut server), updated(search), "and not the memory");
    server.end_in_order();
}

#[test]
fn a_legacy_client_hears_within_reason_of_what_another_process_changed() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, mut other) = (memory(data.path()), memory(data.path()));
    save(&mut other, "watched from elsewhere");
    server.initialize("2025-06-18");
    subscribe(&mut server, &uri(0));
    // It makes no call meanwhile.
    update(&mut other, "watched from elsewhere", "changed");
    assert_eq!(server.hear(), updated(&uri(0)));
    save(&mut other, "something new");
    let list_changed = server.hear();
    assert_eq!(list_changed["method"], LIST_CHANGED, "{list_changed}");
    server.end_in_order();
}

#[test]
fn a_legacy_client_hears_that_the_list_changed_after_its_own_calls() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-06-18");
    save(&mut server, "mine");
    assert_eq!(
        server.hear(),
        json!({"jsonrpc": "2.0", "method": LIST_CHANGED, "params": {}})
    );
    // What others did it hears when it calls the next time, whatever it calls.
    let mut other = memory(data.path());
    save(&mut other, "of another process");
    server.call("memory_search", &json!({"query": "mine"}));
    assert_eq!(server.hear()["method"], LIST_CHANGED);
    server.end_in_order();
}

/// Rule 21.
#[test]
fn nothing_is_said_unasked_before_the_client_is_initialized() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    server.send(&request("open", "initialize", &client));
    server.send(&tool_call(
        "first",
        "memory_save",
        &json!({"text": "early"}),
    ));
    assert_eq!(server.read()["id"], "open");
    assert_eq!(server.read()["id"], "first");
    // Longer than it takes to look for changes after a call.
    thread::sleep(Duration::from_millis(500));
    server.initialized();
    server.send(&tool_call(
        "second",
        "memory_save",
        &json!({"text": "late"}),
    ));
    assert_eq!(server.read()["id"], "second", "nothing came before");
    assert_eq!(server.hear()["method"], LIST_CHANGED);
    server.end_in_order();
}

#[test]
fn what_can_t_be_watched_is_refused_to_legacy_clients() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-11-25");
    save(&mut server, "there");
    for uri in [
        "memory://entries/m1",
        "memory://entries/../m0",
        "file:///etc/passwd",
        "",
    ] {
        let response = server.request("resources/subscribe", &json!({"uri": uri}));
        assert_eq!(error_of(&response).0, -32002, "{response}");
        assert_eq!(response["error"]["data"]["uri"], uri);
    }
    for params in [json!({}), json!({"uri": 7})] {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let response = server.request(method, &params);
            assert_eq!(error_of(&response).0, -32602, "{method} {params}");
        }
    }
    server.end_in_order();
}

#[test]
fn a_legacy_client_watches_a_thousand_resources_at_most() {
    const LIMIT: usize = 1000;
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-11-25");
    for number in 0..LIMIT {
        subscribe(&mut server, &format!("memory://search/word{number}"));
    }
    let one_more = json!({"uri": "memory://search/more"});
    let (code, message) = error_of(&server.request("resources/subscribe", &one_more));
    assert_eq!(code, -32602);
    assert!(message.contains("1000"), "{message}");
    // One that is watched already is not one more, and one that is let go of makes room.
    subscribe(&mut server, "memory://search/word7");
    server.request(
        "resources/unsubscribe",
        &json!({"uri": "memory://search/word7"}),
    );
    subscribe(&mut server, "memory://search/more");
    server.end_in_order();
}

/// Rule 38.
#[test]
fn a_stream_is_acknowledged_with_what_is_honoured_and_then_tells_of_that_under_its_id() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    save(&mut server, "watched");
    save(&mut server, "not watched");
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": [uri(0), uri(9), "file:///etc/passwd"],
    });
    let honoured = json!({"resourcesListChanged": true, "resourceSubscriptions": [uri(0)]});
    let ids = [json!("a stream"), json!(LARGE_ID), json!(-1)];
    for id in &ids {
        assert_eq!(listen(&mut server, id, &filter), honoured);
    }
    update(&mut server, "not watched", "x");
    update(&mut server, "watched", "x");
    for id in &ids {
        assert_eq!(server.hear(), updated_on(id, &uri(0)));
    }
    save(&mut server, "new");
    for id in &ids {
        assert_eq!(server.hear(), list_changed_on(id));
    }
}

#[test]
fn a_stream_tells_of_what_another_process_changed() {
    let data = tempfile::tempdir().unwrap();
    let (mut server, mut other) = (memory(data.path()), memory(data.path()));
    save(&mut other, "watched from elsewhere");
    let (lists, entry) = (json!("lists"), json!(2));
    listen(&mut server, &lists, &json!({"resourcesListChanged": true}));
    listen(
        &mut server,
        &entry,
        &json!({"resourceSubscriptions": [uri(0)]}),
    );
    update(&mut other, "watched from elsewhere", "changed");
    assert_eq!(server.hear(), updated_on(&entry, &uri(0)));
    save(&mut other, "something new");
    assert_eq!(server.hear(), list_changed_on(&lists));
}

#[test]
fn a_stream_that_asks_for_nothing_hears_nothing() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let none = json!({"resourcesListChanged": false, "resourceSubscriptions": []});
    assert_eq!(listen(&mut server, &json!("none"), &none), json!({}));
    assert_eq!(
        listen(&mut server, &json!("nothing"), &json!({})),
        json!({})
    );
    let some = json!("some");
    listen(&mut server, &some, &json!({"resourcesListChanged": true}));
    save(&mut server, "new");
    assert_eq!(server.hear(), list_changed_on(&some));
    save(&mut server, "newer");
    assert_eq!(server.hear(), list_changed_on(&some), "and nothing else");
}

/// Rules 36 and 18.
#[test]
fn nothing_comes_on_a_stream_that_was_cancelled_and_its_id_is_free() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let (ended, going_on) = (json!("ended"), json!("going on"));
    let filter = json!({"resourcesListChanged": true});
    listen(&mut server, &ended, &filter);
    listen(&mut server, &going_on, &filter);

    server.send(&request(ended.clone(), "tools/list", &json!({})));
    let refused = server.read();
    assert_eq!(refused["id"], ended);
    assert_eq!(error_of(&refused).0, -32600, "the id is in flight");

    server.send(&cancellation(ended.clone()));
    save(&mut server, "new");
    assert_eq!(server.hear(), list_changed_on(&going_on));
    listen(&mut server, &ended, &filter);
    save(&mut server, "newer");
    let heard = [server.hear(), server.hear()];
    assert_eq!(heard, [list_changed_on(&going_on), list_changed_on(&ended)]);
    // Then nothing is left that could be told, nor ended.
    server.send(&cancellation(ended));
    server.send(&cancellation(going_on));
    server.end_in_order();
}

/// Nothing is opened when the cancellation overtakes the request that waits.
#[test]
fn a_stream_that_is_cancelled_before_it_was_opened_is_never_opened() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    for round in 0..50 {
        let params = modern(json!({"notifications": {"resourcesListChanged": true}}));
        server.send(&request("brief", "subscriptions/listen", &params));
        server.send(&cancellation("brief"));
        save_and_hear_at_most_an_acknowledgement(&mut server, round);
    }
    server.end_in_order();
}

fn save_and_hear_at_most_an_acknowledgement(server: &mut Server, round: usize) {
    let text = format!("round {round}");
    server.send(&tool_call("save", "memory_save", &json!({"text": text})));
    let mut message = server.read();
    if message["method"] == ACKNOWLEDGED {
        message = server.read();
    }
    assert_eq!(message["id"], "save", "{message}");
}

#[test]
fn filters_that_make_no_sense_are_refused_and_open_nothing() {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let too_many: Vec<String> = (0..1001).map(uri).collect();
    for params in [
        json!({}),
        json!({"notifications": null}),
        json!({"notifications": []}),
        json!({"notifications": true}),
        json!({"notifications": {"resourcesListChanged": 1}}),
        json!({"notifications": {"toolsListChanged": "true"}}),
        json!({"notifications": {"resourceSubscriptions": "memory://entries/m0"}}),
        json!({"notifications": {"resourceSubscriptions": [7]}}),
        json!({"notifications": {"resourceSubscriptions": too_many}}),
    ] {
        let response = server.request("subscriptions/listen", &modern(params));
        assert_eq!(error_of(&response).0, -32602, "{response}");
    }
    // Its id would be taken, had one been opened; and there would be something to end.
    server.end_in_order();
}

#[test]
fn a_stream_watches_a_thousand_resources_and_a_connection_has_so_many_streams() {
    const STREAMS: usize = 64;
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    let searches: Vec<String> = (0..1000)
        .map(|number| format!("memory://search/word{number}"))
        .collect();
    let filter = json!({"resourceSubscriptions": searches});
    let honoured = listen(&mut server, &json!(0), &filter);
    let honoured = honoured["resourceSubscriptions"].as_array().unwrap();
    assert_eq!(honoured.len(), searches.len());
    for stream in 1..STREAMS {
        listen(&mut server, &json!(stream), &json!({}));
    }
    let one_more = modern(json!({"notifications": {}}));
    server.send(&request("more", "subscriptions/listen", &one_more));
    let refused = server.read();
    assert_eq!(
        (&refused["id"], error_of(&refused).0),
        (&json!("more"), -32602)
    );
    server.send(&cancellation(7));
    listen(&mut server, &json!("more"), &json!({}));
}

/// Rules 6, 7 and 38: a cancellation for each stream, and then its result; after the answers that were owed.
fn assert_streams_end(end: impl FnOnce(Server) -> Finished) {
    let data = tempfile::tempdir().unwrap();
    let mut server = memory(data.path());
    server.initialize("2025-11-25");
    let ids = [json!("stream"), json!(LARGE_ID)];
    for id in &ids {
        listen(&mut server, id, &json!({"promptsListChanged": true}));
    }
    let finished = end(server);
    assert!(finished.status.success(), "{finished:?}");
    let text = String::from_utf8(finished.stdout).unwrap();
    let mut messages = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    for id in &ids {
        let cancelled = messages.next().unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], *id);
        assert_eq!(cancelled["params"]["_meta"][SUBSCRIPTION_ID], *id);
        let last = messages.next().unwrap();
        assert_eq!(last["id"], *id);
        let result = &last["result"];
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"][SUBSCRIPTION_ID], *id);
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "personal-memory");
    }
    assert_eq!(messages.next(), None);
}

#[test]
fn a_stream_ends_with_the_input() {
    assert_streams_end(Server::end);
}

#[cfg(unix)]
#[test]
fn a_stream_ends_with_the_process_that_is_asked_to_end() {
    assert_streams_end(|server| {
        server.signal(rustix::process::Signal::TERM);
        server.ended()
    });
}
