//! What happens to people: disks that are full, directories that can't be written, stores of a newer version, clocks that
//! go backwards. Each has an answer that a person understands, and nothing that was acknowledged is lost by it.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Builder, Disk, JOURNAL, PROGRAM, Process, Server, crc32};

fn start(data: &Path) -> Server {
    Builder::memory_in(data).start()
}

/// A file system of a megabyte, or nothing where this user can't mount one. Unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let directory = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(directory.path())
            .output();
        mount
            .is_ok_and(|mounted| mounted.status.success())
            .then(|| SmallDisk(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// Says that a test did not take place, where whoever runs it can see it.
fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

#[test]
fn a_full_disk_is_said_and_what_was_saved_before_is_there() {
    let Some(disk) = SmallDisk::mount() else {
        return skipped("this user can't mount a small file system");
    };
    let data = disk.0.path();
    fs::write(data.join("ballast"), vec![1; 600 << 10]).unwrap();
    let mut server = start(data);
    let text = |number: usize| format!("memory number {number} {}", "x".repeat(3000));
    let mut saved = BTreeMap::new();
    let refused = loop {
        let text = text(saved.len());
        let result = server.call("memory_save", &json!({"text": text}));
        if result["isError"] == true {
            break result["content"][0]["text"].as_str().unwrap().to_owned();
        }
        let id = result["structuredContent"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        saved.insert(id, text);
        assert!(saved.len() < 1000, "a megabyte is never full");
    };
    assert!(refused.contains("the disk is full"), "{refused}");
    assert!(refused.contains("nothing was stored"), "{refused}");
    for (id, text) in &saved {
        assert_eq!(server.read_entry(id).as_ref(), Some(text));
    }
    let found = server.call_text(
        "memory_search",
        &json!({"query": "memory number 3", "k": 1}),
    );
    assert!(found.contains("memory number 3"), "{found}");

    // A process that starts on the full disk reads, and does not write.
    let mut other = start(data);
    assert_eq!(other.ids().len(), saved.len());
    let refused = other.refusal("memory_save", &json!({"text": text(999)}));
    assert!(refused.contains("the disk is full"), "{refused}");

    fs::remove_file(data.join("ballast")).unwrap();
    for server in [&mut server, &mut other] {
        let text = text(1000 + saved.len());
        let id = server.save(&text);
        assert_eq!(saved.insert(id, text), None);
    }
    server.end_in_order();
    other.end_in_order();
    let mut server = start(data);
    assert_eq!(server.ids(), saved.keys().cloned().collect());
    server.end_in_order();
}

/// A server that is run by somebody who may not write; `None` where that can't be arranged.
fn as_nobody(data: &Path) -> Option<Builder> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can become somebody else");
        return None;
    }
    let can = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            &PROGRAM,
            "--version",
        ])
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        skipped("`nobody` can't run the program, or there is no `setpriv`");
        return None;
    }
    Some(
        Builder::of(
            Command::new("setpriv"),
            &[
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                &PROGRAM,
                "--data-dir",
            ],
        )
        .arg(data),
    )
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_that_can_only_be_read_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let Some(builder) = as_nobody(directory.path()) else {
        return;
    };
    let mut server = start(directory.path());
    server.save("written by the owner");
    server.end_in_order();
    for entry in fs::read_dir(directory.path()).unwrap() {
        allow(&entry.unwrap().path(), 0o644);
    }
    allow(directory.path(), 0o755);
    let before = fs::read(directory.path().join(JOURNAL)).unwrap();

    let mut server = builder.start();
    let found = server.call_text("memory_search", &json!({"query": "owner"}));
    assert!(found.contains("written by the owner"), "{found}");
    let refused = server.refusal("memory_save", &json!({"text": "by somebody else"}));
    assert!(refused.contains("can only be read"), "{refused}");
    assert!(server.request("ping", &json!({})).get("result").is_some());
    server.end_in_order();
    assert_eq!(fs::read(directory.path().join(JOURNAL)).unwrap(), before);
}

