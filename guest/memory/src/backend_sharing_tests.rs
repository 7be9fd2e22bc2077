//! One memory that several processes share: opening in slices, texts on the disk, changes, import, figures.

use super::*;
use crate::config::{Kind, MAX_EXPORT_PAGE, MAX_IMPORT_BATCH, MAX_TAGS};
use crate::request::Moment;
use crate::security::{RawMemory, SaveArgs, SearchArgs, UpdateArgs};
use crate::store::fake::{FakeDisk, Faults, at, random_ids};
use crate::store::journal::JOURNAL;

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), random_ids())
}

fn save(backend: &mut MemoryBackend, text: &str) -> u64 {
    let args = SaveArgs {
        text: text.to_owned(),
        kind: Kind::Episodic,
        importance: None,
        tags: vec![],
    };
    backend.save(&args, &at(0)).unwrap().id
}

fn find(backend: &mut MemoryBackend, query: &str) -> Vec<u64> {
    let args = SearchArgs::for_query(query.to_owned());
    let found = backend.search(&args, &at(0)).unwrap();
    found.iter().map(|memory| memory.id).collect()
}

fn update(id: u64) -> UpdateArgs {
    UpdateArgs {
        id,
        ..UpdateArgs::default()
    }
}

/// Flips a byte in the text of a memory, where its line is in the journal now.
fn damage(disk: &FakeDisk, text: &str) {
    let at = disk.text(JOURNAL).rfind(text).unwrap();
    disk.flip(JOURNAL, at);
}

#[test]
fn a_store_opens_in_slices_and_is_whole_afterwards() {
    let disk = FakeDisk::default();
    let mut writer = backend_on(&disk);
    let batch: Vec<RawMemory> = (0..900)
        .map(|number| RawMemory {
            text: format!("needle{number} {}", "hay ".repeat(250)),
            ..RawMemory::default()
        })
        .collect();
    writer.import(&batch, false, &at(0)).unwrap();
    let mut backend = backend_on(&disk);
    let mut slices = 1;
    while !backend.open(&mut || true).unwrap() {
        slices += 1;
    }
    assert!((12..40).contains(&slices), "{slices} slices of 1 MB");
    assert_eq!(find(&mut backend, "needle0"), [0]);
    assert_eq!(find(&mut backend, "needle899"), [899]);
    assert!(backend.open(&mut || true).unwrap(), "it stays open");

    let mut impatient = backend_on(&disk);
    assert!(!impatient.open(&mut || true).unwrap());
    assert_eq!(save(&mut writer, "meanwhile"), 900);
    assert_eq!(
        find(&mut impatient, "meanwhile"),
        [900],
        "a call that comes too early follows to the end"
    );
}

#[test]
fn a_store_that_is_replaced_between_two_slices_is_opened_afresh() {
    let disk = FakeDisk::default();
    let mut writer = backend_on(&disk);
    writer.compact_from(0);
    for number in 0..500 {
        save(&mut writer, &format!("word{number} {}", "x".repeat(1000)));
    }
    let mut backend = backend_on(&disk);
    assert!(!backend.open(&mut || true).unwrap());
    let all_but_one: Vec<u64> = (1..500).collect();
    writer.purge(&all_but_one, &at(0)).unwrap();
    assert!(backend.open(&mut || true).unwrap());
    assert_eq!(find(&mut backend, "word0"), [0]);
    assert_eq!(find(&mut backend, "word1"), [0; 0]);
    assert_eq!(backend.entries().unwrap().count(), 1);
}

#[test]
fn a_text_whose_line_was_damaged_is_never_shown() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for text in ["green tea", "black tea", "white tea"] {
        save(&mut backend, text);
    }
    damage(&disk, "black tea");
    assert_eq!(find(&mut backend, "tea"), [2, 0]);
    let (page, has_more) = backend.page(None, 9).unwrap();
    assert_eq!((page.len(), has_more), (2, false));
    let error = backend.get(1).unwrap_err().to_string();
    assert!(
        error.starts_with("the text of m1 can't be read any more"),
        "{error}"
    );
    assert_eq!(
        backend.take_warnings(),
        [error],
        "once, however often it was met"
    );
    assert_eq!(
        save(&mut backend, "black tea"),
        3,
        "it is not taken for saved"
    );
    let mended = UpdateArgs {
        text: Some("black tea".to_owned()),
        ..update(1)
    };
    assert!(backend.update(&mended, &at(1)).unwrap().changed);
    assert_eq!(backend.get(1).unwrap().unwrap().text, "black tea");
    backend.forget(0, &at(1)).unwrap();
    damage(&disk, "green tea");
    assert!(
        backend.restore(0, &at(2)).is_err(),
        "there is nothing to restore"
    );
}

