//! Tools: what a model may do. The table, and the way into it.

mod evaluate;
mod grep;
mod info;
mod search;

use serde_json::{Value, json};

use crate::config::{CORPUS_GRANT, MAX_ID_CHARS, MAX_K};
use crate::corpus::{CorpusError, Origin};
use crate::library::Library;
use crate::request::{Call, RequestError};
use crate::retriever::Mode;

pub(crate) use info::describe_corpus;

/// A tool as a client sees it, and what runs when it is called. None of them changes anything, and none reaches beyond
/// what was granted.
pub struct Tool {
    /// Unique.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// For the model: what it does, when to use it, what it returns.
    pub description: &'static str,
    /// JSON Schema of the arguments. Advice: the handler checks them again.
    pub input_schema: fn() -> Value,
    /// JSON Schema of the structured content.
    pub output_schema: fn() -> Value,
    handler: fn(&Value, &mut Library, &Call<'_>) -> ToolReply,
}

/// A document that a reply points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where to read it.
    pub uri: String,
    /// Its id.
    pub name: String,
    /// What it is called.
    pub title: String,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// For the model.
    pub text: String,
    /// Documents that can be read.
    pub links: Vec<Link>,
    /// The same as the output schema has it; none in a refusal.
    pub structured: Option<Value>,
    /// The tool refused or failed; the text says what to change.
    pub is_error: bool,
}

impl ToolReply {
    fn done(text: String, structured: Value) -> Self {
        Self {
            text,
            links: Vec::new(),
            structured: Some(structured),
            is_error: false,
        }
    }

    fn refused(error: impl std::fmt::Display) -> Self {
        Self {
            text: error.to_string(),
            links: Vec::new(),
            structured: None,
            is_error: true,
        }
    }

    /// A corpus that can't be opened: which one, why, and what to do about a directory that was not granted.
    fn no_corpus(library: &Library, name: Option<&str>, error: &CorpusError) -> Self {
        let text = match error {
            CorpusError::Unknown { .. } => {
                format!("{error}. The person adds one with --dir {CORPUS_GRANT}NAME=PATH:ro")
            }
            _ => format!(
                "the corpus {} can't be used: {error}",
                name.unwrap_or(library.default_name())
            ),
        };
        Self::refused(text)
    }
}

/// All tools, in the order in which they are listed. Adding one is a line here and a file.
pub const TOOLS: &[Tool] = &[search::TOOL, info::TOOL, evaluate::TOOL, grep::TOOL];

/// Calls a tool by its name.
///
/// # Errors
///
/// Only for a name that no tool has; a tool that refuses its arguments says so in its reply.
pub fn dispatch(
    name: &str,
    arguments: &Value,
    library: &mut Library,
    call: &Call<'_>,
) -> Result<ToolReply, RequestError> {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => Ok((tool.handler)(arguments, library, call)),
        None => Err(RequestError::UnknownName(name.to_owned())),
    }
}

fn object_schema(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn corpus_schema(default: &str) -> Value {
    json!({
        "type": "string",
        "maxLength": MAX_ID_CHARS,
        "description": format!("Its name, see corpus_info. Without: {default}"),
    })
}

fn k_schema(default: usize, description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_K, "default": default, "description": description})
}

fn mode_schema() -> Value {
    json!({
        "type": "string",
        "enum": Mode::ALL.map(Mode::name),
        "default": Mode::default().name(),
        "description": "lexical: words (BM25); dense: vectors; hybrid: both",
    })
}

fn origin_schema() -> Value {
    json!({
        "type": "string",
        "enum": Origin::ALL.map(Origin::name),
        "description": "Whether the data is real or was made by a program; unstated: its owner doesn't say",
    })
}

/// Three decimals: what is beyond is noise.
fn rounded(value: f32) -> Value {
    json!((f64::from(value) * 1000.0).round() / 1000.0)
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
