//! `memory_update`: makes a memory say something else.

use serde_json::{Value, json};

use super::{
    Annotations, Tool, ToolReply, described, id_schema, importance_schema, in_full, in_question,
    kind_schema, object_schema, refusal, result_schema, tags_schema, text_schema, traits, withheld,
};
use crate::backend::{Entry, MemoryBackend};
use crate::consent::{Deed, Proposal};
use crate::render::entry_uri;
use crate::request::{Moment, RequestError};
use crate::security::{UpdateArgs, validate_update_args};

pub(super) const TOOL: Tool = Tool {
    name: "memory_update",
    title: "Update a memory",
    description: "Correct or complete a memory by its id, instead of saving a second one. What you leave out stays.",
    input_schema,
    output_schema,
    annotations: Annotations::CHANGES,
    handler: handle_update,
};

fn input_schema() -> Value {
    object_schema(
        json!({
            "id": id_schema(),
            "text": text_schema("The whole new text"),
            "kind": kind_schema(),
            "importance": importance_schema(),
            "tags": described(tags_schema(), "All tags from now on"),
        }),
        &["id"],
    )
}

fn output_schema() -> Value {
    result_schema(
        json!({
            "id": {"type": "string"},
            "uri": {"type": "string"},
            "changed": {"type": "boolean"},
        }),
        &["id", "uri", "changed"],
    )
}

/// Changes a memory; refuses arguments that are out of bounds.
///
/// # Errors
///
/// Where the person has to be asked first.
pub fn handle_update(
    arguments: &Value,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<ToolReply, RequestError> {
    let args = match validate_update_args(arguments) {
        Ok(args) => args,
        Err(error) => return Ok(ToolReply::refused(error)),
    };
    let (id, done) = (args.id, Deed::Update.done());
    let (entry, text) = match backend.living(id) {
        Ok(living) => living,
        Err(error) => return Ok(refusal(done, error)),
    };
    let (message, subject) = question(&args, &entry, text.as_deref());
    let proposal = Proposal {
        deed: Deed::Update,
        arguments,
        message: &message,
        subject: &subject,
        instead: "change it with another app",
    };
    if let Some(refusal) = withheld(&proposal, moment)? {
        return Ok(refusal);
    }
    Ok(match backend.update(&args, moment) {
        Ok(updated) => {
            let text = match updated.changed {
                true => format!("Updated m{id}."),
                false => format!("m{id} said so before."),
            };
            ToolReply::done(
                text,
                json!({"id": format!("m{id}"), "uri": entry_uri(id), "changed": updated.changed}),
            )
        }
        Err(error) => refusal(done, error),
    })
}

/// The memory as it is, and what is to change.
fn question(args: &UpdateArgs, entry: &Entry, text: Option<&str>) -> (String, String) {
    let (before, subject) = in_full(entry, text);
    let text = args.text.as_deref().map(in_question);
    let text = text.map_or_else(String::new, |text| format!("\ntext: {text}"));
    let about = traits(args.kind, args.importance, args.tags.as_deref());
    let id = args.id;
    let message = format!("Change memory m{id}?\n\n{before}\n\nIt would get:{text}{about}");
    (message, subject)
}
