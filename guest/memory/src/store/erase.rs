//! What a purge has to find: every text that a memory ever had, and the set-aside records that may hold a part of it.

use std::collections::{BTreeSet, HashSet};
use std::io;

use super::disk::{Access, Disk, DiskFile};
use super::event::Event;
use super::line::lines_in;
use super::position::ids_in;
use super::reader::{CHUNK_BYTES, LineReader, Piece};
use super::set_aside::SET_ASIDE;

/// The file that takes the place of the set-aside lines.
pub(super) const SET_ASIDE_COPY: &str = "set-aside.jsonl.tmp";

/// A record shares text with a purged memory if they have so many bytes in a row in common: two words, four ideographs.
/// Rather too few than too many: what is kept by mistake was meant to be gone, what goes by mistake is a damaged line.
const SHARED_BYTES: usize = 12;

/// Every text that the journal has of these memories, the superseded ones too.
pub(super) fn texts_of(journal: &mut dyn DiskFile, ids: &BTreeSet<u64>) -> io::Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut take = |event: Event| {
        let (id, text) = match event {
            Event::Save(save) => (save.id, Some(save.text)),
            Event::Update(update) => (update.id, update.text),
            _ => return,
        };
        texts.extend(text.filter(|_| ids.contains(&id.0)));
    };
    let mut line = |bytes: &[u8]| {
        let (lines, _) = lines_in(bytes);
        lines.into_iter().for_each(|(line, _)| take(line.event));
    };
    let mut reader = LineReader::default();
    loop {
        let rest = reader.read(journal, |_, piece| {
            if let Piece::Line(bytes) = piece {
                line(bytes);
            }
        })?;
        if let Some(rest) = rest {
            line(&rest);
            return Ok(texts);
        }
    }
}

/// Rewrites the set-aside lines without those that name one of the memories or share text with one.
pub(super) fn clean_set_aside(
    disk: &dyn Disk,
    ids: &BTreeSet<u64>,
    texts: &[String],
) -> io::Result<()> {
    disk.remove(SET_ASIDE_COPY)?;
    let mut file = match disk.open(SET_ASIDE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let secrets = Secrets::of(ids, texts);
    let mut copy = disk.open(SET_ASIDE_COPY, Access::CreateNew)?;
    let mut dropped = false;
    let mut kept = Vec::new();
    let mut keep = |record: &[u8], end: &[u8], kept: &mut Vec<u8>| {
        if secrets.are_in(record) {
            dropped = true;
        } else {
            kept.extend_from_slice(record);
            kept.extend_from_slice(end);
        }
    };
    // A record of hexadecimal digits can be longer than a line of the journal may be.
    let mut long = Vec::new();
    let mut reader = LineReader::default();
    loop {
        let rest = reader.read(file.as_mut(), |_, piece| match piece {
            Piece::Line(bytes) => keep(bytes, b"\n", &mut kept),
            Piece::Long(bytes) => long.extend_from_slice(bytes),
            Piece::EndOfLong(bytes) => {
                long.extend_from_slice(bytes);
                keep(&std::mem::take(&mut long), b"\n", &mut kept);
            }
        })?;
        if let Some(rest) = &rest {
            long.extend_from_slice(rest);
            keep(&long, b"", &mut kept);
        }
        if kept.len() >= CHUNK_BYTES || rest.is_some() {
            copy.append(&kept)?;
            kept.clear();
        }
        if rest.is_some() {
            break;
        }
    }
    drop(file);
    if !dropped {
        drop(copy);
        return disk.remove(SET_ASIDE_COPY);
    }
    copy.sync_data()?;
    let is_empty = copy.size()? == 0;
    drop(copy);
    if is_empty {
        disk.remove(SET_ASIDE_COPY)?;
        disk.remove(SET_ASIDE)
    } else {
        disk.rename(SET_ASIDE_COPY, SET_ASIDE)
    }
}

/// What must not be found any more.
struct Secrets<'a> {
    ids: &'a BTreeSet<u64>,
    /// Runs of `SHARED_BYTES` of the texts.
    runs: HashSet<Vec<u8>>,
    /// Texts that are shorter than that, as a member's whole value: a word or two may stand anywhere.
    short: Vec<Vec<u8>>,
}

impl<'a> Secrets<'a> {
    fn of(ids: &'a BTreeSet<u64>, texts: &[String]) -> Self {
        let (mut runs, mut short) = (HashSet::new(), Vec::new());
        for text in texts {
            // As it stands in a line of the journal. A string always has a JSON form.
            let json = serde_json::to_string(text).unwrap_or_default();
            let text = unescaped(json.trim_matches('"').as_bytes());
            if text.len() < SHARED_BYTES {
                short.push([b":\"", text.as_slice(), b"\""].concat());
            } else {
                runs.extend(text.windows(SHARED_BYTES).map(<[u8]>::to_vec));
            }
        }
        Self { ids, runs, short }
    }

    fn are_in(&self, record: &[u8]) -> bool {
        let bytes = unescaped(&payload(record));
        let has = |value: &Vec<u8>| bytes.windows(value.len()).any(|window| window == value);
        ids_in(&bytes).iter().any(|id| self.ids.contains(id))
            || bytes
                .windows(SHARED_BYTES)
                .any(|window| self.runs.contains(window))
            || self.short.iter().any(has)
    }
}

/// Bytes without their backslashes: a record escapes what the journal's line has escaped already, and a part of either
/// may begin anywhere.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .copied()
        .filter(|byte| *byte != b'\\')
        .collect()
}

/// The bytes that a record keeps: those that its hexadecimal digits spell, else the record as it is.
fn payload(record: &[u8]) -> Vec<u8> {
    const HEX: &[u8] = br#""hex":""#;
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let Some(at) = record.windows(HEX.len()).position(|window| window == HEX) else {
        return record.to_vec();
    };
    let digits = &record[at + HEX.len()..];
    digits
        .chunks_exact(2)
        .map_while(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_looked_for_as_a_whole_value() {
        let ids = BTreeSet::from([7]);
        for text in ["text", "of", "id", "a", "", "\"", "tea\n"] {
            let texts = [text.to_owned()];
            let secrets = Secrets::of(&ids, &texts);
            let record = |id: u64, text: &str| {
                let line =
                    serde_json::json!({"crc": "0", "save": {"id": format!("m{id}"), "text": text}});
                let record = serde_json::json!({"generation": "0a1b2c3d4e5f", "offset": 1, "text": line.to_string()});
                record.to_string().into_bytes()
            };
            assert!(secrets.are_in(&record(1, text)), "{text:?}");
            assert!(secrets.are_in(&record(7, "other")), "{text:?}");
            assert!(!secrets.are_in(&record(1, "something else")), "{text:?}");
        }
    }
}
