//! Writing the journal anew, without what is dead in it.
//!
//! It goes in slices, between which other processes (and this one) go on appending to the old file. The new file gets
//! the memories as they were when the rewrite began, then the events since then, chained anew; once it has caught up
//! with the old one, it takes its name. Until then it is a temporary file that nobody reads, so a rewrite can be
//! abandoned at any point, and a crash leaves either journal, whole.

use std::io;
use std::rc::Rc;

use super::disk::{Access, Disk};
use super::entry::{Entry, Place};
use super::error::StoreError;
use super::event::{Event, Header, Id, Save};
use super::journal::JOURNAL;
use super::line::{encode, lines_in};
use super::opened::Opened;
use super::position::{HeaderState, Mark, Position};
use super::reader::{CHUNK_BYTES, LineReader, read_up_to};

/// A rewrite that is under way.
pub(super) struct Rewrite {
    /// The temporary file.
    name: String,
    header: Header,
    /// The memories as they were when it began.
    snapshot: Vec<Rc<Entry>>,
    /// Those before this one are copied.
    next: usize,
    /// What the old journal holds before this byte is in the new one.
    caught_up: u64,
    /// Damaged lines that the old journal had when it began: those after it can't be copied.
    pub(super) damaged: u64,
    /// Where the lines are that hold texts, in the order of the new file.
    places: Vec<(u64, Place)>,
    /// How long the new file is.
    written: u64,
    /// Its last line.
    last: (u64, Vec<u8>),
    chain: u32,
    first_line: Vec<u8>,
}

/// The name of a rewrite's file: both generations, so that two processes never write into one file, and so that it shows
/// whether the journal that it is made from still is the journal.
fn temporary_name(source: &str, generation: &str) -> String {
    format!("{PREFIX}{source}-{generation}{SUFFIX}")
}

/// Bytes that are copied before the clock is looked at. Tests have little to copy, and want several slices of it.
const SLICE_BYTES: usize = if cfg!(test) { 16 * 1024 } else { CHUNK_BYTES };

const PREFIX: &str = "journal-";
const SUFFIX: &str = ".tmp";

/// Whether this is the file of a rewrite, and one that is good for nothing: made from another journal than the present.
/// (One from the present journal may be another process's, which is at it.)
pub(super) fn is_leftover(name: &str, present: &str) -> bool {
    is_temporary(name)
        && !name
            .strip_prefix(PREFIX)
            .is_some_and(|rest| rest.starts_with(&format!("{present}-")))
}

/// Whether this is the file of a rewrite.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

impl Rewrite {
    /// Begins a rewrite of the journal, which has been read to its end.
    pub(super) fn start(
        disk: &dyn Disk,
        source: &Position,
        header: Header,
        snapshot: Vec<Rc<Entry>>,
    ) -> Result<Self, StoreError> {
        let name = temporary_name(&source.generation, &header.generation);
        let (first_line, chain) = encode(0, &Event::Journal(header.clone()))
            .map_err(|error| StoreError::Write(error.into()))?;
        let begun = disk
            .open(&name, Access::CreateNew)
            .and_then(|mut file| file.append(&first_line));
        if let Err(error) = begun {
            let _ = disk.remove(&name);
            return Err(StoreError::Write(error));
        }
        Ok(Self {
            name,
            header,
            snapshot,
            next: 0,
            caught_up: source.reader.offset,
            damaged: source.damaged,
            places: Vec::new(),
            written: first_line.len() as u64,
            last: (0, first_line.clone()),
            chain,
            first_line,
        })
    }

    /// Copies on until the time is up, but at least a chunk. True: the new file has all that the old one holds before
    /// `end`.
    pub(super) fn advance(
        &mut self,
        disk: &dyn Disk,
        opened: &mut Opened,
        end: u64,
        time_is_up: &mut dyn FnMut() -> bool,
    ) -> Result<bool, StoreError> {
        let mut file = disk
            .open(&self.name, Access::Append)
            .map_err(StoreError::Write)?;
        if file.size().map_err(StoreError::Write)? != self.written {
            return Err(StoreError::Changed);
        }
        loop {
            let bytes = if self.next < self.snapshot.len() {
                self.memories(opened)?
            } else if self.caught_up < end {
                self.events(opened, end)?
            } else {
                return Ok(true);
            };
            file.append(&bytes).map_err(StoreError::Write)?;
            let is_done = self.next == self.snapshot.len() && self.caught_up >= end;
            if !is_done && time_is_up() {
                return Ok(false);
            }
        }
    }

