//! Every operation, stopped at every point.
//!
//! The machine stops after any number of operations of the disk; the next one is done by half. Then either all that was
//! written is there (the process died), or only what was synced (the power failed). Whatever happened, a store that opens
//! afterwards has everything that was acknowledged, the operation happened as a whole or not at all, and no id is given
//! out twice.

use std::collections::BTreeSet;

use super::*;
use fake::{Crash, FakeDisk, at, random_ids};
use journal::JOURNAL;

use crate::backend::MemoryBackend;
use crate::security::{RawMemory, SaveArgs, SearchArgs, UpdateArgs};

/// What a person can see of a store: id, text, tags, and whether it is forgotten.
type View = Vec<(u64, String, Vec<String>, bool)>;

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), random_ids())
}

fn view(backend: &mut MemoryBackend) -> View {
    let page = backend.export(None, usize::MAX, true).unwrap();
    page.memories
        .into_iter()
        .map(|memory| {
            let forgotten = memory.forgotten_at.is_some();
            (memory.id, memory.text, memory.tags, forgotten)
        })
        .collect()
}

/// The same without what only makes the texts long.
fn brief(view: &View) -> View {
    let short = |text: &str| text.chars().take(16).collect();
    let entries = view.iter().cloned();
    entries
        .map(|(id, text, tags, forgotten)| (id, short(&text), tags, forgotten))
        .collect()
}

fn args(text: &str) -> SaveArgs {
    SaveArgs {
        text: text.to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    }
}

/// m0 to m4, of which m3 is forgotten; the last change is by another process.
fn base(disk: &FakeDisk) -> View {
    let mut first = backend_on(disk);
    for text in ["zero tea", "one tea", "two tea", "three tea"] {
        first.save(&args(&long(text)), &at(0)).unwrap();
    }
    first.forget(3, &at(1)).unwrap();
    let mut second = backend_on(disk);
    second.save(&args("four tea"), &at(2)).unwrap();
    churn(&mut second);
    view(&mut second)
}

/// Changes m4 until most of the journal is dead.
fn churn(backend: &mut MemoryBackend) {
    for seconds in 0..8 {
        let update = UpdateArgs {
            id: 4,
            text: Some(long(&format!("four tea {}", seconds % 2))),
            ..UpdateArgs::default()
        };
        backend.update(&update, &at(seconds)).unwrap();
    }
}

/// A rewrite of five such goes in several slices.
fn long(text: &str) -> String {
    format!("{text} {}", "x".repeat(6000))
}

type Operation = fn(&mut MemoryBackend) -> bool;

/// Name, operation (true: it was acknowledged), and whether it changes what is seen.
const OPERATIONS: &[(&str, Operation, bool)] = &[
    (
        "save",
        |backend| backend.save(&args("five"), &at(9)).is_ok(),
        true,
    ),
    (
        "update",
        |backend| {
            let update = UpdateArgs {
                id: 1,
                text: Some("one coffee".to_owned()),
                tags: Some(vec!["tag".to_owned()]),
                ..UpdateArgs::default()
            };
            backend.update(&update, &at(9)).is_ok()
        },
        true,
    ),
    (
        "touch",
        |backend| {
            let search = SearchArgs::for_query("tea".to_owned());
            backend.search(&search, &at(9 * 3600)).is_ok()
        },
        false,
    ),
    ("forget", |backend| backend.forget(2, &at(9)).is_ok(), true),
    (
        "restore",
        |backend| backend.restore(3, &at(9)).is_ok(),
        true,
    ),
    ("compact", compact, false),
    (
        "purge",
        |backend| backend.purge(&[0, 3], &at(9)).is_ok(),
        true,
    ),
    (
        "import",
        |backend| {
            let texts = ["five".to_owned(), "six".to_owned(), long("one tea")];
            let batch = texts.map(|text| RawMemory {
                text,
                tags: vec!["imported".to_owned()],
                ..RawMemory::default()
            });
            backend.import(&batch, false, &at(9)).is_ok()
        },
        true,
    ),
];

fn compact(backend: &mut MemoryBackend) -> bool {
    backend.compact_from(0);
    loop {
        match backend.step(at(9).now(), &mut || true) {
            Ok(true) => return true,
            Ok(false) => {}
            Err(_) => return false,
        }
    }
}

