//! Compaction and purge: what they keep, what they erase, and what interrupts them.

use std::collections::BTreeSet;

use super::*;
use crate::config::Kind;
use crate::store::fake::{FakeDisk, Faults, at, save, served, store_on, texts};
use crate::store::journal::JOURNAL;
use crate::store::line::decode;
use crate::store::set_aside::SET_ASIDE;
use crate::store::{Change, Memory};

/// Compacts whatever there is, in slices of a chunk each.
fn compact_by_chunks(store: &mut Store) -> Result<usize, StoreError> {
    store.compact_from = 0;
    let mut slices = 0;
    loop {
        let mut opened = store.follow_all()?.opened;
        slices += 1;
        if store.compact(&mut opened, at(9).now(), &mut || true)? {
            return Ok(slices);
        }
    }
}

/// m0 changed often, m1 forgotten, m2 shown, m3 restored, and m4 that only a torn line had.
fn eventful(disk: &FakeDisk) -> Store {
    let mut store = store_on(disk);
    for text in ["a", "b", "c", "d"] {
        save(&mut store, text).unwrap();
    }
    for importance in 1..9 {
        let change = Change {
            importance: Some(f64::from(importance)),
            tags: Some(vec![format!("tag{importance}")]),
            ..Change::default()
        };
        store
            .update(0, change, at(importance.into()).now())
            .unwrap();
    }
    store.forget(&[1, 3], at(20).now()).unwrap();
    store.restore(&[3], at(21).now()).unwrap();
    for hour in 1..40 {
        store.touch(&[2], at(3600 * hour).now());
    }
    store.forget(&[4], at(30).now()).unwrap();
    store
}

fn everything(store: &mut Store) -> Vec<Memory> {
    let mut opened = store.follow_all().unwrap().opened;
    let ids: Vec<u64> = store.entries().from(0).map(|entry| entry.id).collect();
    ids.into_iter()
        .map(|id| store.memory(&mut opened, id).unwrap().unwrap())
        .collect()
}

#[test]
fn compaction_keeps_every_memory_as_it_is_and_nothing_else() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    let (before, revisions) = (everything(&mut store), store.entries().revisions());
    let old_size = disk.bytes(JOURNAL).len();
    assert_eq!(
        compact_by_chunks(&mut store).unwrap(),
        1,
        "it fits in a chunk"
    );

    assert!(disk.bytes(JOURNAL).len() < old_size / 2);
    assert_eq!(disk.text(JOURNAL).lines().count(), 1 + 4);
    assert_eq!(disk.names(), [JOURNAL], "no temporary file is left");
    assert_eq!(everything(&mut store), before);
    assert_eq!(store.sizes().1, 0, "nothing is dead");
    let mut fresh = store_on(&disk);
    assert_eq!(everything(&mut fresh), before);
    assert_eq!(fresh.entries().revisions(), revisions);
    assert_eq!(fresh.sizes().1, 0);
    assert_eq!((fresh.damaged(), fresh.gaps()), (0, 0));
    assert_eq!(save(&mut store, "new").unwrap(), 5, "m4 was given out");
    assert_eq!(save(&mut fresh, "newer").unwrap(), 6);
}

#[test]
fn small_and_lively_journals_are_left_alone() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    let before = disk.bytes(JOURNAL);
    let step = |store: &mut Store| {
        let mut opened = store.follow_all().unwrap().opened;
        store
            .compact(&mut opened, at(9).now(), &mut || false)
            .unwrap()
    };
    assert!(step(&mut store), "it is small");
    assert_eq!(disk.bytes(JOURNAL), before);

    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    store.compact_from = 0;
    save(&mut store, "a").unwrap();
    store.forget(&[0], at(1).now()).unwrap();
    let before = disk.bytes(JOURNAL);
    assert!(step(&mut store), "less is dead than alive");
    assert_eq!(disk.bytes(JOURNAL), before);
}

