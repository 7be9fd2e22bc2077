//! The build compiles wasmtime once. `host/build.rs` uses it as well, and cargo compiles a crate again for a build script
//! wherever its features differ; that would triple the time of a fresh build. `host/Cargo.toml` keeps them equal.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use crate::harness::root;

/// What is compiled for the build script and for the program alike.
const SHARED: [&str; 2] = ["wasmtime", "wasmtime-wasi"];

/// A crate, by name and version.
type Name = String;

/// What `cargo tree` knows of a workspace: the features that each crate is built with, and what it depends on.
#[derive(Default)]
struct Graph {
    features: HashMap<Name, HashSet<String>>,
    dependencies: HashMap<Name, HashSet<Name>>,
}

impl Graph {
    fn of_the_workspace() -> Graph {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args([
                "tree",
                "--workspace",
                "--locked",
                "--offline",
                "--edges",
                "normal,build,dev",
            ])
            // Depth, crate, features; crates that were shown before end with (*) and have no children.
            .args(["--prefix", "depth", "--format", " {p}|{f}"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Graph::parse(&String::from_utf8(output.stdout).unwrap())
    }

    fn parse(tree: &str) -> Graph {
        let mut graph = Graph::default();
        let mut path: Vec<Name> = Vec::new();
        for line in tree.lines().filter(|line| !line.is_empty()) {
            let (depth, rest) = line.split_once(' ').unwrap();
            let (name, features) = rest.split_once('|').unwrap();
            // Neither a path nor `(proc-macro)` belongs to the name.
            let name = name.split(' ').take(2).collect::<Vec<_>>().join(" ");
            path.truncate(depth.parse().unwrap());
            if let Some(parent) = path.last() {
                graph
                    .dependencies
                    .entry(parent.clone())
                    .or_default()
                    .insert(name.clone());
            }
            graph
                .features
                .entry(name.clone())
                .or_default()
                .insert(features.trim_end_matches(" (*)").to_owned());
            path.push(name);
        }
        graph
    }

    /// A crate and all that it stands on.
    fn closure(&self, of: &str) -> HashSet<&Name> {
        let mut reached: HashSet<&Name> = self
            .features
            .keys()
            .filter(|name| name.split(' ').next() == Some(of))
            .collect();
        let mut new: Vec<&Name> = reached.iter().copied().collect();
        while let Some(name) = new.pop() {
            for dependency in self.dependencies.get(name).into_iter().flatten() {
                if reached.insert(dependency) {
                    new.push(dependency);
                }
            }
        }
        reached
    }

    /// Crates of the closure that are built with more than one set of features.
    fn built_twice(&self, of: &str) -> Vec<String> {
        let different = |name: &&&Name| self.features[**name].len() > 1;
        let mut twice: Vec<_> = self
            .closure(of)
            .iter()
            .filter(different)
            .map(|name| format!("{name}: {:?}", self.features[*name]))
            .collect();
        twice.sort_unstable();
        twice
    }
}

#[test]
fn what_wasmtime_stands_on_has_the_same_features_everywhere() {
    let graph = Graph::of_the_workspace();
    for shared in SHARED {
        assert!(
            graph.closure(shared).len() > 50,
            "{shared} is not in the tree as it should be"
        );
        let twice = graph.built_twice(shared);
        assert!(
            twice.is_empty(),
            "built twice; give host/Cargo.toml's lists the same features: {twice:#?}"
        );
    }
}

#[test]
fn a_crate_with_other_features_below_is_noticed() {
    let tree = "0 host v1 (/a path/host)|\n1 engine v1|x\n2 base v1|a\n1 engine v1|x (*)\n1 other v1|\n2 base v1|a,b\n";
    let graph = Graph::parse(tree);
    assert_eq!(graph.built_twice("engine").len(), 1);
    assert!(graph.built_twice("engine")[0].starts_with("base v1"));
    assert!(graph.built_twice("nothing").is_empty());
}
