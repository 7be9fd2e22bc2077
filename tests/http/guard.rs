use std::fs;
use std::net::TcpListener;

use crate::harness::{Answer, Builder, Http, USUAL, fixtures, modern, request};
use serde_json::json;

const TOKEN: &str = "correct-horse-battery-staple";

fn memory() -> (tempfile::TempDir, Builder) {
    let data = tempfile::tempdir().unwrap();
    let builder = Builder::http_memory_in(data.path());
    (data, builder)
}

/// Sends something harmless with further headers.
fn ask(server: &Http, further: &[(&str, &str)]) -> Answer {
    let body = request(1, "server/discover", &modern(json!({}))).to_string();
    let mut headers = USUAL.to_vec();
    headers.extend([
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "server/discover"),
    ]);
    headers.extend(further);
    server
        .connect()
        .ask("POST", "/mcp", &headers, body.as_bytes())
}

#[test]
fn it_listens_on_this_machine_only_unless_told_otherwise() {
    let (_data, builder) = memory();
    let server = builder.serve();
    assert!(server.address.ip().is_loopback());
    assert_ne!(server.address.port(), 0);
    assert_eq!(ask(&server, &[]).status, 200);
    server.end_in_order();
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let (_data, builder) = memory();
    let server = builder.serve();
    let port = server.address.port();
    for own in [
        format!("localhost:{port}"),
        "127.0.0.1".to_owned(),
        format!("[::1]:{port}"),
    ] {
        assert_eq!(ask(&server, &[("host", &own)]).status, 200, "{own}");
    }
    for foreign in ["example.org", "example.org:7437", "localhost.example.org"] {
        let answer = ask(&server, &[("host", foreign)]);
        assert_eq!(answer.status, 403, "{foreign}");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(foreign), "{message}");
    }
    let own = format!("http://localhost:{port}");
    assert_eq!(ask(&server, &[("origin", &own)]).status, 200);
    for foreign in [
        "https://example.org",
        "null",
        "http://127.0.0.1.example.org",
    ] {
        assert_eq!(
            ask(&server, &[("origin", foreign)]).status,
            403,
            "{foreign}"
        );
    }
    // Neither is anything else told to a page that found us.
    let health = server
        .connect()
        .ask("GET", "/healthz", &[("host", "example.org")], b"");
    assert_eq!(health.status, 403);
    server.end_in_order();
}

#[test]
fn no_answer_invites_web_pages() {
    let (_data, builder) = memory();
    let server = builder.serve();
    let origin = format!("http://localhost:{}", server.address.port());
    assert!(
        ask(&server, &[("origin", &origin)])
            .header("access-control-allow-origin")
            .is_none()
    );
    let preflight = [
        ("origin", origin.as_str()),
        ("access-control-request-method", "POST"),
    ];
    let answer = server.connect().ask("OPTIONS", "/mcp", &preflight, b"");
    assert_eq!(answer.status, 405);
    assert!(answer.header("access-control-allow-origin").is_none());
    server.end_in_order();
}

#[test]
fn further_hosts_and_origins_are_served_when_they_are_allowed() {
    let (_data, builder) = memory();
    let server = builder
        .args(&[
            "--allow-host",
            "memory.example.org",
            "--allow-host",
            "b.example.org",
        ])
        .args(&["--allow-origin", "https://app.example.org"])
        .serve();
    for host in ["memory.example.org", "b.example.org:443", "localhost"] {
        assert_eq!(ask(&server, &[("host", host)]).status, 200, "{host}");
    }
    assert_eq!(ask(&server, &[("host", "c.example.org")]).status, 403);
    assert_eq!(
        ask(&server, &[("origin", "https://app.example.org")]).status,
        200
    );
    assert_eq!(
        ask(&server, &[("origin", "https://example.org")]).status,
        403
    );
    server.end_in_order();
}

#[test]
fn without_the_token_nothing_is_served_but_that_it_is_alive() {
    let (data, builder) = memory();
    let file = data.path().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let from_file = builder.arg("--token-file").arg(&file);
    let (_other, builder) = memory();
    let from_environment = builder.env("PERSONAL_MEMORY_TOKEN", TOKEN);
    for builder in [from_file, from_environment] {
        let server = builder.serve();
        for wrong in [None, Some("Bearer wrong-horse-battery-staple"), Some(TOKEN)] {
            let headers: Vec<_> = wrong
                .iter()
                .map(|value| ("authorization", *value))
                .collect();
            let answer = ask(&server, &headers);
            assert_eq!(answer.status, 401, "{wrong:?}");
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            assert!(!String::from_utf8_lossy(&answer.body).contains(TOKEN));
        }
        let right = format!("Bearer {TOKEN}");
        assert_eq!(ask(&server, &[("authorization", &right)]).status, 200);
        // Who has the token is no reason to be called by another name.
        let foreign = [("authorization", right.as_str()), ("host", "example.org")];
        assert_eq!(ask(&server, &foreign).status, 403);
        for method in ["GET", "DELETE"] {
            let answer = server
                .connect()
                .ask(method, "/mcp", &[("mcp-session-id", "x")], b"");
            assert_eq!(answer.status, 401, "{method}");
        }
        let health = server.connect().ask("GET", "/healthz", &[], b"");
        assert_eq!(
            (health.status, health.json()),
            (200, json!({"status": "ok"}))
        );
        server.end_in_order();
    }
}

/// Starts a server that must refuse to; returns what it says.
fn refusal(builder: Builder) -> String {
    let finished = builder.pipe(b"");
    assert_eq!(finished.status.code(), Some(1), "{finished:?}");
    assert!(!finished.stderr.contains("listening"), "{finished:?}");
    finished.stderr
}

#[test]
fn what_other_machines_can_reach_needs_a_token() {
    let data = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let server = Builder::bare()
            .args(&["serve", "--http", address, "--data-dir"])
            .arg(data.path());
        let said = refusal(server);
        assert!(
            said.contains(address) && said.contains("--token-file"),
            "{said}"
        );
    }
    let server = Builder::bare()
        .args(&["serve", "--http", "0.0.0.0:0", "--data-dir"])
        .arg(data.path())
        .env("PERSONAL_MEMORY_TOKEN", "short");
    let said = refusal(server);
    assert!(
        said.contains("5 characters") && said.contains("16"),
        "{said}"
    );
    let server = Builder::http_memory_in(data.path()).args(&["--token-file", "/nonexistent/token"]);
    assert!(refusal(server).contains("/nonexistent/token"));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = tempfile::tempdir().unwrap();
    let server = Builder::bare()
        .args(&["serve", "--http", &address, "--data-dir"])
        .arg(data.path());
    assert!(refusal(server).contains(&address));
}

#[test]
fn another_component_can_be_served_too() {
    let server = Builder::bare()
        .arg("run")
        .arg(&fixtures().minimal)
        .args(&["--http", "127.0.0.1:0"])
        .serve();
    let answer = ask(&server, &[]);
    let made_by = &answer.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
    assert_eq!(made_by, "minimal");
    server.end_in_order();
}

#[test]
fn the_other_internet_protocol_is_served_as_well() {
    // Where there is none, there is nothing to serve.
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = Builder::bare()
        .args(&["serve", "--http", "[::1]:0", "--data-dir"])
        .arg(data.path())
        .serve();
    assert!(server.address.is_ipv6());
    assert_eq!(ask(&server, &[]).status, 200);
    server.end_in_order();
}
