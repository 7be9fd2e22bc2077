//! More than one message at a time: cancellation, requests while a call runs, progress, logging, the end of the input.

use serde_json::{Value, json};

use crate::harness::{
    Builder, NO_DEADLINE, Server, cancellation, error_of, fixtures, modern, request, tool_call,
};

fn misbehaving() -> Builder {
    Builder::component(&fixtures().misbehaving)
}

/// Rule 36. The deadline is far away: what ends the call is the cancellation.
#[test]
fn a_cancelled_call_is_never_answered_and_the_next_one_is() {
    for tool in ["loop_forever", "sleep_forever"] {
        let mut server = misbehaving().args(&["--timeout", NO_DEADLINE]).start();
        for id in [json!("the call"), json!(7)] {
            server.send(&tool_call(id.clone(), tool, &json!({})));
            server.send(&cancellation(id));
        }
        assert_eq!(server.call_text("count", &json!({})), "1");
        server.end_in_order();
    }
}

#[test]
fn a_call_that_waits_can_be_cancelled_too() {
    let mut server = misbehaving().args(&["--timeout", NO_DEADLINE]).start();
    server.send(&tool_call("first", "sleep_forever", &json!({})));
    server.send(&tool_call("second", "count", &json!({})));
    server.send(&cancellation("second"));
    server.send(&cancellation("first"));
    // Only the third count is made, and it is the first of its instance.
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.end_in_order();
}

/// Rules 18 and 20, and that cancelling something else cancels nothing.
#[test]
fn while_a_call_runs_others_are_heard() {
    let mut server = misbehaving().args(&["--timeout", NO_DEADLINE]).start();
    server.send(&tool_call("busy", "sleep_forever", &json!({})));
    assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
    assert!(server.initialize("2025-06-18")["protocolVersion"] == "2025-06-18");
    assert_eq!(
        server.request("server/discover", &modern(json!({})))["result"]["resultType"],
        "complete"
    );

    server.send(&request("busy", "tools/list", &json!({})));
    let refused = server.read();
    assert_eq!(refused["id"], "busy");
    assert_eq!(error_of(&refused).0, -32600);

    server.send(&cancellation("another"));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ["busy"]}}));
    assert_eq!(
        server.request("ping", &json!({}))["result"],
        json!({}),
        "still nothing from the call"
    );

    server.send(&cancellation("busy"));
    // Free again, once the call is gone.
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.send(&tool_call("busy", "count", &json!({})));
    assert_eq!(server.read()["id"], "busy");
    server.end_in_order();
}

