//! What is suggested for which blank.

use super::*;
use crate::prompts::{COMPARE_RETRIEVERS, FILTERED_SEARCH};
use crate::request::Environment;
use std::time::Duration;

fn suggest(
    reference: Reference,
    argument: &str,
    typed: &str,
    resolved: &[(&str, &str)],
) -> Result<Suggestions, RequestError> {
    let mut library = Library::new(Environment::default());
    let clock = || Duration::ZERO;
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    let resolved: Vec<(String, String)> = resolved
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    complete(&reference, argument, typed, &resolved, &mut library, &call)
}

fn prompt(name: &str) -> Reference {
    Reference::Prompt(name.to_owned())
}

fn template() -> Reference {
    Reference::Resource(DOCUMENT_TEMPLATE.to_owned())
}

#[test]
fn corpora_are_suggested_in_any_case() {
    for reference in [prompt(COMPARE_RETRIEVERS), template()] {
        let found = suggest(reference.clone(), "corpus", "LIS", &[]).unwrap();
        assert_eq!(found.values, ["listings"]);
        assert_eq!(suggest(reference, "corpus", "x", &[]).unwrap().total, 0);
    }
}

#[test]
fn fields_and_values_depend_on_what_was_filled_in() {
    let filtered = || prompt(FILTERED_SEARCH);
    let fields = suggest(filtered(), "field", "p", &[("corpus", "listings")]).unwrap();
    assert_eq!(fields.values, ["price"]);
    let cities = suggest(filtered(), "value", "", &[("field", "city")]).unwrap();
    assert_eq!((cities.total, cities.has_more()), (10, false));
    let features = suggest(filtered(), "value", "so", &[("field", "features")]).unwrap();
    assert_eq!(features.values, ["solar panels"]);
    for resolved in [
        &[][..],
        &[("field", "price")],
        &[("field", "nothing")],
        &[("corpus", "gone"), ("field", "city")],
    ] {
        assert_eq!(
            suggest(filtered(), "value", "", resolved).unwrap().total,
            0,
            "{resolved:?}"
        );
    }
}

#[test]
fn ids_are_suggested_and_bounded() {
    let all = suggest(template(), "id", "", &[("corpus", "listings")]).unwrap();
    assert_eq!(all.values.len(), MAX_COMPLETIONS);
    assert!(all.has_more());
    let one = suggest(template(), "id", "l0007", &[]).unwrap();
    assert_eq!(one.values, ["L0007"]);
}

#[test]
fn what_does_not_exist_is_refused() {
    assert!(matches!(
        suggest(prompt("other"), "corpus", "", &[]),
        Err(RequestError::UnknownName(_))
    ));
    assert!(matches!(
        suggest(Reference::Resource("docs://{x}".to_owned()), "x", "", &[]),
        Err(RequestError::UnknownName(_))
    ));
    assert!(matches!(
        suggest(prompt(COMPARE_RETRIEVERS), "field", "", &[]),
        Err(RequestError::InvalidParams(_))
    ));
}
