//! What the doctor sees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Builder, JOURNAL, PROGRAM, command};

/// A person with a memory.
struct Patient {
    home: TempDir,
    data: PathBuf,
}

impl Patient {
    fn new() -> Patient {
        let home = tempfile::tempdir().unwrap();
        // Made by the server, as for a person.
        let data = home.path().join("data");
        let patient = Patient { home, data };
        let mut server = Builder::memory_in(&patient.data).start();
        for text in ["first", "second", "third"] {
            server.call("memory_save", &json!({"text": text}));
        }
        server.end_in_order();
        patient
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = command();
        command
            .arg("doctor")
            .arg("--data-dir")
            .arg(&self.data)
            .args(args)
            .env("HOME", self.home.path())
            .env("APPDATA", self.home.path().join("AppData"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("CLAUDE_CONFIG_DIR");
        command.output().unwrap()
    }

    /// What is said, and the exit code.
    fn examined(&self, args: &[&str]) -> (Value, i32) {
        let output = self.run(&[&["--json"], args].concat());
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (report, output.status.code().unwrap())
    }
}

/// The first thing that was found about something.
#[track_caller]
fn about<'a>(report: &'a Value, what: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == what);
    let check = check.unwrap_or_else(|| panic!("nothing about {what}: {report:#}"));
    (
        check["state"].as_str().unwrap(),
        check["found"].as_str().unwrap(),
    )
}

#[track_caller]
fn check(report: &Value, what: &str, state: &str, part: &str) {
    let found = about(report, what);
    assert_eq!(found.0, state, "{what}: {}", found.1);
    assert!(
        found.1.contains(part),
        "{what}: {} does not say `{part}`",
        found.1
    );
}

#[test]
fn a_healthy_memory_is_told_so() {
    let patient = Patient::new();
    let (report, code) = patient.examined(&[]);
    assert_eq!((code, &report["fine"]), (0, &json!(true)), "{report:#}");
    check(&report, "program", "ok", env!("CARGO_PKG_VERSION"));
    check(&report, "protocol", "ok", "2026-07-28");
    check(&report, "data directory", "ok", "named by --data-dir");
    check(&report, "permissions", "ok", "nobody else");
    check(&report, "lock", "ok", "has ended");
    check(&report, "memories", "ok", "3, and 0 forgotten");
    check(&report, "set aside", "ok", "no damaged lines");
    check(&report, "journal", "ok", "every byte");
    check(&report, "embedder", "ok", "none configured");
    for app in ["Claude Desktop", "Claude Code", "Cursor", "VS Code"] {
        check(&report, app, "ok", "no settings");
    }
    let output = patient.run(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.lines().all(|line| line.starts_with("ok    ")),
        "{text}"
    );
}

