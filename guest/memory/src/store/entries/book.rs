//! The memories by their ids.
//!
//! Those of a snapshot stay bytes until somebody looks at them: a search looks at what it found, and a store has a hundred
//! thousand.

use std::cell::OnceCell;
use std::rc::Rc;

use jiff::Timestamp;

use super::super::entry::Entry;
use super::snapshot::Records;

/// All memories, in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Book {
    slots: Vec<Slot>,
    /// Those of a snapshot.
    records: Records,
}

/// A memory. One that is neither in a snapshot nor looked at can't be.
#[derive(Debug)]
struct Slot {
    id: u64,
    /// Its number in the snapshot; none if it came later.
    record: Option<u32>,
    /// Shared with a rewrite that is under way, which needs them as they were when it began.
    entry: OnceCell<Rc<Entry>>,
}

impl Book {
    /// Those of a snapshot, which are in the order of their ids; `None` if they are not.
    pub(super) fn of(records: Records) -> Option<Self> {
        let mut slots: Vec<Slot> = Vec::with_capacity(records.len());
        for record in 0..records.len() as u32 {
            let id = records.id(record)?;
            if slots.last().is_some_and(|last| last.id >= id) {
                return None;
            }
            slots.push(Slot {
                id,
                record: Some(record),
                entry: OnceCell::new(),
            });
        }
        Some(Self { slots, records })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.find(id).is_ok()
    }

    pub(super) fn get(&self, id: u64) -> Option<&Rc<Entry>> {
        self.entry(&self.slots[self.find(id).ok()?])
    }

    /// For a change. Who shares it keeps it as it is.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Entry> {
        let at = self.find(id).ok()?;
        self.entry(&self.slots[at])?;
        self.slots[at].entry.get_mut().map(Rc::make_mut)
    }

    /// Adds one, or replaces the one with this id.
    pub(super) fn insert(&mut self, entry: Entry) {
        let slot = Slot {
            id: entry.id,
            record: None,
            entry: OnceCell::from(Rc::new(entry)),
        };
        match self.find(slot.id) {
            Ok(at) => self.slots[at] = slot,
            Err(at) => self.slots.insert(at, slot),
        }
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Rc<Entry>> {
        let at = self.find(id).ok()?;
        self.entry(&self.slots[at])?;
        self.slots.remove(at).entry.into_inner()
    }

    /// In order, from an id on.
    pub(super) fn from(&self, id: u64) -> impl Iterator<Item = &Rc<Entry>> {
        let first = self.slots.partition_point(|slot| slot.id < id);
        self.slots[first..]
            .iter()
            .filter_map(|slot| self.entry(slot))
    }

    /// The other way, from below an id.
    pub(super) fn below(&self, id: u64) -> impl Iterator<Item = &Rc<Entry>> {
        let end = self.slots.partition_point(|slot| slot.id < id);
        let slots = self.slots[..end].iter().rev();
        slots.filter_map(|slot| self.entry(slot))
    }

    /// The same as [`Self::from`] the first on, without keeping what was not looked at yet.
    pub(super) fn each(&self, mut visit: impl FnMut(&Entry)) {
        for slot in &self.slots {
            match slot.entry.get() {
                Some(entry) => visit(entry),
                None => {
                    let entry = slot.record.and_then(|record| self.records.entry(record));
                    entry.iter().for_each(&mut visit);
                }
            }
        }
    }

    /// When each was saved, without looking at the rest of it.
    pub(super) fn created(&self) -> impl Iterator<Item = (Timestamp, u64)> {
        self.slots.iter().filter_map(|slot| {
            let created = match slot.entry.get() {
                Some(entry) => entry.created_at,
                None => self.records.created(slot.record?)?,
            };
            Some((created, slot.id))
        })
    }

    /// What the memories of the snapshot said when it was made: content hashes and ids.
    pub(super) fn contents_of_snapshot(&self) -> impl Iterator<Item = (u64, u64)> {
        self.slots.iter().filter_map(|slot| {
            let content = self.records.content(slot.record?)?;
            Some((content, slot.id))
        })
    }

    fn find(&self, id: u64) -> Result<usize, usize> {
        match self.slots.last() {
            // Nearly all are new.
            Some(last) if last.id < id => Err(self.slots.len()),
            _ => self.slots.binary_search_by_key(&id, |slot| slot.id),
        }
    }

    /// None only if a snapshot has something else than its checksum says.
    fn entry<'a>(&self, slot: &'a Slot) -> Option<&'a Rc<Entry>> {
        if let Some(entry) = slot.entry.get() {
            return Some(entry);
        }
        let entry = self.records.entry(slot.record?)?;
        Some(slot.entry.get_or_init(|| Rc::new(entry)))
    }
}

impl PartialEq for Book {
    fn eq(&self, other: &Self) -> bool {
        self.from(0).eq(other.from(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::entry::Place;
    use super::*;
    use crate::config::{DEFAULT_IMPORTANCE, Kind};

    fn entry(id: u64) -> Entry {
        let at = Timestamp::UNIX_EPOCH;
        Entry {
            id,
            kind: Kind::default(),
            tags: Vec::new(),
            created_at: at,
            last_accessed: at,
            importance: DEFAULT_IMPORTANCE,
            session: None,
            modified_at: at,
            forgotten_at: None,
            place: Place::default(),
            content: 0,
            touched_on_disk: at,
            revision: 0,
        }
    }

    fn ids(book: &Book) -> Vec<u64> {
        book.from(0).map(|entry| entry.id).collect()
    }

    #[test]
    fn memories_come_in_the_order_of_their_ids_whatever_the_order_of_changes() {
        let mut book = Book::default();
        for id in [3, 7, 1, 9, 7] {
            book.insert(entry(id));
        }
        assert_eq!(ids(&book), [1, 3, 7, 9]);
        assert_eq!(
            book.below(7).map(|entry| entry.id).collect::<Vec<_>>(),
            [3, 1]
        );
        assert_eq!(book.remove(3).map(|entry| entry.id), Some(3));
        assert_eq!(book.remove(3), None);
        assert_eq!((ids(&book), book.len()), (vec![1, 7, 9], 3));
        assert!(book.contains(7) && !book.contains(8));
    }

    #[test]
    fn who_shares_a_memory_keeps_it_as_it_is() {
        let mut book = Book::default();
        book.insert(entry(1));
        let before = Rc::clone(book.get(1).unwrap());
        book.get_mut(1).unwrap().importance = 9.0;
        assert_eq!(
            (before.importance, book.get(1).unwrap().importance),
            (5.0, 9.0)
        );
    }
}
