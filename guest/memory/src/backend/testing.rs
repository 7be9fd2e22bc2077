//! What the tests of the backend share.

use super::MemoryBackend;
use crate::config::Kind;
use crate::security::{RawMemory, SaveArgs, SearchArgs, UpdateArgs};
use crate::store::fake::{FakeDisk, at, random_ids};
use crate::store::journal::JOURNAL;

pub(super) fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), random_ids())
}

pub(super) fn save(backend: &mut MemoryBackend, text: &str) -> u64 {
    let args = SaveArgs {
        text: text.to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    };
    backend.save(&args, &at(0)).unwrap().id
}

pub(super) fn find(backend: &mut MemoryBackend, query: &str) -> Vec<u64> {
    let args = SearchArgs::for_query(query.to_owned());
    let found = backend.search(&args, &at(0)).unwrap();
    found.memories.iter().map(|memory| memory.id).collect()
}

/// The same in the order of their ids, where what is more alike is not the point.
pub(super) fn find_sorted(backend: &mut MemoryBackend, query: &str) -> Vec<u64> {
    let mut found = find(backend, query);
    found.sort_unstable();
    found
}

pub(super) fn update(id: u64) -> UpdateArgs {
    UpdateArgs {
        id,
        ..UpdateArgs::default()
    }
}

/// Flips a byte in the text of a memory, where its line is in the journal now.
pub(super) fn damage(disk: &FakeDisk, text: &str) {
    let at = disk.text(JOURNAL).rfind(text).unwrap();
    disk.flip(JOURNAL, at);
}

pub(super) fn raw(text: &str) -> RawMemory {
    RawMemory {
        text: text.to_owned(),
        ..RawMemory::default()
    }
}
