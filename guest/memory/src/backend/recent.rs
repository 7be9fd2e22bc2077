//! What was saved last.

use super::{Memory, MemoryBackend};
use crate::security::RecentArgs;
use crate::store::StoreError;

impl MemoryBackend {
    /// The newest of the memories that are meant, newest first; of those of one time, the one with the higher id. That they
    /// were listed is no access: it says nothing of what they are worth.
    ///
    /// Ids rise with the time of saving but for what was imported, so the order is nearly there, and sorting it costs little
    /// more than looking at each.
    pub fn recent(&mut self, args: &RecentArgs) -> Result<Vec<Memory>, StoreError> {
        let mut opened = self.follow()?;
        let newest_first = self.store.entries().newest_first(None);
        let mut meant: Vec<_> = newest_first
            .filter(|entry| args.filter.admits(entry))
            .map(|entry| (entry.created_at, entry.id))
            .collect();
        meant.sort_by(|left, right| right.cmp(left));
        let mut memories = Vec::new();
        for (_, id) in meant {
            if memories.len() == args.k {
                break;
            }
            memories.extend(self.store.memory(&mut opened, id)?);
        }
        Ok(memories)
    }
}
