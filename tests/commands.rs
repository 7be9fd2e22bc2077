//! The memory's owner at the command line: what is saved is found, by the commands and by servers alike.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Builder, Done, Owner, command};

#[test]
fn a_life_of_a_memory() {
    let owner = Owner::new();
    let said = owner.run(&[
        "save",
        "the",
        "demo is on June 20",
        "--kind",
        "episodic",
        "--tag",
        "work",
        "--importance",
        "8",
    ]);
    assert_eq!(said.well(), "Saved m0.\n");
    assert_eq!(
        owner
            .feed(&["save", "-", "--json"], "I prefer\ntea\n")
            .well()
            .contains("\"m1\""),
        true
    );

    let found = owner.run(&["search", "when", "is the demo?"]).well();
    assert!(found.starts_with("m0  "), "{found}");
    assert!(
        found.contains("episodic  the demo is on June 20  #work"),
        "{found}"
    );
    assert_eq!(owner.json(&["search", "tea"])["memories"][0]["id"], "m1");
    assert_eq!(
        owner.json(&["search", "demo", "--tag", "work", "-k", "1"])["memories"][0]["id"],
        "m0"
    );

    let list = owner.run(&["list"]).well();
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines[0].starts_with("m1  ") && lines[0].ends_with("I prefer ⏎ tea"),
        "{list}"
    );
    assert!(
        lines[1].starts_with("m0  "),
        "the newest come first: {list}"
    );
    let list = owner.json(&["list", "-n", "1", "--kind", "episodic", "--tag", "work"]);
    assert_eq!(
        (&list["total"], &list["memories"][0]["id"]),
        (&json!(1), &json!("m0"))
    );

    let shown = owner.run(&["show", "m1"]).well();
    assert!(
        shown.starts_with("m1  ") && shown.ends_with("\n\nI prefer\ntea\n"),
        "{shown}"
    );
    assert_eq!(
        owner.json(&["show", "m0"])["memories"][0]["importance"],
        8.0
    );
    assert_eq!(owner.run(&["tags"]).well(), "     1  work\n");

    assert!(owner.run(&["forget", "m0"]).well().starts_with("Forgot m0"));
    owner
        .run(&["search", "demo"])
        .badly(3, &["no matching memories"]);
    owner
        .run(&["forget", "m0"])
        .badly(3, &["there is no memory m0"]);
    assert_eq!(
        owner.json(&["list", "--forgotten"])["memories"][0]["id"],
        "m0"
    );
    assert!(owner.run(&["show", "m0"]).well().contains("forgotten 20"));
    assert!(
        owner
            .run(&["restore", "m0"])
            .well()
            .starts_with("Restored m0")
    );
    owner
        .run(&["restore", "m0"])
        .badly(1, &["m0 is not forgotten"]);
    assert_eq!(owner.json(&["search", "demo"])["memories"][0]["id"], "m0");

    let stats = owner.json(&["stats"]);
    assert_eq!(
        (&stats["living"], &stats["forgotten"]),
        (&json!(2), &json!(0))
    );
    assert!(owner.run(&["stats"]).well().contains("memories       2\n"));
}

#[test]
fn what_is_not_there_and_what_makes_no_sense_have_codes_of_their_own() {
    let owner = Owner::new();
    owner
        .run(&["search", "anything"])
        .badly(3, &["no matching memories"]);
    let nothing = owner.run(&["search", "anything", "--json"]);
    nothing.badly(3, &[]);
    assert_eq!(
        serde_json::from_str::<Value>(&nothing.out).unwrap(),
        json!({"memories": []})
    );
    assert_eq!(owner.run(&["list"]).well(), "", "an empty list is a list");
    owner
        .run(&["show", "m7"])
        .badly(3, &["there is no memory m7"]);
    owner.run(&["show", "seven"]).badly(1, &["m3", "seven"]);
    owner
        .run(&["save", "x", "--importance", "11"])
        .badly(1, &["importance", "10", "11"]);
    owner
        .run(&["save", "x", "--kind", "dream"])
        .badly(1, &["episodic", "dream"]);
    owner.run(&["save", ""]).badly(1, &["text"]);
    for args in [
        &["save"][..],
        &["search"],
        &["show"],
        &["purge"],
        &["export", "--format", "xml"],
        &["list", "-n", "x"],
    ] {
        owner.run(args).badly(2, &[]);
    }
    owner
        .run(&["list", "--set", "colour=red"])
        .badly(1, &["colour"]);
}

