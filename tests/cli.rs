//! The command line: what it says, what it refuses, and what it leaves on the disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use crate::harness::{Builder, command, fixtures};

fn run(args: &[&str]) -> Output {
    command().args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A start that is refused with a message that has all these parts.
fn refused(mut command: Command, status: i32, parts: &[&str]) {
    let output = command.output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{command:?}: {stderr}");
    assert_eq!(text(&output.stdout), "", "{command:?}");
    for part in parts {
        assert!(
            stderr.contains(part),
            "{command:?} does not say `{part}`: {stderr}"
        );
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

fn with(args: &[&str]) -> Command {
    let mut command = command();
    command.args(args);
    command
}

#[test]
fn help_is_short_and_long() {
    let short = run(&["-h"]);
    let long = run(&["--help"]);
    assert!(short.status.success() && long.status.success());
    assert!(short.stdout.len() < long.stdout.len());
    for flag in [
        "--data-dir",
        "--dir",
        "--set",
        "--component",
        "--timeout",
        "--max-memory",
        "--max-line-bytes",
        "--log",
        "--list-tools",
        "demo",
    ] {
        assert!(text(&long.stdout).contains(flag), "{flag}");
    }
    assert!(text(&long.stdout).contains("Examples:"));
}

#[test]
fn list_tools_prints_the_tools_and_touches_no_disk() {
    let home = tempfile::tempdir().unwrap();
    let output = command()
        .arg("--list-tools")
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let stdout = text(&output.stdout);
    let names: Vec<_> = stdout
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(' '))
        .collect();
    assert_eq!(
        names,
        [
            "memory_search  Search memories",
            "memory_recent  Recent memories",
            "memory_get  Get a memory",
            "memory_save  Save a memory",
            "memory_update  Update a memory",
            "memory_forget  Forget a memory"
        ]
    );
    let arguments: Vec<_> = stdout
        .lines()
        .filter_map(|line| line.strip_prefix("    - "))
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(
        arguments,
        [
            "query",
            "k (optional)",
            "kind (optional)",
            "tags (optional)",
            "since (optional)",
            "until (optional)",
            "min_importance (optional)",
            "k (optional)",
            "kind (optional)",
            "tags (optional)",
            "since (optional)",
            "until (optional)",
            "id",
            "text",
            "kind (optional)",
            "importance (optional)",
            "tags (optional)",
            "id",
            "text (optional)",
            "kind (optional)",
            "importance (optional)",
            "tags (optional)",
            "id",
        ]
    );
    assert_eq!(
        fs::read_dir(home.path()).unwrap().count(),
        0,
        "no directory was made"
    );
}

#[test]
fn list_tools_of_a_component_without_tools_is_an_error() {
    let mut command = command();
    command
        .arg("--list-tools")
        .arg("--component")
        .arg(&fixtures().minimal);
    refused(command, 1, &["no tools"]);
}

#[test]
fn values_out_of_bounds_are_refused_with_the_value_and_the_bound() {
    for (flag, value, parts) in [
        ("--timeout", "0", &["0", "86400"][..]),
        ("--timeout", "-1", &["-1", "86400"]),
        ("--timeout", "NaN", &["NaN", "86400"]),
        ("--timeout", "inf", &["inf", "86400"]),
        ("--timeout", "86401", &["86401", "86400"]),
        ("--timeout", "soon", &["soon"]),
        ("--max-memory", "0", &["0", "1", "4096"]),
        ("--max-memory", "4097", &["4097", "4096"]),
        ("--max-memory", "1.5", &["1.5"]),
        ("--max-line-bytes", "1023", &["1023", "1024"]),
        ("--max-line-bytes", "x", &["x", "1024"]),
        ("--log", "loud", &["loud", "off", "trace"]),
        ("--set", "novalue", &["novalue", "KEY=VALUE"]),
        ("--set", "=x", &["=x", "KEY=VALUE"]),
        ("--dir", "nopath", &["nopath", "NAME=PATH"]),
        ("--dir", "../x=/tmp", &["../x"]),
        ("--dir", "a=", &["`a`"]),
    ] {
        refused(
            with(&[&format!("{flag}={value}")]),
            2,
            &[&[flag], parts].concat(),
        );
    }
    refused(with(&["--no-such-flag"]), 2, &["--no-such-flag"]);
    refused(with(&["no-such-command"]), 2, &["no-such-command"]);
    refused(with(&["--list-tools", "demo"]), 2, &["demo"]);
}

#[test]
fn what_only_shows_at_start_is_refused_too() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    refused(
        with(&["--data-dir", data, "--set", "colour=red"]),
        1,
        &["colour"],
    );
    refused(
        with(&["--data-dir", data, "--set", "a=1", "--set", "a=2"]),
        1,
        &["`a`", "twice"],
    );
    refused(
        with(&["--data-dir", data, "--dir", &format!("data={data}")]),
        1,
        &["`data`", "twice"],
    );
    refused(
        with(&["--data-dir", data, "--dir", "docs=/no/such/directory"]),
        1,
        &["/no/such/directory", "docs"],
    );
    refused(
        with(&["--component", "/no/such/file.wasm"]),
        1,
        &["/no/such/file.wasm"],
    );
    let no_component = format!("{data}/text.wasm");
    fs::write(&no_component, "this is text").unwrap();
    refused(
        with(&["--component", &no_component]),
        1,
        &[&no_component, "not a WebAssembly file"],
    );
    // A module is WebAssembly, but no component.
    fs::write(&no_component, b"\0asm\x01\0\0\0").unwrap();
    refused(
        with(&["--component", &no_component]),
        1,
        &[&no_component, "not a component", "wasm32-wasip2"],
    );
    let mut command = with(&["--set", "mode=sideways", "--component"]);
    command.arg(&fixtures().misbehaving);
    refused(command, 1, &["refuses its settings", "sideways"]);
}

#[test]
fn the_environment_names_the_data_directory() {
    let parent = tempfile::tempdir().unwrap();
    let (named, flagged) = (parent.path().join("a/b"), parent.path().join("c"));
    let save = |builder: Builder| {
        let mut server = builder.start();
        assert_eq!(
            server.call_text("memory_save", &json!({"text": "x"})),
            "Saved m0."
        );
        server.end_in_order();
    };
    save(Builder::bare().env("PERSONAL_MEMORY_DIR", &named));
    assert!(named.join("journal.jsonl").exists());
    save(Builder::memory_in(&flagged).env("PERSONAL_MEMORY_DIR", parent.path().join("unused")));
    assert!(
        flagged.join("journal.jsonl").exists(),
        "the flag comes first"
    );
    assert!(!parent.path().join("unused").exists());

    let mut command = command();
    command.env("PERSONAL_MEMORY_DIR", "relative/path");
    refused(
        command,
        1,
        &["PERSONAL_MEMORY_DIR", "relative/path", "absolute"],
    );
}

#[test]
fn without_any_name_the_platform_s_directory_is_used() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Builder::bare()
        .env("HOME", home.path())
        .env("PERSONAL_MEMORY_DIR", "")
        .start();
    server.call("memory_save", &json!({"text": "x"}));
    server.end_in_order();
    let journals = find(home.path(), "journal.jsonl");
    assert_eq!(
        journals, 1,
        "under the home directory, whatever the platform calls it"
    );
}

