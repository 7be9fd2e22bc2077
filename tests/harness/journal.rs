//! Journals that no program wrote: what a store of any size looks like on the disk.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The file that is the truth.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// CRC-32 as in zip and PNG: the program's own implementation can't vouch for itself.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (crc >> 8) ^ TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)]
    })
}

/// What eight steps, bit by bit, make of each byte.
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let mut crc = index as u32;
        let mut step = 0;
        while step < 8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
            step += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

/// Writes a journal of `memories`, whose texts are what [`text_of`] says.
pub(crate) fn write_journal(data: &Path, memories: usize) {
    write_worn_journal(data, memories, 0);
}

/// The same, where each memory was then given `tags`, one by one: all but the last of these lines are dead.
pub(crate) fn write_worn_journal(data: &Path, memories: usize, tags: usize) {
    let mut file = BufWriter::new(File::create(data.join(JOURNAL)).unwrap());
    let at = "2026-11-30T00:00:00.000Z";
    let header = format!(
        r#""journal":{{"format":1,"store":"{:032x}","generation":"{:032x}","next_id":0,"created_at":"{at}"}}"#,
        1, 2
    );
    let saves = (0..memories).map(|number| {
        let text = text_of(number);
        format!(
            r#""save":{{"id":"m{number}","text":"{text}","kind":"semantic","tags":[],"importance":5.0,"created_at":"{at}"}}"#
        )
    });
    let updates = (0..memories * tags).map(|number| {
        let given: Vec<String> = (0..=number % tags).map(tag).collect();
        let (id, given) = (number / tags, given.join(r#"",""#));
        format!(r#""update":{{"id":"m{id}","at":"{at}","tags":["{given}"]}}"#)
    });
    let mut previous = 0;
    for event in std::iter::once(header).chain(saves).chain(updates) {
        let covered = format!(r#""prev":"{previous:08x}",{event}}}"#);
        previous = crc32(covered.as_bytes());
        writeln!(file, r#"{{"crc":"{previous:08x}",{covered}"#).unwrap();
    }
    file.flush().unwrap();
}

/// The first line of a journal that a program of another version wrote.
pub(crate) fn header_of_format(format: u32) -> String {
    let covered = format!(
        r#""prev":"00000000","journal":{{"format":{format},"store":"{:032x}","generation":"{:032x}","next_id":0,"created_at":"2026-11-30T00:00:00.000Z"}}}}"#,
        1, 2
    );
    format!(r#"{{"crc":"{:08x}",{covered}"#, crc32(covered.as_bytes()))
}

/// As long as a tag may be, and different from all others.
pub(crate) fn tag(number: usize) -> String {
    format!("tag{number:061}")
}

/// A text of some words that many others have as well, and one that no other has.
pub(crate) fn text_of(number: usize) -> String {
    const NAMES: [&str; 7] = ["Ada", "Boris", "Chloe", "Dmitri", "Elena", "Farid", "Greta"];
    const THINGS: [&str; 11] = [
        "bread",
        "trains",
        "chess",
        "the garden",
        "old maps",
        "jazz",
        "bicycles",
        "tea",
        "stamps",
        "rivers",
        "lanterns",
    ];
    let (name, thing) = (NAMES[number % NAMES.len()], THINGS[number % THINGS.len()]);
    format!("{name} likes {thing}, as was said in conversation n{number}n about this and that")
}

#[test]
fn checksums_are_those_that_everybody_knows() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32(b""), 0);
}
