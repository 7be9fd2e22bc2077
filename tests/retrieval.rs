//! The retrieval lab as its clients meet it: the same host, another component.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Builder, Server, request};

fn lab() -> Builder {
    Builder::bare().args(&["run", "retrieval"])
}

fn with_grant(name: &str, path: &Path) -> Server {
    let grant = format!("{name}={}:ro", path.display());
    let mut server = lab().args(&["--dir", &grant]).start();
    server.initialize("2025-06-18");
    server
}

/// Precision of the queries that have filters.
fn precision(server: &mut Server, apply_filters: bool) -> f64 {
    let result = server.call("run_evaluation", &json!({"apply_filters": apply_filters}));
    assert_ne!(result["isError"], true, "{result}");
    let figures = &result["structuredContent"];
    let all = figures.to_string();
    figures
        .pointer("/scores_with_filters/precision")
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{all}"))
}

#[test]
fn filters_that_are_not_applied_cost_precision() {
    let mut server = lab().start();
    server.initialize("2025-06-18");
    let (on, off) = (precision(&mut server, true), precision(&mut server, false));
    assert!(on > 2.0 * off, "{on} with, {off} without");
    server.end_in_order();
}

#[test]
fn a_long_evaluation_reports_progress_and_can_be_cancelled() {
    let mut server = lab().start();
    server.initialize("2025-06-18");
    let params = json!({
        "name": "run_evaluation",
        "arguments": {},
        "_meta": {"progressToken": "p"},
    });
    server.send(&request("measure", "tools/call", &params));
    let mut last = 0.0;
    let mut reports = 0;
    loop {
        let message = server.read();
        if message["id"] == "measure" {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{progress} after {last}");
        last = progress;
        reports += 1;
    }
    assert!(reports > 1, "{reports}");

    server.send(&request("again", "tools/call", &params));
    server.read();
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "again"}}));
    // What was under way when the cancellation arrived may still come, the response must not.
    server.send(&request("next", "ping", &json!({})));
    loop {
        let message = server.read();
        assert_ne!(message["id"], "again", "{message}");
        if message["id"] == "next" {
            break;
        }
    }
    let found = server.call_text("search_documents", &json!({"query": "harbour"}));
    assert!(found.contains("synthetic"), "{found}");
    server.end_in_order();
}

#[test]
fn a_broken_corpus_is_a_readable_error_and_never_a_failed_start() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("corpus.jsonl"), "{\"_id\":\"a\",\n").unwrap();
    let mut server = with_grant("corpus-broken", directory.path());
    let result = server.call(
        "search_documents",
        &json!({"query": "x", "corpus": "broken"}),
    );
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.to_string().contains("corpus.jsonl"), "{result}");
    let listings = json!({"query": "harbour", "corpus": "listings"});
    assert_ne!(server.call("search_documents", &listings)["isError"], true);
    server.end_in_order();
}

#[test]
fn records_are_found_with_inferred_fields_and_their_directory_is_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let records = "{\"id\":\"1\",\"title\":\"On harbours\",\"abstract\":\"Ships lie there.\",\"year\":1999}\n\
                   {\"id\":\"2\",\"title\":\"On deserts\",\"abstract\":\"No ships at all.\",\"year\":2020}\n";
    fs::write(directory.path().join("records.jsonl"), records).unwrap();
    let mut server = with_grant("corpus-papers", directory.path());
    let newer = json!({"query": "ships", "corpus": "papers", "filters": [{"field": "year", "op": "gte", "value": 2000}]});
    let found = server.call_text("search_documents", &newer);
    assert!(
        found.contains("On deserts") && !found.contains("On harbours"),
        "{found}"
    );
    let read = server.request("resources/read", &json!({"uri": "docs://papers/1"}));
    assert!(
        read["result"].to_string().contains("Ships lie there."),
        "{read}"
    );
    server.end_in_order();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_out_of_a_repository_are_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let (secret, repository) = (
        directory.path().join("secret"),
        directory.path().join("repo"),
    );
    fs::create_dir_all(&repository).unwrap();
    fs::create_dir_all(&secret).unwrap();
    fs::write(secret.join("key.txt"), "needle outside\n").unwrap();
    fs::write(repository.join("a.txt"), "needle inside\n").unwrap();
    std::os::unix::fs::symlink(secret.join("key.txt"), repository.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(&secret, repository.join("links")).unwrap();
    let mut server = with_grant("repo-mine", &repository);
    for glob in [
        json!(null),
        json!("**/*.txt"),
        json!("links/*"),
        json!("../secret/*"),
    ] {
        let mut arguments = json!({"pattern": "needle"});
        if !glob.is_null() {
            arguments["path_glob"] = glob;
        }
        let result = server.call("search_my_repos", &arguments).to_string();
        assert!(!result.contains("outside"), "{result}");
    }
    let found = server.call_text("search_my_repos", &json!({"pattern": "needle"}));
    assert!(found.contains("needle inside"), "{found}");
    server.end_in_order();
}
