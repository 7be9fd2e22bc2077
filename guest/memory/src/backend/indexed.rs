//! The index, kept in step with the store.

use std::collections::{BTreeMap, BTreeSet};

use ranking::{Document, Found, Pool, Query, Recipe, Vector, VectorError};

use crate::store::{Changes, Derived, Entries, Entry, In, Opened, Out, StoreError, fingerprint};

/// Numbers below the first id that is met, so that an older memory that comes later has one too.
const ROOM_BELOW: u64 = 1 << 31;

/// A pool of the living memories.
///
/// The pool numbers documents with 32 bits, in the order of saving. Ids are longer, and rise in that order: a document's
/// number is its id, less `origin`, which is 0 in any store that did not begin with a huge id. A memory whose id is so far
/// from the others that it gets no number can be read, and is not found; no store that people have comes near that.
#[derive(Default)]
pub(super) struct Indexed {
    pool: Pool,
    origin: Option<u64>,
    docs: Docs,
    /// Which store it is of.
    store: String,
    /// Whether the journal is being read again: documents that are not met in it are to be taken out at its end.
    sweeps: bool,
    /// Memories whose texts could not be read when they were to be indexed.
    waiting: BTreeMap<u64, Option<String>>,
    /// Memories that get no vector of a provider: their text is lost, or their vector has no direction.
    without: BTreeSet<u64>,
    /// How many memories lack a vector of an embedder; none when that has to be counted again.
    missing: Option<(String, usize)>,
    /// Vectors that are in no snapshot yet.
    unsaved_vectors: usize,
}

/// The memories that are in the index, by their ids.
///
/// Nearly all are newer than all others, and a hundred thousand come at once with a snapshot: a list in order takes both
/// better than a tree.
#[derive(Default)]
struct Docs(Vec<(u64, Doc)>);

impl Docs {
    fn get(&self, id: u64) -> Option<&Doc> {
        let at = self.find(id).ok()?;
        Some(&self.0[at].1)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Doc> {
        let at = self.find(id).ok()?;
        Some(&mut self.0[at].1)
    }

    fn insert(&mut self, id: u64, doc: Doc) {
        match self.find(id) {
            Ok(at) => self.0[at].1 = doc,
            Err(at) => self.0.insert(at, (id, doc)),
        }
    }

    /// Returns whether it was there.
    fn remove(&mut self, id: u64) -> bool {
        let found = self.find(id);
        if let Ok(at) = found {
            self.0.remove(at);
        }
        found.is_ok()
    }

    fn find(&self, id: u64) -> Result<usize, usize> {
        match self.0.last() {
            Some((last, _)) if *last < id => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&id, |(id, _)| *id),
        }
    }
}

/// A memory in the index.
struct Doc {
    /// Of what is indexed of it. See [`contents_of`].
    contents: u64,
    /// Whether it was met since the journal is being read again.
    is_met: bool,
}

impl Indexed {
    /// What the pool finds among the memories that `admits` lets pass; [`Indexed::id`] tells which a hit is.
    pub(super) fn search(
        &self,
        query: &Query<'_>,
        recipe: &Recipe,
        k: usize,
        admits: impl Fn(u64) -> bool,
    ) -> Found {
        self.pool
            .search(query, recipe, k, |doc| admits(self.id(doc)))
    }

    /// The memory behind a number.
    pub(super) fn id(&self, doc: u32) -> u64 {
        self.origin.unwrap_or(0).saturating_add(doc.into())
    }

    /// The number of a memory, if it can have one.
    fn number(&self, id: u64) -> Option<u32> {
        id.checked_sub(self.origin?)?.try_into().ok()
    }

    /// Takes in what changed.
    ///
    /// A store that was rewritten has the same memories: what is indexed already stays so, for reading is quick and
    /// indexing is not.
    pub(super) fn take(
        &mut self,
        entries: &Entries,
        opened: &mut Opened,
        changes: Changes,
    ) -> Result<(), StoreError> {
        if changes.was_reset {
            if entries.store().is_empty() || entries.store() != self.store {
                *self = Self::default();
            }
            self.waiting.clear();
            self.sweeps = changes.derived.is_none();
            self.docs
                .0
                .iter_mut()
                .for_each(|(_, doc)| doc.is_met = false);
        }
        let mut texts = std::mem::take(&mut self.waiting);
        if let Some(derived) = changes.derived {
            match Self::decode(derived) {
                Some(decoded) => *self = decoded,
                None => {
                    self.sweeps = true;
                    texts.extend(entries.from(0).map(|entry| (entry.id, None)));
                }
            }
        }
        if self.store != entries.store() {
            self.store = entries.store().to_owned();
        }
        let mut outcome = Ok(());
        texts.extend(changes.texts);
        for (id, text) in texts {
            match entries.get(id) {
                None => self.remove(id),
                Some(entry) => match self.insert(entry, text, opened) {
                    // It will be reported when it is to be shown.
                    Err(StoreError::Unreadable { .. }) => self.remove(id),
                    Err(error) => {
                        self.waiting.insert(id, None);
                        outcome = Err(error);
                    }
                    Ok(()) => {}
                },
            }
        }
        outcome
    }

