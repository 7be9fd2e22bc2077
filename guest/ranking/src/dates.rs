//! Days that a text speaks of, and days that a query asks for.
//!
//! Days are of the calendar and in UTC; a memory that was saved at midnight may be a day off.

use jiff::civil::{Date, Weekday};
use jiff::{Span, Timestamp, ToSpan, tz::TimeZone};

/// Months, as people write them out. Short forms are words of their own too often (`mar`, `dec`, `jan` is a name).
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Days of the week, in their order.
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Before the month `may`, so that it is no verb.
const BEFORE_MAY: [&str; 7] = ["in", "on", "of", "during", "early", "late", "mid"];

/// A month match counts 1, a day match adds 1 and fades over a week, a year match adds this; a year alone is this.
const YEAR: f32 = 0.3;

/// What a day is worth that fits in month, day and year. No day fits better.
pub const BEST_FIT: f32 = 2.0 + YEAR;

/// Days over which a near miss of a named day fades to nothing.
const NEAR_DAYS: f32 = 7.0;

/// The most days that are kept of a text: when it was saved, and the first that it names. Who says more days than that
/// keeps a list, and is found by its words.
const MAX_DAYS: usize = 8;

/// A day, made small: year, month and day in one number. Zero is no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub u32);

impl Day {
    fn of(date: Date) -> Option<Self> {
        let year = u32::try_from(date.year()).ok()?;
        Some(Self(
            year << 9 | (date.month() as u32) << 5 | date.day() as u32,
        ))
    }

    fn year(self) -> u32 {
        self.0 >> 9
    }

    fn month(self) -> u32 {
        self.0 >> 5 & 0xf
    }

    fn day(self) -> u32 {
        self.0 & 0x1f
    }
}

/// The days that a text speaks of: the one on which it was saved, and those that it names from there (`yesterday`,
/// `last week`, `last Friday`). None without a time of saving.
pub fn days_of(text: &str, created: Option<i64>) -> Vec<Day> {
    let Some(saved) = created.and_then(date_of) else {
        return Vec::new();
    };
    let words = words(text);
    let mut dates = vec![saved];
    let mut add = |span: Span| dates.extend(saved.checked_add(span));
    if has(&words, &["yesterday"]) || has(&words, &["last", "night"]) {
        add(-1.day());
    }
    if has(&words, &["last", "week"]) || has(&words, &["a", "week", "ago"]) {
        add(-7.days());
    }
    if has(&words, &["tomorrow"]) {
        add(1.day());
    }
    if has(&words, &["last", "month"]) {
        dates.extend(saved.first_of_month().yesterday());
    }
    if has(&words, &["last", "year"]) {
        dates.extend(Date::new(saved.year() - 1, saved.month(), 1));
    }
    for (name, weekday) in WEEKDAYS {
        if has(&words, &["last", name]) {
            dates.extend(saved.nth_weekday(-1, weekday));
        }
    }
    let mut days: Vec<Day> = dates.into_iter().filter_map(Day::of).collect();
    days.dedup();
    days.truncate(MAX_DAYS);
    days
}

/// The time that a query names: months and years, and days of a month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    months: Vec<u32>,
    years: Vec<u32>,
    days: Vec<u32>,
}

impl Asked {
    /// What a query names; none when that is neither a month nor a year.
    pub fn of(query: &str) -> Option<Self> {
        let words = words(query);
        let mut asked = Self::default();
        for (at, word) in words.iter().enumerate() {
            if let Some(month) = MONTHS.iter().position(|name| name == word)
                && (word != "may" || is_month_may(&words, at))
            {
                asked.months.push(month as u32 + 1);
            }
        }
        for word in &words {
            if let Some(year) = year(word) {
                asked.years.push(year);
            } else if let Some(day) = day_of_month(word)
                && !asked.months.is_empty()
            {
                asked.days.push(day);
            }
        }
        (!asked.months.is_empty() || !asked.years.is_empty()).then_some(asked)
    }

    /// How well a day fits: 0 not at all, to [`BEST_FIT`] exactly.
    pub fn fit(&self, day: Day) -> f32 {
        let year = if self.years.contains(&day.year()) {
            YEAR
        } else {
            0.0
        };
        if self.months.is_empty() {
            return year;
        }
        if !self.months.contains(&day.month()) {
            return 0.0;
        }
        let apart = self
            .days
            .iter()
            .map(|asked| asked.abs_diff(day.day()))
            .min();
        let near = apart.map_or(0.0, |apart| (1.0 - apart as f32 / NEAR_DAYS).max(0.0));
        1.0 + near + year
    }
}

/// Whether a word is what dates are written with: a month, a year, a day of a month.
pub fn is_date_word(word: &str) -> bool {
    MONTHS.contains(&word) || year(word).is_some() || day_of_month(word).is_some()
}

fn date_of(seconds: i64) -> Option<Date> {
    let timestamp = Timestamp::from_second(seconds).ok()?;
    Some(TimeZone::UTC.to_datetime(timestamp).date())
}

/// The words of a text in lower case, letters and digits only.
fn words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn has(words: &[String], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|some| some == phrase)
}

/// `May` is a month before a number or `of`, and after a preposition.
fn is_month_may(words: &[String], at: usize) -> bool {
    let after = words.get(at + 1);
    let before = at.checked_sub(1).map(|before| words[before].as_str());
    after.is_some_and(|word| word == "of" || word.starts_with(|first: char| first.is_ascii_digit()))
        || before.is_some_and(|word| {
            BEFORE_MAY.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn year(word: &str) -> Option<u32> {
    let year = word.parse().ok()?;
    (word.len() == 4 && (1900..2100).contains(&year)).then_some(year)
}

/// `7`, `07`, `7th`.
fn day_of_month(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|suffix| word.strip_suffix(suffix))
        .unwrap_or(word);
    let day = digits.parse().ok()?;
    (digits.len() <= 2 && (1..=31).contains(&day)).then_some(day)
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
