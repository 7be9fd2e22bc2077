//! `memory_recent`: what was saved last.

use serde_json::{Value, json};

use super::{Annotations, Tool, ToolReply, list_schemas, memories_schema, object_schema};
use crate::backend::MemoryBackend;
use crate::render::render;
use crate::request::{Moment, RequestError};
use crate::security::validate_recent_args;

pub(super) const TOOL: Tool = Tool {
    name: "memory_recent",
    title: "Recent memories",
    description: "List what was saved last, newest first: where the user left off. Lines as in memory_search.",
    input_schema,
    output_schema,
    annotations: Annotations::READS,
    handler: handle_recent,
};

fn input_schema() -> Value {
    object_schema(list_schemas(), &[])
}

/// The list is read at every start, so what memory_search promises is not spelled out again.
fn output_schema() -> Value {
    memories_schema(json!({"type": "object", "description": "As in memory_search"}))
}

/// Lists; refuses arguments that are out of bounds.
///
/// # Errors
///
/// None: a list needs nothing first.
pub fn handle_recent(
    arguments: &Value,
    backend: &mut MemoryBackend,
    _: &Moment,
) -> Result<ToolReply, RequestError> {
    let args = match validate_recent_args(arguments) {
        Ok(args) => args,
        Err(error) => return Ok(ToolReply::refused(error)),
    };
    Ok(match backend.recent(&args) {
        Ok(memories) => {
            let rendering = render(&memories);
            ToolReply::done(rendering.text, json!(rendering.structured))
        }
        Err(error) => ToolReply::refused(format!("nothing was listed: {error}")),
    })
}
