//! Which memories answer a query, best first.

use jiff::Timestamp;
use ranking::bm25::{Hit, keep_best};

use super::{Entry, Memory, MemoryBackend};
use crate::config::{IMPORTANCE_WEIGHT, MAX_IMPORTANCE, RECENCY_DECAY_PER_HOUR, RECENCY_WEIGHT};
use crate::filter::Filter;
use crate::request::Moment;
use crate::security::SearchArgs;
use crate::store::StoreError;

impl MemoryBackend {
    /// The memories that answer a query best, best first, and marks them as accessed.
    ///
    /// The match of the text leads: BM25, as a part of the best match. Recency and importance lift a memory over
    /// others that match about as well; see [`RECENCY_WEIGHT`]. What has no word of the query is not found.
    pub fn search(
        &mut self,
        args: &SearchArgs,
        moment: &Moment,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut opened = self.follow()?;
        let mut found = Vec::new();
        for id in self.best(args, moment.now()) {
            found.extend(self.store.memory(&mut opened, id)?);
        }
        let ids: Vec<u64> = found.iter().map(|memory| memory.id).collect();
        self.store.touch(&ids, moment.now());
        Ok(found)
    }

    fn best(&self, args: &SearchArgs, now: Timestamp) -> Vec<u64> {
        let entries = self.store.entries();
        // The forgotten are not in the index.
        let everything = args.filter == Filter::default();
        let admits = |id: u64| {
            everything
                || entries
                    .get(id)
                    .is_some_and(|entry| args.filter.admits(entry))
        };
        let mut hits = self.indexed.score(&args.query, admits);
        let best = hits
            .iter()
            .map(|hit| hit.score)
            .fold(f32::MIN_POSITIVE, f32::max);
        hits.iter_mut().for_each(|hit| hit.score /= best);
        keep_contenders(&mut hits, args.k);
        for Hit { doc, score } in &mut hits {
            if let Some(entry) = self.indexed.id(*doc).and_then(|id| entries.get(id)) {
                *score += lift(entry, now) as f32;
            }
        }
        keep_best(&mut hits, args.k);
        hits.iter()
            .filter_map(|hit| self.indexed.id(hit.doc))
            .collect()
    }
}

/// Drops hits that no lift can bring among the `k` best, since most of a common word's hits need no closer look.
pub(super) fn keep_contenders(hits: &mut Vec<Hit>, k: usize) {
    /// The most that a lift is, and a little for rounding.
    const MAX_LIFT: f32 = (RECENCY_WEIGHT + IMPORTANCE_WEIGHT) as f32 + 1e-4;
    if (1..hits.len()).contains(&k) {
        let (_, last, _) = hits.select_nth_unstable_by(k - 1, |a, b| b.score.total_cmp(&a.score));
        let floor = last.score - MAX_LIFT;
        hits.retain(|hit| hit.score >= floor);
    }
}

/// What recency and importance add to a text match.
pub(super) fn lift(entry: &Entry, now: Timestamp) -> f64 {
    let hours = now.duration_since(entry.last_accessed).as_secs_f64() / 3600.0;
    let recency = RECENCY_DECAY_PER_HOUR.powf(hours.max(0.0));
    RECENCY_WEIGHT * recency + IMPORTANCE_WEIGHT * entry.importance / MAX_IMPORTANCE
}