#[test]
fn a_compaction_by_another_process_costs_no_index() {
    let disk = FakeDisk::default();
    let (mut ours, mut theirs) = (backend_on(&disk), backend_on(&disk));
    theirs.compact_from(0);
    for text in ["green tea", "black tea", "white tea"] {
        save(&mut ours, text);
    }
    assert_eq!(find(&mut ours, "tea"), [2, 1, 0]);
    for seconds in 0..9 {
        let change = UpdateArgs {
            importance: Some(1.0 + seconds as f64),
            ..update(1)
        };
        theirs.update(&change, &at(seconds)).unwrap();
    }
    theirs.purge(&[2], &at(9)).unwrap();
    save(&mut theirs, "red tea");
    // Unreadable now: an index made anew would lack it, one that is kept has its words.
    damage(&disk, "green tea");
    let warnings = ours.page(None, 9).unwrap().0.len();
    assert_eq!(warnings, 2, "m1 and m3");
    assert_eq!(find(&mut ours, "tea"), [1, 3]);
    assert_eq!(find(&mut ours, "white"), [0; 0]);
}

#[test]
fn forgetting_hides_and_restoring_brings_back() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    assert_eq!(save(&mut backend, "green tea"), 0);
    backend.forget(0, &at(1)).unwrap();
    assert_eq!(find(&mut backend, "tea"), [0; 0]);
    assert_eq!(backend.get(0).unwrap(), None);
    assert!(matches!(
        backend.forget(0, &at(1)),
        Err(ChangeError::NotFound { id: 0 })
    ));
    let renamed = UpdateArgs {
        importance: Some(2.0),
        ..update(0)
    };
    assert!(matches!(
        backend.update(&renamed, &at(1)),
        Err(ChangeError::NotFound { id: 0 })
    ));
    assert_eq!(
        save(&mut backend, "green tea"),
        1,
        "forgotten entries don't count"
    );
    let restored = backend.restore(0, &at(2)).unwrap();
    assert_eq!(
        (restored.text.as_str(), restored.forgotten_at),
        ("green tea", None)
    );
    assert_eq!(find(&mut backend, "tea"), [1, 0], "both live");
    assert!(matches!(
        backend.restore(0, &at(2)),
        Err(ChangeError::NotForgotten { id: 0 })
    ));
    assert!(matches!(
        backend.restore(7, &at(2)),
        Err(ChangeError::NotFound { id: 7 })
    ));
    assert_eq!(find(&mut backend_on(&disk), "tea"), [1, 0]);
}

#[test]
fn an_update_changes_what_it_names_and_is_found_by_its_new_words() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "green tea");
    let change = UpdateArgs {
        text: Some("strong coffee".to_owned()),
        kind: Some(Kind::Semantic),
        tags: Some(vec!["kitchen".to_owned()]),
        importance: Some(9.0),
        ..update(0)
    };
    assert!(backend.update(&change, &at(1)).unwrap().changed);
    let size = disk.bytes(JOURNAL).len();
    assert!(!backend.update(&change, &at(2)).unwrap().changed);
    assert_eq!(
        disk.bytes(JOURNAL).len(),
        size,
        "nothing new, nothing written"
    );
    for mut backend in [backend, backend_on(&disk)] {
        assert_eq!(find(&mut backend, "tea"), [0; 0]);
        assert_eq!(find(&mut backend, "coffee"), [0]);
        assert_eq!(find(&mut backend, "kitchen"), [0]);
        let memory = backend.get(0).unwrap().unwrap();
        assert_eq!((memory.kind, memory.importance), (Kind::Semantic, 9.0));
        assert_eq!(memory.modified_at, at(1).now());
        let only_tags = UpdateArgs {
            tags: Some(vec!["cellar".to_owned()]),
            ..update(0)
        };
        backend.update(&only_tags, &at(3)).unwrap();
        assert_eq!(find(&mut backend, "cellar"), [0]);
        assert_eq!(find(&mut backend, "coffee"), [0]);
        backend.update(&change, &at(1)).unwrap();
    }
}

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

fn raw(text: &str) -> RawMemory {
    RawMemory {
        text: text.to_owned(),
        ..RawMemory::default()
    }
}

