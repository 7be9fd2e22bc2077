//! Where we stand in the journal, and what its bytes turn out to be.
//!
//! **Invariant:** every byte that was passed is accounted for: it was part of an intact line, or it was set aside and
//! counted. Bytes after the last newline are not passed until they are complete.

use std::io;

use super::disk::{Disk, DiskFile, explain};
use super::entry::Place;
use super::error::StoreError;
use super::event::{Event, FORMAT, Header};
use super::journal::{Apply, Found, JOURNAL};
use super::line::{
    Line, MAX_LINE_BYTES, MIN_SAVE_BYTES, complete, header_format, lines_in, salvage,
};
use super::reader::{LineReader, Piece, read_up_to};
use super::set_aside::{SET_ASIDE, SetAside};
use crate::security::parse_id;

/// Where we stand in the file.
#[derive(Default)]
pub(super) struct Position {
    /// The first line as it is in the file: a file that starts otherwise is another one.
    pub(super) first_line: Vec<u8>,
    /// From the header, or made up where that is lost.
    pub(super) generation: String,
    pub(super) reader: LineReader,
    /// The last line that was passed.
    pub(super) last: Mark,
    /// Checksum of the last line; `None` where it is unknown, after damage.
    pub(super) chain: Option<u32>,
    /// Bytes after the last line that are not one: a write that was interrupted.
    pub(super) torn: Vec<u8>,
    pub(super) header: HeaderState,
    /// Lines that were set aside.
    pub(super) damaged: u64,
    /// Places where lines are missing, repeated or out of order.
    pub(super) gaps: u64,
    /// How many of both were reported.
    pub(super) reported: (u64, u64),
    /// Whether some bytes could not be set aside: then the file must not be rewritten, for it has the only copy.
    pub(super) unkept: bool,
    /// Whether the file's name is known to be durable. Another process may have put the file there and died before it
    /// was; what is written into it is acknowledged only after that.
    pub(super) name_is_durable: bool,
}

/// Where a line is and how it begins. That holds its checksum, and each checksum covers the one before: a file that has
/// the same bytes there was the same up to there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mark {
    pub(super) offset: u64,
    pub(super) start: Vec<u8>,
}

impl Mark {
    /// `{"crc":"xxxxxxxx"`.
    const BYTES: usize = 17;

    pub(super) fn at(offset: u64, line: &[u8]) -> Self {
        Self {
            offset,
            start: match line {
                b"" => b"\n".to_vec(),
                _ => line[..line.len().min(Self::BYTES)].to_vec(),
            },
        }
    }

    fn is_in(&self, file: &mut dyn DiskFile) -> io::Result<bool> {
        Ok(read_up_to(file, self.offset, self.start.len())? == self.start)
    }
}

/// Whether the header was met.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum HeaderState {
    #[default]
    Expected,
    Settled,
}

/// Where the contents of the file go.
pub(super) struct Sink<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) apply: Apply<'a>,
    pub(super) set_aside: &'a mut SetAside,
    pub(super) warnings: &'a mut Vec<String>,
}

