//! A set of memories and questions of our own (`tests-data`), through the backend: what people ask, in their own words and
//! scripts, misspelt and about things that were never said. Nothing is tuned on it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::testing::backend_on;
use super::*;
use crate::config::Kind;
use crate::request::Moment;
use crate::security::{SaveArgs, SearchArgs};
use crate::store::fake::FakeDisk;

#[derive(Deserialize)]
struct Told {
    at: String,
    session: String,
    text: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Asked {
    category: String,
    question: String,
    /// Numbers of the memories, in the order of the file; none: nothing must be found.
    answers: Vec<u64>,
}

fn lines<T: for<'a> Deserialize<'a>>(file: &str) -> Vec<T> {
    let lines = file.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn told() -> MemoryBackend {
    let mut backend = backend_on(&FakeDisk::default());
    for told in lines::<Told>(include_str!("../../tests-data/memories.jsonl")) {
        let args = SaveArgs {
            text: told.text,
            kind: told.kind,
            importance: None,
            tags: told.tags,
        };
        backend
            .save(&args, &Moment::new(told.at.parse().unwrap(), &told.session))
            .unwrap();
    }
    backend
}

/// For each category: how many questions, how many were answered in full among the first five, and the questions that
/// were not.
fn ask() -> BTreeMap<String, (usize, f64, Vec<String>)> {
    let moment = Moment::new("2026-04-20T12:00:00Z".parse().unwrap(), "questions");
    let mut categories: BTreeMap<String, (usize, f64, Vec<String>)> = BTreeMap::new();
    for asked in lines::<Asked>(include_str!("../../tests-data/questions.jsonl")) {
        // Each question meets the memories as they were told, not as the last one touched them.
        let mut backend = told();
        let search = SearchArgs::for_query(asked.question.clone());
        let found: Vec<u64> = backend
            .search(&search, &moment)
            .unwrap()
            .memories
            .iter()
            .map(|memory| memory.id)
            .collect();
        let hits = asked.answers.iter().filter(|id| found.contains(id)).count();
        let score = match asked.answers.len() {
            0 => f64::from(u8::from(found.is_empty())),
            all => hits as f64 / all as f64,
        };
        let category = categories.entry(asked.category).or_default();
        category.0 += 1;
        category.1 += score;
        if score < 1.0 {
            category.2.push(format!("{} -> {found:?}", asked.question));
        }
    }
    categories
}

/// The least part of the questions of each category that must be answered among the first five. A paraphrase that shares no
/// word with its memory is found if it stands out by its meaning; not all do.
const FLOORS: &[(&str, f64)] = &[
    ("accents", 1.0),
    ("chinese", 1.0),
    ("german", 1.0),
    ("identifiers", 1.0),
    ("inflection", 0.8),
    ("japanese", 1.0),
    ("korean", 1.0),
    ("nothing", 0.8),
    ("numbers", 0.8),
    ("paraphrase", 0.8),
    ("time", 0.8),
    ("typo", 0.8),
];

/// The same of all questions together, those that must find nothing included.
const FLOOR: f64 = 0.9;

#[test]
fn what_people_ask_is_found_and_what_nobody_said_is_not() {
    let categories = ask();
    let names: Vec<&str> = categories.keys().map(String::as_str).collect();
    let expected: Vec<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected);
    let total: usize = categories.values().map(|(count, ..)| count).sum();
    let part: f64 = categories.values().map(|(_, score, _)| score).sum::<f64>() / total as f64;
    let all: Vec<String> = categories
        .iter()
        .map(|(name, (count, score, missed))| format!("{name}: {score} of {count}; {missed:#?}"))
        .collect();
    let all = all.join("\n");
    assert!(total >= 60 && part >= FLOOR, "{part:.3} of {total}\n{all}");
    for (name, floor) in FLOORS {
        let (count, score, _) = &categories[*name];
        assert!(score / *count as f64 >= *floor, "{name}\n{all}");
    }
}
