//! What the host makes of a component that misbehaves: the request gets an error, the next one works, standard output
//! stays clean, and nothing of the machine can be seen.

use std::fs;

use serde_json::json;

use crate::harness::{Builder, Server, fixtures, tool_call};

fn misbehaving() -> Builder {
    Builder::component(&fixtures().misbehaving)
}

/// A call that must end abnormally, and the call after it.
fn broken(server: &mut Server, tool: &str, message: &str) {
    assert_eq!(server.call_text("count", &json!({})), "1");
    assert_eq!(
        server.call_text("count", &json!({})),
        "2",
        "an instance lives from call to call"
    );
    assert_eq!(
        server.call_error(tool, &json!({})),
        (-32603, message.to_owned())
    );
    assert_eq!(
        server.call_text("count", &json!({})),
        "1",
        "a fresh instance after {tool}"
    );
}

#[test]
fn a_component_that_loops_gets_an_error_and_the_next_request_works() {
    let mut server = misbehaving().args(&["--timeout", "2"]).start();
    broken(
        &mut server,
        "loop_forever",
        "the call was stopped: it took longer than 2000 ms",
    );
    server.end_in_order();
}

#[test]
fn a_component_that_sleeps_forever_gets_an_error_and_the_next_request_works() {
    let mut server = misbehaving().args(&["--timeout", "2"]).start();
    broken(
        &mut server,
        "sleep_forever",
        "the call was stopped: it took longer than 2000 ms",
    );
    server.end_in_order();
}

#[test]
fn a_component_that_eats_memory_gets_an_error_and_the_next_request_works() {
    let mut server = misbehaving().args(&["--max-memory", "64"]).start();
    broken(
        &mut server,
        "eat_memory",
        "the call was stopped: it wanted more than 67108864 bytes of memory",
    );
    server.end_in_order();
}

#[test]
fn a_component_that_traps_gets_an_error_and_the_next_request_works() {
    let mut server = misbehaving().start();
    for tool in ["trap", "recurse"] {
        broken(
            &mut server,
            tool,
            "the component failed; standard error has the details",
        );
        server.call_error("trap", &json!({}));
    }
    let stderr = server.end_in_order();
    assert!(
        stderr.contains("on purpose"),
        "the details are there: {stderr}"
    );
    assert_eq!(stderr.matches("wasm trap").count(), 4, "{stderr}");
}

#[test]
fn a_component_that_exits_takes_nobody_with_it() {
    let mut server = misbehaving().start();
    assert_eq!(server.call_error("exit", &json!({})).0, -32603);
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.end_in_order();
}

/// A read that blocks in the operating system can't be aborted: the deadline passes over it, and so does the end.
#[cfg(unix)]
#[test]
fn a_component_that_is_stuck_in_a_read_gets_an_error_and_the_next_request_works() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let grant = format!("pipes={}:ro", directory.path().display());
    let mut server = misbehaving()
        .args(&["--timeout", "2", "--dir", &grant])
        .start();
    let (code, message) = server.call_error("read", &json!({"path": "/pipes/fifo"}));
    assert_eq!(
        (code, message.as_str()),
        (-32603, "the call was stopped: it took longer than 2000 ms")
    );
    assert_eq!(server.call_text("count", &json!({})), "1");
    server.end_in_order();
}

#[test]
fn test_a_tool_printing_to_stdout_does_not_corrupt_the_stream() {
    let mut server = misbehaving().start();
    // Every line that comes is parsed, and its id compared.
    assert_eq!(server.call_text("print", &json!({})), "printed");
    assert_eq!(server.call_text("print", &json!({})), "printed");
    drop(server);

    let input = format!("{}\n", tool_call(1, "print", &json!({})));
    let finished = misbehaving().pipe(input.as_bytes());
    let expected = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"printed\"}]}}\n";
    assert_eq!(String::from_utf8_lossy(&finished.stdout), expected);
}

