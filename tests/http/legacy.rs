use serde_json::{Value, json};

use crate::harness::{
    Builder, Client, Http, LIST_CHANGED, NO_DEADLINE, UPDATED, cancellation, fixtures, modern,
    request, tool_call, wait_until_in_flight,
};

fn memory() -> (tempfile::TempDir, Http) {
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    (data, server)
}

fn misbehaving() -> Http {
    Builder::http_component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .serve()
}

/// A call that reports progress.
fn progress(id: impl Into<Value>) -> Value {
    let params = json!({"name": "progress", "_meta": {"progressToken": 1}});
    request(id, "tools/call", &params)
}

fn delete(server: &Http, session: &str) -> u16 {
    let headers = [("mcp-session-id", session)];
    server.connect().ask("DELETE", "/mcp", &headers, b"").status
}

#[test]
fn a_session_begins_with_a_handshake_and_ends_when_the_client_says_so() {
    let (_data, server) = memory();
    let mut client = server.legacy("2025-11-25");
    let session = client.session.clone().unwrap();
    assert!(session.len() >= 32 && session.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    let mut stream = client.listen(None);

    // Without it, and with another one.
    let mut stranger = Client::new(server.address);
    let ping = request(1, "ping", &json!({}));
    assert_eq!(stranger.post(&ping).0.status, 400);
    stranger.session = Some("no-such-session".to_owned());
    assert_eq!(stranger.post(&ping).0.status, 404);
    assert_eq!(stranger.get(None).0.status, 404);
    assert_eq!(delete(&server, "no-such-session"), 404);

    assert_eq!(delete(&server, &session), 204);
    while stream.event().is_some() {}
    assert_eq!(client.post(&ping).0.status, 404);
    assert_eq!(client.get(None).0.status, 404);
    assert_eq!(delete(&server, &session), 404);
    // As the specification has it: the client begins anew.
    client.initialize("2025-11-25");
    assert_ne!(client.session, Some(session));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    server.end_in_order();
}

#[test]
fn a_handshake_that_fails_opens_no_session() {
    let (_data, server) = memory();
    let mut client = Client::new(server.address);
    let (answer, _) = client.post(&request(1, "initialize", &json!({})));
    assert_eq!((answer.status, answer.code()), (200, -32602));
    assert!(answer.header("mcp-session-id").is_none());
    server.end_in_order();
}

#[test]
fn errors_are_in_the_body_and_not_in_the_status() {
    let server = misbehaving();
    let mut client = server.legacy("2025-11-25");
    for (message, code) in [
        (request(1, "no/such", &json!({})), -32601),
        (tool_call(1, "no_such_tool", &json!({})), -32602),
        (tool_call(1, "internal", &json!({})), -32603),
    ] {
        let (answer, _) = client.post(&message);
        assert_eq!((answer.status, answer.code()), (200, code), "{message}");
    }
    server.end_in_order();
}

#[test]
fn the_header_names_a_version_that_is_served_or_none() {
    let (_data, server) = memory();
    let mut client = server.legacy("2025-06-18");
    let message = request(1, "ping", &json!({}));
    for (version, status) in [
        (Some("2025-06-18"), 200),
        (Some("2025-11-25"), 200),
        (Some("2025-03-26"), 200),
        (None, 200),
        (Some("2024-01-01"), 400),
        (Some("nonsense"), 400),
        (Some(""), 400),
    ] {
        let mut headers = client.headers(&message);
        headers.retain(|(name, _)| *name != "mcp-protocol-version");
        headers.extend(version.map(|version| ("mcp-protocol-version", version.to_owned())));
        let (answer, _) = client.post_raw(&headers, message.to_string().as_bytes());
        assert_eq!(answer.status, status, "{version:?}");
    }
    let session = client.session.unwrap();
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "nonsense"),
    ];
    assert_eq!(
        server.connect().ask("DELETE", "/mcp", &headers, b"").status,
        400
    );
    server.end_in_order();
}

