use serde_json::{Value, json};

use crate::harness::{Builder, Client, Connection, Http, fixtures, modern, request, tool_call};

fn asking() -> Http {
    Builder::http_component(&fixtures().asking).serve()
}

/// A legacy client that can ask a person.
fn with_a_person(server: &Http) -> Client {
    let mut client = server.modern();
    client.open(
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}}),
    );
    client.initialized();
    client
}

fn form(id: u64) -> Value {
    tool_call(id, "form", &json!({}))
}

/// Makes the call that asks; returns its stream and the question.
fn asked(client: &mut Client) -> (Connection, Value) {
    let (answer, stream) = client.post(&form(1));
    assert!(answer.is_events(), "{answer:?}");
    let mut stream = stream.unwrap();
    let question = stream.message().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    (stream, question)
}

/// Sends the person's answer, which is a message of its own.
fn answer(client: &mut Client, question: &Value) {
    let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    let (answer, _) = client.post(&reply);
    assert_eq!((answer.status, answer.body.len()), (202, 0));
}

fn told(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_question_comes_on_the_call_s_stream_and_its_answer_in_a_message_of_its_own() {
    let server = asking();
    let mut client = with_a_person(&server);
    let (mut stream, question) = asked(&mut client);
    answer(&mut client, &question);
    let response = stream.message().unwrap();
    assert_eq!(response["id"], 1);
    assert!(told(&response).contains("accept"), "{response}");
    assert_eq!(stream.message(), None);
    server.end_in_order();
}

#[test]
fn a_client_that_lost_its_connection_is_still_asked() {
    let server = asking();
    let mut client = with_a_person(&server);
    let (_, stream) = client.post(&form(1));
    let mut stream = stream.unwrap();
    let primed = stream.event().unwrap().id.unwrap();
    stream.leave();
    let mut stream = client.listen(Some(&primed));
    let question = stream.message().unwrap();
    answer(&mut client, &question);
    assert!(told(&stream.message().unwrap()).contains("accept"));
    server.end_in_order();
}

#[test]
fn another_session_can_t_answer() {
    let server = asking();
    let mut client = with_a_person(&server);
    let mut other = with_a_person(&server);
    let (mut stream, question) = asked(&mut client);
    let declined = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(other.post(&declined).0.status, 202);
    answer(&mut client, &question);
    assert!(told(&stream.message().unwrap()).contains("accept"));
    server.end_in_order();
}

#[test]
fn the_end_of_a_session_is_the_end_of_what_was_asked_in_it() {
    let server = asking();
    let mut client = with_a_person(&server);
    let (mut stream, _) = asked(&mut client);
    let session = client.session.clone().unwrap();
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(
        server.connect().ask("DELETE", "/mcp", &headers, b"").status,
        204
    );
    while stream.message().is_some() {}
    // Nothing waits for an answer any more.
    server.end_in_order();
}

#[test]
fn a_modern_client_is_asked_by_a_result_and_may_answer_on_any_connection() {
    let server = asking();
    let mut params = modern(json!({"name": "form"}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"form": {}}});
    let asked = server.modern().request("tools/call", &params);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    let key = requests.keys().next().unwrap();
    params["inputResponses"] = json!({key: {"action": "accept"}});
    params["requestState"] = asked["result"]["requestState"].clone();
    let mut other = server.modern();
    let messages = other.exchange(&request(9, "tools/call", &params));
    assert_eq!(messages.len(), 1);
    assert!(told(&messages[0]).contains("accept"), "{messages:?}");
    server.end_in_order();
}

/// The status says what the error says.
#[test]
fn a_modern_request_that_can_t_ask_or_brings_a_forged_state_is_a_bad_request() {
    let server = asking();
    let refused = |params: &Value| {
        let (answer, _) = server.modern().post(&request(1, "tools/call", params));
        (answer.status, answer.code())
    };
    let undeclared = modern(json!({"name": "form"}));
    assert_eq!(refused(&undeclared), (400, -32021));
    let mut forged = undeclared;
    forged["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    forged["requestState"] = "forged".into();
    assert_eq!(refused(&forged), (400, -32602));
    server.end_in_order();
}
