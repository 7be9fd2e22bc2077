//! Which arguments pass, and what is said of those that don't.

use super::*;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn defaults_stand_in_for_what_is_absent_or_null() {
    let expected = SearchArgs {
        query: "wing".to_owned(),
        corpus: None,
        filters: Vec::new(),
        k: DEFAULT_K,
        mode: Mode::Hybrid,
    };
    for arguments in [
        json!({"query": " wing\n"}),
        json!({"query": "wing", "corpus": null, "filters": null, "k": null, "mode": null}),
        json!({"query": "wing", "filters": [], "k": 10.0, "mode": "hybrid"}),
    ] {
        assert_eq!(validate_search_args(&arguments), Ok(expected.clone()));
    }
    let evaluation = validate_evaluation_args(&json!({})).unwrap();
    assert!(evaluation.apply_filters && evaluation.k == DEFAULT_K);
    assert_eq!(
        validate_grep_args(&json!({"pattern": "a", "path_glob": " "})).unwrap(),
        GrepArgs {
            pattern: "a".to_owned(),
            path_glob: None,
            max_results: DEFAULT_RESULTS
        }
    );
}

#[test]
fn a_filter_has_a_field_an_operator_and_values() {
    let filters = json!([
        {"field": "city", "op": "in", "value": ["a", "b"]},
        {"field": "price", "op": "lte", "value": 5.5},
        {"field": "sold", "op": "eq", "value": true},
    ]);
    let text = |text: &str| Scalar::Text(text.to_owned());
    let conditions = validate_conditions("filters", &filters).unwrap();
    let parts: Vec<_> = conditions
        .iter()
        .map(|condition| (condition.operator, condition.values.clone()))
        .collect();
    assert_eq!(
        parts,
        [
            (Operator::In, vec![text("a"), text("b")]),
            (Operator::Lte, vec![Scalar::Number(5.5)]),
            (Operator::Eq, vec![text("true")]),
        ]
    );
}

#[test]
fn refusals_name_the_argument_the_bound_and_the_value() {
    let long = "x".repeat(MAX_QUERY_CHARS + 1);
    for (arguments, expected) in [
        (json!([]), "arguments must be an object, got an array of 0"),
        (json!({}), "query is required"),
        (json!({"query": null}), "query is required"),
        (json!({"query": 3}), "query must be a string, got 3"),
        (
            json!({"query": " "}),
            "query must be more than white space, got \"\"",
        ),
        (
            json!({"query": long}),
            "query must be at most 1000 characters long, got 1001 characters",
        ),
        (
            json!({"query": "x", "k": 0}),
            "k must be an integer from 1 to 50, got 0",
        ),
        (
            json!({"query": "x", "k": 51}),
            "k must be an integer from 1 to 50, got 51",
        ),
        (
            json!({"query": "x", "k": "3"}),
            "k must be an integer from 1 to 50, got \"3\"",
        ),
        (
            json!({"query": "x", "mode": "fuzzy"}),
            "mode must be one of lexical, dense, hybrid, got \"fuzzy\"",
        ),
        (
            json!({"query": "x", "limit": 3}),
            "unknown argument \"limit\"; known are query, corpus, filters, k, mode",
        ),
        (
            json!({"query": "x", "filters": {"year": 2020}}),
            "filters must be an array of objects such as {\"field\":\"year\",\"op\":\"gte\",\"value\":2020}, got an object",
        ),
        (
            json!({"query": "x", "filters": [{"field": "a", "op": "gt", "value": 1}]}),
            "filters[0].op must be one of eq, in, gte, lte, contains, got \"gt\"",
        ),
        (
            json!({"query": "x", "filters": [{"field": "a", "op": "eq"}]}),
            "filters[0].value is required",
        ),
        (
            json!({"query": "x", "filters": [{"field": "a", "op": "eq", "value": []}]}),
            "filters[0].value must be 1 to 64 values, got 0",
        ),
        (
            json!({"query": "x", "filters": [{"field": "a", "op": "eq", "value": null}]}),
            "filters[0].value must be a text, a number or an array of them, got null",
        ),
        (
            json!({"query": "x", "filters": [{"field": "a", "op": "eq", "value": 1, "not": true}]}),
            "unknown argument filters[0].\"not\"; known are field, op, value",
        ),
    ] {
        let refusal = validate_search_args(&arguments).unwrap_err().to_string();
        assert_eq!(refusal, expected);
    }
    let too_many = json!({"query": "x", "filters": vec![json!({}); MAX_FILTERS + 1]});
    assert!(validate_search_args(&too_many).is_err());
    for (arguments, word) in [
        (json!({"apply_filters": "no"}), "true or false"),
        (json!({"k": 2.5}), "integer"),
    ] {
        let refusal = validate_evaluation_args(&arguments).unwrap_err();
        assert!(refusal.to_string().contains(word), "{refusal}");
    }
    for arguments in [
        json!({}),
        json!({"pattern": ""}),
        json!({"pattern": "x".repeat(MAX_PATTERN_CHARS + 1)}),
        json!({"pattern": "x", "path_glob": "x".repeat(MAX_GLOB_CHARS + 1)}),
        json!({"pattern": "x", "max_results": MAX_RESULTS + 1}),
        json!({"pattern": "x", "path": "/etc"}),
    ] {
        assert!(validate_grep_args(&arguments).is_err(), "{arguments}");
    }
    assert!(validate_info_args(&json!({"corpus": 1})).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                (
                    "query|corpus|filters|k|mode|field|op|value|pattern|x",
                    inner
                ),
                0..4
            )
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_arguments_panic_and_those_that_pass_are_in_bounds(arguments in any_json()) {
        if let Ok(args) = validate_search_args(&arguments) {
            prop_assert!((1..=MAX_K).contains(&args.k) && !args.query.trim().is_empty());
        }
        let _ = validate_info_args(&arguments);
        let _ = validate_evaluation_args(&arguments);
        if let Ok(args) = validate_grep_args(&arguments) {
            prop_assert!((1..=MAX_RESULTS).contains(&args.max_results));
        }
    }
}
