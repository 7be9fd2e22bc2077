//! Which memories answer a query, best first.

use std::fmt;

use jiff::Timestamp;
use ranking::{Query, Recipe, Vector, Verdict};

use super::{Entry, Memory, MemoryBackend};
use crate::config::{
    IMPORTANCE_WEIGHT, MAX_IMPORTANCE, MIN_CONTENDERS, RECENCY_DECAY_PER_HOUR, RECENCY_WEIGHT,
};
use crate::filter::Filter;
use crate::request::{Given, Moment};
use crate::security::SearchArgs;
use crate::store::StoreError;

/// What a search found, and what the reader should know of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// Best first.
    pub memories: Vec<Memory>,
    /// They share so little with the query that they may have nothing to do with it.
    pub is_doubtful: bool,
    /// The provider of vectors was asked and gave none, so the built-in search had to do.
    pub provider_failed: bool,
}

/// Why a search found nothing, not even that there is nothing.
#[derive(Debug)]
pub enum SearchError {
    /// The store failed.
    Store(StoreError),
    /// It needs the vector of this query first. See [`Moment::with_answer`].
    NeedsVector(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::NeedsVector(_) => f.write_str("the query needs a vector first"),
        }
    }
}

impl std::error::Error for SearchError {}

impl From<StoreError> for SearchError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl MemoryBackend {
    /// The memories that answer a query best, best first, and marks them as accessed.
    ///
    /// Relevance leads: the score of [`Recipe::FULL`], as a part of the best one. Recency and importance lift a memory
    /// over others that are about as relevant; see [`RECENCY_WEIGHT`]. Where too little of the query is in any memory,
    /// nothing is found.
    pub fn search(&mut self, args: &SearchArgs, moment: &Moment) -> Result<Recalled, SearchError> {
        let mut opened = self.follow()?;
        let vector = if self.uses_vectors() {
            match moment.answer() {
                None => return Err(SearchError::NeedsVector(args.query.clone())),
                Some(given) => Some(self.query_vector(given)),
            }
        } else {
            None
        };
        let provider_failed = vector == Some(None);
        let (ids, is_doubtful) = self.best(args, vector.flatten(), moment.now());
        let mut memories = Vec::new();
        for id in ids {
            memories.extend(self.store.memory(&mut opened, id)?);
        }
        let ids: Vec<u64> = memories.iter().map(|memory| memory.id).collect();
        self.store.touch(&ids, moment.now());
        Ok(Recalled {
            is_doubtful: is_doubtful && !memories.is_empty(),
            memories,
            provider_failed,
        })
    }

    /// The one vector that was asked for, if it is the configured provider's.
    fn query_vector<'a>(&self, given: &'a Given) -> Option<&'a [f32]> {
        match given {
            Given::Vectors { embedder, vectors } if Some(embedder.as_str()) == self.embedder() => {
                match vectors.as_slice() {
                    [vector] => Some(vector),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn best(&self, args: &SearchArgs, vector: Option<&[f32]>, now: Timestamp) -> (Vec<u64>, bool) {
        let entries = self.store.entries();
        // The forgotten are not in the index.
        let everything = args.filter == Filter::default();
        let admits = |id: u64| {
            everything
                || entries
                    .get(id)
                    .is_some_and(|entry| args.filter.admits(entry))
        };
        let query = Query {
            text: &args.query,
            vector: self.embedder().zip(vector.map(Vector::F32)),
        };
        let contenders = (2 * args.k).max(MIN_CONTENDERS);
        let found = self
            .indexed
            .search(&query, &Recipe::FULL, contenders, admits);
        let scored = found.hits.iter().filter_map(|hit| {
            let entry = entries.get(self.indexed.id(hit.doc))?;
            Some((entry.id, f64::from(hit.score), lift(entry, now)))
        });
        let mut ids = lifted(scored.collect());
        ids.truncate(args.k);
        (ids, found.verdict == Verdict::LowConfidence)
    }
}

/// Orders ids, given with score and lift, best score first, by
///
/// ```text
/// score / best score + lift
/// ```
///
/// Where that is equal, the order stays.
pub(crate) fn lifted(scored: Vec<(u64, f64, f64)>) -> Vec<u64> {
    let best = scored
        .iter()
        .map(|(_, score, _)| *score)
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut ranked: Vec<(u64, f64)> = scored
        .into_iter()
        .map(|(id, score, lift)| (id, score / best + lift))
        .collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    ranked.into_iter().map(|(id, _)| id).collect()
}

/// What recency and importance add to a relevance of at most 1:
///
/// ```text
/// RECENCY_WEIGHT * RECENCY_DECAY_PER_HOUR ^ (hours since the last access)
///   + IMPORTANCE_WEIGHT * importance / MAX_IMPORTANCE
/// ```
pub(super) fn lift(entry: &Entry, now: Timestamp) -> f64 {
    let hours = now.duration_since(entry.last_accessed).as_secs_f64() / 3600.0;
    recency_of(hours) + importance_of(entry.importance)
}

/// The first part. Hours before now count as none.
pub(crate) fn recency_of(hours: f64) -> f64 {
    RECENCY_WEIGHT * RECENCY_DECAY_PER_HOUR.powf(hours.max(0.0))
}

/// The second part.
pub(crate) fn importance_of(importance: f64) -> f64 {
    IMPORTANCE_WEIGHT * importance / MAX_IMPORTANCE
}
