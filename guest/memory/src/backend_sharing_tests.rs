//! One memory that several processes share: opening in slices, texts on the disk, changes by others.

use super::testing::{backend_on, damage, find, find_sorted, save, update};
use super::*;
use crate::config::Kind;
use crate::request::Moment;
use crate::security::{RawMemory, UpdateArgs};
use crate::store::fake::{FakeDisk, Faults, at};
use crate::store::journal::JOURNAL;

#[test]
fn a_store_opens_in_slices_and_is_whole_afterwards() {
    let disk = FakeDisk::default();
    let mut writer = backend_on(&disk);
    let batch: Vec<RawMemory> = (0..900)
        .map(|number| RawMemory {
            text: format!("needle{number} {}", "hay ".repeat(250)),
            ..RawMemory::default()
        })
        .collect();
    writer.import(&batch, false, &at(0)).unwrap();
    let mut backend = backend_on(&disk);
    let mut slices = 1;
    while !backend.open(&mut || true).unwrap() {
        slices += 1;
    }
    assert!((12..40).contains(&slices), "{slices} slices of 1 MB");
    assert_eq!(find(&mut backend, "needle0")[0], 0);
    assert_eq!(find(&mut backend, "needle899")[0], 899);
    assert!(backend.open(&mut || true).unwrap(), "it stays open");

    let mut impatient = backend_on(&disk);
    assert!(!impatient.open(&mut || true).unwrap());
    assert_eq!(save(&mut writer, "meanwhile"), 900);
    assert_eq!(
        find(&mut impatient, "meanwhile"),
        [900],
        "a call that comes too early follows to the end"
    );
}

#[test]
fn a_store_that_is_replaced_between_two_slices_is_opened_afresh() {
    let disk = FakeDisk::default();
    let mut writer = backend_on(&disk);
    writer.compact_from(0);
    for number in 0..500 {
        save(&mut writer, &format!("word{number} {}", "x".repeat(1000)));
    }
    let mut backend = backend_on(&disk);
    assert!(!backend.open(&mut || true).unwrap());
    let all_but_one: Vec<u64> = (1..500).collect();
    writer.purge(&all_but_one, &at(0)).unwrap();
    assert!(backend.open(&mut || true).unwrap());
    assert_eq!(find(&mut backend, "word0"), [0]);
    assert_eq!(find(&mut backend, "word1"), [0; 0]);
    assert_eq!(backend.entries().unwrap().count(), 1);
}

#[test]
fn a_text_whose_line_was_damaged_is_never_shown() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for text in ["green tea", "black tea", "white tea"] {
        save(&mut backend, text);
    }
    damage(&disk, "black tea");
    assert_eq!(find_sorted(&mut backend, "tea"), [0, 2]);
    let (page, has_more) = backend.page(None, 9).unwrap();
    assert_eq!((page.len(), has_more), (2, false));
    let error = backend.get(1).unwrap_err().to_string();
    assert!(
        error.starts_with("the text of m1 can't be read any more"),
        "{error}"
    );
    assert_eq!(
        backend.take_warnings(),
        [error],
        "once, however often it was met"
    );
    assert_eq!(
        save(&mut backend, "black tea"),
        3,
        "it is not taken for saved"
    );
    let mended = UpdateArgs {
        text: Some("black tea".to_owned()),
        ..update(1)
    };
    assert!(backend.update(&mended, &at(1)).unwrap().changed);
    assert_eq!(backend.get(1).unwrap().unwrap().text, "black tea");
    backend.forget(0, &at(1)).unwrap();
    damage(&disk, "green tea");
    assert!(
        backend.restore(0, &at(2)).is_err(),
        "there is nothing to restore"
    );
}