impl Position {
    /// A position at the start of a file, or `None` if there is not even a whole line in it.
    pub(super) fn open(file: &mut dyn DiskFile) -> io::Result<Option<Self>> {
        let mut start = read_up_to(file, 0, MAX_LINE_BYTES)?;
        let text = start
            .iter()
            .position(|&byte| byte != b'\n')
            .unwrap_or(start.len());
        let newline = start[text..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map(|at| text + at + 1);
        let line = &start[text..newline.map_or(start.len(), |end| end - 1)];
        if newline.is_none() && start.len() < MAX_LINE_BYTES && complete(line).is_none() {
            return Ok(None);
        }
        let header = lines_in(line)
            .0
            .into_iter()
            .find_map(|(line, _)| match line.event {
                Event::Journal(header) => Some(header),
                _ => None,
            });
        let is_known = |header: &Header| header.format <= FORMAT;
        if !header.as_ref().is_some_and(is_known)
            && let Some(newer) = header_format(line).filter(|format| *format > FORMAT.into())
        {
            return Err(StoreError::newer(newer));
        }
        let generation = match header {
            Some(header) => header.generation,
            None => format!("damaged-{:08x}", crc32fast::hash(line)),
        };
        start.truncate(newline.unwrap_or(start.len()));
        Ok(Some(Self {
            first_line: start,
            generation,
            chain: Some(0),
            ..Self::default()
        }))
    }

    /// Whether a file still is the one that was read, and has not lost any of that. An older copy that was put in its
    /// place and has grown since then begins the same; the last line tells them apart.
    pub(super) fn is_in(&self, file: &mut dyn DiskFile) -> io::Result<bool> {
        Ok(file.size()? >= self.reader.offset
            && read_up_to(file, 0, self.first_line.len())? == self.first_line
            && self.last.is_in(file)?)
    }

    /// Reads the next chunk. True: that was the end of the file.
    pub(super) fn read(
        &mut self,
        file: &mut dyn DiskFile,
        sink: &mut Sink<'_>,
    ) -> io::Result<bool> {
        let mut reader = self.reader.clone();
        let rest = reader.read(file, |offset, piece| match piece {
            Piece::Line(bytes) => self.line(offset, bytes, sink),
            Piece::Long(bytes) => {
                self.last = Mark::at(offset, bytes);
                self.chain = None;
                self.unusable(offset, bytes, true, sink);
                self.settle_header(sink);
            }
            Piece::EndOfLong(bytes) => {
                self.last = Mark::at(offset, bytes);
                self.unusable(offset, bytes, false, sink);
            }
        })?;
        let is_end = rest.is_some();
        if let Some(rest) = rest {
            self.unterminated(&mut reader, rest, sink);
        }
        self.reader = reader;
        if let Err(error) = sink.set_aside.flush(sink.disk) {
            self.unkept = true;
            sink.warnings.push(format!(
                "{SET_ASIDE}: can't be written ({})",
                explain(&error)
            ));
        }
        Ok(is_end)
    }

    /// What stands after the last newline: lines that lack only that are whole, even where the newline between two of
    /// them is damaged. What comes after the last one is torn.
    fn unterminated(&mut self, reader: &mut LineReader, rest: Vec<u8>, sink: &mut Sink<'_>) {
        let whole = if reader.is_in_long_line() {
            0
        } else {
            let (lines, _) = salvage(&rest);
            lines.last().map_or(0, |(_, range)| range.end)
        };
        if whole > 0 {
            self.line(reader.offset, &rest[..whole], sink);
            reader.offset += whole as u64;
        }
        self.torn = rest[whole..].to_vec();
    }

    fn line(&mut self, offset: u64, bytes: &[u8], sink: &mut Sink<'_>) {
        self.last = Mark::at(offset, bytes);
        if bytes.is_empty() {
            return;
        }
        let (lines, leftovers) = lines_in(bytes);
        if leftovers {
            self.chain = None;
            self.unusable(offset, bytes, true, sink);
        }
        for (line, range) in lines {
            let place = Place {
                offset: offset + range.start as u64,
                // No line is longer than `MAX_LINE_BYTES`.
                length: range.len() as u32,
                crc: line.crc,
            };
            self.event(offset, bytes, (line, place), sink);
        }
        self.settle_header(sink);
    }

    /// A line whose own checksum holds.
    fn event(
        &mut self,
        offset: u64,
        bytes: &[u8],
        (line, place): (Line, Place),
        sink: &mut Sink<'_>,
    ) {
        if self.chain.is_some_and(|chain| chain != line.prev) {
            self.gaps += 1;
        }
        self.chain = Some(line.crc);
        let outcome = match (&line.event, self.header) {
            (Event::Journal(_), HeaderState::Settled) => Err("a second header"),
            _ => {
                if matches!(line.event, Event::Journal(_)) {
                    self.header = HeaderState::Settled;
                }
                (sink.apply)(Found::Event(line.event, place))
            }
        };
        if let Err(reason) = outcome {
            sink.warnings.push(format!(
                "{JOURNAL}: the line at byte {offset} makes no sense: {reason}"
            ));
            self.unusable(offset, bytes, true, sink);
        }
    }

    /// Bytes that say nothing; `starts` unless they are the rest of a line that was counted already.
    fn unusable(&mut self, offset: u64, bytes: &[u8], starts: bool, sink: &mut Sink<'_>) {
        self.damaged += u64::from(starts);
        sink.set_aside.keep(&self.generation, offset, bytes);
        lose(bytes, sink.apply);
    }

    /// After the first line the header was met, or never will be.
    fn settle_header(&mut self, sink: &mut Sink<'_>) {
        if self.header == HeaderState::Expected {
            self.header = HeaderState::Settled;
            let _ = (sink.apply)(Found::HeaderLost);
        }
    }
}

/// Tells which ids may have been given out in bytes that can't be used: those that can still be read in them, and a
/// number for each memory that they are long enough to have held, one at least.
pub(super) fn lose(bytes: &[u8], apply: Apply<'_>) {
    let memories = (bytes.len() as u64 + 1) / MIN_SAVE_BYTES as u64;
    // What is lost contradicts nothing, so nothing is refused.
    let _ = apply(Found::Lost(memories.max(1)));
    for id in ids_in(bytes) {
        let _ = apply(Found::Seen(id));
    }
}

/// The ids that the remains of a line name, under whatever key. (Within a text quotes are escaped, so none is found
/// there; a tag may look like one.)
pub(super) fn ids_in(bytes: &[u8]) -> Vec<u64> {
    const START: &str = "\"m";
    let text = String::from_utf8_lossy(bytes);
    text.match_indices(START)
        .filter_map(|(at, _)| text[at + 1..].split_once('"'))
        .filter_map(|(id, _)| parse_id(id))
        .collect()
}