#[test]
fn a_memory_that_is_not_there_yet_is_not_made() {
    let patient = Patient::new();
    let nowhere = patient.home.path().join("nowhere");
    let output = command()
        .args(["doctor", "--json", "--data-dir"])
        .arg(&nowhere)
        .env("HOME", patient.home.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&report, "data directory", "ok", "not there yet");
    assert!(output.status.success() && !nowhere.exists());
    fs::write(&nowhere, "a file").unwrap();
    let output = command()
        .args(["doctor", "--json", "--data-dir"])
        .arg(&nowhere)
        .env("HOME", patient.home.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&report, "data directory", "fail", "is not a directory");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn damage_is_found_and_named() {
    let patient = Patient::new();
    let journal = patient.data.join(JOURNAL);
    let mut bytes = fs::read(&journal).unwrap();
    let at = bytes.windows(6).position(|part| part == b"second").unwrap();
    bytes[at] ^= 1;
    fs::write(&journal, bytes).unwrap();
    let (report, code) = patient.examined(&[]);
    assert_eq!((code, &report["fine"]), (1, &json!(false)));
    check(&report, "journal", "fail", JOURNAL);
    check(&report, "set aside", "warn", "1 damaged line");
    check(&report, "memories", "ok", "2, and");
}

#[test]
fn a_store_of_the_future_is_not_touched() {
    let patient = Patient::new();
    let journal = patient.data.join(JOURNAL);
    let text = fs::read_to_string(&journal).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    let header = crate::harness::header_of_format(99);
    fs::write(&journal, format!("{header}\n{rest}")).unwrap();
    let before = fs::read(&journal).unwrap();
    let (report, code) = patient.examined(&[]);
    assert_eq!(code, 1);
    check(&report, "store", "fail", "99");
    assert_eq!(fs::read(&journal).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn what_others_can_read_is_named_and_closed_on_request() {
    use std::os::unix::fs::PermissionsExt;

    let patient = Patient::new();
    let data = &patient.data;
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    set(data, 0o755);
    set(&data.join(JOURNAL), 0o644);
    let (report, code) = patient.examined(&[]);
    assert_eq!(code, 0, "it works all the same");
    check(&report, "permissions", "warn", "755");
    assert!(report["checks"].to_string().contains("644"), "{report:#}");
    assert_eq!(mode(data), 0o755, "only looked at");
    patient.examined(&["--fix"]);
    assert_eq!((mode(data), mode(&data.join(JOURNAL))), (0o700, 0o600));
    check(&patient.examined(&[]).0, "permissions", "ok", "nobody else");
}

/// What nobody else can read says nothing (`cli::the_log_goes_to_standard_error`).
#[cfg(unix)]
#[test]
fn a_server_says_that_others_can_read_the_memory() {
    use std::os::unix::fs::PermissionsExt;

    let patient = Patient::new();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let said = || Builder::memory_in(&patient.data).start().end_in_order();
    let journal = patient.data.join(JOURNAL);
    set(&journal, 0o644);
    assert_eq!(said(), "", "the directory is closed");
    set(&patient.data, 0o755);
    let warning = said();
    assert_eq!(warning.lines().count(), 1, "{warning}");
    assert!(
        warning.contains(JOURNAL) && warning.contains("doctor --fix"),
        "{warning}"
    );
    set(&journal, 0o600);
    assert_eq!(said(), "", "names alone are no secret");
    set(&patient.data, 0o777);
    assert!(said().contains("mode 777"));
}

#[cfg(unix)]
#[test]
fn a_process_that_hangs_with_the_lock_is_named() {
    let patient = Patient::new();
    let lock = fs::File::open(patient.data.join("lock")).unwrap();
    lock.lock().unwrap();
    fs::write(patient.data.join("lock.pid"), "4242\n").unwrap();
    let (report, code) = patient.examined(&[]);
    assert_eq!(code, 1);
    check(&report, "lock", "fail", "4242");
    drop(lock);
    assert_eq!(patient.examined(&[]).1, 0);
}

#[test]
fn apps_that_start_something_else_are_found() {
    let patient = Patient::new();
    let settings = patient.home.path().join(".cursor/mcp.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    let examine = |entry: Value| {
        fs::write(
            &settings,
            json!({"mcpServers": {"personal-memory": entry}}).to_string(),
        )
        .unwrap();
        patient.examined(&[])
    };
    let data = &patient.data;
    let (report, code) = examine(json!({"command": "/no/such/personal-memory"}));
    assert_eq!(code, 1);
    check(&report, "Cursor", "fail", "/no/such/personal-memory");
    let (report, code) = examine(json!({"command": *PROGRAM}));
    assert_eq!(code, 0);
    check(&report, "Cursor", "warn", "another memory");
    for entry in [
        json!({"command": *PROGRAM, "args": ["--data-dir", data]}),
        json!({"command": *PROGRAM, "env": {"PERSONAL_MEMORY_DIR": data}}),
    ] {
        check(&examine(entry).0, "Cursor", "ok", "connected, starts");
    }
    check(
        &examine(json!({"url": "http://127.0.0.1:1"})).0,
        "Cursor",
        "ok",
        "starts no program",
    );
    fs::write(&settings, "{").unwrap();
    check(&patient.examined(&[]).0, "Cursor", "warn", "mcp.json:1:");
}

#[test]
fn an_embedder_that_does_not_answer_is_a_failure() {
    let patient = Patient::new();
    // Port 9 is `discard`; nothing listens on it.
    let (report, code) =
        patient.examined(&["--embedder", "http://127.0.0.1:9", "--embedder-model", "m"]);
    assert_eq!(code, 1);
    check(&report, "embedder", "fail", "127.0.0.1:9");
}
