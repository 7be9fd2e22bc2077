//! What a component asks, it asks of the client: in 2026-07-28 with a result that asks and a request that answers, before
//! that with requests of ours. The component is `fixtures/asking`.

/// 2026-07-28: `input_required`.
pub(crate) mod modern;

/// Before: `elicitation/create`, `sampling/createMessage`, `roots/list`.
pub(crate) mod legacy;

use serde_json::{Value, json};

use crate::embedder::Stub;
use crate::harness::{Builder, Server, error_of, fixtures};

/// The component that asks.
fn asking() -> Builder {
    Builder::component(&fixtures().asking)
}

/// With vectors of a provider's.
fn asking_with_provider(provider: &Stub) -> Builder {
    asking().args(&["--embedder", &provider.url, "--embedder-model", "animals"])
}

/// A client that can do everything.
fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}, "extensions": {"example.org/look": {}}, "experimental": {"example.org/look": {}}})
}

/// What each tool asks, and what a client would have to declare. The schema of a form is the fixture's.
fn questions() -> [(&'static str, &'static str, Value, Value); 6] {
    let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}});
    [
        (
            "form",
            "elicitation/create",
            json!({"message": "Are you sure?", "requestedSchema": schema}),
            json!({"elicitation": {"form": {}}}),
        ),
        (
            "visit",
            "elicitation/create",
            json!({"mode": "url", "message": "Please look", "url": "https://example.org/"}),
            json!({"elicitation": {"url": {}}}),
        ),
        (
            "sample",
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 1}),
            json!({"sampling": {}}),
        ),
        (
            "sample_tools",
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 1, "tools": []}),
            json!({"sampling": {"tools": {}}}),
        ),
        ("roots", "roots/list", json!({}), json!({"roots": {}})),
        (
            "other",
            "example.org/look",
            json!({}),
            json!({"extensions": {}}),
        ),
    ]
}

/// Takes what is at a pointer out of an object.
fn without(object: &Value, pointer: &str) -> Value {
    let mut object = object.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.remove(name).unwrap();
    object
}

/// What a finished call was told, in the component's words.
fn told(response: &Value) -> &str {
    assert!(response.get("error").is_none(), "{response}");
    response["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("nothing was told: {response}"))
}

/// The component's mistakes cost the call and are not shown to the client.
#[test]
fn questions_that_make_no_sense_are_the_component_s_fault() {
    for (tool, says) in [
        ("twice", "standard error"),
        ("bad_params", "standard error"),
        ("too_many", "17 questions"),
    ] {
        let mut server = asking().start();
        legacy::shake_hands(&mut server, "2025-11-25", &everything());
        for response in [
            server.request("tools/call", &json!({"name": tool})),
            server.request("tools/call", &modern::claim(json!({"name": tool}))),
        ] {
            let (code, message) = error_of(&response);
            assert_eq!(code, -32603, "{tool}: {message}");
            assert!(message.contains(says), "{tool}: {message}");
        }
        server.end_in_order();
    }
}

/// Neither era asks for what was not declared, and each says it in its own way.
#[test]
fn nothing_is_asked_that_the_client_does_not_declare() {
    for (tool, _, _, required) in questions() {
        let mut pointer = String::new();
        let mut place = &required;
        while let Some((name, member)) = place.as_object().unwrap().iter().next() {
            pointer += &format!("/{name}");
            place = member;
        }
        let mut declared = without(&everything(), &pointer);
        if tool == "other" {
            declared = without(&declared, "/experimental");
        }
        let mut server = asking().start();
        legacy::shake_hands(&mut server, "2025-11-25", &declared);
        let (code, message) = server.call_error(tool, &json!({}));
        assert_eq!(code, -32602, "{tool}: {message}");
        assert!(
            message.contains(&pointer[1..].replace('/', r#"":{""#)),
            "{tool}: {message}"
        );

        let mut params = modern::claim(json!({"name": tool}));
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = declared;
        let response = server.request("tools/call", &params);
        assert_eq!(error_of(&response).0, -32021, "{tool}: {response}");
        let told = &response["error"]["data"]["requiredCapabilities"];
        assert!(told.pointer(&pointer).is_some(), "{tool}: {told}");
        server.end_in_order();
    }
}

/// Both kinds of needs in one: the provider is asked first, and what it said is still there when the client has answered.
#[test]
fn vectors_are_not_lost_while_a_client_is_asked() {
    let provider = Stub::of_animals();
    let vectors = "vectors: [[1.0, 0.0, 0.1]]\n";
    let mut server = asking_with_provider(&provider).start();
    let call = json!({"name": "vectors"});
    let asked = server.request("tools/call", &modern::claim(call.clone()));
    let answers = json!({"confirm": {"action": "accept"}, "vectors": {"mine": 1}});
    let response = modern::answer(&mut server, "tools/call", call, &asked, &answers);
    let confirmed = "confirm: {\"action\":\"accept\"}\n";
    assert_eq!(told(&response), format!("{vectors}{confirmed}"));

    legacy::shake_hands(&mut server, "2025-11-25", &everything());
    server.send(&crate::harness::tool_call("call", "vectors", &json!({})));
    legacy::answer_next(&mut server, &json!({"action": "accept"}));
    assert_eq!(told(&server.read()), format!("{vectors}{confirmed}"));
    server.end_in_order();
}

#[test]
fn a_provider_that_is_not_there_keeps_nobody_from_asking() {
    let mut server = asking().start();
    let call = json!({"name": "vectors"});
    let asked = server.request("tools/call", &modern::claim(call.clone()));
    let answers = json!({"confirm": {"action": "decline"}});
    let response = modern::answer(&mut server, "tools/call", call, &asked, &answers);
    let told = told(&response);
    assert!(
        told.starts_with("vectors: failed: no embedding provider"),
        "{told}"
    );
    assert!(
        told.ends_with("confirm: {\"action\":\"decline\"}\n"),
        "{told}"
    );
}

/// The component that asks, over a store.
fn server_over(data: &std::path::Path) -> Server {
    asking().arg("--data-dir").arg(data).start()
}
