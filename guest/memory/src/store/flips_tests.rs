//! Every bit of a small journal that has every event, flipped, with and without a snapshot beside it; and every cut.
//!
//! No text is ever shown that was not saved, what is intact is served, what is damaged is said where it is, and no id is given
//! out again.

use super::*;
use fake::{FakeDisk, at, store_on};
use journal::JOURNAL;
use set_aside::SET_ASIDE;

use super::checksum::checksum;

use crate::backend::MemoryBackend;
use crate::security::{SaveArgs, SearchArgs};

/// Id, text, and whether it is forgotten.
type View = Vec<(u64, String, bool)>;

/// One line of each event, and a text that was superseded.
fn journal() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for text in ["zero", "one \"1\"\n", "two é"] {
        fake::save(&mut store, text).unwrap();
    }
    let text = Some("zero again".to_owned());
    let change = Change {
        text,
        ..Change::default()
    };
    store.update(0, change, at(1).now()).unwrap();
    store.touch(&[0, 1], at(9000).now());
    store.forget(&[1], at(2).now()).unwrap();
    store.restore(&[1], at(3).now()).unwrap();
    store.forget(&[2], at(4).now()).unwrap();
    disk
}

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), fake::random_ids())
}

fn view(backend: &mut MemoryBackend) -> View {
    let page = backend.export(None, 99, true).unwrap();
    let seen = |memory: crate::backend::Memory| {
        let forgotten = memory.forgotten_at.is_some();
        (memory.id, memory.text, forgotten)
    };
    page.memories.into_iter().map(seen).collect()
}

/// What a journal says without one of its lines, whatever that says.
fn without(text: &str, line: usize) -> View {
    let lines = text.split_inclusive('\n').enumerate();
    let rest: String = lines
        .filter(|(at, _)| *at != line)
        .map(|(_, line)| line)
        .collect();
    let disk = FakeDisk::default();
    disk.put(JOURNAL, rest.as_bytes());
    view(&mut backend_on(&disk))
}

fn save_new(backend: &mut MemoryBackend) -> u64 {
    let args = SaveArgs {
        text: "new".to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    };
    backend.save(&args, &at(99)).unwrap().id
}

#[test]
fn a_flipped_bit_takes_away_at_most_the_line_that_it_is_in() {
    let whole = journal();
    let text = whole.text(JOURNAL);
    let lines = text.lines().count();
    let lacking: Vec<View> = (0..lines).map(|line| without(&text, line)).collect();
    let everything = view(&mut backend_on(&whole));
    let mut flips = 0;
    for byte in 0..text.len() {
        let before = &text.as_bytes()[..byte];
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let newline = before.iter().rposition(|byte| *byte == b'\n');
        let start = newline.map_or(0, |newline| newline + 1);
        for bit in 0..8 {
            let disk = FakeDisk::default();
            disk.put(JOURNAL, text.as_bytes());
            disk.flip_bit(JOURNAL, byte, bit);
            let case = format!("bit {bit} of byte {byte}, in line {line}");
            let mut backend = backend_on(&disk);
            let seen = view(&mut backend);
            let is_newline = text.as_bytes()[byte] == b'\n';
            // In a header nothing is of the memories; between two lines nothing is of either.
            let expected = if is_newline || line == 0 {
                &everything
            } else {
                &lacking[line]
            };
            assert_eq!(&seen, expected, "{case}");
            let found = backend.verify(None, &mut || false).unwrap().found;
            let is_last = byte + 1 == text.len();
            let said = found
                .iter()
                .any(|finding| finding.file == JOURNAL && finding.offset >= start as u64);
            let is_harmless = is_newline && disk.bytes(JOURNAL)[byte] == b'\r';
            assert!(said || is_last || is_harmless, "{case}: {found:?}");
            assert!(save_new(&mut backend) > 2, "{case}");
            flips += 1;
        }
    }
    eprintln!("{flips} flips of a journal of {} bytes", text.len());
}

