use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    Builder, Client, Http, JOURNAL, LIST_CHANGED, NO_DEADLINE, UPDATED, calls_in, encoded,
    fixtures, modern, request, wait_for_calls, wait_until,
};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

fn misbehaving() -> Http {
    Builder::http_component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .serve()
}

fn calling(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", &modern(json!({"name": tool})))
}

/// A request with one header replaced, or left out.
fn with(
    client: &mut Client,
    message: &Value,
    name: &'static str,
    value: Option<&str>,
) -> (u16, i64) {
    let mut headers = client.headers(message);
    headers.retain(|(other, _)| *other != name);
    headers.extend(value.map(|value| (name, value.to_owned())));
    let (answer, _) = client.post_raw(&headers, message.to_string().as_bytes());
    let code = answer.json()["error"]["code"].as_i64().unwrap_or_default();
    (answer.status, code)
}

#[test]
fn the_status_says_what_the_error_says() {
    let server = misbehaving();
    let mut client = server.modern();
    let mut bare = modern(json!({}));
    bare["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/clientCapabilities");
    let mut future = modern(json!({}));
    future["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let mut legacy = modern(json!({}));
    legacy["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2025-11-25".into();
    for (message, status, code) in [
        (request(1, "no/such", &modern(json!({}))), 404, -32601),
        (request(1, "ping", &modern(json!({}))), 404, -32601),
        (
            request(
                1,
                "initialize",
                &modern(json!({"protocolVersion": "2025-11-25"})),
            ),
            404,
            -32601,
        ),
        (request(1, "tools/list", &bare), 400, -32602),
        (request(1, "server/discover", &json!({})), 400, -32602),
        (request(1, "tools/list", &future), 400, -32022),
        (request(1, "tools/list", &legacy), 400, -32022),
        (calling(1, "no_such_tool"), 400, -32602),
        (calling(1, "missing_capability"), 400, -32021),
        (calling(1, "internal"), 200, -32603),
    ] {
        let (answer, _) = client.post(&message);
        assert_eq!((answer.status, answer.code()), (status, code), "{message}");
        assert_eq!(answer.json()["id"], 1);
        assert!(answer.header("mcp-session-id").is_none());
    }
    server.end_in_order();
}

#[test]
fn a_header_is_a_claim_to_be_modern() {
    let server = misbehaving();
    let mut client = server.modern();
    let message = request(1, "tools/list", &json!({}));
    let version = "mcp-protocol-version";
    assert_eq!(
        with(&mut client, &message, version, Some("2026-07-28")),
        (400, -32602)
    );
    let opening = request(
        1,
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    assert_eq!(
        with(&mut client, &opening, version, Some("2026-07-28")),
        (404, -32601)
    );
    // A version that nobody serves is an error of its own, and says which are served.
    assert_eq!(
        with(&mut client, &message, version, Some("2099-01-01")),
        (400, -32022)
    );
    server.end_in_order();
}

#[test]
fn headers_must_say_what_the_message_says() {
    let server = misbehaving();
    let mut client = server.modern();
    let call = calling(1, "count");
    let list = request(2, "tools/list", &modern(json!({})));
    for (message, name, value) in [
        (&call, "mcp-protocol-version", None),
        (&call, "mcp-protocol-version", Some("2025-11-25")),
        (&call, "mcp-protocol-version", Some("2099-01-01")),
        (&call, "mcp-method", None),
        (&call, "mcp-method", Some("tools/list")),
        (&call, "mcp-method", Some("TOOLS/CALL")),
        (&call, "mcp-method", Some("=?base64?dG9vbHMvY2FsbA==?=")),
        (&call, "mcp-name", None),
        (&call, "mcp-name", Some("Count")),
        (&call, "mcp-name", Some("=?base64?!?=")),
        (&list, "mcp-method", None),
    ] {
        assert_eq!(
            with(&mut client, message, name, value),
            (400, -32020),
            "{name}: {value:?}"
        );
    }
    // None of these came to the component.
    assert_eq!(client.call("count", &json!({}))["content"][0]["text"], "1");
    // Nothing is asked of what has no name, and nothing of headers that nobody knows.
    assert_eq!(
        with(&mut client, &list, "mcp-name", Some("anything")).0,
        200
    );
    assert_eq!(
        with(&mut client, &list, "mcp-param-unknown", Some("x")).0,
        200
    );
    server.end_in_order();
}

#[test]
fn names_that_are_no_plain_text_are_encoded() {
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    let mut client = server.modern();
    client.call("memory_save", &json!({"text": "東京の夜"}));
    let uri = "memory://search/東京";
    let message = request(1, "resources/read", &modern(json!({"uri": uri})));
    let (answer, _) = client.post(&message);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        answer.json()["result"]["contents"][0]["text"]
            .to_string()
            .contains("東京の夜")
    );
    let other = encoded("memory://search/京都");
    assert_eq!(
        with(&mut client, &message, "mcp-name", Some(&other)),
        (400, -32020)
    );
    // What is plain may be encoded as well.
    let message = request(
        1,
        "resources/read",
        &modern(json!({"uri": "memory://entries/m0"})),
    );
    let name = "=?base64?bWVtb3J5Oi8vZW50cmllcy9tMA==?=";
    assert_eq!(with(&mut client, &message, "mcp-name", Some(name)).0, 200);
    server.end_in_order();
}

#[test]
fn there_are_no_sessions_and_an_id_of_one_is_ignored() {
    let server = misbehaving();
    let mut client = server.modern();
    let message = calling(1, "count");
    assert_eq!(
        with(&mut client, &message, "mcp-session-id", Some("whatever")),
        (200, 0)
    );
    // Ids are each client's own affair: the same one may be under way twice.
    let busy = client.send(&calling(7, "sleep_forever"));
    let (answer, _) = client.post(&request(7, "server/discover", &modern(json!({}))));
    assert_eq!(answer.status, 200);
    drop(busy);
    server.end_in_order();
}

#[test]
fn a_plain_answer_is_json_and_what_has_more_to_say_is_a_stream() {
    let server = misbehaving();
    let mut client = server.modern();
    let mut params = modern(json!({"name": "progress"}));
    let (answer, stream) = client.post(&request(1, "tools/call", &params));
    assert!(stream.is_none(), "it asked for no progress");
    assert_eq!(answer.json()["result"]["resultType"], "complete");

    params["_meta"]["progressToken"] = "t".into();
    let (answer, stream) = client.post(&request(2, "tools/call", &params));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert_eq!(
        answer.header("cache-control"),
        Some("no-cache, no-transform")
    );
    let mut stream = stream.unwrap();
    for expected in [1.0, 2.0, 3.0, 4.0] {
        let event = stream.event().unwrap();
        assert_eq!(event.id, None, "nothing can be resumed in this era");
        assert_eq!(event.json()["params"]["progress"], expected);
        assert_eq!(event.json()["params"]["progressToken"], "t");
    }
    let last = stream.event().unwrap().json();
    assert_eq!(last["id"], 2);
    assert_eq!(last["result"]["content"][0]["text"], "progressed");
    assert_eq!(stream.event(), None);
    server.end_in_order();
}

#[test]
fn log_messages_come_on_the_request_s_own_stream() {
    let server = misbehaving();
    let mut client = server.modern();
    let mut params = modern(json!({"name": "log"}));
    params["_meta"]["io.modelcontextprotocol/logLevel"] = "warning".into();
    let messages = client.exchange(&request(1, "tools/call", &params));
    let levels: Vec<_> = messages
        .iter()
        .map(|message| &message["params"]["level"])
        .collect();
    assert_eq!(
        levels,
        [&json!("warning"), &json!("emergency"), &Value::Null]
    );
    server.end_in_order();
}

/// The deadline is far away: what ends the call is that its client has gone.
#[test]
fn closing_the_connection_cancels_the_call() {
    let data = tempfile::tempdir().unwrap();
    let server = unhurried(&data);
    let mut client = server.modern();
    for times in 1..=2 {
        let connection = client.send(&calling(1, "hang"));
        wait_for_calls(data.path(), "call hang", times);
        drop(connection);
        client.call("note", &json!({}));
    }
    server.end_in_order();
}

#[test]
fn closing_the_connection_cancels_a_call_that_waits_too() {
    let data = tempfile::tempdir().unwrap();
    let server = unhurried(&data);
    let mut client = server.modern();
    let hanging = client.send(&calling(1, "hang"));
    wait_for_calls(data.path(), "call hang", 1);
    client.send(&calling(2, "change")).leave();
    hanging.leave();
    client.call("note", &json!({}));
    let calls = calls_in(data.path());
    assert!(!calls.contains(&"call change".to_owned()), "{calls:?}");
    server.end_in_order();
}

fn unhurried(data: &TempDir) -> Http {
    Builder::http_component(&fixtures().unhurried)
        .args(&["--timeout", NO_DEADLINE])
        .arg("--data-dir")
        .arg(data.path())
        .serve()
}

#[test]
fn arguments_that_a_schema_marks_are_repeated_in_headers() {
    let data = tempfile::tempdir().unwrap();
    let server = unhurried(&data);
    let mut client = server.modern();
    let call = |arguments: Value| {
        let params = modern(json!({"name": "note", "arguments": arguments}));
        request(1, "tools/call", &params)
    };
    let arguments = json!({"region": "österreich", "where": {"zone": 42}});
    let region = "=?base64?w7ZzdGVycmVpY2g=?=";
    // Nobody has listed the tools yet: a client may remember them from an earlier time.
    for (arguments, region, zone, expected) in [
        (&arguments, Some(region), Some("42"), (200, 0)),
        (&arguments, Some(region), Some("42.0"), (200, 0)),
        (&arguments, Some(region), None, (400, -32020)),
        (&arguments, None, Some("42"), (400, -32020)),
        (&arguments, Some("elsewhere"), Some("42"), (400, -32020)),
        (&arguments, Some(region), Some("43"), (400, -32020)),
        (&arguments, Some("=?base64?!?="), Some("42"), (400, -32020)),
        (&json!({}), None, None, (200, 0)),
        (&json!({"region": null}), None, None, (200, 0)),
        (&json!({}), Some("x"), None, (400, -32020)),
    ] {
        let message = call(arguments.clone());
        let mut headers = client.headers(&message);
        headers.extend(region.map(|value| ("Mcp-Param-Region", value.to_owned())));
        headers.extend(zone.map(|value| ("mcp-param-zone", value.to_owned())));
        let (answer, _) = client.post_raw(&headers, message.to_string().as_bytes());
        let code = answer.json()["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!(
            (answer.status, code),
            expected,
            "{arguments} {region:?} {zone:?}"
        );
    }
    // Other eras know nothing of it.
    let mut legacy = server.legacy("2025-11-25");
    let result = legacy.call("note", &arguments);
    assert_eq!(result["content"][0]["text"], "done");
    server.end_in_order();
}

fn listening(id: &Value, filter: &Value) -> Value {
    request(
        id.clone(),
        "subscriptions/listen",
        &modern(json!({"notifications": filter})),
    )
}

#[test]
fn each_subscription_hears_what_it_asked_for_until_it_is_closed() {
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    let mut client = server.modern();
    client.call("memory_save", &json!({"text": "first"}));

    let listen = |id: Value, filter: Value| {
        let (answer, stream) = server.modern().post(&listening(&id, &filter));
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut stream = stream.unwrap();
        let first = stream.message().unwrap();
        assert_eq!(first["method"], ACKNOWLEDGED);
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION_ID], id);
        stream
    };
    let mut lists = listen(json!(1), json!({"resourcesListChanged": true}));
    let mut one = listen(
        json!(1),
        json!({"resourceSubscriptions": ["memory://entries/m0"]}),
    );
    let closed = listen(json!("x"), json!({"resourcesListChanged": true}));
    drop(closed);

    client.call("memory_save", &json!({"text": "second"}));
    let heard = lists.message().unwrap();
    assert_eq!(heard["method"], LIST_CHANGED);
    assert_eq!(heard["params"]["_meta"][SUBSCRIPTION_ID], 1);
    client.call("memory_save", &json!({"text": "first", "tags": ["t"]}));
    let heard = one.message().unwrap();
    assert_eq!(heard["method"], UPDATED);
    assert_eq!(heard["params"]["uri"], "memory://entries/m0");
    assert_eq!(heard["params"]["_meta"][SUBSCRIPTION_ID], 1);
    server.end_in_order();
}

