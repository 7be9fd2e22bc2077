//! What comes from elsewhere: memories to import, and changes of memories.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::{Arguments, SaveArgs, check_text, validate_save_args};
use super::{SecurityError, echo};
use crate::config::{Kind, MAX_SESSION_CHARS};

/// A memory to import, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawMemory {
    /// Its text.
    pub text: String,
    /// Its kind; absent: the default.
    pub kind: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its importance; absent: the default.
    pub importance: Option<f64>,
    /// RFC 3339; absent: now.
    pub created_at: Option<String>,
    /// RFC 3339; absent: as created.
    pub last_accessed: Option<String>,
    /// Under which session it was saved.
    pub session: Option<String>,
    /// RFC 3339; present: it comes as forgotten.
    pub forgotten_at: Option<String>,
}

/// A memory to import, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// What a save would be asked.
    pub save: SaveArgs,
    /// When it was saved; `None`: now.
    pub created_at: Option<Timestamp>,
    /// When it was last shown; `None`: as created.
    pub last_accessed: Option<Timestamp>,
    /// At most `MAX_SESSION_CHARS`; not empty.
    pub session: Option<String>,
    /// When it was forgotten; `None`: it is living.
    pub forgotten_at: Option<Timestamp>,
}

/// Checks a memory to import: the bounds of a save, and times.
///
/// # Errors
///
/// Anything that is out of bounds or malformed.
pub fn validate_new_memory(raw: &RawMemory) -> Result<NewMemory, SecurityError> {
    if let Some(importance) = raw.importance.filter(|importance| !importance.is_finite()) {
        // JSON has no word for it, so the check below would take it for absent.
        return Err(SecurityError::Invalid {
            argument: "importance",
            expected: "a finite number".to_owned(),
            got: importance.to_string(),
        });
    }
    let save = validate_save_args(&json!({
        "text": raw.text,
        "kind": raw.kind,
        "tags": raw.tags,
        "importance": raw.importance,
    }))?;
    let session = raw.session.as_deref().unwrap_or_default();
    let session: String = session.chars().take(MAX_SESSION_CHARS).collect();
    Ok(NewMemory {
        save,
        created_at: time("created_at", raw.created_at.as_deref())?,
        last_accessed: time("last_accessed", raw.last_accessed.as_deref())?,
        session: Some(session).filter(|session| !session.is_empty()),
        forgotten_at: time("forgotten_at", raw.forgotten_at.as_deref())?,
    })
}

/// Whole milliseconds, as times are kept.
fn time(argument: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, SecurityError> {
    let Some(text) = text else { return Ok(None) };
    let parsed: Option<Timestamp> = text.trim().parse().ok();
    let whole = |time: Timestamp| Timestamp::from_millisecond(time.as_millisecond()).ok();
    match parsed.and_then(whole) {
        Some(time) => Ok(Some(time)),
        None => Err(SecurityError::Invalid {
            argument,
            expected: "a timestamp with offset (2026-11-30T08:00:00Z)".to_owned(),
            got: echo(text),
        }),
    }
}

/// A change of a memory, checked; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateArgs {
    /// Which memory.
    pub id: u64,
    /// Bounded like that of a save.
    pub text: Option<String>,
    /// The new kind.
    pub kind: Option<Kind>,
    /// All tags from now on; an empty list takes them away.
    pub tags: Option<Vec<String>>,
    /// The new importance.
    pub importance: Option<f64>,
}

/// The arguments that `memory_update` knows.
const UPDATE_ARGUMENTS: &[&str] = &["id", "text", "kind", "tags", "importance"];

/// Checks the arguments of `memory_update`.
///
/// # Errors
///
/// Anything that is out of bounds, of another type or unknown; an update of nothing.
pub fn validate_update_args(arguments: &Value) -> Result<UpdateArgs, SecurityError> {
    let arguments = Arguments::of(arguments, UPDATE_ARGUMENTS)?;
    let id = arguments.id()?;
    let text = match arguments.optional("text") {
        None => None,
        Some(_) => {
            let text = arguments.required_text("text")?;
            check_text("text", text)?;
            Some(text.to_owned())
        }
    };
    let tags = match arguments.optional("tags") {
        None => None,
        Some(_) => Some(arguments.tags()?),
    };
    let args = UpdateArgs {
        id,
        text,
        kind: arguments.kind()?,
        tags,
        importance: arguments.importance("importance")?,
    };
    if args
        == (UpdateArgs {
            id,
            ..UpdateArgs::default()
        })
    {
        return Err(SecurityError::Invalid {
            argument: "an update",
            expected: "of text, kind, tags or importance".to_owned(),
            got: "none of them".to_owned(),
        });
    }
    Ok(args)
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
