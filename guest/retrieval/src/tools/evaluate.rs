//! `run_evaluation`: measures the search.

use serde_json::{Value, json};

use super::{
    Tool, ToolReply, corpus_schema, k_schema, mode_schema, object_schema, origin_schema, rounded,
};
use crate::config::{DEFAULT_K, RECIPROCAL_DEPTH, TITLE_CHARS};
use crate::corpus::Query;
use crate::evaluation::{Report, Scores, Setup, Worst, evaluate};
use crate::library::{Library, Loaded};
use crate::render::{one_line, origin_note, shortened, title};
use crate::request::Call;
use crate::security::validate_evaluation_args;

pub(super) const TOOL: Tool = Tool {
    name: "run_evaluation",
    title: "Measure the search",
    description: "Asks a corpus all queries whose answers are known and scores what search_documents would return: recall@k \
        with its ceiling (the recall of a perfect ranking: a query with 40 answers can't have them all among 10), \
        precision@k, MRR, nDCG@k, latency, and the worst queries. Compare modes, or set apply_filters to false to see what \
        the filters are worth. Takes seconds on a large corpus; reports progress.",
    input_schema,
    output_schema,
    handler,
};

fn input_schema() -> Value {
    object_schema(
        json!({
            "corpus": corpus_schema("the first one"),
            "k": k_schema(DEFAULT_K, "Depth of recall, precision and nDCG"),
            "apply_filters": {
                "type": "boolean",
                "default": true,
                "description": "false: the ablation, in which queries are asked without their filters",
            },
            "mode": mode_schema(),
        }),
        &[],
    )
}

fn scores_schema() -> Value {
    object_schema(
        json!({
            "queries": {"type": "integer"},
            "recall": {"type": "number", "description": "At k"},
            "recall_ceiling": {"type": "number", "description": "The mean of min(k, relevant) / relevant"},
            "precision": {"type": "number", "description": "At k"},
            "mrr": {"type": "number", "description": format!("Over the first {RECIPROCAL_DEPTH}")},
            "ndcg": {"type": "number", "description": "At k"},
        }),
        &[
            "queries",
            "recall",
            "recall_ceiling",
            "precision",
            "mrr",
            "ndcg",
        ],
    )
}

fn output_schema() -> Value {
    let mut filtered = scores_schema();
    filtered["description"] = json!("Over the queries that have filters; absent if none has");
    let worst = object_schema(
        json!({
            "id": {"type": "string"},
            "query": {"type": "string"},
            "filters": {"type": "string", "description": "Empty if it has none"},
            "relevant": {"type": "integer"},
            "ndcg": {"type": "number"},
            "recall": {"type": "number"},
            "first_relevant_rank": {"type": ["integer", "null"]},
            "top": {"type": ["string", "null"], "description": "Title of the document that came first"},
        }),
        &[
            "id",
            "query",
            "filters",
            "relevant",
            "ndcg",
            "recall",
            "first_relevant_rank",
            "top",
        ],
    );
    object_schema(
        json!({
            "corpus": {"type": "string"},
            "data": origin_schema(),
            "mode": {"type": "string"},
            "k": {"type": "integer"},
            "filters_applied": {"type": "boolean"},
            "scores": scores_schema(),
            "scores_with_filters": filtered,
            "latency_ms": object_schema(json!({"p50": {"type": "number"}, "p95": {"type": "number"}}), &["p50", "p95"]),
            "left_out": {"type": "integer", "description": "Queries for which there was no time"},
            "worst": {"type": "array", "items": worst},
        }),
        &[
            "corpus",
            "data",
            "mode",
            "k",
            "filters_applied",
            "scores",
            "latency_ms",
            "left_out",
            "worst",
        ],
    )
}

fn handler(arguments: &Value, library: &mut Library, call: &Call<'_>) -> ToolReply {
    let args = match validate_evaluation_args(arguments) {
        Ok(args) => args,
        Err(error) => return ToolReply::refused(error),
    };
    let loaded = match library.open(args.corpus.as_deref(), call) {
        Ok(loaded) => loaded,
        Err(error) => return ToolReply::no_corpus(library, args.corpus.as_deref(), &error),
    };
    let setup = Setup {
        k: args.k,
        mode: args.mode,
        apply_filters: args.apply_filters,
    };
    match evaluate(&loaded, setup, call) {
        Ok(report) => ToolReply::done(
            text(&loaded, setup, &report),
            structured(&loaded, setup, &report),
        ),
        Err(error) => ToolReply::refused(format!(
            "the corpus {} can't be measured: {error}",
            loaded.name
        )),
    }
}