#[test]
fn what_no_request_asked_for_comes_to_whoever_listens() {
    let (_data, server) = memory();
    let mut client = server.legacy("2025-11-25");
    let mut other = server.legacy("2025-11-25");
    client.call("memory_save", &json!({"text": "watched"}));
    let subscribed = client.request(
        "resources/subscribe",
        &json!({"uri": "memory://entries/m0"}),
    );
    assert_eq!(subscribed["result"], json!({}));

    let mut stream = client.listen(None);
    other.call("memory_save", &json!({"text": "watched", "tags": ["t"]}));
    let heard = loop {
        let message = stream.message().unwrap();
        if message["method"] != LIST_CHANGED {
            break message;
        }
    };
    assert_eq!(heard["method"], UPDATED);
    assert_eq!(heard["params"], json!({"uri": "memory://entries/m0"}));

    // Others hear what they asked for, which is nothing but that lists changed.
    let mut others = other.listen(None);
    client.call("memory_save", &json!({"text": "one more"}));
    assert_eq!(others.message().unwrap()["method"], LIST_CHANGED);
    server.end_in_order();
}

#[test]
fn what_is_said_while_nobody_listens_waits() {
    let (_data, server) = memory();
    let mut client = server.legacy("2025-06-18");
    client.call("memory_save", &json!({"text": "first"}));
    client.request(
        "resources/subscribe",
        &json!({"uri": "memory://entries/m0"}),
    );
    client.call("memory_save", &json!({"text": "first", "tags": ["t"]}));
    // It is looked for changes right after a call: when this one is told, so was that one.
    let mut other = server.modern();
    let filter = json!({"notifications": {"resourcesListChanged": true}});
    let (_, stream) = other.post(&request("l", "subscriptions/listen", &modern(filter)));
    let mut stream = stream.unwrap();
    stream.message().unwrap();
    client.call("memory_save", &json!({"text": "second"}));
    stream.message().unwrap();

    let mut stream = client.listen(None);
    let mut heard = Vec::new();
    while heard.last() != Some(&json!(UPDATED)) {
        heard.push(stream.message().unwrap()["method"].clone());
    }
    server.end_in_order();
}

#[test]
fn progress_comes_on_the_request_s_own_stream() {
    let server = misbehaving();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = server.legacy(version);
        let (answer, stream) = client.post(&progress(5));
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        let mut stream = stream.unwrap();
        let mut events: Vec<_> = std::iter::from_fn(|| stream.event()).collect();
        if version == "2025-11-25" {
            let first = events.remove(0);
            assert_eq!(first.data, "", "there is something to resume from at once");
            assert!(first.id.is_some() && first.retry.is_some());
        }
        // Older clients take an empty event for a message.
        assert!(
            events
                .iter()
                .all(|event| !event.data.is_empty() && event.retry.is_none())
        );
        assert_eq!(events.len(), 5);
        assert_eq!(events[4].json()["id"], 5);
        let mut ids: Vec<_> = events
            .iter()
            .map(|event| event.id.clone().unwrap())
            .collect();
        ids.dedup();
        assert_eq!(ids.len(), 5);
        let (answer, stream) = client.post(&tool_call(6, "progress", &json!({})));
        assert!(
            stream.is_none() && answer.json()["id"] == 6,
            "nobody asked for progress"
        );
    }
    server.end_in_order();
}

