//! The memory behind every door: tools, resources, prompts and completion speak to it and to nothing below.

use std::collections::HashMap;
use std::fmt;

use jiff::Timestamp;
use ranking::bm25::{Bm25Params, Hit, Index, keep_best};

use crate::config::{
    DEFAULT_IMPORTANCE, IMPORTANCE_WEIGHT, MAX_IMPORTANCE, MAX_TAGS, RECENCY_DECAY_PER_HOUR,
    RECENCY_WEIGHT,
};
use crate::filter::Filter;
use crate::request::Moment;
use crate::security::{SaveArgs, SearchArgs};
pub use crate::store::Memory;
use crate::store::disk::Disk;
use crate::store::{RandomId, Store, StoreError};

impl Filter {
    /// Whether it lets a memory pass.
    pub fn admits(&self, memory: &Memory) -> bool {
        let has = |tag: &String| {
            memory
                .tags
                .iter()
                .any(|own| own.to_lowercase() == tag.to_lowercase())
        };
        self.kind.is_none_or(|kind| kind == memory.kind)
            && self.since.is_none_or(|since| since <= memory.created_at)
            && self.until.is_none_or(|until| memory.created_at <= until)
            && self
                .min_importance
                .is_none_or(|least| least <= memory.importance)
            && self.tags.iter().all(has)
    }
}

/// What became of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The memory's number.
    pub id: u64,
    /// False when the same text and kind was there already.
    pub created: bool,
}

/// Why something could not be saved.
#[derive(Debug)]
pub enum SaveError {
    /// The store failed.
    Store(StoreError),
    /// The memory is there already, and would have too many tags with the new ones.
    TooManyTags {
        /// The memory's number.
        id: u64,
        /// How many tags it would have.
        count: usize,
    },
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::TooManyTags { id, count } => {
                write!(
                    f,
                    "tags must be at most {MAX_TAGS} together with those that m{id} has already, got {count}"
                )
            }
        }
    }
}

impl std::error::Error for SaveError {}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The store, and an index to search it.
pub struct MemoryBackend {
    store: Store,
    index: Index,
    /// The index numbers documents with 32 bits, in the order in which they came: number to id, and back.
    ids: Vec<u64>,
    docs: HashMap<u64, u32>,
}

impl MemoryBackend {
    /// A backend over a disk. Opens nothing; `random_id` is asked when a store has to be created.
    pub fn new(disk: Box<dyn Disk>, random_id: RandomId) -> Self {
        Self {
            store: Store::new(disk, random_id),
            index: Index::new(Bm25Params::default()),
            ids: Vec::new(),
            docs: HashMap::new(),
        }
    }

    /// Saves a memory, durably. The same text and kind again is the memory that is there: what is new in tags and
    /// importance goes into it. (Clients retry; nobody wants it twice.)
    pub fn save(&mut self, args: &SaveArgs, moment: &Moment) -> Result<Saved, SaveError> {
        self.follow()?;
        self.store.writable()?;
        if let Some(memory) = self.store.same(&args.text, args.kind) {
            let (id, merge) = (memory.id, Merge::of(memory, args));
            if let Some(count) = merge
                .tags
                .as_ref()
                .map(Vec::len)
                .filter(|count| *count > MAX_TAGS)
            {
                return Err(SaveError::TooManyTags { id, count });
            }
            if merge != Merge::default() {
                self.store
                    .update(id, merge.tags, merge.importance, moment.now())?;
            }
            return Ok(Saved { id, created: false });
        }
        let importance = args.importance.unwrap_or(DEFAULT_IMPORTANCE);
        let id = self
            .store
            .save(&args.text, args.kind, &args.tags, importance, moment)?;
        Ok(Saved { id, created: true })
    }

