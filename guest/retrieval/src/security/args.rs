//! Tool arguments.
//!
//! An explicit `null` stands for an argument that is absent where one may be absent: models send it often, and it can
//! mean nothing else. Whether a corpus or a field exists is not decided here: that needs the corpus.

use serde_json::{Map, Value};

use super::{SecurityError, echo, show};
use crate::config::{
    DEFAULT_K, DEFAULT_RESULTS, MAX_FILTER_CHARS, MAX_FILTER_VALUES, MAX_FILTERS, MAX_GLOB_CHARS,
    MAX_ID_CHARS, MAX_K, MAX_PATTERN_CHARS, MAX_QUERY_CHARS, MAX_RESULTS,
};
use crate::filter::{Condition, Operator, Scalar};
use crate::retriever::Mode;

/// What `search_documents` was asked, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchArgs {
    /// Stripped; not blank; at most `MAX_QUERY_CHARS`.
    pub query: String,
    /// None: the default corpus.
    pub corpus: Option<String>,
    /// All must hold.
    pub filters: Vec<Condition>,
    /// From 1 to `MAX_K`.
    pub k: usize,
    /// How to rank.
    pub mode: Mode,
}

/// What `corpus_info` was asked, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfoArgs {
    /// None: all of them, in short.
    pub corpus: Option<String>,
}

/// What `run_evaluation` was asked, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationArgs {
    /// None: the default corpus.
    pub corpus: Option<String>,
    /// From 1 to `MAX_K`.
    pub k: usize,
    /// Whether the filters of queries that have some are applied.
    pub apply_filters: bool,
    /// How to rank.
    pub mode: Mode,
}

/// What `search_my_repos` was asked, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepArgs {
    /// Not empty; at most `MAX_PATTERN_CHARS`. Whether it is a regular expression is for the engine to say.
    pub pattern: String,
    /// Which files are searched.
    pub path_glob: Option<String>,
    /// From 1 to `MAX_RESULTS`.
    pub max_results: usize,
}

/// Checks the arguments of `search_documents`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown.
pub fn validate_search_args(arguments: &Value) -> Result<SearchArgs, SecurityError> {
    let arguments = Arguments::of(arguments, &["query", "corpus", "filters", "k", "mode"])?;
    let Some(query) = arguments.text("query", MAX_QUERY_CHARS)? else {
        return Err(missing("query"));
    };
    Ok(SearchArgs {
        query: check_query("query", query)?,
        corpus: arguments.corpus()?,
        filters: match arguments.optional("filters") {
            Some(filters) => validate_conditions("filters", filters)?,
            None => Vec::new(),
        },
        k: arguments.integer("k", DEFAULT_K, MAX_K)?,
        mode: arguments.mode()?,
    })
}

/// Checks the arguments of `corpus_info`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown.
pub fn validate_info_args(arguments: &Value) -> Result<InfoArgs, SecurityError> {
    let arguments = Arguments::of(arguments, &["corpus"])?;
    Ok(InfoArgs {
        corpus: arguments.corpus()?,
    })
}

/// Checks the arguments of `run_evaluation`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown.
pub fn validate_evaluation_args(arguments: &Value) -> Result<EvaluationArgs, SecurityError> {
    let arguments = Arguments::of(arguments, &["corpus", "k", "apply_filters", "mode"])?;
    Ok(EvaluationArgs {
        corpus: arguments.corpus()?,
        k: arguments.integer("k", DEFAULT_K, MAX_K)?,
        apply_filters: match arguments.optional("apply_filters") {
            None => true,
            Some(Value::Bool(apply)) => *apply,
            Some(other) => return invalid("apply_filters", "true or false", show(other)),
        },
        mode: arguments.mode()?,
    })
}

/// Checks the arguments of `search_my_repos`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown.
pub fn validate_grep_args(arguments: &Value) -> Result<GrepArgs, SecurityError> {
    let arguments = Arguments::of(arguments, &["pattern", "path_glob", "max_results"])?;
    let Some(pattern) = arguments.text("pattern", MAX_PATTERN_CHARS)? else {
        return Err(missing("pattern"));
    };
    if pattern.is_empty() {
        return invalid("pattern", "at least one character", echo(pattern));
    }
    Ok(GrepArgs {
        pattern: pattern.to_owned(),
        path_glob: arguments
            .text("path_glob", MAX_GLOB_CHARS)?
            .filter(|glob| !glob.trim().is_empty())
            .map(str::to_owned),
        max_results: arguments.integer("max_results", DEFAULT_RESULTS, MAX_RESULTS)?,
    })
}

/// Checks a query, from wherever it comes (`argument` names it in messages), and strips it.
///
/// # Errors
///
/// A query that is blank or too long.
pub fn check_query(argument: &str, query: &str) -> Result<String, SecurityError> {
    let query = query.trim();
    if query.is_empty() {
        return invalid(argument, "more than white space", echo(query));
    }
    check_length(argument, query, MAX_QUERY_CHARS)?;
    Ok(query.to_owned())
}

/// Checks a list of filters, from wherever it comes: a call, or a query of a corpus.
///
/// # Errors
///
/// Names the filter by its position, and what is wrong with it.
pub fn validate_conditions(
    argument: &str,
    filters: &Value,
) -> Result<Vec<Condition>, SecurityError> {
    let Value::Array(filters) = filters else {
        return invalid(
            argument,
            r#"an array of objects such as {"field":"year","op":"gte","value":2020}"#,
            show(filters),
        );
    };
    if filters.len() > MAX_FILTERS {
        return invalid(
            argument,
            &format!("at most {MAX_FILTERS} filters"),
            filters.len().to_string(),
        );
    }
    let conditions = filters.iter().enumerate();
    conditions
        .map(|(index, filter)| condition(&format!("{argument}[{index}]"), filter))
        .collect()
}

