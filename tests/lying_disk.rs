//! A disk that lies, beneath the memory as it ships: the machine stops at every change of the disk, and what was not made
//! durable is there, is not, is there in part, or in another order; or a change fails. Then the store is opened again.
//!
//! **Invariant:** every acknowledged change is there to the last bit, the one under way happened or did not, no id is
//! given out twice, nothing is there that nobody saved, and what is damaged is said.
//!
//! `TORTURE_SEED=7` plays the workload of a seed, `TORTURE_ROUNDS=50` that many seeds from it on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

mod model;
mod workload;

use self::workload::{Came, Workload};
use crate::harness::{
    Crash, Disk, Entry, Failing, Finding, Image, JOURNAL, Process, Random, number_from, tag,
    text_of, write_worn_journal,
};

/// What is known of a memory. Bookkeeping (when it was last shown) is not promised to anybody.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    text: String,
    kind: String,
    tags: Vec<String>,
    importance: f64,
    is_forgotten: bool,
}

/// All memories by id, the forgotten ones as well.
type State = BTreeMap<String, Known>;

/// A part of a workload, between two acknowledgements.
struct Step {
    what: String,
    /// How many changes of the disk came before its end.
    end: usize,
    after: State,
    /// It adds several memories, and a crash may leave some of them.
    is_batch: bool,
    /// Ids that were given out so far.
    given: BTreeSet<String>,
    /// Texts that must be in no file any more.
    purged: Vec<String>,
}

/// A directory that no disk is slow for.
fn fast_directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn state_of(entries: Vec<Entry>, case: &str) -> State {
    let mut state = State::new();
    for entry in entries {
        let known = Known {
            text: entry.text,
            kind: entry.kind,
            tags: entry.tags,
            importance: entry.importance,
            is_forgotten: entry.forgotten_at.is_some(),
        };
        assert_eq!(
            state.insert(entry.id.clone(), known),
            None,
            "{case}: {} twice",
            entry.id
        );
    }
    state
}

/// Opens what a crash has left, and looks whether all is well.
fn check(image: &Image, before: &State, step: &Step, durable: usize, case: &str) {
    let directory = fast_directory();
    image.write_to(directory.path());
    let disk = Disk::new(directory.path());
    let mut process = Process::start(&disk);
    let found = state_of(process.export().unwrap(), case);
    assert_is_possible(&found, before, step, case);
    for Finding {
        file,
        offset,
        problem,
    } in process.verify()
    {
        // What was durable can't be damaged; what is said of the rest says where it was.
        assert!(
            file != JOURNAL || offset >= durable as u64,
            "{case}: {problem} at {offset}, though {durable} bytes were durable"
        );
    }
    let mut state = found.clone();
    for text in ["after the crash", "and again"] {
        let saved = process.call("memory_save", &json!({"text": text, "kind": "semantic"}));
        let saved = saved.unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
        let id = saved["id"].as_str().unwrap().to_owned();
        let was_given = step.given.contains(&id) && !is_under_way(&id, before, step);
        assert!(
            !was_given && !state.contains_key(&id),
            "{case}: {id} was given out before"
        );
        state.insert(
            id,
            Known {
                text: text.to_owned(),
                kind: "semantic".to_owned(),
                tags: Vec::new(),
                importance: 5.0,
                is_forgotten: false,
            },
        );
        process = Process::start(&disk);
        assert_eq!(state_of(process.export().unwrap(), case), state, "{case}");
    }
    for text in &step.purged {
        for (name, bytes) in Image::of(directory.path()).files() {
            let text = text.lines().next().unwrap().as_bytes();
            let is_there = bytes.windows(text.len()).any(|window| window == text);
            assert!(!is_there, "{case}: a purged text is in {name}");
        }
    }
}

/// Whether an id is one that the step under way was about to give out: nobody had been told.
fn is_under_way(id: &str, before: &State, step: &Step) -> bool {
    step.after.contains_key(id) && !before.contains_key(id)
}

/// Everything before the step, and the step as a whole or not at all; of a batch any part.
fn assert_is_possible(found: &State, before: &State, step: &Step, case: &str) {
    if step.is_batch {
        for (id, known) in before {
            assert_eq!(found.get(id), Some(known), "{case}: {id}");
        }
        for (id, known) in found {
            let possible = step.after.get(id) == Some(known);
            assert!(
                possible,
                "{case}: {id} is there, which nobody saved: {known:?}"
            );
        }
    } else {
        let is_whole = found == before || found == &step.after;
        assert!(
            is_whole,
            "{case}: {found:#?}\nis neither {before:#?}\nnor {:#?}",
            step.after
        );
    }
}

/// Bytes of the journal that are durable when the last of `ops` is under way.
fn durable_journal(disk: &Disk, length: usize) -> usize {
    let ops = disk.ops();
    let image = disk
        .before
        .after(&ops[..length], Crash::Nothing, &mut Random::new(0));
    image
        .files()
        .get(JOURNAL)
        .map_or(0, |journal| journal.len())
}

