//! Seeded histories of two processes on a disk that stops, lies and fails at every point.
//!
//! A history is made anew for each operation of the disk that it takes, and that one goes wrong. Then a fresh process opens
//! what is left, and must find what was acknowledged, bit for bit, and of what was under way all or nothing.
//!
//! `TORTURE_SEEDS=200` runs so many seeds instead of [`SEEDS`]; `TORTURE_SEED=7` runs that one. How many points there were is
//! printed; a failure names its seed.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use fake::{Chance, Crash, FakeDisk, at, random_ids};
use journal::JOURNAL;
use set_aside::SET_ASIDE;

use crate::backend::{ChangeError, MemoryBackend, SaveError};
use crate::security::{SaveArgs, SearchArgs, UpdateArgs};

/// Seeds of a run that says nothing else: some seconds of work.
const SEEDS: u64 = 4;

/// Seeds beyond those that found something: damage that a snapshot covers, a purge that could not be made durable.
const TELLING: [u64; 2] = [5, 12];

/// Steps of a history. The work grows with their square.
const STEPS: usize = 32;

/// Crashes that are tried at one point: one of each kind, and another one that tears.
const TEARS: u64 = 2;

/// Linux's numbers of an input/output error and of a full disk.
const ERRORS: [i32; 2] = [5, 28];

/// A memory, exactly; `forgotten`: it can be restored.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    text: String,
    tags: Vec<String>,
    importance: f64,
    forgotten: bool,
}

type View = BTreeMap<u64, Known>;

fn backend_on(disk: &FakeDisk) -> MemoryBackend {
    let mut backend = MemoryBackend::new(Box::new(disk.clone()), random_ids());
    backend.compact_from(2048);
    backend.index_from(1024);
    backend
}

fn view(backend: &mut MemoryBackend) -> View {
    let page = backend.export(None, usize::MAX, true).unwrap();
    let known = |memory: crate::backend::Memory| {
        let known = Known {
            text: memory.text,
            tags: memory.tags,
            importance: memory.importance,
            forgotten: memory.forgotten_at.is_some(),
        };
        (memory.id, known)
    };
    page.memories.into_iter().map(known).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Save(String, Vec<String>),
    Update(u64, Option<String>, f64),
    Touch,
    Forget(u64),
    Restore(u64),
    Purge(u64),
    Maintain,
    Reopen,
}

/// What a seed makes of it: which process does what, when.
fn history(seed: u64) -> Vec<(usize, Step)> {
    let mut chance = Chance(seed);
    let mut steps = vec![(0, Step::Save("the first".to_owned(), Vec::new()))];
    while steps.len() < STEPS {
        let id = chance.below(6) as u64;
        let text = format!(
            "{} {}",
            steps.len(),
            "tea\n\u{1}é ".repeat(1 + chance.below(40))
        );
        let step = match chance.below(16) {
            0..=4 => Step::Save(text, vec![format!("tag{}", chance.below(3))]),
            5..=7 => Step::Update(
                id,
                Some(text).filter(|_| id.is_multiple_of(2)),
                1.0 + (steps.len() % 9) as f64,
            ),
            8 => Step::Touch,
            9 | 10 => Step::Forget(id),
            11 => Step::Restore(id),
            12 => Step::Purge(id),
            13 | 14 => Step::Maintain,
            _ => Step::Reopen,
        };
        steps.push((chance.below(2), step));
    }
    steps
}

/// How a step ended.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// It was acknowledged; the id of a new memory.
    Done(Option<u64>),
    /// It makes no sense here, and changed nothing.
    Senseless,
    /// It failed; whether it may have happened all the same.
    Failed { in_doubt: bool },
}

fn failed(error: &StoreError) -> Outcome {
    Outcome::Failed {
        in_doubt: matches!(error, StoreError::InDoubt(_)),
    }
}

fn changed<T>(outcome: Result<T, ChangeError>) -> Outcome {
    match outcome {
        Ok(_) => Outcome::Done(None),
        Err(ChangeError::Store(error)) => failed(&error),
        Err(_) => Outcome::Senseless,
    }
}

