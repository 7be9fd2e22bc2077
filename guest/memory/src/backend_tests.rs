//! Saving, finding and ranking.

use super::search::lift;
use super::*;
use crate::config::{
    DEFAULT_K, IMPORTANCE_WEIGHT, Kind, MAX_TAGS, RECENCY_WEIGHT, TOUCH_INTERVAL_SECONDS,
};
use crate::security::{SaveArgs, SearchArgs};
use crate::store::fake::{FakeDisk, Faults, at, random_ids};
use crate::store::journal::JOURNAL;

const HOUR: i64 = 3600;

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), random_ids())
}

fn save_args(text: &str) -> SaveArgs {
    SaveArgs {
        text: text.to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    }
}

fn saved(id: u64, created: bool) -> Saved {
    Saved {
        id,
        created,
        merged: Merge::default(),
    }
}

fn save(backend: &mut MemoryBackend, text: &str, importance: f64, seconds: i64) -> u64 {
    let args = SaveArgs {
        importance: Some(importance),
        ..save_args(text)
    };
    backend.save(&args, &at(seconds)).unwrap().id
}

fn find(backend: &mut MemoryBackend, query: &str, seconds: i64) -> Vec<u64> {
    find_with(backend, query, Filter::default(), seconds)
}

fn find_with(backend: &mut MemoryBackend, query: &str, filter: Filter, seconds: i64) -> Vec<u64> {
    let args = SearchArgs {
        query: query.to_owned(),
        k: DEFAULT_K,
        filter,
    };
    backend
        .search(&args, &at(seconds))
        .unwrap()
        .memories
        .iter()
        .map(|memory| memory.id)
        .collect()
}

#[test]
fn nothing_is_found_where_nothing_matches() {
    let mut backend = backend_on(&FakeDisk::default());
    save(&mut backend, "the StarcallOS demo is on June 20", 5.0, 0);
    save(&mut backend, "I prefer dark mode", 5.0, 0);
    assert_eq!(find(&mut backend, "kangaroo", 1), [0; 0]);
    assert_eq!(find(&mut backend, "demo", 1), [0]);
}

/// Three kinds of the same text are as relevant as each other.
fn save_same(
    backend: &mut MemoryBackend,
    kind: Kind,
    tag: &str,
    importance: f64,
    hours: i64,
) -> u64 {
    let args = SaveArgs {
        kind,
        tags: vec![tag.to_owned()],
        importance: Some(importance),
        ..save_args("tea in the garden")
    };
    backend.save(&args, &at(hours * HOUR)).unwrap().id
}

#[test]
fn recency_and_importance_break_ties() {
    let mut backend = backend_on(&FakeDisk::default());
    let old = save_same(&mut backend, Kind::Episodic, "a", 5.0, 0);
    let new = save_same(&mut backend, Kind::Semantic, "b", 5.0, 100);
    let important = save_same(&mut backend, Kind::Procedural, "c", 10.0, 0);
    assert_eq!(find(&mut backend, "tea", 100 * HOUR), [important, new, old]);
}

#[test]
fn they_do_not_overturn_a_clearly_better_match() {
    let mut backend = backend_on(&FakeDisk::default());
    let right = save(
        &mut backend,
        "the garden gate key hangs behind the door",
        1.0,
        0,
    );
    save(&mut backend, "a door", 10.0, 5000 * HOUR);
    save(&mut backend, "the garden party", 10.0, 5000 * HOUR);
    assert_eq!(find(&mut backend, "garden gate key", 5000 * HOUR)[0], right);
}

#[test]
fn being_found_makes_a_memory_recent_for_the_next_search_only() {
    let mut backend = backend_on(&FakeDisk::default());
    let first = save_same(&mut backend, Kind::Episodic, "milk", 5.0, 0);
    let second = save_same(&mut backend, Kind::Semantic, "lemon", 5.0, 0);
    assert_eq!(
        find(&mut backend, "tea", 300 * HOUR),
        [second, first],
        "of equals the newer"
    );
    assert_eq!(find(&mut backend, "milk", 600 * HOUR), [first]);
    assert_eq!(find(&mut backend, "tea", 600 * HOUR), [first, second]);
}

#[test]
fn filters_apply_before_the_best_are_taken() {
    let mut backend = backend_on(&FakeDisk::default());
    let args = |kind, tags: &[&str], importance| SaveArgs {
        text: format!("tea {kind} {tags:?} {importance}"),
        kind,
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        importance: Some(importance),
    };
    let fact = backend
        .save(&args(Kind::Semantic, &["Home", "tea"], 8.0), &at(0))
        .unwrap()
        .id;
    let event = backend
        .save(&args(Kind::Episodic, &["home"], 3.0), &at(24 * HOUR))
        .unwrap()
        .id;
    for number in 0..20 {
        save(
            &mut backend,
            &format!("tea tea tea {number}"),
            10.0,
            48 * HOUR,
        );
    }
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
    for (filter, expected) in [
        (
            Filter {
                kind: Some(Kind::Semantic),
                ..Filter::default()
            },
            vec![fact],
        ),
        (
            Filter {
                tags: tags(&["HOME", "Tea"]),
                ..Filter::default()
            },
            vec![fact],
        ),
        (
            Filter {
                tags: tags(&["home"]),
                min_importance: Some(8.0),
                ..Filter::default()
            },
            vec![fact],
        ),
        (
            Filter {
                until: Some(at(0).now()),
                ..Filter::default()
            },
            vec![fact],
        ),
        (
            Filter {
                since: Some(at(1).now()),
                until: Some(at(24 * HOUR).now()),
                ..Filter::default()
            },
            vec![event],
        ),
        (
            Filter {
                tags: tags(&["work"]),
                ..Filter::default()
            },
            vec![],
        ),
    ] {
        assert_eq!(
            find_with(&mut backend, "tea", filter.clone(), 50 * HOUR),
            expected,
            "{filter:?}"
        );
    }
}

