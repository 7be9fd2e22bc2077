//! Memories as they are shown: a line each, which no text can leave, within a budget; or one in full.
//!
//! The text of a reply is made [visible](crate::visible), for models and people read it. Its structured form is exact: JSON
//! keeps a text apart from what stands around it, and a program that changes a memory needs what is there.

use serde::Serialize;

use crate::backend::{Memory, Recalled};
use crate::config::{
    ENTRIES, Kind, MAX_REPLY_BYTES, PREVIEW_BYTES, PREVIEW_CHARS, RESOURCE_SCHEME, SHORTENED,
};
use crate::store::event::rfc3339;
use crate::visible::{one_line, quoted, shown_bytes};

/// What a search says that finds nothing.
pub const NO_MATCHES: &str = "No matching memories.";

/// Stands before memories that share little with the query.
pub const DOUBTFUL: &str = "(Low confidence: these share little with the query.)";

/// Stands before what was found without the provider of vectors that is configured.
pub const PROVIDER_FAILED: &str =
    "(The embedding provider gave no answer; searched with the built-in one.)";

/// What stands around the memories in either form of a reply.
const FRAME_BYTES: usize =
    PROVIDER_FAILED.len() + DOUBTFUL.len() + 2 + SHORTENED.len() + r#"{"memories":[]}"#.len();

/// The URI under which a memory is read.
pub fn entry_uri(id: u64) -> String {
    format!("{RESOURCE_SCHEME}://{ENTRIES}/m{id}")
}

/// Memories in both forms of a reply.
pub struct Rendering {
    /// A line each; [`NO_MATCHES`] if there are none.
    pub text: String,
    /// The same, with everything that is known.
    pub structured: Memories,
}

/// The structured form of found memories.
#[derive(Debug, Serialize)]
pub struct Memories {
    memories: Vec<Shown>,
}

/// The structured form of a memory.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    id: String,
    uri: String,
    kind: Kind,
    text: String,
    tags: Vec<String>,
    importance: f64,
    created_at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// Shows memories within `MAX_REPLY_BYTES` for each form. All are there; if the whole texts don't fit, some are
/// previews, the less relevant ones first.
pub fn render(memories: &[Memory]) -> Rendering {
    let mut forms: Vec<Form> = memories.iter().map(Form::whole).collect();
    if bytes_of(&forms) > MAX_REPLY_BYTES {
        forms = shortened(memories, forms);
    }
    let mut lines: Vec<&str> = forms.iter().map(|form| form.line.as_str()).collect();
    if forms.is_empty() {
        lines.push(NO_MATCHES);
    } else if forms.iter().any(|form| form.shown.truncated) {
        lines.push(SHORTENED);
    }
    let text = lines.join("\n");
    Rendering {
        text,
        structured: Memories {
            memories: forms.into_iter().map(|form| form.shown).collect(),
        },
    }
}

/// Whole where there is room, once there is room for a preview of each.
fn shortened(memories: &[Memory], wholes: Vec<Form>) -> Vec<Form> {
    let of_each = memories.iter().zip(&wholes);
    let previews: Vec<Form> = of_each
        .map(|(memory, whole)| Form::preview(memory, whole))
        .collect();
    let mut spent = bytes_of(&previews);
    let choose = |(whole, preview): (Form, Form)| {
        let with_whole = spent - preview.bytes + whole.bytes;
        if with_whole > MAX_REPLY_BYTES {
            return preview;
        }
        spent = with_whole;
        whole
    };
    wholes.into_iter().zip(previews).map(choose).collect()
}

/// What a reply of these forms takes.
fn bytes_of(forms: &[Form]) -> usize {
    FRAME_BYTES + forms.iter().map(|form| form.bytes).sum::<usize>()
}

/// What a search found as text: the memories within their budget, and before them what is to be known of them.
pub fn reply(recalled: &Recalled) -> Rendering {
    let mut rendering = render(&recalled.memories);
    if recalled.is_doubtful {
        rendering.text = format!("{DOUBTFUL}\n{}", rendering.text);
    }
    if recalled.provider_failed {
        rendering.text = format!("{PROVIDER_FAILED}\n{}", rendering.text);
    }
    rendering
}

/// A memory in full, in both forms of a reply.
pub struct Full {
    /// What is known of it, on lines of their own; then its text, quoted.
    pub text: String,
    /// The same; here the text is exact.
    pub structured: Shown,
}

/// Shows all of a memory.
pub fn full(memory: &Memory) -> Full {
    let id = memory.id;
    let mut head = format!(
        "[m{id}] ({}) importance {}, saved {}",
        memory.kind,
        memory.importance,
        rfc3339(memory.created_at)
    );
    if memory.modified_at != memory.created_at {
        head += &format!(", changed {}", rfc3339(memory.modified_at));
    }
    if !memory.tags.is_empty() {
        head += &format!("\ntags: {}", one_line(&memory.tags.join(", ")));
    }
    let mut text = format!("{head}\n{}", quoted(&memory.text));
    let rest = format!(
        "…\n(The rest can't be shown; {} has all of it.)",
        entry_uri(id)
    );
    if text.len() > MAX_REPLY_BYTES {
        // Only a text that is mostly escapes is so long.
        text.truncate(text.floor_char_boundary(MAX_REPLY_BYTES - rest.len()));
        text += &rest;
    }
    Full {
        text,
        structured: shown(memory),
    }
}

fn shown(memory: &Memory) -> Shown {
    Shown {
        id: format!("m{}", memory.id),
        uri: entry_uri(memory.id),
        kind: memory.kind,
        text: memory.text.clone(),
        tags: memory.tags.clone(),
        importance: memory.importance,
        created_at: rfc3339(memory.created_at),
        truncated: false,
    }
}

/// One memory in both forms.
#[derive(Clone)]
struct Form {
    line: String,
    shown: Shown,
    /// Of the longer of the two, with what separates it from the next.
    bytes: usize,
}

impl Form {
    fn whole(memory: &Memory) -> Self {
        let line = format!(
            "[m{}] ({}) {}",
            memory.id,
            memory.kind,
            one_line(&memory.text)
        );
        Self::new(line, shown(memory))
    }

    /// Cut to a length that is bounded whatever the text and the tags contain; whole if that is no longer.
    fn preview(memory: &Memory, whole: &Self) -> Self {
        let start = preview_of(&memory.text);
        let text = if start.len() < memory.text.len() {
            format!("{start}…")
        } else {
            memory.text.clone()
        };
        let uri = entry_uri(memory.id);
        let line = format!(
            "[m{}] ({}) {} ({uri})",
            memory.id,
            memory.kind,
            one_line(&text)
        );
        let preview = Self::new(
            line,
            Shown {
                text,
                tags: Vec::new(),
                truncated: true,
                ..whole.shown.clone()
            },
        );
        if whole.bytes <= preview.bytes {
            whole.clone()
        } else {
            preview
        }
    }

    fn new(line: String, shown: Shown) -> Self {
        // A value of these types always has a JSON form.
        let json = serde_json::to_string(&shown).map_or(0, |json| json.len());
        let bytes = line.len().max(json) + 1;
        Self { line, shown, bytes }
    }
}

/// The start of a text, within both bounds on previews.
fn preview_of(text: &str) -> &str {
    let mut bytes = 0;
    for (count, (at, character)) in text.char_indices().enumerate() {
        bytes += shown_bytes(character);
        if count == PREVIEW_CHARS || bytes > PREVIEW_BYTES {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
