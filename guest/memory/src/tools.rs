//! Tools: what a model may do. The table, and the way into it.

mod save;
mod search;

pub use save::handle_save;
pub use search::handle_search;

use serde_json::{Value, json};

use crate::backend::MemoryBackend;
use crate::config::{Kind, MAX_TAG_CHARS, MAX_TAGS};
use crate::request::{Moment, RequestError};

/// A tool as a client sees it, and what runs when it is called.
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
    /// What it does to the world.
    pub annotations: Annotations,
    handler: fn(&Value, &mut MemoryBackend, &Moment) -> Result<ToolReply, RequestError>,
}

/// True statements on what a tool does to the world. None of ours reaches beyond the store or destroys anything.
#[derive(Clone, Copy, Debug)]
pub struct Annotations {
    /// It changes nothing that anybody would call content.
    pub read_only: bool,
    /// Again with the same arguments, it changes nothing more.
    pub idempotent: bool,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// For the model.
    pub text: String,
    /// The same as the output schema has it; none in a refusal.
    pub structured: Option<Value>,
    /// The tool refused or failed; the text says what to change.
    pub is_error: bool,
}

impl ToolReply {
    fn done(text: String, structured: Value) -> Self {
        Self {
            text,
            structured: Some(structured),
            is_error: false,
        }
    }

    fn refused(error: impl std::fmt::Display) -> Self {
        Self {
            text: error.to_string(),
            structured: None,
            is_error: true,
        }
    }
}

/// All tools, in the order in which they are listed. Adding one is a line here and a file.
pub const TOOLS: &[Tool] = &[search::TOOL, save::TOOL];

/// Calls a tool by its name.
///
/// # Errors
///
/// For a name that no tool has, and where something is needed first; a tool that refuses its arguments says so in its
/// reply.
pub fn dispatch(
    name: &str,
    arguments: &Value,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<ToolReply, RequestError> {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.handler)(arguments, backend, moment),
        None => Err(RequestError::UnknownName(name.to_owned())),
    }
}

fn object_schema(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn kind_schema() -> Value {
    json!({"type": "string", "enum": Kind::ALL})
}

fn tags_schema(description: &str) -> Value {
    json!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAG_CHARS},
        "maxItems": MAX_TAGS,
        "description": description,
    })
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
