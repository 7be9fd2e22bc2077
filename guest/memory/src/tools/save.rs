//! `memory_save`: keeps a memory.

use serde_json::{Value, json};

use super::{Annotations, Tool, ToolReply, kind_schema, object_schema, tags_schema};
use crate::backend::{MemoryBackend, Merge, SaveError, Saved};
use crate::config::{DEFAULT_IMPORTANCE, Kind, MAX_IMPORTANCE, MAX_TEXT_CHARS, MIN_IMPORTANCE};
use crate::render::entry_uri;
use crate::request::{Moment, RequestError};
use crate::security::validate_save_args;
use crate::store::StoreError;

pub(super) const TOOL: Tool = Tool {
    name: "memory_save",
    title: "Save a memory",
    description: "Save something to the user's long-term memory, where all their AI apps find it. Call it without being \
        asked when you learn what will matter in later conversations: a preference, a decision and its reason, a fact about \
        the user or a project, a date, how something is done, a correction. One self-contained memory a call: names instead \
        of pronouns, absolute dates. No passwords or keys. Kinds: episodic (happened or was said), semantic (a fact that \
        holds), procedural (how to do something). Saving the same text again is harmless: it returns the same id.",
    input_schema,
    output_schema,
    annotations: Annotations {
        read_only: false,
        idempotent: true,
    },
    handler: handle_save,
};

fn input_schema() -> Value {
    let mut kind = kind_schema();
    kind["default"] = json!(Kind::default());
    kind["description"] = json!("What sort of memory");
    object_schema(
        json!({
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS, "description": "What to remember"},
            "kind": kind,
            "importance": {
                "type": "number",
                "minimum": MIN_IMPORTANCE,
                "maximum": MAX_IMPORTANCE,
                "default": DEFAULT_IMPORTANCE,
                "description": "1 a passing remark, 10 never to be missed",
            },
            "tags": tags_schema("To filter by later, such as the project's name"),
        }),
        &["text"],
    )
}

fn output_schema() -> Value {
    object_schema(
        json!({
            "id": {"type": "string"},
            "uri": {"type": "string"},
            "created": {"type": "boolean", "description": "false: it was there already"},
        }),
        &["id", "uri", "created"],
    )
}

/// Saves; refuses arguments that are out of bounds.
///
/// # Errors
///
/// None: a save needs nothing first.
pub fn handle_save(
    arguments: &Value,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<ToolReply, RequestError> {
    let args = match validate_save_args(arguments) {
        Ok(args) => args,
        Err(error) => return Ok(ToolReply::refused(error)),
    };
    let reply = match backend.save(&args, moment) {
        Ok(Saved {
            id,
            created,
            merged,
        }) => {
            let text = if created {
                format!("Saved m{id}.")
            } else {
                format!("Already saved as m{id}{}.", additions(&merged))
            };
            ToolReply::done(
                text,
                json!({"id": format!("m{id}"), "uri": entry_uri(id), "created": created}),
            )
        }
        Err(error @ SaveError::Store(StoreError::InDoubt(_))) => ToolReply::refused(error),
        Err(error) => ToolReply::refused(format!("nothing was stored: {error}")),
    };
    Ok(reply)
}

/// What a memory that was there already gained, to follow on its id.
fn additions(merged: &Merge) -> String {
    let mut said = Vec::new();
    if !merged.tags.is_empty() {
        said.push(format!("added tags {}", merged.tags.join(", ")));
    }
    if let Some(importance) = merged.importance {
        said.push(format!("raised its importance to {importance}"));
    }
    match said.is_empty() {
        true => String::new(),
        false => format!("; {}", said.join(" and ")),
    }
}
