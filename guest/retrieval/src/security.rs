//! The trust boundary: untrusted values in, checked types or a [`SecurityError`] out.
//!
//! Everything that a model or a client sends passes through here before anything acts on it. The schemas that tools
//! publish are advice; these checks are the rule, and both are made from the bounds in [`crate::config`]. What is not
//! understood is refused.

mod args;
mod error;
mod uri;

pub use args::{
    EvaluationArgs, GrepArgs, InfoArgs, SearchArgs, check_query, validate_conditions,
    validate_evaluation_args, validate_grep_args, validate_info_args, validate_search_args,
};
pub use error::SecurityError;
pub use uri::{DocumentUri, document_uri, parse_document_uri};

use serde_json::Value;

use crate::config::ECHO_CHARS;

/// A caller's value as it may stand in a message: on one line, and cut.
pub fn echo(value: &str) -> String {
    let quoted = |part: &str| format!("{part:?}");
    match value.char_indices().nth(ECHO_CHARS) {
        None => quoted(value),
        Some((end, _)) => format!(
            "{}… ({} characters)",
            quoted(&value[..end]),
            value.chars().count()
        ),
    }
}

/// A JSON value in a message. A container is only named: it can be as large as the request.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => echo(text),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}
