//! Hard metadata filters: which documents a search may find at all.
//!
//! A [`Condition`] is what a caller asked; [`Filter::of`] checks it against the fields that a corpus has and their
//! types, so that a filter that can't mean anything is refused instead of finding nothing.

use std::fmt;

use crate::fields::{Date, Field, FieldType, FieldValue};
use crate::security::echo;

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is this. A day is within its month and its year; texts are compared without case.
    Eq,
    /// It is one of these; of a list, any element is.
    In,
    /// It is at least this; of dates, not before it.
    Gte,
    /// It is at most this; of dates, not after it.
    Lte,
    /// A text has these characters in it, a list this element (or all of these), without case.
    Contains,
}

impl Operator {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Eq, Self::In, Self::Gte, Self::Lte, Self::Contains];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::In => "in",
            Self::Gte => "gte",
            Self::Lte => "lte",
            Self::Contains => "contains",
        }
    }

    /// The operator of this name, written exactly so.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|operator| operator.name() == name)
    }

    /// The operators that make sense for a type.
    pub fn of(kind: FieldType) -> &'static [Self] {
        match kind {
            FieldType::Text | FieldType::List => &[Self::Eq, Self::In, Self::Contains],
            FieldType::Number | FieldType::Date => &[Self::Eq, Self::In, Self::Gte, Self::Lte],
        }
    }

    /// Whether several values make sense.
    fn takes_several(self, kind: FieldType) -> bool {
        self == Self::In || kind == FieldType::List && matches!(self, Self::Eq | Self::Contains)
    }
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A text, or a date written as one.
    Text(String),
    /// Finite.
    Number(f64),
}

/// What a caller asked of a field; whether there is such a field is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The field's name.
    pub field: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what; at least one.
    pub values: Vec<Scalar>,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self
            .values
            .iter()
            .map(|value| match value {
                Scalar::Text(text) => text.clone(),
                Scalar::Number(number) => number.to_string(),
            })
            .collect();
        write!(
            f,
            "{} {} {}",
            self.field,
            self.operator.name(),
            values.join(" | ")
        )
    }
}

/// A condition that a corpus can't answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterError {
    /// There is no such field.
    UnknownField {
        /// Its name, as it may be shown.
        field: String,
        /// Those that there are, with their types.
        known: String,
    },
    /// The operator makes no sense for the field's type.
    Operator {
        /// The field.
        field: String,
        /// Its type.
        kind: FieldType,
        /// What was asked.
        operator: &'static str,
        /// Fields that there are, with their types.
        known: String,
    },
    /// The value is not of the field's type.
    Value {
        /// The field.
        field: String,
        /// What its value has to be.
        expected: &'static str,
        /// What came instead.
        got: String,
        /// Fields that there are, with their types.
        known: String,
    },
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownField { field, known } => {
                write!(
                    f,
                    "there is no field {field} to filter by; fields are {known}"
                )
            }
            Self::Operator {
                field,
                kind,
                operator,
                known,
            } => {
                let sensible: Vec<&str> = Operator::of(*kind)
                    .iter()
                    .map(|operator| operator.name())
                    .collect();
                write!(
                    f,
                    "{operator} makes no sense for {field}, which is a {kind}: use {}; fields are {known}",
                    sensible.join(", ")
                )
            }
            Self::Value {
                field,
                expected,
                got,
                known,
            } => write!(
                f,
                "{field} must be compared with {expected}, got {got}; fields are {known}"
            ),
        }
    }
}

impl std::error::Error for FilterError {}

/// Conditions that a corpus can answer. All must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq)]
struct Check {
    /// Position among the corpus's fields.
    field: usize,
    operator: Operator,
    operand: Operand,
}

/// Values of the field's type, in the form in which they are compared.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    /// In lower case; for text and list fields.
    Texts(Vec<String>),
    Numbers(Vec<f64>),
    Dates(Vec<Date>),
}

impl Filter {
    /// Checks conditions against the fields of a corpus.
    ///
    /// # Errors
    ///
    /// The first condition that can't be answered; the message lists the fields.
    pub fn of(conditions: &[Condition], fields: &[Field]) -> Result<Self, FilterError> {
        let checks = conditions
            .iter()
            .map(|condition| check(condition, fields))
            .collect::<Result<_, _>>()?;
        Ok(Self { checks })
    }

