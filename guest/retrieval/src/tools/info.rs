//! `corpus_info`: what there is to search.

use serde_json::{Value, json};

use super::{Tool, ToolReply, corpus_schema, object_schema, origin_schema};
use crate::config::{CORPUS_GRANT, LISTINGS, MAX_REPLY_BYTES, SHOWN_VALUES, VALUE_CHARS};
use crate::corpus::{Corpus, CorpusError};
use crate::fields::{Field, FieldType, FieldValue};
use crate::filter::Operator;
use crate::library::{Library, Loaded};
use crate::render::{origin_note, shortened};
use crate::request::Call;
use crate::security::validate_info_args;

pub(super) const TOOL: Tool = Tool {
    name: "corpus_info",
    title: "What can be searched",
    description: "Tells about a corpus: how many documents and queries with known answers it has, its fields with their \
        types, ranges and frequent values and the filters they take, its source and licence, and whether the data is real \
        or synthetic. Without an argument: all corpora in short. Call it before you filter.",
    input_schema,
    output_schema,
    handler,
};

fn input_schema() -> Value {
    object_schema(
        json!({"corpus": corpus_schema("all of them, in short")}),
        &[],
    )
}

fn output_schema() -> Value {
    let field = object_schema(
        json!({
            "name": {"type": "string"},
            "type": {"type": "string", "enum": ["text", "number", "date", "list"]},
            "filters": {"type": "array", "items": {"type": "string"}, "description": "Operators that it takes"},
            "documents": {"type": "integer", "description": "How many have a value"},
            "min": {"type": ["number", "string"], "description": "Of numbers and dates"},
            "max": {"type": ["number", "string"]},
            "distinct": {"type": "integer", "description": "Different values of texts and lists"},
            "values": {"type": "array", "items": {"type": "string"}, "description": "The most frequent ones"},
        }),
        &["name", "type", "filters", "documents"],
    );
    let corpus = object_schema(
        json!({
            "name": {"type": "string"},
            "problem": {"type": "string", "description": "Why it can't be used; all else is absent then"},
            "documents": {"type": "integer"},
            "queries": {"type": "integer", "description": "With known answers; 0: run_evaluation can't measure it"},
            "queries_with_filters": {"type": "integer"},
            "data": origin_schema(),
            "source": {"type": ["string", "null"]},
            "licence": {"type": ["string", "null"]},
            "format": {"type": "string"},
            "fields": {"type": "array", "items": field},
        }),
        &["name"],
    );
    object_schema(
        json!({
            "corpora": {"type": "array", "items": corpus},
            "unused_grants": {"type": "array", "items": {"type": "string"}, "description": "Directories that are named wrongly"},
        }),
        &["corpora", "unused_grants"],
    )
}

fn handler(arguments: &Value, library: &mut Library, call: &Call<'_>) -> ToolReply {
    let args = match validate_info_args(arguments) {
        Ok(args) => args,
        Err(error) => return ToolReply::refused(error),
    };
    match args.corpus {
        Some(name) => match library.open(Some(&name), call) {
            Ok(loaded) => one(library, &loaded),
            Err(error) => ToolReply::no_corpus(library, Some(&name), &error),
        },
        None => all(library, call),
    }
}

fn one(library: &Library, loaded: &Loaded) -> ToolReply {
    let (text, structured) = describe_corpus(loaded);
    let grants = library.unused_grants();
    ToolReply::done(
        text,
        json!({"corpora": [structured], "unused_grants": grants}),
    )
}

fn all(library: &mut Library, call: &Call<'_>) -> ToolReply {
    let names: Vec<String> = library.names().into_iter().map(str::to_owned).collect();
    let mut lines = Vec::new();
    let mut corpora = Vec::new();
    let mut loading = false;
    for name in &names {
        let opened = if loading {
            Err("not looked at yet: another one is being loaded".to_owned())
        } else {
            library.open(Some(name), call).map_err(|error| {
                loading = matches!(error, CorpusError::Loading { .. });
                error.to_string()
            })
        };
        match opened {
            Ok(loaded) => {
                lines.push(format!("- {}", head(&loaded)));
                corpora.push(summary(&loaded));
            }
            Err(problem) => {
                lines.push(format!("- {name}: can't be used: {problem}"));
                corpora.push(json!({"name": name, "problem": problem}));
            }
        }
    }
    let mut text = format!(
        "Corpora (the first one is searched when none is named; corpus_info with a name tells its fields):\n{}",
        lines.join("\n")
    );
    if names == [LISTINGS] {
        text.push_str(&format!(
            "\nThe person adds others with --dir {CORPUS_GRANT}NAME=PATH:ro"
        ));
    }
    for unused in library.unused_grants() {
        text.push_str(&format!("\nUnused directory {unused}"));
    }
    let grants = library.unused_grants();
    ToolReply::done(text, json!({"corpora": corpora, "unused_grants": grants}))
}

