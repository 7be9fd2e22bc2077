//! `journal.jsonl`: reading what it has gained, and appending to it.
//!
//! **Invariants.** The file is opened by its name in each call and never kept open, for another process may have
//! replaced it. Nothing is remembered of its length: what other processes append is read before anything is done. What
//! can't be used is set aside, counted and reported, and everything else is served.

use std::io;

use super::disk::{Access, Disk, DiskFile, explain};
use super::entry::Place;
use super::error::StoreError;
use super::event::{Event, Header};
pub(crate) use super::found::{Apply, Found};
use super::index::{self, Covered};
use super::line::{MAX_LINE_BYTES, encode};
use super::position::{HeaderState, Mark, Position, Sink, lose};
use super::reader::{LineReader, read_up_to};
use super::set_aside::{SET_ASIDE, SetAside, ends_with_newline};

/// The file's name.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// The journal of a store.
#[derive(Default)]
pub(crate) struct Journal {
    /// `None` while there is no file, or nothing in it.
    at: Option<Position>,
    set_aside: SetAside,
    /// What the last snapshot covers, as far as is known.
    pub(super) covered: Option<Covered>,
    /// Whether there is a snapshot that was of no use.
    pub(super) rejects_index: bool,
    /// Whether the journal has to be read itself, because a line behind a snapshot turned out to be damaged.
    reads_all: bool,
    /// Why nothing may be written any more, by this instance.
    frozen: Option<String>,
    warnings: Vec<String>,
}

