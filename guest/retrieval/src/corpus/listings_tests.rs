//! The synthetic corpus is always the same, and its queries have the answers that they are said to have.

use super::*;
use crate::fields::{FieldType, FieldValue};
use crate::filter::Filter;

fn corpus() -> Corpus {
    generate(SEED).unwrap()
}

/// FNV-1a, 64 bits: a checksum that takes a line.
fn checksum(corpus: &Corpus) -> u64 {
    let mut text = format!("{:?}", corpus.fields);
    for document in &corpus.documents {
        text += &format!("{document:?}");
    }
    for query in &corpus.queries {
        text += &format!("{query:?}");
    }
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_same_seed_gives_the_same_corpus_on_every_machine() {
    assert_eq!(checksum(&corpus()), CHECKSUM);
    assert_ne!(checksum(&generate(SEED + 1).unwrap()), CHECKSUM);
}

/// What figures in documents were measured on. A change of the generator changes it, and them.
const CHECKSUM: u64 = 10_065_184_350_066_217_804;

#[test]
fn it_says_that_it_is_synthetic_and_has_typed_fields() {
    let corpus = corpus();
    assert_eq!(corpus.about.origin, Origin::Synthetic);
    assert_eq!(corpus.documents.len(), LISTINGS);
    let kinds: Vec<(&str, FieldType)> = corpus
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("city", FieldType::Text),
            ("kind", FieldType::Text),
            ("price", FieldType::Number),
            ("bedrooms", FieldType::Number),
            ("area_m2", FieldType::Number),
            ("features", FieldType::List),
            ("listed", FieldType::Date),
            ("title", FieldType::Text),
        ]
    );
}

#[test]
fn every_query_has_answers_and_they_pass_its_filters() {
    let corpus = corpus();
    let numbers = 0..corpus.documents.len() as u32;
    for query in &corpus.queries {
        assert!(!query.relevant.is_empty(), "{}: {}", query.id, query.text);
        let filter = Filter::of(&query.conditions, &corpus.fields).unwrap();
        for number in numbers
            .clone()
            .filter(|&number| query.relevant.gain(number) > 0.0)
        {
            let document = corpus.document(number).unwrap();
            assert!(
                filter.admits(&document.values),
                "{} {}",
                query.id,
                document.id
            );
        }
    }
    let count = |kind: char| {
        corpus
            .queries
            .iter()
            .filter(|query| query.id.starts_with(kind))
            .count()
    };
    assert_eq!(
        ['t', 'p', 'f', 'o'].map(count),
        [THEMES.len(), 24, 48, 12],
        "one query a theme, and the rest as many as there should be"
    );
    assert_eq!(corpus.filtered_queries(), 60);
}

#[test]
fn facts_of_filters_are_not_in_the_words_of_listings_and_queries() {
    let corpus = corpus();
    let position = |name: &str| {
        corpus
            .fields
            .iter()
            .position(|field| field.name == name)
            .unwrap()
    };
    let (price, features) = (position("price"), position("features"));
    for document in &corpus.documents {
        let Some(FieldValue::Number(price)) = &document.values[price] else {
            panic!("{} has no price", document.id)
        };
        assert!(!document.text.contains(&price.to_string()));
        let Some(FieldValue::List(features)) = &document.values[features] else {
            panic!("{} has no features", document.id)
        };
        for feature in features {
            // "cellar" and the like are words of themes as well.
            let by_chance = THEMES
                .iter()
                .flat_map(|theme| theme.sentences)
                .any(|sentence| sentence.contains(feature.as_str()));
            assert!(
                by_chance || !document.text.contains(feature.as_str()),
                "{feature}"
            );
        }
    }
    for query in &corpus.queries {
        for (city, _) in CITIES {
            assert!(!query.text.contains(city), "{}", query.text);
        }
    }
}

#[test]
fn every_listing_is_made_of_two_themes() {
    let corpus = corpus();
    for document in &corpus.documents {
        let themes = THEMES
            .iter()
            .filter(|theme| {
                theme
                    .sentences
                    .iter()
                    .any(|sentence| document.text.contains(sentence))
            })
            .count();
        assert_eq!(themes, THEMES_EACH, "{}", document.text);
    }
}
