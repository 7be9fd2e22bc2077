//! Exports, figures, scans and purges.

use super::super::testing::{backend_on, damage, raw, save};
use super::*;
use crate::security::RawMemory;
use crate::store::fake::{FakeDisk, at};
use crate::store::journal::JOURNAL;

#[test]
fn an_export_is_complete_and_comes_in_pages() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for number in 0..25 {
        save(&mut backend, &number.to_string());
    }
    backend.forget(3, &at(1)).unwrap();
    let ids = |backend: &mut MemoryBackend, forgotten| {
        let (mut ids, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = backend.export(cursor.as_deref(), 10, forgotten).unwrap();
            assert!(page.memories.len() <= 10);
            ids.extend(page.memories.iter().map(|memory| memory.id));
            pages += 1;
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return (ids, pages),
            }
        }
    };
    assert_eq!(ids(&mut backend, true), ((0..25).collect(), 3));
    let living: Vec<u64> = (0..25).filter(|id| *id != 3).collect();
    assert_eq!(ids(&mut backend, false), (living, 3));
    for (cursor, limit) in [(Some("x"), 1), (Some(""), 1), (None, 0)] {
        let outcome = backend.export(cursor, limit, true);
        assert!(
            matches!(outcome, Err(ChangeError::Invalid(_))),
            "{cursor:?} {limit}"
        );
    }
    let big: Vec<RawMemory> = (0..MAX_EXPORT_PAGE)
        .map(|number| raw(&format!("n{number}")))
        .collect();
    backend.import(&big, false, &at(0)).unwrap();
    let page = backend.export(None, usize::MAX, true).unwrap();
    assert_eq!(page.memories.len(), MAX_EXPORT_PAGE, "a higher wish is cut");
    assert!(page.next_cursor.is_some());
}

#[test]
fn any_memory_is_shown_forgotten_or_not() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "hidden");
    save(&mut backend, "broken");
    backend.forget(0, &at(1)).unwrap();
    let memory = backend.any(0).unwrap();
    assert_eq!(
        (memory.text.as_str(), memory.forgotten_at),
        ("hidden", Some(at(1).now()))
    );
    assert!(matches!(
        backend.any(7),
        Err(ChangeError::NotFound { id: 7 })
    ));
    damage(&disk, "broken");
    assert!(backend.any(1).is_err(), "its text is not made up");
}

#[test]
fn figures_and_a_scan_say_what_is_there() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let empty = backend.statistics().unwrap();
    assert_eq!(
        (empty.living, empty.forgotten, empty.journal_bytes),
        (0, 0, 0)
    );
    for text in ["a", "b", "c"] {
        save(&mut backend, text);
    }
    let clean = backend.statistics().unwrap();
    assert_eq!(
        (clean.living, clean.dead_bytes, clean.damaged_lines),
        (3, 0, 0)
    );
    backend.forget(0, &at(1)).unwrap();
    disk.put("index.bin", &[0; 77]);
    damage(&disk, "\"text\":\"c\"");
    let mut fresh = backend_on(&disk);
    let figures = fresh.statistics().unwrap();
    assert_eq!((figures.living, figures.forgotten), (1, 1));
    assert_eq!(figures.journal_bytes, disk.bytes(JOURNAL).len() as u64);
    assert!(figures.dead_bytes > 200, "{figures:?}");
    assert_eq!(
        (figures.index_bytes, figures.damaged_lines, figures.format),
        (77, 1, 1)
    );
    let findings = fresh.verify(None, &mut || false).unwrap();
    assert_eq!(findings.found.len(), 2, "the line, and the copy of it");
    assert!(matches!(
        fresh.verify(Some("x"), &mut || false),
        Err(ChangeError::Invalid(_))
    ));
}

#[test]
fn a_purge_names_what_is_not_there_and_purges_nothing_then() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "a");
    let outcome = backend.purge(&[0, 7], &at(0));
    assert!(matches!(outcome, Err(ChangeError::NotFound { id: 7 })));
    assert_eq!(backend.get(0).unwrap().unwrap().text, "a");
    assert_eq!(backend.purge(&[0, 0], &at(0)).unwrap(), 1, "each once");
    assert!(matches!(
        backend.purge(&[0], &at(0)),
        Err(ChangeError::NotFound { id: 0 })
    ));
    assert_eq!(backend.purge(&[], &at(0)).unwrap(), 0);
}

#[test]
fn a_purge_is_not_hindered_by_the_damage_of_others() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for text in ["a secret of some length", "b", "c"] {
        save(&mut backend, text);
    }
    damage(&disk, "\"text\":\"b\"");
    assert_eq!(backend.purge(&[0], &at(0)).unwrap(), 1);
    let (page, _) = backend.page(None, 9).unwrap();
    let texts: Vec<&str> = page.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, ["c"]);
    for name in disk.names() {
        assert!(!disk.text(&name).contains("secret"), "{name}");
    }
    assert_eq!(save(&mut backend, "d"), 3);
}