#[test]
fn an_import_adds_and_merges_as_saves_would_and_is_durable_once() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "known");
    let text = |text: &str| Some(text.to_owned());
    let tagged = |text: &str, tag: &str| RawMemory {
        tags: vec![tag.to_owned()],
        ..raw(text)
    };
    let old = RawMemory {
        kind: text("procedural"),
        importance: Some(8.0),
        created_at: text("2020-01-02T03:04:05.678Z"),
        last_accessed: text("2021-01-02T03:04:05Z"),
        session: text("elsewhere"),
        ..raw("old")
    };
    let gone = RawMemory {
        forgotten_at: text("2022-01-02T03:04:05Z"),
        ..raw("gone")
    };
    let batch = [
        old,
        raw(" "),
        tagged("known", "t"),
        gone.clone(),
        tagged("new", "a"),
        tagged("new", "b"),
        tagged("known", "u"),
        RawMemory {
            importance: Some(11.0),
            ..raw("x")
        },
    ];
    let (size, before) = (disk.bytes(JOURNAL).len(), disk.syncs());
    let planned = backend.import(&batch, true, &at(5)).unwrap();
    assert_eq!(disk.bytes(JOURNAL).len(), size, "a dry run stores nothing");
    let report = backend.import(&batch, false, &at(5)).unwrap();
    assert_eq!(report, planned);
    assert_eq!(disk.syncs(), before + 1);
    assert_eq!(report.ids, [1, 0, 2, 3, 3, 0]);
    assert_eq!((report.added, report.merged), (3, 3));
    let refused: Vec<u32> = report.refused.iter().map(|(at, _)| *at).collect();
    assert_eq!(refused, [1, 7]);
    assert!(report.refused[1].1.contains("importance must be"));

    for mut backend in [backend, backend_on(&disk)] {
        let old = backend.get(1).unwrap().unwrap();
        assert_eq!((old.kind, old.importance), (Kind::Procedural, 8.0));
        assert_eq!(old.created_at.to_string(), "2020-01-02T03:04:05.678Z");
        assert_eq!(old.last_accessed.to_string(), "2021-01-02T03:04:05Z");
        assert_eq!(old.session.as_deref(), Some("elsewhere"));
        assert_eq!(backend.get(0).unwrap().unwrap().tags, ["t", "u"]);
        assert_eq!(backend.get(3).unwrap().unwrap().tags, ["a", "b"]);
        assert_eq!(backend.get(3).unwrap().unwrap().created_at, at(5).now());
        assert_eq!(backend.get(2).unwrap(), None, "it came as forgotten");
        let again = backend.import(&batch, false, &at(6)).unwrap();
        assert_eq!(
            (again.added, again.merged),
            (0, 6),
            "an import can be repeated"
        );
        assert_eq!(again.ids, report.ids);
        assert_eq!(backend.restore(2, &at(7)).unwrap().text, "gone");
        backend.forget(2, &at(8)).unwrap();
    }
}

#[test]
fn an_import_that_fails_has_left_nothing() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "known");
    let size = disk.bytes(JOURNAL).len();
    disk.fail(Faults {
        tear_after: Some(300),
        ..Faults::default()
    });
    let batch = ["a", "b", "c"].map(raw);
    let error = backend
        .import(&batch, false, &at(0))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "the memory store can't be written: the disk is full");
    disk.fail(Faults::default());
    assert_eq!(disk.bytes(JOURNAL).len(), size);
    assert_eq!(backend.entries().unwrap().count(), 1);
    assert_eq!(
        backend.import(&batch, false, &at(0)).unwrap().ids,
        [1, 2, 3]
    );
    let too_many = vec![raw("a"); MAX_IMPORT_BATCH + 1];
    let error = backend
        .import(&too_many, true, &at(0))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("at most 1000") && error.contains("got 1001"),
        "{error}"
    );
}

#[test]
fn merged_tags_keep_their_bound_within_a_batch_as_well() {
    let mut backend = backend_on(&FakeDisk::default());
    let with = |from: usize| RawMemory {
        tags: (from..from + MAX_TAGS).map(|tag| tag.to_string()).collect(),
        ..raw("a")
    };
    let report = backend.import(&[with(0), with(1)], false, &at(0)).unwrap();
    assert_eq!(
        (report.added, report.merged, report.refused.len()),
        (1, 0, 1)
    );
    let report = backend.import(&[with(2)], false, &at(0)).unwrap();
    assert!(
        report.refused[0].1.contains("got 18"),
        "{:?}",
        report.refused
    );
}

