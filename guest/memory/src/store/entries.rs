//! What the journal adds up to: the memories, without their texts.

mod book;
mod snapshot;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use jiff::Timestamp;

use super::entry::{Entry, Place, content_hash};
use super::event::{Event, Header, Id, Ids, Save, Update};
use super::index::Derived;
use super::journal::Found;
use crate::config::Kind;
use book::Book;

/// How far above the known ids the next one is when the journal's header, and so the record of what was given out, is
/// lost; and how far above them an id in a damaged line may be to be believed. Far more than damaged lines are likely
/// to have held, and nothing beside the ids there are.
pub(super) const ID_GAP: u64 = 1000;

/// All memories, the forgotten ones included.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Entries {
    by_id: Book,
    /// Content hash and id: finds what is saved again. What a snapshot has is not in it.
    by_content: BTreeSet<(u64, u64)>,
    /// The same of a snapshot, sorted, from when it is first asked for. What changed since is still in it.
    of_snapshot: OnceCell<Vec<(u64, u64)>>,
    /// Session ids, each once: most memories share theirs with others.
    sessions: HashSet<Rc<str>>,
    next_id: u64,
    /// How many ids to leave out before the next new one: `ID_GAP` from when the header is found lost until the gap
    /// is made.
    gap: u64,
    /// Which store; empty where that is lost or there is none.
    store: String,
    revisions: Revisions,
    /// Bytes of the lines that hold the texts.
    live_bytes: u64,
    /// Memories whose place in an index may have changed since this was last taken, with their texts if those are new.
    changed: BTreeMap<u64, Option<String>>,
    was_reset: bool,
    /// What a snapshot holds beside the memories, until it is taken.
    derived: Option<Derived>,
}

/// How far the store has come, counted in changes that people see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revisions {
    /// Changes since the store was created.
    pub(crate) reached: u64,
    /// The revision at which the list of memories last changed.
    pub(crate) listed: u64,
    /// What changed before this one can't be told any more.
    pub(crate) known_from: u64,
}

/// What has to be looked at again.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Everything is new; what follows from now on is all there is.
    pub(crate) was_reset: bool,
    /// What a snapshot holds of all that is known, but for `texts`.
    pub(crate) derived: Option<Derived>,
    /// Memories that are new, gone, or say something else; with the text if that came with the change.
    pub(crate) texts: BTreeMap<u64, Option<String>>,
}

impl Entries {
    /// The living memory of this number.
    pub(crate) fn get(&self, id: u64) -> Option<&Entry> {
        self.any(id).filter(|entry| entry.is_living())
    }

    /// The memory of this number, living or forgotten.
    pub(crate) fn any(&self, id: u64) -> Option<&Entry> {
        self.by_id.get(id).map(Rc::as_ref)
    }

    /// The living, newest first, from below `before` (or from the newest).
    pub(crate) fn newest_first(&self, before: Option<u64>) -> impl Iterator<Item = &Entry> {
        let below = self.by_id.below(before.unwrap_or(u64::MAX));
        below
            .map(Rc::as_ref)
            .filter(|entry: &&Entry| entry.is_living())
    }

    /// When each was saved, with its number, in order of these. The forgotten are among them: to tell them apart, all would
    /// have to be looked at.
    pub(crate) fn created(&self) -> impl Iterator<Item = (Timestamp, u64)> {
        self.by_id.created()
    }

    /// All, living and forgotten, in order of their ids, from `from` on.
    pub(crate) fn from(&self, from: u64) -> impl Iterator<Item = &Rc<Entry>> {
        self.by_id.from(from)
    }

    /// Those that may say exactly this, the forgotten too: their texts have to be read.
    pub(crate) fn candidates(&self, text: &str, kind: Kind) -> impl Iterator<Item = &Entry> {
        let hash = content_hash(text);
        let of_snapshot = self.of_snapshot.get_or_init(|| {
            let mut contents: Vec<(u64, u64)> = self.by_id.contents_of_snapshot().collect();
            contents.sort_unstable();
            contents
        });
        let first = of_snapshot.partition_point(|(content, _)| *content < hash);
        let old = of_snapshot[first..].iter();
        let old = old.take_while(move |(content, _)| *content == hash);
        let new = self.by_content.range((hash, 0)..=(hash, u64::MAX));
        let mut ids: Vec<u64> = old.chain(new).map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter_map(|id| self.any(id))
            .filter(move |entry| entry.kind == kind && entry.content == hash)
    }

