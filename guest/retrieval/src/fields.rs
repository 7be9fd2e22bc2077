//! Fields of documents: their types, found by looking at all values, and the values themselves.

use std::collections::HashMap;
use std::fmt;

use jiff::civil;
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

/// What a field's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Characters.
    Text,
    /// Finite.
    Number,
    /// A day or an instant.
    Date,
    /// Texts.
    List,
}

impl FieldType {
    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::List => "list",
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A field that can be filtered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// As the records have it.
    pub name: String,
    /// What all its values are.
    pub kind: FieldType,
}

/// What a document has in a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// Of a text field.
    Text(String),
    /// Of a number field; finite.
    Number(f64),
    /// Of a date field.
    Date(Date),
    /// Of a list field.
    List(Vec<String>),
}

impl FieldValue {
    /// As JSON, the way it came.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Value::from(*number as i64)
            }
            Self::Number(number) => Value::from(*number),
            Self::Date(date) => Value::from(date.text.as_str()),
            Self::List(items) => Value::from(items.as_slice()),
        }
    }
}

/// A span of time as it was written: an instant, a day, a month or a year. Times without an offset are in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// As it was written.
    pub text: String,
    start: Timestamp,
    /// The last nanosecond that belongs to it.
    end: Timestamp,
}

impl Date {
    /// A day or an instant, as documents have it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Anything shorter is a number or a code as likely as a date.
        if text.len() < "2026-11-30".len() || !text.as_bytes()[0].is_ascii_digit() {
            return None;
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(Self::between(text, instant, instant));
        }
        if text.len() == "2026-11-30".len() {
            let day: civil::Date = text.parse().ok()?;
            return Self::days(text, day, day);
        }
        let time: civil::DateTime = text.parse().ok()?;
        let instant = Offset::UTC.to_timestamp(time).ok()?;
        Some(Self::between(text, instant, instant))
    }

    /// What a caller may compare with: also a month or a year.
    pub fn parse_bound(text: &str) -> Option<Self> {
        let text = text.trim();
        let first: civil::Date = match text.len() {
            4 => format!("{text}-01-01").parse().ok()?,
            7 => format!("{text}-01").parse().ok()?,
            _ => return Self::parse(text),
        };
        let last = match text.len() {
            4 => first.last_of_year(),
            _ => first.last_of_month(),
        };
        Self::days(text, first, last)
    }

    fn days(text: &str, first: civil::Date, last: civil::Date) -> Option<Self> {
        let start = Offset::UTC.to_timestamp(first.at(0, 0, 0, 0)).ok()?;
        // The last day of time has no end that could be written.
        let end = last
            .checked_add(1.day())
            .and_then(|next| Offset::UTC.to_timestamp(next.at(0, 0, 0, 0)))
            .and_then(|next| next.checked_sub(1.nanosecond()))
            .unwrap_or(Timestamp::MAX);
        Some(Self::between(text, start, end))
    }

    fn between(text: &str, start: Timestamp, end: Timestamp) -> Self {
        Self {
            text: text.to_owned(),
            start,
            end,
        }
    }

    /// When it begins.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Whether it begins when the other does, or later.
    pub fn starts_no_earlier_than(&self, other: &Self) -> bool {
        self.start >= other.start
    }

    /// Whether it begins before the other has ended.
    pub fn starts_no_later_than(&self, other: &Self) -> bool {
        self.start <= other.end
    }

    /// Whether it begins within the other.
    pub fn starts_within(&self, other: &Self) -> bool {
        self.starts_no_earlier_than(other) && self.starts_no_later_than(other)
    }
}

/// What one value could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Number,
    Date,
    Text,
    List,
    /// An object, or an array with anything but plain values: not filtered.
    Nested,
}

/// Finds the types of fields from the values met so far.
///
/// A field is what all of its values are. Dates among other texts are texts, numbers among texts are texts, single
/// values among lists are lists of one; a field that has nested values anywhere is left out.
#[derive(Debug, Default)]
pub struct Inference {
    /// In the order in which they were met.
    names: Vec<String>,
    shapes: HashMap<String, Shape>,
}

impl Inference {
    /// Takes a value into account. `null` says nothing.
    pub fn observe(&mut self, name: &str, value: &Value) {
        let Some(shape) = shape(name, value) else {
            return;
        };
        match self.shapes.get_mut(name) {
            None => {
                self.names.push(name.to_owned());
                self.shapes.insert(name.to_owned(), shape);
            }
            Some(known) => *known = join(*known, shape),
        }
    }

    /// The fields, in the order in which they were met, at most `max`.
    pub fn fields(&self, max: usize) -> Vec<Field> {
        let typed = self.names.iter().filter_map(|name| {
            let kind = match self.shapes.get(name)? {
                Shape::Number => FieldType::Number,
                Shape::Date => FieldType::Date,
                Shape::Text => FieldType::Text,
                Shape::List => FieldType::List,
                Shape::Nested => return None,
            };
            Some(Field {
                name: name.clone(),
                kind,
            })
        });
        typed.take(max).collect()
    }
}

/// arXiv writes the categories of a paper in one text, separated by white space.
const SPACED_LISTS: &[&str] = &["categories"];

fn shape(name: &str, value: &Value) -> Option<Shape> {
    Some(match value {
        Value::Null => return None,
        Value::Number(_) => Shape::Number,
        Value::Bool(_) => Shape::Text,
        Value::String(_) if SPACED_LISTS.contains(&name) => Shape::List,
        Value::String(text) if Date::parse(text).is_some() => Shape::Date,
        Value::String(_) => Shape::Text,
        Value::Array(items) if items.iter().all(is_plain) => Shape::List,
        Value::Array(_) | Value::Object(_) => Shape::Nested,
    })
}

fn is_plain(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

fn join(one: Shape, other: Shape) -> Shape {
    match (one, other) {
        (one, other) if one == other => one,
        (Shape::Nested, _) | (_, Shape::Nested) => Shape::Nested,
        (Shape::List, _) | (_, Shape::List) => Shape::List,
        _ => Shape::Text,
    }
}

/// A value as its field's type has it; none for `null` and for what does not fit (which inference rules out).
pub fn typed(name: &str, kind: FieldType, value: &Value) -> Option<FieldValue> {
    match kind {
        FieldType::Number => value
            .as_f64()
            .filter(|number| number.is_finite())
            .map(FieldValue::Number),
        FieldType::Date => Date::parse(value.as_str()?).map(FieldValue::Date),
        FieldType::Text => plain_text(value).map(FieldValue::Text),
        FieldType::List => match value {
            Value::Array(items) => Some(FieldValue::List(
                items.iter().filter_map(plain_text).collect(),
            )),
            Value::String(text) if SPACED_LISTS.contains(&name) => Some(FieldValue::List(
                text.split_whitespace().map(str::to_owned).collect(),
            )),
            single => plain_text(single).map(|text| FieldValue::List(vec![text])),
        },
    }
}

fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
