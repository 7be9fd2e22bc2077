//! What each mode finds.

use super::*;
use crate::corpus::read_corpus;
use crate::filter::{Condition, Filter, Operator, Scalar};
use std::fs;

fn corpus() -> (Corpus, Retriever) {
    let directory = tempfile::tempdir().unwrap();
    let records = [
        r#"{"id":"dog","title":"A dog","text":"The puppy chased its tail in the park.","year":2001}"#,
        r#"{"id":"stock","title":"Shares","text":"The stock market fell as banks sold shares.","year":2008}"#,
        r#"{"id":"wing","title":"Wings","text":"Lift of a wing in a slipstream of a propeller.","year":1958}"#,
    ];
    fs::write(directory.path().join("x.jsonl"), records.join("\n")).unwrap();
    let corpus = read_corpus(directory.path()).unwrap();
    let retriever = Retriever::of(&corpus);
    (corpus, retriever)
}

fn ids(query: &str, mode: Mode, filter: &[Condition]) -> Vec<String> {
    let (corpus, retriever) = corpus();
    let filter = Filter::of(filter, &corpus.fields).unwrap();
    let answer = retriever.search(query, mode, &corpus.select(&filter), 10);
    answer
        .hits
        .iter()
        .map(|hit| corpus.document(hit.doc).unwrap().id.clone())
        .collect()
}

#[test]
fn words_find_only_documents_that_have_them() {
    assert_eq!(ids("wings", Mode::Lexical, &[]), ["wing"]);
    assert_eq!(ids("kangaroo", Mode::Lexical, &[]), [""; 0]);
}

#[test]
fn vectors_find_what_shares_no_word() {
    assert!(ids("canine", Mode::Lexical, &[]).is_empty());
    for mode in [Mode::Dense, Mode::Hybrid] {
        assert_eq!(ids("canine animal", mode, &[])[0], "dog", "{mode:?}");
        assert_eq!(ids("finance", mode, &[])[0], "stock", "{mode:?}");
    }
}

#[test]
fn a_filter_is_hard_in_every_mode() {
    let later = Condition {
        field: "year".to_owned(),
        operator: Operator::Gte,
        values: vec![Scalar::Number(2002.0)],
    };
    for mode in Mode::ALL {
        let found = ids(
            "a puppy in the park sold shares on the market",
            mode,
            std::slice::from_ref(&later),
        );
        assert_eq!(found, ["stock"], "{mode:?}");
    }
}

#[test]
fn an_answer_says_what_it_is_worth() {
    let (corpus, retriever) = corpus();
    let confidence = |query: &str| {
        let all = corpus.select(&Filter::default());
        retriever.search(query, Mode::Hybrid, &all, 3).confidence
    };
    assert_eq!(confidence("puppy in the park"), Confidence::Good);
    assert_eq!(confidence("zebra migration"), Confidence::Doubtful);
}

#[test]
fn parts_add_up_to_the_score() {
    let (corpus, retriever) = corpus();
    let all = corpus.select(&Filter::default());
    for mode in Mode::ALL {
        let answer = retriever.search("wing lift", mode, &all, 3);
        for hit in answer.hits {
            assert!((hit.parts.lexical + hit.parts.dense - hit.score).abs() < 1e-6);
            assert_eq!(mode == Mode::Lexical, hit.parts.dense == 0.0, "{mode:?}");
        }
    }
}
