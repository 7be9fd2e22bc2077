//! What a model sees, and what it gets.

use super::*;
use crate::config::{LISTINGS, MAX_FILTER_CHARS, MAX_K, MAX_REPLY_BYTES, MAX_RESULTS};
use crate::request::{Environment, Granted};
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn granted(name: &str, path: &Path) -> Granted {
    Granted {
        name: name.to_owned(),
        path: path.to_owned(),
    }
}

fn call(library: &mut Library, name: &str, arguments: Value) -> ToolReply {
    let clock = || Duration::ZERO;
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    let reply = dispatch(name, &arguments, library, &call).unwrap();
    if let Some(structured) = &reply.structured {
        let tool = TOOLS.iter().find(|tool| tool.name == name).unwrap();
        conforms(structured, &(tool.output_schema)(), name);
    }
    reply
}

/// Whether a value is what a schema says, as far as our schemas go.
fn conforms(value: &Value, schema: &Value, place: &str) {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let fits = kinds.iter().any(|kind| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: the schema has a type {other}"),
    });
    assert!(fits, "{place}: {value} is no {kinds:?}");
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(
            allowed.contains(value),
            "{place}: {value} is none of {allowed:?}"
        );
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(
            value.get(required.as_str().unwrap()).is_some(),
            "{place}: {required} is missing"
        );
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        match &schema["properties"][name] {
            Value::Null => assert!(
                schema["additionalProperties"] != json!(false),
                "{place}: {name} is not in the schema"
            ),
            inner => conforms(member, inner, &format!("{place}.{name}")),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(item, &schema["items"], place);
    }
}

fn listings() -> Library {
    Library::new(Environment::default())
}

#[test]
fn documents_are_found_with_their_scores_and_links() {
    let mut library = listings();
    let arguments = json!({"query": "stables and a paddock for horses", "k": 3});
    let reply = call(&mut library, "search_documents", arguments);
    assert!(!reply.is_error, "{}", reply.text);
    let structured = reply.structured.unwrap();
    let documents = structured["documents"].as_array().unwrap();
    assert_eq!((documents.len(), reply.links.len()), (3, 3));
    assert_eq!(structured["data"], "synthetic");
    assert_eq!(structured["matching_filters"], 640);
    assert!(reply.text.contains("synthetic"), "{}", reply.text);
    for (document, link) in documents.iter().zip(&reply.links) {
        assert_eq!(document["uri"], link.uri.as_str());
        let sum = document["lexical"].as_f64().unwrap() + document["dense"].as_f64().unwrap();
        assert!(
            (sum - document["score"].as_f64().unwrap()).abs() < 0.002,
            "{document}"
        );
        assert!(document["fields"]["price"].is_number(), "{document}");
        let snippet = document["snippet"].as_str().unwrap();
        assert!(snippet.to_lowercase().contains("paddock"), "{snippet}");
        assert!(reply.text.contains(link.uri.as_str()));
    }
}

#[test]
fn filters_are_hard_and_a_wrong_one_lists_the_fields() {
    let mut library = listings();
    let filters = json!([
        {"field": "city", "op": "eq", "value": "Veyra"},
        {"field": "bedrooms", "op": "gte", "value": 2},
    ]);
    let arguments = json!({"query": "a home", "filters": filters, "k": 50});
    let reply = call(&mut library, "search_documents", arguments);
    let structured = reply.structured.unwrap();
    let documents = structured["documents"].as_array().unwrap();
    assert!(!documents.is_empty());
    assert!(structured["matching_filters"].as_u64().unwrap() >= documents.len() as u64);
    for document in documents {
        let Some(fields) = document.get("fields") else {
            continue;
        };
        assert_eq!(fields["city"], "Veyra");
        assert!(fields["bedrooms"].as_u64().unwrap() >= 2);
    }
    assert!(
        reply
            .text
            .contains("pass the filters city eq Veyra and bedrooms gte 2")
    );

    let wrong = json!({"query": "x", "filters": [{"field": "rooms", "op": "gte", "value": 2}]});
    let refused = call(&mut library, "search_documents", wrong);
    assert!(refused.is_error && refused.structured.is_none());
    for field in [
        "rooms",
        "city (text)",
        "price (number)",
        "features (list)",
        "listed (date)",
    ] {
        assert!(refused.text.contains(field), "{}", refused.text);
    }
    let none = json!({"query": "x", "filters": [{"field": "price", "op": "lte", "value": 1}]});
    let none = call(&mut library, "search_documents", none);
    assert!(
        none.text.contains("No document passes the filters"),
        "{}",
        none.text
    );
}

#[test]
fn all_documents_that_were_asked_for_are_there_even_if_not_all_have_a_passage() {
    let mut library = listings();
    let most = json!({"query": "a pond with fish", "mode": "dense", "k": MAX_K});
    let reply = call(&mut library, "search_documents", most);
    let structured = reply.structured.unwrap();
    let documents = structured["documents"].as_array().unwrap();
    assert_eq!((documents.len(), reply.links.len()), (MAX_K, MAX_K));
    assert!(documents[0].get("snippet").is_some() && documents[MAX_K - 1].get("snippet").is_none());
    assert!(
        reply
            .text
            .contains("(50 of 50 shown, the last ones without passages"),
        "{}",
        reply.text
    );
    assert!(reply.text.len() <= MAX_REPLY_BYTES);
}

