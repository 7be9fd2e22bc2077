use serde_json::{Value, json};

use super::{everything, modern, told};
use crate::harness::{Builder, Client, Http, fixtures, tool_call};

fn asking() -> Http {
    Builder::http_component(&fixtures().asking).serve()
}

/// A client that can do everything and has said that it is ready.
fn ready(server: &Http) -> Client {
    let mut client = Client::new(server.address);
    client.open(json!({"protocolVersion": "2025-11-25", "capabilities": everything()}));
    client.initialized();
    client
}

fn reply(question: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": result})
}

/// Sends an answer, of which nothing comes back here.
fn send_reply(client: &mut Client, question: &Value, result: &Value) {
    let (answer, stream) = client.post(&reply(question, result));
    assert_eq!(answer.status, 202, "{answer:?}");
    assert!(answer.body.is_empty() && stream.is_none());
}

#[test]
fn a_question_comes_on_the_stream_of_its_call_and_the_answer_with_a_request_of_its_own() {
    let server = asking();
    let mut client = ready(&server);
    let (_, stream) = client.post(&tool_call("call", "form", &json!({})));
    let mut stream = stream.unwrap();
    let question = stream.message().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    // Others are served meanwhile, this client too.
    assert_eq!(client.call("nothing", &json!({}))["content"][0]["text"], "");
    let mut other = ready(&server);
    send_reply(&mut other, &question, &json!({"action": "decline"}));

    send_reply(&mut client, &question, &json!({"action": "accept"}));
    let response = stream.message().unwrap();
    assert_eq!(told(&response), "confirm: {\"action\":\"accept\"}\n");
    assert!(stream.message().is_none());
    server.end_in_order();
}

#[test]
fn a_client_that_lost_the_stream_can_answer_and_come_back_for_the_response() {
    let server = asking();
    let mut client = ready(&server);
    let (_, stream) = client.post(&tool_call("call", "form", &json!({})));
    let mut stream = stream.unwrap();
    let (question, id) = loop {
        let event = stream.event().unwrap();
        if !event.data.is_empty() {
            break (event.json(), event.id.clone().unwrap());
        }
    };
    stream.leave();
    send_reply(&mut client, &question, &json!({"action": "accept"}));
    let mut stream = client.listen(Some(&id));
    let response = stream.message().unwrap();
    assert_eq!(response["id"], "call");
    assert_eq!(told(&response), "confirm: {\"action\":\"accept\"}\n");
    server.end_in_order();
}

#[test]
fn the_questions_of_a_session_end_with_it() {
    let server = asking();
    let mut client = ready(&server);
    let (_, stream) = client.post(&tool_call("call", "form", &json!({})));
    let mut stream = stream.unwrap();
    let question = stream.message().unwrap();
    let session = client.session.clone().unwrap();
    let headers = [("mcp-session-id", session.as_str())];
    let deleted = server.connect().ask("DELETE", "/mcp", &headers, b"");
    assert_eq!(deleted.status, 204);
    assert!(stream.message().is_none());
    let (answer, _) = client.post(&reply(&question, &json!({"action": "accept"})));
    assert_eq!(answer.status, 404);
    server.end_in_order();
}

/// The status says what the error says.
#[test]
fn a_modern_client_answers_from_wherever_it_likes() {
    let server = asking();
    let call = json!({"name": "form"});
    let params = modern::claim(call.clone());
    let asked = server.modern().request("tools/call", &params);
    let mut again = params;
    again["inputResponses"] = json!({"confirm": {"action": "accept"}});
    again["requestState"] = asked["result"]["requestState"].clone();
    let answered = server.modern().request("tools/call", &again);
    assert_eq!(told(&answered), "confirm: {\"action\":\"accept\"}\n");

    let refused = |params: &Value| {
        let message = crate::harness::request(1, "tools/call", params);
        let (answer, _) = server.modern().post(&message);
        (answer.status, answer.code())
    };
    again["requestState"] = "forged".into();
    assert_eq!(refused(&again), (400, -32602));
    let undeclared = crate::harness::modern(call);
    assert_eq!(refused(&undeclared), (400, -32021));
    server.end_in_order();
}
