//! `index.bin`: a snapshot of all that is slow to derive, so that a start reads it and the journal's tail, not the journal.
//!
//! ```text
//! 0     8 bytes  "pmindex\0"
//! 8     u32      CRC-32 of the rest of the head
//! 12    u32      format
//! 16    u64      what this program's hashes are like: the fingerprint of nothing
//! 24    u32 u32  CRC-32 and length of the journal's first line, which names store and generation
//! 32    u64      how many bytes of the journal are covered
//! 40    u64      where the last line that is covered begins
//! 48    20 bytes how that line begins (its checksum, chained to all lines before), zeros behind it; then the length of that
//! 72    u32 u32  whether the checksum of the last line is known, and the checksum
//! 80    u64 u64  damaged lines, and gaps in the chain, that are covered
//! 96    u64 u64  length and checksum (see [`super::checksum`]) of each part, three times
//! 144            the parts: what the journal adds up to (see [`super::entries`]); which memories the pool has; the pool
//! ```
//!
//! Fixed numbers are little-endian. Vectors of a provider are in the pool, each under its embedder's name, so another
//! embedder voids nothing else.
//!
//! **Invariant:** losing the file loses nothing. It holds no text, it is used only if head, parts and journal agree in all
//! of the above, and whatever disagrees is derived anew from the journal.

use std::io;

use super::bytes::{In, Out};
use super::checksum::checksum;
use super::disk::{Access, Disk, DiskFile, explain};
use super::entries::Entries;
use super::entry::fingerprint;
use super::position::{HeaderState, Mark, Position};
use super::reader::{CHUNK_BYTES, LineReader, read_up_to};
use super::{Store, StoreError};

/// The file's name.
pub(crate) const INDEX: &str = "index.bin";

/// The name that it has while it is written. What is left of an interrupted write is replaced by the next one.
pub(super) const INDEX_COPY: &str = "index.bin.tmp";

/// Raised whenever the layout changes, or what is derived from a line. (The pool has a format of its own.)
const FORMAT: u32 = 2;

const MAGIC: &[u8; 8] = b"pmindex\0";
const PARTS: usize = 3;
const MARK_BYTES: usize = 20;
const HEAD_BYTES: usize = 96 + 16 * PARTS;

/// A tail of the journal that is shorter is not worth a new snapshot: some 250 memories are read and indexed within 10 ms.
pub(super) const MIN_TAIL_BYTES: u64 = 64 * 1024;

/// A tail is worth a snapshot from this part of the journal on. A snapshot is written as a whole and is about as large as
/// the journal, so a byte of the journal costs at most so many bytes of snapshots; and a start at a hundred thousand
/// memories has a thousand of them to index at most.
const TAIL_PART: u64 = 128;

/// What the index derives from the memories, as bytes that only it understands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Derived {
    /// Which memories the pool has.
    pub(crate) docs: Vec<u8>,
    /// The pool.
    pub(crate) pool: Vec<u8>,
}

/// Which stretch of which journal a snapshot covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Covered {
    first_line: (u32, u32),
    offset: u64,
}

/// What a snapshot holds.
pub(super) struct Loaded {
    pub(super) position: Position,
    /// With what was derived from them.
    pub(super) entries: Entries,
}

/// The head, as numbers.
struct Head {
    covered: Covered,
    mark: Mark,
    chain: Option<u32>,
    damaged: u64,
    gaps: u64,
    parts: [(u64, u64); PARTS],
}

fn first_line_of(position: &Position) -> (u32, u32) {
    let line = &position.first_line;
    (crc32fast::hash(line), line.len() as u32)
}

