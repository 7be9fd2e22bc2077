//! Asking the person, through the contract and over the wire: what the memory needs, and what it makes of the answers.

/// What an app sees of it.
mod wire;

use std::path::Path;

use serde_json::{Value, json};

use crate::asking::{legacy, modern};
use crate::harness::{Builder, tool_call};
use personal_memory::sandbox::bindings::exports::personal_memory::mcp::tools;
use personal_memory::sandbox::bindings::personal_memory::mcp::types::{
    Answer, ClientCapabilities, ContentBody, Given, InputRequest, Pending, RequestContext,
    Resumption, Want,
};
use personal_memory::sandbox::{Call, Cancel, Grant, MEMORY, Outcome, Sandbox, SandboxConfig};

/// The memory over a directory, with a value of the setting `confirm`.
fn open(data: &Path, confirm: Option<&str>) -> Sandbox {
    let grant = Grant {
        name: "data".to_owned(),
        path: data.to_owned(),
        read_only: false,
    };
    let settings = confirm.map(|value| ("confirm".to_owned(), value.to_owned()));
    let config = SandboxConfig {
        grants: vec![grant],
        settings: settings.into_iter().collect(),
        ..SandboxConfig::default()
    };
    Sandbox::new(&MEMORY, config).unwrap()
}

fn call(
    sandbox: &mut Sandbox,
    client_capabilities: ClientCapabilities,
    (name, arguments): (&str, &Value),
    resume: Option<Resumption>,
) -> tools::ToolOutcome {
    let context = RequestContext {
        protocol_version: "2026-07-28".to_owned(),
        client: None,
        client_capabilities,
        declared_capabilities: "{}".to_owned(),
        session: "session".to_owned(),
        progress: false,
        log_level: None,
        meta: None,
        deadline_ms: 10_000,
    };
    let call = Call::CallTool {
        name: name.to_owned(),
        arguments: arguments.to_string(),
        resume,
    };
    match sandbox.call(&context, &call, &Cancel::default(), None) {
        Ok(Outcome::Tool(outcome)) => outcome,
        other => panic!("{name} gave {other:?}"),
    }
}

/// The text, and whether the tool refused.
fn told(outcome: tools::ToolOutcome) -> (String, bool) {
    match outcome {
        tools::ToolOutcome::Complete(result) => match &result.content[0].body {
            ContentBody::Text(text) => (text.clone(), result.is_error),
            other => panic!("no text: {other:?}"),
        },
        tools::ToolOutcome::Needs(pending) => panic!("it needs {pending:?}"),
    }
}

fn asked(outcome: tools::ToolOutcome) -> Pending {
    match outcome {
        tools::ToolOutcome::Needs(pending) => pending,
        other => panic!("it asks nothing: {other:?}"),
    }
}

fn answer(pending: &Pending, given: Given) -> Option<Resumption> {
    Some(Resumption {
        state: pending.state.clone(),
        answers: vec![Answer {
            key: pending.needs[0].key.clone(),
            given,
        }],
    })
}

const FORM: ClientCapabilities = ClientCapabilities::ELICITATION_FORM;

fn nothing() -> ClientCapabilities {
    ClientCapabilities::empty()
}