#[test]
fn a_crash_at_any_point_loses_nothing_that_was_acknowledged_and_does_nothing_by_half() {
    for (name, operation, changes) in OPERATIONS {
        for crash in [Crash::Process, Crash::Power] {
            let whole = {
                let disk = FakeDisk::default();
                base(&disk);
                assert!(operation(&mut backend_on(&disk)), "{name}");
                view(&mut backend_on(&disk))
            };
            let mut points = 0;
            loop {
                let disk = FakeDisk::default();
                let before = base(&disk);
                assert_eq!(before != whole, *changes, "{name}");
                let mut backend = backend_on(&disk);
                backend.open(&mut || false).unwrap();
                disk.crash_after(points + 1);
                let acknowledged = operation(&mut backend);
                if !disk.is_down() {
                    assert!(acknowledged, "{name}");
                    let case = format!("{name}, {crash:?} when it was done");
                    check(&disk.after(crash), (&before, &whole), true, &case);
                    break;
                }
                drop(backend);
                let case = format!("{name}, {crash:?} at operation {points}");
                points += 1;
                check(&disk.after(crash), (&before, &whole), acknowledged, &case);
            }
            assert!(points > 0, "{name} never crashed");
        }
    }
}

fn check(disk: &FakeDisk, (before, whole): (&View, &View), acknowledged: bool, case: &str) {
    let mut backend = backend_on(disk);
    let after = view(&mut backend);
    if acknowledged {
        assert_eq!(brief(&after), brief(whole), "{case}: it was acknowledged");
    } else if case.starts_with("import") {
        // Its lines are written at once, so a part of them may be there: as much as a client's retry finds. Each is one
        // of a state or the other.
        let is_known = |entry| before.contains(entry) || whole.contains(entry);
        assert!(after.iter().all(is_known), "{case}: {:?}", brief(&after));
        assert!(after.len() >= before.len(), "{case}: {:?}", brief(&after));
    } else {
        assert!(
            &after == before || &after == whole,
            "{case}: {:?}",
            brief(&after)
        );
    }
    let mut given: BTreeSet<u64> = (0..5).collect();
    given.extend(after.iter().map(|entry| entry.0));
    for text in ["new", "newer"] {
        let id = backend.save(&args(text), &at(99)).unwrap().id;
        assert!(given.insert(id), "{case}: m{id} was given out twice");
        backend = backend_on(disk);
    }
    assert_eq!(backend.take_warnings(), [""; 0], "{case}: it was mended");
    let purged = case.starts_with("purge") && after == *whole;
    if purged {
        for name in disk.names() {
            assert!(!disk.text(&name).contains("zero tea"), "{case}: {name}");
        }
    }
    // What a crash has left is gone with the next rewrite.
    churn(&mut backend);
    assert!(compact(&mut backend), "{case}");
    let names = disk.names();
    assert!(
        names
            .iter()
            .all(|name| name == JOURNAL || name == set_aside::SET_ASIDE),
        "{case}: {names:?}"
    );
}

#[test]
fn two_processes_on_one_disk_survive_the_crash_of_either() {
    for (name, operation, _) in OPERATIONS {
        let mut points = 0;
        loop {
            let disk = FakeDisk::default();
            base(&disk);
            let (mut ours, mut theirs) = (backend_on(&disk), backend_on(&disk));
            theirs.save(&args("theirs, before"), &at(3)).unwrap();
            ours.open(&mut || false).unwrap();
            let steps = disk.clone();
            steps.crash_after(points + 1);
            let acknowledged = operation(&mut ours);
            let crashed = steps.is_down();
            // Only one process died: the other one finds the disk as that has left it.
            steps.crash_after(usize::MAX);
            drop(ours);
            let case = format!("{name}, at operation {points}");
            assert!(crashed || acknowledged, "{case}");
            let id = theirs.save(&args("theirs, after"), &at(4)).unwrap().id;
            let seen = view(&mut theirs);
            assert!(view(&mut backend_on(&disk)) == seen, "{case}");
            let mut later = backend_on(&disk.after(Crash::Power));
            assert!(view(&mut later) == seen, "{case}: and then the power fails");
            for text in ["theirs, before", "theirs, after"] {
                let found = seen.iter().filter(|entry| entry.1 == text).count();
                assert_eq!(found, 1, "{case}: {text}");
            }
            let ids: BTreeSet<u64> = seen.iter().map(|entry| entry.0).collect();
            assert_eq!(ids.len(), seen.len(), "{case}");
            assert_eq!(
                ids.last(),
                Some(&id),
                "{case}: the newest has the highest id"
            );
            if !crashed {
                break;
            }
            points += 1;
        }
    }
}