/// Plays a workload, then stops the machine at each of its changes. Returns how many crashes that were.
fn crash_everywhere(seed: u64, steps: usize, directory: &Path, state: State) -> usize {
    let mut workload = Workload::new(seed, directory, state.clone());
    let mut played = Vec::new();
    for _ in 0..steps {
        let (what, after, is_batch, came) = workload.step();
        if let Came::Refused(refusal) = came {
            panic!("seed {seed}, {what}: {refusal}");
        }
        workload.state = after.clone();
        played.push(Step {
            what,
            end: workload.disk.count(),
            after,
            is_batch,
            given: workload.given.clone(),
            purged: workload.purged.clone(),
        });
    }
    workload.disk.assert_is_recorded();
    let ops = workload.disk.ops();
    let mut crashes = 0;
    for length in 1..=ops.len() {
        // The step that the last of these changes belongs to, and what was acknowledged before it.
        let number = played.iter().position(|step| step.end >= length).unwrap();
        let step = &played[number];
        let before = number
            .checked_sub(1)
            .map_or(&state, |number| &played[number].after);
        let purged_before = number
            .checked_sub(1)
            .map_or(&[][..], |number| &played[number].purged);
        let under_way = Step {
            what: step.what.clone(),
            after: step.after.clone(),
            given: step.given.clone(),
            // What was under way may not have happened.
            purged: purged_before.to_vec(),
            ..*step
        };
        let durable = durable_journal(&workload.disk, length);
        for (variant, crash) in [
            Crash::Process,
            Crash::Nothing,
            Crash::Anything,
            Crash::Anything,
        ]
        .into_iter()
        .enumerate()
        {
            let mut random = Random::new(seed << 32 ^ (length * 8 + variant) as u64);
            let image = workload
                .disk
                .before
                .after(&ops[..length], crash, &mut random);
            let case = format!(
                "seed {seed}, change {length} of {}, {crash:?} ({variant}), in `{}` ({:?})",
                ops.len(),
                step.what,
                ops[length - 1].brief()
            );
            check(&image, before, &under_way, durable, &case);
            crashes += 1;
        }
    }
    crashes
}

fn seeds() -> impl Iterator<Item = u64> {
    let first = number_from("TORTURE_SEED", 1);
    first..first + number_from("TORTURE_ROUNDS", 2)
}

#[test]
fn a_crash_at_any_change_of_the_disk_loses_nothing_that_was_acknowledged() {
    let mut crashes = 0;
    for seed in seeds() {
        let directory = fast_directory();
        crashes += crash_everywhere(seed, 25, directory.path(), State::new());
    }
    eprintln!("{crashes} crashes");
}

/// A journal that is worth a rewrite and a snapshot, so that both are among what is interrupted.
#[test]
fn a_crash_at_any_change_of_a_rewrite_loses_nothing() {
    let mut crashes = 0;
    for seed in seeds() {
        let directory = fast_directory();
        let state = worn_store(directory.path());
        crashes += crash_everywhere(seed, 8, directory.path(), state);
    }
    eprintln!("{crashes} crashes");
}

/// A hundred memories whose journal is mostly dead.
fn worn_store(directory: &Path) -> State {
    const MEMORIES: usize = 100;
    const TAGS: usize = 8;
    write_worn_journal(directory, MEMORIES, TAGS);
    let known = |number| Known {
        text: text_of(number),
        kind: "semantic".to_owned(),
        tags: (0..TAGS).map(tag).collect(),
        importance: 5.0,
        is_forgotten: false,
    };
    let state = (0..MEMORIES).map(|number| (format!("m{number}"), known(number)));
    state.collect()
}

/// Each change of a workload fails once, or from then on; what was acknowledged before and after is there.
#[test]
fn a_disk_that_fails_at_any_change_loses_nothing_that_was_acknowledged() {
    let mut failures = 0;
    for seed in seeds() {
        for how in [Failing::Io, Failing::Full] {
            for for_ever in [false, true] {
                let mut at = 0;
                while fail_at(seed, at, how, for_ever) {
                    at += 1;
                    failures += 1;
                }
            }
        }
    }
    eprintln!("{failures} failures");
    assert!(failures > 0);
}

/// False: the workload has no such change.
fn fail_at(seed: u64, at: usize, how: Failing, for_ever: bool) -> bool {
    const STEPS: usize = 8;
    let directory = fast_directory();
    let mut workload = Workload::new(seed, directory.path(), State::new());
    workload.disk.fail(at, how, for_ever);
    let mut has_failed = false;
    for number in 0..STEPS {
        let (what, after, is_batch, came) = workload.step();
        let case = format!(
            "seed {seed}, {how:?} at change {at}, for ever {for_ever}, step {number}: {what}"
        );
        match came {
            Came::Acknowledged => workload.state = after,
            Came::Refused(refusal) => {
                assert!(!refusal.is_empty(), "{case}");
                has_failed |= workload.disk.mend();
                assert!(has_failed, "{case} was refused for no reason: {refusal}");
                // It may have happened or not; somebody who starts again finds out.
                workload.processes = vec![
                    Process::start(&workload.disk),
                    Process::start(&workload.disk),
                ];
                let found = state_of(workload.processes[0].export().unwrap(), &case);
                let step = Step {
                    what,
                    end: 0,
                    // Of a batch that was refused any part may be there, and nobody knows its ids.
                    after: if is_batch { found.clone() } else { after },
                    is_batch,
                    given: BTreeSet::new(),
                    purged: Vec::new(),
                };
                assert_is_possible(&found, &workload.state, &step, &case);
                if refusal.contains("nothing was stored") {
                    assert_eq!(found, workload.state, "{case}: {refusal}");
                }
                workload.given.extend(found.keys().cloned());
                workload.state = found;
            }
        }
    }
    has_failed |= workload.disk.mend();
    let case = format!("seed {seed}, {how:?} at change {at}, for ever {for_ever}, at the end");
    let mut process = Process::start(&workload.disk);
    assert_eq!(
        state_of(process.export().unwrap(), &case),
        workload.state,
        "{case}"
    );
    let saved = process.call("memory_save", &json!({"text": "at the end"}));
    let id = saved.unwrap_or_else(|refusal| panic!("{case}: {refusal}"))["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        !workload.given.contains(&id),
        "{case}: {id} was given out before"
    );
    workload.disk.assert_is_recorded();
    has_failed
}
