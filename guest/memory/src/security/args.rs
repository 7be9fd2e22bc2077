//! Tool arguments.
//!
//! An explicit `null` stands for an argument that is absent where one may be absent: models send it often, and it can
//! mean nothing else. Where an argument is required, `null` is refused like any other wrong type.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{SecurityError, echo, parse_id};
use crate::config::{
    DEFAULT_K, ENTRIES, Kind, MAX_IMPORTANCE, MAX_K, MAX_TAG_CHARS, MAX_TAGS, MAX_TEXT_CHARS,
    MIN_IMPORTANCE, RESOURCE_SCHEME,
};
use crate::filter::Filter;
use crate::visible::is_plain;

/// What `memory_search` was asked, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchArgs {
    /// Stripped; not blank; at most `MAX_TEXT_CHARS`.
    pub query: String,
    /// From 1 to `MAX_K`.
    pub k: usize,
    /// Which memories may be found at all.
    pub filter: Filter,
}

impl SearchArgs {
    /// A search for nothing but a query, which [`check_query`] has let pass.
    pub fn for_query(query: String) -> Self {
        Self {
            query,
            k: DEFAULT_K,
            filter: Filter::default(),
        }
    }
}

/// What `memory_save` was asked, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct SaveArgs {
    /// Exactly as it came; not blank; at most `MAX_TEXT_CHARS`.
    pub text: String,
    /// Episodic unless said otherwise.
    pub kind: Kind,
    /// `None` when nothing was said: the default for a new memory, no change for one that is there already.
    pub importance: Option<f64>,
    /// Trimmed, each once, in the order given.
    pub tags: Vec<String>,
}

/// What `memory_recent` was asked, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentArgs {
    /// From 1 to `MAX_K`.
    pub k: usize,
    /// Which memories are meant at all.
    pub filter: Filter,
}

/// The arguments that `memory_search` knows.
const SEARCH_ARGUMENTS: &[&str] = &[
    "query",
    "k",
    "kind",
    "tags",
    "since",
    "until",
    "min_importance",
];
/// The arguments that `memory_recent` knows.
const RECENT_ARGUMENTS: &[&str] = &["k", "kind", "tags", "since", "until"];
/// The arguments that `memory_save` knows.
const SAVE_ARGUMENTS: &[&str] = &["text", "kind", "importance", "tags"];
/// The arguments of tools that want an id and nothing else.
const ID_ARGUMENTS: &[&str] = &["id"];

/// Checks the arguments of `memory_search`. A `k` above `MAX_K` is cut to it.
///
/// # Errors
///
/// Anything else that is out of bounds, of another type or unknown.
pub fn validate_search_args(arguments: &Value) -> Result<SearchArgs, SecurityError> {
    let arguments = Arguments::of(arguments, SEARCH_ARGUMENTS)?;
    let query = check_query("query", arguments.required_text("query")?)?;
    let filter = Filter {
        min_importance: arguments.importance("min_importance")?,
        ..arguments.filter()?
    };
    Ok(SearchArgs {
        query,
        k: arguments.k()?,
        filter,
    })
}

/// Checks the arguments of `memory_recent`. A `k` above `MAX_K` is cut to it.
///
/// # Errors
///
/// Anything else that is out of bounds, of another type or unknown.
pub fn validate_recent_args(arguments: &Value) -> Result<RecentArgs, SecurityError> {
    let arguments = Arguments::of(arguments, RECENT_ARGUMENTS)?;
    Ok(RecentArgs {
        filter: arguments.filter()?,
        k: arguments.k()?,
    })
}

/// Checks the arguments of a tool that wants an id and nothing else; returns the memory's number.
///
/// # Errors
///
/// An id that is none, whatever it may have meant; anything that is unknown.
pub fn validate_id_args(arguments: &Value) -> Result<u64, SecurityError> {
    Arguments::of(arguments, ID_ARGUMENTS)?.id()
}

