//! The figures of a row.

use ranking::metrics::{self, Relevant};
use serde_json::{Value, json};

/// Where recall is looked at.
const CUTS: [usize; 3] = [1, 5, 10];
/// Where the gain is looked at.
const GAIN_CUT: usize = 10;

/// What the answers of a row were worth, and how long they took.
#[derive(Default)]
pub(super) struct Tally {
    recall: [Vec<f32>; CUTS.len()],
    ceiling: [Vec<f32>; CUTS.len()],
    reciprocal: Vec<f32>,
    gain: Vec<f32>,
    milliseconds: Vec<f64>,
    empty: usize,
}

impl Tally {
    pub(super) fn add(&mut self, ranking: &[u32], relevant: &Relevant, milliseconds: f64) {
        for (at, cut) in CUTS.into_iter().enumerate() {
            self.recall[at].push(metrics::recall(ranking, relevant, cut));
            self.ceiling[at].push(metrics::ceiling(relevant, cut));
        }
        self.reciprocal
            .push(metrics::reciprocal_rank(ranking, relevant));
        self.gain.push(metrics::ndcg(ranking, relevant, GAIN_CUT));
        self.milliseconds.push(milliseconds);
        self.empty += usize::from(ranking.is_empty());
    }

    pub(super) fn report(&self, name: &str) -> Value {
        let at = |values: &[Vec<f32>]| -> Value {
            let mean = |(cut, values): (&usize, &Vec<f32>)| {
                (
                    cut.to_string(),
                    json!(metrics::mean(values.iter().copied())),
                )
            };
            CUTS.iter().zip(values).map(mean).collect()
        };
        let mean = |values: &[f32]| metrics::mean(values.iter().copied());
        let time = |part| metrics::percentile(&self.milliseconds, part).unwrap_or(0.0);
        json!({
            "row": name,
            "queries": self.gain.len(),
            "empty": self.empty,
            "recall": at(&self.recall),
            "ceiling": at(&self.ceiling),
            "mrr": mean(&self.reciprocal),
            "ndcg@10": mean(&self.gain),
            "ms": {"p50": time(0.5), "p95": time(0.95), "p99": time(0.99), "max": time(1.0)},
        })
    }
}
