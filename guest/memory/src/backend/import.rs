//! Many memories at once.
//!
//! A batch is planned first, with nothing written, then written with one sync. So a dry run is the plan alone, and a
//! batch that fails has left nothing.

use std::collections::{BTreeMap, HashMap};

use super::{ChangeError, MemoryBackend, Merge, SaveError};
use crate::config::{DEFAULT_IMPORTANCE, Kind, MAX_IMPORT_BATCH};
use crate::request::Moment;
use crate::security::{NewMemory, RawMemory, validate_new_memory};
use crate::store::event::{Event, Id, Save, Update};
use crate::store::{Change, Opened, Store, StoreError};

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The numbers of those that were not refused, in the order of the batch.
    pub ids: Vec<u64>,
    /// How many are new.
    pub added: u32,
    /// How many were there already, in the store or earlier in the batch.
    pub merged: u32,
    /// Position and reason of the others.
    pub refused: Vec<(u32, String)>,
}

impl MemoryBackend {
    /// Adds memories, each as a save would; those that come as forgotten are compared with the forgotten. Durable once,
    /// all of it or nothing; with `dry_run` nothing is stored.
    pub fn import(
        &mut self,
        batch: &[RawMemory],
        dry_run: bool,
        moment: &Moment,
    ) -> Result<ImportReport, ChangeError> {
        if batch.len() > MAX_IMPORT_BATCH {
            return Err(ChangeError::Invalid(format!(
                "a batch must have at most {MAX_IMPORT_BATCH} memories, got {}",
                batch.len()
            )));
        }
        let mut opened = self.follow()?;
        self.store.writable()?;
        let mut plan = Plan::default();
        for (position, raw) in batch.iter().enumerate() {
            let planned = match validate_new_memory(raw) {
                Ok(new) => plan.add(new, &self.store, &mut opened)?,
                Err(error) => Err(error.to_string()),
            };
            if let Err(reason) = planned {
                plan.refused.push((position as u32, reason));
            }
        }
        let mut first = self.store.entries().next_id().unwrap_or(u64::MAX);
        if !dry_run && !plan.is_empty() {
            self.store.batch(moment.now(), |next| {
                first = next;
                plan.events(next, moment)
            })?;
        }
        Ok(plan.report(first))
    }
}

/// Where a memory of the batch ends up.
enum Slot {
    /// It is this one of the new ones.
    New(usize),
    /// It was there already.
    Known(u64),
}

/// What a batch does to the store.
#[derive(Default)]
struct Plan {
    new: Vec<NewMemory>,
    /// The new ones by what they say: text, kind, and whether they are forgotten.
    by_content: HashMap<(String, Kind, bool), usize>,
    /// What those that are there already gain: their present tags and importance, and the additions.
    merges: BTreeMap<u64, Merging>,
    slots: Vec<Slot>,
    refused: Vec<(u32, String)>,
}

struct Merging {
    tags: Vec<String>,
    importance: f64,
    change: Change,
}

impl Plan {
    /// Plans one more. The inner error is the reason why it is refused.
    fn add(
        &mut self,
        new: NewMemory,
        store: &Store,
        opened: &mut Opened,
    ) -> Result<Result<(), String>, StoreError> {
        let is_forgotten = new.forgotten_at.is_some();
        let key = (new.save.text.clone(), new.save.kind, is_forgotten);
        if let Some(at) = self.by_content.get(&key) {
            let known = &mut self.new[*at].save;
            let importance = known.importance.unwrap_or(DEFAULT_IMPORTANCE);
            match Merge::of((&known.tags, importance), &new.save) {
                Ok(merge) => {
                    known.tags.extend(merge.tags);
                    known.importance = merge.importance.or(known.importance);
                    self.slots.push(Slot::New(*at));
                    return Ok(Ok(()));
                }
                Err(count) => {
                    return Ok(Err(format!(
                        "tags must be at most {} together with those of the same memory earlier in the batch, got {count}",
                        crate::config::MAX_TAGS
                    )));
                }
            }
        }
        let same = store.same(opened, (&new.save.text, new.save.kind), |entry| {
            entry.is_living() != is_forgotten
        })?;
        let Some(entry) = same else {
            self.by_content.insert(key, self.new.len());
            self.slots.push(Slot::New(self.new.len()));
            self.new.push(new);
            return Ok(Ok(()));
        };
        let id = entry.id;
        let merging = self.merges.entry(id).or_insert_with(|| Merging {
            tags: entry.tags.clone(),
            importance: entry.importance,
            change: Change::default(),
        });
        match Merge::of((&merging.tags, merging.importance), &new.save) {
            Ok(merge) => {
                let change = merge.change(&merging.tags);
                merging.tags.extend(merge.tags);
                merging.importance = merge.importance.unwrap_or(merging.importance);
                merging.change.tags = change.tags.or(merging.change.tags.take());
                merging.change.importance = change.importance.or(merging.change.importance);
                self.slots.push(Slot::Known(id));
                Ok(Ok(()))
            }
            Err(count) => Ok(Err(SaveError::TooManyTags { id, count }.to_string())),
        }
    }

    fn is_empty(&self) -> bool {
        self.new.is_empty()
            && self
                .merges
                .values()
                .all(|merging| merging.change == Change::default())
    }

    fn events(&self, first: u64, moment: &Moment) -> Vec<Event> {
        let saves = self.new.iter().enumerate().map(|(index, new)| {
            Event::Save(save_of(new, first.saturating_add(index as u64), moment))
        });
        let changed = |(id, merging): (&u64, &Merging)| {
            (merging.change != Change::default()).then(|| {
                Event::Update(Update {
                    id: Id(*id),
                    at: moment.now(),
                    text: None,
                    kind: None,
                    tags: merging.change.tags.clone(),
                    importance: merging.change.importance,
                })
            })
        };
        saves
            .chain(self.merges.iter().filter_map(changed))
            .collect()
    }

    fn report(self, first: u64) -> ImportReport {
        let id = |slot: &Slot| match slot {
            Slot::New(index) => first.saturating_add(*index as u64),
            Slot::Known(id) => *id,
        };
        let added = self.new.len();
        ImportReport {
            ids: self.slots.iter().map(id).collect(),
            added: added as u32,
            merged: (self.slots.len() - added) as u32,
            refused: self.refused,
        }
    }
}

fn save_of(new: &NewMemory, id: u64, moment: &Moment) -> Save {
    Save {
        id: Id(id),
        text: new.save.text.clone(),
        kind: new.save.kind,
        tags: new.save.tags.clone(),
        importance: new.save.importance.unwrap_or(DEFAULT_IMPORTANCE),
        created_at: new.created_at.unwrap_or(moment.now()),
        session: new.session.clone(),
        modified_at: None,
        last_accessed: new.last_accessed,
        forgotten_at: new.forgotten_at,
        revision: None,
    }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
