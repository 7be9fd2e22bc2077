//! Memories and figures about them, as the command line writes and reads them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::sandbox::{Entry, NewEntry, Statistics};

/// A memory as exports have it, an object: what is absent is unknown, or the default when it is read. Members that are
/// not known are passed over when it is read, the id too: ids are given by the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Such as `m3`; absent before it is saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it says.
    pub text: String,
    /// Its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// From 1 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<String>,
    /// Under which session it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was forgotten, RFC 3339; absent: it is living.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_at: Option<String>,
}

impl From<Entry> for Memory {
    fn from(entry: Entry) -> Memory {
        Memory {
            id: Some(entry.id),
            text: entry.text,
            kind: Some(entry.kind),
            tags: entry.tags,
            importance: Some(entry.importance),
            created_at: Some(entry.created_at),
            last_accessed: Some(entry.last_accessed),
            session: entry.session,
            forgotten_at: entry.forgotten_at,
        }
    }
}

impl From<Memory> for NewEntry {
    fn from(memory: Memory) -> NewEntry {
        NewEntry {
            text: memory.text,
            kind: memory.kind,
            tags: memory.tags,
            importance: memory.importance,
            created_at: memory.created_at,
            last_accessed: memory.last_accessed,
            session: memory.session,
            forgotten_at: memory.forgotten_at,
        }
    }
}

/// Figures about a store, as an object.
pub fn figures(statistics: &Statistics) -> Value {
    json!({
        "living": statistics.living,
        "forgotten": statistics.forgotten,
        "journal_bytes": statistics.journal_bytes,
        "dead_bytes": statistics.dead_bytes,
        "index_bytes": statistics.index_bytes,
        "damaged_lines": statistics.damaged_lines,
        "embedder": statistics.embedder,
        "format": statistics.format,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let all = Memory {
            id: Some("m3".into()),
            text: "x\n".into(),
            kind: Some("semantic".into()),
            tags: vec!["a".into()],
            importance: Some(7.25),
            created_at: Some("2026-11-30T08:00:00.000Z".into()),
            last_accessed: Some("2026-11-30T09:00:00.000Z".into()),
            session: Some("s".into()),
            forgotten_at: Some("2026-11-30T10:00:00.000Z".into()),
        };
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&written).unwrap(), all);
    }

    #[test]
    fn only_the_text_is_needed_and_what_is_not_known_is_passed_over() {
        let read = |text: &str| serde_json::from_str::<Memory>(text);
        let memory = read(r#"{"text": "x", "mood": "good"}"#).unwrap();
        assert_eq!((memory.text.as_str(), memory.kind), ("x", None));
        assert!(
            read(r#"{"content": "x"}"#)
                .unwrap_err()
                .to_string()
                .contains("text")
        );
        assert!(read(r#"{"text": "x", "tags": "a"}"#).is_err());
    }
}
