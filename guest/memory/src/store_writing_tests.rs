//! Disks that fail, and other processes that write.

use super::*;
use fake::{FakeDisk, Faults, at, save, served, store_on, texts};
use journal::JOURNAL;

#[test]
fn a_failing_append_changes_nothing() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, "kept").unwrap();
    let before = disk.bytes(JOURNAL);
    for tear_after in [0, 1, 40, 100] {
        disk.fail(Faults {
            tear_after: Some(tear_after),
            ..Faults::default()
        });
        assert!(matches!(
            save(&mut store, "lost"),
            Err(StoreError::Write(_))
        ));
        assert_eq!(disk.bytes(JOURNAL), before, "torn after {tear_after}");
        assert_eq!(texts(&mut store), ["kept"]);
    }
    disk.fail(Faults::default());
    assert_eq!(save(&mut store, "next").unwrap(), 1);
    assert_eq!(served(&disk), ["kept", "next"]);
}

#[test]
fn a_torn_append_that_can_not_be_undone_freezes_this_instance_only() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, "kept").unwrap();
    disk.fail(Faults {
        tear_after: Some(30),
        cut: true,
        ..Faults::default()
    });
    assert!(matches!(
        save(&mut store, "lost"),
        Err(StoreError::InDoubt(_))
    ));
    disk.fail(Faults::default());
    let error = save(&mut store, "again").unwrap_err().to_string();
    assert!(
        error.contains("started again") && error.contains("disk"),
        "{error}"
    );
    store.follow_all().unwrap();
    assert_eq!(texts(&mut store), ["kept"], "reading goes on");
    assert_eq!(
        save(&mut store_on(&disk), "fresh").unwrap(),
        2,
        "m1 may have been shown"
    );
    assert_eq!(served(&disk), ["kept", "fresh"]);
}

#[test]
fn a_write_that_may_be_there_is_not_said_to_have_failed() {
    for faults in [
        Faults {
            sync: true,
            cut: true,
            ..Faults::default()
        },
        Faults {
            tear_after: Some(30),
            cut: true,
            ..Faults::default()
        },
    ] {
        let disk = FakeDisk::default();
        let mut store = store_on(&disk);
        save(&mut store, "kept").unwrap();
        disk.fail(faults);
        let error = save(&mut store, "open").unwrap_err();
        assert!(matches!(error, StoreError::InDoubt(_)), "{error}");
        disk.fail(Faults::default());
        assert!(matches!(
            save(&mut store, "open"),
            Err(StoreError::Frozen(_))
        ));
    }
}

#[test]
fn a_failing_sync_is_not_acknowledged_and_never_retried() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, "kept").unwrap();
    disk.fail(Faults {
        sync: true,
        ..Faults::default()
    });
    assert!(matches!(
        save(&mut store, "lost"),
        Err(StoreError::Frozen(_))
    ));
    let syncs = disk.syncs();
    disk.fail(Faults::default());
    assert!(matches!(
        save(&mut store, "lost"),
        Err(StoreError::Frozen(_))
    ));
    assert_eq!(disk.syncs(), syncs);
    assert_eq!(texts(&mut store), ["kept"]);
    assert_eq!(
        served(&disk),
        ["kept"],
        "a fresh instance does not take it for saved either"
    );
}

#[test]
fn a_failing_sync_while_creating_leaves_no_half_of_a_store() {
    let disk = FakeDisk::default();
    disk.fail(Faults {
        sync: true,
        ..Faults::default()
    });
    assert!(save(&mut store_on(&disk), "lost").is_err());
    disk.fail(Faults::default());
    assert_eq!(save(&mut store_on(&disk), "kept").unwrap(), 0);
    assert_eq!(served(&disk), ["kept"]);
}

#[test]
fn a_save_is_durable_before_it_is_acknowledged() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, "one").unwrap();
    assert_eq!(
        (disk.syncs(), disk.dir_syncs()),
        (2, 1),
        "header and line; the new file's directory"
    );
    save(&mut store, "two").unwrap();
    assert_eq!((disk.syncs(), disk.dir_syncs()), (3, 1));
}

#[test]
fn what_another_process_appends_is_seen() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (store_on(&disk), store_on(&disk));
    assert_eq!(save(&mut ours, "a").unwrap(), 0);
    assert_eq!(save(&mut theirs, "b").unwrap(), 1);
    assert_eq!(save(&mut ours, "c").unwrap(), 2);
    theirs.follow_all().unwrap();
    assert_eq!(texts(&mut theirs), ["a", "b", "c"]);
    assert_eq!(theirs.gaps() + theirs.damaged(), 0);
}

#[test]
fn another_process_that_writes_between_reading_and_writing_is_not_overwritten() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (store_on(&disk), store_on(&disk));
    save(&mut ours, "a").unwrap();
    ours.follow_all().unwrap();
    save(&mut theirs, "b").unwrap();
    assert!(matches!(
        ours.save("c", Kind::Episodic, &[], 5.0, &at(0)),
        Err(StoreError::Changed)
    ));
    assert_eq!(served(&disk), ["a", "b"]);
    assert_eq!(save(&mut ours, "c").unwrap(), 2);
}

#[test]
fn a_replaced_journal_is_read_afresh() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, "old").unwrap();

    let other = FakeDisk::default();
    let mut writer = store_on(&other);
    for text in ["new", "newer"] {
        save(&mut writer, text).unwrap();
    }
    disk.put(JOURNAL, &other.bytes(JOURNAL));
    assert!(store.follow_all().unwrap().was_reset);
    assert_eq!(texts(&mut store), ["new", "newer"]);
    assert_eq!(save(&mut store, "newest").unwrap(), 2);

    disk.put(JOURNAL, b"");
    assert!(store.follow_all().unwrap().was_reset);
    assert_eq!(texts(&mut store), [""; 0]);
    assert_eq!(save(&mut store, "first").unwrap(), 0);
}
