//! The memory behind every door: tools, resources, prompts, completion and the owner's own commands speak to it and to
//! nothing below.
//!
//! # Layout
//!
//! - `save`: keeping a memory, or finding that it is there already
//! - `search`: which memories answer a query, best first
//! - `recent`: which were saved last
//! - `vectors`: those of a provider, where one is configured
//! - `change`: update, forget, restore
//! - `changes`: what happened since somebody last asked
//! - `import`: many memories at once
//! - `care`: export, purge, figures, a scan of every byte
//! - `indexed`: the index, kept in step with the store

mod care;
mod change;
mod changes;
mod import;
mod indexed;
mod recent;
mod save;
mod search;
#[cfg(test)]
mod testing;
mod vectors;

pub use care::{Exported, Statistics};
pub use change::{ChangeError, Updated};
pub use changes::ChangeSet;
pub use import::ImportReport;
pub use save::{Merge, SaveError, Saved};
pub use search::{Recalled, SearchError};
pub(crate) use search::{importance_of, lifted, recency_of};
pub use vectors::{EmbedError, Wanted};

use jiff::Timestamp;

use crate::filter::Filter;
use crate::store::disk::Disk;
pub use crate::store::{Entry, Finding, Findings, Memory};
use crate::store::{Opened, RandomId, Store, StoreError};
use indexed::Indexed;

/// Answers whether a piece of work should stop for now. It comes from the edge, where the clock is.
pub type TimeIsUp<'a> = &'a mut dyn FnMut() -> bool;

impl Filter {
    /// Whether it lets a memory pass.
    pub fn admits(&self, entry: &Entry) -> bool {
        let has = |tag: &String| {
            entry
                .tags
                .iter()
                .any(|own| own.to_lowercase() == tag.to_lowercase())
        };
        self.kind.is_none_or(|kind| kind == entry.kind)
            && self.since.is_none_or(|since| since <= entry.created_at)
            && self.until.is_none_or(|until| entry.created_at <= until)
            && self
                .min_importance
                .is_none_or(|least| least <= entry.importance)
            && self.tags.iter().all(has)
    }
}

/// The store, and an index to search it.
pub struct MemoryBackend {
    store: Store,
    indexed: Indexed,
    /// The configured provider of vectors.
    embedder: Option<String>,
}

impl MemoryBackend {
    /// A backend over a disk. Opens nothing; `random_id` is asked when a store has to be created or rewritten.
    pub fn new(disk: Box<dyn Disk>, random_id: RandomId) -> Self {
        Self {
            store: Store::new(disk, random_id),
            indexed: Indexed::default(),
            embedder: None,
        }
    }

    /// Gets ready for calls until the time is up. True: what is there has been read and indexed.
    ///
    /// Every other call does the same to the end first; so this need not be called, and it is of no use to those who
    /// have all the time that a call may need.
    pub fn open(&mut self, time_is_up: TimeIsUp<'_>) -> Result<bool, StoreError> {
        Ok(self.follow_until(time_is_up)?.is_some())
    }

    /// Works on what nobody waits for until the time is up. True: nothing is left to do.
    ///
    /// A snapshot is written in one go, whatever the time, which a large store exceeds.
    pub fn step(&mut self, now: Timestamp, time_is_up: TimeIsUp<'_>) -> Result<bool, StoreError> {
        let Some(mut opened) = self.follow_until(time_is_up)? else {
            return Ok(false);
        };
        if !self.store.compact(&mut opened, now, time_is_up)? {
            return Ok(false);
        }
        // Nobody may rename a file that somebody has open, on some systems.
        drop(opened);
        if self.store.wants_index() || self.has_vectors_to_save() && self.store.can_write_index() {
            let derived = self.indexed.encode();
            self.store.write_index(&derived)?;
        }
        Ok(true)
    }

    /// The memory of this number, if it is there and not forgotten.
    ///
    /// # Errors
    ///
    /// Its line was damaged since it was read; the store can't be read.
    pub fn get(&mut self, id: u64) -> Result<Option<Memory>, StoreError> {
        let mut opened = self.follow()?;
        match self.store.entries().get(id) {
            Some(entry) => Ok(Some(Memory::new(entry, opened.text(entry)?))),
            None => Ok(None),
        }
    }

    /// All memories but the forgotten, newest first, without their texts.
    pub fn entries(&mut self) -> Result<impl Iterator<Item = &Entry>, StoreError> {
        self.follow()?;
        Ok(self.store.entries().newest_first(None))
    }

    /// Up to `count` memories, newest first, from below `before` (or from the newest): where a page goes on, whatever
    /// was saved meanwhile. And whether there are more.
    pub fn page(
        &mut self,
        before: Option<u64>,
        count: usize,
    ) -> Result<(Vec<Memory>, bool), StoreError> {
        let mut opened = self.follow()?;
        let mut page = Vec::new();
        let mut next = before;
        loop {
            let below = self.store.entries().newest_first(next).next();
            let Some(id) = below.map(|entry| entry.id) else {
                return Ok((page, false));
            };
            if page.len() == count {
                return Ok((page, true));
            }
            page.extend(self.store.memory(&mut opened, id)?);
            next = Some(id);
        }
    }

    /// What the person who runs the server should know, each once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.store.take_warnings()
    }

    /// Compacts journals from this size on.
    #[cfg(test)]
    pub(crate) fn compact_from(&mut self, bytes: u64) {
        self.store.compact_from = bytes;
    }

    /// Writes snapshots from this size of a tail on.
    #[cfg(test)]
    pub(crate) fn index_from(&mut self, bytes: u64) {
        self.store.index_from = bytes;
    }

    /// Takes in all that this and other processes wrote, and keeps the index in step.
    fn follow(&mut self) -> Result<Opened, StoreError> {
        let opened = self.follow_until(&mut || false)?;
        // Without an end to the time it goes on to the end of the journal.
        Ok(opened.unwrap_or_default())
    }

    /// The same until the time is up; `None` if there is more.
    fn follow_until(&mut self, time_is_up: TimeIsUp<'_>) -> Result<Option<Opened>, StoreError> {
        let Self { store, indexed, .. } = self;
        let mut outcome = Ok(());
        let followed = store.follow(time_is_up, &mut |entries, opened, changes| {
            if let Err(error) = indexed.take(entries, opened, changes) {
                outcome = Err(error);
            }
        })?;
        outcome?;
        if !followed.done {
            return Ok(None);
        }
        indexed.settle();
        Ok(Some(followed.opened))
    }
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "backend_sharing_tests.rs"]
mod sharing_tests;

#[cfg(test)]
#[path = "backend/snapshot_tests.rs"]
mod snapshot_tests;

#[cfg(test)]
#[path = "backend/own_set_tests.rs"]
mod own_set_tests;
