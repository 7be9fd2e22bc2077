//! The store: a journal on disk, and in memory what it adds up to.
//!
//! Every call follows the journal first, then acts: other processes write to it between calls (under a lock that the
//! host holds around each call). An event is written, made durable and only then taken in, so what was acknowledged is
//! on the disk, and what failed has not happened.
//!
//! **Invariant:** no text is kept in memory beyond the call that needs it. A text is read from its line in the journal,
//! and shown only if the line still is the one that was read before.

mod bytes;
mod change;
mod checksum;
pub mod disk;
mod entries;
mod entry;
mod erase;
mod error;
pub(crate) mod event;
#[cfg(test)]
pub(crate) mod fake;
mod found;
mod index;
pub(crate) mod journal;
mod line;
mod opened;
mod position;
mod reader;
mod rewrite;
mod scan;
mod set_aside;
mod upkeep;

pub(crate) use bytes::{In, Out};
pub(crate) use change::Change;
pub(crate) use entries::{Changes, Entries};
pub(crate) use entry::fingerprint;
pub use entry::{Entry, Memory};
pub use error::StoreError;
pub(crate) use index::{Derived, INDEX};
pub(crate) use opened::Opened;
pub use scan::{Finding, Findings};

use std::collections::HashSet;

use event::{Event, FORMAT, Header, Id, Ids, Save, Update};
use index::MIN_TAIL_BYTES;
use jiff::Timestamp;
use journal::{Found, Journal};
use rewrite::Rewrite;
use upkeep::MIN_COMPACT_BYTES;

use crate::config::{Kind, TOUCH_INTERVAL_SECONDS};
use crate::request::Moment;
use disk::Disk;

/// Sixteen random bytes; asked for when a store is created or rewritten, never else.
pub type RandomId = Box<dyn FnMut() -> [u8; 16]>;

/// Memories on a disk.
pub(crate) struct Store {
    disk: Box<dyn Disk>,
    random_id: RandomId,
    journal: Journal,
    entries: Entries,
    /// A compaction that is under way.
    rewrite: Option<Rewrite>,
    /// The size from which the journal is compacted.
    pub(crate) compact_from: u64,
    /// The size of the journal's tail from which a snapshot is written.
    pub(crate) index_from: u64,
    /// Memories whose damaged lines were reported.
    unreadable: HashSet<u64>,
}

/// How following the journal ended.
pub(crate) struct Followed {
    /// Whether it is another file than before.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "an index learns it from the changes")
    )]
    pub(crate) was_reset: bool,
    /// False: the time was up before all of it was read.
    pub(crate) done: bool,
    /// The journal, for texts that this call needs.
    pub(crate) opened: Opened,
}

impl Store {
    /// Opens nothing yet: that is for the first call that needs it.
    pub(crate) fn new(disk: Box<dyn Disk>, random_id: RandomId) -> Self {
        Self {
            disk,
            random_id,
            journal: Journal::default(),
            entries: Entries::default(),
            rewrite: None,
            compact_from: MIN_COMPACT_BYTES,
            index_from: MIN_TAIL_BYTES,
            unreadable: HashSet::new(),
        }
    }

    /// Takes in what the journal has gained, from whomever: chunk by chunk until the time is up, but at least one. `each`
    /// sees what changed in a chunk before the next one is read, so that memory stays bounded however much there is.
    pub(crate) fn follow(
        &mut self,
        time_is_up: &mut dyn FnMut() -> bool,
        each: &mut dyn FnMut(&Entries, &mut Opened, Changes),
    ) -> Result<Followed, StoreError> {
        let Self {
            disk,
            journal,
            entries,
            ..
        } = self;
        let disk = disk.as_ref();
        let mut opened = Opened(journal.open(disk, &mut |found| entries.apply(found))?);
        let mut was_reset = false;
        let done = loop {
            let done = match &mut opened.0 {
                Some(file) => {
                    journal.read_on(disk, file.as_mut(), &mut |found| entries.apply(found))?
                }
                None => true,
            };
            let changes = entries.take_changes();
            was_reset |= changes.was_reset;
            each(entries, &mut opened, changes);
            if done || time_is_up() {
                break done;
            }
        };
        journal.report();
        if was_reset {
            self.unreadable.clear();
            self.abandon_rewrite();
        }
        Ok(Followed {
            was_reset,
            done,
            opened,
        })
    }

