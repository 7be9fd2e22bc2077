//! Looking at every byte of the store, to say whether all is well.
//!
//! Following the journal meets damage too; but it tells no places, and it remembers what it has passed. A scan starts at
//! the first byte and believes nothing.

use std::io;

use super::Store;
use super::disk::{Access, Disk, DiskFile};
use super::erase::SET_ASIDE_COPY;
use super::error::StoreError;
use super::event::Event;
use super::journal::JOURNAL;
use super::line::{Line, lines_in, salvage};
use super::position::Position;
use super::reader::{LineReader, Piece};
use super::rewrite::is_temporary;
use super::set_aside::SET_ASIDE;

/// Something that is wrong with the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file's name.
    pub file: String,
    /// The byte in it.
    pub offset: u64,
    /// What is wrong, and what was done about it.
    pub problem: String,
}

/// A part of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// In the order of the files' bytes.
    pub found: Vec<Finding>,
    /// Where the scan goes on; none at its end.
    pub next_cursor: Option<String>,
}

/// A page is not longer than this and what one chunk adds to it.
const MAX_FINDINGS: usize = 256;

/// How far a scan has come.
#[derive(Clone, Debug, Default)]
struct Stand {
    generation: String,
    offset: u64,
    in_long_line: bool,
    /// The checksum of the last line; `None` after damage.
    chain: Option<u32>,
}

impl Store {
    /// Scans the journal, then looks at the other files, until the time is up. A cursor that names no place in the
    /// present journal (it was rewritten meanwhile) starts over; `None` is one that was not given out here.
    pub(crate) fn scan(
        &self,
        cursor: Option<&str>,
        time_is_up: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Findings>, StoreError> {
        let disk = self.disk.as_ref();
        let mut findings = Findings::default();
        let mut stand = match cursor.map(Stand::parse) {
            None => Stand::default(),
            Some(Some(stand)) => stand,
            Some(None) => return Ok(None),
        };
        match disk.open(JOURNAL, Access::Read) {
            Ok(mut journal) => {
                let done = stand
                    .journal(journal.as_mut(), &mut findings.found, time_is_up)
                    .map_err(StoreError::from_read)?;
                if !done {
                    findings.next_cursor = Some(stand.to_string());
                    return Ok(Some(findings));
                }
            }
            Err(_) if !disk.is_there() => return Err(StoreError::NoDirectory),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::Read(error)),
        }
        other_files(disk, &mut findings.found).map_err(StoreError::Read)?;
        Ok(Some(findings))
    }
}

impl Stand {
    fn parse(cursor: &str) -> Option<Self> {
        let mut parts = cursor.split('.');
        let mut next = || parts.next();
        let stand = Self {
            generation: next()?.to_owned(),
            offset: next()?.parse().ok()?,
            in_long_line: next()? == "long",
            chain: match next()? {
                "" => None,
                chain => Some(u32::from_str_radix(chain, 16).ok()?),
            },
        };
        next().is_none().then_some(stand)
    }

    /// Scans on in the journal. True: that was its end.
    fn journal(
        &mut self,
        file: &mut dyn DiskFile,
        found: &mut Vec<Finding>,
        time_is_up: &mut dyn FnMut() -> bool,
    ) -> io::Result<bool> {
        let Some(start) = Position::open(file)? else {
            if file.size()? > 0 {
                found.push(journal(
                    0,
                    "the header was never finished; it is cut off with the next save",
                ));
            }
            return Ok(true);
        };
        if self.generation != start.generation {
            *self = Self {
                generation: start.generation,
                chain: Some(0),
                ..Self::default()
            };
        }
        let mut reader = LineReader::resuming(self.offset, self.in_long_line);
        loop {
            let rest = reader.read(file, |offset, piece| match piece {
                Piece::Line(bytes) => self.line(offset, bytes, found),
                Piece::Long(_) => {
                    self.chain = None;
                    found.push(journal(
                        offset,
                        "a line that is longer than any can be; a copy is set aside when it is met",
                    ));
                }
                Piece::EndOfLong(_) => {}
            })?;
            (self.offset, self.in_long_line) = (reader.offset, reader.is_in_long_line());
            if let Some(rest) = rest {
                if !rest.is_empty() {
                    self.unterminated(&rest, found);
                }
                return Ok(true);
            }
            if found.len() >= MAX_FINDINGS || time_is_up() {
                return Ok(false);
            }
        }
    }

