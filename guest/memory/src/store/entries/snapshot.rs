//! What the journal adds up to, as bytes: the part of `index.bin` that saves reading the journal.
//!
//! ```text
//! store id, next id, ids to leave out, reached, listed, known from
//! how many sessions, each a string
//! how many memories, each (in the order of their ids):
//!   id, offset, creation (each less that of the memory before), a byte of signs,
//!   length, CRC, content hash, revision, and what the signs say that there is
//! ```

use std::rc::Rc;

use jiff::Timestamp;

use super::super::bytes::{In, Out};
use super::super::entry::{Entry, Place};
use super::super::index::Derived;
use super::{Entries, Revisions};
use crate::config::{DEFAULT_IMPORTANCE, Kind};

/// The lowest two bits of the signs are the kind.
const KIND: u8 = 0b11;
const HAS_IMPORTANCE: u8 = 1 << 2;
const HAS_SESSION: u8 = 1 << 3;
const HAS_TAGS: u8 = 1 << 4;
/// Any time but that of creation.
const HAS_TIMES: u8 = 1 << 5;
const IS_FORGOTTEN: u8 = 1 << 6;

/// What is given as a difference from the memory before.
#[derive(Default)]
struct Before {
    id: u64,
    offset: u64,
    created: i64,
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
        ] {
            out.number(number);
        }
        let mut sessions: Vec<&str> = self.sessions.iter().map(Rc::as_ref).collect();
        sessions.sort_unstable();
        out.number(sessions.len() as u64);
        sessions.iter().for_each(|session| out.string(session));
        out.number(self.by_id.len() as u64);
        let mut before = Before::default();
        for entry in self.by_id.values() {
            encode_entry(entry, &sessions, &mut before, out);
        }
    }

    /// The same from bytes, as all that changed; `None` if they are damaged.
    pub(crate) fn decode(bytes: &[u8], derived: Derived) -> Option<Self> {
        let mut bytes = In(bytes);
        let mut entries = Self {
            store: bytes.string()?.to_owned(),
            next_id: bytes.number()?,
            gap: bytes.number()?,
            revisions: Revisions {
                reached: bytes.number()?,
                listed: bytes.number()?,
                known_from: bytes.number()?,
            },
            derived: Some(derived),
            was_reset: true,
            ..Self::default()
        };
        let sessions: Vec<Rc<str>> = (0..bytes.count()?)
            .map(|_| bytes.string().map(Rc::from))
            .collect::<Option<_>>()?;
        let count = bytes.count()?;
        let mut all = Vec::with_capacity(count);
        let mut before = Before::default();
        for index in 0..count {
            let last = before.id;
            let entry = decode_entry(&mut bytes, &sessions, &mut before)?;
            if index > 0 && entry.id <= last {
                return None;
            }
            entries.live_bytes += entry.place.bytes();
            all.push((entry.id, Rc::new(entry)));
        }
        bytes.end()?;
        entries.by_content = all.iter().map(|(id, entry)| (entry.content, *id)).collect();
        entries.by_id = all.into_iter().collect();
        entries.sessions = sessions.into_iter().collect();
        Some(entries)
    }
}

fn encode_entry(entry: &Entry, sessions: &[&str], before: &mut Before, out: &mut Out) {
    let created = entry.created_at.as_millisecond();
    out.number(entry.id.wrapping_sub(before.id));
    out.signed(entry.place.offset.wrapping_sub(before.offset) as i64);
    out.signed(created.wrapping_sub(before.created));
    *before = Before {
        id: entry.id,
        offset: entry.place.offset,
        created,
    };
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
    out.number(entry.place.length.into());
    out.four(entry.place.crc);
    out.eight(entry.content);
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

fn decode_entry(bytes: &mut In<'_>, sessions: &[Rc<str>], before: &mut Before) -> Option<Entry> {
    let id = before.id.wrapping_add(bytes.number()?);
    let offset = before.offset.wrapping_add(bytes.signed()? as u64);
    let created = before.created.wrapping_add(bytes.signed()?);
    *before = Before {
        id,
        offset,
        created,
    };
    let signs = bytes.byte()?;
    let has = |sign: u8| signs & sign != 0;
    let created_at = Timestamp::from_millisecond(created).ok()?;
    let place = Place {
        offset,
        length: bytes.number()?.try_into().ok()?,
        crc: bytes.four()?,
    };
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
        content: bytes.eight()?,
        touched_on_disk: created_at,
        revision: bytes.number()?,
    };
    if has(HAS_IMPORTANCE) {
        entry.importance = f64::from_bits(bytes.eight()?);
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
