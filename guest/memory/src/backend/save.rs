//! Keeping a memory, or finding that it is there already.

use std::fmt;

use super::{Entry, MemoryBackend};
use crate::config::{DEFAULT_IMPORTANCE, MAX_TAGS};
use crate::request::Moment;
use crate::security::SaveArgs;
use crate::store::{Change, StoreError};

/// What became of a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The memory's number.
    pub id: u64,
    /// False when the same text and kind was there already.
    pub created: bool,
    /// What that one gained by it; nothing for a new one.
    pub merged: Merge,
}

/// What saving a memory again adds to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merge {
    /// Tags that it did not have.
    pub tags: Vec<String>,
    /// A higher importance.
    pub importance: Option<f64>,
}

impl Merge {
    /// What `args` add to a memory that has these tags and this importance.
    ///
    /// # Errors
    ///
    /// How many tags it would have, if that is too many.
    pub(super) fn of((tags, importance): (&[String], f64), args: &SaveArgs) -> Result<Self, usize> {
        let new = args.tags.iter().filter(|tag| !tags.contains(tag));
        let new: Vec<String> = new.cloned().collect();
        match tags.len() + new.len() {
            count if count > MAX_TAGS && !new.is_empty() => Err(count),
            _ => Ok(Self {
                tags: new,
                importance: args.importance.filter(|own| *own > importance),
            }),
        }
    }

    /// Whether it changes anything.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The change that it is for a memory with these tags.
    pub(super) fn change(&self, tags: &[String]) -> Change {
        let all = tags.iter().chain(&self.tags).cloned().collect();
        Change {
            tags: Some(all).filter(|_| !self.tags.is_empty()),
            importance: self.importance,
            ..Change::default()
        }
    }
}

/// Why something could not be saved.
#[derive(Debug)]
pub enum SaveError {
    /// The store failed.
    Store(StoreError),
    /// The memory is there already, and would have too many tags with the new ones.
    TooManyTags {
        /// The memory's number.
        id: u64,
        /// How many tags it would have.
        count: usize,
    },
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::TooManyTags { id, count } => {
                write!(
                    f,
                    "tags must be at most {MAX_TAGS} together with those that m{id} has already, got {count}"
                )
            }
        }
    }
}

impl std::error::Error for SaveError {}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl MemoryBackend {
    /// Saves a memory, durably. The same text and kind again is the memory that is there: what is new in tags and
    /// importance goes into it. (Clients retry; nobody wants it twice.)
    pub fn save(&mut self, args: &SaveArgs, moment: &Moment) -> Result<Saved, SaveError> {
        let mut opened = self.follow()?;
        self.store.writable()?;
        let same = self
            .store
            .same(&mut opened, (&args.text, args.kind), Entry::is_living)?;
        if let Some(entry) = same {
            let id = entry.id;
            let merged = Merge::of((&entry.tags, entry.importance), args)
                .map_err(|count| SaveError::TooManyTags { id, count })?;
            if !merged.is_nothing() {
                let change = merged.change(&entry.tags);
                self.store.update(id, change, moment.now())?;
            }
            return Ok(Saved {
                id,
                created: false,
                merged,
            });
        }
        let importance = args.importance.unwrap_or(DEFAULT_IMPORTANCE);
        let id = self
            .store
            .save(&args.text, args.kind, &args.tags, importance, moment)?;
        Ok(Saved {
            id,
            created: true,
            merged: Merge::default(),
        })
    }
}
