//! When corpora are loaded, kept, and dropped.

use super::*;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn library(corpora: &[(&str, &Path)]) -> Library {
    let corpora = corpora.iter().map(|(name, path)| Granted {
        name: (*name).to_owned(),
        path: path.to_path_buf(),
    });
    Library::new(Environment {
        corpora: corpora.collect(),
        ..Environment::default()
    })
}

fn unhurried<T>(run: impl FnOnce(&Call<'_>) -> T) -> T {
    let clock = || Duration::ZERO;
    run(&Call::new(&clock, Duration::from_secs(10), &|_, _, _| {}))
}

fn open(library: &mut Library, name: Option<&str>) -> Result<Rc<Loaded>, CorpusError> {
    unhurried(|call| library.open(name, call))
}

fn write_records(directory: &Path, count: usize) {
    let lines: Vec<String> = (0..count)
        .map(|number| format!(r#"{{"id":"d{number}","text":"document number {number}"}}"#))
        .collect();
    fs::write(directory.join("x.jsonl"), lines.join("\n")).unwrap();
}

#[test]
fn the_synthetic_corpus_is_always_there_and_the_default_when_nothing_was_granted() {
    let mut empty = library(&[]);
    assert_eq!(open(&mut empty, None).unwrap().name, LISTINGS);
    let directory = tempfile::tempdir().unwrap();
    write_records(directory.path(), 3);
    let mut granted = library(&[("mine", directory.path())]);
    assert_eq!(granted.names(), ["mine", LISTINGS]);
    assert_eq!(open(&mut granted, None).unwrap().name, "mine");
    assert_eq!(open(&mut granted, Some(LISTINGS)).unwrap().name, LISTINGS);
}

#[test]
fn a_corpus_is_read_once() {
    let directory = tempfile::tempdir().unwrap();
    write_records(directory.path(), 3);
    let mut library = library(&[("mine", directory.path())]);
    let first = open(&mut library, Some("mine")).unwrap();
    fs::remove_file(directory.path().join("x.jsonl")).unwrap();
    let second = open(&mut library, Some("mine")).unwrap();
    assert!(Rc::ptr_eq(&first, &second));
}

#[test]
fn a_broken_corpus_is_tried_again_and_harms_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let mut library = library(&[("mine", directory.path())]);
    assert_eq!(open(&mut library, None).err(), Some(CorpusError::NoCorpus));
    assert!(open(&mut library, Some(LISTINGS)).is_ok());
    write_records(directory.path(), 3);
    assert!(open(&mut library, None).is_ok());
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let error = open(&mut library(&[]), Some("../etc")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no corpus \"../etc\"; there are listings"
    );
}

#[test]
fn an_index_is_kept_where_that_was_granted_and_used_by_the_next_process() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_records(directory.path(), 10 * SLICE);
    let with_cache = || {
        let mut library = library(&[("mine", directory.path())]);
        library.environment.cache = Some(cache.path().to_owned());
        library
    };
    assert!(open(&mut with_cache(), None).is_ok());
    assert!(cache.path().join("mine.index").exists());
    // A call whose time is over can't index anything, but it can load an index.
    let time = Cell::new(0);
    let clock = || {
        time.set(time.get() + 1);
        Duration::from_secs(time.get())
    };
    let hurried = Call::new(&clock, Duration::ZERO, &|_, _, _| {});
    assert!(with_cache().open(None, &hurried).is_ok());
    let mut without = library(&[("mine", directory.path())]);
    assert!(matches!(
        without.open(None, &hurried),
        Err(CorpusError::Loading { .. })
    ));
    assert!(open(&mut with_cache(), Some(LISTINGS)).is_ok());
    assert!(!cache.path().join("listings.index").exists());
}

#[test]
fn a_cache_that_can_not_be_written_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    write_records(directory.path(), 3);
    let mut library = library(&[("mine", directory.path())]);
    library.environment.cache = Some("/nowhere/at/all".into());
    assert!(open(&mut library, None).is_ok());
}

#[test]
fn a_large_corpus_is_loaded_by_several_calls() {
    let directory = tempfile::tempdir().unwrap();
    write_records(directory.path(), 10 * SLICE);
    let mut library = library(&[("mine", directory.path())]);
    // A clock that goes on by a second each time somebody looks.
    let time = Cell::new(0);
    let clock = || {
        time.set(time.get() + 1);
        Duration::from_secs(time.get())
    };
    let mut calls = 0;
    let mut before = 0;
    let loaded = loop {
        calls += 1;
        let call = Call::new(&clock, Duration::from_secs(4), &|_, _, _| {});
        match library.open(None, &call) {
            Ok(loaded) => break loaded,
            Err(CorpusError::Loading { done, total }) => {
                assert!(before < done && done <= total, "{before} {done} {total}");
                before = done;
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert!(calls > 2, "{calls}");
    assert_eq!(loaded.corpus.documents.len(), 10 * SLICE);
}
