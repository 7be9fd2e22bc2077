use std::sync::mpsc::channel;
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{
    Builder, NO_DEADLINE, PATIENCE, error_of, fixtures, modern, request, tool_call,
    wait_until_in_flight,
};

fn calling(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", &modern(json!({"name": tool})))
}

#[test]
fn many_clients_at_once_are_all_answered() {
    const CLIENTS: usize = 24;
    const SAVES: usize = 10;
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let mut client = match number % 2 {
                0 => server.modern(),
                _ => server.legacy("2025-11-25"),
            };
            scope.spawn(move || {
                for save in 0..SAVES {
                    let text = format!("client {number} save {save}");
                    let saved = client.call("memory_save", &json!({"text": text}));
                    assert!(
                        saved["content"][0]["text"].to_string().contains("Saved m"),
                        "{saved}"
                    );
                }
            });
        }
    });
    let mut client = server.modern();
    let params = modern(
        json!({"ref": {"type": "ref/resource", "uri": "memory://entries/{id}"}, "argument": {"name": "id", "value": "m"}}),
    );
    let found = client.request("completion/complete", &params);
    assert_eq!(found["result"]["completion"]["total"], CLIENTS * SAVES);
    server.end_in_order();
}

/// Four megabytes that nobody takes fill all buffers on the way; the others don't notice.
#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    const REQUESTS: usize = 1500;
    let data = tempfile::tempdir().unwrap();
    let server = Builder::http_memory_in(data.path()).serve();
    let mut client = server.modern();
    let list = request(1, "tools/list", &modern(json!({})));
    let mut slow = client.send(&list);
    let headers = client.headers(&list);
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for _ in 1..REQUESTS {
        slow.send("POST", "/mcp", &headers, list.to_string().as_bytes());
    }
    for number in 0..20 {
        client.call("memory_save", &json!({"text": format!("quick {number}")}));
    }
    // Nothing is lost to it either.
    for _ in 0..REQUESTS {
        assert_eq!(slow.answer().json()["id"], 1);
    }
    server.end_in_order();
}

#[test]
fn calls_beyond_the_queue_are_refused_at_once() {
    const MORE_THAN_FIT: usize = 300;
    let server = Builder::http_component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .serve();
    let client = server.modern();
    let busy = client.send(&calling("busy", "sleep_forever"));
    let (sender, answers) = channel();
    for id in 0..MORE_THAN_FIT {
        let mut connection = client.send(&calling(id, "count"));
        let sender = sender.clone();
        thread::spawn(move || sender.send(connection.answer().json()));
    }
    // All others wait, so the first answer is a refusal.
    let refused = answers.recv_timeout(PATIENCE).unwrap();
    let (code, message) = error_of(&refused);
    assert_eq!(code, -32603);
    assert!(message.contains("too many calls are waiting"), "{message}");
    drop(busy);
    // All are answered, each once.
    let mut ids = vec![refused["id"].as_u64().unwrap()];
    while ids.len() < MORE_THAN_FIT {
        let answer = answers.recv_timeout(PATIENCE).unwrap();
        ids.push(answer["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..MORE_THAN_FIT as u64).collect::<Vec<_>>());
    server.end_in_order();
}

#[test]
fn calls_are_made_in_order_of_arrival_whoever_sent_them() {
    let server = Builder::http_component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .serve();
    let busy = server.modern().send(&calling("busy", "sleep_forever"));
    let mut waiting = Vec::new();
    for number in 1..=6 {
        let mut client = server.legacy("2025-11-25");
        waiting.push(client.send(&tool_call(number, "count", &json!({}))));
        wait_until_in_flight(&mut client, number);
    }
    drop(busy);
    for (index, mut connection) in waiting.into_iter().enumerate() {
        let answer = connection.answer().json();
        assert_eq!(
            answer["result"]["content"][0]["text"],
            (index + 1).to_string()
        );
    }
    server.end_in_order();
}

#[test]
fn subscriptions_are_told_of_the_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let data = tempfile::tempdir().unwrap();
        let server = Builder::http_memory_in(data.path()).serve();
        let filter = json!({"notifications": {"resourcesListChanged": true}});
        let (_, stream) =
            server
                .modern()
                .post(&request("s", "subscriptions/listen", &modern(filter)));
        let mut stream = stream.unwrap();
        stream.message().unwrap();
        let legacy = server.legacy("2025-11-25");
        let mut unsolicited = legacy.listen(None);
        let mut idle = server.connect();
        assert_eq!(idle.ask("GET", "/healthz", &[], b"").status, 200);

        server.server.signal(signal);
        let cancelled = stream.message().unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], "s");
        let last = stream.message().unwrap();
        assert_eq!(
            (&last["id"], &last["result"]["resultType"]),
            (&json!("s"), &json!("complete"))
        );
        assert_eq!(stream.message(), None);
        assert_eq!(unsolicited.message(), None);
        assert!(idle.is_closed());
        let finished = server.server.ended();
        assert!(finished.status.success(), "{finished:?}");
    }
}

#[test]
fn a_call_that_hangs_does_not_outlive_the_process_that_is_asked_to_end() {
    let server = Builder::http_component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .serve();
    let client = server.modern();
    let _busy = client.send(&calling(1, "sleep_forever"));
    let _waiting = client.send(&calling(2, "count"));
    // It has come when another one that came later is answered.
    assert_eq!(
        server
            .modern()
            .request("server/discover", &modern(json!({})))["id"],
        1
    );
    server.end_in_order();
}
