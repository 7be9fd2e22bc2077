//! A file's bytes as lines, read in pieces of bounded size.

use std::io;

use super::disk::DiskFile;
use super::line::MAX_LINE_BYTES;

/// Bytes read at a time, more than the longest line: large enough that a system call costs nothing beside parsing; small
/// beside a slice of work, since nobody looks at the clock before all of it is indexed.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes that stand between two newlines, or a part of such.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A whole line, without its newline.
    Line(&'a [u8]),
    /// The next bytes of a line that is longer than any line may be. Its end comes as [`Piece::EndOfLong`].
    Long(&'a [u8]),
    /// The last bytes of an overlong line, without its newline.
    EndOfLong(&'a [u8]),
}

/// Reads a file from where the last reading ended.
#[derive(Clone, Debug, Default)]
pub(super) struct LineReader {
    /// Where the next piece starts.
    pub(crate) offset: u64,
    /// Whether that is in the middle of an overlong line.
    in_long_line: bool,
}

impl LineReader {
    /// A reader that goes on after `offset` bytes, where a line ends.
    pub(super) fn starting_at(offset: u64) -> Self {
        Self {
            offset,
            in_long_line: false,
        }
    }

    /// A reader that goes on where another one has come to.
    pub(super) fn resuming(offset: u64, in_long_line: bool) -> Self {
        Self {
            offset,
            in_long_line,
        }
    }

    /// Whether the next piece belongs to an overlong line.
    pub(super) fn is_in_long_line(&self) -> bool {
        self.in_long_line
    }

    /// Hands out the lines of the next chunk, each with its offset. At the end of the file returns the bytes after its
    /// last newline, shorter than a line may be; they are read again next time. `None`: there is more to read.
    pub(super) fn read(
        &mut self,
        file: &mut dyn DiskFile,
        mut each: impl FnMut(u64, Piece<'_>),
    ) -> io::Result<Option<Vec<u8>>> {
        let unread = file.size()?.saturating_sub(self.offset);
        let wanted = usize::try_from(unread)
            .unwrap_or(usize::MAX)
            .min(CHUNK_BYTES);
        let mut bytes = read_up_to(file, self.offset, wanted)?;
        let is_all = bytes.len() < wanted || wanted as u64 == unread;
        let used = self.hand_out(&bytes, &mut each);
        bytes.drain(..used);
        Ok(is_all.then_some(bytes))
    }

    /// Hands out the whole lines in `bytes`, and overlong parts. Returns how many bytes that were.
    fn hand_out(&mut self, bytes: &[u8], each: &mut impl FnMut(u64, Piece<'_>)) -> usize {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let window = &rest[..rest.len().min(MAX_LINE_BYTES)];
            let newline = window.iter().position(|&byte| byte == b'\n');
            let (piece, length) = match newline {
                Some(at) if self.in_long_line => (Piece::EndOfLong(&window[..at]), at + 1),
                Some(at) => (Piece::Line(&window[..at]), at + 1),
                None if window.len() == MAX_LINE_BYTES => (Piece::Long(window), window.len()),
                None => return used,
            };
            self.in_long_line = newline.is_none();
            each(self.offset, piece);
            self.offset += length as u64;
            used += length;
        }
    }
}

/// Up to `count` bytes from an offset in a file.
pub(super) fn read_up_to(
    file: &mut dyn DiskFile,
    offset: u64,
    count: usize,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count);
    let mut filled = 0;
    while filled < count {
        // What is zeroed is still in the cache when it is read into.
        bytes.resize(count.min(filled + CHUNK_BYTES), 0);
        match file.read_at(offset + filled as u64, &mut bytes[filled..])? {
            0 => break,
            more => filled += more,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::disk::{Access, Disk};
    use super::super::fake::FakeDisk;
    use super::*;

    /// Pieces as (offset, kind and length), and what is left.
    fn read(reader: &mut LineReader, disk: &FakeDisk) -> (Vec<(u64, String)>, Vec<u8>) {
        let mut pieces = Vec::new();
        let mut file = disk.open("f", Access::Append).unwrap();
        loop {
            let rest = reader
                .read(file.as_mut(), |offset, piece| {
                    let piece = match piece {
                        Piece::Line(bytes) => format!("line {}", String::from_utf8_lossy(bytes)),
                        Piece::Long(bytes) => format!("long {}", bytes.len()),
                        Piece::EndOfLong(bytes) => format!("end {}", bytes.len()),
                    };
                    pieces.push((offset, piece));
                })
                .unwrap();
            if let Some(rest) = rest {
                return (pieces, rest);
            }
        }
    }

    fn pieces(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
        expected
            .iter()
            .map(|(offset, piece)| (*offset, (*piece).to_owned()))
            .collect()
    }

    #[test]
    fn reading_goes_on_where_it_ended() {
        let disk = FakeDisk::default();
        let mut reader = LineReader::default();
        assert_eq!(read(&mut reader, &disk), (vec![], vec![]));
        disk.put("f", b"one\n\ntw");
        assert_eq!(
            read(&mut reader, &disk),
            (pieces(&[(0, "line one"), (4, "line ")]), b"tw".to_vec())
        );
        disk.put("f", b"one\n\ntwo\nthree");
        assert_eq!(
            read(&mut reader, &disk),
            (pieces(&[(5, "line two")]), b"three".to_vec())
        );
        assert_eq!(reader.offset, 9);
    }

    #[test]
    fn lines_across_chunks_are_whole() {
        let disk = FakeDisk::default();
        let line = "x".repeat(999);
        disk.put("f", format!("{line}\n").repeat(3000).as_bytes());
        let (found, rest) = read(&mut LineReader::default(), &disk);
        assert_eq!(found.len(), 3000);
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(at, found)| *found == (at as u64 * 1000, format!("line {line}")))
        );
        assert!(rest.is_empty());
    }

    #[test]
    fn an_overlong_line_comes_in_parts_and_ends_where_it_ends() {
        let disk = FakeDisk::default();
        let mut reader = LineReader::default();
        let max = MAX_LINE_BYTES as u64;
        let mut bytes = vec![b'x'; 2 * MAX_LINE_BYTES + 10];
        disk.put("f", &bytes);
        let long = format!("long {MAX_LINE_BYTES}");
        assert_eq!(
            read(&mut reader, &disk),
            (pieces(&[(0, &long), (max, &long)]), vec![b'x'; 10])
        );
        bytes.extend(b"\nnext\n");
        disk.put("f", &bytes);
        assert_eq!(
            read(&mut reader, &disk).0,
            pieces(&[(2 * max, "end 10"), (2 * max + 11, "line next")])
        );
    }
}
