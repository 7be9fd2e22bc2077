//! House rules that no compiler checks: sizes, who may name what, bounds in one place, links that lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::root;

/// All files of a kind below a directory of the repository, by their paths in it.
fn files(directory: &str, extension: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root().join(directory), extension, &mut found);
    assert!(!found.is_empty(), "no .{extension} in {directory}");
    found
        .into_iter()
        .map(|path| {
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap();
            (name, text)
        })
        .collect()
}

fn collect(directory: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
}

/// Code without comments and without the tests at its end. (A `#[cfg(test)]` before one item hides only that.)
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.find("#[cfg(test)]\nmod tests")
        .or_else(|| text.find("#[cfg(test)]\n#[path"))
        .map_or(text, |tests| &text[..tests])
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split("//").next().unwrap()))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

#[test]
fn no_file_is_too_long_to_be_read() {
    const MAX_LINES: usize = 500;
    for (directory, extension) in [
        ("host", "rs"),
        ("guest", "rs"),
        ("tests", "rs"),
        ("wit", "wit"),
    ] {
        for (name, text) in files(directory, extension) {
            let lines = text.lines().count();
            assert!(
                lines <= MAX_LINES,
                "{name} has {lines} lines: look for a seam"
            );
        }
    }
}

/// Rooms and the names that stay in them.
#[test]
fn each_room_keeps_its_secrets() {
    let sandbox =
        |name: &str| name.starts_with("host/src/sandbox") || name == "host/src/engine_config.rs";
    let contract = |name: &str| {
        sandbox(name)
            || name.starts_with("host/src/convert")
            || name.starts_with("host/src/protocol")
    };
    let mut seen = 0;
    for (name, text) in files("host/src", "rs") {
        for (number, line) in code(&text) {
            for word in words(line) {
                if word == "wasmtime" || word == "wasmtime_wasi" {
                    assert!(
                        sandbox(&name),
                        "{name}:{number}: only the sandbox names wasmtime"
                    );
                    seen += 1;
                }
                if word == "bindings" {
                    assert!(
                        contract(&name),
                        "{name}:{number}: only sandbox, convert and protocol know the contract's types"
                    );
                    seen += 1;
                }
            }
        }
    }
    for (name, text) in files("guest/memory/src", "rs") {
        for (number, line) in code(&text) {
            if words(line).any(|word| word == "bindings" || word == "wit_bindgen") {
                let at_the_edge = name.starts_with("guest/memory/src/exports/")
                    || ["exports.rs", "bindings.rs", "lib.rs"]
                        .iter()
                        .any(|file| name == format!("guest/memory/src/{file}"));
                assert!(
                    at_the_edge,
                    "{name}:{number}: the component's inside knows no contract"
                );
                seen += 1;
            }
        }
    }
    assert!(
        seen > 10,
        "the words that are looked for are not there at all"
    );
}

/// Standard output is the transport. Clippy says so too, but not for build scripts and not in code that is compiled out.
#[test]
fn nothing_prints_to_standard_output() {
    for directory in ["host/src", "guest"] {
        for (name, text) in files(directory, "rs") {
            for (number, line) in code(&text) {
                let prints = line.match_indices("print").any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    let after = line[at + "print".len()..].trim_start_matches("ln");
                    before.is_none_or(|character| !character.is_alphanumeric() && character != '_')
                        && after.starts_with('!')
                });
                assert!(!prints, "{name}:{number}: {line}");
            }
        }
    }
}

/// A bound stands in `config.rs`; what is made from it names the constant.
#[test]
fn no_bound_is_repeated() {
    let config = "guest/memory/src/config.rs";
    // Those whose figures mean nothing else.
    let bounds = ["4000", "50", "100", "160", "224"];
    for bound in bounds {
        let text = fs::read_to_string(root().join(config)).unwrap();
        assert!(
            code(&text).any(|(_, line)| words(line).any(|word| word == bound)),
            "{bound} is no bound any more"
        );
    }
    for (name, text) in files("guest/memory/src", "rs") {
        if name == config || name.ends_with("_tests.rs") {
            continue;
        }
        for (number, line) in code(&text) {
            for word in words(line) {
                assert!(
                    !bounds.contains(&word),
                    "{name}:{number}: {word} is a bound, see {config}"
                );
            }
        }
    }
}

/// Links in documents that lead to files.
#[test]
fn links_lead_somewhere() {
    let mut documents = files("docs", "md");
    for name in ["README.md", "CHANGELOG.md", "tests/RULES.md"] {
        documents.push((
            name.to_owned(),
            fs::read_to_string(root().join(name)).unwrap(),
        ));
    }
    for (name, text) in documents {
        let directory = root().join(&name).parent().unwrap().to_owned();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(link, _)| link)
        {
            let path = link.split('#').next().unwrap();
            if !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:") {
                assert!(
                    directory.join(path).exists(),
                    "{name}: {link} leads nowhere"
                );
            }
        }
    }
}

/// What nobody else can use does not belong into the repository.
#[test]
fn no_path_of_a_builder_s_machine_is_written_down() {
    let mut all = Vec::new();
    for (directory, extension) in [
        ("host", "rs"),
        ("guest", "rs"),
        ("tests", "rs"),
        ("tests", "txt"),
        ("tests", "md"),
        ("docs", "md"),
        ("wit", "wit"),
    ] {
        all.extend(files(directory, extension));
    }
    let home = std::env::home_dir();
    let places = [
        root().to_str().map(str::to_owned),
        home.and_then(|home| home.join("").to_str().map(str::to_owned)),
    ];
    for place in places.into_iter().flatten().filter(|place| place.len() > 3) {
        for (name, text) in &all {
            assert!(!text.contains(&place), "{name} names {place}");
        }
    }
}
