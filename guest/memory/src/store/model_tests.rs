//! Random histories of two processes, beside a plain map that says what must be there.

use std::collections::BTreeMap;

use super::*;
use fake::{FakeDisk, at, random_ids};
use proptest::prelude::*;

use crate::backend::{ChangeError, ChangeSet, MemoryBackend};
use crate::render::entry_uri;
use crate::security::{RawMemory, SaveArgs, SearchArgs, UpdateArgs};

/// What is done, by which of the two processes.
#[derive(Clone, Debug)]
enum Step {
    Save(u8),
    Update(u8, Option<u8>, Option<u8>),
    Touch,
    Forget(u8),
    Restore(u8),
    Import(Vec<u8>),
    Purge(Vec<u8>),
    /// A slice of maintenance with no time at all.
    Maintain,
    /// All of it.
    Compact,
    /// A slice of opening with no time at all.
    Open,
    /// The process ends, and another one starts.
    Reopen,
}

fn step() -> impl Strategy<Value = (bool, Step)> {
    let text = 0_u8..12;
    let id = 0_u8..16;
    let step = prop_oneof![
        6 => text.clone().prop_map(Step::Save),
        3 => (id.clone(), prop::option::of(text.clone()), prop::option::of(1_u8..4))
            .prop_map(|(id, text, importance)| Step::Update(id, text, importance)),
        1 => Just(Step::Touch),
        3 => id.clone().prop_map(Step::Forget),
        2 => id.clone().prop_map(Step::Restore),
        1 => prop::collection::vec(text, 1..5).prop_map(Step::Import),
        1 => prop::collection::vec(id, 1..3).prop_map(Step::Purge),
        4 => Just(Step::Maintain),
        1 => Just(Step::Compact),
        2 => Just(Step::Open),
        1 => Just(Step::Reopen),
    ];
    (any::<bool>(), step)
}

/// A memory as the model has it.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    text: String,
    importance: f64,
    living: bool,
}

#[derive(Default)]
struct Model {
    known: BTreeMap<u64, Known>,
    next: u64,
}

impl Model {
    /// Those that say this: the one that a save finds is one of them.
    fn same(&self, text: &str) -> Vec<u64> {
        let says_so =
            |(id, known): (&u64, &Known)| (known.living && known.text == text).then_some(*id);
        self.known.iter().filter_map(says_so).collect()
    }

    fn add(&mut self, text: &str) -> u64 {
        let known = Known {
            text: text.to_owned(),
            importance: 5.0,
            living: true,
        };
        self.known.insert(self.next, known);
        self.next += 1;
        self.next - 1
    }
}

/// Long enough for several chunks of a rewrite, so that a slice is not all of it.
fn text_of(number: u8) -> String {
    format!("word{number} {}", "common ".repeat(400))
}

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    let mut backend = MemoryBackend::new(Box::new(disk.clone()), random_ids());
    backend.compact_from(0);
    backend.index_from(0);
    backend
}

fn save_args(text: &str) -> SaveArgs {
    SaveArgs {
        text: text.to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    }
}

fn take(
    backend: &mut MemoryBackend,
    disk: &FakeDisk,
    model: &mut Model,
    (step, seconds): (&Step, i64),
) -> Result<(), TestCaseError> {
    let now = at(seconds);
    let living = |model: &Model, id: u64| model.known.get(&id).map(|known| known.living);
    match step {
        Step::Save(number) => {
            let text = text_of(*number);
            let same = model.same(&text);
            let saved = backend.save(&save_args(&text), &now).unwrap();
            prop_assert_eq!(saved.created, same.is_empty());
            if saved.created {
                prop_assert_eq!(saved.id, model.add(&text));
            } else {
                prop_assert!(same.contains(&saved.id));
            }
        }
        Step::Update(id, text, importance) => {
            let id = u64::from(*id);
            let args = UpdateArgs {
                id,
                text: text.map(text_of),
                importance: importance.map(f64::from),
                ..UpdateArgs::default()
            };
            let outcome = backend.update(&args, &now);
            match model.known.get_mut(&id).filter(|known| known.living) {
                Some(known) => {
                    let before = known.clone();
                    known.text = args.text.unwrap_or(known.text.clone());
                    known.importance = args.importance.unwrap_or(known.importance);
                    prop_assert_eq!(outcome.unwrap().changed, before != *known);
                }
                None => {
                    let expected = match living(model, id) {
                        Some(_) => matches!(outcome, Err(ChangeError::Forgotten { .. })),
                        None => matches!(outcome, Err(ChangeError::NotFound { .. })),
                    };
                    prop_assert!(expected);
                }
            }
        }
        Step::Touch => {
            let search = SearchArgs::for_query("common".to_owned());
            let found = backend.search(&search, &now).unwrap();
            let count = model.known.values().filter(|known| known.living).count();
            prop_assert_eq!(found.memories.len(), count.min(search.k));
        }
        Step::Forget(id) => {
            let id = u64::from(*id);
            let outcome = backend.forget(id, &now);
            prop_assert_eq!(outcome.is_ok(), living(model, id) == Some(true));
            if let Some(known) = model.known.get_mut(&id) {
                known.living = false;
            }
        }
        Step::Restore(id) => {
            let id = u64::from(*id);
            let outcome = backend.restore(id, &now);
            prop_assert_eq!(outcome.is_ok(), living(model, id) == Some(false));
            if let Some(known) = model.known.get_mut(&id) {
                known.living = true;
            }
        }
        Step::Import(numbers) => import(backend, model, numbers, &now)?,
        Step::Purge(ids) => {
            let ids: Vec<u64> = ids.iter().map(|id| u64::from(*id)).collect();
            let all_there = ids.iter().all(|id| model.known.contains_key(id));
            prop_assert_eq!(backend.purge(&ids, &now).is_ok(), all_there);
            if all_there {
                model.known.retain(|id, _| !ids.contains(id));
            }
        }
        Step::Maintain => drop(backend.step(now.now(), &mut || true).unwrap()),
        Step::Compact => while !backend.step(now.now(), &mut || false).unwrap() {},
        Step::Open => drop(backend.open(&mut || true).unwrap()),
        Step::Reopen => *backend = backend_on(disk),
    }
    Ok(())
}

