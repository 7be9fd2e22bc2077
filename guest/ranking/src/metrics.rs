//! How good a ranking is, given which documents are relevant, and how long it took.
//!
//! With `r` the ranking (best first, each document once), `R` the relevant documents, `g(d)` the gain of a document (above
//! 0 for the relevant ones) and `k` a cut:
//!
//! ```text
//! recall@k     = |first k of r that are in R| / |R|
//! ceiling@k    = min(k, |R|) / |R|             what no ranking can exceed
//! precision@k  = |first k of r that are in R| / k
//! MRR          = mean over queries of 1 / rank of the first relevant document; 0 without one
//! DCG@k        = sum over i in 1..=k of g(r[i]) / log2(i + 1)
//! nDCG@k       = DCG@k / DCG@k of the best ranking that there is
//! ```
//!
//! A query without relevant documents has no recall and no nDCG; leave it out of a mean.

/// Documents of a query that are relevant, and their gains.
#[derive(Clone, Debug, Default)]
pub struct Relevant {
    /// Sorted by document.
    gains: Vec<(u32, f32)>,
}

impl Relevant {
    /// From documents and gains. What has no gain above 0 is not relevant; of several gains of one document, the highest
    /// counts.
    pub fn new(gains: impl IntoIterator<Item = (u32, f32)>) -> Self {
        let mut gains: Vec<(u32, f32)> =
            gains.into_iter().filter(|(_, gain)| *gain > 0.0).collect();
        gains.sort_unstable_by(|left, right| left.0.cmp(&right.0).then(right.1.total_cmp(&left.1)));
        gains.dedup_by_key(|(doc, _)| *doc);
        Self { gains }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.gains.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gains.is_empty()
    }

    /// The gain of a document; 0 if it is not relevant.
    pub fn gain(&self, doc: u32) -> f32 {
        self.gains
            .binary_search_by_key(&doc, |(doc, _)| *doc)
            .map_or(0.0, |at| self.gains[at].1)
    }

    fn hits(&self, ranking: &[u32], k: usize) -> usize {
        ranking
            .iter()
            .take(k)
            .filter(|&&doc| self.gain(doc) > 0.0)
            .count()
    }
}

/// The share of the relevant documents that are among the first `k`.
///
/// ```
/// use ranking::metrics::{Relevant, ceiling, recall};
///
/// let relevant = Relevant::new([(7, 1.0), (8, 1.0), (9, 1.0)]);
/// assert_eq!(recall(&[7, 1, 9, 8], &relevant, 2), 1.0 / 3.0);
/// assert_eq!(ceiling(&relevant, 2), 2.0 / 3.0);
/// ```
pub fn recall(ranking: &[u32], relevant: &Relevant, k: usize) -> f32 {
    relevant.hits(ranking, k) as f32 / (relevant.len() as f32).max(1.0)
}

/// The best recall that any ranking has at `k`.
pub fn ceiling(relevant: &Relevant, k: usize) -> f32 {
    relevant.len().min(k) as f32 / (relevant.len() as f32).max(1.0)
}

/// The share of the first `k` places that hold a relevant document. An answer that is shorter than `k` left places empty.
pub fn precision(ranking: &[u32], relevant: &Relevant, k: usize) -> f32 {
    relevant.hits(ranking, k) as f32 / (k as f32).max(1.0)
}

/// 1 divided by the rank of the first relevant document; 0 if there is none. Its mean over queries is the MRR.
pub fn reciprocal_rank(ranking: &[u32], relevant: &Relevant) -> f32 {
    ranking
        .iter()
        .position(|&doc| relevant.gain(doc) > 0.0)
        .map_or(0.0, |at| 1.0 / (at as f32 + 1.0))
}

/// Discounted cumulative gain of the first `k`, divided by the best possible.
pub fn ndcg(ranking: &[u32], relevant: &Relevant, k: usize) -> f32 {
    let mut best: Vec<f32> = relevant.gains.iter().map(|(_, gain)| *gain).collect();
    best.sort_unstable_by(|left, right| right.total_cmp(left));
    let best = dcg(best, k);
    let gains = ranking.iter().map(|&doc| relevant.gain(doc));
    if best > 0.0 {
        dcg(gains, k) / best
    } else {
        0.0
    }
}

fn dcg(gains: impl IntoIterator<Item = f32>, k: usize) -> f32 {
    gains
        .into_iter()
        .take(k)
        .enumerate()
        .map(|(at, gain)| gain / (at as f32 + 2.0).log2())
        .sum()
}

/// The value that a share `p` (0 to 1) of some values does not exceed: the nearest rank, so it is one of them. `None`
/// without values.
pub fn percentile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (p.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The mean; 0 without values.
pub fn mean(values: impl IntoIterator<Item = f32>) -> f32 {
    let mut count = 0_u32;
    let sum: f64 = values
        .into_iter()
        .inspect(|_| count += 1)
        .map(f64::from)
        .sum();
    (sum / f64::from(count.max(1))) as f32
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
