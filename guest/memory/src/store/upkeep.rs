//! Care of the files: compaction, purge, and what a crash may have left behind.

use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;

use jiff::Timestamp;

use super::disk::{Access, explain};
use super::entry::Entry;
use super::erase::{SET_ASIDE_COPY, clean_set_aside, texts_of};
use super::event::{FORMAT, Header};
use super::index::{INDEX, INDEX_COPY};
use super::opened::Opened;
use super::rewrite::{Rewrite, is_leftover, is_temporary};
use super::{Store, StoreError};

/// A journal that is smaller is not compacted, however much of it is dead: reading it takes a few milliseconds.
pub(crate) const MIN_COMPACT_BYTES: u64 = 256 * 1024;

impl Store {
    /// Bytes of the journal up to where it was read, and how many of them a rewrite would free (about: it adds to a line
    /// what later events said).
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let Some(position) = self.journal.position() else {
            return (0, 0);
        };
        let total = position.reader.offset + position.torn.len() as u64;
        let live = self.entries.live_bytes() + position.first_line.len() as u64;
        (total, total.saturating_sub(live))
    }

    fn wants_compaction(&self) -> bool {
        let (total, dead) = self.sizes();
        total >= self.compact_from && dead > total - dead
    }

    /// Compacts the journal if that is worth it, until the time is up. True: nothing is left to do.
    ///
    /// The journal must have been followed to its end within the same call.
    pub(crate) fn compact(
        &mut self,
        opened: &mut Opened,
        at: Timestamp,
        time_is_up: &mut dyn FnMut() -> bool,
    ) -> Result<bool, StoreError> {
        let Some(position) = self.journal.position() else {
            return Ok(true);
        };
        if position.unkept || self.journal.writable().is_err() {
            return Ok(true);
        }
        let is_stale = |rewrite: &Rewrite| rewrite.damaged != position.damaged;
        if self.rewrite.as_ref().is_some_and(is_stale) {
            self.abandon_rewrite();
        }
        if self.rewrite.is_none() && !self.wants_compaction() {
            self.tidy();
            return Ok(true);
        }
        self.mend(at)?;
        let rewrite = match self.rewrite.take() {
            Some(rewrite) => rewrite,
            None => {
                let header = self.next_header(at);
                self.start_rewrite(header, |_| true)?
            }
        };
        self.carry_on(rewrite, opened, time_is_up, &[])
    }

    /// Erases memories, living or forgotten, from all files; all of them or none.
    ///
    /// The journal goes last: whatever fails or crashes before, the memories are still there and can be purged again.
    pub(crate) fn purge(
        &mut self,
        ids: &BTreeSet<u64>,
        opened: &mut Opened,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.journal.writable()?;
        self.abandon_rewrite();
        self.mend(at)?;
        if self
            .journal
            .position()
            .is_some_and(|position| position.unkept)
        {
            let reason = "damaged lines could not be set aside, and would be lost";
            return Err(StoreError::Write(io::Error::other(reason)));
        }
        let Some(journal) = &mut opened.0 else {
            return Err(StoreError::Changed);
        };
        let texts = texts_of(journal.as_mut(), ids).map_err(StoreError::Read)?;
        self.erase_beside_the_journal(ids, &texts)
            .map_err(StoreError::Write)?;
        let mut header = self.next_header(at);
        // Whoever knew one of them can't be told any more that it is gone, other than by "everything may have changed".
        header.revision = header.revision.saturating_add(1);
        header.listed = header.revision;
        header.known_from = header.revision;
        let rewrite = self.start_rewrite(header, |entry| !ids.contains(&entry.id))?;
        let ids: Vec<u64> = ids.iter().copied().collect();
        self.carry_on(rewrite, opened, &mut || false, &ids)?;
        Ok(())
    }

    fn erase_beside_the_journal(&self, ids: &BTreeSet<u64>, texts: &[String]) -> io::Result<()> {
        let disk = self.disk.as_ref();
        clean_set_aside(disk, ids, texts)?;
        disk.remove(INDEX)?;
        disk.remove(INDEX_COPY)?;
        for name in disk.list()?.iter().filter(|name| is_temporary(name)) {
            disk.remove(name)?;
        }
        disk.sync_dir()
    }

    /// The header of the file that will take the journal's place.
    fn next_header(&mut self, at: Timestamp) -> Header {
        let store = match self.entries.store() {
            // It was lost with the old header.
            "" => self.fresh_id(),
            known => known.to_owned(),
        };
        let revisions = self.entries.revisions();
        Header {
            format: FORMAT,
            store,
            generation: self.fresh_id(),
            next_id: self.entries.first_free(),
            created_at: at,
            revision: revisions.reached,
            listed: revisions.listed,
            known_from: revisions.known_from,
        }
    }

    fn start_rewrite(
        &self,
        header: Header,
        keeps: impl Fn(&Entry) -> bool,
    ) -> Result<Rewrite, StoreError> {
        let Some(position) = self.journal.position() else {
            return Err(StoreError::Changed);
        };
        let all = self.entries.from(0);
        let snapshot = all.filter(|entry| keeps(entry)).map(Rc::clone).collect();
        Rewrite::start(self.disk.as_ref(), position, header, snapshot)
    }

    /// A slice of a rewrite; its last one makes the new file the journal. True: that was it.
    fn carry_on(
        &mut self,
        mut rewrite: Rewrite,
        opened: &mut Opened,
        time_is_up: &mut dyn FnMut() -> bool,
        left_out: &[u64],
    ) -> Result<bool, StoreError> {
        let disk = self.disk.as_ref();
        let end = self
            .journal
            .position()
            .map_or(0, |position| position.reader.offset);
        let outcome = rewrite
            .advance(disk, opened, end, time_is_up)
            .and_then(|caught_up| {
                if caught_up {
                    rewrite.install(disk).map_err(StoreError::Write)?;
                }
                Ok(caught_up)
            });
        match outcome {
            Ok(true) => {}
            Ok(false) => {
                self.rewrite = Some(rewrite);
                return Ok(false);
            }
            Err(error) => {
                rewrite.abandon(disk);
                if matches!(error, StoreError::Unreadable { .. }) {
                    // Read anew, the line that was damaged is set aside like any other, and is in the way no more.
                    let entries = &mut self.entries;
                    self.journal.read_again(&mut |found| entries.apply(found));
                }
                return Err(error);
            }
        }
        let (position, places, header) = rewrite.finish();
        self.entries.moved(&places, left_out, header);
        self.journal.replaced(position);
        // A snapshot of the old journal would be refused, with a note, by whoever starts next.
        self.journal.rejects_index = self.journal.covered.is_some();
        // Were the name lost in a crash, so would be what is written from now on; and what was left out would be back.
        self.disk.sync_dir().map_err(|error| {
            let what = "the directory could not be made durable";
            match left_out {
                [] => self.journal.freeze(what, &error),
                _ => self.journal.doubt(what, &error),
            }
        })?;
        self.tidy();
        Ok(true)
    }

    /// Gives up a rewrite: the journal that it is made from is not the journal any more, or has changed under it.
    pub(super) fn abandon_rewrite(&mut self) {
        if let Some(rewrite) = self.rewrite.take() {
            rewrite.abandon(self.disk.as_ref());
        }
    }

    /// Removes what crashes have left behind. That it can't is no failure: the next one tries again.
    fn tidy(&mut self) {
        let Some(position) = self.journal.position() else {
            return;
        };
        let generation = position.generation.clone();
        for name in self.disk.list().unwrap_or_default() {
            // Copies of the set-aside lines and of the snapshot are made and renamed within one call, under the lock.
            if (is_leftover(&name, &generation) || name == SET_ASIDE_COPY || name == INDEX_COPY)
                && let Err(error) = self.disk.remove(&name)
            {
                let reason = explain(&error);
                self.journal
                    .warn(format!("{name}: can't be removed ({reason})"));
            }
        }
    }

    /// Bytes of a file; 0 where there is none.
    pub(crate) fn size_of(&self, name: &str) -> Result<u64, StoreError> {
        match self.disk.open(name, Access::Read) {
            Ok(mut file) => file.size().map_err(StoreError::Read),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(StoreError::Read(error)),
        }
    }
}

#[cfg(test)]
#[path = "upkeep_tests.rs"]
mod tests;