#[test]
fn a_tag_is_a_word_about_its_memory() {
    let mut backend = backend_on(&FakeDisk::default());
    let args = SaveArgs {
        tags: vec!["StarcallOS".to_owned()],
        ..save_args("the demo is on June 20")
    };
    let id = backend.save(&args, &at(0)).unwrap().id;
    assert_eq!(find(&mut backend, "starcallos", 0), [id]);
}

#[test]
fn saving_again_is_the_memory_that_is_there() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    assert_eq!(
        backend.save(&save_args("a"), &at(0)).unwrap(),
        saved(0, true)
    );
    let before = disk.bytes(JOURNAL);
    assert_eq!(
        backend.save(&save_args("a"), &at(9)).unwrap(),
        saved(0, false)
    );
    assert_eq!(
        backend_on(&disk).save(&save_args("a"), &at(9)).unwrap(),
        saved(0, false)
    );
    assert_eq!(disk.bytes(JOURNAL), before, "nothing new, nothing written");
    let other_kind = SaveArgs {
        kind: Kind::Semantic,
        ..save_args("a")
    };
    assert!(backend.save(&other_kind, &at(0)).unwrap().created);
    assert!(
        backend.save(&save_args("a "), &at(0)).unwrap().created,
        "the exact text counts"
    );
}

#[test]
fn saving_again_merges_new_tags_and_a_higher_importance() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let with = |tags: &[&str], importance| SaveArgs {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        importance,
        ..save_args("a")
    };
    backend.save(&with(&["x"], Some(6.0)), &at(0)).unwrap();
    backend.save(&with(&["y", "x"], Some(3.0)), &at(1)).unwrap();
    backend.save(&with(&[], Some(8.0)), &at(2)).unwrap();
    backend.save(&with(&[], None), &at(3)).unwrap();
    let mut reopened = backend_on(&disk);
    let memory = reopened.get(0).unwrap().unwrap();
    assert_eq!(
        (memory.tags.as_slice(), memory.importance),
        (&["x".to_owned(), "y".to_owned()][..], 8.0)
    );
    assert_eq!(
        memory.modified_at,
        at(2).now(),
        "the last one changed nothing"
    );
}

#[test]
fn merged_tags_keep_their_bound() {
    let mut backend = backend_on(&FakeDisk::default());
    let tags = |from: usize| {
        (from..from + MAX_TAGS)
            .map(|number| number.to_string())
            .collect()
    };
    backend
        .save(
            &SaveArgs {
                tags: tags(0),
                ..save_args("a")
            },
            &at(0),
        )
        .unwrap();
    let error = backend
        .save(
            &SaveArgs {
                tags: tags(1),
                ..save_args("a")
            },
            &at(0),
        )
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("at most 16") && error.contains("m0") && error.contains("got 17"),
        "{error}"
    );
    assert_eq!(backend.get(0).unwrap().unwrap().tags.len(), MAX_TAGS);
}

#[test]
fn a_save_after_a_failed_sync_is_not_taken_for_one_that_is_there() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    backend.save(&save_args("a"), &at(0)).unwrap();
    disk.fail(Faults {
        sync: true,
        ..Faults::default()
    });
    assert!(backend.save(&save_args("b"), &at(0)).is_err());
    disk.fail(Faults::default());
    assert!(backend.save(&save_args("b"), &at(0)).is_err());
    assert!(backend.save(&save_args("a"), &at(0)).is_err());
    assert_eq!(find(&mut backend, "a", 0), [0], "searching goes on");
}

#[test]
fn a_read_only_directory_can_be_searched() {
    let disk = FakeDisk::default();
    save(&mut backend_on(&disk), "tea", 5.0, 0);
    disk.fail(Faults {
        read_only: true,
        ..Faults::default()
    });
    let mut backend = backend_on(&disk);
    assert_eq!(find(&mut backend, "tea", 2 * TOUCH_INTERVAL_SECONDS), [0]);
    assert!(backend.save(&save_args("b"), &at(0)).is_err());
}

#[test]
fn a_search_of_an_empty_directory_creates_nothing() {
    let disk = FakeDisk::default();
    assert_eq!(find(&mut backend_on(&disk), "tea", 0), [0; 0]);
    assert_eq!((disk.names().len(), disk.appends()), (0, 0));
}

#[test]
fn what_another_process_saves_is_found() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (backend_on(&disk), backend_on(&disk));
    save(&mut ours, "tea", 5.0, 0);
    save(&mut theirs, "more tea", 5.0, 0);
    assert_eq!(find(&mut ours, "more", 0), [1]);
    assert_eq!(theirs.entries().unwrap().count(), 2);
}

#[test]
fn a_clock_before_the_memories_does_no_harm() {
    let mut backend = backend_on(&FakeDisk::default());
    save(&mut backend, "tea", 5.0, 1000 * HOUR);
    assert_eq!(find(&mut backend, "tea", -1_796_000_000), [0]);
    let memory = backend.store.entries().get(0).unwrap();
    assert!((lift(memory, at(0).now()) - (RECENCY_WEIGHT + IMPORTANCE_WEIGHT / 2.0)).abs() < 1e-9);
}
