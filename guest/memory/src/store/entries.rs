//! What the journal adds up to: the memories.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use jiff::Timestamp;

use super::event::{Event, Id, Ids, Save, Update};
use super::journal::Found;
use crate::config::Kind;

/// How far above the known ids the next one is when the journal's header, and so the record of what was given out, is
/// lost; and how far above them an id in a damaged line may be to be believed. Far more than damaged lines are likely
/// to have held, and nothing beside the ids there are.
pub(super) const ID_GAP: u64 = 1000;

/// A memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its number: `m3` has 3.
    pub id: u64,
    /// Exactly as it was saved.
    pub text: String,
    /// What sort of knowledge it is.
    pub kind: Kind,
    /// In the order given.
    pub tags: Vec<String>,
    /// When it was saved.
    pub created_at: Timestamp,
    /// When it was last shown, or saved.
    pub last_accessed: Timestamp,
    /// From 1.0 to 10.0.
    pub importance: f64,
    /// Under which session it was saved.
    pub session: Option<String>,
    /// When its text, kind, tags or importance last changed.
    pub modified_at: Timestamp,
    /// When it was forgotten; `None` for the living.
    pub forgotten_at: Option<Timestamp>,
    /// The `last_accessed` that is in the journal.
    pub touched_on_disk: Timestamp,
}

impl Memory {
    /// Whether it can be found and read.
    pub fn is_living(&self) -> bool {
        self.forgotten_at.is_none()
    }
}

/// All memories, the forgotten ones included.
#[derive(Default)]
pub(super) struct Entries {
    by_id: BTreeMap<u64, Memory>,
    /// Hash of kind and text to ids: finds what is saved again.
    by_content: HashMap<u64, Vec<u64>>,
    next_id: u64,
    /// How many ids to leave out before the next new one: `ID_GAP` from when the header is found lost until the gap
    /// is made.
    gap: u64,
    /// Memories whose place in an index may have changed since this was last taken.
    changed: Vec<u64>,
    was_reset: bool,
}

/// What has to be looked at again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Everything is new; `ids` are all there are.
    pub(crate) was_reset: bool,
    /// Memories that are new, gone, or say something else. May hold one twice.
    pub(crate) ids: Vec<u64>,
}

impl Entries {
    /// The living memory of this number.
    pub(super) fn get(&self, id: u64) -> Option<&Memory> {
        self.by_id.get(&id).filter(|memory| memory.is_living())
    }

    /// The living, newest first, from below `before` (or from the newest).
    pub(super) fn newest_first(&self, before: Option<u64>) -> impl Iterator<Item = &Memory> {
        self.by_id
            .range(..before.unwrap_or(u64::MAX))
            .rev()
            .map(|(_, memory)| memory)
            .filter(|memory| memory.is_living())
    }

    /// The living memory that says exactly this.
    pub(super) fn same(&self, text: &str, kind: Kind) -> Option<&Memory> {
        let ids = self.by_content.get(&hash(text, kind))?;
        ids.iter()
            .filter_map(|id| self.get(*id))
            .find(|memory| memory.text == text && memory.kind == kind)
    }

    /// The number for a new memory: above all that were ever given out. `None` when there are no more.
    pub(super) fn next_id(&self) -> Option<u64> {
        // The last number stays free, so that "above all" can always be said.
        self.next_id
            .checked_add(self.gap)
            .filter(|id| *id < u64::MAX)
    }

    /// The highest number that was given out, if there is no memory of it.
    pub(super) fn last_lost(&self) -> Option<u64> {
        let last = self.next_id.checked_sub(1)?;
        (!self.by_id.contains_key(&last)).then_some(last)
    }

    /// Marks memories as shown, without the journal.
    pub(super) fn touch(&mut self, ids: &[u64], at: Timestamp) {
        for id in ids {
            if let Some(memory) = self.by_id.get_mut(id) {
                memory.last_accessed = memory.last_accessed.max(at);
            }
        }
    }

