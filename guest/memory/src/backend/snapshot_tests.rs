//! `index.bin`: a start reads it and the journal's tail, and answers as if it had read the journal.

use super::testing::{backend_on, damage, find, raw, save, update};
use super::*;
use crate::security::RawMemory;
use crate::store::fake::{FakeDisk, Faults, at};
use crate::store::journal::JOURNAL;
use crate::store::{INDEX, fingerprint};

/// A store with a bit of everything, and its snapshot.
fn store_with_index() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let tagged = RawMemory {
        tags: vec!["kitchen".to_owned()],
        importance: Some(7.5),
        session: Some("imported".to_owned()),
        ..raw("green tea")
    };
    backend.import(&[tagged], false, &at(0)).unwrap();
    save(&mut backend, "the ferry");
    save(&mut backend, "dark mode");
    backend.forget(2, &at(1)).unwrap();
    write_index(&mut backend);
    disk
}

fn write_index(backend: &mut MemoryBackend) {
    backend.index_from(0);
    assert!(backend.step(at(9).now(), &mut || false).unwrap());
}

/// All that a fresh instance knows and finds. It touches nothing.
fn state_of(disk: &FakeDisk) -> (Vec<Memory>, Vec<Vec<u64>>, String, Vec<String>) {
    disk.fail(Faults {
        read_only: true,
        ..Faults::default()
    });
    let mut backend = backend_on(disk);
    let memories = backend.export(None, 99, true).unwrap().memories;
    let queries = ["tea", "kitchen", "ferry", "dark", "kangaroo"];
    let mut found = queries.map(|query| find(&mut backend, query)).to_vec();
    let newest = crate::security::RecentArgs {
        filter: Filter::default(),
        k: 3,
    };
    let newest = backend_on(disk).recent(&newest).unwrap();
    found.push(newest.iter().map(|memory| memory.id).collect());
    let token = backend.changes_since(None, &[]).unwrap().token;
    let warnings = backend.take_warnings();
    disk.fail(Faults::default());
    (memories, found, token, warnings)
}

/// The answers without the snapshot.
fn state_without_index(disk: &FakeDisk) -> (Vec<Memory>, Vec<Vec<u64>>, String) {
    let journal = FakeDisk::default();
    journal.put(JOURNAL, &disk.bytes(JOURNAL));
    let (memories, found, token, _) = state_of(&journal);
    (memories, found, token)
}

/// Compares a start with one that reads the whole journal. Returns whether the snapshot was of use.
fn agrees(disk: &FakeDisk) -> bool {
    let (memories, found, token, warnings) = state_of(disk);
    assert_eq!((memories, found, token), state_without_index(disk));
    !warnings.iter().any(|warning| warning.starts_with(INDEX))
}

/// Whether a start passes over what the snapshot covers: then it doesn't notice what is wrong there.
fn is_read_instead(disk: &FakeDisk, text: &str) -> bool {
    let copy = FakeDisk::default();
    for name in disk.names() {
        copy.put(&name, &disk.bytes(&name));
    }
    damage(&copy, text);
    let mut backend = backend_on(&copy);
    backend.open(&mut || false).unwrap();
    backend.take_warnings().is_empty()
}

#[test]
fn a_start_reads_the_snapshot_and_not_what_it_covers() {
    let disk = store_with_index();
    assert!(is_read_instead(&disk, "the ferry"));
    assert!(agrees(&disk));
    let mut backend = backend_on(&disk);
    assert_eq!(save(&mut backend, "the ferry"), 1, "it knows what is there");
    assert_eq!(save(&mut backend, "dark mode"), 3, "and what was forgotten");
}

#[test]
fn the_tail_of_the_journal_counts_as_much() {
    let disk = store_with_index();
    let mut backend = backend_on(&disk);
    save(&mut backend, "black tea");
    backend.restore(2, &at(2)).unwrap();
    let renamed = crate::security::UpdateArgs {
        text: Some("white tea".to_owned()),
        ..update(1)
    };
    backend.update(&renamed, &at(3)).unwrap();
    assert!(is_read_instead(&disk, "green tea"));
    assert!(agrees(&disk));
    let torn = &disk.bytes(JOURNAL)[..disk.bytes(JOURNAL).len() - 20];
    disk.put(JOURNAL, torn);
    assert!(agrees(&disk), "an interrupted write behind it");
}

#[test]
fn whatever_byte_of_it_is_damaged_the_answers_are_the_same() {
    let disk = store_with_index();
    let whole = disk.bytes(INDEX);
    let expected = state_without_index(&disk);
    for at in 0..whole.len() {
        disk.flip(INDEX, at);
        let (memories, found, token, warnings) = state_of(&disk);
        assert_eq!((memories, found, token), expected, "byte {at}");
        assert_eq!(warnings.len(), 1, "byte {at}: {warnings:?}");
        disk.flip(INDEX, at);
    }
    for end in 0..whole.len() {
        disk.put(INDEX, &whole[..end]);
        let (memories, found, token, warnings) = state_of(&disk);
        assert_eq!((memories, found, token), expected, "{end} bytes");
        assert_eq!(warnings.len(), 1, "{end} bytes: {warnings:?}");
    }
    disk.put(INDEX, &[&whole[..], b"x"].concat());
    assert!(!agrees(&disk), "one byte too many");
    eprintln!("{0} flips and {0} cuts of a snapshot", whole.len());
}

