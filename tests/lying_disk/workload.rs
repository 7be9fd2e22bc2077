//! What is done to a disk, step by step, and what must be there after each.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::{Known, State};
use crate::harness::{Disk, NewEntry, Process, Random};

/// Tags of a memory.
const MAX_TAGS: usize = 16;

/// What texts are made of. Words rather than anything, so that a search compares them as it does what people write.
const WORDS: [&str; 8] = [
    "harbour", "violet", "engine", "winter", "lantern", "copper", "orchard", "thunder",
];

/// A workload: what two processes do to one store by turns, and what must be there after each step.
pub(super) struct Workload {
    random: Random,
    pub(super) disk: Disk,
    pub(super) processes: Vec<Process>,
    pub(super) state: State,
    pub(super) given: BTreeSet<String>,
    pub(super) purged: Vec<String>,
    /// Makes texts different.
    texts: usize,
}

/// What a step came to.
pub(super) enum Came {
    Acknowledged,
    Refused(String),
}

impl Workload {
    pub(super) fn new(seed: u64, directory: &Path, state: State) -> Workload {
        let disk = Disk::new(directory);
        Workload {
            random: Random::new(seed),
            processes: vec![Process::start(&disk), Process::start(&disk)],
            disk,
            given: state.keys().cloned().collect(),
            state,
            purged: Vec::new(),
            texts: 0,
        }
    }

    /// A text of any length with a word that no other has.
    fn fresh_text(&mut self) -> String {
        self.texts += 1;
        let mut text = format!("text {0} word{0} \u{e9}\n", self.texts);
        for _ in 0..self.random.below(80) {
            text.push_str(WORDS[self.random.below(WORDS.len())]);
            text.push(' ');
        }
        text
    }

    /// Ids of the living, or of the forgotten.
    fn ids(&self, forgotten: bool) -> Vec<String> {
        let wanted = self
            .state
            .iter()
            .filter(|(_, known)| known.is_forgotten == forgotten);
        wanted.map(|(id, _)| id.clone()).collect()
    }

    /// Does something; returns its name, what must be there if it is acknowledged, whether it is a batch, and what it
    /// came to.
    pub(super) fn step(&mut self) -> (String, State, bool, Came) {
        let (living, forgotten) = (self.ids(false), self.ids(true));
        let process = self.random.below(2);
        match self.random.below(13) {
            0..=2 => self.save(process),
            3 if !living.is_empty() => self.save_again(process, &living),
            4 => self.search(process),
            5 => self.import(process),
            6 if !forgotten.is_empty() => self.restore(process, &forgotten),
            7 if living.len() > 3 => self.purge(process, &living),
            8 => {
                self.processes[process] = Process::start(&self.disk);
                let state = self.state.clone();
                ("start again".to_owned(), state, false, Came::Acknowledged)
            }
            9..=10 if !living.is_empty() => self.update(process, &living),
            11 if living.len() > 1 => self.forget(process, &living),
            _ => {
                let came = came(self.processes[process].maintain());
                ("maintain".to_owned(), self.state.clone(), false, came)
            }
        }
    }

    fn save(&mut self, process: usize) -> (String, State, bool, Came) {
        let text = self.fresh_text();
        let importance = 1.0 + self.random.below(10) as f64 * 0.9;
        let arguments =
            json!({"text": text, "kind": "procedural", "importance": importance, "tags": ["one"]});
        let saved = self.processes[process].call("memory_save", &arguments);
        let mut after = self.state.clone();
        let came = match saved {
            Ok(saved) => {
                let id = saved["id"].as_str().unwrap().to_owned();
                assert!(self.given.insert(id.clone()), "{id} was given out before");
                let known = Known {
                    text,
                    kind: "procedural".to_owned(),
                    tags: vec!["one".to_owned()],
                    importance,
                    is_forgotten: false,
                };
                after.insert(id, known);
                Came::Acknowledged
            }
            Err(refusal) => {
                // Should it be there all the same, then under the next id.
                Came::Refused(refusal)
            }
        };
        ("save".to_owned(), after, true, came)
    }

    fn save_again(&mut self, process: usize, living: &[String]) -> (String, State, bool, Came) {
        let id = self.random.choose(living).clone();
        let known = self.state[&id].clone();
        let new = format!("again{}", self.random.below(100));
        let arguments = json!({"text": known.text, "kind": known.kind, "tags": [new], "importance": known.importance});
        let mut after = self.state.clone();
        let tags = &mut after.get_mut(&id).unwrap().tags;
        if !tags.contains(&new) && tags.len() < MAX_TAGS {
            tags.push(new);
        }
        let came = match self.processes[process].call("memory_save", &arguments) {
            Ok(saved) => {
                assert_eq!(saved["id"], id.as_str());
                Came::Acknowledged
            }
            Err(refusal) => Came::Refused(refusal),
        };
        (format!("save {id} again"), after, false, came)
    }