#[test]
fn a_big_journal_is_compacted_in_slices_while_everybody_goes_on_writing() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (store_on(&disk), store_on(&disk));
    for number in 0..400 {
        save(&mut ours, &format!("{number} {}", "x".repeat(3000))).unwrap();
    }
    for round in 0..2 {
        for id in 0..400 {
            let change = Change {
                text: Some(format!("{id} round {round} {}", "y".repeat(3000))),
                ..Change::default()
            };
            ours.update(id, change, at(round).now()).unwrap();
        }
    }
    let (mut slices, mut done) = (0, false);
    while !done {
        let mut opened = ours.follow_all().unwrap().opened;
        done = ours
            .compact(&mut opened, at(9).now(), &mut || true)
            .unwrap();
        slices += 1;
        if !done {
            // Between two slices the lock is free.
            save(&mut theirs, &format!("theirs {slices}")).unwrap();
            theirs.forget(&[slices], at(10).now()).unwrap();
            let change = Change {
                text: Some(format!("changed {slices}")),
                ..Change::default()
            };
            theirs.update(slices + 50, change, at(11).now()).unwrap();
            save(&mut ours, &format!("ours {slices}")).unwrap();
        }
    }
    assert!(slices >= 5, "{slices} slices for 1.2 MB");
    let ours_now = everything(&mut ours);
    assert_eq!(everything(&mut theirs), ours_now, "the other one reloads");
    let mut fresh = store_on(&disk);
    assert_eq!(everything(&mut fresh), ours_now);
    assert_eq!(fresh.entries().revisions(), ours.entries().revisions());
    assert_eq!(fresh.entries().revisions(), theirs.entries().revisions());
    assert_eq!((fresh.damaged(), fresh.gaps()), (0, 0));
    assert_eq!(disk.names(), [JOURNAL]);
    let next = 400 + 2 * (slices - 1);
    assert_eq!(save(&mut theirs, "next").unwrap(), next);
    assert_eq!(save(&mut ours, "and next").unwrap(), next + 1);
}

#[test]
fn two_processes_that_compact_at_once_end_with_one_journal() {
    let disk = FakeDisk::default();
    let mut first = store_on(&disk);
    for number in 0..200 {
        save(&mut first, &format!("{number} {}", "x".repeat(3000))).unwrap();
    }
    for id in 0..200 {
        first.forget(&[id], at(1).now()).unwrap();
        first.restore(&[id], at(1).now()).unwrap();
    }
    let mut second = store_on(&disk);
    let before = everything(&mut second);
    // Each is begun, then each is finished.
    for store in [&mut first, &mut second] {
        let mut opened = store.follow_all().unwrap().opened;
        let rewrite = {
            let header = store.next_header(at(9).now());
            store.start_rewrite(header, |_| true).unwrap()
        };
        assert!(
            !store
                .carry_on(rewrite, &mut opened, &mut || true, &[])
                .unwrap()
        );
    }
    assert_eq!(disk.names().len(), 3, "{:?}", disk.names());
    compact_by_chunks(&mut first).unwrap();
    compact_by_chunks(&mut second).unwrap();
    assert_eq!(everything(&mut first), before);
    assert_eq!(everything(&mut second), before);
    assert_eq!(disk.names(), [JOURNAL]);
}

#[test]
fn a_file_that_a_crash_left_goes_with_the_next_compaction() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    disk.put("journal-0123-4567.tmp", b"half a rewri");
    disk.put("journal-notes.txt", b"somebody's own");
    compact_by_chunks(&mut store).unwrap();
    assert_eq!(disk.names(), ["journal-notes.txt", JOURNAL]);
}

#[test]
fn a_compaction_that_fails_leaves_the_journal_and_no_temporary_file() {
    for faults in [
        Faults {
            rename: true,
            ..Faults::default()
        },
        Faults {
            sync: true,
            ..Faults::default()
        },
        Faults {
            tear_after: Some(9),
            ..Faults::default()
        },
        Faults {
            read_only: true,
            ..Faults::default()
        },
    ] {
        let disk = FakeDisk::default();
        let mut store = eventful(&disk);
        let (journal, before) = (disk.bytes(JOURNAL), everything(&mut store));
        disk.fail(faults);
        assert!(compact_by_chunks(&mut store).is_err(), "{faults:?}");
        disk.fail(Faults::default());
        assert_eq!(disk.bytes(JOURNAL), journal, "{faults:?}");
        assert_eq!(disk.names(), [JOURNAL], "{faults:?}");
        assert_eq!(everything(&mut store), before);
        save(&mut store, "goes on").unwrap();
        compact_by_chunks(&mut store).unwrap();
        assert_eq!(everything(&mut store_on(&disk)).len(), before.len() + 1);
    }
}

#[test]
fn a_new_journal_whose_name_may_be_lost_takes_no_acknowledged_save() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    disk.fail(Faults {
        dir_sync: true,
        ..Faults::default()
    });
    assert!(matches!(
        compact_by_chunks(&mut store),
        Err(StoreError::Frozen(_))
    ));
    assert!(matches!(save(&mut store, "x"), Err(StoreError::Frozen(_))));
    let error = save(&mut store_on(&disk), "x").unwrap_err();
    assert!(
        matches!(error, StoreError::Write(_)),
        "another process makes it durable first: {error}"
    );
    disk.fail(Faults::default());
    let syncs = disk.dir_syncs();
    let mut other = store_on(&disk);
    save(&mut other, "x").unwrap();
    save(&mut other, "y").unwrap();
    assert_eq!(disk.dir_syncs(), syncs + 1, "once");
}

