//! Arguments, URIs, cursors, journals and snapshots, changed at random: what can't be used is refused or passed over, and
//! nothing is served that nobody saved.
//!
//! `FUZZ_SECONDS=600` goes on for longer, `FUZZ_SEED=7` plays the cases of a seed; a failure names both.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::backend::MemoryBackend;
use crate::completion::{Reference, complete};
use crate::prompts;
use crate::resources;
use crate::store::INDEX;
use crate::store::fake::{FakeDisk, at, random_ids};
use crate::store::journal::JOURNAL;
use crate::tools::{TOOLS, dispatch};

/// Seconds of each test, unless somebody wants more.
const SECONDS: u64 = 2;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn number_from(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Tries cases until the time is up.
fn fuzz(what: &str, mut case: impl FnMut(&mut Random)) {
    let seed = number_from("FUZZ_SEED", 1);
    let patience = Duration::from_secs(number_from("FUZZ_SECONDS", SECONDS));
    let (began, mut cases) = (Instant::now(), 0_u64);
    while cases == 0 || began.elapsed() < patience {
        let attempt = catch_unwind(AssertUnwindSafe(|| case(&mut Random(seed << 32 ^ cases))));
        assert!(attempt.is_ok(), "{what}: seed {seed}, case {cases}");
        cases += 1;
    }
    eprintln!("{what}: seed {seed}, {cases} cases");
}

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    MemoryBackend::new(Box::new(disk.clone()), random_ids())
}

fn exported(backend: &mut MemoryBackend) -> Vec<(u64, String)> {
    let page = backend.export(None, usize::MAX, true).unwrap();
    let memory = |memory: crate::backend::Memory| (memory.id, memory.text);
    page.memories.into_iter().map(memory).collect()
}

/// A store with every kind of event in its journal, and a snapshot of most of it.
fn example() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut backend = backend_on(&disk);
    backend.index_from(0);
    for number in 0..8 {
        let text = format!(
            "memory {number} with \"quotes\", é and 漢字\n{}",
            "x".repeat(number * 40)
        );
        let save = json!({"text": text, "tags": [format!("t{number}")], "importance": 7.25});
        dispatch("memory_save", &save, &mut backend, &at(number as i64)).unwrap();
    }
    let again = json!({"text": exported(&mut backend)[2].1, "tags": ["new"]});
    dispatch("memory_save", &again, &mut backend, &at(20)).unwrap();
    dispatch(
        "memory_search",
        &json!({"query": "memory 3"}),
        &mut backend,
        &at(9000),
    )
    .unwrap();
    backend.forget(4, &at(9001)).unwrap();
    backend.forget(5, &at(9002)).unwrap();
    backend.restore(5, &at(9003)).unwrap();
    while !backend.step(at(9004).now(), &mut || false).unwrap() {}
    let save = json!({"text": "after the snapshot"});
    dispatch("memory_save", &save, &mut backend, &at(9005)).unwrap();
    disk
}

/// Damages bytes as disks, editors and attackers do.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(400)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => bytes[at..end].fill(0),
            5 => bytes.insert(at, *random.choose(b"\n\r\0\"{}\xff,")),
            6 => {
                let number = *random.choose(&[0_u64, 1, u64::MAX, 1 << 63, 1 << 32]);
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
            _ => swap_lines(bytes, random),
        }
    }
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(one, other);
    *bytes = lines.join(&b'\n');
}

#[test]
fn damaged_journals_invent_nothing() {
    let disk = example();
    let journal = disk.bytes(JOURNAL);
    let truth: BTreeSet<String> = exported(&mut backend_on(&disk))
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    fuzz("journals", |random| {
        let disk = FakeDisk::default();
        let mut damaged = journal.clone();
        damage(&mut damaged, random);
        disk.put(JOURNAL, &damaged);
        let mut backend = backend_on(&disk);
        // A header of another format is none of ours, and is left alone.
        let Ok(page) = backend.export(None, usize::MAX, true) else {
            assert_eq!(disk.bytes(JOURNAL), damaged);
            return;
        };
        let mut ids = BTreeSet::new();
        for memory in page.memories {
            assert!(truth.contains(&memory.text), "invented: {}", memory.text);
            assert!(ids.insert(memory.id), "m{} twice", memory.id);
        }
        dispatch(
            "memory_search",
            &json!({"query": "memory"}),
            &mut backend,
            &at(1),
        )
        .unwrap();
        let save = json!({"text": "after the damage"});
        let saved = dispatch("memory_save", &save, &mut backend, &at(2)).unwrap();
        assert!(!saved.is_error, "{}", saved.text);
        let after = exported(&mut backend);
        assert_eq!(after.len(), ids.len() + 1, "its id was given out before");
        assert_eq!(exported(&mut backend_on(&disk)), after, "and so it stays");
    });
}

