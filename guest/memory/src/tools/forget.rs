//! `memory_forget`: hides a memory. Only its owner can bring it back, or erase it for good.

use serde_json::{Value, json};

use super::{
    Annotations, Tool, ToolReply, id_schema, in_full, object_schema, refusal, result_schema,
    withheld,
};
use crate::backend::{ChangeError, MemoryBackend};
use crate::config::SERVER_NAME;
use crate::consent::{Deed, Proposal};
use crate::request::{Moment, RequestError};
use crate::security::validate_id_args;

pub(super) const TOOL: Tool = Tool {
    name: "memory_forget",
    title: "Forget a memory",
    description: "Forget a memory by its id when the user wants that. They can restore it, and may be asked to confirm.",
    input_schema,
    output_schema,
    annotations: Annotations::CHANGES,
    handler: handle_forget,
};

fn input_schema() -> Value {
    object_schema(json!({ "id": id_schema() }), &["id"])
}

fn output_schema() -> Value {
    result_schema(
        json!({
            "id": {"type": "string"},
            "changed": {"type": "boolean"},
        }),
        &["id", "changed"],
    )
}

/// Forgets a memory; refuses an id that is none.
///
/// # Errors
///
/// Where the person has to be asked first.
pub fn handle_forget(
    arguments: &Value,
    backend: &mut MemoryBackend,
    moment: &Moment,
) -> Result<ToolReply, RequestError> {
    let id = match validate_id_args(arguments) {
        Ok(id) => id,
        Err(error) => return Ok(ToolReply::refused(error)),
    };
    let (entry, text) = match backend.living(id) {
        Ok(living) => living,
        Err(error) => return Ok(unless_forgotten(error)),
    };
    let (about, subject) = in_full(&entry, text.as_deref());
    let proposal = Proposal {
        deed: Deed::Forget,
        arguments,
        message: &format!("Forget memory m{id}? You can restore it later.\n\n{about}"),
        subject: &subject,
        instead: &format!("run `{SERVER_NAME} forget m{id}`"),
    };
    if let Some(refusal) = withheld(&proposal, moment)? {
        return Ok(refusal);
    }
    Ok(match backend.forget(id, moment) {
        Ok(()) => ToolReply::done(
            format!("Forgot m{id}. The user can bring it back with `{SERVER_NAME} restore m{id}`."),
            json!({"id": format!("m{id}"), "changed": true}),
        ),
        Err(error) => unless_forgotten(error),
    })
}

/// Who retries has what they wanted.
fn unless_forgotten(error: ChangeError) -> ToolReply {
    match error {
        ChangeError::Forgotten { id } => ToolReply::done(
            format!("m{id} was forgotten before."),
            json!({"id": format!("m{id}"), "changed": false}),
        ),
        error => refusal(Deed::Forget.done(), error),
    }
}
