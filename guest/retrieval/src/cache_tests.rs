//! An index comes back as it was, or not at all.

use super::*;
use crate::corpus::read_corpus;
use crate::filter::Filter;
use crate::retriever::{Indexing, Mode, Retriever};

fn corpus(text: &str) -> Corpus {
    let directory = tempfile::tempdir().unwrap();
    let records = format!(
        "{{\"id\":\"a\",\"text\":\"{text}\"}}\n{{\"id\":\"b\",\"text\":\"lift of a wing\"}}"
    );
    fs::write(directory.path().join("x.jsonl"), records).unwrap();
    read_corpus(directory.path()).unwrap()
}

fn saved(corpus: &Corpus) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut indexing = Indexing::default();
    while indexing.step(corpus) {}
    indexing.finish(|snapshot| save(directory.path(), "x", corpus, snapshot).unwrap());
    directory
}

#[test]
fn a_kept_index_answers_as_a_new_one() {
    let corpus = corpus("a dog in the park");
    let directory = saved(&corpus);
    let kept = Retriever::from(load(directory.path(), "x", &corpus).unwrap());
    let fresh = Retriever::of(&corpus);
    let all = corpus.select(&Filter::default());
    for mode in Mode::ALL {
        let hits = |retriever: &Retriever| retriever.search("dogs and wings", mode, &all, 5).hits;
        assert_eq!(hits(&kept), hits(&fresh), "{mode:?}");
    }
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing unfinished is left");
}

#[test]
fn an_index_of_other_documents_is_not_used() {
    let directory = saved(&corpus("a dog in the park"));
    assert!(load(directory.path(), "x", &corpus("a cat in the park")).is_none());
    assert!(load(directory.path(), "y", &corpus("a dog in the park")).is_none());
}

#[test]
fn no_damage_is_overlooked() {
    let corpus = corpus("a dog in the park");
    let directory = saved(&corpus);
    let path = file(directory.path(), "x");
    let sound = fs::read(&path).unwrap();
    for position in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[position] ^= 1;
        fs::write(&path, damaged).unwrap();
        assert!(
            load(directory.path(), "x", &corpus).is_none(),
            "byte {position}"
        );
    }
    for length in [0, HEAD - 1, HEAD, sound.len() - 1] {
        fs::write(&path, &sound[..length]).unwrap();
        assert!(
            load(directory.path(), "x", &corpus).is_none(),
            "{length} bytes"
        );
    }
}
