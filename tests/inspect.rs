//! What a component wants and offers is told before it is run.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::harness::{command, fixtures};

fn inspect(file: &Path, args: &[&str]) -> Output {
    command()
        .arg("inspect")
        .arg(file)
        .args(args)
        .output()
        .unwrap()
}

fn inspected(file: &Path) -> (Value, Option<i32>) {
    let output = inspect(file, &["--json"]);
    (
        serde_json::from_slice(&output.stdout).unwrap(),
        output.status.code(),
    )
}

fn names<'a>(report: &'a Value, list: &str) -> Vec<&'a str> {
    let items = report[list].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn a_component_that_would_start_is_told_with_what_it_gets() {
    let (report, code) = inspected(&fixtures().misbehaving);
    assert_eq!(
        (code, report["starts"].as_bool()),
        (Some(0), Some(true)),
        "{report:#}"
    );
    assert!(names(&report, "exports").contains(&"personal-memory:mcp/tools@0.1.0"));
    for import in report["imports"].as_array().unwrap() {
        assert!(import["gets"].is_string(), "{import}");
    }
    let output = inspect(&fixtures().minimal, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    let line = text
        .lines()
        .find(|line| line.contains("personal-memory:mcp/server@0.1.0"))
        .unwrap();
    assert!(line.ends_with("used"), "{text}");
}

#[test]
fn a_component_that_wants_the_network_would_not_start() {
    let (report, code) = inspected(&fixtures().networked);
    assert_eq!((code, report["starts"].as_bool()), (Some(1), Some(false)));
    let refused = report["imports"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|import| import["gets"].is_null());
    let refused: Vec<&str> = refused
        .map(|import| import["name"].as_str().unwrap())
        .collect();
    assert!(
        !refused.is_empty() && refused.iter().all(|name| name.starts_with("wasi:sockets/")),
        "{refused:?}"
    );
    assert!(
        report["obstacle"]
            .as_str()
            .unwrap()
            .contains("wasi:sockets/")
    );
    let output = inspect(&fixtures().networked, &[]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("NOT OFFERED")
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("would not start")
    );
}

#[test]
fn what_is_no_component_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.wasm");
    for (bytes, part) in [
        (&b"text"[..], "not a WebAssembly file"),
        (b"\0asm\x01\0\0\0", "not a component"),
    ] {
        fs::write(&file, bytes).unwrap();
        let output = inspect(&file, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains(part));
    }
    let output = inspect(&folder.path().join("none.wasm"), &[]);
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("none.wasm")
    );
}
