//! What the journal adds up to, as bytes: the part of `index.bin` that saves reading the journal.
//!
//! ```text
//! store id, next id, ids to leave out, reached, listed, known from, bytes of lines that hold texts
//! how many sessions, each a string
//! how many memories; where the record of each ends (a u32); their records, in the order of their ids:
//!   content hash, CRC, id, offset, length, creation, a byte of signs, revision, and what the signs say that there is
//! ```
//!
//! A record says all about its memory, so it can be read without those before it.

use std::fmt;
use std::rc::Rc;

use jiff::Timestamp;

use super::super::bytes::{In, Out};
use super::super::entry::{Entry, Place};
use super::super::index::Derived;
use super::super::line::MAX_LINE_BYTES;
use super::book::Book;
use super::{Entries, Revisions};
use crate::config::{DEFAULT_IMPORTANCE, Kind, MAX_IMPORTANCE, MIN_IMPORTANCE};

/// The lowest two bits of the signs are the kind.
const KIND: u8 = 0b11;
const HAS_IMPORTANCE: u8 = 1 << 2;
const HAS_SESSION: u8 = 1 << 3;
const HAS_TAGS: u8 = 1 << 4;
/// Any time but that of creation.
const HAS_TIMES: u8 = 1 << 5;
const IS_FORGOTTEN: u8 = 1 << 6;

/// Where the content hash of a record is, and its id, which is a number of several bytes.
const ID_AT: usize = 8 + 4;

/// The memories of a snapshot, as bytes.
#[derive(Default)]
pub(super) struct Records {
    /// Where each record ends, counted from the first one.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// Where the first one begins.
    start: usize,
    /// By the number that a record gives.
    sessions: Vec<Rc<str>>,
}

impl Records {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The id of a record, whatever else is in it.
    pub(super) fn id(&self, record: u32) -> Option<u64> {
        In(self.bytes(record)?.get(ID_AT..)?).number()
    }

    /// The content hash in a record.
    pub(super) fn content(&self, record: u32) -> Option<u64> {
        In(self.bytes(record)?).eight()
    }

    /// When the memory was saved.
    pub(super) fn created(&self, record: u32) -> Option<Timestamp> {
        let mut bytes = In(self.bytes(record)?.get(ID_AT..)?);
        let [_id, _offset, _length] = [bytes.number()?, bytes.number()?, bytes.number()?];
        Timestamp::from_millisecond(bytes.signed()?).ok()
    }

    /// The memory.
    pub(super) fn entry(&self, record: u32) -> Option<Entry> {
        decode_entry(&mut In(self.bytes(record)?), &self.sessions)
    }

    fn bytes(&self, record: u32) -> Option<&[u8]> {
        let record = record as usize;
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes
            .get(self.start..)?
            .get(start as usize..*self.ends.get(record)? as usize)
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.len())
    }
}

impl Entries {
    /// Everything but what was changed since it was last taken.
    pub(crate) fn encode(&self, out: &mut Out) {
        out.string(&self.store);
        let revisions = self.revisions;
        for number in [
            self.next_id,
            self.gap,
            revisions.reached,
            revisions.listed,
            revisions.known_from,
            self.live_bytes,
        ] {
            out.number(number);
        }
        let mut sessions: Vec<&str> = self.sessions.iter().map(Rc::as_ref).collect();
        sessions.sort_unstable();
        out.number(sessions.len() as u64);
        sessions.iter().for_each(|session| out.string(session));
        out.number(self.by_id.len() as u64);
        let mut ends = Vec::with_capacity(self.by_id.len());
        let mut records = Out::default();
        self.by_id.each(|entry| {
            encode_entry(entry, &sessions, &mut records);
            ends.push(records.0.len() as u32);
        });
        ends.into_iter().for_each(|end| out.four(end));
        out.0.extend(records.0);
    }

    /// The same from bytes, as all that changed; `None` if they are damaged.
    pub(crate) fn decode(all: Vec<u8>, derived: Derived) -> Option<Self> {
        let mut bytes = In(&all);
        let mut entries = Self {
            store: bytes.string()?.to_owned(),
            next_id: bytes.number()?,
            gap: bytes.number()?,
            revisions: Revisions {
                reached: bytes.number()?,
                listed: bytes.number()?,
                known_from: bytes.number()?,
            },
            live_bytes: bytes.number()?,
            derived: Some(derived),
            was_reset: true,
            ..Self::default()
        };
        let sessions: Vec<Rc<str>> = (0..bytes.count()?)
            .map(|_| bytes.string().map(Rc::from))
            .collect::<Option<_>>()?;
        let count = bytes.count()?;
        let ends = bytes.take(count.checked_mul(4)?)?.as_chunks().0;
        let ends: Vec<u32> = ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        let length = bytes.0.len();
        if !ends.is_sorted() || ends.last().map_or(0, |last| *last as usize) != length {
            return None;
        }
        entries.sessions = sessions.iter().map(Rc::clone).collect();
        entries.by_id = Book::of(Records {
            ends,
            start: all.len() - length,
            bytes: all,
            sessions,
        })?;
        Some(entries)
    }
}

