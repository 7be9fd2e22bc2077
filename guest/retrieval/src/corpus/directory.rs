//! Which files make a corpus.
//!
//! Two layouts: BEIR's (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`; the latter two may be absent, then nothing can
//! be evaluated), or files of records, one JSON object a line, in the order of their names. Either may have `about.json`
//! beside it, in which its owner says what the files can't: `source`, `licence`, `synthetic`.

use std::collections::HashMap;
use std::path::Path;

use ranking::metrics::Relevant;
use serde_json::Value;

use super::files::{Files, lines};
use super::records::{Draft, take_id};
use super::{About, Corpus, CorpusError, Origin, Query};
use crate::config::{MAX_QUERIES, MAX_QUERY_CHARS};
use crate::security::validate_conditions;

const CORPUS_FILE: &str = "corpus.jsonl";
const QUERIES_FILE: &str = "queries.jsonl";
const JUDGEMENTS_FILE: &str = "qrels/test.tsv";
const ABOUT_FILE: &str = "about.json";
/// Extensions of files of records.
const RECORDS: &[&str] = &["jsonl", "ndjson"];
/// Characters of a source or licence that are kept: a sentence or two.
const MAX_ABOUT_CHARS: usize = 500;

/// Reads the corpus in a directory.
///
/// # Errors
///
/// When there is none, when it is too large, and at the first line that is not what it has to be.
pub fn read_corpus(root: &Path) -> Result<Corpus, CorpusError> {
    let mut files = Files::new(root);
    let mut names = files.with_extension(RECORDS)?;
    let beir = names.iter().any(|name| name == CORPUS_FILE);
    if beir {
        names = vec![CORPUS_FILE.to_owned()];
    }
    if names.is_empty() {
        return Err(CorpusError::NoCorpus);
    }
    let format = if beir {
        "BEIR (corpus.jsonl, queries.jsonl, qrels/test.tsv)"
    } else {
        "records (one JSON object a line)"
    };
    let about = about(&mut files, format)?;
    let mut drafts = Vec::new();
    for name in &names {
        let text = files.read(name)?.unwrap_or_default();
        for line in lines(name, &text) {
            let (place, line) = line?;
            drafts.push(Draft::of(place, place.object(line)?)?);
        }
    }
    let mut corpus = Corpus::of(about, drafts)?;
    if beir {
        corpus.queries = queries(&mut files, &corpus)?;
    }
    Ok(corpus)
}

fn about(files: &mut Files<'_>, format: &'static str) -> Result<About, CorpusError> {
    let malformed = |reason: String| CorpusError::Malformed {
        place: ABOUT_FILE.to_owned(),
        reason,
    };
    let said: Value = match files.read(ABOUT_FILE)? {
        None => Value::Null,
        Some(text) => serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?,
    };
    let text = |name: &str| match said.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.chars().take(MAX_ABOUT_CHARS).collect())),
        Some(_) => Err(malformed(format!("{name} must be a text"))),
    };
    let origin = match said.get("synthetic") {
        None | Some(Value::Null) => Origin::Unstated,
        Some(Value::Bool(true)) => Origin::Synthetic,
        Some(Value::Bool(false)) => Origin::Real,
        Some(_) => return Err(malformed("synthetic must be true or false".to_owned())),
    };
    Ok(About {
        origin,
        source: text("source")?,
        licence: text("licence")?,
        format,
    })
}

/// The queries that have judgements, in their order.
fn queries(files: &mut Files<'_>, corpus: &Corpus) -> Result<Vec<Query>, CorpusError> {
    let Some(text) = files.read(QUERIES_FILE)? else {
        return Ok(Vec::new());
    };
    let Some(judgements) = files.read(JUDGEMENTS_FILE)? else {
        return Ok(Vec::new());
    };
    let mut relevant = judged(&judgements, corpus)?;
    let mut queries = Vec::new();
    for line in lines(QUERIES_FILE, &text) {
        let (place, line) = line?;
        let mut members = place.object(line)?;
        let id = take_id(place, &mut members)?;
        let Some(gains) = relevant.remove(&id) else {
            continue;
        };
        let gains = Relevant::new(gains);
        if gains.is_empty() {
            continue;
        }
        let text = match members.get("text") {
            Some(Value::String(text)) => text.trim(),
            _ => return Err(place.malformed("a query must have a text")),
        };
        let filters = members
            .get("metadata")
            .and_then(|metadata| metadata.get("filters"));
        let conditions = match filters {
            None => Vec::new(),
            Some(filters) => validate_conditions("metadata.filters", filters)
                .map_err(|error| place.malformed(error.to_string()))?,
        };
        queries.push(Query {
            id,
            // A query of a benchmark is cut where a caller's would be refused.
            text: text.chars().take(MAX_QUERY_CHARS).collect(),
            conditions,
            relevant: gains,
        });
    }
    if queries.len() > MAX_QUERIES {
        return Err(CorpusError::TooLarge {
            what: "queries",
            got: queries.len() as u64,
            max: MAX_QUERIES as u64,
        });
    }
    Ok(queries)
}

/// Gains of documents by query. Tab-separated: query, document, gain; a first line without a number is a heading.
fn judged(text: &str, corpus: &Corpus) -> Result<HashMap<String, Vec<(u32, f32)>>, CorpusError> {
    let mut judged: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
    // Documents that are not in the corpus get numbers that no document has.
    let mut strangers: HashMap<String, u32> = HashMap::new();
    for line in lines(JUDGEMENTS_FILE, text) {
        let (place, line) = line?;
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [query, document, gain] = columns[..] else {
            let reason = format!("a judgement has 3 columns, got {}", columns.len());
            return Err(place.malformed(reason));
        };
        let gain: f32 = match gain.parse() {
            Ok(gain) => gain,
            Err(_) if place.line == 1 => continue,
            Err(_) => return Err(place.malformed("the third column must be a number")),
        };
        let number = corpus.number(document).unwrap_or_else(|| {
            let next = u32::MAX - strangers.len() as u32;
            *strangers.entry(document.to_owned()).or_insert(next)
        });
        judged
            .entry(query.to_owned())
            .or_default()
            .push((number, gain));
    }
    Ok(judged)
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
