//! Which type a field gets, and what a date is.

use super::*;
use serde_json::json;

#[track_caller]
fn check(name: &str, values: &[Value], expected: Option<FieldType>) {
    let mut inference = Inference::default();
    for value in values {
        inference.observe(name, value);
    }
    let fields = inference.fields(9);
    assert_eq!(
        fields.first().map(|field| field.kind),
        expected,
        "{name} {values:?}"
    );
    for (value, kind) in values.iter().zip(expected.into_iter().cycle()) {
        assert_eq!(
            typed(name, kind, value).is_some(),
            !value.is_null(),
            "{value} is lost"
        );
    }
}

#[test]
fn a_field_is_what_all_of_its_values_are() {
    check(
        "a",
        &[json!(1), json!(2.5), json!(null)],
        Some(FieldType::Number),
    );
    check(
        "a",
        &[json!("2020-05-22"), json!("2023-05-08T13:56:00Z")],
        Some(FieldType::Date),
    );
    check(
        "a",
        &[json!("2020-05-22"), json!("soon")],
        Some(FieldType::Text),
    );
    check("a", &[json!(1), json!("one")], Some(FieldType::Text));
    check("a", &[json!(true)], Some(FieldType::Text));
    check("a", &[json!(["x", 1]), json!([])], Some(FieldType::List));
    check("a", &[json!("x"), json!(["y"])], Some(FieldType::List));
    check("categories", &[json!("cs.CL cs.IR")], Some(FieldType::List));
    check("a", &[json!({"x": 1})], None);
    check("a", &[json!([["x"]])], None);
    check("a", &[json!(null)], None);
}

#[test]
fn values_keep_their_form() {
    let value = |kind, value: Value| typed("x", kind, &value).unwrap().to_json();
    assert_eq!(value(FieldType::Number, json!(2020)), json!(2020));
    assert_eq!(value(FieldType::Number, json!(2.5)), json!(2.5));
    assert_eq!(
        value(FieldType::Date, json!("2020-05-22")),
        json!("2020-05-22")
    );
    assert_eq!(value(FieldType::List, json!("x")), json!(["x"]));
    assert_eq!(
        typed("categories", FieldType::List, &json!("cs.CL  cs.IR")).unwrap(),
        FieldValue::List(vec!["cs.CL".to_owned(), "cs.IR".to_owned()])
    );
}

#[test]
fn only_days_and_instants_are_dates_of_documents() {
    for text in [
        "2020-05-22",
        " 2020-05-22 ",
        "2023-05-08T13:56:00Z",
        "2023-05-08T13:56:00+02:00",
        "2023-05-08 13:56:00",
        "2023-05-08T13:56",
    ] {
        assert!(Date::parse(text).is_some(), "{text}");
    }
    for text in [
        "",
        "2020",
        "2020-05",
        "20200522",
        "2020-13-01",
        "2020-02-30",
        "May 2020",
        "-2020-05-2",
        "é2020-05-22",
        "2005.11401v1",
    ] {
        assert!(Date::parse(text).is_none(), "{text}");
    }
    assert!(Date::parse_bound("9999").is_some(), "the last year");
    assert!(Date::parse_bound("20x6").is_none());
}

#[test]
fn the_number_of_fields_is_bounded_and_their_order_kept() {
    let mut inference = Inference::default();
    for name in ["b", "a", "c"] {
        inference.observe(name, &json!(1));
    }
    let names: Vec<String> = inference
        .fields(2)
        .into_iter()
        .map(|field| field.name)
        .collect();
    assert_eq!(names, ["b", "a"]);
}
