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
    /// Records that wait for [`SetAside::flush`].
    waiting: Vec<Vec<u8>>,
}

impl SetAside {
    /// Notes bytes of the journal down; [`SetAside::flush`] writes them.
    pub(super) fn keep(&mut self, generation: &str, offset: u64, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).ok();
        let hex = if text.is_some() {
            None
        } else {
            Some(to_hex(bytes))
        };
        let record = Record {
            generation,
            offset,
            text,
            hex,
        };
        // A value of this type always has a JSON form.
        self.waiting.extend(serde_json::to_vec(&record));
    }

    /// Writes what was noted down, but for what is there already, and makes it durable: once for all of it. After a
    /// failure it is noted down no more.
    pub(super) fn flush(&mut self, disk: &dyn Disk) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let known = match &mut self.known {
            Some(known) => known,
            None => self.known.insert(read_keys(disk)?),
        };
        let mut keys = HashSet::new();
        let mut lines = Vec::new();
        for record in waiting {
            let Some(key) = key(&record) else { continue };
            if !known.contains(&key) && keys.insert(key) {
                lines.extend(record);
                lines.push(b'\n');
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = disk.open(SET_ASIDE, Access::Append)?;
        if !ends_with_newline(file.as_mut())? {
            lines.insert(0, b'\n');
        }
        file.append(&lines)?;
        file.sync_data()?;
        known.extend(keys);
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
    let mut reader = LineReader::default();
    loop {
        let end = reader.read(file.as_mut(), |_, piece| {
            if let Piece::Line(bytes) | Piece::Long(bytes) = piece {
                keys.extend(key(bytes));
            }
        })?;
        if end.is_some() {
            return Ok(keys);
        }
    }
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

    fn keep(
        set_aside: &mut SetAside,
        disk: &FakeDisk,
        at: (&str, u64),
        bytes: &[u8],
    ) -> io::Result<()> {
        set_aside.keep(at.0, at.1, bytes);
        set_aside.flush(disk)
    }

    #[test]
    fn bytes_are_kept_once_also_by_a_later_instance() {
        let disk = FakeDisk::default();
        let mut first = SetAside::default();
        keep(&mut first, &disk, ("ab", 7), b"bad \"line\",\"text\":").unwrap();
        keep(&mut first, &disk, ("ab", 7), b"bad \"line\",\"text\":").unwrap();
        keep(&mut SetAside::default(), &disk, ("ab", 7), b"bad").unwrap();
        assert_eq!(
            disk.text(SET_ASIDE),
            "{\"generation\":\"ab\",\"offset\":7,\"text\":\"bad \\\"line\\\",\\\"text\\\":\"}\n"
        );
        keep(&mut SetAside::default(), &disk, ("cd", 7), b"bad").unwrap();
        assert_eq!(disk.text(SET_ASIDE).lines().count(), 2);
    }

    #[test]
    fn much_damage_is_made_durable_at_once() {
        let disk = FakeDisk::default();
        let mut set_aside = SetAside::default();
        for offset in [1, 2, 3, 2] {
            set_aside.keep("ab", offset, b"bad");
        }
        set_aside.flush(&disk).unwrap();
        assert_eq!(disk.text(SET_ASIDE).lines().count(), 3);
        assert_eq!((disk.syncs(), disk.appends()), (1, 1));
        set_aside.flush(&disk).unwrap();
        assert_eq!((disk.syncs(), disk.appends()), (1, 1));
    }

    #[test]
    fn what_is_no_text_is_kept_as_hex() {
        let disk = FakeDisk::default();
        keep(&mut SetAside::default(), &disk, ("ab", 0), b"\xff\x00a").unwrap();
        assert_eq!(
            disk.text(SET_ASIDE),
            "{\"generation\":\"ab\",\"offset\":0,\"hex\":\"ff0061\"}\n"
        );
    }

    #[test]
    fn a_torn_record_spoils_no_other() {
        let disk = FakeDisk::default();
        disk.put(SET_ASIDE, b"{\"generation\":\"a");
        keep(&mut SetAside::default(), &disk, ("ab", 1), b"x").unwrap();
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
        assert!(keep(&mut set_aside, &disk, ("ab", 1), b"x").is_err());
        disk.fail(Faults::default());
        keep(&mut set_aside, &disk, ("ab", 1), b"x").unwrap();
        assert_eq!(disk.text(SET_ASIDE).lines().count(), 1);
    }
}
