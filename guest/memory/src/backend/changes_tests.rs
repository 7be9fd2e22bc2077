//! What a host is told.

use super::super::testing::{backend_on, find, raw, save, update};
use super::*;
use crate::security::{RawMemory, SearchArgs, UpdateArgs};
use crate::store::fake::{FakeDisk, at};
use crate::store::journal::JOURNAL;

fn uris(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| format!("memory://{id}")).collect()
}

/// What a host is told that asks again and again.
struct Host {
    token: Option<String>,
    subscribed: Vec<String>,
}

impl Host {
    fn asks(&mut self, backend: &mut MemoryBackend) -> (bool, Vec<String>) {
        let told = backend
            .changes_since(self.token.as_deref(), &self.subscribed)
            .unwrap();
        self.token = Some(told.token);
        (told.list_changed, told.updated)
    }
}

#[test]
fn changes_are_told_once_and_exactly() {
    let disk = FakeDisk::default();
    let (mut backend, mut other) = (backend_on(&disk), backend_on(&disk));
    for text in ["zero tea", "one tea", "two tea"] {
        save(&mut other, text);
    }
    let mut host = Host {
        token: None,
        subscribed: uris(&["entries/m0", "entries/m1", "search/tea"]),
    };
    let quiet = (false, vec![]);
    assert_eq!(
        host.asks(&mut backend),
        quiet,
        "without a token there are no changes"
    );
    assert_eq!(host.asks(&mut backend), quiet);

    find(&mut other, "tea");
    let search = SearchArgs::for_query("tea".to_owned());
    other.search(&search, &at(9 * 3600)).unwrap();
    assert_eq!(
        host.asks(&mut backend),
        quiet,
        "that it was shown is no change"
    );
    save(&mut other, "zero tea");
    assert_eq!(
        host.asks(&mut backend),
        quiet,
        "nor is a save that changed nothing"
    );

    let tagged = UpdateArgs {
        tags: Some(vec!["t".to_owned()]),
        ..update(1)
    };
    other.update(&tagged, &at(1)).unwrap();
    let changed = (false, uris(&["entries/m1", "search/tea"]));
    assert_eq!(host.asks(&mut backend), changed, "the list shows no tags");
    let said_anew = UpdateArgs {
        text: Some("one coffee".to_owned()),
        ..update(1)
    };
    other.update(&said_anew, &at(1)).unwrap();
    assert_eq!(
        host.asks(&mut backend),
        (true, uris(&["entries/m1", "search/tea"]))
    );
    save(&mut other, "three tea");
    assert_eq!(host.asks(&mut backend), (true, uris(&["search/tea"])));
    other.forget(0, &at(2)).unwrap();
    assert_eq!(
        host.asks(&mut backend),
        (true, uris(&["entries/m0", "search/tea"]))
    );
    other.restore(0, &at(2)).unwrap();
    assert_eq!(
        host.asks(&mut backend),
        (true, uris(&["entries/m0", "search/tea"]))
    );
    assert_eq!(host.asks(&mut backend), quiet);
}

#[test]
fn a_token_survives_compaction_and_the_instance_but_no_purge_and_no_other_store() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    backend.compact_from(0);
    for text in ["zero tea", "one tea", "two tea"] {
        save(&mut backend, text);
    }
    let mut host = Host {
        token: None,
        subscribed: uris(&["entries/m0", "entries/m1"]),
    };
    host.asks(&mut backend);
    let early = host.token.clone();
    for seconds in 0..9 {
        let change = UpdateArgs {
            importance: Some(1.0 + seconds as f64),
            ..update(1)
        };
        backend.update(&change, &at(seconds)).unwrap();
    }
    host.asks(&mut backend);
    let size = disk.bytes(JOURNAL).len();
    assert!(backend.step(at(9).now(), &mut || false).unwrap());
    assert!(disk.bytes(JOURNAL).len() < size, "it was compacted");
    let quiet = (false, vec![]);
    assert_eq!(host.asks(&mut backend), quiet);
    assert_eq!(host.asks(&mut backend_on(&disk)), quiet, "a fresh instance");
    host.token = early;
    assert_eq!(
        host.asks(&mut backend_on(&disk)),
        (false, uris(&["entries/m1"])),
        "an older token is understood as well"
    );

    backend.purge(&[2], &at(10)).unwrap();
    let everything = (true, uris(&["entries/m0", "entries/m1"]));
    for mut backend in [backend, backend_on(&disk)] {
        let token = host.token.clone();
        assert_eq!(host.asks(&mut backend), everything);
        assert_eq!(host.asks(&mut backend), quiet);
        host.token = token;
    }
    for foreign in ["", "x", "x.0", ".0", "x.y"] {
        host.token = Some(foreign.to_owned());
        assert_eq!(host.asks(&mut backend_on(&disk)), everything, "{foreign:?}");
    }
    let future = host.token.clone().unwrap();
    let (store, revision) = future.split_once('.').unwrap();
    let later = revision.parse::<u64>().unwrap() + 1;
    host.token = Some(format!("{store}.{later}"));
    assert_eq!(
        host.asks(&mut backend_on(&disk)),
        everything,
        "from the future"
    );

    let empty = FakeDisk::default();
    assert_eq!(
        host.asks(&mut backend_on(&empty)),
        everything,
        "the store is gone"
    );
    assert_eq!(host.asks(&mut backend_on(&empty)), quiet);
    save(&mut backend_on(&empty), "first");
    assert_eq!(
        host.asks(&mut backend_on(&empty)),
        everything,
        "now there is one"
    );
}

#[test]
fn what_is_there_can_be_subscribed_to() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "a");
    save(&mut backend, "b");
    backend.forget(1, &at(0)).unwrap();
    for (uri, expected) in [
        ("memory://entries/m0", true),
        ("memory://entries/m1", false),
        ("memory://entries/m2", false),
        ("memory://entries/../m0", false),
        ("memory://search/a", true),
        ("memory://search/", false),
        ("file:///etc/passwd", false),
    ] {
        assert_eq!(backend.can_subscribe(uri).unwrap(), expected, "{uri}");
    }
}

#[test]
fn asking_for_changes_where_there_are_none_reads_next_to_nothing() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let batch: Vec<RawMemory> = (0..900)
        .map(|number| raw(&format!("{number} {}", "x".repeat(1000))))
        .collect();
    backend.import(&batch, false, &at(0)).unwrap();
    let token = backend.changes_since(None, &[]).unwrap().token;
    disk.count_reads();
    backend.changes_since(Some(&token), &[]).unwrap();
    let (calls, bytes) = disk.count_reads();
    assert!(calls <= 4 && bytes < 1024, "{calls} reads of {bytes} bytes");
}
