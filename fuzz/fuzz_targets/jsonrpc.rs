//! Any line: it is read as messages, or what is wrong with it is said.
#![no_main]
#![allow(dead_code, reason = "the room is included as it is, and a target uses a part of it")]

/// The room by itself: the host around it would bring wasmtime along.
#[path = "../../host/src"]
mod host {
    pub mod jsonrpc;
}

use host::jsonrpc;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    match jsonrpc::parse(line) {
        jsonrpc::Incoming::Single(message) => check(message),
        jsonrpc::Incoming::Batch(messages) => {
            assert!(!messages.is_empty());
            messages.into_iter().for_each(check);
        }
    }
});

/// What is malformed is said in few words, and an id comes back as it was.
fn check(message: jsonrpc::Message) {
    let response = match message {
        jsonrpc::Message::Request(request) => {
            jsonrpc::Response::new(request.id, Ok(serde_json::Value::Null))
        }
        jsonrpc::Message::Malformed { id: Some(id), error } => {
            jsonrpc::Response::new(id, Err::<(), _>(error))
        }
        jsonrpc::Message::Malformed { id: None, error } => jsonrpc::Response::to_unknown(error, true),
        jsonrpc::Message::Notification(_) | jsonrpc::Message::Response(_) => return,
    };
    let line = serde_json::to_string(&response).expect("a response can be written");
    assert!(!line.contains('\n'));
}
