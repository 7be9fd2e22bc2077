//! Figures against cases that were computed by hand, and what filters are worth.

use super::*;
use crate::config::{DEFAULT_K, LISTINGS};
use crate::library::Library;
use crate::request::{Environment, Granted};
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

fn setup(mode: Mode, apply_filters: bool) -> Setup {
    Setup {
        k: DEFAULT_K,
        mode,
        apply_filters,
    }
}

fn unhurried<T>(run: impl FnOnce(&Call<'_>) -> T) -> T {
    let clock = || Duration::ZERO;
    run(&Call::new(&clock, Duration::from_secs(10), &|_, _, _| {}))
}

fn listings() -> Rc<Loaded> {
    unhurried(|call| Library::new(Environment::default()).open(Some(LISTINGS), call)).unwrap()
}

/// Four documents about wings, of which a query finds the first three in this order: the more often the word, the better.
fn small(directory: &Path) -> Rc<Loaded> {
    let documents = [
        r#"{"_id":"a","text":"wing wing wing wing","metadata":{"year":1}}"#,
        r#"{"_id":"b","text":"wing wing wing body","metadata":{"year":2}}"#,
        r#"{"_id":"c","text":"wing body body body","metadata":{"year":2}}"#,
        r#"{"_id":"d","text":"tail body body body","metadata":{"year":2}}"#,
    ];
    let queries = [
        r#"{"_id":"q1","text":"wing"}"#,
        r#"{"_id":"q2","text":"wing","metadata":{"filters":[{"field":"year","op":"eq","value":2}]}}"#,
    ];
    let judgements = "q1\tb\t1\nq1\td\t1\nq2\tb\t1\nq2\tc\t2\n";
    fs::create_dir_all(directory.join("qrels")).unwrap();
    fs::write(directory.join("corpus.jsonl"), documents.join("\n")).unwrap();
    fs::write(directory.join("queries.jsonl"), queries.join("\n")).unwrap();
    fs::write(directory.join("qrels/test.tsv"), judgements).unwrap();
    let mut library = Library::new(Environment {
        corpora: vec![Granted {
            name: "small".to_owned(),
            path: directory.to_owned(),
        }],
        ..Environment::default()
    });
    unhurried(|call| library.open(None, call)).unwrap()
}

fn close(got: f32, expected: f32) {
    assert!((got - expected).abs() < 1e-5, "{got}, not {expected}");
}

#[test]
fn figures_are_those_computed_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    let loaded = small(directory.path());
    let at_two = |apply_filters| Setup {
        k: 2,
        mode: Mode::Lexical,
        apply_filters,
    };
    // With filters: q1 ranks a b c of the relevant {b, d}; q2 ranks b c of {b: 1, c: 2}.
    let report = unhurried(|call| evaluate(&loaded, at_two(true), call)).unwrap();
    let second = 1.0 / 3f32.log2();
    let of_q1 = second / (1.0 + second);
    let of_q2 = (1.0 + 2.0 * second) / (2.0 + second);
    close(report.all.recall, (0.5 + 1.0) / 2.0);
    close(report.all.ceiling, 1.0);
    close(report.all.precision, (0.5 + 1.0) / 2.0);
    close(report.all.mrr, (0.5 + 1.0) / 2.0);
    close(report.all.ndcg, (of_q1 + of_q2) / 2.0);
    let filtered = report.filtered.unwrap();
    assert_eq!((report.all.queries, filtered.queries), (2, 1));
    close(filtered.ndcg, of_q2);
    assert_eq!(report.worst[0].query, 0);
    assert_eq!(report.worst[0].first_relevant, Some(2));
    assert_eq!(report.worst[0].top, Some(0));

    // Without, q2 ranks a b c too.
    let report = unhurried(|call| evaluate(&loaded, at_two(false), call)).unwrap();
    close(report.all.recall, 0.5);
    close(report.all.mrr, 0.5);
    close(report.filtered.unwrap().ndcg, second / (2.0 + second));

    // With one place, a query with two answers can't have more than half of them.
    let report = unhurried(|call| {
        let setup = Setup {
            k: 1,
            ..at_two(true)
        };
        evaluate(&loaded, setup, call)
    })
    .unwrap();
    close(report.all.ceiling, 0.5);
    close(report.all.recall, (0.0 + 0.5) / 2.0);
}

