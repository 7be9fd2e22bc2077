//! A provider that is a table: searches wait for it, saves don't, and maintenance catches up.

use super::super::testing::{backend_on, find, save, update};
use super::*;
use crate::backend::SearchError;
use crate::request::Moment;
use crate::security::{SearchArgs, UpdateArgs};
use crate::store::INDEX;
use crate::store::fake::{FakeDisk, at};

const EMBEDDER: &str = "http://localhost/v1 table";

/// To this provider, pets are one direction and everything else is another.
fn vector_of(text: &str) -> Vec<f32> {
    let is_pet = ["canine", "dog", "Rex"]
        .iter()
        .any(|word| text.contains(word));
    if is_pet {
        vec![1.0, 0.0, 0.1]
    } else {
        vec![0.0, 1.0, 0.1]
    }
}

fn given(embedder: &str, texts: &[String]) -> Given {
    Given::Vectors {
        embedder: embedder.to_owned(),
        vectors: texts.iter().map(|text| vector_of(text)).collect(),
    }
}

fn with_provider(disk: &FakeDisk, embedder: &str) -> MemoryBackend {
    let mut backend = backend_on(disk);
    backend.set_embedder(Some(embedder.to_owned()));
    backend
}

/// Lets the provider work until nothing is wanted. Returns how many texts it got.
fn embed_all(backend: &mut MemoryBackend, embedder: &str) -> usize {
    let mut count = 0;
    while let Some(wanted) = backend.wanted_vectors().unwrap() {
        count += wanted.texts.len();
        let given = given(embedder, &wanted.texts);
        backend.take_vectors(&wanted.state, &given).unwrap();
        assert!(backend.step(at(0).now(), &mut || false).unwrap());
    }
    count
}

fn saved(backend: &mut MemoryBackend) {
    for text in [
        "Rex likes long walks",
        "the printer is on the third floor",
        "rent is due",
    ] {
        save(backend, text);
    }
}

fn search(
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<super::super::Recalled, SearchError> {
    backend.search(&SearchArgs::for_query("a canine".to_owned()), moment)
}

#[test]
fn a_search_asks_for_the_vector_of_its_query_and_finds_by_it() {
    let disk = FakeDisk::default();
    let mut backend = with_provider(&disk, EMBEDDER);
    saved(&mut backend);
    assert_eq!(
        find(&mut backend, "a canine"),
        [0; 0],
        "built in, before there are vectors"
    );
    assert_eq!(embed_all(&mut backend, EMBEDDER), 3);
    match search(&mut backend, &at(0)) {
        Err(SearchError::NeedsVector(query)) => assert_eq!(query, "a canine"),
        other => panic!("{other:?}"),
    }
    let answer = given(EMBEDDER, &["a canine".to_owned()]);
    let found = search(&mut backend, &at(0).with_answer(Some(answer))).unwrap();
    assert_eq!(found.memories[0].id, 0);
    assert!(!found.provider_failed);
}

#[test]
fn a_provider_that_is_down_leaves_the_built_in_search() {
    let mut backend = with_provider(&FakeDisk::default(), EMBEDDER);
    saved(&mut backend);
    embed_all(&mut backend, EMBEDDER);
    let other = given("another", &["printer".to_owned()]);
    for answer in [Given::Failed("connection refused".to_owned()), other] {
        let args = SearchArgs::for_query("printer".to_owned());
        let found = backend
            .search(&args, &at(0).with_answer(Some(answer)))
            .unwrap();
        assert_eq!(found.memories[0].id, 1);
        assert!(found.provider_failed);
        let reply = crate::render::reply(&found);
        assert!(
            reply.text.starts_with(crate::render::PROVIDER_FAILED),
            "{}",
            reply.text
        );
    }
    save(&mut backend, "new");
    let wanted = backend.wanted_vectors().unwrap().unwrap();
    let failed = Given::Failed("connection refused".to_owned());
    let error = backend.take_vectors(&wanted.state, &failed).unwrap_err();
    assert_eq!(error.to_string(), "no vectors: connection refused");
    assert_eq!(
        backend.wanted_vectors().unwrap(),
        Some(wanted),
        "it is asked again later"
    );
}

#[test]
fn vectors_outlive_the_process_in_the_snapshot() {
    let disk = FakeDisk::default();
    let mut backend = with_provider(&disk, EMBEDDER);
    saved(&mut backend);
    embed_all(&mut backend, EMBEDDER);
    assert!(disk.names().contains(&INDEX.to_owned()));
    let mut backend = with_provider(&disk, EMBEDDER);
    assert_eq!(backend.wanted_vectors().unwrap(), None);
    let changed = UpdateArgs {
        text: Some("Rex is a dog".to_owned()),
        ..update(0)
    };
    backend.update(&changed, &at(1)).unwrap();
    assert_eq!(embed_all(&mut backend, EMBEDDER), 1, "what it says now");
    let mut backend = with_provider(&disk, "another model");
    assert!(
        search(&mut backend, &at(0)).is_ok(),
        "the built-in one until it has caught up"
    );
    assert_eq!(embed_all(&mut backend, "another model"), 3);
    assert!(matches!(
        search(&mut backend, &at(0)),
        Err(SearchError::NeedsVector(_))
    ));
}

#[test]
fn answers_that_fit_no_more_are_dropped_and_wrong_ones_refused() {
    let mut backend = with_provider(&FakeDisk::default(), EMBEDDER);
    saved(&mut backend);
    let wanted = backend.wanted_vectors().unwrap().unwrap();
    for (answer, why) in [
        (given("another", &wanted.texts), "another"),
        (
            given(EMBEDDER, &wanted.texts[..2]),
            "there are 2 for 3 texts",
        ),
    ] {
        let error = backend
            .take_vectors(&wanted.state, &answer)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
    backend.forget(1, &at(1)).unwrap();
    let changed = UpdateArgs {
        text: Some("Rex is a dog".to_owned()),
        ..update(0)
    };
    backend.update(&changed, &at(1)).unwrap();
    let answer = given(EMBEDDER, &wanted.texts);
    backend.take_vectors(&wanted.state, &answer).unwrap();
    let wanted = backend.wanted_vectors().unwrap().unwrap();
    assert_eq!(wanted.texts, ["Rex is a dog"]);
    let nothing = Given::Vectors {
        embedder: EMBEDDER.to_owned(),
        vectors: vec![vec![0.0; 3]],
    };
    backend.take_vectors(&wanted.state, &nothing).unwrap();
    assert_eq!(
        backend.wanted_vectors().unwrap(),
        None,
        "it is not asked for again and again"
    );
    for state in [&b""[..], b"\xff\xff", &[0x80; 40]] {
        assert!(backend.take_vectors(state, &answer).is_err());
    }
}

#[test]
fn a_provider_gets_texts_in_bounded_portions() {
    let mut backend = with_provider(&FakeDisk::default(), EMBEDDER);
    for number in 0..100 {
        save(
            &mut backend,
            &format!("{number} {}", "long ".repeat(100 * (number % 3))),
        );
    }
    let wanted = backend.wanted_vectors().unwrap().unwrap();
    let bytes: usize = wanted.texts.iter().map(String::len).sum();
    assert!(wanted.texts.len() <= MAX_EMBED_TEXTS && bytes < MAX_EMBED_BYTES + 4000);
    assert_eq!(embed_all(&mut backend, EMBEDDER), 100);
}