#[test]
fn damage_is_set_aside_before_a_rewrite_drops_it_and_never_dropped_otherwise() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    let at_c = disk.text(JOURNAL).find("\"text\":\"c\"").unwrap();
    disk.flip(JOURNAL, at_c + 8);
    // This instance has read the line while it was whole, so it finds out when it copies it.
    let error = compact_by_chunks(&mut store).unwrap_err();
    assert!(matches!(error, StoreError::Unreadable { id: 2 }), "{error}");
    let journal = disk.bytes(JOURNAL);
    disk.fail(Faults {
        refuse: Some(SET_ASIDE),
        ..Faults::default()
    });
    compact_by_chunks(&mut store).unwrap();
    assert_eq!(disk.bytes(JOURNAL), journal, "the only copy is in it");
    disk.fail(Faults::default());
    let mut fresh = store_on(&disk);
    compact_by_chunks(&mut fresh).unwrap();
    assert_eq!(served(&disk), ["a", "d"]);
    assert!(disk.text(SET_ASIDE).contains("m2"));
    assert!(disk.bytes(JOURNAL).len() < journal.len());
    assert_eq!(
        save(&mut fresh, "e").unwrap(),
        5,
        "no id of a lost line comes back"
    );
}

#[test]
fn an_interrupted_write_is_mended_before_a_rewrite_and_its_id_stays_lost() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    let torn = [&disk.bytes(JOURNAL)[..], b"{\"crc\":\"01234567\",\"pr"].concat();
    disk.put(JOURNAL, &torn);
    compact_by_chunks(&mut store).unwrap();
    assert_eq!(save(&mut store_on(&disk), "new").unwrap(), 6);
    assert!(
        disk.text(JOURNAL)
            .lines()
            .all(|line| decode(line.as_bytes()).is_ok())
    );
}

#[test]
fn a_lost_header_is_mended_by_compaction() {
    let disk = FakeDisk::default();
    eventful(&disk);
    let text = disk.text(JOURNAL);
    let (_, rest) = text.split_once('\n').unwrap();
    disk.put(JOURNAL, rest.as_bytes());
    let mut store = store_on(&disk);
    compact_by_chunks(&mut store).unwrap();
    let mut fresh = store_on(&disk);
    fresh.follow_all().unwrap();
    assert_eq!(fresh.damaged() + fresh.gaps(), 0);
    assert_eq!(fresh.entries().store().len(), 32);
    assert_eq!(
        save(&mut fresh, "new").unwrap(),
        1005,
        "the gap is made once"
    );
    assert_eq!(save(&mut store, "newer").unwrap(), 1006);
}

const SECRET: &str = "the \"secret\" of the garden gate";

fn purge(store: &mut Store, ids: &[u64]) -> Result<(), StoreError> {
    let mut opened = store.follow_all()?.opened;
    let ids: BTreeSet<u64> = ids.iter().copied().collect();
    store.purge(&ids, &mut opened, at(50).now())
}

/// Whether some file has a part of a text that is long enough to be told.
fn mentions(disk: &FakeDisk, text: &str) -> Vec<String> {
    let json = serde_json::to_string(text)
        .unwrap()
        .replace(['\\', '"'], "");
    disk.names()
        .into_iter()
        .filter(|name| {
            let bytes = disk.bytes(name);
            let plain = String::from_utf8_lossy(&bytes).replace(['\\', '"'], "");
            json.as_bytes()
                .windows(12)
                .any(|run| plain.contains(std::str::from_utf8(run).unwrap()))
        })
        .collect()
}

