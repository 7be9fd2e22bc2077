//! Memories that come and go: exports and imports.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::Owner;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
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
