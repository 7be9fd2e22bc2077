//! Eight apps on one memory, whose servers are killed at any point: what was acknowledged is there, once and as it was last
//! changed, what was forgotten is not, and nothing else is but what was on its way.
//!
//! `TORTURE_SEED=7` does what a seed says, `TORTURE_OPERATIONS=2000` more of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Builder, Random, Server, number_from, tool_call};

fn start(data: &Path) -> Server {
    Builder::memory_in(data)
        .args(&["--set", "confirm=none"])
        .start()
}

/// What a memory of an app may be: what the app was told, and what was under way when its server was killed.
struct Saved {
    text: String,
    /// From 1 to 10; any of these, until one is acknowledged.
    importances: BTreeSet<usize>,
    /// `None` if its end was on its way.
    is_forgotten: Option<bool>,
}

/// What an app sends.
enum Operation {
    Save(String),
    /// What is there already, with a tag that may be new.
    SaveAgain(String, String),
    Update(String, usize),
    Forget(String),
    Search(usize),
    Get(String),
}

impl Operation {
    fn to_call(&self) -> Value {
        let (tool, arguments) = match self {
            Operation::Save(text) => ("memory_save", json!({"text": text})),
            Operation::SaveAgain(text, tag) => {
                ("memory_save", json!({"text": text, "tags": [tag]}))
            }
            Operation::Update(id, importance) => {
                let importance = *importance as f64;
                ("memory_update", json!({"id": id, "importance": importance}))
            }
            Operation::Forget(id) => ("memory_forget", json!({"id": id})),
            Operation::Search(number) => {
                let query = format!("says {number}");
                ("memory_search", json!({"query": query, "k": 3}))
            }
            Operation::Get(id) => ("memory_get", json!({"id": id})),
        };
        tool_call("op", tool, &arguments)
    }
}

/// One app of several: what it does, and what it was told.
struct App {
    name: usize,
    data: PathBuf,
    random: Random,
    server: Server,
    /// By id.
    saved: BTreeMap<String, Saved>,
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
            saved: BTreeMap::new(),
            attempted: BTreeSet::new(),
            kills: 0,
            busy: 0,
        }
    }

    fn operate(&mut self, number: usize) {
        let living: Vec<String> = self.living().cloned().collect();
        let any = (!living.is_empty()).then(|| self.random.choose(&living).clone());
        let operation = match (self.random.below(12), any) {
            (0..=3, _) | (_, None) => Operation::Save(self.fresh_text(number)),
            (4, Some(id)) => {
                Operation::SaveAgain(self.saved[&id].text.clone(), format!("tag{number}"))
            }
            (5 | 6, Some(id)) => Operation::Update(id, 1 + self.random.below(10)),
            (7, Some(id)) => Operation::Forget(id),
            (8 | 9, _) => Operation::Search(number),
            (_, Some(id)) => Operation::Get(id),
        };
        self.send(&operation);
        if self.random.below(12) == 0 {
            self.kill(&operation);
        } else {
            let answer = self.server.read();
            self.hear(&operation, &answer);
        }
    }

    fn fresh_text(&mut self, number: usize) -> String {
        let padding = "x".repeat(self.random.below(200));
        format!("app {} says {number} {padding}", self.name)
    }

    /// Ids of what is certainly there.
    fn living(&self) -> impl Iterator<Item = &String> {
        let there = |(_, saved): &(&String, &Saved)| saved.is_forgotten == Some(false);
        self.saved.iter().filter(there).map(|(id, _)| id)
    }

    fn send(&mut self, operation: &Operation) {
        if let Operation::Save(text) = operation {
            self.attempted.insert(text.clone());
        }
        self.server.send(&operation.to_call());
    }

    /// Kills the server with the operation under way; what it still said counts.
    fn kill(&mut self, operation: &Operation) {
        for _ in 0..self.random.below(200) {
            thread::yield_now();
        }
        self.server.kill();
        self.kills += 1;
        match operation {
            Operation::Update(id, importance) => {
                let saved = self.saved.get_mut(id).unwrap();
                saved.importances.insert(*importance);
            }
            Operation::Forget(id) => self.saved.get_mut(id).unwrap().is_forgotten = None,
            _ => {}
        }
        while let Some(line) = self.server.read_line() {
            if let Ok(answer) = serde_json::from_slice(&line) {
                self.hear(operation, &answer);
            }
        }
        self.server = start(&self.data);
    }

    /// Whether it was told that others had the store for all the time that a call waits: nothing was changed.
    fn is_busy(&mut self, answer: &Value) -> bool {
        let message = answer.pointer("/error/message").and_then(Value::as_str);
        let is_busy = message.is_some_and(|message| message.contains("nothing was changed"));
        self.busy += usize::from(is_busy);
        is_busy
    }

    fn hear(&mut self, operation: &Operation, answer: &Value) {
        if self.is_busy(answer) {
            return;
        }
        let content = &answer["result"]["structuredContent"];
        assert!(content.is_object(), "{answer}");
        match operation {
            Operation::Save(text) | Operation::SaveAgain(text, _) => {
                let id = content["id"].as_str().unwrap_or_else(|| panic!("{answer}"));
                let saved = self.saved.entry(id.to_owned()).or_insert_with(|| Saved {
                    text: text.clone(),
                    importances: BTreeSet::from([IMPORTANCE]),
                    is_forgotten: Some(false),
                });
                assert_eq!(saved.text, *text, "{id} twice");
            }
            Operation::Update(id, importance) => {
                let saved = self.saved.get_mut(id).unwrap();
                saved.importances = BTreeSet::from([*importance]);
            }
            Operation::Forget(id) => self.saved.get_mut(id).unwrap().is_forgotten = Some(true),
            Operation::Search(_) => {}
            Operation::Get(id) => self.saved[id].assert_is(content, id),
        }
    }
}

