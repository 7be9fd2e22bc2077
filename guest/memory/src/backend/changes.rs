//! What happened since somebody last asked, by whomever it was done.

use super::MemoryBackend;
use crate::security::{ResourceUri, validate_resource_uri};
use crate::store::{Entries, StoreError};

/// What happened since a token was given out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSet {
    /// Names the present state: the store, and how many changes it has had. Survives this instance, and compaction.
    pub token: String,
    /// Whether the list of memories is another one. (Tools and prompts never change.)
    pub list_changed: bool,
    /// Those of the subscribed URIs that say something else now, or nothing.
    pub updated: Vec<String>,
}

impl MemoryBackend {
    /// Changes since `token`, among the `subscribed` URIs. That a memory was shown is no change.
    ///
    /// A search counts as changed whenever any memory changed: finding out whether its answer did would mean to make
    /// every subscribed search again each second.
    pub fn changes_since(
        &mut self,
        token: Option<&str>,
        subscribed: &[String],
    ) -> Result<ChangeSet, StoreError> {
        self.follow()?;
        let entries = self.store.entries();
        let revisions = entries.revisions();
        let present = format!("{}.{}", entries.store(), revisions.reached);
        let Some(token) = token else {
            return Ok(ChangeSet {
                token: present,
                list_changed: false,
                updated: Vec::new(),
            });
        };
        let known = token
            .rsplit_once('.')
            .filter(|(store, _)| *store == entries.store())
            .and_then(|(_, revision)| revision.parse().ok())
            .filter(|revision| (revisions.known_from..=revisions.reached).contains(revision));
        let updated = |uri: &&String| match known {
            Some(revision) => changed_since(uri, entries, revision),
            None => true,
        };
        Ok(ChangeSet {
            token: present,
            list_changed: known.is_none_or(|revision| revisions.listed > revision),
            updated: subscribed.iter().filter(updated).cloned().collect(),
        })
    }

    /// Whether a change of this URI would be noticed: a memory that is there, or any search.
    pub fn can_subscribe(&mut self, uri: &str) -> Result<bool, StoreError> {
        self.follow()?;
        let known = |id| self.store.entries().get(id).is_some();
        Ok(validate_resource_uri(uri, known).is_ok())
    }
}

fn changed_since(uri: &str, entries: &Entries, revision: u64) -> bool {
    match validate_resource_uri(uri, |_| true) {
        // One that is not there was purged, and who knew it has an older token than those that are understood.
        Ok(ResourceUri::Entry(id)) => entries
            .any(id)
            .is_some_and(|entry| entry.revision > revision),
        Ok(ResourceUri::Search(_)) => entries.revisions().reached > revision,
        Err(_) => false,
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
