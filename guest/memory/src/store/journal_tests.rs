//! Damaged, torn and foreign journals.

use super::*;
use crate::config::Kind;
use crate::store::Store;
use crate::store::event::FORMAT;
use crate::store::fake::{FakeDisk, Faults, at, store_on};
use crate::store::line::decode;

/// Texts that a line format gets wrong if it can.
const TEXTS: [&str; 3] = ["first", "two\nlines \"quoted\" }", "drei \u{2028} ü 🎉"];

fn save(store: &mut Store, text: &str) -> Result<u64, StoreError> {
    store.follow()?;
    store.save(text, Kind::Episodic, &[], 5.0, &at(0))
}

/// Texts of the living, oldest first, as a fresh instance finds them.
fn served(disk: &FakeDisk) -> Vec<String> {
    let mut store = store_on(disk);
    store.follow().unwrap();
    texts(&store)
}

fn texts(store: &Store) -> Vec<String> {
    let mut texts: Vec<String> = store
        .newest_first(None)
        .map(|memory| memory.text.clone())
        .collect();
    texts.reverse();
    texts
}

/// A header, three saves, an update and a touch: six lines.
fn journal() -> Vec<u8> {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for text in TEXTS {
        save(&mut store, text).unwrap();
    }
    store
        .update(1, Some(vec!["tag".to_owned()]), Some(9.0), at(1).now())
        .unwrap();
    store.touch(&[0, 2], at(3 * 3600).now());
    let bytes = disk.bytes(JOURNAL);
    assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 6);
    bytes
}

fn disk_with(bytes: &[u8]) -> FakeDisk {
    let disk = FakeDisk::default();
    disk.put(JOURNAL, bytes);
    disk
}

#[test]
fn a_journal_cut_anywhere_serves_the_whole_lines_before_the_cut_and_takes_new_ones() {
    let bytes = journal();
    let ends: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at)
        .collect();
    for cut in 0..=bytes.len() {
        let disk = disk_with(&bytes[..cut]);
        // A line that lacks its newline only is whole: lines are verified by themselves.
        let lines = ends.iter().filter(|end| cut >= **end).count();
        let saves = lines.saturating_sub(1).min(3);
        assert_eq!(served(&disk), TEXTS[..saves], "cut at {cut}");
        assert_eq!(disk.bytes(JOURNAL), &bytes[..cut], "reading does not write");

        let mut store = store_on(&disk);
        let id = save(&mut store, "new").unwrap();
        assert_eq!(id, saves as u64, "cut at {cut}");
        let after = served(&disk);
        assert_eq!(after[..saves], TEXTS[..saves], "cut at {cut}");
        assert_eq!(after[saves..], ["new"], "cut at {cut}");
        let torn = cut > 0 && !ends.contains(&cut) && !ends.contains(&(cut - 1));
        assert_eq!(
            disk.names().contains(&SET_ASIDE.to_owned()),
            torn,
            "cut at {cut}: torn bytes are kept"
        );
        assert_eq!(store.take_warnings().is_empty(), !torn);
        assert!(
            disk.text(JOURNAL)
                .lines()
                .all(|line| decode(line.as_bytes()).is_ok()),
            "cut at {cut}"
        );
    }
}

#[test]
fn no_flipped_byte_invents_a_text_or_hides_an_intact_line() {
    let bytes = journal();
    for position in 0..bytes.len() {
        let line = bytes[..position]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        for mask in [
            0x01,
            0x20,
            0x80,
            bytes[position] ^ b'\n',
            bytes[position] ^ b'}',
        ] {
            let mut damaged = bytes.clone();
            damaged[position] ^= mask;
            if damaged == bytes {
                continue;
            }
            let disk = disk_with(&damaged);
            let mut store = store_on(&disk);
            store.follow().unwrap();
            let served = texts(&store);
            let case = format!("byte {position} in line {line}, mask {mask:#x}");
            assert!(
                served.iter().all(|text| TEXTS.contains(&text.as_str())),
                "{case}: {served:?}"
            );
            for (at, text) in TEXTS.iter().enumerate() {
                assert!(
                    line == at + 1 || served.iter().any(|known| known == text),
                    "{case}: {text:?} is hidden"
                );
            }
            let is_last = position == bytes.len() - 1;
            assert!(store.damaged() > 0 || is_last, "{case}: not counted");
            assert!(
                !store.take_warnings().is_empty() || is_last,
                "{case}: not reported"
            );
            assert!(
                !disk.bytes(SET_ASIDE).is_empty() || is_last,
                "{case}: not kept"
            );

            let known: Vec<u64> = store.newest_first(None).map(|memory| memory.id).collect();
            let id = save(&mut store, "new").unwrap();
            assert!(
                !known.contains(&id) && id >= 2,
                "{case}: m{id} is given out again"
            );
            let mut reopened = store_on(&disk);
            reopened.follow().unwrap();
            assert_eq!(
                texts(&reopened).len(),
                served.len() + 1,
                "{case}: after a save"
            );
        }
    }
}

#[test]
fn damage_is_set_aside_once_however_often_it_is_read() {
    let mut bytes = journal();
    let position = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 40;
    bytes[position] ^= 1;
    let disk = disk_with(&bytes);
    served(&disk);
    let kept = disk.bytes(SET_ASIDE);
    served(&disk);
    assert_eq!(disk.bytes(SET_ASIDE), kept);
    assert_eq!(disk.text(SET_ASIDE).lines().count(), 1);
}

