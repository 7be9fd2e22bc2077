//! What the owner of a memory may do with it: export, purge, figures, a scan of every byte.

use std::collections::BTreeSet;

use super::{ChangeError, Findings, Memory, MemoryBackend, TimeIsUp};
use crate::config::{MAX_EXPORT_BYTES, MAX_EXPORT_PAGE};
use crate::request::Moment;
use crate::security::{echo, parse_id};
use crate::store::event::FORMAT;
use crate::store::{INDEX, StoreError};

/// A page of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// In order of their ids.
    pub memories: Vec<Memory>,
    /// Where the next page starts; none on the last.
    pub next_cursor: Option<String>,
}

/// Figures about the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Memories that can be found.
    pub living: u64,
    /// Memories that can be restored.
    pub forgotten: u64,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// Of these, bytes that compaction would free, about.
    pub dead_bytes: u64,
    /// Bytes of the index snapshot; 0 when there is none.
    pub index_bytes: u64,
    /// Damaged lines that were set aside.
    pub damaged_lines: u64,
    /// Format of the journal.
    pub format: u32,
}

impl MemoryBackend {
    /// Pages through the memories in order of their ids, with the forgotten ones on request. A memory whose text can't be
    /// read any more is left out, with a warning.
    pub fn export(
        &mut self,
        cursor: Option<&str>,
        limit: usize,
        forgotten: bool,
    ) -> Result<Exported, ChangeError> {
        let from = match cursor {
            None => 0,
            Some(cursor) => parse_id(cursor).ok_or_else(|| {
                ChangeError::Invalid(format!("cursor {} was not given out here", echo(cursor)))
            })?,
        };
        if limit == 0 {
            return Err(ChangeError::Invalid(
                "limit must be 1 or more, got 0".to_owned(),
            ));
        }
        let mut opened = self.follow()?;
        let mut page = Exported {
            memories: Vec::new(),
            next_cursor: None,
        };
        let (mut next, mut bytes) = (from, 0);
        loop {
            let mut rest = self.store.entries().from(next);
            let found = rest.find(|entry| forgotten || entry.is_living());
            let Some(id) = found.map(|entry| entry.id) else {
                return Ok(page);
            };
            drop(rest);
            if page.memories.len() >= limit.min(MAX_EXPORT_PAGE) || bytes >= MAX_EXPORT_BYTES {
                page.next_cursor = Some(format!("m{id}"));
                return Ok(page);
            }
            if let Some(memory) = self.store.memory(&mut opened, id)? {
                bytes += memory.text.len();
                page.memories.push(memory);
            }
            next = id.saturating_add(1);
        }
    }

    /// A memory, living or forgotten.
    pub fn any(&mut self, id: u64) -> Result<Memory, ChangeError> {
        let mut opened = self.follow()?;
        let Some(entry) = self.store.entries().any(id) else {
            return Err(ChangeError::NotFound { id });
        };
        let text = opened.text(entry)?;
        Ok(Memory::new(entry, text))
    }

    /// Erases memories, living or forgotten, so that their texts are in none of the store's files: all of them or none.
    /// Their ids are not given out again. Returns how many they were.
    pub fn purge(&mut self, ids: &[u64], moment: &Moment) -> Result<u32, ChangeError> {
        let ids: BTreeSet<u64> = ids.iter().copied().collect();
        match self.try_purge(&ids, moment) {
            // Another memory's line is damaged. The store was read anew without it, so it is in the way no more.
            Err(ChangeError::Store(StoreError::Unreadable { .. })) => self.try_purge(&ids, moment),
            outcome => outcome,
        }
    }

    fn try_purge(&mut self, ids: &BTreeSet<u64>, moment: &Moment) -> Result<u32, ChangeError> {
        let mut opened = self.follow()?;
        let is_there = |id: &&u64| self.store.entries().any(**id).is_some();
        if let Some(id) = ids.iter().find(|id| !is_there(id)) {
            return Err(ChangeError::NotFound { id: *id });
        }
        if !ids.is_empty() {
            self.store.purge(ids, &mut opened, moment.now())?;
        }
        Ok(ids.len() as u32)
    }

    /// Figures about the store.
    pub fn statistics(&mut self) -> Result<Statistics, ChangeError> {
        self.follow()?;
        let entries = self.store.entries();
        let (living, forgotten) = entries.from(0).fold((0, 0), |(living, forgotten), entry| {
            if entry.is_living() {
                (living + 1, forgotten)
            } else {
                (living, forgotten + 1)
            }
        });
        let (journal_bytes, dead_bytes) = self.store.sizes();
        Ok(Statistics {
            living,
            forgotten,
            journal_bytes,
            dead_bytes,
            index_bytes: self.store.size_of(INDEX)?,
            damaged_lines: self.store.set_aside_lines()?,
            format: FORMAT,
        })
    }

    /// Scans every byte of the store until the time is up. No finding on any page: all is well.
    pub fn verify(
        &mut self,
        cursor: Option<&str>,
        time_is_up: TimeIsUp<'_>,
    ) -> Result<Findings, ChangeError> {
        match self.store.scan(cursor, time_is_up)? {
            Some(findings) => Ok(findings),
            None => Err(ChangeError::Invalid(format!(
                "cursor {} was not given out here",
                echo(cursor.unwrap_or_default())
            ))),
        }
    }
}

#[cfg(test)]
#[path = "care_tests.rs"]
mod tests;