#[test]
fn a_directory_that_can_t_be_used_is_named_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let Some(builder) = as_nobody(directory.path()) else {
        return;
    };
    allow(directory.path(), 0o755);
    // Nothing is in it, and nothing can be made in it.
    let mut server = builder.start();
    let refused = server.refusal("memory_save", &json!({"text": "x"}));
    assert!(
        refused.contains("can only be read") || refused.contains("Permission denied"),
        "{refused}"
    );
    server.end_in_order();

    // It is somebody else's altogether.
    allow(directory.path(), 0o700);
    let mut server = as_nobody(directory.path()).unwrap().start();
    let refused = server.refusal("memory_save", &json!({"text": "x"}));
    let name = directory.path().to_str().unwrap();
    assert!(
        refused.contains(name) && refused.contains("ermission denied"),
        "{refused}"
    );
    server.end_in_order();
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is_and_it_is_said_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.save("old");
    server.end_in_order();
    let journal = data.path().join(JOURNAL);
    let text = fs::read_to_string(&journal).unwrap();
    let header = text.lines().next().unwrap();
    let covered = header.split_once(',').unwrap().1;
    let covered = covered.replace(r#""format":1"#, r#""format":9"#);
    let crc = crc32(covered.as_bytes());
    fs::write(
        &journal,
        format!("{{\"crc\":\"{crc:08x}\",{covered}\n{{}}\n"),
    )
    .unwrap();
    fs::write(data.path().join("index.bin"), "of the newer version").unwrap();
    let files = || {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(data.path()).unwrap() {
            let path = entry.unwrap().path();
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
        files
    };
    let mut server = start(data.path());
    let before = files();
    for (tool, arguments) in [
        ("memory_save", json!({"text": "new"})),
        ("memory_search", json!({"query": "old"})),
    ] {
        let refused = server.refusal(tool, &arguments);
        assert!(refused.contains("format 9"), "{refused}");
        assert!(refused.contains("update the program"), "{refused}");
    }
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "memory://entries/m0"})),
        (
            "prompts/get",
            json!({"name": "reflect_on", "arguments": {"topic": "old"}}),
        ),
    ] {
        let response = server.request(method, &params);
        assert!(response.get("error").is_some(), "{method}: {response}");
    }
    server.end_in_order();
    let (mut before, mut after) = (before, files());
    // Who had the lock last is no part of the store.
    before.remove(&data.path().join("lock.pid"));
    after.remove(&data.path().join("lock.pid"));
    assert_eq!(after, before);
}

/// Clocks go backwards: a battery dies, a person sets them, a machine comes from another time zone.
#[test]
fn a_clock_that_goes_backwards_or_is_absurd_loses_nothing() {
    const NOW: u64 = 1_796_000_000;
    const YEAR: u64 = 365 * 86_400;
    let data = tempfile::tempdir().unwrap();
    let disk = Disk::new(data.path());
    let mut texts = Vec::new();
    for (number, seconds) in [
        NOW,
        NOW - YEAR,
        0,
        NOW + 50 * YEAR,
        u64::MAX,
        253_402_300_799,
        NOW,
    ]
    .into_iter()
    .enumerate()
    {
        let mut process = Process::start_at(&disk, Some(seconds));
        let text = format!("said when the clock showed {number}");
        let saved = process
            .call("memory_save", &json!({"text": text}))
            .unwrap_or_else(|refusal| panic!("{seconds}: {refusal}"));
        assert_eq!(saved["id"], format!("m{number}"));
        texts.push(text.clone());
        let found = process
            .call("memory_search", &json!({"query": text, "k": 50}))
            .unwrap_or_else(|refusal| panic!("{seconds}: {refusal}"));
        assert_eq!(
            found["memories"][0]["id"],
            format!("m{number}"),
            "{seconds}: {found}"
        );
        process.maintain().unwrap();
    }
    let mut process = Process::start(&disk);
    let exported = process.export().unwrap();
    let found: Vec<&str> = exported.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(found, texts);
    assert!(process.verify().is_empty());
}
