//! `memory_save`: keeps a memory.

use serde_json::{Value, json};

use super::{
    Annotations, Tool, ToolReply, described, importance_schema, in_question, kind_schema,
    object_schema, result_schema, tags_schema, text_schema, traits, withheld,
};
use crate::backend::{MemoryBackend, Merge, SaveError, Saved};
use crate::config::{DEFAULT_IMPORTANCE, Kind};
use crate::consent::{Deed, Proposal};
use crate::render::entry_uri;
use crate::request::{Moment, RequestError};
use crate::security::{SaveArgs, validate_save_args};
use crate::store::StoreError;

pub(super) const TOOL: Tool = Tool {
    name: "memory_save",
    title: "Save a memory",
    description: "Save something to the user's long-term memory. Call it without being asked when you learn what will \
        matter in later conversations: a preference, a decision and its reason, a fact, a date, how something is done. One \
        self-contained memory a call: names instead of pronouns, absolute dates. No passwords or keys. Kinds: episodic (it \
        happened), semantic (it is so), procedural (how it is done). Saving the same text again returns the same id.",
    input_schema,
    output_schema,
    annotations: Annotations::ADDS,
    handler: handle_save,
};

fn input_schema() -> Value {
    let mut kind = kind_schema();
    kind["default"] = json!(Kind::default());
    let mut importance = importance_schema();
    importance["default"] = json!(DEFAULT_IMPORTANCE);
    object_schema(
        json!({
            "text": text_schema("What to remember"),
            "kind": kind,
            "importance": described(importance, "1 a passing remark, 10 never to be missed"),
            "tags": described(tags_schema(), "Such as the project's name"),
        }),
        &["text"],
    )
}

fn output_schema() -> Value {
    result_schema(
        json!({
            "id": {"type": "string"},
            "uri": {"type": "string"},
            "created": {"type": "boolean"},
        }),
        &["id", "uri", "created"],
    )
}

/// Saves; refuses arguments that are out of bounds.
///
/// # Errors
///
/// Where the person has to be asked first.
pub fn handle_save(
    arguments: &Value,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<ToolReply, RequestError> {
    let args = match validate_save_args(arguments) {
        Ok(args) => args,
        Err(error) => return Ok(ToolReply::refused(error)),
    };
    let message = question(&args);
    let proposal = Proposal {
        deed: Deed::Save,
        arguments,
        message: &message,
        subject: &args.text,
        instead: "save it with another app",
    };
    if let Some(refusal) = withheld(&proposal, moment)? {
        return Ok(refusal);
    }
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

fn question(args: &SaveArgs) -> String {
    let tags = Some(args.tags.as_slice()).filter(|tags| !tags.is_empty());
    format!(
        "Save this to your memory?\n\ntext: {}{}",
        in_question(&args.text),
        traits(Some(args.kind), args.importance, tags)
    )
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