    /// What has changed since the last time.
    pub(super) fn take_changes(&mut self) -> Changes {
        Changes {
            was_reset: std::mem::take(&mut self.was_reset),
            ids: std::mem::take(&mut self.changed),
        }
    }

    /// Takes in what the journal says.
    ///
    /// # Errors
    ///
    /// Says why an event contradicts what is known; nothing has changed then.
    pub(super) fn apply(&mut self, found: Found) -> Result<(), &'static str> {
        match found {
            Found::Reset => {
                *self = Self {
                    was_reset: true,
                    ..Self::default()
                }
            }
            Found::HeaderLost => self.gap = ID_GAP,
            Found::Lost(count) => self.next_id = self.next_id.saturating_add(count),
            Found::Seen(id) if id < self.next_id.saturating_add(ID_GAP) => self.reserve(id),
            Found::Seen(_) => {}
            Found::Event(Event::Journal(header)) => self.next_id = self.next_id.max(header.next_id),
            Found::Event(Event::Save(save)) => return self.save(save),
            Found::Event(Event::Update(update)) => return self.update(update),
            Found::Event(Event::Touch(Ids { ids, at })) => self.touched(&ids, at),
            Found::Event(Event::Forget(Ids { ids, at })) => self.set_forgotten(&ids, Some(at)),
            Found::Event(Event::Restore(Ids { ids, .. })) => self.set_forgotten(&ids, None),
        }
        Ok(())
    }

    fn reserve(&mut self, id: u64) {
        // An id that lies behind the gap to the number was given out after the loss: once is enough.
        if Some(id) == self.next_id.checked_add(self.gap) {
            self.gap = 0;
        }
        self.next_id = self.next_id.max(id.saturating_add(1));
    }

    fn save(&mut self, save: Save) -> Result<(), &'static str> {
        let Save {
            id: Id(id),
            text,
            kind,
            tags,
            importance,
            created_at,
            session,
        } = save;
        if self.by_id.contains_key(&id) {
            return Err("its id is taken");
        }
        self.reserve(id);
        self.by_content
            .entry(hash(&text, kind))
            .or_default()
            .push(id);
        let memory = Memory {
            id,
            text,
            kind,
            tags,
            created_at,
            last_accessed: created_at,
            importance,
            session,
            modified_at: created_at,
            forgotten_at: None,
            touched_on_disk: created_at,
        };
        self.by_id.insert(id, memory);
        self.changed.push(id);
        Ok(())
    }

    fn update(&mut self, update: Update) -> Result<(), &'static str> {
        let id = update.id.0;
        let Some(memory) = self.by_id.get_mut(&id) else {
            return Err("it changes a memory that is not there");
        };
        let before = hash(&memory.text, memory.kind);
        memory.text = update.text.unwrap_or(std::mem::take(&mut memory.text));
        memory.kind = update.kind.unwrap_or(memory.kind);
        memory.tags = update.tags.unwrap_or(std::mem::take(&mut memory.tags));
        memory.importance = update.importance.unwrap_or(memory.importance);
        memory.modified_at = update.at;
        let after = hash(&memory.text, memory.kind);
        if before != after {
            self.by_content
                .entry(before)
                .or_default()
                .retain(|known| *known != id);
            self.by_content.entry(after).or_default().push(id);
        }
        self.changed.push(id);
        Ok(())
    }

    /// A memory that is not there is passed over: its line may be damaged, and nothing is lost with its touch.
    fn touched(&mut self, ids: &[Id], at: Timestamp) {
        for Id(id) in ids {
            if let Some(memory) = self.by_id.get_mut(id) {
                memory.last_accessed = memory.last_accessed.max(at);
                memory.touched_on_disk = memory.touched_on_disk.max(at);
            }
        }
    }

    fn set_forgotten(&mut self, ids: &[Id], at: Option<Timestamp>) {
        for Id(id) in ids {
            self.reserve(*id);
            if let Some(memory) = self.by_id.get_mut(id) {
                memory.forgotten_at = at;
                self.changed.push(*id);
            }
        }
    }
}

fn hash(text: &str, kind: Kind) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((kind, text))
}
