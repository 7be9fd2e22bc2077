//! `personal-memory evaluate`: how well the memory finds things, measured on collections with known answers, through the
//! component as it is served.

mod beir;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};

use self::beir::Collection;
use super::options::Options;
use crate::convert;
use crate::sandbox::{Resumption, Sandbox, Scored};

#[derive(Debug, Args)]
pub(super) struct EvaluateOptions {
    /// Directories in the layout of BEIR: corpus.jsonl, queries.jsonl, qrels/test.tsv. Each is searched by itself.
    /// `metadata.session` and `metadata.created_at` of a document are what a memory has.
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,

    /// Only these rows, separated by commas: lexical, dense, hybrid, soft, neighbours, dates, labels, when, questions,
    /// typos, full, recency, importance, memory, shuffled, provider.
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    rows: Vec<String>,

    /// Write the report to a file as well, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(flatten)]
    pub(super) options: Options,
}

/// Slices that are made at most: some hours of them. A component that is never done is stopped here.
const MAX_SLICES: usize = 20_000;

pub(super) fn run(options: &EvaluateOptions) -> Result<()> {
    let mut request = json!({"collections": []});
    for directory in &options.directories {
        let collection = Collection::read(directory)?;
        if let Some(collections) = request["collections"].as_array_mut() {
            collections.push(of(&collection));
        }
    }
    if !options.rows.is_empty() {
        request["rows"] = options.rows.clone().into();
    }
    let report = score(&request.to_string(), &options.options)?;
    if let Some(path) = &options.json {
        fs::write(path, format!("{report:#}\n"))
            .with_context(|| format!("{} can't be written", path.display()))?;
    }
    print(&report)
}

/// A collection, as `wit/memory/admin.wit` describes it.
fn of(collection: &Collection) -> Value {
    let documents = collection.documents.iter().map(|document| {
        let mut one = json!({"id": document.id, "text": document.full_text()});
        let known = [
            ("session", &document.metadata.session),
            ("created_at", &document.metadata.created_at),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                one[name] = value.as_str().into();
            }
        }
        one
    });
    let queries = collection.queries.iter();
    let queries = queries.map(|query| json!({"id": query.id, "text": query.text}));
    let judgements = collection.judgements.iter();
    let judgements = judgements.map(
        |judged| json!({"query": judged.query, "document": judged.document, "gain": judged.grade}),
    );
    json!({
        "documents": documents.collect::<Vec<_>>(),
        "queries": queries.collect::<Vec<_>>(),
        "qrels": judgements.collect::<Vec<_>>(),
    })
}

/// Has the component do it, slice by slice.
fn score(request: &String, options: &Options) -> Result<Value> {
    let embedder = options.embedder()?;
    let mut sandbox: Sandbox = options.sandbox_without_grants(embedder.as_ref())?;
    let mut resumption: Option<Resumption> = None;
    for _ in 0..MAX_SLICES {
        let scored = sandbox.evaluate(request, resumption.as_ref());
        match scored.map_err(|error| anyhow!("the evaluation failed: {error}"))? {
            Scored::Report(report) => {
                return serde_json::from_str(&report).context("the component's report is not JSON");
            }
            Scored::Wanting(pending) => {
                resumption = Some(convert::meet(pending, embedder.as_ref()));
            }
        }
    }
    bail!("the component was not done after {MAX_SLICES} slices")
}

/// The columns of the table: heading, and where the figure is in a row of the report.
const COLUMNS: [(&str, &str); 9] = [
    ("R@1", "/recall/1"),
    ("R@5", "/recall/5"),
    ("R@10", "/recall/10"),
    ("(max)", "/ceiling/10"),
    ("MRR", "/mrr"),
    ("nDCG@10", "/ndcg@10"),
    ("p50 ms", "/ms/p50"),
    ("p95 ms", "/ms/p95"),
    ("p99 ms", "/ms/p99"),
];

fn print(report: &Value) -> Result<()> {
    let mut out = io::stdout().lock();
    let count = |name: &str| report[name].as_u64().unwrap_or_default();
    writeln!(
        out,
        "{} collection(s), {} documents",
        count("collections"),
        count("documents")
    )?;
    write!(out, "{:<12} {:>7} {:>7}", "row", "queries", "empty")?;
    for (heading, _) in COLUMNS {
        write!(out, " {heading:>8}")?;
    }
    writeln!(out)?;
    for row in report["rows"].as_array().into_iter().flatten() {
        let name = row["row"].as_str().unwrap_or_default();
        write!(out, "{name:<12} {:>7} {:>7}", row["queries"], row["empty"])?;
        for (_, place) in COLUMNS {
            let figure = row.pointer(place).and_then(Value::as_f64);
            write!(out, " {:>8.3}", figure.unwrap_or(f64::NAN))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