#[test]
fn purging_needs_a_person_or_a_word() {
    let owner = Owner::new();
    owner.save("very secret");
    owner.save("harmless");
    owner
        .run(&["purge", "m0"])
        .badly(1, &["can't be undone", "--yes"]);
    assert_eq!(owner.contents().len(), 2, "nothing happened");
    owner.run(&["purge", "m0", "m9", "--yes"]).badly(3, &["m9"]);
    assert_eq!(owner.contents().len(), 2, "all or none");
    assert!(
        owner
            .run(&["purge", "m0", "-y"])
            .well()
            .starts_with("Purged 1")
    );
    for entry in fs::read_dir(owner.data.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let secret = b"very secret";
        assert!(
            !bytes.windows(secret.len()).any(|part| part == secret),
            "{}",
            path.display()
        );
    }
    owner.run(&["forget", "m1"]).well();
    assert_eq!(
        owner.json(&["purge", "--forgotten", "--yes"])["ids"],
        json!(["m1"])
    );
    assert_eq!(owner.json(&["purge", "--forgotten", "--yes"])["purged"], 0);
    assert_eq!(owner.contents(), Vec::<Value>::new());
}

#[test]
fn servers_and_commands_share_the_memory_while_both_run() {
    let owner = Owner::new();
    let mut server = Builder::memory_in(owner.data.path()).start();
    server.call("memory_save", &json!({"text": "saved by an app"}));
    assert_eq!(
        owner.json(&["search", "app"])["memories"][0]["text"],
        "saved by an app"
    );
    owner.save("saved by hand");
    let found = server.call("memory_search", &json!({"query": "hand"}));
    assert_eq!(
        found["structuredContent"]["memories"][0]["text"],
        "saved by hand"
    );
    owner.run(&["forget", "m0"]).well();
    assert_eq!(
        server.call_text("memory_search", &json!({"query": "app"})),
        "No matching memories."
    );
    server.end_in_order();
}

#[test]
fn nothing_in_a_memory_acts_on_the_terminal() {
    let owner = Owner::new();
    let hostile =
        "red \u{1b}[31m, left \u{202e}txet, title \u{1b}]0;x\u{7}, C1 \u{9b}2J, hidden \u{e0041}";
    owner
        .feed(
            &["import", "-", "--format", "json"],
            &json!({"text": hostile, "tags": ["t"]}).to_string(),
        )
        .well();
    let acts = |text: &str| {
        text.chars()
            .any(|c| (c.is_control() && c != '\n') || "\u{202e}\u{e0041}".contains(c))
    };
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show", "m0"],
        &["show", "m0", "--json"],
        &["search", "red"],
        &["search", "red", "--json"],
        &["tags"],
        &["tags", "--json"],
        &["export"],
        &["export", "--format", "json"],
        &["forget", "m0"],
        &["restore", "m0", "--json"],
    ] {
        let out = owner.run(args).well();
        assert!(!acts(&out), "{args:?}: {out:?}");
    }
    assert!(
        owner
            .run(&["show", "m0"])
            .well()
            .contains(r"red \u{1b}[31m, left \u{202e}txet")
    );
    assert_eq!(
        owner.json(&["show", "m0"])["memories"][0]["text"],
        hostile,
        "and it is all there"
    );
}

#[test]
fn colours_are_not_for_pipes() {
    let owner = Owner::new();
    owner.save("plain");
    for args in [&["list"][..], &["show", "m0"], &["search", "plain"]] {
        let out = owner.run(args).well();
        assert!(!out.contains('\u{1b}'), "{out:?}");
    }
}

#[cfg(unix)]

/// Whoever read has seen enough, as with `personal-memory list | head`.

#[test]
fn a_reader_who_leaves_is_no_failure() {
    let owner = Owner::new();
    owner.save("x");
    for args in [
        &["list"][..],
        &["export"],
        &["show", "m0"],
        &["completions", "bash"],
    ] {
        let mut command = command();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.args(args).stdout(writer).stderr(Stdio::piped());
        if args[0] != "completions" {
            command.arg("--data-dir").arg(owner.data.path());
        }
        let done = Done::from(command.output().unwrap());
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn shells_get_their_completions() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef personal-memory"),
        ("fish", "complete -c personal-memory"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let done = Done::from(command().args(["completions", shell]).output().unwrap());
        let script = done.well();
        assert!(
            script.contains(part) && script.contains("forget"),
            "{shell}"
        );
    }
    Done::from(command().args(["completions", "cmd"]).output().unwrap()).badly(2, &["cmd", "bash"]);
}
