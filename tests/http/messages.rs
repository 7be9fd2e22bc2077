use serde_json::{Value, json};

use crate::harness::{Builder, Http, USUAL, fixtures, modern, request, tool_call};

fn memory(args: &[&str]) -> (tempfile::TempDir, Http) {
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).args(args).serve();
    (data, server)
}

/// A modern request that needs nothing.
fn discover() -> Value {
    request(1, "server/discover", &modern(json!({})))
}

#[test]
fn messages_are_json_and_say_so() {
    let (_data, server) = memory(&[]);
    let mut client = server.modern();
    let body = discover().to_string();
    for (content_type, status) in [
        (Some("application/json"), 200),
        (Some("application/json; charset=utf-8"), 200),
        (Some("text/plain"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (None, 415),
    ] {
        let mut headers = client.headers(&discover());
        headers.retain(|(name, _)| *name != "content-type");
        headers.extend(content_type.map(|value| ("content-type", value.to_owned())));
        let (answer, _) = client.post_raw(&headers, body.as_bytes());
        assert_eq!(answer.status, status, "{content_type:?}");
    }
    server.end_in_order();
}

#[test]
fn a_client_takes_single_messages_and_streams_or_says_nothing() {
    let (_data, server) = memory(&[]);
    let mut client = server.modern();
    let body = discover().to_string();
    for (accept, status) in [
        (Some("application/json, text/event-stream"), 200),
        (Some("*/*"), 200),
        (None, 200),
        (Some("application/json"), 406),
        (Some("text/event-stream"), 406),
        (Some("text/html"), 406),
    ] {
        let mut headers = client.headers(&discover());
        headers.retain(|(name, _)| *name != "accept");
        headers.extend(accept.map(|value| ("accept", value.to_owned())));
        let (answer, _) = client.post_raw(&headers, body.as_bytes());
        assert_eq!(answer.status, status, "{accept:?}");
    }
    server.end_in_order();
}

#[test]
fn a_message_that_is_too_long_is_refused_before_it_is_read() {
    let (_data, server) = memory(&["--max-line-bytes", "2000"]);
    let mut connection = server.connect();
    // The message itself never comes.
    let mut head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2001\r\n".to_owned();
    for (name, value) in USUAL {
        head += &format!("{name}: {value}\r\n");
    }
    connection.send_bytes(format!("{head}\r\n").as_bytes());
    let answer = connection.answer();
    assert_eq!(answer.status, 413);
    let message = answer.json()["error"]["message"].to_string();
    assert!(message.contains("2000 bytes"), "{message}");
    server.end_in_order();
}

#[test]
fn a_message_that_turns_out_too_long_is_refused_while_it_is_read() {
    let (_data, server) = memory(&["--max-line-bytes", "2000"]);
    let mut connection = server.connect();
    let mut head =
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n".to_owned();
    for (name, value) in USUAL {
        head += &format!("{name}: {value}\r\n");
    }
    connection.send_bytes(format!("{head}\r\n").as_bytes());
    let chunk = format!("3e8\r\n{}\r\n", " ".repeat(1000));
    connection.send_bytes(chunk.as_bytes());
    connection.send_bytes(chunk.as_bytes());
    // One byte more; and no end of the message.
    connection.send_bytes(b"1\r\n \r\n");
    assert_eq!(connection.answer().status, 413);
    server.end_in_order();
}

/// Most clients write everything before they read anything: the answer must not be lost to a connection that breaks.
#[test]
fn a_client_that_sends_all_of_a_message_that_is_too_long_learns_why_it_is_refused() {
    let (_data, server) = memory(&[]);
    let body = vec![b' '; 32 << 20];
    let answer = server.connect().ask("POST", "/mcp", &USUAL, &body);
    assert_eq!(answer.status, 413);
    server.end_in_order();
}

#[test]
fn a_message_of_just_the_allowed_length_is_taken() {
    let (_data, server) = memory(&["--max-line-bytes", "2000"]);
    let mut client = server.modern();
    let body = discover().to_string();
    for (length, status) in [(2000, 200), (2001, 413)] {
        let padded = format!("{body:length$}");
        let (answer, _) = client.post_raw(&client.headers(&discover()), padded.as_bytes());
        assert_eq!(answer.status, status, "{length}");
    }
    server.end_in_order();
}

#[test]
fn what_is_no_message_is_answered_with_400_and_the_reason() {
    let (_data, server) = memory(&[]);
    for body in [&b"nonsense"[..], b"", b"[]", b"{}", b"\xff", b"{\"id\":1}"] {
        for mut client in [server.modern(), server.legacy("2025-11-25")] {
            let (answer, _) = client.post_raw(&client.headers(&Value::Null), body);
            assert_eq!(answer.status, 400, "{}", String::from_utf8_lossy(body));
            assert!(matches!(answer.code(), -32700 | -32600));
        }
    }
    server.end_in_order();
}

#[test]
fn notifications_are_accepted_and_never_answered() {
    let (_data, server) = memory(&[]);
    let mut legacy = server.legacy("2025-06-18");
    legacy.notify("notifications/initialized", &json!({}));
    legacy.notify("notifications/no_such", &json!([1]));
    legacy.notify("tools/list", &json!({}));
    // So are responses, which answer nothing of ours.
    let (answer, _) = legacy.post(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!((answer.status, answer.body.len()), (202, 0));

    let mut client = server.modern();
    let mut headers: Vec<_> = client.headers(&Value::Null);
    headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
    let notification =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let (answer, _) = client.post_raw(&headers, notification.to_string().as_bytes());
    assert_eq!((answer.status, answer.body.len()), (202, 0));
    // The modern era knows no responses of clients.
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let (answer, _) = client.post_raw(&headers, response.to_string().as_bytes());
    assert_eq!(answer.status, 400);
    server.end_in_order();
}

#[test]
fn other_methods_and_other_places_are_not_there() {
    let (_data, server) = memory(&[]);
    let mut connection = server.connect();
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        let answer = connection.ask(method, "/mcp", &[("accept", "text/event-stream")], b"");
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.header("allow").unwrap().contains("POST"), "{method}");
    }
    for path in ["/", "/mcp/", "/sse", "/healthz/x"] {
        assert_eq!(connection.ask("GET", path, &[], b"").status, 404, "{path}");
    }
    assert_eq!(connection.ask("GET", "/healthz", &[], b"").status, 200);
    server.end_in_order();
}

#[test]
fn one_connection_carries_many_messages_of_both_eras() {
    let server = Builder::http_component(&fixtures().misbehaving).serve();
    let mut client = server.legacy("2025-03-26");
    for expected in 1..=3 {
        let result = client.call("count", &json!({}));
        assert_eq!(result["content"][0]["text"], (3 * expected - 2).to_string());
        let response = client.exchange(&request(
            "m",
            "tools/call",
            &modern(json!({"name": "count"})),
        ));
        assert_eq!(response[0]["result"]["resultType"], "complete");
        let batch = json!([
            tool_call(7, "count", &json!({})),
            tool_call(8, "context", &json!({}))
        ]);
        let responses = &client.exchange(&batch)[0];
        assert_eq!(responses[0]["id"], 7);
        assert!(
            responses[1]["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("2025-03-26")
        );
    }
    server.end_in_order();
}

#[test]
fn headers_without_end_are_refused() {
    let (_data, server) = memory(&[]);
    let mut connection = server.connect();
    let long = "x".repeat(100_000);
    connection.send("GET", "/healthz", &[("x-long", &long)], b"");
    assert_eq!(connection.answer().status, 431);
    server.end_in_order();
}