    /// The number for a new memory: above all that were ever given out. `None` when there are no more.
    pub(crate) fn next_id(&self) -> Option<u64> {
        // The last number stays free, so that "above all" can always be said.
        self.next_id
            .checked_add(self.gap)
            .filter(|id| *id < u64::MAX)
    }

    /// The first number that was not given out, whether a memory can have it or not.
    pub(super) fn first_free(&self) -> u64 {
        self.next_id.saturating_add(self.gap)
    }

    /// The highest number that was given out, if there is no memory of it.
    pub(super) fn last_lost(&self) -> Option<u64> {
        let last = self.next_id.checked_sub(1)?;
        (!self.by_id.contains(last)).then_some(last)
    }

    /// Which store this is; empty where that is lost or there is none.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// How far the store has come.
    pub(crate) fn revisions(&self) -> Revisions {
        self.revisions
    }

    /// Bytes of the lines that hold the texts of all memories.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Marks memories as shown, without the journal.
    pub(super) fn touch(&mut self, ids: &[u64], at: Timestamp) {
        for id in ids {
            if let Some(entry) = self.by_id.get_mut(*id) {
                entry.last_accessed = entry.last_accessed.max(at);
            }
        }
    }

    /// What has changed since the last time.
    pub(super) fn take_changes(&mut self) -> Changes {
        Changes {
            was_reset: std::mem::take(&mut self.was_reset),
            derived: self.derived.take(),
            texts: std::mem::take(&mut self.changed),
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
            Found::Snapshot(entries) => *self = *entries,
            Found::HeaderLost => self.gap = ID_GAP,
            Found::Lost(count) => self.next_id = self.next_id.saturating_add(count),
            Found::Seen(id) if id < self.next_id.saturating_add(ID_GAP) => self.reserve(id),
            Found::Seen(_) => {}
            Found::Event(Event::Journal(header), _) => self.header(header),
            Found::Event(Event::Save(save), place) => return self.save(save, place),
            Found::Event(Event::Update(update), place) => return self.update(update, place),
            Found::Event(Event::Touch(Ids { ids, at }), _) => self.touched(&ids, at),
            Found::Event(Event::Forget(Ids { ids, at }), _) => self.set_forgotten(&ids, Some(at)),
            Found::Event(Event::Restore(Ids { ids, .. }), _) => self.set_forgotten(&ids, None),
        }
        Ok(())
    }

    /// Takes over the places that the lines of a rewritten journal have, in order, and drops what it left out.
    pub(super) fn moved(&mut self, places: &[(u64, Place)], left_out: &[u64], header: Header) {
        for id in left_out {
            if let Some(entry) = self.by_id.remove(*id) {
                self.by_content.remove(&(entry.content, *id));
                self.changed.insert(*id, None);
            }
        }
        for (id, place) in places {
            if let Some(entry) = self.by_id.get_mut(*id) {
                entry.place = *place;
            }
        }
        self.live_bytes = self.by_id.from(0).map(|entry| entry.place.bytes()).sum();
        let before = self.revisions;
        self.header(header);
        self.revisions.reached = self.revisions.reached.max(before.reached);
        self.revisions.listed = self.revisions.listed.max(before.listed);
    }

    fn header(&mut self, header: Header) {
        self.next_id = self.next_id.max(header.next_id);
        self.gap = 0;
        self.store = header.store;
        self.revisions = Revisions {
            reached: header.revision,
            listed: header.listed,
            known_from: header.known_from,
        };
    }

    fn reserve(&mut self, id: u64) {
        // An id that lies behind the gap to the number was given out after the loss: once is enough.
        if Some(id) == self.next_id.checked_add(self.gap) {
            self.gap = 0;
        }
        self.next_id = self.next_id.max(id.saturating_add(1));
    }

