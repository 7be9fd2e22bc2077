//! What an evaluation is asked to do. The JSON is documented with `admin.evaluate` in the contract.

use std::collections::HashMap;

use jiff::Timestamp;
use ranking::metrics::Relevant;
use serde::Deserialize;

use super::rows::Row;
use crate::config::{DEFAULT_IMPORTANCE, MAX_EVALUATION_BYTES, MAX_K};
use crate::security::echo;

/// Documents that a ranking is cut after, unless the request says otherwise: the deepest figure of the report.
const DEFAULT_DEPTH: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequest {
    collections: Vec<RawCollection>,
    rows: Option<Vec<String>>,
    k: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCollection {
    documents: Vec<RawDocument>,
    queries: Vec<RawQuery>,
    qrels: Vec<RawJudgement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDocument {
    id: String,
    text: String,
    session: Option<String>,
    created_at: Option<String>,
    importance: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuery {
    id: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJudgement {
    query: String,
    document: String,
    gain: f32,
}

/// A request that makes sense.
pub(super) struct Request {
    pub(super) collections: Vec<Collection>,
    pub(super) rows: Vec<Row>,
    pub(super) depth: usize,
    pub(super) seed: u64,
}

/// Documents, and questions with what answers them.
pub(super) struct Collection {
    pub(super) documents: Vec<Document>,
    pub(super) queries: Vec<Question>,
    /// When the youngest document was made, in seconds since 1970.
    pub(super) youngest: Option<i64>,
}

/// A document.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) session: Option<String>,
    /// Seconds since 1970.
    pub(super) created: Option<i64>,
    pub(super) importance: f64,
}

/// A query that has something relevant.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) relevant: Relevant,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// Says what is malformed, unknown or out of bounds.
    pub(super) fn read(json: &str, has_embedder: bool) -> Result<Self, String> {
        if json.len() > MAX_EVALUATION_BYTES {
            return Err(format!(
                "a request must have at most {MAX_EVALUATION_BYTES} bytes, got {}",
                json.len()
            ));
        }
        let raw: RawRequest =
            serde_json::from_str(json).map_err(|error| format!("the request: {error}"))?;
        let depth = raw.k.unwrap_or(DEFAULT_DEPTH);
        if !(1..=MAX_K).contains(&depth) {
            return Err(format!("k must be from 1 to {MAX_K}, got {depth}"));
        }
        let collections = raw.collections.into_iter().map(collection);
        Ok(Self {
            rows: Row::chosen(raw.rows.as_deref(), has_embedder)?,
            collections: collections.collect::<Result<_, _>>()?,
            depth,
            seed: raw.seed.unwrap_or(0),
        })
    }
}

fn collection(raw: RawCollection) -> Result<Collection, String> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut documents = Vec::with_capacity(raw.documents.len());
    for document in raw.documents {
        let number = documents.len() as u32;
        let created = document
            .created_at
            .as_deref()
            .map(|time| seconds(time, &document.id));
        documents.push(Document {
            text: document.text,
            session: document.session,
            created: created.transpose()?,
            importance: document.importance.unwrap_or(DEFAULT_IMPORTANCE),
        });
        if numbers.contains_key(&document.id) {
            return Err(format!("two documents have the id {}", echo(&document.id)));
        }
        numbers.insert(document.id, number);
    }
    let mut gains: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
    for query in &raw.queries {
        if gains.insert(query.id.clone(), Vec::new()).is_some() {
            return Err(format!("two queries have the id {}", echo(&query.id)));
        }
    }
    for judgement in raw.qrels {
        // What is not among the documents counts as one that is never found.
        let next = numbers.len() as u32;
        let document = *numbers.entry(judgement.document).or_insert(next);
        let Some(judged) = gains.get_mut(&judgement.query) else {
            return Err(format!(
                "a judgement names the query {}, which is not there",
                echo(&judgement.query)
            ));
        };
        judged.push((document, judgement.gain));
    }
    let question = |query: RawQuery| {
        let relevant = Relevant::new(gains.remove(&query.id)?);
        (!relevant.is_empty()).then_some(Question {
            text: query.text,
            relevant,
        })
    };
    Ok(Collection {
        queries: raw.queries.into_iter().filter_map(question).collect(),
        youngest: documents.iter().filter_map(|one| one.created).max(),
        documents,
    })
}

fn seconds(time: &str, id: &str) -> Result<i64, String> {
    let parsed: Result<Timestamp, _> = time.parse();
    parsed.map(Timestamp::as_second).map_err(|_| {
        format!(
            "created_at of the document {} must be RFC 3339, got {}",
            echo(id),
            echo(time)
        )
    })
}
