//! Components that only tests need, built once per run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Builder, root, wait_until};

/// Where the fixtures' component files are.
pub(crate) struct Fixtures {
    /// Asks its client whatever can be asked: see `fixtures/asking`.
    pub(crate) asking: PathBuf,
    /// Ranks, and says what came of it.
    pub(crate) computing: PathBuf,
    /// Has what the official conformance suite asks for: see `fixtures/conformance`.
    pub(crate) conformance: PathBuf,
    /// Does everything wrong: see `fixtures/misbehaving`.
    pub(crate) misbehaving: PathBuf,
    /// Exports `server` and nothing else.
    pub(crate) minimal: PathBuf,
    /// Means harm: see `fixtures/hostile`.
    pub(crate) hostile: PathBuf,
    /// Has a table that is larger than it may be.
    pub(crate) large_table: PathBuf,
    /// Wants to use the network.
    pub(crate) networked: PathBuf,
    /// Takes its time, and logs what the host calls: see `fixtures/unhurried`.
    pub(crate) unhurried: PathBuf,
    /// Wants an interface that its author made up.
    pub(crate) wanting: PathBuf,
}

/// Builds the fixtures, the first time it is called.
pub(crate) fn fixtures() -> &'static Fixtures {
    static FIXTURES: OnceLock<Fixtures> = OnceLock::new();
    FIXTURES.get_or_init(build)
}

/// Where the program keeps what it compiled of the fixtures: as a person's cache would, and not in the tester's own.
pub(crate) fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn build() -> Fixtures {
    const TARGET: &str = "wasm32-wasip2";
    let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root().join("tests/fixtures"))
        .args([
            "build",
            "--locked",
            "--release",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&target_dir);
    // Settings of the run that these tests are part of are meant for the host.
    for variable in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        cargo.env_remove(variable);
    }
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = |name: &str| target_dir.join(TARGET).join("release").join(name);
    Fixtures {
        asking: file("asking.wasm"),
        computing: file("computing.wasm"),
        conformance: file("conformance.wasm"),
        misbehaving: file("misbehaving.wasm"),
        minimal: file("minimal.wasm"),
        hostile: file("hostile.wasm"),
        large_table: file("large_table.wasm"),
        networked: file("networked.wasm"),
        unhurried: file("unhurried.wasm"),
        wanting: file("wanting.wasm"),
    }
}

/// The component that takes its time, over a directory.
pub(crate) fn unhurried(data: &Path) -> Builder {
    Builder::component(&fixtures().unhurried)
        .arg("--data-dir")
        .arg(data)
}

/// What the host called of the component that takes its time, in order.
pub(crate) fn calls_in(data: &Path) -> Vec<String> {
    let log = fs::read_to_string(data.join("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// Waits until the host has called something so many times.
pub(crate) fn wait_for_calls(data: &Path, what: &str, times: usize) {
    wait_until(what, || {
        let calls = calls_in(data);
        calls.iter().filter(|call| *call == what).count() >= times
    });
}
