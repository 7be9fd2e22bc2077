//! What was saved last.

use super::{Memory, MemoryBackend};
use crate::security::RecentArgs;
use crate::store::StoreError;

impl MemoryBackend {
    /// The newest of the memories that are meant, newest first; of those of one time, the one with the higher id. That they
    /// were listed is no access: it says nothing of what they are worth.
    ///
    /// Ids rise with the time of saving but for what was imported, so the order is nearly there, and sorting it costs little
    /// more than looking at the times; of the rest of the memories, only as many are looked at as the answer needs.
    pub fn recent(&mut self, args: &RecentArgs) -> Result<Vec<Memory>, StoreError> {
        let mut opened = self.follow()?;
        let mut by_time: Vec<_> = self.store.entries().created().collect();
        by_time.sort();
        let mut memories = Vec::new();
        for (_, id) in by_time.into_iter().rev() {
            if memories.len() == args.k {
                break;
            }
            let entry = self.store.entries().get(id);
            if entry.is_some_and(|entry| args.filter.admits(entry)) {
                memories.extend(self.store.memory(&mut opened, id)?);
            }
        }
        Ok(memories)
    }
}