    /// All of the journal was taken in: what was not met is gone.
    pub(super) fn settle(&mut self) {
        if !std::mem::take(&mut self.sweeps) {
            return;
        }
        let gone = |(id, doc): &(u64, Doc)| (!doc.is_met).then_some(*id);
        let gone: Vec<u64> = self.docs.0.iter().filter_map(gone).collect();
        for id in gone {
            self.remove(id);
        }
    }

    /// Everything, as bytes.
    pub(super) fn encode(&mut self) -> Derived {
        self.unsaved_vectors = 0;
        let mut docs = Out::default();
        docs.number(self.origin.map_or(0, |origin| origin.saturating_add(1)));
        docs.number(self.docs.0.len() as u64);
        let mut before = 0;
        for (id, doc) in &self.docs.0 {
            docs.number(id.wrapping_sub(before));
            docs.eight(doc.contents);
            before = *id;
        }
        let pool = self.pool.encode();
        Derived { docs: docs.0, pool }
    }

    /// The same from bytes; `None` if they are damaged, or of another version.
    fn decode(derived: Derived) -> Option<Self> {
        let mut bytes = In(&derived.docs);
        let origin = bytes.number()?.checked_sub(1);
        let count = bytes.count()?;
        let mut docs = Vec::with_capacity(count);
        let mut id = 0_u64;
        for index in 0..count {
            let more = bytes.number()?;
            // They rise.
            id = id.checked_add(more).filter(|_| index == 0 || more > 0)?;
            let contents = bytes.eight()?;
            let is_met = true;
            docs.push((id, Doc { contents, is_met }));
        }
        bytes.end()?;
        let pool = Pool::decode(derived.pool).ok()?;
        Some(Self {
            pool,
            origin,
            docs: Docs(docs),
            ..Self::default()
        })
    }

    fn insert(
        &mut self,
        entry: &Entry,
        text: Option<String>,
        opened: &mut Opened,
    ) -> Result<(), StoreError> {
        self.origin
            .get_or_insert_with(|| entry.id.saturating_sub(ROOM_BELOW));
        let contents = contents_of(entry);
        if let Some(doc) = self.docs.get_mut(entry.id)
            && doc.contents == contents
        {
            doc.is_met = true;
            return Ok(());
        }
        let Some(number) = self.number(entry.id) else {
            return Ok(());
        };
        let text = match text {
            Some(text) => text,
            None => opened.text(entry)?,
        };
        let document = Document {
            text: &text,
            // Tags are words about a memory that its text may lack.
            extra: &entry.tags.join("\n"),
            session: entry.session.as_deref(),
            created: Some(entry.created_at.as_second()),
        };
        self.pool.insert(number, &document);
        self.missing = None;
        self.without.remove(&entry.id);
        let doc = Doc {
            contents,
            is_met: true,
        };
        self.docs.insert(entry.id, doc);
        Ok(())
    }

    fn remove(&mut self, id: u64) {
        if self.docs.remove(id)
            && let Some(number) = self.number(id)
        {
            self.pool.remove(number);
            self.missing = None;
        }
    }

    /// How many memories there are.
    pub(super) fn len(&self) -> usize {
        self.pool.len()
    }

    /// Memories that want a vector of this embedder, with the fingerprints of what they say.
    pub(super) fn without_vector(&self, embedder: &str) -> Vec<(u64, u64)> {
        let docs = self.pool.without_vector(embedder).into_iter();
        docs.map(|doc| self.id(doc))
            .filter(|id| !self.without.contains(id))
            .filter_map(|id| Some((id, self.docs.get(id)?.contents)))
            .collect()
    }

    /// How many that are.
    pub(super) fn missing(&mut self, embedder: &str) -> usize {
        match &self.missing {
            Some((of, count)) if of == embedder => *count,
            _ => {
                let count = self.without_vector(embedder).len();
                self.missing = Some((embedder.to_owned(), count));
                count
            }
        }
    }

    /// Vectors that are in no snapshot yet.
    pub(super) fn unsaved_vectors(&self) -> usize {
        self.unsaved_vectors
    }

    /// A memory gets no vector until it says something else.
    pub(super) fn give_up_on(&mut self, id: u64) {
        self.without.insert(id);
        self.missing = None;
    }

    /// Gives a memory its vector, if it still says what the vector was made of.
    pub(super) fn set_vector(
        &mut self,
        (id, contents): (u64, u64),
        embedder: &str,
        vector: &[f32],
    ) -> Result<(), VectorError> {
        let is_same = |doc: &Doc| doc.contents == contents;
        let Some(number) = self
            .number(id)
            .filter(|_| self.docs.get(id).is_some_and(is_same))
        else {
            return Ok(());
        };
        match self.pool.set_vector(number, embedder, Vector::F32(vector)) {
            Err(VectorError::NoDirection) => self.give_up_on(id),
            Err(error) => return Err(error),
            Ok(()) => self.unsaved_vectors += 1,
        }
        self.missing = None;
        Ok(())
    }
}

/// A fingerprint of all that the pool is told of a memory: what has the same one need not be indexed again.
fn contents_of(entry: &Entry) -> u64 {
    let mut print = fingerprint(&[]);
    let mut add = |part: &[u8]| print = fingerprint(&[&print.to_le_bytes(), part]);
    add(&entry.content.to_le_bytes());
    for tag in &entry.tags {
        add(tag.as_bytes());
    }
    add(entry.session.as_deref().unwrap_or_default().as_bytes());
    add(&entry.created_at.as_second().to_le_bytes());
    print
}
