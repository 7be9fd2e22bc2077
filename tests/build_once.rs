//! The build compiles wasmtime once. `host/build.rs` uses it as well, and cargo compiles a crate again for a build script
//! wherever its features differ; that would triple the time of a fresh build. `host/Cargo.toml` keeps them equal.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::process::Command;

use serde_json::Value;

use crate::harness::root;

/// What is compiled for the build script and for the program alike.
const SHARED: [&str; 2] = ["wasmtime", "wasmtime-wasi"];

/// What cargo would compile, and how: each crate with its settings, and what it stands on. (`cargo tree` does not tell
/// the crates of build scripts from the others; the unit graph does, and is not offered to all: hence the variable.)
fn units(command: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .env("RUSTC_BOOTSTRAP", "1")
        .args(command)
        .args(["--release", "--workspace", "--locked", "--offline"])
        .args(["-Z", "unstable-options", "--unit-graph"])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let mut graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(graph["units"].take()).unwrap()
}

/// The units of some crates and of all that these stand on.
fn closure<'a>(units: &'a [Value], roots: &[&str]) -> Vec<&'a Value> {
    let is_root = |unit: &Value| {
        roots
            .iter()
            .any(|name| unit["target"]["name"] == name.replace('-', "_"))
    };
    let mut new: Vec<usize> = (0..units.len()).filter(|at| is_root(&units[*at])).collect();
    let mut reached: HashSet<usize> = new.iter().copied().collect();
    while let Some(unit) = new.pop() {
        for dependency in units[unit]["dependencies"].as_array().unwrap() {
            let at = usize::try_from(dependency["index"].as_u64().unwrap()).unwrap();
            if reached.insert(at) {
                new.push(at);
            }
        }
    }
    reached.into_iter().map(|at| &units[at]).collect()
}

/// Crates that are compiled in more than one way.
fn compiled_twice(units: &[&Value]) -> Vec<String> {
    let mut ways: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for unit in units.iter().filter(|unit| unit["mode"] == "build") {
        let name = format!("{} {}", unit["pkg_id"], unit["target"]["name"]);
        let way = format!("{} {}", unit["features"], unit["profile"]);
        ways.entry(name).or_default().insert(way);
    }
    ways.retain(|_, ways| ways.len() > 1);
    ways.into_iter()
        .map(|(name, ways)| format!("{name}: {ways:#?}"))
        .collect()
}

#[test]
fn what_wasmtime_stands_on_is_compiled_in_one_way_only() {
    for command in [&["build"][..], &["test", "--no-run"]] {
        let units = units(command);
        let shared = closure(&units, &SHARED);
        assert!(shared.len() > 50, "wasmtime is not built as it should be");
        let twice = compiled_twice(&shared);
        assert!(
            twice.is_empty(),
            "give host/Cargo.toml's lists the same features: {twice:#?}"
        );
    }
}

#[test]
fn a_crate_that_is_compiled_in_two_ways_is_noticed() {
    let units: Vec<Value> = serde_json::from_str(
        r#"[
            {"pkg_id": "e", "target": {"name": "engine"}, "mode": "build", "features": [], "profile": {}, "dependencies": [{"index": 1}]},
            {"pkg_id": "b", "target": {"name": "base"}, "mode": "build", "features": ["a"], "profile": {}, "dependencies": []},
            {"pkg_id": "e", "target": {"name": "engine"}, "mode": "build", "features": [], "profile": {}, "dependencies": [{"index": 3}]},
            {"pkg_id": "b", "target": {"name": "base"}, "mode": "build", "features": [], "profile": {}, "dependencies": []}
        ]"#,
    )
    .unwrap();
    let twice = compiled_twice(&closure(&units, &["engine"]));
    assert_eq!(twice.len(), 1);
    assert!(twice[0].contains("base"), "{twice:?}");
}
