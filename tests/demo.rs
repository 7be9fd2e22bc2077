//! `personal-memory demo`: what a newcomer sees first.

use crate::harness::command;

#[test]
fn the_demo_shows_that_a_second_server_finds_what_the_first_one_saved() {
    let temporary = tempfile::tempdir().unwrap();
    let output = command()
        .arg("demo")
        .env("TMPDIR", temporary.path())
        .env("TMP", temporary.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stderr, "", "nothing went wrong");
    // In this order: what was asked, and what came.
    let story = [
        "is deleted at the end",
        "-> initialize",
        "personal-memory speaks MCP",
        "-> tools/list",
        "memory_search",
        "memory_save",
        "-> resources/templates/list",
        "memory://entries/{id}",
        "-> prompts/list",
        "reflect_on",
        "-> tools/call memory_save",
        "Saved m0.",
        "Saved m1.",
        "-> tools/call memory_search",
        "[m0] (episodic)",
        "No matching memories.",
        "importance must be a number from 1.0 to 10.0, got 11",
        "(end of input)",
        "A second app",
        "-> initialize",
        "[m1] (semantic)",
        "-> resources/read memory://entries/m0",
        "-> prompts/get reflect_on",
        "(end of input)",
        "Everything was as it should be",
    ];
    let mut rest = stdout.as_str();
    for part in story {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("`{part}` is missing or too early:\n{stdout}"));
        rest = after;
    }
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
