//! A memory: what is known of it, and where its text is.

use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use jiff::Timestamp;

use crate::config::Kind;

/// Where a line is in the journal, and which one.
///
/// The text of a memory stays there: a hundred thousand of them would be most of what an instance may use. `crc` is the
/// line's own checksum, so a line that has changed since is not taken for the one that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its first byte.
    pub(crate) offset: u64,
    /// Its bytes, without the newline.
    pub(crate) length: u32,
    /// Its checksum.
    pub(crate) crc: u32,
}

impl Place {
    /// What the line takes in the file, newline included.
    pub(crate) fn bytes(self) -> u64 {
        u64::from(self.length) + 1
    }
}

/// What is known of a memory without reading its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number: `m3` has 3.
    pub id: u64,
    /// What sort of knowledge it is.
    pub kind: Kind,
    /// In the order given.
    pub tags: Vec<String>,
    /// When it was saved.
    pub created_at: Timestamp,
    /// When it was last shown, or saved.
    pub last_accessed: Timestamp,
    /// From 1.0 to 10.0.
    pub importance: f64,
    /// Under which session it was saved.
    pub session: Option<Rc<str>>,
    /// When its text, kind, tags or importance last changed.
    pub modified_at: Timestamp,
    /// When it was forgotten; `None` for the living.
    pub forgotten_at: Option<Timestamp>,
    /// The line that holds its text.
    pub(crate) place: Place,
    /// Hash of its text. See [`content_hash`].
    pub(crate) content: u64,
    /// The `last_accessed` that is in the journal.
    pub(crate) touched_on_disk: Timestamp,
    /// The store's revision when it last changed in a way that people see.
    pub(crate) revision: u64,
}

impl Entry {
    /// Whether it can be found and read.
    pub fn is_living(&self) -> bool {
        self.forgotten_at.is_none()
    }
}

/// A memory with its text, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its number: `m3` has 3.
    pub id: u64,
    /// Exactly as it was saved.
    pub text: String,
    /// What sort of knowledge it is.
    pub kind: Kind,
    /// In the order given.
    pub tags: Vec<String>,
    /// When it was saved.
    pub created_at: Timestamp,
    /// When it was last shown, or saved.
    pub last_accessed: Timestamp,
    /// From 1.0 to 10.0.
    pub importance: f64,
    /// Under which session it was saved.
    pub session: Option<Rc<str>>,
    /// When its text, kind, tags or importance last changed.
    pub modified_at: Timestamp,
    /// When it was forgotten; `None` for the living.
    pub forgotten_at: Option<Timestamp>,
}

impl Memory {
    /// An entry and its text.
    pub(crate) fn new(entry: &Entry, text: String) -> Self {
        Self {
            id: entry.id,
            text,
            kind: entry.kind,
            tags: entry.tags.clone(),
            created_at: entry.created_at,
            last_accessed: entry.last_accessed,
            importance: entry.importance,
            session: entry.session.clone(),
            modified_at: entry.modified_at,
            forgotten_at: entry.forgotten_at,
        }
    }
}

/// Tells texts apart without reading them: equal ones have equal hashes, and who finds two equal hashes reads the
/// texts.
pub(crate) fn content_hash(text: &str) -> u64 {
    fingerprint(&[text.as_bytes()])
}

/// A hash of some parts in their order: the same on every machine. It may differ between versions of the program's
/// toolchain, so whoever keeps one on disk keeps [`fingerprint`] of nothing beside it, and trusts neither when that is
/// another one.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish()
}
