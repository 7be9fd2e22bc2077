//! What prompts say, and what they refuse.

use super::*;
use crate::request::Environment;
use std::time::Duration;

fn fill(name: &str, arguments: &[(&str, &str)]) -> Result<Filled, RequestError> {
    let mut library = Library::new(Environment::default());
    let clock = || Duration::ZERO;
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    let arguments: Vec<(String, String)> = arguments
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    get(name, &arguments, &mut library, &call)
}

#[test]
fn comparing_asks_for_measurements_in_every_mode() {
    for arguments in [&[][..], &[("corpus", "listings")], &[("corpus", " ")]] {
        let filled = fill(COMPARE_RETRIEVERS, arguments).unwrap();
        for word in [
            "lexical, dense, hybrid",
            "apply_filters false",
            "run_evaluation on listings",
            "> listings: 640 documents",
            "synthetic",
        ] {
            assert!(filled.text.contains(word), "{word}: {}", filled.text);
        }
    }
}

#[test]
fn a_filtered_search_names_the_field_and_its_operators() {
    let arguments = [
        ("topic", "a\npond"),
        ("field", "features"),
        ("value", "lift"),
    ];
    let filled = fill(FILTERED_SEARCH, &arguments).unwrap();
    assert!(filled.text.contains("“a ⏎ pond”"), "{}", filled.text);
    assert!(
        filled.text.contains("features (a list) matches “lift”"),
        "{}",
        filled.text
    );
    assert!(
        filled.text.contains("(eq, in, contains)"),
        "{}",
        filled.text
    );
}

#[test]
fn what_is_wrong_is_named() {
    let topic = ("topic", "x");
    let value = ("value", "x");
    for (name, arguments, word) in [
        ("other", &[][..], "other"),
        (
            COMPARE_RETRIEVERS,
            &[("corpus", "nowhere")],
            "there is no corpus",
        ),
        (COMPARE_RETRIEVERS, &[("k", "3")], "unknown argument \"k\""),
        (FILTERED_SEARCH, &[topic, value], "field is required"),
        (
            FILTERED_SEARCH,
            &[topic, value, ("field", "cost")],
            "there is no field \"cost\"",
        ),
        (
            FILTERED_SEARCH,
            &[("topic", " "), value, ("field", "city")],
            "topic is required",
        ),
    ] {
        let refusal = fill(name, arguments).unwrap_err().to_string();
        assert!(refusal.contains(word), "{name} {arguments:?}: {refusal}");
    }
    let long = "x".repeat(crate::config::MAX_QUERY_CHARS + 1);
    let arguments = [("topic", long.as_str()), value, ("field", "city")];
    assert!(fill(FILTERED_SEARCH, &arguments).is_err());
}