    /// The lines of the next memories.
    fn memories(&mut self, opened: &mut Opened) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        while let Some(entry) = self.snapshot.get(self.next)
            && bytes.len() < SLICE_BYTES
        {
            let event = Event::Save(copy_of(entry, opened.text(entry)?));
            self.next += 1;
            self.push(&mut bytes, event)?;
        }
        Ok(bytes)
    }

    /// The lines of what happened since it began: a chunk of the old journal's end.
    fn events(&mut self, opened: &mut Opened, end: u64) -> Result<Vec<u8>, StoreError> {
        let Some(old) = &mut opened.0 else {
            return Err(StoreError::Changed);
        };
        let wanted = usize::try_from(end - self.caught_up)
            .unwrap_or(usize::MAX)
            .min(CHUNK_BYTES);
        let mut chunk =
            read_up_to(old.as_mut(), self.caught_up, wanted).map_err(StoreError::Read)?;
        if self.caught_up + (chunk.len() as u64) < end {
            let whole = chunk.iter().rposition(|byte| *byte == b'\n');
            chunk.truncate(whole.map_or(0, |newline| newline + 1));
        }
        if chunk.is_empty() {
            return Err(StoreError::Changed);
        }
        self.caught_up += chunk.len() as u64;
        let mut bytes = Vec::new();
        for line in chunk
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            // Damage stops a rewrite, so all of it are lines, even if an editor has changed how they end.
            for (line, _) in lines_in(line).0 {
                self.push(&mut bytes, line.event)?;
            }
        }
        Ok(bytes)
    }

    fn push(&mut self, bytes: &mut Vec<u8>, event: Event) -> Result<(), StoreError> {
        let (line, crc) =
            encode(self.chain, &event).map_err(|error| StoreError::Write(error.into()))?;
        let holds_text_of = match &event {
            Event::Save(save) => Some(save.id),
            Event::Update(update) => update.text.as_ref().map(|_| update.id),
            _ => None,
        };
        let place = Place {
            offset: self.written,
            length: line.len() as u32 - 1,
            crc,
        };
        self.places.extend(holds_text_of.map(|Id(id)| (id, place)));
        self.written += line.len() as u64;
        self.chain = crc;
        bytes.extend_from_slice(&line);
        self.last = (place.offset, line);
        Ok(())
    }

    /// Makes the new file durable and gives it the journal's name.
    ///
    /// On systems where a file that somebody has open can't be replaced the last step fails; nobody keeps one open
    /// between calls, so under the lock it is only a backup program or an editor that can be in the way, and the next
    /// attempt may succeed.
    pub(super) fn install(&self, disk: &dyn Disk) -> io::Result<()> {
        let mut file = disk.open(&self.name, Access::Append)?;
        if file.size()? != self.written {
            return Err(io::Error::other("another program wrote to the new journal"));
        }
        file.sync_data()?;
        drop(file);
        disk.rename(&self.name, JOURNAL)
    }

    /// Removes the temporary file.
    pub(super) fn abandon(&self, disk: &dyn Disk) {
        let _ = disk.remove(&self.name);
    }

    /// What those who had read the old journal have to know to go on with the new one.
    pub(super) fn finish(self) -> (Position, Vec<(u64, Place)>, Header) {
        let position = Position {
            first_line: self.first_line,
            generation: self.header.generation.clone(),
            reader: LineReader::starting_at(self.written),
            last: Mark::at(self.last.0, &self.last.1),
            chain: Some(self.chain),
            header: HeaderState::Settled,
            name_is_durable: true,
            ..Position::default()
        };
        (position, self.places, self.header)
    }
}

/// A memory as one line: what later events changed is in it.
fn copy_of(entry: &Entry, text: String) -> Save {
    let unless_created = |time| Some(time).filter(|time| *time != entry.created_at);
    Save {
        id: Id(entry.id),
        text,
        kind: entry.kind,
        tags: entry.tags.clone(),
        importance: entry.importance,
        created_at: entry.created_at,
        session: entry.session.as_deref().map(str::to_owned),
        modified_at: unless_created(entry.modified_at),
        last_accessed: unless_created(entry.last_accessed),
        forgotten_at: entry.forgotten_at,
        revision: Some(entry.revision),
    }
}