fn take(backend: &mut MemoryBackend, step: &Step, seconds: i64) -> Outcome {
    let now = at(seconds * 4000);
    match step {
        Step::Save(text, tags) => {
            let args = SaveArgs {
                text: text.clone(),
                kind: Kind::Episodic,
                importance: None,
                tags: tags.clone(),
            };
            match backend.save(&args, &now) {
                Ok(saved) => Outcome::Done(Some(saved.id)),
                Err(SaveError::Store(error)) => failed(&error),
                Err(error) => panic!("{error}"),
            }
        }
        Step::Update(id, text, importance) => changed(backend.update(
            &UpdateArgs {
                id: *id,
                text: text.clone(),
                importance: Some(*importance),
                ..UpdateArgs::default()
            },
            &now,
        )),
        Step::Touch => {
            let search = SearchArgs::for_query("tea".to_owned());
            match backend.search(&search, &now) {
                Ok(_) => Outcome::Done(None),
                Err(_) => Outcome::Failed { in_doubt: false },
            }
        }
        Step::Forget(id) => changed(backend.forget(*id, &now)),
        Step::Restore(id) => changed(backend.restore(*id, &now)),
        Step::Purge(id) => changed(backend.purge(&[*id], &now)),
        Step::Maintain => match backend.step(now.now(), &mut || true) {
            Ok(_) => Outcome::Done(None),
            Err(error) => failed(&error),
        },
        Step::Reopen => Outcome::Done(None),
    }
}

impl Step {
    /// Whether what is on the disk stays there once this was acknowledged.
    fn is_durable(&self) -> bool {
        !matches!(self, Self::Touch | Self::Maintain | Self::Reopen)
    }
}

/// What a step that is done makes of what there was.
fn after(before: &View, step: &Step, new: Option<u64>) -> View {
    let mut view = before.clone();
    match step {
        Step::Save(text, tags) => {
            if let Some(id) = new {
                view.insert(
                    id,
                    Known {
                        text: text.clone(),
                        tags: tags.clone(),
                        importance: 5.0,
                        forgotten: false,
                    },
                );
            }
        }
        Step::Update(id, text, importance) => {
            if let Some(known) = view.get_mut(id) {
                known.text = text.clone().unwrap_or(known.text.clone());
                known.importance = *importance;
            }
        }
        Step::Forget(id) | Step::Restore(id) => {
            if let Some(known) = view.get_mut(id) {
                known.forgotten = matches!(step, Step::Forget(_));
            }
        }
        Step::Purge(id) => drop(view.remove(id)),
        Step::Touch | Step::Maintain | Step::Reopen => {}
    }
    view
}

/// What must be there: this, or, if a step was under way, what it makes of it.
struct Expected {
    known: View,
    under_way: Option<Step>,
    /// What a step that may or may not have happened left to see, as long as nothing later made the disk keep it.
    in_doubt: Option<View>,
    /// All ids that were told to anybody.
    given: BTreeSet<u64>,
}

impl Expected {
    fn admits(&self, found: &View) -> bool {
        if self.in_doubt.as_ref() == Some(found) {
            return true;
        }
        let Some(step) = &self.under_way else {
            return *found == self.known;
        };
        let new = found.keys().find(|id| !self.known.contains_key(id));
        let is_fresh = new.is_none_or(|id| !self.given.contains(id));
        is_fresh && (*found == self.known || *found == after(&self.known, step, new.copied()))
    }
}

/// Plays a history until the disk stops, or to its end; `each` sees how every step ended.
fn play(
    disk: &FakeDisk,
    steps: &[(usize, Step)],
    each: &mut dyn FnMut(&Expected, &Step, &Outcome),
) -> Expected {
    let mut backends = [backend_on(disk), backend_on(disk)];
    let mut expected = Expected {
        known: View::new(),
        under_way: None,
        in_doubt: None,
        given: BTreeSet::new(),
    };
    for (seconds, (who, step)) in steps.iter().enumerate() {
        let outcome = take(&mut backends[*who], step, seconds as i64);
        if disk.is_down() && !matches!(outcome, Outcome::Done(_)) {
            expected.under_way = Some(step.clone());
            return expected;
        }
        match &outcome {
            Outcome::Done(new) => {
                if step.is_durable() {
                    expected.in_doubt = None;
                }
                expected.known = after(&expected.known, step, *new);
                expected.given.extend(new);
            }
            Outcome::Senseless => {}
            Outcome::Failed { .. } => each(&expected, step, &outcome),
        }
        if disk.is_down() {
            return expected;
        }
        if matches!(step, Step::Reopen) || matches!(outcome, Outcome::Failed { .. }) {
            // A process that failed may write nothing any more; its person starts it again.
            backends[*who] = backend_on(disk);
            if let Outcome::Failed { in_doubt } = outcome {
                let found = view(&mut backend_on(disk));
                expected.under_way = Some(step.clone()).filter(|_| in_doubt);
                assert!(
                    expected.admits(&found),
                    "{step:?} gave {outcome:?} and left {found:?} of {:?}",
                    expected.known
                );
                if in_doubt {
                    expected.in_doubt = Some(std::mem::replace(&mut expected.known, found));
                }
                expected.under_way = None;
            }
        }
    }
    expected
}

