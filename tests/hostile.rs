//! What the host makes of a component that means harm: the server answers the next good request, its memory stays
//! bounded, standard output stays pure, and nothing outside of what was granted is read or written.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

mod ground;

use self::ground::Ground;
use crate::harness::{
    Builder, NO_DEADLINE, Server, cancellation, error_of, fixtures, modern, request, tool_call,
};

/// What the host may have at most while it deals with the worst that a component of 64 MiB can do.
#[cfg(target_os = "linux")]
const MAX_PEAK_BYTES: usize = 400 << 20;

fn hostile() -> Builder {
    Builder::component(&fixtures().hostile)
}

fn behaving(how: &str) -> Builder {
    hostile().arg("--set").arg(format!("behave={how}"))
}

/// The next good request is answered.
fn assert_serves(server: &mut Server) {
    let count: u32 = server.call_text("count", &json!({})).parse().unwrap();
    assert!(count > 0);
}

/// What is too large to be handed over costs that one call; what is not is sent, on one line.
#[test]
fn results_of_any_size_cost_a_bounded_amount_of_memory() {
    const MIB: usize = 1 << 20;
    let mut server = hostile().args(&["--max-memory", "64"]).start();
    let refused = [
        ("big_text", 9 * MIB),
        ("big_text", 1000 * MIB),
        ("control_characters", 9 * MIB),
        ("many_blocks", 100_000),
        ("deep_json", 1000),
        ("deep_json", 4 * MIB),
        ("wide_json", 3 * MIB),
        ("error_with_big_text", 0),
    ];
    for (tool, number) in refused {
        let (code, message) = server.call_error(tool, &json!({"n": number}));
        assert_eq!(code, -32603, "{tool} {number}");
        assert!(message.len() < 200, "{tool} {number}: {message}");
        assert_serves(&mut server);
    }
    for (tool, number) in [
        ("big_text", 2 * MIB),
        ("control_characters", MIB),
        ("many_blocks", 1000),
        ("deep_json", 100),
        ("wide_json", MIB / 8),
    ] {
        let result = server.call(tool, &json!({"n": number}));
        assert!(result["content"].is_array(), "{tool} {number}");
        assert_serves(&mut server);
    }
    #[cfg(target_os = "linux")]
    {
        let peak = server.peak_bytes();
        eprintln!("at most {} MiB", peak >> 20);
        assert!(peak < MAX_PEAK_BYTES, "{peak} bytes");
    }
    server.end_in_order();
}

#[test]
fn malformed_json_in_any_place_costs_that_one_call() {
    let mut server = hostile().start();
    for place in [
        "structured",
        "structured_twice",
        "structured_nan",
        "structured_surrogate",
        "structured_empty",
        "result_meta",
        "block_meta",
        "link_meta",
        "resource_meta",
        "other_block",
        "other_array",
    ] {
        let (code, message) = server.call_error(&format!("malformed_{place}"), &json!({}));
        assert_eq!(code, -32603, "{place}");
        assert!(message.contains("can't be sent"), "{place}: {message}");
        assert_serves(&mut server);
    }
    let error = server.call_error("error_with_bad_data", &json!({}));
    assert_eq!(error, (i64::from(i32::MIN), "line\nbreak".to_owned()));
    server.end_in_order();

    let mut server = behaving("bad-meta").start();
    for (method, params) in OTHER_REQUESTS {
        let params: Value = serde_json::from_str(params).unwrap();
        let response = server.request(method, &params);
        if *method != "completion/complete" {
            assert_eq!(error_of(&response).0, -32603, "{method}");
        }
        assert_serves(&mut server);
    }
    server.end_in_order();
}