    fn line(&mut self, offset: u64, bytes: &[u8], found: &mut Vec<Finding>) {
        if bytes.is_empty() {
            return;
        }
        let (lines, leftovers) = lines_in(bytes);
        if leftovers {
            self.chain = None;
            found.push(journal(
                offset,
                "a damaged line; a copy is set aside when it is met, and all else is served",
            ));
        }
        for (line, _) in lines {
            self.intact(offset, &line, found);
        }
    }

    fn intact(&mut self, offset: u64, line: &Line, found: &mut Vec<Finding>) {
        if offset == 0 && !matches!(line.event, Event::Journal(_)) {
            found.push(journal(0, "the header is missing"));
        } else if self.chain.is_some_and(|chain| chain != line.prev) {
            found.push(journal(
                offset,
                "before this line others are missing, repeated or out of order",
            ));
        }
        self.chain = Some(line.crc);
    }

    fn unterminated(&mut self, rest: &[u8], found: &mut Vec<Finding>) {
        let whole = salvage(rest).0.last().map_or(0, |(_, range)| range.end);
        if whole > 0 {
            self.line(self.offset, &rest[..whole], found);
        }
        if whole < rest.len() {
            found.push(journal(
                self.offset + whole as u64,
                "an interrupted write; it is cut off with the next change",
            ));
        }
    }
}

impl std::fmt::Display for Stand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = if self.in_long_line { "long" } else { "" };
        write!(f, "{}.{}.{line}.", self.generation, self.offset)?;
        match self.chain {
            Some(chain) => write!(f, "{chain:08x}"),
            None => Ok(()),
        }
    }
}

fn journal(offset: u64, problem: &str) -> Finding {
    Finding {
        file: JOURNAL.to_owned(),
        offset,
        problem: problem.to_owned(),
    }
}

/// What interrupted work has left, and the lines that were set aside.
fn other_files(disk: &dyn Disk, found: &mut Vec<Finding>) -> io::Result<()> {
    let mut names = disk.list()?;
    names.sort_unstable();
    for name in names {
        if is_temporary(&name) || name == SET_ASIDE_COPY {
            found.push(Finding {
                file: name,
                offset: 0,
                problem: "left by a rewrite of the store that was interrupted (or is under way); it is removed with the \
                          next one"
                    .to_owned(),
            });
        }
    }
    for offset in records(disk)? {
        found.push(Finding {
            file: SET_ASIDE.to_owned(),
            offset,
            problem:
                "a damaged line of the journal is kept here; remove the file when it is of no use"
                    .to_owned(),
        });
    }
    Ok(())
}

/// Where the set-aside records begin.
pub(super) fn records(disk: &dyn Disk) -> io::Result<Vec<u64>> {
    let mut offsets = Vec::new();
    let mut file = match disk.open(SET_ASIDE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(offsets),
        file => file?,
    };
    let mut reader = LineReader::default();
    let mut goes_on = false;
    loop {
        let rest = reader.read(file.as_mut(), |offset, piece| {
            let is_empty = matches!(piece, Piece::Line(b""));
            if !goes_on && !is_empty {
                offsets.push(offset);
            }
            goes_on = matches!(piece, Piece::Long(_));
        })?;
        if let Some(rest) = rest {
            if !rest.is_empty() && !goes_on {
                offsets.push(reader.offset);
            }
            return Ok(offsets);
        }
    }
}

impl Store {
    /// How many lines were set aside.
    pub(crate) fn set_aside_lines(&self) -> Result<u64, StoreError> {
        let records = records(self.disk.as_ref()).map_err(StoreError::Read)?;
        Ok(records.len() as u64)
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
