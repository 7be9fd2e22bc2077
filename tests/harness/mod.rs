//! What the tests share.

mod client;
mod disk;
mod fixtures;
mod http;
mod journal;
mod memory;
mod observed;
mod owner;
#[cfg(unix)]
mod process;
mod random;
mod recorded;
mod server;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) use self::client::{Client, encoded, wait_until_in_flight};
pub(crate) use self::disk::{Crash, Image};
pub(crate) use self::fixtures::{calls_in, fixtures, shared_cache, unhurried, wait_for_calls};
pub(crate) use self::http::{Answer, Connection, Http, USUAL};
pub(crate) use self::journal::{
    JOURNAL, crc32, header_of_format, tag, text_of, write_journal, write_worn_journal,
};
pub(crate) use self::observed::contract::exports::personal_memory::memory::admin::{
    Entry, Finding, NewEntry,
};
pub(crate) use self::observed::{Event, Fault, Observed, compiled};
pub(crate) use self::owner::{Done, Owner};
#[cfg(unix)]
pub(crate) use self::process::settled;
pub(crate) use self::random::{Random, number_from};
pub(crate) use self::recorded::{Disk, Failing, Process};
pub(crate) use self::server::{
    Builder, Finished, LIST_CHANGED, Server, UPDATED, command, error_of,
};

/// How long anything may take before a test gives up. Never what a test measures: a machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Seconds for `--timeout` that no test waits for: what ends before was ended by something else.
pub(crate) const NO_DEADLINE: &str = "3600";

/// The program under test, beside these tests in the target directory. `host/tests/program.rs` is why cargo has built it
/// by now whenever it runs the tests of the workspace.
pub(crate) static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let program = profile.join(format!("personal-memory{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{program:?} is missing: test the whole workspace"
    );
    program.into_os_string().into_string().unwrap()
});

/// Waits until something holds that comes about without us, for as long as [`PATIENCE`] lasts.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "still waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// The parameters of a modern request.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

/// A request as it is written on a line.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A call of a tool.
pub(crate) fn tool_call(id: impl Into<Value>, name: &str, arguments: &Value) -> Value {
    request(
        id,
        "tools/call",
        &json!({"name": name, "arguments": arguments}),
    )
}

/// The cancellation of a request.
pub(crate) fn cancellation(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}
