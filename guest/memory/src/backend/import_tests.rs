//! Batches.

use super::super::testing::{backend_on, raw, save};
use super::*;
use crate::config::MAX_TAGS;
use crate::store::fake::{FakeDisk, Faults, at};
use crate::store::journal::JOURNAL;

#[test]
fn an_import_adds_and_merges_as_saves_would_and_is_durable_once() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "known");
    let text = |text: &str| Some(text.to_owned());
    let tagged = |text: &str, tag: &str| RawMemory {
        tags: vec![tag.to_owned()],
        ..raw(text)
    };
    let old = RawMemory {
        kind: text("procedural"),
        importance: Some(8.0),
        created_at: text("2020-01-02T03:04:05.678Z"),
        last_accessed: text("2021-01-02T03:04:05Z"),
        session: text("elsewhere"),
        ..raw("old")
    };
    let gone = RawMemory {
        forgotten_at: text("2022-01-02T03:04:05Z"),
        ..raw("gone")
    };
    let batch = [
        old,
        raw(" "),
        tagged("known", "t"),
        gone.clone(),
        tagged("new", "a"),
        tagged("new", "b"),
        tagged("known", "u"),
        RawMemory {
            importance: Some(11.0),
            ..raw("x")
        },
    ];
    let (size, before) = (disk.bytes(JOURNAL).len(), disk.syncs());
    let planned = backend.import(&batch, true, &at(5)).unwrap();
    assert_eq!(disk.bytes(JOURNAL).len(), size, "a dry run stores nothing");
    let report = backend.import(&batch, false, &at(5)).unwrap();
    assert_eq!(report, planned);
    assert_eq!(disk.syncs(), before + 1);
    assert_eq!(report.ids, [1, 0, 2, 3, 3, 0]);
    assert_eq!((report.added, report.merged), (3, 3));
    let refused: Vec<u32> = report.refused.iter().map(|(at, _)| *at).collect();
    assert_eq!(refused, [1, 7]);
    assert!(report.refused[1].1.contains("importance must be"));

    for mut backend in [backend, backend_on(&disk)] {
        let old = backend.get(1).unwrap().unwrap();
        assert_eq!((old.kind, old.importance), (Kind::Procedural, 8.0));
        assert_eq!(old.created_at.to_string(), "2020-01-02T03:04:05.678Z");
        assert_eq!(old.last_accessed.to_string(), "2021-01-02T03:04:05Z");
        assert_eq!(old.session.as_deref(), Some("elsewhere"));
        assert_eq!(backend.get(0).unwrap().unwrap().tags, ["t", "u"]);
        assert_eq!(backend.get(3).unwrap().unwrap().tags, ["a", "b"]);
        assert_eq!(backend.get(3).unwrap().unwrap().created_at, at(5).now());
        assert_eq!(backend.get(2).unwrap(), None, "it came as forgotten");
        let again = backend.import(&batch, false, &at(6)).unwrap();
        assert_eq!(
            (again.added, again.merged),
            (0, 6),
            "an import can be repeated"
        );
        assert_eq!(again.ids, report.ids);
        assert_eq!(backend.restore(2, &at(7)).unwrap().text, "gone");
        backend.forget(2, &at(8)).unwrap();
    }
}

#[test]
fn an_import_that_fails_has_left_nothing() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "known");
    let size = disk.bytes(JOURNAL).len();
    disk.fail(Faults {
        tear_after: Some(300),
        ..Faults::default()
    });
    let batch = ["a", "b", "c"].map(raw);
    let error = backend
        .import(&batch, false, &at(0))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "the memory store can't be written: the disk is full");
    disk.fail(Faults::default());
    assert_eq!(disk.bytes(JOURNAL).len(), size);
    assert_eq!(backend.entries().unwrap().count(), 1);
    assert_eq!(
        backend.import(&batch, false, &at(0)).unwrap().ids,
        [1, 2, 3]
    );
    let too_many = vec![raw("a"); MAX_IMPORT_BATCH + 1];
    let error = backend
        .import(&too_many, true, &at(0))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("at most 1000") && error.contains("got 1001"),
        "{error}"
    );
}

#[test]
fn merged_tags_keep_their_bound_within_a_batch_as_well() {
    let mut backend = backend_on(&FakeDisk::default());
    let with = |from: usize| RawMemory {
        tags: (from..from + MAX_TAGS).map(|tag| tag.to_string()).collect(),
        ..raw("a")
    };
    let report = backend.import(&[with(0), with(1)], false, &at(0)).unwrap();
    assert_eq!(
        (report.added, report.merged, report.refused.len()),
        (1, 0, 1)
    );
    let report = backend.import(&[with(2)], false, &at(0)).unwrap();
    assert!(
        report.refused[0].1.contains("got 18"),
        "{:?}",
        report.refused
    );
}
