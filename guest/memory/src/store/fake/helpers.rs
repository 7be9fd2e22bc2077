//! Stores and moments, as tests have them.

use std::cell::Cell;

use jiff::Timestamp;

use super::super::{Changes, Followed, RandomId, Store, StoreError};
use super::FakeDisk;
use crate::config::Kind;
use crate::request::Moment;

/// A store on a disk, as a fresh instance of the component has it. Ids of stores and generations are never the same for
/// two instances of a test.
pub(crate) fn store_on(disk: &FakeDisk) -> Store {
    Store::new(Box::new(disk.clone()), random_ids())
}

/// Different for each instance and call, and the same in each run of a test.
pub(crate) fn random_ids() -> RandomId {
    thread_local! {
        static INSTANCES: Cell<u64> = const { Cell::new(0) };
    }
    let instance = INSTANCES.with(|instances| {
        instances.set(instances.get() + 1);
        instances.get()
    });
    let mut count: u64 = 0;
    Box::new(move || {
        count += 1;
        (u128::from(instance) << 64 | u128::from(count)).to_be_bytes()
    })
}

impl Store {
    /// Follows the journal to its end, without an index.
    pub(crate) fn follow_all(&mut self) -> Result<Followed, StoreError> {
        self.follow(&mut || false, &mut |_, _, _: Changes| {})
    }

    /// The text of a living memory.
    pub(crate) fn text(&mut self, id: u64) -> Option<String> {
        let mut opened = self.follow_all().unwrap().opened;
        self.entries().get(id)?;
        self.memory(&mut opened, id)
            .unwrap()
            .map(|memory| memory.text)
    }
}

/// So many seconds after the tests' beginning of time.
pub(crate) fn at(seconds: i64) -> Moment {
    Moment::new(
        Timestamp::from_second(1_796_000_000 + seconds).unwrap(),
        "session-1",
    )
}

pub(crate) fn save(store: &mut Store, text: &str) -> Result<u64, StoreError> {
    store.follow_all()?;
    store.save(text, Kind::Episodic, &[], 5.0, &at(0))
}

/// Texts of the living, oldest first, as a fresh instance finds them.
pub(crate) fn served(disk: &FakeDisk) -> Vec<String> {
    texts(&mut store_on(disk))
}

/// Texts of the living, oldest first, as a store finds them.
pub(crate) fn texts(store: &mut Store) -> Vec<String> {
    let mut opened = store.follow_all().unwrap().opened;
    let mut ids: Vec<u64> = store
        .entries()
        .newest_first(None)
        .map(|entry| entry.id)
        .collect();
    ids.reverse();
    ids.into_iter()
        .filter_map(|id| store.memory(&mut opened, id).unwrap())
        .map(|memory| memory.text)
        .collect()
}
