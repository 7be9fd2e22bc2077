//! Seed contract, row by row: what is valid, what is hostile.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn search(arguments: Value) -> Result<SearchArgs, SecurityError> {
    validate_search_args(&arguments)
}

fn save(arguments: Value) -> Result<SaveArgs, SecurityError> {
    validate_save_args(&arguments)
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The message of a refusal must hold all of `parts`.
fn refused<T: std::fmt::Debug>(result: Result<T, SecurityError>, parts: &[&str]) {
    let error = result.unwrap_err().to_string();
    assert!(
        parts.iter().all(|part| error.contains(part)),
        "{error:?} lacks one of {parts:?}"
    );
    assert!(error.len() < 400, "{error:?} is too long");
}

#[test]
fn a_query_alone_gets_the_defaults() {
    let args = search(json!({"query": "demo"})).unwrap();
    assert_eq!(
        args,
        SearchArgs {
            query: "demo".to_owned(),
            k: DEFAULT_K,
            filter: Filter::default()
        }
    );
}

#[test]
fn the_query_is_stripped() {
    assert_eq!(
        search(json!({"query": " \t demo\n"})).unwrap().query,
        "demo"
    );
}

#[test]
fn a_query_must_be_a_text_that_is_not_blank() {
    refused(search(json!({})), &["query is required"]);
    for (query, got) in [
        (json!(null), "null"),
        (json!(7), "7"),
        (json!(true), "true"),
        (json!(["a"]), "array of 1"),
    ] {
        refused(
            search(json!({"query": query})),
            &["query must be a string", got],
        );
    }
    for query in ["", " ", "\n\t", "\u{3000}\u{a0}"] {
        refused(
            search(json!({"query": query})),
            &["query", "more than white space"],
        );
    }
    refused(
        search(json!({"query": "a\0b"})),
        &["query", "NUL", "byte 1"],
    );
}

#[test]
fn k_is_an_integer_as_json_schema_has_it_and_cut_to_the_maximum() {
    for (k, expected) in [
        (json!(1), 1),
        (json!(3.0), 3),
        (json!(50), MAX_K),
        (json!(51), MAX_K),
        (json!(u64::MAX), MAX_K),
        (json!(1e300), MAX_K),
        (json!(null), DEFAULT_K),
        (serde_json::from_str("3e0").unwrap(), 3),
    ] {
        assert_eq!(
            search(json!({"query": "x", "k": k})).unwrap().k,
            expected,
            "{k}"
        );
    }
}

#[test]
fn k_is_refused_when_it_is_no_positive_integer() {
    for k in [
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(-1e300),
        json!(0.0),
        json!(-0.0),
        json!(2.5),
        json!(0.5),
        json!(true),
        json!(false),
        json!("3"),
        json!(""),
        json!([3]),
        json!({"k": 3}),
    ] {
        refused(
            search(json!({"query": "x", "k": k})),
            &["k must be an integer", "from 1 to 50", "got"],
        );
    }
    refused(search(json!({"query": "x", "k": -1})), &["got -1"]);
}

#[test]
fn a_save_gets_the_defaults_and_keeps_its_text_exactly() {
    let text = "  two\n lines\t\u{1}\u{202e} ";
    let args = save(json!({ "text": text })).unwrap();
    assert_eq!(
        args,
        SaveArgs {
            text: text.to_owned(),
            kind: Kind::Episodic,
            importance: None,
            tags: vec![]
        }
    );
}

#[test]
fn null_stands_for_an_optional_argument_that_is_absent() {
    let nulls = json!({"text": "x", "kind": null, "importance": null, "tags": null});
    assert_eq!(save(nulls).unwrap(), save(json!({"text": "x"})).unwrap());
    refused(
        save(json!({ "text": null })),
        &["text must be a string", "null"],
    );
}

#[test]
fn the_bound_on_text_counts_characters() {
    for character in ["a", "é", "𝄞"] {
        assert!(save(json!({"text": character.repeat(MAX_TEXT_CHARS)})).is_ok());
        let long = json!({"text": character.repeat(MAX_TEXT_CHARS + 1)});
        refused(
            save(long),
            &["text", "at most 4000 characters", "got 4001 characters"],
        );
    }
    refused(
        search(json!({"query": "q".repeat(MAX_TEXT_CHARS + 1)})),
        &["query", "4000", "4001"],
    );
}

#[test]
fn a_text_must_be_one() {
    refused(save(json!({})), &["text is required"]);
    for text in ["", "  ", "\r\n"] {
        refused(
            save(json!({ "text": text })),
            &["text", "more than white space"],
        );
    }
    for text in [json!(1), json!(["x"]), json!({})] {
        refused(save(json!({ "text": text })), &["text must be a string"]);
    }
    refused(save(json!({"text": "\0"})), &["text", "NUL"]);
}

#[test]
fn kinds_are_a_closed_list() {
    for kind in Kind::ALL {
        assert_eq!(
            save(json!({"text": "x", "kind": kind.name()}))
                .unwrap()
                .kind,
            kind
        );
        assert_eq!(
            search(json!({"query": "x", "kind": kind.name()}))
                .unwrap()
                .filter
                .kind,
            Some(kind)
        );
    }
    for kind in [
        json!("secret"),
        json!("Episodic"),
        json!("episodic\0"),
        json!(""),
        json!(1),
        json!(["episodic"]),
    ] {
        refused(
            save(json!({"text": "x", "kind": kind})),
            &["kind must be one of episodic, semantic, procedural", "got"],
        );
        refused(
            search(json!({"query": "x", "kind": kind})),
            &["kind must be one of"],
        );
    }
}

#[test]
fn importance_is_held_to_its_range() {
    for importance in [json!(1), json!(1.0), json!(5.5), json!(10), json!(10.0)] {
        let args = save(json!({"text": "x", "importance": importance})).unwrap();
        assert_eq!(args.importance, importance.as_f64());
    }
    for importance in [
        json!(0.999),
        json!(0),
        json!(-5),
        json!(10.001),
        json!(1e300),
        json!("5"),
        json!(true),
        json!([5]),
        json!(u64::MAX),
    ] {
        refused(
            save(json!({"text": "x", "importance": importance})),
            &["importance must be a number from 1.0 to 10.0"],
        );
        refused(
            search(json!({"query": "x", "min_importance": importance})),
            &["min_importance must be", "1.0 to 10.0"],
        );
    }
}

#[test]
fn not_a_number_has_no_json_and_a_lenient_stand_in_is_refused() {
    assert!(serde_json::from_str::<Value>(r#"{"importance": NaN}"#).is_err());
    refused(
        save(json!({"text": "x", "importance": "NaN"})),
        &["importance", "NaN"],
    );
}

#[test]
fn tags_are_trimmed_and_kept_once_in_their_order() {
    let args = save(json!({"text": "x", "tags": [" work ", "home", "work", "Work"]})).unwrap();
    assert_eq!(args.tags, ["work", "home", "Work"]);
}

#[test]
fn tags_are_bounded() {
    let distinct = |count: usize| {
        (0..count)
            .map(|number| format!("t{number}"))
            .collect::<Vec<_>>()
    };
    assert!(save(json!({"text": "x", "tags": distinct(MAX_TAGS)})).is_ok());
    refused(
        save(json!({"text": "x", "tags": distinct(MAX_TAGS + 1)})),
        &["tags", "at most 16", "got 17"],
    );
    assert!(save(json!({"text": "x", "tags": ["é".repeat(MAX_TAG_CHARS)]})).is_ok());
    for tag in [
        "".to_owned(),
        "  ".to_owned(),
        "a\nb".to_owned(),
        "a\0b".to_owned(),
        "é".repeat(MAX_TAG_CHARS + 1),
    ] {
        refused(
            save(json!({"text": "x", "tags": [tag]})),
            &["tags", "1 to 64 characters"],
        );
    }
    for tags in [json!("work"), json!([1]), json!([null]), json!({"a": 1})] {
        refused(
            save(json!({"text": "x", "tags": tags})),
            &["tags must be an array of strings"],
        );
    }
}

#[test]
fn times_are_dates_or_timestamps() {
    let args = search(json!({"query": "x", "since": "2026-11-30", "until": "2026-11-30"})).unwrap();
    assert_eq!(args.filter.since, Some(time("2026-11-30T00:00:00Z")));
    assert_eq!(
        args.filter.until,
        Some(time("2026-11-30T23:59:59.999Z")),
        "until is inclusive"
    );

    let args = search(json!({"query": "x", "until": "9999-12-31"})).unwrap();
    assert_eq!(args.filter.until, Some(Timestamp::MAX));

    let args = search(json!({"query": "x", "since": "2026-11-30T10:00:00+02:00"})).unwrap();
    assert_eq!(args.filter.since, Some(time("2026-11-30T08:00:00Z")));
}

#[test]
fn what_is_no_time_is_refused() {
    for since in [
        json!("yesterday"),
        json!("2026-13-01"),
        json!("2026-02-30"),
        json!("2026-11-30T10:00:00"),
        json!(""),
        json!(1_796_000_000),
        json!("9999-99-99"),
        json!("2026-11"),
        json!("+2026-11-3"),
        json!([]),
    ] {
        refused(
            search(json!({"query": "x", "since": since})),
            &["since must be a date", "2026-11-30", "got"],
        );
    }
}

#[test]
fn since_after_until_is_refused() {
    let args = json!({"query": "x", "since": "2026-12-01", "until": "2026-11-30"});
    refused(search(args), &["since", "2026-12-01", "until (2026-11-30"]);
}

#[test]
fn what_is_recent_has_the_conditions_of_a_search() {
    let recent = |arguments: Value| validate_recent_args(&arguments);
    let args = recent(json!({})).unwrap();
    assert_eq!((args.k, args.filter), (DEFAULT_K, Filter::default()));
    let conditions = json!({"k": 99, "kind": "semantic", "tags": ["a"], "since": "2026-11-30", "until": "2026-12-01"});
    let args = recent(conditions.clone()).unwrap();
    let mut same = conditions;
    same["query"] = json!("x");
    assert_eq!((args.k, args.filter), (MAX_K, search(same).unwrap().filter));
    for (arguments, parts) in [
        (json!({"k": 0}), ["k must be an integer", "got 0"]),
        (json!({"k": "5"}), ["k must be an integer", "\"5\""]),
        (json!({"kind": "recent"}), ["kind must be one of", "recent"]),
        (json!({"tags": "a"}), ["tags must be an array", "\"a\""]),
        (json!({"tags": ["a\u{200b}"]}), ["invisible", "\\u{200b}"]),
        (json!({"since": "today"}), ["since must be a date", "today"]),
        (
            json!({"since": "2026-12-01", "until": "2026-11-30"}),
            ["no later than until", "2026-12-01"],
        ),
        (
            json!({"query": "x"}),
            ["unknown argument \"query\"", "k, kind, tags"],
        ),
        (
            json!({"min_importance": 5}),
            ["unknown argument", "min_importance"],
        ),
        (json!([]), ["arguments must be an object", "array of 0"]),
    ] {
        refused(recent(arguments), &parts);
    }
}

#[test]
fn an_id_is_written_in_one_way_and_what_is_nearly_one_is_told_how() {
    let id = |id: Value| validate_id_args(&json!({ "id": id }));
    for (text, number) in [("m0", 0), ("m3", 3), ("m18446744073709551615", u64::MAX)] {
        assert_eq!(id(json!(text)), Ok(number));
    }
    for nearly in [
        json!("M3"),
        json!("3"),
        json!(3),
        json!(" m3 "),
        json!("m3\n"),
        json!("[m3]"),
        json!("#3"),
        json!("м3"),
        json!("memory://entries/m3"),
        json!("MEMORY://entries/M3"),
        json!("memory://entries/3"),
    ] {
        refused(id(nearly.clone()), &["id must be written \"m3\", got "]);
    }
    for none in [
        json!(null),
        json!(true),
        json!(-3),
        json!(3.5),
        json!(["m3"]),
        json!({"id": "m3"}),
        json!(""),
        json!("m"),
        json!("m03"),
        json!("m-3"),
        json!("m3.0"),
        json!("m3, m4"),
        json!("m3/../m4"),
        json!("m３"),
        json!("m3\u{200b}4"),
        json!("m18446744073709551616"),
        json!("memory://search/m3"),
        json!("file:///m3"),
        json!("m".repeat(5000)),
    ] {
        refused(id(none.clone()), &["id must be m and a number", "got "]);
    }
    refused(validate_id_args(&json!({})), &["id is required"]);
    refused(
        validate_id_args(&json!({"id": "m3", "ids": ["m4"]})),
        &["unknown argument \"ids\"", "known are id"],
    );
    refused(
        validate_id_args(&json!("m3")),
        &["arguments must be an object"],
    );
}

#[test]
fn tags_have_nothing_in_them_that_is_not_seen() {
    for tag in [
        "a\u{200b}",
        "\u{202e}a",
        "a\u{e0041}",
        "a\u{1b}[1m",
        "a\tb",
        "a\u{2028}b",
        "a\u{200d}b",
    ] {
        refused(
            save(json!({"text": "x", "tags": [tag]})),
            &["tags", "invisible characters"],
        );
    }
    for tag in [
        "می\u{200c}خواهم",
        "👨\u{200d}👩",
        "1\u{fe0f}\u{20e3}",
        "日本",
    ] {
        assert_eq!(
            save(json!({"text": "x", "tags": [tag]})).unwrap().tags,
            [tag]
        );
    }
}

#[test]
fn unknown_arguments_are_named_with_those_that_are_known() {
    refused(
        search(json!({"query": "x", "limit": 3})),
        &["unknown argument \"limit\"", "query, k, kind"],
    );
    refused(
        save(json!({"text": "x", "K": 3})),
        &["unknown argument \"K\"", "text, kind, importance, tags"],
    );
    refused(
        save(json!({"text": "x", "n".repeat(5000): 3})),
        &["5000 characters"],
    );
}

#[test]
fn arguments_are_an_object() {
    for arguments in [json!(null), json!([]), json!("query"), json!(1)] {
        refused(search(arguments.clone()), &["arguments must be an object"]);
        refused(save(arguments), &["arguments must be an object"]);
    }
}

proptest! {
    #[test]
    fn only_the_exact_spelling_of_an_id_passes(id in "[mM]?[0-9.+-]{0,4}") {
        if let Ok(number) = validate_id_args(&json!({ "id": id })) {
            prop_assert_eq!(id, format!("m{number}"));
        }
    }

    #[test]
    fn whatever_passes_is_within_its_bounds(query in any::<String>(), k in any::<f64>(), importance in any::<f64>()) {
        if let Ok(args) = search(json!({"query": query, "k": k})) {
            prop_assert!((1..=MAX_K).contains(&args.k));
            prop_assert_eq!(args.query.trim(), &args.query);
            prop_assert!(!args.query.is_empty());
        }
        if let Ok(SaveArgs { importance: Some(importance), .. }) = save(json!({"text": "x", "importance": importance})) {
            prop_assert!((MIN_IMPORTANCE..=MAX_IMPORTANCE).contains(&importance));
        }
    }
}