fn condition(place: &str, filter: &Value) -> Result<Condition, SecurityError> {
    let Value::Object(members) = filter else {
        return invalid(
            place,
            r#"an object such as {"field":"year","op":"gte","value":2020}"#,
            show(filter),
        );
    };
    let known = ["field", "op", "value"];
    if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(SecurityError::Unknown {
            argument: format!("{place}.{}", echo(name)),
            known: known.join(", "),
        });
    }
    let member = |name: &str| {
        members
            .get(name)
            .ok_or_else(|| missing(&format!("{place}.{name}")))
    };
    let field = match member("field")? {
        Value::String(field) => field.clone(),
        other => return invalid(&format!("{place}.field"), "a string", show(other)),
    };
    check_length(&format!("{place}.field"), &field, MAX_FILTER_CHARS)?;
    let op = member("op")?;
    let Some(operator) = op.as_str().and_then(Operator::from_name) else {
        let expected = format!("one of {}", Operator::ALL.map(Operator::name).join(", "));
        return invalid(&format!("{place}.op"), &expected, show(op));
    };
    let values = values(&format!("{place}.value"), member("value")?)?;
    Ok(Condition {
        field,
        operator,
        values,
    })
}

/// One value, or several in an array: which operators take several is the filter's business.
fn values(place: &str, value: &Value) -> Result<Vec<Scalar>, SecurityError> {
    let one = |value: &Value| match value {
        Value::String(text) => {
            check_length(place, text, MAX_FILTER_CHARS)?;
            Ok(Scalar::Text(text.clone()))
        }
        Value::Bool(flag) => Ok(Scalar::Text(flag.to_string())),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.is_finite() => Ok(Scalar::Number(number)),
            _ => invalid(place, "a finite number", show(value)),
        },
        other => invalid(
            place,
            "a text, a number or an array of them",
            match other {
                Value::Null => "null".to_owned(),
                other => show(other),
            },
        ),
    };
    match value {
        Value::Array(items) if items.is_empty() || items.len() > MAX_FILTER_VALUES => invalid(
            place,
            &format!("1 to {MAX_FILTER_VALUES} values"),
            items.len().to_string(),
        ),
        Value::Array(items) => items.iter().map(one).collect(),
        single => Ok(vec![one(single)?]),
    }
}

/// Arguments whose names are all known.
struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    fn of(arguments: &'a Value, known: &[&str]) -> Result<Self, SecurityError> {
        let Value::Object(map) = arguments else {
            return Err(SecurityError::NotAnObject {
                got: show(arguments),
            });
        };
        match map.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(SecurityError::Unknown {
                argument: echo(name),
                known: known.join(", "),
            }),
            None => Ok(Self(map)),
        }
    }

    /// An argument that may be absent, or null.
    fn optional(&self, argument: &str) -> Option<&'a Value> {
        self.0.get(argument).filter(|value| !value.is_null())
    }

    fn text(&self, argument: &str, max_chars: usize) -> Result<Option<&'a str>, SecurityError> {
        match self.optional(argument) {
            None => Ok(None),
            Some(Value::String(text)) => {
                check_length(argument, text, max_chars)?;
                Ok(Some(text))
            }
            Some(other) => invalid(argument, "a string", show(other)),
        }
    }

    fn corpus(&self) -> Result<Option<String>, SecurityError> {
        Ok(self.text("corpus", MAX_ID_CHARS)?.map(str::to_owned))
    }

    /// An integer as JSON Schema defines it: `3.0` is one, `2.5`, `true` and `"3"` are none.
    fn integer(&self, argument: &str, default: usize, max: usize) -> Result<usize, SecurityError> {
        let Some(value) = self.optional(argument) else {
            return Ok(default);
        };
        match value.as_f64() {
            Some(number) if number.fract() == 0.0 && (1.0..=max as f64).contains(&number) => {
                Ok(number as usize)
            }
            _ => invalid(
                argument,
                &format!("an integer from 1 to {max}"),
                show(value),
            ),
        }
    }

    fn mode(&self) -> Result<Mode, SecurityError> {
        let Some(value) = self.optional("mode") else {
            return Ok(Mode::default());
        };
        match value.as_str().and_then(Mode::from_name) {
            Some(mode) => Ok(mode),
            None => invalid(
                "mode",
                &format!("one of {}", Mode::ALL.map(Mode::name).join(", ")),
                show(value),
            ),
        }
    }
}

fn check_length(argument: &str, text: &str, max_chars: usize) -> Result<(), SecurityError> {
    let chars = text.chars().count();
    if chars > max_chars {
        return invalid(
            argument,
            &format!("at most {max_chars} characters long"),
            format!("{chars} characters"),
        );
    }
    Ok(())
}

fn missing(argument: &str) -> SecurityError {
    SecurityError::Missing {
        argument: argument.to_owned(),
    }
}

fn invalid<T>(argument: &str, expected: &str, got: String) -> Result<T, SecurityError> {
    Err(SecurityError::Invalid {
        argument: argument.to_owned(),
        expected: expected.to_owned(),
        got,
    })
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
