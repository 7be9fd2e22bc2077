//! A journal that is rewritten while others use it: they follow into the new file, and nothing gets lost between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use personal_memory::sandbox::{Cancel, Grant, MEMORY, Maintained, Sandbox, SandboxConfig};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Builder, JOURNAL, PATIENCE, Server, tag, text_of, write_worn_journal};

/// Tags that a memory gets, one by one. Each makes the line before it dead, all but the text.
const TAGS: usize = 8;

/// So many memories leave a journal that is worth a rewrite (256 kB, most of it dead), and what is left of it is more than
/// one write takes (64 kB).
const MEMORIES: usize = 200;

/// Memories that each writer adds while the journal is rewritten.
const ADDED: usize = 30;

fn server(data: &Path) -> Server {
    let mut server = Builder::memory_in(data).start();
    server.initialize("2025-11-25");
    server
}

/// Saves a memory and then each of its tags; returns its id.
fn save_with_tags(server: &mut Server, text: &str) -> String {
    let mut save = |arguments: Value| {
        let result = server.call("memory_save", &arguments);
        let id = result["structuredContent"]["id"].as_str();
        id.unwrap_or_else(|| panic!("{result}")).to_owned()
    };
    let id = save(json!({"text": text}));
    for number in 0..TAGS {
        assert_eq!(save(json!({"text": text, "tags": [tag(number)]})), id);
    }
    id
}

/// What is in a store: each memory's text and how many tags it has, by id.
fn contents(
    server: &mut Server,
    texts: &BTreeMap<String, String>,
) -> BTreeMap<String, (String, usize)> {
    let mut found = BTreeMap::new();
    for (id, text) in texts {
        let uri = format!("memory://entries/{id}");
        let read = server.request("resources/read", &json!({"uri": uri}));
        let read = read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        // The last tag that was added is what a lost update would lack.
        let query = json!({"query": text, "k": 50, "tags": [tag(TAGS - 1)]});
        let result = server.call("memory_search", &query);
        let memories = result["structuredContent"]["memories"].as_array().unwrap();
        let memory = memories.iter().find(|memory| memory["id"] == id.as_str());
        let tags = memory.map_or(0, |memory| memory["tags"].as_array().unwrap().len());
        found.insert(id.clone(), (read, tags));
    }
    found
}

fn expected(texts: &BTreeMap<String, String>) -> BTreeMap<String, (String, usize)> {
    texts
        .iter()
        .map(|(id, text)| (id.clone(), (text.clone(), TAGS)))
        .collect()
}

/// The first line, which is another one after each rewrite.
fn header(data: &Path) -> String {
    let journal = fs::read_to_string(data.join(JOURNAL)).unwrap();
    journal.lines().next().unwrap().to_owned()
}

/// As long as a server lets others have the store between two slices of work.
const OTHERS_TURN: Duration = Duration::from_millis(10);

/// A host that has the store open and does nothing but tidy it up.
struct Caretaker(Sandbox);

impl Caretaker {
    fn start(data: &Path) -> Caretaker {
        let grant = Grant {
            name: "data".to_owned(),
            path: data.to_owned(),
            read_only: false,
        };
        let config = SandboxConfig {
            grants: vec![grant],
            ..SandboxConfig::default()
        };
        let mut sandbox = Sandbox::new(&MEMORY, config).unwrap();
        sandbox
            .changes(None, &[], PATIENCE, &Cancel::default())
            .expect("the store can be opened");
        Caretaker(sandbox)
    }

    /// Tidies up until nothing is left to do. Others may have the store in between.
    fn tidy_up(&mut self) {
        let began = Instant::now();
        let (mut more, mut failed) = (0, 0);
        loop {
            match self.0.maintain(None) {
                Maintained::Done => return,
                Maintained::More => more += 1,
                Maintained::Failed => failed += 1,
                Maintained::Wanting(wanted) => panic!("no provider is configured, yet {wanted:?}"),
            }
            assert!(
                began.elapsed() < PATIENCE,
                "no end after {more} slices; it failed or had to wait {failed} times"
            );
            thread::sleep(OTHERS_TURN);
        }
    }
}

