//! Ids are never given out twice, whatever happens to the lines that say which were.

use super::tests::{TEXTS, disk_with, flips, journal};
use super::*;
use crate::store::Change;
use crate::store::fake::{FakeDisk, at, save, served, store_on};

#[test]
fn no_flipped_byte_lets_an_id_be_given_out_again() {
    let whole = journal();
    let text = String::from_utf8(whole.clone()).unwrap();
    let saves: String = text.split_inclusive('\n').take(4).collect();
    for bytes in [whole.as_slice(), saves.as_bytes()] {
        for (damaged, _, case) in flips(bytes) {
            for early_is_first in [true, false] {
                let disk = disk_with(bytes);
                // One instance has read the line before it is damaged, the others only know what is left of it.
                let (mut early, mut late) = (store_on(&disk), store_on(&disk));
                early.follow_all().unwrap();
                disk.put(JOURNAL, &damaged);
                let mut given = vec![0, 1, 2];
                for (text, by_early) in [("d", early_is_first), ("e", !early_is_first), ("f", true)]
                {
                    let id = save(if by_early { &mut early } else { &mut late }, text).unwrap();
                    assert!(!given.contains(&id), "{case}: m{id} after {given:?}");
                    given.push(id);
                }
                let id = save(&mut store_on(&disk), "g").unwrap();
                assert!(!given.contains(&id), "{case}: m{id} after {given:?}");
            }
        }
    }
}

/// A header and m0 to m5, and a line of it in which something is replaced.
fn six_with(line: usize, from: &str, to: &str) -> FakeDisk {
    let disk = FakeDisk::default();
    let mut store = store_on(&disk);
    for text in ["a", "b", "c", "d", "e", "f"] {
        save(&mut store, text).unwrap();
    }
    let text = disk.text(JOURNAL);
    let lines = text.split_inclusive('\n').enumerate();
    let damaged: String = lines
        .map(|(at, text)| {
            if at == line {
                assert!(text.contains(from), "{text}");
                text.replace(from, to)
            } else {
                text.to_owned()
            }
        })
        .collect();
    disk.put(JOURNAL, damaged.as_bytes());
    disk
}

#[test]
fn an_id_that_can_not_be_read_any_more_is_not_given_out_again() {
    const ID: &str = "\"id\":\"m5\"";
    for damaged in [
        "\"id\":\"x5\"",
        "\"id\":\"m4\"",
        "\"jd\":\"m5\"",
        "\"id\":\"m\u{7f}\"",
        "\"id\":\"m5x",
        "",
    ] {
        let disk = six_with(6, ID, damaged);
        assert_eq!(save(&mut store_on(&disk), "new").unwrap(), 6, "{damaged:?}");
        assert_eq!(
            save(&mut store_on(&disk), "newer").unwrap(),
            7,
            "{damaged:?}"
        );
    }
    let disk = six_with(3, "\"id\":\"m2\"", "\"id\":\"m9\"");
    let id = save(&mut store_on(&disk), "new").unwrap();
    assert_eq!(id, 10, "what can be read is believed as well");
}

#[test]
fn damage_that_swallows_several_lines_swallows_no_id_of_theirs() {
    let disk = six_with(0, "{", "{");
    let mut bytes = disk.bytes(JOURNAL);
    let third = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(2)
        .unwrap()
        .0;
    let end = bytes.len() - 1;
    bytes[third + 1..end].fill(0);
    for ends_with_newline in [true, false] {
        let disk = disk_with(&bytes[..end + usize::from(ends_with_newline)]);
        assert!(save(&mut store_on(&disk), "new").unwrap() >= 6);
        assert_eq!(served(&disk), ["a", "b", "new"]);
    }
}

#[test]
fn the_ids_of_an_interrupted_write_are_lost_for_everybody() {
    let bytes = journal();
    let torn = [bytes.as_slice(), b"{\"crc\":\"01234567\",\"pr"].concat();
    let disk = disk_with(&torn);
    let (mut ours, mut theirs) = (store_on(&disk), store_on(&disk));
    theirs.follow_all().unwrap();
    ours.follow_all().unwrap();
    ours.touch(&[0], at(9 * 3600).now());
    assert_eq!(
        disk.bytes(JOURNAL),
        torn,
        "nothing is cut off for a bookkeeping line"
    );
    let change = Change {
        importance: Some(8.0),
        ..Change::default()
    };
    ours.update(0, change, at(2).now()).unwrap();
    drop(ours);
    assert_eq!(save(&mut theirs, "d").unwrap(), 4);
    assert_eq!(save(&mut store_on(&disk), "e").unwrap(), 5);
    assert_eq!(served(&disk), [&TEXTS[..], &["d", "e"]].concat());

    // And the line after it, damaged in its turn, loses none.
    let text = disk.text(JOURNAL).replace("\"id\":\"m5\"", "\"id\":\"x5\"");
    assert_eq!(
        save(&mut store_on(&disk_with(text.as_bytes())), "f").unwrap(),
        6
    );
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
    assert_eq!(save(&mut store_on(&disk_with(&bytes)), "new").unwrap(), 4);
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
fn a_header_that_is_missing_above_an_unterminated_line_is_noticed() {
    let text = String::from_utf8(journal()).unwrap();
    let first = text.lines().nth(1).unwrap();
    let disk = disk_with(first.as_bytes());
    let mut store = store_on(&disk);
    assert_eq!(save(&mut store, "new").unwrap(), 1 + 1000);
    assert_eq!(save(&mut store_on(&disk), "newer").unwrap(), 1002);
    assert_eq!(served(&disk), [TEXTS[0], "new", "newer"]);
}