impl Head {
    fn encode(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.four(FORMAT);
        out.eight(fingerprint(&[]));
        out.four(self.covered.first_line.0);
        out.four(self.covered.first_line.1);
        out.eight(self.covered.offset);
        out.eight(self.mark.offset);
        let mut start = self.mark.start.clone();
        start.resize(MARK_BYTES, 0);
        out.0.extend(start);
        out.four(self.mark.start.len() as u32);
        out.four(self.chain.is_some().into());
        out.four(self.chain.unwrap_or(0));
        out.eight(self.damaged);
        out.eight(self.gaps);
        for (length, checksum) in self.parts {
            out.eight(length);
            out.eight(checksum);
        }
        let mut head = MAGIC.to_vec();
        head.extend(crc32fast::hash(&out.0).to_le_bytes());
        head.extend(out.0);
        head
    }

    /// `None` for what is not a head of this program's making.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = In(bytes.strip_prefix(MAGIC)?);
        if bytes.four()? != crc32fast::hash(bytes.0)
            || bytes.four()? != FORMAT
            || bytes.eight()? != fingerprint(&[])
        {
            return None;
        }
        let covered = Covered {
            first_line: (bytes.four()?, bytes.four()?),
            offset: bytes.eight()?,
        };
        let offset = bytes.eight()?;
        let start = bytes.take(MARK_BYTES)?;
        let length = bytes.four()? as usize;
        let mark = Mark {
            offset,
            start: start.get(..length)?.to_vec(),
        };
        let (has_chain, chain) = (bytes.four()?, bytes.four()?);
        let mut head = Self {
            covered,
            mark,
            chain: (has_chain != 0).then_some(chain),
            damaged: bytes.eight()?,
            gaps: bytes.eight()?,
            parts: [(0, 0); PARTS],
        };
        for part in &mut head.parts {
            *part = (bytes.eight()?, bytes.eight()?);
        }
        bytes.end().map(|()| head)
    }

    fn read(file: &mut dyn DiskFile) -> io::Result<Option<Self>> {
        Ok(Self::decode(&read_up_to(file, 0, HEAD_BYTES)?))
    }
}

/// Why a snapshot is of no use.
type Reason = &'static str;

/// Loads the snapshot of a journal that stands at its start. `None`: there is none, or none that is of use; the reason
/// is among the warnings.
pub(super) fn load(
    disk: &dyn Disk,
    journal: &mut dyn DiskFile,
    start: &Position,
    warnings: &mut Vec<String>,
) -> Option<Loaded> {
    let loaded = match disk.open(INDEX, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => Err(explain(&error)),
        Ok(mut file) => match try_load(file.as_mut(), journal, start) {
            Ok(outcome) => outcome.map_err(str::to_owned),
            Err(error) => Err(explain(&error)),
        },
    };
    loaded
        .map_err(|reason| {
            warnings.push(format!(
                "{INDEX}: {reason}; it is made anew, nothing is lost"
            ));
        })
        .ok()
}

fn try_load(
    file: &mut dyn DiskFile,
    journal: &mut dyn DiskFile,
    start: &Position,
) -> io::Result<Result<Loaded, Reason>> {
    const DAMAGED: Reason = "it is damaged";
    let Some(head) = Head::read(file)? else {
        return Ok(Err("it is damaged, or of another version"));
    };
    if head.covered.first_line != first_line_of(start) {
        return Ok(Err("it is of another journal"));
    }
    let lengths = head.parts.iter().map(|(length, _)| *length);
    let total = lengths.fold(HEAD_BYTES as u64, u64::saturating_add);
    if total != file.size()? {
        return Ok(Err(DAMAGED));
    }
    let position = Position {
        first_line: start.first_line.clone(),
        generation: start.generation.clone(),
        reader: LineReader::starting_at(head.covered.offset),
        last: head.mark,
        chain: head.chain,
        header: HeaderState::Settled,
        damaged: head.damaged,
        gaps: head.gaps,
        ..Position::default()
    };
    if !position.is_in(journal)? {
        return Ok(Err("the journal is not the one that it was made of"));
    }
    let mut parts: [Vec<u8>; PARTS] = Default::default();
    let mut offset = HEAD_BYTES as u64;
    for (part, (length, sum)) in parts.iter_mut().zip(head.parts) {
        // Not more than the file is long.
        *part = read_up_to(file, offset, length as usize)?;
        if part.len() as u64 != length || checksum(part) != sum {
            return Ok(Err(DAMAGED));
        }
        offset += length;
    }
    let [entries, docs, pool] = parts;
    let Some(entries) = Entries::decode(entries, Derived { docs, pool }) else {
        return Ok(Err(DAMAGED));
    };
    Ok(Ok(Loaded { position, entries }))
}

