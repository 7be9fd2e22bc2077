use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{asking, everything, questions, server_over, told};
use crate::harness::{PATIENCE, Server, error_of, modern};

/// A request of a client that can do everything.
pub(crate) fn claim(params: Value) -> Value {
    let mut params = modern(params);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = everything();
    params
}

/// Calls the tool that asks whether the person is sure.
fn call_form(server: &mut Server) -> Value {
    server.request("tools/call", &claim(json!({"name": "form"})))
}

/// Makes a request that asked again, with answers and with the state that it was given.
pub(crate) fn answer(
    server: &mut Server,
    method: &str,
    mut params: Value,
    asked: &Value,
    answers: &Value,
) -> Value {
    params["inputResponses"] = answers.clone();
    if let Some(state) = asked["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
    server.request(method, &claim(params))
}

/// The requests that a result asks to be answered.
fn asked(response: &Value) -> &Value {
    assert_eq!(
        response["result"]["resultType"], "input_required",
        "{response}"
    );
    let server = &response["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "asking", "{response}");
    &response["result"]["inputRequests"]
}

#[test]
fn everything_that_can_be_asked_is_asked_by_a_result() {
    let mut server = asking().start();
    for (tool, method, params, _) in questions() {
        let response = server.request("tools/call", &claim(json!({"name": tool})));
        let requests = asked(&response).as_object().unwrap();
        assert_eq!(requests.len(), 1, "{response}");
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!(request, &json!({"method": method, "params": params}));
        let members: Vec<&String> = response["result"].as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            ["inputRequests", "requestState", "resultType", "_meta"]
        );

        let answers = json!({key: {"some": "answer"}});
        let answered = answer(
            &mut server,
            "tools/call",
            json!({"name": tool}),
            &response,
            &answers,
        );
        assert_eq!(answered["result"]["resultType"], "complete");
        assert_eq!(told(&answered), format!("{key}: {{\"some\":\"answer\"}}\n"));
    }
    server.end_in_order();
}

#[test]
fn resources_and_prompts_may_ask_as_well() {
    let mut server = asking().start();
    let answers = json!({"confirm": {"action": "accept"}});
    let confirmed = "confirm: {\"action\":\"accept\"}\n";
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
        let response = server.request(method, &claim(params.clone()));
        assert_eq!(asked(&response)["confirm"]["method"], "elicitation/create");
        assert!(response["result"].get("ttlMs").is_none(), "{response}");
        let answered = answer(&mut server, method, params, &response, &answers);
        assert_eq!(answered.pointer(place).unwrap(), confirmed, "{answered}");
    }
    server.end_in_order();
}

/// A component without a state has none to send, and what it did not ask for means nothing to it.
#[test]
fn answers_without_a_state_are_taken_where_no_state_was_given_out() {
    let mut server = asking().start();
    let call = json!({"name": "stateless"});
    let first = server.request("tools/call", &claim(call.clone()));
    assert!(asked(&first).get("confirm").is_some());
    assert!(first["result"].get("requestState").is_none(), "{first}");

    let wrong = answer(
        &mut server,
        "tools/call",
        call.clone(),
        &first,
        &json!({"other": {}}),
    );
    assert!(asked(&wrong).get("confirm").is_some(), "it is asked again");
    let answers = json!({"confirm": {"action": "accept"}, "more": {"a": 1}});
    let right = answer(&mut server, "tools/call", call, &first, &answers);
    assert!(told(&right).contains("confirm: {\"action\":\"accept\"}"));
    server.end_in_order();
}