#[test]
fn a_flipped_bit_behind_a_snapshot_shows_no_text_that_was_not_saved() {
    let whole = journal();
    let mut backend = backend_on(&whole);
    backend.index_from(0);
    assert!(backend.step(at(9).now(), &mut || false).unwrap());
    let everything = view(&mut backend_on(&whole));
    let (journal, index) = (whole.bytes(JOURNAL), whole.bytes(INDEX));
    let mut flips = 0;
    // A single flipped bit changes a CRC-32 whichever it is, so that one of them in turn stands for all eight.
    for byte in 0..journal.len() {
        let disk = FakeDisk::default();
        disk.put(JOURNAL, &journal);
        disk.put(INDEX, &index);
        disk.flip_bit(JOURNAL, byte, (byte % 8) as u8);
        let mut backend = backend_on(&disk);
        let seen = view(&mut backend);
        for memory in &seen {
            let was_saved = everything.contains(memory)
                || matches!(memory, (0, text, false) if text == "zero")
                || matches!(memory, (1, _, true)) && memory.1 == everything[1].1
                || matches!(memory, (2, _, false)) && memory.1 == everything[2].1;
            assert!(was_saved, "byte {byte}: {memory:?}");
        }
        assert!(seen.len() + 1 >= everything.len(), "byte {byte}: {seen:?}");
        assert!(save_new(&mut backend) > 2, "byte {byte}");
        flips += 1;
    }
    eprintln!("{flips} flips behind a snapshot");
}

#[test]
fn a_journal_that_is_cut_anywhere_says_what_its_whole_lines_say() {
    let text = journal().text(JOURNAL);
    let mut cuts = 0;
    for end in 0..text.len() {
        let disk = FakeDisk::default();
        disk.put(JOURNAL, &text.as_bytes()[..end]);
        // A line that lacks only its newline is whole.
        let cut = &text[..text.floor_char_boundary(end)];
        let lacks_newline = text.as_bytes()[end] == b'\n';
        let whole = if lacks_newline {
            end
        } else {
            cut.rfind('\n').map_or(0, |at| at + 1)
        };
        let expected = FakeDisk::default();
        expected.put(JOURNAL, &text.as_bytes()[..whole]);
        let mut backend = backend_on(&disk);
        assert_eq!(
            view(&mut backend),
            view(&mut backend_on(&expected)),
            "{end} bytes"
        );
        let known = view(&mut backend).len() as u64;
        let id = save_new(&mut backend);
        assert!(id >= known, "{end} bytes: m{id}");
        let is_torn = end > whole;
        let aside = disk.bytes(SET_ASIDE);
        assert_eq!(!aside.is_empty(), is_torn, "{end} bytes");
        cuts += 1;
    }
    eprintln!("{cuts} cuts");
}

/// Makes the checksums of a snapshot true again: those of its parts, then that of its head (see [`super::index`]).
fn seal(snapshot: &mut [u8]) {
    const LENGTHS: usize = 96;
    const PARTS: usize = 144;
    let mut start = PARTS;
    for at in (LENGTHS..PARTS).step_by(16) {
        let length = u64::from_le_bytes(snapshot[at..at + 8].try_into().unwrap());
        let end = start + usize::try_from(length).unwrap();
        let sum = checksum(&snapshot[start..end]);
        snapshot[at + 8..at + 16].copy_from_slice(&sum.to_le_bytes());
        start = end;
    }
    assert_eq!(start, snapshot.len());
    let crc = crc32fast::hash(&snapshot[12..PARTS]);
    snapshot[8..12].copy_from_slice(&crc.to_le_bytes());
}

/// No checksum tells what was changed on purpose.
#[test]
fn a_snapshot_that_was_changed_and_sealed_again_shows_no_text_that_was_not_saved() {
    let whole = journal();
    let mut backend = backend_on(&whole);
    backend.index_from(0);
    assert!(backend.step(at(9).now(), &mut || false).unwrap());
    let (journal, index) = (whole.bytes(JOURNAL), whole.bytes(INDEX));
    let saved = ["zero", "zero again", "one \"1\"\n", "two é", "new"];
    let mut resealed = index.clone();
    seal(&mut resealed);
    assert_eq!(resealed, index);
    for byte in 144..index.len() {
        for change in [1, 0x7f, 0x80, 0xff] {
            let mut index = index.clone();
            index[byte] ^= change;
            seal(&mut index);
            let disk = FakeDisk::default();
            disk.put(JOURNAL, &journal);
            disk.put(INDEX, &index);
            let mut backend = backend_on(&disk);
            let search = SearchArgs::for_query("zero one two".to_owned());
            let found = backend.search(&search, &at(100));
            let hits = found.into_iter().flat_map(|found| found.memories);
            let shown = hits.map(|hit| hit.text);
            let page = backend.export(None, 99, true);
            let listed = page.into_iter().flat_map(|page| page.memories);
            for text in shown.chain(listed.map(|memory| memory.text)) {
                assert!(saved.contains(&text.as_str()), "byte {byte}: {text}");
            }
            let args = SaveArgs {
                text: "new".to_owned(),
                kind: Kind::Episodic,
                importance: None,
                tags: vec![],
            };
            // A number that was made the last there is leaves none for it.
            if backend.save(&args, &at(101)).is_ok() {
                assert!(disk.text(JOURNAL).contains("\"new\""), "byte {byte}");
            }
        }
    }
}
