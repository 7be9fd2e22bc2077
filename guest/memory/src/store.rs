//! The store: a journal on disk, and in memory what it adds up to.
//!
//! Every call follows the journal first, then acts: other processes write to it between calls (under a lock that the
//! host holds around each call). An event is written, made durable and only then taken in, so what was acknowledged is
//! on the disk, and what failed has not happened.

pub mod disk;
mod entries;
mod error;
pub(crate) mod event;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod journal;
mod line;
mod position;
mod reader;
mod set_aside;

pub(crate) use entries::Changes;
pub use entries::Memory;
pub use error::StoreError;

use entries::Entries;
use event::{Event, FORMAT, Header, Id, Ids, Save, Update};
use jiff::Timestamp;
use journal::Journal;

use crate::config::{Kind, TOUCH_INTERVAL_SECONDS};
use crate::request::Moment;
use disk::Disk;

/// Sixteen random bytes; asked for twice when a store is created, never else.
pub type RandomId = Box<dyn FnMut() -> [u8; 16]>;

/// Memories on a disk.
pub(crate) struct Store {
    disk: Box<dyn Disk>,
    random_id: RandomId,
    journal: Journal,
    entries: Entries,
}

impl Store {
    /// Opens nothing yet: that is for the first call that needs it.
    pub(crate) fn new(disk: Box<dyn Disk>, random_id: RandomId) -> Self {
        Self {
            disk,
            random_id,
            journal: Journal::default(),
            entries: Entries::default(),
        }
    }

    /// Takes in what the journal has gained, from whomever, and tells what to look at again.
    pub(crate) fn follow(&mut self) -> Result<Changes, StoreError> {
        let Self {
            disk,
            journal,
            entries,
            ..
        } = self;
        journal.follow(disk.as_ref(), &mut |found| entries.apply(found))?;
        Ok(entries.take_changes())
    }

    /// The living memory of this number.
    pub(crate) fn get(&self, id: u64) -> Option<&Memory> {
        self.entries.get(id)
    }

    /// The living, newest first, from below `before` (or from the newest).
    pub(crate) fn newest_first(&self, before: Option<u64>) -> impl Iterator<Item = &Memory> {
        self.entries.newest_first(before)
    }

    /// The living memory that says exactly this.
    pub(crate) fn same(&self, text: &str, kind: Kind) -> Option<&Memory> {
        self.entries.same(text, kind)
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
        self.mend(moment.now())?;
        let id = self.entries.next_id().ok_or(StoreError::NoIdsLeft)?;
        if !self.journal.exists() {
            let mut random_id = || format!("{:032x}", u128::from_be_bytes((self.random_id)()));
            let (store, generation) = (random_id(), random_id());
            let header = Header {
                format: FORMAT,
                store,
                generation,
                next_id: id,
                created_at: moment.now(),
            };
            self.journal.create(self.disk.as_ref(), header)?;
        }
        let session = Some(moment.session().to_owned()).filter(|session| !session.is_empty());
        let (text, tags) = (text.to_owned(), tags.to_vec());
        let save = Save {
            id: Id(id),
            text,
            kind,
            tags,
            importance,
            created_at: moment.now(),
            session,
        };
        self.commit(Event::Save(save), true)?;
        Ok(id)
    }

    /// Changes a memory's tags and importance, durably; what is `None` stays.
    pub(crate) fn update(
        &mut self,
        id: u64,
        tags: Option<Vec<String>>,
        importance: Option<f64>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.mend(at)?;
        let update = Update {
            id: Id(id),
            at,
            text: None,
            kind: None,
            tags,
            importance,
        };
        self.commit(Event::Update(update), true)
    }

    /// Marks memories as shown: in memory at once; on disk as well as it goes, an entry at most once an interval.
    ///
    /// Nothing depends on the line in the journal, so it is not made durable, its failure is none, and a journal that
    /// has to be mended first is left to those who change something.
    pub(crate) fn touch(&mut self, ids: &[u64], at: Timestamp) {
        self.entries.touch(ids, at);
        let is_due = |id: &&u64| {
            let on_disk = self.entries.get(**id).map(|memory| memory.touched_on_disk);
            on_disk
                .is_some_and(|before| at.duration_since(before).as_secs() >= TOUCH_INTERVAL_SECONDS)
        };
        let due: Vec<Id> = ids.iter().filter(is_due).map(|id| Id(*id)).collect();
        if due.is_empty() {
            return;
        }
        let _ = self.commit(Event::Touch(Ids { ids: due, at }), false);
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
            let ids = vec![Id(last)];
            self.commit(Event::Forget(Ids { ids, at }), false)?;
        }
        Ok(())
    }

    fn commit(&mut self, event: Event, durable: bool) -> Result<(), StoreError> {
        self.journal.append(self.disk.as_ref(), &event, durable)?;
        let outcome = self.entries.apply(journal::Found::Event(event));
        debug_assert_eq!(
            outcome,
            Ok(()),
            "an event that this store made from what it knows can't contradict it"
        );
        Ok(())
    }
}

#[cfg(test)]
#[path = "store_writing_tests.rs"]
mod writing_tests;

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
