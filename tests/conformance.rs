//! The component for the official conformance suite, without the suite: all that it lists works, in both eras, for a client
//! that can do everything and answers whatever it is asked.

use serde_json::{Value, json};

use crate::harness::{Builder, Server, error_of, fixtures, modern, request};

fn conformance() -> Server {
    Builder::component(&fixtures().conformance).start()
}

fn capabilities() -> Value {
    json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
}

/// What a client answers that can do everything.
fn answer(question: &Value) -> Value {
    match question["method"].as_str().unwrap() {
        "elicitation/create" => {
            let properties = &question["params"]["requestedSchema"]["properties"];
            let names = properties.as_object().unwrap().keys();
            let content: Value = names.map(|name| (name.clone(), json!("told"))).collect();
            json!({"action": "accept", "content": content})
        }
        "sampling/createMessage" => {
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "told"}})
        }
        "roots/list" => json!({"roots": [{"uri": "file:///told"}]}),
        other => panic!("{other} is asked"),
    }
}

/// Makes a modern request again and again until nothing is asked any more. Returns the result and how often it was asked.
fn insist(server: &mut Server, method: &str, params: &Value) -> (Value, usize) {
    let claim = |mut params: Value| {
        params = modern(params);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities();
        params
    };
    let mut rounds = 0;
    let mut response = server.request(method, &claim(params.clone()));
    while response["result"]["resultType"] == "input_required" {
        rounds += 1;
        assert!(rounds < 5, "{params} asks for ever: {response}");
        let asked = response["result"]["inputRequests"].as_object().unwrap();
        let answers = asked
            .iter()
            .map(|(key, question)| (key.clone(), answer(question)));
        let mut again = params.clone();
        again["inputResponses"] = answers.collect();
        if let Some(state) = response["result"].get("requestState") {
            again["requestState"] = state.clone();
        }
        response = server.request(method, &claim(again));
    }
    assert_eq!(
        response["result"]["resultType"], "complete",
        "{params}: {response}"
    );
    (response["result"].clone(), rounds)
}

/// The same with a legacy request, which is made once.
fn attend(server: &mut Server, method: &str, params: &Value) -> (Value, usize) {
    server.send(&request("call", method, params));
    let mut asked = 0;
    loop {
        let message = server.read();
        if message["id"] == "call" {
            assert!(message.get("error").is_none(), "{params}: {message}");
            return (message["result"].clone(), asked);
        }
        if message.get("id").is_some() {
            asked += 1;
            server
                .send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer(&message)}));
        }
    }
}

/// Arguments for whatever a schema or a prompt requires.
fn arguments(required: &Value) -> Value {
    let names = required.as_array().into_iter().flatten();
    names
        .map(|name| (name.as_str().unwrap().to_owned(), json!("told")))
        .collect()
}

type Play = fn(&mut Server, &str, &Value) -> (Value, usize);

fn play_all(server: &mut Server, play: Play) {
    let (tools, _) = play(server, "tools/list", &json!({}));
    let tools = tools["tools"].as_array().unwrap();
    assert!(tools.len() > 25, "{tools:?}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let arguments = arguments(&tool["inputSchema"]["required"]);
        let call = json!({"name": name, "arguments": arguments});
        let (result, rounds) = play(server, "tools/call", &call);
        assert_eq!(
            result["isError"] == true,
            name == "test_error_handling",
            "{name}: {result}"
        );
        let asks = name.contains("elicitation")
            || name.contains("input_required")
            || name == "test_sampling";
        assert_eq!(rounds > 0, asks, "{name} asks {rounds} times");
    }
    let (prompts, _) = play(server, "prompts/list", &json!({}));
    for prompt in prompts["prompts"].as_array().unwrap() {
        let required: Value = prompt["arguments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|argument| argument["name"].clone())
            .collect();
        let get = json!({"name": prompt["name"], "arguments": arguments(&required)});
        let (result, _) = play(server, "prompts/get", &get);
        assert!(
            !result["messages"].as_array().unwrap().is_empty(),
            "{get}: {result}"
        );
    }
    let (resources, _) = play(server, "resources/list", &json!({}));
    let listed = resources["resources"].as_array().unwrap().iter();
    let listed = listed.map(|resource| resource["uri"].as_str().unwrap());
    for uri in listed.chain(["test://template/7/data"]) {
        let (result, _) = play(server, "resources/read", &json!({"uri": uri}));
        assert_eq!(result["contents"][0]["uri"], uri);
    }
    let complete = json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"}, "argument": {"name": "arg1", "value": "te"}});
    let (result, _) = play(server, "completion/complete", &complete);
    assert_eq!(
        result["completion"]["values"],
        json!(["tea", "tease", "test"])
    );
}

#[test]
fn all_of_it_works_for_a_modern_client() {
    let mut server = conformance();
    play_all(&mut server, insist);
}

#[test]
fn all_of_it_works_for_a_legacy_client() {
    let mut server = conformance();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities()});
    server.request("initialize", &params);
    server.initialized();
    play_all(&mut server, attend);
}

#[test]
fn what_needs_a_model_is_refused_without_one() {
    let mut server = conformance();
    let call = modern(json!({"name": "test_missing_capability"}));
    let response = server.request("tools/call", &call);
    assert_eq!(error_of(&response).0, -32021);
    assert_eq!(
        response["error"]["data"]["requiredCapabilities"],
        json!({"sampling": {}})
    );
    server.end_in_order();
}
