//! Clients that flood, stall and repeat themselves: memory stays bounded, and the next good request is answered.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    Builder, NO_DEADLINE, Server, cancellation, error_of, fixtures, request, tool_call,
};

const MIB: usize = 1 << 20;

/// Bytes that a server has at most while it is flooded: those that it has anyway, and what may wait.
#[cfg(target_os = "linux")]
const MAX_PEAK_BYTES: usize = 120 * MIB;

fn assert_is_bounded(server: &Server, what: &str) {
    #[cfg(target_os = "linux")]
    {
        let peak = server.peak_bytes();
        eprintln!("{what}: at most {} MiB", peak / MIB);
        assert!(peak < MAX_PEAK_BYTES, "{what}: {peak} bytes");
    }
}

fn assert_serves(server: &mut Server) {
    let found = server.call_text("memory_search", &json!({"query": "anything"}));
    assert_eq!(found, "No matching memories.");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_skipped() {
    let mut server = Builder::memory().start();
    let piece = vec![b'x'; MIB];
    for beginning in ["", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""] {
        server.send_bytes(beginning.as_bytes());
        for _ in 0..100 {
            server.send_bytes(&piece);
        }
        server.send_bytes(b"\n");
        let response = server.read();
        let (code, message) = error_of(&response);
        assert_eq!(code, -32600);
        assert!(message.contains("the limit is 4194304"), "{message}");
        assert_serves(&mut server);
    }
    assert_is_bounded(&server, "lines of 100 MB");
    server.end_in_order();
}

/// The longest messages that are read, of what takes the most memory for its length.
#[test]
fn the_longest_messages_cost_a_bounded_amount_of_memory() {
    let mut server = Builder::memory().start();
    let fill = |piece: &str| {
        let count = (4 * MIB - 200) / piece.len();
        piece.repeat(count)
    };
    for (what, arguments) in [
        ("empty arrays", format!("[{}[]]", fill("[],"))),
        ("digits", fill("9")),
        ("deep", format!("{}1{}", "[".repeat(MIB), "]".repeat(MIB))),
        ("escapes", format!("\"{}\"", fill("\\u0041"))),
    ] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"{what}\",\"method\":\"tools/call\",\"params\":{{\"name\":\"memory_save\",\"arguments\":{{\"text\":{arguments}}}}}}}\n"
        );
        server.send_bytes(line.as_bytes());
        let response = server.read();
        assert_eq!(response["id"], what, "{response}");
        let is_refused = response.get("error").is_some() || response["result"]["isError"] == true;
        assert!(is_refused, "{what}");
        assert!(response.to_string().len() < 2000, "{what}: {response}");
        assert_serves(&mut server);
    }
    #[cfg(target_os = "linux")]
    {
        let peak = server.peak_bytes();
        eprintln!("the longest messages: at most {} MiB", peak / MIB);
        assert!(peak < 600 * MIB, "{peak} bytes");
    }
    server.end_in_order();
}

#[test]
fn a_line_that_comes_byte_by_byte_is_one_line() {
    let mut server = Builder::memory().start();
    let line = format!("{}\n", request("slow", "ping", &json!({})));
    for byte in line.as_bytes() {
        server.send_bytes(&[*byte]);
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(server.read()["id"], "slow");
    server.end_in_order();
}

/// Notifications are never answered, and cost nothing that lasts.
#[test]
fn floods_of_notifications_and_cancellations_leave_nothing_behind() {
    const FLOOD: usize = 100_000;
    let mut server = Builder::memory().start();
    assert_serves(&mut server);
    let mut flood = String::new();
    for number in 0..FLOOD {
        let message = match number % 4 {
            0 => cancellation(number),
            1 => cancellation(format!("{number}{}", "x".repeat(number % 500))),
            2 => json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            _ => {
                json!({"jsonrpc": "2.0", "method": format!("notifications/{number}"), "params": {"a": [number]}})
            }
        };
        flood.push_str(&format!("{message}\n"));
    }
    server.send_bytes(flood.as_bytes());
    assert_serves(&mut server);
    assert_is_bounded(&server, "100,000 notifications");
    server.end_in_order();
}

/// The component is kept busy, so that what comes has to wait: only so much may, and the rest is refused at once.
#[test]
fn calls_beyond_what_may_wait_are_refused_and_duplicate_ids_as_well() {
    const FLOOD: usize = 2000;
    let mut server = Builder::component(&fixtures().misbehaving)
        .args(&["--timeout", NO_DEADLINE])
        .start();
    server.send(&tool_call("busy", "sleep_forever", &json!({})));
    let padding = "x".repeat(1000);
    for number in 0..FLOOD {
        server.send(&tool_call(number, "count", &json!({"padding": padding})));
        server.send(&tool_call("busy", "count", &json!({})));
    }
    let (mut waiting, mut duplicates) = (0, 0);
    for _ in 0..2 * FLOOD - 256 {
        let response = server.read();
        let (code, message) = error_of(&response);
        match code {
            -32603 if message.contains("too many calls are waiting") => waiting += 1,
            -32600 if message.contains("still being worked on") => duplicates += 1,
            _ => panic!("{response}"),
        }
    }
    assert_eq!((waiting, duplicates), (FLOOD - 256, FLOOD));
    server.send(&cancellation("busy"));
    for number in 0..256 {
        let response = server.read();
        assert_eq!(response["id"], number, "{response}");
        assert!(response.get("result").is_some(), "{response}");
    }
    assert_is_bounded(&server, "4000 calls");
    assert_eq!(server.call_text("count", &json!({})), "257");
    server.end_in_order();
}

#[test]
fn calls_beyond_the_limit_a_second_are_refused_with_the_limit() {
    const CALLS: usize = 30;
    let mut server = Builder::memory()
        .args(&["--max-calls-per-second", "1"])
        .start();
    // What needs no component does not count.
    for _ in 0..CALLS {
        assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
    }
    let mut refused = Vec::new();
    for _ in 0..CALLS {
        let response = server.request("tools/list", &json!({}));
        if response.get("error").is_some() {
            refused.push(error_of(&response));
        }
    }
    // Ten at once, and one for each second that this took.
    assert!(
        !refused.is_empty() && refused.len() <= CALLS - 10,
        "{refused:?}"
    );
    for (code, message) in refused {
        assert_eq!(code, -32603);
        assert!(message.contains("the limit is 1 a second"), "{message}");
        assert!(message.contains("try again in"), "{message}");
    }
    assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
    server.end_in_order();
}

/// As fast as a client can be that waits for each answer, it never meets the limit.
#[test]
fn a_client_that_waits_for_its_answers_never_meets_the_limit() {
    const CALLS: usize = 3000;
    let mut server = Builder::memory().start();
    for number in 0..CALLS {
        let response = server.request("tools/call", &save_or_search(number));
        assert!(response.get("result").is_some(), "{response}");
    }
    server.end_in_order();
}

fn save_or_search(number: usize) -> Value {
    match number % 10 {
        0 => json!({"name": "memory_save", "arguments": {"text": format!("number {number}")}}),
        _ => {
            json!({"name": "memory_search", "arguments": {"query": format!("number {number}"), "k": 1}})
        }
    }
}
