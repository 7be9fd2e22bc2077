//! `RULES.md` says which test holds which rule. This makes sure that it names tests that exist.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use crate::harness::root;

/// The rules of the protocol.
const RULES: std::ops::RangeInclusive<u32> = 1..=47;

/// Names of test functions and of transcripts, each by the file that it is in.
fn known() -> HashMap<String, BTreeSet<String>> {
    let mut known: HashMap<String, BTreeSet<String>> = HashMap::new();
    let tests = root().join("tests");
    let directory = |name: &str| fs::read_dir(tests.join(name)).unwrap();
    let entries = directory("").chain(directory("transcripts"));
    for entry in entries.chain(directory("asking")).chain(directory("http")) {
        let path = entry.unwrap().path();
        // Transcripts go by their own name, tests by the path of their module.
        let within = match path.extension().is_some_and(|extension| extension == "txt") {
            true => path.parent().unwrap(),
            false => &tests,
        };
        let file = path.strip_prefix(within).unwrap().to_str().unwrap();
        let file = file.replace('\\', "/");
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => known
                .entry(file)
                .or_default()
                .extend(sections(&fs::read_to_string(&path).unwrap())),
            Some("rs") => known
                .entry(file)
                .or_default()
                .extend(functions(&fs::read_to_string(&path).unwrap())),
            _ => {}
        }
    }
    known
}

/// The titles of a transcript's sections.
fn sections(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("== "))
        .map(str::to_owned)
        .collect()
}

/// The functions that are marked as tests.
fn functions(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ")
            && std::mem::take(&mut marked)
        {
            names.push(rest.split('(').next().unwrap().to_owned());
        }
    }
    names
}

/// Text between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_rule_is_held_by_a_test_that_exists() {
    let text = fs::read_to_string(root().join("tests/RULES.md")).unwrap();
    let known = known();
    let mut numbers = BTreeSet::new();
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let Ok(number) = cells[0].parse::<u32>() else {
            continue;
        };
        numbers.insert(number);
        let held = cells[2];
        for name in quoted(held) {
            let (file, test) = name.split_once("::").unwrap_or((name, ""));
            let file = if file.ends_with(".txt") {
                file.to_owned()
            } else {
                format!("{file}.rs")
            };
            let tests = known
                .get(&file)
                .unwrap_or_else(|| panic!("rule {number}: there is no {file}"));
            assert!(
                test.is_empty() || tests.contains(test),
                "rule {number}: there is no {test} in {file}"
            );
        }
        let later = held.contains("later");
        assert!(
            later || quoted(held).next().is_some(),
            "rule {number} is held by nothing and not left for later"
        );
    }
    assert_eq!(numbers, RULES.collect(), "each rule has a row");
}

/// The names that the project's founding documents give to the rules that most servers break.
#[test]
fn the_rules_that_most_servers_break_have_their_names() {
    let known = known();
    let all: BTreeSet<&String> = known.values().flatten().collect();
    for name in [
        "test_notifications_are_never_answered",
        "test_tools_list_uses_camelCase_inputSchema",
        "test_a_failing_tool_is_a_successful_rpc_with_isError",
        "test_a_tool_printing_to_stdout_does_not_corrupt_the_stream",
    ] {
        assert!(all.contains(&name.to_owned()), "{name}");
    }
}

/// The functions that are marked as tests, in all files below a directory.
fn tests_below(directory: &std::path::Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(functions(&fs::read_to_string(&path).unwrap()));
        }
    }
}

/// `docs/THREATS.md` says what holds each threat off, in the last column of its tables.
#[test]
fn every_threat_is_held_by_a_test_that_exists() {
    let mut tests = BTreeSet::new();
    for directory in ["tests", "host/src", "guest/memory/src"] {
        tests_below(&root().join(directory), &mut tests);
    }
    let text = fs::read_to_string(root().join("docs/THREATS.md")).unwrap();
    let mut seen = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let held = row.trim_matches('|').rsplit('|').next().unwrap();
        for name in quoted(held) {
            let test = name.rsplit([':', ' ']).next().unwrap();
            let is_transcript = root().join("tests/transcripts").join(test).exists();
            assert!(
                is_transcript || tests.contains(test),
                "docs/THREATS.md: there is no `{name}`"
            );
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen} tests are named");
}