#[test]
fn what_a_component_prints_goes_to_standard_error_and_is_bounded() {
    let mut server = misbehaving().start();
    assert_eq!(server.call_text("print_a_lot", &json!({})), "printed a lot");
    assert_eq!(server.call_text("print_a_lot", &json!({})), "printed a lot");
    let stderr = server.end_in_order();
    assert!(stderr.contains("sixty-three bytes and a newline"));
    assert_eq!(
        stderr.matches("the rest is dropped").count(),
        2,
        "said once a call"
    );
    // Two calls of a megabyte each.
    assert!(stderr.len() < 100 * 1024, "{} bytes", stderr.len());
}

#[test]
fn nothing_of_the_machine_can_be_seen() {
    let mut server = misbehaving().env("SECRET", "from the environment").start();
    let text = server.call_text("environment", &json!({}));
    assert!(text.contains("variables: []"), "{text}");
    assert!(text.contains("arguments: []"), "{text}");
    assert!(
        text.contains("input: Ok(0) \"\""),
        "the transport's input is not the component's: {text}"
    );
    assert!(!text.contains(" reached"), "{text}");
    assert!(
        text.contains("/etc/passwd: directory unreachable, file unreachable"),
        "{text}"
    );
    server.end_in_order();
}

#[test]
fn a_granted_directory_can_be_used_and_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let granted = directory.path().join("granted");
    fs::create_dir(&granted).unwrap();
    fs::write(granted.join("file"), "inside").unwrap();
    fs::write(directory.path().join("secret"), "outside").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(directory.path().join("secret"), granted.join("link")).unwrap();

    let mut server = misbehaving()
        .arg("--dir")
        .arg(format!("data={}", granted.display()))
        .start();
    let read = |server: &mut Server, path: &str| server.call_text("read", &json!({"path": path}));
    assert_eq!(read(&mut server, "/data/file"), "read: inside");
    for path in [
        "/data/../secret",
        "/data/link",
        "/data/./../../secret",
        "/secret",
        "secret",
        directory.path().join("secret").to_str().unwrap(),
    ] {
        let outcome = read(&mut server, path);
        assert!(outcome.starts_with("failed"), "{path}: {outcome}");
    }
    assert_eq!(
        server.call_text("write", &json!({"path": "/data/new"})),
        "written"
    );
    assert_eq!(fs::read_to_string(granted.join("new")).unwrap(), "written");
    assert!(
        server
            .call_text("write", &json!({"path": "/data/../escaped"}))
            .starts_with("failed")
    );
    assert!(!directory.path().join("escaped").exists());
}

#[test]
fn a_directory_granted_for_reading_can_only_be_read() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "inside").unwrap();
    let mut server = misbehaving()
        .arg("--dir")
        .arg(format!("docs={}:ro", directory.path().display()))
        .start();
    assert_eq!(
        server.call_text("read", &json!({"path": "/docs/file"})),
        "read: inside"
    );
    for path in ["/docs/file", "/docs/new"] {
        assert!(
            server
                .call_text("write", &json!({"path": path}))
                .starts_with("failed"),
            "{path}"
        );
    }
    assert_eq!(
        fs::read_to_string(directory.path().join("file")).unwrap(),
        "inside"
    );
    assert!(!directory.path().join("new").exists());
}

/// A component that does not look whether it may ask gets its request refused rather than lost.
#[test]
fn a_need_that_cannot_be_met_is_an_error() {
    let mut server = misbehaving().start();
    let (code, message) = server.call_error("needs", &json!({}));
    assert_eq!(code, -32602);
    assert!(message.contains(r#"{"roots":{}}"#), "{message}");
    assert_eq!(server.call_text("count", &json!({})), "1");
}

#[test]
fn a_component_that_wants_the_network_is_refused() {
    let finished = Builder::component(&fixtures().networked).pipe(b"");
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stdout.is_empty());
    assert!(
        finished.stderr.contains("wasi:sockets"),
        "{}",
        finished.stderr
    );
}

/// A table is made with the instance, so that there is nothing to run before the limit.
#[test]
fn a_component_with_a_table_beyond_the_cap_never_starts() {
    let finished = Builder::component(&fixtures().large_table).pipe(b"");
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stdout.is_empty());
    for part in ["did not start", "at most 1000000 are allowed"] {
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
}