#[test]
fn what_is_purged_is_in_no_file_any_more() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    let id = save(&mut store, "draft of the hidden treasure").unwrap();
    let change = Change {
        text: Some(SECRET.to_owned()),
        ..Change::default()
    };
    store.update(id, change, at(40).now()).unwrap();
    // Its line damaged in a copy that was set aside, in the middle of the text and in the id; an index, and rewrites.
    let damaged = format!("xx{}", &SECRET[4..]);
    let record = serde_json::json!({"generation": "g", "offset": 1, "text": format!("\"id\":\"m?\" {damaged}")});
    let other =
        serde_json::json!({"generation": "g", "offset": 2, "text": "\"id\":\"m2\",\"text\":\"c"});
    let by_id = serde_json::json!({"generation": "g", "offset": 3, "text": format!("\"id\":\"m{id}\",\"te")});
    let hex: String = format!("\u{fffd}{SECRET}")
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let hex = serde_json::json!({"generation": "g", "offset": 4, "hex": hex});
    disk.put(
        SET_ASIDE,
        format!("{record}\n{other}\n{by_id}\n{hex}\n").as_bytes(),
    );
    disk.put(INDEX, SECRET.as_bytes());
    disk.put("journal-a-b.tmp", SECRET.as_bytes());
    assert_eq!(mentions(&disk, SECRET).len(), 4);

    let before = everything(&mut store);
    purge(&mut store, &[id, 1]).unwrap();
    assert_eq!(mentions(&disk, SECRET), [""; 0]);
    assert_eq!(mentions(&disk, "draft of the hidden treasure"), [""; 0]);
    assert_eq!(
        disk.text(SET_ASIDE),
        format!("{other}\n"),
        "everything else is kept"
    );
    assert_eq!(disk.names(), [JOURNAL, SET_ASIDE]);
    let kept: Vec<Memory> = before
        .into_iter()
        .filter(|memory| memory.id != id && memory.id != 1)
        .collect();
    let mut fresh = store_on(&disk);
    assert_eq!(everything(&mut store), kept);
    assert_eq!(everything(&mut fresh), kept);
    assert_eq!(store.entries().revisions(), fresh.entries().revisions());
    assert_eq!(
        save(&mut fresh, "new").unwrap(),
        id + 1,
        "ids are not reused"
    );
    assert_eq!(
        save(&mut store, SECRET).unwrap(),
        id + 2,
        "it is not taken for saved"
    );
}

#[test]
fn a_long_record_of_hexadecimal_digits_is_looked_through_as_a_whole() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    save(&mut store, SECRET).unwrap();
    save(&mut store, "other").unwrap();
    let long = |inside: &str| {
        let payload = format!("{}{inside}{}", "z".repeat(40_000), "z".repeat(40_000));
        let hex: String = payload.bytes().map(|byte| format!("{byte:02x}")).collect();
        serde_json::json!({"generation": "g", "offset": 4, "hex": hex}).to_string()
    };
    let (with, without) = (long(SECRET), long("nothing"));
    disk.put(SET_ASIDE, format!("{with}\n{without}\n{with}\n").as_bytes());
    purge(&mut store, &[0]).unwrap();
    assert_eq!(disk.text(SET_ASIDE), format!("{without}\n"));
}

#[test]
fn a_purge_that_fails_has_purged_nothing() {
    for faults in [
        Faults {
            rename: true,
            ..Faults::default()
        },
        Faults {
            sync: true,
            ..Faults::default()
        },
        Faults {
            tear_after: Some(9),
            ..Faults::default()
        },
    ] {
        let disk = FakeDisk::default();
        let mut store = eventful(&disk);
        let before = everything(&mut store);
        disk.fail(faults);
        assert!(purge(&mut store, &[0, 2]).is_err(), "{faults:?}");
        disk.fail(Faults::default());
        assert_eq!(everything(&mut store), before, "{faults:?}");
        assert_eq!(everything(&mut store_on(&disk)), before, "{faults:?}");
        purge(&mut store, &[0, 2]).unwrap();
        assert_eq!(texts(&mut store), ["d"]);
    }
}

#[test]
fn a_purge_stops_another_process_s_compaction() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (eventful(&disk), store_on(&disk));
    let mut opened = theirs.follow_all().unwrap().opened;
    let header = theirs.next_header(at(9).now());
    theirs.rewrite = Some(theirs.start_rewrite(header, |_| true).unwrap());
    drop(opened.0.take());
    purge(&mut ours, &[0]).unwrap();
    compact_by_chunks(&mut theirs).unwrap();
    assert_eq!(texts(&mut theirs), ["c", "d"]);
    assert_eq!(disk.names(), [JOURNAL]);
}

#[test]
fn the_same_memories_survive_many_rounds() {
    let disk = FakeDisk::default();
    let mut store = eventful(&disk);
    for round in 0..5 {
        let id = save(&mut store, &format!("round {round}")).unwrap();
        store.forget(&[id], at(60).now()).unwrap();
        let before = everything(&mut store);
        compact_by_chunks(&mut store).unwrap();
        assert_eq!(everything(&mut store_on(&disk)), before);
    }
    assert_eq!(store.entries().from(0).count(), 4 + 5);
    let mut opened = store.follow_all().unwrap().opened;
    let same = store
        .same(&mut opened, ("round 3", Kind::Episodic), |entry| {
            !entry.is_living()
        })
        .unwrap();
    assert!(
        same.is_some(),
        "a forgotten one is still there to be restored"
    );
}