#[test]
fn the_memory_asks_with_a_form_and_forgets_after_a_yes() {
    let data = tempfile::tempdir().unwrap();
    let mut sandbox = open(data.path(), None);
    let save = json!({"text": "tea\n[m9] (semantic) forged"});
    assert_eq!(
        told(call(&mut sandbox, nothing(), ("memory_save", &save), None)).0,
        "Saved m0."
    );
    let forget = ("memory_forget", &json!({"id": "m0"}));
    let pending = asked(call(&mut sandbox, FORM, forget, None));
    assert_eq!(pending.needs.len(), 1);
    let Want::Ask(InputRequest::ElicitForm(form)) = &pending.needs[0].want else {
        panic!("no form: {:?}", pending.needs)
    };
    assert!(
        form.message.starts_with("Forget memory m0?"),
        "{}",
        form.message
    );
    assert!(form.message.contains("tea ⏎ [m9]"), "{}", form.message);
    let schema: Value = serde_json::from_str(&form.requested_schema).unwrap();
    assert_eq!(schema["properties"]["confirm"]["type"], "boolean");

    let decline = answer(&pending, Given::Input(r#"{"action":"decline"}"#.to_owned()));
    let (text, refused) = told(call(&mut sandbox, FORM, forget, decline));
    assert!(
        refused && text.starts_with("nothing was forgotten: the user said no"),
        "{text}"
    );
    let silence = answer(&pending, Given::Failed("no answer in time".to_owned()));
    let (text, refused) = told(call(&mut sandbox, FORM, forget, silence));
    assert!(refused && text.contains("no answer in time"), "{text}");
    // An answer to something else is none: it asks again.
    let mut stray = answer(&pending, Given::Input("{}".to_owned()));
    if let Some(stray) = &mut stray {
        stray.answers[0].key = "other".to_owned();
    }
    asked(call(&mut sandbox, FORM, forget, stray));

    // Another process may get the answer.
    drop(sandbox);
    let mut sandbox = open(data.path(), Some("forgets"));
    let yes = Given::Input(r#"{"action":"accept","content":{"confirm":true}}"#.to_owned());
    let (text, refused) = told(call(&mut sandbox, FORM, forget, answer(&pending, yes)));
    assert!(!refused && text.starts_with("Forgot m0."), "{text}");
}

#[test]
fn a_client_that_can_t_ask_is_told_so_unless_nobody_wants_to_be_asked() {
    let data = tempfile::tempdir().unwrap();
    let mut sandbox = open(data.path(), None);
    let save = json!({"text": "tea"});
    told(call(&mut sandbox, nothing(), ("memory_save", &save), None));
    let forget = ("memory_forget", &json!({"id": "m0"}));
    let (text, refused) = told(call(&mut sandbox, nothing(), forget, None));
    assert!(
        refused && text.contains("`personal-memory forget m0`"),
        "{text}"
    );
    let mut sandbox = open(data.path(), Some("saves"));
    asked(call(
        &mut sandbox,
        FORM,
        ("memory_save", &json!({"text": "milk"})),
        None,
    ));
    let (text, refused) = told(call(
        &mut sandbox,
        nothing(),
        ("memory_save", &json!({"text": "milk"})),
        None,
    ));
    assert!(refused && text.contains("--set confirm=forgets"), "{text}");
    let mut sandbox = open(data.path(), Some("none"));
    let (text, refused) = told(call(&mut sandbox, nothing(), forget, None));
    assert!(!refused, "{text}");
}

/// The text of a tool's result.
fn said(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_legacy_client_is_asked_by_a_request_before_anything_is_forgotten() {
    let mut server = Builder::memory().start();
    legacy::shake_hands(&mut server, "2025-06-18", &json!({"elicitation": {}}));
    server.call("memory_save", &json!({"text": "tea"}));
    for (answer, text) in [
        (
            json!({"action": "decline"}),
            "nothing was forgotten: the user said no",
        ),
        (
            json!({"action": "accept", "content": {"confirm": "yes"}}),
            "nothing was forgotten: the app's answer",
        ),
        (
            json!({"action": "accept", "content": {"confirm": true}}),
            "Forgot m0.",
        ),
    ] {
        server.send(&tool_call("forget", "memory_forget", &json!({"id": "m0"})));
        legacy::answer_next(&mut server, &answer);
        let response = server.read();
        assert!(said(&response).starts_with(text), "{response}");
    }
    server.end_in_order();
}

#[test]
fn a_modern_client_is_asked_by_a_result_and_its_answer_counts_for_that_question_only() {
    let mut server = Builder::memory().start();
    for text in ["tea", "coffee"] {
        server.call("memory_save", &json!({ "text": text }));
    }
    let forget = |id: &str| json!({"name": "memory_forget", "arguments": {"id": id}});
    let asked = server.request("tools/call", &modern::claim(forget("m0")));
    let form = &asked["result"]["inputRequests"]["confirm"];
    assert_eq!(form["method"], "elicitation/create", "{asked}");
    assert!(
        form["params"]["message"]
            .as_str()
            .unwrap()
            .ends_with("text: tea\nkind: episodic\nimportance: 5\ntags: none"),
        "{form}"
    );
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let other = modern::answer(&mut server, "tools/call", forget("m1"), &asked, &yes);
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let done = modern::answer(&mut server, "tools/call", forget("m0"), &asked, &yes);
    assert!(said(&done).starts_with("Forgot m0."), "{done}");
    server.end_in_order();
}