/// Checks the arguments of `memory_save`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown.
pub fn validate_save_args(arguments: &Value) -> Result<SaveArgs, SecurityError> {
    let arguments = Arguments::of(arguments, SAVE_ARGUMENTS)?;
    let text = arguments.required_text("text")?;
    check_text("text", text)?;
    Ok(SaveArgs {
        text: text.to_owned(),
        kind: arguments.kind()?.unwrap_or_default(),
        importance: arguments.importance("importance")?,
        tags: arguments.tags()?,
    })
}

/// Checks a query, from wherever it comes (`argument` names it in messages), and strips it.
///
/// # Errors
///
/// A query that is blank or too long.
pub fn check_query(argument: &'static str, query: &str) -> Result<String, SecurityError> {
    let query = query.trim();
    check_text(argument, query)?;
    Ok(query.to_owned())
}

/// Not blank, not too long, and without NUL, which many programs take for the end of a text. Nothing else is forbidden:
/// a memory is kept as it is, and made harmless where it is shown.
pub(super) fn check_text(argument: &'static str, text: &str) -> Result<(), SecurityError> {
    let invalid = |expected: String, got: String| {
        Err(SecurityError::Invalid {
            argument,
            expected,
            got,
        })
    };
    if text.trim().is_empty() {
        return invalid("more than white space".to_owned(), echo(text));
    }
    let chars = text.chars().count();
    if chars > MAX_TEXT_CHARS {
        return invalid(
            format!("at most {MAX_TEXT_CHARS} characters long"),
            format!("{chars} characters"),
        );
    }
    if let Some(at) = text.find('\0') {
        return invalid(
            "a text without NUL characters".to_owned(),
            format!("one at byte {at}"),
        );
    }
    Ok(())
}

/// Which end of a day a plain date stands for.
#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