    fn update(&mut self, process: usize, living: &[String]) -> (String, State, bool, Came) {
        let id = self.random.choose(living).clone();
        let mut after = self.state.clone();
        let known = after.get_mut(&id).unwrap();
        known.tags = vec![format!("updated{}", self.random.below(100))];
        known.importance = 1.0 + self.random.below(10) as f64 * 0.9;
        let mut arguments = json!({"id": id, "tags": known.tags, "importance": known.importance});
        if self.random.below(2) == 0 {
            known.text = self.fresh_text();
            arguments["text"] = known.text.as_str().into();
        }
        let updated = self.processes[process].call("memory_update", &arguments);
        (
            format!("update {id}"),
            after,
            false,
            came(updated.map(|_| ())),
        )
    }

    fn forget(&mut self, process: usize, living: &[String]) -> (String, State, bool, Came) {
        let id = self.random.choose(living).clone();
        let forgotten = self.processes[process].call("memory_forget", &json!({"id": id}));
        let mut after = self.state.clone();
        after.get_mut(&id).unwrap().is_forgotten = true;
        (
            format!("forget {id}"),
            after,
            false,
            came(forgotten.map(|_| ())),
        )
    }

    fn search(&mut self, process: usize) -> (String, State, bool, Came) {
        let found = self.processes[process].call("memory_search", &json!({"query": "text"}));
        let came = came(found.map(|_| ()));
        ("search".to_owned(), self.state.clone(), false, came)
    }

    /// Some memories at once, of which the last comes as forgotten.
    fn import(&mut self, process: usize) -> (String, State, bool, Came) {
        let count = 1 + self.random.below(4);
        let texts: Vec<String> = (0..count).map(|_| self.fresh_text()).collect();
        let is_forgotten = |number: usize| number + 1 == count;
        let entry = |(number, text): (usize, &String)| NewEntry {
            text: text.clone(),
            kind: Some("semantic".to_owned()),
            tags: vec!["imported".to_owned()],
            importance: Some(7.5),
            created_at: Some("2026-11-30T00:00:00Z".to_owned()),
            last_accessed: None,
            session: None,
            forgotten_at: is_forgotten(number).then(|| "2026-11-30T01:00:00Z".to_owned()),
        };
        let batch: Vec<NewEntry> = texts.iter().enumerate().map(entry).collect();
        let mut after = self.state.clone();
        let came = match self.processes[process].import(&batch) {
            Ok(ids) => {
                for (number, (id, text)) in ids.into_iter().zip(texts).enumerate() {
                    assert!(self.given.insert(id.clone()), "{id} was given out before");
                    let known = Known {
                        text,
                        kind: "semantic".to_owned(),
                        tags: vec!["imported".to_owned()],
                        importance: 7.5,
                        is_forgotten: is_forgotten(number),
                    };
                    after.insert(id, known);
                }
                Came::Acknowledged
            }
            Err(failure) => Came::Refused(format!("{failure:?}")),
        };
        (format!("import {count}"), after, true, came)
    }

    fn restore(&mut self, process: usize, forgotten: &[String]) -> (String, State, bool, Came) {
        let id = self.random.choose(forgotten).clone();
        let came = came(self.processes[process].restore(&id));
        let mut after = self.state.clone();
        after.get_mut(&id).unwrap().is_forgotten = false;
        (format!("restore {id}"), after, false, came)
    }

    fn purge(&mut self, process: usize, living: &[String]) -> (String, State, bool, Came) {
        let ids: BTreeSet<String> = (0..2).map(|_| self.random.choose(living).clone()).collect();
        let came = came(self.processes[process].purge(&ids));
        let mut after = self.state.clone();
        for id in &ids {
            let known = after.remove(id).unwrap();
            if matches!(came, Came::Acknowledged) {
                self.purged.push(known.text);
            }
        }
        (format!("purge {ids:?}"), after, false, came)
    }
}

fn came<E: std::fmt::Debug>(outcome: Result<(), E>) -> Came {
    match outcome {
        Ok(()) => Came::Acknowledged,
        Err(refusal) => Came::Refused(format!("{refusal:?}")),
    }
}