#[test]
fn a_compaction_by_another_process_costs_no_index() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (backend_on(&disk), backend_on(&disk));
    theirs.compact_from(0);
    for text in ["green tea", "black tea", "white tea"] {
        save(&mut ours, text);
    }
    assert_eq!(find_sorted(&mut ours, "tea"), [0, 1, 2]);
    for seconds in 0..9 {
        let change = UpdateArgs {
            importance: Some(1.0 + seconds as f64),
            ..update(1)
        };
        theirs.update(&change, &at(seconds)).unwrap();
    }
    theirs.purge(&[2], &at(9)).unwrap();
    save(&mut theirs, "red tea");
    // Unreadable now: an index made anew would lack it, one that is kept has its words.
    damage(&disk, "green tea");
    let warnings = ours.page(None, 9).unwrap().0.len();
    assert_eq!(warnings, 2, "m1 and m3");
    assert_eq!(find_sorted(&mut ours, "tea"), [1, 3]);
    assert_eq!(find(&mut ours, "white"), [0; 0]);
}

#[test]
fn forgetting_hides_and_restoring_brings_back() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    assert_eq!(save(&mut backend, "green tea"), 0);
    backend.forget(0, &at(1)).unwrap();
    assert_eq!(find(&mut backend, "tea"), [0; 0]);
    assert_eq!(backend.get(0).unwrap(), None);
    assert!(matches!(
        backend.forget(0, &at(1)),
        Err(ChangeError::Forgotten { id: 0 })
    ));
    let renamed = UpdateArgs {
        importance: Some(2.0),
        ..update(0)
    };
    assert!(matches!(
        backend.update(&renamed, &at(1)),
        Err(ChangeError::Forgotten { id: 0 })
    ));
    assert_eq!(
        save(&mut backend, "green tea"),
        1,
        "forgotten entries don't count"
    );
    let restored = backend.restore(0, &at(2)).unwrap();
    assert_eq!(
        (restored.text.as_str(), restored.forgotten_at),
        ("green tea", None)
    );
    assert_eq!(find(&mut backend, "tea"), [1, 0], "both live");
    assert!(matches!(
        backend.restore(0, &at(2)),
        Err(ChangeError::NotForgotten { id: 0 })
    ));
    assert!(matches!(
        backend.restore(7, &at(2)),
        Err(ChangeError::NotFound { id: 7 })
    ));
    assert_eq!(find(&mut backend_on(&disk), "tea"), [1, 0]);
}

#[test]
fn an_update_changes_what_it_names_and_is_found_by_its_new_words() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "green tea");
    let change = UpdateArgs {
        text: Some("strong coffee".to_owned()),
        kind: Some(Kind::Semantic),
        tags: Some(vec!["kitchen".to_owned()]),
        importance: Some(9.0),
        ..update(0)
    };
    assert!(backend.update(&change, &at(1)).unwrap().changed);
    let size = disk.bytes(JOURNAL).len();
    assert!(!backend.update(&change, &at(2)).unwrap().changed);
    assert_eq!(
        disk.bytes(JOURNAL).len(),
        size,
        "nothing new, nothing written"
    );
    for mut backend in [backend, backend_on(&disk)] {
        assert_eq!(find(&mut backend, "tea"), [0; 0]);
        assert_eq!(find(&mut backend, "coffee"), [0]);
        assert_eq!(find(&mut backend, "kitchen"), [0]);
        let memory = backend.get(0).unwrap().unwrap();
        assert_eq!((memory.kind, memory.importance), (Kind::Semantic, 9.0));
        assert_eq!(memory.modified_at, at(1).now());
        let only_tags = UpdateArgs {
            tags: Some(vec!["cellar".to_owned()]),
            ..update(0)
        };
        backend.update(&only_tags, &at(3)).unwrap();
        assert_eq!(find(&mut backend, "cellar"), [0]);
        assert_eq!(find(&mut backend, "coffee"), [0]);
        backend.update(&change, &at(1)).unwrap();
    }
}

#[test]
fn a_disk_that_can_not_be_written_is_said_in_words() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "a");
    let refuses = |backend: &mut MemoryBackend| {
        let moment: Moment = at(0);
        backend.forget(0, &moment).unwrap_err().to_string()
    };
    disk.fail(Faults {
        read_only: true,
        ..Faults::default()
    });
    assert_eq!(
        refuses(&mut backend),
        "the memory store can't be written: the directory can only be read"
    );
    disk.fail(Faults {
        tear_after: Some(3),
        ..Faults::default()
    });
    assert_eq!(
        refuses(&mut backend),
        "the memory store can't be written: the disk is full"
    );
}