/// One line on a corpus.
fn head(loaded: &Loaded) -> String {
    let corpus = &loaded.corpus;
    format!(
        "{}: {} documents, {} queries with known answers ({} with filters), data {}",
        loaded.name,
        corpus.documents.len(),
        corpus.queries.len(),
        corpus.filtered_queries(),
        corpus.about.origin.name()
    )
}

fn summary(loaded: &Loaded) -> Value {
    let corpus = &loaded.corpus;
    json!({
        "name": loaded.name,
        "documents": corpus.documents.len(),
        "queries": corpus.queries.len(),
        "queries_with_filters": corpus.filtered_queries(),
        "data": corpus.about.origin.name(),
        "source": corpus.about.source,
        "licence": corpus.about.licence,
        "format": corpus.about.format,
    })
}

/// All that is known of a corpus, for a model and as the output schema has it.
pub(crate) fn describe_corpus(loaded: &Loaded) -> (String, Value) {
    let about = &loaded.corpus.about;
    let unstated = || "not stated (about.json in its directory may say)".to_owned();
    let mut text = format!(
        "{}\nSource: {}\nLicence: {}\nFormat: {}\n",
        head(loaded),
        about.source.clone().unwrap_or_else(unstated),
        about.licence.clone().unwrap_or_else(unstated),
        about.format
    );
    if let Some(note) = origin_note(about.origin) {
        text.push_str(note);
        text.push('\n');
    }
    let mut fields = Vec::new();
    text.push_str("Fields that can be filtered:\n");
    let mut left = (MAX_REPLY_BYTES - 1024).saturating_sub(text.len());
    for (position, field) in loaded.corpus.fields.iter().enumerate() {
        let mut facts = facts(&loaded.corpus, position, field);
        if size(field, &facts) > left
            && let Some(facts) = facts.as_object_mut()
        {
            facts.shift_remove("values");
        }
        left = left.saturating_sub(size(field, &facts));
        if left == 0 {
            text.push_str("(More fields would not fit here.)\n");
            break;
        }
        text.push_str(&line(field, &facts));
        fields.push(facts);
    }
    if fields.is_empty() {
        text.push_str("none\n");
    }
    let mut structured = summary(loaded);
    structured["fields"] = json!(fields);
    (text.trim_end().to_owned(), structured)
}

fn operators(kind: FieldType) -> Vec<&'static str> {
    Operator::of(kind)
        .iter()
        .map(|operator| operator.name())
        .collect()
}

fn facts(corpus: &Corpus, position: usize, field: &Field) -> Value {
    let values = || {
        corpus
            .documents
            .iter()
            .filter_map(|document| document.values[position].as_ref())
    };
    let mut facts = json!({
        "name": field.name,
        "type": field.kind.name(),
        "filters": operators(field.kind),
        "documents": values().count(),
    });
    match field.kind {
        FieldType::Number => {
            let numbers = values().filter_map(|value| match value {
                FieldValue::Number(number) => Some((*number, value)),
                _ => None,
            });
            let numbers: Vec<(f64, &FieldValue)> = numbers.collect();
            let least = numbers
                .iter()
                .min_by(|left, right| left.0.total_cmp(&right.0));
            let most = numbers
                .iter()
                .max_by(|left, right| left.0.total_cmp(&right.0));
            if let (Some((_, least)), Some((_, most))) = (least, most) {
                facts["min"] = least.to_json();
                facts["max"] = most.to_json();
            }
        }
        FieldType::Date => {
            let dates = || {
                values().filter_map(|value| match value {
                    FieldValue::Date(date) => Some(date),
                    _ => None,
                })
            };
            let first = dates().min_by_key(|date| date.start());
            let last = dates().max_by_key(|date| date.start());
            if let (Some(first), Some(last)) = (first, last) {
                facts["min"] = json!(first.text);
                facts["max"] = json!(last.text);
            }
        }
        FieldType::Text | FieldType::List => {
            let frequent = corpus.frequent_values(position);
            facts["distinct"] = json!(frequent.len());
            let shown = frequent.iter().take(SHOWN_VALUES);
            facts["values"] = shown
                .map(|(value, _)| shortened(value, VALUE_CHARS / 2))
                .collect();
        }
    }
    facts
}

/// Bytes of a field in the larger of both forms.
fn size(field: &Field, facts: &Value) -> usize {
    line(field, facts).len().max(facts.to_string().len() + 1)
}

fn line(field: &Field, facts: &Value) -> String {
    let mut line = format!(
        "- {} ({}; {}): in {} documents",
        shortened(&field.name, VALUE_CHARS),
        field.kind,
        operators(field.kind).join(", "),
        facts["documents"]
    );
    if let (Some(min), Some(max)) = (facts.get("min"), facts.get("max")) {
        let plain = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        line.push_str(&format!(", from {} to {}", plain(min), plain(max)));
    }
    if let Some(values) = facts["values"].as_array() {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        line.push_str(&format!(
            ", {} different: {}",
            facts["distinct"],
            values.join("; ")
        ));
        if facts["distinct"].as_u64().unwrap_or_default() > values.len() as u64 {
            line.push_str(" …");
        }
    }
    line.push('\n');
    line
}
