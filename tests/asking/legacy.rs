use serde_json::{Value, json};

use super::{asking, everything, questions, server_over, told};
use crate::harness::{Server, cancellation, error_of, request, tool_call};

/// Opens a connection of a client that declares this.
pub(crate) fn shake_hands(server: &mut Server, version: &str, capabilities: &Value) {
    let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "tests", "version": "1"}});
    let response = server.request("initialize", &params);
    assert_eq!(response["result"]["protocolVersion"], version);
    server.initialized();
}

/// A server that may ask everything.
fn ready() -> Server {
    let mut server = asking().start();
    shake_hands(&mut server, "2025-11-25", &everything());
    server
}

/// The next message, which must be a question.
fn question(server: &mut Server) -> Value {
    let message = server.read();
    assert_eq!(message["jsonrpc"], "2.0");
    assert!(
        message["id"].is_string() && message["method"].is_string(),
        "{message}"
    );
    message
}

fn reply(question: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": result})
}

/// Answers the next message, which must be a question.
pub(crate) fn answer_next(server: &mut Server, result: &Value) {
    let question = question(server);
    server.send(&reply(&question, result));
}

/// The next message, which must withdraw a question.
fn withdrawn(server: &mut Server, question: &Value) {
    let message = server.read();
    assert_eq!(message["method"], "notifications/cancelled", "{message}");
    assert_eq!(message["params"]["requestId"], question["id"], "{message}");
    assert!(message["params"]["reason"].is_string(), "{message}");
    assert!(message.get("id").is_none(), "{message}");
}

#[test]
fn everything_that_can_be_asked_is_asked_by_a_request() {
    let mut server = ready();
    for (tool, method, mut params, _) in questions() {
        if tool == "visit" {
            params["elicitationId"] = "v1".into();
        }
        server.send(&tool_call(tool, tool, &json!({})));
        let question = question(&mut server);
        assert_eq!(
            (&question["method"], &question["params"]),
            (&json!(method), &params)
        );
        server.send(&reply(&question, &json!({"some": "answer"})));
        let response = server.read();
        assert_eq!(response["id"], tool);
        assert!(response["result"].get("resultType").is_none(), "{response}");
        assert!(told(&response).ends_with(": {\"some\":\"answer\"}\n"));
    }
    server.end_in_order();
}

#[test]
fn resources_and_prompts_may_ask_as_well() {
    let mut server = ready();
    for (method, params, place) in [
        (
            "resources/read",
            json!({"uri": "asking://form"}),
            "/result/contents/0/text",
        ),
        (
            "prompts/get",
            json!({"name": "form"}),
            "/result/messages/0/content/text",
        ),
    ] {
        server.send(&request("call", method, &params));
        answer_next(&mut server, &json!({"action": "accept"}));
        let response = server.read();
        assert_eq!(
            response.pointer(place).unwrap(),
            "confirm: {\"action\":\"accept\"}\n"
        );
    }
    server.end_in_order();
}

/// Sampling and roots are as old as the protocol, forms came later, and pages and tools after those.
#[test]
fn a_revision_is_asked_what_it_knows() {
    for (version, tools) in [
        ("2024-11-05", &["sample", "roots"][..]),
        ("2025-03-26", &["sample", "roots"]),
        ("2025-06-18", &["sample", "roots", "form"]),
        (
            "2025-11-25",
            &["sample", "roots", "form", "visit", "sample_tools"],
        ),
    ] {
        let mut server = asking().start();
        shake_hands(&mut server, version, &everything());
        for tool in ["sample", "roots", "form", "visit", "sample_tools"] {
            server.send(&tool_call(tool, tool, &json!({})));
            if tools.contains(&tool) {
                answer_next(&mut server, &json!({}));
                assert!(told(&server.read()).ends_with(": {}\n"));
            } else {
                assert_eq!(error_of(&server.read()).0, -32602, "{version} {tool}");
            }
        }
        server.end_in_order();
    }
}