/// A store whose journal is mostly dead; what is in it, by id.
fn worn_store() -> (TempDir, BTreeMap<String, String>) {
    let data = tempfile::tempdir().unwrap();
    write_worn_journal(data.path(), MEMORIES, TAGS);
    let texts = (0..MEMORIES).map(|number| (format!("m{number}"), text_of(number)));
    (data, texts.collect())
}

#[test]
fn others_follow_into_a_journal_that_one_process_rewrote() {
    let (data, texts) = worn_store();
    let (mut writer, mut other) = (server(data.path()), server(data.path()));
    // Both have read all of it before it is rewritten.
    for server in [&mut writer, &mut other] {
        server.call("memory_search", &json!({"query": "bread"}));
    }
    let (before, size) = (header(data.path()), journal_bytes(data.path()));
    Caretaker::start(data.path()).tidy_up();
    assert_ne!(header(data.path()), before, "it was rewritten");
    assert!(journal_bytes(data.path()) < size / 2, "and is smaller");

    for server in [&mut writer, &mut other] {
        assert_eq!(contents(server, &texts), expected(&texts));
    }
    // Both give out the next ids, and know the memories that were there before.
    for (number, server) in [&mut writer, &mut other].into_iter().enumerate() {
        let text = format!("after the rewrite, from {number}");
        assert_eq!(
            server.call_text("memory_save", &json!({"text": text})),
            format!("Saved m{}.", MEMORIES + number)
        );
        let again = server.call_text(
            "memory_save",
            &json!({"text": text_of(7), "kind": "semantic"}),
        );
        assert!(again.contains("m7"), "{again}");
    }
    // And so does a process that knows the new file only.
    let mut fresh = server(data.path());
    assert_eq!(contents(&mut fresh, &texts), expected(&texts));
}

fn journal_bytes(data: &Path) -> u64 {
    fs::metadata(data.join(JOURNAL)).unwrap().len()
}

#[test]
fn nothing_is_lost_while_two_write_one_searches_and_one_rewrites_the_journal() {
    let (data, mut texts) = worn_store();
    let mut first = server(data.path());
    first.call("memory_search", &json!({"query": "bread"}));
    let path = Arc::<Path>::from(data.path());
    let written = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let path = Arc::clone(&path);
            thread::spawn(move || {
                let mut server = server(&path);
                let save = |number| {
                    let text = format!("meanwhile, number n{number}w{writer}");
                    (save_with_tags(&mut server, &text), text)
                };
                (0..ADDED).map(save).collect::<Vec<_>>()
            })
        })
        .collect();
    let (done, searched) = (Arc::clone(&written), Arc::clone(&path));
    let searcher = thread::spawn(move || {
        let mut server = server(&searched);
        while !done.load(Ordering::Relaxed) {
            let found = server.call("memory_search", &json!({"query": "likes", "k": 50}));
            let memories = found["structuredContent"]["memories"].as_array().unwrap();
            assert!(!memories.is_empty(), "{found}");
        }
    });
    let (done, tidied) = (Arc::clone(&written), Arc::clone(&path));
    let caretaker = thread::spawn(move || {
        let mut caretaker = Caretaker::start(&tidied);
        let mut headers = BTreeSet::from([header(&tidied)]);
        while !done.load(Ordering::Relaxed) {
            caretaker.tidy_up();
            thread::sleep(OTHERS_TURN);
            headers.insert(header(&tidied));
        }
        headers.len()
    });

    let mut acknowledged = texts.len();
    for writer in writers {
        let saved = writer.join().unwrap();
        acknowledged += saved.len();
        texts.extend(saved);
    }
    written.store(true, Ordering::Relaxed);
    searcher.join().unwrap();
    let journals = caretaker.join().unwrap();
    assert!(journals > 1, "it was not rewritten meanwhile");
    assert_eq!(texts.len(), acknowledged, "no id twice");
    for server in [&mut first, &mut server(data.path())] {
        assert_eq!(contents(server, &texts), expected(&texts));
    }
}