impl Loaded {
    /// Which stretch it covers.
    pub(super) fn covered(&self) -> Covered {
        Covered {
            first_line: first_line_of(&self.position),
            offset: self.position.reader.offset,
        }
    }
}

impl Store {
    /// Whether the journal has grown enough since the last snapshot, by whomever that was written.
    pub(crate) fn wants_index(&mut self) -> bool {
        if self.journal.rejects_index {
            return self.can_write_index();
        }
        if !self.tail_is_long() {
            return false;
        }
        let Ok(mut file) = self.disk.open(INDEX, Access::Read) else {
            return true;
        };
        if let Ok(Some(head)) = Head::read(file.as_mut()) {
            self.journal.covered = Some(head.covered);
        }
        self.tail_is_long()
    }

    fn tail_is_long(&self) -> bool {
        let Some(position) = self.journal.position() else {
            return false;
        };
        let end = position.reader.offset;
        let of_this = |covered: &Covered| covered.first_line == first_line_of(position);
        let covered = self.journal.covered.filter(of_this);
        let tail = end.saturating_sub(covered.map_or(0, |covered| covered.offset));
        tail > 0 && tail >= self.index_from.max(end / TAIL_PART) && self.can_write_index()
    }

    /// Whether a snapshot could be written of where the journal stands.
    pub(crate) fn can_write_index(&self) -> bool {
        let sound = |position: &Position| {
            !position.unkept
                && !position.reader.is_in_long_line()
                && position.header == HeaderState::Settled
        };
        self.journal.position().is_some_and(sound) && self.journal.writable().is_ok()
    }

    /// Writes a snapshot of where the journal stands: to a temporary file, synced, then renamed. The directory is not
    /// synced, for the old file is as good. The journal must have been followed within the same call.
    ///
    /// A failure counts as written, so that the next attempt comes when the journal has grown again.
    pub(crate) fn write_index(&mut self, derived: &Derived) -> Result<(), StoreError> {
        let Some(position) = self.journal.position() else {
            return Ok(());
        };
        let mut entries = Out::default();
        self.entries.encode(&mut entries);
        let parts = [&entries.0, &derived.docs, &derived.pool];
        let covered = Covered {
            first_line: first_line_of(position),
            offset: position.reader.offset,
        };
        let head = Head {
            covered,
            mark: position.last.clone(),
            chain: position.chain,
            damaged: position.damaged,
            gaps: position.gaps,
            parts: parts.map(|part| (part.len() as u64, checksum(part))),
        };
        self.journal.covered = Some(covered);
        self.journal.rejects_index = false;
        let disk = self.disk.as_ref();
        let [entries, docs, pool] = parts;
        write(disk, [&head.encode(), entries, docs, pool]).map_err(|error| {
            let _ = disk.remove(INDEX_COPY);
            StoreError::Write(error)
        })
    }
}

fn write(disk: &dyn Disk, parts: [&[u8]; PARTS + 1]) -> io::Result<()> {
    disk.remove(INDEX_COPY)?;
    let mut file = disk.open(INDEX_COPY, Access::CreateNew)?;
    // Some runtimes write no more at once.
    for chunk in parts.iter().flat_map(|part| part.chunks(CHUNK_BYTES)) {
        file.append(chunk)?;
    }
    file.sync_data()?;
    drop(file);
    disk.rename(INDEX_COPY, INDEX)
}