fn import(
    backend: &mut MemoryBackend,
    model: &mut Model,
    numbers: &[u8],
    now: &Moment,
) -> Result<(), TestCaseError> {
    let batch: Vec<RawMemory> = numbers
        .iter()
        .map(|number| RawMemory {
            text: text_of(*number),
            ..RawMemory::default()
        })
        .collect();
    let planned = backend.import(&batch, true, now).unwrap();
    let report = backend.import(&batch, false, now).unwrap();
    prop_assert_eq!(&report, &planned, "a dry run tells what happens");
    let mut added = 0;
    for (number, id) in numbers.iter().zip(&report.ids) {
        let same = model.same(&text_of(*number));
        if same.is_empty() {
            prop_assert_eq!(*id, model.add(&text_of(*number)));
            added += 1;
        } else {
            prop_assert!(same.contains(id));
        }
    }
    prop_assert_eq!(report.added, added);
    Ok(())
}

fn agrees(backend: &mut MemoryBackend, model: &Model) -> Result<(), TestCaseError> {
    let page = backend.export(None, usize::MAX, true).unwrap();
    let seen: BTreeMap<u64, Known> = page
        .memories
        .into_iter()
        .map(|memory| {
            let known = Known {
                living: memory.forgotten_at.is_none(),
                importance: memory.importance,
                text: memory.text,
            };
            (memory.id, known)
        })
        .collect();
    prop_assert_eq!(&seen, &model.known);
    for number in 0..12_u8 {
        let mut search = SearchArgs::for_query(format!("word{number}"));
        search.k = crate::config::MAX_K;
        let mut found: Vec<u64> = backend
            .search(&search, &at(0))
            .unwrap()
            .memories
            .iter()
            .map(|memory| memory.id)
            .collect();
        // What is merely like the word comes after all that have it.
        let same = model.same(&text_of(number));
        found.truncate(same.len());
        found.sort_unstable();
        prop_assert_eq!(found, same, "word{}", number);
    }
    prop_assert_eq!(backend.take_warnings(), Vec::<String>::new());
    Ok(())
}

/// What changed is told; where nothing did, nothing is.
fn tells(
    told: &ChangeSet,
    (then, now): (&BTreeMap<u64, Known>, &BTreeMap<u64, Known>),
    is_quiet: bool,
) -> Result<(), TestCaseError> {
    let ids = |known: &BTreeMap<u64, Known>| -> Vec<u64> {
        let living = known.iter().filter(|(_, known)| known.living);
        living.map(|(id, _)| *id).collect()
    };
    prop_assert!(told.list_changed || ids(then) == ids(now));
    for id in 0..16 {
        let is_told = told.updated.contains(&entry_uri(id));
        let was_there = then.contains_key(&id);
        prop_assert!(
            is_told || !was_there || then.get(&id) == now.get(&id),
            "m{}",
            id
        );
    }
    prop_assert!(!is_quiet || !told.list_changed && told.updated.is_empty());
    Ok(())
}

proptest! {
    // Each case rewrites some hundred kilobytes several times.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn two_processes_and_a_map_agree_whatever_happens(steps in prop::collection::vec(step(), 1..60)) {
        let disk = FakeDisk::default();
        let mut model = Model::default();
        let mut backends = [backend_on(&disk), backend_on(&disk)];
        // A host that asks now and then: its token, and what there was to see when it got that.
        let subscribed: Vec<String> = (0..16).map(entry_uri).collect();
        let mut token = backends[0].changes_since(None, &[]).unwrap().token;
        let (mut then, mut is_quiet) = (BTreeMap::new(), true);
        for (seconds, (second, step)) in steps.iter().enumerate() {
            let before = model.known.clone();
            let backend = &mut backends[usize::from(*second)];
            take(backend, &disk, &mut model, (step, seconds as i64))?;
            is_quiet &= before == model.known;
            if seconds % 3 == 2 {
                let told = backends[0].changes_since(Some(&token), &subscribed).unwrap();
                tells(&told, (&then, &model.known), is_quiet)?;
                (token, then, is_quiet) = (told.token, model.known.clone(), true);
            }
        }
        for backend in &mut backends {
            agrees(backend, &model)?;
        }
        agrees(&mut backend_on(&disk), &model)?;
    }
}
