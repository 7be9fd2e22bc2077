//! What the journal adds up to.

use super::*;
use fake::{FakeDisk, Faults, at, store_on};
use journal::{Found, JOURNAL};

fn saved(disk: &FakeDisk, texts: &[&str]) -> Store {
    let mut store = store_on(disk);
    for text in texts {
        store.follow_all().unwrap();
        store
            .save(text, Kind::Semantic, &["tag".to_owned()], 7.0, &at(0))
            .unwrap();
    }
    store
}

fn same(store: &mut Store, text: &str, kind: Kind) -> Option<u64> {
    let mut opened = store.follow_all().unwrap().opened;
    store
        .same(&mut opened, (text, kind), Entry::is_living)
        .unwrap()
        .map(|entry| entry.id)
}

fn reopened(disk: &FakeDisk) -> Store {
    let mut store = store_on(disk);
    store.follow_all().unwrap();
    store
}

#[test]
fn a_memory_comes_back_as_it_was() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["text"]);
    store
        .update(
            0,
            Change {
                tags: Some(vec!["a".to_owned(), "b".to_owned()]),
                importance: Some(9.5),
                ..Change::default()
            },
            at(5).now(),
        )
        .unwrap();
    let mut reopened = reopened(&disk);
    assert_eq!(reopened.entries().get(0), store.entries().get(0));
    let mut opened = reopened.follow_all().unwrap().opened;
    let memory = reopened.memory(&mut opened, 0).unwrap().unwrap();
    assert_eq!(
        (memory.text.as_str(), memory.kind, memory.importance),
        ("text", Kind::Semantic, 9.5)
    );
    assert_eq!(memory.tags, ["a", "b"]);
    assert_eq!(memory.session.as_deref(), Some("session-1"));
    assert_eq!(
        (memory.created_at, memory.modified_at),
        (at(0).now(), at(5).now())
    );
}

#[test]
fn a_line_that_was_replaced_by_another_intact_one_is_not_shown_in_its_place() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["black tea", "other"]);
    let text = disk.text(JOURNAL);
    let old = text.lines().nth(1).unwrap();
    let line = line::decode(old.as_bytes()).unwrap();
    let Event::Save(mut save) = line.event else {
        panic!("{old}")
    };
    save.text = "white tea".to_owned();
    let (new, _) = line::encode(line.prev, &Event::Save(save)).unwrap();
    let new = String::from_utf8(new).unwrap();
    disk.put(JOURNAL, text.replace(old, new.trim_end()).as_bytes());
    assert_eq!(store.text(0), None);
    assert_eq!(store.text(1).as_deref(), Some("other"));
    assert_eq!(store.take_warnings().len(), 1);
}

#[test]
fn nothing_is_opened_before_the_first_call() {
    let disk = FakeDisk::default();
    disk.fail(Faults {
        missing: true,
        ..Faults::default()
    });
    let store = store_on(&disk);
    assert!(store.entries().get(0).is_none());
    assert!(store.writable().is_ok());
}

#[test]
fn ids_are_not_reused_after_reopening() {
    let disk = FakeDisk::default();
    saved(&disk, &["a", "b"]);
    let mut store = reopened(&disk);
    assert_eq!(
        store.save("c", Kind::Episodic, &[], 5.0, &at(0)).unwrap(),
        2
    );
}

#[test]
fn forgotten_memories_are_gone_until_they_are_restored_and_keep_their_ids() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["a", "b"]);
    store.forget(&[1, 9], at(1).now()).unwrap();
    let mut store = reopened(&disk);
    assert!(store.entries().get(1).is_none());
    assert_eq!(same(&mut store, "b", Kind::Semantic), None);
    assert_eq!(store.entries().newest_first(None).count(), 1);
    assert_eq!(
        store.save("b", Kind::Semantic, &[], 5.0, &at(2)).unwrap(),
        10,
        "m9 was named, so it was given out"
    );
    store.restore(&[1], at(3).now()).unwrap();
    assert_eq!(reopened(&disk).text(1).as_deref(), Some("b"));
    assert_eq!(reopened(&disk).text(10).as_deref(), Some("b"), "both live");
}

