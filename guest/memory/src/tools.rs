//! Tools: what a model may do. The table, and the way into it.

mod forget;
mod get;
mod recent;
mod save;
mod search;
mod update;

pub use forget::handle_forget;
pub use get::handle_get;
pub use recent::handle_recent;
pub use save::handle_save;
pub use search::handle_search;
pub use update::handle_update;

use serde_json::{Map, Value, json};

use crate::backend::{ChangeError, Entry, MemoryBackend};
use crate::config::{
    DEFAULT_K, Kind, MAX_IMPORTANCE, MAX_K, MAX_TAG_CHARS, MAX_TAGS, MAX_TEXT_CHARS,
    MIN_IMPORTANCE, QUESTION_CHARS, SERVER_NAME,
};
use crate::consent::{Consent, Proposal, consent};
use crate::request::{Moment, RequestError};
use crate::store::StoreError;
use crate::visible::{one_line, title};

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

/// True statements on what a tool does to the world. None of ours reaches beyond the store.
#[derive(Clone, Copy, Debug)]
pub struct Annotations {
    /// It changes nothing that anybody would call content.
    pub read_only: bool,
    /// It takes something away or overwrites it, be it that it can be brought back.
    pub destructive: bool,
    /// Again with the same arguments, it changes nothing more.
    pub idempotent: bool,
}

impl Annotations {
    const READS: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    const ADDS: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: true,
    };
    const CHANGES: Self = Self {
        destructive: true,
        ..Self::ADDS
    };
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
pub const TOOLS: &[Tool] = &[
    search::TOOL,
    recent::TOOL,
    get::TOOL,
    save::TOOL,
    update::TOOL,
    forget::TOOL,
];

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

/// What did not happen to a memory ("nothing was" so `done`), in words that tell a model what to do.
fn refusal(done: &str, error: ChangeError) -> ToolReply {
    let text = match error {
        ChangeError::NotFound { id } => format!(
            "there is no memory m{id}; memory_search and memory_recent tell the ids there are"
        ),
        ChangeError::Forgotten { id } => format!(
            "m{id} was forgotten; the user can bring it back with `{SERVER_NAME} restore m{id}`"
        ),
        ChangeError::Store(error @ StoreError::InDoubt(_)) => error.to_string(),
        error => format!("nothing was {done}: {error}"),
    };
    ToolReply::refused(text)
}

/// The reply of a call that the person has not agreed to; none if they have, or need not.
///
/// # Errors
///
/// Where they have to be asked first.
fn withheld(proposal: &Proposal<'_>, moment: &Moment) -> Result<Option<ToolReply>, RequestError> {
    match consent(proposal, moment) {
        Consent::Given => Ok(None),
        Consent::Needed(question) => Err(RequestError::NeedsConsent(question)),
        Consent::Withheld(reason) => Ok(Some(ToolReply::refused(reason))),
    }
}

/// A text in a question: on one line, cut, and how long it is if that is not all.
fn in_question(text: &str) -> String {
    let start = title(text, QUESTION_CHARS);
    match start.ends_with('…') {
        true => format!("{start} ({} characters)", text.chars().count()),
        false => start,
    }
}

/// What a memory is beside its text, in a question; nothing for what is not given.
fn traits(kind: Option<Kind>, importance: Option<f64>, tags: Option<&[String]>) -> String {
    let kind = kind.map(|kind| format!("kind: {kind}"));
    let importance = importance.map(|importance| format!("importance: {importance}"));
    let tags = tags.map(|tags| match tags {
        [] => "tags: none".to_owned(),
        tags => format!("tags: {}", one_line(&tags.join(", "))),
    });
    let lines = [kind, importance, tags].into_iter().flatten();
    lines.map(|line| format!("\n{line}")).collect()
}

/// A memory as the person is asked about it, and all of it for the record: another text than the one that was shown is
/// another question.
fn in_full(entry: &Entry, text: Option<&str>) -> (String, String) {
    let shown = text.map_or_else(
        || "its text can't be read any more".to_owned(),
        |text| format!("text: {}", in_question(text)),
    );
    let about = traits(Some(entry.kind), Some(entry.importance), Some(&entry.tags));
    let record = json!([entry.id, text, entry.kind, entry.importance, entry.tags]);
    (format!("{shown}{about}"), record.to_string())
}

/// An input schema: what is not in it is refused.
fn object_schema(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// An output schema: later versions may add to it.
fn result_schema(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of a memory in the structured form of [`crate::render`].
fn memory_schema() -> Value {
    let mut properties = Map::new();
    let required = [
        "id",
        "uri",
        "kind",
        "text",
        "tags",
        "importance",
        "created_at",
    ];
    for name in required {
        let schema = match name {
            "tags" => json!({"type": "array", "items": {"type": "string"}}),
            "importance" => json!({"type": "number"}),
            _ => json!({"type": "string"}),
        };
        properties.insert(name.to_owned(), schema);
    }
    result_schema(properties.into(), &required)
}

/// The schema of several, each of which is `memory`.
fn memories_schema(memory: Value) -> Value {
    result_schema(
        json!({"memories": {"type": "array", "items": memory}}),
        &["memories"],
    )
}

fn id_schema() -> Value {
    json!({"type": "string", "description": "Such as m3"})
}

fn text_schema(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS, "description": description})
}

fn kind_schema() -> Value {
    json!({"type": "string", "enum": Kind::ALL})
}

fn importance_schema() -> Value {
    json!({"type": "number", "minimum": MIN_IMPORTANCE, "maximum": MAX_IMPORTANCE})
}

fn tags_schema() -> Value {
    json!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAG_CHARS},
        "maxItems": MAX_TAGS,
    })
}

/// A schema with a description.
fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// The schemas of what every list of memories can be asked for.
fn list_schemas() -> Value {
    json!({
        "k": {"type": "integer", "minimum": 1, "maximum": MAX_K, "default": DEFAULT_K},
        "kind": kind_schema(),
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Only memories with all of these"},
        "since": {"type": "string", "description": "2026-11-30 or RFC 3339"},
        "until": {"type": "string", "description": "A date includes its day"},
    })
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "tools_verbs_tests.rs"]
mod verbs_tests;