    /// What is known of the memories.
    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// A memory with its text; `None` if that can't be read any more, which is reported once.
    ///
    /// # Errors
    ///
    /// The journal can't be read at all.
    pub(crate) fn memory(
        &mut self,
        opened: &mut Opened,
        id: u64,
    ) -> Result<Option<Memory>, StoreError> {
        let Some(entry) = self.entries.any(id) else {
            return Ok(None);
        };
        match opened.text(entry) {
            Ok(text) => Ok(Some(Memory::new(entry, text))),
            Err(error @ StoreError::Unreadable { .. }) => {
                if self.unreadable.insert(id) {
                    self.journal.warn(error.to_string());
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The first of the memories of this text and kind that `admits` lets pass: of the living ones there is at most one,
    /// unless one was restored or changed after the other was saved.
    pub(crate) fn same(
        &self,
        opened: &mut Opened,
        (text, kind): (&str, Kind),
        admits: impl Fn(&Entry) -> bool,
    ) -> Result<Option<&Entry>, StoreError> {
        for entry in self
            .entries
            .candidates(text, kind)
            .filter(|entry| admits(entry))
        {
            match opened.text(entry) {
                Ok(own) if own == text => return Ok(Some(entry)),
                // One whose text is lost is not the same, so that the text is kept again.
                Ok(_) | Err(StoreError::Unreadable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether anything may be written; answers before a repeated save is taken for a success.
    pub(crate) fn writable(&self) -> Result<(), StoreError> {
        self.journal.writable()
    }

    /// Saves a memory, durably, and returns its number.
    pub(crate) fn save(
        &mut self,
        text: &str,
        kind: Kind,
        tags: &[String],
        importance: f64,
        moment: &Moment,
    ) -> Result<u64, StoreError> {
        let id = self.prepare(moment.now())?;
        let save = Save {
            id: Id(id),
            text: text.to_owned(),
            kind,
            tags: tags.to_vec(),
            importance,
            created_at: moment.now(),
            session: Some(moment.session().to_owned()).filter(|session| !session.is_empty()),
            modified_at: None,
            last_accessed: None,
            forgotten_at: None,
            revision: None,
        };
        self.commit(vec![Event::Save(save)], true)?;
        Ok(id)
    }

    /// Makes the journal ready for new memories, and tells the number of the next one.
    fn prepare(&mut self, at: Timestamp) -> Result<u64, StoreError> {
        self.mend(at)?;
        let id = self.entries.next_id().ok_or(StoreError::NoIdsLeft)?;
        if !self.journal.exists() {
            let header = Header {
                format: FORMAT,
                store: self.fresh_id(),
                generation: self.fresh_id(),
                next_id: id,
                created_at: at,
                revision: 0,
                listed: 0,
                known_from: 0,
            };
            let Self {
                disk,
                journal,
                entries,
                ..
            } = self;
            journal.create(disk.as_ref(), &header)?;
            let outcome = entries.apply(Found::Event(Event::Journal(header), Default::default()));
            debug_assert_eq!(outcome, Ok(()), "a header contradicts nothing");
        }
        Ok(id)
    }

    fn fresh_id(&mut self) -> String {
        format!("{:032x}", u128::from_be_bytes((self.random_id)()))
    }

    /// Adds memories and changes others, durably: all of it or, should it fail, nothing. `saves` gets the number of the
    /// first new one; the others follow on it.
    pub(crate) fn batch(
        &mut self,
        at: Timestamp,
        events: impl FnOnce(u64) -> Vec<Event>,
    ) -> Result<(), StoreError> {
        let first = self.prepare(at)?;
        let events = events(first);
        if events.is_empty() {
            return Ok(());
        }
        self.commit(events, true)
    }

    /// Changes a memory, durably.
    pub(crate) fn update(
        &mut self,
        id: u64,
        change: Change,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.mend(at)?;
        let update = Update {
            id: Id(id),
            at,
            text: change.text,
            kind: change.kind,
            tags: change.tags,
            importance: change.importance,
        };
        self.commit(vec![Event::Update(update)], true)
    }

    /// Hides memories, durably. They can be restored.
    pub(crate) fn forget(&mut self, ids: &[u64], at: Timestamp) -> Result<(), StoreError> {
        self.mend(at)?;
        self.commit(vec![Event::Forget(ids_of(ids, at))], true)
    }

    /// Brings forgotten memories back, durably.
    pub(crate) fn restore(&mut self, ids: &[u64], at: Timestamp) -> Result<(), StoreError> {
        self.mend(at)?;
        self.commit(vec![Event::Restore(ids_of(ids, at))], true)
    }

    /// Marks memories as shown: in memory at once; on disk as well as it goes, an entry at most once an interval.
    ///
    /// Nothing depends on the line in the journal, so it is not made durable, its failure is none, and a journal that
    /// has to be mended first is left to those who change something.
    pub(crate) fn touch(&mut self, ids: &[u64], at: Timestamp) {
        self.entries.touch(ids, at);
        let is_due = |id: &&u64| {
            let on_disk = self.entries.get(**id).map(|entry| entry.touched_on_disk);
            on_disk
                .is_some_and(|before| at.duration_since(before).as_secs() >= TOUCH_INTERVAL_SECONDS)
        };
        let due: Vec<u64> = ids.iter().filter(is_due).copied().collect();
        if due.is_empty() {
            return;
        }
        let _ = self.commit(vec![Event::Touch(ids_of(&due, at))], false);
    }

    /// What the person who runs the server should know, each once.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        self.journal.take_warnings()
    }

    /// Lines of the journal that could not be used.
    #[cfg(test)]
    pub(crate) fn damaged(&self) -> u64 {
        self.journal.damaged()
    }

    /// Places in the journal where lines are missing, repeated or out of order.
    #[cfg(test)]
    pub(crate) fn gaps(&self) -> u64 {
        self.journal.gaps()
    }

    /// Cuts off an interrupted write. It may have been a memory, so the ids that are lost with it are written down as
    /// forgotten: whoever reads the journal, now or later, gives out none of them. Durable with what is written next.
    fn mend(&mut self, at: Timestamp) -> Result<(), StoreError> {
        let Self {
            disk,
            journal,
            entries,
            ..
        } = self;
        if journal.mend(disk.as_ref(), &mut |found| entries.apply(found))?
            && let Some(last) = entries.last_lost()
        {
            self.commit(vec![Event::Forget(ids_of(&[last], at))], false)?;
        }
        Ok(())
    }

    fn commit(&mut self, events: Vec<Event>, durable: bool) -> Result<(), StoreError> {
        let places = self.journal.append(self.disk.as_ref(), &events, durable)?;
        for (event, place) in events.into_iter().zip(places) {
            let outcome = self.entries.apply(Found::Event(event, place));
            debug_assert_eq!(
                outcome,
                Ok(()),
                "an event that this store made from what it knows can't contradict it"
            );
        }
        Ok(())
    }
}

fn ids_of(ids: &[u64], at: Timestamp) -> Ids {
    Ids {
        ids: ids.iter().copied().map(Id).collect(),
        at,
    }
}

#[cfg(test)]
#[path = "store_writing_tests.rs"]
mod writing_tests;

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "store/crash_tests.rs"]
mod crash_tests;

#[cfg(test)]
#[path = "store/model_tests.rs"]
mod model_tests;

#[cfg(test)]
#[path = "store/document_tests.rs"]
mod document_tests;

#[cfg(test)]
#[path = "store/flips_tests.rs"]
mod flips_tests;

#[cfg(test)]
#[path = "store/torture_tests.rs"]
mod torture_tests;