/// What a memory has that was saved without a word of it.
const IMPORTANCE: usize = 5;

impl Saved {
    /// What `memory_get` says of it is what it may be.
    fn assert_is(&self, content: &Value, id: &str) {
        assert_eq!(content["text"], self.text.as_str(), "{id}");
        let importance = content["importance"].as_f64().unwrap();
        let may_be = |known: &usize| *known as f64 == importance;
        assert!(
            self.importances.iter().any(may_be),
            "{id} has {importance}, may have {:?}",
            self.importances
        );
    }
}

/// Eight apps on one memory, whose servers are killed at any point and start again.
#[test]
fn eight_processes_that_are_killed_at_random_lose_nothing() {
    const APPS: usize = 8;
    let operations = usize::try_from(number_from("TORTURE_OPERATIONS", 200)).unwrap();
    let seed = number_from("TORTURE_SEED", 1);
    let data = tempfile::tempdir().unwrap();
    let apps: Vec<App> = thread::scope(|scope| {
        let threads: Vec<_> = (0..APPS)
            .map(|name| {
                let data = data.path();
                scope.spawn(move || {
                    let mut app = App::new(name, data, seed);
                    for number in 0..operations {
                        app.operate(number);
                    }
                    app
                })
            })
            .collect();
        threads.into_iter().map(|app| app.join().unwrap()).collect()
    });
    let mut server = start(data.path());
    let found = server.ids();
    let mut texts = BTreeSet::new();
    for id in &found {
        let text = server.read_entry(id).unwrap();
        let is_known = apps.iter().any(|app| app.attempted.contains(&text));
        assert!(is_known, "{id} is there, which nobody saved: {text}");
        assert!(texts.insert(text.clone()), "{text} is there twice");
    }
    let (mut acknowledged, mut forgotten) = (0, 0);
    for (id, saved) in apps.iter().flat_map(|app| &app.saved) {
        let case = format!("seed {seed}: {id}, {}", saved.text);
        let is_there = found.contains(id);
        if let Some(is_forgotten) = saved.is_forgotten {
            assert_eq!(is_there, !is_forgotten, "{case}");
        }
        if is_there {
            saved.assert_is(
                &server.call("memory_get", &json!({"id": id}))["structuredContent"],
                id,
            );
        }
        acknowledged += 1;
        forgotten += usize::from(!is_there);
    }
    let kills: usize = apps.iter().map(|app| app.kills).sum();
    let busy: usize = apps.iter().map(|app| app.busy).sum();
    eprintln!(
        "seed {seed}: {} operations, {kills} kills, {busy} times busy, {acknowledged} saves acknowledged, of which \
         {forgotten} were forgotten; {} there",
        APPS * operations,
        found.len()
    );
    assert!(!found.contains(&server.save("after all that")));
    server.end_in_order();
}