#[test]
fn without_filters_queries_that_have_some_are_answered_less_precisely() {
    let loaded = listings();
    for mode in Mode::ALL {
        let filtered = |apply| {
            unhurried(|call| evaluate(&loaded, setup(mode, apply), call))
                .unwrap()
                .filtered
                .unwrap()
        };
        let (with, without) = (filtered(true), filtered(false));
        assert!(
            with.precision > 1.5 * without.precision && with.recall > 1.5 * without.recall,
            "{mode:?}: {with:?} {without:?}"
        );
        assert_eq!(with.ceiling, without.ceiling);
    }
}

#[test]
fn queries_without_filters_are_not_touched_by_the_ablation() {
    let loaded = listings();
    let plain = |apply| {
        let report = unhurried(|call| evaluate(&loaded, setup(Mode::Hybrid, apply), call)).unwrap();
        let filtered = report.filtered.unwrap();
        let (all, some) = (report.all.queries as f32, filtered.queries as f32);
        (report.all.ndcg * all - filtered.ndcg * some) / (all - some)
    };
    close(plain(true), plain(false));
}

#[test]
fn words_and_vectors_together_find_more_than_either() {
    let loaded = listings();
    let [lexical, dense, hybrid] = Mode::ALL.map(|mode| {
        unhurried(|call| evaluate(&loaded, setup(mode, true), call))
            .unwrap()
            .all
            .ndcg
    });
    assert!(
        hybrid > lexical && hybrid > dense,
        "{lexical} {dense} {hybrid}"
    );
}

#[test]
fn progress_is_told_after_each_query() {
    let directory = tempfile::tempdir().unwrap();
    let loaded = small(directory.path());
    let told = RefCell::new(Vec::new());
    let clock = || Duration::ZERO;
    let progress = |done: f64, total: f64, _: &str| told.borrow_mut().push((done, total));
    let call = Call::new(&clock, Duration::from_secs(10), &progress);
    evaluate(&loaded, setup(Mode::Lexical, true), &call).unwrap();
    assert_eq!(*told.borrow(), [(1.0, 2.0), (2.0, 2.0)]);
}

#[test]
fn when_time_is_short_the_rest_is_left_out_and_said_so() {
    let loaded = listings();
    let time = Cell::new(Duration::ZERO);
    let clock = || {
        time.set(time.get() + Duration::from_millis(100));
        time.get()
    };
    let call = Call::new(&clock, Duration::from_secs(2), &|_, _, _| {});
    let report = evaluate(&loaded, setup(Mode::Lexical, true), &call).unwrap();
    assert!(report.left_out > 0 && report.all.queries > 0, "{report:?}");
    assert_eq!(
        report.left_out + report.all.queries,
        loaded.corpus.queries.len()
    );
    assert!((report.p50_ms - 100.0).abs() < 1e-6, "{}", report.p50_ms);
}

#[test]
fn a_corpus_without_queries_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let loaded = small(directory.path());
    fs::remove_dir_all(directory.path().join("qrels")).unwrap();
    drop(loaded);
    let mut library = Library::new(Environment {
        corpora: vec![Granted {
            name: "bare".to_owned(),
            path: directory.path().to_owned(),
        }],
        ..Environment::default()
    });
    let loaded = unhurried(|call| library.open(None, call)).unwrap();
    let error = unhurried(|call| evaluate(&loaded, setup(Mode::Lexical, true), call));
    assert_eq!(error, Err(EvaluationError::NoQueries));
}
