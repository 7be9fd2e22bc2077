//! Which directories are corpora, and what is said of those that are none.

use super::*;
use crate::fields::FieldType;
use crate::filter::Operator;
use std::fs;
use tempfile::TempDir;

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

#[track_caller]
fn broken(files: &[(&str, &str)], expected: &str) {
    let error = read_corpus(directory(files).path()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(expected), "{text}");
    assert!(
        !text.contains('/') || text.contains("qrels/"),
        "no path is told: {text}"
    );
}

const BEIR: &str = r#"{"_id":"a","title":"Wings","text":"Lift of a wing.","metadata":{"year":1958,"session":"s1"}}
{"_id":"b/1","title":"","text":"Drag of a body."}
"#;

#[test]
fn beir_is_read_with_its_judgements() {
    let directory = directory(&[
        ("corpus.jsonl", BEIR),
        (
            "queries.jsonl",
            concat!(
                r#"{"_id":"q1","text":"lift?","metadata":{"filters":[{"field":"year","op":"gte","value":1950}]}}"#,
                "\n",
                r#"{"_id":"q2","text":"unjudged"}"#,
                "\n",
                r#"{"_id":"q3","text":"only wrong ones"}"#,
                "\n",
                r#"{"_id":7,"text":"a number"}"#,
            ),
        ),
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tgone\t1\nq1\tb/1\t0\nq3\ta\t0\n7\tb/1\t1\n",
        ),
    ]);
    let corpus = read_corpus(directory.path()).unwrap();
    assert_eq!(corpus.documents.len(), 2);
    assert_eq!(corpus.number("b/1"), Some(1));
    let ids: Vec<&str> = corpus
        .queries
        .iter()
        .map(|query| query.id.as_str())
        .collect();
    assert_eq!(ids, ["q1", "7"]);
    let first = &corpus.queries[0];
    assert_eq!(first.relevant.len(), 2, "what is not in the corpus counts");
    assert_eq!((first.relevant.gain(0), first.relevant.gain(1)), (2.0, 0.0));
    assert_eq!(first.conditions[0].operator, Operator::Gte);
    assert_eq!(corpus.about.origin, Origin::Unstated);
    let fields: Vec<(&str, FieldType)> = corpus
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.kind))
        .collect();
    assert_eq!(
        fields,
        [
            ("year", FieldType::Number),
            ("session", FieldType::Text),
            ("title", FieldType::Text)
        ]
    );
}

#[test]
fn records_as_arxiv_has_them_are_read_and_their_fields_typed() {
    let directory = directory(&[
        (
            "papers.jsonl",
            concat!(
                r#"{"id":"2005.11401","title":"RAG","abstract":"Retrieval.","authors":["A","B"],"year":2020,"published":"2020-05-22","categories":["cs.CL"]}"#,
                "\n\n",
                r#"{"id":"hep-th/9901001","title":"Strings","abstract":" Theory.\n","authors":["C"],"year":1999,"published":"1999-01-01","categories":"hep-th math-ph"}"#,
            ),
        ),
        (
            "about.json",
            r#"{"synthetic":false,"source":"arXiv","licence":"CC0"}"#,
        ),
        ("notes.txt", "not a corpus"),
    ]);
    let corpus = read_corpus(directory.path()).unwrap();
    assert_eq!(corpus.documents[1].id, "hep-th/9901001");
    assert_eq!(corpus.documents[1].text, "Theory.");
    assert_eq!(corpus.about.origin, Origin::Real);
    assert_eq!(corpus.about.licence.as_deref(), Some("CC0"));
    let kind = |name: &str| {
        corpus
            .fields
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.kind)
    };
    assert_eq!(kind("authors"), Some(FieldType::List));
    assert_eq!(kind("categories"), Some(FieldType::List));
    assert_eq!(kind("published"), Some(FieldType::Date));
    assert_eq!(kind("year"), Some(FieldType::Number));
    assert_eq!(kind("abstract"), None, "it is the text");
    assert!(corpus.queries.is_empty());
}

#[test]
fn a_directory_that_is_none_or_broken_says_what_is_wrong() {
    broken(&[], "neither corpus.jsonl");
    broken(&[("x.csv", "a,b")], "neither corpus.jsonl");
    broken(&[("x.jsonl", "\n")], "no documents");
    broken(
        &[("x.jsonl", "{\"id\":\"a\"}\nnonsense")],
        "x.jsonl line 2: a line must be a JSON object",
    );
    broken(&[("x.jsonl", "[]")], "line 1: a line must be a JSON object");
    broken(
        &[("x.jsonl", r#"{"title":"x"}"#)],
        "line 1: there is no id (_id or id)",
    );
    broken(&[("x.jsonl", r#"{"id":""}"#)], "1 to 200 characters");
    broken(&[("x.jsonl", r#"{"id":["a"]}"#)], "a text or a number");
    broken(
        &[("x.jsonl", r#"{"id":"a","text":3}"#)],
        "text must be a text",
    );
    broken(
        &[("x.jsonl", "{\"id\":\"a\"}\n{\"id\":\"a\"}")],
        "x.jsonl line 2: another document has the id \"a\" already",
    );
    broken(
        &[("x.jsonl", r#"{"id":"a"}"#), ("about.json", "{")],
        "about.json: ",
    );
    broken(
        &[
            ("x.jsonl", r#"{"id":"a"}"#),
            ("about.json", r#"{"synthetic":"no"}"#),
        ],
        "synthetic must be true or false",
    );
    let long = format!(
        "{{\"id\":\"{}\"}}",
        "x".repeat(crate::config::MAX_LINE_BYTES)
    );
    broken(&[("x.jsonl", &long)], "bytes, at most");
    let queries = r#"{"_id":"q","text":"x","metadata":{"filters":[{"field":"y"}]}}"#;
    let judged = [
        ("corpus.jsonl", BEIR),
        ("queries.jsonl", queries),
        ("qrels/test.tsv", "q\ta\t1"),
    ];
    broken(
        &judged,
        "queries.jsonl line 1: metadata.filters[0].op is required",
    );
    broken(
        &[judged[0], judged[1], ("qrels/test.tsv", "q a 1")],
        "qrels/test.tsv line 1: a judgement has 3 columns, got 1",
    );
    broken(
        &[judged[0], judged[1], ("qrels/test.tsv", "q\ta\t1\nq\tb\tx")],
        "line 2: the third column must be a number",
    );
    let error = read_corpus(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(
        error.to_string().starts_with("its directory can't be read"),
        "{error}"
    );
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let directory = directory(&[]);
    fs::write(directory.path().join("x.jsonl"), b"{\"id\":\"\xff\"}").unwrap();
    let error = read_corpus(directory.path()).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}
