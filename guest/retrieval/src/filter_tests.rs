//! What each operator means for each type, and what is refused.

use super::*;

fn fields() -> Vec<Field> {
    [
        ("city", FieldType::Text),
        ("price", FieldType::Number),
        ("listed", FieldType::Date),
        ("tags", FieldType::List),
    ]
    .into_iter()
    .map(|(name, kind)| Field {
        name: name.to_owned(),
        kind,
    })
    .collect()
}

fn document() -> Vec<Option<FieldValue>> {
    vec![
        Some(FieldValue::Text("Marlow Quay".to_owned())),
        Some(FieldValue::Number(250_000.0)),
        Some(FieldValue::Date(Date::parse("2024-05-20").unwrap())),
        Some(FieldValue::List(vec![
            "Garden".to_owned(),
            "lift".to_owned(),
        ])),
    ]
}

fn text(value: &str) -> Scalar {
    Scalar::Text(value.to_owned())
}

fn condition(field: &str, operator: Operator, values: &[Scalar]) -> Condition {
    Condition {
        field: field.to_owned(),
        operator,
        values: values.to_vec(),
    }
}

#[track_caller]
fn check(field: &str, operator: Operator, values: &[Scalar], expected: bool) {
    let filter = Filter::of(&[condition(field, operator, values)], &fields()).unwrap();
    assert_eq!(
        filter.admits(&document()),
        expected,
        "{field} {operator:?} {values:?}"
    );
}

#[test]
fn texts_are_compared_without_case() {
    check("city", Operator::Eq, &[text("marlow quay ")], true);
    check("city", Operator::Eq, &[text("marlow")], false);
    check(
        "city",
        Operator::In,
        &[text("x"), text("MARLOW QUAY")],
        true,
    );
    check("city", Operator::In, &[text("x")], false);
    check("city", Operator::Contains, &[text("QUAY")], true);
    check("city", Operator::Contains, &[text("key")], false);
}

#[test]
fn numbers_have_inclusive_bounds() {
    let price = |operator, value: f64, expected| {
        check("price", operator, &[Scalar::Number(value)], expected);
    };
    price(Operator::Eq, 250_000.0, true);
    price(Operator::Eq, 250_000.5, false);
    price(Operator::Gte, 250_000.0, true);
    price(Operator::Gte, 250_000.5, false);
    price(Operator::Lte, 250_000.0, true);
    price(Operator::Lte, 249_999.5, false);
    check(
        "price",
        Operator::In,
        &[Scalar::Number(1.0), Scalar::Number(250_000.0)],
        true,
    );
}

#[test]
fn a_day_lies_within_its_month_and_year() {
    for (operator, value, expected) in [
        (Operator::Eq, "2024", true),
        (Operator::Eq, "2024-05", true),
        (Operator::Eq, "2024-05-20", true),
        (Operator::Eq, "2024-06", false),
        (Operator::Gte, "2024", true),
        (Operator::Gte, "2024-05-20", true),
        (Operator::Gte, "2024-05-21", false),
        (Operator::Gte, "2024-06", false),
        (Operator::Lte, "2024", true),
        (Operator::Lte, "2024-05", true),
        (Operator::Lte, "2024-05-20", true),
        (Operator::Lte, "2024-05-19", false),
        (Operator::Lte, "2023", false),
        (Operator::Lte, "2024-05-20T00:00:00Z", true),
        (Operator::In, "2024-05", true),
    ] {
        check("listed", operator, &[text(value)], expected);
    }
    check("listed", Operator::Gte, &[Scalar::Number(2024.0)], true);
    check("listed", Operator::Gte, &[Scalar::Number(2025.0)], false);
}

#[test]
fn a_list_contains_all_and_is_in_with_any() {
    let (garden, lift, pool) = (text("garden"), text("LIFT"), text("pool"));
    check("tags", Operator::Contains, &[text("garden")], true);
    check(
        "tags",
        Operator::Contains,
        &[garden.clone(), lift.clone()],
        true,
    );
    check(
        "tags",
        Operator::Contains,
        &[garden.clone(), pool.clone()],
        false,
    );
    check("tags", Operator::Contains, &[text("gard")], false);
    check("tags", Operator::In, &[garden.clone(), pool.clone()], true);
    check("tags", Operator::In, &[pool], false);
    check("tags", Operator::Eq, &[lift, garden.clone()], true);
    check("tags", Operator::Eq, &[garden], false);
}

#[test]
fn conditions_are_anded_and_a_missing_value_fails() {
    let both = [
        condition("city", Operator::Eq, &[text("Marlow Quay")]),
        condition("price", Operator::Lte, &[Scalar::Number(1.0)]),
    ];
    let filter = Filter::of(&both, &fields()).unwrap();
    assert!(!filter.admits(&document()), "one of two holds");
    let lacking = vec![None; 4];
    assert!(!Filter::of(&both[..1], &fields()).unwrap().admits(&lacking));
    assert!(Filter::of(&[], &fields()).unwrap().admits(&lacking));
}

#[test]
fn what_can_not_be_answered_is_refused_with_the_fields() {
    let list = "city (text), price (number), listed (date), tags (list)";
    for (asked, expected) in [
        (
            condition("town", Operator::Eq, &[text("x")]),
            "there is no field \"town\" to filter by; fields are ",
        ),
        (
            condition("city", Operator::Gte, &[text("x")]),
            "gte makes no sense for city, which is a text: use eq, in, contains; fields are ",
        ),
        (
            condition("price", Operator::Contains, &[Scalar::Number(1.0)]),
            "contains makes no sense for price, which is a number: use eq, in, gte, lte; fields are ",
        ),
        (
            condition("price", Operator::Lte, &[text("cheap")]),
            "price must be compared with a number, got \"cheap\"; fields are ",
        ),
        (
            condition("city", Operator::Eq, &[Scalar::Number(3.0)]),
            "city must be compared with a text, got 3; fields are ",
        ),
        (
            condition("listed", Operator::Gte, &[text("May")]),
            "listed must be compared with a date (2026, 2026-11, 2026-11-30 or 2026-11-30T08:00:00Z), got \"May\"; fields are ",
        ),
        (
            condition(
                "price",
                Operator::Lte,
                &[Scalar::Number(1.0), Scalar::Number(2.0)],
            ),
            "price must be compared with one value (in takes several), got 2 values; fields are ",
        ),
    ] {
        let refusal = Filter::of(&[asked], &fields()).unwrap_err().to_string();
        assert_eq!(refusal, format!("{expected}{list}"));
    }
    let none = Filter::of(&[condition("x", Operator::Eq, &[text("y")])], &[]).unwrap_err();
    assert!(none.to_string().ends_with("fields are none"));
}