#[test]
fn damaged_snapshots_change_nothing() {
    let disk = example();
    let (journal, snapshot) = (disk.bytes(JOURNAL), disk.bytes(INDEX));
    assert!(!snapshot.is_empty());
    let truth = exported(&mut backend_on(&disk));
    let query = json!({"query": "memory 3", "k": 50});
    let search = |disk: &FakeDisk| {
        let reply = dispatch("memory_search", &query, &mut backend_on(disk), &at(9006));
        reply.unwrap().structured
    };
    let found = search(&disk);
    fuzz("snapshots", |random| {
        let disk = FakeDisk::default();
        let mut damaged = snapshot.clone();
        damage(&mut damaged, random);
        disk.put(JOURNAL, &journal);
        disk.put(INDEX, &damaged);
        assert_eq!(exported(&mut backend_on(&disk)), truth);
        assert_eq!(search(&disk), found);
    });
}

/// Values that go where others are expected.
fn hostile(random: &mut Random) -> Value {
    match random.below(14) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(1.5e308),
        4 => json!(0.1),
        5 => json!(""),
        6 => json!("x".repeat(random.below(9000))),
        7 => json!("\u{0}\u{1b}[31m\u{202e}\u{feff}"),
        8 => json!([]),
        9 => json!([[], {}, null, 7, "tag", "tag"]),
        10 => json!({"text": {}}),
        11 => json!("9999-12-31T23:59:60Z"),
        12 => json!("m0"),
        _ => json!(true),
    }
}

#[test]
fn hostile_arguments_are_refused_or_taken_and_break_nothing() {
    const NAMES: [&str; 12] = [
        "text",
        "query",
        "k",
        "kind",
        "tags",
        "importance",
        "since",
        "until",
        "min_importance",
        "id",
        "limit",
        "\u{0}",
    ];
    let disk = example();
    let mut backend = backend_on(&disk);
    fuzz("arguments", |random| {
        let mut arguments = json!({"text": "a text", "query": "memory"});
        for _ in 0..random.below(4) {
            let name = *random.choose(&NAMES);
            arguments[name] = hostile(random);
        }
        if random.below(3) == 0 {
            let name = *random.choose(&["text", "query"]);
            arguments.as_object_mut().unwrap().remove(name);
        }
        if random.below(20) == 0 {
            arguments = hostile(random);
        }
        let tool = random.choose(TOOLS).name;
        let reply = dispatch(
            tool,
            &arguments,
            &mut backend,
            &at(random.below(100_000) as i64),
        );
        let reply =
            reply.unwrap_or_else(|_| panic!("{tool} {arguments} is no error of the protocol"));
        assert!(!reply.text.is_empty());
        assert_eq!(
            reply.structured.is_none(),
            reply.is_error,
            "{tool} {arguments}"
        );
        if reply.is_error {
            assert!(
                reply.text.len() < 1000,
                "{} bytes about {tool}",
                reply.text.len()
            );
        }
    });
}

#[test]
fn hostile_uris_names_and_cursors_lead_nowhere() {
    const PIECES: [&str; 21] = [
        "1.",
        "memory://",
        "entries/",
        "search/",
        "m0",
        "m3",
        "%2e",
        "%",
        "%ff",
        "%00",
        "/",
        "..",
        "?",
        "#",
        "é",
        "\u{202e}",
        "m18446744073709551616",
        "file:///",
        "M0",
        "00",
        "\n",
    ];
    let disk = example();
    let mut backend = backend_on(&disk);
    let known: BTreeSet<String> = exported(&mut backend)
        .into_iter()
        .map(|(id, _)| format!("memory://entries/m{id}"))
        .collect();
    fuzz("uris", |random| {
        let mut text = String::new();
        for _ in 0..random.below(7) {
            text.push_str(PIECES[random.below(PIECES.len())]);
        }
        let text = text.as_str();
        if resources::read(text, &mut backend, &at(1)).is_ok() {
            let is_search = text.starts_with("memory://search/");
            assert!(known.contains(text) || is_search, "{text:?} was served");
        }
        let page = resources::list(&mut backend, Some(text));
        assert!(
            page.is_err() || text.starts_with("1.m"),
            "{text:?} is no cursor"
        );
        let _ = prompts::get(
            text,
            &[(text.to_owned(), text.to_owned())],
            &mut backend,
            &at(1),
        );
        for reference in [
            Reference::Prompt(text.to_owned()),
            Reference::Resource(text.to_owned()),
        ] {
            assert!(complete(&reference, text, text, &mut backend).is_err());
        }
        let _ = backend.export(Some(text), 10, true);
        let _ = backend.verify(Some(text), &mut || false);
    });
}