/// A request for each export besides the tools'.
const OTHER_REQUESTS: &[(&str, &str)] = &[
    ("resources/list", "{}"),
    ("resources/templates/list", "{}"),
    ("resources/read", r#"{"uri":"hostile://x"}"#),
    ("prompts/list", "{}"),
    ("prompts/get", r#"{"name":"p"}"#),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#,
    ),
];

#[test]
fn a_panic_in_any_export_costs_that_one_call() {
    let mut server = behaving("panic").start();
    for (method, params) in OTHER_REQUESTS
        .iter()
        .chain(&[("resources/subscribe", r#"{"uri":"hostile://x"}"#)])
    {
        let params: Value = serde_json::from_str(params).unwrap();
        let response = server.request(method, &params);
        assert_eq!(error_of(&response).0, -32603, "{method}");
        assert_serves(&mut server);
    }
    server.end_in_order();

    let mut server = behaving("panic-in-open").start();
    for _ in 0..3 {
        assert_eq!(server.call_error("count", &json!({})).0, -32603);
        assert!(server.request("ping", &json!({})).get("result").is_some());
    }
    server.end_in_order();
}

#[test]
fn a_list_that_lies_is_not_passed_on() {
    for how in [
        "duplicate-tools",
        "bad-tool-name",
        "empty-tool-name",
        "schema-array",
        "schema-no-object",
        "bad-output-schema",
        "bad-tool-meta",
        "many-tools",
    ] {
        let mut server = behaving(how).start();
        let response = server.request("tools/list", &json!({}));
        assert_eq!(error_of(&response).0, -32603, "{how}");
        assert_serves(&mut server);
        server.end_in_order();
    }
}

#[test]
fn pages_without_end_are_the_clients_to_leave() {
    let mut server = hostile().start();
    let mut params = json!({});
    for _ in 0..5 {
        let result = server.request("tools/list", &params)["result"].clone();
        assert_eq!(result["tools"][0]["name"], "count");
        params = json!({"cursor": result["nextCursor"]});
    }
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        let result = server.request(method, &json!({}))["result"].clone();
        assert!(result["nextCursor"].is_string(), "{method}");
    }
    server.end_in_order();

    let finished = hostile().arg("--list-tools").pipe(b"");
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stderr.contains("more than 100 pages"));
}

/// Values of the right type that mean nothing come through as they are, on one line each.
#[test]
fn invalid_values_stay_inside_of_their_json() {
    let mut server = hostile().start();
    let name = server.initialize("2025-11-25")["serverInfo"]["name"].clone();
    assert!(
        name.as_str().unwrap().contains("\n{\"jsonrpc\""),
        "in the name, and nowhere else"
    );
    let result = server.call("invalid_values", &json!({}));
    assert_eq!(result["content"].as_array().unwrap().len(), 4);
    assert!(
        result["content"][1]["annotations"]["priority"].is_null(),
        "no number that JSON lacks"
    );
    for (method, params) in OTHER_REQUESTS {
        let params: Value = serde_json::from_str(params).unwrap();
        let response = server.request(method, &params);
        assert!(response.get("result").is_some(), "{method}: {response}");
    }
    let (_, params) = OTHER_REQUESTS.last().unwrap();
    let params = serde_json::from_str(params).unwrap();
    let completion = server.request("completion/complete", &params)["result"]["completion"].clone();
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(completion["hasMore"], true);
    server.end_in_order();

    let mut server = behaving("empty").start();
    let response = server.request("resources/read", &json!({"uri": "hostile://x"}));
    assert_eq!(error_of(&response).0, -32603, "no contents are no answer");
    assert_serves(&mut server);
    server.end_in_order();
}

#[test]
fn a_component_that_breaks_before_it_starts_never_serves() {
    for (how, said) in [
        ("trap-in-configure", "on purpose, in configure"),
        ("loop-in-configure", "took longer than 1000 ms"),
    ] {
        let finished = behaving(how).args(&["--timeout", "1"]).pipe(b"");
        assert_eq!(finished.status.code(), Some(1), "{how}");
        assert!(finished.stdout.is_empty(), "{how}");
        assert!(finished.stderr.contains(said), "{how}: {}", finished.stderr);
    }
    for mark in ["trap-in-describe", "flood-in-describe"] {
        let ground = Ground::new();
        fs::write(ground.data().join(mark), "").unwrap();
        let finished = hostile().arg("--data-dir").arg(ground.data()).pipe(b"");
        assert_eq!(finished.status.code(), Some(1), "{mark}");
        assert!(finished.stdout.is_empty(), "{mark}");
        assert!(
            finished.stderr.contains("did not start"),
            "{mark}: {}",
            finished.stderr
        );
    }
}

#[test]
fn malformed_extensions_are_left_out() {
    let ground = Ground::new();
    fs::write(ground.data().join("bad-extensions"), "").unwrap();
    let mut server = ground.start(hostile());
    let result = server.request("server/discover", &modern(json!({})))["result"].clone();
    assert!(
        result["capabilities"].get("extensions").is_none(),
        "{result}"
    );
    server.end_in_order();
}

#[test]
fn an_instance_that_can_t_be_replaced_costs_calls_and_no_server() {
    let ground = Ground::new();
    let mut server = ground.start(behaving("trap-later"));
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.call_error("error_with_big_text", &json!({}));
    for _ in 0..3 {
        let (code, message) = server.call_error("count", &json!({}));
        assert_eq!(code, -32603);
        assert!(message.contains("could not be started"), "{message}");
        assert!(server.request("ping", &json!({})).get("result").is_some());
    }
    fs::remove_file(ground.data().join("mark")).unwrap();
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.end_in_order();
}

#[test]
fn a_component_that_is_never_satisfied_is_given_up() {
    let mut server = hostile().start();
    let (code, message) = server.call_error("vectors_for_ever", &json!({}));
    assert_eq!(code, -32603);
    assert!(message.contains("still has no answer"), "{message}");
    server.end_in_order();
}

#[test]
fn a_component_that_wants_nothing_but_time_holds_up_nobody() {
    let mut server = hostile().args(&["--timeout", NO_DEADLINE]).start();
    server.send(&tool_call("endless", "time_for_ever", &json!({})));
    for _ in 0..3 {
        // Another call has its turn in between.
        server.send(&tool_call("short", "count", &json!({})));
        let answer = server.read();
        assert_eq!(answer["id"], "short", "{answer}");
    }
    server.send(&cancellation("endless"));
    assert_serves(&mut server);
    server.end_in_order();
}

#[test]
fn a_store_that_is_never_open_can_be_left() {
    let mut server = behaving("never-open")
        .args(&["--timeout", NO_DEADLINE])
        .start();
    server.send(&tool_call("endless", "count", &json!({})));
    server.send(&cancellation("endless"));
    // What does not look into the store is answered, in its turn.
    let response = server.request("tools/list", &json!({}));
    assert!(response.get("result").is_some(), "{response}");
    server.end_in_order();
}

#[test]
fn what_nobody_subscribed_to_is_told_to_nobody() {
    let mut server = hostile().start();
    server.initialize("2025-11-25");
    let subscribed = server.request("resources/subscribe", &json!({"uri": "hostile://7\n"}));
    assert!(subscribed.get("result").is_some(), "{subscribed}");
    assert_serves(&mut server);
    let told = (0..8).map(|_| server.hear());
    for message in told {
        let uri = &message["params"]["uri"];
        assert!(
            uri.is_null() || uri == "hostile://7\n",
            "of what nobody asked for: {message}"
        );
    }
}

/// A component says more than the client can read; the client does not read at all at first.
#[cfg(target_os = "linux")]
#[test]
fn floods_of_notifications_cost_a_bounded_amount_of_memory() {
    let mut server = hostile().unread().start();
    server.send(&request(
        "level",
        "logging/setLevel",
        &json!({"level": "debug"}),
    ));
    for tool in ["flood_progress", "flood_log"] {
        let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": tool}});
        server.send(&request(tool, "tools/call", &params));
    }
    server.send(&tool_call("after", "count", &json!({})));
    let idle = crate::harness::settled(|| server.resident_bytes() >> 23);
    server.read_on();
    let mut last_progress = 0.0;
    loop {
        let message = server.read();
        if let Some(progress) = message["params"]["progress"].as_f64() {
            assert!(progress > last_progress, "it grows, whatever was dropped");
            last_progress = progress;
        }
        if message["id"] == "after" {
            break;
        }
    }
    let peak = server.peak_bytes();
    eprintln!(
        "at most {} MiB, {} MiB before it was read",
        peak >> 20,
        idle << 3
    );
    assert!(peak < MAX_PEAK_BYTES / 2, "{peak} bytes");
    assert_serves(&mut server);
    server.end_in_order();
}

#[test]
fn a_flood_on_standard_error_that_nobody_reads_is_dropped() {
    let mut server = hostile()
        .args(&["--timeout", NO_DEADLINE])
        .unheard()
        .start();
    assert_eq!(server.call_text("flood_stderr", &json!({})), "flooded");
    assert_serves(&mut server);
    let said = server.end_in_order();
    assert!(said.len() < 100 << 10, "{} bytes", said.len());
}

#[test]
fn what_a_component_prints_can_t_steer_a_terminal() {
    let mut server = hostile().start();
    assert_eq!(server.call_text("print_escapes", &json!({})), "printed");
    let said = server.end_in_order();
    assert!(said.contains("before") && said.contains("after"), "{said}");
    let steering = |character: &char| character.is_control() && *character != '\n';
    assert_eq!(said.chars().find(steering), None, "{said:?}");
}

/// What is not offered is refused before anything of the component runs, and said by its name.
#[test]
fn a_component_that_wants_an_interface_of_its_own_is_refused() {
    let finished = Builder::component(&fixtures().wanting).pipe(b"");
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stdout.is_empty());
    let said = &finished.stderr;
    assert!(said.contains("not offered"), "{said}");
    assert!(said.contains("tests:wanting/secrets"), "{said}");
}

#[test]
fn files_that_are_no_components_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let real = fs::read(&fixtures().hostile).unwrap();
    let files: [(&str, &[u8]); 5] = [
        ("empty", b""),
        ("text", b"#!/bin/sh\necho owned\n"),
        ("header", &real[..8]),
        ("half", &real[..real.len() / 2]),
        ("module", b"\0asm\x01\0\0\0"),
    ];
    for (name, bytes) in files {
        let path: &Path = &directory.path().join(format!("{name}.wasm"));
        fs::write(path, bytes).unwrap();
        let finished = Builder::component(path).pipe(b"");
        assert_eq!(finished.status.code(), Some(1), "{name}");
        assert!(finished.stdout.is_empty(), "{name}");
        assert!(!finished.stderr.contains("panicked"), "{name}");
        assert!(!finished.stderr.is_empty(), "{name}");
    }
}
