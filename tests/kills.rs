//! Eight apps on one memory, whose servers are killed at any point: what was acknowledged is there, once, and nothing else
//! is but what was on its way.
//!
//! `TORTURE_SEED=7` does what a seed says, `TORTURE_OPERATIONS=2000` more of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Builder, Random, Server, number_from, tool_call};

fn start(data: &Path) -> Server {
    Builder::memory_in(data).start()
}

/// One app of several: what it does, and what it was told.
struct App {
    name: usize,
    data: PathBuf,
    random: Random,
    server: Server,
    /// Texts by id, as they were acknowledged.
    acknowledged: BTreeMap<String, String>,
    /// All that was ever sent to be saved.
    attempted: BTreeSet<String>,
    kills: usize,
    /// How often others had the store for too long.
    busy: usize,
}

impl App {
    fn new(name: usize, data: &Path, seed: u64) -> App {
        App {
            name,
            data: data.to_owned(),
            random: Random::new(seed << 8 ^ name as u64),
            server: start(data),
            acknowledged: BTreeMap::new(),
            attempted: BTreeSet::new(),
            kills: 0,
            busy: 0,
        }
    }

    fn operate(&mut self, number: usize) {
        match self.random.below(10) {
            0..=4 => {
                let padding = "x".repeat(self.random.below(200));
                let text = format!("app {} says {number} {padding}", self.name);
                self.attempted.insert(text.clone());
                self.server
                    .send(&tool_call("op", "memory_save", &json!({"text": text})));
                self.end_of_operation(Some(text));
            }
            5 => {
                let Some(text) = self.any_text() else { return };
                let again = json!({"text": text, "tags": [format!("tag{number}")]});
                self.server.send(&tool_call("op", "memory_save", &again));
                self.end_of_operation(Some(text));
            }
            6 | 7 => {
                let query = json!({"query": format!("says {number}"), "k": 3});
                self.server.send(&tool_call("op", "memory_search", &query));
                self.end_of_operation(None);
            }
            _ => {
                let Some(text) = self.any_text() else { return };
                let known = |(_, other): &(&String, &String)| **other == text;
                let id = self.acknowledged.iter().find(known).unwrap().0.clone();
                let uri = json!({"uri": format!("memory://entries/{id}")});
                let answer = self.server.request("resources/read", &uri);
                let read = answer.pointer("/result/contents/0/text");
                assert!(
                    read == Some(&json!(text)) || self.is_busy(&answer),
                    "{id}: {answer}"
                );
            }
        }
    }

    fn any_text(&mut self) -> Option<String> {
        let texts: Vec<&String> = self.acknowledged.values().collect();
        (!texts.is_empty()).then(|| (*self.random.choose(&texts)).clone())
    }

    /// Waits for the answer, or does not: now and then the process is killed with the operation under way.
    fn end_of_operation(&mut self, saved: Option<String>) {
        if self.random.below(12) == 0 {
            for _ in 0..self.random.below(200) {
                thread::yield_now();
            }
            self.server.kill();
            self.kills += 1;
            while let Some(line) = self.server.read_line() {
                if let Ok(answer) = serde_json::from_slice(&line) {
                    self.hear(&answer, saved.as_ref());
                }
            }
            self.server = start(&self.data);
        } else {
            let answer = self.server.read();
            self.hear(&answer, saved.as_ref());
        }
    }

    /// Whether it was told that others had the store for all the time that a call waits: nothing was changed.
    fn is_busy(&mut self, answer: &Value) -> bool {
        let message = answer.pointer("/error/message").and_then(Value::as_str);
        let is_busy = message.is_some_and(|message| message.contains("nothing was changed"));
        self.busy += usize::from(is_busy);
        is_busy
    }

    fn hear(&mut self, answer: &Value, saved: Option<&String>) {
        if self.is_busy(answer) {
            return;
        }
        let content = &answer["result"]["structuredContent"];
        let Some(text) = saved else {
            assert!(content.is_object(), "{answer}");
            return;
        };
        let id = content["id"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let before = self.acknowledged.insert(id.to_owned(), text.clone());
        assert!(before.is_none_or(|before| before == *text), "{id} twice");
    }
}

/// Eight apps on one memory, whose servers are killed at any point and start again.
#[test]
fn eight_processes_that_are_killed_at_random_lose_nothing() {
    const APPS: usize = 8;
    let operations = usize::try_from(number_from("TORTURE_OPERATIONS", 200)).unwrap();
    let seed = number_from("TORTURE_SEED", 1);
    let data = tempfile::tempdir().unwrap();
    let under_way = AtomicUsize::new(0);
    let apps: Vec<App> = thread::scope(|scope| {
        let threads: Vec<_> = (0..APPS)
            .map(|name| {
                let (data, under_way) = (data.path(), &under_way);
                scope.spawn(move || {
                    let mut app = App::new(name, data, seed);
                    for number in 0..operations {
                        app.operate(number);
                        under_way.fetch_add(1, Ordering::Relaxed);
                    }
                    app
                })
            })
            .collect();
        threads.into_iter().map(|app| app.join().unwrap()).collect()
    });
    let mut server = start(data.path());
    let found = server.ids();
    let mut texts = BTreeMap::new();
    for id in &found {
        let text = server.read_entry(id).unwrap();
        let is_known = apps.iter().any(|app| app.attempted.contains(&text));
        assert!(is_known, "{id} is there, which nobody saved: {text}");
        assert_eq!(texts.insert(text, id.clone()), None, "{id} is there twice");
    }
    let mut acknowledged = 0;
    for app in &apps {
        for (id, text) in &app.acknowledged {
            assert_eq!(
                texts.get(text),
                Some(id),
                "seed {seed}: {text} was acknowledged"
            );
            acknowledged += 1;
        }
    }
    let kills: usize = apps.iter().map(|app| app.kills).sum();
    let busy: usize = apps.iter().map(|app| app.busy).sum();
    eprintln!(
        "seed {seed}: {} operations, {kills} kills, {busy} times busy, {acknowledged} acknowledged, {} there",
        under_way.into_inner(),
        found.len()
    );
    assert!(!found.contains(&server.save("after all that")));
    server.end_in_order();
}
