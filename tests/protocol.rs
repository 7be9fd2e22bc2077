//! Rules that hold for all replies, or over more messages than a transcript can show.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Builder, Server, error_of, modern, root, tool_call};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[test]
fn test_notifications_are_never_answered() {
    let mut input = String::new();
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/no_such",
        "ping",
        "tools/list",
        "no/such",
        "",
    ] {
        for params in [
            "",
            r#","params":{}"#,
            r#","params":[]"#,
            r#","params":null"#,
            r#","params":7"#,
            r#","params":{"_meta":7}"#,
        ] {
            input += &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"{params}}}\n");
        }
    }
    let finished = Builder::memory().pipe(input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&finished.stdout), "");
    assert!(finished.status.success());
}

#[test]
#[expect(
    non_snake_case,
    reason = "the name that this rule has wherever it is written down, and the spelling that it is about"
)]
fn test_tools_list_uses_camelCase_inputSchema() {
    let mut server = Builder::memory().start();
    for version in LEGACY {
        server.initialize(version);
        check_tools(&server.request("tools/list", &json!({})));
    }
    check_tools(&server.request("tools/list", &modern(json!({}))));
}

fn check_tools(response: &Value) {
    let text = response.to_string();
    assert!(!text.contains("_schema\""), "{text}");
    assert!(
        text.len() < 6 * 1024,
        "clients show all of it to a model at every start: {} bytes",
        text.len()
    );
    let tools = response["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "memory_search",
            "memory_recent",
            "memory_get",
            "memory_save",
            "memory_update",
            "memory_forget"
        ]
    );
    for tool in tools {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let name = tool["name"].as_str().unwrap();
        assert!(
            (1..=64).contains(&name.len()) && name.bytes().all(plain),
            "{name}"
        );
        assert!(tool["description"].as_str().unwrap().len() < 2048, "{name}");
        let schema = tool["inputSchema"].as_object().unwrap();
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for forbidden in ["anyOf", "oneOf", "allOf", "$ref"] {
            assert!(
                !schema.contains_key(forbidden),
                "{name}: {forbidden} at the root"
            );
        }
    }
}

#[test]
#[expect(
    non_snake_case,
    reason = "the name that this rule has wherever it is written down, and the spelling that it is about"
)]
fn test_a_failing_tool_is_a_successful_rpc_with_isError() {
    let mut server = Builder::memory().start();
    let arguments = json!({"text": "x", "importance": 11});
    for params in [
        json!({"name": "memory_save", "arguments": arguments}),
        modern(json!({"name": "memory_save", "arguments": arguments})),
    ] {
        let response = server.request("tools/call", &params);
        assert!(response.get("error").is_none(), "{response}");
        assert_eq!(response["result"]["isError"], true);
        let text = response["result"]["content"][0]["text"].as_str().unwrap();
        for part in ["importance", "11", "1.0", "10.0"] {
            assert!(
                text.contains(part),
                "a model can't correct itself from: {text}"
            );
        }
    }
    // And one that does not fail doesn't say so.
    assert!(
        server
            .call("memory_save", &json!({"text": "x"}))
            .get("isError")
            .is_none()
    );
}

/// Holds for whatever was blessed.
#[test]
fn every_reply_in_the_transcripts_is_well_formed() {
    let mut replies = 0;
    for entry in fs::read_dir(root().join("tests/transcripts")).unwrap() {
        let path = entry.unwrap().path();
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if let Some(reply) = line.strip_prefix("< ") {
                let at = format!("{}:{}", path.display(), number + 1);
                match serde_json::from_str(reply).unwrap() {
                    Value::Array(members) => {
                        members.iter().for_each(|member| check_reply(member, &at))
                    }
                    notification if notification.get("method").is_some() => {
                        check_notification(&notification, &at);
                    }
                    reply => check_reply(&reply, &at),
                }
                replies += 1;
            }
        }
    }
    assert!(replies > 100);
}

fn check_notification(notification: &Value, at: &str) {
    assert_eq!(notification["jsonrpc"], "2.0", "{at}");
    for member in ["id", "result", "error"] {
        assert!(notification.get(member).is_none(), "{at}: {member}");
    }
    assert!(!has_null(notification), "{at}: what is absent is left out");
}