fn structured(loaded: &Loaded, setup: Setup, report: &Report) -> Value {
    let worst: Vec<Value> = report
        .worst
        .iter()
        .map(|worst| {
            let query = &loaded.corpus.queries[worst.query];
            json!({
                "id": query.id,
                "query": shortened(&query.text, TITLE_CHARS),
                "filters": filters(query),
                "relevant": query.relevant.len(),
                "ndcg": rounded(worst.ndcg),
                "recall": rounded(worst.recall),
                "first_relevant_rank": worst.first_relevant,
                "top": top(loaded, worst),
            })
        })
        .collect();
    let mut structured = json!({
        "corpus": loaded.name,
        "data": loaded.corpus.about.origin.name(),
        "mode": setup.mode.name(),
        "k": setup.k,
        "filters_applied": setup.apply_filters,
        "scores": scores(&report.all),
        "latency_ms": {"p50": rounded(report.p50_ms as f32), "p95": rounded(report.p95_ms as f32)},
        "left_out": report.left_out,
        "worst": worst,
    });
    if let Some(filtered) = &report.filtered {
        structured["scores_with_filters"] = scores(filtered);
    }
    structured
}

fn scores(scores: &Scores) -> Value {
    json!({
        "queries": scores.queries,
        "recall": rounded(scores.recall),
        "recall_ceiling": rounded(scores.ceiling),
        "precision": rounded(scores.precision),
        "mrr": rounded(scores.mrr),
        "ndcg": rounded(scores.ndcg),
    })
}

fn top(loaded: &Loaded, worst: &Worst) -> Option<String> {
    Some(title(loaded.corpus.document(worst.top?)?))
}

/// A query's filters on one line, cut: a corpus may have long ones.
fn filters(query: &Query) -> String {
    let filters: Vec<String> = query.conditions.iter().map(ToString::to_string).collect();
    shortened(&filters.join(" and "), 2 * TITLE_CHARS)
}

fn text(loaded: &Loaded, setup: Setup, report: &Report) -> String {
    let filters = if setup.apply_filters {
        "filters applied"
    } else {
        "filters NOT applied (ablation)"
    };
    let mut lines = vec![format!(
        "{} on {}, {filters}:",
        setup.mode.name(),
        loaded.name
    )];
    lines.push(scores_line("all queries", setup.k, &report.all));
    match &report.filtered {
        Some(filtered) => lines.push(scores_line("queries with filters", setup.k, filtered)),
        None => lines.push("- no query has filters, so apply_filters changes nothing".to_owned()),
    }
    lines.push(format!(
        "- latency per query: p50 {:.2} ms, p95 {:.2} ms",
        report.p50_ms, report.p95_ms
    ));
    if report.left_out > 0 {
        lines.push(format!(
            "- {} queries were left out: the call's time was nearly over. The figures are of the others",
            report.left_out
        ));
    }
    lines.push("Worst queries:".to_owned());
    for worst in &report.worst {
        lines.push(worst_line(loaded, worst));
    }
    lines.extend(origin_note(loaded.corpus.about.origin).map(str::to_owned));
    lines.join("\n")
}

fn scores_line(what: &str, k: usize, scores: &Scores) -> String {
    format!(
        "- {what} ({}): recall@{k} {:.3} of at most {:.3}, precision@{k} {:.3}, MRR {:.3}, nDCG@{k} {:.3}",
        scores.queries, scores.recall, scores.ceiling, scores.precision, scores.mrr, scores.ndcg
    )
}

fn worst_line(loaded: &Loaded, worst: &Worst) -> String {
    let query = &loaded.corpus.queries[worst.query];
    let first = match worst.first_relevant {
        Some(rank) => format!("first relevant at rank {rank}"),
        None => format!("none relevant within {RECIPROCAL_DEPTH}"),
    };
    let filters = match filters(query) {
        none if none.is_empty() => none,
        some => format!(" [{some}]"),
    };
    format!(
        "- {} “{}”{filters}: nDCG {:.3}, {} relevant, {first}; came first: {}",
        one_line(&query.id),
        shortened(&query.text, TITLE_CHARS),
        worst.ndcg,
        query.relevant.len(),
        top(loaded, worst).unwrap_or_else(|| "nothing".to_owned())
    )
}
