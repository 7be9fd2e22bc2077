//! The index, kept in step with the store.

use std::collections::{BTreeMap, HashMap};

use ranking::bm25::{Bm25Params, Hit, Index};

use crate::store::{Changes, Entries, Entry, Opened, StoreError, hash_of};

/// An index of the living memories, by their ids.
pub(super) struct Indexed {
    index: Index,
    /// The index numbers documents with 32 bits, in the order in which they came: number to id, and back.
    ids: Vec<u64>,
    docs: HashMap<u64, Doc>,
    /// Which store it is of.
    store: String,
    /// Whether the journal is being read again: documents that are not met in it are to be taken out at its end.
    sweeps: bool,
    /// Memories whose texts could not be read when they were to be indexed.
    waiting: BTreeMap<u64, Option<String>>,
}

/// A memory in the index.
struct Doc {
    number: u32,
    /// Hash of what is indexed of it; `None`: nothing.
    contents: Option<u64>,
    /// Whether it was met since the journal is being read again.
    is_met: bool,
}

impl Default for Indexed {
    fn default() -> Self {
        Self {
            index: Index::new(Bm25Params::default()),
            ids: Vec::new(),
            docs: HashMap::new(),
            store: String::new(),
            sweeps: false,
            waiting: BTreeMap::new(),
        }
    }
}

impl Indexed {
    /// Every memory that has a term of the query, and that `admits` lets pass; `doc` names it for [`Indexed::id`].
    pub(super) fn score(&self, query: &str, admits: impl Fn(u64) -> bool) -> Vec<Hit> {
        self.index
            .score(query, |doc| self.id(doc).is_some_and(&admits))
    }

    /// The memory behind a hit.
    pub(super) fn id(&self, doc: u32) -> Option<u64> {
        self.ids.get(doc as usize).copied()
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
            self.sweeps = true;
            self.waiting.clear();
            self.docs.values_mut().for_each(|doc| doc.is_met = false);
        }
        if self.store != entries.store() {
            self.store = entries.store().to_owned();
        }
        let mut outcome = Ok(());
        let mut texts = std::mem::take(&mut self.waiting);
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
        let gone = |(id, doc): (&u64, &Doc)| (!doc.is_met).then_some(*id);
        let gone: Vec<u64> = self.docs.iter().filter_map(gone).collect();
        for id in gone {
            self.remove(id);
        }
    }

    fn insert(
        &mut self,
        entry: &Entry,
        text: Option<String>,
        opened: &mut Opened,
    ) -> Result<(), StoreError> {
        let contents = hash_of((entry.content, &entry.tags));
        let doc = self.docs.entry(entry.id).or_insert_with(|| {
            self.ids.push(entry.id);
            Doc {
                number: (self.ids.len() - 1) as u32,
                contents: None,
                is_met: true,
            }
        });
        doc.is_met = true;
        if doc.contents == Some(contents) {
            return Ok(());
        }
        let mut text = match text {
            Some(text) => text,
            None => opened.text(entry)?,
        };
        // Tags are words about a memory that its text may lack.
        for tag in &entry.tags {
            text.push('\n');
            text.push_str(tag);
        }
        self.index.insert(doc.number, &text);
        doc.contents = Some(contents);
        Ok(())
    }

    fn remove(&mut self, id: u64) {
        if let Some(doc) = self.docs.get_mut(&id) {
            doc.is_met = true;
            doc.contents = None;
            self.index.remove(doc.number);
        }
    }
}
