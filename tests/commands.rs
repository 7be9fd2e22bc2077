//! The memory's owner at the command line: what is saved is found, by the commands and by servers alike.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Builder, command};

/// A memory and its owner.
struct Owner {
    data: TempDir,
}

/// What came of a command.
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    #[track_caller]
    fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "nothing to complain of: {}", self.out);
        self.out
    }

    /// It ended with this code, for a reason that has these parts.
    #[track_caller]
    fn badly(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for part in parts {
            assert!(
                self.err.contains(part),
                "`{part}` is not said: {}",
                self.err
            );
        }
    }
}

impl Owner {
    fn new() -> Owner {
        Owner {
            data: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = command();
        command.args(args).arg("--data-dir").arg(self.data.path());
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        self.command(args)
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .into()
    }

    fn feed(&self, args: &[&str], input: &str) -> Done {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap().into()
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let out = self.run(&[args, &["--json"]].concat()).well();
        serde_json::from_str(&out).unwrap()
    }

    fn save(&self, text: &str) {
        self.run(&["save", text]).well();
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.data.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// What is remembered, without what differs from store to store.
    fn contents(&self) -> Vec<Value> {
        let out = self.run(&["export", "--forgotten"]).well();
        out.lines()
            .map(|line| {
                let mut memory: Value = serde_json::from_str(line).unwrap();
                memory.as_object_mut().unwrap().remove("id");
                memory
            })
            .collect()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

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
            &json!({"text": hostile, "tags": ["t\u{1b}[0m"]}).to_string(),
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

#[test]
fn each_format_comes_back_as_it_was() {
    let owner = Owner::new();
    let line = json!({
        "text": "two\n\nparagraphs, \u{1b} and \u{202e}\n", "kind": "procedural", "tags": ["a b", "\"c\": d"], "importance": 2.25,
        "created_at": "2024-02-29T12:00:00.123Z", "last_accessed": "2025-01-01T00:00:00.000Z", "session": "s-1",
    });
    let forgotten = json!({
        "text": "---\nold\n---", "kind": "semantic", "tags": [], "importance": 5.0, "created_at": "2024-03-01T12:00:00.000Z",
        "last_accessed": "2024-03-01T12:00:00.000Z", "forgotten_at": "2025-01-01T00:00:00.000Z",
    });
    owner
        .feed(&["import", "-"], &format!("{line}\n{forgotten}\n"))
        .well();
    for number in 0..12 {
        owner.save(&format!("memory {number}"));
    }
    let contents = owner.contents();
    assert_eq!((&contents[0], &contents[1]), (&line, &forgotten));
    let place = tempfile::tempdir().unwrap();
    for name in ["all.jsonl", "all.json", "folder"] {
        let path = place.path().join(name);
        let said = owner.run(&["export", text(&path), "--forgotten"]);
        said.badly(0, &["Exported 14 memories"]);
        let other = Owner::new();
        let out = other.run(&["import", text(&path)]).well();
        assert!(out.starts_with("Imported 14 new memories"), "{name}: {out}");
        assert_eq!(other.contents(), contents, "{name}");
        let again = other.json(&["import", text(&path)]);
        assert_eq!(
            (&again["added"], &again["merged"]),
            (&json!(0), &json!(14)),
            "{name}"
        );
    }
}

#[test]
fn an_export_spoils_nothing_that_is_there() {
    let owner = Owner::new();
    owner.save("x");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("x.json");
    fs::write(&file, "precious").unwrap();
    owner
        .run(&["export", text(&file)])
        .badly(1, &["there already", "--overwrite"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    owner
        .run(&["export", text(&file), "--overwrite"])
        .badly(0, &["Exported 1 "]);
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("\"text\":\"x\"")
    );
    owner
        .run(&["export", text(place.path()), "--format", "markdown"])
        .badly(1, &["is not empty"]);
    owner
        .run(&["export", text(&place.path().join("x.csv"))])
        .badly(1, &[".jsonl"]);
    owner
        .run(&["export", "--format", "markdown"])
        .badly(1, &["folder"]);
    owner
        .run(&["export", text(&place.path().join("no/such/x.json"))])
        .badly(1, &["can't be written"]);
    let left = fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 1, "no half-written file stays behind");
}

#[cfg(unix)]
#[test]
fn exports_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let owner = Owner::new();
    owner.save("private");
    let place = tempfile::tempdir().unwrap();
    let (file, folder) = (place.path().join("x.json"), place.path().join("folder"));
    owner.run(&["export", text(&file)]).badly(0, &[]);
    owner.run(&["export", text(&folder)]).badly(0, &[]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(
        mode(
            &fs::read_dir(&folder)
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path()
        ),
        0o600
    );
}

#[test]
fn a_knowledge_graph_is_imported_as_sentences() {
    let owner = Owner::new();
    let graph = owner.file("memory.json", concat!(
        r#"{"type":"entity","name":"Ada","entityType":"person","observations":["likes chess","Ada speaks Greek"]}"#, "\n",
        r#"{"type":"entity","name":"Acme","entityType":"company","observations":[]}"#, "\n",
        r#"{"type":"relation","from":"Ada","to":"Acme","relationType":"works_at"}"#,
    ));
    let report = owner.json(&["import", text(&graph), "--tag", "imported"]);
    assert_eq!(
        report,
        json!({"added": 4, "merged": 0, "refused": [], "dry_run": false})
    );
    let texts: Vec<Value> = owner
        .contents()
        .into_iter()
        .map(|memory| memory["text"].clone())
        .collect();
    assert_eq!(
        texts,
        [
            "Ada: likes chess",
            "Ada speaks Greek",
            "Acme (company)",
            "Ada works at Acme"
        ]
    );
    assert_eq!(owner.contents()[0]["tags"], json!(["person", "imported"]));
    assert_eq!(
        owner.json(&["search", "where does Ada work"])["memories"][0]["text"],
        "Ada works at Acme"
    );
}

#[test]
fn notes_are_imported_by_the_paragraph() {
    let owner = Owner::new();
    let notes = owner.file(
        "notes.md",
        "# Apollo\n\nDue on May 3.\n\n- costs 5\n- is fun\n",
    );
    let plain = owner.file("notes.txt", "I like tea.\n\nI live\nin Graz.\n");
    let dry = owner
        .run(&["import", text(&notes), text(&plain), "--dry-run"])
        .well();
    assert!(dry.starts_with("Would import 5 new memories"), "{dry}");
    assert_eq!(owner.contents(), Vec::<Value>::new(), "nothing was stored");
    owner
        .run(&["import", text(&notes), text(&plain), "--kind", "semantic"])
        .well();
    let texts: Vec<Value> = owner
        .contents()
        .into_iter()
        .map(|memory| memory["text"].clone())
        .collect();
    assert_eq!(
        texts,
        [
            "Apollo: Due on May 3.",
            "Apollo: costs 5",
            "Apollo: is fun",
            "I like tea.",
            "I live\nin Graz."
        ]
    );
    assert_eq!(owner.contents()[0]["kind"], "semantic");
}

#[test]
fn what_can_t_be_imported_is_told_with_its_place() {
    let owner = Owner::new();
    let broken = owner.file("broken.jsonl", "{\"text\":\"a\"}\n{\"text\":\n");
    owner
        .run(&["import", text(&broken)])
        .badly(1, &["broken.jsonl", "line 2"]);
    assert_eq!(
        owner.contents(),
        Vec::<Value>::new(),
        "files are read before anything is stored"
    );
    let long = "x".repeat(5000);
    let refused = owner.file(
        "long.jsonl",
        &format!("{{\"text\":\"a\"}}\n\n{{\"text\":\"{long}\"}}\n"),
    );
    let done = owner.run(&["import", text(&refused)]);
    done.badly(1, &["long.jsonl:3", "4000", "1 of them were refused"]);
    assert!(
        done.out.starts_with("Imported 1 new memories"),
        "the others are there: {}",
        done.out
    );
    owner
        .run(&["import", "/no/such/file"])
        .badly(1, &["/no/such/file"]);
    let bytes = owner.data.path().join("bytes.txt");
    fs::write(&bytes, [0xff, 0xfe, 0x00]).unwrap();
    owner
        .run(&["import", text(&bytes)])
        .badly(1, &["bytes.txt", "as text"]);
}

#[test]
fn an_import_of_many_batches_leaves_an_index() {
    let owner = Owner::new();
    let lines: Vec<String> = (0..1200)
        .map(|number| json!({"text": format!("note n{number}n")}).to_string())
        .collect();
    assert_eq!(
        owner.feed(&["import", "-"], &lines.join("\n")).well(),
        "Imported 1200 new memories; 0 were there already, 0 are refused.\n"
    );
    assert!(
        owner.json(&["stats"])["index_bytes"].as_u64().unwrap() > 0,
        "so that the next search is fast"
    );
    assert_eq!(
        owner.json(&["search", "n1111n"])["memories"][0]["text"],
        "note n1111n"
    );
    let list = owner.run(&["list"]).well();
    assert_eq!(
        (list.lines().count(), list.lines().last()),
        (21, Some("(20 of 1200; --all shows all)"))
    );
    assert_eq!(owner.run(&["list", "--all"]).well().lines().count(), 1200);
}

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
