//! What a component that means harm tries with files: it gets at nothing outside of what was granted, and takes nothing
//! away that others need.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use super::{assert_serves, hostile};
use crate::harness::{Builder, Server};

/// A directory that is granted, one that may be read, and what lies around them.
pub(super) struct Ground(TempDir);

impl Ground {
    pub(super) fn new() -> Ground {
        let ground = Ground(tempfile::tempdir().unwrap());
        for directory in ["granted", "docs"] {
            fs::create_dir(ground.path(directory)).unwrap();
        }
        for file in ["granted/inside", "granted/own", "docs/page"] {
            fs::write(ground.path(file), "inside").unwrap();
        }
        for file in ["secret", "victim"] {
            fs::write(ground.path(file), "outside").unwrap();
        }
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.path("granted")
    }

    pub(super) fn start(&self, builder: Builder) -> Server {
        builder
            .arg("--dir")
            .arg(format!("data={}", self.data().display()))
            .arg("--dir")
            .arg(format!("docs={}:ro", self.path("docs").display()))
            .start()
    }

    /// All that is not in the granted directory, with its contents.
    fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for directory in [self.0.path().to_owned(), self.path("docs")] {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap_or_default();
                found.insert(path, text);
            }
        }
        found
    }
}

#[test]
fn every_way_out_of_a_granted_directory_is_closed() {
    let ground = Ground::new();
    let before = ground.outside();
    let mut server = ground.start(hostile().env("SECRET", "from the environment"));
    for deed in ["reach", "plant_links", "reach"] {
        assert_eq!(
            server.call_text(deed, &json!({})),
            "reached: []",
            "by {deed}"
        );
    }
    assert_eq!(server.call_text("cross_grants", &json!({})), "done: []");
    assert_serves(&mut server);
    server.end_in_order();
    assert_eq!(ground.outside(), before);
}

/// The host itself writes into the data directory: its lock. A component that could make it write elsewhere would be out.
#[cfg(unix)]
#[test]
fn links_in_place_of_the_lock_lead_nobody_astray() {
    let ground = Ground::new();
    let before = ground.outside();
    let mut server = ground.start(hostile());
    assert_eq!(server.call_text("plant_locks", &json!({})), "planted");
    server.end_in_order();

    let mut memory = Builder::memory_in(&ground.data()).start();
    let (code, message) = memory.call_error("memory_save", &json!({"text": "x"}));
    assert_eq!(code, -32603);
    assert!(
        message.contains("can't be locked") && message.contains("lock"),
        "{message}"
    );
    assert_eq!(ground.outside(), before);
    fs::remove_file(ground.data().join("lock")).unwrap();
    memory.call("memory_save", &json!({"text": "x"}));
    memory.end_in_order();
    assert_eq!(ground.outside(), before);
}

#[test]
fn files_that_are_never_closed_leave_enough_for_others() {
    let ground = Ground::new();
    let mut server = ground.start(hostile());
    for _ in 0..20 {
        let (code, _) = server.call_error("hold_handles", &json!({}));
        assert_eq!(code, -32603);
        assert_serves(&mut server);
    }
    #[cfg(target_os = "linux")]
    assert!(server.open_files() < 50, "{} files", server.open_files());
    server.end_in_order();
}