#[test]
fn an_update_of_text_or_kind_is_found_under_what_it_says_now() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["old"]);
    let (text, kind) = (Some("new".to_owned()), Some(Kind::Procedural));
    let change = Change {
        text,
        kind,
        ..Change::default()
    };
    store.update(0, change, at(1).now()).unwrap();
    let mut store = reopened(&disk);
    assert_eq!(same(&mut store, "old", Kind::Semantic), None);
    assert_eq!(same(&mut store, "new", Kind::Procedural), Some(0));
    assert_eq!(
        store.entries().get(0).unwrap().tags,
        ["tag"],
        "what is not named stays"
    );
}

#[test]
fn a_kind_can_change_alone() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["text"]);
    let change = Change {
        kind: Some(Kind::Procedural),
        ..Change::default()
    };
    store.update(0, change, at(1).now()).unwrap();
    for mut store in [store, reopened(&disk)] {
        assert_eq!(same(&mut store, "text", Kind::Semantic), None);
        assert_eq!(same(&mut store, "text", Kind::Procedural), Some(0));
        assert_eq!(store.text(0).as_deref(), Some("text"));
    }
}

#[test]
fn a_touch_is_in_memory_at_once_and_on_disk_at_most_once_an_hour() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["a", "b"]);
    let lines = || disk.text(JOURNAL).lines().count();
    let before = (lines(), disk.syncs());

    store.touch(&[0], at(60).now());
    assert_eq!(store.entries().get(0).unwrap().last_accessed, at(60).now());
    assert_eq!(lines(), before.0, "within the hour after it was saved");

    store.touch(&[0, 1], at(3600).now());
    store.touch(&[0, 1], at(3601).now());
    store.touch(&[0], at(7199).now());
    assert_eq!(
        lines(),
        before.0 + 1,
        "one line for both, and none for an hour"
    );
    store.touch(&[0], at(7200).now());
    assert_eq!(
        (lines(), disk.syncs()),
        (before.0 + 2, before.1),
        "without a sync"
    );

    let reopened = reopened(&disk);
    assert_eq!(
        reopened.entries().get(0).unwrap().last_accessed,
        at(7200).now()
    );
    assert_eq!(
        reopened.entries().get(1).unwrap().last_accessed,
        at(3600).now()
    );
}

#[test]
fn a_touch_that_can_not_be_written_counts_in_memory() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["a"]);
    let before = disk.bytes(JOURNAL);
    for faults in [
        Faults {
            read_only: true,
            ..Faults::default()
        },
        Faults {
            tear_after: Some(9),
            ..Faults::default()
        },
        Faults {
            refuse: Some(JOURNAL),
            ..Faults::default()
        },
    ] {
        disk.fail(faults);
        store.touch(&[0], at(7200).now());
        assert_eq!(
            store.entries().get(0).unwrap().last_accessed,
            at(7200).now()
        );
        assert_eq!(disk.bytes(JOURNAL), before);
    }
}

#[test]
fn a_clock_that_goes_back_moves_no_access_back() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["a"]);
    store.touch(&[0], Timestamp::UNIX_EPOCH);
    assert_eq!(store.entries().get(0).unwrap().last_accessed, at(0).now());
}

#[test]
fn events_that_contradict_what_is_known_are_refused() {
    let mut entries = Entries::default();
    let save = Save {
        id: Id(4),
        text: "a".to_owned(),
        kind: Kind::Episodic,
        tags: vec![],
        importance: 5.0,
        created_at: at(0).now(),
        session: None,
        modified_at: None,
        last_accessed: None,
        forgotten_at: None,
        revision: None,
    };
    entries
        .apply(Found::Event(Event::Save(save.clone()), Default::default()))
        .unwrap();
    assert!(
        entries
            .apply(Found::Event(
                Event::Save(Save {
                    text: "b".to_owned(),
                    ..save
                }),
                Default::default(),
            ))
            .is_err()
    );
    assert_eq!(
        entries.candidates("a", Kind::Episodic).count(),
        1,
        "as it was"
    );
    let update = Update {
        id: Id(5),
        at: at(0).now(),
        text: None,
        kind: None,
        tags: None,
        importance: None,
    };
    let update = Found::Event(Event::Update(update), Default::default());
    assert!(entries.apply(update).is_err());
}

#[test]
fn ids_run_out_without_a_panic() {
    let disk = FakeDisk::default();
    let mut store = saved(&disk, &["a"]);
    store.forget(&[u64::MAX], at(0).now()).unwrap();
    let outcome = store.save("b", Kind::Episodic, &[], 5.0, &at(0));
    assert!(matches!(outcome, Err(StoreError::NoIdsLeft)));
}
