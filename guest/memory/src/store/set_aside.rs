//! `set-aside.jsonl`: the bytes of the journal that could not be used, so that nothing is ever silently dropped.
//!
//! One JSON object a line: the journal's generation, the offset in it, and the bytes, as `text` if they are UTF-8, else
//! as `hex`. Each generation and offset stands there once, however often the journal is read.

use std::collections::HashSet;
use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::disk::{Access, Disk, DiskFile};
use super::reader::{LineReader, Piece};

/// The file's name.
pub(crate) const SET_ASIDE: &str = "set-aside.jsonl";

/// The order of the members matters: what comes before the bytes tells records apart.
#[derive(Serialize)]
struct Record<'a> {
    generation: &'a str,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// Writer of the file. Reads it when it is first needed.
#[derive(Default)]
pub(crate) struct SetAside {
    /// The starts of the records that are there; `None` before the file was read.
    known: Option<HashSet<Vec<u8>>>,
}

impl SetAside {
    /// Copies bytes of the journal, unless they were copied before.
    pub(crate) fn keep(
        &mut self,
        disk: &dyn Disk,
        generation: &str,
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let known = match &mut self.known {
            Some(known) => known,
            None => self.known.insert(read_keys(disk)?),
        };
        let text = std::str::from_utf8(bytes).ok();
        let hex = if text.is_some() {
            None
        } else {
            Some(to_hex(bytes))
        };
        let mut line = serde_json::to_vec(&Record {
            generation,
            offset,
            text,
            hex,
        })?;
        let Some(key) = key(&line) else {
            return Err(io::Error::other("a record without bytes"));
        };
        if known.contains(&key) {
            return Ok(());
        }
        line.push(b'\n');
        let mut file = disk.open(SET_ASIDE, Access::Append)?;
        if !ends_with_newline(file.as_mut())? {
            line.insert(0, b'\n');
        }
        file.append(&line)?;
        file.sync_data()?;
        known.insert(key);
        Ok(())
    }
}

/// Whether what is appended next starts on a line of its own.
pub(super) fn ends_with_newline(file: &mut dyn DiskFile) -> io::Result<bool> {
    let size = file.size()?;
    let mut last = [b'\n'];
    if size > 0 {
        file.read_at(size - 1, &mut last)?;
    }
    Ok(last == *b"\n")
}

fn read_keys(disk: &dyn Disk) -> io::Result<HashSet<Vec<u8>>> {
    let mut keys = HashSet::new();
    let mut file = match disk.open(SET_ASIDE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(keys),
        file => file?,
    };
    LineReader::default().read(file.as_mut(), |_, piece| {
        if let Piece::Line(bytes) | Piece::Long(bytes) = piece {
            keys.extend(key(bytes));
        }
    })?;
    Ok(keys)
}

/// A record's line up to its bytes: generation and offset.
fn key(line: &[u8]) -> Option<Vec<u8>> {
    let starts = |name: &[u8]| line.windows(name.len()).position(|window| window == name);
    let end = [starts(b",\"text\":"), starts(b",\"hex\":")]
        .into_iter()
        .flatten()
        .min()?;
    Some(line[..end].to_vec())
}

fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
            // Writing to a string can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeDisk, Faults};
    use super::*;

    #[test]
    fn bytes_are_kept_once_also_by_a_later_instance() {
        let disk = FakeDisk::default();
        let mut first = SetAside::default();
        first
            .keep(&disk, "ab", 7, b"bad \"line\",\"text\":")
            .unwrap();
        first
            .keep(&disk, "ab", 7, b"bad \"line\",\"text\":")
            .unwrap();
        SetAside::default().keep(&disk, "ab", 7, b"bad").unwrap();
        assert_eq!(
            disk.text(SET_ASIDE),
            "{\"generation\":\"ab\",\"offset\":7,\"text\":\"bad \\\"line\\\",\\\"text\\\":\"}\n"
        );
        SetAside::default().keep(&disk, "cd", 7, b"bad").unwrap();
        assert_eq!(disk.text(SET_ASIDE).lines().count(), 2);
    }

    #[test]
    fn what_is_no_text_is_kept_as_hex() {
        let disk = FakeDisk::default();
        SetAside::default()
            .keep(&disk, "ab", 0, b"\xff\x00a")
            .unwrap();
        assert_eq!(
            disk.text(SET_ASIDE),
            "{\"generation\":\"ab\",\"offset\":0,\"hex\":\"ff0061\"}\n"
        );
    }

    #[test]
    fn a_torn_record_spoils_no_other() {
        let disk = FakeDisk::default();
        disk.put(SET_ASIDE, b"{\"generation\":\"a");
        SetAside::default().keep(&disk, "ab", 1, b"x").unwrap();
        assert_eq!(
            disk.text(SET_ASIDE).lines().nth(1),
            Some("{\"generation\":\"ab\",\"offset\":1,\"text\":\"x\"}")
        );
    }

    #[test]
    fn a_failure_is_reported_and_not_remembered_as_kept() {
        let disk = FakeDisk::default();
        let mut set_aside = SetAside::default();
        disk.fail(Faults {
            read_only: true,
            ..Faults::default()
        });
        assert!(set_aside.keep(&disk, "ab", 1, b"x").is_err());
        disk.fail(Faults::default());
        set_aside.keep(&disk, "ab", 1, b"x").unwrap();
        assert_eq!(disk.text(SET_ASIDE).lines().count(), 1);
    }
}