#[test]
fn a_missing_line_shows_as_a_gap_and_the_rest_is_served() {
    let text = String::from_utf8(journal()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let check = |order: &[usize], expected: &[&str], gaps: u64, damaged: u64| {
        let bytes: String = order.iter().map(|at| lines[*at]).collect();
        let disk = disk_with(bytes.as_bytes());
        let mut store = store_on(&disk);
        store.follow().unwrap();
        assert_eq!(texts(&store), expected, "{order:?}");
        assert_eq!(
            (store.gaps(), store.damaged()),
            (gaps, damaged),
            "{order:?}"
        );
        assert_eq!(store.take_warnings().is_empty(), gaps == 0, "{order:?}");
    };
    check(&[0, 1, 2, 3, 4, 5], &TEXTS, 0, 0);
    check(&[0, 1, 3], &[TEXTS[0], TEXTS[2]], 1, 0);
    check(&[0, 2, 1, 3], &TEXTS, 3, 0);
    check(&[0, 1, 1, 2, 3], &TEXTS, 1, 1);
}

#[test]
fn a_lost_header_leaves_a_safety_gap_in_the_ids_once() {
    let bytes = journal();
    let newline = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let disk = disk_with(&bytes[newline + 1..]);
    let mut store = store_on(&disk);
    assert_eq!(save(&mut store, "new").unwrap(), 2 + 1 + 1000);
    assert_eq!(save(&mut store, "newer").unwrap(), 1004);
    assert_eq!(save(&mut store_on(&disk), "newest").unwrap(), 1005);
    assert_eq!(served(&disk).len(), 6);
}

#[test]
fn an_id_in_a_damaged_line_is_not_given_out_again() {
    let text = String::from_utf8(journal()).unwrap();
    let cut: String = text.split_inclusive('\n').take(4).collect();
    let disk = disk_with(cut.replace("drei", "vier").as_bytes());
    assert_eq!(served(&disk), TEXTS[..2]);
    assert_eq!(save(&mut store_on(&disk), "new").unwrap(), 3);
}

#[test]
fn an_incredible_id_in_a_damaged_line_does_not_use_up_the_ids() {
    let mut bytes = journal();
    bytes.extend(b"{\"id\":\"m18446744073709551614\"}\n");
    assert_eq!(save(&mut store_on(&disk_with(&bytes)), "new").unwrap(), 3);
}

#[test]
fn a_newer_format_is_an_error_each_time_and_is_not_touched() {
    let header = Header {
        format: FORMAT + 1,
        store: "s".to_owned(),
        generation: "g".to_owned(),
        next_id: 0,
        created_at: at(0).now(),
    };
    let bytes = encode(0, &Event::Journal(header)).unwrap().0;
    let disk = disk_with(&bytes);
    let mut store = store_on(&disk);
    for _ in 0..2 {
        let error = save(&mut store, "x").unwrap_err().to_string();
        assert!(
            error.contains("format 2") && error.contains("up to 1") && error.contains("update"),
            "{error}"
        );
    }
    assert_eq!(disk.bytes(JOURNAL), bytes);
    assert_eq!(disk.names(), [JOURNAL]);
}

#[test]
fn a_line_that_is_too_long_is_set_aside_in_parts_and_the_rest_is_served() {
    let mut bytes = journal();
    let end = bytes.len();
    bytes.extend(vec![b'x'; 3 * MAX_LINE_BYTES]);
    let disk = disk_with(&bytes);
    assert_eq!(served(&disk), TEXTS, "even while its end is missing");
    save(&mut store_on(&disk), "new").unwrap();
    let mut store = store_on(&disk);
    store.follow().unwrap();
    assert_eq!(texts(&store).last().map(String::as_str), Some("new"));
    assert_eq!(store.damaged(), 3, "each part that was handed out");
    assert_eq!(disk.bytes(JOURNAL)[..end], bytes[..end]);
}

#[test]
fn a_journal_that_lost_its_end_is_read_afresh() {
    let bytes = journal();
    let disk = disk_with(&bytes);
    let mut store = store_on(&disk);
    store.follow().unwrap();
    let second = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(1)
        .unwrap()
        .0;
    disk.put(JOURNAL, &bytes[..=second]);
    assert!(store.follow().unwrap().was_reset);
    assert_eq!(texts(&store), TEXTS[..1]);
}

#[test]
fn carriage_returns_from_an_editor_are_harmless() {
    let text = String::from_utf8(journal()).unwrap().replace('\n', "\r\n");
    let disk = disk_with(text.as_bytes());
    let mut store = store_on(&disk);
    store.follow().unwrap();
    assert_eq!(texts(&store), TEXTS);
    assert_eq!(store.damaged(), 0);
}

#[test]
fn a_missing_directory_is_told_from_an_empty_one() {
    let disk = FakeDisk::default();
    store_on(&disk).follow().unwrap();
    assert_eq!(disk.names(), [""; 0], "reading creates nothing");
    disk.fail(Faults {
        missing: true,
        ..Faults::default()
    });
    let error = store_on(&disk).follow().unwrap_err().to_string();
    assert!(
        error.starts_with("no directory was granted as `data`"),
        "{error}"
    );
}
