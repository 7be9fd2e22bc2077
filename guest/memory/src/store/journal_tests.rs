//! Damaged, torn and foreign journals.

use super::*;
use crate::store::Change;
use crate::store::event::FORMAT;
use crate::store::fake::{FakeDisk, Faults, at, save, served, store_on, texts};
use crate::store::line::decode;

/// Texts that a line format gets wrong if it can.
pub(super) const TEXTS: [&str; 3] = ["first", "two\nlines \"quoted\" }", "drei \u{2028} ü 🎉"];

/// A header, three saves, an update and a touch: six lines.
pub(super) fn journal() -> Vec<u8> {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for text in TEXTS {
        save(&mut store, text).unwrap();
    }
    let change = Change {
        tags: Some(vec!["tag".to_owned()]),
        importance: Some(9.0),
        ..Change::default()
    };
    store.update(1, change, at(1).now()).unwrap();
    store.touch(&[0, 2], at(3 * 3600).now());
    let bytes = disk.bytes(JOURNAL);
    assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 6);
    bytes
}

pub(super) fn disk_with(bytes: &[u8]) -> FakeDisk {
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

        let torn = cut > 0 && !ends.contains(&cut) && !ends.contains(&(cut - 1));
        // What was torn off may have been a memory, unless it is the header.
        let lost = torn && lines > 0;
        let mut store = store_on(&disk);
        let id = save(&mut store, "new").unwrap();
        assert_eq!(id, saves as u64 + u64::from(lost), "cut at {cut}");
        let after = served(&disk);
        assert_eq!(after[..saves], TEXTS[..saves], "cut at {cut}");
        assert_eq!(after[saves..], ["new"], "cut at {cut}");
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

/// Each byte of a journal damaged in each of several ways: the journal, the byte's position, and what happened.
pub(super) fn flips(bytes: &[u8]) -> impl Iterator<Item = (Vec<u8>, usize, String)> {
    (0..bytes.len()).flat_map(move |position| {
        let masks = [
            0x01,
            0x20,
            0x80,
            bytes[position] ^ b'\n',
            bytes[position] ^ b'}',
        ];
        masks
            .into_iter()
            .filter(|mask| *mask != 0)
            .map(move |mask| {
                let mut damaged = bytes.to_vec();
                damaged[position] ^= mask;
                (
                    damaged,
                    position,
                    format!("byte {position}, mask {mask:#x}"),
                )
            })
    })
}

#[test]
fn no_flipped_byte_invents_a_text_or_hides_an_intact_line() {
    let bytes = journal();
    for (damaged, position, case) in flips(&bytes) {
        let line = bytes[..position]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        let disk = disk_with(&damaged);
        let mut store = store_on(&disk);
        store.follow_all().unwrap();
        let served = texts(&mut store);
        assert!(
            served.iter().all(|text| TEXTS.contains(&text.as_str())),
            "{case}: {served:?}"
        );
        let is_intact = |at: usize| line != at + 1 || bytes[position] == b'\n';
        for (at, text) in TEXTS.iter().enumerate() {
            assert!(
                !is_intact(at) || served.iter().any(|known| known == text),
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
        save(&mut store, "new").unwrap();
        let mut reopened = store_on(&disk);
        reopened.follow_all().unwrap();
        assert_eq!(
            texts(&mut reopened).len(),
            served.len() + 1,
            "{case}: after a save"
        );
    }
}

#[test]
fn an_older_copy_that_was_put_back_and_has_grown_is_read_afresh() {
    let disk = disk_with(&journal());
    let backup = disk.bytes(JOURNAL);
    let (mut ours, mut theirs) = (store_on(&disk), store_on(&disk));
    assert_eq!(save(&mut ours, "lost with the restoration").unwrap(), 3);
    disk.put(JOURNAL, &backup);
    assert_eq!(save(&mut theirs, "short").unwrap(), 3);
    assert_eq!(save(&mut theirs, "and one that is longer").unwrap(), 4);
    assert!(disk.bytes(JOURNAL).len() > backup.len() + 200);

    assert!(ours.follow_all().unwrap().was_reset);
    assert_eq!(texts(&mut ours), texts(&mut theirs));
    assert_eq!((ours.damaged(), ours.gaps()), (0, 0));
    assert_eq!(disk.names(), [JOURNAL], "nothing healthy is set aside");
    assert!(!ours.follow_all().unwrap().was_reset, "once");
    assert_eq!(save(&mut ours, "next").unwrap(), 5);
    assert!(!theirs.follow_all().unwrap().was_reset);
}

#[test]
fn an_older_copy_is_noticed_after_whatever_line_was_the_last() {
    let bytes = journal();
    let long = vec![b'x'; MAX_LINE_BYTES + 9];
    for last in [
        &b"garbage\n"[..],
        b"\n\n",
        &[&long, &b"\n"[..]].concat(),
        &long,
    ] {
        let disk = disk_with(&[&bytes, last].concat());
        let mut ours = store_on(&disk);
        ours.follow_all().unwrap();
        assert!(!ours.follow_all().unwrap().was_reset, "it is the same");
        let other = disk_with(&bytes);
        for number in 0..400 {
            save(&mut store_on(&other), &format!("other {number}")).unwrap();
            if other.bytes(JOURNAL).len() > disk.bytes(JOURNAL).len() {
                break;
            }
        }
        disk.put(JOURNAL, &other.bytes(JOURNAL));
        ours.follow_all().unwrap();
        assert_eq!(texts(&mut ours), served(&other));
    }
}

#[test]
fn an_interrupted_write_that_cannot_be_set_aside_is_not_cut_off() {
    let whole = journal();
    let torn = &whole[..whole.len() - 9];
    let disk = disk_with(torn);
    let mut store = store_on(&disk);
    disk.fail(Faults {
        refuse: Some(SET_ASIDE),
        ..Faults::default()
    });
    for _ in 0..2 {
        let error = save(&mut store, "new").unwrap_err();
        assert!(matches!(error, StoreError::Write(_)), "{error}");
        assert_eq!(disk.bytes(JOURNAL), torn);
    }
    disk.fail(Faults::default());
    save(&mut store, "new").unwrap();
    assert_eq!(disk.text(SET_ASIDE).lines().count(), 1);
    assert!(served(&disk).contains(&"new".to_owned()));
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
        store.follow_all().unwrap();
        assert_eq!(texts(&mut store), expected, "{order:?}");
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
fn a_newer_format_is_an_error_each_time_and_is_not_touched() {
    let header = Header {
        format: FORMAT + 1,
        store: "s".to_owned(),
        generation: "g".to_owned(),
        next_id: 0,
        created_at: at(0).now(),
        revision: 0,
        listed: 0,
        known_from: 0,
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
fn a_newer_format_is_told_from_damage_whatever_else_is_new_in_its_header() {
    for header in [
        r#""journal":{"format":2,"store_id":"ab"}"#,
        r#""journal":{"format":4294967296}"#,
        r#""sum":"later","journal":{"format":3,"next_id":"7"}"#,
    ] {
        let covered = format!("\"prev\":\"00000000\",{header}}}");
        let crc = crc32fast::hash(covered.as_bytes());
        let bytes = format!("{{\"crc\":\"{crc:08x}\",{covered}\n").into_bytes();
        let disk = disk_with(&bytes);
        let error = save(&mut store_on(&disk), "x").unwrap_err().to_string();
        assert!(error.contains("update"), "{header}: {error}");
        assert_eq!(disk.bytes(JOURNAL), bytes, "{header}");
    }
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
    store.follow_all().unwrap();
    assert_eq!(texts(&mut store).last().map(String::as_str), Some("new"));
    assert_eq!(store.damaged(), 3, "each part that was handed out");
    assert_eq!(disk.bytes(JOURNAL)[..end], bytes[..end]);
}

#[test]
fn a_journal_that_lost_its_end_is_read_afresh() {
    let bytes = journal();
    let disk = disk_with(&bytes);
    let mut store = store_on(&disk);
    store.follow_all().unwrap();
    let second = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(1)
        .unwrap()
        .0;
    disk.put(JOURNAL, &bytes[..=second]);
    assert!(store.follow_all().unwrap().was_reset);
    assert_eq!(texts(&mut store), TEXTS[..1]);
}

#[test]
fn an_unterminated_end_in_which_a_newline_is_damaged_loses_no_line() {
    let bytes = journal();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    // The newline before the last line, and the one at the end: damaged, missing, or followed by an interrupted write.
    for damaged in [b'x', b'}', b'"', b' '] {
        for tail in [
            &b""[..],
            b"\r",
            b"}",
            b"x",
            b"{\"crc\":\"01234567\",\"prev\":{}}",
        ] {
            let mut bytes = bytes[..ends[3]].to_vec();
            bytes[ends[2]] = damaged;
            bytes.extend(tail);
            let disk = disk_with(&bytes);
            let case = format!("{:?} {tail:?}", char::from(damaged));
            assert_eq!(served(&disk), TEXTS, "{case}");
            let id = save(&mut store_on(&disk), "new").unwrap();
            assert!(id >= 3, "{case}");
            assert_eq!(served(&disk), [&TEXTS[..], &["new"]].concat(), "{case}");
        }
    }
}

#[test]
fn carriage_returns_from_an_editor_are_harmless() {
    let text = String::from_utf8(journal()).unwrap().replace('\n', "\r\n");
    let disk = disk_with(text.as_bytes());
    let mut store = store_on(&disk);
    store.follow_all().unwrap();
    assert_eq!(texts(&mut store), TEXTS);
    assert_eq!(store.damaged(), 0);
}

#[test]
fn a_missing_directory_is_told_from_an_empty_one() {
    let disk = FakeDisk::default();
    store_on(&disk).follow_all().unwrap();
    assert_eq!(disk.names(), [""; 0], "reading creates nothing");
    disk.fail(Faults {
        missing: true,
        ..Faults::default()
    });
    let error = store_on(&disk).follow_all().err().unwrap().to_string();
    assert!(
        error.starts_with("no directory was granted as `data`"),
        "{error}"
    );
}