#[test]
fn an_export_is_complete_and_comes_in_pages() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for number in 0..25 {
        save(&mut backend, &number.to_string());
    }
    backend.forget(3, &at(1)).unwrap();
    let ids = |backend: &mut MemoryBackend, forgotten| {
        let (mut ids, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = backend.export(cursor.as_deref(), 10, forgotten).unwrap();
            assert!(page.memories.len() <= 10);
            ids.extend(page.memories.iter().map(|memory| memory.id));
            pages += 1;
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return (ids, pages),
            }
        }
    };
    assert_eq!(ids(&mut backend, true), ((0..25).collect(), 3));
    let living: Vec<u64> = (0..25).filter(|id| *id != 3).collect();
    assert_eq!(ids(&mut backend, false), (living, 3));
    for (cursor, limit) in [(Some("x"), 1), (Some(""), 1), (None, 0)] {
        let outcome = backend.export(cursor, limit, true);
        assert!(
            matches!(outcome, Err(ChangeError::Invalid(_))),
            "{cursor:?} {limit}"
        );
    }
    let big: Vec<RawMemory> = (0..MAX_EXPORT_PAGE)
        .map(|number| raw(&format!("n{number}")))
        .collect();
    backend.import(&big, false, &at(0)).unwrap();
    let page = backend.export(None, usize::MAX, true).unwrap();
    assert_eq!(page.memories.len(), MAX_EXPORT_PAGE, "a higher wish is cut");
    assert!(page.next_cursor.is_some());
}

#[test]
fn figures_and_a_scan_say_what_is_there() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    let empty = backend.statistics().unwrap();
    assert_eq!(
        (empty.living, empty.forgotten, empty.journal_bytes),
        (0, 0, 0)
    );
    for text in ["a", "b", "c"] {
        save(&mut backend, text);
    }
    let clean = backend.statistics().unwrap();
    assert_eq!(
        (clean.living, clean.dead_bytes, clean.damaged_lines),
        (3, 0, 0)
    );
    backend.forget(0, &at(1)).unwrap();
    disk.put("index.bin", &[0; 77]);
    damage(&disk, "\"text\":\"c\"");
    let mut fresh = backend_on(&disk);
    let figures = fresh.statistics().unwrap();
    assert_eq!((figures.living, figures.forgotten), (1, 1));
    assert_eq!(figures.journal_bytes, disk.bytes(JOURNAL).len() as u64);
    assert!(figures.dead_bytes > 200, "{figures:?}");
    assert_eq!(
        (figures.index_bytes, figures.damaged_lines, figures.format),
        (77, 1, 1)
    );
    let findings = fresh.verify(None, &mut || false).unwrap();
    assert_eq!(findings.found.len(), 2, "the line, and the copy of it");
    assert!(matches!(
        fresh.verify(Some("x"), &mut || false),
        Err(ChangeError::Invalid(_))
    ));
}

#[test]
fn a_purge_names_what_is_not_there_and_purges_nothing_then() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "a");
    let outcome = backend.purge(&[0, 7], &at(0));
    assert!(matches!(outcome, Err(ChangeError::NotFound { id: 7 })));
    assert_eq!(backend.get(0).unwrap().unwrap().text, "a");
    assert_eq!(backend.purge(&[0, 0], &at(0)).unwrap(), 1, "each once");
    assert!(matches!(
        backend.purge(&[0], &at(0)),
        Err(ChangeError::NotFound { id: 0 })
    ));
    assert_eq!(backend.purge(&[], &at(0)).unwrap(), 0);
}

#[test]
fn a_purge_is_not_hindered_by_the_damage_of_others() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    for text in ["a secret of some length", "b", "c"] {
        save(&mut backend, text);
    }
    damage(&disk, "\"text\":\"b\"");
    assert_eq!(backend.purge(&[0], &at(0)).unwrap(), 1);
    let (page, _) = backend.page(None, 9).unwrap();
    let texts: Vec<&str> = page.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, ["c"]);
    for name in disk.names() {
        assert!(!disk.text(&name).contains("secret"), "{name}");
    }
    assert_eq!(save(&mut backend, "d"), 3);
}

#[test]
fn a_disk_that_can_not_be_written_is_said_in_words() {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    save(&mut backend, "a");
    let refuses = |backend: &mut MemoryBackend| {
        let moment: Moment = at(0);
        backend.forget(0, &moment).unwrap_err().to_string()
    };
    disk.fail(Faults {
        read_only: true,
        ..Faults::default()
    });
    assert_eq!(
        refuses(&mut backend),
        "the memory store can't be written: the directory can only be read"
    );
    disk.fail(Faults {
        tear_after: Some(3),
        ..Faults::default()
    });
    assert_eq!(
        refuses(&mut backend),
        "the memory store can't be written: the disk is full"
    );
}