#[test]
fn a_snapshot_of_another_journal_is_not_taken() {
    let disk = store_with_index();
    let mut backend = backend_on(&disk);
    let backup = disk.bytes(JOURNAL);
    save(&mut backend, "after the backup");
    write_index(&mut backend);
    disk.put(JOURNAL, &backup);
    assert!(!agrees(&disk), "an older copy of the journal was put back");
    save(&mut backend_on(&disk), "a different life");
    save(
        &mut backend_on(&disk),
        "goes on and becomes longer than it was",
    );
    assert!(!agrees(&disk), "and has grown since");

    let other = store_with_index();
    other.put(INDEX, &disk.bytes(INDEX));
    assert!(!agrees(&other), "of another store");

    let disk = store_with_index();
    let index = disk.bytes(INDEX);
    backend_on(&disk).purge(&[0], &at(5)).unwrap();
    disk.put(INDEX, &index);
    assert!(!agrees(&disk), "from before a rewrite");
    assert_eq!(find(&mut backend_on(&disk), "green"), [0; 0]);
}

#[test]
fn one_that_was_of_no_use_is_replaced() {
    let disk = store_with_index();
    disk.flip(INDEX, 200);
    let mut backend = backend_on(&disk);
    assert!(backend.step(at(9).now(), &mut || false).unwrap());
    assert_eq!(backend.take_warnings().len(), 1);
    assert!(agrees(&disk) && is_read_instead(&disk, "the ferry"));
}

#[test]
fn damage_in_the_journal_is_met_where_the_text_is_needed() {
    let disk = store_with_index();
    damage(&disk, "the ferry");
    let mut backend = backend_on(&disk);
    assert!(backend.get(1).is_err(), "never shown");
    assert_eq!(find(&mut backend, "ferry"), [0; 0]);
    save(&mut backend, "after the damage");
    backend.compact_from(0);
    for importance in 1..9 {
        let change = crate::security::UpdateArgs {
            importance: Some(f64::from(importance)),
            ..update(0)
        };
        backend.update(&change, &at(7)).unwrap();
    }
    // A rewrite meets it, and has the journal read itself: not the snapshot again, which knows nothing of it.
    assert!(backend.step(at(8).now(), &mut || false).is_err());
    while !backend.step(at(9).now(), &mut || false).unwrap() {}
    assert!(backend.entries().unwrap().all(|entry| entry.id != 1));
    damage(&disk, "after the damage");
    assert!(agrees(&disk), "damage behind it is met as ever");
}

#[test]
fn a_rewrite_of_the_journal_brings_a_new_snapshot_with_it() {
    let disk = store_with_index();
    let mut backend = backend_on(&disk);
    backend.compact_from(0);
    for importance in 1..9 {
        let change = crate::security::UpdateArgs {
            importance: Some(f64::from(importance)),
            ..update(0)
        };
        backend.update(&change, &at(7)).unwrap();
    }
    let before = disk.bytes(JOURNAL).len();
    assert!(backend.step(at(8).now(), &mut || false).unwrap());
    assert!(disk.bytes(JOURNAL).len() < before);
    assert!(agrees(&disk) && is_read_instead(&disk, "the ferry"));
}

#[test]
fn two_that_write_it_at_once_leave_a_whole_one() {
    let disk = store_with_index();
    let (mut one, mut other) = (backend_on(&disk), backend_on(&disk));
    save(&mut one, "black tea");
    write_index(&mut one);
    save(&mut other, "white tea");
    // The other one was interrupted in the middle of writing.
    let index = disk.bytes(INDEX);
    disk.put("index.bin.tmp", &index[..index.len() / 2]);
    write_index(&mut other);
    assert!(agrees(&disk) && is_read_instead(&disk, "white tea"));
    assert!(!disk.names().contains(&"index.bin.tmp".to_owned()));
    let before = disk.appends();
    one.index_from(1);
    assert!(one.step(at(9).now(), &mut || false).unwrap());
    assert_eq!(disk.appends(), before, "who finds it written writes none");
}

#[test]
fn a_failed_write_of_it_fails_nothing_else() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "green tea");
    backend.index_from(0);
    disk.fail(Faults {
        refuse: Some("index.bin.tmp"),
        ..Faults::default()
    });
    assert!(backend.step(at(1).now(), &mut || false).is_err());
    assert!(
        backend.step(at(1).now(), &mut || false).unwrap(),
        "it is not tried again and again"
    );
    disk.fail(Faults::default());
    assert_eq!(disk.names(), [JOURNAL]);
    save(&mut backend, "black tea");
    write_index(&mut backend);
    assert!(agrees(&disk));
}

#[test]
fn a_fingerprint_tells_where_its_parts_end() {
    assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    assert_ne!(fingerprint(&[b"ab"]), fingerprint(&[b"ab", b""]));
}