#[test]
fn calls_beyond_the_queue_are_refused_at_once() {
    let mut server = misbehaving().args(&["--timeout", NO_DEADLINE]).start();
    server.send(&tool_call("busy", "sleep_forever", &json!({})));
    const MORE_THAN_FIT: usize = 300;
    for id in 0..MORE_THAN_FIT {
        server.send(&tool_call(id, "count", &json!({})));
    }
    let refused = server.read();
    let (code, message) = error_of(&refused);
    assert_eq!(code, -32603);
    assert!(
        message.contains("too many calls are waiting") && message.contains("256"),
        "{message}"
    );
    server.send(&cancellation("busy"));
    // All others are answered, each once.
    let mut ids = vec![refused["id"].as_u64().unwrap()];
    while ids.len() < MORE_THAN_FIT {
        ids.push(server.read()["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..MORE_THAN_FIT as u64).collect::<Vec<_>>());
    server.end_in_order();
}

/// Rule 6. The deadline is far away: what ends the process is the end of its input.
#[test]
fn a_call_that_hangs_does_not_outlive_the_input() {
    for tool in ["loop_forever", "sleep_forever"] {
        let mut server = misbehaving().args(&["--timeout", NO_DEADLINE]).start();
        server.send(&tool_call(1, tool, &json!({})));
        server.end_in_order();
    }
}

/// The messages of a call of `tool` up to its response, which is last.
fn messages_of(server: &mut Server, tool: &str, params: Value) -> Vec<Value> {
    let mut params = params;
    params["name"] = tool.into();
    server.send(&request("call", "tools/call", &params));
    let mut messages = Vec::new();
    loop {
        messages.push(server.read());
        let last = messages.last().unwrap();
        if last.get("id").is_some() {
            assert_eq!(last["id"], "call");
            assert!(last.get("result").is_some(), "{last}");
            messages.pop();
            return messages;
        }
    }
}

/// Rule 35: only with a token, of the same type, strictly increasing, none after the response.
#[test]
fn progress_is_reported_as_asked_and_only_grows() {
    let mut server = misbehaving().start();
    server.initialize("2025-11-25");
    assert_eq!(
        messages_of(&mut server, "progress", json!({})),
        Vec::<Value>::new()
    );
    for token in [json!("seven"), json!(7), json!(9_007_199_254_740_993_u64)] {
        for params in [
            json!({"_meta": {"progressToken": token}}),
            modern(json!({"_meta": {"progressToken": token}})),
        ] {
            let messages = messages_of(&mut server, "progress", params);
            let mut reported = Vec::new();
            for message in &messages {
                assert_eq!(message["method"], "notifications/progress");
                assert_eq!(message["params"]["progressToken"], token);
                reported.push(message["params"]["progress"].as_f64().unwrap());
            }
            assert_eq!(reported, [1.0, 2.0, 3.0, 4.0]);
            assert_eq!(messages[0]["params"]["total"], 4.0);
            assert_eq!(messages[0]["params"]["message"], "working");
            assert!(
                messages[3]["params"].get("total").is_none(),
                "not a number: {}",
                messages[3]
            );
        }
    }
    for token in [json!(null), json!(1.5), json!({}), json!([1]), json!(true)] {
        assert_eq!(
            messages_of(
                &mut server,
                "progress",
                json!({"_meta": {"progressToken": token}})
            ),
            Vec::<Value>::new(),
            "{token}"
        );
    }
    server.initialize("2024-11-05");
    let messages = messages_of(
        &mut server,
        "progress",
        json!({"_meta": {"progressToken": 1}}),
    );
    assert!(
        messages[0]["params"].get("message").is_none(),
        "there were no messages in 2024-11-05"
    );
    server.end_in_order();
}

fn logged(messages: &[Value]) -> Vec<(String, Value)> {
    messages
        .iter()
        .map(|message| {
            assert_eq!(message["method"], "notifications/message");
            (
                message["params"]["level"].as_str().unwrap().to_owned(),
                message["params"]["data"].clone(),
            )
        })
        .collect()
}

/// Rule 37.
#[test]
fn log_messages_come_only_as_asked() {
    let detail = ("debug".to_owned(), json!("a detail"));
    let warning = ("warning".to_owned(), json!({"what": "a warning"}));
    let emergency = ("emergency".to_owned(), json!("no json"));
    let mut server = misbehaving().start();
    assert_eq!(
        messages_of(&mut server, "log", json!({})),
        Vec::<Value>::new(),
        "nobody asked"
    );

    let level = |level: &str| modern(json!({"_meta": {"io.modelcontextprotocol/logLevel": level}}));
    assert_eq!(
        logged(&messages_of(&mut server, "log", level("debug"))),
        [detail.clone(), warning.clone(), emergency.clone()]
    );
    assert_eq!(
        logged(&messages_of(&mut server, "log", level("warning"))),
        [warning.clone(), emergency.clone()]
    );
    assert_eq!(
        messages_of(&mut server, "log", modern(json!({}))),
        Vec::<Value>::new(),
        "asked for one request only"
    );

    server.initialize("2025-06-18");
    assert_eq!(
        server.request("logging/setLevel", &json!({"level": "error"}))["result"],
        json!({})
    );
    let messages = messages_of(&mut server, "log", json!({}));
    assert_eq!(logged(&messages), [emergency]);
    assert_eq!(
        server.request("logging/setLevel", &json!({"level": "debug"}))["result"],
        json!({})
    );
    let messages = messages_of(&mut server, "log", json!({}));
    assert_eq!(logged(&messages).len(), 3);
    assert_eq!(messages[1]["params"]["logger"], "fixture");
    assert!(messages[0]["params"].get("logger").is_none());
    assert_eq!(
        messages_of(&mut server, "log", modern(json!({}))),
        Vec::<Value>::new(),
        "a modern request says it itself"
    );

    for bad in [
        json!({"level": "loud"}),
        json!({"level": 7}),
        json!({}),
        json!({"level": "DEBUG"}),
    ] {
        assert_eq!(
            error_of(&server.request("logging/setLevel", &bad)).0,
            -32602,
            "{bad}"
        );
    }
    assert_eq!(
        logged(&messages_of(&mut server, "log", json!({}))).len(),
        3,
        "a bad level changes nothing"
    );
    server.end_in_order();
}