#[test]
fn several_questions_are_asked_at_once_and_answered_in_any_order() {
    let mut server = ready();
    server.send(&tool_call("call", "all", &json!({})));
    let questions: Vec<Value> = (0..3).map(|_| question(&mut server)).collect();
    let methods: Vec<&str> = questions
        .iter()
        .map(|one| one["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        ["elicitation/create", "sampling/createMessage", "roots/list"]
    );
    // An error is an answer, and so is something that is none.
    server.send(&json!({"jsonrpc": "2.0", "id": questions[2]["id"], "error": {"code": -32601, "message": "no roots here"}}));
    server.send(&reply(&questions[0], &json!(["x"])));
    server.send(&reply(&questions[1], &json!({"model": "m"})));
    assert_eq!(
        told(&server.read()),
        "roots: failed: the client answers with error -32601: no roots here\n\
         confirm: failed: the client's answer is not an object but [\"x\"]\n\
         sample: {\"model\":\"m\"}\n"
    );
    server.end_in_order();
}

/// No lock is held, and no thread is blocked.
#[test]
fn others_are_served_while_a_person_thinks() {
    let data = tempfile::tempdir().unwrap();
    let mut server = server_over(data.path());
    shake_hands(&mut server, "2025-11-25", &everything());
    server.send(&tool_call("thinking", "form", &json!({})));
    let question = question(&mut server);
    assert_eq!(server.call_text("nothing", &json!({})), "");
    let mut other = server_over(data.path());
    assert_eq!(other.call_text("nothing", &json!({})), "");
    other.end_in_order();
    server.send(&tool_call("second", "roots", &json!({})));
    answer_next(&mut server, &json!({"roots": []}));
    assert_eq!(server.read()["id"], "second");

    server.send(&reply(&question, &json!({"action": "accept"})));
    let response = server.read();
    assert_eq!(response["id"], "thinking");
    assert_eq!(told(&response), "confirm: {\"action\":\"accept\"}\n");
    server.end_in_order();
}

/// Rule 38, second half. What was answered before is not lost.
#[test]
fn a_client_that_stays_silent_is_given_up_and_the_call_is_answered() {
    let mut server = asking().args(&["--ask-timeout", "0.1"]).start();
    shake_hands(&mut server, "2025-11-25", &everything());
    server.send(&tool_call("call", "form", &json!({})));
    let silent = question(&mut server);
    withdrawn(&mut server, &silent);
    let response = server.read();
    assert_eq!(response["id"], "call");
    let nobody = "failed: the client gave no answer within 0.1 s\n";
    assert_eq!(told(&response), format!("confirm: {nobody}"));
    // Too late.
    server.send(&reply(&silent, &json!({"action": "accept"})));

    server.send(&tool_call("call", "all", &json!({})));
    let questions: Vec<Value> = (0..3).map(|_| question(&mut server)).collect();
    server.send(&reply(&questions[1], &json!({"model": "m"})));
    withdrawn(&mut server, &questions[0]);
    withdrawn(&mut server, &questions[2]);
    let some = format!("sample: {{\"model\":\"m\"}}\nconfirm: {nobody}roots: {nobody}");
    assert_eq!(told(&server.read()), some);
    server.end_in_order();
}

#[test]
fn a_call_that_is_cancelled_takes_its_questions_back() {
    let mut server = ready();
    server.send(&tool_call("call", "all", &json!({})));
    let questions: Vec<Value> = (0..3).map(|_| question(&mut server)).collect();
    server.send(&reply(&questions[1], &json!({"model": "m"})));
    server.send(&cancellation("call"));
    withdrawn(&mut server, &questions[0]);
    withdrawn(&mut server, &questions[2]);
    server.send(&reply(&questions[0], &json!({"action": "accept"})));
    // Its id is free, and its answer is not coming.
    server.send(&tool_call("call", "nothing", &json!({})));
    assert_eq!(told(&server.read()), "");
    server.end_in_order();
}

#[test]
fn answers_to_nothing_are_ignored() {
    let mut server = ready();
    server.send(&tool_call("call", "form", &json!({})));
    let question = question(&mut server);
    for id in [json!("ask-999"), json!(1), json!("call"), Value::Null] {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}}));
    }
    server.send(&json!({"jsonrpc": "2.0", "result": {}}));
    server.send(&reply(&question, &json!({"action": "decline"})));
    assert_eq!(told(&server.read()), "confirm: {\"action\":\"decline\"}\n");
    server.send(&reply(&question, &json!({"action": "accept"})));
    server.end_in_order();
}

#[test]
fn members_of_a_modern_request_mean_nothing_in_a_legacy_one() {
    let mut server = ready();
    let params = json!({"name": "stateless", "inputResponses": {"confirm": {}}, "requestState": 7});
    server.send(&request("call", "tools/call", &params));
    answer_next(&mut server, &json!({"action": "accept"}));
    assert!(told(&server.read()).contains("accept"));
    server.end_in_order();
}

/// Rule 21: before `initialized` nothing is sent but pings and log messages.
#[test]
fn nobody_is_asked_before_the_client_is_ready() {
    let mut server = asking().start();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": everything()});
    server.request("initialize", &params);
    let (code, message) = server.call_error("form", &json!({}));
    assert_eq!(code, -32600);
    assert!(message.contains("notifications/initialized"), "{message}");
    server.initialized();
    server.send(&tool_call("call", "form", &json!({})));
    answer_next(&mut server, &json!({}));
    assert_eq!(told(&server.read()), "confirm: {}\n");
    server.end_in_order();
}

#[test]
fn a_client_that_is_gone_ends_its_calls() {
    let mut server = ready();
    server.send(&tool_call("call", "form", &json!({})));
    let question = question(&mut server);
    let finished = server.end();
    assert!(finished.status.success(), "{}", finished.stderr);
    let last = String::from_utf8(finished.stdout).unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["params"]["requestId"], question["id"], "{last}");
}

#[test]
fn a_component_that_is_never_satisfied_is_given_up() {
    let mut server = ready();
    server.send(&tool_call("call", "endless", &json!({})));
    let mut rounds = 0;
    let response = loop {
        let message = server.read();
        if message["id"] == "call" {
            break message;
        }
        server.send(&reply(&message, &json!({})));
        rounds += 1;
    };
    let (code, message) = error_of(&response);
    assert_eq!((code, rounds), (-32603, 10), "{message}");
    server.end_in_order();
}

#[test]
fn the_calls_that_wait_for_a_client_are_bounded() {
    let mut server = ready();
    for number in 0..64 {
        server.send(&tool_call(format!("call {number}"), "form", &json!({})));
        question(&mut server);
    }
    let (code, message) = server.call_error("form", &json!({}));
    assert_eq!(code, -32603);
    assert!(message.contains("64 calls wait"), "{message}");
    assert_eq!(server.call_text("nothing", &json!({})), "");
}

/// The one revision with arrays.
#[test]
fn an_answer_may_come_in_a_batch() {
    let mut server = asking().start();
    shake_hands(&mut server, "2025-03-26", &everything());
    server.send(&tool_call("call", "sample", &json!({})));
    let question = question(&mut server);
    server.send(&json!([reply(&question, &json!({"model": "m"})), {"jsonrpc": "2.0", "method": "notifications/progress"}]));
    assert_eq!(told(&server.read()), "sample: {\"model\":\"m\"}\n");
    server.end_in_order();
}