fn check_reply(reply: &Value, at: &str) {
    assert_eq!(reply["jsonrpc"], "2.0", "{at}");
    let (result, error) = (reply.get("result"), reply.get("error"));
    assert!(
        result.is_some() != error.is_some(),
        "{at}: exactly one of result and error"
    );
    for body in [result, error].into_iter().flatten() {
        assert!(body.is_object(), "{at}");
        assert!(!has_null(body), "{at}: what is absent is left out");
    }
    if let Some(error) = error {
        assert!(
            error["code"].is_i64() && error["message"].is_string(),
            "{at}"
        );
        assert!(
            (-32768..=-32000).contains(&error["code"].as_i64().unwrap()),
            "{at}"
        );
        let message = error["message"].as_str().unwrap();
        for internal in ["struct ", "enum ", "panicked", "src/"] {
            assert!(
                !message.contains(internal),
                "{at}: nobody outside knows that: {message}"
            );
        }
    }
    if let Some(result) = result {
        assert!(reply["id"].is_string() || reply["id"].is_number(), "{at}");
        let modern = result
            .pointer("/_meta/io.modelcontextprotocol~1serverInfo")
            .is_some();
        assert_eq!(
            result.get("resultType").is_some(),
            modern,
            "{at}: resultType on every modern result and on no legacy one"
        );
        let cached = result.get("ttlMs").is_some();
        assert_eq!(result.get("cacheScope").is_some(), cached, "{at}");
        assert!(modern || !cached, "{at}");
        if result.get("contents").is_some()
            || result.get("tools").is_some()
            || result.get("resources").is_some()
        {
            assert_eq!(cached, modern, "{at}");
        }
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

#[test]
fn what_is_in_flight_at_the_end_of_the_input_is_answered() {
    let mut input = String::new();
    for id in 0..5 {
        input += &format!(
            "{}\n",
            tool_call(id, "memory_save", &json!({"text": format!("memory {id}")}))
        );
    }
    // The last line has no newline.
    input += &tool_call(5, "memory_search", &json!({"query": "memory", "k": 50})).to_string();
    let finished = Builder::memory().pipe(input.as_bytes());
    assert!(finished.status.success(), "{}", finished.stderr);
    let replies: Vec<Value> = finished
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let ids: Vec<_> = replies
        .iter()
        .map(|reply| reply["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..=5).collect::<Vec<_>>(), "in order of arrival");
    assert_eq!(
        replies[5]["result"]["structuredContent"]["memories"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(finished.stdout.last(), Some(&b'\n'));
}

#[test]
fn lists_do_not_depend_on_what_happened_before() {
    let mut server = Builder::memory().start();
    let lists = |server: &mut Server| {
        ["tools/list", "resources/templates/list", "prompts/list"]
            .map(|method| server.request(method, &modern(json!({})))["result"].clone())
    };
    let before = lists(&mut server);
    server.initialize("2024-11-05");
    server.call("memory_save", &json!({"text": "something"}));
    assert_eq!(lists(&mut server), before);
}

/// JSON-RPC 2.0, "Batch": a member that is no object is an invalid request, also if it is an array in which a lenient
/// reader could find the members of a request in order.
#[test]
fn a_batch_member_that_is_no_object_is_an_invalid_request() {
    let mut server = Builder::memory().start();
    server.initialize("2025-03-26");
    for member in [
        "7",
        "\"ping\"",
        "null",
        "[]",
        r#"["2.0",7,"ping",{}]"#,
        r#"["2.0",7,"ping",{},null,null]"#,
    ] {
        server.send_bytes(format!("[{member}]\n").as_bytes());
        let replies = server.read();
        assert_eq!(replies.as_array().unwrap().len(), 1, "{member}: {replies}");
        assert_eq!(error_of(&replies[0]).0, -32600, "{member}: {replies}");
        assert_eq!(replies[0]["id"], Value::Null, "{member}: {replies}");
    }
}