#[test]
fn a_client_that_lost_its_connection_gets_the_rest() {
    let server = misbehaving();
    let mut client = server.legacy("2025-11-25");
    let (_, stream) = client.post(&progress("p"));
    let mut stream = stream.unwrap();
    let primed = stream.event().unwrap().id.unwrap();
    let first = stream.event().unwrap();
    assert_eq!(first.json()["params"]["progress"], 1.0);
    drop(stream);

    let rest = |id: &str| -> Vec<Value> {
        let mut stream = client.listen(Some(id));
        std::iter::from_fn(|| stream.message()).collect()
    };
    for (id, count) in [(primed.as_str(), 5), (first.id.as_deref().unwrap(), 4)] {
        let messages = rest(id);
        assert_eq!(messages.len(), count, "{id}");
        assert_eq!(messages.last().unwrap()["id"], "p");
        assert_eq!(messages[count - 2]["params"]["progress"], 4.0);
    }
    // Nothing is told twice on a stream, and nothing of another one.
    assert_eq!(rest(first.id.as_deref().unwrap()).len(), 4);
    for id in ["999-1", "nonsense", "", "1-", "-1"] {
        assert_eq!(client.get(Some(id)).0.status, 400, "{id:?}");
    }
    // Another session's streams are not to be had.
    let other = server.legacy("2025-11-25");
    assert_eq!(other.get(first.id.as_deref()).0.status, 400);
    server.end_in_order();
}

#[test]
fn who_listens_again_takes_the_place_of_the_one_before() {
    let (_data, server) = memory();
    let mut client = server.legacy("2025-11-25");
    let mut first = client.listen(None);
    let primed = first.event().unwrap();
    let mut second = client.listen(primed.id.as_deref());
    assert_eq!(first.message(), None);
    client.call("memory_save", &json!({"text": "a"}));
    assert_eq!(second.message().unwrap()["method"], LIST_CHANGED);
    server.end_in_order();
}

/// The call that waits is made although its client has gone.
#[test]
fn closing_the_connection_cancels_nothing() {
    let server = misbehaving();
    let mut gone = server.legacy("2025-11-25");
    let mut client = server.modern();
    let sleeping = request(1, "tools/call", &modern(json!({"name": "sleep_forever"})));
    let busy = client.send(&sleeping);
    let connection = gone.send(&tool_call(1, "count", &json!({})));
    wait_until_in_flight(&mut gone, 1);
    connection.leave();
    busy.leave();
    assert_eq!(client.call("count", &json!({}))["content"][0]["text"], "2");
    server.end_in_order();
}

#[test]
fn a_call_that_its_client_cancelled_is_answered_with_nothing() {
    let server = misbehaving();
    let mut client = server.legacy("2025-11-25");
    let mut connection = client.send(&tool_call(1, "sleep_forever", &json!({})));
    wait_until_in_flight(&mut client, 1);
    let (answer, _) = client.post(&cancellation(1));
    assert_eq!(answer.status, 202);
    let answer = connection.answer();
    assert!(answer.status == 200 && answer.is_events(), "{answer:?}");
    assert_eq!(connection.message(), None);
    assert_eq!(client.call("count", &json!({}))["content"][0]["text"], "1");
    server.end_in_order();
}

#[test]
fn sessions_know_nothing_of_each_other() {
    let server = misbehaving();
    let mut one = server.legacy("2025-03-26");
    let mut other = server.legacy("2025-11-25");
    one.request("logging/setLevel", &json!({"level": "debug"}));
    let call = tool_call(1, "log", &json!({}));
    assert_eq!(one.exchange(&call).len(), 4);
    assert_eq!(other.exchange(&call).len(), 1);
    let context =
        |client: &mut Client| client.call("context", &json!({}))["content"][0]["text"].to_string();
    assert!(context(&mut one).contains("2025-03-26"));
    assert!(context(&mut other).contains("2025-11-25"));
    let batch = json!([request(1, "ping", &json!({}))]);
    assert_eq!(one.post(&batch).0.status, 200);
    assert_eq!(other.post(&batch).0.status, 400);
    server.end_in_order();
}

#[test]
fn the_session_that_was_unused_longest_gives_way() {
    const MAX_SESSIONS: usize = 256;
    let (_data, server) = memory();
    let first = server.legacy("2025-11-25");
    let _listening = first.listen(None);
    let second = server.legacy("2025-11-25");
    let mut client = Client::new(server.address);
    for _ in 0..MAX_SESSIONS - 1 {
        client.initialize("2025-11-25");
    }
    assert_eq!(second.get(None).0.status, 404);
    assert_eq!(first.get(None).0.status, 200, "it was in use");
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    server.end_in_order();
}