    /// The memories that answer a query best, best first, and marks them as accessed.
    ///
    /// The match of the text leads: BM25, as a part of the best match. Recency and importance lift a memory over
    /// others that match about as well; see [`RECENCY_WEIGHT`]. What has no word of the query is not found.
    pub fn search(
        &mut self,
        args: &SearchArgs,
        moment: &Moment,
    ) -> Result<Vec<Memory>, StoreError> {
        self.follow()?;
        let memory_of = |doc: u32| {
            self.ids
                .get(doc as usize)
                .and_then(|id| self.store.get(*id))
        };
        // The forgotten are not in the index.
        let everything = args.filter == Filter::default();
        let admits = |doc: u32| {
            everything || memory_of(doc).is_some_and(|memory| args.filter.admits(memory))
        };
        let mut hits = self.index.score(&args.query, admits);
        let best = hits
            .iter()
            .map(|hit| hit.score)
            .fold(f32::MIN_POSITIVE, f32::max);
        hits.iter_mut().for_each(|hit| hit.score /= best);
        keep_contenders(&mut hits, args.k);
        for Hit { doc, score } in &mut hits {
            if let Some(memory) = memory_of(*doc) {
                *score += lift(memory, moment.now()) as f32;
            }
        }
        keep_best(&mut hits, args.k);
        let found: Vec<Memory> = hits
            .iter()
            .filter_map(|hit| memory_of(hit.doc))
            .cloned()
            .collect();
        let ids: Vec<u64> = found.iter().map(|memory| memory.id).collect();
        self.store.touch(&ids, moment.now());
        Ok(found)
    }

    /// The memory of this number, if it is there and not forgotten.
    pub fn get(&mut self, id: u64) -> Result<Option<&Memory>, StoreError> {
        self.follow()?;
        Ok(self.store.get(id))
    }

    /// All memories but the forgotten, newest first.
    pub fn all_entries(&mut self) -> Result<impl Iterator<Item = &Memory>, StoreError> {
        self.entries_before(None)
    }

    /// The same from below `before`: where a page goes on, whatever was saved meanwhile.
    pub fn entries_before(
        &mut self,
        before: Option<u64>,
    ) -> Result<impl Iterator<Item = &Memory>, StoreError> {
        self.follow()?;
        Ok(self.store.newest_first(before))
    }

    /// What the person who runs the server should know, each once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.store.take_warnings()
    }

    /// Takes in what this and other processes wrote, and keeps the index in step.
    fn follow(&mut self) -> Result<(), StoreError> {
        let changes = self.store.follow()?;
        if changes.was_reset {
            self.index = Index::new(Bm25Params::default());
            self.ids.clear();
            self.docs.clear();
        }
        for id in changes.ids {
            let doc = *self.docs.entry(id).or_insert_with(|| {
                self.ids.push(id);
                (self.ids.len() - 1) as u32
            });
            match self.store.get(id) {
                // Tags are words about a memory that its text may lack.
                Some(memory) if memory.tags.is_empty() => self.index.insert(doc, &memory.text),
                Some(memory) => self
                    .index
                    .insert(doc, &format!("{}\n{}", memory.text, memory.tags.join("\n"))),
                None => {
                    self.index.remove(doc);
                }
            }
        }
        Ok(())
    }
}

/// Drops hits that no lift can bring among the `k` best, since most of a common word's hits need no closer look.
fn keep_contenders(hits: &mut Vec<Hit>, k: usize) {
    /// The most that a lift is, and a little for rounding.
    const MAX_LIFT: f32 = (RECENCY_WEIGHT + IMPORTANCE_WEIGHT) as f32 + 1e-4;
    if (1..hits.len()).contains(&k) {
        let (_, last, _) = hits.select_nth_unstable_by(k - 1, |a, b| b.score.total_cmp(&a.score));
        let floor = last.score - MAX_LIFT;
        hits.retain(|hit| hit.score >= floor);
    }
}

/// What recency and importance add to a text match.
fn lift(memory: &Memory, now: Timestamp) -> f64 {
    let hours = now.duration_since(memory.last_accessed).as_secs_f64() / 3600.0;
    let recency = RECENCY_DECAY_PER_HOUR.powf(hours.max(0.0));
    RECENCY_WEIGHT * recency + IMPORTANCE_WEIGHT * memory.importance / MAX_IMPORTANCE
}

/// What saving a memory again changes in it; `None` is nothing.
#[derive(Debug, Default, PartialEq)]
struct Merge {
    tags: Option<Vec<String>>,
    importance: Option<f64>,
}

impl Merge {
    fn of(memory: &Memory, args: &SaveArgs) -> Self {
        let new = args.tags.iter().filter(|tag| !memory.tags.contains(tag));
        let tags: Vec<String> = memory.tags.iter().chain(new).cloned().collect();
        Self {
            tags: Some(tags).filter(|tags| tags.len() > memory.tags.len()),
            importance: args
                .importance
                .filter(|importance| *importance > memory.importance),
        }
    }
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;