    /// Whether everything passes.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// Whether a document passes, given its values in the order of the fields. A document that lacks a field fails
    /// every condition on it.
    pub fn admits(&self, values: &[Option<FieldValue>]) -> bool {
        self.checks.iter().all(|check| {
            values
                .get(check.field)
                .and_then(Option::as_ref)
                .is_some_and(|value| check.holds(value))
        })
    }
}

fn check(condition: &Condition, fields: &[Field]) -> Result<Check, FilterError> {
    let known = || describe(fields);
    let position = fields
        .iter()
        .position(|field| field.name == condition.field);
    let Some(position) = position else {
        return Err(FilterError::UnknownField {
            field: echo(&condition.field),
            known: known(),
        });
    };
    let Field { name, kind } = &fields[position];
    let operator = condition.operator;
    if !Operator::of(*kind).contains(&operator) {
        return Err(FilterError::Operator {
            field: name.clone(),
            kind: *kind,
            operator: operator.name(),
            known: known(),
        });
    }
    let wrong = |expected, got| FilterError::Value {
        field: name.clone(),
        expected,
        got,
        known: known(),
    };
    if condition.values.len() > 1 && !operator.takes_several(*kind) {
        return Err(wrong(
            "one value (in takes several)",
            format!("{} values", condition.values.len()),
        ));
    }
    let operand =
        operand(*kind, &condition.values).map_err(|(expected, got)| wrong(expected, got))?;
    Ok(Check {
        field: position,
        operator,
        operand,
    })
}

/// The values as the type has them, or what was expected and what came.
fn operand(kind: FieldType, values: &[Scalar]) -> Result<Operand, (&'static str, String)> {
    let shown = |value: &Scalar| match value {
        Scalar::Text(text) => echo(text),
        Scalar::Number(number) => number.to_string(),
    };
    let values = values.iter();
    match kind {
        FieldType::Text | FieldType::List => values
            .map(|value| match value {
                Scalar::Text(text) => Ok(text.trim().to_lowercase()),
                Scalar::Number(_) => Err(("a text", shown(value))),
            })
            .collect::<Result<_, _>>()
            .map(Operand::Texts),
        FieldType::Number => values
            .map(|value| match value {
                Scalar::Number(number) => Ok(*number),
                Scalar::Text(_) => Err(("a number", shown(value))),
            })
            .collect::<Result<_, _>>()
            .map(Operand::Numbers),
        FieldType::Date => values
            .map(|value| {
                let date = match value {
                    Scalar::Text(text) => Date::parse_bound(text),
                    // A year is often sent as a number.
                    Scalar::Number(number) => Date::parse_bound(&number.to_string()),
                };
                date.ok_or((
                    "a date (2026, 2026-11, 2026-11-30 or 2026-11-30T08:00:00Z)",
                    shown(value),
                ))
            })
            .collect::<Result<_, _>>()
            .map(Operand::Dates),
    }
}

impl Check {
    fn holds(&self, value: &FieldValue) -> bool {
        match (value, &self.operand) {
            (FieldValue::Text(text), Operand::Texts(wanted)) => {
                let text = text.trim().to_lowercase();
                wanted.iter().any(|wanted| match self.operator {
                    Operator::Contains => text.contains(wanted.as_str()),
                    _ => text == *wanted,
                })
            }
            (FieldValue::List(items), Operand::Texts(wanted)) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| item.trim().to_lowercase())
                    .collect();
                let has = |wanted: &String| items.contains(wanted);
                match self.operator {
                    Operator::In => wanted.iter().any(has),
                    Operator::Contains => wanted.iter().all(has),
                    _ => wanted.iter().all(has) && items.iter().all(|item| wanted.contains(item)),
                }
            }
            (FieldValue::Number(number), Operand::Numbers(wanted)) => {
                wanted.iter().any(|wanted| match self.operator {
                    Operator::Gte => number >= wanted,
                    Operator::Lte => number <= wanted,
                    _ => number == wanted,
                })
            }
            (FieldValue::Date(date), Operand::Dates(wanted)) => {
                wanted.iter().any(|wanted| match self.operator {
                    Operator::Gte => date.starts_no_earlier_than(wanted),
                    Operator::Lte => date.starts_no_later_than(wanted),
                    _ => date.starts_within(wanted),
                })
            }
            // A field has one type, and operands are made for it.
            _ => false,
        }
    }
}

/// Fields with their types, for messages.
pub fn describe(fields: &[Field]) -> String {
    if fields.is_empty() {
        return "none".to_owned();
    }
    let fields: Vec<String> = fields
        .iter()
        .map(|field| format!("{} ({})", field.name, field.kind))
        .collect();
    fields.join(", ")
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