/// What a component is told of who calls: neighbours in a conversation belong together.
#[test]
fn calls_on_one_connection_belong_together() {
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    let (mut one, mut other) = (server.modern(), server.modern());
    let mut legacy = server.legacy("2025-11-25");
    one.call("memory_save", &json!({"text": "a"}));
    other.call("memory_save", &json!({"text": "b"}));
    one.call("memory_save", &json!({"text": "c"}));
    legacy.call("memory_save", &json!({"text": "d"}));
    // A legacy client belongs together with itself whatever its connections.
    let session = legacy.session.clone();
    let mut again = Client::new(server.address);
    again.session.clone_from(&session);
    again.call("memory_save", &json!({"text": "e"}));
    let journal = data.path().join(JOURNAL);
    wait_until("all are saved", || {
        fs::read_to_string(&journal).unwrap().contains(r#""e""#)
    });
    let journal = fs::read_to_string(&journal).unwrap();
    assert!(
        !journal.contains(&session.unwrap()),
        "who knows it can read the session's streams"
    );
    let session_of = |text: &str| {
        let line = journal
            .lines()
            .find(|line| line.contains(&format!(r#":"{text}""#)))
            .unwrap();
        let rest = line.split(r#""session":""#).nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(session_of("a"), session_of("c"));
    assert_ne!(session_of("a"), session_of("b"));
    assert_eq!(session_of("d"), session_of("e"));
    assert_ne!(session_of("a"), session_of("d"));
    server.end_in_order();
}
