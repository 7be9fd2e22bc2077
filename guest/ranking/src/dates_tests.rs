//! Days in texts and in queries.

use super::*;

/// Friday, 7 July 2023, noon.
const FRIDAY: i64 = 1_688_731_200;

fn day(year: u32, month: u32, day: u32) -> Day {
    Day(year << 9 | month << 5 | day)
}

#[test]
fn days_are_counted_from_the_day_of_saving() {
    for (text, expected) in [
        ("nothing of the kind", vec![]),
        ("I saw her yesterday", vec![day(2023, 7, 6)]),
        ("It rained last night.", vec![day(2023, 7, 6)]),
        ("moved in last week", vec![day(2023, 6, 30)]),
        ("a week ago", vec![day(2023, 6, 30)]),
        ("Tomorrow!", vec![day(2023, 7, 8)]),
        ("last month", vec![day(2023, 6, 30)]),
        ("last year", vec![day(2022, 7, 1)]),
        ("last Friday", vec![day(2023, 6, 30)]),
        ("last Thursday", vec![day(2023, 7, 6)]),
        ("at last, Friday", vec![day(2023, 6, 30)]),
    ] {
        let mut all = vec![day(2023, 7, 7)];
        all.extend(expected);
        assert_eq!(days_of(text, Some(FRIDAY)), all, "{text:?}");
    }
}

#[test]
fn without_a_time_of_saving_no_day_is_known() {
    assert_eq!(days_of("yesterday", None), []);
}

#[test]
fn times_beyond_the_calendar_are_no_days() {
    for seconds in [i64::MIN, i64::MAX, -300_000_000_000] {
        assert_eq!(
            days_of("last year, yesterday", Some(seconds)),
            [],
            "{seconds}"
        );
    }
}

#[test]
fn a_text_full_of_days_keeps_a_few() {
    let text = "yesterday, tomorrow, last week, last month, last year, last monday, last tuesday, \
                last wednesday, last thursday";
    assert_eq!(days_of(text, Some(FRIDAY)).len(), MAX_DAYS);
}

#[test]
fn a_query_names_months_years_and_days() {
    let asked = |query| Asked::of(query);
    for query in [
        "",
        "when is the demo?",
        "at 12:30",
        "may I come",
        "the 3rd man",
    ] {
        assert_eq!(asked(query), None, "{query:?}");
    }
    for query in ["in May", "May 3", "3 May", "the end of may of that year"] {
        assert_eq!(asked(query).unwrap().months, [5], "{query:?}");
    }
    let full = asked("What did Ann do on July 7th, 2023?").unwrap();
    assert_eq!(
        (full.months, full.days, full.years),
        (vec![7], vec![7], vec![2023])
    );
    let years = asked("trips in 2022 or 2023").unwrap();
    assert_eq!((years.months, years.years), (vec![], vec![2022, 2023]));
}

#[test]
fn a_day_fits_by_month_then_day_then_year() {
    let asked = Asked::of("July 7, 2023").unwrap();
    for (candidate, expected) in [
        (day(2023, 7, 7), 2.3),
        (day(2022, 7, 7), 2.0),
        (day(2023, 7, 14), 1.3),
        (day(2023, 7, 6), 1.0 + 6.0 / 7.0 + 0.3),
        (day(2023, 8, 7), 0.0),
    ] {
        assert!(
            (asked.fit(candidate) - expected).abs() < 1e-6,
            "{candidate:?}"
        );
    }
    let year = Asked::of("in 2023").unwrap();
    assert_eq!(year.fit(day(2023, 1, 1)), 0.3);
    assert_eq!(year.fit(day(2022, 1, 1)), 0.0);
}