fn encode_entry(entry: &Entry, sessions: &[&str], out: &mut Out) {
    let created = entry.created_at.as_millisecond();
    out.eight(entry.content);
    out.four(entry.place.crc);
    out.number(entry.id);
    out.number(entry.place.offset);
    out.number(entry.place.length.into());
    out.signed(created);
    let times = [
        entry.modified_at,
        entry.last_accessed,
        entry.touched_on_disk,
    ];
    let sign = |sign: u8, applies: bool| if applies { sign } else { 0 };
    let signs = Kind::ALL
        .iter()
        .position(|kind| *kind == entry.kind)
        .map_or(0, |kind| kind as u8)
        | sign(HAS_IMPORTANCE, entry.importance != DEFAULT_IMPORTANCE)
        | sign(HAS_SESSION, entry.session.is_some())
        | sign(HAS_TAGS, !entry.tags.is_empty())
        | sign(
            HAS_TIMES,
            times.iter().any(|time| *time != entry.created_at),
        )
        | sign(IS_FORGOTTEN, entry.forgotten_at.is_some());
    out.0.push(signs);
    out.number(entry.revision);
    if signs & HAS_IMPORTANCE != 0 {
        out.eight(entry.importance.to_bits());
    }
    if let Some(session) = entry.session.as_deref() {
        // The set of sessions has those of all memories.
        out.number(sessions.binary_search(&session).unwrap_or(0) as u64);
    }
    if signs & HAS_TAGS != 0 {
        out.number(entry.tags.len() as u64);
        entry.tags.iter().for_each(|tag| out.string(tag));
    }
    if signs & HAS_TIMES != 0 {
        for time in times {
            out.signed(time.as_millisecond().wrapping_sub(created));
        }
    }
    if let Some(at) = entry.forgotten_at {
        out.signed(at.as_millisecond().wrapping_sub(created));
    }
}

fn decode_entry(bytes: &mut In<'_>, sessions: &[Rc<str>]) -> Option<Entry> {
    let content = bytes.eight()?;
    let crc = bytes.four()?;
    let id = bytes.number()?;
    let place = Place {
        offset: bytes.number()?,
        length: bytes
            .number()?
            .try_into()
            .ok()
            .filter(|length| *length as usize <= MAX_LINE_BYTES)?,
        crc,
    };
    let created = bytes.signed()?;
    let created_at = Timestamp::from_millisecond(created).ok()?;
    let signs = bytes.byte()?;
    let has = |sign: u8| signs & sign != 0;
    let mut entry = Entry {
        id,
        kind: *Kind::ALL.get(usize::from(signs & KIND))?,
        tags: Vec::new(),
        created_at,
        last_accessed: created_at,
        importance: DEFAULT_IMPORTANCE,
        session: None,
        modified_at: created_at,
        forgotten_at: None,
        place,
        content,
        touched_on_disk: created_at,
        revision: bytes.number()?,
    };
    if has(HAS_IMPORTANCE) {
        let importance = f64::from_bits(bytes.eight()?);
        let is_in_range = (MIN_IMPORTANCE..=MAX_IMPORTANCE).contains(&importance);
        entry.importance = is_in_range.then_some(importance)?;
    }
    if has(HAS_SESSION) {
        let session = usize::try_from(bytes.number()?).ok()?;
        entry.session = Some(Rc::clone(sessions.get(session)?));
    }
    if has(HAS_TAGS) {
        entry.tags = (0..bytes.count()?)
            .map(|_| bytes.string().map(str::to_owned))
            .collect::<Option<_>>()?;
    }
    let mut time = || {
        let since = bytes.signed()?;
        Timestamp::from_millisecond(created.wrapping_add(since)).ok()
    };
    if has(HAS_TIMES) {
        entry.modified_at = time()?;
        entry.last_accessed = time()?;
        entry.touched_on_disk = time()?;
    }
    if has(IS_FORGOTTEN) {
        entry.forgotten_at = Some(time()?);
    }
    Some(entry)
}