impl Journal {
    /// Opens the file for reading, if there is one, and sees whether it still is the one that was read before.
    pub(crate) fn open(
        &mut self,
        disk: &dyn Disk,
        apply: Apply<'_>,
    ) -> Result<Option<Box<dyn DiskFile>>, StoreError> {
        let mut file = match disk.open(JOURNAL, Access::Read) {
            Ok(file) => file,
            Err(_) if !disk.is_there() => return Err(StoreError::NoDirectory),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.reset(apply);
                return Ok(None);
            }
            Err(error) => return Err(StoreError::Read(error)),
        };
        self.recognise(disk, file.as_mut(), apply)
            .map_err(|error| self.unread(error, apply))?;
        Ok(Some(file))
    }

    /// Reads the next chunk of what the file has gained. True: that was all of it.
    pub(crate) fn read_on(
        &mut self,
        disk: &dyn Disk,
        file: &mut dyn DiskFile,
        apply: Apply<'_>,
    ) -> Result<bool, StoreError> {
        let Some(position) = &mut self.at else {
            return Ok(true);
        };
        let mut sink = Sink {
            disk,
            apply: &mut *apply,
            set_aside: &mut self.set_aside,
            warnings: &mut self.warnings,
        };
        position
            .read(file, &mut sink)
            .map_err(|error| self.unread(error, apply))
    }

    fn recognise(
        &mut self,
        disk: &dyn Disk,
        file: &mut dyn DiskFile,
        apply: Apply<'_>,
    ) -> io::Result<()> {
        if let Some(position) = &self.at
            && !position.is_in(file)?
        {
            self.reset(apply);
        }
        if self.at.is_none() {
            self.at = Position::open(file)?;
            self.take_snapshot(disk, file, apply);
        }
        Ok(())
    }

    /// Goes on from where a snapshot ends, if there is one of this file.
    fn take_snapshot(&mut self, disk: &dyn Disk, file: &mut dyn DiskFile, apply: Apply<'_>) {
        let Some(start) = &self.at else { return };
        if std::mem::take(&mut self.reads_all) {
            self.rejects_index = true;
            return;
        }
        let before = self.warnings.len();
        let loaded = index::load(disk, file, start, &mut self.warnings);
        self.rejects_index = self.warnings.len() > before;
        if let Some(loaded) = loaded {
            self.covered = Some(loaded.covered());
            self.at = Some(loaded.position);
            // A snapshot contradicts nothing.
            let _ = apply(Found::Snapshot(Box::new(loaded.entries)));
        }
    }

    /// Read half, it counts as unread.
    fn unread(&mut self, error: io::Error, apply: Apply<'_>) -> StoreError {
        self.at = None;
        let _ = apply(Found::Reset);
        StoreError::from_read(error)
    }

    /// Puts damage that was met and not reported yet among the warnings.
    pub(crate) fn report(&mut self) {
        let Some(position) = &mut self.at else { return };
        let now = (position.damaged, position.gaps);
        let (damaged, gaps) = (now.0 - position.reported.0, now.1 - position.reported.1);
        position.reported = now;
        if damaged > 0 {
            self.warnings.push(format!(
                "{JOURNAL}: {damaged} damaged line(s) can't be used; a copy is kept in {SET_ASIDE}, all else is served"
            ));
        }
        if gaps > 0 {
            self.warnings.push(format!(
                "{JOURNAL}: at {gaps} place(s) lines are missing, repeated or out of order"
            ));
        }
    }

    /// Forgets what was read, so that the next call reads the file from its start.
    pub(crate) fn read_again(&mut self, apply: Apply<'_>) {
        self.reads_all = true;
        self.reset(apply);
    }

    /// Where we stand; `None` while there is no file.
    pub(super) fn position(&self) -> Option<&Position> {
        self.at.as_ref()
    }

    /// Another file took the journal's place: this is where we stand in that.
    pub(super) fn replaced(&mut self, position: Position) {
        self.at = Some(position);
    }

    fn reset(&mut self, apply: Apply<'_>) {
        if self.at.take().is_some() {
            // Refusing makes no sense here: nothing was asked.
            let _ = apply(Found::Reset);
        }
    }

    /// Whether anything may be written.
    pub(crate) fn writable(&self) -> Result<(), StoreError> {
        match &self.frozen {
            Some(reason) => Err(StoreError::Frozen(reason.clone())),
            None => Ok(()),
        }
    }

    /// Whether there is a journal yet.
    pub(crate) fn exists(&self) -> bool {
        self.at.is_some()
    }

    /// Starts the file with its header, durably. The journal must have been mended within the same call.
    pub(crate) fn create(&mut self, disk: &dyn Disk, header: &Header) -> Result<(), StoreError> {
        self.writable()?;
        let mut file = disk
            .open(JOURNAL, Access::Append)
            .map_err(StoreError::Write)?;
        let generation = header.generation.clone();
        let (line, crc) = encode(0, &Event::Journal(header.clone()))
            .map_err(|error| StoreError::Write(error.into()))?;
        self.write(file.as_mut(), 0, &line, true)?;
        disk.sync_dir()
            .map_err(|error| self.freeze("the directory could not be made durable", &error))?;
        let reader = LineReader::starting_at(line.len() as u64);
        let header = HeaderState::Settled;
        self.at = Some(Position {
            last: Mark::at(0, &line),
            first_line: line,
            generation,
            reader,
            chain: Some(crc),
            header,
            name_is_durable: true,
            ..Position::default()
        });
        Ok(())
    }

    /// Adds events, all of them or none, durably if asked: one sync. Returns where their lines are. The
    /// journal must have been followed within the same call, and mended: after an interrupted write it does not end
    /// where it was read to, and is left alone.
    pub(crate) fn append(
        &mut self,
        disk: &dyn Disk,
        events: &[Event],
        durable: bool,
    ) -> Result<Vec<Place>, StoreError> {
        self.writable()?;
        let mut file = disk
            .open(JOURNAL, Access::Append)
            .map_err(StoreError::Write)?;
        let Some(position) = &mut self.at else {
            return Err(StoreError::Changed);
        };
        if durable && !position.name_is_durable {
            disk.sync_dir().map_err(StoreError::Write)?;
            position.name_is_durable = true;
        }
        let end = position.reader.offset;
        let mut chain = position.chain.unwrap_or(0);
        let mut bytes = Vec::new();
        if !ends_with_newline(file.as_mut()).map_err(StoreError::Write)? {
            bytes.push(b'\n');
        }
        let mut places = Vec::with_capacity(events.len());
        for event in events {
            let (line, crc) =
                encode(chain, event).map_err(|error| StoreError::Write(error.into()))?;
            if line.len() > MAX_LINE_BYTES {
                return Err(StoreError::Write(io::Error::other(
                    "the line would be too long to be read again",
                )));
            }
            places.push(Place {
                offset: end + bytes.len() as u64,
                length: line.len() as u32 - 1,
                crc,
            });
            bytes.extend(line);
            chain = crc;
        }
        self.write(file.as_mut(), end, &bytes, durable)?;
        if let (Some(position), Some(last)) = (&mut self.at, places.last()) {
            let start = (last.offset - end) as usize;
            position.last = Mark::at(last.offset, &bytes[start..]);
            position.reader = LineReader::starting_at(end + bytes.len() as u64);
            position.chain = Some(chain);
        }
        Ok(places)
    }

    /// Appends bytes to a file that is `end` long. What fails is undone; what can't be undone freezes the journal.
    fn write(
        &mut self,
        file: &mut dyn DiskFile,
        end: u64,
        bytes: &[u8],
        durable: bool,
    ) -> Result<(), StoreError> {
        if file.size().map_err(StoreError::Write)? != end {
            return Err(StoreError::Changed);
        }
        if let Err(error) = file.append(bytes) {
            return Err(match file.set_len(end) {
                Ok(()) => StoreError::Write(error),
                // All but the newline may be there, and then the line counts.
                Err(cut) => self.doubt("an interrupted write could not be undone", &cut),
            });
        }
        if durable && let Err(error) = file.sync_data() {
            // The system may have dropped what it could not write and call the file clean: a second sync would prove
            // nothing. The line must go, or a retry would find it and call it saved.
            return Err(match file.set_len(end) {
                Ok(()) => self.freeze("a write could not be made durable", &error),
                Err(_) => self.doubt("a write could be neither made durable nor undone", &error),
            });
        }
        Ok(())
    }

    pub(super) fn freeze(&mut self, what: &str, error: &io::Error) -> StoreError {
        let reason = format!("{what} ({})", explain(error));
        self.frozen = Some(reason.clone());
        StoreError::Frozen(reason)
    }

    /// Freezes the journal over a write that may be on the disk or not.
    pub(super) fn doubt(&mut self, what: &str, error: &io::Error) -> StoreError {
        let reason = format!("{what} ({})", explain(error));
        self.frozen = Some(reason.clone());
        StoreError::InDoubt(reason)
    }

    /// Cuts off an interrupted write, after its bytes were set aside, so that lines can be appended. What was cut may
    /// have been a memory: tells the ids that are lost with it. True if any are, which nobody else can know from now on.
    pub(crate) fn mend(&mut self, disk: &dyn Disk, apply: Apply<'_>) -> Result<bool, StoreError> {
        self.writable()?;
        if self
            .at
            .as_ref()
            .is_some_and(|position| position.torn.is_empty())
        {
            return Ok(false);
        }
        let mut file = disk
            .open(JOURNAL, Access::Append)
            .map_err(StoreError::Write)?;
        let file = file.as_mut();
        let size = file.size().map_err(StoreError::Write)?;
        let (end, torn, generation) = match &mut self.at {
            Some(position) => (
                position.reader.offset,
                std::mem::take(&mut position.torn),
                position.generation.as_str(),
            ),
            // Not even the header was finished; unless somebody has written one meanwhile.
            None => match Position::open(file).map_err(StoreError::from_read)? {
                None => (
                    0,
                    read_up_to(file, 0, MAX_LINE_BYTES).map_err(StoreError::Write)?,
                    "unfinished",
                ),
                Some(_) => return Err(StoreError::Changed),
            },
        };
        if torn.is_empty() {
            return Ok(false);
        }
        if size != end + torn.len() as u64 {
            return Err(StoreError::Changed);
        }
        self.set_aside.keep(generation, end, &torn);
        // Until they are there, the journal has the only copy.
        self.set_aside.flush(disk).map_err(StoreError::Write)?;
        file.set_len(end).map_err(StoreError::Write)?;
        self.warnings.push(format!(
            "{JOURNAL}: {} bytes of an interrupted write were cut off",
            torn.len()
        ));
        if self.at.is_none() {
            // No memory comes before the header.
            return Ok(false);
        }
        lose(&torn, apply);
        Ok(true)
    }

    /// Lines that could not be used.
    #[cfg(test)]
    pub(crate) fn damaged(&self) -> u64 {
        self.at.as_ref().map_or(0, |position| position.damaged)
    }

    /// Places where lines are missing, repeated or out of order.
    #[cfg(test)]
    pub(crate) fn gaps(&self) -> u64 {
        self.at.as_ref().map_or(0, |position| position.gaps)
    }

    /// Something else that the person who runs the server should know.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// What the person who runs the server should know, each once.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "journal_ids_tests.rs"]
mod ids_tests;
