//! A scan finds what is wrong, and where.

use super::*;
use crate::store::fake::{FakeDisk, at, save, store_on};

fn scan(disk: &FakeDisk) -> Vec<(String, u64, String)> {
    let store = store_on(disk);
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = store
            .scan(cursor.as_deref(), &mut || true)
            .unwrap()
            .unwrap();
        found.extend(page.found);
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    found
        .into_iter()
        .map(|finding| (finding.file, finding.offset, finding.problem))
        .collect()
}

fn three() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for text in ["a", "b", "c"] {
        save(&mut store, text).unwrap();
    }
    disk
}

/// The start of each line.
fn starts(disk: &FakeDisk) -> Vec<usize> {
    let bytes = disk.bytes(JOURNAL);
    let ends = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

#[test]
fn nothing_is_found_where_all_is_well() {
    assert_eq!(scan(&FakeDisk::default()), []);
    assert_eq!(scan(&three()), []);
}

#[test]
fn each_kind_of_damage_is_found_where_it_is() {
    let check = |change: &dyn Fn(&mut Vec<u8>, &[usize]), expected: &[(usize, &str)]| {
        let disk = three();
        let starts = starts(&disk);
        let mut bytes = disk.bytes(JOURNAL);
        change(&mut bytes, &starts);
        disk.put(JOURNAL, &bytes);
        let found = scan(&disk);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((file, offset, problem), (at, words)) in found.iter().zip(expected) {
            let place = starts.get(*at).copied().unwrap_or(bytes.len());
            assert_eq!(
                (file.as_str(), *offset),
                (JOURNAL, place as u64),
                "{problem}"
            );
            assert!(problem.contains(words), "{problem}");
        }
    };
    check(
        &|bytes, starts| bytes[starts[2] + 60] ^= 1,
        &[(2, "damaged line")],
    );
    check(
        &|bytes, starts| drop(bytes.drain(starts[2]..starts[3])),
        &[(2, "missing")],
    );
    check(
        &|bytes, starts| drop(bytes.drain(..starts[1])),
        &[(0, "header is missing")],
    );
    check(
        &|bytes, _| bytes.truncate(bytes.len() - 10),
        &[(3, "interrupted write")],
    );
    check(&|bytes, _| bytes.truncate(9), &[(0, "never finished")]);
    check(&|bytes, _| bytes.truncate(bytes.len() - 1), &[]);
}

#[test]
fn damage_on_either_side_of_a_pause_is_found() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for number in 0..300 {
        save(&mut store, &format!("{number} {}", "x".repeat(3000))).unwrap();
    }
    let starts = starts(&disk);
    let mut bytes = disk.bytes(JOURNAL);
    for line in [1, 150, 299] {
        bytes[starts[line] + 60] ^= 1;
    }
    bytes.drain(starts[200]..starts[201]);
    disk.put(JOURNAL, &bytes);
    let offsets: Vec<u64> = scan(&disk)
        .into_iter()
        .map(|(_, offset, _)| offset)
        .collect();
    let expected = [starts[1], starts[150], starts[200], starts[298]];
    let length = starts[201] - starts[200];
    assert_eq!(
        offsets,
        [expected[0], expected[1], expected[2], starts[299] - length].map(|at| at as u64)
    );
}

#[test]
fn a_journal_that_was_rewritten_meanwhile_is_scanned_from_its_start() {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for number in 0..200 {
        save(&mut store, &format!("{number} {}", "x".repeat(3000))).unwrap();
    }
    let page = store.scan(None, &mut || true).unwrap().unwrap();
    let cursor = page.next_cursor.unwrap();
    let mut opened = store.follow_all().unwrap().opened;
    store.purge(&[0].into(), &mut opened, at(1).now()).unwrap();
    let mut bytes = disk.bytes(JOURNAL);
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 60] ^= 1;
    disk.put(JOURNAL, &bytes);
    let page = store.scan(Some(&cursor), &mut || false).unwrap().unwrap();
    assert_eq!(page.found.len(), 1);
    assert_eq!(page.found[0].offset, second as u64);
}

#[test]
fn leftover_files_and_set_aside_lines_are_findings() {
    let disk = three();
    disk.put("journal-a-b.tmp", b"x");
    disk.put(
        SET_ASIDE,
        b"{\"generation\":\"g\"}\n\n{\"generation\":\"h\"",
    );
    disk.put("notes.txt", b"x");
    let found: Vec<(String, u64)> = scan(&disk)
        .into_iter()
        .map(|(file, offset, _)| (file, offset))
        .collect();
    assert_eq!(
        found,
        [
            ("journal-a-b.tmp".to_owned(), 0),
            (SET_ASIDE.to_owned(), 0),
            (SET_ASIDE.to_owned(), 20)
        ]
    );
    assert_eq!(store_on(&disk).set_aside_lines().unwrap(), 2);
}

#[test]
fn a_foreign_cursor_is_none() {
    let store = store_on(&three());
    for cursor in ["", "x", "g.x..", "g.1.", "g.1..zz", "g.1..00000000.x"] {
        assert_eq!(
            store.scan(Some(cursor), &mut || true).unwrap(),
            None,
            "{cursor}"
        );
    }
}
