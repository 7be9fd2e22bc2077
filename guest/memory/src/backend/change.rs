//! Changing, forgetting and restoring a memory.

use std::fmt;

use super::{Entry, Memory, MemoryBackend};
use crate::request::Moment;
use crate::security::UpdateArgs;
use crate::store::{Change, StoreError};

/// Why a memory was not changed.
#[derive(Debug)]
pub enum ChangeError {
    /// The store failed.
    Store(StoreError),
    /// There is no such memory.
    NotFound {
        /// Its number.
        id: u64,
    },
    /// It is forgotten, where a living one is needed.
    Forgotten {
        /// Its number.
        id: u64,
    },
    /// It is not forgotten, so it can't be restored.
    NotForgotten {
        /// Its number.
        id: u64,
    },
    /// The request makes no sense; the text says why.
    Invalid(String),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::NotFound { id } => write!(f, "there is no memory m{id}"),
            Self::Forgotten { id } => write!(f, "m{id} is forgotten"),
            Self::NotForgotten { id } => write!(f, "m{id} is not forgotten"),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ChangeError {}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated {
    /// False: it said all that before.
    pub changed: bool,
}

impl MemoryBackend {
    /// What is known of a living memory, and its text; `None` if that can't be read any more.
    pub fn living(&mut self, id: u64) -> Result<(Entry, Option<String>), ChangeError> {
        let mut opened = self.follow()?;
        let entry = self.entry(id)?;
        match opened.text(entry) {
            Ok(text) => Ok((entry.clone(), Some(text))),
            Err(StoreError::Unreadable { .. }) => Ok((entry.clone(), None)),
            Err(error) => Err(error.into()),
        }
    }

    /// A living memory.
    ///
    /// # Errors
    ///
    /// Which of the two it is if it is not there or forgotten; as [`MemoryBackend::get`].
    pub fn memory(&mut self, id: u64) -> Result<Memory, ChangeError> {
        let mut opened = self.follow()?;
        let entry = self.entry(id)?;
        Ok(Memory::new(entry, opened.text(entry)?))
    }

    /// A living memory in a store that was followed.
    fn entry(&self, id: u64) -> Result<&Entry, ChangeError> {
        match self.store.entries().any(id) {
            None => Err(ChangeError::NotFound { id }),
            Some(entry) if !entry.is_living() => Err(ChangeError::Forgotten { id }),
            Some(entry) => Ok(entry),
        }
    }

    /// Changes a living memory, durably. It may come to say what another one says: both stay.
    pub fn update(&mut self, args: &UpdateArgs, moment: &Moment) -> Result<Updated, ChangeError> {
        let mut opened = self.follow()?;
        self.store.writable()?;
        let id = args.id;
        let entry = self.entry(id)?;
        let says_so = match &args.text {
            // A text that can't be read any more is mended by saying it anew.
            Some(text) => opened.text(entry).is_ok_and(|own| own == *text),
            None => true,
        };
        let change = Change {
            text: args.text.clone().filter(|_| !says_so),
            kind: args.kind.filter(|kind| *kind != entry.kind),
            tags: args.tags.clone().filter(|tags| *tags != entry.tags),
            importance: args
                .importance
                .filter(|importance| *importance != entry.importance),
        };
        if change == Change::default() {
            return Ok(Updated { changed: false });
        }
        self.store.update(id, change, moment.now())?;
        Ok(Updated { changed: true })
    }

    /// Hides a living memory, durably: it is neither found nor listed, and the same text can be saved as a new one.
    pub fn forget(&mut self, id: u64, moment: &Moment) -> Result<(), ChangeError> {
        self.follow()?;
        self.store.writable()?;
        self.entry(id)?;
        Ok(self.store.forget(&[id], moment.now())?)
    }

    /// Brings a forgotten memory back, durably, as it was. If the same text was saved again meanwhile, both live: each
    /// has an id that somebody may have noted.
    pub fn restore(&mut self, id: u64, moment: &Moment) -> Result<Memory, ChangeError> {
        let mut opened = self.follow()?;
        self.store.writable()?;
        let Some(entry) = self.store.entries().any(id) else {
            return Err(ChangeError::NotFound { id });
        };
        if entry.is_living() {
            return Err(ChangeError::NotForgotten { id });
        }
        let text = opened.text(entry)?;
        self.store.restore(&[id], moment.now())?;
        match self.store.entries().get(id) {
            Some(entry) => Ok(Memory::new(entry, text)),
            None => Err(ChangeError::NotFound { id }),
        }
    }
}