fn find(directory: &Path, name: &str) -> usize {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                find(&path, name)
            } else {
                usize::from(path.ends_with(name))
            }
        })
        .sum()
}

#[cfg(unix)]
#[test]
fn a_memory_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let mut server = Builder::memory_in(&data).start();
    server.call("memory_save", &json!({"text": "private"}));
    server.end_in_order();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// A component from elsewhere must not find the person's memory, just because there is one.
#[test]
fn another_component_does_not_get_the_memory() {
    let data = tempfile::tempdir().unwrap();
    let mut memory = Builder::memory_in(data.path()).start();
    memory.call("memory_save", &json!({"text": "private"}));
    memory.end_in_order();

    let read = |builder: Builder| {
        let mut server = builder.start();
        let outcome = server.call_text("read", &json!({"path": "/data/journal.jsonl"}));
        server.end_in_order();
        outcome
    };
    let other =
        || Builder::component(&fixtures().misbehaving).env("PERSONAL_MEMORY_DIR", data.path());
    let outcome = read(other());
    assert!(outcome.starts_with("failed"), "{outcome}");
    // Unless the person says so.
    let outcome = read(other().arg("--data-dir").arg(data.path()));
    assert!(
        outcome.starts_with("read: ") && outcome.contains("private"),
        "{outcome}"
    );
}

#[test]
fn the_log_goes_to_standard_error() {
    let server = Builder::memory().args(&["--log", "info"]).start();
    assert!(server.end_in_order().contains("serving personal-memory"));
    let server = Builder::memory().start();
    assert_eq!(server.end_in_order(), "", "nothing to warn of");
}

/// Embedded as machine code: a start needs no compiler. (The memory's own claim; `sandbox::code` tests the other way.)
#[test]
fn the_memory_starts_without_a_compiler() {
    let server = Builder::memory().args(&["--log", "info"]).start();
    assert!(server.end_in_order().contains("precompiled"));
}

#[test]
fn serving_without_http_is_what_the_bare_program_does() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Builder::bare()
        .arg("serve")
        .arg("--data-dir")
        .arg(data.path())
        .start();
    server.initialize("2025-11-25");
    let saved = server.call_text("memory_save", &json!({"text": "as ever"}));
    assert_eq!(saved, "Saved m0.");
    server.end_in_order();
}

#[test]
fn the_help_of_http_says_how_to_reach_it_and_who_speaks_tls() {
    let help = run(&["serve", "--help"]);
    for part in [
        "--http",
        "127.0.0.1:7437",
        "/mcp",
        "--token-file",
        "PERSONAL_MEMORY_TOKEN",
        "--allow-host",
        "--allow-origin",
        "reverse proxy",
        "claude mcp add --scope user --transport http",
    ] {
        assert!(text(&help.stdout).contains(part), "{part}");
    }
}

#[test]
fn options_of_http_are_refused_where_they_mean_nothing() {
    refused(with(&["serve", "--token-file", "x"]), 2, &["--http"]);
    refused(with(&["serve", "--allow-host", "x"]), 2, &["--http"]);
    refused(with(&["--http"]), 2, &["--http"]);
    refused(
        with(&["serve", "--http", "nowhere"]),
        2,
        &["nowhere", "127.0.0.1:7437"],
    );
}