    /// Counts a change that people see. `in_list`: the list of memories is another one by it.
    fn advance(&mut self, in_list: bool) -> u64 {
        self.revisions.reached = self.revisions.reached.saturating_add(1);
        if in_list {
            self.revisions.listed = self.revisions.reached;
        }
        self.revisions.reached
    }

    fn save(&mut self, save: Save, place: Place) -> Result<(), &'static str> {
        let Id(id) = save.id;
        if self.by_id.contains(id) {
            return Err("its id is taken");
        }
        self.reserve(id);
        // A line that carries its revision was copied by a rewrite: that was no change.
        let revision = match save.revision {
            Some(revision) => revision,
            None => self.advance(true),
        };
        let content = content_hash(&save.text);
        let last_accessed = save.last_accessed.unwrap_or(save.created_at);
        let entry = Entry {
            id,
            kind: save.kind,
            tags: save.tags,
            created_at: save.created_at,
            last_accessed,
            importance: save.importance,
            session: save.session.map(|session| self.shared(&session)),
            modified_at: save.modified_at.unwrap_or(save.created_at),
            forgotten_at: save.forgotten_at,
            place,
            content,
            touched_on_disk: last_accessed,
            revision,
        };
        self.by_content.insert((content, id));
        self.live_bytes = self.live_bytes.saturating_add(place.bytes());
        self.by_id.insert(entry);
        self.changed.insert(id, Some(save.text));
        Ok(())
    }

    fn shared(&mut self, session: &str) -> Rc<str> {
        if let Some(known) = self.sessions.get(session) {
            return Rc::clone(known);
        }
        let session: Rc<str> = session.into();
        self.sessions.insert(Rc::clone(&session));
        session
    }

    fn update(&mut self, update: Update, place: Place) -> Result<(), &'static str> {
        let id = update.id.0;
        if !self.by_id.contains(id) {
            return Err("it changes a memory that is not there");
        }
        // Of what the list shows: the start of the text, its size and the kind.
        let revision = self.advance(update.text.is_some() || update.kind.is_some());
        let Some(entry) = self.by_id.get_mut(id) else {
            return Ok(());
        };
        entry.kind = update.kind.unwrap_or(entry.kind);
        entry.tags = update.tags.unwrap_or(std::mem::take(&mut entry.tags));
        entry.importance = update.importance.unwrap_or(entry.importance);
        entry.modified_at = update.at;
        entry.revision = revision;
        if let Some(text) = update.text {
            self.by_content.remove(&(entry.content, id));
            entry.content = content_hash(&text);
            self.by_content.insert((entry.content, id));
            // A damaged snapshot may have had any number; compaction only goes by it.
            let others = self.live_bytes.saturating_sub(entry.place.bytes());
            self.live_bytes = others.saturating_add(place.bytes());
            entry.place = place;
            self.changed.insert(id, Some(text));
        } else {
            self.changed.entry(id).or_default();
        }
        Ok(())
    }

    /// A memory that is not there is passed over: its line may be damaged, and nothing is lost with its touch.
    fn touched(&mut self, ids: &[Id], at: Timestamp) {
        for Id(id) in ids {
            if let Some(entry) = self.by_id.get_mut(*id) {
                entry.last_accessed = entry.last_accessed.max(at);
                entry.touched_on_disk = entry.touched_on_disk.max(at);
            }
        }
    }

    /// One event is one revision, however many memories it hides or brings back; none if it changes nothing.
    fn set_forgotten(&mut self, ids: &[Id], at: Option<Timestamp>) {
        let mut revision = None;
        for Id(id) in ids {
            self.reserve(*id);
            let differs = |entry: &Rc<Entry>| entry.is_living() == at.is_some();
            if self.by_id.get(*id).is_some_and(differs) {
                let revision = *revision.get_or_insert_with(|| self.advance(true));
                if let Some(entry) = self.by_id.get_mut(*id) {
                    entry.forgotten_at = at;
                    entry.revision = revision;
                }
                self.changed.entry(*id).or_default();
            }
        }
    }
}