/// Opens what a crash has left. `synced`: so many bytes of the journal were durable.
fn check(disk: &FakeDisk, expected: &Expected, synced: usize) {
    let mut backend = backend_on(disk);
    let found = view(&mut backend);
    assert!(
        expected.admits(&found),
        "found {found:?}\nwhere there was {:?}\nand {:?} was under way",
        expected.known,
        expected.under_way
    );
    let damage = |backend: &mut MemoryBackend| {
        let mut found = backend.verify(None, &mut || false).unwrap().found;
        found.retain(|finding| finding.file == JOURNAL);
        found
    };
    for finding in damage(&mut backend) {
        assert!(
            finding.offset >= synced as u64,
            "{finding:?} was durable: {synced} bytes"
        );
    }
    let mut given = expected.given.clone();
    given.extend(found.keys());
    for text in ["new", "newer"] {
        let args = SaveArgs {
            text: text.to_owned(),
            kind: Kind::Episodic,
            importance: None,
            tags: vec![],
        };
        let id = backend.save(&args, &at(999_999)).unwrap().id;
        assert!(given.insert(id), "m{id} was given out twice");
        backend = backend_on(disk);
    }
    // What was torn is set aside by now, and nothing is wrong with the journal but what lies between whole lines. Lines
    // that a snapshot covers are not met.
    let names = disk.names();
    if !names.iter().any(|name| name == SET_ASIDE || name == INDEX) {
        assert_eq!(damage(&mut backend), []);
    }
    let mut later = view(&mut backend);
    later.retain(|id, _| found.contains_key(id));
    assert_eq!(later, found, "what was mended is still there");
}

fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        let value = std::env::var(name).ok()?;
        Some(
            value
                .parse()
                .unwrap_or_else(|_| panic!("{name} must be a number, got {value:?}")),
        )
    };
    match (number("TORTURE_SEED"), number("TORTURE_SEEDS")) {
        (Some(seed), _) => vec![seed],
        (None, Some(count)) => (0..count).collect(),
        (None, None) => (0..SEEDS).chain(TELLING).collect(),
    }
}

/// Names the case when a check fails in it.
struct Case<'a>(&'a str, u64, usize);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(what, seed, point) = self;
            eprintln!("{what} {point} of seed {seed}; to replay it set TORTURE_SEED={seed}");
        }
    }
}

/// A torture that meets no rewrite and no snapshot would prove little.
#[test]
fn the_histories_rewrite_the_journal_and_write_snapshots() {
    let (mut rewritten, mut indexed) = (0, 0);
    for seed in 0..SEEDS {
        let disk = FakeDisk::default();
        let expected = play(&disk, &history(seed), &mut |_, step, outcome| {
            panic!("{step:?} gave {outcome:?}")
        });
        assert!(!expected.known.is_empty(), "seed {seed}");
        let header = disk.text(JOURNAL).lines().next().unwrap().to_owned();
        rewritten += u64::from(header.contains("\"revision\":"));
        indexed += u64::from(disk.names().iter().any(|name| name == INDEX));
    }
    assert!(
        rewritten > SEEDS / 2 && indexed > 0,
        "{rewritten}, {indexed}"
    );
}

#[test]
fn a_machine_that_stops_at_any_operation_loses_nothing_that_was_acknowledged() {
    let (mut points, mut crashes) = (0, 0);
    for seed in seeds() {
        let steps = history(seed);
        for point in 1.. {
            let _case = Case("crash at operation", seed, point);
            let disk = FakeDisk::default();
            disk.crash_after(point);
            let expected = play(&disk, &steps, &mut |_, _, _| {});
            if !disk.is_down() {
                break;
            }
            points += 1;
            let torn = (0..TEARS).map(|tear| Crash::Torn(seed ^ (point as u64) << 8 ^ tear));
            for crash in [Crash::Process, Crash::Power].into_iter().chain(torn) {
                crashes += 1;
                check(&disk.after(crash), &expected, disk.durable_bytes(JOURNAL));
            }
        }
    }
    eprintln!("{points} crash points, {crashes} crashes");
}

#[test]
fn an_operation_that_fails_at_any_point_fails_one_change_and_loses_none() {
    let (mut failures, mut refused) = (0, 0);
    for seed in seeds() {
        let steps = history(seed);
        for error in ERRORS {
            for point in 0.. {
                let _case = Case("failure of operation", seed, point);
                let disk = FakeDisk::default();
                disk.fail_after(point, error);
                let expected = play(&disk, &steps, &mut |_, _, _| refused += 1);
                if disk.is_to_fail() {
                    break;
                }
                failures += 1;
                assert_eq!(view(&mut backend_on(&disk)), expected.known);
                // And then the power fails as well.
                check(
                    &disk.after(Crash::Power),
                    &expected,
                    disk.durable_bytes(JOURNAL),
                );
            }
        }
    }
    eprintln!("{failures} failing operations, {refused} changes refused");
}
