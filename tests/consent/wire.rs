//! The same over the wire, in both eras: what an app sees and sends.

use serde_json::{Value, json};

use crate::asking::legacy::{answer_next, shake_hands};
use crate::asking::modern::{answer, claim};
use crate::harness::{Builder, Server, error_of, tool_call};

/// A client that can show forms.
fn with_forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// A legacy client of a server that has one memory.
fn legacy(data: &std::path::Path, args: &[&str]) -> Server {
    let mut server = Builder::memory_in(data).args(args).start();
    shake_hands(&mut server, "2025-11-25", &with_forms());
    assert_eq!(
        server.call_text("memory_save", &json!({"text": "I drink tea"})),
        "Saved m0."
    );
    server
}

fn forget() -> Value {
    json!({"id": "m0"})
}

/// The text of a tool's result, and whether the tool refused.
fn told(response: &Value) -> (&str, bool) {
    let result = &response["result"];
    let text = result["content"][0]["text"].as_str();
    (
        text.unwrap_or_else(|| panic!("nothing is told: {response}")),
        result["isError"] == true,
    )
}

#[test]
fn a_legacy_client_is_asked_by_a_request_before_a_memory_is_forgotten() {
    let data = tempfile::tempdir().unwrap();
    let mut server = legacy(data.path(), &[]);
    for (result, says) in [
        (json!({"action": "decline"}), "the user said no"),
        (json!({"action": "cancel"}), "nothing was forgotten"),
        (
            json!({"action": "accept", "content": {"confirm": "yes"}}),
            "nothing was forgotten",
        ),
    ] {
        server.send(&tool_call(1, "memory_forget", &forget()));
        answer_next(&mut server, &result);
        let response = server.read();
        let (text, refused) = told(&response);
        assert!(refused && text.contains(says), "{result}: {text}");
    }
    assert!(
        server
            .call_text("memory_search", &json!({"query": "tea"}))
            .contains("m0"),
        "it is still there"
    );

    server.send(&tool_call(2, "memory_forget", &forget()));
    answer_next(
        &mut server,
        &json!({"action": "accept", "content": {"confirm": true}}),
    );
    let response = server.read();
    let (text, refused) = told(&response);
    assert!(!refused && text.starts_with("Forgot m0."), "{text}");
    server.end_in_order();
}

#[test]
fn a_silent_person_costs_one_call_and_nothing_is_forgotten() {
    let data = tempfile::tempdir().unwrap();
    let mut server = legacy(data.path(), &["--ask-timeout", "0.05"]);
    server.send(&tool_call(1, "memory_forget", &forget()));
    let question = server.read();
    assert_eq!(question["method"], "elicitation/create");
    let withdrawn = server.read();
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let response = server.read();
    let (text, refused) = told(&response);
    assert!(
        refused && text.contains("no answer within 0.05 s"),
        "{text}"
    );
    assert!(
        server
            .call_text("memory_get", &forget())
            .contains("I drink tea")
    );
    server.end_in_order();
}

#[test]
fn a_modern_client_is_asked_by_a_result_and_another_process_may_get_the_answer() {
    let data = tempfile::tempdir().unwrap();
    let saves = ["--set", "confirm=saves"];
    let mut server = Builder::memory_in(data.path()).args(&saves).start();
    let save = json!({"name": "memory_save", "arguments": {"text": "I drink tea"}});
    let asked = server.request("tools/call", &claim(save.clone()));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let question = request["params"]["message"].as_str().unwrap();
    assert!(question.contains("I drink tea"), "{question}");
    let yes = json!({key: {"action": "accept", "content": {"confirm": true}}});

    // The person agreed to this text and to no other.
    let other = json!({"name": "memory_save", "arguments": {"text": "I drink gin"}});
    let forged = answer(&mut server, "tools/call", other, &asked, &yes);
    assert_eq!(error_of(&forged).0, -32602, "{forged}");

    server.kill();
    let mut server = Builder::memory_in(data.path()).args(&saves).start();
    let saved = answer(&mut server, "tools/call", save, &asked, &yes);
    assert_eq!(told(&saved), ("Saved m0.", false), "{saved}");
    server.end_in_order();
}