#[test]
fn a_search_says_when_it_found_nothing_or_little() {
    let mut library = listings();
    let words = json!({"query": "kangaroo", "mode": "lexical"});
    let reply = call(&mut library, "search_documents", words);
    assert!(
        reply.text.contains("No document has these words"),
        "{}",
        reply.text
    );
    let nearest = json!({"query": "kangaroo migration"});
    let reply = call(&mut library, "search_documents", nearest);
    assert!(reply.text.contains("doubtful"), "{}", reply.text);
}

#[test]
fn a_corpus_that_is_missing_or_broken_is_a_readable_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("x.jsonl"), "nonsense").unwrap();
    let mut library = Library::new(Environment {
        corpora: vec![granted("mine", directory.path())],
        ..Environment::default()
    });
    for (name, arguments) in [
        ("search_documents", json!({"query": "x"})),
        ("run_evaluation", json!({})),
        ("corpus_info", json!({"corpus": "mine"})),
    ] {
        let reply = call(&mut library, name, arguments);
        assert!(reply.is_error);
        assert!(
            reply
                .text
                .starts_with("the corpus mine can't be used: x.jsonl line 1"),
            "{}",
            reply.text
        );
    }
    let reply = call(
        &mut library,
        "search_documents",
        json!({"query": "x", "corpus": "other"}),
    );
    assert!(
        reply.is_error && reply.text.contains("there are mine, listings"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("--dir corpus-NAME=PATH:ro"));

    let reply = call(&mut library, "corpus_info", json!({}));
    assert!(!reply.is_error, "the others are still told of");
    assert_eq!(
        reply.structured.unwrap()["corpora"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_corpus_is_described_with_types_ranges_and_values() {
    let mut library = Library::new(Environment {
        unused: vec!["data: not ours".to_owned()],
        ..Environment::default()
    });
    let all = call(&mut library, "corpus_info", json!({}));
    assert!(
        all.text.contains("listings: 640 documents, 116 queries"),
        "{}",
        all.text
    );
    assert!(
        all.text.contains("Unused directory data: not ours"),
        "{}",
        all.text
    );
    let one = call(&mut library, "corpus_info", json!({"corpus": LISTINGS}));
    for part in [
        "data synthetic",
        "Licence: Apache-2.0",
        "- price (number; eq, in, gte, lte): in 640 documents, from ",
        "- listed (date; eq, in, gte, lte): in 640 documents, from 2025-01-",
        "- features (list; eq, in, contains): in 640 documents, 10 different: ",
    ] {
        assert!(one.text.contains(part), "{part}: {}", one.text);
    }
    assert_eq!(one.structured.unwrap()["corpora"][0]["data"], "synthetic");
}

#[test]
fn an_evaluation_tells_recall_with_its_ceiling_and_the_worst_queries() {
    let mut library = listings();
    let with = call(&mut library, "run_evaluation", json!({"k": 5}))
        .structured
        .unwrap();
    let arguments = json!({"k": 5, "apply_filters": false});
    let without = call(&mut library, "run_evaluation", arguments);
    assert!(without.text.contains("NOT applied"), "{}", without.text);
    let without = without.structured.unwrap();
    let number = |report: &Value, scores: &str, name: &str| report[scores][name].as_f64().unwrap();
    assert!(number(&with, "scores", "recall_ceiling") < 1.0);
    assert!(number(&with, "scores", "recall") <= number(&with, "scores", "recall_ceiling"));
    assert!(
        number(&with, "scores_with_filters", "precision")
            > number(&without, "scores_with_filters", "precision")
    );
    assert_eq!(with["worst"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&with["k"], &with["filters_applied"]),
        (&json!(5), &json!(true))
    );
}

#[test]
fn without_a_repository_grep_says_how_to_grant_one() {
    let reply = call(&mut listings(), "search_my_repos", json!({"pattern": "x"}));
    assert!(
        reply.is_error && reply.text.contains("--dir repo-NAME=PATH:ro"),
        "{}",
        reply.text
    );
}

#[test]
fn grep_is_bounded_and_says_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("{}\n", "word ".repeat(60));
    fs::write(directory.path().join("a.txt"), line.repeat(600)).unwrap();
    let mut library = Library::new(Environment {
        repositories: vec![granted("site", directory.path())],
        ..Environment::default()
    });
    let few = call(
        &mut library,
        "search_my_repos",
        json!({"pattern": "word", "max_results": 2}),
    );
    assert!(few.text.contains("site/a.txt:2: word"), "{}", few.text);
    assert!(few.text.contains("there are more"), "{}", few.text);
    let many = json!({"pattern": "word", "max_results": MAX_RESULTS});
    let many = call(&mut library, "search_my_repos", many);
    assert!(many.text.contains("more would not fit"));
    assert!(many.text.len() <= MAX_REPLY_BYTES);
    assert_eq!(many.structured.unwrap()["complete"], false);
    let none = call(&mut library, "search_my_repos", json!({"pattern": "zebra"}));
    assert!(
        !none.is_error && none.text.starts_with("(0 matching lines in 1 files"),
        "{}",
        none.text
    );
    let bad = call(&mut library, "search_my_repos", json!({"pattern": "("}));
    assert!(
        bad.is_error && bad.text.contains("unclosed group"),
        "{}",
        bad.text
    );
}

#[test]
fn the_dearest_reply_is_within_the_budget() {
    let directory = tempfile::tempdir().unwrap();
    for text in ["\u{1}", "\n", "\"", "𝄞", "x"] {
        let record = |number: usize| {
            let fields: Vec<Value> = (0..40).map(|_| json!(text.repeat(400))).collect();
            let mut record = json!({
                "id": format!("{number}-{}", "é".repeat(190)),
                "title": format!("wing {}", text.repeat(400)),
                "text": format!("wing {}", text.repeat(4000)),
                "list": fields,
            });
            for field in 0..30 {
                record[format!("field{field}")] = json!(format!("{number}{}", text.repeat(400)));
            }
            record.to_string()
        };
        let records: Vec<String> = (0..60).map(record).collect();
        fs::write(directory.path().join("x.jsonl"), records.join("\n")).unwrap();
        let mut library = Library::new(Environment {
            corpora: vec![granted("dear", directory.path())],
            ..Environment::default()
        });
        let long: Vec<String> = (0..64)
            .map(|n| format!("{n}{}", "é".repeat(MAX_FILTER_CHARS - 2)))
            .collect();
        let filters = json!([{"field": "list", "op": "in", "value": long}]);
        for arguments in [
            json!({"query": "wing", "k": 50}),
            json!({"query": "wing", "k": 50, "filters": filters}),
        ] {
            let reply = call(&mut library, "search_documents", arguments);
            assert!(!reply.is_error, "{}", reply.text);
            let links: usize = reply
                .links
                .iter()
                .map(|link| link.uri.len() + link.name.len() + link.title.len())
                .sum();
            assert!(
                reply.text.len() + links <= MAX_REPLY_BYTES,
                "{text:?}: {}",
                reply.text.len()
            );
            let structured = reply.structured.unwrap().to_string();
            assert!(
                structured.len() <= MAX_REPLY_BYTES,
                "{text:?}: {}",
                structured.len()
            );
        }
        let info = call(&mut library, "corpus_info", json!({"corpus": "dear"}));
        let structured = info.structured.unwrap().to_string();
        assert!(structured.len() <= MAX_REPLY_BYTES, "{}", structured.len());
        assert!(
            info.text.len() <= MAX_REPLY_BYTES,
            "{text:?}: {}",
            info.text.len()
        );
    }
}

#[test]
fn a_long_evaluation_ends_in_time_and_says_so() {
    let mut library = listings();
    call(&mut library, "corpus_info", json!({}));
    let time = Cell::new(Duration::ZERO);
    let clock = || {
        time.set(time.get() + Duration::from_millis(50));
        time.get()
    };
    let hurried = Call::new(&clock, Duration::from_secs(2), &|_, _, _| {});
    let reply = dispatch("run_evaluation", &json!({}), &mut library, &hurried).unwrap();
    assert!(
        !reply.is_error && reply.text.contains("queries were left out"),
        "{}",
        reply.text
    );
}

#[test]
fn bad_arguments_are_refused_in_house_style() {
    let mut library = listings();
    for (name, arguments) in [
        ("search_documents", json!({})),
        ("search_documents", json!({"query": "x", "k": 0})),
        ("corpus_info", json!({"corpus": 1})),
        ("run_evaluation", json!({"mode": "best"})),
        ("search_my_repos", json!({"pattern": ""})),
    ] {
        let reply = call(&mut library, name, arguments.clone());
        assert!(reply.is_error && reply.structured.is_none(), "{arguments}");
        let first = reply.text.chars().next().unwrap();
        assert!(
            first.is_lowercase() && !reply.text.ends_with('.'),
            "{}",
            reply.text
        );
    }
    let clock = || Duration::ZERO;
    let any = Call::new(&clock, Duration::from_secs(1), &|_, _, _| {});
    assert!(dispatch("search", &json!({}), &mut library, &any).is_err());
}

#[test]
fn descriptions_and_schemas_are_small_enough_for_every_client() {
    let mut bytes = 0;
    for tool in TOOLS {
        assert!(tool.description.len() < 2048, "{}", tool.name);
        bytes += tool.description.len()
            + (tool.input_schema)().to_string().len()
            + (tool.output_schema)().to_string().len();
    }
    assert!(bytes < 12_000, "{bytes}");
}
