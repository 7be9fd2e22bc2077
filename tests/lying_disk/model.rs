//! Two processes on one store, beside a plain map: whatever they did, all that can be asked is answered as the map says.
//!
//! `TORTURE_SEED` and `TORTURE_ROUNDS` as for the crashes; `MODEL_STEPS=5000` for longer histories.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::workload::{Came, Workload};
use super::{Known, State, fast_directory, seeds, state_of, worn_store};
use crate::harness::{Process, number_from};

/// Everything is asked for after each so many steps; what a process has of the other one's changes, after each.
const STEPS_BETWEEN_LOOKS: u64 = 10;

/// The most that one call lists.
const MAX_LISTED: usize = 50;

#[test]
fn two_processes_answer_as_a_plain_map_would() {
    let steps = number_from("MODEL_STEPS", 300);
    for seed in seeds() {
        for is_worn in [false, true] {
            let directory = fast_directory();
            let state = if is_worn {
                worn_store(directory.path())
            } else {
                State::new()
            };
            let mut workload = Workload::new(seed, directory.path(), state);
            for number in 0..steps {
                let (what, after, _, came) = workload.step();
                let case = format!("seed {seed}, worn {is_worn}, step {number}: {what}");
                if let Came::Refused(refusal) = came {
                    panic!("{case}: {refusal}");
                }
                workload.state = after;
                let reader = &mut workload.processes[(number % 2) as usize];
                let found = state_of(reader.export().unwrap(), &case);
                assert_eq!(found, workload.state, "{case}");
                if number % STEPS_BETWEEN_LOOKS == 0 {
                    look(reader, &workload.state, &case);
                }
            }
            let case = format!("seed {seed}, worn {is_worn}, at the end");
            let mut process = Process::start(&workload.disk);
            look(&mut process, &workload.state, &case);
            assert_eq!(process.verify().len(), 0, "{case}");
        }
    }
    eprintln!("{steps} steps of each history");
}

/// Asks for everything that there is to be asked for.
fn look(process: &mut Process, state: &State, case: &str) {
    let living: BTreeSet<&str> = state
        .iter()
        .filter(|(_, known)| !known.is_forgotten)
        .map(|(id, _)| id.as_str())
        .collect();
    for (id, known) in state {
        let case = format!("{case}, then {id}");
        match process.call("memory_get", &json!({"id": id})) {
            Ok(got) => assert_is(&got, known, &case),
            Err(refusal) => assert!(known.is_forgotten, "{case}: {refusal}"),
        }
    }
    let recent = ids_in(
        process.call("memory_recent", &json!({"k": MAX_LISTED})),
        case,
    );
    assert_eq!(recent.len(), living.len().min(MAX_LISTED), "{case}");
    assert!(
        recent.iter().all(|id| living.contains(id.as_str())),
        "{case}"
    );
    for (id, known) in state {
        // A word that stands in this text alone; the worn store's texts have none.
        let Some(word) = known.text.split(' ').find(|word| word.starts_with("word")) else {
            continue;
        };
        let answer = process.call("memory_search", &json!({"query": word}));
        let found = ids_in(answer, case);
        let is_found = found.contains(id);
        assert_eq!(is_found, !known.is_forgotten, "{case}: {word} of {id}");
        assert!(
            found.iter().all(|id| living.contains(id.as_str())),
            "{case}: {word}"
        );
    }
}

fn assert_is(got: &Value, known: &Known, case: &str) {
    assert!(
        !known.is_forgotten,
        "{case} is shown, though it is forgotten"
    );
    assert_eq!(got["text"], known.text.as_str(), "{case}");
    assert_eq!(got["kind"], known.kind.as_str(), "{case}");
    assert_eq!(got["tags"], json!(known.tags), "{case}");
    assert_eq!(got["importance"], json!(known.importance), "{case}");
}

/// The ids in a list of memories, each of which is there once.
fn ids_in(listed: Result<Value, String>, case: &str) -> BTreeSet<String> {
    let listed = listed.unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
    let memories = listed["memories"].as_array().unwrap();
    let ids = memories.iter().map(|memory| memory["id"].as_str().unwrap());
    let set: BTreeSet<String> = ids.map(str::to_owned).collect();
    assert_eq!(set.len(), memories.len(), "{case}: {listed}");
    set
}
