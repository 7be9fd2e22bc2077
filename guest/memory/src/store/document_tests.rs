//! `docs/STORE.md` is true: its examples are read by the reader and are what the writer writes.

use super::*;
use checksum::checksum;
use fake::{FakeDisk, store_on};
use journal::JOURNAL;
use line::{MAX_LINE_BYTES, decode, encode};
use set_aside::SET_ASIDE;

use crate::backend::MemoryBackend;

const DOCUMENT: &str = include_str!("../../../../docs/STORE.md");

/// The contents of the blocks of JSON lines, in their order: a journal, the same compacted, a record that was set aside.
fn examples() -> [&'static str; 3] {
    let mut blocks = DOCUMENT.split("```jsonl\n").skip(1);
    let mut next = || blocks.next().unwrap().split("```").next().unwrap();
    let examples = [next(), next(), next()];
    assert_eq!(blocks.count(), 0, "an example that is not checked");
    examples
}

fn disk_with(journal: &str) -> FakeDisk {
    let disk = FakeDisk::default();
    disk.put(JOURNAL, journal.as_bytes());
    disk
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn each_line_is_what_the_writer_writes() {
    for journal in &examples()[..2] {
        let mut prev = 0;
        for line in journal.lines() {
            let read = decode(line.as_bytes()).unwrap();
            assert_eq!(read.prev, prev);
            let (written, crc) = encode(prev, &read.event).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), format!("{line}\n"));
            prev = crc;
        }
    }
    assert!(DOCUMENT.contains("At most 35,008 bytes") && MAX_LINE_BYTES == 35_008);
}

#[test]
fn each_journal_says_what_is_said_of_it() {
    for journal in &examples()[..2] {
        let disk = disk_with(journal);
        let mut backend = MemoryBackend::new(Box::new(disk.clone()), Box::new(|| [0; 16]));
        let memories = backend.export(None, 99, true).unwrap().memories;
        let said: Vec<_> = memories
            .iter()
            .map(|memory| (memory.id, memory.text.as_str(), memory.forgotten_at))
            .collect();
        let forgotten = Some(time("2026-12-01T10:02:00Z"));
        assert_eq!(
            said,
            [
                (0, "the demo is on June 21", None),
                (1, "I prefer dark mode", forgotten)
            ]
        );
        assert_eq!(memories[0].last_accessed, time("2026-12-01T09:30:00Z"));
        assert_eq!(backend.take_warnings(), [""; 0]);
        assert_eq!(backend.verify(None, &mut || false).unwrap().found, []);
    }
}

#[test]
fn the_one_journal_is_the_other_one_compacted() {
    let [journal, compacted, _] = examples();
    let disk = disk_with(journal);
    let generation = 0x9f8e_7d6c_5b4a_3928_1706_f5e4_d3c2_b1a0_u128.to_be_bytes();
    let mut store = Store::new(Box::new(disk.clone()), Box::new(move || generation));
    store.compact_from = 0;
    let mut opened = store.follow_all().unwrap().opened;
    let at = time("2026-12-02T10:00:00Z");
    assert!(store.compact(&mut opened, at, &mut || false).unwrap());
    assert_eq!(disk.text(JOURNAL), compacted);
}

#[test]
fn the_record_is_what_is_set_aside_of_a_damaged_line() {
    let [journal, _, record] = examples();
    let disk = disk_with(&journal.replace("dark mode", "dark m?de"));
    store_on(&disk).follow_all().unwrap();
    assert_eq!(disk.text(SET_ASIDE), record);
}

#[test]
fn the_head_of_a_snapshot_is_as_in_the_table() {
    let [journal, ..] = examples();
    let disk = disk_with(journal);
    let mut store = store_on(&disk);
    store.follow_all().unwrap();
    store.write_index(&Derived::default()).unwrap();
    let index = disk.bytes(INDEX);
    let mut end = 0;
    let (_, table) = DOCUMENT.split_once("| offset | bytes | what |\n").unwrap();
    for row in table.lines().skip(1).take_while(|row| !row.is_empty()) {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let offset: usize = cells.next().unwrap().parse().unwrap();
        assert_eq!(offset, end, "{row}");
        end += cells.next().unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(end, 144);
    let four = |at: usize| u32::from_le_bytes(index[at..at + 4].try_into().unwrap());
    let eight = |at: usize| u64::from_le_bytes(index[at..at + 8].try_into().unwrap());
    let first = journal.find('\n').unwrap() + 1;
    let last = journal.trim_end().rfind('\n').unwrap() + 1;
    assert_eq!(&index[..8], b"pmindex\0");
    assert_eq!(four(8), crc32fast::hash(&index[12..144]));
    assert_eq!(four(12), 2);
    assert_eq!(four(24), crc32fast::hash(&journal.as_bytes()[..first]));
    assert_eq!(four(28) as usize, first);
    assert_eq!(eight(32) as usize, journal.len());
    assert_eq!(eight(40) as usize, last);
    assert_eq!(&index[48..65], &journal.as_bytes()[last..last + 17]);
    assert_eq!((four(68), four(72)), (17, 1));
    assert_eq!(format!("{:08x}", four(76)), journal[last + 8..last + 16]);
    assert_eq!((eight(80), eight(88)), (0, 0));
    let lengths = [96, 112, 128].map(|at| eight(at) as usize);
    assert_eq!(144 + lengths.iter().sum::<usize>(), index.len());
    assert_eq!(eight(104), checksum(&index[144..144 + lengths[0]]));
}

#[test]
fn a_line_whose_checksum_was_made_anew_by_hand_is_served_with_one_gap() {
    let [journal, ..] = examples();
    let edited = journal.replace("I prefer dark mode", "I prefer light mode");
    let mended: String = edited
        .lines()
        .map(|line| {
            format!(
                "{{\"crc\":\"{:08x}\",{}\n",
                crc32fast::hash(&line.as_bytes()[18..]),
                &line[18..]
            )
        })
        .collect();
    let disk = disk_with(&mended);
    let mut store = store_on(&disk);
    store.follow_all().unwrap();
    assert_eq!((store.damaged(), store.gaps()), (0, 1));
    store.restore(&[1], time("2026-12-03T00:00:00Z")).unwrap();
    assert_eq!(store.text(1).as_deref(), Some("I prefer light mode"));
}