/// Arguments whose names are all known.
pub(super) struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    pub(super) fn of(arguments: &'a Value, known: &[&str]) -> Result<Self, SecurityError> {
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
    pub(super) fn optional(&self, argument: &str) -> Option<&'a Value> {
        self.0.get(argument).filter(|value| !value.is_null())
    }

    pub(super) fn required_text(&self, argument: &'static str) -> Result<&'a str, SecurityError> {
        match self.0.get(argument) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => invalid(argument, "a string", other),
            None => Err(SecurityError::Missing { argument }),
        }
    }

    /// A required id. What is nearly one is refused with its right spelling: a guess would be good enough to read a memory,
    /// and not to change one.
    pub(super) fn id(&self) -> Result<u64, SecurityError> {
        let value = match self.0.get("id") {
            None => return Err(SecurityError::Missing { argument: "id" }),
            Some(value) => value,
        };
        if let Some(id) = value.as_str().and_then(parse_id) {
            return Ok(id);
        }
        let meant = match value {
            Value::String(text) => meant_id(text),
            other => other.as_u64(),
        };
        match meant {
            Some(id) => invalid("id", &format!("written \"m{id}\""), value),
            None => invalid("id", "m and a number, such as \"m3\"", value),
        }
    }

    /// The conditions that every list of memories knows.
    fn filter(&self) -> Result<Filter, SecurityError> {
        let filter = Filter {
            kind: self.kind()?,
            tags: self.tags()?,
            since: self.time("since", Edge::Start)?,
            until: self.time("until", Edge::End)?,
            min_importance: None,
        };
        match (filter.since, filter.until) {
            (Some(since), Some(until)) if since > until => Err(SecurityError::Invalid {
                argument: "since",
                expected: format!("no later than until ({until})"),
                got: since.to_string(),
            }),
            _ => Ok(filter),
        }
    }

    /// An integer as JSON Schema defines it: `3.0` is one, `2.5`, `true` and `"3"` are none.
    fn k(&self) -> Result<usize, SecurityError> {
        let Some(value) = self.optional("k") else {
            return Ok(DEFAULT_K);
        };
        match value.as_f64() {
            // The cast saturates; what is lost above 2^53 is far above the maximum.
            Some(k) if k >= 1.0 && k.fract() == 0.0 => Ok((k as usize).min(MAX_K)),
            _ => invalid("k", &format!("an integer from 1 to {MAX_K}"), value),
        }
    }

    pub(super) fn kind(&self) -> Result<Option<Kind>, SecurityError> {
        let Some(value) = self.optional("kind") else {
            return Ok(None);
        };
        match value.as_str().and_then(Kind::from_name) {
            Some(kind) => Ok(Some(kind)),
            None => invalid(
                "kind",
                &format!("one of {}", Kind::ALL.map(Kind::name).join(", ")),
                value,
            ),
        }
    }

    pub(super) fn importance(&self, argument: &'static str) -> Result<Option<f64>, SecurityError> {
        let Some(value) = self.optional(argument) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(importance) if (MIN_IMPORTANCE..=MAX_IMPORTANCE).contains(&importance) => {
                Ok(Some(importance))
            }
            _ => invalid(
                argument,
                &format!("a number from {MIN_IMPORTANCE:.1} to {MAX_IMPORTANCE:.1}"),
                value,
            ),
        }
    }

    pub(super) fn tags(&self) -> Result<Vec<String>, SecurityError> {
        let mut tags = Vec::new();
        let Some(value) = self.optional("tags") else {
            return Ok(tags);
        };
        let Value::Array(items) = value else {
            return invalid("tags", "an array of strings", value);
        };
        for item in items {
            let Some(tag) = item.as_str().map(str::trim) else {
                return invalid("tags", "an array of strings", item);
            };
            if tag.is_empty() || tag.chars().count() > MAX_TAG_CHARS || !is_plain(tag) {
                let expected = format!(
                    "tags of 1 to {MAX_TAG_CHARS} characters without line breaks or invisible characters"
                );
                return Err(SecurityError::Invalid {
                    argument: "tags",
                    expected,
                    got: echo(tag),
                });
            }
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        if tags.len() > MAX_TAGS {
            let (expected, got) = (format!("at most {MAX_TAGS} tags"), tags.len().to_string());
            return Err(SecurityError::Invalid {
                argument: "tags",
                expected,
                got,
            });
        }
        Ok(tags)
    }

    fn time(&self, argument: &'static str, edge: Edge) -> Result<Option<Timestamp>, SecurityError> {
        let Some(value) = self.optional(argument) else {
            return Ok(None);
        };
        match value
            .as_str()
            .and_then(|text| parse_time(text.trim(), edge))
        {
            Some(time) => Ok(Some(time)),
            None => invalid(
                argument,
                "a date (2026-11-30) or a timestamp with offset (2026-11-30T08:00:00Z)",
                value,
            ),
        }
    }
}

/// The number that a text names which is almost an id: a URI, a bare number, another case, brackets around it.
fn meant_id(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let uri = format!("{RESOURCE_SCHEME}://{ENTRIES}/");
    let id = text.strip_prefix(&uri).unwrap_or(&text);
    let id = id.trim_matches(|around: char| !around.is_ascii_alphanumeric());
    let number = id.strip_prefix('m').unwrap_or(id);
    parse_id(&format!("m{number}"))
}

/// A timestamp, or the first or last instant of a day in UTC, since memories are kept in UTC.
fn parse_time(text: &str, edge: Edge) -> Option<Timestamp> {
    const PLAIN_DATE: usize = "2026-11-30".len();
    if text.len() != PLAIN_DATE {
        return text.parse().ok();
    }
    let date: Date = text.parse().ok()?;
    // The last days of the year 9999 are dates, but past the last timestamp.
    let start: Timestamp = format!("{date}T00:00:00Z")
        .parse()
        .unwrap_or(Timestamp::MAX);
    Some(match edge {
        Edge::Start => start,
        Edge::End => start
            .checked_add(SignedDuration::from_millis(24 * 60 * 60 * 1000 - 1))
            .unwrap_or(start),
    })
}

fn invalid<T>(argument: &'static str, expected: &str, got: &Value) -> Result<T, SecurityError> {
    Err(SecurityError::Invalid {
        argument,
        expected: expected.to_owned(),
        got: show(got),
    })
}

/// A JSON value in a message. A container is only named: it can be as large as the request.
fn show(value: &Value) -> String {
    match value {
        Value::String(text) => echo(text),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
