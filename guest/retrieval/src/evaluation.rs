//! Measuring a retriever on queries whose answers are known.

use ranking::metrics::{self, Relevant};

use crate::config::{PROGRESS_STEPS, RECIPROCAL_DEPTH, WORST_QUERIES};
use crate::corpus::Query;
use crate::filter::{Filter, FilterError};
use crate::library::Loaded;
use crate::request::Call;
use crate::retriever::Mode;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The depth of recall, precision and nDCG: from 1 to `MAX_K`.
    pub k: usize,
    /// How to rank.
    pub mode: Mode,
    /// Whether the filters of queries that have some are applied.
    pub apply_filters: bool,
}

/// Means over queries. See [`ranking::metrics`] for the formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Over how many queries.
    pub queries: usize,
    /// At `k`.
    pub recall: f32,
    /// The recall that a perfect ranking has at `k`.
    pub ceiling: f32,
    /// At `k`; places that were left empty count as misses.
    pub precision: f32,
    /// Mean reciprocal rank, over the first `RECIPROCAL_DEPTH`.
    pub mrr: f32,
    /// At `k`.
    pub ndcg: f32,
}

/// A query that went badly.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Position among the corpus's queries.
    pub query: usize,
    /// At `k`.
    pub ndcg: f32,
    /// At `k`.
    pub recall: f32,
    /// Rank of the first relevant document, from 1; none within `RECIPROCAL_DEPTH`.
    pub first_relevant: Option<usize>,
    /// Number of the document that came first.
    pub top: Option<u32>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Over all queries that were measured.
    pub all: Scores,
    /// Over those that have filters; none if none has.
    pub filtered: Option<Scores>,
    /// Milliseconds a query, that half of them don't exceed.
    pub p50_ms: f64,
    /// Milliseconds a query, that 95 of 100 don't exceed.
    pub p95_ms: f64,
    /// Lowest nDCG first.
    pub worst: Vec<Worst>,
    /// Queries that were left out because the call's time was over.
    pub left_out: usize,
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// The corpus has no queries with judgements.
    NoQueries,
    /// A query's filter asks what its corpus can't answer.
    Filter {
        /// The query's id.
        query: String,
        /// What is wrong.
        error: FilterError,
    },
}

impl std::fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoQueries => f.write_str(
                "it has no queries with known answers (queries.jsonl and qrels/test.tsv), so there is nothing to measure",
            ),
            Self::Filter { query, error } => write!(f, "the filters of its query {query:?}: {error}"),
        }
    }
}

impl std::error::Error for EvaluationError {}

/// What one query gave.
struct Measured {
    query: usize,
    filtered: bool,
    recall: f32,
    ceiling: f32,
    precision: f32,
    reciprocal_rank: f32,
    ndcg: f32,
    top: Option<u32>,
    milliseconds: f64,
}

/// Asks all queries of a corpus and compares the answers with what is known. Tells its progress, and ends early when the
/// call's time is nearly over.
///
/// # Errors
///
/// A corpus without queries, or with queries that it can't answer.
pub fn evaluate(loaded: &Loaded, setup: Setup, call: &Call<'_>) -> Result<Report, EvaluationError> {
    let queries = &loaded.corpus.queries;
    if queries.is_empty() {
        return Err(EvaluationError::NoQueries);
    }
    let mut measured = Vec::with_capacity(queries.len());
    for (position, query) in queries.iter().enumerate() {
        if position > 0 && call.is_nearly_over() {
            break;
        }
        measured.push(measure(loaded, position, query, setup, call)?);
        let done = position + 1;
        if done % queries.len().div_ceil(PROGRESS_STEPS) == 0 || done == queries.len() {
            call.progress(done, queries.len(), &format!("query {}", query.id));
        }
    }
    let times: Vec<f64> = measured.iter().map(|one| one.milliseconds).collect();
    let filtered: Vec<&Measured> = measured.iter().filter(|one| one.filtered).collect();
    Ok(Report {
        all: Scores::over(&measured.iter().collect::<Vec<_>>()),
        filtered: (!filtered.is_empty()).then(|| Scores::over(&filtered)),
        p50_ms: metrics::percentile(&times, 0.5).unwrap_or_default(),
        p95_ms: metrics::percentile(&times, 0.95).unwrap_or_default(),
        worst: worst(&measured),
        left_out: queries.len() - measured.len(),
    })
}

fn measure(
    loaded: &Loaded,
    position: usize,
    query: &Query,
    setup: Setup,
    call: &Call<'_>,
) -> Result<Measured, EvaluationError> {
    let conditions = if setup.apply_filters {
        &query.conditions[..]
    } else {
        &[]
    };
    let filter =
        Filter::of(conditions, &loaded.corpus.fields).map_err(|error| EvaluationError::Filter {
            query: query.id.clone(),
            error,
        })?;
    let started = call.now();
    let selection = loaded.corpus.select(&filter);
    let answer = loaded
        .retriever
        .search(&query.text, setup.mode, &selection, RECIPROCAL_DEPTH);
    let milliseconds = call.now().saturating_sub(started).as_secs_f64() * 1000.0;
    let ranking: Vec<u32> = answer.hits.iter().map(|hit| hit.doc).collect();
    Ok(Measured::of(
        position,
        query,
        &ranking,
        setup.k,
        milliseconds,
    ))
}

impl Measured {
    fn of(position: usize, query: &Query, ranking: &[u32], k: usize, milliseconds: f64) -> Self {
        let relevant: &Relevant = &query.relevant;
        Self {
            query: position,
            filtered: !query.conditions.is_empty(),
            recall: metrics::recall(ranking, relevant, k),
            ceiling: metrics::ceiling(relevant, k),
            precision: metrics::precision(ranking, relevant, k),
            reciprocal_rank: metrics::reciprocal_rank(ranking, relevant),
            ndcg: metrics::ndcg(ranking, relevant, k),
            top: ranking.first().copied(),
            milliseconds,
        }
    }

    fn first_relevant(&self) -> Option<usize> {
        (self.reciprocal_rank > 0.0).then(|| (1.0 / self.reciprocal_rank).round() as usize)
    }
}

impl Scores {
    fn over(measured: &[&Measured]) -> Self {
        let mean =
            |score: fn(&Measured) -> f32| metrics::mean(measured.iter().map(|one| score(one)));
        Self {
            queries: measured.len(),
            recall: mean(|one| one.recall),
            ceiling: mean(|one| one.ceiling),
            precision: mean(|one| one.precision),
            mrr: mean(|one| one.reciprocal_rank),
            ndcg: mean(|one| one.ndcg),
        }
    }
}

fn worst(measured: &[Measured]) -> Vec<Worst> {
    let mut order: Vec<&Measured> = measured.iter().collect();
    order.sort_by(|left, right| {
        left.ndcg
            .total_cmp(&right.ndcg)
            .then(left.recall.total_cmp(&right.recall))
    });
    let worst = order.into_iter().take(WORST_QUERIES);
    worst
        .map(|one| Worst {
            query: one.query,
            ndcg: one.ndcg,
            recall: one.recall,
            first_relevant: one.first_relevant(),
            top: one.top,
        })
        .collect()
}

#[cfg(test)]
#[path = "evaluation_tests.rs"]
mod tests;