#[test]
fn what_is_missing_is_asked_again_and_what_was_never_asked_is_ignored() {
    let mut server = asking().start();
    let call = json!({"name": "all"});
    let keys = |response: &Value| -> Vec<String> {
        asked(response)
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let first = server.request("tools/call", &claim(call.clone()));
    assert_eq!(keys(&first), ["confirm", "sample", "roots"]);

    let some = json!({"sample": {"model": "m"}, "unknown": {"a": 1}});
    let second = answer(&mut server, "tools/call", call.clone(), &first, &some);
    assert_eq!(keys(&second), ["confirm", "roots"]);
    assert_ne!(
        second["result"]["requestState"],
        first["result"]["requestState"]
    );

    // What is not asked any more is not taken either.
    let rest = json!({"roots": {"roots": []}, "sample": {"model": "other"}, "confirm": {"action": "cancel"}});
    let last = answer(&mut server, "tools/call", call.clone(), &second, &rest);
    assert_eq!(
        told(&last),
        "sample: {\"model\":\"m\"}\nroots: {\"roots\":[]}\nconfirm: {\"action\":\"cancel\"}\n"
    );

    let nothing = answer(&mut server, "tools/call", call, &first, &json!({}));
    assert_eq!(keys(&nothing), ["confirm", "sample", "roots"]);
    server.end_in_order();
}

/// Rule 39: a state is worth something with the request that it was given out for, as it was, and with nothing else.
#[test]
fn a_state_that_was_tampered_with_or_brought_to_another_request_is_refused() {
    let mut server = asking().start();
    let call = json!({"name": "form", "arguments": {"a": 1, "b": [2]}});
    let first = server.request("tools/call", &claim(call.clone()));
    let state = first["result"]["requestState"].as_str().unwrap().to_owned();
    let answers = json!({"confirm": {"action": "accept"}});
    let mut refused = |method: &str, mut params: Value, state: &str| {
        params["inputResponses"] = answers.clone();
        params["requestState"] = state.into();
        let response = server.request(method, &claim(params));
        let (code, message) = error_of(&response);
        assert_eq!(code, -32602, "{message}");
        assert!(message.contains("`requestState`"), "{message}");
    };

    refused("tools/call", call.clone(), &format!("{state}-TAMPERED"));
    refused("tools/call", call.clone(), "");
    refused("tools/call", call.clone(), "no state at all");
    refused("tools/call", call.clone(), &"A".repeat(2 << 20));
    for at in [0, 12, state.len() / 2, state.len() - 1] {
        let mut changed = state.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        refused(
            "tools/call",
            call.clone(),
            std::str::from_utf8(&changed).unwrap(),
        );
    }

    let other = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    refused(
        "tools/call",
        other("form", json!({"a": 1, "b": [3]})),
        &state,
    );
    refused("tools/call", other("form", json!({"a": 1})), &state);
    refused(
        "tools/call",
        other("all", json!({"a": 1, "b": [2]})),
        &state,
    );
    refused("prompts/get", json!({"name": "form"}), &state);
    refused("resources/read", json!({"uri": "asking://form"}), &state);

    // It is still good, in another order too; and again, as a client that lost the answer would do.
    let same = other("form", json!({"b": [2], "a": 1}));
    for _ in 0..2 {
        let answered = answer(&mut server, "tools/call", same.clone(), &first, &answers);
        assert_eq!(told(&answered), "confirm: {\"action\":\"accept\"}\n");
    }
    server.end_in_order();
}

#[test]
fn a_state_expires() {
    let mut server = asking().args(&["--ask-timeout", "0.001"]).start();
    let first = call_form(&mut server);
    let began = Instant::now();
    // Time passes; that it has passed is what the server has to notice.
    std::thread::sleep(Duration::from_millis(20));
    let answers = json!({"confirm": {"action": "accept"}});
    let late = answer(
        &mut server,
        "tools/call",
        json!({"name": "form"}),
        &first,
        &answers,
    );
    let (code, message) = error_of(&late);
    assert_eq!(code, -32602, "{message}");
    assert!(message.contains("more than 0.001 s ago"), "{message}");
    assert!(began.elapsed() < PATIENCE);
    server.end_in_order();
}

/// Whoever has the store can go on with what another process asked, also after all have ended.
#[test]
fn a_state_survives_a_restart_and_is_good_in_another_process_of_the_same_store() {
    let data = tempfile::tempdir().unwrap();
    let mut server = server_over(data.path());
    let first = call_form(&mut server);
    let answers = json!({"confirm": {"action": "accept"}});
    let mut other = server_over(data.path());
    let call = json!({"name": "form"});
    let elsewhere = answer(&mut other, "tools/call", call.clone(), &first, &answers);
    assert_eq!(told(&elsewhere), "confirm: {\"action\":\"accept\"}\n");
    server.kill();
    other.end_in_order();
    let mut later = server_over(data.path());
    let restarted = answer(&mut later, "tools/call", call, &first, &answers);
    assert_eq!(told(&restarted), "confirm: {\"action\":\"accept\"}\n");
    later.end_in_order();
    assert_eq!(key_of(data.path()).unwrap().len(), 32);
}

fn key_of(data: &Path) -> Option<Vec<u8>> {
    fs::read(data.join("seal.key")).ok()
}

#[test]
fn a_key_is_made_when_something_is_asked_and_belongs_to_one_store() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut server = server_over(data.path());
    server.request("tools/call", &claim(json!({"name": "stateless"})));
    assert!(key_of(data.path()).is_none(), "nothing was sealed yet");
    let first = call_form(&mut server);
    assert!(key_of(data.path()).is_some());

    for mut stranger in [server_over(other.path()), asking().start()] {
        let answers = json!({"confirm": {"action": "accept"}});
        let refused = answer(
            &mut stranger,
            "tools/call",
            json!({"name": "form"}),
            &first,
            &answers,
        );
        assert_eq!(error_of(&refused).0, -32602);
        stranger.end_in_order();
    }
    server.end_in_order();
}

#[test]
fn answers_that_can_t_be_read_are_refused() {
    let mut server = asking().start();
    let many: serde_json::Map<String, Value> = (0..65)
        .map(|number| (format!("k{number}"), json!({})))
        .collect();
    for (member, value, says) in [
        (
            "inputResponses",
            Value::Null,
            "`inputResponses` must be an object",
        ),
        (
            "inputResponses",
            json!([]),
            "`inputResponses` must be an object",
        ),
        (
            "inputResponses",
            json!({"confirm": 12345}),
            "`inputResponses.confirm` must be",
        ),
        ("inputResponses", Value::Object(many), "the limit is 64"),
        ("requestState", json!(7), "`requestState` must be a string"),
        (
            "requestState",
            Value::Null,
            "`requestState` must be a string",
        ),
    ] {
        let mut params = claim(json!({"name": "stateless"}));
        params[member] = value;
        let (code, message) = error_of(&server.request("tools/call", &params));
        assert_eq!(code, -32602, "{message}");
        assert!(message.contains(says), "{message}");
    }
    server.end_in_order();
}

#[test]
fn a_component_that_keeps_too_much_is_told_so() {
    let mut server = asking().start();
    let response = server.request("tools/call", &claim(json!({"name": "large"})));
    let (code, message) = error_of(&response);
    assert_eq!(code, -32603, "{message}");
    assert!(message.contains("the limit is 1048576"), "{message}");
    server.end_in_order();
}

/// Lists have nothing to ask, so what a client sends along means nothing there.
#[test]
fn other_methods_take_no_answers() {
    let mut server = asking().start();
    let params = claim(json!({"requestState": 7, "inputResponses": []}));
    let response = server.request("tools/list", &params);
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    server.end_in_order();
}
